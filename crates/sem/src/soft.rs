//! Floating point in integers: exact for every format and round mode, one lane at a time.
//!
//! The meanings use the host's arithmetic where IEEE 754 leaves no choice (round to nearest) and come here for the rest:
//! directed rounding, conversions between formats, and fused operations on hosts without them.

/// Round modes, as MODE.FP_ROUND numbers them (manual 6.4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Round {
    /// To nearest, ties to even.
    #[default]
    Nearest,
    /// Toward plus infinity.
    Up,
    /// Toward minus infinity.
    Down,
    /// Toward zero.
    Zero,
}

impl Round {
    /// From two bits of MODE.
    pub const fn from_bits(bits: u32) -> Round {
        match bits & 3 {
            0 => Round::Nearest,
            1 => Round::Up,
            2 => Round::Down,
            _ => Round::Zero,
        }
    }
}

/// A binary interchange format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Bits of the fraction field.
    pub fraction: u32,
    /// Bits of the exponent field.
    pub exponent: u32,
}

/// IEEE half.
pub const F16: Format = Format { fraction: 10, exponent: 5 };
/// IEEE single.
pub const F32: Format = Format { fraction: 23, exponent: 8 };
/// IEEE double.
pub const F64: Format = Format { fraction: 52, exponent: 11 };

impl Format {
    /// What the exponent field of one is.
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }
    const fn max_exponent(self) -> u64 {
        (1 << self.exponent) - 1
    }
    /// Bits of infinity.
    pub const fn infinity(self) -> u64 {
        self.max_exponent() << self.fraction
    }
    /// Bits of the number one.
    pub const fn one(self) -> u64 {
        (self.bias() as u64) << self.fraction
    }
    /// The sign bit.
    pub const fn sign(self) -> u64 {
        1 << (self.fraction + self.exponent)
    }
    /// Bits of the largest finite number.
    pub const fn max(self) -> u64 {
        self.infinity() - 1
    }
    /// The bit that makes a NaN quiet.
    pub const fn quiet(self) -> u64 {
        1 << (self.fraction - 1)
    }
    /// The NaN that operations make of numbers. The manual's examples (V_SQRT, V_LOG, V_DIV_FIXUP) show it negative.
    pub const fn default_nan(self) -> u64 {
        self.sign() | self.infinity() | self.quiet()
    }
    /// Whether bits are a NaN.
    pub const fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }
    /// Whether bits are a signalling NaN.
    pub const fn is_snan(self, bits: u64) -> bool {
        self.is_nan(bits) && bits & self.quiet() == 0
    }
    /// Whether bits are a denormal.
    pub const fn is_denormal(self, bits: u64) -> bool {
        let magnitude = bits & !self.sign();
        magnitude != 0 && magnitude < 1 << self.fraction
    }
    /// A denormal becomes a zero of its sign.
    pub const fn flush(self, bits: u64) -> u64 {
        if self.is_denormal(bits) { bits & self.sign() } else { bits }
    }
}

/// A finite number: sign, and significand times two to the exponent.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// Negative.
    pub negative: bool,
    /// Power of two of the significand's lowest bit.
    pub exponent: i32,
    /// The significand; zero is zero.
    pub significand: u128,
}

/// Takes a finite number apart.
pub const fn unpack(format: Format, bits: u64) -> Number {
    let negative = bits & format.sign() != 0;
    let e = ((bits >> format.fraction) & format.max_exponent()) as i32;
    let f = (bits & ((1 << format.fraction) - 1)) as u128;
    let low = 1 - format.bias() - format.fraction as i32;
    if e == 0 {
        Number { negative, exponent: low, significand: f }
    } else {
        Number { negative, exponent: low + e - 1, significand: f | 1 << format.fraction }
    }
}

/// Rounds a number into a format. Bit 0 of the significand may be "sticky": it stands for anything nonzero below.
pub const fn pack(format: Format, n: Number, round: Round) -> u64 {
    let sign = if n.negative { format.sign() } else { 0 };
    if n.significand == 0 {
        return sign;
    }
    let low = 1 - format.bias() - format.fraction as i32;
    // The exponent the result's lowest bit gets: that of the leading bit minus the fraction, or the denormals' one.
    let top = n.exponent + 127 - n.significand.leading_zeros() as i32;
    let mut unit = top - format.fraction as i32;
    if unit < low {
        unit = low;
    }
    let shift = unit - n.exponent;
    let (mut kept, rest, half) = if shift <= 0 {
        (n.significand << (-shift) as u32, 0, 0)
    } else if shift > 127 {
        (0, 1, 2)
    } else {
        let s = shift as u32;
        (n.significand >> s, n.significand & ((1 << s) - 1), 1 << (s - 1))
    };
    let up = match round {
        Round::Nearest => rest > half || rest == half && rest != 0 && kept & 1 != 0,
        Round::Up => rest != 0 && !n.negative,
        Round::Down => rest != 0 && n.negative,
        Round::Zero => false,
    };
    if up {
        kept += 1;
    }
    if kept >> (format.fraction + 1) != 0 {
        kept >>= 1;
        unit += 1;
    }
    let biased = (unit - low + 1) as i64;
    if kept >> format.fraction == 0 {
        return sign | kept as u64;
    }
    if biased >= format.max_exponent() as i64 {
        let to_infinity = match round {
            Round::Nearest => true,
            Round::Up => !n.negative,
            Round::Down => n.negative,
            Round::Zero => false,
        };
        return sign | if to_infinity { format.infinity() } else { format.max() };
    }
    sign | (biased as u64) << format.fraction | kept as u64 & ((1 << format.fraction) - 1)
}

