//! Random instructions on random state: nothing panics, and every engine and back end leaves the same bits.

use crate::chaos::{PROCESSORS, Random, instruction, state, target, unusual};
use crate::harness::engines;
use wavemill_wave::{Engine, Event, GroupShared, Memory, Shape};

const SHAPE: Shape = Shape { vgprs: 24, agprs: 8 };

type Outcome = (Event, Vec<[u32; 64]>, Vec<u32>, Vec<u64>, Vec<u8>);

/// Runs code of some instructions; with an odd seed, in unusual circumstances.
fn outcome(cpu: &str, engine: &dyn Engine, code: &[u8], seed: u64) -> Outcome {
    let memory = Memory::new();
    // The same addresses for every back end: the buffers are made once per thread.
    thread_local! {
        static BUFFER: std::cell::RefCell<Box<[u64; 512]>> = std::cell::RefCell::new(Box::new([0; 512]));
    }
    BUFFER.with_borrow_mut(|buffer| {
        buffer.fill(0x0102_0304_3f80_4000);
        let address = buffer.as_mut_ptr() as u64;
        // SAFETY: both live until the run is over; the buffer is not looked at meanwhile.
        unsafe {
            memory.add(code.as_ptr() as u64, code.len() as u64, false).unwrap();
            memory.add(address, 4096, true).unwrap();
        }
        let (at, near) = (code.as_ptr() as u64, address + 2048);
        let mut random = Random(seed | 1);
        let mut wave = state(&mut random, cpu, SHAPE, at, near);
        if !seed.is_multiple_of(2) {
            unusual(&mut random, &mut wave, (at, code.len() / 4), near);
        }
        let mut group = GroupShared::new(512);
        group.scratch_base = near;
        let event = engine.run(&mut wave, &group, &memory, 40);
        engine.invalidate(code.as_ptr() as u64, code.len() as u64);
        let vgprs = (0..SHAPE.vgprs + SHAPE.agprs).map(|r| *wave.vgpr(r).unwrap()).collect();
        let sgprs = (0..128).map(|c| wave.sgpr(c)).chain([wave.scc as u32, wave.mode]).collect();
        (event, vgprs, sgprs, buffer.to_vec(), group.lds.snapshot())
    })
}

/// `WAVEMILL_RANDOM=seconds` goes on for so long, each time with other numbers.
#[test]
fn no_panic_and_the_same_bits() {
    let seconds = std::env::var("WAVEMILL_RANDOM").ok().and_then(|s| s.parse().ok());
    let start = std::time::Instant::now();
    let mut random = Random(match seconds {
        None => 0x0bad_cafe_dead_beef,
        Some(_) => std::time::UNIX_EPOCH.elapsed().map_or(1, |t| t.as_nanos() as u64 | 1),
    });
    let mut runs = 0u64;
    loop {
        for cpu in PROCESSORS {
            runs += every_engine(&mut random, cpu);
        }
        if seconds.is_none_or(|s| start.elapsed().as_secs() >= s) {
            break;
        }
    }
    println!("{runs} random instructions on every engine");
}

fn every_engine(random: &mut Random, cpu: &str) -> u64 {
    const RUNS: u64 = 1500;
    let processor = target(cpu).cpu;
    let engines = engines(target(cpu));
    for _ in 0..RUNS {
        let words: [u64; 2] = std::array::from_fn(|_| instruction(random, processor));
        let end = 0xbf81_0000u32.to_le_bytes();
        let count = 1 + random.one_in(2) as usize;
        let code: Vec<u8> =
            words.iter().take(count).flat_map(|w| w.to_le_bytes()).chain(end).chain(end).collect();
        let seed = random.next();
        let ((first, engine), others) = engines.split_first().expect("an engine");
        let want = outcome(cpu, &**engine, &code, seed);
        for (name, engine) in others {
            // Engines preempt where it suits them.
            if *name == "plain" && want.0 == Event::Preempted {
                continue;
            }
            let got = outcome(cpu, &**engine, &code, seed);
            assert!(
                want == got,
                "{words:#018x?} on {cpu} (seed {seed:#x}) differs between {first} and {name}: {:?} and {:?}",
                want.0,
                got.0
            );
        }
    }
    RUNS
}
