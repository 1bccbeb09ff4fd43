//! Registers that a wave does not have, or may not write (manual 3.6.1, 3.6.2, 3.10, 8.4).
//!
//! Decoding settles all of it, so that running instructions need not look: a scalar source out of range becomes s0, a
//! scalar destination out of range, or one that only the trap handler may write, becomes none, and an instruction whose
//! vector destination is out of range does nothing. Before GFX9, the last two SGPRs a wave has are VCC.

use crate::control::Control;
use crate::inst::{Inst, Run};
use crate::memory::Access as MemAccess;
use crate::smem::ScalarMemory;
use crate::state::{Allocation, named_sgprs};
use wavemill_isa::encoding::bits;
use wavemill_isa::row::Access;
use wavemill_isa::{Enc, Field, Form, Level, Operand, Role, regs};

/// TBA and TMA (before GFX9) and the trap handler's temporaries.
const TRAP_REGISTERS: std::ops::RangeInclusive<u32> = 108..=123;

/// What is wrong with an instruction's scalar results.
pub(crate) struct Results {
    /// The destination does not exist.
    lost: bool,
    /// The instruction is not executed.
    skip: bool,
}

impl Results {
    /// Takes from the decoded instruction what it must not do.
    pub fn apply(&self, out: &mut Inst, allocation: Allocation) {
        if self.lost {
            out.sdst = 255;
        }
        if self.skip || lost_vector(out, allocation) {
            out.run = Run::Nop;
        }
    }
}

/// Whether the instruction's vector destination is one that the wave does not have: decoding has put a spare one there.
fn lost_vector(out: &Inst, allocation: Allocation) -> bool {
    if out.dst != allocation.spare() {
        return false;
    }
    match out.run {
        Run::Valu(_) | Run::LaneMove(_) | Run::Mfma | Run::Share(_) => out.row.operand(Role::Vdst).is_some(),
        Run::Memory(access) => match access {
            MemAccess::Load { .. } => !out.uses_lds(),
            MemAccess::Atomic { .. } => out.returns(),
            MemAccess::Store { .. } => false,
        },
        Run::Formatted(_) | Run::Image(_) => {
            out.row.operand(Role::Vdata).is_some_and(|o| o.access == Access::Write) && !out.uses_lds()
        }
        // An interpolation writes to the spare register; the rest has no vector result that could be missing.
        _ => false,
    }
}

/// Where a number of scalar registers leads.
enum ScalarTarget {
    Inside,
    /// VCC, by another name.
    Vcc(u32),
    Outside,
}

fn place(code: u32, dwords: u32, allocation: Allocation, level: Level) -> ScalarTarget {
    let (count, named) = (allocation.named_sgprs(level) as u32, named_sgprs(level) as u32);
    if code >= named || count >= named {
        return ScalarTarget::Inside; // a special register, or a wave that has them all
    }
    let vcc = count.saturating_sub(2);
    if !level.is_gfx9() && code >= vcc && code + dwords <= count {
        return ScalarTarget::Vcc(regs::VCC + code - vcc);
    }
    if code + dwords <= count { ScalarTarget::Inside } else { ScalarTarget::Outside }
}

/// Rewrites an instruction's scalar operands.
pub(crate) fn confine(inst: &mut wavemill_isa::Inst, allocation: Allocation, level: Level) -> Results {
    let mut results = Results { lost: false, skip: false };
    for o in inst.row.operands {
        let Some((field, scale)) = scalar_field(inst, o, level) else { continue };
        let code = field.get(inst.bits) * scale;
        if code >= 128 {
            continue; // a constant or a VGPR
        }
        let moved = matches!(
            Control::of(inst.row.op),
            Some(Control::MoveRelativeSource | Control::MoveRelativeDestination)
        );
        let written =
            o.access != Access::Read && o.role != Role::Sdata || o.role == Role::Sdata && loads(inst);
        if written && TRAP_REGISTERS.contains(&code) && !allocation.privileged {
            results.lost = true;
            results.skip |= o.role == Role::Sdata;
        }
        match place(code, o.ty.dwords().into(), allocation, level) {
            // Relative moves count from the register's own number.
            ScalarTarget::Inside => {}
            ScalarTarget::Vcc(_) if moved => {}
            ScalarTarget::Vcc(vcc) => inst.put(field, vcc / scale),
            ScalarTarget::Outside if written => {
                results.lost = true;
                results.skip |= o.role == Role::Sdata;
            }
            ScalarTarget::Outside => inst.put(field, 0),
        }
    }
    results
}

/// Whether a scalar memory instruction writes its data registers.
fn loads(inst: &wavemill_isa::Inst) -> bool {
    match ScalarMemory::of(inst.row.op) {
        Some(ScalarMemory::Load { .. } | ScalarMemory::Time | ScalarMemory::RealTime) => true,
        Some(ScalarMemory::Store { .. }) => false,
        _ => inst.row.enc == Enc::Smrd || bits::SMEM_GLC.get(inst.bits) != 0,
    }
}

/// Where an operand's scalar register is, and in units of how many registers it counts.
fn scalar_field(inst: &wavemill_isa::Inst, o: &Operand, level: Level) -> Option<(Field, u32)> {
    let field = inst.field_of(o);
    let word = inst.bits;
    let scale = match o.role {
        Role::Sbase => 2,
        Role::Srsrc | Role::Ssamp => 4,
        _ => 1,
    };
    let scalar = match o.role {
        Role::Ssrc0 | Role::Ssrc1 | Role::Sbase | Role::Srsrc | Role::Ssamp | Role::Sdst | Role::Sdata => {
            true
        }
        Role::Saddr => field.get(word) != 0x7f,
        Role::Vcc => inst.form == Form::Vop3,
        Role::Soffset => return scalar_offset(inst, field, level).map(|f| (f, 1)),
        Role::Src0 | Role::Src1 | Role::Src2 => match inst.form {
            Form::Dpp => false,
            Form::Sdwa => {
                let shift = if o.role == Role::Src1 { 8 } else { 0 };
                level.is_gfx9() && word >> (bits::SDWA_S.lo + shift) & 1 != 0
            }
            // Eight bits are a VGPR.
            _ => field.width > 8,
        },
        _ => false,
    };
    scalar.then_some((field, scale))
}

/// The field of a memory instruction's scalar offset, if it is a register.
fn scalar_offset(inst: &wavemill_isa::Inst, field: Field, level: Level) -> Option<Field> {
    let word = inst.bits;
    match inst.row.enc {
        Enc::Smrd => (bits::SMRD_IMM.get(word) == 0).then_some(bits::SMRD_OFFSET),
        Enc::Smem if level.is_gfx9() && bits::SMEM_SOE.get(word) != 0 => Some(bits::SMEM_SOFFSET),
        Enc::Smem => (bits::SMEM_IMM.get(word) == 0).then(|| Field::new(bits::SMEM_OFFSET20.lo, 7)),
        _ => Some(field),
    }
}
