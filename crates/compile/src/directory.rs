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

    /// A new one, that only the user can look into.
    pub fn new() -> std::io::Result<Directory> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = |n: u32| format!("wavemill-{}-{n}", std::process::id());
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
