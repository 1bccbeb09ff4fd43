//! Tiled images: where an element lies when neighbours in both directions are kept together.
//!
//! The manuals only name the field. The facts are those of AMD's address library (addrlib in Mesa and PAL), which
//! drivers use to lay out images:
//!
//! - GFX9's swizzle modes without pipe and bank XOR fill blocks of 256 bytes, 4 KiB or 64 KiB. In the lowest 256 bytes (64
//!   in Z order) bits of both coordinates come in an order that the mode and the size of elements decide; above, y and x
//!   take turns.
//! - GFX6 to GFX8 find the mode in a table that the driver sets up. Linux's drivers have ARRAY_1D_TILED_THIN1 in row 9
//!   (in the order of displays) and in row 13 (radeon_drm.h): tiles of eight by eight elements.
//!
//! Blocks lie along rows, rows one after another, slices of whole blocks likewise. All levels of a slice lie in one
//! rectangle of blocks, right of and below one another; the small ones share a block, the tail. That is so on GFX9, but
//! for blocks of 256 bytes; elsewhere images of several levels are not known here. Modes with XOR and those with macro
//! tiles depend on the memory channels of a graphics card; they are not here.

use crate::lanes::{Word, w};
use wavemill_isa::Level;

/// The order of elements in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    /// Bits of x and y alternate.
    Z,
    /// GFX9: the standard swizzle.
    Standard,
    /// GFX9: for displays.
    Display,
    /// GFX9: for displays that stand upright.
    Rotated,
    /// Before GFX9: for displays.
    OldDisplay,
}

/// How an image lies in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tiling {
    order: Order,
    /// Bytes of a block, as a power of two; none for blocks of 64 elements.
    block: Option<u32>,
}

/// Orders of coordinate bits from the lowest, by the size of elements: for blocks of 256 bytes.
const STANDARD: [&str; 5] = ["x0x1x2x3y0y1y2y3", "x0x1x2y0y1y2x3", "x0x1y0y1y2x2", "x0y0y1x1x2", "y0y1x0x1"];
const DISPLAY: [&str; 5] = ["x0x1x2y1y0y2x3y3", "x0x1x2y0y1y2x3", "x0x1y0x2y1y2", "x0y0x1x2y1", "x0y0x1y1"];
const ROTATED: [&str; 4] = ["y0y1y2x1x0x2x3y3", "y0y1y2x0x1x2x3", "y0y1x0y2x1x2", "y0x0y1x1x2"];
/// For 64 elements.
const OLD_DISPLAY: [&str; 4] = ["x0x1x2y1y0y2", "x0x1x2y0y1y2", "x0x1y0x2y1y2", "x0y0x1x2y1y2"];
/// For 64 elements, and as much of it as 64 bytes have.
const ALTERNATING: &str = "x0y0x1y1x2y2";

/// What an image in a mode of GFX9 is called that [`Tiling::new`] does not know, for reports (the names are addrlib's).
pub const fn refused(mode: u32, level: Level) -> Option<&'static str> {
    macro_rules! modes {
        ($($mode:literal $name:literal $why:literal;)*) => {
            match mode {
                $($mode => Some(concat!("an image in swizzle mode ", $name, ", ", $why)),)*
                _ => None,
            }
        };
    }
    if !level.is_gfx9() {
        return None;
    }
    modes! {
        12 "SW_VAR_Z" "whose blocks are as large as a driver says";
        13 "SW_VAR_S" "whose blocks are as large as a driver says";
        14 "SW_VAR_D" "whose blocks are as large as a driver says";
        15 "SW_VAR_R" "whose blocks are as large as a driver says";
        16 "SW_64KB_Z_T" "which XORs bits of the address (PRT)";
        17 "SW_64KB_S_T" "which XORs bits of the address (PRT)";
        18 "SW_64KB_D_T" "which XORs bits of the address (PRT)";
        19 "SW_64KB_R_T" "which XORs bits of the address (PRT)";
        20 "SW_4KB_Z_X" "which XORs bits of the address with pipes and banks";
        21 "SW_4KB_S_X" "which XORs bits of the address with pipes and banks";
        22 "SW_4KB_D_X" "which XORs bits of the address with pipes and banks";
        23 "SW_4KB_R_X" "which XORs bits of the address with pipes and banks";
        24 "SW_64KB_Z_X" "which XORs bits of the address with pipes and banks";
        25 "SW_64KB_S_X" "which XORs bits of the address with pipes and banks";
        26 "SW_64KB_D_X" "which XORs bits of the address with pipes and banks";
        27 "SW_64KB_R_X" "which XORs bits of the address with pipes and banks";
        28 "SW_VAR_Z_X" "which XORs bits of the address with pipes and banks";
        29 "SW_VAR_S_X" "which XORs bits of the address with pipes and banks";
        30 "SW_VAR_D_X" "which XORs bits of the address with pipes and banks";
        31 "SW_VAR_R_X" "which XORs bits of the address with pipes and banks";
    }
}

