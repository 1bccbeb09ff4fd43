//! Float instructions against rustc_apfloat, in every round and denormal mode.

use crate::harness::{Random, lanes, triples};
use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use wavemill_wave::Simd;

/// What the tests need to know of a format.
trait Format: Float {
    const FRACTION: u32;
    const EXPONENT: u32;
    fn sign() -> u64 {
        1 << (Self::FRACTION + Self::EXPONENT)
    }
    fn inf() -> u64 {
        ((1 << Self::EXPONENT) - 1) << Self::FRACTION
    }
    fn quiet() -> u64 {
        1 << (Self::FRACTION - 1)
    }
    fn nan(bits: u64) -> bool {
        bits & !Self::sign() > Self::inf()
    }
    fn flush(bits: u64) -> u64 {
        if bits & Self::inf() == 0 { bits & Self::sign() } else { bits }
    }
    /// The NaN rule of the manual's examples: the first NaN operand, quieted, else the negative default one.
    fn result(r: Self, operands: &[u64]) -> u64 {
        if r.is_nan() {
            let first = operands.iter().find(|&&x| Self::nan(x));
            return first.map_or(Self::sign() | Self::inf() | Self::quiet(), |x| x | Self::quiet());
        }
        r.to_bits() as u64
    }
    fn from(bits: u64) -> Self {
        Self::from_bits(bits as u128)
    }
}
impl Format for Half {
    const FRACTION: u32 = 10;
    const EXPONENT: u32 = 5;
}
impl Format for Single {
    const FRACTION: u32 = 23;
    const EXPONENT: u32 = 8;
}
impl Format for Double {
    const FRACTION: u32 = 52;
    const EXPONENT: u32 = 11;
}

const ROUNDS: [Round; 4] =
    [Round::NearestTiesToEven, Round::TowardPositive, Round::TowardNegative, Round::TowardZero];

/// A float that is often special: zeros, denormals, infinities, NaNs, or near another one.
fn special<F: Format>(random: &mut Random) -> u64 {
    let r = random.next();
    let bits = 1 + F::FRACTION + F::EXPONENT;
    let mask = if bits == 64 { !0 } else { (1u64 << bits) - 1 };
    let any = random.next() & mask;
    let bias = (1u64 << (F::EXPONENT - 1)) - 1;
    let near_one = any & (F::sign() | ((1 << F::FRACTION) - 1)) | (bias - 2 + r / 16 % 5) << F::FRACTION;
    match r % 16 {
        0 => any & F::sign(),
        1 => F::inf() | any & F::sign(),
        2 => F::inf() | any,
        3 | 4 => any & (F::sign() | ((1 << F::FRACTION) - 1)),
        5 => (F::inf() - 1) & !(any & 7) | any & F::sign(),
        6 => 1 << F::FRACTION | any & F::sign(),
        7..=12 => near_one,
        _ => any,
    }
}

type Oracle<F> = fn([F; 3], Round) -> F;

/// Compares one instruction with its oracle in all modes. `shift` is the MODE field of the format's rounding.
fn check<F: Format>(text: &str, used: usize, round_at: u32, denorm_at: u32, oracle: Oracle<F>) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ text.len() as u64);
    let result_mask = if F::FRACTION == 52 { !0 } else { 0xffff_ffff };
    for mode in 0..16u32 {
        let (round, denorm) = (mode & 3, mode >> 2);
        let bits = 0x300 | round << round_at | denorm << denorm_at;
        for _ in 0..3 {
            let operands = triples(|| special::<F>(&mut random));
            let flush_in = denorm & 1 == 0;
            let flush_out = denorm & 2 == 0;
            let expect: Vec<u64> = operands
                .iter()
                .map(|o| {
                    let o = o.map(|x| if flush_in { F::flush(x) } else { x });
                    let r = oracle(o.map(<F as Format>::from), ROUNDS[round as usize]);
                    let r = F::result(r, &o[..used]);
                    if flush_out { F::flush(r) } else { r }
                })
                .collect();
            for simd in Simd::available() {
                let (r, _) = lanes("gfx90a", simd, text, bits, &operands);
                for lane in 0..64 {
                    assert_eq!(
                        r[lane] & result_mask,
                        expect[lane],
                        "{text} on {} in mode {bits:#x}: {:#x?} gave {:#x}, not {:#x}",
                        simd.name(),
                        operands[lane],
                        r[lane] & result_mask,
                        expect[lane]
                    );
                }
            }
        }
    }
}

