//! Ctrl-C while a kernel runs.

use signal_hook::consts::SIGINT;
use signal_hook::low_level::{emulate_default_handler, register};
use wavemill_device::interrupt;

/// From now on, the first Ctrl-C tells where the waves are, and the second ends it. Where nothing runs, the first does.
pub fn watch() -> Result<(), String> {
    let interrupted = || {
        if !interrupt::ask() {
            // It does not return, or the process goes on as if nothing had been.
            let _ = emulate_default_handler(SIGINT);
        }
    };
    // SAFETY: the handler looks at and stores to atomic words; what ends the process may be called in handlers.
    let registered = unsafe { register(SIGINT, interrupted) };
    registered.map(drop).map_err(|e| format!("Ctrl-C: {e}"))
}
