//! What happens around an instruction, for any engine: faults and traps, exceptions, address watches, single steps, and what
//! observers are told. Engines that run whole blocks come here when something of it matters ([`Wave::single_steps`]) or
//! happens.

use crate::event::{Event, Fault};
use crate::observe::{Coherence, Control, Instruction, Told, WaitCounts};
use crate::program::{self, Inst, Run};
use crate::running::Running;
use crate::state::{Violations, Wave};
use wavemill_isa::encoding::bits;
use wavemill_isa::row::Access as RowAccess;
use wavemill_isa::{Role, Row};
use wavemill_sem::address::Addressing;
use wavemill_sem::bus::{self, At, FaultKind, Kind, Space};
use wavemill_sem::execute::control::{Flow, Stop};
use wavemill_sem::execute::raise::{self, Raised};
use wavemill_sem::hwreg::{mode, status, trapsts};
use wavemill_sem::memory::Access;
use wavemill_sem::share::Share;
use wavemill_sem::smem::ScalarMemory;
use wavemill_sem::state::{State, lanes};
use wavemill_sem::trap::Cause;

/// How a wave goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// At the address in its PC.
    Go,
    /// At the address in its PC, with code that may have changed.
    Refetch,
    /// Not now: the machine must know this.
    Stop(Event),
}

/// An instruction under way: what [`Running::end_step`] needs of what [`Running::begin_step`] saw.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pc: u64,
    mode: u32,
    privileged: bool,
    raised: Raised,
}

