//! Every operation of every back end that this host can run, against its definition.

use super::lanes::{Host, HostLong, Lanes, Wide};
use super::portable::Array32;
use super::{Bits, Simd};
use wavemill_sem::expand;
use wavemill_sem::lanes::{Long, Word};
use wavemill_sem::operations::{long, word};
use wavemill_sem::soft::Round;
use wavemill_testing::Random;

const ROUNDS: [Round; 4] = [Round::Nearest, Round::Up, Round::Down, Round::Zero];

/// A float of 16, 32 or 64 bits that is often a corner case; upper bits are noise.
fn float(r: &mut Random, fraction: u32, exponent: u32) -> u64 {
    let top = (1u64 << exponent) - 1;
    let bias = top / 2;
    let f = r.next() & ((1 << fraction) - 1);
    let f = match r.below(4) {
        0 => 0,
        1 => f & !0 << r.below(fraction as u64),
        2 => f | ((1 << r.below(fraction as u64)) - 1),
        _ => f,
    };
    let e = match r.below(10) {
        0 => 0,
        1 => top,
        2 => top - 1,
        3 => 1 + r.below(5),
        4 | 5 => r.below(top + 1),
        _ => (bias + r.below(41)).saturating_sub(20).min(top),
    };
    r.below(2) << (fraction + exponent) | e << fraction | f
}
fn word_value(r: &mut Random) -> u32 {
    match r.below(5) {
        0 => r.edgy(32) as u32,
        1 => float(r, 10, 5) as u32 | (r.next() << 16) as u32,
        _ => float(r, 23, 8) as u32,
    }
}
fn long_value(r: &mut Random) -> u64 {
    match r.below(5) {
        0 => r.edgy(64),
        1 => (float(r, 23, 8) as u32 as u64) << 32 | word_value(r) as u64,
        _ => float(r, 52, 11),
    }
}

/// A lane's value, to compare: which NaN comes out is not defined for arithmetic.
trait Lane: Copy + PartialEq + std::fmt::Debug {
    fn nan(self) -> bool;
    /// A signalling NaN made quiet.
    fn quieted(self) -> Self;
}
impl Lane for u32 {
    fn nan(self) -> bool {
        f32::from_bits(self).is_nan()
    }
    fn quieted(self) -> u32 {
        self | (self.nan() as u32) << 22
    }
}
impl Lane for u64 {
    fn nan(self) -> bool {
        f64::from_bits(self).is_nan()
    }
    fn quieted(self) -> u64 {
        self
    }
}
impl Lane for bool {
    fn nan(self) -> bool {
        false
    }
    fn quieted(self) -> bool {
        self
    }
}

#[track_caller]
fn same<T: Lane>(name: &str, back_end: &str, got: T, want: T, operands: &dyn std::fmt::Debug) {
    let conversion = matches!(name, "f2h" | "f2h_pair" | "f2h_round" | "f2d" | "d2f" | "d2f_round");
    let arithmetic = name.starts_with('f') && !conversion;
    let equal = got == want
        || arithmetic && got.nan() && want.nan()
        || name.starts_with("h2f") && got.quieted() == want.quieted();
    assert!(equal, "{name} on {back_end}: {got:x?}, not {want:x?}, of {operands:x?}");
}

