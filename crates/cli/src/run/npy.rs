//! NumPy's `.npy` files: a header that is kept as it is, and the data.

/// What every file starts with.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// Where the data starts.
pub fn data_offset(file: &[u8]) -> Result<usize, String> {
    let major = file.get(6).copied().unwrap_or(0);
    let (length, at) = match (major, file.get(8..12)) {
        (1, Some(b)) => (u32::from(u16::from_le_bytes([b[0], b[1]])), 10),
        (2 | 3, Some(b)) => (u32::from_le_bytes([b[0], b[1], b[2], b[3]]), 12),
        _ => return Err(format!("a .npy file of version {major}, which is not known")),
    };
    let end = at + length as usize;
    let header = file.get(at..end).ok_or("the .npy header is cut off")?;
    if header.windows(3).any(|w| w == b"'O'" || w == b"|O'") {
        return Err("a .npy array of Python objects has no bytes to pass".into());
    }
    Ok(end)
}

/// The header of a one-dimensional array of bytes.
pub fn header_of_bytes(count: u64) -> Vec<u8> {
    let mut text = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({count},), }}");
    // Magic, version, length and header take a multiple of 64 bytes together.
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&[1, 0]);
    header.extend_from_slice(&(text.len() as u16).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_found() {
        let header = header_of_bytes(7);
        assert_eq!(header.len() % 64, 0);
        assert_eq!(data_offset(&header), Ok(header.len()));
        for cut in 6..header.len() {
            assert!(data_offset(&header[..cut]).is_err());
        }
    }
}
