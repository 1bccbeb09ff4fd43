//! Floating-point arithmetic on bit patterns, with `rustc_apfloat` doing the rounding, and the part of MODE that
//! governs it (manual 3.5 and 6.4).

use rustc_apfloat::ieee::{Double, Half, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};
use wavemill_isa::Level;

/// A binary format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Fmt {
    F16,
    F32,
    F64,
}

/// Runs an expression with `$f` being the format's apfloat type.
macro_rules! with {
    ($fmt:expr, $f:ident => $e:expr) => {
        match $fmt {
            Fmt::F16 => {
                type $f = Half;
                $e
            }
            Fmt::F32 => {
                type $f = Single;
                $e
            }
            Fmt::F64 => {
                type $f = Double;
                $e
            }
        }
    };
}

/// A result as an operation leaves it, before output modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw {
    /// The bits.
    pub bits: u64,
    /// The finite result was too large for the format.
    pub overflow: bool,
}

impl From<u64> for Raw {
    fn from(bits: u64) -> Raw {
        Raw { bits, overflow: false }
    }
}

fn raw<F: Float>(r: StatusAnd<F>) -> Raw {
    Raw { bits: r.value.to_bits() as u64, overflow: r.status.contains(Status::OVERFLOW) }
}

impl Fmt {
    /// Bits of the format.
    pub fn width(self) -> u32 {
        match self {
            Fmt::F16 => 16,
            Fmt::F32 => 32,
            Fmt::F64 => 64,
        }
    }

    /// Bits of the fraction.
    pub fn fraction(self) -> u32 {
        match self {
            Fmt::F16 => 10,
            Fmt::F32 => 23,
            Fmt::F64 => 52,
        }
    }

    /// All bits.
    pub fn mask(self) -> u64 {
        !0 >> (64 - self.width())
    }

    /// The sign bit.
    pub fn sign(self) -> u64 {
        1 << (self.width() - 1)
    }

    /// Positive infinity.
    pub fn inf(self) -> u64 {
        self.mask() >> 1 & !self.fraction_mask()
    }

    /// The largest finite number.
    pub fn largest(self) -> u64 {
        self.inf() - 1
    }

    /// 1.0.
    pub fn one(self) -> u64 {
        (self.bias() as u64) << self.fraction()
    }

    /// The exponent's bias.
    pub fn bias(self) -> i32 {
        match self {
            Fmt::F16 => 15,
            Fmt::F32 => 127,
            Fmt::F64 => 1023,
        }
    }

    fn fraction_mask(self) -> u64 {
        (1 << self.fraction()) - 1
    }

    fn quiet_bit(self) -> u64 {
        1 << (self.fraction() - 1)
    }

    /// What an invalid operation gives: the manual's examples (log of -1, sine of infinity, 0/0) show the sign set.
    pub fn default_nan(self) -> u64 {
        self.sign() | self.inf() | self.quiet_bit()
    }

    /// The exponent field.
    pub fn exponent(self, b: u64) -> i32 {
        ((b & self.inf()) >> self.fraction()) as i32
    }

    /// The sign.
    pub fn negative(self, b: u64) -> bool {
        b & self.sign() != 0
    }

    /// Without the sign.
    pub fn abs(self, b: u64) -> u64 {
        b & !self.sign()
    }

    /// True for a NaN.
    pub fn is_nan(self, b: u64) -> bool {
        self.abs(b) > self.inf()
    }

    /// True for a signalling NaN.
    pub fn is_snan(self, b: u64) -> bool {
        self.is_nan(b) && b & self.quiet_bit() == 0
    }

    /// True for an infinity.
    pub fn is_inf(self, b: u64) -> bool {
        self.abs(b) == self.inf()
    }

    /// True for a zero.
    pub fn is_zero(self, b: u64) -> bool {
        self.abs(b) == 0
    }

    /// True for a denormal.
    pub fn is_denormal(self, b: u64) -> bool {
        !self.is_zero(b) && self.exponent(b) == 0
    }

    /// The NaN made quiet.
    pub fn quiet(self, b: u64) -> u64 {
        b | self.quiet_bit()
    }

    /// A denormal becomes a zero of its sign.
    pub fn flush(self, b: u64) -> u64 {
        if self.is_denormal(b) { b & self.sign() } else { b }
    }

    /// The first NaN among operands, made quiet.
    pub fn nan_of(self, operands: &[u64]) -> Option<u64> {
        operands.iter().find(|&&b| self.is_nan(b)).map(|&b| self.quiet(b))
    }

