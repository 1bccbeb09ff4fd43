//! `llvm-objdump`: its options for AMD GPUs, in terms of `wavemill disasm`, and its symbol table.

use crate::input::{choose, name_of, open};
use clap::Parser;
use std::fmt::Write as _;
use std::process::ExitCode;
use wavemill_object::demangle;
use wavemill_object::elf::{STT_FILE, STT_FUNC, STT_OBJECT, STT_SECTION};
use wavemill_object::read::File;

const HELP: &str = "\
Shows the code of AMD GPU objects as llvm-objdump does (Wavemill).

Usage: llvm-objdump [OPTIONS] FILE...

  -d, --disassemble                 the code
  -D, --disassemble-all             the code, and kernel descriptors as directives
  --disassemble-symbols=A,B         only these functions
  -t, --syms                        the symbol table
  -r, --reloc                       relocations
  -S, --source, -l, --line-numbers  source lines and their places
  --symbolize-operands              labels for branch targets
  -C, --demangle                    C++ names in the symbol table
  --mcpu=NAME                       the processor, where the object does not say
  --target=TARGET                   which of a bundle's or program's objects
  --version
";

#[derive(Default)]
struct Job {
    code: bool,
    all: bool,
    symbols: Vec<String>,
    table: bool,
    demangle: bool,
    target: Option<String>,
    /// Options of `wavemill disasm`.
    options: Vec<String>,
    files: Vec<String>,
}

/// Runs `llvm-objdump`.
pub fn run(args: &[String]) -> ExitCode {
    let job = match parse(args) {
        Ok(Some(job)) => job,
        Ok(None) => return ExitCode::SUCCESS,
        Err(message) => {
            crate::output::message(format_args!("llvm-objdump: error: {message}"));
            return ExitCode::FAILURE;
        }
    };
    let mut code = ExitCode::SUCCESS;
    for file in &job.files {
        let done = if job.table { table(&job, file) } else { Ok(()) };
        if let Err(message) = done {
            crate::output::message(format_args!("llvm-objdump: error: '{file}': {message}"));
            code = ExitCode::FAILURE;
            continue;
        }
        if job.code {
            let shown = disassemble(&job, file);
            if shown != ExitCode::SUCCESS {
                code = shown;
            }
        }
    }
    code
}

fn parse(args: &[String]) -> Result<Option<Job>, String> {
    let mut job = Job::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let (name, value) = match arg.split_once('=') {
            Some((n, v)) => (n, Some(v.to_owned())),
            None => (arg.as_str(), None),
        };
        let mut valued =
            || value.clone().or_else(|| args.next().cloned()).ok_or_else(|| format!("{name}: no value"));
        match name {
            "-d" | "--disassemble" => job.code = true,
            "-D" | "--disassemble-all" => (job.code, job.all) = (true, true),
            "--disassemble-symbols" => {
                job.code = true;
                job.symbols.extend(valued()?.split(',').map(str::to_owned));
            }
            "-t" | "--syms" => job.table = true,
            "-r" | "--reloc" => job.options.push("-r".into()),
            "-S" | "--source" => {
                job.code = true;
                job.options.push("-S".into());
            }
            "-l" | "--line-numbers" => job.options.push("-l".into()),
            "--symbolize-operands" => job.options.push("--symbolize-operands".into()),
            "-C" | "--demangle" => job.demangle = true,
            "--mcpu" => job.options.push(format!("--mcpu={}", valued()?)),
            "--target" => job.target = Some(valued()?),
            "--triple" | "--arch-name" | "--arch" => {
                let given = valued()?;
                if !given.starts_with("amdgcn") {
                    return Err(format!("no target `{given}`: Wavemill knows amdgcn"));
                }
            }
            "--version" => {
                crate::print(crate::mc::version().as_bytes());
                return Ok(None);
            }
            "-h" | "--help" => {
                crate::print(HELP.as_bytes());
                return Ok(None);
            }
            _ if arg.starts_with('-') && arg != "-" => {
                return Err(format!("unknown argument '{arg}'; --help lists those that Wavemill knows"));
            }
            _ => job.files.push(arg.clone()),
        }
    }
    if job.files.is_empty() {
        job.files.push("a.out".into());
    }
    if !job.code && !job.table {
        return Err("at least one action has to be given: -d, -D, -t, --disassemble-symbols".into());
    }
    Ok(Some(job))
}

/// Disassembles a file, function by function if some are named.
fn disassemble(job: &Job, file: &str) -> ExitCode {
    #[derive(Parser)]
    #[command(no_binary_name = true)]
    struct Words {
        #[command(flatten)]
        disasm: crate::disasm::Disasm,
    }
    let mut code = ExitCode::SUCCESS;
    let wanted: Vec<Option<&String>> =
        if job.symbols.is_empty() { vec![None] } else { job.symbols.iter().map(Some).collect() };
    for symbol in wanted {
        let mut words = job.options.clone();
        words.extend(job.target.iter().map(|t| format!("--target={t}")));
        words.extend((!job.all).then(|| "-d".to_owned()));
        words.extend(symbol.map(|s| format!("--kernel={s}")));
        words.push(file.to_owned());
        let done = match Words::try_parse_from(words) {
            Ok(words) => crate::disasm::run(&words.disasm),
            Err(e) => {
                crate::output::message(format_args!("llvm-objdump: error: {e}"));
                ExitCode::FAILURE
            }
        };
        if done != ExitCode::SUCCESS {
            code = done;
        }
    }
    code
}

/// The symbol table of every object in a file.
fn table(job: &Job, name: &str) -> Result<(), String> {
    let bytes = open(name)?;
    let mut out = String::new();
    for object in choose(name, &bytes, job.target.as_deref())? {
        let file = File::parse(&object.data).map_err(|e| e.to_string())?;
        let _ = write!(out, "\n{}:\tfile format elf64-amdgpu\n\nSYMBOL TABLE:\n", name_of(name, &object));
        // The first symbol is none.
        for symbol in file.symbols.iter().skip(1) {
            let (place, defined) = match symbol.section {
                0 => ("*UND*", false),
                0xfff1 => ("*ABS*", true),
                0xfff2 => ("*COM*", true),
                n => (file.sections.get(n as usize).map_or("", |s| s.name), true),
            };
            let (weak, global) = (symbol.binding == 2, symbol.binding == 1);
            let scope = match (defined && !weak, global) {
                (true, true) => 'g',
                (true, false) => 'l',
                (false, _) => ' ',
            };
            let kind = match symbol.ty {
                STT_FILE => ("d", 'f'),
                STT_FUNC => (" ", 'F'),
                STT_OBJECT => (" ", 'O'),
                STT_SECTION => ("d", ' '),
                _ => (" ", ' '),
            };
            let visibility = [" ", " .internal ", " .hidden ", " .protected "][usize::from(symbol.other & 3)];
            let shown = file.symbol_name(symbol);
            let shown = if job.demangle { demangle::shown(shown).into_owned() } else { shown.to_owned() };
            let _ = writeln!(
                out,
                "{:016x} {scope}{}   {}{} {place}\t{:016x}{visibility}{shown}",
                symbol.value,
                if weak { 'w' } else { ' ' },
                kind.0,
                kind.1,
                symbol.size
            );
        }
    }
    crate::print(out.as_bytes());
    Ok(())
}
