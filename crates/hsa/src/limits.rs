//! How many and how large queues and images may be.

use crate::abi::*;
use wavemill_runtime::queue::{MAX_SIZE, MIN_SIZE};

/// Queues that a program may make of each GPU.
pub const MAX_QUEUES: u32 = 128;

/// Fewest and most packets of a queue.
pub fn queue_sizes() -> (u32, u32) {
    (MIN_SIZE, MAX_SIZE)
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
