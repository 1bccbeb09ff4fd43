//! The system that environment variables describe: what libraries make when a program starts them.

use crate::checks::ProcessChecks;
use crate::events::ProcessEvents;
use crate::fork;
use crate::interrupt;
use crate::journal::Journal;
use crate::observe::ProcessObserver;
use crate::system::Setup;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wavemill_check::{Checks, Session};
use wavemill_device::observe::Observers;
use wavemill_device::progress::Progress;
use wavemill_device::record::{Log, Mismatch};
use wavemill_device::terminal::message;
use wavemill_device::trace::{Filter, Trace};
use wavemill_device::{EngineKind, Options, Profile};
use wavemill_wave::{Bounds, Violations};

/// What the environment asks for (`wavemill exec --help` documents the variables).
pub fn setup() -> Result<Setup, String> {
    let var = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    let number = |name: &str| match var(name) {
        Some(text) => {
            text.parse::<usize>().map(Some).map_err(|_| format!("{name}={text}: a number is wanted"))
        }
        None => Ok(None),
    };
    let name = var("WAVEMILL_GPU").unwrap_or_else(|| "mi210".into());
    let profile =
        Profile::named(&name).ok_or_else(|| format!("WAVEMILL_GPU={name}: there is no such GPU"))?;
    let mut target = profile.target().ok_or_else(|| format!("WAVEMILL_GPU={name}: there is no such GPU"))?;
    // As AMD's runtime: 0 and 1 choose where the processor has a choice.
    match var("HSA_XNACK").as_deref() {
        Some("1") if target.cpu.xnack.is_some() => target.xnack = Some(true),
        Some("0") if target.cpu.xnack.is_some() => target.xnack = Some(false),
        _ => {}
    }
    let engine = EngineKind::from_environment()?;
    // As with a GPU: what is on the last page of an allocation can be accessed.
    let bounds = match var("WAVEMILL_BOUNDS").as_deref() {
        None | Some("page") => Bounds::Page,
        Some("exact") => Bounds::Exact,
        Some(other) => return Err(format!("WAVEMILL_BOUNDS={other}: exact or page is wanted")),
    };
    let violations = match var("WAVEMILL_VIOLATIONS").as_deref() {
        None | Some("report") => Violations::Report,
        Some("architectural") => Violations::Architectural,
        Some(other) => return Err(format!("WAVEMILL_VIOLATIONS={other}: report or architectural is wanted")),
    };
    let log = match (var("WAVEMILL_RECORD"), var("WAVEMILL_REPLAY")) {
        (Some(_), Some(_)) => {
            return Err("WAVEMILL_RECORD and WAVEMILL_REPLAY: a run is one or the other".into());
        }
        (Some(path), None) => Some(record(&path).map_err(|e| format!("WAVEMILL_RECORD={path}: {e}"))?),
        (None, Some(path)) => Some(replay(&path).map_err(|e| format!("WAVEMILL_REPLAY={path}: {e}"))?),
        (None, None) => None,
    };
    interrupt::watch();
    Ok(Setup {
        profile,
        target,
        gpus: number("WAVEMILL_GPUS")?.unwrap_or(1),
        options: Options {
            threads: number("WAVEMILL_THREADS")?.unwrap_or(0),
            engine,
            deadline: deadline()?,
            bounds,
            violations,
            caches: var("WAVEMILL_CACHES").is_some(),
            deterministic: log.is_some() || var("WAVEMILL_DETERMINISTIC").is_some(),
        },
        engine: Box::new(move |target| engine.make(target)),
        log,
        observer: observer(var("WAVEMILL_EVENTS"), var("WAVEMILL_CHECK"), var("WAVEMILL_FINDINGS"))?,
        observers: observers(std::env::var("WAVEMILL_TRACE").ok(), var("WAVEMILL_PROGRESS"))?,
        journal: journals(var("WAVEMILL_JSON"), var("WAVEMILL_FAULTS"))?,
    })
}

/// When the program's time is over: `WAVEMILL_TIMEOUT` seconds from now.
fn deadline() -> Result<Option<Instant>, String> {
    let Some(text) = std::env::var("WAVEMILL_TIMEOUT").ok().filter(|v| !v.is_empty()) else {
        return Ok(None);
    };
    let seconds = text.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    let seconds = seconds.ok_or_else(|| format!("WAVEMILL_TIMEOUT={text}: a number of seconds is wanted"))?;
    Ok(Instant::now().checked_add(seconds))
}

