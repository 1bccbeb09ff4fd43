//! Scalar ALU instructions: plain functions of numbers and SCC (manual 12.1 to 12.4).

use wavemill_isa::Op;

/// What a scalar instruction computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Out {
    /// The result, if one is written (compares have none, conditional moves may not).
    pub d: Option<u64>,
    /// SCC, if it is written.
    pub scc: Option<bool>,
    /// EXEC, if it is written.
    pub exec: Option<u64>,
}

const fn value(d: u64) -> Out {
    Out { d: Some(d), scc: None, exec: None }
}
const fn with(d: u64, scc: bool) -> Out {
    Out { d: Some(d), scc: Some(scc), exec: None }
}
/// A 32-bit result with SCC = (D != 0).
const fn nz32(d: u32) -> Out {
    with(d as u64, d != 0)
}
/// A 64-bit result with SCC = (D != 0).
const fn nz64(d: u64) -> Out {
    with(d, d != 0)
}
const fn flag(scc: bool) -> Out {
    Out { d: None, scc: Some(scc), exec: None }
}

/// Bit field: offset in bits 5:0 (or 4:0), width in 22:16.
const fn field_u(s0: u64, s1: u32, bits: u32) -> u64 {
    let (offset, width) = (s1 & (bits - 1), s1 >> 16 & 0x7f);
    let v = s0 >> offset;
    if width >= bits { v } else { v & ((1 << width) - 1) }
}
const fn field_i(s0: u64, s1: u32, bits: u32) -> u64 {
    let (offset, width) = (s1 & (bits - 1), s1 >> 16 & 0x7f);
    let v = (s0 as i64) >> offset;
    match width {
        0 => 0,
        w if w >= bits => v as u64,
        w => (v << (64 - w) >> (64 - w)) as u64,
    }
}
const fn or_all_ones(n: Option<u32>) -> u64 {
    match n {
        Some(n) => n as u64,
        None => 0xffff_ffff,
    }
}
/// Position of the lowest set bit, -1 if none.
const fn first_one(x: u64) -> u64 {
    or_all_ones(if x == 0 { None } else { Some(x.trailing_zeros()) })
}
/// Zeros above the highest set bit of a number `bits` wide, -1 if none is set.
const fn last_bit(x: u64, bits: u32) -> u64 {
    or_all_ones(if x == 0 { None } else { Some(x.leading_zeros() - (64 - bits)) })
}
/// Each group of four bits becomes all ones if one of it is set.
const fn wqm(x: u64) -> u64 {
    let any = (x | x >> 1 | x >> 2 | x >> 3) & 0x1111_1111_1111_1111;
    any * 15
}
/// One bit per group of four.
fn quadmask(x: u64) -> u64 {
    (0..16).fold(0, |d, i| d | ((x >> (4 * i) & 15 != 0) as u64) << i)
}
/// Every bit twice.
fn replicate(x: u32) -> u64 {
    (0..32).fold(0, |d, i| d | ((x as u64 >> i & 1) * 3) << (2 * i))
}

