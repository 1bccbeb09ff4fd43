//! Note records.

use super::Error;
use crate::elf;
use crate::metadata::{self, Value, from_yaml, msgpack};
use crate::strtab::text;

/// A note record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    /// Who defined its type: `AMD` or `AMDGPU`.
    pub owner: &'a str,
    /// Its type, as its owner numbers them.
    pub kind: u32,
    /// Its contents.
    pub contents: &'a [u8],
    /// The section it is in.
    pub part: &'a str,
    /// Where in the file its contents are.
    pub offset: u64,
}

/// Reads the notes in `data`, which starts at byte `base` of the file, and adds them to `all`.
pub fn notes_in<'a>(data: &'a [u8], base: u64, part: &'a str, all: &mut Vec<Note<'a>>) -> Result<(), Error> {
    let mut at = 0usize;
    while at < data.len() {
        let record = &data[at..];
        let place = Some(base + at as u64);
        let word =
            |i: usize| record.get(i..i + 4).map(|b| u32::from_le_bytes(b.try_into().unwrap_or_default()));
        let (Some(name_size), Some(size), Some(kind)) = (word(0), word(4), word(8)) else {
            // Padding at the end of a section is no record.
            if record.iter().all(|b| *b == 0) {
                break;
            }
            return Err(Error::new(part, place, format!("{} bytes are too few for a note", record.len())));
        };
        let contents_at = 12 + (name_size as usize).next_multiple_of(4);
        let owner = record.get(12..).and_then(|r| r.get(..name_size as usize));
        let contents = record.get(contents_at..).and_then(|r| r.get(..size as usize));
        let (Some(owner), Some(contents)) = (owner, contents) else {
            let message =
                format!("a note of {name_size} and {size} bytes does not fit into {}", record.len());
            return Err(Error::new(part, place, message));
        };
        let owner = owner.split(|b| *b == 0).next().unwrap_or(b"");
        all.push(Note { owner: text(owner), kind, contents, part, offset: base + (at + contents_at) as u64 });
        at += contents_at + (size as usize).next_multiple_of(4);
    }
    Ok(())
}

impl<'a> Note<'a> {
    /// True for a note of this owner and type.
    pub fn is(&self, owner: &str, kind: u32) -> bool {
        self.owner == owner && self.kind == kind
    }

