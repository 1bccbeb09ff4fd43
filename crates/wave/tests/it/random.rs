//! Random instructions on random state: nothing panics, and every back end leaves the same bits.

use crate::chaos::{PROCESSORS, Random, instruction, state, target};
use wavemill_wave::{Engine, Event, GroupShared, Interp, Memory, Shape, Simd};

const SHAPE: Shape = Shape { vgprs: 24, agprs: 8 };

type Outcome = (Event, Vec<[u32; 64]>, Vec<u32>, Vec<u64>, Vec<u8>);

fn outcome(cpu: &str, simd: Simd, code: &[u8], seed: u64) -> Outcome {
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
        let mut wave = state(&mut Random(seed), cpu, SHAPE, code.as_ptr() as u64, address + 2048);
        let group = GroupShared::new(512);
        let event = Interp::with_simd(target(cpu), simd).run(&mut wave, &group, &memory, 20);
        let vgprs = (0..SHAPE.vgprs + SHAPE.agprs).map(|r| *wave.vgpr(r).unwrap()).collect();
        let sgprs = (0..128).map(|c| wave.sgpr(c)).chain([wave.scc as u32, wave.mode]).collect();
        (event, vgprs, sgprs, buffer.to_vec(), group.lds.snapshot())
    })
}

#[test]
fn no_panic_and_the_same_bits() {
    let mut random = Random(0x0bad_cafe_dead_beef);
    for cpu in PROCESSORS {
        let processor = target(cpu).cpu;
        for _ in 0..1500 {
            let word = instruction(&mut random, processor);
            let end = 0xbf81_0000u32.to_le_bytes();
            let code: Vec<u8> = word.to_le_bytes().into_iter().chain(end).chain(end).collect();
            let seed = random.next();
            let all = Simd::available();
            let first = outcome(cpu, all[0], &code, seed);
            for &simd in &all[1..] {
                let other = outcome(cpu, simd, &code, seed);
                assert!(
                    first == other,
                    "{word:#018x} on {cpu} differs between {} and {}: {:?}",
                    all[0].name(),
                    simd.name(),
                    first.0
                );
            }
        }
    }
}
