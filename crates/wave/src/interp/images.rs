//! Image instructions: where lanes' texels are is found sixteen lanes at a time, one check does for all of them, and they are
//! converted and filtered as elements of buffers are. Everything but the way to memory is `sem`'s; what is not so simple is left to
//! it, lane by lane.

use super::Exec;
use super::elements::{Place, Words};
use super::quick::Move;
use crate::guest;
use crate::program::{Inst, Src};
use crate::simd::{Bits, V16};
use crate::state::Vgpr;
use std::mem::MaybeUninit;
use wavemill_sem::address::Addressing;
use wavemill_sem::coordinates::{Coordinates, Registers};
use wavemill_sem::execute::texel::{Moved, Operation, Sampled};
use wavemill_sem::format::Format;
use wavemill_sem::image::{Image, Plane, Problem};
use wavemill_sem::lanes::w;
use wavemill_sem::memory::{Access, Extend};
use wavemill_sem::mimg::Action;
use wavemill_sem::sampler::Texels;
use wavemill_sem::scalar::S32;

/// Sixteen lanes of consecutive registers.
struct Lanes(*const u32);

impl<V: V16> Registers<V> for Lanes {
    #[inline(always)]
    fn register(&self, n: u16) -> V {
        // SAFETY: whoever makes one has as many registers as an address can have.
        unsafe { V::load(self.0.add(64 * n as usize)) }
    }
}

/// One lane of them.
struct One(*const u32);

impl Registers<S32> for One {
    #[inline(always)]
    fn register(&self, n: u16) -> S32 {
        // SAFETY: as above.
        S32(unsafe { self.0.add(64 * n as usize).read() })
    }
}

/// Texels that an instruction without sampler names.
pub(crate) struct Named<'a> {
    coordinates: Coordinates,
    /// The level that all lanes must name, where addresses have one.
    level: Option<u32>,
    plane: &'a Plane,
    registers: *const u32,
    exec: u64,
}

/// Finds texels' distances from the beginning of their level, and which active lanes' are in the image. None: not all are in the
/// same level.
///
/// # Safety
/// The address registers must be there, aligned.
#[inline(always)]
pub(crate) unsafe fn locate<V: V16>(named: &Named<'_>, out: &mut MaybeUninit<Vgpr>) -> Option<u64> {
    let mut inside = 0;
    for c in 0..4 {
        let active = Bits((named.exec >> (16 * c)) as u16);
        // SAFETY: the caller's promise.
        let registers = Lanes(unsafe { named.registers.add(16 * c) });
        let place = named.coordinates.place::<V>(named.level.is_some(), &registers);
        if let Some(level) = named.level
            && (active & !place.level.eq(w(level))).0 != 0
        {
            return None;
        }
        let there = active & named.plane.has(place.at, place.slice);
        inside |= (there.0 as u64) << (16 * c);
        let offset = named.plane.offset(place.at, place.slice);
        // SAFETY: inside the register, which is aligned.
        unsafe { offset.store(out.as_mut_ptr().cast::<u32>().add(16 * c)) };
    }
    Some(inside)
}

/// Finds the sizes of an image's levels.
///
/// # Safety
/// The address register must be there, aligned.
#[inline(always)]
pub(crate) unsafe fn sizes<V: V16>(
    image: &Image,
    coordinates: Coordinates,
    registers: *const u32,
    out: &mut MaybeUninit<Words>,
) {
    for c in 0..4 {
        // SAFETY: the caller's promise.
        let level = coordinates.first::<V>(&Lanes(unsafe { registers.add(16 * c) }));
        for (i, value) in image.info(level).into_iter().enumerate() {
            // SAFETY: inside the registers, which are aligned.
            unsafe { value.store(out.as_mut_ptr().cast::<u32>().add(64 * i + 16 * c)) };
        }
    }
}

/// Texels of a level of which all of it is checked.
struct Reader<'a> {
    plane: &'a Plane,
    format: Format,
    base: *const u8,
}

/// What is left to `sem`.
struct Refused;

