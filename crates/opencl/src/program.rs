//! Programs: sources, binaries, and what became of them for each device.

use crate::abi::*;
use crate::build::{self, Attempt, Binary, Options};
use crate::context::Context;
use crate::device::Device;
use crate::handle::{self, Handle, Object, Slot, Table};
use crate::il;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wavemill_compile::clang::{self, Language};
use wavemill_device::Kernel;
use wavemill_object::read::File;
use wavemill_runtime::executable::{Executable, SymbolKind};

/// What is called when a build has ended.
pub type Notify = extern "C" fn(Handle<Program>, Data);

/// `cl_build_status`.
mod status {
    pub const SUCCESS: i32 = 0;
    pub const NONE: i32 = -1;
    pub const ERROR: i32 = -2;
}

/// `cl_program_binary_type`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
enum Type {
    None = 0,
    Object = 1,
    Library = 2,
    Executable = 4,
}

/// A code object in a GPU's memory, and what its metadata says.
pub struct Loaded {
    executable: Executable,
    /// The GPU's number.
    gpu: usize,
    /// Its kernels.
    pub kernels: Vec<Arc<Signature>>,
    /// Work-groups must divide the grid.
    pub uniform: bool,
}

/// What a kernel says about itself.
#[derive(Clone, PartialEq, Debug)]
pub struct Signature {
    pub name: String,
    pub args: Vec<Parameter>,
    pub required_size: Option<[u32; 3]>,
    pub attributes: String,
}

/// What a kernel says about an argument.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    pub name: String,
    pub type_name: String,
    pub address_space: String,
    pub access: String,
    pub is_const: bool,
    pub is_restrict: bool,
    pub is_volatile: bool,
    pub is_pipe: bool,
}

impl Loaded {
    fn load(binary: &[u8], device: &Device, uniform: Option<bool>) -> std::result::Result<Loaded, String> {
        let file = File::parse(binary).map_err(|e| e.to_string())?;
        let metadata = file.kernel_metadata().map_err(|e| e.to_string())?;
        let uniform = uniform.unwrap_or_else(|| {
            metadata.iter().all(|k| k.language_version.is_none_or(|[major, _]| major < 2))
        });
        // What kernels enqueue is not for programs.
        let own = metadata.iter().filter(|k| k.device_enqueue_symbol.is_none());
        let kernels = own.map(|k| Arc::new(signature(k))).collect();
        let mut executable = Executable::default();
        let source = (binary.as_ptr() as u64, binary.len() as u64);
        executable.load(&device.gpu, "the program", binary, source).map_err(|e| e.to_string())?;
        executable.freeze().map_err(|e| e.to_string())?;
        Ok(Loaded { executable, gpu: device.gpu.index, kernels, uniform })
    }

    /// A kernel as the device knows it.
    pub fn kernel(&self, name: &str) -> Option<Arc<Kernel>> {
        match &self.executable.find(name, Some(self.gpu))?.kind {
            SymbolKind::Kernel(kernel) => Some(kernel.clone()),
            SymbolKind::Variable { .. } => None,
        }
    }

    /// Bytes of its variables.
    fn variables(&self) -> u64 {
        let size = |kind: &SymbolKind| if let SymbolKind::Variable { size, .. } = kind { *size } else { 0 };
        self.executable.symbols.iter().map(|s| size(&s.kind)).sum()
    }
}

fn signature(kernel: &wavemill_object::metadata::kernel::Kernel<'_>) -> Signature {
    let text = |t: &Option<std::borrow::Cow<'_, str>>| t.as_ref().map(|t| t.to_string()).unwrap_or_default();
    let visible = kernel.args.iter().filter(|a| !a.value_kind.starts_with("hidden_"));
    let args = visible.map(|a| Parameter {
        name: text(&a.name),
        type_name: text(&a.type_name),
        address_space: text(&a.address_space),
        // Compilers note of other arguments how they are used.
        access: if matches!(&*a.value_kind, "image" | "pipe") { text(&a.access) } else { String::new() },
        is_const: a.is_const,
        is_restrict: a.is_restrict,
        is_volatile: a.is_volatile,
        is_pipe: a.is_pipe,
    });
    let size = |name: &str, s: Option<[u32; 3]>| {
        s.filter(|s| *s != [0; 3]).map(|[x, y, z]| format!("__attribute__(({name}({x},{y},{z})))"))
    };
    let hint = kernel.vec_type_hint.as_ref().filter(|h| !h.is_empty());
    let attributes = [
        size("reqd_work_group_size", kernel.reqd_workgroup_size),
        size("work_group_size_hint", kernel.workgroup_size_hint),
        hint.map(|h| format!("__attribute__((vec_type_hint({h})))")),
    ];
    Signature {
        name: kernel.name.to_string(),
        args: args.collect(),
        required_size: kernel.reqd_workgroup_size.filter(|s| *s != [0; 3]),
        attributes: attributes.into_iter().flatten().collect::<Vec<_>>().join(" "),
    }
}

