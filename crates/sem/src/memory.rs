//! What memory instructions move: sizes, extension, and which read-modify-write. This is what LDS, buffer, flat, global and
//! scratch instructions have in common; where they move it is in [`crate::address`], how in [`crate::transfer`].

use crate::atomic::Atomic;
use crate::lanes::{Word, w};
use crate::scalar::S32;
use wavemill_isa::Op;

/// How a loaded number fills its register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extend {
    /// With zeros (or it is a whole number of dwords).
    Zero,
    /// With its sign.
    Sign,
    /// Extended to 16 bits into a half of the register (the D16 loads).
    Half {
        /// The upper one.
        high: bool,
        /// Extended with its sign.
        signed: bool,
        /// The other half stays; else it becomes zero.
        keep: bool,
    },
}

impl Extend {
    const ZERO_LOW: Extend = Extend::Half { high: false, signed: false, keep: true };
    const ZERO_HIGH: Extend = Extend::Half { high: true, signed: false, keep: true };
    const SIGN_LOW: Extend = Extend::Half { high: false, signed: true, keep: true };
    const SIGN_HIGH: Extend = Extend::Half { high: true, signed: true, keep: true };

    /// The register after loading `value` of `bytes` (1 or 2, or 4 for whole dwords).
    #[inline]
    pub fn apply(self, value: u32, bytes: u8, old: u32) -> u32 {
        let extended = match (self.signed(), bytes) {
            (true, 1) => value as i8 as i32 as u32,
            (true, 2) => value as i16 as i32 as u32,
            _ => value,
        };
        self.placed(S32(extended), || S32(old)).0
    }

    /// Whether the number is extended with its sign.
    pub const fn signed(self) -> bool {
        matches!(self, Extend::Sign | Extend::Half { signed: true, .. })
    }

    /// The register after loading what has been extended to 32 bits, from what it was.
    #[inline(always)]
    pub fn placed<W: Word>(self, extended: W, old: impl FnOnce() -> W) -> W {
        let Extend::Half { high, keep, .. } = self else { return extended };
        let (value, rest) = match high {
            true => (extended.shl(w(16)), 0xffff),
            false => (extended & w(0xffff), 0xffff_0000),
        };
        if keep { value | old() & w(rest) } else { value }
    }
}

/// What a memory instruction does to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Memory to registers.
    Load {
        /// Size.
        bytes: u8,
        /// Extension of less than a dword.
        extend: Extend,
    },
    /// Registers to memory.
    Store {
        /// Size.
        bytes: u8,
        /// The data is in the register's upper half.
        high: bool,
    },
    /// Read, modify, write.
    Atomic {
        /// The operation.
        op: Atomic,
        /// Size.
        bytes: u8,
    },
}

impl Access {
    /// Bytes of a lane.
    pub const fn bytes(self) -> u8 {
        match self {
            Access::Load { bytes, .. } | Access::Store { bytes, .. } | Access::Atomic { bytes, .. } => bytes,
        }
    }

    /// Whether it changes memory.
    pub const fn writes(self) -> bool {
        !matches!(self, Access::Load { .. })
    }

    /// Whether it reads, modifies and writes.
    pub const fn is_atomic(self) -> bool {
        matches!(self, Access::Atomic { .. })
    }

    /// The same where registers have ECC: D16 loads write the whole register, zeros into the other half (manual 9.1.6).
    #[must_use]
    pub const fn with_ecc(self) -> Access {
        match self {
            Access::Load { bytes, extend: Extend::Half { high, signed, .. } } => {
                Access::Load { bytes, extend: Extend::Half { high, signed, keep: false } }
            }
            other => other,
        }
    }
}

const fn load(bytes: u8, extend: Extend) -> Access {
    Access::Load { bytes, extend }
}
const fn store(bytes: u8, high: bool) -> Access {
    Access::Store { bytes, high }
}
const fn atomic(op: Atomic, bytes: u8) -> Access {
    Access::Atomic { op, bytes }
}

/// How a format instruction's components stand in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Components {
    /// A register each.
    Words,
    /// 16 bits each, two to a register (most of GFX8: a register each).
    Halves,
    /// 16 bits in the upper half of the register.
    HighHalf,
}

/// A buffer instruction that converts between registers and an element's format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Formatted {
    /// Registers to memory.
    pub store: bool,
    /// Components moved.
    pub count: u8,
    /// Their place in registers.
    pub components: Components,
}

