//! Code objects and executables.

use crate::abi::*;
use crate::runtime::{Program, ProgramSymbol, Runtime, Source, runtime};
use std::fs::File;
use std::io::Read;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wavemill_device::{LoadError, LoadErrorKind};
use wavemill_runtime::executable::Executable;

impl Program {
    pub fn lock(&self) -> MutexGuard<'_, Executable> {
        self.executable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The executable, which must not be frozen yet.
    fn open(&self) -> Result<MutexGuard<'_, Executable>> {
        let executable = self.lock();
        if executable.is_frozen() { Err(Status::ERROR_FROZEN_EXECUTABLE) } else { Ok(executable) }
    }
}

/// The bytes of a code object in the program's memory.
pub fn source(address: u64, size: usize) -> Result<Source> {
    if address == 0 || size == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let mut bytes = vec![0; size];
    copy_host(bytes.as_mut_ptr() as u64, address, size);
    Ok(Source { bytes, address })
}

/// The bytes of a file that the program has opened; its position does not matter and does not change.
pub fn source_of_file(file: i32, offset: usize, size: Option<usize>) -> Result<Source> {
    use std::os::unix::fs::FileExt;
    if file < 0 {
        return Err(Status::ERROR_INVALID_FILE);
    }
    // SAFETY: the file belongs to the program; `ManuallyDrop` keeps us from closing it.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(file) });
    let wrong = |_| Status::ERROR_INVALID_FILE;
    let length = file.metadata().map_err(wrong)?.len() as usize;
    let mut bytes = Vec::new();
    if length == 0 {
        (&*file).read_to_end(&mut bytes).map_err(wrong)?;
    } else {
        let size = size.unwrap_or(length.saturating_sub(offset));
        if offset.checked_add(size).is_none_or(|end| end > length) || size == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        bytes.resize(size, 0);
        file.read_exact_at(&mut bytes, offset as u64).map_err(wrong)?;
    }
    Ok(Source { bytes, address: 0 })
}

/// Makes an executable.
fn create(profile: u32, rounding: u32, frozen: bool, to: Out<ExecutableHandle>) -> Result {
    let runtime = runtime()?;
    let to = to.check()?;
    if profile > 1 || rounding > 2 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let executable = if frozen { Executable::frozen() } else { Executable::default() };
    let program = Program { executable: Mutex::new(executable), profile, rounding };
    to.set(ExecutableHandle(runtime.executables.insert(Arc::new(program))))
}

/// The status of what cannot be loaded. It does not say why, and most programs show nothing else: the words are shown here.
fn refusal(e: LoadError) -> Status {
    wavemill_device::terminal::message(format_args!("a code object cannot be loaded: {e}"));
    match e.kind {
        LoadErrorKind::Undefined => Status::ERROR_VARIABLE_UNDEFINED,
        LoadErrorKind::Target => Status::ERROR_INCOMPATIBLE_ARGUMENTS,
        LoadErrorKind::Memory => Status::ERROR_OUT_OF_RESOURCES,
        LoadErrorKind::File => Status::ERROR_INVALID_CODE_OBJECT,
    }
}

/// Loads a code object; returns the number of the part it becomes.
fn load(runtime: &Runtime, handle: ExecutableHandle, agent: Agent, source: &Source) -> Result<usize> {
    let program = runtime.executable(handle)?;
    let gpu = runtime.gpu(agent)?;
    let mut executable = program.open()?;
    let name = format!("code object {:#x}", source.address);
    let place = (source.address, source.bytes.len() as u64);
    executable.load(gpu, &name, &source.bytes, place).map_err(refusal)?;
    Ok(executable.parts.len() - 1)
}

/// The handle of a part of an executable.
pub fn loaded_handle(executable: u64, part: usize) -> LoadedHandle {
    LoadedHandle((executable << 16) | (part as u64 + 1))
}

/// The executable and part of a handle.
pub fn loaded_part(handle: LoadedHandle) -> (ExecutableHandle, usize) {
    (ExecutableHandle(handle.0 >> 16), (handle.0 & 0xffff).wrapping_sub(1) as usize)
}

fn define(executable: ExecutableHandle, gpu: Option<Agent>, name: Text, address: u64) -> Result {
    let runtime = runtime()?;
    let program = runtime.executable(executable)?;
    let name = name.get()?;
    let gpu = gpu.map(|agent| runtime.gpu(agent).map(|g| g.index)).transpose()?;
    if address == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let mut executable = program.open()?;
    if executable.define(gpu, &name, address) { Ok(()) } else { Err(Status::ERROR_VARIABLE_ALREADY_DEFINED) }
}

