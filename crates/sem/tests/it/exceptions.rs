//! Float exception flags against rustc_apfloat's, and the manual's own rules.

use crate::float;
use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round as R, Status, StatusAnd};
use wavemill_isa::{Level, Op};
use wavemill_sem::Mode;
use wavemill_sem::compare::{Compare, Type};
use wavemill_sem::excp::{Rule, compare_flags};
use wavemill_sem::fp::Predicate;
use wavemill_sem::hwreg::trapsts::*;
use wavemill_sem::soft::{F16, F32, F64, Format};
use wavemill_testing::Random;

/// MODE with one round mode for all widths; denormals kept, or flushed.
fn mode(round: u32, denormals: bool) -> Mode {
    Mode::new(round | round << 2 | if denormals { 0xf0 } else { 0 }, Level::Gfx90a)
}

fn status(s: Status) -> u32 {
    let flag = |status: Status, bit: u32| if s.contains(status) { bit } else { 0 };
    flag(Status::INVALID_OP, INVALID)
        | flag(Status::DIV_BY_ZERO, DIVIDE_BY_ZERO)
        | flag(Status::OVERFLOW, OVERFLOW)
        | flag(Status::UNDERFLOW, UNDERFLOW)
        | flag(Status::INEXACT, INEXACT)
}

/// The flags in which apfloat follows IEEE 754 for a result. At the least normal number, it looks at the denormals'
/// precision for tininess; at the largest, rounding toward it hides the overflow.
fn comparable(f: Format, result: u64) -> u32 {
    match result & !f.sign() {
        r if r == 1 << f.fraction => !UNDERFLOW,
        r if r == f.max() => !OVERFLOW,
        _ => !0,
    }
}

const ROUNDS: [R; 4] = [R::NearestTiesToEven, R::TowardPositive, R::TowardNegative, R::TowardZero];

fn arithmetic<F: Float>(f: Format, ops: [Op; 3]) {
    let mut random = Random(f.fraction as u64 + 77);
    for _ in 0..40_000 {
        let s: [u64; 3] = std::array::from_fn(|_| float(&mut random, f));
        let [x, y, z] = s.map(|v| F::from_bits(v as u128));
        let used = [2, 2, 3];
        for (i, round) in ROUNDS.into_iter().enumerate() {
            let m = mode(i as u32, true);
            let want = [x.add_r(y, round), x.mul_r(y, round), x.mul_add_r(y, z, round)];
            for ((op, StatusAnd { status: w, value }), used) in ops.into_iter().zip(want).zip(used) {
                let got = Rule::of(op).unwrap().flags(s, &m, false);
                let operands = &s[..used];
                let denormal = operands.iter().any(|&x| f.is_denormal(x));
                let mut w = status(w);
                // apfloat calls only operations invalid, not signalling operands.
                if operands.iter().any(|&x| f.is_snan(x)) {
                    w |= INVALID;
                }
                let nan = operands.iter().any(|&x| f.is_nan(x));
                if nan && !operands.iter().any(|&x| f.is_snan(x)) {
                    w &= !INVALID; // 0 · ∞ + qNaN: IEEE leaves it open
                    assert_eq!(got & !INPUT_DENORMAL, w, "{op:?} {s:x?} {round:?}");
                    continue;
                }
                let mask = comparable(f, value.to_bits() as u64);
                let w = w | if denormal { INPUT_DENORMAL } else { 0 };
                assert_eq!(got & mask, w & mask, "{op:?} {s:x?} {round:?}");
            }
        }
    }
}

#[test]
fn arithmetic_is_ieee() {
    arithmetic::<Half>(F16, [Op::v_add_f16, Op::v_mul_f16, Op::v_fma_f16]);
    arithmetic::<Single>(F32, [Op::v_add_f32, Op::v_mul_f32, Op::v_fma_f32]);
    arithmetic::<Double>(F64, [Op::v_add_f64, Op::v_mul_f64, Op::v_fma_f64]);
}

