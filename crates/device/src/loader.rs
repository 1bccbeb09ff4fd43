//! Loading code objects: segments into memory, dynamic relocations, symbols, kernels.
//!
//! A relocatable object is linked on the way; code objects of version 1 are `finalized`'s. Nothing of the file is trusted: every offset is checked against what
//! was mapped.

mod finalized;

use crate::kernel::Kernel;
use crate::memory::{Allocations, Region, Use};
use crate::scan;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use wavemill_isa::{Target, target};
use wavemill_object::elf::{
    self, PF_W, PF_X, PT_LOAD, SHF_EXECINSTR, STB_LOCAL, STB_WEAK, STT_FUNC, STT_OBJECT,
};
use wavemill_object::kernel_code;
use wavemill_object::link::{self, Input};
use wavemill_object::read::{self, File, KernelForm, Kind, Relocation};
use wavemill_object::target_id::{Setting, TargetId};

const SHN_UNDEF: u32 = elf::SHN_UNDEF as u32;
const SHN_ABS: u32 = elf::SHN_ABS as u32;

/// Byte of `amd_kernel_code_t` where `runtime_loader_kernel_symbol` is.
const LOADER_SYMBOL: u64 = 120;

/// Code objects may not span more.
const MAX_SPAN: u64 = 1 << 32;

/// What is wrong with a code object that cannot be loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadErrorKind {
    /// The file itself.
    File,
    /// It is for another GPU, or for other features of it.
    Target,
    /// A symbol that nobody defines.
    Undefined,
    /// There is no memory for it.
    Memory,
}

/// Why a code object cannot be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadError {
    /// What is wrong.
    pub kind: LoadErrorKind,
    /// The same in words.
    pub message: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LoadError {}

fn refuse<T>(kind: LoadErrorKind, message: impl Into<String>) -> Result<T, LoadError> {
    Err(LoadError { kind, message: message.into() })
}

fn fail<T>(message: impl Into<String>) -> Result<T, LoadError> {
    refuse(LoadErrorKind::File, message)
}

/// What a reader of files says.
fn broken(error: read::Error) -> LoadError {
    LoadError { kind: LoadErrorKind::File, message: error.to_string() }
}

/// A named place in a loaded code object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Name.
    pub name: String,
    /// Address in memory.
    pub address: u64,
    /// Size in bytes, 0 if not said.
    pub size: u64,
    /// It is code.
    pub function: bool,
    /// Other code objects and programs may name it.
    pub global: bool,
}

/// A code object in memory.
pub struct Loaded {
    /// What messages call it.
    pub name: String,
    /// The linked file: debug information is read from it when it is needed.
    pub file: Vec<u8>,
    /// What it was made for.
    pub target_id: TargetId,
    /// Code object version.
    pub version: u8,
    /// Address in memory less address in the file.
    pub bias: u64,
    /// Its kernels.
    pub kernels: Vec<Arc<Kernel>>,
    /// Its variables and functions, lowest address first.
    pub symbols: Vec<Symbol>,
    /// Its code may read TRAPSTS, and so see which float exceptions have occurred.
    pub reads_trapsts: bool,
    /// Its code may have ordered counts: dispatches keep the order of their waves.
    pub counts_in_order: bool,
    region: Region,
    /// What symbols of others are to be written to.
    open: Mutex<Vec<Open>>,
}

/// A relocation against a symbol that nobody has defined yet.
struct Open {
    relocation: Relocation,
    symbol: String,
    /// Nobody needs to define it.
    weak: bool,
}

