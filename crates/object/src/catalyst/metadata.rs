//! What a Catalyst binary says about a kernel: `aclMetadata` 0.8 of AMD's compiler library, written flat. The structure,
//! two or three strings, the arguments with their strings, the printf formats.
//!
//! [`Record`] is what can be said; [`Record::read`] and [`Record::write`] know the layout, [`Record::kernel`] turns it
//! into what metadata of other code objects says.

use super::{Width, device};
use crate::error::Error;
use crate::metadata::kernel::{Argument, Kernel};
use std::borrow::Cow;

/// Capability bits.
pub mod capability {
    /// A required work-group size is given.
    pub const REQUIRED_SIZE: u32 = 0x4;
    /// Pointers have 64 bits.
    pub const POINTERS_64: u32 = 0x20;
    /// Local or private memory is used; drivers before 1912.05 only.
    pub const MEMORY: u32 = 0x100;
}

/// The names of the arguments that come before the program's own, and what version 3 calls them.
pub const HIDDEN: [(&str, &str); 6] = [
    ("_.global_offset_0", "hidden_global_offset_x"),
    ("_.global_offset_1", "hidden_global_offset_y"),
    ("_.global_offset_2", "hidden_global_offset_z"),
    ("_.printf_buffer", "hidden_printf_buffer"),
    ("_.vqueue_pointer", "hidden_default_queue"),
    ("_.aqlwrap_pointer", "hidden_completion_action"),
];

/// Arguments whose names start so are not the program's.
const HIDDEN_PREFIX: &str = "_.";

/// What kind of thing an argument is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Sampler = 1,
    Image = 2,
    Counter = 3,
    Value = 4,
    Pointer = 5,
    Semaphore = 6,
    Queue = 7,
}

impl Kind {
    fn from_number(n: u32) -> Option<Kind> {
        use Kind::*;
        [Sampler, Image, Counter, Value, Pointer, Semaphore, Queue].into_iter().find(|k| *k as u32 == n)
    }
}

/// Numbers for types of data.
#[allow(missing_docs)]
pub mod data {
    pub const I8: u32 = 2;
    pub const I16: u32 = 3;
    pub const I32: u32 = 4;
    pub const I64: u32 = 5;
    pub const U8: u32 = 6;
    pub const U16: u32 = 7;
    pub const U32: u32 = 8;
    pub const U64: u32 = 9;
    pub const F16: u32 = 10;
    pub const F32: u32 = 11;
    pub const F64: u32 = 12;
    pub const STRUCT: u32 = 15;
    pub const UNION: u32 = 16;
    pub const OPAQUE: u32 = 18;
}

/// Numbers for the memory that pointers point to.
#[allow(missing_docs)]
pub mod memory {
    pub const LOCAL: u32 = 3;
    pub const GLOBAL: u32 = 4;
    pub const CONSTANT: u32 = 5;
    pub const LDS: u32 = 7;
}

/// Bytes of an element of a type; `None` for what is no number.
pub fn element_bytes(ty: u32) -> Option<u64> {
    match ty {
        1 | data::I8 | data::U8 => Some(1),
        data::I16 | data::U16 | data::F16 => Some(2),
        data::I32 | data::U32 | data::F32 => Some(4),
        data::I64 | data::U64 | data::F64 => Some(8),
        _ => None,
    }
}

/// An argument. Fields that mean something else for another kind of argument are called by their place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arg<'a> {
    /// Name in the source.
    pub name: Cow<'a, str>,
    /// Its type in the source.
    pub type_name: Cow<'a, str>,
    /// What kind of thing it is.
    pub kind: Kind,
    /// Elements of a value or pointer (bytes of a structure), resource id of an image, id of a sampler.
    pub count: u32,
    /// Constant buffer; of a sampler, whether the kernel defines it.
    pub buffer: u32,
    /// A running count of 16-byte slots, of no use.
    pub slot: u32,
    /// Data type of a value, access of an image, buffer number of a pointer.
    pub word52: u32,
    /// Alignment of what a pointer points to; image shape flags; memory type of a queue.
    pub word56: u32,
    /// Data type of what a pointer points to.
    pub pointee: u32,
    /// Memory it points to.
    pub memory: u32,
    /// Access that the kernel makes.
    pub access: u32,
    /// `volatile`, `restrict`, `pipe`.
    pub qualifiers: [bool; 3],
    /// `const`.
    pub is_const: bool,
}

/// A printf format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printf<'a> {
    /// What records call it.
    pub id: u32,
    /// Bytes of each value.
    pub sizes: Vec<u32>,
    /// The format, with escapes spelled out.
    pub format: Cow<'a, str>,
}

