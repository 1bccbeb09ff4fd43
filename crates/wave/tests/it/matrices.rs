//! MFMA against a plain matrix product. Where elements lie is written here as the published layouts have it, register
//! by lane, and not taken from the crate.

use crate::harness::{Machine, Random};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use wavemill_wave::{Event, Simd};

/// name, m, k, blocks, element: (bits, float)
const CASES: &[(&str, usize, usize, usize, &str)] = &[
    ("v_mfma_f32_32x32x1f32", 32, 1, 2, "f32"),
    ("v_mfma_f32_16x16x1f32", 16, 1, 4, "f32"),
    ("v_mfma_f32_4x4x1f32", 4, 1, 16, "f32"),
    ("v_mfma_f32_32x32x2f32", 32, 2, 1, "f32"),
    ("v_mfma_f32_16x16x4f32", 16, 4, 1, "f32"),
    ("v_mfma_f32_32x32x4f16", 32, 4, 2, "f16"),
    ("v_mfma_f32_16x16x4f16", 16, 4, 4, "f16"),
    ("v_mfma_f32_4x4x4f16", 4, 4, 16, "f16"),
    ("v_mfma_f32_32x32x8f16", 32, 8, 1, "f16"),
    ("v_mfma_f32_16x16x16f16", 16, 16, 1, "f16"),
    ("v_mfma_i32_32x32x4i8", 32, 4, 2, "i8"),
    ("v_mfma_i32_16x16x4i8", 16, 4, 4, "i8"),
    ("v_mfma_i32_4x4x4i8", 4, 4, 16, "i8"),
    ("v_mfma_i32_32x32x8i8", 32, 8, 1, "i8"),
    ("v_mfma_i32_16x16x16i8", 16, 16, 1, "i8"),
    ("v_mfma_f32_32x32x4bf16_1k", 32, 4, 2, "bf16"),
    ("v_mfma_f32_16x16x4bf16_1k", 16, 4, 4, "bf16"),
    ("v_mfma_f32_4x4x4bf16_1k", 4, 4, 16, "bf16"),
    ("v_mfma_f32_32x32x8bf16_1k", 32, 8, 1, "bf16"),
    ("v_mfma_f32_16x16x16bf16_1k", 16, 16, 1, "bf16"),
    ("v_mfma_f32_32x32x2bf16", 32, 2, 2, "bf16"),
    ("v_mfma_f32_16x16x2bf16", 16, 2, 4, "bf16"),
    ("v_mfma_f32_4x4x2bf16", 4, 2, 16, "bf16"),
    ("v_mfma_f32_32x32x4bf16", 32, 4, 1, "bf16"),
    ("v_mfma_f32_16x16x8bf16", 16, 8, 1, "bf16"),
    ("v_mfma_f64_16x16x4f64", 16, 4, 1, "f64"),
    ("v_mfma_f64_4x4x4f64", 4, 4, 4, "f64"),
];

/// A's element held by a lane's `e`-th slot: (row, k, block). B's is (column, k, block).
fn a_element(
    m: usize,
    k: usize,
    blocks: usize,
    element: &str,
    lane: usize,
    e: usize,
) -> (usize, usize, usize) {
    let per = m * k * blocks / 64;
    match (element, m, blocks) {
        ("f64", 4, _) => (lane % 4, lane / 16, lane / 4 % 4),
        ("f64", ..) => (lane % 16, lane / 16, 0),
        (_, _, 1) => (lane % m, per * (lane / m) + e, 0),
        _ => (lane % m, e, lane / m),
    }
}

/// D's element in a register (a pair for f64) and lane: (row, column, block).
fn d_element(m: usize, element: &str, register: usize, lane: usize) -> (usize, usize, usize) {
    match (element, m) {
        ("f64", 16) => (4 * register + lane / 16, lane % 16, 0),
        ("f64", _) => (lane / 16, lane % 4, lane / 4 % 4),
        (_, 32) => (8 * (register / 4) % 32 + 4 * (lane / 32) + register % 4, lane % 32, register / 16),
        (_, 16) => (4 * (lane / 16) + register % 4, lane % 16, register / 4),
        _ => (register % 4, lane % 4, lane / 4),
    }
}

