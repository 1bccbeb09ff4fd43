//! Images and samplers as kernels see them: every channel type and order that a GPU has, read, sampled and written, on all
//! generations with OpenCL 2.0. What is expected follows OpenCL's definition of the formats.

use crate::{sizes, witnessed};
use wavemill_asm::clrx;
use wavemill_device::image::format::{Channels, ORDERS, TYPES};
use wavemill_device::image::sampler::{self, Addressing, Sampler};
use wavemill_device::image::{Description, Geometry, Image};
use wavemill_device::kernarg::Value;
use wavemill_device::run::Launch;
use wavemill_device::{Device, Region, Use};
use wavemill_testing::Random;

/// Reads a texel, writes it to the other image, samples at its middle moved by a constant; both to the buffer.
const KERNEL: &str = "
.64bit
.ifarch gfx7
    SMUL = 1
.else
    SMUL = 4
.endif
.ifarch gfx9
    MORE = 2
.else
    MORE = 0
.endif
.kernel texels
    .config
        .dims x
        .useargs
        .setupargs
        .arg from, image2d, read_only
        .arg to, image2d, write_only
        .arg how, sampler
        .arg shift, float
        .arg out, uint*, global
    .text
        s_load_dwordx4 s[8:11], s[4:5], 12*SMUL
        s_load_dwordx2 s[12:13], s[4:5], 16*SMUL
        s_load_dword s14, s[4:5], 18*SMUL
        s_load_dwordx2 s[40:41], s[4:5], 20*SMUL
        s_waitcnt lgkmcnt(0)
        s_load_dwordx8 s[16:23], s[8:9], 0
        s_load_dwordx8 s[24:31], s[10:11], 0
        s_load_dwordx4 s[32:35], s[12:13], 0
        v_and_b32 v2, 7, v0
        v_lshrrev_b32 v3, 3, v0
        v_cvt_f32_u32 v12, v2
        v_cvt_f32_u32 v13, v3
        v_add_f32 v12, s14, v12
        v_add_f32 v13, 0.5, v13
        s_waitcnt lgkmcnt(0)
        image_load v[4:7], v[2:3], s[16:23] dmask:15 unorm
        image_sample v[8:11], v[12:13], s[16:23], s[32:35] dmask:15
        s_waitcnt vmcnt(0)
        image_store v[4:7], v[2:3], s[24:31] dmask:15 unorm
        s_and_b32 s41, s41, 0xffff
        s_mov_b32 s42, -1
        s_mov_b32 s43, 0x8027fac
        v_lshlrev_b32 v1, 5, v0
        buffer_store_dwordx4 v[4:7], v1, s[40:43], 0 offen
        buffer_store_dwordx4 v[8:11], v1, s[40:43], 0 offen offset:16
        s_endpgm
";

const GPUS: [(&str, &str); 3] = [("Hawaii", "gfx701"), ("Fiji", "gfx803"), ("GFX900", "gfx900")];

/// One component of a type, from its bits.
fn component(ty: &str, bits: u32) -> u32 {
    let signed = |width: u32| ((bits << (32 - width)) as i32) >> (32 - width);
    match ty {
        "unorm8" => (bits as f32 / 255.0).to_bits(),
        "unorm16" => (bits as f32 / 65535.0).to_bits(),
        "snorm8" => (signed(8) as f32 / 127.0).max(-1.0).to_bits(),
        "snorm16" => (signed(16) as f32 / 32767.0).max(-1.0).to_bits(),
        "sint8" => signed(8) as u32,
        "sint16" => signed(16) as u32,
        "half" => half(bits as u16).to_bits(),
        _ => bits,
    }
}

/// A finite half.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f32.powi(-24),
        e => (1024.0 + fraction) * 2f32.powi(e - 25),
    };
    if bits >> 15 != 0 { -magnitude } else { magnitude }
}

/// sRGB's definition.
fn linear(byte: u8) -> f32 {
    let c = f64::from(byte) / 255.0;
    (if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }) as f32
}

