//! Processes that were forked off one that uses the runtime. They have its memory, but none of its threads, and perhaps its
//! locks: nothing of the runtime works in them, and they must not wait for it.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static FORKED: AtomicBool = AtomicBool::new(false);

extern "C" fn in_child() {
    FORKED.store(true, Ordering::Relaxed);
}

/// From now on, children know that they are some.
pub fn watch() {
    static WATCHED: Once = Once::new();
    // SAFETY: the function may run in a forked child: it stores to a static. Without memory for it, children are not told.
    WATCHED.call_once(|| _ = unsafe { libc::pthread_atfork(None, None, Some(in_child)) });
}

/// Is this process a child of the one that started the runtime?
pub fn forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Ends the process at once, without running its own code again, which may wait for other threads.
pub(crate) fn quit(status: i32) -> ! {
    // SAFETY: nothing of the process runs afterwards.
    unsafe { libc::_exit(status) }
}