    /// Whether `a < b`; false with a NaN.
    pub fn less(self, a: u64, b: u64) -> bool {
        self.compare(a, b) == Some(std::cmp::Ordering::Less)
    }

    /// How two numbers compare; none with a NaN.
    pub fn compare(self, a: u64, b: u64) -> Option<std::cmp::Ordering> {
        with!(self, F => F::from_bits(a as u128).partial_cmp(&F::from_bits(b as u128)))
    }

    fn settle(self, operands: &[u64], result: Raw) -> Raw {
        match self.nan_of(operands) {
            Some(nan) => nan.into(),
            None if self.is_nan(result.bits) => self.default_nan().into(),
            None => result,
        }
    }

    /// a + b.
    pub fn add(self, a: u64, b: u64, round: Round) -> Raw {
        let r = with!(self, F => raw(F::from_bits(a as u128).add_r(F::from_bits(b as u128), round)));
        self.settle(&[a, b], r)
    }

    /// a · b.
    pub fn mul(self, a: u64, b: u64, round: Round) -> Raw {
        let r = with!(self, F => raw(F::from_bits(a as u128).mul_r(F::from_bits(b as u128), round)));
        self.settle(&[a, b], r)
    }

    /// a · b + c, rounded once.
    pub fn fma(self, a: u64, b: u64, c: u64, round: Round) -> Raw {
        let [x, y, z] = [a, b, c].map(u128::from);
        let r = with!(self, F => raw(F::from_bits(x).mul_add_r(F::from_bits(y), F::from_bits(z), round)));
        // apfloat calls 0 · inf + NaN invalid; the operand wins here, too.
        self.settle(&[a, b, c], r)
    }

    /// a / b.
    pub fn div(self, a: u64, b: u64, round: Round) -> Raw {
        let r = with!(self, F => raw(F::from_bits(a as u128).div_r(F::from_bits(b as u128), round)));
        self.settle(&[a, b], r)
    }

    /// a · 2^n, rounded once.
    pub fn scale(self, a: u64, n: i32, round: Round) -> Raw {
        if self.is_nan(a) {
            return self.quiet(a).into();
        }
        let n = n.clamp(-5000, 5000);
        let b = with!(self, F => F::from_bits(a as u128).scalbn_r(n, round).to_bits()) as u64;
        // Told from the operand: apfloat's scaling has no status.
        let overflow = !self.is_inf(a) && !self.is_zero(a) && n > 0 && {
            let unbiased = with!(self, F => F::from_bits(a as u128).ilogb());
            unbiased + n > self.bias()
        };
        Raw { bits: b, overflow }
    }

    /// To an integral value.
    pub fn round_integral(self, a: u64, round: Round) -> u64 {
        if self.is_nan(a) {
            return self.quiet(a);
        }
        with!(self, F => F::from_bits(a as u128).round_to_integral(round).value.to_bits()) as u64
    }

    /// To an integer of `bits`, out-of-range values saturated, a NaN being 0.
    pub fn to_int(self, a: u64, bits: usize, signed: bool, round: Round) -> i128 {
        if self.is_nan(a) {
            return 0;
        }
        let mut exact = false;
        with!(self, F => {
            let x = F::from_bits(a as u128);
            if signed { x.to_i128_r(bits, round, &mut exact).value } else { x.to_u128_r(bits, round, &mut exact).value as i128 }
        })
    }

    /// From an integer.
    pub fn from_int(self, n: i128, round: Round) -> Raw {
        with!(self, F => raw(F::from_i128_r(n, round)))
    }

    /// To another format.
    pub fn convert(self, to: Fmt, a: u64, round: Round) -> Raw {
        fn go<F: Float + FloatConvert<T>, T: Float>(a: u64, round: Round) -> Raw {
            let mut loses = false;
            raw(F::from_bits(a as u128).convert_r(round, &mut loses) as StatusAnd<T>)
        }
        if self.is_nan(a) {
            // The payload's upper bits survive.
            let shift = to.fraction() as i32 - self.fraction() as i32;
            let payload = a & self.fraction_mask();
            let payload = if shift >= 0 { payload << shift } else { payload >> -shift };
            let sign = if self.negative(a) { to.sign() } else { 0 };
            return to.quiet(sign | to.inf() | payload).into();
        }
        with!(self, F => with!(to, T => go::<F, T>(a, round)))
    }

