//! One test binary for the command.

mod arguments;
mod bench;
mod checks;
mod documents;
mod dropin;
mod eval;
mod guide;
mod hangs;
mod images;
mod install;
mod lint;
mod manners;
mod objects;
mod print;
mod run;
mod silicon;
mod sources;
mod strangers;
mod teach;
mod trace;

use std::path::PathBuf;
use std::process::{Command, Output};

/// A directory of its own for a test.
fn scratch(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// What the command answers.
fn wavemill(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wavemill")).args(args).output().unwrap()
}
