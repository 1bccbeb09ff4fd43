//! Applying meanings to registers, sixteen lanes at a time.
//!
//! [`strip`] runs consecutive vector instructions. Its fast instance, one function per back end, has the common
//! instructions inside: no call for each, and a mode the compiler knows, the one nearly all code runs in (round to
//! nearest, denormals kept, no CLAMP or OMOD). Whatever else there is goes to a handler per family; the other instance
//! of `strip` sends everything there.

use super::cross::{self, Whence};
use super::elements::{self, Place};
use super::exchange::{self, Exchange};
use super::groups::{self, Registers};
use super::images::{self, Named, Samples};
use super::matrix::{Product, Sums, Words, multiply_32, multiply_64, multiply_small};
use super::places::{Places, Request, places};
use super::quick::{PackedSpan, Span};
use super::rows::{self, Part};
use super::update::{self, Batch};
use crate::simd::{Bits, Simd, V16, lane_numbers, portable::P16};
use crate::state::Vgpr;
use crate::strip::{Base, Dpp, Extra, From, LaneOp, Source, TEMP_RESULT, TEMP_SOURCE, Task};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use wavemill_isa::Level;
use wavemill_sem::apply::{Apply, Context, L, M};
use wavemill_sem::coordinates::Coordinates;
use wavemill_sem::element::Element;
use wavemill_sem::image::Image;
use wavemill_sem::lanes::Long;
use wavemill_sem::memory::Extend;
use wavemill_sem::modify::Change;
use wavemill_sem::{FloatMode, Mode, compare, valu};

/// Registers for values on their way: modified sources, three operands of up to two registers, and results.
#[repr(C)]
pub(crate) struct Temps {
    pub src: [[Vgpr; 2]; 3],
    pub dst: [Vgpr; 2],
}

/// What a strip works on. The pointers are valid for the call, the registers and temporaries aligned to 64 bytes.
pub(crate) struct Env<'a> {
    /// By [`Base`]: the first lane of the first register of the file, the block's constants ([`crate::strip::Splat`]), the temporaries
    /// ([`Temps`]).
    pub bases: [*mut u32; 3],
    /// The 128 scalar registers.
    pub sgprs: *mut u32,
    pub extras: &'a [Extra],
    /// Values of [`From::Special`] sources.
    pub special: [u64; 3],
    pub mode: Mode,
    pub level: Level,
    /// Always 4, but the compiler does not know.
    pub chunks: usize,
}

impl Env<'_> {
    #[inline(always)]
    fn base(&self, base: Base) -> *mut u32 {
        self.bases[base as usize]
    }

    /// Two scalar registers; the last one has no successor.
    #[inline(always)]
    unsafe fn pair(&self, code: u8) -> u64 {
        // SAFETY: codes are below 128 (decoding saw to it).
        unsafe {
            let p = self.sgprs.add(code as usize);
            if code < 127 { p.cast::<u64>().read_unaligned() } else { p.read() as u64 }
        }
    }

    /// Writes two scalar registers at once, so that a later read of both finds them in one piece.
    #[inline(always)]
    unsafe fn set_pair(&self, code: u8, value: u64) {
        // SAFETY: as above.
        unsafe {
            let p = self.sgprs.add(code as usize & 127);
            if code < 127 { p.cast::<u64>().write_unaligned(value) } else { p.write(value as u32) }
        }
    }

    #[inline(always)]
    unsafe fn exec(&self) -> u64 {
        // SAFETY: registers 126 and 127.
        unsafe { self.sgprs.add(126).cast::<u64>().read_unaligned() }
    }
}

/// Applies the meaning of one op with one back end.
struct Kernel<'a, V, const FAST: bool> {
    env: &'a Env<'a>,
    op: &'a LaneOp,
    /// Active lanes.
    exec: u64,
    back_end: PhantomData<V>,
}

impl<'a, V: V16, const FAST: bool> Kernel<'a, V, FAST> {
    #[inline(always)]
    fn new(env: &'a Env, op: &'a LaneOp, exec: u64) -> Self {
        Kernel { env, op, exec, back_end: PhantomData }
    }

