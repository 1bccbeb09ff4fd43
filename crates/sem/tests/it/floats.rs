//! Arithmetic on bits against rustc_apfloat and the host.

use crate::float;
use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, Round as R};
use wavemill_isa::Level;
use wavemill_sem::packed::dot2_f32_f16;
use wavemill_sem::scalar::S32;
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

/// Sums of two products with all denormals flushed, also where products and addends nearly cancel.
#[test]
fn dot_products_flush_denormals() {
    let flushed = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
    let widened = |h: u32| {
        let h = if h & 0x7c00 == 0 { h & 0x8000 } else { h };
        f32::from_bits(soft::h2f(h))
    };
    let mut random = Random(17);
    for _ in 0..200_000 {
        let [a, b, c, d] = std::array::from_fn(|_| float(&mut random, F16) as u32);
        let upper = widened(a) * widened(b);
        let near = |random: &mut Random| (random.next() % 3) as u32;
        let addend = match random.next() % 4 {
            0 => upper.to_bits() ^ 1 << 31,
            1 => (upper.to_bits() ^ 1 << 31).wrapping_add(near(&mut random)),
            2 => float(&mut random, F32) as u32 & 0x807f_ffff,
            _ => float(&mut random, F32) as u32,
        };
        let step = |x: f32, y: f32, z: f32| flushed(x.mul_add(y, z));
        let want = step(widened(a), widened(b), flushed(f32::from_bits(addend)));
        let want = step(widened(c), widened(d), want);
        let got = dot2_f32_f16(S32(c | a << 16), S32(d | b << 16), S32(addend), Level::Gfx90a).0;
        let same = if want.is_nan() { f32::from_bits(got).is_nan() } else { got == want.to_bits() };
        assert!(same, "{a:#x} · {b:#x} + {c:#x} · {d:#x} + {addend:#x}: {got:#x}, not {want}");
    }
}
