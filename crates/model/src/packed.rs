//! VOP3P: packed, mixed and dot-product instructions (manual 6.7 and 12.10).

use crate::State;
use crate::float::{Env, Fmt, Raw};
use crate::fp::{Fp, Result, finish, op};
use crate::int::{Int, dot, sext, zext};
use crate::operand::{code, read, scalar};
use rustc_apfloat::Round;
use wavemill_isa::encoding::bits;
use wavemill_isa::row::{Kind, Role, Ty, flag};
use wavemill_isa::{Inst, Level};

const ROLES: [Role; 3] = [Role::Src0, Role::Src1, Role::Src2];

/// The modifier bits of a source.
struct Mods {
    op_sel: bool,
    op_sel_hi: bool,
    neg: bool,
    neg_hi: bool,
}

fn mods(inst: &Inst, i: u8) -> Mods {
    let bit = |n: u8| inst.bits >> n & 1 != 0;
    Mods {
        op_sel: bit(bits::VOP3P_OP_SEL.lo + i),
        op_sel_hi: bit(if i == 2 { bits::VOP3P_OP_SEL_HI2.lo } else { bits::VOP3P_OP_SEL_HI.lo + i }),
        neg: bit(bits::VOP3_NEG.lo + i),
        neg_hi: bit(bits::VOP3P_NEG_HI.lo + i),
    }
}

/// A lane's result of a VOP3P instruction; `old` is the destination before.
pub fn execute(state: &State, inst: &Inst, lane: usize, old: u128) -> Option<u128> {
    let row = inst.row;
    let env = Env::new(state.mode, state.level);
    let clamp = row.has(flag::CLAMP) && bits::VOP3_CLAMP.get(inst.bits) != 0;
    if row.has(flag::MIX) {
        return mix(state, inst, lane, old as u32, &env, clamp);
    }
    let source = |i: usize| row.operand(ROLES[i]).map_or(0, |o| read(state, inst, o, lane));
    let raw = [source(0), source(1), source(2)];
    if row.name == "v_pk_mov_b32" {
        // op_sel picks the dword of each source; the manual's text is op_sel = 0.
        let pick = |i: usize| if mods(inst, i as u8).op_sel { raw[i] >> 32 } else { raw[i] & 0xffff_ffff };
        return Some(pick(1) << 32 | pick(0));
    }
    let ty = row.operand(Role::Src0)?.ty;
    let element = ty.bits as u32;
    let operands = |high: bool| operands(inst, raw, element, ty.kind == Kind::F, high);
    let fp = Fp { env, level: state.level, vcc: false };
    if let Some(name) = float_name(row.name) {
        let fmt = if element == 16 { Fmt::F16 } else { Fmt::F32 };
        let half = |high| {
            let r = op(name, fmt, &fp, operands(high).map(|v| v as u64), 0, 0)?;
            Some(finish(&env, fmt, &r, 0, clamp) as u128)
        };
        return Some(half(true)? << element | half(false)?);
    }
    let int = Int { clamp, lane };
    if row.name.starts_with("v_pk_") {
        let half = |high| packed_int(row.name, int, operands(high));
        return Some(half(true)? << 16 | half(false)?);
    }
    let s2 = raw[2];
    Some(match row.name {
        "v_dot2_f32_f16" => {
            let [lo, hi] = [operands(false), operands(true)].map(|v| v.map(|x| x as u64));
            let m = mods(inst, 2);
            let mut c = s2 as u32;
            if m.neg {
                c ^= 1 << 31;
            }
            dot2(&env, state.level, [[lo[0], lo[1]], [hi[0], hi[1]]], c as u64, clamp) as u128
        }
        "v_dot2_i32_i16" | "v_dot2_u32_u16" => {
            let [lo, hi] = [operands(false), operands(true)];
            let (a, b) = (hi[0] << 16 | lo[0], hi[1] << 16 | lo[1]);
            if row.name.contains("_i16") {
                int.signed(dot(a, b, 16, true) + sext(s2, 32), 32)
            } else {
                int.unsigned(dot(a, b, 16, false) + zext(s2, 32), 32)
            }
        }
        "v_dot4_i32_i8" => int.signed(dot(raw[0], raw[1], 8, true) + sext(s2, 32), 32),
        "v_dot4_u32_u8" => int.unsigned(dot(raw[0], raw[1], 8, false) + zext(s2, 32), 32),
        "v_dot8_i32_i4" => int.signed(dot(raw[0], raw[1], 4, true) + sext(s2, 32), 32),
        "v_dot8_u32_u4" => int.unsigned(dot(raw[0], raw[1], 4, false) + zext(s2, 32), 32),
        _ => return None,
    })
}

/// The element of each source that the low or the high result is made of.
pub fn operands(inst: &Inst, raw: [u128; 3], element: u32, float: bool, high: bool) -> [u128; 3] {
    std::array::from_fn(|i| {
        let m = mods(inst, i as u8);
        let (upper, neg) = if high { (m.op_sel_hi, m.neg_hi) } else { (m.op_sel, m.neg) };
        let v = (if upper { raw[i] >> element } else { raw[i] }) & ((1 << element) - 1);
        if neg && float { v ^ 1 << (element - 1) } else { v }
    })
}

