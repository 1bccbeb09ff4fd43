//! Numbers of symbols and sections, and positions in sections: what everything else refers to them by.

/// A symbol's number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct SymId(pub u32);

/// Where a label stands: a fragment of a section and an offset into it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// The section.
    pub section: SectionId,
    /// The fragment, when an object is being built.
    pub fragment: u32,
    /// Bytes from the fragment's start.
    pub offset: u64,
}

/// A section's number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct SectionId(pub u32);
