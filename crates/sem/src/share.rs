//! Data share: which instruction does what to LDS and GDS, or only borrows their crossbar (manual 11, 12.12).

use crate::atomic::Atomic;
use crate::gws::Request;
use crate::lanes::{Word, w};
use crate::memory::{self, Access, src2};
use wavemill_isa::Op;

/// What a data-share instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Share {
    /// One number per lane.
    Access(Access),
    /// Two numbers per lane, each with an offset.
    Pair {
        /// Size of each.
        bytes: u8,
        /// What offsets count.
        step: u16,
        /// What happens to them.
        action: PairAction,
    },
    /// Both operands in memory.
    Src2 {
        /// The operation.
        op: Atomic,
        /// Size.
        bytes: u8,
    },
    /// A dword at an address of the lane's number.
    AddTid {
        /// Registers to memory.
        store: bool,
    },
    /// DS_CONDXCHG32: each of two dwords is exchanged if its datum's bit 31 is set.
    ConditionalExchange,
    /// One count for the wave: the number of active lanes is added, or subtracted.
    Append {
        /// It is added.
        add: bool,
    },
    /// Lanes read others by a pattern.
    Swizzle,
    /// Lanes' data go to others.
    Permute,
    /// Lanes read others.
    BackwardPermute,
    /// Nothing.
    Nop,
}

/// What happens to two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum PairAction {
    Read,
    Write,
    Exchange,
}

impl Share {
    /// What an instruction does, if it is one of these.
    pub fn of(op: Op) -> Option<Share> {
        use PairAction::{Exchange, Read, Write};
        let pair = |bytes, step, action| Share::Pair { bytes, step, action };
        Some(match op {
            Op::ds_nop => Share::Nop,
            Op::ds_swizzle_b32 => Share::Swizzle,
            Op::ds_permute_b32 => Share::Permute,
            Op::ds_bpermute_b32 => Share::BackwardPermute,
            Op::ds_read2_b32 => pair(4, 4, Read),
            Op::ds_read2st64_b32 => pair(4, 256, Read),
            Op::ds_read2_b64 => pair(8, 8, Read),
            Op::ds_read2st64_b64 => pair(8, 512, Read),
            Op::ds_write2_b32 => pair(4, 4, Write),
            Op::ds_write2st64_b32 => pair(4, 256, Write),
            Op::ds_write2_b64 => pair(8, 8, Write),
            Op::ds_write2st64_b64 => pair(8, 512, Write),
            Op::ds_wrxchg2_rtn_b32 => pair(4, 4, Exchange),
            Op::ds_wrxchg2st64_rtn_b32 => pair(4, 256, Exchange),
            Op::ds_wrxchg2_rtn_b64 => pair(8, 8, Exchange),
            Op::ds_wrxchg2st64_rtn_b64 => pair(8, 512, Exchange),
            Op::ds_read_addtid_b32 => Share::AddTid { store: false },
            Op::ds_write_addtid_b32 => Share::AddTid { store: true },
            Op::ds_condxchg32_rtn_b64 => Share::ConditionalExchange,
            Op::ds_append => Share::Append { add: true },
            Op::ds_consume => Share::Append { add: false },
            _ => {
                let access = memory::access(op).map(Share::Access);
                return access.or_else(|| src2(op).map(|(op, bytes)| Share::Src2 { op, bytes }));
            }
        })
    }
}

/// Instructions for which a wave may have to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sync {
    /// Global wave sync.
    Gws(Request),
    /// DS_ORDERED_COUNT.
    OrderedCount,
}

impl Sync {
    /// What an instruction does, if it is one of these.
    pub fn of(op: Op) -> Option<Sync> {
        match op {
            Op::ds_ordered_count => Some(Sync::OrderedCount),
            _ => Request::of(op).map(Sync::Gws),
        }
    }
}

/// The two offsets of an instruction that has two addresses, in bytes.
pub fn pair_offsets(offset: u16, step: u16) -> [u32; 2] {
    [(offset & 0xff) as u32 * step as u32, (offset >> 8) as u32 * step as u32]
}

/// DS_CONDXCHG32: whether a dword in memory is replaced, and by what. Bit 31 of its datum says whether the other bits are stored.
#[inline(always)]
pub fn conditional_exchange<W: Word>(datum: W) -> (W::Mask, W) {
    (datum.lt_i(w(0)), datum & w(0x7fff_ffff))
}
