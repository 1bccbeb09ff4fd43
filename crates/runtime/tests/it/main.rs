//! A system with engines made for the test.

mod observers;
mod queues;
