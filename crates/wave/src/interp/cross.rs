//! Lanes that read or write others through the data share's crossbar: DS_BPERMUTE, DS_PERMUTE, and DS_SWIZZLE's two basic
//! modes.

use super::Exec;
use crate::program::{Inst, Src};
use crate::simd::{Bits, V16, lane_numbers};
use crate::state::Vgpr;
use wavemill_sem::lanes::w;
use wavemill_sem::share::Share;

/// Which lane a lane reads ([`wavemill_sem::lanemove`] has the meanings).
#[derive(Clone, Copy)]
pub(crate) enum Whence {
    /// A register has addresses, four bytes a lane, to which an offset is added.
    Addresses(*const u32, u32),
    /// One of its four neighbours, two bits for each.
    Quads(u32),
    /// Its number in 32 lanes, changed bit by bit.
    Mask { and: u32, or: u32, xor: u32 },
}

/// Each active lane gets the datum of another; zero of one that is inactive.
///
/// # Safety
/// Registers must be there, aligned.
#[inline(always)]
pub(crate) unsafe fn pull<V: V16>(from: Whence, data: *const u32, to: *mut u32, exec: u64) {
    let mut table = Vgpr([0; 64]);
    let table = table.0.as_mut_ptr();
    // SAFETY: the caller's registers, and the table, which is one, too.
    unsafe {
        for c in 0..4 {
            let active = Bits((exec >> (16 * c)) as u16);
            V::select(active, V::load(data.add(16 * c)), w(0)).store(table.add(16 * c));
        }
        for c in 0..4 {
            let lane = lane_numbers::<V>(c);
            let from = match from {
                Whence::Addresses(p, offset) => (V::load(p.add(16 * c)) + w(offset)).shr(w(2)) & w(63),
                Whence::Quads(all) => (lane & w(!3)) | (V::splat(all).shr((lane & w(3)).shl(w(1))) & w(3)),
                Whence::Mask { and, or, xor } => (((lane & w(and)) | w(or)) ^ w(xor)) | (lane & w(32)),
            };
            let active = Bits((exec >> (16 * c)) as u16);
            V::pick(from, table).store_active(active, to.add(16 * c));
        }
    }
}

/// Each active lane's datum goes to the lane that its address names, the last one's where several do; active lanes that none
/// names get zero.
///
/// # Safety
/// Registers must be there, aligned.
#[inline(always)]
pub(crate) unsafe fn push<V: V16>(
    addresses: *const u32,
    offset: u32,
    data: *const u32,
    to: *mut u32,
    exec: u64,
) {
    let (mut names, mut table) = ([0u64; 8], Pushed([0; 128]));
    // SAFETY: the caller's registers, and two more.
    unsafe {
        for c in 0..4 {
            let active = Bits((exec >> (16 * c)) as u16);
            let name = (V::load(addresses.add(16 * c)) + w(offset)).shr(w(2)) & w(63);
            // What inactive lanes have goes where nobody looks.
            let bytes = V::select(active, name, w(64)).to_bytes();
            (&raw mut names).cast::<[u8; 16]>().add(c).write(bytes);
        }
        // Eight names are in the host's register at a time: stores take as long as all else.
        for (i, eight) in names.into_iter().enumerate() {
            let mut eight = u64::from_le(eight);
            for lane in 8 * i..8 * i + 8 {
                table.0[eight as usize & 127] = data.add(lane).read();
                eight >>= 8;
            }
        }
        let table = table.0.as_ptr();
        for c in 0..4 {
            let active = Bits((exec >> (16 * c)) as u16);
            V::load(table.add(16 * c)).store_active(active, to.add(16 * c));
        }
    }
}

/// What lanes push to 64 lanes, and beyond them what those push that are inactive.
#[repr(align(64))]
struct Pushed([u32; 128]);

impl Exec<'_> {
    /// A data-share instruction that only moves data between lanes. False: not done.
    pub(super) fn quick_cross(&mut self, inst: &Inst, share: Share, offset: u32, exec: u64) -> bool {
        let file = self.run.wave.vgprs.as_mut_ptr().cast::<u32>();
        let register = |src| match src {
            Src::Vgpr(r) => file.wrapping_add(64 * r as usize),
            _ => std::ptr::null_mut(),
        };
        let to = file.wrapping_add(64 * inst.dst as usize);
        let (from, data) = match share {
            Share::Permute => {
                let (addresses, data) = (register(inst.src[0]), register(inst.src[1]));
                if addresses.is_null() || data.is_null() {
                    return false;
                }
                // SAFETY: registers are inside the file (decoding saw to it).
                unsafe { (self.kernels.push)(addresses, offset, data, to, exec) };
                return true;
            }
            Share::BackwardPermute => {
                (Whence::Addresses(register(inst.src[0]), offset), register(inst.src[1]))
            }
            Share::Swizzle if offset & 0x8000 == 0 => {
                let (and, or, xor) = (offset & 31, offset >> 5 & 31, offset >> 10 & 31);
                (Whence::Mask { and, or, xor }, register(inst.src[0]))
            }
            // Before GFX8, bit 15 alone says so.
            Share::Swizzle if offset < 0xc000 => (Whence::Quads(offset), register(inst.src[0])),
            _ => return false,
        };
        if data.is_null() || matches!(from, Whence::Addresses(p, _) if p.is_null()) {
            return false;
        }
        // SAFETY: registers are inside the file (decoding saw to it).
        unsafe { (self.kernels.pull)(from, data, to, exec) };
        true
    }
}
