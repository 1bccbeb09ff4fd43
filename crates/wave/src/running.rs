//! A wave being run, with what it runs in: the registers and the memory that `sem`'s meanings work on, for any engine.

use crate::alone;
use crate::caches::Caches;
use crate::group::GroupShared;
use crate::guest;
use crate::mem::Memory;
use crate::observe::{Access, Control, Lanes};
use crate::state::Wave;
use std::sync::atomic::{Ordering, fence};
use wavemill_isa::Level;
use wavemill_isa::info::WaitCounts;
use wavemill_sem::atomic::{Atomic, Rmw};
use wavemill_sem::bus::{At, Bus, FaultKind, Kind, Space};
use wavemill_sem::gws::Request;
use wavemill_sem::hwreg::trapsts;
use wavemill_sem::memory;
use wavemill_sem::operand::Src;
use wavemill_sem::ordered::Count;
use wavemill_sem::state::{Allocation, Apertures, Bases, State};
use wavemill_sem::trap::Cause;

/// A wave, its work-group and the memory it may access.
pub struct Running<'a> {
    /// The wave.
    pub wave: &'a mut Wave,
    /// What it shares with the other waves of its work-group.
    pub group: &'a GroupShared,
    /// Allocations.
    pub memory: &'a Memory,
}

impl State for Running<'_> {
    #[inline]
    fn level(&self) -> Level {
        self.wave.level
    }
    #[inline]
    fn allocation(&self) -> Allocation {
        self.wave.allocation()
    }
    #[inline]
    fn sgpr(&self, code: u32) -> u32 {
        self.wave.sgpr(code)
    }
    #[inline]
    fn set_sgpr(&mut self, code: u32, value: u32) {
        self.wave.set_sgpr(code, value);
    }
    #[inline]
    fn set_sgprs(&mut self, code: u32, values: &[u32]) {
        let code = code as usize;
        match self.wave.sgprs.get_mut(code..code + values.len()) {
            Some(registers) => registers.copy_from_slice(values),
            None => (code as u32..).zip(values).for_each(|(code, value)| self.wave.set_sgpr(code, *value)),
        }
    }
    #[inline]
    fn vgpr(&self, register: u16, lane: u32) -> u32 {
        self.wave.vgprs[register as usize].0[lane as usize]
    }
    #[inline]
    fn set_vgpr(&mut self, register: u16, lane: u32, value: u32) {
        self.wave.vgprs[register as usize].0[lane as usize] = value;
    }
    #[inline]
    fn row(&self, register: u16) -> [u32; 64] {
        self.wave.vgprs[register as usize].0
    }
    #[inline]
    fn set_row(&mut self, register: u16, mask: u64, values: &[u32; 64]) {
        let row = &mut self.wave.vgprs[register as usize].0;
        if mask == !0 {
            *row = *values;
            return;
        }
        for (lane, (old, new)) in row.iter_mut().zip(values).enumerate() {
            *old = if mask >> lane & 1 != 0 { *new } else { *old };
        }
    }
    #[inline]
    fn pc(&self) -> u64 {
        self.wave.pc
    }
    #[inline]
    fn set_pc(&mut self, pc: u64) {
        self.wave.pc = pc;
    }
    #[inline]
    fn scc(&self) -> bool {
        self.wave.scc
    }
    #[inline]
    fn set_scc(&mut self, scc: bool) {
        self.wave.scc = scc;
    }
    #[inline]
    fn mode(&self) -> u32 {
        self.wave.mode
    }
    fn set_mode(&mut self, mode: u32) {
        self.wave.mode = mode;
    }
    #[inline]
    fn status(&self) -> u32 {
        self.wave.status
    }
    fn set_status(&mut self, status: u32) {
        self.wave.status = status;
    }
    fn trapsts(&self) -> u32 {
        self.wave.trapsts
    }
    fn set_trapsts(&mut self, trapsts: u32) {
        self.wave.trapsts = trapsts;
    }
    fn hw_id(&self) -> u32 {
        self.wave.hw_id
    }
    fn under_way(&self) -> WaitCounts {
        self.wave.under_way.counts
    }
    fn lds_allocated(&self) -> u32 {
        self.wave.lds_bytes
    }
    fn scratch_element(&self) -> u32 {
        self.wave.scratch_element.into()
    }
    fn bases(&self) -> Bases {
        self.wave.bases
    }
    fn trap_handler(&self) -> u64 {
        self.wave.trap_handler()
    }
    fn trap_memory(&self) -> u64 {
        self.wave.trap_memory()
    }
    fn enter_trap(&mut self, cause: Cause) {
        self.wave.enter_trap(cause);
    }
    fn service_requests(&mut self) -> bool {
        self.wave.service_requests()
    }
    fn count_level(&mut self, level: usize, up: bool) {
        let level = &mut self.wave.perf_levels[level & 15];
        *level = level.wrapping_add(if up { 1 } else { !0 });
    }
    fn time(&self) -> u64 {
        self.wave.clock.shader(self.wave.executed())
    }
    fn real_time(&self) -> u64 {
        self.wave.clock.ticks(self.wave.level.real_time_mhz(), self.wave.executed())
    }
    fn apertures(&self) -> Apertures {
        Apertures { shared: self.group.shared_base, private: self.group.private_base }
    }
    fn dispatch_scratch(&self) -> u64 {
        self.group.scratch_base
    }
    fn scratch_bytes(&self) -> u32 {
        self.wave.scratch_bytes
    }
    #[inline]
    fn exec(&self) -> u64 {
        self.wave.exec()
    }
    #[inline]
    fn vcc(&self) -> u64 {
        self.wave.vcc()
    }
}

