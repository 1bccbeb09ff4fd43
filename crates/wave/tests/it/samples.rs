//! Sampling: every instruction on a ramp whose filtered values are known, then one thing after the other.

use crate::harness::Machine;
use crate::images::{CPUS, Resource, memory, sample_rows};
use crate::texels::single_to_half;
use wavemill_wave::{Event, FaultKind, Simd, Wave};

/// A sampler, in the manual's fields.
#[derive(Clone, Copy, Default)]
struct Sampler {
    clamp: u32,
    aniso: u32,
    compare: u32,
    unnormalized: u32,
    degamma: u32,
    reduce: u32,
    lods: Option<[u32; 2]>,
    bias: i32,
    filter: u32,
    z: u32,
    mip: u32,
    preclamp: u32,
    border: u32,
}

impl Sampler {
    fn set(&self, wave: &mut Wave) {
        let [low, high] = self.lods.unwrap_or([0, 0xfff]);
        let words = [
            (self.clamp * 0o111)
                | self.aniso << 9
                | self.compare << 12
                | self.unnormalized << 15
                | self.degamma << 20
                | self.reduce << 29,
            low | high << 12,
            self.bias as u32 & 0x3fff
                | self.filter << 20
                | self.filter << 22
                | self.z << 24
                | self.mip << 26
                | self.preclamp << 28,
            self.border << 30,
        ];
        for (i, w) in words.into_iter().enumerate() {
            wave.set_sgpr(16 + i as u32, w);
        }
    }
}

const LEVELS: u32 = 4;
const SIZE: u32 = 64;

/// What texel (x, y) of a level holds: linear in the coordinates, so that filters inside the image change nothing.
fn ramp(level: u32, x: f64, y: f64) -> f64 {
    let n = (SIZE >> level) as f64;
    1000.0 * level as f64 + 100.0 * (x + 0.5) / n + (y + 0.5) / n
}

fn ramp_image() -> Vec<u8> {
    let mut bytes = Vec::new();
    for level in 0..LEVELS {
        let n = SIZE >> level;
        for y in 0..n {
            for x in 0..64 {
                let v = if x < n { ramp(level, x as f64, y as f64) } else { -1.0 };
                bytes.extend((v as f32).to_le_bytes());
            }
        }
    }
    bytes
}

/// The words of a name behind the instruction's stem.
struct Parts {
    gather: bool,
    row: bool,
    words: Vec<String>,
}

impl Parts {
    fn of(name: &str) -> Parts {
        let gather = name.starts_with("image_gather4");
        let words = name.split('_').skip(2).map(str::to_owned).collect();
        Parts { gather, row: name == "image_gather4h", words }
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w == word)
    }
}

/// Address registers of a lane: dwords, or halves where they may be short.
struct Address {
    short: bool,
    dwords: Vec<u32>,
    open: bool,
}

impl Address {
    fn whole(&mut self, word: u32) {
        self.dwords.push(word);
        self.open = false;
    }

    fn float(&mut self, x: f64) {
        let bits = (x as f32).to_bits();
        if !self.short {
            return self.whole(bits);
        }
        let half = single_to_half(bits);
        if self.open {
            *self.dwords.last_mut().unwrap() |= half << 16;
        } else {
            self.dwords.push(half);
        }
        self.open = !self.open;
    }

    fn align(&mut self) {
        self.open = false;
    }
}

fn registers(first: usize, n: usize) -> String {
    if n == 1 { format!("v{first}") } else { format!("v[{first}:{}]", first + n - 1) }
}

