//! Reading operands: registers, constants, and the modifiers of VOP3, SDWA and DPP.

use crate::State;
use wavemill_isa::Inst;
use wavemill_isa::encoding::bits;
use wavemill_isa::row::{Class, Form, Kind, Operand, Role, Ty};

/// What M0 adds to a vector register's number while register indexing is on (manual 6.6): `bit` of M0 enables it.
fn index(state: &State, bit: u32) -> u32 {
    let m0 = state.sgprs[124];
    let on = state.level.is_vi_plus() && state.mode >> 27 & 1 != 0 && m0 >> bit & 1 != 0;
    if on { m0 & 0xff } else { 0 }
}

/// The number of the destination register.
pub fn vdst(state: &State, inst: &Inst) -> u32 {
    let vgpr = inst.row.operand(Role::Vdst).is_some_and(|o| o.class != Class::Agpr);
    inst.get(Role::Vdst) + if vgpr { index(state, 15) } else { 0 }
}

/// The nine-bit operand code of a source: 256 and up are vector registers, indexed if M0 says so.
pub fn code(state: &State, inst: &Inst, op: &Operand) -> u32 {
    let code = plain_code(inst, op);
    if code < 256 || op.class == Class::Agpr {
        return code;
    }
    // V_MADMK adds its second register: it is the third source of the multiply-add (manual 6.6.2).
    let madmk = inst.row.name.starts_with("v_madmk") && op.role == Role::Src1;
    let slot = if madmk { 2 } else { op.role.source_index().unwrap_or(0) };
    code + index(state, 12 + slot as u32)
}

/// The code before indexing.
pub fn plain_code(inst: &Inst, op: &Operand) -> u32 {
    let field = inst.field_of(op).get(inst.bits);
    let i = op.role.source_index();
    match (inst.form, i) {
        (Form::Dpp, Some(_)) => 256 + field,
        (Form::Sdwa, Some(i)) => {
            let scalar = inst.bits >> (bits::SDWA_S.lo + 8 * i) & 1 != 0;
            if scalar { field } else { 256 + field }
        }
        (_, Some(1)) if !inst.is_vop3_layout() && op.class != Class::Scalar => 256 + field,
        _ => field,
    }
}

/// The bits of an inline float in an operand of a type.
fn inline_float(code: u32, ty: Ty) -> u64 {
    const VALUES: [f64; 8] = [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0];
    // 1/(2 pi) is given as bits (manual 6.2.2, table 20).
    let (f16, f32, f64) = match VALUES.get(code as usize - 240) {
        Some(&v) => {
            let single = (v as f32).to_bits();
            // The sign, and the exponent moved to its narrower place; the fraction is 0.
            let exponent = (single >> 23 & 0xff) as i32 - 127 + 15;
            ((single >> 31 << 15) | (exponent as u32) << 10, single, v.to_bits())
        }
        None => (0x3118, 0x3e22_f983, 0x3fc4_5f30_6dc9_c882),
    };
    match (ty.kind, ty.bits) {
        (_, 64) => f64,
        (Kind::F, 16) => f16 as u64,
        _ => f32 as u64,
    }
}

/// A scalar source: register, constant or literal. `width` is the operand's bits, all elements together.
pub fn scalar(state: &State, inst: &Inst, code: u32, ty: Ty) -> u64 {
    let width = ty.bits as u32 * ty.count as u32;
    let low = |v: u64| if width > 32 { v } else { v & 0xffff_ffff };
    match code {
        0..=127 if width > 32 => state.sgpr64(code),
        0..=127 => state.sgprs[code as usize] as u64,
        128..=192 => (code - 128) as u64,
        193..=208 => low((192 - code as i64) as u64),
        240..=248 => inline_float(code, ty),
        251 => (state.vcc() == 0) as u64,
        252 => (state.exec() == 0) as u64,
        253 => state.scc as u64,
        255 => {
            let literal = (inst.bits >> 32) as u32;
            match (ty.kind, width) {
                // Manual 6.2.1.1.
                (Kind::F, 64) => (literal as u64) << 32,
                (Kind::I, 64) => literal as i32 as i64 as u64,
                _ => literal as u64,
            }
        }
        _ => 0,
    }
}

/// A vector register (tuple) of a lane; beyond the file it is v0 (manual 6.2.3).
pub fn vector(file: &[[u32; 64]], index: u32, dwords: u8, lane: usize) -> u128 {
    (0..dwords as u32)
        .map(|i| {
            let r = file.get((index + i) as usize).or(file.first());
            (r.map_or(0, |r| r[lane]) as u128) << (32 * i)
        })
        .sum()
}

/// A source's bits before modifiers.
pub fn read(state: &State, inst: &Inst, op: &Operand, lane: usize) -> u128 {
    let code = code(state, inst, op);
    if code < 256 {
        return scalar(state, inst, code, op.ty) as u128;
    }
    let file = if op.class == Class::Agpr { &state.agprs } else { &state.vgprs };
    vector(file, code - 256, op.ty.dwords(), lane)
}

/// Part of a dword that SDWA selects, sign-extended if asked.
pub fn sdwa_select(dword: u32, sel: u32, sext: bool) -> u32 {
    let (shift, width) = match sel {
        0..=3 => (8 * sel, 8),
        4 | 5 => (16 * (sel - 4), 16),
        _ => (0, 32),
    };
    let v = dword >> shift << (32 - width);
    if sext { (v as i32 >> (32 - width)) as u32 } else { v >> (32 - width) }
}

