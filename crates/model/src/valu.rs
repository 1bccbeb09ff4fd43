//! Vector instructions: which lanes run, where results go, and the operations that move data between lanes.

use crate::approx::{self, Approx};
use crate::convert::{self, Out};
use crate::float::{Env, Fmt};
use crate::fp::{self, Fp, finish};
use crate::int::{self, Int, sext, zext};
use crate::operand::{Dpp, code, dpp_source, dpp_writes, read, sdwa_merge, source, vdst, vector};
use crate::{Allowed, State, Tolerance, Unmodelled, packed};
use wavemill_isa::Inst;
use wavemill_isa::encoding::bits;
use wavemill_isa::row::{Access, Class, Enc, Form, Kind, Role, Ty, flag};

/// A lane's result.
enum Value {
    /// These bits.
    Exact(u128),
    /// A number within bounds, before output modifiers.
    About(Fmt, i128, i128),
}

/// What a lane computes: a vector result, a mask bit, or both.
struct Lane {
    value: Option<Value>,
    bit: Option<bool>,
}

/// A scalar float type's format.
pub fn format(ty: Ty) -> Option<Fmt> {
    match (ty.kind, ty.bits, ty.count) {
        (Kind::F, 16, 1) => Some(Fmt::F16),
        (Kind::F, 32, 1) => Some(Fmt::F32),
        (Kind::F, 64, 1) => Some(Fmt::F64),
        _ => None,
    }
}

/// The CLAMP bit, wherever the form has it.
pub fn clamp_bit(state: &State, inst: &Inst) -> bool {
    let field = match inst.form {
        Form::Sdwa if inst.row.enc == Enc::Vopc => return false,
        Form::Sdwa => bits::SDWA_CLAMP,
        _ if !inst.is_vop3_layout() => return false,
        // The scalar destination is in its place.
        _ if !state.level.is_vi_plus() && wavemill_isa::canonical::is_vop3b(inst) => return false,
        _ if state.level.is_vi_plus() => bits::VOP3_CLAMP,
        _ => bits::VOP3_CLAMP_SI,
    };
    // V_MUL_LO_U16 saturates, too, where its form has the bit.
    (inst.row.has(flag::CLAMP) || inst.row.name == "v_mul_lo_u16") && field.get(inst.bits) != 0
}

/// The output modifier, 0 if the form has none.
pub fn omod(state: &State, inst: &Inst) -> u32 {
    if !inst.row.has(flag::OMOD) {
        return 0;
    }
    match inst.form {
        Form::Sdwa if state.level.is_gfx9() => bits::SDWA_OMOD.get(inst.bits),
        Form::Sdwa | Form::Dpp => 0,
        _ if inst.is_vop3_layout() => bits::VOP3_OMOD.get(inst.bits),
        _ => 0,
    }
}

/// Executes a vector instruction.
pub fn execute(state: &mut State, inst: &Inst) -> Result<Vec<Tolerance>, Unmodelled> {
    let row = inst.row;
    state.pc += inst.len as u64;
    // VSKIP skips them all (manual 3.5).
    if state.mode >> 28 & 1 != 0 {
        return Ok(Vec::new());
    }
    let old = state.clone();
    let exec = old.exec();
    if cross_lane(state, &old, inst)? {
        return Ok(Vec::new());
    }
    let mut tolerances = Vec::new();
    let mut mask = 0u64;
    let mut has_mask = false;
    for lane in 0..64 {
        // The operation is looked up for every lane, so that a missing one shows with EXEC = 0, too.
        let result = lane_result(&old, inst, lane).ok_or(Unmodelled::Missing)?;
        has_mask |= result.bit.is_some();
        if exec >> lane & 1 == 0 {
            continue;
        }
        // A lane without a DPP source, or masked off, does nothing.
        if inst.form == Form::Dpp
            && (!dpp_writes(inst, lane) || matches!(dpp_source(&old, inst, lane), Dpp::Disabled))
        {
            continue;
        }
        mask |= (result.bit == Some(true)) as u64 * (1 << lane);
        if let Some(value) = result.value {
            write(state, &old, inst, lane, value, &mut tolerances);
        }
    }
    // Instructions with two destinations write both or none (manual 3.6.1).
    let missing = row
        .operand(Role::Vdst)
        .is_some_and(|o| vdst(&old, inst) as usize + o.ty.dwords() as usize > old.vgprs.len());
    if has_mask && !missing {
        state.set_sgpr64(mask_destination(&old, inst), mask);
        if row.writes & wavemill_isa::row::state::EXEC != 0 {
            state.set_sgpr64(126, mask);
        }
    }
    Ok(tolerances)
}

