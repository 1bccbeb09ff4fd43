//! `wavemill isa`: what the instruction table knows, for people and (`--json`) for programs.

mod explain;

use clap::Subcommand;
use std::fmt::Write as _;
use std::process::ExitCode;
use wavemill_asm::suggest::closest;
use wavemill_isa::row::{cache, counter, flag, state};
use wavemill_isa::{Enc, Kind, Level, ROWS, Row, target};
use wavemill_reference as reference;
use wavemill_sem::fidelity::fidelity;

/// The subcommands of `isa`.
#[derive(Subcommand)]
pub enum Isa {
    /// List a processor's instructions
    List {
        /// The processor
        #[arg(long, value_name = "NAME")]
        mcpu: String,
        /// As JSON, one object per instruction
        #[arg(long)]
        json: bool,
        /// Only this encoding (SOP2, VOP3, …)
        #[arg(long, value_name = "ENCODING")]
        encoding: Option<String>,
    },
    /// Explain an instruction, a modifier, a register, a counter, hazards, or words of machine code
    Explain {
        /// A mnemonic, a modifier (row_shr, op_sel, blgp), a register or counter (exec, vmcnt), hazards, or words (0xd3b04000)
        #[arg(required = true)]
        words: Vec<String>,
        /// Words of machine code for this processor only
        #[arg(long, value_name = "NAME")]
        mcpu: Option<String>,
        /// Draw where the elements of a matrix instruction's operand lie
        #[arg(long, value_name = "MATRIX")]
        layout: Option<explain::Matrix>,
    },
    /// Find instructions and modifiers by words of their names and descriptions
    Search {
        /// The words
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// List the processors with their other names
    Processors {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs `wavemill isa`.
pub fn run(command: Isa) -> ExitCode {
    match command {
        Isa::List { mcpu, json, encoding } => list(&mcpu, json, encoding.as_deref()),
        Isa::Explain { words, mcpu, layout } => explain::run(&words, mcpu.as_deref(), layout),
        Isa::Search { words } => explain::search(&words),
        Isa::Processors { json } => processors(json),
    }
}

fn fail(message: &str) -> ExitCode {
    crate::output::fail("isa", message)
}

fn hint<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> String {
    closest(name, candidates).map(|n| format!("; did you mean {n}?")).unwrap_or_default()
}

fn list(mcpu: &str, json: bool, encoding: Option<&str>) -> ExitCode {
    let cpu = match crate::gpu::processor(mcpu) {
        Ok(cpu) => cpu,
        Err(message) => return fail(&message),
    };
    let wanted = match encoding {
        None => None,
        Some(name) => match Enc::ALL.iter().find(|e| e.name().eq_ignore_ascii_case(name)) {
            Some(enc) => Some(*enc),
            None => {
                return fail(&format!(
                    "no encoding `{name}`{}",
                    hint(name, Enc::ALL.iter().map(|e| e.name()))
                ));
            }
        },
    };
    let rows: Vec<&'static Row> =
        ROWS.iter().filter(|r| r.opcode_on(cpu).is_some() && wanted.is_none_or(|e| e == r.enc)).collect();
    let mut out = String::new();
    if json {
        out.push_str("[\n");
        for (i, row) in rows.iter().enumerate() {
            json_row(row, cpu.level, &mut out);
            out.push_str(if i + 1 < rows.len() { ",\n" } else { "\n" });
        }
        out.push_str("]\n");
    } else {
        for row in &rows {
            let operands: Vec<String> = row.operands.iter().map(reference::operand).collect();
            let op = row.opcode[cpu.level as usize];
            let counters = reference::names(row.counters, counter::NAMES);
            let counters = if counters.is_empty() {
                String::new()
            } else {
                format!("  [{}cnt]", counters.join("cnt, "))
            };
            let _ = writeln!(
                out,
                "{:<28} {:<7} {:>4}  {:<8}  {}{counters}",
                row.name,
                row.enc.name(),
                op,
                row.basis().0.name(),
                operands.join(", ")
            );
        }
        let _ = writeln!(out, "{} instructions on {}", rows.len(), cpu.name);
    }
    crate::print(out.as_bytes())
}

/// A JSON list of strings that need no escaping.
fn json_list(items: &[&str]) -> String {
    let quoted: Vec<String> = items.iter().map(|i| format!("\"{i}\"")).collect();
    format!("[{}]", quoted.join(", "))
}

/// What a row does to memory, or null.
fn json_memory(row: &Row) -> String {
    match row.mem {
        None => "null".to_owned(),
        Some(m) if m.bytes == 0 => format!("{{\"kind\": \"{}\", \"bytes\": null}}", m.kind.name()),
        Some(m) => {
            format!("{{\"kind\": \"{}\", \"bytes\": {}, \"places\": {}}}", m.kind.name(), m.bytes, m.places)
        }
    }
}

fn json_row(row: &'static Row, level: Level, out: &mut String) {
    let operands: Vec<String> = row
        .operands
        .iter()
        .map(|o| {
            format!(
                "{{\"role\": \"{}\", \"type\": \"{}\", \"dwords\": {}, \"access\": \"{}\"}}",
                o.role.name(),
                reference::ty(o.ty),
                if o.ty.kind == Kind::Imm { 0 } else { o.ty.dwords() },
                reference::access(o.access)
            )
        })
        .collect();
    let flags: Vec<&str> = flag::NAMES.iter().filter(|(_, b)| row.flags & b != 0).map(|(n, _)| *n).collect();
    let _ = write!(
        out,
        "  {{\"mnemonic\": \"{}\", \"encoding\": \"{}\", \"opcode\": {}, \"forms\": {}, \"operands\": [{}], \
         \"reads\": {}, \"writes\": {}, \"counters\": {}, \"memory\": {}, \"flow\": \"{}\", \"caches\": {}, \
         \"skippable\": {}, \"attributes\": {}, \
         \"section\": \"{}\", \"semantics\": \"{}\", \"basis\": \"{}\", \"source\": {}}}",
        row.name,
        row.enc.name(),
        row.opcode[level as usize],
        json_list(&reference::forms(row, level)),
        operands.join(", "),
        json_list(&reference::names(row.reads, state::NAMES)),
        json_list(&reference::names(row.writes, state::NAMES)),
        json_list(&reference::names(row.counters, counter::NAMES)),
        json_memory(row),
        row.flow.name(),
        json_list(&reference::names(row.cache, cache::NAMES)),
        reference::plain_info(row).is_some_and(|i| i.skippable()),
        json_list(&flags),
        row.section,
        fidelity(row).name(),
        row.basis().0.name(),
        wavemill_device::json::quoted(row.basis().1),
    );
}

fn processors(json: bool) -> ExitCode {
    let mut out = String::new();
    if json {
        let items: Vec<String> = target::PROCESSORS
            .iter()
            .map(|p| {
                format!(
                    "  {{\"name\": \"{}\", \"aliases\": {}, \"level\": \"{}\", \"xnack\": {}, \"sramecc\": {}, \"covers\": {}}}",
                    p.name,
                    json_list(p.aliases),
                    p.level.name(),
                    p.xnack.is_some(),
                    p.sramecc,
                    json_list(p.covers)
                )
            })
            .collect();
        let _ = writeln!(out, "[\n{}\n]", items.join(",\n"));
    } else {
        for p in target::PROCESSORS {
            let mut features = Vec::new();
            if p.xnack.is_some() {
                features.push("xnack");
            }
            if p.sramecc {
                features.push("sramecc");
            }
            let others = if p.is_generic() { p.covers.join(", ") } else { p.aliases.join(", ") };
            let line = format!("{:<12} {:<46} {}", p.name, others, features.join(", "));
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    crate::print(out.as_bytes())
}