    /// As a double, exactly.
    pub fn to_f64(self, a: u64) -> f64 {
        f64::from_bits(self.convert(Fmt::F64, a, Round::NearestTiesToEven).bits)
    }

    /// A number's place among all of its format: NaNs aside, a smaller number has a smaller key, and the zeros are
    /// neighbours.
    pub fn key(self, a: u64) -> i128 {
        let m = self.abs(a) as i128;
        if self.negative(a) { -1 - m } else { m }
    }

    /// The number with a key.
    pub fn from_key(self, k: i128) -> u64 {
        if k < 0 { (-1 - k) as u64 | self.sign() } else { k as u64 }
    }
}

/// What MODE says about floating point.
#[derive(Clone, Copy, Debug)]
pub struct Env {
    mode: u32,
    /// MODE.IEEE.
    pub ieee: bool,
    /// MODE.DX10_CLAMP.
    pub dx10_clamp: bool,
    /// MODE.FP16_OVFL (GFX9).
    pub fp16_ovfl: bool,
}

impl Env {
    /// The environment of a MODE register.
    pub fn new(mode: u32, level: Level) -> Env {
        Env {
            mode,
            ieee: mode >> 9 & 1 != 0,
            dx10_clamp: mode >> 8 & 1 != 0,
            fp16_ovfl: level.is_gfx9() && mode >> 23 & 1 != 0,
        }
    }

    /// Rounding of a format: f64 and f16 share a field.
    pub fn round(&self, fmt: Fmt) -> Round {
        let field = if fmt == Fmt::F32 { self.mode } else { self.mode >> 2 };
        [Round::NearestTiesToEven, Round::TowardPositive, Round::TowardNegative, Round::TowardZero]
            [field as usize & 3]
    }

    fn denormal(&self, fmt: Fmt) -> u32 {
        if fmt == Fmt::F32 { self.mode >> 4 & 3 } else { self.mode >> 6 & 3 }
    }

    /// Denormal operands count as zero.
    pub fn flush_in(&self, fmt: Fmt) -> bool {
        self.denormal(fmt) & 1 == 0
    }

    /// Denormal results become zero.
    pub fn flush_out(&self, fmt: Fmt) -> bool {
        self.denormal(fmt) & 2 == 0
    }

    /// An operand as arithmetic sees it.
    pub fn input(&self, fmt: Fmt, a: u64) -> u64 {
        if self.flush_in(fmt) { fmt.flush(a) } else { a }
    }
}

impl Fmt {
    /// (a · b + c) · 2^n, rounded once: V_DIV_FMAS. The sum is formed with the operands scaled so that neither it nor
    /// the product leaves the range; the scaling is exact unless the result itself is tiny.
    pub fn fma_scaled(self, a: u64, b: u64, c: u64, n: i32, round: Round) -> Raw {
        let special = [a, b, c].iter().any(|&x| self.is_nan(x) || self.is_inf(x));
        if n == 0 || special {
            return self.fma(a, b, c, round);
        }
        let [x, y, z] = [a, b, c].map(|v| self.widen(v));
        // Round to odd in the wide format, then once to the narrow one: no double rounding.
        let near = x.mul_add_r(y, z, Round::TowardZero);
        let mut wide = near.value.to_bits();
        if near.status.contains(Status::INEXACT) {
            wide |= 1;
        }
        let value = Quad::from_bits(wide);
        if value.is_zero() {
            return self.fma(a, b, c, round);
        }
        self.narrowed(value.scalbn_r(n, Round::TowardZero), round).0
    }

    /// In a format with room for every product and sum of this one's exponents.
    pub fn widen(self, a: u64) -> Quad {
        fn go<F: Float + FloatConvert<Quad>>(x: u64) -> Quad {
            F::from_bits(x as u128).convert(&mut false).value
        }
        with!(self, F => go::<F>(a))
    }

    /// A number of the wide format rounded to this one, and whether that lost something.
    pub fn narrow(self, q: Quad, round: Round) -> (u64, bool) {
        let (raw, inexact) = self.narrowed(q, round);
        (raw.bits, inexact)
    }

    fn narrowed(self, q: Quad, round: Round) -> (Raw, bool) {
        fn go<T: Float>(q: Quad, round: Round) -> (Raw, bool)
        where
            Quad: FloatConvert<T>,
        {
            let r: StatusAnd<T> = q.convert_r(round, &mut false);
            let inexact = r.status.contains(Status::INEXACT);
            (raw(r), inexact)
        }
        with!(self, T => go::<T>(q, round))
    }
}
