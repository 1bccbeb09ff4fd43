//! Parameter interpolation (GFX6 to gfx908): where parameters lie in LDS, and what becomes of them.
//!
//! The two steps multiply and add in f32, rounded after each: the hardware's own rounding is not documented, which is
//! why the table calls them approximate. Moves are exact.

use crate::apply::Context;
use crate::fp::single;
use crate::half;
use crate::scalar::S32;
use wavemill_isa::Op;

/// Which of the three parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// The difference along I.
    P10,
    /// The difference along J.
    P20,
    /// The value at the first vertex.
    P0,
}

impl Slot {
    /// From V_INTERP_MOV_F32's field. Three is not a slot.
    pub const fn from_bits(bits: u32) -> Option<Slot> {
        match bits {
            0 => Some(Slot::P10),
            1 => Some(Slot::P20),
            2 => Some(Slot::P0),
            _ => None,
        }
    }
}

/// The LDS address of a parameter for a lane.
///
/// M0 holds the first byte in its lower half and, above, a bit for each quad but the first: set if the quad begins a new
/// primitive (manual 3.7). Attributes follow one another, in them primitives, each of twelve dwords: P0 and P10 of a
/// channel side by side, then P20 of the four channels.
pub fn address(m0: u32, attribute: u32, channel: u32, slot: Slot, lane: u32) -> u32 {
    let first = m0 >> 16 & 0x7fff;
    let primitives = 1 + first.count_ones();
    let quad = lane / 4;
    let primitive = (first & ((1 << quad) - 1)).count_ones();
    let dword = match slot {
        Slot::P0 => 2 * channel,
        Slot::P10 => 2 * channel + 1,
        Slot::P20 => 8 + channel,
    };
    (m0 & 0xffff) + 4 * (12 * (attribute * primitives + primitive) + dword)
}

/// What an instruction does with parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the manual's names
pub enum Interpolation {
    /// A parameter as it is.
    Move,
    P1,
    P2,
    P1ll,
    P1lv,
    P2Half,
    /// GFX8's form, which writes the whole register.
    P2HalfLegacy,
}

impl Interpolation {
    /// What an instruction does, if it is one of these.
    pub const fn of(op: Op) -> Option<Interpolation> {
        Some(match op {
            Op::v_interp_mov_f32 => Interpolation::Move,
            Op::v_interp_p1_f32 => Interpolation::P1,
            Op::v_interp_p2_f32 => Interpolation::P2,
            Op::v_interp_p1ll_f16 => Interpolation::P1ll,
            Op::v_interp_p1lv_f16 => Interpolation::P1lv,
            Op::v_interp_p2_f16 => Interpolation::P2Half,
            Op::v_interp_p2_legacy_f16 => Interpolation::P2HalfLegacy,
            _ => return None,
        })
    }

    /// The parameters it reads, but for a move, whose encoding names one.
    pub const fn slots(self) -> &'static [Slot] {
        match self {
            Interpolation::Move => &[],
            Interpolation::P1 | Interpolation::P1ll => &[Slot::P10, Slot::P0],
            Interpolation::P1lv => &[Slot::P10],
            Interpolation::P2 | Interpolation::P2Half | Interpolation::P2HalfLegacy => &[Slot::P20],
        }
    }
}

/// The result of one lane: `read` are the parameters of [`slots`], `at` the coordinate, `addend` the old destination or
/// the third source. With `high`, 16-bit parameters (and an addend of 16 bits) are in upper halves.
pub fn interpolate(
    what: Interpolation,
    read: [u32; 2],
    at: u32,
    addend: u32,
    high: bool,
    x: &Context,
) -> u32 {
    let m = x.mode.mad32();
    let half_of = |word: u32| half::to_f32(S32(if high { word >> 16 } else { word & 0xffff }), &x.mode).0;
    let mad = |a: u32, b: u32, c: u32| single::mad(S32(a), S32(b), S32(c), m);
    match what {
        Interpolation::Move => x.f32(S32(read[0])).0,
        Interpolation::P1 => x.f32(mad(read[0], at, read[1])).0,
        Interpolation::P2 => x.f32(mad(read[0], at, addend)).0,
        Interpolation::P1ll => x.f32(mad(half_of(read[0]), at, half_of(read[1]))).0,
        Interpolation::P1lv => x.f32(mad(half_of(read[0]), at, half_of(addend))).0,
        Interpolation::P2Half | Interpolation::P2HalfLegacy => {
            x.f16(half::from_f32(mad(half_of(read[0]), at, addend), &x.mode)).0 & 0xffff
        }
    }
}
