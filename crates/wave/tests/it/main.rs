//! Tests of crate `wave`: files of assembly with expected registers, and properties against independent oracles. Both
//! run on every back end the host has.

mod atomics;
mod blocks;
mod chaos;
mod files;
mod floats;
mod formats;
mod harness;
mod images;
mod integers;
mod matrices;
mod memory;
mod observe;
mod random;
mod samples;
mod shares;
mod system;
mod texels;
mod transfers;
mod traps;
