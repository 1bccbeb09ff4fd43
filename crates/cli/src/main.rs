//! The `wavemill` command: AMD GPU code without the GPU.
//!
//! Every subcommand has a file of its own; this one only picks it. Exit status: 0 success, 1 it could not be done, 2 wrong
//! usage, and those of [`status`].

mod asm;
mod bench;
mod bounds;
mod checks;
mod compile;
mod disasm;
mod dropin;
mod embed;
mod eval;
mod exec;
mod gpu;
mod info;
mod input;
mod inspect;
mod isa;
mod json;
mod link;
mod lint;
mod manual;
mod mc;
mod output;
mod response;
mod run;
mod seconds;
mod status;
mod unbundle;
mod version;

use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "wavemill",
    version = version::version(),
    propagate_version = true,
    about = "AMD GPU code without the GPU: assemble, disassemble, explain, run"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Assemble or disassemble like llvm-mc (takes llvm-mc's options; `wavemill mc --help` lists them)
    #[command(disable_help_flag = true, disable_version_flag = true, after_help = mc::HELP)]
    Mc {
        /// llvm-mc's options and an input file
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Assemble a source to a code object, linked and ready to load
    Asm(asm::Asm),
    /// Link relocatable objects to a code object
    Link(link::Link),
    /// Tell what a code object holds: kernels, arguments, registers, occupancy, notes, symbols, sections
    Inspect(inspect::Inspect),
    /// Show the code of an object as llvm-objdump does
    Disasm(disasm::Disasm),
    /// Take the code objects out of an offload bundle or a HIP program
    Unbundle(unbundle::Unbundle),
    /// Find missing waits and wait states on all paths through code
    Lint(lint::Lint),
    /// Look instructions up
    #[command(subcommand)]
    Isa(isa::Isa),
    /// Run a kernel on the virtual GPU
    Run(Box<run::Run>),
    /// Run a few instructions on one wave and draw what they changed
    Eval(eval::Eval),
    /// Run a program that uses HIP or the HSA runtime, with virtual GPUs
    Exec(exec::Exec),
    /// Show the virtual GPUs as programs see them
    Info(info::Info),
    /// Write what a shell needs to complete this command's options
    Completions(manual::Completions),
    /// Write the manual's pages
    Man(manual::Man),
    /// Measure how fast waves run here, for each kind of instruction and each SIMD back end
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    let code = dispatch();
    // Whoever has lost what was written for them must not take it for success.
    if output::failed() && code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code }
}

fn dispatch() -> ExitCode {
    let words = match dropin::called(&std::env::args_os().collect::<Vec<_>>()) {
        dropin::Called::As(words) => words,
        dropin::Called::Done(code) => return code,
    };
    let words = match words.get(1) {
        Some(command) if command == "link" => link::arguments(words),
        _ => words,
    };
    let json = wants_json(&words);
    let command = match Cli::try_parse_from(&words) {
        Ok(cli) => cli.command,
        Err(e) => {
            // Help that nobody gets is no success.
            if output::written(e.print()).is_err() && !e.use_stderr() {
                output::message("wavemill: standard output: it cannot be written to");
                return ExitCode::FAILURE;
            }
            if json && e.use_stderr() {
                output::message_said(e.to_string().lines().next().unwrap_or_default());
                document(2);
            }
            return ExitCode::from(e.exit_code() as u8);
        }
    };
    let code = perform(command);
    if json && code != ExitCode::SUCCESS {
        document(1);
    }
    code
}

/// Whether a command was asked for a JSON document on standard output; `exec` writes one to a file, which may be `-`.
fn wants_json(words: &[OsString]) -> bool {
    let own: Vec<&OsString> = words.iter().skip(1).take_while(|w| *w != "--").collect();
    match own.split_first() {
        Some((command, rest)) if *command == "exec" => {
            rest.contains(&&"--json=-".into()) || rest.windows(2).any(|w| w[0] == "--json" && w[1] == "-")
        }
        Some((_, rest)) => rest.iter().any(|w| *w == "--json"),
        None => false,
    }
}

/// Prints what went wrong as JSON, unless there is a document already.
fn document(status: u8) {
    if let Some(text) = output::failure(status) {
        print(text.as_bytes());
    }
}

fn perform(command: Command) -> ExitCode {
    match command {
        Command::Mc { args } => mc::run(&args),
        Command::Asm(args) => asm::run(&args),
        Command::Link(args) => link::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Disasm(args) => disasm::run(&args),
        Command::Unbundle(args) => unbundle::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Isa(command) => isa::run(command),
        Command::Run(args) => run::run(*args),
        Command::Eval(args) => eval::run(&args),
        Command::Exec(args) => exec::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Completions(args) => manual::completions(&args, Cli::command()),
        Command::Man(args) => manual::man(&args, Cli::command()),
        Command::Bench(args) => bench::run(&args),
    }
}

/// Refuses settings in the environment that would do nothing.
fn environment() -> Result<(), String> {
    let Some(wanted) = std::env::var_os("WAVEMILL_SIMD").filter(|v| !v.is_empty()) else { return Ok(()) };
    let names: Vec<&str> = wavemill_wave::Simd::available().iter().map(|s| s.name()).collect();
    match names.iter().any(|n| wanted == *n) {
        true => Ok(()),
        false => Err(format!("WAVEMILL_SIMD={}: this machine has {}", wanted.display(), names.join(", "))),
    }
}

/// Writes to standard output. What cannot be written makes the command fail; of a reader that went away nothing is said.
fn print(bytes: &[u8]) -> ExitCode {
    use std::io::Write;
    output::printing();
    let mut out = std::io::stdout().lock();
    match output::written(out.write_all(bytes)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            if !message.is_empty() {
                crate::output::message(format_args!("wavemill: {message}"));
            }
            ExitCode::FAILURE
        }
    }
}
