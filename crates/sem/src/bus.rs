//! The way to memory: spaces, kinds of access, what can be wrong with one, and the [`Bus`] through which meanings move
//! data.

use crate::atomic::{Atomic, Rmw};
use crate::gws::Request;
use crate::memory::Extend;
use crate::operand::{Special, Src};
use crate::ordered::Count;
use crate::state::State;

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

/// One access: where, and whose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At {
    /// Which memory.
    pub space: Space,
    /// First byte.
    pub address: u64,
    /// Whose access it is; none of scalar instructions.
    pub lane: Option<u8>,
}

impl At {
    /// An access of a lane.
    pub const fn lane(space: Space, address: u64, lane: u32) -> At {
        At { space, address, lane: Some(lane as u8) }
    }

    /// An access of a scalar instruction, or of the wave as a whole.
    pub const fn wave(space: Space, address: u64) -> At {
        At { space, address, lane: None }
    }

    /// So many bytes on.
    #[must_use]
    pub const fn plus(self, bytes: u64) -> At {
        At { address: self.address.wrapping_add(bytes), ..self }
    }
}

/// A fault: what, which lanes, and the address if there is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// Lanes that did it, one bit each; 0 for scalar instructions.
    pub lanes: u64,
    /// The first such lane's address, or the scalar one.
    pub address: u64,
}

impl Fault {
    /// Of a scalar instruction.
    pub const fn scalar(kind: FaultKind, address: u64) -> Fault {
        Fault { kind, lanes: 0, address }
    }
}

/// The kinds of [`Fault`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// Read of `bytes` outside every allocation.
    Read {
        /// Size of the access.
        bytes: u32,
    },
    /// Write of `bytes` outside every allocation.
    Write {
        /// Size of the access.
        bytes: u32,
    },
    /// Write to read-only memory.
    ReadOnly {
        /// Size of the access.
        bytes: u32,
    },
    /// An atomic on an address that is not a multiple of its size.
    Misaligned {
        /// Size of the access.
        bytes: u32,
    },
    /// LDS access outside what the work-group has, through an address that must not (flat).
    Lds {
        /// Size of the access.
        bytes: u32,
    },
    /// The host has no page there any more, or none that may be accessed so: the memory is the program's own, or another
    /// process's, and was unmapped, protected or cut off.
    Gone,
    /// The PC left every allocation.
    Fetch,
    /// No instruction has this encoding on the target.
    Illegal {
        /// First dword.
        word: u32,
    },
    /// A resource or sampler that cannot be used.
    Descriptor {
        /// What it is.
        what: &'static str,
    },
    /// The instruction exists, but the emulator cannot do it yet.
    Unsupported {
        /// Its mnemonic.
        name: &'static str,
    },
}

impl FaultKind {
    /// An access outside of what there is.
    pub const fn outside(bytes: u32, write: bool) -> FaultKind {
        if write { FaultKind::Write { bytes } } else { FaultKind::Read { bytes } }
    }
}

/// Gathers the faults of an instruction's lanes: all lanes have their turn, and the first one's fault is reported.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    first: Option<(FaultKind, u64)>,
    lanes: u64,
}

impl Faults {
    /// Takes note of what a lane did.
    pub fn note(&mut self, lane: u32, result: Result<(), (FaultKind, u64)>) {
        if let Err(fault) = result {
            self.lanes |= 1 << lane;
            self.first.get_or_insert(fault);
        }
    }

    /// What became of the instruction.
    pub fn result(self) -> Result<(), Fault> {
        match self.first {
            None => Ok(()),
            Some((kind, address)) => Err(Fault { kind, lanes: self.lanes, address }),
        }
    }
}

