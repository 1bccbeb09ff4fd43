//! Why nobody misses a wait that was taken away or weakened: an argument over all paths, made without the analysis that did not
//! find it.
//!
//! What the wait as it was would have finished, and as it is does not, is followed along all paths until other waits finish it. On
//! its way nothing may need it.

use std::collections::BTreeMap;
use wavemill_check::Program;
use wavemill_check::program::Step;
use wavemill_isa::info::{Counter, Path, Queue, Reg, WaitCounts};
use wavemill_isa::{Enc, Flow, MemKind, Op, Role};

/// What stands between a mutant and harm.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// On no path is there anything that it would have finished.
    Idle,
    /// Other waits finish it on all paths before anything needs it, or the wave ends.
    Covered,
    /// It crosses a barrier, where vector memory need not be done: waves of a work-group share L1, which keeps their order
    /// (AMDGPU guide, memory model, work-group scope).
    WorkGroup,
}

/// Who misses a wait.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum By {
    /// Whoever uses a register.
    Register,
    /// The same, if the address of a FLAT access is in LDS, which the code does not say.
    Flat,
    /// Other waves behind a barrier.
    Barrier,
    /// Whoever a store is for, if it is for somebody: it must not be seen before what was stored earlier. The code does not say
    /// which stores are meant so.
    Store,
    /// The function's caller.
    Caller,
}

/// Somebody may miss a wait: an access that may not be done when something else happens.
#[derive(Clone, Copy)]
pub struct Missed {
    pub by: By,
    first: u64,
    second: u64,
}

impl std::fmt::Display for Missed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}: {:#x} may not be done at {:#x}", self.by, self.first, self.second)
    }
}

/// An operation under way: how often each counter that tells of it was raised since, and which of them still has to tell.
type Ages = [Option<u8>; 2];
type Flying = BTreeMap<usize, Ages>;

/// A function and the mutant in it.
pub struct Case<'a> {
    pub program: &'a Program,
    /// The step that was changed.
    pub at: usize,
    pub was: WaitCounts,
    /// It has LDS: FLAT may mean that.
    lds: bool,
    /// Before which steps s[0:3] are the descriptor of private memory.
    private: Vec<bool>,
}

fn queue(queue: Queue, counter: Counter) -> Queue {
    match (queue, counter) {
        (Queue::Flat, Counter::Vm) => Queue::Vector,
        (queue, _) => queue,
    }
}

/// Before which steps s[0:3] have the descriptor of private memory, as the calling convention puts it there, on all paths: nothing
/// is written there but the wave's offset added to the address, and copies brought back that were made of them.
fn descriptors(program: &Program) -> Vec<bool> {
    // Registers, with the dword of the descriptor that they have.
    type Copies = BTreeMap<u8, u8>;
    let step = |copies: &Copies, step: &Step| {
        let scalar = |r: Reg| if let Reg::Scalar(n) = r { Some(n) } else { None };
        let written: Vec<u8> = step.info.writes().flat_map(|u| u.regs()).filter_map(scalar).collect();
        let read: Vec<u8> = step
            .info
            .reads()
            .filter(|u| u.role.is_some())
            .flat_map(|u| u.regs())
            .filter_map(scalar)
            .collect();
        let mut next = copies.clone();
        match step.inst.row.op {
            Op::s_mov_b32 | Op::s_mov_b64 => {
                for (i, to) in written.iter().enumerate() {
                    match read.get(i).and_then(|from| copies.get(from)) {
                        Some(dword) => next.insert(*to, *dword),
                        None => next.remove(to),
                    };
                }
            }
            Op::s_add_u32 | Op::s_addc_u32 if written.iter().all(|n| *n < 2 && read.contains(n)) => {}
            _ => next.retain(|n, _| !written.contains(n)),
        }
        // Functions keep s[0:3], and those from s32 on.
        next.retain(|n, _| !step.calls || *n < 4 || *n >= 32);
        next
    };
    let mut states: Vec<Option<Copies>> = vec![None; program.steps.len()];
    let mut todo = program.entries.clone();
    for entry in &todo {
        states[*entry] = Some((0..4).map(|n| (n, n)).collect());
    }
    while let Some(index) = todo.pop() {
        let Some(state) = &states[index] else { continue };
        let after = step(state, &program.steps[index]);
        for next in &program.steps[index].next {
            let joined = match &states[*next] {
                None => after.clone(),
                Some(old) => {
                    old.iter().filter(|(n, d)| after.get(n) == Some(d)).map(|(n, d)| (*n, *d)).collect()
                }
            };
            if states[*next].as_ref() != Some(&joined) {
                states[*next] = Some(joined);
                todo.push(*next);
            }
        }
    }
    let whole = |copies: &Copies| (0..4).all(|n| copies.get(&n) == Some(&n));
    states.iter().map(|s| s.as_ref().is_some_and(whole)).collect()
}