fn encode(element: &str, n: i32) -> u64 {
    match element {
        "f32" => (n as f32).to_bits() as u64,
        "f64" => (n as f64).to_bits(),
        "i8" => n as u8 as u64,
        "bf16" => ((n as f32).to_bits() >> 16) as u64,
        _ => {
            // Small integers are exact in f16.
            let f = (n as f32).to_bits();
            if n == 0 {
                0
            } else {
                ((f >> 16 & 0x8000) | ((f >> 23 & 0xff) - 112) << 10 | (f >> 13 & 0x3ff)) as u64
            }
        }
    }
}

#[allow(clippy::too_many_arguments)]
fn product(
    simd: Simd,
    cpu: &str,
    case: &(&str, usize, usize, usize, &str),
    suffix: &str,
    cbsz: usize,
    abid: usize,
    blgp: usize,
    acc: bool,
) {
    let &(name, m, k, blocks, element) = case;
    let bits = match element {
        "f64" => 64,
        "f32" => 32,
        "i8" => 8,
        _ => 16,
    };
    let per = m * k * blocks / 64;
    let ab = (per * bits).div_ceil(32).max(1);
    let wide = if element == "f64" { 2 } else { 1 };
    let cd = m * m * blocks / 64 * wide;
    let range = |kind: &str, first: usize, n: usize| {
        if n == 1 { format!("{kind}{first}") } else { format!("{kind}[{first}:{}]", first + n - 1) }
    };
    let kind = if acc { "a" } else { "v" };
    let d = if acc { 0 } else { 32 };
    let text = format!(
        "{name} {}, {}, {}, {}{suffix}",
        range(kind, d, cd),
        range("v", 0, ab),
        range("v", 8, ab),
        range(kind, d, cd)
    );
    let machine = Machine::new(cpu, simd, &text, 0);
    let mut wave = machine.wave();
    let first = if acc { wave.shape().vgprs } else { d as u16 };
    let mut random = Random(name.len() as u64 * 7919 + 1);
    let mut small = || (random.next() % 15) as i32 - 7;
    let mut a = vec![vec![vec![0i32; k]; m]; blocks];
    let mut b = vec![vec![vec![0i32; k]; m]; blocks];
    let mut c = vec![vec![vec![0i32; m]; m]; blocks];
    for (matrix, base) in [(&mut a, 0u16), (&mut b, 8)] {
        for lane in 0..64 {
            for e in 0..per.max(1) {
                let n = small();
                let at = e * bits;
                for w in 0..wide {
                    let word = (encode(element, n) >> (32 * w)) as u32;
                    wave.vgpr_mut(base + (at / 32 + w) as u16).unwrap()[lane] |= word << (at % 32);
                }
                let (i, k, block) = a_element(m, k, blocks, element, lane, e);
                matrix[block][i][k] = n;
            }
        }
    }
    for register in 0..cd / wide {
        for lane in 0..64 {
            let n = small();
            let (i, j, block) = d_element(m, element, register, lane);
            c[block][i][j] = n;
            let bits = if element == "i8" {
                n as u32 as u64
            } else {
                encode(if wide == 2 { "f64" } else { "f32" }, n)
            };
            for w in 0..wide {
                wave.vgpr_mut(first + (register * wide + w) as u16).unwrap()[lane] =
                    (bits >> (32 * w)) as u32;
            }
        }
    }
    assert_eq!(machine.run(&mut wave), Event::End, "{text}");
    // B as BLGP leaves it: the lane that holds (j, k, block) gets another lane's value.
    let b_at = |j: usize, kk: usize, block: usize| {
        let (lane, e) = (0..64)
            .flat_map(|l| (0..per.max(1)).map(move |e| (l, e)))
            .find(|&(l, e)| a_element(m, k, blocks, element, l, e) == (j, kk, block))
            .unwrap();
        let lane = match blgp {
            1 => lane % 32,
            2 => lane % 32 + 32,
            3 => (lane + 16) % 64,
            4..=7 => lane % 16 + 16 * (blgp - 4),
            _ => lane,
        };
        let (j, kk, block) = a_element(m, k, blocks, element, lane, e);
        b[block][j][kk]
    };
    for register in 0..cd / wide {
        for lane in 0..64 {
            let (i, j, block) = d_element(m, element, register, lane);
            let from = block >> cbsz << cbsz | abid;
            let from = if cbsz == 0 { block } else { from };
            let want: i32 =
                c[block][i][j] + (0..k).map(|kk| a[from][i][kk] * b_at(j, kk, block)).sum::<i32>();
            let at = first + (register * wide) as u16;
            let got = wave.vgpr(at).unwrap()[lane];
            let want = match element {
                "i8" => want as u32,
                "f64" => {
                    let hi = wave.vgpr(at + 1).unwrap()[lane];
                    assert_eq!(
                        f64::from_bits(got as u64 | (hi as u64) << 32),
                        want as f64,
                        "{text} [{block}] {i},{j}"
                    );
                    continue;
                }
                _ => (want as f32).to_bits(),
            };
            assert_eq!(got, want, "{text} on {} [{block}] {i},{j}", simd.name());
        }
    }
}

