//! Ctrl-C in a program whose kernel runs: where its waves are is told before the program ends.

use std::sync::Once;
use wavemill_device::interrupt;

/// What a program that does not care for SIGINT does about it from now on. One that does, or will, is left alone.
pub fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        // SAFETY: plain data, which the system fills.
        let mut old: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: nothing is changed.
        let asked = unsafe { libc::sigaction(libc::SIGINT, std::ptr::null(), &raw mut old) };
        if asked == 0 && old.sa_sigaction == libc::SIG_DFL {
            let mut new = old;
            let handler: extern "C" fn(libc::c_int) = interrupted;
            new.sa_sigaction = handler as usize;
            new.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
            // SAFETY: the handler calls nothing that a handler may not.
            unsafe { libc::sigaction(libc::SIGINT, &raw const new, std::ptr::null_mut()) };
        }
    });
}

extern "C" fn interrupted(_: libc::c_int) {
    if !interrupt::ask() {
        end();
    }
}

/// Ends the process as SIGINT does, so that whoever waits for it sees that.
pub(crate) fn end() {
    // SAFETY: both are async-signal-safe. A blocked signal ends the process when the handler returns.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_DFL);
        libc::raise(libc::SIGINT);
    }
}
