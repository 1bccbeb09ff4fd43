//! Image resources (T#): decoding, and where a texel lies (manual 9.4.2; the fields GFX6 to GFX8 have elsewhere follow
//! their register headers).
//!
//! Linear images have rows of `pitch` texels, slices one after another, texels in the order of their coordinates; others
//! may be tiled in the ways of [`crate::tiling`].
//!
//! The manual does not say where the levels of a linear image lie. On GFX9 they do as AMD's address library (addrlib in
//! Mesa) has it: below one another in each slice, in rows of one length. GFX6 to GFX8's are not known as well; here they
//! follow one another, each beginning at a multiple of 256 bytes, with rows of the halved pitch rounded up to 256 bytes
//! and all slices of a level together.

use crate::format::{Format, Swizzle};
use crate::lanes::{Long, Word, w};
use crate::scalar::S32;
use crate::tiling::{self, Block, Tiling};
use wavemill_isa::Level;

/// The kinds of images.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    D1,
    D2,
    D3,
    Cube,
    D1Array,
    D2Array,
    Msaa,
    MsaaArray,
}

impl Kind {
    /// Coordinates without a slice.
    pub const fn dimensions(self) -> usize {
        match self {
            Kind::D1 | Kind::D1Array => 1,
            Kind::D3 => 3,
            _ => 2,
        }
    }

    /// Whether it has slices that an address may name.
    pub const fn is_layered(self) -> bool {
        matches!(self, Kind::Cube | Kind::D1Array | Kind::D2Array | Kind::MsaaArray)
    }

    /// Whether texels have samples.
    pub const fn is_multisampled(self) -> bool {
        matches!(self, Kind::Msaa | Kind::MsaaArray)
    }
}

/// Why an image cannot be accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Problem {
    /// The type is that of a buffer, or reserved.
    NotAnImage,
    /// Tiled or swizzled memory, whose layout is not known: the mode, where it has a name.
    Tiled(Option<&'static str>),
    /// A tiling that is known, but not for images of this kind.
    TiledKind,
    /// Multisampled: such images are never linear.
    Multisampled,
    /// Compressed with metadata (DCC).
    Compressed,
    /// Data or number format that no texel is known to have.
    Format,
    /// An atomic on texels that are not of 32 or 64 bits.
    AtomicSize,
    /// A store or an atomic on compressed texels.
    ReadOnly,
    /// A border color from a table that only a graphics driver sets up.
    BorderTable,
}

impl Problem {
    /// For fault reports: what the image is.
    pub const fn text(self) -> &'static str {
        match self {
            Problem::NotAnImage => "a resource that is not an image",
            Problem::Tiled(Some(mode)) => mode,
            Problem::Tiled(None) => {
                "a tiled image whose layout is not known (linear ones and simple tilings work)"
            }
            Problem::TiledKind => {
                "a tiled image with levels or of a kind whose layout is not known in its tiling"
            }
            Problem::Multisampled => "a multisampled image (MSAA), whose layout is not documented",
            Problem::Compressed => "an image compressed with metadata (DCC)",
            Problem::Format => "an image whose data and number format are not a known pair",
            Problem::AtomicSize => "an atomic on an image whose texels are not of its size",
            Problem::ReadOnly => "a store to an image of compressed texels",
            Problem::BorderTable => "a sampler with a border color from a table (BORDER_COLOR_PTR)",
        }
    }
}

/// The order of an image's elements in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Placement {
    Linear,
    Tiled(Tiling),
    /// The mode, where it has a name.
    Unknown(Option<&'static str>),
}

/// An image resource descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Image {
    /// Address.
    pub base: u64,
    /// Type.
    pub kind: Kind,
    /// Texels of the largest level.
    pub size: [u32; 3],
    /// First slice of the view.
    pub first_slice: u32,
    /// Last slice of the view.
    pub last_slice: u32,
    /// Largest level of the view.
    pub base_level: u32,
    /// Smallest level of the view; for multisampled images the logarithm of the number of samples.
    pub last_level: u32,
    /// Smallest LOD that sampling may use, in 256ths.
    pub min_lod: u32,
    /// LOD below which a program that asks for it (LWE) is warned, in 256ths.
    pub min_lod_warn: u32,
    /// Texels from row to row of the largest level; zero to take the width.
    pub pitch: u32,
    /// Destination selects.
    pub select: Swizzle,
    /// Order of a border color's components (GFX9).
    pub border_order: [u8; 4],
    format: Option<Format>,
    /// Levels of the resource, of which the view may have less; none if that is not known.
    resource_levels: Option<u32>,
    placement: Placement,
    compressed: bool,
}

