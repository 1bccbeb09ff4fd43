//! What an instruction is.
pub mod target;
pub use target::{Level, Processor, Target};
