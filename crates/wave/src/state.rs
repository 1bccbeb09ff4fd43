//! A wavefront's state: registers, masks, mode, and what the hardware knows about it.

use crate::caches::Caches;
use crate::clock::Clock;
use crate::counters::Counters;
use crate::event::Event;
use crate::group::GroupShared;
use crate::mem::RangeCache;
use crate::observe::{self, Access, Control, Instruction, Told};
use crate::underway::UnderWay;
use crate::watch::Watch;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wavemill_isa::{Level, Target, regs};
use wavemill_sem::gws::Ticket;
pub use wavemill_sem::hwreg::mode;
use wavemill_sem::hwreg::status;
use wavemill_sem::state::{Allocation, Bases, SPARE};

/// One vector register: a dword for each of 64 lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub struct Vgpr(pub [u32; 64]);

/// How many registers a wave has, and which of them are accumulators. Decoded code is kept per shape, because operands
/// are resolved against it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Shape {
    /// Vector registers v0 up, accumulators not counted (on gfx90a: those below the accumulators).
    pub vgprs: u16,
    /// Accumulation registers a0 up: their own file on gfx908, the upper part of the one file on gfx90a.
    pub agprs: u16,
}

/// What becomes of memory violations that MODE does not let trap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Violations {
    /// The wave stops at the instruction, for a report.
    #[default]
    Report,
    /// As hardware does it (manual 3.11, 10.6): TRAPSTS notes them, reads give zero, writes are dropped, and the wave goes
    /// on. Violations of scalar accesses are not even noted.
    Architectural,
}

/// Which wave a wave is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct WaveId {
    /// Number of the dispatch, as whoever dispatches counts them.
    pub dispatch: u64,
    /// The work-group's place in the grid.
    pub group: [u32; 3],
    /// Number of the wave in its work-group.
    pub wave: u32,
}

/// A wavefront. [`crate::layout`] says where its first fields are, down to `scc`.
#[derive(Clone)]
#[repr(C)]
pub struct Wave {
    /// Address of the next instruction.
    pub pc: u64,
    /// Scalar registers by operand code: s0 up, FLAT_SCRATCH, XNACK_MASK, VCC, the trap temporaries, M0, EXEC.
    pub(crate) sgprs: [u32; 128],
    /// MODE register; see [`mode`].
    pub mode: u32,
    /// STATUS bits other than those derived from state (`wavemill_sem::hwreg::status` names them).
    pub status: u32,
    /// TRAPSTS (`wavemill_sem::hwreg::trapsts` names its bits).
    pub trapsts: u32,
    /// Scalar condition code.
    pub scc: bool,
    /// Float exceptions are gathered in TRAPSTS even while none of them traps. It costs time: whoever starts a wave
    /// asks for it when the program reads TRAPSTS.
    pub gather_exceptions: bool,
    /// Addresses whose accesses are reported in TRAPSTS, by the number of the watch.
    pub watches: Option<Box<[Option<Watch>; 4]>>,
    /// Caches that its accesses go through, for models that have any.
    pub caches: Option<Arc<Caches>>,
    /// What becomes of memory violations.
    pub violations: Violations,
    /// Who looks on.
    pub observer: Option<Arc<dyn Observer>>,
    /// Nobody looks at its registers but itself, so that an engine need not write those that nothing reads any more.
    pub forgets: bool,
    /// Which wave this is, for observers and reports.
    pub id: WaveId,
    /// What observers have been told.
    pub(crate) told: Told,
    /// What S_INCPERFLEVEL and S_DECPERFLEVEL count.
    pub perf_levels: [u32; 16],
    /// Scalar registers the wave has, VCC and the like included, as its kernel descriptor says. More than there can be
    /// means all of them.
    pub sgpr_count: u8,
    pub(crate) tba: u64,
    pub(crate) tma: u64,
    pub(crate) host_trap: u8,
    /// HW_ID as S_GETREG shows it.
    pub hw_id: u32,
    /// Memory operations that are not over, as IB_STS shows them.
    pub under_way: UnderWay,
    /// Where its registers and LDS begin, as GPR_ALLOC and LDS_ALLOC show it.
    pub bases: Bases,
    /// Number of the wave among those of its dispatch, in the order of their launch.
    pub place: u64,
    pub(crate) turn: Option<u8>,
    /// Work-group's LDS allocation in bytes, as LDS_ALLOC shows it.
    pub lds_bytes: u32,
    /// Bytes of scratch each lane has. Accesses beyond it fault.
    pub scratch_bytes: u32,
    /// Bytes of a lane's scratch that lie together: 2, 4, 8 or 16, and 4 from GFX9 on.
    pub scratch_element: u8,
    /// What S_MEMTIME reads.
    pub clock: Clock,
    /// Instructions executed since the wave was made.
    pub counters: Counters,
    /// Instructions executed that an engine has not counted yet.
    pub(crate) uncounted: u64,
    /// Address of the instruction that accesses memory, or did so last.
    pub(crate) accessing: u64,
    /// Its stores may not have reached memory: S_WAITCNT waits for them.
    pub(crate) stored: bool,
    /// Vector registers that may hold something else than zeros, a bit each; the last is for all from there on. All bits: the
    /// interpreter has run it, and may have changed anything.
    pub(crate) touched: u64,
    /// The number of the prototype that it was made like.
    like: u64,
    pub(crate) vgprs: Vec<Vgpr>,
    pub(crate) shape: Shape,
    pub(crate) level: Level,
    pub(crate) cache: RangeCache,
    /// The resource of global wave sync that the wave waits for.
    pub(crate) ticket: Option<(u32, Ticket)>,
}

