//! Memory objects: what buffers, images and pipes have in common.

use crate::abi::*;
use crate::context::Context;
use crate::flags;
use crate::handle::{self, Handle, Object, Slot, Table};
use crate::platform::system;
use crate::svm;
use crate::texels::ImageData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wavemill_device::Use;
use wavemill_device::memory::Mirror;
use wavemill_runtime::heap::{Gpus, Origin};
use wavemill_runtime::platform::Gpu;

/// What is called when a memory object goes.
pub type Destructor = extern "C" fn(Handle<Mem>, Data);

/// What a memory object is.
pub enum Shape {
    /// Bytes.
    Buffer,
    /// Texels.
    Image(Box<ImageData>),
    /// Packets: bytes of each, and how many.
    Pipe(u32, u32),
}

/// Where an object's bytes are.
pub struct Storage {
    /// What GPUs see.
    pub device: u64,
    /// What the host sees.
    pub host: u64,
    kind: Kind,
}

enum Kind {
    /// Ours.
    Allocated,
    /// The program's own, locked.
    Locked,
    /// Somebody else looks after it.
    Borrowed,
}

impl Storage {
    /// New memory of zeros.
    pub fn allocate(context: &Context, len: u64) -> Result<Storage> {
        let gpu = context.devices.first().map_or(0, |d| d.gpu.index);
        let made = system()?.heap.allocate(len.max(1), Origin::Pool(gpu + 1, 0), Use::Device, context.gpus());
        let address = made.map_err(|_| Code::MEM_OBJECT_ALLOCATION_FAILURE)?;
        Ok(Storage { device: address, host: address, kind: Kind::Allocated })
    }

    /// Memory of the program, which it keeps until the object goes.
    pub fn lock(context: &Context, host: u64, len: u64) -> Result<Storage> {
        if svm::holds(host) {
            svm::check(host, len).map_err(|_| Code::INVALID_HOST_PTR)?;
            return Ok(Storage { device: host, host, kind: Kind::Borrowed });
        }
        let device = lock(host, len, context.gpus())?;
        Ok(Storage { device, host, kind: Kind::Locked })
    }

    /// Part of another object's memory, which the new object keeps.
    pub fn part(of: &Storage, offset: u64) -> Storage {
        Storage { device: of.device + offset, host: of.host + offset, kind: Kind::Borrowed }
    }
}

fn lock(host: u64, len: u64, gpus: Gpus) -> Result<u64> {
    // SAFETY: the program promises by CL_MEM_USE_HOST_PTR to keep the memory as long as the object (OpenCL 3.0, "Creating
    // buffer objects").
    unsafe { system()?.heap.lock(host, len, gpus) }.map_err(|_| Code::INVALID_HOST_PTR)
}

impl Drop for Storage {
    fn drop(&mut self) {
        let Ok(system) = system() else { return };
        match self.kind {
            Kind::Allocated => _ = system.heap.free(self.device),
            Kind::Locked => _ = system.heap.unlock(self.host),
            Kind::Borrowed => {}
        }
    }
}

/// A part of an object that the host has mapped.
#[derive(Clone, Copy)]
pub struct Mapped {
    /// What the program has.
    pub pointer: u64,
    /// Origin and size in texels, for images whose texels are copied.
    pub region: Option<([u64; 3], [u64; 3])>,
    /// The host may have written it.
    pub written: bool,
}

/// `cl_mem`.
pub struct Mem {
    slot: Slot,
    /// Its context.
    pub context: Arc<Context>,
    /// What it is.
    pub shape: Shape,
    /// `cl_mem_flags`.
    pub flags: u64,
    /// Bytes.
    pub size: u64,
    /// Where it lies.
    pub storage: Storage,
    /// The program's pointer, with CL_MEM_USE_HOST_PTR.
    pub host_ptr: u64,
    /// What it is a part of, and where.
    pub parent: Option<(Arc<Mem>, u64)>,
    properties: Vec<u64>,
    maps: Mutex<Vec<Mapped>>,
    destructors: Mutex<Vec<(Destructor, Data)>>,
}

/// What a memory object is made of.
pub struct Parts {
    pub context: Arc<Context>,
    pub shape: Shape,
    pub flags: u64,
    pub size: u64,
    pub storage: Storage,
    pub host_ptr: u64,
    pub parent: Option<(Arc<Mem>, u64)>,
    pub properties: Vec<u64>,
}

/// A memory object's bytes where kernels with 32-bit pointers see them.
pub struct Mirrored {
    // It goes before the memory does.
    mirror: Mirror,
    _mem: Arc<Mem>,
}

impl Mirrored {
    /// First address, as waves see it.
    pub fn start(&self) -> u64 {
        self.mirror.start()
    }
}

impl Mem {
    /// Lets kernels with 32-bit pointers see it.
    pub fn mirrored(self: &Arc<Mem>, gpu: &Gpu) -> Result<Mirrored> {
        // SAFETY: the object keeps its memory, and what is made here keeps the object; it goes when the launch has ended that it was
        // made for, and its waves with it.
        let mirror = unsafe { gpu.device.memory().mirror_low(self.storage.host, self.size, "a buffer") };
        Ok(Mirrored { mirror: mirror.map_err(|_| Code::OUT_OF_RESOURCES)?, _mem: self.clone() })
    }
}

static TABLE: Table<Mem> = Table::new();

