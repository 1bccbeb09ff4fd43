//! Block-compressed texels: BC1 to BC7 and ETC2, four by four texels in 64 or 128 bits.
//!
//! Colors of BC1 to BC5 between two ends are interpolated in fractions of their integer codes, as the definitions of S3TC
//! and RGTC have them. BC6H and BC7 ([`bptc`]) and ETC2 ([`etc`]) are defined to the bit.

mod bptc;
mod etc;

use crate::soft;

/// The compressions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Block {
    Bc1,
    Bc2,
    Bc3,
    Bc4,
    Bc5,
    Bc6h,
    Bc6hSigned,
    Bc7,
    EtcRgb,
    EtcRgba,
    /// Alpha is 0 or 1.
    EtcRgba1,
    /// One component of eleven bits.
    EacR,
    EacRg,
}

impl Block {
    /// Bytes of a block.
    pub const fn bytes(self) -> u8 {
        match self {
            Block::Bc1 | Block::Bc4 | Block::EtcRgb | Block::EtcRgba1 | Block::EacR => 8,
            _ => 16,
        }
    }

    /// Components of a texel.
    pub const fn components(self) -> u8 {
        match self {
            Block::Bc4 | Block::EacR => 1,
            Block::Bc5 | Block::EacRg => 2,
            Block::Bc6h | Block::Bc6hSigned | Block::EtcRgb => 3,
            _ => 4,
        }
    }

    /// The components of a texel of a block, as fractions or, of BC6H, numbers. Those of one or
    /// two components may be signed.
    pub fn texel(self, block: [u32; 4], x: u32, y: u32, signed: bool) -> [f64; 4] {
        let (x, y) = (x & 3, y & 3);
        let at = 4 * y + x;
        let [a, b, c, d] = block.map(u64::from);
        let (first, second) = (a | b << 32, c | d << 32);
        let fraction = |byte: u8| f64::from(byte) / 255.0;
        let whole = first as u128 | (second as u128) << 64;
        match self {
            Block::Bc1 => color(first, at, true),
            Block::Bc2 => {
                let alpha = (first >> (4 * at) & 15) as f64 / 15.0;
                let [r, g, b, _] = color(second, at, false);
                [r, g, b, alpha]
            }
            Block::Bc3 => {
                let [r, g, b, _] = color(second, at, false);
                [r, g, b, ramp(first, at, false)]
            }
            Block::Bc4 => [ramp(first, at, signed), 0.0, 0.0, 0.0],
            Block::Bc5 => [ramp(first, at, signed), ramp(second, at, signed), 0.0, 0.0],
            Block::Bc6h | Block::Bc6hSigned => {
                let half = |h: u16| f64::from(f32::from_bits(soft::h2f(h.into())));
                let [r, g, b] = bptc::bc6h(whole, at, self == Block::Bc6hSigned).map(half);
                [r, g, b, 0.0]
            }
            Block::Bc7 => bptc::bc7(whole, at).map(fraction),
            Block::EtcRgb => etc::color(first.swap_bytes(), x, y, false).map(fraction),
            Block::EtcRgba1 => etc::color(first.swap_bytes(), x, y, true).map(fraction),
            Block::EtcRgba => {
                let [r, g, b, _] = etc::color(second.swap_bytes(), x, y, false);
                [r, g, b, etc::alpha(first.swap_bytes(), x, y)].map(fraction)
            }
            Block::EacR => [etc::eleven(first.swap_bytes(), x, y, signed), 0.0, 0.0, 0.0],
            Block::EacRg => {
                let [r, g] = [first, second].map(|b| etc::eleven(b.swap_bytes(), x, y, signed));
                [r, g, 0.0, 0.0]
            }
        }
    }
}

/// Two ends of 5, 6 and 5 bits, two bits a texel. With `punch`, ends in ascending order make the fourth code transparent.
fn color(block: u64, at: u32, punch: bool) -> [f64; 4] {
    let ends = [block & 0xffff, block >> 16 & 0xffff];
    let code = block >> (32 + 2 * at) & 3;
    let three = punch && ends[0] <= ends[1];
    if three && code == 3 {
        return [0.0; 4];
    }
    let component = |low: u32, bits: u32| {
        let [p, q] = ends.map(|e| (e >> low & ((1 << bits) - 1)) as f64);
        let top = ((1u32 << bits) - 1) as f64;
        match (code, three) {
            (0, _) => p / top,
            (1, _) => q / top,
            (2, true) => (p + q) / (2.0 * top),
            (2, false) => (2.0 * p + q) / (3.0 * top),
            _ => (p + 2.0 * q) / (3.0 * top),
        }
    };
    [component(11, 5), component(5, 6), component(0, 5), 1.0]
}

/// Two ends of eight bits, three bits a texel: eight steps, or six and the limits.
fn ramp(block: u64, at: u32, signed: bool) -> f64 {
    let ends = [block & 0xff, block >> 8 & 0xff];
    let code = (block >> (16 + 3 * at) & 7) as f64;
    let (p, q, top, least) = if signed {
        let [p, q] = ends.map(|e| (e as u8 as i8 as f64).max(-127.0));
        (p, q, 127.0, -1.0)
    } else {
        let [p, q] = ends.map(|e| e as f64);
        (p, q, 255.0, 0.0)
    };
    // The order of the ends as they are written decides.
    let descending = if signed { (ends[0] as u8 as i8) > (ends[1] as u8 as i8) } else { ends[0] > ends[1] };
    match (code as u32, descending) {
        (0, _) => p / top,
        (1, _) => q / top,
        (_, true) => ((8.0 - code) * p + (code - 1.0) * q) / (7.0 * top),
        (6, false) => least,
        (7, false) => 1.0,
        (_, false) => ((6.0 - code) * p + (code - 1.0) * q) / (5.0 * top),
    }
}
