//! Which registers somebody still reads, behind each instruction of a block: what code writes last into the others, it need not.
//!
//! That holds for waves that nobody looks at but themselves (`Layout::forgets`), on all paths through the code that is known:
//! blocks of one page, which are forgotten together. Where a path goes elsewhere, or may read registers that its instructions do
//! not name, all are read. A vector register is overwritten in active lanes only, so that counts as long as EXEC is what it
//! was. What an instruction that may fault names, its report shows: it is read.

use wavemill_isa::encoding::bits;
use wavemill_isa::info::{Lanes, Reg, Use};
use wavemill_isa::regs;
use wavemill_isa::{Form, Target};
use wavemill_sem::control::{Condition, Control, target};
use wavemill_sem::inst::{Inst, Run};
use wavemill_sem::lanemove::LaneMove;
use wavemill_sem::operand::Src;
use wavemill_sem::scalar::{S32, S64};
use wavemill_sem::state::Allocation;

/// Scalar registers come behind the vector registers in a set.
const SCALARS: usize = 256;
const WORDS: usize = (SCALARS + 128) / 64;

/// A set of vector and scalar registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Set([u64; WORDS]);

impl Set {
    const NONE: Set = Set([0; WORDS]);
    const ALL: Set = Set([!0; WORDS]);

    fn insert(&mut self, n: usize) {
        self.0[n / 64 % WORDS] |= 1 << (n % 64);
    }
    fn contains(&self, n: usize) -> bool {
        self.0[n / 64 % WORDS] >> (n % 64) & 1 != 0
    }
    fn with(&self, other: &Set) -> Set {
        Set(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }
    fn without(&self, other: &Set) -> Set {
        Set(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }
}

/// What is read from a place in code on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// Before it is overwritten, if at all, while EXEC is what it is at that place.
    soon: Set,
    /// At any time.
    ever: Set,
}

impl Needs {
    const NOTHING: Needs = Needs { soon: Set::NONE, ever: Set::NONE };
    /// All of it.
    pub const ALL: Needs = Needs { soon: Set::ALL, ever: Set::ALL };

    /// Whether a vector register is needed that was written with EXEC as it is here, or with another one.
    pub fn vector(&self, n: u16, same_exec: bool) -> bool {
        let set = if same_exec { &self.soon } else { &self.ever };
        usize::from(n) >= SCALARS || set.contains(n.into())
    }

    /// Whether one of a mask's two registers is needed. Those that are more than numbers always are.
    pub fn mask(&self, code: u8) -> bool {
        let ordinary = code < 100 || code == regs::VCC as u8;
        !ordinary || [code, code + 1].into_iter().any(|c| self.soon.contains(SCALARS + usize::from(c)))
    }

    fn with(&self, other: &Needs) -> Needs {
        Needs { soon: self.soon.with(&other.soon), ever: self.ever.with(&other.ever) }
    }
}

/// What instructions do to what is needed behind them.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Registers that are read.
    reads: Set,
    /// Registers of which nothing is left.
    overwrites: Set,
    changes_exec: bool,
}

impl Step {
    /// What is needed before an instruction.
    fn before(&self, behind: &Needs) -> Needs {
        let soon = if self.changes_exec { &behind.ever } else { &behind.soon };
        Needs { soon: soon.without(&self.overwrites).with(&self.reads), ever: behind.ever.with(&self.reads) }
    }

    /// Of an instruction; none if it may read registers that it does not name, or change what others mean.
    fn of(inst: &Inst, target: &Target, file: Allocation) -> Option<Step> {
        let Allocation { vgprs, agprs, .. } = file;
        let mut step = Step { reads: Set::NONE, overwrites: Set::NONE, changes_exec: false };
        match inst.run {
            Run::Illegal(_)
            | Run::Unsupported
            | Run::Fetch
            | Run::LaneMove(LaneMove::Relative { .. })
            | Run::Interpolate(_) => return None,
            Run::Control(control) if !is_harmless(control, inst) => return None,
            _ => {}
        }
        let info = inst.encoded().info(target);
        let number = |reg: Reg| match reg {
            // Registers that the wave does not have are read as the first one; accumulators come behind the others.
            Reg::Vgpr(n) => Some(if u16::from(n) < vgprs { usize::from(n) } else { 0 }),
            Reg::Agpr(n) => Some(if u16::from(n) < agprs { usize::from(vgprs) + usize::from(n) } else { 0 }),
            Reg::Scalar(code) => Some(SCALARS + usize::from(code)),
            _ => None,
        };
        let read = info.uses().iter().filter(|u| u.reads() || info.may_fault());
        // Those from 256 on are always needed.
        let vector = |n: &usize| *n < SCALARS;
        for reg in read.flat_map(Use::possible) {
            let scalar = matches!(reg, Reg::Scalar(_));
            number(reg).filter(|n| scalar || vector(n)).into_iter().for_each(|n| step.reads.insert(n));
        }
        for (i, src) in inst.src.iter().enumerate() {
            if let Src::Vgpr(r) = *src {
                let count = if inst.is_long(i) { 2 } else { u16::from(inst.src_bits[i] / 32).max(1) };
                let known = (r..r + count).map(usize::from).filter(|&r| r < SCALARS);
                known.for_each(|r| step.reads.insert(r));
            }
        }
        step.changes_exec =
            info.writes().flat_map(Use::possible).any(|reg| reg == Reg::EXEC || reg == Reg::EXEC.offset(1));
        let whole = !info.may_fault() && inst.merge.is_none();
        for write in info.writes().filter(|w| whole && !w.reads() && w.bits == !0 && w.most == w.dwords) {
            let lanes =
                matches!(inst.run, Run::Valu(_)) && inst.form != Form::Dpp && write.lanes == Lanes::Exec;
            let vectors = lanes && write.regs().all(|r| matches!(r, Reg::Vgpr(n) if u16::from(n) < vgprs));
            if vectors || write.overwrites() && matches!(write.reg, Reg::Scalar(_)) {
                write.regs().filter_map(number).for_each(|n| step.overwrites.insert(n));
            }
        }
        Some(step)
    }
}