#[test]
fn arithmetic_f32() {
    check::<Single>("v_add_f32 v6, v0, v2", 2, 0, 4, |[a, b, _], r| a.add_r(b, r).value);
    check::<Single>("v_mul_f32 v6, v0, v2", 2, 0, 4, |[a, b, _], r| a.mul_r(b, r).value);
    check::<Single>("v_fma_f32 v6, v0, v2, v4", 3, 0, 4, |[a, b, c], r| a.mul_add_r(b, c, r).value);
}

#[test]
fn arithmetic_f64() {
    check::<Double>("v_add_f64 v[6:7], v[0:1], v[2:3]", 2, 2, 6, |[a, b, _], r| a.add_r(b, r).value);
    check::<Double>("v_mul_f64 v[6:7], v[0:1], v[2:3]", 2, 2, 6, |[a, b, _], r| a.mul_r(b, r).value);
    check::<Double>("v_fma_f64 v[6:7], v[0:1], v[2:3], v[4:5]", 3, 2, 6, |[a, b, c], r| {
        a.mul_add_r(b, c, r).value
    });
}

#[test]
fn arithmetic_f16() {
    check::<Half>("v_add_f16 v6, v0, v2", 2, 2, 6, |[a, b, _], r| a.add_r(b, r).value);
    check::<Half>("v_mul_f16 v6, v0, v2", 2, 2, 6, |[a, b, _], r| a.mul_r(b, r).value);
    check::<Half>("v_fma_f16 v6, v0, v2, v4", 3, 2, 6, |[a, b, c], r| a.mul_add_r(b, c, r).value);
}

#[test]
fn conversions_round_by_their_mode() {
    let mut random = Random(4242);
    for mode in 0..16u32 {
        let (r32, r64) = (mode & 3, mode >> 2);
        let bits = 0x3f0 | r32 | r64 << 2;
        let operands = triples(|| {
            if random.next().is_multiple_of(2) {
                special::<Double>(&mut random)
            } else {
                special::<Single>(&mut random)
            }
        });
        for simd in Simd::available() {
            let run = |text| lanes("gfx90a", simd, text, bits, &operands).0;
            let (h, s, i, u) = (
                run("v_cvt_f16_f32 v6, v0"),
                run("v_cvt_f32_f64 v6, v[0:1]"),
                run("v_cvt_f32_i32 v6, v0"),
                run("v_cvt_f32_u32 v6, v0"),
            );
            for (lane, [a, ..]) in operands.iter().enumerate() {
                let mut lossy = false;
                let single = <Single as Format>::from(*a & 0xffff_ffff);
                if !single.is_nan() {
                    let half: Half = single.convert_r(ROUNDS[r64 as usize], &mut lossy).value;
                    assert_eq!(h[lane] & 0xffff_ffff, half.to_bits() as u64, "f16 of {a:#x} in {bits:#x}");
                }
                let double = <Double as Format>::from(*a);
                if !double.is_nan() {
                    let single: Single = double.convert_r(ROUNDS[r32 as usize], &mut lossy).value;
                    assert_eq!(s[lane] & 0xffff_ffff, single.to_bits() as u64, "f32 of {a:#x} in {bits:#x}");
                }
                let int = Single::from_i128_r(*a as u32 as i32 as i128, ROUNDS[r32 as usize]).value;
                assert_eq!(i[lane] & 0xffff_ffff, int.to_bits() as u64, "f32 of i32 {a:#x}");
                let uint = Single::from_u128_r(*a as u32 as u128, ROUNDS[r32 as usize]).value;
                assert_eq!(u[lane] & 0xffff_ffff, uint.to_bits() as u64, "f32 of u32 {a:#x}");
            }
        }
    }
}

