//! Names the library as programs ask for it. `rocr.map` defines the version; each function's own declaration says
//! that it belongs to it (`api!` in `src/abi.rs`), because the list of exports that rustc hands the linker cannot.
//!
//! Cargo cannot call a file `libhsa-runtime64.so.1`, so that this name, and the one that linkers look for, are links to
//! the file that it makes: `LD_LIBRARY_PATH=target/release ./program` finds the library.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=rocr.map");
    let directory = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--version-script={directory}/rocr.map");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libhsa-runtime64.so.1");
    // TARGET/PROFILE/build/NAME/out
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    let profile = Path::new(&out).ancestors().nth(3).expect("cargo's layout");
    for name in ["libhsa-runtime64.so.1", "libhsa-runtime64.so"] {
        link(&profile.join(name));
    }
}

/// Makes `name` a link to the library, which is made later.
#[cfg(unix)]
fn link(name: &Path) {
    if name.symlink_metadata().is_ok() {
        return;
    }
    if let Err(e) = std::os::unix::fs::symlink("deps/libhsa_runtime64.so", name) {
        println!("cargo:warning={}: {e}", name.display());
    }
}

#[cfg(not(unix))]
fn link(_: &Path) {}