/// Everything that is said about a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record<'a> {
    /// See [`capability`].
    pub capabilities: u32,
    /// 1024 and the kernel's number.
    pub function: u32,
    /// Work-group size that a dispatch must have, 0 for none.
    pub required_size: [u32; 3],
    /// Bytes of local memory, hardware's and software's; private memory; region.
    pub memory: [u64; 6],
    /// Whether it starts other kernels.
    pub enqueues: bool,
    /// Its number among the kernels.
    pub index: u32,
    /// How many of the arguments are not the program's own; from driver 1912.05 on.
    pub hidden: Option<u32>,
    /// What newer drivers add.
    pub hints: Option<Hints<'a>>,
    /// `generic`, or the generation.
    pub device: Cow<'a, str>,
    /// The arguments.
    pub args: Vec<Arg<'a>>,
    /// The printf formats.
    pub printf: Vec<Printf<'a>>,
}

/// What drivers from 2004.06 on add.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hints<'a> {
    /// Waves per SIMD.
    pub waves: u32,
    /// Work-group size that a dispatch is likely to have.
    pub size: [u32; 3],
    /// OpenCL's `vec_type_hint`.
    pub vector: Cow<'a, str>,
}

/// The name that the record gives every kernel.
const NAME: &str = "__OpenCL_dummy_kernel";
/// The version of the interface between compiler and runtime.
const VERSION: [u32; 3] = [3, 1, 104];
/// The default buffers: UAV, private, LDS, GDS, constant.
const RESOURCES: [u32; 5] = [0, 8, 1, 1, 2];

/// Bytes of the structure, as drivers before 1912.05, before 2004.06 and later ones have it.
pub const fn structure_sizes(width: Width) -> [u64; 3] {
    match width {
        Width::W32 => [0x88, 0x90, 0xa4],
        Width::W64 => [0xd8, 0xe0, 0x110],
    }
}

const fn argument_bytes(width: Width) -> u64 {
    match width {
        Width::W32 => 64,
        Width::W64 => 88,
    }
}

const fn printf_bytes(width: Width) -> u64 {
    match width {
        Width::W32 => 24,
        Width::W64 => 48,
    }
}

/// Bytes one after the other.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    width: Width,
    /// Where the record is in the file.
    base: u64,
    /// The kernel, for messages.
    kernel: &'a str,
}

impl<'a> Cursor<'a> {
    fn error(&self, message: impl Into<String>) -> Error {
        let part = format!("metadata of kernel {}", self.kernel);
        Error::new(part, Some(self.base + self.at as u64), message)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let end = self.at.checked_add(count);
        let bytes = end.and_then(|end| self.bytes.get(self.at..end));
        let bytes = bytes.ok_or_else(|| {
            self.error(format!("{count} bytes are wanted, {} are left", self.bytes.len() - self.at))
        })?;
        self.at += count;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.take(4)?.try_into().unwrap_or_default()))
    }

    fn u8(&mut self) -> Result<u8, Error> {
        Ok(self.take(1)?[0])
    }

    /// A `size_t`.
    fn word(&mut self) -> Result<u64, Error> {
        match self.width {
            Width::W32 => self.u32().map(u64::from),
            Width::W64 => Ok(u64::from_le_bytes(self.take(8)?.try_into().unwrap_or_default())),
        }
    }

    fn words<const N: usize>(&mut self) -> Result<[u64; N], Error> {
        let mut all = [0; N];
        for word in &mut all {
            *word = self.word()?;
        }
        Ok(all)
    }

    /// Three `size_t` that are numbers of work-items.
    fn sizes(&mut self) -> Result<[u32; 3], Error> {
        let sizes = self.words::<3>()?;
        match sizes.map(u32::try_from) {
            [Ok(x), Ok(y), Ok(z)] => Ok([x, y, z]),
            _ => Err(self.error(format!("no work-group has {sizes:?} work-items"))),
        }
    }

    /// A string of a length, and the NUL behind it.
    fn text(&mut self, length: u64) -> Result<Cow<'a, str>, Error> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let text = std::str::from_utf8(self.take(length)?);
        let text = text.map_err(|_| self.error("a name is not UTF-8"))?;
        if self.u8()? != 0 {
            return Err(self.error(format!("'{text}' does not end where it should")));
        }
        Ok(Cow::Borrowed(text))
    }
}

