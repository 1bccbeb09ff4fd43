//! Images through the extension's functions, on a GPU that has them: a process of its own, for the GPU is the process's.

#[allow(dead_code)]
#[path = "it/constants.rs"]
mod constants;
#[allow(dead_code)]
#[path = "it/ffi.rs"]
mod ffi;

use constants::*;
use ffi::*;
use std::ffi::c_void;
use std::ptr::null;

#[repr(C)]
struct Descriptor {
    geometry: u32,
    width: usize,
    height: usize,
    depth: usize,
    array_size: usize,
    channel_type: u32,
    channel_order: u32,
}

#[repr(C)]
#[derive(Default)]
struct DataInfo {
    size: usize,
    alignment: usize,
}

type Dim = [u32; 3];

/// The extension's functions, found by name.
macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {$(
        fn $name($($argument: $type),*) -> $result {
            type Pointer = unsafe extern "C" fn($($type),*) -> $result;
            // SAFETY: declared as in the header; the test hands over what the header asks for, or what it promises an
            // error code for.
            unsafe { function::<Pointer>(stringify!($name))($($argument),*) }
        }
    )*};
}

functions! {
    fn hsa_ext_image_get_capability(
        agent: Agent,
        geometry: u32,
        format: *const [u32; 2],
        mask: *mut u32,
    ) -> Status;
    fn hsa_ext_image_data_get_info(
        agent: Agent,
        d: *const Descriptor,
        access: u32,
        to: *mut DataInfo,
    ) -> Status;
    fn hsa_ext_image_create(
        agent: Agent,
        d: *const Descriptor,
        data: *const c_void,
        access: u32,
        to: *mut u64,
    ) -> Status;
    fn hsa_ext_image_destroy(agent: Agent, image: u64) -> Status;
    fn hsa_ext_image_import(
        agent: Agent,
        from: *const c_void,
        row: usize,
        slice: usize,
        to: u64,
        region: *const [Dim; 2],
    ) -> Status;
    fn hsa_ext_image_export(
        agent: Agent,
        from: u64,
        to: *mut c_void,
        row: usize,
        slice: usize,
        region: *const [Dim; 2],
    ) -> Status;
    fn hsa_ext_image_copy(
        agent: Agent,
        from: u64,
        at: *const Dim,
        to: u64,
        there: *const Dim,
        range: *const Dim,
    ) -> Status;
    fn hsa_ext_image_clear(
        agent: Agent,
        image: u64,
        colour: *const [f32; 4],
        region: *const [Dim; 2],
    ) -> Status;
    fn hsa_ext_sampler_create(agent: Agent, d: *const [u32; 3], to: *mut u64) -> Status;
    fn hsa_ext_sampler_destroy(agent: Agent, sampler: u64) -> Status;
}

const FORMAT_UNSUPPORTED: Status = 0x3000;
const SIZE_UNSUPPORTED: Status = 0x3001;
/// Geometry 2D, unorm8, RGBA, read and write.
const D2: u32 = 1;
const UNORM8: u32 = 2;
const RGBA: u32 = 8;
const READ_WRITE: u32 = 3;

unsafe extern "C" fn first_gpu(agent: Agent, data: *mut c_void) -> Status {
    let mut kind = 0u32;
    assert_eq!(hsa_agent_get_info(agent, AGENT_INFO_DEVICE, (&raw mut kind).cast()), STATUS_SUCCESS);
    if kind != DEVICE_TYPE_GPU {
        return STATUS_SUCCESS;
    }
    // SAFETY: the agent of the caller.
    unsafe { *data.cast::<Agent>() = agent };
    STATUS_INFO_BREAK
}

