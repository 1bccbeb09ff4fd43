//! Sequences of the memory model (AMDGPU guide, "Memory Model" of GFX6 to GFX9 and gfx90a) that are in the wrong order.
//!
//! An acquire loads, waits until the load is done, and then invalidates caches: what is invalidated before may be old again
//! when the load returns. A release of gfx90a writes L2 back, waits until that is done, and then stores. Which accesses are
//! meant to be atomic the code does not say; loads past the caches and atomics that return a value are taken for it.

use crate::finding::{Finding, Kind, Mend};
use crate::flow::{self, State};
use crate::program::{Program, Step};
use std::collections::BTreeMap;
use wavemill_isa::encoding::bits;
use wavemill_isa::info::{Counter, Path, WaitCounts};
use wavemill_isa::row::cache;
use wavemill_isa::{Enc, MemKind};

/// What is under way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum What {
    /// A load that others may have to see before what follows.
    Load,
    /// L2 is written back.
    WriteBack,
}

/// Instructions under way, with how often VM_CNT was raised since.
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

impl UnderWay {
    /// What must be done before a step, and is not.
    fn conflicts(&self, step: &Step) -> Option<(Kind, What)> {
        let touches = step.info.cache();
        if touches & cache::INV != 0 && touches & (cache::L1 | cache::L2) != 0 {
            return Some((Kind::Invalidated, What::Load));
        }
        stores(step).then_some((Kind::Released, What::WriteBack))
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
        if let Some((_, what)) = self.conflicts(step) {
            // It is told once.
            self.0.retain(|_, (w, _)| *w != what);
        }
        if let Some(n) = step.info.waits().and_then(|w| w.count(Counter::Vm, level)) {
            self.0.retain(|_, (_, age)| *age < n);
        }
        if step.calls {
            self.0.clear();
        }
        if !step.info.raises().any(|r| r.counter == Counter::Vm) {
            return;
        }
        let full = WaitCounts::none(level).vm;
        self.0.values_mut().for_each(|(_, age)| *age += 1);
        self.0.retain(|_, (_, age)| *age < full);
        let touches = step.info.cache();
        if may_acquire(step) {
            self.0.insert(index, (What::Load, 0));
        } else if touches & cache::WB != 0 && touches & cache::L2 != 0 {
            self.0.insert(index, (What::WriteBack, 0));
        }
    }

    fn found(&self, program: &Program, index: usize) -> Vec<Finding> {
        let step = &program.steps[index];
        let Some((kind, wanted)) = self.conflicts(step) else { return Vec::new() };
        let level = program.target.level();
        let early = self.0.iter().filter(|(_, (what, _))| *what == wanted);
        let finding = |(origin, (_, age)): (&usize, &(What, u8))| Finding {
            kind,
            at: step.at,
            other: program.steps[*origin].at,
            regs: Vec::new(),
            states: None,
            mend: Mend::Wait(WaitCounts { vm: *age, ..WaitCounts::none(level) }),
        };
        early.map(finding).collect()
    }
}

/// All sequences in the wrong order.
pub fn check(program: &Program) -> Vec<Finding> {
    flow::check::<UnderWay>(program)
}
