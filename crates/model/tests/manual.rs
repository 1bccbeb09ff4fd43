//! The model against the examples that the MI200 manual's chapter 12 gives beside its formulas.

use wavemill_isa::lookup::by_name;
use wavemill_isa::row::{Enc, Form, Role};
use wavemill_isa::{Inst, Level};
use wavemill_model::{Allowed, State, execute};

const LEVEL: Level = Level::Gfx90a;

/// An instruction with operands in registers, and a state that has them.
fn prepared(name: &str, operands: &[u32]) -> (Inst, State) {
    let row = by_name(name).find(|r| r.opcode_at(LEVEL).is_some()).unwrap_or_else(|| panic!("no {name}"));
    let mut inst = Inst::new(row, Form::Base, LEVEL);
    let mut state = State {
        level: LEVEL,
        pc: 0,
        sgprs: [0; 128],
        scc: false,
        mode: 0x3f0,
        status: 0,
        vgprs: vec![[0; 64]; 8],
        agprs: Vec::new(),
    };
    state.sgprs[126] = !0;
    state.sgprs[127] = !0;
    let vector = row.enc.is_valu();
    let roles =
        if vector { [Role::Src0, Role::Src1, Role::Src2] } else { [Role::Ssrc0, Role::Ssrc1, Role::Src2] };
    for (i, (&value, role)) in operands.iter().zip(roles).enumerate() {
        state.vgprs[i] = [value; 64];
        state.sgprs[2 * i] = value;
        let wide = inst.field(role).width == 9 || matches!(row.enc, Enc::Vop3);
        inst.set(role, if vector && wide { 256 + i as u32 } else { (1 + !vector as u32) * i as u32 });
    }
    inst.set(if vector { Role::Vdst } else { Role::Sdst }, 6);
    (inst, state)
}

/// Runs an instruction on operands and returns the first destination register. Results with some freedom are right
/// when the expected one is allowed.
fn check(name: &str, operands: &[u32], expected: u32) {
    let (inst, mut state) = prepared(name, operands);
    let vector = inst.row.enc.is_valu();
    let tolerances = execute(&mut state, &inst).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let allowed = match tolerances.first().map(|t| &t.allowed) {
        None => (if vector { state.vgprs[6][0] } else { state.sgprs[6] }) == expected,
        Some(Allowed::OneOf(values)) => values.contains(&expected),
        Some(Allowed::Between(f, _, lo, hi)) => (*lo..=*hi).contains(&f.key(expected as u64)),
    };
    assert!(
        allowed,
        "{name} {operands:x?}: expected {expected:#x}, have {:#x} {tolerances:x?}",
        state.vgprs[6][0]
    );
}

#[test]
fn scalar_examples() {
    let table: &[(&str, &[u32], u32)] = &[
        ("s_absdiff_i32", &[2, 5], 3),
        ("s_absdiff_i32", &[0xffff_ffff, 0], 1),
        ("s_absdiff_i32", &[0x8000_0000, 0], 0x8000_0000),
        ("s_absdiff_i32", &[0x8000_0000, 1], 0x7fff_ffff),
        ("s_absdiff_i32", &[0x8000_0000, 0xffff_ffff], 0x7fff_ffff),
        ("s_absdiff_i32", &[0x8000_0000, 0xffff_fffe], 0x7fff_fffe),
        ("s_bcnt0_i32_b32", &[0], 32),
        ("s_bcnt0_i32_b32", &[0xcccc_cccc], 16),
        ("s_bcnt0_i32_b32", &[0xffff_ffff], 0),
        ("s_bcnt1_i32_b32", &[0], 0),
        ("s_bcnt1_i32_b32", &[0xcccc_cccc], 16),
        ("s_bcnt1_i32_b32", &[0xffff_ffff], 32),
        ("s_ff0_i32_b32", &[0xaaaa_aaaa], 0),
        ("s_ff0_i32_b32", &[0x5555_5555], 1),
        ("s_ff0_i32_b32", &[0], 0),
        ("s_ff0_i32_b32", &[0xffff_ffff], 0xffff_ffff),
        ("s_ff0_i32_b32", &[0xfffe_ffff], 16),
        ("s_ff1_i32_b32", &[0xaaaa_aaaa], 1),
        ("s_ff1_i32_b32", &[0x5555_5555], 0),
        ("s_ff1_i32_b32", &[0], 0xffff_ffff),
        ("s_ff1_i32_b32", &[0x0001_0000], 16),
        ("s_flbit_i32_b32", &[0], 0xffff_ffff),
        ("s_flbit_i32_b32", &[0xcccc], 16),
        ("s_flbit_i32_b32", &[0xffff_3333], 0),
        ("s_flbit_i32_b32", &[0x7fff_ffff], 1),
        ("s_flbit_i32", &[0xcccc], 16),
        ("s_flbit_i32", &[0xffff_3333], 16),
        ("s_flbit_i32", &[0x7fff_ffff], 1),
        ("s_flbit_i32", &[0x8000_0000], 1),
        ("s_flbit_i32", &[0xffff_ffff], 0xffff_ffff),
        ("s_abs_i32", &[0x8000_0000], 0x8000_0000),
        ("s_abs_i32", &[0x8000_0001], 0x7fff_ffff),
        ("s_abs_i32", &[0xffff_ffff], 1),
    ];
    for (name, operands, expected) in table {
        check(name, operands, *expected);
    }
}

