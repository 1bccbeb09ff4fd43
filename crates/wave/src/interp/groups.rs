//! Numbers of any size that lie side by side in memory, lane after lane, or in one place: between memory and registers in
//! a few vectors instead of 64 accesses.

use crate::guest;
use crate::simd::{Bits, V16};
use wavemill_sem::lanes::w;
use wavemill_sem::memory::Extend;

/// The registers of an access, one for each dword of a lane; there are as many as it needs.
pub(crate) type Registers = [*mut u32; 4];

/// Memory to registers, all lanes.
///
/// # Safety
/// 64 times as many bytes must be readable, and the registers be there, aligned.
#[inline(always)]
pub(crate) unsafe fn load<V: V16>(p: *const u8, to: &Registers, bytes: u8, extend: Extend) {
    let signed = extend.signed();
    for c in 0..4 {
        // SAFETY: the caller's promise.
        unsafe {
            let at = p.add(16 * c * bytes as usize);
            match bytes {
                1 | 2 => {
                    let value = match bytes {
                        1 => V::from_bytes(at.cast::<[u8; 16]>().read_unaligned()),
                        _ => V::from_shorts(at.cast::<[u16; 16]>().read_unaligned()),
                    };
                    let spare = w(32 - 8 * bytes as u32);
                    let value = if signed { value.shl(spare).sar(spare) } else { value };
                    let register = to[0].add(16 * c);
                    extend.placed(value, || V::load(register)).store(register);
                }
                4 => put(V::load_groups::<1>(at), to, c),
                8 => put(V::load_groups::<2>(at), to, c),
                12 => put(V::load_groups::<3>(at), to, c),
                _ => put(V::load_groups::<4>(at), to, c),
            }
        }
    }
}

/// Rows to registers, sixteen lanes of each.
///
/// # Safety
/// The registers must be there, aligned.
#[inline(always)]
pub(super) unsafe fn put<V: V16, const N: usize>(rows: [V; N], to: &Registers, chunk: usize) {
    for (row, to) in rows.into_iter().zip(to) {
        // SAFETY: the caller's registers.
        unsafe { row.store(to.add(16 * chunk)) };
    }
}

/// Registers to memory, all lanes; of numbers below a dword the register's upper half if `high`.
///
/// # Safety
/// 64 times as many bytes must be writable, and the registers be there, aligned.
#[inline(always)]
pub(crate) unsafe fn store<V: V16>(p: *mut u8, from: &Registers, bytes: u8, high: bool) {
    for c in 0..4 {
        // SAFETY: the caller's promise.
        unsafe {
            let at = p.add(16 * c * bytes as usize);
            match bytes {
                1 | 2 => {
                    let value = V::load(from[0].add(16 * c));
                    let value = if high { value.shr(w(16)) } else { value };
                    match bytes {
                        1 => at.cast::<[u8; 16]>().write_unaligned(value.to_bytes()),
                        _ => at.cast::<[u16; 16]>().write_unaligned(value.to_shorts()),
                    }
                }
                4 => V::store_groups::<1>(get(from, c), at),
                8 => V::store_groups::<2>(get(from, c), at),
                12 => V::store_groups::<3>(get(from, c), at),
                _ => V::store_groups::<4>(get(from, c), at),
            }
        }
    }
}

/// The way back.
///
/// # Safety
/// As for [`put`].
#[inline(always)]
pub(super) unsafe fn get<V: V16, const N: usize>(from: &Registers, chunk: usize) -> [V; N] {
    let mut rows = [V::splat(0); N];
    for (row, from) in rows.iter_mut().zip(from) {
        // SAFETY: the caller's registers.
        *row = unsafe { V::load(from.add(16 * chunk)) };
    }
    rows
}

/// One number to all active lanes: of whole dwords, or of less that fill their register.
///
/// # Safety
/// The bytes must be readable, and the registers be there, aligned.
#[inline(always)]
pub(crate) unsafe fn spread<V: V16>(p: *const u8, to: &Registers, bytes: u8, extend: Extend, exec: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut done = 0;
        while done < bytes {
            let (at, register) = (p.add(done as usize), done as usize / 4);
            let left = bytes - done;
            let (low, high) = match left {
                8.. if at.addr() & 7 == 0 => {
                    let pair = guest::read64(at);
                    (pair as u32, Some((pair >> 32) as u32))
                }
                4.. => (guest::read(at, 4), None),
                _ => (extend.apply(guest::read(at, left), left, 0), None),
            };
            for (i, value) in [Some(low), high].into_iter().flatten().enumerate() {
                for c in 0..4 {
                    let active = Bits((exec >> (16 * c)) as u16);
                    V::splat(value).store_active(active, to[register + i].add(16 * c));
                }
                done += 4;
            }
        }
    }
}