/// A block of an image: its size in elements and bytes, and where in it they lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Elements across, as a power of two.
    pub across: u32,
    /// Elements down, as a power of two.
    pub down: u32,
    /// Bytes, as a power of two.
    pub log: u32,
    /// Bits of x and y that go to bits of the offset: which, and how far up. No coordinate has more than eight.
    moves: [[Move; 8]; 2],
}

/// Bits that are moved up together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Move {
    bits: u16,
    by: u8,
}

impl Block {
    /// Bytes before an element in its block.
    #[inline(always)]
    pub fn offset<W: Word>(&self, x: W, y: W) -> W {
        let mut offset = w(0);
        for (moves, place) in self.moves.iter().zip([x, y]) {
            for m in moves.iter().take_while(|m| m.bits != 0) {
                offset = offset | (place & w(m.bits.into())).shl(w(m.by.into()));
            }
        }
        offset
    }
}

impl Tiling {
    /// The tiling of an image that is not linear, if it is known: from the swizzle mode of GFX9 or the tile index.
    pub fn new(mode: u32, level: Level) -> Option<Tiling> {
        if !level.is_gfx9() {
            let order = match mode {
                9 => Order::OldDisplay,
                13 => Order::Z,
                _ => return None,
            };
            return Some(Tiling { order, block: None });
        }
        let block = match mode {
            1..=3 => 8,
            4..=7 => 12,
            8..=11 => 16,
            _ => return None,
        };
        let order = [Order::Z, Order::Standard, Order::Display, Order::Rotated][mode as usize % 4];
        Some(Tiling { order, block: Some(block) })
    }

    /// The bits of coordinates that elements' lowest address bits are, if there are such elements.
    fn pattern(self, log: u32) -> Option<&'static str> {
        let log = log as usize;
        match self.order {
            Order::Standard => STANDARD.get(log).copied(),
            Order::Display => DISPLAY.get(log).copied(),
            Order::Rotated => ROTATED.get(log).copied(),
            Order::OldDisplay => OLD_DISPLAY.get(log).copied(),
            Order::Z if self.block.is_none() => (log < 5).then_some(ALTERNATING),
            Order::Z => (log < 4).then(|| &ALTERNATING[..2 * (6 - log)]),
        }
    }

    /// Whether it is one of GFX9's.
    pub fn is_gfx9(self) -> bool {
        self.block.is_some()
    }

    /// Whether elements can have so many bytes.
    pub fn holds(self, bytes: u8) -> bool {
        bytes.is_power_of_two() && self.pattern(bytes.trailing_zeros()).is_some()
    }

    /// The blocks of elements of a size. None for a size that [`Tiling::holds`] does not.
    pub fn block(self, bytes: u8) -> Option<Block> {
        let log = bytes.trailing_zeros();
        let pattern = self.pattern(log)?.as_bytes();
        let (mut at, mut used, mut moves) = (log, [0, 0], [[Move::default(); 8]; 2]);
        for i in 0.. {
            let (axis, bit) = match pattern.as_chunks::<2>().0.get(i) {
                Some([axis, bit]) => ((*axis == b'y') as usize, (bit - b'0') as u32),
                None if self.block.is_some_and(|end| at < end) => {
                    // y has the even bits.
                    let axis = (at & 1 == 0) as usize;
                    (axis, used[axis])
                }
                None => break,
            };
            let by = (at - bit) as u8;
            let same = moves[axis].iter_mut().find(|m| m.bits == 0 || m.by == by)?;
            *same = Move { bits: same.bits | 1 << bit, by };
            used[axis] = used[axis].max(bit + 1);
            at += 1;
        }
        Some(Block { across: used[0], down: used[1], log: at, moves })
    }
}