/// What became of a program for a device.
struct Build {
    device: Arc<Device>,
    status: i32,
    options: String,
    log: String,
    kind: Type,
    binary: Vec<u8>,
    code: Option<Arc<Loaded>>,
}

impl Build {
    fn new(device: Arc<Device>) -> Build {
        Build {
            device,
            status: status::NONE,
            options: String::new(),
            log: String::new(),
            kind: Type::None,
            binary: Vec::new(),
            code: None,
        }
    }

    /// Notes what an attempt has come to, and loads what can be loaded.
    fn take(&mut self, attempt: Attempt, kind: Type, options: &str, uniform: Option<bool>) -> bool {
        self.options = options.to_owned();
        self.log = attempt.log;
        self.code = None;
        let mut made = attempt.made;
        if let (Some(binary), Type::Executable) = (&made, kind) {
            match Loaded::load(binary, &self.device, uniform) {
                Ok(code) => self.code = Some(Arc::new(code)),
                Err(message) => {
                    self.log += &format!("{message}\n");
                    made = None;
                }
            }
        }
        (self.status, self.kind) = match made {
            Some(_) => (status::SUCCESS, kind),
            None => (status::ERROR, Type::None),
        };
        self.binary = made.unwrap_or_default();
        self.status == status::SUCCESS
    }
}

/// What a program was made of.
pub enum Origin {
    /// OpenCL C.
    Source(Vec<u8>),
    /// SPIR-V.
    Module(il::Module),
    /// A binary for each device.
    Binaries,
}

/// `cl_program`.
pub struct Program {
    slot: Slot,
    /// Its context.
    pub context: Arc<Context>,
    /// What it was made of.
    pub origin: Origin,
    builds: Mutex<Vec<Build>>,
    /// Kernels that were made of it and are still there.
    pub kernels: AtomicU32,
    releases: Mutex<Vec<(Notify, Data)>>,
}

static TABLE: Table<Program> = Table::new();

impl Object for Program {
    const INVALID: Code = Code::INVALID_PROGRAM;

    fn table() -> &'static Table<Self> {
        &TABLE
    }

    fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let calls = std::mem::take(&mut *self.releases.lock().unwrap_or_else(PoisonError::into_inner));
        let handle = self.handle();
        calls.into_iter().rev().for_each(|(call, data)| call(handle, data));
    }
}

impl Program {
    /// A program that nothing has become of yet.
    pub fn create(context: Arc<Context>, devices: Vec<Arc<Device>>, origin: Origin) -> Arc<Program> {
        handle::create(|slot| Program {
            slot,
            context,
            origin,
            builds: Mutex::new(devices.into_iter().map(Build::new).collect()),
            kernels: AtomicU32::new(0),
            releases: Mutex::default(),
        })
    }

    /// OpenCL C, if it was made of that.
    fn source(&self) -> Option<&Vec<u8>> {
        if let Origin::Source(text) = &self.origin { Some(text) } else { None }
    }

    fn builds(&self) -> MutexGuard<'_, Vec<Build>> {
        self.builds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What can be run, for each device that has something.
    pub fn codes(&self) -> Vec<(Arc<Device>, Arc<Loaded>)> {
        self.builds().iter().filter_map(|b| Some((b.device.clone(), b.code.clone()?))).collect()
    }

    /// Devices that a call names, which must be the program's; all of them if it names none.
    fn devices(&self, count: u32, devices: In<Handle<Device>>) -> Result<Vec<Arc<Device>>> {
        let own: Vec<Arc<Device>> = self.builds().iter().map(|b| b.device.clone()).collect();
        if devices.is_null() != (count == 0) {
            return Err(Code::INVALID_VALUE);
        }
        if devices.is_null() {
            return Ok(own);
        }
        let one = |d: Handle<Device>| {
            let device = handle::get(d)?;
            if own.iter().any(|o| Arc::ptr_eq(o, &device)) { Ok(device) } else { Err(Code::INVALID_DEVICE) }
        };
        devices.list(count as usize)?.into_iter().map(one).collect()
    }