fn conversion<A: FloatConvert<B>, B: Float>(from: Format, to: Format, op: Op) {
    let mut random = Random(from.fraction as u64 * 3 + 1);
    for _ in 0..40_000 {
        let a = float(&mut random, from);
        for (i, round) in ROUNDS.into_iter().enumerate() {
            let mut lost = false;
            let want = A::from_bits(a as u128).convert_r(round, &mut lost);
            let value: B = want.value;
            let mut w = status(want.status) & !INVALID;
            w |= if from.is_snan(a) { INVALID } else { 0 };
            w |= if from.is_denormal(a) { INPUT_DENORMAL } else { 0 };
            if from.is_nan(a) {
                w &= INVALID;
            }
            let mask = comparable(to, value.to_bits() as u64);
            let got = Rule::of(op).unwrap().flags([a, 0, 0], &mode(i as u32, true), false);
            assert_eq!(got & mask, w & mask, "{op:?} {a:#x} {round:?}");
        }
    }
}

#[test]
fn conversions_are_ieee() {
    conversion::<Single, Half>(F32, F16, Op::v_cvt_f16_f32);
    conversion::<Half, Single>(F16, F32, Op::v_cvt_f32_f16);
    conversion::<Double, Single>(F64, F32, Op::v_cvt_f32_f64);
    conversion::<Single, Double>(F32, F64, Op::v_cvt_f64_f32);
}

#[test]
fn integers() {
    let mut random = Random(5);
    for _ in 0..100_000 {
        let a = float(&mut random, F32);
        for (op, signed) in [(Op::v_cvt_i32_f32, true), (Op::v_cvt_u32_f32, false)] {
            let mut exact = false;
            let x = Single::from_bits(a as u128);
            let s = if signed {
                x.to_i128_r(32, R::TowardZero, &mut exact).status
            } else {
                x.to_u128_r(32, R::TowardZero, &mut exact).status
            };
            let want = status(s) | if F32.is_denormal(a) { INPUT_DENORMAL } else { 0 };
            let flags = |clamp| Rule::of(op).unwrap().flags([a, 0, 0], &mode(0, true), clamp);
            assert_eq!(flags(true), want, "{op:?} {a:#x}");
            assert_eq!(flags(false), want & !INEXACT, "{op:?} {a:#x} without CLAMP");
        }
        let n = random.next() as u32 >> (random.next() % 32);
        for (op, value) in [
            (Op::v_cvt_f32_i32, Single::from_i128(n as i32 as i128)),
            (Op::v_cvt_f32_u32, Single::from_u128(n as u128)),
        ] {
            let got = Rule::of(op).unwrap().flags([n as u64, 0, 0], &mode(0, true), false);
            assert_eq!(got, status(value.status), "{op:?} {n}");
        }
    }
}

fn f32_flags(op: Op, s: [f32; 3], denormals: bool) -> u32 {
    Rule::of(op).unwrap().flags(s.map(|x| x.to_bits() as u64), &mode(0, denormals), false)
}

