//! What a kernel that is run by itself can ask the host for: [`printf`], hostcalls, a heap, other kernels.
//!
//! [`services::launch`] runs a kernel with all of it. [`printf`] formats as C and OpenCL C do and reads printf buffers;
//! `hostcall` answers what waves ask for while they run, [`enqueue`] has the queues that they put kernels into. Text leaves through a [`printf::Printer`], nothing here prints.
#![forbid(unsafe_code)]

pub mod enqueue;
mod hostcall;
pub mod printf;
pub mod services;

pub use services::launch;
