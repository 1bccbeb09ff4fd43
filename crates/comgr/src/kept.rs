//! What is kept from one process to the next: a file for each answer of AMD's library, under the digest of what was asked.
//!
//! A file is read as any input: it says in full which question it answers, and has a sum of its own content; what does not
//! fit is as if it were not there. It also names the libraries that the answer came from, which must not have changed since.

use crate::digest::{self, Digest};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use wavemill_compile::cache;

const MAGIC: &[u8] = b"wavemill comgr 1\n";

/// Where answers are kept.
pub struct Kept {
    directory: PathBuf,
    /// How many bytes may be there; the oldest go first.
    bound: u64,
}

impl Kept {
    /// The user's cache, if there is a place for one.
    pub fn find() -> Option<Kept> {
        Some(Kept { directory: cache::directory("comgr")?, bound: 64 << 20 })
    }

    #[cfg(test)]
    pub fn at(directory: &Path, bound: u64) -> Kept {
        Kept { directory: directory.to_owned(), bound }
    }

    fn path(&self, key: &Digest) -> PathBuf {
        self.directory.join(digest::text(key))
    }

    /// The answer to a question.
    pub fn get(&self, key: &Digest) -> Option<Arc<[u8]>> {
        let path = self.path(key);
        // Nothing that large was put there.
        let size = path.metadata().ok().filter(|m| m.is_file())?.len();
        if size > self.bound {
            return None;
        }
        let bytes = std::fs::read(&path).ok()?;
        let (sum, rest) = bytes.strip_prefix(MAGIC)?.split_at_checked(32)?;
        if sum != cache::name_of(&[rest]).as_bytes() {
            return None;
        }
        let mut reader = Reader(rest);
        if reader.take(32)? != key {
            return None;
        }
        for _ in 0..reader.number()? {
            let path = std::str::from_utf8(reader.bytes()?).ok()?;
            if reader.bytes()? != facts(Path::new(path))?.as_bytes() {
                return None;
            }
        }
        reader.bytes().map(Arc::from)
    }

    /// Keeps an answer of these libraries. Where that fails, the question is asked again the next time.
    pub fn put(&self, key: &Digest, libraries: &[PathBuf], answer: &[u8]) {
        let mut writer = Writer(key.to_vec());
        writer.number(libraries.len() as u64);
        for library in libraries {
            let (Some(path), Some(facts)) = (library.to_str(), facts(library)) else { return };
            writer.bytes(path.as_bytes());
            writer.bytes(facts.as_bytes());
        }
        writer.bytes(answer);
        let file = [MAGIC, cache::name_of(&[&writer.0]).as_bytes(), &writer.0].concat();
        if file.len() as u64 > self.bound / 4 {
            return;
        }
        self.make_room(file.len() as u64);
        // It is not wanted for its own sake.
        let _ = cache::replace(&self.path(key), &file);
    }

    /// Removes the oldest files until there is room for one more.
    fn make_room(&self, more: u64) {
        let Ok(entries) = std::fs::read_dir(&self.directory) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let facts = entry.metadata().ok().filter(|m| m.is_file())?;
                Some((facts.modified().ok()?, facts.len(), entry.path()))
            })
            .collect();
        let mut all = more + files.iter().map(|f| f.1).sum::<u64>();
        files.sort();
        for (_, size, path) in files {
            if all <= self.bound {
                break;
            }
            // Another process may have removed it.
            let _ = std::fs::remove_file(path);
            all -= size;
        }
    }
}

/// What tells a file from another that takes its place.
pub fn facts(path: &Path) -> Option<String> {
    let facts = path.metadata().ok()?;
    Some(format!("{} {:?}", facts.len(), facts.modified().ok()?))
}

/// Writes parts behind one another.
#[derive(Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    /// A number.
    pub fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Some bytes, with their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
}

/// Reads what a [`Writer`] has written, or something else.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first)
    }

    /// A number.
    pub fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Some bytes.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.number()?).ok()?;
        self.take(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavemill_compile::directory::Directory;

    #[test]
    fn answers_are_found_while_their_library_is_the_same() {
        let place = Directory::new().expect("a directory");
        let library = place.path().join("library");
        std::fs::write(&library, "one").expect("written");
        let inside = place.path().join("kept");
        std::fs::create_dir(&inside).expect("made");
        let kept = Kept::at(&inside, 1 << 20);
        assert_eq!(kept.get(&[1; 32]), None);
        kept.put(&[1; 32], std::slice::from_ref(&library), b"answer");
        assert_eq!(kept.get(&[1; 32]).as_deref(), Some(&b"answer"[..]));
        assert_eq!(kept.get(&[2; 32]), None);
        std::fs::write(&library, "another").expect("written");
        assert_eq!(kept.get(&[1; 32]), None);
    }

    #[test]
    fn what_was_tampered_with_is_not_there() {
        let place = Directory::new().expect("a directory");
        let kept = Kept::at(place.path(), 1 << 20);
        kept.put(&[1; 32], &[], b"answer");
        let path = kept.path(&[1; 32]);
        let good = std::fs::read(&path).expect("it is there");
        // Another question's answer.
        std::fs::write(kept.path(&[2; 32]), &good).expect("written");
        assert_eq!(kept.get(&[2; 32]), None);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x40;
            std::fs::write(&path, &bad).expect("written");
            assert_eq!(kept.get(&[1; 32]), None, "byte {at}");
            std::fs::write(&path, &good[..at]).expect("written");
            assert_eq!(kept.get(&[1; 32]), None, "{at} bytes");
        }
        // Lengths that lie, with a right sum.
        let mut rest = good[MAGIC.len() + 32..].to_vec();
        for at in 32..48 {
            let before = std::mem::replace(&mut rest[at], 0xff);
            std::fs::write(&path, [MAGIC, cache::name_of(&[&rest]).as_bytes(), &rest].concat())
                .expect("written");
            assert_eq!(kept.get(&[1; 32]), None);
            rest[at] = before;
        }
        std::fs::write(&path, &good).expect("written");
        assert_eq!(kept.get(&[1; 32]).as_deref(), Some(&b"answer"[..]));
    }

    #[test]
    fn the_oldest_go_when_there_is_no_room() {
        let place = Directory::new().expect("a directory");
        let kept = Kept::at(place.path(), 4000);
        for n in 0..20_u8 {
            kept.put(&[n; 32], &[], &[n; 600]);
            // Files that are as old as one another go in the order of their names.
            let old = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(n.into());
            let file = std::fs::File::options().write(true).open(kept.path(&[n; 32])).expect("it is there");
            file.set_modified(old).expect("set");
        }
        let there: Vec<u8> = (0..20).filter(|n| kept.get(&[*n; 32]).is_some()).collect();
        assert_eq!(there, [15, 16, 17, 18, 19]);
        // Too much for one.
        kept.put(&[99; 32], &[], &[0; 2000]);
        assert_eq!(kept.get(&[99; 32]), None);
        assert_eq!(kept.get(&[19; 32]).map(|a| a.len()), Some(600));
    }
}