/// Whether registers mean behind an instruction what they meant before it, and those that it reads are known.
fn is_harmless(control: Control, inst: &Inst) -> bool {
    match control {
        Control::Branch(_)
        | Control::End
        | Control::Barrier
        | Control::Sleep
        | Control::Priority
        | Control::Message { halt: false }
        | Control::PerformanceLevel { .. }
        | Control::GetPc
        | Control::GetRegister => true,
        // The round and denormal modes.
        Control::SetRegister | Control::SetRegisterImmediate => {
            let field = bits::SIMM16.get(inst.bits);
            let (register, first, size) = (field & 63, field >> 6 & 31, (field >> 11 & 31) + 1);
            register == 1 && first + size <= 8
        }
        _ => false,
    }
}

/// Where a block leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    /// Nobody knows.
    Anywhere,
    /// To these places, none if the wave ends.
    Blocks([Option<u64>; 2]),
}

/// A block's instructions together.
#[derive(Debug)]
pub struct Flow {
    steps: Box<[Option<Step>]>,
    next: Next,
}

impl Flow {
    /// Of instructions at an address that take so many bytes, for waves with these registers.
    pub fn of(insts: &[Inst], pc: u64, len: u32, on: &Target, file: Allocation) -> Flow {
        let behind = pc.wrapping_add(len.into());
        let next = match insts.last().map(|last| (last.run, last.bits)) {
            Some((Run::Control(Control::End), _)) => Next::Blocks([None; 2]),
            Some((Run::Control(Control::Branch(condition)), bits)) => {
                let imm = wavemill_isa::encoding::bits::SIMM16.get(bits) as u16;
                let to = Some(target::<S32>(S64(behind), imm).0);
                Next::Blocks([to, (condition != Condition::Always).then_some(behind)])
            }
            Some(_) => Next::Blocks([Some(behind), None]),
            None => Next::Anywhere,
        };
        Flow { steps: insts.iter().map(|inst| Step::of(inst, on, file)).collect(), next }
    }

    /// What is needed before the block, of what is behind it.
    fn before(&self, behind: Needs) -> Needs {
        self.steps.iter().rev().fold(behind, |needs, step| step.map_or(Needs::ALL, |s| s.before(&needs)))
    }

    /// What is needed behind each instruction, of what is behind the block.
    pub fn within(&self, behind: Needs) -> Box<[Needs]> {
        let mut all = vec![behind; self.steps.len()];
        for i in (1..all.len()).rev() {
            all[i - 1] = self.steps[i].map_or(Needs::ALL, |s| s.before(&all[i]));
        }
        all.into()
    }
}

/// Blocks that are looked at; behind more of them, everything is read.
const MOST: usize = 48;

/// What is needed behind a block, and behind all others that it leads to, by their addresses, if none was left out. `flow` tells of
/// others; none if they are not known.
pub fn behind<'f>(
    block: &'f Flow,
    mut flow: impl FnMut(u64) -> Option<&'f Flow>,
) -> (Needs, Vec<(u64, Needs)>) {
    // The block itself has no address here: if it comes again, it is another.
    let mut known: Vec<(u64, &Flow, Needs)> = Vec::new();
    let mut complete = true;
    let mut at = 0;
    let mut present = Some(block);
    while let Some(now) = present {
        if let Next::Blocks(next) = now.next {
            for pc in next.into_iter().flatten() {
                if known.iter().any(|k| k.0 == pc) {
                    continue;
                }
                complete &= known.len() < MOST;
                if complete && let Some(flow) = flow(pc) {
                    known.push((pc, flow, Needs::NOTHING));
                }
            }
        }
        present = known.get(at).map(|k| k.1);
        at += 1;
    }
    let behind = |of: &Flow, known: &[(u64, &Flow, Needs)]| match of.next {
        Next::Anywhere => Needs::ALL,
        Next::Blocks(next) => next.into_iter().flatten().fold(Needs::NOTHING, |needs, pc| {
            let found = known.iter().find(|k| k.0 == pc).map_or(&Needs::ALL, |k| &k.2);
            needs.with(found)
        }),
    };
    // Nothing gets less, so it ends.
    let mut changed = true;
    while changed {
        changed = false;
        for i in (0..known.len()).rev() {
            let needs = known[i].1.before(behind(known[i].1, &known));
            changed |= needs != known[i].2;
            known[i].2 = needs;
        }
    }
    let others = known.iter().filter(|_| complete).map(|k| (k.0, behind(k.1, &known)));
    (behind(block, &known), others.collect())
}
