//! `libwavemill-opencl.so`: OpenCL 3.0 with virtual GPUs, for programs that find it through the ICD loader.
//!
//! It stands on [`wavemill_runtime`] beside `hsa`. Functions are in files by subject; [`abi`] has what they share: error
//! codes, checked pointers, answers of queries. [`handle`] looks handles up, never trusts them. [`worker`] is a queue's
//! list of commands and who runs them, [`event`] what others see of a command. Nothing panics across the boundary.

#![allow(non_snake_case)]

mod abi;
mod buffer;
mod build;
mod context;
mod device;
mod device_queue;
mod dispatch;
mod enqueue;
mod event;
mod flags;
mod handle;
mod il;
mod image;
mod kernel;
mod mapping;
mod memory;
mod narrow;
mod platform;
mod program;
mod queue;
mod sampler;
mod svm;
mod svm_commands;
mod texels;
mod transfer;
mod worker;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
