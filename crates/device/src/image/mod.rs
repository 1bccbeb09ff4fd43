//! Images: what a program asks for, where its texels lie, and the descriptor (T#, or V# for buffers of texels) that
//! kernels find, for each generation.
//!
//! Layouts are linear: rows begin at multiples of 256 bytes, slices follow one another. What instructions make of the
//! descriptor is `wavemill_sem::image`'s.

pub mod format;
pub mod sampler;

use format::{Channels, Texel};
use std::fmt;
use wavemill_isa::Level;

/// Bytes of an image as kernels find it: the descriptor of eight dwords, channel type, channel order, width, zero.
pub const IMAGE_BYTES: u64 = 48;
/// Rows, and so images, begin at multiples of this.
pub const ROW_ALIGN: u64 = 256;

/// The largest image in each dimension.
pub const MAX_SIZE: u64 = 16384;
/// The most slices of an array, and the largest depth.
pub const MAX_SLICES: u64 = 8192;
/// The most texels of a buffer of them.
pub const MAX_BUFFER: u64 = 1 << 27;

/// Shapes of images (HSA's numbers).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Geometry {
    D1 = 0,
    D2 = 1,
    D3 = 2,
    D1Array = 3,
    D2Array = 4,
    D1Buffer = 5,
    D2Depth = 6,
    D2ArrayDepth = 7,
}

impl Geometry {
    /// The geometry of a number.
    pub fn from_number(n: u32) -> Option<Geometry> {
        use Geometry::*;
        [D1, D2, D3, D1Array, D2Array, D1Buffer, D2Depth, D2ArrayDepth].into_iter().find(|g| *g as u32 == n)
    }

    const fn is_flat(self) -> bool {
        matches!(self, Geometry::D1 | Geometry::D1Array | Geometry::D1Buffer)
    }

    const fn is_array(self) -> bool {
        matches!(self, Geometry::D1Array | Geometry::D2Array | Geometry::D2ArrayDepth)
    }
}

/// What a program asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Description {
    /// Its shape.
    pub geometry: Geometry,
    /// Its texels.
    pub channels: Channels,
    /// Texels in each dimension; those that the shape does not have count as 1.
    pub size: [u64; 3],
    /// Slices of an array.
    pub slices: u64,
}

/// Why there is no such image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageError {
    /// The GPU has no instructions for images.
    NoImages,
    /// It has no texels of the format.
    Format,
    /// A dimension is zero or too large.
    Size,
    /// Rows or slices cannot be that far apart.
    Pitch,
    /// The address is no multiple of [`ROW_ALIGN`].
    Address,
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ImageError::NoImages => "the GPU has no instructions for images",
            ImageError::Format => "no texel of the GPU has this channel type and order",
            ImageError::Size => "a dimension is zero or too large",
            ImageError::Pitch => "rows or slices cannot be so far apart",
            ImageError::Address => "images begin at multiples of 256 bytes",
        })
    }
}

impl std::error::Error for ImageError {}

/// Whether a GPU has instructions for images: MI200 has none.
pub fn has_images(level: Level) -> bool {
    level != Level::Gfx90a
}

/// An image whose layout is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Image {
    /// What was asked for, missing dimensions as 1.
    pub description: Description,
    /// Its texels.
    pub texel: Texel,
    /// Bytes from row to row.
    pub row_pitch: u64,
    /// Bytes from slice to slice.
    pub slice_pitch: u64,
    level: Level,
}

/// Whether a format can be used for a shape at all.
pub fn texel(geometry: Geometry, channels: Channels, level: Level) -> Result<Texel, ImageError> {
    if !has_images(level) {
        return Err(ImageError::NoImages);
    }
    let texel = channels.texel(level).ok_or(ImageError::Format)?;
    let depth = matches!(format::ORDERS.get(channels.order as usize), Some(&("depth" | "depth_stencil")));
    let wanted = matches!(geometry, Geometry::D2Depth | Geometry::D2ArrayDepth);
    // Formats above 15 and gamma are not for buffers.
    let plain = texel.dfmt < 15 && texel.nfmt < 8;
    if depth != wanted || geometry == Geometry::D1Buffer && !plain {
        return Err(ImageError::Format);
    }
    Ok(texel)
}

