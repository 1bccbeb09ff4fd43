//! Hostcalls: requests that waves make of the host while they run, as AMD's device library makes them.
//!
//! The hidden argument points to a buffer: addresses of the packets' headers and payloads, a signal to ring, a stack of
//! free packets, a stack of those that are ready, and the mask that makes a packet's number of a pointer to it (the bits
//! above count how often it was used). A wave takes a packet from the free stack, fills the slots of its active lanes,
//! puts it onto the ready stack, adds to the signal, and waits until the host clears the packet's ready bit. Each slot
//! has eight words; the first two come back with the answer.
//!
//! The host is whoever runs the wave: ringing the signal interrupts the wave ([`Hostcalls::serve`] is called between its
//! instructions), so the answer is there before it looks, and text comes in the same order in every deterministic run.

mod messages;

use crate::printf::Printer;
use messages::Messages;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use wavemill_device::aql::{SIGNAL_SIZE, SignalKind, signal_field as field};
use wavemill_device::control::Host;
use wavemill_device::memory::{Allocations, MemoryError, Region, Use};

/// Lanes of a packet, each with a slot.
const LANES: u64 = 64;
/// Words of a slot.
const WORDS: usize = 8;
const SLOT: u64 = 8 * WORDS as u64;
const PAYLOAD: u64 = LANES * SLOT;

/// Where the fields of the buffer lie.
mod buffer {
    pub(super) const HEADERS: u64 = 0;
    pub(super) const PAYLOADS: u64 = 8;
    pub(super) const DOORBELL: u64 = 16;
    pub(super) const FREE: u64 = 24;
    pub(super) const READY: u64 = 32;
    pub(super) const INDEX_MASK: u64 = 40;
    /// The signal, which lies in the same memory.
    pub(super) const SIGNAL: u64 = 64;
    /// Where waves store the number of the event.
    pub(super) const MAILBOX: u64 = SIGNAL + super::SIGNAL_SIZE;
    pub(super) const FIRST_HEADER: u64 = 256;
}

/// Where the fields of a packet's header lie.
mod header {
    pub(super) const NEXT: u64 = 0;
    pub(super) const ACTIVE: u64 = 8;
    /// The service in the lower half; in the upper one, bit 0 says that the packet waits for an answer.
    pub(super) const SERVICE: u64 = 16;
    pub(super) const BYTES: u64 = 24;
}

/// What can be asked for.
mod service {
    /// A call of a function of the host program.
    pub(super) const FUNCTION_CALL: u32 = 1;
    /// A piece of a message, whose last piece makes it a call of fprintf.
    pub(super) const PRINTF: u32 = 2;
    /// Memory to allocate or to free.
    pub(super) const DEVMEM: u32 = 3;
    /// A report of the address sanitizer.
    pub(super) const SANITIZER: u32 = 4;
}

/// Slabs of the device library's heap have this size, and are multiples of it.
const SLAB: u64 = 2 << 20;

/// The host's side of a hostcall buffer.
pub(crate) struct Hostcalls {
    region: Region,
    packets: u64,
    mask: u64,
    memory: Arc<Allocations>,
    /// Memory that waves may ask for, in bytes.
    limit: u64,
    printer: Printer,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    messages: Messages,
    /// What waves have asked for, by address.
    allocated: BTreeMap<u64, (Region, u64)>,
    /// Bytes of all of it.
    in_use: u64,
}

impl Hostcalls {
    /// A buffer for as many waves as there can be at once. They may have `limit` bytes of memory.
    pub(crate) fn new(
        memory: &Arc<Allocations>,
        waves: u64,
        limit: u64,
        printer: &Printer,
    ) -> Result<Hostcalls, MemoryError> {
        let packets = waves.clamp(2, 1 << 20).next_power_of_two();
        let payloads = (buffer::FIRST_HEADER + packets * header::BYTES).next_multiple_of(64);
        let region = memory.allocate(payloads + packets * PAYLOAD, Use::Queue, "the hostcall buffer")?;
        let start = region.start();
        let put = |at: u64, value: u64| region.write(at, &value.to_le_bytes());
        put(buffer::HEADERS, start + buffer::FIRST_HEADER);
        put(buffer::PAYLOADS, start + payloads);
        put(buffer::DOORBELL, start + buffer::SIGNAL);
        put(buffer::INDEX_MASK, packets - 1);
        // Each free packet points to the one before. No pointer may be null, so the count above the number starts at 1.
        let pointer = |index: u64| packets | index;
        for i in 1..packets {
            put(buffer::FIRST_HEADER + i * header::BYTES + header::NEXT, pointer(i - 1));
        }
        put(buffer::FREE, pointer(packets - 1));
        put(buffer::SIGNAL + field::KIND, SignalKind::User as i64 as u64);
        put(buffer::SIGNAL + field::VALUE, 1);
        // With a mailbox, waves that ring the signal send the host a message.
        put(buffer::SIGNAL + field::EVENT_MAILBOX_PTR, start + buffer::MAILBOX);
        put(buffer::SIGNAL + field::EVENT_ID, 1);
        Ok(Hostcalls {
            region,
            packets,
            mask: packets - 1,
            memory: memory.clone(),
            limit,
            printer: printer.clone(),
            state: Mutex::default(),
        })
    }

