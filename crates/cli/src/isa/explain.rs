//! `wavemill isa explain` beyond mnemonics: topics, words of machine code, layouts of matrices; and `isa search`.

use super::{fail, hint};
use std::fmt::Write as _;
use std::process::ExitCode;
use wavemill_asm::disasm::Disassembler;
use wavemill_isa::target::{PROCESSORS, Processor, Target};
use wavemill_isa::{ROWS, lookup};
use wavemill_reference as reference;
use wavemill_sem::mfma::{self, Element, ElementPosition, Shape};

/// An operand of a matrix instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
#[value(rename_all = "UPPER")]
pub enum Matrix {
    /// The first factor
    A,
    /// The second factor
    B,
    /// What is added
    C,
    /// The result
    D,
}

/// Runs `isa explain`.
pub fn run(words: &[String], mcpu: Option<&str>, layout: Option<Matrix>) -> ExitCode {
    let first = words.first().map_or("", String::as_str);
    if let Some(codes) = hexadecimal(words) {
        return match mcpu.map(crate::gpu::processor).transpose() {
            Ok(cpu) => decode(&codes, cpu),
            Err(message) => fail(&message),
        };
    }
    if let Some(matrix) = layout {
        return match draw(first, matrix) {
            Ok(text) => crate::print(text.as_bytes()),
            Err(message) => fail(&message),
        };
    }
    // What comes behind a mnemonic are operands and modifiers, which have pages of their own.
    let name = ["_e32", "_e64", "_sdwa", "_dpp"]
        .iter()
        .find_map(|s| first.strip_suffix(s))
        .unwrap_or(first)
        .to_ascii_lowercase();
    if let Some(page) = reference::page(&name).or_else(|| reference::topic(&words.join(" "))) {
        return crate::print(page.text().as_bytes());
    }
    let topics = reference::topics();
    let names = ROWS.iter().map(|r| r.name).chain(topics.iter().flat_map(|t| t.names.iter().copied()));
    let hint = hint(&name, names);
    let hint =
        if hint.is_empty() { "; `wavemill isa search WORD` looks everywhere".to_owned() } else { hint };
    fail(&format!("no instruction `{first}`{hint}"))
}

/// The words of machine code, if that is what is given.
fn hexadecimal(words: &[String]) -> Option<Vec<u32>> {
    let word = |w: &String| u32::from_str_radix(w.trim_end_matches(',').strip_prefix("0x")?, 16).ok();
    let codes: Option<Vec<u32>> = words.iter().map(word).collect();
    codes.filter(|c| !c.is_empty())
}

/// What words of machine code are on each processor, or on one. Processors that agree stand together.
fn decode(codes: &[u32], cpu: Option<&'static Processor>) -> ExitCode {
    let mut bytes: Vec<u8> = codes.iter().flat_map(|c| c.to_le_bytes()).collect();
    // The second half of a long instruction may be left out.
    bytes.resize(bytes.len().max(8), 0);
    let mut found: Vec<(String, usize, Vec<&str>)> = Vec::new();
    for p in PROCESSORS.iter().filter(|p| cpu.is_none_or(|c| c.name == p.name)) {
        let mut text = Vec::new();
        let Some(inst) = Disassembler::new(Target::new(p)).one(&bytes, &mut text) else { continue };
        let text = String::from_utf8_lossy(&text).trim().replace('\t', " ");
        match found.iter_mut().find(|f| f.0 == text) {
            Some(same) => same.2.push(p.name),
            None => found.push((text, (inst.len as usize).max(4), vec![p.name])),
        }
    }
    let shown: Vec<String> = codes.iter().map(|c| format!("{c:#010x}")).collect();
    if found.is_empty() {
        let on = cpu.map_or("on any processor".to_owned(), |c| format!("on {}", c.name));
        return fail(&format!("{} is no instruction {on}", shown.join(" ")));
    }
    let mut out = String::new();
    for (text, len, names) in found {
        let _ = writeln!(out, "{text}\n  on {}", names.join(", "));
        if len > 4 * codes.len() {
            let _ = writeln!(out, "  it takes {} words; those not given are taken for 0", len / 4);
        }
        let mnemonic = text.split_whitespace().next().unwrap_or("");
        let mnemonic = ["_e32", "_e64", "_sdwa", "_dpp"]
            .iter()
            .find_map(|s| mnemonic.strip_suffix(s))
            .unwrap_or(mnemonic);
        if let Some(row) = lookup::by_name(mnemonic).next() {
            let _ = writeln!(out, "  {}: {}", row.enc.name(), row.operation());
        }
    }
    crate::print(out.as_bytes())
}

