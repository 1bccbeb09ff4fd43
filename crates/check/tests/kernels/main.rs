//! The fixtures that compilers made, run with all checks: nothing is found, and results are what they are without.

#[path = "../../../device/tests/kernels/main.rs"]
#[allow(dead_code, unused_imports)] // engines are compared elsewhere
mod kernels;
mod look;
