//! Applying a meaning to registers, sixteen lanes at a time.

use crate::simd::{Bits, Simd, V16, portable::P16};
use std::marker::PhantomData;
use wavemill_isa::Op;
use wavemill_sem::apply::{Apply, Context, L, M};
use wavemill_sem::compare::{Compare, compare};
use wavemill_sem::fidelity::Family;
use wavemill_sem::lanes::Long;
use wavemill_sem::valu;

/// A source: registers, or one value for all lanes.
#[derive(Clone, Copy)]
pub(crate) struct Operand {
    /// First chunk of the first register.
    pub ptr: *const u32,
    /// Dwords from chunk to chunk: 16 for registers, 0 for a value.
    pub stride: u32,
    /// Dwords from the first register to the second: 64 for registers, 16 for a value.
    pub hi: u32,
}

/// What a kernel works on. Pointers lead to 64-byte aligned registers that stay valid for the call.
pub(crate) struct Frame {
    pub src: [Operand; 3],
    /// First destination register; the second follows 64 dwords on. Kernels write all lanes: when not all are active,
    /// this is a temporary, and [`Kernels::blend`] takes the active ones over.
    pub dst: *mut u32,
    /// Active lanes, for the caller.
    pub exec: u64,
    /// Carry-in or select mask.
    pub carry: u64,
    /// The lane mask a kernel produces, for all lanes.
    pub mask: u64,
}

impl Frame {
    pub fn new() -> Frame {
        let none = Operand { ptr: std::ptr::null(), stride: 0, hi: 0 };
        Frame { src: [none; 3], dst: std::ptr::null_mut(), exec: 0, carry: 0, mask: 0 }
    }

    #[inline(always)]
    fn w<V: V16>(&self, i: usize, chunk: usize) -> V {
        let s = self.src[i];
        // SAFETY: the operand was made from an aligned register or splat buffer that has this chunk.
        unsafe { V::load(s.ptr.add(s.stride as usize * chunk)) }
    }

    #[inline(always)]
    fn l<V: V16>(&self, i: usize, chunk: usize) -> V::Long {
        let s = self.src[i];
        // SAFETY: as above; 64-bit operands have a second register behind the first.
        unsafe {
            let p = s.ptr.add(s.stride as usize * chunk);
            V::Long::join(V::load(p), V::load(p.add(s.hi as usize)))
        }
    }

    #[inline(always)]
    fn put<V: V16>(&mut self, r: V, register: usize, chunk: usize) {
        // SAFETY: the destination is an aligned register of the file or a temporary with room for the result.
        unsafe { r.store(self.dst.add(register * 64 + chunk * 16)) }
    }

    #[inline(always)]
    fn put_l<V: V16>(&mut self, r: V::Long, chunk: usize) {
        self.put(r.lo(), 0, chunk);
        self.put(r.hi(), 1, chunk);
    }

    #[inline(always)]
    fn put_m(&mut self, m: Bits, chunk: usize) {
        self.mask |= (m.0 as u64) << (16 * chunk);
    }

    #[inline(always)]
    fn carry(&self, chunk: usize) -> Bits {
        Bits((self.carry >> (16 * chunk)) as u16)
    }
}

/// Applies meanings to a frame with one back end.
struct Kernel<'a, V>(&'a mut Frame, PhantomData<V>);

macro_rules! kernel {
    ($($name:ident($($arg:ident $n:expr),*) $res:ident;)*) => {
        impl<V: V16> Apply for Kernel<'_, V> {
            type W = V;
            type Out = ();
            $(
                #[inline(always)]
                fn $name(self, f: impl Fn($(kernel!(@ty $arg)),*) -> kernel!(@ty $res)) {
                    let fr = self.0;
                    for c in 0..4 {
                        let r = f($(kernel!(@get fr $arg $n, c)),*);
                        kernel!(@put fr $res r, c);
                    }
                }
            )*
        }
    };
    (@ty w) => { V };
    (@ty i) => { V };
    (@ty l) => { L<Self> };
    (@ty m) => { M<Self> };
    (@ty wm) => { (V, M<Self>) };
    (@ty lm) => { (L<Self>, M<Self>) };
    (@get $f:ident w $n:expr, $c:ident) => { $f.w::<V>($n, $c) };
    (@get $f:ident l $n:expr, $c:ident) => { $f.l::<V>($n, $c) };
    (@get $f:ident m $n:expr, $c:ident) => { $f.carry($c) };
    (@get $f:ident i $n:expr, $c:ident) => { lane_numbers::<V>($c) };
    (@put $f:ident w $r:ident, $c:ident) => { $f.put($r, 0, $c) };
    (@put $f:ident l $r:ident, $c:ident) => { $f.put_l::<V>($r, $c) };
    (@put $f:ident m $r:ident, $c:ident) => { $f.put_m($r, $c) };
    (@put $f:ident wm $r:ident, $c:ident) => {{ $f.put($r.0, 0, $c); $f.put_m($r.1, $c) }};
    (@put $f:ident lm $r:ident, $c:ident) => {{ $f.put_l::<V>($r.0, $c); $f.put_m($r.1, $c) }};
}
kernel! {
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
    wwl_lm(w 0, w 1, l 2) lm;
    ll_m(l 0, l 1) m;
    lw_m(l 0, w 1) m;
}

/// The numbers of a chunk's lanes.
#[inline(always)]
fn lane_numbers<V: V16>(chunk: usize) -> V {
    V::from_array(std::array::from_fn(|i| (chunk * 16 + i) as u32))
}

