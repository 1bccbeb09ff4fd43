//! Image instructions: what they move between registers and texels (manual 9.3, 9.4). What resources, formats and filters
//! mean is in [`crate::image`], [`mod@crate::format`] and [`crate::sampler`], what address registers say in
//! [`crate::coordinates`]. What is the same for all lanes is found once ([`Operation`], [`Moved`]), for engines, too, which do it
//! for all lanes at once.

use super::transfer::set_status;
use crate::address::{Addressing, ImageFields};
use crate::atomic::{Atomic, Rmw, Unit};
use crate::bus::{At, Bus, Fault, FaultKind, Kind as Access, Space};
use crate::coordinates::{Coordinates, Registers};
use crate::element::{Element, Parts};
use crate::format::{Format, Layout, Number, Swizzle};
use crate::hwreg::mode;
use crate::image::{Image, Plane, Problem};
use crate::inst::Inst;
use crate::mimg::{Action, Address, Transfer, data_mask, short_data};
use crate::sampler::{Details, Request, Sample, Sampler, Texels};
use crate::scalar::{S32, SMask};
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
pub struct Operation {
    /// The image.
    pub image: Image,
    sampler: Sampler,
    /// How address registers are read.
    pub coordinates: Coordinates,
    /// Components asked for.
    mask: u32,
    /// 16-bit data.
    short_data: bool,
    /// Registers that have the data.
    registers: u8,
}

/// How an instruction moves texels between registers and memory.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// The format of the texels.
    pub format: Format,
    /// Their bytes.
    pub bytes: u8,
    /// What is between registers and an element's dwords; where texels are not [`Self::plain`], their components instead.
    pub element: Element,
    /// The element stands in memory as it is.
    pub plain: bool,
    /// What is loaded is an integer with a sign.
    pub signed: bool,
    /// The address has a level.
    pub level: bool,
}

/// How an instruction samples.
#[derive(Clone, Copy, Debug)]
pub struct Sampled<'a> {
    /// What is sampled.
    pub sample: Sample<'a>,
    /// What address registers have.
    pub address: Address,
    /// Four texels are gathered: which component, and whether they are in a row.
    pub four: Option<(usize, bool)>,
    /// What registers get of four components of 32 bits.
    pub element: Element,
}

/// Levels of an image.
struct Planes<'a> {
    image: &'a Image,
    format: Format,
    known: [Option<Option<Plane>>; 16],
}

impl<'a> Planes<'a> {
    fn new(image: &'a Image, format: Format) -> Planes<'a> {
        Planes { image, format, known: [const { None }; 16] }
    }

    /// The address of a texel, if there is one.
    fn address(&mut self, level: u32, at: [S32; 3], slice: S32) -> Option<u64> {
        let (image, format) = (self.image, self.format);
        let plane = self.known.get_mut(level as usize)?;
        let plane = plane.get_or_insert_with(|| image.plane(format, level)).as_ref()?;
        plane.has(at, slice).0.then(|| plane.address(at, slice).0)
    }
}

/// Texels of an image in memory.
struct Reader<'a, 'b, B> {
    state: &'a mut B,
    planes: &'a mut Planes<'b>,
    lane: u32,
}

impl<B: Bus> Texels<S32> for Reader<'_, '_, B> {
    type Error = Failure;

    fn any(mask: SMask) -> bool {
        mask.0
    }

