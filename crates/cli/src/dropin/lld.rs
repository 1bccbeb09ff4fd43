//! `ld.lld`: its manners around `wavemill link`, which has its options.

use crate::link::{Link, arguments, run_as};
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "ld.lld", no_binary_name = true, about = "Links AMD GPU objects as ld.lld does (Wavemill)")]
struct Words {
    #[command(flatten)]
    link: Link,
}

/// Runs `ld.lld`.
pub fn run(words: &[OsString]) -> ExitCode {
    let mut words = arguments(words.to_vec());
    let asks = |w: &OsString| w == "-v" || w == "-V";
    let last = words.iter().any(|w| w == "--version") || (!words.is_empty() && words.iter().all(asks));
    if last || words.iter().any(asks) {
        // Build systems look for `LLD`.
        let version = crate::version::version();
        let printed = crate::print(
            format!("Wavemill {version}, in the manner of LLD 19.1.7 (compatible with GNU linkers)\n")
                .as_bytes(),
        );
        if last {
            return printed;
        }
        words.retain(|w| !asks(w));
    }
    if !words.iter().any(|w| w.to_string_lossy().starts_with("-o") || w == "--output") {
        words.extend(["-o", "a.out"].map(OsString::from));
    }
    match Words::try_parse_from(words) {
        Ok(words) => run_as("ld.lld: error", &words.link),
        Err(e) if !e.use_stderr() => crate::print(e.to_string().as_bytes()),
        Err(e) => {
            let word = |kind| match e.get(kind) {
                Some(ContextValue::String(word)) => Some(word.as_str()),
                _ => None,
            };
            let message = match (e.kind(), word(ContextKind::InvalidArg)) {
                (ErrorKind::UnknownArgument, Some(name)) => {
                    let near = word(ContextKind::SuggestedArg).map(|n| format!(", did you mean '{n}'"));
                    format!("unknown argument '{name}'{}", near.unwrap_or_default())
                }
                (ErrorKind::MissingRequiredArgument, _) => "no input files".into(),
                _ => {
                    let text = e.to_string();
                    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
                }
            };
            crate::output::message(format_args!("ld.lld: error: {message}"));
            ExitCode::FAILURE
        }
    }
}