/// The part of an argument's entry with a fixed size: the lengths of its names beside it.
fn argument<'a>(c: &mut Cursor<'a>) -> Result<Option<(Arg<'a>, [u64; 2])>, Error> {
    let start = c.at;
    let size = c.word()?;
    if size == 0 {
        c.at = start;
        c.take(argument_bytes(c.width) as usize)?;
        return Ok(None);
    }
    if size != argument_bytes(c.width) {
        return Err(
            c.error(format!("an argument of {size} bytes, where they have {}", argument_bytes(c.width)))
        );
    }
    let lengths = c.words::<2>()?;
    let _pointers = c.words::<2>()?;
    let mut words = [0; 8];
    for word in &mut words {
        *word = c.u32()?;
    }
    let [volatile, restrict, pipe, _] = [c.u8()?, c.u8()?, c.u8()?, c.u8()?];
    let kind = c.u32()?;
    let kind = Kind::from_number(kind).ok_or_else(|| c.error(format!("{kind} is no kind of argument")))?;
    let is_const = c.u8()? != 0;
    c.at = start + size as usize;
    if c.at > c.bytes.len() {
        return Err(c.error("the arguments end too early"));
    }
    let [count, buffer, slot, word52, word56, pointee, memory, access] = words;
    let arg = Arg {
        name: "".into(),
        type_name: "".into(),
        kind,
        count,
        buffer,
        slot,
        word52,
        word56,
        pointee,
        memory,
        access,
        qualifiers: [volatile != 0, restrict != 0, pipe != 0],
        is_const,
    };
    Ok(Some((arg, lengths)))
}

