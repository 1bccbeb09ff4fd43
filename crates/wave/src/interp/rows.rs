//! Rows: a dword of each lane beside the next one's, where not the lanes but the instruction says where they begin. Private memory
//! is made of them, and LDS is, as instructions see it that add lanes' numbers to M0.

use super::Exec;
use super::places::Rule;
use super::quick::{Move, NOWHERE, Span, each};
use crate::guest;
use crate::program::{Inst, Src};
use crate::simd::{Bits, V16};
use wavemill_isa::Level;
use wavemill_sem::address::{self, Addressing};
use wavemill_sem::buffer::{Buffer, BufferOperands};
use wavemill_sem::execute::transfer::Resource;
use wavemill_sem::lanes::w;
use wavemill_sem::memory::{Access, Extend};
use wavemill_sem::scalar::{S32, S64};
use wavemill_sem::share::Share;

/// Offsets of the lanes' dwords in a row of them.
static LANES: [u32; 64] = {
    let mut all = [0; 64];
    let mut lane = 0;
    while lane < 64 {
        all[lane] = 4 * lane as u32;
        lane += 1;
    }
    all
};

/// A byte or two of each dword of a row.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// The first byte's number.
    pub within: u32,
    /// One or two.
    pub bytes: u8,
}

impl Part {
    /// Bits of a dword that it does not have.
    fn unused(self) -> u32 {
        32 - 8 * u32::from(self.bytes)
    }
}

/// Parts of a row to a register.
///
/// # Safety
/// The row must be readable, and the register be there, aligned.
#[inline(always)]
pub(crate) unsafe fn load_part<V: V16>(row: *const u8, to: *mut u32, part: Part, extend: Extend, exec: u64) {
    let (up, down) = (w::<V>(part.unused() - 8 * part.within), w::<V>(part.unused()));
    let signed = extend.signed();
    for c in 0..4 {
        // SAFETY: the caller's promise.
        unsafe {
            let [dwords] = V::load_groups::<1>(row.add(64 * c));
            let upper = dwords.shl(up);
            let value = if signed { upper.sar(down) } else { upper.shr(down) };
            let register = to.add(16 * c);
            let value = extend.placed(value, || V::load(register));
            value.store_active(Bits((exec >> (16 * c)) as u16), register);
        }
    }
}

/// A register, or its upper half, to parts of a row.
///
/// # Safety
/// The row must be writable, and the register be there, aligned.
#[inline(always)]
pub(crate) unsafe fn store_part<V: V16>(row: *mut u8, from: *const u32, part: Part, high: bool) {
    let (down, up) = (w::<V>(if high { 16 } else { 0 }), w::<V>(8 * part.within));
    let changed = !0 >> part.unused() << (8 * part.within);
    for c in 0..4 {
        // SAFETY: the caller's promise.
        unsafe {
            let at = row.add(64 * c);
            let [dwords] = V::load_groups::<1>(at);
            let value = V::load(from.add(16 * c)).shr(down).shl(up);
            V::store_groups::<1>([dwords & w(!changed) | value & w(changed)], at);
        }
    }
}

impl Rule {
    /// Where lane 0's bytes are that every lane has at one offset, if a dword of each lane stands beside the next one's.
    fn row(&self, offset: u32, bytes: u32, level: Level) -> Option<u64> {
        match *self {
            Rule::Buffer { indexed: true, .. } => None,
            Rule::Buffer { words, scalar, converts, .. } => {
                let buffer = Buffer::<S32>::new(words.map(S32), level, converts);
                let (index, lane) = (S32(0), S32(0));
                let place = BufferOperands {
                    index,
                    offset: S64(offset.into()),
                    scalar: S32(scalar),
                    indexed: false,
                    lane,
                };
                let rows = buffer.swizzle.0
                    && buffer.add_tid.0
                    && (1u32 << buffer.element.0, 1u32 << buffer.index_stride.0) == (4, 64);
                (rows && buffer.in_range(place, bytes).0).then(|| buffer.address(place).0)
            }
            Rule::Scratch { base, limit } => {
                let inside = limit == 0 || u64::from(offset) + u64::from(bytes) <= limit.into();
                inside.then(|| address::swizzled::<S32>(S64(base), S32(offset), S32(0)).0)
            }
        }
    }
}

