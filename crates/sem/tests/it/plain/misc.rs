//! Byte and pixel arithmetic, permutes, dot products, cube maps: a lane at a time.

/// The absolute difference of unsigned numbers.
const fn absdiff(a: u32, b: u32) -> u32 {
    a.abs_diff(b)
}
/// An accumulator with CLAMP.
const fn acc(sum: u32, c: u32, clamp: bool) -> u32 {
    if clamp { c.saturating_add(sum) } else { c.wrapping_add(sum) }
}
fn bytes(a: u32, b: u32) -> u32 {
    a.to_le_bytes().iter().zip(b.to_le_bytes()).map(|(&x, y)| absdiff(x as u32, y as u32)).sum()
}
/// V_SAD_U8.
pub fn sad_u8(a: u32, b: u32, c: u32, clamp: bool) -> u32 {
    acc(bytes(a, b), c, clamp)
}
/// V_SAD_HI_U8.
pub fn sad_hi_u8(a: u32, b: u32, c: u32, clamp: bool) -> u32 {
    acc(bytes(a, b) << 16, c, clamp)
}
/// V_SAD_U16.
pub fn sad_u16(a: u32, b: u32, c: u32, clamp: bool) -> u32 {
    acc(absdiff(a & 0xffff, b & 0xffff) + absdiff(a >> 16, b >> 16), c, clamp)
}
/// V_SAD_U32.
pub fn sad_u32(a: u32, b: u32, c: u32, clamp: bool) -> u32 {
    acc(absdiff(a, b), c, clamp)
}
fn masked(a: u32, b: u32) -> u32 {
    let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    pairs.filter(|&(_, y)| y != 0).map(|(x, y)| absdiff(x as u32, y as u32)).sum()
}
/// V_MSAD_U8: reference bytes of zero do not count.
pub fn msad_u8(a: u32, b: u32, c: u32, clamp: bool) -> u32 {
    acc(masked(a, b), c, clamp)
}
/// V_QSAD_PK_U16_U8 and V_MQSAD_PK_U16_U8: four windows, 16-bit sums.
pub fn qsad_pk(a: u64, b: u32, c: u64, mask: bool, clamp: bool) -> u64 {
    (0..4).fold(0, |d, i| {
        let window = (a >> (8 * i)) as u32;
        let sad = if mask { masked(window, b) } else { bytes(window, b) };
        let sum = (c >> (16 * i) & 0xffff) as u32 + sad;
        let sum = if clamp { sum.min(0xffff) } else { sum & 0xffff };
        d | (sum as u64) << (16 * i)
    })
}
/// V_LERP_U8: byte averages; bit 0 of each byte of `c` rounds up.
pub fn lerp_u8(a: u32, b: u32, c: u32) -> u32 {
    (0..4).fold(0, |d, i| {
        let byte = |x: u32| x >> (8 * i) & 0xff;
        d | (byte(a) + byte(b) + (byte(c) & 1)) >> 1 << (8 * i)
    })
}
/// V_PERM_B32: bytes of {a, b} by selector. Selectors 8 to 11 are sign bytes, 12 is 0, above is 0xff.
pub fn perm(a: u32, b: u32, selectors: u32) -> u32 {
    let source = (a as u64) << 32 | b as u64;
    (0..4).fold(0, |d, i| {
        let selector = selectors >> (8 * i) & 0xff;
        let byte = |n: u32| (source >> (8 * n)) as u8;
        let sign = |n: u32| if byte(n) & 0x80 != 0 { 0xff } else { 0 };
        let value = match selector {
            0..=7 => byte(selector),
            8 => sign(1),
            9 => sign(3),
            10 => sign(5),
            11 => sign(7),
            12 => 0,
            _ => 0xff,
        };
        d | (value as u32) << (8 * i)
    })
}
/// V_FFBH_U32.
pub fn ffbh_u32(a: u32) -> u32 {
    if a == 0 { !0 } else { a.leading_zeros() }
}
/// V_FFBL_B32.
pub fn ffbl(a: u32) -> u32 {
    if a == 0 { !0 } else { a.trailing_zeros() }
}
/// V_FFBH_I32: how many bits from the top equal the sign; -1 when all do.
pub fn ffbh_i32(a: u32) -> u32 {
    let x = if (a as i32) < 0 { !a } else { a };
    if x == 0 { !0 } else { x.leading_zeros() }
}

