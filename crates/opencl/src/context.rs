//! Contexts: devices that share memory, programs and events.

use crate::abi::*;
use crate::device::{self, Device};
use crate::handle::{self, Handle, Object, Slot, Table};
use crate::platform::{Platform, platform};
use std::ffi::{CString, c_char, c_void};
use std::sync::{Arc, Mutex, PoisonError};
use wavemill_runtime::heap::Gpus;

/// What a program is told about errors in a context.
pub type Notify = extern "C" fn(*const c_char, *const c_void, usize, Data);
/// What is called when a context goes.
pub type Destructor = extern "C" fn(Handle<Context>, Data);

/// `cl_context`.
pub struct Context {
    slot: Slot,
    /// Its devices.
    pub devices: Vec<Arc<Device>>,
    properties: Vec<(isize, isize)>,
    notify: Option<(Notify, Data)>,
    destructors: Mutex<Vec<(Destructor, Data)>>,
}

static TABLE: Table<Context> = Table::new();

impl Object for Context {
    const INVALID: Code = Code::INVALID_CONTEXT;

    fn table() -> &'static Table<Self> {
        &TABLE
    }

    fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let destructors =
            std::mem::take(&mut *self.destructors.lock().unwrap_or_else(PoisonError::into_inner));
        let handle = self.handle();
        destructors.into_iter().rev().for_each(|(call, data)| call(handle, data));
    }
}

const PLATFORM: isize = 0x1084;
const INTEROP_USER_SYNC: isize = 0x1085;

impl Context {
    fn new(
        devices: Vec<Arc<Device>>,
        properties: In<isize>,
        notify: Option<Notify>,
        data: Data,
    ) -> Result<Handle<Context>> {
        if notify.is_none() && !data.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let properties = properties.pairs()?;
        for (i, (name, value)) in properties.iter().enumerate() {
            let twice = properties[..i].iter().any(|(n, _)| n == name);
            match *name {
                _ if twice => return Err(Code::INVALID_PROPERTY),
                PLATFORM => _ = handle::get(Handle::<Platform>::of(*value as usize))?,
                INTEROP_USER_SYNC => {}
                _ => return Err(Code::INVALID_PROPERTY),
            }
        }
        let notify = notify.map(|call| (call, data));
        let made = handle::create(|slot| Context {
            slot,
            devices,
            properties,
            notify,
            destructors: Mutex::default(),
        });
        Ok(made.handle())
    }

    /// Tells the program about an error, if it wants to know.
    pub fn tell(&self, message: &str) {
        if let Some((notify, data)) = &self.notify {
            let text = CString::new(message.replace('\0', " ")).unwrap_or_default();
            notify(text.as_ptr(), std::ptr::null(), 0, *data);
        }
    }

    /// The GPUs of its devices.
    pub fn gpus(&self) -> Gpus {
        self.devices.iter().fold(Gpus::default(), |all, d| all.with(Gpus::one(d.gpu.index)))
    }

    /// A device that must be one of its own.
    pub fn device(&self, device: Handle<Device>) -> Result<Arc<Device>> {
        let device = handle::get(device)?;
        match self.devices.iter().any(|d| Arc::ptr_eq(d, &device)) {
            true => Ok(device),
            false => Err(Code::INVALID_DEVICE),
        }
    }

    /// Devices that must be its own; all of them if none are named.
    pub fn named_devices(&self, count: u32, devices: In<Handle<Device>>) -> Result<Vec<Arc<Device>>> {
        if devices.is_null() != (count == 0) {
            return Err(Code::INVALID_VALUE);
        }
        match devices.is_null() {
            true => Ok(self.devices.clone()),
            false => devices.list(count as usize)?.into_iter().map(|d| self.device(d)).collect(),
        }
    }
}

api! {
    /// A context of devices.
    fn clCreateContext(
        properties: In<isize>,
        count: u32,
        devices: In<Handle<Device>>,
        notify: Option<Notify>,
        data: Data,
    ) -> make Handle<Context> {
        if count == 0 || devices.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let mut all: Vec<Arc<Device>> = Vec::new();
        for device in devices.list(count as usize)? {
            let device = handle::get(device)?;
            if !all.iter().any(|d| Arc::ptr_eq(d, &device)) {
                all.push(device);
            }
        }
        Context::new(all, properties, notify, data)
    }

    /// A context of all devices of a type.
    fn clCreateContextFromType(
        properties: In<isize>,
        kind: u64,
        notify: Option<Notify>,
        data: Data,
    ) -> make Handle<Context> {
        Context::new(device::of_type(kind)?, properties, notify, data)
    }

    /// One reference more.
    fn clRetainContext(context: Handle<Context>) -> Code {
        handle::retain(context)
    }

    /// One reference less.
    fn clReleaseContext(context: Handle<Context>) -> Code {
        handle::release(context).map(|_| ())
    }

    /// A fact about a context.
    fn clGetContextInfo(
        context: Handle<Context>,
        name: u32,
        room: usize,
        value: Bytes,
        size: Out<usize>,
    ) -> Code {
        let context = handle::get(context)?;
        let answer = Answer::new(room, value, size);
        match name {
            0x1080 => answer.set(handle::references(&context)?),
            0x1081 => answer.list(&context.devices.iter().map(|d| d.handle()).collect::<Vec<_>>()),
            0x1082 => {
                let mut all: Vec<isize> = context.properties.iter().flat_map(|(k, v)| [*k, *v]).collect();
                if !all.is_empty() {
                    all.push(0);
                }
                answer.list(&all)
            }
            0x1083 => answer.set(context.devices.len() as u32),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// Has a function called when the context goes.
    fn clSetContextDestructorCallback(
        context: Handle<Context>,
        call: Option<Destructor>,
        data: Data,
    ) -> Code {
        let context = handle::get(context)?;
        let call = call.ok_or(Code::INVALID_VALUE)?;
        context.destructors.lock().unwrap_or_else(PoisonError::into_inner).push((call, data));
        Ok(())
    }

    /// There is nothing to unload.
    fn clUnloadCompiler() -> Code {
        platform().map(|_| ())
    }

    /// There is nothing to unload.
    fn clUnloadPlatformCompiler(of: Handle<Platform>) -> Code {
        handle::get(of).map(|_| ())
    }
}
