//! Compressed texels against other decoders: `blocks/blocks.txt` says what they make of blocks of every mode.

use crate::harness::Machine;
use crate::images::{CPUS, Resource, memory};
use crate::texels;
use wavemill_wave::{Event, FaultKind, Simd};

const FIXTURE: &str = include_str!("../blocks/blocks.txt");

/// Blocks across an image.
const ACROSS: usize = 16;

/// Blocks of a format, and their texels' components.
struct Blocks {
    bytes: Vec<Vec<u8>>,
    texels: Vec<Vec<u32>>,
}

fn blocks(format: &str, digits: usize) -> Blocks {
    let number = |s: &str| u32::from_str_radix(s, 16).unwrap();
    let split = |s: &str, n: usize| -> Vec<u32> {
        (0..s.len() / n).map(|i| number(&s[n * i..n * (i + 1)])).collect()
    };
    let mut out = Blocks { bytes: Vec::new(), texels: Vec::new() };
    for line in FIXTURE.lines() {
        let mut words = line.split(' ');
        if words.next() == Some(format) {
            let bytes: Vec<u8> = split(words.next().unwrap(), 2).into_iter().map(|b| b as u8).collect();
            out.bytes.push(bytes);
            out.texels.push(split(words.next().unwrap(), digits));
        }
    }
    // The last row is full.
    while !out.bytes.len().is_multiple_of(ACROSS) {
        out.bytes.push(out.bytes[0].clone());
        out.texels.push(out.texels[0].clone());
    }
    out
}

/// Loads and samples every texel of an image; `want` turns the fixture's components of a texel into registers.
fn check(cpu: &str, format: [u32; 2], blocks: &Blocks, want: impl Fn(&[u32]) -> [u32; 4], slack: u32) {
    compare(cpu, format, blocks, |got, texel| {
        let want = want(texel);
        let same = got.iter().zip(want).all(|(g, w)| g.abs_diff(w) <= slack);
        if same { None } else { Some(want) }
    });
}

/// The same with a comparison of registers and components, which gives what it would have liked better.
fn compare(
    cpu: &str,
    format: [u32; 2],
    blocks: &Blocks,
    wrong: impl Fn([u32; 4], &[u32]) -> Option<[u32; 4]>,
) {
    let (width, height) = (4 * ACROSS, 4 * blocks.bytes.len() / ACROSS);
    let text = "image_load v[4:7], v[0:1], s[8:15] dmask:0xf unorm\n\
                image_sample v[8:11], v[2:3], s[8:15], s[16:19] dmask:0xf";
    let mut machine = Machine::new(cpu, Simd::detect(), text, 0);
    let base = memory(&mut machine, &blocks.bytes.concat());
    for y in 0..height {
        let mut wave = machine.wave();
        let [dfmt, nfmt] = format;
        Resource::new(base, 9, dfmt, nfmt, [width as u32, height as u32, 1]).set(&mut wave, cpu);
        for lane in 0..64 {
            wave.vgpr_mut(0).unwrap()[lane] = lane as u32;
            wave.vgpr_mut(1).unwrap()[lane] = y as u32;
            wave.vgpr_mut(2).unwrap()[lane] = ((lane as f32 + 0.5) / width as f32).to_bits();
            wave.vgpr_mut(3).unwrap()[lane] = ((y as f32 + 0.5) / height as f32).to_bits();
        }
        assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {format:?}");
        for lane in 0..64 {
            let block = y / 4 * ACROSS + lane / 4;
            let texels = &blocks.texels[block];
            let n = texels.len() / 16;
            let at = 4 * (y % 4) + lane % 4;
            let texel = &texels[n * at..n * (at + 1)];
            for first in [4, 8] {
                let got: [u32; 4] = std::array::from_fn(|i| wave.vgpr(first + i as u16).unwrap()[lane]);
                if let Some(want) = wrong(got, texel) {
                    let bytes = &blocks.bytes[block];
                    panic!("{cpu} {format:?} {bytes:02x?} texel {at}: {got:x?}, not {want:x?}");
                }
            }
        }
    }
}

fn srgb(byte: u32) -> u32 {
    let x = byte as f64 / 255.0;
    (if x <= 0.04045 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) } as f32).to_bits()
}

fn fraction(byte: u32) -> u32 {
    texels::ratio(byte as i128, 255)
}

#[test]
fn bc7() {
    let all = blocks("bc7", 2);
    for cpu in CPUS {
        check(cpu, [41, 0], &all, |t| [fraction(t[0]), fraction(t[1]), fraction(t[2]), fraction(t[3])], 0);
        check(cpu, [41, 9], &all, |t| [srgb(t[0]), srgb(t[1]), srgb(t[2]), fraction(t[3])], 1);
    }
}

#[test]
fn bc6h() {
    let one = 1f32.to_bits();
    let half = |h: u32| texels::load(h, 16, 7);
    for cpu in CPUS {
        for (name, nfmt) in [("bc6h", 0), ("bc6h-signed", 1)] {
            check(cpu, [40, nfmt], &blocks(name, 4), |t| [half(t[0]), half(t[1]), half(t[2]), one], 0);
        }
    }
}

/// ETC2 is there where drivers use it; elsewhere its numbers are no formats.
#[test]
fn etc2() {
    let one = 1f32.to_bits();
    let all = blocks("etc2-rgb", 2);
    check("gfx900", [24, 0], &all, |t| [fraction(t[0]), fraction(t[1]), fraction(t[2]), one], 0);
    check("gfx900", [24, 9], &all, |t| [srgb(t[0]), srgb(t[1]), srgb(t[2]), one], 1);
    for (name, dfmt) in [("etc2-rgba", 25), ("etc2-rgba1", 28)] {
        let all = blocks(name, 2);
        let fractions = |t: &[u32]| [fraction(t[0]), fraction(t[1]), fraction(t[2]), fraction(t[3])];
        check("gfx900", [dfmt, 0], &all, fractions, 0);
        check("gfx900", [dfmt, 9], &all, |t| [srgb(t[0]), srgb(t[1]), srgb(t[2]), fraction(t[3])], 1);
    }
    for (name, dfmt, nfmt) in
        [("eac-r", 26, 0), ("eac-r-signed", 26, 1), ("eac-rg", 27, 0), ("eac-rg-signed", 27, 1)]
    {
        // Eight of the eleven bits: see make.py.
        let top = |got: u32| match nfmt {
            0 => (f32::from_bits(got) * 2047.0).round() as u32 / 8,
            _ => ((f32::from_bits(got) * 1023.0).round() as i32 + 1023) as u32 / 8,
        };
        compare("gfx900", [dfmt, nfmt], &blocks(name, 2), |got, texel| {
            let second = texel.get(1).map_or(got[1] == 0, |t| top(got[1]) == *t);
            let same = top(got[0]) == texel[0] && second && got[2..] == [0, one];
            if same { None } else { Some([texel[0], *texel.get(1).unwrap_or(&0), 0, one]) }
        });
    }
    for cpu in ["gfx600", "gfx803", "gfx906", "gfx90a"] {
        let machine = Machine::new(cpu, Simd::detect(), "image_load v4, v[0:1], s[8:15] dmask:1 unorm", 0);
        let mut wave = machine.wave();
        Resource::new(0x10000, 9, 24, 0, [4, 4, 1]).set(&mut wave, cpu);
        let Event::Fault(fault) = machine.run(&mut wave) else { panic!("{cpu} has ETC2") };
        assert!(matches!(fault.kind, FaultKind::Descriptor { .. }), "{fault:?}");
    }
}
