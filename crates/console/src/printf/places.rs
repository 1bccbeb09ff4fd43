//! Where the arguments lie in a record of OpenCL's.
//!
//! One after the other, each as long as the metadata says; but LLVM 16 and later do not store the dword that ends a text
//! whose length is a multiple of four, though they count it. Everything behind such a text lies four bytes early, and as
//! many bytes at the record's end are never written. The buffer is filled with [`BLANK`] first, so those can be told:
//! they say how many of the texts are short. Which ones, the bytes themselves must tell.

use std::ops::Range;

/// What dwords hold that no wave has written.
pub(super) const BLANK: u32 = 0xb1a4_c0de;

/// More arguments than any call has, and more ways to place them than is worth the time.
const MOST_ARGUMENTS: usize = 128;
const MOST_STEPS: u32 = 10_000;

/// The bytes of each argument: `sizes` from the metadata, with true for texts.
pub(super) fn places(record: &[u8], sizes: &[(u32, bool)]) -> Vec<Range<usize>> {
    let blank = record.rchunks_exact(4).take_while(|w| **w == BLANK.to_le_bytes()).count();
    let texts = sizes.iter().filter(|(size, text)| *text && *size >= 8).count();
    let possible = (1..=texts).contains(&blank) && sizes.len() <= MOST_ARGUMENTS;
    let mut search = Search { record, steps: MOST_STEPS, found: Vec::with_capacity(sizes.len()) };
    let mut found = if possible && search.place(sizes, 0, blank) { search.found } else { Vec::new() };
    if found.is_empty() {
        let mut at = 0;
        found.extend(sizes.iter().map(|&(size, _)| {
            let start = at;
            at += size as usize;
            start..at
        }));
    }
    found
}

/// A search for places that fit.
struct Search<'a> {
    record: &'a [u8],
    steps: u32,
    found: Vec<Range<usize>>,
}

impl Search<'_> {
    /// Finds places for the arguments from `at` on, of which `short` are texts without an end.
    fn place(&mut self, sizes: &[(u32, bool)], at: usize, short: usize) -> bool {
        let Some((&(size, text), rest)) = sizes.split_first() else { return short == 0 };
        if self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        let size = size as usize;
        let may_be_short = text && size >= 8;
        let whole = self.record.get(at..at + size);
        let short_one = self.record.get(at..(at + size).saturating_sub(4));
        if whole.is_some_and(|b| !may_be_short || is_whole(b))
            && self.with(at..at + size, |s| s.place(rest, at + size, short))
        {
            return true;
        }
        may_be_short
            && short > 0
            && short_one.is_some_and(|b| !b.contains(&0))
            && self.with(at..at + size - 4, |s| s.place(rest, at + size - 4, short - 1))
    }

    /// Goes on with a place, or takes it back.
    fn with(&mut self, place: Range<usize>, go_on: impl FnOnce(&mut Self) -> bool) -> bool {
        self.found.push(place);
        let fits = go_on(self);
        if !fits {
            self.found.pop();
        }
        fits
    }
}

/// A text that ends in its last dword, not at its start (it would be short then), with nothing but zeros behind. Control
/// characters there are rather the next argument.
fn is_whole(bytes: &[u8]) -> bool {
    let (body, last) = bytes.split_at(bytes.len() - 4);
    let len = last.iter().position(|b| *b == 0).unwrap_or(4);
    let printable = |b: &u8| *b >= b' ' || (0x07..=0x0d).contains(b) || *b == 0x1b;
    (1..4).contains(&len)
        && !body.contains(&0)
        && last[len..].iter().all(|b| *b == 0)
        && last[..len].iter().all(printable)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What LLVM stores of texts and numbers, and how much room it says they take.
    fn record(parts: &[Result<&str, u32>], short: bool) -> (Vec<u8>, Vec<(u32, bool)>) {
        let mut bytes = Vec::new();
        let mut sizes = Vec::new();
        for part in parts {
            match part {
                Ok(text) => {
                    let size = (text.len() + 1).next_multiple_of(4);
                    let stored = if short { text.len().next_multiple_of(4) } else { size };
                    let start = bytes.len();
                    bytes.extend(text.bytes());
                    bytes.resize(start + stored, 0);
                    sizes.push((size as u32, true));
                }
                Err(number) => {
                    bytes.extend(number.to_le_bytes());
                    sizes.push((4, false));
                }
            }
        }
        let total: u32 = sizes.iter().map(|s| s.0).sum();
        while bytes.len() < total as usize {
            bytes.extend(BLANK.to_le_bytes());
        }
        (bytes, sizes)
    }

    #[test]
    fn texts_are_found_with_and_without_their_ends() {
        let cases: &[&[Result<&str, u32>]] = &[
            &[Ok("text"), Err(5)],
            &[Ok("text"), Err(0), Err(7)],
            &[Ok("text"), Ok("right"), Ok("left"), Ok("cut")],
            &[Ok("texts"), Err(0), Ok("long"), Err(65)],
            &[Err(9), Ok("four"), Ok("four"), Ok("fourfour"), Err(!0)],
            &[Ok("abcde"), Err(1), Ok("abcdefg"), Err(2)],
            &[Ok("abc"), Ok("abcd"), Err(0x3f80_0000)],
        ];
        for parts in cases {
            for short in [false, true] {
                let (bytes, sizes) = record(parts, short);
                let places = places(&bytes, &sizes);
                for (part, place) in parts.iter().zip(places) {
                    match part {
                        Ok(text) => {
                            let stored = &bytes[place];
                            let len = stored.iter().position(|b| *b == 0).unwrap_or(stored.len());
                            assert_eq!(&stored[..len], text.as_bytes(), "{parts:?} {short}");
                        }
                        Err(number) => assert_eq!(bytes[place], number.to_le_bytes(), "{parts:?} {short}"),
                    }
                }
            }
        }
    }
}
