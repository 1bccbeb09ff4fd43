//! `wavemill isa`: what the instruction table knows, for people and (`--json`) for programs.

use clap::Subcommand;
use std::fmt::Write as _;
use std::process::ExitCode;
use wavemill_asm::suggest::closest;
use wavemill_isa::row::{ABSENT, counter, flag, state};
use wavemill_isa::{Access, Enc, Form, Kind, Level, Operand, ROWS, Row, Ty, encoding, lookup, target};
use wavemill_sem::fidelity::{Fidelity, fidelity};

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
    /// Explain one instruction: encodings per generation, operands, effects
    Explain {
        /// The mnemonic, with or without an encoding suffix
        mnemonic: String,
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
        Isa::Explain { mnemonic } => explain(&mnemonic),
        Isa::Processors { json } => processors(json),
    }
}

fn fail(message: &str) -> ExitCode {
    eprintln!("wavemill isa: {message}");
    ExitCode::FAILURE
}

fn hint(name: &str, candidates: impl Iterator<Item = &'static str>) -> String {
    closest(name, candidates).map(|n| format!("; did you mean {n}?")).unwrap_or_default()
}

fn list(mcpu: &str, json: bool, encoding: Option<&str>) -> ExitCode {
    let Some(cpu) = target::processor(mcpu) else {
        return fail(&format!("no processor `{mcpu}`{}", hint(mcpu, target::processor_names())));
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
    let rows: Vec<&Row> = ROWS
        .iter()
        .filter(|r| r.opcode_at(cpu.level).is_some() && wanted.is_none_or(|e| e == r.enc))
        .collect();
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
            let operands: Vec<String> = row.operands.iter().map(operand_text).collect();
            let op = row.opcode[cpu.level as usize];
            let counters = names(row.counters, counter::NAMES);
            let counters = if counters.is_empty() {
                String::new()
            } else {
                format!("  [{}cnt]", counters.join("cnt, "))
            };
            let _ = writeln!(
                out,
                "{:<28} {:<7} {:>4}  {}{counters}",
                row.name,
                row.enc.name(),
                op,
                operands.join(", ")
            );
        }
        let _ = writeln!(out, "{} instructions on {}", rows.len(), cpu.name);
    }
    crate::print(out.as_bytes())
}

/// The names of the set bits.
fn names(bits: u8, table: &[(&'static str, u8)]) -> Vec<&'static str> {
    table.iter().filter(|(_, bit)| bits & bit != 0).map(|(name, _)| *name).collect()
}

fn forms(row: &Row, level: Level) -> Vec<&'static str> {
    let all = [(Form::Vop3, "VOP3"), (Form::Sdwa, "SDWA"), (Form::Dpp, "DPP")];
    all.into_iter().filter(|(f, _)| row.has_form(*f, level)).map(|(_, n)| n).collect()
}

fn type_text(ty: Ty) -> String {
    let kind = match ty.kind {
        Kind::B => "b",
        Kind::I => "i",
        Kind::U => "u",
        Kind::F => "f",
        Kind::Bf => "bf",
        Kind::Imm => return "constant".into(),
    };
    if ty.count > 1 { format!("{kind}{}x{}", ty.bits, ty.count) } else { format!("{kind}{}", ty.bits) }
}

fn operand_text(op: &Operand) -> String {
    match op.ty.kind {
        Kind::Imm => op.role.name().to_owned(),
        _ => format!("{}:{}", op.role.name(), type_text(op.ty)),
    }
}

fn access_text(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::ReadWrite => "read-write",
    }
}

/// A JSON list of strings that need no escaping.
fn json_list(items: &[&str]) -> String {
    let quoted: Vec<String> = items.iter().map(|i| format!("\"{i}\"")).collect();
    format!("[{}]", quoted.join(", "))
}

fn json_row(row: &Row, level: Level, out: &mut String) {
    let operands: Vec<String> = row
        .operands
        .iter()
        .map(|o| {
            format!(
                "{{\"role\": \"{}\", \"type\": \"{}\", \"dwords\": {}, \"access\": \"{}\"}}",
                o.role.name(),
                type_text(o.ty),
                if o.ty.kind == Kind::Imm { 0 } else { o.ty.dwords() },
                access_text(o.access)
            )
        })
        .collect();
    let flags: Vec<&str> = flag::NAMES.iter().filter(|(_, b)| row.flags & b != 0).map(|(n, _)| *n).collect();
    let _ = write!(
        out,
        "  {{\"mnemonic\": \"{}\", \"encoding\": \"{}\", \"opcode\": {}, \"forms\": {}, \"operands\": [{}], \
         \"reads\": {}, \"writes\": {}, \"counters\": {}, \"attributes\": {}, \
         \"section\": \"{}\", \"semantics\": \"{}\"}}",
        row.name,
        row.enc.name(),
        row.opcode[level as usize],
        json_list(&forms(row, level)),
        operands.join(", "),
        json_list(&names(row.reads, state::NAMES)),
        json_list(&names(row.writes, state::NAMES)),
        json_list(&names(row.counters, counter::NAMES)),
        json_list(&flags),
        row.section,
        fidelity(row).name(),
    );
}

fn explain(mnemonic: &str) -> ExitCode {
    let name = ["_e32", "_e64", "_sdwa", "_dpp"]
        .iter()
        .find_map(|s| mnemonic.strip_suffix(s))
        .unwrap_or(mnemonic)
        .to_ascii_lowercase();
    let rows: Vec<&Row> = lookup::by_name(&name).collect();
    if rows.is_empty() {
        return fail(&format!("no instruction `{mnemonic}`{}", hint(&name, ROWS.iter().map(|r| r.name))));
    }
    let mut out = String::new();
    for (i, row) in rows.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        explain_row(row, &mut out);
    }
    crate::print(out.as_bytes())
}

