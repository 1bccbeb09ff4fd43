//! `--arg [NAME=]KIND:VALUE`: what is asked for, and the memory made of it. Whether it fits the kernel is `fit`'s to say.

use super::image::{self, ImageSpec, Placed};
use super::number::{NUMBERS, Number};
use super::{npy, png, zip};
use std::path::Path;
use wavemill_device::image::sampler::Sampler;
use wavemill_device::kernarg::Value;
use wavemill_device::{Device, Region, Use};

/// What was asked for.
#[derive(Clone, PartialEq, Debug)]
pub enum ArgSpec {
    /// Bytes in a buffer.
    Buffer {
        /// The data.
        data: Data,
        /// The type of its elements, if known.
        ty: Option<Number>,
        /// The file around it.
        wrapping: Wrapping,
    },
    /// Bytes passed by value, and the type of their elements, if known.
    Bytes(Vec<u8>, Option<Number>),
    /// A number whose type the kernel knows.
    Plain(String),
    /// A null pointer.
    Null,
    /// Local memory.
    Local(u32),
    /// An image.
    Image(Box<ImageSpec>),
    /// A sampler.
    Sampler(Sampler),
    /// The queue that kernels enqueue kernels to.
    Queue,
    /// A pipe of so many packets of so many bytes.
    Pipe(u64, u64),
}

/// What a buffer holds at first.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// These bytes.
    Bytes(Vec<u8>),
    /// So many zeros.
    Zeros(u64),
}

/// The form of the file that a buffer came from, so that it can be written likewise.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Wrapping {
    /// Nothing but the bytes.
    #[default]
    None,
    /// A .npy array with this header.
    Npy(Vec<u8>),
    /// A picture.
    Png(png::Header),
}

/// An argument: which one, what, and whether the user insists on it.
#[derive(Clone, PartialEq, Debug)]
pub struct Arg {
    /// The kernel's name for it; without one it is the next in order.
    pub name: Option<String>,
    /// What was asked for.
    pub spec: ArgSpec,
    /// Types are not compared.
    pub force: bool,
    /// As it was written.
    pub text: String,
}

/// A buffer of an argument.
pub struct Buffer {
    /// Its memory.
    pub region: Region,
    /// The type of its elements, if known.
    pub ty: Option<Number>,
    wrapping: Wrapping,
    /// What it is besides, if it is an image.
    image: Option<Placed>,
}

impl Buffer {
    /// Its bytes; of an image without the gaps between rows.
    pub fn bytes(&self) -> Vec<u8> {
        self.image.as_ref().map_or_else(|| self.region.to_vec(), |image| image.texels(&self.region))
    }

    /// Writes it to a file, `-` for standard output.
    pub fn dump(&self, path: &Path) -> Result<(), String> {
        let ends = |e: &str| path.extension().is_some_and(|x| x.eq_ignore_ascii_case(e));
        let data = self.bytes();
        let picture = self.image.as_ref().filter(|_| image::is_picture(path));
        let bytes = match (&self.wrapping, picture) {
            (_, Some(image)) => image.picture(&self.region),
            (Wrapping::Png(header), _) if ends("png") => png::write(header, &data),
            (Wrapping::Npy(header), _) => [header.as_slice(), &data].concat(),
            _ if ends("npy") => {
                let ty = self.ty.unwrap_or(Number::Uint(1));
                [npy::header(ty, &[data.len() / ty.size()]).as_slice(), &data].concat()
            }
            _ => data,
        };
        if path == Path::new("-") {
            use std::io::Write;
            crate::output::printing();
            return crate::output::written(std::io::stdout().lock().write_all(&bytes));
        }
        std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
    }
}

/// `4096`, `64k`, `16M`, `1G`.
pub fn size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let n: Option<u64> = digits.parse().ok();
    n.and_then(|n| n.checked_mul(1 << shift)).ok_or_else(|| format!("`{text}` is not a number of bytes"))
}

