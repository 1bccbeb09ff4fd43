//! What `run` says about the dispatches.

use std::fmt::Write;
use wavemill_machine::fault::Report;
use wavemill_machine::{Completion, Machine};
use wavemill_wave::CounterClass;

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
            c.kernel,
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

/// A string in JSON.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn list(numbers: &[u32]) -> String {
    let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
    format!("[{}]", texts.join(","))
}

/// Everything, for programs.
pub fn json(file: &str, machine: &Machine, grid: &[u32], block: &[u32], done: &[Completion]) -> String {
    let kernel = done.last().map_or("", |c| &c.kernel);
    let mut out = format!(
        "{{\n  \"file\": {},\n  \"kernel\": {},\n  \"gpu\": {},\n  \"engine\": \"interp\",\n  \"threads\": {},\n  \
         \"grid\": {},\n  \"block\": {},\n  \"dispatches\": [",
        quoted(file),
        quoted(kernel),
        quoted(machine.target().cpu.name),
        machine.threads(),
        list(grid),
        list(block)
    );
    for (i, c) in done.iter().enumerate() {
        out.push_str(if i > 0 { ",\n    " } else { "\n    " });
        dispatch(c, &mut out);
    }
    out.push_str("\n  ]\n}\n");
    out
}

fn dispatch(c: &Completion, out: &mut String) {
    let _ = write!(
        out,
        "{{\"wall_ns\": {}, \"cpu_ns\": {}, \"work_groups\": {}, \"waves\": {}, \"instructions\": {{\"total\": {}",
        c.wall_ns,
        c.cpu_ns,
        c.work_groups,
        c.waves,
        c.counters.total()
    );
    for class in CounterClass::ALL {
        let _ = write!(out, ", \"{}\": {}", class.name(), c.counters.class[class as usize]);
    }
    // An instruction that cannot be executed ends the dispatch, so there is at most one.
    let unsupported = u8::from(c.fault.as_ref().is_some_and(|f| f.kind == "unsupported"));
    let _ = write!(
        out,
        "}}, \"fidelity\": {{\"exact\": {}, \"approximate\": {}, \"unsupported\": {unsupported}}}, \"fault\": ",
        c.counters.exact, c.counters.approximate
    );
    match &c.fault {
        Some(report) => fault(report, out),
        None => out.push_str("null"),
    }
    out.push('}');
}

fn fault(r: &Report, out: &mut String) {
    let s = &r.stop;
    let _ = write!(
        out,
        "{{\"kind\": {}, \"message\": {}, \"work_group\": {}, \"wave\": {}, \"lanes\": \"{:#x}\", \"exec\": \"{:#x}\", \
         \"pc\": \"{:#x}\"",
        quoted(r.kind),
        quoted(&r.summary),
        list(&s.group),
        s.wave,
        r.lanes,
        s.exec,
        s.pc
    );
    if let Some((name, offset)) = &r.function {
        let _ = write!(out, ", \"function\": {}, \"offset\": {offset}", quoted(name));
    }
    if let Some((file, line)) = &r.source {
        let _ = write!(out, ", \"file\": {}, \"line\": {line}", quoted(file));
    }
    if let Some(address) = r.address {
        let _ = write!(out, ", \"address\": \"{address:#x}\"");
    }
    if let Some(nearest) = &r.nearest {
        let _ = write!(out, ", \"nearest\": {}", quoted(&nearest.to_string()));
    }
    let at = r.listing.iter().find(|l| l.address == s.pc);
    if let Some(line) = at {
        let _ = write!(out, ", \"instruction\": {}", quoted(&line.text));
    }
    out.push('}');
}
