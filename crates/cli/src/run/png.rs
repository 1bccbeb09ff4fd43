//! PNG pictures as buffers: rows of pixels without gaps, one byte for each channel (PNG specification, third edition).

/// What every file starts with.
pub const MAGIC: &[u8] = b"\x89PNG\r\n\x1a\n";

/// What a picture is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Bytes of a pixel: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA.
    pub channels: u8,
}

/// Channels by the colour type of section 11.2.1; palettes are not among them.
fn channels(colour: u8) -> Option<u8> {
    match colour {
        0 => Some(1),
        2 => Some(3),
        4 => Some(2),
        6 => Some(4),
        _ => None,
    }
}

/// Reads a picture of 8 bits a channel whose pixels take at most so many bytes: files can say much with little.
pub fn read(file: &[u8], most: u64) -> Result<(Header, Vec<u8>), String> {
    let mut header = None;
    let mut packed = Vec::new();
    let mut rest = file.get(MAGIC.len()..).unwrap_or(&[]);
    let cut = || "the PNG file is cut off".to_owned();
    loop {
        let length =
            rest.get(..4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]) as usize).ok_or_else(cut)?;
        let kind = rest.get(4..8).ok_or_else(cut)?;
        let data = rest.get(8..8 + length).ok_or_else(cut)?;
        match kind {
            b"IHDR" if length == 13 => header = Some(parse(data)?),
            b"IDAT" => packed.extend_from_slice(data),
            b"IEND" => break,
            _ => {}
        }
        rest = rest.get(12 + length..).ok_or_else(cut)?;
    }
    let header = header.ok_or("the PNG file has no header")?;
    let row = header.width as usize * usize::from(header.channels);
    let size = (row + 1) * header.height as usize;
    if size as u64 > most {
        let Header { width, height, .. } = header;
        return Err(format!(
            "a picture of {width}x{height} pixels is more than the limit of {most} bytes of memory"
        ));
    }
    let plain = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&packed, size);
    let mut plain = plain.map_err(|e| format!("the PNG file is broken: {e}"))?;
    if plain.len() != size {
        return Err(cut());
    }
    let mut pixels = Vec::with_capacity(row * header.height as usize);
    let mut above = vec![0; row];
    for line in plain.chunks_exact_mut(row + 1) {
        let (filter, line) = (line[0], &mut line[1..]);
        unfilter(filter, line, &above, header.channels.into())?;
        above.copy_from_slice(line);
        pixels.extend_from_slice(line);
    }
    Ok((header, pixels))
}

fn parse(data: &[u8]) -> Result<Header, String> {
    let number = |at: usize| u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
    let (width, height, depth, colour, interlace) = (number(0), number(4), data[8], data[9], data[12]);
    let channels = channels(colour).filter(|_| depth == 8 && interlace == 0);
    let channels = channels.ok_or(
        "the PNG file must have 8 bits a channel, no palette and no interlacing (convert in.png PNG32:out.png)",
    )?;
    if width == 0 || height == 0 || u64::from(width) * u64::from(height) > 1 << 28 {
        return Err(format!("a picture of {width}x{height} pixels"));
    }
    Ok(Header { width, height, channels })
}

/// Undoes a row's filter (section 9.2); `step` is the bytes of a pixel.
fn unfilter(filter: u8, line: &mut [u8], above: &[u8], step: usize) -> Result<(), String> {
    for i in 0..line.len() {
        let left = if i >= step { line[i - step] } else { 0 };
        let up = above[i];
        let add = match filter {
            0 => 0,
            1 => left,
            2 => up,
            3 => ((u16::from(left) + u16::from(up)) / 2) as u8,
            4 => paeth(left, up, if i >= step { above[i - step] } else { 0 }),
            n => return Err(format!("the PNG file has a row with filter {n}, which there is not")),
        };
        line[i] = line[i].wrapping_add(add);
    }
    Ok(())
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let guess = i16::from(left) + i16::from(up) - i16::from(corner);
    let far = |v: u8| (guess - i16::from(v)).abs();
    if far(left) <= far(up) && far(left) <= far(corner) {
        left
    } else if far(up) <= far(corner) {
        up
    } else {
        corner
    }
}

/// Writes a picture.
pub fn write(header: &Header, pixels: &[u8]) -> Vec<u8> {
    let row = header.width as usize * usize::from(header.channels);
    let mut plain = Vec::with_capacity(pixels.len() + header.height as usize);
    for line in pixels.chunks(row.max(1)).take(header.height as usize) {
        plain.push(0);
        plain.extend_from_slice(line);
    }
    let colour = [0, 4, 2, 6][usize::from(header.channels.clamp(1, 4)) - 1];
    let mut facts = [header.width.to_be_bytes(), header.height.to_be_bytes()].concat();
    facts.extend([8, colour, 0, 0, 0]);
    let mut file = MAGIC.to_vec();
    for (kind, data) in [
        (b"IHDR", facts),
        (b"IDAT", miniz_oxide::deflate::compress_to_vec_zlib(&plain, 6)),
        (b"IEND", Vec::new()),
    ] {
        file.extend((data.len() as u32).to_be_bytes());
        let start = file.len();
        file.extend_from_slice(kind);
        file.extend(data);
        let sum = crc(&file[start..]);
        file.extend(sum.to_be_bytes());
    }
    file
}

/// The checksum of a chunk (annex D).
fn crc(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 != 0 { 0xedb8_8320 } else { 0 };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of one red pixel that another program has written (Python's zlib and struct).
    const RED: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";

    #[test]
    fn pictures_are_read_and_written() {
        let header = Header { width: 1, height: 1, channels: 3 };
        assert_eq!(read(RED, u64::MAX), Ok((header, vec![255, 0, 0])));
        let header = Header { width: 3, height: 2, channels: 4 };
        let pixels: Vec<u8> = (0..24).map(|n| n * 10).collect();
        assert_eq!(read(&write(&header, &pixels), u64::MAX), Ok((header, pixels)));
        for cut in 0..RED.len() - 4 {
            assert!(read(&RED[..cut], u64::MAX).is_err(), "{cut}");
        }
        assert_eq!(crc(b"IEND"), 0xae42_6082, "as every file ends");
    }

    #[test]
    fn small_files_do_not_become_large() {
        let header = Header { width: 10_000, height: 1000, channels: 1 };
        let file = write(&header, &vec![0; 10_000_000]);
        assert!(file.len() < 100_000);
        assert!(read(&file, 10_000_000).unwrap_err().contains("more than the limit of 10000000 bytes"));
        assert!(read(&file, 10_001_000).is_ok());
    }

    #[test]
    fn filters_are_undone() {
        let run = |filter, line: [u8; 4]| {
            let mut line = line;
            unfilter(filter, &mut line, &[10, 20, 30, 40], 2).map(|()| line)
        };
        assert_eq!(run(1, [1, 2, 3, 4]), Ok([1, 2, 4, 6]));
        assert_eq!(run(2, [1, 2, 3, 4]), Ok([11, 22, 33, 44]));
        assert_eq!(run(3, [1, 2, 3, 4]), Ok([6, 12, 21, 30]));
        assert_eq!(run(4, [1, 2, 3, 4]), Ok([11, 22, 33, 44]));
        assert!(run(5, [0; 4]).is_err());
    }
}
