//! Code objects: the ELF files between a compiler and a GPU.
//!
//! Constants of the format are apart from reading, reading apart from writing. Nothing here knows how an
//! instruction is spelt or what it does; that is `isa`, `asm` and `sem`.
#![forbid(unsafe_code)]

mod archive;
pub mod bundle;
pub mod catalyst;
pub mod debug;
pub mod demangle;
pub mod descriptor;
mod dwarf;
pub mod elf;
mod error;
pub mod kernel_code;
pub mod limits;
pub mod lines;
pub mod link;
pub mod metadata;
mod offload;
pub mod read;
mod strtab;
pub mod target_id;
mod unpack;
pub mod write;
