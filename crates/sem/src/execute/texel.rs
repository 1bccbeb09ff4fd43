//! Image instructions: what they move between registers and texels (manual 9.3, 9.4). What resources, formats and filters
//! mean is in [`crate::image`], [`mod@crate::format`] and [`crate::sampler`].

use super::transfer::set_status;
use crate::address::{Addressing, ImageFields};
use crate::atomic::{Atomic, Rmw, Unit};
use crate::bus::{At, Bus, Fault, FaultKind, Kind as Access, Space};
use crate::format::Format;
use crate::hwreg::mode;
use crate::image::{Image, Kind, Problem};
use crate::inst::Inst;
use crate::mimg::{Action, Address, Transfer, data_mask, short_data};
use crate::sampler::{Request, Sample, Sampler, Texels};
use crate::soft;
use crate::state::{State, lanes};

use wavemill_isa::encoding::bits;

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

impl Failure {
    fn of(self, lanes: u64) -> Fault {
        match self {
            Failure::Fault(kind, address) => Fault { kind, lanes, address },
            Failure::Problem(p) => {
                Fault { kind: FaultKind::Descriptor { what: p.text() }, lanes, address: 0 }
            }
        }
    }
}

/// An instruction's fields and descriptors.
struct Operation {
    image: Image,
    sampler: Sampler,
    fields: ImageFields,
    /// Components asked for.
    mask: u32,
    /// 16-bit data.
    short_data: bool,
}

/// Reads a lane's address registers one component after the other.
struct Cursor<'a, S> {
    state: &'a S,
    inst: &'a Inst,
    lane: u32,
    /// Next dword, and whether its upper half is next.
    at: u16,
    high: bool,
    short: bool,
}

impl<S: State> Cursor<'_, S> {
    /// A whole dword.
    fn dword(&mut self) -> u32 {
        self.align();
        self.at += 1;
        self.state.lane(self.inst.src[0], self.at - 1, self.lane)
    }

    /// A component: 16 bits of a dword if addresses are short.
    fn component(&mut self) -> u32 {
        if !self.short {
            return self.dword();
        }
        let word = self.state.lane(self.inst.src[0], self.at, self.lane);
        let value = if self.high { word >> 16 } else { word & 0xffff };
        self.at += self.high as u16;
        self.high = !self.high;
        value
    }

    fn float(&mut self) -> f32 {
        let bits = self.component();
        f32::from_bits(if self.short { soft::h2f(bits) } else { bits })
    }

    /// Skips the rest of a dword.
    fn align(&mut self) {
        self.at += self.high as u16;
        self.high = false;
    }
}

/// Texels of an image in memory.
struct Reader<'a, B> {
    state: &'a mut B,
    image: &'a Image,
    format: Format,
    lane: u32,
}

impl<B: Bus> Texels for Reader<'_, B> {
    type Error = Failure;

    fn read(&mut self, level: u32, at: [u32; 3], slice: u32) -> Result<[u32; 4], Failure> {
        let Some(address) = self.image.address(self.format, level, at, slice) else { return Ok([0; 4]) };
        let element = read_texel(address, self.format.bytes(), self.lane, self.state)?;
        let mut texel = self.format.decode_at(element, at[0], at[1]);
        if self.format.components() < 4 {
            texel[3] = self.format.one();
        }
        Ok(texel)
    }
}