/// Where SDWA puts a result into the old register.
pub fn sdwa_merge(old: u32, result: u32, sel: u32, unused: u32) -> u32 {
    let (shift, width) = match sel {
        0..=3 => (8 * sel, 8),
        4 | 5 => (16 * (sel - 4), 16),
        _ => return result,
    };
    let mask = ((1u32 << width) - 1) << shift;
    let field = result << shift & mask;
    let rest = match unused {
        // Sign extension upwards, zeros below.
        1 if field >> (shift + width - 1) & 1 != 0 => (!0u32).checked_shl(shift + width).unwrap_or(0),
        2 => old & !mask,
        _ => 0,
    };
    field | rest
}

/// The lane that DPP reads for a lane, or nothing where there is none (manual table 83).
pub fn dpp_lane(ctrl: u32, n: usize) -> Option<usize> {
    let row = n & !15;
    let i = n & 15;
    let c = (ctrl & 15) as usize;
    match ctrl {
        0..=0xff => Some((n & !3) + (ctrl >> (2 * (n & 3)) & 3) as usize),
        0x101..=0x10f => (i + c < 16).then(|| n + c),
        0x111..=0x11f => (i >= c).then(|| n - c),
        0x121..=0x12f => Some(row + (i + 16 - c) % 16),
        0x130 => (n < 63).then_some(n + 1),
        0x134 => Some((n + 1) % 64),
        0x138 => n.checked_sub(1),
        0x13c => Some((n + 63) % 64),
        0x140 => Some(row + 15 - i),
        // Within eight lanes, whatever the formula says.
        0x141 => Some((n & !7) + 7 - (n & 7)),
        0x142 => (n > 15).then(|| row - 1),
        0x143 => (n > 31).then_some(31),
        0x150..=0x15f => Some(row + c),
        _ => None,
    }
}

/// What a lane's DPP source is.
pub enum Dpp {
    /// Another lane's.
    Lane(usize),
    /// Zero: no such lane, but the bound-control bit is set.
    Zero,
    /// Nothing: the lane does not write.
    Disabled,
}

/// DPP's source for a lane; a lane that EXEC disables has no data to give.
pub fn dpp_source(state: &State, inst: &Inst, lane: usize) -> Dpp {
    let from = dpp_lane(bits::DPP_CTRL.get(inst.bits), lane).filter(|&l| state.exec() >> l & 1 != 0);
    match from {
        Some(l) => Dpp::Lane(l),
        None if bits::DPP_BOUND.get(inst.bits) != 0 => Dpp::Zero,
        None => Dpp::Disabled,
    }
}

/// Whether DPP's row and bank masks let a lane write.
pub fn dpp_writes(inst: &Inst, lane: usize) -> bool {
    let row = bits::DPP_ROW.get(inst.bits) >> (lane / 16) & 1 != 0;
    let bank = bits::DPP_BANK.get(inst.bits) >> (lane / 4 % 4) & 1 != 0;
    row && bank
}

/// A source as the operation sees it: read, selected, absolute, negated.
pub fn source(state: &State, inst: &Inst, op: &Operand, lane: usize) -> u128 {
    let Some(i) = op.role.source_index() else { return read(state, inst, op, lane) };
    let row = inst.row;
    let width = op.ty.bits as u32 * op.ty.count as u32;
    let mut v = match (inst.form, op.role) {
        (Form::Dpp, Role::Src0) => match dpp_source(state, inst, lane) {
            Dpp::Lane(l) => read(state, inst, op, l),
            _ => 0,
        },
        _ => read(state, inst, op, lane),
    };
    let at = |f: wavemill_isa::encoding::Field| inst.bits >> (f.lo + i) & 1 != 0;
    let (mut neg, mut abs) = (false, false);
    let mut signed = width;
    match inst.form {
        Form::Sdwa => {
            let field = |f: wavemill_isa::encoding::Field| inst.bits >> (f.lo + 8 * i) & ((1 << f.width) - 1);
            let sext = field(bits::SDWA_SEXT) != 0;
            v = sdwa_select(v as u32, field(bits::SDWA_SEL) as u32, sext) as u128;
            neg = field(bits::SDWA_NEG) != 0;
            abs = field(bits::SDWA_ABS) != 0;
        }
        Form::Dpp => {
            neg = inst.bits >> (bits::DPP_NEG_ABS.lo + 2 * i) & 1 != 0;
            abs = inst.bits >> (bits::DPP_NEG_ABS.lo + 2 * i + 1) & 1 != 0;
        }
        _ if inst.is_vop3_layout() && row.enc != wavemill_isa::row::Enc::Vop3p => {
            if row.has(wavemill_isa::row::flag::OP_SEL)
                && state.level.is_gfx9()
                && width == 16
                && at(bits::VOP3_OP_SEL)
            {
                v >>= 16;
            }
            neg = at(bits::VOP3_NEG);
            abs = at(bits::VOP3_ABS) && !wavemill_isa::canonical::is_vop3b(inst);
        }
        _ => {}
    }
    if row.neg >> i & 1 == 0 {
        (neg, abs) = (false, false);
    }
    if op.ty.count > 1 {
        signed = op.ty.bits as u32;
    }
    // Both halves of a packed operand change sign.
    for element in 0..op.ty.count as u32 {
        let sign = 1u128 << (signed * (element + 1) - 1);
        if abs {
            v &= !sign;
        }
        if neg {
            v ^= sign;
        }
    }
    if width < 32 { v & ((1 << width) - 1) } else { v }
}