#[test]
fn every_shape() {
    for simd in Simd::available() {
        for case in CASES {
            product(simd, "gfx90a", case, "", 0, 0, 0, false);
            product(simd, "gfx90a", case, "", 0, 0, 0, true);
        }
    }
}

#[test]
fn gfx908_has_its_own_accumulators() {
    for case in CASES.iter().filter(|c| c.4 != "f64" && !c.0.ends_with("1k")) {
        product(Simd::Portable, "gfx908", case, "", 0, 0, 0, true);
    }
}

#[test]
fn broadcasts() {
    let simd = Simd::available()[0];
    for case in CASES.iter().filter(|c| c.4 != "f64") {
        for blgp in 1..8 {
            product(simd, "gfx90a", case, &format!(" blgp:{blgp}"), 0, 0, blgp, false);
        }
        for cbsz in 1..5usize {
            if 1 << cbsz > case.3 {
                break;
            }
            for abid in 0..1 << cbsz {
                product(simd, "gfx90a", case, &format!(" cbsz:{cbsz} abid:{abid}"), cbsz, abid, 0, false);
            }
        }
    }
}

/// Zeros of both signs, denormals, the least and the largest normal numbers, ordinary ones, infinities and NaNs.
fn special<F: Float>(random: &mut Random, exponent: u32, fraction: u32) -> u64 {
    let infinity = ((1u64 << exponent) - 1) << fraction;
    let least = 1u64 << fraction;
    let any = random.next() & (least - 1);
    let magnitude = match random.below(16) {
        0 | 1 => 0,
        2 => any,
        3 => least - 1,
        4 => least | any,
        5 => infinity - 1,
        6 => infinity,
        7 => infinity | any | 1,
        // Not far from where products of two are denormal.
        8..=10 => ((1 << (exponent - 2)) + random.below(3) - 1) << fraction | any,
        _ => ((1 << (exponent - 1)) - 2 + random.below(3)) << fraction | any,
    };
    debug_assert_eq!(F::BITS as u32, 1 + exponent + fraction);
    magnitude | (random.next() & 1) << (exponent + fraction)
}

/// A number as it goes into arithmetic, or out of it: a denormal that is flushed becomes a zero, +0 or one of its sign.
fn flushed<F: Float>(x: F, flush: bool, positive: bool) -> F {
    match flush && x.is_denormal() {
        true if x.is_negative() && !positive => -F::ZERO,
        true => F::ZERO,
        false => x,
    }
}

/// f32 and f64: a fused step for each k, as IEEE 754 has it (manual 7.1; the order as MMA-Sim's authors measured it).
/// Nothing where a denormal is kept as a result but would be flushed as the next step's operand: no source says.
fn fused<F: Float>(a: &[u64], b: &[u64], c: u64, flush: [bool; 2]) -> Option<F> {
    let input = |bits: u64| flushed(F::from_bits(bits as u128), flush[0], false);
    let mut sum = input(c);
    for (k, (&a, &b)) in a.iter().zip(b).enumerate() {
        if k > 0 && flush == [true, false] && sum.is_denormal() {
            return None;
        }
        let r = input(a).mul_add_r(input(b), sum, Round::NearestTiesToEven).value;
        sum = flushed(r, flush[1], false);
    }
    Some(sum)
}

