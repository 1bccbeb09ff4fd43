//! `wavemill lint`: what is wrong with code on any path, without running it.

use crate::input::{choose, name_of, open};
use crate::json::Json;
use crate::run::source;
use crate::{gpu, status};
use clap::Args;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wavemill_asm::disasm::Disassembler;
use wavemill_check::{Finding, Kind, Mend, Program, Unknown, lint};
use wavemill_isa::info::{Counter, Waits};
use wavemill_isa::{Target, lookup};
use wavemill_object::elf::{SHF_EXECINSTR, STT_AMDGPU_HSA_KERNEL, STT_FUNC};
use wavemill_object::lines::Lines;
use wavemill_object::read::{File, Section};

/// Arguments of `lint`.
#[derive(Args)]
#[command(
    after_help = "Two checks look at all paths through every kernel and function:\n  wait    a register is used, or \
overwritten, before s_waitcnt has made sure of the load, export or store\n  hazard  two instructions stand closer \
together than the manual allows: wait states (s_nop) are missing\n\nFunctions are taken to wait for all counters when \
they start and before they return, as compilers have it. What no path\nanalysis can see (jumps to addresses in \
registers, the branch stack) is said.\n\nExit status: 0 nothing found, 1 the input could not be read, 2 wrong usage, 5 \
something found."
)]
pub struct Lint {
    /// Assembly source (.s), code object, offload bundle or HIP program
    file: PathBuf,
    /// The processor to assemble a source for, instead of the one that it names
    #[arg(long, value_name = "NAME")]
    mcpu: Option<String>,
    /// Which of several code objects: gfx90a, gfx90a:xnack-, or an id that `unbundle --list` shows
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Only this kernel or function
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Findings as JSON
    #[arg(long)]
    json: bool,
    /// Put the missing s_waitcnt and s_nop into a source
    #[arg(long)]
    fix: bool,
}

/// Runs `wavemill lint`.
pub fn run(args: &Lint) -> ExitCode {
    match report(args) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(status::CHECK),
        Err(message) => {
            crate::output::message(format_args!("wavemill lint: {message}"));
            ExitCode::FAILURE
        }
    }
}

/// A function with what was found in it.
struct Checked {
    name: String,
    program: Program,
    findings: Vec<Finding>,
    places: BTreeMap<u64, (String, u32)>,
}

impl Checked {
    fn place(&self, at: u64) -> Option<&(String, u32)> {
        self.places.get(&at)
    }
}

fn report(args: &Lint) -> Result<usize, String> {
    let name = args.file.display().to_string();
    let bytes = open(&name)?;
    let is_source = source::is_source(&args.file, &bytes);
    if args.fix && !is_source {
        return Err(format!("{name}: --fix changes assembly sources, and this is none"));
    }
    let wanted = args.mcpu.as_deref().map(gpu::target).transpose()?;
    let mut checked = Vec::new();
    if is_source {
        let text = bytes.to_vec();
        // Once as it is, for its errors; once more with its lines marked.
        let (_, target) = source::assemble(&args.file, text.clone(), wanted)?;
        let (object, _) = source::assemble(&args.file, with_lines(&name, &text), Some(target))?;
        check(args, &name, &object, Some(target), &mut checked)?;
    } else {
        for object in &choose(&name, &bytes, args.target.as_deref())? {
            check(args, &name_of(&name, object), &object.data, wanted, &mut checked)?;
        }
    }
    if let Some(kernel) = args.kernel.as_ref().filter(|_| checked.is_empty()) {
        return Err(format!("{name}: there is no kernel or function {kernel} in it"));
    }
    let count: usize = checked.iter().map(|c| c.findings.len()).sum();
    let text = if args.json { json(&checked)? } else { text(&checked) };
    let mut out: Box<dyn Write> =
        if args.json { Box::new(std::io::stdout()) } else { Box::new(std::io::stderr()) };
    out.write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    if args.fix && count > 0 {
        fix(&args.file, &name, &bytes, &checked)?;
    }
    Ok(count)
}

