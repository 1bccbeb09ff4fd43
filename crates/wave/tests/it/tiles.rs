//! Images with tiles or levels against AMD's address library: `tiles/tiles.txt` says where it puts elements.

use crate::harness::{Machine, Random};
use crate::images::{Resource, memory};
use wavemill_wave::{Event, Simd};

const FIXTURE: &str = include_str!("../tiles/tiles.txt");

/// An image of the fixture.
struct Image {
    generation: &'static str,
    mode: u32,
    bytes: usize,
    pitch: u32,
    width: u32,
    height: u32,
    slices: u32,
    levels: u32,
    /// x, y, slice, level and offset.
    elements: Vec<[u32; 5]>,
}

fn images() -> impl Iterator<Item = Image> {
    FIXTURE.lines().map(|line| {
        let mut words = line.split(' ');
        let generation = words.next().unwrap();
        let mut number = || words.next().unwrap().parse::<u32>().unwrap();
        let [mode, bytes, pitch, width, height, slices, levels] = std::array::from_fn(|_| number());
        let element = |e: &str| -> [u32; 5] {
            e.split(',').map(|n| n.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap()
        };
        let elements = words.map(element).collect();
        Image { generation, mode, bytes: bytes as usize, pitch, width, height, slices, levels, elements }
    })
}

fn cpus(generation: &str) -> &'static [&'static str] {
    match generation {
        "gfx6" => &["gfx600"],
        "gfx7" => &["gfx701"],
        "gfx8" => &["gfx803"],
        _ => &["gfx900", "gfx906", "gfx908", "gfx90a"],
    }
}

/// Data formats of unsigned integers, by size.
fn format(bytes: usize) -> u32 {
    match bytes {
        1 => 1,
        2 => 2,
        4 => 4,
        8 => 11,
        _ => 14,
    }
}

/// Loads and stores of arrays with their levels: what is loaded stands, and what is stored goes, where the library says.
#[test]
fn loads_and_stores() {
    let mut random = Random(61);
    for image in images() {
        for cpu in cpus(image.generation) {
            // It has no levels.
            if *cpu == "gfx90a" && image.levels > 1 {
                continue;
            }
            let n = image.bytes.div_ceil(4);
            let registers = |first: usize| {
                if n == 1 { format!("v{first}") } else { format!("v[{first}:{}]", first + n - 1) }
            };
            let text = format!(
                "image_load{mip} {}, v[0:3], s[8:15] dmask:{mask:#x} unorm da\n\
                 v_mov_b32 v8, 0x5a\n v_mov_b32 v9, 0\n v_mov_b32 v10, 0\n v_mov_b32 v11, 0\n\
                 image_store{mip} {}, v[0:3], s[8:15] dmask:{mask:#x} unorm da",
                registers(4),
                registers(8),
                mask = (1 << n) - 1,
                mip = if image.levels > 1 { "_mip" } else { "" },
            );
            let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
            let last = image.elements.iter().map(|e| e[4]).max().unwrap() as usize;
            let data: Vec<u8> = (0..last + image.bytes).map(|_| random.next() as u8).collect();
            let base = memory(&mut machine, &data);
            let mut wave = machine.wave();
            wave.set_exec(0xffff_ffff);
            let size = [image.width, image.height, 1];
            Resource {
                pitch: image.pitch,
                slices: [0, image.slices - 1],
                levels: [0, image.levels - 1],
                tiling: Some(image.mode),
                ..Resource::new(base, 13, format(image.bytes), 4, size)
            }
            .set(&mut wave, cpu);
            for (lane, e) in image.elements.iter().enumerate() {
                for (i, x) in e[..4].iter().enumerate() {
                    wave.vgpr_mut(i as u16).unwrap()[lane] = *x;
                }
            }
            let what = format!("{cpu} mode {} {} bytes", image.mode, image.bytes);
            assert_eq!(machine.run(&mut wave), Event::End, "{what}");
            let mut after = data.clone();
            for (lane, e) in image.elements.iter().enumerate() {
                let at = e[4] as usize;
                let mut got = Vec::new();
                for r in 0..n {
                    got.extend(wave.vgpr(4 + r as u16).unwrap()[lane].to_le_bytes());
                }
                assert_eq!(got[..image.bytes], data[at..at + image.bytes], "{what}: element {e:?}");
                after[at..at + image.bytes].fill(0);
                after[at] = 0x5a;
            }
            assert_eq!(machine.read(base, data.len()), after, "{what}");
        }
    }
}