/// A level of a slice in an image: where it is among the blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LevelPosition {
    /// Blocks from row to row.
    pub across: u32,
    /// Rows of a slice.
    pub down: u32,
    /// The level's first block: column and row.
    pub first: [u32; 2],
    /// Bytes before the level in that block.
    pub offset: u64,
}

/// Where levels of a tail begin, in 256 bytes: those of the last entries that are less than the block.
const TAIL: [u16; 12] = [128, 64, 32, 16, 8, 6, 5, 4, 3, 2, 1, 0];

impl Tiling {
    /// Whether images can have several levels.
    pub fn has_levels(self) -> bool {
        matches!(self.block, Some(12 | 16))
    }

    /// The place of a level of an image of so many elements. The pitch is what the resource says, none to take what the
    /// size gives: elements from row to row, or, of several levels that are in a column, the elements in one.
    pub fn place(
        self,
        block: &Block,
        size: [u32; 2],
        pitch: Option<u32>,
        levels: u32,
        level: u32,
    ) -> LevelPosition {
        let edges = [1 << block.across, 1 << block.down];
        let mut blocks = [size[0].div_ceil(edges[0]), size[1].div_ceil(edges[1])];
        let mut all = blocks;
        let pitch = |axis: usize| pitch.map(|p| p.div_ceil(edges[axis]));
        if levels <= 1 {
            return LevelPosition {
                across: pitch(0).unwrap_or(all[0]),
                down: all[1],
                first: [0, 0],
                offset: 0,
            };
        }
        let tail = |level: u32| {
            // Blocks of 4 KiB begin in the middle of the table.
            let skip = if self.block == Some(16) { 0 } else { 4 };
            TAIL.get(level as usize + skip).map_or(0, |n| (*n as u64) << 8)
        };
        // What has half a block's width is in the tail.
        if size[0] <= edges[0] / 2 && size[1] <= edges[1] {
            return LevelPosition {
                across: all[0],
                down: pitch(1).unwrap_or(all[1]),
                first: [0, 0],
                offset: tail(level),
            };
        }
        // Where there are fewer blocks, the second level follows, and the third follows that elsewhere.
        let major = (blocks[0] < blocks[1]) as usize;
        let minor = 1 - major;
        let (mut first, mut offset, mut end) = ([0, 0], 0, levels - 1);
        let mut at = [0, 0];
        for i in 1..levels {
            let axis = if matches!(i, 1 | 3) { minor } else { major };
            at[axis] += blocks[axis];
            // The level before was so small that this one is the first of the tail.
            let in_tail = blocks[0] == 1 && blocks[1] <= 2;
            if i == level || in_tail && level > i {
                first = at;
            }
            if in_tail {
                offset = level.checked_sub(i).map_or(0, tail);
                end = i;
                break;
            }
            blocks = blocks.map(|n| n.div_ceil(2));
        }
        // Room for the second level, and for another below it.
        let half = all[minor].div_ceil(2);
        all[minor] += if half == 1 && end > 2 { 2 } else { half };
        all[minor] = pitch(minor).unwrap_or(all[minor]);
        LevelPosition { across: all[0], down: all[1], first, offset }
    }
}
