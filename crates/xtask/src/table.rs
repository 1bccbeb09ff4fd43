//! Reads the instruction table `isa/*.isa`.
//!
//! A file names its encoding, the manual's section and defaults, then has one line per instruction:
//! `mnemonic | opcodes | operands | attributes`. `isa/README.md` describes the notation for people.

use std::fmt::Write as _;
use wavemill_isa::row::{
    ABSENT, Access, Class, Enc, Flow, Kind, Mem, MemKind, Role, cache, counter, flag, state,
};

/// A line of the table, owned.
#[derive(Debug)]
pub struct Line {
    pub name: String,
    pub enc: Enc,
    pub opcode: [u16; 8],
    pub operands: Vec<Op>,
    pub flags: u32,
    pub neg: u8,
    pub sext: u8,
    pub addr: u16,
    pub reads: u16,
    pub writes: u16,
    pub counters: u16,
    pub mem: Option<Mem>,
    pub flow: Flow,
    pub cache: u16,
    pub passes: u8,
    pub section: String,
}

/// One operand of a line.
#[derive(Debug)]
pub struct Op {
    pub role: Role,
    pub access: Access,
    pub kind: Kind,
    pub bits: u16,
    pub count: u8,
    pub class: Class,
}

const LEVELS: [&str; 8] = ["6", "7", "8", "900", "904", "906", "908", "90a"];

/// Parses one file of the table. Errors name file and line.
pub fn parse(file: &str, text: &str) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    let mut enc = None;
    let mut section = String::new();
    let mut default = String::new();
    for (n, line) in text.lines().enumerate() {
        let at = |message: String| format!("{file}:{}: {message}", n + 1);
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix("encoding ") {
            enc = Some(
                *Enc::ALL
                    .iter()
                    .find(|e| e.name() == name.trim())
                    .ok_or_else(|| at(format!("no encoding `{name}`")))?,
            );
        } else if let Some(s) = line.strip_prefix("section ") {
            section = s.trim().to_owned();
        } else if let Some(d) = line.strip_prefix("default ") {
            default = d.trim().to_owned();
        } else {
            let enc = enc.ok_or_else(|| at("no `encoding` line before the first row".into()))?;
            lines.push(row(line, enc, &section, &default).map_err(at)?);
        }
    }
    Ok(lines)
}

fn row(line: &str, enc: Enc, section: &str, default: &str) -> Result<Line, String> {
    let mut columns = line.split('|').map(str::trim);
    let mut next = |what: &str| columns.next().ok_or_else(|| format!("no {what} column"));
    let name = next("mnemonic")?.to_owned();
    let opcode = opcodes(next("opcode")?)?;
    let operands = next("operand")?.split_whitespace().map(operand).collect::<Result<Vec<_>, _>>()?;
    let mut l = Line {
        name,
        enc,
        opcode,
        flags: 0,
        neg: default_neg(&operands),
        operands,
        sext: 0,
        addr: 0,
        reads: 0,
        writes: 0,
        counters: 0,
        mem: None,
        flow: Flow::Next,
        cache: 0,
        passes: 0,
        section: section.to_owned(),
    };
    for word in default.split_whitespace().chain(next("attribute")?.split_whitespace()) {
        attribute(&mut l, word)?;
    }
    if l.flags & flag::NOEXEC != 0 {
        l.reads &= !state::EXEC;
    }
    Ok(l)
}

/// Float sources take neg and abs; a row says `neg=` where that is not so.
fn default_neg(operands: &[Op]) -> u8 {
    operands
        .iter()
        .filter(|o| o.kind == Kind::F && o.count == 1)
        .filter_map(|o| o.role.source_index())
        .fold(0, |m, i| m | 1 << i)
}

fn opcodes(text: &str) -> Result<[u16; 8], String> {
    let mut out = [ABSENT; 8];
    let level = |s: &str| LEVELS.iter().position(|l| *l == s).ok_or_else(|| format!("no level `{s}`"));
    for item in text.split_whitespace() {
        let (range, op) = item.split_once(':').ok_or_else(|| format!("`{item}` is not LEVELS:OPCODE"))?;
        let op: u16 = op.parse().map_err(|_| format!("bad opcode in `{item}`"))?;
        let (first, last) = match range {
            "all" => (0, 7),
            r => match (r.strip_suffix('+'), r.split_once('-')) {
                (Some(a), _) => (level(a)?, 7),
                (None, Some((a, b))) => (level(a)?, level(b)?),
                (None, None) => (level(r)?, level(r)?),
            },
        };
        if last < first {
            return Err(format!("`{range}` runs backwards"));
        }
        for slot in &mut out[first..=last] {
            if *slot != ABSENT {
                return Err(format!("`{item}` gives a level a second opcode"));
            }
            *slot = op;
        }
    }
    Ok(out)
}

