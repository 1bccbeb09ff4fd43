//! BC7 and BC6H: a mode per block, up to three subsets of its texels with a pair of ends each.
//!
//! After the BPTC section of the Khronos Data Format Specification. Bits are read from the lowest up; texels are numbered
//! along rows.

/// For two subsets, a bit per texel: its subset.
const TWO: [u16; 64] = [
    0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80, 0xe800, 0xffe8,
    0xff00, 0xfff0, 0xf000, 0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310, 0x3100, 0x8cce, 0x088c, 0x3110,
    0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c, 0xaaaa, 0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696,
    0xa55a, 0x73ce, 0x13c8, 0x324c, 0x3bdc, 0x6996, 0xc33c, 0x9966, 0x0660, 0x0272, 0x04e4, 0x4e40, 0x2720,
    0xc936, 0x936c, 0x39c6, 0x639c, 0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22,
];

/// For three subsets, two bits per texel.
const THREE: [u32; 64] = [
    0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8, 0xa5a50000, 0xa0a05050, 0x5555a0a0, 0x5a5a5050,
    0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090, 0x94949494, 0xa4a4a4a4, 0xa9a59450, 0x2a0a4250,
    0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0, 0xa8a85454, 0x6a6a4040, 0xa4a45000, 0x1a1a0500,
    0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400, 0xa08585a0, 0xaa821414, 0x50a4a450, 0x6a5a0200,
    0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424, 0x00aa5500, 0x24924924, 0x24499224, 0x50a50a50,
    0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0, 0x50a050a0, 0x69286928, 0x44aaaa44, 0x66666600,
    0xaa444444, 0x54a854a8, 0x95809580, 0x96969600, 0xa85454a8, 0x80959580, 0xaa141414, 0x96960000,
    0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000, 0x40804080, 0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254,
];

/// The texel of the second of two subsets whose index lacks its highest bit, which is zero. That of a first subset is
/// texel 0 always.
const ANCHOR_OF_TWO: [u8; 64] = [
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 2, 8, 2, 2, 8, 8, 15, 2, 8, 2, 2, 8,
    8, 2, 2, 15, 15, 6, 8, 2, 8, 15, 15, 2, 8, 2, 2, 2, 15, 15, 6, 6, 2, 6, 8, 15, 15, 2, 2, 15, 15, 15, 15,
    15, 2, 2, 15,
];

/// The same for the second and the third of three subsets.
const ANCHORS_OF_THREE: [[u8; 64]; 2] = [
    [
        3, 3, 15, 15, 8, 3, 15, 15, 8, 8, 6, 6, 6, 5, 3, 3, 3, 3, 8, 15, 3, 3, 6, 10, 5, 8, 8, 6, 8, 5, 15,
        15, 8, 15, 3, 5, 6, 10, 8, 15, 15, 3, 15, 5, 15, 15, 15, 15, 3, 15, 5, 5, 5, 8, 5, 10, 5, 10, 8, 13,
        15, 12, 3, 3,
    ],
    [
        15, 8, 8, 3, 15, 15, 3, 8, 15, 15, 15, 15, 15, 15, 15, 8, 15, 8, 15, 3, 15, 8, 15, 8, 3, 15, 6, 10,
        15, 15, 10, 8, 15, 3, 15, 10, 10, 8, 9, 10, 6, 15, 8, 15, 3, 6, 6, 8, 15, 3, 15, 15, 15, 15, 15, 15,
        15, 15, 15, 15, 3, 15, 15, 8,
    ],
];

/// How much of the second end an index stands for, in 64ths: indices of two, three and four bits.
const WEIGHTS: [&[u8]; 3] = [
    &[0, 21, 43, 64],
    &[0, 9, 18, 27, 37, 46, 55, 64],
    &[0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64],
];

/// A block's bits, lowest first.
struct Bits(u128);

impl Bits {
    fn take(&mut self, n: u8) -> u32 {
        let value = self.0 as u32 & ((1 << n) - 1);
        self.0 >>= n;
        value
    }
}

/// The subsets of a block.
#[derive(Clone, Copy)]
struct Partition {
    subsets: u8,
    number: usize,
}

impl Partition {
    fn subset(self, texel: u32) -> usize {
        match self.subsets {
            1 => 0,
            2 => (TWO[self.number] >> texel & 1) as usize,
            _ => (THREE[self.number] >> (2 * texel) & 3) as usize,
        }
    }

    fn anchors(self) -> [u8; 3] {
        match self.subsets {
            1 => [0; 3],
            2 => [0, ANCHOR_OF_TWO[self.number], 0],
            _ => [0, ANCHORS_OF_THREE[0][self.number], ANCHORS_OF_THREE[1][self.number]],
        }
    }

