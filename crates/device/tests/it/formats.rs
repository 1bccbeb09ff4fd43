//! Both tables of channels, row by row (Catalyst's ABI, "image arguments"; the numbers are HSA's): every type with every order on
//! each generation, read, sampled with both filters, sampled outside and written where OpenCL has the format, refused where it has not.
//! What is expected is computed here from OpenCL 3.0: 5.3.1.1 has the combinations and where a channel's bits are, the
//! C specification's 6.15.15 the border and missing channels, its 8.3 the conversions.

use crate::{object, sizes, witnessed};
use wavemill_device::image::format::{Channels, ORDERS, TYPES};
use wavemill_device::image::sampler::{self, Addressing, Sampler};
use wavemill_device::image::{self, Description, Geometry, Image, ImageError};
use wavemill_device::kernarg::Value;
use wavemill_device::run::Launch;
use wavemill_device::{Device, Loaded, Region, Use};
use wavemill_testing::Random;

const CPUS: [&str; 4] = ["gfx600", "gfx701", "gfx803", "gfx900"];

/// The seed's first table: OpenCL's names of channel types, by number.
const SEED_TYPES: [&str; 16] = [
    "snorm8",
    "snorm16",
    "unorm8",
    "unorm16",
    "unorm24",
    "unorm555",
    "unorm565",
    "unorm101010",
    "sint8",
    "sint16",
    "sint32",
    "uint8",
    "uint16",
    "uint32",
    "half",
    "float",
];

/// Its second: channel orders, each with the types that it may have and the channels in memory, first to last.
///
/// OpenCL has no 24 bits of depth without stencil; HSA has. `srgb` would be three bytes, which no texel of a GPU has.
const SEED_ORDERS: [(&str, &[&str], &str); 20] = [
    ("a", PLAIN, "A"),
    ("r", PLAIN, "R"),
    ("rx", PLAIN, "R"),
    ("rg", PLAIN, "RG"),
    ("rgx", PLAIN, "RG"),
    ("ra", PLAIN, "RA"),
    ("rgb", PACKED, "RGB"),
    ("rgbx", PACKED, "RGB"),
    ("rgba", PLAIN, "RGBA"),
    ("bgra", BYTES, "BGRA"),
    ("argb", BYTES, "ARGB"),
    ("abgr", BYTES, "ABGR"),
    ("srgb", &[], "RGB"),
    ("srgbx", &["unorm8"], "RGB-"),
    ("srgba", &["unorm8"], "RGBA"),
    ("sbgra", &["unorm8"], "BGRA"),
    ("intensity", FRACTIONS, "R"),
    ("luminance", FRACTIONS, "R"),
    ("depth", &["unorm16", "unorm24", "float"], "R"),
    ("depth_stencil", &["unorm24", "float"], "R"),
];
const PLAIN: &[&str] = &[
    "snorm8", "snorm16", "unorm8", "unorm16", "sint8", "sint16", "sint32", "uint8", "uint16", "uint32",
    "half", "float",
];
const PACKED: &[&str] = &["unorm555", "unorm565", "unorm101010"];
const BYTES: &[&str] = &["snorm8", "unorm8", "sint8", "uint8"];
const FRACTIONS: &[&str] = &["snorm8", "snorm16", "unorm8", "unorm16", "half", "float"];

/// A channel of an element: its name, lowest bit and width.
type Field = (u8, u32, u32);

/// A format by its definition.
struct Rule {
    ty: &'static str,
    order: &'static str,
    fields: Vec<Field>,
    bytes: usize,
}