impl Object for Mem {
    const INVALID: Code = Code::INVALID_MEM_OBJECT;

    fn table() -> &'static Table<Self> {
        &TABLE
    }

    fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl Drop for Mem {
    fn drop(&mut self) {
        let calls = std::mem::take(&mut *self.destructors.lock().unwrap_or_else(PoisonError::into_inner));
        let handle = self.handle();
        calls.into_iter().rev().for_each(|(call, data)| call(handle, data));
    }
}

impl Mem {
    /// Makes one.
    pub fn create(parts: Parts) -> Handle<Mem> {
        let Parts { context, shape, flags, size, storage, host_ptr, parent, properties } = parts;
        let made = handle::create(|slot| Mem {
            slot,
            context,
            shape,
            flags,
            size,
            storage,
            host_ptr,
            parent,
            properties,
            maps: Mutex::default(),
            destructors: Mutex::default(),
        });
        made.handle()
    }

    /// Parts of it that are mapped.
    pub fn maps(&self) -> MutexGuard<'_, Vec<Mapped>> {
        self.maps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its texels, if it is an image.
    pub fn image(&self) -> Result<&ImageData> {
        match &self.shape {
            Shape::Image(image) => Ok(image),
            _ => Err(Code::INVALID_MEM_OBJECT),
        }
    }

    /// Whether it is a buffer.
    pub fn is_buffer(&self) -> bool {
        matches!(self.shape, Shape::Buffer)
    }

    /// Refuses what the host may not do.
    pub fn host_may(&self, read: bool, write: bool) -> Result {
        let refused = self.flags & flags::HOST_NO_ACCESS != 0
            || read && self.flags & flags::HOST_WRITE_ONLY != 0
            || write && self.flags & flags::HOST_READ_ONLY != 0;
        if refused { Err(Code::INVALID_OPERATION) } else { Ok(()) }
    }
}

/// Checks flags on their own: at most one word about each side, and no two about where it lies.
pub fn check_flags(given: u64) -> Result {
    let known = flags::DEVICE | flags::HOST | flags::POINTER | flags::KERNEL_READ_AND_WRITE;
    let one = |of: u64| (given & of).count_ones() <= 1;
    let own = given & flags::USE_HOST_PTR != 0 && given & (flags::ALLOC_HOST_PTR | flags::COPY_HOST_PTR) != 0;
    if given & !known != 0 || !one(flags::DEVICE) || !one(flags::HOST) || own {
        return Err(Code::INVALID_VALUE);
    }
    Ok(())
}

/// The same with the host's pointer, which some flags want and others do not.
pub fn check_pointer(given: u64, pointer: Bytes) -> Result {
    let wanted = given & (flags::USE_HOST_PTR | flags::COPY_HOST_PTR) != 0;
    if wanted == pointer.is_null() { Err(Code::INVALID_HOST_PTR) } else { Ok(()) }
}

/// Flags with what is meant where nothing is said.
pub fn with_default(given: u64) -> u64 {
    if given & flags::DEVICE == 0 { given | flags::READ_WRITE } else { given }
}

/// A list of properties as it was given, which must be empty: none are known.
pub fn properties(given: In<u64>) -> Result<Vec<u64>> {
    match given.pairs()?.is_empty() {
        true => Ok(if given.is_null() { Vec::new() } else { vec![0] }),
        false => Err(Code::INVALID_PROPERTY),
    }
}

api! {
    /// One reference more.
    fn clRetainMemObject(mem: Handle<Mem>) -> Code {
        handle::retain(mem)
    }

    /// One reference less.
    fn clReleaseMemObject(mem: Handle<Mem>) -> Code {
        handle::release(mem).map(|_| ())
    }

    /// Has a function called when a memory object goes.
    fn clSetMemObjectDestructorCallback(mem: Handle<Mem>, call: Option<Destructor>, data: Data) -> Code {
        let mem = handle::get(mem)?;
        let call = call.ok_or(Code::INVALID_VALUE)?;
        mem.destructors.lock().unwrap_or_else(PoisonError::into_inner).push((call, data));
        Ok(())
    }

    /// A fact about a memory object.
    fn clGetMemObjectInfo(mem: Handle<Mem>, name: u32, room: usize, value: Bytes, size: Out<usize>) -> Code {
        let mem = handle::get(mem)?;
        let answer = Answer::new(room, value, size);
        match name {
            0x1100 => answer.set(match &mem.shape {
                Shape::Buffer => 0x10f0u32,
                Shape::Image(image) => image.desc.kind,
                Shape::Pipe(..) => 0x10f7,
            }),
            0x1101 => answer.set(mem.flags),
            0x1102 => answer.set(mem.size),
            0x1103 => answer.set(mem.host_ptr),
            0x1104 => answer.set(mem.maps().len() as u32),
            0x1105 => answer.set(handle::references(&mem)?),
            0x1106 => answer.set(mem.context.handle()),
            0x1107 => answer.set(mem.parent.as_ref().map_or(Handle::NULL, |p| p.0.handle())),
            0x1108 => answer.set(mem.parent.as_ref().map_or(0, |p| p.1)),
            0x1109 => answer.set(mem.flags & flags::USE_HOST_PTR != 0 && svm::holds(mem.host_ptr)),
            0x110a => answer.list(&mem.properties),
            _ => Err(Code::INVALID_VALUE),
        }
    }
}
