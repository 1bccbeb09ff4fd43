//! Call frame information: `.cfi_…`.

use super::{Parser, Res};
use crate::ids::SectionId;
use crate::lex::Tok;
use crate::object::{Cfi, Frame};
use crate::section::{Section, types};
use crate::source::Diag;

/// The frames being described.
#[derive(Debug)]
pub(super) struct Frames {
    /// For each `.cfi_startproc` that is open: its section, and its number in the object.
    open: Vec<(Option<SectionId>, usize)>,
    /// `.cfi_sections`: what to write.
    eh_frame: bool,
    debug_frame: bool,
}

impl Default for Frames {
    fn default() -> Self {
        Frames { open: Vec::new(), eh_frame: true, debug_frame: false }
    }
}

impl Parser<'_> {
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

    fn register_and_offset(&mut self) -> Res<(i64, i64)> {
        let register = self.dwarf_register()?;
        self.comma()?;
        Ok((register, self.absolute()?))
    }

    /// `.cfi_…`
    pub(super) fn cfi(&mut self, name: &str) -> Res {
        let name = name.to_ascii_lowercase();
        let mut ends = true;
        let cfi = match name.as_str() {
            ".cfi_sections" => return self.cfi_sections(),
            ".cfi_startproc" => return self.cfi_start(),
            ".cfi_endproc" => return self.cfi_end(),
            ".cfi_def_cfa" => self.register_and_offset().map(|(r, o)| Cfi::DefCfa(r, o))?,
            ".cfi_offset" => self.register_and_offset().map(|(r, o)| Cfi::Offset(r, o))?,
            ".cfi_rel_offset" => self.register_and_offset().map(|(r, o)| Cfi::RelOffset(r, o))?,
            ".cfi_llvm_def_aspace_cfa" => {
                let (register, offset) = self.register_and_offset()?;
                self.comma()?;
                Cfi::DefAspaceCfa(register, offset, self.absolute()?)
            }
            ".cfi_def_cfa_offset" => Cfi::DefCfaOffset(self.absolute()?),
            ".cfi_adjust_cfa_offset" => Cfi::AdjustCfaOffset(self.absolute()?),
            ".cfi_register" => {
                let from = self.dwarf_register()?;
                self.comma()?;
                Cfi::Register(from, self.dwarf_register()?)
            }
            ".cfi_def_cfa_register" => Cfi::DefCfaRegister(self.dwarf_register()?),
            ".cfi_same_value" => Cfi::SameValue(self.dwarf_register()?),
            ".cfi_restore" => Cfi::Restore(self.dwarf_register()?),
            ".cfi_return_column" => Cfi::ReturnColumn(self.dwarf_register()?),
            ".cfi_undefined" => Cfi::Undefined(self.dwarf_register()?),
            ".cfi_remember_state" => Cfi::RememberState,
            ".cfi_restore_state" => Cfi::RestoreState,
            ".cfi_window_save" => Cfi::WindowSave,
            ".cfi_signal_frame" => Cfi::SignalFrame,
            ".cfi_escape" => {
                // LLVM does not look for the end of the statement here.
                ends = false;
                let mut bytes = vec![self.absolute()? as u8];
                while self.lex.eat(Tok::Comma) {
                    bytes.push(self.absolute()? as u8);
                }
                Cfi::Escape(bytes)
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
                let symbol = self.symbols.get_or_insert(symbol);
                match name.as_str() {
                    ".cfi_lsda" => Cfi::Lsda(encoding as u8, symbol),
                    _ => Cfi::Personality(encoding as u8, symbol),
                }
            }
            _ => Cfi::Label(self.expect_identifier("expected identifier")?.to_owned()),
        };
        if ends {
            self.eol()?;
        }
        self.cfi_check_open();
        if self.out.is_text() {
            self.out.raw(b"\t");
            self.out.raw(name.as_bytes());
            cfi.print_operands(&self.symbols, &mut self.out.buf);
            self.out.eol();
            return Ok(());
        }
        if let Some(object) = &mut self.out.object
            && let Some((_, frame)) = self.frames.open.last()
        {
            let place = object.place();
            object.frames[*frame].add(place, cfi);
        }
        Ok(())
    }

    /// Directives about a frame belong into one.
    fn cfi_check_open(&mut self) -> bool {
        let open = !self.frames.open.is_empty();
        if !open {
            let at = self.statement;
            self.error(at, "this directive must appear between .cfi_startproc and .cfi_endproc directives");
        }
        open
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
        (self.frames.eh_frame, self.frames.debug_frame) = (eh, debug);
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
        let mut simple = false;
        if !self.lex.eat(Tok::Eol) {
            if self.identifier() != Some("simple") {
                return Err(self.token_error("unexpected token"));
            }
            simple = true;
            self.eol()?;
        }
        let section = self.current_section().map(|(id, _)| id);
        if self.frames.open.last().is_some_and(|(open, _)| *open == section) {
            let at = self.lex.here();
            return Err(Diag::error(at, "starting new .cfi frame before finishing the previous one"));
        }
        if self.frames.open.len() > 10_000 {
            return Err(Diag::error(self.statement, "frames are nested too deeply"));
        }
        let mut number = 0;
        if let Some(object) = &mut self.out.object {
            number = object.frames.len();
            let begin = object.place();
            object.frames.push(Frame::new(begin, simple));
        }
        self.frames.open.push((section, number));
        self.out.line(format_args!("\t.cfi_startproc{}", if simple { " simple" } else { "" }));
        Ok(())
    }

    fn cfi_end(&mut self) -> Res {
        self.eol()?;
        if !self.cfi_check_open() {
            return Ok(());
        }
        if let Some((_, number)) = self.frames.open.pop()
            && let Some(object) = &mut self.out.object
        {
            let end = object.place();
            object.frames[number].close(end);
        }
        self.out.line(format_args!("\t.cfi_endproc"));
        Ok(())
    }

    /// At the end of the file: every frame must be closed, and the object gets the sections that describe them.
    pub(super) fn finish_frames(&mut self) {
        if !self.frames.open.is_empty() {
            let at = self.lex.here();
            self.error(at, "Unfinished frame!");
            return;
        }
        let any = self.out.object.as_ref().is_some_and(|object| !object.frames.is_empty());
        if !any {
            return;
        }
        let wanted = [(self.frames.eh_frame, ".eh_frame"), (self.frames.debug_frame, ".debug_frame")];
        for (_, name) in wanted.into_iter().filter(|(wanted, _)| *wanted) {
            let id = self.section(Section::new(name, types::PROGBITS, 0));
            let symbol = self.sections[id.0 as usize].begin;
            if let (Some(object), Some(symbol)) = (&mut self.out.object, symbol) {
                object.frame_sections.push((id, symbol, name == ".eh_frame"));
            }
        }
        if let Some(object) = &mut self.out.object {
            object.frame_version = if self.debug.version < 4 { 3 } else { 4 };
        }
    }
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
