//! Mutants of which the code does not say whether anybody misses the wait. Where the code runs it shows: `wait` knows which FLAT
//! addresses are in LDS, and `race` who looks at a store.

use crate::mutants::Mutant;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wavemill_check::{Checks, Session};
use wavemill_device::kernarg::Value;
use wavemill_device::observe::Observers;
use wavemill_device::run::Launch;
use wavemill_device::{Device, EngineKind, Options, Use, loader};
use wavemill_isa::Target;
use wavemill_isa::target::processor;
use wavemill_object::read::File;

enum Arg {
    /// A buffer of so many bytes.
    Buffer(u64),
    Local(u32),
    Number(u32),
}

/// Sizes and arguments of those kernels that have such mutants.
fn launch(kernel: &str) -> Option<(&'static [u32], &'static [u32], Vec<Arg>)> {
    use Arg::{Buffer, Local, Number};
    Some(match kernel {
        "generic_pointers" => (&[192], &[64], vec![Buffer(16), Buffer(768)]),
        "reduce" => (&[1024], &[256], vec![Buffer(40_000), Buffer(16), Local(1024), Number(10_000)]),
        "histogram" => (&[1024], &[256], vec![Buffer(4096), Buffer(1024), Number(4096)]),
        "sgemm_tiled" => {
            let matrix = || Buffer(48 * 48 * 4);
            (&[48, 48], &[16, 16], vec![matrix(), matrix(), matrix(), Number(48)])
        }
        "bitonic" => (&[1024], &[256], vec![Buffer(8192)]),
        "local_atomics" => (&[128], &[64], vec![Buffer(48), Buffer(64), Buffer(512)]),
        "rounds" => (&[4096], &[128], vec![Buffer(32_768), Buffer(4), Number(4)]),
        _ => return None,
    })
}

/// Whether a check finds something in a kernel with a word changed, or without; none if nobody knows how to launch it.
pub fn finds(path: &Path, kernel: &str, mutant: Option<&Mutant>, check: &str) -> Option<bool> {
    let (grid, block, args) = launch(kernel)?;
    let mut data = std::fs::read(path).expect("a fixture");
    if let Some(mutant) = mutant {
        let file = File::parse(&data).expect("a code object");
        let inside = |start: u64, size: u64| (start..start + size).contains(&mutant.at);
        let section = file.sections.iter().find(|s| s.align > 0 && inside(s.address, s.size));
        let at = section.map(|s| (s.offset + mutant.at - s.address) as usize).expect("it is in a section");
        data[at..at + 4].copy_from_slice(&mutant.word.to_le_bytes());
    }
    let file = File::parse(&data).expect("a code object");
    let (_, target) = loader::target_of(&file).expect("a target");
    // A generic processor is whichever it covers.
    let cpu = target.cpu.covers.first().and_then(|name| processor(name)).unwrap_or(target.cpu);
    let target = Target { cpu, ..target };
    let device = Device::with_engine(target, EngineKind::Interp.make(target), &Options::default());
    let object = device.load("mutant", data.clone()).expect("it loads");
    let mut regions = Vec::new();
    let mut value = |arg| match arg {
        Arg::Number(n) => Value::Bytes(n.to_le_bytes().to_vec()),
        Arg::Local(bytes) => Value::Local(bytes),
        Arg::Buffer(bytes) => {
            let region = device.memory().allocate(bytes, Use::Device, "a buffer").expect("memory");
            let start = region.start();
            regions.push(region);
            Value::Pointer(start)
        }
    };
    let values = args.into_iter().map(&mut value).collect();
    let session = Arc::new(Session::new(Checks::parse(check).expect("a check")));
    let how = Launch {
        grid: grid.to_vec(),
        block: block.to_vec(),
        values,
        timeout: Some(Duration::from_secs(600)),
        observers: Observers::one(session.clone()),
        ..Launch::default()
    };
    let done = device.launch(object.kernel(kernel).expect("the kernel"), &how).expect("it is launched");
    assert!(done.fault.is_none(), "{kernel}: {:?}", done.fault.map(|f| f.summary));
    Some(!session.finish().is_empty())
}
