//! The command under other names: called as `llvm-mc`, `llvm-objdump`, `ld.lld`, `rocminfo`, `rocm_agent_enumerator`,
//! `amdgpu-arch` or `lsmod` (by a link, or a copy), it behaves as that tool does.

mod lld;
mod objdump;
mod rocm;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::ExitCode;

/// Tools that `exec` puts before others on a program's path: those that AMD's compiler drivers and CMake ask for GPUs, and what
/// AMD's `rocminfo` asks whether the driver is loaded.
pub const FOR_PROGRAMS: [&str; 4] = ["rocminfo", "rocm_agent_enumerator", "amdgpu-arch", "lsmod"];

/// What to do under the name that the command was called by; none under its own.
pub enum Called {
    /// Go on with these words, the first of them a name.
    As(Vec<OsString>),
    /// Everything is done.
    Done(ExitCode),
}

/// The path that the system was told to execute, links in it and all.
#[cfg(target_os = "linux")]
fn executed() -> &'static [u8] {
    rustix::param::linux_execfn().to_bytes()
}

/// Other systems do not tell.
#[cfg(not(target_os = "linux"))]
fn executed() -> &'static [u8] {
    b""
}

/// Looks at the name that the command was called by.
pub fn called(words: &[OsString]) -> Called {
    // clang 19 asks amdgpu-arch without so much as a name: the system knows which file it started.
    let executed = OsString::from_vec(executed().to_vec());
    let first = words.first().filter(|w| !w.is_empty()).unwrap_or(&executed);
    let name = Path::new(first).file_name().unwrap_or_default().to_string_lossy();
    // Debian's tools have a version behind their name.
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-');
    let plain = if plain.is_empty() { &name } else { plain };
    let rest = words.get(1..).unwrap_or_default();
    let texts = || rest.iter().map(|w| w.to_string_lossy().into_owned()).collect::<Vec<_>>();
    match plain {
        "llvm-mc" => Called::Done(crate::mc::run(&texts())),
        "llvm-objdump" => Called::Done(objdump::run(&texts())),
        "ld.lld" => Called::Done(lld::run(rest)),
        // `lld -flavor gnu` is ld.lld.
        "lld" => {
            let flavor = rest.first().is_some_and(|w| w == "-flavor");
            Called::Done(lld::run(rest.get(if flavor { 2 } else { 0 }..).unwrap_or_default()))
        }
        "rocminfo" => Called::Done(rocm::rocminfo(&texts())),
        "rocm_agent_enumerator" => Called::Done(rocm::enumerator(&texts())),
        "amdgpu-arch" => Called::Done(rocm::arch(&texts())),
        "lsmod" => Called::Done(rocm::lsmod(&texts())),
        _ => Called::As(words.to_vec()),
    }
}