/// What a texel of a format reads as: red, green, blue, alpha. `None` for formats whose rule is not here.
fn expected(ty: &str, order: &str, texel: &[u8]) -> Option<[u32; 4]> {
    let integer = ty.contains("int");
    let one = if integer { 1 } else { 1f32.to_bits() };
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b));
    let packed = |shift: u32, bits: u32| {
        let top = (1u32 << bits) - 1;
        ((word(texel) >> shift & top) as f32 / top as f32).to_bits()
    };
    match ty {
        "unorm565" => return Some([packed(11, 5), packed(5, 6), packed(0, 5), one]),
        "unorm555" => return Some([packed(10, 5), packed(5, 5), packed(0, 5), one]),
        "unorm101010" => return Some([packed(20, 10), packed(10, 10), packed(0, 10), one]),
        "unorm24" => return Some([packed(0, 24), 0, 0, one]),
        _ => {}
    }
    let size = match ty {
        t if t.ends_with("m8") || t.ends_with("t8") => 1,
        t if t.ends_with("16") || t == "half" => 2,
        _ => 4,
    };
    let c: Vec<u32> = texel.chunks(size).map(|b| component(ty, word(b))).collect();
    let at = |i: usize| c.get(i).copied().unwrap_or(0);
    Some(match order {
        "a" => [0, 0, 0, at(0)],
        "r" | "rx" | "depth" => [at(0), 0, 0, one],
        "rg" | "rgx" => [at(0), at(1), 0, one],
        "ra" => [at(0), 0, 0, at(1)],
        "rgba" => [at(0), at(1), at(2), at(3)],
        "bgra" => [at(2), at(1), at(0), at(3)],
        "argb" => [at(1), at(2), at(3), at(0)],
        "abgr" => [at(3), at(2), at(1), at(0)],
        "intensity" => [at(0); 4],
        "luminance" => [at(0), at(0), at(0), one],
        "srgba" | "srgbx" | "sbgra" => {
            let [r, b] = if order == "sbgra" { [2, 0] } else { [0, 2] };
            let alpha = if order == "srgbx" { one } else { at(3) };
            [linear(texel[r]).to_bits(), linear(texel[1]).to_bits(), linear(texel[b]).to_bits(), alpha]
        }
        _ => return None,
    })
}

struct Session {
    device: Device,
    object: std::sync::Arc<wavemill_device::Loaded>,
    out: Region,
}

impl Session {
    fn new(gpu: &str, cpu: &str) -> Session {
        let source = format!(".amdcl2\n.gpu {gpu}\n{KERNEL}");
        let output = clrx::assemble(&clrx::Options::default(), "texels", source.into_bytes());
        let messages = String::from_utf8_lossy(&output.render_diagnostics()).into_owned();
        let device = witnessed(cpu, 1);
        let object = device.load("texels", output.binary.unwrap_or_else(|| panic!("{messages}"))).unwrap();
        let out = device.memory().allocate(64 * 32, Use::Device, "out").unwrap();
        Session { device, object, out }
    }

    fn object(&self, words: &[u32]) -> Region {
        let region = self.device.memory().allocate(64, Use::Device, "an object").unwrap();
        region.write(0, &words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>());
        region
    }

    /// An image of 8 by 8 texels, its memory and what kernels find.
    fn image(&self, channels: Channels, data: &[u8]) -> (Image, Region, Region) {
        let geometry = if ORDERS[channels.order as usize].starts_with("depth") {
            Geometry::D2Depth
        } else {
            Geometry::D2
        };
        let wanted = Description { geometry, channels, size: [8, 8, 1], slices: 1 };
        let image = Image::new(&wanted, 0, 0, self.device.target().level()).unwrap();
        let memory = self.device.memory().allocate(image.bytes(), Use::Device, "texels").unwrap();
        let bytes = image.texel.bytes() as usize;
        for (i, texel) in data.chunks(bytes).take(64).enumerate() {
            memory.write(image.offset([i as u64 % 8, i as u64 / 8, 0]), texel);
        }
        let object = self.object(&image.words(memory.start()).unwrap());
        (image, memory, object)
    }

    /// Loads and samples; samples are shifted.
    fn run(&self, from: &Region, to: &Region, sampler: &Sampler, shift: f32) -> Vec<[u32; 4]> {
        let how = self.object(&sampler::words(sampler, self.device.target().level()));
        let values = vec![
            Value::Object("image", from.start()),
            Value::Object("image", to.start()),
            Value::Object("sampler", how.start()),
            Value::Bytes(shift.to_le_bytes().to_vec()),
            Value::Pointer(self.out.start()),
        ];
        let kernel = self.object.kernel("texels").unwrap();
        let done = self.device.launch(kernel, &Launch { values, ..sizes(&[64], &[64]) }).unwrap();
        assert!(done.fault.is_none(), "{}", done.fault.unwrap());
        let words = self.out.to_vec();
        let words: Vec<u32> =
            words.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
        words.chunks_exact(4).map(|c| c.try_into().unwrap()).collect()
    }
}

