//! What an instruction means, written once for every engine.
//!
//! [`lanes`] has the values vector instructions work on, [`operations`] what can be done with them; [`scalar`] is one lane,
//! [`lane`] applies meanings to it, [`record`] writes meanings down. [`fp`], [`half`], [`int`], [`cvt`], [`packed`], [`div`],
//! [`special`], [`misc`] and [`mfma`] are the arithmetic, [`expand`], [`soft`] and [`exact`] what hosts lack of it, [`valu`]
//! and [`compare`] say which instruction is which and hand
//! it to an engine's [`Apply`], [`modify`] what modifiers do to operands and results. [`salu`] has the scalar
//! instructions, [`atomic`] the read-modify-write operations. [`fidelity`] says how well an instruction is known.
//!
//! [`inst`] is the decoded instruction, [`resolve`] makes it; [`operand`] says what operand codes name.
//!
//! An engine gives its registers and its memory to the other instructions as a [`state::State`] and a [`bus::Bus`], and
//! [`execute`] does them. What they are to do is in [`control`], [`lanemove`], [`smem`], [`share`], [`memory`], [`mimg`] and
//! [`interp`]. Where data moves, [`address`] and [`buffer`] say, over words of any kind; [`image`] and [`tiling`] find texels, [`mod@format`],
//! [`component`] and [`blocks`] convert them, [`element`] is what buffers make of that, [`mimg`] and [`sampler`] are the image instructions and what sampling does. [`gws`] is
//! global wave sync, [`ordered`] whose turn it is to count; [`trap`] and [`hwreg`] what a wave knows about itself.
#![forbid(unsafe_code)]

pub mod address;
pub mod apply;
pub mod atomic;
pub mod blocks;
pub mod buffer;
pub mod bus;
pub mod compare;
pub mod component;
mod confine;
pub mod control;
pub mod coordinates;
pub mod cvt;
pub mod div;
pub mod element;
pub mod exact;
pub mod excp;
pub mod execute;
pub mod expand;
pub mod family;
pub mod fidelity;
pub mod format;
pub mod fp;
pub mod gws;
pub mod half;
pub mod hwreg;
pub mod image;
pub mod inst;
pub mod int;
pub mod interp;
pub mod lane;
pub mod lanemove;
pub mod lanes;
pub mod memory;
pub mod mfma;
pub mod mimg;
pub mod misc;
pub mod mode;
pub mod modify;
pub mod operand;
pub mod operations;
pub mod ordered;
pub mod packed;
pub mod record;
pub mod resolve;
pub mod salu;
pub mod sampler;
pub mod scalar;
pub mod share;
pub mod smem;
pub mod soft;
pub mod special;
pub mod state;
pub mod tiling;
pub mod trap;
pub mod valu;

pub use apply::{Apply, Context};
pub use fidelity::{Fidelity, fidelity};
pub use lanes::{Long, Mask, Word};
pub use mode::{FloatMode, Mode};
