//! Memory operations that a wave has issued and that are not over, as IB_STS shows them (manual, table 17). Everything here is done
//! when the next instruction runs; where caches are modelled, a wave sees it as late as it must.

use wavemill_isa::info::WaitCounts;

/// The counters of a wave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UnderWay {
    /// What IB_STS shows.
    pub counts: WaitCounts,
    /// Instructions since an operation was issued or ended.
    age: u8,
}

impl UnderWay {
    /// An operation of each kind is over after so many instructions that issue none, so that a loop that waits for it by looking at
    /// IB_STS ends.
    pub const LATENCY: u8 = 16;

    /// An instruction has run that raises counters, and waits for them to be at most `waits`, which is their maximum where it does
    /// not wait.
    pub fn step(&mut self, raised: WaitCounts, waits: WaitCounts) {
        let late = raised.is_zero() && self.age + 1 >= UnderWay::LATENCY;
        self.age = if raised.is_zero() && !late { self.age + 1 } else { 0 };
        let next = |count: u8, raised: u8, most: u8| {
            count.saturating_add(raised).saturating_sub(u8::from(late)).min(most)
        };
        let (now, WaitCounts { vm, lgkm, exp }) = (self.counts, raised);
        self.counts = WaitCounts {
            vm: next(now.vm, vm, waits.vm),
            lgkm: next(now.lgkm, lgkm, waits.lgkm),
            exp: next(now.exp, exp, waits.exp),
        };
    }
}
