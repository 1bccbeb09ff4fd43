//! Programs in an intermediate language: modules of SPIR-V, and the constants that programs set in them before they build.

use crate::abi::*;
use crate::build::{self, Attempt, Options};
use crate::device::Device;
use std::sync::{Mutex, OnceLock, PoisonError};
use wavemill_compile::spirv::{self, Constant};

/// A module as a program has handed it over.
pub struct Module {
    bytes: Vec<u8>,
    /// Its constants that can be set; none if it is no module at all.
    constants: OnceLock<Option<Vec<Constant>>>,
    values: Mutex<Vec<(Constant, u64)>>,
}

impl Module {
    /// A module, if the bytes begin as one.
    pub fn new(bytes: Vec<u8>) -> Option<Module> {
        spirv::is_module(&bytes).then(|| Module {
            bytes,
            constants: OnceLock::new(),
            values: Mutex::default(),
        })
    }

    /// The module itself.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Sets a constant for builds to come.
    pub fn set(&self, id: u32, size: usize, value: Bytes) -> Result {
        let constants = self.constants.get_or_init(|| spirv::constants(&self.bytes).ok());
        let constants = constants.as_ref().ok_or(Code::INVALID_PROGRAM)?;
        let constant = constants.iter().find(|c| c.id == id).ok_or(Code::INVALID_SPEC_ID)?;
        if constant.size as usize != size || size > 8 {
            return Err(Code::INVALID_VALUE);
        }
        let mut bits = [0; 8];
        bits[..size].copy_from_slice(&value.get(size)?);
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.retain(|(c, _)| c.id != id);
        values.push((*constant, u64::from_le_bytes(bits)));
        Ok(())
    }

    /// Bitcode for a device, to be linked.
    pub fn compile(&self, device: &Device) -> Attempt {
        let values = self.values.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let gpu = device.gpu.device.target().cpu.name;
        match spirv::module(&self.bytes, gpu, device.has_generic(), &values) {
            Ok(made) => Attempt { made: Some(made.output), log: made.messages },
            Err(failure) => Attempt { made: None, log: failure.messages + &failure.reason + "\n" },
        }
    }

    /// A code object for a device.
    pub fn build(&self, device: &Device, options: &Options) -> Attempt {
        let module = self.compile(device);
        let Some(bitcode) = &module.made else { return module };
        let linked = build::link(&[bitcode], device, &Options { library: false, ..options.clone() });
        Attempt { log: module.log + &linked.log, ..linked }
    }
}
