//! OpenCL 2.0 binaries of AMD's Catalyst driver.
//!
//! The launch ABI is HSA's, the code in it a code object of version 1; Catalyst's own are the container, an ELF file of
//! 32 or 64 bits with machine numbers of its own, and the metadata of kernels ([`metadata`]). Drivers before 1912.05 have
//! the kernels' code in the container's `.text` itself, later ones a whole ELF file there. [`device`] says which GPU the
//! numbers in them mean, [`write`](mod@write) makes containers.

pub mod device;
pub mod metadata;
pub mod write;

use crate::error::Error;
use crate::strtab::text;
use crate::target_id::TargetId;
use device::Device;
use metadata::Record;
use object::LittleEndian as LE;
use object::elf::{self as raw, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader as _, Sym as _};

/// `e_machine` of containers for 32-bit pointers.
pub const EM_32: u16 = 0xaf5a;
/// `e_machine` of containers for 64-bit pointers.
pub const EM_64: u16 = 0xaf5b;
/// `e_machine` of OpenCL 1.2 binaries, one for each GPU.
const EM_OPENCL_1: std::ops::RangeInclusive<u16> = 0x3fd..=0x40b;

/// What drivers before 1912.05 put in front of a kernel's `amd_kernel_code_t`; its first dword says how much.
pub const STUB_BYTES: u64 = 0xa60;

/// Bytes of a pointer as the kernels see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Width {
    W32,
    W64,
}

impl Width {
    /// Bytes of a pointer.
    pub const fn bytes(self) -> u64 {
        match self {
            Width::W32 => 4,
            Width::W64 => 8,
        }
    }
}

/// Where the code is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// In the container: drivers before 1912.05.
    Old,
    /// In an ELF file in the container.
    New,
}

/// A symbol's name: what is before a kernel's, and after it.
const METADATA_NAME: (&str, &str) = ("__OpenCL_&__OpenCL_", "_kernel_metadata");
const BINARY_NAME: (&str, &str) = ("__ISA_&__OpenCL_", "_kernel_binary");
const ISA_METADATA_NAME: (&str, &str) = ("__ISA_&__OpenCL_", "_kernel_metadata");
const KERNEL_NAME: (&str, &str) = ("&__OpenCL_", "_kernel");

fn between<'a>(name: &'a str, (before, after): (&str, &str)) -> Option<&'a str> {
    name.strip_prefix(before)?.strip_suffix(after)
}

/// The kernel that a symbol of the inner file stands for.
pub fn kernel_name(symbol: &str) -> Option<&str> {
    between(symbol, KERNEL_NAME)
}

/// Bytes of the container and where they are.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The kernel's name.
    pub kernel: &'a str,
    /// The bytes.
    pub bytes: &'a [u8],
    /// Where they start in the file.
    pub offset: u64,
}

/// A container.
#[derive(Clone, Debug)]
pub struct Container<'a> {
    /// The whole file.
    pub data: &'a [u8],
    /// Size of pointers.
    pub width: Width,
    /// `e_flags`: which GPU, by the numbers of the driver.
    pub code: u32,
    /// The compiler's options.
    pub options: &'a str,
    /// The compiler library's version.
    pub acl_version: &'a str,
    /// Where the code is.
    pub layout: Layout,
    /// Contents of `.text`: the inner ELF file or the kernels' binaries.
    pub text: Part<'a>,
    /// The kernels' metadata, in order.
    pub metadata: Vec<Part<'a>>,
    /// The kernels' binaries of the old layout.
    pub binaries: Vec<Part<'a>>,
    /// Their second, short metadata.
    pub isa_metadata: Vec<Part<'a>>,
}

/// `e_machine` of an ELF file.
fn machine(data: &[u8]) -> Option<u16> {
    data.starts_with(b"\x7fELF").then(|| data.get(18..20).map(|b| u16::from_le_bytes([b[0], b[1]])))?
}

/// True for what claims to be a container.
pub fn is_container(data: &[u8]) -> bool {
    matches!(machine(data), Some(EM_32 | EM_64))
}