/// The major axis of a cube map vector: 0 x, 1 y, 2 z.
fn major(x: u32, y: u32, z: u32) -> u8 {
    let a = |v: u32| f32::from_bits(v).abs();
    if a(z) >= a(x) && a(z) >= a(y) {
        2
    } else if a(y) >= a(x) {
        1
    } else {
        0
    }
}
fn negative(v: u32) -> bool {
    f32::from_bits(v) < 0.0
}
/// V_CUBEID_F32.
pub fn cube_id(x: u32, y: u32, z: u32) -> u32 {
    let (axis, v) = match major(x, y, z) {
        2 => (4.0f32, z),
        1 => (2.0, y),
        _ => (0.0, x),
    };
    (axis + if negative(v) { 1.0 } else { 0.0 }).to_bits()
}
/// V_CUBESC_F32.
pub fn cube_sc(x: u32, y: u32, z: u32) -> u32 {
    let neg = |v: u32| v ^ 0x8000_0000;
    match major(x, y, z) {
        2 if negative(z) => neg(x),
        2 | 1 => x,
        _ if negative(x) => z,
        _ => neg(z),
    }
}
/// V_CUBETC_F32.
pub fn cube_tc(x: u32, y: u32, z: u32) -> u32 {
    let neg = |v: u32| v ^ 0x8000_0000;
    match major(x, y, z) {
        1 if negative(y) => neg(z),
        1 => z,
        _ => neg(y),
    }
}
/// What V_MULLIT_F32 (GFX6, GFX7) gives instead of its product: the lowest number unless the factor and the condition
/// are fit (AMD's later manuals).
pub fn mullit_fails(factor: u32, condition: u32) -> bool {
    let (b, c) = (f32::from_bits(factor), f32::from_bits(condition));
    b.is_nan() || b <= f32::MIN || c.is_nan() || c <= 0.0
}

/// V_SCREEN_PARTITION_4SE_B32's table (manual 12.8), a hexadecimal digit per entry.
const PARTITION: &[u8; 256] =
    b"137f5fff7ffffffff26efafffbffffffdf4cff5fffdfffff9bf8fffafffeffffffff4cdf6fffeffffffff89bf99ffdffffff7f13ff9fffbfffff6ef26ff6fff7bfffffff23bfaffff7fffffff19df5ffffefffffef8cffaffffdffff67f4fff59fffdfffffff8ceff66ffefffffff467ff6fff7fffffbf239ff9fffbffff9df1";
/// V_SCREEN_PARTITION_4SE_B32.
pub fn screen_partition(a: u32) -> u32 {
    PARTITION.get((a & 0xff) as usize).and_then(|&d| (d as char).to_digit(16)).unwrap_or(0)
}
/// Sum of products of `8`, `4` or `16`-bit fields and an accumulator; `clamp` saturates the end result.
pub fn dot_i(a: u32, b: u32, c: u32, bits: u32, clamp: bool) -> u32 {
    let mut sum = c as i32 as i64;
    for i in (0..32).step_by(bits as usize) {
        let field = |x: u32| ((x >> i << (32 - bits)) as i32 >> (32 - bits)) as i64;
        sum += field(a) * field(b);
    }
    if clamp { sum.clamp(i32::MIN as i64, i32::MAX as i64) as u32 } else { sum as u32 }
}
/// The unsigned sum of products.
pub fn dot_u(a: u32, b: u32, c: u32, bits: u32, clamp: bool) -> u32 {
    let mut sum = c as u64;
    let mask = (1u64 << bits) - 1;
    for i in (0..32).step_by(bits as usize) {
        sum += ((a >> i) as u64 & mask) * ((b >> i) as u64 & mask);
    }
    if clamp { sum.min(u32::MAX as u64) as u32 } else { sum as u32 }
}

/// V_SAT_PK_U8_I16: each signed half to an unsigned byte.
pub fn sat_pk_u8(a: u32) -> u32 {
    let sat = |h: u32| (h as u16 as i16).clamp(0, 255) as u32;
    sat(a) | sat(a >> 16) << 8
}