    fn read(&mut self, level: u32, at: [S32; 3], slice: S32, _: SMask) -> Result<[S32; 4], Failure> {
        let Some(address) = self.planes.address(level, at, slice) else { return Ok([S32(0); 4]) };
        let format = self.planes.format;
        let element = read_texel(address, format.bytes(), self.lane, self.state)?;
        Ok(format.texel_at(element, at[0].0, at[1].0).map(S32))
    }
}

/// What becomes of an instruction's lanes.
#[derive(Default)]
struct Outcome {
    failed: Option<Failure>,
    failing: u64,
    /// Lanes that LWE warns.
    warned: u64,
}

impl Outcome {
    fn note(&mut self, lane: u32, result: Result<(), Failure>) {
        if let Err(failure) = result {
            self.failing |= 1 << lane;
            self.failed.get_or_insert(failure);
        }
    }
}

/// Executes an image instruction.
pub fn execute<B: Bus>(action: Action, inst: &Inst, state: &mut B) -> Result<(), Fault> {
    let (exec, Addressing::Image(fields)) = (state.exec(), inst.addressing) else { return Ok(()) };
    if exec == 0 {
        return Ok(());
    }
    let operation = Operation::new(inst, &fields, state).map_err(|p| Failure::Problem(p).of(exec))?;
    let Some(operation) = operation else {
        unbound(inst, action, exec, state);
        return Ok(());
    };
    let outcome = operation.execute(action, inst, exec, state).map_err(|p| Failure::Problem(p).of(exec))?;
    if let Some(failure) = outcome.failed {
        return Err(failure.of(outcome.failing));
    }
    set_status(inst, exec, outcome.warned, state);
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

/// The selects of the values that a mask has, one after the other, those that are wanted of them.
fn picked(select: Swizzle, mask: u32, wanted: impl Fn(usize) -> bool) -> Swizzle {
    let mut all = [0; 4];
    for (to, n) in all.iter_mut().zip((0..4).filter(|n| mask >> n & 1 != 0)) {
        *to = if wanted(n) { select.0[n] } else { 0 };
    }
    Swizzle(all)
}

/// Components in their order.
const IN_ORDER: Swizzle = Swizzle([4, 5, 6, 7]);

/// Dwords as components that are not converted.
const fn dwords(bytes: u8) -> Format {
    let layout = match bytes.div_ceil(4) {
        1 => [32, 0, 0, 0],
        2 => [32, 32, 0, 0],
        3 => [32, 32, 32, 0],
        _ => [32; 4],
    };
    Format { layout: Layout::Plain(layout), number: Number::Uint }
}

impl Operation {
    /// The fields and descriptors of an instruction; none without an image.
    #[inline]
    pub fn new<S: State>(inst: &Inst, fields: &ImageFields, state: &S) -> Result<Option<Operation>, Problem> {
        let level = state.level();
        let word = |first: u8, i: usize| state.sgpr(first as u32 + i as u32);
        let words =
            std::array::from_fn(|i| if i < fields.dwords as usize { word(fields.resource, i) } else { 0 });
        let Some(image) = Image::new(&words, level)? else { return Ok(None) };
        let sampler = fields.sampler.map_or([0; 4], |first| std::array::from_fn(|i| word(first, i)));
        let encoded = inst.encoded();
        Ok(Some(Operation {
            coordinates: Coordinates::new(fields, image.kind),
            image,
            sampler: Sampler::new(&sampler),
            mask: data_mask(&encoded),
            short_data: short_data(&encoded, level),
            registers: inst.dst_dwords - inst.status as u8,
        }))
    }

    /// How components stand in registers.
    fn parts(&self) -> Parts {
        let n = self.mask.count_ones();
        match self.short_data {
            false => Parts::Words,
            // 16-bit data share registers if there are no more.
            true if n == 1 || (self.registers as u32) < n => Parts::Pairs,
            true => Parts::Halves,
        }
    }

    /// What registers get of components, in the order of a select: those that the mask asks for, one after the other.
    fn element(&self, format: Format, select: Swizzle, parts: Parts) -> Element {
        Element {
            format: Some(format),
            select: Some(picked(select, self.mask, |_| true)),
            unsigned_alpha: false,
            count: self.mask.count_ones() as usize,
            parts,
        }
    }

    /// How texels are loaded.
    pub fn load(&self, t: Transfer) -> Result<Moved, Problem> {
        let format = self.image.texels()?;
        let bytes = format.bytes();
        let (plain, signed, level) =
            (t.packed || format.is_plain(), t.packed && t.signed && bytes < 4, t.level);
        let element = if t.packed {
            let raw = dwords(bytes);
            // Dwords that there are not are zero, the fourth one, too.
            let there = |n: usize| n < bytes.div_ceil(4).into();
            let select = Some(picked(IN_ORDER, self.mask, there));
            Element { select, ..self.element(raw, IN_ORDER, Parts::Words) }
        } else {
            let of = if plain { format } else { format.decoded() };
            self.element(of, self.image.select, self.parts())
        };
        Ok(Moved { format, bytes, element, plain, signed, level })
    }

    /// How texels are stored.
    pub fn store(&self, t: Transfer) -> Result<Moved, Problem> {
        let format = self.writable()?;
        let bytes = format.bytes();
        let plain = t.packed || format.is_plain();
        let element = if t.packed {
            self.element(dwords(bytes), IN_ORDER, Parts::Words)
        } else {
            let of = if plain { format } else { format.decoded() };
            let all = self.image.select;
            let element = self.element(of, all, self.parts());
            let select = match element.parts {
                // A component is the first value whose select names it, whether that one is there or not.
                Parts::Words => picked(all, self.mask, |n| {
                    (all.0[n] as usize).checked_sub(4).and_then(|i| all.stored(i)) == Some(n)
                }),
                // The mask only counts (manual 9.2.1).
                _ => all,
            };
            Element { select: Some(select), ..element }
        };
        Ok(Moved { format, bytes, element, plain, signed: false, level: t.level })
    }

    /// How an atomic operation's texels are found.
    pub fn atomic(&self, op: Atomic) -> Result<Moved, Problem> {
        let format = self.writable()?;
        let n = self.mask.count_ones() as u8;
        let bytes = 4 * if op.has_second() { n / 2 } else { n };
        if !matches!(bytes, 4 | 8) || format.bytes() != bytes {
            return Err(Problem::AtomicSize);
        }
        let element = self.element(dwords(bytes), IN_ORDER, Parts::Words);
        Ok(Moved { format, bytes, element, plain: true, signed: false, level: false })
    }

    /// The format of texels that are written.
    fn writable(&self) -> Result<Format, Problem> {
        let format = self.image.texels()?;
        if format.edge() == 1 { Ok(format) } else { Err(Problem::ReadOnly) }
    }

    /// What registers get of an image's sizes.
    pub fn sizes(&self) -> Element {
        self.element(dwords(16), IN_ORDER, Parts::Words)
    }

    /// Executes an action for all active lanes.
    fn execute<B: Bus>(
        &self,
        action: Action,
        inst: &Inst,
        exec: u64,
        state: &mut B,
    ) -> Result<Outcome, Problem> {
        let mut outcome = Outcome::default();
        let mut one = Lane { state, inst, lane: 0 };
        let moved = match action {
            Action::Load(t) => self.load(t)?,
            Action::Store(t) => self.store(t)?,
            Action::Atomic(op) => self.atomic(op)?,
            Action::Info => {
                let sizes = self.sizes();
                for lane in lanes(exec) {
                    one.lane = lane;
                    one.set(&sizes, Some(&self.image.info(self.coordinates.first(&one))));
                }
                return Ok(outcome);
            }
            Action::Sample(_) | Action::Gather(..) | Action::Detail => {
                self.sample(action, exec, one, &mut outcome)?;
                return Ok(outcome);
            }
        };
        let mut planes = Planes::new(&self.image, moved.format);
        for lane in lanes(exec) {
            one.lane = lane;
            let place = self.coordinates.place(moved.level, &one);
            let address = planes.address(place.level.0, place.at, place.slice);
            let [x, y, _] = place.at;
            let result = match action {
                Action::Store(_) => one.store(&moved, address),
                Action::Atomic(op) => one.atomic(&moved, op, address),
                _ => one.load(&moved, address, [x.0, y.0]),
            };
            outcome.note(lane, result);
        }
        Ok(outcome)
    }

    /// How texels are sampled, and what becomes of them; none if the instruction does something else.
    pub fn sampled(&self, action: Action, inst: &Inst) -> Result<Option<Sampled<'_>>, Problem> {
        let (address, four) = match action {
            Action::Sample(a) => (a, None),
            Action::Gather(a, row) => {
                (a, Some((bits::MIMG_DMASK.get(inst.bits).trailing_zeros() as usize & 3, row)))
            }
            Action::Detail => (Address::default(), None),
            _ => return Ok(None),
        };
        let sample = Sample::new(&self.image, &self.sampler, self.image.texels()?);
        let format = sample.format();
        let element = match action {
            Action::Detail => self.element(dwords(16), IN_ORDER, Parts::Words),
            Action::Gather(..) => self.element(format.decoded(), IN_ORDER, self.parts()),
            _ => self.element(format.decoded(), self.image.select, self.parts()),
        };
        Ok(Some(Sampled { sample, address, four, element }))
    }

    /// Samples, four lanes after four. Lanes that are not active take part in the gradients of their quad.
    fn sample<B: Bus>(
        &self,
        action: Action,
        exec: u64,
        mut one: Lane<'_, B>,
        outcome: &mut Outcome,
    ) -> Result<(), Problem> {
        let Some(Sampled { sample, address: a, four, element }) = self.sampled(action, one.inst)? else {
            return Ok(());
        };
        let mut planes = Planes::new(&self.image, sample.format());
        let mut details = Details::default();
        let warns = bits::MIMG_LWE.get(one.inst.bits) != 0;
        for quad in 0..16 {
            let active = exec >> (4 * quad) & 15;
            if active == 0 {
                continue;
            }
            let mut all: [Request<S32>; 4] = std::array::from_fn(|i| {
                one.lane = 4 * quad + i as u32;
                self.coordinates.request(a, &one)
            });
            if !a.gradient {
                let [p, q, s, _] = all.map(|r| r.at.map(|x| f32::from_bits(x.0)));
                let change = |to: [f32; 3]| std::array::from_fn(|i| S32((to[i] - p[i]).to_bits()));
                let gradient = [change(q), change(s)];
                all.iter_mut().for_each(|r| r.gradient = gradient);
            }
            for i in lanes(active) {
                one.lane = 4 * quad + i;
                let r = &all[i as usize];
                let values = match action {
                    Action::Detail => {
                        let d = details.of(&sample, r);
                        Ok([d.clamped.to_bits(), d.raw.to_bits(), 0, 0].map(S32))
                    }
                    _ => {
                        // MODE.LOD_CLAMPED is sticky (manual 3.5). What clamps is the image's MIN_LOD, by which drivers say that
                        // finer levels are not there yet; the sampler's limits are what the program wants.
                        if sample.lod_clamped(r, &mut details) {
                            let mode = one.state.mode();
                            one.state.set_mode(mode | mode::LOD_CLAMPED);
                        }
                        let lane = one.lane;
                        let mut texels = Reader { state: &mut *one.state, planes: &mut planes, lane };
                        match four {
                            Some(which) => {
                                let level = sample.gathered_level(r, &mut details);
                                sample.gathered(r, level, which, SMask(true), &mut texels)
                            }
                            None => sample.filtered(r, &mut details, &mut texels),
                        }
                    }
                };
                let result = values.map(|values| one.set(&element, Some(&values)));
                // The manual has the access return "LOD_CLAMPED = 1" (table of MIMG fields), where the image says MIN_LOD_WARN.
                if result.is_ok() && warns && action != Action::Detail && sample.lod_warned(r, &mut details) {
                    outcome.warned |= 1 << one.lane;
                }
                outcome.note(one.lane, result);
            }
        }
        Ok(())
    }
}

/// One lane of an instruction.
struct Lane<'a, B> {
    state: &'a mut B,
    inst: &'a Inst,
    lane: u32,
}