/// The source with a `.loc` before every line that starts with an instruction, so that the object says which line its
/// code is of. A source with line tables of its own keeps those.
fn with_lines(name: &str, text: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
    let word = |line: &[u8]| {
        let text = String::from_utf8_lossy(line);
        let mut rest = text.trim_start();
        while let Some((_, after)) = rest.split_once(':').filter(|(l, _)| !l.contains(char::is_whitespace)) {
            rest = after.trim_start();
        }
        let word = rest.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        let base =
            ["_e32", "_e64", "_sdwa", "_dpp"].iter().find_map(|s| word.strip_suffix(s)).map(str::to_owned);
        (base.unwrap_or(word), rest.starts_with(".loc") || rest.starts_with(".file"))
    };
    if lines.iter().any(|l| word(l).1) {
        return text.to_vec();
    }
    let mut out = format!(".file 1 \"{}\"\n", name.replace(['"', '\\'], "_")).into_bytes();
    for (n, line) in lines.iter().enumerate() {
        let (word, _) = word(line);
        if !word.is_empty() && lookup::by_name(&word).next().is_some() {
            out.extend_from_slice(format!(".loc 1 {}\n", n + 1).as_bytes());
        }
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out
}

/// Checks the functions of a code object.
fn check(
    args: &Lint,
    name: &str,
    data: &[u8],
    target: Option<Target>,
    out: &mut Vec<Checked>,
) -> Result<(), String> {
    let in_file = |e: &dyn std::fmt::Display| format!("{name}: {e}");
    let file = File::parse(data).map_err(|e| in_file(&e))?;
    let target = match target {
        Some(target) => target,
        None => {
            let id = file.target_id().map_err(|e| in_file(&e))?;
            let id = id.ok_or_else(|| in_file(&"it does not say for which processor it is; use --mcpu"))?;
            let mut target = Target::new(gpu::processor(&id.processor).map_err(|e| in_file(&e))?);
            target.xnack = id.xnack.request();
            target.sramecc = id.sramecc.request();
            target
        }
    };
    let lines = Lines::read(&file).map_err(|e| in_file(&e))?;
    for (number, section) in file.sections.iter().enumerate() {
        if section.flags & SHF_EXECINSTR == 0 || section.data.is_empty() {
            continue;
        }
        for (name, entry) in functions(&file, number, section) {
            if args.kernel.as_ref().is_some_and(|k| *k != name) {
                continue;
            }
            let program = Program::read(target, section.address, section.data, &[entry]);
            let mut places = BTreeMap::new();
            for step in &program.steps {
                if let Some(line) = lines.as_ref().and_then(|l| l.find(number as u32, step.at)) {
                    places.insert(step.at, (line.file.to_owned(), line.line));
                }
            }
            let findings = lint(&program);
            out.push(Checked { name, program, findings, places });
        }
    }
    Ok(())
}

/// Names and entries of a section's functions; of code without functions, its start and the names in it.
fn functions(file: &File<'_>, number: usize, section: &Section<'_>) -> Vec<(String, u64)> {
    let inside = file.symbols.iter().filter(|s| s.section as usize == number);
    let mut out: Vec<(String, u64)> = inside
        .clone()
        .filter_map(|s| match s.ty {
            STT_FUNC => Some((s.name.to_owned(), s.value)),
            // Version 2: the kernel's code follows its amd_kernel_code_t.
            STT_AMDGPU_HSA_KERNEL => Some((s.name.to_owned(), s.value + 256)),
            _ => None,
        })
        .collect();
    if out.is_empty() {
        let at_start = inside.clone().find(|s| s.value == section.address && !s.name.is_empty());
        let name = at_start.map_or(section.name, |s| s.name);
        out.push((name.to_owned(), section.address));
    }
    out.sort_by_key(|f| f.1);
    out.dedup_by_key(|f| f.1);
    out
}

/// The text of an instruction.
fn instruction(program: &Program, at: u64) -> String {
    let Some(step) = program.step_at(at) else { return String::new() };
    let mut text = Vec::new();
    let bytes = step.inst.bits.to_le_bytes();
    Disassembler::new(program.target).one(&bytes[..step.inst.len as usize], &mut text);
    String::from_utf8_lossy(&text).trim().to_owned()
}

/// `vmcnt(0) lgkmcnt(1)`.
fn waits(waits: Waits, target: &Target) -> String {
    let level = target.level();
    let counts =
        Counter::ALL.iter().filter_map(|c| waits.count(*c, level).map(|n| format!("{}({n})", c.name())));
    counts.collect::<Vec<_>>().join(" ")
}

fn registers(finding: &Finding, target: &Target) -> String {
    let names = finding.regs.iter().map(|r| r.name(1, target).to_string());
    names.collect::<Vec<_>>().join(", ")
}

fn mend(finding: &Finding, target: &Target) -> String {
    match finding.mend {
        Mend::Wait(w) => format!("s_waitcnt {}", waits(w, target)),
        Mend::Nops(n) => format!("s_nop {}", n - 1),
    }
}

/// One sentence about a finding.
fn sentence(finding: &Finding, target: &Target) -> String {
    let regs = registers(finding, target);
    let (are, them) = if finding.regs.len() == 1 { ("is", "it") } else { ("are", "them") };
    match (finding.kind, finding.states) {
        (Kind::TooClose, Some((need, have, rule))) => {
            let on = if regs.is_empty() { String::new() } else { format!(" ({regs})") };
            format!("{need} wait states are needed, {have} are there{on}: {rule}")
        }
        (Kind::Overwritten, _) => format!("{regs} {are} overwritten while a load into {them} is under way"),
        (Kind::StillRead, _) => {
            format!("{regs} {are} overwritten while a store or export may still have to read {them}")
        }
        _ => format!("{regs} {are} used before the load into {them} is done"),
    }
}

fn text(checked: &[Checked]) -> String {
    let mut out = String::new();
    for function in checked {
        let target = &function.program.target;
        let shown = |at: u64| match function.place(at) {
            Some((file, line)) => format!("{file}:{line}"),
            None => format!("{at:#x}"),
        };
        for f in &function.findings {
            out += &format!(
                "{}: {}: {} [{}]\n",
                shown(f.at),
                f.kind.check(),
                sentence(f, target),
                f.kind.name()
            );
            out += &format!("  in {}\n", function.name);
            let mark = |at: u64, arrow: &str| {
                let text = instruction(&function.program, at);
                format!("  {arrow:>2} {at:#8x}: {text:<48} {}\n", shown(at))
            };
            out += &mark(f.other, "");
            out += &mark(f.at, "=>");
            out += &format!("  before it: {}\n\n", mend(f, target));
        }
    }
    for function in checked {
        for unknown in &function.program.unknown {
            out += &format!("note: {}: {}\n", function.name, unseen(*unknown));
        }
    }
    let count: usize = checked.iter().map(|c| c.findings.len()).sum();
    let functions = checked.len();
    out + &format!("{count} finding{} in {functions} function{}\n", plural(count), plural(functions))
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

fn unseen(unknown: Unknown) -> String {
    match unknown {
        Unknown::Jump(at) => {
            format!("the jump at {at:#x} leads to an address in a register; what follows is not seen")
        }
        Unknown::Outside(at) => format!("the code after {at:#x} is not in the file"),
        Unknown::Undecoded(at) => format!("there is no instruction at {at:#x}"),
        Unknown::Stack(at) => format!("the branch stack decides what follows {at:#x}"),
    }
}

fn json(checked: &[Checked]) -> Result<String, String> {
    let mut bytes = Vec::new();
    let mut json = Json::new(&mut bytes);
    json.object(|j| {
        j.key("findings").array(|j| {
            for function in checked {
                function.findings.iter().for_each(|f| j.object(|j| json_finding(j, function, f)));
            }
        });
        j.key("undecided").array(|j| {
            for function in checked {
                for unknown in &function.program.unknown {
                    j.object(|j| {
                        j.field("kernel", function.name.as_str());
                        j.field("message", unseen(*unknown).as_str());
                    });
                }
            }
        });
        j.field("functions", checked.len());
    });
    json.finish().map_err(|e| e.to_string())?;
    String::from_utf8(bytes).map_err(|e| e.to_string())
}

fn json_finding<W: Write>(json: &mut Json<W>, function: &Checked, f: &Finding) {
    let target = &function.program.target;
    let instruction = |json: &mut Json<W>, at: u64| {
        json.field("pc", at);
        if let Some((file, line)) = function.place(at) {
            json.field("file", file.as_str());
            json.field("line", *line);
        }
        json.field("instruction", instruction(&function.program, at).as_str());
    };
    json.field("check", f.kind.check());
    json.field("kind", f.kind.name());
    json.field("kernel", function.name.as_str());
    instruction(json, f.at);
    json.key("other").object(|j| instruction(j, f.other));
    json.key("registers")
        .array(|j| f.regs.iter().for_each(|r| j.value(r.name(1, target).to_string().as_str())));
    json.field("message", sentence(f, target).as_str());
    json.field("mend", mend(f, target).as_str());
}

/// Puts what is missing before the lines it is missing at. All of a line's findings together need one S_WAITCNT with the
/// lowest counts and the most wait states.
fn fix(path: &Path, name: &str, bytes: &[u8], checked: &[Checked]) -> Result<(), String> {
    let mut needs: BTreeMap<u32, (Option<Waits>, u8, Target)> = BTreeMap::new();
    let mut left = 0;
    for function in checked {
        let target = function.program.target;
        for f in &function.findings {
            let Some((_, line)) = function.place(f.at).filter(|(file, _)| file == name) else {
                left += 1;
                continue;
            };
            let need = needs.entry(*line).or_insert((None, 0, target));
            match f.mend {
                Mend::Wait(w) => {
                    let old = need.0.unwrap_or(Waits::none(target.level()));
                    let (vm, lgkm, exp) = (old.vm.min(w.vm), old.lgkm.min(w.lgkm), old.exp.min(w.exp));
                    need.0 = Some(Waits { vm, lgkm, exp });
                }
                Mend::Nops(n) => need.1 = need.1.max(n),
            }
        }
    }
    let mut out = Vec::new();
    for (n, line) in bytes.split_inclusive(|&b| b == b'\n').enumerate() {
        if let Some((wait, nops, target)) = needs.get(&(n as u32 + 1)) {
            let indent: Vec<u8> = line.iter().copied().take_while(|b| b.is_ascii_whitespace()).collect();
            let indent = String::from_utf8_lossy(&indent).into_owned();
            if let Some(w) = wait {
                out.extend_from_slice(format!("{indent}s_waitcnt {}\n", waits(*w, target)).as_bytes());
            }
            let mut nops = *nops;
            while nops > 0 {
                // S_NOP counts to 8 on every generation.
                let some = nops.min(8);
                out.extend_from_slice(format!("{indent}s_nop {}\n", some - 1).as_bytes());
                nops -= some;
            }
        }
        out.extend_from_slice(line);
    }
    std::fs::write(path, out).map_err(|e| format!("{name}: {e}"))?;
    crate::output::message(format_args!("{name}: {} line{} mended", needs.len(), plural(needs.len())));
    if left > 0 {
        crate::output::message(format_args!(
            "{name}: {left} finding{} not: no line of it is known for them",
            plural(left)
        ));
    }
    Ok(())
}