impl<'a> Record<'a> {
    /// Reads the record of a kernel, which starts at byte `base` of the file.
    pub fn read(kernel: &'a str, bytes: &'a [u8], base: u64, width: Width) -> Result<Record<'a>, Error> {
        let mut c = Cursor { bytes, at: 0, width, base, kernel };
        let size = c.word()?;
        let sizes = structure_sizes(width);
        let Some(form) = sizes.iter().position(|s| *s == size) else {
            return Err(c.error(format!("a structure of {size:#x} bytes, which no known driver writes")));
        };
        let whole = c.word()?;
        if whole != bytes.len() as u64 {
            return Err(c.error(format!("it says {whole} bytes, its symbol {}", bytes.len())));
        }
        c.take(12)?;
        let (capabilities, function) = (c.u32()?, c.u32()?);
        c.take(20)?;
        let required_size = c.sizes()?;
        c.take(if width == Width::W64 { 16 } else { 12 })?;
        let [name_length, device_length] = c.words()?;
        let memory = c.words()?;
        let [arg_count, _formats] = c.words()?;
        let _pointers = c.words::<4>()?;
        let enqueues = c.u8()? != 0;
        c.take(3)?;
        let index = c.u32()?;
        let mut hidden = None;
        let mut hints = None;
        let mut vector_length = 0;
        if form > 0 {
            hidden = Some(c.u32()?);
        }
        if form > 1 {
            if width == Width::W64 {
                c.take(4)?;
            }
            let waves = c.word()? as u32;
            hints = Some(Hints { waves, size: c.sizes()?, vector: "".into() });
            vector_length = c.word()?;
        }
        c.at = size as usize;
        if c.at > bytes.len() {
            return Err(c.error("the structure is not all there"));
        }
        c.text(name_length)?;
        let device = c.text(device_length)?;
        if let Some(hints) = &mut hints {
            hints.vector = c.text(vector_length)?;
        }
        let mut args = Vec::new();
        let mut lengths = Vec::new();
        while let Some((arg, names)) = argument(&mut c)? {
            args.push(arg);
            lengths.push(names);
        }
        if args.len() as u64 != arg_count {
            return Err(c.error(format!("{arg_count} arguments are announced, {} are there", args.len())));
        }
        for (arg, [name, ty]) in args.iter_mut().zip(lengths) {
            arg.name = c.text(name)?;
            arg.type_name = c.text(ty)?;
        }
        let mut printf = Vec::new();
        let mut layouts = Vec::new();
        loop {
            let start = c.at;
            let size = c.word()?;
            if size == 0 {
                break;
            }
            if size != printf_bytes(width) {
                return Err(c.error(format!("a printf format of {size} bytes is not known")));
            }
            let id = c.u32()?;
            if width == Width::W64 {
                c.take(4)?;
            }
            layouts.push(c.words::<2>()?);
            printf.push(Printf { id, sizes: Vec::new(), format: "".into() });
            c.at = start;
            c.take(size as usize)?;
        }
        c.at -= if width == Width::W64 { 8 } else { 4 };
        c.take(printf_bytes(width) as usize)?;
        for (format, [count, length]) in printf.iter_mut().zip(layouts) {
            for _ in 0..count {
                format.sizes.push(c.u32()?);
            }
            format.format = c.text(length)?;
        }
        Ok(Record {
            capabilities,
            function,
            required_size,
            memory,
            enqueues,
            index,
            hidden,
            hints,
            device,
            args,
            printf,
        })
    }

    /// The record's bytes.
    pub fn write(&self, width: Width) -> Vec<u8> {
        let mut out = Out { bytes: Vec::new(), width };
        let sizes = structure_sizes(width);
        let size = match (self.hidden, &self.hints) {
            (None, _) => sizes[0],
            (Some(_), None) => sizes[1],
            _ => sizes[2],
        };
        out.word(size);
        out.word(0);
        out.u32s(&VERSION);
        out.u32(self.capabilities);
        out.u32(self.function);
        out.u32s(&RESOURCES);
        out.words(&self.required_size.map(u64::from));
        out.zeros(if width == Width::W64 { 16 } else { 12 });
        out.word(NAME.len() as u64);
        out.word(self.device.len() as u64);
        out.words(&self.memory);
        out.word(self.args.len() as u64);
        out.word(self.printf.len() as u64);
        out.words(&[0; 4]);
        out.bytes.extend([self.enqueues.into(), 0, 0, 0]);
        out.u32(self.index);
        if let Some(hidden) = self.hidden {
            out.u32(hidden);
            if width == Width::W64 {
                out.zeros(4);
            }
        }
        if let Some(hints) = &self.hints {
            out.word(hints.waves.into());
            out.words(&hints.size.map(u64::from));
            out.word(hints.vector.len() as u64);
            out.word(0);
        }
        out.bytes.resize(size as usize, 0);
        out.text(NAME);
        out.text(&self.device);
        if let Some(hints) = &self.hints {
            out.text(&hints.vector);
        }
        for arg in &self.args {
            let start = out.bytes.len();
            out.word(argument_bytes(width));
            out.word(arg.name.len() as u64);
            out.word(arg.type_name.len() as u64);
            out.words(&[0; 2]);
            let Arg { count, buffer, slot, word52, word56, pointee, memory, access, .. } = *arg;
            out.u32s(&[count, buffer, slot, word52, word56, pointee, memory, access]);
            out.bytes.extend(arg.qualifiers.map(u8::from));
            out.bytes.push(0);
            out.u32(arg.kind as u32);
            out.bytes.push(arg.is_const.into());
            out.bytes.resize(start + argument_bytes(width) as usize, 0);
        }
        out.zeros(argument_bytes(width) as usize);
        for arg in &self.args {
            out.text(&arg.name);
            out.text(&arg.type_name);
        }
        for format in &self.printf {
            let start = out.bytes.len();
            out.word(printf_bytes(width));
            out.u32(format.id);
            if width == Width::W64 {
                out.zeros(4);
            }
            out.word(format.sizes.len() as u64);
            out.word(format.format.len() as u64);
            out.bytes.resize(start + printf_bytes(width) as usize, 0);
        }
        out.zeros(printf_bytes(width) as usize);
        for format in &self.printf {
            out.u32s(&format.sizes);
            out.text(&format.format);
        }
        let whole = out.bytes.len() as u64;
        let at = width.bytes() as usize;
        out.bytes[at..2 * at].copy_from_slice(&whole.to_le_bytes()[..at]);
        out.bytes
    }

    /// The same in the words of other metadata.
    pub fn kernel(&self, name: &'a str, width: Width) -> Kernel<'a> {
        let mut offset = 0u64;
        let args = self.args.iter().map(|arg| {
            let (size, align) = arg.layout(width);
            offset = offset.next_multiple_of(align);
            let at = offset;
            offset = offset.saturating_add(size);
            arg.argument(at, size)
        });
        let given = |sizes: [u32; 3]| (sizes != [0; 3]).then_some(sizes);
        Kernel {
            name: name.into(),
            symbol: name.into(),
            language: Some("OpenCL C".into()),
            args: args.collect(),
            reqd_workgroup_size: given(self.required_size),
            workgroup_size_hint: self.hints.as_ref().and_then(|h| given(h.size)),
            vec_type_hint: self.hints.as_ref().map(|h| h.vector.clone()).filter(|v| !v.is_empty()),
            ..Kernel::default()
        }
    }

    /// The driver that writes records of this form, as far as they tell it.
    pub fn driver(&self) -> u32 {
        match (self.hidden, &self.hints) {
            (None, _) => 0,
            (Some(_), None) => device::FIRST_INNER,
            _ if self.device == "generic" => device::FIRST_HINTS,
            _ => device::FIRST_NAMED,
        }
    }
}

