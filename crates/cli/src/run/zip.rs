//! `.npz`: arrays in a ZIP file, stored or deflated (PKWARE's APPNOTE, sections 4.3.7, 4.3.12 and 4.3.16).

/// True for ZIP files.
pub fn is(file: &[u8]) -> bool {
    file.starts_with(b"PK\x03\x04") || file.starts_with(b"PK\x05\x06")
}

/// An entry of the central directory.
struct Entry<'a> {
    name: String,
    method: u16,
    size: usize,
    packed: &'a [u8],
}

fn short(file: &[u8], at: usize) -> Option<usize> {
    file.get(at..at + 2).map(|b| u16::from_le_bytes([b[0], b[1]]).into())
}

fn long(file: &[u8], at: usize) -> Option<usize> {
    file.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)
}

/// Every entry; none when the file is broken. Entries of 4 GiB and more (ZIP64) are not read.
fn entries(file: &[u8]) -> Option<Vec<Entry<'_>>> {
    // The end of the directory is within the last 64 KiB, behind it is at most a comment.
    let from = file.len().saturating_sub(65_557);
    let end = from + file[from..].windows(4).rposition(|w| w == b"PK\x05\x06")?;
    let (count, mut at) = (short(file, end + 10)?, long(file, end + 16)?);
    let mut all = Vec::new();
    for _ in 0..count {
        if file.get(at..at + 4)? != b"PK\x01\x02" {
            return None;
        }
        let (packed, size) = (long(file, at + 20)?, long(file, at + 24)?);
        let (name, extra, comment) = (short(file, at + 28)?, short(file, at + 30)?, short(file, at + 32)?);
        let local = long(file, at + 42)?;
        // The local header has lengths of its own.
        let start = local.checked_add(30)? + short(file, local + 26)? + short(file, local + 28)?;
        all.push(Entry {
            name: String::from_utf8_lossy(file.get(at + 46..at + 46 + name)?).into_owned(),
            method: short(file, at + 10)? as u16,
            size,
            packed: file.get(start..start.checked_add(packed)?)?,
        });
        at += 46 + name + extra + comment;
    }
    Some(all)
}

/// The array of a name, or the only one, of at most so many bytes.
pub fn array(file: &[u8], name: Option<&str>, most: u64) -> Result<Vec<u8>, String> {
    let entries = entries(file).ok_or("the .npz file (ZIP) is broken, or larger than 4 GiB")?;
    let names: Vec<&str> = entries.iter().map(|e| e.name.trim_end_matches(".npy")).collect();
    let listed = names.join(", ");
    let at = match name {
        Some(name) => names
            .iter()
            .position(|n| *n == name)
            .ok_or_else(|| format!("it has no array `{name}`: {listed}"))?,
        None if entries.len() == 1 => 0,
        None if entries.is_empty() => return Err("it has no arrays".into()),
        None => {
            return Err(format!("it has several arrays, name one behind a colon (FILE.npz:NAME): {listed}"));
        }
    };
    let entry = &entries[at];
    if entry.size as u64 > most {
        return Err(format!(
            "{}: {} bytes are more than the limit of {most} bytes of memory",
            entry.name, entry.size
        ));
    }
    match entry.method {
        0 => Ok(entry.packed.to_vec()),
        8 => miniz_oxide::inflate::decompress_to_vec_with_limit(entry.packed, entry.size)
            .map_err(|e| format!("{}: {e}", entry.name)),
        n => Err(format!("{}: compressed by method {n}, which is not known (0 and 8 are)", entry.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ZIP file of one or more entries, written as APPNOTE has it.
    fn zip(entries: &[(&str, u16, &[u8], usize)]) -> Vec<u8> {
        let (mut file, mut directory) = (Vec::new(), Vec::new());
        for (name, method, packed, size) in entries {
            let mut facts = method.to_le_bytes().to_vec();
            facts.extend([0; 8]);
            facts.extend((packed.len() as u32).to_le_bytes());
            facts.extend((*size as u32).to_le_bytes());
            facts.extend((name.len() as u16).to_le_bytes());
            facts.extend([0, 0]);
            directory.extend(b"PK\x01\x02\x14\0\x14\0\0\0");
            directory.extend(&facts);
            directory.extend([0; 10]);
            directory.extend((file.len() as u32).to_le_bytes());
            directory.extend(name.as_bytes());
            file.extend(b"PK\x03\x04\x14\0\0\0");
            file.extend(&facts);
            file.extend(name.as_bytes());
            file.extend_from_slice(packed);
        }
        let at = file.len() as u32;
        let (count, length) = (entries.len() as u16, directory.len() as u32);
        file.extend(directory);
        file.extend(b"PK\x05\x06\0\0\0\0");
        file.extend(count.to_le_bytes());
        file.extend(count.to_le_bytes());
        file.extend(length.to_le_bytes());
        file.extend(at.to_le_bytes());
        file.extend([0, 0]);
        file
    }

    #[test]
    fn arrays_are_found_stored_and_deflated() {
        let packed = miniz_oxide::deflate::compress_to_vec(&[7; 1000], 6);
        let file = zip(&[("a.npy", 0, b"stored", 6), ("b.npy", 8, &packed, 1000)]);
        assert!(is(&file));
        assert_eq!(array(&file, Some("a"), u64::MAX).as_deref(), Ok(&b"stored"[..]));
        assert_eq!(array(&file, Some("b"), u64::MAX), Ok(vec![7; 1000]));
        assert!(
            array(&file, None, u64::MAX)
                .unwrap_err()
                .contains("name one behind a colon (FILE.npz:NAME): a, b")
        );
        assert!(array(&file, Some("c"), u64::MAX).unwrap_err().contains("no array `c`: a, b"));
        let only = zip(&[("x.npy", 0, b"!", 1)]);
        assert_eq!(array(&only, None, u64::MAX).as_deref(), Ok(&b"!"[..]));
        let odd = zip(&[("x.npy", 93, b"!", 1)]);
        assert!(array(&odd, None, u64::MAX).unwrap_err().contains("method 93"));
    }

    #[test]
    fn small_files_do_not_become_large() {
        let packed = miniz_oxide::deflate::compress_to_vec(&[7; 100_000], 6);
        let honest = zip(&[("a.npy", 8, &packed, 100_000)]);
        assert!(array(&honest, None, 99_999).unwrap_err().contains("a.npy: 100000 bytes are more than"));
        assert_eq!(array(&honest, None, 100_000).map(|a| a.len()), Ok(100_000));
        // It says less than it has.
        assert!(array(&zip(&[("a.npy", 8, &packed, 1000)]), None, 5000).is_err());
    }

    #[test]
    fn broken_files_are_errors() {
        let file = zip(&[("a.npy", 0, b"stored", 6)]);
        // But for the length of the comment that ends it.
        for cut in 0..file.len() - 2 {
            assert!(array(&file[..cut], None, u64::MAX).is_err(), "{cut}");
        }
    }
}