    /// Does something for the builds of devices; false when it has failed for one.
    fn each(
        &self,
        devices: &[Arc<Device>],
        mut make: impl FnMut(&mut Build) -> Result<bool>,
    ) -> Result<bool> {
        let mut fine = true;
        for build in self.builds().iter_mut().filter(|b| devices.iter().any(|d| Arc::ptr_eq(d, &b.device))) {
            fine &= make(build)?;
        }
        Ok(fine)
    }

    /// Why it could not be compiled: a code, unless there is nothing to compile it with. The build's log says what to install.
    fn failure(&self, code: Code) -> Code {
        let source = matches!(self.origin, Origin::Source(_));
        if source && !clang::available(Language::OpenCl) { Code::COMPILER_NOT_AVAILABLE } else { code }
    }
}

fn text_of(options: Text) -> Result<String> {
    if options.is_null() { Ok(String::new()) } else { options.get() }
}

fn check_notify(notify: Option<Notify>, data: Data) -> Result {
    if notify.is_none() && !data.0.is_null() { Err(Code::INVALID_VALUE) } else { Ok(()) }
}

/// Builds a program for devices.
fn build_program(program: &Arc<Program>, devices: &[Arc<Device>], text: &str) -> Result {
    if program.kernels.load(Ordering::SeqCst) > 0 {
        return Err(Code::INVALID_OPERATION);
    }
    let options = Options::parse(text).ok_or(Code::INVALID_BUILD_OPTIONS)?;
    let fine = program.each(devices, |build| {
        let device = build.device.clone();
        Ok(match &program.origin {
            Origin::Module(module) => {
                build.take(module.build(&device, &options), Type::Executable, text, None)
            }
            Origin::Source(source) => build.take(
                build::build(source, &device, &options),
                Type::Executable,
                text,
                Some(options.uniform),
            ),
            Origin::Binaries => match build::binary(&std::mem::take(&mut build.binary), &device) {
                Some(Binary::Executable(binary)) => {
                    let attempt = Attempt { made: Some(binary), log: String::new() };
                    build.take(attempt, Type::Executable, text, None)
                }
                Some(Binary::Module(module)) => {
                    let attempt = build::link(&[&module], &device, &options);
                    build.take(attempt, Type::Executable, text, Some(options.uniform))
                }
                None => return Err(Code::INVALID_BINARY),
            },
        })
    })?;
    if fine { Ok(()) } else { Err(program.failure(Code::BUILD_PROGRAM_FAILURE)) }
}

/// The modules of programs for a device.
fn modules(programs: &[Arc<Program>], device: &Arc<Device>) -> Option<Vec<Vec<u8>>> {
    let module = |p: &Arc<Program>| {
        let builds = p.builds();
        let build = builds.iter().find(|b| Arc::ptr_eq(&b.device, device))?;
        matches!(build.kind, Type::Object | Type::Library).then(|| build.binary.clone())
    };
    programs.iter().map(module).collect()
}

