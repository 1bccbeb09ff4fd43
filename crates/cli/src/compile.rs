//! Sources that clang compiles for `run`: what it says goes to standard error.

use std::io::IsTerminal;
use wavemill_compile::clang::{self, Job};

pub use wavemill_compile::clang::{Language, hint};

/// What to compile, and whether to show how.
pub struct Request<'a> {
    /// The source's name; `-` for standard input.
    pub name: &'a str,
    /// Its text.
    pub source: &'a [u8],
    /// Its language.
    pub language: Language,
    /// The processor.
    pub gpu: &'a str,
    /// Further options for clang.
    pub options: &'a [String],
    /// Show the command.
    pub verbose: bool,
}

/// Assembly of a source.
pub fn compile(request: &Request<'_>) -> Result<Vec<u8>, String> {
    let job = Job {
        name: request.name,
        source: request.source,
        language: request.language,
        gpu: request.gpu,
        options: request.options,
        output: clang::Output::Assembly,
        modules: &[],
        colour: std::io::stderr().is_terminal(),
    };
    if request.verbose {
        crate::output::message(clang::command(&job)?);
    }
    let compiled = clang::compile(&job).map_err(|failure| {
        crate::output::report_coloured(failure.messages.as_bytes());
        failure.reason
    })?;
    if let Some(place) = compiled.kept.filter(|_| request.verbose) {
        crate::output::message(format_args!("wavemill run: it was compiled before: {}", place.display()));
    }
    crate::output::report_coloured(compiled.messages.as_bytes());
    Ok(compiled.output)
}
