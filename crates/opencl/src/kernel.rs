//! Kernels and their arguments.

use crate::abi::*;
use crate::device::{Device, MAX_WORK_GROUP, MOST_WORK_ITEMS, WAVE};
use crate::device_queue::{self, OnDevice};
use crate::handle::{self, Handle, Object, Slot, Table};
use crate::memory::{Mem, Shape};
use crate::program::{Loaded, Program, Signature};
use crate::sampler::Sampler;
use crate::svm;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wavemill_device::Kernel as DeviceKernel;

/// An argument that was set.
#[derive(Clone)]
pub enum Arg {
    /// A value.
    Bytes(Vec<u8>),
    /// A buffer, an image or a pipe; none is a null pointer.
    Mem(Option<Arc<Mem>>),
    /// A sampler.
    Sampler(Arc<Sampler>),
    /// So many bytes of local memory.
    Local(u32),
    /// An address of shared memory.
    Pointer(u64),
    /// A queue on the device.
    Queue(Arc<OnDevice>),
}

/// `cl_kernel`.
pub struct Kernel {
    slot: Slot,
    /// What it is of.
    pub program: Arc<Program>,
    /// What it says about itself.
    pub signature: Arc<Signature>,
    /// It in the memory of each device.
    on: Vec<(Arc<Device>, Arc<Loaded>, Arc<DeviceKernel>)>,
    args: Mutex<Vec<Option<Arg>>>,
}

static TABLE: Table<Kernel> = Table::new();

impl Object for Kernel {
    const INVALID: Code = Code::INVALID_KERNEL;

    fn table() -> &'static Table<Self> {
        &TABLE
    }

    fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.program.kernels.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Kernel {
    fn create(program: &Arc<Program>, name: &str) -> Result<Arc<Kernel>> {
        let codes = program.codes();
        if codes.is_empty() {
            return Err(Code::INVALID_PROGRAM_EXECUTABLE);
        }
        let found = codes.iter().find_map(|(_, code)| code.kernels.iter().find(|k| k.name == name));
        let signature = found.cloned().ok_or(Code::INVALID_KERNEL_NAME)?;
        let on: Vec<_> = codes
            .into_iter()
            .filter_map(|(device, code)| {
                let kernel = code.kernel(name)?;
                Some((device, code, kernel))
            })
            .collect();
        let (_, _, first) = on.first().ok_or(Code::INVALID_KERNEL_NAME)?;
        let same = |k: &DeviceKernel| {
            k.visible_args().map(|a| (&a.kind, a.size)).eq(first.visible_args().map(|a| (&a.kind, a.size)))
        };
        if !on.iter().all(|(_, _, k)| same(k)) {
            return Err(Code::INVALID_KERNEL_DEFINITION);
        }
        let count = first.visible_args().count();
        program.kernels.fetch_add(1, Ordering::SeqCst);
        Ok(handle::create(|slot| Kernel {
            slot,
            program: program.clone(),
            signature,
            on,
            args: Mutex::new(vec![None; count]),
        }))
    }

    /// Its arguments as far as they are set.
    pub fn args(&self) -> MutexGuard<'_, Vec<Option<Arg>>> {
        self.args.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It on a device.
    pub fn on(&self, device: &Arc<Device>) -> Option<(&Arc<Loaded>, &Arc<DeviceKernel>)> {
        // Parts of a device run what was made for the whole.
        let same = |d: &Arc<Device>| Arc::ptr_eq(d, device) || d.gpu.index == device.gpu.index;
        self.on.iter().find(|(d, _, _)| same(d)).map(|(_, code, kernel)| (code, kernel))
    }

    fn any(&self) -> Result<&Arc<DeviceKernel>> {
        self.on.first().map(|(_, _, k)| k).ok_or(Code::INVALID_KERNEL)
    }

    /// The largest work-group it can be run with.
    pub fn most(kernel: &DeviceKernel) -> usize {
        kernel.max_size.map_or(MAX_WORK_GROUP, |n| (n as usize).min(MOST_WORK_ITEMS))
    }

    /// Reads an argument that the program sets.
    fn read(&self, index: u32, size: usize, value: Bytes) -> Result<Arg> {
        let kernel = self.any()?;
        let argument = kernel.visible_args().nth(index as usize).ok_or(Code::INVALID_ARG_INDEX)?;
        let pointer = || match size == size_of::<usize>() {
            false => Err(Code::INVALID_ARG_SIZE),
            true if value.is_null() => Ok(0),
            true => In::<usize>::of(value.address()).get(),
        };
        let object = |wrong: Code, fits: fn(&Mem) -> bool| match pointer()? {
            0 => Ok(Arg::Mem(None)),
            address => {
                let mem = handle::get(Handle::<Mem>::of(address))?;
                let own = Arc::ptr_eq(&mem.context, &self.program.context);
                if own && fits(&mem) { Ok(Arg::Mem(Some(mem))) } else { Err(wrong) }
            }
        };
        match argument.kind.as_str() {
            "dynamic_shared_pointer" => match u32::try_from(size) {
                _ if !value.is_null() => Err(Code::INVALID_ARG_VALUE),
                Ok(0) | Err(_) => Err(Code::INVALID_ARG_SIZE),
                Ok(bytes) => Ok(Arg::Local(bytes)),
            },
            "global_buffer" => object(Code::INVALID_MEM_OBJECT, |m| m.is_buffer()),
            "image" => match object(Code::INVALID_MEM_OBJECT, |m| m.image().is_ok())? {
                Arg::Mem(None) => Err(Code::INVALID_MEM_OBJECT),
                image => Ok(image),
            },
            "pipe" => match object(Code::INVALID_MEM_OBJECT, |m| matches!(m.shape, Shape::Pipe(..)))? {
                Arg::Mem(None) => Err(Code::INVALID_MEM_OBJECT),
                pipe => Ok(pipe),
            },
            "sampler" => {
                let sampler = handle::get(Handle::<Sampler>::of(pointer()?))?;
                let own = Arc::ptr_eq(sampler.context(), &self.program.context);
                if own { Ok(Arg::Sampler(sampler)) } else { Err(Code::INVALID_SAMPLER) }
            }
            "queue" => device_queue::argument(pointer()?, &self.program.context).map(Arg::Queue),
            _ => {
                let wanted =
                    if argument.kind == "by_reference" { argument.pointee_size } else { argument.size };
                if value.is_null() {
                    return Err(Code::INVALID_ARG_VALUE);
                }
                if size != wanted as usize {
                    return Err(Code::INVALID_ARG_SIZE);
                }
                Ok(Arg::Bytes(value.get(size)?))
            }
        }
    }
}

