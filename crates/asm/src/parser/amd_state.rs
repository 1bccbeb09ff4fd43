//! What AMD's directives keep between statements.

use crate::ids::SymId;
use wavemill_object::metadata::pal::Pal;

/// State the AMD directives keep between statements.
#[derive(Clone, Debug, Default)]
pub struct AmdState {
    /// Code object version that a directive gave.
    pub(crate) version: Option<u8>,
    /// Code object version that the metadata or the style of the target id implies.
    pub(crate) implied_version: Option<u8>,
    pub(crate) registers: RegisterCounters,
    pub(crate) pal: Pal,
    /// The name of a `.amdhsa_kernel` block that was given up; its remaining lines are refused with that reason.
    pub(crate) abandoned: Option<Box<str>>,
}

/// How far the registers of each file have been used.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegisterCounters {
    pub(crate) hsa: bool,
    /// HSA: the symbols, which the source may set too.
    pub(crate) next_free: Option<[SymId; 2]>,
    /// Elsewhere: one more than the highest number used, since the kernel's start.
    pub(crate) used: [u32; 3],
}