/// The scalar instruction that a packed one does twice.
pub fn float_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "v_pk_fma_f16" => "v_fma_f16",
        "v_pk_add_f16" => "v_add_f16",
        "v_pk_mul_f16" => "v_mul_f16",
        "v_pk_min_f16" => "v_min_f16",
        "v_pk_max_f16" => "v_max_f16",
        "v_pk_fma_f32" => "v_fma_f32",
        "v_pk_mul_f32" => "v_mul_f32",
        "v_pk_add_f32" => "v_add_f32",
        _ => return None,
    })
}

fn packed_int(name: &str, c: Int, [a, b, e]: [u128; 3]) -> Option<u128> {
    let (h0, h1, h2) = (zext(a, 16), zext(b, 16), zext(e, 16));
    let (w0, w1, w2) = (sext(a, 16), sext(b, 16), sext(e, 16));
    let half = |v: i128| (v & 0xffff) as u128;
    Some(match name {
        "v_pk_mad_i16" => c.signed(w0 * w1 + w2, 16),
        "v_pk_mad_u16" => c.unsigned(h0 * h1 + h2, 16),
        "v_pk_mul_lo_u16" => c.unsigned(h0 * h1, 16),
        "v_pk_add_i16" => c.signed(w0 + w1, 16),
        "v_pk_sub_i16" => c.signed(w0 - w1, 16),
        "v_pk_add_u16" => c.unsigned(h0 + h1, 16),
        "v_pk_sub_u16" => c.unsigned(h0 - h1, 16),
        "v_pk_lshlrev_b16" => half(h1 << (h0 & 15)),
        "v_pk_lshrrev_b16" => half(h1 >> (h0 & 15)),
        "v_pk_ashrrev_i16" => half(w1 >> (h0 & 15)),
        "v_pk_max_i16" => half(w0.max(w1)),
        "v_pk_min_i16" => half(w0.min(w1)),
        "v_pk_max_u16" => half(h0.max(h1)),
        "v_pk_min_u16" => half(h0.min(h1)),
        _ => return None,
    })
}

/// V_DOT2_F32_F16 rounds to nearest and does not look at MODE. gfx90a flushes denormals (manual 6.4, and measured in LLVM's
/// pull request 205101), the others keep them (gfx950, the same place). The manual does not say in which order it
/// adds; LLVM forms it from fma(lo, lo, fma(hi, hi, c)).
pub fn dot2(env: &Env, level: Level, pairs: [[u64; 2]; 2], c: u64, clamp: bool) -> u64 {
    let near = Round::NearestTiesToEven;
    let f = Fmt::F32;
    let flush = level == Level::Gfx90a;
    let put = |f: Fmt, v: u64| if flush { f.flush(v) } else { v };
    let wide = |h: u64| Fmt::F16.convert(f, put(Fmt::F16, h), near).bits;
    let step = |[a, b]: [u64; 2], c: u64| f.fma(wide(a), wide(b), put(f, c), near);
    let raw = step(pairs[0], step(pairs[1], c).bits);
    finish(env, f, &Result { raw, flush, keep: !flush }, 0, clamp)
}

/// The sources of V_FMA_MIX and V_MAD_MIX: each is an f32 or a half of a register, chosen by op_sel_hi and op_sel.
pub fn mix_sources(state: &State, inst: &Inst, lane: usize) -> Option<[(Fmt, u64); 3]> {
    let source = |i: usize| -> Option<(Fmt, u64)> {
        let o = inst.row.operand(ROLES[i])?;
        let m = mods(inst, i as u8);
        let bits = if m.op_sel_hi { 16 } else { 32 };
        let ty = Ty { kind: Kind::F, bits, count: 1 };
        let code = code(state, inst, o);
        let dword =
            if code < 256 { scalar(state, inst, code, ty) } else { read(state, inst, o, lane) as u64 };
        let fmt = if m.op_sel_hi { Fmt::F16 } else { Fmt::F32 };
        let mut v = if m.op_sel_hi && m.op_sel { dword >> 16 } else { dword } & fmt.mask();
        if m.neg_hi {
            v &= !fmt.sign();
        }
        if m.neg {
            v ^= fmt.sign();
        }
        Some((fmt, v))
    };
    Some([source(0)?, source(1)?, source(2)?])
}

/// V_FMA_MIX and V_MAD_MIX.
fn mix(state: &State, inst: &Inst, lane: usize, old: u32, env: &Env, clamp: bool) -> Option<u128> {
    let near = Round::NearestTiesToEven;
    let fused = inst.row.name.starts_with("v_fma");
    let s = mix_sources(state, inst, lane)?.map(|(fmt, v)| {
        // gfx900's unfused ones know no denormals of either width (Mesa's compiler and LLVM's count on it).
        let v = if fused { env.input(fmt, v) } else { fmt.flush(v) };
        if fmt == Fmt::F16 { fmt.convert(Fmt::F32, v, near).bits } else { v }
    });
    let fp = Fp { env: *env, level: state.level, vcc: false };
    let r = op(if fused { "v_fma_f32" } else { "v_mad_f32" }, Fmt::F32, &fp, s, 0, 0)?;
    if inst.row.name.ends_with("_f32") {
        return Some(finish(env, Fmt::F32, &r, 0, clamp) as u128);
    }
    // The sum is an f32 first.
    let sum = finish(env, Fmt::F32, &r, 0, false);
    let half: Raw = Fmt::F32.convert(Fmt::F16, sum, env.round(Fmt::F16));
    let half = Result { raw: half, flush: !fused, keep: false };
    let h = finish(env, Fmt::F16, &half, 0, clamp) as u32;
    Some(if inst.row.name.contains("mixhi") { old & 0xffff | h << 16 } else { old & 0xffff_0000 | h } as u128)
}
