//! XXH3 with 64 bits of result: ld.lld sorts merged pieces by it, and who compares two links wants one order.

const PRIME32_1: u64 = 0x9e37_79b1;
const PRIME32_2: u64 = 0x85eb_ca77;
const PRIME32_3: u64 = 0xc2b2_ae3d;
const PRIME64_1: u64 = 0x9e37_79b1_85eb_ca87;
const PRIME64_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME64_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME64_4: u64 = 0x85eb_ca77_c2b2_ae63;
const PRIME64_5: u64 = 0x27d4_eb2f_1656_67c5;
const MIX_1: u64 = 0x1656_6791_9e37_79f9;
const MIX_2: u64 = 0x9fb2_1c65_1e98_df25;

/// The constant that data is mixed with.
const SECRET: [u8; 192] = [
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde,
    0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79,
    0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46,
    0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb,
    0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2,
    0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c,
    0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59,
    0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3,
    0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb, 0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3,
    0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8,
    0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb,
    0xca, 0xbb, 0x4b, 0x40, 0x7e,
];
const STRIPE: usize = 64;

fn u32_at(data: &[u8], at: usize) -> u64 {
    data.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes).into()
}

fn u64_at(data: &[u8], at: usize) -> u64 {
    data.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

fn secret(at: usize) -> u64 {
    u64_at(&SECRET, at)
}

/// The two halves of a product, folded.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

fn avalanche(h: u64) -> u64 {
    let h = (h ^ h >> 37).wrapping_mul(MIX_1);
    h ^ h >> 32
}

/// The older finish, for the shortest data.
fn finish(h: u64) -> u64 {
    let h = (h ^ h >> 33).wrapping_mul(PRIME64_2);
    let h = (h ^ h >> 29).wrapping_mul(PRIME64_3);
    h ^ h >> 32
}

/// Sixteen bytes of data against sixteen of the secret.
fn mix(data: &[u8], at: usize, secret_at: usize) -> u64 {
    fold(u64_at(data, at) ^ secret(secret_at), u64_at(data, at + 8) ^ secret(secret_at + 8))
}

/// The hash of some bytes.
pub(super) fn xxh3(data: &[u8]) -> u64 {
    let n = data.len();
    match n {
        0 => finish(secret(56) ^ secret(64)),
        1..=3 => {
            let (first, middle, last) = (data[0] as u64, data[n / 2] as u64, data[n - 1] as u64);
            let word = first << 16 | middle << 24 | last | (n as u64) << 8;
            finish(word ^ u32_at(&SECRET, 0) ^ u32_at(&SECRET, 4))
        }
        4..=8 => {
            let word = u32_at(data, n - 4) | u32_at(data, 0) << 32;
            let h = word ^ secret(8) ^ secret(16);
            let h = (h ^ h.rotate_left(49) ^ h.rotate_left(24)).wrapping_mul(MIX_2);
            let h = (h ^ (h >> 35).wrapping_add(n as u64)).wrapping_mul(MIX_2);
            h ^ h >> 28
        }
        9..=16 => {
            let low = u64_at(data, 0) ^ secret(24) ^ secret(32);
            let high = u64_at(data, n - 8) ^ secret(40) ^ secret(48);
            let sum = (n as u64).wrapping_add(low.swap_bytes()).wrapping_add(high);
            avalanche(sum.wrapping_add(fold(low, high)))
        }
        17..=128 => {
            let mut sum = (n as u64).wrapping_mul(PRIME64_1);
            for i in (0..=(n - 1) / 32).rev() {
                sum = sum.wrapping_add(mix(data, 16 * i, 32 * i));
                sum = sum.wrapping_add(mix(data, n - 16 * (i + 1), 32 * i + 16));
            }
            avalanche(sum)
        }
        129..=240 => {
            let mut sum = (n as u64).wrapping_mul(PRIME64_1);
            for i in 0..8 {
                sum = sum.wrapping_add(mix(data, 16 * i, 16 * i));
            }
            sum = avalanche(sum);
            for i in 8..n / 16 {
                sum = sum.wrapping_add(mix(data, 16 * i, 16 * (i - 8) + 3));
            }
            avalanche(sum.wrapping_add(mix(data, n - 16, 136 - 17)))
        }
        _ => long(data),
    }
}

/// Eight sums run side by side over stripes of 64 bytes.
fn long(data: &[u8]) -> u64 {
    let mut sums = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1];
    let take = |sums: &mut [u64; 8], stripe: &[u8], secret_at: usize| {
        for i in 0..8 {
            let word = u64_at(stripe, 8 * i);
            let keyed = word ^ secret(secret_at + 8 * i);
            sums[i ^ 1] = sums[i ^ 1].wrapping_add(word);
            sums[i] = sums[i].wrapping_add((keyed & 0xffff_ffff).wrapping_mul(keyed >> 32));
        }
    };
    // A block has as many stripes as the secret has places to start at.
    let stripes = (SECRET.len() - STRIPE) / 8;
    let block = STRIPE * stripes;
    let blocks = (data.len() - 1) / block;
    for chunk in data.chunks_exact(block).take(blocks) {
        for (i, stripe) in chunk.chunks_exact(STRIPE).enumerate() {
            take(&mut sums, stripe, 8 * i);
        }
        for (i, sum) in sums.iter_mut().enumerate() {
            let mixed = *sum ^ *sum >> 47 ^ secret(SECRET.len() - STRIPE + 8 * i);
            *sum = mixed.wrapping_mul(PRIME32_1);
        }
    }
    let rest = &data[block * blocks..];
    for (i, stripe) in rest.chunks_exact(STRIPE).take((rest.len() - 1) / STRIPE).enumerate() {
        take(&mut sums, stripe, 8 * i);
    }
    take(&mut sums, &data[data.len() - STRIPE..], SECRET.len() - STRIPE - 7);
    let mut sum = (data.len() as u64).wrapping_mul(PRIME64_1);
    for i in 0..4 {
        sum =
            sum.wrapping_add(fold(sums[2 * i] ^ secret(11 + 16 * i), sums[2 * i + 1] ^ secret(19 + 16 * i)));
    }
    avalanche(sum)
}