impl Running<'_> {
    /// What becomes of a wave after an instruction at `pc`: sets the PC, counts what ran, lets the wave's own trap handler
    /// deal with what it can.
    pub fn finish(&mut self, pc: u64, inst: &Inst, result: Result<Flow, bus::Fault>) -> Next {
        let event = match result {
            Ok(Flow::Next | Flow::Lanes) => None,
            Ok(Flow::Refetch) => {
                program::count(&mut self.wave.counters, inst);
                return Next::Refetch;
            }
            Ok(Flow::Retry) => {
                self.wave.pc = pc;
                return Next::Stop(Event::Preempted);
            }
            Ok(Flow::Stop(Stop::Illegal)) => {
                let kind = FaultKind::Illegal { word: inst.bits as u32 };
                return self.fault(pc, inst, bus::Fault::scalar(kind, 0));
            }
            Ok(Flow::Stop(stop)) => Some(event(stop)),
            Err(fault) => return self.fault(pc, inst, fault),
        };
        program::count(&mut self.wave.counters, inst);
        event.map_or(Next::Go, Next::Stop)
    }

    /// An instruction faulted: the PC stays at it, unless the wave's own trap handler deals with it.
    #[cold]
    pub fn fault(&mut self, pc: u64, inst: &Inst, fault: bus::Fault) -> Next {
        self.wave.pc = pc;
        if self.trap_fault(inst, &fault) || self.pass_fault(inst, &fault) {
            return Next::Go;
        }
        let bus::Fault { kind, lanes, address } = fault;
        Next::Stop(Event::Fault(Fault { kind, pc, lanes, address }))
    }

    /// A fault that the wave's own trap handler deals with: an illegal instruction, or a memory violation that MODE lets
    /// trap. Violations are not precise (manual 3.11): lanes that read get zero, and the PC saved is that of the next
    /// instruction.
    fn trap_fault(&mut self, inst: &Inst, fault: &bus::Fault) -> bool {
        let violation = match fault.kind {
            FaultKind::Illegal { .. } => false,
            // Scalar accesses report nothing.
            _ if is_violation(fault) && inst.run.is_vector() => true,
            _ => return false,
        };
        self.wave.trapsts |= if violation { trapsts::MEMORY_VIOLATION } else { trapsts::ILLEGAL };
        if !self.wave.can_trap() || violation && !self.wave.enabled(trapsts::MEMORY_VIOLATION) {
            return false;
        }
        if violation {
            self.zero_lanes(inst, fault.lanes);
            self.wave.pc = self.wave.pc.wrapping_add(inst.len as u64);
        }
        self.wave.enter_trap(Cause::Exception(0));
        true
    }

    /// A memory violation that nobody is told of ([`Violations::Architectural`]).
    fn pass_fault(&mut self, inst: &Inst, fault: &bus::Fault) -> bool {
        let traps = inst.run.is_vector() && self.wave.enabled(trapsts::MEMORY_VIOLATION);
        if self.wave.violations == Violations::Report || traps || !is_violation(fault) {
            return false;
        }
        self.zero_lanes(inst, fault.lanes);
        if let (Run::ScalarMemory(ScalarMemory::Load { dwords }), Addressing::Scalar(fields)) =
            (inst.run, inst.addressing)
        {
            (0..dwords as u32).for_each(|i| self.set_sgpr(fields.data as u32 + i, 0));
        }
        self.wave.pc = self.wave.pc.wrapping_add(inst.len as u64);
        program::count(&mut self.wave.counters, inst);
        true
    }

    /// Reads in violation give zero.
    fn zero_lanes(&mut self, inst: &Inst, violating: u64) {
        let written = |row: &Row| row.operand(Role::Vdata).is_some_and(|o| o.access != RowAccess::Read);
        let registers = match inst.run {
            Run::Memory(Access::Load { bytes, .. }) if !inst.uses_lds() => bytes.div_ceil(4),
            Run::Memory(Access::Atomic { bytes, .. })
            | Run::Share(Share::Access(Access::Atomic { bytes, .. }))
                if inst.returns() =>
            {
                bytes.div_ceil(4)
            }
            Run::Formatted(_) | Run::Image(_) if written(inst.row) => inst.dst_dwords,
            _ => return,
        };
        for register in inst.dst..inst.dst + registers as u16 {
            lanes(violating).for_each(|lane| self.set_vgpr(register, lane, 0));
        }
    }

    /// Before an instruction runs step by step. An event instead: it must not run now.
    pub fn begin_step(&mut self, pc: u64, inst: &Inst) -> Result<Step, Event> {
        if self.wave.observer.is_some() && is_instruction(inst) {
            let held = self.wave.told.held.take() == Some(pc);
            if let Some(observer) = self.wave.observer.as_ref().filter(|_| !held)
                && observer.before(self.wave, &shown(pc, inst)) == Control::Stop
            {
                self.wave.told.held = Some(pc);
                return Err(Event::Stopped);
            }
        }
        if let Some(caches) = &self.wave.caches {
            caches.settle(self.memory);
        }
        let wave = &self.wave;
        let looking = wave.observer.is_some() || wave.watches.is_some() || wave.caches.is_some();
        let told = &mut self.wave.told;
        *told = Told { looking, pc, coherence: Coherence::default(), watched: 0, stop: false, ..*told };
        let fault = if inst.run == Run::Fetch { Some(FaultKind::Fetch) } else { None };
        self.tell(At::wave(Space::Code, pc), inst.len, Kind::Read, fault);
        self.wave.told.coherence = inst.coherence;
        let (mode, privileged) = (self.wave.mode, self.wave.privileged());
        let raised = if self.wave.shows_exceptions() { raise::raised(inst, self) } else { Raised::default() };
        Ok(Step { pc, mode, privileged, raised })
    }

    /// After an instruction has run step by step: traps when it raised an exception that MODE lets trap, or when the wave is
    /// debugged, and tells the observer.
    pub fn end_step(&mut self, step: Step, inst: &Inst, next: Next) -> Next {
        self.wave.told.looking = false;
        if matches!(next, Next::Stop(Event::Fault(_))) {
            return next;
        }
        let flags = step.raised.flags | self.wave.told.watched;
        let retried = next == Next::Stop(Event::Preempted) && self.wave.pc == step.pc;
        let next = match next {
            Next::Stop(Event::End) => next,
            next => self.exceptions(&step, inst, flags, next),
        };
        if self.wave.caches.is_some() && !retried && is_instruction(inst) {
            self.count(step.pc, inst);
        }
        let Some(observer) = &self.wave.observer else { return next };
        if retried || !is_instruction(inst) {
            return next;
        }
        let (wave, shown) = (&*self.wave, &shown(step.pc, inst));
        let by = WaitCounts::raised(&shown.inst, wave.level);
        if !by.is_zero() {
            observer.counters_raised(wave, shown, by);
        }
        if inst.run == Run::Wait {
            let imm = bits::SIMM16.get(inst.bits);
            observer.waited(wave, shown, WaitCounts::decode(imm, wave.level));
        }
        if flags != 0 {
            observer.exception(wave, shown, flags);
        }
        match &next {
            Next::Stop(Event::Message { message, m0 }) => observer.message(wave, shown, *message, *m0),
            Next::Stop(Event::Trap(_) | Event::Exception { .. }) => observer.trap(wave, shown),
            _ if !step.privileged && wave.privileged() => observer.trap(wave, shown),
            _ => {}
        }
        let stops = observer.after(wave, shown) == Control::Stop || wave.told.stop;
        if stops && next == Next::Go { Next::Stop(Event::Stopped) } else { next }
    }

    /// Counts memory operations as IB_STS shows them where caches are modelled; elsewhere they are over when the next instruction
    /// runs. They go on until they are waited for, or [`UnderWay::LATENCY`] later; a counter that is full lets its oldest one end.
    fn count(&mut self, pc: u64, inst: &Inst) {
        let level = self.wave.level;
        let raised = WaitCounts::raised(&shown(pc, inst).inst, level);
        let waits = match inst.run {
            Run::Wait => WaitCounts::decode(bits::SIMM16.get(inst.bits), level),
            _ => WaitCounts::none(level),
        };
        self.wave.under_way.step(raised, waits);
    }

    /// Exceptions that an instruction raised, and single steps.
    fn exceptions(&mut self, step: &Step, inst: &Inst, flags: u32, next: Next) -> Next {
        self.wave.trapsts |= flags;
        // The instruction itself may have trapped.
        if step.privileged || self.wave.privileged() {
            return next;
        }
        let enabled = flags & trapsts::EXCP & step.mode >> mode::EXCP_EN_SHIFT;
        let traps = self.wave.status & (status::TRAP_EN | status::PRIV) == status::TRAP_EN;
        if enabled != 0 && traps {
            // The first exception that traps says when it happened: sixteen lanes at a time.
            let phase = (step.raised.lane / 16) << trapsts::CYCLE_SHIFT;
            self.wave.trapsts = self.wave.trapsts & !trapsts::CYCLE | phase;
            if self.wave.trap_handler() == 0 {
                return Next::Stop(Event::Exception { trapsts: enabled, pc: step.pc });
            }
            self.wave.enter_trap(Cause::Exception(inst.len / 4));
        } else if step.mode & mode::DEBUG != 0 && self.wave.can_trap() {
            self.wave.enter_trap(Cause::Exception(0));
        }
        next
    }
}