/// Every sample and gather, on every processor, with 32-bit and (GFX9) 16-bit addresses.
#[test]
fn every_instruction() {
    let image = ramp_image();
    let mut count = 0;
    for cpu in CPUS {
        for row in sample_rows(cpu) {
            for short in [false, true] {
                if short && !cpu.starts_with("gfx9") {
                    continue;
                }
                let p = Parts::of(row.name);
                let (compares, offset) = (p.has("c"), p.has("o"));
                let gradient = p.has("d") || p.has("cd");
                let mut addresses = Vec::new();
                let mut want: Vec<[f64; 4]> = Vec::new();
                for lane in 0..64usize {
                    let quad = lane / 4;
                    let k = (quad % 4) as u32;
                    // Steps of a power of two of texels, so that levels are whole numbers.
                    let step = (1 << k) as f64 / SIZE as f64;
                    let (u0, v0) = (0.5 + (quad % 5) as f64 / 128.0, 0.375 + (quad % 3) as f64 / 128.0);
                    let (u, v) = (u0 + (lane & 1) as f64 * step, v0 + (lane >> 1 & 1) as f64 * step);
                    let mut level = k as f64;
                    let mut a = Address { short, dwords: Vec::new(), open: false };
                    let (dx, dy) = if offset { (-2i32, 1i32) } else { (0, 0) };
                    if offset {
                        a.whole((dx & 63) as u32 | ((dy & 63) as u32) << 8);
                    }
                    if p.has("b") {
                        level += 1.0;
                        a.float(1.0);
                        a.align();
                    }
                    if gradient {
                        level = (3 - k) as f64;
                    }
                    if p.has("l") {
                        level = ((k + 2) % 4) as f64;
                    }
                    if p.has("lz") {
                        level = 0.0;
                    }
                    if p.has("cl") {
                        level = level.max(2.0);
                    }
                    let level = level.min(3.0) as u32;
                    let n = (SIZE >> level) as f64;
                    let (x, y) = (u * n, v * n);
                    let near = [x.floor() as i32 + dx, y.floor() as i32 + dy];
                    let corner = [(x - 0.5).floor() as i32 + dx, (y - 0.5).floor() as i32 + dy];
                    let at = |p: [i32; 2]| ramp(level, p[0] as f64, p[1] as f64);
                    let reference =
                        at(if p.gather { corner } else { near }) + if lane % 2 == 0 { -0.25 } else { 0.25 };
                    if compares {
                        a.whole((reference as f32).to_bits());
                    }
                    if gradient {
                        let long = (1 << (3 - k)) as f64 / SIZE as f64;
                        for g in [[0.0, long], [long / 2.0, 0.0]] {
                            g.into_iter().for_each(|g| a.float(g));
                            a.align();
                        }
                    }
                    a.float(u);
                    a.float(v);
                    if p.has("l") {
                        a.float(((k + 2) % 4) as f64);
                    }
                    if p.has("cl") {
                        a.float(2.0);
                    }
                    let test = |t: f64| if compares { (reference <= t) as u32 as f64 } else { t };
                    want.push(if p.gather {
                        let [i, j] = corner;
                        match p.row {
                            false => [[i, j + 1], [i + 1, j + 1], [i + 1, j], [i, j]].map(|c| test(at(c))),
                            true => [[i, j], [i + 1, j], [i + 2, j], [i + 3, j]].map(|c| test(at(c))),
                        }
                    } else if compares {
                        [test(at(near)), 0.0, 0.0, 0.0]
                    } else {
                        let linear = ramp(level, x - 0.5 + dx as f64, y - 0.5 + dy as f64);
                        [linear, 0.0, 0.0, 0.0]
                    });
                    addresses.push(a.dwords);
                }
                let n = addresses[0].len();
                let n = (n..=16).find(|n| row.addr >> (n - 1) & 1 != 0).expect("a register count");
                let to = registers(20, if p.gather { 4 } else { 1 });
                let suffix = if short { " a16" } else { "" };
                let text =
                    format!("{} {to}, {}, s[8:15], s[16:19] dmask:1{suffix}", row.name, registers(0, n));
                let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
                let base = memory(&mut machine, &image);
                let mut wave = machine.wave();
                Resource { levels: [0, LEVELS - 1], ..Resource::new(base, 9, 4, 7, [SIZE, SIZE, 1]) }
                    .set(&mut wave, cpu);
                let filter = if compares { 0 } else { 1 };
                Sampler { clamp: 2, compare: 3, filter, mip: 2, ..Sampler::default() }.set(&mut wave);
                for (lane, dwords) in addresses.iter().enumerate() {
                    for (i, d) in dwords.iter().enumerate() {
                        wave.vgpr_mut(i as u16).unwrap()[lane] = *d;
                    }
                }
                assert_eq!(machine.run(&mut wave), Event::End, "{cpu} {text}");
                for (lane, want) in want.iter().enumerate() {
                    for (i, want) in want.iter().enumerate().take(if p.gather { 4 } else { 1 }) {
                        let got = f32::from_bits(wave.vgpr(20 + i as u16).unwrap()[lane]) as f64;
                        assert!((got - want).abs() < 2e-3, "{cpu} {text} lane {lane} {i}: {got} {want}");
                    }
                }
                count += 1;
            }
        }
    }
    assert!(count > 500, "{count}");
}

