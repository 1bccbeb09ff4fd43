//! Byte and pixel arithmetic, permutes, bit counts, cube maps.

use crate::int;
use crate::lanes::{Long, Word, w};

/// All ones in the bytes whose lowest bit is set, of a word whose other bits are clear.
#[inline(always)]
fn spread<W: Word>(bits: W) -> W {
    bits.shl(w(8)) - bits
}
/// V_SAD_U8.
#[inline(always)]
pub fn sad_u8<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    int::add_u32(a.sad_u8(b), c, clamp)
}
/// V_SAD_HI_U8.
#[inline(always)]
pub fn sad_hi_u8<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    int::add_u32(a.sad_u8(b).shl(w(16)), c, clamp)
}
/// The absolute difference of unsigned numbers.
#[inline(always)]
fn absdiff<W: Word>(a: W, b: W) -> W {
    a.max_u(b) - a.min_u(b)
}
/// V_SAD_U16.
#[inline(always)]
pub fn sad_u16<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    let low = absdiff(a & w(0xffff), b & w(0xffff));
    int::add_u32(low + absdiff(a.shr(w(16)), b.shr(w(16))), c, clamp)
}
/// V_SAD_U32.
#[inline(always)]
pub fn sad_u32<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    int::add_u32(absdiff(a, b), c, clamp)
}
/// The sum of absolute differences where bytes of the reference `b` are not zero.
#[inline(always)]
fn masked<W: Word>(a: W, b: W) -> W {
    // A byte's top bit is set if the byte is not zero: by itself, or by the carry of the seven others.
    let some = (((b & w(0x7f7f_7f7f)) + w(0x7f7f_7f7f)) | b).shr(w(7)) & w(0x0101_0101);
    (a & spread(some)).sad_u8(b)
}
/// V_MSAD_U8: reference bytes of zero do not count.
#[inline(always)]
pub fn msad_u8<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    int::add_u32(masked(a, b), c, clamp)
}
/// V_QSAD_PK_U16_U8 and V_MQSAD_PK_U16_U8: four windows, 16-bit sums.
#[inline(always)]
pub fn qsad_pk<L: Long>(a: L, b: L::Word, c: L, mask: bool, clamp: bool) -> L {
    let (low, high) = (c.lo(), c.hi());
    let (first, second) = (a.lo(), a.shr(w(8)).lo());
    let (third, fourth) = (a.shr(w(16)).lo(), a.shr(w(24)).lo());
    L::join(qsad_pair(first, second, b, low, mask, clamp), qsad_pair(third, fourth, b, high, mask, clamp))
}
/// Two of the sums.
#[inline(always)]
fn qsad_pair<W: Word>(first: W, second: W, b: W, c: W, mask: bool, clamp: bool) -> W {
    let low = if mask { masked(first, b) } else { first.sad_u8(b) };
    let high = if mask { masked(second, b) } else { second.sad_u8(b) };
    int::to_u16((c & w(0xffff)) + low, clamp) | int::to_u16(c.shr(w(16)) + high, clamp).shl(w(16))
}
/// V_MQSAD_U32_U8: four windows, 32-bit sums.
#[inline(always)]
pub fn mqsad_u32<L: Long>(a: L, b: L::Word, c: [L::Word; 4], clamp: bool) -> [L::Word; 4] {
    // (No closure for the four: called more than once, it would be compiled for no host in particular.)
    [
        int::add_u32(masked(a.lo(), b), c[0], clamp),
        int::add_u32(masked(a.shr(w(8)).lo(), b), c[1], clamp),
        int::add_u32(masked(a.shr(w(16)).lo(), b), c[2], clamp),
        int::add_u32(masked(a.shr(w(24)).lo(), b), c[3], clamp),
    ]
}
/// V_LERP_U8: byte averages; bit 0 of each byte of `c` rounds up.
#[inline(always)]
pub fn lerp_u8<W: Word>(a: W, b: W, c: W) -> W {
    let odd = a ^ b;
    (a & b) + (odd.shr(w(1)) & w(0x7f7f_7f7f)) + (odd & c & w(0x0101_0101))
}
/// All ones in the bytes whose top bit is set.
#[inline(always)]
fn signs<W: Word>(x: W) -> W {
    spread(x.shr(w(7)) & w(0x0101_0101))
}
/// V_PERM_B32: bytes of {a, b} by selector. Selectors 8 to 11 are sign bytes, 12 is 0, above is 0xff.
#[inline(always)]
pub fn perm<W: Word>(a: W, b: W, selectors: W) -> W {
    let plain = a.permute_bytes(b, selectors);
    // Compilers write selectors below 8, and 12 to 15.
    let eight = selectors.shr(w(3)) & w(0x0101_0101);
    let ones = (selectors | selectors.shr(w(1))) & eight;
    let usual = (plain & !spread(eight)) | spread(ones);
    let odd = selectors & (w::<W>(0xf8f8_f8f8) ^ (selectors.shl(w(1)) & w(0x0808_0808)));
    W::rarely(!odd.eq(w(0)), usual, move || {
        // Selectors 8 to 15 pick from the signs of odd bytes, a zero and ones.
        let signs = signs(a).permute_bytes(signs(b), w(0x0705_0301));
        let special = w::<W>(0xffff_ff00).permute_bytes(signs, selectors);
        let beyond = ((selectors.shr(w(4)) & w(0x0f0f_0f0f)) + w(0x0f0f_0f0f)).shr(w(4)) & w(0x0101_0101);
        (plain & !spread(eight)) | (special & spread(eight)) | spread(beyond)
    })
}
/// Fields of `n` bits, of which the mask has every other one, change places with their neighbours.
#[inline(always)]
fn swap<W: Word>(a: W, n: u32, mask: u32) -> W {
    (a.shr(w(n)) & w(mask)) | (a & w(mask)).shl(w(n))
}
/// V_BFREV_B32.
#[inline(always)]
pub fn reverse<W: Word>(a: W) -> W {
    let a = swap(a, 1, 0x5555_5555);
    let a = swap(a, 2, 0x3333_3333);
    let a = swap(a, 4, 0x0f0f_0f0f);
    a.permute_bytes(a, w(0x0001_0203))
}
/// V_FFBH_U32.
#[inline(always)]
pub fn ffbh_u32<W: Word>(a: W) -> W {
    W::select(a.eq(w(0)), w(!0), a.leading_zeros())
}
/// How many bits are clear below the lowest set one; 32 if none is.
#[inline(always)]
pub fn trailing_zeros<W: Word>(a: W) -> W {
    (!a & (a - w(1))).count_ones()
}
/// V_FFBL_B32.
#[inline(always)]
pub fn ffbl<W: Word>(a: W) -> W {
    W::select(a.eq(w(0)), w(!0), trailing_zeros(a))
}
/// V_FFBH_I32: how many bits from the top equal the sign; -1 when all do.
#[inline(always)]
pub fn ffbh_i32<W: Word>(a: W) -> W {
    ffbh_u32(a ^ a.sar(w(31)))
}
/// V_MBCNT_LO_U32_B32: bits of `a` below the lane, which counts from 0.
#[inline(always)]
pub fn mbcnt_lo<W: Word>(a: W, b: W, lane: W) -> W {
    let below = W::select(lane.lt_u(w(32)), w::<W>(1).shl(lane) - w(1), w(!0));
    (a & below).count_ones() + b
}
/// V_MBCNT_HI_U32_B32: the same for lanes from 32 on.
#[inline(always)]
pub fn mbcnt_hi<W: Word>(a: W, b: W, lane: W) -> W {
    let below = W::select(lane.lt_u(w(32)), w(0), w::<W>(1).shl(lane) - w(1));
    (a & below).count_ones() + b
}

