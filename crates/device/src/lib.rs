//! The GPU around the waves: memory, the loader, dispatches on host threads, traps, fault reports.
//!
//! ```no_run
//! use wavemill_device::{Device, Options, run::Launch};
//! use wavemill_isa::target::{Target, processor};
//! let target = Target::new(processor("gfx90a").unwrap());
//! let device = Device::new(target, &Options::default());
//! let object = device.load("k.hsaco", std::fs::read("k.hsaco").unwrap()).unwrap();
//! let kernel = object.kernel("vadd").unwrap();
//! let done = device.launch(kernel, &Launch { grid: vec![1024], block: vec![256], ..Launch::default() });
//! ```
//!
//! [`memory`] holds allocations, [`loader`] puts code objects there, [`kernarg`] builds argument blocks, [`launch`]
//! sets up waves, [`schedule`] spreads work-groups over threads as [`control`] wants it and [`hold`] allows it, [`mod@device`] is what they all
//! belong to, [`fault`] explains what went wrong, [`dispatch`] checks and runs a packet. [`run`] does all of it for one
//! kernel. Queues and signals are the runtime's, printf and hostcalls the console's: both are built on this crate.

pub mod aql;
pub mod control;
pub mod device;
pub mod dispatch;
pub mod engine;
pub mod events;
pub mod fault;
mod group;
pub mod hold;
pub mod image;
pub mod interrupt;
pub mod json;
pub mod kernarg;
pub mod kernel;
pub mod launch;
mod lines;
pub mod loader;
pub mod mapping;
pub mod memory;
pub mod observe;
pub mod operands;
mod pins;
mod pool;
pub mod profile;
pub mod progress;
pub mod reclaim;
pub mod record;
pub mod run;
mod scan;
pub mod schedule;
mod sync;
pub mod terminal;
pub mod trace;
pub mod traps;
pub mod whereabouts;

pub use device::{Device, Options};
pub use dispatch::{Completion, DispatchError, Request};
pub use engine::EngineKind;
pub use kernel::Kernel;
pub use loader::{LoadError, LoadErrorKind, Loaded};
pub use memory::{Allocations, Region, Use};
pub use profile::Profile;
pub use wavemill_wave::alone::Present;
