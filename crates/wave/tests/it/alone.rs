//! Atomic operations on memory that only waves access, while threads that run waves come and go: sometimes one is alone, and does
//! them in steps. Nothing is lost, be it added or stored. `WAVEMILL_LITMUS=seconds` runs them longer.

use crate::harness::{Random, assemble, engines, target};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use wavemill_wave::alone::{self, Present};
use wavemill_wave::{Engine, Event, GroupShared, Memory, Shape, Wave};

/// Held by tests whose threads are to be alone at times.
pub static ALONE: Mutex<()> = Mutex::new(());

const CPU: &str = "gfx90a";
const THREADS: u64 = 3;

struct Program {
    code: Vec<u32>,
    memory: Memory,
    words: Vec<u64>,
}

impl Program {
    /// Code, and memory that its waves have to themselves, whose address is in s[2:3].
    fn new(text: &str) -> Program {
        let bytes = assemble(target(CPU), "test.s", text);
        let words = bytes.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap()));
        let (code, mut words, memory): (Vec<u32>, _, _) = (words.collect(), vec![0u64; 256], Memory::new());
        // SAFETY: both live as long as the memory, and are not looked at while waves run.
        unsafe {
            memory.add(code.as_ptr() as u64, bytes.len() as u64, false).unwrap();
            memory.add(words.as_mut_ptr() as u64, 8 * words.len() as u64, true).unwrap();
        }
        memory.set_exclusive(words.as_ptr() as u64, true);
        Program { code, memory, words }
    }

    fn wave(&self, turns: u32) -> Wave {
        let mut wave = Wave::new(&target(CPU), Shape { vgprs: 32, agprs: 0 });
        wave.pc = self.code.as_ptr() as u64;
        wave.set_sgpr64(2, self.words.as_ptr() as u64);
        wave.set_sgpr(0, turns);
        wave.set_exec(!0);
        for lane in 0..64 {
            wave.vgpr_mut(0).unwrap()[lane as usize] = 4 * lane;
            wave.vgpr_mut(1).unwrap()[lane as usize] = 8 * lane;
        }
        wave
    }

    /// The words after all waves.
    fn words(&self) -> Vec<u64> {
        let mut bytes = vec![0; 8 * self.words.len()];
        assert!(self.memory.read(self.words.as_ptr() as u64, &mut bytes));
        bytes.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect()
    }
}

/// Runs waves on threads that come and go for a while; returns how many waves of one turn that makes.
fn storm(program: &Program, engine: &dyn Engine) -> u64 {
    let _only = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    alone::prepare();
    let seconds = std::env::var("WAVEMILL_LITMUS").ok().and_then(|s| s.parse().ok()).unwrap_or(0.3);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let turns = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let turns = &turns;
            scope.spawn(move || {
                let (mut random, group) = (Random(thread + 1), GroupShared::new(0));
                while Instant::now() < end {
                    let present = Present::perhaps_alone();
                    for _ in 0..random.next() % 4 {
                        let count = 1 + random.next() % 50;
                        let mut wave = program.wave(count as u32);
                        while let event = engine.run(&mut wave, &group, &program.memory, 200)
                            && event != Event::End
                        {
                            assert_eq!(event, Event::Preempted);
                            assert!(Instant::now() < end + Duration::from_secs(60), "a wave waits for ever");
                        }
                        turns.fetch_add(count, Ordering::Relaxed);
                    }
                    drop(present);
                    if random.one_in(3) {
                        std::thread::sleep(Duration::from_micros(random.next() % 300));
                    }
                }
            });
        }
    });
    turns.into_inner()
}

/// All lanes add to words side by side of 32 and of 64 bits, and to one place.
#[test]
fn sums_are_exact_while_threads_come_and_go() {
    let text = "v_mov_b32 v2, 1\nv_mov_b32 v3, 0\nv_mov_b32 v4, 0\n\
        loop:\n\
        global_atomic_add v5, v0, v2, s[2:3] glc\n\
        global_atomic_add_x2 v1, v[2:3], s[2:3] offset:512\n\
        global_atomic_add v4, v2, s[2:3] offset:1024\n\
        s_sub_u32 s0, s0, 1\ns_cmp_lg_u32 s0, 0\ns_cbranch_scc1 loop\ns_endpgm\n";
    for (name, engine) in engines(target(CPU)) {
        let program = Program::new(text);
        let turns = storm(&program, &*engine);
        let words = program.words();
        for word in &words[..32] {
            assert_eq!([*word as u32, (*word >> 32) as u32], [turns as u32; 2], "{name}");
        }
        assert_eq!(words[64..128], [turns; 64], "{name}");
        assert_eq!(words[128], 64 * turns, "{name}");
    }
}

/// A lock that is taken by comparing and exchanging, and released by a store: who has it adds to a number in two steps.
#[test]
fn locks_are_released_by_stores() {
    let text = "v_mov_b32 v2, 1\nv_mov_b32 v3, 0\nv_mov_b32 v4, 0\ns_mov_b64 exec, 1\n\
        loop:\n\
        global_atomic_cmpswap v5, v4, v[2:3], s[2:3] glc\n\
        s_waitcnt vmcnt(0)\n\
        v_readfirstlane_b32 s1, v5\ns_cmp_lg_u32 s1, 0\ns_cbranch_scc1 loop\n\
        global_load_dword v6, v4, s[2:3] offset:64\n\
        s_waitcnt vmcnt(0)\n\
        v_add_u32 v6, v6, v2\n\
        global_store_dword v4, v6, s[2:3] offset:64\n\
        s_waitcnt vmcnt(0)\n\
        global_store_dword v4, v4, s[2:3]\n\
        s_sub_u32 s0, s0, 1\ns_cmp_lg_u32 s0, 0\ns_cbranch_scc1 loop\ns_endpgm\n";
    for (name, engine) in engines(target(CPU)) {
        let program = Program::new(text);
        let turns = storm(&program, &*engine);
        let words = program.words();
        assert_eq!((words[0], words[8]), (0, turns), "{name}");
    }
}
