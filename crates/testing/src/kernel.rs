//! Code objects made of assembly.

use wavemill_asm::{Options, Os, OutputType, assemble, elf};
use wavemill_isa::target::{Target, processor};

/// The relocatable object of a source.
pub fn object(cpu: &str, source: &str) -> Vec<u8> {
    let mut options = Options::new(Target::new(processor(cpu).unwrap()));
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
