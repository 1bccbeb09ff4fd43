//! `.debug_line` from `.file` and `.loc`: DWARF 5 when the source names file 0, else DWARF 4 (DWARF 5, section 6.2).

use crate::ids::SectionId;
use crate::number::write_leb128;
use crate::object::{LineEntry, Object, SourceFile};
use std::collections::HashMap;
use wavemill_object::elf::{R_AMDGPU_ABS32, R_AMDGPU_ABS64};

const LINE_BASE: i64 = -5;
const LINE_RANGE: i64 = 14;
const OPCODE_BASE: i64 = 13;
/// The largest address step that a special opcode makes.
const MAX_SPECIAL: u64 = (255 - OPCODE_BASE as u64) / LINE_RANGE as u64;
/// Instructions are whole words; address steps are counted in these.
const WORD: u64 = 4;

const SET_FILE: u8 = 4;
const SET_COLUMN: u8 = 5;
const NEGATE_STMT: u8 = 6;
const SET_BASIC_BLOCK: u8 = 7;
const CONST_ADD_PC: u8 = 8;
const SET_PROLOGUE_END: u8 = 10;
const SET_EPILOGUE_BEGIN: u8 = 11;
const SET_ISA: u8 = 12;

/// What a relocation of the table refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The start of a section of code.
    Code(SectionId),
    /// The start of `.debug_line_str`.
    Strings,
}

/// The tables' bytes.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub lines: Vec<u8>,
    /// Offset, type, target and addend.
    pub relocations: Vec<(u64, u32, Target, i64)>,
    /// `.debug_line_str`, empty before DWARF 5.
    pub strings: Vec<u8>,
}

/// The sections that lines are in, in order of first mention.
pub(super) fn sections(object: &Object) -> Vec<SectionId> {
    let mut all = Vec::new();
    for line in &object.lines {
        if !all.contains(&line.place.section) {
            all.push(line.place.section);
        }
    }
    all
}

/// Makes the tables; `None` when the source names no files.
pub(super) fn tables(object: &Object) -> Option<Tables> {
    if object.files.is_empty() {
        return None;
    }
    let version: u16 = if object.files.contains_key(&0) { 5 } else { 4 };
    let mut tables = Tables::default();
    let out = &mut tables.lines;
    // The lengths are filled in at the end.
    out.extend([0; 4]);
    out.extend(version.to_le_bytes());
    if version >= 5 {
        // Size of an address, and no segment selectors.
        out.extend([8, 0]);
    }
    let header_length = out.len();
    out.extend([0; 4]);
    // Instruction size, operations per instruction, whether lines are statements by default.
    out.extend([WORD as u8, 1, 1, LINE_BASE as u8, LINE_RANGE as u8, OPCODE_BASE as u8]);
    // Operands of the standard opcodes.
    out.extend([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]);
    if version >= 5 {
        files_v5(object, &mut tables)
    } else {
        files_v4(object, &mut tables.lines)
    }
    let length = (tables.lines.len() - header_length - 4) as u32;
    tables.lines[header_length..header_length + 4].copy_from_slice(&length.to_le_bytes());
    for section in sections(object) {
        program(object, section, &mut tables);
    }
    let length = (tables.lines.len() - 4) as u32;
    tables.lines[..4].copy_from_slice(&length.to_le_bytes());
    Some(tables)
}

/// Directories other than the compilation's own, in order of first mention.
fn directories(object: &Object) -> Vec<&[u8]> {
    let mut all: Vec<&[u8]> = Vec::new();
    for file in object.files.iter().filter(|(n, _)| **n != 0).map(|f| f.1) {
        if !file.directory.is_empty() && !all.contains(&&*file.directory) {
            all.push(&file.directory);
        }
    }
    all
}

fn directory_index(file: &SourceFile, directories: &[&[u8]]) -> i64 {
    directories.iter().position(|d| *d == &*file.directory).map_or(0, |i| i as i64 + 1)
}

fn files_v4(object: &Object, out: &mut Vec<u8>) {
    let directories = directories(object);
    for directory in &directories {
        out.extend_from_slice(directory);
        out.push(0);
    }
    out.push(0);
    for file in object.files.values() {
        out.extend_from_slice(&file.name);
        out.push(0);
        write_leb128(directory_index(file, &directories), false, out);
        // Neither time of change nor length is known.
        out.extend([0, 0]);
    }
    out.push(0);
}

/// `.debug_line_str` while it grows.
#[derive(Default)]
struct Strings {
    bytes: Vec<u8>,
    offsets: HashMap<Vec<u8>, i64>,
}

impl Strings {
    fn add(&mut self, string: &[u8]) -> i64 {
        if let Some(&at) = self.offsets.get(string) {
            return at;
        }
        let at = self.bytes.len() as i64;
        self.bytes.extend_from_slice(string);
        self.bytes.push(0);
        self.offsets.insert(string.to_vec(), at);
        at
    }
}

