//! Unpacking what compilers compress: offload bundles and debugging sections.

use crate::elf::SHF_COMPRESSED;
use crate::read::{Error, Section};
use miniz_oxide::inflate::TINFLStatus;
use std::borrow::Cow;
use std::io::Read;

/// What claims to be this many times its size is broken or hostile: code and debugging information shrink to a
/// twentieth at best.
const MAX_RATIO: u64 = 1024;

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Zlib,
    Zstd,
}

/// Unpacks to exactly `size` bytes, if that is at most `room`.
pub(crate) fn unpack(method: Method, packed: &[u8], size: u64, room: u64) -> Result<Vec<u8>, String> {
    if size > (packed.len() as u64 + 64) * MAX_RATIO {
        return Err(format!("{} bytes cannot hold the {size} that it claims", packed.len()));
    }
    if size > room {
        return Err(format!(
            "the {size} bytes that it claims to hold are more than is unpacked of such a file"
        ));
    }
    let plain = match method {
        Method::Zstd => {
            let mut input = packed;
            let decoder = ruzstd::decoding::StreamingDecoder::new(&mut input);
            let decoder = decoder.map_err(|e| format!("zstd: {e}"))?;
            let mut plain = Vec::new();
            decoder.take(size + 1).read_to_end(&mut plain).map_err(|e| format!("zstd: {e}"))?;
            plain
        }
        Method::Zlib => {
            let plain = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, size as usize);
            plain.map_err(|e| match e.status {
                TINFLStatus::HasMoreOutput => {
                    format!("it unpacks to more than the {size} bytes that it claims")
                }
                _ => format!("zlib: {e}"),
            })?
        }
    };
    if plain.len() as u64 != size {
        return Err(format!("it unpacks to {} bytes and not to the {size} that it claims", plain.len()));
    }
    Ok(plain)
}

/// A section's contents, unpacked when its header says that they are packed.
pub(crate) fn contents<'a>(section: &Section<'a>) -> Result<Cow<'a, [u8]>, Error> {
    if section.flags & SHF_COMPRESSED == 0 {
        return Ok(Cow::Borrowed(section.data));
    }
    let error = |message: String| Error::new(section.name, Some(section.offset), message);
    // Type, four reserved bytes, size and alignment of what is in it.
    let Some((header, packed)) = section.data.split_at_checked(24) else {
        return Err(error("its compression header is cut off".into()));
    };
    let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap_or_default());
    let method = match word(0) as u32 {
        1 => Method::Zlib,
        2 => Method::Zstd,
        other => return Err(error(format!("compression type {other} is not known; zlib is 1, zstd is 2"))),
    };
    unpack(method, packed, word(8), u64::MAX).map(Cow::Owned).map_err(error)
}

/// The alignment of what is in a section.
pub(crate) fn alignment(section: &Section<'_>) -> u64 {
    let packed = section.flags & SHF_COMPRESSED != 0;
    let said = section.data.get(16..24).filter(|_| packed).and_then(|b| b.try_into().ok());
    said.map_or(section.align, u64::from_le_bytes)
}
