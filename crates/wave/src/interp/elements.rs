//! Buffer instructions that convert: elements of all lanes are fetched or stored with one check, and converted sixteen lanes at
//! a time. What an element means is `sem`'s ([`Element`]).

use super::Exec;
use super::places::{Places, Request, Rule};
use super::quick::{Move, NOWHERE, Span};
use crate::guest;
use crate::program::{Inst, Src};
use crate::simd::{Bits, V16};
use crate::state::Vgpr;
use std::mem::MaybeUninit;
use wavemill_sem::address::Addressing;
use wavemill_sem::buffer::BufferOperands;
use wavemill_sem::element::Element;
use wavemill_sem::execute::transfer::{self, Resource};
use wavemill_sem::lanes::w;
use wavemill_sem::memory::{Access, Extend, Formatted};
use wavemill_sem::scalar::{S32, S64};

/// The words of all lanes' elements.
pub(crate) type Words = [Vgpr; 4];

/// The lanes of so many registers as vectors.
///
/// # Safety
/// The registers must be there, aligned, and nobody else's meanwhile.
#[inline(always)]
unsafe fn vectors<'a, V: V16>(p: *mut u32, registers: usize) -> &'a mut [[V; 4]] {
    const { assert!(size_of::<V>() == 64 && align_of::<V>() <= 64) };
    // SAFETY: the caller's promise; a vector is sixteen dwords in order, whatever they hold.
    unsafe { std::slice::from_raw_parts_mut(p.cast(), registers) }
}

/// Elements' words to the registers from `to` on.
///
/// # Safety
/// The format's words, and the registers, must be there, aligned, and apart.
#[inline(always)]
pub(crate) unsafe fn decode<V: V16>(element: &Element, words: *mut u32, to: *mut u32, exec: u64) {
    // SAFETY: the caller's promise; what inactive lanes had is kept before it is written.
    unsafe {
        let mut kept = MaybeUninit::<Words>::uninit();
        let kept = kept.as_mut_ptr().cast::<u32>();
        let count = element.registers().min(4);
        if exec != !0 {
            kept.copy_from_nonoverlapping(to, 64 * count);
        }
        element.load(Some(vectors::<V>(words, dwords(element))), vectors::<V>(to, count));
        if exec != !0 {
            for c in 0..4 * count {
                let (active, at) = (Bits((exec >> (16 * (c % 4))) as u16), to.add(16 * c));
                V::select(active, V::load(at), V::load(kept.add(16 * c))).store(at);
            }
        }
    }
}

/// The registers from `from` on to elements' words.
///
/// # Safety
/// The registers, and room for the format's words, must be there, aligned, and apart.
#[inline(always)]
pub(crate) unsafe fn encode<V: V16>(element: &Element, from: *mut u32, words: *mut u32) {
    // SAFETY: the caller's promise. Nothing may refer to words that have never been written.
    unsafe {
        let count = dwords(element);
        for c in 0..4 * count {
            w::<V>(0).store(words.add(16 * c));
        }
        element.store(vectors::<V>(from, element.registers()), vectors::<V>(words, count));
    }
}

/// Dwords of an element.
#[inline(always)]
fn dwords(element: &Element) -> usize {
    element.format.map_or(0, |f| f.bytes().div_ceil(4).into())
}

/// Where elements are: the lowest one's address, and, unless they are consecutive, all offsets, from wherever.
struct Found {
    first: u64,
    span: Span,
    offsets: *const [u32; 64],
}

