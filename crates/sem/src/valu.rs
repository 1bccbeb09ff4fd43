//! Vector ALU instructions: which meaning each one has.
//!
//! [`common`] has the commonest instructions; each other function matches the rest of some encodings and hands the meaning to an [`Apply`], or returns `None`
//! for those it does not have. Instructions that are about registers rather than values (V_READLANE, V_SWAP, MFMA …)
//! are the engines' business. 16-bit operands come in the low half; results are in the low half, the rest zero.

// Meanings are closures of their own, called in one place each, so that every one is compiled into its place.
#![allow(clippy::redundant_closure)]

use crate::apply::{Apply, Context};
use crate::fp::{double as d, single as s};
use crate::half::HalfMode;
use crate::lanes::{Long, Word, w};
use crate::mode::FloatMode;
use crate::packed::pk;
use crate::soft::Round;
use crate::{cvt, div, half as h, int, misc, packed, special};
use wavemill_isa::Op;

/// The instructions compilers use most, each a few host instructions for all lanes: engines may keep them close together.
#[inline(always)]
pub fn common<K: Apply>(op: Op, k: K, x: &Context) -> Option<K::Out> {
    let m = x.mode;
    let (cl, ieee) = (x.clamp, m.ieee);
    let (pick32, pick64) = (x.min_max(m.f32), x.min_max(m.f64));
    Some(match op {
        Op::v_mov_b32 => k.w_w(|a| a),
        Op::v_not_b32 => k.w_w(|a| !a),
        Op::v_cvt_f32_i32 => k.w_w(|a| x.f32(cvt::f32_i32(a, m.f32))),
        Op::v_cvt_f32_u32 => k.w_w(|a| x.f32(cvt::f32_u32(a, m.f32))),
        Op::v_cvt_u32_f32 => k.w_w(|a| a.f2u()),
        Op::v_cvt_i32_f32 => k.w_w(|a| a.f2i()),
        Op::v_cvt_f32_ubyte0 => k.w_w(|a| x.f32((a & w(0xff)).i2f())),
        Op::v_cvt_f32_ubyte1 => k.w_w(|a| x.f32((a.shr(w(8)) & w(0xff)).i2f())),
        Op::v_cvt_f32_ubyte2 => k.w_w(|a| x.f32((a.shr(w(16)) & w(0xff)).i2f())),
        Op::v_cvt_f32_ubyte3 => k.w_w(|a| x.f32(a.shr(w(24)).i2f())),
        Op::v_trunc_f32 => k.w_w(|a| x.f32(cvt::trunc_f32(a, m.f32))),
        Op::v_ceil_f32 => k.w_w(|a| x.f32(cvt::ceil_f32(a, m.f32))),
        Op::v_rndne_f32 => k.w_w(|a| x.f32(cvt::rndne_f32(a, m.f32))),
        Op::v_floor_f32 => k.w_w(|a| x.f32(cvt::floor_f32(a, m.f32))),
        Op::v_fract_f32 => k.w_w(|a| x.f32(cvt::fract_f32(a, m.f32, x.level))),
        Op::v_cndmask_b32 => k.wwm_w(|a, b, m| K::W::select(m, b, a)),
        Op::v_and_b32 => k.ww_w(|a, b| a & b),
        Op::v_or_b32 => k.ww_w(|a, b| a | b),
        Op::v_xor_b32 => k.ww_w(|a, b| a ^ b),
        Op::v_xnor_b32 => k.ww_w(|a, b| !(a ^ b)),
        Op::v_add_u32 => k.ww_w(|a, b| int::add_u32(a, b, cl)),
        Op::v_sub_u32 => k.ww_w(|a, b| int::sub_u32(a, b, cl)),
        Op::v_subrev_u32 => k.ww_w(|a, b| int::sub_u32(b, a, cl)),
        Op::v_add_co_u32 | Op::v_add_u32_gfx8 => k.ww_wm(|a, b| int::add_co(a, b, cl)),
        // Signed names of GFX6 and GFX7, but the carry is unsigned and so is what CLAMP does.
        Op::v_add_i32_gfx6 => k.ww_wm(|a, b| int::add_co(a, b, cl)),
        Op::v_sub_co_u32 | Op::v_sub_u32_gfx8 | Op::v_sub_i32_gfx6 => k.ww_wm(|a, b| int::sub_co(a, b, cl)),
        Op::v_subrev_co_u32 | Op::v_subrev_u32_gfx8 | Op::v_subrev_i32 => {
            k.ww_wm(|a, b| int::sub_co(b, a, cl))
        }
        Op::v_addc_co_u32 | Op::v_addc_u32 => k.wwm_wm(|a, b, m| int::addc_co(a, b, m, cl)),
        Op::v_subb_co_u32 | Op::v_subb_u32 => k.wwm_wm(|a, b, m| int::subb_co(a, b, m, cl)),
        Op::v_subbrev_co_u32 | Op::v_subbrev_u32 => k.wwm_wm(|a, b, m| int::subb_co(b, a, m, cl)),
        Op::v_mul_i32_i24 => k.ww_w(|a, b| int::mul_i24(a, b, cl)),
        Op::v_mul_u32_u24 => k.ww_w(|a, b| int::mul_u24(a, b, cl)),
        Op::v_min_i32 => k.ww_w(|a, b| a.min_i(b)),
        Op::v_max_i32 => k.ww_w(|a, b| a.max_i(b)),
        Op::v_min_u32 => k.ww_w(|a, b| a.min_u(b)),
        Op::v_max_u32 => k.ww_w(|a, b| a.max_u(b)),
        Op::v_lshrrev_b32 => k.ww_w(|a, b| b.shr(a)),
        Op::v_ashrrev_i32 => k.ww_w(|a, b| b.sar(a)),
        Op::v_lshlrev_b32 => k.ww_w(|a, b| b.shl(a)),
        Op::v_lshr_b32 => k.ww_w(|a, b| a.shr(b)),
        Op::v_ashr_i32 => k.ww_w(|a, b| a.sar(b)),
        Op::v_lshl_b32 => k.ww_w(|a, b| a.shl(b)),
        Op::v_bfm_b32 | Op::v_bfm_b32_gfx6 => k.ww_w(|a, b| int::bfm(a, b)),
        Op::v_add_f32 => k.ww_w(|a, b| x.f32(s::add(a, b, m.f32))),
        Op::v_sub_f32 => k.ww_w(|a, b| x.f32(s::sub(a, b, m.f32))),
        Op::v_subrev_f32 => k.ww_w(|a, b| x.f32(s::subrev(a, b, m.f32))),
        Op::v_mul_f32 => k.ww_w(|a, b| x.f32(s::mul(a, b, m.f32))),
        Op::v_min_f32 => k.ww_w(|a, b| x.f32(s::min(a, b, pick32, ieee))),
        Op::v_max_f32 => k.ww_w(|a, b| x.f32(s::max(a, b, pick32, ieee))),
        Op::v_mac_f32 | Op::v_madmk_f32 | Op::v_madak_f32 => {
            k.www_w(|a, b, c| x.f32(s::mad(a, b, c, m.mad32())))
        }
        Op::v_fmac_f32 => k.www_w(|a, b, c| x.f32(s::fma(a, b, c, m.f32))),
        Op::v_fmac_f64 => k.lll_l(|a, b, c| x.f64(d::fma(a, b, c, m.f64))),
        Op::v_mad_i32_i24 => k.www_w(|a, b, c| int::mad_i24(a, b, c, cl)),
        Op::v_mad_u32_u24 => k.www_w(|a, b, c| int::mad_u24(a, b, c, cl)),
        Op::v_bfe_u32 => k.www_w(|a, b, c| int::bfe_u32(a, b, c)),
        Op::v_bfe_i32 => k.www_w(|a, b, c| int::bfe_i32(a, b, c)),
        Op::v_bfi_b32 => k.www_w(|a, b, c| (a & b) | (!a & c)),
        Op::v_alignbit_b32 => k.www_w(|a, b, c| int::align(a, b, c & w(31))),
        Op::v_alignbyte_b32 => k.www_w(|a, b, c| int::align(a, b, (c & w(3)).shl(w(3)))),
        Op::v_min3_i32 => k.www_w(|a, b, c| a.min_i(b).min_i(c)),
        Op::v_max3_i32 => k.www_w(|a, b, c| a.max_i(b).max_i(c)),
        Op::v_med3_i32 => k.www_w(|a, b, c| int::med3_i(a, b, c)),
        Op::v_min3_u32 => k.www_w(|a, b, c| a.min_u(b).min_u(c)),
        Op::v_max3_u32 => k.www_w(|a, b, c| a.max_u(b).max_u(c)),
        Op::v_med3_u32 => k.www_w(|a, b, c| int::med3_u(a, b, c)),
        Op::v_lshlrev_b64 => k.wl_l(|a, b| b.shl(a)),
        Op::v_lshrrev_b64 => k.wl_l(|a, b| b.shr(a)),
        Op::v_ashrrev_i64 => k.wl_l(|a, b| b.sar(a)),
        Op::v_lshl_b64 => k.lw_l(|a, b| a.shl(b)),
        Op::v_lshr_b64 => k.lw_l(|a, b| a.shr(b)),
        Op::v_ashr_i64 => k.lw_l(|a, b| a.sar(b)),
        Op::v_mul_lo_u32 | Op::v_mul_lo_i32 => k.ww_w(|a, b| a * b),
        Op::v_mul_hi_u32 => k.ww_w(|a, b| a.mul_hi_u(b)),
        Op::v_mul_hi_i32 => k.ww_w(|a, b| a.mul_hi_i(b)),
        Op::v_mad_u64_u32 => k.wwl_lm(|a, b, c| int::mad_u64(a, b, c, cl)),
        Op::v_mad_i64_i32 => k.wwl_lm(|a, b, c| int::mad_i64(a, b, c, cl)),
        Op::v_xad_u32 => k.www_w(|a, b, c| (a ^ b) + c),
        Op::v_lshl_add_u32 => k.www_w(|a, b, c| a.shl(b) + c),
        Op::v_add_lshl_u32 => k.www_w(|a, b, c| (a + b).shl(c)),
        Op::v_add3_u32 => k.www_w(|a, b, c| a + b + c),
        Op::v_lshl_or_b32 => k.www_w(|a, b, c| a.shl(b) | c),
        Op::v_and_or_b32 => k.www_w(|a, b, c| (a & b) | c),
        Op::v_or3_b32 => k.www_w(|a, b, c| a | b | c),
        Op::v_add_i32 => k.ww_w(|a, b| int::add_i32(a, b, cl)),
        Op::v_sub_i32 => k.ww_w(|a, b| int::sub_i32(a, b, cl)),
        Op::v_mad_f32 => k.www_w(|a, b, c| x.f32(s::mad(a, b, c, m.mad32()))),
        Op::v_fma_f32 => k.www_w(|a, b, c| x.f32(s::fma(a, b, c, m.f32))),
        Op::v_fma_f64 => k.lll_l(|a, b, c| x.f64(d::fma(a, b, c, m.f64))),
        Op::v_add_f64 => k.ll_l(|a, b| x.f64(d::add(a, b, m.f64))),
        Op::v_mul_f64 => k.ll_l(|a, b| x.f64(d::mul(a, b, m.f64))),
        Op::v_min_f64 => k.ll_l(|a, b| x.f64(d::min(a, b, pick64, ieee))),
        Op::v_max_f64 => k.ll_l(|a, b| x.f64(d::max(a, b, pick64, ieee))),
        Op::v_pk_fma_f32 => k.lll_l(|a, b, c| {
            let lo = x.pk32(s::fma(a.lo(), b.lo(), c.lo(), m.f32));
            Long::join(lo, x.pk32(s::fma(a.hi(), b.hi(), c.hi(), m.f32)))
        }),
        Op::v_pk_mul_f32 => k.ll_l(|a, b| {
            Long::join(x.pk32(s::mul(a.lo(), b.lo(), m.f32)), x.pk32(s::mul(a.hi(), b.hi(), m.f32)))
        }),
        Op::v_pk_add_f32 => k.ll_l(|a, b| {
            Long::join(x.pk32(s::add(a.lo(), b.lo(), m.f32)), x.pk32(s::add(a.hi(), b.hi(), m.f32)))
        }),
        Op::v_pk_mov_b32 => k.ll_l(|a, b| Long::join(a.lo(), b.lo())),
        Op::v_accvgpr_read_b32 | Op::v_accvgpr_write_b32 => k.w_w(|a| a),
        _ => return None,
    })
}

