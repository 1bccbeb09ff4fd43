//! Random instructions of a row, and states that are worth running them on.

use crate::State;
use crate::float::Fmt;
use crate::operand::{code, plain_code, vdst};
use wavemill_isa::encoding::{Field, bits};
use wavemill_isa::row::{Access, Class, Enc, Form, Kind, Operand, Role, Row, Ty, flag};
use wavemill_isa::{Inst, Level, Target};
use wavemill_testing::Random;

/// Vector registers of a test wave.
pub const VGPRS: u32 = 24;
/// Accumulation registers, where the level has them.
pub const AGPRS: u32 = 8;

/// A float that is often a corner case.
fn float(r: &mut Random, f: Fmt) -> u64 {
    let fraction = r.next() >> 7 & ((1 << f.fraction()) - 1);
    let one_bit = 1u64 << r.below(f.fraction() as u64);
    let exponent = |e: i32| (e.clamp(0, f.exponent(f.inf()) - 1) as u64) << f.fraction();
    let around = |r: &mut Random, span: i64| f.bias() + (r.below(2 * span as u64 + 1) as i64 - span) as i32;
    let magnitude = match r.below(20) {
        0 => 0,
        1 => 1,
        2 => fraction,
        3 => exponent(1) - 1,
        4 => exponent(1),
        5 => f.inf(),
        6 => f.largest(),
        7 => f.quiet(f.inf() | fraction),
        8 => f.inf() | fraction >> 2 | 1,
        // Integers, halves, and their neighbours.
        9 | 10 => {
            let n = f.from_int(r.below(600) as i128, rustc_apfloat::Round::TowardZero).bits;
            let n = f.scale(n, -1, rustc_apfloat::Round::TowardZero).bits;
            n.wrapping_add(r.below(3)).wrapping_sub(1) & (f.mask() >> 1)
        }
        11 => exponent(around(r, 3)) | one_bit,
        12 => exponent(around(r, 35)) | fraction,
        13 => exponent(f.exponent(f.inf()) - 1 - r.below(4) as i32) | fraction,
        14 => exponent(1 + r.below(30) as i32) | fraction,
        15 => exponent(around(r, f.bias() as i64 - 1)) | one_bit | 1,
        16 => exponent(around(r, f.bias() as i64 - 1)) | fraction,
        17 => f.one(),
        _ => exponent(around(r, 4)) | fraction,
    };
    let sign = if r.one_in(2) { f.sign() } else { 0 };
    sign | magnitude
}

/// A value of a type, in as many dwords as it takes.
fn value(r: &mut Random, ty: Ty) -> u128 {
    let bits = ty.bits as u32;
    (0..ty.count as u32).fold(0, |v, i| {
        let element = match (ty.kind, bits) {
            (Kind::F, 16) => float(r, Fmt::F16) as u128,
            (Kind::F, 32) => float(r, Fmt::F32) as u128,
            (Kind::F, 64) => float(r, Fmt::F64) as u128,
            (_, 128) => (0..4).fold(0, |v, i| v | (r.edgy(32) as u128) << (32 * i)),
            (_, n) => r.edgy(n) as u128,
        };
        v | element << (bits * i)
    })
}

/// The register tuples that are aligned: scalar pairs always, vector ones on gfx90a.
fn vgpr(r: &mut Random, level: Level, dwords: u32, limit: u32) -> u32 {
    let n = r.below((limit - dwords + 1) as u64) as u32;
    if dwords > 1 && level == Level::Gfx90a { n & !1 } else { n }
}

fn sgpr(r: &mut Random, dwords: u32) -> u32 {
    match r.below(8) {
        0 => 106,
        _ if dwords > 1 => r.below(48) as u32 * 2,
        _ => r.below(100) as u32,
    }
}

/// Whether inline floats in an operand stand for bits that everyone agrees on.
fn inline_floats(ty: Ty, level: Level) -> bool {
    match (ty.kind, ty.bits) {
        (Kind::F, 16) => level.is_vi_plus(),
        (_, 16 | 8) => false,
        _ => true,
    }
}