/// A type and how many of it; not more than a gigabyte, which is made in memory.
fn elements(text: &str, form: &str) -> Result<(Number, usize), String> {
    let (ty, count) = text.split_once(':').ok_or_else(|| format!("{form} is wanted"))?;
    let number = Number::named(ty).ok_or_else(|| no_type(ty))?;
    let count = size(count).map_err(|_| format!("`{count}` is not a number of elements"))?;
    let fits = usize::try_from(count).ok().filter(|n| *n <= (1 << 30) / number.size());
    Ok((number, fits.ok_or("that is more than 1 GiB; put it into a file (buf:FILE), or use zeros:BYTES")?))
}

fn no_type(ty: &str) -> String {
    let names: Vec<&str> = NUMBERS.iter().map(|n| n.0).collect();
    format!("no type `{ty}`: {}", names.join(" "))
}

/// The kinds that are not types of numbers.
const KINDS: [&str; 12] =
    ["buf", "zeros", "iota", "rand", "local", "hex", "null", "force", "image", "sampler", "queue", "pipe"];

/// Takes `[NAME=][force:]KIND:VALUE` apart: the name, whether it is forced, and the rest.
fn split(text: &str) -> (Option<&str>, bool, &str) {
    let is_name = |n: &str| n.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
    let named = text.split_once('=').filter(|(n, _)| is_name(n) && !n.is_empty());
    let (name, rest) = named.map_or((None, text), |(n, rest)| (Some(n), rest));
    let (force, rest) = rest.strip_prefix("force:").map_or((false, rest), |r| (true, r));
    (name, force, rest)
}

/// The file that an argument names, if it names one, and where it stands in the text.
pub fn file_of(text: &str) -> Option<(&str, usize)> {
    let (_, _, value) = split(text);
    let (file, rest) = match value.split_once(':') {
        Some(("buf", file)) => (file, file),
        Some(("image", image)) => (image::file_of(image)?, image),
        _ if Path::new(whole(value)).exists() => (value, value),
        _ => return None,
    };
    let at = text.len() - rest.len();
    let file = whole(file);
    (file != "-").then_some((file, at))
}

/// The file of `FILE.npz:NAME`, which names an array in it; of others, all of it.
fn whole(file: &str) -> &str {
    match file.split_once(".npz:") {
        Some((stem, _)) => &file[..stem.len() + 4],
        None => file,
    }
}

/// Bytes before a pipe's packets (ROCm's device library, `pipes.h`).
const PIPE_HEADER: u64 = 128;

/// Reads `PACKETSxBYTES`.
fn pipe(value: &str, most: u64) -> Result<ArgSpec, String> {
    let parts = value.split_once('x').and_then(|(n, b)| Some((n.parse().ok()?, b.parse().ok()?)));
    let Some((packets @ 1.., bytes @ 1..)) = parts else {
        return Err("PACKETSxBYTES is wanted, such as pipe:64x4".into());
    };
    let fits = |n: u64, b: u64| n.checked_mul(b).is_some_and(|all| all <= most && n <= u32::MAX.into());
    match fits(packets, bytes) {
        true => Ok(ArgSpec::Pipe(packets, bytes)),
        false => Err(format!("{packets} packets of {bytes} bytes are too many")),
    }
}

impl Arg {
    /// Reads `[NAME=][force:]KIND:VALUE`, and the file of a `buf:`.
    pub fn parse(text: &str, most: u64) -> Result<Arg, String> {
        let (name, force, rest) = split(text);
        let spec = ArgSpec::parse(rest, most)?;
        Ok(Arg { name: name.map(str::to_owned), spec, force, text: text.to_owned() })
    }
}

