//! Image instructions: every format, kind of image, atomic and sample, against addresses and numbers computed here.

use crate::harness::{Machine, Random, registers, target};
use crate::reference::{Access, access, apply, operand};
use crate::texels;
use wavemill_isa::{Enc, ROWS, Role, Row};
use wavemill_wave::{Event, FaultKind, Simd, Wave};

pub const CPUS: [&str; 7] = ["gfx600", "gfx701", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a"];
const IDENTITY: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;

/// A resource, in the manual's fields.
#[derive(Clone, Copy)]
pub struct Resource {
    pub base: u64,
    pub kind: u32,
    pub dfmt: u32,
    pub nfmt: u32,
    pub size: [u32; 3],
    pub pitch: u32,
    pub slices: [u32; 2],
    pub levels: [u32; 2],
    pub select: u32,
    pub tiling: Option<u32>,
}

impl Resource {
    pub fn new(base: u64, kind: u32, dfmt: u32, nfmt: u32, size: [u32; 3]) -> Resource {
        Resource {
            base,
            kind,
            dfmt,
            nfmt,
            size,
            pitch: size[0],
            slices: [0, 0],
            levels: [0, 0],
            select: IDENTITY,
            tiling: None,
        }
    }

    pub fn words(&self, cpu: &str) -> [u32; 8] {
        let gfx9 = cpu.starts_with("gfx9");
        let linear = if gfx9 { 0 } else { 8 };
        let [w, h, d] = self.size.map(|n| n - 1);
        let depth = match (self.kind, gfx9) {
            (10, _) => d,
            (_, true) => self.slices[1],
            _ => 0,
        };
        [
            (self.base >> 8) as u32,
            (self.base >> 40) as u32 | self.dfmt << 20 | self.nfmt << 26,
            w | h << 14,
            self.select
                | self.levels[0] << 12
                | self.levels[1] << 16
                | self.tiling.unwrap_or(linear) << 20
                | self.kind << 28,
            depth | (self.pitch - 1) << 13,
            self.slices[0] | if gfx9 { self.levels[1] << 28 } else { self.slices[1] << 13 },
            0,
            0,
        ]
    }

    pub fn set(&self, wave: &mut Wave, cpu: &str) {
        for (i, w) in self.words(cpu).into_iter().enumerate() {
            wave.set_sgpr(8 + i as u32, w);
        }
    }
}

/// Guest memory at a multiple of 256.
pub fn memory(machine: &mut Machine, bytes: &[u8]) -> u64 {
    let mut all = vec![0; bytes.len() + 512];
    let address = machine.buffer(&all);
    let skip = (address.next_multiple_of(256) - address) as usize;
    all[skip..skip + bytes.len()].copy_from_slice(bytes);
    // SAFETY: the buffer has this many bytes, and no wave runs.
    unsafe { std::ptr::copy_nonoverlapping(all.as_ptr(), address as *mut u8, all.len()) };
    address + skip as u64
}

const FORMATS: [(u32, &str); 22] = [
    (1, "8"),
    (2, "16"),
    (3, "8_8"),
    (4, "32"),
    (5, "16_16"),
    (6, "10_11_11"),
    (7, "11_11_10"),
    (8, "10_10_10_2"),
    (9, "2_10_10_10"),
    (10, "8_8_8_8"),
    (11, "32_32"),
    (12, "16_16_16_16"),
    (13, "32_32_32"),
    (14, "32_32_32_32"),
    (16, "5_6_5"),
    (17, "1_5_5_5"),
    (18, "5_5_5_1"),
    (19, "4_4_4_4"),
    (20, "8_24"),
    (21, "24_8"),
    (57, "4_4"),
    (58, "6_5_5"),
];

fn srgb(raw: u32, width: u32) -> f64 {
    let x = raw as f64 / ((1u64 << width) - 1) as f64;
    if x <= 0.04045 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
}

fn nan(x: u32) -> bool {
    x & 0x7fff_ffff > 0x7f80_0000
}

/// Every format: loads of all components, of some, as 16 bits, with a status; blue and red exchanged by the resource.
#[test]
fn loads_of_every_format() {
    let mut random = Random(31);
    for cpu in CPUS {
        for (dfmt, name) in FORMATS {
            for nfmt in [0, 1, 2, 3, 4, 5, 7, 9] {
                if !texels::exists(name, nfmt) {
                    continue;
                }
                let widths = texels::widths(name);
                let bytes = widths.iter().sum::<u32>() as usize / 8;
                let mut text = String::from(
                    "image_load v[4:7], v[0:1], s[8:15] dmask:0xf unorm\nimage_load v[8:9], v[0:1], s[8:15] dmask:0x9 unorm\n",
                );
                let d16 = !matches!(cpu, "gfx600" | "gfx701");
                if d16 {
                    let to = if cpu == "gfx803" { "v[12:15]" } else { "v[12:13]" };
                    text += &format!("image_load {to}, v[0:1], s[8:15] dmask:0xf unorm d16\n");
                }
                if cpu != "gfx90a" {
                    text += "image_load v[16:17], v[0:1], s[8:15] dmask:0x2 unorm tfe\n";
                }
                let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
                let data: Vec<u8> = (0..64 * 4 * bytes).map(|_| random.edgy(8) as u8).collect();
                let base = memory(&mut machine, &data);
                let mut wave = machine.wave();
                let select = 6 | 5 << 3 | 4 << 6 | 7 << 9;
                Resource { pitch: 64, select, ..Resource::new(base, 9, dfmt, nfmt, [15, 4, 1]) }
                    .set(&mut wave, cpu);
                for lane in 0..64 {
                    wave.vgpr_mut(0).unwrap()[lane] = lane as u32 % 16;
                    wave.vgpr_mut(1).unwrap()[lane] = lane as u32 / 16;
                    wave.vgpr_mut(17).unwrap()[lane] = 7;
                }
                assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {name} {nfmt}");
                let one = if texels::is_integer(nfmt) { 1 } else { 1f32.to_bits() };
                for lane in 0..64 {
                    let at = (lane / 16 * 64 + lane % 16) * bytes;
                    let mut want = if nfmt == 9 {
                        let raw = texels::decode(&data[at..at + bytes], name, 4);
                        std::array::from_fn(|i| match widths.get(i) {
                            Some(w) if i < 3 => (srgb(raw[i], *w) as f32).to_bits(),
                            Some(w) => texels::load(raw[i], *w, 0),
                            None => 0,
                        })
                    } else {
                        texels::decode(&data[at..at + bytes], name, nfmt)
                    };
                    if widths.len() < 4 {
                        want[3] = one;
                    }
                    want.swap(0, 2);
                    if lane % 16 == 15 {
                        want = [0; 4]; // beyond the width
                    }
                    let same = |got: u32, want: u32| {
                        let near = nfmt == 9 && got.abs_diff(want) <= 1;
                        got == want || near || nfmt == 7 && nan(got) && nan(want)
                    };
                    let get = |r: u16| wave.vgpr(r).unwrap()[lane];
                    for (i, want) in want.into_iter().enumerate() {
                        let got = get(4 + i as u16);
                        assert!(same(got, want), "{cpu} {name} {nfmt} {lane} {i}: {got:#x} {want:#x}");
                    }
                    assert!(
                        same(get(8), want[0]) && same(get(9), want[3]),
                        "{cpu} {name} {nfmt} {lane} mask"
                    );
                    if d16 {
                        for (i, want) in want.into_iter().enumerate() {
                            let got = match cpu {
                                "gfx803" => get(12 + i as u16),
                                _ => get(12 + i as u16 / 2) >> (16 * (i % 2)) & 0xffff,
                            };
                            let half = if texels::is_integer(nfmt) {
                                want & 0xffff
                            } else {
                                texels::single_to_half(want)
                            };
                            let both_nan = got & 0x7fff > 0x7c00 && half & 0x7fff > 0x7c00;
                            assert!(
                                got == half || nfmt == 9 && got.abs_diff(half) <= 1 || both_nan,
                                "{cpu} {name} {nfmt} {lane} d16 {i}: {got:#x} {half:#x}"
                            );
                        }
                    }
                    if cpu != "gfx90a" {
                        assert!(same(get(16), want[1]) && get(17) == 0, "{cpu} {name} {nfmt} {lane} tfe");
                    }
                }
            }
        }
    }
}

/// Stores: all components, and some, the missing ones zero; nothing beyond the image.
#[test]
fn stores_of_every_format() {
    let mut random = Random(32);
    for cpu in CPUS {
        for (dfmt, name) in FORMATS {
            for nfmt in [0, 1, 2, 3, 4, 5, 7] {
                if !texels::exists(name, nfmt) {
                    continue;
                }
                let bytes = texels::widths(name).iter().sum::<u32>() as usize / 8;
                let d16 = !matches!(cpu, "gfx600" | "gfx701");
                for form in 0..=2 {
                    let text = match form {
                        0 => "image_store v[4:7], v[0:1], s[8:15] dmask:0xf unorm",
                        1 => "image_store v[4:5], v[0:1], s[8:15] dmask:0xa unorm",
                        _ if !d16 => continue,
                        _ if cpu == "gfx803" => "image_store v[4:7], v[0:1], s[8:15] dmask:0xf unorm d16",
                        _ => "image_store v[4:5], v[0:1], s[8:15] dmask:0xf unorm d16",
                    };
                    let mut machine = Machine::new(cpu, Simd::detect(), text, 0);
                    let before = vec![0xa5; 64 * 4 * bytes];
                    let base = memory(&mut machine, &before);
                    let mut wave = machine.wave();
                    Resource { pitch: 64, ..Resource::new(base, 9, dfmt, nfmt, [15, 4, 1]) }
                        .set(&mut wave, cpu);
                    let mut want = before.clone();
                    for lane in 0..64 {
                        wave.vgpr_mut(0).unwrap()[lane] = lane as u32 % 16;
                        wave.vgpr_mut(1).unwrap()[lane] = lane as u32 / 16;
                        for r in 4..8 {
                            let r32 = random.edgy(32) as u32;
                            let float = (random.next() as i16 as f32 / 16384.0).to_bits();
                            let v = if texels::is_integer(nfmt) || random.next().is_multiple_of(4) {
                                r32
                            } else {
                                float
                            };
                            wave.vgpr_mut(r).unwrap()[lane] = v;
                        }
                        let get = |i: usize| wave.vgpr(4 + i as u16).unwrap()[lane];
                        let widen = |half: u32| match nfmt {
                            4 => half & 0xffff,
                            5 => half as u16 as i16 as i32 as u32,
                            _ => texels::load(half & 0xffff, 16, 7),
                        };
                        let values = match form {
                            0 => std::array::from_fn(get),
                            1 => [0, get(0), 0, get(1)],
                            _ if cpu == "gfx803" => std::array::from_fn(|i| widen(get(i))),
                            _ => std::array::from_fn(|i| widen(get(i / 2) >> (16 * (i % 2)))),
                        };
                        if lane % 16 < 15 {
                            let at = (lane / 16 * 64 + lane % 16) * bytes;
                            want[at..at + bytes].copy_from_slice(&texels::encode(values, name, nfmt));
                        }
                    }
                    assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {name} {nfmt}");
                    let got = machine.read(base, want.len());
                    let bad = got.iter().zip(&want).position(|(a, b)| a != b);
                    assert_eq!(bad, None, "{cpu} {name} {nfmt} {text}");
                }
            }
        }
    }
}

/// Shared exponents: the decoding is the definition; encoding and decoding again gives numbers within half a step.
#[test]
fn shared_exponents() {
    let text =
        "image_load v[4:7], v0, s[8:15] dmask:0xf unorm\nimage_store v[8:10], v0, s[16:23] dmask:0x7 unorm";
    let mut machine = Machine::new("gfx900", Simd::detect(), text, 0);
    let mut random = Random(33);
    let data: Vec<u8> = (0..256).map(|_| random.next() as u8).collect();
    let (base, out) = (memory(&mut machine, &data), memory(&mut machine, &[0; 256]));
    let mut wave = machine.wave();
    let resource = Resource::new(base, 8, 34, 7, [64, 1, 1]);
    resource.set(&mut wave, "gfx900");
    for (i, w) in (Resource { base: out, ..resource }).words("gfx900").into_iter().enumerate() {
        wave.set_sgpr(16 + i as u32, w);
    }
    for lane in 0..64 {
        wave.vgpr_mut(0).unwrap()[lane] = lane as u32;
        for r in 8..11 {
            let x = random.next() as i32 as f32 / [1e3, 1e5, 1e9, 1e14][lane % 4];
            wave.vgpr_mut(r).unwrap()[lane] = x.to_bits();
        }
    }
    assert_eq!(machine.run(&mut wave), Event::End);
    let decode = |word: u32| -> [f64; 3] {
        let scale = 2f64.powi((word >> 27) as i32 - 15 - 9);
        [0, 9, 18].map(|at| (word >> at & 511) as f64 * scale)
    };
    let stored = machine.read(out, 256);
    for lane in 0..64 {
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes[4 * lane..4 * lane + 4].try_into().unwrap());
        for (i, want) in decode(word(&data)).into_iter().enumerate() {
            assert_eq!(f32::from_bits(wave.vgpr(4 + i as u16).unwrap()[lane]) as f64, want);
        }
        assert_eq!(wave.vgpr(7).unwrap()[lane], 1f32.to_bits());
        let got = decode(word(&stored));
        let step = 2f64.powi((word(&stored) >> 27) as i32 - 24);
        for (i, got) in got.into_iter().enumerate() {
            let x = f32::from_bits(wave.vgpr(8 + i as u16).unwrap()[lane]) as f64;
            let x = x.clamp(0.0, 65408.0);
            assert!((got - x).abs() <= step / 2.0, "lane {lane}: {x} became {got}");
        }
    }
}

