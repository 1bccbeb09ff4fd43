//! Commands that read, write, copy and fill memory objects.

use crate::abi::*;
use crate::event::{Event, Kind};
use crate::handle::{self, Handle};
use crate::memory::{Mem, Shape};
use crate::queue::Queue;
use crate::texels::{View, copy_box};
use std::sync::Arc;

/// Sizes that patterns can have.
pub const PATTERNS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// Fills memory with a pattern.
pub fn fill(to: u64, pattern: &[u8], len: u64) {
    let whole: Vec<u8> =
        pattern.iter().copied().cycle().take(pattern.len() * (4096 / pattern.len()).max(1)).collect();
    let mut at = 0;
    while at < len {
        let piece = (len - at).min(whole.len() as u64);
        copy(to + at, whole.as_ptr() as u64, piece);
        at += piece;
    }
}

/// What a command waits for: how many events, which, and where its own is wanted.
type Events = (u32, In<Handle<Event>>, Out<Handle<Event>>);

/// A buffer that a command on a queue uses.
fn buffer(queue: &Queue, mem: Handle<Mem>) -> Result<Arc<Mem>> {
    let mem = handle::get(mem)?;
    match (mem.is_buffer(), Arc::ptr_eq(&mem.context, &queue.context)) {
        (true, true) => Ok(mem),
        (false, _) => Err(Code::INVALID_MEM_OBJECT),
        (_, false) => Err(Code::INVALID_CONTEXT),
    }
}

/// An image that a command on a queue uses.
fn image(queue: &Queue, mem: Handle<Mem>) -> Result<Arc<Mem>> {
    let mem = handle::get(mem)?;
    match (mem.image().is_ok(), Arc::ptr_eq(&mem.context, &queue.context)) {
        (true, true) => Ok(mem),
        (false, _) => Err(Code::INVALID_MEM_OBJECT),
        (_, false) => Err(Code::INVALID_CONTEXT),
    }
}