impl<B: Bus> Registers<S32> for Lane<'_, B> {
    fn register(&self, n: u16) -> S32 {
        S32(self.state.lane(self.inst.src[0], n, self.lane))
    }
}

impl<B: Bus> Lane<'_, B> {
    /// Puts what an element's dwords come to into registers; without dwords, what is out of range.
    fn set(&mut self, element: &Element, words: Option<&[S32; 4]>) {
        let mut out = [[S32(0)]; 4];
        match words {
            Some(words) => element.load(Some(&words.map(|w| [w])), &mut out),
            None => element.load(None, &mut out),
        }
        for (r, [value]) in (self.inst.dst..).zip(out).take(element.registers()) {
            self.state.set_vgpr(r, self.lane, value.0);
        }
    }

    fn load(&mut self, moved: &Moved, address: Option<u64>, [x, y]: [u32; 2]) -> Result<(), Failure> {
        let Some(address) = address else {
            self.set(&moved.element, None);
            return Ok(());
        };
        let bytes = moved.bytes;
        let mut words = read_texel(address, bytes, self.lane, self.state)?;
        if moved.signed {
            words[0] = ((words[0] << (32 - 8 * bytes as u32)) as i32 >> (32 - 8 * bytes as u32)) as u32;
        }
        if !moved.plain {
            words = moved.format.texel_at(words, x, y);
        }
        self.set(&moved.element, Some(&words.map(S32)));
        Ok(())
    }

    fn store(&mut self, moved: &Moved, address: Option<u64>) -> Result<(), Failure> {
        let Some(address) = address else { return Ok(()) };
        let (src, bytes) = (self.inst.src[1], moved.bytes);
        let mut values = [[S32(0)]; 4];
        let count = moved.element.registers().min(4);
        for (r, value) in (0..).zip(&mut values[..count]) {
            *value = [S32(self.state.lane(src, r, self.lane))];
        }
        let mut words = [[S32(0)]; 4];
        moved.element.store(&values[..count], &mut words);
        let mut texel = words.map(|[w]| w.0);
        if !moved.plain {
            texel = moved.format.encode(texel);
        }
        let first = At::lane(Space::Global, address, self.lane);
        whole(first, bytes, Access::Write, self.state)?;
        for (i, word) in texel.into_iter().enumerate().take(bytes.div_ceil(4) as usize) {
            let part = (bytes - 4 * i as u8).min(4);
            self.state
                .write(first.plus(4 * i as u64), part, word)
                .map_err(|kind| Failure::Fault(kind, address))?;
        }
        Ok(())
    }

    fn atomic(&mut self, moved: &Moved, op: Atomic, address: Option<u64>) -> Result<(), Failure> {
        let (inst, lane, bytes) = (self.inst, self.lane, moved.bytes);
        let data = self.state.datum(inst.src[1], 0, lane, bytes);
        let second =
            if op.has_second() { self.state.datum(inst.src[1], bytes as u16 / 4, lane, bytes) } else { 0 };
        let rmw = Rmw { op, bytes, data, second, unit: Unit::Cache };
        let old = match address {
            None => 0,
            Some(address) => {
                let at = At::lane(Space::Global, address, lane);
                self.state.update(at, &rmw).map_err(|kind| Failure::Fault(kind, address))?
            }
        };
        if inst.returns() {
            self.state.set_datum(inst.dst, lane, bytes, old);
        }
        Ok(())
    }
}
