//! Conversions.

use crate::fp::{double, single};
use crate::half;
use crate::lanes::{Long, Word, d, w};
use crate::mode::{FloatMode, Mode};
use crate::soft::Round;
use wavemill_isa::Level;

/// f64 to f32 in a round mode.
#[inline(always)]
fn narrow<L: Long>(a: L, round: Round) -> L::Word {
    match round {
        Round::Nearest => a.d2f(),
        round => a.d2f_round(round),
    }
}
/// V_CVT_F32_I32.
#[inline(always)]
pub fn f32_i32<W: Word>(a: W, m: FloatMode) -> W {
    match m.round {
        Round::Nearest => a.i2f(),
        round => W::apart(move || a.i2d().d2f_round(round)),
    }
}
/// V_CVT_F32_U32.
#[inline(always)]
pub fn f32_u32<W: Word>(a: W, m: FloatMode) -> W {
    match m.round {
        Round::Nearest => a.u2f(),
        round => W::apart(move || a.u2d().d2f_round(round)),
    }
}
/// V_CVT_RPI_I32_F32: floor(a + ½), computed exactly.
#[inline(always)]
pub fn rpi<W: Word>(a: W) -> W {
    // The fraction is exact, or near one. More than what comes before a half is half or more; of infinities it is a NaN.
    let floor = a.ffloor();
    let up = w::<W>(0x3eff_ffff).flt(a.fsub(floor));
    saturated(a, floor.f2i() + W::select(up, w(1), w(0)))
}
/// V_CVT_FLR_I32_F32: floor(a).
#[inline(always)]
pub fn flr<W: Word>(a: W) -> W {
    saturated(a, a.ffloor().f2i())
}
/// Unlike V_CVT_I32_F32 these saturate a NaN by its sign (CLRX's notes on GCN; measured on gfx1201).
#[inline(always)]
fn saturated<W: Word>(a: W, r: W) -> W {
    W::rarely(single::is_nan(a), r, move || a.sar(w(31)) ^ w(0x7fff_ffff))
}
/// V_CVT_OFF_F32_I4: a signed 4-bit number of sixteenths.
#[inline(always)]
pub fn off_i4<W: Word>(a: W) -> W {
    a.shl(w(28)).sar(w(28)).i2f().fmul(w(0x3d80_0000))
}
/// V_CVT_F32_F64: rounds by the f32 mode, flushes inputs by f64's and results by f32's.
#[inline(always)]
pub fn f32_f64<L: Long>(a: L, m: &Mode) -> L::Word {
    single::output(narrow(double::input(a, m.f64), m.f32.round), m.f32)
}
/// V_CVT_F64_F32.
#[inline(always)]
pub fn f64_f32<W: Word>(a: W, m: &Mode) -> W::Long {
    single::input(a, m.f32).f2d()
}
/// V_CVT_F16_U16 and V_CVT_F16_I16.
#[inline(always)]
pub fn f16_int<W: Word>(a: W, signed: bool, m: &Mode) -> W {
    let n = if signed { a.shl(w(16)).sar(w(16)) } else { a & w(0xffff) };
    half::rounded(n.i2f(), m)
}
/// V_CVT_U16_F16: toward zero, saturating, NaN to 0.
#[inline(always)]
pub fn u16_f16<W: Word>(a: W) -> W {
    a.h2f().f2i().max_i(w(0)).min_i(w(0xffff))
}
/// V_CVT_I16_F16.
#[inline(always)]
pub fn i16_f16<W: Word>(a: W) -> W {
    a.h2f().f2i().max_i(w(-0x8000i32 as u32)).min_i(w(0x7fff)) & w(0xffff)
}
/// A number brought between two others; a NaN stays.
#[inline(always)]
fn between<W: Word>(a: W, least: f32, greatest: f32) -> W {
    let (least, greatest) = (w::<W>(least.to_bits()), w::<W>(greatest.to_bits()));
    let a = W::select(a.flt(least), least, a);
    W::select(greatest.flt(a), greatest, a)
}
/// f64 to an integer in a round mode.
#[inline(always)]
fn integer<L: Long>(a: L, round: Round) -> L::Word {
    match round {
        Round::Nearest => a.frint(),
        Round::Up => double::neg(double::neg(a).ffloor()),
        Round::Down => a.ffloor(),
        Round::Zero => a.ftrunc(),
    }
    .d2i()
}
/// A number times another, to the nearest integer of 16 bits; NaN to 0. 1½·2²³ has the bits of integers below its own
/// last one, so that the fused sum is rounded once, to an integer, which its low bits are.
#[inline(always)]
fn nearest16<W: Word>(a: W, times: f32) -> W {
    let sum = a.ffma(w(times.to_bits()), w(12_582_912f32.to_bits()));
    W::select(a.funord(a), w(0), sum & w(0xffff))
}
/// f32 in -1..1 to a signed 16-bit fraction; NaN to 0.
#[inline(always)]
pub fn snorm16<W: Word>(a: W, round: Round) -> W {
    let a = between(a, -1.0, 1.0);
    if round == Round::Nearest {
        return nearest16(a, 32767.0);
    }
    integer(a.f2d().fmul(d(32767.0)), round) & w(0xffff)
}
/// f32 in 0..1 to an unsigned 16-bit fraction; NaN to 0.
#[inline(always)]
pub fn unorm16<W: Word>(a: W, round: Round) -> W {
    let a = between(a, 0.0, 1.0);
    if round == Round::Nearest {
        return nearest16(a, 65535.0);
    }
    integer(a.f2d().fmul(d(65535.0)), round)
}
/// f32 to an 8-bit unsigned integer by the mode, saturating, NaN to 0 (V_CVT_PK_U8_F32).
#[inline(always)]
pub fn u8_f32<W: Word>(a: W, m: FloatMode) -> W {
    let a = single::input(a, m);
    let r = match m.round {
        Round::Nearest => a.frint(),
        Round::Up => single::neg(single::neg(a).ffloor()),
        Round::Down => a.ffloor(),
        Round::Zero => a,
    };
    r.f2i().max_i(w(0)).min_i(w(255))
}
/// V_CVT_PK_U8_F32: into byte `b` of `c`.
#[inline(always)]
pub fn pk_u8<W: Word>(a: W, b: W, c: W, m: FloatMode) -> W {
    let at = (b & w(3)).shl(w(3));
    (c & !w::<W>(0xff).shl(at)) | u8_f32(a, m).shl(at)
}

