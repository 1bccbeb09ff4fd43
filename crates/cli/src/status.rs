//! Exit statuses beyond 0 (fine), 1 (it could not be done) and 2 (wrong usage), the same in every command.

/// What ran on the GPU faulted.
pub const FAULT: u8 = 3;
/// Time ran out.
pub const TIMEOUT: u8 = 4;
/// It was read or ran well, but a check or an expectation found something.
pub const CHECK: u8 = 5;
/// Ctrl-C: 128 and the signal's number, as shells have it.
pub const INTERRUPTED: u8 = 130;