/// See [`Wave::likeness`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Likeness {
    like: u64,
    mode: u32,
    status: u32,
    sgpr_count: u8,
    forgets: bool,
}

/// A number that no prototype has had yet.
fn next_prototype() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Wave {
    /// A wave of 64 active lanes, all registers zero, at PC 0, in the mode ROCm compilers ask for (denormals kept,
    /// round to nearest, IEEE, DX10_CLAMP). What the kernel descriptor and the dispatch say is set afterwards.
    pub fn new(target: &Target, shape: Shape) -> Wave {
        let mut wave = Wave::prototype(target, shape);
        wave.clear_registers(shape);
        wave
    }

    /// The same without vector registers, to make others like it ([`Wave::restart`]).
    pub fn prototype(target: &Target, shape: Shape) -> Wave {
        let mut wave = Wave {
            pc: 0,
            sgprs: [0; 128],
            scc: false,
            mode: 15 << mode::DENORM32_SHIFT | mode::DX10_CLAMP | mode::IEEE,
            // Under ROCm there is always a trap handler.
            status: status::TRAP_EN,
            trapsts: 0,
            gather_exceptions: false,
            watches: None,
            caches: None,
            violations: Violations::Report,
            observer: None,
            forgets: false,
            id: WaveId::default(),
            told: Told::default(),
            perf_levels: [0; 16],
            sgpr_count: u8::MAX,
            tba: 0,
            tma: 0,
            host_trap: 0,
            hw_id: 0,
            under_way: UnderWay::default(),
            bases: Bases::default(),
            place: 0,
            turn: None,
            lds_bytes: 0,
            scratch_bytes: 0,
            scratch_element: 4,
            clock: Clock::Host { shader: 1000 },
            counters: Counters::default(),
            uncounted: 0,
            accessing: 0,
            stored: false,
            touched: 0,
            like: next_prototype(),
            vgprs: Vec::new(),
            shape,
            level: target.level(),
            cache: RangeCache::new(),
            ticket: None,
        };
        wave.set_exec(!0);
        wave
    }

    /// All vector registers of a shape, with zeros in them.
    fn clear_registers(&mut self, shape: Shape) {
        let (own, all) = (shape.vgprs as usize + shape.agprs as usize, Self::file_len(shape));
        if self.vgprs.len() == all {
            // Nobody sees what is in the spare ones, and the others that nobody has touched are zeros.
            let touched = match 64 - self.touched.leading_zeros() as usize {
                64 => own,
                some => some.min(own),
            };
            let touched = &mut self.vgprs[..touched];
            // SAFETY: plain numbers, as many as there are. The compiler makes narrow stores of `fill`, one by one.
            unsafe { touched.as_mut_ptr().write_bytes(0, touched.len()) };
        } else {
            self.vgprs.clear();
            self.vgprs.resize(all, Vgpr([0; 64]));
        }
        self.touched = 0;
    }

    /// Makes the wave like another one that has not run, without a new allocation if it can; vector registers are zeros. What
    /// tells where a wave runs stays ([`Wave::hw_id`], [`Wave::bases`]).
    pub fn restart(&mut self, like: &Wave) {
        // Compiled code changes registers and what is counted, and nothing else.
        let compiled = self.touched != !0 && self.forgets;
        self.clear_registers(like.shape);
        if compiled && self.like == like.like {
            self.sgprs = like.sgprs;
            (self.pc, self.mode, self.status, self.trapsts) = (like.pc, like.mode, like.status, like.trapsts);
            (self.scc, self.id, self.place) = (like.scc, like.id, like.place);
            self.host_trap = like.host_trap;
            (self.counters, self.accessing, self.stored) = (like.counters, like.accessing, like.stored);
            return;
        }
        self.like = like.like;
        // All fields are named here, so that none is forgotten.
        let Wave {
            pc,
            sgprs,
            mode,
            status,
            trapsts,
            scc,
            gather_exceptions,
            watches,
            caches,
            violations,
            observer,
            forgets,
            id,
            told,
            perf_levels,
            sgpr_count,
            tba,
            tma,
            host_trap,
            hw_id: _,
            under_way,
            bases: _,
            place,
            turn,
            lds_bytes,
            scratch_bytes,
            scratch_element,
            clock,
            counters,
            uncounted,
            accessing,
            stored,
            touched: _,
            like: _,
            vgprs: _,
            shape,
            level,
            cache: _,
            ticket,
        } = like;
        self.sgprs = *sgprs;
        (self.pc, self.mode, self.status, self.trapsts, self.scc) = (*pc, *mode, *status, *trapsts, *scc);
        (self.gather_exceptions, self.violations, self.forgets) = (*gather_exceptions, *violations, *forgets);
        // What most waves have none of is not touched: to drop nothing takes a moment, too.
        if self.watches.is_some() || watches.is_some() {
            self.watches.clone_from(watches);
        }
        if self.caches.is_some() || caches.is_some() {
            self.caches.clone_from(caches);
        }
        if self.observer.is_some() || observer.is_some() {
            self.observer.clone_from(observer);
        }
        self.clock.clone_from(clock);
        (self.id, self.told, self.perf_levels, self.sgpr_count) = (*id, *told, *perf_levels, *sgpr_count);
        (self.tba, self.tma, self.host_trap) = (*tba, *tma, *host_trap);
        (self.under_way, self.place, self.turn) = (*under_way, *place, *turn);
        (self.lds_bytes, self.scratch_bytes, self.scratch_element) =
            (*lds_bytes, *scratch_bytes, *scratch_element);
        (self.counters, self.uncounted) = (*counters, *uncounted);
        (self.accessing, self.stored) = (*accessing, *stored);
        (self.shape, self.level, self.ticket) = (*shape, *level, *ticket);
    }

    /// What waves must have in common if code is decoded for them alike ([`Layout`](crate::program::Layout)), and in the same
    /// mode; none where that is not seen at a glance.
    #[inline]
    pub fn likeness(&self) -> Option<Likeness> {
        let attended = self.gather_exceptions
            || self.watches.is_some()
            || self.observer.is_some()
            || self.caches.is_some();
        let Wave { like, mode, status, sgpr_count, forgets, .. } = *self;
        (!attended).then_some(Likeness { like, mode, status, sgpr_count, forgets })
    }

    /// So many vector registers may be written.
    #[inline]
    pub(crate) fn touch(&mut self, first: u16, count: u16) {
        let bits = |from: u16| !0u64 << from.min(63);
        // The last bit is for all the others.
        let above = if first + count > 63 { 0 } else { bits(first + count) };
        self.touched |= bits(first) & !above;
    }

    /// All vector registers may be written from now on.
    pub(crate) fn touch_all(&mut self) {
        self.touched = !0;
    }

    /// Instructions executed since the wave was made, with those not counted yet.
    pub(crate) fn executed(&self) -> u64 {
        self.counters.total() + self.uncounted
    }

    /// Registers in the file of a shape: the wave's own, then [`SPARE`].
    pub(crate) fn file_len(shape: Shape) -> usize {
        shape.vgprs as usize + shape.agprs as usize + SPARE
    }

    /// Takes a wave that will not run again out of what it waits for.
    pub fn abandon(&mut self, group: &GroupShared) {
        if let Some((id, ticket)) = self.ticket.take() {
            group.global.sync(id, |r| r.abandon(ticket));
        }
    }

    /// The ordered counter at which the wave waits for its turn.
    pub fn awaited_turn(&self) -> Option<u8> {
        self.turn
    }

    /// How many registers the wave has.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The instruction-set level the wave was made for.
    pub fn level(&self) -> Level {
        self.level
    }

    /// A scalar register by operand code (0 is s0, 106 VCC_LO, 124 M0, 126 EXEC_LO). Codes above 127 read as 0.
    #[inline]
    pub fn sgpr(&self, code: u32) -> u32 {
        self.sgprs.get(code as usize).copied().unwrap_or(0)
    }

    /// Sets a scalar register by operand code; codes above 127 are ignored.
    #[inline]
    pub fn set_sgpr(&mut self, code: u32, value: u32) {
        if let Some(s) = self.sgprs.get_mut(code as usize) {
            *s = value;
        }
    }

    /// Two scalar registers as one number.
    #[inline]
    pub fn sgpr64(&self, code: u32) -> u64 {
        self.sgpr(code) as u64 | (self.sgpr(code + 1) as u64) << 32
    }

    /// Sets two scalar registers.
    #[inline]
    pub fn set_sgpr64(&mut self, code: u32, value: u64) {
        self.set_sgpr(code, value as u32);
        self.set_sgpr(code + 1, (value >> 32) as u32);
    }

    /// EXEC.
    #[inline]
    pub fn exec(&self) -> u64 {
        self.sgprs[126] as u64 | (self.sgprs[127] as u64) << 32
    }

    /// Sets EXEC.
    #[inline]
    pub fn set_exec(&mut self, exec: u64) {
        self.set_sgpr64(regs::EXEC, exec);
    }

    /// VCC.
    #[inline]
    pub fn vcc(&self) -> u64 {
        self.sgprs[106] as u64 | (self.sgprs[107] as u64) << 32
    }

    /// Sets VCC.
    #[inline]
    pub fn set_vcc(&mut self, vcc: u64) {
        self.set_sgpr64(regs::VCC, vcc);
    }

    /// M0.
    #[inline]
    pub fn m0(&self) -> u32 {
        self.sgprs[124]
    }

    /// The registers the wave has, and may write.
    pub fn allocation(&self) -> Allocation {
        let Shape { vgprs, agprs } = self.shape;
        Allocation { vgprs, agprs, sgprs: self.sgpr_count, privileged: self.privileged() }
    }

    /// Operand code of FLAT_SCRATCH_LO, which moved between GFX7 and GFX8.
    pub(crate) fn flat_scratch_code(&self) -> u32 {
        if self.level.is_vi_plus() { 102 } else { 104 }
    }

    /// FLAT_SCRATCH.
    pub fn flat_scratch(&self) -> u64 {
        self.sgpr64(self.flat_scratch_code())
    }

    /// Sets FLAT_SCRATCH.
    pub fn set_flat_scratch(&mut self, value: u64) {
        self.set_sgpr64(self.flat_scratch_code(), value);
    }

    /// A vector register: v0 up, then a0 up from `shape().vgprs`.
    pub fn vgpr(&self, index: u16) -> Option<&[u32; 64]> {
        let limit = self.shape.vgprs + self.shape.agprs;
        (index < limit).then(|| &self.vgprs[index as usize].0)
    }

    /// A vector register to write.
    #[inline]
    pub fn vgpr_mut(&mut self, index: u16) -> Option<&mut [u32; 64]> {
        let limit = self.shape.vgprs + self.shape.agprs;
        self.touched |= 1 << index.min(63);
        (index < limit).then(|| &mut self.vgprs[index as usize].0)
    }
}