/// VOP1.
#[inline(always)]
pub fn vop1<K: Apply>(op: Op, k: K, x: &Context) -> Option<K::Out> {
    let m = x.mode;
    Some(match op {
        Op::v_bfrev_b32 => k.w_w(|a| misc::reverse(a)),
        Op::v_ffbh_u32 => k.w_w(|a| misc::ffbh_u32(a)),
        Op::v_ffbl_b32 => k.w_w(|a| misc::ffbl(a)),
        Op::v_ffbh_i32 => k.w_w(|a| misc::ffbh_i32(a)),
        Op::v_sat_pk_u8_i16 => k.w_w(|a| packed::sat_pk_u8(a)),
        Op::v_screen_partition_4se_b32 => k.w_w(|a| misc::screen_partition(a)),

        Op::v_cvt_f16_f32 => k.w_w(|a| x.f16(h::from_f32(a, &m))),
        Op::v_cvt_f32_f16 => k.w_w(|a| x.f32(h::to_f32(a, &m))),
        Op::v_cvt_rpi_i32_f32 => k.w_w(|a| cvt::rpi(a)),
        Op::v_cvt_flr_i32_f32 => k.w_w(|a| cvt::flr(a)),
        Op::v_cvt_off_f32_i4 => k.w_w(|a| x.f32(cvt::off_i4(a))),
        Op::v_cvt_i32_f64 => k.l_w(|a| a.d2i()),
        Op::v_cvt_u32_f64 => k.l_w(|a| a.d2u()),
        Op::v_cvt_f64_i32 => k.w_l(|a| x.f64(a.i2d())),
        Op::v_cvt_f64_u32 => k.w_l(|a| x.f64(a.u2d())),
        Op::v_cvt_f32_f64 => k.l_w(|a| x.f32(cvt::f32_f64(a, &m))),
        Op::v_cvt_f64_f32 => k.w_l(|a| x.f64(cvt::f64_f32(a, &m))),
        Op::v_cvt_f16_u16 => k.w_w(|a| x.f16(cvt::f16_int(a, false, &m))),
        Op::v_cvt_f16_i16 => k.w_w(|a| x.f16(cvt::f16_int(a, true, &m))),
        Op::v_cvt_u16_f16 => k.w_w(|a| cvt::u16_f16(a)),
        Op::v_cvt_i16_f16 => k.w_w(|a| cvt::i16_f16(a)),
        Op::v_cvt_norm_i16_f16 => k.w_w(|a| cvt::snorm16(h::input(a, m.half()).h2f(), m.f64.round)),
        Op::v_cvt_norm_u16_f16 => k.w_w(|a| cvt::unorm16(h::input(a, m.half()).h2f(), m.f64.round)),

        Op::v_trunc_f64 => k.l_l(|a| x.f64(cvt::round_f64(a, m.f64, |a| a.ftrunc()))),
        Op::v_ceil_f64 => k.l_l(|a| x.f64(cvt::ceil_f64(a, m.f64))),
        Op::v_rndne_f64 => k.l_l(|a| x.f64(cvt::round_f64(a, m.f64, |a| a.frint()))),
        Op::v_floor_f64 => k.l_l(|a| x.f64(cvt::round_f64(a, m.f64, |a| a.ffloor()))),
        Op::v_fract_f64 => k.l_l(|a| x.f64(cvt::fract_f64(a, m.f64, x.level))),
        Op::v_trunc_f16 => k.w_w(|a| x.f16(h::trunc(a, m.half()))),
        Op::v_ceil_f16 => k.w_w(|a| x.f16(h::ceil(a, m.half()))),
        Op::v_rndne_f16 => k.w_w(|a| x.f16(h::rndne(a, m.half()))),
        Op::v_floor_f16 => k.w_w(|a| x.f16(h::floor(a, m.half()))),
        Op::v_fract_f16 => k.w_w(|a| x.f16(h::fract(a, m.half()))),

        Op::v_exp_f32 | Op::v_exp_legacy_f32 => k.w_w(|a| x.f32(special::exp_f32(a))),
        Op::v_log_f32 | Op::v_log_legacy_f32 => k.w_w(|a| x.f32(special::log_f32(a))),
        Op::v_log_clamp_f32 => k.w_w(|a| x.f32(special::clamp_pole_f32(special::log_f32(a)))),
        Op::v_rcp_f32 | Op::v_rcp_iflag_f32 => k.w_w(|a| x.f32(special::rcp_f32(a))),
        Op::v_rcp_clamp_f32 => k.w_w(|a| x.f32(special::clamp_inf_f32(special::rcp_f32(a)))),
        Op::v_rcp_legacy_f32 => k.w_w(|a| x.f32(special::legacy_inf_f32(special::rcp_f32(a)))),
        Op::v_rsq_f32 => k.w_w(|a| x.f32(special::rsq_f32(a))),
        Op::v_rsq_clamp_f32 => k.w_w(|a| x.f32(special::clamp_inf_f32(special::rsq_f32(a)))),
        Op::v_rsq_legacy_f32 => k.w_w(|a| x.f32(special::legacy_inf_f32(special::rsq_f32(a)))),
        Op::v_sqrt_f32 => k.w_w(|a| x.f32(special::sqrt_f32(a))),
        Op::v_sin_f32 => k.w_w(|a| x.f32(special::sin_f32(a, m.f32))),
        Op::v_cos_f32 => k.w_w(|a| x.f32(special::cos_f32(a))),
        Op::v_rcp_f64 => k.l_l(|a| x.f64(special::rcp_f64(a, m.f64))),
        Op::v_rcp_clamp_f64 => k.l_l(|a| x.f64(special::clamp_inf_f64(special::rcp_f64(a, m.f64)))),
        Op::v_rsq_f64 => k.l_l(|a| x.f64(special::rsq_f64(a, m.f64))),
        Op::v_rsq_clamp_f64 => k.l_l(|a| x.f64(special::clamp_inf_f64(special::rsq_f64(a, m.f64)))),
        Op::v_sqrt_f64 => k.l_l(|a| x.f64(special::sqrt_f64(a, m.f64))),
        Op::v_rcp_f16 => k.w_w(|a| x.f16(special::rcp_f16(a, m.half()))),
        Op::v_sqrt_f16 => k.w_w(|a| x.f16(special::sqrt_f16(a, m.half()))),
        Op::v_rsq_f16 => k.w_w(|a| x.f16(special::rsq_f16(a, m.half()))),
        Op::v_log_f16 => k.w_w(|a| x.f16(special::log_f16(a, m.half()))),
        Op::v_exp_f16 => k.w_w(|a| x.f16(special::exp_f16(a, m.half()))),
        Op::v_sin_f16 => k.w_w(|a| x.f16(special::sin_f16(a, m.half()))),
        Op::v_cos_f16 => k.w_w(|a| x.f16(special::cos_f16(a, m.half()))),

        Op::v_frexp_exp_i32_f32 => k.w_w(|a| s::frexp_exp(a, m.f32)),
        Op::v_frexp_mant_f32 => k.w_w(|a| x.f32(s::frexp_mant(a, m.f32))),
        Op::v_frexp_exp_i32_f64 => k.l_w(|a| d::frexp_exp(a, m.f64)),
        Op::v_frexp_mant_f64 => k.l_l(|a| x.f64(d::frexp_mant(a, m.f64))),
        Op::v_frexp_mant_f16 => k.w_w(|a| x.f16(h::frexp_mant(a, m.half()))),
        Op::v_frexp_exp_i16_f16 => k.w_w(|a| h::frexp_exp(a, m.half())),
        _ => return None,
    })
}

