//! Traps: what the trap handler finds (manual 3.10, 12.3, 12.5).

/// What makes a wave enter its trap handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// S_TRAP with this id.
    Trap(u8),
    /// The host asked for it, with this id.
    Host(u8),
    /// An exception, a single step, or a context save. The number says how many dwords before the saved PC the
    /// instruction that caused it lies.
    Exception(u8),
}

impl Cause {
    /// What {TTMP1, TTMP0} hold: {0, rewind, host, id, PC}.
    pub const fn word(self, pc: u64) -> u64 {
        let (rewind, host, id) = match self {
            Cause::Trap(id) => (0, false, id),
            Cause::Host(id) => (0, true, id),
            Cause::Exception(rewind) => (rewind, false, 0),
        };
        pc & 0xffff_ffff_ffff | (id as u64) << 48 | (host as u64) << 56 | (rewind as u64 & 15) << 57
    }
}
