//! The hash tables in which loaders look symbols up: the GNU one and the older one.

/// The GNU hash of a name.
pub(super) fn gnu_hash(name: &str) -> u32 {
    name.bytes().fold(5381, |h: u32, b| h.wrapping_mul(33).wrapping_add(b.into()))
}

/// Buckets of the GNU hash table: one for four symbols.
pub(super) fn gnu_buckets(symbols: usize) -> u32 {
    (symbols / 4).max(1) as u32
}

/// Words of the GNU hash table's bloom filter.
pub(super) fn bloom_words(symbols: usize) -> usize {
    // The power of two above the number of words that 12 bits a symbol take.
    if symbols == 0 { 1 } else { (symbols * 12 / 64 + 1).next_power_of_two() }
}

/// The hash of the older table.
pub(super) fn sysv_hash(name: &str) -> u32 {
    name.bytes().fold(0, |h: u32, b| {
        let h = (h << 4).wrapping_add(b.into());
        let top = h & 0xf000_0000;
        (h ^ (top >> 24)) & !top
    })
}
