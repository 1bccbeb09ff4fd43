//! Plain loads and stores the quick way: when all that an instruction's active lanes access lies in one allocation, one
//! check does for all of them, and consecutive dwords are copied. What is not so simple, above all what faults, is left
//! to `sem`, which goes lane by lane. Addresses are `sem`'s.

use super::Exec;
use super::places::{Places, Request, Rule};
use super::update::Update;
use crate::guest;
use crate::observe::Space;
use crate::program::{Inst, Src};
use std::mem::MaybeUninit;
use wavemill_sem::address::{self, Addressing, BufferFields};
use wavemill_sem::atomic::{Atomic, Unit};
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

impl Span {
    /// The least offset, both halves.
    fn first(&self) -> S64 {
        S64(self.least as u64 | (self.high as u64) << 32)
    }
}

/// An access of every active lane at `base` plus its offset.
#[derive(Clone, Copy)]
struct Move {
    base: *mut u8,
    /// May be a register, of those that the access does not write.
    offsets: *const [u32; 64],
    exec: u64,
}

/// Whether no two of the spans overlap.
fn disjoint(spans: &[(*mut u8, Span)], bytes: u8) -> bool {
    let end = |s: &Span| s.greatest as u64 + bytes as u64;
    let apart = |a: &Span, b: &Span| end(a) <= b.least as u64 || end(b) <= a.least as u64;
    spans.iter().enumerate().all(|(i, (_, a))| spans[..i].iter().all(|(_, b)| apart(a, b)))
}

