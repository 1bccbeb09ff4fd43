//! Instructions without a kernel around them: they get one.

use wavemill_isa::Level;
use wavemill_isa::target::Processor;
use wavemill_object::elf::SHF_EXECINSTR;
use wavemill_object::read::File;

/// What the kernel is called.
pub const NAME: &str = "instructions";

/// True for an object that has code and no kernel.
pub fn is(object: &[u8]) -> bool {
    let Ok(file) = File::parse(object) else { return false };
    let code = file.sections.iter().any(|s| s.flags & SHF_EXECINSTR != 0 && !s.data.is_empty());
    code && file.kernels().is_ok_and(|k| k.is_empty())
}

/// The source with a kernel made of it: every register there is, the arguments' address in s[0:1], the work-group's
/// number in s2, s3 and s4, the work-item's in v0, v1 and v2 (on gfx90a packed into v0), and an end.
pub fn wrap(text: &[u8], name: &str, cpu: &Processor) -> Vec<u8> {
    // Accumulators are the upper half of gfx90a's registers.
    let registers = match cpu.level {
        Level::Gfx90a => "\t.amdhsa_next_free_vgpr 512\n\t.amdhsa_accum_offset 256\n",
        _ => "\t.amdhsa_next_free_vgpr 256\n",
    };
    // The marker keeps the source's own lines in messages.
    let mut out =
        format!(".globl {NAME}\n.p2align 8\n.type {NAME},@function\n{NAME}:\n# 1 \"{name}\"\n").into_bytes();
    out.extend_from_slice(text);
    out.extend_from_slice(
        format!(
            "\n# 1 \"the end that Wavemill adds\"\ns_endpgm\n.L{NAME}_end:\n.size {NAME}, .L{NAME}_end-{NAME}\n.rodata\n\
             .p2align 6\n.amdhsa_kernel {NAME}\n{registers}\
             \t.amdhsa_next_free_sgpr 96\n\t.amdhsa_kernarg_size 256\n\t.amdhsa_user_sgpr_kernarg_segment_ptr 1\n\
             \t.amdhsa_system_sgpr_workgroup_id_x 1\n\t.amdhsa_system_sgpr_workgroup_id_y 1\n\
             \t.amdhsa_system_sgpr_workgroup_id_z 1\n\t.amdhsa_system_vgpr_workitem_id 2\n.end_amdhsa_kernel\n"
        )
        .as_bytes(),
    );
    out
}
