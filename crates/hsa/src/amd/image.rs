//! Images and samplers, on GPUs that have instructions for them; no graphics to share with, and no finalizer.
//!
//! A handle is the address of what kernels find: the descriptor, then channel type, channel order and width. Layouts are
//! linear, whatever a program asks for.

use crate::abi::*;
use crate::limits::image_limit;
use crate::runtime::runtime;
use std::sync::Arc;
use wavemill_device::image::format::Channels;
use wavemill_device::image::sampler::Sampler;
use wavemill_device::image::{self, Description, Geometry, Image, ImageError, ROW_ALIGN};
use wavemill_isa::Level;
use wavemill_runtime::image::{ImageObject, ObjectError};

/// `HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED`.
const FORMAT_UNSUPPORTED: Status = Status(0x3000);
/// `HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED`.
const SIZE_UNSUPPORTED: Status = Status(0x3001);
/// `HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED`.
const PITCH_UNSUPPORTED: Status = Status(0x3002);
/// `HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED`.
const SAMPLER_UNSUPPORTED: Status = Status(0x3003);
/// `HSA_EXT_STATUS_ERROR_INVALID_PROGRAM`.
const INVALID_PROGRAM: Status = Status(0x2000);

/// `HSA_EXT_IMAGE_CAPABILITY_*`: read only, write only, read and write; and that the layout is the same for all of them.
const READ_ONLY: u32 = 1;
const WRITE_ONLY: u32 = 2;
const READ_WRITE: u32 = 4;
const INVARIANT: u32 = 16;

/// Number format of gamma-encoded texels, which are only read.
const NFMT_SRGB: u32 = 9;

/// `hsa_ext_image_format_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Format {
    ty: u32,
    order: u32,
}

/// `hsa_ext_image_descriptor_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Descriptor {
    geometry: u32,
    width: usize,
    height: usize,
    depth: usize,
    array_size: usize,
    format: Format,
}

/// `hsa_ext_image_data_info_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DataInfo {
    size: usize,
    alignment: usize,
}

/// `hsa_ext_image_region_t`: offset and range in texels.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Region {
    offset: [u32; 3],
    range: [u32; 3],
}

/// `hsa_ext_sampler_descriptor_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SamplerDescriptor {
    coordinates: u32,
    filter: u32,
    addressing: u32,
}

/// Layouts: opaque and linear.
const LAYOUTS: u32 = 2;
/// Access permissions: read only, write only, read and write.
const PERMISSIONS: std::ops::RangeInclusive<u32> = 1..=3;

fn status(error: ImageError) -> Status {
    match error {
        ImageError::NoImages | ImageError::Format => FORMAT_UNSUPPORTED,
        ImageError::Size => SIZE_UNSUPPORTED,
        ImageError::Pitch => PITCH_UNSUPPORTED,
        ImageError::Address => Status::ERROR_INVALID_ARGUMENT,
    }
}

fn level(agent: Agent) -> Result<Level> {
    Ok(runtime()?.gpu(agent)?.device.target().level())
}

/// What a format can be used for.
fn capability(agent: Agent, geometry: u32, format: In<Format>, mask: Out<u32>) -> Result {
    let level = level(agent)?;
    let Format { ty, order } = format.get()?;
    let mask = mask.check()?;
    let geometry = Geometry::from_number(geometry).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    mask.set(match image::texel(geometry, Channels { ty, order }, level) {
        Ok(texel) if texel.nfmt == NFMT_SRGB => READ_ONLY | INVARIANT,
        Ok(_) => READ_ONLY | WRITE_ONLY | READ_WRITE | INVARIANT,
        Err(_) => 0,
    })
}

/// The layout of an image that a program describes.
fn laid_out(agent: Agent, descriptor: In<Descriptor>, access: u32, pitches: (usize, usize)) -> Result<Image> {
    let level = level(agent)?;
    let d = descriptor.get()?;
    let geometry = Geometry::from_number(d.geometry).filter(|_| PERMISSIONS.contains(&access));
    let description = Description {
        geometry: geometry.ok_or(Status::ERROR_INVALID_ARGUMENT)?,
        channels: Channels { ty: d.format.ty, order: d.format.order },
        size: [d.width as u64, d.height as u64, d.depth as u64],
        slices: d.array_size as u64,
    };
    Image::new(&description, pitches.0 as u64, pitches.1 as u64, level).map_err(status)
}