impl Loaded {
    /// Writes the addresses of symbols that were not known when it was loaded. The error names one that still is not; weak
    /// ones are null until somebody defines them.
    pub fn resolve(&self, externs: &HashMap<String, u64>) -> Result<(), LoadError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let left = std::mem::take(&mut *open);
        for one in left {
            match externs.get(&one.symbol) {
                Some(&address) => apply(&self.region, self.bias, &one.relocation, address)?,
                None => open.push(one),
            }
        }
        match open.iter().find(|o| !o.weak) {
            None => Ok(()),
            Some(missing) => {
                refuse(LoadErrorKind::Undefined, format!("nobody defines the symbol {}", missing.symbol))
            }
        }
    }

    /// First address and size.
    pub fn extent(&self) -> (u64, u64) {
        (self.region.start(), self.region.len())
    }

    /// True when an address lies in it.
    pub fn contains(&self, address: u64) -> bool {
        let (start, len) = self.extent();
        address >= start && address - start < len
    }

    /// The kernel of a name, with or without `.kd`.
    pub fn kernel(&self, name: &str) -> Option<&Arc<Kernel>> {
        let name = name.strip_suffix(".kd").unwrap_or(name);
        self.kernels.iter().find(|k| k.name == name)
    }

    /// The variable or function of a name.
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|s| s.name == name)
    }

    /// The function that an address lies in: the last one that starts at or before it.
    pub fn function_at(&self, address: u64) -> Option<&Symbol> {
        let at = self.symbols.partition_point(|s| s.address <= address);
        let function = self.symbols[..at].iter().rev().find(|s| s.function)?;
        (function.size == 0 || address - function.address < function.size).then_some(function)
    }
}

/// The target a code object says it is for, features included, as a processor of ours.
pub fn target_of(file: &File<'_>) -> Result<(TargetId, Target), LoadError> {
    let id = file.target_id().map_err(broken)?;
    let Some(id) = id else { return fail("it does not say for which processor it is") };
    let Some(cpu) = target::processor(&id.processor) else {
        return refuse(
            LoadErrorKind::Target,
            format!("it is for {}, which Wavemill cannot run (GFX6 to gfx90a it can)", id.processor),
        );
    };
    let generic = (file.flags & elf::EF_AMDGPU_GENERIC_VERSION) >> elf::GENERIC_VERSION_SHIFT;
    if cpu.is_generic() && generic > elf::GENERIC_VERSION {
        return refuse(
            LoadErrorKind::Target,
            format!(
                "it is for version {generic} of {}, of which version {} is the last known",
                cpu.name,
                elf::GENERIC_VERSION
            ),
        );
    }
    let mut target = Target::new(cpu);
    target.xnack = id.xnack.request();
    target.sramecc = id.sramecc.request();
    Ok((id, target))
}

/// Links a relocatable object; anything else is handed back as it is.
pub fn linked(name: &str, data: Vec<u8>) -> Result<Vec<u8>, LoadError> {
    let relocatable = {
        let file = File::parse(&data).map_err(broken)?;
        file.kind == Kind::Relocatable && !file.is_finalized()
    };
    if !relocatable {
        return Ok(data);
    }
    let input = Input { name: name.to_owned(), data: &data };
    link::link(&[input], &link::Options { allow_undefined: true, ..link::Options::default() })
        .or_else(|e| fail(e.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))
}