    /// The buffer's address.
    pub(crate) fn address(&self) -> u64 {
        self.region.start()
    }

    fn word(&self, at: u64) -> Option<&AtomicU64> {
        self.region.word(at)
    }

    /// Answers all packets that are ready.
    pub(crate) fn serve(&self) {
        let Some(ready) = self.word(buffer::READY) else { return };
        if ready.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = ready.swap(0, Ordering::Acquire);
        // The last one that was put onto the stack is its first.
        let mut all = Vec::new();
        while next != 0 {
            if all.len() as u64 == self.packets {
                self.printer.note("the kernel has overwritten its hostcall buffer");
                break;
            }
            let index = next & self.mask;
            all.push(index);
            let header = buffer::FIRST_HEADER + index * header::BYTES;
            next = self.word(header + header::NEXT).map_or(0, |w| w.load(Ordering::Relaxed));
        }
        for &index in all.iter().rev() {
            self.packet(&mut state, index);
        }
    }

    fn packet(&self, state: &mut State, index: u64) {
        let header = buffer::FIRST_HEADER + index * header::BYTES;
        let get = |at: u64| self.word(header + at).map_or(0, |w| w.load(Ordering::Relaxed));
        let mut active = get(header::ACTIVE);
        let service = get(header::SERVICE) as u32;
        let payload = self.region.len() - (self.packets - index) * PAYLOAD;
        while active != 0 {
            let lane = u64::from(active.trailing_zeros());
            active &= active - 1;
            let slot = payload + lane * SLOT;
            let mut bytes = [0; SLOT as usize];
            self.region.read(slot, &mut bytes);
            let words: [u64; WORDS] = std::array::from_fn(|i| {
                u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().unwrap_or_default())
            });
            let [first, second] = self.answer(state, service, &words);
            self.region.write(slot, &first.to_le_bytes());
            self.region.write(slot + 8, &second.to_le_bytes());
        }
        // The answers are there before the bit goes.
        if let Some(control) = self.word(header + header::SERVICE) {
            control.fetch_and(!(1 << 32), Ordering::Release);
        }
    }

    /// What a lane gets for its request.
    fn answer(&self, state: &mut State, service: u32, words: &[u64; WORDS]) -> [u64; 2] {
        let note = match service {
            service::PRINTF => match state.messages.piece(words, &self.printer) {
                Ok(answer) => return [answer, words[1]],
                Err(message) => {
                    self.printer.note(&message);
                    return [!0, words[1]];
                }
            },
            service::DEVMEM => match (words[0], words[1]) {
                (0, 0) => "the kernel asks the host for no memory".into(),
                (0, size) => return [self.allocate(state, size), size],
                (address, _) => match state.allocated.remove(&address) {
                    Some((_, size)) => {
                        state.in_use -= paged(size);
                        return [0; 2];
                    }
                    None => format!("the kernel frees {address:#x}, which is not memory it has allocated"),
                },
            },
            service::FUNCTION_CALL => format!(
                "the kernel wants to call a function of its host program at {:#x}; there is none here, `wavemill exec` \
                 runs the program itself",
                words[0]
            ),
            service::SANITIZER => {
                format!("the kernel's address sanitizer reports an invalid access to {:#x}", words[0])
            }
            other => format!("the kernel asks the host for service {other}, which is not known"),
        };
        self.printer.note(&note);
        [0; 2]
    }

    /// Memory for the kernel; 0 when there is none.
    fn allocate(&self, state: &mut State, size: u64) -> u64 {
        let counts = paged(size);
        let Some(in_use) = state.in_use.checked_add(counts).filter(|n| *n <= self.limit) else {
            self.printer
                .note(&format!("the kernel has used up the {} bytes of memory there are", self.limit));
            return 0;
        };
        // Slabs are found by their blocks' addresses.
        let room = if size == SLAB { 2 * SLAB } else { size };
        let placed = self.memory.map(room, "memory the kernel has allocated").and_then(|region| {
            let start = if size == SLAB { region.start().next_multiple_of(SLAB) } else { region.start() };
            let offset = start - region.start();
            region.announce(offset, size, true, Use::Device, "memory the kernel has allocated")?;
            Ok((region, start))
        });
        match placed {
            Ok((region, start)) => {
                state.in_use = in_use;
                state.allocated.insert(start, (region, size));
                start
            }
            Err(e) => {
                self.printer.note(&e.to_string());
                0
            }
        }
    }

    /// Says what was begun and not ended.
    pub(crate) fn finish(&self) {
        self.serve();
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.messages.open() {
            0 => {}
            1 => self.printer.note("a call of printf was not finished"),
            n => self.printer.note(&format!("{n} calls of printf were not finished")),
        }
    }
}

