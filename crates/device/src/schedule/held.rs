//! What whoever holds a dispatch's waves can do with them.

use super::Job;
use crate::group::Group;
use crate::hold::{Dispatch, WaveState, WaveStatus};
use crate::observe::Relay;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wavemill_wave::alone::Present;
use wavemill_wave::{Event, GroupShared, Memory, Wave, WaveId};

impl Dispatch for Job {
    fn is_busy(&self) -> bool {
        self.lock().busy > 0
    }

    fn is_over(&self) -> bool {
        self.lock().workers == 0 && self.next.load(Ordering::Relaxed) > 0
    }

    fn list(&self, out: &mut Vec<WaveStatus>) {
        let shared = self.lock();
        for group in shared.held.iter().chain(&shared.parked).chain(shared.ordered.values()) {
            out.extend(group.waves.iter().zip(&group.states).map(|(wave, state)| WaveStatus {
                id: wave.id,
                state: *state,
                pc: wave.pc,
                exec: wave.exec(),
            }));
        }
    }

    fn visit(&self, id: &WaveId, visitor: &mut dyn FnMut(&mut Wave, &GroupShared, &Memory)) -> bool {
        self.with_wave(id, |group, i| visitor(&mut group.waves[i], &group.shared, self.memory.memory()))
            .is_some()
    }

    fn release(&self, id: &WaveId) -> bool {
        let released = self.with_wave(id, |group, i| {
            let held = matches!(group.states[i], WaveState::Held(_));
            if held {
                group.waves[i].resume();
                group.states[i] = WaveState::Ready;
            }
            held
        });
        released == Some(true)
    }

    fn step(&self, id: &WaveId) -> Option<Event> {
        let mut ended = None;
        let event = self.with_wave(id, |group, i| {
            if !matches!(group.states[i], WaveState::Ready | WaveState::Held(_)) {
                return None;
            }
            let wave = &mut group.waves[i];
            wave.resume();
            let observer = wave.observer.take();
            let observers = observer.iter().cloned().collect();
            wave.observer = Some(Arc::new(Relay { observers, steps: true }));
            let _present = Present::among_others();
            let event = self.engine.run(wave, &group.shared, self.memory.memory(), 1);
            wave.observer = observer;
            match &event {
                Event::End => {
                    group.states[i] = WaveState::Ended;
                    if let Some(order) = &self.order {
                        order.ended(wave.place);
                    }
                    ended = Some(wave.counters);
                    self.observers.tell(|o| o.wave_ended(wave.id));
                }
                Event::Barrier => group.states[i] = WaveState::Barrier,
                Event::Message { .. } => self.host.iter().for_each(|h| h.message()),
                _ => {}
            }
            Some(event)
        });
        if let Some(counters) = ended {
            let mut shared = self.lock();
            shared.outcome.counters.add(&counters);
            shared.outcome.waves += 1;
        }
        event.flatten()
    }

    fn wake(&self) {
        self.resumed.notify_all();
    }
}

impl Job {
    /// Calls a function with the work-group and number of a wave that no thread runs; what can go on afterwards does.
    fn with_wave<R>(&self, id: &WaveId, f: impl FnOnce(&mut Group, usize) -> R) -> Option<R> {
        let mut shared = self.lock();
        let super::Shared { held, parked, ordered, .. } = &mut *shared;
        let mut groups = held.iter_mut().chain(parked.iter_mut()).chain(ordered.values_mut());
        let (group, i) = groups.find_map(|group| {
            let i = group.waves.iter().take(group.states.len()).position(|w| w.id == *id)?;
            Some((group, i))
        })?;
        let answer = f(group, i);
        self.release_barrier(group);
        // Those that were held as a whole, and are not any more.
        let free = shared.held.extract_if(.., |g| !g.is_held()).collect::<Vec<_>>();
        for group in free {
            if group.is_over() {
                self.ended(&group);
                shared.spare.push(group);
            } else {
                shared.parked.push_back(group);
                self.parked.fetch_add(1, Ordering::Release);
            }
        }
        drop(shared);
        self.resumed.notify_all();
        Some(answer)
    }
}
