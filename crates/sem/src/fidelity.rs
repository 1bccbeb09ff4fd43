//! How well an instruction's meaning is known.

use crate::apply::{Apply, Context, L, M};
use crate::compare::Compare;
use crate::gws::Request;
use crate::mode::Mode;
use crate::scalar::S32;
use crate::{interp, memory, mfma, mimg, salu, valu};
use wavemill_isa::{Enc, Level, Op, Row, flag};

/// How well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fidelity {
    /// Bit for bit what the manual says.
    Exact,
    /// Within the bound the hardware gives; its own bits may differ.
    Approximate,
    /// Not yet there: executing it is a fault.
    Unsupported,
}

impl Fidelity {
    /// Name for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Fidelity::Exact => "exact",
            Fidelity::Approximate => "approximate",
            Fidelity::Unsupported => "unsupported",
        }
    }
}

/// Which of [`valu`]'s functions knows an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Family {
    Common,
    Vop1,
    Vop2Int,
    Vop2Float,
    Vop3Int,
    Vop3Float,
    Vop3p,
}

/// Finds the family of a vector instruction that works lane by lane.
pub fn family(op: Op) -> Option<Family> {
    let x = Context::new(Mode::new(0, Level::Gfx90a), false, 0, Level::Gfx90a);
    let known = |found: Option<()>, family: Family| found.map(|()| family);
    known(valu::common(op, Probe, &x), Family::Common)
        .or_else(|| known(valu::vop1(op, Probe, &x), Family::Vop1))
        .or_else(|| known(valu::vop2_int(op, Probe, &x), Family::Vop2Int))
        .or_else(|| known(valu::vop2_float(op, Probe, &x), Family::Vop2Float))
        .or_else(|| known(valu::vop3_int(op, Probe, &x), Family::Vop3Int))
        .or_else(|| known(valu::vop3_float(op, Probe, &x), Family::Vop3Float))
        .or_else(|| known(valu::vop3p(op, Probe, &x), Family::Vop3p))
}

/// Says how well an instruction is known.
pub fn fidelity(row: &Row) -> Fidelity {
    if !supported(row) {
        Fidelity::Unsupported
    } else if row.has(flag::APPROX) {
        Fidelity::Approximate
    } else {
        Fidelity::Exact
    }
}

fn supported(row: &Row) -> bool {
    let op = row.op;
    match row.enc {
        Enc::Sop2 | Enc::Sop1 | Enc::Sopc | Enc::Sopk | Enc::Sopp => {
            salu::salu(op, 0, 0, 0, false, 0).is_some() || control(op)
        }
        Enc::Vop1 | Enc::Vop2 | Enc::Vop3 | Enc::Vop3p | Enc::Vintrp => {
            registers(op) || interp::known(op) || family(op).is_some()
        }
        Enc::Vopc => Compare::of(row).is_some(),
        Enc::Mfma => mfma::shape(op).is_some(),
        Enc::Smem | Enc::Smrd => memory::access(op).is_some() || scalar_memory(op),
        Enc::Ds => {
            memory::access(op).is_some()
                || memory::src2(op).is_some()
                || Request::of(op).is_some()
                || data_share(op)
        }
        Enc::Mubuf | Enc::Mtbuf | Enc::Flat | Enc::Global | Enc::Scratch => {
            memory::access(op).is_some() || memory::formatted(op).is_some() || cache(op)
        }
        Enc::Mimg => mimg::action(row).is_some(),
        // A compute wave exports to nowhere.
        Enc::Exp => true,
    }
}

