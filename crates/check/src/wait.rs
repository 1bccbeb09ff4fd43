//! Registers used before their counter allows it (manual 4.4).
//!
//! A load leaves its registers pending, an export or (GFX6) a store those that it has yet to read. What is pending has an
//! age: how far the counter has been raised since by instructions of the same queue. Instructions of a queue finish in
//! order, so that what has an age of n is done when the counter is at most n; scalar loads finish in any order, and only
//! a counter of 0 helps. On several paths, the youngest counts.
//!
//! FLAT instructions raise two counters, and are done when both have come down (manual 10.1); of memory, VM_CNT alone tells. On
//! all paths VM_CNT is what is asked for: code that knows the address to be in LDS would use DS, and code that knows it to be in
//! memory does not wait for LGKM_CNT. Where code runs the address is known, and LGKM_CNT is asked for, too, if it is in LDS.
//! What LDS does not do counts down early: FLAT says nothing of DS instructions before it in LGKM_CNT, and if it is in LDS,
//! nothing of vector memory before it in VM_CNT (manual 10.2.2).

use crate::finding::{Finding, Kind, Mend};
use crate::flow::{self, State};
use crate::program::{Program, Step};
use std::collections::BTreeMap;
use wavemill_isa::Level;
use wavemill_isa::info::{Counter, Queue, Raise, Reg, WaitCounts};

/// Why a register is pending.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Why {
    /// Something will be written to it.
    Load,
    /// The same by FLAT from LDS: besides VM_CNT, LGKM_CNT tells.
    FlatLds,
    /// Its content has yet to be read.
    Read,
}

/// Until when.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Pending {
    /// For each counter that may tell: the queue, and by how much it was raised since.
    ages: [Option<(Queue, u8)>; 3],
    /// The instruction that will do it.
    origin: usize,
}

impl Pending {
    /// Younger ages of two paths; the counters of either tell.
    fn join(&mut self, other: &Pending) {
        let youngest = |p: &Pending| p.ages.iter().flatten().map(|(_, age)| *age).min().unwrap_or(0);
        if youngest(other) < youngest(self) || youngest(other) == youngest(self) && other.origin < self.origin
        {
            self.origin = other.origin;
        }
        for (mine, theirs) in self.ages.iter_mut().zip(other.ages) {
            *mine = match (*mine, theirs) {
                (Some((queue, a)), Some((_, b))) => Some((queue, a.min(b))),
                (a, b) => a.or(b),
            };
        }
    }

    /// Done when the counters have come down to these.
    fn is_done(&self, waits: WaitCounts, level: Level) -> bool {
        Counter::ALL.iter().zip(self.ages).any(|(counter, age)| match (age, waits.count(*counter, level)) {
            (Some((queue, age)), Some(n)) => n == 0 || queue.in_order() && age >= n,
            _ => false,
        })
    }

    /// The counts to wait for.
    fn waits(&self, level: Level) -> WaitCounts {
        let mut waits = WaitCounts::none(level);
        for (counter, age) in Counter::ALL.iter().zip(self.ages) {
            let Some((queue, age)) = age else { continue };
            let n = if queue.in_order() { age } else { 0 };
            match counter {
                Counter::Vm => waits.vm = waits.vm.min(n),
                Counter::Lgkm => waits.lgkm = waits.lgkm.min(n),
                Counter::Exp => waits.exp = waits.exp.min(n),
            }
        }
        waits
    }
}

/// What is pending before a step.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Outstanding(BTreeMap<(Reg, Why), Pending>);

/// FLAT counts as vector memory in one counter; in the other, it has no turn.
fn queue(raise: &Raise) -> Queue {
    match (raise.queue, raise.counter) {
        (Queue::Flat, Counter::Vm) => Queue::Vector,
        (queue, _) => queue,
    }
}

/// The registers a step leaves pending: what it loads, and what it has yet to read.
fn leaves(step: &Step) -> Vec<(Reg, Why)> {
    let mut out = Vec::new();
    let info = &step.info;
    let memory = info.raises().any(|r| r.counter != Counter::Exp);
    if memory {
        let written = info.writes().filter(|u| u.role.is_some());
        out.extend(written.flat_map(|u| u.regs()).map(|r| (r, Why::Load)));
    }
    if info.raises().any(|r| r.counter == Counter::Exp) {
        let data = |u: &&wavemill_isa::info::Use| u.reg.is_vector() && u.role.is_some_and(is_data);
        out.extend(info.reads().filter(data).flat_map(|u| u.regs()).map(|r| (r, Why::Read)));
    }
    out
}

fn is_data(role: wavemill_isa::Role) -> bool {
    use wavemill_isa::Role::{Data0, Data1, Vdata, Vsrc0, Vsrc1, Vsrc2, Vsrc3};
    matches!(role, Data0 | Data1 | Vdata | Vsrc0 | Vsrc1 | Vsrc2 | Vsrc3)
}