impl From<Problem> for Refused {
    fn from(_: Problem) -> Refused {
        Refused
    }
}

impl<V: V16> Texels<V> for Reader<'_> {
    type Error = Refused;

    #[inline(always)]
    fn any(mask: Bits) -> bool {
        mask.0 != 0
    }

    #[inline(always)]
    fn read(&mut self, _: u32, at: [V; 3], slice: V, wanted: Bits) -> Result<[V; 4], Refused> {
        if (wanted & !self.plane.has(at, slice)).0 != 0 {
            return Err(Refused);
        }
        // The first texel where there is none.
        let offsets = V::select(wanted, self.plane.offset(at, slice), w(0)).to_array();
        let bytes = self.format.bytes() as usize;
        // Side by side they become vectors as consecutive ones do.
        let mut texels = [[0u64; 16]; 2];
        let side = texels.as_mut_ptr().cast::<u8>();
        let mut words = [w(0); 4];
        // SAFETY: texels of the level, which is checked, and room for sixteen of sixteen bytes.
        unsafe {
            for (lane, offset) in offsets.into_iter().enumerate() {
                let (p, to) = (self.base.wrapping_add(offset as usize), side.add(bytes.max(4) * lane));
                match bytes {
                    8 | 16 if p.addr() & 7 == 0 => {
                        for at in (0..bytes).step_by(8) {
                            to.add(at).cast::<u64>().write_unaligned(guest::read64(p.add(at)));
                        }
                    }
                    ..4 => to.cast::<u32>().write_unaligned(guest::read(p, bytes as u8)),
                    _ => {
                        for at in (0..bytes).step_by(4) {
                            to.add(at).cast::<u32>().write_unaligned(guest::read(p.add(at), 4));
                        }
                    }
                }
            }
            match bytes {
                8 => [words[0], words[1]] = V::load_groups(side),
                12 => [words[0], words[1], words[2]] = V::load_groups(side),
                16 => words = V::load_groups(side),
                _ => [words[0]] = V::load_groups(side),
            }
        }
        Ok(self.format.components_of(words))
    }
}

/// Samples of the first level of an image.
pub(crate) struct Samples<'a> {
    coordinates: Coordinates,
    sampled: &'a Sampled<'a>,
    plane: &'a Plane,
    base: *const u8,
    registers: *const u32,
    exec: u64,
}

/// Samples, and writes the components. False: something is not that simple.
///
/// # Safety
/// The address registers must be there, aligned, and all of the level be readable.
#[inline(always)]
pub(crate) unsafe fn sample<V: V16>(samples: &Samples<'_>, out: &mut MaybeUninit<Words>) -> bool {
    let Sampled { sample, address, four, .. } = samples.sampled;
    let format = sample.format();
    let mut reader = Reader { plane: samples.plane, format, base: samples.base };
    for c in 0..4 {
        let active = Bits((samples.exec >> (16 * c)) as u16);
        // SAFETY: the caller's promise.
        let registers = Lanes(unsafe { samples.registers.add(16 * c) });
        let request = samples.coordinates.request::<V>(*address, &registers);
        let values = match four {
            Some(which) => sample.gathered(&request, 0, *which, active, &mut reader),
            None => match sample.first_level(&request) {
                Some(linear) => sample.simple(&request, linear, active, &mut reader),
                None => return false,
            },
        };
        let Ok(values) = values else { return false };
        for (i, value) in values.into_iter().enumerate() {
            // Which NaN comes of two, only one way of adding them decides.
            if !format.number.is_integer() && (active & value.funord(value)).0 != 0 {
                return false;
            }
            // SAFETY: inside the registers, which are aligned.
            unsafe { value.store(out.as_mut_ptr().cast::<u32>().add(64 * i + 16 * c)) };
        }
    }
    true
}