/// A random source operand's nine-bit code.
fn source(r: &mut Random, row: &Row, op: &Operand, level: Level, literal: bool) -> u32 {
    let dwords = op.ty.dwords() as u32;
    let vector = |r: &mut Random| {
        // Now and then one that the wave does not have: it reads v0.
        if dwords == 1 && r.one_in(50) { 256 + VGPRS + 40 } else { 256 + vgpr(r, level, dwords, VGPRS) }
    };
    let constant = |r: &mut Random| match r.below(8) {
        0..=3 => 128 + r.below(81) as u32,
        4 | 5 if inline_floats(op.ty, level) => 240 + r.below(if level.is_vi_plus() { 9 } else { 8 }) as u32,
        6 if dwords == 1 => 251 + r.below(3) as u32,
        7 if literal => 255,
        _ => 128 + r.below(65) as u32,
    };
    let register = |r: &mut Random| match r.below(12) {
        0 => 126,
        1 if dwords == 1 => 124,
        _ => sgpr(r, dwords),
    };
    let salu = row.enc as u8 <= Enc::Sopp as u8;
    match op.class {
        Class::Vgpr => 256 + vgpr(r, level, dwords, VGPRS),
        Class::Agpr => 256 + vgpr(r, level, dwords, AGPRS),
        Class::Reg => sgpr(r, dwords),
        _ => match r.below(10) {
            0..=5 if !salu && !matches!(op.class, Class::Scalar | Class::Ssrc) => vector(r),
            0..=7 => register(r),
            _ => constant(r),
        },
    }
}

/// A random instruction of a row in a form.
pub fn instruction(r: &mut Random, row: &'static Row, form: Form, target: &Target) -> Inst {
    let level = target.level();
    let mut inst = Inst::new(row, form, level);
    let vop3 = inst.is_vop3_layout();
    let salu = row.enc as u8 <= Enc::Sopp as u8;
    let k = row.operand(Role::K).is_some();
    let literal = form == Form::Base && !vop3 && !k && row.enc != Enc::Sopk;
    if k {
        inst.len = 8;
        inst.put(bits::LITERAL, value(r, row.operand(Role::K).map_or(U32, |o| o.ty)) as u32);
    }
    if vop3 && !salu {
        vop3_modifiers(r, &mut inst, level);
    }
    for op in row.operands {
        let field = inst.field_of(op);
        let dwords = op.ty.dwords() as u32;
        let value = match op.role {
            Role::Vdst => match op.class {
                Class::Agpr => vgpr(r, level, dwords, AGPRS),
                // Now and then one that the wave does not have: nothing is written.
                _ if r.one_in(50) => VGPRS + 40,
                _ => vgpr(r, level, dwords, VGPRS),
            },
            Role::Sdst if salu && r.one_in(12) => 126 - 2 * (dwords == 1 && r.one_in(2)) as u32,
            Role::Sdst => sgpr(r, dwords),
            Role::Vcc if !vop3 => continue,
            Role::Vcc => sgpr(r, 2),
            Role::Src0 | Role::Src1 | Role::Src2 | Role::Ssrc0 | Role::Ssrc1 => {
                let short = matches!(form, Form::Sdwa | Form::Dpp) || op.role == Role::Src1 && !vop3;
                if short && op.class != Class::Scalar {
                    let i = op.role.source_index().unwrap_or(0);
                    if form == Form::Sdwa && level.is_gfx9() && r.one_in(5) {
                        inst.put(Field::new(bits::SDWA_S.lo + 8 * i, 1), 1);
                        sgpr(r, 1)
                    } else {
                        vgpr(r, level, dwords, VGPRS)
                    }
                } else {
                    let c = source(r, row, op, level, literal);
                    if c == 255 {
                        inst.len = 8;
                        inst.put(bits::LITERAL, value(r, Ty { bits: op.ty.bits.min(32), ..op.ty }) as u32);
                    }
                    if row.has(flag::PACKED)
                        && op.ty.bits == 32
                        && op.ty.count == 2
                        && (128..256).contains(&c)
                    {
                        only_low(&mut inst, op.role.source_index().unwrap_or(0));
                    }
                    c
                }
            }
            Role::Simm16 | Role::Uimm16 | Role::Imm16 => r.edgy(16) as u32,
            // Not to itself: that would never end.
            Role::Label => match r.below(40) as i64 - 20 {
                -1 => 0,
                n => n as u32 & 0xffff,
            },
            Role::GprIdx => r.below(16) as u32,
            // MODE: rounding, denormals, DX10_CLAMP, IEEE.
            Role::Hwreg => {
                let offset = r.below(10) as u32;
                let size = 1 + r.below(10 - offset as u64) as u32;
                1 | offset << 6 | (size - 1) << 11
            }
            _ => continue,
        };
        inst.put(field, value);
    }
    match form {
        Form::Sdwa => sdwa_modifiers(r, &mut inst),
        Form::Dpp => dpp_modifiers(r, &mut inst, level),
        _ => {}
    }
    special(r, &mut inst);
    inst.canonical(target)
}

