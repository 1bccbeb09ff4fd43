//! The printf buffer: what kernels write calls of printf to, one record each, to be printed when the dispatch is over.
//!
//! The buffer starts with two dwords: how many bytes of records there are, and how many there can be. A record is one of
//! two kinds, and the format strings in the code object's metadata (`amdhsa.printf`, `Printf` in version 2) say which:
//!
//! - OpenCL: the number of the format string, then the arguments. The metadata says `NUMBER:COUNT:SIZE:…:FORMAT` with
//!   the bytes that each argument takes. Text stands in the record itself.
//! - HIP (`-mprintf-kind=buffered`): a dword with the record's bytes in bits 31:2, whether the format string is a constant
//!   in bit 1 and whether the text goes to standard error in bit 0; then the constant's hash or the format string, then
//!   the arguments in slots of eight bytes. The metadata says `0:0:HASH,FORMAT`.

use super::places::{BLANK, places};
use super::spec::texts;
use super::{Arguments, Dialect, Numbers, Printer, Slots, Stream, format};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use wavemill_device::memory::Region;
use wavemill_object::catalyst::Container;
use wavemill_object::metadata::Value;
use wavemill_object::read::File;

/// Bytes in front of the records.
pub(crate) const HEADER: u64 = 8;

/// A format string of OpenCL.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Call {
    /// Bytes of each argument in a record, and whether it is text.
    sizes: Vec<(u32, bool)>,
    format: Vec<u8>,
}

impl Call {
    fn record_bytes(&self) -> u64 {
        4 + self.sizes.iter().map(|&(n, _)| u64::from(n)).sum::<u64>()
    }
}

/// The format strings of a code object.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Formats {
    opencl: HashMap<u32, Call>,
    hip: HashMap<u64, Vec<u8>>,
}

impl Formats {
    /// Those of a code object; an error says which of them is none.
    pub fn of(file: &File<'_>) -> Result<Formats, String> {
        if let Some(container) = &file.catalyst {
            return Formats::of_catalyst(container);
        }
        let document = file.metadata().map_err(|e| e.to_string())?;
        let list = document.as_ref().and_then(|d| d.get("amdhsa.printf").or_else(|| d.get("Printf")));
        let texts = list.and_then(Value::as_array).unwrap_or(&[]);
        Formats::new(texts.iter().map(|t| t.as_str().unwrap_or_default()))
    }

    /// Those of Catalyst's OpenCL binary, where every kernel has its own.
    fn of_catalyst(container: &Container<'_>) -> Result<Formats, String> {
        let mut formats = Formats::default();
        for record in container.records() {
            let (_, record) = record.map_err(|e| e.to_string())?;
            for printf in record.printf {
                let format = unescape(&printf.format);
                let texts = texts(&format, Dialect::OpenCl).chain(std::iter::repeat(false));
                let sizes = printf.sizes.iter().copied().zip(texts).collect();
                formats.opencl.insert(printf.id, Call { sizes, format });
            }
        }
        Ok(formats)
    }

    /// Those that these texts of metadata describe.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Formats, String> {
        let mut formats = Formats::default();
        for text in texts {
            formats
                .add(text)
                .ok_or_else(|| format!("the metadata has no format string of printf in `{text}`"))?;
        }
        Ok(formats)
    }

    fn add(&mut self, text: &str) -> Option<()> {
        let (number, rest) = text.split_once(':')?;
        let (count, mut rest) = rest.split_once(':')?;
        let (number, count): (u32, usize) = (number.trim().parse().ok()?, count.trim().parse().ok()?);
        if number == 0 {
            let (hash, format) = rest.split_once(',')?;
            self.hip.insert(u64::from_str_radix(hash, 16).ok()?, format.as_bytes().to_vec());
            return Some(());
        }
        let mut sizes = Vec::new();
        // Arguments without a conversion have no size: LLVM counts them, but does not store them.
        while sizes.len() < count
            && let Some((size, more)) = rest.split_once(':')
            && let Ok(size) = size.parse::<u32>()
        {
            sizes.push((size, false));
            rest = more;
        }
        let format = unescape(rest);
        for (size, text) in sizes.iter_mut().zip(texts(&format, Dialect::OpenCl)) {
            size.1 = text;
        }
        self.opencl.insert(number, Call { sizes, format });
        Some(())
    }
}

/// Compilers escape control characters, and colons by their octal number; nothing else.
fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        let (byte, taken) = match (first, more) {
            (b'\\', [b'a', ..]) => (0x07, 2),
            (b'\\', [b'b', ..]) => (0x08, 2),
            (b'\\', [b'f', ..]) => (0x0c, 2),
            (b'\\', [b'n', ..]) => (b'\n', 2),
            (b'\\', [b'r', ..]) => (b'\r', 2),
            (b'\\', [b'v', ..]) => (0x0b, 2),
            (b'\\', [b'7', b'2', ..]) => (b':', 3),
            _ => (first, 1),
        };
        out.push(byte);
        rest = &rest[taken..];
    }
    out
}