impl Exec<'_> {
    /// A load or store of what every lane has at the same place in private memory: rows of dwords. False: not done.
    #[inline(never)]
    pub(super) fn quick_rows(
        &mut self,
        inst: &Inst,
        access: Access,
        exec: u64,
        (rule, index, register, constant): (Rule, *const u32, *const u32, u32),
    ) -> bool {
        let bytes = u32::from(access.bytes());
        if access.is_atomic() || bytes > 16 || !index.is_null() {
            return false;
        }
        let mut offset = constant;
        if !register.is_null() {
            // SAFETY: a register of the file (the caller saw to it).
            let span = unsafe { self.kernels.span(register, std::ptr::null(), exec, 0) };
            match span {
                Some(Span { least, greatest, .. }) if least == greatest => {
                    offset = offset.wrapping_add(least)
                }
                _ => return false,
            }
        }
        let within = offset & 3;
        if within + bytes.min(4) > 4 {
            return false;
        }
        let Some(first) = rule.row(offset, bytes, self.run.wave.level) else { return false };
        let rows = bytes.div_ceil(4);
        let (start, write) = (first.wrapping_sub(within.into()), access.writes());
        let len = 256 * u64::from(rows);
        let Ok(p) = guest::check(&mut self.run.wave.cache, self.run.memory, start, len, write) else {
            return false;
        };
        let file = self.run.wave.vgprs.as_mut_ptr().cast::<u32>();
        if let Access::Load { bytes: bytes @ (1 | 2), extend } = access {
            let to = file.wrapping_add(64 * inst.dst as usize);
            // SAFETY: all of the row is checked; a register of the file (decoding saw to it).
            unsafe { (self.kernels.load_part)(p, to, Part { within, bytes }, extend, exec) };
            return true;
        }
        if let Access::Store { bytes: bytes @ (1 | 2), high } = access
            && let (Rule::Scratch { .. }, Src::Vgpr(data), true) = (rule, inst.src[1], exec == !0)
        {
            let from = file.wrapping_add(64 * data as usize);
            // Lanes' own dwords, which nobody else writes parts of.
            // SAFETY: as above.
            unsafe { (self.kernels.store_part)(p, from, Part { within, bytes }, high) };
            return true;
        }
        let part = match access {
            Access::Load { extend, .. } => Access::Load { bytes: 4, extend },
            Access::Store { bytes, high } => Access::Store { bytes: bytes.min(4), high },
            Access::Atomic { .. } => return false,
        };
        for i in 0..rows as usize {
            let base = p.wrapping_add(256 * i + within as usize);
            let all = Move { base, offsets: &LANES, exec, adjacent: false, own: false };
            // SAFETY: all rows are checked.
            let done = unsafe {
                match exec == !0 && bytes >= 4 {
                    true => self.consecutive(inst, part, base, i as u16),
                    false => self.transfer(inst, part, all, i as u16),
                }
            };
            if !done {
                return false;
            }
        }
        true
    }

    /// DS_READ_ADDTID and DS_WRITE_ADDTID, all of whose row is in LDS; and the counts of all lanes. False: not done.
    pub(super) fn quick_row(&mut self, inst: &Inst, share: Share, offset: u16, exec: u64) -> bool {
        if self.run.wave.told.looking {
            return false;
        }
        let (lds, level) = (&self.run.group.lds, self.run.wave.level);
        let (base, bytes, m0) = (lds.base(), lds.len(), S32(self.run.wave.m0()));
        match share {
            Share::AddTid { store } => {
                let first = address::add_tid(m0, offset, S32(0), false).0;
                if u64::from(first) + 256 > bytes.into() {
                    return false;
                }
                let base = base.wrapping_add(first as usize);
                let access = match store {
                    true => Access::Store { bytes: 4, high: false },
                    false => Access::Load { bytes: 4, extend: Extend::Zero },
                };
                let all = Move { base, offsets: &LANES, exec, adjacent: false, own: true };
                // SAFETY: all of the row is there.
                unsafe {
                    match exec == !0 {
                        true => self.consecutive(inst, access, base, 0),
                        false => self.transfer(inst, access, all, 0),
                    }
                }
            }
            Share::Append { add } => {
                let at = address::append(m0, offset, false, level).0;
                let limit =
                    if level.is_gfx9() { bytes } else { address::lds_window(m0, S32(bytes), level).limit.0 };
                if u64::from(at) + 4 > limit.into() {
                    return false;
                }
                let (count, p) = (exec.count_ones(), base.wrapping_add(at as usize));
                let to = self.run.wave.vgprs.as_mut_ptr().wrapping_add(inst.dst as usize).cast::<u32>();
                // SAFETY: below the limit; nobody else has a work-group's LDS meanwhile. A register of the file (decoding saw
                // to it).
                unsafe {
                    let old = guest::read(p, 4);
                    guest::write(p, 4, if add { old.wrapping_add(count) } else { old.wrapping_sub(count) });
                    let registers = [to, to, to, to];
                    (self.kernels.spread)((&raw const old).cast(), &registers, 4, Extend::Zero, exec);
                }
                true
            }
            _ => false,
        }
    }

    /// A load from a buffer that is a piece of memory into LDS, or a store from there. False: not done.
    #[inline(never)]
    pub(super) fn quick_lds(&mut self, inst: &Inst, access: Access, exec: u64) -> bool {
        let Addressing::Buffer(fields) = inst.addressing else { return false };
        let (bytes, write) = (access.bytes(), access.writes());
        if self.run.wave.told.looking || fields.addr64 || bytes > 4 || access.is_atomic() {
            return false;
        }
        let slot = address::lds_slot(S32(self.run.wave.m0()), i32::from(fields.offset), S32(0)).0;
        let lds = &self.run.group.lds;
        if u64::from(slot) + 256 > lds.len().into() {
            return false;
        }
        let row = lds.base().wrapping_add(slot as usize);
        let resource = Resource::of(&fields, false, &mut self.run);
        let Some((register, span, first)) = self.linear(inst, &fields, &resource, bytes, exec) else {
            return false;
        };
        let len = u64::from(span.greatest - span.least) + u64::from(bytes);
        let Ok(p) = guest::check(&mut self.run.wave.cache, self.run.memory, first, len, write) else {
            return false;
        };
        let offsets = register.map_or(&NOWHERE, |r| &self.run.wave.vgprs[r as usize].0);
        let at = |lane: usize| p.wrapping_add((offsets[lane] - span.least) as usize);
        // Where all lanes have one place, the last one's dword stays there.
        let last = 1 << (63 - exec.leading_zeros().min(63));
        let stored = if span.greatest == span.least { exec & last } else { exec };
        // SAFETY: all bytes between the first and the last are checked, and so is the row; LDS is no allocation.
        unsafe {
            match access {
                Access::Load { bytes: 4, .. } if span.consecutive => {
                    std::ptr::copy_nonoverlapping(p, row, 256)
                }
                Access::Store { bytes: 4, .. } if span.consecutive => {
                    std::ptr::copy_nonoverlapping(row, p, 256)
                }
                Access::Load { extend, .. } => each(exec, |lane| {
                    let value = extend.apply(guest::read(at(lane), bytes), bytes, 0);
                    guest::write(row.wrapping_add(4 * lane), 4, value);
                }),
                _ => {
                    each(stored, |lane| guest::write(at(lane), 4, guest::read(row.wrapping_add(4 * lane), 4)))
                }
            }
        }
        true
    }
}