    /// Reads past sixteen indices of so many bits; gives the weight of a texel's.
    fn weight(self, bits: &mut Bits, width: u8, texel: u32) -> i32 {
        let anchors = &self.anchors()[..self.subsets as usize];
        let mut weight = 0;
        for i in 0..16 {
            let index = bits.take(width - anchors.contains(&i) as u8);
            if i as u32 == texel {
                weight = WEIGHTS[width as usize - 2][index as usize].into();
            }
        }
        weight
    }
}

fn between(a: i32, b: i32, weight: i32) -> i32 {
    (a * (64 - weight) + b * weight + 32) >> 6
}

/// A mode of BC7: how many subsets there are, and bits of each field in the order they come in.
struct Mode {
    subsets: u8,
    partition: u8,
    rotation: u8,
    selector: u8,
    color: u8,
    alpha: u8,
    /// A lowest bit for the components of each end, or one for those of both ends of a subset.
    end_bit: u8,
    subset_bit: u8,
    index: u8,
    second_index: u8,
}

const MODES: [Mode; 8] = [
    Mode::new([3, 4, 0, 0, 4, 0, 1, 0, 3, 0]),
    Mode::new([2, 6, 0, 0, 6, 0, 0, 1, 3, 0]),
    Mode::new([3, 6, 0, 0, 5, 0, 0, 0, 2, 0]),
    Mode::new([2, 6, 0, 0, 7, 0, 1, 0, 2, 0]),
    Mode::new([1, 0, 2, 1, 5, 6, 0, 0, 2, 3]),
    Mode::new([1, 0, 2, 0, 7, 8, 0, 0, 2, 2]),
    Mode::new([1, 0, 0, 0, 7, 7, 1, 0, 4, 0]),
    Mode::new([2, 6, 0, 0, 5, 5, 1, 0, 2, 0]),
];

impl Mode {
    const fn new(row: [u8; 10]) -> Mode {
        let [subsets, partition, rotation, selector, color, alpha, end_bit, subset_bit, index, second_index] =
            row;
        Mode {
            subsets,
            partition,
            rotation,
            selector,
            color,
            alpha,
            end_bit,
            subset_bit,
            index,
            second_index,
        }
    }
}

/// A texel of a BC7 block: red, green, blue and alpha. Blocks of no mode are zero.
pub(super) fn bc7(block: u128, texel: u32) -> [u8; 4] {
    let Some(mode) = MODES.get((block as u8).trailing_zeros() as usize) else { return [0; 4] };
    let mut bits = Bits(block >> (block.trailing_zeros() + 1));
    let partition = Partition { subsets: mode.subsets, number: bits.take(mode.partition) as usize };
    let rotation = bits.take(mode.rotation);
    let swaps_indices = bits.take(mode.selector) != 0;
    let count = 2 * mode.subsets as usize;
    let mut ends = [[0u32; 4]; 6];
    let widths = [mode.color, mode.color, mode.color, mode.alpha];
    for (component, width) in widths.into_iter().enumerate() {
        for end in &mut ends[..count] {
            end[component] = bits.take(width);
        }
    }
    let low = mode.end_bit | mode.subset_bit;
    let mut last = 0;
    for (i, end) in ends[..count].iter_mut().enumerate() {
        // The second end of a subset has the first one's bit if they share it.
        last = if mode.subset_bit != 0 && i % 2 == 1 { last } else { bits.take(low) };
        for (value, width) in end.iter_mut().zip(widths) {
            *value = match width {
                0 => 255,
                _ => {
                    // All bits from the highest down, and from the highest again where they end.
                    let width = (width + low) as u32;
                    let high = (*value << low | last) << (8 - width);
                    high | high >> width
                }
            };
        }
    }
    let subset = partition.subset(texel);
    let mut color = partition.weight(&mut bits, mode.index, texel);
    let mut alpha = color;
    if mode.second_index != 0 {
        alpha = partition.weight(&mut bits, mode.second_index, texel);
    }
    if swaps_indices {
        (color, alpha) = (alpha, color);
    }
    let [p, q] = [ends[2 * subset], ends[2 * subset + 1]];
    let mut out: [u8; 4] =
        std::array::from_fn(|i| between(p[i] as i32, q[i] as i32, if i == 3 { alpha } else { color }) as u8);
    if rotation != 0 {
        out.swap(3, rotation as usize - 1);
    }
    out
}

/// Bits of a BC6H block before its indices, without mode and partition: where each bit goes, 16 × variable + bit. The
/// variables are r0 g0 b0 r1 …; r0, g0 and b0 are the first end.
type Layout = [u8; 75];

const NOWHERE: u8 = 0xff;