/// Texels of kinds of images, with slices that begin elsewhere than at 0, and levels: the value is the texel's number.
#[test]
fn kinds_slices_and_levels() {
    let mut random = Random(34);
    // Kind, its address registers without slice, whether it has slices.
    let kinds = [(8, 1, false), (12, 1, true), (9, 2, false), (13, 2, true), (10, 3, false), (11, 2, true)];
    for cpu in CPUS {
        for (kind, dims, layered) in kinds {
            for mip in [false, true] {
                let size = [20u32, if dims > 1 { 12 } else { 1 }, if kind == 10 { 6 } else { 1 }];
                let (first, last) = if layered { (2u32, 13) } else { (0, 0) };
                // gfx90a's instructions with a level may only name level 0 (manual 12.15).
                let levels = if mip && cpu != "gfx90a" { [1, 3] } else { [0, 0] };
                // GFX9's levels lie below one another in each slice, each half as high, and the pitch is their height.
                let chained = cpu.starts_with("gfx9") && levels[1] > 0;
                let heights: Vec<u32> = std::iter::successors(Some(size[1]), |h| Some(h.div_ceil(2)))
                    .take(levels[1] as usize + 1)
                    .collect();
                let n = dims + layered as usize + mip as usize;
                let registers = if n == 1 { "v0".to_string() } else { format!("v[0:{}]", n - 1) };
                let op = if mip { "image_load_mip" } else { "image_load" };
                let da = if layered { " da" } else { "" };
                let text = format!("{op} v8, {registers}, s[8:15] dmask:1 unorm{da}");
                let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
                let data: Vec<u8> = (0..80_000u32).flat_map(u32::to_le_bytes).collect();
                let base = memory(&mut machine, &data);
                let mut wave = machine.wave();
                Resource {
                    pitch: if chained { heights.iter().sum() } else { 64 },
                    slices: [first, last],
                    levels,
                    ..Resource::new(base, kind, 4, 4, size)
                }
                .set(&mut wave, cpu);
                let mut want = [0u32; 64];
                for (lane, want) in want.iter_mut().enumerate() {
                    let mut at = [0u32; 3];
                    for (i, a) in at.iter_mut().enumerate().take(dims) {
                        *a = match lane {
                            9 => 0xffff_fff0,
                            _ => random.next() as u32 % (size[i] + 1),
                        };
                        wave.vgpr_mut(i as u16).unwrap()[lane] = *a;
                    }
                    let slice = random.next() as u32 % 14;
                    let level = random.next() as u32 % 4;
                    let mut r = dims as u16;
                    if layered {
                        wave.vgpr_mut(r).unwrap()[lane] = slice;
                        r += 1;
                    }
                    if mip {
                        wave.vgpr_mut(r).unwrap()[lane] = level;
                    }
                    let slice = if layered { slice } else { 0 };
                    let level = if mip { level } else { 0 };
                    if level + levels[0] > levels[1] || slice + first > last {
                        continue;
                    }
                    let level = level + levels[0];
                    let shrunk = size.map(|n| (n >> level).max(1));
                    if (0..3).any(|i| at[i] >= shrunk[i]) {
                        continue;
                    }
                    if chained {
                        let before: u32 = heights[..level as usize].iter().sum();
                        let rows = (slice + first + at[2]) * heights.iter().sum::<u32>() + before;
                        *want = (rows + at[1]) * 64 + at[0];
                        continue;
                    }
                    // Rows of 64 texels at level 0 are of 256 bytes; so are the smaller levels' ones.
                    let slices = if layered { last + 1 } else { 1 };
                    let before: u32 =
                        (0..level).map(|l| 64 * (size[1] >> l).max(1) * (size[2] >> l).max(1) * slices).sum();
                    *want = before + ((slice + first + at[2]) * shrunk[1] + at[1]) * 64 + at[0];
                    if !layered {
                        *want = before + (at[2] * shrunk[1] + at[1]) * 64 + at[0];
                    }
                }
                assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {text}");
                assert_eq!(wave.vgpr(8).unwrap(), &want, "{cpu} {kind} {text}");
            }
        }
    }
}

