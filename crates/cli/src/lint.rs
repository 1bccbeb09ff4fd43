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
use wavemill_check::finding::counts;
use wavemill_check::report::{CodeLocation, Format, Report};
use wavemill_check::suppress;
use wavemill_check::{Finding, Mend, Program, Unknown, lint};
use wavemill_isa::Target;
use wavemill_isa::info::WaitCounts;
use wavemill_object::elf::{SHF_EXECINSTR, STT_AMDGPU_HSA_KERNEL, STT_FUNC};
use wavemill_object::lines::Lines;
use wavemill_object::read::{File, Section};

/// Arguments of `lint`.
#[derive(Args)]
#[command(
    after_help = "Three checks look at all paths through every kernel and function:\n  wait    a register is used, or \
overwritten, before s_waitcnt has made sure of the load, export or store\n  hazard  two instructions stand closer \
together than the manual allows: wait states (s_nop) are missing\n  model   caches are invalidated or written back in \
the wrong order with loads and stores (s_waitcnt is missing)\n\nFunctions are taken to wait for all counters when \
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
    /// Findings as SARIF 2.1.0
    #[arg(long, conflicts_with = "json")]
    sarif: bool,
    /// Findings that are known and not to be told, a line each; may be given several times
    #[arg(long, value_name = "FILE")]
    suppress: Vec<PathBuf>,
    /// Print a line for --suppress for each finding, and nothing else
    #[arg(long, conflicts_with_all = ["json", "sarif"])]
    gen_suppressions: bool,
    /// Put the missing s_waitcnt and s_nop into a source
    #[arg(long)]
    fix: bool,
}

/// Runs `wavemill lint`.
pub fn run(args: &Lint) -> ExitCode {
    match report(args) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(status::CHECK),
        Err(message) => crate::output::fail("lint", &message),
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

    /// A finding as all checks report it.
    fn report(&self, finding: &Finding) -> Report {
        let entry = self.program.entries.first().map_or(0, |e| self.program.steps[*e].at);
        let place = |pc: u64| CodeLocation {
            pc,
            function: pc.checked_sub(entry).map(|offset| (self.name.clone(), offset)),
            source: self.place(pc).cloned(),
            instruction: instruction(&self.program, pc),
        };
        let target = &self.program.target;
        Report {
            check: finding.kind.check().into(),
            kind: finding.kind.name().into(),
            kernel: self.name.clone(),
            message: finding.sentence(target),
            place: place(finding.at),
            other: Some(("not done".into(), place(finding.other))),
            mend: format!("put {} before it", finding.mending(target)),
            count: 1,
            ..Report::default()
        }
    }
}

fn report(args: &Lint) -> Result<usize, String> {
    let name = args.file.display().to_string();
    let known = crate::checks::known(&args.suppress)?;
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
        let (object, _) = source::assemble(&args.file, source::with_lines(&name, &text), Some(target))?;
        check(args, &name, &object, Some(target), &mut checked)?;
    } else {
        for object in &choose(&name, &bytes, args.target.as_deref())? {
            check(args, &name_of(&name, object), &object.data, wanted, &mut checked)?;
        }
    }
    if let Some(kernel) = args.kernel.as_ref().filter(|_| checked.is_empty()) {
        return Err(format!("{name}: there is no kernel or function {kernel} in it"));
    }
    for function in &mut checked {
        let mut findings = std::mem::take(&mut function.findings);
        findings.retain(|f| !known.cover(&function.report(f)));
        function.findings = findings;
    }
    let count: usize = checked.iter().map(|c| c.findings.len()).sum();
    let reports = || checked.iter().flat_map(|c| c.findings.iter().map(|f| c.report(f)));
    let text = match () {
        () if args.json => json(&checked)?,
        () if args.sarif => Format::Sarif.document(&reports().map(|r| r.sarif()).collect::<Vec<_>>()),
        () if args.gen_suppressions => reports().map(|r| suppress::line(&r) + "\n").collect(),
        () => text(&checked),
    };
    let for_machines = args.json || args.sarif || args.gen_suppressions;
    if for_machines {
        crate::output::printing();
        crate::output::written(std::io::stdout().write_all(text.as_bytes()))?;
    } else {
        std::io::stderr().write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    }
    if args.fix && count > 0 {
        fix(&args.file, &name, &bytes, &checked)?;
    }
    Ok(count)
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

fn text(checked: &[Checked]) -> String {
    let mut out = String::new();
    for function in checked {
        let target = &function.program.target;
        let shown = |at: u64| match function.place(at) {
            Some((file, line)) => format!("{file}:{line}"),
            None => format!("{at:#x}"),
        };
        for f in &function.findings {
            out +=
                &format!("{}: {}: {} [{}]\n", shown(f.at), f.kind.check(), f.sentence(target), f.kind.name());
            out += &format!("  in {}\n", function.name);
            let mark = |at: u64, arrow: &str| {
                let text = instruction(&function.program, at);
                format!("  {arrow:>2} {at:#8x}: {text:<48} {}\n", shown(at))
            };
            out += &mark(f.other, "");
            out += &mark(f.at, "=>");
            out += &format!("  before it: {}\n\n", f.mending(target));
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
    json.field("message", f.sentence(target).as_str());
    json.field("mend", f.mending(target).as_str());
}

/// Puts what is missing before the lines it is missing at. All of a line's findings together need one S_WAITCNT with the
/// lowest counts and the most wait states.
fn fix(path: &Path, name: &str, bytes: &[u8], checked: &[Checked]) -> Result<(), String> {
    let mut needs: BTreeMap<u32, (Option<WaitCounts>, u8, Target)> = BTreeMap::new();
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
                    let old = need.0.unwrap_or(WaitCounts::none(target.level()));
                    let (vm, lgkm, exp) = (old.vm.min(w.vm), old.lgkm.min(w.lgkm), old.exp.min(w.exp));
                    need.0 = Some(WaitCounts { vm, lgkm, exp });
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
                out.extend_from_slice(format!("{indent}s_waitcnt {}\n", counts(*w, target)).as_bytes());
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