impl Running<'_> {
    /// The host address of bytes, if the wave may access them.
    #[inline]
    fn pointer(&mut self, at: At, bytes: u32, write: bool) -> Result<*mut u8, FaultKind> {
        let share = match at.space {
            Space::Lds => &self.group.lds,
            Space::Gds => self.group.global.gds(),
            Space::Scalar if !write => {
                return guest::check_scalar(&mut self.wave.cache, self.memory, at.address, bytes as u64);
            }
            Space::Global | Space::Scratch | Space::Scalar | Space::Code => {
                return guest::check(&mut self.wave.cache, self.memory, at.address, bytes as u64, write);
            }
        };
        match at.address.checked_add(bytes as u64) {
            // SAFETY: inside the allocation.
            Some(end) if end <= share.len() as u64 => Ok(unsafe { share.base().add(at.address as usize) }),
            _ => Err(FaultKind::Lds { bytes }),
        }
    }

    /// What is at a place, up to eight bytes; 0 where nothing is.
    fn peek(&mut self, at: At, bytes: u8) -> u64 {
        let mut word = |offset: u64, bytes: u8| {
            let at = At { address: at.address.wrapping_add(offset), ..at };
            // SAFETY: checked.
            let read = self.pointer(at, bytes as u32, false).map(|p| unsafe { guest::read(p, bytes) });
            u64::from(read.unwrap_or(0))
        };
        match bytes {
            0 => 0,
            1 | 2 | 4 => word(0, bytes),
            3 => word(0, 2) | word(2, 1) << 16,
            _ => word(0, 4) | word(4, 4) << 32,
        }
    }

    /// Whether an atomic operation of memory that the wave may access is lost there.
    #[inline]
    pub(crate) fn is_lost(&mut self, op: Atomic, address: u64, bytes: u64) -> bool {
        op.is_lost_on_fine_grained(self.wave.level)
            && self.wave.cache.lookup(self.memory, address, bytes).is_some_and(|r| r.fine)
    }

    /// Whether nobody else accesses memory that the wave may access: until the answer is dropped.
    #[inline]
    pub(crate) fn alone(&mut self, address: u64, bytes: u64) -> Option<alone::Inside> {
        let inside = alone::inside()?;
        // Looked up now, as it may have changed until a moment ago.
        let range = self.wave.cache.lookup(self.memory, address, bytes);
        range.is_some_and(|r| r.exclusive).then_some(inside)
    }

    /// What a load finds in a cache that is modelled.
    #[inline]
    fn cached(&self, at: At, bytes: u8) -> Option<u64> {
        let caches = self.wave.caches.as_deref().filter(|_| Caches::serve(at.space))?;
        caches.read(self.memory, at.space, at.address, bytes, self.wave.told.coherence)
    }

    /// Whether a store goes to memory now, and not just to a cache that is modelled.
    #[inline]
    fn writes_memory(&self, at: At, bytes: u8, value: u64) -> bool {
        let caches = self.wave.caches.as_deref().filter(|_| Caches::serve(at.space));
        let how = self.wave.told.coherence;
        caches.is_none_or(|c| c.write(self.memory, at.space, at.address, bytes, value, how))
    }

    /// Tells about an access, if anybody looks on.
    #[inline]
    pub(crate) fn tell(&mut self, at: At, bytes: u8, kind: Kind, fault: Option<FaultKind>) {
        if self.wave.told.looking {
            self.tell_observer(at, bytes, kind, fault);
        }
    }

    #[cold]
    fn tell_observer(&mut self, at: At, bytes: u8, kind: Kind, fault: Option<FaultKind>) {
        let vector_memory = at.lane.is_some() && matches!(at.space, Space::Global | Space::Scratch);
        if let Some(watches) = self.wave.watches.as_deref().filter(|_| vector_memory) {
            for (i, watch) in watches.iter().enumerate() {
                let Some(watch) = watch else { continue };
                let wanted = match kind {
                    Kind::Read => watch.reads,
                    Kind::Write => watch.writes,
                    Kind::Atomic(_) => watch.atomics,
                    Kind::Invalidate | Kind::WriteBack => false,
                };
                if wanted && watch.hit(at.address, bytes as u64) {
                    // Watch 0 has no bit of its own.
                    self.wave.told.watched |= trapsts::ADDRESS_WATCH;
                    self.wave.told.watched |= if i == 0 { 0 } else { 1 << (11 + i) };
                }
            }
        }
        if self.wave.observer.is_none() {
            return;
        }
        let value = if fault.is_none() { self.peek(at, bytes) } else { 0 };
        let Some(observer) = &self.wave.observer else { return };
        let access = Access {
            pc: self.wave.told.pc,
            space: at.space,
            address: at.address,
            bytes: bytes as u32,
            kind,
            coherence: self.wave.told.coherence,
            lane: at.lane,
            value,
            fault,
        };
        if observer.access(self.wave, &access) == Control::Stop {
            self.wave.told.stop = true;
        }
    }
}