/// Memory, as an engine gives it to the meanings that move data. Offsets in LDS and GDS have been checked against
/// [`Bus::lds_bytes`] and [`crate::address::GDS_BYTES`]; other addresses are the bus's to check.
pub trait Bus: State {
    /// Reads up to four bytes, those of an aligned dword as one.
    fn read(&mut self, at: At, bytes: u8) -> Result<u32, FaultKind>;
    /// Reads a scalar instruction's dwords, side by side, with one check, where that is possible: there is no difference to
    /// reading one after the other. False: nothing is done.
    fn read_dwords(&mut self, _at: At, _to: &mut [u32]) -> bool {
        false
    }
    /// Reads eight aligned bytes as one.
    fn read64(&mut self, at: At) -> Result<u64, FaultKind>;
    /// Writes up to four bytes.
    fn write(&mut self, at: At, bytes: u8, value: u32) -> Result<(), FaultKind>;
    /// Writes eight aligned bytes as one.
    fn write64(&mut self, at: At, value: u64) -> Result<(), FaultKind>;
    /// Reads, modifies and writes as one, and returns what was there.
    fn update(&mut self, at: At, rmw: &Rmw<'_>) -> Result<u64, FaultKind>;
    /// Checks an access of several parts as a whole, without making it.
    fn check(&mut self, at: At, bytes: u8, write: bool) -> Result<(), FaultKind>;
    /// An access is not made, because of this: lets observers see it.
    fn refuse(&mut self, at: At, bytes: u8, kind: Kind, fault: FaultKind) -> FaultKind;
    /// Caches are told to forget or to write what they have.
    fn cache(&mut self, space: Space, kind: Kind);
    /// BUFFER_WBINVL1 and its kin: the vector cache of the first level, if there is one, forgets what it has.
    fn drop_vector_lines(&mut self) {}
    /// S_DCACHE_DISCARD: so many lines of the scalar cache, if there is one, need not be written.
    fn discard(&mut self, _address: u64, _lines: u8) {}
    /// S_WAITCNT: what the wave has stored is in memory before it goes on, and what it will load is loaded after.
    fn wait(&mut self);
    /// Bytes of LDS that the work-group has.
    fn lds_bytes(&self) -> u32;

    /// A wave's request to a resource of global wave sync. False: it waits, and will ask again.
    fn sync(&mut self, id: u32, request: Request, datum: u32) -> bool;
    /// Whether it is the wave's turn at an ordered counter. If not, it will ask again.
    fn may_count(&mut self, count: Count) -> bool;
    /// The wave has counted.
    fn counted(&mut self, count: Count);

    /// The value of an operand that is the same for all lanes, extended to 64 bits for operands of 64 bits. VGPRs have
    /// none.
    #[inline]
    fn source(&mut self, src: Src, bits: u8) -> u64 {
        match src {
            Src::Const(n) => n,
            Src::Sgpr(code) if bits == 64 => self.sgpr64(code as u32),
            Src::Sgpr(code) => self.sgpr(code as u32) as u64,
            Src::Special(special) => self.special(special),
            Src::Vgpr(_) | Src::None => 0,
        }
    }

    /// The value of an operand that is no register.
    fn special(&mut self, special: Special) -> u64 {
        let apertures = self.apertures();
        match special {
            // Apertures are 64-bit addresses with a zero low half.
            Special::SharedBase => apertures.shared,
            Special::SharedLimit => apertures.shared | 0xffff_ffff,
            Special::PrivateBase => apertures.private,
            Special::PrivateLimit => apertures.private | 0xffff_ffff,
            Special::Vccz => (self.vcc() == 0) as u64,
            Special::Execz => (self.exec() == 0) as u64,
            Special::Scc => self.scc() as u64,
            Special::LdsDirect => lds_direct(self) as u64,
            // There are no pixels that waves leave in order.
            Special::ExitingWaveId | Special::Reserved => 0,
        }
    }

    /// A vector operand in a lane: its VGPR, or what all lanes have.
    #[inline]
    fn lane_source(&mut self, src: Src, lane: u32) -> u32 {
        match src {
            Src::Vgpr(r) => self.vgpr(r, lane & 63),
            src => self.source(src, 32) as u32,
        }
    }
}

/// LDS_DIRECT: one value for all lanes, by M0 (manual 11.3.1).
fn lds_direct<B: Bus + ?Sized>(state: &mut B) -> u32 {
    let m0 = state.m0();
    let (bytes, extend) = match m0 >> 16 & 7 {
        0 => (1, Extend::Zero),
        1 => (2, Extend::Zero),
        4 => (1, Extend::Sign),
        5 => (2, Extend::Sign),
        _ => (4, Extend::Zero),
    };
    let (address, limit) = (m0 & 0xffff, state.lds_bytes());
    if address + bytes as u32 > limit {
        return 0;
    }
    // What is inside can be read.
    let value = state.read(At::wave(Space::Lds, address as u64), bytes).unwrap_or(0);
    extend.apply(value, bytes, 0)
}
