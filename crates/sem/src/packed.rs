//! Packed and mixed precision: two halves at once, dot products.

use crate::fp::single;
use crate::half::{self, HalfMode};
use crate::int;
use crate::lanes::{Word, w};
use crate::mode::{FloatMode, Mode};
use wavemill_isa::Level;

/// Low and high half of a word, put together.
#[inline(always)]
pub fn join<W: Word>(lo: W, hi: W) -> W {
    (lo & w(0xffff)) | hi.shl(w(16))
}
/// The high half, zero-extended.
#[inline(always)]
pub fn high<W: Word>(a: W) -> W {
    a.shr(w(16))
}
/// An expression of 16-bit operands for both halves of words. (A macro: a closure that is called twice is not compiled into
/// its caller, and so not for the caller's host.)
macro_rules! pk {
    ($($a:ident),* => $e:expr) => {
        $crate::packed::join(
            { $(let $a = $a & $crate::lanes::w(0xffff);)* $e },
            { $(let $a = $crate::packed::high($a);)* $e },
        )
    };
}
pub(crate) use pk;
/// Clamps both f16 halves.
#[inline(always)]
pub fn clamp_f16<W: Word>(a: W, clamp: bool, dx10: bool) -> W {
    if clamp { join(half::clamp(a & w(0xffff), dx10), half::clamp(high(a), dx10)) } else { a }
}
/// V_PK_FMA_F16.
#[inline(always)]
pub fn fma_f16<W: Word>(a: W, b: W, c: W, m: HalfMode) -> W {
    if !half::is_plain(m) {
        // Apart: with all round modes a meaning is too long to be compiled into its place, and then is for no host in particular.
        return W::apart(move || pk!(a, b, c => half::fma(a, b, c, m)));
    }
    // The upper half first: where that takes halves apart, the lower one is at hand.
    let upper = a.h2f_high().ffma_odd(b.h2f_high(), c.h2f_high());
    let low = a.h2f().ffma_odd(b.h2f(), c.h2f());
    W::rarely(low.funord(upper), low.f2h_pair(upper), move || pk!(a, b, c => half::fma(a, b, c, m)))
}
/// V_PK_ADD_F16.
#[inline(always)]
pub fn add_f16<W: Word>(a: W, b: W, m: HalfMode) -> W {
    if !half::is_plain(m) {
        return W::apart(move || pk!(a, b => half::add(a, b, m)));
    }
    let (upper, low) = (a.h2f_high().fadd(b.h2f_high()), a.h2f().fadd(b.h2f()));
    W::rarely(low.funord(upper), low.f2h_pair(upper), move || pk!(a, b => half::add(a, b, m)))
}
/// V_PK_MUL_F16.
#[inline(always)]
pub fn mul_f16<W: Word>(a: W, b: W, m: HalfMode) -> W {
    if !half::is_plain(m) {
        return W::apart(move || pk!(a, b => half::mul(a, b, m)));
    }
    let (upper, low) = (a.h2f_high().fmul(b.h2f_high()), a.h2f().fmul(b.h2f()));
    W::rarely(low.funord(upper), low.f2h_pair(upper), move || pk!(a, b => half::mul(a, b, m)))
}
/// V_PK_MIN_F16.
#[inline(always)]
pub fn min_f16<W: Word>(a: W, b: W, m: HalfMode, ieee: bool) -> W {
    if !half::is_plain(m) {
        return pk!(a, b => half::min(a, b, m, ieee));
    }
    let (z, u, x, y) = (a.h2f_high(), b.h2f_high(), a.h2f(), b.h2f());
    let nan = x.funord(y) | z.funord(u);
    W::rarely(nan, x.fmin(y).f2h_pair(z.fmin(u)), move || pk!(a, b => half::min(a, b, m, ieee)))
}
/// V_PK_MAX_F16.
#[inline(always)]
pub fn max_f16<W: Word>(a: W, b: W, m: HalfMode, ieee: bool) -> W {
    if !half::is_plain(m) {
        return pk!(a, b => half::max(a, b, m, ieee));
    }
    let (z, u, x, y) = (a.h2f_high(), b.h2f_high(), a.h2f(), b.h2f());
    let nan = x.funord(y) | z.funord(u);
    W::rarely(nan, x.fmax(y).f2h_pair(z.fmax(u)), move || pk!(a, b => half::max(a, b, m, ieee)))
}
/// V_SAT_PK_U8_I16: each signed half to an unsigned byte.
#[inline(always)]
pub fn sat_pk_u8<W: Word>(a: W) -> W {
    let (low, high) = (int::i16(a), a.sar(w(16)));
    low.max_i(w(0)).min_i(w(255)) | high.max_i(w(0)).min_i(w(255)).shl(w(8))
}

