//! What an instruction is.
//!
//! The table `isa/*.isa` at the top of the repository has one line per instruction; `cargo xtask gen` turns it into
//! [`ROWS`]. This crate adds the layout of the encodings ([`encoding`]), the processors ([`target`]), the scalar
//! register names ([`regs`]) and the way from bits to rows ([`decode`]). It knows nothing of text (crate `asm`) or of
//! what an instruction does (crate `sem`), does no I/O and has no dependencies.
#![forbid(unsafe_code)]

pub mod basis;
pub mod canonical;
pub mod decode;
pub mod encoding;
mod r#gen;
pub mod info;
pub mod lookup;
#[path = "gen/op.rs"]
#[rustfmt::skip]
mod op;
pub mod regs;
pub mod row;
pub mod target;

pub use basis::Basis;
pub use decode::{DecodeError, Decoder};
pub use encoding::{Field, Inst};
pub use r#gen::operations::OPERATIONS;
pub use r#gen::rows::ROWS;
pub use info::Info;
pub use op::Op;
pub use row::{Access, Class, Enc, Flow, Form, Kind, Mem, MemKind, Operand, Role, Row, Ty, flag};
pub use target::{Level, Processor, Target};
