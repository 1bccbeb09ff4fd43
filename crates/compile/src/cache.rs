//! What is kept from one call to the next: the runtime library for `exec`, and what compilers made.
//!
//! It lies in `$WAVEMILL_CACHE`, else `$XDG_CACHE_HOME/wavemill`, else `~/.cache/wavemill`. Everything there can be made
//! anew, and nothing there is trusted: readers compare it with what it should be.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A directory of the cache, made if need be; none where there is no place for one that others cannot write to.
pub fn directory(name: &str) -> Option<PathBuf> {
    let path = place()?.join(name);
    make(&path).ok()?;
    private(&path).then_some(path)
}

fn place() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    absolute("WAVEMILL_CACHE")
        .or_else(|| absolute("XDG_CACHE_HOME").map(|p| p.join("wavemill")))
        .or_else(|| absolute("HOME").map(|p| p.join(".cache/wavemill")))
}

#[cfg(unix)]
fn make(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Whether only the user can put something there.
#[cfg(unix)]
fn private(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid().as_raw();
    path.metadata().is_ok_and(|m| m.uid() == user && m.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn private(_: &Path) -> bool {
    true
}

/// Writes a file so that whoever reads it meanwhile sees the old one or the new one.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // It is in the way of nobody but the next attempt, which writes it anew.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A name for some content. It need not keep enemies away: what lies under a name is compared with what it should be.
pub fn name_of(parts: &[&[u8]]) -> String {
    // Two lanes of multiply and rotate over eight bytes at a time: a library of 25 MB takes a few milliseconds.
    let (mut a, mut b) = (0x9e37_79b9_7f4a_7c15_u64, 0xc2b2_ae3d_27d4_eb4f_u64);
    let mut take = |word: u64| {
        a = (a ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29);
        b = (b.wrapping_add(word)).wrapping_mul(0xc4ce_b9fe_1a85_ec53).rotate_left(37);
    };
    for part in parts {
        let (words, rest) = part.as_chunks::<8>();
        words.iter().for_each(|w| take(u64::from_le_bytes(*w)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        take(u64::from_le_bytes(last));
        take(part.len() as u64);
    }
    format!("{:016x}{:016x}", a ^ a >> 32, b ^ b >> 32)
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn names_tell_contents_apart() {
        let mut names: Vec<String> = (0..64).map(|n| name_of(&[&vec![0; n]])).collect();
        names.extend((0..64).map(|n| {
            let mut bytes = vec![0; 64];
            bytes[n] = 1;
            name_of(&[&bytes])
        }));
        names.push(name_of(&[b"a", b"bc"]));
        names.push(name_of(&[b"ab", b"c"]));
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
