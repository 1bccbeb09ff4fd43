//! What the MODE register says to float instructions (manual 3.5 and 6.4).

use crate::hwreg::mode;
use crate::soft::Round;
use wavemill_isa::Level;

/// Rounding and denormals of one width.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FloatMode {
    /// Round mode.
    pub round: Round,
    /// Denormal inputs count as zeros of their sign.
    pub flush_in: bool,
    /// Denormal results, rounded as such, become zeros of their sign.
    pub flush_out: bool,
}

impl FloatMode {
    /// What instructions that ignore MODE do: round to nearest, keep denormals.
    pub const IEEE: FloatMode = FloatMode { round: Round::Nearest, flush_in: false, flush_out: false };
    /// What instructions do that never see denormals.
    pub const FLUSH: FloatMode = FloatMode { round: Round::Nearest, flush_in: true, flush_out: true };

    /// From a round and a denormal field of MODE (manual 6.4: 1 allows denormal inputs, 2 denormal results).
    pub const fn from_bits(round: u32, denorm: u32) -> FloatMode {
        FloatMode { round: Round::from_bits(round), flush_in: denorm & 1 == 0, flush_out: denorm & 2 == 0 }
    }

    /// The same with denormals flushed.
    #[must_use]
    pub const fn flushing(self) -> FloatMode {
        FloatMode { round: self.round, flush_in: true, flush_out: true }
    }
}

/// MODE, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode {
    /// Single precision.
    pub f32: FloatMode,
    /// Double and half precision.
    pub f64: FloatMode,
    /// Signalling NaNs are quieted by min, max and the like; OMOD is off.
    pub ieee: bool,
    /// CLAMP turns NaN into zero.
    pub dx10_clamp: bool,
    /// An f16 overflow gives the largest finite number.
    pub fp16_ovfl: bool,
}

impl Mode {
    /// From the register of a level: FP16_OVFL came with GFX9.
    pub const fn new(bits: u32, level: Level) -> Mode {
        Mode {
            f32: FloatMode::from_bits(bits >> mode::ROUND32_SHIFT, bits >> mode::DENORM32_SHIFT),
            f64: FloatMode::from_bits(bits >> mode::ROUND64_SHIFT, bits >> mode::DENORM64_SHIFT),
            ieee: bits & mode::IEEE != 0,
            dx10_clamp: bits & mode::DX10_CLAMP != 0,
            fp16_ovfl: level.is_gfx9() && bits & mode::FP16_OVFL != 0,
        }
    }
}
