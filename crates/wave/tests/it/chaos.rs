//! Random instructions and random state, for the test and the fuzz target that throw them at the engine.
//!
//! The fuzz target includes this file, too: it knows nothing of the test harness.

use wavemill_isa::target::{Target, processor};
use wavemill_isa::{Form, Inst, Processor, ROWS};
pub use wavemill_testing::Random;
use wavemill_wave::{Clock, Shape, Watch, Wave};

/// A processor of every level.
pub const PROCESSORS: [&str; 8] =
    ["gfx90a", "gfx908", "gfx906", "gfx900", "gfx803", "gfx801", "gfx701", "gfx600"];

pub fn target(cpu: &str) -> Target {
    Target::new(processor(cpu).unwrap_or_else(|| panic!("no processor {cpu}")))
}

/// A word of an instruction of a random row, its operands and modifiers random.
pub fn instruction(random: &mut Random, cpu: &Processor) -> u64 {
    loop {
        let row = &ROWS[random.next() as usize % ROWS.len()];
        let form = [Form::Base, Form::Vop3, Form::Sdwa, Form::Dpp][random.next() as usize % 4];
        if row.has_form(form, cpu.level) {
            let inst = Inst::new(row, form, cpu.level);
            // Low bits of the first dword and all of the second hold operands; small registers are likelier to exist.
            let noise = random.next() & if random.one_in(2) { !0 } else { 0x0f0f_0f0f_0f0f_0f0f };
            return inst.bits ^ noise & 0xffff_ffff_0001_ffff;
        }
    }
}

/// A wave at `pc` whose registers are random; half of them point into a buffer, so that memory instructions find
/// something.
pub fn state(random: &mut Random, cpu: &str, shape: Shape, pc: u64, buffer: u64) -> Wave {
    let mut wave = Wave::new(&target(cpu), shape);
    wave.pc = pc;
    wave.clock = Clock::Instructions;
    for code in 0..124 {
        let n = if random.one_in(2) { buffer >> (32 * (code & 1)) } else { random.edgy(32) };
        wave.set_sgpr(code, n as u32);
    }
    wave.set_vcc(random.edgy(64));
    wave.set_exec(if random.one_in(2) { !0 } else { random.edgy(64) });
    wave.set_sgpr(124, random.edgy(32) as u32);
    wave.scc = random.one_in(2);
    wave.mode = (random.next() as u32 & 0x3ff) | (random.next() as u32 & 0x0880_0000);
    for r in 0..shape.vgprs + shape.agprs {
        let Some(lanes) = wave.vgpr_mut(r) else { continue };
        for lane in lanes {
            let v = match random.next() % 4 {
                0 => buffer >> (32 * (r & 1)),
                1 => 0x3f80_0000 ^ random.next() & 0xff_ffff,
                _ => random.edgy(32),
            };
            *lane = v as u32;
        }
    }
    wave
}

/// Makes a wave's circumstances unusual: any MODE and STATUS, fewer scalar registers, a trap handler somewhere in the
/// code, watched addresses, float exceptions that somebody looks at.
pub fn unusual(random: &mut Random, wave: &mut Wave, code: (u64, usize), near: u64) {
    wave.mode = random.next() as u32;
    wave.status = random.next() as u32;
    wave.trapsts = random.next() as u32;
    wave.scratch_bytes = random.edgy(16) as u32;
    if random.one_in(2) {
        wave.set_flat_scratch(near);
    }
    if random.one_in(2) {
        wave.sgpr_count = random.edgy(8) as u8;
    }
    if random.one_in(3) {
        wave.set_trap_handler(code.0 + 4 * (random.next() % code.1 as u64), near);
    }
    wave.gather_exceptions = random.one_in(3);
    if random.one_in(4) {
        wave.watches =
            Some(Box::new([Some(Watch::new(near, 64)), None, Some(Watch::new(near & !63, 4)), None]));
    }
}
