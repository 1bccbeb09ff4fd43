//! A system with engines made for the test.

mod queues;