#[test]
fn vector_examples() {
    let table: &[(&str, u32, u32)] = &[
        ("v_exp_f32", 0xff80_0000, 0),
        ("v_exp_f32", 0x8000_0000, 0x3f80_0000),
        ("v_exp_f32", 0x7f80_0000, 0x7f80_0000),
        ("v_log_f32", 0xff80_0000, 0xffc0_0000),
        ("v_log_f32", 0xbf80_0000, 0xffc0_0000),
        ("v_log_f32", 0x8000_0000, 0xff80_0000),
        ("v_log_f32", 0, 0xff80_0000),
        ("v_log_f32", 0x3f80_0000, 0),
        ("v_log_f32", 0x7f80_0000, 0x7f80_0000),
        ("v_rcp_f32", 0xff80_0000, 0x8000_0000),
        ("v_rcp_f32", 0xc000_0000, 0xbf00_0000),
        ("v_rcp_f32", 0x8000_0000, 0xff80_0000),
        ("v_rcp_f32", 0, 0x7f80_0000),
        ("v_rcp_f32", 0x7f80_0000, 0),
        ("v_rsq_f32", 0xff80_0000, 0xffc0_0000),
        ("v_rsq_f32", 0x8000_0000, 0xff80_0000),
        ("v_rsq_f32", 0, 0x7f80_0000),
        ("v_rsq_f32", 0x4080_0000, 0x3f00_0000),
        ("v_rsq_f32", 0x7f80_0000, 0),
        ("v_sqrt_f32", 0xff80_0000, 0xffc0_0000),
        ("v_sqrt_f32", 0x8000_0000, 0x8000_0000),
        ("v_sqrt_f32", 0, 0),
        ("v_sqrt_f32", 0x4080_0000, 0x4000_0000),
        ("v_sqrt_f32", 0x7f80_0000, 0x7f80_0000),
        ("v_sin_f32", 0xff80_0000, 0xffc0_0000),
        ("v_sin_f32", 0xff7f_ffff, 0),
        ("v_sin_f32", 0x8000_0000, 0x8000_0000),
        ("v_sin_f32", 0x3e80_0000, 0x3f80_0000),
        ("v_cos_f32", 0xff7f_ffff, 0x3f80_0000),
        ("v_cos_f32", 0x8000_0000, 0x3f80_0000),
        ("v_cos_f32", 0x3e80_0000, 0),
        ("v_cos_f32", 0x7f80_0000, 0xffc0_0000),
        ("v_rcp_f16", 0xfc00, 0x8000),
        ("v_rcp_f16", 0xc000, 0xb800),
        ("v_sqrt_f16", 0xfc00, 0xfe00),
        ("v_sqrt_f16", 0x4400, 0x4000),
        ("v_rsq_f16", 0x8000, 0xfc00),
        ("v_rsq_f16", 0x4400, 0x3800),
        ("v_log_f16", 0xbc00, 0xfe00),
        ("v_exp_f16", 0x8000, 0x3c00),
        ("v_sin_f16", 0xfbff, 0),
        ("v_sin_f16", 0x3400, 0x3c00),
        ("v_cos_f16", 0x7bff, 0x3c00),
        ("v_cos_f16", 0x3400, 0),
        ("v_ffbh_u32", 0, 0xffff_ffff),
        ("v_ffbh_u32", 0x1000_00ff, 3),
        ("v_ffbh_u32", 1, 31),
        ("v_ffbl_b32", 0xff00_0008, 3),
        ("v_ffbl_b32", 0x8000_0000, 31),
        ("v_ffbh_i32", 0x4000_0000, 1),
        ("v_ffbh_i32", 0x0fff_ffff, 4),
        ("v_ffbh_i32", 0xffff_0000, 16),
        ("v_ffbh_i32", 0xffff_fffe, 31),
        ("v_ffbh_i32", 0xffff_ffff, 0xffff_ffff),
        ("v_cvt_off_f32_i4", 0b1000, (-0.5f32).to_bits()),
        ("v_cvt_off_f32_i4", 0b1111, (-0.0625f32).to_bits()),
        ("v_cvt_off_f32_i4", 0b0111, 0.4375f32.to_bits()),
        // From the table of opcode 55.
        ("v_screen_partition_4se_b32", 0, 0x1),
        ("v_screen_partition_4se_b32", 2, 0x7),
        ("v_screen_partition_4se_b32", 255, 0x1),
    ];
    for (name, operand, expected) in table {
        check(name, &[*operand], *expected);
    }
}

