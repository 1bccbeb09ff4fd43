//! Where results go: files, or standard output.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes a command's result, `-` for standard output.
pub fn save(command: &str, path: &str, bytes: &[u8]) -> ExitCode {
    if path == "-" {
        return crate::print(bytes);
    }
    match std::fs::write(path, bytes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("wavemill {command}: {path}: {e}");
            ExitCode::FAILURE
        }
    }
}

/// Something could not be written to standard output.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Whether something could not be written to standard output.
pub fn failed() -> bool {
    FAILED.load(Ordering::Relaxed)
}

/// What to say of an attempt to write to standard output: nothing if its reader went away, but it has failed.
pub fn written(result: io::Result<()>) -> Result<(), String> {
    let Err(e) = result else { return Ok(()) };
    FAILED.store(true, Ordering::Relaxed);
    if e.kind() == io::ErrorKind::BrokenPipe {
        Err(String::new())
    } else {
        Err(format!("standard output: {e}"))
    }
}

/// Standard output for much text in few, large pieces: without the search for line ends that Rust's own makes.
pub fn raw_stdout() -> Result<impl Write, String> {
    use std::os::fd::AsFd;
    io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from).map_err(|e| e.to_string())
}
