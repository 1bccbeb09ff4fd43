//! Read-modify-write operations on memory and LDS: the new value from the old one (manual 12.6, 12.12, 9.5).

use crate::fp::{double, single};
use crate::half::{self, HalfMode};
use crate::lanes::{Long, Word, w};
use crate::mode::{FloatMode, Mode};
use crate::packed;
use crate::soft::{self, F16, F32, F64, Format, Round};
use wavemill_isa::Level;

/// What does the operation: they treat denormals differently (manual 9.5.2, table 43). Both round to nearest.
#[derive(Clone, Copy, Debug)]
pub enum Unit<'a> {
    /// LDS and GDS, which look at MODE.
    Share(&'a Mode),
    /// The L2 cache, which does not.
    Cache,
}

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

/// A read-modify-write of one number.
#[derive(Clone, Copy, Debug)]
pub struct Rmw<'a> {
    /// The operation.
    pub op: Atomic,
    /// Size: 4 or 8.
    pub bytes: u8,
    /// What the instruction calls DATA.
    pub data: u64,
    /// The other datum.
    pub second: u64,
    /// What does it.
    pub unit: Unit<'a>,
}

impl Rmw<'_> {
    /// The value memory gets.
    #[inline]
    pub fn apply(&self, old: u64) -> u64 {
        self.op.apply(old, self.data, self.second, self.bytes, self.unit)
    }
}

