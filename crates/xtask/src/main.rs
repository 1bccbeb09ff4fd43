//! Chores of the project: `cargo xtask gen` writes the generated code (`--check` only says whether it is up to date),
//! `cargo xtask mcdiff` and `cargo xtask bench` compare with LLVM 19's tools, `cargo xtask acid` runs other people's
//! software on the virtual GPU, `cargo xtask model` compares the interpreter with a plain model of the ALU instructions.
#![allow(missing_docs)]

mod acid;
mod llvm;
mod table;

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

/// Every generated file with its content.
fn generated() -> Result<Vec<(PathBuf, String)>, String> {
    let mut lines = Vec::new();
    for enc in Enc::ALL {
        let file = format!("isa/{}.isa", enc.name().to_lowercase());
        let text = std::fs::read_to_string(root().join(&file)).map_err(|e| format!("{file}: {e}"))?;
        lines.extend(table::parse(&file, &text)?);
    }
    let out = root().join("crates/isa/src/gen");
    Ok(vec![(out.join("rows.rs"), table::emit(&lines)), (out.join("op.rs"), table::emit_ops(&lines))])
}

fn run(args: &[String]) -> Result<(), String> {
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["gen"] => {
            for (path, text) in generated()? {
                if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) {
                    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
                    println!("wrote {}", path.strip_prefix(root()).unwrap_or(&path).display());
                }
            }
            Ok(())
        }
        ["gen", "--check"] => check(),
        ["mcdiff"] => llvm::mcdiff(&release()?, 1, 20_000),
        ["mcdiff", seed] => {
            llvm::mcdiff(&release()?, seed.parse().map_err(|_| format!("`{seed}` is not a seed"))?, 20_000)
        }
        ["bench"] => llvm::bench(&release()?, &root().join("tests/kernels/fixtures")),
        ["acid"] => acid::run(&root(), &release()?, ""),
        ["acid", filter] => acid::run(&root(), &release()?, filter),
        ["model", ref rest @ ..] => model(rest),
        _ => {
            Err("usage: cargo xtask gen [--check] | mcdiff [SEED] | bench | acid [FILTER] | model [SEED [RUNS [CPU [ROW]]]]"
                .into())
        }
    }
}

/// Compares the interpreter with the plain model of the ALU instructions (crate `wavemill-model`, example `model`).
fn model(args: &[&str]) -> Result<(), String> {
    let mut cargo = std::process::Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo
        .current_dir(root())
        .args("run --release --quiet --package wavemill-model --example model --".split(' '));
    match cargo.args(args).status() {
        Ok(s) if s.success() => Ok(()),
        Ok(_) => Err("the interpreter and the model differ".into()),
        Err(e) => Err(format!("cargo: {e}")),
    }
}

/// Builds the `wavemill` command and the library that `wavemill exec` puts in place; says where the command is.
fn release() -> Result<PathBuf, String> {
    let mut cargo = std::process::Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    let packages = ["--package", "wavemill", "--package", "wavemill-hsa"];
    let status = cargo.current_dir(root()).args(["build", "--release", "--quiet"]).args(packages).status();
    match status {
        Ok(s) if s.success() => {
            let target =
                std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
            Ok(target.join("release/wavemill"))
        }
        Ok(s) => Err(format!("cargo build: {s}")),
        Err(e) => Err(format!("cargo build: {e}")),
    }
}

fn check() -> Result<(), String> {
    for (path, text) in generated()? {
        if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) {
            return Err(format!("{} is stale: run `cargo xtask gen`", path.display()));
        }
    }
    Ok(())
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
        super::check().unwrap();
    }
}