/// What a format instruction moves.
#[rustfmt::skip]
pub fn formatted(op: Op) -> Option<Formatted> {
    use Components::{Halves, HighHalf, Words};
    let (store, count, components) = match op {
        Op::buffer_load_format_x | Op::tbuffer_load_format_x => (false, 1, Words),
        Op::buffer_load_format_xy | Op::tbuffer_load_format_xy => (false, 2, Words),
        Op::buffer_load_format_xyz | Op::tbuffer_load_format_xyz => (false, 3, Words),
        Op::buffer_load_format_xyzw | Op::tbuffer_load_format_xyzw => (false, 4, Words),
        Op::buffer_store_format_x | Op::tbuffer_store_format_x => (true, 1, Words),
        Op::buffer_store_format_xy | Op::tbuffer_store_format_xy => (true, 2, Words),
        Op::buffer_store_format_xyz | Op::tbuffer_store_format_xyz => (true, 3, Words),
        Op::buffer_store_format_xyzw | Op::tbuffer_store_format_xyzw => (true, 4, Words),
        Op::buffer_load_format_d16_x | Op::tbuffer_load_format_d16_x => (false, 1, Halves),
        Op::buffer_load_format_d16_xy | Op::tbuffer_load_format_d16_xy => (false, 2, Halves),
        Op::buffer_load_format_d16_xyz | Op::tbuffer_load_format_d16_xyz => (false, 3, Halves),
        Op::buffer_load_format_d16_xyzw | Op::tbuffer_load_format_d16_xyzw => (false, 4, Halves),
        Op::buffer_store_format_d16_x | Op::tbuffer_store_format_d16_x => (true, 1, Halves),
        Op::buffer_store_format_d16_xy | Op::tbuffer_store_format_d16_xy => (true, 2, Halves),
        Op::buffer_store_format_d16_xyz | Op::tbuffer_store_format_d16_xyz => (true, 3, Halves),
        Op::buffer_store_format_d16_xyzw | Op::tbuffer_store_format_d16_xyzw => (true, 4, Halves),
        Op::buffer_load_format_d16_hi_x => (false, 1, HighHalf),
        Op::buffer_store_format_d16_hi_x => (true, 1, HighHalf),
        _ => return None,
    };
    Some(Formatted { store, count, components })
}

/// The operation and size of a data-share instruction whose second operand is in memory, too (GFX6 to gfx908).
#[rustfmt::skip]
pub fn src2(op: Op) -> Option<(Atomic, u8)> {
    Some(match op {
        Op::ds_add_src2_u32 => (Atomic::Add, 4),
        Op::ds_sub_src2_u32 => (Atomic::Sub, 4),
        Op::ds_rsub_src2_u32 => (Atomic::Rsub, 4),
        Op::ds_inc_src2_u32 => (Atomic::Inc, 4),
        Op::ds_dec_src2_u32 => (Atomic::Dec, 4),
        Op::ds_min_src2_i32 => (Atomic::MinI, 4),
        Op::ds_max_src2_i32 => (Atomic::MaxI, 4),
        Op::ds_min_src2_u32 => (Atomic::MinU, 4),
        Op::ds_max_src2_u32 => (Atomic::MaxU, 4),
        Op::ds_and_src2_b32 => (Atomic::And, 4),
        Op::ds_or_src2_b32 => (Atomic::Or, 4),
        Op::ds_xor_src2_b32 => (Atomic::Xor, 4),
        Op::ds_write_src2_b32 => (Atomic::Swap, 4),
        Op::ds_min_src2_f32 => (Atomic::MinF, 4),
        Op::ds_max_src2_f32 => (Atomic::MaxF, 4),
        Op::ds_add_src2_f32 => (Atomic::AddF, 4),
        Op::ds_add_src2_u64 => (Atomic::Add, 8),
        Op::ds_sub_src2_u64 => (Atomic::Sub, 8),
        Op::ds_rsub_src2_u64 => (Atomic::Rsub, 8),
        Op::ds_inc_src2_u64 => (Atomic::Inc, 8),
        Op::ds_dec_src2_u64 => (Atomic::Dec, 8),
        Op::ds_min_src2_i64 => (Atomic::MinI, 8),
        Op::ds_max_src2_i64 => (Atomic::MaxI, 8),
        Op::ds_min_src2_u64 => (Atomic::MinU, 8),
        Op::ds_max_src2_u64 => (Atomic::MaxU, 8),
        Op::ds_and_src2_b64 => (Atomic::And, 8),
        Op::ds_or_src2_b64 => (Atomic::Or, 8),
        Op::ds_xor_src2_b64 => (Atomic::Xor, 8),
        Op::ds_write_src2_b64 => (Atomic::Swap, 8),
        Op::ds_min_src2_f64 => (Atomic::MinF, 8),
        Op::ds_max_src2_f64 => (Atomic::MaxF, 8),
        _ => return None,
    })
}