impl Outstanding {
    /// What of it a step must not touch: each pending register with what is wrong.
    fn conflicts(&self, step: &Step) -> Vec<(Reg, Why, Kind)> {
        let mut out = Vec::new();
        // The loads of one queue arrive in order: the later one wins.
        let raises: Vec<(Counter, Queue)> = step.info.raises().map(|r| (r.counter, queue(r))).collect();
        for use_ in step.info.uses() {
            for reg in use_.regs() {
                for why in [Why::Load, Why::FlatLds] {
                    let Some(pending) = self.0.get(&(reg, why)) else { continue };
                    let in_turn = !use_.reads()
                        && Counter::ALL.iter().zip(pending.ages).any(|(counter, age)| {
                            age.is_some_and(|(q, _)| q.in_order() && raises.contains(&(*counter, q)))
                        });
                    if use_.reads() {
                        out.push((reg, why, Kind::Used));
                    } else if !in_turn {
                        out.push((reg, why, Kind::Overwritten));
                    }
                }
                if use_.writes() && self.0.contains_key(&(reg, Why::Read)) {
                    out.push((reg, Why::Read, Kind::StillRead));
                }
            }
        }
        out
    }

    fn wait(&mut self, waits: WaitCounts, level: Level) {
        self.0.retain(|_, pending| !pending.is_done(waits, level));
    }
}

impl State for Outstanding {
    fn join(&mut self, other: &Self) {
        for (key, pending) in &other.0 {
            self.0.entry(*key).and_modify(|mine| mine.join(pending)).or_insert(*pending);
        }
    }

    fn step(&mut self, program: &Program, index: usize, step: &Step) {
        let level = program.target.level();
        // A register that is used had better be there: it is not told twice.
        for (reg, why, _) in self.conflicts(step) {
            self.0.remove(&(reg, why));
        }
        if let Some(waits) = step.info.waits() {
            self.wait(waits, level);
        }
        if step.calls {
            // Functions wait for all counters when they start and before they return.
            self.0.clear();
        }
        let most = WaitCounts::none(level);
        let mut ages = [None; 3];
        for raise in step.info.raises() {
            let (counter, queue) = (raise.counter as usize, queue(raise));
            for pending in self.0.values_mut() {
                if let Some((q, age)) = &mut pending.ages[counter]
                    && *q == queue
                {
                    *age = age.saturating_add(raise.by);
                }
            }
            if raise.queue != Queue::Flat || raise.counter == Counter::Vm {
                ages[counter] = Some((queue, 0));
            }
        }
        // A counter that is full holds instructions back: what it can no longer count is done.
        self.0.retain(|_, p| {
            let full = [most.vm, most.lgkm, most.exp];
            !p.ages.iter().zip(full).any(|(age, full)| age.is_some_and(|(q, n)| q.in_order() && n >= full))
        });
        for (reg, why) in leaves(step) {
            let mut own = ages;
            match why {
                Why::Load | Why::FlatLds => own[Counter::Exp as usize] = None,
                Why::Read => (own[Counter::Vm as usize], own[Counter::Lgkm as usize]) = (None, None),
            }
            self.0.insert((reg, why), Pending { ages: own, origin: index });
        }
    }

    fn touched_lds(&mut self, program: &Program, index: usize) {
        let early = program.steps[index].info.raises().find(|r| r.counter == Counter::Vm).map_or(0, |r| r.by);
        for pending in self.0.values_mut().filter(|p| p.origin != index) {
            if let Some((Queue::Vector, age)) = &mut pending.ages[Counter::Vm as usize] {
                *age = age.saturating_sub(early);
            }
        }
        let mut ages = [None; 3];
        ages[Counter::Lgkm as usize] = Some((Queue::Lds, 0));
        let loaded = leaves(&program.steps[index]).into_iter().filter(|(_, why)| *why == Why::Load);
        self.0.extend(loaded.map(|(reg, _)| ((reg, Why::FlatLds), Pending { ages, origin: index })));
    }

    fn found(&self, program: &Program, index: usize) -> Vec<Finding> {
        let (step, level) = (&program.steps[index], program.target.level());
        let mut found: BTreeMap<(usize, Kind), (Vec<Reg>, WaitCounts)> = BTreeMap::new();
        for (reg, why, kind) in self.conflicts(step) {
            let pending = self.0[&(reg, why)];
            let none = (Vec::new(), WaitCounts::none(level));
            let (regs, waits) = found.entry((pending.origin, kind)).or_insert(none);
            if !regs.contains(&reg) {
                regs.push(reg);
            }
            let need = pending.waits(level);
            waits.vm = waits.vm.min(need.vm);
            waits.lgkm = waits.lgkm.min(need.lgkm);
            waits.exp = waits.exp.min(need.exp);
        }
        let finding = |((origin, kind), (regs, waits)): ((usize, Kind), (Vec<Reg>, WaitCounts))| Finding {
            kind,
            at: step.at,
            other: program.steps[origin].at,
            regs,
            states: None,
            mend: Mend::Wait(waits),
        };
        found.into_iter().map(finding).collect()
    }
}

/// All registers that are touched too early, one finding for each pair of instructions.
pub fn check(program: &Program) -> Vec<Finding> {
    flow::check::<Outstanding>(program)
}
