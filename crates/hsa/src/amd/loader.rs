//! The functions of `HSA_EXTENSION_AMD_LOADER`: what is loaded where.

use crate::abi::*;
use crate::agent;
use crate::code::{loaded_handle, loaded_part, source_of_file};
use crate::runtime::{Program, runtime};
use std::sync::Arc;

/// `hsa_ven_amd_loader_segment_descriptor_t`.
#[repr(C)]
struct Segment {
    agent: Agent,
    executable: ExecutableHandle,
    storage: u32,
    storage_base: u64,
    storage_size: usize,
    storage_offset: usize,
    base: u64,
    size: usize,
}

/// `HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY`.
const IN_MEMORY: u32 = 2;

type PartCallback = Option<extern "C" fn(ExecutableHandle, LoadedHandle, Data) -> Status>;
type ExecutableCallback = Option<extern "C" fn(ExecutableHandle, Data) -> Status>;

/// Every executable.
fn executables() -> Result<Vec<(u64, Arc<Program>)>> {
    Ok(runtime()?.executables.list())
}

/// Device memory is host memory, so the address is the same.
extern "C" fn query_host_address(device: u64, host: Out<u64>) -> Status {
    enter(|| {
        let runtime = runtime()?;
        let host = host.check()?;
        let loaded = executables()?.iter().any(|(_, p)| p.lock().part_at(device).is_some());
        if device == 0 || !(loaded || runtime.system.heap.find(device).is_some()) {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        host.set(device)
    })
}

extern "C" fn query_segment_descriptors(list: Out<Segment>, count: Out<usize>) -> Status {
    enter(|| {
        let mut segments = Vec::new();
        let count = count.check()?;
        for (handle, program) in executables()? {
            for part in &program.lock().parts {
                let (base, size) = part.object.extent();
                segments.push(Segment {
                    agent: agent::of(part.gpu.index + 1),
                    executable: ExecutableHandle(handle),
                    storage: IN_MEMORY,
                    storage_base: part.source.0,
                    storage_size: part.source.1 as usize,
                    storage_offset: 0,
                    base,
                    size: size as usize,
                });
            }
        }
        let room = count.get()?;
        if list.is_null() != (room == 0) {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        count.set(segments.len())?;
        if list.is_null() {
            return Ok(());
        }
        if room < segments.len() {
            return Err(Status::ERROR_INCOMPATIBLE_ARGUMENTS);
        }
        segments.into_iter().enumerate().try_for_each(|(i, s)| list.set_at(i, s))
    })
}

extern "C" fn query_executable(device: u64, to: Out<ExecutableHandle>) -> Status {
    enter(|| {
        let to = to.check()?;
        let found = executables()?.into_iter().find(|(_, p)| p.lock().part_at(device).is_some());
        to.set(ExecutableHandle(found.ok_or(Status::ERROR_INVALID_ARGUMENT)?.0))
    })
}

extern "C" fn iterate_loaded_code_objects(
    executable: ExecutableHandle,
    callback: PartCallback,
    data: Data,
) -> Status {
    enter(|| {
        let count = runtime()?.executable(executable)?.lock().parts.len();
        let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        (0..count).try_for_each(|i| go_on(callback(executable, loaded_handle(executable.0, i), data)))
    })
}

extern "C" fn loaded_code_object_get_info(handle: LoadedHandle, attribute: u32, value: Any) -> Status {
    enter(|| {
        let (executable, number) = loaded_part(handle);
        let program = runtime()?.executable(executable).map_err(|_| Status::ERROR_INVALID_CODE_OBJECT)?;
        let value = value.check()?;
        let executable_lock = program.lock();
        let part = executable_lock.parts.get(number).ok_or(Status::ERROR_INVALID_CODE_OBJECT)?;
        let (base, size) = part.object.extent();
        let uri = || {
            let (pid, (at, bytes)) = (std::process::id(), part.source);
            format!("memory://{pid}#offset={at:#x}&size={bytes}")
        };
        match attribute {
            1 => value.set(executable),
            // Loaded to an agent.
            2 => value.set(2u32),
            3 => value.set(agent::of(part.gpu.index + 1)),
            4 => value.set(IN_MEMORY),
            5 => value.set(part.source.0),
            6 => value.set(part.source.1),
            8 => value.set(part.object.bias),
            9 => value.set(base),
            10 => value.set(size),
            11 => value.set(uri().len() as u32),
            12 => value.set_bytes(uri().as_bytes()),
            _ => Err(Status::ERROR_INVALID_ARGUMENT),
        }
    })
}

extern "C" fn reader_create_from_file(file: i32, offset: usize, size: usize, to: Out<Reader>) -> Status {
    enter(|| {
        let runtime = runtime()?;
        let to = to.check()?;
        if size == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let source = source_of_file(file, offset, Some(size))?;
        to.set(Reader(runtime.readers.insert(Arc::new(source))))
    })
}

extern "C" fn iterate_executables(callback: ExecutableCallback, data: Data) -> Status {
    enter(|| {
        let list = executables()?;
        let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        list.into_iter().try_for_each(|(handle, _)| go_on(callback(ExecutableHandle(handle), data)))
    })
}

/// The functions in the order of the extension's table, as addresses.
pub fn table() -> [usize; 7] {
    [
        query_host_address as *const () as usize,
        query_segment_descriptors as *const () as usize,
        query_executable as *const () as usize,
        iterate_loaded_code_objects as *const () as usize,
        loaded_code_object_get_info as *const () as usize,
        reader_create_from_file as *const () as usize,
        iterate_executables as *const () as usize,
    ]
}
