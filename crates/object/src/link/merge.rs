//! Mergeable sections: strings and constants that equal each other are kept once, in ld.lld's order (its default, `-O1`:
//! whole strings, no shared endings).

use super::hash::xxh3;
use crate::elf::{SHF_MERGE, SHF_STRINGS, SHF_WRITE};
use std::collections::HashMap;

/// Pieces are sorted by this many of their hash's upper bits.
const SHARD_BITS: u32 = 5;

/// Bytes that merged pieces may take: each is aligned, and a small section could claim any alignment.
const MAX_MERGED: u64 = 1 << 30;

/// What a mergeable section is, besides its contents: sections that agree are merged with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub flags: u64,
    pub entsize: u64,
    pub align: u64,
}

impl Kind {
    /// Do sections of two kinds share their pieces? Strings must be aligned alike, constants need not.
    pub fn joins(&self, other: &Kind) -> bool {
        self.flags == other.flags
            && self.entsize == other.entsize
            && (self.align == other.align || self.flags & SHF_STRINGS == 0)
    }
}

/// Can the contents of a section be taken apart and merged? The error says why they should and cannot.
pub(super) fn is_mergeable(kind: &Kind, data: &[u8]) -> Result<bool, String> {
    let Kind { flags, entsize, align } = *kind;
    if flags & SHF_MERGE == 0 || data.is_empty() || entsize == 0 {
        return Ok(false);
    }
    let size = data.len() as u64;
    if !size.is_multiple_of(entsize) {
        return Err(format!(
            "it is mergeable, but {size} bytes are no whole number of elements of {entsize}"
        ));
    }
    if flags & SHF_WRITE != 0 {
        return Err("it is mergeable, but can be written".into());
    }
    if flags & SHF_STRINGS != 0 && data[data.len() - entsize as usize..].iter().any(|b| *b != 0) {
        return Err("its last string does not end".into());
    }
    if (size / entsize).checked_mul(align.max(entsize)).is_none_or(|bytes| bytes > MAX_MERGED) {
        return Err(format!(
            "it is mergeable, and {size} bytes aligned to {align} each take too much memory"
        ));
    }
    Ok(true)
}

/// Where the pieces of an input section have gone.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    /// Start in the input section and in the merged one, ascending by the first.
    starts: Vec<(u64, u64)>,
}

impl Pieces {
    /// Where a byte of the input section is in the merged one.
    pub fn find(&self, offset: u64) -> u64 {
        let after = self.starts.partition_point(|(start, _)| *start <= offset);
        let (start, there) = after.checked_sub(1).map_or((0, 0), |i| self.starts[i]);
        there.wrapping_add(offset.wrapping_sub(start))
    }
}

/// Splits a section at its strings' ends, or into elements.
fn split(kind: &Kind, data: &[u8]) -> Vec<(u64, usize)> {
    let unit = kind.entsize as usize;
    let mut pieces = Vec::new();
    let mut start = 0;
    for (i, element) in data.chunks_exact(unit).enumerate() {
        let end = (i + 1) * unit;
        if kind.flags & SHF_STRINGS == 0 || element.iter().all(|b| *b == 0) {
            pieces.push((start as u64, end - start));
            start = end;
        }
    }
    pieces
}

/// Merges sections of one kind. Returns the contents, and where each section's pieces are in them.
pub(super) fn merge(kind: &Kind, sections: &[&[u8]]) -> (Vec<u8>, Vec<Pieces>) {
    let mut shards: Vec<Vec<u8>> = vec![Vec::new(); 1 << SHARD_BITS];
    let mut known: HashMap<&[u8], (usize, u64)> = HashMap::new();
    let align = kind.align.max(1) as usize;
    let terminator = if kind.flags & SHF_STRINGS != 0 { kind.entsize as usize } else { 0 };
    let mut found: Vec<Vec<(u64, (usize, u64))>> = Vec::with_capacity(sections.len());
    for data in sections {
        let mut places = Vec::new();
        for (start, length) in split(kind, data) {
            let piece = &data[start as usize..][..length];
            let place = *known.entry(piece).or_insert_with(|| {
                // Of the hash's lower half; strings are hashed without their ends.
                let hash = xxh3(&piece[..length - terminator]) as u32;
                let shard = (hash >> (32 - SHARD_BITS)) as usize;
                let bytes = &mut shards[shard];
                bytes.resize(bytes.len().next_multiple_of(align), 0);
                let at = bytes.len() as u64;
                bytes.extend_from_slice(piece);
                (shard, at)
            });
            places.push((start, place));
        }
        found.push(places);
    }
    let mut bytes: Vec<u8> = Vec::new();
    let mut starts = Vec::with_capacity(shards.len());
    for shard in &shards {
        if !shard.is_empty() {
            bytes.resize(bytes.len().next_multiple_of(align), 0);
        }
        starts.push(bytes.len() as u64);
        bytes.extend_from_slice(shard);
    }
    let resolve = |places: Vec<(u64, (usize, u64))>| Pieces {
        starts: places.into_iter().map(|(from, (shard, at))| (from, starts[shard] + at)).collect(),
    };
    (bytes, found.into_iter().map(resolve).collect())
}

#[cfg(test)]
mod tests {
    use super::{Kind, is_mergeable, merge};

    const STRINGS: Kind = Kind { flags: 0x32, entsize: 1, align: 1 };

    #[test]
    fn equal_strings_are_kept_once() {
        let (bytes, pieces) = merge(&STRINGS, &[b"one\0two\0\0", b"two\0three\0one\0"]);
        let string = |at: u64| bytes[at as usize..].split(|b| *b == 0).next().unwrap();
        assert_eq!(bytes.len(), "one\0two\0\0three\0".len());
        assert_eq!(string(pieces[0].find(4)), b"two");
        assert_eq!(pieces[0].find(4), pieces[1].find(0));
        assert_eq!(pieces[0].find(1), pieces[1].find(11));
        assert_eq!(string(pieces[0].find(8)), b"");
        assert_eq!(string(pieces[1].find(6)), b"ree");
    }

    #[test]
    fn what_cannot_be_merged_is_said() {
        let is_mergeable =
            |flags, entsize, data: &[u8]| is_mergeable(&Kind { flags, entsize, align: 1 }, data);
        assert_eq!(is_mergeable(0x32, 1, b"abc\0"), Ok(true));
        assert_eq!(is_mergeable(0x32, 0, b"abc\0"), Ok(false));
        assert_eq!(is_mergeable(0x02, 1, b"abc\0"), Ok(false));
        assert!(is_mergeable(0x32, 1, b"abc").is_err());
        assert!(is_mergeable(0x33, 1, b"abc\0").is_err());
        assert!(is_mergeable(0x12, 4, b"abc\0d").is_err());
    }
    #[test]
    fn alignments_do_not_make_memory() {
        for (align, fits) in
            [(1, true), (4096, true), (1 << 29, false), (53_934_480_947_150_849, false), (!0, false)]
        {
            let kind = Kind { align, ..STRINGS };
            assert_eq!(is_mergeable(&kind, b"one\0two\0").is_ok(), fits, "{align}");
        }
    }
}
