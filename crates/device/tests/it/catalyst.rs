//! OpenCL 2.0 binaries of Catalyst, made from CLRX's assembly, run feature by feature: seed 003 and the layout of
//! `amd_kernel_code_t` say what each kernel finds.

use crate::{sizes, witnessed};
use std::sync::Arc;
use wavemill_asm::clrx;
use wavemill_device::kernarg::Value;
use wavemill_device::run::Launch;
use wavemill_device::{Device, Loaded, Region, Use};
use wavemill_object::read::File;

const GPUS: [(&str, &str); 3] = [("Hawaii", "gfx701"), ("Fiji", "gfx803"), ("GFX900", "gfx900")];

const FEATURES: &str = include_str!("../../../../tests/catalyst/features.s");

/// Assembles a source for a GPU and a size of pointers.
fn assemble(gpu: &str, bits: u32, more: &str, body: &str) -> Vec<u8> {
    let source = format!(".amdcl2\n.gpu {gpu}\n.{bits}bit\n{more}\n{body}");
    let output = clrx::assemble(&clrx::Options::default(), "test", source.into_bytes());
    let messages = String::from_utf8_lossy(&output.render_diagnostics()).into_owned();
    output.binary.unwrap_or_else(|| panic!("{gpu}: {messages}"))
}

struct Session {
    device: Device,
    object: Arc<Loaded>,
    out: Region,
}

impl Session {
    fn new(cpu: &str, binary: Vec<u8>) -> Session {
        let device = witnessed(cpu, 2);
        let object = device.load("test.bin", binary).unwrap();
        let narrow = object.kernels[0].narrow;
        let out = device.memory().allocate_for(narrow, 4096, Use::Device, "out").unwrap();
        Session { device, object, out }
    }

    fn run(&self, kernel: &str, launch: &Launch) {
        let kernel = self.object.kernel(kernel).unwrap();
        let done = self.device.launch(kernel, launch).unwrap();
        assert!(done.fault.is_none(), "{}: {}", kernel.name, done.fault.unwrap());
    }

    fn pointer(&self) -> Value {
        Value::Pointer(self.out.start())
    }

    fn words(&self, count: usize) -> Vec<u32> {
        let bytes = self.out.to_vec();
        bytes.chunks_exact(4).take(count).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect()
    }
}

/// Calls `test` for each GPU and size of pointers.
fn everywhere(test: impl Fn(&Session, u32)) {
    for (gpu, cpu) in GPUS {
        for bits in [32, 64] {
            let session = Session::new(cpu, assemble(gpu, bits, "", FEATURES));
            assert_eq!(session.out.start() >> 32 == 0, bits == 32, "memory of 32-bit kernels is below 4 GiB");
            test(&session, bits);
        }
    }
}

#[test]
fn without_features_there_is_the_group_id() {
    everywhere(|s, _| {
        s.run("none", &sizes(&[256], &[64]));
        s.run("fetch", &Launch { values: vec![s.pointer()], ..sizes(&[256], &[64]) });
        let expected: Vec<u32> = (0..256).map(|i| i / 64 * 1000 + i % 64).collect();
        assert_eq!(s.words(256), expected);
    });
}

#[test]
fn the_set_up_pointer_is_the_dispatch_packet() {
    everywhere(|s, _| {
        let how = Launch { values: vec![s.pointer()], offset: [7, 0, 0], ..sizes(&[32, 4], &[16, 2]) };
        s.run("setup", &how);
        let words = s.words(16 + 128);
        // Two dimensions, work-group 16 by 2, grid 32 by 4 by 1.
        assert_eq!(words[0] >> 16, 2);
        assert_eq!(words[1..6], [2 << 16 | 16, 1, 32, 4, 1]);
        let expected: Vec<u32> = (0..128).map(|i| 100 * (i % 32 + 7)).collect();
        assert_eq!(words[16..], expected);
    });
}

#[test]
fn scratch_has_its_descriptor_in_the_first_registers() {
    everywhere(|s, _| {
        s.run("enqueue", &Launch { values: vec![s.pointer()], ..sizes(&[512], &[64]) });
        let expected: Vec<u32> = (0..512).map(|i| 12 * i).collect();
        assert_eq!(s.words(512), expected);
    });
}

#[test]
fn generic_pointers_go_through_the_special_buffer() {
    everywhere(|s, _| {
        s.run("generic", &Launch { values: vec![s.pointer()], ..sizes(&[128], &[64]) });
        let expected: Vec<u32> = (0..128).map(|i| i % 64 * 1005).collect();
        assert_eq!(s.words(128), expected);
    });
}

#[test]
fn arguments_lie_at_their_alignment() {
    everywhere(|s, _| {
        let pair: Vec<u8> = [11u32, 22, 33].iter().flat_map(|w| w.to_le_bytes()).collect();
        let vector: Vec<u8> = [5u32, 6, 7, 0].iter().flat_map(|w| w.to_le_bytes()).collect();
        let values = vec![
            Value::Bytes(vec![0xfe]),
            Value::Bytes(0x1234u16.to_le_bytes().to_vec()),
            Value::Bytes(vector),
            Value::Bytes(pair),
            Value::Local(64),
            s.pointer(),
            Value::Bytes(vec![9]),
        ];
        s.run("args", &Launch { values, ..sizes(&[64], &[64]) });
        // The char, a byte of nothing, the short; LDS of the argument after the kernel's own 12 bytes, aligned to 16.
        let words = s.words(9);
        assert_eq!(words[0] & 0xffff_00ff, 0x1234_00fe);
        assert_eq!(words[1..], [5, 6, 7, 11, 22, 33, 16, 9]);
    });
}

