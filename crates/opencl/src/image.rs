//! Images: formats, descriptions, and where their texels lie.

use crate::abi::*;
use crate::context::Context;
use crate::flags;
use crate::handle::{self, Handle, Object};
use crate::memory::{Mem, Parts, Shape, Storage, check_flags, check_pointer, properties, with_default};
use crate::texels::{
    CL_ORDERS, CL_TYPES, Desc, FIRST_ORDER, FIRST_TYPE, Format, IMAGE1D, IMAGE1D_ARRAY, IMAGE1D_BUFFER,
    IMAGE2D, IMAGE2D_ARRAY, IMAGE3D, ImageData, View, copy_box, geometry,
};
use wavemill_device::image::{Description, Image, texel};
use wavemill_isa::Level;

fn level(context: &Context) -> Result<Level> {
    let device = context.devices.iter().find(|d| d.has_images()).ok_or(Code::INVALID_OPERATION)?;
    Ok(device.gpu.device.target().level())
}

/// An image in memory of its own, or in that of another object.
fn create(
    context: Handle<Context>,
    given: u64,
    format: In<Format>,
    desc: In<Desc>,
    host: Bytes,
    list: Vec<u64>,
) -> Result<Handle<Mem>> {
    let context = handle::get(context)?;
    check_flags(given)?;
    let format = format.get_or(Code::INVALID_IMAGE_FORMAT_DESCRIPTOR)?;
    let channels = format.channels()?;
    let mut desc = desc.get_or(Code::INVALID_IMAGE_DESCRIPTOR)?;
    let level = level(&context)?;
    let geometry = geometry(desc.kind, format).ok_or(Code::INVALID_IMAGE_DESCRIPTOR)?;
    if desc.levels != 0
        || desc.samples != 0
        || desc.row_pitch == 0 && desc.slice_pitch != 0 && desc.kind != IMAGE1D_ARRAY
    {
        return Err(Code::INVALID_IMAGE_DESCRIPTOR);
    }
    let source =
        handle::get_or_none(Handle::<Mem>::of(desc.mem)).map_err(|_| Code::INVALID_IMAGE_DESCRIPTOR)?;
    let arrays = matches!(desc.kind, IMAGE1D_ARRAY | IMAGE2D_ARRAY);
    let slices = if arrays { desc.array_size as u64 } else { 1 };
    let size = [desc.width as u64, desc.height as u64, desc.depth as u64];
    let wanted = Description { geometry, channels, size, slices };
    if let Some(source) = source {
        check_source(&source, given, desc.kind)?;
        let layout = Image::new(&wanted, desc.row_pitch as u64, 0, level)?;
        if layout.bytes() > source.size {
            return Err(Code::INVALID_IMAGE_SIZE);
        }
        let flags = with_default(given & !flags::POINTER) | source.flags & (flags::POINTER | flags::HOST);
        let storage = Storage::part(&source.storage, 0);
        layout.words(storage.device)?;
        let data = ImageData::new(desc, format, layout);
        let (size, host_ptr) = (layout.bytes(), source.host_ptr);
        let shape = Shape::Image(Box::new(data));
        return Ok(Mem::create(Parts {
            context,
            shape,
            flags,
            size,
            storage,
            host_ptr,
            parent: Some((source, 0)),
            properties: list,
        }));
    }
    if desc.kind == IMAGE1D_BUFFER {
        return Err(Code::INVALID_IMAGE_DESCRIPTOR);
    }
    check_pointer(given, host)?;
    if host.is_null() && (desc.row_pitch != 0 || desc.slice_pitch != 0) {
        return Err(Code::INVALID_IMAGE_DESCRIPTOR);
    }
    desc.mem = 0;
    let layout = Image::new(&wanted, 0, 0, level)?;
    let storage = Storage::allocate(&context, layout.bytes())?;
    let mut data = ImageData::new(desc, format, layout);
    let mut host_ptr = 0;
    if !host.is_null() {
        let pitches = data.pitches(layout.extent(), desc.row_pitch as u64, desc.slice_pitch as u64);
        let (row, slice) = pitches.map_err(|_| Code::INVALID_IMAGE_DESCRIPTOR)?;
        let from = View { base: host.address(), row, slice };
        copy_box(data.view(storage.host, [0; 3]), from, data.texel(), layout.extent());
        if given & flags::USE_HOST_PTR != 0 {
            data.host = Some((row, slice));
            host_ptr = host.address();
        }
    }
    let (shape, size) = (Shape::Image(Box::new(data)), layout.bytes());
    Ok(Mem::create(Parts {
        context,
        shape,
        flags: with_default(given),
        size,
        storage,
        host_ptr,
        parent: None,
        properties: list,
    }))
}