/// What so many bytes take: whole pages.
fn paged(size: u64) -> u64 {
    size.checked_next_multiple_of(4096).unwrap_or(u64::MAX)
}

/// Whoever runs the waves answers them.
impl Host for Hostcalls {
    fn message(&self) {
        self.serve();
    }

    fn turn_ended(&self) {
        self.serve();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printf::Stream;

    struct Rig {
        calls: Hostcalls,
        memory: Arc<Allocations>,
        text: Arc<Mutex<String>>,
    }

    fn rig(waves: u64) -> Rig {
        let memory = Arc::new(Allocations::default());
        let text = Arc::new(Mutex::new(String::new()));
        let sink = text.clone();
        let printer = Printer::new(move |stream, bytes| {
            let mark = ["", "!", "?"][match stream {
                Stream::Out => 0,
                Stream::Err => 1,
                Stream::Note => 2,
            }];
            *sink.lock().unwrap() += &format!("{mark}{}", String::from_utf8_lossy(bytes));
        });
        Rig { calls: Hostcalls::new(&memory, waves, 1 << 30, &printer).unwrap(), memory, text }
    }

    impl Rig {
        fn get(&self, address: u64) -> u64 {
            let mut bytes = [0; 8];
            assert!(self.memory.memory().read(address, &mut bytes), "{address:#x}");
            u64::from_le_bytes(bytes)
        }

        fn put(&self, address: u64, value: u64) {
            let base = self.calls.address();
            assert!(self.calls.region.write(address - base, &value.to_le_bytes()));
        }

        /// Takes a packet, as the device library does.
        fn pop(&self) -> u64 {
            let base = self.calls.address();
            let packet = self.get(base + buffer::FREE);
            assert_ne!(packet, 0, "no free packet");
            let index = packet & self.get(base + buffer::INDEX_MASK);
            let header = self.get(base + buffer::HEADERS) + index * header::BYTES;
            self.put(base + buffer::FREE, self.get(header));
            packet
        }

        /// Fills a packet and hands it over; answers come with [`Rig::answer`].
        fn push(&self, packet: u64, service: u32, requests: &[(u64, [u64; 8])]) {
            let base = self.calls.address();
            let index = packet & self.get(base + buffer::INDEX_MASK);
            let header = self.get(base + buffer::HEADERS) + index * header::BYTES;
            let payload = self.get(base + buffer::PAYLOADS) + index * PAYLOAD;
            let mask = requests.iter().fold(0, |m, (lane, _)| m | 1 << lane);
            for (lane, words) in requests {
                let at = |i: usize| payload + lane * SLOT + 8 * i as u64;
                words.iter().enumerate().for_each(|(i, w)| self.put(at(i), *w));
            }
            self.put(header + header::ACTIVE, mask);
            self.put(header + header::SERVICE, u64::from(service) | 1 << 32);
            self.put(header, self.get(base + buffer::READY));
            self.put(base + buffer::READY, packet);
        }

        fn answer(&self, packet: u64, lane: u64) -> [u64; 2] {
            let base = self.calls.address();
            let index = packet & self.get(base + buffer::INDEX_MASK);
            let header = self.get(base + buffer::HEADERS) + index * header::BYTES;
            assert_eq!(self.get(header + header::SERVICE) >> 32, 0, "it still waits");
            let slot = self.get(base + buffer::PAYLOADS) + index * PAYLOAD + lane * SLOT;
            [self.get(slot), self.get(slot + 8)]
        }

        fn call(&self, service: u32, words: [u64; 8]) -> [u64; 2] {
            let packet = self.pop();
            self.push(packet, service, &[(3, words)]);
            self.calls.serve();
            self.answer(packet, 3)
        }

        fn text(&self) -> String {
            self.text.lock().unwrap().clone()
        }
    }

    fn word(text: &[u8; 8]) -> u64 {
        u64::from_le_bytes(*text)
    }

    #[test]
    fn messages_come_in_pieces() {
        let rig = rig(3);
        let packets: Vec<u64> = (0..4).map(|_| rig.pop()).collect();
        assert_eq!(rig.get(rig.calls.address() + buffer::FREE), 0);
        // Two lanes begin; the length is in bits 7:5, the beginning in bit 0, the end in bit 1.
        rig.push(
            packets[2],
            2,
            &[(0, [1 << 5 | 1, 0, 0, 0, 0, 0, 0, 0]), (63, [1 << 5 | 1, 1, 0, 0, 0, 0, 0, 0])],
        );
        rig.calls.serve();
        let [a, b] = [0, 63].map(|lane| rig.answer(packets[2], lane)[0]);
        assert_ne!(a >> 8, b >> 8, "each has its own message");
        let pattern = word(b"%d: %s\n\0");
        rig.push(packets[1], 2, &[(0, [a & !0xff | 2 << 5, pattern, 7, 0, 0, 0, 0, 0])]);
        rig.push(packets[0], 2, &[(63, [b & !0xff | 2 << 5, pattern, 0xffff_ffff, 0, 0, 0, 0, 0])]);
        rig.calls.serve();
        rig.push(packets[0], 2, &[(63, [b & !0xff | 1 << 5 | 2, word(b"second\0\0"), 0, 0, 0, 0, 0, 0])]);
        rig.push(packets[1], 2, &[(0, [a & !0xff | 1 << 5 | 2, word(b"first\0\0\0"), 0, 0, 0, 0, 0, 0])]);
        rig.calls.serve();
        assert_eq!(rig.text(), "!-1: second\n7: first\n");
        assert_eq!([rig.answer(packets[1], 0)[0], rig.answer(packets[0], 63)[0]], [9, 11], "characters");
        rig.calls.finish();
        assert_eq!(rig.text(), "!-1: second\n7: first\n");
    }

    #[test]
    fn memory_is_allocated_and_freed() {
        let rig = rig(100);
        let [slab, _] = rig.call(3, [0, SLAB, 0, 0, 0, 0, 0, 0]);
        assert!(slab != 0 && slab % SLAB == 0, "{slab:#x}");
        let [small, _] = rig.call(3, [0, 5000, 0, 0, 0, 0, 0, 0]);
        assert_eq!(rig.memory.find(small + 4999).unwrap().len, 5000);
        assert_eq!(rig.call(3, [slab, 0, 0, 0, 0, 0, 0, 0]), [0; 2]);
        assert!(rig.memory.find(slab).is_none());
        assert_eq!(rig.text(), "");
        assert_eq!(rig.call(3, [0, 2 << 30, 0, 0, 0, 0, 0, 0])[0], 0);
        assert_eq!(rig.call(3, [12345, 0, 0, 0, 0, 0, 0, 0]), [0; 2]);
        let text = rig.text();
        assert!(text.contains("used up the 1073741824 bytes"), "{text}");
        assert!(text.contains("frees 0x3039, which is not memory it has allocated"), "{text}");
    }

    #[test]
    fn nonsense_is_a_message() {
        let rig = rig(2);
        for (service, words) in [
            (1, [0x1234, 0, 0, 0, 0, 0, 0, 0]),
            (2, [77 << 8, 0, 0, 0, 0, 0, 0, 0]),
            (2, [2 << 5 | 3, 8, 0, 0, 0, 0, 0, 0]),
            (2, [2 << 5 | 3, 0, !0, 0, 0, 0, 0, 0]),
            (2, [2 << 5 | 3, 0, word(b"%s is\0\0\0"), 0, 0, 0, 0, 0]),
            (9, [0; 8]),
        ] {
            let before = rig.text().len();
            let packet = rig.pop();
            rig.push(packet, service, &[(0, words)]);
            rig.calls.serve();
            rig.answer(packet, 0);
            assert!(rig.text()[before..].starts_with('?'), "{service}: {}", &rig.text()[before..]);
            rig.put(rig.calls.address() + buffer::FREE, packet);
        }
        // A ring of packets.
        let base = rig.calls.address();
        let packet = rig.pop();
        rig.push(packet, 9, &[]);
        let header = rig.get(base + buffer::HEADERS) + (packet & 1) * header::BYTES;
        rig.put(header, packet);
        rig.calls.serve();
        assert!(rig.text().ends_with("the kernel has overwritten its hostcall buffer"), "{}", rig.text());
    }
}
