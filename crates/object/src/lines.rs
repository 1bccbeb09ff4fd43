//! Source lines of code, from the line tables of DWARF 2 to 5.
//!
//! Only the tables are read, and of the compilation units the directory they were compiled in: what a disassembler or
//! a fault report needs. Relocatable files are read, too, with their relocations applied.

use crate::dwarf::{Contents, Slice, path};
use crate::read::{Error, File, Kind};
use gimli::{DebugLineOffset, Dwarf};
use std::collections::HashMap;

/// In relocatable files every section starts at 0; here each has a range of its own.
const SECTION_SHIFT: u32 = 40;

/// Which line each address belongs to.
#[derive(Debug, Default)]
pub struct Lines {
    /// Sorted by start.
    rows: Vec<Row>,
    files: Vec<String>,
    relocatable: bool,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    start: u64,
    end: u64,
    file: u32,
    line: u32,
}

/// A line of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The file's path, as the compiler saw it.
    pub file: &'a str,
    /// Its number, from 1.
    pub line: u32,
}

impl Lines {
    /// Reads a file's line tables; `None` when it has none.
    pub fn read(file: &File<'_>) -> Result<Option<Lines>, Error> {
        let Some(section) = file.section(".debug_line").filter(|s| !s.data.is_empty()) else {
            return Ok(None);
        };
        let contents = Contents::read(file, base)?;
        let size = contents.get(".debug_line").len();
        let broken = |at: usize, e: gimli::Error| {
            Error::new(".debug_line", Some(section.offset.saturating_add(at as u64)), e.to_string())
        };
        let dwarf = contents.dwarf();
        let directories = compilation_directories(&dwarf);
        let mut lines = Lines { relocatable: file.kind == Kind::Relocatable, ..Lines::default() };
        let mut at = 0;
        while at < size {
            let directory = directories.get(&at).copied();
            let program = dwarf.debug_line.program(DebugLineOffset(at), 8, directory, None);
            let program = program.map_err(|e| broken(at, e))?;
            let header = program.header();
            let length =
                header.unit_length().saturating_add(header.encoding().format.initial_length_size().into());
            lines.add(&dwarf, program, directory).map_err(|e| broken(at, e))?;
            at = at.saturating_add(length);
        }
        lines.rows.sort_by_key(|r| r.start);
        Ok(Some(lines))
    }

    fn add<'d>(
        &mut self,
        dwarf: &Dwarf<Slice<'d>>,
        program: gimli::IncompleteLineProgram<Slice<'d>>,
        directory: Option<Slice<'d>>,
    ) -> Result<(), gimli::Error> {
        let mut names: HashMap<u64, u32> = HashMap::new();
        let mut rows = program.rows();
        let mut open: Option<Row> = None;
        while let Some((header, row)) = rows.next_row()? {
            let address = row.address();
            if let Some(mut last) = open.take()
                && last.start < address
            {
                last.end = address;
                self.rows.push(last);
            }
            if row.end_sequence() {
                continue;
            }
            let files = &mut self.files;
            let file = *names.entry(row.file_index()).or_insert_with(|| {
                files.push(path(dwarf, header, row.file(header), directory));
                files.len() as u32 - 1
            });
            let line = row.line().map_or(0, |l| u32::try_from(l.get()).unwrap_or(u32::MAX));
            open = Some(Row { start: address, end: address, file, line });
        }
        Ok(())
    }

    /// The line of an address; in relocatable files, of a byte of the section with this number.
    pub fn find(&self, section: u32, address: u64) -> Option<Line<'_>> {
        let address = if self.relocatable { address.wrapping_add(base(section)) } else { address };
        let after = self.rows.partition_point(|r| r.start <= address);
        let row = self.rows.get(after.checked_sub(1)?).filter(|r| address < r.end && r.line != 0)?;
        Some(Line { file: &self.files[row.file as usize], line: row.line })
    }

    /// The line of an address that has none itself, as compilers cannot place all they make (line 0): that of the code
    /// before it, not before `from`.
    pub fn before(&self, section: u32, address: u64, from: u64) -> Option<Line<'_>> {
        let bias = if self.relocatable { base(section) } else { 0 };
        let (address, from) = (address.wrapping_add(bias), from.wrapping_add(bias));
        let after = self.rows.partition_point(|r| r.start <= address);
        let mut earlier = self.rows[..after].iter().rev().take_while(|r| r.end > from);
        let row = earlier.find(|r| r.line != 0)?;
        Some(Line { file: &self.files[row.file as usize], line: row.line })
    }
}

fn base(section: u32) -> u64 {
    u64::from(section) << SECTION_SHIFT
}

/// By the offset of their line tables: the directories that the units were compiled in. Units that cannot be read are
/// left out: lines are of use without them.
fn compilation_directories<'d>(dwarf: &Dwarf<Slice<'d>>) -> HashMap<usize, Slice<'d>> {
    let mut all = HashMap::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        if let (Some(directory), Some(program)) = (unit.comp_dir, &unit.line_program) {
            all.insert(program.header().offset().0, directory);
        }
    }
    all
}
