//! Samplers (S#) and what they make of texels: addresses, level of detail, filters, comparison (manual 9.4, 9.4.3).
//!
//! The hardware's own arithmetic (eight-bit weights, where anisotropic samples lie) is not documented. This is one
//! algorithm in f32 with the limits the fields give, the same on every host: the table calls it approximate. The faces
//! of a cube are filtered one by one, as with DISABLE_CUBE_WRAP.

use crate::format::{Format, Number, Select};
use crate::image::{Image, Kind, Problem};
use crate::lanes::{Long, Mask, Word, d, w};
use crate::scalar::{S32, SMask};

/// A sampler descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sampler {
    clamp: [u8; 3],
    /// Logarithm of the largest number of anisotropic samples.
    aniso: u32,
    compare: u8,
    /// Coordinates count texels.
    pub unnormalized: bool,
    degamma: bool,
    reduce: u8,
    min_lod: u32,
    max_lod: u32,
    bias: i32,
    mag: u8,
    min: u8,
    z: u8,
    mip: u8,
    preclamp: bool,
    border: u8,
}

impl Sampler {
    /// Decodes a descriptor.
    pub fn new(words: &[u32; 4]) -> Sampler {
        let field = |word: usize, at: u32, bits: u32| words[word] >> at & ((1 << bits) - 1);
        Sampler {
            clamp: [0, 3, 6].map(|at| field(0, at, 3) as u8),
            aniso: field(0, 9, 3).min(4),
            compare: field(0, 12, 3) as u8,
            unnormalized: field(0, 15, 1) != 0,
            degamma: field(0, 20, 1) != 0,
            reduce: field(0, 29, 2) as u8,
            min_lod: field(1, 0, 12),
            max_lod: field(1, 12, 12),
            bias: (field(2, 0, 14) << 18) as i32 >> 18,
            mag: field(2, 20, 2) as u8,
            min: field(2, 22, 2) as u8,
            z: field(2, 24, 2) as u8,
            mip: field(2, 26, 2) as u8,
            preclamp: field(2, 28, 1) != 0,
            border: field(3, 30, 2) as u8,
        }
    }

    /// The format texels are read in: FORCE_DEGAMMA reads normalised ones as gamma-encoded.
    pub fn format(&self, format: Format) -> Format {
        match format.number {
            Number::Unorm if self.degamma => Format { number: Number::Srgb, ..format },
            _ => format,
        }
    }

    /// The border color, in the order of an image's components.
    fn border(&self, format: Format, image: &Image) -> Result<[u32; 4], Problem> {
        let one = format.one();
        let color = match self.border {
            0 => [0; 4],
            1 => [0, 0, 0, one],
            2 => [one; 4],
            _ => return Err(Problem::BorderTable),
        };
        Ok(image.border_order.map(|i| color[i as usize]))
    }
}

/// The remainder of a signed number by one of up to 2¹⁵, none less than zero.
#[inline(always)]
fn remainder<W: Word>(i: W, n: u32) -> W {
    if n.is_power_of_two() {
        return i & w(n - 1);
    }
    // The product is so near to the quotient that only a quotient that is an integer may end below itself.
    let quotient = i.i2d().fmul(d(1.0 / n as f64)).ffloor().d2i();
    let rest = i - quotient * w(n);
    W::select(rest.eq(w(n)), w(0), rest)
}

/// What lies before zero mirrored at it.
#[inline(always)]
fn once<W: Word>(i: W) -> W {
    W::select(i.lt_i(w(0)), !i, i)
}

/// A texel coordinate after clamping, and whether it is inside; else it is the border.
#[inline(always)]
fn wrap<W: Word>(mode: u8, i: W, n: u32) -> (W, W::Mask) {
    let last = w::<W>(n - 1);
    let all = W::Mask::ones();
    match mode {
        0 => (remainder(i, n), all),
        1 => {
            let j = remainder(i, 2 * n);
            (W::select(j.lt_u(w(n)), j, w::<W>(2 * n - 1) - j), all)
        }
        2 => (i.max_i(w(0)).min_i(last), all),
        3 => (once(i).min_i(last), all),
        4 | 6 => (i, i.lt_u(w(n))),
        _ => {
            let i = once(i);
            (i, i.lt_u(w(n)))
        }
    }
}

/// A number brought between two others; a NaN stays.
#[inline(always)]
fn clamp<W: Word>(x: W, least: f32, greatest: f32) -> W {
    let (least, greatest) = (w::<W>(least.to_bits()), w::<W>(greatest.to_bits()));
    let x = W::select(x.flt(least), least, x);
    W::select(greatest.flt(x), greatest, x)
}