/// VOP2, integer and bitwise.
#[inline(always)]
pub fn vop2_int<K: Apply>(op: Op, k: K, x: &Context) -> Option<K::Out> {
    let c = x.clamp;
    Some(match op {
        Op::v_mul_hi_i32_i24 => k.ww_w(|a, b| int::i24(a).mul_hi_i(int::i24(b))),
        Op::v_mul_hi_u32_u24 => k.ww_w(|a, b| int::u24(a).mul_hi_u(int::u24(b))),
        Op::v_bcnt_u32_b32 | Op::v_bcnt_u32_b32_gfx6 => k.ww_w(|a, b| a.count_ones() + b),
        Op::v_mbcnt_lo_u32_b32 | Op::v_mbcnt_lo_u32_b32_gfx6 => {
            k.wwi_w(|a, b, lane| misc::mbcnt_lo(a, b, lane))
        }
        Op::v_mbcnt_hi_u32_b32 | Op::v_mbcnt_hi_u32_b32_gfx6 => {
            k.wwi_w(|a, b, lane| misc::mbcnt_hi(a, b, lane))
        }
        Op::v_add_u16 => k.ww_w(|a, b| int::to_u16(int::u16(a) + int::u16(b), c)),
        Op::v_sub_u16 => k.ww_w(|a, b| int::to_u16(int::u16(a) - int::u16(b), c)),
        Op::v_subrev_u16 => k.ww_w(|a, b| int::to_u16(int::u16(b) - int::u16(a), c)),
        Op::v_mul_lo_u16 => k.ww_w(|a, b| {
            let r = int::u16(a) * int::u16(b);
            if c { r.min_u(w(0xffff)) } else { int::u16(r) }
        }),
        Op::v_lshlrev_b16 => k.ww_w(|a, b| int::u16(b.shl(a & w(15)))),
        Op::v_lshrrev_b16 => k.ww_w(|a, b| int::u16(b).shr(a & w(15))),
        Op::v_ashrrev_i16 => k.ww_w(|a, b| int::u16(int::i16(b).sar(a & w(15)))),
        Op::v_max_u16 => k.ww_w(|a, b| int::u16(a).max_u(int::u16(b))),
        Op::v_min_u16 => k.ww_w(|a, b| int::u16(a).min_u(int::u16(b))),
        Op::v_max_i16 => k.ww_w(|a, b| int::u16(int::i16(a).max_i(int::i16(b)))),
        Op::v_min_i16 => k.ww_w(|a, b| int::u16(int::i16(a).min_i(int::i16(b)))),
        Op::v_dot2c_i32_i16 => k.www_w(|a, b, d| packed::dot2_i16(a, b, d, c)),
        Op::v_dot4c_i32_i8 => k.www_w(|a, b, d| packed::dot4_i8(a, b, d, c)),
        Op::v_dot8c_i32_i4 => k.www_w(|a, b, d| packed::dot8_i4(a, b, d, c)),
        Op::v_cvt_pk_u16_u32 | Op::v_cvt_pk_u16_u32_gfx6 => {
            k.ww_w(|a, b| packed::join(a.min_u(w(0xffff)), b.min_u(w(0xffff))))
        }
        Op::v_cvt_pk_i16_i32 | Op::v_cvt_pk_i16_i32_gfx6 => {
            k.ww_w(|a, b| packed::join(int::to_i16(a, true), int::to_i16(b, true)))
        }
        _ => return None,
    })
}

