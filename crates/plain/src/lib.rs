//! The plain engine: one instruction after another, one lane after another. It decodes every instruction anew, keeps
//! nothing, and uses no SIMD, so that it is slow and there is little in it that could be wrong.
//!
//! It is the yardstick for other engines, and shows what an engine has to do: fetch operands of lane-wise instructions
//! and put their results away ([`lane`]), gather and scatter matrices ([`matrix`]). All else is in `sem`, done on the
//! registers and memory of a [`Running`] wave. It is written on the public parts of `sem` and `wave` alone.

#![forbid(unsafe_code)]

mod lane;
mod matrix;

use wavemill_isa::{Decoder, Target};
use wavemill_sem::execute::control::Flow;
use wavemill_sem::execute::execute;
use wavemill_sem::inst::{Inst, Run};
use wavemill_wave::program::{Layout, fetch};
use wavemill_wave::step::Next;
use wavemill_wave::{Engine, Event, Fault, FaultKind, GroupShared, Memory, Running, Wave};

/// The engine.
pub struct Plain {
    decoder: Decoder,
}

impl Plain {
    /// An engine for a target.
    pub fn new(target: Target) -> Plain {
        Plain { decoder: Decoder::new(target) }
    }

    /// Runs the instruction at the wave's PC.
    fn step(&self, run: &mut Running<'_>) -> Next {
        let pc = run.wave.pc;
        if !pc.is_multiple_of(4) {
            return Next::Stop(Event::Fault(Fault { kind: FaultKind::Fetch, pc, lanes: 0, address: pc }));
        }
        let inst = fetch(&self.decoder, run.memory, pc, Layout::of(run.wave), 0);
        let step = match run.begin_step(pc, &inst) {
            Ok(step) => step,
            Err(event) => return Next::Stop(event),
        };
        // While an instruction runs, the PC points behind it.
        run.wave.pc = pc.wrapping_add(inst.len as u64);
        let result = execute(&inst, run);
        if result == Ok(Flow::Lanes) {
            lanes(&inst, run);
        }
        let next = run.finish(pc, &inst, result);
        run.end_step(step, &inst, next)
    }
}

/// What `sem` leaves to engines.
fn lanes(inst: &Inst, run: &mut Running<'_>) {
    match inst.run {
        Run::Mfma => matrix::multiply(inst, run),
        _ => lane::apply(inst, run),
    }
}

impl Engine for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn run(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event {
        let mut event = wave.begin_run();
        for _ in 0..budget.max(1) {
            if event.is_some() {
                break;
            }
            if let Next::Stop(stop) = self.step(&mut Running { wave, group, memory }) {
                event = Some(stop);
            }
        }
        let event = event.unwrap_or(Event::Preempted);
        wave.end_run(&event);
        event
    }

    /// Nothing is kept.
    fn invalidate(&self, _: u64, _: u64) {}
}
