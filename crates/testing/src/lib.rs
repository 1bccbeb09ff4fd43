//! What the tests of several crates share: a generator of numbers, and a record of the instructions they run.
//!
//! Nothing but tests and the model uses this crate.

pub mod evidence;
mod random;

pub use random::Random;
