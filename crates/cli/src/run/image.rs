//! `--arg image:…` and `--arg sampler:…`: images from pictures and arrays, and how kernels read them.

use super::npy;
use super::png;
use std::path::Path;
use wavemill_asm::suggest::closest;
use wavemill_device::image::format::{Channels, ORDERS, TYPES, Texel};
use wavemill_device::image::sampler::{self, Addressing, SAMPLER_BYTES, Sampler};
use wavemill_device::image::{Description, Geometry, IMAGE_BYTES, Image};
use wavemill_device::kernarg::Value;
use wavemill_device::{Device, Region, Use};

/// An image that was asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct ImageSpec {
    content: Content,
    description: Description,
}

/// What is in it at first.
#[derive(Clone, PartialEq, Debug)]
enum Content {
    /// Zeros.
    Zeros,
    /// Texels in the image's own format, row by row.
    Texels(Vec<u8>),
    /// Pixels of one byte a channel, which are converted: how many channels they have.
    Pixels(Vec<u8>, u8),
}

/// An image in memory.
pub struct Placed {
    image: Image,
    /// What the kernel's argument points to.
    _object: Region,
}

fn name_of(names: &[&str], name: &str, what: &str) -> Result<u32, String> {
    let found = names.iter().position(|n| n.eq_ignore_ascii_case(name));
    found.map(|n| n as u32).ok_or_else(|| {
        let hint = closest(name, names.iter().copied()).map(|h| format!("; did you mean {h}?"));
        format!("no {what} `{name}`{}", hint.unwrap_or_else(|| format!(": {}", names.join(" "))))
    })
}

/// `8x4`, `8x4x2`, `8`.
fn sizes(text: &str) -> Option<Vec<u64>> {
    let all: Option<Vec<u64>> = text.split('x').map(|n| n.parse().ok()).collect();
    all.filter(|n| n.len() <= 3)
}

/// The file that `FILE[,…]` names, if it is no size.
pub fn file_of(text: &str) -> Option<&str> {
    let source = text.split(',').next().unwrap_or("");
    sizes(source).is_none().then_some(source)
}

impl ImageSpec {
    /// Reads `FILE.png`, `FILE.npy` or `WIDTHxHEIGHT[xDEPTH]`, then `,format=ORDER`, `,type=TYPE`, `,array`, `,buffer`. A
    /// file has at most so many bytes.
    pub fn parse(text: &str, most: u64) -> Result<ImageSpec, String> {
        let mut parts = text.split(',');
        let source = parts.next().unwrap_or("");
        let (mut order, mut ty, mut array, mut buffer) = (None, None, false, false);
        for part in parts {
            match part.split_once('=') {
                Some(("format", name)) => order = Some(name_of(&ORDERS, name, "channel order")?),
                Some(("type", name)) => ty = Some(name_of(&TYPES, name, "channel type")?),
                None if part == "array" => array = true,
                None if part == "buffer" => buffer = true,
                _ => return Err(format!("`{part}`: format=ORDER, type=TYPE, array or buffer is wanted")),
            }
        }
        let named = |names: &[&str], name: &str| names.iter().position(|n| *n == name).unwrap_or(0) as u32;
        let (content, size, guess) = match sizes(source) {
            Some(size) => (Content::Zeros, size, ("rgba", "unorm8")),
            None => file(source, most)?,
        };
        let channels = Channels {
            order: order.unwrap_or_else(|| named(&ORDERS, guess.0)),
            ty: ty.unwrap_or_else(|| named(&TYPES, guess.1)),
        };
        let at = |i: usize| size.get(i).copied().unwrap_or(1);
        let depth = ORDERS[channels.order as usize].starts_with("depth");
        let (geometry, slices) = match (size.len(), array, buffer) {
            (1, false, true) => (Geometry::D1Buffer, 1),
            (_, _, true) => return Err("a buffer of texels has one dimension and no slices".into()),
            (1, false, _) => (Geometry::D1, 1),
            (2, true, _) => (Geometry::D1Array, at(1)),
            (2, false, _) if depth => (Geometry::D2Depth, 1),
            (2, false, _) => (Geometry::D2, 1),
            (3, true, _) if depth => (Geometry::D2ArrayDepth, at(2)),
            (3, true, _) => (Geometry::D2Array, at(2)),
            (3, false, _) => (Geometry::D3, 1),
            _ => return Err("an array has slices: WIDTHxSLICES or WIDTHxHEIGHTxSLICES".into()),
        };
        Ok(ImageSpec {
            content,
            description: Description { geometry, channels, size: [at(0), at(1), at(2)], slices },
        })
    }