/// Bytes of arguments: each at the next multiple of its alignment.
pub fn kernarg_bytes(args: &[Arg<'_>], width: Width) -> u64 {
    args.iter().fold(0u64, |end, arg| {
        let (size, align) = arg.layout(width);
        end.next_multiple_of(align).saturating_add(size)
    })
}

impl<'a> Arg<'a> {
    /// Whether the runtime fills it in itself.
    pub fn is_hidden(&self) -> bool {
        self.name.starts_with(HIDDEN_PREFIX)
    }

    /// Whether it is a pointer to local memory.
    fn is_local(&self) -> bool {
        self.kind == Kind::Pointer && matches!(self.memory, memory::LOCAL | memory::LDS)
    }

    /// Whether it is a structure, of which the kernel gets the address of a copy.
    fn is_structure(&self) -> bool {
        self.kind == Kind::Value && matches!(self.word52, data::STRUCT | data::UNION)
    }

    /// Size and alignment in the argument block. Vectors are aligned as their elements are; images, samplers and queues
    /// take eight bytes in 32-bit binaries, too.
    pub fn layout(&self, width: Width) -> (u64, u64) {
        let word = width.bytes();
        match self.kind {
            _ if self.is_hidden() => (word, word),
            Kind::Value => match element_bytes(self.word52) {
                Some(size) => (size * u64::from(self.count.max(1)), size),
                None => (word, word),
            },
            Kind::Pointer | Kind::Counter | Kind::Semaphore => (word, word),
            Kind::Image | Kind::Sampler | Kind::Queue => (8, 8),
        }
    }

    fn argument(&self, offset: u64, size: u64) -> Argument<'a> {
        let [is_volatile, is_restrict, is_pipe] = self.qualifiers;
        let hidden = HIDDEN.iter().find(|h| h.0 == self.name).map_or("hidden_none", |h| h.1);
        let value_kind = match self.kind {
            _ if self.is_hidden() => hidden,
            Kind::Value if self.is_structure() => "by_reference",
            Kind::Value => "by_value",
            Kind::Pointer if is_pipe => "pipe",
            // A clk_event_t.
            Kind::Pointer if self.pointee == data::OPAQUE => "by_value",
            Kind::Pointer if self.is_local() => "dynamic_shared_pointer",
            Kind::Pointer => "global_buffer",
            Kind::Image => "image",
            Kind::Sampler => "sampler",
            Kind::Queue => "queue",
            Kind::Counter => "counter",
            Kind::Semaphore => "semaphore",
        };
        let pointer = self.kind == Kind::Pointer && !self.is_hidden();
        let access = |n: u32| match n {
            1 => Some(Cow::Borrowed("read_only")),
            2 => Some(Cow::Borrowed("write_only")),
            3 => Some(Cow::Borrowed("read_write")),
            _ => None,
        };
        Argument {
            name: Some(self.name.clone()).filter(|n| !n.is_empty()),
            type_name: Some(self.type_name.clone()).filter(|n| !n.is_empty()),
            offset,
            size,
            value_kind: value_kind.into(),
            value_type: None,
            address_space: pointer.then(|| match self.memory {
                memory::LOCAL | memory::LDS => "local".into(),
                memory::CONSTANT => "constant".into(),
                _ => "global".into(),
            }),
            access: (self.kind == Kind::Image).then(|| access(self.word52)).flatten(),
            actual_access: pointer.then(|| access(self.access)).flatten(),
            pointee_align: self.is_local().then_some(self.word56.into()),
            pointee_size: self.is_structure().then_some(self.count.into()),
            is_const: self.is_const,
            is_restrict,
            is_volatile,
            is_pipe,
        }
    }
}

/// Bytes on their way to a file.
struct Out {
    bytes: Vec<u8>,
    width: Width,
}

impl Out {
    fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    fn word(&mut self, value: u64) {
        self.bytes.extend(&value.to_le_bytes()[..self.width.bytes() as usize]);
    }

    fn u32s(&mut self, values: &[u32]) {
        values.iter().for_each(|n| self.u32(*n));
    }

    fn words(&mut self, values: &[u64]) {
        values.iter().for_each(|n| self.word(*n));
    }

    fn zeros(&mut self, count: usize) {
        self.bytes.resize(self.bytes.len() + count, 0);
    }

    fn text(&mut self, text: &str) {
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
    }
}
