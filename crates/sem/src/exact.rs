//! Sums of f32 numbers and of products of two, without any rounding until the end: a fixed-point number wide enough for
//! all of them.

use crate::soft::{self, F32, Number, Round};

/// Power of two of the lowest bit: that of the product of the two least denormals.
const LOWEST: i32 = -298;
/// Products end below 2²⁵⁶, 554 bits higher; the rest is for carries and the sign.
const LIMBS: usize = 10;

/// A sum so far, in two's complement.
#[derive(Clone, Default)]
pub struct Exact([u64; LIMBS]);

impl Exact {
    /// Adds a finite number.
    pub fn add(&mut self, x: u32) {
        self.add_number(soft::unpack(F32, x as u64));
    }

    /// Adds the product of two finite numbers.
    pub fn add_product(&mut self, x: u32, y: u32) {
        let (x, y) = (soft::unpack(F32, x as u64), soft::unpack(F32, y as u64));
        self.add_number(Number {
            negative: x.negative != y.negative,
            exponent: x.exponent + y.exponent,
            significand: x.significand * y.significand,
        });
    }

    fn add_number(&mut self, n: Number) {
        let at = (n.exponent - LOWEST) as usize;
        // At most 48 bits, so that two limbs hold them wherever they start.
        let bits = n.significand << (at % 64);
        let mut carry = false;
        for (i, limb) in self.0.iter_mut().enumerate().skip(at / 64) {
            let part = match i - at / 64 {
                0 => bits as u64,
                1 => (bits >> 64) as u64,
                _ if !carry => break,
                _ => 0,
            };
            (*limb, carry) =
                if n.negative { limb.with_borrow(part, carry) } else { limb.with_carry(part, carry) };
        }
    }

    /// The sum as an f32, to nearest. Zero is positive.
    pub fn round(mut self) -> u32 {
        let negative = self.0[LIMBS - 1] >> 63 != 0;
        if negative {
            let mut carry = true;
            for limb in &mut self.0 {
                (*limb, carry) = (!*limb).with_carry(0, carry);
            }
        }
        let Some(top) = self.0.iter().rposition(|&l| l != 0) else { return 0 };
        // The upper two limbs, and a bit for whatever lies below.
        let low = top.saturating_sub(1);
        let sticky = self.0[..low].iter().any(|&l| l != 0);
        let upper = (self.0[low + 1] as u128) << 64 | self.0[low] as u128;
        // 65 bits at least where limbs lie below: the lowest one is far under the rounding.
        let significand = upper | sticky as u128;
        let exponent = LOWEST + 64 * low as i32;
        soft::pack(F32, Number { negative, exponent, significand }, Round::Nearest) as u32
    }
}

/// Sums and differences with carries, until the standard library's are stable.
trait Limb: Sized {
    fn with_carry(self, other: Self, carry: bool) -> (Self, bool);
    fn with_borrow(self, other: Self, borrow: bool) -> (Self, bool);
}
impl Limb for u64 {
    fn with_carry(self, other: u64, carry: bool) -> (u64, bool) {
        let (x, a) = self.overflowing_add(other);
        let (x, b) = x.overflowing_add(carry as u64);
        (x, a || b)
    }
    fn with_borrow(self, other: u64, borrow: bool) -> (u64, bool) {
        let (x, a) = self.overflowing_sub(other);
        let (x, b) = x.overflowing_sub(borrow as u64);
        (x, a || b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(products: &[(f32, f32)], c: f32) -> f32 {
        let mut e = Exact::default();
        products.iter().for_each(|(x, y)| e.add_product(x.to_bits(), y.to_bits()));
        e.add(c.to_bits());
        f32::from_bits(e.round())
    }

    /// Numbers whose sums are known by exact arithmetic.
    #[test]
    fn nothing_is_lost() {
        let (big, least) = (2f32.powi(127), f32::from_bits(1));
        assert_eq!(sum(&[(big, big), (-big, big)], 3.0), 3.0);
        assert_eq!(sum(&[(big, big), (least, least), (-big, big)], 0.0), 0.0);
        assert_eq!(sum(&[(big, 1.0), (-big, 1.0)], -least), -least);
        assert_eq!(sum(&[(big, big)], 0.0), f32::INFINITY);
        // A tie, and what lies just beside it.
        let half = 2f32.powi(-24);
        assert_eq!(sum(&[(1.0, half)], 1.0), 1.0);
        assert_eq!(sum(&[(1.0, half), (least, least)], 1.0), 1.0 + 2.0 * half);
        assert_eq!(sum(&[(1.0, -half), (-least, least)], -1.0), -1.0 - 2.0 * half);
        assert_eq!(sum(&[(1.0, half), (-least, least)], 1.0), 1.0);
        // Half of the least denormal, with and without more.
        assert_eq!(sum(&[(least, 0.5)], 0.0), 0.0);
        assert_eq!(sum(&[(least, 0.5), (least, least)], 0.0), least);
        assert_eq!(sum(&[(-1.0, 0.0), (1.0, -0.0)], -0.0).to_bits(), 0);
    }
}