impl Rule {
    fn of(ty: usize, order: usize) -> Option<Rule> {
        let (order, types, channels) = SEED_ORDERS[order];
        let ty = SEED_TYPES[ty];
        if !types.contains(&ty) {
            return None;
        }
        let (fields, bytes): (Vec<Field>, usize) = match (ty, order) {
            ("unorm565", _) => (vec![(b'R', 11, 5), (b'G', 5, 6), (b'B', 0, 5)], 2),
            ("unorm555", _) => (vec![(b'R', 10, 5), (b'G', 5, 5), (b'B', 0, 5)], 2),
            ("unorm101010", _) => (vec![(b'R', 20, 10), (b'G', 10, 10), (b'B', 0, 10)], 4),
            ("unorm24", _) => (vec![(b'R', 0, 24)], 4),
            // A stencil of eight bits, and 24 that are nothing.
            ("float", "depth_stencil") => (vec![(b'R', 0, 32)], 8),
            _ => {
                let width = match ty {
                    "snorm8" | "unorm8" | "sint8" | "uint8" => 8,
                    "sint32" | "uint32" | "float" => 32,
                    _ => 16,
                };
                let all = channels.bytes().zip((0..).step_by(width as usize)).map(|(c, at)| (c, at, width));
                (all.filter(|f| f.0 != b'-').collect(), channels.len() * width as usize / 8)
            }
        };
        Some(Rule { ty, order, fields, bytes })
    }

    fn is_integer(&self) -> bool {
        self.ty.contains("int")
    }

    fn is_gamma(&self, channel: u8) -> bool {
        self.order.starts_with('s') && channel != b'A'
    }

    /// What a channel's bits mean; integers as they are.
    fn meaning(&self, (channel, _, width): Field, bits: u64) -> f64 {
        let signed = ((bits << (64 - width)) as i64 >> (64 - width)) as f64;
        let top = (1u64 << width) as f64 - 1.0;
        match &self.ty[..4] {
            "unor" if self.is_gamma(channel) => linear(bits as f64 / top),
            "unor" => bits as f64 / top,
            "snor" => (signed / ((top - 1.0) / 2.0)).max(-1.0),
            "sint" => signed,
            "uint" => bits as f64,
            "half" => half(bits as u16),
            _ => f64::from(f32::from_bits(bits as u32)),
        }
    }

    /// The bits that a value of a register becomes.
    fn bits(&self, (channel, _, width): Field, value: u32) -> u64 {
        let x = f64::from(f32::from_bits(value));
        let top = (1i64 << width) - 1;
        let middle = (top - 1) / 2;
        let bits = match &self.ty[..4] {
            "unor" if self.is_gamma(channel) => {
                (gamma(x.clamp(0.0, 1.0)) * top as f64).round_ties_even() as i64
            }
            "unor" => (x.clamp(0.0, 1.0) * top as f64).round_ties_even() as i64,
            "snor" => (x.clamp(-1.0, 1.0) * middle as f64).round_ties_even() as i64,
            "sint" => i64::from(value as i32).clamp(-middle - 1, middle),
            "uint" => i64::from(value).min(top),
            "half" => i64::from(nearest_half(x)),
            _ => i64::from(value),
        };
        (bits & top) as u64
    }

    /// Red, green, blue and alpha of an element.
    fn colour(&self, element: &[u8]) -> [f64; 4] {
        let mut colour = [0.0, 0.0, 0.0, 1.0];
        for field in &self.fields {
            colour[place(field.0)] = self.meaning(*field, extract(element, *field));
        }
        match self.order {
            "intensity" => [colour[0]; 4],
            "luminance" => [colour[0], colour[0], colour[0], 1.0],
            // The missing colours are black; so is alpha where there is only alpha.
            _ => colour,
        }
    }

    /// A number as the register has it.
    fn register(&self, value: f64) -> u32 {
        if self.is_integer() { value as i64 as u32 } else { (value as f32).to_bits() }
    }

    /// Alpha outside of an image.
    ///
    /// Where a texel's alpha is a constant although it has a place for one, the hardware's select makes it one outside, too:
    /// OpenCL wants zero for `rgbx` and `srgbx`.
    fn border(&self) -> f64 {
        match (self.order, self.ty) {
            ("r" | "rg" | "rgb" | "luminance" | "depth" | "depth_stencil", _) => 1.0,
            ("srgbx", _) | ("rgbx", "unorm555" | "unorm101010") => 1.0,
            _ => 0.0,
        }
    }

