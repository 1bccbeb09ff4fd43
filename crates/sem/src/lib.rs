//! What an instruction means, written once for every engine.
//!
//! [`lanes`] has the values vector instructions work on, [`fp`], [`half`], [`int`], [`cvt`], [`packed`], [`div`],
//! [`special`], [`misc`] and [`mfma`] the operations, [`soft`] and [`exact`] the arithmetic that hosts lack, [`valu`] and [`compare`] say which instruction is which operation and hand
//! it to an engine's [`Apply`], [`modify`] what modifiers do to operands and results. [`salu`] has the scalar
//! instructions, [`atomic`] the read-modify-write operations. [`fidelity`] says how well an instruction is known.
//!
//! Memory: [`memory`] says what instructions move, [`buffer`] and [`image`] decode resources and find addresses,
//! [`tiling`] those of images that are not linear, [`mod@format`] and [`blocks`] convert texels, [`mimg`] and [`sampler`] are the image instructions and what sampling does,
//! [`gws`] is global wave sync, [`ordered`] whose turn it is to count, and [`interp`] parameter interpolation.

pub mod apply;
pub mod atomic;
pub mod blocks;
pub mod buffer;
pub mod bus;
pub mod compare;
pub mod control;
pub mod cvt;
pub mod div;
pub mod exact;
pub mod excp;
pub mod fidelity;
pub mod format;
pub mod fp;
pub mod gws;
pub mod half;
pub mod hwreg;
pub mod image;
pub mod int;
pub mod interp;
pub mod lanes;
pub mod memory;
pub mod mfma;
pub mod mimg;
pub mod misc;
pub mod mode;
pub mod modify;
pub mod ordered;
pub mod packed;
pub mod salu;
pub mod sampler;
pub mod scalar;
pub mod soft;
pub mod special;
pub mod tiling;
pub mod valu;
pub mod wait;

pub use apply::{Apply, Context};
pub use fidelity::{Fidelity, fidelity};
pub use lanes::{Long, Mask, Word};
pub use mode::{FloatMode, Mode};