const NEAREST: Sampler = Sampler { normalized: false, linear: false, addressing: Addressing::ClampToEdge };

#[test]
fn every_format_is_read_sampled_and_written() {
    let mut random = Random(3);
    for (gpu, cpu) in GPUS {
        let s = Session::new(gpu, cpu);
        let mut seen = (vec![false; TYPES.len()], vec![false; ORDERS.len()]);
        for (ty, type_name) in TYPES.iter().enumerate() {
            for (order, order_name) in ORDERS.iter().enumerate() {
                let channels = Channels { ty: ty as u32, order: order as u32 };
                let Some(texel) = channels.texel(s.device.target().level()) else { continue };
                let bytes = texel.bytes() as usize;
                // Small numbers: no half or float is infinite or NaN.
                let data: Vec<u8> = (0..64 * bytes).map(|_| random.next() as u8 & 0x3f).collect();
                let Some(_) = expected(type_name, order_name, &data[..bytes]) else { continue };
                (seen.0[ty], seen.1[order]) = (true, true);
                let (_, _texels, from) = s.image(channels, &data);
                let (image, written, to) = s.image(channels, &[]);
                let got = s.run(&from, &to, &NEAREST, 0.5);
                for i in 0..64 {
                    let raw = &data[i * bytes..][..bytes];
                    let want = expected(type_name, order_name, raw).unwrap();
                    let at = format!("{cpu} {type_name} {order_name} texel {i}");
                    assert_eq!(got[2 * i], want, "{at}, loaded");
                    assert_eq!(got[2 * i + 1], want, "{at}, sampled");
                    let mut stored = vec![0; bytes];
                    written.read(image.offset([i as u64 % 8, i as u64 / 8, 0]), &mut stored);
                    // Bits that no channel has are not kept.
                    let back = expected(type_name, order_name, &stored).unwrap();
                    assert_eq!(back, want, "{at}, written");
                }
            }
        }
        // No GPU has texels of three bytes.
        let missing: Vec<&str> = ORDERS.iter().zip(&seen.1).filter(|(_, s)| !**s).map(|(n, _)| *n).collect();
        assert_eq!(missing, ["srgb"], "{cpu}");
        assert!(seen.0.iter().all(|s| *s), "{cpu}: every type");
    }
}

/// Where samples outside of the image come from, and what a linear filter makes between texels.
#[test]
fn samplers_address_and_filter() {
    let find = |all: &[&str], name: &str| all.iter().position(|n| *n == name).unwrap() as u32;
    let channels = Channels { ty: find(&TYPES, "float"), order: find(&ORDERS, "r") };
    let data: Vec<u8> = (0..64).flat_map(|i| (10.0 * (i % 8) as f32).to_le_bytes()).collect();
    for (gpu, cpu) in GPUS {
        let s = Session::new(gpu, cpu);
        let (_, _texels, from) = s.image(channels, &data);
        let (_, _others, to) = s.image(channels, &[]);
        let row = |sampler: Sampler, shift: f32| -> Vec<f32> {
            let got = s.run(&from, &to, &sampler, shift);
            (0..8).map(|x| f32::from_bits(got[2 * x + 1][0])).collect()
        };
        let how = |addressing, linear| Sampler { normalized: false, linear, addressing };
        // Three texels to the right: the last three are outside.
        let moved = |addressing| row(how(addressing, false), 3.5);
        assert_eq!(moved(Addressing::ClampToEdge), [30., 40., 50., 60., 70., 70., 70., 70.], "{cpu}");
        assert_eq!(moved(Addressing::ClampToBorder), [30., 40., 50., 60., 70., 0., 0., 0.], "{cpu}");
        // Between two texels the mean of both; half outside, half of the border.
        assert_eq!(
            row(how(Addressing::ClampToEdge, true), 1.0),
            [5., 15., 25., 35., 45., 55., 65., 70.],
            "{cpu}"
        );
        assert_eq!(
            row(how(Addressing::ClampToBorder, true), 1.0),
            [5., 15., 25., 35., 45., 55., 65., 35.],
            "{cpu}"
        );
    }
}