const BORDER_ORDERS: [[u8; 4]; 6] =
    [[0, 1, 2, 3], [0, 3, 1, 2], [3, 2, 1, 0], [3, 0, 1, 2], [2, 1, 0, 3], [1, 0, 3, 2]];

impl Image {
    /// Decodes a descriptor; the last four dwords of a 128-bit one are zero. None for unbound ones: all zeros, or of
    /// the data format INVALID.
    pub fn new(words: &[u32; 8], level: Level) -> Result<Option<Image>, Problem> {
        let field = |word: usize, at: u32, bits: u32| words[word] >> at & ((1 << bits) - 1);
        let (dfmt, nfmt) = (field(1, 20, 6), field(1, 26, 4));
        if *words == [0; 8] || dfmt == 0 {
            return Ok(None);
        }
        let kind = match field(3, 28, 4) {
            8 => Kind::D1,
            9 => Kind::D2,
            10 => Kind::D3,
            11 => Kind::Cube,
            12 => Kind::D1Array,
            13 => Kind::D2Array,
            14 => Kind::Msaa,
            15 => Kind::MsaaArray,
            _ => return Err(Problem::NotAnImage),
        };
        let gfx9 = level.is_gfx9();
        let tall = kind.dimensions() > 1;
        let pitch = field(4, 13, if gfx9 { 16 } else { 14 });
        let last_slice = if gfx9 { field(4, 0, 13) } else { field(5, 13, 13) };
        Ok(Some(Image {
            base: (words[0] as u64) << 8 | (field(1, 0, 8) as u64) << 40,
            kind,
            size: [
                field(2, 0, 14) + 1,
                if tall { field(2, 14, 14) + 1 } else { 1 },
                if kind == Kind::D3 { field(4, 0, 13) + 1 } else { 1 },
            ],
            first_slice: field(5, 0, 13),
            last_slice,
            base_level: field(3, 12, 4),
            last_level: field(3, 16, 4),
            min_lod: field(1, 8, 12),
            min_lod_warn: field(6, 0, 12),
            pitch: if pitch == 0 { 0 } else { pitch + 1 },
            select: Swizzle::new(words[3]),
            border_order: BORDER_ORDERS[if gfx9 { field(4, 29, 3) as usize % 6 } else { 0 }],
            format: Format::of_image(dfmt, nfmt, level),
            // GFX9 has them in MAX_MIP. Before, images of several are padded to powers of two (POW2_PAD).
            resource_levels: match (gfx9, field(3, 25, 1), field(3, 12, 8)) {
                (true, ..) => Some(field(5, 28, 4).max(field(3, 16, 4)) + 1),
                (false, 0, 0) => Some(1),
                _ => None,
            },
            // GFX9's swizzle mode 0 is linear. Before, the field names a row of a table that the driver sets up; the
            // drivers of GFX6 to GFX8 have ARRAY_LINEAR_ALIGNED in row 8.
            placement: match field(3, 20, 5) {
                0 if gfx9 => Placement::Linear,
                8 if !gfx9 => Placement::Linear,
                mode => match Tiling::new(mode, level) {
                    Some(tiling) => Placement::Tiled(tiling),
                    None => Placement::Unknown(tiling::refused(mode, level)),
                },
            },
            compressed: level.is_vi_plus() && field(6, 21, 1) != 0,
        }))
    }

    /// The format of its texels, if they can be accessed.
    pub fn texels(&self) -> Result<Format, Problem> {
        if self.kind.is_multisampled() {
            return Err(Problem::Multisampled);
        }
        if let Placement::Unknown(mode) = self.placement {
            return Err(Problem::Tiled(mode));
        }
        if self.compressed {
            return Err(Problem::Compressed);
        }
        let format = self.format.ok_or(Problem::Format)?;
        match self.placement {
            Placement::Tiled(t) if !self.can_be(t, format) => Err(Problem::TiledKind),
            _ => Ok(format),
        }
    }

    /// Whether the layout of an image like this in a tiling is known: bodies have thick tiles on GFX9.
    fn can_be(&self, tiling: Tiling, format: Format) -> bool {
        let flat = self.kind.dimensions() == 2 || self.kind == Kind::D3 && !tiling.is_gfx9();
        let levels = match self.resource_levels {
            Some(1) => self.last_level == 0 && self.base_level == 0,
            Some(_) => tiling.has_levels(),
            None => false,
        };
        flat && levels && tiling.holds(format.bytes())
    }