/// Draws where the elements of a matrix lie.
fn draw(mnemonic: &str, matrix: Matrix) -> Result<String, String> {
    let name = mnemonic.to_ascii_lowercase();
    let row = lookup::by_name(&name).next();
    let row = row
        .ok_or_else(|| format!("no instruction `{mnemonic}`{}", hint(&name, ROWS.iter().map(|r| r.name))))?;
    let shape = mfma::shape(row.op);
    let shape =
        shape.ok_or_else(|| format!("--layout is for matrix instructions (v_mfma_…), {name} is none"))?;
    let factor = matches!(matrix, Matrix::A | Matrix::B);
    let (rows, columns) = match matrix {
        Matrix::A => (shape.m, shape.k),
        Matrix::B => (shape.k, shape.n),
        _ => (shape.m, shape.n),
    };
    let mut out = format!(
        "{matrix:?} of {name}: {rows} rows, {columns} columns{}; each cell is the lane and the register{}\n",
        if shape.blocks > 1 { format!(", {} blocks", shape.blocks) } else { String::new() },
        if factor && shape.element.bits() < 32 { " with its bits" } else { "" }
    );
    for block in 0..shape.blocks {
        if shape.blocks > 1 {
            let _ = writeln!(out, "block {block}");
        }
        let cell = |i: u32, j: u32| text(&shape, place(&shape, matrix, i, j, block), factor);
        let width =
            (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| cell(i, j).len()).max();
        let width = width.unwrap_or(0);
        let _ = write!(out, "{:>4} ", "");
        (0..columns).for_each(|j| _ = write!(out, " {j:>width$}"));
        out.push('\n');
        for i in 0..rows {
            let _ = write!(out, "{i:>4} ");
            (0..columns).for_each(|j| _ = write!(out, " {:>width$}", cell(i, j)));
            out.push('\n');
        }
    }
    Ok(out)
}

fn place(shape: &Shape, matrix: Matrix, i: u32, j: u32, block: u32) -> ElementPosition {
    match matrix {
        Matrix::A => shape.a(i, j, block),
        // B's element (k, j) lies where A's (j, k) would.
        Matrix::B => shape.a(j, i, block),
        Matrix::C | Matrix::D => shape.d(i, j, block),
    }
}

/// `12 v0`, with bits `12 v0[15:0]` where a register holds several, `12 v[0:1]` for two registers.
fn text(shape: &Shape, place: ElementPosition, factor: bool) -> String {
    let ElementPosition { register, lane, bit } = place;
    match shape.element {
        Element::F64 => format!("{lane} v[{register}:{}]", register + 1),
        e if factor && e.bits() < 32 => format!("{lane} v{register}[{}:{bit}]", bit + e.bits() - 1),
        _ => format!("{lane} v{register}"),
    }
}

/// Runs `isa search`: instructions and topics that have all words in their name or text.
pub fn search(words: &[String]) -> ExitCode {
    let words: Vec<String> = words.iter().map(|w| w.to_lowercase()).collect();
    let has = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|w| text.contains(w.as_str()))
    };
    let mut out = String::new();
    for topic in reference::topics() {
        if has(&format!("{} {} {}", topic.names.join(" "), topic.on, topic.text.join(" "))) {
            let _ = writeln!(out, "{:<28} {}", topic.names[0], topic.on);
        }
    }
    let mut last = "";
    for row in ROWS.iter() {
        if row.name != last && has(&format!("{} {}", row.name, row.operation())) {
            let _ = writeln!(out, "{:<28} {}", row.name, row.operation());
            last = row.name;
        }
    }
    if out.is_empty() {
        return fail(&format!("nothing has `{}` in its name or description", words.join(" ")));
    }
    crate::print(out.as_bytes())
}
