//! The way to memory: spaces, kinds of access, and what can be wrong with one.

use crate::atomic::Atomic;

/// A memory that instructions access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Space {
    /// Allocations, by address.
    Global,
    /// The work-group's local data share, by offset.
    Lds,
    /// The global data share, by offset.
    Gds,
    /// A lane's private memory: the address is where its swizzled bytes really are.
    Scratch,
    /// Allocations, through the scalar cache.
    Scalar,
    /// Instructions.
    Code,
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads, modifies and writes as one.
    Atomic(Atomic),
    /// Makes caches forget what they have; no address, no bytes.
    Invalidate,
    /// Makes caches write what they have; no address, no bytes.
    WriteBack,
}

/// The bits of an instruction that say how far its accesses must be seen (manual 9.1.10).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Coherence {
    /// Globally coherent; of an atomic: it returns the old value.
    pub glc: bool,
    /// System level coherent.
    pub slc: bool,
    /// System coherent (gfx90a).
    pub scc: bool,
}