/// Calls a function for each active lane.
#[inline(always)]
fn each(exec: u64, mut f: impl FnMut(usize)) {
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
    unsafe fn load(self, file: *mut [u32; 64], bytes: u8, extend: Extend) {
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
    unsafe fn store(self, file: *const [u32; 64], bytes: u8, high: bool) {
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
        if inst.status || inst.uses_lds() {
            return false;
        }
        match inst.addressing {
            Addressing::Scratch { .. } => return self.quick_places(inst, access, exec),
            Addressing::Buffer(fields) if !fields.addr64 => return self.quick_places(inst, access, exec),
            _ => {}
        }
        let (bytes, write) = (access.bytes(), access.writes());
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
        if span.consecutive && bytes == 4 && p.addr() & 3 == 0 && !access.is_atomic() {
            // SAFETY: all bytes between the first and the last are checked.
            let done = unsafe { self.consecutive(inst, write, p, 0) };
            if looking && done {
                self.run.tell_lanes(Space::Global, access, exec, first, None);
            }
            return done;
        }
        let mut copy = MaybeUninit::uninit();
        let offsets = self.offsets(address, inst, access, &mut copy);
        // Offsets count from the base, which may lie outside the allocation.
        let all = Move { base: p.wrapping_sub(span.least as usize), offsets, exec };
        // SAFETY: all bytes between the first and the last are checked.
        let done = unsafe { self.transfer(inst, access, all, 0) };
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
                let rule = Rule::Buffer { words, scalar: resource.scalar, indexed: fields.idxen };
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
            let all = Move { base: p.wrapping_sub(span.least as usize), offsets: &places.low, exec };
            let part = match access {
                Access::Load { extend, .. } => Access::Load { bytes: step, extend },
                Access::Store { high, .. } => Access::Store { bytes: step, high },
                atomic => atomic,
            };
            // SAFETY: all bytes between the first and the last are checked.
            let done = unsafe {
                match span.consecutive && step == 4 && p.addr() & 3 == 0 && !access.is_atomic() {
                    true => self.consecutive(inst, write, p, i as u16),
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
    /// What active lanes access must be checked, and the offsets no register.
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
        let Move { base, offsets, exec } = lanes;
        let second = if op.has_second() { second } else { std::ptr::null() };
        // SAFETY: the caller's promise.
        let offsets = unsafe { &*offsets };
        let update = Update { op, bytes, base, offsets, exec, unit, data, second, old };
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
            Share::Pair { bytes, step, action } if action != PairAction::Exchange => {
                let store = action == PairAction::Write;
                self.quick_share2(inst, (bytes, store), exec, pair_offsets(offset, step), part)
            }
            _ => false,
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
        if span.consecutive && bytes == 4 && (span.least + offset) & 3 == 0 && !access.is_atomic() {
            let write = access.writes();
            // SAFETY: all bytes are below the limit.
            let done = unsafe { self.consecutive(inst, write, base.wrapping_add(span.least as usize), 0) };
            if looking && done {
                self.run.tell_lanes(Space::Lds, access, exec, first, None);
            }
            return done;
        }
        let mut copy = MaybeUninit::uninit();
        let offsets = self.offsets(address, inst, access, &mut copy);
        let mode = self.mode;
        // SAFETY: all bytes are below the limit.
        let done = unsafe {
            match access {
                Access::Atomic { op, bytes } => {
                    // LDS compares with the first datum and stores the second (manual 12.12, DS_CMPST_B32).
                    let sources = match op {
                        Atomic::CmpSwap | Atomic::CmpSwapF => (inst.src[2], inst.src[1]),
                        _ => (inst.src[1], inst.src[2]),
                    };
                    self.update(inst, Unit::Share(&mode), (op, bytes), sources, Move { base, offsets, exec })
                }
                _ => self.transfer(inst, access, Move { base, offsets, exec }, 0),
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
        let all = Move { base, offsets: &offsets, exec };
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
        Move { base, offsets, exec }: Move,
    ) -> bool {
        let apart = offsets2[0].abs_diff(offsets2[1]) > span.greatest - span.least + bytes as u32 - 1;
        if let (true, false, Src::Vgpr(a), Src::Vgpr(b)) = (store, apart, inst.src[1], inst.src[2]) {
            // What one lane stores another may, too: the lanes in order, both of a lane's together.
            let file = self.run.wave.vgprs.as_mut_ptr().cast::<[u32; 64]>();
            each(exec, |lane| {
                for (offset, r) in offsets2.into_iter().zip([a, b]) {
                    let one = Move { base: base.wrapping_add(offset as usize), offsets, exec: 1 << lane };
                    // SAFETY: all bytes are below the limit; registers are inside the file.
                    unsafe { one.store(file.add(r as usize), bytes, false) };
                }
            });
            return true;
        }
        for (i, offset) in offsets2.into_iter().enumerate() {
            let base = base.wrapping_add(offset as usize);
            let one = Move { base, offsets, exec };
            let dwords = span.consecutive && bytes == 4 && (span.least + offset) & 3 == 0;
            let first = base.wrapping_add(span.least as usize);
            let file = self.run.wave.vgprs.as_mut_ptr().cast::<[u32; 64]>();
            // SAFETY: all bytes are below the limit; registers are inside the file.
            unsafe {
                match (store, inst.src[1 + i]) {
                    (true, Src::Vgpr(r)) if dwords => {
                        std::ptr::copy_nonoverlapping(file.add(r as usize).cast(), first, 256);
                    }
                    (true, Src::Vgpr(r)) => one.store(file.add(r as usize), bytes, false),
                    (true, _) => return false,
                    (false, _) if dwords => {
                        std::ptr::copy_nonoverlapping(first, file.add(inst.dst as usize + i).cast(), 256);
                    }
                    (false, _) => {
                        let dst = inst.dst as usize + i * (bytes as usize / 4);
                        one.load(file.add(dst), bytes, Extend::Zero);
                    }
                }
            }
        }
        true
    }

    /// A register with offsets: itself, or a copy where the access may write it.
    #[inline(always)]
    fn offsets(
        &mut self,
        register: u16,
        inst: &Inst,
        access: Access,
        copy: &mut MaybeUninit<[u32; 64]>,
    ) -> *const [u32; 64] {
        let file = self.run.wave.vgprs.as_mut_ptr().cast::<[u32; 64]>();
        let own = file.wrapping_add(register as usize).cast_const();
        let filled = inst.dst..inst.dst + (access.bytes() as u16).div_ceil(4);
        match access {
            Access::Store { .. } => own,
            Access::Load { .. } if !filled.contains(&register) => own,
            // SAFETY: registers are inside the file (decoding saw to it).
            _ => copy.write(unsafe { *own }),
        }
    }

    /// Where the active lanes' offsets, or addresses of two registers, lie; none if upper halves differ.
    #[inline(always)]
    fn span(&self, register: u16, wide: bool, exec: u64, step: u8) -> Option<Span> {
        let low = self.run.wave.vgprs.as_ptr().wrapping_add(register as usize).cast::<u32>();
        let high = if wide { low.wrapping_add(64) } else { std::ptr::null() };
        // SAFETY: registers of the file (decoding saw to it).
        unsafe { self.kernels.span(low, high, exec, step) }
    }

    /// Between 64 aligned dwords of memory and one of an instruction's data registers. False: not done.
    ///
    /// # Safety
    /// The dwords must be checked.
    #[inline(always)]
    unsafe fn consecutive(&mut self, inst: &Inst, write: bool, p: *mut u8, number: u16) -> bool {
        let file = self.run.wave.vgprs.as_mut_ptr();
        // SAFETY: the caller's promise; registers are inside the file (decoding saw to it).
        unsafe {
            match (write, inst.src[1]) {
                (false, _) => {
                    std::ptr::copy_nonoverlapping(p, file.add((inst.dst + number) as usize).cast(), 256);
                }
                (true, Src::Vgpr(r)) => {
                    std::ptr::copy_nonoverlapping(file.add((r + number) as usize).cast(), p, 256);
                }
                _ => return false,
            }
        }
        true
    }

    /// Between memory and an instruction's data registers, from one of them on. False: not done.
    ///
    /// # Safety
    /// What active lanes access must be checked.
    #[inline(always)]
    unsafe fn transfer(&mut self, inst: &Inst, access: Access, lanes: Move, number: u16) -> bool {
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
