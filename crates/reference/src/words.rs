//! Facts of a row as words.

use wavemill_isa::row::ABSENT;
use wavemill_isa::{Access, Form, Kind, Level, Operand, Row, Ty};

/// The names of the set bits.
pub fn names(bits: u16, table: &[(&'static str, u16)]) -> Vec<&'static str> {
    table.iter().filter(|(_, bit)| bits & bit != 0).map(|(name, _)| *name).collect()
}

/// The forms beside the encoding's own that a row has.
pub fn forms(row: &Row, level: Level) -> Vec<&'static str> {
    let all = [(Form::Vop3, "VOP3"), (Form::Sdwa, "SDWA"), (Form::Dpp, "DPP")];
    all.into_iter().filter(|(f, _)| row.has_form(*f, level)).map(|(_, n)| n).collect()
}

/// A type as the table writes it.
pub fn ty(ty: Ty) -> String {
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

/// An operand with its type.
pub fn operand(op: &Operand) -> String {
    match op.ty.kind {
        Kind::Imm => op.role.name().to_owned(),
        _ => format!("{}:{}", op.role.name(), ty(op.ty)),
    }
}

/// All operands in assembly order.
pub fn operands(row: &Row) -> String {
    row.operands.iter().map(|o| o.role.name()).collect::<Vec<_>>().join(", ")
}

/// What is done to an operand.
pub fn access(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::ReadWrite => "read-write",
    }
}

/// Neighbouring levels with one opcode.
pub struct Run {
    /// As "gfx8 to gfx90a".
    pub levels: String,
    /// The opcode.
    pub opcode: u16,
    /// The last of the levels.
    pub last: Level,
}

/// The levels that have a row, with its opcodes.
pub fn opcode_runs(row: &Row) -> Vec<Run> {
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
        .map(|(a, b, opcode)| {
            let levels = if a == b { a.name().to_owned() } else { format!("{} to {}", a.name(), b.name()) };
            Run { levels, opcode, last: b }
        })
        .collect()
}
