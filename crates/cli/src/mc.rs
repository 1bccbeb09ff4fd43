//! `wavemill mc`: llvm-mc's command line for AMD GPUs.
//!
//! llvm-mc's options start with one dash or two and take their value after `=` or as the next word, so this reads
//! them itself.

use std::path::PathBuf;
use std::process::ExitCode;
use wavemill_asm::source::{Origin, Severity, SourceMap, Sources};
use wavemill_asm::suggest::closest;
use wavemill_asm::{Options, Os, OutputType, assemble, disasm, elf};
use wavemill_isa::{Level, Target, target};

/// What `mc --help` says.
pub const HELP: &str = "\
Assembles or disassembles AMD GPU code as llvm-mc does.

Usage: wavemill mc [OPTIONS] [FILE]        (`-` or no FILE: standard input)

  -arch=amdgcn, -triple=TRIPLE         the architecture; the triple's system (amdhsa, amdpal, mesa3d) picks directives
  -mcpu=NAME                           the processor (default gfx600); `wavemill isa processors` lists them
  -mattr=+F,-F                         features: xnack, sramecc, tgsplit, wavefrontsize64
  -show-encoding                       encodings as comments
  -assemble, -disassemble              which way (default: assemble); the latter reads bytes such as 0x00 0x00 0x80 0xbf
  -filetype=asm|obj|null               what to write
  -defsym NAME=VALUE                   define a symbol
  -I DIR                               where .include and .incbin look
  -amdhsa-code-object-version=N        code object version where the source does not say
  -no-warn, -fatal-warnings            drop warnings, or make them errors
  -print-imm-hex                       as in LLVM: numbers of this architecture are printed the same with it
  -g                                   lines of the source, for objects (.debug_line)
  -o FILE                              output file (default: standard output)
  --version                            which Wavemill this is
";

/// Options that take a value, and flags.
const VALUED: &[&str] =
    &["arch", "triple", "mcpu", "mattr", "filetype", "defsym", "I", "amdhsa-code-object-version", "o"];
const FLAGS: &[&str] = &[
    "show-encoding",
    "assemble",
    "disassemble",
    "no-warn",
    "fatal-warnings",
    "g",
    "print-imm-hex",
    "help",
    "h",
    "version",
];

struct Job {
    options: Options,
    disassemble: bool,
    input: String,
    output: Option<String>,
    warnings: Vec<String>,
}

/// A message for the user, and whether it was the usage that was wrong.
enum Stop {
    Usage(String),
    Failed(String),
    Help,
    Version,
}

/// Runs `wavemill mc`.
pub fn run(args: &[String]) -> ExitCode {
    let result = parse(args).and_then(|job| {
        for warning in &job.warnings {
            crate::output::message(format_args!("wavemill mc: warning: {warning}"));
        }
        perform(&job)
    });
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(Stop::Help) => crate::print(HELP.as_bytes()),
        Err(Stop::Version) => crate::print(version().as_bytes()),
        Err(Stop::Failed(message)) => {
            crate::output::message(format_args!("wavemill mc: {message}"));
            ExitCode::FAILURE
        }
        Err(Stop::Usage(message)) => {
            crate::output::message(format_args!("wavemill mc: {message}\nTry `wavemill mc --help`."));
            ExitCode::from(2)
        }
    }
}