/// Where a compare's or carry's mask goes.
fn mask_destination(state: &State, inst: &Inst) -> u32 {
    match inst.form {
        Form::Sdwa if inst.row.enc == Enc::Vopc && state.level.is_gfx9() => {
            match bits::SDWA_SD.get(inst.bits) {
                0 => 106,
                _ => bits::SDWA_SDST.get(inst.bits),
            }
        }
        _ if !inst.is_vop3_layout() => 106,
        _ => {
            let op = inst
                .row
                .operands
                .iter()
                .find(|o| o.access == Access::Write && (o.role == Role::Vcc || o.role == Role::Sdst));
            op.map_or(106, |op| inst.field_of(op).get(inst.bits))
        }
    }
}

/// Instructions that are not done lane by lane. True if it was one.
fn cross_lane(state: &mut State, old: &State, inst: &Inst) -> Result<bool, Unmodelled> {
    let row = inst.row;
    let op = |role| row.operand(role);
    let scalar_dst = || op(Role::Sdst).map_or(0, |o| inst.field_of(o).get(inst.bits)) as usize;
    let m0 = old.sgprs[124];
    let exec = old.exec();
    let active = (0..64usize).filter(|l| exec >> l & 1 != 0);
    let vdst = vdst(old, inst);
    match row.name {
        // No exceptions are pending between instructions.
        "v_nop" | "v_clrexcp" => {}
        "v_readfirstlane_b32" => {
            let Some(o) = op(Role::Src0) else { return Err(Unmodelled::Missing) };
            let lane = if exec == 0 { 0 } else { exec.trailing_zeros() as usize };
            state.sgprs[scalar_dst()] = read(old, inst, o, lane) as u32;
        }
        "v_readlane_b32" | "v_writelane_b32" => {
            let (Some(o), Some(select)) = (op(Role::Src0), op(Role::Src1)) else {
                return Err(Unmodelled::Missing);
            };
            let lane = read(old, inst, select, 0) as usize & 63;
            if row.name == "v_readlane_b32" {
                state.sgprs[scalar_dst()] = read(old, inst, o, lane) as u32;
            } else if let Some(r) = state.vgprs.get_mut(vdst as usize) {
                r[lane] = read(old, inst, o, 0) as u32;
            }
        }
        "v_swap_b32" => {
            let Some(o) = op(Role::Src0) else { return Err(Unmodelled::Missing) };
            let other = code(old, inst, o) - 256;
            // Two destinations: both exist or neither is written (manual 3.6.1).
            if vdst.max(other) as usize >= old.vgprs.len() {
                return Ok(true);
            }
            for lane in active {
                let (a, b) = (vector(&old.vgprs, vdst, 1, lane), vector(&old.vgprs, other, 1, lane));
                set(&mut state.vgprs, vdst, lane, b as u32);
                set(&mut state.vgprs, other, lane, a as u32);
            }
        }
        "v_movreld_b32" | "v_movrels_b32" | "v_movrelsd_b32" => {
            let Some(o) = op(Role::Src0) else { return Err(Unmodelled::Missing) };
            for lane in active {
                let v = if row.name == "v_movreld_b32" {
                    read(old, inst, o, lane)
                } else {
                    vector(&old.vgprs, code(old, inst, o) - 256 + m0, 1, lane)
                };
                let to = if row.name == "v_movrels_b32" { vdst } else { vdst + m0 };
                set(&mut state.vgprs, to, lane, v as u32);
            }
        }
        "v_accvgpr_read_b32" | "v_accvgpr_write_b32" | "v_accvgpr_mov_b32" => {
            let (Some(o), Some(d)) = (op(Role::Src0), op(Role::Vdst)) else {
                return Err(Unmodelled::Missing);
            };
            let file = if d.class == Class::Agpr { &mut state.agprs } else { &mut state.vgprs };
            for lane in active {
                set(file, vdst, lane, read(old, inst, o, lane) as u32);
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn set(file: &mut [[u32; 64]], index: u32, lane: usize, value: u32) {
    if let Some(r) = file.get_mut(index as usize) {
        r[lane] = value;
    }
}

/// What a lane computes from its sources.
fn lane_result(state: &State, inst: &Inst, lane: usize) -> Option<Lane> {
    let row = inst.row;
    let name = row.name;
    let env = Env::new(state.mode, state.level);
    let clamp = clamp_bit(state, inst);
    let get = |role| row.operand(role).map_or(0, |o| source(state, inst, o, lane));
    let s: [u128; 3] = [Role::Src0, Role::Src1, Role::Src2].map(get);
    let dst = row.operand(Role::Vdst);
    let d = dst.map_or(0, |o| vector(&state.vgprs, vdst(state, inst), o.ty.dwords(), lane));
    let exact = |v: u128| Some(Lane { value: Some(Value::Exact(v)), bit: None });
    // The carry in or selector: VCC, or the third source in VOP3.
    let carry_in =
        row.operands.iter().find(|o| o.role == Role::Vcc && o.access == Access::Read).is_some_and(|o| {
            let from = if inst.is_vop3_layout() { read(state, inst, o, 0) as u64 } else { state.vcc() };
            from >> lane & 1 != 0
        });
    if row.enc == Enc::Vopc {
        return Some(Lane { value: None, bit: Some(compare(&env, inst, s)?) });
    }
    if row.enc == Enc::Vop3p {
        return exact(packed::execute(state, inst, lane, d)?);
    }
    let vcc = state.vcc() >> lane & 1 != 0;
    let fp = Fp { env, level: state.level, vcc };
    match name {
        "v_cndmask_b32" => return exact(if carry_in { s[1] } else { s[0] }),
        "v_div_scale_f32" | "v_div_scale_f64" => {
            let f = format(dst?.ty)?;
            let (v, bit) = fp::div_scale(f, s.map(|v| env.input(f, v as u64)));
            let v = finish(&env, f, &v.into(), omod(state, inst), clamp);
            return Some(Lane { value: Some(Value::Exact(v as u128)), bit: Some(bit) });
        }
        "v_mad_u64_u32" | "v_mad_i64_i32" => {
            let int = Int { clamp, lane };
            let (v, bit) = if name == "v_mad_u64_u32" {
                let sum = zext(s[0], 32) * zext(s[1], 32) + zext(s[2], 64);
                (int.unsigned(sum, 64), sum >> 64 & 1 != 0)
            } else {
                let sum = sext(s[0], 32) * sext(s[1], 32) + sext(s[2], 64);
                (int.signed(sum, 64), sum >> 64 & 1 != 0)
            };
            return Some(Lane { value: Some(Value::Exact(v)), bit: Some(bit) });
        }
        _ => {}
    }
    if row.operands.iter().any(|o| o.role == Role::Vcc && o.access == Access::Write) {
        let (v, bit) = int::carry(name, clamp, s[0], s[1], carry_in)?;
        return Some(Lane { value: Some(Value::Exact(v)), bit: Some(bit) });
    }
    if let Some(v) = int::op(name, Int { clamp, lane }, s, d) {
        return exact(v);
    }
    let omod = omod(state, inst);
    let done = |f: Fmt, r: &fp::Result| finish(&env, f, r, omod, clamp) as u128;
    if let Some(out) = convert::op(name, &fp, s, d) {
        return exact(match out {
            Out::Bits(v) => v,
            Out::Number(f, r) => done(f, &r),
            Out::Halves(lo, hi) => done(Fmt::F16, &hi) << 16 | done(Fmt::F16, &lo),
        });
    }
    match name {
        "v_pk_fmac_f16" => {
            let half = |shift: u32| {
                let at = |v: u128| (v >> shift) as u64 & 0xffff;
                let r = fp::op("v_fma_f16", Fmt::F16, &fp, [at(s[0]), at(s[1]), at(d)], 0, 0)?;
                Some(done(Fmt::F16, &r))
            };
            return exact(half(16)? << 16 | half(0)?);
        }
        "v_dot2c_f32_f16" => {
            let pair = |shift: u32| [(s[0] >> shift) as u64 & 0xffff, (s[1] >> shift) as u64 & 0xffff];
            let v = packed::dot2(&env, state.level, [pair(0), pair(16)], d as u64, false);
            return exact(done(Fmt::F32, &fp::Result { raw: v.into(), flush: false, keep: true }));
        }
        _ => {}
    }
    let f = format(dst?.ty)?;
    if let Some(a) = approx::op(name, f, &fp, s[0] as u64) {
        return match a {
            Approx::Exact(raw) => exact(done(f, &raw.into())),
            Approx::Span(lo, hi) => Some(Lane { value: Some(Value::About(f, lo, hi)), bit: None }),
        };
    }
    let k = inst.bits >> 32 & f.mask();
    let d = d as u64 & f.mask();
    exact(done(f, &fp::op(name, f, &fp, s.map(|v| v as u64), d, k)?))
}

/// A compare's answer for a lane (manual 12.9).
fn compare(env: &Env, inst: &Inst, s: [u128; 3]) -> Option<bool> {
    let ty = inst.row.operand(Role::Src0)?.ty;
    let name = inst.row.name;
    let stem = ["v_cmpx_", "v_cmpsx_", "v_cmps_", "v_cmp_"].iter().find_map(|p| name.strip_prefix(p))?;
    let relation = stem.rsplit_once('_')?.0;
    let Some(f) = format(ty) else {
        let bits = ty.bits as u32;
        let order = match ty.kind {
            Kind::I => sext(s[0], bits).cmp(&sext(s[1], bits)),
            _ => zext(s[0], bits).cmp(&zext(s[1], bits)),
        };
        return Some(match relation {
            "f" => false,
            "lt" => order.is_lt(),
            "eq" => order.is_eq(),
            "le" => order.is_le(),
            "gt" => order.is_gt(),
            "ne" => order.is_ne(),
            "ge" => order.is_ge(),
            "t" => true,
            _ => return None,
        });
    };
    let [a, b, _] = s.map(|v| v as u64);
    if relation == "class" {
        return Some(b >> convert::class(f, a) & 1 != 0);
    }
    let order = f.compare(env.input(f, a), env.input(f, b));
    let is = |test: fn(std::cmp::Ordering) -> bool| order.is_some_and(test);
    Some(match relation {
        "f" => false,
        "lt" => is(|o| o.is_lt()),
        "eq" => is(|o| o.is_eq()),
        "le" => is(|o| o.is_le()),
        "gt" => is(|o| o.is_gt()),
        "lg" => is(|o| o.is_ne()),
        "ge" => is(|o| o.is_ge()),
        "o" => order.is_some(),
        "u" => order.is_none(),
        "nge" => !is(|o| o.is_ge()),
        "nlg" => !is(|o| o.is_ne()),
        "ngt" => !is(|o| o.is_gt()),
        "nle" => !is(|o| o.is_le()),
        "neq" => !is(|o| o.is_eq()),
        "nlt" => !is(|o| o.is_lt()),
        "tru" => true,
        _ => return None,
    })
}

/// Whether a 16-bit result leaves the register's other half alone. GFX8 zeroes it; GFX9 keeps it in what is new there
/// and in the multiply-adds (the manual for V_MAD_F16 and its kind, LLVM's `zeroesHigh16BitsOfDest` for the rest).
fn keeps_other_half(state: &State, inst: &Inst) -> bool {
    let name = inst.row.name;
    state.level.is_gfx9()
        && (inst.row.has(flag::OP_SEL) || matches!(name, "v_mac_f16" | "v_madmk_f16" | "v_madak_f16"))
}

/// The dword that a lane's register becomes.
fn placed(state: &State, inst: &Inst, ty: Ty, old: u32, result: u32) -> u32 {
    if inst.form == Form::Sdwa {
        return sdwa_merge(old, result, bits::SDWA_DST_SEL.get(inst.bits), bits::SDWA_DST_U.get(inst.bits));
    }
    if ty.bits == 16 && ty.count == 1 && inst.row.enc != Enc::Vop3p {
        let op_sel = inst.row.has(flag::OP_SEL) && state.level.is_gfx9() && inst.is_vop3_layout();
        if op_sel && bits::VOP3_OP_SEL.get(inst.bits) & 8 != 0 {
            return old & 0xffff | result << 16;
        }
        if keeps_other_half(state, inst) {
            return old & 0xffff_0000 | result & 0xffff;
        }
    }
    result
}

fn write(
    state: &mut State,
    old: &State,
    inst: &Inst,
    lane: usize,
    value: Value,
    tolerances: &mut Vec<Tolerance>,
) {
    let Some(op) = inst.row.operand(Role::Vdst) else { return };
    let vdst = vdst(old, inst);
    let before = vector(&old.vgprs, vdst, 1, lane) as u32;
    let place = |v: u32| placed(old, inst, op.ty, before, v);
    // A destination (any part of it) beyond the file is not written.
    if vdst as usize + op.ty.dwords() as usize > old.vgprs.len() {
        return;
    }
    let (f, lo, hi) = match value {
        Value::Exact(v) if op.ty.dwords() == 1 => {
            set(&mut state.vgprs, vdst, lane, place(v as u32));
            return;
        }
        Value::Exact(v) => {
            for i in 0..op.ty.dwords() as u32 {
                set(&mut state.vgprs, vdst + i, lane, (v >> (32 * i)) as u32);
            }
            return;
        }
        Value::About(f, lo, hi) => (f, lo, hi),
    };
    let env = Env::new(old.mode, old.level);
    let (omod, clamp) = (omod(old, inst), clamp_bit(old, inst));
    // The f32 ones never give a denormal.
    let flush = f == Fmt::F32 && !inst.row.name.starts_with("v_sin") && !inst.row.name.starts_with("v_cos");
    let done = |key: i128| {
        let bits = f.from_key(key);
        let overflow = f.is_inf(bits);
        finish(
            &env,
            f,
            &fp::Result { raw: crate::float::Raw { bits, overflow }, flush, keep: false },
            omod,
            clamp,
        )
    };
    let allowed = if hi - lo <= 8 && f != Fmt::F64 {
        Allowed::OneOf((lo..=hi).map(|k| place(done(k) as u32)).collect())
    } else {
        let (lo, hi) = (f.key(done(lo)), f.key(done(hi)));
        let shift = match bits::SDWA_DST_SEL.get(inst.bits) {
            _ if inst.form != Form::Sdwa => 0,
            5 if f == Fmt::F16 => 16,
            4 if f == Fmt::F16 => 0,
            6 | 7 => 0,
            // Part of a number: nothing can be said.
            _ => 64,
        };
        Allowed::Between(f, shift, lo.min(hi), lo.max(hi))
    };
    tolerances.push(Tolerance { vgpr: vdst as usize, lane, allowed });
}
