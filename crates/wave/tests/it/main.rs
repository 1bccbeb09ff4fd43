//! Tests of crate `wave`: files of assembly with expected registers, and properties against independent oracles. Both
//! run on every back end the host has.

mod adjacent;
mod alone;
mod blocks;
mod caches;
mod chaos;
mod corners;
mod crosslane;
mod elements;
mod files;
mod float_atomics;
mod floats;
mod formats;
mod gws;
mod harness;
mod hostile;
mod images;
mod integers;
mod lanewise;
mod matrices;
mod memory;
mod mips;
mod observe;
mod pictures;
mod random;
mod reference;
mod samples;
mod shares;
mod system;
mod texels;
mod tiles;
mod traps;
