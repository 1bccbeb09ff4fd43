//! Where results and messages go: files, standard output and standard error. Names in files may hold anything; control
//! characters in them never reach a terminal, which would take them for commands.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use wavemill_device::json::quoted;
use wavemill_device::terminal::visible;

/// Writes a command's result, `-` for standard output.
pub fn save(command: &str, path: &str, bytes: &[u8]) -> ExitCode {
    if path == "-" {
        return show(bytes);
    }
    match std::fs::write(path, bytes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            message(format_args!("wavemill {command}: {path}: {e}"));
            ExitCode::FAILURE
        }
    }
}

/// Something was written to standard output.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// What was said last on standard error.
static SAID: Mutex<String> = Mutex::new(String::new());

/// A JSON document in place of the one that could not be made: what went wrong. None if something was printed already.
pub fn failure(status: u8) -> Option<String> {
    let said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let version = quoted(crate::version::version());
    let document = format!(
        "{{\n  \"wavemill\": {version},\n  \"status\": {status},\n  \"error\": {}\n}}\n",
        quoted(said.trim_end())
    );
    (!PRINTED.load(Ordering::Relaxed)).then_some(document)
}

/// Something could not be written to standard output.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Whether something could not be written to standard output.
pub fn failed() -> bool {
    FAILED.load(Ordering::Relaxed)
}

/// Something is about to be written to standard output.
pub fn printing() {
    PRINTED.store(true, Ordering::Relaxed);
}

/// What to say of an attempt to write to standard output: nothing if its reader went away, but it has failed.
pub fn written(result: io::Result<()>) -> Result<(), String> {
    // What stays in its buffer is lost without a word when the process ends.
    let Err(e) = result.and_then(|()| io::stdout().flush()) else { return Ok(()) };
    // Once is enough.
    let known = FAILED.swap(true, Ordering::Relaxed);
    if known || e.kind() == io::ErrorKind::BrokenPipe {
        Err(String::new())
    } else {
        Err(format!("standard output: {e}"))
    }
}

/// Standard output for much text in few, large pieces: without the search for line ends that Rust's own makes.
pub fn raw_stdout() -> Result<impl Write, String> {
    PRINTED.store(true, Ordering::Relaxed);
    use std::os::fd::AsFd;
    let out =
        io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from).map_err(|e| e.to_string())?;
    Ok(Guarded { terminal: out.is_terminal(), out })
}

/// Standard output for text with names from files in it.
pub fn stdout() -> impl Write {
    PRINTED.store(true, Ordering::Relaxed);
    let out = io::stdout().lock();
    Guarded { terminal: out.is_terminal(), out }
}

/// Writes text with names from files in it to standard output; a reader that went away is not an error.
pub fn show(bytes: &[u8]) -> ExitCode {
    match written(stdout().write_all(bytes)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            if !e.is_empty() {
                message(format_args!("wavemill: {e}"));
            }
            ExitCode::FAILURE
        }
    }
}

/// Notes what was said on standard error by somebody else.
pub fn message_said(text: &str) {
    text.clone_into(&mut SAID.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Says something to the user, on a line of standard error of its own.
pub fn message(text: impl std::fmt::Display) {
    let line = format!("{text}\n");
    report(line.as_bytes());
    *SAID.lock().unwrap_or_else(PoisonError::into_inner) = line;
}

/// Says why a command has failed, unless there is nobody to tell it ([`written`]).
pub fn fail(command: &str, why: &str) -> ExitCode {
    if !why.is_empty() {
        message(format_args!("wavemill {command}: {why}"));
    }
    ExitCode::FAILURE
}

/// How a command ends whose result was written to standard output.
pub fn finished(command: &str, result: io::Result<()>) -> ExitCode {
    written(result).map_or_else(|why| fail(command, &why), |()| ExitCode::SUCCESS)
}

/// Writes text with lines of its own to standard error. Nobody is left to tell that it cannot be written to.
pub fn report(text: &[u8]) {
    let out = io::stderr().lock();
    _ = Guarded { terminal: out.is_terminal(), out }.write_all(text);
}

/// The same for a compiler's messages, which may have colours.
pub fn report_coloured(text: &[u8]) {
    // Between colours there is plain text.
    let mut rest = text;
    while let Some(start) = rest.windows(2).position(|w| w == b"\x1b[") {
        let (before, after) = rest.split_at(start);
        let parameters = after[2..].iter().take_while(|b| b.is_ascii_digit() || **b == b';').count();
        let length = 2 + parameters + usize::from(after.get(2 + parameters) == Some(&b'm'));
        report(before);
        match after[length - 1] {
            b'm' => _ = io::stderr().write_all(&after[..length]),
            _ => report(&after[..length]),
        }
        rest = &after[length..];
    }
    report(rest);
}

/// A stream that shows control characters when it is a terminal.
struct Guarded<W> {
    out: W,
    terminal: bool,
}

impl<W: Write> Write for Guarded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.terminal {
            self.out.write_all(&visible(bytes))?;
            return Ok(bytes.len());
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