/// A coordinate in texels, before it is split: the modes with half a border end at the image's edge.
#[inline(always)]
fn limit<W: Word>(mode: u8, u: W, n: f32) -> W {
    match mode {
        4 => clamp(u, 0.0, n),
        5 => clamp(u, -n, n),
        _ => u,
    }
}

/// What the parts of a sample instruction's address say. Numbers are f32 but for the offsets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Request<W> {
    /// Coordinates: as many as the image has dimensions.
    pub at: [W; 3],
    /// Slice or face.
    pub slice: W,
    /// Texel offsets.
    pub offset: [W; 3],
    /// Added to the level of detail.
    pub bias: W,
    /// What texels are compared with.
    pub reference: Option<W>,
    /// Change of the coordinates to the next pixel, across and down.
    pub gradient: [[W; 3]; 2],
    /// The level of detail itself.
    pub lod: Option<W>,
    /// A lower limit of it.
    pub clamp: Option<W>,
    /// Coordinates count texels, whatever the sampler says.
    pub unnormalized: bool,
}

impl<W: Word> Request<W> {
    /// One of the texel at zero.
    #[inline(always)]
    pub fn new(unnormalized: bool) -> Request<W> {
        let none = [w(0); 3];
        Request {
            at: none,
            slice: w(0),
            offset: none,
            bias: w(0),
            reference: None,
            gradient: [none; 2],
            lod: None,
            clamp: None,
            unnormalized,
        }
    }
}

/// A register's bits as a number.
fn float(x: S32) -> f32 {
    f32::from_bits(x.0)
}

/// Level of detail: as it will be used, as computed, and how many samples along which line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Detail {
    /// Within the limits of sampler, image and instruction.
    pub clamped: f32,
    /// Before them.
    pub raw: f32,
    samples: u32,
    line: [f32; 3],
}

/// The last level of detail that was computed: neighbours often have the same.
#[derive(Default)]
pub struct Details {
    last: Option<(Request<S32>, Detail)>,
}

impl Details {
    /// That of a sample.
    pub fn of(&mut self, sample: &Sample<'_>, r: &Request<S32>) -> Detail {
        if let Some((last, detail)) = &self.last
            && (last.gradient, last.lod, last.bias, last.clamp) == (r.gradient, r.lod, r.bias, r.clamp)
        {
            return *detail;
        }
        let detail = sample.detail(r);
        self.last = Some((*r, detail));
        detail
    }
}

/// What samples of an image have in common.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    image: &'a Image,
    sampler: &'a Sampler,
    format: Format,
    border: Result<[u32; 4], Problem>,
}

/// Reads texels.
pub trait Texels<W: Word> {
    /// What may go wrong.
    type Error: From<Problem>;
    /// Whether there are lanes in a mask.
    fn any(mask: W::Mask) -> bool;
    /// Texels' four components, before the destination selects; missing ones are filled in. Level, coordinates and slices are of
    /// the view, and inside it, in the lanes that are wanted; the others are not read.
    fn read(&mut self, level: u32, at: [W; 3], slice: W, wanted: W::Mask) -> Result<[W; 4], Self::Error>;
}