const U32: Ty = Ty { kind: Kind::U, bits: 32, count: 1 };

/// A constant has no second dword: both results take the first.
fn only_low(inst: &mut Inst, i: u8) {
    inst.put(Field::new(bits::VOP3P_OP_SEL.lo + i, 1), 0);
    inst.put(if i == 2 { bits::VOP3P_OP_SEL_HI2 } else { Field::new(bits::VOP3P_OP_SEL_HI.lo + i, 1) }, 0);
}

fn vop3_modifiers(r: &mut Random, inst: &mut Inst, level: Level) {
    let row = inst.row;
    let some = |r: &mut Random, n: u32| if r.one_in(2) { 0 } else { r.below(1 << n) as u32 };
    if row.enc == Enc::Vop3p {
        let float = row.operands.iter().any(|o| o.ty.is_float());
        let dot = row.name.starts_with("v_dot");
        inst.put(bits::VOP3P_OP_SEL_HI, 3);
        inst.put(bits::VOP3P_OP_SEL_HI2, !row.has(flag::MIX) as u32);
        if float {
            inst.put(bits::VOP3_NEG, some(r, 3));
            inst.put(bits::VOP3P_NEG_HI, some(r, 3));
        }
        if dot {
            // Modifiers of the accumulator mean nothing.
            inst.put(Field::new(bits::VOP3P_NEG_HI.lo + 2, 1), 0);
            inst.put(Field::new(bits::VOP3_NEG.lo + 2, 1), 0);
        }
        if !dot || row.name.starts_with("v_dot2_") {
            let sources = if dot { 2 } else { 3 };
            inst.put(bits::VOP3P_OP_SEL, some(r, sources));
            if r.one_in(2) {
                inst.put(bits::VOP3P_OP_SEL_HI, r.below(4) as u32);
            }
            if !dot && r.one_in(2) {
                inst.put(bits::VOP3P_OP_SEL_HI2, r.below(2) as u32);
            }
        }
        inst.put(bits::VOP3_CLAMP, r.one_in(4) as u32);
        return;
    }
    inst.put(bits::VOP3_NEG, some(r, 3));
    inst.put(bits::VOP3_OMOD, some(r, 2));
    let vop3b = wavemill_isa::canonical::is_vop3b(inst);
    if !vop3b {
        inst.put(bits::VOP3_ABS, some(r, 3));
    }
    if level.is_vi_plus() {
        inst.put(bits::VOP3_CLAMP, r.one_in(4) as u32);
        if !vop3b && row.has(flag::OP_SEL) && level.is_gfx9() {
            inst.put(bits::VOP3_OP_SEL, some(r, 4));
        }
    } else if !vop3b {
        inst.put(bits::VOP3_CLAMP_SI, r.one_in(4) as u32);
    }
}

