//! What the code of a code object may do that costs its dispatches something. Dwords are looked at, not instructions: a
//! wrong guess costs time, no more.

use wavemill_isa::encoding::bits;
use wavemill_isa::{Form, Inst, Level, Op, ROWS, Role};

/// The bits of an instruction's first dword when all operands are zero; none if the level does not have it.
fn bare(op: Op, level: Level) -> Option<Inst> {
    let row = ROWS.iter().find(|r| r.op == op)?;
    row.opcode_at(level)?;
    Some(Inst::new(row, Form::Base, level))
}

fn any_word(code: &[u8], mut is: impl FnMut(u32) -> bool) -> bool {
    code.as_chunks::<4>().0.iter().any(|w| is(u32::from_le_bytes(*w)))
}

/// Whether code may read TRAPSTS: some dword of it looks like S_GETREG_B32 of it.
pub(crate) fn reads_trapsts(code: &[u8], level: Level) -> bool {
    const TRAPSTS: u32 = 3;
    let Some(wanted) = bare(Op::s_getreg_b32, level) else { return false };
    let operands = wanted.field(Role::Sdst).set(wanted.field(Role::Hwreg).set(0, !0), !0) as u32;
    any_word(code, |word| word & !operands == wanted.bits as u32 && word & 63 == TRAPSTS)
}

/// Whether code may count in the order of the waves: some dword of it looks like DS_ORDERED_COUNT.
pub(crate) fn counts_in_order(code: &[u8], level: Level) -> bool {
    let Some(wanted) = bare(Op::ds_ordered_count, level) else { return false };
    let gds = if level.is_vi_plus() { bits::DS_GDS } else { bits::DS_GDS_SI };
    let operands = gds.set(bits::DS_OFFSET.set(0, !0), !0) as u32;
    any_word(code, |word| word & !operands == wanted.bits as u32)
}