/// Samples of an image without slices.
#[test]
fn samples() {
    let mut random = Random(62);
    for image in images().filter(|i| i.bytes == 4 && i.levels == 1) {
        for cpu in cpus(image.generation) {
            let text = "image_sample v4, v[0:1], s[8:15], s[16:19] dmask:1 unorm";
            let mut machine = Machine::new(cpu, Simd::detect(), text, 0);
            let first: Vec<_> = image.elements.iter().filter(|e| e[2] == 0).collect();
            let last = first.iter().map(|e| e[4]).max().unwrap() as usize;
            let data: Vec<u8> = (0..last + 4).map(|_| random.next() as u8 & 0x3f).collect();
            let base = memory(&mut machine, &data);
            let mut wave = machine.wave();
            wave.set_exec((1 << first.len()) - 1);
            // 32-bit floats, coordinates in texels.
            Resource {
                pitch: image.pitch,
                tiling: Some(image.mode),
                ..Resource::new(base, 9, 4, 7, [image.width, image.height, 1])
            }
            .set(&mut wave, cpu);
            wave.set_sgpr(16, 1 << 15);
            for (lane, e) in first.iter().enumerate() {
                wave.vgpr_mut(0).unwrap()[lane] = (e[0] as f32 + 0.5).to_bits();
                wave.vgpr_mut(1).unwrap()[lane] = (e[1] as f32 + 0.5).to_bits();
            }
            assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {}", image.mode);
            for (lane, e) in first.iter().enumerate() {
                let want = u32::from_le_bytes(data[e[4] as usize..e[4] as usize + 4].try_into().unwrap());
                assert_eq!(wave.vgpr(4).unwrap()[lane], want, "{cpu} {}: {e:?}", image.mode);
            }
        }
    }
}

/// Blocks of compressed texels are tiled as elements of their size; GFX9's pitch counts them, older ones' texels.
#[test]
fn compressed_texels() {
    let mut random = Random(63);
    for image in images().filter(|i| i.bytes == 8 && i.levels == 1) {
        for cpu in cpus(image.generation) {
            let text = "image_load v4, v[0:2], s[8:15] dmask:1 unorm da";
            let mut machine = Machine::new(cpu, Simd::detect(), text, 0);
            let last = image.elements.iter().map(|e| e[4]).max().unwrap() as usize;
            let data: Vec<u8> = (0..last + 8).map(|_| random.next() as u8).collect();
            let base = memory(&mut machine, &data);
            let mut wave = machine.wave();
            wave.set_exec(0xffff_ffff);
            let gfx9 = image.generation == "gfx9";
            Resource {
                pitch: if gfx9 { image.pitch } else { 4 * image.pitch },
                slices: [0, image.slices - 1],
                tiling: Some(image.mode),
                // BC4.
                ..Resource::new(base, 13, 38, 0, [4 * image.width - 1, 4 * image.height - 2, 1])
            }
            .set(&mut wave, cpu);
            for (lane, e) in image.elements.iter().enumerate() {
                for (i, x) in [4 * e[0] + 1, 4 * e[1] + 1, e[2]].into_iter().enumerate() {
                    wave.vgpr_mut(i as u16).unwrap()[lane] = x;
                }
            }
            assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {}", image.mode);
            for (lane, e) in image.elements.iter().enumerate() {
                let at = e[4] as usize;
                let block = u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
                let (p, q) = ((block & 255) as f64, (block >> 8 & 255) as f64);
                let want = match (block >> (16 + 3 * 5) & 7, p > q) {
                    (0, _) => p,
                    (1, _) => q,
                    (i, true) => p + (q - p) * (i - 1) as f64 / 7.0,
                    (6, false) => 0.0,
                    (7, false) => 255.0,
                    (i, false) => p + (q - p) * (i - 1) as f64 / 5.0,
                };
                let got = f32::from_bits(wave.vgpr(4).unwrap()[lane]) as f64;
                assert!((got - want / 255.0).abs() < 1e-6, "{cpu} {}: {e:?}: {got}", image.mode);
            }
        }
    }
}