fn join(to: &mut Option<Flying>, from: &Flying) -> bool {
    let Some(to) = to else {
        *to = Some(from.clone());
        return true;
    };
    let before = to.clone();
    for (op, theirs) in from {
        let mine = to.entry(*op).or_insert(*theirs);
        for (mine, theirs) in mine.iter_mut().zip(theirs) {
            *mine = match (*mine, *theirs) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
    }
    *to != before
}

impl Case<'_> {
    pub fn new(program: &Program, at: u64, was: WaitCounts) -> Case<'_> {
        let at = program.steps.iter().position(|s| s.at == at).expect("it is in the program");
        let lds = program.steps.iter().any(|s| s.info.memory().any(|m| m.path == Path::Lds));
        let private = descriptors(program);
        Case { program, at, was, lds, private }
    }

    /// The counter's queue of an operation.
    fn queue(&self, op: usize, counter: Counter) -> Option<Queue> {
        let raise = self.program.steps[op].info.raises().find(|r| r.counter == counter)?;
        Some(queue(raise.queue, counter))
    }

    fn wait(&self, flying: &mut Flying, waits: WaitCounts) {
        let level = self.program.target.level();
        flying.retain(|op, ages| {
            for (counter, age) in [Counter::Vm, Counter::Lgkm].into_iter().zip(ages.iter_mut()) {
                let (Some(n), Some(a)) = (waits.count(counter, level), *age) else { continue };
                let in_order = self.queue(*op, counter).is_some_and(Queue::in_order);
                if n == 0 || in_order && a >= n {
                    *age = None;
                }
            }
            ages.iter().any(Option::is_some)
        });
    }

    /// What is under way behind a step. With `own`, its operation is, too.
    fn step(&self, flying: &mut Flying, index: usize, own: bool) {
        let step = &self.program.steps[index];
        if let Some(waits) = step.info.waits() {
            self.wait(flying, waits);
        }
        if step.calls {
            // What is called waits for all counters first.
            flying.clear();
        }
        let mut ages: Ages = [None; 2];
        for raise in step.info.raises().filter(|r| r.counter != Counter::Exp) {
            let counter = raise.counter as usize;
            let queue = queue(raise.queue, raise.counter);
            for (op, theirs) in flying.iter_mut() {
                if let Some(age) = &mut theirs[counter]
                    && self.queue(*op, raise.counter) == Some(queue)
                {
                    *age = age.saturating_add(raise.by);
                }
            }
            if !(raise.queue == Queue::Flat && raise.counter == Counter::Lgkm && !self.lds) {
                ages[counter] = Some(0);
            }
        }
        // A full counter holds instructions back.
        let most = WaitCounts::none(self.program.target.level());
        self.wait(flying, WaitCounts { vm: most.vm - 1, lgkm: most.lgkm - 1, ..most });
        if own && ages.iter().any(Option::is_some) {
            flying.insert(index, ages);
        }
    }

    /// What may be under way before each step, from some start on; what `start` has is all that is followed unless `all`.
    fn flow(&self, start: &[(usize, Flying)], all: bool) -> Vec<Option<Flying>> {
        let mut states: Vec<Option<Flying>> = vec![None; self.program.steps.len()];
        let mut todo = Vec::new();
        for (index, flying) in start {
            if join(&mut states[*index], flying) {
                todo.push(*index);
            }
        }
        while let Some(index) = todo.pop() {
            let mut flying = states[index].clone().expect("it was put there");
            self.step(&mut flying, index, all);
            if flying.is_empty() && !all {
                continue;
            }
            for next in &self.program.steps[index].next {
                if join(&mut states[*next], &flying) {
                    todo.push(*next);
                }
            }
        }
        states
    }

    /// Why nobody misses it, or who does.
    pub fn reason(&self) -> Result<Reason, Missed> {
        let entries: Vec<_> = self.program.entries.iter().map(|e| (*e, Flying::new())).collect();
        let before = self.flow(&entries, true)[self.at].clone().unwrap_or_default();
        let (mut now, mut then) = (before.clone(), before);
        self.step(&mut now, self.at, false);
        self.wait(&mut then, self.was);
        let mut loose = now;
        loose.retain(|op, ages| {
            let kept = then.get(op).copied().unwrap_or_default();
            ages.iter_mut().zip(kept).for_each(|(age, kept)| *age = age.filter(|_| kept.is_none()));
            ages.iter().any(Option::is_some)
        });
        if loose.is_empty() {
            return Ok(Reason::Idle);
        }
        let start: Vec<_> = self.program.steps[self.at].next.iter().map(|n| (*n, loose.clone())).collect();
        let mut reason = Reason::Covered;
        for (index, flying) in self.flow(&start, false).iter().enumerate() {
            for (op, ages) in flying.iter().flatten() {
                reason = reason.max(self.meets(*op, ages, index)?);
            }
        }
        Ok(reason)
    }

    /// Whether a step can do without an operation being done.
    fn meets(&self, op: usize, ages: &Ages, index: usize) -> Result<Reason, Missed> {
        let (first, second) = (&self.program.steps[op], &self.program.steps[index]);
        let wrong = |by: By| Err(Missed { by, first: first.at, second: second.at });
        let loads: Vec<Reg> =
            first.info.writes().filter(|u| u.role.is_some()).flat_map(|u| u.regs()).collect();
        if second.info.uses().iter().flat_map(|u| u.regs()).any(|r| loads.contains(&r)) {
            let turns = first.inst.row.enc == second.inst.row.enc && first.inst.row.enc != Enc::Smem;
            if !turns || second.info.reads().flat_map(|u| u.regs()).any(|r| loads.contains(&r)) {
                // VM_CNT has told already: in memory, that is all.
                let flat = ages[Counter::Vm as usize].is_none() && first.inst.row.enc == Enc::Flat;
                return wrong(if flat { By::Flat } else { By::Register });
            }
        }
        // Others see it: it is not private memory.
        let memory = |index: usize| {
            let s = &self.program.steps[index];
            let buffer = s.inst.row.operand(Role::Srsrc).is_some() && s.inst.get(Role::Srsrc) == 0;
            s.info.memory().any(|m| matches!(m.path, Path::Vector | Path::Flat) && !m.scratch)
                && !(buffer && self.private[index])
        };
        let stores = second.info.memory().any(|m| m.kind != MemKind::Load);
        if second.inst.row.op == Op::s_barrier {
            let lds =
                ages[1].is_some() && matches!(self.queue(op, Counter::Lgkm), Some(Queue::Lds | Queue::Flat));
            return if lds { wrong(By::Barrier) } else { Ok(Reason::WorkGroup) };
        }
        if memory(op) && memory(index) && stores {
            return wrong(By::Store);
        }
        if matches!(second.info.flow(), Flow::Jump) {
            return wrong(By::Caller);
        }
        Ok(Reason::Covered)
    }
}