/// Texels as they are: a dword of small texels, extended with zeros or their sign; and back.
#[test]
fn packed_texels() {
    let mut random = Random(35);
    for cpu in CPUS {
        for (dfmt, bytes) in [(1u32, 1usize), (2, 2), (3, 2), (10, 4), (12, 8), (14, 16)] {
            let n = bytes.div_ceil(4);
            let (mask, to) = ((1 << n) - 1, if n == 1 { "v4".into() } else { format!("v[4:{}]", 3 + n) });
            for signed in ["", "_sgn"] {
                let mut text = format!("image_load_pck{signed} {to}, v0, s[8:15] dmask:{mask} unorm\n");
                text += &format!(
                    "image_load_mip_pck{signed} {}, v[0:1], s[8:15] dmask:{mask} unorm\n",
                    to.replace("v4", "v8")
                        .replace("[4:", "[8:")
                        .replace(&format!(":{}]", 3 + n), &format!(":{}]", 7 + n))
                );
                text += &format!("image_store_pck {to}, v0, s[16:23] dmask:{mask} unorm\n");
                text += &format!("image_store_mip_pck {to}, v[0:1], s[24:31] dmask:{mask} unorm\n");
                let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
                let data: Vec<u8> = (0..64 * bytes).map(|_| random.next() as u8).collect();
                let base = memory(&mut machine, &data);
                let outs =
                    [memory(&mut machine, &vec![0; 64 * bytes]), memory(&mut machine, &vec![0; 64 * bytes])];
                let mut wave = machine.wave();
                let resource = Resource { pitch: 256, ..Resource::new(base, 8, dfmt, 0, [64, 1, 1]) };
                resource.set(&mut wave, cpu);
                for (out, first) in outs.into_iter().zip([16, 24]) {
                    for (i, w) in (Resource { base: out, ..resource }).words(cpu).into_iter().enumerate() {
                        wave.set_sgpr(first + i as u32, w);
                    }
                }
                for lane in 0..64 {
                    wave.vgpr_mut(0).unwrap()[lane] = lane as u32;
                }
                assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {text}");
                for lane in 0..64 {
                    let texel = &data[lane * bytes..(lane + 1) * bytes];
                    for i in 0..n {
                        let mut word = [0u8; 4];
                        let part = &texel[4 * i..texel.len().min(4 * i + 4)];
                        if !signed.is_empty() && part[part.len() - 1] >= 0x80 {
                            word = [0xff; 4];
                        }
                        word[..part.len()].copy_from_slice(part);
                        let want = u32::from_le_bytes(word);
                        for first in [4, 8] {
                            assert_eq!(
                                wave.vgpr(first + i as u16).unwrap()[lane],
                                want,
                                "{cpu} {text} {lane}"
                            );
                        }
                    }
                }
                for out in outs {
                    assert_eq!(machine.read(out, data.len()), data, "{cpu} {text}");
                }
            }
        }
    }
}

