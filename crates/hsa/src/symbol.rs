//! Facts about symbols, and HSA 1.0's functions for code objects that have not been loaded.

use crate::abi::*;
use crate::agent;
use crate::runtime::{OldCodeObject, runtime};
use std::sync::{Arc, PoisonError};
use wavemill_runtime::executable::SymbolKind;

/// What there is to know about a symbol, loaded or not.
struct Facts {
    name: String,
    kind: SymbolKind,
    address: u64,
    gpu: Option<usize>,
    loaded: bool,
}

impl Facts {
    fn get(&self, attribute: u32, value: Any) -> Result {
        let value = value.check()?;
        let invalid = Err(Status::ERROR_INVALID_ARGUMENT);
        match attribute {
            0 => value.set(u32::from(matches!(self.kind, SymbolKind::Kernel(_)))),
            1 => value.set(self.name.len() as u32),
            // Not terminated: programs ask for the length first.
            2 => value.set_bytes(self.name.as_bytes()),
            3 => value.set(0u32),
            4 => value.set_bytes(&[]),
            // Program linkage, defined.
            5 => value.set(1u32),
            17 => value.set(true),
            20 if self.loaded => value.set(self.gpu.map_or(Agent(0), |g| agent::of(g + 1))),
            _ => match &self.kind {
                SymbolKind::Kernel(kernel) => match attribute {
                    22 if self.loaded => value.set(self.address),
                    11 => value.set(kernel.kernarg_bytes),
                    12 => value.set(kernel.kernarg_align),
                    13 => value.set(kernel.setup.group_bytes),
                    14 => value.set(kernel.setup.private_bytes),
                    15 => value.set(kernel.setup.dynamic_stack),
                    18 => value.set(0u32),
                    _ => invalid,
                },
                SymbolKind::Variable { size, constant } => match attribute {
                    21 if self.loaded => value.set(self.address),
                    6 => value.set(u32::from(self.gpu.is_none())),
                    7 => value.set(u32::from(*constant)),
                    8 => value.set(1u32 << self.address.trailing_zeros().min(12)),
                    9 => value.set(u32::try_from(*size).unwrap_or(u32::MAX)),
                    10 => value.set(*constant),
                    _ => invalid,
                },
            },
        }
    }
}

/// The facts about the code object of a handle, as if it had been loaded.
fn code_object(handle: CodeObject) -> Result<wavemill_runtime::executable::Executable> {
    let runtime = runtime()?;
    let source = runtime.code_object(handle)?;
    let gpu = runtime.system.gpus().first().ok_or(Status::ERROR_INVALID_CODE_OBJECT)?;
    let mut executable = wavemill_runtime::executable::Executable::default();
    let loaded = executable.load(gpu, "code object", &source.bytes, (source.address, 0));
    loaded.map_err(|_| Status::ERROR_INVALID_CODE_OBJECT)?;
    Ok(executable)
}

/// The symbols of a code object by number.
fn code_symbol(handle: CodeObject, number: usize) -> CodeSymbol {
    // Code objects lie in pages of their own; user addresses have 47 bits.
    CodeSymbol(handle.0 << 16 | (number as u64 + 1))
}

fn find_code_symbol(handle: CodeObject, name: Text, to: Out<CodeSymbol>) -> Result {
    let executable = code_object(handle)?;
    let (name, to) = (name.get()?, to.check()?);
    let found = executable.find(&name, Some(0)).ok_or(Status::ERROR_INVALID_SYMBOL_NAME)?;
    let number = executable.symbols.iter().position(|s| Arc::ptr_eq(s, found));
    to.set(code_symbol(handle, number.unwrap_or(0)))
}

type AllocCallback = Option<extern "C" fn(usize, Data, Out<u64>) -> Status>;
type CodeSymbolCallback = Option<extern "C" fn(CodeObject, CodeSymbol, Data) -> Status>;

