//! Data share: operands that are both in memory, and GDS, which does what LDS does.

use crate::harness::{Machine, Random, target};
use crate::reference::{Access, access, apply};
use wavemill_isa::{Enc, ROWS, Role, flag};
use wavemill_wave::{Event, Simd};

const SIZE: u32 = 4096;

/// The distance comes from the instruction, positive and negative, or from the address; one lane's operand is out of
/// range and reads as zero, one lane writes out of range, every fourth lane is inactive.
#[test]
fn second_operands_in_memory() {
    let mut random = Random(21);
    for cpu in ["gfx600", "gfx701", "gfx803", "gfx900", "gfx906", "gfx908"] {
        let level = target(cpu).level();
        for row in ROWS.iter().filter(|r| r.enc == Enc::Ds && r.opcode_at(level).is_some()) {
            let Some(Access::Src2(op, bytes)) = access(row) else { continue };
            let (name, bytes) = (row.name, bytes as u32);
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
                machine.fill_shares(&memory);
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
                    let new = apply(op, bytes as usize, a, b, 0).to_le_bytes();
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
                machine.fill_shares(&memory);
                let mut wave = machine.wave();
                // GFX9's LDS has no bounds in M0, but the address of a counter.
                let counter = matches!(row.name, "ds_append" | "ds_consume");
                wave.set_sgpr(124, if counter && !gds && level.is_gfx9() { 0 } else { SIZE });
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
