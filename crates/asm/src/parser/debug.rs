//! Debugging directives: source files and lines for DWARF.

use super::{Parser, Res};
use crate::ids::Position;
use crate::lex::Tok;
use crate::object::{LineEntry, SourceFile};
use crate::source::{Diag, Origin, Span};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

const IS_STMT: u8 = 1;
const BASIC_BLOCK: u8 = 2;
const PROLOGUE_END: u8 = 4;
const EPILOGUE_BEGIN: u8 = 8;

/// What the debugging directives have said so far.
#[derive(Debug)]
pub(super) struct Debug {
    /// By number; 0 is the file compiled, from DWARF 5 on.
    files: BTreeMap<u64, SourceFile>,
    pub version: u8,
    all_md5: bool,
    any_md5: bool,
    md5_reported: bool,
    flags: u8,
    /// Instructions of the source itself, for [`Options::debug_lines`](crate::Options::debug_lines).
    own: Vec<(Position, Span)>,
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
            own: Vec::new(),
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
            let value = self.lex.int_value(token);
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
        // LLVM's text leaves a file out whose number is lower than one before it.
        let ascending = self.debug.files.keys().next_back().is_none_or(|last| number > *last);
        if ascending || !self.out.is_text() {
            self.write_file(number, &file);
        }
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
    pub(crate) fn check_file_numbers(&mut self) {
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
        let file = self.lex.int_value(token);
        if file == 0 && self.debug.version < 5 {
            return Err(Diag::error(at, "file number less than one in '.loc' directive"));
        }
        if file != 0 && !self.debug.files.contains_key(&file) {
            return Err(Diag::error(at, "unassigned file number in '.loc' directive"));
        }
        let mut numbers = [0u64; 2];
        for (number, what) in numbers.iter_mut().zip(["line number", "column position"]) {
            if self.lex.kind() == Tok::Int {
                *number = self.lex.int_value(self.lex.peek());
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

    /// Remembers where the statement's instruction comes from.
    pub(crate) fn note_line(&mut self) {
        if let Some(object) = &mut self.out.object {
            self.debug.own.push((object.place(), self.statement));
        }
    }

    /// Makes lines of what [`Self::note_line`] has seen, unless the source has `.file` and `.loc` of its own: those say
    /// where the code really comes from.
    pub(super) fn own_lines(&mut self) {
        let own = std::mem::take(&mut self.debug.own);
        let Some(object) = &mut self.out.object else { return };
        if !object.files.is_empty() {
            return;
        }
        let mut files: Vec<String> = Vec::new();
        // Lines are counted from the last place in the same buffer, as places mostly come in order.
        let mut counted: HashMap<u32, (usize, u32)> = HashMap::new();
        for (place, mut span) in own {
            // What a macro makes comes from where it is called.
            while let Origin::Expansion(at) = self.sources.get(span.buffer).origin {
                span = at;
            }
            let buffer = self.sources.get(span.buffer);
            let mut line_at = |offset: u32| {
                let offset = (offset as usize).min(buffer.text.len());
                let (from, line) =
                    counted.get(&span.buffer).copied().filter(|c| c.0 <= offset).unwrap_or((0, 1));
                let ends = buffer.text[from..offset].iter().filter(|b| **b == b'\n').count();
                let line = line + ends as u32;
                counted.insert(span.buffer, (offset, line));
                line
            };
            let marker =
                self.markers.iter().rev().find(|m| m.at.buffer == span.buffer && m.at.start <= span.start);
            let (name, line) = match marker {
                Some(marker) => {
                    let base = i64::from(line_at(marker.at.start));
                    let line = marker.line - 1 + i64::from(line_at(span.start)) - base;
                    (marker.file.as_str(), line.max(0) as u32)
                }
                None => (&*buffer.name, line_at(span.start)),
            };
            let name = if name == "-" { "<stdin>" } else { name };
            let known = files.iter().position(|f| f == name);
            let file = known.unwrap_or_else(|| {
                files.push(name.to_owned());
                files.len() - 1
            });
            object.lines.push(LineEntry {
                place,
                file: file as u64 + 1,
                line,
                column: 0,
                is_stmt: true,
                basic_block: false,
                prologue_end: false,
                epilogue_begin: false,
                isa: 0,
                discriminator: 0,
            });
        }
        for (i, name) in files.into_iter().enumerate() {
            let mut file =
                SourceFile { directory: Vec::new(), name: name.into_bytes(), md5: None, source: None };
            split_directory(&mut file);
            object.files.insert(i as u64 + 1, file);
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
