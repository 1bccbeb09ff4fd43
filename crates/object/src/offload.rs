//! LLVM's containers for code of GPUs in host objects and programs: the `.llvm.offloading` sections that clang's OpenMP, and HIP
//! with its newer driver, leave there (LLVM's `llvm/Object/OffloadBinary.h`, version 1, which LLVM 15 to 22 write; Clang documentation,
//! "Clang Offload Packager").

use crate::read::Error;
use crate::target_id::TargetId;

/// How a container starts.
pub(crate) const MAGIC: &[u8] = &[0x10, 0xff, 0x10, 0xad];
/// The section that holds them.
pub(crate) const SECTION: &[u8] = b".llvm.offloading";

/// Magic, version, size, where the entry is and how long.
const HEADER: usize = 32;
/// Bytes of an entry.
const ENTRY: u64 = 40;
/// Bytes of a key and its value.
const STRING: u64 = 16;
/// What an image is: an object, or nothing that is said.
const IMAGE_NONE: u16 = 0;
const IMAGE_OBJECT: u16 = 1;

/// What an image is that is no code object.
fn kind_name(kind: u16) -> &'static str {
    match kind {
        2 => "LLVM bitcode",
        3 => "a cubin",
        4 => "an archive of NVIDIA's",
        5 => "PTX",
        6 => "SPIR-V",
        _ => "of a kind that is not known",
    }
}

/// What the programs are called that use an image, as in names of bundles' entries.
fn program_name(kind: u16) -> &'static str {
    match kind {
        1 => "openmp",
        2 => "cuda",
        4 => "hip",
        8 => "sycl",
        _ => "offload",
    }
}

/// A code object in a container.
pub(crate) struct Image<'a> {
    /// `openmp-amdgcn-amd-amdhsa--gfx90a`.
    pub id: String,
    /// What it was compiled for, when the container says so.
    pub target: Option<TargetId>,
    /// Which of the containers it is in.
    pub number: usize,
    /// Its bytes.
    pub data: &'a [u8],
}

/// Numbers of a container, or why they are not there.
struct Container<'a> {
    data: &'a [u8],
    /// Where it is in the file.
    base: u64,
}

impl<'a> Container<'a> {
    fn error(&self, at: u64, message: impl Into<String>) -> Error {
        Error::new("offload binary", Some(self.base.saturating_add(at)), message.into())
    }

    fn bytes(&self, at: u64, len: u64) -> Result<&'a [u8], Error> {
        let end = at.checked_add(len).filter(|e| *e <= self.data.len() as u64);
        let end =
            end.ok_or_else(|| self.error(at, format!("{len} bytes from {at:#x} on are not all there")))?;
        Ok(&self.data[at as usize..end as usize])
    }

    fn number<const N: usize>(&self, at: u64) -> Result<u64, Error> {
        let mut wide = [0; 8];
        wide[..N].copy_from_slice(self.bytes(at, N as u64)?);
        Ok(u64::from_le_bytes(wide))
    }

    fn text(&self, at: u64) -> Result<String, Error> {
        let rest = usize::try_from(at).ok().and_then(|at| self.data.get(at..)).unwrap_or(&[]);
        let end = rest.iter().position(|b| *b == 0);
        let end = end.ok_or_else(|| self.error(at, "a text does not end"))?;
        Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
    }

    /// An entry's code object, or what it is instead: kinds of image and program, flags, strings, image.
    fn entry(&self, at: u64, number: usize) -> Result<Result<Image<'a>, String>, Error> {
        self.bytes(at, ENTRY)?;
        let (image, program) = (self.number::<2>(at)? as u16, self.number::<2>(at + 2)? as u16);
        let (strings, count) = (self.number::<8>(at + 8)?, self.number::<8>(at + 16)?);
        let (offset, size) = (self.number::<8>(at + 24)?, self.number::<8>(at + 32)?);
        let (mut triple, mut arch) = (String::new(), String::new());
        if count > (self.data.len() as u64).saturating_sub(strings) / STRING {
            return Err(self.error(at, format!("its {count} strings are not all there")));
        }
        for i in 0..count {
            let value = || self.text(self.number::<8>(strings + i * STRING + 8)?);
            match self.text(self.number::<8>(strings + i * STRING)?)?.as_str() {
                "triple" => triple = value()?,
                "arch" => arch = value()?,
                _ => {}
            }
        }
        // Bundles' names have all four parts of a triple.
        let missing = 3usize.saturating_sub(triple.matches('-').count());
        let name = format!("{triple}{}-{arch}", "-".repeat(missing));
        let contents = self.bytes(offset, size)?;
        let id = format!("{}-{name}", program_name(program));
        if !matches!(image, IMAGE_NONE | IMAGE_OBJECT) {
            return Ok(Err(format!("{id} is {}", kind_name(image))));
        }
        let target = TargetId::parse(&name).ok().map(|t| t.0);
        Ok(Ok(Image { id, target, number, data: contents }))
    }
}

/// Reads the containers that follow each other in `data`, which starts at byte `base` of the file. `number` is that of the
/// first among the file's.
pub(crate) fn read(data: &[u8], base: u64, number: usize) -> Result<Vec<Image<'_>>, Error> {
    let mut all = Vec::new();
    let mut others = Vec::new();
    let (mut at, mut number) = (0, number);
    while let Some(skip) = data[at..].iter().position(|b| *b != 0) {
        at += skip;
        let container = Container { data: &data[at..], base: base + at as u64 };
        if !container.data.starts_with(MAGIC) {
            return Err(container.error(0, "there is something else between the containers"));
        }
        let (version, size) = (container.number::<4>(4)?, container.number::<8>(8)?);
        if version != 1 {
            return Err(container.error(4, format!("version {version} is not known; version 1 is")));
        }
        if size < HEADER as u64 {
            return Err(container.error(8, format!("its size of {size} bytes is less than its header's")));
        }
        let container = Container { data: container.bytes(0, size)?, ..container };
        match container.entry(container.number::<8>(16)?, number)? {
            Ok(object) if !object.data.is_empty() => all.push(object),
            Ok(_) => {}
            Err(other) => others.push(other),
        }
        at += size as usize;
        number += 1;
    }
    if all.is_empty() && !others.is_empty() {
        let message = format!("there is no code object in it: {}; linking makes them", others.join(", "));
        return Err(Error::new("offload binary", Some(base), message));
    }
    Ok(all)
}