#[test]
fn atomics() {
    let mut random = Random(36);
    for cpu in CPUS {
        let level = target(cpu).level();
        for row in ROWS.iter().filter(|r| r.enc == Enc::Mimg && r.opcode_at(level).is_some()) {
            let Some(Access::Atomic(op, _)) = access(row) else { continue };
            let (name, compares) = (row.name, op.ends_with("cmpswap"));
            for bytes in [4usize, 8] {
                for glc in [false, true] {
                    let n = bytes / 4 * if compares { 2 } else { 1 };
                    let registers = registers('v', 4, n);
                    let mask = (1 << n) - 1;
                    let suffix = if glc { " glc" } else { "" };
                    let text = format!("{name} {registers}, v0, s[8:15] dmask:{mask:#x} unorm{suffix}");
                    let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
                    let mut number = || operand(&mut random, op, bytes);
                    let data: Vec<u8> =
                        (0..64).flat_map(|_| number().to_le_bytes()[..bytes].to_vec()).collect();
                    let base = memory(&mut machine, &data);
                    let mut wave = machine.wave();
                    let dfmt = if bytes == 4 { 4 } else { 11 };
                    Resource { pitch: 64, ..Resource::new(base, 8, dfmt, 4, [60, 1, 1]) }.set(&mut wave, cpu);
                    let mut want = data.clone();
                    let mut returned = Vec::new();
                    for lane in 0..64 {
                        wave.vgpr_mut(0).unwrap()[lane] = 63 - lane as u32;
                        let at = (63 - lane) * bytes..(64 - lane) * bytes;
                        let mut m = [0; 8];
                        m[..bytes].copy_from_slice(&data[at.clone()]);
                        let m = u64::from_le_bytes(m);
                        let (d, c) = (number(), if lane % 2 == 0 { m } else { number() });
                        for i in 0..bytes / 4 {
                            wave.vgpr_mut(4 + i as u16).unwrap()[lane] = (d >> (32 * i)) as u32;
                            if compares {
                                let r = 4 + (bytes / 4 + i) as u16;
                                wave.vgpr_mut(r).unwrap()[lane] = (c >> (32 * i)) as u32;
                            }
                        }
                        let inside = 63 - lane < 60;
                        if inside {
                            let new = apply(op, bytes, m, d, c).to_le_bytes();
                            want[at].copy_from_slice(&new[..bytes]);
                        }
                        returned.push(match (glc, inside) {
                            (false, _) => d,
                            (true, true) => m,
                            (true, false) => 0,
                        });
                    }
                    assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {text}");
                    assert_eq!(machine.read(base, data.len()), want, "{cpu} {text}");
                    for (lane, want) in returned.into_iter().enumerate() {
                        for i in 0..bytes / 4 {
                            let got = wave.vgpr(4 + i as u16).unwrap()[lane];
                            assert_eq!(got, (want >> (32 * i)) as u32, "{cpu} {text} {lane}");
                        }
                    }
                }
            }
        }
    }
}

