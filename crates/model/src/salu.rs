//! Scalar ALU and branches: manual sections 12.1 to 12.5.

use crate::operand::scalar;
use crate::{State, Unmodelled};
use wavemill_isa::Inst;
use wavemill_isa::encoding::bits;
use wavemill_isa::row::{Access, Role};

/// Executes a scalar instruction.
pub fn execute(state: &mut State, inst: &Inst) -> Result<(), Unmodelled> {
    let row = inst.row;
    let next = state.pc + inst.len as u64;
    let simm = bits::SIMM16.get(inst.bits) as u16;
    let signed = simm as i16 as i32;
    let target = (next as i64 + 4 * signed as i64) as u64;
    let source = |state: &State, role| {
        row.operand(role).map_or(0, |op| scalar(state, inst, inst.field_of(op).get(inst.bits), op.ty))
    };
    let (s0, s1) = (source(state, Role::Ssrc0), source(state, Role::Ssrc1));
    let dst = row.operand(Role::Sdst).map(|op| (inst.get(Role::Sdst), op.ty.dwords(), op.access));
    // The destination's old value: what S_CMOV keeps, what SOPK compares and adds to.
    let old = match dst {
        Some((code, 2, _)) => state.sgpr64(code),
        Some((code, ..)) => state.sgprs[code as usize] as u64,
        None => 0,
    };
    state.pc = next;
    let exec = state.exec();
    let scc = state.scc as u64;
    // Results: the destination, SCC, EXEC; each may stay as it is.
    let mut d = None;
    let mut c = None;
    let mut new_exec = None;
    let (u0, u1) = (s0 as u32, s1 as u32);
    let (i0, i1) = (u0 as i32, u1 as i32);
    let wide = row.name.ends_with("64");
    let width = if wide { 64 } else { 32 };
    let mask = |v: u64| if wide { v } else { v & 0xffff_ffff };
    let logic = |v: u64| (Some(mask(v)), Some(mask(v) != 0));
    match row.name {
        "s_mov_b32" | "s_mov_b64" => d = Some(s0),
        "s_cmov_b32" | "s_cmov_b64" => d = Some(if state.scc { s0 } else { old }),
        "s_not_b32" | "s_not_b64" => (d, c) = logic(!s0),
        "s_wqm_b32" | "s_wqm_b64" => {
            (d, c) = logic((0..width).filter(|i| s0 >> (i & !3) & 15 != 0).map(|i| 1u64 << i).sum());
        }
        "s_quadmask_b32" | "s_quadmask_b64" => {
            (d, c) = logic((0..width / 4).filter(|i| s0 >> (4 * i) & 15 != 0).map(|i| 1u64 << i).sum());
        }
        "s_brev_b32" | "s_brev_b64" => {
            d = Some((0..width).filter(|i| s0 >> i & 1 != 0).map(|i| 1u64 << (width - 1 - i)).sum());
        }
        "s_bcnt0_i32_b32" | "s_bcnt0_i32_b64" | "s_bcnt1_i32_b32" | "s_bcnt1_i32_b64" => {
            let which = row.name.starts_with("s_bcnt1") as u64;
            (d, c) = logic((0..width).filter(|i| s0 >> i & 1 == which).count() as u64);
        }
        "s_ff0_i32_b32" | "s_ff0_i32_b64" => d = Some(first((0..width).find(|i| s0 >> i & 1 == 0))),
        "s_ff1_i32_b32" | "s_ff1_i32_b64" => d = Some(first((0..width).find(|i| s0 >> i & 1 == 1))),
        "s_flbit_i32_b32" | "s_flbit_i32_b64" => {
            d = Some(first((0..width).find(|i| s0 >> (width - 1 - i) & 1 == 1)));
        }
        "s_flbit_i32" | "s_flbit_i32_i64" => {
            let sign = s0 >> (width - 1) & 1;
            d = Some(first((1..width).find(|i| s0 >> (width - 1 - i) & 1 != sign)));
        }
        "s_sext_i32_i8" => d = Some(u0 as i8 as u64),
        "s_sext_i32_i16" => d = Some(u0 as i16 as u64),
        "s_bitset0_b32" => d = Some(old & !(1 << (s0 & 31))),
        "s_bitset0_b64" => d = Some(old & !(1 << (s0 & 63))),
        "s_bitset1_b32" => d = Some(old | 1 << (s0 & 31)),
        "s_bitset1_b64" => d = Some(old | 1 << (s0 & 63)),
        "s_getpc_b64" => d = Some(next),
        "s_setpc_b64" => state.pc = s0,
        "s_swappc_b64" => {
            d = Some(next);
            state.pc = s0;
        }
        "s_call_b64" => {
            d = Some(next);
            state.pc = target;
        }
        name if name.ends_with("_saveexec_b64") || name.ends_with("_wrexec_b64") => {
            let result = match &name[2..name.rfind('_').and_then(|i| name[..i].rfind('_')).unwrap_or(2)] {
                "and" => s0 & exec,
                "or" => s0 | exec,
                "xor" => s0 ^ exec,
                "andn2" => s0 & !exec,
                "orn2" => s0 | !exec,
                "nand" => !(s0 & exec),
                "nor" => !(s0 | exec),
                "xnor" => !(s0 ^ exec),
                "andn1" => !s0 & exec,
                "orn1" => !s0 | exec,
                _ => return Err(Unmodelled::Missing),
            };
            d = Some(if name.ends_with("_wrexec_b64") { result } else { exec });
            new_exec = Some(result);
            c = Some(result != 0);
        }
        "s_movrels_b32" => {
            let code = inst.get(Role::Ssrc0) + state.sgprs[124];
            d = Some(state.sgprs[code as usize] as u64);
        }
        "s_movrels_b64" => d = Some(state.sgpr64(inst.get(Role::Ssrc0) + state.sgprs[124])),
        "s_movreld_b32" => {
            let code = inst.get(Role::Sdst) + state.sgprs[124];
            state.sgprs[code as usize] = u0;
            return Ok(());
        }
        "s_movreld_b64" => {
            let code = inst.get(Role::Sdst) + state.sgprs[124];
            state.set_sgpr64(code, s0);
            return Ok(());
        }
        "s_abs_i32" => (d, c) = logic(i0.unsigned_abs() as u64),
        "s_set_gpr_idx_idx" => state.sgprs[124] = state.sgprs[124] & !0xff | u0 & 0xff,
        "s_bitreplicate_b64_b32" => {
            d = Some((0..32).filter(|i| s0 >> i & 1 != 0).map(|i| 3u64 << (2 * i)).sum())
        }

        "s_add_u32" | "s_addc_u32" => {
            let sum = s0 + s1 + if row.name == "s_addc_u32" { scc } else { 0 };
            d = Some(sum);
            c = Some(sum >> 32 != 0);
        }
        "s_sub_u32" | "s_subb_u32" => {
            let borrow = if row.name == "s_subb_u32" { scc } else { 0 };
            d = Some(s0.wrapping_sub(s1).wrapping_sub(borrow));
            c = Some(s1 + borrow > s0);
        }
        "s_add_i32" => {
            d = Some(i0.wrapping_add(i1) as u64);
            c = Some(i0.checked_add(i1).is_none());
        }
        "s_sub_i32" => {
            d = Some(i0.wrapping_sub(i1) as u64);
            c = Some(i0.checked_sub(i1).is_none());
        }
        "s_min_i32" => (d, c) = (Some(i0.min(i1) as u64), Some(i0 < i1)),
        "s_min_u32" => (d, c) = (Some(u0.min(u1) as u64), Some(u0 < u1)),
        // The equal case is the manual's: S0 is chosen when it is greater.
        "s_max_i32" => (d, c) = (Some(i0.max(i1) as u64), Some(i0 > i1)),
        "s_max_u32" => (d, c) = (Some(u0.max(u1) as u64), Some(u0 > u1)),
        "s_cselect_b32" | "s_cselect_b64" => d = Some(if state.scc { s0 } else { s1 }),
        "s_and_b32" | "s_and_b64" => (d, c) = logic(s0 & s1),
        "s_or_b32" | "s_or_b64" => (d, c) = logic(s0 | s1),
        "s_xor_b32" | "s_xor_b64" => (d, c) = logic(s0 ^ s1),
        "s_andn2_b32" | "s_andn2_b64" => (d, c) = logic(s0 & !s1),
        "s_orn2_b32" | "s_orn2_b64" => (d, c) = logic(s0 | !s1),
        "s_nand_b32" | "s_nand_b64" => (d, c) = logic(!(s0 & s1)),
        "s_nor_b32" | "s_nor_b64" => (d, c) = logic(!(s0 | s1)),
        "s_xnor_b32" | "s_xnor_b64" => (d, c) = logic(!(s0 ^ s1)),
        "s_lshl_b32" => (d, c) = logic(s0 << (s1 & 31)),
        "s_lshl_b64" => (d, c) = logic(s0 << (s1 & 63)),
        "s_lshr_b32" => (d, c) = logic(s0 >> (s1 & 31)),
        "s_lshr_b64" => (d, c) = logic(s0 >> (s1 & 63)),
        "s_ashr_i32" => (d, c) = logic((i0 >> (s1 & 31)) as u64),
        "s_ashr_i64" => (d, c) = logic((s0 as i64 >> (s1 & 63)) as u64),
        "s_bfm_b32" => d = Some(((1u64 << (s0 & 31)) - 1) << (s1 & 31)),
        "s_bfm_b64" => d = Some(((1u64 << (s0 & 63)) - 1) << (s1 & 63)),
        "s_mul_i32" => d = Some(u0.wrapping_mul(u1) as u64),
        "s_mul_hi_u32" => d = Some((s0 * s1) >> 32),
        "s_mul_hi_i32" => d = Some(((i0 as i64 * i1 as i64) >> 32) as u64),
        "s_bfe_u32" | "s_bfe_u64" => {
            let field = s1 >> 16 & 0x7f;
            (d, c) = logic(s0 >> (s1 & (width - 1)) & ones(field));
        }
        "s_bfe_i32" | "s_bfe_i64" => {
            let value = if wide { s0 as i64 } else { i0 as i64 };
            let field = (s1 >> 16 & 0x7f).min(64);
            let shifted = value >> (s1 & (width - 1));
            let extended = if field == 0 { 0 } else { shifted << (64 - field) >> (64 - field) };
            (d, c) = logic(extended as u64);
        }
        "s_absdiff_i32" => (d, c) = logic(i0.wrapping_sub(i1).wrapping_abs() as u32 as u64),
        "s_lshl1_add_u32" | "s_lshl2_add_u32" | "s_lshl3_add_u32" | "s_lshl4_add_u32" => {
            let sum = (s0 << (row.name.as_bytes()[6] - b'0')) + s1;
            d = Some(sum);
            c = Some(sum >> 32 != 0);
        }
        "s_pack_ll_b32_b16" => d = Some((s1 & 0xffff) << 16 | s0 & 0xffff),
        "s_pack_lh_b32_b16" => d = Some(s1 >> 16 << 16 | s0 & 0xffff),
        "s_pack_hh_b32_b16" => d = Some(s1 >> 16 << 16 | s0 >> 16),

        "s_movk_i32" => d = Some(signed as u64),
        "s_cmovk_i32" => d = Some(if state.scc { signed as u64 } else { old }),
        "s_addk_i32" => {
            let sum = (old as i32).checked_add(signed);
            d = Some((old as i32).wrapping_add(signed) as u64);
            c = Some(sum.is_none());
        }
        "s_mulk_i32" => d = Some((old as i32).wrapping_mul(signed) as u64),
        name if name.starts_with("s_cmpk_") => {
            let (a, b) = if name.ends_with("i32") {
                (old as i32 as i64, signed as i64)
            } else {
                (old as i64, simm as i64)
            };
            c = Some(relation(&name[7..9], a.cmp(&b)).ok_or(Unmodelled::Missing)?);
        }
        "s_getreg_b32" => {
            let (id, offset, size) = hwreg(simm);
            if id != 1 {
                return Err(Unmodelled::Missing);
            }
            d = Some(state.mode as u64 >> offset & ones(size));
        }
        "s_setreg_b32" | "s_setreg_imm32_b32" => {
            let (id, offset, size) = hwreg(simm);
            if id != 1 {
                return Err(Unmodelled::Missing);
            }
            let value = if row.name == "s_setreg_b32" { old } else { inst.bits >> 32 };
            let field = ones(size) << offset;
            state.mode = (state.mode as u64 & !field | value << offset & field) as u32;
            return Ok(());
        }
        "s_cmp_eq_u64" => c = Some(s0 == s1),
        "s_cmp_lg_u64" => c = Some(s0 != s1),
        name if name.starts_with("s_cmp_") => {
            let order = if name.ends_with("i32") { i0.cmp(&i1) } else { u0.cmp(&u1) };
            c = Some(relation(&name[6..8], order).ok_or(Unmodelled::Missing)?);
        }
        "s_bitcmp0_b32" => c = Some(s0 >> (s1 & 31) & 1 == 0),
        "s_bitcmp1_b32" => c = Some(s0 >> (s1 & 31) & 1 == 1),
        "s_bitcmp0_b64" => c = Some(s0 >> (s1 & 63) & 1 == 0),
        "s_bitcmp1_b64" => c = Some(s0 >> (s1 & 63) & 1 == 1),
        "s_setvskip" => state.mode = state.mode & !(1 << 28) | (u0 >> (u1 & 31) & 1) << 28,
        "s_set_gpr_idx_on" => {
            state.mode |= 1 << 27;
            let enables = inst.get(Role::GprIdx) & 15;
            state.sgprs[124] = state.sgprs[124] & !0xf0ff | u0 & 0xff | enables << 12;
        }
        "s_set_gpr_idx_off" => state.mode &= !(1 << 27),
        "s_set_gpr_idx_mode" => {
            state.sgprs[124] = state.sgprs[124] & !0xf000 | (simm as u32 & 15) << 12;
        }

        "s_branch" => state.pc = target,
        name if name.starts_with("s_cbranch_")
            && row.operands.len() == 1
            && row.operand(Role::Label).is_some() =>
        {
            let (sys, user) = (state.status >> 21 & 1 != 0, state.status >> 20 & 1 != 0);
            let taken = match name {
                "s_cbranch_scc0" => !state.scc,
                "s_cbranch_scc1" => state.scc,
                "s_cbranch_vccz" => state.vcc() == 0,
                "s_cbranch_vccnz" => state.vcc() != 0,
                "s_cbranch_execz" => exec == 0,
                "s_cbranch_execnz" => exec != 0,
                "s_cbranch_cdbgsys" => sys,
                "s_cbranch_cdbguser" => user,
                "s_cbranch_cdbgsys_or_user" => sys || user,
                "s_cbranch_cdbgsys_and_user" => sys && user,
                _ => return Err(Unmodelled::Missing),
            };
            if taken {
                state.pc = target;
            }
        }
        "s_cbranch_g_fork" => fork(state, s0, s1, next),
        "s_cbranch_i_fork" => fork(state, old, target, next),
        "s_cbranch_join" => {
            let csp = state.mode >> 29;
            // The PC stays behind the instruction when all paths have come.
            if csp != u0 {
                let csp = csp.wrapping_sub(1) & 7;
                state.mode = state.mode & !(7 << 29) | csp << 29;
                let mask = state.sgpr64(csp * 4);
                state.pc = state.sgpr64(csp * 4 + 2);
                state.set_sgpr64(126, mask);
            }
            return Ok(());
        }
        _ => return Err(Unmodelled::Missing),
    }
    if let (Some(value), Some((code, dwords, access))) = (d, dst) {
        debug_assert!(access != Access::Read);
        if dwords == 2 {
            state.set_sgpr64(code, value);
        } else {
            state.sgprs[code as usize] = value as u32;
        }
    }
    if let Some(exec) = new_exec {
        state.set_sgpr64(126, exec);
    }
    if let Some(c) = c {
        state.scc = c;
    }
    Ok(())
}