/// V_DOT2_F32_F16 rounds to nearest. gfx90a flushes denormals whatever MODE says (manual 6.4, measured: llvm-project
/// #205101), others keep them. Nobody has published the order: two fused steps, upper product first, as LLVM forms it.
#[inline(always)]
pub fn dot2_f32_f16<W: Word>(a: W, b: W, c: W, level: Level) -> W {
    let flush = level == Level::Gfx90a;
    let m = if flush { FloatMode::FLUSH } else { FloatMode::IEEE };
    let r = step(widened_high(a, flush), widened_high(b, flush), single::input(c, m));
    step(widened(a, flush), widened(b, flush), r)
}
/// A fused step on numbers that are as the mode wants them. No denormals come of none: a product of f16 that are none is zero,
/// or at least 2⁻²⁸ and a multiple of 2⁻⁴⁸, and what is large enough to cancel it is a multiple of 2⁻⁵².
#[inline(always)]
fn step<W: Word>(a: W, b: W, c: W) -> W {
    single::settle(a.ffma(b, c), a, b, c)
}
/// The f16 in the upper half as f32.
#[inline(always)]
fn widened_high<W: Word>(a: W, flush: bool) -> W {
    if flush { a.h2f_high().flush(a, w(0x7c00_0000)) } else { a.h2f_high() }
}
/// The f16 in the low half as f32.
#[inline(always)]
fn widened<W: Word>(a: W, flush: bool) -> W {
    if flush { half::widened(a) } else { a.h2f() }
}

/// V_DOT2_I32_I16: products of both halves and an accumulator; `clamp` saturates the end result.
#[inline(always)]
pub fn dot2_i16<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    if !clamp {
        return a.dot_i16(b) + c;
    }
    let low = int::i16(a) * int::i16(b);
    int::sat_i32(low.sext() + (a.sar(w(16)) * b.sar(w(16))).sext() + c.sext())
}
/// V_DOT2_U32_U16.
#[inline(always)]
pub fn dot2_u16<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    let (low, high) = (int::u16(a) * int::u16(b), high(a) * high(b));
    if clamp { int::sat_u32(low.zext() + high.zext() + c.zext()) } else { low + high + c }
}
/// Sum of the products of four signed bytes.
#[inline(always)]
fn bytes_i<W: Word>(a: W, b: W) -> W {
    let odd = a.shr(w(8)).sext_even_bytes().dot_i16(b.shr(w(8)).sext_even_bytes());
    a.sext_even_bytes().dot_i16(b.sext_even_bytes()) + odd
}
/// Sum of the products of four unsigned bytes.
#[inline(always)]
fn bytes_u<W: Word>(a: W, b: W) -> W {
    let even = w(0x00ff_00ff);
    (a & even).dot_i16(b & even) + (a.shr(w(8)) & even).dot_i16(b.shr(w(8)) & even)
}
/// V_DOT4_I32_I8.
#[inline(always)]
pub fn dot4_i8<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    int::add_i32(bytes_i(a, b), c, clamp)
}
/// V_DOT4_U32_U8.
#[inline(always)]
pub fn dot4_u8<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    int::add_u32(bytes_u(a, b), c, clamp)
}
/// V_DOT8_I32_I4.
#[inline(always)]
pub fn dot8_i4<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    let sum = products_i4(a.shl(w(12)), b.shl(w(4)))
        + products_i4(a.shl(w(8)), b)
        + products_i4(a.shl(w(4)), b.shr(w(4)))
        + products_i4(a, b.shr(w(8)));
    int::add_i32(sum.sar(w(16)), c, clamp)
}
/// The sum of the products of two of the eight, 65,536 times as large: the first factor at the top of 16 bits is 4,096 times
/// as large as it is, the second at the top of a byte 16 times.
#[inline(always)]
fn products_i4<W: Word>(a: W, b: W) -> W {
    (a & w(0xf000_f000)).dot_i16((b & w(0x00f0_00f0)).sext_even_bytes())
}
/// V_DOT8_U32_U4.
#[inline(always)]
pub fn dot8_u4<W: Word>(a: W, b: W, c: W, clamp: bool) -> W {
    let even = w(0x0f0f_0f0f);
    let sum = bytes_u(a & even, b & even) + bytes_u(a.shr(w(4)) & even, b.shr(w(4)) & even);
    int::add_u32(sum, c, clamp)
}

/// V_FMA_MIX_F32 on operands already widened to f32; V_MAD_MIX_F32 of gfx900 rounds twice and flushes.
#[inline(always)]
pub fn mix<W: Word>(a: W, b: W, c: W, m: &Mode, fused: bool) -> W {
    if fused { single::fma(a, b, c, m.f32) } else { single::mad(a, b, c, m.mad32()) }
}
/// The f16 result of V_FMA_MIXLO and V_FMA_MIXHI: the f32 sum, rounded once more (LLVM forms it from a rounded fma).
/// gfx900's V_MAD_MIX* know no denormals of either width (Mesa and LLVM #224911 rely on it).
#[inline(always)]
pub fn mix_f16<W: Word>(a: W, b: W, c: W, m: &Mode, fused: bool) -> W {
    let sum = mix(a, b, c, m, fused);
    if fused { half::rounded(sum, m) } else { half::rounded(sum, &Mode { f64: m.f64.flushing(), ..*m }) }
}
