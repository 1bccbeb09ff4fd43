//! Buffer instructions that convert: MTBUF, and MUBUF's FORMAT instructions (manual 9.1.4). What the bits mean is
//! `sem::format`'s, where they lie `sem::buffer`'s.

use super::Exec;
use super::vmem::{Place, Resource};
use crate::engine::{Event, FaultKind};
use crate::guest;
use crate::program::Inst;
use wavemill_isa::Enc;
use wavemill_isa::encoding::bits;
use wavemill_sem::format::Format;
use wavemill_sem::memory::{Components, Formatted, formatted};

impl Exec<'_> {
    pub(super) fn formatted(&mut self, inst: &Inst) -> Result<(), Event> {
        let exec = self.wave.exec();
        let Some(what) = formatted(inst.op) else { return Ok(()) };
        if self.skips_vector() || exec == 0 {
            return Ok(());
        }
        let resource = self.resource(inst);
        let format = self.element_format(inst, &resource);
        let mut places = [Place::Global(0); 64];
        self.places(inst, exec, Some(&resource), &mut places);
        let mut failed: Option<(FaultKind, u64)> = None;
        let mut lanes = 0u64;
        for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
            let r = if what.store {
                self.store_element(inst, what, format, places[lane], lane, &resource)
            } else {
                self.load_element(inst, what, format, places[lane], lane, &resource)
            };
            if let Err(fault) = r {
                lanes |= 1 << lane;
                failed.get_or_insert(fault);
            }
        }
        if let Some((kind, address)) = failed {
            return Err(self.fault(kind, lanes, self.pc(inst), address));
        }
        self.set_status(inst, exec);
        Ok(())
    }

    /// The format of elements: the instruction's own or the resource's.
    pub(super) fn element_format(&self, inst: &Inst, resource: &Resource) -> Option<Format> {
        if inst.row.enc != Enc::Mtbuf {
            return resource.buffer.format();
        }
        let (dfmt, nfmt) = (bits::MTBUF_DFMT.get(inst.bits), bits::MTBUF_NFMT.get(inst.bits));
        Format::of_buffer(dfmt, nfmt, self.wave.level)
    }

    /// Whether all of an element is there: format instructions are range-checked as a whole (manual 9.1.5.1).
    pub(super) fn element_in_range(place: Place, lane: usize, format: Format, resource: &Resource) -> bool {
        match place {
            Place::Buffer(index, offset) => {
                resource.buffer.in_range(resource.place(index, offset, lane), format.bytes() as u32)
            }
            _ => true,
        }
    }

    fn load_element(
        &mut self,
        inst: &Inst,
        what: Formatted,
        format: Option<Format>,
        place: Place,
        lane: usize,
        resource: &Resource,
    ) -> Result<(), (FaultKind, u64)> {
        let typed = inst.row.enc == Enc::Mtbuf;
        let values = match format {
            Some(f) if !resource.buffer.unbound => {
                let one = f.one();
                if !Self::element_in_range(place, lane, f, resource) {
                    // Nothing but a select of one is one.
                    if typed { [0; 4] } else { resource.buffer.select.load([0; 4], one) }
                } else {
                    let mut texel = [0; 4];
                    let bytes = f.bytes();
                    for (i, word) in texel.iter_mut().enumerate().take(bytes.div_ceil(4) as usize) {
                        let part = (bytes - 4 * i as u8).min(4);
                        *word = self.read_piece(place, lane, 4 * i as u32, part, Some(resource))?;
                    }
                    let mut components = f.decode(texel);
                    // The instruction's own format has no selects: X000, XY00 … (manual 9.1.4). The resource's selects
                    // work on a texel whose missing fourth component is one (manual 9.4.1).
                    if typed {
                        components
                    } else {
                        if f.components() < 4 {
                            components[3] = one;
                        }
                        resource.buffer.select.load(components, one)
                    }
                }
            }
            _ => [0; 4],
        };
        let count = what.count as usize;
        if inst.row.enc == Enc::Mubuf && bits::MUBUF_LDS.get(inst.bits) != 0 {
            if let Some(p) = self.lds_slot(inst, lane) {
                // SAFETY: checked.
                unsafe { guest::write(p, 4, values[0]) };
            }
            return Ok(());
        }
        let dst = inst.dst as usize;
        let half = |i: usize| format.map_or(0, |f| f.to_d16(values[i]));
        match what.components {
            Components::Words => {
                for (i, value) in values.into_iter().enumerate().take(count) {
                    self.set_lane(dst + i, lane, value);
                }
            }
            Components::HighHalf => {
                let low = if inst.sramecc { 0 } else { self.wave.vgprs[dst].0[lane] & 0xffff };
                self.set_lane(dst, lane, low | half(0) << 16);
            }
            Components::Halves if self.packs(inst, count) => {
                for i in (0..count).step_by(2) {
                    let high = if i + 1 < count { half(i + 1) } else { 0 };
                    self.set_lane(dst + i / 2, lane, half(i) | high << 16);
                }
            }
            Components::Halves => {
                for i in 0..count {
                    self.set_lane(dst + i, lane, half(i));
                }
            }
        }
        Ok(())
    }

    /// Whether 16-bit components share registers: the table gave them as many as they need.
    fn packs(&self, inst: &Inst, count: usize) -> bool {
        count == 1 || ((inst.dst_dwords - inst.status as u8) as usize) < count
    }

    fn store_element(
        &mut self,
        inst: &Inst,
        what: Formatted,
        format: Option<Format>,
        place: Place,
        lane: usize,
        resource: &Resource,
    ) -> Result<(), (FaultKind, u64)> {
        let Some(f) = format.filter(|_| !resource.buffer.unbound) else { return Ok(()) };
        if !Self::element_in_range(place, lane, f, resource) {
            return Ok(());
        }
        let count = what.count as usize;
        let packs = self.packs(inst, count);
        let mut values = [0; 4];
        for (i, value) in values.iter_mut().enumerate().take(count) {
            *value = match what.components {
                Components::Words => self.lane(inst.src[1], i, lane),
                Components::HighHalf => f.from_d16(self.lane(inst.src[1], 0, lane) >> 16),
                Components::Halves if packs => {
                    f.from_d16(self.lane(inst.src[1], i / 2, lane) >> (16 * (i % 2)))
                }
                Components::Halves => f.from_d16(self.lane(inst.src[1], i, lane)),
            };
        }
        if inst.row.enc == Enc::Mubuf {
            values = resource.buffer.select.store(values);
        }
        let bytes = f.bytes();
        for (i, word) in f.encode(values).into_iter().enumerate().take(bytes.div_ceil(4) as usize) {
            let part = (bytes - 4 * i as u8).min(4);
            self.write_piece(place, lane, 4 * i as u32, part, word, Some(resource))?;
        }
        Ok(())
    }
}