/// VOP2, float.
#[inline(always)]
pub fn vop2_float<K: Apply>(op: Op, k: K, x: &Context) -> Option<K::Out> {
    let m = x.mode;
    let ieee = m.ieee;
    let pick16 = HalfMode { float: x.min_max(m.f64), ..m.half() };
    Some(match op {
        Op::v_mul_legacy_f32 | Op::v_mul_legacy_f32_gfx6 => k.ww_w(|a, b| x.f32(s::mul_legacy(a, b, m.f32))),
        // DX9 rules: the second operand unless the comparison holds.
        Op::v_min_legacy_f32 => k.ww_w(|a, b| x.f32(K::W::select(a.flt(b), a, b))),
        Op::v_max_legacy_f32 => k.ww_w(|a, b| x.f32(K::W::select(b.flt(a) | a.feq(b), a, b))),
        Op::v_mac_legacy_f32 => k.www_w(|a, b, c| x.f32(s::mad_legacy(a, b, c, m.mad32()))),
        Op::v_dot2c_f32_f16 => k.www_w(|a, b, c| x.f32(packed::dot2_f32_f16(a, b, c, x.level))),
        Op::v_pk_fmac_f16 => k.www_w(|a, b, c| packed::fma_f16(a, b, c, m.half())),
        Op::v_ldexp_f32 | Op::v_ldexp_f32_gfx6 => k.ww_w(|a, b| x.f32(s::ldexp(a, b, m.f32))),
        Op::v_add_f16 => k.ww_w(|a, b| x.f16(h::add(a, b, m.half()))),
        Op::v_sub_f16 => k.ww_w(|a, b| x.f16(h::sub(a, b, m.half()))),
        Op::v_subrev_f16 => k.ww_w(|a, b| x.f16(h::subrev(a, b, m.half()))),
        Op::v_mul_f16 => k.ww_w(|a, b| x.f16(h::mul(a, b, m.half()))),
        Op::v_mac_f16 | Op::v_madmk_f16 | Op::v_madak_f16 => {
            k.www_w(|a, b, c| x.f16(h::mad(a, b, c, m.half())))
        }
        Op::v_max_f16 => k.ww_w(|a, b| x.f16(h::max(a, b, pick16, ieee))),
        Op::v_min_f16 => k.ww_w(|a, b| x.f16(h::min(a, b, pick16, ieee))),
        Op::v_ldexp_f16 => k.ww_w(|a, b| x.f16(h::ldexp(a, b, m.half()))),
        Op::v_cvt_pkrtz_f16_f32 | Op::v_cvt_pkrtz_f16_f32_gfx6 => {
            k.ww_w(|a, b| packed::join(x.f16(h::from_f32_rtz(a, &m)), x.f16(h::from_f32_rtz(b, &m))))
        }
        Op::v_cvt_pknorm_i16_f32 | Op::v_cvt_pknorm_i16_f32_gfx6 => {
            k.ww_w(|a, b| packed::join(cvt::snorm16(a, Round::Nearest), cvt::snorm16(b, Round::Nearest)))
        }
        Op::v_cvt_pknorm_u16_f32 | Op::v_cvt_pknorm_u16_f32_gfx6 => {
            k.ww_w(|a, b| packed::join(cvt::unorm16(a, Round::Nearest), cvt::unorm16(b, Round::Nearest)))
        }
        Op::v_cvt_pkaccum_u8_f32 | Op::v_cvt_pkaccum_u8_f32_gfx6 => {
            k.www_w(|a, b, c| cvt::pk_u8(a, b, c, m.f32))
        }
        _ => return None,
    })
}

