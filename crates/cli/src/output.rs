//! Where results go: files, or standard output.

use std::io::{self, Write};
use std::process::ExitCode;

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

/// What to say of an attempt to write to standard output: a reader that went away is not an error.
pub fn written(result: io::Result<()>) -> Result<(), String> {
    match result {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(format!("standard output: {e}")),
        _ => Ok(()),
    }
}

/// Standard output for much text in few, large pieces: without the search for line ends that Rust's own makes.
pub fn raw_stdout() -> Result<impl Write, String> {
    use std::os::fd::AsFd;
    io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from).map_err(|e| e.to_string())
}
