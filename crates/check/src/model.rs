//! Sequences of the memory model (AMDGPU guide, "Memory Model" of GFX6 to GFX9 and gfx90a) that are in the wrong order.
//!
//! An acquire loads, waits until the load is done, and then invalidates caches: what is invalidated before may be old again
//! when the load returns. A release of gfx90a writes L2 back, waits until that is done, and then stores. Which accesses are
//! meant to be atomic the code does not say; loads past the caches and atomics that return a value are taken for it.
//!
//! At a barrier, accesses to LDS must be done, which is what a release of work-group scope asks for; vector memory needs no
//! wait, for waves of a work-group share L1, except where it loads into LDS, which VM_CNT tells of. Functions return when all
//! they have begun is done: their callers do not wait for it (AMDGPU guide, calling convention).

use crate::finding::{Finding, Kind, Mend};
use crate::flow::{self, State};
use crate::program::{Program, Step};
use std::collections::BTreeMap;
use wavemill_isa::encoding::bits;
use wavemill_isa::info::{Counter, Path, Queue, Raise, WaitCounts};
use wavemill_isa::row::cache;
use wavemill_isa::{Enc, MemKind, Op};

/// What is under way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum What {
    /// A load that others may have to see before what follows.
    Load,
    /// L2 is written back.
    WriteBack,
    /// An access to LDS.
    Lds,
    /// A load from memory into LDS.
    IntoLds,
    /// Another access to memory.
    Other,
}

impl What {
    /// The counter that tells when it is done.
    fn counter(self) -> Counter {
        if self == What::Lds { Counter::Lgkm } else { Counter::Vm }
    }
}

/// Instructions under way, with how often their counter was raised since by what is in order with them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct UnderWay(BTreeMap<usize, (What, u8)>);

/// A load past the caches, or an atomic that returns a value.
fn may_acquire(step: &Step) -> bool {
    let row = step.inst.row;
    let glc = match row.enc {
        Enc::Mubuf | Enc::Mtbuf => bits::BUF_GLC,
        Enc::Flat | Enc::Global | Enc::Scratch => bits::FLAT_GLC,
        _ => return false,
    };
    row.mem.is_some_and(|m| m.kind != MemKind::Store) && glc.get(step.inst.bits) != 0
}

fn stores(step: &Step) -> bool {
    let memory = |path: Path| matches!(path, Path::Vector | Path::Flat);
    step.info.memory().any(|m| m.kind != MemKind::Load && memory(m.path) && !m.scratch)
}

impl What {
    /// What an instruction leaves under way.
    fn of(step: &Step) -> Option<What> {
        let raises = |counter| step.info.raises().any(|r| r.counter == counter);
        let touches = step.info.cache();
        if may_acquire(step) {
            Some(What::Load)
        } else if touches & cache::WB != 0 && touches & cache::L2 != 0 {
            Some(What::WriteBack)
        } else if step.info.memory().any(|m| m.path == Path::Lds) && raises(Counter::Lgkm) {
            Some(What::Lds)
        } else if step.info.memory().any(|m| m.path == Path::Lds && m.kind != MemKind::Load) {
            raises(Counter::Vm).then_some(What::IntoLds)
        } else {
            raises(Counter::Vm).then_some(What::Other)
        }
    }
}

impl UnderWay {
    /// What must be done before a step, and is not.
    fn conflicts(step: &Step) -> Option<(Kind, &'static [What])> {
        let touches = step.info.cache();
        if touches & cache::INV != 0 && touches & (cache::L1 | cache::L2) != 0 {
            return Some((Kind::Invalidated, &[What::Load]));
        }
        if step.inst.row.op == Op::s_barrier {
            return Some((Kind::Met, &[What::Lds, What::IntoLds]));
        }
        if step.returns {
            return Some((
                Kind::Returned,
                &[What::Load, What::WriteBack, What::Lds, What::IntoLds, What::Other],
            ));
        }
        stores(step).then_some((Kind::Released, &[What::WriteBack]))
    }
}

impl State for UnderWay {
    fn join(&mut self, other: &Self) {
        for (index, theirs) in &other.0 {
            let mine = self.0.entry(*index).or_insert(*theirs);
            mine.1 = mine.1.min(theirs.1);
        }
    }

    fn step(&mut self, program: &Program, index: usize, step: &Step) {
        let level = program.target.level();
        if let Some((_, whats)) = Self::conflicts(step) {
            // It is told once.
            self.0.retain(|_, (w, _)| !whats.contains(w));
        }
        if let Some(waits) = step.info.waits() {
            let done = |what: What, age: u8| waits.count(what.counter(), level).is_some_and(|n| age >= n);
            self.0.retain(|_, (what, age)| !done(*what, *age));
        }
        if step.calls {
            self.0.clear();
        }
        let most = WaitCounts::none(level);
        // FLAT counts LGKM_CNT down early where it is not in LDS.
        let in_turn = |r: &Raise| match r.queue {
            Queue::Scalar | Queue::Message | Queue::Gds => false,
            Queue::Flat => r.counter == Counter::Vm,
            _ => true,
        };
        for raise in step.info.raises().filter(|r| in_turn(r)) {
            let full = if raise.counter == Counter::Vm { most.vm } else { most.lgkm };
            let same = self.0.values_mut().filter(|(what, _)| what.counter() == raise.counter);
            same.for_each(|(_, age)| *age = age.saturating_add(raise.by));
            self.0.retain(|_, (what, age)| what.counter() != raise.counter || *age < full);
        }
        if let Some(what) = What::of(step) {
            self.0.insert(index, (what, 0));
        }
    }

    fn found(&self, program: &Program, index: usize) -> Vec<Finding> {
        let step = &program.steps[index];
        let Some((kind, wanted)) = Self::conflicts(step) else { return Vec::new() };
        let none = WaitCounts::none(program.target.level());
        let early = self.0.iter().filter(|(_, (what, _))| wanted.contains(what));
        let finding = |(origin, (what, age)): (&usize, &(What, u8))| Finding {
            kind,
            at: step.at,
            other: program.steps[*origin].at,
            regs: Vec::new(),
            states: None,
            mend: Mend::Wait(match what.counter() {
                Counter::Lgkm => WaitCounts { lgkm: *age, ..none },
                _ => WaitCounts { vm: *age, ..none },
            }),
        };
        early.map(finding).collect()
    }
}

/// All sequences in the wrong order.
pub fn check(program: &Program) -> Vec<Finding> {
    flow::check::<UnderWay>(program)
}
