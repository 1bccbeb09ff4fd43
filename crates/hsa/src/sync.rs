//! The locks of code that `loom/` runs with its own.

pub(crate) use std::sync::{Mutex, MutexGuard, RwLock};
