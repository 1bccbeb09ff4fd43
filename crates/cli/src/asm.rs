//! `wavemill asm`: an assembly source to a code object, linked and ready to load.

use crate::input::open;
use crate::link::Undefined;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wavemill_asm::{Options, Os, OutputType, assemble, clrx, elf};
use wavemill_compile::stated;
use wavemill_isa::Target;
use wavemill_object::link::{Input, link};
use wavemill_object::target_id::{self, TargetId};

/// Arguments of `asm`.
#[derive(Args)]
#[command(
    after_help = "The processor and its features come from --mcpu, else from the source's .amdgcn_target \
(or .amd_amdgpu_isa,\n.hsa_code_object_isa). The code object version comes from .amdhsa_code_object_version, else from \
--code-object-version,\nelse from what the source implies (amdhsa.version in its metadata, the style of its target \
id), else it is 5.\n\nA source with .amdcl2 is CLRX's assembly: it becomes an OpenCL 2.0 binary of AMD's Catalyst driver \
(NAME.bin)."
)]
pub struct Asm {
    /// The source, `-` for standard input
    file: String,
    /// The file to write (default: the source's name with .hsaco, or .o with -c)
    #[arg(short, value_name = "FILE")]
    output: Option<String>,
    /// Stop before linking: write a relocatable object
    #[arg(short)]
    compile: bool,
    /// The processor, with features if wanted: gfx90a, gfx90a:xnack-
    #[arg(long, value_name = "NAME")]
    mcpu: Option<String>,
    /// Code object version, 2 to 6
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=6))]
    code_object_version: Option<u32>,
    /// Where .include and .incbin look, after the current directory
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Define a symbol, NAME or NAME=VALUE
    #[arg(short = 'D', long, value_name = "NAME[=VALUE]")]
    defsym: Vec<String>,
    #[command(flatten)]
    undefined: Undefined,
}

/// Runs `wavemill asm`.
pub fn run(args: &Asm) -> ExitCode {
    match make(args) {
        Ok((path, bytes)) => crate::output::save("asm", &path, &bytes),
        Err(message) => {
            if !message.is_empty() {
                crate::output::message(format_args!("wavemill asm: {message}"));
            }
            ExitCode::FAILURE
        }
    }
}

fn make(args: &Asm) -> Result<(String, Vec<u8>), String> {
    let text = open(&args.file)?.to_vec();
    let mut include_paths = args.include.clone();
    include_paths.extend(Path::new(&args.file).parent().map(Path::to_owned));
    let defsyms = args.defsym.iter().map(|s| defsym(s)).collect::<Result<Vec<_>, _>>()?;
    if clrx::is_source(&text) {
        return container(args, text, clrx::Options { include_paths, confine: None, defsym: defsyms });
    }
    let mut options = options(args, &text)?;
    options.output = OutputType::Obj;
    options.include_paths = include_paths;
    options.defsym = defsyms;
    let result = assemble(&options, &args.file, text);
    crate::output::show(&result.printed);
    crate::output::report(&result.render_diagnostics());
    if result.failed() {
        // The messages have said it.
        return Err(String::new());
    }
    let object = elf::write(&result).map_err(|e| format!("{}: {e}", args.file))?;
    let path = output_path(args, if args.compile { "o" } else { "hsaco" });
    if args.compile {
        return Ok((path, object));
    }
    let inputs = [Input { name: args.file.clone(), data: &object }];
    let linked = link(&inputs, &args.undefined.options(false));
    let linked =
        linked.map_err(|e| e.iter().map(ToString::to_string).collect::<Vec<_>>().join("\nwavemill asm: "))?;
    Ok((path, linked))
}

/// The file to write.
fn output_path(args: &Asm, extension: &str) -> String {
    match (&args.output, args.file.as_str()) {
        (Some(path), _) => path.clone(),
        (None, "-") => "-".into(),
        (None, file) => Path::new(file).with_extension(extension).to_string_lossy().into_owned(),
    }
}

/// An OpenCL binary of Catalyst from CLRX's assembly.
fn container(args: &Asm, text: Vec<u8>, options: clrx::Options) -> Result<(String, Vec<u8>), String> {
    let said = [
        ("-c", args.compile),
        ("--mcpu", args.mcpu.is_some()),
        ("--code-object-version", args.code_object_version.is_some()),
    ];
    if let Some((option, _)) = said.iter().find(|o| o.1) {
        return Err(format!(
            "{}: {option} is not for CLRX's .amdcl2, which says such things itself",
            args.file
        ));
    }
    let result = clrx::assemble(&options, &args.file, text);
    crate::output::show(&result.printed);
    crate::output::report(&result.render_diagnostics());
    // The messages have said what is wrong.
    let bytes = result.binary.ok_or_else(String::new)?;
    Ok((output_path(args, "bin"), bytes))
}

/// What to assemble for: the command line's word, else the source's.
fn options(args: &Asm, text: &[u8]) -> Result<Options, String> {
    let id = match &args.mcpu {
        Some(name) => {
            // A product's name stands for its processor.
            let (product, features) = name.split_at(name.find(':').unwrap_or(name.len()));
            let known = crate::gpu::processor(product).map(|cpu| format!("{}{features}", cpu.name));
            let name = known.as_ref().unwrap_or(name);
            let full = if name.contains("--") { name.clone() } else { format!("amdgcn-amd-amdhsa--{name}") };
            TargetId::parse(&full)?.0
        }
        None => stated::target(text).ok_or_else(|| {
            format!("{}: it does not say for which processor it is (.amdgcn_target); use --mcpu", args.file)
        })?,
    };
    let cpu = crate::gpu::processor(&id.processor)?;
    let mut target = Target::new(cpu);
    target.xnack = id.xnack.request();
    target.sramecc = id.sramecc.request();
    let mut options = Options::new(target);
    options.triple = stated::triple(&id);
    options.documented = true;
    options.advice = true;
    options.os = match id.os() {
        target_id::Os::Hsa => Os::AmdHsa,
        target_id::Os::Pal => Os::AmdPal,
        target_id::Os::Mesa3d => Os::Mesa3d,
        target_id::Os::Unknown => Os::Unknown,
    };
    options.code_object_version = args.code_object_version;
    Ok(options)
}

fn defsym(text: &str) -> Result<(String, i64), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let digits = value.trim_start_matches('-');
    let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse::<u64>().ok(),
    };
    let number = number.ok_or_else(|| format!("-D {text}: `{value}` is not a number"))? as i64;
    Ok((name.to_owned(), if value.starts_with('-') { number.wrapping_neg() } else { number }))
}