/// The position found, or -1.
fn first(position: Option<u64>) -> u64 {
    position.unwrap_or(u64::MAX)
}

/// A number of ones, at most 64.
fn ones(n: u64) -> u64 {
    if n >= 64 { !0 } else { (1 << n) - 1 }
}

/// Id, offset and size of a hardware register's field.
fn hwreg(simm: u16) -> (u16, u64, u64) {
    (simm & 63, simm as u64 >> 6 & 31, (simm as u64 >> 11) + 1)
}

fn relation(name: &str, order: std::cmp::Ordering) -> Option<bool> {
    Some(match name {
        "eq" => order.is_eq(),
        "lg" => order.is_ne(),
        "gt" => order.is_gt(),
        "ge" => order.is_ge(),
        "lt" => order.is_lt(),
        "le" => order.is_le(),
        _ => return None,
    })
}

/// Manual 4.6: the side with fewer lanes goes first, the other waits on the stack.
fn fork(state: &mut State, condition: u64, target: u64, next: u64) {
    let exec = state.exec();
    let (pass, fail) = (condition & exec, !condition & exec);
    let csp = state.mode >> 29;
    let push = |state: &mut State, pc: u64, mask: u64| {
        // { PC, mask }: the mask is in the lower half.
        state.set_sgpr64(csp * 4, mask);
        state.set_sgpr64(csp * 4 + 2, pc);
        state.mode = state.mode & !(7 << 29) | ((csp + 1) & 7) << 29;
    };
    if pass == exec {
        state.pc = target;
    } else if fail == exec {
        state.pc = next;
    } else if fail.count_ones() < pass.count_ones() {
        push(state, target, pass);
        state.set_sgpr64(126, fail);
        state.pc = next;
    } else {
        push(state, next, fail);
        state.set_sgpr64(126, pass);
        state.pc = target;
    }
}
