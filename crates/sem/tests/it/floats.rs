//! Arithmetic on bits against rustc_apfloat and the host.

use crate::float;
use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, Round as R};
use wavemill_sem::soft::{self, F16, F32, F64, Format, Round};
use wavemill_testing::Random;

const ROUNDS: [(Round, R); 4] = [
    (Round::Nearest, R::NearestTiesToEven),
    (Round::Up, R::TowardPositive),
    (Round::Down, R::TowardNegative),
    (Round::Zero, R::TowardZero),
];

fn compare<F: Float>(format: Format) {
    let mut random = Random(format.fraction as u64 + 1);
    for _ in 0..20_000 {
        let [a, b, c] = std::array::from_fn(|_| float(&mut random, format));
        let [x, y, z] = [a, b, c].map(|v| F::from_bits(v as u128));
        for (ours, theirs) in ROUNDS {
            let check = |what: &str, got: u64, want: F| {
                if want.is_nan() {
                    assert!(format.is_nan(got), "{what} {a:#x} {b:#x} {c:#x} {ours:?}: {got:#x}");
                } else {
                    assert_eq!(got as u128, want.to_bits(), "{what} {a:#x} {b:#x} {c:#x} {ours:?}");
                }
            };
            check("+", soft::add(format, a, b, ours), x.add_r(y, theirs).value);
            check("*", soft::mul(format, a, b, ours), x.mul_r(y, theirs).value);
            check("fma", soft::fma(format, a, b, c, ours), x.mul_add_r(y, z, theirs).value);
            let n = (b % 300) as i32 - 150;
            check("ldexp", soft::ldexp(format, a, n, ours), x.scalbn_r(n, theirs));
        }
    }
}

#[test]
fn soft_floats_are_ieee() {
    compare::<Half>(F16);
    compare::<Single>(F32);
    compare::<Double>(F64);
}

#[test]
fn narrow_fused_steps_are_ieee() {
    let mut random = Random(3);
    for _ in 0..200_000 {
        let [a, b, c] = std::array::from_fn(|_| float(&mut random, F32) as u32);
        let want = f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c));
        let got = f32::from_bits(soft::fma32_nearest(a, b, c));
        assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{a:#x} {b:#x} {c:#x}");
    }
}

/// Every f16 there and back.
#[test]
fn halves_convert_both_ways() {
    for h in 0..0x1_0000u32 {
        let f = soft::h2f(h);
        let back = soft::f2h_nearest(f);
        if F16.is_nan(h as u64) {
            assert_eq!(back, h | 0x200);
        } else {
            assert_eq!(back, h);
        }
    }
}
