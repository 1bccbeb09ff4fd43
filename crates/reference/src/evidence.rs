//! Which tests ran an instruction and compared what came out: `isa/evidence.txt`, which `cargo xtask evidence` writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use wavemill_isa::{Level, ROWS};

/// Generations whose every instruction must have a test. What gfx904 has is in gfx900 or gfx906.
pub const LEVELS: [Level; 7] =
    [Level::Gfx6, Level::Gfx7, Level::Gfx8, Level::Gfx900, Level::Gfx906, Level::Gfx908, Level::Gfx90a];

/// Folders of tests and what `isa/evidence.txt` calls them.
pub const FOLDERS: [(&str, &str); 4] = [
    ("files/", "crates/wave/tests/files/"),
    ("wave/", "crates/wave/tests/it/"),
    ("model/", "crates/model/tests/"),
    ("device/", "crates/device/tests/it/"),
];

/// The levels at which a test ran an instruction, by mnemonic and test.
pub type Evidence = BTreeMap<String, BTreeMap<String, BTreeSet<Level>>>;

/// Those of [`LEVELS`] that have a mnemonic.
pub fn levels_of(mnemonic: &str) -> BTreeSet<Level> {
    let rows = || ROWS.iter().filter(|r| r.name == mnemonic);
    LEVELS.into_iter().filter(|l| rows().any(|r| r.opcode_at(*l).is_some())).collect()
}

/// The level of a name.
pub fn level(name: &str) -> Result<Level, String> {
    Level::ALL.into_iter().find(|l| l.name() == name).ok_or_else(|| format!("`{name}` is no level"))
}

/// What the text of `isa/evidence.txt` claims.
pub fn parse(text: &str) -> Result<Evidence, String> {
    let mut out = Evidence::new();
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let mut words = line.split(' ');
        let mnemonic = words.next().unwrap_or_default();
        let tests = words.map(|word| match word.split_once(':') {
            None => Ok((word.to_owned(), levels_of(mnemonic))),
            Some((test, levels)) => {
                let levels = levels.split(',').map(|l| level(&format!("gfx{l}")));
                Ok((test.to_owned(), levels.collect::<Result<_, String>>()?))
            }
        });
        out.insert(mnemonic.to_owned(), tests.collect::<Result<_, String>>()?);
    }
    Ok(out)
}

/// The tests of a mnemonic as its page shows them: a path, and generations if they are not all that have it.
pub(crate) fn tests(mnemonic: &str) -> Vec<String> {
    static EVIDENCE: OnceLock<Evidence> = OnceLock::new();
    let evidence =
        EVIDENCE.get_or_init(|| parse(include_str!("../../../isa/evidence.txt")).unwrap_or_default());
    let all = levels_of(mnemonic);
    let line = |(test, levels): (&String, &BTreeSet<Level>)| {
        let path =
            FOLDERS.iter().find_map(|(short, long)| Some(format!("{long}{}", test.strip_prefix(short)?)));
        let path = path.unwrap_or_else(|| test.clone());
        let names: Vec<&str> = levels.iter().map(|l| l.name()).collect();
        if *levels == all { path } else { format!("{path} ({})", names.join(", ")) }
    };
    evidence.get(mnemonic).into_iter().flatten().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let claims = parse("# words\nv_add_f32 files/a.s wave/b.rs:6,90a\n").unwrap();
        assert_eq!(claims["v_add_f32"]["files/a.s"], BTreeSet::from(LEVELS));
        assert_eq!(claims["v_add_f32"]["wave/b.rs"], BTreeSet::from([Level::Gfx6, Level::Gfx90a]));
        assert_eq!(parse("v_add_f32 a:7,11").unwrap_err(), "`gfx11` is no level");
    }

    #[test]
    fn what_is_built_in_is_whole() {
        parse(include_str!("../../../isa/evidence.txt")).unwrap();
        assert!(ROWS.iter().all(|r| !tests(r.name).is_empty()));
        let missing = tests("v_add_f32").into_iter().find(|t| !t.starts_with("crates/"));
        assert_eq!(missing, None, "a folder that has no name");
    }
}
