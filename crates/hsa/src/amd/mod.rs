//! AMD's extensions of HSA.

pub mod batch;
pub mod copy;
pub mod event;
pub mod image;
pub mod ipc;
pub mod loader;
pub mod memory;
pub mod profiling;
pub mod queue;
pub mod signal;
pub mod svm;
pub mod vmem;