/// Executes an image instruction.
pub fn execute<B: Bus>(action: Action, inst: &Inst, state: &mut B) -> Result<(), Fault> {
    let (exec, Addressing::Image(fields)) = (state.exec(), inst.addressing) else { return Ok(()) };
    if exec == 0 {
        return Ok(());
    }
    let operation = Operation::new(inst, fields, state).map_err(|p| Failure::Problem(p).of(exec))?;
    let Some(operation) = operation else {
        unbound(inst, action, exec, state);
        return Ok(());
    };
    let requests = operation.requests(inst, action, state);
    let (mut failed, mut failing, mut warned) = (None, 0u64, 0u64);
    for lane in lanes(exec) {
        let mut one = Lane { state, inst, o: &operation, lane };
        let r = match action {
            Action::Load(t) => one.load(t),
            Action::Store(t) => one.store(t),
            Action::Atomic(op) => one.atomic(op),
            Action::Info => {
                let level = one.cursor().component();
                one.set_components(None, operation.image.info(level));
                Ok(())
            }
            Action::Sample(_) | Action::Gather(..) | Action::Detail => one
                .sample(action, requests[lane as usize])
                .map(|warning| warned |= u64::from(warning) << lane),
        };
        if let Err(failure) = r {
            failing |= 1 << lane;
            failed.get_or_insert(failure);
        }
    }
    if let Some(failure) = failed {
        return Err(failure.of(failing));
    }
    set_status(inst, exec, warned, state);
    Ok(())
}

/// Without an image loads give zeros, and nothing is stored.
fn unbound<B: Bus>(inst: &Inst, action: Action, exec: u64, state: &mut B) {
    let returns = match action {
        Action::Store(_) => false,
        Action::Atomic(_) => inst.returns(),
        _ => true,
    };
    if returns {
        for lane in lanes(exec) {
            for i in 0..(inst.dst_dwords - inst.status as u8) as u16 {
                state.set_vgpr(inst.dst + i, lane, 0);
            }
        }
    }
    set_status(inst, exec, 0, state);
}

/// A texel is in one allocation, or faults as a whole.
fn whole<B: Bus>(at: At, bytes: u8, kind: Access, state: &mut B) -> Result<(), Failure> {
    let checked = state.check(at, bytes, kind != Access::Read);
    checked.map_err(|fault| Failure::Fault(state.refuse(at, bytes, kind, fault), at.address))
}

fn read_texel<B: Bus>(address: u64, bytes: u8, lane: u32, state: &mut B) -> Result<[u32; 4], Failure> {
    let mut texel = [0; 4];
    let first = At::lane(Space::Global, address, lane);
    whole(first, bytes, Access::Read, state)?;
    for (i, word) in texel.iter_mut().enumerate().take(bytes.div_ceil(4) as usize) {
        let part = (bytes - 4 * i as u8).min(4);
        *word = state.read(first.plus(4 * i as u64), part).map_err(|kind| Failure::Fault(kind, address))?;
    }
    Ok(texel)
}

impl Operation {
    /// The fields and descriptors of an instruction; none without an image.
    fn new<S: State>(inst: &Inst, fields: ImageFields, state: &S) -> Result<Option<Operation>, Problem> {
        let level = state.level();
        let word = |first: u8, i: usize| state.sgpr(first as u32 + i as u32);
        let words =
            std::array::from_fn(|i| if i < fields.dwords as usize { word(fields.resource, i) } else { 0 });
        let Some(image) = Image::new(&words, level)? else { return Ok(None) };
        let sampler = fields.sampler.map_or([0; 4], |first| std::array::from_fn(|i| word(first, i)));
        let encoded = inst.encoded();
        Ok(Some(Operation {
            image,
            sampler: Sampler::new(&sampler),
            fields,
            mask: data_mask(&encoded),
            short_data: short_data(&encoded, level),
        }))
    }

    fn cursor<'a, S: State>(&self, inst: &'a Inst, lane: u32, state: &'a S) -> Cursor<'a, S> {
        Cursor { state, inst, lane, at: 0, high: false, short: self.fields.short }
    }

