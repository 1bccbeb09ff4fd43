//! Every format instruction with every data and number format, on every generation, against exact arithmetic.

use crate::harness::{Machine, Random};
use crate::texels::{self, DATA_FORMATS};
use wavemill_wave::{Event, Simd, Wave};

const CPUS: [&str; 8] = ["gfx600", "gfx701", "gfx803", "gfx810", "gfx900", "gfx906", "gfx908", "gfx90a"];
const COMPONENTS: [&str; 4] = ["x", "xy", "xyz", "xyzw"];

fn has_d16(cpu: &str) -> bool {
    !matches!(cpu, "gfx600" | "gfx701")
}

/// Registers for n 16-bit components.
fn halves(cpu: &str, n: usize) -> usize {
    if cpu == "gfx803" { n } else { n.div_ceil(2) }
}

fn registers(first: usize, n: usize) -> String {
    if n == 1 { format!("v{first}") } else { format!("v[{first}:{}]", first + n - 1) }
}

/// The four dwords of a resource for records of a size; GFX8 counts bytes where records are not swizzled.
fn resource(wave: &mut Wave, cpu: &str, base: u64, size: u32, records: u32, word3: u32) {
    let gfx8 = matches!(cpu, "gfx803" | "gfx810");
    wave.set_sgpr64(4, base | (size as u64) << 48);
    wave.set_sgpr(6, if gfx8 { records * size } else { records });
    wave.set_sgpr(7, word3);
}

/// A number near something interesting.
fn value(random: &mut Random, nfmt: u32) -> u32 {
    if texels::is_integer(nfmt) {
        return random.edgy(32) as u32;
    }
    let r = random.next();
    match r % 16 {
        0 => 0,
        1 => 0x8000_0000,
        2 => 0x7f80_0000,
        3 => 0xff80_0000,
        4 => 0x7fc0_0000 | (r >> 8) as u32 & 0x3f_ffff,
        5 => (r >> 32) as u32 & 0x7f_ffff,
        6 => 1f32.to_bits(),
        7 => (-1f32).to_bits(),
        8 => (((r >> 16) % 512) as f32 / 255.0).to_bits(),
        9 => (((r >> 16) % 512) as f32 / 510.0).to_bits(),
        10 => ((r >> 16) as i16 as f32).to_bits(),
        11 => ((r >> 16) as i16 as f32 / 32.0).to_bits(),
        12 => ((r >> 16) as i16 as f32 / 32767.0).to_bits(),
        13 => 0x477f_e000 + (r >> 32) as u32 % 0x4000,
        14 => 0x3880_0000 - (r >> 32) as u32 % 0x40_0000,
        _ => (r >> 32) as u32,
    }
}

fn same(got: u32, want: u32, nfmt: u32) -> bool {
    let nan = |x: u32| x & 0x7fff_ffff > 0x7f80_0000;
    got == want || nfmt == 7 && nan(got) && nan(want)
}

fn same_half(got: u32, want: u32, nfmt: u32) -> bool {
    let nan = |x: u32| x & 0x7fff > 0x7c00;
    got == want || nfmt == 7 && nan(got) && nan(want)
}

fn formats() -> impl Iterator<Item = (u32, &'static str, u32)> {
    (1..15).flat_map(|d| (0..8).map(move |n| (d, DATA_FORMATS[d as usize], n)))
}

/// The components that a buffer's load finds. Before GFX9, Stoney apart, the two bits of alpha in 2_10_10_10 are an unsigned number in
/// signed formats, too (Mesa's `ac_gpu_info.h` and the code that mends it after vertex fetches: 0, 1/3, 2/3, 1 or 0 to 3).
fn loaded(cpu: &str, bytes: &[u8], name: &str, nfmt: u32) -> [u32; 4] {
    let mut out = texels::decode(bytes, name, nfmt);
    if name == "2_10_10_10" && matches!(nfmt, 1 | 3 | 5) && matches!(cpu, "gfx600" | "gfx701" | "gfx803") {
        out[3] = texels::load(u32::from(bytes[3] >> 6), 2, nfmt - 1);
    }
    out
}