#[test]
fn drivers_of_all_times_are_understood() {
    let body = FEATURES.split(".bssdata align").next().unwrap().to_owned()
        + &FEATURES[FEATURES.find("# The dispatch packet").unwrap()..];
    for driver in [180_005, 191_205, 200_406, 223_600, 258_000] {
        for bits in [32, 64] {
            let more = format!(".driver_version {driver}");
            let binary = assemble("Hawaii", bits, &more, &body);
            let s = Session::new("gfx701", binary);
            s.run("generic", &Launch { values: vec![s.pointer()], ..sizes(&[128], &[64]) });
            let expected: Vec<u32> = (0..128).map(|i| i % 64 * 1005).collect();
            assert_eq!(s.words(128), expected, "driver {driver}, {bits} bits");
        }
    }
}

/// Both ways round keep the bytes.
#[test]
fn the_source_of_a_binary_gives_the_binary() {
    for (gpu, _) in GPUS {
        for bits in [32, 64] {
            for more in
                ["", ".driver_version 191205", ".compile_options \"-O3 \\\"x\\\"\"\n.acl_version \"mine\""]
            {
                if more.contains("191205") && gpu == "GFX900" {
                    continue;
                }
                let binary = assemble(gpu, bits, more, FEATURES);
                let file = File::parse(&binary).unwrap();
                let source = clrx::disassemble(&file, None).unwrap();
                assert!(clrx::is_source(source.as_bytes()));
                assert!(source.contains(".useenqueue") && !source.contains(".setup\n"), "{source}");
                let again = clrx::assemble(&clrx::Options::default(), "again", source.clone().into_bytes());
                let messages = String::from_utf8_lossy(&again.render_diagnostics()).into_owned();
                assert!(again.binary.as_ref() == Some(&binary), "{gpu} {bits}: {messages}\n{source}");
            }
        }
    }
}

#[test]
fn old_layouts_go_both_ways() {
    let body = FEATURES.split(".bssdata align").next().unwrap().to_owned()
        + &FEATURES[FEATURES.find("# The dispatch packet").unwrap()..];
    let binary = assemble("Bonaire", 64, ".driver_version 180005", &body);
    let file = File::parse(&binary).unwrap();
    assert_eq!(file.target_id().unwrap().unwrap().processor, "gfx704");
    let source = clrx::disassemble(&file, None).unwrap();
    let again = clrx::assemble(&clrx::Options::default(), "again", source.into_bytes());
    assert!(again.binary.as_ref() == Some(&binary));
}

#[test]
fn what_is_wrong_is_said() {
    let fails = |source: &str| {
        let output = clrx::assemble(&clrx::Options::default(), "t.s", source.as_bytes().to_vec());
        assert!(output.binary.is_none(), "{source}");
        String::from_utf8(output.render_diagnostics()).unwrap()
    };
    let kernel = ".amdcl2\n.gpu Fiji\n.64bit\n.kernel k\n.config\n.dims x\n.text\n";
    for (source, message) in [
        (
            ".amdcl2\n.gpu Fizi\n",
            "t.s:2:6: error: Catalyst made no OpenCL 2.0 binaries for Fizi; did you mean Fiji?",
        ),
        (".amdcl2\n.kernel k\n", "the GPU must be said before"),
        (&format!("{kernel}v_addd_f32 v0, v1, v2\n"), "t.s:8:1: error: gfx803 has no instruction v_addd_f32"),
        (&format!("{kernel}s_branch nowhere\n"), "t.s:8:10: error: nobody defines nowhere"),
        (&format!("{kernel}v_mov_b32 v0, v[1\n"), "a closing bracket is wanted"),
        (&format!("{kernel}.if 1\n"), "an .if has no .endif"),
        (&format!("{kernel}.macro m\nm\n.endm\nm\n"), "nested too deeply"),
        (&format!("{kernel}.rept 3\n"), "there is no .endr for it"),
        (".amdcl2\n.gpu Fiji\n.kernel k\n", "kernel k has no configuration"),
        (&format!("{kernel}.while 1\n.endr\n"), "too much text"),
        (&format!("{kernel}.rept 1000000\n.int {}0\n.endr\n", "0, ".repeat(40)), "too much text"),
    ] {
        let said = fails(source);
        assert!(said.contains(message), "{source}\n{said}");
    }
}

/// Cut and changed containers are answered, never believed.
#[test]
fn broken_containers_are_refused() {
    let binary = assemble("Fiji", 64, "", FEATURES);
    let device = Device::new(
        wavemill_isa::Target::new(wavemill_isa::target::processor("gfx803").unwrap()),
        &Default::default(),
    );
    let look = |bytes: &[u8]| {
        if let Ok(file) = File::parse(bytes) {
            let _ = (file.kernels(), file.kernel_metadata(), file.target_id(), file.notes());
            let _ = clrx::disassemble(&file, None);
        }
        let _ = device.load("broken", bytes.to_vec());
    };
    for len in (0..binary.len()).step_by(397) {
        look(&binary[..len]);
    }
    let mut random = wavemill_testing::Random(15);
    for _ in 0..300 {
        let mut bytes = binary.clone();
        for _ in 0..1 + random.next() % 4 {
            let at = random.next() as usize % bytes.len();
            bytes[at] = random.next() as u8;
        }
        look(&bytes);
    }
}