/// Runs a sample of a line, plane or body of f32 texels; the lanes' coordinates are given for each dimension.
fn sample(
    cpu: &str,
    op: &str,
    resource: Resource,
    data: &[u8],
    sampler: Sampler,
    coordinates: &[&dyn Fn(usize) -> f32],
) -> Result<[f32; 64], FaultKind> {
    let text = format!("{op} v20, {}, s[8:15], s[16:19] dmask:1", registers(0, coordinates.len().max(1)));
    let text = match op.split_once(' ') {
        Some((op, modifiers)) => {
            format!("{op} v20, {}, s[8:15], s[16:19] dmask:1 {modifiers}", registers(0, coordinates.len()))
        }
        None => text,
    };
    let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
    let base = memory(&mut machine, data);
    let mut wave = machine.wave();
    Resource { base, ..resource }.set(&mut wave, cpu);
    sampler.set(&mut wave);
    for lane in 0..64 {
        for (i, c) in coordinates.iter().enumerate() {
            wave.vgpr_mut(i as u16).unwrap()[lane] = c(lane).to_bits();
        }
    }
    match machine.run(&mut wave) {
        Event::End => Ok(wave.vgpr(20).unwrap().map(f32::from_bits)),
        Event::Fault(f) => Err(f.kind),
        e => panic!("{cpu} {text}: {e:?}"),
    }
}

fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// Which texel of eight a number outside names, step by step.
fn texel(mode: u32, mut i: i32) -> Option<i32> {
    let n = 8;
    match mode {
        0 => {
            while i < 0 {
                i += n;
            }
            while i >= n {
                i -= n;
            }
            Some(i)
        }
        1 => {
            while !(0..n).contains(&i) {
                i = if i < 0 { -1 - i } else { 2 * n - 1 - i };
            }
            Some(i)
        }
        2 | 4 => Some(i.max(0).min(n - 1)),
        3 | 5 => Some(if i < 0 { -1 - i } else { i }.min(n - 1)),
        6 => (0..n).contains(&i).then_some(i),
        _ => {
            let i = if i < 0 { -1 - i } else { i };
            (i < n).then_some(i)
        }
    }
}

