//! A look at waves as they run: what sanitizers, debuggers and profilers hang on.

use crate::engine::Event;
use crate::state::Wave;
use wavemill_isa::Row;
use wavemill_sem::memory::Access;

/// Sees every instruction of the waves it is given to ([`Wave::observer`]). Such waves run step by step; others run whole
/// blocks and know nothing of observers.
pub trait Observer: Send + Sync {
    /// An instruction is about to run.
    fn instruction(&self, wave: &Wave, next: &Next<'_>);

    /// The wave stops: it came to a barrier, was preempted by S_SLEEP, trapped, faulted or ended.
    fn stopped(&self, wave: &Wave, event: &Event) {
        let _ = (wave, event);
    }
}

/// An instruction about to run.
#[derive(Clone, Copy, Debug)]
pub struct Next<'a> {
    /// Its address.
    pub pc: u64,
    /// What it is.
    pub row: &'static Row,
    /// Its encoding.
    pub bits: u64,
    /// What a vector memory instruction does, unless it converts: those that do, and image instructions, have none.
    pub access: Option<Access>,
    /// Addresses and sizes of what its active lanes access in memory, LDS not counted: buffers and private
    /// memory dword by dword, images texel by texel.
    pub touched: &'a [(u64, u64)],
}