fn work_group_info(kernel: &Kernel, device: Handle<Device>, name: u32, answer: Answer) -> Result {
    let device = match handle::get_or_none(device)? {
        Some(device) => device,
        None if kernel.on.len() == 1 => kernel.on[0].0.clone(),
        None => return Err(Code::INVALID_DEVICE),
    };
    let (_, own) = kernel.on(&device).ok_or(Code::INVALID_DEVICE)?;
    let required = own.required_size.map_or([0; 3], |s| s.map(|n| n as usize));
    match name {
        0x11b0 => answer.set(Kernel::most(own)),
        0x11b1 => answer.list(&required),
        0x11b2 => {
            let args = kernel.args();
            let local = |a: &Option<Arg>| if let Some(Arg::Local(n)) = a { u64::from(*n) } else { 0 };
            answer.set(u64::from(own.setup.group_bytes) + args.iter().map(local).sum::<u64>())
        }
        0x11b3 => answer.set(WAVE),
        0x11b4 => answer.set(u64::from(own.private_bytes())),
        // Only for devices of their own kind and built-in kernels.
        0x11b5 => Err(Code::INVALID_VALUE),
        _ => Err(Code::INVALID_VALUE),
    }
}

fn sub_group_info(
    kernel: Handle<Kernel>,
    device: Handle<Device>,
    name: u32,
    input: (usize, Bytes),
    answer: Answer,
) -> Result {
    let kernel = handle::get(kernel)?;
    let device = match handle::get_or_none(device)? {
        Some(device) => device,
        None if kernel.on.len() == 1 => kernel.on[0].0.clone(),
        None => return Err(Code::INVALID_DEVICE),
    };
    let (_, own) = kernel.on(&device).ok_or(Code::INVALID_DEVICE)?;
    let sizes = |least: usize| -> Result<Vec<usize>> {
        let count = input.0 / size_of::<usize>();
        if !input.0.is_multiple_of(size_of::<usize>()) || !(least..=3).contains(&count) {
            return Err(Code::INVALID_VALUE);
        }
        In::of(input.1.address()).list(count)
    };
    let items = || -> Result<usize> { Ok(sizes(1)?.into_iter().fold(1, usize::saturating_mul)) };
    match name {
        0x2033 => answer.set(items()?.min(WAVE)),
        0x2034 => answer.set(items()?.div_ceil(WAVE)),
        0x11b8 => {
            let wanted = sizes(1)?[0];
            let fits = wanted > 0 && wanted <= Kernel::most(own) / WAVE;
            answer.list(&[if fits { wanted * WAVE } else { 0 }, usize::from(fits), usize::from(fits)])
        }
        0x11b9 => answer.set(Kernel::most(own).div_ceil(WAVE)),
        0x11ba => answer.set(0usize),
        _ => Err(Code::INVALID_VALUE),
    }
}

