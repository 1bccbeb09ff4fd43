//! Numbers that look random and are the same in every run.

/// A small generator of numbers (xorshift*). The seed must not be zero.
pub struct Random(pub u64);

impl Random {
    /// The next number. Not an iterator: it never ends.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below a bound.
    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }

    /// A number between two others.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A number of some bits that is often near the edges of its width.
    pub fn edgy(&mut self, bits: u32) -> u64 {
        let mask = !0 >> (64 - bits);
        let shift = self.below(bits as u64);
        let v = match self.below(10) {
            0 => 0,
            1 => !0,
            2 => 1 << shift,
            3 => (1u64 << shift).wrapping_sub(1),
            4 => self.below(70),
            5 => !(1u64 << shift),
            6 => self.below(70).wrapping_neg(),
            _ => self.next() ^ self.next() << 32,
        };
        v & mask
    }
}
