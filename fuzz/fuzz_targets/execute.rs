//! Any instruction words on any state run, fault or end: nothing panics, nothing runs for ever, and no host memory but
//! the registered allocations is touched: they end at pages without access, and what may only be read is mapped so.
//!
//! Input: a byte that picks the processor (and, by its top bit, words as they are or instructions of random rows),
//! eight bytes of seed for the state, then code.
#![no_main]

// Test and fuzz target make random instructions and states in the same way.
#[path = "../../crates/wave/tests/it/chaos.rs"]
mod chaos;

use chaos::{PROCESSORS, Random, instruction, state, target, unusual};
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use wavemill_wave::FaultKind;
use wavemill_wave::{Engine, Event, GroupShared, Interp, Memory, Shape};

const PAGE: usize = 4096;
/// Instruction words of a run.
const WORDS: usize = 48;

/// Code and data, each followed and preceded by a page without access. Code ends where its page does, as data does.
struct Arena {
    base: *mut u8,
    engines: Vec<Interp>,
}

impl Arena {
    fn new() -> Arena {
        // SAFETY: an anonymous mapping of pages of our own.
        let base = unsafe {
            let none = libc::PROT_NONE;
            libc::mmap(std::ptr::null_mut(), 6 * PAGE, none, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        assert_ne!(base, libc::MAP_FAILED);
        let base = base.cast::<u8>();
        let engines = PROCESSORS.iter().map(|cpu| Interp::new(target(cpu))).collect();
        let arena = Arena { base, engines };
        arena.protect(arena.data(), 2 * PAGE, libc::PROT_READ | libc::PROT_WRITE);
        arena
    }

    fn protect(&self, at: *mut u8, len: usize, protection: i32) {
        // SAFETY: whole pages of the mapping.
        assert_eq!(unsafe { libc::mprotect(at.cast(), len, protection) }, 0);
    }

    fn code(&self) -> *mut u8 {
        // SAFETY: the second page of the mapping.
        unsafe { self.base.add(PAGE) }
    }

    fn data(&self) -> *mut u8 {
        // SAFETY: the fourth page of the mapping.
        unsafe { self.base.add(3 * PAGE) }
    }

    /// Puts code at the end of its page and returns its address.
    fn place(&self, words: &[u32]) -> u64 {
        self.protect(self.code(), PAGE, libc::PROT_READ | libc::PROT_WRITE);
        let len = 4 * words.len();
        // SAFETY: the page is writable and longer.
        let at = unsafe {
            let at = self.code().add(PAGE - len);
            std::ptr::copy_nonoverlapping(words.as_ptr().cast(), at, len);
            at
        };
        self.protect(self.code(), PAGE, libc::PROT_READ);
        at as u64
    }
}

fn words(random: &mut Random, raw: bool, cpu: &wavemill_isa::Processor, rest: &[u8]) -> Vec<u32> {
    let mut words: Vec<u32> = Vec::new();
    if raw {
        words.extend(rest.chunks_exact(4).take(WORDS).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])));
    } else {
        while words.len() < WORDS.min(2 + rest.len()) {
            let word = instruction(random, cpu);
            words.push(word as u32);
            words.push((word >> 32) as u32);
        }
    }
    if random.one_in(2) {
        words.push(0xbf81_0000); // S_ENDPGM
    }
    if words.is_empty() {
        words.push(0xbf80_0000); // S_NOP
    }
    words
}

fn run(arena: &Arena, data: &[u8]) {
    let Some((&first, rest)) = data.split_first() else { return };
    let Some((seed, rest)) = rest.split_first_chunk::<8>() else { return };
    let index = first as usize % PROCESSORS.len();
    let (cpu, engine) = (PROCESSORS[index], &arena.engines[index]);
    let mut random = Random(u64::from_le_bytes(*seed) | 1);
    let words = words(&mut random, first & 0x80 != 0, engine.target().cpu, rest);
    let code = arena.place(&words);
    engine.invalidate(code & !(PAGE as u64 - 1), PAGE as u64);
    let memory = Memory::new();
    let data = arena.data() as u64;
    // SAFETY: the pages stay mapped; nothing looks at them while the wave runs.
    unsafe {
        memory.add(code, 4 * words.len() as u64, false).unwrap();
        // Two allocations side by side, so that an access over the edge between them is one outside each.
        memory.add(data, PAGE as u64, true).unwrap();
        memory.add(data + PAGE as u64, PAGE as u64, true).unwrap();
    }
    let agprs = if matches!(cpu, "gfx90a" | "gfx908") { random.edgy(8) as u16 % 256 } else { 0 };
    let shape = Shape { vgprs: 1 + random.edgy(8) as u16 % 256, agprs };
    let near = data + PAGE as u64 + (random.edgy(12) & 0xfff);
    let mut wave = state(&mut random, cpu, shape, code, near);
    unusual(&mut random, &mut wave, (code, words.len()), near);
    let mut group = GroupShared::new(random.edgy(16) as u32);
    group.scratch_base = data;
    for _ in 0..4 {
        match engine.run(&mut wave, &group, &memory, 300) {
            Event::End => break,
            // An access beyond the allocations that no check has caught.
            Event::Fault(fault) => {
                assert_ne!(fault.kind, FaultKind::Gone, "{fault:x?}");
                break;
            }
            Event::Halt => wave.resume(),
            _ if random.one_in(4) => wave.host_trap(random.next() as u8),
            _ => {}
        }
    }
}

fuzz_target!(|data: &[u8]| {
    thread_local! {
        static ARENA: RefCell<Option<Arena>> = const { RefCell::new(None) };
    }
    ARENA.with_borrow_mut(|arena| run(arena.get_or_insert_with(Arena::new), data));
});