    /// Elements whose channels are finite and not too far apart.
    fn elements(&self, random: &mut Random) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..64 * self.bytes).map(|_| random.next() as u8).collect();
        match self.ty {
            // An exponent of 31 would be infinite.
            "half" => bytes.chunks_exact_mut(2).for_each(|h| h[1] &= 0xbf),
            "float" => bytes.chunks_exact_mut(4).for_each(|f| {
                let n = i32::from_le_bytes([f[0], f[1], f[2], f[3]]) as f32 / (1 << 24) as f32;
                f.copy_from_slice(&n.to_le_bytes());
            }),
            _ => {}
        }
        bytes
    }

    /// What to write: numbers within the range, at its ends and beyond them.
    fn values(&self, random: &mut Random) -> Vec<u32> {
        let ends = [0.0f32, 1.0, -1.0, 0.5, 2.5, -0.25, 1e-7, 0.003];
        let number = |random: &mut Random| {
            let r = random.next() as u32;
            if self.is_integer() {
                return ((r as i32) >> (random.next() % 32)) as u32;
            }
            match (self.ty, r % 4) {
                (_, 0) => ends[r as usize / 4 % ends.len()].to_bits(),
                // Of every exponent that halves have, and some below.
                ("half", _) => {
                    f32::from_bits(r & 0x807f_ffff | (99 + random.next() as u32 % 43) << 23).to_bits()
                }
                _ => (r as i32 as f32 / i32::MAX as f32 * 1.25).to_bits(),
            }
        };
        (0..256).map(|_| number(random)).collect()
    }
}

fn place(channel: u8) -> usize {
    b"RGBA".iter().position(|c| *c == channel).unwrap()
}

fn extract(element: &[u8], (_, at, width): Field) -> u64 {
    let all = element.iter().rev().fold(0u128, |n, b| n << 8 | u128::from(*b));
    (all >> at) as u64 & ((1 << width) - 1)
}

/// A finite half.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        e => (1024.0 + fraction) * 2f64.powi(e - 25),
    };
    if bits >> 15 != 0 { -magnitude } else { magnitude }
}

/// The half nearest to a number that is no larger than the largest; of two, the even one.
fn nearest_half(x: f64) -> u16 {
    let magnitude = x.abs();
    let above = (0..0x7c00).find(|h| half(*h) >= magnitude).unwrap();
    let below = above.saturating_sub(1);
    let (up, down) = (half(above) - magnitude, magnitude - half(below));
    let nearest = if up < down || up == down && above % 2 == 0 || above == 0 { above } else { below };
    nearest | u16::from(x.is_sign_negative()) << 15
}

/// sRGB's definition.
fn linear(c: f64) -> f64 {
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

fn gamma(x: f64) -> f64 {
    if x < 0.003_130_8 { x * 12.92 } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 }
}

