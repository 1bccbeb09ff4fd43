//! Buffers, parts of buffers, and pipes.

use crate::abi::*;
use crate::context::Context;
use crate::device::BASE_ALIGN;
use crate::flags;
use crate::handle::{self, Handle};
use crate::memory::{Mem, Parts, Shape, Storage, check_flags, check_pointer, properties, with_default};
use std::sync::Arc;

/// Room between the words that say where a pipe begins and ends, and its packets (ROCm's device library, "pipes").
const PIPE_HEADER: u64 = 128;

fn create(
    context: Handle<Context>,
    given: u64,
    size: usize,
    host: Bytes,
    properties: Vec<u64>,
) -> Result<Handle<Mem>> {
    let context = handle::get(context)?;
    check_flags(given)?;
    let size = size as u64;
    if size == 0 || context.devices.iter().all(|d| size > d.memory().1) {
        return Err(Code::INVALID_BUFFER_SIZE);
    }
    check_pointer(given, host)?;
    let (storage, host_ptr) = match given & flags::USE_HOST_PTR != 0 {
        true => (Storage::lock(&context, host.address(), size)?, host.address()),
        false => (Storage::allocate(&context, size)?, 0),
    };
    if given & flags::COPY_HOST_PTR != 0 {
        copy(storage.host, host.address(), size);
    }
    let flags = with_default(given);
    Ok(Mem::create(Parts {
        context,
        shape: Shape::Buffer,
        flags,
        size,
        storage,
        host_ptr,
        parent: None,
        properties,
    }))
}

/// `cl_buffer_region`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Region {
    origin: usize,
    size: usize,
}

/// What a part may do, given what it asks for and what the whole may do.
fn inherited(whole: u64, asked: u64) -> Result<u64> {
    if asked & flags::POINTER != 0 {
        return Err(Code::INVALID_VALUE);
    }
    let narrower = |side: u64, all: u64| match asked & side {
        0 => Ok(whole & side),
        a if whole & side & !all == 0 || whole & side == a => Ok(a),
        _ => Err(Code::INVALID_VALUE),
    };
    let device = narrower(flags::DEVICE, flags::READ_WRITE)?;
    let host = match (asked & flags::HOST, whole & flags::HOST) {
        (0, w) => w,
        (a, w) if w == 0 || a == w || a == flags::HOST_NO_ACCESS => a,
        _ => return Err(Code::INVALID_VALUE),
    };
    Ok(device | host | whole & flags::POINTER)
}

/// A part of a buffer.
fn part(of: &Arc<Mem>, asked: u64, region: Region) -> Result<Handle<Mem>> {
    let (origin, size) = (region.origin as u64, region.size as u64);
    let end = origin.checked_add(size).ok_or(Code::INVALID_VALUE)?;
    if end > of.size {
        return Err(Code::INVALID_VALUE);
    }
    if size == 0 {
        return Err(Code::INVALID_BUFFER_SIZE);
    }
    if origin % BASE_ALIGN != 0 {
        return Err(Code::MISALIGNED_SUB_BUFFER_OFFSET);
    }
    let host_ptr = if of.host_ptr == 0 { 0 } else { of.host_ptr + origin };
    Ok(Mem::create(Parts {
        context: of.context.clone(),
        shape: Shape::Buffer,
        flags: inherited(of.flags, asked)?,
        size,
        storage: Storage::part(&of.storage, origin),
        host_ptr,
        parent: Some((of.clone(), origin)),
        properties: Vec::new(),
    }))
}

api! {
    /// A buffer.
    fn clCreateBuffer(context: Handle<Context>, given: u64, size: usize, host: Bytes) -> make Handle<Mem> {
        create(context, given, size, host, Vec::new())
    }

    /// A buffer; no properties are known.
    fn clCreateBufferWithProperties(
        context: Handle<Context>,
        given: In<u64>,
        flags: u64,
        size: usize,
        host: Bytes,
    ) -> make Handle<Mem> {
        handle::get(context)?;
        create(context, flags, size, host, properties(given)?)
    }

    /// A part of a buffer.
    fn clCreateSubBuffer(buffer: Handle<Mem>, given: u64, kind: u32, info: Bytes) -> make Handle<Mem> {
        let buffer = handle::get(buffer)?;
        if !buffer.is_buffer() || buffer.parent.is_some() {
            return Err(Code::INVALID_MEM_OBJECT);
        }
        check_flags(given)?;
        // CL_BUFFER_CREATE_TYPE_REGION
        if kind != 0x1220 || info.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        part(&buffer, given, In::of(info.address()).get()?)
    }

    /// A pipe.
    fn clCreatePipe(
        context: Handle<Context>,
        given: u64,
        packet: u32,
        packets: u32,
        list: In<isize>,
    ) -> make Handle<Mem> {
        let context = handle::get(context)?;
        if given & !(flags::READ_WRITE | flags::HOST_NO_ACCESS) != 0 || !list.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        if packet == 0 || packets == 0 || packet > 1024 {
            return Err(Code::INVALID_PIPE_SIZE);
        }
        let size = PIPE_HEADER + u64::from(packet) * u64::from(packets);
        let storage = Storage::allocate(&context, size)?;
        // Where it is read, where it is written, how many packets there are.
        Bytes::at(storage.host + 16).set(&u64::from(packets).to_le_bytes());
        let flags = flags::READ_WRITE | flags::HOST_NO_ACCESS;
        let shape = Shape::Pipe(packet, packets);
        let (host_ptr, parent, properties) = (0, None, Vec::new());
        Ok(Mem::create(Parts { context, shape, flags, size, storage, host_ptr, parent, properties }))
    }

    /// A fact about a pipe.
    fn clGetPipeInfo(pipe: Handle<Mem>, name: u32, room: usize, value: Bytes, size: Out<usize>) -> Code {
        let pipe = handle::get(pipe)?;
        let Shape::Pipe(packet, packets) = pipe.shape else { return Err(Code::INVALID_MEM_OBJECT) };
        let answer = Answer::new(room, value, size);
        match name {
            0x1120 => answer.set(packet),
            0x1121 => answer.set(packets),
            0x1122 => answer.bytes(&[]),
            _ => Err(Code::INVALID_VALUE),
        }
    }
}