impl ArgSpec {
    /// Reads `KIND:VALUE`, and the file of a `buf:` of at most so many bytes.
    pub fn parse(text: &str, most: u64) -> Result<ArgSpec, String> {
        let buffer = |data: Vec<u8>, ty: Number| ArgSpec::Buffer {
            data: Data::Bytes(data),
            ty: Some(ty),
            wrapping: Wrapping::None,
        };
        let Some((kind, value)) = text.split_once(':') else {
            return match text {
                "null" => Ok(ArgSpec::Null),
                "queue" => Ok(ArgSpec::Queue),
                "-" => read(text, most),
                _ if text.parse::<f64>().is_ok() || text.starts_with("0x") || text.starts_with("-0x") => {
                    Ok(ArgSpec::Plain(text.to_owned()))
                }
                _ if Path::new(text).is_file() => read(text, most),
                _ => {
                    Err("KIND:VALUE, a number, a file or null is wanted, such as i32:7 or zeros:f32:1000"
                        .into())
                }
            };
        };
        if let Some(number) = Number::named(kind) {
            let parts = value.split(',').map(|v| number.bytes(v.trim())).collect::<Result<Vec<_>, _>>()?;
            return Ok(ArgSpec::Bytes(parts.concat(), Some(number)));
        }
        match kind {
            "buf" => read(value, most),
            "image" => ImageSpec::parse(value, most).map(|spec| ArgSpec::Image(Box::new(spec))),
            "sampler" => image::sampler(value).map(ArgSpec::Sampler),
            "pipe" => pipe(value, most),
            "zeros" if value.contains(':') => {
                let (ty, count) = elements(value, "zeros:TYPE:N")?;
                let data = Data::Zeros((count * ty.size()) as u64);
                Ok(ArgSpec::Buffer { data, ty: Some(ty), wrapping: Wrapping::None })
            }
            "zeros" => {
                let data = Data::Zeros(size(value)?);
                Ok(ArgSpec::Buffer { data, ty: None, wrapping: Wrapping::None })
            }
            "iota" => {
                let (ty, count) = elements(value, "iota:TYPE:N")?;
                let mut data = Vec::with_capacity(count * ty.size());
                for i in 0..count as u64 {
                    match ty {
                        Number::Float(_) => data.extend(ty.encode(i as f64)),
                        _ => data.extend_from_slice(&i.to_le_bytes()[..ty.size()]),
                    }
                }
                Ok(buffer(data, ty))
            }
            "rand" => {
                let parts: Vec<&str> = value.split(':').collect();
                let (list, seed) = match parts[..] {
                    [ty, count] => (format!("{ty}:{count}"), 1),
                    [ty, count, seed] => {
                        let seed = seed.parse().map_err(|_| format!("the seed `{seed}` is not a number"))?;
                        (format!("{ty}:{count}"), seed)
                    }
                    _ => return Err("rand:TYPE:N or rand:TYPE:N:SEED is wanted".into()),
                };
                let (ty, count) = elements(&list, "rand:TYPE:N")?;
                Ok(buffer(random(ty, count, seed), ty))
            }
            "local" => {
                let bytes = size(value)?;
                u32::try_from(bytes)
                    .map(ArgSpec::Local)
                    .map_err(|_| format!("{bytes} bytes of local memory; a work-group has 64 KiB at most"))
            }
            "hex" => {
                let digits: String = value.chars().filter(|c| !matches!(c, ' ' | '_')).collect();
                if !digits.len().is_multiple_of(2) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                    return Err(format!("`{value}` is not pairs of hexadecimal digits"));
                }
                let byte = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).unwrap_or(0);
                Ok(ArgSpec::Bytes((0..digits.len()).step_by(2).map(byte).collect(), None))
            }
            _ if Path::new(whole(text)).is_file() => read(text, most),
            _ => {
                let known = KINDS.into_iter().chain(NUMBERS.iter().map(|n| n.0));
                let hint =
                    wavemill_asm::suggest::closest(kind, known).map(|h| format!("; did you mean {h}?"));
                let hint = hint.unwrap_or_else(|| "; `wavemill run --help` lists them".into());
                Err(format!("no kind of argument `{kind}`{hint}"))
            }
        }
    }

    /// True for what has memory of its own.
    pub fn is_buffer(&self) -> bool {
        matches!(self, ArgSpec::Buffer { .. } | ArgSpec::Image(_))
    }

    /// Puts it into the device's memory: below 4 GiB for kernels whose pointers have 32 bits.
    pub fn place(
        &self,
        device: &Device,
        narrow: bool,
        name: &str,
    ) -> Result<(Value, Option<Buffer>), String> {
        match self {
            ArgSpec::Bytes(bytes, _) => Ok((Value::Bytes(bytes.clone()), None)),
            ArgSpec::Plain(text) => {
                Err(format!("the kernel does not say the type of `{text}`; say i32:{text}, f32:{text} …"))
            }
            ArgSpec::Null => Ok((Value::Pointer(0), None)),
            ArgSpec::Local(bytes) => Ok((Value::Local(*bytes), None)),
            // Null is the default one.
            ArgSpec::Queue => Ok((Value::Object("queue", 0), None)),
            ArgSpec::Pipe(packets, bytes) => {
                let region =
                    device.memory().allocate_for(narrow, PIPE_HEADER + packets * bytes, Use::Device, name);
                let region = region.map_err(|e| e.to_string())?;
                // Where it is read, where it is written, how many packets there are: a size_t each.
                let width = if narrow { 4 } else { 8 };
                region.write(2 * width, &packets.to_le_bytes()[..width as usize]);
                let value = Value::Object("pipe", region.start());
                Ok((value, Some(Buffer { region, ty: None, wrapping: Wrapping::None, image: None })))
            }
            ArgSpec::Image(spec) => {
                let (value, region, placed) = spec.place(device, narrow, name)?;
                let (ty, wrapping) = (None, Wrapping::None);
                Ok((value, Some(Buffer { region, ty, wrapping, image: Some(placed) })))
            }
            ArgSpec::Sampler(sampler) => {
                let (value, region) = image::place_sampler(sampler, device, narrow, name)?;
                Ok((value, Some(Buffer { region, ty: None, wrapping: Wrapping::None, image: None })))
            }
            ArgSpec::Buffer { data, ty, wrapping } => {
                let len = match data {
                    Data::Bytes(bytes) => bytes.len() as u64,
                    Data::Zeros(len) => *len,
                };
                let region = device.memory().allocate_for(narrow, len, Use::Device, name);
                let region = region.map_err(|e| e.to_string())?;
                if let Data::Bytes(bytes) = data {
                    region.write(0, bytes);
                }
                region.keep_out(0);
                let value = Value::Pointer(region.start());
                Ok((value, Some(Buffer { region, ty: *ty, wrapping: wrapping.clone(), image: None })))
            }
        }
    }
}

