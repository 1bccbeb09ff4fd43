//! Exit statuses beyond 0 (fine), 1 (it could not be done) and 2 (wrong usage), the same in every command.

/// What ran on the GPU faulted.
pub const FAULT: u8 = 3;

/// A check found something in code that was read or ran well.
pub const FINDINGS: u8 = 5;
