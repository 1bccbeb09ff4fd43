//! What `run` says about the dispatches.

use std::fmt::Write;
use wavemill_device::json::{completion, list, quoted};
use wavemill_device::{Completion, Device};
use wavemill_object::demangle;

/// One line for each dispatch.
pub fn text(done: &[Completion]) -> String {
    let mut out = String::new();
    for c in done.iter().filter(|c| c.fault.is_none()) {
        let total = c.counters.total();
        let seconds = c.wall_ns as f64 / 1e9;
        let rate = if c.wall_ns > 0 { total as f64 / seconds / 1e6 } else { 0.0 };
        let _ = write!(
            out,
            "{}: {} work-groups, {} waves, {total} wave instructions in {:.3} ms ({rate:.1} M/s)",
            demangle::shown(&c.kernel),
            c.work_groups,
            c.waves,
            seconds * 1e3
        );
        let _ = match c.counters.approximate {
            0 => writeln!(out, ", all exact"),
            n => writeln!(out, ", {n} of them approximate"),
        };
    }
    out
}

/// What came of the dispatches.
pub struct Outcome<'a> {
    /// The exit status.
    pub status: u8,
    /// Each of them.
    pub done: &'a [Completion],
    /// What the kernel has printed in each.
    pub printed: &'a [String],
    /// What is not as expected.
    pub differences: &'a [String],
}

/// What there is to say, for programs, when nothing ran.
pub fn failure(file: &str, message: &str) -> String {
    format!(
        "{{\n  \"wavemill\": {},\n  \"file\": {},\n  \"status\": 1,\n  \"error\": {}\n}}\n",
        quoted(crate::version::version()),
        quoted(file),
        quoted(message)
    )
}

/// Everything, for programs.
pub fn json(file: &str, device: &Device, grid: &[u32], block: &[u32], outcome: &Outcome<'_>) -> String {
    let kernel = outcome.done.last().map_or("", |c| &c.kernel);
    let mut out = format!(
        "{{\n  \"wavemill\": {},\n  \"file\": {},\n  \"status\": {},\n  \"kernel\": {},\n  \"name\": {},\n  \"gpu\": {},\n  \
         \"engine\": {},\n  \"threads\": {},\n  \"grid\": {},\n  \"block\": {},\n  \"dispatches\": [",
        quoted(crate::version::version()),
        quoted(file),
        outcome.status,
        quoted(kernel),
        quoted(&demangle::shown(kernel)),
        quoted(device.target().cpu.name),
        quoted(device.engine_name()),
        device.threads(),
        list(grid),
        list(block)
    );
    for (i, c) in outcome.done.iter().enumerate() {
        out.push_str(if i > 0 { ",\n    " } else { "\n    " });
        completion(c, &mut out);
        if let Some(text) = outcome.printed.get(i).filter(|t| !t.is_empty()) {
            out.pop();
            let _ = write!(out, ", \"printf\": {}}}", quoted(text));
        }
    }
    let differences: Vec<String> = outcome.differences.iter().map(|d| quoted(d)).collect();
    let _ = write!(out, "\n  ],\n  \"differences\": [{}]\n}}\n", differences.join(", "));
    out
}