/// A handle for a symbol of an executable: the same one each time.
pub fn symbol_handle(runtime: &Runtime, found: ProgramSymbol) -> SymbolHandle {
    let key = Arc::as_ptr(&found.symbol) as usize;
    let mut handles = runtime.symbol_handles.lock().unwrap_or_else(PoisonError::into_inner);
    SymbolHandle(*handles.entry(key).or_insert_with(|| runtime.symbols.insert(found)))
}

fn find(executable: ExecutableHandle, name: Text, agent: Option<Agent>, to: Out<SymbolHandle>) -> Result {
    let runtime = runtime()?;
    let program = runtime.executable(executable)?;
    let (name, to) = (name.get()?, to.check()?);
    let index = agent.map(|a| runtime.agent(a)).transpose()?;
    let gpu = index.and_then(|i| i.checked_sub(1));
    let symbol = program.lock().find(&name, gpu).cloned().ok_or(Status::ERROR_INVALID_SYMBOL_NAME)?;
    to.set(symbol_handle(&runtime, ProgramSymbol { executable: executable.0, symbol }))
}

type SymbolCallback = Option<extern "C" fn(ExecutableHandle, SymbolHandle, Data) -> Status>;
type AgentSymbolCallback = Option<extern "C" fn(ExecutableHandle, Agent, SymbolHandle, Data) -> Status>;

/// The symbols of an executable that fit.
fn symbols(executable: ExecutableHandle, fits: impl Fn(Option<usize>) -> bool) -> Result<Vec<SymbolHandle>> {
    let runtime = runtime()?;
    let list = runtime.executable(executable)?.lock().symbols.clone();
    let fitting = list.into_iter().filter(|s| fits(s.gpu));
    Ok(fitting
        .map(|symbol| symbol_handle(&runtime, ProgramSymbol { executable: executable.0, symbol }))
        .collect())
}

fn validate(executable: ExecutableHandle, result: Out<u32>) -> Result {
    runtime()?.executable(executable)?;
    result.set(0)
}

