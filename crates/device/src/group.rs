//! A work-group under way: its waves and what they share.

use crate::hold::WaveState;
use crate::launch::ItemIds;
use wavemill_wave::{GroupShared, Wave};

/// A work-group under way.
pub(crate) struct Group {
    pub(crate) slot: u32,
    pub(crate) id: [u32; 3],
    pub(crate) size: [u32; 3],
    pub(crate) shared: GroupShared,
    /// More than the work-group has when an earlier one was larger; `states` counts.
    pub(crate) waves: Vec<Wave>,
    pub(crate) states: Vec<WaveState>,
    pub(crate) ids: ItemIds,
    /// None of its waves has run.
    pub(crate) fresh: bool,
    /// What its waves looked like after the last turn without progress.
    pub(crate) mark: u64,
    /// They looked the same before it.
    pub(crate) waits: bool,
    /// How often it was parked since a wave ended or reached a barrier: the more often, the shorter its turns.
    pub(crate) parked: u32,
    /// How many of the host's traps its waves have been told of.
    pub(crate) host_traps: u64,
}

impl Drop for Group {
    /// Waves that were stopped do not wait any more.
    fn drop(&mut self) {
        self.waves.iter_mut().for_each(|w| w.abandon(&self.shared));
    }
}

impl Group {
    /// The scalar state of the waves that can run, condensed.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hash = 0u64;
        let mut mix = |v: u64| hash = (hash.rotate_left(5) ^ v).wrapping_mul(0x517c_c1b7_2722_0a95);
        for (wave, _) in self.waves.iter().zip(&self.states).filter(|(_, s)| **s == WaveState::Ready) {
            mix(wave.pc << 1 | u64::from(wave.scc));
            (0..128).step_by(2).for_each(|code| mix(wave.sgpr64(code)));
        }
        hash
    }
}

impl Group {
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Wave> {
        self.waves.iter().zip(&self.states).filter(|(_, s)| **s == WaveState::Ready).map(|(w, _)| w)
    }

    /// Nothing can go on before its turn at an ordered counter has come.
    pub(crate) fn awaits_turn(&self) -> bool {
        self.waiting().next().is_some() && self.waiting().all(|w| w.awaited_turn().is_some())
    }

    /// A work-group's memory, with nothing in it yet.
    pub(crate) fn new(slot: u32, lds: u32) -> Group {
        Group {
            slot,
            id: [0; 3],
            size: [0; 3],
            shared: GroupShared::new(lds),
            waves: Vec::new(),
            states: Vec::new(),
            ids: ItemIds::default(),
            fresh: true,
            mark: 0,
            waits: false,
            parked: 0,
            host_traps: 0,
        }
    }

    /// Lets the waves go on that are at a barrier, when all have come there; true when some were. Waves that ended do not
    /// keep others.
    pub(crate) fn release_barrier(&mut self) -> bool {
        let count = |s: WaveState| self.states.iter().filter(|x| **x == s).count();
        let waiting = count(WaveState::Barrier);
        let release = waiting > 0 && waiting + count(WaveState::Ended) == self.states.len();
        if release {
            let waiting = self.states.iter_mut().filter(|s| **s == WaveState::Barrier);
            waiting.for_each(|s| *s = WaveState::Ready);
        }
        release
    }

    /// Every wave has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.states.iter().all(|s| *s == WaveState::Ended)
    }

    /// Nothing can go on before somebody lets a wave go that is held.
    pub(crate) fn is_held(&self) -> bool {
        let any = |is: fn(&WaveState) -> bool| self.states.iter().any(is);
        any(|s| matches!(s, WaveState::Held(_))) && !any(|s| *s == WaveState::Ready)
    }
}