fn parse(args: &[String]) -> Result<Job, Stop> {
    let mut options = Options::new(Target::new(&target::PROCESSORS[0]));
    let mut features = String::new();
    let mut job_input = None;
    let mut output = None;
    let mut disassemble = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "-" || !arg.starts_with('-') {
            if job_input.replace(arg.clone()).is_some() {
                return Err(Stop::Usage(format!("a second input file: {arg}")));
            }
            continue;
        }
        let body = arg.trim_start_matches('-');
        let (name, mut value) = match body.split_once('=') {
            Some((n, v)) => (n, Some(v.to_owned())),
            None => (body, None),
        };
        // -Idir, as compilers have it.
        let name = if !VALUED.contains(&name) && body.starts_with('I') {
            value = Some(body[1..].to_owned());
            "I"
        } else {
            name
        };
        if VALUED.contains(&name) {
            if value.is_none() {
                value = args.next().cloned();
            }
        } else if !FLAGS.contains(&name) {
            let hint = closest(name, VALUED.iter().chain(FLAGS).copied());
            let hint = hint.map(|h| format!("; did you mean -{h}?")).unwrap_or_default();
            return Err(Stop::Usage(format!("unknown option {arg}{hint}")));
        } else if value.is_some() {
            return Err(Stop::Usage(format!("-{name} takes no value")));
        }
        let missing = || Stop::Usage(format!("-{name} needs a value"));
        let text = |value: Option<String>| value.ok_or_else(missing);
        match name {
            "help" | "h" => return Err(Stop::Help),
            "version" => return Err(Stop::Version),
            "show-encoding" => options.show_encoding = true,
            "assemble" => disassemble = false,
            "disassemble" => disassemble = true,
            "no-warn" => options.no_warn = true,
            "fatal-warnings" => options.fatal_warnings = true,
            "g" => options.debug_lines = true,
            // LLVM's printer of this architecture does not look at it: llvm-mc-19 writes every line of
            // asm/tests/instructions the same with it and without.
            "print-imm-hex" => {}
            "arch" => {
                let arch = text(value)?;
                if arch != "amdgcn" {
                    return Err(Stop::Failed(crate::gpu::other_architecture(&arch)));
                }
            }
            "triple" => {
                options.triple = text(value)?;
                options.os = system(&options.triple)?;
            }
            "mcpu" => {
                let named = processor(&text(value)?)?;
                options.target.cpu = named.cpu;
                options.target.xnack = named.xnack.or(options.target.xnack);
            }
            "mattr" => {
                features.push(',');
                features.push_str(&text(value)?);
            }
            "filetype" => {
                options.output = match text(value)?.as_str() {
                    "asm" => OutputType::Asm,
                    "obj" => OutputType::Obj,
                    "null" => OutputType::Null,
                    other => return Err(Stop::Usage(format!("-filetype={other}: asm, obj or null"))),
                }
            }
            "defsym" => options.defsym.push(defsym(&text(value)?)?),
            "I" => options.include_paths.push(PathBuf::from(text(value)?)),
            "amdhsa-code-object-version" => {
                let n = text(value)?;
                let version = n.parse().ok().filter(|v| (2..=6).contains(v));
                options.code_object_version =
                    Some(version.ok_or_else(|| Stop::Usage(format!("code object version {n}: 2 to 6")))?);
            }
            _ => output = Some(text(value)?),
        }
    }
    let mut warnings = Vec::new();
    for feature in features.split(',').filter(|f| !f.is_empty()) {
        apply_feature(&mut options.target, feature, &mut warnings)?;
    }
    Ok(Job { options, disassemble, input: job_input.unwrap_or_else(|| "-".into()), output, warnings })
}

/// What `--version` says: scripts look for the version of LLVM, and for the architecture.
pub fn version() -> String {
    format!(
        "Wavemill {}, in the manner of\n  LLVM version 19.1.7\n\n  Registered Targets:\n    amdgcn - AMD GCN GPUs\n",
        crate::version::version()
    )
}

/// The processor of a name.
fn processor(name: &str) -> Result<Target, Stop> {
    crate::gpu::target(name).map_err(Stop::Failed)
}

fn system(triple: &str) -> Result<Os, Stop> {
    let mut parts = triple.split('-');
    let arch = parts.next().unwrap_or("");
    if arch != "amdgcn" {
        let why = crate::gpu::other_architecture(arch);
        return Err(Stop::Failed(format!("triple `{triple}`: {why}")));
    }
    Ok(match parts.nth(1) {
        Some("amdhsa") => Os::AmdHsa,
        Some("amdpal") => Os::AmdPal,
        Some("mesa3d") => Os::Mesa3d,
        _ => Os::Unknown,
    })
}