/// `k` goes over images of eight by eight: it loads a texel and samples at its middle, moved by a constant, and between it and three
/// others; then it writes what a buffer has. `records` does what there is to do with an image of a buffer.
fn source(cpu: &str) -> String {
    let mul = if cpu < "gfx800" { 1 } else { 4 };
    let mut text = String::from(".text\n.macro load, to, dword\n");
    text += &format!("  s_load_dwordx2 \\to, s[0:1], \\dword*{mul}\n.endm\n");
    // Buffers of 16 bytes each to read and of 64 each to write; v1 is 16 times the work-item's number.
    let begin = "
  load s[4:5], 0
  load s[6:7], 2
  load s[40:41], 4
  load s[44:45], 6
  s_mov_b32 s42, -1
  s_mov_b32 s43, 0x8027fac
  s_mov_b32 s46, -1
  s_mov_b32 s47, 0x8027fac
  s_waitcnt lgkmcnt(0)
  s_and_b32 s41, s41, 0xffff
  s_and_b32 s45, s45, 0xffff
  s_load_dwordx8 s[16:23], s[4:5], 0
  s_load_dwordx8 s[24:31], s[6:7], 0
  v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[16:19], v1, s[40:43], 0 offen
  v_lshlrev_b32 v1, 6, v0
";
    let channels = format!("  s_load_dwordx2 s[14:15], s[4:5], 8*{mul}\n");
    let kernel = "
  load s[8:9], 8
  load s[10:11], 10
  load s[12:13], 12
  s_waitcnt lgkmcnt(0)
  s_load_dwordx4 s[32:35], s[8:9], 0
  s_load_dwordx4 s[36:39], s[10:11], 0
  v_and_b32 v2, 7, v0
  v_lshrrev_b32 v3, 3, v0
  v_cvt_f32_u32 v24, v2
  v_cvt_f32_u32 v25, v3
  v_add_f32 v20, s12, v24
  v_add_f32 v21, 0.5, v25
  v_add_f32 v22, 0.5, v24
  v_add_f32 v22, 0x3e800000, v22
  v_add_f32 v23, 1.0, v25
  v_add_f32 v23, 0x3e800000, v23
  s_waitcnt vmcnt(0) lgkmcnt(0)
  image_load v[4:7], v[2:3], s[16:23] dmask:15 unorm
  image_sample v[8:11], v[20:21], s[16:23], s[32:35] dmask:15
  image_sample v[12:15], v[22:23], s[16:23], s[36:39] dmask:15
  image_store v[16:19], v[2:3], s[24:31] dmask:15 unorm
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[4:7], v1, s[44:47], 0 offen
  buffer_store_dwordx4 v[8:11], v1, s[44:47], 0 offen offset:16
  buffer_store_dwordx4 v[12:15], v1, s[44:47], 0 offen offset:32
  v_mov_b32 v4, s14
  v_mov_b32 v5, s15
  buffer_store_dwordx2 v[4:5], v1, s[44:47], 0 offen offset:48
  s_endpgm
";
    let records = "
  s_waitcnt vmcnt(0) lgkmcnt(0)
  buffer_load_format_xyzw v[4:7], v0, s[16:19], 0 idxen
  buffer_store_format_xyzw v[16:19], v0, s[24:27], 0 idxen
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[4:7], v1, s[44:47], 0 offen
  s_endpgm
";
    text += &format!(".p2align 8\nk:\n{begin}{channels}{kernel}.p2align 8\nrecords:\n{begin}{records}");
    for name in ["k", "records"] {
        text += &format!(
            ".rodata\n.p2align 6\n.amdhsa_kernel {name}\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_kernarg_size 52\n\
             .amdhsa_next_free_vgpr 32\n.amdhsa_next_free_sgpr 48\n.end_amdhsa_kernel\n"
        );
    }
    text
}

struct Session {
    device: Device,
    code: std::sync::Arc<Loaded>,
    from: Region,
    out: Region,
}

/// An image, its texels and what kernels find.
struct Made {
    image: Image,
    texels: Region,
    object: Region,
}

impl Made {
    fn element(&self, i: usize) -> Vec<u8> {
        let mut bytes = vec![0; self.image.texel.bytes() as usize];
        self.texels.read(self.image.offset(self.at(i)), &mut bytes);
        bytes
    }

    fn at(&self, i: usize) -> [u64; 3] {
        let i = i as u64;
        if self.image.description.geometry == Geometry::D1Buffer { [i, 0, 0] } else { [i % 8, i / 8, 0] }
    }
}

impl Session {
    #[track_caller]
    fn new(cpu: &str) -> Session {
        let device = witnessed(cpu, 1);
        let code = device.load("formats", object(cpu, &source(cpu))).unwrap();
        let from = device.memory().allocate(64 * 16, Use::Device, "values").unwrap();
        let out = device.memory().allocate(64 * 64, Use::Device, "out").unwrap();
        Session { device, code, from, out }
    }

    fn words(&self, words: &[u32]) -> Region {
        let region = self.device.memory().allocate(64, Use::Device, "an object").unwrap();
        region.write(0, &words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>());
        region
    }

    fn image(&self, channels: Channels, geometry: Geometry, elements: &[u8]) -> Made {
        let size = if geometry == Geometry::D1Buffer { [64, 1, 1] } else { [8, 8, 1] };
        let wanted = Description { geometry, channels, size, slices: 1 };
        let image = Image::new(&wanted, 0, 0, self.device.target().level()).unwrap();
        let texels = self.device.memory().allocate(image.bytes(), Use::Device, "texels").unwrap();
        let object = self.words(&image.words(texels.start()).unwrap());
        let made = Made { image, texels, object };
        for (i, element) in elements.chunks(image.texel.bytes() as usize).enumerate() {
            made.texels.write(image.offset(made.at(i)), element);
        }
        made
    }

