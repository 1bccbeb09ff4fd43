//! Sources to code objects: [`clang`] compiles OpenCL C, HIP and LLVM's IR to assembly, [`spirv`] has modules of SPIR-V, [`source`] assembles,
//! [`cache`] keeps what was made, [`comgr`] finds AMD's compiler for HIP. The command's `run` and the OpenCL runtime stand on it.
#![forbid(unsafe_code)]

pub mod cache;
pub mod clang;
pub mod comgr;
pub mod directory;
pub mod source;
pub mod spirv;
pub mod stated;