/// A layout in the words of the specification: `r0[9:0]` are ten bits from bit 0 up, `r0[10:15]` six from bit 15 down.
const fn layout(text: &str) -> Layout {
    let text = text.as_bytes();
    let mut out = [NOWHERE; 75];
    let (mut at, mut i) = (0, 0);
    while i < text.len() {
        if text[i] == b' ' {
            i += 1;
            continue;
        }
        let component = match text[i] {
            b'r' => 0,
            b'g' => 1,
            _ => 2,
        };
        let variable = 3 * (text[i + 1] - b'0') + component;
        i += 3;
        let (mut numbers, mut n) = ([0; 2], 0);
        while text[i] != b']' {
            match text[i] {
                b':' => n = 1,
                digit => numbers[n] = 10 * numbers[n] + (digit - b'0'),
            }
            i += 1;
        }
        i += 1;
        let [last, mut bit] = if n == 1 { numbers } else { [numbers[0]; 2] };
        loop {
            out[at] = 16 * variable + bit;
            at += 1;
            if bit == last {
                break;
            }
            bit = if bit < last { bit + 1 } else { bit - 1 };
        }
    }
    out
}

/// A mode of BC6H.
struct FloatMode {
    /// The lowest bits of the block.
    mode: u8,
    /// Whether the other ends are differences from the first.
    transformed: bool,
    /// Bits of the first end.
    bits: u8,
    /// Bits of the components of the others.
    delta: [u8; 3],
    layout: Layout,
}

impl FloatMode {
    const fn new(mode: u8, transformed: bool, bits: u8, delta: [u8; 3], text: &str) -> FloatMode {
        FloatMode { mode, transformed, bits, delta, layout: layout(text) }
    }
}

/// Those with two subsets first.
static FLOAT_MODES: [FloatMode; 14] = [
    FloatMode::new(
        0,
        true,
        10,
        [5, 5, 5],
        "g2[4] b2[4] b3[4] r0[9:0] g0[9:0] b0[9:0] r1[4:0] g3[4] g2[3:0] g1[4:0] b3[0] g3[3:0] b1[4:0] b3[1] \
         b2[3:0] r2[4:0] b3[2] r3[4:0] b3[3]",
    ),
    FloatMode::new(
        1,
        true,
        7,
        [6, 6, 6],
        "g2[5] g3[4] g3[5] r0[6:0] b3[0] b3[1] b2[4] g0[6:0] b2[5] b3[2] g2[4] b0[6:0] b3[3] b3[5] b3[4] \
         r1[5:0] g2[3:0] g1[5:0] g3[3:0] b1[5:0] b2[3:0] r2[5:0] r3[5:0]",
    ),
    FloatMode::new(
        2,
        true,
        11,
        [5, 4, 4],
        "r0[9:0] g0[9:0] b0[9:0] r1[4:0] r0[10] g2[3:0] g1[3:0] g0[10] b3[0] g3[3:0] b1[3:0] b0[10] b3[1] \
         b2[3:0] r2[4:0] b3[2] r3[4:0] b3[3]",
    ),
    FloatMode::new(
        6,
        true,
        11,
        [4, 5, 4],
        "r0[9:0] g0[9:0] b0[9:0] r1[3:0] r0[10] g3[4] g2[3:0] g1[4:0] g0[10] g3[3:0] b1[3:0] b0[10] b3[1] \
         b2[3:0] r2[3:0] b3[0] b3[2] r3[3:0] g2[4] b3[3]",
    ),
    FloatMode::new(
        10,
        true,
        11,
        [4, 4, 5],
        "r0[9:0] g0[9:0] b0[9:0] r1[3:0] r0[10] b2[4] g2[3:0] g1[3:0] g0[10] b3[0] g3[3:0] b1[4:0] b0[10] \
         b2[3:0] r2[3:0] b3[1] b3[2] r3[3:0] b3[4] b3[3]",
    ),
    FloatMode::new(
        14,
        true,
        9,
        [5, 5, 5],
        "r0[8:0] b2[4] g0[8:0] g2[4] b0[8:0] b3[4] r1[4:0] g3[4] g2[3:0] g1[4:0] b3[0] g3[3:0] b1[4:0] b3[1] \
         b2[3:0] r2[4:0] b3[2] r3[4:0] b3[3]",
    ),
    FloatMode::new(
        18,
        true,
        8,
        [6, 5, 5],
        "r0[7:0] g3[4] b2[4] g0[7:0] b3[2] g2[4] b0[7:0] b3[3] b3[4] r1[5:0] g2[3:0] g1[4:0] b3[0] g3[3:0] \
         b1[4:0] b3[1] b2[3:0] r2[5:0] r3[5:0]",
    ),
    FloatMode::new(
        22,
        true,
        8,
        [5, 6, 5],
        "r0[7:0] b3[0] b2[4] g0[7:0] g2[5] g2[4] b0[7:0] g3[5] b3[4] r1[4:0] g3[4] g2[3:0] g1[5:0] g3[3:0] \
         b1[4:0] b3[1] b2[3:0] r2[4:0] b3[2] r3[4:0] b3[3]",
    ),
    FloatMode::new(
        26,
        true,
        8,
        [5, 5, 6],
        "r0[7:0] b3[1] b2[4] g0[7:0] b2[5] g2[4] b0[7:0] b3[5] b3[4] r1[4:0] g3[4] g2[3:0] g1[4:0] b3[0] \
         g3[3:0] b1[5:0] b2[3:0] r2[4:0] b3[2] r3[4:0] b3[3]",
    ),
    FloatMode::new(
        30,
        false,
        6,
        [6, 6, 6],
        "r0[5:0] g3[4] b3[0] b3[1] b2[4] g0[5:0] g2[5] b2[5] b3[2] g2[4] b0[5:0] g3[5] b3[3] b3[5] b3[4] \
         r1[5:0] g2[3:0] g1[5:0] g3[3:0] b1[5:0] b2[3:0] r2[5:0] r3[5:0]",
    ),
    FloatMode::new(3, false, 10, [10, 10, 10], "r0[9:0] g0[9:0] b0[9:0] r1[9:0] g1[9:0] b1[9:0]"),
    FloatMode::new(
        7,
        true,
        11,
        [9, 9, 9],
        "r0[9:0] g0[9:0] b0[9:0] r1[8:0] r0[10] g1[8:0] g0[10] b1[8:0] b0[10]",
    ),
    FloatMode::new(
        11,
        true,
        12,
        [8, 8, 8],
        "r0[9:0] g0[9:0] b0[9:0] r1[7:0] r0[10:11] g1[7:0] g0[10:11] b1[7:0] b0[10:11]",
    ),
    FloatMode::new(
        15,
        true,
        16,
        [4, 4, 4],
        "r0[9:0] g0[9:0] b0[9:0] r1[3:0] r0[10:15] g1[3:0] g0[10:15] b1[3:0] b0[10:15]",
    ),
];

