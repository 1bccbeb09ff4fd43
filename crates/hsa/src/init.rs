//! Initialisation and what there is to know about the system.

use crate::abi::*;
use crate::runtime::{self, runtime};
use std::ffi::c_char;
use wavemill_runtime::signal;

/// Where debuggers look for what was loaded (`struct r_debug`): nothing is listed yet, as version 0 says.
#[unsafe(no_mangle)]
pub static _amdgpu_r_debug: [u64; 5] = [0; 5];
versioned!(_amdgpu_r_debug);

api! {
    /// Starts the runtime, or counts one more user.
    fn hsa_init() -> Status {
        runtime::init()
    }

    /// Counts one user less; the last one ends the runtime.
    fn hsa_shut_down() -> Status {
        runtime::shut_down()
    }

    /// A status in words.
    fn hsa_status_string(status: Status, text: Out<*const c_char>) -> Status {
        runtime()?;
        let known = status.text().ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        text.set(known.as_ptr())
    }

    /// A fact about the system.
    fn hsa_system_get_info(attribute: u32, value: Any) -> Status {
        let runtime = runtime()?;
        let value = value.check()?;
        match attribute {
            0 => value.set(1u16),
            1 => value.set(1u16),
            2 => value.set(signal::now()),
            3 => value.set(1_000_000_000u64),
            4 => value.set(u64::MAX),
            // Little endian, large machine model.
            5 => value.set(0u32),
            6 => value.set(1u32),
            7 => value.set(crate::extension::bitmap()),
            0x200 => value.set(concat!("wavemill-", env!("CARGO_PKG_VERSION"), "\0").as_ptr()),
            // Shared virtual memory can be had, but must be asked for unless XNACK makes all memory the GPUs'.
            0x201 => value.set(true),
            0x202 | 0x206 => {
                let gpu = runtime.system.gpus().first();
                value.set(gpu.is_some_and(|g| g.device.target().xnack == Some(true)))
            }
            // MWAITX; memory as files, virtual memory.
            0x203 => value.set(false),
            0x204 | 0x205 => value.set(true),
            // The version of `hsa_ext_amd.h`: the one with hsa_amd_signal_get_event_id.
            0x207 => value.set(1u16),
            0x208 => value.set(21u16),
            _ => Err(Status::ERROR_INVALID_ARGUMENT),
        }
    }
}