    /// Puts it into the device's memory: the texels, and what the argument points to.
    pub fn place(
        &self,
        device: &Device,
        narrow: bool,
        name: &str,
    ) -> Result<(Value, Region, Placed), String> {
        let image =
            Image::new(&self.description, 0, 0, device.target().level()).map_err(|e| e.to_string())?;
        let bytes = u64::from(image.texel.bytes());
        let [w, h, d] = image.extent();
        let texels = match &self.content {
            Content::Zeros => Vec::new(),
            Content::Texels(texels) => texels.clone(),
            Content::Pixels(pixels, channels) => converted(pixels, *channels, &image.texel),
        };
        let whole = w * h * d * bytes;
        if !texels.is_empty() && texels.len() as u64 != whole {
            return Err(format!(
                "{} bytes are given, {w} x {h} x {d} texels of {bytes} bytes are {whole}",
                texels.len()
            ));
        }
        let memory = device.memory();
        let region =
            memory.allocate_for(narrow, image.bytes(), Use::Device, name).map_err(|e| e.to_string())?;
        let rows = (0..d).flat_map(|z| (0..h).map(move |y| (y, z)));
        for ((y, z), row) in rows.zip(texels.chunks((w * bytes).max(1) as usize)) {
            region.write(image.offset([0, y, z]), row);
        }
        let label = format!("the descriptor of {name}");
        let object =
            memory.allocate_for(narrow, IMAGE_BYTES, Use::Device, label).map_err(|e| e.to_string())?;
        let words = image.words(region.start()).map_err(|e| e.to_string())?;
        object.write(0, &words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>());
        Ok((Value::Object("image", object.start()), region, Placed { image, _object: object }))
    }
}

/// What a file holds: its content, its size, and the format that suggests itself.
type Found = (Content, Vec<u64>, (&'static str, &'static str));

fn file(name: &str, most: u64) -> Result<Found, String> {
    let data = crate::input::open_within(name, most)?.to_vec();
    let in_file = |e: String| format!("{name}: {e}");
    if data.starts_with(png::MAGIC) {
        let (header, pixels) = png::read(&data, most).map_err(in_file)?;
        let order = match header.channels {
            1 => "r",
            2 => "ra",
            _ => "rgba",
        };
        let size = vec![header.width.into(), header.height.into()];
        return Ok((Content::Pixels(pixels, header.channels), size, (order, "unorm8")));
    }
    if data.starts_with(npy::MAGIC) {
        let array = npy::Array::read(&data).map_err(in_file)?;
        let ty = array.ty.map_or("unorm8", |t| match t.name() {
            "f32" => "float",
            "f16" => "half",
            "u32" => "uint32",
            "i32" => "sint32",
            "u16" => "uint16",
            "i16" => "sint16",
            "i8" => "sint8",
            _ => "unorm8",
        });
        // The last axis may be the channels; others run from the slowest to the fastest.
        let shape: Vec<u64> = array.shape.iter().map(|n| *n as u64).collect();
        let (channels, axes) = match shape.split_last() {
            Some((n @ (2 | 4), rest)) if shape.len() > 2 => (*n, rest.to_vec()),
            _ => (1, shape.clone()),
        };
        let order = match channels {
            1 => "r",
            2 => "rg",
            _ => "rgba",
        };
        let size: Vec<u64> = axes.into_iter().rev().collect();
        if !(1..=3).contains(&size.len()) {
            return Err(format!("{name}: an array of {} axes is no image", shape.len()));
        }
        return Ok((Content::Texels(data[array.start..].to_vec()), size, (order, ty)));
    }
    Err(format!("{name}: a PNG picture, a .npy array or WIDTHxHEIGHT is wanted"))
}

/// Pixels of a picture as texels: fractions of 255, or the bytes themselves for integers.
fn converted(pixels: &[u8], channels: u8, texel: &Texel) -> Vec<u8> {
    let integer = texel.format.number.is_integer();
    let value = |byte: u8| if integer { byte.into() } else { (f32::from(byte) / 255.0).to_bits() };
    let colour = |p: &[u8]| match p {
        [g] => [*g, *g, *g, 255],
        [g, a] => [*g, *g, *g, *a],
        [r, g, b] => [*r, *g, *b, 255],
        _ => [p[0], p[1], p[2], p[3]],
    };
    pixels.chunks_exact(channels.into()).flat_map(|p| texel.encode(colour(p).map(value))).collect()
}

impl Placed {
    /// The texels without the gaps between rows.
    pub fn texels(&self, region: &Region) -> Vec<u8> {
        let [w, h, d] = self.image.extent();
        let row = (w * u64::from(self.image.texel.bytes())) as usize;
        let mut all = Vec::new();
        for (y, z) in (0..d).flat_map(|z| (0..h).map(move |y| (y, z))) {
            let mut bytes = vec![0; row];
            region.read(self.image.offset([0, y, z]), &mut bytes);
            all.extend(bytes);
        }
        all
    }

