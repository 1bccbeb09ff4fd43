//! Where the text goes that a kernel prints.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use wavemill_console::printf::{Printer, Stream};

/// What a kernel has printed to standard output.
#[derive(Default)]
pub struct Printed {
    /// The text, if it is to be kept.
    kept: Mutex<Vec<u8>>,
    /// Its last line has no end.
    unfinished: AtomicBool,
}

impl Printed {
    /// The text that was kept; what is no UTF-8 in it is replaced.
    pub fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Ends the line that the kernel has begun, for what we print.
    pub fn end_line(&self) {
        if self.unfinished.swap(false, Ordering::Relaxed) {
            crate::print(b"\n");
        }
    }
}

/// Prints at once, or keeps what is for standard output when that is the report's.
pub fn printer(keep: bool) -> (Printer, Arc<Printed>) {
    let printed = Arc::new(Printed::default());
    let to = printed.clone();
    let printer = Printer::new(move |stream, bytes| match stream {
        Stream::Out if keep => to.kept.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes),
        Stream::Out => {
            crate::print(bytes);
            // What comes to standard error next comes after it.
            _ = std::io::stdout().flush();
            to.unfinished.store(bytes.last() != Some(&b'\n'), Ordering::Relaxed);
        }
        // Nobody is left to tell that standard error cannot be written to.
        Stream::Err => _ = std::io::stderr().lock().write_all(bytes),
        Stream::Note => {
            crate::output::message(format_args!("wavemill run: {}", String::from_utf8_lossy(bytes)))
        }
    });
    (printer, printed)
}
