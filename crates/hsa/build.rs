//! Names the library as programs ask for it. `rocr.map` defines the version; each function's own declaration says
//! that it belongs to it (`api!` in `src/abi.rs`), because the list of exports that rustc hands the linker cannot.

fn main() {
    println!("cargo:rerun-if-changed=rocr.map");
    let directory = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--version-script={directory}/rocr.map");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libhsa-runtime64.so.1");
}
