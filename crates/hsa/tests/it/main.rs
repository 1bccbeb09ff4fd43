//! The runtime library as programs see it: loaded with `dlopen`, called through C's conventions.

mod agents;
#[allow(dead_code)]
mod constants;
mod declarations;
mod enqueue;
mod errors;
mod faults;
#[allow(dead_code)]
mod ffi;
mod hostile;
mod later;
mod loader;
mod memory;
mod queues;
mod setup;
mod signals;
