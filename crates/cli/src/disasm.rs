//! `wavemill disasm`: the code of an object, as llvm-objdump shows it, or as a source that assembles to it.

use crate::input::{choose, label, name_of, open};
use crate::output::{raw_stdout, written};
use clap::Args;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;
use wavemill_asm::objdump::{Beside, Label, Notes, Objdump, Part, Shows};
use wavemill_asm::suggest::closest;
use wavemill_asm::{clrx, restore};
use wavemill_isa::Target;
use wavemill_object::bundle::CodeObject;
use wavemill_object::demangle;
use wavemill_object::elf::{
    SHF_EXECINSTR, STT_AMDGPU_HSA_KERNEL, STT_FILE, STT_FUNC, STT_OBJECT, STT_SECTION,
};
use wavemill_object::lines::{Line, Lines};
use wavemill_object::read::{Error, File, Section};

/// Arguments of `disasm`.
#[derive(Args, Clone)]
#[command(
    after_help = "Code is shown in llvm-objdump's form, and after it the kernel descriptors as .amdhsa_kernel \
directives; -d leaves these\nout and gives llvm-objdump -d's text. FILE may be a code object, an offload bundle (also \
compressed) or a HIP program.\n\nTo change a kernel and put it back together:\n  wavemill disasm --asm k.hsaco > k.s && \
wavemill asm k.s -o k.hsaco\nThat source has labels, descriptors, data, symbols and metadata; assembled and linked \
unchanged it gives the same code\nobject but for debugging information and the producer's name. With --kernel it has \
that kernel alone: functions that it calls\nand data that it uses elsewhere are not in it."
)]
pub struct Disasm {
    /// The code object, bundle or program
    file: String,
    /// Only code, without the kernel descriptors
    #[arg(short = 'd')]
    code_only: bool,
    /// Only this kernel or function, with its descriptor; as in the source or as in the symbol table
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Source lines between the instructions, from debugging information
    #[arg(short = 'S', long)]
    source: bool,
    /// File names and line numbers between the instructions
    #[arg(short, long)]
    line_numbers: bool,
    /// Relocations after the instructions that they change
    #[arg(short = 'r', long)]
    reloc: bool,
    /// Names (L0, L1 …) for branch targets that have none
    #[arg(long)]
    symbolize_operands: bool,
    /// Blocks of zeros as code, too, not as `...`
    #[arg(short = 'z', long)]
    disassemble_zeroes: bool,
    /// A source that assembles to the same object
    #[arg(long, conflicts_with_all = ["code_only", "source", "line_numbers", "reloc", "symbolize_operands", "disassemble_zeroes"])]
    asm: bool,
    /// An OpenCL 2.0 binary of AMD's Catalyst driver: a source in CLRX's assembly, which assembles to the same binary
    #[arg(long, conflicts_with_all = ["asm", "code_only", "source", "line_numbers", "reloc", "symbolize_operands", "disassemble_zeroes", "mcpu"])]
    clrx: bool,
    /// Disassemble for this processor instead of the one the object names
    #[arg(long, value_name = "NAME")]
    mcpu: Option<String>,
    /// Which of several code objects: gfx90a, gfx90a:xnack-, or an id that `unbundle --list` shows
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
}

/// Tables of an object, as text.
type Tables<'a> = dyn Fn(&File<'_>) -> Result<String, String> + 'a;

/// What else is in a listing: llvm-objdump has options for it.
#[derive(Default)]
pub struct More<'a> {
    /// Text before the code.
    pub tables: Option<&'a Tables<'a>>,
    /// No code.
    pub no_code: bool,
    /// Only these sections, if there are any.
    pub sections: &'a [String],
}

impl More<'_> {
    fn text(&self, file: &File<'_>) -> Result<String, String> {
        self.tables.map_or(Ok(String::new()), |tables| tables(file))
    }

    /// Whether a section is listed.
    pub fn lists(&self, section: &Section<'_>) -> bool {
        self.sections.is_empty() || self.sections.iter().any(|name| name == section.name)
    }
}

