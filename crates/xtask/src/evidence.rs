//! Which test ran which instruction on which generation: `cargo xtask evidence` runs the tests that note it, demands a
//! test for every instruction of every generation, and keeps the outcome in `isa/evidence.txt`, from which the reference
//! pages say what tests an instruction has.
//!
//! Waves with a witness run step by step, so this is not the same as `cargo test` once more: it checks that the outcome
//! does not depend on how a wave is run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use wavemill_isa::{Level, ROWS};
use wavemill_reference::evidence::{Evidence, FOLDERS, LEVELS, level, levels_of, parse};

/// The file, from the repository's root.
const FILE: &str = "isa/evidence.txt";

/// Tests that are named for an instruction at most, unless a generation has no other.
const MOST: usize = 6;

/// Packages, their test binaries, and the tests of them that note what they run.
const TESTS: [[&str; 3]; 3] = [
    ["wavemill-wave", "it", ""],
    // The other tests compare the same instructions.
    ["wavemill-model", "second_opinion", "gfx"],
    ["wavemill-device", "it", ""],
];

/// Runs the tests and gathers what they note.
fn gather(root: &Path) -> Result<Evidence, String> {
    let noted = std::env::temp_dir().join(format!("wavemill-evidence-{}", std::process::id()));
    let outcome = TESTS.iter().try_for_each(|[package, test, filter]| {
        super::cargo_with(
            &["test", "--quiet", "--package", package, "--test", test, filter],
            &[("WAVEMILL_EVIDENCE", noted.as_os_str())],
        )
    });
    let text = std::fs::read_to_string(&noted);
    let _ = std::fs::remove_file(&noted);
    outcome?;
    let text = text.map_err(|e| format!("{}: {e}", noted.display()))?;
    let mut evidence = Evidence::new();
    for line in text.lines() {
        let [at, mnemonic, test] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err(format!("`{line}` is no evidence"));
        };
        let folder = FOLDERS.iter().find_map(|(short, long)| Some((short, test.strip_prefix(long)?)));
        let (short, name) = folder.ok_or_else(|| format!("{test} is in no folder of tests"))?;
        let at = level(at)?;
        if !root.join(test).exists() {
            return Err(format!("{test} is not there"));
        }
        if LEVELS.contains(&at) {
            let tests = evidence.entry(mnemonic.to_owned()).or_default();
            tests.entry(format!("{short}{name}")).or_default().insert(at);
        }
    }
    Ok(evidence)
}

/// The instructions that nothing has run, with the levels.
fn gaps(evidence: &Evidence) -> Vec<String> {
    let names: BTreeSet<&str> = ROWS.iter().map(|r| r.name).collect();
    let mut out = Vec::new();
    for name in names {
        let ran = |l: &Level| evidence.get(name).is_some_and(|tests| tests.values().any(|s| s.contains(l)));
        let missing: Vec<&str> = levels_of(name).iter().filter(|l| !ran(l)).map(|l| l.name()).collect();
        if !missing.is_empty() {
            out.push(format!("{name}: {}", missing.join(" ")));
        }
    }
    out
}

/// The content of `isa/evidence.txt`.
fn file(evidence: &Evidence) -> String {
    let mut out = String::from(
        "# Tests that ran an instruction and compared what came out, with the generations they ran it on if those are\n\
         # not all that have it. Written by `cargo xtask evidence`; where there are many, those that are about fewer\n\
         # instructions are named.\n",
    );
    let mut about: BTreeMap<&str, usize> = BTreeMap::new();
    for test in evidence.values().flat_map(BTreeMap::keys) {
        *about.entry(test).or_default() += 1;
    }
    for (mnemonic, tests) in evidence {
        let all = levels_of(mnemonic);
        let mut tests: Vec<_> = tests.iter().collect();
        tests.sort_by_key(|(test, levels)| (usize::MAX - levels.len(), about[test.as_str()], *test));
        let mut covered = BTreeSet::new();
        out += mnemonic;
        for (n, (test, levels)) in tests.into_iter().enumerate() {
            if n >= MOST && levels.is_subset(&covered) {
                continue;
            }
            covered.extend(levels);
            let _ = write!(out, " {test}");
            if *levels != all {
                let names: Vec<&str> = levels.iter().map(|l| &l.name()[3..]).collect();
                let _ = write!(out, ":{}", names.join(","));
            }
        }
        out.push('\n');
    }
    out
}

/// Runs the tests; every instruction must have one on every generation. Writes the file, or checks that what it says is
/// true. (It need not say everything: a test may use an instruction that it is not about.)
pub fn run(root: &Path, check: bool) -> Result<(), String> {
    let noted = gather(root)?;
    let complete = |evidence: &Evidence| match &gaps(evidence)[..] {
        [] => Ok(()),
        gaps => Err(format!("{} instructions have no test:\n{}", gaps.len(), gaps.join("\n"))),
    };
    complete(&noted)?;
    if !check {
        return super::write(&[(root.join(FILE), file(&noted))]).map(|_| ());
    }
    let text = std::fs::read_to_string(root.join(FILE)).map_err(|e| format!("{FILE}: {e}"))?;
    let claimed = parse(&text).map_err(|e| format!("{FILE}: {e}"))?;
    for (mnemonic, tests) in &claimed {
        for (test, levels) in tests {
            let ran = noted.get(mnemonic).and_then(|tests| tests.get(test));
            if ran.is_none_or(|ran| !levels.is_subset(ran)) {
                return Err(format!(
                    "{FILE} is wrong about {mnemonic} in {test}: run `cargo xtask evidence`"
                ));
            }
        }
    }
    complete(&claimed).map_err(|e| format!("{FILE} is stale, run `cargo xtask evidence`: {e}"))
}
