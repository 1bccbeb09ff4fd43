//! Which extensions there are, and their tables of functions.

use crate::abi::*;
use crate::runtime::runtime;
use std::ffi::c_char;

/// `HSA_EXTENSION_IMAGES`.
const IMAGES: u16 = 1;
/// `HSA_EXTENSION_AMD_PROFILER`: the functions `hsa_amd_profiling_*`, which have no table.
const PROFILER: u16 = 0x200;
/// `HSA_EXTENSION_AMD_LOADER`.
const LOADER: u16 = 0x201;

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

fn supported(number: u16, major: u16) -> Result<Option<u16>> {
    let (_, version) = extension(number).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    Ok(version.filter(|v| v.0 == major).map(|v| v.1))
}

/// Copies the first bytes of an extension's table.
fn table(number: u16, major: u16, length: usize, table: Any) -> Result {
    runtime()?;
    let table = table.check()?;
    if length == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    supported(number, major)?.ok_or(Status::ERROR)?;
    let functions = functions(number);
    if functions.is_empty() {
        return Err(Status::ERROR);
    }
    let bytes: Vec<u8> = functions.iter().flat_map(|f| f.to_ne_bytes()).collect();
    table.set_bytes(&bytes[..length.min(bytes.len())])
}

/// The addresses of an extension's functions, in the order of its table.
fn functions(number: u16) -> Vec<usize> {
    match number {
        IMAGES => crate::amd::image::table().to_vec(),
        LOADER => crate::amd::loader::table().to_vec(),
        _ => Vec::new(),
    }
}

/// Bytes of an extension's table in a minor version of version 1.
fn table_bytes(number: u16, minor: u16) -> usize {
    let count = match (number, minor) {
        (IMAGES, _) => 10,
        (_, 0) => 3,
        (_, 1) => 5,
        (_, 2) => 6,
        _ => 7,
    };
    count * size_of::<usize>()
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

    /// The functions of an extension.
    fn hsa_system_get_extension_table(number: u16, major: u16, minor: u16, functions: Any) -> Status {
        runtime()?;
        let functions = functions.check()?;
        supported(number, major)?.filter(|m| *m >= minor).ok_or(Status::ERROR)?;
        table(number, major, table_bytes(number, minor), functions)
    }

    /// The first functions of an extension, as many as there is room for.
    fn hsa_system_get_major_extension_table(number: u16, major: u16, length: usize, functions: Any) -> Status {
        table(number, major, length, functions)
    }
}
