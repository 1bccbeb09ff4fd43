//! A second opinion: what the scalar, vector ALU, matrix and memory instructions do, written from the manuals' text and not from
//! crate `sem`.
//!
//! Everything here is slow and plain on purpose: one lane at a time, a `match` on the mnemonic, integers as integers,
//! floats by an arbitrary-precision library. [`execute`] runs one instruction on a [`State`]; [`compare`] runs the
//! same instruction on the interpreter and says where the two differ. Nothing but tests uses this crate.
//!
//! Sources: the MI200 manual's chapters 3 to 6, 12 and 13; where it is silent or contradicts itself, what LLVM's
//! code generator and constant folding rely on; for what only GFX6 to GFX8 have, those generations' manuals.
//! Comments say which.

mod access;
mod approx;
pub mod compare;
mod convert;
pub mod flags;
mod float;
mod floats;
mod fp;
mod generate;
mod int;
pub mod matrix;
pub mod memory;
mod operand;
mod packed;
mod places;
mod salu;
pub mod sequence;
mod valu;

use wavemill_isa::row::Enc;
use wavemill_isa::{Inst, Level, Row};

pub use float::Fmt;

/// The registers of a wave, as far as ALU instructions know them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// The instruction set.
    pub level: Level,
    /// Address of the next instruction.
    pub pc: u64,
    /// Scalar registers by operand code.
    pub sgprs: [u32; 128],
    /// Scalar condition code.
    pub scc: bool,
    /// MODE.
    pub mode: u32,
    /// STATUS bits that S_CBRANCH_CDBG* look at.
    pub status: u32,
    /// Vector registers.
    pub vgprs: Vec<[u32; 64]>,
    /// Accumulation registers.
    pub agprs: Vec<[u32; 64]>,
}

impl State {
    /// Two scalar registers.
    pub fn sgpr64(&self, code: u32) -> u64 {
        self.sgprs[code as usize] as u64 | (self.sgprs[code as usize + 1] as u64) << 32
    }

    /// Sets two scalar registers.
    pub fn set_sgpr64(&mut self, code: u32, value: u64) {
        self.sgprs[code as usize] = value as u32;
        self.sgprs[code as usize + 1] = (value >> 32) as u32;
    }

    /// EXEC.
    pub fn exec(&self) -> u64 {
        self.sgpr64(126)
    }

    /// VCC.
    pub fn vcc(&self) -> u64 {
        self.sgpr64(106)
    }
}

/// A register's lane whose bits the manual does not fix: an approximate instruction's result.
#[derive(Clone, Debug)]
pub struct Tolerance {
    /// The vector register (the low one of a pair).
    pub vgpr: usize,
    /// The lane.
    pub lane: usize,
    /// What may be there.
    pub allowed: Allowed,
}

/// The results an approximate instruction may give.
#[derive(Clone, Debug)]
pub enum Allowed {
    /// One of these dwords.
    OneOf(Vec<u32>),
    /// A number of a format between two of its [`Fmt::key`]s, at a bit offset of the register (pair).
    Between(Fmt, u32, i128, i128),
}

/// Why the model has nothing to say about an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unmodelled {
    /// Not a scalar or vector ALU instruction.
    NotAlu,
    /// On the list of [`excluded_row`].
    Excluded(&'static str),
    /// No model was written: a gap.
    Missing,
}

/// Why a row in an ALU encoding has no model, if it has none.
pub fn excluded_row(row: &Row) -> Option<&'static str> {
    Some(match row.name {
        _ if row.enc == Enc::Mfma => "matrices are compared on their own (`matrix`)",
        "s_rfe_b64" | "s_rfe_restore_b64" => {
            "leaves a trap handler: no arithmetic, and needs privileged state"
        }
        "s_nop"
        | "s_endpgm"
        | "s_wakeup"
        | "s_barrier"
        | "s_setkill"
        | "s_waitcnt"
        | "s_sethalt"
        | "s_sleep"
        | "s_setprio"
        | "s_sendmsg"
        | "s_sendmsghalt"
        | "s_trap"
        | "s_icache_inv"
        | "s_incperflevel"
        | "s_decperflevel"
        | "s_ttracedata"
        | "s_endpgm_saved"
        | "s_endpgm_ordered_ps_done" => "program control: no registers",
        n if n.starts_with("v_interp_") => "interpolation reads parameters from LDS",
        _ => return None,
    })
}

/// Executes one instruction. Returns the lanes with some freedom; everything else in `state` is exact.
pub fn execute(state: &mut State, inst: &Inst) -> Result<Vec<Tolerance>, Unmodelled> {
    if let Some(reason) = excluded_row(inst.row) {
        return Err(Unmodelled::Excluded(reason));
    }
    match inst.row.enc {
        Enc::Sop1 | Enc::Sop2 | Enc::Sopk | Enc::Sopc | Enc::Sopp => {
            salu::execute(state, inst).map(|()| Vec::new())
        }
        Enc::Vop1 | Enc::Vop2 | Enc::Vop3 | Enc::Vopc | Enc::Vop3p => valu::execute(state, inst),
        _ => Err(Unmodelled::NotAlu),
    }
}
