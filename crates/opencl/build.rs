//! The library's own functions are its own, also where the program has others of the same names: the loader exports all of
//! OpenCL's.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
}
