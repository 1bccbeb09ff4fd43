//! Source lines of code, from the line tables of DWARF 2 to 5.
//!
//! Only the tables are read, and of the compilation units the directory they were compiled in: what a disassembler or
//! a fault report needs. Relocatable files are read, too, with their relocations applied.

use crate::elf;
use crate::read::{Error, File, Kind};
use gimli::{DebugLineOffset, Dwarf, EndianSlice, LittleEndian, SectionId};
use std::borrow::Cow;
use std::collections::HashMap;

type Slice<'d> = EndianSlice<'d, LittleEndian>;

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
        let mut contents: HashMap<&str, Cow<'_, [u8]>> = HashMap::new();
        for (number, section) in
            file.sections.iter().enumerate().filter(|(_, s)| s.name.starts_with(".debug_"))
        {
            contents.insert(section.name, relocated(file, number as u32, section.data)?);
        }
        let load = |id: SectionId| -> Result<Slice<'_>, gimli::Error> {
            Ok(EndianSlice::new(contents.get(id.name()).map_or(&[][..], |c| c), LittleEndian))
        };
        let broken = |at: usize, e: gimli::Error| {
            Error::new(".debug_line", Some(section.offset.saturating_add(at as u64)), e.to_string())
        };
        let dwarf = Dwarf::load(load).map_err(|e| broken(0, e))?;
        let directories = compilation_directories(&dwarf);
        let mut lines = Lines { relocatable: file.kind == Kind::Relocatable, ..Lines::default() };
        let mut at = 0;
        while at < section.data.len() {
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
}

fn base(section: u32) -> u64 {
    u64::from(section) << SECTION_SHIFT
}

/// The contents of a debugging section with its relocations applied.
fn relocated<'a>(file: &File<'a>, number: u32, data: &'a [u8]) -> Result<Cow<'a, [u8]>, Error> {
    if file.kind != Kind::Relocatable {
        return Ok(Cow::Borrowed(data));
    }
    let mut contents = Cow::Borrowed(data);
    for r in file.relocations(number)? {
        let Some(symbol) = file.symbols.get(r.symbol as usize) else { continue };
        let home = file.sections.get(symbol.section as usize);
        // Only what is loaded has an address; debugging sections refer to each other by offset.
        let start = if home.is_some_and(|s| s.flags & elf::SHF_ALLOC != 0) { base(symbol.section) } else { 0 };
        let value = start.wrapping_add(symbol.value).wrapping_add_signed(r.addend);
        let size = match r.ty {
            elf::R_AMDGPU_ABS64 => 8,
            elf::R_AMDGPU_ABS32 => 4,
            _ => continue,
        };
        let place =
            usize::try_from(r.offset).ok().and_then(|at| contents.to_mut().get_mut(at..)?.get_mut(..size));
        if let Some(place) = place {
            place.copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }
    Ok(contents)
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

/// A file's whole path.
fn path<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    header: &gimli::LineProgramHeader<Slice<'d>>,
    file: Option<&gimli::FileEntry<Slice<'d>>>,
    directory: Option<Slice<'d>>,
) -> String {
    let Some(file) = file else { return "<unknown>".into() };
    let text = |value| {
        let slice = dwarf.attr_line_string(value).ok();
        slice.map(|s| String::from_utf8_lossy(s.slice()).into_owned()).unwrap_or_default()
    };
    let mut path = text(file.path_name());
    let mut prepend = |directory: &str| {
        if !path.starts_with('/') && !directory.is_empty() && directory != "." {
            path = format!("{}/{path}", directory.trim_end_matches('/'));
        }
    };
    if let Some(value) = file.directory(header) {
        prepend(&text(value));
    }
    if let Some(directory) = directory {
        prepend(&String::from_utf8_lossy(directory.slice()));
    }
    path
}
