//! `libhsa-runtime64.so.1` with virtual GPUs: the C face of [`wavemill_runtime`], and nothing else.
//!
//! The functions are those of `hsa.h` and `hsa_ext_amd.h`, in files by subject. [`abi`] has what they share: the
//! status codes, checked pointers, and the macro that declares a function. [`runtime`] is the state between `hsa_init`
//! and `hsa_shut_down`. Handles are looked up, never trusted; nothing panics across the boundary.

#![allow(non_camel_case_types)]

mod abi;
mod agent;
mod amd;
mod code;
// Unit tests are no library that programs are linked with.
#[cfg(all(target_os = "linux", not(test)))]
mod driver;
mod extension;
mod init;
mod limits;
mod memory;
mod pool;
mod queue;
mod runtime;
mod signal;
mod symbol;
mod sync;
mod tables;
mod transfer;
mod users;
