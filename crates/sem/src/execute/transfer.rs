//! Vector memory: what buffer, flat, global and scratch instructions move between registers, memory and LDS (manual 9, 10).
//!
//! A lane's access is placed by [`crate::address`] and [`crate::buffer`], and made in pieces of at most a dword, or of eight
//! aligned bytes where they lie together: swizzling may separate all others.

use crate::address::{self, Addressing, BufferFields};
use crate::atomic::{Rmw, Unit};
use crate::buffer::{self, Buffer};
use crate::bus::{At, Bus, Fault, FaultKind, Faults, Kind, Space};
use crate::element::{Element, Parts};
use crate::format::Format;
use crate::inst::Inst;
use crate::memory::{Access, Components, Formatted};
use crate::scalar::{S32, S64};
use crate::state::{State, lanes};
use wavemill_isa::Enc;
use wavemill_isa::encoding::bits;

/// What is wrong with a piece of an access, and its address.
type LaneFault = (FaultKind, u64);

/// Where a lane's access goes.
#[derive(Clone, Copy, Debug)]
pub enum LaneTarget {
    /// An address.
    Global(u64),
    /// LDS through the shared aperture.
    Lds(u32),
    /// Private memory: a byte offset, swizzled by lane.
    Scratch(u32),
    /// A place in a buffer.
    Buffer(buffer::BufferOperands<S32>),
}

/// A buffer and what an instruction adds to every lane's place in it.
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    /// The descriptor.
    pub buffer: Buffer<S32>,
    /// The scalar offset.
    pub scalar: u32,
    fields: BufferFields,
}

impl Resource {
    /// The buffer an instruction names.
    #[inline]
    pub fn of<B: Bus>(fields: &BufferFields, converts: bool, state: &mut B) -> Resource {
        let words = std::array::from_fn(|i| S32(state.sgpr(fields.resource as u32 + i as u32)));
        let scalar = state.source(fields.scalar, 32) as u32;
        Resource { buffer: Buffer::new(words, state.level(), converts), scalar, fields: *fields }
    }

    fn place(&self, inst: &Inst, lane: u32, state: &impl State) -> LaneTarget {
        let f = &self.fields;
        if f.addr64 {
            let address = S64(state.lane64(inst.src[0], 0, lane));
            let at = address::buffer64::<S32>(self.buffer.base, address, S32(self.scalar), f.offset);
            return LaneTarget::Global(at.0);
        }
        let index = if f.idxen { state.lane(inst.src[0], 0, lane) } else { 0 };
        let offset = if f.offen { state.lane(inst.src[0], f.idxen as u16, lane) } else { 0 };
        LaneTarget::Buffer(buffer::BufferOperands {
            index: S32(index),
            // The sum wraps before it is checked (measured on gfx950, rocm-systems #10928).
            offset: S64(offset.wrapping_add(f.offset as u32) as u64),
            scalar: S32(self.scalar),
            indexed: f.idxen,
            lane: S32(lane),
        })
    }
}

/// One lane of an instruction.
struct Lane<'a, B> {
    state: &'a mut B,
    lane: u32,
    place: LaneTarget,
    resource: Option<&'a Resource>,
}

/// The resource of an instruction that has one.
fn resource<B: Bus>(inst: &Inst, converts: bool, state: &mut B) -> Option<Resource> {
    inst.addressing.buffer().map(|fields| Resource::of(fields, converts, state))
}

/// Where a lane's access goes.
fn place<B: Bus>(inst: &Inst, resource: Option<&Resource>, lane: u32, state: &B) -> LaneTarget {
    let address = inst.src[0];
    match inst.addressing {
        Addressing::Flat { offset } => {
            let at = S64(state.lane64(address, 0, lane));
            let flat = address::flat::<S32>(at, offset, state.apertures());
            match (flat.shared.0, flat.private.0) {
                (true, _) => LaneTarget::Lds(flat.low.0),
                (_, true) => LaneTarget::Scratch(flat.low.0),
                _ => LaneTarget::Global(flat.address.0),
            }
        }
        Addressing::Global { offset, base: None } => {
            LaneTarget::Global(address::global::<S32>(S64(state.lane64(address, 0, lane)), offset).0)
        }
        Addressing::Global { offset, base: Some(base) } => {
            let base = S64(state.sgpr64(base as u32));
            LaneTarget::Global(address::global_based(base, S32(state.lane(address, 0, lane)), offset).0)
        }
        Addressing::Scratch { offset, base } => {
            let from = base.map_or_else(|| state.lane(address, 0, lane), |b| state.sgpr(b as u32));
            LaneTarget::Scratch(address::scratch(S32(from), offset).0)
        }
        _ => resource.map_or(LaneTarget::Global(0), |r| r.place(inst, lane, state)),
    }
}