/// Is told what happens to waves ([`Wave::observer`]): what checkers, debuggers, tracers and profilers hang on. All methods do nothing unless written; one observer may have waves of several threads.
#[allow(unused_variables)] // what the provided methods do not look at
pub trait Observer: Send + Sync {
    /// What it wants to be told: asked for each step, and always the same.
    fn wants(&self) -> observe::Wants {
        observe::Wants::default()
    }

    /// All that an instruction accesses, or a part of it, lies within these bytes, which are there. True: [`Self::lanes`] will
    /// do, when it has run; else each access is told by itself.
    fn takes(&self, wave: &Wave, space: observe::Space, first: u64, bytes: u64) -> bool {
        false
    }

    /// Accesses were made that [`Self::takes`] had no objection to.
    fn lanes(&self, wave: &Wave, lanes: &observe::Lanes<'_>) {}

    /// The wave runs for the first time.
    fn wave_started(&self, wave: &Wave) {}

    /// The wave will not run again: [`Event::End`] or [`Event::Fault`].
    fn wave_ended(&self, wave: &Wave, how: &Event) {}

    /// An instruction is about to run: the wave is as it finds it.
    fn before(&self, wave: &Wave, instruction: &Instruction) -> Control {
        Control::Continue
    }

    /// An instruction has run, and did not fault.
    fn after(&self, wave: &Wave, instruction: &Instruction) -> Control {
        Control::Continue
    }

    /// An access was made, or faulted. Those of an instruction come between [`Self::before`] and [`Self::after`], as they
    /// are made: lane by lane, and of several parts where an instruction has several.
    fn access(&self, wave: &Wave, access: &Access) -> Control {
        Control::Continue
    }

    /// An instruction raised counters of operations under way.
    fn counters_raised(&self, wave: &Wave, instruction: &Instruction, by: observe::WaitCounts) {}

    /// S_WAITCNT waited until each counter was at most this.
    fn waited(&self, wave: &Wave, instruction: &Instruction, until: observe::WaitCounts) {}

    /// The wave came to a barrier.
    fn barrier_reached(&self, wave: &Wave) {}

    /// The wave goes on behind a barrier.
    fn barrier_released(&self, wave: &Wave) {}

    /// An instruction raised exceptions, as bits of TRAPSTS, whether they trap or not.
    fn exception(&self, wave: &Wave, instruction: &Instruction, trapsts: u32) {}

    /// The wave enters its trap handler, whose first instruction is at its PC, or leaves the trap to the machine.
    fn trap(&self, wave: &Wave, instruction: &Instruction) {}

    /// S_SENDMSG and S_SENDMSGHALT, with M0.
    fn message(&self, wave: &Wave, instruction: &Instruction, message: u16, m0: u32) {}

    /// The engine returns, whatever the reason: the last thing an observer hears of a run.
    fn stopped(&self, wave: &Wave, event: &Event) {}
}