/// Sizes of views, at their levels and beyond; tiled and multisampled images have sizes, too.
#[test]
fn sizes() {
    // Kind, levels, what a view of slices 1 to 12 has at its second level.
    let cases: [(u32, [u32; 2], [u32; 4]); 8] = [
        (8, [1, 4], [25, 1, 1, 4]),
        (9, [1, 4], [25, 15, 1, 4]),
        (10, [1, 4], [25, 15, 10, 4]),
        (11, [1, 4], [25, 15, 12, 4]),
        (12, [1, 4], [25, 1, 12, 4]),
        (13, [0, 4], [50, 30, 12, 5]),
        (14, [0, 2], [0, 0, 0, 1]),
        (15, [0, 2], [0, 0, 0, 1]),
    ];
    for cpu in CPUS {
        for (kind, levels, want) in cases {
            let text = "image_get_resinfo v[4:7], v0, s[8:15] dmask:0xf unorm\n\
                        image_get_resinfo v[8:9], v0, s[8:15] dmask:0xa unorm";
            let machine = Machine::new(cpu, Simd::detect(), text, 0);
            let mut wave = machine.wave();
            Resource {
                slices: [1, 12],
                levels,
                tiling: Some(5),
                ..Resource::new(0, kind, 10, 0, [100, 60, 40])
            }
            .set(&mut wave, cpu);
            wave.vgpr_mut(0).unwrap()[..4].copy_from_slice(&[1, 0, 9, 0x8000_0000]);
            wave.set_exec(0xf);
            assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {kind}");
            let got = |first: u16, lane: usize| -> [u32; 4] {
                std::array::from_fn(|i| wave.vgpr(first + i as u16).unwrap()[lane])
            };
            assert_eq!(got(4, 0), want, "{cpu} {kind}");
            assert_eq!(got(8, 0)[..2], [want[1], want[3]], "{cpu} {kind}");
            for lane in [2, 3] {
                assert_eq!(got(4, lane), [0, 0, 0, want[3]], "{cpu} {kind}");
            }
            if kind == 14 {
                assert_eq!(got(4, 1), [100, 60, 1, 1], "{cpu} {kind}");
            }
            assert_eq!(got(4, 4), [0; 4], "{cpu} {kind}: inactive");
        }
    }
}