#[test]
fn division_and_roots() {
    let inf = f32::INFINITY;
    assert_eq!(f32_flags(Op::v_rcp_f32, [0.0, 0.0, 0.0], true), DIVIDE_BY_ZERO);
    assert_eq!(f32_flags(Op::v_rcp_f32, [4.0, 0.0, 0.0], true), 0);
    assert_eq!(f32_flags(Op::v_rcp_f32, [3.0, 0.0, 0.0], true), INEXACT);
    assert_eq!(f32_flags(Op::v_rcp_f32, [inf, 0.0, 0.0], true), 0);
    // V_RCP_IFLAG: integer division by zero and nothing else (manual 12.8).
    assert_eq!(f32_flags(Op::v_rcp_iflag_f32, [0.0, 0.0, 0.0], true), INT_DIVIDE_BY_ZERO);
    assert_eq!(f32_flags(Op::v_rcp_iflag_f32, [3.0, 0.0, 0.0], true), 0);
    assert_eq!(f32_flags(Op::v_rsq_f32, [0.0, 0.0, 0.0], true), DIVIDE_BY_ZERO);
    assert_eq!(f32_flags(Op::v_rsq_f32, [-1.0, 0.0, 0.0], true), INVALID);
    assert_eq!(f32_flags(Op::v_rsq_f32, [0.25, 0.0, 0.0], true), 0);
    assert_eq!(f32_flags(Op::v_rsq_f32, [2.0, 0.0, 0.0], true), INEXACT);
    assert_eq!(f32_flags(Op::v_sqrt_f32, [9.0, 0.0, 0.0], true), 0);
    assert_eq!(f32_flags(Op::v_sqrt_f32, [2.0, 0.0, 0.0], true), INEXACT);
    assert_eq!(f32_flags(Op::v_sqrt_f32, [-0.0, 0.0, 0.0], true), 0);
    assert_eq!(f32_flags(Op::v_sqrt_f32, [-inf, 0.0, 0.0], true), INVALID);
    assert_eq!(f32_flags(Op::v_log_f32, [0.0, 0.0, 0.0], true), DIVIDE_BY_ZERO);
    assert_eq!(f32_flags(Op::v_log_f32, [-2.0, 0.0, 0.0], true), INVALID);
    assert_eq!(f32_flags(Op::v_exp_f32, [3.0, 0.0, 0.0], true), 0);
    assert_eq!(f32_flags(Op::v_sin_f32, [inf, 0.0, 0.0], true), INVALID);
    // V_DIV_FIXUP: quotient, denominator, numerator.
    assert_eq!(f32_flags(Op::v_div_fixup_f32, [0.0, 0.0, 1.0], true), DIVIDE_BY_ZERO);
    assert_eq!(f32_flags(Op::v_div_fixup_f32, [0.0, 0.0, 0.0], true), INVALID);
    assert_eq!(f32_flags(Op::v_div_fixup_f32, [0.0, inf, inf], true), INVALID);
    assert_eq!(f32_flags(Op::v_div_fixup_f32, [0.0, 0.0, inf], true), 0);
    assert_eq!(f32_flags(Op::v_div_fixup_f32, [0.5, 2.0, 1e-40], true), INPUT_DENORMAL);
}

#[test]
fn flushing() {
    // A flushed operand is a zero; a flushed result has underflowed.
    assert_eq!(f32_flags(Op::v_add_f32, [1e-40, 1.0, 0.0], false), 0);
    assert_eq!(f32_flags(Op::v_add_f32, [1e-40, 0.0, 0.0], true), INPUT_DENORMAL);
    assert_eq!(f32_flags(Op::v_mul_f32, [1e-20, 1e-20, 0.0], false), UNDERFLOW | INEXACT);
    assert_eq!(f32_flags(Op::v_rcp_f32, [1e-40, 0.0, 0.0], false), DIVIDE_BY_ZERO);
    // The least normal number halved: exact as a denormal, lost when flushed.
    let least = f32::MIN_POSITIVE;
    assert_eq!(f32_flags(Op::v_mul_f32, [least, 0.5, 0.0], true), 0);
    assert_eq!(f32_flags(Op::v_mul_f32, [least, 0.5, 0.0], false), UNDERFLOW | INEXACT);
    assert_eq!(f32_flags(Op::v_mul_legacy_f32, [0.0, f32::INFINITY, 0.0], true), 0);
    assert_eq!(f32_flags(Op::v_mul_f32, [0.0, f32::INFINITY, 0.0], true), INVALID);
}

