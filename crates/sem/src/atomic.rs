//! Read-modify-write operations on memory and LDS: the new value from the old one (manual 12.6, 12.12, 9.5).

use crate::mode::{FloatMode, Mode};
use crate::soft::{self, F16, F32, F64, Format, Round};

/// The operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the manual's names
pub enum Atomic {
    Swap,
    /// Data first, then what to compare with.
    CmpSwap,
    Add,
    Sub,
    /// Data minus memory.
    Rsub,
    MinI,
    MinU,
    MaxI,
    MaxU,
    And,
    Or,
    Xor,
    /// Up to the data, then zero.
    Inc,
    /// Down to zero, then the data.
    Dec,
    /// (memory & !data) | second datum.
    MaskOr,
    /// memory >= data ? memory - data : memory + second datum.
    Wrap,
    CmpSwapF,
    MinF,
    MaxF,
    AddF,
    PkAddF16,
}

impl Atomic {
    /// Whether the instruction carries a second datum.
    pub const fn has_second(self) -> bool {
        matches!(self, Atomic::CmpSwap | Atomic::CmpSwapF | Atomic::MaskOr | Atomic::Wrap)
    }

    /// The value memory gets. `data` is what the instruction calls DATA (for compare-and-swap the new value), `second`
    /// the other datum (for compare-and-swap the value to compare with). `bytes` is 4 or 8.
    pub fn apply(self, old: u64, data: u64, second: u64, bytes: u8, mode: &Mode) -> u64 {
        if bytes == 4 {
            self.apply32(old as u32, data as u32, second as u32, mode) as u64
        } else {
            self.apply64(old, data, second, mode)
        }
    }

    /// Float modes of atomics (manual 9.5): round to nearest; 32 bits flush by MODE, 64 bits never.
    fn float(mode: &Mode, format: Format) -> FloatMode {
        match format {
            F32 => FloatMode { round: Round::Nearest, ..mode.f32 },
            _ => FloatMode::IEEE,
        }
    }

    fn apply32(self, old: u32, data: u32, second: u32, mode: &Mode) -> u32 {
        match self {
            Atomic::Swap => data,
            Atomic::CmpSwap => {
                if old == second {
                    data
                } else {
                    old
                }
            }
            Atomic::Add => old.wrapping_add(data),
            Atomic::Sub => old.wrapping_sub(data),
            Atomic::Rsub => data.wrapping_sub(old),
            Atomic::MinI => (old as i32).min(data as i32) as u32,
            Atomic::MaxI => (old as i32).max(data as i32) as u32,
            Atomic::MinU => old.min(data),
            Atomic::MaxU => old.max(data),
            Atomic::And => old & data,
            Atomic::Or => old | data,
            Atomic::Xor => old ^ data,
            Atomic::Inc => {
                if old >= data {
                    0
                } else {
                    old + 1
                }
            }
            Atomic::Dec => {
                if old == 0 || old > data {
                    data
                } else {
                    old - 1
                }
            }
            Atomic::MaskOr => old & !data | second,
            Atomic::Wrap => {
                if old >= data {
                    old - data
                } else {
                    old.wrapping_add(second)
                }
            }
            Atomic::PkAddF16 => {
                let half = |shift: u32| {
                    let f = |x: u32| {
                        if mode.f64.flush_in {
                            F16.flush((x >> shift) as u64 & 0xffff)
                        } else {
                            (x >> shift) as u64 & 0xffff
                        }
                    };
                    let r = soft::add(F16, f(old), f(data), Round::Nearest);
                    (if mode.f64.flush_out { F16.flush(r) } else { r }) as u32
                };
                half(0) | half(16) << 16
            }
            _ => self.float_op(F32, old as u64, data as u64, second as u64, mode) as u32,
        }
    }

    fn apply64(self, old: u64, data: u64, second: u64, mode: &Mode) -> u64 {
        match self {
            Atomic::Swap => data,
            Atomic::CmpSwap => {
                if old == second {
                    data
                } else {
                    old
                }
            }
            Atomic::Add => old.wrapping_add(data),
            Atomic::Sub => old.wrapping_sub(data),
            Atomic::Rsub => data.wrapping_sub(old),
            Atomic::MinI => (old as i64).min(data as i64) as u64,
            Atomic::MaxI => (old as i64).max(data as i64) as u64,
            Atomic::MinU => old.min(data),
            Atomic::MaxU => old.max(data),
            Atomic::And => old & data,
            Atomic::Or => old | data,
            Atomic::Xor => old ^ data,
            Atomic::Inc => {
                if old >= data {
                    0
                } else {
                    old + 1
                }
            }
            Atomic::Dec => {
                if old == 0 || old > data {
                    data
                } else {
                    old - 1
                }
            }
            Atomic::MaskOr => old & !data | second,
            Atomic::Wrap | Atomic::PkAddF16 => old,
            _ => self.float_op(F64, old, data, second, mode),
        }
    }

    /// Floats: memory is the first operand. Min and max give way to numbers before quiet NaNs, but a signalling NaN
    /// comes out quiet (manual 9.5.3).
    fn float_op(self, format: Format, old: u64, data: u64, second: u64, mode: &Mode) -> u64 {
        let m = Self::float(mode, format);
        let input = |x: u64| if m.flush_in { format.flush(x) } else { x };
        let (a, b) = (input(old), input(data));
        match self {
            Atomic::AddF => {
                let r = soft::add(format, a, b, Round::Nearest);
                if m.flush_out { format.flush(r) } else { r }
            }
            Atomic::CmpSwapF => {
                let c = input(second);
                let zero = |x: u64| x & !format.sign() == 0;
                let equal = !format.is_nan(a) && !format.is_nan(c) && (a == c || zero(a) && zero(c));
                if equal { data } else { old }
            }
            _ => {
                if format.is_snan(a) {
                    return a | format.quiet();
                }
                if format.is_snan(b) {
                    return b | format.quiet();
                }
                if format.is_nan(a) {
                    return b;
                }
                if format.is_nan(b) {
                    return a;
                }
                // Order as sign and magnitude, -0 below +0.
                let key = |x: u64| {
                    let magnitude = (x & !format.sign()) as i64;
                    if x & format.sign() != 0 { -magnitude - 1 } else { magnitude }
                };
                let less = key(a) < key(b);
                if less == (self == Atomic::MinF) { a } else { b }
            }
        }
    }
}