/// Resources that are not there give zeros, those that cannot be used a fault that says why.
#[test]
fn unusable_resources() {
    for cpu in CPUS {
        let text = "image_load v[4:7], v[0:1], s[8:15] dmask:0xf unorm\n\
                    image_store v[8:11], v[0:1], s[8:15] dmask:0xf unorm\n\
                    image_atomic_add v12, v[0:1], s[8:15] dmask:1 unorm glc\n\
                    image_get_resinfo v[16:19], v0, s[8:15] dmask:0xf unorm\n\
                    image_sample v[20:23], v[0:1], s[8:15], s[16:19] dmask:0xf";
        let machine = Machine::new(cpu, Simd::detect(), text, 0);
        let mut wave = machine.wave();
        (4..24).for_each(|r| *wave.vgpr_mut(r).unwrap() = [7; 64]);
        wave.set_exec(1);
        assert_eq!(machine.run(&mut wave), Event::End, "{cpu}");
        for r in (4..8).chain(12..13).chain(16..24) {
            assert_eq!(wave.vgpr(r).unwrap()[..2], [0, 7], "{cpu} v{r}");
        }
        let load = |resource: Resource, text: &str| -> FaultKind {
            let machine = Machine::new(cpu, Simd::detect(), text, 0);
            let mut wave = machine.wave();
            resource.set(&mut wave, cpu);
            match machine.run(&mut wave) {
                Event::Fault(f) => f.kind,
                e => panic!("{cpu}: {e:?}"),
            }
        };
        let plain = Resource::new(0x10000, 9, 10, 0, [64, 64, 1]);
        let text = "image_load v[4:7], v[0:1], s[8:15] dmask:0xf unorm";
        let refused = |kind: FaultKind, word: &str| match kind {
            FaultKind::Descriptor { what } => assert!(what.contains(word), "{what}"),
            k => panic!("{cpu}: {k:?}"),
        };
        // With XOR, and with macro tiles; of one dimension; of several levels; 96-bit elements.
        let tile = if cpu.starts_with("gfx9") { 1 } else { 13 };
        // The names are those of AMD's address library; before GFX9 the number is a row of a table that a driver sets up.
        let named = |name: &'static str| if cpu.starts_with("gfx9") { name } else { "tiled" };
        refused(load(Resource { tiling: Some(25), ..plain }, text), named("SW_64KB_S_X, which XORs"));
        refused(load(Resource { tiling: Some(14), ..plain }, text), named("SW_VAR_D"));
        refused(load(Resource { tiling: Some(tile), kind: 8, ..plain }, text), "tiled");
        refused(load(Resource { tiling: Some(tile), levels: [0, 3], ..plain }, text), "tiled");
        refused(load(Resource { tiling: Some(tile), dfmt: 13, nfmt: 4, ..plain }, text), "tiled");
        refused(load(Resource { kind: 14, ..plain }, text), "multisampled");
        refused(load(Resource { kind: 3, ..plain }, text), "not an image");
        refused(load(Resource { dfmt: 42, ..plain }, text), "format");
        refused(load(Resource { nfmt: 8, ..plain }, text), "format");
        refused(load(plain, "image_atomic_add v[4:5], v[0:1], s[8:15] dmask:3 unorm"), "atomic");
        assert_eq!(load(plain, text), FaultKind::Read { bytes: 4 });
        assert_eq!(
            load(plain, "image_store v4, v[0:1], s[8:15] dmask:1 unorm"),
            FaultKind::Write { bytes: 4 }
        );
    }
}

