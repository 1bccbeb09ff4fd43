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
use wavemill_sem::component::Number;
use wavemill_sem::element::{Element, Parts};
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

/// Where the words of all lanes' elements are.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// In memory, a lane's behind those of the one before.
    Adjacent(*mut u8),
    /// A register for each word of an element.
    Rows(*mut u32),
}

impl Place {
    /// The words of sixteen lanes' elements.
    ///
    /// # Safety
    /// They must be there, of so many bytes in memory, and rows aligned.
    #[inline(always)]
    unsafe fn load<V: V16, const N: usize>(self, bytes: usize, chunk: usize) -> [V; N] {
        let mut words = [w::<V>(0); N];
        // SAFETY: the caller's promise.
        unsafe {
            match (self, bytes) {
                (Place::Adjacent(p), 1) => {
                    words[0] = V::from_bytes(p.cast::<[u8; 16]>().add(chunk).read_unaligned())
                }
                (Place::Adjacent(p), 2) => {
                    words[0] = V::from_shorts(p.cast::<[u16; 16]>().add(chunk).read_unaligned())
                }
                (Place::Adjacent(p), _) => words = V::load_groups::<N>(p.add(16 * bytes * chunk)),
                (Place::Rows(p), _) => {
                    for (n, word) in words.iter_mut().enumerate() {
                        *word = V::load(p.add(64 * n + 16 * chunk));
                    }
                }
            }
        }
        words
    }

    /// The way back.
    ///
    /// # Safety
    /// There must be room for them, and rows aligned.
    #[inline(always)]
    unsafe fn store<V: V16, const N: usize>(self, words: [V; N], bytes: usize, chunk: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            match (self, bytes) {
                (Place::Adjacent(p), 1) => {
                    p.cast::<[u8; 16]>().add(chunk).write_unaligned(words[0].to_bytes())
                }
                (Place::Adjacent(p), 2) => {
                    p.cast::<[u16; 16]>().add(chunk).write_unaligned(words[0].to_shorts())
                }
                (Place::Adjacent(p), _) => V::store_groups(words, p.add(16 * bytes * chunk)),
                (Place::Rows(p), _) => {
                    for (n, word) in words.into_iter().enumerate() {
                        word.store(p.add(64 * n + 16 * chunk));
                    }
                }
            }
        }
    }
}

/// Calls a function for elements that are dwords which become halves, or the other way round, with the numbers of dwords and of
/// registers, and an element that the compiler knows: what that leaves of conversions is hardly more than moving. All others
/// are converted by what comes last.
macro_rules! halves_of_dwords {
    ($element:ident, $whole:ident($($argument:expr),*), $other:expr) => {
        match $element.format.map(|f| f.number) {
            Some(Number::Uint) => halves_of_dwords!(@number Uint, $element, $whole($($argument),*), $other),
            Some(Number::Sint) => halves_of_dwords!(@number Sint, $element, $whole($($argument),*), $other),
            // A dword is never converted: all others are floats.
            _ => halves_of_dwords!(@number Float, $element, $whole($($argument),*), $other),
        }
    };
    (@number $number:ident, $element:ident, $whole:ident $arguments:tt, $other:expr) => {
        match ($element.dwords(), $element.parts) {
            (Some(1), Parts::Pairs) => halves_of_dwords!(@call $whole 1, 1, $number, Parts::Pairs, $arguments),
            (Some(2), Parts::Pairs) => halves_of_dwords!(@call $whole 2, 1, $number, Parts::Pairs, $arguments),
            (Some(3), Parts::Pairs) => halves_of_dwords!(@call $whole 3, 2, $number, Parts::Pairs, $arguments),
            (Some(4), Parts::Pairs) => halves_of_dwords!(@call $whole 4, 2, $number, Parts::Pairs, $arguments),
            (Some(1), Parts::HighHalf { keep: true }) => {
                halves_of_dwords!(@call $whole 1, 1, $number, Parts::HighHalf { keep: true }, $arguments)
            }
            (Some(1), Parts::HighHalf { keep: false }) => {
                halves_of_dwords!(@call $whole 1, 1, $number, Parts::HighHalf { keep: false }, $arguments)
            }
            _ => $other,
        }
    };
    (@call $whole:ident $dwords:literal, $registers:literal, $number:ident, $parts:expr, ($($argument:expr),*)) => {
        $whole::<V, $dwords, $registers>(const { Element::whole($dwords, Number::$number, $parts) }, $($argument),*)
    };
}

/// Elements' words to the registers from `to` on; without words, what elements out of range come to.
///
/// # Safety
/// The format's words, if any, and the registers, must be there, aligned, and apart.
#[inline(always)]
pub(crate) unsafe fn decode<V: V16>(element: &Element, from: Option<Place>, to: *mut u32, exec: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(words) = from else { return decode_any::<V>(element, from, to, exec) };
        halves_of_dwords!(element, decode_whole(words, to, exec), decode_any::<V>(element, from, to, exec))
    }
}