/// Loads of all widths, of words and halves; four records of 64 are out of range.
#[test]
fn typed_loads() {
    let mut random = Random(11);
    for cpu in CPUS {
        for (dfmt, name, nfmt) in formats() {
            if nfmt == 6 && !matches!(cpu, "gfx600" | "gfx701") || !texels::exists(name, nfmt) {
                continue;
            }
            let size = texels::widths(name).iter().sum::<u32>() / 8;
            let bytes: Vec<u8> = (0..64 * size).map(|_| random.edgy(8) as u8).collect();
            let format = dfmt | nfmt << 4;
            let mut text = String::new();
            for (i, c) in COMPONENTS.iter().enumerate() {
                let to = registers(8 + 4 * i, i + 1);
                text += &format!("tbuffer_load_format_{c} {to}, v0, s[4:7], 0 format:{format} idxen\n");
                if has_d16(cpu) {
                    let to = registers(40 + 4 * i, halves(cpu, i + 1));
                    text +=
                        &format!("tbuffer_load_format_d16_{c} {to}, v0, s[4:7], 0 format:{format} idxen\n");
                }
            }
            let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
            let base = machine.buffer(&bytes);
            let mut wave = machine.wave();
            resource(&mut wave, cpu, base, size, 60, 0x0002_4fac);
            for lane in 0..64 {
                wave.vgpr_mut(0).unwrap()[lane] = lane as u32;
            }
            assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {name} {nfmt}");
            for lane in 0..64 {
                let at = lane * size as usize;
                let mut want = loaded(cpu, &bytes[at..at + size as usize], name, nfmt);
                if lane >= 60 {
                    want = [0; 4];
                }
                let place = |i: usize| format!("{cpu} {name} {nfmt} lane {lane} component {i}");
                for n in 0..4 {
                    for (i, want) in want.into_iter().enumerate().take(n + 1) {
                        let got = wave.vgpr(8 + 4 * n as u16 + i as u16).unwrap()[lane];
                        assert!(same(got, want, nfmt), "{}: {got:#x} not {want:#x}", place(i));
                        if !has_d16(cpu) {
                            continue;
                        }
                        let half = if texels::is_integer(nfmt) {
                            want & 0xffff
                        } else {
                            texels::single_to_half(want)
                        };
                        let packed = cpu != "gfx803";
                        let register = 40 + 4 * n + if packed { i / 2 } else { i };
                        let got = wave.vgpr(register as u16).unwrap()[lane];
                        let got = if packed { got >> (16 * (i % 2)) & 0xffff } else { got };
                        assert!(same_half(got, half, nfmt), "d16 {}: {got:#x} not {half:#x}", place(i));
                    }
                }
            }
        }
    }
}

/// Stores of all widths; missing components are zero, records out of range stay.
#[test]
fn typed_stores() {
    let mut random = Random(12);
    for cpu in CPUS {
        for (dfmt, name, nfmt) in formats() {
            if nfmt == 6 || !texels::exists(name, nfmt) {
                continue;
            }
            let size = texels::widths(name).iter().sum::<u32>() / 8;
            let format = dfmt | nfmt << 4;
            for n in 1..=4usize {
                for d16 in [false, true] {
                    if d16 && !has_d16(cpu) {
                        continue;
                    }
                    let c = COMPONENTS[n - 1];
                    let text = match d16 {
                        false => format!(
                            "tbuffer_store_format_{c} {}, v0, s[4:7], 0 format:{format} idxen\n",
                            registers(8, n)
                        ),
                        true => format!(
                            "tbuffer_store_format_d16_{c} {}, v0, s[4:7], 0 format:{format} idxen\n",
                            registers(8, halves(cpu, n))
                        ),
                    };
                    let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
                    let base = machine.buffer(&vec![0xa5; 64 * size as usize]);
                    let mut wave = machine.wave();
                    resource(&mut wave, cpu, base, size, 60, 0x0002_4fac);
                    let mut want = Vec::new();
                    for lane in 0..64 {
                        wave.vgpr_mut(0).unwrap()[lane] = lane as u32;
                        let mut values = [0; 4];
                        for (i, slot) in values.iter_mut().enumerate().take(n) {
                            let mut v = value(&mut random, nfmt);
                            if d16 {
                                let half = if texels::is_integer(nfmt) {
                                    v & 0xffff
                                } else {
                                    texels::single_to_half(v)
                                };
                                let packed = cpu != "gfx803";
                                let r = 8 + if packed { i / 2 } else { i } as u16;
                                let shift = if packed { 16 * (i % 2) } else { 0 };
                                wave.vgpr_mut(r).unwrap()[lane] |= half << shift;
                                v = match nfmt {
                                    4 => half,
                                    5 => half as u16 as i16 as i32 as u32,
                                    _ => texels::load(half, 16, 7),
                                };
                            } else {
                                wave.vgpr_mut(8 + i as u16).unwrap()[lane] = v;
                            }
                            *slot = v;
                        }
                        let element = texels::encode(values, name, nfmt);
                        want.extend(if lane < 60 { element } else { vec![0xa5; size as usize] });
                    }
                    assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {name} {nfmt}");
                    let got = machine.read(base, 64 * size as usize);
                    for lane in 0..64 {
                        let at = lane * size as usize..(lane + 1) * size as usize;
                        let data: Vec<u32> = (0..n).map(|i| wave.vgpr(8 + i as u16).unwrap()[lane]).collect();
                        assert_eq!(
                            got[at.clone()],
                            want[at],
                            "{cpu} {text} {name} {nfmt} lane {lane} from {data:x?}"
                        );
                    }
                }
            }
        }
    }
}

