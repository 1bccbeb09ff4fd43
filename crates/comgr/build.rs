//! Names the library as programs ask for it. `comgr.map` defines the versions; each function's own declaration says to
//! which it belongs (`api!` in `src/abi.rs`).

fn main() {
    println!("cargo:rerun-if-changed=comgr.map");
    let directory = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--version-script={directory}/comgr.map");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libamd_comgr.so.2");
}
