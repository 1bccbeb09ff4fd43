//! Files that commands read: mapped into memory, taken out of bundles and host programs, chosen by target.

use std::fs::File;
use std::io::Read;
use std::ops::Deref;
use std::path::Path;
use wavemill_object::bundle::{CodeObject, code_objects};
use wavemill_object::read;
use wavemill_object::target_id::{Setting, TargetId};

/// A file's bytes.
pub enum Bytes {
    /// In memory only where they are looked at.
    Mapped(memmap2::Mmap),
    /// All of them.
    Read(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Read(bytes) => bytes,
        }
    }
}

/// Opens a file, `-` for standard input.
pub fn open(name: &str) -> Result<Bytes, String> {
    open_within(name, u64::MAX)
}

/// Opens a file of at most so many bytes, `-` for standard input.
pub fn open_within(name: &str, most: u64) -> Result<Bytes, String> {
    let bounded = |from: &mut dyn Read, name: &str| {
        let mut bytes = Vec::new();
        from.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| format!("{name}: {e}"))?;
        within(name, bytes.len() as u64, most).map(|()| Bytes::Read(bytes))
    };
    if name == "-" {
        return bounded(&mut std::io::stdin().lock(), "standard input");
    }
    let in_file = |e: std::io::Error| format!("{name}: {e}");
    let file = File::open(name).map_err(in_file)?;
    let metadata = file.metadata().map_err(in_file)?;
    if metadata.is_dir() {
        return Err(format!("{name}: it is a directory"));
    }
    if !metadata.is_file() || metadata.len() == 0 {
        // Pipes and the like cannot be mapped.
        return bounded(&mut &file, name);
    }
    within(name, metadata.len(), most)?;
    // SAFETY: the map is private, read-only and only handed out as a shared slice that it outlives. What is left is
    // that another process changes or cuts the file while it is read, against which no reader of a mapped file can
    // guard; every parser here takes any bytes, and a cut file ends the program with a signal, not with wrong access.
    let map = unsafe { memmap2::MmapOptions::new().map_copy_read_only(&file) };
    map.map(Bytes::Mapped).map_err(in_file)
}

/// Bytes of text that options name: records and suppressions of the longest runs have less.
const MOST_TEXT: u64 = 1 << 30;

/// The text of a file that an option names.
pub fn text(path: &Path) -> Result<String, String> {
    let name = path.display().to_string();
    let in_file = |e: std::io::Error| format!("{name}: {e}");
    let mut text = String::new();
    File::open(path).map_err(in_file)?.take(MOST_TEXT + 1).read_to_string(&mut text).map_err(in_file)?;
    within(&name, text.len() as u64, MOST_TEXT).map(|()| text)
}

fn within(name: &str, size: u64, most: u64) -> Result<(), String> {
    match size <= most {
        true => Ok(()),
        false => Err(format!("{name}: it is larger than the limit of {most} bytes of memory")),
    }
}

/// The target of a code object: what its header says, else what its bundle calls it.
pub fn target_of(object: &CodeObject<'_>) -> Option<TargetId> {
    let read = read::File::parse(&object.data).ok().and_then(|f| f.target_id().ok().flatten());
    read.or_else(|| object.target.clone())
}

/// The file that a code object is in, `lib.a(k.o)` for a member of an archive.
pub fn name_of(file: &str, object: &CodeObject<'_>) -> String {
    object.member.as_ref().map_or_else(|| file.to_owned(), |member| format!("{file}({member})"))
}

/// A name for a code object in messages and lists.
pub fn label(object: &CodeObject<'_>) -> String {
    match target_of(object) {
        _ if !object.id.is_empty() => object.id.clone(),
        Some(id) => id.to_string(),
        None => "an unknown target".into(),
    }
}

/// Does code for `id` answer to the name? Names are `gfx90a`, `gfx90a:xnack-`, a product (MI210), a target id or a
/// bundle's entry id.
fn answers(object: &CodeObject<'_>, name: &str) -> bool {
    if object.id == name {
        return true;
    }
    let Some(id) = target_of(object) else { return false };
    let full = match crate::gpu::processor(name) {
        _ if name.contains("--") => name.to_owned(),
        Ok(cpu) => format!("amdgcn-amd-amdhsa--{}", cpu.name),
        // One with features, or one that is not ours.
        Err(_) => format!("amdgcn-amd-amdhsa--{name}"),
    };
    let full = full.find("amdgcn").map_or(full.as_str(), |at| &full[at..]).to_owned();
    let Ok((wanted, _)) = TargetId::parse(&full) else { return false };
    let agrees = |wanted: Setting, has: Setting| wanted.request().is_none() || wanted == has;
    wanted.processor == id.processor && agrees(wanted.xnack, id.xnack) && agrees(wanted.sramecc, id.sramecc)
}

/// All code objects of a file.
pub fn objects<'a>(name: &str, file: &'a [u8]) -> Result<Vec<CodeObject<'a>>, String> {
    code_objects(file).map_err(|e| format!("{name}: {e}{}", way_on(file)))
}

/// What to do with a file that has no code objects, if it is a source.
fn way_on(file: &[u8]) -> &'static str {
    let start = &file[..file.len().min(4096)];
    match !start.is_empty() && !start.contains(&0) {
        true => "; if it is a source, `wavemill asm` or a compiler makes a code object of it",
        false => "",
    }
}

/// The code objects of a file that are for the target; without a target, all of them if they are for the same one.
/// An error lists what there is.
pub fn choose<'a>(name: &str, file: &'a [u8], target: Option<&str>) -> Result<Vec<CodeObject<'a>>, String> {
    let all = objects(name, file)?;
    let mut there: Vec<String> = all.iter().map(label).collect();
    there.sort();
    there.dedup();
    if all.is_empty() {
        return Err(format!("{name}: there is no code for a GPU in it"));
    }
    let Some(target) = target else {
        return match there.len() {
            1 => Ok(all),
            n => Err(format!(
                "{name}: it has code for {n} targets; pick one with --target:\n  {}",
                there.join("\n  ")
            )),
        };
    };
    let chosen: Vec<_> = all.into_iter().filter(|o| answers(o, target)).collect();
    if chosen.is_empty() {
        return Err(format!(
            "{name}: nothing in it is for {target}; it has code for\n  {}",
            there.join("\n  ")
        ));
    }
    Ok(chosen)
}
