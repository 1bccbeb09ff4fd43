//! Instructions: reading their text. (Placeholder: the instruction parser goes here.)

use crate::fixup::Fixup;
use crate::lex::Token;
use crate::parser::Parser;
use crate::source::Diag;

/// State the instruction parser keeps between statements.
#[derive(Clone, Debug, Default)]
pub struct State {}

/// An assembled instruction.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// Its bytes, the first in the lowest bits.
    pub bits: u64,
    /// How many of them: 4 or 8.
    pub len: u8,
    /// What is not known yet.
    pub fixups: [Option<Fixup>; 2],
}

/// Reads an instruction: the cursor is after the mnemonic and is left at the end of the statement.
pub fn parse(p: &mut Parser<'_>, mnemonic: Token) -> Result<Encoded, Diag> {
    Err(Diag::error(p.lex.span(mnemonic), "invalid instruction"))
}

/// Writes an instruction's text, without the leading tab.
pub fn print(_instruction: &Encoded, _p: &Parser<'_>, _out: &mut Vec<u8>) {}
