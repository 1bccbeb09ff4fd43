//! Memory that compilations leave for the next ones, in whatever thread: new memory costs more than what is done in it.

use std::sync::{Mutex, PoisonError};

/// What is kept at most.
const MOST: usize = 16;

/// Memory of compilations that are over.
pub struct Rooms<R>(Mutex<Vec<R>>);

impl<R: Default> Rooms<R> {
    /// None yet.
    pub const fn new() -> Rooms<R> {
        Rooms(Mutex::new(Vec::new()))
    }

    /// One of them, or a new one.
    pub fn take(&self) -> R {
        let room = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        room.unwrap_or_default()
    }

    /// Keeps one.
    pub fn put(&self, room: R) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST {
            all.push(room);
        }
    }
}

/// Some elements in the memory of others.
pub fn filled<T: Clone>(mut room: Vec<T>, count: usize, with: T) -> Vec<T> {
    room.clear();
    room.resize(count, with);
    room
}