    /// Runs a kernel: 16 words of each work-item.
    fn run(
        &self,
        name: &str,
        [from, to]: [&Made; 2],
        values: &[u32],
        nearest: Addressing,
        shift: f32,
    ) -> Vec<[u32; 16]> {
        self.from.write(0, &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
        let level = self.device.target().level();
        let sampler = |linear, addressing| {
            self.words(&sampler::words(&Sampler { normalized: false, linear, addressing }, level))
        };
        let (nearest, linear) = (sampler(false, nearest), sampler(true, Addressing::ClampToEdge));
        let regions = [&from.object, &to.object, &self.from, &self.out, &nearest, &linear];
        let mut block: Vec<u8> = regions.iter().flat_map(|r| r.start().to_le_bytes()).collect();
        block.extend(shift.to_le_bytes());
        let values = vec![Value::Bytes(block)];
        let kernel = self.code.kernel(name).unwrap();
        let done = self.device.launch(kernel, &Launch { values, ..sizes(&[64], &[64]) }).unwrap();
        assert!(done.fault.is_none(), "{}", done.fault.unwrap());
        let words = self.out.to_vec();
        let words: Vec<u32> =
            words.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
        words.chunks_exact(16).map(|c| c.try_into().unwrap()).collect()
    }
}

/// Whether an element has what was written to it, in the bits of its channels.
fn is_written(rule: &Rule, element: &[u8], values: &[u32]) -> bool {
    rule.fields.iter().all(|f| {
        // Intensity and luminance are red.
        let value = values[place(f.0)];
        extract(element, *f) == rule.bits(*f, value)
    })
}

/// One format of a 2D image, all ways.
fn texels(s: &Session, rule: &Rule, channels: Channels, random: &mut Random) {
    let geometry = if rule.order.starts_with("depth") { Geometry::D2Depth } else { Geometry::D2 };
    let (elements, values) = (rule.elements(random), rule.values(random));
    let from = s.image(channels, geometry, &elements);
    let to = s.image(channels, geometry, &[]);
    let name = format!("{} {} {}", s.device.target().cpu.name, rule.ty, rule.order);
    assert_eq!(from.image.texel.bytes() as usize, rule.bytes, "{name}");
    let got = s.run("k", [&from, &to], &values, Addressing::ClampToEdge, 0.5);
    let colours: Vec<[f64; 4]> = elements.chunks(rule.bytes).map(|e| rule.colour(e)).collect();
    for i in 0..64 {
        let want = colours[i].map(|c| rule.register(c));
        assert_eq!(got[i][..4], want, "{name}, texel {i}, loaded");
        assert_eq!(got[i][4..8], want, "{name}, texel {i}, sampled");
        assert_eq!([got[i][12] & 0xf, got[i][13] & 0x1f], [channels.ty, channels.order], "{name}");
        let written = to.element(i);
        assert!(
            is_written(rule, &written, &values[4 * i..]),
            "{name}, texel {i}: {:?} written as {written:x?}",
            &values[4 * i..][..4]
        );
        if !rule.is_integer() {
            // A quarter of the next texel, three quarters of the next row; the last ones again beyond the edge.
            let (x, y) = (i % 8, i / 8);
            let at = |dx: usize, dy: usize| colours[(y + dy).min(7) * 8 + (x + dx).min(7)];
            for c in 0..4 {
                let corners = [at(0, 0)[c], at(1, 0)[c], at(0, 1)[c], at(1, 1)[c]];
                let want =
                    0.1875 * corners[0] + 0.0625 * corners[1] + 0.5625 * corners[2] + 0.1875 * corners[3];
                let scale = corners.iter().fold(0f64, |m, c| m.max(c.abs()));
                let filtered = f64::from(f32::from_bits(got[i][8 + c]));
                // A few roundings of f32.
                let error = (filtered - want).abs();
                assert!(
                    error <= scale * 2f64.powi(-21),
                    "{name}, texel {i}, channel {c}: {filtered}, not {want}"
                );
            }
        }
    }
    let outside = s.run("k", [&from, &to], &values, Addressing::ClampToBorder, 8.5);
    let border = [0.0, 0.0, 0.0, rule.border()].map(|c| rule.register(c));
    assert!(outside.iter().all(|o| o[4..8] == border), "{name}, outside: {:x?}", &outside[0][4..8]);
}

/// The same of an image of a buffer, which is read and written only.
fn records(s: &Session, rule: &Rule, channels: Channels, random: &mut Random) {
    let (elements, values) = (rule.elements(random), rule.values(random));
    let from = s.image(channels, Geometry::D1Buffer, &elements);
    let to = s.image(channels, Geometry::D1Buffer, &[]);
    let name = format!("{} {} {}, buffer", s.device.target().cpu.name, rule.ty, rule.order);
    let got = s.run("records", [&from, &to], &values, Addressing::ClampToEdge, 0.5);
    for (i, element) in elements.chunks(rule.bytes).enumerate() {
        assert_eq!(got[i][..4], rule.colour(element).map(|c| rule.register(c)), "{name}, {i}, loaded");
        assert!(is_written(rule, &to.element(i), &values[4 * i..]), "{name}, {i}, written");
    }
}

#[test]
fn every_row_of_both_tables_is_read_sampled_and_written_or_refused() {
    assert_eq!(TYPES, SEED_TYPES);
    assert_eq!(ORDERS, SEED_ORDERS.map(|o| o.0));
    let mut random = Random(3);
    for cpu in CPUS {
        let s = Session::new(cpu);
        let level = s.device.target().level();
        let (mut combinations, mut buffers) = (0, 0);
        for (ty, order) in (0..16).flat_map(|t| (0..20).map(move |o| (t, o))) {
            let channels = Channels { ty: ty as u32, order: order as u32 };
            let depth = SEED_ORDERS[order].0.starts_with("depth");
            let (flat, other) =
                if depth { (Geometry::D2Depth, Geometry::D2) } else { (Geometry::D2, Geometry::D2Depth) };
            let Some(rule) = Rule::of(ty, order) else {
                for geometry in [flat, other, Geometry::D1Buffer, Geometry::D3] {
                    let refused = image::texel(geometry, channels, level);
                    assert_eq!(refused.err(), Some(ImageError::Format), "{cpu} {channels:?} {geometry:?}");
                }
                continue;
            };
            assert_eq!(
                image::texel(other, channels, level).err(),
                Some(ImageError::Format),
                "{cpu} {channels:?}"
            );
            texels(&s, &rule, channels, &mut random);
            combinations += 1;
            // Buffers have neither gamma nor depth, nor texels of 16 bits in three parts.
            let plain = PLAIN.contains(&rule.ty) || rule.ty == "unorm101010";
            if plain && !depth && !rule.order.starts_with('s') {
                records(&s, &rule, channels, &mut random);
                buffers += 1;
            } else {
                let refused = image::texel(Geometry::D1Buffer, channels, level);
                assert_eq!(refused.err(), Some(ImageError::Format), "{cpu} {channels:?} buffer");
            }
        }
        // 7 orders of 12 types, 2 of 3, 3 of 4, 3 of 1, 2 of 6, 3 and 2 of depth.
        assert_eq!(combinations, 84 + 6 + 12 + 3 + 12 + 5, "{cpu}");
        assert_eq!(buffers, 84 + 2 + 12 + 12, "{cpu}");
    }
}

/// MI200 has no image of any format; numbers beyond the tables mean nothing.
#[test]
fn mi200_and_numbers_beyond_the_tables_are_refused() {
    let level = |cpu: &str| witnessed(cpu, 1).target().level();
    let (mi200, vega) = (level("gfx90a"), level("gfx900"));
    for (ty, order) in (0..16).flat_map(|t| (0..20).map(move |o| (t, o))) {
        let refused = image::texel(Geometry::D2, Channels { ty, order }, mi200);
        assert_eq!(refused.err(), Some(ImageError::NoImages), "{ty} {order}");
    }
    for (ty, order) in [(16, 8), (15, 20), (u32::MAX, u32::MAX)] {
        assert_eq!(image::texel(Geometry::D2, Channels { ty, order }, vega).err(), Some(ImageError::Format));
    }
}
