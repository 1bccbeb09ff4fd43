//! Texels: formats, where they lie in images, and boxes of them.

use crate::abi::*;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use wavemill_device::image::format::{Channels, ORDERS, TYPES};
use wavemill_device::image::{Geometry, Image, ImageError};
use wavemill_runtime::image::Images;
use wavemill_runtime::platform::Gpu;

/// Boxes of bytes somewhere: where they begin, and how far rows and slices are apart.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub base: u64,
    pub row: u64,
    pub slice: u64,
}

/// Copies a box of so many elements in each dimension.
pub fn copy_box(to: View, from: View, element: u64, [width, height, depth]: [u64; 3]) {
    for z in 0..depth {
        for y in 0..height {
            let at = |v: View| v.base + z * v.slice + y * v.row;
            copy(at(to), at(from), width * element);
        }
    }
}

/// `cl_image_format`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Format {
    /// Order of the channels.
    pub order: u32,
    /// Their type.
    pub ty: u32,
}

/// `cl_image_desc`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Desc {
    /// Which kind of image.
    pub kind: u32,
    /// As the standard has it.
    pub width: usize,
    /// As the standard has it.
    pub height: usize,
    /// As the standard has it.
    pub depth: usize,
    /// As the standard has it.
    pub array_size: usize,
    /// As the standard has it.
    pub row_pitch: usize,
    /// As the standard has it.
    pub slice_pitch: usize,
    /// As the standard has it.
    pub levels: u32,
    /// As the standard has it.
    pub samples: u32,
    /// The handle of what it lies in: a buffer or another image.
    pub mem: usize,
}

/// What an image is besides memory.
pub struct ImageData {
    /// As the program has described it.
    pub desc: Desc,
    /// Its format.
    pub format: Format,
    /// Where its texels lie.
    pub layout: Image,
    /// Bytes from row to row and slice to slice in the program's own memory, with CL_MEM_USE_HOST_PTR.
    pub host: Option<(u64, u64)>,
    /// What kernels find, and where, for each GPU.
    objects: Images,
    handles: Mutex<HashMap<usize, u64>>,
}

/// `cl_mem_object_type` of images.
pub const IMAGE2D: u32 = 0x10f1;
pub const IMAGE3D: u32 = 0x10f2;
pub const IMAGE2D_ARRAY: u32 = 0x10f3;
pub const IMAGE1D: u32 = 0x10f4;
pub const IMAGE1D_ARRAY: u32 = 0x10f5;
pub const IMAGE1D_BUFFER: u32 = 0x10f6;

/// OpenCL's channel orders from CL_R on, and its types from CL_SNORM_INT8 on, in the device's words.
pub const CL_ORDERS: [&str; 20] = [
    "r",
    "a",
    "rg",
    "ra",
    "rgb",
    "rgba",
    "bgra",
    "argb",
    "intensity",
    "luminance",
    "rx",
    "rgx",
    "rgbx",
    "depth",
    "depth_stencil",
    "srgb",
    "srgbx",
    "srgba",
    "sbgra",
    "abgr",
];
pub const CL_TYPES: [&str; 16] = [
    "snorm8",
    "snorm16",
    "unorm8",
    "unorm16",
    "unorm565",
    "unorm555",
    "unorm101010",
    "sint8",
    "sint16",
    "sint32",
    "uint8",
    "uint16",
    "uint32",
    "half",
    "float",
    "unorm24",
];
pub const FIRST_ORDER: u32 = 0x10b0;
pub const FIRST_TYPE: u32 = 0x10d0;

impl Format {
    /// The device's numbers for it.
    pub fn channels(self) -> Result<Channels> {
        let find = |number: u32, first: u32, names: &[&str], all: &[&str]| {
            let name = names.get(number.checked_sub(first)? as usize)?;
            all.iter().position(|n| n == name).map(|n| n as u32)
        };
        let order = find(self.order, FIRST_ORDER, &CL_ORDERS, &ORDERS);
        let ty = find(self.ty, FIRST_TYPE, &CL_TYPES, &TYPES);
        order.zip(ty).map(|(order, ty)| Channels { order, ty }).ok_or(Code::INVALID_IMAGE_FORMAT_DESCRIPTOR)
    }