/// A 128-bit resource has neither pitch nor slices; 16-bit addresses pack two to a register.
#[test]
fn short_resources_and_addresses() {
    for cpu in CPUS {
        let gfx9 = cpu.starts_with("gfx9");
        let text = match gfx9 {
            true => "image_load v8, v0, s[8:15] dmask:1 unorm a16",
            false => "image_load v8, v[0:1], s[8:15] dmask:1 unorm r128",
        };
        let mut machine = Machine::new(cpu, Simd::detect(), text, 0);
        let data: Vec<u8> = (0..4096u32).flat_map(u32::to_le_bytes).collect();
        let base = memory(&mut machine, &data);
        let mut wave = machine.wave();
        Resource::new(base, 9, 4, 4, [64, 64, 1]).set(&mut wave, cpu);
        if !gfx9 {
            (12..16).for_each(|r| wave.set_sgpr(r, !0));
        }
        for lane in 0..64u32 {
            let (x, y) = (lane, 63 - lane);
            wave.vgpr_mut(0).unwrap()[lane as usize] = if gfx9 { x | y << 16 } else { x };
            wave.vgpr_mut(1).unwrap()[lane as usize] = y;
        }
        assert_eq!(machine.run(&mut wave), Event::End, "{cpu}");
        let want: [u32; 64] = std::array::from_fn(|l| (63 - l as u32) * 64 + l as u32);
        assert_eq!(wave.vgpr(8).unwrap(), &want, "{cpu}");
    }
}

/// The rows of sampling instructions on a processor.
pub fn sample_rows(cpu: &str) -> impl Iterator<Item = &'static Row> {
    let level = target(cpu).level();
    ROWS.iter().filter(move |r| {
        r.enc == Enc::Mimg
            && r.opcode_at(level).is_some()
            && (r.name.starts_with("image_sample") || r.name.starts_with("image_gather4"))
    })
}

/// Whatever stands in descriptors and registers, an instruction ends or faults; nothing outside the image's memory is
/// written.
#[test]
fn random_descriptors() {
    let mut random = Random(37);
    for cpu in CPUS {
        let level = target(cpu).level();
        let rows: Vec<&Row> =
            ROWS.iter().filter(|r| r.enc == Enc::Mimg && r.opcode_at(level).is_some()).collect();
        for round in 0..400 {
            let row = rows[random.next() as usize % rows.len()];
            let gathers = row.name.contains("gather4");
            let mask: u64 = match row.name {
                _ if gathers => 1 << (random.next() % 4),
                n if n.contains("cmpswap") => [3, 15][random.next() as usize % 2],
                n if n.contains("atomic") => [1, 3][random.next() as usize % 2],
                _ => 1 + random.next() % 15,
            };
            let n = if gathers { 4 } else { mask.count_ones() };
            let data = if n == 1 { "v20".to_string() } else { format!("v[20:{}]", 19 + n) };
            let widest = (0..16).rev().find(|n| row.addr >> n & 1 != 0).unwrap();
            let address = if widest == 0 { "v0".to_string() } else { format!("v[0:{widest}]") };
            let sampler = if row.operand(Role::Ssamp).is_some() { ", s[16:19]" } else { "" };
            // Without a sampler coordinates are never normalised.
            let mut text = format!("{} {data}, {address}, s[8:15]{sampler} dmask:{mask:#x}", row.name);
            for modifier in [" unorm", " glc", " da"] {
                if random.next().is_multiple_of(2) {
                    text += modifier;
                }
            }
            let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
            let base = memory(&mut machine, &vec![0x11; 1 << 16]);
            let mut wave = machine.wave();
            // Nobody looks at the results.
            wave.observer = None;
            let mut r = || random.next() as u32;
            for s in 8..20 {
                wave.set_sgpr(s, r());
            }
            // Mostly a linear or tiled image of a known kind and format that may well reach beyond its memory.
            if round % 8 != 0 {
                let tiling = if r() % 4 == 0 { Some(r() % 16) } else { None };
                let size = [1 + r() % 40, 1 + r() % 40, 1 + r() % 12];
                let (first, low) = (r() % 4, r() % 3);
                Resource {
                    pitch: 64,
                    slices: [first, r() % 8],
                    levels: [low, r() % 5],
                    select: r() & 0xfff,
                    tiling,
                    ..Resource::new(base, 8 + r() % 8, 1 + r() % 42, r() % 10, size)
                }
                .set(&mut wave, cpu);
            }
            for v in 0..32 {
                let lanes = wave.vgpr_mut(v).unwrap();
                lanes.iter_mut().for_each(|l| {
                    *l = match r() % 4 {
                        0 => r() % 8,
                        1 => (r() as i32 as f32 / 2e9).to_bits(),
                        2 => r(),
                        _ => [0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7f7f_ffff, 0x8000_0000]
                            [r() as usize % 5],
                    }
                });
            }
            let event = machine.run(&mut wave);
            assert!(matches!(event, Event::End | Event::Fault(_)), "{cpu} {text}: {event:?}");
        }
    }
}

