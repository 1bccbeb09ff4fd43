//! Integer instructions against arithmetic in wider integers.

use crate::harness::{Random, lanes, triples};
use wavemill_wave::Simd;

type Oracle = fn(u64, u64, u64) -> u64;

fn s(a: u64) -> i64 {
    a as u32 as i32 as i64
}
fn u(a: u64) -> u64 {
    a as u32 as u64
}
fn i24(a: u64) -> i64 {
    (a << 40) as i64 >> 40
}
fn h(a: u64) -> u64 {
    a & 0xffff
}
fn sh(a: u64) -> i64 {
    a as i16 as i64
}
fn sat(n: i64, lo: i64, hi: i64) -> u64 {
    n.clamp(lo, hi) as u64
}
fn pair(a: u64, b: u64, f: impl Fn(u64, u64) -> u64) -> u64 {
    (f(h(a), h(b)) & 0xffff) | (f(h(a >> 16), h(b >> 16)) & 0xffff) << 16
}

/// Text, result bits, oracle. Sources are v0, v2, v4; the destination v6.
const CASES: &[(&str, u32, Oracle)] = &[
    ("v_mov_b32 v6, v0", 32, |a, _, _| a),
    ("v_not_b32 v6, v0", 32, |a, _, _| !a),
    ("v_bfrev_b32 v6, v0", 32, |a, _, _| (a as u32).reverse_bits() as u64),
    ("v_ffbh_u32 v6, v0", 32, |a, _, _| (0..32).find(|i| a >> (31 - i) & 1 == 1).unwrap_or(!0)),
    ("v_ffbl_b32 v6, v0", 32, |a, _, _| (0..32).find(|i| a >> i & 1 == 1).unwrap_or(!0)),
    ("v_ffbh_i32 v6, v0", 32, |a, _, _| (1..32).find(|i| a >> (31 - i) & 1 != a >> 31 & 1).unwrap_or(!0)),
    ("v_add_u32 v6, v0, v2", 32, |a, b, _| a.wrapping_add(b)),
    ("v_add_u32 v6, v0, v2 clamp", 32, |a, b, _| (u(a) + u(b)).min(u32::MAX as u64)),
    ("v_sub_u32 v6, v0, v2", 32, |a, b, _| a.wrapping_sub(b)),
    ("v_sub_u32 v6, v0, v2 clamp", 32, |a, b, _| u(a).saturating_sub(u(b))),
    ("v_subrev_u32 v6, v0, v2", 32, |a, b, _| b.wrapping_sub(a)),
    ("v_add_i32 v6, v0, v2 clamp", 32, |a, b, _| sat(s(a) + s(b), i32::MIN as i64, i32::MAX as i64)),
    ("v_sub_i32 v6, v0, v2 clamp", 32, |a, b, _| sat(s(a) - s(b), i32::MIN as i64, i32::MAX as i64)),
    ("v_mul_i32_i24 v6, v0, v2", 32, |a, b, _| (i24(a) * i24(b)) as u64),
    ("v_mul_hi_i32_i24 v6, v0, v2", 32, |a, b, _| ((i24(a) * i24(b)) >> 32) as u64),
    ("v_mul_u32_u24 v6, v0, v2", 32, |a, b, _| (a & 0xff_ffff) * (b & 0xff_ffff)),
    ("v_mul_hi_u32_u24 v6, v0, v2", 32, |a, b, _| ((a & 0xff_ffff) * (b & 0xff_ffff)) >> 32),
    ("v_mad_i32_i24 v6, v0, v2, v4", 32, |a, b, c| (i24(a) * i24(b) + s(c)) as u64),
    ("v_mad_i32_i24 v6, v0, v2, v4 clamp", 32, |a, b, c| {
        sat(i24(a) * i24(b) + s(c), i32::MIN as i64, i32::MAX as i64)
    }),
    ("v_mad_u32_u24 v6, v0, v2, v4", 32, |a, b, c| (a & 0xff_ffff) * (b & 0xff_ffff) + u(c)),
    ("v_min_i32 v6, v0, v2", 32, |a, b, _| s(a).min(s(b)) as u64),
    ("v_max_i32 v6, v0, v2", 32, |a, b, _| s(a).max(s(b)) as u64),
    ("v_min_u32 v6, v0, v2", 32, |a, b, _| u(a).min(u(b))),
    ("v_max_u32 v6, v0, v2", 32, |a, b, _| u(a).max(u(b))),
    ("v_lshrrev_b32 v6, v0, v2", 32, |a, b, _| u(b) >> (a & 31)),
    ("v_ashrrev_i32 v6, v0, v2", 32, |a, b, _| (s(b) >> (a & 31)) as u64),
    ("v_lshlrev_b32 v6, v0, v2", 32, |a, b, _| b << (a & 31)),
    ("v_and_b32 v6, v0, v2", 32, |a, b, _| a & b),
    ("v_or_b32 v6, v0, v2", 32, |a, b, _| a | b),
    ("v_xor_b32 v6, v0, v2", 32, |a, b, _| a ^ b),
    ("v_xnor_b32 v6, v0, v2", 32, |a, b, _| !(a ^ b)),
    ("v_bfe_u32 v6, v0, v2, v4", 32, |a, b, c| (u(a) >> (b & 31)) & ((1 << (c & 31)) - 1)),
    ("v_bfe_i32 v6, v0, v2, v4", 32, |a, b, c| {
        let w = c & 31;
        if w == 0 { 0 } else { ((s(a) >> (b & 31)) << (64 - w) >> (64 - w)) as u64 }
    }),
    ("v_bfi_b32 v6, v0, v2, v4", 32, |a, b, c| (a & b) | (!a & c)),
    ("v_bfm_b32 v6, v0, v2", 32, |a, b, _| ((1u64 << (a & 31)) - 1) << (b & 31)),
    ("v_alignbit_b32 v6, v0, v2, v4", 32, |a, b, c| (u(a) << 32 | u(b)) >> (c & 31)),
    ("v_alignbyte_b32 v6, v0, v2, v4", 32, |a, b, c| (u(a) << 32 | u(b)) >> (8 * (c & 3))),
    ("v_min3_i32 v6, v0, v2, v4", 32, |a, b, c| s(a).min(s(b)).min(s(c)) as u64),
    ("v_max3_u32 v6, v0, v2, v4", 32, |a, b, c| u(a).max(u(b)).max(u(c))),
    ("v_med3_i32 v6, v0, v2, v4", 32, |a, b, c| {
        let mut v = [s(a), s(b), s(c)];
        v.sort();
        v[1] as u64
    }),
    ("v_med3_u32 v6, v0, v2, v4", 32, |a, b, c| {
        let mut v = [u(a), u(b), u(c)];
        v.sort();
        v[1]
    }),
    ("v_sad_u32 v6, v0, v2, v4", 32, |a, b, c| u(a).abs_diff(u(b)) + u(c)),
    ("v_sad_u16 v6, v0, v2, v4", 32, |a, b, c| h(a).abs_diff(h(b)) + h(a >> 16).abs_diff(h(b >> 16)) + u(c)),
    ("v_sad_u8 v6, v0, v2, v4", 32, |a, b, c| {
        (0..4).map(|i| (a >> (8 * i) & 255).abs_diff(b >> (8 * i) & 255)).sum::<u64>() + u(c)
    }),
    ("v_lerp_u8 v6, v0, v2, v4", 32, |a, b, c| {
        let f = |i: u64| ((a >> (8 * i) & 255) + (b >> (8 * i) & 255) + (c >> (8 * i) & 1)) / 2;
        f(0) | f(1) << 8 | f(2) << 16 | f(3) << 24
    }),
    ("v_mul_lo_u32 v6, v0, v2", 32, |a, b, _| a.wrapping_mul(b)),
    ("v_mul_hi_u32 v6, v0, v2", 32, |a, b, _| (u(a) * u(b)) >> 32),
    ("v_mul_hi_i32 v6, v0, v2", 32, |a, b, _| ((s(a) * s(b)) >> 32) as u64),
    ("v_xad_u32 v6, v0, v2, v4", 32, |a, b, c| (a ^ b).wrapping_add(c)),
    ("v_lshl_add_u32 v6, v0, v2, v4", 32, |a, b, c| (a << (b & 31)).wrapping_add(c)),
    ("v_add_lshl_u32 v6, v0, v2, v4", 32, |a, b, c| a.wrapping_add(b) << (c & 31)),
    ("v_add3_u32 v6, v0, v2, v4", 32, |a, b, c| a.wrapping_add(b).wrapping_add(c)),
    ("v_lshl_or_b32 v6, v0, v2, v4", 32, |a, b, c| a << (b & 31) | c),
    ("v_and_or_b32 v6, v0, v2, v4", 32, |a, b, c| a & b | c),
    ("v_or3_b32 v6, v0, v2, v4", 32, |a, b, c| a | b | c),
    ("v_bcnt_u32_b32 v6, v0, v2", 32, |a, b, _| (a as u32).count_ones() as u64 + u(b)),
    ("v_cvt_pk_u16_u32 v6, v0, v2", 32, |a, b, _| u(a).min(0xffff) | u(b).min(0xffff) << 16),
    ("v_cvt_pk_i16_i32 v6, v0, v2", 32, |a, b, _| {
        (sat(s(a), -0x8000, 0x7fff) & 0xffff) | (sat(s(b), -0x8000, 0x7fff) & 0xffff) << 16
    }),
    // 16 bits: the result's upper half is zero.
    ("v_add_u16 v6, v0, v2", 32, |a, b, _| h(h(a) + h(b))),
    ("v_add_u16 v6, v0, v2 clamp", 32, |a, b, _| (h(a) + h(b)).min(0xffff)),
    ("v_sub_u16 v6, v0, v2", 32, |a, b, _| h(a.wrapping_sub(b))),
    ("v_mul_lo_u16 v6, v0, v2", 32, |a, b, _| h(h(a) * h(b))),
    ("v_lshlrev_b16 v6, v0, v2", 32, |a, b, _| h(b << (a & 15))),
    ("v_lshrrev_b16 v6, v0, v2", 32, |a, b, _| h(b) >> (a & 15)),
    ("v_ashrrev_i16 v6, v0, v2", 32, |a, b, _| h((sh(b) >> (a & 15)) as u64)),
    ("v_max_i16 v6, v0, v2", 32, |a, b, _| h(sh(a).max(sh(b)) as u64)),
    ("v_min_u16 v6, v0, v2", 32, |a, b, _| h(a).min(h(b))),
    ("v_mad_u32_u16 v6, v0, v2, v4", 32, |a, b, c| h(a) * h(b) + u(c)),
    ("v_mad_i32_i16 v6, v0, v2, v4", 32, |a, b, c| (sh(a) * sh(b) + s(c)) as u64),
    // Packed.
    ("v_pk_add_u16 v6, v0, v2", 32, |a, b, _| pair(a, b, |a, b| a + b)),
    ("v_pk_sub_i16 v6, v0, v2", 32, |a, b, _| pair(a, b, |a, b| a.wrapping_sub(b))),
    ("v_pk_sub_i16 v6, v0, v2 clamp", 32, |a, b, _| pair(a, b, |a, b| sat(sh(a) - sh(b), -0x8000, 0x7fff))),
    ("v_pk_mul_lo_u16 v6, v0, v2", 32, |a, b, _| pair(a, b, |a, b| a * b)),
    ("v_pk_lshlrev_b16 v6, v0, v2", 32, |a, b, _| pair(a, b, |a, b| b << (a & 15))),
    ("v_pk_ashrrev_i16 v6, v0, v2", 32, |a, b, _| pair(a, b, |a, b| (sh(b) >> (a & 15)) as u64)),
    ("v_pk_min_i16 v6, v0, v2", 32, |a, b, _| pair(a, b, |a, b| sh(a).min(sh(b)) as u64)),
    ("v_pk_add_u16 v6, v0, v2 op_sel:[1,0] op_sel_hi:[0,1]", 32, |a, b, _| {
        h(h(a >> 16) + h(b)) | h(h(a) + h(b >> 16)) << 16
    }),
    ("v_dot4_i32_i8 v6, v0, v2, v4", 32, |a, b, c| {
        let f = |x: u64, i: u64| (x >> (8 * i)) as i8 as i64;
        ((0..4).map(|i| f(a, i) * f(b, i)).sum::<i64>() + s(c)) as u64
    }),
    ("v_dot8_u32_u4 v6, v0, v2, v4", 32, |a, b, c| {
        (0..8).map(|i| (a >> (4 * i) & 15) * (b >> (4 * i) & 15)).sum::<u64>() + u(c)
    }),
    ("v_dot2_i32_i16 v6, v0, v2, v4", 32, |a, b, c| {
        (sh(a) * sh(b) + sh(a >> 16) * sh(b >> 16) + s(c)) as u64
    }),
    // SDWA: bytes and words, sign extension, partial destinations.
    ("v_add_u32_sdwa v6, v0, v2 dst_sel:DWORD src0_sel:BYTE_1 src1_sel:WORD_1", 32, |a, b, _| {
        (a >> 8 & 0xff) + h(b >> 16)
    }),
    ("v_mov_b32_sdwa v6, sext(v0) dst_sel:DWORD src0_sel:BYTE_3", 32, |a, _, _| (a >> 24) as i8 as u64),
    (
        "v_mov_b32 v6, v4\n v_or_b32_sdwa v6, v0, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD",
        32,
        |a, b, c| c & !0xff_0000 | ((a | b) & 0xff) << 16,
    ),
    (
        "v_add_u16_sdwa v6, v0, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_1",
        32,
        |a, b, _| h(h(a) + h(b >> 16)) << 16,
    ),
    // 64 bits.
    ("v_lshlrev_b64 v[6:7], v0, v[2:3]", 64, |a, b, _| b << (a & 63)),
    ("v_lshrrev_b64 v[6:7], v0, v[2:3]", 64, |a, b, _| b >> (a & 63)),
    ("v_ashrrev_i64 v[6:7], v0, v[2:3]", 64, |a, b, _| (b as i64 >> (a & 63)) as u64),
    ("v_mad_u64_u32 v[6:7], vcc, v0, v2, v[4:5]", 64, |a, b, c| (u(a) * u(b)).wrapping_add(c)),
    ("v_mad_i64_i32 v[6:7], vcc, v0, v2, v[4:5]", 64, |a, b, c| ((s(a) * s(b)) as u64).wrapping_add(c)),
];

