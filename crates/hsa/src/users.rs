//! Something that is made for its first user and ended after its last one. `loom/` tries this in every order.

use crate::sync::{Mutex, MutexGuard, RwLock};
use std::sync::{Arc, PoisonError, TryLockError};

/// What there is, and who uses it.
pub struct Users<T> {
    /// How many there are.
    pub state: RwLock<State<T>>,
    /// Held while the thing is made or ended, for as long as that takes: it has one place in the process, and two must not use
    /// that at the same time. Others find that there is none meanwhile.
    pub lifecycle: Mutex<()>,
}

/// Users, and what they use.
pub struct State<T> {
    count: u32,
    shared: Option<Arc<T>>,
}

impl<T> State<T> {
    /// Nobody, nothing.
    pub const fn new() -> State<T> {
        State { count: 0, shared: None }
    }
}

/// Why somebody cannot become or stop being a user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// A start or end is under way, and this thread must not wait for it.
    Busy,
    /// There is no user.
    Unused,
    /// There are too many users to count.
    TooMany,
}

impl<T> Users<T> {
    /// Waits for a start or end under way, if the thread may wait.
    fn lifecycle(&self, waits: bool) -> Result<MutexGuard<'_, ()>, Refused> {
        if waits {
            return Ok(self.lifecycle.lock().unwrap_or_else(PoisonError::into_inner));
        }
        match self.lifecycle.try_lock() {
            Ok(held) => Ok(held),
            Err(TryLockError::Poisoned(held)) => Ok(held.into_inner()),
            Err(TryLockError::WouldBlock) => Err(Refused::Busy),
        }
    }

    /// The thing, if there is one.
    pub fn get(&self) -> Option<Arc<T>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).shared.clone()
    }

    /// One user more; the first one makes it. Threads that an end waits for must not wait themselves.
    pub fn enter<E: From<Refused>>(&self, waits: bool, make: impl FnOnce() -> Result<T, E>) -> Result<(), E> {
        let _lifecycle = self.lifecycle(waits)?;
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.count = state.count.checked_add(1).ok_or(Refused::TooMany)?;
        if state.shared.is_none() {
            match make() {
                Ok(made) => state.shared = Some(Arc::new(made)),
                Err(e) => {
                    state.count -= 1;
                    return Err(e);
                }
            }
        }
        Ok(())
    }

    /// One user less; after the last one it is ended, and nobody finds it any more.
    pub fn leave<E: From<Refused>>(&self, waits: bool, end: impl FnOnce(Arc<T>)) -> Result<(), E> {
        let _lifecycle = self.lifecycle(waits)?;
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.count = state.count.checked_sub(1).ok_or(Refused::Unused)?;
        if state.count == 0
            && let Some(shared) = state.shared.take()
        {
            drop(state);
            end(shared);
        }
        Ok(())
    }
}