impl<'a> Sample<'a> {
    /// Samples of an image with texels of a format.
    pub fn new(image: &'a Image, sampler: &'a Sampler, format: Format) -> Sample<'a> {
        let format = sampler.format(format);
        Sample { image, sampler, format, border: sampler.border(format, image) }
    }

    /// The format texels are to be read in.
    pub fn format(&self) -> Format {
        self.format
    }

    #[inline(always)]
    fn unnormalized<W>(&self, r: &Request<W>) -> bool {
        self.sampler.unnormalized || r.unnormalized
    }

    /// The level of detail (the usual isotropic measure: the longer of the two changes, in texels).
    fn detail(&self, r: &Request<S32>) -> Detail {
        let s = self.sampler;
        let mut samples = 1;
        let mut line = [0.0; 3];
        let mut raw = match r.lod {
            Some(lod) => float(lod),
            None if self.unnormalized(r) => 0.0,
            None => {
                let size = self.image.level_size(self.image.base_level).map(|n| n as f32);
                let n = self.image.kind.dimensions();
                let long = |g: [f32; 3]| {
                    let sum: f32 = (0..n).map(|i| g[i] * size[i] * (g[i] * size[i])).sum();
                    sum.sqrt()
                };
                let [h, v] = r.gradient.map(|g| g.map(float));
                let (across, down) = (long(h), long(v));
                let (major, minor) = if across >= down { (across, down) } else { (down, across) };
                let mut step = major;
                if s.aniso > 0 && s.min >= 2 && major > minor {
                    let ratio = (major / minor.max(major / 16.0)).ceil();
                    samples = (ratio as u32).clamp(1, 1 << s.aniso);
                    step = major / samples as f32;
                    line = if across >= down { h } else { v };
                }
                log2(step)
            }
        };
        raw += float(r.bias) + s.bias as f32 / 256.0;
        let low = (s.min_lod.max(self.image.min_lod) as f32 / 256.0).max(r.clamp.map_or(0.0, float));
        let high = (s.max_lod as f32 / 256.0).min(self.image.levels().saturating_sub(1) as f32);
        let rounded = if s.mip == 1 && s.preclamp { raw + 0.5 } else { raw };
        // NaN goes to the lower limit.
        let clamped = if rounded > low { rounded.min(high) } else { low.min(high) };
        Detail { clamped, raw, samples, line }
    }

    /// Whether the image has no texels as fine as the access wants: its MIN_LOD is above the level of detail.
    pub fn lod_clamped(&self, r: &Request<S32>, details: &mut Details) -> bool {
        self.image.min_lod != 0 && details.of(self, r).raw < self.image.min_lod as f32 / 256.0
    }

    /// Whether the level of detail is below what the image warns of (MIN_LOD_WARN).
    pub fn lod_warned(&self, r: &Request<S32>, details: &mut Details) -> bool {
        details.of(self, r).raw < self.image.min_lod_warn as f32 / 256.0
    }

    /// Whether texels are filtered, if the level of detail makes no difference: all of a sample is of the first level.
    #[inline(always)]
    pub fn first_level<W>(&self, r: &Request<W>) -> Option<bool> {
        let (s, integer) = (self.sampler, self.format.number.is_integer());
        let one_level = s.mip == 0 || self.has_one_level();
        let one_filter = (s.mag ^ s.min) & 1 == 0 || integer;
        let one_sample = s.aniso == 0 || s.min < 2 || r.lod.is_some() || self.unnormalized(r);
        (one_level && one_filter && one_sample).then_some(s.mag & 1 != 0 && !integer)
    }

    /// Whether the image has no other level than the first.
    #[inline(always)]
    pub fn has_one_level(&self) -> bool {
        self.image.levels() <= 1
    }

    /// The filtered texel, or the result of the comparison in its first component.
    pub fn filtered<T: Texels<S32>>(
        &self,
        r: &Request<S32>,
        details: &mut Details,
        texels: &mut T,
    ) -> Result<[S32; 4], T::Error> {
        if let Some(linear) = self.first_level(r) {
            return self.simple(r, linear, SMask(true), texels);
        }
        let detail = details.of(self, r);
        let s = self.sampler;
        let filter = if detail.raw > 0.0 { s.min } else { s.mag };
        let linear = filter & 1 != 0 && !self.format.number.is_integer();
        let (level, next) = match s.mip {
            0 => (0.0, 0.0),
            2 if linear || !self.format.number.is_integer() => {
                (detail.clamped.floor(), detail.clamped - detail.clamped.floor())
            }
            _ if s.preclamp => (detail.clamped.floor(), 0.0),
            _ => ((detail.clamped + 0.5).floor(), 0.0),
        };
        let mut sum = Sum::new(s.reduce);
        for i in 0..detail.samples {
            // Along the line from half a step before the coordinates to half a step behind.
            let along = (i as f32 + 0.5) / detail.samples as f32 - 0.5;
            let at = std::array::from_fn(|d| float(r.at[d]) + along * detail.line[d]);
            let weight = 1.0 / detail.samples as f32;
            let part = Request { at: at.map(|x: f32| S32(x.to_bits())), ..*r };
            for (level, share) in [(level as u32, 1.0 - next), (level as u32 + 1, next)] {
                if share > 0.0 {
                    let weight = S32((weight * share).to_bits());
                    self.add(texels, level, &part, linear, weight, SMask(true), &mut sum)?;
                }
            }
        }
        Ok(sum.result(self.format))
    }

    /// The same in the first level, where that is all: [`Self::first_level`] says so, and whether texels are filtered.
    #[inline(always)]
    pub fn simple<W: Word, T: Texels<W>>(
        &self,
        r: &Request<W>,
        linear: bool,
        wanted: W::Mask,
        texels: &mut T,
    ) -> Result<[W; 4], T::Error> {
        let mut sum = Sum::new(self.sampler.reduce);
        self.add(texels, 0, r, linear, w(1f32.to_bits()), wanted, &mut sum)?;
        Ok(sum.result(self.format))
    }

    /// The level that four texels are gathered from.
    pub fn gathered_level(&self, r: &Request<S32>, details: &mut Details) -> u32 {
        if self.has_one_level() { 0 } else { (details.of(self, r).clamped + 0.5).floor() as u32 }
    }

    /// Four texels' components side by side: around the coordinates counter-clockwise from the lower left, or (`row`) four
    /// in a row.
    #[inline(always)]
    pub fn gathered<W: Word, T: Texels<W>>(
        &self,
        r: &Request<W>,
        level: u32,
        (component, row): (usize, bool),
        wanted: W::Mask,
        texels: &mut T,
    ) -> Result<[W; 4], T::Error> {
        let half = w::<W>(0.5f32.to_bits());
        let mut corner = self.coordinates(level, r);
        for u in &mut corner {
            *u = u.fsub(half).ffloor().f2i();
        }
        let mut out = [w(0); 4];
        let places = if row { [[0, 0], [1, 0], [2, 0], [3, 0]] } else { [[0, 1], [1, 1], [1, 0], [0, 0]] };
        for (value, [dx, dy]) in out.iter_mut().zip(places) {
            let place = [corner[0] + w(dx), corner[1] + w(dy), corner[2]];
            let texel = self.texel(texels, level, r, place, wanted)?;
            *value = match (r.reference, self.image.select.value(component, self.format.one())) {
                (Some(_), _) => texel[0],
                (None, Select::Constant(c)) => w(c),
                (None, Select::Component(i)) => texel[i],
            };
        }
        Ok(out)
    }

    /// Coordinates in texels of a level.
    #[inline(always)]
    fn coordinates<W: Word>(&self, level: u32, r: &Request<W>) -> [W; 3] {
        let size = self.image.level_size(level + self.image.base_level);
        let mut all = [w(0.5f32.to_bits()); 3];
        for (i, u) in all.iter_mut().enumerate().take(self.image.kind.dimensions()) {
            let n = size[i] as f32;
            *u = r.at[i];
            if !self.unnormalized(r) {
                // The coordinates on a cube's face have one added (V_CUBESC and its companions leave 1 to 2).
                if self.image.kind == Kind::Cube {
                    *u = u.fsub(w(1f32.to_bits()));
                }
                *u = u.fmul(w(n.to_bits()));
            }
            // Far outside every image, where integers still have room.
            let number = W::select(u.funord(*u), w(0), *u);
            *u = limit(self.sampler.clamp[i], clamp(number, -1e9, 1e9), n);
        }
        all
    }

    /// Adds what there is of a level to a sum.
    #[expect(clippy::too_many_arguments)]
    #[inline(always)]
    fn add<W: Word, T: Texels<W>>(
        &self,
        texels: &mut T,
        level: u32,
        r: &Request<W>,
        linear: bool,
        weight: W,
        wanted: W::Mask,
        sum: &mut Sum<W>,
    ) -> Result<(), T::Error> {
        let u = self.coordinates(level, r);
        let n = self.image.kind.dimensions();
        let smooth =
            [linear, linear && n > 1, n == 3 && self.sampler.z == 2 && !self.format.number.is_integer()];
        let size = self.image.level_size(level + self.image.base_level);
        let (zero, one) = (w::<W>(0), w::<W>(1f32.to_bits()));
        let (mut low, mut part) = ([zero; 3], [zero; 3]);
        for i in 0..n {
            let from = if smooth[i] { u[i].fsub(w(0.5f32.to_bits())) } else { u[i] };
            low[i] = from.ffloor().f2i();
            if smooth[i] {
                part[i] = from.fsub(low[i].i2f());
            } else if matches!(self.sampler.clamp[i], 4 | 5) {
                // Half a border is seen by filters alone.
                low[i] = low[i].max_i(w(size[i].wrapping_neg())).min_i(w(size[i] - 1));
            }
        }
        for corner in 0..8usize {
            // What is not filtered has no part in the texels above.
            if (0..3).any(|i| corner >> i & 1 != 0 && !smooth[i]) {
                continue;
            }
            let (mut weight, mut place) = (weight, low);
            for i in 0..3 {
                let above = corner >> i & 1 != 0;
                if smooth[i] {
                    weight = weight.fmul(if above { part[i] } else { one.fsub(part[i]) });
                }
                place[i] = place[i] + w(above.into());
            }
            let wanted = wanted & !weight.feq(zero);
            if T::any(wanted) {
                let texel = self.texel(texels, level, r, place, wanted)?;
                sum.add(texel, weight, wanted);
            }
        }
        Ok(())
    }

    /// One texel after clamping, or what the comparison makes of it.
    #[inline(always)]
    fn texel<W: Word, T: Texels<W>>(
        &self,
        texels: &mut T,
        level: u32,
        r: &Request<W>,
        place: [W; 3],
        wanted: W::Mask,
    ) -> Result<[W; 4], T::Error> {
        let size = self.image.level_size(level + self.image.base_level);
        let mut at = [w(0); 3];
        let mut inside = W::Mask::ones();
        for i in 0..self.image.kind.dimensions() {
            // A cube's face ends at its edge.
            let mode = if self.image.kind == Kind::Cube { 2 } else { self.sampler.clamp[i] };
            let (c, there) = wrap(mode, place[i] + r.offset[i], size[i]);
            (at[i], inside) = (c, inside & there);
        }
        let mut texel = [w(0); 4];
        if T::any(wanted & inside) {
            let mut slice = w(0);
            if self.image.kind.is_layered() {
                slice = r.slice.frint().f2u();
                if self.image.kind == Kind::Cube {
                    // Eight numbers for the six faces of a cube.
                    slice = slice.shr(w(3)) * w(6) + (slice & w(7)).min_u(w(5));
                }
                slice = slice.min_u(w(self.image.slices().saturating_sub(1)));
            }
            texel = texels.read(level, at, slice, wanted & inside)?;
        }
        if T::any(wanted & !inside) {
            let border = self.border?;
            for (t, border) in texel.iter_mut().zip(border) {
                *t = W::select(inside, *t, w(border));
            }
        }
        let Some(reference) = r.reference else { return Ok(texel) };
        let t = texel[0];
        let reference =
            if self.format.number == Number::Unorm { clamp(reference, 0.0, 1.0) } else { reference };
        let holds = match self.sampler.compare {
            0 => W::Mask::zeros(),
            1 => reference.flt(t),
            2 => reference.feq(t),
            3 => reference.flt(t) | reference.feq(t),
            4 => t.flt(reference),
            5 => !reference.feq(t),
            6 => t.flt(reference) | reference.feq(t),
            _ => W::Mask::ones(),
        };
        Ok([W::select(holds, w(1f32.to_bits()), w(0)); 4])
    }
}