/// The resource's format and destination selects: loads pick components, zeros and ones, stores put them back.
#[test]
fn resource_formats() {
    let mut random = Random(13);
    for cpu in CPUS {
        for (dfmt, name, nfmt) in formats() {
            if nfmt == 6 || !texels::exists(name, nfmt) {
                continue;
            }
            let widths = texels::widths(name);
            let size = widths.iter().sum::<u32>() / 8;
            let bytes: Vec<u8> = (0..64 * size).map(|_| random.next() as u8).collect();
            // x y z w are alpha, one, zero and red.
            let select = 7 | 1 << 3 | 4 << 9;
            let mut text = String::new();
            for (i, c) in COMPONENTS.iter().enumerate() {
                let to = registers(8 + 4 * i, i + 1);
                text += &format!("buffer_load_format_{c} {to}, v0, s[4:7], 0 idxen\n");
                if has_d16(cpu) {
                    let to = registers(40 + 4 * i, halves(cpu, i + 1));
                    text += &format!("buffer_load_format_d16_{c} {to}, v0, s[4:7], 0 idxen\n");
                }
            }
            let hi = has_d16(cpu) && !matches!(cpu, "gfx803" | "gfx810");
            if hi {
                text += "buffer_load_format_d16_hi_x v60, v0, s[4:7], 0 idxen\n";
            }
            let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
            let base = machine.buffer(&bytes);
            let mut wave = machine.wave();
            resource(&mut wave, cpu, base, size, 60, select | nfmt << 12 | dfmt << 15);
            for lane in 0..64 {
                wave.vgpr_mut(0).unwrap()[lane] = lane as u32;
                wave.vgpr_mut(60).unwrap()[lane] = 0xdead_beef;
            }
            wave.set_exec(!2);
            assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {name} {nfmt}");
            let one = if texels::is_integer(nfmt) { 1 } else { 1f32.to_bits() };
            for lane in (0..64).filter(|l| *l != 1) {
                let at = lane * size as usize;
                let mut texel = loaded(cpu, &bytes[at..at + size as usize], name, nfmt);
                if widths.len() < 4 {
                    texel[3] = one;
                }
                let mut want = [texel[3], one, 0, texel[0]];
                if lane >= 60 {
                    want = [0, one, 0, 0];
                }
                let to_half = |v: u32| {
                    if texels::is_integer(nfmt) { v & 0xffff } else { texels::single_to_half(v) }
                };
                for n in 0..4 {
                    for (i, want) in want.into_iter().enumerate().take(n + 1) {
                        let got = wave.vgpr(8 + 4 * n as u16 + i as u16).unwrap()[lane];
                        assert!(same(got, want, nfmt), "{cpu} {name} {nfmt} {lane} {i}: {got:#x} {want:#x}");
                        if !has_d16(cpu) {
                            continue;
                        }
                        let packed = cpu != "gfx803";
                        let register = 40 + 4 * n + if packed { i / 2 } else { i };
                        let got = wave.vgpr(register as u16).unwrap()[lane];
                        let got = if packed { got >> (16 * (i % 2)) & 0xffff } else { got };
                        let half = to_half(want);
                        assert!(
                            same_half(got, half, nfmt),
                            "{cpu} {name} {nfmt} {lane} {i}: {got:#x} {half:#x}"
                        );
                    }
                }
                if hi {
                    let got = wave.vgpr(60).unwrap()[lane];
                    // ECC writes whole registers (manual 9.1.6).
                    let ecc = matches!(cpu, "gfx906" | "gfx908" | "gfx90a");
                    assert_eq!(got & 0xffff, if ecc { 0 } else { 0xbeef });
                    assert!(same_half(got >> 16, to_half(want[0]), nfmt), "{cpu} {name} {nfmt} hi {got:#x}");
                }
            }
            assert_eq!(wave.vgpr(60).unwrap()[1], 0xdead_beef);
            assert_eq!(wave.vgpr(8).unwrap()[1], 0);
        }
    }
}

