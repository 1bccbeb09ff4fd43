//! Running step by step: exceptions, address watches and single steps, which ordinary blocks know nothing of.

use super::{Exec, Next};
use crate::engine::{Event, Fault, FaultKind};
use crate::observe::{self, Coherence, Control, Counters, Instruction, Kind, Observer, Space};
use crate::program::{Block, Inst, Run, Src};
use crate::strip;
use crate::trap::{Cause, Watch};
use wavemill_isa::encoding::bits;
use wavemill_isa::row::Access as RowAccess;
use wavemill_isa::{Role, Row, flag};
use wavemill_sem::excp::{Rule, compare_flags};
use wavemill_sem::hwreg::{mode, trapsts};
use wavemill_sem::memory::{Access, formatted};
use wavemill_sem::mimg::{Action, action};
use wavemill_sem::modify::{Change, dpp_source};
use wavemill_sem::scalar::S32;

impl Exec<'_> {
    /// Runs a block of one instruction, tells the observer about it, and traps when it raised an exception that MODE lets
    /// trap, or when the wave is debugged.
    pub(super) fn run_step(&mut self, pc: u64, block: &Block) -> Next {
        let Some(inst) = block.insts.first() else { return Next::Go };
        self.block = pc;
        // What is no instruction will fault.
        let is_one = !matches!(inst.run, Run::Illegal(_) | Run::Fetch);
        let observer = self.wave.observer.clone().filter(|_| is_one);
        let Some(observer) = observer else { return self.unseen_step(pc, block, inst).0 };
        let shown = Instruction { pc, inst: inst.encoded() };
        let held = self.wave.told.held.take() == Some(pc);
        if !held && observer.before(self.wave, &shown) == Control::Stop {
            self.wave.told.held = Some(pc);
            return Next::Stop(Event::Stopped);
        }
        let mut control = self.show_accesses(&*observer, &shown, inst);
        let was_privileged = self.wave.privileged();
        let (next, raised) = self.unseen_step(pc, block, inst);
        if matches!(next, Next::Stop(Event::Fault(_))) {
            return next;
        }
        let by = Counters::raised(inst.row);
        if !by.is_zero() {
            observer.counters_raised(self.wave, &shown, by);
        }
        if matches!(inst.run, Run::Wait) {
            let imm = bits::SIMM16.get(inst.bits) as u16;
            observer.waited(self.wave, &shown, Counters::awaited(imm, self.wave.level));
        }
        if raised != 0 {
            observer.exception(self.wave, &shown, raised);
        }
        match &next {
            Next::Stop(Event::Message { message, m0 }) => observer.message(self.wave, &shown, *message, *m0),
            Next::Stop(Event::Trap(_) | Event::Exception { .. }) => observer.trap(self.wave, &shown),
            _ if !was_privileged && self.wave.privileged() => observer.trap(self.wave, &shown),
            _ => {}
        }
        if observer.after(self.wave, &shown) == Control::Stop {
            control = Control::Stop;
        }
        match next {
            Next::Go if control == Control::Stop => Next::Stop(Event::Stopped),
            next => next,
        }
    }

    /// Runs a block of one instruction, and says what it raised.
    fn unseen_step(&mut self, pc: u64, block: &Block, inst: &Inst) -> (Next, u32) {
        let (before, privileged) = (self.wave.mode, self.wave.privileged());
        let raised = self.raised(inst);
        let next = self.run_block(pc, block);
        if matches!(next, Next::Stop(Event::Fault(_) | Event::End)) {
            return (next, 0);
        }
        self.wave.trapsts |= raised.flags;
        // The instruction itself may have trapped.
        if privileged || self.wave.privileged() {
            return (next, raised.flags);
        }
        let enabled = raised.flags & trapsts::EXCP & before >> mode::EXCP_EN_SHIFT;
        if enabled != 0 && self.traps() {
            // The first exception that traps says when it happened: sixteen lanes at a time.
            let phase = (raised.lane / 16) << trapsts::CYCLE_SHIFT;
            self.wave.trapsts = self.wave.trapsts & !trapsts::CYCLE | phase;
            if self.wave.trap_handler() == 0 {
                return (Next::Stop(Event::Exception { trapsts: enabled, pc }), raised.flags);
            }
            self.wave.enter_trap(Cause::Exception(inst.len / 4));
            self.mode_changed();
        } else if before & mode::DEBUG != 0 && self.wave.can_trap() {
            self.wave.enter_trap(Cause::Exception(0));
            self.mode_changed();
        }
        (next, raised.flags)
    }

    /// Shows the observer what an instruction will access in memory.
    fn show_accesses(&self, observer: &dyn Observer, shown: &Instruction, inst: &Inst) -> Control {
        let mut control = Control::Continue;
        if self.skips_vector() {
            return control;
        }
        let kind = match inst.access {
            Some(Access::Atomic { op, .. }) => Kind::Atomic(op),
            Some(Access::Store { .. }) => Kind::Write,
            _ => Kind::Read,
        };
        for (address, bytes) in self.touched(inst) {
            let access = observe::Access {
                pc: shown.pc,
                space: Space::Global,
                address,
                bytes: bytes as u32,
                kind,
                coherence: Coherence::default(),
                lane: None,
                fault: None,
            };
            if observer.access(self.wave, &access) == Control::Stop {
                control = Control::Stop;
            }
        }
        control
    }

    fn traps(&self) -> bool {
        use wavemill_sem::hwreg::status;
        self.wave.status & (status::TRAP_EN | status::PRIV) == status::TRAP_EN
    }

    /// A fault that the wave's own trap handler deals with: an illegal instruction, or a memory violation that MODE lets
    /// trap. Violations are not precise (manual 3.11): lanes that read get zero, and the PC saved is that of the next
    /// instruction.
    pub(super) fn trap_fault(&mut self, inst: &Inst, fault: &Fault) -> bool {
        let violation = match fault.kind {
            FaultKind::Illegal { .. } => false,
            FaultKind::Read { .. }
            | FaultKind::Write { .. }
            | FaultKind::ReadOnly { .. }
            | FaultKind::Misaligned { .. }
            | FaultKind::Lds { .. }
                // Scalar accesses report nothing.
                if matches!(inst.run, Run::Memory | Run::Lds | Run::Formatted | Run::Image) =>
            {
                true
            }
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
        self.mode_changed();
        true
    }

    /// Reads in violation give zero.
    fn zero_lanes(&mut self, inst: &Inst, lanes: u64) {
        let registers = match inst.access {
            Some(Access::Load { bytes, .. }) if !inst.goes_to_lds() => bytes.div_ceil(4),
            Some(Access::Atomic { bytes, .. }) if inst.returns() => bytes.div_ceil(4),
            None if inst.row.operand(Role::Vdata).is_some_and(|o| o.access != RowAccess::Read) => {
                inst.dst_dwords
            }
            _ => return,
        };
        for register in inst.dst as usize..inst.dst as usize + registers as usize {
            for lane in (0..64).filter(|l| lanes >> l & 1 != 0) {
                self.set_lane(register, lane, 0);
            }
        }
    }
}

