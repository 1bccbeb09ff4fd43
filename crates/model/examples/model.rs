//! Compares the interpreter with the model at length: `cargo run --release -p wavemill-model --example model -- [SEED]
//! [RUNS] [CPU] [ROW]`. RUNS is the number of instructions per form of each row and processor; each vector one is 64 cases.

use wavemill_model::compare::{CPUS, Report, compare};

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u64| args.get(i).and_then(|s| s.parse().ok()).unwrap_or(default);
    let (seed, runs) = (number(0, 1), number(1, 100) as usize);
    let mut all = Report::default();
    for cpu in CPUS.into_iter().filter(|c| args.get(2).is_none_or(|a| a == "all" || a == c)) {
        let report =
            compare(cpu, seed, runs, &|name| args.get(3).is_none_or(|a| name.starts_with(a.as_str())));
        print!("{}", report.describe());
        println!(
            "{cpu}: {} cases of {} forms, {} forms differ, no model for {:?}",
            report.total(),
            report.cases.len(),
            report.differences.len(),
            report.missing
        );
        all.add(report);
    }
    println!("{} cases, {} forms differ", all.total(), all.differences.len());
    if all.differences.is_empty() && all.missing.is_empty() {
        std::process::ExitCode::SUCCESS
    } else {
        std::process::ExitCode::FAILURE
    }
}