api! {
    /// A program from sources.
    fn clCreateProgramWithSource(
        context: Handle<Context>,
        count: u32,
        texts: In<Text>,
        lengths: In<usize>,
    ) -> make Handle<Program> {
        let context = handle::get(context)?;
        if count == 0 || texts.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let lengths = lengths.list_or_none(count as usize)?.unwrap_or_else(|| vec![0; count as usize]);
        let mut source = Vec::new();
        for (text, len) in texts.list(count as usize)?.into_iter().zip(lengths) {
            source.extend(text.sized(len)?);
        }
        let devices = context.devices.clone();
        Ok(Program::create(context, devices, Origin::Source(source)).handle())
    }

    /// A program from code objects, bundles, Catalyst's binaries, or what was compiled before.
    fn clCreateProgramWithBinary(
        context: Handle<Context>,
        count: u32,
        devices: In<Handle<Device>>,
        lengths: In<usize>,
        binaries: In<Bytes>,
        statuses: Out<Code>,
    ) -> make Handle<Program> {
        let context = handle::get(context)?;
        if count == 0 || devices.is_null() || lengths.is_null() || binaries.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let devices = context.named_devices(count, devices)?;
        let (lengths, binaries) = (lengths.list(count as usize)?, binaries.list(count as usize)?);
        let mut all = Vec::new();
        for (i, (len, bytes)) in lengths.into_iter().zip(binaries).enumerate() {
            if len == 0 || bytes.is_null() {
                statuses.put_at(i, Code::INVALID_VALUE);
                return Err(Code::INVALID_VALUE);
            }
            let bytes = bytes.get(len)?;
            if build::binary(&bytes, &devices[i]).is_none() {
                statuses.put_at(i, Code::INVALID_BINARY);
                return Err(Code::INVALID_BINARY);
            }
            statuses.put_at(i, Code::SUCCESS);
            all.push(bytes);
        }
        let program = Program::create(context, devices, Origin::Binaries);
        for (build, binary) in program.builds().iter_mut().zip(all) {
            build.kind = if binary.starts_with(b"BC") { Type::Object } else { Type::Executable };
            build.binary = binary;
        }
        Ok(program.handle())
    }

    /// There are no built-in kernels.
    fn clCreateProgramWithBuiltInKernels(
        context: Handle<Context>,
        count: u32,
        devices: In<Handle<Device>>,
        names: Text,
    ) -> make Handle<Program> {
        let context = handle::get(context)?;
        context.named_devices(count, devices)?;
        names.get()?;
        Err(Code::INVALID_VALUE)
    }

    /// A program from a module of SPIR-V, where there is what it takes to translate it.
    fn clCreateProgramWithIL(context: Handle<Context>, il: Bytes, length: usize) -> make Handle<Program> {
        let context = handle::get(context)?;
        if length == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let bytes = il.get(length)?;
        if !context.devices.iter().any(|d| d.has_il()) {
            context.tell("SPIR-V takes llvm-spirv-15, clang-15 and rocm-device-libs, and one of them is not installed");
            return Err(Code::INVALID_OPERATION);
        }
        let module = il::Module::new(bytes).ok_or(Code::INVALID_VALUE)?;
        let devices = context.devices.clone();
        Ok(Program::create(context, devices, Origin::Module(module)).handle())
    }

    /// Sets a constant of a module, by the number that it has there.
    fn clSetProgramSpecializationConstant(
        program: Handle<Program>,
        id: u32,
        size: usize,
        value: Bytes,
    ) -> Code {
        match &handle::get(program)?.origin {
            Origin::Module(module) => module.set(id, size, value),
            _ => Err(Code::INVALID_PROGRAM),
        }
    }

    /// One reference more.
    fn clRetainProgram(program: Handle<Program>) -> Code {
        handle::retain(program)
    }

    /// One reference less.
    fn clReleaseProgram(program: Handle<Program>) -> Code {
        handle::release(program).map(|_| ())
    }

    /// Has a function called when a program goes.
    fn clSetProgramReleaseCallback(program: Handle<Program>, call: Option<Notify>, data: Data) -> Code {
        let program = handle::get(program)?;
        let call = call.ok_or(Code::INVALID_VALUE)?;
        program.releases.lock().unwrap_or_else(PoisonError::into_inner).push((call, data));
        Ok(())
    }

    /// Compiles and links a program.
    fn clBuildProgram(
        program: Handle<Program>,
        count: u32,
        devices: In<Handle<Device>>,
        options: Text,
        notify: Option<Notify>,
        data: Data,
    ) -> Code {
        let program = handle::get(program)?;
        check_notify(notify, data)?;
        let devices = program.devices(count, devices)?;
        let result = build_program(&program, &devices, &text_of(options)?);
        if let Some(notify) = notify {
            notify(program.handle(), data);
        }
        result
    }

    /// Compiles a program, to be linked later.
    fn clCompileProgram(
        program: Handle<Program>,
        count: u32,
        devices: In<Handle<Device>>,
        options: Text,
        headers: u32,
        header_programs: In<Handle<Program>>,
        header_names: In<Text>,
        notify: Option<Notify>,
        data: Data,
    ) -> Code {
        let program = handle::get(program)?;
        check_notify(notify, data)?;
        if (headers == 0) != header_programs.is_null() || (headers == 0) != header_names.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let devices = program.devices(count, devices)?;
        if matches!(program.origin, Origin::Binaries) {
            return Err(Code::INVALID_OPERATION);
        }
        if program.kernels.load(Ordering::SeqCst) > 0 {
            return Err(Code::INVALID_OPERATION);
        }
        let text = text_of(options)?;
        let options = Options::parse(&text).ok_or(Code::INVALID_COMPILER_OPTIONS)?;
        let mut included = Vec::new();
        let names = header_names.list(headers as usize)?;
        for (header, name) in header_programs.list(headers as usize)?.into_iter().zip(names) {
            let header = handle::get(header)?;
            let text = header.source().cloned().ok_or(Code::INVALID_PROGRAM)?;
            included.push((name.get()?, text));
        }
        let fine = program.each(&devices, |build| {
            let attempt = match &program.origin {
                Origin::Source(source) => build::compile(source, &build.device, &options, &included),
                Origin::Module(module) => module.compile(&build.device),
                Origin::Binaries => return Err(Code::INVALID_OPERATION),
            };
            Ok(build.take(attempt, Type::Object, &text, None))
        })?;
        if let Some(notify) = notify {
            notify(program.handle(), data);
        }
        if fine { Ok(()) } else { Err(program.failure(Code::COMPILE_PROGRAM_FAILURE)) }
    }

    /// Links programs to a new one.
    fn clLinkProgram(
        context: Handle<Context>,
        count: u32,
        devices: In<Handle<Device>>,
        options: Text,
        inputs: u32,
        programs: In<Handle<Program>>,
        notify: Option<Notify>,
        data: Data,
    ) -> make Handle<Program> {
        let context = handle::get(context)?;
        check_notify(notify, data)?;
        let devices = context.named_devices(count, devices)?;
        if inputs == 0 || programs.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let programs = programs.list(inputs as usize)?.into_iter().map(handle::get);
        let programs: Vec<Arc<Program>> = programs.collect::<Result<_>>()?;
        let text = text_of(options)?;
        let options = Options::parse(&text).ok_or(Code::INVALID_LINKER_OPTIONS)?;
        let lists: Option<Vec<Vec<Vec<u8>>>> = devices.iter().map(|d| modules(&programs, d)).collect();
        let lists = lists.ok_or(Code::INVALID_OPERATION)?;
        let made = Program::create(context, devices.clone(), Origin::Binaries);
        let kind = if options.library { Type::Library } else { Type::Executable };
        let mut lists = lists.into_iter();
        let fine = made.each(&devices, |build| {
            let modules = lists.next().unwrap_or_default();
            let modules: Vec<&[u8]> = modules.iter().map(Vec::as_slice).collect();
            let attempt = build::link(&modules, &build.device, &options);
            Ok(build.take(attempt, kind, &text, None))
        })?;
        if let Some(notify) = notify {
            notify(made.handle(), data);
        }
        if fine {
            return Ok(made.handle());
        }
        made.builds().iter().for_each(|b| made.context.tell(&b.log));
        handle::release(made.handle())?;
        Err(Code::LINK_PROGRAM_FAILURE)
    }

    /// A fact about a program.
    fn clGetProgramInfo(
        program: Handle<Program>,
        name: u32,
        room: usize,
        value: Bytes,
        size: Out<usize>,
    ) -> Code {
        let program = handle::get(program)?;
        let answer = Answer::new(room, value, size);
        let builds = program.builds();
        let kernels = || -> Result<Vec<String>> {
            let code = builds.iter().find_map(|b| b.code.clone()).ok_or(Code::INVALID_PROGRAM_EXECUTABLE)?;
            Ok(code.kernels.iter().map(|k| k.name.clone()).collect())
        };
        match name {
            0x1160 => answer.set(handle::references(&program)?),
            0x1161 => answer.set(program.context.handle()),
            0x1162 => answer.set(builds.len() as u32),
            0x1163 => answer.list(&builds.iter().map(|b| b.device.handle()).collect::<Vec<_>>()),
            0x1164 => answer.text(&String::from_utf8_lossy(program.source().map_or(&[][..], Vec::as_slice))),
            0x1165 => answer.list(&builds.iter().map(|b| b.binary.len()).collect::<Vec<_>>()),
            0x1166 => answer.pointers(&builds.iter().map(|b| b.binary.clone()).collect::<Vec<_>>()),
            0x1167 => answer.set(kernels()?.len()),
            0x1168 => answer.text(&kernels()?.join(";")),
            0x1169 => match &program.origin {
                Origin::Module(module) => answer.bytes(module.bytes()),
                _ => answer.bytes(&[]),
            },
            0x116a | 0x116b => answer.set(false),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// A fact about what became of a program for a device.
    fn clGetProgramBuildInfo(
        program: Handle<Program>,
        device: Handle<Device>,
        name: u32,
        room: usize,
        value: Bytes,
        size: Out<usize>,
    ) -> Code {
        let program = handle::get(program)?;
        let device = handle::get(device)?;
        let builds = program.builds();
        let build = builds.iter().find(|b| Arc::ptr_eq(&b.device, &device)).ok_or(Code::INVALID_DEVICE)?;
        let answer = Answer::new(room, value, size);
        match name {
            0x1181 => answer.set(build.status),
            0x1182 => answer.text(&build.options),
            0x1183 => answer.text(&build.log.replace('\0', " ")),
            0x1184 => answer.set(build.kind as u32),
            0x1185 => answer.set(build.code.as_ref().map_or(0, |c| c.variables() as usize)),
            _ => Err(Code::INVALID_VALUE),
        }
    }
}
