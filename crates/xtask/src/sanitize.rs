//! `cargo xtask sanitize`: the tests of the runtime and its fuzz targets under AddressSanitizer and ThreadSanitizer.
//!
//! Sanitizers are unstable options of the compiler: the stable one takes them with `RUSTC_BOOTSTRAP=1`. ThreadSanitizer needs
//! a standard library that is instrumented, too, made from `rust-src`.

use std::path::Path;
use std::process::Command;

/// Where the host's tests go; sanitizers want a target to be named, so that build scripts are not instrumented.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A sanitizer, with what it takes.
struct Sanitizer {
    name: &'static str,
    /// More options of cargo.
    cargo: &'static [&'static str],
    /// Packages whose tests run.
    packages: &'static [&'static str],
    /// Its options at run time.
    variable: (&'static str, &'static str),
}

const ALL: [Sanitizer; 2] = [
    Sanitizer {
        name: "address",
        cargo: &[],
        packages: &[
            "wavemill-wave",
            "wavemill-device",
            "wavemill-console",
            "wavemill-runtime",
            "wavemill-hsa",
        ],
        // What the process has at its end is the system's; children that are killed say nothing.
        variable: (
            "ASAN_OPTIONS",
            "detect_leaks=0:allow_user_segv_handler=1:detect_stack_use_after_return=0",
        ),
    },
    Sanitizer {
        name: "thread",
        cargo: &["-Zbuild-std"],
        packages: &["wavemill-runtime", "wavemill-hsa"],
        variable: ("TSAN_OPTIONS", "halt_on_error=0:exitcode=66"),
    },
];

/// Runs the tests under one sanitizer, or under all.
pub fn run(root: &Path, which: Option<&str>) -> Result<(), String> {
    let chosen: Vec<&Sanitizer> = ALL.iter().filter(|s| which.is_none_or(|w| w == s.name)).collect();
    if chosen.is_empty() {
        return Err(format!("no sanitizer `{}`: there are address and thread", which.unwrap_or("")));
    }
    for sanitizer in chosen {
        let mut command = Command::new("cargo");
        command.current_dir(root).args(["test", "--target", TARGET, "--target-dir", "target/sanitize"]);
        command.args(sanitizer.cargo);
        // Doc tests are built without the flags; there is nothing to sanitize in them.
        command.args(["--lib", "--tests"]);
        for package in sanitizer.packages {
            command.args(["--package", package]);
        }
        command.env("RUSTC_BOOTSTRAP", "1");
        command.env("RUSTFLAGS", format!("-Zsanitizer={}", sanitizer.name));
        let (variable, options) = sanitizer.variable;
        let suppressions = root.join("tests/sanitize").join(sanitizer.name);
        let options = match suppressions.exists() {
            true => format!("{options}:suppressions={}", suppressions.display()),
            false => options.to_owned(),
        };
        command.env(variable, options);
        let status = command.status().map_err(|e| format!("cargo: {e}"))?;
        if !status.success() {
            return Err(format!("the tests fail under the {} sanitizer", sanitizer.name));
        }
    }
    Ok(())
}