fn info(
    agent: Agent,
    descriptor: In<Descriptor>,
    access: u32,
    pitches: (usize, usize),
    to: Out<DataInfo>,
) -> Result {
    let image = laid_out(agent, descriptor, access, pitches)?;
    to.set(DataInfo { size: image.bytes() as usize, alignment: ROW_ALIGN as usize })
}

fn create(
    agent: Agent,
    descriptor: In<Descriptor>,
    data: u64,
    access: u32,
    pitches: (usize, usize),
    to: Out<u64>,
) -> Result {
    let image = laid_out(agent, descriptor, access, pitches)?;
    let to = to.check()?;
    if data == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let runtime = runtime()?;
    let made = runtime.images.create(runtime.gpu(agent)?, image, data);
    to.set(made.map_err(|e| match e {
        ObjectError::Image(e) => status(e),
        ObjectError::Memory(_) => Status::ERROR_OUT_OF_RESOURCES,
    })?)
}

/// An image of an agent.
fn find(agent: Agent, handle: u64) -> Result<Arc<ImageObject>> {
    let runtime = runtime()?;
    let gpu = runtime.gpu(agent)?.index;
    let found = runtime.images.find(handle).filter(|i| i.gpu == gpu);
    found.ok_or(Status::ERROR_INVALID_ARGUMENT)
}

/// Where a texel's bytes are in the host's memory.
fn place(object: &ImageObject, at: [u64; 3]) -> Result<u64> {
    Ok(runtime()?.system.heap.host_address(object.data) + object.image.offset(at))
}

