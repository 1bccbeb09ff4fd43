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
/// Applies a 16-bit operation to both halves.
#[inline(always)]
pub fn pk2<W: Word>(a: W, b: W, f: impl Fn(W, W) -> W) -> W {
    join(f(a & w(0xffff), b & w(0xffff)), f(high(a), high(b)))
}
/// Applies a 16-bit operation to both halves.
#[inline(always)]
pub fn pk3<W: Word>(a: W, b: W, c: W, f: impl Fn(W, W, W) -> W) -> W {
    join(f(a & w(0xffff), b & w(0xffff), c & w(0xffff)), f(high(a), high(b), high(c)))
}
/// Clamps both f16 halves.
#[inline(always)]
pub fn clamp_f16<W: Word>(a: W, clamp: bool, dx10: bool) -> W {
    if clamp { join(half::clamp(a & w(0xffff), dx10), half::clamp(high(a), dx10)) } else { a }
}
/// V_PK_FMA_F16.
#[inline(always)]
pub fn fma_f16<W: Word>(a: W, b: W, c: W, m: HalfMode) -> W {
    pk3(a, b, c, |a, b, c| half::fma(a, b, c, m))
}
/// V_SAT_PK_U8_I16: each signed half to an unsigned byte.
pub fn sat_pk_u8(a: u32) -> u32 {
    let sat = |h: u32| (h as u16 as i16).clamp(0, 255) as u32;
    sat(a) | sat(a >> 16) << 8
}

/// V_DOT2_F32_F16 rounds to nearest. gfx90a flushes denormals whatever MODE says (manual 6.4, measured: llvm-project
/// #205101), others keep them. Nobody has published the order: two fused steps, upper product first, as LLVM forms it.
#[inline(always)]
pub fn dot2_f32_f16<W: Word>(a: W, b: W, c: W, level: Level) -> W {
    let flush = level == Level::Gfx90a;
    let m = if flush { FloatMode::FLUSH } else { FloatMode::IEEE };
    let wide = |x: W| if flush { half::flush(x).h2f() } else { x.h2f() };
    let lo = |x: W| wide(x & w(0xffff));
    let hi = |x: W| wide(high(x));
    let r = single::fma(hi(a), hi(b), c, m);
    single::fma(lo(a), lo(b), r, m)
}

/// Sum of products of `8`, `4` or `16`-bit fields and an accumulator; `clamp` saturates the end result.
pub fn dot_i(a: u32, b: u32, c: u32, bits: u32, clamp: bool) -> u32 {
    let mut sum = c as i32 as i64;
    for i in (0..32).step_by(bits as usize) {
        let field = |x: u32| ((x >> i << (32 - bits)) as i32 >> (32 - bits)) as i64;
        sum += field(a) * field(b);
    }
    if clamp { int::sat_i32(sum) } else { sum as u32 }
}
/// The unsigned sum of products.
pub fn dot_u(a: u32, b: u32, c: u32, bits: u32, clamp: bool) -> u32 {
    let mut sum = c as u64;
    let mask = (1u64 << bits) - 1;
    for i in (0..32).step_by(bits as usize) {
        sum += ((a >> i) as u64 & mask) * ((b >> i) as u64 & mask);
    }
    if clamp { int::sat_u32(sum) } else { sum as u32 }
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