    /// How many times sixteen lanes there are. The fast instance's loops are unrolled; the others are not worth the code.
    #[inline(always)]
    fn chunks(&self) -> usize {
        if FAST { 4 } else { self.env.chunks }
    }

    #[inline(always)]
    fn source(&self, i: usize) -> (*const u32, Source) {
        let s = self.op.src[i];
        // SAFETY: offsets lie inside what the base points to (decoding saw to it).
        unsafe { (self.env.base(s.base).add(s.at as usize).cast_const(), s) }
    }

    #[inline(always)]
    fn w(&self, (p, s): (*const u32, Source), chunk: usize) -> V {
        // SAFETY: an aligned register or value that has these lanes.
        unsafe { V::load(p.add(s.stride as usize * chunk)) }
    }

    #[inline(always)]
    fn l(&self, (p, s): (*const u32, Source), chunk: usize) -> V::Long {
        // SAFETY: as above; 64-bit operands have a second register behind the first.
        unsafe {
            let p = p.add(s.stride as usize * chunk);
            V::Long::join(V::load(p), V::load(p.add(s.hi as usize)))
        }
    }

    #[inline(always)]
    fn q(&self, (p, s): (*const u32, Source), chunk: usize) -> [V; 4] {
        let register = |n: usize| match (s.base, n) {
            // A value that is the same in all lanes has one dword.
            (Base::Consts | Base::Temps, 1..) => V::splat(0),
            // SAFETY: as above; operands of 128 bits have three more registers behind the first.
            _ => unsafe { V::load(p.add(s.stride as usize * chunk + s.hi as usize * n)) },
        };
        [register(0), register(1), register(2), register(3)]
    }

    /// The first register of the result.
    #[inline(always)]
    fn result(&self) -> *mut u32 {
        let base = if self.op.merges { Base::Temps } else { Base::File };
        // SAFETY: a register of the file or of the temporaries.
        unsafe { self.env.base(base).add(self.op.dst as usize) }
    }

    #[inline(always)]
    fn put(&self, dst: *mut u32, r: V, register: usize, chunk: usize) {
        // SAFETY: aligned registers with room for the result.
        unsafe {
            let p = dst.add(register * 64 + chunk * 16);
            if self.exec == !0 {
                r.store(p);
            } else {
                r.store_active(Bits((self.exec >> (16 * chunk)) as u16), p);
            }
        }
    }

    #[inline(always)]
    fn put_l(&self, dst: *mut u32, r: V::Long, chunk: usize) {
        self.put(dst, r.lo(), 0, chunk);
        self.put(dst, r.hi(), 1, chunk);
    }

    /// The lane mask an instruction has made goes to its scalar registers, and with V_CMPX to EXEC.
    #[inline(always)]
    fn put_mask(&self, mask: u64) {
        let mask = mask & self.exec;
        // SAFETY: scalar registers.
        unsafe {
            if self.op.sdst != 255 {
                self.env.set_pair(self.op.sdst, mask);
            }
            if self.op.compare.exec {
                self.env.set_pair(126, mask);
            }
        }
    }
}