api! {
    /// A kernel of a program.
    fn clCreateKernel(program: Handle<Program>, name: Text) -> make Handle<Kernel> {
        let program = handle::get(program)?;
        Ok(Kernel::create(&program, &name.get()?)?.handle())
    }

    /// All kernels of a program.
    fn clCreateKernelsInProgram(
        program: Handle<Program>,
        room: u32,
        kernels: Out<Handle<Kernel>>,
        count: Out<u32>,
    ) -> Code {
        let program = handle::get(program)?;
        let codes = program.codes();
        let (_, code) = codes.first().ok_or(Code::INVALID_PROGRAM_EXECUTABLE)?;
        if !kernels.is_null() && (room as usize) < code.kernels.len() {
            return Err(Code::INVALID_VALUE);
        }
        if !kernels.is_null() {
            for (i, kernel) in code.kernels.iter().enumerate() {
                kernels.put_at(i, Kernel::create(&program, &kernel.name)?.handle());
            }
        }
        count.put(code.kernels.len() as u32);
        Ok(())
    }

    /// A kernel with the same arguments.
    fn clCloneKernel(kernel: Handle<Kernel>) -> make Handle<Kernel> {
        let kernel = handle::get(kernel)?;
        let clone = Kernel::create(&kernel.program, &kernel.signature.name)?;
        clone.args().clone_from(&kernel.args());
        Ok(clone.handle())
    }

    /// One reference more.
    fn clRetainKernel(kernel: Handle<Kernel>) -> Code {
        handle::retain(kernel)
    }

    /// One reference less.
    fn clReleaseKernel(kernel: Handle<Kernel>) -> Code {
        handle::release(kernel).map(|_| ())
    }

    /// Sets an argument.
    fn clSetKernelArg(kernel: Handle<Kernel>, index: u32, size: usize, value: Bytes) -> Code {
        let kernel = handle::get(kernel)?;
        let arg = kernel.read(index, size, value)?;
        kernel.args()[index as usize] = Some(arg);
        Ok(())
    }

    /// Sets an argument to an address of shared memory.
    fn clSetKernelArgSVMPointer(kernel: Handle<Kernel>, index: u32, value: Bytes) -> Code {
        let kernel = handle::get(kernel)?;
        let argument = kernel.any()?.visible_args().nth(index as usize).ok_or(Code::INVALID_ARG_INDEX)?;
        if argument.kind != "global_buffer" || !value.is_null() && !svm::holds(value.address()) {
            return Err(Code::INVALID_ARG_VALUE);
        }
        kernel.args()[index as usize] = Some(Arg::Pointer(value.address()));
        Ok(())
    }

    /// Says which shared memory a kernel reaches through pointers: all of it can be reached anyway.
    fn clSetKernelExecInfo(kernel: Handle<Kernel>, name: u32, size: usize, value: Bytes) -> Code {
        handle::get(kernel)?;
        if value.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        match name {
            0x11b6 if size > 0 && size.is_multiple_of(size_of::<usize>()) => {
                let pointers = In::<u64>::of(value.address()).list(size / size_of::<usize>())?;
                if pointers.into_iter().all(svm::holds) { Ok(()) } else { Err(Code::INVALID_VALUE) }
            }
            // Memory of the program that was not allocated for it cannot be reached.
            0x11b7 if size == size_of::<u32>() => match In::<u32>::of(value.address()).get()? {
                0 => Ok(()),
                _ => Err(Code::INVALID_OPERATION),
            },
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// A fact about a kernel.
    fn clGetKernelInfo(
        kernel: Handle<Kernel>,
        name: u32,
        room: usize,
        value: Bytes,
        size: Out<usize>,
    ) -> Code {
        let kernel = handle::get(kernel)?;
        let answer = Answer::new(room, value, size);
        match name {
            0x1190 => answer.text(&kernel.signature.name),
            0x1191 => answer.set(kernel.args().len() as u32),
            0x1192 => answer.set(handle::references(&kernel)?),
            0x1193 => answer.set(kernel.program.context.handle()),
            0x1194 => answer.set(kernel.program.handle()),
            0x1195 => answer.text(&kernel.signature.attributes),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// A fact about an argument.
    fn clGetKernelArgInfo(
        kernel: Handle<Kernel>,
        index: u32,
        name: u32,
        room: usize,
        value: Bytes,
        size: Out<usize>,
    ) -> Code {
        let kernel = handle::get(kernel)?;
        let arg = kernel.signature.args.get(index as usize).ok_or(Code::INVALID_ARG_INDEX)?;
        if arg.type_name.is_empty() {
            return Err(Code::KERNEL_ARG_INFO_NOT_AVAILABLE);
        }
        let answer = Answer::new(room, value, size);
        // What is an object to the host is a pointer to the kernel, which no program has written.
        let object = ["image", "sampler_t", "pipe"].iter().any(|o| arg.type_name.starts_with(o));
        match name {
            0x1196 => answer.set(match arg.address_space.as_str() {
                "global" | "constant" if arg.type_name.starts_with("image") || arg.is_pipe => 0x119bu32,
                _ if object => 0x119e,
                "global" => 0x119b,
                "local" => 0x119c,
                "constant" => 0x119d,
                _ => 0x119e,
            }),
            0x1197 => answer.set(match arg.access.as_str() {
                "read_only" => 0x11a0u32,
                "write_only" => 0x11a1,
                "read_write" => 0x11a2,
                _ => 0x11a3,
            }),
            0x1198 => answer.text(&arg.type_name),
            0x1199 => {
                let bits = [arg.is_const, arg.is_restrict, arg.is_volatile, arg.is_pipe];
                answer.set(bits.iter().rev().fold(0u64, |all, b| all << 1 | u64::from(*b)))
            }
            0x119a => answer.text(&arg.name),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// A fact about a kernel on a device.
    fn clGetKernelWorkGroupInfo(
        kernel: Handle<Kernel>,
        device: Handle<Device>,
        name: u32,
        room: usize,
        value: Bytes,
        size: Out<usize>,
    ) -> Code {
        work_group_info(&*handle::get(kernel)?, device, name, Answer::new(room, value, size))
    }

    /// How a kernel's work-groups are divided into waves.
    fn clGetKernelSubGroupInfo(
        kernel: Handle<Kernel>,
        device: Handle<Device>,
        name: u32,
        input_size: usize,
        input: Bytes,
        room: usize,
        value: Bytes,
        size: Out<usize>,
    ) -> Code {
        sub_group_info(kernel, device, name, (input_size, input), Answer::new(room, value, size))
    }

    /// How a kernel's work-groups are divided into waves.
    fn clGetKernelSubGroupInfoKHR(
        kernel: Handle<Kernel>,
        device: Handle<Device>,
        name: u32,
        input_size: usize,
        input: Bytes,
        room: usize,
        value: Bytes,
        size: Out<usize>,
    ) -> Code {
        sub_group_info(kernel, device, name, (input_size, input), Answer::new(room, value, size))
    }
}
