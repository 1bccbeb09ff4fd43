//! Kernels that enqueue kernels: those of tests/kernels/enqueue.cl, as compilers make them for versions 2 to 5 of code
//! objects, and kernels of Catalyst that do without a library; these print, too. What they leave behind follows from OpenCL C 2.0, section 6.13.17.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use wavemill_asm::clrx;
use wavemill_console::printf::Printer;
use wavemill_device::kernarg::Value;
use wavemill_device::run::Launch;
use wavemill_device::{Device, Loaded, Options, Region, Use};
use wavemill_isa::target::{Target, processor};
use wavemill_object::catalyst::Container;
use wavemill_object::catalyst::metadata::{Printf, Record};

fn fixtures() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels/fixtures");
    let entries = std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().path());
    let mut found: Vec<PathBuf> = entries
        .filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("enqueue.")))
        .collect();
    found.sort();
    assert_eq!(found.len(), 5, "make-fixtures makes one for each form of arguments");
    found
}

struct Session {
    device: Device,
    object: Arc<Loaded>,
    out: Region,
}

impl Session {
    fn new(path: &Path) -> Session {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let cpu = name.split('.').nth(1).unwrap();
        let target = Target::new(processor(cpu).unwrap());
        let device = Device::new(target, &Options { threads: 2, ..Options::default() });
        let object = device.load(&name, std::fs::read(path).unwrap()).unwrap();
        let out = device.memory().allocate(4096, Use::Device, "out").unwrap();
        Session { device, object, out }
    }

    /// Runs a kernel of one work-item, or of more; the names of what ran.
    fn run(&self, kernel: &str, items: u32, values: Vec<Value>) -> Result<Vec<String>, String> {
        let kernel = self.object.kernel(kernel).unwrap();
        let launch = Launch { grid: vec![items], block: vec![items.min(250)], values, ..Launch::default() };
        let done = wavemill_console::launch(&self.device, kernel, &launch, &Printer::new(|_, _| ()))?;
        for one in &done {
            assert!(one.fault.is_none(), "{}: {}", self.object.name, one.fault.as_ref().unwrap());
        }
        Ok(done.into_iter().map(|d| d.kernel).collect())
    }

    fn pointer(&self) -> Vec<Value> {
        vec![Value::Pointer(self.out.start())]
    }

    fn words(&self, count: usize) -> Vec<u32> {
        let bytes = self.out.to_vec();
        bytes.chunks_exact(4).take(count).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect()
    }
}

fn everywhere(test: impl Fn(&Session)) {
    fixtures().iter().for_each(|path| test(&Session::new(path)));
}

#[test]
fn each_work_item_enqueues_a_kernel() {
    everywhere(|s| {
        let values = [s.pointer(), vec![Value::Bytes(100u32.to_le_bytes().to_vec())]].concat();
        let ran = s.run("sum", 10, values).unwrap();
        assert_eq!(ran.len(), 11, "{ran:?}");
        // 1 + 2 + … + 10 at each place; then what each was told.
        let expected: Vec<u32> = (0..110).map(|i| if i < 100 { 55 } else { i }).collect();
        assert_eq!(s.words(110), expected, "{}", s.object.name);
    });
}

#[test]
fn children_have_their_own_sizes_and_offsets() {
    everywhere(|s| {
        s.run("shape", 1, s.pointer()).unwrap();
        let expected: Vec<u32> = (0..64)
            .map(|i| (i % 8 + 1) + 100 * (i / 8 % 4 + 2) + 10_000 * (i / 32 + 3) + 3_000_000 + 20_000_000)
            .collect();
        assert_eq!(s.words(64), expected, "{}", s.object.name);
    });
}

#[test]
fn children_have_children() {
    everywhere(|s| {
        let ran = s.run("nested", 1, s.pointer()).unwrap();
        assert_eq!(ran.len(), 5, "the root, two, and two: {ran:?}");
        assert_eq!(s.words(8), [2000, 1001, 1002, 3, 4, 5, 6, 0], "{}", s.object.name);
    });
}

