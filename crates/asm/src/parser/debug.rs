//! Debugging directives: source files and lines for DWARF, call frame information.

use super::{Parser, Res};
use crate::lex::Tok;
use crate::object::LineEntry;
use crate::section::SectionId;
use crate::source::{Diag, Span};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const IS_STMT: u8 = 1;
const BASIC_BLOCK: u8 = 2;
const PROLOGUE_END: u8 = 4;
const EPILOGUE_BEGIN: u8 = 8;

/// A source file named by `.file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Directory, or empty.
    pub directory: Vec<u8>,
    /// Name.
    pub name: Vec<u8>,
    /// MD5 of the contents.
    pub md5: Option<u128>,
    /// The contents.
    pub source: Option<Vec<u8>>,
}

/// What the debugging directives have said so far.
#[derive(Debug)]
pub(super) struct Debug {
    /// By number; 0 is the file compiled, from DWARF 5 on.
    files: BTreeMap<u64, SourceFile>,
    version: u8,
    all_md5: bool,
    any_md5: bool,
    md5_reported: bool,
    flags: u8,
    /// The sections of the `.cfi_startproc` that are open.
    frames: Vec<Option<SectionId>>,
}

impl Default for Debug {
    fn default() -> Self {
        Debug {
            files: BTreeMap::new(),
            version: 4,
            all_md5: true,
            any_md5: false,
            md5_reported: false,
            flags: IS_STMT,
            frames: Vec::new(),
        }
    }
}

impl Debug {
    fn track_md5(&mut self, present: bool) {
        self.all_md5 &= present;
        self.any_md5 |= present;
    }
}

/// File numbers beyond this are a mistake: every number below must be used too.
const MAX_FILE: u64 = 1 << 20;

