//! Dispatch without an interpreter: engines made for the test see what waves start with and how they are scheduled.

mod bad;
mod faults;
mod gws;
mod litmus;
mod ordered;
mod queues;
mod registers;
mod schedule;
mod traps;

use std::sync::Arc;
use wavemill_asm::{Options as AsmOptions, Os, OutputType, assemble, elf};
use wavemill_isa::target::{Target, processor};
use wavemill_machine::run::Launch;
use wavemill_machine::{Completion, Loaded, Machine, Options};
use wavemill_testing::evidence::Witnessed;
use wavemill_wave::{Engine, Event, GroupShared, Interp, Memory, Wave};

/// The relocatable object of a source.
pub fn object(cpu: &str, source: &str) -> Vec<u8> {
    let mut options = AsmOptions::new(Target::new(processor(cpu).unwrap()));
    options.triple = "amdgcn-amd-amdhsa".into();
    options.os = Os::AmdHsa;
    options.output = OutputType::Obj;
    let output = assemble(&options, "test.s", source.as_bytes().to_vec());
    assert!(!output.failed(), "{}", String::from_utf8_lossy(&output.render_diagnostics()));
    elf::write(&output).unwrap()
}

/// A kernel `k` of two instructions, with these lines in its descriptor.
pub fn kernel(cpu: &str, lines: &str) -> Vec<u8> {
    let accum = if cpu == "gfx90a" { ".amdhsa_accum_offset 32" } else { "" };
    let source = format!(
        ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\n  s_nop 0\n  s_trap 2\n  s_endpgm\n\
         .size k, .-k\n.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 32\n.amdhsa_next_free_sgpr 32\n\
         {accum}\n{lines}\n.end_amdhsa_kernel\n"
    );
    object(cpu, &source)
}

/// An engine made of a closure.
pub struct Fake<F>(pub F);

impl<F: Fn(&mut Wave, &GroupShared, &Memory, u64) -> Event + Send + Sync> Engine for Fake<F> {
    fn run(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event {
        (self.0)(wave, group, memory, budget)
    }

    fn invalidate(&self, _: u64, _: u64) {}
}

/// A machine with such an engine.
pub fn machine<F>(cpu: &str, threads: usize, run: F) -> Machine
where
    F: Fn(&mut Wave, &GroupShared, &Memory, u64) -> Event + Send + Sync + 'static,
{
    let target = Target::new(processor(cpu).unwrap());
    let options = Options { threads, deterministic: false };
    Machine::with_engine(target, Arc::new(Fake(run)), &options)
}

/// A machine with the interpreter; what its waves run is evidence of the file that calls this.
#[track_caller]
pub fn witnessed(cpu: &str, threads: usize) -> Machine {
    let target = Target::new(processor(cpu).unwrap());
    let engine = Witnessed::new(Interp::new(target), std::panic::Location::caller().file());
    Machine::with_engine(target, Arc::new(engine), &Options { threads, deterministic: false })
}

/// Loads `data` and launches its kernel `k`.
pub fn launch(machine: &Machine, data: Vec<u8>, launch: &Launch) -> Result<Completion, String> {
    let loaded: Arc<Loaded> = machine.load("test.o", data).map_err(|e| e.to_string())?;
    let kernel = loaded.kernel("k").expect("the kernel is there");
    machine.launch(kernel, launch)
}

/// A launch of a size.
pub fn sizes(grid: &[u32], block: &[u32]) -> Launch {
    Launch { grid: grid.to_vec(), block: block.to_vec(), ..Launch::default() }
}