/// The meaning of a SOP2, SOP1, SOPC or SOPK instruction. `s0` and `s1` are the sources (64 bits where the instruction's
/// are; for SOPK, the register and the constant, extended as the instruction wants it), `d` the old destination.
pub fn salu(op: Op, s0: u64, s1: u64, d: u64, scc: bool, exec: u64) -> Option<Out> {
    let (a, b) = (s0 as u32, s1 as u32);
    let (ai, bi) = (a as i32, b as i32);
    let saveexec = |new: u64| Out { d: Some(exec), scc: Some(new != 0), exec: Some(new) };
    let wrexec = |new: u64| Out { d: Some(new), scc: Some(new != 0), exec: Some(new) };
    let shifted = |n: u32| {
        let sum = ((a as u64) << n) + b as u64;
        with(sum as u32 as u64, sum >> 32 != 0)
    };
    Some(match op {
        Op::s_add_u32 => with(a.wrapping_add(b) as u64, a.checked_add(b).is_none()),
        Op::s_sub_u32 => with(a.wrapping_sub(b) as u64, b > a),
        Op::s_add_i32 | Op::s_addk_i32 => with(a.wrapping_add(b) as u64, ai.checked_add(bi).is_none()),
        Op::s_sub_i32 => with(a.wrapping_sub(b) as u64, ai.checked_sub(bi).is_none()),
        Op::s_addc_u32 => {
            let sum = a as u64 + b as u64 + scc as u64;
            with(sum as u32 as u64, sum >> 32 != 0)
        }
        Op::s_subb_u32 => {
            let borrow = b as u64 + scc as u64 > a as u64;
            with(a.wrapping_sub(b).wrapping_sub(scc as u32) as u64, borrow)
        }
        Op::s_min_i32 => with(ai.min(bi) as u32 as u64, ai < bi),
        Op::s_min_u32 => with(a.min(b) as u64, a < b),
        // SCC is clear when both are equal: the manual's comparison is strict.
        Op::s_max_i32 => with(ai.max(bi) as u32 as u64, ai > bi),
        Op::s_max_u32 => with(a.max(b) as u64, a > b),
        Op::s_cselect_b32 => value(if scc { a } else { b } as u64),
        Op::s_cselect_b64 => value(if scc { s0 } else { s1 }),
        Op::s_and_b32 => nz32(a & b),
        Op::s_and_b64 => nz64(s0 & s1),
        Op::s_or_b32 => nz32(a | b),
        Op::s_or_b64 => nz64(s0 | s1),
        Op::s_xor_b32 => nz32(a ^ b),
        Op::s_xor_b64 => nz64(s0 ^ s1),
        Op::s_andn2_b32 => nz32(a & !b),
        Op::s_andn2_b64 => nz64(s0 & !s1),
        Op::s_orn2_b32 => nz32(a | !b),
        Op::s_orn2_b64 => nz64(s0 | !s1),
        Op::s_nand_b32 => nz32(!(a & b)),
        Op::s_nand_b64 => nz64(!(s0 & s1)),
        Op::s_nor_b32 => nz32(!(a | b)),
        Op::s_nor_b64 => nz64(!(s0 | s1)),
        Op::s_xnor_b32 => nz32(!(a ^ b)),
        Op::s_xnor_b64 => nz64(!(s0 ^ s1)),
        Op::s_lshl_b32 => nz32(a << (b & 31)),
        Op::s_lshl_b64 => nz64(s0 << (b & 63)),
        Op::s_lshr_b32 => nz32(a >> (b & 31)),
        Op::s_lshr_b64 => nz64(s0 >> (b & 63)),
        Op::s_ashr_i32 => nz32((ai >> (b & 31)) as u32),
        Op::s_ashr_i64 => nz64((s0 as i64 >> (b & 63)) as u64),
        Op::s_bfm_b32 => value((((1u32 << (a & 31)) - 1) << (b & 31)) as u64),
        Op::s_bfm_b64 => value(((1u64 << (a & 63)) - 1) << (b & 63)),
        Op::s_mul_i32 | Op::s_mulk_i32 => value(a.wrapping_mul(b) as u64),
        Op::s_bfe_u32 => nz32(field_u(a as u64, b, 32) as u32),
        Op::s_bfe_i32 => nz32(field_i(ai as i64 as u64, b, 32) as u32),
        Op::s_bfe_u64 => nz64(field_u(s0, b, 64)),
        Op::s_bfe_i64 => nz64(field_i(s0, b, 64)),
        Op::s_absdiff_i32 => {
            let d = a.wrapping_sub(b) as i32;
            nz32(d.wrapping_abs() as u32)
        }
        Op::s_mul_hi_u32 => value((a as u64 * b as u64) >> 32),
        Op::s_mul_hi_i32 => value(((ai as i64 * bi as i64) >> 32) as u32 as u64),
        Op::s_lshl1_add_u32 => shifted(1),
        Op::s_lshl2_add_u32 => shifted(2),
        Op::s_lshl3_add_u32 => shifted(3),
        Op::s_lshl4_add_u32 => shifted(4),
        Op::s_pack_ll_b32_b16 => value((a & 0xffff | b << 16) as u64),
        Op::s_pack_lh_b32_b16 => value((a & 0xffff | b & 0xffff_0000) as u64),
        Op::s_pack_hh_b32_b16 => value((a >> 16 | b & 0xffff_0000) as u64),

        Op::s_mov_b32 => value(a as u64),
        Op::s_movk_i32 => value(b as u64),
        Op::s_mov_b64 => value(s0),
        Op::s_cmov_b32 => value(if scc { a as u64 } else { d }),
        Op::s_cmovk_i32 => value(if scc { b as u64 } else { d }),
        Op::s_cmov_b64 => value(if scc { s0 } else { d }),
        Op::s_not_b32 => nz32(!a),
        Op::s_not_b64 => nz64(!s0),
        Op::s_wqm_b32 => nz32(wqm(a as u64) as u32),
        Op::s_wqm_b64 => nz64(wqm(s0)),
        Op::s_brev_b32 => value(a.reverse_bits() as u64),
        Op::s_brev_b64 => value(s0.reverse_bits()),
        Op::s_bcnt0_i32_b32 => nz32(a.count_zeros()),
        Op::s_bcnt0_i32_b64 => nz32(s0.count_zeros()),
        Op::s_bcnt1_i32_b32 => nz32(a.count_ones()),
        Op::s_bcnt1_i32_b64 => nz32(s0.count_ones()),
        Op::s_ff0_i32_b32 => value(first_one(!a as u64)),
        Op::s_ff0_i32_b64 => value(first_one(!s0)),
        Op::s_ff1_i32_b32 => value(first_one(a as u64)),
        Op::s_ff1_i32_b64 => value(first_one(s0)),
        Op::s_flbit_i32_b32 => value(last_bit(a as u64, 32)),
        Op::s_flbit_i32_b64 => value(last_bit(s0, 64)),
        Op::s_flbit_i32 => value(last_bit((if ai < 0 { !a } else { a }) as u64, 32)),
        Op::s_flbit_i32_i64 => value(last_bit(if (s0 as i64) < 0 { !s0 } else { s0 }, 64)),
        Op::s_sext_i32_i8 => value(a as i8 as i32 as u32 as u64),
        Op::s_sext_i32_i16 => value(a as i16 as i32 as u32 as u64),
        Op::s_bitset0_b32 => value(d & !(1 << (a & 31)) & 0xffff_ffff),
        Op::s_bitset0_b64 => value(d & !(1 << (a & 63))),
        Op::s_bitset1_b32 => value((d | 1 << (a & 31)) & 0xffff_ffff),
        Op::s_bitset1_b64 => value(d | 1 << (a & 63)),
        Op::s_and_saveexec_b64 => saveexec(s0 & exec),
        Op::s_or_saveexec_b64 => saveexec(s0 | exec),
        Op::s_xor_saveexec_b64 => saveexec(s0 ^ exec),
        Op::s_andn2_saveexec_b64 => saveexec(s0 & !exec),
        Op::s_orn2_saveexec_b64 => saveexec(s0 | !exec),
        Op::s_nand_saveexec_b64 => saveexec(!(s0 & exec)),
        Op::s_nor_saveexec_b64 => saveexec(!(s0 | exec)),
        Op::s_xnor_saveexec_b64 => saveexec(!(s0 ^ exec)),
        Op::s_andn1_saveexec_b64 => saveexec(!s0 & exec),
        Op::s_orn1_saveexec_b64 => saveexec(!s0 | exec),
        Op::s_andn1_wrexec_b64 => wrexec(!s0 & exec),
        Op::s_andn2_wrexec_b64 => wrexec(s0 & !exec),
        Op::s_quadmask_b32 => nz32(quadmask(a as u64) as u32),
        Op::s_quadmask_b64 => nz64(quadmask(s0)),
        Op::s_abs_i32 => nz32(ai.wrapping_abs() as u32),
        Op::s_bitreplicate_b64_b32 => value(replicate(a)),

        Op::s_cmp_eq_i32 | Op::s_cmp_eq_u32 | Op::s_cmpk_eq_i32 | Op::s_cmpk_eq_u32 => flag(a == b),
        Op::s_cmp_lg_i32 | Op::s_cmp_lg_u32 | Op::s_cmpk_lg_i32 | Op::s_cmpk_lg_u32 => flag(a != b),
        Op::s_cmp_gt_i32 | Op::s_cmpk_gt_i32 => flag(ai > bi),
        Op::s_cmp_ge_i32 | Op::s_cmpk_ge_i32 => flag(ai >= bi),
        Op::s_cmp_lt_i32 | Op::s_cmpk_lt_i32 => flag(ai < bi),
        Op::s_cmp_le_i32 | Op::s_cmpk_le_i32 => flag(ai <= bi),
        Op::s_cmp_gt_u32 | Op::s_cmpk_gt_u32 => flag(a > b),
        Op::s_cmp_ge_u32 | Op::s_cmpk_ge_u32 => flag(a >= b),
        Op::s_cmp_lt_u32 | Op::s_cmpk_lt_u32 => flag(a < b),
        Op::s_cmp_le_u32 | Op::s_cmpk_le_u32 => flag(a <= b),
        Op::s_bitcmp0_b32 => flag(a >> (b & 31) & 1 == 0),
        Op::s_bitcmp1_b32 => flag(a >> (b & 31) & 1 != 0),
        Op::s_bitcmp0_b64 => flag(s0 >> (b & 63) & 1 == 0),
        Op::s_bitcmp1_b64 => flag(s0 >> (b & 63) & 1 != 0),
        Op::s_cmp_eq_u64 => flag(s0 == s1),
        Op::s_cmp_lg_u64 => flag(s0 != s1),
        _ => return None,
    })
}