macro_rules! kernel {
    ($($name:ident($($arg:ident $n:tt),*) $res:ident;)*) => {
        impl<V: V16, const FAST: bool> Apply for Kernel<'_, V, FAST> {
            type W = V;
            type Out = ();
            $(
                #[inline(always)]
                fn $name(self, f: impl Fn($(kernel!(@ty $arg)),*) -> kernel!(@ty $res)) {
                    let src = ($(kernel!(@source self $arg $n),)*);
                    let dst = kernel!(@dst self $res);
                    #[allow(unused_mut)] // some have no mask
                    let mut mask = 0u64;
                    for c in 0..self.chunks() {
                        let r = f($(kernel!(@get self $arg src.$n, c)),*);
                        kernel!(@put self dst $res r, c, mask);
                    }
                    kernel!(@done self $res mask);
                }
            )*
        }
    };
    (@ty w) => { V };
    (@ty i) => { V };
    (@ty l) => { L<Self> };
    (@ty q) => { [V; 4] };
    (@ty m) => { M<Self> };
    (@ty wm) => { (V, M<Self>) };
    (@ty lm) => { (L<Self>, M<Self>) };
    (@source $k:ident w $n:tt) => { $k.source($n) };
    (@source $k:ident l $n:tt) => { $k.source($n) };
    (@source $k:ident q $n:tt) => { $k.source($n) };
    // SAFETY: a scalar register's code.
    (@source $k:ident m $n:tt) => { unsafe { $k.env.pair($k.op.carry) } };
    (@source $k:ident i $n:tt) => { () };
    (@get $k:ident w $s:expr, $c:ident) => { $k.w($s, $c) };
    (@get $k:ident l $s:expr, $c:ident) => { $k.l($s, $c) };
    (@get $k:ident q $s:expr, $c:ident) => { $k.q($s, $c) };
    (@get $k:ident m $s:expr, $c:ident) => { Bits(($s >> (16 * $c)) as u16) };
    (@get $k:ident i $s:expr, $c:ident) => { lane_numbers::<V>($c) };
    (@dst $k:ident m) => { () };
    (@dst $k:ident $res:ident) => { $k.result() };
    (@put $k:ident $d:ident w $r:ident, $c:ident, $m:ident) => { $k.put($d, $r, 0, $c) };
    (@put $k:ident $d:ident l $r:ident, $c:ident, $m:ident) => { $k.put_l($d, $r, $c) };
    (@put $k:ident $d:ident q $r:ident, $c:ident, $m:ident) => {
        $r.into_iter().enumerate().for_each(|(n, r)| $k.put($d, r, n, $c))
    };
    (@put $k:ident $d:ident m $r:ident, $c:ident, $m:ident) => {{
        let () = $d;
        $m |= ($r.0 as u64) << (16 * $c)
    }};
    (@put $k:ident $d:ident wm $r:ident, $c:ident, $m:ident) => {{
        $k.put($d, $r.0, 0, $c);
        $m |= ($r.1.0 as u64) << (16 * $c)
    }};
    (@put $k:ident $d:ident lm $r:ident, $c:ident, $m:ident) => {{
        $k.put_l($d, $r.0, $c);
        $m |= ($r.1.0 as u64) << (16 * $c)
    }};
    (@done $k:ident w $m:ident) => { let _ = $m; };
    (@done $k:ident l $m:ident) => { let _ = $m; };
    (@done $k:ident q $m:ident) => { let _ = $m; };
    (@done $k:ident $res:ident $m:ident) => { $k.put_mask($m) };
}
wavemill_sem::for_each_shape!(kernel);

/// Runs a op; the mask has the active lanes.
type Handler = unsafe fn(&LaneOp, &Env, u64);

/// What a back end has for what is not common, and around instructions.
struct Handlers {
    /// By [`Task`].
    tasks: [Handler; 10],
    /// [`prepare`].
    before: unsafe fn(&Env, &Extra, u64) -> u64,
    /// [`finish`].
    after: unsafe fn(&Env, &Extra, u64),
}

/// Runs ops until one that is not for this instance, and returns how many ran.
///
/// # Safety
/// See [`Kernels::fast`].
#[inline(always)]
unsafe fn strip<V: V16, const FAST: bool>(ops: &[LaneOp], env: &Env, handlers: &Handlers) -> usize {
    let x = usual(env.mode.ieee, env.level);
    for (n, op) in ops.iter().enumerate() {
        let task = if FAST { op.fast } else { op.task };
        // Sources that only the interpreter knows are made for one op at a time, the first.
        if task == Task::Leave || op.special && n > 0 {
            return n;
        }
        // SAFETY: the caller's promise about `env`; the handlers are of this back end.
        let mut exec = unsafe { env.exec() };
        if op.scalars != 0 {
            // SAFETY: as above.
            unsafe { splat_scalars::<V>(op, env) };
        }
        let extra = if op.extra == 0 { None } else { env.extras.get(op.extra as usize - 1) };
        if let Some(extra) = extra {
            // SAFETY: as above.
            exec = unsafe { (handlers.before)(env, extra, exec) };
        }
        match task {
            Task::Common if FAST => {
                let k = Kernel::<V, true>::new(env, op, exec);
                let _ = valu::common(op.op, k, &x);
            }
            Task::CompareCommon if FAST => {
                let k = Kernel::<V, true>::new(env, op, exec);
                let _ = compare::common(op.compare, k, &x);
            }
            // SAFETY: as above.
            _ => unsafe { (handlers.tasks[task as usize])(op, env, exec) },
        }
        if let Some(extra) = extra
            && op.merges
        {
            // SAFETY: as above.
            unsafe { (handlers.after)(env, extra, exec) };
        }
    }
    ops.len()
}

