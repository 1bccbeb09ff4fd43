//! Call frames: how `.debug_frame` and `.eh_frame` say that a debugger finds a function's caller.

use super::expression::register_name;
use crate::dwarf::Contents;
use crate::read::{Error, File};
use gimli::{
    BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, EndianSlice, LittleEndian, RegisterRule,
    UnwindContext, UnwindOffset, UnwindSection,
};
use std::ops::Range;

/// The frames of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The section that says it.
    pub section: &'static str,
    /// The function's code.
    pub code: Range<u64>,
    /// The register that the return address comes back in.
    pub return_register: String,
    /// What holds from which address on.
    pub rows: Vec<Row>,
}

/// What holds from an address on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// First address.
    pub start: u64,
    /// The canonical frame address.
    pub cfa: String,
    /// Registers, and where the caller's value of each is.
    pub registers: Vec<(String, String)>,
}

/// Rows of a file at most: each is few bytes, but may have many registers.
const MOST_ROWS: usize = 1 << 20;

/// The frames of all functions, in the order of the sections.
pub fn frames(file: &File<'_>) -> Result<Vec<Frame>, Error> {
    let contents =
        Contents::read(file, |section| file.sections.get(section as usize).map_or(0, |s| s.address))?;
    let mut all = Vec::new();
    let mut debug = DebugFrame::new(contents.get(".debug_frame"), LittleEndian);
    debug.set_address_size(8);
    read(&debug, &BaseAddresses::default(), ".debug_frame", &mut all)?;
    if let Some(section) = file.section(".eh_frame") {
        let mut eh = EhFrame::new(section.data, LittleEndian);
        eh.set_address_size(8);
        let text = file.section(".text").map_or(0, |s| s.address);
        let bases = BaseAddresses::default().set_eh_frame(section.address).set_text(text);
        read(&eh, &bases, ".eh_frame", &mut all)?;
    }
    Ok(all)
}

fn read<'d, S>(
    section: &S,
    bases: &BaseAddresses,
    name: &'static str,
    all: &mut Vec<Frame>,
) -> Result<(), Error>
where
    S: UnwindSection<EndianSlice<'d, LittleEndian>>,
    S::Offset: UnwindOffset<usize>,
{
    let wrong = |e: gimli::Error| Error::new(name, None, e.to_string());
    let mut entries = section.entries(bases);
    let mut context = UnwindContext::new();
    let mut count = 0;
    while let Some(entry) = entries.next().map_err(wrong)? {
        let CieOrFde::Fde(partial) = entry else { continue };
        let fde = partial.parse(S::cie_from_offset).map_err(wrong)?;
        let mut rows = Vec::new();
        let mut table = fde.rows(section, bases, &mut context).map_err(wrong)?;
        while let Some(row) = table.next_row().map_err(wrong)? {
            count += 1;
            if count > MOST_ROWS {
                return Err(Error::new(name, None, "it has too many rows"));
            }
            let registers = row.registers().map(|(register, rule)| (register_name(register.0), place(rule)));
            rows.push(Row {
                start: row.start_address(),
                cfa: address(row.cfa()),
                registers: registers.collect(),
            });
        }
        all.push(Frame {
            section: name,
            code: fde.initial_address()..fde.end_address(),
            return_register: register_name(fde.cie().return_address_register().0),
            rows,
        });
    }
    Ok(())
}

fn address(rule: &CfaRule<usize>) -> String {
    match rule {
        CfaRule::RegisterAndOffset { register, offset } => format!("{}{offset:+}", register_name(register.0)),
        CfaRule::Expression(_) => "an expression".into(),
    }
}

fn place(rule: &RegisterRule<usize>) -> String {
    match rule {
        RegisterRule::Undefined => "lost".into(),
        RegisterRule::SameValue => "kept".into(),
        RegisterRule::Offset(n) => format!("[CFA{n:+}]"),
        RegisterRule::ValOffset(n) => format!("CFA{n:+}"),
        RegisterRule::Register(register) => register_name(register.0),
        RegisterRule::Constant(n) => n.to_string(),
        _ => "an expression".into(),
    }
}
