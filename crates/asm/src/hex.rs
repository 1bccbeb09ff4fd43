//! The two hexadecimal digits of every byte, as tables: listings print little else.

const fn table(digits: &[u8; 16]) -> [[u8; 2]; 256] {
    let mut table = [[0; 2]; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = [digits[i >> 4], digits[i & 15]];
        i += 1;
    }
    table
}

/// In lower case.
pub(crate) static LOWER: [[u8; 2]; 256] = table(b"0123456789abcdef");

/// In upper case.
pub(crate) static UPPER: [[u8; 2]; 256] = table(b"0123456789ABCDEF");