/// 16 bits on gfx90a, as MMA-Sim's authors measured it: products, pairs, pairs of pairs, then C; each is rounded, and
/// flushed to a zero of its sign, but denormal operands become +0.
fn pairs<T: Float + FloatConvert<Single>>(a: &[u64], b: &[u64], c: u64, group: usize) -> Single {
    let near = Round::NearestTiesToEven;
    let input =
        |bits: u64| -> Single { flushed(T::from_bits(bits as u128), true, true).convert(&mut false).value };
    let add = |x: Single, y: Single| flushed(x.add_r(y, near).value, true, false);
    let mut sum = flushed(Single::from_bits(c as u128), true, true);
    for (a, b) in a.chunks(group).zip(b.chunks(group)) {
        let p: Vec<Single> = a
            .iter()
            .zip(b)
            .map(|(&a, &b)| flushed(input(a).mul_r(input(b), near).value, true, false))
            .collect();
        let s = add(p[0], p[1]);
        sum = add(sum, if group == 4 { add(s, add(p[2], p[3])) } else { s });
    }
    sum
}

/// 16 bits on gfx908, as MMA-Sim's authors measured it: the exact sum of a group's products and C, rounded once. Exact in
/// f64: products have 22 bits at most, and sums are kept as numbers that do not overlap.
fn exact<T: Float + FloatConvert<Double>>(a: &[u64], b: &[u64], c: u64, group: usize) -> Single {
    let wide = |bits: u64| -> f64 {
        f64::from_bits(
            FloatConvert::<Double>::convert(T::from_bits(bits as u128), &mut false).value.to_bits() as u64,
        )
    };
    let mut sum = f32::from_bits(c as u32);
    for (a, b) in a.chunks(group).zip(b.chunks(group)) {
        let terms: Vec<f64> = a.iter().zip(b).map(|(&a, &b)| wide(a) * wide(b)).chain([sum as f64]).collect();
        sum = match terms.iter().all(|t| t.is_finite()) {
            true => round_once(&terms),
            false => terms.iter().sum::<f64>() as f32,
        };
    }
    Single::from_bits(sum.to_bits() as u128)
}

/// The exact sum of numbers (Shewchuk's expansions) as an f32; zero is positive.
fn round_once(terms: &[f64]) -> f32 {
    let mut parts: Vec<f64> = Vec::new();
    for &t in terms {
        let mut carry = t;
        for p in &mut parts {
            let s = carry + *p;
            let v = s - carry;
            *p = (carry - (s - v)) + (*p - v);
            carry = s;
        }
        parts.push(carry);
    }
    // The largest part is the nearest f64; where others are left, the odd neighbour on their side stands for all.
    let mut rest = parts.iter().rev().copied().filter(|&p| p != 0.0);
    let top = rest.next().unwrap_or(0.0);
    let bits = match rest.next() {
        Some(r) if top.to_bits() & 1 == 0 && (r > 0.0) == (top > 0.0) => top.to_bits() + 1,
        Some(_) if top.to_bits() & 1 == 0 => top.to_bits() - 1,
        _ => top.to_bits(),
    };
    f64::from_bits(bits) as f32
}