fn operand(text: &str) -> Result<Op, String> {
    let split =
        text.find([':', '=', '+']).ok_or_else(|| format!("operand `{text}` has no `:`, `=` or `+`"))?;
    let role = *Role::ALL
        .iter()
        .find(|r| r.name() == &text[..split])
        .ok_or_else(|| format!("no operand role `{}`", &text[..split]))?;
    let access = match text.as_bytes()[split] {
        b':' => Access::Read,
        b'=' => Access::Write,
        _ => Access::ReadWrite,
    };
    let (ty, class) = text[split + 1..].split_once('!').unwrap_or((&text[split + 1..], ""));
    let class = match class {
        "" => Class::Any,
        "vgpr" => Class::Vgpr,
        "agpr" => Class::Agpr,
        "scalar" => Class::Scalar,
        "ssrc" => Class::Ssrc,
        "reg" => Class::Reg,
        "nolit" => Class::NoLit,
        "low" => Class::Low,
        "high" => Class::High,
        c => return Err(format!("no register class `{c}`")),
    };
    let (kind, rest) = match ty {
        "imm" => (Kind::Imm, "0"),
        t if t.starts_with("bf") => (Kind::Bf, &t[2..]),
        t if t.starts_with('b') => (Kind::B, &t[1..]),
        t if t.starts_with('i') => (Kind::I, &t[1..]),
        t if t.starts_with('u') => (Kind::U, &t[1..]),
        t if t.starts_with('f') => (Kind::F, &t[1..]),
        t => return Err(format!("no type `{t}`")),
    };
    let (bits, count) = rest.split_once('x').unwrap_or((rest, "1"));
    let number = |s: &str| s.parse::<u16>().map_err(|_| format!("bad type `{ty}`"));
    Ok(Op { role, access, kind, bits: number(bits)?, count: number(count)? as u8, class })
}

fn attribute(l: &mut Line, word: &str) -> Result<(), String> {
    let Some((key, value)) = word.split_once('=') else {
        if word == "sdwa" {
            l.flags |= flag::SDWA8 | flag::SDWA9;
            return Ok(());
        }
        let bit =
            flag::NAMES.iter().find(|(n, _)| *n == word).ok_or_else(|| format!("no attribute `{word}`"))?.1;
        l.flags |= bit;
        return Ok(());
    };
    let set = |names: &[(&str, u16)]| {
        value.split(',').try_fold(0u16, |m, v| {
            names
                .iter()
                .find(|(n, _)| *n == v)
                .map(|(_, b)| m | b)
                .ok_or_else(|| format!("`{v}` in `{word}`?"))
        })
    };
    let number = || value.parse::<u8>().map_err(|_| format!("bad number in `{word}`"));
    match key {
        "rd" => l.reads |= set(state::NAMES)?,
        "wr" => l.writes |= set(state::NAMES)?,
        "cnt" => l.counters |= set(counter::NAMES)?,
        "cache" => l.cache |= set(cache::NAMES)?,
        "mem" => l.mem = Some(memory(value)?),
        "flow" => {
            let flow = Flow::ALL.into_iter().find(|f| f.name() == value);
            l.flow = flow.ok_or_else(|| format!("no way to go on `{value}`"))?;
        }
        "neg" => l.neg = number()?,
        "passes" => l.passes = number()?,
        "sext" => l.sext = number()?,
        "section" => l.section = value.to_owned(),
        "addr" => {
            for w in value.split(',') {
                let w: u16 = w.parse().map_err(|_| format!("bad width in `{word}`"))?;
                l.addr |= 1 << (w - 1);
            }
        }
        _ => return Err(format!("no attribute `{key}=`")),
    }
    Ok(())
}

/// `load:4`, `store:4x2`, `atomic:format`.
fn memory(text: &str) -> Result<Mem, String> {
    let bad = || format!("`{text}` is not KIND:BYTES, KIND:BYTESxPLACES or KIND:format");
    let (kind, size) = text.split_once(':').ok_or_else(bad)?;
    let kind = MemKind::ALL.into_iter().find(|k| k.name() == kind).ok_or_else(bad)?;
    let (bytes, places) = size.split_once('x').unwrap_or((size, "1"));
    let bytes = if bytes == "format" { 0 } else { bytes.parse().map_err(|_| bad())? };
    Ok(Mem { kind, bytes, places: places.parse().map_err(|_| bad())? })
}

