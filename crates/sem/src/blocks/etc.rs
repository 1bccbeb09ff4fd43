//! ETC2 and EAC: a color with small changes per texel, two colors with a distance, or a plane; and single components of
//! up to eleven bits.
//!
//! After the ETC2 section of the Khronos Data Format Specification. A block is a number of 64 bits whose first byte is
//! the highest; texels are numbered down columns.

/// Changes of brightness: a small and a large one.
const CHANGES: [[i32; 2]; 8] = [[2, 8], [5, 17], [9, 29], [13, 42], [18, 60], [24, 80], [33, 106], [47, 183]];

/// Distances of the T and H modes.
const DISTANCES: [i32; 8] = [3, 6, 11, 16, 23, 32, 41, 64];

/// What indices of a component mean.
const MODIFIERS: [[i32; 8]; 16] = [
    [-3, -6, -9, -15, 2, 5, 8, 14],
    [-3, -7, -10, -13, 2, 6, 9, 12],
    [-2, -5, -8, -13, 1, 4, 7, 12],
    [-2, -4, -6, -13, 1, 3, 5, 12],
    [-3, -6, -8, -12, 2, 5, 7, 11],
    [-3, -7, -9, -11, 2, 6, 8, 10],
    [-4, -7, -8, -11, 3, 6, 7, 10],
    [-3, -5, -8, -11, 2, 4, 7, 10],
    [-2, -6, -8, -10, 1, 5, 7, 9],
    [-2, -5, -8, -10, 1, 4, 7, 9],
    [-2, -4, -8, -10, 1, 3, 7, 9],
    [-2, -5, -7, -10, 1, 4, 6, 9],
    [-3, -4, -7, -10, 2, 3, 6, 9],
    [-1, -2, -3, -10, 0, 1, 2, 9],
    [-4, -6, -8, -9, 3, 5, 7, 8],
    [-3, -5, -7, -9, 2, 4, 6, 8],
];

type Color = [i32; 3];

fn byte(x: i32) -> u8 {
    x.clamp(0, 255) as u8
}

/// A color with all its components changed.
fn shifted(color: Color, by: i32) -> [u8; 4] {
    let [r, g, b] = color.map(|c| byte(c + by));
    [r, g, b, 255]
}

/// A texel of a color block. With `punch`, the bit that tells differential blocks from individual ones says instead
/// that all texels are opaque.
pub(super) fn color(block: u64, x: u32, y: u32, punch: bool) -> [u8; 4] {
    let field = |low: u32, bits: u32| (block >> low) as i32 & ((1 << bits) - 1);
    let at = 4 * x + y;
    let index = field(16 + at, 1) << 1 | field(at, 1);
    let bit = field(33, 1) != 0;
    let opaque = !punch || bit;
    let second = if field(32, 1) != 0 { y >= 2 } else { x >= 2 };
    // Adds the brightness that the index stands for to the color of the texel's half.
    let half = |colors: [Color; 2]| {
        let [small, large] = CHANGES[field(if second { 34 } else { 37 }, 3) as usize];
        let size = match index & 1 {
            1 => large,
            _ if opaque => small,
            _ => 0,
        };
        shifted(colors[second as usize], if index & 2 != 0 { -size } else { size })
    };
    if !punch && !bit {
        let colors = [4, 0].map(|low| [56, 48, 40].map(|at| 17 * field(at + low, 4)));
        return half(colors);
    }
    let first = [59, 51, 43].map(|low| field(low, 5));
    let change = [56, 48, 40].map(|low| field(low, 3) << 29 >> 29);
    let sum: Color = std::array::from_fn(|i| first[i] + change[i]);
    let fits = sum.map(|s| (0..32).contains(&s));
    if fits == [true, true, false] {
        return plane(block, x as i32, y as i32);
    }
    if !opaque && index == 2 {
        return [0; 4];
    }
    let whole = |c: [i32; 3]| c.map(|c| 17 * c);
    match fits {
        [false, ..] => {
            let p = whole([field(59, 2) << 2 | field(56, 2), field(52, 4), field(48, 4)]);
            let q = whole([44, 40, 36].map(|low| field(low, 4)));
            let distance = DISTANCES[(field(34, 2) << 1 | field(32, 1)) as usize];
            match index {
                0 => shifted(p, 0),
                1 => shifted(q, distance),
                2 => shifted(q, 0),
                _ => shifted(q, -distance),
            }
        }
        [_, false, _] => {
            let p = [field(59, 4), field(56, 3) << 1 | field(52, 1), field(51, 1) << 3 | field(47, 3)];
            let q = [43, 39, 35].map(|low| field(low, 4));
            let distance = field(34, 1) << 2 | field(32, 1) << 1 | (p >= q) as i32;
            let distance = DISTANCES[distance as usize];
            shifted(
                whole(if index & 2 == 0 { p } else { q }),
                if index & 1 == 0 { distance } else { -distance },
            )
        }
        _ => half([first, sum].map(|c| c.map(|c| c << 3 | c >> 2))),
    }
}