/// Compressed blocks, with palettes computed here in 64 bits of fraction: every code of random blocks, on every kind.
#[test]
fn compressed_texels() {
    let mut random = Random(38);
    let color = |block: u64, at: usize, punch: bool| -> [f64; 4] {
        let expand = |e: u64| [(e >> 11) as f64 / 31.0, (e >> 5 & 63) as f64 / 63.0, (e & 31) as f64 / 31.0];
        let (a, b) = (block & 0xffff, block >> 16 & 0xffff);
        let (p, q) = (expand(a), expand(b));
        let mix = |n: f64, d: f64| -> [f64; 4] {
            let m: Vec<f64> = (0..3).map(|i| (p[i] * (d - n) + q[i] * n) / d).collect();
            [m[0], m[1], m[2], 1.0]
        };
        let palette = if !punch || a > b {
            [mix(0.0, 1.0), mix(1.0, 1.0), mix(1.0, 3.0), mix(2.0, 3.0)]
        } else {
            [mix(0.0, 1.0), mix(1.0, 1.0), mix(1.0, 2.0), [0.0; 4]]
        };
        palette[(block >> (32 + 2 * at) & 3) as usize]
    };
    let ramp = |block: u64, at: usize, signed: bool| -> f64 {
        let (a, b) = (block as u8, (block >> 8) as u8);
        let value = |e: u8| if signed { (e as i8 as f64 / 127.0).max(-1.0) } else { e as f64 / 255.0 };
        let descending = if signed { a as i8 > b as i8 } else { a > b };
        let (p, q) = (value(a), value(b));
        let mut palette = vec![p, q];
        if descending {
            palette.extend((1..7).map(|i| p + (q - p) * i as f64 / 7.0));
        } else {
            palette.extend((1..5).map(|i| p + (q - p) * i as f64 / 5.0));
            palette.extend([if signed { -1.0 } else { 0.0 }, 1.0]);
        }
        palette[(block >> (16 + 3 * at) & 7) as usize]
    };
    for cpu in CPUS {
        for (dfmt, bytes, nfmts) in [
            (35u32, 8usize, [0u32, 9]),
            (36, 16, [0, 9]),
            (37, 16, [0, 9]),
            (38, 8, [0, 1]),
            (39, 16, [0, 1]),
        ] {
            for nfmt in nfmts {
                let text = "image_load v[4:7], v[0:1], s[8:15] dmask:0xf unorm";
                let mut machine = Machine::new(cpu, Simd::detect(), text, 0);
                // Two by two blocks of an image of seven by six, in rows of sixteen blocks.
                let data: Vec<u8> = (0..2 * 16 * bytes).map(|_| random.next() as u8).collect();
                let base = memory(&mut machine, &data);
                let mut wave = machine.wave();
                Resource { pitch: 64, ..Resource::new(base, 9, dfmt, nfmt, [7, 6, 1]) }.set(&mut wave, cpu);
                for lane in 0..64 {
                    wave.vgpr_mut(0).unwrap()[lane] = lane as u32 % 8;
                    wave.vgpr_mut(1).unwrap()[lane] = lane as u32 / 8;
                }
                assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {dfmt} {nfmt}");
                for lane in 0..64 {
                    let (x, y) = (lane % 8, lane / 8);
                    let block = &data[(y / 4 * 16 + x / 4) * bytes..];
                    let word = |i: usize| u64::from_le_bytes(block[8 * i..8 * i + 8].try_into().unwrap());
                    let at = y % 4 * 4 + x % 4;
                    let mut want = match dfmt {
                        35 => color(word(0), at, true),
                        36 | 37 => {
                            let [r, g, b, _] = color(word(1), at, false);
                            let alpha = (word(0) >> (4 * at) & 15) as f64 / 15.0;
                            [r, g, b, if dfmt == 36 { alpha } else { ramp(word(0), at, false) }]
                        }
                        38 => [ramp(word(0), at, nfmt == 1), 0.0, 0.0, 1.0],
                        _ => [ramp(word(0), at, nfmt == 1), ramp(word(1), at, nfmt == 1), 0.0, 1.0],
                    };
                    if nfmt == 9 {
                        for c in &mut want[..3] {
                            *c = if *c <= 0.04045 { *c / 12.92 } else { ((*c + 0.055) / 1.055).powf(2.4) };
                        }
                    }
                    if x >= 7 || y >= 6 {
                        want = [0.0; 4];
                    }
                    for (i, want) in want.into_iter().enumerate() {
                        let got = f32::from_bits(wave.vgpr(4 + i as u16).unwrap()[lane]) as f64;
                        assert!((got - want).abs() < 1e-6, "{cpu} {dfmt} {nfmt} {x} {y} {i}: {got} {want}");
                    }
                }
                // Compressed images are only read.
                let store =
                    Machine::new(cpu, Simd::detect(), "image_store v4, v[0:1], s[8:15] dmask:1 unorm", 0);
                let mut wave = store.wave();
                Resource { pitch: 64, ..Resource::new(base, 9, dfmt, nfmt, [7, 6, 1]) }.set(&mut wave, cpu);
                let Event::Fault(fault) = store.run(&mut wave) else { panic!("{cpu} stores {dfmt}") };
                assert!(matches!(fault.kind, FaultKind::Descriptor { .. }), "{fault:?}");
            }
        }
    }
}
