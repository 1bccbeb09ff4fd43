//! Which extensions there are.

use crate::abi::*;
use crate::runtime::runtime;
use std::ffi::c_char;

/// `HSA_EXTENSION_IMAGES`.
pub const IMAGES: u16 = 1;
/// `HSA_EXTENSION_AMD_PROFILER`: the functions `hsa_amd_profiling_*`, which have no table.
const PROFILER: u16 = 0x200;
/// `HSA_EXTENSION_AMD_LOADER`.
pub const LOADER: u16 = 0x201;

/// Name, and major and minor version if there is an implementation.
fn extension(number: u16) -> Option<(&'static std::ffi::CStr, Option<(u16, u16)>)> {
    Some(match number {
        0 => (c"HSA_EXTENSION_FINALIZER", None),
        // There, as with MI200, but no format is supported: programs ask it for alignments.
        IMAGES => (c"HSA_EXTENSION_IMAGES", Some((1, 0))),
        2 => (c"HSA_EXTENSION_PERFORMANCE_COUNTERS", None),
        3 => (c"HSA_EXTENSION_PROFILING_EVENTS", None),
        PROFILER => (c"HSA_EXTENSION_AMD_PROFILER", Some((1, 0))),
        LOADER => (c"HSA_EXTENSION_AMD_LOADER", Some((1, 3))),
        0x202 => (c"HSA_EXTENSION_AMD_AQLPROFILE", None),
        _ => return None,
    })
}

/// The extensions that are there, one bit each.
pub fn bitmap() -> [u8; 128] {
    let mut bits = [0; 128];
    for number in [IMAGES, PROFILER, LOADER] {
        bits[usize::from(number / 8)] |= 1 << (number % 8);
    }
    bits
}

/// The minor version of an extension that is there in this major one.
pub fn supported(number: u16, major: u16) -> Result<Option<u16>> {
    let (_, version) = extension(number).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    Ok(version.filter(|v| v.0 == major).map(|v| v.1))
}

api! {
    /// An extension's name.
    fn hsa_extension_get_name(number: u16, name: Out<*const c_char>) -> Status {
        runtime()?;
        let (text, _) = extension(number).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        name.set(text.as_ptr())
    }

    /// Whether there is an extension in at least this version.
    fn hsa_system_extension_supported(number: u16, major: u16, minor: u16, result: Out<bool>) -> Status {
        runtime()?;
        let result = result.check()?;
        result.set(supported(number, major)?.is_some_and(|m| m >= minor))
    }

    /// Whether there is an extension in this major version, and which minor one.
    fn hsa_system_major_extension_supported(
        number: u16,
        major: u16,
        minor: Out<u16>,
        result: Out<bool>,
    ) -> Status {
        runtime()?;
        let (minor, result) = (minor.check()?, result.check()?);
        let found = supported(number, major)?;
        if let Some(m) = found {
            minor.set(m)?;
        }
        result.set(found.is_some())
    }

    /// Whether an agent has an extension.
    fn hsa_agent_extension_supported(
        number: u16,
        agent: Agent,
        major: u16,
        minor: u16,
        result: Out<bool>,
    ) -> Status {
        let runtime = runtime()?;
        let result = result.check()?;
        result.set(false)?;
        runtime.agent(agent)?;
        result.set(supported(number, major)?.is_some_and(|m| m >= minor))
    }

    /// Whether an agent has an extension in this major version, and which minor one.
    fn hsa_agent_major_extension_supported(
        number: u16,
        agent: Agent,
        major: u16,
        minor: Out<u16>,
        result: Out<bool>,
    ) -> Status {
        let runtime = runtime()?;
        let (minor, result) = (minor.check()?, result.check()?);
        runtime.agent(agent)?;
        let found = supported(number, major)?;
        if let Some(m) = found {
            minor.set(m)?;
        }
        result.set(found.is_some())
    }
}