/// Puts scalar registers into the temporaries of their sources.
#[inline(always)]
unsafe fn splat_scalars<V: V16>(op: &LaneOp, env: &Env) {
    for (i, s) in op.src.iter().enumerate().filter(|(i, _)| op.scalars >> i & 1 != 0) {
        // SAFETY: scalar codes are below 128; `pair` looks no further.
        unsafe {
            let (p, value) = (env.base(Base::Temps).add(s.at as usize), env.pair(s.code));
            V::splat(value as u32).store(p);
            if op.scalars >> (i + 4) & 1 != 0 {
                V::splat((value >> 32) as u32).store(p.add(16));
            }
        }
    }
}

/// What the fast instance knows about modes and modifiers. Common instructions that do not clamp look at nothing else.
#[inline(always)]
fn usual(ieee: bool, level: Level) -> Context {
    let (f32, f64) = (FloatMode::IEEE, FloatMode::IEEE);
    Context::new(Mode { f32, f64, ieee, dx10_clamp: true, fp16_ovfl: false }, false, 0, level)
}

/// Makes the sources that are not simply registers or constants. Returns the lanes that are active, which DPP narrows.
#[inline(always)]
unsafe fn prepare<V: V16>(env: &Env, extra: &Extra, exec: u64) -> u64 {
    let mut active = exec;
    for (i, p) in extra.prepare.iter().enumerate() {
        let Some(p) = p else { continue };
        // SAFETY: the temporary of source `i`; scalar codes are below 128; other sources are as for kernels.
        unsafe {
            let out = env.base(Base::Temps).add(TEMP_SOURCE as usize * i);
            let (source, hi, chunks) = match p.from {
                From::Sgpr(code) => {
                    let value = env.pair(code);
                    let (lo, hi) =
                        p.change.apply(V::splat(value as u32), V::splat((value >> 32) as u32), &env.mode);
                    lo.store(out);
                    hi.store(out.add(16));
                    continue;
                }
                From::Special(_) => {
                    let value = env.special[i];
                    let (lo, hi) =
                        p.change.apply(V::splat(value as u32), V::splat((value >> 32) as u32), &env.mode);
                    lo.store(out);
                    hi.store(out.add(16));
                    continue;
                }
                From::Source(s) => {
                    let chunks = if s.stride == 0 { 1 } else { 4 };
                    (env.base(s.base).add(s.at as usize).cast_const(), s.hi as usize, chunks)
                }
            };
            let source = match (&extra.dpp, i) {
                (Some(dpp), 0) => {
                    active = move_lanes::<V>(dpp, source, out, 1 + p.long as usize, exec);
                    if p.change == Change::None {
                        continue;
                    }
                    out.cast_const()
                }
                _ => source,
            };
            for c in 0..chunks {
                let lo = V::load(source.add(16 * c));
                let high = if p.long { V::load(source.add(16 * c + hi)) } else { lo };
                let (lo, high) = p.change.apply(lo, high, &env.mode);
                lo.store(out.add(16 * c));
                if p.long {
                    high.store(out.add(16 * c + hi));
                }
            }
        }
    }
    active
}

