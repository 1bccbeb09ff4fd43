//! Between lanes and registers: V_READLANE and its like, relative moves, swaps, DPP, and the permutes that only borrow the
//! data share's crossbar (manual 6.6, 12.12.1, 13.3.9).

use wavemill_isa::{Level, Op};

/// What moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneMove {
    /// V_READFIRSTLANE: the first active lane to an SGPR.
    ReadFirst,
    /// V_READLANE: a lane to an SGPR.
    Read,
    /// V_WRITELANE: a scalar to a lane.
    Write,
    /// V_SWAP: two registers.
    Swap,
    /// Between accumulators.
    Accumulator,
    /// V_MOVREL: M0 is added to the source's register, the destination's, or both.
    Relative {
        /// The source's.
        source: bool,
        /// The destination's.
        destination: bool,
    },
}

impl LaneMove {
    /// What an instruction moves, if it is one of these.
    pub const fn of(op: Op) -> Option<LaneMove> {
        Some(match op {
            Op::v_readfirstlane_b32 => LaneMove::ReadFirst,
            Op::v_readlane_b32 | Op::v_readlane_b32_gfx6 => LaneMove::Read,
            Op::v_writelane_b32 | Op::v_writelane_b32_gfx6 => LaneMove::Write,
            Op::v_swap_b32 => LaneMove::Swap,
            Op::v_accvgpr_mov_b32 => LaneMove::Accumulator,
            Op::v_movreld_b32 => LaneMove::Relative { source: false, destination: true },
            Op::v_movrels_b32 => LaneMove::Relative { source: true, destination: false },
            Op::v_movrelsd_b32 => LaneMove::Relative { source: true, destination: true },
            _ => return None,
        })
    }
}

/// The lane V_READFIRSTLANE reads: the first active one, or lane 0. Instructions with one datum for the wave take it from
/// there, too.
pub const fn first_lane(exec: u64) -> u32 {
    exec.trailing_zeros() & 63
}

/// The lane a DPP control reads for lane `n` (manual 13.3.9), or none.
pub const fn dpp_source(n: u32, control: u16) -> Option<u32> {
    let count = control as u32 & 15;
    let (row, at) = (n & !15, n & 15);
    match control {
        0..=0xff => Some(n & !3 | control as u32 >> (n % 4 * 2) & 3),
        0x101..=0x10f if at + count < 16 => Some(n + count),
        0x111..=0x11f if at >= count => Some(n - count),
        0x101..=0x10f | 0x111..=0x11f => None,
        0x121..=0x12f => Some(row | (at + 16 - count) & 15),
        0x130 if n < 63 => Some(n + 1),
        0x130 => None,
        0x134 => Some((n + 1) & 63),
        0x138 => n.checked_sub(1),
        0x13c => Some((n + 63) & 63),
        0x140 => Some(row | (15 - at)),
        // Stays within its eight lanes; the manual's formula forgets the row.
        0x141 => Some(n & !7 | (7 - (n & 7))),
        0x142 if n > 15 => Some(row - 1),
        0x143 if n > 31 => Some(31),
        0x142 | 0x143 => None,
        0x150..=0x15f => Some(row | count),
        _ => Some(n),
    }
}

/// DPP: lanes that read source 0 of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dpp {
    /// Which.
    pub control: u16,
    /// Row mask << 4 | bank mask.
    pub mask: u8,
    /// Lanes without a source read zero instead of being off.
    pub bound: bool,
}

impl Dpp {
    /// The lanes whose source exists.
    pub fn existing(self) -> u64 {
        (0..64).filter(|&n| dpp_source(n, self.control).is_some()).fold(0, |all, n| all | 1 << n)
    }

    /// The lanes that the row and bank masks leave on.
    pub fn enabled(self) -> u64 {
        (0..64).filter(|&n| self.enables(n)).fold(0, |all, n| all | 1 << n)
    }

    /// Whether no lane's source is among other lanes than its own, if so many are together, of each together the same one.
    pub fn stays_within(self, lanes: u32) -> bool {
        (0..64).all(|n| match dpp_source(n, self.control) {
            Some(s) => s / lanes == n / lanes && dpp_source(n % lanes, self.control) == Some(s % lanes),
            None => dpp_source(n % lanes, self.control).is_none(),
        })
    }

    /// Whether the row and bank masks leave a lane on.
    pub const fn enables(self, lane: u32) -> bool {
        self.mask >> (4 + lane / 16) & 1 != 0 && self.mask >> (lane % 16 / 4) & 1 != 0
    }

    /// The lane that source 0 of a lane comes from (none is a zero), or none at all when DPP switches the lane off: one
    /// without a source is off unless bound control gives zero. An inactive source lane counts as out of bounds.
    pub fn lane(self, lane: u32, exec: u64) -> Option<Option<u32>> {
        let source = dpp_source(lane, self.control).filter(|&s| exec >> s & 1 != 0);
        (self.enables(lane) && (self.bound || source.is_some())).then_some(source)
    }
}

/// The lane DS_SWIZZLE_B32 reads for lane `i` (manual 12.12.1). Rotation follows the pseudocode: lanes whose number has
/// a mask bit keep that bit. FFT and rotation came with GFX8 (Mesa's README-ISA); before, bit 15 alone picks one of the two basic modes.
pub fn swizzle_source(i: u32, offset: u32, level: Level) -> u32 {
    let group = i & 0x20;
    let offset = if level.is_vi_plus() || offset & 0x8000 == 0 { offset } else { offset & 0x80ff };
    if offset >= 0xe000 {
        let mask = offset & 31;
        let j = (i & 31).reverse_bits() >> 27;
        (j >> mask.count_ones() | i & mask) & 31 | group
    } else if offset >= 0xc000 {
        let (mask, rotate) = (offset & 31, offset >> 5 & 31);
        let rotated = if offset >> 10 & 1 != 0 { i.wrapping_sub(rotate) } else { i + rotate };
        (i & mask | rotated & !mask) & 31 | group
    } else if offset & 0x8000 != 0 {
        i & !3 | offset >> (2 * (i & 3)) & 3
    } else {
        let (xor, or, and) = (offset >> 10 & 31, offset >> 5 & 31, offset & 31);
        ((i & 31 & and) | or) ^ xor | group
    }
}

/// The lane that DS_PERMUTE's and DS_BPERMUTE's address names.
pub const fn permute_lane(address: u32, offset: u32) -> u32 {
    (address.wrapping_add(offset) / 4) & 63
}
