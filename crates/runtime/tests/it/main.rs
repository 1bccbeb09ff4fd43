//! A system with engines made for the test.

mod gpus;
mod hostile;
mod observers;
mod queues;
