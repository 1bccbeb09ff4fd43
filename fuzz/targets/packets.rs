//! Queues and packets: any packets, by any number of producers, on a queue whose memory is written at will, run, are refused
//! with an error, or are cancelled; the runtime goes on and ends.
//!
//! Input: pieces of 66 bytes, two that choose what is done (submit, overwrite the queue, overwrite a signal), then a
//! packet in which small numbers of the handles' fields stand for real ones.

use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use wavemill_device::aql::PACKET_SIZE;
use wavemill_device::{Options, Profile};
use wavemill_isa::target::{Target, processor};
use wavemill_runtime::executable::Executable;
use wavemill_runtime::packet::QueueError;
use wavemill_runtime::processor::QueueRequest;
use wavemill_runtime::queue::QueueRef;
use wavemill_runtime::signal::{Condition, Kind};
use wavemill_runtime::system::{Setup, System};
use wavemill_wave::Interp;

struct Rig {
    system: Arc<System>,
    kernel: u64,
    _executable: Executable,
}

fn rig() -> &'static Rig {
    static RIG: OnceLock<Rig> = OnceLock::new();
    RIG.get_or_init(|| {
        let system = System::new(Setup {
            profile: Profile::named("mi210").expect("a GPU"),
            target: Target::new(processor("gfx90a").expect("a processor")),
            gpus: 1,
            options: Options { threads: 2, ..Options::default() },
            engine: Box::new(|target| Arc::new(Interp::new(target))),
            journal: None,
            observer: None,
            observers: Default::default(),
            log: None,
        });
        let mut executable = Executable::default();
        let object = wavemill_testing::kernel("gfx90a", "");
        executable.load(&system.gpus()[0], "fuzzed", &object, (0, 0)).expect("a kernel");
        let kernel = executable.find("k", Some(0)).expect("a kernel").address;
        Rig { system, kernel, _executable: executable }
    })
}

pub fn run(data: &[u8]) {
    let rig = rig();
    let on_error = Box::new(|_: QueueRef, _: &QueueError| {});
    let request = QueueRequest { size: 64, kind: 0, on_error, observers: Default::default() };
    let queue = rig.system.create_queue(&rig.system.gpus()[0], request).expect("a queue");
    let signals = [0i64, 1, 2, -1].map(|v| rig.system.signal(v).expect("a signal"));
    let (base, mut index) = (queue.ring(), 0u64);
    for piece in data.chunks(2 + PACKET_SIZE).take(60) {
        let mut bytes = [0; 2 + PACKET_SIZE];
        bytes[..piece.len()].copy_from_slice(piece);
        let (what, packet) = bytes.split_at_mut(2);
        let word =
            |packet: &[u8], at: usize| packet[at..at + 8].iter().rev().fold(0, |v, b| v << 8 | u64::from(*b));
        match what[0] % 8 {
            6 => {
                // As a wave may: all of amd_queue_t.
                let at = queue.address() + u64::from(what[1] % 32) * 8;
                // SAFETY: within the queue's page, with an atomic store as waves' stores are.
                unsafe { (*(at as *const AtomicU64)).store(word(packet, 0), Ordering::SeqCst) };
                continue;
            }
            7 => {
                let at = signals[usize::from(what[1] % 4)].handle() + u64::from(what[1] / 4 % 8) * 8;
                // SAFETY: within a signal's slot, as above.
                unsafe { (*(at as *const AtomicU64)).store(word(packet, 0), Ordering::SeqCst) };
                continue;
            }
            _ => {}
        }
        for at in (8..64).step_by(8) {
            let value = match word(packet, at) {
                n @ 1..=4 => signals[n as usize - 1].handle(),
                5 if at == 32 => rig.kernel,
                n => n,
            };
            packet[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        if what[0] % 8 < 3 {
            // Small dispatches of a real kernel, so that more than the checks runs.
            packet[2..12].copy_from_slice(&[1, 0, what[1] % 65, 0, 1, 0, 1, 0, 0, 0]);
            packet[12..16].copy_from_slice(&u32::from(what[1]).to_le_bytes());
        }
        let at = base + index % 64 * PACKET_SIZE as u64;
        let header = u16::from_le_bytes([packet[0], packet[1]]);
        // SAFETY: a packet of the ring, which nobody processes until its header says so: fewer than it has places.
        unsafe {
            std::ptr::copy_nonoverlapping(packet.as_ptr().add(2), (at as *mut u8).add(2), PACKET_SIZE - 2);
            (*(at as *const AtomicU16)).store(header, Ordering::Release);
        }
        queue.ring_doorbell(index, Kind::Doorbell);
        index += 1;
    }
    signals[1].wait(Condition::Lt, 1, Some(Duration::from_millis(1)), false);
    assert!(rig.system.destroy_queue(queue), "the queue is gone");
    for signal in signals {
        assert!(signal.destroy(), "a signal is gone");
    }
}
