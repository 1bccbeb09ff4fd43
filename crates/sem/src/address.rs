//! Addresses of memory instructions: from operands and offsets to where an access goes.
//!
//! Everything here is written over [`Word`] and [`Long`]: an engine with numbers instantiates it with one lane
//! ([`crate::scalar::S32`]), one with other values (vectors of lanes, handles into code under construction) with those.
//! What is the same for all lanes (a base in SGPRs, a descriptor) comes as a word of the same type. Which parts an
//! instruction has, its [`Addressing`] says, found when it is decoded.

use crate::lanes::{Long, Word, w};
use crate::operand::Src;
use crate::state::Apertures;
use wavemill_isa::Level;

/// The parts of an instruction's address that its encoding gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addressing {
    /// No address.
    None,
    /// FLAT: 64 bits in two VGPRs, which the apertures send to memory, LDS or private memory.
    Flat {
        /// Added to it; unsigned.
        offset: u32,
    },
    /// GLOBAL: 64 bits in two VGPRs, or 32 bits beside a base in two SGPRs.
    Global {
        /// Added to it.
        offset: i32,
        /// The base.
        base: Option<u8>,
    },
    /// SCRATCH: 32 bits in a VGPR or an SGPR.
    Scratch {
        /// Added to it.
        offset: i32,
        /// The SGPR.
        base: Option<u8>,
    },
    /// MUBUF and MTBUF.
    Buffer(BufferFields),
    /// DS.
    Share {
        /// All 16 bits of offset: two of 8 bits where an instruction has two addresses.
        offset: u16,
        /// The global data share.
        gds: bool,
    },
    /// SMEM and SMRD.
    Scalar(ScalarFields),
    /// MIMG.
    Image(ImageFields),
}

impl Addressing {
    /// The fields of a buffer instruction.
    pub fn buffer(&self) -> Option<&BufferFields> {
        match self {
            Addressing::Buffer(fields) => Some(fields),
            _ => None,
        }
    }
}

/// What a buffer instruction's encoding says about addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferFields {
    /// First SGPR of the resource.
    pub resource: u8,
    /// Scalar offset.
    pub scalar: Src,
    /// Constant offset.
    pub offset: u16,
    /// A VGPR has an offset.
    pub offen: bool,
    /// A VGPR has an index.
    pub idxen: bool,
    /// Two VGPRs have an address (GFX6 and GFX7).
    pub addr64: bool,
}

/// What a scalar memory instruction's encoding says about addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScalarFields {
    /// First SGPR of the data.
    pub data: u8,
    /// First SGPR of the base: two of an address, four of a buffer resource. None for instructions without address.
    pub base: Option<u8>,
    /// The base is a buffer resource.
    pub buffer: bool,
    /// Constant offset in bytes.
    pub constant: i64,
    /// An offset in an SGPR.
    pub register: Option<u8>,
    /// What that register counts: bytes, or 64 of them (S_SCRATCH).
    pub scale: u8,
}

/// What an image instruction's encoding says about addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageFields {
    /// First SGPR of the resource.
    pub resource: u8,
    /// SGPRs of it: four or eight.
    pub dwords: u8,
    /// First SGPR of the sampler.
    pub sampler: Option<u8>,
    /// The address has a slice.
    pub array: bool,
    /// Coordinates are not normalized.
    pub unnormalized: bool,
    /// Address components have 16 bits.
    pub short: bool,
}

/// Sign-extends the lowest bits of a field: the offsets of GLOBAL and SCRATCH have 13 of them, those of SMEM 21.
pub const fn signed(field: u32, bits: u32) -> i32 {
    (field << (32 - bits)) as i32 >> (32 - bits)
}

/// A flat address, and which aperture it lies in.
#[derive(Clone, Copy, Debug)]
pub struct Flat<W: Word> {
    /// The address, if it lies in none.
    pub address: W::Long,
    /// It lies in LDS, at [`Self::low`].
    pub shared: W::Mask,
    /// It lies in private memory, at [`Self::low`].
    pub private: W::Mask,
    /// The lower half.
    pub low: W,
}

/// FLAT: the aperture is decided by the address without its offset.
#[inline(always)]
pub fn flat<W: Word>(address: W::Long, offset: u32, apertures: Apertures) -> Flat<W> {
    let high = address.hi();
    Flat {
        address: address + W::Long::splat(offset as u64),
        shared: high.eq(w((apertures.shared >> 32) as u32)),
        private: high.eq(w((apertures.private >> 32) as u32)),
        low: address.lo() + w(offset),
    }
}