/// Executes a load, store or atomic.
pub fn execute<B: Bus>(access: Access, inst: &Inst, state: &mut B) -> Result<(), Fault> {
    let exec = state.exec();
    let resource = resource(inst, false, state);
    let mut faults = Faults::default();
    for lane in lanes(exec) {
        let place = place(inst, resource.as_ref(), lane, state);
        let mut one = Lane { state, lane, place, resource: resource.as_ref() };
        faults.note(lane, if inst.uses_lds() { one.lds(inst, access) } else { one.access(inst, access) });
    }
    faults.result()?;
    set_status(inst, exec, 0, state);
    Ok(())
}

/// TFE and LWE: the register behind the data says that nothing was missing, which is a fault here, and whether lanes were warned
/// of their level of detail.
pub(crate) fn set_status<S: State>(inst: &Inst, exec: u64, warned: u64, state: &mut S) {
    if inst.status {
        let register = inst.dst + inst.dst_dwords as u16 - 1;
        lanes(exec).for_each(|lane| state.set_vgpr(register, lane, (warned >> lane & 1) as u32));
    }
}

impl<B: Bus> Lane<'_, B> {
    /// Whether bytes at a place in the instruction's buffer are in it.
    fn in_range(&self, place: buffer::BufferOperands<S32>, bytes: u32) -> bool {
        self.resource.is_some_and(|r| r.buffer.in_range(place, bytes).0)
    }

    /// Where a piece of the access is: `at` bytes in, `bytes` long. None: out of range, not accessed.
    fn piece(&mut self, at: u32, bytes: u8, kind: Kind) -> Result<Option<At>, LaneFault> {
        let state = &mut *self.state;
        let (space, address) = match self.place {
            LaneTarget::Global(a) => (Space::Global, a.wrapping_add(at as u64)),
            LaneTarget::Lds(a) => {
                let a = a.wrapping_add(at);
                if a as u64 + bytes as u64 > state.lds_bytes() as u64 {
                    let at = At::lane(Space::Lds, a as u64, self.lane);
                    let fault = state.refuse(at, bytes, kind, FaultKind::Lds { bytes: bytes as u32 });
                    return Err((fault, state.apertures().shared | a as u64));
                }
                (Space::Lds, a as u64)
            }
            LaneTarget::Scratch(offset) => {
                let offset = offset.wrapping_add(at);
                let limit = state.scratch_bytes() as u64;
                if limit != 0 && offset as u64 + bytes as u64 > limit {
                    let address = state.apertures().private | offset as u64;
                    let fault = FaultKind::outside(bytes as u32, kind != Kind::Read);
                    let at = At::lane(Space::Scratch, address, self.lane);
                    return Err((state.refuse(at, bytes, kind, fault), address));
                }
                let (flat, dispatch) = (S64(state.flat_scratch()), S64(state.dispatch_scratch()));
                let base = address::scratch_base::<S32>(flat, dispatch, state.level());
                (Space::Scratch, address::swizzled_by(base.0, offset, self.lane, state.scratch_element()))
            }
            LaneTarget::Buffer(place) => {
                let place = place.plus(at);
                let Some(r) = self.resource.filter(|_| self.in_range(place, bytes as u32)) else {
                    return Ok(None);
                };
                (Space::Global, r.buffer.address(place).0)
            }
        };
        Ok(Some(At::lane(space, address, self.lane)))
    }

    /// Eight bytes of the access that lie together, aligned, in an allocation: such a value is read and written whole, as
    /// the memory model wants of 64-bit atomic loads and stores.
    fn pair(&mut self, at: u32, write: bool) -> Option<At> {
        let address = match (self.place, self.resource) {
            (LaneTarget::Global(a), _) => a.wrapping_add(at as u64),
            (LaneTarget::Buffer(place), Some(r)) if !r.buffer.swizzle.0 => {
                let place = place.plus(at);
                Some(r.buffer.address(place).0).filter(|_| self.in_range(place, 8))?
            }
            _ => return None,
        };
        let at = At::lane(Space::Global, address, self.lane);
        (address.is_multiple_of(8) && self.state.check(at, 8, write).is_ok()).then_some(at)
    }

    /// Whether a piece crosses a dword of memory that may be swizzled.
    fn splits(&self, at: u32, bytes: u8) -> bool {
        let mut element = 4;
        let offset = match self.place {
            LaneTarget::Scratch(offset) => {
                element = self.state.scratch_element().min(4);
                offset
            }
            LaneTarget::Buffer(place) => place.offset.0 as u32,
            LaneTarget::Global(_) | LaneTarget::Lds(_) => return false,
        };
        (offset.wrapping_add(at) & (element - 1)) + bytes as u32 > element
    }

    /// Whether a piece is out of its buffer's range: a dword is in the buffer as a whole or not at all.
    fn beyond(&self, at: u32, bytes: u8) -> bool {
        match self.place {
            LaneTarget::Buffer(place) => !self.in_range(place.plus(at), bytes as u32),
            _ => false,
        }
    }

    /// Reads a piece of at most four bytes, byte by byte where swizzling may separate them.
    fn read(&mut self, at: u32, bytes: u8) -> Result<u32, LaneFault> {
        if !self.splits(at, bytes) {
            let Some(piece) = self.piece(at, bytes, Kind::Read)? else { return Ok(0) };
            return self.state.read(piece, bytes).map_err(|kind| (kind, piece.address));
        }
        let mut value = 0;
        if !self.beyond(at, bytes) {
            for i in 0..bytes as u32 {
                value |= self.read(at + i, 1)? << (8 * i);
            }
        }
        Ok(value)
    }

    fn write(&mut self, at: u32, bytes: u8, value: u32) -> Result<(), LaneFault> {
        if !self.splits(at, bytes) {
            let Some(piece) = self.piece(at, bytes, Kind::Write)? else { return Ok(()) };
            return self.state.write(piece, bytes, value).map_err(|kind| (kind, piece.address));
        }
        if !self.beyond(at, bytes) {
            for i in 0..bytes as u32 {
                self.write(at + i, 1, value >> (8 * i))?;
            }
        }
        Ok(())
    }

    fn access(&mut self, inst: &Inst, access: Access) -> Result<(), LaneFault> {
        let lane = self.lane;
        match access {
            Access::Load { bytes, extend } => {
                let small = bytes.min(4);
                let mut done = 0;
                while done + 8 <= bytes as u32
                    && let Some(at) = self.pair(done, false)
                {
                    let value = self.state.read64(at).map_err(|kind| (kind, at.address))?;
                    self.state.set_datum(inst.dst + done as u16 / 4, lane, 8, value);
                    done += 8;
                }
                for i in done as u16 / 4..bytes.div_ceil(4) as u16 {
                    let value = self.read(4 * i as u32, small)?;
                    let old = self.state.vgpr(inst.dst + i, lane);
                    self.state.set_vgpr(inst.dst + i, lane, extend.apply(value, small, old));
                }
            }
            Access::Store { bytes, high } => {
                let mut done = 0;
                while done + 8 <= bytes as u32
                    && let Some(at) = self.pair(done, true)
                {
                    let value = self.state.lane64(inst.src[1], done as u16 / 4, lane);
                    self.state.write64(at, value).map_err(|kind| (kind, at.address))?;
                    done += 8;
                }
                for i in done as u16 / 4..bytes.div_ceil(4) as u16 {
                    let value = self.state.lane(inst.src[1], i, lane) >> if high { 16 } else { 0 };
                    self.write(4 * i as u32, bytes.min(4), value)?;
                }
            }
            Access::Atomic { op, bytes } => {
                let words = bytes as u16 / 4;
                let data = self.state.datum(inst.src[1], 0, lane, bytes);
                let second = match op.has_second() {
                    true => self.state.datum(inst.src[1], words, lane, bytes),
                    false => 0,
                };
                let mode = self.state.float_mode();
                let unit =
                    if matches!(self.place, LaneTarget::Lds(_)) { Unit::Share(&mode) } else { Unit::Cache };
                let rmw = Rmw { op, bytes, data, second, unit };
                let old = match self.piece(0, bytes, Kind::Atomic(op))? {
                    Some(at) => self.state.update(at, &rmw).map_err(|kind| (kind, at.address))?,
                    None => 0,
                };
                if inst.returns() {
                    self.state.set_datum(inst.dst, lane, bytes, old);
                }
            }
        }
        Ok(())
    }

    /// Where memory and LDS exchange the lane's dword. None beyond the work-group's LDS, where the lane does nothing.
    fn lds_slot(&self, inst: &Inst) -> Option<At> {
        let offset = match inst.addressing {
            Addressing::Global { offset, .. } | Addressing::Scratch { offset, .. } => offset,
            Addressing::Buffer(fields) => fields.offset as i32,
            _ => 0,
        };
        let slot = address::lds_slot(S32(self.state.m0()), offset, S32(self.lane)).0;
        let inside = slot as u64 + 4 <= self.state.lds_bytes() as u64;
        inside.then(|| At::lane(Space::Lds, slot as u64, self.lane))
    }

    /// Between memory and LDS.
    fn lds(&mut self, inst: &Inst, access: Access) -> Result<(), LaneFault> {
        let Some(slot) = self.lds_slot(inst) else { return Ok(()) };
        match access {
            Access::Store { .. } => {
                let value = self.state.read(slot, 4).map_err(|kind| (kind, slot.address))?;
                self.write(0, 4, value)
            }
            Access::Load { bytes, extend } => {
                let value = self.read(0, bytes.min(4))?;
                let value = extend.apply(value, bytes.min(4), 0);
                self.state.write(slot, 4, value).map_err(|kind| (kind, slot.address))
            }
            Access::Atomic { .. } => Ok(()),
        }
    }
}

