//! What an instruction does beside its operands, in words: the table's facts and what `isa`'s query makes of them.

use crate::words::names;
use wavemill_isa::row::{cache, state};
use wavemill_isa::{Enc, Flow, Form, Info, Inst, MemKind, Role, Row, Target, info, target};

/// The answer of the query for a plain instance: all fields zero, on the last generation that has the row.
pub fn plain_info(row: &'static Row) -> Option<Info> {
    let processors = target::PROCESSORS.iter().rev();
    let cpu = processors.filter(|p| row.opcode_at(p.level).is_some()).max_by_key(|p| p.level)?;
    Some(Inst::new(row, Form::Base, cpu.level).info(&Target::new(cpu)))
}

/// Pairs of a heading and what there is to say.
pub(crate) fn effects(row: &'static Row) -> Vec<[String; 2]> {
    let Some(info) = plain_info(row) else { return Vec::new() };
    let mut out = Vec::new();
    let mut say = |how: &str, what: String| {
        if !what.is_empty() {
            out.push([how.to_owned(), what]);
        }
    };
    say("reads", states(row.reads));
    say("writes", states(row.writes));
    say("memory", memory(row, &info).unwrap_or_default());
    say("counted by", counters(&info));
    if row.operand(Role::Waitcnt).is_some() {
        let all: Vec<&str> = info::Counter::ALL.iter().map(|c| c.name()).collect();
        say("waits for", format!("{} to come down to its operand's counts", all.join(", ")));
    }
    say("caches", names(row.cache, cache::NAMES).join(", "));
    say("goes on", flow(row.flow).to_owned());
    if row.enc.is_valu() || row.enc as u8 >= Enc::Ds as u8 {
        let what = if info.skippable() { "does nothing" } else { "acts all the same: not to be skipped" };
        say("with EXEC = 0", what.to_owned());
    }
    let mut may = Vec::new();
    if info.may_fault() {
        may.push("fault");
    }
    if info.may_trap() && row.flow != Flow::Trap {
        may.push("raise a float exception, and trap if MODE says so");
    }
    say("may", may.join(", "));
    out
}

fn states(bits: u16) -> String {
    let mut words: Vec<String> = Vec::new();
    for name in names(bits, state::NAMES) {
        words.push(match name {
            "lds_limit" => "M0 (the limit of LDS, up to GFX8; the base of GDS)".to_owned(),
            "m0_src" => "the source that M0 is added to".to_owned(),
            "m0_dst" => "the destination that M0 is added to".to_owned(),
            "ttmp" => "TTMP0, TTMP1".to_owned(),
            name => name.to_uppercase(),
        });
    }
    words.join(", ")
}

/// A row's access to memory, in words.
pub fn memory(row: &Row, info: &Info) -> Option<String> {
    let m = info.memory().next()?;
    if m.path == info::Path::Export {
        return Some("exports".to_owned());
    }
    let verb = match m.kind {
        MemKind::Load => "loads",
        MemKind::Store => "stores",
        MemKind::Atomic => "reads, modifies and writes",
    };
    let amount = match (m.bytes, m.places) {
        (0, _) => "what format or descriptor say".to_owned(),
        (1, 1) => "1 byte".to_owned(),
        (n, 1) => format!("{n} bytes"),
        (n, places) => format!("{n} bytes at {places} places"),
    };
    let lanes = if m.path == info::Path::Scalar { "" } else { " for each lane" };
    let space = match m.path {
        info::Path::Scalar | info::Path::Vector if m.scratch => "private memory",
        info::Path::Scalar => "global memory, through the scalar cache",
        info::Path::Vector => "global memory",
        info::Path::Flat => "global memory, LDS or private memory, as the address says",
        _ if row.has(wavemill_isa::flag::GDS_ONLY) => "GDS",
        _ if row.has(wavemill_isa::flag::GDS) => "LDS or GDS",
        _ => "LDS",
    };
    Some(format!("{verb} {amount}{lanes}: {space}"))
}

fn counters(info: &Info) -> String {
    let mut words = Vec::new();
    for raise in info.raises() {
        let by = if raise.by > 1 { format!(" (by {})", raise.by) } else { String::new() };
        let order = if raise.queue.in_order() { "" } else { ", in any order" };
        words.push(format!("{}{by}{order}", raise.counter.name()));
    }
    words.join("; ")
}

fn flow(flow: Flow) -> &'static str {
    match flow {
        Flow::Next => "",
        Flow::Stop => "at the next instruction, perhaps later",
        Flow::Branch => "at the label",
        Flow::Cond => "at the label, or at the next instruction",
        Flow::Jump => "at the address in its source",
        Flow::Call => "at the label or the address in its source; the way back is in its destination",
        Flow::Trap => "in the trap handler",
        Flow::Fork => "both at the label and at the next instruction, one after the other, if lanes disagree",
        Flow::Join => "at the next instruction, or where a fork left the other lanes",
        Flow::End => "nowhere: the wave ends",
    }
}