/// Runs `wavemill disasm`.
pub fn run(args: &Disasm) -> ExitCode {
    match list(args, &More::default()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => crate::output::fail("disasm", &message),
    }
}

/// The symbol that a name means: its own, or that of a C++ function without its signature. A name that is nobody's stays.
fn meant(name: &str, objects: &[CodeObject<'_>]) -> Result<String, String> {
    let files: Vec<File<'_>> = objects.iter().filter_map(|o| File::parse(&o.data).ok()).collect();
    let symbols = || files.iter().flat_map(|f| f.symbols.iter()).filter(|s| s.section != 0);
    if symbols().any(|s| s.name == name) {
        return Ok(name.to_owned());
    }
    let functions = symbols().filter(|s| s.ty == STT_FUNC && demangle::answers(s.name, name));
    let mut all: Vec<&str> = functions.map(|s| s.name).collect();
    all.sort_unstable();
    all.dedup();
    match all[..] {
        [] => Ok(name.to_owned()),
        [only] => Ok(only.to_owned()),
        _ => {
            let all: Vec<_> = all.iter().map(|n| demangle::shown(n).into_owned()).collect();
            Err(format!("`{name}` may be several functions, say which: {}", all.join(", ")))
        }
    }
}

/// Lists a file.
pub fn list(args: &Disasm, more: &More<'_>) -> Result<(), String> {
    let in_file = |e: &dyn std::fmt::Display| format!("{}: {e}", args.file);
    let bytes = open(&args.file)?;
    let objects = choose(&args.file, &bytes, args.target.as_deref())?;
    let named =
        args.kernel.as_deref().map(|name| meant(name, &objects)).transpose().map_err(|e| in_file(&e))?;
    let args = &Disasm { kernel: named, ..args.clone() };
    let mut out = raw_stdout()?;
    let mut found = false;
    for object in &objects {
        let name = name_of(&args.file, object);
        let file = File::parse(&object.data).map_err(|e| format!("{name}: {e}"))?;
        if let Some(kernel) = &args.kernel
            && !file.symbols.iter().any(|s| s.section != 0 && s.name == kernel)
        {
            continue;
        }
        found = true;
        if args.clrx {
            let text = clrx::disassemble(&file, args.kernel.as_deref()).map_err(|e| in_file(&e))?;
            written(out.write_all(text.as_bytes()))?;
            continue;
        }
        if more.no_code {
            written(out.write_all(head(&args.file, object).as_bytes()))?;
            written(out.write_all(more.text(&file)?.as_bytes()))?;
            continue;
        }
        let target = target_of(args, &file)?;
        if args.asm {
            let text = restore::source(&file, target, args.kernel.as_deref()).map_err(|e| in_file(&e))?;
            written(out.write_all(text.as_bytes()))?;
            continue;
        }
        written(out.write_all(head(&args.file, object).as_bytes()))?;
        written(out.write_all(more.text(&file)?.as_bytes()))?;
        text(args, more, &file, target, &mut out)?;
    }
    match &args.kernel {
        Some(kernel) if !found => {
            let files: Vec<_> = objects.iter().filter_map(|o| File::parse(&o.data).ok()).collect();
            let names = files.iter().flat_map(|f| f.symbols.iter().filter(|s| s.ty == 2).map(|s| s.name));
            let hint = closest(kernel, names).map(|n| format!("; did you mean {n}?")).unwrap_or_default();
            Err(in_file(&format!("there is no kernel or function {kernel} in it{hint}")))
        }
        _ => Ok(()),
    }
}

/// The line above an object's listing.
fn head(file: &str, object: &CodeObject<'_>) -> String {
    let entry = if object.id.is_empty() { String::new() } else { format!("({})", label(object)) };
    format!("\n{}{entry}:\tfile format elf64-amdgpu\n", name_of(file, object))
}

/// What to disassemble for.
fn target_of(args: &Disasm, file: &File<'_>) -> Result<Target, String> {
    let in_file = |e: &dyn std::fmt::Display| format!("{}: {e}", args.file);
    if let Some(name) = &args.mcpu {
        return crate::gpu::target(name);
    }
    let id = file.target_id().map_err(|e| in_file(&e))?;
    let id = id.ok_or_else(|| in_file(&"it does not say for which processor it is; use --mcpu"))?;
    let cpu = crate::gpu::processor(&id.processor).map_err(|e| in_file(&e))?;
    let mut target = Target::new(cpu);
    target.xnack = id.xnack.request();
    target.sramecc = id.sramecc.request();
    Ok(target)
}

fn text(
    args: &Disasm,
    more: &More<'_>,
    file: &File<'_>,
    target: Target,
    out: &mut dyn Write,
) -> Result<(), String> {
    let in_file = |e: &dyn std::fmt::Display| format!("{}: {e}", args.file);
    let objdump = Objdump::new(target, file.version());
    let lines = match args.source || args.line_numbers {
        true => Lines::read(file).map_err(|e| in_file(&e))?,
        false => None,
    };
    if lines.is_none() && (args.source || args.line_numbers) {
        crate::output::message(format_args!(
            "wavemill disasm: {}: it has no source lines (.debug_line)",
            args.file
        ));
    }
    let mut sources =
        Sources { files: HashMap::new(), text: args.source, places: args.line_numbers, room: MAX_SOURCES };
    for (number, section) in file.sections.iter().enumerate() {
        let code = section.flags & SHF_EXECINSTR != 0;
        if section.data.is_empty() || (args.code_only && !code) || !more.lists(section) {
            continue;
        }
        let labels = labels(file, number, section);
        let relocations = match args.reloc && code {
            true => relocations(file, number as u32).map_err(|e| in_file(&e))?,
            false => Vec::new(),
        };
        let patched: Vec<u64> = relocations.iter().map(|r| r.0).collect();
        let mut part = Part {
            name: section.name,
            base: section.address,
            code: section.data,
            labels: &labels,
            symbolize: args.symbolize_operands,
            zeros: args.disassemble_zeroes,
            patched: &patched,
        };
        let only: Vec<Label<'_>>;
        if let Some(kernel) = &args.kernel {
            let wanted = |l: &&Label<'_>| l.name.strip_suffix(".kd").unwrap_or(l.name) == kernel;
            only = labels.iter().filter(wanted).cloned().collect();
            let Some(first) = only.first() else { continue };
            part.labels = &only;
            if code {
                (part.base, part.code) = extent(file, number, section, first, &labels);
            }
        }
        if !code {
            written(objdump.descriptors(&part, out))?;
            continue;
        }
        if lines.is_none() && relocations.is_empty() {
            written(objdump.section(&part, None, out))?;
            continue;
        }
        let mut last = None;
        let mut notes = |beside: Beside, out: &mut Vec<u8>| match (beside, &lines) {
            (Beside::Before(address), Some(lines)) => {
                let line = lines.find(number as u32, address);
                // A line is shown again after code that belongs to none.
                if let Some(line) = line.filter(|_| last != line) {
                    sources.show(line, out);
                }
                last = line;
            }
            (Beside::Before(_), None) => {}
            (Beside::After(bytes), _) => {
                let first = relocations.partition_point(|r| r.0 < bytes.start);
                for (_, text) in relocations[first..].iter().take_while(|r| r.0 < bytes.end) {
                    out.extend_from_slice(text.as_bytes());
                }
            }
        };
        written(objdump.section(&part, Some(&mut notes as &mut Notes<'_>), out))?;
    }
    Ok(())
}

/// The relocations of a section by place, each as llvm-objdump shows it.
fn relocations(file: &File<'_>, section: u32) -> Result<Vec<(u64, String)>, Error> {
    let mut all = Vec::new();
    for r in file.relocations(section)? {
        let symbol = file.symbols.get(r.symbol as usize).filter(|_| r.symbol != 0);
        let name = symbol.map_or("*ABS*", |s| file.symbol_name(s));
        let addend = match r.addend {
            0 => String::new(),
            n @ 1.. => format!("+{n:#x}"),
            n => format!("-{:#x}", n.unsigned_abs()),
        };
        all.push((
            r.offset,
            format!("\t\t{:016x}:  {}\t{name}{addend}\n", r.offset, r.type_name(file.is_finalized())),
        ));
    }
    all.sort_by_key(|r| r.0);
    Ok(all)
}

/// The names in a section, in order.
fn labels<'a>(file: &File<'a>, number: usize, section: &Section<'_>) -> Vec<Label<'a>> {
    let named = |s: &&wavemill_object::read::Symbol<'a>| {
        !s.name.is_empty() && !matches!(s.ty, STT_SECTION | STT_FILE)
    };
    let in_section = file.symbols.iter().filter(|s| s.section as usize == number).filter(named);
    let mut labels: Vec<Label<'a>> = in_section
        .map(|s| {
            let descriptor = s.name.ends_with(".kd") && matches!(s.size, 0 | 64);
            let shows = match s.ty {
                STT_OBJECT if descriptor => Shows::Descriptor,
                STT_OBJECT => Shows::Data,
                STT_AMDGPU_HSA_KERNEL => Shows::KernelCode,
                _ => Shows::Code,
            };
            Label { address: s.value, name: s.name, shows }
        })
        .filter(|l| l.address >= section.address)
        .collect();
    labels.sort_by_key(|l| l.address);
    labels
}

/// The bytes of a function: as many as its symbol says, else up to the next label.
fn extent<'a>(
    file: &File<'a>,
    number: usize,
    section: &Section<'a>,
    label: &Label<'_>,
    labels: &[Label<'_>],
) -> (u64, &'a [u8]) {
    let symbol = file.symbols.iter().find(|s| s.section as usize == number && s.name == label.name);
    let start = (label.address - section.address).min(section.data.len() as u64) as usize;
    let next = labels.iter().map(|l| l.address).find(|a| *a > label.address);
    let size = match symbol.map_or(0, |s| s.size) {
        0 => next.map_or(u64::MAX, |n| n - label.address),
        size => size,
    };
    let end = usize::try_from(size).ok().and_then(|s| start.checked_add(s)).unwrap_or(usize::MAX);
    (label.address, &section.data[start..end.min(section.data.len())])
}

/// Source files, read when their first line is wanted.
struct Sources {
    files: HashMap<String, Option<Vec<String>>>,
    text: bool,
    places: bool,
    /// Bytes of sources that are still read.
    room: u64,
}

/// Bytes of sources that are read for one listing.
const MAX_SOURCES: u64 = 256 << 20;

/// Reads a regular file of at most `most` bytes. Pipes are not waited for, and files that the kernel makes up, which have
/// no size, are empty.
fn read_regular(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let error = |text: &str| Err(std::io::Error::other(text));
    if !std::fs::metadata(path)?.is_file() {
        return error("it is not a regular file");
    }
    let file = std::fs::File::open(path)?;
    let size = file.metadata()?.len();
    if size > most {
        return error("it is too large for a source");
    }
    let mut bytes = Vec::new();
    file.take(size).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Sources {
    /// The lines of a file that an object names: a regular file of a source's size, whatever the object says.
    fn open(&mut self, name: &str) -> Option<Vec<String>> {
        let bytes = read_regular(Path::new(name), self.room)
            .inspect_err(|e| crate::output::message(format_args!("wavemill disasm: {name}: {e}")))
            .ok()?;
        self.room -= bytes.len() as u64;
        Some(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
    }

    fn show(&mut self, line: Line<'_>, out: &mut Vec<u8>) {
        if self.text && !self.files.contains_key(line.file) {
            let lines = self.open(line.file);
            self.files.insert(line.file.to_owned(), lines);
        }
        let lines = self.files.get(line.file).and_then(Option::as_ref);
        let text = lines.and_then(|l| l.get((line.line as usize).checked_sub(1)?));
        // Without the text, the place is better than nothing.
        if self.places || text.is_none() {
            out.extend_from_slice(format!("; {}:{}\n", line.file, line.line).as_bytes());
        }
        if let Some(text) = text {
            out.extend_from_slice(format!("; {text}\n").as_bytes());
        }
    }
}
