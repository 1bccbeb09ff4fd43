//! What the tests of several crates share: a generator of numbers, kernels, an engine made of a closure, signals, processor
//! time, and a record of the instructions they run.
//!
//! Nothing but tests and the model uses this crate.
#![forbid(unsafe_code)]

pub mod evidence;
mod fake;
pub mod fuzz;
mod kernel;
mod random;
mod signal;
mod time;

pub use fake::Fake;
pub use kernel::{kernel, object};
pub use random::Random;
pub use signal::signal;
pub use time::processor_time;
