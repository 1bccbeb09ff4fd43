//! What assembles, and does not do what it looks like: warnings that LLVM does not have.

use wavemill_isa::encoding::bits;
use wavemill_isa::{Enc, Inst, Role, Target, regs};

/// A warning about an instruction, if there is reason for one.
pub(super) fn of(inst: &Inst, target: &Target) -> Option<&'static str> {
    if inst.row.enc != Enc::Smem {
        return None;
    }
    let name = inst.row.name;
    let rest = name.strip_prefix("s_buffer_").or_else(|| name.strip_prefix("s_scratch_"));
    let rest = rest.or_else(|| name.strip_prefix("s_")).unwrap_or(name);
    // Manual 8.1, OFFSET: "Writes and atomics: M0 or immediate only, not SGPR"; Mesa's README-ISA saw it on GFX8 and GFX9.
    if (rest.starts_with("store_") || rest.starts_with("atomic_"))
        && offset_register(inst, target).is_some_and(|r| r != regs::M0)
    {
        return Some(
            "scalar stores and atomics have their offset in M0 or in the instruction: other registers do not work",
        );
    }
    // A load that is replayed after part of it has come back finds another base (LLVM keeps the registers apart then).
    let loads = rest.starts_with("load_dwordx");
    if loads && target.xnack == Some(true) && overlaps(inst) {
        return Some(
            "with XNACK the load may be replayed, and would find its base overwritten: use other registers",
        );
    }
    None
}

/// The register that an offset is in.
fn offset_register(inst: &Inst, target: &Target) -> Option<u32> {
    let get = |field: wavemill_isa::encoding::Field| field.get(inst.bits);
    match (get(bits::SMEM_IMM), target.level().is_gfx9() && get(bits::SMEM_SOE) != 0) {
        (0, false) => Some(get(bits::SMEM_OFFSET20) & 0x7f),
        (_, true) => Some(get(bits::SMEM_SOFFSET)),
        _ => None,
    }
}

/// Whether the destination has a register of the base.
fn overlaps(inst: &Inst) -> bool {
    let operand = |role: Role| inst.row.operand(role).map(|o| (inst.get(role), o.ty.dwords() as u32));
    match (operand(Role::Sdata), operand(Role::Sbase)) {
        // The field of the base counts pairs.
        (Some((data, dwords)), Some((base, width))) => {
            let base = base * 2;
            data < base + width && base < data + dwords
        }
        _ => false,
    }
}