/// Executes a buffer instruction that converts: MTBUF, and MUBUF's FORMAT instructions (manual 9.1.4).
pub fn convert<B: Bus>(what: Formatted, inst: &Inst, state: &mut B) -> Result<(), Fault> {
    let exec = state.exec();
    let Some(resource) = resource(inst, true, state) else { return Ok(()) };
    let element = element(what, inst, &resource.buffer);
    let mut faults = Faults::default();
    for lane in lanes(exec) {
        let place = place(inst, Some(&resource), lane, state);
        let mut one = Lane { state, lane, place, resource: Some(&resource) };
        faults.note(
            lane,
            match what.store {
                true => one.store_element(inst, &element),
                false => one.load_element(inst, &element),
            },
        );
    }
    faults.result()?;
    set_status(inst, exec, 0, state);
    Ok(())
}

/// What an instruction makes of elements of a buffer. The format is the instruction's own or the resource's.
#[inline(always)]
pub fn element(what: Formatted, inst: &Inst, buffer: &Buffer<S32>) -> Element {
    let typed = inst.row.enc == Enc::Mtbuf;
    let format = match typed {
        true => {
            let (dfmt, nfmt) = (bits::MTBUF_DFMT.get(inst.bits), bits::MTBUF_NFMT.get(inst.bits));
            buffer.format_of(dfmt, nfmt)
        }
        false => buffer.format(),
    };
    let count = what.count as usize;
    let parts = match what.components {
        Components::Words => Parts::Words,
        Components::HighHalf => Parts::HighHalf { keep: !inst.sramecc },
        // The table gave them as many registers as they need.
        Components::Halves if count == 1 || ((inst.dst_dwords - inst.status as u8) as usize) < count => {
            Parts::Pairs
        }
        Components::Halves => Parts::Halves,
    };
    Element {
        format: format.filter(|_| !buffer.unbound.0),
        select: (!typed).then(|| buffer.select()),
        unsigned_alpha: inst.unsigned_alpha,
        count,
        parts,
    }
}

