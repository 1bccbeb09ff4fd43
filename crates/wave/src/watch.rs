//! Address watches.

/// Addresses whose accesses are of interest (manual 3.10, address watch): those that are equal to `address` in the bits
/// of `mask`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Watch {
    /// The address.
    pub address: u64,
    /// Bits that must be equal.
    pub mask: u64,
    /// Loads count.
    pub reads: bool,
    /// Stores count.
    pub writes: bool,
    /// Atomic operations count.
    pub atomics: bool,
}

impl Watch {
    /// All accesses to `bytes` (a power of two) at a multiple of it.
    pub fn new(address: u64, bytes: u64) -> Watch {
        let mask = !(bytes.next_power_of_two() - 1);
        Watch { address: address & mask, mask, reads: true, writes: true, atomics: true }
    }

    /// Whether one of an access' bytes is watched.
    pub(crate) fn hit(&self, address: u64, bytes: u64) -> bool {
        (0..bytes).any(|i| (address.wrapping_add(i) ^ self.address) & self.mask == 0)
    }
}