    /// What every lane's address registers say, if the instruction samples. Lanes that are not active take part in the
    /// gradients of their quad.
    fn requests<S: State>(&self, inst: &Inst, action: Action, state: &S) -> Vec<Request> {
        let a = match action {
            Action::Sample(a) | Action::Gather(a, _) => a,
            Action::Detail => Address::default(),
            Action::Load(_) | Action::Store(_) | Action::Atomic(_) | Action::Info => return Vec::new(),
        };
        let kind = self.image.kind;
        let n = kind.dimensions();
        let read = |lane: u32| {
            let mut c = self.cursor(inst, lane, state);
            let mut r = Request { unnormalized: self.fields.unnormalized, ..Request::default() };
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
            if self.fields.array && kind != Kind::D3 {
                let slice = c.float();
                r.slice = if kind.is_layered() { slice } else { 0.0 };
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

    /// The format of texels that are written.
    fn writable(&self) -> Result<Format, Problem> {
        let format = self.image.texels()?;
        if format.edge() == 1 { Ok(format) } else { Err(Problem::ReadOnly) }
    }
}

/// One lane of an instruction.
struct Lane<'a, B> {
    state: &'a mut B,
    inst: &'a Inst,
    o: &'a Operation,
    lane: u32,
}

impl<B: Bus> Lane<'_, B> {
    fn cursor(&self) -> Cursor<'_, B> {
        self.o.cursor(self.inst, self.lane, &*self.state)
    }

    /// The level, coordinates and slice of an instruction without sampler.
    fn place(&self, level: bool) -> (u32, [u32; 3], u32) {
        let mut c = self.cursor();
        let kind = self.o.image.kind;
        let mut at = [0; 3];
        for i in &mut at[..kind.dimensions()] {
            *i = c.component();
        }
        // Indices of images without slices are ignored.
        let slice = if self.o.fields.array && kind != Kind::D3 { c.component() } else { 0 };
        (if level { c.component() } else { 0 }, at, slice)
    }

    /// The address of the lane's texel, and its place in its row and column.
    fn address(&self, format: Format, level: bool) -> Option<(u64, [u32; 3])> {
        let (level, at, slice) = self.place(level);
        let slice = if self.o.image.kind.is_layered() { slice } else { 0 };
        Some((self.o.image.address(format, level, at, slice)?, at))
    }

    /// Puts the components the mask asks for into consecutive registers.
    fn set_components(&mut self, format: Option<Format>, values: [u32; 4]) {
        let (inst, o, lane) = (self.inst, self.o, self.lane);
        let picked = (0..4).filter(|i| o.mask >> i & 1 != 0).map(|i| values[i]);
        let Some(f) = format.filter(|_| o.short_data) else {
            for (i, v) in (0..).zip(picked) {
                self.state.set_vgpr(inst.dst + i, lane, v);
            }
            return;
        };
        let packed = self.packs();
        let mut out = [0; 4];
        for (i, v) in picked.enumerate() {
            let (r, shift) = if packed { (i / 2, 16 * (i % 2)) } else { (i, 0) };
            out[r] |= f.to_d16(v) << shift;
        }
        let registers = (inst.dst_dwords - inst.status as u8) as usize;
        for (i, v) in (0..).zip(out.into_iter().take(registers)) {
            self.state.set_vgpr(inst.dst + i, lane, v);
        }
    }

    /// Whether 16-bit data share registers.
    fn packs(&self) -> bool {
        let n = self.o.mask.count_ones();
        n == 1 || ((self.inst.dst_dwords - self.inst.status as u8) as u32) < n
    }

    fn load(&mut self, t: Transfer) -> Result<(), Failure> {
        let format = self.o.image.texels()?;
        let bytes = format.bytes();
        let raw = match self.address(format, t.level) {
            Some((a, at)) => Some((read_texel(a, bytes, self.lane, self.state)?, at)),
            None => None,
        };
        if t.packed {
            let mut raw = raw.map_or([0; 4], |r| r.0);
            if t.signed && bytes < 4 {
                raw[0] = ((raw[0] << (32 - 8 * bytes as u32)) as i32 >> (32 - 8 * bytes as u32)) as u32;
            }
            self.set_components(None, raw);
            return Ok(());
        }
        let mut texel = [0; 4];
        if let Some((raw, at)) = raw {
            texel = format.decode_at(raw, at[0], at[1]);
            if format.components() < 4 {
                texel[3] = format.one();
            }
        }
        let values = self.o.image.select.load(texel, format.one());
        self.set_components(Some(format), values);
        Ok(())
    }