/// VOP3 instructions without a shorter form, integer and bitwise.
#[inline(always)]
pub fn vop3_int<K: Apply>(op: Op, k: K, x: &Context) -> Option<K::Out> {
    let cl = x.clamp;
    Some(match op {
        Op::v_lerp_u8 => k.www_w(|a, b, c| misc::lerp_u8(a, b, c)),
        Op::v_sad_u8 => k.www_w(|a, b, c| misc::sad_u8(a, b, c, cl)),
        Op::v_sad_hi_u8 => k.www_w(|a, b, c| misc::sad_hi_u8(a, b, c, cl)),
        Op::v_sad_u16 => k.www_w(|a, b, c| misc::sad_u16(a, b, c, cl)),
        Op::v_sad_u32 => k.www_w(|a, b, c| misc::sad_u32(a, b, c, cl)),
        Op::v_msad_u8 => k.www_w(|a, b, c| misc::msad_u8(a, b, c, cl)),
        Op::v_qsad_pk_u16_u8 => k.lwl_l(|a, b, c| misc::qsad_pk(a, b, c, false, cl)),
        Op::v_mqsad_u32_u8 => k.lwq_q(|a, b, c| misc::mqsad_u32(a, b, c, cl)),
        Op::v_mqsad_pk_u16_u8 => k.lwl_l(|a, b, c| misc::qsad_pk(a, b, c, true, cl)),
        Op::v_mad_u16 | Op::v_mad_legacy_u16 => k.www_w(|a, b, c| int::mad_u16(a, b, c, cl)),
        Op::v_mad_i16 | Op::v_mad_legacy_i16 => k.www_w(|a, b, c| int::mad_i16(a, b, c, cl)),
        Op::v_perm_b32 => k.www_w(|a, b, c| misc::perm(a, b, c)),
        Op::v_mad_u32_u16 => k.www_w(|a, b, c| {
            let p = int::u16(a) * int::u16(b);
            int::add_u32(p, c, cl)
        }),
        Op::v_mad_i32_i16 => k.www_w(|a, b, c| int::add_i32(int::i16(a) * int::i16(b), c, cl)),
        Op::v_min3_i16 => k.www_w(|a, b, c| int::u16(int::i16(a).min_i(int::i16(b)).min_i(int::i16(c)))),
        Op::v_max3_i16 => k.www_w(|a, b, c| int::u16(int::i16(a).max_i(int::i16(b)).max_i(int::i16(c)))),
        Op::v_med3_i16 => k.www_w(|a, b, c| int::u16(int::med3_i(int::i16(a), int::i16(b), int::i16(c)))),
        Op::v_min3_u16 => k.www_w(|a, b, c| int::u16(a).min_u(int::u16(b)).min_u(int::u16(c))),
        Op::v_max3_u16 => k.www_w(|a, b, c| int::u16(a).max_u(int::u16(b)).max_u(int::u16(c))),
        Op::v_med3_u16 => k.www_w(|a, b, c| int::med3_u(int::u16(a), int::u16(b), int::u16(c))),
        Op::v_add_i16 => k.ww_w(|a, b| int::to_i16(int::i16(a) + int::i16(b), cl)),
        Op::v_sub_i16 => k.ww_w(|a, b| int::to_i16(int::i16(a) - int::i16(b), cl)),
        Op::v_pack_b32_f16 => k.ww_w(|a, b| {
            let hm = x.mode.half();
            packed::join(x.f16(h::canonical(a, hm)), x.f16(h::canonical(b, hm)))
        }),
        _ => return None,
    })
}