/// A row of A, rows of B, sixteen columns of C and D.
pub(crate) type MfmaF32 = unsafe fn(&[u32], &[[u32; 16]], &mut [u32; 16], wavemill_sem::FloatMode);

/// A back end's kernels.
pub(crate) struct Kernels {
    vop1: unsafe fn(Op, &mut Frame, &Context),
    vop2_int: unsafe fn(Op, &mut Frame, &Context),
    vop2_float: unsafe fn(Op, &mut Frame, &Context),
    vop3_int: unsafe fn(Op, &mut Frame, &Context),
    vop3_float: unsafe fn(Op, &mut Frame, &Context),
    vop3p: unsafe fn(Op, &mut Frame, &Context),
    compare: unsafe fn(Compare, &mut Frame, &Context),
    blend: unsafe fn(*mut u32, *const u32, u64, usize),
    /// a[i] · b[0..16] + c[0..16] in f32, sixteen columns of a matrix at a time.
    pub mfma_f32: MfmaF32,
}

impl Kernels {
    /// Runs a vector instruction on a frame.
    #[inline]
    pub fn valu(&self, family: Family, op: Op, frame: &mut Frame, x: &Context) {
        let kernel = match family {
            Family::Vop1 => self.vop1,
            Family::Vop2Int => self.vop2_int,
            Family::Vop2Float => self.vop2_float,
            Family::Vop3Int => self.vop3_int,
            Family::Vop3Float => self.vop3_float,
            Family::Vop3p => self.vop3p,
        };
        // SAFETY: the table was chosen for features the host has (`kernels`), the frame's pointers are valid.
        unsafe { kernel(op, frame, x) }
    }

    /// Takes the active lanes of `registers` results in `src` over into `dst`.
    ///
    /// # Safety
    /// Both must be as many aligned registers.
    #[inline]
    pub unsafe fn blend(&self, dst: *mut u32, src: *const u32, exec: u64, registers: usize) {
        // SAFETY: the table was chosen for features the host has; the caller's promise.
        unsafe { (self.blend)(dst, src, exec, registers) }
    }

    /// Runs a comparison on a frame.
    #[inline]
    pub fn compare(&self, c: Compare, frame: &mut Frame, x: &Context) {
        // SAFETY: as above.
        unsafe { (self.compare)(c, frame, x) }
    }
}

/// Takes the active lanes of registers over.
#[inline(always)]
unsafe fn blend<V: V16>(dst: *mut u32, src: *const u32, exec: u64, registers: usize) {
    for i in 0..4 * registers {
        let active = Bits((exec >> (16 * (i % 4))) as u16);
        // SAFETY: the caller's registers.
        unsafe {
            let p = dst.add(16 * i);
            V::select(active, V::load(src.add(16 * i)), V::load(p)).store(p);
        }
    }
}

/// Steps of a dot product for sixteen columns.
#[inline(always)]
fn mfma_f32<V: V16>(a: &[u32], b: &[[u32; 16]], c: &mut [u32; 16], m: wavemill_sem::FloatMode) {
    let mut sum = V::from_array(*c);
    for (a, b) in a.iter().zip(b) {
        sum = wavemill_sem::mfma::step_f32(V::splat(*a), V::from_array(*b), sum, m);
    }
    *c = sum.to_array();
}

macro_rules! backend {
    ($table:ident, $v:ty, $module:ident, $(#[$attr:meta])*) => {
        mod $module {
            use super::*;
            macro_rules! instance {
                ($name:ident) => {
                    $(#[$attr])*
                    pub unsafe fn $name(op: Op, frame: &mut Frame, x: &Context) {
                        let _ = valu::$name(op, Kernel::<$v>(frame, PhantomData), x);
                    }
                };
            }
            instance!(vop1);
            instance!(vop2_int);
            instance!(vop2_float);
            instance!(vop3_int);
            instance!(vop3_float);
            instance!(vop3p);
            $(#[$attr])*
            pub unsafe fn cmp(c: Compare, frame: &mut Frame, x: &Context) {
                compare(c, Kernel::<$v>(frame, PhantomData), x)
            }
            $(#[$attr])*
            pub unsafe fn merge(dst: *mut u32, src: *const u32, exec: u64, registers: usize) {
                // SAFETY: the caller's registers.
                unsafe { blend::<$v>(dst, src, exec, registers) }
            }
            $(#[$attr])*
            pub unsafe fn mfma(a: &[u32], b: &[[u32; 16]], c: &mut [u32; 16], m: wavemill_sem::FloatMode) {
                mfma_f32::<$v>(a, b, c, m)
            }
        }
        static $table: Kernels = Kernels {
            vop1: $module::vop1,
            vop2_int: $module::vop2_int,
            vop2_float: $module::vop2_float,
            vop3_int: $module::vop3_int,
            vop3_float: $module::vop3_float,
            vop3p: $module::vop3p,
            compare: $module::cmp,
            blend: $module::merge,
            mfma_f32: $module::mfma,
        };
    };
}
#[cfg(target_arch = "x86_64")]
use crate::simd::{avx2::Y16, avx512::Z16};
#[cfg(target_arch = "x86_64")]
backend!(AVX512, Z16, with_avx512, #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]);
#[cfg(target_arch = "x86_64")]
backend!(AVX2, Y16, with_avx2, #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]);
backend!(PORTABLE, P16, portable,);

/// The kernels of a back end.
pub(crate) fn kernels(simd: Simd) -> &'static Kernels {
    match simd {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => &AVX512,
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => &AVX2,
        _ => &PORTABLE,
    }
}
