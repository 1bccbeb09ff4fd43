//! A system with engines made for the test.

mod hostile;
mod observers;
mod queues;
