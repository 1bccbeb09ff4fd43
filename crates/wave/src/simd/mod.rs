//! Sixteen lanes of data: the values the interpreter runs `sem`'s meanings on.
//!
//! Four back ends with the same bits: AVX-512, AVX2 with FMA, NEON, and plain arrays; [`lanes`] has what they share. The host
//! is asked once; `WAVEMILL_SIMD=avx512|avx2|neon|portable` overrides.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
pub(crate) mod lanes;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod portable;
#[cfg(test)]
mod tests;

use std::ops::{BitAnd, BitOr, BitXor, Not};
use std::sync::OnceLock;
use wavemill_sem::lanes::{Long, Mask, Word};

/// Which kernels run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Simd {
    /// One zmm per 16 lanes.
    Avx512,
    /// Two ymm per 16 lanes.
    Avx2,
    /// Four NEON registers per 16 lanes.
    Neon,
    /// Arrays.
    Portable,
}

impl Simd {
    /// All back ends this host can run, the widest first.
    pub fn available() -> Vec<Simd> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let base = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512cd")
                && base
            {
                all.push(Simd::Avx512);
            }
            if base {
                all.push(Simd::Avx2);
            }
        }
        if cfg!(target_arch = "aarch64") {
            all.push(Simd::Neon);
        }
        all.push(Simd::Portable);
        all
    }

    /// The back end to use: the widest, or what `WAVEMILL_SIMD` names if the host has it.
    pub fn detect() -> Simd {
        static CHOICE: OnceLock<Simd> = OnceLock::new();
        *CHOICE.get_or_init(|| {
            let all = Simd::available();
            let wanted = std::env::var("WAVEMILL_SIMD").unwrap_or_default();
            all.iter().copied().find(|s| s.name() == wanted).unwrap_or(all[0])
        })
    }

    /// The name `WAVEMILL_SIMD` knows it by.
    pub const fn name(self) -> &'static str {
        match self {
            Simd::Avx512 => "avx512",
            Simd::Avx2 => "avx2",
            Simd::Neon => "neon",
            Simd::Portable => "portable",
        }
    }
}

/// A bit per lane of sixteen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bits(pub u16);

impl BitAnd for Bits {
    type Output = Bits;
    #[inline(always)]
    fn bitand(self, b: Bits) -> Bits {
        Bits(self.0 & b.0)
    }
}
impl BitOr for Bits {
    type Output = Bits;
    #[inline(always)]
    fn bitor(self, b: Bits) -> Bits {
        Bits(self.0 | b.0)
    }
}
impl BitXor for Bits {
    type Output = Bits;
    #[inline(always)]
    fn bitxor(self, b: Bits) -> Bits {
        Bits(self.0 ^ b.0)
    }
}
impl Not for Bits {
    type Output = Bits;
    #[inline(always)]
    fn not(self) -> Bits {
        Bits(!self.0)
    }
}
impl Mask for Bits {
    #[inline(always)]
    fn ones() -> Self {
        Bits(!0)
    }
    #[inline(always)]
    fn zeros() -> Self {
        Bits(0)
    }
}

/// Sixteen lanes that can be loaded and stored.
pub(crate) trait V16: Word<Mask = Bits, Long: L16<Self>> {
    /// Reads sixteen dwords.
    ///
    /// # Safety
    /// `p` must be readable for 64 bytes and aligned to 64.
    unsafe fn load(p: *const u32) -> Self;
    /// Writes sixteen dwords.
    ///
    /// # Safety
    /// `p` must be writable for 64 bytes and aligned to 64.
    unsafe fn store(self, p: *mut u32);
    /// Writes the lanes of a mask. All sixteen dwords are stored, the others as they were: a load of what a store of
    /// some lanes wrote would wait for it.
    ///
    /// # Safety
    /// As for `store`.
    unsafe fn store_active(self, active: Bits, p: *mut u32);
    /// Sixteen groups of N dwords each, side by side: all first ones, all second ones and so on. What is aligned to eight
    /// bytes is read whole.
    ///
    /// # Safety
    /// `p` must be readable for as much; it need not be aligned.
    unsafe fn load_groups<const N: usize>(p: *const u8) -> [Self; N];
    /// The way back.
    ///
    /// # Safety
    /// `p` must be writable for as much; it need not be aligned.
    unsafe fn store_groups<const N: usize>(rows: [Self; N], p: *mut u8);
    /// The dwords of a register that these lanes name, 0 to 63.
    ///
    /// # Safety
    /// `p` must be readable for 256 bytes and aligned to 64.
    unsafe fn pick(self, p: *const u32) -> Self;
    /// Lane N of each four, in all four.
    fn quads<const N: usize>(self) -> Self;
    /// Bytes, zero-extended.
    fn from_bytes(a: [u8; 16]) -> Self;
    /// Shorts, zero-extended.
    fn from_shorts(a: [u16; 16]) -> Self;
    /// The lowest bytes.
    fn to_bytes(self) -> [u8; 16];
    /// The lower halves.
    fn to_shorts(self) -> [u16; 16];
    /// As an array.
    fn to_array(self) -> [u32; 16];
    /// From an array.
    fn from_array(a: [u32; 16]) -> Self;
}

/// The numbers of a chunk's lanes.
#[inline(always)]
pub(crate) fn lane_numbers<V: V16>(chunk: usize) -> V {
    V::from_array(std::array::from_fn(|i| (chunk * 16 + i) as u32))
}

/// Sixteen lanes of 64 bits beside those of 32.
pub(crate) trait L16<W: V16>: Long<Word = W, Mask = Bits> {}
