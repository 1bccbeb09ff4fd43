//! The runtime libraries that the command carries, so that a copied binary is all that `exec` needs.
//!
//! When `exec` needs them, they are put into the user's cache, under a name made of their content; a copy that is there already
//! is compared byte for byte before it is used.

use std::path::{Path, PathBuf};
use wavemill_compile::cache;
use wavemill_compile::directory::Directory;

/// `libhsa-runtime64.so.1`, as cargo has built it for this command.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
static LIBRARY: &[u8] = include_bytes!(env!("WAVEMILL_RUNTIME"));

/// There is no HIP on other systems, and static C libraries load nothing.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
static LIBRARY: &[u8] = &[];

/// `libwavemill-opencl.so`, likewise.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
static OPENCL: &[u8] = include_bytes!(env!("WAVEMILL_OPENCL"));

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
static OPENCL: &[u8] = &[];

/// What programs look for.
pub const NAME: &str = "libhsa-runtime64.so.1";

/// What the loader of OpenCL's runtimes is told to load.
pub const OPENCL_NAME: &str = "libwavemill-opencl.so";

/// What linkers look for.
const LINKER_NAME: &str = "libhsa-runtime64.so";

/// A directory with the library in it.
pub enum Runtime {
    /// For good.
    Kept(PathBuf),
    /// For this run.
    Temporary(Directory),
}

impl Runtime {
    /// Where it is.
    pub fn path(&self) -> &Path {
        match self {
            Runtime::Kept(path) => path,
            Runtime::Temporary(directory) => directory.path(),
        }
    }

    /// The library of the package, if this command came with one; else a copy in the cache; else one for this run.
    pub fn find() -> Result<Runtime, String> {
        if LIBRARY.is_empty() {
            return Err(
                "this build carries no runtime library; build it for Linux with the GNU C library".into()
            );
        }
        let installed = std::env::current_exe().ok().and_then(|p| Some(p.parent()?.join("../lib/wavemill")));
        if let Some(path) = installed.and_then(|p| p.canonicalize().ok()).filter(|p| state(p) == State::Same)
        {
            return Ok(Runtime::Kept(path));
        }
        if let Some(path) = cache::directory("runtime").map(|p| p.join(cache::name_of(&[LIBRARY, OPENCL]))) {
            let state = state(&path);
            if state == State::Different {
                crate::output::message(format_args!(
                    "wavemill exec: {}: it was damaged, and is made anew",
                    path.join(NAME).display()
                ));
            }
            if state == State::Same || put(&path).is_ok() {
                return Ok(Runtime::Kept(path));
            }
        }
        let directory = Directory::new().map_err(|e| format!("no temporary directory: {e}"))?;
        put(directory.path()).map_err(|e| format!("{}: {e}", directory.path().display()))?;
        Ok(Runtime::Temporary(directory))
    }
}

#[derive(PartialEq, Eq)]
enum State {
    Missing,
    Different,
    Same,
}

/// What is at the libraries' places in a directory.
fn state(directory: &Path) -> State {
    let one = |name: &str, library: &[u8]| match std::fs::read(directory.join(name)) {
        Ok(bytes) if bytes == library => State::Same,
        Ok(_) => State::Different,
        Err(_) => State::Missing,
    };
    match [one(NAME, LIBRARY), one(OPENCL_NAME, OPENCL)] {
        [State::Same, State::Same] => State::Same,
        states if states.contains(&State::Different) => State::Different,
        _ => State::Missing,
    }
}

/// Writes the libraries into a directory, HSA's under both of its names.
fn put(directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    cache::replace(&directory.join(NAME), LIBRARY)?;
    cache::replace(&directory.join(OPENCL_NAME), OPENCL)?;
    let link = directory.join(LINKER_NAME);
    match std::os::unix::fs::symlink(NAME, link) {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => Err(e),
        _ => Ok(()),
    }
}