/// The data of a file of at most so many bytes, `-` for standard input, `FILE.npz:NAME` for one array of several.
pub fn read(name: &str, most: u64) -> Result<ArgSpec, String> {
    let (file, member) = match name.split_once(".npz:") {
        Some((stem, member)) if !Path::new(name).is_file() => (format!("{stem}.npz"), Some(member)),
        _ => (name.to_owned(), None),
    };
    let in_file = |e: String| format!("{name}: {e}");
    let mut data = crate::input::open_within(&file, most)?.to_vec();
    if zip::is(&data) {
        data = zip::array(&data, member, most).map_err(in_file)?;
    }
    if data.starts_with(npy::MAGIC) {
        let array = npy::Array::read(&data).map_err(in_file)?;
        let header = data[..array.start].to_vec();
        let ty = Some(array.ty).flatten();
        data.drain(..array.start);
        return Ok(ArgSpec::Buffer { data: Data::Bytes(data), ty, wrapping: Wrapping::Npy(header) });
    }
    if data.starts_with(png::MAGIC) {
        let (header, pixels) = png::read(&data, most).map_err(in_file)?;
        let ty = Some(Number::Uint(1));
        return Ok(ArgSpec::Buffer { data: Data::Bytes(pixels), ty, wrapping: Wrapping::Png(header) });
    }
    Ok(ArgSpec::Buffer { data: Data::Bytes(data), ty: None, wrapping: Wrapping::None })
}

