//! Images and samplers that programs have made: objects in a GPU's memory whose address is the handle.

use crate::platform::Gpu;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wavemill_device::image::sampler::{self, SAMPLER_BYTES, Sampler};
use wavemill_device::image::{IMAGE_BYTES, Image, ImageError};
use wavemill_device::memory::{MemoryError, Region, Use};

/// An image that a program has made.
pub struct ImageObject {
    /// Its layout.
    pub image: Image,
    /// Where its texels are.
    pub data: u64,
    /// Number of the GPU.
    pub gpu: usize,
    /// What kernels find.
    _object: Region,
}

/// Why there is no such object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ObjectError {
    /// The image itself.
    Image(ImageError),
    /// No memory for what kernels find.
    Memory(MemoryError),
}

/// All images and samplers, by handle.
#[derive(Default)]
pub struct Images {
    images: Mutex<HashMap<u64, Arc<ImageObject>>>,
    samplers: Mutex<HashMap<u64, (usize, Region)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

impl Images {
    /// Makes an image of texels that lie at `data`.
    pub fn create(&self, gpu: &Arc<Gpu>, image: Image, data: u64) -> Result<u64, ObjectError> {
        let words = image.words(data).map_err(ObjectError::Image)?;
        let object = gpu.device.memory().allocate(IMAGE_BYTES, Use::Device, "an image's descriptor");
        let object = object.map_err(ObjectError::Memory)?;
        object.write(0, &bytes(&words));
        let handle = object.start();
        let made = ImageObject { image, data, gpu: gpu.index, _object: object };
        lock(&self.images).insert(handle, Arc::new(made));
        Ok(handle)
    }

    /// The image of a handle.
    pub fn find(&self, handle: u64) -> Option<Arc<ImageObject>> {
        lock(&self.images).get(&handle).cloned()
    }

    /// Forgets an image of a GPU; false when there is none. Its texels stay the program's.
    pub fn destroy(&self, gpu: usize, handle: u64) -> bool {
        let mut images = lock(&self.images);
        let found = images.get(&handle).is_some_and(|i| i.gpu == gpu);
        found && images.remove(&handle).is_some()
    }

    /// Makes a sampler.
    pub fn create_sampler(&self, gpu: &Arc<Gpu>, sampler: &Sampler) -> Result<u64, MemoryError> {
        let object = gpu.device.memory().allocate(SAMPLER_BYTES, Use::Device, "a sampler's descriptor")?;
        object.write(0, &bytes(&sampler::words(sampler, gpu.device.target().level())));
        let handle = object.start();
        lock(&self.samplers).insert(handle, (gpu.index, object));
        Ok(handle)
    }

    /// Forgets a sampler of a GPU; false when there is none.
    pub fn destroy_sampler(&self, gpu: usize, handle: u64) -> bool {
        let mut samplers = lock(&self.samplers);
        let found = samplers.get(&handle).is_some_and(|s| s.0 == gpu);
        found && samplers.remove(&handle).is_some()
    }
}
