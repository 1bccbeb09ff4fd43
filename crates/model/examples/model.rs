//! Compares the interpreter with the model at length: `cargo run --release -p wavemill-model --example model -- [SEED]
//! [RUNS] [CPU] [ROW]`. RUNS is the number of instructions per form of each row and processor; each vector one is 64 cases.

use std::collections::{BTreeMap, BTreeSet};
use wavemill_isa::row::Enc;
use wavemill_isa::{ROWS, Row};
use wavemill_model::compare::{CPUS, Report, compare};
use wavemill_model::sequence::sequences;
use wavemill_model::{excluded_row, flags, matrix, memory};

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u64| args.get(i).and_then(|s| s.parse().ok()).unwrap_or(default);
    let (seed, runs) = (number(0, 1), number(1, 100) as usize);
    let mut all = Report::default();
    let mut sequences_differ = false;
    for cpu in CPUS.into_iter().filter(|c| args.get(2).is_none_or(|a| a == "all" || a == c)) {
        let pick = |name: &str| args.get(3).is_none_or(|a| name.starts_with(a.as_str()));
        let mut report = compare(cpu, seed, runs, &pick);
        report.add(matrix::compare(cpu, seed, runs, &pick));
        report.add(memory::compare(cpu, seed, runs, &pick));
        print!("{}", report.describe());
        println!(
            "{cpu}: {} cases of {} forms, {} forms differ, no model for {:?}",
            report.total(),
            report.cases.len(),
            report.differences.len(),
            report.missing
        );
        all.add(report);
        if args.get(3).is_none() {
            let (count, differences) = sequences(cpu, seed, 400 * runs, 10);
            println!(
                "{}{cpu}: {count} instructions in sequences, {} differ",
                differences.join("\n"),
                differences.len()
            );
            sequences_differ |= !differences.is_empty();
        }
    }
    println!("{} cases, {} forms differ", all.total(), all.differences.len());
    println!("flags raised by both, by the bit of TRAPSTS: {:?}", all.flags);
    println!("{}", coverage(&all));
    if all.differences.is_empty() && all.missing.is_empty() && !sequences_differ {
        std::process::ExitCode::SUCCESS
    } else {
        std::process::ExitCode::FAILURE
    }
}

/// How many rows have been looked at, and which have no model, or none of their exception flags, by reason.
fn coverage(report: &Report) -> String {
    type Reason = fn(&Row) -> Option<&'static str>;
    type Rows<'a> = &'a dyn Fn(&&Row) -> bool;
    let alu = |r: &&Row| r.enc as u8 <= Enc::Sopp as u8 || r.enc.is_valu();
    let memory = |r: &&Row| !alu(r) && !matches!(r.enc, Enc::Exp | Enc::Vintrp);
    let names: BTreeSet<&str> = ROWS.iter().filter(|r| alu(r) || memory(r)).map(|r| r.name).collect();
    let seen: BTreeSet<&str> = report.cases.keys().map(|(name, _)| *name).collect();
    let mut out = format!("{} of {} mnemonics compared", seen.len(), names.len());
    let lists: [(&str, Rows<'_>, Reason); 3] = [
        ("model", &alu, excluded_row),
        ("model", &memory, memory::excluded),
        ("flags", &alu, flags::excluded),
    ];
    for (what, of, reason) in lists {
        let mut excluded = BTreeMap::<&str, BTreeSet<&str>>::new();
        for row in ROWS.iter().filter(of) {
            if let Some(reason) = reason(row) {
                excluded.entry(reason).or_default().insert(row.name);
            }
        }
        for (reason, names) in excluded {
            let names: Vec<&str> = names.into_iter().collect();
            out += &format!("; without {what} ({reason}): {}", names.join(" "));
        }
    }
    out
}
