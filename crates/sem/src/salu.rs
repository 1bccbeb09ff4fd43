//! Scalar ALU instructions: functions of registers and SCC (manual 12.1 to 12.4).
//!
//! [`meaning`] is written over [`Word`] as the vector instructions are, so that an engine can record it; a lane is the wave.
//! [`salu`] is the same on numbers.

use crate::int;
use crate::lanes::{Long, Word, w};
use crate::misc::{ffbh_u32, ffbl, reverse};
use crate::scalar::{S32, S64, SMask};
use wavemill_isa::Op;

/// What a scalar instruction computes: the result, SCC and EXEC, each if it is written (compares have no result).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Out<L = u64, M = bool> {
    /// The result.
    pub d: Option<L>,
    /// SCC.
    pub scc: Option<M>,
    /// EXEC.
    pub exec: Option<L>,
}

/// The meaning of a SOP2, SOP1, SOPC or SOPK instruction on numbers; see [`meaning`].
pub fn salu(op: Op, s0: u64, s1: u64, d: u64, scc: bool, exec: u64) -> Option<Out> {
    let out = meaning::<S32>(op, S64(s0), S64(s1), S64(d), SMask(scc), S64(exec))?;
    Some(Out { d: out.d.map(|d| d.0), scc: out.scc.map(|m| m.0), exec: out.exec.map(|e| e.0) })
}

/// Shorthands over one kind of lanes.
struct Make<W>(W);

impl<W: Word> Make<W> {
    #[inline(always)]
    fn value(d: W::Long) -> Out<W::Long, W::Mask> {
        Out { d: Some(d), scc: None, exec: None }
    }
    #[inline(always)]
    fn value32(d: W) -> Out<W::Long, W::Mask> {
        Self::value(d.zext())
    }
    #[inline(always)]
    fn with(d: W, scc: W::Mask) -> Out<W::Long, W::Mask> {
        Out { d: Some(d.zext()), scc: Some(scc), exec: None }
    }
    /// A 32-bit result with SCC = (D != 0).
    #[inline(always)]
    fn nz32(d: W) -> Out<W::Long, W::Mask> {
        Self::with(d, !d.eq(w(0)))
    }
    /// A 64-bit result with SCC = (D != 0).
    #[inline(always)]
    fn nz64(d: W::Long) -> Out<W::Long, W::Mask> {
        Out { d: Some(d), scc: Some(some(d)), exec: None }
    }
    #[inline(always)]
    fn flag(scc: W::Mask) -> Out<W::Long, W::Mask> {
        Out { d: None, scc: Some(scc), exec: None }
    }
}

#[inline(always)]
fn some<L: Long>(x: L) -> L::Mask {
    !x.eq(L::splat(0))
}
/// Bit field: offset in bits 5:0 (or 4:0), width in 22:16.
#[inline(always)]
fn field<W: Word>(s1: W, bits: u32) -> (W, W) {
    (s1 & w(bits - 1), s1.shr(w(16)) & w(0x7f))
}
#[inline(always)]
fn field_u<L: Long>(s0: L, s1: L::Word, bits: u32) -> L {
    let (offset, width) = field(s1, bits);
    let mask = L::splat(1).shl(width) - L::splat(1);
    s0.shr(offset) & L::select(width.lt_u(w(bits)), mask, L::splat(!0))
}
#[inline(always)]
fn field_i<L: Long>(s0: L, s1: L::Word, bits: u32) -> L {
    let (offset, width) = field(s1, bits);
    let v = s0.sar(offset);
    let up = w::<L::Word>(64) - width;
    let r = L::select(width.lt_u(w(bits)), v.shl(up).sar(up), v);
    L::select(width.eq(w(0)), L::splat(0), r)
}
#[inline(always)]
fn count_ones<L: Long>(x: L) -> L::Word {
    x.lo().count_ones() + x.hi().count_ones()
}
/// Position of the lowest set bit, -1 if none.
#[inline(always)]
fn first_one<L: Long>(x: L) -> L::Word {
    L::Word::select(some(x), count_ones(!x & (x - L::splat(1))), w(!0))
}
/// Zeros above the highest set bit, -1 if none is set.
#[inline(always)]
fn last_bit<L: Long>(x: L) -> L::Word {
    let high = x.hi();
    let low = L::Word::select(some(x), w::<L::Word>(32) + x.lo().leading_zeros(), w(!0));
    L::Word::select(high.eq(w(0)), low, high.leading_zeros())
}
/// The lowest bit of each group of four of which one is set.
#[inline(always)]
fn groups<L: Long>(x: L) -> L {
    (x | x.shr(w(1)) | x.shr(w(2)) | x.shr(w(3))) & L::splat(0x1111_1111_1111_1111)
}
/// Each group of four bits becomes all ones if one of it is set.
#[inline(always)]
fn wqm<L: Long>(x: L) -> L {
    let any = groups(x);
    any.shl(w(4)) - any
}
/// One bit per group of four.
#[inline(always)]
fn quadmask<L: Long>(x: L) -> L {
    let close = |x: L, by: u32, mask: u64| (x | x.shr(w(by))) & L::splat(mask);
    let x = close(groups(x), 3, 0x0303_0303_0303_0303);
    let x = close(x, 6, 0x000f_000f_000f_000f);
    let x = close(x, 12, 0x0000_00ff_0000_00ff);
    close(x, 24, 0xffff)
}
/// Every bit twice.
#[inline(always)]
fn replicate<W: Word>(x: W) -> W::Long {
    let open = |x: W::Long, by: u32, mask: u64| (x | x.shl(w(by))) & W::Long::splat(mask);
    let x = open(x.zext(), 16, 0x0000_ffff_0000_ffff);
    let x = open(x, 8, 0x00ff_00ff_00ff_00ff);
    let x = open(x, 4, 0x0f0f_0f0f_0f0f_0f0f);
    let x = open(x, 2, 0x3333_3333_3333_3333);
    let x = open(x, 1, 0x5555_5555_5555_5555);
    x | x.shl(w(1))
}
#[inline(always)]
fn absolute<W: Word>(x: W) -> W {
    let sign = x.sar(w(31));
    (x ^ sign) - sign
}