/// The compilers' division: V_DIV_SCALE twice, V_RCP, Newton steps, V_DIV_FMAS, V_DIV_FIXUP gives IEEE quotients.
const DIVIDE: &str = "
    v_div_scale_f32 v10, s[2:3], v2, v2, v0
    v_div_scale_f32 v12, vcc, v0, v2, v0
    v_rcp_f32 v11, v10
    v_fma_f32 v13, -v10, v11, 1.0
    v_fma_f32 v11, v13, v11, v11
    v_mul_f32 v14, v12, v11
    v_fma_f32 v15, -v10, v14, v12
    v_fma_f32 v14, v15, v11, v14
    v_fma_f32 v10, -v10, v14, v12
    v_div_fmas_f32 v10, v10, v11, v14
    v_div_fixup_f32 v6, v10, v2, v0";

#[test]
fn division_is_ieee() {
    let mut random = Random(99);
    for _ in 0..60 {
        let operands = triples(|| special::<Single>(&mut random));
        for simd in Simd::available() {
            let (r, _) = lanes("gfx90a", simd, DIVIDE, 0x3f0, &operands);
            for (lane, [a, b, _]) in operands.iter().enumerate() {
                let (x, y) = (<Single as Format>::from(*a), <Single as Format>::from(*b));
                let q = (x / y).value;
                if q.is_nan() {
                    assert!(Single::nan(r[lane] & 0xffff_ffff));
                } else {
                    assert_eq!(
                        r[lane] & 0xffff_ffff,
                        q.to_bits() as u64,
                        "{a:#x} / {b:#x} on {}",
                        simd.name()
                    );
                }
            }
        }
    }
}

const DIVIDE64: &str = "
    v_div_scale_f64 v[10:11], s[2:3], v[2:3], v[2:3], v[0:1]
    v_rcp_f64 v[12:13], v[10:11]
    v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0
    v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]
    v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0
    v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]
    v_div_scale_f64 v[16:17], vcc, v[0:1], v[2:3], v[0:1]
    v_mul_f64 v[14:15], v[16:17], v[12:13]
    v_fma_f64 v[10:11], -v[10:11], v[14:15], v[16:17]
    v_div_fmas_f64 v[10:11], v[10:11], v[12:13], v[14:15]
    v_div_fixup_f64 v[6:7], v[10:11], v[2:3], v[0:1]";

#[test]
fn division_f64_is_ieee() {
    let mut random = Random(98);
    for _ in 0..60 {
        let operands = triples(|| special::<Double>(&mut random));
        for simd in Simd::available() {
            let (r, _) = lanes("gfx90a", simd, DIVIDE64, 0x3f0, &operands);
            for (lane, [a, b, _]) in operands.iter().enumerate() {
                let q = f64::from_bits(*a) / f64::from_bits(*b);
                if q.is_nan() {
                    assert!(f64::from_bits(r[lane]).is_nan());
                } else {
                    assert_eq!(r[lane], q.to_bits(), "{a:#x} / {b:#x} on {}", simd.name());
                }
            }
        }
    }
}

