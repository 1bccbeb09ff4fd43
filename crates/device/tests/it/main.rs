//! Dispatch without an interpreter: engines made for the test see what waves start with and how they are scheduled.

mod bad;
mod catalyst;
mod faults;
mod formats;
mod gws;
mod hold;
mod images;
mod litmus;
mod observers;
mod ordered;
mod registers;
mod schedule;
mod traps;

use std::sync::Arc;
use wavemill_device::run::Launch;
use wavemill_device::{Completion, Device, Loaded, Options};
use wavemill_isa::target::{Target, processor};
use wavemill_testing::evidence::Witnessed;
pub use wavemill_testing::{Fake, kernel, object};
use wavemill_wave::{Event, GroupShared, Interp, Memory, Wave};

/// A device with such an engine.
pub fn device<F>(cpu: &str, threads: usize, run: F) -> Device
where
    F: Fn(&mut Wave, &GroupShared, &Memory, u64) -> Event + Send + Sync + 'static,
{
    device_of(Target::new(processor(cpu).unwrap()), threads, run)
}

/// The same with features of the processor.
pub fn device_of<F>(target: Target, threads: usize, run: F) -> Device
where
    F: Fn(&mut Wave, &GroupShared, &Memory, u64) -> Event + Send + Sync + 'static,
{
    let options = Options { threads, ..Options::default() };
    Device::with_engine(target, Arc::new(Fake(run)), &options)
}

/// A device with the interpreter; what its waves run is evidence of the file that calls this.
#[track_caller]
pub fn witnessed(cpu: &str, threads: usize) -> Device {
    let target = Target::new(processor(cpu).unwrap());
    let engine = Witnessed::new(Arc::new(Interp::new(target)), std::panic::Location::caller().file());
    Device::with_engine(target, Arc::new(engine), &Options { threads, ..Options::default() })
}

/// Loads `data` and launches its kernel `k`.
pub fn launch(device: &Device, data: Vec<u8>, launch: &Launch) -> Result<Completion, String> {
    let loaded: Arc<Loaded> = device.load("test.o", data).map_err(|e| e.to_string())?;
    let kernel = loaded.kernel("k").expect("the kernel is there");
    device.launch(kernel, launch)
}

/// A launch of a size.
pub fn sizes(grid: &[u32], block: &[u32]) -> Launch {
    Launch { grid: grid.to_vec(), block: block.to_vec(), ..Launch::default() }
}
