//! Directories for a while.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that is removed with all that is in it.
pub struct Directory(PathBuf);

impl Directory {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A new one, that only the user can look into. Those that killed processes have left are removed.
    pub fn new() -> std::io::Result<Directory> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = |n: u32| format!("wavemill-{}-{n}", std::process::id());
        sweep(&std::env::temp_dir());
        let mut last = None;
        for _ in 0..100 {
            let path = std::env::temp_dir().join(name(NEXT.fetch_add(1, Ordering::Relaxed)));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Directory(path)),
                Err(e) => last = Some(e),
            }
        }
        Err(last.unwrap_or_else(|| std::io::ErrorKind::AlreadyExists.into()))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Nobody can be told.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Removes the directories of processes that are no more.
fn sweep(place: &Path) {
    let gone = |name: &str| {
        let pid = name.strip_prefix("wavemill-")?.split_once('-')?.0;
        let pid: u32 = pid.parse().ok()?;
        (!Path::new("/proc").join(pid.to_string()).exists()).then_some(())
    };
    let Ok(entries) = std::fs::read_dir(place) else { return };
    if !Path::new("/proc/self").exists() {
        return;
    }
    for entry in entries.flatten() {
        // What is another user's cannot be removed, and is not ours to remove.
        if entry.file_name().to_str().and_then(gone).is_some() && entry.file_type().is_ok_and(|t| t.is_dir())
        {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
