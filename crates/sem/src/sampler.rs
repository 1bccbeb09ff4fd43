//! Samplers (S#) and what they make of texels: addresses, level of detail, filters, comparison (manual 9.4, 9.4.3).
//!
//! The hardware's own arithmetic (eight-bit weights, where anisotropic samples lie) is not documented. This is one
//! algorithm in f32 with the limits the fields give, the same on every host: the table calls it approximate. The faces
//! of a cube are filtered one by one, as with DISABLE_CUBE_WRAP.

use crate::format::{Format, Number};
use crate::image::{Image, Kind, Problem};

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

/// A texel coordinate after clamping. None is the border.
fn wrap(mode: u8, i: i64, n: i64) -> Option<u32> {
    let once = |i: i64| if i < 0 { -1 - i } else { i };
    let inside = |i: i64| (0..n).contains(&i).then_some(i as u32);
    match mode {
        0 => Some(i.rem_euclid(n) as u32),
        1 => {
            let j = i.rem_euclid(2 * n);
            Some(if j < n { j } else { 2 * n - 1 - j } as u32)
        }
        2 => Some(i.clamp(0, n - 1) as u32),
        3 => Some(once(i).min(n - 1) as u32),
        4 | 6 => inside(i),
        _ => inside(once(i)),
    }
}

/// A coordinate in texels, before it is split: the modes with half a border end at the image's edge.
fn limit(mode: u8, u: f32, n: f32) -> f32 {
    match mode {
        4 => u.clamp(0.0, n),
        5 => u.clamp(-n, n),
        _ => u,
    }
}

/// What the parts of a sample instruction's address say.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Request {
    /// Coordinates: as many as the image has dimensions.
    pub at: [f32; 3],
    /// Slice or face.
    pub slice: f32,
    /// Texel offsets.
    pub offset: [i32; 3],
    /// Added to the level of detail.
    pub bias: f32,
    /// What texels are compared with.
    pub reference: Option<f32>,
    /// Change of the coordinates to the next pixel, across and down.
    pub gradient: [[f32; 3]; 2],
    /// The level of detail itself.
    pub lod: Option<f32>,
    /// A lower limit of it.
    pub clamp: Option<f32>,
    /// Coordinates count texels, whatever the sampler says.
    pub unnormalized: bool,
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

/// A sample to be taken.
pub struct Sample<'a> {
    image: &'a Image,
    sampler: &'a Sampler,
    format: Format,
    request: Request,
}

/// Reads a texel: level, coordinates, slice, all of the view and inside it.
pub trait Texels {
    /// What may go wrong.
    type Error: From<Problem>;
    /// The texel's four components, before the destination selects; missing ones are filled in.
    fn read(&mut self, level: u32, at: [u32; 3], slice: u32) -> Result<[u32; 4], Self::Error>;
}

