//! Instructions on lanes against the same instructions written plainly, one lane at a time, on numbers: all f16 operands,
//! and many others, in all round and denormal modes.

mod convert;
mod div;
mod misc;
mod special;

use crate::float;
use wavemill_isa::lookup::by_name;
use wavemill_isa::{Level, Row};
use wavemill_sem::compare::{self, Compare};
use wavemill_sem::family::family;
use wavemill_sem::lane::Lane;
use wavemill_sem::soft::{F16, F32, F64, Format};
use wavemill_sem::{Context, FloatMode, Mode};
use wavemill_testing::Random;

/// MODE: rounds and denormals of all widths alike, and FP16_OVFL.
fn modes() -> impl Iterator<Item = Mode> {
    (0..32u32).map(|n| {
        let (round, denorm) = (n & 3, n >> 2 & 3);
        let bits = round | round << 2 | denorm << 4 | denorm << 6 | (n >> 4) << 23 | 0x200;
        Mode::new(bits, Level::Gfx90a)
    })
}

fn row(name: &str) -> &'static Row {
    by_name(name).next().unwrap_or_else(|| panic!("no {name}"))
}

/// The result of an instruction's meaning on lanes.
fn on_lanes(row: &Row, src: [u64; 3], mask: bool, mode: Mode, clamp: bool) -> (Option<u64>, Option<bool>) {
    let x = Context::new(mode, clamp, 0, Level::Gfx90a);
    let lane = Lane { src, mask, ..Lane::default() };
    let out = match Compare::of(row) {
        Some(c) => compare::common(c, lane, &x).or_else(|| compare::compare(c, lane, &x)),
        None => family(row.op).and_then(|f| f.apply(row.op, lane, &x)),
    };
    let (value, mask) = out.unwrap_or_else(|| panic!("{} has no meaning", row.name));
    (value.map(|v| v as u64), mask)
}

#[track_caller]
fn same(name: &str, src: [u64; 3], mode: Mode, want: u64) {
    let got = on_lanes(row(name), src, false, mode, false).0;
    assert_eq!(got, Some(want), "{name} {src:x?} {mode:?}: {got:x?}, not {want:x}");
}

/// As [`same`], of a function that is less than one unit in the last place off (a test of `sem` says so), where that is a normal
/// number: `want` was rounded twice, and may be one and a half off.
#[track_caller]
fn near(name: &str, a: u64, mode: Mode, want: u64) {
    let got = on_lanes(row(name), [a, 0, 0], false, mode, false).0;
    let is_near = f64::from_bits(want).is_normal() && got.is_some_and(|got| got.abs_diff(want) <= 2);
    assert!(got == Some(want) || is_near, "{name} {a:x?} {mode:?}: {got:x?}, not {want:x}");
}

/// Many f32: all exponents, and values that are often special.
fn singles(count: u64) -> impl Iterator<Item = u32> {
    let mut random = Random(0xabcd_ef01);
    (0..count).map(move |n| match n % 3 {
        0 => float(&mut random, F32) as u32,
        // All over the range, and where functions are interesting.
        1 => (n as u32).wrapping_mul(0x9e37_79b1),
        _ => ((random.next() % 300) as f32 / 7.0 - 20.0).to_bits() ^ random.next() as u32 & 0xffff,
    })
}

#[test]
fn functions_of_halves() {
    type Function = fn(u32, wavemill_sem::half::HalfMode) -> u32;
    let all: [(&str, Function); 7] = [
        ("v_rcp_f16", special::rcp_f16),
        ("v_sqrt_f16", special::sqrt_f16),
        ("v_rsq_f16", special::rsq_f16),
        ("v_exp_f16", special::exp_f16),
        ("v_log_f16", special::log_f16),
        ("v_sin_f16", special::sin_f16),
        ("v_cos_f16", special::cos_f16),
    ];
    // They round to nearest whatever the mode says.
    for mode in modes().filter(|m| m.f64.round == Default::default()) {
        for (name, f) in all {
            for a in 0..0x1_0000 {
                same(name, [a as u64, 0, 0], mode, f(a, mode.half()) as u64);
            }
        }
    }
}

