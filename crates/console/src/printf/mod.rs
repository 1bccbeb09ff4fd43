//! printf: the text that a format string and arguments make, as C99 and OpenCL C (6.15.14, "printf") say.
//!
//! [`spec`] reads format strings, [`convert`] writes numbers and text, [`records`] reads the buffer that kernels leave
//! their calls in. Where the text goes is a [`Printer`]'s matter: nothing here prints.

mod convert;
mod places;
pub mod records;
mod spec;

use convert::{character, float, integer, pointer, string};
use spec::{Count, Piece, Spec};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What a kernel writes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
    /// Nothing: a message of ours about what the kernel wrote, one line without its end.
    Note,
}

/// As many messages of ours are enough.
const MOST_NOTES: usize = 16;

/// What takes the text.
type Sink = dyn Fn(Stream, &[u8]) + Send + Sync;

/// Takes what kernels print, in order. Host threads that run work-groups call it.
#[derive(Clone)]
pub struct Printer {
    print: Arc<Sink>,
    /// Messages of ours, so that each is said once: many work-items do the same.
    said: Arc<Mutex<HashSet<String>>>,
}

impl Printer {
    /// Calls a function.
    pub fn new(print: impl Fn(Stream, &[u8]) + Send + Sync + 'static) -> Printer {
        Printer { print: Arc::new(print), said: Arc::default() }
    }

    /// Hands text over.
    pub fn print(&self, stream: Stream, text: &[u8]) {
        if !text.is_empty() {
            (self.print)(stream, text);
        }
    }

    /// Hands a message of ours over, once.
    pub fn note(&self, message: &str) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() < MOST_NOTES && said.insert(message.to_owned()) {
            drop(said);
            self.print(Stream::Note, message.as_bytes());
        }
    }
}

impl Default for Printer {
    /// For those who do not want to know.
    fn default() -> Printer {
        Printer::new(|_, _| {})
    }
}

impl fmt::Debug for Printer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Printer")
    }
}

/// Whose format strings they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// C: HIP and OpenMP.
    C,
    /// OpenCL C: vectors, and `hl` for their elements of 32 bits.
    OpenCl,
}

/// Numbers of one argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Numbers {
    /// The numbers' bits: one, or a vector's elements.
    pub bits: Vec<u64>,
    /// Bytes of each that count.
    pub size: u32,
}

/// The arguments of one call, from first to last. An error says why the next one is none.
pub trait Arguments {
    /// The next one, as a number or a vector of `elements`.
    fn numbers(&mut self, elements: u32) -> Result<Numbers, String>;
    /// The next one, as text.
    fn text(&mut self) -> Result<Cow<'_, [u8]>, String>;
}

/// Appends what printf makes of a format string. An error says what is wrong with the arguments; what comes before the
/// conversion at fault has been appended.
pub fn format(
    format: &[u8],
    dialect: Dialect,
    args: &mut dyn Arguments,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    for piece in spec::pieces(format, dialect) {
        match piece {
            Piece::Text(text) => out.extend(text),
            Piece::Spec(mut spec) => {
                resolve(&mut spec, args)?;
                conversion(&spec, dialect, args, out)?;
            }
        }
    }
    Ok(())
}

/// Takes the arguments that stand for `*`.
fn resolve(spec: &mut Spec, args: &mut dyn Arguments) -> Result<(), String> {
    let mut star = || -> Result<i32, String> {
        let numbers = args.numbers(1)?;
        Ok(numbers.bits[0] as u32 as i32)
    };
    if spec.width == Some(Count::Argument) {
        let width = star()?;
        // A negative width is the flag `-` and its amount.
        spec.left |= width < 0;
        spec.width = Some(Count::Number(width.unsigned_abs().min(spec::MOST)));
    }
    if spec.precision == Some(Count::Argument) {
        let precision = star()?;
        // A negative precision is none.
        spec.precision = u32::try_from(precision).ok().map(|p| Count::Number(p.min(spec::MOST)));
    }
    Ok(())
}

fn conversion(
    spec: &Spec,
    dialect: Dialect,
    args: &mut dyn Arguments,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    if spec.conversion == b's' {
        string(spec, &args.text()?, out);
        return Ok(());
    }
    let numbers = args.numbers(spec.elements)?;
    for (i, &bits) in numbers.bits.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        match spec.conversion {
            b'c' => character(spec, bits as u8, out),
            b'p' => pointer(spec, bits, out),
            // Nowhere to store the count.
            b'n' => {}
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => {
                let stored = numbers.size * 8;
                let width = match (spec.length.bits(), dialect) {
                    (Some(bits), _) => bits.min(stored),
                    (None, Dialect::C) => 32,
                    // The record knows better than the format string.
                    (None, Dialect::OpenCl) => stored,
                };
                integer(spec, bits, width, out);
            }
            _ => {
                let value = match numbers.size {
                    2 => half(bits as u16),
                    4 => f64::from(f32::from_bits(bits as u32)),
                    8 => f64::from_bits(bits),
                    n => {
                        let conversion = char::from(spec.conversion);
                        return Err(format!("%{conversion} has an argument of {n} bytes"));
                    }
                };
                float(spec, value, out);
            }
        }
    }
    Ok(())
}