/// Makes a buffer ready.
pub(crate) fn prepare(buffer: &Region, formats: &Formats) {
    if formats.opencl.values().any(|call| call.sizes.iter().any(|(_, text)| *text)) {
        let blank = BLANK.to_le_bytes().repeat(PIECE / 4);
        for at in (0..buffer.len()).step_by(PIECE) {
            let len = (buffer.len() - at).min(PIECE as u64);
            buffer.write(at, &blank[..len as usize]);
        }
    }
    let room = u32::try_from(buffer.len().saturating_sub(HEADER)).unwrap_or(u32::MAX);
    buffer.write(0, &0u32.to_le_bytes());
    buffer.write(4, &room.to_le_bytes());
}

/// Prints what is in a buffer.
pub(crate) fn print(buffer: &Region, formats: &Formats, printer: &Printer) {
    let room = buffer.len().saturating_sub(HEADER);
    let mut used = [0; 4];
    buffer.read(0, &mut used);
    let claimed = u64::from(u32::from_le_bytes(used));
    let used = claimed.min(room);
    let mut bytes = vec![0; used as usize];
    buffer.read(HEADER, &mut bytes);
    let largest = print_records(&bytes, formats, printer);
    if claimed > room {
        let wrote = format!("the kernel says it wrote {claimed} bytes into the printf buffer of {room}");
        return printer.note(&(wrote + "; what did not fit is missing"));
    }
    // A call whose record does not fit leaves no trace. LLVM's library wants the header's size free, too.
    if used + HEADER + largest > room {
        printer.note(&format!("the printf buffer of {room} bytes is full; what did not fit is missing"));
    }
}

/// Text for standard output is handed over in pieces of about this size.
const PIECE: usize = 64 << 10;

/// Text on its way to a printer, so that a million short lines are not a million calls.
struct Batch<'a> {
    printer: &'a Printer,
    text: Vec<u8>,
}

impl Batch<'_> {
    fn flush(&mut self) {
        self.printer.print(Stream::Out, &self.text);
        self.text.clear();
    }

    fn print(&mut self, stream: Stream, text: &[u8]) {
        if stream == Stream::Out {
            self.text.extend(text);
        }
        if stream != Stream::Out || self.text.len() > PIECE {
            self.flush();
        }
        if stream != Stream::Out {
            self.printer.print(stream, text);
        }
    }

    fn note(&mut self, message: &str) {
        self.flush();
        self.printer.note(message);
    }
}

/// What a call of printf with such arguments deserves to be told.
pub(crate) fn complaint(pattern: &[u8], message: &str) -> String {
    format!("printf(\"{}\"): {message}", pattern.escape_ascii())
}

/// Prints records, and tells how large the largest may be.
pub fn print_records(bytes: &[u8], formats: &Formats, printer: &Printer) -> u64 {
    let mut batch = Batch { printer, text: Vec::new() };
    let mut largest = formats.opencl.values().map(Call::record_bytes).max().unwrap_or(8);
    let mut at = 0;
    while at < bytes.len() {
        let record = if formats.opencl.is_empty() {
            hip_record(&bytes[at..], formats, &mut batch)
        } else {
            opencl_record(&bytes[at..], formats, &mut batch)
        };
        match record {
            Ok(len) => {
                largest = largest.max(len as u64);
                at += len;
            }
            Err(message) => {
                let rest = bytes.len() - at;
                batch
                    .note(&format!("printf: {message}; the last {rest} bytes of the buffer are not printed"));
                break;
            }
        }
    }
    batch.flush();
    largest
}

fn dword(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).map(|b| u32::from_le_bytes(b.try_into().unwrap_or_default()))
}

/// Prints a record; the answer is its length.
fn opencl_record(bytes: &[u8], formats: &Formats, batch: &mut Batch<'_>) -> Result<usize, String> {
    let number = dword(bytes, 0).ok_or("a record is cut off")?;
    let call = formats.opencl.get(&number).ok_or_else(|| match number {
        0 | BLANK => "a wave was stopped before it wrote a record".into(),
        number => format!("there is no format string {number:#x}"),
    })?;
    let len = usize::try_from(call.record_bytes()).unwrap_or(usize::MAX);
    let arguments = bytes.get(4..len).ok_or("a record is cut off")?;
    let mut text = Vec::new();
    let places = places(arguments, &call.sizes);
    let mut record = Record { places: places.into_iter(), next: 0, bytes: arguments };
    let result = format(&call.format, Dialect::OpenCl, &mut record, &mut text);
    batch.print(Stream::Out, &text);
    if let Err(message) = result {
        batch.note(&complaint(&call.format, &message));
    }
    Ok(len)
}

