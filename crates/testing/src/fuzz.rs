//! The fuzz targets without libFuzzer: each runs over its corpus and random mutations of it, in plain `cargo test`.
//! `WAVEMILL_FUZZ=600` does so for as many seconds, from another start each time, or from the one that
//! `WAVEMILL_FUZZ_SEED` gives: any text, such as the name of a commit.

use crate::Random;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Runs a target over what is in some files and directories, as it is and mutated. The input that a crash came of is in
/// `last-NAME` of the directory for `scratch` files.
pub fn drive(name: &str, corpus: &[PathBuf], scratch: &Path, mut target: impl FnMut(&[u8])) {
    let asked = std::env::var("WAVEMILL_FUZZ").ok().and_then(|s| s.parse().ok());
    let time = Duration::from_secs(asked.unwrap_or(2));
    let start = match (asked, std::env::var("WAVEMILL_FUZZ_SEED")) {
        (_, Ok(text)) => text,
        (None, _) => "wavemill".to_owned(),
        (Some(_), _) => format!("{:?}", std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()),
    };
    println!("{name}: WAVEMILL_FUZZ_SEED={start}");
    // FNV-1a; the generator takes no zero.
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let seed = start.bytes().fold(0xcbf2_9ce4_8422_2325, hash) | 1;
    let seeds: Vec<Vec<u8>> =
        corpus.iter().flat_map(|p| files(p)).filter_map(|p| std::fs::read(p).ok()).collect();
    assert!(!seeds.is_empty(), "the corpus of {name} is empty: {corpus:?}");
    let last = scratch.join(format!("last-{name}"));
    let mut run = |input: &[u8]| {
        std::fs::write(&last, input).expect("scratch files can be written");
        target(input);
    };
    seeds.iter().for_each(|seed| run(seed));
    let mut random = Random(seed);
    let (began, mut count) = (Instant::now(), seeds.len());
    while began.elapsed() < time {
        let mut input = seeds[random.below(seeds.len() as u64) as usize].clone();
        let other = &seeds[random.below(seeds.len() as u64) as usize];
        for _ in 0..=random.below(6) {
            mutate(&mut random, &mut input, other);
        }
        run(&input);
        count += 1;
    }
    println!("{name}: {count} inputs in {:?}", began.elapsed());
    let _ = std::fs::remove_file(last);
}

fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return vec![path.to_owned()] };
    let mut all: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.is_file()).collect();
    all.sort();
    all
}

/// Changes a few bytes, words, or stretches.
fn mutate(random: &mut Random, input: &mut Vec<u8>, other: &[u8]) {
    if input.is_empty() {
        input.push(random.next() as u8);
    }
    let at = random.below(input.len() as u64) as usize;
    let rest = input.len() - at;
    match random.below(8) {
        0 => input[at] ^= 1 << random.below(8),
        1 => input[at] = random.edgy(8) as u8,
        kind @ 2..=4 => {
            let bytes = random.edgy(8 << kind.min(3) as u32).to_le_bytes();
            let len = rest.min(1 << (kind - 1));
            input[at..at + len].copy_from_slice(&bytes[..len]);
        }
        5 => input.truncate(at + 1),
        6 => {
            let len = (random.below(64) as usize).min(rest);
            let to = random.below((input.len() - len + 1) as u64) as usize;
            input.copy_within(at..at + len, to);
        }
        _ if other.is_empty() => {}
        _ => {
            let from = random.below(other.len() as u64) as usize;
            let len = (random.below(128) as usize).min(other.len() - from);
            let end = at + len.min(rest);
            input.splice(at..end, other[from..from + len].iter().copied());
        }
    }
}
