//! Plain loads and stores the quick way: when all that an instruction's active lanes access lies in one allocation, one
//! check does for all of them, and what lies side by side is moved at once. What is not so simple, above all what faults, is left
//! to `sem`, which goes lane by lane. Addresses are `sem`'s.

use super::Exec;
use super::groups::Registers;
use super::places::{Places, Request, Rule};
use super::update::{Batch, Update};
use crate::guest;
use crate::observe::Space;
use crate::program::{Inst, Src};
use std::mem::MaybeUninit;
use wavemill_sem::address::{self, Addressing, BufferFields};
use wavemill_sem::atomic::{Atomic, Unit};
use wavemill_sem::buffer::BufferOperands;
use wavemill_sem::execute::transfer::Resource;
use wavemill_sem::memory::{Access, Extend};
use wavemill_sem::scalar::{S32, S64};
use wavemill_sem::share::{PairAction, Share, pair_offsets};
use wavemill_sem::state::State;

/// Where active lanes' offsets lie.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    /// The offsets' upper halves, all the same.
    pub high: u32,
    /// Least and greatest lower half.
    pub least: u32,
    pub greatest: u32,
    /// All lanes are active, and each offset is a step above the one before.
    pub consecutive: bool,
}

/// A span, if there is one, as functions return it in two registers: from memory, what was stored in pieces would be read as
/// a whole, which takes as long as the rest.
#[derive(Clone, Copy)]
pub(crate) struct PackedSpan(u64, u64);

impl PackedSpan {
    const FOUND: u64 = 1 << 32;
    const CONSECUTIVE: u64 = 2 << 32;

    #[inline(always)]
    pub fn of(span: Option<Span>) -> PackedSpan {
        let Some(span) = span else { return PackedSpan(0, 0) };
        let consecutive = if span.consecutive { Self::CONSECUTIVE } else { 0 };
        PackedSpan(span.first().0, span.greatest as u64 | Self::FOUND | consecutive)
    }

    #[inline(always)]
    pub fn span(self) -> Option<Span> {
        (self.1 & Self::FOUND != 0).then_some(Span {
            high: (self.0 >> 32) as u32,
            least: self.0 as u32,
            greatest: self.1 as u32,
            consecutive: self.1 & Self::CONSECUTIVE != 0,
        })
    }
}

impl Span {
    /// The least offset, both halves.
    pub fn first(&self) -> S64 {
        S64(self.least as u64 | (self.high as u64) << 32)
    }
}

/// Offsets of an instruction that has none.
pub(super) static NOWHERE: [u32; 64] = [0; 64];

/// An access of every active lane at `base` plus its offset.
#[derive(Clone, Copy)]
pub(super) struct Move {
    pub base: *mut u8,
    /// May be a register, of those that the access does not write.
    pub offsets: *const [u32; 64],
    pub exec: u64,
    /// All lanes are active, and each offset is as many bytes above the one before as a lane accesses.
    pub adjacent: bool,
    /// Nobody else accesses it meanwhile, which matters to atomic operations.
    pub own: bool,
}

/// Whether no two of the spans overlap.
fn disjoint(spans: &[(*mut u8, Span)], bytes: u8) -> bool {
    let end = |s: &Span| s.greatest as u64 + bytes as u64;
    let apart = |a: &Span, b: &Span| end(a) <= b.least as u64 || end(b) <= a.least as u64;
    spans.iter().enumerate().all(|(i, (_, a))| spans[..i].iter().all(|(_, b)| apart(a, b)))
}

/// Calls a function for each active lane.
#[inline(always)]
pub(super) fn each(exec: u64, mut f: impl FnMut(usize)) {
    if exec == !0 {
        (0..64).for_each(f);
        return;
    }
    let mut left = exec;
    while left != 0 {
        f(left.trailing_zeros() as usize);
        left &= left - 1;
    }
}

impl Move {
    /// # Safety
    /// There must be offsets.
    #[inline(always)]
    unsafe fn at(&self, lane: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        let offset = unsafe { (&raw const (*self.offsets)[lane]).read() };
        self.base.wrapping_add(offset as usize)
    }

