//! How an engine applies a meaning to an instruction's operands.
//!
//! [`crate::valu`] matches on the instruction and hands the meaning, a function of lanes, to an [`Apply`]. What operands
//! are, where results go and which lanes are active is the engine's business: the interpreter loops over chunks of
//! lanes, a JIT calls the function once with handles into its IR.

use crate::lanes::Word;
use crate::mode::{FloatMode, Mode};
use crate::{fp, lanes::Long};
use crate::{half, packed};
use wavemill_isa::Level;

/// 64-bit lanes of an engine.
pub type L<K> = <<K as Apply>::W as Word>::Long;
/// Lane masks of an engine.
pub type M<K> = <<K as Apply>::W as Word>::Mask;

/// Hands the shapes of meanings to a macro: operands (`w` 32 bits, `l` 64 bits, `q` four times 32 bits, `m` lane mask, `i` the
/// lane's number) with their places, then the result. The mask is VCC or the carry operand.
#[macro_export]
macro_rules! for_each_shape {
    ($each:ident) => {
        $each! {
            w_w(w 0) w;
            ww_w(w 0, w 1) w;
            www_w(w 0, w 1, w 2) w;
            wwi_w(w 0, w 1, i 2) w;
            wwm_w(w 0, w 1, m 2) w;
            wwwm_w(w 0, w 1, w 2, m 3) w;
            ww_wm(w 0, w 1) wm;
            wwm_wm(w 0, w 1, m 2) wm;
            www_wm(w 0, w 1, w 2) wm;
            ww_m(w 0, w 1) m;
            l_w(l 0) w;
            w_l(w 0) l;
            l_l(l 0) l;
            ll_l(l 0, l 1) l;
            lll_l(l 0, l 1, l 2) l;
            lllm_l(l 0, l 1, l 2, m 3) l;
            lll_lm(l 0, l 1, l 2) lm;
            wl_l(w 0, l 1) l;
            lw_l(l 0, w 1) l;
            lwl_l(l 0, w 1, l 2) l;
            lwq_q(l 0, w 1, q 2) q;
            wwl_lm(w 0, w 1, l 2) lm;
            ll_m(l 0, l 1) m;
            lw_m(l 0, w 1) m;
        }
    };
}

macro_rules! shapes {
    ($($name:ident($($arg:ident $n:tt),*) $res:ident;)*) => {
        /// Takes a meaning by its shape ([`for_each_shape!`](crate::for_each_shape)). Operands come in the order src0, src1,
        /// src2.
        #[allow(missing_docs)] // the names say it
        pub trait Apply: Sized {
            type W: Word;
            type Out;
            $(fn $name(self, f: impl Fn($(shapes!(@ty $arg)),*) -> shapes!(@ty $res)) -> Self::Out;)*
        }
    };
    (@ty w) => { Self::W };
    (@ty i) => { Self::W };
    (@ty l) => { L<Self> };
    (@ty q) => { [Self::W; 4] };
    (@ty m) => { M<Self> };
    (@ty wm) => { (Self::W, M<Self>) };
    (@ty lm) => { (L<Self>, M<Self>) };
}
for_each_shape!(shapes);

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
    /// OMOD and CLAMP of an f32 result.
    #[inline(always)]
    pub fn f32<W: Word>(&self, r: W) -> W {
        if self.plain {
            return r;
        }
        let x = *self;
        W::apart(move || x.finish_f32(r))
    }
    #[inline(always)]
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
        let x = *self;
        D::apart(move || x.finish_f64(r))
    }
    #[inline(always)]
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
        let x = *self;
        W::apart(move || x.finish_f16(r))
    }
    #[inline(always)]
    fn finish_f16<W: Word>(&self, r: W) -> W {
        let omod = self.omod(self.mode.f64);
        let r = if omod != 0 { half::omod(r, omod, self.mode.half()) } else { r };
        if self.clamp { half::clamp(r, self.mode.dx10_clamp) } else { r }
    }
}
