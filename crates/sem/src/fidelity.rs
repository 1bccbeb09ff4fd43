//! How well an instruction's meaning is known.

use crate::inst::Run;
use wavemill_isa::{Row, flag};

/// How well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fidelity {
    /// Bit for bit; what that rests on is the row's [`wavemill_isa::Basis`].
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

/// Says how well an instruction is known.
pub fn fidelity(row: &Row) -> Fidelity {
    match Run::of(row) {
        Run::Unsupported => Fidelity::Unsupported,
        _ if row.has(flag::APPROX) => Fidelity::Approximate,
        _ => Fidelity::Exact,
    }
}
