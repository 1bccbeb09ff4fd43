//! What whoever asks for a dispatch has to say about how it is run, and what he wants to know meanwhile.

use crate::launch::Scratch;
use crate::observe::Observers;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The priority of dispatches that nobody gave another: 0 is low, 2 high.
pub const NORMAL_PRIORITY: u32 = 1;

/// A function to call.
pub type Callback = Arc<dyn Fn() + Send + Sync>;

/// The host as the waves of a dispatch need it: whoever answers what they ask for, or sleeps on what they store.
pub trait Host: Send + Sync {
    /// A wave has sent a message, which says that it has changed a signal. The wave waits meanwhile.
    fn message(&self);

    /// The waves of a work-group have had their turn. Told of each turn in which none ended or came to a barrier, and now and
    /// then of the others.
    fn turn_ended(&self);
}

/// How a dispatch is run.
pub struct Control<'a> {
    /// Ends the dispatch when it is set.
    pub stop: &'a Arc<AtomicBool>,
    /// Compute units that may be used.
    pub units: u32,
    /// Number of the queue, as HW_ID shows it: five bits.
    pub queue: u32,
    /// Host threads help dispatches of higher priority first.
    pub priority: u32,
    /// Somebody wants to know the CPU time, which takes longer to measure than a small kernel to run.
    pub timed: bool,
    /// Is told where the scratch is.
    pub placed: &'a dyn Fn(&Scratch),
    /// Is called, at least once, when the dispatch takes longer than that.
    pub slow: Option<(Duration, &'a Callback)>,
    /// Who looks on.
    pub observers: &'a Observers,
    /// The host.
    pub host: Option<&'a Arc<dyn Host>>,
}