fn files_v5(object: &Object, tables: &mut Tables) {
    const PATH: u8 = 1;
    const DIRECTORY: u8 = 2;
    const MD5: u8 = 5;
    const LINE_STRP: u8 = 0x1f;
    const UDATA: u8 = 0x0f;
    const DATA16: u8 = 0x1e;
    let mut strings = Strings::default();
    let Tables { lines: out, relocations, .. } = tables;
    let mut reference = |string: &[u8], out: &mut Vec<u8>| {
        let at = strings.add(string);
        relocations.push((out.len() as u64, R_AMDGPU_ABS32, Target::Strings, at));
        out.extend([0; 4]);
    };
    let root = object.files.get(&0);
    let directories = directories(object);
    out.extend([1, PATH, LINE_STRP]);
    write_leb128(directories.len() as i64 + 1, false, out);
    reference(root.map_or(b"", |f| &f.directory), out);
    directories.iter().for_each(|d| reference(d, out));

    let numbered: Vec<&SourceFile> = object.files.iter().filter(|(n, _)| **n != 0).map(|f| f.1).collect();
    let all: Vec<&SourceFile> = root.into_iter().chain(numbered).collect();
    let md5 = all.iter().all(|f| f.md5.is_some());
    let source = all.iter().any(|f| f.source.is_some());
    out.push(2 + u8::from(md5) + u8::from(source));
    out.extend([PATH, LINE_STRP, DIRECTORY, UDATA]);
    if md5 {
        out.extend([MD5, DATA16]);
    }
    if source {
        // LLVM's own content type, for the text of the file.
        write_leb128(0x2001, false, out);
        out.push(LINE_STRP);
    }
    write_leb128(all.len() as i64, false, out);
    for file in all {
        reference(&file.name, out);
        let is_root = root.is_some_and(|r| std::ptr::eq(r, file));
        write_leb128(if is_root { 0 } else { directory_index(file, &directories) }, false, out);
        if md5 {
            out.extend(file.md5.unwrap_or(0).to_be_bytes());
        }
        if source {
            reference(file.source.as_deref().unwrap_or(b""), out);
        }
    }
    tables.strings = strings.bytes;
}

/// The line program of one section.
fn program(object: &Object, section: SectionId, tables: &mut Tables) {
    let lines: Vec<&LineEntry> = object.lines.iter().filter(|l| l.place.section == section).collect();
    let (mut file, mut line, mut column, mut is_stmt, mut isa) = (1, 1i64, 0, true, 0);
    let mut address: Option<u64> = None;
    for entry in lines {
        let out = &mut tables.lines;
        let number = |opcode: u8, value: u64, out: &mut Vec<u8>| {
            out.push(opcode);
            write_leb128(value as i64, false, out);
        };
        if entry.file != file {
            number(SET_FILE, entry.file, out);
        }
        if entry.column != column {
            number(SET_COLUMN, entry.column.into(), out);
        }
        if entry.discriminator != 0 {
            let mut value = Vec::new();
            write_leb128(entry.discriminator.into(), false, &mut value);
            out.extend([0, value.len() as u8 + 1, 4]);
            out.extend(value);
        }
        if entry.isa != isa {
            number(SET_ISA, entry.isa.into(), out);
        }
        if entry.is_stmt != is_stmt {
            out.push(NEGATE_STMT);
        }
        for (set, opcode) in [
            (entry.basic_block, SET_BASIC_BLOCK),
            (entry.prologue_end, SET_PROLOGUE_END),
            (entry.epilogue_begin, SET_EPILOGUE_BEGIN),
        ] {
            if set {
                out.push(opcode);
            }
        }
        let here = object.offset_of(entry.place);
        let step = match address {
            None => {
                // The address itself, which the linker fills in.
                out.extend([0, 9, 2]);
                let at = out.len() as u64;
                out.extend([0; 8]);
                tables.relocations.push((at, R_AMDGPU_ABS64, Target::Code(section), here as i64));
                0
            }
            Some(before) => here.wrapping_sub(before),
        };
        advance(i64::from(entry.line) - line, step / WORD, &mut tables.lines);
        (file, line, column) = (entry.file, entry.line.into(), entry.column);
        (is_stmt, isa, address) = (entry.is_stmt, entry.isa, Some(here));
    }
    let size = object.sections.get(section.0 as usize).map_or(0, |s| s.size);
    let rest = size.wrapping_sub(address.unwrap_or(0)) / WORD;
    let out = &mut tables.lines;
    if rest == MAX_SPECIAL {
        out.push(CONST_ADD_PC);
    } else if rest != 0 {
        out.push(2);
        write_leb128(rest as i64, false, out);
    }
    // End of the sequence.
    out.extend([0, 1, 1]);
}

/// Advances line and address and adds a row, in the shortest way.
fn advance(mut line: i64, address: u64, out: &mut Vec<u8>) {
    let mut special = line.wrapping_sub(LINE_BASE);
    let mut needs_copy = false;
    if !(0..LINE_RANGE).contains(&special) {
        out.push(3);
        write_leb128(line, true, out);
        line = 0;
        special = -LINE_BASE;
        needs_copy = true;
    }
    if line == 0 && address == 0 {
        out.push(1);
        return;
    }
    special += OPCODE_BASE;
    let opcode = |steps: u64| u8::try_from(special as u64 + steps * LINE_RANGE as u64).ok();
    if address < 256 + MAX_SPECIAL {
        if let Some(opcode) = opcode(address) {
            out.push(opcode);
            return;
        }
        if let Some(opcode) = address.checked_sub(MAX_SPECIAL).and_then(opcode) {
            out.extend([CONST_ADD_PC, opcode]);
            return;
        }
    }
    out.push(2);
    write_leb128(address as i64, false, out);
    out.push(if needs_copy { 1 } else { special as u8 });
}