/// Modes of [`FLOAT_MODES`] with two subsets.
const SPLIT: usize = 10;

fn sign_extend(value: i32, width: u8) -> i32 {
    value << (32 - width) >> (32 - width)
}

/// An end's component in the range that is interpolated.
fn unquantize(value: i32, width: u8, signed: bool) -> i32 {
    let spread = |x: i32| ((x << 15) + 0x4000) >> (width - 1);
    if !signed {
        return match value {
            _ if width >= 15 => value,
            0 => 0,
            x if x == (1 << width) - 1 => 0xffff,
            x => spread(x),
        };
    }
    let size = match value.abs() {
        _ if width >= 16 => return value,
        0 => 0,
        x if x >= (1 << (width - 1)) - 1 => 0x7fff,
        x => spread(x),
    };
    if value < 0 { -size } else { size }
}

/// A texel of a BC6H block: red, green and blue in half precision. Blocks of no mode are zero.
pub(super) fn bc6h(block: u128, texel: u32, signed: bool) -> [u16; 3] {
    let width = if block & 2 == 0 { 2 } else { 5 };
    let mut bits = Bits(block);
    let number = bits.take(width) as u8;
    let Some(which) = FLOAT_MODES.iter().position(|m| m.mode == number) else { return [0; 3] };
    let mode = &FLOAT_MODES[which];
    let mut ends = [[0i32; 3]; 4];
    for target in mode.layout.into_iter().take_while(|t| *t != NOWHERE) {
        let variable = target as usize / 16;
        ends[variable / 3][variable % 3] |= (bits.take(1) as i32) << (target % 16);
    }
    let split = which < SPLIT;
    let partition = Partition {
        subsets: if split { 2 } else { 1 },
        number: if split { bits.take(5) as usize } else { 0 },
    };
    if signed {
        ends[0] = ends[0].map(|c| sign_extend(c, mode.bits));
    }
    let first = ends[0];
    for end in &mut ends[1..] {
        for ((value, first), delta) in end.iter_mut().zip(first).zip(mode.delta) {
            if signed || mode.transformed {
                *value = sign_extend(*value, delta);
            }
            if mode.transformed {
                *value = (first + *value) & ((1 << mode.bits) - 1);
                if signed {
                    *value = sign_extend(*value, mode.bits);
                }
            }
        }
    }
    let subset = partition.subset(texel);
    let weight = partition.weight(&mut bits, if split { 3 } else { 4 }, texel);
    std::array::from_fn(|c| {
        let [p, q] = [ends[2 * subset][c], ends[2 * subset + 1][c]];
        let value = between(unquantize(p, mode.bits, signed), unquantize(q, mode.bits, signed), weight);
        if !signed {
            return ((value * 31) >> 6) as u16;
        }
        // What becomes zero here has no sign in Direct3D's definition; Khronos' keeps it.
        let size = ((value.abs() * 31) >> 5) as u16;
        if value < 0 && size != 0 { size | 0x8000 } else { size }
    })
}
