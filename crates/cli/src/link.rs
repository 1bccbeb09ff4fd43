//! `wavemill link`: relocatable objects to the code object that a runtime loads.

use crate::input::open;
use crate::response;
use clap::Args;
use std::ffi::OsString;
use std::process::ExitCode;
use wavemill_object::link::{BuildId, Input, Options, Strip, link};

/// Arguments of `link`. The options are called as ld.lld's are.
#[derive(Args)]
#[command(
    after_help = "The output is a shared object, as runtimes load it. ld.lld's -shared and -plugin-opt=... (about bitcode, \
which is not taken)\nmay be given and change nothing, so that clang's --ld-path= can lead here. @FILE stands for the words in a file."
)]
pub struct Link {
    /// Objects, and archives of which what is asked for is taken
    #[arg(required = true)]
    files: Vec<String>,
    /// The code object to write
    #[arg(short, value_name = "FILE")]
    output: String,
    /// Leave out debugging information and the symbol table; the dynamic one stays
    #[arg(short, long)]
    strip_all: bool,
    /// Leave out debugging information
    #[arg(short = 'S', long)]
    strip_debug: bool,
    /// Leave out sections that neither other code objects nor what is kept can reach
    #[arg(long, overrides_with = "no_gc_sections")]
    gc_sections: bool,
    /// Keep all sections (the default)
    #[arg(long, overrides_with = "gc_sections")]
    no_gc_sections: bool,
    /// Add a note that tells builds apart: sha1 (if nothing is said), fast, 0xHEX, or none
    #[arg(long, value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    build_id: Option<String>,
    #[command(flatten)]
    undefined: Undefined,
}

/// What to do about symbols that nobody defines.
#[derive(Args)]
pub struct Undefined {
    /// Report symbols that no file defines (the default of `asm`; `link` leaves them to the loader, as ld.lld -shared)
    #[arg(long, conflicts_with = "unresolved_symbols")]
    no_undefined: bool,
    /// What to do about symbols that no file defines: report-all, or ignore-all, which leaves them to the loader
    #[arg(long, value_name = "METHOD", value_parser = ["report-all", "ignore-all"])]
    unresolved_symbols: Option<String>,
}

impl Undefined {
    /// How to link, `allow` being what is done when nothing is said.
    pub fn options(&self, allow: bool) -> Options {
        let allow = self.unresolved_symbols.as_deref().map_or(allow, |method| method == "ignore-all");
        Options { allow_undefined: allow && !self.no_undefined, ..Options::default() }
    }
}

/// The words for it. It makes shared objects and nothing else, and takes no bitcode: what tells ld.lld to do the one and how to
/// compile the other is left out, so that clang can call it in ld.lld's place.
pub fn arguments(words: Vec<OsString>) -> Vec<OsString> {
    let moot =
        |a: &OsString| a.to_str().is_some_and(|a| a.trim_start_matches('-').starts_with("plugin-opt="));
    let mut all = response::expand(words);
    all.retain(|a| a != "-shared" && a != "--shared" && !moot(a));
    all
}

/// Runs `wavemill link`.
pub fn run(args: &Link) -> ExitCode {
    run_as("wavemill link", args)
}

/// The same for a tool that begins its messages in its own way.
pub fn run_as(tool: &str, args: &Link) -> ExitCode {
    let failed = |messages: &[&dyn std::fmt::Display]| {
        messages.iter().for_each(|m| crate::output::message(format_args!("{tool}: {m}")));
        ExitCode::FAILURE
    };
    let mut files = Vec::new();
    for name in &args.files {
        match open(name) {
            Ok(bytes) => files.push((name, bytes)),
            Err(message) => return failed(&[&message]),
        }
    }
    let inputs: Vec<Input<'_>> =
        files.iter().map(|(name, bytes)| Input { name: name.to_string(), data: bytes }).collect();
    let strip = match (args.strip_all, args.strip_debug) {
        (true, _) => Strip::All,
        (false, true) => Strip::Debug,
        _ => Strip::Nothing,
    };
    let build_id = match args.build_id.as_deref().map(BuildId::parse).transpose() {
        Ok(id) => id.flatten(),
        Err(message) => return failed(&[&format!("--build-id={message}")]),
    };
    let gc_sections = args.gc_sections;
    match link(&inputs, &Options { strip, gc_sections, build_id, ..args.undefined.options(true) }) {
        Ok(bytes) => crate::output::save("link", &args.output, &bytes),
        Err(errors) => failed(&errors.iter().map(|e| e as &dyn std::fmt::Display).collect::<Vec<_>>()),
    }
}