impl Image {
    /// Lays an image out. Pitches of 0 are chosen; others are taken if descriptors can say them.
    pub fn new(
        wanted: &Description,
        row_pitch: u64,
        slice_pitch: u64,
        level: Level,
    ) -> Result<Image, ImageError> {
        let mut description = *wanted;
        let geometry = description.geometry;
        let texel = texel(geometry, description.channels, level)?;
        if geometry.is_flat() {
            description.size[1] = 1;
        }
        if geometry != Geometry::D3 {
            description.size[2] = 1;
        }
        if !geometry.is_array() {
            description.slices = 1;
        }
        let most = match geometry {
            Geometry::D1Buffer => [MAX_BUFFER, 1, 1],
            _ => [MAX_SIZE, MAX_SIZE, MAX_SLICES],
        };
        let fits = |(n, most): (&u64, u64)| (1..=most).contains(n);
        if !description.size.iter().zip(most).all(fits) || !(1..=MAX_SLICES).contains(&description.slices) {
            return Err(ImageError::Size);
        }
        let bytes = u64::from(texel.bytes());
        let tight = description.size[0] * bytes;
        let row_pitch = match row_pitch {
            0 if geometry == Geometry::D1Buffer => tight,
            0 => tight.next_multiple_of(ROW_ALIGN),
            given => given,
        };
        let pitches = if level.is_gfx9() { 1 << 16 } else { 1 << 14 };
        let texels = row_pitch / bytes;
        let buffer = geometry == Geometry::D1Buffer;
        if row_pitch < tight || row_pitch % bytes != 0 || !buffer && texels > pitches {
            return Err(ImageError::Pitch);
        }
        let own = row_pitch * description.size[1];
        if !matches!(slice_pitch, 0) && slice_pitch != own && description.size[2] * description.slices > 1 {
            return Err(ImageError::Pitch);
        }
        Ok(Image { description, texel, row_pitch, slice_pitch: own, level })
    }

    /// Bytes of all texels.
    pub fn bytes(&self) -> u64 {
        self.slice_pitch * self.description.size[2] * self.description.slices
    }

    /// The byte of a texel; the third coordinate of an array is the slice.
    pub fn offset(&self, at: [u64; 3]) -> u64 {
        let flat_array = self.description.geometry == Geometry::D1Array;
        // Slices of one-dimensional arrays are the second coordinate.
        let (y, z) = if flat_array { (0, at[1]) } else { (at[1], at[2]) };
        z * self.slice_pitch + y * self.row_pitch + at[0] * u64::from(self.texel.bytes())
    }

    /// Texels in each coordinate: slices of arrays come after the other dimensions.
    pub fn extent(&self) -> [u64; 3] {
        let [x, y, z] = self.description.size;
        match self.description.geometry {
            Geometry::D1Array => [x, self.description.slices, 1],
            Geometry::D2Array | Geometry::D2ArrayDepth => [x, y, self.description.slices],
            _ => [x, y, z],
        }
    }

    /// What kernels find: the descriptor for texels at an address, and what else an image says of itself.
    pub fn words(&self, address: u64) -> Result<[u32; 12], ImageError> {
        let Description { geometry, channels, .. } = self.description;
        let mut words = [0; 12];
        if geometry == Geometry::D1Buffer {
            words[..4].copy_from_slice(&self.buffer_words(address));
        } else {
            if !address.is_multiple_of(ROW_ALIGN) {
                return Err(ImageError::Address);
            }
            words[..8].copy_from_slice(&self.image_words(address));
        }
        words[8] = channels.ty;
        words[9] = channels.order;
        words[10] = self.description.size[0] as u32;
        Ok(words)
    }

    fn select(&self) -> u32 {
        self.texel.select.iter().enumerate().fold(0, |all, (i, s)| all | s << (3 * i))
    }

    /// T# (manual 9.4.2; GFX6 to GFX8 by their register headers).
    fn image_words(&self, address: u64) -> [u32; 8] {
        let Description { geometry, size, slices, .. } = self.description;
        let gfx9 = self.level.is_gfx9();
        let kind = match geometry {
            Geometry::D1 => 8,
            Geometry::D3 => 10,
            Geometry::D1Array => 12,
            Geometry::D2Array | Geometry::D2ArrayDepth => 13,
            _ => 9,
        };
        // Row 8 of the table that drivers set up is ARRAY_LINEAR_ALIGNED; GFX9's swizzle mode 0 is linear.
        let tiling = if gfx9 { 0 } else { 8 };
        let pitch = (self.row_pitch / u64::from(self.texel.bytes())) as u32 - 1;
        let last_slice = slices as u32 - 1;
        let depth = if geometry == Geometry::D3 { size[2] as u32 - 1 } else { 0 };
        // GFX9 has the last slice in DEPTH.
        let (depth, last) = if gfx9 { (depth | last_slice, 0) } else { (depth, last_slice) };
        [
            (address >> 8) as u32,
            (address >> 40) as u32 & 0xff | self.texel.dfmt << 20 | self.texel.nfmt << 26,
            (size[0] as u32 - 1) | (size[1] as u32 - 1) << 14,
            self.select() | tiling << 20 | kind << 28,
            depth | pitch << 13,
            last << 13,
            0,
            0,
        ]
    }