/// f32 greater or equal.
#[inline(always)]
fn ge<W: Word>(a: W, b: W) -> W::Mask {
    b.flt(a) | a.feq(b)
}
/// The major axis of a cube map vector: lanes where it is z, and where it is y.
#[inline(always)]
fn major<W: Word>(x: W, y: W, z: W) -> (W::Mask, W::Mask) {
    let (x, y, z) = (x & w(0x7fff_ffff), y & w(0x7fff_ffff), z & w(0x7fff_ffff));
    let is_z = ge(z, x) & ge(z, y);
    (is_z, ge(y, x) & !is_z)
}
#[inline(always)]
fn negative<W: Word>(v: W) -> W::Mask {
    v.flt(w(0))
}
#[inline(always)]
fn neg<W: Word>(v: W) -> W {
    v ^ w(0x8000_0000)
}
/// V_CUBEID_F32.
#[inline(always)]
pub fn cube_id<W: Word>(x: W, y: W, z: W) -> W {
    let (is_z, is_y) = major(x, y, z);
    // 0, 2 or 4, and one more if the coordinate is negative: as f32.
    let axis = W::select(is_z, w(0x4080_0000), W::select(is_y, w(0x4000_0000), w(0)));
    let minus = negative(W::select(is_z, z, W::select(is_y, y, x)));
    axis.fadd(W::select(minus, w(0x3f80_0000), w(0)))
}
/// V_CUBESC_F32.
#[inline(always)]
pub fn cube_sc<W: Word>(x: W, y: W, z: W) -> W {
    let (is_z, is_y) = major(x, y, z);
    let r = W::select(is_y, x, W::select(negative(x), z, neg(z)));
    W::select(is_z, W::select(negative(z), neg(x), x), r)
}
/// V_CUBETC_F32.
#[inline(always)]
pub fn cube_tc<W: Word>(x: W, y: W, z: W) -> W {
    let (_, is_y) = major(x, y, z);
    W::select(is_y, W::select(negative(y), neg(z), z), neg(y))
}
/// The coordinate that V_CUBEMA_F32 doubles.
#[inline(always)]
pub fn cube_ma<W: Word>(x: W, y: W, z: W) -> W {
    let (is_z, is_y) = major(x, y, z);
    W::select(is_z, z, W::select(is_y, y, x))
}
/// What V_MULLIT_F32 (GFX6, GFX7) gives instead of its product: the lowest number unless the factor and the condition
/// are fit (AMD's later manuals).
#[inline(always)]
pub fn mullit_fails<W: Word>(factor: W, condition: W) -> W::Mask {
    // Neither NaN nor the lowest number or below; neither NaN nor zero or below.
    !(w::<W>(0xff7f_ffff).flt(factor) & w::<W>(0).flt(condition))
}

/// V_SCREEN_PARTITION_4SE_B32's table (manual 12.8), a hexadecimal digit per entry.
const DIGITS: &[u8; 256] =
    b"137f5fff7ffffffff26efafffbffffffdf4cff5fffdfffff9bf8fffafffeffffffff4cdf6fffeffffffff89bf99ffdffffff7f13ff9fffbfffff6ef26ff6fff7bfffffff23bfaffff7fffffff19df5ffffefffffef8cffaffffdffff67f4fff59fffdfffffff8ceff66ffefffffff467ff6fff7fffffbf239ff9fffbffff9df1";
static PARTITION: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = match DIGITS[i] {
            n @ b'0'..=b'9' => n - b'0',
            n => n - b'a' + 10,
        } as u32;
        i += 1;
    }
    table
};
/// V_SCREEN_PARTITION_4SE_B32.
#[inline(always)]
pub fn screen_partition<W: Word>(a: W) -> W {
    (a & w(0xff)).lookup(&PARTITION)
}