fn sdwa_modifiers(r: &mut Random, inst: &mut Inst) {
    let sel = |r: &mut Random| if r.one_in(3) { 6 } else { r.below(7) as u32 };
    for i in 0..2u8 {
        let at = |f: Field| Field::new(f.lo + 8 * i, f.width);
        inst.put(at(bits::SDWA_SEL), sel(r));
        inst.put(at(bits::SDWA_SEXT), r.below(2) as u32);
        inst.put(at(bits::SDWA_NEG), r.below(2) as u32);
        inst.put(at(bits::SDWA_ABS), r.one_in(3) as u32);
    }
    if inst.row.enc == Enc::Vopc {
        if r.one_in(2) {
            inst.put(bits::SDWA_SDST, sgpr(r, 2));
            inst.put(bits::SDWA_SD, 1);
        }
    } else {
        inst.put(bits::SDWA_DST_SEL, sel(r));
        inst.put(bits::SDWA_DST_U, r.below(3) as u32);
        inst.put(bits::SDWA_CLAMP, r.one_in(4) as u32);
        inst.put(bits::SDWA_OMOD, if r.one_in(2) { 0 } else { r.below(4) as u32 });
    }
}

fn dpp_modifiers(r: &mut Random, inst: &mut Inst, level: Level) {
    let wide = inst.row.has(flag::DPP64);
    let ctrl = match r.below(if level == Level::Gfx90a { 7 } else { 6 }) {
        _ if wide => 0x150 + r.below(16),
        0 | 1 => r.below(256),
        2 => 0x101 + r.below(15),
        3 => 0x111 + r.below(15),
        4 => 0x121 + r.below(15),
        5 => [0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143][r.below(8) as usize],
        _ => 0x150 + r.below(16),
    };
    inst.put(bits::DPP_CTRL, ctrl as u32);
    inst.put(bits::DPP_BOUND, r.below(2) as u32);
    inst.put(bits::DPP_NEG_ABS, r.below(16) as u32);
    inst.put(bits::DPP_ROW, if r.one_in(2) { 15 } else { r.below(16) as u32 });
    inst.put(bits::DPP_BANK, if r.one_in(2) { 15 } else { r.below(16) as u32 });
}

/// What some rows ask of their operands.
fn special(r: &mut Random, inst: &mut Inst) {
    let name = inst.row.name;
    match name {
        // What a sign does to a packed operand of a VOP2 instruction, nothing says.
        "v_dot2c_f32_f16" => match inst.form {
            Form::Dpp => inst.put(bits::DPP_NEG_ABS, 0),
            Form::Vop3 => {
                inst.put(bits::VOP3_NEG, 0);
                inst.put(bits::VOP3_ABS, 0);
            }
            _ => {}
        },
        // S0 is the same as S1 or S2, sign included.
        "v_div_scale_f32" | "v_div_scale_f64" => {
            let (role, i) = if r.one_in(2) { (Role::Src1, 1) } else { (Role::Src2, 2) };
            inst.set(Role::Src0, inst.get(role));
            let neg = bits::VOP3_NEG.get(inst.bits);
            inst.put(bits::VOP3_NEG, neg & !1 | neg >> i & 1);
        }
        // Indexed registers must exist; M0 is at most 6.
        "v_movreld_b32" | "v_movrels_b32" | "v_movrelsd_b32" => {
            inst.set(Role::Vdst, inst.get(Role::Vdst) % (VGPRS - 8));
            if inst.get(Role::Src0) >= 256 {
                inst.set(Role::Src0, 256 + (inst.get(Role::Src0) - 256) % (VGPRS - 8));
            }
        }
        "s_movrels_b32" | "s_movrels_b64" => inst.set(Role::Ssrc0, r.below(40) as u32 * 2),
        "s_movreld_b32" | "s_movreld_b64" => inst.set(Role::Sdst, r.below(40) as u32 * 2),
        // Registers that do not lie where the branch stack does.
        "s_cbranch_g_fork" => {
            inst.set(Role::Ssrc0, 32 + r.below(16) as u32 * 2);
            inst.set(Role::Ssrc1, 64 + r.below(16) as u32 * 2);
        }
        "s_cbranch_i_fork" => inst.set(Role::Sdst, 32 + r.below(16) as u32 * 2),
        "s_cbranch_join" => inst.set(Role::Ssrc0, 32 + r.below(32) as u32),
        "s_setpc_b64" | "s_swappc_b64" => {
            inst.len = 4;
            inst.set(Role::Ssrc0, r.below(40) as u32 * 2);
        }
        // One SGPR for both would be odd, but a literal's bits are the other dword.
        "s_set_gpr_idx_on" if inst.get(Role::Ssrc0) == 255 => {
            inst.len = 4;
            inst.set(Role::Ssrc0, 3);
        }
        _ => {}
    }
}

