//! Atomic operations of all lanes: one loop for each operation, so that none is chosen lane by lane; or sixteen lanes at a
//! time, where their numbers lie side by side.

use crate::guest;
use crate::simd::V16;
use wavemill_sem::atomic::{Atomic, Unit};
use wavemill_sem::lanes::Long;

/// Atomic operations of an instruction's active lanes, the lanes in order.
#[derive(Clone, Copy)]
pub(super) struct Update<'a> {
    /// The operation.
    pub op: Atomic,
    /// Size: 4 or 8.
    pub bytes: u8,
    /// Where to: a base and each lane's distance from it.
    pub base: *mut u8,
    /// See `base`.
    pub offsets: &'a [u32; 64],
    /// Active lanes.
    pub exec: u64,
    /// What does them.
    pub unit: Unit<'a>,
    /// Nobody else accesses the numbers meanwhile.
    pub own: bool,
    /// Registers with DATA.
    pub data: *const [u32; 64],
    /// Registers with the other datum; null for none.
    pub second: *const [u32; 64],
    /// Registers that get the old value; null for none.
    pub old: *mut [u32; 64],
}

/// Calls the loop of an operation, as a constant of its own.
macro_rules! each_operation {
    ($op:expr, $loop:ident: $($name:ident)*) => {
        match $op {
            $(Atomic::$name => $loop!($name),)*
        }
    };
}

impl Update<'_> {
    /// Whether all active lanes' numbers are aligned, as atomic operations want.
    pub fn aligned(&self) -> bool {
        let mask = self.bytes as usize - 1;
        let off = |lane: usize| self.exec >> lane & 1 == 0;
        (0..64)
            .all(|lane| off(lane) || self.base.addr().wrapping_add(self.offsets[lane] as usize) & mask == 0)
    }

    /// Does them.
    ///
    /// # Safety
    /// Active lanes' numbers must be aligned and readable and writable; registers must be there.
    pub unsafe fn run(&self) {
        macro_rules! one_loop {
            ($name:ident) => {
                // SAFETY: the caller's promise.
                unsafe {
                    match (self.bytes, self.own) {
                        (4, true) => {
                            self.lanes::<4, true>(|o, d, s| Atomic::$name.apply(o, d, s, 4, self.unit))
                        }
                        (4, false) => {
                            self.lanes::<4, false>(|o, d, s| Atomic::$name.apply(o, d, s, 4, self.unit))
                        }
                        (_, true) => {
                            self.lanes::<8, true>(|o, d, s| Atomic::$name.apply(o, d, s, 8, self.unit))
                        }
                        (_, false) => {
                            self.lanes::<8, false>(|o, d, s| Atomic::$name.apply(o, d, s, 8, self.unit))
                        }
                    }
                }
            };
        }
        each_operation!(self.op, one_loop: Swap CmpSwap Add Sub Rsub MinI MinU MaxI MaxU And Or Xor Inc Dec MaskOr Wrap
            CmpSwapF MinF MaxF AddF PkAddF16);
    }

    /// Does them with one operation.
    ///
    /// # Safety
    /// As for [`Self::run`].
    #[inline(always)]
    unsafe fn lanes<const BYTES: u8, const OWN: bool>(&self, apply: impl Fn(u64, u64, u64) -> u64) {
        // SAFETY: the caller's promise.
        unsafe {
            let get = |file: *const [u32; 64], lane: usize| -> u64 {
                if file.is_null() {
                    return 0;
                }
                let low = (&raw const (*file)[lane]).read() as u64;
                if BYTES == 4 { low } else { low | ((&raw const (*file.add(1))[lane]).read() as u64) << 32 }
            };
            let mut left = self.exec;
            while left != 0 {
                let lane = left.trailing_zeros() as usize;
                left &= left - 1;
                let p = self.base.wrapping_add(self.offsets[lane] as usize);
                let (data, second) = (get(self.data, lane), get(self.second, lane));
                let f = |old| apply(old, data, second);
                let old = match (OWN, BYTES) {
                    (true, 4) => {
                        let old = guest::read(p, 4) as u64;
                        guest::write(p, 4, f(old) as u32);
                        old
                    }
                    (true, _) => {
                        let old = guest::read64(p);
                        guest::write64(p, f(old));
                        old
                    }
                    (false, _) => guest::update(p, BYTES, f),
                };
                if !self.old.is_null() {
                    (&raw mut (*self.old)[lane]).write(old as u32);
                    if BYTES == 8 {
                        (&raw mut (*self.old.add(1))[lane]).write((old >> 32) as u32);
                    }
                }
            }
        }
    }
}

/// Atomic operations of all lanes on numbers that lie side by side.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    /// The operation.
    pub op: Atomic,
    /// Size: 4 or 8.
    pub bytes: u8,
    /// What does them.
    pub unit: Unit<'a>,
    /// Nobody else accesses the numbers meanwhile.
    pub own: bool,
    /// The first number.
    pub base: *mut u8,
    /// Registers with DATA.
    pub data: *const u32,
    /// Registers with the other datum; null for none.
    pub second: *const u32,
    /// Registers that get the old value; null for none.
    pub old: *mut u32,
}

