//! The JIT: an engine that compiles blocks of code when they first run.
//!
//! Runs of instructions that work lane by lane become [`strip`]s: programs of `sem`'s operations, recorded from the meanings
//! that every engine uses, with registers as values. [`lower`] makes AVX-512 or AVX2 instructions of them ([`host`]), [`allocate`] gives values
//! registers, [`x86`] writes bytes. A strip runs whole for sixteen or eight lanes, then for the next: its registers stay in
//! the host's. Runs of scalar instructions are recorded likewise ([`scalar`](mod@scalar)) and become instructions on general
//! registers ([`gpr`]). [`block`] strings both together, with branches, and calls of the interpreter for everything else; what
//! nobody reads any more ([`live`]) is not written.
//!
//! `strip` and `scalar` know nothing of the host.

mod affine;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod allocate;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod arena;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod block;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod engine;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod gpr;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod host;
mod input;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod live;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod lower;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod opcodes;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod rooms;
mod scalar;
mod strip;
#[cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
mod tests;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod x86;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use engine::Jit;
pub use input::Input;
pub use scalar::{Scalar, scalar};
pub use strip::{Setting, Strip, strip};

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod elsewhere {
    use wavemill_isa::Target;
    use wavemill_wave::{Engine, Event, GroupShared, Interp, Memory, Simd, Wave};

    /// On this host there is none.
    pub struct Jit(Interp);

    impl Jit {
        /// None: this host has no code that the JIT could write.
        pub fn new(_: Target) -> Option<Jit> {
            None
        }

        /// None, as above.
        pub fn with_simd(_: Target, _: Simd) -> Option<Jit> {
            None
        }

        /// None, as above.
        pub fn all(_: Target) -> Vec<Jit> {
            Vec::new()
        }

        /// What its code would be made of.
        pub fn simd(&self) -> Simd {
            Simd::detect()
        }

        /// None, as above.
        pub fn patient(_: Target) -> Option<Jit> {
            None
        }
    }

    impl Engine for Jit {
        fn run(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event {
            self.0.run(wave, group, memory, budget)
        }
        fn name(&self) -> &'static str {
            "jit"
        }
        fn invalidate(&self, start: u64, len: u64) {
            self.0.invalidate(start, len);
        }
    }
}
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub use elsewhere::Jit;