api! {
    /// A fact about a symbol of an executable.
    fn hsa_executable_symbol_get_info(handle: SymbolHandle, attribute: u32, value: Any) -> Status {
        let runtime = runtime()?;
        let found = runtime.symbols.get(handle.0).ok_or(Status::ERROR_INVALID_EXECUTABLE_SYMBOL)?;
        let s = &found.symbol;
        let facts =
            Facts { name: s.name.clone(), kind: s.kind.clone(), address: s.address, gpu: s.gpu, loaded: true };
        facts.get(attribute, value)
    }

    /// Copies a code object to memory of the program.
    fn hsa_code_object_serialize(
        handle: CodeObject,
        alloc: AllocCallback,
        data: Data,
        options: Text,
        to: Out<u64>,
        size: Out<usize>,
    ) -> Status {
        let runtime = runtime()?;
        let _ = options;
        let source = runtime.code_object(handle)?;
        let alloc = alloc.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        let (to, size) = (to.check()?, size.check()?);
        go_on(alloc(source.bytes.len(), data, to))?;
        let address = to.get()?;
        if address == 0 {
            return Err(Status::ERROR_OUT_OF_RESOURCES);
        }
        copy_host(address, source.bytes.as_ptr() as u64, source.bytes.len());
        size.set(source.bytes.len())
    }

    /// Takes a code object from memory of the program.
    fn hsa_code_object_deserialize(address: u64, size: usize, options: Text, to: Out<CodeObject>) -> Status {
        let runtime = runtime()?;
        let _ = options;
        let to = to.check()?;
        let object = Arc::new(OldCodeObject::new(&crate::code::source(address, size)?)?);
        let handle = object.handle();
        runtime.code_objects.lock().unwrap_or_else(PoisonError::into_inner).insert(handle, object);
        to.set(CodeObject(handle))
    }

    /// Destroys a code object.
    fn hsa_code_object_destroy(handle: CodeObject) -> Status {
        let runtime = runtime()?;
        let removed = runtime.code_objects.lock().unwrap_or_else(PoisonError::into_inner).remove(&handle.0);
        removed.map(drop).ok_or(Status::ERROR_INVALID_CODE_OBJECT)
    }

    /// A fact about a code object.
    fn hsa_code_object_get_info(handle: CodeObject, attribute: u32, value: Any) -> Status {
        let executable = code_object(handle)?;
        let value = value.check()?;
        let version = executable.parts.first().map_or(0, |p| p.object.version);
        match attribute {
            0 => value.set_text(&version.to_string(), 64),
            1 => value.set(0u32),
            2 => value.set(agent::isa()),
            // Large machine model, base profile, rounding to nearest.
            3 => value.set(1u32),
            4 => value.set(0u32),
            5 => value.set(2u32),
            _ => Err(Status::ERROR_INVALID_ARGUMENT),
        }
    }

    /// The symbol of a name.
    fn hsa_code_object_get_symbol(handle: CodeObject, name: Text, to: Out<CodeSymbol>) -> Status {
        find_code_symbol(handle, name, to)
    }

    /// The symbol of a name.
    fn hsa_code_object_get_symbol_from_name(
        handle: CodeObject,
        module: Text,
        name: Text,
        to: Out<CodeSymbol>,
    ) -> Status {
        let _ = module;
        find_code_symbol(handle, name, to)
    }

    /// A fact about a symbol of a code object.
    fn hsa_code_symbol_get_info(handle: CodeSymbol, attribute: u32, value: Any) -> Status {
        runtime()?;
        let number = (handle.0 & 0xffff).checked_sub(1).ok_or(Status::ERROR_INVALID_CODE_SYMBOL)?;
        let executable =
            code_object(CodeObject(handle.0 >> 16)).map_err(|_| Status::ERROR_INVALID_CODE_SYMBOL)?;
        let s = executable.symbols.get(number as usize).ok_or(Status::ERROR_INVALID_CODE_SYMBOL)?;
        let facts = Facts { name: s.name.clone(), kind: s.kind.clone(), address: s.address, gpu: s.gpu, loaded: false };
        facts.get(attribute, value)
    }

    /// Calls a function for each symbol of a code object.
    fn hsa_code_object_iterate_symbols(handle: CodeObject, callback: CodeSymbolCallback, data: Data) -> Status {
        let executable = code_object(handle)?;
        let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        let count = executable.symbols.len();
        drop(executable);
        (0..count).try_for_each(|i| go_on(callback(handle, code_symbol(handle, i), data)))
    }
}