/// A texel of a plane through three colors: that of the first texel, and those four texels to the right and below.
fn plane(block: u64, x: i32, y: i32) -> [u8; 4] {
    let field = |low: u32, bits: u32| (block >> low) as i32 & ((1 << bits) - 1);
    let six = |c: i32| c << 2 | c >> 4;
    let seven = |c: i32| c << 1 | c >> 6;
    let color = |r: i32, g: i32, b: i32| [six(r), seven(g), six(b)];
    let blue = field(48, 1) << 5 | field(43, 2) << 3 | field(39, 3);
    let origin = color(field(57, 6), field(56, 1) << 6 | field(49, 6), blue);
    let right = color(field(34, 5) << 1 | field(32, 1), field(25, 7), field(19, 6));
    let below = color(field(13, 6), field(6, 7), field(0, 6));
    let [r, g, b] = std::array::from_fn(|i| {
        let o = origin[i];
        byte((x * (right[i] - o) + y * (below[i] - o) + 4 * o + 2) >> 2)
    });
    [r, g, b, 255]
}

/// A component's block: its base, what a texel's index stands for, and the factor of it.
fn component(block: u64, x: u32, y: u32) -> (u8, i32, i32) {
    let index = block >> (45 - 3 * (4 * x + y)) & 7;
    let modifier = MODIFIERS[(block >> 48 & 15) as usize][index as usize];
    ((block >> 56) as u8, modifier, (block >> 52 & 15) as i32)
}

/// A texel's alpha.
pub(super) fn alpha(block: u64, x: u32, y: u32) -> u8 {
    let (base, modifier, factor) = component(block, x, y);
    byte(base as i32 + modifier * factor)
}

/// A texel of a component of eleven bits, as a fraction.
pub(super) fn eleven(block: u64, x: u32, y: u32, signed: bool) -> f64 {
    let (base, modifier, factor) = component(block, x, y);
    // A factor of zero is an eighth.
    let change = modifier * if factor == 0 { 1 } else { 8 * factor };
    if signed {
        let base = (base as i8).max(-127) as i32;
        (8 * base + change).clamp(-1023, 1023) as f64 / 1023.0
    } else {
        (8 * base as i32 + 4 + change).clamp(0, 2047) as f64 / 2047.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification's examples: table 13 and index 3 are −10.
    #[test]
    fn examples_of_the_specification() {
        let block = |base: u64, factor: u64| base << 56 | factor << 52 | 13 << 48 | 3 << 42;
        assert_eq!(alpha(block(103, 2), 0, 1), 83);
        assert_eq!(eleven(block(103, 2), 0, 1, false), 668.0 / 2047.0);
        assert_eq!(eleven(block(103, 0), 0, 1, false), 818.0 / 2047.0);
        assert_eq!(eleven(block(60, 2), 0, 1, true), 320.0 / 1023.0);
        assert_eq!(eleven(block(60, 0), 0, 1, true), 470.0 / 1023.0);
        assert_eq!(eleven(block(0x80, 15), 0, 1, true), -1.0);
        assert_eq!(eleven(block(0x80, 0), 0, 0, true), -1017.0 / 1023.0, "−128 is −127");
    }
}
