//! How waves trap: a trap handler of the user's own, watched addresses, traps that the host asks for.
//!
//! Without a handler, traps and exceptions stop the dispatch with a report, as the runtime's trap handler does by the
//! AMDGPU guide's trap handler ABI. A second-level handler, installed with [`Device::set_trap_handler`](crate::Device::set_trap_handler), is code: waves
//! jump there, privileged, and it decides.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wavemill_wave::{Violations, Watch, Wave};

/// Ids of S_TRAP that are for a debugger (AMDGPU guide, "Trap Handler ABI"): debugtrap with and without an argument, a
/// breakpoint, and those that are reserved for it.
pub const DEBUGGER_TRAPS: [u8; 6] = [1, 3, 7, 8, 0xfe, 0xff];

/// A trap handler: its code, and memory for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrapHandler {
    /// Address of its first instruction: TBA.
    pub code: u64,
    /// What it finds in TMA.
    pub memory: u64,
}

/// What a device's user has set.
#[derive(Default)]
pub(crate) struct Settings {
    current: Mutex<Current>,
    host: Arc<HostTraps>,
}

#[derive(Clone, Default)]
struct Current {
    handler: Option<TrapHandler>,
    watches: Option<Box<[Option<Watch>; 4]>>,
}

/// Traps that the host has asked for: how many so far, and the last one's id.
#[derive(Debug, Default)]
pub(crate) struct HostTraps(AtomicU64);

impl HostTraps {
    /// How many there have been, and the last one's id.
    pub(crate) fn latest(&self) -> (u64, u8) {
        let n = self.0.load(Ordering::Acquire);
        (n >> 8, n as u8)
    }
}

/// What a dispatch's waves are told.
#[derive(Clone, Debug)]
pub struct Traps {
    handler: Option<TrapHandler>,
    watches: Option<Box<[Option<Watch>; 4]>>,
    /// Some code object reads TRAPSTS.
    gather: bool,
    violations: Violations,
    pub(crate) host: Arc<HostTraps>,
}

impl Traps {
    /// Prepares a wave.
    pub(crate) fn prepare(&self, wave: &mut Wave) {
        if let Some(handler) = self.handler {
            wave.set_trap_handler(handler.code, handler.memory);
        }
        wave.watches.clone_from(&self.watches);
        wave.gather_exceptions = self.gather;
        wave.violations = self.violations;
    }
}

impl Settings {
    fn lock(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_handler(&self, handler: Option<TrapHandler>) {
        self.lock().handler = handler;
    }

    pub(crate) fn set_watch(&self, index: usize, watch: Option<Watch>) {
        let mut current = self.lock();
        let mut watches = current.watches.take().unwrap_or_default();
        if let Some(w) = watches.get_mut(index) {
            *w = watch;
        }
        current.watches = Some(watches).filter(|w| w.iter().any(Option::is_some));
    }

    pub(crate) fn host_trap(&self, id: u8) {
        let next = |n: u64| ((n >> 8) + 1) << 8 | u64::from(id);
        let _ = self.host.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| Some(next(n)));
    }

    /// What waves of a new dispatch are told; `gather` when some code object reads TRAPSTS.
    pub(crate) fn traps(&self, gather: bool, violations: Violations) -> Traps {
        let current = self.lock().clone();
        let Current { handler, watches } = current;
        Traps { handler, watches, gather, violations, host: self.host.clone() }
    }
}
