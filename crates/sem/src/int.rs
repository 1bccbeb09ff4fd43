//! Integer arithmetic and bits: 32, 24, 16 and 64 bits wide. `clamp` saturates (manual 6.5).

use crate::lanes::{Long, Word, w};

/// a + b, unsigned.
#[inline(always)]
pub fn add_u32<W: Word>(a: W, b: W, clamp: bool) -> W {
    let r = a + b;
    if clamp { W::select(r.lt_u(a), w(!0), r) } else { r }
}
/// a - b, unsigned.
#[inline(always)]
pub fn sub_u32<W: Word>(a: W, b: W, clamp: bool) -> W {
    let r = a - b;
    if clamp { W::select(a.lt_u(b), w(0), r) } else { r }
}
/// The signed limit on the side of a number.
#[inline(always)]
fn limit<W: Word>(a: W) -> W {
    a.sar(w(31)) ^ w(0x7fff_ffff)
}
/// a + b, signed.
#[inline(always)]
pub fn add_i32<W: Word>(a: W, b: W, clamp: bool) -> W {
    let r = a + b;
    if clamp { W::select(((a ^ r) & (b ^ r)).lt_i(w(0)), limit(a), r) } else { r }
}
/// a - b, signed.
#[inline(always)]
pub fn sub_i32<W: Word>(a: W, b: W, clamp: bool) -> W {
    let r = a - b;
    if clamp { W::select(((a ^ b) & (a ^ r)).lt_i(w(0)), limit(a), r) } else { r }
}
/// a + b and the carry.
#[inline(always)]
pub fn add_co<W: Word>(a: W, b: W, clamp: bool) -> (W, W::Mask) {
    let r = a + b;
    let carry = r.lt_u(a);
    (if clamp { W::select(carry, w(!0), r) } else { r }, carry)
}
/// a - b and the borrow.
#[inline(always)]
pub fn sub_co<W: Word>(a: W, b: W, clamp: bool) -> (W, W::Mask) {
    let borrow = a.lt_u(b);
    let r = a - b;
    (if clamp { W::select(borrow, w(0), r) } else { r }, borrow)
}
/// a + b + carry and the carry.
#[inline(always)]
pub fn addc_co<W: Word>(a: W, b: W, c: W::Mask, clamp: bool) -> (W, W::Mask) {
    let s = a + b;
    let r = s + W::select(c, w(1), w(0));
    let carry = s.lt_u(a) | r.lt_u(s);
    (if clamp { W::select(carry, w(!0), r) } else { r }, carry)
}
/// a - b - borrow and the borrow.
#[inline(always)]
pub fn subb_co<W: Word>(a: W, b: W, c: W::Mask, clamp: bool) -> (W, W::Mask) {
    let one = W::select(c, w(1), w(0));
    let s = a - b;
    let r = s - one;
    let borrow = a.lt_u(b) | s.lt_u(one);
    (if clamp { W::select(borrow, w(0), r) } else { r }, borrow)
}

/// The low 24 bits.
#[inline(always)]
pub fn u24<W: Word>(a: W) -> W {
    a & w(0xff_ffff)
}
/// The low 24 bits, sign-extended.
#[inline(always)]
pub fn i24<W: Word>(a: W) -> W {
    a.shl(w(8)).sar(w(8))
}
/// V_MUL_I32_I24.
#[inline(always)]
pub fn mul_i24<W: Word>(a: W, b: W, clamp: bool) -> W {
    let (a, b) = (i24(a), i24(b));
    if clamp { sat_i32(a.mul_wide_i(b)) } else { a * b }
}
/// V_MUL_U32_U24.
#[inline(always)]
pub fn mul_u24<W: Word>(a: W, b: W, clamp: bool) -> W {
    let (a, b) = (u24(a), u24(b));
    if clamp { sat_u32(a.mul_wide_u(b)) } else { a * b }
}
/// V_MAD_I32_I24.
#[inline(always)]
pub fn mad_i24<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    let (a, b) = (i24(a), i24(b));
    if clamp { sat_i32(a.mul_wide_i(b) + c.sext()) } else { a * b + c }
}
/// V_MAD_U32_U24.
#[inline(always)]
pub fn mad_u24<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    let (a, b) = (u24(a), u24(b));
    if clamp { sat_u32(a.mul_wide_u(b) + c.zext()) } else { a * b + c }
}
/// A signed number to the range of i32.
#[inline(always)]
pub fn sat_i32<L: Long>(n: L) -> L::Word {
    let (lo, limit) = (n.lo(), limit(n.hi()));
    L::Word::select(lo.sext().eq(n), lo, limit)
}
/// An unsigned number to the range of u32.
#[inline(always)]
pub fn sat_u32<L: Long>(n: L) -> L::Word {
    L::Word::select(n.hi().eq(w(0)), n.lo(), w(!0))
}