#[test]
fn address_modes() {
    let line = floats((0..64).map(|x| 10.0 + x as f32));
    for cpu in ["gfx600", "gfx803", "gfx908"] {
        let resource = Resource { pitch: 64, ..Resource::new(0, 8, 4, 7, [8, 1, 1]) };
        for clamp in 0..8 {
            for (border, color) in [(0, 0.0), (1, 0.0), (2, 1.0)] {
                let sampler = Sampler { clamp, border, ..Sampler::default() };
                let u = |lane: usize| (lane as f32 - 28.0 + 0.5) / 8.0;
                let got = sample(cpu, "image_sample_lz", resource, &line, sampler, &[&u]).unwrap();
                for (lane, got) in got.into_iter().enumerate() {
                    let want = texel(clamp, lane as i32 - 28).map_or(color, |i| 10.0 + i as f32);
                    assert_eq!(got, want, "{cpu} mode {clamp} border {border} lane {lane}");
                }
            }
        }
        // Half way between two texels, filters take half of each: of the last and the border with half or whole ones.
        for (clamp, beyond, before) in [(0, 17.0, 10.0), (2, 17.0, 10.0), (4, 8.5, 5.0), (6, 0.0, 0.0)] {
            let sampler = Sampler { clamp, filter: 1, ..Sampler::default() };
            let u = |lane: usize| [1.0, 0.0, 1.0 + 1.0 / 16.0, -1.0 / 16.0, 0.5][lane % 5];
            let got = sample(cpu, "image_sample_lz", resource, &line, sampler, &[&u]).unwrap();
            let edge = |inner: f32| match clamp {
                0 => (10.0 + 17.0) / 2.0,
                2 => inner,
                _ => inner / 2.0,
            };
            assert_eq!(got[..2], [edge(17.0), edge(10.0)], "{cpu} {clamp}");
            let ends = if clamp == 0 { [10.0, 17.0] } else { [beyond, before] };
            assert_eq!(got[2..5], [ends[0], ends[1], 13.5], "{cpu} {clamp}");
        }
        // A table of border colors is a driver's business.
        let sampler = Sampler { clamp: 6, border: 3, ..Sampler::default() };
        let fault = sample(cpu, "image_sample_lz", resource, &line, sampler, &[&|_| 2.0]).unwrap_err();
        assert!(matches!(fault, FaultKind::Descriptor { what } if what.contains("border")), "{fault:?}");
    }
}

#[test]
fn filters() {
    let cpu = "gfx900";
    let line = floats((0..64).map(|x| (x * x) as f32));
    let resource = Resource { pitch: 64, ..Resource::new(0, 8, 4, 7, [8, 1, 1]) };
    let u = |lane: usize| (0.5 + lane as f32 / 16.0) / 8.0;
    let base = Sampler { clamp: 2, ..Sampler::default() };
    let run = |sampler: Sampler| sample(cpu, "image_sample_lz", resource, &line, sampler, &[&u]).unwrap();
    let (point, linear) = (run(base), run(Sampler { filter: 1, ..base }));
    let (least, most) =
        (run(Sampler { filter: 1, reduce: 1, ..base }), run(Sampler { filter: 1, reduce: 2, ..base }));
    for lane in 0..64 {
        let (i, part) = ((lane / 16) as f32, (lane % 16) as f32 / 16.0);
        let (a, b) = (i * i, (i + 1.0) * (i + 1.0));
        assert_eq!(point[lane], if part < 0.5 { a } else { b });
        assert!((linear[lane] - (a + (b - a) * part)).abs() < 1e-5);
        assert_eq!((least[lane], most[lane]), if part == 0.0 { (a, a) } else { (a, b) });
    }
    // Between levels: 1 at level 0, 3 at level 1.
    let levels = floats((0..128).map(|x| if x < 64 { 1.0 } else { 3.0 }));
    let two = Resource { levels: [0, 1], ..resource };
    let lod = |lane: usize| lane as f32 / 16.0 - 1.0;
    for (mip, preclamp) in [(0, 0), (1, 0), (1, 1), (2, 0)] {
        let sampler = Sampler { mip, preclamp, filter: 1, ..base };
        let got = sample(cpu, "image_sample_l", two, &levels, sampler, &[&|_| 0.5, &lod]).unwrap();
        for (lane, got) in got.into_iter().enumerate() {
            let l = lod(lane).clamp(0.0, 1.0);
            let want = match mip {
                0 => 1.0,
                1 => {
                    if l < 0.5 {
                        1.0
                    } else {
                        3.0
                    }
                }
                _ => 1.0 + 2.0 * l,
            };
            assert_eq!(got, want, "mip {mip} {preclamp} lane {lane}");
        }
    }
    // The sampler's bias and limits, in 256ths; the image's lower limit.
    let sampler = Sampler { mip: 2, filter: 1, bias: 64, lods: Some([32, 192]), ..base };
    let got = sample(cpu, "image_sample_l", two, &levels, sampler, &[&|_| 0.5, &lod]).unwrap();
    for (lane, got) in got.into_iter().enumerate() {
        assert_eq!(got, 1.0 + 2.0 * (lod(lane) + 0.25).clamp(0.125, 0.75), "lane {lane}");
    }
    // Several samples along a line give the same on a ramp, at a finer level.
    let ramp: Vec<u8> = ramp_image();
    let plane = Resource { levels: [0, LEVELS - 1], ..Resource::new(0, 9, 4, 7, [SIZE, SIZE, 1]) };
    for (aniso, level) in [(0, 3), (1, 2), (2, 1), (3, 1), (4, 1)] {
        let sampler = Sampler { clamp: 2, filter: 3, mip: 2, aniso, ..Sampler::default() };
        let (dudx, dvdy) = (8.0 / 64.0, 2.0 / 64.0);
        let zero = |_: usize| 0.0;
        let got = sample(
            cpu,
            "image_sample_d",
            plane,
            &ramp,
            sampler,
            &[&|_| dudx, &zero, &zero, &|_| dvdy, &|_| 0.5, &|_| 0.4375],
        );
        let want = 1000.0 * level as f32 + 50.0 + 0.4375;
        assert!((got.unwrap()[0] - want).abs() < 2e-3, "{aniso}: {} {want}", got.unwrap()[0]);
    }
}

