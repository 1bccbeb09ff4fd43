//! What an instruction touches: registers, memory, counters, caches, and where execution goes on.
//!
//! [`Inst::info`] answers for one encoded instruction on one target. The facts are the table's; this module only applies
//! them to the fields of the encoding. What the instruction computes is for crate `sem`.

mod reg;
mod uses;
mod wait;

pub use reg::{Name, Reg};
pub use uses::{Index, Lanes, Use};
pub use wait::{Counter, Queue, Raise, WaitCounts};

use crate::encoding::Inst;
use crate::row::{Enc, Flow, Form, MemKind, Role, flag, state};
use crate::target::Target;
use uses::Reader;

/// How an instruction reaches memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Path {
    /// The scalar data cache.
    Scalar,
    /// The texture units and the vector L1 cache: buffers, images, GLOBAL and SCRATCH.
    Vector,
    /// FLAT: global memory, LDS or scratch, as each lane's address says.
    Flat,
    /// The local data share.
    Lds,
    /// The global data share.
    Gds,
    /// The export bus.
    Export,
}

/// An access to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemUse {
    /// The way there.
    pub path: Path,
    /// What is done.
    pub kind: MemKind,
    /// Bytes for each lane (scalar: for the wave) at each place; 0 where a format or an image's descriptor decides.
    pub bytes: u8,
    /// Places: two for DS_READ2 and its like.
    pub places: u8,
    /// A private address: SCRATCH and S_SCRATCH.
    pub scratch: bool,
}

/// Most uses an instruction has: an image atomic with sampler has fewer, exports have six.
const USES: usize = 12;

/// What an instruction touches.
#[derive(Clone, Debug)]
pub struct Info {
    uses: [Use; USES],
    used: u8,
    memory: [Option<MemUse>; 2],
    raises: [Option<Raise>; 3],
    waits: Option<WaitCounts>,
    flow: Flow,
    branch: Option<i32>,
    cache: u16,
    faults: bool,
    excepts: bool,
    lanes_only: bool,
}

impl Info {
    /// The registers, operands first.
    pub fn uses(&self) -> &[Use] {
        &self.uses[..self.used as usize]
    }

    /// The registers that are read.
    pub fn reads(&self) -> impl Iterator<Item = &Use> {
        self.uses().iter().filter(|u| u.reads())
    }

    /// The registers that are written.
    pub fn writes(&self) -> impl Iterator<Item = &Use> {
        self.uses().iter().filter(|u| u.writes())
    }

    /// Accesses to memory: two where data moves between memory and LDS.
    pub fn memory(&self) -> impl Iterator<Item = &MemUse> {
        self.memory.iter().flatten()
    }

    /// The counters it raises until it is done.
    pub fn raises(&self) -> impl Iterator<Item = &Raise> {
        self.raises.iter().flatten()
    }

    /// The counts that S_WAITCNT waits for.
    pub fn waits(&self) -> Option<WaitCounts> {
        self.waits
    }

    /// Where execution goes on.
    pub fn flow(&self) -> Flow {
        self.flow
    }

    /// The distance in bytes from the end of the instruction to its label.
    pub fn branch(&self) -> Option<i32> {
        self.branch
    }

    /// Execution may go on elsewhere than at the next instruction, or must be looked after by the machine.
    pub fn ends_block(&self) -> bool {
        self.flow != Flow::Next
    }

    /// Bits of [`crate::row::cache`]: which caches are invalidated or written back.
    pub fn cache(&self) -> u16 {
        self.cache
    }

    /// It may fault: an address may be wrong.
    pub fn may_fault(&self) -> bool {
        self.faults
    }

    /// It may enter the trap handler: S_TRAP, or a float exception that MODE enables.
    pub fn may_trap(&self) -> bool {
        self.excepts || self.flow == Flow::Trap
    }

    /// With EXEC = 0 it does nothing, so that it may be skipped.
    pub fn skippable(&self) -> bool {
        self.lanes_only
    }

