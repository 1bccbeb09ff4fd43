//! Chores of the project: `cargo xtask gen` writes the generated code and the reference pages (`--check` only says whether
//! they are up to date), `cargo xtask mcdiff` and `cargo xtask bench` compare with LLVM 19's tools, `cargo xtask acid` runs
//! other people's software on the virtual GPU, `cargo xtask model` compares the interpreter with a plain model of the ALU and memory
//! instructions, `cargo xtask dist` makes and tries the packages, `cargo xtask guide` the site of guide and reference, `cargo
//! xtask evidence` sees to it that every instruction of every generation has a test, `cargo xtask sanitize` runs the
//! runtime's tests under sanitizers.
#![forbid(unsafe_code)]
#![allow(missing_docs)]

mod acid;
mod cost;
mod dist;
mod evidence;
mod guide;
mod llvm;
mod operations;
mod pages;
mod sanitize;
mod table;
mod tidy;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wavemill_isa::row::Enc;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("crates/xtask lies two levels down")
        .to_owned()
}

/// Every generated file of Rust with its content.
fn code() -> Result<Vec<(PathBuf, String)>, String> {
    let mut lines = Vec::new();
    for enc in Enc::ALL {
        let file = format!("isa/{}.isa", enc.name().to_lowercase());
        let text = std::fs::read_to_string(root().join(&file)).map_err(|e| format!("{file}: {e}"))?;
        lines.extend(table::parse(&file, &text)?);
    }
    let ops = table::ops(&lines);
    let rows: Vec<(&str, &str)> =
        ops.iter().zip(&lines).map(|(op, l)| (op.as_str(), l.name.as_str())).collect();
    let file = "isa/operations.txt";
    let text = std::fs::read_to_string(root().join(file)).map_err(|e| format!("{file}: {e}"))?;
    let operations = operations::texts(file, &rows, &text)?;
    let file = "isa/basis.txt";
    let text = std::fs::read_to_string(root().join(file)).map_err(|e| format!("{file}: {e}"))?;
    let bases = operations::bases(file, &rows, &text)?;
    let out = root().join("crates/isa/src/gen");
    Ok(vec![
        (out.join("rows.rs"), table::emit(&lines)),
        (out.join("op.rs"), table::emit_ops(&lines)),
        (out.join("operations.rs"), operations::emit(&operations)),
        (out.join("bases.rs"), operations::emit_bases(&bases)),
    ])
}

fn run(args: &[String]) -> Result<(), String> {
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        // The pages are made from the compiled table: when that changed, it takes a second run.
        ["gen"] if write(&code()?)? > 0 => cargo(&["run", "--quiet", "--package", "xtask", "--", "gen"]),
        ["gen"] => {
            let pages = pages::pages(&root())?;
            write(&pages)?;
            stray(&pages)?.iter().try_for_each(|path| {
                println!("removed {}", path.display());
                std::fs::remove_file(path).map_err(|e| format!("{}: {e}", path.display()))
            })
        }
        ["gen", "--check"] => check(),
        ["mcdiff"] => llvm::mcdiff(&release()?, 1, 20_000),
        ["mcdiff", seed] => {
            llvm::mcdiff(&release()?, seed.parse().map_err(|_| format!("`{seed}` is not a seed"))?, 20_000)
        }
        ["bench"] => llvm::bench(&release()?, &root().join("tests/kernels/fixtures")),
        ["acid", ref rest @ ..] if let Some(options) = acid::Options::of(rest) => {
            acid::run(&root(), &release()?, &options)
        }
        ["cost"] => cost::run(&root(), &release()?),
        ["dist"] => dist::run(&root(), &release()?, true),
        ["dist", "--no-trial"] => dist::run(&root(), &release()?, false),
        ["guide"] => guide::run(&root(), false),
        ["guide", "--check"] => guide::run(&root(), true),
        ["evidence"] => {
            evidence::run(&root(), false)?;
            cargo(&["xtask", "gen"])
        }
        ["evidence", "--check"] => evidence::run(&root(), true),
        ["tidy"] => tidy::run(&root()),
        ["sanitize"] => sanitize::run(&root(), None),
        ["sanitize", which] => sanitize::run(&root(), Some(which)),
        ["model", ref rest @ ..] => model(rest),
        _ => {
            Err("usage: cargo xtask gen [--check] | evidence [--check] | tidy | mcdiff [SEED] | bench | acid [--check] [--engine NAME] [FILTER] | cost | \
                 dist [--no-trial] | guide [--check] | sanitize [address | thread | miri] | \
                 model [SEED [RUNS [CPU [ROW]]]]"
                .into())
        }
    }
}

/// Compares the interpreter with the plain model of the ALU instructions (crate `wavemill-model`, example `model`).
fn model(args: &[&str]) -> Result<(), String> {
    let mut command: Vec<&str> =
        "run --release --quiet --package wavemill-model --example model --".split(' ').collect();
    command.extend(args);
    cargo(&command)
}

/// Writes what has changed and says how many files that were.
fn write(files: &[(PathBuf, String)]) -> Result<usize, String> {
    let mut count = 0;
    for (path, text) in files.iter().filter(|(path, text)| stale(path, text)) {
        let error = |e: std::io::Error| format!("{}: {e}", path.display());
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(error)?;
        std::fs::write(path, text).map_err(error)?;
        println!("wrote {}", path.strip_prefix(root()).unwrap_or(path).display());
        count += 1;
    }
    Ok(count)
}

fn stale(path: &Path, text: &str) -> bool {
    std::fs::read_to_string(path).ok().as_deref() != Some(text)
}

/// Pages of instructions that are no more.
fn stray(pages: &[(PathBuf, String)]) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(root().join("docs/isa")).map_err(|e| format!("docs/isa: {e}"))?;
    let all = entries.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>();
    let known: std::collections::BTreeSet<&PathBuf> = pages.iter().map(|(path, _)| path).collect();
    Ok(all.map_err(|e| format!("docs/isa: {e}"))?.into_iter().filter(|p| !known.contains(p)).collect())
}

/// Runs cargo.
fn cargo(args: &[&str]) -> Result<(), String> {
    cargo_with(args, &[])
}

/// Runs cargo in an environment with some more variables.
fn cargo_with(args: &[&str], variables: &[(&str, &OsStr)]) -> Result<(), String> {
    let mut cargo = std::process::Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    match cargo.current_dir(root()).args(args).envs(variables.iter().copied()).status() {
        Ok(s) if s.success() => Ok(()),
        Ok(s) => Err(format!("cargo {}: {s}", args.join(" "))),
        Err(e) => Err(format!("cargo {}: {e}", args.join(" "))),
    }
}

/// Builds the `wavemill` command and the library that `wavemill exec` puts in place; says where the command is.
fn release() -> Result<PathBuf, String> {
    cargo(&["build", "--release", "--quiet", "--package", "wavemill", "--package", "wavemill-hsa"])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release/wavemill"))
}

fn check() -> Result<(), String> {
    let pages = pages::pages(&root())?;
    let stray = stray(&pages)?;
    let mut files = code()?;
    files.extend(pages);
    let stale = files.iter().find(|(path, text)| stale(path, text)).map(|(path, _)| path);
    match stale.or(stray.first()) {
        Some(path) => Err(format!("{} is stale: run `cargo xtask gen`", path.display())),
        None => Ok(()),
    }
}

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    /// Generated code is committed; it must be what the table says.
    #[test]
    fn generated_code_is_up_to_date() {
        assert_eq!(super::check(), Ok(()));
    }
}