/// Rows of a region that is inside an image, each with its first texel; dimensions that the image does not have count as 1.
fn rows(object: &ImageObject, offset: [u32; 3], range: [u32; 3]) -> Result<(u64, Vec<[u64; 3]>)> {
    let extent = object.image.extent();
    let (offset, range) = (offset.map(u64::from), range.map(u64::from));
    let range: [u64; 3] = std::array::from_fn(|i| if extent[i] == 1 { range[i].max(1) } else { range[i] });
    if (0..3).any(|i| range[i] == 0 || offset[i] + range[i] > extent[i]) {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let all = (0..range[2]).flat_map(|z| (0..range[1]).map(move |y| (y, z)));
    Ok((range[0], all.map(|(y, z)| [offset[0], offset[1] + y, offset[2] + z]).collect()))
}

/// Between rows of an image and rows of memory; `to_image` says which way.
fn transfer(
    object: &ImageObject,
    memory: u64,
    pitches: (usize, usize),
    region: In<Region>,
    to_image: bool,
) -> Result {
    let Region { offset, range } = region.get()?;
    if memory == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let (texels, rows) = rows(object, offset, range)?;
    let row = texels * u64::from(object.image.texel.bytes());
    let row_pitch = (pitches.0 as u64).max(row);
    let slice_pitch = (pitches.1 as u64).max(row_pitch * u64::from(range[1].max(1)));
    for at in rows {
        let (y, z) = (at[1] - u64::from(offset[1]), at[2] - u64::from(offset[2]));
        let outside = memory + z * slice_pitch + y * row_pitch;
        let inside = place(object, at)?;
        let (to, from) = if to_image { (inside, outside) } else { (outside, inside) };
        copy_host(to, from, row as usize);
    }
    Ok(())
}

fn no_program() -> Result {
    runtime()?;
    Err(INVALID_PROGRAM)
}

api! {
    /// What an image format can be used for.
    fn hsa_ext_image_get_capability(agent: Agent, geometry: u32, format: In<Format>, mask: Out<u32>) -> Status {
        capability(agent, geometry, format, mask)
    }

    /// What an image format can be used for in a layout.
    fn hsa_ext_image_get_capability_with_layout(
        agent: Agent,
        geometry: u32,
        format: In<Format>,
        layout: u32,
        mask: Out<u32>,
    ) -> Status {
        if layout >= LAYOUTS {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        capability(agent, geometry, format, mask)
    }

    /// Size of an image.
    fn hsa_ext_image_data_get_info(
        agent: Agent,
        descriptor: In<Descriptor>,
        access: u32,
        to: Out<DataInfo>,
    ) -> Status {
        info(agent, descriptor, access, (0, 0), to)
    }

    /// Size of an image in a layout.
    fn hsa_ext_image_data_get_info_with_layout(
        agent: Agent,
        descriptor: In<Descriptor>,
        access: u32,
        layout: u32,
        row_pitch: usize,
        slice_pitch: usize,
        to: Out<DataInfo>,
    ) -> Status {
        if layout >= LAYOUTS {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        info(agent, descriptor, access, (row_pitch, slice_pitch), to)
    }

    /// Makes an image.
    fn hsa_ext_image_create(
        agent: Agent,
        descriptor: In<Descriptor>,
        data: u64,
        access: u32,
        to: Out<u64>,
    ) -> Status {
        create(agent, descriptor, data, access, (0, 0), to)
    }

    /// Makes an image in a layout.
    fn hsa_ext_image_create_with_layout(
        agent: Agent,
        descriptor: In<Descriptor>,
        data: u64,
        access: u32,
        layout: u32,
        row_pitch: usize,
        slice_pitch: usize,
        to: Out<u64>,
    ) -> Status {
        if layout >= LAYOUTS {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        create(agent, descriptor, data, access, (row_pitch, slice_pitch), to)
    }

    /// Makes an image that graphics has laid out: there is no graphics.
    fn hsa_amd_image_create(
        agent: Agent,
        descriptor: In<Descriptor>,
        layout: In<u32>,
        data: u64,
        access: u32,
        to: Out<u64>,
    ) -> Status {
        let _ = (data, access);
        runtime()?.gpu(agent)?;
        descriptor.get()?;
        layout.get()?;
        to.check()?;
        Err(FORMAT_UNSUPPORTED)
    }

    /// Destroys an image.
    fn hsa_ext_image_destroy(agent: Agent, image: u64) -> Status {
        let runtime = runtime()?;
        let gpu = runtime.gpu(agent)?.index;
        if runtime.images.destroy(gpu, image) { Ok(()) } else { Err(Status::ERROR_INVALID_ARGUMENT) }
    }

    /// Copies between images of the same texels.
    fn hsa_ext_image_copy(
        agent: Agent,
        from: u64,
        from_offset: In<[u32; 3]>,
        to: u64,
        to_offset: In<[u32; 3]>,
        range: In<[u32; 3]>,
    ) -> Status {
        let (from, to) = (find(agent, from)?, find(agent, to)?);
        let range = range.get()?;
        if from.image.texel != to.image.texel {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let (texels, sources) = rows(&from, from_offset.get()?, range)?;
        let (same, targets) = rows(&to, to_offset.get()?, range)?;
        if texels != same || sources.len() != targets.len() {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let row = (texels * u64::from(from.image.texel.bytes())) as usize;
        for (source, target) in sources.into_iter().zip(targets) {
            copy_host(place(&to, target)?, place(&from, source)?, row);
        }
        Ok(())
    }

    /// Copies memory to an image.
    fn hsa_ext_image_import(
        agent: Agent,
        from: u64,
        row_pitch: usize,
        slice_pitch: usize,
        image: u64,
        region: In<Region>,
    ) -> Status {
        transfer(&*find(agent, image)?, from, (row_pitch, slice_pitch), region, true)
    }

    /// Copies an image to memory.
    fn hsa_ext_image_export(
        agent: Agent,
        image: u64,
        to: u64,
        row_pitch: usize,
        slice_pitch: usize,
        region: In<Region>,
    ) -> Status {
        transfer(&*find(agent, image)?, to, (row_pitch, slice_pitch), region, false)
    }

    /// Fills a part of an image with a colour: four floats, or integers for formats of these.
    fn hsa_ext_image_clear(agent: Agent, image: u64, data: In<[u32; 4]>, region: In<Region>) -> Status {
        let object = find(agent, image)?;
        let Region { offset, range } = region.get()?;
        let texel = object.image.texel.encode(data.get()?);
        let (texels, rows) = rows(&object, offset, range)?;
        let row = texel.repeat(texels as usize);
        for at in rows {
            copy_host(place(&object, at)?, row.as_ptr() as u64, row.len());
        }
        Ok(())
    }

    /// Makes a sampler.
    fn hsa_ext_sampler_create(agent: Agent, descriptor: In<SamplerDescriptor>, to: Out<u64>) -> Status {
        let runtime = runtime()?;
        let gpu = runtime.gpu(agent)?;
        let SamplerDescriptor { coordinates, filter, addressing } = descriptor.get()?;
        let to = to.check()?;
        if !image::has_images(gpu.device.target().level()) {
            return Err(SAMPLER_UNSUPPORTED);
        }
        let sampler = Sampler::from_hsa(coordinates, filter, addressing).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        let handle = runtime.images.create_sampler(gpu, &sampler);
        to.set(handle.map_err(|_| Status::ERROR_OUT_OF_RESOURCES)?)
    }

    /// Destroys a sampler.
    fn hsa_ext_sampler_destroy(agent: Agent, sampler: u64) -> Status {
        let runtime = runtime()?;
        let gpu = runtime.gpu(agent)?.index;
        if runtime.images.destroy_sampler(gpu, sampler) { Ok(()) } else { Err(Status::ERROR_INVALID_ARGUMENT) }
    }

    /// The largest image.
    fn hsa_amd_image_get_info_max_dim(agent: Agent, attribute: u32, value: Any) -> Status {
        runtime()?.gpu(agent)?;
        image_limit(attribute, value.check()?)
    }

    /// Maps a graphics buffer: there is no graphics.
    fn hsa_amd_interop_map_buffer(
        count: u32,
        agents: In<Agent>,
        handle: i32,
        flags: u32,
        size: Out<usize>,
        address: Out<u64>,
        metadata_size: Out<usize>,
        metadata: Out<u64>,
    ) -> Status {
        let runtime = runtime()?;
        let _ = (handle, flags, metadata_size, metadata);
        if count == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        size.check()?;
        address.check()?;
        runtime.gpus(&agents.list(count as usize)?)?;
        Err(Status::ERROR_INVALID_ARGUMENT)
    }

    /// Takes such a mapping back: there is none.
    fn hsa_amd_interop_unmap_buffer(address: u64) -> Status {
        let _ = address;
        runtime()?;
        Err(Status::ERROR_INVALID_ARGUMENT)
    }

    /// Makes an HSAIL program: there is no finalizer.
    fn hsa_ext_program_create() -> Status {
        runtime()?;
        Err(Status::ERROR)
    }

    /// Destroys an HSAIL program.
    fn hsa_ext_program_destroy() -> Status {
        no_program()
    }

    /// Adds a module to an HSAIL program.
    fn hsa_ext_program_add_module() -> Status {
        no_program()
    }

    /// Calls a function for each module of an HSAIL program.
    fn hsa_ext_program_iterate_modules() -> Status {
        no_program()
    }

    /// A fact about an HSAIL program.
    fn hsa_ext_program_get_info() -> Status {
        no_program()
    }

    /// Compiles an HSAIL program.
    fn hsa_ext_program_finalize() -> Status {
        no_program()
    }
}

/// The functions in the order of the extension's table, as addresses.
pub fn table() -> [usize; 13] {
    [
        hsa_ext_image_get_capability as *const () as usize,
        hsa_ext_image_data_get_info as *const () as usize,
        hsa_ext_image_create as *const () as usize,
        hsa_ext_image_destroy as *const () as usize,
        hsa_ext_image_copy as *const () as usize,
        hsa_ext_image_import as *const () as usize,
        hsa_ext_image_export as *const () as usize,
        hsa_ext_image_clear as *const () as usize,
        hsa_ext_sampler_create as *const () as usize,
        hsa_ext_sampler_destroy as *const () as usize,
        hsa_ext_image_get_capability_with_layout as *const () as usize,
        hsa_ext_image_data_get_info_with_layout as *const () as usize,
        hsa_ext_image_create_with_layout as *const () as usize,
    ]
}
