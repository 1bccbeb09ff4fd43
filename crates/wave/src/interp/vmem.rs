//! Vector memory: buffer, flat, global and scratch instructions.

use super::Exec;
use crate::engine::{Event, FaultKind};
use crate::guest;
use crate::program::{Inst, Run};
use wavemill_isa::encoding::bits;
use wavemill_isa::{Enc, Form, Op, Role};
use wavemill_sem::atomic::Unit;
use wavemill_sem::buffer::{self, Buffer};
use wavemill_sem::memory::{Access, formatted};

/// Where a lane's access goes.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// An address.
    Global(u64),
    /// LDS through the shared aperture.
    Lds(u32),
    /// Private memory: a byte offset, swizzled by lane.
    Scratch(u32),
    /// A buffer: index and offset.
    Buffer(u32, u64),
}

/// A buffer and what an instruction adds to every lane's place in it.
pub(super) struct Resource {
    pub buffer: Buffer,
    pub scalar: u32,
    pub indexed: bool,
}

impl Resource {
    /// A lane's place.
    pub fn place(&self, index: u32, offset: u64, lane: usize) -> buffer::Place {
        buffer::Place { index, offset, scalar: self.scalar, indexed: self.indexed, lane: lane as u32 }
    }
}

impl Exec<'_> {
    pub(super) fn vector_memory(&mut self, inst: &Inst) -> Result<(), Event> {
        if self.skips_vector() {
            return Ok(());
        }
        let Some(access) = inst.access else { return Ok(()) };
        let exec = self.wave.exec();
        if exec == 0 {
            return Ok(());
        }
        self.stored |= matches!(access, Access::Store { .. });
        if self.quick_memory(inst, access, exec) {
            return Ok(());
        }
        let buffer = if inst.row.enc == Enc::Mubuf { Some(self.resource(inst)) } else { None };
        let mut places = [Place::Global(0); 64];
        self.places(inst, exec, buffer.as_ref(), &mut places);
        let to_lds = inst.goes_to_lds();
        let mut failed: Option<(FaultKind, u64)> = None;
        let mut lanes = 0u64;
        for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
            let r = if to_lds {
                self.lane_to_lds(inst, access, places[lane], lane, buffer.as_ref())
            } else {
                self.lane_access(inst, access, places[lane], lane, buffer.as_ref())
            };
            if let Err(fault) = r {
                lanes |= 1 << lane;
                failed.get_or_insert(fault);
            }
        }
        match failed {
            None => {
                self.set_status(inst, exec);
                Ok(())
            }
            Some((kind, address)) => Err(self.fault(kind, lanes, self.pc(inst), address)),
        }
    }

    /// Addresses and sizes of what an instruction's active lanes access in memory: buffers and private memory dword by
    /// dword.
    pub(super) fn touched(&self, inst: &Inst) -> Vec<(u64, u64)> {
        let access = match (inst.run, inst.access) {
            (Run::Image, _) => return self.touched_texels(inst),
            (Run::Formatted, _) => None,
            (Run::Memory, Some(access)) => Some(access),
            _ => return Vec::new(),
        };
        let buffer = matches!(inst.row.enc, Enc::Mubuf | Enc::Mtbuf).then(|| self.resource(inst));
        // A converted element is there as a whole or not at all.
        let converted = match (&access, &buffer) {
            (None, Some(r)) => self.element_format(inst, r).filter(|_| !r.buffer.unbound),
            _ => None,
        };
        let bytes = match (access, converted) {
            (
                Some(Access::Load { bytes, .. } | Access::Store { bytes, .. } | Access::Atomic { bytes, .. }),
                _,
            ) => bytes,
            (None, Some(format)) => format.bytes(),
            (None, None) => return Vec::new(),
        };
        let exec = self.wave.exec();
        let mut places = [Place::Global(0); 64];
        self.places(inst, exec, buffer.as_ref(), &mut places);
        let mut out = Vec::new();
        for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
            if let (Some(format), Some(resource)) = (converted, &buffer)
                && !Self::element_in_range(places[lane], lane, format, resource)
            {
                continue;
            }
            for at in (0..bytes as u32).step_by(4) {
                let address = match places[lane] {
                    Place::Global(a) => Some(a.wrapping_add(at as u64)),
                    Place::Lds(_) => None,
                    Place::Scratch(offset) => Some(self.swizzled(offset.wrapping_add(at), lane)),
                    Place::Buffer(index, offset) => {
                        let place = buffer.as_ref().map(|b| (b, b.place(index, offset + at as u64, lane)));
                        let inside = place.filter(|(b, place)| b.buffer.in_range(*place, 1));
                        inside.map(|(b, place)| b.buffer.address(place))
                    }
                };
                out.extend(address.map(|a| (a, (bytes as u64 - at as u64).min(4))));
            }
        }
        out
    }

    /// The address of a byte of a lane's private memory: a dword per lane, lane after lane (manual 10.5).
    fn swizzled(&self, offset: u32, lane: usize) -> u64 {
        let swizzled = (offset as u64 & !3) * 64 + lane as u64 * 4 + (offset as u64 & 3);
        self.wave.scratch_base(self.group.scratch_base).wrapping_add(swizzled)
    }

    /// TFE and LWE: the register behind the data says that nothing was missing. What is missing here is a fault.
    pub(super) fn set_status(&mut self, inst: &Inst, exec: u64) {
        if inst.status {
            let register = inst.dst as usize + inst.dst_dwords as usize - 1;
            for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
                self.set_lane(register, lane, 0);
            }
        }
    }

    /// The buffer an instruction names.
    pub(super) fn resource(&self, inst: &Inst) -> Resource {
        let encoded = wavemill_isa::Inst { row: inst.row, form: Form::Base, len: inst.len, bits: inst.bits };
        let r = encoded.get(Role::Srsrc) * 4;
        let words: [u32; 4] = std::array::from_fn(|i| self.wave.sgpr(r + i as u32));
        let scalar = match encoded.get(Role::Soffset) {
            code @ 0..=127 => self.wave.sgpr(code),
            code @ 128..=192 => code - 128,
            code @ 193..=208 => (192i32 - code as i32) as u32,
            _ => 0,
        };
        Resource {
            buffer: Buffer::new(words, self.wave.level, formatted(inst.op).is_some()),
            scalar,
            indexed: bits::BUF_IDXEN.get(inst.bits) != 0,
        }
    }

    /// Where each lane's access goes.
    pub(super) fn places(&self, inst: &Inst, exec: u64, buffer: Option<&Resource>, out: &mut [Place; 64]) {
        let word = inst.bits;
        let lanes = (0..64usize).filter(|l| exec >> l & 1 != 0);
        let address = inst.src[0];
        let gfx9 = self.wave.level.is_gfx9();
        let signed = |n: u32| ((n << 19) as i32 >> 19) as i64 as u64;
        let encoded = wavemill_isa::Inst { row: inst.row, form: Form::Base, len: inst.len, bits: word };
        match inst.row.enc {
            Enc::Flat => {
                let offset = if gfx9 { bits::FLAT_OFFSET12.get(word) as u64 } else { 0 };
                let (shared, private) =
                    ((self.group.shared_base >> 32) as u32, (self.group.private_base >> 32) as u32);
                for lane in lanes {
                    // The aperture is decided by the address without its offset.
                    let a = self.lane64(address, 0, lane);
                    let low = (a as u32).wrapping_add(offset as u32);
                    out[lane] = match (a >> 32) as u32 {
                        hi if hi == shared => Place::Lds(low),
                        hi if hi == private => Place::Scratch(low),
                        _ => Place::Global(a.wrapping_add(offset)),
                    };
                }
            }
            Enc::Global => {
                let offset = signed(bits::FLAT_OFFSET13.get(word));
                let base = encoded.get(Role::Saddr);
                if base == 0x7f {
                    for lane in lanes {
                        out[lane] = Place::Global(self.lane64(address, 0, lane).wrapping_add(offset));
                    }
                } else {
                    let base = self.wave.sgpr64(base).wrapping_add(offset);
                    for lane in lanes {
                        out[lane] = Place::Global(base.wrapping_add(self.lane(address, 0, lane) as u64));
                    }
                }
            }
            Enc::Scratch => {
                let offset = signed(bits::FLAT_OFFSET13.get(word)) as u32;
                let base = encoded.get(Role::Saddr);
                for lane in lanes {
                    let from = if base == 0x7f { self.lane(address, 0, lane) } else { self.wave.sgpr(base) };
                    out[lane] = Place::Scratch(from.wrapping_add(offset));
                }
            }
            _ => {
                let Some(buffer) = buffer else { return };
                let offset = bits::BUF_OFFSET.get(word);
                let (offen, idxen) = (bits::BUF_OFFEN.get(word) != 0, bits::BUF_IDXEN.get(word) != 0);
                let addr64 = !self.wave.level.is_vi_plus() && bits::BUF_ADDR64.get(word) != 0;
                for lane in lanes {
                    if addr64 {
                        let a = self.lane64(address, 0, lane);
                        let a = buffer
                            .buffer
                            .base
                            .wrapping_add(a)
                            .wrapping_add(buffer.scalar.wrapping_add(offset) as u64);
                        // Addresses have 48 bits; compilers put negative offsets into the descriptor's base.
                        out[lane] = Place::Global(a & 0xffff_ffff_ffff);
                        continue;
                    }
                    let index = if idxen { self.lane(address, 0, lane) } else { 0 };
                    let from = if offen { self.lane(address, idxen as usize, lane) } else { 0 };
                    out[lane] = Place::Buffer(index, from as u64 + offset as u64);
                }
            }
        }
    }

    /// The host address of a piece of a lane's access: `at` bytes in, `bytes` long. None: out of range, not accessed.
    fn piece(
        &mut self,
        place: Place,
        lane: usize,
        at: u32,
        bytes: u8,
        write: bool,
        buffer: Option<&Resource>,
    ) -> Result<Option<*mut u8>, (FaultKind, u64)> {
        let address = match place {
            Place::Global(a) => a.wrapping_add(at as u64),
            Place::Lds(a) => {
                let a = a.wrapping_add(at);
                let p = self.lds_at(a, bytes as u32, self.group.lds.len());
                let fault = (FaultKind::Lds { bytes: bytes as u32 }, self.group.shared_base | a as u64);
                return p.map(Some).ok_or(fault);
            }
            Place::Scratch(offset) => {
                let offset = offset.wrapping_add(at);
                let limit = self.wave.scratch_bytes;
                if limit != 0 && offset as u64 + bytes as u64 > limit as u64 {
                    let bytes = bytes as u32;
                    let kind = if write { FaultKind::Write { bytes } } else { FaultKind::Read { bytes } };
                    return Err((kind, self.group.private_base | offset as u64));
                }
                self.swizzled(offset, lane)
            }
            Place::Buffer(index, offset) => {
                let Some(b) = buffer else { return Ok(None) };
                let place = b.place(index, offset + at as u64, lane);
                if !b.buffer.in_range(place, bytes as u32) {
                    return Ok(None);
                }
                b.buffer.address(place)
            }
        };
        guest::check(&mut self.wave.cache, self.memory, address, bytes as u64, write)
            .map(Some)
            .map_err(|kind| (kind, address))
    }

    /// The host address of eight bytes of a lane's access that lie together, aligned, in an allocation: such a value is
    /// read and written whole, as the memory model wants of 64-bit atomic loads and stores.
    fn pair(
        &mut self,
        place: Place,
        lane: usize,
        at: u32,
        write: bool,
        buffer: Option<&Resource>,
    ) -> Option<*mut u8> {
        let address = match (place, buffer) {
            (Place::Global(a), _) => a.wrapping_add(at as u64),
            (Place::Buffer(index, offset), Some(b)) if !b.buffer.swizzle => {
                let place = b.place(index, offset + at as u64, lane);
                Some(b.buffer.address(place)).filter(|_| b.buffer.in_range(place, 8))?
            }
            _ => return None,
        };
        let aligned = address.is_multiple_of(8);
        Some(address).filter(|_| aligned)?;
        guest::check(&mut self.wave.cache, self.memory, address, 8, write).ok()
    }

    /// Reads a piece of at most four bytes, byte by byte where swizzling may separate them.
    pub(super) fn read_piece(
        &mut self,
        place: Place,
        lane: usize,
        at: u32,
        bytes: u8,
        buffer: Option<&Resource>,
    ) -> Result<u32, (FaultKind, u64)> {
        if self.splits(place, at, bytes) {
            // A dword is in the buffer as a whole or not at all.
            if Self::beyond(place, lane, at, bytes, buffer) {
                return Ok(0);
            }
            let mut value = 0;
            for i in 0..bytes as u32 {
                value |= self.read_piece(place, lane, at + i, 1, buffer)? << (8 * i);
            }
            return Ok(value);
        }
        let p = self.piece(place, lane, at, bytes, false, buffer)?;
        // SAFETY: checked.
        Ok(p.map_or(0, |p| unsafe { guest::read(p, bytes) }))
    }

    pub(super) fn write_piece(
        &mut self,
        place: Place,
        lane: usize,
        at: u32,
        bytes: u8,
        value: u32,
        buffer: Option<&Resource>,
    ) -> Result<(), (FaultKind, u64)> {
        if self.splits(place, at, bytes) {
            if Self::beyond(place, lane, at, bytes, buffer) {
                return Ok(());
            }
            for i in 0..bytes as u32 {
                self.write_piece(place, lane, at + i, 1, value >> (8 * i), buffer)?;
            }
            return Ok(());
        }
        if let Some(p) = self.piece(place, lane, at, bytes, true, buffer)? {
            // SAFETY: checked.
            unsafe { guest::write(p, bytes, value) };
        }
        Ok(())
    }

    /// Whether a piece is out of its buffer's range.
    fn beyond(place: Place, lane: usize, at: u32, bytes: u8, buffer: Option<&Resource>) -> bool {
        match (place, buffer) {
            (Place::Buffer(index, offset), Some(b)) => {
                !b.buffer.in_range(b.place(index, offset + at as u64, lane), bytes as u32)
            }
            _ => false,
        }
    }

    /// Whether a piece crosses a dword of swizzled memory.
    fn splits(&self, place: Place, at: u32, bytes: u8) -> bool {
        match place {
            Place::Scratch(o) => (o.wrapping_add(at) & 3) + bytes as u32 > 4,
            Place::Buffer(_, o) => (o as u32).wrapping_add(at) % 4 + bytes as u32 > 4,
            _ => false,
        }
    }

    fn lane_access(
        &mut self,
        inst: &Inst,
        access: Access,
        place: Place,
        lane: usize,
        buffer: Option<&Resource>,
    ) -> Result<(), (FaultKind, u64)> {
        match access {
            Access::Load { bytes, extend } => {
                let small = bytes.min(4);
                let mut pairs = 0;
                while pairs + 8 <= bytes as u32
                    && let Some(p) = self.pair(place, lane, pairs, false, buffer)
                {
                    // SAFETY: checked and aligned.
                    let value = unsafe { guest::read64(p) };
                    self.set_datum(inst.dst as usize + pairs as usize / 4, lane, 8, value);
                    pairs += 8;
                }
                for i in pairs / 4..bytes.div_ceil(4) as u32 {
                    let value = self.read_piece(place, lane, 4 * i, small, buffer)?;
                    let register = inst.dst as usize + i as usize;
                    let old = self.wave.vgprs[register].0[lane];
                    self.set_lane(register, lane, extend.apply(value, small, old));
                }
            }
            Access::Store { bytes, high } => {
                let small = bytes.min(4);
                let mut pairs = 0;
                while pairs + 8 <= bytes as u32
                    && let Some(p) = self.pair(place, lane, pairs, true, buffer)
                {
                    let value = self.lane64(inst.src[1], pairs as usize / 4, lane);
                    // SAFETY: checked and aligned.
                    unsafe { guest::write64(p, value) };
                    pairs += 8;
                }
                for i in pairs / 4..bytes.div_ceil(4) as u32 {
                    let value = self.lane(inst.src[1], i as usize, lane) >> if high { 16 } else { 0 };
                    self.write_piece(place, lane, 4 * i, small, value, buffer)?;
                }
            }
            Access::Atomic { op, bytes } => {
                let words = bytes as usize / 4;
                let data = self.datum(inst.src[1], 0, lane, bytes);
                let second = if op.has_second() { self.datum(inst.src[1], words, lane, bytes) } else { 0 };
                let mode = self.mode;
                let unit = if matches!(place, Place::Lds(_)) { Unit::Share(&mode) } else { Unit::Cache };
                let old = match self.piece(place, lane, 0, bytes, true, buffer)? {
                    Some(p) if !(p as usize).is_multiple_of(bytes as usize) => {
                        return Err((FaultKind::Misaligned { bytes: bytes as u32 }, p as u64));
                    }
                    // SAFETY: checked and aligned.
                    Some(p) => unsafe {
                        guest::update(p, bytes, |old| op.apply(old, data, second, bytes, unit))
                    },
                    None => 0,
                };
                if inst.returns() {
                    self.set_datum(inst.dst as usize, lane, bytes, old);
                }
            }
        }
        Ok(())
    }

    /// Where memory and LDS exchange a lane's dword (manual 9.1.9): M0 gives the place of lane 0, four bytes a lane.
    /// None beyond the work-group's LDS, where the lane does nothing.
    pub(super) fn lds_slot(&self, inst: &Inst, lane: usize) -> Option<*mut u8> {
        let offset = match inst.row.enc {
            Enc::Mubuf => bits::BUF_OFFSET.get(inst.bits),
            _ => ((bits::FLAT_OFFSET13.get(inst.bits) << 19) as i32 >> 19) as u32,
        };
        let lds = (self.wave.m0() & 0xffff).wrapping_add(offset).wrapping_add(4 * lane as u32);
        self.lds_at(lds, 4, self.group.lds.len())
    }

    fn lane_to_lds(
        &mut self,
        inst: &Inst,
        access: Access,
        place: Place,
        lane: usize,
        buffer: Option<&Resource>,
    ) -> Result<(), (FaultKind, u64)> {
        let Some(p) = self.lds_slot(inst, lane) else { return Ok(()) };
        if inst.op == Op::buffer_store_lds_dword {
            // SAFETY: checked.
            let value = unsafe { guest::read(p, 4) };
            return self.write_piece(place, lane, 0, 4, value, buffer);
        }
        if let Access::Load { bytes, extend } = access {
            let value = self.read_piece(place, lane, 0, bytes.min(4), buffer)?;
            // SAFETY: checked.
            unsafe { guest::write(p, 4, extend.apply(value, bytes.min(4), 0)) };
        }
        Ok(())
    }
}