#[test]
fn children_have_local_memory() {
    everywhere(|s| {
        s.run("locals", 1, s.pointer()).unwrap();
        let expected: Vec<u32> = (0..64).map(|i| 3 * (63 - i) + 5 * ((i + 1) % 64)).collect();
        assert_eq!(s.words(64), expected, "{}", s.object.name);
    });
}

#[test]
fn events_impose_an_order() {
    everywhere(|s| {
        s.run("ordered", 1, s.pointer()).unwrap();
        assert_eq!(s.words(2), [1234, 1], "{}", s.object.name);
    });
}

#[test]
fn what_waits_for_a_failure_fails() {
    everywhere(|s| {
        let ran = s.run("failed", 1, s.pointer()).unwrap();
        assert_eq!((s.words(3), ran.len()), (vec![0, 0, 1], 2), "{}", s.object.name);
    });
}

#[test]
fn what_waits_forever_is_an_error() {
    everywhere(|s| {
        let error = s.run("stuck", 1, s.pointer()).unwrap_err();
        assert!(error.contains("wait for events that nothing completes"), "{error}");
        assert_eq!(s.words(1), [0]);
    });
}

#[test]
fn a_full_queue_takes_no_more() {
    everywhere(|s| {
        s.run("full", 2500, s.pointer()).unwrap();
        // 256 KiB of slots, 128 bytes each.
        assert_eq!(s.words(2), [2048, 452], "{}", s.object.name);
    });
}

#[test]
fn a_queue_can_be_an_argument() {
    everywhere(|s| {
        let times = s.device.memory().allocate(16, Use::Device, "times").unwrap();
        let values = [vec![Value::Object("queue", 0)], s.pointer(), vec![Value::Pointer(times.start())]];
        s.run("given", 1, values.concat()).unwrap();
        let expected: Vec<u32> = (0..64).map(|i| 2 * (63 - i)).collect();
        assert_eq!(s.words(64), expected, "{}", s.object.name);
        let times: Vec<u64> =
            times.to_vec().chunks_exact(8).map(|t| u64::from_le_bytes(t.try_into().unwrap())).collect();
        assert!(times[0] > 0 && times[1] >= times[0], "{times:?}");
    });
}

const FEATURES: &str = include_str!("../../../tests/catalyst/features.s");

/// A Catalyst binary.
fn assembled(gpu: &str, bits: u32, source: &str) -> Vec<u8> {
    let source = format!(".amdcl2\n.gpu {gpu}\n.{bits}bit\n{source}");
    let output = clrx::assemble(&clrx::Options::default(), "test", source.into_bytes());
    let messages = String::from_utf8_lossy(&output.render_diagnostics()).into_owned();
    output.binary.unwrap_or_else(|| panic!("{gpu}: {messages}"))
}

/// One on a GPU; the kernel `parent` of [`FEATURES`] fills in a slot itself.
fn catalyst(gpu: &str, cpu: &str, bits: u32, source: &str) -> Session {
    let binary = assembled(gpu, bits, source);
    let device = Device::new(Target::new(processor(cpu).unwrap()), &Options::default());
    let object = device.load("test.bin", binary).unwrap();
    let out = device.memory().allocate_for(bits == 32, 4096, Use::Device, "out").unwrap();
    Session { device, object, out }
}

const GPUS: [(&str, &str); 3] = [("Hawaii", "gfx701"), ("Fiji", "gfx803"), ("GFX900", "gfx900")];

#[test]
fn kernels_of_catalyst_enqueue_by_number() {
    for (gpu, cpu) in GPUS {
        for bits in [32, 64] {
            let s = catalyst(gpu, cpu, bits, FEATURES);
            assert_eq!(s.run("parent", 1, s.pointer()).unwrap(), ["parent", "child"], "{gpu}, {bits} bits");
            let expected: Vec<u32> = (0..130).map(|i| if i < 128 { 3 * (i + 5) } else { 0 }).collect();
            assert_eq!(s.words(130), expected, "{gpu}, {bits} bits");
        }
    }
}