/// Random numbers of all kinds in all places: f32 by MODE's denormals, f64 keeps them (manual 7.1); the round mode does not
/// matter, nor do EXEC's bits.
#[test]
fn special_numbers() {
    let mut random = Random(61);
    for case in CASES.iter().filter(|c| c.4 != "i8") {
        let &(name, m, k, blocks, element) = case;
        for cpu in ["gfx908", "gfx90a"] {
            if cpu == "gfx908" && (element == "f64" || name.ends_with("1k")) {
                continue;
            }
            for denormals in 0..4u32 {
                let (bits, wide) = match element {
                    "f64" => (64, 2),
                    "f32" => (32, 1),
                    _ => (16, 1),
                };
                let flush = match element {
                    "f32" => [denormals & 1 == 0, denormals & 2 == 0],
                    _ => [false; 2],
                };
                let per = (m * k * blocks / 64).max(1);
                let (ab, cd) = ((per * bits).div_ceil(32), m * m * blocks / 64 * wide);
                let range = |kind: &str, first: usize, n: usize| match n {
                    1 => format!("{kind}{first}"),
                    n => format!("{kind}[{first}:{}]", first + n - 1),
                };
                let d = range("a", 0, cd);
                let text = format!("{name} {d}, {}, {}, {d}", range("v", 0, ab), range("v", 8, ab));
                let machine = Machine::new(cpu, Simd::detect(), &text, 0);
                let mut wave = machine.wave();
                wave.mode = 0x302 | denormals << 4;
                wave.set_exec(random.next() | 1);
                let first = wave.shape().vgprs;
                // Infinities and NaNs would hide the rest of a long sum.
                let dull = random.below(4) != 0;
                let mut number = |element: &str| loop {
                    let (bits, infinity) = match element {
                        "f64" => (special::<Double>(&mut random, 11, 52), 0x7ff << 52),
                        "f32" => (special::<Single>(&mut random, 8, 23), 0xff << 23),
                        "f16" => (special::<Half>(&mut random, 5, 10), 0x1f << 10),
                        _ => (special::<BFloat>(&mut random, 8, 7), 0xff << 7),
                    };
                    if !dull || bits & infinity != infinity {
                        break bits;
                    }
                };
                let mut matrices = [vec![vec![vec![0u64; k]; m]; blocks], vec![vec![vec![0; k]; m]; blocks]];
                for (matrix, base) in matrices.iter_mut().zip([0u16, 8]) {
                    for lane in 0..64 {
                        for e in 0..per {
                            let (i, kk, block) = a_element(m, k, blocks, element, lane, e);
                            let value = number(element);
                            for w in 0..wide {
                                let register = wave.vgpr_mut(base + (e * bits / 32 + w) as u16).unwrap();
                                register[lane] |= ((value >> (32 * w)) as u32) << (e * bits % 32);
                            }
                            matrix[block][i][kk] = value;
                        }
                    }
                }
                let mut sums = Vec::new();
                for register in 0..cd / wide {
                    for lane in 0..64 {
                        let value = number(if wide == 2 { "f64" } else { "f32" });
                        for w in 0..wide {
                            let at = first + (register * wide + w) as u16;
                            wave.vgpr_mut(at).unwrap()[lane] = (value >> (32 * w)) as u32;
                        }
                        sums.push((register, lane, value));
                    }
                }
                assert_eq!(machine.run(&mut wave), Event::End, "{text}");
                for (register, lane, c) in sums {
                    let (i, j, block) = d_element(m, element, register, lane);
                    let (a, b) = (&matrices[0][block][i], &matrices[1][block][j]);
                    let got = (0..wide).fold(0, |v, w| {
                        let at = first + (register * wide + w) as u16;
                        v | (wave.vgpr(at).unwrap()[lane] as u64) << (32 * w)
                    });
                    let want = match (element, cpu) {
                        ("f64", _) => fused::<Double>(a, b, c, flush).map(outcome),
                        ("f32", _) => fused::<Single>(a, b, c, flush).map(outcome),
                        ("f16", "gfx908") => Some(outcome(exact::<Half>(a, b, c, 4))),
                        ("f16", _) => Some(outcome(pairs::<Half>(a, b, c, 4))),
                        (_, "gfx908") => Some(outcome(exact::<BFloat>(a, b, c, 2))),
                        _ if name.ends_with("1k") => Some(outcome(pairs::<BFloat>(a, b, c, 4))),
                        _ => Some(outcome(pairs::<BFloat>(a, b, c, 2))),
                    };
                    let Some((want, nan)) = want else { continue };
                    let at = format!("{text} on {cpu}, MODE {:#x}: {a:x?} {b:x?} {c:#x}", wave.mode);
                    if nan {
                        let infinity = if wide == 2 { 0x7ff << 52 } else { 0xff << 23 };
                        let sign = if wide == 2 { 1 << 63 } else { 1 << 31 };
                        assert!(got & !sign > infinity, "{at} gave {got:#x}, not a NaN");
                    } else {
                        assert_eq!(got, want, "{at} gave {got:#x}, not {want:#x}");
                    }
                }
            }
        }
    }
}

/// A result's bits and whether it is a NaN.
fn outcome<F: Float>(r: F) -> (u64, bool) {
    (r.to_bits() as u64, r.is_nan())
}