/// The first NaN among the operands, quieted.
const fn first_nan(format: Format, operands: &[u64]) -> Option<u64> {
    let mut i = 0;
    while i < operands.len() {
        if format.is_nan(operands[i]) {
            return Some(operands[i] | format.quiet());
        }
        i += 1;
    }
    None
}

const fn is_inf(format: Format, bits: u64) -> bool {
    bits & !format.sign() == format.infinity()
}

/// a · b + c, rounded once.
pub const fn fma(format: Format, a: u64, b: u64, c: u64, round: Round) -> u64 {
    fma_scaled(format, a, b, c, 0, round)
}

/// (a · b + c) · 2ⁿ, rounded once.
pub const fn fma_scaled(format: Format, a: u64, b: u64, c: u64, n: i32, round: Round) -> u64 {
    if let Some(nan) = first_nan(format, &[a, b, c]) {
        return nan;
    }
    let sign = (a ^ b) & format.sign();
    if is_inf(format, a) || is_inf(format, b) {
        let zero = (if is_inf(format, a) { b } else { a }) & !format.sign() == 0;
        if zero || is_inf(format, c) && c & format.sign() != sign {
            return format.default_nan();
        }
        return sign | format.infinity();
    }
    if is_inf(format, c) {
        return c;
    }
    let (x, y, mut z) = (unpack(format, a), unpack(format, b), unpack(format, c));
    let product = Number {
        negative: sign != 0,
        exponent: x.exponent + y.exponent + n,
        significand: x.significand * y.significand,
    };
    z.exponent += n;
    sum(format, product, z, round)
}

/// Moves the significand's top bit to bit 124, which leaves room for a carry.
const fn normal(n: Number) -> Number {
    let shift = n.significand.leading_zeros() as i32 - 3;
    if shift >= 0 {
        Number {
            negative: n.negative,
            exponent: n.exponent - shift,
            significand: n.significand << shift as u32,
        }
    } else {
        n
    }
}

/// x + y, rounded once.
pub const fn sum(format: Format, x: Number, y: Number, round: Round) -> u64 {
    // An exact zero is positive, except toward minus infinity or when both are negative zeros.
    if x.significand == 0 && y.significand == 0 {
        let negative = if x.negative == y.negative { x.negative } else { matches!(round, Round::Down) };
        return if negative { format.sign() } else { 0 };
    }
    if x.significand == 0 {
        return pack(format, y, round);
    }
    if y.significand == 0 {
        return pack(format, x, round);
    }
    let (mut x, mut y) = (normal(x), normal(y));
    if x.exponent < y.exponent || x.exponent == y.exponent && x.significand < y.significand {
        (x, y) = (y, x);
    }
    let shift = (x.exponent - y.exponent) as u32;
    let aligned = if shift > 126 {
        1
    } else {
        y.significand >> shift | (y.significand & ((1 << shift) - 1) != 0) as u128
    };
    let significand =
        if x.negative == y.negative { x.significand + aligned } else { x.significand - aligned };
    if significand == 0 {
        return if matches!(round, Round::Down) { format.sign() } else { 0 };
    }
    pack(format, Number { negative: x.negative, exponent: x.exponent, significand }, round)
}

/// a + b.
pub const fn add(format: Format, a: u64, b: u64, round: Round) -> u64 {
    fma(format, a, format.one(), b, round)
}

/// a · b.
pub const fn mul(format: Format, a: u64, b: u64, round: Round) -> u64 {
    if let Some(nan) = first_nan(format, &[a, b]) {
        return nan;
    }
    let sign = (a ^ b) & format.sign();
    if is_inf(format, a) || is_inf(format, b) {
        let zero = (if is_inf(format, a) { b } else { a }) & !format.sign() == 0;
        return if zero { format.default_nan() } else { sign | format.infinity() };
    }
    let (x, y) = (unpack(format, a), unpack(format, b));
    let n = Number {
        negative: sign != 0,
        exponent: x.exponent + y.exponent,
        significand: x.significand * y.significand,
    };
    pack(format, n, round)
}

