//! Assembling and running a few instructions.

pub use crate::chaos::{Random, target};
use std::panic::Location;
use std::sync::Arc;
use wavemill_isa::target::Target;
use wavemill_jit::Jit;

use wavemill_plain::Plain;
use wavemill_testing::evidence;
use wavemill_wave::{Engine, Event, GroupShared, Interp, Memory, Observer, Shape, Simd, Wave};

/// A processor of every generation, oldest first.
pub const CPUS: [&str; 7] = ["gfx600", "gfx701", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a"];

pub fn assemble(target: Target, name: &str, text: &str) -> Vec<u8> {
    let mut options = wavemill_asm::Options::new(target);
    options.output = wavemill_asm::OutputType::Obj;
    let output = wavemill_asm::assemble(&options, name, text.as_bytes().to_vec());
    assert!(!output.failed(), "{}", String::from_utf8_lossy(&output.render_diagnostics()));
    let object = output.object.expect("an object");
    object.sections.into_iter().find(|s| !s.data.is_empty()).expect("code").data
}

/// Every engine, with a name for messages: the interpreter with each back end, the JIT where it can run, and the plain one.
pub fn engines(target: Target) -> Vec<(&'static str, Box<dyn Engine>)> {
    let interp = |s: Simd| (s.name(), Box::new(Interp::with_simd(target, s)) as Box<dyn Engine>);
    let mut all: Vec<_> = Simd::available().into_iter().map(interp).collect();
    let jit = |jit: Jit| {
        (if jit.simd() == Simd::Avx2 { "jit with AVX2" } else { "jit" }, Box::new(jit) as Box<dyn Engine>)
    };
    all.extend(Jit::all(target).into_iter().map(jit));
    all.push(("plain", Box::new(Plain::new(target))));
    all
}

/// A program on one engine, with its memory.
pub struct Machine {
    pub target: Target,
    pub engine: Box<dyn Engine>,
    pub memory: Memory,
    pub group: GroupShared,
    code: Vec<u32>,
    witness: Option<Arc<dyn Observer>>,
    /// No boxes: these may not be written by others.
    buffers: Vec<Vec<u64>>,
}

impl Machine {
    /// What it runs is evidence of the file that calls this.
    #[track_caller]
    pub fn new(cpu: &str, simd: Simd, text: &str, lds: u32) -> Machine {
        Machine::of(Location::caller().file(), cpu, simd, text, lds)
    }

    /// A program whose instructions are evidence of a test.
    pub fn of(test: &str, cpu: &str, simd: Simd, text: &str, lds: u32) -> Machine {
        let target = target(cpu);
        Machine::with(test, target, Box::new(Interp::with_simd(target, simd)), text, lds)
    }

    /// The same on any engine.
    pub fn with(test: &str, target: Target, engine: Box<dyn Engine>, text: &str, lds: u32) -> Machine {
        let mut bytes = assemble(target, "test.s", text);
        bytes.extend(assemble(target, "end.s", "s_endpgm"));
        // Words, so that it lies where code may.
        let words = bytes.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap()));
        let code: Vec<u32> = words.collect();
        let memory = Memory::new();
        // SAFETY: the code lives as long as the machine and is not changed.
        unsafe { memory.add(code.as_ptr() as u64, bytes.len() as u64, false).unwrap() };
        let (group, witness) = (GroupShared::new(lds), evidence::witness(test));
        Machine { target, engine, memory, group, code, witness, buffers: Vec::new() }
    }

    pub fn wave(&self) -> Wave {
        let mut wave = Wave::new(&self.target, Shape { vgprs: 128, agprs: 64 });
        wave.pc = self.code.as_ptr() as u64;
        wave.observer = self.witness.clone();
        wave
    }

    /// Guest memory that waves may write; returns its address.
    pub fn buffer(&mut self, bytes: &[u8]) -> u64 {
        let mut words = vec![0u64; bytes.len().div_ceil(8)];
        for (i, b) in bytes.iter().enumerate() {
            words[i / 8] |= (*b as u64) << (8 * (i % 8));
        }
        let address = words.as_mut_ptr() as u64;
        // SAFETY: the buffer lives as long as the machine; it is only looked at through `read`.
        unsafe { self.memory.add(address, bytes.len() as u64, true).unwrap() };
        self.buffers.push(words);
        address
    }

    /// Fills LDS and GDS, which must have as many bytes.
    pub fn fill_shares(&self, bytes: &[u8]) {
        for share in [&self.group.lds, self.group.global.gds()] {
            assert!(bytes.len() <= share.len() as usize);
            // SAFETY: as many bytes are there, and no wave runs.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), share.base(), bytes.len()) };
        }
    }

    pub fn read(&self, address: u64, len: usize) -> Vec<u8> {
        let mut out = vec![0; len];
        assert!(self.memory.read(address, &mut out));
        out
    }

    pub fn run(&self, wave: &mut Wave) -> Event {
        self.engine.run(wave, &self.group, &self.memory, 1_000_000)
    }
}

/// So many registers of a file (`v` or `s`), as an operand.
pub fn registers(file: char, first: u16, dwords: usize) -> String {
    match dwords {
        0 | 1 => format!("{file}{first}"),
        n => format!("{file}[{first}:{}]", first as usize + n - 1),
    }
}

/// Runs one instruction on 64 lanes of operands in v0, v2 and v4 (pairs for 64 bits); the result is v[6:7] and VCC.
#[track_caller]
pub fn lanes(cpu: &str, simd: Simd, text: &str, mode: u32, operands: &[[u64; 3]; 64]) -> ([u64; 64], u64) {
    let machine = Machine::new(cpu, simd, text, 0);
    let mut wave = machine.wave();
    wave.mode = mode;
    for (lane, values) in operands.iter().enumerate() {
        for (i, v) in values.iter().enumerate() {
            wave.vgpr_mut(2 * i as u16).unwrap()[lane] = *v as u32;
            wave.vgpr_mut(2 * i as u16 + 1).unwrap()[lane] = (*v >> 32) as u32;
        }
    }
    assert_eq!(machine.run(&mut wave), Event::End, "{text}");
    let r =
        std::array::from_fn(|l| wave.vgpr(6).unwrap()[l] as u64 | (wave.vgpr(7).unwrap()[l] as u64) << 32);
    (r, wave.vcc())
}

/// The whole set of 64 operand triples.
pub fn triples(mut f: impl FnMut() -> u64) -> [[u64; 3]; 64] {
    std::array::from_fn(|_| std::array::from_fn(|_| f()))
}
