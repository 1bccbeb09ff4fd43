//! Tests of crate `sem`.

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, Round as R};
use wavemill_isa::ROWS;
use wavemill_sem::fidelity::{Fidelity, fidelity};
use wavemill_sem::soft::{self, F16, F32, F64, Format, Round};

const ROUNDS: [(Round, R); 4] = [
    (Round::Nearest, R::NearestTiesToEven),
    (Round::Up, R::TowardPositive),
    (Round::Down, R::TowardNegative),
    (Round::Zero, R::TowardZero),
];

struct Random(u64);
impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// Any bits, often with an extreme or a middling exponent.
    fn float(&mut self, f: Format) -> u64 {
        let bits = self.next() & (f.sign() | (f.sign() - 1));
        match self.next() % 6 {
            0 => bits & !f.infinity(),
            1 => bits | f.infinity(),
            2 | 3 => bits & !f.infinity() | ((f.infinity() / 2) & f.infinity()) ^ ((bits % 4) << f.fraction),
            _ => bits,
        }
    }
}

fn compare<F: Float>(format: Format) {
    let mut random = Random(format.fraction as u64 + 1);
    for _ in 0..20_000 {
        let [a, b, c] = std::array::from_fn(|_| random.float(format));
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
        let [a, b, c] = std::array::from_fn(|_| random.float(F32) as u32);
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

/// Every instruction of every level has a meaning.
#[test]
fn nothing_is_missing() {
    let missing: Vec<&str> =
        ROWS.iter().filter(|r| fidelity(r) == Fidelity::Unsupported).map(|r| r.name).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