/// A state to run an instruction on. `code` is a range of addresses that may be jumped to.
pub fn state(
    r: &mut Random,
    inst: &Inst,
    level: Level,
    pc: u64,
    jump: &mut dyn FnMut(&mut Random) -> u64,
) -> State {
    let mut s = State {
        level,
        pc,
        sgprs: [0; 128],
        scc: r.one_in(2),
        mode: if r.one_in(2) { 0x3f0 } else { r.below(0x400) as u32 },
        status: (r.below(4) as u32) << 20,
        vgprs: vec![[0; 64]; VGPRS as usize],
        agprs: vec![[0; 64]; if level >= Level::Gfx908 { AGPRS as usize } else { 0 }],
    };
    if r.one_in(3) {
        s.mode |= 1 << 23;
    }
    if inst.row.enc.is_valu() && r.one_in(64) {
        s.mode |= 1 << 28;
    }
    // Registers nobody reads are there to show stray writes.
    for (i, reg) in s.vgprs.iter_mut().chain(&mut s.agprs).enumerate() {
        *reg = std::array::from_fn(|lane| (i as u32) << 24 | (lane as u32) << 8 | 0x5a);
    }
    for code in 0..108 {
        s.sgprs[code] = r.edgy(32) as u32;
    }
    s.sgprs[124] = r.edgy(32) as u32;
    let mask = |r: &mut Random| match r.below(8) {
        0 => 0,
        1..=3 => !0,
        4 => r.edgy(64),
        _ => r.next() ^ r.next() << 32,
    };
    let exec = mask(r);
    s.set_sgpr64(126, exec);
    let vcc = mask(r);
    s.set_sgpr64(106, vcc);
    if level.is_vi_plus() && inst.row.enc.is_valu() && r.one_in(12) {
        use_indexing(r, &mut s, inst);
    }
    fill(r, &mut s, inst);
    let movrel = inst.row.name.contains("_movrel");
    if movrel {
        s.sgprs[124] = r.below(4) as u32 * 2;
    }
    match inst.row.name {
        "s_setpc_b64" | "s_swappc_b64" => s.set_sgpr64(inst.get(Role::Ssrc0), jump(r)),
        "s_cbranch_g_fork" => s.set_sgpr64(inst.get(Role::Ssrc1), jump(r)),
        "s_cbranch_join" => {
            let csp = 1 + r.below(5) as u32;
            s.mode |= csp << 29;
            s.set_sgpr64((csp - 1) * 4 + 2, jump(r));
            if r.one_in(3) {
                s.sgprs[inst.get(Role::Ssrc0) as usize] = csp;
            }
        }
        _ => {}
    }
    if inst.row.name.ends_with("_fork") {
        s.mode |= (r.below(6) as u32) << 29;
        if r.one_in(4) {
            let role = if inst.row.enc == Enc::Sopk { Role::Sdst } else { Role::Ssrc0 };
            let same = if r.one_in(2) { s.exec() } else { !s.exec() };
            s.set_sgpr64(inst.get(role), same);
        }
    }
    s
}