/// Slices are rounded and limited; cubes have coordinates from 1 to 2 and eight numbers for six faces.
#[test]
fn slices_faces_and_bodies() {
    let stack = floats((0..64 * 64).map(|i| (i / 64 / 2) as f32));
    for cpu in ["gfx701", "gfx803", "gfx906"] {
        let array = Resource { pitch: 64, slices: [1, 12], ..Resource::new(0, 13, 4, 7, [2, 2, 1]) };
        let sampler = Sampler { clamp: 2, filter: 1, ..Sampler::default() };
        let z = |lane: usize| lane as f32 / 4.0 - 1.0;
        let half = |_: usize| 0.5;
        let got = sample(cpu, "image_sample_lz da", array, &stack, sampler, &[&half, &half, &z]).unwrap();
        for (lane, got) in got.into_iter().enumerate() {
            let slice = z(lane).round_ties_even().clamp(0.0, 11.0);
            assert_eq!(got, slice + 1.0, "{cpu} lane {lane}");
        }
        let line = Resource { kind: 12, size: [2, 1, 1], ..array };
        let got = sample(cpu, "image_sample_lz da", line, &stack, sampler, &[&half, &z]).unwrap();
        for (lane, got) in got.into_iter().enumerate() {
            let slice = z(lane).round_ties_even().clamp(0.0, 11.0);
            assert_eq!(got, ((slice + 1.0) / 2.0).floor(), "{cpu} lane {lane}");
        }
        let cube = Resource { kind: 11, slices: [0, 11], ..array };
        let face = |lane: usize| (lane % 2 * 8 + lane / 2 % 6) as f32;
        let middle = |_: usize| 1.5;
        let got =
            sample(cpu, "image_sample_lz da", cube, &stack, sampler, &[&middle, &middle, &face]).unwrap();
        for (lane, got) in got.into_iter().enumerate() {
            assert_eq!(got, (lane % 2 * 6 + lane / 2 % 6) as f32, "{cpu} lane {lane}");
        }
        // A body of two by two by eight: the third coordinate is filtered by itself.
        let body = Resource { kind: 10, size: [2, 2, 8], slices: [0, 0], ..array };
        let w = |lane: usize| (lane as f32 / 8.0) / 8.0;
        for z in [1, 2] {
            let sampler = Sampler { z, ..sampler };
            let got = sample(cpu, "image_sample_lz", body, &stack, sampler, &[&half, &half, &w]).unwrap();
            for (lane, got) in got.into_iter().enumerate() {
                let at = lane as f32 / 8.0;
                let want = if z == 1 { at.floor() } else { (at - 0.5).clamp(0.0, 7.0) };
                assert_eq!(got, want, "{cpu} z {z} lane {lane}");
            }
        }
    }
}