#[test]
fn comparisons_signal_when_asked() {
    let c = Compare { ty: Type::F32, predicate: Predicate(1), exec: false };
    let (nan, one) = (0x7fc0_0000, 0x3f80_0000);
    // Manual 12.9: with CLAMP a NaN signals, without it does not.
    assert_eq!(compare_flags(c, [nan, one], &mode(0, true), true), INVALID);
    assert_eq!(compare_flags(c, [nan, one], &mode(0, true), false), 0);
    assert_eq!(compare_flags(c, [one, one], &mode(0, true), true), 0);
    assert_eq!(compare_flags(c, [1, one], &mode(0, true), false), INPUT_DENORMAL);
}

#[test]
fn mixed_precision() {
    // 60000 + 60000 is exact in f32 and beyond f16; 2⁻¹⁰ of 1 is exact in both, 2⁻²⁰ is not.
    assert_eq!(f32_flags(Op::v_fma_mixlo_f16, [60000.0, 1.0, 60000.0], true), OVERFLOW | INEXACT);
    assert_eq!(f32_flags(Op::v_fma_mix_f32, [60000.0, 1.0, 60000.0], true), 0);
    assert_eq!(f32_flags(Op::v_fma_mixhi_f16, [1.0, 1.0, 1.0 / 1024.0], true), 0);
    assert_eq!(f32_flags(Op::v_mad_mixlo_f16, [1.0, 1.0, 1.0 / 1048576.0], true), INEXACT);
    assert_eq!(f32_flags(Op::v_fma_mixlo_f16, [0.0, f32::INFINITY, 1.0], true), INVALID);
    assert_eq!(f32_flags(Op::v_cvt_pkrtz_f16_f32, [1.0, 2.0, 0.0], true), 0);
    assert_eq!(f32_flags(Op::v_cvt_pkrtz_f16_f32, [1.0, 1.0 / 3.0, 0.0], true), INEXACT);
}

/// What is above a format in the registers is no part of the operand: the other half of a dword, the rest of a 64-bit
/// constant.
#[test]
fn bits_above_the_format_do_not_count() {
    let m = mode(0, true);
    for (op, one) in [
        (Op::v_floor_f16, 0x3c00),
        (Op::v_max_f16, 0x3c00),
        (Op::v_frexp_mant_f16, 0x3c00),
        (Op::v_ldexp_f16, 0x3c00),
        (Op::v_cos_f16, 0x3c00),
        (Op::v_cvt_f32_f16, 0x3c00),
        (Op::v_mad_f16, 0x3c00),
        (Op::v_trunc_f32, 0x3f80_0000),
        (Op::v_cvt_f16_f32, 0x3f80_0000),
    ] {
        let flags = |s: [u64; 3]| Rule::of(op).unwrap().flags(s, &m, false);
        let above = 0x7ff7_ffff_7fff_ffff & !(if one == 0x3c00 { 0xffff } else { 0xffff_ffff });
        assert_eq!(flags([one | above, 0, 0]), flags([one, 0, 0]), "{op:?}");
    }
    // The infinity of a half is seen below other bits, too.
    let infinity = [0x1234_7c00, 0, 0];
    assert_eq!(Rule::of(Op::v_sin_f16).unwrap().flags(infinity, &m, false), INVALID);
}

/// Manual 12: V_EXP_F32 and its kind flush denormals whatever MODE says, V_SIN_F32 does not.
#[test]
fn approximations_flush() {
    let m = mode(0, true);
    let flags = |op, bits| Rule::of(op).unwrap().flags([bits, 0, 0], &m, false);
    assert_eq!(flags(Op::v_exp_f32, 1), 0);
    assert_eq!(flags(Op::v_sqrt_f32, 0x8000_0001), 0);
    assert_eq!(flags(Op::v_rcp_f32, 1), DIVIDE_BY_ZERO);
    assert_eq!(flags(Op::v_log_f32, 1), DIVIDE_BY_ZERO);
    assert_eq!(flags(Op::v_sin_f32, 1), INPUT_DENORMAL | INEXACT);
    // f16: as MODE says.
    assert_eq!(flags(Op::v_sqrt_f16, 0x8001), INVALID | INPUT_DENORMAL);
}
