//! The interpreter against the model, a few hundred lanes for every form of every instruction; `cargo xtask model` does
//! the same at length.

use std::sync::Arc;
use wavemill_isa::target::processor;
use wavemill_model::compare::{CPUS, all_halves, compare};
use wavemill_model::sequence::sequences;
use wavemill_model::{matrix, memory};
use wavemill_testing::evidence;

/// Instructions per form; a vector one is 64 cases.
const RUNS: usize = 10;

fn agree(cpu: &str) {
    let report = compare(cpu, 0x5eed, RUNS, &|_| true);
    assert!(
        report.missing.is_empty(),
        "no model for {:?}: write one, or say in `excluded_row` why not",
        report.missing
    );
    assert!(report.differences.is_empty(), "{}", report.describe());
    // Every exception flag was raised where the model was sure of it.
    assert!(report.flags.iter().all(|&n| n > 0), "{cpu}: {:?}", report.flags);
    // Every form was looked at.
    assert!(report.cases.values().all(|&n| n >= RUNS as u64), "{cpu}");
    let (level, test) = (processor(cpu).expect("a processor").level, Arc::from(file!()));
    report.cases.keys().for_each(|(name, _)| evidence::note(level, name, &test));
}

/// Matrix instructions on random numbers of all kinds: denormals, infinities, NaNs, products that cancel.
#[test]
fn matrices() {
    for cpu in ["gfx908", "gfx90a"] {
        let report = matrix::compare(cpu, 0x5eed, 6, &|_| true);
        assert!(report.missing.is_empty(), "{:?}", report.missing);
        assert!(report.differences.is_empty(), "{}", report.describe());
        assert!(report.cases.len() >= 20, "{cpu}: {}", report.cases.len());
        let (level, test) = (processor(cpu).expect("a processor").level, Arc::from(file!()));
        report.cases.keys().for_each(|(name, _)| evidence::note(level, name, &test));
    }
}

/// Memory instructions on random addresses and data, with unaligned ones, places out of range and lanes that are off.
#[test]
fn memory_instructions() {
    for cpu in CPUS {
        let report = memory::compare(cpu, 0x5eed, 20, &|_| true);
        assert!(
            report.missing.is_empty(),
            "no model for {:?}: write one, or say in `memory::excluded` why not",
            report.missing
        );
        assert!(report.differences.is_empty(), "{}", report.describe());
        assert!(report.cases.len() >= 80, "{cpu}: {}", report.cases.len());
        let (level, test) = (processor(cpu).expect("a processor").level, Arc::from(file!()));
        report.cases.keys().for_each(|(name, _)| evidence::note(level, name, &test));
    }
}

/// Blocks of several instructions.
#[test]
fn in_sequence() {
    for (i, cpu) in CPUS.into_iter().enumerate() {
        let (_, differences) = sequences(cpu, i as u64, 500, 3);
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}

/// Instructions with one 16-bit operand, on every operand there is.
#[test]
fn every_half() {
    let report = all_halves("gfx90a");
    assert!(report.differences.is_empty(), "{}", report.describe());
    assert!(report.cases.len() >= 18, "{}", report.cases.len());
}

#[test]
fn gfx600() {
    agree("gfx600");
}

#[test]
fn gfx701() {
    agree("gfx701");
}

#[test]
fn gfx803() {
    agree("gfx803");
}

#[test]
fn gfx900() {
    agree("gfx900");
}

#[test]
fn gfx904() {
    agree("gfx904");
}

#[test]
fn gfx906() {
    agree("gfx906");
}

#[test]
fn gfx908() {
    agree("gfx908");
}

#[test]
fn gfx90a() {
    agree("gfx90a");
}
