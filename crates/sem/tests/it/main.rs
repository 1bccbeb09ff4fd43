//! Tests of crate `sem`.

mod buffers;
mod exceptions;
mod floats;
mod plain;
mod record;

use wavemill_isa::ROWS;
use wavemill_sem::fidelity::{Fidelity, fidelity};
use wavemill_sem::soft::Format;
use wavemill_testing::Random;

/// A float of any bits, often a denormal, a zero, an infinity, a NaN, or not far from one.
fn float(random: &mut Random, f: Format) -> u64 {
    let bits = random.next() & (f.sign() | (f.sign() - 1));
    match random.next() % 8 {
        0 => bits & !f.infinity(),
        1 => bits | f.infinity(),
        2 => bits & f.sign(),
        3 => bits & (f.sign() | f.infinity()),
        4 => bits & f.sign() | f.infinity(),
        5 | 6 => bits & !f.infinity() | ((f.infinity() / 2) & f.infinity()) ^ ((bits % 4) << f.fraction),
        _ => bits,
    }
}

/// Every instruction of every level has a meaning.
#[test]
fn nothing_is_missing() {
    let missing: Vec<&str> =
        ROWS.iter().filter(|r| fidelity(r) == Fidelity::Unsupported).map(|r| r.name).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
