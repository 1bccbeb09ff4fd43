//! Lanes that read other lanes through the LDS hardware, with some lanes inactive, against the manual's pseudocode (12.12,
//! 12.12.1). DPP and V_READLANE are compared with the model, EXEC and all.

use crate::harness::{CPUS, Machine, Random};
use wavemill_wave::{Event, Simd};

const EXECS: [u64; 5] = [!0, 0, 0xa, 0xffff_0000_ffff_0001, 0x1234_5678_9abc_def0];

/// Runs `name` on DATA in v0 and ADDR in v1; checks v2 against `source`, which gives the lanes' values.
fn check(
    cpu: &str,
    text: &str,
    random: &mut Random,
    reference: impl Fn(u64, &[u32; 64], &[u32; 64]) -> [u32; 64],
) {
    for simd in Simd::available() {
        for exec in EXECS {
            let machine = Machine::new(cpu, simd, text, 0);
            let mut wave = machine.wave();
            wave.set_exec(exec);
            let data: [u32; 64] = std::array::from_fn(|_| random.next() as u32 | 1);
            let address: [u32; 64] = std::array::from_fn(|_| random.edgy(32) as u32);
            *wave.vgpr_mut(0).unwrap() = data;
            *wave.vgpr_mut(1).unwrap() = address;
            *wave.vgpr_mut(2).unwrap() = [77; 64];
            assert_eq!(machine.run(&mut wave), Event::End, "{text} on {cpu}");
            let result = reference(exec, &data, &address);
            let want: [u32; 64] = std::array::from_fn(|i| if exec >> i & 1 != 0 { result[i] } else { 77 });
            assert_eq!(wave.vgpr(2).unwrap(), &want, "{text} on {cpu}, EXEC {exec:#x}, {}", simd.name());
        }
    }
}

/// Addresses are lane numbers times four, from anywhere; the sum with the offset wraps.
#[test]
fn permutes() {
    let mut random = Random(71);
    for cpu in CPUS.into_iter().skip(2) {
        for offset in [0u32, 4, 6, 252, 0xfffc] {
            let lane = |address: u32| (address.wrapping_add(offset) / 4 % 64) as usize;
            let text = format!("ds_permute_b32 v2, v1, v0 offset:{offset}");
            check(cpu, &text, &mut random, |exec, data, address| {
                let mut out = [0; 64];
                (0..64).filter(|i| exec >> i & 1 != 0).for_each(|i| out[lane(address[i])] = data[i]);
                out
            });
            let text = format!("ds_bpermute_b32 v2, v1, v0 offset:{offset}");
            check(cpu, &text, &mut random, |exec, data, address| {
                std::array::from_fn(|i| {
                    let from = lane(address[i]);
                    if exec >> from & 1 != 0 { data[from] } else { 0 }
                })
            });
        }
    }
}

/// The result may lie over the addresses or over the data.
#[test]
fn permutes_in_place() {
    let mut random = Random(73);
    for (dst, exec) in (0..2).flat_map(|dst| EXECS.map(|exec| (dst, exec))) {
        for simd in Simd::available() {
            let text = format!("ds_bpermute_b32 v{dst}, v1, v0");
            let machine = Machine::new("gfx90a", simd, &text, 0);
            let mut wave = machine.wave();
            wave.set_exec(exec);
            let data: [u32; 64] = std::array::from_fn(|_| random.next() as u32 | 1);
            let address: [u32; 64] = std::array::from_fn(|_| random.next() as u32);
            *wave.vgpr_mut(0).unwrap() = data;
            *wave.vgpr_mut(1).unwrap() = address;
            assert_eq!(machine.run(&mut wave), Event::End, "{text}");
            let old = [data, address][dst];
            let want: [u32; 64] = std::array::from_fn(|i| {
                let from = (address[i] / 4 % 64) as usize;
                match (exec >> i & 1, exec >> from & 1) {
                    (0, _) => old[i],
                    (_, 0) => 0,
                    _ => data[from],
                }
            });
            assert_eq!(wave.vgpr(dst as u16).unwrap(), &want, "{text}, EXEC {exec:#x}, {}", simd.name());
        }
    }
}