/// Low half, zero-extended.
#[inline(always)]
pub fn u16<W: Word>(a: W) -> W {
    a & w(0xffff)
}
/// Low half, sign-extended.
#[inline(always)]
pub fn i16<W: Word>(a: W) -> W {
    a.shl(w(16)).sar(w(16))
}
/// A 16-bit unsigned result from a 32-bit number that may be out of range.
#[inline(always)]
pub fn to_u16<W: Word>(r: W, clamp: bool) -> W {
    if clamp { r.max_i(w(0)).min_i(w(0xffff)) } else { u16(r) }
}
/// A 16-bit signed result from a 32-bit number that may be out of range.
#[inline(always)]
pub fn to_i16<W: Word>(r: W, clamp: bool) -> W {
    if clamp { u16(r.max_i(w(-0x8000i32 as u32)).min_i(w(0x7fff))) } else { u16(r) }
}
/// a · b + c of 16-bit unsigned numbers.
#[inline(always)]
pub fn mad_u16<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    let (a, b, c) = (u16(a), u16(b), u16(c));
    // The sum stays below 2³²; as an unsigned number it may exceed i32.
    let r = a * b + c;
    if clamp { r.min_u(w(0xffff)) } else { u16(r) }
}
/// a · b + c of 16-bit signed numbers.
#[inline(always)]
pub fn mad_i16<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    to_i16(i16(a) * i16(b) + i16(c), clamp)
}

/// Median of three, signed.
#[inline(always)]
pub fn med3_i<W: Word>(a: W, b: W, c: W) -> W {
    a.min_i(b).max_i(a.max_i(b).min_i(c))
}
/// Median of three, unsigned.
#[inline(always)]
pub fn med3_u<W: Word>(a: W, b: W, c: W) -> W {
    a.min_u(b).max_u(a.max_u(b).min_u(c))
}
/// V_BFE_U32.
#[inline(always)]
pub fn bfe_u32<W: Word>(a: W, offset: W, width: W) -> W {
    a.shr(offset) & (w::<W>(1).shl(width) - w(1))
}
/// V_BFE_I32: the field's top bit is its sign; width 0 gives 0.
#[inline(always)]
pub fn bfe_i32<W: Word>(a: W, offset: W, width: W) -> W {
    let width = width & w(31);
    let field = a.sar(offset) & (w::<W>(1).shl(width) - w(1));
    let up = w::<W>(32) - width;
    W::select(width.eq(w(0)), w(0), field.shl(up).sar(up))
}
/// V_BFM_B32.
#[inline(always)]
pub fn bfm<W: Word>(width: W, offset: W) -> W {
    (w::<W>(1).shl(width) - w(1)).shl(offset)
}
/// V_ALIGNBIT_B32: {a, b} >> n.
#[inline(always)]
pub fn align<W: Word>(a: W, b: W, bits: W) -> W {
    W::Long::join(b, a).shr(bits).lo()
}
/// V_MAD_U64_U32: product, sum and carry. CLAMP has no effect on it that the manual names.
#[inline(always)]
pub fn mad_u64<W: Word>(a: W, b: W, c: W::Long, clamp: bool) -> (W::Long, W::Mask) {
    let r = a.mul_wide_u(b) + c;
    let carry = r.lt_u(c);
    (if clamp { W::Long::select(carry, W::Long::splat(!0), r) } else { r }, carry)
}
/// V_MAD_I64_I32: product, sum, and the signed sum's carry out of bit 63 into the sign (bit 64 of the exact result).
#[inline(always)]
pub fn mad_i64<W: Word>(a: W, b: W, c: W::Long, clamp: bool) -> (W::Long, W::Mask) {
    let p = a.mul_wide_i(b);
    let r = p + c;
    // Bit 64 of the sign-extended sum.
    let zero = W::Long::splat(0);
    let overflow = ((p ^ r) & (c ^ r)).lt_i(zero);
    let negative = overflow ^ r.lt_i(zero);
    if !clamp {
        return (r, negative);
    }
    let limit = W::Long::select(negative, W::Long::splat(1 << 63), W::Long::splat(!0 >> 1));
    (W::Long::select(overflow, limit, r), negative)
}