/// Texels added up: by weight, or the least or greatest of them.
struct Sum<W: Word> {
    reduce: u8,
    any: W::Mask,
    sum: [W; 4],
    last: [W; 4],
}

impl<W: Word> Sum<W> {
    #[inline(always)]
    fn new(reduce: u8) -> Sum<W> {
        Sum { reduce, any: W::Mask::zeros(), sum: [w(0); 4], last: [w(0); 4] }
    }

    #[inline(always)]
    fn add(&mut self, texel: [W; 4], weight: W, wanted: W::Mask) {
        let first = !self.any;
        for ((sum, last), t) in self.sum.iter_mut().zip(&mut self.last).zip(texel) {
            // Of a number and a NaN, the number; of two zeros the first.
            let (before, replaces) = match self.reduce {
                1 => (*sum, t.flt(*sum) | sum.funord(*sum)),
                2 => (*sum, sum.flt(t) | sum.funord(*sum)),
                // A single texel is itself, infinities and NaN included.
                _ => (sum.fadd(t.fmul(weight)), W::Mask::zeros()),
            };
            let alone = match self.reduce {
                1 | 2 => first,
                _ => first & weight.feq(w(1f32.to_bits())),
            };
            *sum = W::select(wanted, W::select(alone | replaces, t, before), *sum);
            *last = W::select(wanted, t, *last);
        }
        self.any = self.any | wanted;
    }

    #[inline(always)]
    fn result(self, format: Format) -> [W; 4] {
        if format.number.is_integer() { self.last } else { self.sum }
    }
}

/// The logarithm of a length, with arithmetic that is the same everywhere; a very small number for zero.
fn log2(x: f32) -> f32 {
    if x.is_nan() || x <= 0.0 {
        return -128.0;
    }
    if x.is_infinite() {
        return 128.0;
    }
    let bits = (x as f64).to_bits();
    let exponent = (bits >> 52) as i32 - 1023;
    let m = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    // ln m = 2 artanh((m - 1) / (m + 1)), by its series; the argument is at most a third.
    let t = (m - 1.0) / (m + 1.0);
    let square = t * t;
    let mut power = t;
    let mut sum = 0.0;
    for k in 0..24 {
        let next = sum + power / (2 * k + 1) as f64;
        // What follows is less, and changes as little.
        if next == sum {
            break;
        }
        sum = next;
        power *= square;
    }
    (exponent as f64 + 2.0 * sum * std::f64::consts::LOG2_E) as f32
}
