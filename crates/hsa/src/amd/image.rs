//! Images, graphics interoperation and the finalizer: there are none. Every function says so, and nothing pretends.

use crate::abi::*;
use crate::runtime::runtime;

/// `HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED`.
const FORMAT_UNSUPPORTED: Status = Status(0x3000);
/// `HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED`.
const SAMPLER_UNSUPPORTED: Status = Status(0x3003);
/// `HSA_EXT_STATUS_ERROR_INVALID_PROGRAM`.
const INVALID_PROGRAM: Status = Status(0x2000);

/// No format can be used for anything.
fn capability(agent: Agent, format: In<u64>, mask: Out<u32>) -> Result {
    runtime()?.agent(agent)?;
    format.get()?;
    mask.set(0)
}

/// No image can be made.
fn refuse(agent: Agent, descriptor: In<u64>, to: Out<u64>) -> Result {
    runtime()?.agent(agent)?;
    descriptor.get()?;
    to.check()?;
    Err(FORMAT_UNSUPPORTED)
}

/// There is no image that something could be done with.
fn no_image(agent: Agent) -> Result {
    runtime()?.agent(agent)?;
    Err(Status::ERROR_INVALID_ARGUMENT)
}

fn no_program() -> Result {
    runtime()?;
    Err(INVALID_PROGRAM)
}

api! {
    /// What an image format can be used for.
    fn hsa_ext_image_get_capability(agent: Agent, geometry: u32, format: In<u64>, mask: Out<u32>) -> Status {
        let _ = geometry;
        capability(agent, format, mask)
    }

    /// What an image format can be used for.
    fn hsa_ext_image_get_capability_with_layout(
        agent: Agent,
        geometry: u32,
        format: In<u64>,
        layout: u32,
        mask: Out<u32>,
    ) -> Status {
        let _ = (geometry, layout);
        capability(agent, format, mask)
    }

    /// Size of an image.
    fn hsa_ext_image_data_get_info(agent: Agent, descriptor: In<u64>, access: u32, to: Out<u64>) -> Status {
        let _ = access;
        refuse(agent, descriptor, to)
    }

    /// Size of an image.
    fn hsa_ext_image_data_get_info_with_layout(
        agent: Agent,
        descriptor: In<u64>,
        access: u32,
        layout: u32,
        row_pitch: usize,
        slice_pitch: usize,
        to: Out<u64>,
    ) -> Status {
        let _ = (access, layout, row_pitch, slice_pitch);
        refuse(agent, descriptor, to)
    }

    /// Makes an image.
    fn hsa_ext_image_create(agent: Agent, descriptor: In<u64>, data: u64, access: u32, to: Out<u64>) -> Status {
        let _ = (data, access);
        refuse(agent, descriptor, to)
    }

    /// Makes an image.
    fn hsa_ext_image_create_with_layout(
        agent: Agent,
        descriptor: In<u64>,
        data: u64,
        access: u32,
        layout: u32,
        row_pitch: usize,
        slice_pitch: usize,
        to: Out<u64>,
    ) -> Status {
        let _ = (data, access, layout, row_pitch, slice_pitch);
        refuse(agent, descriptor, to)
    }

    /// Makes an image of AMD's own layout.
    fn hsa_amd_image_create(
        agent: Agent,
        descriptor: In<u64>,
        layout: In<u64>,
        data: u64,
        access: u32,
        to: Out<u64>,
    ) -> Status {
        let _ = (layout, data, access);
        refuse(agent, descriptor, to)
    }

    /// Destroys an image.
    fn hsa_ext_image_destroy(agent: Agent, image: u64) -> Status {
        let _ = image;
        no_image(agent)
    }

    /// Copies an image.
    fn hsa_ext_image_copy(agent: Agent) -> Status {
        no_image(agent)
    }

    /// Copies memory to an image.
    fn hsa_ext_image_import(agent: Agent) -> Status {
        no_image(agent)
    }

    /// Copies an image to memory.
    fn hsa_ext_image_export(agent: Agent) -> Status {
        no_image(agent)
    }

    /// Fills an image.
    fn hsa_ext_image_clear(agent: Agent) -> Status {
        no_image(agent)
    }

    /// Makes a sampler.
    fn hsa_ext_sampler_create(agent: Agent, descriptor: In<u32>, to: Out<u64>) -> Status {
        runtime()?.agent(agent)?;
        descriptor.get()?;
        to.check()?;
        Err(SAMPLER_UNSUPPORTED)
    }

    /// Destroys a sampler.
    fn hsa_ext_sampler_destroy(agent: Agent, sampler: u64) -> Status {
        let _ = sampler;
        no_image(agent)
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

/// Sizes of images. These are the address units' limits, which AMD's runtime tells for MI200 as well, though it has no
/// instructions for images: HIP lets programs allocate pitched memory only where they are not 0.
pub fn image_limit(attribute: u32, value: Any) -> Result {
    const WIDTH: u32 = 16384;
    const LAYERS: u32 = 8192;
    match attribute {
        // 1D, arrays of 1D, 1D buffers; 2D and its like; 3D.
        0x3000 | 0x3001 => value.set(WIDTH),
        0x3002 => value.set(65536u32),
        0x3003..=0x3006 => value.set([WIDTH; 2]),
        0x3007 => value.set([WIDTH, WIDTH, LAYERS]),
        0x3008 => value.set(LAYERS),
        // Images to read, to write, samplers.
        0x3009 => value.set(128u32),
        0x300a => value.set(64u32),
        0x300b => value.set(16u32),
        // Rows of pitched memory start at multiples of this.
        0x300c => value.set(256u32),
        _ => Err(Status::ERROR_INVALID_ARGUMENT),
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
