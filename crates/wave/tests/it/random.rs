//! Random instructions on random state: nothing panics, and every back end leaves the same bits.

use crate::harness::{Random, target};
use wavemill_isa::{Form, Inst, ROWS};
use wavemill_wave::{Clock, Engine, Event, GroupShared, Interp, Memory, Shape, Simd, Wave};

const SHAPE: Shape = Shape { vgprs: 24, agprs: 8 };

/// A word of an instruction of a random row, its operands and modifiers random.
fn instruction(random: &mut Random, cpu: &wavemill_isa::Processor) -> u64 {
    loop {
        let row = &ROWS[random.next() as usize % ROWS.len()];
        let form = [Form::Base, Form::Vop3, Form::Sdwa, Form::Dpp][random.next() as usize % 4];
        if row.has_form(form, cpu.level) {
            let inst = Inst::new(row, form, cpu.level);
            // Low bits of the first dword and all of the second hold operands; small registers are likelier to exist.
            let noise =
                random.next() & if random.next().is_multiple_of(2) { !0 } else { 0x0f0f_0f0f_0f0f_0f0f };
            return inst.bits ^ noise & 0xffff_ffff_0001_ffff;
        }
    }
}

fn state(random: &mut Random, cpu: &str, pc: u64, buffer: u64) -> Wave {
    let mut wave = Wave::new(&target(cpu), SHAPE);
    wave.pc = pc;
    wave.clock = Clock::Instructions;
    for code in 0..104 {
        // Half of the registers point into the buffer, so that memory instructions find something.
        let n = if random.next().is_multiple_of(2) { buffer >> (32 * (code & 1)) } else { random.edgy(32) };
        wave.set_sgpr(code, n as u32);
    }
    wave.set_vcc(random.edgy(64));
    wave.set_exec(if random.next().is_multiple_of(2) { !0 } else { random.edgy(64) });
    wave.set_sgpr(124, random.edgy(32) as u32);
    wave.scc = random.next().is_multiple_of(2);
    wave.mode = (random.next() as u32 & 0x3ff) | (random.next() as u32 & 0x0880_0000);
    for r in 0..SHAPE.vgprs + SHAPE.agprs {
        for lane in 0..64 {
            let v = match random.next() % 4 {
                0 => buffer >> (32 * (r & 1)),
                1 => 0x3f80_0000 ^ random.next() & 0xff_ffff,
                _ => random.edgy(32),
            };
            wave.vgpr_mut(r).unwrap()[lane] = v as u32;
        }
    }
    wave
}

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
        let mut wave = state(&mut Random(seed), cpu, code.as_ptr() as u64, address + 2048);
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
    for cpu in ["gfx90a", "gfx908", "gfx900", "gfx803", "gfx701", "gfx600"] {
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