/// Coordinates in texels, integers, gamma, and single components.
#[test]
fn coordinates_and_formats() {
    let line: Vec<u8> = (0..=255).collect();
    for cpu in ["gfx600", "gfx900", "gfx90a"] {
        let op = if cpu == "gfx90a" { "image_sample" } else { "image_sample_lz" };
        let resource = Resource { pitch: 256, ..Resource::new(0, 8, 1, 0, [256, 1, 1]) };
        let sampler = Sampler { clamp: 2, filter: 1, ..Sampler::default() };
        let u = |lane: usize| lane as f32 * 4.0 + 0.75;
        let want: [f32; 64] = std::array::from_fn(|l| (l as f32 * 4.0 + 0.25) / 255.0);
        for (force, modifier) in [(1, ""), (0, " unorm")] {
            let sampler = Sampler { unnormalized: force, ..sampler };
            let got = sample(cpu, &format!("{op}{modifier}"), resource, &line, sampler, &[&u]).unwrap();
            for lane in 0..64 {
                assert!((got[lane] - want[lane]).abs() < 1e-6, "{cpu} {modifier} lane {lane}: {}", got[lane]);
            }
        }
        // Integers are not filtered.
        let sampler = Sampler { unnormalized: 1, ..sampler };
        let got = sample(cpu, op, Resource { nfmt: 4, ..resource }, &line, sampler, &[&u]).unwrap();
        assert_eq!(got.map(f32::to_bits), std::array::from_fn(|l| 4 * l as u32), "{cpu}");
        // Gamma of the format, and forced.
        let linear = |n: f64| {
            let x = n / 255.0;
            if x <= 0.04045 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
        };
        for (nfmt, degamma) in [(9, 0), (0, 1)] {
            let sampler = Sampler { filter: 0, degamma, ..sampler };
            let got = sample(cpu, op, Resource { nfmt, ..resource }, &line, sampler, &[&u]).unwrap();
            for (lane, got) in got.into_iter().enumerate() {
                assert!((got as f64 - linear(4.0 * lane as f64)).abs() < 1e-7, "{cpu} lane {lane}");
            }
        }
    }
}

/// The level of detail: what is used, and what it was before its limits.
#[test]
fn level_of_detail() {
    for cpu in ["gfx600", "gfx701", "gfx803", "gfx900", "gfx906", "gfx908"] {
        let text = "image_get_lod v[20:21], v[0:1], s[8:15], s[16:19] dmask:3";
        let mut machine = Machine::new(cpu, Simd::detect(), text, 0);
        let base = memory(&mut machine, &ramp_image());
        let mut wave = machine.wave();
        Resource { levels: [0, LEVELS - 1], ..Resource::new(base, 9, 4, 7, [SIZE, SIZE, 1]) }
            .set(&mut wave, cpu);
        Sampler { lods: Some([64, 0xfff]), bias: 128, ..Sampler::default() }.set(&mut wave);
        let step = |quad: usize| 2f64.powf(quad as f64 / 2.0 - 2.0);
        for lane in 0..64 {
            let s = step(lane / 4) / SIZE as f64;
            wave.vgpr_mut(0).unwrap()[lane] = ((lane & 1) as f64 * s).to_bits_f32();
            wave.vgpr_mut(1).unwrap()[lane] = ((lane >> 1 & 1) as f64 * s / 2.0).to_bits_f32();
        }
        assert_eq!(machine.run(&mut wave), Event::End, "{cpu}");
        for lane in 0..64 {
            let raw = (lane / 4) as f64 / 2.0 - 2.0 + 0.5;
            let got = |r: u16| f32::from_bits(wave.vgpr(r).unwrap()[lane]) as f64;
            assert!((got(21) - raw).abs() < 1e-5, "{cpu} {lane}: {} {raw}", got(21));
            assert!((got(20) - raw.clamp(0.25, 3.0)).abs() < 1e-5, "{cpu} {lane}: {}", got(20));
        }
    }
}

