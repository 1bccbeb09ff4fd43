//! `wavemill disasm`: the code of an object, as llvm-objdump shows it.

use clap::Args;
use std::io::Write;
use std::process::ExitCode;
use wavemill_asm::objdump::{Label, Objdump};
use wavemill_isa::{Target, target};
use wavemill_object::read::File;

const SHF_EXECINSTR: u64 = 4;
const STT_OBJECT: u8 = 1;
const STT_SECTION: u8 = 3;
const STT_FILE: u8 = 4;

/// Arguments of `disasm`.
#[derive(Args)]
pub struct Disasm {
    /// The code object
    file: String,
    /// Disassemble for this processor instead of the one the object names
    #[arg(long, value_name = "NAME")]
    mcpu: Option<String>,
}

/// Runs `wavemill disasm`.
pub fn run(args: &Disasm) -> ExitCode {
    match text(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("wavemill disasm: {message}");
            ExitCode::FAILURE
        }
    }
}

fn text(args: &Disasm) -> Result<(), String> {
    let in_file = |e: &dyn std::fmt::Display| format!("{}: {e}", args.file);
    let data = std::fs::read(&args.file).map_err(|e| in_file(&e))?;
    let file = File::parse(&data).map_err(|e| in_file(&e))?;
    let target = match &args.mcpu {
        Some(name) => Target::new(target::processor(name).ok_or_else(|| format!("no processor `{name}`"))?),
        None => {
            let id = file.target_id().map_err(|e| in_file(&e))?;
            let id = id.ok_or_else(|| in_file(&"it does not say for which processor it is; use --mcpu"))?;
            let cpu = target::processor(&id.processor);
            Target::new(cpu.ok_or_else(|| {
                in_file(&format!("it is for {}, which Wavemill does not know", id.processor))
            })?)
        }
    };
    let objdump = Objdump::new(target);
    let mut out = std::fs::File::from(
        std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned().map_err(|e| e.to_string())?,
    );
    let written = |r: std::io::Result<()>| match r {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("standard output: {e}")),
        _ => Ok(()),
    };
    written(out.write_all(format!("\n{}:\tfile format elf64-amdgpu\n", args.file).as_bytes()))?;
    for (number, section) in file.sections.iter().enumerate() {
        if section.flags & SHF_EXECINSTR == 0 || section.data.is_empty() {
            continue;
        }
        let mut labels: Vec<Label<'_>> = file
            .symbols
            .iter()
            .filter(|s| {
                s.section as usize == number && !s.name.is_empty() && !matches!(s.ty, STT_SECTION | STT_FILE)
            })
            .map(|s| Label { address: s.value, name: s.name, data: s.ty == STT_OBJECT })
            .collect();
        labels.sort_by_key(|l| l.address);
        written(objdump.section(section.name, section.address, section.data, &labels, &mut out))?;
    }
    Ok(())
}
