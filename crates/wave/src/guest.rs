//! Access to guest memory: checked, then raw. The only place that follows guest addresses.

use crate::event::FaultKind;
use crate::mem::{Memory, RangeCache};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Checks that an access lies in one allocation, and is allowed.
#[inline]
pub(crate) fn check(
    cache: &mut RangeCache,
    memory: &Memory,
    address: u64,
    bytes: u64,
    write: bool,
) -> Result<*mut u8, FaultKind> {
    match cache.lookup(memory, address, bytes) {
        Some(r) if !write || r.writable => Ok(address.wrapping_add(r.shift) as *mut u8),
        Some(_) => Err(FaultKind::ReadOnly { bytes: bytes as u32 }),
        None if write => Err(FaultKind::Write { bytes: bytes as u32 }),
        None => Err(FaultKind::Read { bytes: bytes as u32 }),
    }
}

/// The same for a scalar load.
#[inline]
pub(crate) fn check_scalar(
    cache: &mut RangeCache,
    memory: &Memory,
    address: u64,
    bytes: u64,
) -> Result<*mut u8, FaultKind> {
    let found = cache.lookup_scalar(memory, address, bytes);
    found.map(|r| address.wrapping_add(r.shift) as *mut u8).ok_or(FaultKind::Read { bytes: bytes as u32 })
}

/// Reads up to four bytes. Aligned dwords are single accesses, so that a wave polling memory sees whole values.
///
/// # Safety
/// `p` must be readable for `bytes`.
#[inline]
pub(crate) unsafe fn read(p: *const u8, bytes: u8) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            1 => p.read_volatile() as u32,
            2 => p.cast::<u16>().read_unaligned() as u32,
            _ if p as usize & 3 == 0 => {
                AtomicU32::from_ptr(p.cast::<u32>().cast_mut()).load(Ordering::Relaxed)
            }
            _ => p.cast::<u32>().read_unaligned(),
        }
    }
}

/// Writes up to four bytes.
///
/// # Safety
/// `p` must be writable for `bytes`.
#[inline]
pub(crate) unsafe fn write(p: *mut u8, bytes: u8, value: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            1 => p.write_volatile(value as u8),
            2 => p.cast::<u16>().write_unaligned(value as u16),
            _ if p as usize & 3 == 0 => AtomicU32::from_ptr(p.cast()).store(value, Ordering::Release),
            _ => p.cast::<u32>().write_unaligned(value),
        }
    }
}

/// Reads eight bytes as one: a value of 64 bits is seen whole.
///
/// # Safety
/// `p` must be readable for eight bytes and aligned to them.
#[inline]
pub(crate) unsafe fn read64(p: *const u8) -> u64 {
    debug_assert!(p.addr().is_multiple_of(8));
    // SAFETY: the caller's promise.
    unsafe { AtomicU64::from_ptr(p.cast::<u64>().cast_mut()).load(Ordering::Relaxed) }
}

/// Writes eight bytes as one.
///
/// # Safety
/// `p` must be writable for eight bytes and aligned to them.
#[inline]
pub(crate) unsafe fn write64(p: *mut u8, value: u64) {
    debug_assert!(p.addr().is_multiple_of(8));
    // SAFETY: the caller's promise.
    unsafe { AtomicU64::from_ptr(p.cast()).store(value, Ordering::Release) }
}

/// Replaces eight bytes in memory by others if they are what they were, atomically; false if not.
///
/// # Safety
/// `p` must be readable and writable for eight bytes and aligned to them.
#[inline]
pub(crate) unsafe fn exchange(p: *mut u8, was: u64, is: u64) -> bool {
    debug_assert!(p.addr().is_multiple_of(8));
    // SAFETY: the caller's promise.
    let a = unsafe { AtomicU64::from_ptr(p.cast()) };
    a.compare_exchange(was, is, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

/// Replaces a number in memory by a function of it, atomically, and returns the old one.
///
/// # Safety
/// `p` must be readable and writable for `bytes` (4 or 8) and aligned to it.
#[inline]
pub(crate) unsafe fn update(p: *mut u8, bytes: u8, f: impl Fn(u64) -> u64) -> u64 {
    debug_assert!(p.addr().is_multiple_of(usize::from(bytes)));
    // SAFETY: the caller's promise.
    unsafe {
        if bytes == 4 {
            let a = AtomicU32::from_ptr(p.cast());
            let old = a.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |v| Some(f(v as u64) as u32));
            old.unwrap_or_else(|v| v) as u64
        } else {
            let a = AtomicU64::from_ptr(p.cast());
            a.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |v| Some(f(v))).unwrap_or_else(|v| v)
        }
    }
}
