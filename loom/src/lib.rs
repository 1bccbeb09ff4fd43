//! Code that several threads run at once, in every order of their steps: loom runs each test again and again, until it has
//! tried all orders that differ, and what each atomic may return in them. The modules are the crates' own files; their
//! `sync` is loom's here.
#![allow(dead_code)] // The crates use what the tests do not.

mod sync {
    pub(crate) use loom::sync::{Mutex, MutexGuard, RwLock, atomic};

    /// loom takes `SeqCst` for acquire and release, and knows their one order from fences alone.
    pub(crate) fn total_order() {
        atomic::fence(atomic::Ordering::SeqCst);
    }

    /// A barrier of all threads makes each thread's own, which are nothing but order to the compiler, as good as fences.
    pub(crate) fn barrier_of_all() {
        atomic::fence(atomic::Ordering::SeqCst);
    }

    pub(crate) fn barrier_of_one() {
        atomic::fence(atomic::Ordering::SeqCst);
    }

    pub(crate) fn has_barrier() -> bool {
        true
    }

    pub(crate) fn pause() {
        loom::thread::yield_now();
    }
}

/// What stands for memory that is mapped: it says when it is gone.
mod mapping {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicBool, Ordering};

    pub struct Mapping(pub Arc<AtomicBool>);

    impl Mapping {
        /// # Safety
        /// None here.
        pub unsafe fn discard(&self) {}
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[path = "../../crates/runtime/src/doze.rs"]
mod doze;
#[path = "../../crates/wave/src/alone/handshake.rs"]
mod handshake;
#[path = "../../crates/device/src/reclaim.rs"]
mod reclaim;
#[path = "../../crates/hsa/src/users.rs"]
mod users;

#[cfg(test)]
mod tests {
    use crate::doze::{doze, sleeping};
    use crate::handshake::Handshake;
    use crate::mapping::Mapping;
    use crate::reclaim::Reclaimer;
    use crate::users::{Refused, State, Users};
    use loom::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    use loom::sync::{Arc, Condvar, Mutex, RwLock};
    use loom::thread;

    /// Tries all orders in which threads are interrupted up to twice each way: more than errors of this kind have needed.
    fn every_order(test: impl Fn() + Send + Sync + 'static) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(test);
    }

    /// The kernel's futex: who sleeps has seen the word unchanged, who wakes comes before or after.
    #[derive(Default)]
    struct Futex {
        lock: Mutex<()>,
        woken: Condvar,
    }

    impl Futex {
        fn sleep(&self, unchanged: impl Fn() -> bool) {
            let mut held = self.lock.lock().unwrap();
            // Once woken, whatever the word is then: the caller looks again.
            if unchanged() {
                held = self.woken.wait(held).unwrap();
            }
            drop(held);
        }

        fn wake(&self) {
            drop(self.lock.lock().unwrap());
            self.woken.notify_all();
        }
    }

    /// A queue's thread sleeps until a packet is valid; a producer makes one so and rings. A wake-up that is lost leaves the
    /// thread asleep for ever, which loom reports.
    #[test]
    fn a_queue_that_sleeps_hears_its_doorbell() {
        every_order(|| {
            struct Queue {
                header: AtomicU16,
                content: AtomicU64,
                bell: AtomicU32,
                asleep: AtomicU64,
                futex: Futex,
            }
            let queue = Arc::new(Queue {
                header: AtomicU16::new(1),
                content: AtomicU64::new(0),
                bell: AtomicU32::new(0),
                asleep: AtomicU64::new(0),
                futex: Futex::default(),
            });
            let producer = {
                let queue = queue.clone();
                thread::spawn(move || {
                    queue.content.store(7, Ordering::Relaxed);
                    queue.header.store(2, Ordering::Release);
                    queue.bell.fetch_add(1, Ordering::SeqCst);
                    if sleeping(&queue.asleep) != 0 {
                        queue.futex.wake();
                    }
                })
            };
            let ready = || queue.header.load(Ordering::Acquire) != 1;
            while !ready() {
                let look = || {
                    let seen = queue.bell.load(Ordering::SeqCst);
                    (!ready()).then_some(seen)
                };
                doze(&queue.asleep, look, |seen| {
                    queue.futex.sleep(|| queue.bell.load(Ordering::SeqCst) == seen)
                });
            }
            assert_eq!(queue.content.load(Ordering::Relaxed), 7, "a packet is whole when it is valid");
            producer.join().unwrap();
            assert_eq!(sleeping(&queue.asleep), 0);
        });
    }

    /// Two threads wait for a signal that two others count down to zero.
    #[test]
    fn whoever_waits_for_a_signal_is_woken() {
        every_order(|| {
            struct Signal {
                value: AtomicU32,
                waiting: AtomicU64,
                futex: Futex,
            }
            let signal = Arc::new(Signal {
                value: AtomicU32::new(2),
                waiting: AtomicU64::new(0),
                futex: Futex::default(),
            });
            let complete = |signal: &Signal| {
                signal.value.fetch_sub(1, Ordering::SeqCst);
                if sleeping(&signal.waiting) != 0 {
                    signal.futex.wake();
                }
            };
            let wait = |signal: &Signal| {
                while signal.value.load(Ordering::SeqCst) != 0 {
                    let look = || Some(signal.value.load(Ordering::SeqCst)).filter(|v| *v != 0);
                    doze(&signal.waiting, look, |seen| {
                        signal.futex.sleep(|| signal.value.load(Ordering::SeqCst) == seen)
                    });
                }
            };
            let threads = [
                {
                    let signal = signal.clone();
                    thread::spawn(move || complete(&signal))
                },
                {
                    let signal = signal.clone();
                    thread::spawn(move || wait(&signal))
                },
            ];
            complete(&signal);
            wait(&signal);
            threads.into_iter().for_each(|t| t.join().unwrap());
            assert_eq!(sleeping(&signal.waiting), 0);
        });
    }

    /// Memory that a wave has found stays mapped until the wave has ended, whoever frees it meanwhile; and in the end it goes.
    #[test]
    fn memory_outlives_the_waves_that_found_it() {
        every_order(|| {
            let reclaimer = Arc::new(Reclaimer::default());
            // What waves can find, as the ranges of an agent.
            let visible = Arc::new(RwLock::new(true));
            let gone = Arc::new(AtomicBool::new(false));
            let waves: Vec<_> = (0..2)
                .map(|_| {
                    let (reclaimer, visible, gone) = (reclaimer.clone(), visible.clone(), gone.clone());
                    thread::spawn(move || {
                        let running = reclaimer.running();
                        let found = *visible.read().unwrap();
                        if found {
                            assert!(!gone.load(Ordering::Relaxed), "a wave accesses memory that is gone");
                        }
                        drop(running);
                    })
                })
                .collect();
            *visible.write().unwrap() = false;
            reclaimer.retire(Mapping(gone.clone()));
            waves.into_iter().for_each(|t| t.join().unwrap());
            assert!(gone.load(Ordering::Relaxed), "freed memory is not kept");
        });
    }

    #[derive(Debug, PartialEq)]
    struct Wrong(Refused);

    impl From<Refused> for Wrong {
        fn from(refused: Refused) -> Wrong {
            Wrong(refused)
        }
    }

    /// Starts and ends that race: there is never a second runtime, who holds a start finds it alive, and the last one ends it.
    #[test]
    fn starts_and_ends_may_race() {
        every_order(|| {
            /// Something of which there must be one.
            struct Only(Arc<AtomicUsize>);
            let alive = Arc::new(AtomicUsize::new(0));
            let users =
                Arc::new(Users::<Only> { state: RwLock::new(State::new()), lifecycle: Mutex::new(()) });
            let user = |users: &Users<Only>, alive: &Arc<AtomicUsize>| {
                let make = || {
                    assert_eq!(alive.fetch_add(1, Ordering::SeqCst), 0, "there are two");
                    Ok::<_, Wrong>(Only(alive.clone()))
                };
                users.enter(true, make).unwrap();
                let held = users.get().expect("who has started it finds it");
                assert_eq!(held.0.load(Ordering::SeqCst), 1, "it has ended under its user");
                let end = |only: std::sync::Arc<Only>| {
                    // Others that hold it find out by its state; its end is here.
                    only.0.fetch_sub(1, Ordering::SeqCst);
                };
                users.leave::<Wrong>(true, end).unwrap();
            };
            let other = {
                let (users, alive) = (users.clone(), alive.clone());
                thread::spawn(move || user(&users, &alive))
            };
            user(&users, &alive);
            other.join().unwrap();
            assert!(users.get().is_none());
            assert_eq!(alive.load(Ordering::SeqCst), 0);
            assert_eq!(users.leave::<Wrong>(true, |_| ()), Err(Wrong(Refused::Unused)));
        });
    }

    fn handshake() -> Arc<Handshake> {
        Arc::new(Handshake {
            present: Mutex::new(0),
            hint: AtomicUsize::new(0),
            alone: AtomicU64::new(0),
            inside: AtomicBool::new(false),
        })
    }

    /// Adds one to a word as waves do: in steps if alone.
    fn add(threads: &Handshake, me: u64, word: &AtomicU32) {
        if threads.begin(me) {
            word.store(word.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            threads.end();
        } else {
            word.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Threads that come and go add to a word: nothing is lost.
    #[test]
    fn who_is_alone_loses_nothing() {
        for others in [1, 2] {
            every_order(move || {
                let (threads, word) = (handshake(), Arc::new(AtomicU32::new(0)));
                let others: Vec<_> = (0..others)
                    .map(|n| {
                        let (threads, word) = (threads.clone(), word.clone());
                        thread::spawn(move || {
                            threads.enter();
                            add(&threads, 2 + n, &word);
                            threads.leave(2 + n);
                        })
                    })
                    .collect();
                threads.enter();
                for _ in 0..2 {
                    add(&threads, 1, &word);
                }
                threads.leave(1);
                let added = 2 + others.len() as u32;
                others.into_iter().for_each(|t| t.join().unwrap());
                assert_eq!(word.load(Ordering::Relaxed), added);
            });
        }
    }

    /// A lock is taken by comparing and exchanging, which does nothing but writes the old value where it fails, and released by
    /// a plain store: that is not overwritten.
    #[test]
    fn who_is_alone_overwrites_no_store() {
        every_order(|| {
            let (threads, lock) = (handshake(), Arc::new(AtomicU32::new(1)));
            let holder = {
                let (threads, lock) = (threads.clone(), lock.clone());
                thread::spawn(move || {
                    threads.enter();
                    lock.store(0, Ordering::Release);
                    threads.leave(2);
                })
            };
            threads.enter();
            for _ in 0..2 {
                if threads.begin(1) {
                    let old = lock.load(Ordering::Relaxed);
                    lock.store(if old == 0 { 2 } else { old }, Ordering::Relaxed);
                    threads.end();
                } else {
                    let _ = lock.compare_exchange(0, 2, Ordering::SeqCst, Ordering::SeqCst);
                }
            }
            threads.leave(1);
            holder.join().unwrap();
            let value = lock.load(Ordering::Relaxed);
            assert_ne!(value, 1, "the release is lost");
        });
    }
}