impl<'a> Sample<'a> {
    /// A sample of an image with texels of a format.
    pub fn new(image: &'a Image, sampler: &'a Sampler, format: Format, request: Request) -> Sample<'a> {
        Sample { image, sampler, format: sampler.format(format), request }
    }

    /// The format texels are to be read in.
    pub fn format(&self) -> Format {
        self.format
    }

    fn unnormalized(&self) -> bool {
        self.sampler.unnormalized || self.request.unnormalized
    }

    /// The level of detail (the usual isotropic measure: the longer of the two changes, in texels).
    pub fn detail(&self) -> Detail {
        let s = self.sampler;
        let mut samples = 1;
        let mut line = [0.0; 3];
        let mut raw = match self.request.lod {
            Some(lod) => lod,
            None if self.unnormalized() => 0.0,
            None => {
                let size = self.image.level_size(self.image.base_level).map(|n| n as f32);
                let n = self.image.kind.dimensions();
                let long = |g: [f32; 3]| {
                    let sum: f32 = (0..n).map(|i| g[i] * size[i] * (g[i] * size[i])).sum();
                    sum.sqrt()
                };
                let [h, v] = self.request.gradient;
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
        raw += self.request.bias + s.bias as f32 / 256.0;
        let low = (s.min_lod.max(self.image.min_lod) as f32 / 256.0).max(self.request.clamp.unwrap_or(0.0));
        let high = (s.max_lod as f32 / 256.0).min(self.image.levels().saturating_sub(1) as f32);
        let rounded = if s.mip == 1 && s.preclamp { raw + 0.5 } else { raw };
        // NaN goes to the lower limit.
        let clamped = if rounded > low { rounded.min(high) } else { low.min(high) };
        Detail { clamped, raw, samples, line }
    }

    /// Whether the image has no texels as fine as the access wants: its MIN_LOD is above the level of detail.
    pub fn lod_clamped(&self) -> bool {
        self.detail().raw < self.image.min_lod as f32 / 256.0
    }

    /// Whether the level of detail is below what the image warns of (MIN_LOD_WARN).
    pub fn lod_warned(&self) -> bool {
        self.detail().raw < self.image.min_lod_warn as f32 / 256.0
    }

    /// The filtered texel, or the result of the comparison in its first component.
    pub fn filtered<T: Texels>(&self, texels: &mut T) -> Result<[u32; 4], T::Error> {
        let detail = self.detail();
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
            let at = std::array::from_fn(|d| self.request.at[d] + along * detail.line[d]);
            let weight = 1.0 / detail.samples as f32;
            self.add(texels, level as u32, at, linear, weight * (1.0 - next), &mut sum)?;
            if next > 0.0 {
                self.add(texels, level as u32 + 1, at, linear, weight * next, &mut sum)?;
            }
        }
        Ok(sum.result(self.format))
    }

    /// Four texels' components side by side: around the coordinates counter-clockwise from the lower left, or (`row`) four
    /// in a row.
    pub fn gathered<T: Texels>(
        &self,
        texels: &mut T,
        component: usize,
        row: bool,
    ) -> Result<[u32; 4], T::Error> {
        let level = (self.detail().clamped + 0.5).floor() as u32;
        let corner = self.coordinates(level, self.request.at).map(|u| (u - 0.5).floor() as i64);
        let mut out = [0; 4];
        let places = if row { [[0, 0], [1, 0], [2, 0], [3, 0]] } else { [[0, 1], [1, 1], [1, 0], [0, 0]] };
        for (value, [dx, dy]) in out.iter_mut().zip(places) {
            let texel = self.texel(texels, level, [corner[0] + dx, corner[1] + dy, corner[2]])?;
            *value = match self.request.reference {
                Some(_) => texel[0],
                None => self.image.select.load(texel, self.format.one())[component],
            };
        }
        Ok(out)
    }

    /// Coordinates in texels of a level.
    fn coordinates(&self, level: u32, at: [f32; 3]) -> [f32; 3] {
        let size = self.image.level_size(level + self.image.base_level);
        // The coordinates on a cube's face have one added (V_CUBESC and its companions leave 1 to 2).
        let origin = if self.image.kind == Kind::Cube { 1.0 } else { 0.0 };
        std::array::from_fn(|i| {
            if i >= self.image.kind.dimensions() {
                return 0.5;
            }
            let n = size[i] as f32;
            let u = if self.unnormalized() { at[i] } else { (at[i] - origin) * n };
            // Far outside every image, where integers still have room.
            let u = if u.is_nan() { 0.0 } else { u.clamp(-1e9, 1e9) };
            limit(self.sampler.clamp[i], u, n)
        })
    }

    fn add<T: Texels>(
        &self,
        texels: &mut T,
        level: u32,
        at: [f32; 3],
        linear: bool,
        weight: f32,
        sum: &mut Sum,
    ) -> Result<(), T::Error> {
        let u = self.coordinates(level, at);
        let n = self.image.kind.dimensions();
        let smooth: [bool; 3] = std::array::from_fn(|i| match i {
            2 => n == 3 && self.sampler.z == 2 && !self.format.number.is_integer(),
            i => i < n && linear,
        });
        let size = self.image.level_size(level + self.image.base_level);
        let low: [i64; 3] = std::array::from_fn(|i| {
            let low = if smooth[i] { u[i] - 0.5 } else { u[i] }.floor() as i64;
            // Half a border is seen by filters alone.
            let edge = size[i] as i64;
            match self.sampler.clamp[i] {
                4 | 5 if !smooth[i] => low.clamp(-edge, edge - 1),
                _ => low,
            }
        });
        let part: [f32; 3] =
            std::array::from_fn(|i| if smooth[i] { u[i] - 0.5 - low[i] as f32 } else { 0.0 });
        for corner in 0..8usize {
            let mut w = weight;
            for (i, part) in part.into_iter().enumerate() {
                w *= if corner >> i & 1 != 0 { part } else { 1.0 - part };
            }
            if w == 0.0 {
                continue;
            }
            let place = std::array::from_fn(|i| low[i] + (corner >> i & 1) as i64);
            sum.add(self.texel(texels, level, place)?, w);
        }
        Ok(())
    }

    /// One texel after clamping, or what the comparison makes of it.
    fn texel<T: Texels>(&self, texels: &mut T, level: u32, place: [i64; 3]) -> Result<[u32; 4], T::Error> {
        let size = self.image.level_size(level + self.image.base_level);
        let n = self.image.kind.dimensions();
        let mut at = [0; 3];
        let mut inside = true;
        for i in 0..n {
            let c = place[i].saturating_add(self.request.offset[i] as i64);
            // A cube's face ends at its edge.
            let mode = if self.image.kind == Kind::Cube { 2 } else { self.sampler.clamp[i] };
            match wrap(mode, c, size[i] as i64) {
                Some(c) => at[i] = c,
                None => inside = false,
            }
        }
        let texel = if inside {
            let slices = self.image.slices();
            let slice = match self.image.kind {
                Kind::Cube => {
                    // Eight numbers for the six faces of a cube.
                    let face = self.request.slice.round_ties_even().max(0.0) as u32;
                    face / 8 * 6 + (face % 8).min(5)
                }
                _ => self.request.slice.round_ties_even().max(0.0) as u32,
            };
            texels.read(level, at, slice.min(slices.saturating_sub(1)))?
        } else {
            self.sampler.border(self.format, self.image)?
        };
        Ok(match self.request.reference {
            None => texel,
            Some(reference) => {
                let t = f32::from_bits(texel[0]);
                let reference =
                    if self.format.number == Number::Unorm { reference.clamp(0.0, 1.0) } else { reference };
                let holds = match self.sampler.compare {
                    0 => false,
                    1 => reference < t,
                    2 => reference == t,
                    3 => reference <= t,
                    4 => reference > t,
                    5 => reference != t,
                    6 => reference >= t,
                    _ => true,
                };
                [(holds as u32 as f32).to_bits(); 4]
            }
        })
    }
}

/// Texels added up: by weight, or the least or greatest of them.
struct Sum {
    reduce: u8,
    any: bool,
    sum: [f32; 4],
    last: [u32; 4],
}

impl Sum {
    fn new(reduce: u8) -> Sum {
        Sum { reduce, any: false, sum: [0.0; 4], last: [0; 4] }
    }

    fn add(&mut self, texel: [u32; 4], weight: f32) {
        for (sum, t) in self.sum.iter_mut().zip(texel.map(f32::from_bits)) {
            *sum = match self.reduce {
                1 if self.any => sum.min(t),
                2 if self.any => sum.max(t),
                1 | 2 => t,
                // A single texel is itself, infinities and NaN included.
                _ if !self.any && weight == 1.0 => t,
                _ => *sum + t * weight,
            };
        }
        self.any = true;
        self.last = texel;
    }

    fn result(self, format: Format) -> [u32; 4] {
        if format.number.is_integer() { self.last } else { self.sum.map(f32::to_bits) }
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
        sum += power / (2 * k + 1) as f64;
        power *= square;
    }
    (exponent as f64 + 2.0 * sum * std::f64::consts::LOG2_E) as f32
}
