//! Every read-modify-write on buffers, from vector and scalar instructions, against the manual's pseudocode.

use crate::harness::{Machine, Random, target};
use wavemill_isa::ROWS;
use wavemill_wave::{Event, Simd};

/// The new value from the old one, the datum, the second datum and the width in bits.
pub type Meaning = fn(u64, u64, u64, u32) -> u64;

fn sign(x: u64, bits: u32) -> i64 {
    ((x << (64 - bits)) as i64) >> (64 - bits)
}

fn pick(m: u64, d: u64, bits: u32, least: bool) -> u64 {
    let value = |x: u64| if bits == 32 { f32::from_bits(x as u32) as f64 } else { f64::from_bits(x) };
    if (value(d) < value(m)) == least { d } else { m }
}

/// Manual 12.6, 12.13 and 12.15.
pub const INTEGERS: [(&str, Meaning); 14] = [
    ("swap", |_, d, _, _| d),
    ("cmpswap", |m, d, c, _| if m == c { d } else { m }),
    ("add", |m, d, _, _| m.wrapping_add(d)),
    ("sub", |m, d, _, _| m.wrapping_sub(d)),
    ("rsub", |m, d, _, _| d.wrapping_sub(m)),
    ("smin", |m, d, _, b| if sign(d, b) < sign(m, b) { d } else { m }),
    ("umin", |m, d, _, _| m.min(d)),
    ("smax", |m, d, _, b| if sign(d, b) > sign(m, b) { d } else { m }),
    ("umax", |m, d, _, _| m.max(d)),
    ("and", |m, d, _, _| m & d),
    ("or", |m, d, _, _| m | d),
    ("xor", |m, d, _, _| m ^ d),
    ("inc", |m, d, _, _| if m >= d { 0 } else { m + 1 }),
    ("dec", |m, d, _, _| if m == 0 || m > d { d } else { m - 1 }),
];

/// Those on floats, for ordinary numbers.
pub const FLOATS: [(&str, Meaning); 8] = [
    ("fcmpswap", |m, d, c, _| if m == c { d } else { m }),
    ("fmin", |m, d, _, b| pick(m, d, b, true)),
    ("fmax", |m, d, _, b| pick(m, d, b, false)),
    ("add_f32", |m, d, _, _| (f32::from_bits(m as u32) + f32::from_bits(d as u32)).to_bits() as u64),
    ("add_f64", |m, d, _, _| (f64::from_bits(m) + f64::from_bits(d)).to_bits()),
    ("min_f64", |m, d, _, b| pick(m, d, b, true)),
    ("max_f64", |m, d, _, b| pick(m, d, b, false)),
    ("pk_add_f16", |m, _, _, _| m),
];

/// Numbers of a width; as floats they are ordinary ones.
pub fn number(random: &mut Random, bytes: usize, float: bool) -> u64 {
    let r = random.edgy(8 * bytes as u32);
    let top = 8 * bytes - 8;
    if float { r & !(0xff << top) | (0x40 | r & 0x80) << top } else { r }
}

