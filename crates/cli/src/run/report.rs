//! What `run` says about the dispatches.

use std::fmt::Write;
use wavemill_device::json::{completion, list, quoted};
use wavemill_device::{Completion, Device};

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

/// Everything, for programs. `printed` is what the kernel has printed in each dispatch.
pub fn json(
    file: &str,
    device: &Device,
    grid: &[u32],
    block: &[u32],
    done: &[Completion],
    printed: &[String],
) -> String {
    let kernel = done.last().map_or("", |c| &c.kernel);
    let mut out = format!(
        "{{\n  \"file\": {},\n  \"kernel\": {},\n  \"gpu\": {},\n  \"engine\": {},\n  \"threads\": {},\n  \
         \"grid\": {},\n  \"block\": {},\n  \"dispatches\": [",
        quoted(file),
        quoted(kernel),
        quoted(device.target().cpu.name),
        quoted(device.engine_name()),
        device.threads(),
        list(grid),
        list(block)
    );
    for (i, c) in done.iter().enumerate() {
        out.push_str(if i > 0 { ",\n    " } else { "\n    " });
        completion(c, &mut out);
        if let Some(text) = printed.get(i).filter(|t| !t.is_empty()) {
            out.pop();
            let _ = write!(out, ", \"printf\": {}}}", quoted(text));
        }
    }
    out.push_str("\n  ]\n}\n");
    out
}
