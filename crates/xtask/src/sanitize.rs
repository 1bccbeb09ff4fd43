//! `cargo xtask sanitize`: the tests of the runtime and its fuzz targets under AddressSanitizer and ThreadSanitizer.
//!
//! Sanitizers are unstable options of the compiler: the stable one takes them with `RUSTC_BOOTSTRAP=1`. ThreadSanitizer needs
//! a standard library that is instrumented, too, made from the sources of whichever toolchain has them. Miri is a component of
//! the nightly one; it runs what needs neither threads of the system nor memory maps.

use std::path::Path;
use std::process::Command;

/// Where the host's tests go; sanitizers want a target to be named, so that build scripts are not instrumented.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A sanitizer, with what it takes.
struct Sanitizer {
    name: &'static str,
    /// The standard library is built with it.
    library: bool,
    /// Packages whose tests run.
    packages: &'static [&'static str],
    /// Its options at run time.
    variable: (&'static str, &'static str),
    /// Tests that it cannot run, by the beginnings of their names.
    skip: &'static [&'static str],
}

const ALL: [Sanitizer; 2] = [
    Sanitizer {
        name: "address",
        library: false,
        packages: &[
            "wavemill-wave",
            "wavemill-device",
            "wavemill-console",
            "wavemill-runtime",
            "wavemill-hsa",
        ],
        // What the process has at its end is the system's; children that are killed say nothing. Callers may have addresses
        // copied that are none: those copies fault, which is caught, and must not be refused before.
        variable: (
            "ASAN_OPTIONS",
            "detect_leaks=0:allow_user_segv_handler=1:detect_stack_use_after_return=0:replace_intrin=0",
        ),
        skip: &[],
    },
    Sanitizer {
        name: "thread",
        library: true,
        packages: &["wavemill-runtime", "wavemill-hsa"],
        variable: ("TSAN_OPTIONS", "halt_on_error=0:exitcode=66"),
        // It makes atomic accesses itself, with locks of its own held: whoever leaves one by a signal, as accesses to pages that
        // are gone are left, leaves them locked, and all threads wait for ever.
        skip: &["hostile::memory_that_is_taken_away"],
    },
];

/// Tests of the interpreter's accesses to guest memory, which Miri runs. Of the crates with unsafe code this is what it can: others
/// map memory, handle signals or call the C library, and most crates have none.
const MIRI: &[&str] = &["files::memory", "files::lds"];

/// Runs the tests under one sanitizer or Miri, or under all.
pub fn run(root: &Path, which: Option<&str>) -> Result<(), String> {
    let chosen: Vec<&Sanitizer> = ALL.iter().filter(|s| which.is_none_or(|w| w == s.name)).collect();
    let miri = which.is_none_or(|w| w == "miri");
    if chosen.is_empty() && !miri {
        return Err(format!("no sanitizer `{}`: there are address, thread and miri", which.unwrap_or("")));
    }
    chosen.into_iter().try_for_each(|sanitizer| sanitizer.run(root))?;
    if miri { interpreted(root) } else { Ok(()) }
}

impl Sanitizer {
    fn run(&self, root: &Path) -> Result<(), String> {
        let mut command = Command::new("cargo");
        if self.library {
            command.arg(format!("+{}", with_sources()?));
        }
        let directory = format!("target/sanitize/{}", self.name);
        command.current_dir(root).args(["test", "--target", TARGET, "--target-dir", &directory]);
        command.args(self.library.then_some("-Zbuild-std"));
        // Doc tests are built without the flags; there is nothing to sanitize in them.
        command.args(["--lib", "--tests"]);
        for package in self.packages {
            command.args(["--package", package]);
        }
        command.arg("--").args(self.skip.iter().flat_map(|name| ["--skip", name]));
        command.env("RUSTC_BOOTSTRAP", "1");
        // Libraries that tests load find the sanitizer in the test.
        command.env("RUSTFLAGS", format!("-Zsanitizer={} -Clink-arg=-rdynamic", self.name));
        let (variable, options) = self.variable;
        let suppressions = root.join("tests/sanitize").join(self.name);
        let options = match suppressions.exists() {
            true => format!("{options}:suppressions={}", suppressions.display()),
            false => options.to_owned(),
        };
        command.env(variable, options);
        // Freed memory stays with the sanitizer.
        command.env("WAVEMILL_LOAD_ROOM", "2048");
        finished(&mut command, &format!("the {} sanitizer", self.name))
    }
}

/// The toolchain that has the standard library's sources: the one in use, or the nightly one.
fn with_sources() -> Result<String, String> {
    let has = |toolchain: &str| {
        let output =
            Command::new("rustc").args([&format!("+{toolchain}"), "--print", "sysroot"]).output().ok()?;
        let root = String::from_utf8(output.stdout).ok()?;
        Path::new(root.trim()).join("lib/rustlib/src/rust/library").is_dir().then_some(())
    };
    let found = ["stable", "nightly"].into_iter().find(|t| has(t).is_some());
    found.map(str::to_owned).ok_or_else(|| {
        "no toolchain has the standard library's sources; `rustup component add rust-src` gets them".into()
    })
}

fn interpreted(root: &Path) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.current_dir(root).args(["+nightly", "miri", "test", "--target-dir", "target/sanitize/miri"]);
    command.args(["--package", "wavemill-wave", "--test", "it", "--"]).args(MIRI);
    // Tests read files. Addresses are numbers to kernels, so that pointers come of numbers. Miri makes the results of float
    // functions vary where Rust promises no precision.
    command.env(
        "MIRIFLAGS",
        "-Zmiri-disable-isolation -Zmiri-permissive-provenance -Zmiri-tree-borrows -Zmiri-deterministic-floats",
    );
    finished(&mut command, "Miri")
}

fn finished(command: &mut Command, under: &str) -> Result<(), String> {
    let status = command.status().map_err(|e| format!("cargo: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("the tests fail under {under}")) }
}
