//! Which instructions a test runs: with `WAVEMILL_EVIDENCE=FILE`, tests append lines of a level, a mnemonic and their own
//! path to a file, and `cargo xtask evidence` makes `isa/evidence.txt` of them. Without it nothing happens.
//!
//! Tests that only look for panics have no witness: evidence is a result that was compared with what it should be.

use std::cell::Cell;
use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};
use wavemill_isa::{Enc, Level};
use wavemill_wave::observe::{Control, Instruction};
use wavemill_wave::{Engine, Event, GroupShared, Memory, Observer, Wave, mode};

/// The file, and what is there already.
struct Record {
    file: File,
    seen: HashSet<(Level, &'static str, Arc<str>)>,
}

fn record() -> Option<&'static Mutex<Record>> {
    static RECORD: OnceLock<Option<Mutex<Record>>> = OnceLock::new();
    let open = || {
        let path = std::env::var_os("WAVEMILL_EVIDENCE")?;
        let file = File::options().create(true).append(true).open(&path);
        let file = file.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Some(Mutex::new(Record { file, seen: HashSet::new() }))
    };
    RECORD.get_or_init(open).as_ref()
}

/// Notes that a test, named by its file from the repository's root, ran an instruction and looked at the result.
pub fn note(level: Level, mnemonic: &'static str, test: &Arc<str>) {
    let Some(record) = record() else { return };
    let mut record = record.lock().expect("no test fails while it writes");
    if record.seen.insert((level, mnemonic, test.clone())) {
        let line = format!("{} {mnemonic} {test}\n", level.name());
        record.file.write_all(line.as_bytes()).expect("evidence can be written");
    }
}

/// Notes every instruction of the waves it watches, once it has run: one that faults is no evidence.
struct Witness(Arc<str>);

thread_local! {
    /// Whether the instruction that this thread is about to run is one that a lane executes.
    static COUNTS: Cell<bool> = const { Cell::new(false) };
}

impl Observer for Witness {
    fn before(&self, wave: &Wave, next: &Instruction) -> Control {
        let scalar = (next.inst.row.enc as u8) < Enc::Vop2 as u8;
        COUNTS.set(scalar || wave.exec() != 0 && wave.mode & mode::VSKIP == 0);
        Control::Continue
    }

    fn after(&self, wave: &Wave, ran: &Instruction) -> Control {
        if COUNTS.get() {
            note(wave.level(), ran.inst.row.name, &self.0);
        }
        Control::Continue
    }
}

/// Somebody who notes what a test's waves run, if there is a file to note it in.
pub fn witness(test: &str) -> Option<Arc<dyn Observer>> {
    record()?;
    Some(Arc::new(Witness(test.into())))
}

/// An engine with a [`witness`] for every wave.
pub struct Witnessed {
    engine: Arc<dyn Engine>,
    witness: Option<Arc<dyn Observer>>,
}

impl Witnessed {
    /// An engine for a test.
    pub fn new(engine: Arc<dyn Engine>, test: &str) -> Witnessed {
        Witnessed { engine, witness: witness(test) }
    }
}

impl Engine for Witnessed {
    fn run(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event {
        wave.observer = wave.observer.take().or_else(|| self.witness.clone());
        self.engine.run(wave, group, memory, budget)
    }

    fn invalidate(&self, start: u64, len: u64) {
        self.engine.invalidate(start, len);
    }

    fn revalidate(&self) {
        self.engine.revalidate();
    }
}