/// A cube map instruction on operands and to a result as the mode wants them.
#[inline(always)]
fn cube<W: Word>(a: W, b: W, c: W, m: FloatMode, f: impl Fn(W, W, W) -> W) -> W {
    s::output(f(s::input(a, m), s::input(b, m), s::input(c, m)), m)
}

/// VOP3 instructions without a shorter form, float.
#[inline(always)]
pub fn vop3_float<K: Apply>(op: Op, k: K, x: &Context) -> Option<K::Out> {
    let m = x.mode;
    let (ieee, hm) = (m.ieee, m.half());
    let pick32 = x.min_max(m.f32);
    Some(match op {
        Op::v_mad_legacy_f32 => k.www_w(|a, b, c| x.f32(s::mad_legacy(a, b, c, m.mad32()))),
        Op::v_cubeid_f32 => k.www_w(|a, b, c| x.f32(cube(a, b, c, m.f32, misc::cube_id))),
        Op::v_cubesc_f32 => k.www_w(|a, b, c| x.f32(cube(a, b, c, m.f32, misc::cube_sc))),
        Op::v_cubetc_f32 => k.www_w(|a, b, c| x.f32(cube(a, b, c, m.f32, misc::cube_tc))),
        Op::v_cubema_f32 => k.www_w(|a, b, c| {
            let major = cube(a, b, c, FloatMode { flush_out: false, ..m.f32 }, misc::cube_ma);
            x.f32(s::mul(w(0x4000_0000), major, m.f32))
        }),
        Op::v_min3_f32 => k.www_w(|a, b, c| x.f32(s::min3(a, b, c, pick32, ieee))),
        Op::v_max3_f32 => k.www_w(|a, b, c| x.f32(s::max3(a, b, c, pick32, ieee))),
        Op::v_med3_f32 => k.www_w(|a, b, c| x.f32(s::med3(a, b, c, pick32, ieee))),
        Op::v_cvt_pk_u8_f32 => k.www_w(|a, b, c| cvt::pk_u8(a, b, c, m.f32)),
        Op::v_div_fixup_f32 => k.www_w(|a, b, c| x.f32(div::fixup_f32(a, b, c, m.f32))),
        Op::v_div_fixup_f64 => k.lll_l(|a, b, c| x.f64(div::fixup_f64(a, b, c, m.f64))),
        Op::v_div_fixup_f16 | Op::v_div_fixup_legacy_f16 => {
            k.www_w(|a, b, c| x.f16(h::div_fixup(a, b, c, hm)))
        }
        Op::v_div_scale_f32 => k.www_wm(|a, b, c| {
            let (r, scaled) = div::scale_f32(a, b, c, m.f32);
            (x.f32(r), scaled)
        }),
        Op::v_div_scale_f64 => k.lll_lm(|a, b, c| {
            let (r, scaled) = div::scale_f64(a, b, c, m.f64);
            (x.f64(r), scaled)
        }),
        // Input denormals are not flushed (manual 12.11).
        Op::v_div_fmas_f32 => k.wwwm_w(|a, b, c, v| {
            let keep = FloatMode { flush_in: false, ..m.f32 };
            x.f32(div::fmas_f32(a, b, c, v, keep))
        }),
        Op::v_div_fmas_f64 => k.lllm_l(|a, b, c, v| {
            let keep = FloatMode { flush_in: false, ..m.f64 };
            x.f64(div::fmas_f64(a, b, c, v, keep))
        }),
        Op::v_ldexp_f64 => k.lw_l(|a, b| x.f64(d::ldexp(a, b, m.f64))),
        Op::v_trig_preop_f64 => k.lw_l(|a, b| x.f64(d::output(div::trig_preop(a, b), m.f64))),
        Op::v_mad_f16 | Op::v_mad_legacy_f16 => k.www_w(|a, b, c| x.f16(h::mad(a, b, c, hm))),
        Op::v_fma_f16 | Op::v_fma_legacy_f16 => k.www_w(|a, b, c| x.f16(h::fma(a, b, c, hm))),
        Op::v_min3_f16 => k.www_w(|a, b, c| x.f16(h::min3(a, b, c, hm, ieee))),
        Op::v_max3_f16 => k.www_w(|a, b, c| x.f16(h::max3(a, b, c, hm, ieee))),
        Op::v_med3_f16 => k.www_w(|a, b, c| x.f16(h::med3(a, b, c, hm, ieee))),
        Op::v_cvt_pknorm_i16_f16 => k.ww_w(|a, b| {
            let (a, b) = (h::input(a, hm).h2f(), h::input(b, hm).h2f());
            packed::join(cvt::snorm16(a, Round::Nearest), cvt::snorm16(b, Round::Nearest))
        }),
        Op::v_cvt_pknorm_u16_f16 => k.ww_w(|a, b| {
            let (a, b) = (h::input(a, hm).h2f(), h::input(b, hm).h2f());
            packed::join(cvt::unorm16(a, Round::Nearest), cvt::unorm16(b, Round::Nearest))
        }),
        Op::v_mullit_f32 => k.www_w(|a, b, c| {
            let (b, c) = (s::input(b, m.f32), s::input(c, m.f32));
            let fails = misc::mullit_fails(b, c);
            x.f32(K::W::select(fails, w(0xff7f_ffff), s::mul_legacy(a, b, m.f32)))
        }),
        _ => return None,
    })
}

