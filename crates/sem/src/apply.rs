//! How an engine applies a meaning to an instruction's operands.
//!
//! [`crate::valu`] matches on the instruction and hands the meaning, a function of lanes, to an [`Apply`]. What operands
//! are, where results go and which lanes are active is the engine's business: the interpreter loops over chunks of
//! lanes, a JIT calls the function once with handles into its IR.

use crate::lanes::{Mask, Word};
use crate::mode::{FloatMode, Mode};
use crate::{fp, lanes::Long};
use crate::{half, packed};
use wavemill_isa::Level;

/// 64-bit lanes of an engine.
pub type L<K> = <<K as Apply>::W as Word>::Long;
/// Lane masks of an engine.
pub type M<K> = <<K as Apply>::W as Word>::Mask;

/// Takes a meaning by its shape. Letters: `w` 32-bit operand, `l` 64-bit operand, `m` lane mask; after the underscore
/// the result. Operands come in the order src0, src1, src2.
#[allow(missing_docs)] // the names say it
pub trait Apply: Sized {
    type W: Word;
    type Out;
    fn w_w(self, f: impl Fn(Self::W) -> Self::W) -> Self::Out;
    fn ww_w(self, f: impl Fn(Self::W, Self::W) -> Self::W) -> Self::Out;
    fn www_w(self, f: impl Fn(Self::W, Self::W, Self::W) -> Self::W) -> Self::Out;
    /// The third operand is the lane's number.
    fn wwi_w(self, f: impl Fn(Self::W, Self::W, Self::W) -> Self::W) -> Self::Out;
    /// The mask is VCC or the carry operand.
    fn wwm_w(self, f: impl Fn(Self::W, Self::W, M<Self>) -> Self::W) -> Self::Out;
    fn wwwm_w(self, f: impl Fn(Self::W, Self::W, Self::W, M<Self>) -> Self::W) -> Self::Out;
    fn ww_wm(self, f: impl Fn(Self::W, Self::W) -> (Self::W, M<Self>)) -> Self::Out;
    fn wwm_wm(self, f: impl Fn(Self::W, Self::W, M<Self>) -> (Self::W, M<Self>)) -> Self::Out;
    fn www_wm(self, f: impl Fn(Self::W, Self::W, Self::W) -> (Self::W, M<Self>)) -> Self::Out;
    fn ww_m(self, f: impl Fn(Self::W, Self::W) -> M<Self>) -> Self::Out;
    fn l_w(self, f: impl Fn(L<Self>) -> Self::W) -> Self::Out;
    fn w_l(self, f: impl Fn(Self::W) -> L<Self>) -> Self::Out;
    fn l_l(self, f: impl Fn(L<Self>) -> L<Self>) -> Self::Out;
    fn ll_l(self, f: impl Fn(L<Self>, L<Self>) -> L<Self>) -> Self::Out;
    fn lll_l(self, f: impl Fn(L<Self>, L<Self>, L<Self>) -> L<Self>) -> Self::Out;
    fn lllm_l(self, f: impl Fn(L<Self>, L<Self>, L<Self>, M<Self>) -> L<Self>) -> Self::Out;
    fn lll_lm(self, f: impl Fn(L<Self>, L<Self>, L<Self>) -> (L<Self>, M<Self>)) -> Self::Out;
    fn wl_l(self, f: impl Fn(Self::W, L<Self>) -> L<Self>) -> Self::Out;
    fn lw_l(self, f: impl Fn(L<Self>, Self::W) -> L<Self>) -> Self::Out;
    fn lwl_l(self, f: impl Fn(L<Self>, Self::W, L<Self>) -> L<Self>) -> Self::Out;
    fn wwl_lm(self, f: impl Fn(Self::W, Self::W, L<Self>) -> (L<Self>, M<Self>)) -> Self::Out;
    fn ll_m(self, f: impl Fn(L<Self>, L<Self>) -> M<Self>) -> Self::Out;
    fn lw_m(self, f: impl Fn(L<Self>, Self::W) -> M<Self>) -> Self::Out;
}