    /// Texels of a level, counted from the largest of the resource.
    #[inline]
    pub fn level_size(&self, level: u32) -> [u32; 3] {
        self.size.map(|n| (n >> level.min(31)).max(1))
    }

    /// Slices of the view.
    #[inline]
    pub fn slices(&self) -> u32 {
        if self.kind.is_layered() { (self.last_slice + 1).saturating_sub(self.first_slice) } else { 1 }
    }

    /// Levels of the view.
    #[inline]
    pub fn levels(&self) -> u32 {
        if self.kind.is_multisampled() { 1 } else { (self.last_level + 1).saturating_sub(self.base_level) }
    }

    /// Bytes from row to row of a level; of compressed texels, a row is one of blocks.
    fn row(&self, level: u32, format: Format) -> u64 {
        let pitch = if self.pitch == 0 { self.size[0] } else { self.pitch };
        let elements = (pitch >> level).max(1).div_ceil(format.edge()) as u64;
        let bytes = elements * format.bytes() as u64;
        if level == 0 { bytes } else { bytes.next_multiple_of(256) }
    }

    /// Where the texels of a level of the view are. None if there is no such level.
    pub fn plane(&self, format: Format, level: u32) -> Option<Plane> {
        if level >= self.levels() {
            return None;
        }
        let level = level + self.base_level;
        let layered = self.kind.is_layered();
        let edge = format.edge();
        let mut plane = Plane {
            size: self.level_size(level),
            slices: self.slices(),
            layered,
            edge: edge.trailing_zeros(),
            first: self.base,
            steps: [format.bytes().into(), 0, 0],
            block: None,
            tail: 0,
        };
        let slices = if layered { self.last_slice as u64 + 1 } else { 1 };
        if let Placement::Tiled(tiling) = self.placement {
            // Levels that the resource does not have are not there.
            let levels = self.resource_levels.filter(|n| level < *n)?;
            let block = tiling.block(format.bytes())?;
            let size = [self.size[0].div_ceil(edge), self.size[1].div_ceil(edge)];
            // GFX9's drivers write elements.
            let unit = if tiling.is_gfx9() { 1 } else { edge };
            let pitch = (self.pitch != 0).then(|| self.pitch.div_ceil(unit));
            let place = tiling.place(&block, size, pitch, levels, level);
            let row = (place.across as u64) << block.log;
            plane.steps = [1 << block.log, row, place.down as u64 * row];
            plane.skip(place.offset, 1);
            plane.tail = place.offset;
            plane.skip(place.first[0].into(), plane.steps[0]);
            plane.skip(place.first[1].into(), plane.steps[1]);
            plane.block = Some(block);
        } else if self.chained() {
            let row = self.chain_row(format);
            let down = match self.pitch {
                0 => self.chain_heights(format).sum(),
                height => height as u64,
            };
            plane.steps[1..].copy_from_slice(&[row, down * row]);
            plane.skip(self.chain_heights(format).take(level as usize).sum(), row);
        } else {
            for l in 0..level {
                let [_, h, d] = self.level_size(l);
                let all = self.row(l, format) * h.div_ceil(edge) as u64 * d as u64 * slices;
                plane.skip(all.next_multiple_of(256), 1);
            }
            let row = self.row(level, format);
            plane.steps[1..].copy_from_slice(&[row, plane.size[1].div_ceil(edge) as u64 * row]);
        }
        if layered {
            plane.skip(self.first_slice.into(), plane.steps[2]);
        }
        Some(plane)
    }

    /// The address of a texel: level and slice counted from those of the view. None if there is no such texel.
    pub fn address(&self, format: Format, level: u32, at: [u32; 3], slice: u32) -> Option<u64> {
        let plane = self.plane(format, level)?;
        let (at, slice) = (at.map(S32), S32(slice));
        plane.has(at, slice).0.then(|| plane.address(at, slice).0)
    }

    /// Whether all levels of a slice lie below one another, in rows of the same length: linear ones on GFX9.
    fn chained(&self) -> bool {
        self.resource_levels.is_some_and(|n| n > 1)
    }

    /// Bytes from row to row of such levels. The pitch is the height of all, then.
    fn chain_row(&self, format: Format) -> u64 {
        (self.size[0].div_ceil(format.edge()) as u64 * format.bytes() as u64).next_multiple_of(256)
    }

