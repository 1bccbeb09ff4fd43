//! What dispatches did, as JSON: for the commands' own reports and for those of programs.

use crate::dispatch::Completion;
use crate::fault::Report;
use std::fmt::Write;
use wavemill_wave::CounterClass;

/// A string in JSON.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote(text, &mut out);
    out
}

/// Writes a string in JSON.
pub fn quote(text: &str, out: &mut String) {
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
}

/// Numbers in JSON.
pub fn list(numbers: &[u32]) -> String {
    let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
    format!("[{}]", texts.join(","))
}

/// What came of a dispatch.
pub fn completion(c: &Completion, out: &mut String) {
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
    match (r.stray, &r.nearest) {
        (Some(what), _) => _ = write!(out, ", \"nearest\": {}", quoted(what)),
        (None, Some(nearest)) => _ = write!(out, ", \"nearest\": {}", quoted(&nearest.to_string())),
        (None, None) => {}
    }
    if !r.operands.is_empty() {
        let operands: Vec<String> = r.operands.iter().map(|o| quoted(o)).collect();
        let _ = write!(out, ", \"operands\": [{}]", operands.join(", "));
    }
    if let Some(hint) = &r.hint {
        let _ = write!(out, ", \"hint\": {}", quoted(hint));
    }
    let at = r.listing.iter().find(|l| l.address == s.pc);
    if let Some(line) = at {
        let _ = write!(out, ", \"instruction\": {}", quoted(&line.text));
    }
    out.push('}');
}