api! {
    /// A reader of a code object in a file.
    fn hsa_code_object_reader_create_from_file(file: i32, to: Out<Reader>) -> Status {
        let runtime = runtime()?;
        let to = to.check()?;
        to.set(Reader(runtime.readers.insert(Arc::new(source_of_file(file, 0, None)?))))
    }

    /// A reader of a code object in memory.
    fn hsa_code_object_reader_create_from_memory(address: u64, size: usize, to: Out<Reader>) -> Status {
        let runtime = runtime()?;
        let to = to.check()?;
        to.set(Reader(runtime.readers.insert(Arc::new(source(address, size)?))))
    }

    /// Destroys a reader.
    fn hsa_code_object_reader_destroy(reader: Reader) -> Status {
        let removed = runtime()?.readers.remove(reader.0);
        removed.map(drop).ok_or(Status::ERROR_INVALID_CODE_OBJECT_READER)
    }

    /// Makes an executable.
    fn hsa_executable_create(profile: u32, state: u32, options: Text, to: Out<ExecutableHandle>) -> Status {
        runtime()?;
        let _ = options;
        if state > 1 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        create(profile, 0, state == 1, to)
    }

    /// Makes an executable.
    fn hsa_executable_create_alt(
        profile: u32,
        rounding: u32,
        options: Text,
        to: Out<ExecutableHandle>,
    ) -> Status {
        let _ = options;
        create(profile, rounding, false, to)
    }

    /// Destroys an executable; its code and variables are gone.
    fn hsa_executable_destroy(executable: ExecutableHandle) -> Status {
        let runtime = runtime()?;
        let removed = runtime.executables.remove(executable.0).ok_or(Status::ERROR_INVALID_EXECUTABLE)?;
        let mut handles = runtime.symbol_handles.lock().unwrap_or_else(PoisonError::into_inner);
        runtime.symbols.retain(|_, s| s.executable != executable.0);
        handles.retain(|_, handle| runtime.symbols.get(*handle).is_some());
        drop(handles);
        drop(removed);
        Ok(())
    }

    /// Loads a code object that defines variables of the whole program. There are none such for GPUs.
    fn hsa_executable_load_program_code_object(
        executable: ExecutableHandle,
        reader: Reader,
        options: Text,
        loaded: Out<LoadedHandle>,
    ) -> Status {
        let runtime = runtime()?;
        let _ = (options, loaded);
        drop(runtime.executable(executable)?.open()?);
        runtime.readers.get(reader.0).ok_or(Status::ERROR_INVALID_CODE_OBJECT_READER)?;
        Err(Status::ERROR_INVALID_CODE_OBJECT)
    }

    /// Loads a code object to an agent.
    fn hsa_executable_load_agent_code_object(
        executable: ExecutableHandle,
        agent: Agent,
        reader: Reader,
        options: Text,
        loaded: Out<LoadedHandle>,
    ) -> Status {
        let runtime = runtime()?;
        let _ = options;
        drop(runtime.executable(executable)?.open()?);
        runtime.agent(agent)?;
        let source = runtime.readers.get(reader.0).ok_or(Status::ERROR_INVALID_CODE_OBJECT_READER)?;
        let part = load(&runtime, executable, agent, &source)?;
        if loaded.is_null() { Ok(()) } else { loaded.set(loaded_handle(executable.0, part)) }
    }

    /// Loads a code object to an agent.
    fn hsa_executable_load_code_object(
        executable: ExecutableHandle,
        agent: Agent,
        code_object: CodeObject,
        options: Text,
    ) -> Status {
        let runtime = runtime()?;
        let _ = options;
        drop(runtime.executable(executable)?.open()?);
        runtime.agent(agent)?;
        let source = runtime.code_object(code_object)?;
        load(&runtime, executable, agent, &source).map(drop)
    }

    /// Ends loading: kernels can be run.
    fn hsa_executable_freeze(executable: ExecutableHandle, options: Text) -> Status {
        let _ = options;
        let program = runtime()?.executable(executable)?;
        program.open()?.freeze().map_err(refusal)
    }

    /// A fact about an executable.
    fn hsa_executable_get_info(executable: ExecutableHandle, attribute: u32, value: Any) -> Status {
        let program = runtime()?.executable(executable)?;
        let value = value.check()?;
        match attribute {
            1 => value.set(program.profile),
            2 => value.set(u32::from(program.lock().is_frozen())),
            3 => value.set(program.rounding),
            _ => Err(Status::ERROR_INVALID_ARGUMENT),
        }
    }

    /// Gives code objects that are loaded later a variable for all agents.
    fn hsa_executable_global_variable_define(executable: ExecutableHandle, name: Text, address: u64) -> Status {
        define(executable, None, name, address)
    }

    /// Gives code objects that are loaded later a variable for one agent.
    fn hsa_executable_agent_global_variable_define(
        executable: ExecutableHandle,
        agent: Agent,
        name: Text,
        address: u64,
    ) -> Status {
        define(executable, Some(agent), name, address)
    }

    /// Gives code objects that are loaded later a constant for one agent.
    fn hsa_executable_readonly_variable_define(
        executable: ExecutableHandle,
        agent: Agent,
        name: Text,
        address: u64,
    ) -> Status {
        define(executable, Some(agent), name, address)
    }

    /// Checks an executable: what was loaded has been checked then.
    fn hsa_executable_validate(executable: ExecutableHandle, result: Out<u32>) -> Status {
        validate(executable, result)
    }

    /// Checks an executable: what was loaded has been checked then.
    fn hsa_executable_validate_alt(executable: ExecutableHandle, options: Text, result: Out<u32>) -> Status {
        let _ = options;
        validate(executable, result)
    }

    /// The symbol of a name.
    fn hsa_executable_get_symbol(
        executable: ExecutableHandle,
        module: Text,
        name: Text,
        agent: Agent,
        call_convention: i32,
        to: Out<SymbolHandle>,
    ) -> Status {
        // Code objects have no modules and one call convention.
        let _ = (module, call_convention);
        let agent = (agent.0 != 0).then_some(agent);
        find(executable, name, agent, to)
    }

    /// The symbol of a name.
    fn hsa_executable_get_symbol_by_name(
        executable: ExecutableHandle,
        name: Text,
        agent: In<Agent>,
        to: Out<SymbolHandle>,
    ) -> Status {
        let agent = if agent.is_null() { None } else { Some(agent.get()?) };
        find(executable, name, agent, to)
    }

    /// Calls a function for each symbol.
    fn hsa_executable_iterate_symbols(
        executable: ExecutableHandle,
        callback: SymbolCallback,
        data: Data,
    ) -> Status {
        let list = symbols(executable, |_| true)?;
        let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        list.into_iter().try_for_each(|s| go_on(callback(executable, s, data)))
    }

    /// Calls a function for each symbol of an agent.
    fn hsa_executable_iterate_agent_symbols(
        executable: ExecutableHandle,
        agent: Agent,
        callback: AgentSymbolCallback,
        data: Data,
    ) -> Status {
        let runtime = runtime()?;
        runtime.executable(executable)?;
        let gpu = runtime.agent(agent)?.checked_sub(1);
        let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        let list = symbols(executable, |of| of.is_some() && of == gpu)?;
        list.into_iter().try_for_each(|s| go_on(callback(executable, agent, s, data)))
    }

    /// Calls a function for each symbol of the whole program.
    fn hsa_executable_iterate_program_symbols(
        executable: ExecutableHandle,
        callback: SymbolCallback,
        data: Data,
    ) -> Status {
        let list = symbols(executable, |of| of.is_none())?;
        let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        list.into_iter().try_for_each(|s| go_on(callback(executable, s, data)))
    }
}
