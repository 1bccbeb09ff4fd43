//! Containers of code objects: clang's offload bundles, one after the other, compressed or not, on their own or in
//! the `.hip_fatbin` section of a host program (Clang documentation, "Clang Offload Bundler"), LLVM's offload binaries, on
//! their own or in `.llvm.offloading` sections, and archives of all these.

use crate::elf::EM_AMDGPU;
use crate::read::Error;
use crate::target_id::TargetId;
use crate::unpack::{Method, unpack};
use crate::{archive, catalyst, offload};
use object::LittleEndian as LE;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, SectionHeader as _};
use std::borrow::Cow;

const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
const COMPRESSED: &[u8] = b"CCOB";
/// The section in which HIP's programs have them.
const HIP_SECTION: &[u8] = b".hip_fatbin";
/// Bytes that all the compressed bundles of a file may unpack to, or so many times the file's size if that is more. Code
/// shrinks to a twentieth at best.
const MAX_UNPACKED: u64 = 1 << 30;
const USUAL_RATIO: u64 = 64;

/// A code object found in a file.
#[derive(Clone, Debug)]
pub struct CodeObject<'a> {
    /// The bundle's name for it, `hipv4-amdgcn-amd-amdhsa--gfx90a`; empty for a file that is a code object itself.
    pub id: String,
    /// What it was compiled for, when the id says so.
    pub target: Option<TargetId>,
    /// The member of an archive that it is in.
    pub member: Option<String>,
    /// Which of the file's bundles it is in, from 0.
    pub bundle: usize,
    /// Its bytes.
    pub data: Cow<'a, [u8]>,
}

/// Finds the code objects in a file: a code object, a bundle, a host program with bundles in it, or an archive of these.
/// Entries for the host, and empty ones, are left out.
pub fn code_objects(file: &[u8]) -> Result<Vec<CodeObject<'_>>, Error> {
    if !file.starts_with(archive::MAGIC) {
        return single(file)?;
    }
    let broken = |at: usize| Error::new("archive", Some(at as u64), "its member there is broken");
    let mut all = Vec::new();
    for member in archive::members(file).map_err(broken)? {
        let in_member =
            |e: Error| Error { part: format!("{} in the archive's {}", e.part, member.name), ..e };
        // Members that are for the host alone are of no concern.
        let Ok(found) = single(member.data).map_err(in_member)? else { continue };
        all.extend(found.into_iter().map(|c| CodeObject { member: Some(member.name.clone()), ..c }));
    }
    Ok(all)
}

/// What is there, or why there is nothing; the outer error is about what is broken.
type Maybe<T> = Result<Result<T, Error>, Error>;

/// The code objects of a file that is no archive.
fn single(file: &[u8]) -> Maybe<Vec<CodeObject<'_>>> {
    if file.starts_with(b"\x7fELF") {
        let machine = file.get(18..20).map(|b| u16::from_le_bytes([b[0], b[1]]));
        if machine == Some(EM_AMDGPU) || catalyst::is_container(file) {
            let data = Cow::Borrowed(file);
            let object = CodeObject { id: String::new(), target: None, member: None, bundle: 0, data };
            return Ok(Ok(vec![object]));
        }
        if let Some(reason) = machine.and_then(catalyst::refusal) {
            return Ok(Err(Error::new("ELF header", Some(0), reason)));
        }
        return host_program(file);
    }
    if file.starts_with(offload::MAGIC) {
        return Ok(Ok(offloaded(file, 0, 0)?));
    }
    if file.starts_with(MAGIC) || file.starts_with(COMPRESSED) {
        return bundles(file, 0).map(Ok);
    }
    let message = "this is no code object, no offload bundle, no host program and no archive";
    Ok(Err(Error::new("file", Some(0), message)))
}

/// What the `.hip_fatbin` and `.llvm.offloading` sections of a host program or object hold.
fn host_program(file: &[u8]) -> Maybe<Vec<CodeObject<'_>>> {
    let broken = |e: object::Error| Error::new("ELF header", Some(0), e.to_string());
    let header = FileHeader64::<LE>::parse(file).map_err(broken)?;
    let sections = header.sections(LE, file).map_err(broken)?;
    let (mut all, mut found) = (Vec::new(), false);
    for section in sections.iter() {
        let Ok(name) = sections.section_name(LE, section) else { continue };
        if name != HIP_SECTION && name != offload::SECTION {
            continue;
        }
        found = true;
        let offset = section.sh_offset.get(LE);
        let unreadable =
            |e: object::Error| Error::new(String::from_utf8_lossy(name), Some(offset), e.to_string());
        let data = section.data(LE, file).map_err(unreadable)?;
        let number = all.last().map_or(0, |c: &CodeObject<'_>| c.bundle + 1);
        all.extend(match name == HIP_SECTION {
            true => bundles(data, offset)?,
            false => offloaded(data, offset, number)?,
        });
    }
    if found {
        return Ok(Ok(all));
    }
    let machine = match header.e_machine(LE).0 {
        62 => "x86-64".into(),
        183 => "AArch64".into(),
        other => format!("machine {other}"),
    };
    let message = format!(
        "it is for {machine}, not for AMD GPUs (machine {EM_AMDGPU}), and has no .hip_fatbin and no .llvm.offloading section"
    );
    Ok(Err(Error::new("ELF header", Some(18), message)))
}