/// From one format to another. A NaN is quieted and keeps the top of its payload.
pub const fn convert(from: Format, to: Format, bits: u64, round: Round) -> u64 {
    let sign = if bits & from.sign() != 0 { to.sign() } else { 0 };
    if from.is_nan(bits) {
        let f = bits & ((1 << from.fraction) - 1);
        let payload = if from.fraction > to.fraction {
            f >> (from.fraction - to.fraction)
        } else {
            f << (to.fraction - from.fraction)
        };
        return sign | to.infinity() | to.quiet() | payload;
    }
    if is_inf(from, bits) {
        return sign | to.infinity();
    }
    pack(to, unpack(from, bits), round)
}

/// An integer to a format.
pub const fn from_int(format: Format, negative: bool, magnitude: u64, round: Round) -> u64 {
    if magnitude == 0 {
        return 0;
    }
    pack(format, Number { negative, exponent: 0, significand: magnitude as u128 }, round)
}

/// x · 2ⁿ, rounded once.
pub const fn ldexp(format: Format, bits: u64, n: i32, round: Round) -> u64 {
    if format.is_nan(bits) {
        return bits | format.quiet();
    }
    if is_inf(format, bits) || bits & !format.sign() == 0 {
        return bits;
    }
    let mut x = unpack(format, bits);
    // Any exponent beyond this over- or underflows; the limit keeps the sum in range.
    let n = if n > 100_000 {
        100_000
    } else if n < -100_000 {
        -100_000
    } else {
        n
    };
    x.exponent += n;
    pack(format, x, round)
}

/// f32 fused multiply-add to nearest, for hosts without the instruction.
pub fn fma32_nearest(a: u32, b: u32, c: u32) -> u32 {
    // The product of two f32 is exact in f64. The sum is rounded to odd there, so that rounding it again is harmless.
    let (x, y, z) = (f32::from_bits(a) as f64, f32::from_bits(b) as f64, f32::from_bits(c) as f64);
    let p = x * y;
    let s = p + z;
    if !s.is_finite() {
        return (s as f32).to_bits();
    }
    let t = s - p;
    let error = (p - (s - t)) + (z - t);
    let mut bits = s.to_bits();
    if error != 0.0 && bits & 1 == 0 {
        // The exact sum lies between s and its neighbour in the error's direction; make the odd one of the two.
        let away = (error > 0.0) == (s > 0.0);
        bits = if away { bits + 1 } else { bits - 1 };
    }
    (f64::from_bits(bits) as f32).to_bits()
}

/// f64 fused multiply-add to nearest, for hosts without the instruction.
pub fn fma64_nearest(a: u64, b: u64, c: u64) -> u64 {
    fma(F64, a, b, c, Round::Nearest)
}

/// The f16 in the low half as f32, signalling NaNs staying signalling.
pub const fn h2f(h: u32) -> u32 {
    let sign = (h & 0x8000) << 16;
    // In f32's place the number is 2¹¹² times too small; that product is exact, of denormals too. Without a branch: some
    // back ends have this done for all lanes at once.
    let magnitude = (h & 0x7fff) << 13;
    let value = f32::from_bits(magnitude) * f32::from_bits((112 + 127) << 23);
    let special = if magnitude >= 0x0f80_0000 { 0x7f80_0000 } else { 0 };
    sign | value.to_bits() | special
}

/// f32 to f16 to nearest, denormals kept.
pub const fn f2h_nearest(x: u32) -> u32 {
    let sign = (x >> 16) & 0x8000;
    let a = x & 0x7fff_ffff;
    if a > 0x7f80_0000 {
        return sign | 0x7e00 | (a >> 13) & 0x3ff;
    }
    if a >= 0x4780_0000 {
        return sign | 0x7c00;
    }
    if a < 0x3880_0000 {
        // Denormal result: adding 0.5 puts the rounding position at 2⁻²⁴ (0.5's last bit).
        let shifted = f32::from_bits(a) + 0.5;
        return sign | (shifted.to_bits() - 0x3f00_0000);
    }
    let rounded = a + 0xfff + ((a >> 13) & 1);
    sign | ((rounded - 0x3800_0000) >> 13)
}

/// f32 to f16 in any round mode.
pub const fn f2h(x: u32, round: Round) -> u32 {
    match round {
        Round::Nearest => f2h_nearest(x),
        _ => convert(F32, F16, x as u64, round) as u32,
    }
}