/// VOP3P. Operands come with op_sel and neg applied; those of the mix instructions widened to f32.
#[inline(always)]
pub fn vop3p<K: Apply>(op: Op, k: K, x: &Context) -> Option<K::Out> {
    let m = x.mode;
    let (hm, cl, ieee) = (m.half(), x.clamp, m.ieee);
    Some(match op {
        Op::v_pk_mad_i16 => k.www_w(|a, b, c| pk!(a, b, c => int::mad_i16(a, b, c, cl))),
        Op::v_pk_mad_u16 => k.www_w(|a, b, c| pk!(a, b, c => int::mad_u16(a, b, c, cl))),
        Op::v_pk_mul_lo_u16 => k.ww_w(|a, b| pk!(a, b => int::mad_u16(a, b, w(0), cl))),
        Op::v_pk_add_i16 => k.ww_w(|a, b| pk!(a, b => int::to_i16(int::i16(a) + int::i16(b), cl))),
        Op::v_pk_sub_i16 => k.ww_w(|a, b| pk!(a, b => int::to_i16(int::i16(a) - int::i16(b), cl))),
        Op::v_pk_add_u16 => k.ww_w(|a, b| pk!(a, b => int::to_u16(a + b, cl))),
        Op::v_pk_sub_u16 => k.ww_w(|a, b| pk!(a, b => int::to_u16(a - b, cl))),
        Op::v_pk_lshlrev_b16 => k.ww_w(|a, b| pk!(a, b => b.shl(a & w(15)))),
        Op::v_pk_lshrrev_b16 => k.ww_w(|a, b| pk!(a, b => b.shr(a & w(15)))),
        Op::v_pk_ashrrev_i16 => k.ww_w(|a, b| pk!(a, b => int::i16(b).sar(a & w(15)))),
        Op::v_pk_max_i16 => k.ww_w(|a, b| pk!(a, b => int::i16(a).max_i(int::i16(b)))),
        Op::v_pk_min_i16 => k.ww_w(|a, b| pk!(a, b => int::i16(a).min_i(int::i16(b)))),
        Op::v_pk_max_u16 => k.ww_w(|a, b| pk!(a, b => a.max_u(b))),
        Op::v_pk_min_u16 => k.ww_w(|a, b| pk!(a, b => a.min_u(b))),
        Op::v_pk_fma_f16 => k.www_w(|a, b, c| x.pk16(packed::fma_f16(a, b, c, hm))),
        Op::v_pk_add_f16 => k.ww_w(|a, b| x.pk16(packed::add_f16(a, b, hm))),
        Op::v_pk_mul_f16 => k.ww_w(|a, b| x.pk16(packed::mul_f16(a, b, hm))),
        Op::v_pk_min_f16 => k.ww_w(|a, b| x.pk16(packed::min_f16(a, b, hm, ieee))),
        Op::v_pk_max_f16 => k.ww_w(|a, b| x.pk16(packed::max_f16(a, b, hm, ieee))),
        Op::v_fma_mix_f32 => k.www_w(|a, b, c| x.pk32(packed::mix(a, b, c, &m, true))),
        Op::v_mad_mix_f32 => k.www_w(|a, b, c| x.pk32(packed::mix(a, b, c, &m, false))),
        Op::v_fma_mixlo_f16 | Op::v_fma_mixhi_f16 => {
            k.www_w(|a, b, c| x.pk16(packed::mix_f16(a, b, c, &m, true)))
        }
        Op::v_mad_mixlo_f16 | Op::v_mad_mixhi_f16 => {
            k.www_w(|a, b, c| x.pk16(packed::mix_f16(a, b, c, &m, false)))
        }
        Op::v_dot2_f32_f16 => k.www_w(|a, b, c| x.pk32(packed::dot2_f32_f16(a, b, c, x.level))),
        Op::v_dot2_i32_i16 => k.www_w(|a, b, c| packed::dot2_i16(a, b, c, cl)),
        Op::v_dot4_i32_i8 => k.www_w(|a, b, c| packed::dot4_i8(a, b, c, cl)),
        Op::v_dot8_i32_i4 => k.www_w(|a, b, c| packed::dot8_i4(a, b, c, cl)),
        Op::v_dot2_u32_u16 => k.www_w(|a, b, c| packed::dot2_u16(a, b, c, cl)),
        Op::v_dot4_u32_u8 => k.www_w(|a, b, c| packed::dot4_u8(a, b, c, cl)),
        Op::v_dot8_u32_u4 => k.www_w(|a, b, c| packed::dot8_u4(a, b, c, cl)),
        _ => return None,
    })
}