/// What an image may be made of.
fn check_source(source: &Mem, given: u64, kind: u32) -> Result {
    let fits = match &source.shape {
        Shape::Buffer => matches!(kind, IMAGE1D_BUFFER | IMAGE2D),
        Shape::Image(image) => kind == IMAGE2D && image.desc.kind == IMAGE2D,
        Shape::Pipe(..) => false,
    };
    if !fits || given & flags::POINTER != 0 {
        return Err(Code::INVALID_IMAGE_DESCRIPTOR);
    }
    let device = given & flags::DEVICE;
    let narrower =
        device == 0 || source.flags & flags::READ_WRITE != 0 || source.flags & flags::DEVICE == device;
    if narrower { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

fn described(kind: u32, size: [usize; 3], row_pitch: usize, slice_pitch: usize) -> Desc {
    let [width, height, depth] = size;
    Desc { kind, width, height, depth, array_size: 0, row_pitch, slice_pitch, levels: 0, samples: 0, mem: 0 }
}

/// A description of ours, as if the program had it.
fn given(desc: &Desc) -> In<Desc> {
    In::of(std::ptr::from_ref(desc) as u64)
}

api! {
    /// An image.
    fn clCreateImage(
        context: Handle<Context>,
        flags: u64,
        format: In<Format>,
        desc: In<Desc>,
        host: Bytes,
    ) -> make Handle<Mem> {
        create(context, flags, format, desc, host, Vec::new())
    }

    /// An image; no properties are known.
    fn clCreateImageWithProperties(
        context: Handle<Context>,
        list: In<u64>,
        flags: u64,
        format: In<Format>,
        desc: In<Desc>,
        host: Bytes,
    ) -> make Handle<Mem> {
        handle::get(context)?;
        create(context, flags, format, desc, host, properties(list)?)
    }

    /// A two-dimensional image.
    fn clCreateImage2D(
        context: Handle<Context>,
        flags: u64,
        format: In<Format>,
        width: usize,
        height: usize,
        row_pitch: usize,
        host: Bytes,
    ) -> make Handle<Mem> {
        let desc = described(IMAGE2D, [width, height, 0], row_pitch, 0);
        create(context, flags, format, given(&desc), host, Vec::new())
    }

    /// A three-dimensional image.
    fn clCreateImage3D(
        context: Handle<Context>,
        flags: u64,
        format: In<Format>,
        width: usize,
        height: usize,
        depth: usize,
        row_pitch: usize,
        slice_pitch: usize,
        host: Bytes,
    ) -> make Handle<Mem> {
        let desc = described(IMAGE3D, [width, height, depth], row_pitch, slice_pitch);
        create(context, flags, format, given(&desc), host, Vec::new())
    }

    /// The formats that images of a kind can have.
    fn clGetSupportedImageFormats(
        context: Handle<Context>,
        flags: u64,
        kind: u32,
        room: u32,
        formats: Out<Format>,
        count: Out<u32>,
    ) -> Code {
        let context = handle::get(context)?;
        check_flags(flags)?;
        if room == 0 && !formats.is_null() || geometry(kind, Format { order: 0, ty: 0 }).is_none() {
            return Err(Code::INVALID_VALUE);
        }
        let Ok(level) = level(&context) else {
            count.put(0);
            return Ok(());
        };
        let read_only = flags & (flags::READ_ONLY) != 0;
        let all = (FIRST_ORDER..).take(CL_ORDERS.len()).flat_map(|order| {
            (FIRST_TYPE..).take(CL_TYPES.len()).map(move |ty| Format { order, ty })
        });
        let fits = |f: &Format| {
            // The hardware does not convert what it writes to gamma.
            let gamma = (FIRST_ORDER + 15..FIRST_ORDER + 19).contains(&f.order);
            let channels = f.channels().ok();
            let geometry = geometry(kind, *f);
            (read_only || !gamma) && channels.zip(geometry).is_some_and(|(c, g)| texel(g, c, level).is_ok())
        };
        let found: Vec<Format> = all.filter(fits).collect();
        found.iter().take(room as usize).enumerate().for_each(|(i, f)| formats.put_at(i, *f));
        count.put(found.len() as u32);
        Ok(())
    }

    /// A fact about an image.
    fn clGetImageInfo(image: Handle<Mem>, name: u32, room: usize, value: Bytes, size: Out<usize>) -> Code {
        let mem = handle::get(image)?;
        let image = mem.image()?;
        let answer = Answer::new(room, value, size);
        let Desc { kind, width, height, depth, array_size, .. } = image.desc;
        let flat = matches!(kind, IMAGE1D | IMAGE1D_ARRAY | IMAGE1D_BUFFER);
        let arrays = matches!(kind, IMAGE1D_ARRAY | IMAGE2D_ARRAY);
        let (row, slice) = image.host.unwrap_or((image.layout.row_pitch, image.layout.slice_pitch));
        match name {
            0x1110 => answer.list(&[image.format.order, image.format.ty]),
            0x1111 => answer.set(image.texel() as usize),
            0x1112 => answer.set(row as usize),
            0x1113 => answer.set(if arrays || kind == IMAGE3D { slice as usize } else { 0 }),
            0x1114 => answer.set(width),
            0x1115 => answer.set(if flat { 0 } else { height }),
            0x1116 => answer.set(if kind == IMAGE3D { depth } else { 0 }),
            0x1117 => answer.set(if arrays { array_size } else { 0 }),
            0x1118 => {
                let buffer = mem.parent.as_ref().filter(|p| p.0.is_buffer());
                answer.set(buffer.map_or(Handle::NULL, |p| p.0.handle()))
            }
            0x1119 | 0x111a => answer.set(0u32),
            _ => Err(Code::INVALID_VALUE),
        }
    }
}
