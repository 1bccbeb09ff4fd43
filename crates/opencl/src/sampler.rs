//! Samplers.

use crate::abi::*;
use crate::context::Context;
use crate::handle::{self, Handle, Object, Slot, Table};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use wavemill_device::image::sampler::Sampler as Description;
use wavemill_runtime::image::Images;
use wavemill_runtime::platform::Gpu;

/// `cl_sampler`.
pub struct Sampler {
    slot: Slot,
    context: Arc<Context>,
    normalized: bool,
    addressing: u32,
    filter: u32,
    properties: Vec<u64>,
    description: Description,
    /// What kernels find, and where, for each GPU.
    objects: Images,
    handles: Mutex<HashMap<usize, u64>>,
}

static TABLE: Table<Sampler> = Table::new();

impl Object for Sampler {
    const INVALID: Code = Code::INVALID_SAMPLER;

    fn table() -> &'static Table<Self> {
        &TABLE
    }

    fn slot(&self) -> &Slot {
        &self.slot
    }
}

/// CL_ADDRESS_NONE and CL_FILTER_NEAREST, which others follow.
const ADDRESS: u32 = 0x1130;
const FILTER: u32 = 0x1140;

impl Sampler {
    fn create(
        context: Arc<Context>,
        normalized: u32,
        addressing: u32,
        filter: u32,
        properties: Vec<u64>,
    ) -> Result<Handle<Sampler>> {
        if context.devices.iter().all(|d| !d.has_images()) {
            return Err(Code::INVALID_OPERATION);
        }
        let description =
            Description::from_hsa(normalized, filter.wrapping_sub(FILTER), addressing.wrapping_sub(ADDRESS));
        let description = description.ok_or(Code::INVALID_VALUE)?;
        let made = handle::create(|slot| Sampler {
            slot,
            context,
            normalized: normalized != 0,
            addressing,
            filter,
            properties,
            description,
            objects: Images::default(),
            handles: Mutex::default(),
        });
        Ok(made.handle())
    }

    /// Where kernels on a GPU find it.
    pub fn address(&self, gpu: &Arc<Gpu>) -> Result<u64> {
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = handles.get(&gpu.index) {
            return Ok(*found);
        }
        let made = self.objects.create_sampler(gpu, &self.description);
        let made = made.map_err(|_| Code::OUT_OF_RESOURCES)?;
        handles.insert(gpu.index, made);
        Ok(made)
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }
}

api! {
    /// A sampler.
    fn clCreateSampler(
        context: Handle<Context>,
        normalized: u32,
        addressing: u32,
        filter: u32,
    ) -> make Handle<Sampler> {
        Sampler::create(handle::get(context)?, normalized, addressing, filter, Vec::new())
    }

    /// A sampler.
    fn clCreateSamplerWithProperties(context: Handle<Context>, properties: In<u64>) -> make Handle<Sampler> {
        let context = handle::get(context)?;
        let pairs = properties.pairs()?;
        let (mut normalized, mut addressing, mut filter) = (1, ADDRESS + 2, FILTER);
        for (i, (name, value)) in pairs.iter().enumerate() {
            if pairs[..i].iter().any(|(n, _)| n == name) {
                return Err(Code::INVALID_VALUE);
            }
            let value = u32::try_from(*value).map_err(|_| Code::INVALID_VALUE)?;
            match name {
                0x1152 => normalized = value,
                0x1153 => addressing = value,
                0x1154 => filter = value,
                _ => return Err(Code::INVALID_VALUE),
            }
        }
        let mut given: Vec<u64> = pairs.into_iter().flat_map(|(k, v)| [k, v]).collect();
        if !properties.is_null() {
            given.push(0);
        }
        Sampler::create(context, normalized, addressing, filter, given)
    }

    /// One reference more.
    fn clRetainSampler(sampler: Handle<Sampler>) -> Code {
        handle::retain(sampler)
    }

    /// One reference less.
    fn clReleaseSampler(sampler: Handle<Sampler>) -> Code {
        handle::release(sampler).map(|_| ())
    }

    /// A fact about a sampler.
    fn clGetSamplerInfo(
        sampler: Handle<Sampler>,
        name: u32,
        room: usize,
        value: Bytes,
        size: Out<usize>,
    ) -> Code {
        let sampler = handle::get(sampler)?;
        let answer = Answer::new(room, value, size);
        match name {
            0x1150 => answer.set(handle::references(&sampler)?),
            0x1151 => answer.set(sampler.context.handle()),
            0x1152 => answer.set(sampler.normalized),
            0x1153 => answer.set(sampler.addressing),
            0x1154 => answer.set(sampler.filter),
            0x1158 => answer.list(&sampler.properties),
            _ => Err(Code::INVALID_VALUE),
        }
    }
}