/// The sum, rounded to nearest. Hosts add numbers as IEEE 754 has it, so only NaNs need more care.
#[inline]
fn add(format: Format, a: u64, b: u64) -> u64 {
    let number = |x: u64| x & !format.sign() < format.infinity();
    match format {
        F32 if number(a) && number(b) => {
            (f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits() as u64
        }
        F64 if number(a) && number(b) => (f64::from_bits(a) + f64::from_bits(b)).to_bits(),
        _ => soft::add(format, a, b, Round::Nearest),
    }
}

/// [`Atomic::apply`] on lanes.
macro_rules! of_lanes {
    ($(#[$doc:meta])* $name:ident, $lanes:ident, $float:ident, $format:ident, $sign:expr, $v:ident, $packed:expr) => {
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<$v: $lanes>(self, old: $v, data: $v, second: $v, unit: Unit<'_>) -> $v {
            let m = self.denormals($format, unit);
            match self {
                Atomic::Swap => data,
                Atomic::CmpSwap => $v::select(old.eq(second), data, old),
                Atomic::Add => old + data,
                Atomic::Sub => old - data,
                Atomic::Rsub => data - old,
                Atomic::MinI => $v::select(data.lt_i(old), data, old),
                Atomic::MaxI => $v::select(old.lt_i(data), data, old),
                Atomic::MinU => $v::select(data.lt_u(old), data, old),
                Atomic::MaxU => $v::select(old.lt_u(data), data, old),
                Atomic::And => old & data,
                Atomic::Or => old | data,
                Atomic::Xor => old ^ data,
                Atomic::Inc => $v::select(old.lt_u(data), old + $v::splat(1), $v::splat(0)),
                Atomic::Dec => {
                    $v::select(old.eq($v::splat(0)) | data.lt_u(old), data, old - $v::splat(1))
                }
                Atomic::MaskOr => old & !data | second,
                Atomic::Wrap => $v::select(old.lt_u(data), old + second, old - data),
                Atomic::PkAddF16 => $packed(old, data),
                Atomic::AddF => $float::add(old, data, FloatMode { round: Round::Nearest, ..m }),
                Atomic::CmpSwapF => {
                    let equal = $float::input(old, m).feq($float::input(second, m));
                    $v::select(equal, $float::input(data, m), old)
                }
                Atomic::MinF | Atomic::MaxF => {
                    let (a, b) = ($float::input(old, m), $float::input(data, m));
                    // Order as sign and magnitude, -0 below +0.
                    let (ka, kb) = (a ^ a.sar(w($sign)).shr(w(1)), b ^ b.sar(w($sign)).shr(w(1)));
                    let better = if self == Atomic::MinF { kb.lt_i(ka) } else { ka.lt_i(kb) };
                    let r = $v::select(better, data, old);
                    $v::rarely(a.funord(b), r, move || {
                        let r = $v::select($float::is_nan(b), old, r);
                        let r = $v::select($float::is_nan(a), data, r);
                        let r = $v::select($float::is_snan(b), $float::quiet(b), r);
                        $v::select($float::is_snan(a), $float::quiet(a), r)
                    })
                }
            }
        }
    };
}

impl Atomic {
    of_lanes! {
        /// [`Self::apply`] for lanes of 32 bits.
        words, Word, single, F32, 31, W, |old: W, data: W| {
            let m = HalfMode { float: FloatMode::IEEE, ovfl: false };
            packed::pk!(old, data => half::add(old, data, m))
        }
    }
    of_lanes! {
        /// [`Self::apply`] for lanes of 64 bits.
        longs, Long, double, F64, 63, L, |old: L, _data: L| old
    }

    /// Whether it calculates with or compares floats.
    pub const fn is_float(self) -> bool {
        use Atomic::{AddF, CmpSwapF, MaxF, MinF, PkAddF16};
        matches!(self, CmpSwapF | MinF | MaxF | AddF | PkAddF16)
    }

    /// Whether it is lost on fine-grained memory, which the L2 cache of MI200 does not hold: memory stays as it is, and the
    /// instruction returns 0. HIP's tests demand it (`AtomicAdd_withunsafeflag.cc`: a cell of 5 stays 5, and 0 comes back),
    /// ROCm's table of atomic operations and Frontier's user guide warn of it.
    pub fn is_lost_on_fine_grained(self, level: Level) -> bool {
        level == Level::Gfx90a && self.is_float()
    }

    /// Whether the instruction carries a second datum.
    pub const fn has_second(self) -> bool {
        matches!(self, Atomic::CmpSwap | Atomic::CmpSwapF | Atomic::MaskOr | Atomic::Wrap)
    }

    /// The value memory gets. `data` is what the instruction calls DATA (for compare-and-swap the new value), `second`
    /// the other datum (for compare-and-swap the value to compare with). `bytes` is 4 or 8; upper halves of 4-byte
    /// values do not count.
    #[inline]
    pub fn apply(self, old: u64, data: u64, second: u64, bytes: u8, unit: Unit<'_>) -> u64 {
        let (mask, spare) = if bytes == 4 { (u64::from(u32::MAX), 32) } else { (u64::MAX, 0) };
        let (old, data, second) = (old & mask, data & mask, second & mask);
        let signed = |x: u64| (x << spare) as i64;
        let new = match self {
            Atomic::Swap => data,
            Atomic::CmpSwap if old == second => data,
            Atomic::CmpSwap => old,
            Atomic::Add => old.wrapping_add(data),
            Atomic::Sub => old.wrapping_sub(data),
            Atomic::Rsub => data.wrapping_sub(old),
            Atomic::MinI if signed(data) < signed(old) => data,
            Atomic::MaxI if signed(data) > signed(old) => data,
            Atomic::MinI | Atomic::MaxI => old,
            Atomic::MinU => old.min(data),
            Atomic::MaxU => old.max(data),
            Atomic::And => old & data,
            Atomic::Or => old | data,
            Atomic::Xor => old ^ data,
            Atomic::Inc if old >= data => 0,
            Atomic::Inc => old + 1,
            Atomic::Dec if old == 0 || old > data => data,
            Atomic::Dec => old - 1,
            Atomic::MaskOr => old & !data | second,
            Atomic::Wrap if old >= data => old - data,
            Atomic::Wrap => old.wrapping_add(second),
            Atomic::PkAddF16 => Self::pk_add_f16(old, data),
            Atomic::CmpSwapF | Atomic::MinF | Atomic::MaxF | Atomic::AddF => {
                self.float_op(if bytes == 4 { F32 } else { F64 }, old, data, second, unit)
            }
        };
        new & mask
    }

    /// Both halves of 32 bits. Only the cache does this; it never flushes 16 bits.
    fn pk_add_f16(old: u64, data: u64) -> u64 {
        let half = |shift: u32| {
            soft::add(F16, old >> shift & 0xffff, data >> shift & 0xffff, Round::Nearest) << shift
        };
        half(0) | half(16)
    }

    /// What becomes of denormals. The table leaves out the cache's F32 comparisons, which GFX6 and GFX7 have: those
    /// generations' manuals say that they handle denormals.
    fn denormals(self, format: Format, unit: Unit<'_>) -> FloatMode {
        match (self, format, unit) {
            (Atomic::AddF, F32, Unit::Cache) => FloatMode::FLUSH,
            (Atomic::AddF, F64, _) | (_, _, Unit::Cache) => FloatMode::IEEE,
            (_, F32, Unit::Share(mode)) => mode.f32,
            (_, _, Unit::Share(mode)) => mode.f64,
        }
    }

    /// Floats: memory is the first operand. Min and max give way to numbers before quiet NaNs, but a signalling NaN
    /// comes out quiet (manual 9.5.3); denormals are flushed for the comparison alone, except that compare-and-swap
    /// stores a flushed value, too.
    fn float_op(self, format: Format, old: u64, data: u64, second: u64, unit: Unit<'_>) -> u64 {
        let m = self.denormals(format, unit);
        let input = |x: u64| if m.flush_in { format.flush(x) } else { x };
        let (a, b) = (input(old), input(data));
        match self {
            Atomic::AddF => {
                let r = add(format, a, b);
                if m.flush_out { format.flush(r) } else { r }
            }
            Atomic::CmpSwapF => {
                let c = input(second);
                let zero = |x: u64| x & !format.sign() == 0;
                let equal = !format.is_nan(a) && !format.is_nan(c) && (a == c || zero(a) && zero(c));
                if equal { b } else { old }
            }
            _ => {
                if format.is_snan(a) {
                    return a | format.quiet();
                }
                if format.is_snan(b) {
                    return b | format.quiet();
                }
                if format.is_nan(a) {
                    return data;
                }
                if format.is_nan(b) {
                    return old;
                }
                // Order as sign and magnitude, -0 below +0.
                let key = |x: u64| {
                    let magnitude = (x & !format.sign()) as i64;
                    if x & format.sign() != 0 { -magnitude - 1 } else { magnitude }
                };
                let better = if self == Atomic::MinF { key(b) < key(a) } else { key(b) > key(a) };
                if better { data } else { old }
            }
        }
    }
}