/// DPP: moves lanes, and returns the active ones: those without a source are off unless bound control gives zero.
#[inline(always)]
unsafe fn move_lanes<V: V16>(dpp: &Dpp, from: *const u32, to: *mut u32, registers: usize, exec: u64) -> u64 {
    let mut has = 0u64;
    let (low, high) = (V::splat(exec as u32), V::splat((exec >> 32) as u32));
    for (c, from_lanes) in dpp.from.as_chunks::<16>().0.iter().enumerate() {
        let at = V::from_bytes(*from_lanes);
        let mut there = Bits((dpp.exists >> (16 * c)) as u16);
        if exec != !0 {
            // An inactive source lane counts as out of bounds.
            let active = V::select(at.lt_u(V::splat(32)), low, high).shr(at) & V::splat(1);
            there = there & active.eq(V::splat(1));
        }
        has |= (there.0 as u64) << (16 * c);
        for r in 0..registers {
            // SAFETY: lanes of the caller's registers, which are aligned.
            unsafe {
                let moved = V::select(there, at.pick(from.add(64 * r)), V::splat(0));
                moved.store(to.add(64 * r + 16 * c));
            }
        }
    }
    exec & dpp.enabled & if dpp.bound { !0 } else { has }
}

/// Takes a partial result over into its register.
#[inline(always)]
unsafe fn finish<V: V16>(env: &Env, extra: &Extra, exec: u64) {
    let Some((merge, dst)) = extra.merge else { return };
    for c in 0..4 {
        // SAFETY: aligned registers of the temporaries and the file.
        unsafe {
            let r = V::load(env.base(Base::Temps).add(TEMP_RESULT as usize + 16 * c));
            let p = env.base(Base::File).add(dst as usize + 16 * c);
            merge.apply(r, V::load(p)).store_active(Bits((exec >> (16 * c)) as u16), p);
        }
    }
}

/// Where active lanes' offsets lie: `low` halves, and `high` ones unless null. None if the high ones differ. At least one
/// lane is active.
#[inline(always)]
unsafe fn span<V: V16>(low: *const u32, high: *const u32, exec: u64, step: u8) -> Option<Span> {
    let first = exec.trailing_zeros() as usize & 63;
    // SAFETY: the caller's registers.
    unsafe {
        let (l, h) = (low.add(first).read(), if high.is_null() { 0 } else { high.add(first).read() });
        let (lows, highs) = (V::splat(l), V::splat(h));
        let end = l.checked_add(63 * step as u32);
        if let (u64::MAX, Some(greatest)) = (exec, end) {
            // Differences gather in a vector: masks that depend on each other take several times as long.
            let mut differ = V::splat(0);
            for c in 0..4 {
                let expected = lows + lane_numbers::<V>(c) * V::splat(step as u32);
                differ = differ | (V::load(low.add(16 * c)) ^ expected);
                if !high.is_null() {
                    differ = differ | (V::load(high.add(16 * c)) ^ highs);
                }
            }
            if differ.eq(V::splat(0)).0 == !0 {
                return Some(Span { high: h, least: l, greatest, consecutive: true });
            }
        }
        let (mut least, mut greatest, mut same) = (lows, lows, Bits(!0));
        for c in 0..4 {
            let active = Bits((exec >> (16 * c)) as u16);
            let v = V::select(active, V::load(low.add(16 * c)), lows);
            (least, greatest) = (least.min_u(v), greatest.max_u(v));
            if !high.is_null() {
                same = same & (V::load(high.add(16 * c)).eq(highs) | !active);
            }
        }
        let least = least.to_array().into_iter().fold(l, u32::min);
        let greatest = greatest.to_array().into_iter().fold(l, u32::max);
        (same.0 == !0).then_some(Span { high: h, least, greatest, consecutive: false })
    }
}