    /// Memory to registers.
    ///
    /// # Safety
    /// Every active lane's bytes must be readable, and `file` point to as many registers as they fill, none of which has
    /// the offsets.
    #[inline]
    pub unsafe fn load(self, file: *mut [u32; 64], bytes: u8, extend: Extend) {
        // SAFETY: the caller's promise.
        unsafe {
            let put = |register: usize, lane: usize, value: u32| {
                (&raw mut (*file.add(register))[lane]).write(value)
            };
            match bytes {
                4 => each(self.exec, |lane| put(0, lane, guest::read(self.at(lane), 4))),
                // Values of 64 bits are read whole.
                8 => each(self.exec, |lane| {
                    let p = self.at(lane);
                    let value = match p.addr() & 7 {
                        0 => guest::read64(p),
                        _ => guest::read(p, 4) as u64 | (guest::read(p.add(4), 4) as u64) << 32,
                    };
                    put(0, lane, value as u32);
                    put(1, lane, (value >> 32) as u32);
                }),
                16 => each(self.exec, |lane| {
                    let p = self.at(lane);
                    for i in 0..2 {
                        let p = p.add(8 * i);
                        let value = match p.addr() & 7 {
                            0 => guest::read64(p),
                            _ => guest::read(p, 4) as u64 | (guest::read(p.add(4), 4) as u64) << 32,
                        };
                        put(2 * i, lane, value as u32);
                        put(2 * i + 1, lane, (value >> 32) as u32);
                    }
                }),
                1 | 2 => each(self.exec, |lane| {
                    let value = guest::read(self.at(lane), bytes);
                    put(0, lane, extend.apply(value, bytes, (*file)[lane]));
                }),
                _ => each(self.exec, |lane| {
                    for i in 0..bytes as usize / 4 {
                        put(i, lane, guest::read(self.at(lane).add(4 * i), 4));
                    }
                }),
            }
        }
    }

    /// Registers to memory, the lanes in order.
    ///
    /// # Safety
    /// Every active lane's bytes must be writable, and `file` point to as many registers as they come from.
    #[inline]
    pub unsafe fn store(self, file: *const [u32; 64], bytes: u8, high: bool) {
        // SAFETY: the caller's promise.
        unsafe {
            let get = |register: usize, lane: usize| (&raw const (*file.add(register))[lane]).read();
            let pair = |register: usize, lane: usize| {
                get(register, lane) as u64 | (get(register + 1, lane) as u64) << 32
            };
            let write = |p: *mut u8, value: u64| match p.addr() & 7 {
                0 => guest::write64(p, value),
                _ => {
                    guest::write(p, 4, value as u32);
                    guest::write(p.add(4), 4, (value >> 32) as u32);
                }
            };
            match bytes {
                4 => each(self.exec, |lane| guest::write(self.at(lane), 4, get(0, lane))),
                8 => each(self.exec, |lane| write(self.at(lane), pair(0, lane))),
                16 => each(self.exec, |lane| {
                    write(self.at(lane), pair(0, lane));
                    write(self.at(lane).add(8), pair(2, lane));
                }),
                1 | 2 => each(self.exec, |lane| {
                    guest::write(self.at(lane), bytes, get(0, lane) >> if high { 16 } else { 0 });
                }),
                _ => each(self.exec, |lane| {
                    for i in 0..bytes as usize / 4 {
                        guest::write(self.at(lane).add(4 * i), 4, get(i, lane));
                    }
                }),
            }
        }
    }
}

