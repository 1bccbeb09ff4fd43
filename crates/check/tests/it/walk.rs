//! A plain walk along paths of a program that keeps every operation under way, one by one, and lets each finish as late as
//! its counter allows: slower than the analysis, and written without it.

use wavemill_check::Program;
use wavemill_isa::Flow;
use wavemill_isa::info::{Counter, Queue, Reg, WaitCounts};

/// An operation under way.
#[derive(Clone)]
struct Operation {
    counter: Counter,
    queue: Queue,
    by: u8,
    loads: Vec<Reg>,
}

/// Paths tried, and their lengths.
const PATHS: u32 = 24;
const STEPS: usize = 3_000;

/// Walks paths that pass `through`: the address of a step that uses a register too early, if there is one.
pub fn walk(program: &Program, through: u64) -> Option<u64> {
    let mut random = through | 1;
    let level = program.target.level();
    let wait = |under_way: &mut Vec<Operation>, waits: WaitCounts| {
        for counter in Counter::ALL {
            if let Some(n) = waits.count(counter, level) {
                finish(under_way, counter, n);
            }
        }
    };
    for _ in 0..PATHS {
        let Some(mut at) = program.entries.first().copied() else { break };
        let mut under_way: Vec<Operation> = Vec::new();
        let mut passed = false;
        for _ in 0..STEPS {
            let step = &program.steps[at];
            passed |= step.at == through;
            let touched: Vec<Reg> = step.info.reads().flat_map(|u| u.regs()).collect();
            if passed && under_way.iter().any(|o| o.loads.iter().any(|r| touched.contains(r))) {
                return Some(step.at);
            }
            if let Some(waits) = step.info.waits() {
                wait(&mut under_way, waits);
            }
            if step.info.flow() == Flow::Call {
                under_way.clear();
            }
            let memory = step.info.raises().any(|r| r.counter != Counter::Exp);
            // EXP_CNT says that a store's data was read, not that the store is done.
            for raise in step.info.raises().filter(|r| memory && r.counter != Counter::Exp) {
                // FLAT in memory: VM_CNT tells. LGKM_CNT may have come down at once.
                let queue = match (raise.queue, raise.counter) {
                    (Queue::Flat, Counter::Vm) => Queue::Vector,
                    (Queue::Flat, _) => continue,
                    (queue, _) => queue,
                };
                let loads = step.info.writes().filter(|u| u.role.is_some()).flat_map(|u| u.regs()).collect();
                under_way.push(Operation { counter: raise.counter, queue, by: raise.by, loads });
            }
            // A counter cannot hold more than its maximum.
            let most = WaitCounts::none(program.target.level());
            finish(&mut under_way, Counter::Vm, most.vm);
            finish(&mut under_way, Counter::Lgkm, most.lgkm);
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match step.next[..] {
                [] => break,
                [one] => at = one,
                ref several => at = several[(random >> 33) as usize % several.len()],
            }
        }
    }
    None
}

/// The counter is at most `n` now: what must be done for that to be so, is done.
fn finish(under_way: &mut Vec<Operation>, counter: Counter, n: u8) {
    let is_done = |i: usize, o: &Operation| {
        let later = under_way[i + 1..].iter().filter(|l| l.counter == counter && l.queue == o.queue);
        let after: u32 = later.map(|l| u32::from(l.by)).sum();
        o.counter == counter && (n == 0 || o.queue.in_order() && after >= u32::from(n))
    };
    let mut done = under_way.iter().enumerate().map(|(i, o)| is_done(i, o)).collect::<Vec<_>>().into_iter();
    under_way.retain(|_| !done.next().unwrap_or(false));
}