/// The meaning of a SOP2, SOP1, SOPC or SOPK instruction. `s0` and `s1` are the sources (64 bits where the instruction's
/// are; for SOPK, the register and the constant, extended as the instruction wants it), `d` the old destination.
#[inline(always)]
pub fn meaning<W: Word>(
    op: Op,
    s0: W::Long,
    s1: W::Long,
    d: W::Long,
    scc: W::Mask,
    exec: W::Long,
) -> Option<Out<W::Long, W::Mask>> {
    let (a, b) = (s0.lo(), s1.lo());
    let one = w::<W>(1);
    let long = W::Long::splat;
    let saveexec = |new: W::Long| Out { d: Some(exec), scc: Some(some(new)), exec: Some(new) };
    let wrexec = |new: W::Long| Out { d: Some(new), scc: Some(some(new)), exec: Some(new) };
    let shifted = |n: u32| {
        let sum = a.zext().shl(w(n)) + b.zext();
        Make::<W>::with(sum.lo(), !sum.hi().eq(w(0)))
    };
    let (value, value32, with) = (Make::<W>::value, Make::<W>::value32, Make::<W>::with);
    let (nz32, nz64, flag) = (Make::<W>::nz32, Make::<W>::nz64, Make::<W>::flag);
    Some(match op {
        Op::s_add_u32 => with(a + b, (a + b).lt_u(a)),
        Op::s_sub_u32 => with(a - b, a.lt_u(b)),
        Op::s_add_i32 | Op::s_addk_i32 => {
            let r = a + b;
            with(r, ((a ^ r) & (b ^ r)).lt_i(w(0)))
        }
        Op::s_sub_i32 => {
            let r = a - b;
            with(r, ((a ^ b) & (a ^ r)).lt_i(w(0)))
        }
        Op::s_addc_u32 => {
            let (r, carry) = int::addc_co(a, b, scc, false);
            with(r, carry)
        }
        Op::s_subb_u32 => {
            let (r, borrow) = int::subb_co(a, b, scc, false);
            with(r, borrow)
        }
        Op::s_min_i32 => with(a.min_i(b), a.lt_i(b)),
        Op::s_min_u32 => with(a.min_u(b), a.lt_u(b)),
        // SCC is clear when both are equal: the manual's comparison is strict.
        Op::s_max_i32 => with(a.max_i(b), b.lt_i(a)),
        Op::s_max_u32 => with(a.max_u(b), b.lt_u(a)),
        Op::s_cselect_b32 => value32(W::select(scc, a, b)),
        Op::s_cselect_b64 => value(W::Long::select(scc, s0, s1)),
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
        Op::s_lshl_b32 => nz32(a.shl(b)),
        Op::s_lshl_b64 => nz64(s0.shl(b)),
        Op::s_lshr_b32 => nz32(a.shr(b)),
        Op::s_lshr_b64 => nz64(s0.shr(b)),
        Op::s_ashr_i32 => nz32(a.sar(b)),
        Op::s_ashr_i64 => nz64(s0.sar(b)),
        Op::s_bfm_b32 => value32(int::bfm(a, b)),
        Op::s_bfm_b64 => value((long(1).shl(a) - long(1)).shl(b)),
        Op::s_mul_i32 | Op::s_mulk_i32 => value32(a * b),
        Op::s_bfe_u32 => nz32(field_u(a.zext(), b, 32).lo()),
        Op::s_bfe_i32 => nz32(field_i(a.sext(), b, 32).lo()),
        Op::s_bfe_u64 => nz64(field_u(s0, b, 64)),
        Op::s_bfe_i64 => nz64(field_i(s0, b, 64)),
        Op::s_absdiff_i32 => nz32(absolute(a - b)),
        Op::s_mul_hi_u32 => value32(a.mul_hi_u(b)),
        Op::s_mul_hi_i32 => value32(a.mul_hi_i(b)),
        Op::s_lshl1_add_u32 => shifted(1),
        Op::s_lshl2_add_u32 => shifted(2),
        Op::s_lshl3_add_u32 => shifted(3),
        Op::s_lshl4_add_u32 => shifted(4),
        Op::s_pack_ll_b32_b16 => value32((a & w(0xffff)) | b.shl(w(16))),
        Op::s_pack_lh_b32_b16 => value32((a & w(0xffff)) | (b & w(0xffff_0000))),
        Op::s_pack_hh_b32_b16 => value32(a.shr(w(16)) | (b & w(0xffff_0000))),

        Op::s_mov_b32 => value32(a),
        Op::s_movk_i32 => value32(b),
        Op::s_mov_b64 => value(s0),
        Op::s_cmov_b32 => value(W::Long::select(scc, a.zext(), d)),
        Op::s_cmovk_i32 => value(W::Long::select(scc, b.zext(), d)),
        Op::s_cmov_b64 => value(W::Long::select(scc, s0, d)),
        Op::s_not_b32 => nz32(!a),
        Op::s_not_b64 => nz64(!s0),
        Op::s_wqm_b32 => nz32(wqm(a.zext()).lo()),
        Op::s_wqm_b64 => nz64(wqm(s0)),
        Op::s_brev_b32 => value32(reverse(a)),
        Op::s_brev_b64 => value(W::Long::join(reverse(s0.hi()), reverse(s0.lo()))),
        Op::s_bcnt0_i32_b32 => nz32((!a).count_ones()),
        Op::s_bcnt0_i32_b64 => nz32(count_ones(!s0)),
        Op::s_bcnt1_i32_b32 => nz32(a.count_ones()),
        Op::s_bcnt1_i32_b64 => nz32(count_ones(s0)),
        Op::s_ff0_i32_b32 => value32(ffbl(!a)),
        Op::s_ff0_i32_b64 => value32(first_one(!s0)),
        Op::s_ff1_i32_b32 => value32(ffbl(a)),
        Op::s_ff1_i32_b64 => value32(first_one(s0)),
        Op::s_flbit_i32_b32 => value32(ffbh_u32(a)),
        Op::s_flbit_i32_b64 => value32(last_bit(s0)),
        Op::s_flbit_i32 => value32(ffbh_u32(a ^ a.sar(w(31)))),
        Op::s_flbit_i32_i64 => value32(last_bit(s0 ^ s0.sar(w(63)))),
        Op::s_sext_i32_i8 => value32(a.shl(w(24)).sar(w(24))),
        Op::s_sext_i32_i16 => value32(int::i16(a)),
        Op::s_bitset0_b32 => value32(d.lo() & !one.shl(a)),
        Op::s_bitset0_b64 => value(d & !long(1).shl(a)),
        Op::s_bitset1_b32 => value32(d.lo() | one.shl(a)),
        Op::s_bitset1_b64 => value(d | long(1).shl(a)),
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
        Op::s_quadmask_b32 => nz32(quadmask(a.zext()).lo()),
        Op::s_quadmask_b64 => nz64(quadmask(s0)),
        Op::s_abs_i32 => nz32(absolute(a)),
        Op::s_bitreplicate_b64_b32 => value(replicate(a)),

        Op::s_cmp_eq_i32 | Op::s_cmp_eq_u32 | Op::s_cmpk_eq_i32 | Op::s_cmpk_eq_u32 => flag(a.eq(b)),
        Op::s_cmp_lg_i32 | Op::s_cmp_lg_u32 | Op::s_cmpk_lg_i32 | Op::s_cmpk_lg_u32 => flag(!a.eq(b)),
        Op::s_cmp_gt_i32 | Op::s_cmpk_gt_i32 => flag(b.lt_i(a)),
        Op::s_cmp_ge_i32 | Op::s_cmpk_ge_i32 => flag(!a.lt_i(b)),
        Op::s_cmp_lt_i32 | Op::s_cmpk_lt_i32 => flag(a.lt_i(b)),
        Op::s_cmp_le_i32 | Op::s_cmpk_le_i32 => flag(!b.lt_i(a)),
        Op::s_cmp_gt_u32 | Op::s_cmpk_gt_u32 => flag(b.lt_u(a)),
        Op::s_cmp_ge_u32 | Op::s_cmpk_ge_u32 => flag(!a.lt_u(b)),
        Op::s_cmp_lt_u32 | Op::s_cmpk_lt_u32 => flag(a.lt_u(b)),
        Op::s_cmp_le_u32 | Op::s_cmpk_le_u32 => flag(!b.lt_u(a)),
        Op::s_bitcmp0_b32 => flag((a.shr(b) & one).eq(w(0))),
        Op::s_bitcmp1_b32 => flag(!(a.shr(b) & one).eq(w(0))),
        Op::s_bitcmp0_b64 => flag((s0.shr(b) & long(1)).eq(long(0))),
        Op::s_bitcmp1_b64 => flag(some(s0.shr(b) & long(1))),
        Op::s_cmp_eq_u64 => flag(s0.eq(s1)),
        Op::s_cmp_lg_u64 => flag(!s0.eq(s1)),
        _ => return None,
    })
}