/// Switches register indexing on, with an index that no register of the instruction is too high for.
fn use_indexing(r: &mut Random, s: &mut State, inst: &Inst) {
    let highest = inst.row.operands.iter().filter_map(|op| {
        let code = match op.role {
            Role::Vdst => 256 + inst.get(Role::Vdst),
            _ if op.role.source_index().is_some() => plain_code(inst, op),
            _ => return None,
        };
        (code >= 256 && op.class != Class::Agpr).then(|| code - 256 + op.ty.dwords() as u32)
    });
    let room = VGPRS.saturating_sub(highest.max().unwrap_or(0));
    // What is indexed in an exchange of two registers, and in the relative moves, nothing says.
    if room < 2 || inst.row.name == "v_swap_b32" || inst.row.name.contains("_movrel") {
        return;
    }
    s.mode |= 1 << 27;
    s.sgprs[124] = ((r.next() as u32 & 0xff0) << 4) | ((r.below(room as u64 / 2) as u32).div_ceil(2) * 2);
}

/// The immediate of a SOPK instruction, as wide as what it is compared with or added to.
fn immediate(inst: &Inst) -> Option<u128> {
    inst.row.operands.iter().find_map(|op| {
        let field = inst.field_of(op).get(inst.bits);
        match op.role {
            Role::Simm16 => Some(field as u16 as i16 as i32 as u32 as u128),
            Role::Uimm16 => Some(field as u128),
            _ => None,
        }
    })
}

/// Puts values of their types into the registers an instruction reads.
pub fn fill(r: &mut Random, s: &mut State, inst: &Inst) {
    let mut first: Option<(u32, bool)> = None;
    // What a scalar operand is now and then equal to: the immediate, or the operand before it.
    let mut other = immediate(inst);
    for op in inst.row.operands {
        let reads = op.access != Access::Write && op.ty.kind != Kind::Imm;
        if !reads || op.role == Role::Vcc && !inst.is_vop3_layout() || op.role == Role::K {
            continue;
        }
        // The mixed ones are typed f16 in the table and may be f32.
        let mut ty = op.ty;
        if inst.row.has(flag::MIX) && r.one_in(2) {
            ty = Ty { kind: Kind::F, bits: 32, count: 1 };
        }
        if ty.bits == 16 && ty.count == 1 {
            // The upper half must not matter, or be what op_sel picks.
            ty.count = 2;
        }
        let at = match op.role {
            Role::Vdst => 256 + vdst(s, inst),
            Role::Sdst => inst.field_of(op).get(inst.bits),
            _ => code(s, inst, op),
        };
        // M0 keeps its index.
        if at == 124 && s.mode >> 27 & 1 != 0 {
            continue;
        }
        if at < 126 {
            let v = other.filter(|_| r.one_in(4)).unwrap_or_else(|| value(r, ty));
            other = Some(v);
            for i in 0..ty.dwords() as u32 {
                s.sgprs[((at + i) as usize).min(127)] = (v >> (32 * i)) as u32;
            }
            continue;
        }
        if at < 256 {
            continue;
        }
        let file = if op.class == Class::Agpr { &mut s.agprs } else { &mut s.vgprs };
        let at = if (at - 256) as usize >= file.len() { 0 } else { at - 256 };
        for lane in 0..64 {
            let v = match first {
                // Equal operands.
                Some((other, false)) if op.class != Class::Agpr && r.one_in(12) => {
                    crate::operand::vector(file, other, ty.dwords(), lane)
                }
                _ => value(r, ty),
            };
            for i in 0..ty.dwords() as u32 {
                if let Some(reg) = file.get_mut((at + i) as usize) {
                    reg[lane] = (v >> (32 * i)) as u32;
                }
            }
        }
        first.get_or_insert((at, op.class == Class::Agpr));
    }
}