/// The variants of `Op`, one per line: the mnemonic, or where several lines share one, the mnemonic for the line that
/// reaches furthest and the mnemonic with its first level for the others.
pub fn ops(lines: &[Line]) -> Vec<String> {
    let last = |l: &Line| l.opcode.iter().rposition(|&op| op != ABSENT);
    lines
        .iter()
        .map(|l| {
            let newest = lines.iter().filter(|o| o.name == l.name).max_by_key(|o| last(o)).unwrap_or(l);
            match l.opcode.iter().position(|&op| op != ABSENT) {
                Some(first) if !std::ptr::eq(newest, l) => format!("{}_gfx{}", l.name, LEVELS[first]),
                _ => l.name.clone(),
            }
        })
        .collect()
}

/// The Rust source of `Op`.
pub fn emit_ops(lines: &[Line]) -> String {
    let mut out = String::from(
        "// Written by `cargo xtask gen` from isa/*.isa. Do not edit.\n\n\
         /// An instruction's identity: one variant per row, to match on. Where rows of several generations share a\n\
         /// mnemonic, the older ones have their first level as a suffix.\n\
         #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]\n\
         #[allow(missing_docs, non_camel_case_types)]\n#[repr(u16)]\npub enum Op {\n",
    );
    for op in ops(lines) {
        let _ = writeln!(out, "    {op},");
    }
    let _ = writeln!(
        out,
        "}}\n\nimpl Op {{\n    /// How many there are.\n    pub const COUNT: usize = {};\n}}",
        lines.len()
    );
    out
}

/// The Rust source of the table.
pub fn emit(lines: &[Line]) -> String {
    let ops = ops(lines);
    let mut out = String::from(
        "// Written by `cargo xtask gen` from isa/*.isa. Do not edit.\n\
         use crate::row::{Access::*, Class, Class::*, Enc::{self, *}, Flow, Kind, Kind::*, Mem, MemKind, Operand, Role::{self, *}, Row, Ty};\n\
         use crate::row::Access;\nuse crate::op::Op;\n\n\
         const fn o(role: Role, access: Access, kind: Kind, bits: u16, count: u8, class: Class) -> Operand {\n    \
         Operand { role, access, ty: Ty { kind, bits, count }, class }\n}\n\n\
         const fn m(kind: MemKind, bytes: u8, places: u8) -> Option<Mem> {\n    Some(Mem { kind, bytes, places })\n}\n\n\
         #[allow(clippy::too_many_arguments)]\n\
         const fn r(\n    name: &'static str,\n    op: Op,\n    enc: Enc,\n    opcode: [u16; 8],\n    operands: &'static [Operand],\n    \
         flags: u32,\n    neg_sext: (u8, u8),\n    addr: u16,\n    reads_writes: (u16, u16),\n    counters: u16,\n    \
         mem: Option<Mem>,\n    flow_cache_passes: (Flow, u16, u8),\n    section: &'static str,\n) -> Row {\n    Row {\n        name, op, enc, opcode, operands, flags, neg: neg_sext.0, \
         sext: neg_sext.1, addr,\n        reads: reads_writes.0, writes: reads_writes.1, counters, mem,\n        \
         flow: flow_cache_passes.0, cache: flow_cache_passes.1, passes: flow_cache_passes.2, section,\n    }\n}\n\n",
    );
    let _ = writeln!(
        out,
        "/// Every instruction, in the table's order.\npub static ROWS: [Row; {}] = [",
        lines.len()
    );
    for (l, op) in lines.iter().zip(ops) {
        let operands: Vec<String> = l
            .operands
            .iter()
            .map(|o| {
                format!(
                    "o({:?}, {:?}, {:?}, {}, {}, {:?})",
                    o.role, o.access, o.kind, o.bits, o.count, o.class
                )
            })
            .collect();
        let opcode: Vec<String> =
            l.opcode.iter().map(|&op| if op == ABSENT { "!0".into() } else { op.to_string() }).collect();
        let mem = match l.mem {
            Some(m) => format!("m(MemKind::{:?}, {}, {})", m.kind, m.bytes, m.places),
            None => "None".to_owned(),
        };
        let _ = writeln!(
            out,
            "    r({:?}, Op::{op}, {:?}, [{}], &[{}], {:#x}, ({}, {}), {:#x}, ({}, {}), {}, {mem}, (Flow::{:?}, {}, {}), {:?}),",
            l.name,
            l.enc,
            opcode.join(", "),
            operands.join(", "),
            l.flags,
            l.neg,
            l.sext,
            l.addr,
            l.reads,
            l.writes,
            l.counters,
            l.flow,
            l.cache,
            l.passes,
            l.section
        );
    }
    out.push_str("];\n");
    out
}
