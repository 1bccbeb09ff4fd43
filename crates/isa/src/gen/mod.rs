//! Code that `cargo xtask gen` writes from `isa/`. Edit the table, not this.

#[rustfmt::skip]
pub mod op;
#[rustfmt::skip]
pub mod operations;
#[rustfmt::skip]
pub mod rows;
