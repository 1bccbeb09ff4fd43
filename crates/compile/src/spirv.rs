//! SPIR-V modules of OpenCL, made to bitcode for a GPU.
//!
//! llvm-spirv, where it is there, makes LLVM's IR of a module; it is written for SPIR's address spaces and conventions, and
//! [`dialect`] rewrites it for AMD's. That takes a text whose pointers have types, which LLVM has up to version 16.

mod dialect;

use crate::clang::{self, Compiled, Failure, Job, Language, Output};
use crate::directory::Directory;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a module begins with; its words have either order of bytes.
const MAGIC: u32 = 0x0723_0203;

/// The translators whose IR has types on its pointers.
const TOOLS: [&str; 3] = ["llvm-spirv-15", "llvm-spirv-16", "llvm-spirv-14"];

/// A constant of a module that can be given another value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Constant {
    /// Its number.
    pub id: u32,
    /// Its bytes.
    pub size: u32,
}

/// Whether some bytes may be a module.
pub fn is_module(il: &[u8]) -> bool {
    let first = il.first_chunk::<4>().map(|w| u32::from_le_bytes(*w));
    il.len() >= 20
        && il.len().is_multiple_of(4)
        && matches!(first, Some(w) if w == MAGIC || w == MAGIC.swap_bytes())
}

/// Whether there is what modules take: the translator and a clang that understands it.
pub fn available() -> bool {
    tool().is_some() && clang::available(Language::SpirV)
}

fn tool() -> Option<PathBuf> {
    TOOLS.iter().find_map(|name| clang::on_path(Path::new(name)))
}

/// Runs the translator on a module.
fn translate(il: &[u8], directory: &Directory, words: &[&OsStr]) -> Result<String, Failure> {
    let tool = tool().ok_or_else(|| {
        let reason = "SPIR-V takes llvm-spirv, and there is none here; on Debian or Ubuntu \
                      `apt install llvm-spirv-15 clang-15 rocm-device-libs`";
        Failure { messages: String::new(), reason: reason.into() }
    })?;
    let failed =
        |e: std::io::Error| Failure { messages: String::new(), reason: format!("{}: {e}", tool.display()) };
    let from = directory.path().join("module.spv");
    std::fs::write(&from, il).map_err(failed)?;
    let mut command = Command::new(&tool);
    let done = command.arg(&from).args(words).stdin(Stdio::null()).output().map_err(failed)?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&*from.to_string_lossy(), "the module");
    match done.status.success() {
        true => Ok(said(&done.stdout)),
        // It shows its stack where it has crashed; the first line says why.
        false => Err(Failure {
            messages: said(&done.stderr).lines().take(5).map(|l| format!("{l}\n")).collect(),
            reason: format!("the module: {} could not translate it", tool.display()),
        }),
    }
}

fn directory() -> Result<Directory, Failure> {
    Directory::new()
        .map_err(|e| Failure { messages: String::new(), reason: format!("no temporary directory: {e}") })
}

/// The constants of a module that can be given other values.
pub fn constants(il: &[u8]) -> Result<Vec<Constant>, Failure> {
    let text = translate(il, &directory()?, &["--spec-const-info".as_ref()])?;
    Ok(text.lines().filter_map(constant).collect())
}

/// `Spec const id = 7, size in bytes = 4`, and perhaps more.
fn constant(line: &str) -> Option<Constant> {
    let number = |key: &str| {
        let rest = line.split_once(key)?.1.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    };
    Some(Constant { id: number("id =")?, size: number("bytes =")? })
}

/// Makes bitcode of a module for a GPU, to be joined with the device library. `generic` says that one pointer can lead to every memory
/// there, `values` has the bits of constants.
pub fn module(il: &[u8], gpu: &str, generic: bool, values: &[(Constant, u64)]) -> Result<Compiled, Failure> {
    let directory = directory()?;
    let bitcode = directory.path().join("module.bc");
    let version = if generic { "CL2.0" } else { "CL1.2" };
    let given: Vec<String> =
        values.iter().map(|(c, bits)| format!("{}:i{}:{bits}", c.id, 8 * c.size)).collect();
    let mut words = vec!["-r".to_owned(), format!("--spirv-target-env={version}")];
    if !given.is_empty() {
        words.push(format!("--spec-const={}", given.join(" ")));
    }
    let mut words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
    words.extend(["-o".as_ref(), bitcode.as_os_str()]);
    translate(il, &directory, &words)?;
    let text = dialect::rewritten(&clang::text_of(&bitcode)?);
    let job = Job {
        name: "-",
        source: text.as_bytes(),
        language: Language::SpirV,
        gpu,
        options: &[],
        output: Output::Bitcode,
        modules: &[],
        colour: false,
    };
    clang::compile(&job)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_known_by_their_first_word() {
        let module = |word: u32| [word, 0x0001_0000, 0, 1, 0].map(u32::to_le_bytes).concat();
        assert!(is_module(&module(MAGIC)) && is_module(&module(MAGIC.swap_bytes())));
        assert!(!is_module(&module(0x1234_5678)));
        assert!(!is_module(&module(MAGIC)[..16]), "the header is cut off");
        assert!(!is_module(&[module(MAGIC), vec![0]].concat()), "words have four bytes");
    }

    #[test]
    fn constants_are_read() {
        let said = "Spec const id = 101, size in bytes = 4, type = i32";
        assert_eq!(constant(said), Some(Constant { id: 101, size: 4 }));
        assert_eq!(constant("Number of scalar specialization constants in the module = 1"), None);
    }
}