#[test]
fn functions_of_singles() {
    type Function = fn(u32) -> u32;
    let all: [(&str, Function); 5] = [
        ("v_rcp_f32", special::rcp_f32),
        ("v_rsq_f32", special::rsq_f32),
        ("v_sqrt_f32", special::sqrt_f32),
        ("v_exp_f32", special::exp_f32),
        ("v_log_f32", special::log_f32),
    ];
    let clamped: [(&str, Function); 5] = [
        ("v_rcp_clamp_f32", |a| special::clamp_inf_f32(special::rcp_f32(a))),
        ("v_rcp_legacy_f32", |a| special::legacy_inf_f32(special::rcp_f32(a))),
        ("v_rsq_clamp_f32", |a| special::clamp_inf_f32(special::rsq_f32(a))),
        ("v_rsq_legacy_f32", |a| special::legacy_inf_f32(special::rsq_f32(a))),
        ("v_log_clamp_f32", |a| special::clamp_pole_f32(special::log_f32(a))),
    ];
    let mode = modes().next().unwrap_or_else(|| Mode::new(0, Level::Gfx90a));
    for a in singles(200_000) {
        for (name, f) in all {
            same(name, [a as u64, 0, 0], mode, f(a) as u64);
        }
    }
    for a in singles(20_000) {
        for (name, f) in clamped {
            same(name, [a as u64, 0, 0], mode, f(a) as u64);
        }
    }
    for mode in modes() {
        for a in singles(8_000) {
            same("v_sin_f32", [a as u64, 0, 0], mode, special::sin_f32(a, mode.f32) as u64);
            same("v_cos_f32", [a as u64, 0, 0], mode, special::cos_f32(a, mode.f32) as u64);
        }
    }
}

#[test]
fn functions_of_doubles() {
    let mut random = Random(31);
    for mode in modes() {
        for _ in 0..2000 {
            let a = float(&mut random, F64);
            let clamp = special::clamp_inf_f64;
            same("v_rcp_f64", [a, 0, 0], mode, special::rcp_f64(a, mode.f64));
            near("v_rsq_f64", a, mode, special::rsq_f64(a, mode.f64));
            same("v_sqrt_f64", [a, 0, 0], mode, special::sqrt_f64(a, mode.f64));
            same("v_rcp_clamp_f64", [a, 0, 0], mode, clamp(special::rcp_f64(a, mode.f64)));
            near("v_rsq_clamp_f64", a, mode, clamp(special::rsq_f64(a, mode.f64)));
            let segment = random.next() & 0x3f;
            let want = div::trig_preop(a, segment as u32);
            let want = if mode.f64.flush_out { F64.flush(want) } else { want };
            same("v_trig_preop_f64", [a, segment, 0], mode, want);
        }
    }
}

#[test]
fn division() {
    let mut random = Random(77);
    for mode in modes() {
        for _ in 0..4000 {
            for (f, names) in [
                (F32, ["v_div_scale_f32", "v_div_fixup_f32", "v_div_fmas_f32"]),
                (F64, ["v_div_scale_f64", "v_div_fixup_f64", "v_div_fmas_f64"]),
            ] {
                let wide = f == F64;
                let m: FloatMode = if wide { mode.f64 } else { mode.f32 };
                let [q, d, n] = [(); 3].map(|()| float(&mut random, f));
                let input = |x: u64| if m.flush_in { f.flush(x) } else { x };
                let output = |x: u64| if m.flush_out { f.flush(x) } else { x };
                let s0 = if random.one_in(2) { d } else { n };
                let (r, vcc) = if wide {
                    div::scale64(input(s0), input(d), input(n))
                } else {
                    let (r, vcc) = div::scale32(input(s0) as u32, input(d) as u32, input(n) as u32);
                    (r as u64, vcc)
                };
                let got = on_lanes(row(names[0]), [s0, d, n], false, mode, false);
                assert_eq!(got, (Some(output(r)), Some(vcc)), "{} {s0:x} {d:x} {n:x} {mode:?}", names[0]);
                let fixed = match wide {
                    true => div::fixup_f64(q, d, n, m),
                    false => div::fixup_f32(q as u32, d as u32, n as u32, m) as u64,
                };
                same(names[1], [q, d, n], mode, fixed);
                let scaled = match wide {
                    true => div::fmas_f64(q, d, n, m),
                    false => div::fmas_f32(q as u32, d as u32, n as u32, m) as u64,
                };
                let got = on_lanes(row(names[2]), [q, d, n], true, mode, false).0;
                assert_eq!(got, Some(scaled), "{} {q:x} {d:x} {n:x} {mode:?}", names[2]);
            }
        }
    }
}