impl Exec<'_> {
    /// A load or store with addresses in registers. False: not done.
    #[inline]
    pub(super) fn quick_memory(&mut self, inst: &Inst, access: Access, exec: u64) -> bool {
        if inst.status {
            return false;
        }
        if inst.uses_lds() {
            return self.quick_lds(inst, access, exec);
        }
        match inst.addressing {
            Addressing::Scratch { .. } => return self.quick_places(inst, access, exec),
            Addressing::Buffer(fields) if !fields.addr64 => {
                let resource = Resource::of(&fields, false, &mut self.run);
                return match self.linear(inst, &fields, &resource, access.bytes(), exec) {
                    Some((register, span, first)) => {
                        self.quick_span(inst, access, exec, (register, span, first))
                    }
                    None => self.quick_places(inst, access, exec),
                };
            }
            _ => {}
        }
        let bytes = access.bytes();
        let Src::Vgpr(address) = inst.src[0] else { return false };
        // Where the lane with the lowest offset is; the others are as far from it as their offsets are, for addresses are
        // sums, and none of them leaves the lowest offset's 4 GiB.
        let (span, first) = match inst.addressing {
            Addressing::Global { offset, base: Some(base) } => {
                let Some(span) = self.span(address, false, exec, bytes) else { return false };
                let base = S64(self.run.wave.sgpr64(base as u32));
                (span, address::global_based(base, S32(span.least), offset).0)
            }
            Addressing::Global { offset, base: None } => {
                let Some(span) = self.span(address, true, exec, bytes) else { return false };
                (span, address::global::<S32>(span.first(), offset).0)
            }
            Addressing::Flat { offset } => {
                let Some(span) = self.span(address, true, exec, bytes) else { return false };
                let at = address::flat::<S32>(span.first(), offset, self.run.apertures());
                if at.shared.0 || at.private.0 {
                    return false;
                }
                (span, at.address.0)
            }
            Addressing::Buffer(fields) if fields.addr64 => {
                let Some(span) = self.span(address, true, exec, bytes) else { return false };
                (span, self.buffer64(&fields, span.first()))
            }
            _ => return false,
        };
        self.quick_span(inst, access, exec, (Some(address), span, first))
    }

    /// The offsets of an instruction on a buffer that is a piece of memory: the register that has them, if there is one, where
    /// they lie, and the lowest address. None if the buffer is more than that, or some of it is out of range.
    #[inline]
    pub(super) fn linear(
        &mut self,
        inst: &Inst,
        fields: &BufferFields,
        Resource { buffer, scalar, .. }: &Resource,
        bytes: u8,
        exec: u64,
    ) -> Option<(Option<u16>, Span, u64)> {
        if fields.idxen || buffer.swizzle.0 || buffer.add_tid.0 || self.run.wave.told.looking {
            return None;
        }
        let (register, span) = match (fields.offen, inst.src[0]) {
            (false, _) => (None, Span::default()),
            (true, Src::Vgpr(r)) => (Some(r), self.span(r, false, exec, bytes)?),
            _ => return None,
        };
        let constant = fields.offset as u32;
        let place = |offset: u32| BufferOperands {
            index: S32(0),
            offset: S64(offset as u64),
            scalar: S32(*scalar),
            indexed: false,
            lane: S32(0),
        };
        // No access goes on at the other end of the offsets. What is below a byte in range is in range.
        let last = span.greatest.checked_add(constant)?;
        last.checked_add(bytes as u32)?;
        let first = buffer.address(place(span.least + constant)).0;
        buffer.in_range(place(last), bytes as u32).0.then_some((register, span, first))
    }

    /// A load or store of lanes whose offsets from an address lie in a span. False: not done.
    #[inline(always)]
    pub(super) fn quick_span(
        &mut self,
        inst: &Inst,
        access: Access,
        exec: u64,
        (register, span, first): (Option<u16>, Span, u64),
    ) -> bool {
        let (bytes, write) = (access.bytes(), access.writes());
        let len = (span.greatest - span.least) as u64 + bytes as u64;
        let Ok(p) = guest::check(&mut self.run.wave.cache, self.run.memory, first, len, write) else {
            return false;
        };
        if let Access::Atomic { op, .. } = access
            && self.run.is_lost(op, first, len)
        {
            return false;
        }
        let looking = self.run.wave.told.looking;
        if looking && !self.run.takes(Space::Global, first, len) {
            return false;
        }
        if span.consecutive && !access.is_atomic() {
            // SAFETY: all bytes between the first and the last are checked.
            let done = unsafe { self.consecutive(inst, access, p, 0) };
            if looking && done {
                self.run.tell_lanes(Space::Global, access, exec, first, None);
            }
            return done;
        }
        let mut copy = MaybeUninit::uninit();
        let offsets = self.offsets(register, inst, access, &mut copy);
        // Offsets count from the base, which may lie outside the allocation.
        let base = p.wrapping_sub(span.least as usize);
        let alone = if access.is_atomic() { self.run.alone(first, len) } else { None };
        let all = Move { base, offsets, exec, adjacent: span.consecutive, own: alone.is_some() };
        // SAFETY: all bytes between the first and the last are checked.
        let done = unsafe {
            let uniform = span.least == span.greatest && self.uniform(inst, access, p, exec);
            uniform || self.transfer(inst, access, all, 0)
        };
        drop(alone);
        if looking && done {
            // SAFETY: the register, or a copy of it, which nothing has changed.
            let offsets = unsafe { &*offsets };
            self.run.tell_lanes(Space::Global, access, exec, first, Some((offsets, span.least)));
        }
        done
    }

    /// A load, store or atomic in a buffer or in private memory. False: not done.
    #[inline(never)]
    fn quick_places(&mut self, inst: &Inst, access: Access, exec: u64) -> bool {
        if self.run.wave.told.looking {
            return false;
        }
        let (bytes, write) = (access.bytes(), access.writes());
        let none = std::ptr::null();
        let file = self.run.wave.vgprs.as_ptr();
        let register = |i: u16| match inst.src[0] {
            Src::Vgpr(r) => file.wrapping_add((r + i) as usize).cast::<u32>(),
            _ => none,
        };
        let (rule, index, offset, constant) = match inst.addressing {
            Addressing::Buffer(fields) => {
                let resource = Resource::of(&fields, false, &mut self.run);
                let words = std::array::from_fn(|i| self.run.wave.sgpr(fields.resource as u32 + i as u32));
                let (scalar, indexed) = (resource.scalar, fields.idxen);
                let rule = Rule::Buffer { words, scalar, indexed, converts: false };
                let index = if fields.idxen { register(0) } else { none };
                let offset = if fields.offen { register(fields.idxen as u16) } else { none };
                (rule, index, offset, fields.offset as u32)
            }
            Addressing::Scratch { offset, base } => {
                let (flat, dispatch) = (S64(self.run.flat_scratch()), S64(self.run.dispatch_scratch()));
                let start = address::scratch_base::<S32>(flat, dispatch, self.run.level()).0;
                let rule = Rule::Scratch { base: start, limit: self.run.scratch_bytes() };
                let from = base.map_or(0, |b| self.run.wave.sgpr(b as u32));
                let constant = address::scratch(S32(from), offset).0;
                (rule, none, if base.is_some() { none } else { register(0) }, constant)
            }
            _ => return false,
        };
        let swizzled = match rule {
            Rule::Buffer { words, .. } => words[1] >> 31 != 0,
            Rule::Scratch { .. } => true,
        };
        let step = if swizzled { bytes.min(4) } else { bytes };
        if swizzled && self.quick_rows(inst, access, exec, (rule, index, offset, constant)) {
            return true;
        }
        if swizzled && (access.is_atomic() || bytes > 16) {
            return false;
        }
        let level = self.run.level();
        // Nothing moves before all of it is known to be there: registers may be both address and data.
        let mut found = [const { MaybeUninit::<Places>::uninit() }; 4];
        let mut spans = [(std::ptr::null_mut(), Span::default()); 4];
        let parts = (bytes / step) as usize;
        for i in 0..parts {
            let before = i as u32 * step as u32;
            let request = Request { rule, index, offset, constant, before, bytes: step, exec, level };
            // SAFETY: registers of the file (decoding saw to it); what is written is aligned, and read afterwards.
            let span = unsafe {
                if !self.kernels.places(&request, &mut found[i]) {
                    return false;
                }
                let places = found[i].assume_init_ref();
                self.kernels.span(places.low.as_ptr(), places.high.as_ptr(), exec, step)
            };
            let Some(span) = span else { return false };
            let len = (span.greatest - span.least) as u64 + step as u64;
            let first = span.first().0;
            let Ok(p) = guest::check(&mut self.run.wave.cache, self.run.memory, first, len, write) else {
                return false;
            };
            if let Access::Atomic { op, .. } = access
                && self.run.is_lost(op, first, len)
            {
                return false;
            }
            spans[i] = (p, span);
        }
        let own = match rule {
            // Lane numbers, and 64 lanes' dwords side by side: private memory before flat instructions had their own.
            Rule::Buffer { words, indexed, .. } => !indexed && words[3] >> 21 & 7 == 7,
            Rule::Scratch { .. } => true,
        };
        if write && !own && parts > 1 && !disjoint(&spans[..parts], step) {
            // One lane may store where another does: `sem` has their order.
            return false;
        }
        for (i, (places, (p, span))) in found.iter().zip(spans).take(parts).enumerate() {
            // SAFETY: written above.
            let places = unsafe { places.assume_init_ref() };
            let base = p.wrapping_sub(span.least as usize);
            // Atomic operations have one part.
            let len = (span.greatest - span.least) as u64 + step as u64;
            let alone = if access.is_atomic() { self.run.alone(span.first().0, len) } else { None };
            let (adjacent, own) = (span.consecutive, alone.is_some());
            let all = Move { base, offsets: &places.low, exec, adjacent, own };
            let part = match access {
                Access::Load { extend, .. } => Access::Load { bytes: step, extend },
                Access::Store { high, .. } => Access::Store { bytes: step, high },
                atomic => atomic,
            };
            // SAFETY: all bytes between the first and the last are checked.
            let done = unsafe {
                match span.consecutive && !access.is_atomic() {
                    true => self.consecutive(inst, part, p, i as u16),
                    false => self.transfer(inst, part, all, i as u16),
                }
            };
            if !done {
                return false;
            }
        }
        true
    }

    /// Atomic operations. False: not done.
    ///
    /// # Safety
    /// What active lanes access must be checked, and the offsets be in no register that the result goes to.
    #[inline(never)]
    unsafe fn update(
        &mut self,
        inst: &Inst,
        unit: Unit<'_>,
        (op, bytes): (Atomic, u8),
        (data, second): (Src, Src),
        lanes: Move,
    ) -> bool {
        let file = self.run.wave.vgprs.as_mut_ptr().cast::<[u32; 64]>();
        let register = |src| match src {
            Src::Vgpr(r) => file.wrapping_add(r as usize).cast_const(),
            _ => std::ptr::null(),
        };
        let (data, second) = (register(data), register(second));
        if data.is_null() || op.has_second() && second.is_null() {
            return false;
        }
        let old = if inst.returns() { file.wrapping_add(inst.dst as usize) } else { std::ptr::null_mut() };
        let Move { base, offsets, exec, adjacent, own } = lanes;
        let second = if op.has_second() { second } else { std::ptr::null() };
        // SAFETY: the caller's promise.
        let offsets = unsafe { &*offsets };
        if adjacent {
            let base = base.wrapping_add(offsets[0] as usize);
            let (data, second, old) = (data.cast(), second.cast(), old.cast());
            let batch = Batch { op, bytes, unit, own, base, data, second, old };
            if batch.is_aligned() {
                // SAFETY: as above; registers are inside the file (decoding saw to it).
                unsafe { (self.kernels.update)(&batch) };
                return true;
            }
        }
        let update = Update { op, bytes, base, offsets, exec, unit, own, data, second, old };
        if !update.aligned() {
            return false;
        }
        // SAFETY: the caller's promise; registers are inside the file (decoding saw to it).
        unsafe { update.run() };
        true
    }

    /// The address that a buffer instruction makes of a 64-bit one.
    #[inline(never)]
    fn buffer64(&mut self, fields: &BufferFields, at: S64) -> u64 {
        let r = Resource::of(fields, false, &mut self.run);
        address::buffer64::<S32>(r.buffer.base, at, S32(r.scalar), fields.offset).0
    }

    /// A data-share instruction of plain loads or stores. False: not done.
    pub(super) fn quick_share(&mut self, inst: &Inst, share: Share, exec: u64) -> bool {
        let Addressing::Share { offset, gds } = inst.addressing else { return false };
        if gds {
            return false;
        }
        let (lds, m0) = (&self.run.group.lds, S32(self.run.wave.m0()));
        let window = address::lds_window(m0, S32(lds.len()), self.run.wave.level);
        let part = (lds.base(), window.limit.0);
        match share {
            Share::Access(access) => self.quick_share1(inst, access, exec, offset as u32, part),
            Share::Pair { bytes, step, action: PairAction::Exchange } => {
                self.quick_exchange(inst, bytes, exec, pair_offsets(offset, step), part)
            }
            Share::ConditionalExchange => self.quick_conditional(inst, exec, offset as u32, part),
            Share::Pair { bytes, step, action } => {
                let store = action == PairAction::Write;
                self.quick_share2(inst, (bytes, store), exec, pair_offsets(offset, step), part)
            }
            Share::AddTid { .. } | Share::Append { .. } => self.quick_row(inst, share, offset, exec),
            _ => self.quick_cross(inst, share, offset as u32, exec),
        }
    }

    /// A load or store of a data share whose first `limit` bytes exist. False: not done.
    fn quick_share1(
        &mut self,
        inst: &Inst,
        access: Access,
        exec: u64,
        offset: u32,
        (base, limit): (*mut u8, u32),
    ) -> bool {
        let Src::Vgpr(address) = inst.src[0] else { return false };
        let (Access::Load { bytes, .. } | Access::Store { bytes, .. } | Access::Atomic { bytes, .. }) =
            access;
        let Some(span) = self.span(address, false, exec, bytes) else { return false };
        if span.greatest as u64 + offset as u64 + bytes as u64 > limit as u64 {
            return false;
        }
        let looking = self.run.wave.told.looking;
        let first = span.least as u64 + offset as u64;
        let len = (span.greatest - span.least) as u64 + bytes as u64;
        if looking && !self.run.takes(Space::Lds, first, len) {
            return false;
        }
        let base = base.wrapping_add(offset as usize);
        let start = base.wrapping_add(span.least as usize);
        if span.consecutive && !access.is_atomic() {
            // SAFETY: all bytes are below the limit.
            let done = unsafe { self.consecutive(inst, access, start, 0) };
            if looking && done {
                self.run.tell_lanes(Space::Lds, access, exec, first, None);
            }
            return done;
        }
        let mut copy = MaybeUninit::uninit();
        let offsets = self.offsets(Some(address), inst, access, &mut copy);
        let mode = self.mode;
        // A work-group's waves run on one thread at a time, and nobody else has its LDS.
        let all = Move { base, offsets, exec, adjacent: span.consecutive, own: true };
        // SAFETY: all bytes are below the limit.
        let done = unsafe {
            match access {
                Access::Atomic { op, bytes } => {
                    // LDS compares with the first datum and stores the second (manual 12.12, DS_CMPST_B32).
                    let sources = match op {
                        Atomic::CmpSwap | Atomic::CmpSwapF => (inst.src[2], inst.src[1]),
                        _ => (inst.src[1], inst.src[2]),
                    };
                    self.update(inst, Unit::Share(&mode), (op, bytes), sources, all)
                }
                _ if span.least == span.greatest && self.uniform(inst, access, start, exec) => true,
                _ => self.transfer(inst, access, all, 0),
            }
        };
        if looking && done {
            // SAFETY: the register, or a copy of it, which nothing has changed.
            let offsets = unsafe { &*offsets };
            self.run.tell_lanes(Space::Lds, access, exec, first, Some((offsets, span.least)));
        }
        done
    }

    /// Loads or stores of a data share, two addresses for each lane. False: not done.
    fn quick_share2(
        &mut self,
        inst: &Inst,
        (bytes, store): (u8, bool),
        exec: u64,
        offsets2: [u32; 2],
        (base, limit): (*mut u8, u32),
    ) -> bool {
        let Src::Vgpr(address) = inst.src[0] else { return false };
        let Some(span) = self.span(address, false, exec, bytes) else { return false };
        let furthest = offsets2[0].max(offsets2[1]);
        if span.greatest as u64 + furthest as u64 + bytes as u64 > limit as u64 {
            return false;
        }
        let looking = self.run.wave.told.looking;
        let len = (span.greatest - span.least) as u64 + bytes as u64;
        let firsts = offsets2.map(|o| span.least as u64 + o as u64);
        if looking && !firsts.iter().all(|first| self.run.takes(Space::Lds, *first, len)) {
            return false;
        }
        let offsets = self.run.wave.vgprs[address as usize].0;
        // Both numbers of a lane lie side by side, and so do the lanes.
        let adjacent = offsets2[0].abs_diff(offsets2[1]) == bytes as u32
            && self.span(address, false, exec, 2 * bytes).is_some_and(|s| s.consecutive);
        let all = Move { base, offsets: &offsets, exec, adjacent, own: true };
        if !self.pairs(inst, (bytes, store), offsets2, span, all) {
            return false;
        }
        if looking {
            let access = match store {
                true => Access::Store { bytes, high: false },
                false => Access::Load { bytes, extend: Extend::Zero },
            };
            for first in firsts {
                self.run.tell_lanes(Space::Lds, access, exec, first, Some((&offsets, span.least)));
            }
        }
        true
    }

    /// Two loads or stores of each lane, all of which are there. False: not done.
    fn pairs(
        &mut self,
        inst: &Inst,
        (bytes, store): (u8, bool),
        offsets2: [u32; 2],
        span: Span,
        Move { base, offsets, exec, adjacent, own }: Move,
    ) -> bool {
        let file = self.run.wave.vgprs.as_mut_ptr().cast::<u32>();
        let dwords = bytes as usize / 4;
        let mut registers = [[std::ptr::null_mut(); 4]; 2];
        for (n, registers) in registers.iter_mut().enumerate() {
            let first = match (store, inst.src[1 + n]) {
                (true, Src::Vgpr(r)) => r as usize,
                (true, _) => return false,
                (false, _) => inst.dst as usize + n * dwords,
            };
            *registers = std::array::from_fn(|i| file.wrapping_add(64 * (first + i)));
        }
        let twice = 2 * bytes;
        if adjacent {
            let order = if offsets2[0] < offsets2[1] { [0, 1] } else { [1, 0] };
            let all = std::array::from_fn(|i| registers[order[(i / dwords) & 1]][i % dwords]);
            let p = base.wrapping_add((span.least + offsets2[order[0]]) as usize);
            // SAFETY: all bytes are below the limit; registers are inside the file.
            unsafe {
                match store {
                    true => (self.kernels.store)(p, &all, twice, false),
                    false => (self.kernels.load)(p, &all, twice, Extend::Zero),
                }
            }
            return true;
        }
        let apart = offsets2[0].abs_diff(offsets2[1]) > span.greatest - span.least + bytes as u32 - 1;
        if store && !apart && !span.consecutive {
            // What one lane stores another may, too: the lanes in order, both of a lane's together.
            each(exec, |lane| {
                for (offset, r) in offsets2.into_iter().zip(registers) {
                    let base = base.wrapping_add(offset as usize);
                    let one = Move { base, offsets, exec: 1 << lane, adjacent: false, own };
                    // SAFETY: all bytes are below the limit; registers are inside the file.
                    unsafe { one.store(r[0].cast(), bytes, false) };
                }
            });
            return true;
        }
        // Where lanes ascend, a lane's second number may lie where a later one has its first, or the other way round: what the
        // later one stores is stored later.
        let order = if offsets2[0] < offsets2[1] { [1, 0] } else { [0, 1] };
        for n in order {
            let base = base.wrapping_add(offsets2[n] as usize);
            let one = Move { base, offsets, exec, adjacent: false, own };
            let first = base.wrapping_add(span.least as usize);
            // SAFETY: all bytes are below the limit; registers are inside the file.
            unsafe {
                match (store, span.consecutive) {
                    (true, true) => (self.kernels.store)(first, &registers[n], bytes, false),
                    (true, false) => one.store(registers[n][0].cast(), bytes, false),
                    (false, true) => (self.kernels.load)(first, &registers[n], bytes, Extend::Zero),
                    (false, false) => one.load(registers[n][0].cast(), bytes, Extend::Zero),
                }
            }
        }
        true
    }

    /// A register with offsets: itself, or a copy where the access may write it; none of them has a register.
    #[inline(always)]
    fn offsets(
        &mut self,
        register: Option<u16>,
        inst: &Inst,
        access: Access,
        copy: &mut MaybeUninit<[u32; 64]>,
    ) -> *const [u32; 64] {
        let Some(register) = register else { return &NOWHERE };
        let file = self.run.wave.vgprs.as_mut_ptr().cast::<[u32; 64]>();
        let own = file.wrapping_add(register as usize).cast_const();
        let filled = inst.dst..inst.dst + (access.bytes() as u16).div_ceil(4);
        match access {
            Access::Store { .. } => own,
            Access::Load { .. } | Access::Atomic { .. } if !filled.contains(&register) => own,
            // SAFETY: registers are inside the file (decoding saw to it).
            _ => copy.write(unsafe { *own }),
        }
    }

    /// Where the active lanes' offsets, or addresses of two registers, lie; none if upper halves differ.
    #[inline(always)]
    pub(super) fn span(&self, register: u16, wide: bool, exec: u64, step: u8) -> Option<Span> {
        let low = self.run.wave.vgprs.as_ptr().wrapping_add(register as usize).cast::<u32>();
        let high = if wide { low.wrapping_add(64) } else { std::ptr::null() };
        // SAFETY: registers of the file (decoding saw to it).
        unsafe { self.kernels.span(low, high, exec, step) }
    }

    /// An instruction's data registers, from one of them on; null for what is no register.
    #[inline(always)]
    fn registers(&mut self, inst: &Inst, access: Access, number: u16) -> Registers {
        let first = match (access, inst.src[1]) {
            (Access::Load { .. }, _) => inst.dst,
            (_, Src::Vgpr(r)) => r,
            _ => return [std::ptr::null_mut(); 4],
        };
        let file = self.run.wave.vgprs.as_mut_ptr();
        std::array::from_fn(|i| file.wrapping_add((first + number) as usize + i).cast())
    }

    /// Between numbers of all lanes side by side in memory and an instruction's data registers, from one of them on. False: not
    /// done.
    ///
    /// # Safety
    /// The numbers must be checked.
    #[inline(always)]
    pub(super) unsafe fn consecutive(
        &mut self,
        inst: &Inst,
        access: Access,
        p: *mut u8,
        number: u16,
    ) -> bool {
        let registers = self.registers(inst, access, number);
        if registers[0].is_null() {
            return false;
        }
        // SAFETY: the caller's promise; registers are inside the file (decoding saw to it).
        unsafe {
            match access {
                Access::Load { bytes: 4, .. } => {
                    std::ptr::copy_nonoverlapping(p, registers[0].cast(), 256);
                }
                Access::Store { bytes: 4, .. } => {
                    std::ptr::copy_nonoverlapping(registers[0].cast(), p, 256);
                }
                Access::Load { bytes: bytes @ (1 | 2 | 8 | 12 | 16), extend } => {
                    (self.kernels.load)(p, &registers, bytes, extend);
                }
                Access::Store { bytes: bytes @ (1 | 2 | 8 | 12 | 16), high } => {
                    (self.kernels.store)(p, &registers, bytes, high);
                }
                _ => return false,
            }
        }
        true
    }

    /// A load of all lanes from one place. False: not done.
    ///
    /// # Safety
    /// The number must be checked.
    #[inline(always)]
    unsafe fn uniform(&mut self, inst: &Inst, access: Access, p: *const u8, exec: u64) -> bool {
        let Access::Load { bytes: bytes @ ..=16, extend } = access else { return false };
        if let Extend::Half { keep: true, .. } = extend {
            return false;
        }
        let registers = self.registers(inst, access, 0);
        // SAFETY: the caller's promise; registers are inside the file (decoding saw to it).
        unsafe { (self.kernels.spread)(p, &registers, bytes, extend, exec) };
        true
    }

    /// Between memory and an instruction's data registers, from one of them on. False: not done.
    ///
    /// # Safety
    /// What active lanes access must be checked.
    #[inline(always)]
    pub(super) unsafe fn transfer(&mut self, inst: &Inst, access: Access, lanes: Move, number: u16) -> bool {
        let file = self.run.wave.vgprs.as_mut_ptr().cast::<[u32; 64]>();
        // SAFETY: the caller's promise; registers are inside the file (decoding saw to it).
        unsafe {
            match (access, inst.src[1]) {
                (Access::Load { bytes, extend }, _) => {
                    lanes.load(file.add((inst.dst + number) as usize), bytes, extend);
                }
                (Access::Store { bytes, high }, Src::Vgpr(r)) => {
                    lanes.store(file.add((r + number) as usize), bytes, high);
                }
                (Access::Atomic { op, bytes }, Src::Vgpr(r)) => {
                    let sources = (inst.src[1], Src::Vgpr(r + bytes as u16 / 4));
                    return self.update(inst, Unit::Cache, (op, bytes), sources, lanes);
                }
                _ => return false,
            }
        }
        true
    }
}