/// What OpenCL binaries of earlier drivers are told.
pub fn refusal(machine: u16) -> Option<&'static str> {
    EM_OPENCL_1.contains(&machine).then_some(
        "it is an OpenCL 1.2 binary of AMD's Catalyst driver, whose launch ABI is another; those of OpenCL 2.0 can be read",
    )
}

/// A symbol of the container.
struct Symbol<'a> {
    name: &'a str,
    section: u32,
    value: u64,
    size: u64,
}

/// A section of the container: name, contents, place.
type Section<'a> = (&'a str, &'a [u8], u64);

/// Reads sections and symbols of an ELF file of either class.
fn sections<'a, H: FileHeader<Endian = LE>>(
    data: &'a [u8],
) -> Result<(u32, Vec<Section<'a>>, Vec<Symbol<'a>>), Error> {
    let broken = |e: object::Error| Error::new("the container's ELF header", Some(0), e.to_string());
    let header = H::parse(data).map_err(broken)?;
    let table = header.sections(LE, data).map_err(broken)?;
    let mut all = Vec::new();
    for section in table.iter() {
        let name = text(table.section_name(LE, section).map_err(broken)?);
        let contents = section.data(LE, data);
        let offset: u64 = section.sh_offset(LE).into();
        let contents = contents.map_err(|_| {
            Error::new(format!("the container's section {name}"), Some(offset), "it is not all in the file")
        })?;
        all.push((name, contents, offset));
    }
    let table = table.symbols(LE, data, raw::SHT_SYMTAB).map_err(broken)?;
    let mut symbols = Vec::new();
    for symbol in table.iter() {
        symbols.push(Symbol {
            name: text(table.symbol_name(LE, symbol).map_err(broken)?),
            section: symbol.st_shndx(LE).0.into(),
            value: symbol.st_value(LE).into(),
            size: symbol.st_size(LE).into(),
        });
    }
    Ok((header.e_flags(LE).0, all, symbols))
}

