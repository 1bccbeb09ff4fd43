//! Commands on shared virtual memory.

use crate::abi::*;
use crate::event::{Event, Kind};
use crate::handle::{self, Handle, Object};
use crate::queue::Queue;
use crate::svm::{self, free, holds};
use crate::transfer::{self, PATTERNS};
use std::ffi::c_void;

/// What frees memory in the program's stead.
pub type Free = extern "C" fn(Handle<Queue>, u32, *mut *mut c_void, Data);

api! {
    /// Frees memory when a queue gets there, or lets the program do so.
    fn clEnqueueSVMFree(
        queue: Handle<Queue>,
        count: u32,
        pointers: In<u64>,
        call: Option<Free>,
        data: Data,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        if pointers.is_null() != (count == 0) {
            return Err(Code::INVALID_VALUE);
        }
        let pointers = pointers.list(count as usize)?;
        let waits = queue.waits(waits, events, event)?;
        let name = queue.handle();
        queue.submit(Kind::SvmFree, waits, false, move || {
            match call {
                Some(call) => {
                    let mut list: Vec<*mut c_void> = pointers.iter().map(|p| *p as *mut c_void).collect();
                    let data = data;
                    call(name, list.len() as u32, list.as_mut_ptr(), data);
                }
                None => pointers.into_iter().for_each(free),
            }
            Ok(())
        })
    }

    /// Copies memory.
    fn clEnqueueSVMMemcpy(
        queue: Handle<Queue>,
        blocking: u32,
        to: Bytes,
        from: Bytes,
        size: usize,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let waits = queue.waits(waits, events, event)?;
        if to.is_null() || from.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let (to, from, size) = (to.address(), from.address(), size as u64);
        svm::check(to, size)?;
        svm::check(from, size)?;
        if to < from.saturating_add(size) && from < to.saturating_add(size) {
            return Err(Code::MEM_COPY_OVERLAP);
        }
        queue.submit(Kind::SvmMemcpy, waits, blocking != 0, move || {
            copy(to, from, size);
            Ok(())
        })
    }

    /// Fills memory with a pattern.
    fn clEnqueueSVMMemFill(
        queue: Handle<Queue>,
        to: Bytes,
        pattern: Bytes,
        pattern_size: usize,
        size: usize,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let waits = queue.waits(waits, events, event)?;
        let fits = PATTERNS.contains(&pattern_size)
            && to.address().is_multiple_of(pattern_size as u64)
            && size.is_multiple_of(pattern_size);
        if to.is_null() || pattern.is_null() || !fits {
            return Err(Code::INVALID_VALUE);
        }
        let (to, pattern) = (to.address(), pattern.get(pattern_size)?);
        svm::check(to, size as u64)?;
        queue.submit(Kind::SvmMemfill, waits, false, move || {
            transfer::fill(to, &pattern, size as u64);
            Ok(())
        })
    }

    /// The host may use the memory at once: it is the same.
    fn clEnqueueSVMMap(
        queue: Handle<Queue>,
        blocking: u32,
        _given: u64,
        pointer: Bytes,
        size: usize,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let waits = queue.waits(waits, events, event)?;
        if pointer.is_null() || size == 0 {
            return Err(Code::INVALID_VALUE);
        }
        svm::check(pointer.address(), size as u64)?;
        queue.submit(Kind::SvmMap, waits, blocking != 0, || Ok(()))
    }

    /// The host has done with the memory.
    fn clEnqueueSVMUnmap(
        queue: Handle<Queue>,
        pointer: Bytes,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let waits = queue.waits(waits, events, event)?;
        if pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        queue.submit(Kind::SvmUnmap, waits, false, || Ok(()))
    }

    /// Memory is everywhere at once.
    fn clEnqueueSVMMigrateMem(
        queue: Handle<Queue>,
        count: u32,
        pointers: In<u64>,
        _sizes: In<usize>,
        flags: u64,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let waits = queue.waits(waits, events, event)?;
        let pointers = pointers.list(count as usize)?;
        if count == 0 || flags & !3 != 0 || pointers.iter().any(|p| !holds(*p)) {
            return Err(Code::INVALID_VALUE);
        }
        queue.submit(Kind::SvmMigrateMem, waits, false, || Ok(()))
    }
}
