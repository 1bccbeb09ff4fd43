//! Every load and store of buffer, flat, global and scratch instructions that moves bytes as they are.

use crate::harness::{Machine, Random, target};
use wavemill_isa::ROWS;
use wavemill_wave::{Event, Simd};

const CPUS: [&str; 7] = ["gfx600", "gfx701", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a"];

/// Bytes, and what becomes of a register: extension with zeros or a sign, into the low or high half or all of it.
const LOADS: [(&str, usize, bool, Option<bool>); 14] = [
    ("ubyte", 1, false, None),
    ("sbyte", 1, true, None),
    ("ushort", 2, false, None),
    ("sshort", 2, true, None),
    ("dword", 4, false, None),
    ("dwordx2", 8, false, None),
    ("dwordx3", 12, false, None),
    ("dwordx4", 16, false, None),
    ("ubyte_d16", 1, false, Some(false)),
    ("ubyte_d16_hi", 1, false, Some(true)),
    ("sbyte_d16", 1, true, Some(false)),
    ("sbyte_d16_hi", 1, true, Some(true)),
    ("short_d16", 2, false, Some(false)),
    ("short_d16_hi", 2, false, Some(true)),
];

const STORES: [(&str, usize, bool); 8] = [
    ("byte", 1, false),
    ("short", 2, false),
    ("dword", 4, false),
    ("dwordx2", 8, false),
    ("dwordx3", 12, false),
    ("dwordx4", 16, false),
    ("byte_d16_hi", 1, true),
    ("short_d16_hi", 2, true),
];

fn registers(first: usize, n: usize) -> String {
    if n == 1 { format!("v{first}") } else { format!("v[{first}:{}]", first + n - 1) }
}

fn exists(cpu: &str, name: &str) -> bool {
    let row = ROWS.iter().find(|r| r.name == name);
    row.is_some_and(|r| r.opcode_at(target(cpu).level()).is_some())
}

/// How an instruction of a family names the byte at v0 from a base: s[4:5] or (buffer) s[4:7]; v[2:3] is the address.
fn operands(family: &str, cpu: &str, data: &str, load: bool) -> String {
    match (family, load) {
        ("buffer", _) => format!("{data}, v0, s[4:7], 0 offen offset:4"),
        ("flat", true) => format!("{data}, v[2:3]"),
        ("flat", false) => format!("v[2:3], {data}"),
        ("global", true) if cpu == "gfx90a" => format!("{data}, v0, s[4:5] offset:4"),
        ("global", true) => format!("{data}, v[2:3], off"),
        ("global", false) if cpu == "gfx90a" => format!("v0, {data}, s[4:5] offset:4"),
        ("global", false) => format!("v[2:3], {data}, off"),
        _ => unreachable!("{family}"),
    }
}

#[test]
fn loads() {
    let mut random = Random(51);
    let mut count = 0;
    for cpu in CPUS {
        for family in ["buffer", "flat", "global"] {
            for (name, bytes, signed, half) in LOADS {
                let name = format!("{family}_load_{name}");
                if !exists(cpu, &name) {
                    continue;
                }
                let n = bytes.div_ceil(4);
                let text = format!("{name} {}", operands(family, cpu, &registers(8, n), true));
                let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
                let data: Vec<u8> = (0..1100).map(|_| random.edgy(8) as u8).collect();
                let base = machine.buffer(&data);
                let mut wave = machine.wave();
                wave.set_sgpr64(4, base);
                // A size in the middle of the last lanes' accesses.
                let size = 1000 + 6;
                wave.set_sgpr(6, size);
                wave.set_sgpr(7, 0x0002_4fac);
                let exec = 0xffff_ffff_dfff_fffe;
                wave.set_exec(exec);
                let before: [u32; 4] = std::array::from_fn(|_| random.next() as u32);
                for (i, b) in before.into_iter().enumerate() {
                    *wave.vgpr_mut(8 + i as u16).unwrap() = [b; 64];
                }
                let mut offsets = [0usize; 64];
                for (lane, offset) in offsets.iter_mut().enumerate() {
                    // Multiples of the size up to dwords, but every third lane is not aligned.
                    let aligned = (random.next() as usize % 1040) & !(bytes.min(4) - 1);
                    *offset = if lane % 3 == 0 { aligned + 1 } else { aligned };
                    if lane == 63 {
                        *offset = 996;
                    }
                    wave.vgpr_mut(0).unwrap()[lane] = *offset as u32;
                    let address = base + *offset as u64 + 4;
                    wave.vgpr_mut(2).unwrap()[lane] = address as u32;
                    wave.vgpr_mut(3).unwrap()[lane] = (address >> 32) as u32;
                }
                assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {text}");
                for (lane, offset) in offsets.into_iter().enumerate() {
                    for (i, before) in before.into_iter().enumerate().take(n) {
                        let at = offset + 4 + 4 * i;
                        let part = bytes.min(4);
                        let mut word = [0u8; 4];
                        if family != "buffer" || at + part <= size as usize {
                            if signed && data[at + part - 1] >= 0x80 {
                                word = [0xff; 4];
                            }
                            word[..part].copy_from_slice(&data[at..at + part]);
                        }
                        let value = u32::from_le_bytes(word);
                        let want = match half {
                            _ if exec >> lane & 1 == 0 => before,
                            None => value,
                            Some(false) => before & 0xffff_0000 | value & 0xffff,
                            Some(true) => before & 0xffff | value << 16,
                        };
                        let got = wave.vgpr(8 + i as u16).unwrap()[lane];
                        assert_eq!(got, want, "{cpu} {text} lane {lane} dword {i} at {at}");
                    }
                }
                count += 1;
            }
        }
    }
    assert!(count > 150, "{count}");
}

#[test]
fn stores() {
    let mut random = Random(52);
    let mut count = 0;
    for cpu in CPUS {
        for family in ["buffer", "flat", "global"] {
            for (name, bytes, high) in STORES {
                let name = format!("{family}_store_{name}");
                if !exists(cpu, &name) {
                    continue;
                }
                let n = bytes.div_ceil(4);
                let text = format!("{name} {}", operands(family, cpu, &registers(8, n), false));
                let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
                let data = vec![0x5a; 64 * 16 + 16];
                let base = machine.buffer(&data);
                let mut wave = machine.wave();
                wave.set_sgpr64(4, base);
                let size = 64 * 16 - 24;
                wave.set_sgpr(6, size);
                wave.set_sgpr(7, 0x0002_4fac);
                let exec = 0x7fff_ffff_ffff_fffd;
                wave.set_exec(exec);
                let mut want = data.clone();
                for lane in 0..64usize {
                    let offset = 16 * lane + if bytes < 16 && lane % 3 == 0 { 1 } else { 0 };
                    wave.vgpr_mut(0).unwrap()[lane] = offset as u32;
                    let address = base + offset as u64 + 4;
                    wave.vgpr_mut(2).unwrap()[lane] = address as u32;
                    wave.vgpr_mut(3).unwrap()[lane] = (address >> 32) as u32;
                    for i in 0..n {
                        let v = random.next() as u32;
                        wave.vgpr_mut(8 + i as u16).unwrap()[lane] = v;
                        let at = offset + 4 + 4 * i;
                        let part = bytes.min(4);
                        if exec >> lane & 1 == 0 || family == "buffer" && at + part > size as usize {
                            continue;
                        }
                        let v = (if high { v >> 16 } else { v }).to_le_bytes();
                        want[at..at + part].copy_from_slice(&v[..part]);
                    }
                }
                assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {text}");
                assert_eq!(machine.read(base, want.len()), want, "{cpu} {text}");
                count += 1;
            }
        }
    }
    assert!(count > 90, "{count}");
}