impl Running<'_> {
    /// Whether it will do to tell of all lanes' accesses at once.
    #[cold]
    pub(crate) fn takes(&self, space: Space, first: u64, bytes: u64) -> bool {
        let told = self.wave.watches.is_none() && self.wave.caches.is_none();
        let observer = self.wave.observer.as_ref().filter(|_| told);
        observer.is_some_and(|o| o.takes(self.wave, space, first, bytes))
    }

    /// Tells of all lanes' accesses at once: `first` is the lowest address, that of the given offset.
    #[cold]
    pub(crate) fn tell_lanes(
        &self,
        space: Space,
        access: memory::Access,
        exec: u64,
        first: u64,
        offsets: Option<(&[u32; 64], u32)>,
    ) {
        let Some(observer) = &self.wave.observer else { return };
        let kind = match access {
            memory::Access::Load { .. } => Kind::Read,
            memory::Access::Store { .. } => Kind::Write,
            memory::Access::Atomic { op, .. } => Kind::Atomic(op),
        };
        let told = &self.wave.told;
        let (pc, coherence, bytes) = (told.pc, told.coherence, access.bytes().into());
        observer.lanes(self.wave, &Lanes { space, kind, coherence, pc, exec, bytes, first, offsets });
    }
}

impl Bus for Running<'_> {
    /// As provided, with codes that are known to be below 128.
    #[inline]
    fn source(&mut self, src: Src, bits: u8) -> u64 {
        match src {
            Src::Const(n) => n,
            Src::Sgpr(code) if bits == 64 => self.wave.sgpr64(code as u32),
            Src::Sgpr(code) => self.wave.sgprs[code as usize & 127] as u64,
            Src::Special(special) => self.special(special),
            Src::Vgpr(_) | Src::None => 0,
        }
    }

    #[inline]
    fn read(&mut self, at: At, bytes: u8) -> Result<u32, FaultKind> {
        let result = self.pointer(at, bytes as u32, false).map(|p| match self.cached(at, bytes) {
            Some(value) => value as u32,
            // SAFETY: checked.
            None => unsafe { guest::read(p, bytes) },
        });
        self.tell(at, bytes, Kind::Read, result.err());
        result
    }

    #[inline]
    fn read_dwords(&mut self, at: At, to: &mut [u32]) -> bool {
        if self.wave.told.looking || self.wave.caches.is_some() {
            return false;
        }
        let Ok(p) = self.pointer(at, 4 * to.len() as u32, false) else { return false };
        if p.addr() & 3 != 0 {
            return false;
        }
        for (i, value) in to.iter_mut().enumerate() {
            // SAFETY: checked.
            *value = unsafe { guest::read(p.add(4 * i), 4) };
        }
        true
    }

    #[inline]
    fn read64(&mut self, at: At) -> Result<u64, FaultKind> {
        let result = self.pointer(at, 8, false).and_then(|p| match p.addr() & 7 {
            0 => Ok(match self.cached(at, 8) {
                Some(value) => value,
                // SAFETY: checked and aligned.
                None => unsafe { guest::read64(p) },
            }),
            _ => Err(FaultKind::Misaligned { bytes: 8 }),
        });
        self.tell(at, 8, Kind::Read, result.err());
        result
    }

    #[inline]
    fn write(&mut self, at: At, bytes: u8, value: u32) -> Result<(), FaultKind> {
        let result = self.pointer(at, bytes as u32, true).map(|p| {
            if self.writes_memory(at, bytes, value as u64) {
                // SAFETY: checked.
                unsafe { guest::write(p, bytes, value) }
            }
        });
        self.tell(at, bytes, Kind::Write, result.err());
        result
    }

    #[inline]
    fn write64(&mut self, at: At, value: u64) -> Result<(), FaultKind> {
        let aligned =
            |p: *mut u8| if p.addr() & 7 == 0 { Ok(p) } else { Err(FaultKind::Misaligned { bytes: 8 }) };
        let result = self.pointer(at, 8, true).and_then(aligned).map(|p| {
            if self.writes_memory(at, 8, value) {
                // SAFETY: checked and aligned.
                unsafe { guest::write64(p, value) }
            }
        });
        self.tell(at, 8, Kind::Write, result.err());
        result
    }

    #[inline]
    fn update(&mut self, at: At, rmw: &Rmw<'_>) -> Result<u64, FaultKind> {
        let bytes = rmw.bytes;
        let lost = at.space == Space::Global && self.is_lost(rmw.op, at.address, bytes as u64);
        let result = self.pointer(at, bytes as u32, true).and_then(|p| {
            if !p.addr().is_multiple_of(bytes as usize) {
                return Err(FaultKind::Misaligned { bytes: bytes as u32 });
            }
            if lost {
                return Ok(0);
            }
            if let Some(caches) = self.wave.caches.as_deref().filter(|_| Caches::serve(at.space)) {
                caches.bypass(self.memory, at.space, at.address, bytes);
            }
            // SAFETY: checked and aligned.
            Ok(unsafe { guest::update(p, bytes, |old| rmw.apply(old)) })
        });
        self.tell(at, bytes, Kind::Atomic(rmw.op), result.err());
        result
    }

    fn check(&mut self, at: At, bytes: u8, write: bool) -> Result<(), FaultKind> {
        self.pointer(at, bytes as u32, write).map(drop)
    }

    fn refuse(&mut self, at: At, bytes: u8, kind: Kind, fault: FaultKind) -> FaultKind {
        self.tell(at, bytes, kind, Some(fault));
        fault
    }

    fn cache(&mut self, space: Space, kind: Kind) {
        if let Some(caches) = self.wave.caches.as_deref().filter(|_| space == Space::Scalar) {
            caches.maintain_scalar(self.memory, kind);
        }
        self.tell(At::wave(space, 0), 0, kind, None);
    }

    fn drop_vector_lines(&mut self) {
        if let Some(caches) = &self.wave.caches {
            caches.empty_vector();
        }
    }

    fn discard(&mut self, address: u64, lines: u8) {
        if let Some(caches) = &self.wave.caches {
            caches.discard(address, lines);
        }
    }

    fn wait(&mut self) {
        // Loads must not overtake stores, nor stores stores.
        fence(Ordering::SeqCst);
    }

    fn lds_bytes(&self) -> u32 {
        self.group.lds.len()
    }

    fn sync(&mut self, id: u32, request: Request, datum: u32) -> bool {
        let ticket = match self.wave.ticket {
            Some((_, t)) => self.group.global.sync(id, |r| if r.leave(t) { None } else { Some(t) }),
            None => self.group.global.sync(id, |r| r.arrive(request, datum)),
        };
        self.wave.ticket = ticket.map(|t| (id, t));
        self.wave.ticket.is_none()
    }

    fn may_count(&mut self, count: Count) -> bool {
        let may = self.group.order.as_ref().is_none_or(|order| order.may_count(self.wave.place, count));
        self.wave.turn = if may { None } else { Some(count.counter) };
        may
    }

    fn counted(&mut self, count: Count) {
        if let Some(order) = &self.group.order {
            order.counted(self.wave.place, count);
        }
    }
}
