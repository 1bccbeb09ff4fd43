//! Scalar stores that stay in the scalar data cache: whoever reads them another way, and whoever comes after the wave, needs
//! S_DCACHE_WB behind them (AMDGPU guide, memory model: before S_ENDPGM).

use super::accesses::Accesses;
use super::book::{Key, Told, Who};
use super::cells::Numbered;
use super::scene::Executed;
use super::set::Check;
use super::watch::{Context, GroupWatch, Watch};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wavemill_wave::observe::{Kind, Space};
use wavemill_wave::{Event, Wave, WaveId};

/// A scalar store that is not written back: the wave and the instruction.
type Dirty = Numbered<(WaveId, u64)>;

/// Dwords of the dispatch.
#[derive(Default)]
struct Stores {
    some: AtomicBool,
    dirty: Mutex<Dirty>,
}

impl Stores {
    fn dirty(&self) -> MutexGuard<'_, Dirty> {
        self.dirty.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The check.
#[derive(Default)]
pub struct WriteBack {
    stores: Arc<Stores>,
}

impl Watch for WriteBack {
    fn group(&self, _: &Context<'_>, _: [u32; 3], _: u32) -> Box<dyn GroupWatch> {
        Box::new(Group { stores: self.stores.clone() })
    }

    fn wants_before(&self, _: &Executed) -> bool {
        false
    }
}

struct Group {
    stores: Arc<Stores>,
}

const KIND: &str = "not-written-back";
const MEND: &str = "put s_dcache_wb and s_waitcnt lgkmcnt(0) behind the store";

impl GroupWatch for Group {
    fn after(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed, accesses: &mut Accesses) {
        let vector = accesses.together().is_some() && !accesses.any_in(Space::Scalar);
        if vector && !self.stores.some.load(Ordering::Relaxed) {
            return;
        }
        for access in accesses.list().iter().filter(|a| a.fault.is_none()) {
            let some = self.stores.some.load(Ordering::Relaxed);
            let dwords = access.address / 4..(access.address + u64::from(access.bytes)).div_ceil(4);
            match (access.space, access.kind) {
                (Space::Scalar, Kind::Write) => {
                    self.stores.some.store(true, Ordering::Relaxed);
                    let mut dirty = self.stores.dirty();
                    dwords.for_each(|dword| {
                        dirty.insert(dword, (wave.id, at.step.at));
                    });
                }
                (Space::Scalar, Kind::WriteBack) if some => {
                    self.stores.dirty().retain(|_, (id, _)| *id != wave.id);
                }
                (Space::Global, _) if some => {
                    let mut dirty = self.stores.dirty();
                    let Some((_, store)) = dwords.filter_map(|dword| dirty.remove(&dword)).next() else {
                        continue;
                    };
                    drop(dirty);
                    let key = Key { check: Check::Wait, kind: KIND, pc: at.step.at, other: Some(store) };
                    let lanes = access.lane.map_or(0, |l| 1 << l);
                    cx.report(key, Who { wave: wave.id, lanes }, 1, || Told {
                        message: "a scalar store has not been written back to memory where it is accessed"
                            .into(),
                        other: "stored",
                        facts: vec![("address", format!("{:#x}", access.address))],
                        mend: MEND.into(),
                        ..Told::default()
                    });
                }
                _ => {}
            }
        }
    }

    fn wave_ended(&mut self, cx: &Context<'_>, wave: &Wave, how: &Event) {
        if *how != Event::End || !self.stores.some.load(Ordering::Relaxed) {
            return;
        }
        let mut dirty = self.stores.dirty();
        let mut left: Vec<u64> = Vec::new();
        dirty.retain(|_, (id, store)| {
            if *id == wave.id {
                left.push(*store);
            }
            *id != wave.id
        });
        drop(dirty);
        left.sort_unstable();
        left.dedup();
        for store in left {
            let key = Key { check: Check::Wait, kind: KIND, pc: store, other: None };
            cx.report(key, Who { wave: wave.id, lanes: 0 }, 1, || Told {
                message: "the wave ends, and this scalar store has not been written back to memory".into(),
                mend: MEND.into(),
                ..Told::default()
            });
        }
    }
}
