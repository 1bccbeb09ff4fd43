//! NumPy's `.npy` files: a header that is kept as it is, and the data.

use super::number::Number;

/// What every file starts with.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// What a header says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// Where the data starts.
    pub start: usize,
    /// The type of elements, if it is one of ours.
    pub ty: Option<Number>,
    /// Elements in each dimension.
    pub shape: Vec<usize>,
    /// The first dimension runs fastest.
    pub fortran: bool,
}

impl Array {
    /// Reads the header of a file.
    pub fn read(file: &[u8]) -> Result<Array, String> {
        let major = file.get(6).copied().unwrap_or(0);
        let (length, at) = match (major, file.get(8..12)) {
            (1, Some(b)) => (u32::from(u16::from_le_bytes([b[0], b[1]])), 10),
            (2 | 3, Some(b)) => (u32::from_le_bytes([b[0], b[1], b[2], b[3]]), 12),
            _ => return Err(format!("a .npy file of version {major}, which is not known")),
        };
        let start = at + length as usize;
        let header = file.get(at..start).ok_or("the .npy header is cut off")?;
        let header = String::from_utf8_lossy(header);
        // `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`
        let after =
            |key: &str| header.split_once(&format!("'{key}':")).map_or("", |(_, rest)| rest.trim_start());
        let descr = after("descr").trim_start_matches(['\'', '"']).split(['\'', '"']).next().unwrap_or("");
        if descr.ends_with('O') {
            return Err("a .npy array of Python objects has no bytes to pass".into());
        }
        if descr.starts_with('>') && !descr.ends_with('1') {
            return Err(format!(
                "its numbers are big-endian (`{descr}`); save it with .astype('{}')",
                descr.replace('>', "<")
            ));
        }
        let size = descr.get(2..).and_then(|n| n.parse().ok()).unwrap_or(0);
        let ty = match (descr.as_bytes().get(1), size) {
            (Some(b'f'), 2 | 4 | 8) => Some(Number::Float(size)),
            (Some(b'i'), 1 | 2 | 4 | 8) => Some(Number::Int(size)),
            (Some(b'u'), 1 | 2 | 4 | 8) | (Some(b'b'), 1) => Some(Number::Uint(size)),
            _ => None,
        };
        let shape = after("shape").trim_start_matches('(').split(')').next().unwrap_or("");
        let shape = shape.split(',').filter_map(|n| n.trim().parse().ok()).collect();
        Ok(Array { start, ty, shape, fortran: after("fortran_order").starts_with("True") })
    }

    /// The place of an element, as NumPy writes it.
    pub fn index(&self, mut at: usize) -> String {
        if self.shape.len() < 2 {
            return at.to_string();
        }
        let mut places = vec![0; self.shape.len()];
        let mut step = |d: usize| {
            let n = self.shape[d].max(1);
            places[d] = at % n;
            at /= n;
        };
        if self.fortran {
            (0..self.shape.len()).for_each(&mut step)
        } else {
            (0..self.shape.len()).rev().for_each(&mut step)
        }
        places.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
    }
}

/// The header of an array.
pub fn header(ty: Number, shape: &[usize]) -> Vec<u8> {
    let kind = match ty {
        Number::Int(1) => "|i",
        Number::Uint(1) => "|u",
        Number::Int(_) => "<i",
        Number::Uint(_) => "<u",
        Number::Float(_) => "<f",
    };
    let shape: String = shape.iter().map(|n| format!("{n},")).collect();
    let mut text =
        format!("{{'descr': '{kind}{}', 'fortran_order': False, 'shape': ({shape}), }}", ty.size());
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
        let header = header(Number::Float(4), &[7]);
        assert_eq!(header.len() % 64, 0);
        let array = Array { start: header.len(), ty: Some(Number::Float(4)), shape: vec![7], fortran: false };
        assert_eq!(Array::read(&header), Ok(array));
        for cut in 6..header.len() {
            assert!(Array::read(&header[..cut]).is_err());
        }
    }

    #[test]
    fn places_in_matrices() {
        let array = |fortran| Array { start: 0, ty: None, shape: vec![2, 3], fortran };
        assert_eq!(array(false).index(4), "1,1");
        assert_eq!(array(true).index(4), "0,2");
    }

    #[test]
    fn what_cannot_be_passed_is_refused() {
        let with = |descr: &str| {
            let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}");
            let mut file = MAGIC.to_vec();
            file.extend([1, 0]);
            file.extend((text.len() as u16).to_le_bytes());
            file.extend(text.as_bytes());
            Array::read(&file)
        };
        assert!(with("|O").unwrap_err().contains("Python objects"));
        assert!(with(">f4").unwrap_err().contains(".astype('<f4')"));
        assert_eq!(with("<c8").map(|a| a.ty), Ok(None));
    }
}