/// The code objects of LLVM's offload binaries.
fn offloaded(data: &[u8], base: u64, number: usize) -> Result<Vec<CodeObject<'_>>, Error> {
    let images = offload::read(data, base, number)?;
    let mut all = Vec::with_capacity(images.len());
    for offload::Image { id, target, number, data } in images {
        all.push(CodeObject { id, target, member: None, bundle: number, data: Cow::Borrowed(data) });
    }
    Ok(all)
}

/// Reads bundles that follow each other in `data`, which starts at byte `base` of the file.
fn bundles(data: &[u8], base: u64) -> Result<Vec<CodeObject<'_>>, Error> {
    let mut all = Vec::new();
    let mut at = 0;
    let mut number = 0;
    let mut room = MAX_UNPACKED.max(data.len() as u64 * USUAL_RATIO);
    // Every translation unit's bundle starts at a page.
    while let Some(skip) = data[at..].iter().position(|b| *b != 0) {
        at += skip;
        let rest = &data[at..];
        let place = base + at as u64;
        if rest.starts_with(COMPRESSED) {
            let (plain, used) = decompress(rest, place, room)?;
            room -= plain.len() as u64;
            let mut found = Vec::new();
            read(&plain, 0, number, &mut found)?;
            let own = |c: CodeObject<'_>| CodeObject { data: Cow::Owned(c.data.into_owned()), ..c };
            all.extend(found.into_iter().map(own));
            at += used;
        } else if rest.starts_with(MAGIC) {
            at += read(rest, place, number, &mut all)?;
        } else {
            return Err(Error::new(
                "offload bundle",
                Some(place),
                "there is something else between the bundles",
            ));
        }
        number += 1;
    }
    Ok(all)
}

fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(data.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(data.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// Reads the bundle at the start of `data`; returns the number of bytes it takes.
fn read<'a>(data: &'a [u8], base: u64, bundle: usize, all: &mut Vec<CodeObject<'a>>) -> Result<usize, Error> {
    let cut =
        |at: usize| Error::new("offload bundle", Some(base + at as u64), "the bundle's table is cut off");
    if !data.starts_with(MAGIC) {
        return Err(Error::new("offload bundle", Some(base), "it does not start as a bundle does"));
    }
    let mut at = MAGIC.len();
    let count = u64_at(data, at).ok_or_else(|| cut(at))?;
    at += 8;
    let mut end = at;
    // Entries lie one behind the other: those that share bytes would make much of little.
    let mut taken = 0u64;
    for _ in 0..count {
        let entry = at;
        let words = [u64_at(data, at), u64_at(data, at + 8), u64_at(data, at + 16)];
        let [Some(offset), Some(size), Some(id_size)] = words else { return Err(cut(entry)) };
        at += 24;
        let slice = |start: u64, length: u64| {
            let start = usize::try_from(start).ok()?;
            data.get(start..start.checked_add(usize::try_from(length).ok()?)?)
        };
        let id = slice(at as u64, id_size).ok_or_else(|| cut(entry))?;
        let id = String::from_utf8_lossy(id).into_owned();
        at += id_size as usize;
        let contents = slice(offset, size).ok_or_else(|| {
            let message = format!("the {size} bytes of {id} from {offset:#x} on are not all in the bundle");
            Error::new("offload bundle", Some(base + entry as u64), message)
        })?;
        end = end.max(at).max(offset as usize + size as usize);
        taken += size;
        if taken > data.len() as u64 {
            let message = format!("{id} shares bytes with other entries");
            return Err(Error::new("offload bundle", Some(base + entry as u64), message));
        }
        let (kind, target) = id.split_once('-').unwrap_or((&id, ""));
        if kind == "host" || contents.is_empty() {
            continue;
        }
        let target = TargetId::parse(target).ok().map(|t| t.0);
        all.push(CodeObject { target, id, member: None, bundle, data: Cow::Borrowed(contents) });
    }
    Ok(end)
}

/// Unpacks the compressed bundle at the start of `data` to at most `room` bytes; returns it with the number of bytes it took.
fn decompress(data: &[u8], base: u64, room: u64) -> Result<(Vec<u8>, usize), Error> {
    let error = |message: String| Error::new("compressed offload bundle", Some(base), message);
    let short = || error("its header is cut off".into());
    let half = |at: usize| Some(u16::from_le_bytes(data.get(at..at + 2)?.try_into().ok()?));
    let (version, method) = half(4).zip(half(6)).ok_or_else(short)?;
    // Version 1 does not say how long the whole is.
    let (header, total, size) = match version {
        1 => (20, Some(data.len() as u64), u32_at(data, 8).map(u64::from)),
        2 => (24, u32_at(data, 8).map(u64::from), u32_at(data, 12).map(u64::from)),
        3 => (32, u64_at(data, 8), u64_at(data, 16)),
        _ => return Err(error(format!("version {version} is not known; versions 1 to 3 are"))),
    };
    let (total, size) = total.zip(size).ok_or_else(short)?;
    let packed = usize::try_from(total).ok().and_then(|t| data.get(header..t));
    let packed = packed.ok_or_else(|| error(format!("its {total} bytes are not all there")))?;
    let method = match method {
        0 => Method::Zlib,
        1 => Method::Zstd,
        _ => return Err(error(format!("compression method {method} is not known; zlib is 0, zstd is 1"))),
    };
    Ok((unpack(method, packed, size, room).map_err(error)?, total as usize))
}