    /// Their heights in elements: each has half of what the one before has, rounded up.
    fn chain_heights(&self, format: Format) -> impl Iterator<Item = u64> {
        let first = self.size[1].div_ceil(format.edge()) as u64;
        let levels = self.resource_levels.unwrap_or(1) as usize;
        std::iter::successors(Some(first), |h| Some(h.div_ceil(2))).take(levels)
    }

    /// Width, height, depth or slices, and levels, at a level of the view: what IMAGE_GET_RESINFO returns. Levels that
    /// do not exist have no size.
    #[inline(always)]
    pub fn info<W: Word>(&self, level: W) -> [W; 4] {
        let there = level.lt_u(w(self.levels()));
        let smaller = level + w(self.base_level);
        let mut out = [w(0), w(0), w(0), w(self.levels())];
        for (size, out) in self.size.into_iter().zip(&mut out) {
            *out = W::select(there, w::<W>(size).shr(smaller).max_u(w(1)), w(0));
        }
        if self.kind.is_layered() {
            out[2] = W::select(there, w(self.slices()), w(0));
        }
        out
    }
}

/// A level of an image: what is the same for all of its texels. Where they are is written over [`Word`], for one lane or many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plane {
    /// Texels.
    pub size: [u32; 3],
    /// Slices of the view: one, where there are none.
    slices: u32,
    /// Slices are what the third step is between; else what has depth has layers there.
    layered: bool,
    /// Texels along the edge of an element, as a power of two.
    edge: u32,
    /// The address of the level in the view's first slice.
    first: u64,
    /// Bytes from element to element (or block to block), row to row, and slice to slice.
    steps: [u64; 3],
    block: Option<Block>,
    /// Bytes of the block before the level.
    tail: u64,
}

impl Plane {
    fn skip(&mut self, count: u64, step: u64) {
        self.first = self.first.wrapping_add(count.wrapping_mul(step));
    }

    /// Which texels there are. Only images with slices are asked for others than the first.
    #[inline(always)]
    pub fn has<W: Word>(&self, at: [W; 3], slice: W) -> W::Mask {
        let [x, y, z] = at;
        let [width, height, depth] = self.size;
        x.lt_u(w(width)) & y.lt_u(w(height)) & z.lt_u(w(depth)) & slice.lt_u(w(self.slices))
    }

    /// How many steps there are to a texel's element, and from there.
    #[inline(always)]
    fn way<W: Word>(&self, [x, y, z]: [W; 3], slice: W) -> ([W; 3], W) {
        let third = if self.layered { slice } else { z };
        let [x, y] = if self.edge == 0 { [x, y] } else { [x.shr(w(self.edge)), y.shr(w(self.edge))] };
        match &self.block {
            None => ([x, y, third], w(0)),
            Some(b) => ([x.shr(w(b.across)), y.shr(w(b.down)), third], b.offset(x, y)),
        }
    }

    /// The address of a texel's element.
    #[inline(always)]
    pub fn address<W: Word>(&self, at: [W; 3], slice: W) -> W::Long {
        let (steps, rest) = self.way(at, slice);
        let mut address = W::Long::splat(self.first) + rest.zext();
        for (n, step) in steps.into_iter().zip(self.steps) {
            address = address + n.mul_wide_u(w(step as u32));
            if step >> 32 != 0 {
                address = address + n.mul_wide_u(w((step >> 32) as u32)).shl(w(32));
            }
        }
        address
    }

    /// The lower half of an element's distance from the level's beginning.
    #[inline(always)]
    pub fn offset<W: Word>(&self, at: [W; 3], slice: W) -> W {
        let (steps, mut offset) = self.way(at, slice);
        for (n, step) in steps.into_iter().zip(self.steps) {
            offset = offset + n * w(step as u32);
        }
        offset
    }

    /// Where all elements are: the first one's address, and the bytes up to the end of the last.
    pub fn extent(&self, bytes: u8) -> (u64, u64) {
        let third = if self.layered { self.slices } else { self.size[2] };
        let last = [self.size[0], self.size[1], third].map(|n| S32(n.saturating_sub(1)));
        let ([x, y, z], _) = self.way([last[0], last[1], last[2]], last[2]);
        let rest = self.block.map_or(bytes.into(), |b| (1 << b.log) - self.tail);
        let [across, down, deep] = self.steps;
        (self.first, x.0 as u64 * across + y.0 as u64 * down + z.0 as u64 * deep + rest)
    }
}