impl Parser<'_> {
    /// `.file "name"`, `.file number "directory" "name" md5 0x… source "…"`
    pub(super) fn debug_file(&mut self) -> Res {
        let at = self.statement;
        let mut number = None;
        if self.lex.kind() == Tok::Int {
            let token = self.lex.bump();
            let value = self.lex.int_value(token).0;
            if i64::try_from(value).is_err() {
                return Err(self.token_error("negative file number"));
            }
            number = Some(value);
        }
        let mut file =
            SourceFile { directory: Vec::new(), name: self.escaped_string()?, md5: None, source: None };
        if self.lex.kind() == Tok::Str {
            if number.is_none() {
                return Err(self.token_error("explicit path specified, but no file number"));
            }
            file.directory = std::mem::replace(&mut file.name, self.escaped_string()?);
        }
        while !self.lex.eat(Tok::Eol) {
            match self.lex.ident() {
                "md5" => {
                    self.lex.bump();
                    if number.is_none() {
                        return Err(self.token_error("MD5 checksum specified, but no file number"));
                    }
                    file.md5 = Some(self.wide_literal()?);
                }
                "source" => {
                    self.lex.bump();
                    if number.is_none() {
                        return Err(self.token_error("source specified, but no file number"));
                    }
                    if self.lex.kind() != Tok::Str {
                        return Err(self.token_error("unexpected token in '.file' directive"));
                    }
                    file.source = Some(self.escaped_string()?);
                }
                _ => {
                    if self.lex.kind() == Tok::Ident {
                        self.lex.bump();
                    }
                    return Err(self.token_error("unexpected token in '.file' directive"));
                }
            }
        }
        // A bare name says nothing the object needs.
        let Some(number) = number else { return Ok(()) };
        self.add_file(number, file, at)?;
        let debug = &mut self.debug;
        if !debug.md5_reported && !debug.files.keys().all(|n| *n == 0) && debug.all_md5 != debug.any_md5 {
            debug.md5_reported = true;
            self.warning(at, "inconsistent use of MD5 checksums");
        }
        Ok(())
    }

    fn add_file(&mut self, number: u64, mut file: SourceFile, at: Span) -> Res {
        if number == 0 {
            self.debug.version = self.debug.version.max(5);
            self.debug.track_md5(file.md5.is_some());
            self.write_file(0, &file);
            self.debug.files.insert(0, file);
            return Ok(());
        }
        if let Some(root) = self.debug.files.get(&0) {
            if file.directory == root.directory {
                file.directory.clear();
            }
            if root.name == file.name && root.md5 == file.md5 {
                return Ok(());
            }
        }
        if number > MAX_FILE {
            return Err(Diag::error(at, "file number is too large"));
        }
        if self.debug.files.contains_key(&number) {
            return Err(Diag::error(at, "file number already allocated"));
        }
        if file.name.is_empty() {
            file.name = b"<stdin>".to_vec();
            file.directory.clear();
        }
        if file.directory.is_empty() {
            split_directory(&mut file);
        }
        self.debug.track_md5(file.md5.is_some());
        self.write_file(number, &file);
        self.debug.files.insert(number, file);
        Ok(())
    }

    fn write_file(&mut self, number: u64, file: &SourceFile) {
        if !self.out.is_text() {
            if let Some(object) = &mut self.out.object {
                object.files.insert(number, file.clone());
            }
            return;
        }
        self.out.raw(format!("\t.file\t{number} ").as_bytes());
        if !file.directory.is_empty() {
            self.out.quoted(&file.directory);
            self.out.raw(b" ");
        }
        self.out.quoted(&file.name);
        if let Some(md5) = file.md5 {
            self.out.raw(format!(" md5 0x{md5:032x}").as_bytes());
        }
        if let Some(source) = &file.source {
            self.out.raw(b" source ");
            self.out.quoted(source);
        }
        self.out.eol();
    }

    /// At the end: every file number up to the last must have been used.
    pub(super) fn check_file_numbers(&mut self) {
        let Some(last) = self.debug.files.keys().next_back().copied() else { return };
        let missing: Vec<u64> = (1..last).filter(|n| !self.debug.files.contains_key(n)).take(100).collect();
        let span = self.lex.here();
        for number in missing {
            self.error(span, format!("unassigned file number: {number} for .file directives"));
        }
    }

    /// `.line number`: accepted, without effect.
    pub(super) fn debug_line(&mut self) -> Res {
        self.lex.eat(Tok::Int);
        self.eol()
    }

    /// `.loc file line column options`
    pub(super) fn debug_loc(&mut self) -> Res {
        let at = self.lex.here();
        let token = self.expect(Tok::Int, "unexpected token in '.loc' directive")?;
        let file = self.lex.int_value(token).0;
        if file == 0 && self.debug.version < 5 {
            return Err(Diag::error(at, "file number less than one in '.loc' directive"));
        }
        if file != 0 && !self.debug.files.contains_key(&file) {
            return Err(Diag::error(at, "unassigned file number in '.loc' directive"));
        }
        let mut numbers = [0u64; 2];
        for (number, what) in numbers.iter_mut().zip(["line number", "column position"]) {
            if self.lex.kind() == Tok::Int {
                *number = self.lex.int_value(self.lex.peek()).0;
                if i64::try_from(*number).is_err() {
                    return Err(self.token_error(format!("{what} less than zero in '.loc' directive")));
                }
                self.lex.bump();
            }
        }
        let [line, column] = numbers;
        let mut flags = self.debug.flags & IS_STMT;
        let (mut isa, mut discriminator) = (0, 0);
        while !self.lex.eat(Tok::Eol) {
            let name_at = self.lex.here();
            match self.expect_identifier("unexpected token in '.loc' directive")? {
                "basic_block" => flags |= BASIC_BLOCK,
                "prologue_end" => flags |= PROLOGUE_END,
                "epilogue_begin" => flags |= EPILOGUE_BEGIN,
                "is_stmt" => {
                    let value_at = self.lex.here();
                    flags &= !IS_STMT;
                    match self.expr()?.constant() {
                        Some(0) => {}
                        Some(1) => flags |= IS_STMT,
                        Some(_) => return Err(Diag::error(value_at, "is_stmt value not 0 or 1")),
                        None => {
                            let message = "is_stmt value not the constant value of 0 or 1";
                            return Err(Diag::error(value_at, message));
                        }
                    }
                }
                "isa" => {
                    let value_at = self.lex.here();
                    match self.expr()?.constant() {
                        Some(value) if value < 0 => {
                            return Err(Diag::error(value_at, "isa number less than zero"));
                        }
                        Some(value) => isa = value,
                        None => return Err(Diag::error(value_at, "isa number not a constant value")),
                    }
                }
                "discriminator" => discriminator = self.absolute()?,
                _ => return Err(Diag::error(name_at, "unknown sub-directive in '.loc' directive")),
            }
        }
        // LLVM keeps lines and columns in narrow fields.
        let (line, column) = (line as u32, column as u32);
        if self.out.is_text() {
            let mut text = format!("\t.loc\t{file} {line} {column}");
            for (flag, name) in [
                (BASIC_BLOCK, " basic_block"),
                (PROLOGUE_END, " prologue_end"),
                (EPILOGUE_BEGIN, " epilogue_begin"),
            ] {
                if flags & flag != 0 {
                    text.push_str(name);
                }
            }
            if flags & IS_STMT != self.debug.flags & IS_STMT {
                _ = write!(text, " is_stmt {}", flags & IS_STMT);
            }
            if isa as u32 != 0 {
                _ = write!(text, " isa {}", isa as u32);
            }
            if discriminator as u32 != 0 {
                _ = write!(text, " discriminator {}", discriminator as u32);
            }
            self.out.raw(text.as_bytes());
            self.out.pad();
            self.out.raw(format!("; :{line}:{column}").as_bytes());
            self.out.eol();
        } else if let Some(object) = &mut self.out.object {
            let place = object.place();
            object.lines.push(LineEntry {
                place,
                file,
                line,
                column,
                is_stmt: flags & IS_STMT != 0,
                basic_block: flags & BASIC_BLOCK != 0,
                prologue_end: flags & PROLOGUE_END != 0,
                epilogue_begin: flags & EPILOGUE_BEGIN != 0,
                isa: isa as u32,
                discriminator: discriminator as u32,
            });
        }
        self.debug.flags = flags;
        Ok(())
    }

    /// A register's DWARF number, written as a number or as the register's name.
    fn dwarf_register(&mut self) -> Res<i64> {
        if self.lex.kind() == Tok::Ident
            && let Some(number) = dwarf_register(self.lex.ident())
        {
            self.lex.bump();
            return Ok(number);
        }
        if self.lex.kind() != Tok::Int {
            return Err(self.token_error("invalid register name"));
        }
        self.absolute()
    }

    fn register_and_offset(&mut self) -> Res<String> {
        let register = self.dwarf_register()?;
        self.comma()?;
        let offset = self.absolute()?;
        Ok(format!("{register}, {offset}"))
    }

    /// `.cfi_…`
    pub(super) fn cfi(&mut self, name: &str) -> Res {
        let name = name.to_ascii_lowercase();
        let mut operands = String::new();
        let mut ends = true;
        match name.as_str() {
            ".cfi_sections" => return self.cfi_sections(),
            ".cfi_startproc" => return self.cfi_start(),
            ".cfi_def_cfa" | ".cfi_offset" | ".cfi_rel_offset" => operands = self.register_and_offset()?,
            ".cfi_llvm_def_aspace_cfa" => {
                operands = self.register_and_offset()?;
                self.comma()?;
                _ = write!(operands, ", {}", self.absolute()?);
            }
            ".cfi_def_cfa_offset" | ".cfi_adjust_cfa_offset" => operands = self.absolute()?.to_string(),
            ".cfi_register" => {
                let from = self.dwarf_register()?;
                self.comma()?;
                operands = format!("{from}, {}", self.dwarf_register()?);
            }
            ".cfi_def_cfa_register"
            | ".cfi_same_value"
            | ".cfi_restore"
            | ".cfi_return_column"
            | ".cfi_undefined" => operands = self.dwarf_register()?.to_string(),
            ".cfi_escape" => {
                loop {
                    if !operands.is_empty() {
                        operands.push_str(", ");
                    }
                    _ = write!(operands, "0x{:02x}", self.absolute()? as u8);
                    if !self.lex.eat(Tok::Comma) {
                        break;
                    }
                }
                ends = false;
            }
            ".cfi_personality" | ".cfi_lsda" => {
                let encoding = self.absolute()?;
                if encoding == 0xff {
                    return Ok(());
                }
                if !valid_encoding(encoding) {
                    return Err(self.token_error("unsupported encoding."));
                }
                self.comma()?;
                let symbol = self.expect_identifier("expected identifier in directive")?;
                let mut printed = Vec::new();
                crate::symbol::print_name(symbol, &mut printed);
                operands = format!("{encoding}, {}", String::from_utf8_lossy(&printed));
                self.symbols.get_or_insert(symbol);
            }
            ".cfi_label" => operands = self.expect_identifier("expected identifier")?.to_owned(),
            _ => {}
        }
        if ends {
            self.eol()?;
        }
        if self.debug.frames.is_empty() {
            let at = self.statement;
            self.error(at, "this directive must appear between .cfi_startproc and .cfi_endproc directives");
            if name == ".cfi_endproc" {
                return Ok(());
            }
        }
        if name == ".cfi_endproc" {
            self.debug.frames.pop();
        }
        let space = if operands.is_empty() { "" } else { " " };
        self.out.line(format_args!("\t{name}{space}{operands}"));
        Ok(())
    }

    fn cfi_sections(&mut self) -> Res {
        let (mut eh, mut debug) = (false, false);
        if !self.lex.eat(Tok::Eol) {
            loop {
                match self.expect_identifier("expected .eh_frame or .debug_frame")? {
                    ".eh_frame" => eh = true,
                    ".debug_frame" => debug = true,
                    _ => {}
                }
                if self.lex.eat(Tok::Eol) {
                    break;
                }
                self.comma()?;
            }
        }
        let names = match (eh, debug) {
            (true, true) => ".eh_frame, .debug_frame",
            (true, false) => ".eh_frame",
            (false, true) => ".debug_frame",
            (false, false) => "",
        };
        self.out.line(format_args!("\t.cfi_sections {names}"));
        Ok(())
    }

    fn cfi_start(&mut self) -> Res {
        let mut simple = "";
        if !self.lex.eat(Tok::Eol) {
            if self.identifier() != Some("simple") {
                return Err(self.token_error("unexpected token"));
            }
            simple = " simple";
            self.eol()?;
        }
        let section = self.current_section().map(|(id, _)| id);
        if self.debug.frames.last() == Some(&section) {
            let at = self.lex.here();
            return Err(Diag::error(at, "starting new .cfi frame before finishing the previous one"));
        }
        if self.debug.frames.len() > 10_000 {
            return Err(Diag::error(self.statement, "frames are nested too deeply"));
        }
        self.debug.frames.push(section);
        self.out.line(format_args!("\t.cfi_startproc{simple}"));
        Ok(())
    }

    /// At the end of the file: every frame must be closed.
    pub(super) fn check_frames(&mut self) {
        if !self.debug.frames.is_empty() {
            let at = self.lex.here();
            self.error(at, "Unfinished frame!");
        }
    }
}