/// The value of an f16.
fn half(bits: u16) -> f64 {
    let fraction = f64::from(bits & 0x3ff);
    let magnitude = match i32::from(bits >> 10 & 0x1f) {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        e => (1024.0 + fraction) * 2f64.powi(e - 25),
    };
    magnitude.copysign(if bits >> 15 != 0 { -1.0 } else { 1.0 })
}

/// Arguments in slots of eight bytes, text in as many as it takes with its end: what hostcalls and HIP's records hold.
pub(crate) struct Slots<'a> {
    bytes: &'a [u8],
}

impl<'a> Slots<'a> {
    /// From the first slot on.
    pub(crate) fn new(bytes: &'a [u8]) -> Slots<'a> {
        Slots { bytes }
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], String> {
        let missing = || "the format string has more conversions than there are arguments".to_owned();
        let (slot, rest) = self.bytes.split_at_checked(len).ok_or_else(missing)?;
        self.bytes = rest;
        Ok(slot)
    }

    /// The text that starts in the next slot.
    pub(crate) fn string(&mut self) -> Result<&'a [u8], String> {
        let Some(len) = self.bytes.iter().position(|b| *b == 0) else {
            let message = if self.bytes.is_empty() {
                "the format string has more conversions than there are arguments"
            } else {
                "text without an end"
            };
            return Err(message.into());
        };
        let slots = (len + 1).next_multiple_of(8).min(self.bytes.len());
        Ok(&self.take(slots)?[..len])
    }
}

impl Arguments for Slots<'_> {
    fn numbers(&mut self, _: u32) -> Result<Numbers, String> {
        let slot = self.take(8)?;
        let bits = u64::from_le_bytes(slot.try_into().unwrap_or_default());
        Ok(Numbers { bits: vec![bits], size: 8 })
    }

    fn text(&mut self) -> Result<Cow<'_, [u8]>, String> {
        self.string().map(Cow::Borrowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of glibc's own making: conversion, argument (as hexadecimal bits or text), what snprintf writes.
    const GOLDEN: &str = include_str!("../../tests/printf/golden.txt");

    struct One<'a>(&'a str);

    impl Arguments for One<'_> {
        fn numbers(&mut self, _: u32) -> Result<Numbers, String> {
            let bits = u64::from_str_radix(self.0, 16).map_err(|e| e.to_string())?;
            Ok(Numbers { bits: vec![bits], size: 8 })
        }

        fn text(&mut self) -> Result<Cow<'_, [u8]>, String> {
            Ok(Cow::Borrowed(self.0.as_bytes()))
        }
    }

    #[test]
    fn writes_what_glibc_writes() {
        let mut count = 0;
        for (number, line) in GOLDEN.lines().enumerate() {
            let mut fields = line.split('\t');
            let (Some(spec), Some(arg), Some(want)) = (fields.next(), fields.next(), fields.next()) else {
                panic!("line {}: {line}", number + 1);
            };
            let mut out = Vec::new();
            format(spec.as_bytes(), Dialect::C, &mut One(arg), &mut out).unwrap();
            assert_eq!(String::from_utf8_lossy(&out), want, "line {}: {spec} of {arg}", number + 1);
            count += 1;
        }
        assert!(count > 3000, "{count}");
    }

    fn opencl(text: &str, bits: &[u64], size: u32) -> String {
        struct Vector<'a>(&'a [u64], u32);
        impl Arguments for Vector<'_> {
            fn numbers(&mut self, elements: u32) -> Result<Numbers, String> {
                Ok(Numbers { bits: self.0[..elements as usize].to_vec(), size: self.1 })
            }
            fn text(&mut self) -> Result<Cow<'_, [u8]>, String> {
                Err("not text".into())
            }
        }
        let mut out = Vec::new();
        format(text.as_bytes(), Dialect::OpenCl, &mut Vector(bits, size), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// The examples of OpenCL C, "printf", "Differences between OpenCL C and C99 printf", and what it says of lengths.
    #[test]
    fn vectors_have_commas() {
        let floats = [1.0f32, 2.0, 3.0, 4.0].map(|f| u64::from(f.to_bits()));
        assert_eq!(opencl("f4 = %2.2v4hlf\n", &floats, 4), "f4 = 1.00,2.00,3.00,4.00\n");
        let bytes = [0xfa, 0xfb, 0xfc, 0xfd];
        assert_eq!(opencl("uc = %#v4hhx\n", &bytes, 1), "uc = 0xfa,0xfb,0xfc,0xfd\n");
        assert_eq!(opencl("%v3hd", &[0xffff, 2, 0x8000], 2), "-1,2,-32768");
        assert_eq!(opencl("%v2ld", &[!0, 5], 8), "-1,5");
        assert_eq!(opencl("%v2hle", &[0x4000_0000, 0x7f80_0000], 4), "2.000000e+00,inf");
        assert_eq!(opencl("%-4v2hd|", &[1, 2], 2), "1   ,2   |");
        assert_eq!(opencl("%v2hg", &[0x3c00, 0xc100], 2), "1,-2.5");
        assert_eq!(opencl("%d", &[0xffff_ffff], 4), "-1");
    }

    #[test]
    fn halves() {
        for (bits, want) in [(0x3c00, 1.0), (0xc000, -2.0), (1, 5.960_464_477_539_063e-8), (0x7bff, 65504.0)]
        {
            assert_eq!(half(bits), want);
        }
        assert!(half(0x7e00).is_nan() && half(0xfc00) == f64::NEG_INFINITY);
    }
}