/// Exceptions of an instruction, as bits of TRAPSTS.
struct Raised {
    flags: u32,
    /// The first lane that raised one MODE lets trap.
    lane: u32,
}

impl Exec<'_> {
    /// What an instruction is about to raise.
    fn raised(&mut self, inst: &Inst) -> Raised {
        let none = Raised { flags: 0, lane: 0 };
        match inst.run {
            Run::Valu(_) if !self.skips_vector() => match Rule::of(inst.op) {
                Some(rule) => {
                    let mode = self.mode;
                    self.each_lane(inst, |s| rule.flags(s, &mode, inst.clamp))
                }
                None => none,
            },
            Run::Compare(c) if !self.skips_vector() => {
                let mode = self.mode;
                let signals = inst.clamp || always_signals(inst.row);
                self.each_lane(inst, |s| compare_flags(c, [s[0], s[1]], &mode, signals))
            }
            Run::Memory | Run::Formatted | Run::Image
                if self.wave.watches.is_some() && !self.skips_vector() =>
            {
                Raised { flags: self.watched(inst), lane: 0 }
            }
            _ => none,
        }
    }

    /// The exceptions of all active lanes.
    fn each_lane(&mut self, inst: &Inst, flags: impl Fn([u64; 3]) -> u32) -> Raised {
        let inst = &self.indexed(inst);
        let changes: [Change; 3] = std::array::from_fn(|i| strip::change(inst, i));
        let exec = self.wave.exec();
        let traps = self.wave.mode >> mode::EXCP_EN_SHIFT;
        let (mut all, mut first) = (0, None);
        for lane in (0..64).filter(|l| exec >> l & 1 != 0) {
            let Some(from) = dpp_lane(inst, lane, exec) else { continue };
            let s = std::array::from_fn(|i| {
                let lane = if i == 0 { from } else { Some(lane) };
                let raw = lane.map_or(0, |lane| self.raw(inst, i, lane));
                let (lo, hi) = changes[i].apply(S32(raw as u32), S32((raw >> 32) as u32), &self.mode);
                lo.0 as u64 | (hi.0 as u64) << 32
            });
            let raised = flags(s);
            all |= raised;
            if raised & traps != 0 {
                first.get_or_insert(lane as u32);
            }
        }
        Raised { flags: all, lane: first.unwrap_or(0) }
    }

    /// A source in a lane, before its modifiers.
    fn raw(&self, inst: &Inst, i: usize, lane: usize) -> u64 {
        let long = inst.src_bits[i] == 64 || inst.row.has(flag::PACKED);
        match inst.src[i] {
            Src::Vgpr(_) if long => self.lane64(inst.src[i], 0, lane),
            Src::Vgpr(_) => self.lane(inst.src[i], 0, lane) as u64,
            src => self.scalar_source(src, if long { 64 } else { 32 }),
        }
    }

    /// Address watches that an access hits. Watch 0 has no bit of its own.
    fn watched(&mut self, inst: &Inst) -> u32 {
        let Some(watches) = self.wave.watches.clone() else { return 0 };
        let wanted: fn(&Watch) -> bool = match (inst.access, formatted(inst.op), action(inst.row)) {
            (Some(Access::Load { .. }), ..) => |w| w.reads,
            (Some(Access::Store { .. }), ..) => |w| w.writes,
            (Some(Access::Atomic { .. }), ..) => |w| w.atomics,
            (_, Some(f), _) if f.store => |w| w.writes,
            (.., Some(Action::Store(_))) => |w| w.writes,
            (.., Some(Action::Atomic(_))) => |w| w.atomics,
            _ => |w| w.reads,
        };
        let mut flags = 0;
        for (address, bytes) in self.touched(inst) {
            for (i, watch) in watches.iter().enumerate() {
                let Some(watch) = watch else { continue };
                if wanted(watch) && watch.hit(address, bytes) {
                    flags |= trapsts::ADDRESS_WATCH;
                    flags |= if i == 0 { 0 } else { 1 << (11 + i) };
                }
            }
        }
        flags
    }
}

/// The lane that source 0 of a lane comes from (none is a zero), or none at all when DPP switches the lane off.
fn dpp_lane(inst: &Inst, lane: usize, exec: u64) -> Option<Option<usize>> {
    let Some((control, mask, bound)) = inst.modifiers.dpp else { return Some(Some(lane)) };
    let enabled = mask >> (4 + lane / 16) & 1 != 0 && mask >> (lane % 16 / 4) & 1 != 0;
    let source = dpp_source(lane as u32, control).filter(|&s| exec >> s & 1 != 0).map(|s| s as usize);
    (enabled && (bound || source.is_some())).then_some(source)
}

/// V_CMPS and V_CMPSX of GFX6 and GFX7 signal every NaN.
fn always_signals(row: &Row) -> bool {
    row.name.starts_with("v_cmps_") || row.name.starts_with("v_cmpsx_")
}
