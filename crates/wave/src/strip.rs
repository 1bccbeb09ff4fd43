//! Vector instructions as the kernels want them: everything that can be known about operands is resolved when a block is
//! decoded, into offsets from a few base pointers; what must happen to sources and results around an instruction stands
//! in a side table that most instructions do not need.

use wavemill_isa::Op;
use wavemill_sem::compare::{Compare, Type};
use wavemill_sem::family::Family;
use wavemill_sem::fp::Predicate;
use wavemill_sem::inst::{Inst, Run};
use wavemill_sem::lanemove::{self, dpp_source};
use wavemill_sem::modify::{Change, Merge};
use wavemill_sem::operand::{Special, Src};

/// What an operand's offset counts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Base {
    /// The wave's vector registers.
    File,
    /// The block's constants.
    Consts,
    /// The interpreter's temporaries ([`crate::interp::kernels::Temps`]).
    Temps,
}

/// Where a kernel finds a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Source {
    /// Dwords from the base to the first sixteen lanes of the first register.
    pub at: u32,
    pub base: Base,
    /// Dwords from sixteen lanes to the next: 16 for registers, 0 for a value that is the same in all lanes.
    pub stride: u8,
    /// Dwords from the first register to the second: 64 for registers, 16 for a value.
    pub hi: u8,
    /// For a scalar register: its code. The value is put into the temporary first ([`LaneOp::scalars`]).
    pub code: u8,
}

impl Source {
    pub const fn register(r: u16) -> Source {
        Source { at: r as u32 * 64, base: Base::File, stride: 16, hi: 64, code: 0 }
    }
    const fn uniform(base: Base, at: u32) -> Source {
        Source { at, base, stride: 0, hi: 16, code: 0 }
    }
    /// The temporary of a source, laid out like the source itself.
    const fn temporary(i: usize, like: Source) -> Source {
        Source { at: TEMP_SOURCE * i as u32, base: Base::Temps, ..like }
    }
}

/// Dwords of a temporary source.
pub(crate) const TEMP_SOURCE: u32 = 2 * 64;
/// Where the temporary result is.
pub(crate) const TEMP_RESULT: u32 = 3 * TEMP_SOURCE;

/// Which of `sem`'s functions has the meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Task {
    /// None: the instruction is not one for these kernels.
    Leave,
    Common,
    CompareCommon,
    Vop1,
    Vop2Int,
    Vop2Float,
    Vop3Int,
    Vop3Float,
    Vop3p,
    Compare,
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneOp {
    pub task: Task,
    /// The task if MODE is the usual one and nothing else is special; else `Leave`.
    pub fast: Task,
    /// It is scalar arithmetic: known here, so that the loop over a block need not ask what the instruction is.
    pub scalar: bool,
    pub op: Op,
    pub compare: Compare,
    /// Index of an [`Extra`] plus one.
    pub extra: u16,
    /// Sources that are scalar registers, as they are: a bit for each, and four bits up one for each of two dwords.
    pub scalars: u8,
    pub src: [Source; 3],
    /// Dwords from the file to the first result register, or [`TEMP_RESULT`] if there is a merge.
    pub dst: u32,
    /// Scalar destination by operand code; 255 for none.
    pub sdst: u8,
    /// Scalar register pair that a carry or select mask comes from.
    pub carry: u8,
    pub clamp: bool,
    pub omod: u8,
    /// The result is part of a register: it goes to the temporary, and from there ([`Extra::merge`]).
    pub merges: bool,
    /// A source is one that only the interpreter knows ([`From::Special`]).
    pub special: bool,
}

/// A source that must be made before the instruction runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prepare {
    pub from: From,
    /// It has a second dword.
    pub long: bool,
    pub change: Change,
}

/// What a source is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum From {
    Source(Source),
    /// A scalar register by operand code.
    Sgpr(u8),
    /// A value that only the interpreter knows (apertures, SCC …).
    Special(Special),
}

/// Lanes that DPP moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dpp {
    /// The lane each one reads.
    pub from: [u8; 64],
    /// Lanes whose source exists.
    pub exists: u64,
    /// Lanes that row and bank masks leave on.
    pub enabled: u64,
    /// Lanes without a source read zero instead of being off.
    pub bound: bool,
}

/// What happens around an instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extra {
    pub prepare: [Option<Prepare>; 3],
    /// Of source 0.
    pub dpp: Option<Box<Dpp>>,
    /// The result is part of a register: this one, in dwords from the file.
    pub merge: Option<(Merge, u32)>,
}

/// A constant for all of sixteen lanes: low dwords, then high dwords.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub(crate) struct Splat(pub [[u32; 16]; 2]);