impl Exec<'_> {
    /// An image instruction of which all is simple. False: not done.
    #[inline(never)]
    pub(super) fn quick_image(&mut self, inst: &Inst, action: Action, exec: u64) -> bool {
        let (Addressing::Image(fields), Src::Vgpr(address)) = (inst.addressing, inst.src[0]) else {
            return false;
        };
        if inst.status || self.run.wave.told.looking {
            return false;
        }
        let Ok(Some(operation)) = Operation::new(inst, &fields, &self.run) else { return false };
        let registers = self.run.wave.vgprs.as_ptr().wrapping_add(address as usize).cast::<u32>();
        let moved = match action {
            Action::Load(t) => operation.load(t),
            Action::Store(t) => operation.store(t),
            Action::Atomic(op) => operation.atomic(op),
            Action::Info => return self.sizes(inst, &operation, registers, exec),
            Action::Sample(_) | Action::Gather(..) => {
                return self.sample(inst, action, &operation, registers, exec);
            }
            Action::Detail => return false,
        };
        moved.is_ok_and(|moved| self.texels(inst, action, (&operation, &moved), registers, exec))
    }

    /// The sizes of the levels that lanes name.
    fn sizes(&mut self, inst: &Inst, operation: &Operation, registers: *const u32, exec: u64) -> bool {
        let mut words = MaybeUninit::<Words>::uninit();
        let to = self.run.wave.vgprs.as_mut_ptr().wrapping_add(inst.dst as usize).cast::<u32>();
        // SAFETY: registers of the file (decoding saw to it), and words that have been written.
        unsafe {
            (self.kernels.sizes)(&operation.image, operation.coordinates, registers, &mut words);
            let rows = Place::Rows(words.as_mut_ptr().cast());
            (self.kernels.decode)(&operation.sizes(), Some(rows), to, exec);
        }
        true
    }

    /// A load, a store or atomic operations of texels of one level. Lanes whose texels are not there load zeros and store nothing.
    fn texels(
        &mut self,
        inst: &Inst,
        action: Action,
        (operation, moved): (&Operation, &Moved),
        registers: *const u32,
        exec: u64,
    ) -> bool {
        if !moved.plain {
            return false;
        }
        let (coordinates, bytes) = (operation.coordinates, moved.bytes);
        let level = moved.level.then(|| {
            let first = One(registers.wrapping_add(exec.trailing_zeros() as usize & 63));
            coordinates.place(true, &first).level.0
        });
        let Some(plane) = plane(&operation.image, moved.format, level.unwrap_or(0)) else { return false };
        let mut offsets = MaybeUninit::uninit();
        let named = Named { coordinates, level, plane: &plane, registers, exec };
        // SAFETY: registers of the file (decoding saw to it, and behind the file there are as many as an address can have).
        let Some(inside) = (unsafe { (self.kernels.locate)(&named, &mut offsets) }) else { return false };
        let (file, outside) = (self.run.wave.vgprs.as_mut_ptr(), exec & !inside);
        let offsets = offsets.as_ptr().cast::<[u32; 64]>();
        let data = match (action, inst.src[1]) {
            (Action::Load(_), _) => inst.dst,
            (_, Src::Vgpr(r)) => r,
            _ => return false,
        };
        let data = file.wrapping_add(data as usize).cast::<u32>();
        let element = &moved.element;
        if inside != 0 {
            // SAFETY: written above.
            let span = unsafe { self.kernels.span(offsets.cast(), std::ptr::null(), inside, bytes) };
            let Some(span) = span else { return false };
            let first = plane.extent(bytes).0.wrapping_add(span.least.into());
            let len = (span.greatest - span.least) as u64 + bytes as u64;
            let write = !matches!(action, Action::Load(_));
            let cache = &mut self.run.wave.cache;
            let Ok(p) = guest::check(cache, self.run.memory, first, len, write) else { return false };
            let base = p.wrapping_sub(span.least as usize);
            let mut all = Move { base, offsets, exec: inside, adjacent: span.consecutive, own: false };
            if let Action::Atomic(op) = action {
                if self.run.is_lost(op, first, len) {
                    return false;
                }
                let alone = self.run.alone(first, len);
                all.own = alone.is_some();
                // SAFETY: all bytes between the first and the last texel are checked.
                if !unsafe { self.transfer(inst, Access::Atomic { op, bytes }, all, 0) } {
                    return false;
                }
            } else {
                let mut words = MaybeUninit::<Words>::uninit();
                let unchanged = element.is_unchanged();
                let rows = if unchanged { data } else { words.as_mut_ptr().cast::<u32>() };
                let rows4 = [rows, rows.wrapping_add(64), rows.wrapping_add(128), rows.wrapping_add(192)];
                // SAFETY: as above; registers are inside the file (decoding saw to it); what is read of the words has been
                // written.
                unsafe {
                    if write {
                        if !unchanged {
                            (self.kernels.encode)(element, data, Place::Rows(rows));
                        }
                        match (span.consecutive, bytes) {
                            (true, 4) => std::ptr::copy_nonoverlapping(rows.cast(), p, 256),
                            (true, _) => (self.kernels.store)(p, &rows4, bytes, false),
                            (false, _) => all.store(rows.cast(), bytes, false),
                        }
                        return true;
                    }
                    if !unchanged && inside != !0 {
                        rows.write_bytes(0, 64 * bytes.div_ceil(4) as usize);
                    }
                    let extend = if moved.signed { Extend::Sign } else { Extend::Zero };
                    match (span.consecutive, bytes) {
                        (true, 4) => std::ptr::copy_nonoverlapping(p, rows.cast(), 256),
                        (true, _) => (self.kernels.load)(p, &rows4, bytes, extend),
                        (false, _) => all.load(rows.cast(), bytes, extend),
                    }
                    if !unchanged {
                        (self.kernels.decode)(element, Some(Place::Rows(rows)), data, inside);
                    }
                }
            }
        }
        if outside != 0 {
            let to = file.wrapping_add(inst.dst as usize).cast::<u32>();
            match action {
                // SAFETY: registers inside the file (decoding saw to it).
                Action::Load(_) => unsafe {
                    (self.kernels.decode)(element, None, to, outside);
                },
                Action::Atomic(_) if inst.returns() => {
                    for r in 0..bytes as u16 / 4 {
                        let row = &mut self.run.wave.vgprs[(inst.dst + r) as usize].0;
                        super::quick::each(outside, |lane| row[lane] = 0);
                    }
                }
                _ => {}
            }
        }
        true
    }

    /// Samples of the first level of an image, all of which can be read.
    fn sample(
        &mut self,
        inst: &Inst,
        action: Action,
        operation: &Operation,
        registers: *const u32,
        exec: u64,
    ) -> bool {
        let Ok(Some(sampled)) = operation.sampled(action, inst) else { return false };
        let format = sampled.sample.format();
        let gathers = sampled.four.is_some();
        if !format.is_plain() || operation.image.min_lod != 0 || gathers && !sampled.sample.has_one_level() {
            return false;
        }
        let Some(plane) = plane(&operation.image, format, 0) else { return false };
        let (first, len) = plane.extent(format.bytes());
        let cache = &mut self.run.wave.cache;
        let Ok(base) = guest::check(cache, self.run.memory, first, len, false) else { return false };
        let coordinates = operation.coordinates;
        let base = base.cast_const();
        let samples = Samples { coordinates, sampled: &sampled, plane: &plane, base, registers, exec };
        let mut words = MaybeUninit::<Words>::uninit();
        let to = self.run.wave.vgprs.as_mut_ptr().wrapping_add(inst.dst as usize).cast::<u32>();
        // SAFETY: all of the level is checked; registers are inside the file (decoding saw to it); the words have been written.
        unsafe {
            if !(self.kernels.sample)(&samples, &mut words) {
                return false;
            }
            let rows = Place::Rows(words.as_mut_ptr().cast());
            (self.kernels.decode)(&sampled.element, Some(rows), to, exec);
        }
        true
    }
}

/// A level whose texels are less than 4 GiB from its beginning.
fn plane(image: &Image, format: Format, level: u32) -> Option<Plane> {
    image.plane(format, level).filter(|plane| plane.extent(format.bytes()).1 <= u32::MAX.into())
}
