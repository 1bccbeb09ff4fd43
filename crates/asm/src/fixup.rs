//! Places in the output whose value is not known while a statement is assembled.

use crate::expr::Expr;
use crate::source::Span;

/// How a value is put into its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FixupKind {
    /// The 16-bit word offset of a branch, from the next instruction.
    SoppBr,
    /// One byte.
    Data1,
    /// Two bytes.
    Data2,
    /// Four bytes.
    Data4,
    /// Eight bytes.
    Data8,
    /// Four bytes, relative to the place itself.
    PcRel4,
    /// `.reloc` with this ELF relocation type.
    Reloc(u32),
}

impl FixupKind {
    /// LLVM's name, as `-show-encoding` prints it.
    pub fn name(self) -> &'static str {
        match self {
            FixupKind::SoppBr => "fixup_si_sopp_br",
            FixupKind::Data1 => "FK_Data_1",
            FixupKind::Data2 => "FK_Data_2",
            FixupKind::Data4 => "FK_Data_4",
            FixupKind::Data8 => "FK_Data_8",
            FixupKind::PcRel4 => "FK_PCRel_4",
            FixupKind::Reloc(_) => "FK_NONE",
        }
    }

    /// Bytes it changes.
    pub fn size(self) -> u8 {
        match self {
            FixupKind::Data1 => 1,
            FixupKind::SoppBr | FixupKind::Data2 => 2,
            FixupKind::Data4 | FixupKind::PcRel4 => 4,
            FixupKind::Data8 => 8,
            FixupKind::Reloc(_) => 0,
        }
    }

    /// The kind for plain data of this many bytes.
    pub fn data(size: u8) -> FixupKind {
        match size {
            1 => FixupKind::Data1,
            2 => FixupKind::Data2,
            4 => FixupKind::Data4,
            _ => FixupKind::Data8,
        }
    }
}

/// A value to be put into an instruction when it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixup {
    /// Bytes from the instruction's start.
    pub offset: u8,
    /// How.
    pub kind: FixupKind,
    /// What.
    pub expr: Expr,
    /// Where the source says so, for messages.
    pub span: Span,
}