/// `a/b.c` is `b.c` in `a`.
fn split_directory(file: &mut SourceFile) {
    let Some(slash) = file.name.iter().rposition(|b| *b == b'/') else { return };
    if slash + 1 == file.name.len() {
        return;
    }
    let name = file.name.split_off(slash + 1);
    let directory = std::mem::replace(&mut file.name, name);
    // The root directory keeps its slash.
    let end = directory.iter().rposition(|b| *b != b'/').map_or(1, |i| i + 1);
    file.directory = directory[..end].to_vec();
}

/// A pointer encoding LLVM can write: absolute or relative, of a known format.
fn valid_encoding(encoding: i64) -> bool {
    encoding & !0xff == 0
        && matches!(encoding & 0xf, 0 | 2 | 3 | 4 | 8 | 10 | 11 | 12)
        && matches!(encoding & 0x70, 0 | 0x10)
}

/// AMD's DWARF numbers for wave64: the program counter, EXEC, then the register files.
fn dwarf_register(name: &str) -> Option<i64> {
    let (file, index) = name.split_at_checked(1)?;
    match (file, index.parse::<i64>()) {
        ("s", Ok(n @ 0..64)) => Some(32 + n),
        ("s", Ok(n @ 64..106)) => Some(1088 + n - 64),
        ("v", Ok(n @ 0..256)) => Some(2560 + n),
        ("a", Ok(n @ 0..256)) => Some(3072 + n),
        _ if name == "exec" => Some(17),
        _ => None,
    }
}
