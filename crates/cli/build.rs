//! Tells the command what only cargo and git know: the commit, and where cargo puts the runtime libraries that the command
//! carries. It generates nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=WAVEMILL_COMMIT");
    println!("cargo:rustc-env=WAVEMILL_COMMIT={}", commit().unwrap_or_default());
    // The libraries are dependencies of the command, so that they are there when it is compiled, but not yet now. Their
    // place is TARGET/PROFILE/deps; this is TARGET/PROFILE/build/NAME/out.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let deps = out.ancestors().nth(3).expect("cargo's layout").join("deps");
    for (variable, name) in [
        ("WAVEMILL_RUNTIME", "libhsa_runtime64.so"),
        ("WAVEMILL_OPENCL", "libwavemill_opencl.so"),
        ("WAVEMILL_COMGR_LIBRARY", "libwavemill_comgr.so"),
    ] {
        let library = deps.join(name);
        println!("cargo:rustc-env={variable}={}", library.display());
        // `cargo check` builds no library, and is content with an empty one. What is there already stays.
        let placeholder = std::fs::create_dir_all(&deps).and_then(|()| std::fs::File::create_new(&library));
        match placeholder {
            Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
                println!("cargo:warning={}: {e}", library.display());
            }
            _ => {}
        }
    }
}

/// Abbreviated commit and its day: what a packager says, else what git says of this very repository.
fn commit() -> Option<String> {
    if let Ok(said) = std::env::var("WAVEMILL_COMMIT") {
        return Some(said);
    }
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    let root = manifest.ancestors().nth(2)?.canonicalize().ok()?;
    // A source archive may have been unpacked inside of somebody else's repository.
    if Path::new(&git(&root, &["rev-parse", "--show-toplevel"])?).canonicalize().ok()? != root {
        return None;
    }
    for file in ["HEAD", "logs/HEAD"] {
        let path = root.join(git(&root, &["rev-parse", "--git-path", file])?);
        // A file that is missing would make cargo run this every time.
        if path.exists() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    git(&root, &["log", "-1", "--format=%h %cs"])
}

fn git(root: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