/// GLOBAL with an address in VGPRs.
#[inline(always)]
pub fn global<W: Word>(address: W::Long, offset: i32) -> W::Long {
    address + W::Long::splat(offset as i64 as u64)
}

/// GLOBAL with a base in SGPRs and an unsigned offset in a VGPR.
#[inline(always)]
pub fn global_based<W: Word>(base: W::Long, lane: W, offset: i32) -> W::Long {
    global::<W>(base, offset) + lane.zext()
}

/// SCRATCH: a byte of private memory.
#[inline(always)]
pub fn scratch<W: Word>(from: W, offset: i32) -> W {
    from + w(offset as u32)
}

/// Where a wave's private memory is: FLAT_SCRATCH or, before GFX9, so many units of 256 bytes from the dispatch's scratch.
#[inline(always)]
pub fn scratch_base<W: Word>(flat_scratch: W::Long, dispatch: W::Long, level: Level) -> W::Long {
    if level.is_gfx9() { flat_scratch } else { dispatch + flat_scratch.hi().zext().shl(w(8)) }
}

/// The address of a byte of a lane's private memory: a dword per lane, lane after lane (manual 10.5).
#[inline(always)]
pub fn swizzled<W: Word>(base: W::Long, offset: W, lane: W) -> W::Long {
    let dwords = (offset & w(!3)).zext().shl(w(6));
    base + dwords + (lane.shl(w(2)) + (offset & w(3))).zext()
}

/// The same where so many bytes of a lane lie together (SH_STATIC_MEM_CONFIG.ELEMENT_SIZE before GFX9): 2, 4, 8 or 16.
pub fn swizzled_by(base: u64, offset: u32, lane: u32, element: u32) -> u64 {
    let within = offset & (element - 1);
    base.wrapping_add(u64::from(offset - within) << 6).wrapping_add(u64::from(lane * element + within))
}

/// MUBUF's 64-bit addresses of GFX6 and GFX7: only the resource's base counts. Addresses have 48 bits; compilers put
/// negative offsets into the base.
#[inline(always)]
pub fn buffer64<W: Word>(base: W::Long, address: W::Long, scalar: W, offset: u16) -> W::Long {
    (base + address + (scalar + w(offset as u32)).zext()) & W::Long::splat(0xffff_ffff_ffff)
}

/// Where memory and LDS exchange a lane's dword (manual 9.1.9): M0 gives the place of lane 0, four bytes a lane.
#[inline(always)]
pub fn lds_slot<W: Word>(m0: W, offset: i32, lane: W) -> W {
    (m0 & w(0xffff)) + w(offset as u32) + lane.shl(w(2))
}

/// A scalar memory instruction's offset. Every part of an address loses its low bits before the sum, of a buffer's, too
/// (manual 8.2.1.1 for plain addresses; Mesa 81df5175537 for buffers, of which the manual masks the sum only).
#[inline(always)]
pub fn scalar_offset<W: Word>(fields: &ScalarFields, register: W) -> W::Long {
    let mask = W::Long::splat(!3);
    let constant = W::Long::splat(fields.constant as u64) & mask;
    match fields.register {
        None => constant,
        Some(_) => constant + (register.zext().shl(w(fields.scale.trailing_zeros())) & mask),
    }
}

/// The address of a scalar access: whole dwords.
#[inline(always)]
pub fn scalar<W: Word>(base: W::Long, offset: W::Long) -> W::Long {
    (base + offset) & W::Long::splat(!3)
}

/// Bytes of global data share.
pub const GDS_BYTES: u32 = 64 << 10;

/// The part of LDS or GDS an instruction may touch.
#[derive(Clone, Copy, Debug)]
pub struct Window<W: Word> {
    /// First byte.
    pub start: W,
    /// Bytes from there on.
    pub limit: W,
}

/// LDS: all of it on GFX9, at most M0 bytes before.
#[inline(always)]
pub fn lds_window<W: Word>(m0: W, bytes: W, level: Level) -> Window<W> {
    Window { start: w(0), limit: if level.is_gfx9() { bytes } else { bytes.min_u(m0) } }
}

/// GDS: M0 has the first byte in its upper half, in whole dwords, and the number of bytes in its lower one.
#[inline(always)]
pub fn gds_window<W: Word>(m0: W) -> Window<W> {
    let start = m0.shr(w(16)) & w(!3);
    Window { start, limit: (m0 & w(0xffff)).min_u(w::<W>(GDS_BYTES) - start) }
}