/// Program control and scalar instructions about the wave's own state.
pub fn control(op: Op) -> bool {
    matches!(
        op,
        Op::s_nop
            | Op::s_endpgm
            | Op::s_endpgm_saved
            | Op::s_endpgm_ordered_ps_done
            | Op::s_branch
            | Op::s_cbranch_scc0
            | Op::s_cbranch_scc1
            | Op::s_cbranch_vccz
            | Op::s_cbranch_vccnz
            | Op::s_cbranch_execz
            | Op::s_cbranch_execnz
            | Op::s_cbranch_cdbgsys
            | Op::s_cbranch_cdbguser
            | Op::s_cbranch_cdbgsys_or_user
            | Op::s_cbranch_cdbgsys_and_user
            | Op::s_cbranch_g_fork
            | Op::s_cbranch_i_fork
            | Op::s_cbranch_join
            | Op::s_barrier
            | Op::s_setkill
            | Op::s_waitcnt
            | Op::s_sethalt
            | Op::s_sleep
            | Op::s_wakeup
            | Op::s_setprio
            | Op::s_sendmsg
            | Op::s_sendmsghalt
            | Op::s_trap
            | Op::s_rfe_b64
            | Op::s_rfe_restore_b64
            | Op::s_icache_inv
            | Op::s_incperflevel
            | Op::s_decperflevel
            | Op::s_ttracedata
            | Op::s_set_gpr_idx_on
            | Op::s_set_gpr_idx_off
            | Op::s_set_gpr_idx_mode
            | Op::s_set_gpr_idx_idx
            | Op::s_setvskip
            | Op::s_getpc_b64
            | Op::s_setpc_b64
            | Op::s_swappc_b64
            | Op::s_call_b64
            | Op::s_movrels_b32
            | Op::s_movrels_b64
            | Op::s_movreld_b32
            | Op::s_movreld_b64
            | Op::s_getreg_b32
            | Op::s_setreg_b32
            | Op::s_setreg_imm32_b32
    )
}

/// Vector instructions about registers rather than values.
pub fn registers(op: Op) -> bool {
    matches!(
        op,
        Op::v_nop
            | Op::v_clrexcp
            | Op::v_readfirstlane_b32
            | Op::v_readlane_b32
            | Op::v_readlane_b32_gfx6
            | Op::v_writelane_b32
            | Op::v_writelane_b32_gfx6
            | Op::v_swap_b32
            | Op::v_movreld_b32
            | Op::v_movrels_b32
            | Op::v_movrelsd_b32
            | Op::v_accvgpr_mov_b32
            | Op::v_mqsad_u32_u8
    )
}

/// Scalar memory beyond atomics.
pub fn scalar_memory(op: Op) -> bool {
    scalar_load(op).is_some()
        || matches!(
            op,
            Op::s_dcache_inv
                | Op::s_dcache_inv_gfx6
                | Op::s_dcache_wb
                | Op::s_dcache_inv_vol
                | Op::s_dcache_inv_vol_gfx7
                | Op::s_dcache_wb_vol
                | Op::s_memtime
                | Op::s_memtime_gfx6
                | Op::s_memrealtime
                | Op::s_dcache_discard
                | Op::s_dcache_discard_x2
                | Op::s_atc_probe
                | Op::s_atc_probe_buffer
        )
}

/// Dwords, and whether they are stored, of scalar loads and stores.
pub fn scalar_load(op: Op) -> Option<(u8, bool)> {
    Some(match op {
        Op::s_load_dword
        | Op::s_load_dword_gfx6
        | Op::s_scratch_load_dword
        | Op::s_buffer_load_dword
        | Op::s_buffer_load_dword_gfx6 => (1, false),
        Op::s_load_dwordx2
        | Op::s_load_dwordx2_gfx6
        | Op::s_scratch_load_dwordx2
        | Op::s_buffer_load_dwordx2
        | Op::s_buffer_load_dwordx2_gfx6 => (2, false),
        Op::s_load_dwordx4
        | Op::s_load_dwordx4_gfx6
        | Op::s_scratch_load_dwordx4
        | Op::s_buffer_load_dwordx4
        | Op::s_buffer_load_dwordx4_gfx6 => (4, false),
        Op::s_load_dwordx8
        | Op::s_load_dwordx8_gfx6
        | Op::s_buffer_load_dwordx8
        | Op::s_buffer_load_dwordx8_gfx6 => (8, false),
        Op::s_load_dwordx16
        | Op::s_load_dwordx16_gfx6
        | Op::s_buffer_load_dwordx16
        | Op::s_buffer_load_dwordx16_gfx6 => (16, false),
        Op::s_store_dword | Op::s_scratch_store_dword | Op::s_buffer_store_dword => (1, true),
        Op::s_store_dwordx2 | Op::s_scratch_store_dwordx2 | Op::s_buffer_store_dwordx2 => (2, true),
        Op::s_store_dwordx4 | Op::s_scratch_store_dwordx4 | Op::s_buffer_store_dwordx4 => (4, true),
        _ => return None,
    })
}