#[test]
fn what_no_queue_can_hold_is_refused() {
    // What the slot says instead, and what is said about it.
    let wrong = [
        ("fill s14, SLOT+24, 12", "fill 64, SLOT+24, 12", "the parent of an enqueued kernel is"),
        ("fill 0x10a02, PACKET, 12", "fill 0x10a03, PACKET, 12", "a packet of type 3"),
        ("fill 1, SLOT+8, 12", "fill 77, SLOT+16, 12", "has an event at 0x4d, where its queues have none"),
        ("fill 1, SLOT+8, 12", "fill 65, SLOT+40, 12", "waits for 65 events, 64 is the most"),
        ("fill 1, SLOT+8, 12", "fill 1, SLOT+40, 12", "has an event at 0x0, where its queues have none"),
        ("fill s22, PACKET+32, 12", "fill s14, PACKET+32, 12", "there is no kernel at"),
        ("fill 128, PACKET+12, 12", "fill 0, PACKET+12, 12", "has no work-items"),
    ];
    for (right, wrong, message) in wrong {
        let s = catalyst("Fiji", "gfx803", 64, &FEATURES.replacen(right, wrong, 1));
        let error = s.run("parent", 1, s.pointer()).unwrap_err();
        assert!(error.contains(message), "{wrong}: {error}");
    }
    // Nothing says what wait lists of 32-bit kernels look like.
    let s =
        catalyst("Fiji", "gfx803", 32, &FEATURES.replacen("fill 1, SLOT+8, 12", "fill 1, SLOT+40, 12", 1));
    let error = s.run("parent", 1, s.pointer()).unwrap_err();
    assert!(error.contains("nothing says how such a list is laid out"), "{error}");
}

/// Leaves two records in the printf buffer, as compilers' code does: their bytes, then each one's number and its values.
const SPEAK: &str = "
.kernel speak
    .config
        .dims x
        .useargs
        .setupargs
        .arg out, uint*, global
    @METADATA@
    .text
        pointer 20, 4, 3*W
        s_waitcnt lgkmcnt(0)
        .macro leave value, at
            v_mov_b32 v2, \\at
            v_mov_b32 v3, \\value
            store v3, v2, 20
        .endm
        leave 28, 0
        leave 3, 8
        leave -7, 12
        leave 1.5, 16
        leave 4, 20
        leave 0xbeef, 24
        leave 0x40200000, 28
        leave 33, 32
        s_endpgm
";

#[test]
fn kernels_of_catalyst_print() {
    let macros = FEATURES.split(".bssdata").next().unwrap();
    for (gpu, cpu) in GPUS {
        for bits in [32, 64] {
            let source = |metadata: &str| format!("{macros}{}", SPEAK.replace("@METADATA@", metadata));
            // CLRX's configurations have no word for formats: they are put into the record that one gives.
            let binary = assembled(gpu, bits, &source(""));
            let container = Container::parse(&binary).unwrap();
            let (_, mut record) = container.records().next().unwrap().unwrap();
            record.printf = vec![
                Printf { id: 3, sizes: vec![4, 4], format: "first %d, %.2f\\n".into() },
                Printf { id: 4, sizes: vec![4, 4, 4], format: "%#x %g%c\\n".into() },
            ];
            let bytes = record.write(container.width);
            let again = Record::read("speak", &bytes, 0, container.width).unwrap();
            assert_eq!(again.printf, record.printf);
            let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
            let s = catalyst(gpu, cpu, bits, &source(&format!(".metadata\n.byte {}", bytes.join(","))));
            let kernel = s.object.kernel("speak").unwrap();
            let launch = Launch { grid: vec![1], block: vec![1], values: s.pointer(), ..Launch::default() };
            let text = Arc::new(Mutex::new(Vec::new()));
            let kept = text.clone();
            let printer = Printer::new(move |_, t: &[u8]| kept.lock().unwrap().extend_from_slice(t));
            let done = wavemill_console::launch(&s.device, kernel, &launch, &printer).unwrap();
            assert!(done.iter().all(|d| d.fault.is_none()), "{gpu}, {bits} bits");
            let text = String::from_utf8(text.lock().unwrap().clone()).unwrap();
            assert_eq!(text, "first -7, 1.50\n0xbeef 2.5!\n", "{gpu}, {bits} bits");
        }
    }
}