/// Comparison outcomes, with the denormal mode.
#[test]
fn compares() {
    type Pred = fn(Option<std::cmp::Ordering>) -> bool;
    use std::cmp::Ordering::*;
    let preds: [(&str, Pred); 8] = [
        ("lt", |o| o == Some(Less)),
        ("eq", |o| o == Some(Equal)),
        ("ge", |o| matches!(o, Some(Equal | Greater))),
        ("lg", |o| matches!(o, Some(Less | Greater))),
        ("u", |o| o.is_none()),
        ("o", |o| o.is_some()),
        ("nlt", |o| o != Some(Less)),
        ("neq", |o| o != Some(Equal)),
    ];
    let mut random = Random(5);
    for flush in [false, true] {
        let mode = if flush { 0x300 } else { 0x3f0 };
        for (name, pred) in preds {
            let operands = triples(|| special::<Single>(&mut random));
            let wide = triples(|| special::<Double>(&mut random));
            let half = triples(|| special::<Half>(&mut random));
            for simd in Simd::available() {
                let run = |ty: &str, o| {
                    let (a, b) = if ty == "f64" { ("v[0:1]", "v[2:3]") } else { ("v0", "v2") };
                    lanes("gfx90a", simd, &format!("v_cmp_{name}_{ty} vcc, {a}, {b}"), mode, o).1
                };
                let (s, d, h) = (run("f32", &operands), run("f64", &wide), run("f16", &half));
                for lane in 0..64 {
                    fn compare<F: Format>(a: u64, b: u64, flush: bool) -> Option<std::cmp::Ordering> {
                        let f = |x| <F as Format>::from(if flush { F::flush(x) } else { x });
                        f(a).partial_cmp(&f(b))
                    }
                    let bit = |m: u64| m >> lane & 1 != 0;
                    let [a, b, _] = operands[lane];
                    assert_eq!(bit(s), pred(compare::<Single>(a, b, flush)), "f32 {name} {a:#x} {b:#x}");
                    let [a, b, _] = wide[lane];
                    assert_eq!(bit(d), pred(compare::<Double>(a, b, flush)), "f64 {name} {a:#x} {b:#x}");
                    let [a, b, _] = half[lane];
                    assert_eq!(bit(h), pred(compare::<Half>(a, b, flush)), "f16 {name} {a:#x} {b:#x}");
                }
            }
        }
    }
}

/// The bounded functions are within one unit in the last place, and the same on every back end.
#[test]
fn approximations_are_within_their_bound() {
    type F = fn(f64) -> f64;
    let cases: &[(&str, F)] = &[
        ("v_rcp_f32", |x| 1.0 / x),
        ("v_rsq_f32", |x| 1.0 / x.sqrt()),
        ("v_sqrt_f32", f64::sqrt),
        ("v_exp_f32", f64::exp2),
        ("v_log_f32", f64::log2),
        ("v_sin_f32", |x| (x * std::f64::consts::TAU).sin()),
        ("v_cos_f32", |x| (x * std::f64::consts::TAU).cos()),
    ];
    let mut random = Random(31);
    for &(name, f) in cases {
        let trig = name.contains("sin") || name.contains("cos");
        for _ in 0..8 {
            let operands = triples(|| {
                let x =
                    0.001 + (random.next() % 1_000_000) as f32 / if trig { 2_000_000.0 } else { 10_000.0 };
                x.to_bits() as u64
            });
            let mut first = None;
            for simd in Simd::available() {
                let (r, _) = lanes("gfx90a", simd, &format!("{name} v6, v0"), 0x3f0, &operands);
                let r = r.map(|r| r as u32);
                for lane in 0..64 {
                    let x = f32::from_bits(operands[lane][0] as u32) as f64;
                    let (want, got) = (f(x), f32::from_bits(r[lane]) as f64);
                    let ulp = (want.abs() as f32).max(f32::MIN_POSITIVE);
                    let ulp = (f32::from_bits(ulp.to_bits() + 1) - ulp) as f64;
                    assert!(
                        (want - got).abs() <= 1.01 * ulp + 1e-9 * trig as u8 as f64,
                        "{name}({x}) = {got}, not {want}"
                    );
                }
                assert_eq!(*first.get_or_insert(r), r, "{name} on {}", simd.name());
            }
        }
    }
}