#[test]
fn lane_by_lane() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for &(text, bits, oracle) in CASES {
        for _ in 0..6 {
            let operands = triples(|| random.edgy(64));
            for simd in Simd::available() {
                let (r, _) = lanes("gfx90a", simd, text, 0x3f0, &operands);
                for (lane, [a, b, c]) in operands.iter().enumerate() {
                    let mask = if bits == 64 { !0 } else { 0xffff_ffff };
                    // Narrow oracles see 32-bit operands, shifts and all.
                    let narrow = |x: u64| if bits == 64 { x } else { x & 0xffff_ffff };
                    let expect = oracle(narrow(*a), narrow(*b), narrow(*c)) & mask;
                    assert_eq!(r[lane] & mask, expect, "{text} on {} with {a:#x} {b:#x} {c:#x}", simd.name());
                }
            }
        }
    }
}

#[test]
fn carries_and_compares() {
    type Bit = fn(u64, u64) -> bool;
    let cases: &[(&str, Bit)] = &[
        ("v_add_co_u32 v6, vcc, v0, v2", |a, b| u(a) + u(b) > u32::MAX as u64),
        ("v_sub_co_u32 v6, vcc, v0, v2", |a, b| u(b) > u(a)),
        ("v_subrev_co_u32 v6, vcc, v0, v2", |a, b| u(a) > u(b)),
        ("s_mov_b64 vcc, -1\n v_addc_co_u32 v6, vcc, v0, v2, vcc", |a, b| u(a) + u(b) + 1 > u32::MAX as u64),
        ("s_mov_b64 vcc, -1\n v_subb_co_u32 v6, vcc, v0, v2, vcc", |a, b| u(b) + 1 > u(a)),
        ("s_mov_b64 vcc, -1\n v_subbrev_co_u32 v6, vcc, v0, v2, vcc", |a, b| u(a) + 1 > u(b)),
        ("v_cmp_lt_i32 vcc, v0, v2", |a, b| s(a) < s(b)),
        ("v_cmp_ge_u32 vcc, v0, v2", |a, b| u(a) >= u(b)),
        ("v_cmp_ne_u32 vcc, v0, v2", |a, b| u(a) != u(b)),
        ("v_cmp_t_u32 vcc, v0, v2", |_, _| true),
        ("v_cmp_f_i32 vcc, v0, v2", |_, _| false),
        ("v_cmp_gt_i64 vcc, v[0:1], v[2:3]", |a, b| a as i64 > b as i64),
        ("v_cmp_le_u64 vcc, v[0:1], v[2:3]", |a, b| a <= b),
        ("v_cmp_lt_i16 vcc, v0, v2", |a, b| sh(a) < sh(b)),
        ("v_cmp_eq_u16 vcc, v0, v2", |a, b| h(a) == h(b)),
    ];
    let mut random = Random(77);
    for &(text, oracle) in cases {
        for _ in 0..6 {
            let operands = triples(|| random.edgy(64));
            for simd in Simd::available() {
                let (_, vcc) = lanes("gfx90a", simd, text, 0x3f0, &operands);
                for (lane, [a, b, _]) in operands.iter().enumerate() {
                    assert_eq!(
                        vcc >> lane & 1 != 0,
                        oracle(*a, *b),
                        "{text} on {}: {a:#x} {b:#x}",
                        simd.name()
                    );
                }
            }
        }
    }
}