/// A block's ops: as many as it has instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneOps {
    pub list: Box<[LaneOp]>,
    pub extras: Vec<Extra>,
    pub consts: Vec<Splat>,
}

const NO_COMPARE: Compare = Compare { ty: Type::U32, predicate: Predicate(0), exec: false };

impl LaneOps {
    pub fn of(insts: &[Inst]) -> LaneOps {
        let mut ops = LaneOps::default();
        ops.list = insts.iter().map(|i| ops.op(i)).collect();
        ops
    }

    fn op(&mut self, inst: &Inst) -> LaneOp {
        let (task, compare) = match inst.run {
            Run::Compare(c) if c.ty.is_common() => (Task::CompareCommon, c),
            Run::Compare(c) => (Task::Compare, c),
            Run::Valu(Family::Common) => (Task::Common, NO_COMPARE),
            Run::Valu(Family::Vop1) => (Task::Vop1, NO_COMPARE),
            Run::Valu(Family::Vop2Int) => (Task::Vop2Int, NO_COMPARE),
            Run::Valu(Family::Vop2Float) => (Task::Vop2Float, NO_COMPARE),
            Run::Valu(Family::Vop3Int) => (Task::Vop3Int, NO_COMPARE),
            Run::Valu(Family::Vop3Float) => (Task::Vop3Float, NO_COMPARE),
            Run::Valu(Family::Vop3p) => (Task::Vop3p, NO_COMPARE),
            _ => (Task::Leave, NO_COMPARE),
        };
        let mut op = LaneOp {
            task,
            fast: task,
            scalar: matches!(inst.run, Run::Salu),
            op: inst.op,
            compare,
            extra: 0,
            scalars: 0,
            src: [Source::register(0); 3],
            dst: inst.dst as u32 * 64,
            sdst: inst.sdst,
            carry: inst.carry & 127,
            clamp: inst.clamp,
            omod: inst.omod,
            merges: inst.merge.is_some(),
            special: inst.src.iter().any(|s| matches!(s, Src::Special(_))),
        };
        if task == Task::Leave {
            return op;
        }
        let mut extra = Extra::default();
        for i in 0..3 {
            let change = inst.change(i);
            let long = inst.is_long(i);
            let (from, like) = match inst.src[i] {
                Src::None => continue,
                Src::Vgpr(r) => (From::Source(Source::register(r)), Source::register(r)),
                Src::Const(n) => {
                    let s = Source::uniform(Base::Consts, self.constant(n));
                    (From::Source(s), s)
                }
                Src::Sgpr(code) => (From::Sgpr(code & 127), Source::uniform(Base::Temps, 0)),
                Src::Special(special) => (From::Special(special), Source::uniform(Base::Temps, 0)),
            };
            let moves = i == 0 && inst.modifiers.dpp.is_some();
            op.src[i] = match from {
                From::Source(s) if change == Change::None && !moves => s,
                From::Sgpr(code) if change == Change::None => {
                    op.scalars |= (1 | (long as u8) << 4) << i;
                    Source { code, ..Source::temporary(i, like) }
                }
                _ => {
                    extra.prepare[i] = Some(Prepare { from, long, change });
                    Source::temporary(i, like)
                }
            };
        }
        extra.dpp = inst.modifiers.dpp.map(|dpp| Box::new(Dpp::new(dpp)));
        if let Some(merge) = inst.merge {
            extra.merge = Some((merge, op.dst));
            op.dst = TEMP_RESULT;
        }
        if inst.clamp || inst.omod != 0 || op.special {
            op.fast = Task::Leave;
        }
        if extra.needed() {
            self.extras.push(extra);
            op.extra = self.extras.len() as u16;
        }
        op
    }

    /// Where a constant is, in dwords.
    fn constant(&mut self, n: u64) -> u32 {
        let splat = Splat([[n as u32; 16], [(n >> 32) as u32; 16]]);
        let at = self.consts.iter().position(|&c| c == splat).unwrap_or_else(|| {
            self.consts.push(splat);
            self.consts.len() - 1
        });
        at as u32 * 32
    }
}

impl Extra {
    fn needed(&self) -> bool {
        self.dpp.is_some() || self.merge.is_some() || self.prepare.iter().any(Option::is_some)
    }
}

impl Dpp {
    fn new(of: lanemove::Dpp) -> Dpp {
        let from = std::array::from_fn(|n| dpp_source(n as u32, of.control).unwrap_or(0) as u8 & 63);
        Dpp { from, exists: of.existing(), enabled: of.enabled(), bound: of.bound }
    }
}