#[test]
fn images_are_made_filled_and_copied() {
    // SAFETY: no other thread of this process runs yet.
    unsafe { std::env::set_var("WAVEMILL_GPU", "vega10") };
    assert_eq!(hsa_init(), STATUS_SUCCESS);
    let mut gpu = Agent::default();
    assert_eq!(hsa_iterate_agents(Some(first_gpu), (&raw mut gpu).cast()), STATUS_INFO_BREAK);
    let mut mask = 0;
    assert_eq!(hsa_ext_image_get_capability(gpu, D2, &[UNORM8, RGBA], &mut mask), STATUS_SUCCESS);
    assert_eq!(mask & 7, 7, "it can be read, written, both");
    // Three bytes of texel are in no GPU.
    assert_eq!(hsa_ext_image_get_capability(gpu, D2, &[UNORM8, 6], &mut mask), STATUS_SUCCESS);
    assert_eq!(mask, 0);

    let mut d = Descriptor {
        geometry: D2,
        width: 5,
        height: 4,
        depth: 1,
        array_size: 0,
        channel_type: UNORM8,
        channel_order: RGBA,
    };
    let mut info = DataInfo::default();
    assert_eq!(hsa_ext_image_data_get_info(gpu, &d, READ_WRITE, &mut info), STATUS_SUCCESS);
    assert!(info.size >= 5 * 4 * 4 && info.alignment.is_power_of_two());
    let room = || {
        let bytes = vec![0u8; info.size + info.alignment].leak();
        let skip = bytes.as_ptr().align_offset(info.alignment);
        bytes[skip..].as_mut_ptr().cast::<c_void>()
    };
    let mut images = [0; 2];
    for image in &mut images {
        assert_eq!(hsa_ext_image_create(gpu, &d, room(), READ_WRITE, image), STATUS_SUCCESS);
    }
    let whole = [[0; 3], [5, 4, 1]];
    let texels: Vec<u8> = (0..80).collect();
    assert_eq!(hsa_ext_image_import(gpu, texels.as_ptr().cast(), 0, 0, images[0], &whole), STATUS_SUCCESS);
    // Red in two texels, then three rows of the first image into the second, from its second row on.
    let red = [1.0, 0.0, 0.0, 1.0];
    assert_eq!(hsa_ext_image_clear(gpu, images[0], &red, &[[1, 0, 0], [2, 1, 1]]), STATUS_SUCCESS);
    let copied = hsa_ext_image_copy(gpu, images[0], &[0; 3], images[1], &[0, 1, 0], &[5, 3, 1]);
    assert_eq!(copied, STATUS_SUCCESS);
    let mut back = vec![0u8; 4 * 24];
    assert_eq!(hsa_ext_image_export(gpu, images[1], back.as_mut_ptr().cast(), 24, 0, &whole), STATUS_SUCCESS);
    let mut expected = texels.clone();
    expected[4..12].copy_from_slice(&[255, 0, 0, 255, 255, 0, 0, 255]);
    assert_eq!(back[..24], [0; 24]);
    for row in 0..3 {
        assert_eq!(back[24 * (row + 1)..][..20], expected[20 * row..][..20], "row {row}");
    }

    // What is wrong has its status.
    let outside = [[4, 0, 0], [2, 1, 1]];
    assert_eq!(hsa_ext_image_clear(gpu, images[0], &red, &outside), STATUS_ERROR_INVALID_ARGUMENT);
    assert_eq!(hsa_ext_image_destroy(gpu, 0x1234), STATUS_ERROR_INVALID_ARGUMENT);
    assert_eq!(
        hsa_ext_image_create(gpu, null(), null(), READ_WRITE, &mut images[0]),
        STATUS_ERROR_INVALID_ARGUMENT
    );
    d.width = 1 << 20;
    assert_eq!(hsa_ext_image_data_get_info(gpu, &d, READ_WRITE, &mut info), SIZE_UNSUPPORTED);
    d.channel_order = 6;
    assert_eq!(hsa_ext_image_data_get_info(gpu, &d, READ_WRITE, &mut info), FORMAT_UNSUPPORTED);
    for image in images {
        assert_eq!(hsa_ext_image_destroy(gpu, image), STATUS_SUCCESS);
        assert_eq!(hsa_ext_image_destroy(gpu, image), STATUS_ERROR_INVALID_ARGUMENT, "it is gone");
    }

    let mut sampler = 0;
    assert_eq!(hsa_ext_sampler_create(gpu, &[1, 1, 3], &mut sampler), STATUS_SUCCESS);
    assert_eq!(hsa_ext_sampler_create(gpu, &[1, 1, 9], &mut sampler), STATUS_ERROR_INVALID_ARGUMENT);
    assert_eq!(hsa_ext_sampler_destroy(gpu, sampler), STATUS_SUCCESS);
    assert_eq!(hsa_shut_down(), STATUS_SUCCESS);
}