/// One `+name` or `-name`. Features of other generations and unknown ones are named in a warning, as llvm-mc does.
fn apply_feature(target: &mut Target, feature: &str, warnings: &mut Vec<String>) -> Result<(), Stop> {
    let (on, name) = match feature.split_at_checked(1) {
        Some(("+", name)) => (true, name),
        Some(("-", name)) => (false, name),
        _ => (true, feature),
    };
    let cpu = target.cpu;
    match name.to_ascii_lowercase().as_str() {
        "xnack" => match cpu.xnack {
            Some(_) => target.xnack = Some(on),
            None => warnings.push(format!("{} has no xnack; `{feature}` changes nothing", cpu.name)),
        },
        "sramecc" | "sram-ecc" => match cpu.sramecc {
            true => target.sramecc = Some(on),
            false => warnings.push(format!("{} has no sramecc; `{feature}` changes nothing", cpu.name)),
        },
        "tgsplit" if cpu.level == Level::Gfx90a => target.tgsplit = on,
        "tgsplit" => warnings.push(format!("{} has no tgsplit; `{feature}` changes nothing", cpu.name)),
        "wavefrontsize64" if on => {}
        "wavefrontsize32" | "wavefrontsize16" if !on => {}
        "wavefrontsize16" | "wavefrontsize32" | "wavefrontsize64" => {
            return Err(Stop::Failed(format!("{} has waves of 64 lanes only: `{feature}`", cpu.name)));
        }
        _ => warnings.push(format!("`{feature}` is not a feature Wavemill knows; it changes nothing")),
    }
    Ok(())
}

fn defsym(text: &str) -> Result<(String, i64), Stop> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| Stop::Usage(format!("-defsym {text}: NAME=VALUE is wanted")))?;
    let digits = value.trim_start_matches('-');
    let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse::<u64>().ok(),
    };
    let number =
        number.ok_or_else(|| Stop::Failed(format!("-defsym {text}: `{value}` is not a number")))? as i64;
    Ok((name.to_owned(), if value.starts_with('-') { number.wrapping_neg() } else { number }))
}

fn read(input: &str) -> Result<Vec<u8>, Stop> {
    use std::io::Read;
    if input != "-" {
        return std::fs::read(input).map_err(|e| Stop::Failed(format!("{input}: {e}")));
    }
    let mut text = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut text)
        .map_err(|e| Stop::Failed(format!("standard input: {e}")))?;
    Ok(text)
}

fn perform(job: &Job) -> Result<bool, Stop> {
    let text = read(&job.input)?;
    let (printed, bytes, messages, failed) = if job.disassemble {
        let map = SourceMap::default();
        let mut sources = Sources::new(&map);
        let buffer = sources.add(&job.input, text, Origin::Main);
        let source = sources.get(buffer);
        let (out, diags) =
            disasm::listing(job.options.target, buffer, &source.text, job.options.show_encoding);
        let failed = diags.iter().any(|d| d.severity == Severity::Error);
        (Vec::new(), out, map.render(&diags), failed)
    } else {
        let mut result = assemble(&job.options, &job.input, text);
        let bytes = match job.options.output {
            OutputType::Asm => std::mem::take(&mut result.text),
            OutputType::Obj if !result.failed() => {
                elf::write(&result).map_err(|e| Stop::Failed(e.to_string()))?
            }
            OutputType::Obj | OutputType::Null => Vec::new(),
        };
        let (messages, failed) = (result.render_diagnostics(), result.failed());
        (result.printed, bytes, messages, failed)
    };
    use std::io::Write;
    let nothing = failed && job.options.output == OutputType::Obj && !job.disassemble;
    let write_to = |to: &mut dyn Write| to.write_all(&printed).and_then(|()| to.write_all(&bytes));
    let write = match job.output.as_deref() {
        // No object is left of a source with errors; what was there stays.
        _ if nothing => Ok(()),
        None | Some("-") => crate::output::written(write_to(&mut crate::output::stdout())),
        Some(path) => {
            let written = std::fs::File::create(path).and_then(|mut file| write_to(&mut file));
            written.map_err(|e| format!("{path}: {e}"))
        }
    };
    crate::output::report(&messages);
    match write {
        // A reader that went away, of whom nothing is said.
        Err(message) if message.is_empty() => Ok(false),
        Err(message) => Err(Stop::Failed(message)),
        Ok(()) => Ok(!failed),
    }
}