    fn is_depth(self) -> bool {
        self.order == FIRST_ORDER + 13 || self.order == FIRST_ORDER + 14
    }
}

/// The shape of a kind of image.
pub fn geometry(kind: u32, format: Format) -> Option<Geometry> {
    Some(match kind {
        IMAGE2D if format.is_depth() => Geometry::D2Depth,
        IMAGE2D => Geometry::D2,
        IMAGE3D => Geometry::D3,
        IMAGE2D_ARRAY if format.is_depth() => Geometry::D2ArrayDepth,
        IMAGE2D_ARRAY => Geometry::D2Array,
        IMAGE1D => Geometry::D1,
        IMAGE1D_ARRAY => Geometry::D1Array,
        IMAGE1D_BUFFER => Geometry::D1Buffer,
        _ => return None,
    })
}

impl From<ImageError> for Code {
    fn from(error: ImageError) -> Code {
        match error {
            ImageError::NoImages => Code::INVALID_OPERATION,
            ImageError::Format => Code::IMAGE_FORMAT_NOT_SUPPORTED,
            ImageError::Size => Code::INVALID_IMAGE_SIZE,
            ImageError::Pitch | ImageError::Address => Code::INVALID_IMAGE_DESCRIPTOR,
        }
    }
}

impl ImageData {
    /// An image of the layout.
    pub fn new(desc: Desc, format: Format, layout: Image) -> ImageData {
        ImageData { desc, format, layout, host: None, objects: Images::default(), handles: Mutex::default() }
    }

    /// Bytes of a texel.
    pub fn texel(&self) -> u64 {
        self.layout.texel.bytes().into()
    }

    /// Where kernels on a GPU find it, if its texels are at an address.
    pub fn address(&self, gpu: &Arc<Gpu>, data: u64) -> Result<u64> {
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = handles.get(&gpu.index) {
            return Ok(*found);
        }
        let made = self.objects.create(gpu, self.layout, data).map_err(|_| Code::OUT_OF_RESOURCES)?;
        handles.insert(gpu.index, made);
        Ok(made)
    }

    /// Refuses a region that is empty or not all inside.
    pub fn check(&self, origin: [u64; 3], region: [u64; 3]) -> Result {
        let inside = |i: usize| {
            let end = origin[i].checked_add(region[i]);
            region[i] > 0 && end.is_some_and(|e| e <= self.layout.extent()[i])
        };
        if (0..3).all(inside) { Ok(()) } else { Err(Code::INVALID_VALUE) }
    }

    /// Texels from an origin on, where the image's bytes begin at `base`.
    pub fn view(&self, base: u64, origin: [u64; 3]) -> View {
        let layout = &self.layout;
        View {
            base: base + layout.offset(origin),
            row: layout.offset([0, 1, 0]),
            slice: layout.offset([0, 0, 1]),
        }
    }

    /// Texels in memory of the program whose pitches may be 0 for none but the texels: from row to row and slice to slice.
    pub fn pitches(&self, region: [u64; 3], row: u64, slice: u64) -> Result<(u64, u64)> {
        let tight = region[0] * self.texel();
        let deep = |row: u64| row.checked_mul(region[1]).ok_or(Code::INVALID_VALUE);
        let flat_array = self.layout.description.geometry == Geometry::D1Array;
        let row = match row {
            0 => tight,
            given if given >= tight => given,
            _ => return Err(Code::INVALID_VALUE),
        };
        // Slices of one-dimensional arrays are rows to us.
        if flat_array {
            return match slice {
                0 => Ok((row, row)),
                given if given >= tight => Ok((given, given)),
                _ => Err(Code::INVALID_VALUE),
            };
        }
        match slice {
            0 => Ok((row, deep(row)?)),
            given if region[2] == 1 || given >= deep(row)? => Ok((row, given)),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// Texels from an origin on in the program's own memory, with CL_MEM_USE_HOST_PTR.
    pub fn host_view(&self, base: u64, origin: [u64; 3]) -> Option<View> {
        let (row, slice) = self.host?;
        let at = origin[2] * slice + origin[1] * row + origin[0] * self.texel();
        Some(View { base: base + at, row, slice })
    }
}
