//! The system that environment variables describe: what libraries make when a program starts them.

use crate::journal::Journal;
use crate::observe::ProcessObserver;
use crate::system::Setup;
use crate::trace::ProcessTrace;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wavemill_device::{EngineKind, Options, Profile};
use wavemill_wave::Bounds;

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
    let target = profile.target().ok_or_else(|| format!("WAVEMILL_GPU={name}: there is no such GPU"))?;
    let engine = EngineKind::from_environment()?;
    // As with a GPU: what is on the last page of an allocation can be accessed.
    let bounds = match var("WAVEMILL_BOUNDS").as_deref() {
        None | Some("page") => Bounds::Page,
        Some("exact") => Bounds::Exact,
        Some(other) => return Err(format!("WAVEMILL_BOUNDS={other}: exact or page is wanted")),
    };
    Ok(Setup {
        profile,
        target,
        gpus: number("WAVEMILL_GPUS")?.unwrap_or(1),
        options: Options {
            threads: number("WAVEMILL_THREADS")?.unwrap_or(0),
            engine,
            deadline: deadline()?,
            bounds,
            ..Options::default()
        },
        engine: Box::new(move |target| engine.make(target)),
        observer: var("WAVEMILL_TRACE").map(|file| trace(&file)).transpose()?,
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
fn trace(path: &str) -> Result<Arc<dyn ProcessObserver>, String> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.map_err(|e| format!("WAVEMILL_TRACE={path}: {e}"))?;
    Ok(Arc::new(ProcessTrace::new(Box::new(file))))
}