    /// A name for its type.
    pub fn kind_name(&self) -> Option<&'static str> {
        Some(match (self.owner, self.kind) {
            ("AMD", elf::NT_AMD_HSA_CODE_OBJECT_VERSION) => "NT_AMD_HSA_CODE_OBJECT_VERSION",
            ("AMD", elf::NT_AMD_HSA_HSAIL) => "NT_AMD_HSA_HSAIL",
            ("AMD", elf::NT_AMD_HSA_ISA_VERSION) => "NT_AMD_HSA_ISA_VERSION",
            ("AMD", elf::NT_AMD_HSA_PRODUCER) => "NT_AMD_HSA_PRODUCER",
            ("AMD", elf::NT_AMD_HSA_PRODUCER_OPTIONS) => "NT_AMD_HSA_PRODUCER_OPTIONS",
            ("AMD", elf::NT_AMD_HSA_EXTENSION) => "NT_AMD_HSA_EXTENSION",
            ("AMD", elf::NT_AMD_HSA_METADATA) => "NT_AMD_HSA_METADATA",
            ("AMD", elf::NT_AMD_HSA_ISA_NAME) => "NT_AMD_HSA_ISA_NAME",
            ("AMD", elf::NT_AMD_PAL_METADATA) => "NT_AMD_PAL_METADATA",
            ("AMDGPU", elf::NT_AMDGPU_METADATA) => "NT_AMDGPU_METADATA",
            _ => return None,
        })
    }

    /// What a note that is no document says, in words: those of code object versions 1 and 2 (ROCm's code object format, "Note
    /// records"), and PAL's pairs of register and value. None when it is none of them, or too short.
    pub fn decoded(&self) -> Option<String> {
        if self.owner != elf::NOTE_NAME_V2 {
            return None;
        }
        let c = self.contents;
        let word = |at: usize| Some(u32::from_le_bytes(c.get(at..at + 4)?.try_into().ok()?));
        let half = |at: usize| Some(usize::from(u16::from_le_bytes(c.get(at..at + 2)?.try_into().ok()?)));
        let string = |at: usize, size: usize| {
            let bytes = c.get(at..at.checked_add(size)?)?;
            Some(text(bytes).trim_end_matches('\0').to_owned())
        };
        match self.kind {
            elf::NT_AMD_HSA_CODE_OBJECT_VERSION => {
                Some(format!("code object version {}.{}", word(0)?, word(4)?))
            }
            elf::NT_AMD_HSA_HSAIL => {
                let profile = if *c.get(8)? == 0 { "base" } else { "full" };
                let model = if *c.get(9)? == 0 { "small" } else { "large" };
                let round =
                    ["default", "zero", "near"].get(usize::from(*c.get(10)?)).copied().unwrap_or("unknown");
                Some(format!(
                    "HSAIL {}.{}, {profile} profile, {model} machine model, rounding {round}",
                    word(0)?,
                    word(4)?
                ))
            }
            elf::NT_AMD_HSA_ISA_VERSION => {
                let (vendor, arch) = (half(0)?, half(2)?);
                let names = (string(16, vendor)?, string(16 + vendor, arch)?);
                Some(format!("{}:{}:{}:{}:{}", names.0, names.1, word(4)?, word(8)?, word(12)?))
            }
            elf::NT_AMD_HSA_PRODUCER => Some(format!("{} {}.{}", string(12, half(0)?)?, word(4)?, word(8)?)),
            elf::NT_AMD_HSA_PRODUCER_OPTIONS => string(2, half(0)?),
            elf::NT_AMD_HSA_ISA_NAME => string(0, c.len()),
            elf::NT_AMD_PAL_METADATA => {
                let pairs = (0..c.len() / 8).map(|i| Some((word(8 * i)?, word(8 * i + 4)?)));
                let line = |(register, value): (u32, u32)| match metadata::pal::register_name(register) {
                    Some(name) => format!("{register:#x} ({name}) = {value:#x}"),
                    None => format!("{register:#x} = {value:#x}"),
                };
                pairs.map(|p| p.map(line)).collect::<Option<Vec<_>>>().map(|all| all.join("\n"))
            }
            _ => None,
        }
    }

    fn error(&self, error: metadata::Error) -> Error {
        match error.place {
            metadata::Location::Offset(at) => {
                Error::new(self.part, Some(self.offset + at as u64), error.message)
            }
            _ => Error::new(self.part, Some(self.offset), error.to_string()),
        }
    }

    /// Its YAML text, when it is version 2's metadata.
    fn yaml(&self) -> Result<Option<&'a str>, Error> {
        if !self.is(elf::NOTE_NAME_V2, elf::NT_AMD_HSA_METADATA) {
            return Ok(None);
        }
        let text = std::str::from_utf8(self.contents).map_err(|e| {
            let at = self.offset + e.valid_up_to() as u64;
            Error::new(self.part, Some(at), "metadata is not UTF-8 here")
        })?;
        Ok(Some(text.trim_end_matches('\0')))
    }

    /// The document it holds, when it is metadata.
    pub fn document(&self) -> Result<Option<Value<'a>>, Error> {
        if let Some(text) = self.yaml()? {
            return from_yaml(text).map(Some).map_err(|e| self.error(e));
        }
        if !self.is(elf::NOTE_NAME_V3, elf::NT_AMDGPU_METADATA) {
            return Ok(None);
        }
        let (document, _) = msgpack::read(self.contents).map_err(|e| self.error(e))?;
        Ok(Some(document))
    }

    /// Adds what it says about kernels to `all`.
    pub(super) fn kernels(&self, all: &mut Vec<metadata::kernel::Kernel<'a>>) -> Result<(), Error> {
        if let Some(text) = self.yaml()? {
            let document = from_yaml(text).map_err(|e| self.error(e))?;
            all.extend(metadata::kernel::from_v2(&document));
        } else if self.is(elf::NOTE_NAME_V3, elf::NT_AMDGPU_METADATA) {
            metadata::kernel::from_msgpack(self.contents, all).map_err(|e| self.error(e))?;
        }
        Ok(())
    }
}