/// Stores with the resource's format: blue and red exchanged; the 16-bit forms take halves, the last the upper one.
#[test]
fn resource_stores() {
    let mut random = Random(14);
    for cpu in CPUS {
        for (dfmt, name, nfmt) in formats() {
            if nfmt == 6 || !texels::exists(name, nfmt) {
                continue;
            }
            let size = texels::widths(name).iter().sum::<u32>() / 8;
            let select = 6 | 5 << 3 | 4 << 6 | 7 << 9;
            let gfx9 = cpu.starts_with("gfx9");
            for n in 0..=4usize {
                for d16 in [false, true] {
                    if d16 && !has_d16(cpu) || n == 0 && !(gfx9 && d16) {
                        continue;
                    }
                    let text = match (n, d16) {
                        (0, _) => "buffer_store_format_d16_hi_x v8, v0, s[4:7], 0 idxen".into(),
                        (n, false) => {
                            let c = COMPONENTS[n - 1];
                            format!("buffer_store_format_{c} {}, v0, s[4:7], 0 idxen", registers(8, n))
                        }
                        (n, true) => {
                            let (c, from) = (COMPONENTS[n - 1], registers(8, halves(cpu, n)));
                            format!("buffer_store_format_d16_{c} {from}, v0, s[4:7], 0 idxen")
                        }
                    };
                    let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
                    let base = machine.buffer(&vec![0xa5; 64 * size as usize]);
                    let mut wave = machine.wave();
                    resource(&mut wave, cpu, base, size, 60, select | nfmt << 12 | dfmt << 15);
                    let mut want = Vec::new();
                    for lane in 0..64 {
                        wave.vgpr_mut(0).unwrap()[lane] = lane as u32;
                        for r in 8..12 {
                            let v = value(&mut random, nfmt);
                            wave.vgpr_mut(r).unwrap()[lane] = v;
                        }
                        let register = |i: usize| wave.vgpr(8 + i as u16).unwrap()[lane];
                        let widen = |half: u32| match nfmt {
                            4 => half & 0xffff,
                            5 => half as u16 as i16 as i32 as u32,
                            _ => texels::load(half & 0xffff, 16, 7),
                        };
                        let mut values = [0; 4];
                        match (n, d16) {
                            (0, _) => values[0] = widen(register(0) >> 16),
                            (n, false) => (0..n).for_each(|i| values[i] = register(i)),
                            (n, true) if cpu == "gfx803" => {
                                (0..n).for_each(|i| values[i] = widen(register(i)))
                            }
                            (n, true) => {
                                (0..n).for_each(|i| values[i] = widen(register(i / 2) >> (16 * (i % 2))))
                            }
                        }
                        values.swap(0, 2);
                        let element = texels::encode(values, name, nfmt);
                        want.extend(if lane < 60 { element } else { vec![0xa5; size as usize] });
                    }
                    assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {name} {nfmt}");
                    let got = machine.read(base, 64 * size as usize);
                    assert_eq!(got, want, "{cpu} {text} {name} {nfmt}");
                }
            }
        }
    }
}
