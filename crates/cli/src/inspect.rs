//! `wavemill inspect`: what a code object holds, for people and (`--json`) for programs.
//!
//! `facts` works out what there is to say about kernels; `text` and `json` say it. `debug` shows debugging information.

mod debug;
mod facts;
mod json;
mod text;

use crate::input::{choose, label, name_of, open};
use crate::json::Json;
use crate::output::{raw_stdout, written};
use clap::Args;
use std::io::Write;
use std::process::ExitCode;
use wavemill_object::read::File;

/// Arguments of `inspect`.
#[derive(Args)]
#[command(
    after_help = "Without a choice everything but descriptors, relocations and debugging information is shown. FILE may be a code object, an \
offload bundle (also compressed)\nor a HIP program.\n\nOccupancy is the number of waves that fit on a SIMD at the \
largest work-group the kernel allows; LDS that is asked for\nwhen the kernel is launched is not known and not counted."
)]
pub struct Inspect {
    /// The code object, bundle or program
    file: String,
    /// As JSON
    #[arg(long)]
    json: bool,
    /// The kernels: arguments, registers, memory, occupancy
    #[arg(long)]
    kernels: bool,
    /// The notes with the metadata
    #[arg(long)]
    notes: bool,
    /// The kernel descriptors, field by field
    #[arg(long)]
    descriptors: bool,
    /// The symbols
    #[arg(long)]
    symbols: bool,
    /// The sections and segments
    #[arg(long)]
    sections: bool,
    /// The relocations
    #[arg(long)]
    relocations: bool,
    /// The debugging information: functions, their variables, the memory they are in and point to
    #[arg(long)]
    debug: bool,
    /// Which of several code objects: gfx90a, gfx90a:xnack-, or an id that `unbundle --list` shows
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
}

/// What to show.
#[derive(Clone, Copy)]
struct Parts {
    kernels: bool,
    notes: bool,
    descriptors: bool,
    symbols: bool,
    sections: bool,
    relocations: bool,
    debug: bool,
    /// Everything was asked for, so that notes need no details.
    all: bool,
}

/// A code object and what it is called.
struct Subject<'a> {
    file: &'a File<'a>,
    name: &'a str,
    /// The bundle's name for it.
    entry: Option<String>,
}

/// Runs `wavemill inspect`.
pub fn run(args: &Inspect) -> ExitCode {
    match inspect(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => crate::output::fail("inspect", &message),
    }
}

fn inspect(args: &Inspect) -> Result<(), String> {
    let all = !(args.kernels
        || args.notes
        || args.descriptors
        || args.symbols
        || args.sections
        || args.relocations
        || args.debug);
    let parts = Parts {
        kernels: args.kernels || all,
        notes: args.notes || all,
        descriptors: args.descriptors || (all && args.json),
        symbols: args.symbols || all,
        sections: args.sections || all,
        relocations: args.relocations || (all && args.json),
        debug: args.debug,
        all,
    };
    let in_file = |e: &dyn std::fmt::Display| format!("{}: {e}", args.file);
    let bytes = open(&args.file)?;
    let objects = choose(&args.file, &bytes, args.target.as_deref())?;
    // What is wrong is found before anything is shown.
    let mut files = Vec::new();
    for object in &objects {
        let name = name_of(&args.file, object);
        let file = File::parse(&object.data).map_err(|e| format!("{name}: {e}"))?;
        files.push((file, name, (!object.id.is_empty()).then(|| label(object))));
    }
    let subjects: Vec<Subject<'_>> =
        files.iter().map(|(file, name, entry)| Subject { file, name, entry: entry.clone() }).collect();
    if args.json {
        let mut bytes = Vec::new();
        let mut json = Json::new(&mut bytes);
        let mut result = Ok(());
        let mut one = |json: &mut Json<_>, subject: &Subject<'_>| {
            if result.is_ok() {
                result = json::write(subject, parts, json);
            }
        };
        match subjects.as_slice() {
            [subject] => one(&mut json, subject),
            several => json.array(|j| several.iter().for_each(|s| one(j, s))),
        }
        result.map_err(|e| in_file(&e))?;
        json.finish().map_err(|e| in_file(&e))?;
        return written(raw_stdout()?.write_all(&bytes));
    }
    let mut out = raw_stdout()?;
    for subject in &subjects {
        written(text::show(subject, parts, &mut out).map_err(|e| in_file(&e))?)?;
    }
    Ok(())
}