fn hip_record(bytes: &[u8], formats: &Formats, batch: &mut Batch<'_>) -> Result<usize, String> {
    let control = dword(bytes, 0).ok_or("a record is cut off")?;
    let len = (control >> 2) as usize;
    let body = bytes.get(4..len).filter(|b| b.len() >= 8);
    let body = body.ok_or_else(|| format!("a record says that it has {len} bytes"))?;
    let mut slots = Slots::new(body);
    let pattern: &[u8] = if control & 2 != 0 {
        let hash = slots.numbers(1)?.bits[0];
        formats.hip.get(&hash).ok_or_else(|| format!("there is no format string {hash:#x}"))?
    } else {
        slots.string()?
    };
    let stream = if control & 1 != 0 { Stream::Err } else { Stream::Out };
    let mut text = Vec::new();
    let result = format(pattern, Dialect::C, &mut slots, &mut text);
    batch.print(stream, &text);
    if let Err(message) = result {
        batch.note(&complaint(pattern, &message));
    }
    Ok(len)
}

/// The arguments in a record of OpenCL.
struct Record<'a> {
    places: std::vec::IntoIter<Range<usize>>,
    next: usize,
    bytes: &'a [u8],
}

impl Record<'_> {
    fn take(&mut self) -> Result<&[u8], String> {
        let place = self.places.next();
        let place = place.ok_or("the format string has more conversions than there are arguments")?;
        self.next += 1;
        Ok(self.bytes.get(place).ok_or("a record is cut off")?)
    }
}

