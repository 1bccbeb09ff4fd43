//! Image instructions: moves registers and texels. What resources, formats and filters mean is in `sem`.

use super::Exec;
use crate::engine::{Event, FaultKind};
use crate::guest;
use crate::program::Inst;
use wavemill_isa::encoding::bits;
use wavemill_isa::{Form, Role, flag};
use wavemill_sem::atomic::{Atomic, Unit};
use wavemill_sem::format::Format;
use wavemill_sem::image::{Image, Kind, Problem};
use wavemill_sem::mimg::{Action, Address, Transfer, action};
use wavemill_sem::sampler::{Request, Sample, Sampler, Texels};

/// What ends a lane's access.
enum Failure {
    Fault(FaultKind, u64),
    Problem(Problem),
}

impl From<Problem> for Failure {
    fn from(p: Problem) -> Failure {
        Failure::Problem(p)
    }
}

/// An instruction's fields and descriptors.
struct Operation {
    image: Image,
    sampler: Sampler,
    /// Components asked for.
    mask: u32,
    array: bool,
    unnormalized: bool,
    /// 16-bit address components.
    short_address: bool,
    /// 16-bit data.
    short_data: bool,
}

/// Reads a lane's address registers one component after the other.
struct Cursor<'a, 'b> {
    exec: &'a Exec<'b>,
    inst: &'a Inst,
    lane: usize,
    /// Next dword, and whether its upper half is next.
    at: usize,
    high: bool,
    short: bool,
}

impl Cursor<'_, '_> {
    /// A whole dword.
    fn dword(&mut self) -> u32 {
        self.align();
        self.at += 1;
        self.exec.lane(self.inst.src[0], self.at - 1, self.lane)
    }

    /// A component: 16 bits of a dword if addresses are short.
    fn component(&mut self) -> u32 {
        if !self.short {
            return self.dword();
        }
        let word = self.exec.lane(self.inst.src[0], self.at, self.lane);
        let value = if self.high { word >> 16 } else { word & 0xffff };
        self.at += self.high as usize;
        self.high = !self.high;
        value
    }

    fn float(&mut self) -> f32 {
        let bits = self.component();
        f32::from_bits(if self.short { wavemill_sem::soft::h2f(bits) } else { bits })
    }

    /// Skips the rest of a dword.
    fn align(&mut self) {
        self.at += self.high as usize;
        self.high = false;
    }
}

/// Texels of an image in guest memory.
struct Reader<'a, 'b> {
    exec: &'a mut Exec<'b>,
    image: &'a Image,
    format: Format,
}

impl Texels for Reader<'_, '_> {
    type Error = Failure;

    fn read(&mut self, level: u32, at: [u32; 3], slice: u32) -> Result<[u32; 4], Failure> {
        let Some(address) = self.image.address(self.format, level, at, slice) else { return Ok([0; 4]) };
        let element = self.exec.read_texel(address, self.format.bytes())?;
        let mut texel = self.format.decode_at(element, at[0], at[1]);
        if self.format.components() < 4 {
            texel[3] = self.format.one();
        }
        Ok(texel)
    }
}

/// Says where an image's texels lie, all of which are zero.
struct Recorder<'a> {
    image: &'a Image,
    format: Format,
    touched: &'a mut Vec<(u64, u64)>,
}

impl Texels for Recorder<'_> {
    type Error = Problem;

    fn read(&mut self, level: u32, at: [u32; 3], slice: u32) -> Result<[u32; 4], Problem> {
        let address = self.image.address(self.format, level, at, slice);
        self.touched.extend(address.map(|a| (a, self.format.bytes() as u64)));
        Ok([0; 4])
    }
}