/// Random numbers, the same for the same seed: floats from 0 to 1 (1 excluded), integers of every size (SplitMix64).
fn random(ty: Number, count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    let mut data = Vec::with_capacity(count * ty.size());
    for _ in 0..count {
        let bits = next();
        match ty {
            // As many bits as the type has, so that nothing rounds to 1.
            Number::Float(2) => data.extend(ty.encode((bits >> 53) as f64 / 2048.0)),
            Number::Float(4) => data.extend(ty.encode((bits >> 40) as f64 / 16_777_216.0)),
            Number::Float(_) => data.extend(ty.encode((bits >> 11) as f64 / (1u64 << 53) as f64)),
            _ => data.extend_from_slice(&bits.to_le_bytes()[..ty.size()]),
        }
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        match ArgSpec::parse(text, u64::MAX) {
            Ok(ArgSpec::Bytes(b, _)) => b,
            other => panic!("{other:?}"),
        }
    }

    fn buffer(text: &str) -> (Vec<u8>, Option<Number>) {
        match ArgSpec::parse(text, u64::MAX) {
            Ok(ArgSpec::Buffer { data: Data::Bytes(b), ty, .. }) => (b, ty),
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
    }

    #[test]
    fn names_and_insistence_come_first() {
        let arg = Arg::parse("n=i32:5", u64::MAX).unwrap();
        assert_eq!((arg.name.as_deref(), arg.force), (Some("n"), false));
        let arg = Arg::parse("n=force:f32:5", u64::MAX).unwrap();
        assert_eq!((arg.name.as_deref(), arg.force), (Some("n"), true));
        let arg = Arg::parse("force:null", u64::MAX).unwrap();
        assert_eq!((arg.name, arg.force, arg.spec), (None, true, ArgSpec::Null));
        assert_eq!(Arg::parse("n=5", u64::MAX).unwrap().spec, ArgSpec::Plain("5".into()));
        assert_eq!(Arg::parse("-0x10", u64::MAX).unwrap().spec, ArgSpec::Plain("-0x10".into()));
    }

    #[test]
    fn files_are_found_in_arguments() {
        for (text, file) in [
            ("buf:a/b", Some(("a/b", 4))),
            ("n=force:buf:a.npz:x", Some(("a.npz", 12))),
            ("image:p.png,format=r", Some(("p.png", 6))),
            ("image:8x4", None),
            ("n=image:p.png", Some(("p.png", 8))),
            ("buf:-", None),
            ("zeros:8", None),
            ("i32:5", None),
        ] {
            assert_eq!(file_of(text), file, "{text}");
        }
    }

    #[test]
    fn buffers_are_made() {
        assert_eq!(buffer("iota:u8:4"), (vec![0, 1, 2, 3], Some(Number::Uint(1))));
        assert_eq!(buffer("iota:f16:3").0, [0, 0, 0, 0x3c, 0, 0x40]);
        let zeros = ArgSpec::parse("zeros:f32:1000", u64::MAX).unwrap();
        assert!(matches!(zeros, ArgSpec::Buffer { data: Data::Zeros(4000), ty: Some(Number::Float(4)), .. }));
        assert!(matches!(
            ArgSpec::parse("zeros:4k", u64::MAX),
            Ok(ArgSpec::Buffer { data: Data::Zeros(4096), ty: None, .. })
        ));
        // SplitMix64 from seed 0 starts with these numbers (Vigna's reference).
        let first = [0xe220_a839_7b1d_cdaf_u64, 0x6e78_9e6a_a1b9_65f4].map(u64::to_le_bytes).concat();
        assert_eq!(buffer("rand:u64:2:0").0, first);
        assert_ne!(buffer("rand:u64:2").0, first);
        let floats = buffer("rand:f32:1000:7").0;
        let floats: Vec<f32> = floats.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        assert!(floats.iter().all(|f| (0.0..1.0).contains(f)));
        assert!((0.4..0.6).contains(&(floats.iter().sum::<f32>() / 1000.0)));
    }

    #[test]
    fn wrong_arguments_are_errors() {
        for (text, said) in [
            ("what", "KIND:VALUE, a number, a file or null"),
            ("i32:x", "`x` is not a number"),
            ("i8:200", "not within -128 to 127"),
            ("u8:-1", "not within 0 to 255"),
            ("hex:123", "pairs of hexadecimal digits"),
            ("hex:é", "pairs of hexadecimal digits"),
            ("zeros:-1", "`-1` is not a number of bytes"),
            ("zeros:99999999999G", "is not a number of bytes"),
            ("zeros:f33:1", "no type `f33`"),
            ("zeros:f32:many", "`many` is not a number of elements"),
            ("iota:f32", "iota:TYPE:N is wanted"),
            ("iota:f32:2G", "more than 1 GiB"),
            ("rand:f32", "rand:TYPE:N"),
            ("rand:f32:10:x", "the seed `x`"),
            ("what:1", "no kind of argument `what`"),
            ("local:5G", "bytes of local memory"),
            ("buf:no/such/file", "no/such/file"),
        ] {
            let error = ArgSpec::parse(text, u64::MAX).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
        assert!(ArgSpec::parse("f3:1", u64::MAX).unwrap_err().contains("did you mean"));
    }
}