/// V_TRUNC_F32.
#[inline(always)]
pub fn trunc_f32<W: Word>(a: W, m: FloatMode) -> W {
    let a = single::input(a, m);
    single::unary(a, a.ftrunc(), m)
}
/// V_FLOOR_F32.
#[inline(always)]
pub fn floor_f32<W: Word>(a: W, m: FloatMode) -> W {
    let a = single::input(a, m);
    single::unary(a, a.ffloor(), m)
}
/// V_CEIL_F32.
#[inline(always)]
pub fn ceil_f32<W: Word>(a: W, m: FloatMode) -> W {
    let a = single::input(a, m);
    // ceil x = -floor -x.
    single::unary(a, single::neg(single::neg(a).ffloor()), m)
}
/// V_RNDNE_F32.
#[inline(always)]
pub fn rndne_f32<W: Word>(a: W, m: FloatMode) -> W {
    let a = single::input(a, m);
    single::unary(a, a.frint(), m)
}
/// V_FRACT_F32: a - floor(a), kept below one (a tiny negative number would round to one) but on GFX6, whose compilers
/// work around that.
#[inline(always)]
pub fn fract_f32<W: Word>(a: W, m: FloatMode, level: Level) -> W {
    let a = single::input(a, m);
    let r = single::sub(a, single::unary(a, a.ffloor(), FloatMode::IEEE), m);
    if level == Level::Gfx6 { r } else { W::select(r.feq(w(0x3f80_0000)), w(0x3f7f_ffff), r) }
}
/// An f64 rounding function.
#[inline(always)]
pub fn round_f64<L: Long>(a: L, m: FloatMode, f: impl Fn(L) -> L) -> L {
    let a = double::input(a, m);
    double::unary(a, f(a), m)
}
/// V_CEIL_F64.
#[inline(always)]
pub fn ceil_f64<L: Long>(a: L, m: FloatMode) -> L {
    round_f64(a, m, |a| double::neg(double::neg(a).ffloor()))
}
/// V_FRACT_F64.
#[inline(always)]
pub fn fract_f64<L: Long>(a: L, m: FloatMode, level: Level) -> L {
    let a = double::input(a, m);
    let r = double::sub(a, round_f64(a, FloatMode::IEEE, L::ffloor), m);
    if level == Level::Gfx6 {
        return r;
    }
    L::select(r.feq(d(1.0)), L::splat(1f64.to_bits() - 1), r)
}