impl<'e> Exec<'e> {
    pub(super) fn image(&mut self, inst: &Inst) -> Result<(), Event> {
        let exec = self.wave.exec();
        let Some(action) = action(inst.row) else { return Ok(()) };
        if self.skips_vector() || exec == 0 {
            return Ok(());
        }
        let operation = match self.operation(inst) {
            Ok(operation) => operation,
            Err(p) => return Err(self.refuse(inst, p, exec)),
        };
        let Some(operation) = operation else {
            self.unbound(inst, action, exec);
            return Ok(());
        };
        let requests = self.requests(inst, &operation, action);
        let mut failed: Option<Failure> = None;
        let mut lanes = 0u64;
        for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
            let r = match action {
                Action::Load(t) => self.load_texel(inst, &operation, t, lane),
                Action::Store(t) => self.store_texel(inst, &operation, t, lane),
                Action::Atomic(op) => self.atomic_texel(inst, &operation, op, lane),
                Action::Info => {
                    let level = self.cursor(inst, &operation, lane).component();
                    let info = operation.image.info(level);
                    self.set_components(inst, &operation, None, info, lane);
                    Ok(())
                }
                Action::Sample(_) | Action::Gather(..) | Action::Detail => {
                    self.sample(inst, &operation, action, requests[lane], lane)
                }
            };
            if let Err(failure) = r {
                lanes |= 1 << lane;
                failed.get_or_insert(failure);
            }
        }
        match failed {
            None => {
                self.set_status(inst, exec);
                Ok(())
            }
            Some(Failure::Problem(p)) => Err(self.refuse(inst, p, lanes)),
            Some(Failure::Fault(kind, address)) => Err(self.fault(kind, lanes, self.pc(inst), address)),
        }
    }

    /// The fields and descriptors of an instruction; none without an image.
    fn operation(&self, inst: &Inst) -> Result<Option<Operation>, Problem> {
        let encoded = wavemill_isa::Inst { row: inst.row, form: Form::Base, len: inst.len, bits: inst.bits };
        let word = inst.bits;
        let level = self.wave.level;
        let r128 = bits::MIMG_R128.get(word) != 0;
        let first = encoded.get(Role::Srsrc) * 4;
        // A 128-bit resource before GFX9, where the bit makes addresses short instead.
        let dwords = if r128 && !level.is_gfx9() { 4 } else { 8 };
        let words: [u32; 8] =
            std::array::from_fn(|i| if i < dwords { self.wave.sgpr(first + i as u32) } else { 0 });
        let Some(image) = Image::new(&words, level)? else { return Ok(None) };
        let samples = inst.row.operand(Role::Ssamp).is_some();
        let sampler: [u32; 4] = if samples {
            let first = encoded.get(Role::Ssamp) * 4;
            std::array::from_fn(|i| self.wave.sgpr(first + i as u32))
        } else {
            [0; 4]
        };
        Ok(Some(Operation {
            image,
            sampler: Sampler::new(&sampler),
            mask: data_mask(inst),
            array: bits::MIMG_DA.get(word) != 0,
            unnormalized: bits::MIMG_UNORM.get(word) != 0,
            short_address: level.is_gfx9() && r128,
            short_data: short_data(inst, level.is_vi_plus()),
        }))
    }

    /// Addresses and sizes of the texels that an instruction's active lanes access.
    pub(super) fn touched_texels(&self, inst: &Inst) -> Vec<(u64, u64)> {
        let mut out = Vec::new();
        let (Some(action), Ok(Some(o))) = (action(inst.row), self.operation(inst)) else { return out };
        let Ok(format) = o.image.texels() else { return out };
        let requests = self.requests(inst, &o, action);
        let exec = self.wave.exec();
        for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
            let address = match action {
                Action::Load(t) | Action::Store(t) => self.texel_address(inst, &o, format, t.level, lane),
                Action::Atomic(_) => self.texel_address(inst, &o, format, false, lane),
                Action::Sample(_) | Action::Gather(..) => {
                    let sample = Sample::new(&o.image, &o.sampler, format, requests[lane]);
                    let mut texels = Recorder { image: &o.image, format, touched: &mut out };
                    // What cannot be sampled touches what it touched until then.
                    let _ = match action {
                        Action::Gather(_, row) => sample.gathered(&mut texels, 0, row),
                        _ => sample.filtered(&mut texels),
                    };
                    None
                }
                Action::Info | Action::Detail => None,
            };
            out.extend(address.map(|(a, _)| (a, format.bytes() as u64)));
        }
        out
    }

    fn refuse(&self, inst: &Inst, problem: Problem, lanes: u64) -> Event {
        self.fault(FaultKind::Descriptor { what: problem.text() }, lanes, self.pc(inst), 0)
    }

    /// Without an image loads give zeros, and nothing is stored.
    fn unbound(&mut self, inst: &Inst, action: Action, exec: u64) {
        let returns = match action {
            Action::Store(_) => false,
            Action::Atomic(_) => bits::MIMG_GLC.get(inst.bits) != 0,
            _ => true,
        };
        if returns {
            for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
                for i in 0..(inst.dst_dwords - inst.status as u8) as usize {
                    self.set_lane(inst.dst as usize + i, lane, 0);
                }
            }
        }
        self.set_status(inst, exec);
    }

    fn cursor<'a>(&'a self, inst: &'a Inst, o: &Operation, lane: usize) -> Cursor<'a, 'e> {
        Cursor { exec: self, inst, lane, at: 0, high: false, short: o.short_address }
    }

    /// The level, coordinates and slice of an instruction without sampler.
    fn place(&self, inst: &Inst, o: &Operation, level: bool, lane: usize) -> (u32, [u32; 3], u32) {
        let mut c = self.cursor(inst, o, lane);
        let mut at = [0; 3];
        for i in &mut at[..o.image.kind.dimensions()] {
            *i = c.component();
        }
        // Indices of images without slices are ignored.
        let slice = if o.array && o.image.kind != Kind::D3 { c.component() } else { 0 };
        (if level { c.component() } else { 0 }, at, slice)
    }

    /// The address of a lane's texel, and its place in its row and column.
    fn texel_address(
        &self,
        inst: &Inst,
        o: &Operation,
        format: Format,
        level: bool,
        lane: usize,
    ) -> Option<(u64, [u32; 3])> {
        let (level, at, slice) = self.place(inst, o, level, lane);
        let slice = if o.image.kind.is_layered() { slice } else { 0 };
        Some((o.image.address(format, level, at, slice)?, at))
    }

    /// The format of texels that are written.
    fn writable(o: &Operation) -> Result<Format, Problem> {
        let format = o.image.texels()?;
        if format.edge() == 1 { Ok(format) } else { Err(Problem::ReadOnly) }
    }

    fn read_texel(&mut self, address: u64, bytes: u8) -> Result<[u32; 4], Failure> {
        let p = guest::check(&mut self.wave.cache, self.memory, address, bytes as u64, false)
            .map_err(|kind| Failure::Fault(kind, address))?;
        let mut texel = [0; 4];
        for (i, word) in texel.iter_mut().enumerate().take(bytes.div_ceil(4) as usize) {
            // SAFETY: checked.
            *word = unsafe { guest::read(p.add(4 * i), (bytes - 4 * i as u8).min(4)) };
        }
        Ok(texel)
    }

    /// Puts the components the mask asks for into consecutive registers.
    fn set_components(
        &mut self,
        inst: &Inst,
        o: &Operation,
        format: Option<Format>,
        values: [u32; 4],
        lane: usize,
    ) {
        let picked = (0..4).filter(|i| o.mask >> i & 1 != 0).map(|i| values[i]);
        let Some(f) = format.filter(|_| o.short_data) else {
            for (i, v) in picked.enumerate() {
                self.set_lane(inst.dst as usize + i, lane, v);
            }
            return;
        };
        let packed = self.packs_image(inst, o.mask);
        let mut out = [0; 4];
        for (i, v) in picked.enumerate() {
            let (r, shift) = if packed { (i / 2, 16 * (i % 2)) } else { (i, 0) };
            out[r] |= f.to_d16(v) << shift;
        }
        for (i, v) in out.into_iter().enumerate().take((inst.dst_dwords - inst.status as u8) as usize) {
            self.set_lane(inst.dst as usize + i, lane, v);
        }
    }

    /// Whether 16-bit data share registers.
    fn packs_image(&self, inst: &Inst, mask: u32) -> bool {
        let n = mask.count_ones();
        n == 1 || ((inst.dst_dwords - inst.status as u8) as u32) < n
    }

    fn load_texel(&mut self, inst: &Inst, o: &Operation, t: Transfer, lane: usize) -> Result<(), Failure> {
        let format = o.image.texels()?;
        let address = self.texel_address(inst, o, format, t.level, lane);
        let bytes = format.bytes();
        let raw = match address {
            Some((a, at)) => Some((self.read_texel(a, bytes)?, at)),
            None => None,
        };
        if t.packed {
            let mut raw = raw.map_or([0; 4], |r| r.0);
            if t.signed && bytes < 4 {
                raw[0] = ((raw[0] << (32 - 8 * bytes as u32)) as i32 >> (32 - 8 * bytes as u32)) as u32;
            }
            self.set_components(inst, o, None, raw, lane);
            return Ok(());
        }
        let mut texel = [0; 4];
        if let Some((raw, at)) = raw {
            texel = format.decode_at(raw, at[0], at[1]);
            if format.components() < 4 {
                texel[3] = format.one();
            }
        }
        let values = o.image.select.load(texel, format.one());
        self.set_components(inst, o, Some(format), values, lane);
        Ok(())
    }

    fn store_texel(&mut self, inst: &Inst, o: &Operation, t: Transfer, lane: usize) -> Result<(), Failure> {
        let format = Self::writable(o)?;
        let Some((address, _)) = self.texel_address(inst, o, format, t.level, lane) else { return Ok(()) };
        let n = o.mask.count_ones() as usize;
        let data = inst.src[1];
        let mut values = [0; 4];
        if o.short_data && !t.packed {
            // The mask only counts (manual 9.2.1).
            let packed = self.packs_image(inst, o.mask);
            for (i, v) in values.iter_mut().enumerate().take(n) {
                let (r, shift) = if packed { (i / 2, 16 * (i % 2)) } else { (i, 0) };
                *v = format.from_d16(self.lane(data, r, lane) >> shift);
            }
        } else {
            for (r, i) in (0..4).filter(|i| o.mask >> i & 1 != 0).enumerate() {
                values[i] = self.lane(data, r, lane);
            }
        }
        let texel = if t.packed { values } else { format.encode(o.image.select.store(values)) };
        let bytes = format.bytes();
        let p = guest::check(&mut self.wave.cache, self.memory, address, bytes as u64, true)
            .map_err(|kind| Failure::Fault(kind, address))?;
        for (i, word) in texel.into_iter().enumerate().take(bytes.div_ceil(4) as usize) {
            // SAFETY: checked.
            unsafe { guest::write(p.add(4 * i), (bytes - 4 * i as u8).min(4), word) };
        }
        Ok(())
    }

    fn atomic_texel(&mut self, inst: &Inst, o: &Operation, op: Atomic, lane: usize) -> Result<(), Failure> {
        let format = Self::writable(o)?;
        let n = o.mask.count_ones() as u8;
        let bytes = 4 * if op.has_second() { n / 2 } else { n };
        if !matches!(bytes, 4 | 8) || format.bytes() != bytes {
            return Err(Problem::AtomicSize.into());
        }
        let words = bytes as usize / 4;
        let data = self.datum(inst.src[1], 0, lane, bytes);
        let second = if op.has_second() { self.datum(inst.src[1], words, lane, bytes) } else { 0 };
        let old = match self.texel_address(inst, o, format, false, lane) {
            None => 0,
            Some((address, _)) => {
                let p = guest::check(&mut self.wave.cache, self.memory, address, bytes as u64, true)
                    .map_err(|kind| Failure::Fault(kind, address))?;
                if !address.is_multiple_of(bytes as u64) {
                    return Err(Failure::Fault(FaultKind::Misaligned { bytes: bytes as u32 }, address));
                }
                // SAFETY: checked and aligned.
                unsafe { guest::update(p, bytes, |old| op.apply(old, data, second, bytes, Unit::Cache)) }
            }
        };
        if bits::MIMG_GLC.get(inst.bits) != 0 {
            self.set_datum(inst.dst as usize, lane, bytes, old);
        }
        Ok(())
    }

    /// What every lane's address registers say, if the instruction samples. Lanes that are not active take part in the
    /// gradients of their quad.
    fn requests(&self, inst: &Inst, o: &Operation, action: Action) -> Vec<Request> {
        let a = match action {
            Action::Sample(a) | Action::Gather(a, _) => a,
            Action::Detail => Address::default(),
            _ => return Vec::new(),
        };
        let n = o.image.kind.dimensions();
        let read = |lane: usize| {
            let mut c = self.cursor(inst, o, lane);
            let mut r = Request { unnormalized: o.unnormalized, ..Request::default() };
            if a.offset {
                let word = c.dword();
                r.offset = [0, 8, 16].map(|at| (word << (26 - at)) as i32 >> 26);
            }
            if a.bias {
                r.bias = c.float();
                c.align();
            }
            if a.reference {
                r.reference = Some(f32::from_bits(c.dword()));
            }
            if a.gradient {
                for g in &mut r.gradient {
                    g[..n].iter_mut().for_each(|g| *g = c.float());
                    c.align();
                }
            }
            r.at[..n].iter_mut().for_each(|x| *x = c.float());
            if o.array && o.image.kind != Kind::D3 {
                let slice = c.float();
                r.slice = if o.image.kind.is_layered() { slice } else { 0.0 };
            }
            r.lod = match (a.zero, a.level) {
                (true, _) => Some(0.0),
                (_, true) => Some(c.float()),
                _ => None,
            };
            if a.clamp {
                r.clamp = Some(c.float());
            }
            r
        };
        let mut all: Vec<Request> = (0..64).map(read).collect();
        if !a.gradient {
            for quad in all.as_chunks_mut::<4>().0 {
                let [p, q, s, _] = quad.map(|r| r.at);
                let change = |to: [f32; 3]| std::array::from_fn(|i| to[i] - p[i]);
                let gradient = [change(q), change(s)];
                quad.iter_mut().for_each(|r| r.gradient = gradient);
            }
        }
        all
    }

    fn sample(
        &mut self,
        inst: &Inst,
        o: &Operation,
        action: Action,
        request: Request,
        lane: usize,
    ) -> Result<(), Failure> {
        let format = o.image.texels()?;
        let sample = Sample::new(&o.image, &o.sampler, format, request);
        let format = sample.format();
        if action == Action::Detail {
            let d = sample.detail();
            self.set_components(inst, o, None, [d.clamped.to_bits(), d.raw.to_bits(), 0, 0], lane);
            return Ok(());
        }
        let mut texels = Reader { exec: self, image: &o.image, format };
        let values = match action {
            Action::Gather(_, row) => {
                let component = bits::MIMG_DMASK.get(inst.bits).trailing_zeros() as usize & 3;
                sample.gathered(&mut texels, component, row)?
            }
            _ => o.image.select.load(sample.filtered(&mut texels)?, format.one()),
        };
        self.set_components(inst, o, Some(format), values, lane);
        Ok(())
    }
}

/// Components in registers: the mask, of which nothing means the first; a gather has four.
fn data_mask(inst: &Inst) -> u32 {
    match bits::MIMG_DMASK.get(inst.bits) {
        _ if inst.row.has(flag::GATHER4) => 15,
        0 => 1,
        mask => mask,
    }
}

/// Whether data has 16 bits.
fn short_data(inst: &Inst, vi_plus: bool) -> bool {
    vi_plus && inst.row.has(flag::D16) && bits::MIMG_D16.get(inst.bits) != 0
}

/// Registers of an image instruction's data.
pub(crate) fn data_registers(inst: &Inst, vi_plus: bool, packs: bool) -> u8 {
    let n = data_mask(inst).count_ones() as u8;
    if short_data(inst, vi_plus) && packs { n.div_ceil(2) } else { n }
}
