//! What one work-group has learnt or allocated and the next can use.

use std::sync::{Mutex, PoisonError};

/// Things to be used again.
#[derive(Debug)]
pub struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool(Mutex::default())
    }
}

impl<T: Default> Pool<T> {
    /// One that was used before, if there is one.
    pub fn take(&self) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// It is not used any more: leaves an empty one.
    pub fn give(&self, used: &mut T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(std::mem::take(used));
    }
}