#[cfg(test)]
mod tests {
    use super::xxh3;

    /// What the reference implementation (xxHash 0.8) makes of the bytes 0, 7, 14, …
    #[test]
    fn hashes_are_those_of_the_reference() {
        let expected: [(usize, u64); 36] = [
            (0, 0x2d06800538d394c2),
            (1, 0xc44bdff4074eecdb),
            (2, 0x9093381c8763d62e),
            (3, 0xc3489259e968ad9e),
            (4, 0xd3d60c1519014e89),
            (7, 0x0ffc4827844c63a6),
            (8, 0xb88dee77f6bf6980),
            (9, 0x03688dcad730d826),
            (15, 0x2e52bc81c6a30fa3),
            (16, 0x9da23836adf2be1e),
            (17, 0xf34c3c9cf5a112d1),
            (31, 0x1c67766271b95c64),
            (32, 0x99cb9ad0f1a11fbe),
            (33, 0xc077b45492d29cde),
            (64, 0x6efb76ff16f37561),
            (65, 0x2640848e9137156b),
            (96, 0x764d2d5db92942df),
            (97, 0x077acb7e5f4fd940),
            (128, 0x65f3c2c00fa93185),
            (129, 0x28065c6ec25f5b25),
            (130, 0xefd194879b822f04),
            (144, 0x600e8d345ff9620d),
            (160, 0xcc592da68fea2254),
            (239, 0x6ce0b13191e635ea),
            (240, 0x4917a75c0ef8eed7),
            (241, 0x541b19226f0052e8),
            (255, 0x99b37c2c806e33d3),
            (256, 0xff5a1cefade75bb9),
            (257, 0x5c4bed20b0d2243a),
            (512, 0xf6fe51471f2fa1ec),
            (1023, 0x2cc3eb48d98f537f),
            (1024, 0xdc5acf0b043c445b),
            (1025, 0xe1d9cd946277ae26),
            (2048, 0x848d24cc268f7498),
            (2049, 0xc757a52bb931999d),
            (5000, 0x6abe8be5abcb2760),
        ];
        for (length, hash) in expected {
            let data: Vec<u8> = (0..length).map(|i| (7 * i) as u8).collect();
            assert_eq!(xxh3(&data), hash, "{length} bytes");
        }
    }
}
