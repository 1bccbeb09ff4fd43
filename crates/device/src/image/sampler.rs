//! Samplers: what a program asks for, and the descriptor (S#) that sample instructions read.

use wavemill_isa::Level;

/// Bytes of a sampler as kernels find it: the descriptor, and as much room again.
pub const SAMPLER_BYTES: u64 = 32;

/// What happens outside of an image (HSA's numbers).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Addressing {
    Undefined,
    ClampToEdge,
    ClampToBorder,
    Repeat,
    MirroredRepeat,
}

/// A sampler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sampler {
    /// Coordinates are 0 to 1.
    pub normalized: bool,
    /// Texels are filtered linearly; else the nearest one is taken.
    pub linear: bool,
    /// What happens outside, in each dimension.
    pub addressing: Addressing,
}

impl Sampler {
    /// The sampler of HSA's numbers for coordinates, filter and addressing; `None` for numbers that mean nothing.
    pub fn from_hsa(coordinates: u32, filter: u32, addressing: u32) -> Option<Sampler> {
        use Addressing::*;
        let modes = [Undefined, ClampToEdge, ClampToBorder, Repeat, MirroredRepeat];
        Some(Sampler {
            normalized: [false, true].get(coordinates as usize).copied()?,
            linear: [false, true].get(filter as usize).copied()?,
            addressing: modes.get(addressing as usize).copied()?,
        })
    }
}

/// The descriptor: the same fields in the same places from GFX6 to GFX9 (manual 9.4.3). The border is transparent black;
/// undefined addressing gives it, too. Every level of detail is within the limits.
pub fn words(sampler: &Sampler, _: Level) -> [u32; 4] {
    // CLAMP_X, _Y, _Z: wrap 0, mirror 1, last texel 2, border 6.
    let clamp = match sampler.addressing {
        Addressing::Repeat => 0,
        Addressing::MirroredRepeat => 1,
        Addressing::ClampToEdge => 2,
        Addressing::ClampToBorder | Addressing::Undefined => 6,
    };
    let filter = u32::from(sampler.linear);
    [
        clamp | clamp << 3 | clamp << 6 | u32::from(!sampler.normalized) << 15,
        0xfff << 12,
        // XY_MAG_FILTER, XY_MIN_FILTER; Z_FILTER point or linear; no levels.
        filter << 20 | filter << 22 | (1 + filter) << 24,
        0,
    ]
}