/// [`decode`] for elements that the compiler knows, of N dwords to R registers.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn decode_whole<V: V16, const N: usize, const R: usize>(
    element: Element,
    from: Place,
    to: *mut u32,
    exec: u64,
) {
    for c in 0..4 {
        // SAFETY: the caller's promise.
        unsafe {
            let read = from.load::<V, N>(4 * N, c);
            let (mut words, mut registers) = ([[w::<V>(0)]; N], [[w::<V>(0)]; R]);
            for (word, read) in words.iter_mut().zip(read) {
                *word = [read];
            }
            if let Parts::HighHalf { .. } = element.parts {
                registers[0] = [V::load(to.add(16 * c))];
            }
            // Not in a loop, which the compiler may leave one: then words were in memory.
            element.load_value(0, Some(&words), &mut registers);
            if N > 1 {
                element.load_value(1, Some(&words), &mut registers);
            }
            if N > 2 {
                element.load_value(2, Some(&words), &mut registers);
            }
            if N > 3 {
                element.load_value(3, Some(&words), &mut registers);
            }
            for (r, [value]) in registers.into_iter().enumerate() {
                put(value, to.add(64 * r + 16 * c), exec, c);
            }
        }
    }
}

/// Sixteen lanes of a register.
///
/// # Safety
/// They must be there, aligned.
#[inline(always)]
unsafe fn put<V: V16>(value: V, to: *mut u32, exec: u64, chunk: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match exec {
            u64::MAX => value.store(to),
            _ => value.store_active(Bits((exec >> (16 * chunk)) as u16), to),
        }
    }
}

/// [`decode`] for all others.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn decode_any<V: V16>(element: &Element, from: Option<Place>, to: *mut u32, exec: u64) {
    let (mut words, mut loaded) = (MaybeUninit::<Words>::uninit(), MaybeUninit::<Words>::uninit());
    let count = element.registers().min(4);
    // SAFETY: the caller's promise. Nothing may refer to registers that have never been written.
    unsafe {
        let rows = match from {
            Some(from @ Place::Adjacent(_)) => {
                let rows = words.as_mut_ptr().cast::<u32>();
                gather::<V>(from, bytes(element), rows);
                Some(rows)
            }
            Some(Place::Rows(rows)) => Some(rows),
            None => None,
        };
        let registers = if exec == !0 { to } else { loaded.as_mut_ptr().cast() };
        if exec != !0 {
            registers.copy_from_nonoverlapping(to, 64 * count);
        }
        let registers_of = vectors::<V>(registers, count);
        match rows {
            Some(rows) => element.load(Some(vectors::<V>(rows, dwords(element))), registers_of),
            None => element.load(None, registers_of),
        }
        if exec != !0 {
            for c in 0..4 * count {
                put(V::load(registers.add(16 * c)), to.add(16 * c), exec, c % 4);
            }
        }
    }
}

/// Words in memory to rows.
///
/// # Safety
/// They must be there, and room for them in rows, aligned.
#[inline(always)]
unsafe fn gather<V: V16>(from: Place, bytes: usize, rows: *mut u32) {
    let rows = Place::Rows(rows);
    for c in 0..4 {
        // SAFETY: the caller's promise.
        unsafe {
            match bytes {
                ..=4 => rows.store(from.load::<V, 1>(bytes, c), 4, c),
                8 => rows.store(from.load::<V, 2>(8, c), 8, c),
                12 => rows.store(from.load::<V, 3>(12, c), 12, c),
                _ => rows.store(from.load::<V, 4>(16, c), 16, c),
            }
        }
    }
}

/// The registers from `from` on to elements' words.
///
/// # Safety
/// The registers, and room for the format's words, must be there, aligned, and apart.
#[inline(always)]
pub(crate) unsafe fn encode<V: V16>(element: &Element, from: *mut u32, to: Place) {
    // SAFETY: the caller's promise.
    unsafe { halves_of_dwords!(element, encode_whole(from, to), encode_any::<V>(element, from, to)) }
}

/// [`encode`] for elements that the compiler knows, of N dwords from R registers.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn encode_whole<V: V16, const N: usize, const R: usize>(element: Element, from: *mut u32, to: Place) {
    for c in 0..4 {
        // SAFETY: the caller's promise.
        unsafe {
            let (mut registers, mut words) = ([[w::<V>(0)]; R], [[w::<V>(0)]; N]);
            for (r, register) in registers.iter_mut().enumerate() {
                *register = [V::load(from.add(64 * r + 16 * c))];
            }
            // As above.
            element.store_component(0, &registers, &mut words);
            element.store_component(1, &registers, &mut words);
            element.store_component(2, &registers, &mut words);
            element.store_component(3, &registers, &mut words);
            let mut written = [w::<V>(0); N];
            for (written, [word]) in written.iter_mut().zip(words) {
                *written = word;
            }
            to.store(written, 4 * N, c);
        }
    }
}