    /// V#: records of one texel each.
    fn buffer_words(&self, address: u64) -> [u32; 4] {
        let stride = self.texel.bytes();
        let texels = self.description.size[0] as u32;
        // GFX8 counts bytes.
        let records = if self.level == Level::Gfx8 { texels.saturating_mul(stride) } else { texels };
        [
            address as u32,
            (address >> 32) as u32 & 0xffff | stride << 16,
            records,
            self.select() | self.texel.nfmt << 12 | self.texel.dfmt << 15,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavemill_sem::image as decoded;

    const LEVELS: [Level; 4] = [Level::Gfx6, Level::Gfx7, Level::Gfx8, Level::Gfx900];

    fn channels(ty: &str, order: &str) -> Channels {
        let find = |all: &[&str], name: &str| all.iter().position(|n| *n == name).unwrap() as u32;
        Channels { ty: find(&format::TYPES, ty), order: find(&format::ORDERS, order) }
    }

    fn image(geometry: Geometry, ty: &str, order: &str, level: Level) -> Image {
        let wanted = Description { geometry, channels: channels(ty, order), size: [37, 5, 3], slices: 4 };
        Image::new(&wanted, 0, 0, level).unwrap()
    }

    /// Every texel lies where the instructions look for it.
    #[test]
    fn descriptors_say_where_texels_are() {
        use Geometry::*;
        for level in LEVELS {
            for geometry in [D1, D2, D3, D1Array, D2Array] {
                let image = image(geometry, "unorm8", "rgba", level);
                let words = image.words(0x12_3456_7800).unwrap();
                let read = decoded::Image::new(words[..8].try_into().unwrap(), level).unwrap().unwrap();
                let format = read.texels().unwrap();
                let [w, h, d] = image.extent();
                for (x, y, z) in [(0, 0, 0), (w - 1, h - 1, d - 1), (3, h - 1, 0)] {
                    let (at, slice) = match geometry {
                        D1Array => ([x, 0, 0], y),
                        D2Array => ([x, y, 0], z),
                        _ => ([x, y, z], 0),
                    };
                    let found = read.address(format, 0, at.map(|n| n as u32), slice as u32);
                    assert_eq!(
                        found,
                        Some(0x12_3456_7800 + image.offset([x, y, z])),
                        "{level:?} {geometry:?}"
                    );
                }
            }
        }
    }

    /// The bytes of OpenCL's definition: where each channel of an element is (OpenCL 3.0, table "Image channel data type").
    #[test]
    fn elements_have_their_channels_where_opencl_has_them() {
        let one = 1f32.to_bits();
        let red = [one, 0, 0, 0];
        let green = [0, one, 0, 0];
        for (ty, order, colour, bytes) in [
            ("unorm8", "rgba", red, vec![255, 0, 0, 0]),
            ("unorm8", "bgra", red, vec![0, 0, 255, 0]),
            ("unorm8", "argb", red, vec![0, 255, 0, 0]),
            ("unorm8", "abgr", green, vec![0, 0, 255, 0]),
            ("unorm16", "rg", green, vec![0, 0, 255, 255]),
            ("unorm565", "rgb", red, vec![0, 0xf8]),
            ("unorm565", "rgb", green, vec![0xe0, 0x07]),
            ("unorm555", "rgb", red, vec![0, 0x7c]),
            ("unorm101010", "rgbx", red, vec![0, 0, 0xf0, 0x3f]),
            ("float", "luminance", red, vec![0, 0, 0x80, 0x3f]),
            ("half", "ra", [0, 0, 0, one], vec![0, 0, 0, 0x3c]),
            ("snorm8", "a", [0, 0, 0, (-1f32).to_bits()], vec![0x81]),
            ("uint16", "r", [0xabcd, 0, 0, 0], vec![0xcd, 0xab]),
        ] {
            let texel = channels(ty, order).texel(Level::Gfx900).unwrap();
            assert_eq!(texel.encode(colour), bytes, "{ty} {order}");
        }
    }

    #[test]
    fn what_no_gpu_has_is_refused() {
        let level = Level::Gfx900;
        for (ty, order) in [
            ("unorm8", "rgb"),
            ("float", "bgra"),
            ("unorm24", "r"),
            ("unorm565", "rgba"),
            ("uint8", "intensity"),
        ] {
            assert_eq!(channels(ty, order).texel(level), None, "{ty} {order}");
        }
        let mut wanted = Description {
            geometry: Geometry::D2,
            channels: channels("unorm8", "rgba"),
            size: [0, 1, 1],
            slices: 1,
        };
        assert_eq!(Image::new(&wanted, 0, 0, level).err(), Some(ImageError::Size));
        wanted.size[0] = MAX_SIZE + 1;
        assert_eq!(Image::new(&wanted, 0, 0, level).err(), Some(ImageError::Size));
        wanted.size[0] = 100;
        assert_eq!(Image::new(&wanted, 300, 0, level).err(), Some(ImageError::Pitch));
        assert_eq!(Image::new(&wanted, 0, 0, Level::Gfx90a).err(), Some(ImageError::NoImages));
        assert_eq!(Image::new(&wanted, 0, 0, level).unwrap().words(100).err(), Some(ImageError::Address));
    }

    #[test]
    fn buffers_of_texels_have_records() {
        for level in LEVELS {
            let image = image(Geometry::D1Buffer, "float", "r", level);
            let words = image.words(0x1234_5670).unwrap();
            // Base, stride, and as many records as texels; GFX8 counts bytes.
            let records = if level == Level::Gfx8 { 37 * 4 } else { 37 };
            assert_eq!(words[..3], [0x1234_5670, 4 << 16, records], "{level:?}");
            // Selects x, 0, 0, 1; FLOAT; 32.
            assert_eq!(words[3], 4 | 1 << 9 | 7 << 12 | 4 << 15, "{level:?}");
        }
    }
}