/// Runs of levels with one opcode, as "gfx8 to gfx90a".
fn opcode_runs(row: &Row) -> Vec<(String, u16, Level)> {
    let mut runs: Vec<(Level, Level, u16)> = Vec::new();
    for level in Level::ALL {
        let op = row.opcode[level as usize];
        match runs.last_mut() {
            _ if op == ABSENT => {}
            Some((_, last, o)) if *o == op && *last as usize + 1 == level as usize => *last = level,
            _ => runs.push((level, level, op)),
        }
    }
    runs.into_iter()
        .map(|(a, b, op)| {
            let text = if a == b { a.name().to_owned() } else { format!("{} to {}", a.name(), b.name()) };
            (text, op, b)
        })
        .collect()
}

fn explain_row(row: &Row, out: &mut String) {
    let operands: Vec<&str> = row.operands.iter().map(|o| o.role.name()).collect();
    let _ = writeln!(out, "{} {}\n", row.name, operands.join(", "));
    for (levels, op, last) in opcode_runs(row) {
        let mut line = format!("  {:<18} {} opcode {op} ({op:#x})", levels, row.enc.name());
        for form in forms(row, last) {
            match form {
                "VOP3" => {
                    let _ = write!(line, ", VOP3 opcode {}", encoding::vop3_opcode(row.enc, op, last));
                }
                form => {
                    let _ = write!(line, ", {form}");
                }
            }
        }
        out.push_str(&line);
        out.push('\n');
    }
    if !row.operands.is_empty() {
        out.push_str("\nOperands\n");
        for op in row.operands {
            let _ = write!(out, "  {:<8} {:<10}", op.role.name(), type_text(op.ty));
            if op.ty.kind == Kind::Imm {
                out.push_str(" in the encoding\n");
            } else {
                let dwords = op.ty.dwords();
                let s = if dwords == 1 { "" } else { "s" };
                let _ = writeln!(out, " {dwords} register{s}, {}", access_text(op.access));
            }
        }
    }
    let upper = |list: Vec<&str>| list.iter().map(|s| s.to_uppercase()).collect::<Vec<_>>().join(", ");
    let counters: Vec<String> =
        names(row.counters, counter::NAMES).iter().map(|c| format!("{c}cnt")).collect();
    let mut effects = String::new();
    for (label, shown) in [
        ("reads", upper(names(row.reads, state::NAMES))),
        ("writes", upper(names(row.writes, state::NAMES))),
        ("counted by", counters.join(", ")),
    ] {
        if !shown.is_empty() {
            let _ = writeln!(effects, "  {label:<11} {shown}");
        }
    }
    if !effects.is_empty() {
        let _ = write!(out, "\nBeside its operands\n{effects}");
    }
    let modifiers: Vec<&str> =
        flag::NAMES.iter().filter(|(_, b)| row.flags & b != 0).map(|(n, _)| *n).collect();
    if !modifiers.is_empty() {
        let _ = writeln!(out, "\nAttributes\n  {}", modifiers.join(", "));
    }
    let execution = match fidelity(row) {
        Fidelity::Exact => "exact: bit for bit what the manual says",
        Fidelity::Approximate => "approximate: within the bound the hardware gives",
        Fidelity::Unsupported => "not executed yet",
    };
    let _ = writeln!(out, "\nExecution\n  {execution}");
    if !row.section.is_empty() {
        let _ = writeln!(out, "\nMI200 manual, section {}", row.section);
    }
}

fn processors(json: bool) -> ExitCode {
    let mut out = String::new();
    if json {
        let items: Vec<String> = target::PROCESSORS
            .iter()
            .map(|p| {
                format!(
                    "  {{\"name\": \"{}\", \"aliases\": {}, \"level\": \"{}\", \"xnack\": {}, \"sramecc\": {}}}",
                    p.name,
                    json_list(p.aliases),
                    p.level.name(),
                    p.xnack.is_some(),
                    p.sramecc
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
            let line = format!("{:<8} {:<34} {}", p.name, p.aliases.join(", "), features.join(", "));
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    crate::print(out.as_bytes())
}