/// What an instruction's modifiers and the wave's mode say about results.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// MODE.
    pub mode: Mode,
    /// CLAMP: integers saturate, floats are brought into 0..1.
    pub clamp: bool,
    /// OMOD: 1 doubles, 2 quadruples, 3 halves.
    pub omod: u8,
    /// The generation, where meanings differ.
    pub level: Level,
    /// Whether float results need no CLAMP and no OMOD: the common case.
    pub plain: bool,
}

impl Context {
    /// From MODE's bits and the instruction's modifiers.
    #[inline(always)]
    pub fn new(mode: Mode, clamp: bool, omod: u8, level: Level) -> Context {
        Context { mode, clamp, omod, level, plain: !clamp && omod == 0 }
    }
    /// The mode of minima and maxima, which leave denormals alone before GFX9 (as LLVM has it).
    #[inline(always)]
    pub fn min_max(&self, m: FloatMode) -> FloatMode {
        if self.level.is_gfx9() { m } else { FloatMode { flush_in: false, flush_out: false, ..m } }
    }
    /// OMOD counts only without IEEE and with denormal results flushed (manual 6.2.2).
    #[inline(always)]
    fn omod(&self, m: FloatMode) -> u8 {
        if self.mode.ieee || !m.flush_out { 0 } else { self.omod }
    }
    // The selects below choose nothing: they let the common path keep its value in a register, which it could not if
    // the rare call wrote to the same place.

    /// OMOD and CLAMP of an f32 result.
    #[inline(always)]
    pub fn f32<W: Word>(&self, r: W) -> W {
        if self.plain {
            return r;
        }
        let out = self.finish_f32(r);
        W::select(W::Mask::ones(), out, r)
    }
    #[cold]
    #[inline(never)]
    fn finish_f32<W: Word>(&self, r: W) -> W {
        let omod = self.omod(self.mode.f32);
        let r = if omod != 0 { fp::single::omod(r, omod, self.mode.f32) } else { r };
        if self.clamp { fp::single::clamp(r, self.mode.dx10_clamp) } else { r }
    }
    /// CLAMP of an f32 result of VOP3P, which has no OMOD.
    #[inline(always)]
    pub fn pk32<W: Word>(&self, r: W) -> W {
        if self.clamp { fp::single::clamp(r, self.mode.dx10_clamp) } else { r }
    }
    /// CLAMP of two f16 results of VOP3P.
    #[inline(always)]
    pub fn pk16<W: Word>(&self, r: W) -> W {
        packed::clamp_f16(r, self.clamp, self.mode.dx10_clamp)
    }
    /// OMOD and CLAMP of an f64 result.
    #[inline(always)]
    pub fn f64<D: Long>(&self, r: D) -> D {
        if self.plain {
            return r;
        }
        let out = self.finish_f64(r);
        D::select(D::Mask::ones(), out, r)
    }
    #[cold]
    #[inline(never)]
    fn finish_f64<D: Long>(&self, r: D) -> D {
        let omod = self.omod(self.mode.f64);
        let r = if omod != 0 { fp::double::omod(r, omod, self.mode.f64) } else { r };
        if self.clamp { fp::double::clamp(r, self.mode.dx10_clamp) } else { r }
    }
    /// OMOD and CLAMP of an f16 result.
    #[inline(always)]
    pub fn f16<W: Word>(&self, r: W) -> W {
        if self.plain {
            return r;
        }
        let out = self.finish_f16(r);
        W::select(W::Mask::ones(), out, r)
    }
    #[cold]
    #[inline(never)]
    fn finish_f16<W: Word>(&self, r: W) -> W {
        let omod = self.omod(self.mode.f64);
        let r = if omod != 0 { half::omod(r, omod, self.mode.half()) } else { r };
        if self.clamp { half::clamp(r, self.mode.dx10_clamp) } else { r }
    }
}
