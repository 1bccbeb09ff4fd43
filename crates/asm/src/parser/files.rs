//! Files that a source names: where they are looked for, which may be read, and how many.

use super::{Parser, Res};
use crate::source::{Diag, Span};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files that one assembly may read, each as often as it is named. A source that names more is a runaway.
const MAX_FILES: u32 = 50_000;

impl Parser<'_> {
    /// Reads a file of at most `most` bytes from the current directory or the include paths. `what` is the directive's
    /// word for it in messages.
    pub(super) fn read_named(&mut self, what: &str, name: &str, most: usize, at: Span) -> Res<Vec<u8>> {
        let error = |message: String| Diag::error(at, message);
        self.files_read += 1;
        if self.files_read > MAX_FILES {
            return Err(error(format!("more than {MAX_FILES} files are included")));
        }
        let confine = self.options.confine.as_deref();
        read(what, name, &self.options.include_paths, confine, most).map_err(error)
    }
}

/// Reads a file of at most `most` bytes from the current directory or other places; it must lie below `confine`.
pub(crate) fn read(
    what: &str,
    name: &str,
    places: &[PathBuf],
    confine: Option<&Path>,
    most: usize,
) -> Result<Vec<u8>, String> {
    let candidates = std::iter::once(PathBuf::from(name)).chain(places.iter().map(|dir| dir.join(name)));
    // Only regular files: a device or a pipe could go on for ever.
    let mut there = candidates.filter(|path| path.is_file()).peekable();
    let missing = || format!("Could not find {what} file '{name}'");
    if there.peek().is_none() {
        return Err(missing());
    }
    let path = there.find(|path| confine.is_none_or(|directory| lies_below(path, directory)));
    let path =
        path.ok_or_else(|| format!("{what} file '{name}' does not lie below the directory of the source"))?;
    let file = std::fs::File::open(&path).map_err(|_| missing())?;
    let mut data = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut data).map_err(|_| missing())?;
    if data.len() > most {
        return Err(format!("{what} file '{name}' is too large"));
    }
    Ok(data)
}

/// Is the file in the directory or below it, once symbolic links are resolved? False when either is not there.
pub fn lies_below(file: &Path, directory: &Path) -> bool {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    match (file.canonicalize(), directory.canonicalize()) {
        (Ok(file), Ok(directory)) => file.starts_with(directory),
        _ => false,
    }
}
