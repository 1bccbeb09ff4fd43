//! `llvm-objdump`: its options for AMD GPUs, in terms of `wavemill disasm`, and its tables.

mod tables;

use crate::disasm::{Disasm, More, list};
use clap::Parser;
use std::process::ExitCode;
use wavemill_object::read::File;

const HELP: &str = "\
Shows the code of AMD GPU objects as llvm-objdump does (Wavemill).

Usage: llvm-objdump [OPTIONS] FILE...

  -d, --disassemble                 the code
  -D, --disassemble-all             the code, and kernel descriptors as directives
  --disassemble-symbols=A,B         only these functions
  -f, --file-headers                what the file is
  -h, --section-headers             its sections
  -t, --syms                        the symbol table
  -T, --dynamic-syms                the dynamic symbol table
  -s, --full-contents               the sections' bytes
  -j, --section=NAME                only this section, of -h, -s and the code
  -r, --reloc                       relocations
  -S, --source, -l, --line-numbers  source lines and their places
  --symbolize-operands              labels for branch targets
  -z, --disassemble-zeroes          blocks of zeros, too
  -C, --demangle                    C++ names in the symbol tables
  --mcpu=NAME                       the processor, where the object does not say
  --target=TARGET                   which of a bundle's or program's objects
  --version

--no-show-raw-insn, --print-imm-hex and --no-print-imm-hex change nothing, as they do not for AMD GPUs in llvm-objdump.
";

#[derive(Default)]
struct Job {
    code: bool,
    all: bool,
    symbols: Vec<String>,
    tables: tables::Wanted,
    target: Option<String>,
    /// Only these sections, if there are any.
    sections: Vec<String>,
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
        if let Err(message) = show(&job, file) {
            crate::output::message(format_args!("llvm-objdump: error: {message}"));
            code = ExitCode::FAILURE;
        }
    }
    code
}

/// Options of one letter that may stand behind one dash.
const LETTERS: &str = "dDfhtTsrSlCz";

/// The words, each option on its own.
fn separate(args: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    for arg in args {
        match arg.strip_prefix('-') {
            Some(letters) if letters.len() > 1 && letters.chars().all(|c| LETTERS.contains(c)) => {
                all.extend(letters.chars().map(|c| format!("-{c}")));
            }
            _ => all.push(arg.clone()),
        }
    }
    all
}

fn parse(args: &[String]) -> Result<Option<Job>, String> {
    let mut job = Job::default();
    let args = separate(args);
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
            "-f" | "--file-headers" => job.tables.file = true,
            "-h" | "--headers" | "--section-headers" => job.tables.sections = true,
            "-t" | "--syms" => job.tables.symbols = true,
            "-T" | "--dynamic-syms" => job.tables.dynamic = true,
            "-s" | "--full-contents" => job.tables.contents = true,
            "-j" | "--section" => job.sections.extend(valued()?.split(',').map(str::to_owned)),
            "-z" | "--disassemble-zeroes" => job.options.push("-z".into()),
            "--no-show-raw-insn" | "--print-imm-hex" | "--no-print-imm-hex" => {}
            "-r" | "--reloc" => job.options.push("-r".into()),
            "-S" | "--source" => {
                job.code = true;
                job.options.push("-S".into());
            }
            "-l" | "--line-numbers" => job.options.push("-l".into()),
            "--symbolize-operands" => job.options.push("--symbolize-operands".into()),
            "-C" | "--demangle" => job.tables.demangle = true,
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
            "--help" => {
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
    if !job.code && !job.tables.any() {
        return Err(
            "at least one action has to be given: -d, -D, -f, -h, -t, -T, -s, --disassemble-symbols".into()
        );
    }
    Ok(Some(job))
}

/// Shows a file: its tables, then its code, function by function if some are named.
fn show(job: &Job, file: &str) -> Result<(), String> {
    #[derive(Parser)]
    #[command(no_binary_name = true)]
    struct Words {
        #[command(flatten)]
        disasm: Disasm,
    }
    let tables = |object: &File<'_>| job.tables.text(object, &job.sections);
    let mut more = More { tables: Some(&tables), no_code: !job.code, sections: &job.sections };
    let wanted: Vec<Option<&String>> =
        if job.symbols.is_empty() { vec![None] } else { job.symbols.iter().map(Some).collect() };
    for symbol in wanted {
        let mut words = job.options.clone();
        words.extend(job.target.iter().map(|t| format!("--target={t}")));
        words.extend((!job.all).then(|| "-d".to_owned()));
        words.extend(symbol.map(|s| format!("--kernel={s}")));
        words.push(file.to_owned());
        let words = Words::try_parse_from(words).map_err(|e| e.to_string())?;
        list(&words.disasm, &more)?;
        more.tables = None;
    }
    Ok(())
}
