//! Code that `cargo xtask gen` writes from `isa/`. Edit the table, not this. (`op.rs` is a
//! module of its own: rows have operations, and the table has rows.)

#[rustfmt::skip]
pub mod bases;
#[rustfmt::skip]
pub mod operations;
#[rustfmt::skip]
pub mod rows;