/// Whether an access that could not be made is what the manual calls a memory violation (3.11, 10.6).
fn is_violation(fault: &bus::Fault) -> bool {
    matches!(
        fault.kind,
        FaultKind::Read { .. }
            | FaultKind::Write { .. }
            | FaultKind::ReadOnly { .. }
            | FaultKind::Misaligned { .. }
            | FaultKind::Lds { .. }
    )
}

/// What is no instruction will fault.
fn is_instruction(inst: &Inst) -> bool {
    !matches!(inst.run, Run::Illegal(_) | Run::Fetch)
}

fn shown(pc: u64, inst: &Inst) -> Instruction {
    Instruction { pc, inst: inst.encoded() }
}

fn event(stop: Stop) -> Event {
    match stop {
        Stop::End => Event::End,
        Stop::Barrier => Event::Barrier,
        Stop::Sleep => Event::Preempted,
        Stop::Trap(id) => Event::Trap(id),
        Stop::Message { message, m0 } => Event::Message { message, m0 },
        Stop::Halt | Stop::Illegal => Event::Halt,
    }
}

impl Wave {
    /// An engine begins to run the wave: what it must do before its first instruction. An event instead: it must not run
    /// now.
    pub fn begin_run(&mut self) -> Option<Event> {
        self.touch_all();
        self.begin_noted_run()
    }

    /// The same for an engine that notes the vector registers which it writes ([`crate::layout::TOUCHED`]).
    #[inline]
    pub fn begin_noted_run(&mut self) -> Option<Event> {
        self.turn = None;
        if let Some(observer) = self.observer.clone() {
            if !std::mem::replace(&mut self.told.started, true) {
                observer.wave_started(self);
            }
            if std::mem::take(&mut self.told.barrier) {
                observer.barrier_released(self);
            }
        }
        let halts = self.service_requests();
        // Where it is if memory is gone before it has accessed any.
        self.accessing = self.pc;
        halts.then_some(Event::Halt)
    }

    /// An engine has run the wave until this.
    pub fn end_run(&mut self, event: &Event) {
        let Some(observer) = self.observer.clone() else { return };
        if *event == Event::Barrier {
            self.told.barrier = true;
            observer.barrier_reached(self);
        }
        observer.stopped(self, event);
        if matches!(event, Event::End | Event::Fault(_)) {
            observer.wave_ended(self, event);
        }
    }
}