/// What is written down of dispatches: all of them, for a report, and those that faulted, for `exec`'s exit status.
fn journals(all: Option<String>, faults: Option<String>) -> Result<Option<Journal>, String> {
    let all = all.map(|file| journal(&file)).transpose()?;
    let Some(path) = faults else { return Ok(all) };
    Ok(Some(Box::new(move |record| {
        if let Some(all) = &all {
            all(record);
        }
        if let Some(report) = &record.completion.fault {
            // Nobody can be told; the report itself has been printed.
            let _ = File::options()
                .create(true)
                .append(true)
                .open(&path)
                .and_then(|mut file| file.write_all(format!("{}\n", report.kind).as_bytes()));
        }
    })))
}

/// Appends a line of JSON to a file for each dispatch. Whole lines, so that several processes may share the file.
fn journal(path: &str) -> Result<Journal, String> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.map_err(|e| format!("WAVEMILL_JSON={path}: {e}"))?;
    Ok(Box::new(move |record| {
        // A full disk must not stop the program.
        let _ = (&file).write_all(record.to_json().as_bytes());
    }))
}

/// Appends a line of JSON to a file for everything that happens around the GPUs.
fn events(path: &str) -> Result<Arc<dyn ProcessObserver>, String> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.map_err(|e| format!("WAVEMILL_EVENTS={path}: {e}"))?;
    Ok(Arc::new(ProcessEvents::new(Box::new(file))))
}

/// Writes instructions, to standard error or to a file that several processes may share. An empty text asks for all.
fn trace(text: &str) -> Result<Trace, String> {
    let named = |e: String| format!("WAVEMILL_TRACE={text}: {e}");
    let filter = Filter::parse(text).map_err(named)?;
    let out: Option<Box<dyn Write + Send>> = match &filter.file {
        Some(path) => {
            let file = File::options().create(true).append(true).open(path);
            Some(Box::new(file.map_err(|e| named(format!("{}: {e}", path.display())))?))
        }
        None => None,
    };
    Ok(Trace::new(filter, out))
}

/// Who looks on at dispatches: a trace, whoever shows how far they are, or both.
fn observers(text: Option<String>, progress: Option<String>) -> Result<Observers, String> {
    let mut all = Observers::default();
    if let Some(text) = text {
        all.add(Arc::new(trace(&text)?));
    }
    match progress.as_deref() {
        None | Some("0") => {}
        Some("1") => all.add(Arc::new(Progress::new(Box::new(std::io::stderr())))),
        Some(other) => return Err(format!("WAVEMILL_PROGRESS={other}: 0 or 1 is wanted")),
    }
    Ok(all)
}

/// Who looks on at everything: whoever writes events down, checks, or both.
fn observer(
    file: Option<String>,
    checks: Option<String>,
    findings: Option<String>,
) -> Result<Option<Arc<dyn ProcessObserver>>, String> {
    let events = file.map(|file| events(&file)).transpose()?;
    let (Some(list), Some(path)) = (checks, findings) else { return Ok(events) };
    let checks = Checks::parse(&list).map_err(|e| format!("WAVEMILL_CHECK={list}: {e}"))?;
    let file = File::options().create(true).append(true).open(&path);
    let file = file.map_err(|e| format!("WAVEMILL_FINDINGS={path}: {e}"))?;
    Ok(Some(Arc::new(ProcessChecks::new(Session::new(checks), file, events))))
}

/// Records the run. A record is of one process.
fn record(path: &str) -> Result<Arc<Log>, String> {
    let file = File::options().write(true).create_new(true).open(path);
    let file = file.map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => "it is there already, perhaps of another process".to_owned(),
        _ => e.to_string(),
    })?;
    Ok(Arc::new(Log::record(Box::new(file)).map_err(|e| e.to_string())?))
}

/// Repeats a record. Where the run leaves it, the process ends: whatever came next would not be what was asked for.
fn replay(path: &str) -> Result<Arc<Log>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let name = path.to_owned();
    let on_mismatch = Box::new(move |mismatch: &Mismatch| {
        message(format_args!("the run differs from its record: {name}: {mismatch}"));
        fork::quit(5)
    });
    Ok(Arc::new(Log::replay(text, on_mismatch)?))
}