/// What an instruction does to memory, for those that move one number per lane.
#[rustfmt::skip]
pub fn access(op: Op) -> Option<Access> {
    Some(match op {
        Op::buffer_load_ubyte | Op::flat_load_ubyte | Op::global_load_ubyte | Op::scratch_load_ubyte | Op::ds_read_u8 => load(1, Extend::Zero),
        Op::buffer_load_sbyte | Op::flat_load_sbyte | Op::global_load_sbyte | Op::scratch_load_sbyte | Op::ds_read_i8 => load(1, Extend::Sign),
        Op::buffer_load_ushort | Op::flat_load_ushort | Op::global_load_ushort | Op::scratch_load_ushort | Op::ds_read_u16 => load(2, Extend::Zero),
        Op::buffer_load_sshort | Op::flat_load_sshort | Op::global_load_sshort | Op::scratch_load_sshort | Op::ds_read_i16 => load(2, Extend::Sign),
        Op::buffer_load_dword | Op::flat_load_dword | Op::global_load_dword | Op::scratch_load_dword | Op::ds_read_b32 => load(4, Extend::Zero),
        Op::buffer_load_dwordx2 | Op::flat_load_dwordx2 | Op::global_load_dwordx2 | Op::scratch_load_dwordx2 | Op::ds_read_b64 => load(8, Extend::Zero),
        Op::buffer_load_dwordx3 | Op::flat_load_dwordx3 | Op::global_load_dwordx3 | Op::scratch_load_dwordx3 | Op::ds_read_b96 => load(12, Extend::Zero),
        Op::buffer_load_dwordx4 | Op::flat_load_dwordx4 | Op::global_load_dwordx4 | Op::scratch_load_dwordx4 | Op::ds_read_b128 => load(16, Extend::Zero),
        Op::buffer_load_ubyte_d16 | Op::flat_load_ubyte_d16 | Op::global_load_ubyte_d16 | Op::scratch_load_ubyte_d16 | Op::ds_read_u8_d16 => load(1, Extend::ZERO_LOW),
        Op::buffer_load_ubyte_d16_hi | Op::flat_load_ubyte_d16_hi | Op::global_load_ubyte_d16_hi | Op::scratch_load_ubyte_d16_hi | Op::ds_read_u8_d16_hi => load(1, Extend::ZERO_HIGH),
        Op::buffer_load_sbyte_d16 | Op::flat_load_sbyte_d16 | Op::global_load_sbyte_d16 | Op::scratch_load_sbyte_d16 | Op::ds_read_i8_d16 => load(1, Extend::SIGN_LOW),
        Op::buffer_load_sbyte_d16_hi | Op::flat_load_sbyte_d16_hi | Op::global_load_sbyte_d16_hi | Op::scratch_load_sbyte_d16_hi | Op::ds_read_i8_d16_hi => load(1, Extend::SIGN_HIGH),
        Op::buffer_load_short_d16 | Op::flat_load_short_d16 | Op::global_load_short_d16 | Op::scratch_load_short_d16 | Op::ds_read_u16_d16 => load(2, Extend::ZERO_LOW),
        Op::buffer_load_short_d16_hi | Op::flat_load_short_d16_hi | Op::global_load_short_d16_hi | Op::scratch_load_short_d16_hi | Op::ds_read_u16_d16_hi => load(2, Extend::ZERO_HIGH),
        Op::buffer_store_lds_dword => store(4, false),
        Op::buffer_store_byte | Op::flat_store_byte | Op::global_store_byte | Op::scratch_store_byte | Op::ds_write_b8 => store(1, false),
        Op::buffer_store_byte_d16_hi | Op::flat_store_byte_d16_hi | Op::global_store_byte_d16_hi | Op::scratch_store_byte_d16_hi | Op::ds_write_b8_d16_hi => store(1, true),
        Op::buffer_store_short | Op::flat_store_short | Op::global_store_short | Op::scratch_store_short | Op::ds_write_b16 => store(2, false),
        Op::buffer_store_short_d16_hi | Op::flat_store_short_d16_hi | Op::global_store_short_d16_hi | Op::scratch_store_short_d16_hi | Op::ds_write_b16_d16_hi => store(2, true),
        Op::buffer_store_dword | Op::flat_store_dword | Op::global_store_dword | Op::scratch_store_dword | Op::ds_write_b32 => store(4, false),
        Op::buffer_store_dwordx2 | Op::flat_store_dwordx2 | Op::global_store_dwordx2 | Op::scratch_store_dwordx2 | Op::ds_write_b64 => store(8, false),
        Op::buffer_store_dwordx3 | Op::flat_store_dwordx3 | Op::global_store_dwordx3 | Op::scratch_store_dwordx3 | Op::ds_write_b96 => store(12, false),
        Op::buffer_store_dwordx4 | Op::flat_store_dwordx4 | Op::global_store_dwordx4 | Op::scratch_store_dwordx4 | Op::ds_write_b128 => store(16, false),
        Op::buffer_atomic_swap | Op::flat_atomic_swap | Op::global_atomic_swap | Op::s_atomic_swap | Op::s_buffer_atomic_swap | Op::ds_wrxchg_rtn_b32 => atomic(Atomic::Swap, 4),
        Op::buffer_atomic_swap_x2 | Op::flat_atomic_swap_x2 | Op::global_atomic_swap_x2 | Op::s_atomic_swap_x2 | Op::s_buffer_atomic_swap_x2 | Op::ds_wrxchg_rtn_b64 => atomic(Atomic::Swap, 8),
        Op::buffer_atomic_cmpswap | Op::flat_atomic_cmpswap | Op::global_atomic_cmpswap | Op::s_atomic_cmpswap | Op::s_buffer_atomic_cmpswap | Op::ds_cmpst_b32 | Op::ds_cmpst_rtn_b32 => atomic(Atomic::CmpSwap, 4),
        Op::buffer_atomic_cmpswap_x2 | Op::flat_atomic_cmpswap_x2 | Op::global_atomic_cmpswap_x2 | Op::s_atomic_cmpswap_x2 | Op::s_buffer_atomic_cmpswap_x2 | Op::ds_cmpst_b64 | Op::ds_cmpst_rtn_b64 => atomic(Atomic::CmpSwap, 8),
        Op::buffer_atomic_add | Op::flat_atomic_add | Op::global_atomic_add | Op::s_atomic_add | Op::s_buffer_atomic_add | Op::ds_add_u32 | Op::ds_add_rtn_u32 => atomic(Atomic::Add, 4),
        Op::buffer_atomic_add_x2 | Op::flat_atomic_add_x2 | Op::global_atomic_add_x2 | Op::s_atomic_add_x2 | Op::s_buffer_atomic_add_x2 | Op::ds_add_u64 | Op::ds_add_rtn_u64 => atomic(Atomic::Add, 8),
        Op::buffer_atomic_sub | Op::flat_atomic_sub | Op::global_atomic_sub | Op::s_atomic_sub | Op::s_buffer_atomic_sub | Op::ds_sub_u32 | Op::ds_sub_rtn_u32 => atomic(Atomic::Sub, 4),
        Op::buffer_atomic_sub_x2 | Op::flat_atomic_sub_x2 | Op::global_atomic_sub_x2 | Op::s_atomic_sub_x2 | Op::s_buffer_atomic_sub_x2 | Op::ds_sub_u64 | Op::ds_sub_rtn_u64 => atomic(Atomic::Sub, 8),
        Op::buffer_atomic_smin | Op::flat_atomic_smin | Op::global_atomic_smin | Op::s_atomic_smin | Op::s_buffer_atomic_smin | Op::ds_min_i32 | Op::ds_min_rtn_i32 => atomic(Atomic::MinI, 4),
        Op::buffer_atomic_smin_x2 | Op::flat_atomic_smin_x2 | Op::global_atomic_smin_x2 | Op::s_atomic_smin_x2 | Op::s_buffer_atomic_smin_x2 | Op::ds_min_i64 | Op::ds_min_rtn_i64 => atomic(Atomic::MinI, 8),
        Op::buffer_atomic_umin | Op::flat_atomic_umin | Op::global_atomic_umin | Op::s_atomic_umin | Op::s_buffer_atomic_umin | Op::ds_min_u32 | Op::ds_min_rtn_u32 => atomic(Atomic::MinU, 4),
        Op::buffer_atomic_umin_x2 | Op::flat_atomic_umin_x2 | Op::global_atomic_umin_x2 | Op::s_atomic_umin_x2 | Op::s_buffer_atomic_umin_x2 | Op::ds_min_u64 | Op::ds_min_rtn_u64 => atomic(Atomic::MinU, 8),
        Op::buffer_atomic_smax | Op::flat_atomic_smax | Op::global_atomic_smax | Op::s_atomic_smax | Op::s_buffer_atomic_smax | Op::ds_max_i32 | Op::ds_max_rtn_i32 => atomic(Atomic::MaxI, 4),
        Op::buffer_atomic_smax_x2 | Op::flat_atomic_smax_x2 | Op::global_atomic_smax_x2 | Op::s_atomic_smax_x2 | Op::s_buffer_atomic_smax_x2 | Op::ds_max_i64 | Op::ds_max_rtn_i64 => atomic(Atomic::MaxI, 8),
        Op::buffer_atomic_umax | Op::flat_atomic_umax | Op::global_atomic_umax | Op::s_atomic_umax | Op::s_buffer_atomic_umax | Op::ds_max_u32 | Op::ds_max_rtn_u32 => atomic(Atomic::MaxU, 4),
        Op::buffer_atomic_umax_x2 | Op::flat_atomic_umax_x2 | Op::global_atomic_umax_x2 | Op::s_atomic_umax_x2 | Op::s_buffer_atomic_umax_x2 | Op::ds_max_u64 | Op::ds_max_rtn_u64 => atomic(Atomic::MaxU, 8),
        Op::buffer_atomic_and | Op::flat_atomic_and | Op::global_atomic_and | Op::s_atomic_and | Op::s_buffer_atomic_and | Op::ds_and_b32 | Op::ds_and_rtn_b32 => atomic(Atomic::And, 4),
        Op::buffer_atomic_and_x2 | Op::flat_atomic_and_x2 | Op::global_atomic_and_x2 | Op::s_atomic_and_x2 | Op::s_buffer_atomic_and_x2 | Op::ds_and_b64 | Op::ds_and_rtn_b64 => atomic(Atomic::And, 8),
        Op::buffer_atomic_or | Op::flat_atomic_or | Op::global_atomic_or | Op::s_atomic_or | Op::s_buffer_atomic_or | Op::ds_or_b32 | Op::ds_or_rtn_b32 => atomic(Atomic::Or, 4),
        Op::buffer_atomic_or_x2 | Op::flat_atomic_or_x2 | Op::global_atomic_or_x2 | Op::s_atomic_or_x2 | Op::s_buffer_atomic_or_x2 | Op::ds_or_b64 | Op::ds_or_rtn_b64 => atomic(Atomic::Or, 8),
        Op::buffer_atomic_xor | Op::flat_atomic_xor | Op::global_atomic_xor | Op::s_atomic_xor | Op::s_buffer_atomic_xor | Op::ds_xor_b32 | Op::ds_xor_rtn_b32 => atomic(Atomic::Xor, 4),
        Op::buffer_atomic_xor_x2 | Op::flat_atomic_xor_x2 | Op::global_atomic_xor_x2 | Op::s_atomic_xor_x2 | Op::s_buffer_atomic_xor_x2 | Op::ds_xor_b64 | Op::ds_xor_rtn_b64 => atomic(Atomic::Xor, 8),
        Op::buffer_atomic_inc | Op::flat_atomic_inc | Op::global_atomic_inc | Op::s_atomic_inc | Op::s_buffer_atomic_inc | Op::ds_inc_u32 | Op::ds_inc_rtn_u32 => atomic(Atomic::Inc, 4),
        Op::buffer_atomic_inc_x2 | Op::flat_atomic_inc_x2 | Op::global_atomic_inc_x2 | Op::s_atomic_inc_x2 | Op::s_buffer_atomic_inc_x2 | Op::ds_inc_u64 | Op::ds_inc_rtn_u64 => atomic(Atomic::Inc, 8),
        Op::buffer_atomic_dec | Op::flat_atomic_dec | Op::global_atomic_dec | Op::s_atomic_dec | Op::s_buffer_atomic_dec | Op::ds_dec_u32 | Op::ds_dec_rtn_u32 => atomic(Atomic::Dec, 4),
        Op::buffer_atomic_dec_x2 | Op::flat_atomic_dec_x2 | Op::global_atomic_dec_x2 | Op::s_atomic_dec_x2 | Op::s_buffer_atomic_dec_x2 | Op::ds_dec_u64 | Op::ds_dec_rtn_u64 => atomic(Atomic::Dec, 8),
        Op::ds_rsub_u32 | Op::ds_rsub_rtn_u32 => atomic(Atomic::Rsub, 4),
        Op::ds_mskor_b32 | Op::ds_mskor_rtn_b32 => atomic(Atomic::MaskOr, 4),
        Op::ds_cmpst_f32 | Op::ds_cmpst_rtn_f32 | Op::buffer_atomic_fcmpswap | Op::flat_atomic_fcmpswap => atomic(Atomic::CmpSwapF, 4),
        Op::ds_min_f32 | Op::ds_min_rtn_f32 | Op::buffer_atomic_fmin | Op::flat_atomic_fmin => atomic(Atomic::MinF, 4),
        Op::ds_max_f32 | Op::ds_max_rtn_f32 | Op::buffer_atomic_fmax | Op::flat_atomic_fmax => atomic(Atomic::MaxF, 4),
        Op::ds_add_f32 | Op::ds_add_rtn_f32 | Op::buffer_atomic_add_f32 | Op::global_atomic_add_f32 => atomic(Atomic::AddF, 4),
        Op::ds_rsub_u64 | Op::ds_rsub_rtn_u64 => atomic(Atomic::Rsub, 8),
        Op::ds_mskor_b64 | Op::ds_mskor_rtn_b64 => atomic(Atomic::MaskOr, 8),
        Op::ds_cmpst_f64 | Op::ds_cmpst_rtn_f64 | Op::buffer_atomic_fcmpswap_x2 | Op::flat_atomic_fcmpswap_x2 => atomic(Atomic::CmpSwapF, 8),
        Op::ds_min_f64 | Op::ds_min_rtn_f64 | Op::buffer_atomic_fmin_x2 | Op::flat_atomic_fmin_x2 | Op::buffer_atomic_min_f64 | Op::flat_atomic_min_f64 | Op::global_atomic_min_f64 => atomic(Atomic::MinF, 8),
        Op::ds_max_f64 | Op::ds_max_rtn_f64 | Op::buffer_atomic_fmax_x2 | Op::flat_atomic_fmax_x2 | Op::buffer_atomic_max_f64 | Op::flat_atomic_max_f64 | Op::global_atomic_max_f64 => atomic(Atomic::MaxF, 8),
        Op::ds_add_f64 | Op::ds_add_rtn_f64 | Op::buffer_atomic_add_f64 | Op::flat_atomic_add_f64 | Op::global_atomic_add_f64 => atomic(Atomic::AddF, 8),
        Op::buffer_atomic_pk_add_f16 | Op::global_atomic_pk_add_f16 => atomic(Atomic::PkAddF16, 4),
        Op::ds_wrap_rtn_b32 => atomic(Atomic::Wrap, 4),
        _ => return None,
    })
}

/// What a vector instruction asks of caches. All writes have been made where it runs: engines tell observers, and have
/// nothing else to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the names say it
pub enum CacheControl {
    WriteBack,
    Invalidate,
    WriteBackInvalidate,
}

impl CacheControl {
    /// What an instruction asks, if it is one of these.
    pub const fn of(op: Op) -> Option<CacheControl> {
        Some(match op {
            Op::buffer_wbinvl1 | Op::buffer_wbinvl1_vol | Op::buffer_wbinvl1_sc => {
                CacheControl::WriteBackInvalidate
            }
            Op::buffer_wbl2 => CacheControl::WriteBack,
            Op::buffer_invl2 => CacheControl::Invalidate,
            _ => return None,
        })
    }
}
