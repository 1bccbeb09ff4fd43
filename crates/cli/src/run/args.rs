//! `--arg KIND:VALUE`.

use super::npy;
use std::path::Path;
use wavemill_device::kernarg::Value;
use wavemill_device::{Device, Region, Use};
use wavemill_sem::soft::{self, Round};

/// A number's type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// Signed, of so many bytes.
    Int(usize),
    /// Unsigned, of so many bytes.
    Uint(usize),
    /// Floating point, of so many bytes.
    Float(usize),
}

/// Names of number types.
pub const NUMBERS: [(&str, Number); 11] = [
    ("i8", Number::Int(1)),
    ("u8", Number::Uint(1)),
    ("i16", Number::Int(2)),
    ("u16", Number::Uint(2)),
    ("i32", Number::Int(4)),
    ("u32", Number::Uint(4)),
    ("i64", Number::Int(8)),
    ("u64", Number::Uint(8)),
    ("f16", Number::Float(2)),
    ("f32", Number::Float(4)),
    ("f64", Number::Float(8)),
];

impl Number {
    /// The type of a name.
    pub fn named(name: &str) -> Option<Number> {
        NUMBERS.iter().find(|(n, _)| *n == name).map(|(_, t)| *t)
    }

    /// Its size in bytes.
    pub fn size(self) -> usize {
        match self {
            Number::Int(n) | Number::Uint(n) | Number::Float(n) => n,
        }
    }

    /// The bytes of a number written as text: decimal, `0x…`, or for floats `1.5e3`, `inf`, `nan`.
    fn bytes(self, text: &str) -> Result<Vec<u8>, String> {
        let wrong = || format!("`{text}` is not a number");
        let size = self.size();
        if let Number::Float(_) = self {
            let value: f64 = text.parse().map_err(|_| wrong())?;
            return Ok(match size {
                2 => half_from_f64(value).to_le_bytes().to_vec(),
                4 => (value as f32).to_le_bytes().to_vec(),
                _ => value.to_le_bytes().to_vec(),
            });
        }
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        let magnitude = match hex {
            Some(h) => u64::from_str_radix(h, 16),
            None => digits.parse::<u64>(),
        };
        let magnitude = i128::from(magnitude.map_err(|_| wrong())?);
        let value = if negative { -magnitude } else { magnitude };
        let bits = 8 * size as u32;
        // Bit patterns in hexadecimal are as welcome in signed types.
        let (low, high) = match self {
            Number::Int(_) if hex.is_none() => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            Number::Int(_) => (-(1i128 << (bits - 1)), (1i128 << bits) - 1),
            _ => (0, (1i128 << bits) - 1),
        };
        if !(low..=high).contains(&value) {
            return Err(format!("{text} is not within {low} to {high}"));
        }
        Ok(value.to_le_bytes()[..size].to_vec())
    }

    /// An element as text.
    pub fn text(self, bytes: &[u8]) -> String {
        let mut wide = [0u8; 8];
        wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
        let bits = u64::from_le_bytes(wide);
        match self {
            Number::Uint(_) => bits.to_string(),
            Number::Int(n) => {
                let shift = 64 - 8 * n as u32;
                (((bits << shift) as i64) >> shift).to_string()
            }
            Number::Float(_) => self.value(bytes).to_string(),
        }
    }

    /// An element as a number, for pictures.
    pub fn value(self, bytes: &[u8]) -> f64 {
        match self {
            Number::Float(2) => f64_from_half(u16::from_le_bytes(bytes.try_into().unwrap_or_default())),
            Number::Float(4) => f32::from_le_bytes(bytes.try_into().unwrap_or_default()).into(),
            Number::Float(_) => f64::from_le_bytes(bytes.try_into().unwrap_or_default()),
            _ => self.text(bytes).parse().unwrap_or(0.0),
        }
    }
}

/// Rounds to the nearest f16, ties to even.
fn half_from_f64(value: f64) -> u16 {
    soft::convert(soft::F64, soft::F16, value.to_bits(), Round::Nearest) as u16
}

fn f64_from_half(half: u16) -> f64 {
    f64::from_bits(soft::convert(soft::F16, soft::F64, half.into(), Round::Nearest))
}

/// What was asked for.
#[derive(Clone, Debug)]
pub enum ArgSpec {
    /// A file's bytes; with the header when it is a .npy array.
    File {
        /// The data.
        data: Vec<u8>,
        /// Bytes in front of it in the file.
        header: Option<Vec<u8>>,
    },
    /// Zeros.
    Zeros(u64),
    /// Bytes passed by value.
    Bytes(Vec<u8>),
    /// Local memory.
    Local(u32),
}

/// A buffer of an argument.
pub struct Buffer {
    /// Its memory.
    pub region: Region,
    header: Option<Vec<u8>>,
}

impl Buffer {
    /// Writes it to a file.
    pub fn dump(&self, path: &Path) -> std::io::Result<()> {
        let mut bytes = match &self.header {
            Some(header) => header.clone(),
            None if path.extension().is_some_and(|e| e == "npy") => npy::header_of_bytes(self.region.len()),
            None => Vec::new(),
        };
        bytes.extend_from_slice(&self.region.to_vec());
        std::fs::write(path, bytes)
    }
}

/// `4096`, `64k`, `16M`, `1G`.
fn size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let n: Option<u64> = digits.parse().ok();
    n.and_then(|n| n.checked_mul(1 << shift)).ok_or_else(|| format!("`{text}` is not a number of bytes"))
}

