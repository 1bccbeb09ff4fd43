//! A trace of instructions: what `wavemill run --trace` and `exec --trace` write. Each instruction comes with its source
//! line, the registers it changed and the memory it accessed.

mod filter;
mod steps;

pub use filter::Filter;

use crate::observe::{DispatchObserver, Scene};
use crate::terminal;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use steps::Steps;
use wavemill_wave::{Observer, WaveId};

/// Where a trace may go.
pub type File = Box<dyn Write + Send>;

/// Writes instructions.
pub struct Trace {
    filter: Filter,
    paper: Arc<Paper>,
}

impl Trace {
    /// Writes what the filter lets through to `out`, or to standard error.
    pub fn new(filter: Filter, out: Option<File>) -> Trace {
        let left = AtomicU64::new(filter.count.unwrap_or(u64::MAX));
        Trace { filter, paper: Arc::new(Paper { left, state: Mutex::new((out, None)) }) }
    }

    /// Why a place that the filter names is nowhere in the code that ran, if it is not.
    pub fn missed(&self) -> Option<String> {
        self.filter.missed()
    }
}

impl DispatchObserver for Trace {
    fn wave_observer(&self, scene: &Scene<'_>) -> Option<Arc<dyn Observer>> {
        let wanted = self.filter.takes_dispatch(&scene.plan.kernel.name, scene.plan.number);
        wanted.then(|| Arc::new(Steps::new(scene, &self.filter, self.paper.clone())) as Arc<dyn Observer>)
    }
}

/// What all waves are written to.
struct Paper {
    /// Instructions that may still be written.
    left: AtomicU64,
    /// The file, if it is not standard error, and the wave that was written last.
    state: Mutex<(Option<File>, Option<WaveId>)>,
}

impl Paper {
    /// Nothing more is wanted.
    fn is_full(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Writes what there is to say about an instruction, below its wave's name.
    fn write(&self, id: WaveId, kernel: &str, text: &str) {
        let less = |left: u64| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut whole = String::new();
        if state.1.replace(id) != Some(id) {
            let group = id.group.map(|n| n.to_string()).join(",");
            whole = format!("{kernel}, dispatch {}, work-group {group}, wave {}\n", id.dispatch, id.wave);
        }
        whole += text;
        match &mut state.0 {
            // A full disk must not stop the program.
            Some(file) => _ = file.write_all(whole.as_bytes()),
            None => terminal::report(&whole),
        }
    }
}
