//! `--build-id`: a note that tells builds apart, made of the output's own bytes.

/// What the note holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuildId {
    /// The SHA-1 of everything else.
    Sha1,
    /// The first eight bytes of that.
    Fast,
    /// Bytes that the user has chosen.
    Given(Vec<u8>),
}

/// Owner `GNU`, type NT_GNU_BUILD_ID.
const HEADER: usize = 16;

impl BuildId {
    /// Reads what ld.lld takes behind `--build-id=`; `none` is nothing.
    pub fn parse(text: &str) -> Result<Option<BuildId>, String> {
        Ok(Some(match text {
            "" | "sha1" | "tree" => BuildId::Sha1,
            "fast" => BuildId::Fast,
            "none" => return Ok(None),
            _ => {
                let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
                let pair = |p: &[u8]| u8::from_str_radix(std::str::from_utf8(p).ok()?, 16).ok();
                let bytes = digits.filter(|d| d.len().is_multiple_of(2) && !d.is_empty());
                let bytes = bytes.and_then(|d| d.as_bytes().chunks(2).map(pair).collect::<Option<Vec<u8>>>());
                let wanted = "sha1, fast, none or 0x with pairs of hexadecimal digits";
                BuildId::Given(bytes.ok_or_else(|| format!("`{text}`: {wanted} is wanted"))?)
            }
        }))
    }

    /// Bytes of the note.
    pub(super) fn size(&self) -> u64 {
        (HEADER + self.len()) as u64
    }

    fn len(&self) -> usize {
        match self {
            BuildId::Sha1 => 20,
            BuildId::Fast => 8,
            BuildId::Given(bytes) => bytes.len(),
        }
    }

    /// Fills the note in, which is at an offset of the output and zero so far.
    pub(super) fn fill(&self, out: &mut [u8], offset: usize) {
        let len = self.len();
        let mut note = Vec::with_capacity(HEADER + len);
        for word in [4, len as u32, 3] {
            note.extend(word.to_le_bytes());
        }
        note.extend(b"GNU\0");
        out[offset..][..HEADER].copy_from_slice(&note);
        let id = match self {
            BuildId::Given(bytes) => bytes.clone(),
            _ => sha1(out)[..len].to_vec(),
        };
        out[offset + HEADER..][..len].copy_from_slice(&id);
    }
}

/// SHA-1 (FIPS 180-4, 6.1).
fn sha1(bytes: &[u8]) -> [u8; 20] {
    let mut state = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    // Eight bytes at the end of the last block are the length.
    padded.resize((padded.len() + 8).next_multiple_of(64), 0);
    let end = padded.len() - 8;
    padded[end..].copy_from_slice(&(8 * bytes.len() as u64).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut w = [0u32; 80];
        for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
            *word = bytes.iter().fold(0, |n, b| n << 8 | u32::from(*b));
        }
        for t in 16..80 {
            w[t] = (w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16]).rotate_left(1);
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (t, word) in w.iter().enumerate() {
            let (f, k) = match t {
                0..20 => (b & c | !b & d, 0x5a82_7999),
                20..40 => (b ^ c ^ d, 0x6ed9_eba1),
                40..60 => (b & c | b & d | c & d, 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6),
            };
            let next = a.rotate_left(5).wrapping_add(f).wrapping_add(e).wrapping_add(k).wrapping_add(*word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        }
        for (s, v) in state.iter_mut().zip([a, b, c, d, e]) {
            *s = s.wrapping_add(v);
        }
    }
    let mut out = [0; 20];
    for (o, s) in out.chunks_exact_mut(4).zip(state) {
        o.copy_from_slice(&s.to_be_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples of FIPS 180 and RFC 3174, and lengths around the end of a block (from sha1sum).
    #[test]
    fn hashes_are_those_of_the_standard() {
        let hex = |bytes: &[u8]| sha1(bytes).iter().map(|b| format!("{b:02x}")).collect::<String>();
        assert_eq!(hex(b""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(hex(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(hex(long), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
        assert_eq!(hex(&[b'a'; 55]), "c1c8bbdc22796e28c0e15163d20899b65621d65a");
        assert_eq!(hex(&[b'a'; 63]), "03f09f5b158a7a8cdad920bddc29b81c18a551f5");
        assert_eq!(hex(&[b'a'; 64]), "0098ba824b5c16427bd7a1122a5a442a25ec644d");
    }

    #[test]
    fn texts_are_read() {
        assert_eq!(BuildId::parse("none"), Ok(None));
        assert_eq!(BuildId::parse("0x12aB"), Ok(Some(BuildId::Given(vec![0x12, 0xab]))));
        for wrong in ["md5", "0x1", "0x", "0xzz"] {
            assert!(BuildId::parse(wrong).unwrap_err().contains("sha1, fast, none or 0x"), "{wrong}");
        }
    }
}