#[test]
fn exponents() {
    let mut random = Random(5);
    for mode in modes() {
        for _ in 0..3000 {
            let n = match random.below(3) {
                0 => random.next() as i32,
                1 => random.below(400) as i32 - 200,
                _ => random.below(5000) as i32 - 2500,
            };
            let set = random.next() & 0x3ff;
            for (f, m, bits) in [(F32, mode.f32, "f32"), (F64, mode.f64, "f64")] {
                let a = float(&mut random, f);
                same(&format!("v_ldexp_{bits}"), [a, n as u32 as u64, 0], mode, convert::ldexp(f, a, n, m));
                let exponent = convert::frexp_exp(f, a, m) as u64;
                same(&format!("v_frexp_exp_i32_{bits}"), [a, 0, 0], mode, exponent);
                same(&format!("v_frexp_mant_{bits}"), [a, 0, 0], mode, convert::frexp_mant(f, a, m));
                let got = on_lanes(row(&format!("v_cmp_class_{bits}")), [a, set, 0], false, mode, false).1;
                assert_eq!(got, Some(convert::class(f, a, set as u32)), "class {bits} {a:x} {set:x}");
            }
        }
        // Every f16.
        for a in 0..0x1_0000u64 {
            let (m, set) = (mode.f64, random.next() & 0x3ff);
            let f: Format = F16;
            if !mode.fp16_ovfl {
                let n = random.below(80) as i32 - 40;
                same("v_ldexp_f16", [a, n as u32 as u64, 0], mode, convert::ldexp(f, a, n, m));
            }
            let exponent = convert::frexp_exp(f, a, m) as u64 & 0xffff;
            same("v_frexp_exp_i16_f16", [a, 0, 0], mode, exponent);
            same("v_frexp_mant_f16", [a, 0, 0], mode, convert::frexp_mant(f, a, m));
            let got = on_lanes(row("v_cmp_class_f16"), [a, set, 0], false, mode, false).1;
            assert_eq!(got, Some(convert::class(f, a, set as u32)), "class f16 {a:x} {set:x}");
        }
    }
}

#[test]
fn conversions() {
    let mut random = Random(9);
    for mode in modes() {
        let round = mode.f64.round;
        for _ in 0..4000 {
            let (a, b, d) = (float(&mut random, F32), float(&mut random, F32), float(&mut random, F64));
            let near = (random.next() % 3000) as f32 / 1024.0 - 1.4;
            let (u, n) = (a as u32, near.to_bits());
            same("v_cvt_f32_f64", [d, 0, 0], mode, convert::f32_f64(d, &mode) as u64);
            same("v_cvt_f64_f32", [a, 0, 0], mode, convert::f64_f32(u, &mode));
            same("v_cvt_i32_f64", [d, 0, 0], mode, convert::i32_f64(d) as u64);
            same("v_cvt_u32_f64", [d, 0, 0], mode, convert::u32_f64(d) as u64);
            same("v_cvt_f64_i32", [a, 0, 0], mode, convert::f64_i32(u));
            same("v_cvt_f64_u32", [a, 0, 0], mode, convert::f64_u32(u));
            same("v_cvt_rpi_i32_f32", [a, 0, 0], mode, convert::rpi(u) as u64);
            same("v_cvt_flr_i32_f32", [a, 0, 0], mode, convert::flr(u) as u64);
            same("v_cvt_off_f32_i4", [a, 0, 0], mode, convert::off_i4(u) as u64);
            let nearest = Default::default();
            let both = |f: fn(u32, _) -> u32| (f(u, nearest) | f(n, nearest) << 16) as u64;
            same("v_cvt_pknorm_i16_f32", [a, n as u64, 0], mode, both(convert::snorm16));
            same("v_cvt_pknorm_u16_f32", [a, n as u64, 0], mode, both(convert::unorm16));
            let packed = convert::pk_u8(u, b as u32, d as u32, mode.f32) as u64;
            same("v_cvt_pk_u8_f32", [a, b, d & 0xffff_ffff], mode, packed);
        }
        for a in 0..0x1_0000u32 {
            let src = [a as u64, 0, 0];
            same("v_cvt_f16_u16", src, mode, convert::f16_int(a, false, &mode) as u64);
            same("v_cvt_f16_i16", src, mode, convert::f16_int(a, true, &mode) as u64);
            same("v_cvt_u16_f16", src, mode, convert::u16_f16(a) as u64);
            same("v_cvt_i16_f16", src, mode, convert::i16_f16(a) as u64);
            let flushed = if mode.f64.flush_in { F16.flush(a as u64) as u32 } else { a };
            let wide = wavemill_sem::soft::h2f(flushed);
            same("v_cvt_norm_i16_f16", src, mode, convert::snorm16(wide, round) as u64);
            same("v_cvt_norm_u16_f16", src, mode, convert::unorm16(wide, round) as u64);
        }
    }
}