/// GDS as ordered counts see it: M0 has no size.
#[inline(always)]
pub fn ordered_window<W: Word>(m0: W) -> Window<W> {
    let start = m0.shr(w(16)) & w(!3);
    Window { start, limit: w::<W>(GDS_BYTES) - start }
}

impl<W: Word> Window<W> {
    /// Whether all of so many bytes at an offset from the start exist.
    #[inline(always)]
    pub fn holds(&self, offset: W, bytes: u32) -> W::Mask {
        !self.limit.zext().lt_u(offset.zext() + W::Long::splat(bytes as u64))
    }
}

/// The two addresses of a data-share instruction whose second operand is in memory, too: where it writes, and where that
/// operand is. The distance counts dwords: 15 signed bits of the instruction's offset or, if its top bit is set, the
/// upper 15 bits of the address.
#[inline(always)]
pub fn src2<W: Word>(address: W, offset: u16) -> (W, W) {
    if offset & 0x8000 != 0 {
        let a = address & w(0x1_ffff);
        (a, a + address.sar(w(17)).shl(w(2)))
    } else {
        (address, address + w((signed(offset as u32, 15) * 4) as u32))
    }
}

/// DS_READ_ADDTID and DS_WRITE_ADDTID: M0's lower half is a base in LDS, but not in GDS, whose window it is.
#[inline(always)]
pub fn add_tid<W: Word>(m0: W, offset: u16, lane: W, gds: bool) -> W {
    let base = if gds { w(0) } else { m0 & w(0xffff) };
    base + w(offset as u32) + lane.shl(w(2))
}

/// DS_APPEND and DS_CONSUME: compilers put LDS's pointer into M0's lower half on GFX9 (LLVM's
/// `__builtin_amdgcn_ds_append`). Before, M0 bounds LDS, as it does GDS, and only the offset is an address: ACO leaves M0
/// at -1.
#[inline(always)]
pub fn append<W: Word>(m0: W, offset: u16, gds: bool, level: Level) -> W {
    let base = if level.is_gfx9() && !gds { m0 & w(0xffff) } else { w(0) };
    (base + w(offset as u32)) & w(!3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{S32, S64};

    #[test]
    fn flat_apertures() {
        let apertures = Apertures { shared: 1 << 48, private: 2 << 48 };
        let at = |a: u64, offset| flat::<S32>(S64(a), offset, apertures);
        // The offset does not lead from one aperture into another.
        let last = at((1 << 48) | 0xffff_fffc, 8);
        assert!(last.shared.0 && !last.private.0);
        assert_eq!(last.low.0, 4);
        let below = at(0xffff_fffc, 8);
        assert!(!below.shared.0 && !below.private.0);
        assert_eq!(below.address.0, 0x1_0000_0004);
    }

    #[test]
    fn private_memory_is_swizzled() {
        // Dword 2, byte 1 of lane 3: 64 lanes of four bytes for each dword.
        assert_eq!(swizzled::<S32>(S64(0x1000), S32(9), S32(3)).0, 0x1000 + 2 * 256 + 3 * 4 + 1);
        assert_eq!(scratch_base::<S32>(S64(5 << 32), S64(0x100), Level::Gfx8).0, 0x100 + 5 * 256);
        assert_eq!(scratch_base::<S32>(S64(5 << 32), S64(0x100), Level::Gfx900).0, 5 << 32);
    }

    #[test]
    fn windows() {
        let gds = gds_window(S32(0xfff7_0020));
        // 0xfff7 in whole dwords; twelve bytes are left.
        assert_eq!((gds.start.0, gds.limit.0), (0xfff4, 12));
        assert!(gds.holds(S32(8), 4).0 && !gds.holds(S32(9), 4).0 && !gds.holds(S32(!3), 4).0);
        assert_eq!(lds_window(S32(100), S32(4096), Level::Gfx8).limit.0, 100);
        assert_eq!(lds_window(S32(100), S32(4096), Level::Gfx900).limit.0, 4096);
    }

    #[test]
    fn second_operands() {
        let at = |address, offset| {
            let (to, from) = src2(S32(address), offset);
            (to.0, from.0)
        };
        assert_eq!(at(64, 3), (64, 76));
        assert_eq!(at(64, 0x7fff), (64, 60));
        assert_eq!(at(64 | 2 << 17, 0x8000), (64, 72));
    }
}
