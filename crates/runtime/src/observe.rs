//! Who looks on while a whole process uses its GPUs: beside dispatches, what the host does, in its order.
//!
//! Signals belong to the process, and so does whoever is told about them: [`install`]. While somebody is, what changes
//! shared things happens one after the other, so that the order told is the order there was. While nobody is, all of this
//! costs a look at a flag.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use wavemill_device::aql::FenceScope;
use wavemill_device::observe::DispatchObserver;

/// Where memory comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A pool: the number of the agent it belongs to, 0 for the host, and of the pool there.
    Pool(usize, usize),
    /// The program's own memory, locked.
    Locked,
    /// Another process's memory.
    Ipc,
}

/// Something that the host, a packet processor or a copy has done. Signals are named by their handles, queues by their
/// addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostEvent {
    /// Memory was allocated.
    Allocated {
        /// First address.
        address: u64,
        /// Size.
        bytes: u64,
        /// Where it comes from.
        origin: Origin,
    },
    /// Memory was freed.
    Freed {
        /// First address.
        address: u64,
    },
    /// The host wanted to free what is not allocated.
    NotFreed {
        /// The address.
        address: u64,
    },
    /// Memory of the program was locked.
    Locked {
        /// Where the program sees it.
        host: u64,
        /// Where GPUs see it.
        address: u64,
        /// Size.
        bytes: u64,
    },
    /// Memory of the program was unlocked, once.
    Unlocked {
        /// Where the program sees it.
        host: u64,
    },
    /// Memory is copied.
    Copied {
        /// To this address,
        to: u64,
        /// from this one,
        from: u64,
        /// so many bytes.
        bytes: u64,
    },
    /// Memory is filled.
    Filled {
        /// First address.
        address: u64,
        /// Size.
        bytes: u64,
    },
    /// A packet that is no dispatch has acquired and released.
    Fenced {
        /// The GPU, counted from 0.
        gpu: u32,
        /// How far the one reaches,
        acquire: FenceScope,
        /// and the other.
        release: FenceScope,
    },
    /// A signal was made.
    SignalCreated {
        /// The signal.
        signal: u64,
        /// Its value.
        value: i64,
    },
    /// A signal was destroyed.
    SignalDestroyed {
        /// The signal.
        signal: u64,
    },
    /// The host has changed a signal.
    SignalChanged {
        /// The signal.
        signal: u64,
        /// How: store, exchange, cas, add, subtract, and, or, xor.
        operation: &'static str,
        /// The value it had before.
        old: i64,
        /// The value it has now.
        new: i64,
    },
    /// A packet or a copy has completed: one is taken from the signal.
    SignalCompleted {
        /// The signal.
        signal: u64,
        /// The value it has now.
        new: i64,
    },
    /// The host has read a signal.
    SignalLoaded {
        /// The signal.
        signal: u64,
        /// Its value.
        value: i64,
    },
    /// The host begins to wait for a signal.
    WaitStarted {
        /// The signal.
        signal: u64,
    },
    /// The host waits no longer.
    WaitEnded {
        /// The signal.
        signal: u64,
        /// The value it has seen last.
        value: i64,
    },
    /// The host has rung a queue's doorbell.
    DoorbellRung {
        /// The queue.
        queue: u64,
        /// The value stored.
        value: u64,
    },
    /// A queue was made.
    QueueCreated {
        /// The queue.
        queue: u64,
    },
    /// A queue was destroyed.
    QueueDestroyed {
        /// The queue.
        queue: u64,
    },
    /// A packet processor begins with a packet.
    PacketStarted {
        /// The queue.
        queue: u64,
        /// The packet's index.
        index: u64,
        /// Its type.
        kind: u8,
    },
    /// A packet processor is done with a packet.
    PacketEnded {
        /// The queue.
        queue: u64,
        /// The packet's index.
        index: u64,
    },
}

/// Is told about everything that happens around a process's GPUs.
pub trait ProcessObserver: DispatchObserver {
    /// The host, a packet processor or a copy has done something. Must not do such things itself.
    fn host(&self, event: &HostEvent);
}

static ACTIVE: AtomicBool = AtomicBool::new(false);
static OBSERVER: RwLock<Option<Arc<dyn ProcessObserver>>> = RwLock::new(None);
/// One thing after the other.
static ORDER: Mutex<()> = Mutex::new(());

/// Lets somebody look on from now on, or nobody.
pub fn install(observer: Option<Arc<dyn ProcessObserver>>) {
    let mut current = OBSERVER.write().unwrap_or_else(PoisonError::into_inner);
    ACTIVE.store(observer.is_some(), Ordering::SeqCst);
    *current = observer;
}

/// Does something that somebody may look at; `event` says what came of it.
#[inline]
pub(crate) fn observed<R>(act: impl FnOnce() -> R, event: impl FnOnce(&R) -> Option<HostEvent>) -> R {
    if ACTIVE.load(Ordering::Relaxed) { slowly(act, event) } else { act() }
}

#[cold]
fn slowly<R>(act: impl FnOnce() -> R, event: impl FnOnce(&R) -> Option<HostEvent>) -> R {
    let order = ORDER.lock().unwrap_or_else(PoisonError::into_inner);
    let result = act();
    let observer = OBSERVER.read().unwrap_or_else(PoisonError::into_inner).clone();
    if let (Some(observer), Some(event)) = (observer, event(&result)) {
        observer.host(&event);
    }
    drop(order);
    result
}

/// Tells of something that has happened.
#[inline]
pub fn tell(event: HostEvent) {
    observed(|| {}, |()| Some(event));
}