/// A constant C is the same number for every element: f32 (i32 for i8) in 32 bits, as the manual's inline constants are,
/// f64 as LLVM reads it.
#[test]
fn constants_fill_every_register() {
    for (value, f32, f64) in [
        ("1.0", 1f32.to_bits(), 1f64.to_bits()),
        ("-4.0", (-4f32).to_bits(), (-4f64).to_bits()),
        ("-4", -4i32 as u32, -4i64 as u64),
        ("64", 64, 64),
    ] {
        for case in CASES {
            let &(name, m, k, blocks, element) = case;
            let per = (m * k * blocks / 64).max(1);
            let wide = if element == "f64" { 2 } else { 1 };
            let bits = match element {
                "f64" => 64,
                "f32" => 32,
                "i8" => 8,
                _ => 16,
            };
            let cd = m * m * blocks / 64 * wide;
            let range = |kind: &str, first: usize, n: usize| match n {
                1 => format!("{kind}{first}"),
                n => format!("{kind}[{first}:{}]", first + n - 1),
            };
            let ab = (per * bits).div_ceil(32);
            // gfx908 has no constants there.
            let cpu = "gfx90a";
            // A number that an f32 sum keeps: zeros are added to it. Denormals (64, 0x40) are flushed by some.
            if value == "64" && element != "i8" && element != "f64" {
                continue;
            }
            let text = format!(
                "{name} {}, {}, {}, {value}",
                range("a", 0, cd),
                range("v", 0, ab),
                range("v", 8, ab)
            );
            let machine = Machine::new(cpu, Simd::detect(), &text, 0);
            let mut wave = machine.wave();
            wave.mode = 0x3f0;
            let first = wave.shape().vgprs;
            assert_eq!(machine.run(&mut wave), Event::End, "{text}");
            for register in 0..cd {
                let got = wave.vgpr(first + register as u16).unwrap()[register % 64];
                match element {
                    "f64" => assert_eq!(got, (f64 >> (32 * (register & 1))) as u32, "{text} {register}"),
                    // -4 is a NaN as a float; it comes out quiet already.
                    _ => assert_eq!(got, f32, "{text} on {cpu}, register {register}"),
                }
            }
        }
    }
}

/// D over A, over B and over C (a part of C is not allowed): everything is read before anything is written, so that D is
/// what it is elsewhere.
#[test]
fn destinations_over_operands() {
    let range = |first: usize, n: usize| match n {
        1 => format!("v{first}"),
        n => format!("v[{first}:{}]", first + n - 1),
    };
    for simd in Simd::available() {
        for &(name, m, k, blocks, element) in CASES {
            let wide = if element == "f64" { 2 } else { 1 };
            let bits = ["i8", "f16", "f32", "f64"].iter().position(|e| *e == element).map_or(16, |n| 8 << n);
            let (ab, cd) = ((m * k * blocks / 64 * bits).div_ceil(32), m * m * blocks / 64 * wide);
            let run = |d: usize, c: usize, moved: &str| {
                let text = format!(
                    "{name} {}, {}, {}, {}{moved}",
                    range(d, cd),
                    range(40, ab),
                    range(44, ab),
                    range(c, cd)
                );
                let machine = Machine::new("gfx90a", simd, &text, 0);
                let mut wave = machine.wave();
                let mut random = Random(17);
                for register in 0..128 {
                    wave.vgpr_mut(register).unwrap().fill_with(|| random.next() as u32 & 0x3fff_3fff);
                }
                assert_eq!(machine.run(&mut wave), Event::End, "{text}");
                (d..d + cd).map(|r| *wave.vgpr(r as u16).unwrap()).collect::<Vec<_>>()
            };
            // Lanes may take what other lanes have of A and B; f64 has no such modifiers, and one block nothing to share.
            let moves = match (element, blocks) {
                ("f64", _) => &[""][..],
                (_, 1) => &["", " blgp:3", " blgp:1"],
                _ => &["", " blgp:3", " blgp:1", " cbsz:1 abid:1", " cbsz:1 blgp:2"],
            };
            for moved in moves {
                for (d, c) in [(40, 88), (44, 88), (36, 88), (40, 40), (44, 44), (88, 88)] {
                    let text = format!("{name}{moved} at v{d} on {}", simd.name());
                    assert_eq!(run(d, c, moved), run(0, c, moved), "{text}");
                }
            }
        }
    }
}
