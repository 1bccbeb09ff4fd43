//! Atomic operations of all lanes: one loop for each operation, so that none is chosen lane by lane.

use crate::guest;
use wavemill_sem::atomic::{Atomic, Unit};

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
                    match (self.bytes, self.unit) {
                        (4, Unit::Share(_)) => {
                            self.lanes::<4, true>(|o, d, s| Atomic::$name.apply(o, d, s, 4, self.unit))
                        }
                        (4, Unit::Cache) => {
                            self.lanes::<4, false>(|o, d, s| Atomic::$name.apply(o, d, s, 4, self.unit))
                        }
                        (_, Unit::Share(_)) => {
                            self.lanes::<8, true>(|o, d, s| Atomic::$name.apply(o, d, s, 8, self.unit))
                        }
                        (_, Unit::Cache) => {
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
    unsafe fn lanes<const BYTES: u8, const SHARE: bool>(&self, apply: impl Fn(u64, u64, u64) -> u64) {
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
                let old = match (SHARE, BYTES) {
                    // A work-group's waves run on one thread at a time, and nobody else has its LDS.
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
