//! Images and samplers as kernels of Catalyst binaries see them, on all generations with OpenCL 2.0: where samples come from.

use crate::{sizes, witnessed};
use wavemill_asm::clrx;
use wavemill_device::image::format::{Channels, ORDERS, TYPES};
use wavemill_device::image::sampler::{self, Addressing, Sampler};
use wavemill_device::image::{Description, Geometry, Image};
use wavemill_device::kernarg::Value;
use wavemill_device::run::Launch;
use wavemill_device::{Device, Region, Use};

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