/// Where several lanes name one, the last active one's datum is there; lanes that none names get zero. The result may lie over
/// the addresses or over the data, and lanes are active in all ways.
#[test]
fn pushes_of_crowds() {
    let mut random = Random(74);
    for run in 0..400u32 {
        let (dst, few) = (run as usize % 3, [1, 5, 64, 1 << 20][run as usize / 3 % 4]);
        let exec = if run % 5 == 0 { !0 } else { random.next() & random.next() };
        let offset = [0u32, 4, 0xfffc][random.next() as usize % 3];
        let data: [u32; 64] = std::array::from_fn(|_| random.next() as u32 | 1);
        let address: [u32; 64] = match run % 7 {
            // What compilers do most: a rotation of all lanes.
            0 => std::array::from_fn(|i| 4 * i as u32 + run),
            _ => std::array::from_fn(|_| random.next() as u32 % few * 4 + run % 4),
        };
        let old = [data, address, [77; 64]][dst];
        let mut pushed = [0; 64];
        for i in (0..64).filter(|i| exec >> i & 1 != 0) {
            pushed[(address[i].wrapping_add(offset) / 4 % 64) as usize] = data[i];
        }
        let want: [u32; 64] = std::array::from_fn(|i| if exec >> i & 1 != 0 { pushed[i] } else { old[i] });
        for simd in Simd::available() {
            let text = format!("ds_permute_b32 v{dst}, v1, v0 offset:{offset}");
            let machine = Machine::new("gfx90a", simd, &text, 0);
            let mut wave = machine.wave();
            wave.set_exec(exec);
            *wave.vgpr_mut(0).unwrap() = data;
            *wave.vgpr_mut(1).unwrap() = address;
            if dst == 2 {
                *wave.vgpr_mut(2).unwrap() = old;
            }
            assert_eq!(machine.run(&mut wave), Event::End, "{text}");
            assert_eq!(wave.vgpr(dst as u16).unwrap(), &want, "{text}, EXEC {exec:#x}, {}", simd.name());
        }
    }
}

/// The lane that lane `i` reads. Before GFX8 bit 15 alone picks the mode: there is neither FFT nor rotation (Mesa's
/// README-ISA has GFX8 with both).
fn swizzle(modes: bool, offset: u32, i: u32) -> u32 {
    let half = i & 0x20;
    match offset {
        0xe000.. if modes => {
            let mask = offset & 31;
            let mut reversed = 0;
            for bit in 0..5 {
                reversed |= (i >> bit & 1) << (4 - bit);
            }
            (reversed >> mask.count_ones()) | i & mask | half
        }
        0xc000.. if modes => {
            let (mask, rotate) = (offset & 31, (offset >> 5 & 31) as i32);
            let rotate = if offset >> 10 & 1 != 0 { -rotate } else { rotate };
            ((i & mask) | ((i as i32 + rotate) as u32 & !mask)) & 31 | half
        }
        0x8000.. => i / 4 * 4 + (offset >> (2 * (i % 4)) & 3),
        _ => ((((i & 31) & offset) | offset >> 5 & 31) ^ offset >> 10) & 31 | half,
    }
}

#[test]
fn swizzles() {
    let mut random = Random(72);
    for cpu in CPUS {
        let modes = !matches!(cpu, "gfx600" | "gfx701");
        // Broadcast, swap, reverse, two quads, FFT, rotations left and right without and with a mask; then any.
        let named =
            [0x0060, 0x041f, 0x7c1f, 0x801b, 0xbfff, 0xe000, 0xe010, 0xe01f, 0xc020, 0xc420, 0xc021, 0xc7e3];
        let more: Vec<u32> = (0..30).map(|_| random.next() as u32 & 0xffff).collect();
        for offset in named.into_iter().chain(more) {
            let text = format!("ds_swizzle_b32 v2, v0 offset:{offset:#x}");
            check(cpu, &text, &mut random, |exec, data, _| {
                std::array::from_fn(|i| {
                    let from = swizzle(modes, offset, i as u32) as usize;
                    if exec >> from & 1 != 0 { data[from] } else { 0 }
                })
            });
        }
    }
    // The manual's examples: what 1, 2, … 32 become.
    let example = |offset, first: [u32; 8]| {
        assert_eq!(std::array::from_fn(|i| swizzle(true, offset, i as u32) + 1), first, "{offset:#x}");
    };
    example(0xe000, [1, 0x11, 9, 0x19, 5, 0x15, 0xd, 0x1d]);
    example(0xe010, [1, 9, 5, 0xd, 3, 0xb, 7, 0xf]);
    example(0xe01f, [1, 2, 3, 4, 5, 6, 7, 8]);
    example(0xc020, [2, 3, 4, 5, 6, 7, 8, 9]);
    example(0xc420, [0x20, 1, 2, 3, 4, 5, 6, 7]);
}
