//! Memory objects in the host's own addresses. Buffers are there anyway; so are images, unless the program has given them
//! memory of its own, into which texels are then copied.

use crate::abi::*;
use crate::event::{Event, Kind};
use crate::handle::{self, Handle};
use crate::memory::{Mapped, Mem};
use crate::queue::Queue;
use crate::texels::copy_box;
use std::ffi::c_void;
use std::sync::Arc;

const READ: u64 = 1;
const WRITE: u64 = 2;
const WRITE_INVALIDATE: u64 = 4;

/// What a map is for: reading, writing.
fn access(flags: u64) -> Result<(bool, bool)> {
    let both = flags & WRITE_INVALIDATE != 0 && flags & (READ | WRITE) != 0;
    if flags & !(READ | WRITE | WRITE_INVALIDATE) != 0 || both {
        return Err(Code::INVALID_VALUE);
    }
    Ok((flags & READ != 0, flags & (WRITE | WRITE_INVALIDATE) != 0))
}

fn mine(queue: &Queue, mem: Handle<Mem>) -> Result<Arc<Mem>> {
    let mem = handle::get(mem)?;
    if Arc::ptr_eq(&mem.context, &queue.context) { Ok(mem) } else { Err(Code::INVALID_CONTEXT) }
}

fn three(list: In<usize>) -> Result<[u64; 3]> {
    let list = list.list(3)?;
    Ok([list[0] as u64, list[1] as u64, list[2] as u64])
}

api! {
    /// Maps bytes of a buffer.
    fn clEnqueueMapBuffer(
        queue: Handle<Queue>,
        mem: Handle<Mem>,
        blocking: u32,
        flags: u64,
        offset: usize,
        size: usize,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> make *mut c_void {
        let queue = handle::get(queue)?;
        let mem = mine(&queue, mem)?;
        if !mem.is_buffer() {
            return Err(Code::INVALID_MEM_OBJECT);
        }
        let waits = queue.waits(waits, events, event)?;
        let end = (offset as u64).checked_add(size as u64).ok_or(Code::INVALID_VALUE)?;
        if size == 0 || end > mem.size {
            return Err(Code::INVALID_VALUE);
        }
        let (reads, writes) = access(flags)?;
        mem.host_may(reads, writes)?;
        let pointer = mem.storage.host + offset as u64;
        mem.maps().push(Mapped { pointer, region: None, written: writes });
        queue.submit(Kind::MapBuffer, waits, blocking != 0, move || {
            let _held = mem;
            Ok(())
        })?;
        Ok(pointer as *mut c_void)
    }

    /// Maps texels of an image.
    fn clEnqueueMapImage(
        queue: Handle<Queue>,
        mem: Handle<Mem>,
        blocking: u32,
        flags: u64,
        origin: In<usize>,
        region: In<usize>,
        row: Out<usize>,
        slice: Out<usize>,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> make *mut c_void {
        let queue = handle::get(queue)?;
        let mem = mine(&queue, mem)?;
        let (origin, region) = (three(origin)?, three(region)?);
        let (view, copied) = {
            let image = mem.image()?;
            image.check(origin, region)?;
            match image.host_view(mem.host_ptr, origin) {
                Some(view) => (view, true),
                None => (image.view(mem.storage.host, origin), false),
            }
        };
        let waits = queue.waits(waits, events, event)?;
        let extent = mem.image()?.layout.extent();
        let flat_array = mem.image()?.layout.description.slices > 1 && extent[2] == 1;
        if row.is_null() || slice.is_null() && (extent[2] > 1 || flat_array) {
            return Err(Code::INVALID_VALUE);
        }
        let (reads, writes) = access(flags)?;
        mem.host_may(reads, writes)?;
        row.put(if flat_array { (region[0] * mem.image()?.texel()) as usize } else { view.row as usize });
        slice.put(match (flat_array, extent[2]) {
            (true, _) => view.row as usize,
            (false, 1) => 0,
            (false, _) => view.slice as usize,
        });
        let region_copied = copied.then_some((origin, region));
        mem.maps().push(Mapped { pointer: view.base, region: region_copied, written: writes });
        let base = view.base;
        queue.submit(Kind::MapImage, waits, blocking != 0, move || {
            if copied {
                let image = mem.image()?;
                copy_box(view, image.view(mem.storage.host, origin), image.texel(), region);
            }
            Ok(())
        })?;
        Ok(base as *mut c_void)
    }

    /// Ends a map.
    fn clEnqueueUnmapMemObject(
        queue: Handle<Queue>,
        mem: Handle<Mem>,
        pointer: Bytes,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let mem = mine(&queue, mem)?;
        let waits = queue.waits(waits, events, event)?;
        let mapped = {
            let mut maps = mem.maps();
            let at = maps.iter().position(|m| m.pointer == pointer.address()).ok_or(Code::INVALID_VALUE)?;
            maps.remove(at)
        };
        queue.submit(Kind::UnmapMemObject, waits, false, move || {
            if let (Some((origin, region)), true) = (mapped.region, mapped.written) {
                let image = mem.image()?;
                let from = image.host_view(mem.host_ptr, origin).ok_or(Code::OUT_OF_RESOURCES)?;
                copy_box(image.view(mem.storage.host, origin), from, image.texel(), region);
            }
            Ok(())
        })
    }
}
