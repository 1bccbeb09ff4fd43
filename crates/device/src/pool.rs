//! The host threads of a device: they help whoever runs a dispatch.

use crate::schedule::{Job, Outcome};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Threads that help with dispatches.
pub(crate) struct Pool {
    shared: Arc<PoolShared>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

#[derive(Default)]
struct PoolShared {
    state: Mutex<PoolState>,
    wake: Condvar,
}

#[derive(Default)]
struct PoolState {
    /// Jobs that want helpers, and how many.
    jobs: VecDeque<(Arc<Job>, u64)>,
    closing: bool,
}

impl PoolShared {
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    /// `helpers` threads, beside the one that calls `run`.
    pub(crate) fn new(helpers: usize) -> Pool {
        let shared = Arc::new(PoolShared::default());
        // A thread that cannot be had is done without.
        let threads = (0..helpers).filter_map(|i| {
            let shared = shared.clone();
            let builder = std::thread::Builder::new().name(format!("wavemill-{i}"));
            builder.spawn(move || help(&shared)).ok()
        });
        let threads = threads.collect();
        Pool { shared, threads }
    }

    /// Runs a job on this thread and the helpers, to its end.
    pub(crate) fn run(&self, job: Arc<Job>) -> Outcome {
        job.begin();
        let helpers = (job.width() - 1).min(self.threads.len() as u64);
        if helpers > 0 {
            let mut state = self.shared.lock();
            let at = state.jobs.partition_point(|(other, _)| other.priority() >= job.priority());
            state.jobs.insert(at, (job.clone(), helpers));
            drop(state);
            self.shared.wake.notify_all();
        }
        job.work(helpers == 0);
        if helpers > 0 {
            self.shared.lock().jobs.retain(|(j, _)| !Arc::ptr_eq(j, &job));
        }
        job.finish()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.wake.notify_all();
        for thread in self.threads.drain(..) {
            // A helper that panicked has been reported by its job.
            let _ = thread.join();
        }
    }
}

fn help(shared: &PoolShared) {
    let mut state = shared.lock();
    while !state.closing {
        let Some((job, wanted)) = state.jobs.pop_front() else {
            state = shared.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        if wanted > 1 {
            // It was the first of the highest priority, and still is.
            state.jobs.push_front((job.clone(), wanted - 1));
        }
        drop(state);
        // The panic has been recorded in the job; this thread serves the next one.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job.work(false)));
        state = shared.lock();
    }
}