impl Batch<'_> {
    /// Whether they can be done together: all numbers must be aligned. Others' of 32 bits are done in pairs.
    pub fn is_aligned(&self) -> bool {
        let unit = if self.own { self.bytes as usize } else { 8 };
        self.base.addr().is_multiple_of(unit)
    }
}

/// Sixteen lanes of two registers; zero where there are none.
#[inline(always)]
unsafe fn pair<V: V16>(p: *const u32, chunk: usize) -> V::Long {
    if p.is_null() {
        return V::Long::splat(0);
    }
    // SAFETY: the caller's registers.
    unsafe { V::Long::join(V::load(p.add(16 * chunk)), V::load(p.add(64 + 16 * chunk))) }
}

/// Does them: new values of sixteen lanes at a time from what is in memory. If nobody else accesses it, that is all;
/// else each is exchanged for what it was made of, two of 32 bits at once, and made anew where that has changed.
///
/// # Safety
/// Numbers must be aligned ([`Batch::is_aligned`]), readable and writable; registers must be there, aligned.
#[inline(always)]
pub(crate) unsafe fn update<V: V16>(b: &Batch<'_>) {
    for c in 0..4 {
        // SAFETY: the caller's promise; all of a chunk is read before any of it is written.
        unsafe {
            let p = b.base.add(16 * c * b.bytes as usize);
            if b.bytes == 4 {
                let [mut old] = V::load_groups::<1>(p);
                let second = if b.second.is_null() { V::splat(0) } else { V::load(b.second.add(16 * c)) };
                let new = b.op.words(old, V::load(b.data.add(16 * c)), second, b.unit);
                if b.own {
                    V::store_groups([new], p);
                } else {
                    let mut pairs = [0u64; 16];
                    V::store_groups([old, new], pairs.as_mut_ptr().cast());
                    // Two lanes' old values beside their new ones.
                    for n in 0..8 {
                        let (x, y) = (pairs[2 * n], pairs[2 * n + 1]);
                        let (was, is) = (x & LOW | y << 32, x >> 32 | y & !LOW);
                        if !guest::exchange(p.add(8 * n), was, is) {
                            old = b.slowly(old, p, 2 * n, 16 * c);
                            old = b.slowly(old, p, 2 * n + 1, 16 * c);
                        }
                    }
                }
                if !b.old.is_null() {
                    old.store(b.old.add(16 * c));
                }
            } else {
                let [mut low, mut high] = V::load_groups::<2>(p);
                let old = V::Long::join(low, high);
                let new = b.op.longs(old, pair::<V>(b.data, c), pair::<V>(b.second, c), b.unit);
                if b.own {
                    V::store_groups([new.lo(), new.hi()], p);
                } else {
                    let (mut was, mut is) = ([0u64; 16], [0u64; 16]);
                    V::store_groups([low, high], was.as_mut_ptr().cast());
                    V::store_groups([new.lo(), new.hi()], is.as_mut_ptr().cast());
                    for n in 0..16 {
                        if !guest::exchange(p.add(8 * n), was[n], is[n]) {
                            [low, high] = b.slowly_wide([low, high], p, n, 16 * c);
                        }
                    }
                }
                if !b.old.is_null() {
                    low.store(b.old.add(16 * c));
                    high.store(b.old.add(64 + 16 * c));
                }
            }
        }
    }
}

/// The lower half of 64 bits.
const LOW: u64 = u32::MAX as u64;

impl Batch<'_> {
    /// What a lane's number was when it was replaced.
    ///
    /// # Safety
    /// As for [`update`].
    #[cold]
    #[inline(never)]
    unsafe fn lane(&self, p: *mut u8, lane: usize) -> u64 {
        // SAFETY: the caller's promise.
        unsafe {
            let get = |file: *const u32| -> u64 {
                match (file.is_null(), self.bytes) {
                    (true, _) => 0,
                    (_, 4) => file.add(lane).read() as u64,
                    _ => file.add(lane).read() as u64 | (file.add(64 + lane).read() as u64) << 32,
                }
            };
            let (data, second) = (get(self.data), get(self.second));
            guest::update(p, self.bytes, |old| self.op.apply(old, data, second, self.bytes, self.unit))
        }
    }

    /// The old values of sixteen lanes with that of one whose number had changed.
    ///
    /// # Safety
    /// As for [`update`].
    #[inline(always)]
    unsafe fn slowly<V: V16>(&self, old: V, p: *mut u8, n: usize, first: usize) -> V {
        let mut all = old.to_array();
        // SAFETY: the caller's promise.
        all[n] = unsafe { self.lane(p.add(4 * n), first + n) } as u32;
        V::from_array(all)
    }

    /// The same for 64 bits.
    ///
    /// # Safety
    /// As for [`update`].
    #[inline(always)]
    unsafe fn slowly_wide<V: V16>(&self, [low, high]: [V; 2], p: *mut u8, n: usize, first: usize) -> [V; 2] {
        let (mut low, mut high) = (low.to_array(), high.to_array());
        // SAFETY: the caller's promise.
        let old = unsafe { self.lane(p.add(8 * n), first + n) };
        (low[n], high[n]) = (old as u32, (old >> 32) as u32);
        [V::from_array(low), V::from_array(high)]
    }
}