const CPUS: [&str; 7] = ["gfx600", "gfx701", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a"];

/// Rows of an operation on a prefix, of 32 and 64 bits.
fn rows(cpu: &str, prefix: &str) -> Vec<(String, usize, bool, Meaning)> {
    let mut out = Vec::new();
    for (float, (name, meaning)) in INTEGERS.map(|m| (false, m)).into_iter().chain(FLOATS.map(|m| (true, m)))
    {
        for suffix in ["", "_x2"] {
            let name = format!("{prefix}_{name}{suffix}");
            let bytes = if suffix == "_x2" || name.ends_with("f64") { 8 } else { 4 };
            let row = ROWS.iter().find(|r| r.name == name);
            if row.is_some_and(|r| r.opcode_at(target(cpu).level()).is_some()) && !name.contains("pk_") {
                out.push((name, bytes, float, meaning));
            }
        }
    }
    out
}

fn registers(kind: char, first: usize, n: usize) -> String {
    if n == 1 { format!("{kind}{first}") } else { format!("{kind}[{first}:{}]", first + n - 1) }
}

/// Buffer atomics: with and without the old value; the last four lanes are out of range.
#[test]
fn buffers() {
    let mut random = Random(41);
    for cpu in CPUS {
        let mut seen = 0;
        for (name, bytes, float, meaning) in rows(cpu, "buffer_atomic") {
            for glc in [false, true] {
                // Below gfx90a these never return the old value.
                if glc && cpu == "gfx908" && name.ends_with("_f32") {
                    continue;
                }
                let compares = name.contains("cmpswap");
                let n = bytes / 4 * if compares { 2 } else { 1 };
                let text = format!(
                    "{name} {}, v0, s[4:7], 0 offen offset:16{}",
                    registers('v', 4, n),
                    if glc { " glc" } else { "" }
                );
                let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
                let data: Vec<u8> = (0..66)
                    .flat_map(|_| number(&mut random, bytes, float).to_le_bytes()[..bytes].to_vec())
                    .collect();
                let base = machine.buffer(&data);
                let mut wave = machine.wave();
                wave.set_sgpr64(4, base);
                wave.set_sgpr(6, 16 + 60 * bytes as u32);
                wave.set_sgpr(7, 0x0002_4fac);
                let mut want = data.clone();
                let mut old = Vec::new();
                for lane in 0..64 {
                    wave.vgpr_mut(0).unwrap()[lane] = (lane * bytes) as u32;
                    let at = 16 + lane * bytes..16 + (lane + 1) * bytes;
                    let mut m = [0; 8];
                    let inside = lane < 60;
                    if inside {
                        m[..bytes].copy_from_slice(&data[at.clone()]);
                    }
                    let m = u64::from_le_bytes(m);
                    let d = number(&mut random, bytes, float);
                    let c = if lane % 2 == 0 { m } else { number(&mut random, bytes, float) };
                    for i in 0..bytes / 4 {
                        wave.vgpr_mut(4 + i as u16).unwrap()[lane] = (d >> (32 * i)) as u32;
                        if compares {
                            wave.vgpr_mut(4 + (bytes / 4 + i) as u16).unwrap()[lane] = (c >> (32 * i)) as u32;
                        }
                    }
                    if inside {
                        let new = meaning(m, d, c, 8 * bytes as u32).to_le_bytes();
                        want[at].copy_from_slice(&new[..bytes]);
                    }
                    old.push(if glc { m } else { d });
                }
                assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {text}");
                assert_eq!(machine.read(base, data.len()), want, "{cpu} {text}");
                for (lane, old) in old.into_iter().enumerate() {
                    for i in 0..bytes / 4 {
                        let got = wave.vgpr(4 + i as u16).unwrap()[lane];
                        assert_eq!(got, (old >> (32 * i)) as u32, "{cpu} {text} {lane}");
                    }
                }
                seen += 1;
            }
        }
        assert!(seen >= 52, "{cpu}: {seen}");
    }
}

/// Scalar atomics, on addresses and buffers; beyond a buffer they do nothing.
#[test]
fn scalars() {
    let mut random = Random(42);
    for cpu in ["gfx900", "gfx906", "gfx908", "gfx90a"] {
        let mut seen = 0;
        for prefix in ["s_atomic", "s_buffer_atomic"] {
            for (name, bytes, float, meaning) in rows(cpu, prefix) {
                assert!(!float);
                let buffer = prefix == "s_buffer_atomic";
                for (glc, matches, inside) in
                    [(false, true, true), (true, true, true), (true, false, true), (false, true, false)]
                {
                    if !inside && !buffer {
                        continue;
                    }
                    let compares = name.contains("cmpswap");
                    let n = bytes / 4 * if compares { 2 } else { 1 };
                    let base = if buffer { "s[4:7]" } else { "s[4:5]" };
                    let text = format!(
                        "{name} {}, {base}, {}{}\ns_waitcnt lgkmcnt(0)",
                        registers('s', 20, n),
                        if inside { "0x8" } else { "0x10" },
                        if glc { " glc" } else { "" }
                    );
                    let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
                    let m = number(&mut random, bytes, false);
                    let mut data = vec![0xa5; 32];
                    data[8..8 + bytes].copy_from_slice(&m.to_le_bytes()[..bytes]);
                    let address = machine.buffer(&data);
                    let mut wave = machine.wave();
                    wave.set_sgpr64(4, address);
                    wave.set_sgpr(6, 16);
                    let d = number(&mut random, bytes, false);
                    let c = if matches { m } else { !m };
                    for i in 0..bytes / 4 {
                        wave.set_sgpr(20 + i as u32, (d >> (32 * i)) as u32);
                        if compares {
                            wave.set_sgpr((20 + bytes / 4 + i) as u32, (c >> (32 * i)) as u32);
                        }
                    }
                    assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {text}");
                    if inside {
                        let c = if bytes == 4 { c & 0xffff_ffff } else { c };
                        let new = meaning(m, d, c, 8 * bytes as u32).to_le_bytes();
                        data[8..8 + bytes].copy_from_slice(&new[..bytes]);
                    }
                    assert_eq!(machine.read(address, 32), data, "{cpu} {text}");
                    let want = if glc { m } else { d };
                    for i in 0..bytes / 4 {
                        assert_eq!(wave.sgpr(20 + i as u32), (want >> (32 * i)) as u32, "{cpu} {text}");
                    }
                    seen += 1;
                }
            }
        }
        assert_eq!(seen, 26 * 3 + 26 * 4, "{cpu}");
    }
}