/// Data-share instructions that are not one load, store or atomic per lane.
pub fn data_share(op: Op) -> bool {
    matches!(
        op,
        Op::ds_nop
            | Op::ds_read2_b32
            | Op::ds_read2st64_b32
            | Op::ds_read2_b64
            | Op::ds_read2st64_b64
            | Op::ds_write2_b32
            | Op::ds_write2st64_b32
            | Op::ds_write2_b64
            | Op::ds_write2st64_b64
            | Op::ds_wrxchg2_rtn_b32
            | Op::ds_wrxchg2st64_rtn_b32
            | Op::ds_wrxchg2_rtn_b64
            | Op::ds_wrxchg2st64_rtn_b64
            | Op::ds_swizzle_b32
            | Op::ds_permute_b32
            | Op::ds_bpermute_b32
            | Op::ds_read_addtid_b32
            | Op::ds_write_addtid_b32
            | Op::ds_condxchg32_rtn_b64
            | Op::ds_append
            | Op::ds_consume
            | Op::ds_ordered_count
    )
}

/// Cache control, which has nothing to do here.
pub fn cache(op: Op) -> bool {
    matches!(
        op,
        Op::buffer_wbinvl1
            | Op::buffer_wbinvl1_vol
            | Op::buffer_wbinvl1_sc
            | Op::buffer_wbl2
            | Op::buffer_invl2
    )
}

/// Takes any meaning and does nothing.
struct Probe;

macro_rules! probe {
    ($($name:ident($($arg:ty),*) -> $ret:ty;)*) => {
        impl Apply for Probe {
            type W = S32;
            type Out = ();
            $(fn $name(self, _: impl Fn($($arg),*) -> $ret) {})*
        }
    };
}
probe! {
    w_w(S32) -> S32;
    ww_w(S32, S32) -> S32;
    www_w(S32, S32, S32) -> S32;
    wwi_w(S32, S32, S32) -> S32;
    wwm_w(S32, S32, M<Self>) -> S32;
    wwwm_w(S32, S32, S32, M<Self>) -> S32;
    ww_wm(S32, S32) -> (S32, M<Self>);
    wwm_wm(S32, S32, M<Self>) -> (S32, M<Self>);
    www_wm(S32, S32, S32) -> (S32, M<Self>);
    ww_m(S32, S32) -> M<Self>;
    l_w(L<Self>) -> S32;
    w_l(S32) -> L<Self>;
    l_l(L<Self>) -> L<Self>;
    ll_l(L<Self>, L<Self>) -> L<Self>;
    lll_l(L<Self>, L<Self>, L<Self>) -> L<Self>;
    lllm_l(L<Self>, L<Self>, L<Self>, M<Self>) -> L<Self>;
    lll_lm(L<Self>, L<Self>, L<Self>) -> (L<Self>, M<Self>);
    wl_l(S32, L<Self>) -> L<Self>;
    lw_l(L<Self>, S32) -> L<Self>;
    lwl_l(L<Self>, S32, L<Self>) -> L<Self>;
    wwl_lm(S32, S32, L<Self>) -> (L<Self>, M<Self>);
    ll_m(L<Self>, L<Self>) -> M<Self>;
    lw_m(L<Self>, S32) -> M<Self>;
}