/// Loads a code object. `externs` are the addresses of symbols it leaves to others; those that are not among them stay open
/// until [`Loaded::resolve`].
pub fn load(
    memory: &Arc<Allocations>,
    target: &Target,
    name: &str,
    data: Vec<u8>,
    externs: &HashMap<String, u64>,
) -> Result<Loaded, LoadError> {
    let data = linked(name, data)?;
    let file = File::parse(&data).map_err(broken)?;
    let finalized = file.is_finalized();
    if !finalized && !matches!(file.kind, Kind::Shared | Kind::Executable) {
        return fail("it is neither a shared nor a relocatable object");
    }
    let (id, theirs) = target_of(&file)?;
    check_target(target, &theirs, &id)?;
    let (region, bias, homes);
    let mut open = Vec::new();
    if finalized {
        (region, homes) = finalized::load(memory, &file, name, target.level())?;
        bias = region.start();
    } else {
        (region, bias) = map_segments(memory, &file, name)?;
        homes = Vec::new();
        let symbols = file.dynamic_symbols().map_err(broken)?;
        for relocation in file.dynamic_relocations().map_err(broken)? {
            open.extend(relocate(&region, bias, relocation, &symbols, externs)?);
        }
    }
    // Symbols of linked files have addresses, others are relative to their sections.
    let address = |symbol: &read::Symbol<'_>| match finalized {
        true => homes.get(symbol.section as usize).copied().flatten().unwrap_or(0).wrapping_add(symbol.value),
        false => symbol.value.wrapping_add(bias),
    };
    let calls = makes_calls(&file, target);
    let kernels = kernels(&file, &region, &address, target, calls)?;
    let mut places: Vec<Symbol> = file
        .symbols
        .iter()
        .filter(|s| {
            s.section != 0
                && !s.name.is_empty()
                && matches!(s.ty, STT_OBJECT | STT_FUNC | elf::STT_AMDGPU_HSA_KERNEL)
        })
        .filter(|s| !s.name.ends_with(".kd"))
        .map(|s| Symbol {
            name: s.name.to_owned(),
            address: address(s),
            size: s.size,
            function: s.ty != STT_OBJECT,
            global: s.binding != STB_LOCAL,
        })
        .collect();
    // A kernel of assembly source need not be declared a function.
    for kernel in &kernels {
        if !places.iter().any(|p| p.function && p.address == kernel.entry) {
            let name = kernel.name.clone();
            places.push(Symbol { name, address: kernel.entry, size: 0, function: true, global: false });
        }
    }
    places.sort_by_key(|s| s.address);
    write_handles(&region, &kernels, &places)?;
    let version = file.version();
    let code: Vec<&[u8]> = match finalized {
        true => file.sections.iter().filter(|s| s.flags & SHF_EXECINSTR != 0).map(|s| s.data).collect(),
        false => {
            let code = file.segments.iter().filter(|s| s.ty == PT_LOAD && s.flags & PF_X != 0);
            code.map(|s| s.data).collect()
        }
    };
    let reads_trapsts = code.iter().any(|c| scan::reads_trapsts(c, target.level()));
    let counts_in_order = code.iter().any(|c| scan::counts_in_order(c, target.level()));
    let loaded = Loaded {
        name: name.to_owned(),
        target_id: id,
        version,
        bias,
        kernels,
        symbols: places,
        reads_trapsts,
        counts_in_order,
        region,
        open: Mutex::new(open),
        file: Vec::new(),
    };
    drop(file);
    Ok(Loaded { file: data, ..loaded })
}

/// A code object runs on the processor it names, with the features it names.
fn check_target(ours: &Target, theirs: &Target, id: &TargetId) -> Result<(), LoadError> {
    if !ours.cpu.runs(theirs.cpu) {
        let those = match theirs.cpu.covers {
            [] => String::new(),
            names => format!(" (that is {})", names.join(", ")),
        };
        return refuse(
            LoadErrorKind::Target,
            format!("it is for {}{those}, the GPU is {}", theirs.cpu.name, ours.cpu.name),
        );
    }
    let word = |on: bool| if on { "on" } else { "off" };
    let features = [("xnack", id.xnack, ours.xnack), ("sramecc", id.sramecc, ours.sramecc)];
    for (name, wanted, have) in features {
        let clash = matches!((wanted, have), (Setting::On, Some(false)) | (Setting::Off, Some(true)));
        if clash {
            return refuse(
                LoadErrorKind::Target,
                format!(
                    "it needs {name} {}, the GPU has it {}",
                    word(wanted == Setting::On),
                    word(have == Some(true))
                ),
            );
        }
    }
    Ok(())
}

