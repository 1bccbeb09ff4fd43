//! Why operands do not fit an encoding. Several encodings may be tried for one line, so the reason is kept small and
//! becomes words only when nothing fits.

use super::modifier::Mod;
use super::operand::{Kind, Line};
use crate::source::Diag;
use wavemill_isa::Form;

/// Where the trouble is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum At {
    /// At an operand.
    Op(usize),
    /// At a modifier.
    Mod(Mod),
    /// The instruction as a whole.
    Inst,
}

/// What the trouble is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Why {
    /// Operands are missing.
    Few,
    /// There are more operands than the instruction has.
    Many,
    /// Must be this many VGPRs.
    Vgpr(u8),
    /// Must be this many AccVGPRs.
    Agpr(u8),
    /// Must be this many VGPRs or AccVGPRs.
    VgprOrAgpr(u8),
    /// Must be this many scalar registers.
    Scalar(u8),
    /// Must be a register of this many dwords or a constant.
    Source(u8),
    /// The constant cannot be encoded here.
    Inline,
    /// Source modifiers are not for this operand.
    Signs,
    /// Must be VCC.
    Vcc,
    /// Tuples start at even registers on gfx90a.
    Even,
    /// The form does not have the modifier.
    Modifier(Form),
    /// Anything else.
    Text(&'static str),
}

/// Why operands do not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Misfit {
    pub at: At,
    pub why: Why,
}

pub(super) type Fit<T> = Result<T, Misfit>;

impl Misfit {
    /// The operand's fault.
    pub fn op<T>(i: usize, why: Why) -> Fit<T> {
        Err(Misfit { at: At::Op(i), why })
    }

    /// The modifier's fault.
    pub fn modifier<T>(m: Mod, text: &'static str) -> Fit<T> {
        Err(Misfit { at: At::Mod(m), why: Why::Text(text) })
    }

    /// Nobody's fault in particular.
    pub fn inst<T>(text: &'static str) -> Fit<T> {
        Err(Misfit { at: At::Inst, why: Why::Text(text) })
    }

    /// In words.
    #[cold]
    pub fn diag(self, line: &Line) -> Diag {
        let span = match self.at {
            At::Op(i) => line.op_span(i),
            At::Mod(m) => line.mod_span(m),
            At::Inst => line.span,
        };
        let several = |n: u8, file: &str, letter: &str| match n {
            1 => format!("expected {file} such as {letter}0"),
            n => format!("expected {n} {file}s such as {letter}[0:{}]", n - 1),
        };
        let one = |n: u8, file: &str, letter: &str| match n {
            1 => format!("expected a {file} such as {letter}0"),
            n => several(n, file, letter),
        };
        let name = line.row.name;
        let message = match self.why {
            Why::Few => format!("too few operands for {name}"),
            Why::Many => format!("{name} has no such operand"),
            Why::Vgpr(n) => one(n, "VGPR", "v"),
            Why::Agpr(n) => one(n, "AccVGPR", "a"),
            Why::VgprOrAgpr(n) => format!("{} or a", one(n, "VGPR", "v")),
            Why::Scalar(n) => one(n, "scalar register", "s"),
            Why::Source(1) => "expected a 32-bit register or a constant".into(),
            Why::Source(n) => format!("expected {n} registers or a constant"),
            Why::Inline => {
                let number = matches!(self.at, At::Op(i) if matches!(line.ops().get(i).map(|o| o.kind), Some(Kind::Number(_))));
                if number {
                    "this operand takes no such constant: only inline constants fit this encoding".into()
                } else {
                    "this operand takes no expression".into()
                }
            }
            Why::Signs => "this operand takes no such source modifier".into(),
            Why::Vcc => "expected vcc".into(),
            Why::Even => "VGPR tuples must start at an even register on gfx90a".into(),
            Why::Modifier(form) => {
                let what = match self.at {
                    At::Mod(m) => m.name(),
                    _ => "this modifier",
                };
                let form = match form {
                    Form::Base => "",
                    Form::Vop3 => " in its VOP3 form",
                    Form::Sdwa => " in its SDWA form",
                    Form::Dpp => " in its DPP form",
                };
                format!("{name} has no {what}{form}")
            }
            Why::Text(text) => text.into(),
        };
        Diag::error(span, message)
    }
}