macro_rules! value {
    (w $r:ident) => {
        std::array::from_fn::<u32, 16, _>(|_| word_value(&mut $r))
    };
    (l $r:ident) => {
        std::array::from_fn::<u64, 16, _>(|_| long_value(&mut $r))
    };
}
macro_rules! lanes {
    (w $a:expr) => {
        Lanes(H::from_array($a))
    };
    (l $a:expr) => {
        Wide(<H as Host>::Long::from_array($a))
    };
}
macro_rules! lane {
    (w $v:ident $i:expr) => {
        $v.0.to_array()[$i]
    };
    (l $v:ident $i:expr) => {
        $v.0.to_array()[$i]
    };
    (m $v:ident $i:expr) => {
        $v.0 >> $i & 1 != 0
    };
}
/// An operation has no round mode, or all of them.
macro_rules! rounds {
    () => {
        [()]
    };
    ($i:ident) => {
        ROUNDS
    };
}
macro_rules! check {
    ($($on:ident { $($(#[$doc:meta])* fn $name:ident($a:ident: $at:ident $(, $b:ident: $bt:ident)* $(; $i:ident: $it:ident)?) -> $r:ident = $def:expr;)* })*) => {
        /// All operations on one back end.
        fn operations<H: Host>(back_end: &str, runs: u32) {
            let mut random = Random(0x1234_5678_9abc_def1);
            $($(
                // What is only defined for exact products gets those.
                let exact = stringify!($name) == "ffma_odd";
                for _ in 0..runs {
                    #[allow(unused_mut)]
                    let mut $a = value!($at random);
                    $(let mut $b = value!($bt random);)*
                    if exact {
                        tame(&mut [&mut $a $(, &mut $b)*]);
                    }
                    for round in rounds!($($i)?) {
                        let _ = round;
                        $(let $i = round;)?
                        let got = lanes!($at $a).$name($(lanes!($bt $b),)* $($i)?);
                        for lane in 0..16 {
                            let picks = matches!(stringify!($name), "fmin" | "fmax");
                            if picks && [$a[lane].nan() $(, $b[lane].nan())*].contains(&true) {
                                continue;
                            }
                            let want = $on::$name($a[lane], $($b[lane],)* $($i)?);
                            same(stringify!($name), back_end, lane!($r got lane), want, &($a[lane], $($b[lane],)* round));
                        }
                    }
                    $(let _ = &mut $b;)*
                }
            )*)*
        }
    };
}
wavemill_sem::for_each_operation!(check);

/// Operands of `ffma_odd`: those with exact products that stay in the normal range.
fn tame(operands: &mut [&mut dyn Tame]) {
    for o in operands {
        o.tame();
    }
}
trait Tame {
    fn tame(&mut self);
}
impl Tame for [u32; 16] {
    fn tame(&mut self) {
        // Widened f16.
        self.iter_mut().for_each(|v| *v = wavemill_sem::soft::h2f(*v));
    }
}
impl Tame for [u64; 16] {
    fn tame(&mut self) {
        // Widened f32.
        self.iter_mut().for_each(|v| *v = wavemill_sem::operations::f2d(*v as u32));
    }
}

/// What the list does not have.
fn others<H: Host>(back_end: &str) {
    static TABLE: [u32; 5] = [7, 1, 9, 0xffff_ffff, 4];
    let mut random = Random(99);
    for _ in 0..2000 {
        let [a, b] = [(); 2].map(|()| value!(w random));
        let [x, y] = [(); 2].map(|()| value!(l random));
        let mask = random.next() as u16;
        let on = |i: usize| mask >> i & 1 != 0;
        let (va, vb) = (lanes!(w a), lanes!(w b));
        let (vx, vy) = (lanes!(l x), lanes!(l y));
        let at = a.map(|i| i % 7);
        let words = [
            ("add", va + vb, std::array::from_fn(|i| a[i].wrapping_add(b[i]))),
            ("sub", va - vb, std::array::from_fn(|i| a[i].wrapping_sub(b[i]))),
            ("mul", va * vb, std::array::from_fn(|i| a[i].wrapping_mul(b[i]))),
            ("and", va & vb, std::array::from_fn(|i| a[i] & b[i])),
            ("or", va | vb, std::array::from_fn(|i| a[i] | b[i])),
            ("xor", va ^ vb, std::array::from_fn(|i| a[i] ^ b[i])),
            ("not", !va, a.map(|a| !a)),
            (
                "select",
                Word::select(Bits(mask), va, vb),
                std::array::from_fn(|i| if on(i) { a[i] } else { b[i] }),
            ),
            (
                "rarely",
                Word::rarely(Bits(mask), vb, move || va),
                std::array::from_fn(|i| if on(i) { a[i] } else { b[i] }),
            ),
            ("apart", Word::apart(move || va), a),
            ("lookup", lanes!(w at).lookup(&TABLE), at.map(|i| TABLE.get(i as usize).copied().unwrap_or(0))),
            ("splat", <Lanes<H> as Word>::splat(a[0]), [a[0]; 16]),
        ];
        for (name, got, want) in words {
            assert_eq!(got.0.to_array(), want, "{name} on {back_end}");
        }
        let longs = [
            ("add", vx + vy, std::array::from_fn(|i| x[i].wrapping_add(y[i]))),
            ("sub", vx - vy, std::array::from_fn(|i| x[i].wrapping_sub(y[i]))),
            ("and", vx & vy, std::array::from_fn(|i| x[i] & y[i])),
            ("or", vx | vy, std::array::from_fn(|i| x[i] | y[i])),
            ("xor", vx ^ vy, std::array::from_fn(|i| x[i] ^ y[i])),
            ("not", !vx, x.map(|x| !x)),
            (
                "select",
                Long::select(Bits(mask), vx, vy),
                std::array::from_fn(|i| if on(i) { x[i] } else { y[i] }),
            ),
            (
                "rarely",
                Long::rarely(Bits(mask), vy, move || vx),
                std::array::from_fn(|i| if on(i) { x[i] } else { y[i] }),
            ),
            ("apart", Long::apart(move || vx), x),
            ("splat", <Wide<H::Long> as Long>::splat(x[0]), [x[0]; 16]),
        ];
        for (name, got, want) in longs {
            assert_eq!(got.0.to_array(), want, "{name} on {back_end}");
        }
    }
}

fn all<H: Host>(simd: Simd) {
    let runs = if simd == Simd::Portable { 300 } else { 3000 };
    operations::<H>(simd.name(), runs);
    others::<H>(simd.name());
}

#[test]
fn back_ends_follow_the_definitions() {
    for simd in Simd::available() {
        match simd {
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => all::<super::avx512::Zmm>(simd),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => all::<super::avx2::Ymm2>(simd),
            #[cfg(target_arch = "aarch64")]
            Simd::Neon => all::<super::neon::Neon4>(simd),
            _ => all::<Array32>(simd),
        }
    }
}

/// Expansions that no back end of this host may use.
#[test]
fn expansions_follow_the_definitions() {
    let mut random = Random(0xfeed);
    for _ in 0..1000 {
        let [a, b, c] = [(); 3].map(|()| value!(w random));
        let [x, y, z] = [(); 3].map(|()| value!(l random));
        type H = Array32;
        let (va, vb, vc) = (lanes!(w a), lanes!(w b), lanes!(w c));
        let (vx, vy, vz) = (lanes!(l x), lanes!(l y), lanes!(l z));
        for round in ROUNDS.into_iter().skip(1) {
            for i in 0..16 {
                let operands = (a[i], b[i], c[i], x[i], round);
                let check = |name: &str, got: Lanes<H>, want: u32| {
                    same(name, "expand", got.0.to_array()[i], want, &operands);
                };
                check("fadd_round", expand::fadd32_round(va, vb, round), word::fadd_round(a[i], b[i], round));
                check("fmul_round", expand::fmul32_round(va, vb, round), word::fmul_round(a[i], b[i], round));
                let want = word::ffma_round(a[i], b[i], c[i], round);
                check("ffma_round", expand::ffma32_round(va, vb, vc, round), want);
                check("f2h_round", expand::f2h_round(va, round), word::f2h_round(a[i], round));
                check("d2f_round", expand::d2f_round(vx, round), long::d2f_round(x[i], round));
            }
            let n = std::array::from_fn(|i| [0, 128, -128i32 as u32][i % 3]);
            let scaled = expand::fma_scaled(vx, vy, vz, lanes!(w n), round);
            let (sum, product) = (expand::fadd64_round(vx, vy, round), expand::fmul64_round(vx, vy, round));
            let fused = expand::ffma64_round(vx, vy, vz, round);
            for i in 0..16 {
                let operands = (x[i], y[i], z[i], n[i] as i32, round);
                let exact = wavemill_sem::soft::fma_scaled(
                    wavemill_sem::soft::F64,
                    x[i],
                    y[i],
                    z[i],
                    n[i] as i32,
                    round,
                );
                same("fma_scaled", "expand", scaled.0.to_array()[i], exact, &operands);
                same(
                    "fadd_round",
                    "expand",
                    sum.0.to_array()[i],
                    long::fadd_round(x[i], y[i], round),
                    &operands,
                );
                same(
                    "fmul_round",
                    "expand",
                    product.0.to_array()[i],
                    long::fmul_round(x[i], y[i], round),
                    &operands,
                );
                same(
                    "ffma_round",
                    "expand",
                    fused.0.to_array()[i],
                    long::ffma_round(x[i], y[i], z[i], round),
                    &operands,
                );
            }
        }
    }
}
