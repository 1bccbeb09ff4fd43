//! Data share: operands that are both in memory, and GDS, which does what LDS does.

use crate::harness::{Machine, Random, target};
use wavemill_isa::{Enc, ROWS, Role, flag};
use wavemill_wave::{Event, Simd};

const SIZE: u32 = 4096;

fn fill(machine: &Machine, bytes: &[u8]) {
    // SAFETY: both shares have at least `SIZE` bytes, and no wave runs.
    unsafe {
        for base in [machine.group.lds.base(), machine.group.global.gds().base()] {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), base, bytes.len());
        }
    }
}

type Meaning = fn(u64, u64) -> u64;

fn f(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn d(x: u64) -> f64 {
    f64::from_bits(x)
}

/// Memory's new value from the old one and the other operand, as the GFX8 manual writes it.
const SRC2: [(&str, u32, Meaning); 31] = [
    ("ds_add_src2_u32", 4, |a, b| a + b),
    ("ds_sub_src2_u32", 4, |a, b| a.wrapping_sub(b)),
    ("ds_rsub_src2_u32", 4, |a, b| b.wrapping_sub(a)),
    ("ds_inc_src2_u32", 4, |a, b| if a >= b { 0 } else { a + 1 }),
    ("ds_dec_src2_u32", 4, |a, b| if a == 0 || a > b { b } else { a - 1 }),
    ("ds_min_src2_i32", 4, |a, b| (a as i32).min(b as i32) as u64),
    ("ds_max_src2_i32", 4, |a, b| (a as i32).max(b as i32) as u64),
    ("ds_min_src2_u32", 4, |a, b| a.min(b)),
    ("ds_max_src2_u32", 4, |a, b| a.max(b)),
    ("ds_and_src2_b32", 4, |a, b| a & b),
    ("ds_or_src2_b32", 4, |a, b| a | b),
    ("ds_xor_src2_b32", 4, |a, b| a ^ b),
    ("ds_write_src2_b32", 4, |_, b| b),
    ("ds_min_src2_f32", 4, |a, b| if f(b) < f(a) { b } else { a }),
    ("ds_max_src2_f32", 4, |a, b| if f(b) > f(a) { b } else { a }),
    ("ds_add_src2_f32", 4, |a, b| (f(a) + f(b)).to_bits() as u64),
    ("ds_add_src2_u64", 8, |a, b| a.wrapping_add(b)),
    ("ds_sub_src2_u64", 8, |a, b| a.wrapping_sub(b)),
    ("ds_rsub_src2_u64", 8, |a, b| b.wrapping_sub(a)),
    ("ds_inc_src2_u64", 8, |a, b| if a >= b { 0 } else { a + 1 }),
    ("ds_dec_src2_u64", 8, |a, b| if a == 0 || a > b { b } else { a - 1 }),
    ("ds_min_src2_i64", 8, |a, b| (a as i64).min(b as i64) as u64),
    ("ds_max_src2_i64", 8, |a, b| (a as i64).max(b as i64) as u64),
    ("ds_min_src2_u64", 8, |a, b| a.min(b)),
    ("ds_max_src2_u64", 8, |a, b| a.max(b)),
    ("ds_and_src2_b64", 8, |a, b| a & b),
    ("ds_or_src2_b64", 8, |a, b| a | b),
    ("ds_xor_src2_b64", 8, |a, b| a ^ b),
    ("ds_write_src2_b64", 8, |_, b| b),
    ("ds_min_src2_f64", 8, |a, b| if d(b) < d(a) { b } else { a }),
    ("ds_max_src2_f64", 8, |a, b| if d(b) > d(a) { b } else { a }),
];

/// The distance comes from the instruction, positive and negative, or from the address; one lane's operand is out of
/// range and reads as zero, one lane writes out of range, every fourth lane is inactive.
#[test]
fn second_operands_in_memory() {
    let mut random = Random(21);
    for cpu in ["gfx600", "gfx701", "gfx803", "gfx900", "gfx906", "gfx908"] {
        for (name, bytes, meaning) in SRC2 {
            let row = ROWS.iter().find(|r| r.name == name).expect("a row");
            if row.opcode_at(target(cpu).level()).is_none() {
                continue;
            }
            for (offset, gds) in [(512i32, false), (-300, false), (0x8000, false), (512, true)] {
                let share = if gds { " gds" } else { "" };
                let text = format!(
                    "{name} v0 offset:{}{share}",
                    offset & 0xffff & if offset < 0 { 0x7fff } else { !0 }
                );
                let machine = Machine::new(cpu, Simd::detect(), &text, SIZE);
                // Numbers that are far from NaN and denormals as floats, whatever their width.
                let memory: Vec<u8> = (0..SIZE)
                    .map(|i| {
                        if i % bytes == bytes - 1 {
                            0x40 + (random.next() % 2) as u8 * 0x80
                        } else {
                            random.edgy(8) as u8
                        }
                    })
                    .collect();
                fill(&machine, &memory);
                let mut wave = machine.wave();
                wave.set_sgpr(124, SIZE);
                let exec = 0x7777_7777_7777_7777u64;
                wave.set_exec(exec);
                let mut want = memory.clone();
                let get = |m: &[u8], at: i64| -> u64 {
                    let part = |at: i64| match usize::try_from(at) {
                        Ok(at) if at + 4 <= m.len() => {
                            u32::from_le_bytes(m[at..at + 4].try_into().unwrap()) as u64
                        }
                        _ => 0,
                    };
                    part(at) | if bytes == 8 { part(at + 4) << 32 } else { 0 }
                };
                for lane in 0..64i64 {
                    let to = match lane {
                        62 => SIZE as i64,
                        _ => 1280 + lane * bytes as i64,
                    };
                    let distance = match (offset, lane) {
                        (0x8000, 0) => -1000,
                        (0x8000, _) => 400 + lane * 2,
                        _ => offset as i64,
                    };
                    let high = if offset == 0x8000 { (distance as u32) << 17 } else { 0 };
                    wave.vgpr_mut(0).unwrap()[lane as usize] = to as u32 | high;
                    if exec >> lane & 1 == 0 || to + bytes as i64 > SIZE as i64 {
                        continue;
                    }
                    let (a, b) = (get(&want, to), get(&want, to + 4 * distance));
                    let new = meaning(a, b).to_le_bytes();
                    want[to as usize..(to + bytes as i64) as usize].copy_from_slice(&new[..bytes as usize]);
                }
                assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {text}");
                let lds = machine.group.lds.snapshot();
                let got = if gds {
                    machine.group.global.gds().snapshot()[..SIZE as usize].to_vec()
                } else {
                    lds.clone()
                };
                assert!(got == want, "{cpu} {text}");
                assert!(!gds || lds == memory, "{cpu} {text} touched LDS");
            }
        }
    }
}

/// Every instruction that may address GDS gives there what it gives in LDS.
#[test]
fn gds_is_like_lds() {
    let mut random = Random(22);
    for cpu in ["gfx600", "gfx701", "gfx803", "gfx900", "gfx906", "gfx908"] {
        let level = target(cpu).level();
        let mut seen = 0;
        for row in
            ROWS.iter().filter(|r| r.enc == Enc::Ds && r.has(flag::GDS) && r.opcode_at(level).is_some())
        {
            if row.has(flag::SWIZZLE) || row.name.contains("addtid") {
                continue;
            }
            let registers = |first: u16, n: u8| match n {
                1 => format!("v{first}"),
                n => format!("v[{first}:{}]", first + n as u16 - 1),
            };
            let operands: Vec<String> = row
                .operands
                .iter()
                .map(|o| match o.role {
                    Role::Vdst => registers(20, o.ty.dwords()),
                    Role::Addr => "v0".into(),
                    Role::Data0 => registers(4, o.ty.dwords()),
                    _ => registers(8, o.ty.dwords()),
                })
                .collect();
            let offsets = if row.has(flag::OFFSET2) { " offset0:1 offset1:3" } else { " offset:16" };
            let memory: Vec<u8> = (0..SIZE).map(|_| random.edgy(8) as u8).collect();
            let data: Vec<[u32; 64]> =
                (0..8).map(|_| std::array::from_fn(|_| random.edgy(32) as u32)).collect();
            let results = [false, true].map(|gds| {
                let text =
                    format!("{} {}{offsets}{}", row.name, operands.join(", "), if gds { " gds" } else { "" });
                let machine = Machine::new(cpu, Simd::detect(), &text, SIZE);
                fill(&machine, &memory);
                let mut wave = machine.wave();
                wave.set_sgpr(124, SIZE);
                wave.set_exec(0xffff_0fff_ffff_fffe);
                for lane in 0..64 {
                    wave.vgpr_mut(0).unwrap()[lane] = 16 * lane as u32 + if lane == 5 { SIZE } else { 0 };
                }
                for (i, d) in data.iter().enumerate() {
                    *wave.vgpr_mut(4 + i as u16).unwrap() = *d;
                }
                // Every other comparison finds what it looks for.
                for lane in (0..64).step_by(2).filter(|_| row.name.contains("cmpst")) {
                    for w in 0..2 {
                        let at = 16 * lane + 16 + 4 * w;
                        let word = u32::from_le_bytes(memory[at..at + 4].try_into().unwrap());
                        wave.vgpr_mut(4 + w as u16).unwrap()[lane] = word;
                    }
                }
                assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {text}");
                let share =
                    if gds { machine.group.global.gds().snapshot() } else { machine.group.lds.snapshot() };
                let out: Vec<[u32; 64]> = (20..24).map(|r| *wave.vgpr(r).unwrap()).collect();
                (share[..SIZE as usize].to_vec(), out)
            });
            assert!(results[0] == results[1], "{cpu} {}", row.name);
            assert!(
                results[0].0 != memory || results[0].1.iter().any(|r| *r != [0; 64]),
                "{cpu} {}",
                row.name
            );
            seen += 1;
        }
        assert!(seen > 100, "{cpu}: {seen}");
    }
}

/// The new value from memory, the first and the second datum, and the width.
type Combine = fn(u64, u64, u64, u32) -> u64;

/// Data-share atomics (manual 12.12).
const ATOMICS: [(&str, &str, Combine); 21] = [
    ("add", "u", |m, d, _, _| m.wrapping_add(d)),
    ("sub", "u", |m, d, _, _| m.wrapping_sub(d)),
    ("rsub", "u", |m, d, _, _| d.wrapping_sub(m)),
    ("inc", "u", |m, d, _, _| if m >= d { 0 } else { m + 1 }),
    ("dec", "u", |m, d, _, _| if m == 0 || m > d { d } else { m - 1 }),
    ("min", "i", |m, d, _, b| if signed(d, b) < signed(m, b) { d } else { m }),
    ("max", "i", |m, d, _, b| if signed(d, b) > signed(m, b) { d } else { m }),
    ("min", "u", |m, d, _, _| m.min(d)),
    ("max", "u", |m, d, _, _| m.max(d)),
    ("and", "b", |m, d, _, _| m & d),
    ("or", "b", |m, d, _, _| m | d),
    ("xor", "b", |m, d, _, _| m ^ d),
    ("mskor", "b", |m, d, e, _| m & !d | e),
    ("wrxchg", "b", |_, d, _, _| d),
    ("write", "b", |_, d, _, _| d),
    ("cmpst", "b", |m, d, e, _| if m == d { e } else { m }),
    ("cmpst", "f", |m, d, e, _| if m == d { e } else { m }),
    ("min", "f", |m, d, _, b| if value(d, b) < value(m, b) { d } else { m }),
    ("max", "f", |m, d, _, b| if value(d, b) > value(m, b) { d } else { m }),
    ("add", "f", |m, d, _, b| match b {
        32 => (f(m) + f(d)).to_bits() as u64,
        _ => (self::d(m) + self::d(d)).to_bits(),
    }),
    ("wrap", "b", |m, d, e, _| if m >= d { m - d } else { m.wrapping_add(e) }),
];

fn signed(x: u64, bits: u32) -> i64 {
    ((x << (64 - bits)) as i64) >> (64 - bits)
}

fn value(x: u64, bits: u32) -> f64 {
    if bits == 32 { f(x) as f64 } else { d(x) }
}

/// Every atomic on LDS, with and without a returned value; one lane is out of range, some are inactive.
#[test]
fn lds_atomics() {
    let mut random = Random(23);
    for cpu in ["gfx600", "gfx701", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a"] {
        let level = target(cpu).level();
        let mut seen = 0;
        for (stem, kind, meaning) in ATOMICS {
            for bits in [32u32, 64] {
                for rtn in ["", "_rtn"] {
                    let name = format!("ds_{stem}{rtn}_{kind}{bits}");
                    let Some(row) = ROWS.iter().find(|r| r.name == name && r.opcode_at(level).is_some())
                    else {
                        continue;
                    };
                    let (bytes, float) = (bits as usize / 8, kind == "f");
                    let registers = |first: usize| match bytes {
                        4 => format!("v{first}"),
                        _ => format!("v[{first}:{}]", first + 1),
                    };
                    let mut operands = Vec::new();
                    if !rtn.is_empty() {
                        operands.push(registers(20));
                    }
                    operands.push("v0".into());
                    operands.push(registers(4));
                    if row.operand(Role::Data1).is_some() {
                        operands.push(registers(6));
                    }
                    let text = format!("{name} {} offset:16", operands.join(", "));
                    let machine = Machine::new(cpu, Simd::detect(), &text, SIZE);
                    let mut number = || {
                        let r = random.edgy(bits);
                        let top = bits - 8;
                        if float { r & !(0xff << top) | (0x40 | r & 0x80) << top } else { r }
                    };
                    let memory: Vec<u8> = (0..SIZE as usize / bytes)
                        .flat_map(|_| number().to_le_bytes()[..bytes].to_vec())
                        .collect();
                    fill(&machine, &memory);
                    let mut wave = machine.wave();
                    wave.set_sgpr(124, SIZE);
                    let exec = 0x7fff_ffff_fff0_ffff;
                    wave.set_exec(exec);
                    let mut want = memory.clone();
                    let mut returned = [0u64; 64];
                    for (lane, returned) in returned.iter_mut().enumerate() {
                        let at = if lane == 40 { SIZE as usize - 16 } else { lane * bytes };
                        wave.vgpr_mut(0).unwrap()[lane] = at as u32;
                        let place = at + 16..at + 16 + bytes;
                        let inside = place.end <= SIZE as usize;
                        let mut m = [0; 8];
                        if inside {
                            m[..bytes].copy_from_slice(&memory[place.clone()]);
                        }
                        let m = u64::from_le_bytes(m);
                        let (mut a, b) = (number(), number());
                        if stem == "cmpst" && lane % 2 == 0 {
                            a = m;
                        }
                        for i in 0..bytes / 4 {
                            wave.vgpr_mut(4 + i as u16).unwrap()[lane] = (a >> (32 * i)) as u32;
                            wave.vgpr_mut(6 + i as u16).unwrap()[lane] = (b >> (32 * i)) as u32;
                        }
                        if exec >> lane & 1 == 0 {
                            continue;
                        }
                        *returned = m;
                        if inside {
                            want[place].copy_from_slice(&meaning(m, a, b, bits).to_le_bytes()[..bytes]);
                        }
                    }
                    assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {text}");
                    assert!(machine.group.lds.snapshot() == want, "{cpu} {text}");
                    for (lane, want) in returned.into_iter().enumerate().filter(|_| !rtn.is_empty()) {
                        for i in 0..bytes / 4 {
                            let got = wave.vgpr(20 + i as u16).unwrap()[lane];
                            assert_eq!(got, (want >> (32 * i)) as u32, "{cpu} {text} lane {lane}");
                        }
                    }
                    seen += 1;
                }
            }
        }
        assert!(seen >= 70, "{cpu}: {seen}");
    }
}
