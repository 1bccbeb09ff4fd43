//! Comparing with LLVM 19's tools: `mcdiff` on random instructions, `bench` on speed.
//!
//! Both need llvm-mc-19 and llvm-objdump-19 (Debian's `llvm-19`); nothing else in the project does.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wavemill_asm::disasm::Disassembler;
use wavemill_isa::{Inst, ROWS, Target, target};
use wavemill_testing::Random;

/// Texts of random instructions: a random row and form, random bits in its fields.
fn random_texts(cpu: &'static target::Processor, count: usize, random: &mut Random) -> Vec<String> {
    use wavemill_isa::Form::*;
    let target = Target::new(cpu);
    let dis = Disassembler::new(target);
    let mut texts = Vec::with_capacity(count);
    while texts.len() < count {
        let row = &ROWS[random.next() as usize % ROWS.len()];
        let form = [Base, Vop3, Sdwa, Dpp][random.next() as usize % 4];
        if !row.has_form(form, cpu.level) {
            continue;
        }
        let mut inst = Inst::new(row, form, cpu.level);
        for op in row.operands {
            let field = inst.field_of(op);
            // Small numbers are likelier to be registers that exist.
            let value = random.next() as u32 & if random.next() & 1 == 0 { 0x1f } else { !0 };
            let vgpr = if field.width == 9 && random.next() & 1 == 0 { 256 } else { 0 };
            inst.put(field, (value | vgpr) & ((1u64 << field.width) - 1) as u32);
        }
        if inst.len == 8 && random.next() & 3 == 0 {
            inst.bits ^= (random.next() & 0xff) << 16;
        }
        let mut text = Vec::new();
        if dis.one(&inst.bits.to_le_bytes(), &mut text).is_some() {
            texts.push(String::from_utf8_lossy(&text).into_owned());
        }
    }
    texts
}

fn run(command: &mut Command, input: &[u8]) -> Result<(Vec<u8>, String), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{name}: {e} (Debian's package llvm-19 has LLVM's tools)"))?;
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().map_err(|e| format!("{name}: {e}"))?;
    let _ = writer.join();
    Ok((output.stdout, String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// The encoding an assembler gives each line, `None` where it refuses it.
fn encodings(assembler: &mut Command, cpu: &str, lines: &[String]) -> Result<Vec<Option<String>>, String> {
    let source: String = lines.iter().map(|l| format!("{l}\n")).collect();
    assembler.args(["-arch=amdgcn", &format!("-mcpu={cpu}"), "-show-encoding"]);
    let (text, messages) = run(assembler, source.as_bytes())?;
    let refused: std::collections::HashSet<usize> = messages
        .lines()
        .filter(|l| l.contains(": error: "))
        .filter_map(|l| l.strip_prefix("<stdin>:")?.split(':').next()?.parse().ok())
        .collect();
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut shown = text.lines().filter_map(|l| l.split_once("; encoding: ")).map(|(_, e)| e.to_owned());
    Ok((0..lines.len()).map(|i| if refused.contains(&(i + 1)) { None } else { shown.next() }).collect())
}

/// Random instructions, assembled by llvm-mc-19 and by `wavemill mc`: the same bytes, the same lines refused.
pub fn mcdiff(wavemill: &Path, seed: u64, count: usize) -> Result<(), String> {
    let mut differences = 0;
    for cpu in ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a"] {
        let lines = random_texts(target::processor(cpu).expect("a known name"), count, &mut Random(seed));
        let theirs = encodings(&mut Command::new("llvm-mc-19"), cpu, &lines)?;
        let ours = encodings(Command::new(wavemill).arg("mc"), cpu, &lines)?;
        let mut alike = 0;
        for ((line, theirs), ours) in lines.iter().zip(&theirs).zip(&ours) {
            if theirs == ours {
                alike += 1;
            } else {
                differences += 1;
                println!("{cpu} {line}\n  llvm {theirs:?}\n  ours {ours:?}");
            }
        }
        println!("{cpu}: {alike} of {} alike, {} assembled", lines.len(), theirs.iter().flatten().count());
    }
    if differences == 0 { Ok(()) } else { Err(format!("{differences} lines differ")) }
}

/// The shortest of five runs.
fn time(command: &mut Command) -> Result<Duration, String> {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        let name = command.get_program().to_string_lossy().into_owned();
        let status = command.stdout(Stdio::null()).status().map_err(|e| format!("{name}: {e}"))?;
        if !status.success() {
            return Err(format!("{name} failed: {status}"));
        }
        best = best.min(start.elapsed());
    }
    Ok(best)
}

/// The instructions of the compiled kernels among the tests' fixtures, over and over.
fn compiled_lines(wavemill: &Path, fixtures: &Path, cpu: &str, count: usize) -> Result<Vec<String>, String> {
    let mut files: Vec<_> = std::fs::read_dir(fixtures)
        .map_err(|e| format!("{}: {e}", fixtures.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "hsaco") && path.to_string_lossy().contains(cpu))
        .collect();
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        let (text, _) = run(Command::new(wavemill).args(["disasm", "-d"]).arg(&file), &[])?;
        let text = String::from_utf8_lossy(&text).into_owned();
        // Branches name labels that are not there; their numbers would do, but add nothing.
        let code = text
            .lines()
            .filter_map(|l| Some(l.strip_prefix('\t')?.split_once("//")?.0.trim_end().to_owned()));
        lines.extend(code.filter(|l| !l.contains("branch") && !l.starts_with('.')));
    }
    if lines.is_empty() {
        return Err(format!("no code for {cpu} in {}", fixtures.display()));
    }
    Ok(lines.iter().cycle().take(count).cloned().collect())
}

/// Assembling and disassembling the same 100,000 gfx90a lines of compiled kernels, LLVM's time over ours.
pub fn bench(wavemill: &Path, fixtures: &Path) -> Result<(), String> {
    const LINES: usize = 100_000;
    let cpu = "gfx90a";
    let lines = compiled_lines(wavemill, fixtures, cpu, LINES)?;
    let dir = std::env::temp_dir().join(format!("wavemill-bench-{}", std::process::id()));
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let (source, object) = (dir.join("lines.s"), dir.join("lines.o"));
    std::fs::write(&source, lines.join("\n") + "\n").map_err(|e| format!("{}: {e}", source.display()))?;
    let mc = |program: &Path, sub: &[&str], extra: &[&str]| {
        let mut c = Command::new(program);
        c.args(sub).args(["-arch=amdgcn", "-mcpu=gfx90a"]).args(extra).arg(&source);
        c
    };
    let llvm = Path::new("llvm-mc-19");
    let object_text = object.to_string_lossy().into_owned();
    time(&mut mc(llvm, &[], &["-filetype=obj", "-o", &object_text]))?;
    println!("{LINES} lines for {cpu}, shortest of five runs");
    let report = |what: &str, theirs: Duration, ours: Duration| {
        let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
        println!("{what:<28} LLVM {theirs:>10.1?}   Wavemill {ours:>10.1?}   {ratio:>5.1} times as fast");
    };
    for (what, extra) in [
        ("assemble to text", &["-show-encoding"][..]),
        ("assemble to an object", &["-filetype=obj", "-o", "/dev/null"]),
    ] {
        report(what, time(&mut mc(llvm, &[], extra))?, time(&mut mc(wavemill, &["mc"], extra))?);
    }
    let theirs = time(Command::new("llvm-objdump-19").arg("-d").arg(&object))?;
    report("disassemble an object", theirs, time(Command::new(wavemill).arg("disasm").arg(&object))?);
    std::fs::remove_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))
}
