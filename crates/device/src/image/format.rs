//! Formats of texels: channel types and orders as HSA and OpenCL number them, and what descriptors call them.

use wavemill_isa::Level;
use wavemill_sem::format::{Format, Swizzle};

/// Names of channel types, by HSA's number.
pub const TYPES: [&str; 16] = [
    "snorm8",
    "snorm16",
    "unorm8",
    "unorm16",
    "unorm24",
    "unorm555",
    "unorm565",
    "unorm101010",
    "sint8",
    "sint16",
    "sint32",
    "uint8",
    "uint16",
    "uint32",
    "half",
    "float",
];

/// Names of channel orders, by HSA's number.
pub const ORDERS: [&str; 20] = [
    "a",
    "r",
    "rx",
    "rg",
    "rgx",
    "ra",
    "rgb",
    "rgbx",
    "rgba",
    "bgra",
    "argb",
    "abgr",
    "srgb",
    "srgbx",
    "srgba",
    "sbgra",
    "intensity",
    "luminance",
    "depth",
    "depth_stencil",
];

/// Channel type and order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channels {
    /// Index into [`TYPES`].
    pub ty: u32,
    /// Index into [`ORDERS`].
    pub order: u32,
}

/// A format as descriptors have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Texel {
    /// Data format.
    pub dfmt: u32,
    /// Number format.
    pub nfmt: u32,
    /// Destination selects (0, 1, or 4 and the component), for red to alpha.
    pub select: [u32; 4],
    /// What instructions make of it.
    pub format: Format,
}

// Types by number.
const UNORM8: u32 = 2;
const UNORM16: u32 = 3;
const UNORM24: u32 = 4;
const UNORM_555: u32 = 5;
const UNORM_565: u32 = 6;
const UNORM_101010: u32 = 7;
const HALF: u32 = 14;
const FLOAT: u32 = 15;

// Destination selects.
const ZERO: u32 = 0;
const ONE: u32 = 1;
const X: u32 = 4;
const Y: u32 = 5;
const Z: u32 = 6;
const W: u32 = 7;

/// Number formats of images.
const NFMT_UNORM: u32 = 0;
const NFMT_FLOAT: u32 = 7;
const NFMT_SRGB: u32 = 9;

impl Channels {
    /// The format on a GPU; `None` where no texel of the hardware has it.
    ///
    /// Plain types have one, two or four components of a size; three are only there in the packed types. sRGB needs eight
    /// bits, depth 16, 24 or 32.
    pub fn texel(self, level: Level) -> Option<Texel> {
        let order = *ORDERS.get(self.order as usize)?;
        let packed = |dfmt| (matches!(order, "rgb" | "rgbx")).then_some((dfmt, NFMT_UNORM, [Z, Y, X, ONE]));
        let (dfmt, nfmt, select) = match (self.ty, order) {
            (UNORM_565, "rgbx") => (16, NFMT_UNORM, [Z, Y, X, W]),
            (UNORM_565, _) => packed(16)?,
            (UNORM_555, _) => packed(17)?,
            (UNORM_101010, _) => packed(9)?,
            // The depth is in the low 24 bits.
            (UNORM24, "depth" | "depth_stencil") => (20, NFMT_UNORM, [X, ZERO, ZERO, ONE]),
            (UNORM24, _) => return None,
            (FLOAT, "depth_stencil") => (22, NFMT_FLOAT, [X, ZERO, ZERO, ONE]),
            (UNORM16 | FLOAT, "depth") => self.plain(1, [X, ZERO, ZERO, ONE])?,
            (_, "depth" | "depth_stencil") => return None,
            (UNORM8, "srgba") => (10, NFMT_SRGB, [X, Y, Z, W]),
            (UNORM8, "srgbx") => (10, NFMT_SRGB, [X, Y, Z, ONE]),
            (UNORM8, "sbgra") => (10, NFMT_SRGB, [Z, Y, X, W]),
            (_, "srgb" | "srgbx" | "srgba" | "sbgra" | "rgb" | "rgbx") => return None,
            (_, "a") => self.plain(1, [ZERO, ZERO, ZERO, X])?,
            (_, "r") => self.plain(1, [X, ZERO, ZERO, ONE])?,
            (_, "rg") => self.plain(2, [X, Y, ZERO, ONE])?,
            // An alpha that no texel has is one; the border has its own.
            (_, "rx") => self.plain(1, [X, ZERO, ZERO, W])?,
            (_, "rgx") => self.plain(2, [X, Y, ZERO, W])?,
            (_, "ra") => self.plain(2, [X, ZERO, ZERO, Y])?,
            (_, "rgba") => self.plain(4, [X, Y, Z, W])?,
            (_, "bgra") if self.bytes() == Some(1) => self.plain(4, [Z, Y, X, W])?,
            (_, "argb") if self.bytes() == Some(1) => self.plain(4, [Y, Z, W, X])?,
            (_, "abgr") if self.bytes() == Some(1) => self.plain(4, [W, Z, Y, X])?,
            (_, "bgra" | "argb" | "abgr") => return None,
            (0..=UNORM16 | HALF | FLOAT, "intensity") => self.plain(1, [X; 4])?,
            (0..=UNORM16 | HALF | FLOAT, "luminance") => self.plain(1, [X, X, X, ONE])?,
            _ => return None,
        };
        Some(Texel { dfmt, nfmt, select, format: Format::of_image(dfmt, nfmt, level)? })
    }

    /// Bytes of a component of a plain type.
    fn bytes(self) -> Option<u32> {
        Some(match TYPES.get(self.ty as usize)? {
            t if t.ends_with("norm8") || t.ends_with("int8") => 1,
            t if t.ends_with("norm16") || t.ends_with("int16") || *t == "half" => 2,
            t if t.ends_with("int32") || *t == "float" => 4,
            _ => return None,
        })
    }

    /// Data and number format of a plain type with some components.
    fn plain(self, count: u32, select: [u32; 4]) -> Option<(u32, u32, [u32; 4])> {
        let dfmt = match (self.bytes()?, count) {
            (1, 1) => 1,
            (2, 1) => 2,
            (1, 2) => 3,
            (4, 1) => 4,
            (2, 2) => 5,
            (1, _) => 10,
            (4, 2) => 11,
            (2, _) => 12,
            _ => 14,
        };
        let name = TYPES.get(self.ty as usize)?;
        let nfmt = match &name[..4] {
            "unor" => NFMT_UNORM,
            "snor" => 1,
            "uint" => 4,
            "sint" => 5,
            _ => NFMT_FLOAT,
        };
        Some((dfmt, nfmt, select))
    }
}

impl Texel {
    /// Bytes of a texel.
    pub fn bytes(&self) -> u32 {
        self.format.bytes().into()
    }

    fn swizzle(&self) -> Swizzle {
        Swizzle(self.select.map(|s| s as u8))
    }

    /// An element that reads as a colour, red to alpha as registers have them.
    pub fn encode(&self, colour: [u32; 4]) -> Vec<u8> {
        let words = self.format.encode(self.swizzle().store(colour));
        words.iter().flat_map(|w| w.to_le_bytes()).take(self.bytes() as usize).collect()
    }

    /// The colour of an element.
    pub fn decode(&self, bytes: &[u8]) -> [u32; 4] {
        let mut words = [0; 4];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks(4)) {
            let mut four = [0; 4];
            four[..chunk.len()].copy_from_slice(chunk);
            *word = u32::from_le_bytes(four);
        }
        self.swizzle().load(self.format.decode(words), self.format.one())
    }
}