impl<'a> Container<'a> {
    /// Reads a container.
    pub fn parse(data: &'a [u8]) -> Result<Container<'a>, Error> {
        let header = |message: &str| Error::new("the container's ELF header", Some(0), message);
        let width = match machine(data) {
            Some(EM_32) => Width::W32,
            Some(EM_64) => Width::W64,
            _ => return Err(header("this is no OpenCL binary of Catalyst")),
        };
        let (code, sections, symbols) = match (data.get(4..6), width) {
            (Some([1, 1]), Width::W32) => sections::<FileHeader32<LE>>(data)?,
            (Some([2, 1]), Width::W64) => sections::<FileHeader64<LE>>(data)?,
            _ => {
                return Err(header(
                    "its class does not agree with its machine (0xaf5a: ELF32, 0xaf5b: ELF64)",
                ));
            }
        };
        if code == 0 {
            return Err(header("e_flags names no device"));
        }
        let section = |name: &str| sections.iter().find(|s| s.0 == name);
        let (text, offset) = section(".text").map_or((&[][..], 0), |s| (s.1, s.2));
        let part = |symbol: &Symbol<'a>, kernel: &'a str| {
            let home = sections.get(symbol.section as usize);
            let range = usize::try_from(symbol.value).ok().zip(usize::try_from(symbol.size).ok());
            let bytes = home.zip(range).and_then(|(home, (at, size))| home.1.get(at..at.checked_add(size)?));
            let place = home.map_or(0, |home| home.2).saturating_add(symbol.value);
            match bytes {
                Some(bytes) => Ok(Part { kernel, bytes, offset: place }),
                None => {
                    let message =
                        format!("the {} bytes of {} are not all in its section", symbol.size, symbol.name);
                    Err(Error::new("the container's symbol table", Some(place), message))
                }
            }
        };
        let named = |pattern: (&str, &str)| {
            let found = symbols.iter().filter_map(|s| Some((s, between(s.name, pattern)?)));
            found.map(|(symbol, kernel)| part(symbol, kernel)).collect::<Result<Vec<_>, Error>>()
        };
        let string = |name: &str| {
            let symbol = symbols.iter().find(|s| s.name == name);
            let bytes = symbol.map(|s| part(s, "")).transpose()?.map_or(&[][..], |p| p.bytes);
            Ok::<_, Error>(std::str::from_utf8(bytes).unwrap_or("\u{fffd}"))
        };
        let binaries = named(BINARY_NAME)?;
        let layout = match !binaries.is_empty() || text.is_empty() {
            true => Layout::Old,
            false if text.starts_with(b"\x7fELF") => Layout::New,
            false => {
                return Err(Error::new(
                    "the container's .text",
                    Some(offset),
                    "it is neither kernels nor an ELF file",
                ));
            }
        };
        Ok(Container {
            data,
            width,
            code,
            options: string("__OpenCL_compiler_options")?,
            acl_version: string("acl_version_string")?,
            layout,
            text: Part { kernel: "", bytes: text, offset },
            metadata: named(METADATA_NAME)?,
            binaries,
            isa_metadata: named(ISA_METADATA_NAME)?,
        })
    }

    /// What is said about each kernel.
    pub fn records(&self) -> impl Iterator<Item = Result<(Part<'a>, Record<'a>), Error>> {
        self.metadata.iter().map(|p| Ok((*p, Record::read(p.kernel, p.bytes, p.offset, self.width)?)))
    }

    /// Where kernels of the old layout are in the text: name, byte of the `amd_kernel_code_t`, bytes from there on.
    pub(crate) fn kernels(&self) -> Result<Vec<(&'a str, u64, u64)>, Error> {
        let mut all = Vec::new();
        for binary in &self.binaries {
            let fail = |message| Err(Error::new("the container's .text", Some(binary.offset), message));
            let stub = binary.bytes.first_chunk().map_or(STUB_BYTES, |b| u32::from_le_bytes(*b).into());
            let (kernel, all_bytes) = (binary.kernel, binary.bytes.len() as u64);
            let Some(size) = all_bytes.checked_sub(stub) else {
                return fail(format!(
                    "kernel {kernel} has {all_bytes} bytes, and {stub} in front of its set-up"
                ));
            };
            let start = binary.offset.checked_sub(self.text.offset);
            let Some(start) = start.filter(|s| s + all_bytes <= self.text.bytes.len() as u64) else {
                return fail(format!("the code of kernel {kernel} is not in it"));
            };
            all.push((kernel, start + stub, size));
        }
        Ok(all)
    }

    /// The first driver that may have made it. `isa` is what is in the inner file: its first symbol's name and its notes'
    /// contents.
    fn driver(&self, inner: Inner<'_>) -> u32 {
        if self.layout == Layout::Old {
            return 0;
        }
        if inner.first_symbol_named {
            return device::FIRST_INNER;
        }
        // Drivers of 2036.03 to before 2236 have a longer producer note.
        let notes = device::DRIVERS[3];
        let said = self.records().find_map(|r| r.ok()).map_or(device::FIRST_HINTS, |(_, r)| r.driver());
        if said < notes && inner.notes.len() == 200 && inner.notes[197] != 0 { notes } else { said }
    }

    /// Which GPU it is for, and the first driver that may have made it. The compiler's options tell for sure, the ISA
    /// note nearly so; the number in the header means different devices under different drivers.
    pub fn device(&self, inner: Inner<'_>) -> (Option<&'static Device>, u32) {
        let driver = self.driver(inner);
        let device = device::by_options(self.options)
            .or_else(|| device::by_isa(inner.isa?, self.code, driver))
            .or_else(|| device::by_code(self.code, driver));
        // The driver whose number for the device is the one in the header.
        let later = device.and_then(|d| {
            device::DRIVERS.into_iter().find(|first| *first >= driver && d.code(*first) == Some(self.code))
        });
        (device, later.unwrap_or(driver))
    }

    /// What it is for.
    pub fn target_id(&self, inner: Inner<'_>) -> Option<TargetId> {
        self.device(inner).0.map(Device::target_id)
    }
}

/// What the inner file tells about the driver and the GPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inner<'a> {
    /// Its first symbol is not the null symbol.
    pub first_symbol_named: bool,
    /// Its `.note` section.
    pub notes: &'a [u8],
    /// Major, minor and stepping of the ISA note.
    pub isa: Option<[u32; 3]>,
}