    /// The image as a picture: slices below one another, fractions as 0 to 255.
    pub fn picture(&self, region: &Region) -> Vec<u8> {
        let [w, h, d] = self.image.extent();
        let texel = &self.image.texel;
        let integer = texel.format.number.is_integer();
        let byte = |v: u32| match integer {
            true => v.min(255) as u8,
            false => (f32::from_bits(v).clamp(0.0, 1.0) * 255.0).round_ties_even() as u8,
        };
        let grey = texel.format.components() == 1;
        let colours = self.texels(region);
        let colours = colours.chunks_exact(texel.bytes() as usize).map(|t| texel.decode(t).map(byte));
        let pixels: Vec<u8> = match grey {
            // The one channel is red, or alpha where there is no red.
            true => colours.map(|c| c[if texel.select[0] == 0 { 3 } else { 0 }]).collect(),
            false => colours.flatten().collect(),
        };
        let header =
            png::Header { width: w as u32, height: (h * d) as u32, channels: if grey { 1 } else { 4 } };
        png::write(&header, &pixels)
    }
}

/// Whether a file is to be a picture.
pub fn is_picture(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("png"))
}

/// Reads `linear,repeat,normalized` in any order; nearest, unnormalized and clamp_to_edge if not said.
pub fn sampler(text: &str) -> Result<Sampler, String> {
    let mut sampler = Sampler { normalized: false, linear: false, addressing: Addressing::ClampToEdge };
    for word in text.split(',').filter(|w| !w.is_empty()) {
        match word {
            "linear" => sampler.linear = true,
            "nearest" => sampler.linear = false,
            "normalized" => sampler.normalized = true,
            "unnormalized" => sampler.normalized = false,
            "none" => sampler.addressing = Addressing::Undefined,
            "clamp_to_edge" => sampler.addressing = Addressing::ClampToEdge,
            "clamp" => sampler.addressing = Addressing::ClampToBorder,
            "repeat" => sampler.addressing = Addressing::Repeat,
            "mirrored_repeat" => sampler.addressing = Addressing::MirroredRepeat,
            _ => {
                const WORDS: [&str; 9] = [
                    "linear",
                    "nearest",
                    "normalized",
                    "unnormalized",
                    "none",
                    "clamp_to_edge",
                    "clamp",
                    "repeat",
                    "mirrored_repeat",
                ];
                let hint = closest(word, WORDS.into_iter()).map(|h| format!("; did you mean {h}?"));
                return Err(format!("`{word}`{}", hint.unwrap_or_else(|| format!(": {}", WORDS.join(" ")))));
            }
        }
    }
    Ok(sampler)
}

/// Puts a sampler into the device's memory.
pub fn place_sampler(
    sampler: &Sampler,
    device: &Device,
    narrow: bool,
    name: &str,
) -> Result<(Value, Region), String> {
    let region =
        device.memory().allocate_for(narrow, SAMPLER_BYTES, Use::Device, name).map_err(|e| e.to_string())?;
    let words = sampler::words(sampler, device.target().level());
    region.write(0, &words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>());
    Ok((Value::Object("sampler", region.start()), region))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_and_samplers_are_read() {
        let spec = ImageSpec::parse("8x4,format=r,type=float", u64::MAX).unwrap();
        assert_eq!(spec.description.geometry, Geometry::D2);
        assert_eq!((spec.description.channels.order, spec.description.channels.ty), (1, 15));
        let spec = ImageSpec::parse("8x4x3,array", u64::MAX).unwrap();
        assert_eq!((spec.description.geometry, spec.description.slices), (Geometry::D2Array, 3));
        assert_eq!(
            ImageSpec::parse("100,buffer,format=r", u64::MAX).unwrap().description.geometry,
            Geometry::D1Buffer
        );
        for wrong in ["8x4,format=rgbb", "8x4,type=byte", "8,array", "8x4,buffer", "no-such-file", "8x4,x"] {
            assert!(ImageSpec::parse(wrong, u64::MAX).is_err(), "{wrong}");
        }
        let s = sampler("linear,repeat,normalized").unwrap();
        assert!(s.linear && s.normalized && s.addressing == Addressing::Repeat);
        assert!(sampler("bilinear").unwrap_err().contains("did you mean linear?"));
    }

    #[test]
    fn pixels_become_texels() {
        let find = |all: &[&str], name: &str| all.iter().position(|n| *n == name).unwrap() as u32;
        let texel = |order, ty| {
            let channels = Channels { order: find(&ORDERS, order), ty: find(&TYPES, ty) };
            channels.texel(wavemill_isa::Level::Gfx900).unwrap()
        };
        assert_eq!(converted(&[1, 2, 3], 3, &texel("rgba", "unorm8")), [1, 2, 3, 255]);
        assert_eq!(converted(&[1, 2, 3], 3, &texel("bgra", "uint8")), [3, 2, 1, 255]);
        assert_eq!(converted(&[255], 1, &texel("r", "float")), 1f32.to_le_bytes());
    }
}