fn inside(mem: &Mem, offset: usize, size: usize) -> Result {
    let end = (offset as u64).checked_add(size as u64);
    if end.is_some_and(|e| e <= mem.size) { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

fn three(list: In<usize>) -> Result<[u64; 3]> {
    let list = list.list(3)?;
    Ok([list[0] as u64, list[1] as u64, list[2] as u64])
}

/// A box in bytes that a command on buffers names.
#[derive(Clone, Copy)]
struct Rect {
    origin: [u64; 3],
    row: u64,
    slice: u64,
}

impl Rect {
    /// Pitches of 0 are those of the region.
    fn new(origin: In<usize>, row: usize, slice: usize, region: [u64; 3]) -> Result<Rect> {
        if region.contains(&0) {
            return Err(Code::INVALID_VALUE);
        }
        let row = match row as u64 {
            0 => region[0],
            given if given >= region[0] => given,
            _ => return Err(Code::INVALID_VALUE),
        };
        let least = region[1].checked_mul(row).ok_or(Code::INVALID_VALUE)?;
        let slice = match slice as u64 {
            0 => least,
            given if given >= least && given % row == 0 => given,
            _ => return Err(Code::INVALID_VALUE),
        };
        Ok(Rect { origin: three(origin)?, row, slice })
    }

    fn offset(&self) -> Result<u64> {
        let [x, y, z] = self.origin;
        let at = z
            .checked_mul(self.slice)
            .zip(y.checked_mul(self.row))
            .and_then(|(z, y)| z.checked_add(y)?.checked_add(x));
        at.ok_or(Code::INVALID_VALUE)
    }

    /// Byte behind the last one.
    fn end(&self, region: [u64; 3]) -> Result<u64> {
        let deep = (region[2] - 1)
            .checked_mul(self.slice)
            .and_then(|n| n.checked_add((region[1] - 1).checked_mul(self.row)?));
        let end = deep.and_then(|n| n.checked_add(region[0])?.checked_add(self.offset().ok()?));
        end.ok_or(Code::INVALID_VALUE)
    }

    fn inside(&self, mem: &Mem, region: [u64; 3]) -> Result {
        if self.end(region)? <= mem.size { Ok(()) } else { Err(Code::INVALID_VALUE) }
    }

    fn view(&self, base: u64) -> Result<View> {
        let base = base.checked_add(self.offset()?).ok_or(Code::INVALID_VALUE)?;
        Ok(View { base, row: self.row, slice: self.slice })
    }
}

/// Where a transfer between a buffer and the program goes.
struct Host {
    blocking: bool,
    pointer: Bytes,
    reads: bool,
}

impl Host {
    fn check(&self, mem: &Mem) -> Result {
        if self.pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        mem.host_may(self.reads, !self.reads)
    }
}

fn linear(
    queue: &Arc<Queue>,
    mem: Handle<Mem>,
    offset: usize,
    size: usize,
    host: Host,
    events: Events,
) -> Result {
    let mem = buffer(queue, mem)?;
    let waits = queue.waits(events.0, events.1, events.2)?;
    inside(&mem, offset, size)?;
    host.check(&mem)?;
    let pointer = host.pointer.address();
    let kind = if host.reads { Kind::ReadBuffer } else { Kind::WriteBuffer };
    queue.submit(kind, waits, host.blocking, move || {
        let there = mem.storage.host + offset as u64;
        let (to, from) = if host.reads { (pointer, there) } else { (there, pointer) };
        copy(to, from, size as u64);
        Ok(())
    })
}

/// The boxes of a transfer between a buffer and the program.
struct Boxes {
    buffer: Rect,
    host: Rect,
    region: [u64; 3],
}

fn rect(queue: &Arc<Queue>, mem: Handle<Mem>, boxes: Boxes, host: Host, events: Events) -> Result {
    let mem = buffer(queue, mem)?;
    let waits = queue.waits(events.0, events.1, events.2)?;
    boxes.buffer.inside(&mem, boxes.region)?;
    boxes.host.end(boxes.region)?;
    host.check(&mem)?;
    let there = boxes.buffer.view(mem.storage.host)?;
    let here = boxes.host.view(host.pointer.address())?;
    let kind = if host.reads { Kind::ReadBufferRect } else { Kind::WriteBufferRect };
    queue.submit(kind, waits, host.blocking, move || {
        let _held = mem;
        let (to, from) = if host.reads { (here, there) } else { (there, here) };
        copy_box(to, from, 1, boxes.region);
        Ok(())
    })
}

/// What of an image a transfer is about, and its pitches in the program's memory.
struct Texels {
    origin: In<usize>,
    region: In<usize>,
    row: usize,
    slice: usize,
}

fn texels(queue: &Arc<Queue>, mem: Handle<Mem>, texels: Texels, host: Host, events: Events) -> Result {
    let mem = image(queue, mem)?;
    let waits = queue.waits(events.0, events.1, events.2)?;
    let (origin, region) = (three(texels.origin)?, three(texels.region)?);
    let (here, there) = {
        let image = mem.image()?;
        image.check(origin, region)?;
        let (row, slice) = image.pitches(region, texels.row as u64, texels.slice as u64)?;
        host.check(&mem)?;
        (View { base: host.pointer.address(), row, slice }, image.view(mem.storage.host, origin))
    };
    let kind = if host.reads { Kind::ReadImage } else { Kind::WriteImage };
    queue.submit(kind, waits, host.blocking, move || {
        let (to, from) = if host.reads { (here, there) } else { (there, here) };
        copy_box(to, from, mem.image()?.texel(), region);
        Ok(())
    })
}

/// Whether two ranges of the same object share bytes.
fn overlap(a: u64, b: u64, len: u64) -> bool {
    a < b + len && b < a + len
}

/// Between an image and a buffer.
fn between(
    queue: &Arc<Queue>,
    picture: Handle<Mem>,
    bytes: Handle<Mem>,
    (origin, region): (In<usize>, In<usize>),
    offset: usize,
    to_buffer: bool,
    events: Events,
) -> Result {
    let (picture, bytes) = (image(queue, picture)?, buffer(queue, bytes)?);
    let waits = queue.waits(events.0, events.1, events.2)?;
    let (origin, region) = (three(origin)?, three(region)?);
    let (there, tight) = {
        let image = picture.image()?;
        image.check(origin, region)?;
        let (row, slice) = image.pitches(region, 0, 0)?;
        inside(&bytes, offset, (region.iter().product::<u64>() * image.texel()) as usize)?;
        (
            image.view(picture.storage.host, origin),
            View { base: bytes.storage.host + offset as u64, row, slice },
        )
    };
    let kind = if to_buffer { Kind::CopyImageToBuffer } else { Kind::CopyBufferToImage };
    queue.submit(kind, waits, false, move || {
        let _held = bytes;
        let (to, from) = if to_buffer { (tight, there) } else { (there, tight) };
        copy_box(to, from, picture.image()?.texel(), region);
        Ok(())
    })
}

api! {
    /// Reads bytes of a buffer.
    fn clEnqueueReadBuffer(
        queue: Handle<Queue>,
        mem: Handle<Mem>,
        blocking: u32,
        offset: usize,
        size: usize,
        to: Bytes,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let host = Host { blocking: blocking != 0, pointer: to, reads: true };
        linear(&handle::get(queue)?, mem, offset, size, host, (waits, events, event))
    }

    /// Writes bytes of a buffer.
    fn clEnqueueWriteBuffer(
        queue: Handle<Queue>,
        mem: Handle<Mem>,
        blocking: u32,
        offset: usize,
        size: usize,
        from: Bytes,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let host = Host { blocking: blocking != 0, pointer: from, reads: false };
        linear(&handle::get(queue)?, mem, offset, size, host, (waits, events, event))
    }

    /// Reads a box of a buffer.
    fn clEnqueueReadBufferRect(
        queue: Handle<Queue>,
        mem: Handle<Mem>,
        blocking: u32,
        origin: In<usize>,
        host_origin: In<usize>,
        region: In<usize>,
        row: usize,
        slice: usize,
        host_row: usize,
        host_slice: usize,
        to: Bytes,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let region = three(region)?;
        let buffer = Rect::new(origin, row, slice, region)?;
        let boxes = Boxes { buffer, host: Rect::new(host_origin, host_row, host_slice, region)?, region };
        let host = Host { blocking: blocking != 0, pointer: to, reads: true };
        rect(&queue, mem, boxes, host, (waits, events, event))
    }

    /// Writes a box of a buffer.
    fn clEnqueueWriteBufferRect(
        queue: Handle<Queue>,
        mem: Handle<Mem>,
        blocking: u32,
        origin: In<usize>,
        host_origin: In<usize>,
        region: In<usize>,
        row: usize,
        slice: usize,
        host_row: usize,
        host_slice: usize,
        from: Bytes,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let region = three(region)?;
        let buffer = Rect::new(origin, row, slice, region)?;
        let boxes = Boxes { buffer, host: Rect::new(host_origin, host_row, host_slice, region)?, region };
        let host = Host { blocking: blocking != 0, pointer: from, reads: false };
        rect(&queue, mem, boxes, host, (waits, events, event))
    }

    /// Copies bytes between buffers.
    fn clEnqueueCopyBuffer(
        queue: Handle<Queue>,
        from: Handle<Mem>,
        to: Handle<Mem>,
        from_offset: usize,
        to_offset: usize,
        size: usize,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let (from, to) = (buffer(&queue, from)?, buffer(&queue, to)?);
        let waits = queue.waits(waits, events, event)?;
        inside(&from, from_offset, size)?;
        inside(&to, to_offset, size)?;
        let (source, target) = (from.storage.host + from_offset as u64, to.storage.host + to_offset as u64);
        if overlap(source, target, size as u64) {
            return Err(Code::MEM_COPY_OVERLAP);
        }
        queue.submit(Kind::CopyBuffer, waits, false, move || {
            let _held = (from, to);
            copy(target, source, size as u64);
            Ok(())
        })
    }

    /// Copies a box between buffers.
    fn clEnqueueCopyBufferRect(
        queue: Handle<Queue>,
        from: Handle<Mem>,
        to: Handle<Mem>,
        from_origin: In<usize>,
        to_origin: In<usize>,
        region: In<usize>,
        from_row: usize,
        from_slice: usize,
        to_row: usize,
        to_slice: usize,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let (from, to) = (buffer(&queue, from)?, buffer(&queue, to)?);
        let waits = queue.waits(waits, events, event)?;
        let region = three(region)?;
        let source = Rect::new(from_origin, from_row, from_slice, region)?;
        let target = Rect::new(to_origin, to_row, to_slice, region)?;
        source.inside(&from, region)?;
        target.inside(&to, region)?;
        if Arc::ptr_eq(&from, &to) {
            if (source.row, source.slice) != (target.row, target.slice) {
                return Err(Code::INVALID_VALUE);
            }
            let apart = |i: usize| source.origin[i].abs_diff(target.origin[i]) >= region[i];
            if !(0..3).any(apart) {
                return Err(Code::MEM_COPY_OVERLAP);
            }
        }
        let (source, target) = (source.view(from.storage.host)?, target.view(to.storage.host)?);
        queue.submit(Kind::CopyBufferRect, waits, false, move || {
            let _held = (from, to);
            copy_box(target, source, 1, region);
            Ok(())
        })
    }

    /// Fills a buffer with a pattern.
    fn clEnqueueFillBuffer(
        queue: Handle<Queue>,
        mem: Handle<Mem>,
        pattern: Bytes,
        pattern_size: usize,
        offset: usize,
        size: usize,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let mem = buffer(&queue, mem)?;
        let waits = queue.waits(waits, events, event)?;
        inside(&mem, offset, size)?;
        let fits = PATTERNS.contains(&pattern_size)
            && offset.is_multiple_of(pattern_size)
            && size.is_multiple_of(pattern_size);
        if pattern.is_null() || !fits {
            return Err(Code::INVALID_VALUE);
        }
        let pattern = pattern.get(pattern_size)?;
        queue.submit(Kind::FillBuffer, waits, false, move || {
            fill(mem.storage.host + offset as u64, &pattern, size as u64);
            Ok(())
        })
    }

    /// Reads texels of an image.
    fn clEnqueueReadImage(
        queue: Handle<Queue>,
        mem: Handle<Mem>,
        blocking: u32,
        origin: In<usize>,
        region: In<usize>,
        row: usize,
        slice: usize,
        to: Bytes,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let host = Host { blocking: blocking != 0, pointer: to, reads: true };
        texels(&handle::get(queue)?, mem, Texels { origin, region, row, slice }, host, (waits, events, event))
    }

    /// Writes texels of an image.
    fn clEnqueueWriteImage(
        queue: Handle<Queue>,
        mem: Handle<Mem>,
        blocking: u32,
        origin: In<usize>,
        region: In<usize>,
        row: usize,
        slice: usize,
        from: Bytes,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let host = Host { blocking: blocking != 0, pointer: from, reads: false };
        texels(&handle::get(queue)?, mem, Texels { origin, region, row, slice }, host, (waits, events, event))
    }

    /// Fills texels with a colour.
    fn clEnqueueFillImage(
        queue: Handle<Queue>,
        mem: Handle<Mem>,
        colour: In<[u32; 4]>,
        origin: In<usize>,
        region: In<usize>,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let mem = image(&queue, mem)?;
        let waits = queue.waits(waits, events, event)?;
        let (origin, region) = (three(origin)?, three(region)?);
        mem.image()?.check(origin, region)?;
        let colour = colour.get()?;
        queue.submit(Kind::FillImage, waits, false, move || {
            let image = mem.image()?;
            let view = image.view(mem.storage.host, origin);
            let texel = image.layout.texel.encode(colour);
            for (y, z) in (0..region[2]).flat_map(|z| (0..region[1]).map(move |y| (y, z))) {
                let at = view.base + z * view.slice + y * view.row;
                (0..region[0]).for_each(|x| Bytes::at(at + x * image.texel()).set(&texel));
            }
            Ok(())
        })
    }

    /// Copies texels between images.
    fn clEnqueueCopyImage(
        queue: Handle<Queue>,
        from: Handle<Mem>,
        to: Handle<Mem>,
        from_origin: In<usize>,
        to_origin: In<usize>,
        region: In<usize>,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let (from, to) = (image(&queue, from)?, image(&queue, to)?);
        let waits = queue.waits(waits, events, event)?;
        let (from_origin, to_origin, region) = (three(from_origin)?, three(to_origin)?, three(region)?);
        let (source, target) = {
            let (a, b) = (from.image()?, to.image()?);
            if a.layout.description.channels != b.layout.description.channels {
                return Err(Code::IMAGE_FORMAT_MISMATCH);
            }
            a.check(from_origin, region)?;
            b.check(to_origin, region)?;
            (a.view(from.storage.host, from_origin), b.view(to.storage.host, to_origin))
        };
        let near = |i: usize| from_origin[i].abs_diff(to_origin[i]) < region[i];
        if Arc::ptr_eq(&from, &to) && (0..3).all(near) {
            return Err(Code::MEM_COPY_OVERLAP);
        }
        queue.submit(Kind::CopyImage, waits, false, move || {
            let _held = to;
            copy_box(target, source, from.image()?.texel(), region);
            Ok(())
        })
    }

    /// Copies texels into a buffer, without gaps.
    fn clEnqueueCopyImageToBuffer(
        queue: Handle<Queue>,
        from: Handle<Mem>,
        to: Handle<Mem>,
        origin: In<usize>,
        region: In<usize>,
        offset: usize,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        between(&handle::get(queue)?, from, to, (origin, region), offset, true, (waits, events, event))
    }

    /// Copies texels out of a buffer.
    fn clEnqueueCopyBufferToImage(
        queue: Handle<Queue>,
        from: Handle<Mem>,
        to: Handle<Mem>,
        offset: usize,
        origin: In<usize>,
        region: In<usize>,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        between(&handle::get(queue)?, to, from, (origin, region), offset, false, (waits, events, event))
    }

    /// Memory is everywhere at once.
    fn clEnqueueMigrateMemObjects(
        queue: Handle<Queue>,
        count: u32,
        mems: In<Handle<Mem>>,
        flags: u64,
        waits: u32,
        events: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) -> Code {
        let queue = handle::get(queue)?;
        let waits = queue.waits(waits, events, event)?;
        if count == 0 || mems.is_null() || flags & !3 != 0 {
            return Err(Code::INVALID_VALUE);
        }
        for mem in mems.list(count as usize)? {
            let mem = handle::get(mem)?;
            if !Arc::ptr_eq(&mem.context, &queue.context) {
                return Err(Code::INVALID_CONTEXT);
            }
            if matches!(mem.shape, Shape::Pipe(..)) {
                return Err(Code::INVALID_MEM_OBJECT);
            }
        }
        queue.submit(Kind::MigrateMemObjects, waits, false, || Ok(()))
    }
}