/// [`encode`] for all others.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn encode_any<V: V16>(element: &Element, from: *mut u32, to: Place) {
    let (mut words, count, bytes) = (MaybeUninit::<Words>::uninit(), dwords(element), bytes(element));
    // SAFETY: the caller's promise. Nothing may refer to words that have never been written.
    unsafe {
        let rows = match to {
            Place::Adjacent(_) => words.as_mut_ptr().cast::<u32>(),
            Place::Rows(rows) => rows,
        };
        for c in 0..4 * count {
            w::<V>(0).store(rows.add(16 * c));
        }
        element.store(vectors::<V>(from, element.registers()), vectors::<V>(rows, count));
        if let Place::Rows(_) = to {
            return;
        }
        let rows = Place::Rows(rows);
        for c in 0..4 {
            match bytes {
                ..=4 => to.store(rows.load::<V, 1>(bytes, c), bytes, c),
                8 => to.store(rows.load::<V, 2>(8, c), 8, c),
                12 => to.store(rows.load::<V, 3>(12, c), 12, c),
                _ => to.store(rows.load::<V, 4>(16, c), 16, c),
            }
        }
    }
}

/// Bytes of an element.
#[inline(always)]
fn bytes(element: &Element) -> usize {
    element.format.map_or(0, |f| f.bytes().into())
}

/// Dwords of an element.
#[inline(always)]
fn dwords(element: &Element) -> usize {
    bytes(element).div_ceil(4)
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
        let element = transfer::element(what, inst, &resource.buffer);
        let Some(bytes) = element.format.map(|f| f.bytes()) else { return false };
        let plain = element.is_unchanged();
        let linear = self.linear(inst, &fields, &resource, bytes, exec);
        let mut places = MaybeUninit::uninit();
        let found = match linear {
            Some(found) if plain => {
                let access = match what.store {
                    true => Access::Store { bytes, high: false },
                    false => Access::Load { bytes, extend: Extend::Zero },
                };
                return self.quick_span(inst, access, exec, found);
            }
            Some((register, span, first)) => {
                let register = register.map(|r| self.run.wave.vgprs.as_ptr().wrapping_add(r as usize).cast());
                Found { first, span, offsets: register.unwrap_or(&raw const NOWHERE) }
            }
            None => match self.find(inst, &resource, bytes, exec, &mut places) {
                Some(found) => found,
                None => return false,
            },
        };
        let Found { first, span, offsets } = found;
        let len = (span.greatest - span.least) as u64 + bytes as u64;
        let Ok(p) = guest::check(&mut self.run.wave.cache, self.run.memory, first, len, what.store) else {
            return false;
        };
        let register = match (what.store, inst.src[1]) {
            (true, Src::Vgpr(r)) => r,
            (true, _) => return false,
            (false, _) => inst.dst,
        };
        let file = self.run.wave.vgprs.as_mut_ptr().cast::<u32>().wrapping_add(64 * register as usize);
        if span.consecutive && !plain {
            // SAFETY: all bytes between the first and the last element are checked; registers are inside the file (decoding saw
            // to it).
            unsafe {
                match what.store {
                    true => (self.kernels.encode)(&element, file, Place::Adjacent(p)),
                    false => (self.kernels.decode)(&element, Some(Place::Adjacent(p)), file, exec),
                }
            }
            return true;
        }
        let base = p.wrapping_sub(span.least as usize);
        let all = Move { base, offsets, exec, adjacent: span.consecutive, own: false };
        let mut words = MaybeUninit::<Words>::uninit();
        // What is not converted needs no words of its own, unless its registers have the offsets.
        let filled = file..file.wrapping_add(64 * element.registers());
        let plain = plain && (what.store || !filled.contains(&offsets.cast_mut().cast()));
        let rows = if plain { file } else { words.as_mut_ptr().cast::<u32>() };
        let registers = [rows, rows.wrapping_add(64), rows.wrapping_add(128), rows.wrapping_add(192)];
        // SAFETY: as above; what is read of the words has been written.
        unsafe {
            if what.store {
                if !plain {
                    (self.kernels.encode)(&element, file, Place::Rows(rows));
                }
                match span.consecutive {
                    true => (self.kernels.store)(p, &registers, bytes, false),
                    false => all.store(rows.cast(), bytes, false),
                }
                return true;
            }
            if !plain && exec != !0 {
                rows.write_bytes(0, 64 * dwords(&element));
            }
            match span.consecutive {
                true => (self.kernels.load)(p, &registers, bytes, Extend::Zero),
                false => all.load(rows.cast(), bytes, Extend::Zero),
            }
            if !plain {
                (self.kernels.decode)(&element, Some(Place::Rows(rows)), file, exec);
            }
        }
        true
    }

    /// Where elements are in a buffer that is more than a piece of memory. None if it is not that simple: one of them is out of range, or in pieces.
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
