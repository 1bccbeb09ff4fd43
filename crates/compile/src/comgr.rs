//! AMD's compiler for HIP, `libamd_comgr.so.2`: where it is, so that a library of ours can stand before it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What programs call it.
pub const NAME: &str = "libamd_comgr.so.2";
/// Names AMD's library, or is 0, so that nothing stands before it.
pub const VARIABLE: &str = "WAVEMILL_COMGR";

/// Whether nothing shall stand before it.
pub fn is_off() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|v| v == "0")
}

/// AMD's library, if it is there: the one that is named, else that of these directories, else the one that the system's loader
/// would find.
pub fn find(before: &[PathBuf]) -> Result<Option<PathBuf>, String> {
    let said = std::env::var_os(VARIABLE);
    if let Some(said) = said.filter(|v| !v.is_empty() && v != "0") {
        let path = std::path::absolute(&said).ok().filter(|p| p.is_file());
        return path
            .map(Some)
            .ok_or_else(|| format!("{VARIABLE}={}: there is no such library", said.display()));
    }
    let value = |name: &str| std::env::var_os(name).unwrap_or_default();
    let users: Vec<PathBuf> = std::env::split_paths(&value("LD_LIBRARY_PATH")).collect();
    let rocm = PathBuf::from(value("ROCM_PATH")).join("lib");
    let usual = ["/opt/rocm/lib", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"];
    Ok(first(before.iter().cloned().chain(users).chain([rocm]).chain(usual.map(PathBuf::from))))
}

fn first(places: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let mut places = places.filter(|p| p.is_absolute() && !is_ours(p)).map(|p| p.join(NAME));
    places.find(|p| p.is_file())
}

/// The directory that ours is in, beside the other libraries for programs.
pub const DIRECTORY: &str = "comgr";

/// Whether an `exec` has put ours there.
fn is_ours(place: &Path) -> bool {
    let beside = |p: &Path| p.join("libhsa-runtime64.so.1").is_file();
    place.file_name() == Some(OsStr::new(DIRECTORY)) && place.parent().is_some_and(beside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::Directory;

    #[test]
    fn the_first_that_is_not_ours_is_taken() {
        let place = Directory::new().expect("a directory");
        let [ours, none, amds] = ["runtime/comgr", "none", "amds"].map(|n| place.path().join(n));
        [&ours, &none, &amds].into_iter().for_each(|p| std::fs::create_dir_all(p).expect("made"));
        std::fs::write(place.path().join("runtime/libhsa-runtime64.so.1"), "").expect("written");
        [&ours, &amds].into_iter().for_each(|p| std::fs::write(p.join(NAME), "").expect("written"));
        let places = || [PathBuf::from("amds"), ours.clone(), none.clone()].into_iter();
        assert_eq!(first(places()), None);
        assert_eq!(first(places().chain([amds.clone()])), Some(amds.join(NAME)));
    }
}