impl ArgSpec {
    /// Reads `KIND:VALUE`, and the file of a `buf:`.
    pub fn parse(text: &str) -> Result<ArgSpec, String> {
        let (kind, value) =
            text.split_once(':').ok_or("KIND:VALUE is wanted, such as i32:7 or zeros:4096")?;
        if let Some(number) = Number::named(kind) {
            let parts = value.split(',').map(|v| number.bytes(v.trim())).collect::<Result<Vec<_>, _>>()?;
            return Ok(ArgSpec::Bytes(parts.concat()));
        }
        match kind {
            "buf" => {
                let data = std::fs::read(value).map_err(|e| format!("{value}: {e}"))?;
                if !data.starts_with(npy::MAGIC) {
                    return Ok(ArgSpec::File { data, header: None });
                }
                let at = npy::data_offset(&data).map_err(|e| format!("{value}: {e}"))?;
                Ok(ArgSpec::File { data: data[at..].to_vec(), header: Some(data[..at].to_vec()) })
            }
            "zeros" => Ok(ArgSpec::Zeros(size(value)?)),
            "iota" => {
                let (ty, count) = value.split_once(':').ok_or("iota:TYPE:N is wanted")?;
                let number = Number::named(ty).ok_or_else(|| format!("no type `{ty}`"))?;
                let count = usize::try_from(size(count)?).ok().filter(|n| *n <= 1 << 28);
                let count = count.ok_or("that many elements are too many")?;
                let mut data = Vec::with_capacity(count * number.size());
                for i in 0..count as u64 {
                    match number {
                        Number::Float(_) => data.extend(number.bytes(&i.to_string())?),
                        _ => data.extend_from_slice(&i.to_le_bytes()[..number.size()]),
                    }
                }
                Ok(ArgSpec::File { data, header: None })
            }
            "local" => {
                let bytes = size(value)?;
                u32::try_from(bytes).map(ArgSpec::Local).map_err(|_| format!("{bytes} bytes of local memory"))
            }
            "hex" => {
                let digits: String = value.chars().filter(|c| !matches!(c, ' ' | '_')).collect();
                if !digits.len().is_multiple_of(2) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                    return Err(format!("`{value}` is not pairs of hexadecimal digits"));
                }
                let byte = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).unwrap_or(0);
                Ok(ArgSpec::Bytes((0..digits.len()).step_by(2).map(byte).collect()))
            }
            _ => {
                let kinds = ["buf", "zeros", "iota", "local", "hex"];
                let known = kinds.into_iter().chain(NUMBERS.iter().map(|n| n.0));
                let hint =
                    wavemill_asm::suggest::closest(kind, known).map(|h| format!("; did you mean {h}?"));
                let hint = hint.unwrap_or_else(|| "; `wavemill run --help` lists them".into());
                Err(format!("no kind of argument `{kind}`{hint}"))
            }
        }
    }

    /// True for what has memory of its own.
    pub fn is_buffer(&self) -> bool {
        matches!(self, ArgSpec::File { .. } | ArgSpec::Zeros(_))
    }

    /// Puts it into the device's memory.
    pub fn place(&self, device: &Device, name: &str) -> Result<(Value, Option<Buffer>), String> {
        let allocate = |len: u64| device.memory().allocate(len, Use::Device, name).map_err(|e| e.to_string());
        match self {
            ArgSpec::Bytes(bytes) => Ok((Value::Bytes(bytes.clone()), None)),
            ArgSpec::Local(bytes) => Ok((Value::Local(*bytes), None)),
            ArgSpec::Zeros(len) => {
                let region = allocate(*len)?;
                Ok((Value::Pointer(region.start()), Some(Buffer { region, header: None })))
            }
            ArgSpec::File { data, header } => {
                let region = allocate(data.len() as u64)?;
                region.write(0, data);
                Ok((Value::Pointer(region.start()), Some(Buffer { region, header: header.clone() })))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        match ArgSpec::parse(text) {
            Ok(ArgSpec::Bytes(b)) => b,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_become_bytes() {
        assert_eq!(bytes("i32:-2"), (-2i32).to_le_bytes());
        assert_eq!(bytes("u64:0xffffffffffffffff"), [0xff; 8]);
        assert_eq!(bytes("i8:0x80"), [0x80]);
        assert_eq!(bytes("f32:1.5,2"), [1.5f32.to_le_bytes(), 2f32.to_le_bytes()].concat());
        assert_eq!(bytes("hex:0102_ff"), [1, 2, 255]);
        for (text, want) in
            [("1", 0x3c00), ("-2.5", 0xc100), ("65504", 0x7bff), ("65520", 0x7c00), ("6e-8", 1)]
        {
            assert_eq!(bytes(&format!("f16:{text}")), u16::to_le_bytes(want), "{text}");
        }
        for half in [0u16, 1, 0x3ff, 0x400, 0x3c00, 0x7bff, 0x7c00, 0xfc00, 0x8001] {
            assert_eq!(half_from_f64(f64_from_half(half)), half);
        }
    }

    #[test]
    fn wrong_arguments_are_errors() {
        for text in [
            "7",
            "i32:x",
            "i8:200",
            "u8:-1",
            "hex:123",
            "hex:é",
            "zeros:-1",
            "zeros:99999999999G",
            "what:1",
            "local:5G",
        ] {
            assert!(ArgSpec::parse(text).is_err(), "{text}");
        }
        assert!(ArgSpec::parse("f3:1").unwrap_err().contains("did you mean"));
    }
}