/// Copies the loadable segments. Returns the memory and the distance from the file's addresses to it.
fn map_segments(memory: &Arc<Allocations>, file: &File<'_>, name: &str) -> Result<(Region, u64), LoadError> {
    let loads: Vec<_> = file.segments.iter().filter(|s| s.ty == PT_LOAD && s.memory_size > 0).collect();
    let Some(low) = loads.iter().map(|s| s.address).min() else {
        return fail("it has no segment to load");
    };
    let low = low & !0xfff;
    let mut high = low;
    for (number, s) in loads.iter().enumerate() {
        let end = s.address.checked_add(s.memory_size).filter(|e| e - low <= MAX_SPAN);
        let Some(end) = end else {
            return fail(format!(
                "segment {number} of {:#x} bytes at {:#x} is too far out",
                s.memory_size, s.address
            ));
        };
        if s.data.len() as u64 > s.memory_size {
            return fail(format!("segment {number} has more bytes in the file than in memory"));
        }
        high = high.max(end);
    }
    let region = memory.map(high - low, name).or_else(|e| refuse(LoadErrorKind::Memory, e.to_string()))?;
    let bias = region.start().wrapping_sub(low);
    for s in &loads {
        region.write(s.address - low, s.data);
    }
    // Segments share pages in the file's layout but not addresses; one that overlaps another is an error here.
    for s in &loads {
        let what = match s.flags & 7 {
            f if f & 1 != 0 => "code",
            f if f & PF_W != 0 => "data",
            _ => "constants",
        };
        let label = format!("the {what} of {name}");
        region
            .announce(s.address - low, s.memory_size, s.flags & PF_W != 0, Use::Code, &label)
            .or_else(|_| fail(format!("its segments overlap at {:#x}", s.address)))?;
        if s.flags & PF_W != 0 {
            region.keep_out(s.address - low);
        }
    }
    Ok((region, bias))
}

