//! Numbers as they are written: in decimal, as LEB128.

/// Appends a number in decimal.
pub fn write_int(value: i64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a LEB128 number.
pub(crate) fn write_leb128(value: i64, signed: bool, out: &mut Vec<u8>) {
    let mut rest = value;
    loop {
        let byte = rest as u8 & 0x7f;
        rest = if signed { rest >> 7 } else { (rest as u64 >> 7) as i64 };
        let done = if signed {
            (rest == 0 && byte & 0x40 == 0) || (rest == -1 && byte & 0x40 != 0)
        } else {
            rest == 0
        };
        out.push(if done { byte } else { byte | 0x80 });
        if done {
            return;
        }
    }
}