    fn push(&mut self, use_: Use) {
        if let Some(place) = self.uses.get_mut(self.used as usize) {
            *place = use_;
            self.used += 1;
        }
    }
}

impl Inst {
    /// What the instruction touches on a target.
    pub fn info(&self, target: &Target) -> Info {
        let row = self.row;
        let reader = Reader { inst: self, target };
        let mut info = Info {
            uses: [Use::NOTHING; USES],
            used: 0,
            memory: [None; 2],
            raises: [None; 3],
            waits: None,
            flow: row.flow,
            branch: None,
            cache: row.cache,
            faults: row.mem.is_some(),
            excepts: row.enc.is_valu() && row.reads & state::MODE != 0,
            lanes_only: false,
        };
        row.operands.iter().filter_map(|o| reader.operand(o)).for_each(|u| info.push(u));
        reader.implicit(|u| info.push(u));
        info.memory = memory(self, &reader);
        if row.operand(Role::Label).is_some() {
            info.branch = Some((self.get(Role::Label) as i16 as i32) * 4);
        }
        if row.operand(Role::Waitcnt).is_some() {
            info.waits = Some(WaitCounts::decode(self.get(Role::Waitcnt), target.level()));
        }
        info.raises = wait::raises(self, target.level());
        info.lanes_only = acts_on_lanes_only(self, &info);
        info
    }
}

/// The accesses to memory of an instruction.
fn memory(inst: &Inst, reader: &Reader<'_>) -> [Option<MemUse>; 2] {
    let row = inst.row;
    let scratch = row.enc == Enc::Scratch || row.enc == Enc::Smem && row.reads & state::FLAT_SCRATCH != 0;
    let path = match row.enc {
        Enc::Smrd | Enc::Smem => Path::Scalar,
        Enc::Ds if reader.is_gds() => Path::Gds,
        Enc::Ds => Path::Lds,
        Enc::Flat => Path::Flat,
        Enc::Exp => {
            let export = MemUse { path: Path::Export, kind: MemKind::Store, bytes: 16, places: 1, scratch };
            return [Some(export), None];
        }
        _ => Path::Vector,
    };
    let Some(mem) = row.mem else {
        let direct = row.enc.is_valu() && reads_lds_direct(inst);
        let lds = MemUse { path: Path::Lds, kind: MemKind::Load, bytes: 4, places: 1, scratch };
        return [direct.then_some(lds), None];
    };
    let first = MemUse { path, kind: mem.kind, bytes: mem.bytes, places: mem.places, scratch };
    // What is loaded is stored in LDS, and the other way round.
    let second = reader.moves_lds().then(|| {
        let kind = if mem.kind == MemKind::Load { MemKind::Store } else { MemKind::Load };
        MemUse { path: Path::Lds, kind, scratch: false, ..first }
    });
    [Some(first), second]
}

/// LDS_DIRECT is among the sources.
fn reads_lds_direct(inst: &Inst) -> bool {
    let wide = |role| {
        let field = inst.field(role);
        field.width > 8 && field.get(inst.bits) == crate::regs::LDS_DIRECT
    };
    matches!(inst.form, Form::Base | Form::Vop3)
        && inst.row.operands.iter().any(|o| o.role.source_index().is_some() && wide(o.role))
}

/// All that the instruction does, it does for the lanes that EXEC enables, one by one.
fn acts_on_lanes_only(inst: &Inst, info: &Info) -> bool {
    let row = inst.row;
    let vector = row.enc.is_valu() || row.enc as u8 >= Enc::Ds as u8;
    vector
        && row.reads & state::EXEC != 0
        && row.cache == 0
        && row.enc != Enc::Exp
        // Global wave sync and the ordered counter are the wave's business.
        && !row.has(flag::GDS_ONLY)
        && info.writes().all(|u| u.lanes == Lanes::Exec)
}