impl Exec<'_> {
    /// A load or store that converts, of elements that all are there. False: not done.
    #[inline(never)]
    pub(super) fn quick_elements(&mut self, inst: &Inst, what: Formatted, exec: u64) -> bool {
        let Addressing::Buffer(fields) = inst.addressing else { return false };
        if inst.status || inst.uses_lds() || fields.addr64 || self.run.wave.told.looking {
            return false;
        }
        let resource = Resource::of(&fields, true, &mut self.run);
        let plain = transfer::plain(what, inst, &resource);
        if let Some(bytes) = plain
            && let Some(found) = self.linear(inst, &fields, &resource, bytes, exec)
        {
            let access = match what.store {
                true => Access::Store { bytes, high: false },
                false => Access::Load { bytes, extend: Extend::Zero },
            };
            return self.quick_span(inst, access, exec, found);
        }
        let element = transfer::element(what, inst, &resource);
        let Some(bytes) = element.format.map(|f| f.bytes()) else { return false };
        let mut places = MaybeUninit::uninit();
        let Some(found) = self.find(inst, &resource, bytes, exec, &mut places) else { return false };
        let Found { first, span, offsets } = found;
        let len = (span.greatest - span.least) as u64 + bytes as u64;
        let Ok(p) = guest::check(&mut self.run.wave.cache, self.run.memory, first, len, what.store) else {
            return false;
        };
        let file = self.run.wave.vgprs.as_mut_ptr().cast::<u32>();
        let base = p.wrapping_sub(span.least as usize);
        let all = Move { base, offsets, exec, adjacent: span.consecutive, own: false };
        let first = match (what.store, inst.src[1]) {
            (true, Src::Vgpr(r)) => r,
            (true, _) => return false,
            (false, _) => inst.dst,
        };
        let file = file.wrapping_add(64 * first as usize);
        let mut words = MaybeUninit::<Words>::uninit();
        // What is not converted needs no words of its own, unless its registers have the offsets.
        let filled = file..file.wrapping_add(64 * element.registers());
        let plain = plain.is_some() && (what.store || !filled.contains(&offsets.cast_mut().cast()));
        let rows = if plain { file } else { words.as_mut_ptr().cast::<u32>() };
        let registers = [rows, rows.wrapping_add(64), rows.wrapping_add(128), rows.wrapping_add(192)];
        // SAFETY: all bytes between the first and the last element are checked; registers are inside the file (decoding saw to
        // it); what is read of the words has been written.
        unsafe {
            if what.store {
                if !plain {
                    (self.kernels.encode)(&element, file, rows);
                }
                match (span.consecutive, bytes) {
                    (true, 4) => std::ptr::copy_nonoverlapping(rows.cast(), p, 256),
                    (true, _) => (self.kernels.store)(p, &registers, bytes, false),
                    (false, _) => all.store(rows.cast(), bytes, false),
                }
                return true;
            }
            if !plain && exec != !0 {
                rows.write_bytes(0, 64 * dwords(&element));
            }
            match (span.consecutive, bytes) {
                (true, 4) => std::ptr::copy_nonoverlapping(p, rows.cast(), 256),
                (true, _) => (self.kernels.load)(p, &registers, bytes, Extend::Zero),
                (false, _) => all.load(rows.cast(), bytes, Extend::Zero),
            }
            if !plain {
                (self.kernels.decode)(&element, rows, file, exec);
            }
        }
        true
    }

    /// Where elements are. None if it is not that simple: one of them is out of range, or in pieces.
    #[inline(always)]
    fn find(
        &mut self,
        inst: &Inst,
        resource: &Resource,
        bytes: u8,
        exec: u64,
        places: &mut MaybeUninit<Places>,
    ) -> Option<Found> {
        let Addressing::Buffer(fields) = inst.addressing else { return None };
        let file = self.run.wave.vgprs.as_ptr();
        let register = |i: u16| match inst.src[0] {
            Src::Vgpr(r) => file.wrapping_add((r + i) as usize).cast::<u32>(),
            _ => std::ptr::null(),
        };
        if let Some((offsets, span, first)) = self.linear(inst, &fields, resource, bytes, exec) {
            let offsets = if offsets.is_some() { register(0).cast() } else { &raw const NOWHERE };
            return Some(Found { first, span, offsets });
        }
        let simple = !resource.buffer.swizzle.0 && !resource.buffer.add_tid.0;
        if let Src::Vgpr(index) = inst.src[0]
            && fields.idxen
            && !fields.offen
            && simple
        {
            return self.records(index, fields.offset, resource, bytes, exec, places);
        }
        if !simple && bytes > 4 {
            return None;
        }
        let words = std::array::from_fn(|i| self.run.wave.sgpr(fields.resource as u32 + i as u32));
        let indexed = fields.idxen;
        let request = Request {
            rule: Rule::Buffer { words, scalar: resource.scalar, indexed, converts: true },
            index: if indexed { register(0) } else { std::ptr::null() },
            offset: if fields.offen { register(indexed as u16) } else { std::ptr::null() },
            constant: fields.offset as u32,
            before: 0,
            bytes,
            exec,
            level: self.run.wave.level,
        };
        // SAFETY: registers of the file (decoding saw to it); what is written is aligned, and read afterwards.
        unsafe {
            if !self.kernels.places(&request, places) {
                return None;
            }
            let places = places.assume_init_ref();
            let span = self.kernels.span(places.low.as_ptr(), places.high.as_ptr(), exec, bytes)?;
            Some(Found { first: span.first().0, span, offsets: &places.low })
        }
    }

    /// Elements of records that a register numbers, one after the other in memory.
    #[inline(always)]
    fn records(
        &mut self,
        register: u16,
        offset: u16,
        Resource { buffer, scalar, .. }: &Resource,
        bytes: u8,
        exec: u64,
        places: &mut MaybeUninit<Places>,
    ) -> Option<Found> {
        let numbers = self.span(register, false, exec, 1)?;
        let place = |number: u32| BufferOperands {
            index: S32(number),
            offset: S64(offset as u64),
            scalar: S32(*scalar),
            indexed: true,
            lane: S32(0),
        };
        // What is in range at the greatest number is so at all; in pieces, too, if the last byte is.
        let last = place(numbers.greatest);
        let inside = buffer.in_range(last, bytes as u32) & buffer.in_range(last.plus(bytes as u32 - 1), 1);
        let stride = buffer.stride.0;
        let greatest = numbers.greatest.checked_mul(stride)?;
        if !inside.0 {
            return None;
        }
        let span = Span {
            high: 0,
            least: numbers.least * stride,
            greatest,
            consecutive: numbers.consecutive && stride == bytes as u32,
        };
        let first = buffer.address(place(numbers.least)).0;
        let offsets = places.as_mut_ptr().cast::<[u32; 64]>();
        if !span.consecutive {
            // SAFETY: a register of the file (decoding saw to it), and the first of two arrays.
            unsafe {
                let numbers = self.run.wave.vgprs[register as usize].0;
                offsets.write(numbers.map(|number| number.wrapping_mul(stride)));
            }
        }
        Some(Found { first, span, offsets })
    }
}