impl<B: Bus> Lane<'_, B> {
    /// The words of an element; none if not all of it is there: format instructions are range-checked as a whole (manual
    /// 9.1.5.1).
    fn element(&mut self, format: Format) -> Result<Option<[[S32; 1]; 4]>, LaneFault> {
        if self.beyond(0, format.bytes()) {
            return Ok(None);
        }
        let mut words = [[S32(0)]; 4];
        let bytes = format.bytes();
        for (i, word) in words.iter_mut().enumerate().take(bytes.div_ceil(4) as usize) {
            *word = [S32(self.read(4 * i as u32, (bytes - 4 * i as u8).min(4))?)];
        }
        Ok(Some(words))
    }

    fn load_element(&mut self, inst: &Inst, element: &Element) -> Result<(), LaneFault> {
        let words = match element.format {
            Some(format) => self.element(format)?,
            None => None,
        };
        let (dst, lane) = (inst.dst, self.lane);
        if inst.uses_lds() {
            let mut values = [[S32(0)]; 4];
            element.words().load(words.as_ref().map(<[_; 4]>::as_slice), &mut values);
            return match self.lds_slot(inst) {
                Some(slot) => self.state.write(slot, 4, values[0][0].0).map_err(|kind| (kind, slot.address)),
                None => Ok(()),
            };
        }
        let mut registers = [[S32(self.state.vgpr(dst, lane))]; 4];
        element.load(words.as_ref().map(<[_; 4]>::as_slice), &mut registers);
        for (i, [value]) in (0..).zip(registers).take(element.registers()) {
            self.state.set_vgpr(dst + i, lane, value.0);
        }
        Ok(())
    }

    fn store_element(&mut self, inst: &Inst, element: &Element) -> Result<(), LaneFault> {
        let Some(format) = element.format else { return Ok(()) };
        let bytes = format.bytes();
        if self.beyond(0, bytes) {
            return Ok(());
        }
        let mut registers = [[S32(0)]; 4];
        for (i, value) in (0..).zip(&mut registers).take(element.registers()) {
            *value = [S32(self.state.lane(inst.src[1], i, self.lane))];
        }
        let mut words = [[S32(0)]; 4];
        element.store(&registers, &mut words);
        for (i, [word]) in words.into_iter().enumerate().take(bytes.div_ceil(4) as usize) {
            self.write(4 * i as u32, (bytes - 4 * i as u8).min(4), word.0)?;
        }
        Ok(())
    }
}