/// Exception flags: the manual's sentences, and IEEE 754's for single operations.
#[test]
fn exception_flags() {
    use wavemill_model::flags::*;
    const ONE: u32 = 0x3f80_0000;
    const INF: u32 = 0x7f80_0000;
    const QUIET: u32 = 0x7fc0_0000;
    const SIGNALLING: u32 = 0x7f80_0001;
    const LARGEST: u32 = 0x7f7f_ffff;
    const SMALLEST: u32 = 0x0080_0000;
    let table: &[(&str, &[u32], u32)] = &[
        ("v_add_f32", &[ONE, ONE], 0),
        ("v_add_f32", &[ONE, 1], DENORMAL | INEXACT),
        ("v_add_f32", &[INF, INF | 1 << 31], INVALID),
        ("v_add_f32", &[INF, INF], 0),
        ("v_add_f32", &[QUIET, ONE], 0),
        ("v_add_f32", &[SIGNALLING, ONE], INVALID),
        ("v_add_f32", &[LARGEST, LARGEST], OVERFLOW | INEXACT),
        // Exact differences are tiny, but have not underflowed.
        ("v_sub_f32", &[SMALLEST, SMALLEST + 1], 0),
        ("v_mul_f32", &[0, INF], INVALID),
        ("v_mul_f32", &[SMALLEST, SMALLEST], UNDERFLOW | INEXACT),
        ("v_mul_f32", &[SMALLEST, 0x3f00_0000], 0),
        ("v_max_f32", &[QUIET, ONE], 0),
        ("v_max_f32", &[SIGNALLING, ONE], INVALID),
        ("v_ldexp_f32", &[ONE, 200], OVERFLOW | INEXACT),
        ("v_ldexp_f32", &[ONE, (-149i32) as u32], 0),
        ("v_ldexp_f32", &[ONE, (-150i32) as u32], UNDERFLOW | INEXACT),
        // Quiet without CLAMP.
        ("v_cmp_lt_f32", &[QUIET, ONE], 0),
        // Inexact only with CLAMP.
        ("v_cvt_i32_f32", &[0x3fc0_0000], 0),
        ("v_cvt_i32_f32", &[QUIET], INVALID),
        ("v_cvt_u32_f32", &[ONE | 1 << 31], INVALID),
        ("v_cvt_f32_u32", &[0x0100_0001], INEXACT),
        ("v_cvt_f16_f32", &[LARGEST], OVERFLOW | INEXACT),
        // Nothing but integer division by zero.
        ("v_rcp_iflag_f32", &[0], INT_DIV0),
        ("v_rcp_iflag_f32", &[SIGNALLING], 0),
        ("v_rcp_f32", &[0], DIV0),
        ("v_sqrt_f32", &[ONE | 1 << 31], INVALID),
    ];
    for (name, operands, expected) in table {
        let (inst, state) = prepared(name, operands);
        let flags = raised(&state, &inst).unwrap_or_else(|| panic!("{name}: not modelled"));
        assert_eq!(flags, Flags { raised: *expected, open: 0 }, "{name} {operands:x?}");
    }
}