#[test]
fn bytes_and_fields() {
    type Three = fn(u32, u32, u32, bool) -> u32;
    let all: [(&str, Three); 16] = [
        ("v_sad_u8", misc::sad_u8),
        ("v_sad_hi_u8", misc::sad_hi_u8),
        ("v_sad_u16", misc::sad_u16),
        ("v_sad_u32", misc::sad_u32),
        ("v_msad_u8", misc::msad_u8),
        ("v_lerp_u8", |a, b, c, _| misc::lerp_u8(a, b, c)),
        ("v_perm_b32", |a, b, c, _| misc::perm(a, b, c)),
        ("v_ffbh_u32", |a, _, _, _| misc::ffbh_u32(a)),
        ("v_ffbl_b32", |a, _, _, _| misc::ffbl(a)),
        ("v_ffbh_i32", |a, _, _, _| misc::ffbh_i32(a)),
        ("v_dot2_i32_i16", |a, b, c, clamp| misc::dot_i(a, b, c, 16, clamp)),
        ("v_dot4_i32_i8", |a, b, c, clamp| misc::dot_i(a, b, c, 8, clamp)),
        ("v_dot8_i32_i4", |a, b, c, clamp| misc::dot_i(a, b, c, 4, clamp)),
        ("v_dot2_u32_u16", |a, b, c, clamp| misc::dot_u(a, b, c, 16, clamp)),
        ("v_dot4_u32_u8", |a, b, c, clamp| misc::dot_u(a, b, c, 8, clamp)),
        ("v_dot8_u32_u4", |a, b, c, clamp| misc::dot_u(a, b, c, 4, clamp)),
    ];
    let mode = Mode::new(0xf0, Level::Gfx90a);
    let mut random = Random(21);
    for _ in 0..30_000 {
        let src = [(); 3].map(|()| random.edgy(32));
        // Selectors that mean something.
        let src = [src[0], src[1], if random.one_in(2) { src[2] & 0x0f0f_0f0f } else { src[2] }];
        let [a, b, c] = src.map(|v| v as u32);
        let clamp = random.one_in(2);
        for (name, f) in all {
            let got = on_lanes(row(name), src, false, mode, clamp).0;
            assert_eq!(got, Some(f(a, b, c, clamp) as u64), "{name} {src:x?} {clamp}");
        }
        let wide = [random.edgy(64), b as u64, random.edgy(64)];
        for (name, masked) in [("v_qsad_pk_u16_u8", false), ("v_mqsad_pk_u16_u8", true)] {
            let got = on_lanes(row(name), wide, false, mode, clamp).0;
            assert_eq!(
                got,
                Some(misc::qsad_pk(wide[0], b, wide[2], masked, clamp)),
                "{name} {wide:x?} {clamp}"
            );
        }
        same("v_sat_pk_u8_i16", src, mode, misc::sat_pk_u8(a) as u64);
        same("v_screen_partition_4se_b32", src, mode, misc::screen_partition(a) as u64);
    }
    for _ in 0..20_000 {
        let src = [(); 3].map(|()| float(&mut random, F32));
        let [x, y, z] = src.map(|v| v as u32);
        same("v_cubeid_f32", src, mode, misc::cube_id(x, y, z) as u64);
        same("v_cubesc_f32", src, mode, misc::cube_sc(x, y, z) as u64);
        same("v_cubetc_f32", src, mode, misc::cube_tc(x, y, z) as u64);
        let fails = misc::mullit_fails(y, z);
        let got = on_lanes(row("v_mullit_f32"), src, false, mode, false).0;
        assert!(!fails || got == Some(0xff7f_ffff), "v_mullit_f32 {src:x?}");
    }
}
