//! What real compilers make of OpenCL, run on the virtual GPU and compared with the host.
//!
//! The sources and the compiled fixtures are in `tests/kernels/` of the repository; `make-fixtures` there makes them
//! anew. Every test runs its kernels in all fixtures of a source: processors, compilers, code object versions, levels; those for
//! a generic processor run on each that it covers.

mod arith;
mod basics;
mod half;
mod look;
mod matmul;
mod memory;
mod parallel;
mod same_bits;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use wavemill_device::kernarg::Value;
use wavemill_device::run::Launch;
use wavemill_device::{Device, EngineKind, Loaded, Options, Region, Use, loader};
use wavemill_isa::Target;
use wavemill_isa::target::processor;
pub use wavemill_testing::Random;
use wavemill_wave::Engine;

/// An argument of a kernel.
pub enum Arg {
    /// A buffer, handed back after the run.
    Buf(Vec<u8>),
    /// Bytes by value.
    Val(Vec<u8>),
    /// Local memory.
    Local(u32),
}

/// A buffer of numbers.
pub fn buf<T: Bytes>(data: &[T]) -> Arg {
    Arg::Buf(data.iter().flat_map(Bytes::bytes).collect())
}

/// A number by value.
pub fn val<T: Bytes>(value: T) -> Arg {
    Arg::Val(value.bytes())
}

/// Numbers to and from bytes.
pub trait Bytes: Sized + Copy {
    /// Little-endian.
    fn bytes(&self) -> Vec<u8>;
    /// The number of these bytes.
    fn of(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($t:ty),*) => {$(
        impl Bytes for $t {
            fn bytes(&self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn of(bytes: &[u8]) -> Self {
                <$t>::from_le_bytes(bytes.try_into().unwrap())
            }
        }
    )*};
}
numbers!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

/// The numbers in a buffer.
pub fn numbers<T: Bytes>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(T::of).collect()
}

/// One fixture, loaded.
pub struct Case {
    device: Device,
    object: Arc<Loaded>,
    /// File name.
    pub name: String,
}

impl Case {
    /// Runs a kernel and hands the buffers back.
    pub fn run(
        &self,
        kernel: &str,
        grid: &[u32],
        block: &[u32],
        args: Vec<Arg>,
    ) -> Result<Vec<Vec<u8>>, String> {
        self.run_with_lds(kernel, grid, block, args, 0)
    }

    /// The same with LDS beyond what the kernel says itself.
    pub fn run_with_lds(
        &self,
        kernel: &str,
        grid: &[u32],
        block: &[u32],
        args: Vec<Arg>,
        dynamic_lds: u32,
    ) -> Result<Vec<Vec<u8>>, String> {
        let kernel = self.object.kernel(kernel).ok_or_else(|| format!("no kernel {kernel}"))?;
        let mut regions: Vec<Region> = Vec::new();
        let mut values = Vec::new();
        for (i, arg) in args.into_iter().enumerate() {
            values.push(match arg {
                Arg::Val(bytes) => Value::Bytes(bytes),
                Arg::Local(bytes) => Value::Local(bytes),
                Arg::Buf(bytes) => {
                    let memory = self.device.memory();
                    let region = memory.allocate(bytes.len() as u64, Use::Device, format!("argument {i}"));
                    let region = region.map_err(|e| e.to_string())?;
                    region.write(0, &bytes);
                    let start = region.start();
                    regions.push(region);
                    Value::Pointer(start)
                }
            });
        }
        let launch = Launch {
            grid: grid.to_vec(),
            block: block.to_vec(),
            dynamic_lds,
            values,
            timeout: Some(Duration::from_secs(60)),
            ..Launch::default()
        };
        let done = crate::look::launch(&self.device, kernel, launch)?;
        match done.fault {
            Some(report) => Err(report.to_string()),
            None => Ok(regions.iter().map(Region::to_vec).collect()),
        }
    }
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels/fixtures")
}

/// Runs a test on every fixture of a source, and reports all failures together.
pub fn each(source: &str, test: impl Fn(&Case) -> Result<(), String>) {
    let only = std::env::var("WAVEMILL_FIXTURE").unwrap_or_default();
    let mut names: Vec<String> = std::fs::read_dir(directory())
        .expect("fixtures are committed")
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n.starts_with(&format!("{source}.")) && n.contains(&only))
        .collect();
    names.sort();
    assert!(!names.is_empty() || !only.is_empty(), "no fixtures of {source}");
    let mut failures = Vec::new();
    for name in &names {
        for target in targets(name) {
            for engine in crate::look::ENGINES {
                let case = load_on(target, name, 0, engine);
                if let Err(message) = test(&case) {
                    let (cpu, engine) = (target.cpu.name, case.device.engine_name());
                    failures.push(format!("{name} on {cpu} with {engine}: {message}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {} fail\n{}", failures.len(), names.len(), failures.join("\n"));
}

/// What a fixture is for: one processor, or all that a generic one covers.
fn targets(name: &str) -> Vec<Target> {
    let data = std::fs::read(directory().join(name)).unwrap();
    let file = wavemill_object::read::File::parse(&data).unwrap();
    let (_, target) = loader::target_of(&file).unwrap();
    match target.cpu.covers {
        [] => vec![target],
        names => names.iter().map(|n| Target { cpu: processor(n).unwrap(), ..target }).collect(),
    }
}

/// Loads a fixture for a device with so many threads (0: all) and an engine.
pub fn load(name: &str, threads: usize, engine: impl Fn(Target) -> Arc<dyn Engine>) -> Case {
    load_on(targets(name)[0], name, threads, engine)
}

/// The same on a GPU of choice.
fn load_on(target: Target, name: &str, threads: usize, engine: impl Fn(Target) -> Arc<dyn Engine>) -> Case {
    let data = std::fs::read(directory().join(name)).unwrap();
    let options = Options { threads, ..Options::default() };
    let device = Device::with_engine(target, engine(target), &options);
    let object = device.load(name, data.clone()).unwrap();
    Case { device, object, name: name.to_owned() }
}

/// Compares bit for bit.
pub fn same<T: Bytes + std::fmt::Debug>(what: &str, got: &[T], want: &[T]) -> Result<(), String> {
    if got.len() != want.len() {
        return Err(format!("{what}: {} values instead of {}", got.len(), want.len()));
    }
    let differs = |i: &usize| got[*i].bytes() != want[*i].bytes();
    let wrong: Vec<usize> = (0..got.len()).filter(differs).collect();
    match wrong.first() {
        None => Ok(()),
        Some(&i) => Err(format!(
            "{what}: {} of {} differ, first at {i}: {:?} instead of {:?}",
            wrong.len(),
            got.len(),
            got[i],
            want[i]
        )),
    }
}

/// Compares within a tolerance given for each value.
pub fn near(what: &str, got: &[f32], want: &[f64], tolerance: impl Fn(usize) -> f64) -> Result<(), String> {
    let wrong: Vec<usize> = (0..got.len())
        .filter(|&i| {
            let error = (f64::from(got[i]) - want[i]).abs();
            error.is_nan() || error > tolerance(i)
        })
        .collect();
    match wrong.first() {
        None => Ok(()),
        Some(&i) => Err(format!(
            "{what}: {} of {} are off, first at {i}: {} instead of {}",
            wrong.len(),
            got.len(),
            got[i],
            want[i]
        )),
    }
}