/// Applies one dynamic relocation, or returns it when its symbol is not known.
fn relocate(
    region: &Region,
    bias: u64,
    r: Relocation,
    symbols: &[read::Symbol<'_>],
    externs: &HashMap<String, u64>,
) -> Result<Option<Open>, LoadError> {
    let symbol = if matches!(r.ty, elf::R_AMDGPU_RELATIVE64 | elf::R_AMDGPU_NONE) {
        bias
    } else {
        let Some(symbol) = symbols.get(r.symbol as usize) else {
            return fail(format!(
                "the relocation at {:#x} means symbol {}, which does not exist",
                r.offset, r.symbol
            ));
        };
        match symbol.section {
            SHN_UNDEF if r.symbol == 0 => bias,
            SHN_UNDEF => match externs.get(symbol.name) {
                Some(&address) => address,
                None => {
                    let weak = symbol.binding == STB_WEAK;
                    // Null until somebody defines it.
                    apply(region, bias, &r, 0)?;
                    return Ok(Some(Open { relocation: r, symbol: symbol.name.to_owned(), weak }));
                }
            },
            SHN_ABS => symbol.value,
            _ => symbol.value.wrapping_add(bias),
        }
    };
    apply(region, bias, &r, symbol).map(|()| None)
}

/// Writes what a relocation makes of its symbol's address (AMDGPU guide, "Relocation Records").
fn apply(region: &Region, bias: u64, r: &Relocation, symbol: u64) -> Result<(), LoadError> {
    if r.ty == elf::R_AMDGPU_NONE {
        return Ok(());
    }
    let place = r.offset.wrapping_add(bias);
    let value = symbol.wrapping_add_signed(r.addend);
    let relative = value.wrapping_sub(place);
    let (bits, size) = match r.ty {
        elf::R_AMDGPU_ABS32_LO | elf::R_AMDGPU_ABS32 => (value, 4),
        elf::R_AMDGPU_ABS32_HI => (value >> 32, 4),
        elf::R_AMDGPU_ABS64 | elf::R_AMDGPU_RELATIVE64 => (value, 8),
        elf::R_AMDGPU_REL32 | elf::R_AMDGPU_REL32_LO => (relative, 4),
        elf::R_AMDGPU_REL32_HI => (relative >> 32, 4),
        elf::R_AMDGPU_REL64 => (relative, 8),
        other => {
            return fail(format!("a loader cannot apply the relocation of type {other} at {:#x}", r.offset));
        }
    };
    if !region.write(place.wrapping_sub(region.start()), &bits.to_le_bytes()[..size]) {
        return fail(format!("the relocation at {:#x} is outside the segments", r.offset));
    }
    Ok(())
}

/// Tells kernels where those are that they enqueue: object, scratch and LDS in a variable for each (the runtime's part in
/// ROCm: device-libs' `rtinfo`, which `.device_enqueue_symbol` of the metadata names).
fn write_handles(region: &Region, kernels: &[Arc<Kernel>], places: &[Symbol]) -> Result<(), LoadError> {
    for kernel in kernels {
        let Some(name) = &kernel.handle else { continue };
        let place = places.iter().find(|p| !p.function && p.name == *name && p.size >= HANDLE_BYTES as u64);
        let mut handle = [0; HANDLE_BYTES];
        handle[..8].copy_from_slice(&kernel.object.to_le_bytes());
        handle[8..12].copy_from_slice(&kernel.private_bytes().to_le_bytes());
        handle[12..].copy_from_slice(&kernel.setup.group_bytes.to_le_bytes());
        let written = place.is_some_and(|p| region.write(p.address.wrapping_sub(region.start()), &handle));
        if !written {
            return fail(format!(
                "kernel {} has no variable {name}, through which others enqueue it",
                kernel.name
            ));
        }
    }
    Ok(())
}

/// Bytes of the variable that tells where a kernel is.
const HANDLE_BYTES: usize = 16;

/// Whether there is an S_SWAPPC_B64 or S_CALL_B64 in the code. Compilers state the stack of functions that call
/// themselves as if they did not, so kernels of such files get some more.
fn makes_calls(file: &File<'_>, target: &Target) -> bool {
    let swappc = if target.level().is_vi_plus() { 0x1e } else { 0x21 };
    let call = |word: u32| {
        (word & 0xff80_ff00) == 0xbe80_0000 | swappc << 8
            || target.level().is_gfx9() && (word & 0xff80_0000) == 0xba80_0000
    };
    let mut code = file.sections.iter().filter(|s| s.flags & SHF_EXECINSTR != 0);
    code.any(|s| s.data.chunks_exact(4).any(|w| call(u32::from_le_bytes([w[0], w[1], w[2], w[3]]))))
}

fn kernels(
    file: &File<'_>,
    region: &Region,
    address: &dyn Fn(&read::Symbol<'_>) -> u64,
    target: &Target,
    calls: bool,
) -> Result<Vec<Arc<Kernel>>, LoadError> {
    let found = file.kernels().map_err(broken)?;
    let metadata = file.kernel_metadata().map_err(broken)?;
    let by_symbol = |symbol: &str, name: &str| metadata.iter().find(|m| m.symbol == symbol || m.name == name);
    let mut kernels = Vec::with_capacity(found.len());
    for k in &found {
        let Some(entry) = k.entry else { continue };
        let object = address(&k.symbol);
        let entry = object.wrapping_add(entry.wrapping_sub(k.symbol.value));
        // The hardware's register has no bits for less (COMPUTE_PGM_LO; the AMDGPU guide's kernel descriptor demands it).
        if !entry.is_multiple_of(kernel_code::ALIGN as u64) {
            return fail(format!(
                "kernel {} starts at {:#x}, which is not a multiple of 256 (.p2align 8)",
                k.name,
                k.entry.unwrap_or(entry)
            ));
        }
        let meta = by_symbol(k.symbol.name, k.name);
        let mut kernel = Kernel::new(k.name, object, entry, &k.form, meta, target);
        kernel.narrow = finalized::is_narrow(file);
        kernel.setup.dynamic_stack |= calls && kernel.setup.private_bytes > 0;
        let kernel = Arc::new(kernel);
        if matches!(k.form, KernelForm::KernelCode(_)) {
            // "The HSA Runtime loader initializes this field once the code object is loaded" (ROCm's code object format,
            // amd_kernel_code_t): it refers to what the loader knows about the kernel.
            let at = object.wrapping_sub(region.start()).wrapping_add(LOADER_SYMBOL);
            region.write(at, &(Arc::as_ptr(&kernel) as u64).to_le_bytes());
        }
        kernels.push(kernel);
    }
    Ok(kernels)
}