/// A back end's kernels.
pub(crate) struct Kernels {
    fast: unsafe fn(&[LaneOp], &Env) -> usize,
    any: unsafe fn(&[LaneOp], &Env) -> usize,
    span: unsafe fn(*const u32, *const u32, u64, u8) -> PackedSpan,
    places: unsafe fn(&Request, &mut MaybeUninit<Places>) -> bool,
    /// Numbers side by side in memory to registers ([`groups::load`]).
    pub load: unsafe fn(*const u8, &Registers, u8, Extend),
    /// The way back ([`groups::store`]).
    pub store: unsafe fn(*mut u8, &Registers, u8, bool),
    /// Atomic operations on numbers side by side ([`update::update`]).
    pub update: unsafe fn(&Batch<'_>),
    /// Two numbers of each lane side by side exchanged ([`exchange::exchange`]).
    pub exchange: unsafe fn(&Exchange),
    /// Data of other lanes ([`cross::pull`]).
    pub pull: unsafe fn(Whence, *const u32, *mut u32, u64),
    /// Data to other lanes ([`cross::push`]).
    pub push: unsafe fn(*const u32, u32, *const u32, *mut u32, u64),
    /// Elements of buffers to registers ([`elements::decode`]).
    pub decode: unsafe fn(&Element, Option<Place>, *mut u32, u64),
    /// The way back ([`elements::encode`]).
    pub encode: unsafe fn(&Element, *mut u32, Place),
    /// Where an image's texels are ([`images::locate`]).
    pub locate: unsafe fn(&Named<'_>, &mut MaybeUninit<Vgpr>) -> Option<u64>,
    /// Sizes of an image ([`images::sizes`]).
    pub sizes: unsafe fn(&Image, Coordinates, *const u32, &mut MaybeUninit<elements::Words>),
    /// Samples of an image ([`images::sample`]).
    pub sample: unsafe fn(&Samples<'_>, &mut MaybeUninit<elements::Words>) -> bool,
    /// One number to all active lanes ([`groups::spread`]).
    pub spread: unsafe fn(*const u8, &Registers, u8, Extend, u64),
    /// Parts of dwords side by side to a register ([`rows::load_part`]).
    pub load_part: unsafe fn(*const u8, *mut u32, Part, Extend, u64),
    /// The way back ([`rows::store_part`]).
    pub store_part: unsafe fn(*mut u8, *const u32, Part, bool),
    /// Multiplies and adds matrices ([`multiply_32`]).
    pub mfma_32: unsafe fn(&Words, &Product, &Sums),
    pub mfma_small: unsafe fn(&Words, &Product, &Sums),
    pub mfma_64: unsafe fn(&Words, bool, &Sums),
}

impl Kernels {
    /// Runs ops until one whose `fast` task is `Leave`; returns how many ran. MODE must round to nearest and keep
    /// denormals.
    ///
    /// # Safety
    /// The pointers of `env` must be valid, and `ops` made for its file, constants and extras.
    #[inline]
    pub unsafe fn fast(&self, ops: &[LaneOp], env: &Env) -> usize {
        // SAFETY: the table was chosen for features the host has (`kernels`); the caller's promise.
        unsafe { (self.fast)(ops, env) }
    }

    /// Runs ops until one whose task is `Leave`, in any mode; returns how many ran.
    ///
    /// # Safety
    /// As for [`Self::fast`].
    #[inline]
    pub unsafe fn any(&self, ops: &[LaneOp], env: &Env) -> usize {
        // SAFETY: as above.
        unsafe { (self.any)(ops, env) }
    }

    /// Where active lanes' offsets lie.
    ///
    /// # Safety
    /// `low`, and `high` if not null, must point to aligned registers; a lane must be active.
    #[inline]
    pub unsafe fn span(&self, low: *const u32, high: *const u32, exec: u64, step: u8) -> Option<Span> {
        // SAFETY: as above.
        unsafe { (self.span)(low, high, exec, step) }.span()
    }

    /// Where the lanes of a buffer or scratch instruction go; false where it is not that simple.
    ///
    /// # Safety
    /// The request's registers must be readable.
    #[inline]
    pub unsafe fn places(&self, request: &Request, out: &mut MaybeUninit<Places>) -> bool {
        // SAFETY: as above.
        unsafe { (self.places)(request, out) }
    }
}

/// The kernels of a back end; `$features` puts what the host must have before each function.
macro_rules! backend {
    ($table:ident, $v:ty, $module:ident, $fast:ident, $features:ident) => {
        mod $module {
            use super::*;
            macro_rules! handler {
                ($name:ident, $meaning:path, $what:ident) => {
                    $features! {
                        unsafe fn $name(op: &LaneOp, env: &Env, exec: u64) {
                            let x = Context::new(env.mode, op.clamp, op.omod, env.level);
                            let _ = $meaning(op.$what, Kernel::<$v, false>::new(env, op, exec), &x);
                        }
                    }
                };
            }
            handler!(common, valu::common, op);
            handler!(compare_common, compare::common, compare);
            handler!(vop1, valu::vop1, op);
            handler!(vop2_int, valu::vop2_int, op);
            handler!(vop2_float, valu::vop2_float, op);
            handler!(vop3_int, valu::vop3_int, op);
            handler!(vop3_float, valu::vop3_float, op);
            handler!(vop3p, valu::vop3p, op);
            handler!(compare_other, compare::compare, compare);
            static HANDLERS: Handlers = Handlers {
                tasks: [
                    nothing,
                    common,
                    compare_common,
                    vop1,
                    vop2_int,
                    vop2_float,
                    vop3_int,
                    vop3_float,
                    vop3p,
                    compare_other,
                ],
                before,
                after,
            };
            pub unsafe fn any(ops: &[LaneOp], env: &Env) -> usize {
                // SAFETY: the caller's promise.
                unsafe { strip::<$v, false>(ops, env, &HANDLERS) }
            }
            $features! {
                #[allow(dead_code)]
                pub unsafe fn fast(ops: &[LaneOp], env: &Env) -> usize {
                    // SAFETY: the caller's promise.
                    unsafe { strip::<$v, true>(ops, env, &HANDLERS) }
                }
                unsafe fn before(env: &Env, extra: &Extra, exec: u64) -> u64 {
                    // SAFETY: the caller's promise.
                    unsafe { prepare::<$v>(env, extra, exec) }
                }
                unsafe fn after(env: &Env, extra: &Extra, exec: u64) {
                    // SAFETY: the caller's promise.
                    unsafe { finish::<$v>(env, extra, exec) }
                }
                pub unsafe fn range(low: *const u32, high: *const u32, exec: u64, step: u8) -> PackedSpan {
                    // SAFETY: the caller's promise.
                    PackedSpan::of(unsafe { span::<$v>(low, high, exec, step) })
                }
                pub unsafe fn lanes(request: &Request, out: &mut MaybeUninit<Places>) -> bool {
                    // SAFETY: the caller's promise.
                    unsafe { places::<$v>(request, out) }
                }
                pub unsafe fn load(p: *const u8, to: &Registers, bytes: u8, extend: Extend) {
                    // SAFETY: the caller's promise.
                    unsafe { groups::load::<$v>(p, to, bytes, extend) }
                }
                pub unsafe fn store(p: *mut u8, from: &Registers, bytes: u8, high: bool) {
                    // SAFETY: the caller's promise.
                    unsafe { groups::store::<$v>(p, from, bytes, high) }
                }
                pub unsafe fn together(batch: &Batch<'_>) {
                    // SAFETY: the caller's promise.
                    unsafe { update::update::<$v>(batch) }
                }
                pub unsafe fn swap(all: &Exchange) {
                    // SAFETY: the caller's promise.
                    unsafe { exchange::exchange::<$v>(all) }
                }
                pub unsafe fn pull(from: Whence, data: *const u32, to: *mut u32, exec: u64) {
                    // SAFETY: the caller's promise.
                    unsafe { cross::pull::<$v>(from, data, to, exec) }
                }
                pub unsafe fn push(addresses: *const u32, offset: u32, data: *const u32, to: *mut u32, exec: u64) {
                    // SAFETY: the caller's promise.
                    unsafe { cross::push::<$v>(addresses, offset, data, to, exec) }
                }
                pub unsafe fn decode(element: &Element, from: Option<Place>, to: *mut u32, exec: u64) {
                    // SAFETY: the caller's promise.
                    unsafe { elements::decode::<$v>(element, from, to, exec) }
                }
                pub unsafe fn encode(element: &Element, from: *mut u32, to: Place) {
                    // SAFETY: the caller's promise.
                    unsafe { elements::encode::<$v>(element, from, to) }
                }
                pub unsafe fn locate(named: &Named<'_>, out: &mut MaybeUninit<Vgpr>) -> Option<u64> {
                    // SAFETY: the caller's promise.
                    unsafe { images::locate::<$v>(named, out) }
                }
                pub unsafe fn sizes(
                    image: &Image,
                    coordinates: Coordinates,
                    registers: *const u32,
                    out: &mut MaybeUninit<elements::Words>,
                ) {
                    // SAFETY: the caller's promise.
                    unsafe { images::sizes::<$v>(image, coordinates, registers, out) }
                }
                pub unsafe fn sample(samples: &Samples<'_>, out: &mut MaybeUninit<elements::Words>) -> bool {
                    // SAFETY: the caller's promise.
                    unsafe { images::sample::<$v>(samples, out) }
                }
                pub unsafe fn spread(p: *const u8, to: &Registers, bytes: u8, extend: Extend, exec: u64) {
                    // SAFETY: the caller's promise.
                    unsafe { groups::spread::<$v>(p, to, bytes, extend, exec) }
                }
                pub unsafe fn load_part(row: *const u8, to: *mut u32, part: Part, extend: Extend, exec: u64) {
                    // SAFETY: the caller's promise.
                    unsafe { rows::load_part::<$v>(row, to, part, extend, exec) }
                }
                pub unsafe fn store_part(row: *mut u8, from: *const u32, part: Part, high: bool) {
                    // SAFETY: the caller's promise.
                    unsafe { rows::store_part::<$v>(row, from, part, high) }
                }
                pub unsafe fn mfma_32(words: &Words, product: &Product, sums: &Sums) {
                    // SAFETY: the caller's promise.
                    unsafe { multiply_32::<$v>(words, product, sums) }
                }
                pub unsafe fn mfma_small(words: &Words, product: &Product, sums: &Sums) {
                    // SAFETY: the caller's promise.
                    unsafe { multiply_small::<$v>(words, product, sums) }
                }
                pub unsafe fn mfma_64(words: &Words, small: bool, sums: &Sums) {
                    // SAFETY: the caller's promise.
                    unsafe { multiply_64::<$v>(words, small, sums) }
                }
            }
        }
        static $table: Kernels = Kernels {
            fast: $module::$fast,
            any: $module::any,
            span: $module::range,
            places: $module::lanes,
            load: $module::load,
            store: $module::store,
            update: $module::together,
            exchange: $module::swap,
            pull: $module::pull,
            push: $module::push,
            decode: $module::decode,
            encode: $module::encode,
            locate: $module::locate,
            sizes: $module::sizes,
            sample: $module::sample,
            spread: $module::spread,
            load_part: $module::load_part,
            store_part: $module::store_part,
            mfma_32: $module::mfma_32,
            mfma_small: $module::mfma_small,
            mfma_64: $module::mfma_64,
        };
    };
}
/// For [`Task::Leave`], which never comes so far.
unsafe fn nothing(_: &LaneOp, _: &Env, _: u64) {}
/// Functions any host can run.
macro_rules! any_host {
    ($($item:item)*) => { $($item)* };
}
#[cfg(target_arch = "x86_64")]
use crate::simd::{
    avx2::{Y16, avx2},
    avx512::{Z16, avx512},
};
#[cfg(target_arch = "x86_64")]
backend!(AVX512, Z16, with_avx512, fast, avx512);
#[cfg(target_arch = "x86_64")]
backend!(AVX2, Y16, with_avx2, fast, avx2);
#[cfg(target_arch = "aarch64")]
use crate::simd::neon::N16;
#[cfg(target_arch = "aarch64")]
backend!(NEON, N16, with_neon, fast, any_host);
// Arrays gain nothing from a fast instance, and it is long.
backend!(PORTABLE, P16, portable, any, any_host);

/// The kernels of a back end.
pub(crate) fn kernels(simd: Simd) -> &'static Kernels {
    match simd {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => &AVX512,
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => &AVX2,
        #[cfg(target_arch = "aarch64")]
        Simd::Neon => &NEON,
        _ => &PORTABLE,
    }
}
