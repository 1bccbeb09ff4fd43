//! SHA-256 (FIPS 180-4). What is kept is found by it, so that nobody can write a source that is taken for another's.

/// A digest.
pub type Digest = [u8; 32];

const fn fraction(n: u64, cube: bool) -> u32 {
    // The first 32 bits behind the point of a root, by bisection on integers of enough digits.
    let (mut low, mut high) = (0_u128, 1_u128 << 40);
    while high - low > 1 {
        let middle = (low + high) / 2;
        // Numbers have 32 bits behind the point, powers of them 64 or 96.
        let small = if cube {
            // 19 × 2³² cubed is too much for one product of 128 bits.
            let square = middle * middle;
            (square >> 32) * middle + (((square & 0xffff_ffff) * middle) >> 32) < (n as u128) << 64
        } else {
            middle * middle < (n as u128) << 64
        };
        if small {
            low = middle;
        } else {
            high = middle;
        }
    }
    low as u32
}

/// What the standard begins with, and adds in each round: the roots of the first primes.
const fn roots<const N: usize>(cube: bool) -> [u32; N] {
    let mut all = [0; N];
    let (mut found, mut n) = (0, 2);
    while found < N {
        let mut factor = 2;
        while n % factor != 0 {
            factor += 1;
        }
        if factor == n {
            all[found] = fraction(n, cube);
            found += 1;
        }
        n += 1;
    }
    all
}

const START: [u32; 8] = roots(false);
const ROUNDS: [u32; 64] = roots(true);

fn block(state: &mut [u32; 8], bytes: &[u8; 64]) {
    let mut w = [0_u32; 64];
    for (word, four) in w.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*four);
    }
    for i in 16..64 {
        let (x, y) = (w[i - 15], w[i - 2]);
        let x = x.rotate_right(7) ^ x.rotate_right(18) ^ x >> 3;
        let y = y.rotate_right(17) ^ y.rotate_right(19) ^ y >> 10;
        w[i] = w[i - 16].wrapping_add(x).wrapping_add(w[i - 7]).wrapping_add(y);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for i in 0..64 {
        let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = e & f ^ !e & g;
        let first = h.wrapping_add(sum).wrapping_add(choice).wrapping_add(ROUNDS[i]).wrapping_add(w[i]);
        let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = a & b ^ a & c ^ b & c;
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(sum).wrapping_add(majority));
    }
    for (old, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *old = old.wrapping_add(new);
    }
}

/// The digest of some bytes.
pub fn digest(bytes: &[u8]) -> Digest {
    let mut state = START;
    let (blocks, rest) = bytes.as_chunks::<64>();
    blocks.iter().for_each(|b| block(&mut state, b));
    let mut last = [0; 128];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    let end = if rest.len() < 56 { 64 } else { 128 };
    last[end - 8..end].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    last[..end].as_chunks::<64>().0.iter().for_each(|b| block(&mut state, b));
    let mut digest = [0; 32];
    for (four, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *four = word.to_be_bytes();
    }
    digest
}

/// A digest as text.
pub fn text(digest: &Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{digest, text};

    /// What coreutils' sha256sum says.
    #[test]
    fn digests_are_those_of_other_tools() {
        let of = |bytes: &[u8]| text(&digest(bytes));
        assert_eq!(of(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(of(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(of(&[b'a'; 55]), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
        assert_eq!(of(&[b'a'; 64]), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
        assert_eq!(of(&[b'a'; 1000]), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
    }
}
