//! The runtime libraries that the command carries, so that a copied binary is all that `exec` needs.
//!
//! When `exec` needs them, they are put into the user's cache, under a name made of their content; a copy that is there already
//! is compared byte for byte before it is used. That this was done is noted: as long as neither the command nor the copy has
//! changed since, by what the file system says of them, and nobody else can write to it, it is not done again.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use wavemill_compile::cache;
use wavemill_compile::comgr;
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

/// `libamd_comgr.so.2`, likewise.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
static COMGR: &[u8] = include_bytes!(env!("WAVEMILL_COMGR_LIBRARY"));

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
static COMGR: &[u8] = &[];

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

    /// Where the library is that stands before AMD's compiler: a directory of its own, since it is of no use where that is not.
    pub fn comgr(&self) -> PathBuf {
        self.path().join(comgr::DIRECTORY)
    }

    /// The library of the package, if this command came with one; else a copy in the cache; else one for this run.
    pub fn find() -> Result<Runtime, String> {
        if LIBRARY.is_empty() {
            return Err(
                "this build carries no runtime library; build it for Linux with the GNU C library".into()
            );
        }
        let installed = std::env::current_exe().ok().and_then(|p| Some(p.parent()?.join("../lib/wavemill")));
        let installed = installed.and_then(|p| p.canonicalize().ok());
        let cache = cache::directory("runtime");
        let note = cache.as_deref().and_then(Note::of);
        if let Some(path) = note.as_ref().and_then(Note::read)
            && installed.as_ref().is_none_or(|p| *p == path)
        {
            return Ok(Runtime::Kept(path));
        }
        if let Some(path) = installed.filter(|p| state(p) == State::Same) {
            note.inspect(|n| n.write(&path));
            return Ok(Runtime::Kept(path));
        }
        if let Some(path) = cache.map(|p| p.join(cache::name_of(&[LIBRARY, OPENCL, COMGR]))) {
            let state = state(&path);
            if state == State::Different {
                crate::output::message(format_args!(
                    "wavemill exec: {}: it was damaged, and is made anew",
                    path.join(NAME).display()
                ));
            }
            if state == State::Same {
                note.inspect(|n| n.write(&path));
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

/// The libraries with their places in a directory.
fn libraries() -> [(PathBuf, &'static [u8]); 3] {
    let comgr = Path::new(comgr::DIRECTORY).join(comgr::NAME);
    [(NAME.into(), LIBRARY), (OPENCL_NAME.into(), OPENCL), (comgr, COMGR)]
}

#[derive(PartialEq, Eq)]
enum State {
    Missing,
    Different,
    Same,
}

/// What is at the libraries' places in a directory.
fn state(directory: &Path) -> State {
    let one = |(name, library): (PathBuf, &[u8])| match std::fs::read(directory.join(name)) {
        Ok(bytes) if bytes == library => State::Same,
        Ok(_) => State::Different,
        Err(_) => State::Missing,
    };
    match libraries().map(one) {
        [State::Same, State::Same, State::Same] => State::Same,
        states if states.contains(&State::Different) => State::Different,
        _ => State::Missing,
    }
}

/// Writes the libraries into a directory, HSA's under both of its names.
fn put(directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory.join(comgr::DIRECTORY))?;
    for (name, library) in libraries() {
        cache::replace(&directory.join(name), library)?;
    }
    let link = directory.join(LINKER_NAME);
    match std::os::unix::fs::symlink(NAME, link) {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => Err(e),
        _ => Ok(()),
    }
}

/// A note that a directory's libraries are those of this command.
struct Note {
    /// Where it is.
    path: PathBuf,
    /// What the file system says of the command.
    command: String,
}

impl Note {
    /// The note of this command.
    fn of(cache: &Path) -> Option<Note> {
        let name = cache::name_of(&[std::env::current_exe().ok()?.as_os_str().as_encoded_bytes()]);
        // What runs, whatever lies at its place by now.
        let command = facts(&std::fs::metadata("/proc/self/exe").ok()?);
        Some(Note { path: cache.join(format!("{name}.same")), command })
    }

    /// What it says if a directory has the libraries.
    fn text(&self, directory: &Path) -> Option<String> {
        let mut text = format!("{}\n{}\n", directory.to_str()?, self.command);
        let files = libraries().map(|(name, _)| directory.join(name));
        for path in
            [directory, &directory.join(comgr::DIRECTORY)].into_iter().chain(files.iter().map(|f| &**f))
        {
            let found = path.metadata().ok()?;
            let user = rustix::process::geteuid().as_raw();
            if found.mode() & 0o022 != 0 || ![user, 0].contains(&found.uid()) {
                return None;
            }
            if found.is_file() {
                text += &format!("{}\n", facts(&found));
            }
        }
        Some(text)
    }

    /// The directory that it is about, if nothing has changed since.
    fn read(&self) -> Option<PathBuf> {
        let text = std::fs::read_to_string(&self.path).ok()?;
        let directory = PathBuf::from(text.lines().next()?);
        (directory.is_absolute() && self.text(&directory)? == text).then_some(directory)
    }

    /// Notes that the libraries were compared. What is so new that it could change again at the same time is not noted.
    fn write(&self, directory: &Path) {
        let Some(text) = self.text(directory) else { return };
        let old = |(name, _): (PathBuf, _)| {
            let facts = directory.join(name).metadata().ok()?;
            let changed = Duration::new(facts.ctime().try_into().ok()?, facts.ctime_nsec().try_into().ok()?);
            let since = SystemTime::UNIX_EPOCH.elapsed().ok()?.checked_sub(changed)?;
            (since > Duration::from_secs(2)).then_some(())
        };
        if libraries().into_iter().all(|library| old(library).is_some()) {
            // They are compared again otherwise.
            let _ = cache::replace(&self.path, text.as_bytes());
        }
    }
}

/// What changes when a file does: nobody can set the last of these.
fn facts(of: &std::fs::Metadata) -> String {
    let times = [of.mtime(), of.mtime_nsec(), of.ctime(), of.ctime_nsec()];
    format!("{} {} {} {times:?}", of.dev(), of.ino(), of.size())
}
