//! How long it takes to compile code objects, for each instruction: `cargo bench -p wavemill-jit --bench latency [OBJECT...]`.
//!
//! All blocks of a code object's text are compiled, one after the other, and forgotten again: the first time, when nothing of
//! the compiler has run in this process; again and again; and with other data in the caches before each block, as between
//! the blocks of a kernel that runs.

use std::hint::black_box;
use wavemill_isa::Decoder;
use wavemill_isa::target::{Target, processor};
use wavemill_jit::Jit;
use wavemill_wave::program::{Layout, decode_block};
use wavemill_wave::{Engine, GroupShared, Memory, Shape, Wave};

/// What is between two blocks of a kernel that runs: more than the caches near a core have.
const OTHER: usize = 4 << 20;
const ROUNDS: usize = 200;

/// The text of a code object (ELF, 64 bits).
fn text(file: &[u8]) -> Option<&[u8]> {
    let number = |at: usize, bytes: usize| -> Option<usize> {
        let bytes = file.get(at..at + bytes)?;
        Some(bytes.iter().rev().fold(0, |all, &b| all << 8 | usize::from(b)))
    };
    let (table, size, count) = (number(0x28, 8)?, number(0x3a, 2)?, number(0x3c, 2)?);
    // Instructions, with contents.
    (0..count).map(|i| table + i * size).find_map(|at| {
        let code = number(at + 8, 8)? & 4 != 0 && number(at + 4, 4)? == 1;
        let (start, bytes) = (number(at + 0x18, 8)?, number(at + 0x20, 8)?);
        if code { file.get(start..start + bytes) } else { None }
    })
}

/// Page faults of this thread.
fn faults() -> i64 {
    // SAFETY: it writes the structure, which may be all zeros.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage.ru_minflt
    }
}

fn main() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels/fixtures/");
    let known = ["vadd", "reduce", "sgemm", "nbody", "mandelbrot", "sort", "math"];
    let known = known.map(|name| format!("{fixtures}{name}.gfx90a.clang-19.v5.O2.hsaco"));
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let files = if named.is_empty() { known.to_vec() } else { named };
    let target = Target::new(processor("gfx90a").expect("it is known"));
    let other = vec![1u8; OTHER];
    println!("{:>28} {:>8} {:>8} {:>8} us {:>5}", "", "first", "other", "again", "faults");
    for file in &files {
        let bytes = std::fs::read(file).expect("a code object");
        let code = text(&bytes).expect("a code object with text");
        // Where others begin.
        let code: Vec<u32> =
            code.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let (start, len) = (code.as_ptr() as u64, 4 * code.len() as u64);
        let memory = Memory::new();
        // SAFETY: the code lives as long as the memory, and nobody writes it.
        unsafe { memory.add(start, len, false).expect("a range of its own") };
        let Some(jit) = Jit::new(target) else { return println!("no code for this host") };
        let mut wave = Wave::new(&target, Shape { vgprs: 256, agprs: 256 });
        let decoder = Decoder::new(target);
        let (mut pc, mut starts) = (start, Vec::new());
        while pc < start + len {
            // Compilers fill up with S_CODE_END and S_NOP, which nobody runs.
            if [0xbf9f_0000, 0xbf80_0000].contains(&code[((pc - start) / 4) as usize]) {
                pc += 4;
                continue;
            }
            let block = decode_block(&decoder, &memory, pc, Layout::of(&wave));
            if block.len == 0 {
                break;
            }
            starts.push(pc);
            pc += u64::from(block.len);
        }
        let group = GroupShared::new(0);
        let mut round = |between: bool| {
            let before = jit.code_stats().expect("it compiles");
            for &pc in &starts {
                if between {
                    black_box(other.iter().step_by(64).map(|&b| u64::from(b)).sum::<u64>());
                }
                wave.pc = pc;
                black_box(jit.run(&mut wave, &group, &memory, 1));
            }
            let after = jit.code_stats().expect("it compiles");
            jit.invalidate(start, len);
            let instructions = (after.instructions - before.instructions).max(1);
            (instructions, (after.nanoseconds - before.nanoseconds) as f64 / instructions as f64 / 1e3)
        };
        // Launches may begin with new threads, too.
        let (first, faults) =
            std::thread::scope(|s| s.spawn(|| (round(false), faults())).join().expect("it ends"));
        let best = |all: Vec<f64>| all.into_iter().fold(f64::MAX, f64::min);
        let between = best((0..10).map(|_| round(true).1).collect());
        let again = best((0..ROUNDS).map(|_| round(false).1).collect());
        let name = file.rsplit('/').next().unwrap_or(file).split('.').next().unwrap_or(file);
        let (instructions, first) = first;
        println!("{name:>12} {instructions:6} instructions {first:7.2} {between:8.2} {again:8.2} {faults:8}");
    }
}
