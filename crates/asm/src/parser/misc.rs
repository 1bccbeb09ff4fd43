//! Directives about files, messages, notes and relocations.

use super::data::MAX_OUTPUT;
use super::macros::MAX_TEXT;
use super::{Parser, Res};
use crate::lex::{Lexer, Tok};
use crate::number::write_int;
use crate::section::{Section, flags, types};
use crate::source::Diag;

impl Parser<'_> {
    fn file_name(&mut self, what: &'static str) -> Res<String> {
        if self.lex.kind() != Tok::Str {
            return Err(self.token_error(what));
        }
        let data = self.escaped_string()?;
        Ok(String::from_utf8_lossy(&data).into_owned())
    }

    /// `.include "file"`
    pub(super) fn include(&mut self) -> Res {
        let at = self.lex.here();
        let name = self.file_name("expected string in '.include' directive")?;
        if !self.lex.at_eol() {
            return Err(self.token_error("unexpected token in '.include' directive"));
        }
        let text = self.read_named("include", &name, MAX_TEXT, at)?;
        let eol = self.lex.bytes(self.lex.peek());
        if self.out.is_text() && matches!(eol.first(), None | Some(b'\n' | b'\r')) {
            self.out.eol();
        }
        self.enter_include(&name, text, at)
    }

    /// `.incbin "file", skip, count`
    pub(super) fn incbin(&mut self) -> Res {
        let at = self.lex.here();
        let name = self.file_name("expected string in '.incbin' directive")?;
        let (mut skip, mut count) = (0, None);
        let (mut skip_at, mut count_at) = (at, at);
        if self.lex.eat(Tok::Comma) {
            if self.lex.kind() != Tok::Comma {
                skip_at = self.lex.here();
                skip = self.absolute()?;
            }
            if self.lex.eat(Tok::Comma) {
                count_at = self.lex.here();
                count = Some(self.expr()?);
            }
        }
        self.eol()?;
        if skip < 0 {
            return Err(Diag::error(skip_at, "skip is negative"));
        }
        let room = MAX_OUTPUT.saturating_sub(self.output_size());
        let data = self.read_named("incbin", &name, room, at)?;
        let mut data = data.get(skip as usize..).unwrap_or(b"");
        if let Some(count) = count {
            let count =
                self.eval(&count).ok_or_else(|| Diag::error(count_at, "expected absolute expression"))?;
            if count < 0 {
                self.warning(count_at, "negative count has no effect");
                return Ok(());
            }
            data = &data[..data.len().min(count as usize)];
        }
        self.emit_bytes(data);
        Ok(())
    }

    /// `.abort message`
    pub(super) fn abort(&mut self) -> Res {
        let text = String::from_utf8_lossy(self.text_to_eol()).into_owned();
        self.eol()?;
        Err(Diag::error(
            self.statement,
            if text.is_empty() {
                ".abort detected. Assembly stopping".to_owned()
            } else {
                format!(".abort '{text}' detected. Assembly stopping")
            },
        ))
    }

    /// `.end`: what follows is not read.
    pub(super) fn end(&mut self) -> Res {
        self.eol()?;
        while self.leave_include() {}
        let source = self.lex.source();
        self.lex = Lexer::at(source, self.lex.buffer(), source.len() as u32);
        Ok(())
    }

    fn message(&mut self, default: &str, wrong: &'static str) -> Res<String> {
        if self.lex.at_eol() {
            return Ok(default.to_owned());
        }
        if self.lex.kind() != Tok::Str {
            return Err(self.token_error(wrong));
        }
        let token = self.lex.bump();
        let text = self.lex.bytes(token);
        Ok(String::from_utf8_lossy(&text[1..text.len() - 1]).into_owned())
    }

    /// `.err` and `.error "message"`
    pub(super) fn error_directive(&mut self, with_message: bool) -> Res {
        let at = self.statement;
        if !with_message {
            return Err(Diag::error(at, ".err encountered"));
        }
        let default = ".error directive invoked in source file";
        let message = self.message(default, ".error argument must be a string")?;
        Err(Diag::error(at, message))
    }

    /// `.warning "message"`
    pub(super) fn warning_directive(&mut self) -> Res {
        let at = self.statement;
        let default = ".warning directive invoked in source file";
        let message = self.message(default, ".warning argument must be a string")?;
        self.eol()?;
        self.warning(at, message);
        Ok(())
    }

    /// `.print "message"`
    pub(super) fn print(&mut self) -> Res {
        let at = self.statement;
        let token = self.lex.bump();
        if token.kind != Tok::Str {
            return Err(Diag::error(at, "expected double quoted string after .print"));
        }
        self.eol()?;
        let text = self.lex.bytes(token);
        self.printed.extend_from_slice(&text[1..text.len() - 1]);
        self.printed.push(b'\n');
        Ok(())
    }

    /// `.reloc offset, name, expression`
    pub(super) fn reloc(&mut self) -> Res {
        let at = self.lex.here();
        let offset = self.expr()?;
        self.comma()?;
        if self.lex.kind() != Tok::Ident {
            return Err(self.token_error("expected relocation name"));
        }
        let name_at = self.lex.here();
        let name = self.lex.ident();
        self.lex.bump();
        let mut value = None;
        if self.lex.eat(Tok::Comma) {
            let value_at = self.lex.here();
            let expr = self.expr()?;
            let scope = crate::eval::Scope { layout: None, ..self.scope() };
            if expr.relocatable(scope).is_none() {
                return Err(Diag::error(value_at, "expression must be relocatable"));
            }
            value = Some(expr);
        }
        self.eol()?;
        if self.out.is_text() {
            self.out.buf.extend_from_slice(b"\t.reloc ");
            offset.print(&self.symbols, &mut self.out.buf);
            self.out.buf.extend_from_slice(b", ");
            self.out.buf.extend_from_slice(name.as_bytes());
            if let Some(value) = value {
                self.out.buf.extend_from_slice(b", ");
                value.print(&self.symbols, &mut self.out.buf);
            }
            self.out.eol();
            return Ok(());
        }
        self.emit_reloc(offset, at, name, name_at, value)
    }

    /// `.ident "string"`
    pub(super) fn ident(&mut self) -> Res {
        if self.lex.kind() != Tok::Str {
            return Err(self.token_error("expected string"));
        }
        let token = self.lex.bump();
        let text = self.lex.bytes(token);
        let text = &text[1..text.len() - 1];
        self.expect(Tok::Eol, "expected end of directive")?;
        if self.out.is_text() {
            self.out.raw(b"\t.ident\t");
            self.out.quoted(text);
            self.out.eol();
            return Ok(());
        }
        let comment = Section {
            entsize: 1,
            ..Section::new(".comment", types::PROGBITS, flags::MERGE | flags::STRINGS)
        };
        let fresh = !self.section_names.contains_key(".comment");
        let comment = self.section(comment);
        self.push_section();
        self.switch_section(comment, 0);
        if fresh {
            self.emit_bytes(&[0]);
        }
        self.emit_bytes(text);
        self.emit_bytes(&[0]);
        self.pop_section();
        Ok(())
    }

    /// `.version "string"`: a note
    pub(super) fn version(&mut self) -> Res {
        if self.lex.kind() != Tok::Str {
            return Err(self.token_error("expected string"));
        }
        let token = self.lex.bump();
        let text = self.lex.bytes(token);
        let text = &text[1..text.len() - 1];
        let note = self.section(Section::new(".note", types::NOTE, 0));
        self.push_section();
        self.switch_section(note, 0);
        self.emit_int(text.len() as i64 + 1, 4);
        self.emit_int(0, 4);
        self.emit_int(1, 4);
        self.emit_bytes(text);
        self.emit_int(0, 1);
        self.emit_align(4, Some(0), 1, 0);
        self.pop_section();
        Ok(())
    }

    /// `.bundle_align_mode n`
    pub(super) fn bundle_align_mode(&mut self) -> Res {
        let at = self.lex.here();
        let power = self.absolute()?;
        self.eol()?;
        if !(0..=30).contains(&power) {
            return Err(Diag::error(at, "invalid bundle alignment size (expected between 0 and 30)"));
        }
        self.out.line(format_args!("\t.bundle_align_mode {power}"));
        Ok(())
    }

    /// `.bundle_lock [align_to_end]`
    pub(super) fn bundle_lock(&mut self) -> Res {
        let at = self.lex.here();
        let mut to_end = false;
        if !self.lex.eat(Tok::Eol) {
            if self.identifier() != Some("align_to_end") {
                return Err(Diag::error(at, "invalid option for '.bundle_lock' directive"));
            }
            self.eol()?;
            to_end = true;
        }
        self.out.line(format_args!("\t.bundle_lock{}", if to_end { " align_to_end" } else { "" }));
        Ok(())
    }

    /// `.bundle_unlock`
    pub(super) fn bundle_unlock(&mut self) -> Res {
        self.eol()?;
        self.out.line(format_args!("\t.bundle_unlock"));
        Ok(())
    }

    /// `.pseudoprobe guid index type attributes [discriminator] [@ guid:id]… function`
    pub(super) fn pseudo_probe(&mut self) -> Res {
        let number = |p: &mut Self| {
            let token = p.expect(Tok::Int, "unexpected token in '.pseudoprobe' directive")?;
            Ok::<_, Diag>(p.lex.int_value(token))
        };
        let mut line = b"\t.pseudoprobe\t".to_vec();
        for i in 0..4 {
            if i != 0 {
                line.push(b' ');
            }
            let value = number(self)?;
            line.extend_from_slice(value.to_string().as_bytes());
            // A set bit 1 of the attributes says that a discriminator follows.
            if i == 3 && value & 4 != 0 {
                let discriminator = number(self)?;
                if discriminator != 0 {
                    line.push(b' ');
                    write_int(discriminator as i64, &mut line);
                }
            }
        }
        while self.lex.eat(Tok::At) {
            let mut site = [0u64; 2];
            for (i, value) in site.iter_mut().enumerate() {
                if self.lex.kind() == Tok::Int {
                    *value = number(self)?;
                }
                if i == 0 {
                    self.lex.eat(Tok::Colon);
                }
            }
            line.extend_from_slice(format!(" @ {}:{}", site[0], site[1]).as_bytes());
        }
        let name = self.expect_identifier("unexpected token in '.pseudoprobe' directive")?;
        self.eol()?;
        line.push(b' ');
        line.extend_from_slice(name.as_bytes());
        self.out.raw(&line);
        if self.out.is_text() {
            self.out.eol();
        }
        Ok(())
    }
}