impl Arguments for Record<'_> {
    fn numbers(&mut self, elements: u32) -> Result<Numbers, String> {
        let number = self.next + 1;
        let argument = self.take()?;
        // Three elements take the room of four.
        let places = if elements == 3 { 4 } else { elements as usize };
        let size = argument.len() / places;
        if !matches!(size, 1 | 2 | 4 | 8) || size * places != argument.len() {
            let many = if elements == 1 { "a number".into() } else { format!("{elements} numbers") };
            return Err(format!("argument {number} has {} bytes, which is not {many}", argument.len()));
        }
        let number = |b: &[u8]| b.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b));
        let bits = argument.chunks_exact(size).take(elements as usize).map(number).collect();
        Ok(Numbers { bits, size: size as u32 })
    }

    fn text(&mut self) -> Result<Cow<'_, [u8]>, String> {
        let argument = self.take()?;
        // LLVM stores 0xffffff00 for text without characters, so that a zero is left to mean no text at all.
        if dword(argument, 0) == Some(0) {
            return Ok(Cow::Borrowed(b"(null)"));
        }
        let len = argument.iter().position(|b| *b == 0).unwrap_or(argument.len());
        Ok(Cow::Borrowed(&argument[..len]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};
    use wavemill_device::memory::{Allocations, Use};
    use wavemill_testing::Random;

    fn collector() -> (Printer, Arc<Mutex<String>>) {
        let all = Arc::new(Mutex::new(String::new()));
        let sink = all.clone();
        let printer = Printer::new(move |stream, text| {
            let mut all = sink.lock().unwrap();
            match stream {
                Stream::Out => {}
                Stream::Err => all.push('!'),
                Stream::Note => all.push('?'),
            }
            all.push_str(&String::from_utf8_lossy(text));
        });
        (printer, all)
    }

    fn formats(texts: &[&str]) -> Formats {
        let mut formats = Formats::default();
        texts.iter().for_each(|t| formats.add(t).unwrap());
        formats
    }

    fn printed(words: &[u32], texts: &[&str]) -> String {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let (printer, all) = collector();
        print_records(&bytes, &formats(texts), &printer);
        all.lock().unwrap().clone()
    }

    #[test]
    fn opencl_records() {
        let texts = ["1:2:4:8:%s\\72 %lx\\n", "2:1:16:%v3hlf|", "3:0:100%%\\n"];
        let hi = u32::from_le_bytes(*b"hi\0\0");
        assert_eq!(printed(&[1, hi, 0xff, 1, 3], &texts), "hi: 1000000ff\n100%\n");
        assert_eq!(printed(&[1, 0xffff_ff00, 0, 0], &texts), ": 0\n");
        assert_eq!(printed(&[1, 0, 0, 0], &texts), "(null): 0\n");
        let one = 1f32.to_bits();
        assert_eq!(printed(&[2, one, one, one, 0, 3], &texts), "1.000000,1.000000,1.000000|100%\n");
    }

    #[test]
    fn hip_records() {
        let texts = ["0:0:8d02ab,%d:%s\n"];
        let record = [(4 + 8 + 8 + 8) << 2 | 2, 0x8d_02ab, 0, 7, 0, u32::from_le_bytes(*b"x\0\0\0"), 0];
        assert_eq!(printed(&record, &texts), "7:x\n");
        let own = [(4 + 8 + 8) << 2 | 1, u32::from_le_bytes(*b"%d\n\0"), 0, !0, 0];
        assert_eq!(printed(&own, &texts), "!-1\n");
    }

    #[test]
    fn malformed_records_are_messages() {
        let texts = ["1:1:4:%d %d\\n", "2:1:12:%x"];
        assert_eq!(
            printed(&[9, 1], &texts),
            "?printf: there is no format string 0x9; the last 8 bytes of the buffer are not printed"
        );
        let cut = printed(&[1], &texts);
        assert!(cut.contains("a record is cut off; the last 4 bytes"), "{cut}");
        let few = printed(&[1, 5], &texts);
        assert!(few.starts_with("5 ?printf(\"%d %d\\n\"): the format string has more conv"), "{few}");
        let wide = printed(&[2, 1, 1, 1], &texts);
        assert!(wide.contains("argument 1 has 12 bytes, which is not a number"), "{wide}");
        let hip = ["0:0:1,%s"];
        for words in [&[0u32][..], &[8 << 2, 1], &[1000 << 2, 0, 0], &[12 << 2 | 2, 5, 0]] {
            let text = printed(words, &hip);
            assert!(text.starts_with("?printf: "), "{text}");
        }
        assert!(printed(&[20 << 2 | 2, 1, 0, !0, !0], &hip).contains("text without an end"));
        assert!(printed(&[12 << 2 | 2, 1, 0], &hip).contains("more conversions than there are arguments"));
        let mut formats = Formats::default();
        for text in ["", "x", "1", "1:", "1:x:", "0:0:zz,", "0:0:1"] {
            assert_eq!(formats.add(text), None, "{text}");
        }
    }

    /// Whatever waves leave in the buffer, and whatever a metadata note says, there is an answer.
    #[test]
    fn random_records_are_printed_or_explained() {
        let mut random = Random(11);
        let specs =
            ["%d", "%5.3lx", "%v4hlf", "%v3hhd", "%s", "%-9s|", "%*d", "%c", "%p", "%a", "%.40g", "%n", "%%"];
        for _ in 0..20_000 {
            let number = random.below(3);
            let count = random.below(6);
            let mut text = format!("{number}:{count}:");
            if number == 0 {
                text += "7,";
            }
            for _ in 0..random.below(7) {
                text += &format!("{}:", random.below(5) * 4);
            }
            for _ in 0..random.below(5) {
                text += specs[random.below(specs.len() as u64) as usize];
            }
            let Ok(formats) = Formats::new([text.as_str()]) else { continue };
            let mut words: Vec<u32> = (0..random.below(24)).map(|_| random.edgy(32) as u32).collect();
            if let Some(first) = words.first_mut() {
                *first = if number == 0 {
                    (random.below(100) << 2 | random.below(4)) as u32
                } else {
                    number as u32
                };
            }
            if let [_, low, high, ..] = &mut words[..] {
                (*low, *high) = if number == 0 { (7, 0) } else { (*low, *high) };
            }
            if random.one_in(2) {
                words.extend([BLANK; 2]);
            }
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            print_records(&bytes, &formats, &Printer::default());
        }
    }

    #[test]
    fn a_full_buffer_says_so() {
        let memory = Arc::new(Allocations::default());
        let buffer = memory.allocate(8 + 40, Use::Device, "printf").unwrap();
        let texts = formats(&["1:1:4:%d\\n"]);
        prepare(&buffer, &texts);
        let fill = |records: u32| {
            buffer.write(0, &(8 * records).to_le_bytes());
            for i in 0..records {
                buffer.write(u64::from(8 + 8 * i), &[1u32.to_le_bytes(), i.to_le_bytes()].concat());
            }
            let (printer, all) = collector();
            print(&buffer, &texts, &printer);
            all.lock().unwrap().clone()
        };
        assert_eq!(fill(3), "0\n1\n2\n");
        assert_eq!(
            fill(4),
            "0\n1\n2\n3\n?the printf buffer of 40 bytes is full; what did not fit is missing"
        );
        buffer.write(0, &1000u32.to_le_bytes());
        let (printer, all) = collector();
        print(&buffer, &texts, &printer);
        let text = all.lock().unwrap().clone();
        assert!(text.starts_with("0\n1\n2\n3\n"), "{text}");
        assert!(text.ends_with(
            "?the kernel says it wrote 1000 bytes into the printf buffer of 40; what did not fit is missing"
        ));
    }
}