trait Single {
    fn to_bits_f32(self) -> u32;
}

impl Single for f64 {
    fn to_bits_f32(self) -> u32 {
        (self as f32).to_bits()
    }
}

/// MODE.LOD_CLAMPED (manual 3.5, bit 10): set, and it stays, when an access wanted finer texels than MIN_LOD lets the image have.
#[test]
fn clamped_levels_are_noted() {
    // gfx90a samples without levels only.
    for cpu in CPUS.into_iter().filter(|cpu| *cpu != "gfx90a") {
        for (min_lod, lod, want) in [(0, 0.0, 0), (256, 0.0, 1), (256, 1.0, 0), (256, 2.5, 0), (512, 1.5, 1)]
        {
            let text = "image_sample_l v4, v[0:2], s[8:15], s[16:19] dmask:1\ns_waitcnt 0\n\
                s_getreg_b32 s30, hwreg(HW_REG_MODE, 10, 1)";
            let mut machine = Machine::new(cpu, Simd::detect(), text, 0);
            let image = ramp_image();
            let base = memory(&mut machine, &image);
            let mut wave = machine.wave();
            let levels = [0, LEVELS - 1];
            Resource { levels, ..Resource::new(base, 9, 4, 7, [SIZE, SIZE, 1]) }.set(&mut wave, cpu);
            wave.set_sgpr(9, wave.sgpr(9) | min_lod << 8);
            Sampler { mip: 1, ..Sampler::default() }.set(&mut wave);
            for (register, value) in [0.5f32, 0.5, lod].into_iter().enumerate() {
                *wave.vgpr_mut(register as u16).unwrap() = [value.to_bits(); 64];
            }
            assert_eq!(machine.run(&mut wave), Event::End, "{cpu}");
            assert_eq!(wave.sgpr(30), want, "{cpu}: MIN_LOD {min_lod}, level {lod}");
        }
    }
}

/// LWE: the register behind the data has LOD_CLAMPED (manual, table of MIMG fields) where the level of detail is below the image's
/// MIN_LOD_WARN (bits 203:192, in 256ths). LLVM has a register more for it (D48826).
#[test]
fn levels_are_warned_of() {
    for cpu in CPUS.into_iter().filter(|cpu| *cpu != "gfx90a") {
        for (warn, modifiers, want) in
            [(384, "lwe", [1, 1, 0, 0]), (0, "lwe", [0; 4]), (384, "", [7; 4]), (640, "lwe", [1, 1, 1, 1])]
        {
            let text =
                format!("image_sample_l v4, v[0:2], s[8:15], s[16:19] dmask:1 {modifiers}\ns_waitcnt 0");
            let mut machine = Machine::new(cpu, Simd::detect(), &text, 0);
            let image = ramp_image();
            let base = memory(&mut machine, &image);
            let mut wave = machine.wave();
            let levels = [0, LEVELS - 1];
            Resource { levels, ..Resource::new(base, 9, 4, 7, [SIZE, SIZE, 1]) }.set(&mut wave, cpu);
            wave.set_sgpr(14, wave.sgpr(14) | warn);
            Sampler { mip: 1, ..Sampler::default() }.set(&mut wave);
            *wave.vgpr_mut(5).unwrap() = [7; 64];
            for lane in 0..64 {
                for (register, value) in [0.5f32, 0.5, (lane % 4) as f32 * 0.75].into_iter().enumerate() {
                    wave.vgpr_mut(register as u16).unwrap()[lane] = value.to_bits();
                }
            }
            assert_eq!(machine.run(&mut wave), Event::End, "{cpu}");
            let got: [u32; 64] = *wave.vgpr(5).unwrap();
            let want: [u32; 64] = std::array::from_fn(|lane| want[lane % 4]);
            assert_eq!(got, want, "{cpu}: MIN_LOD_WARN {warn}, {modifiers}");
        }
    }
}