    fn store(&mut self, t: Transfer) -> Result<(), Failure> {
        let (o, lane) = (self.o, self.lane);
        let format = o.writable()?;
        let Some((address, _)) = self.address(format, t.level) else { return Ok(()) };
        let n = o.mask.count_ones() as usize;
        let word = |r: usize| self.state.lane(self.inst.src[1], r as u16, lane);
        let mut values = [0; 4];
        if o.short_data && !t.packed {
            // The mask only counts (manual 9.2.1).
            let packed = self.packs();
            for (i, v) in values.iter_mut().enumerate().take(n) {
                let (r, shift) = if packed { (i / 2, 16 * (i % 2)) } else { (i, 0) };
                *v = format.from_d16(word(r) >> shift);
            }
        } else {
            for (r, i) in (0..4).filter(|i| o.mask >> i & 1 != 0).enumerate() {
                values[i] = word(r);
            }
        }
        let texel = if t.packed { values } else { format.encode(o.image.select.store(values)) };
        let bytes = format.bytes();
        let first = At::lane(Space::Global, address, lane);
        whole(first, bytes, Access::Write, self.state)?;
        for (i, word) in texel.into_iter().enumerate().take(bytes.div_ceil(4) as usize) {
            let part = (bytes - 4 * i as u8).min(4);
            self.state
                .write(first.plus(4 * i as u64), part, word)
                .map_err(|kind| Failure::Fault(kind, address))?;
        }
        Ok(())
    }

    fn atomic(&mut self, op: Atomic) -> Result<(), Failure> {
        let (inst, lane) = (self.inst, self.lane);
        let format = self.o.writable()?;
        let n = self.o.mask.count_ones() as u8;
        let bytes = 4 * if op.has_second() { n / 2 } else { n };
        if !matches!(bytes, 4 | 8) || format.bytes() != bytes {
            return Err(Problem::AtomicSize.into());
        }
        let data = self.state.datum(inst.src[1], 0, lane, bytes);
        let second =
            if op.has_second() { self.state.datum(inst.src[1], bytes as u16 / 4, lane, bytes) } else { 0 };
        let rmw = Rmw { op, bytes, data, second, unit: Unit::Cache };
        let old = match self.address(format, false) {
            None => 0,
            Some((address, _)) => {
                let at = At::lane(Space::Global, address, lane);
                self.state.update(at, &rmw).map_err(|kind| Failure::Fault(kind, address))?
            }
        };
        if inst.returns() {
            self.state.set_datum(inst.dst, lane, bytes, old);
        }
        Ok(())
    }

    /// Whether LWE warns: the manual has the access return "LOD_CLAMPED = 1" (table of MIMG fields), where the image says MIN_LOD_WARN.
    fn sample(&mut self, action: Action, request: Request) -> Result<bool, Failure> {
        let o = self.o;
        let format = o.image.texels()?;
        let sample = Sample::new(&o.image, &o.sampler, format, request);
        let format = sample.format();
        if action == Action::Detail {
            let d = sample.detail();
            self.set_components(None, [d.clamped.to_bits(), d.raw.to_bits(), 0, 0]);
            return Ok(false);
        }
        // MODE.LOD_CLAMPED is sticky (manual 3.5). What clamps is the image's MIN_LOD, by which drivers say that finer levels are
        // not there yet; the sampler's limits are what the program wants.
        if o.image.min_lod != 0 && sample.lod_clamped() {
            let mode = self.state.mode();
            self.state.set_mode(mode | mode::LOD_CLAMPED);
        }
        let warns = bits::MIMG_LWE.get(self.inst.bits) != 0 && sample.lod_warned();
        let mut texels = Reader { state: &mut *self.state, image: &o.image, format, lane: self.lane };
        let values = match action {
            Action::Gather(_, row) => {
                let component = bits::MIMG_DMASK.get(self.inst.bits).trailing_zeros() as usize & 3;
                sample.gathered(&mut texels, component, row)?
            }
            _ => o.image.select.load(sample.filtered(&mut texels)?, format.one()),
        };
        self.set_components(Some(format), values);
        Ok(warns)
    }
}
