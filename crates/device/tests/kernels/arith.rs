//! Numbers of every size: one block of results for each operation.

use super::half::{of_half, to_half};
use super::*;

const N: usize = 256;

/// Compares the blocks of results with the host's, operation by operation.
fn blocks<T: Bytes + std::fmt::Debug>(
    out: &[u8],
    names: &[&str],
    want: impl Fn(usize, usize) -> T,
) -> Result<(), String> {
    let got = numbers::<T>(out);
    let mut wrong = Vec::new();
    for (k, name) in names.iter().enumerate() {
        let want: Vec<T> = (0..N).map(|i| want(k, i)).collect();
        wrong.extend(same(name, &got[k * N..][..N], &want).err());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

#[test]
fn halves() {
    let mut random = Random(11);
    // Multiples of 1/64: every intermediate result is exact in f64.
    let mut some =
        || (0..N).map(|_| to_half((random.next() as i64 % 1024) as f64 / 64.0)).collect::<Vec<u16>>();
    let (a, b) = (some(), some());
    let names = [
        "add",
        "sub",
        "mul",
        "fma",
        "fmin",
        "fabs",
        "floor",
        "half2 x",
        "half2 y",
        "through float",
        "select",
    ];
    each("arith", |case| {
        let out = case.run(
            "halves",
            &[N as u32],
            &[64],
            vec![buf(&a), buf(&b), buf(&vec![0u16; names.len() * N])],
        )?;
        blocks(&out[2], &names, |k, i| {
            let (x, y) = (of_half(a[i]), of_half(b[i]));
            // OpenCL lets compilers fuse products and sums. For GFX6 and GFX7, which calculate halves as floats, they do.
            let fused = case.name.contains(".gfx6") || case.name.contains(".gfx7");
            let round = |v: f64| if fused { v } else { of_half(to_half(v)) };
            to_half(match k {
                0 => x + y,
                1 => x - y,
                2 => x * y,
                3 => x * y + x,
                4 => x.min(y),
                5 => x.abs(),
                6 => x.floor(),
                7 => round(x * y) + y,
                8 => round(y * y) + x,
                9 => x,
                _ => {
                    if x < y {
                        x
                    } else {
                        y
                    }
                }
            })
        })
    });
}

#[test]
fn doubles() {
    let mut random = Random(12);
    let mut some = || (0..N).map(|_| random.between(-1e6, 1e6)).collect::<Vec<f64>>();
    let (a, b) = (some(), some());
    let names =
        ["add", "sub", "mul", "fma", "div", "sqrt", "floor", "rint", "to float", "to int", "ldexp", "fmax"];
    each("arith", |case| {
        let out = case.run(
            "doubles",
            &[N as u32],
            &[64],
            vec![buf(&a), buf(&b), buf(&vec![0f64; names.len() * N])],
        )?;
        blocks(&out[2], &names, |k, i| {
            let (x, y) = (a[i], b[i]);
            match k {
                0 => x + y,
                1 => x - y,
                2 => x * y,
                3 => x.mul_add(y, 1.0),
                4 => x / y,
                5 => x.abs().sqrt(),
                6 => x.floor(),
                7 => y.round_ties_even(),
                8 => f64::from(x as f32),
                9 => f64::from(x as i32),
                10 => x * 8.0,
                _ => x.max(y),
            }
        })
    });
}

#[test]
fn longs() {
    let mut random = Random(13);
    let mut some = || (0..N).map(|i| (random.next() as i64 >> (i % 60 + 2)) | 1).collect::<Vec<i64>>();
    let (a, b) = (some(), some());
    let names = [
        "add",
        "sub",
        "mul",
        "div",
        "rem",
        "unsigned div",
        "shl",
        "ashr",
        "lshr",
        "mul_hi",
        "popcount",
        "clz",
        "min",
        "through float",
        "rotate",
    ];
    each("arith", |case| {
        let out =
            case.run("longs", &[N as u32], &[64], vec![buf(&a), buf(&b), buf(&vec![0i64; names.len() * N])])?;
        blocks(&out[2], &names, |k, i| {
            let (x, y) = (a[i], b[i]);
            match k {
                0 => x.wrapping_add(y),
                1 => x.wrapping_sub(y),
                2 => x.wrapping_mul(y),
                3 => x / y,
                4 => x % y,
                5 => (x as u64 / y as u64) as i64,
                6 => x << (y & 63),
                7 => x >> (y & 63),
                8 => (x as u64 >> (y & 63)) as i64,
                9 => ((i128::from(x) * i128::from(y)) >> 64) as i64,
                10 => i64::from(x.count_ones()),
                11 => i64::from(x.leading_zeros()),
                12 => x.min(y),
                13 => x as f32 as i64,
                _ => x.rotate_left((y & 63) as u32),
            }
        })
    });
}

#[test]
fn ints() {
    let mut random = Random(14);
    // Differences stay within 31 bits: compilers turn abs_diff into the absolute value of the difference.
    let mut some = || (0..N).map(|i| (random.next() as i32 >> (i % 30 + 1)) | 1).collect::<Vec<i32>>();
    let (a, b) = (some(), some());
    let names = [
        "div",
        "rem",
        "unsigned div",
        "unsigned rem",
        "mul_hi",
        "mad24",
        "add_sat",
        "sub_sat",
        "abs_diff",
        "hadd",
        "clz",
        "popcount",
        "rotate",
        "char * short",
        "bitselect",
        "uchar4",
        "char_sat",
        "short shift",
    ];
    each("arith", |case| {
        let out =
            case.run("ints", &[N as u32], &[64], vec![buf(&a), buf(&b), buf(&vec![0i32; names.len() * N])])?;
        blocks(&out[2], &names, |k, i| {
            let (x, y) = (a[i], b[i]);
            let (ux, uy) = (x as u32, y as u32);
            match k {
                0 => x.wrapping_div(y),
                1 => x.wrapping_rem(y),
                2 => (ux / uy) as i32,
                3 => (ux % uy) as i32,
                4 => ((i64::from(x) * i64::from(y)) >> 32) as i32,
                5 => ((x << 8) >> 8).wrapping_mul((y << 8) >> 8).wrapping_add(x),
                6 => x.saturating_add(y),
                7 => ux.saturating_sub(uy) as i32,
                8 => x.abs_diff(y) as i32,
                9 => ((i64::from(x) + i64::from(y)) >> 1) as i32,
                10 => x.leading_zeros() as i32,
                11 => x.count_ones() as i32,
                12 => x.rotate_left(uy & 31),
                13 => i32::from(x as i8) * i32::from(y as i16),
                14 => (x & !0x0ff0_f00f) | (y & 0x0ff0_f00f),
                15 => {
                    let (p, q) = (x.to_be_bytes(), y.to_le_bytes());
                    i32::from_le_bytes(std::array::from_fn(|j| p[j].wrapping_add(q[j])))
                }
                16 => x.clamp(-128, 127),
                _ => i32::from(x as i16) >> (y & 15),
            }
        })
    });
}

#[test]
fn floats() {
    let mut random = Random(15);
    let mut some = || (0..N).map(|_| random.between(-300.0, 300.0) as f32).collect::<Vec<f32>>();
    let (a, b) = (some(), some());
    let names = [
        "add",
        "mul",
        "fma",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "fmin",
        "fmax",
        "to int",
        "from uint",
        "ldexp",
        "copysign",
        "isnan",
        "fmod",
    ];
    each("arith", |case| {
        let out = case.run(
            "floats",
            &[N as u32],
            &[64],
            vec![buf(&a), buf(&b), buf(&vec![0f32; names.len() * N])],
        )?;
        blocks(&out[2], &names, |k, i| {
            let (x, y) = (a[i], b[i]);
            match k {
                0 => x + y,
                1 => x * y,
                2 => x.mul_add(y, -x),
                3 => x.floor(),
                4 => x.ceil(),
                5 => x.trunc(),
                6 => x.round_ties_even(),
                7 => x.min(y),
                8 => x.max(y),
                9 => x as i32 as f32,
                10 => x.to_bits() as f32,
                11 => x / 8.0,
                12 => x.copysign(y),
                13 => 0.0,
                _ => x % y,
            }
        })
    });
}

/// The error function by its series, which is good for the arguments used here.
fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..120 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

#[test]
fn math_library() {
    let mut random = Random(16);
    let a: Vec<f32> = (0..N).map(|_| random.between(0.1, 10.0) as f32).collect();
    let b: Vec<f32> = (0..N).map(|_| random.between(-3.0, 3.0) as f32).collect();
    // With the errors that OpenCL allows, in units in the last place.
    let functions = [
        ("divide", 2.5),
        ("sqrt", 3.0),
        ("exp", 3.0),
        ("log", 3.0),
        ("sin", 4.0),
        ("cos", 4.0),
        ("pow", 16.0),
        ("tanh", 5.0),
        ("atan2", 6.0),
        ("cbrt", 2.0),
        ("rsqrt", 2.0),
        ("exp2", 3.0),
        ("log10", 3.0),
        ("hypot", 4.0),
        ("erf", 16.0),
    ];
    each("math", |case| {
        let zeros = vec![0f32; functions.len() * N];
        let out = case.run("math", &[N as u32], &[64], vec![buf(&a), buf(&b), buf(&zeros)])?;
        let got = numbers::<f32>(&out[2]);
        let mut wrong = Vec::new();
        for (k, (name, ulps)) in functions.iter().enumerate() {
            let want: Vec<f64> = (0..N)
                .map(|i| {
                    let (x, y) = (f64::from(a[i]), f64::from(b[i]));
                    match k {
                        0 => x / y,
                        1 => x.sqrt(),
                        2 => y.exp(),
                        3 => x.ln(),
                        4 => y.sin(),
                        5 => y.cos(),
                        6 => x.powf(y),
                        7 => y.tanh(),
                        8 => x.atan2(y),
                        9 => x.cbrt(),
                        10 => 1.0 / x.sqrt(),
                        11 => y.exp2(),
                        12 => x.log10(),
                        13 => x.hypot(y),
                        _ => erf(y),
                    }
                })
                .collect();
            // A unit in the last place is at most 2^-23 of the value.
            let tolerance = |i: usize| ulps * (want[i].abs() * 2f64.powi(-23)).max(1e-38);
            wrong.extend(near(name, &got[k * N..][..N], &want, tolerance).err());
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    });
}
