//! Metadata blocks: YAML between two directives, checked, and printed or stored as LLVM does it.

use super::{emit, u32_value};
use crate::lex::{Lexer, Tok};
use crate::options::Os;
use crate::parser::Parser;
use crate::source::{Diag, Span};
use wavemill_object::elf;
use wavemill_object::metadata::{Error, Location, Value, from_yaml, locate, msgpack, schema, to_yaml, v2};

/// The text of a block and where it starts.
struct Text<'a> {
    yaml: String,
    lines: Vec<&'a [u8]>,
    start: Span,
}

/// Reads the text up to the line that holds `end`; the cursor is left after that word.
fn text<'a>(p: &mut Parser<'a>, begin: Span, end: &str) -> Result<Text<'a>, Diag> {
    if !p.lex.at_eol() {
        return Err(p.token_error("expected newline"));
    }
    let source = p.lex.source();
    let start = p.lex.offset() as usize;
    let mut at = start;
    let mut lines: Vec<&'a [u8]> = Vec::new();
    while at < source.len() {
        let rest = &source[at..];
        let length = rest.iter().position(|b| *b == b'\n').map_or(rest.len(), |i| i + 1);
        let line = &rest[..length];
        let indent = line.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let after = line[indent..].strip_prefix(end.as_bytes());
        if after.is_some_and(|a| !a.first().is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')) {
            let buffer = p.lex.buffer();
            p.lex = Lexer::at(source, buffer, (at + indent) as u32);
            p.lex.bump();
            let mut yaml = String::new();
            for line in &lines {
                yaml.push_str(&String::from_utf8_lossy(without_comment(line)));
            }
            let start = Span { buffer, start: start as u32, end: at as u32 };
            return Ok(Text { yaml, lines, start });
        }
        lines.push(line);
        at += length;
    }
    p.lex.skip_to_eol();
    while p.lex.kind() != Tok::Eof {
        p.lex.bump();
    }
    Err(Diag::error(begin, format!("expected directive {end} not found")))
}

/// A line up to an assembler comment: `;` after a space and outside quotes. (YAML's own `#` is left to YAML.)
fn without_comment(line: &[u8]) -> &[u8] {
    if !line.contains(&b';') {
        return line;
    }
    let mut quote = None;
    for (i, &byte) in line.iter().enumerate() {
        match (byte, quote) {
            (b'\'' | b'"', None) => quote = Some(byte),
            (b'\'' | b'"', Some(open)) if open == byte => quote = None,
            (b';', None) if i == 0 || line[i - 1].is_ascii_whitespace() => return &line[..i],
            _ => {}
        }
    }
    line
}

impl Text<'_> {
    /// The place of an error in the source.
    fn locate(&self, error: &Error) -> Span {
        let (line, column) = match &error.place {
            Location::Line(line, column) => (*line, *column),
            Location::Path(path) => match locate(&self.yaml, path) {
                Some(place) => place,
                None => return self.start,
            },
            Location::Offset(_) => return self.start,
        };
        let before: usize = self.lines.iter().take(line - 1).map(|l| l.len()).sum();
        let within = self.lines.get(line - 1).map_or(0, |l| (column - 1).min(l.len()));
        let at = (self.start.start as usize + before + within).min(self.start.end as usize) as u32;
        Span { start: at, end: at, ..self.start }
    }

    fn error(&self, p: &Parser<'_>, what: &str, error: &Error) -> Diag {
        // LLVM's complaint is about the end of the block, the note says what and where.
        let message = match error.place {
            Location::Line(..) => error.message.clone(),
            _ => error.to_string(),
        };
        let note = Diag::note(self.locate(error), message);
        Diag::error(p.lex.here(), format!("invalid {what} metadata")).with_note(note)
    }
}

/// `.amdgpu_metadata`: code object v3 and later.
pub(super) fn hsa(p: &mut Parser<'_>, begin: Span) -> Result<(), Diag> {
    let text = text(p, begin, ".end_amdgpu_metadata")?;
    let mut document = from_yaml(&text.yaml).map_err(|e| text.error(p, "HSA", &e))?;
    schema::verify(&mut document).map_err(|e| text.error(p, "HSA", &e))?;
    let version = document.get("amdhsa.version").and_then(Value::as_array);
    if let Some([Value::UInt(1), Value::UInt(minor @ 0..=3)]) = version {
        p.amd.implied_version = Some(3 + *minor as u8);
    }
    if p.out.is_text() {
        let yaml = to_yaml(&document, false);
        p.out.line(format_args!("\t.amdgpu_metadata\n{yaml}\n\t.end_amdgpu_metadata"));
    } else {
        emit::note(p, elf::NOTE_NAME_V3, elf::NT_AMDGPU_METADATA, &msgpack::write(&document));
    }
    Ok(())
}

/// `.amd_amdgpu_hsa_metadata`: code object v2.
pub(super) fn hsa_v2(p: &mut Parser<'_>, begin: Span) -> Result<(), Diag> {
    let text = text(p, begin, ".end_amd_amdgpu_hsa_metadata")?;
    let document = from_yaml(&text.yaml).map_err(|e| text.error(p, "HSA", &e))?;
    let yaml = v2::to_text(&document).map_err(|e| text.error(p, "HSA", &e))?;
    p.amd.implied_version = Some(2);
    if p.out.is_text() {
        p.out.line(format_args!("\t.amd_amdgpu_hsa_metadata\n{yaml}\n\t.end_amd_amdgpu_hsa_metadata"));
    } else {
        emit::note(p, elf::NOTE_NAME_V2, elf::NT_AMD_HSA_METADATA, yaml.as_bytes());
    }
    Ok(())
}

/// `.amdgpu_pal_metadata`: written at the end of the source.
pub(super) fn pal(p: &mut Parser<'_>, begin: Span) -> Result<(), Diag> {
    let text = text(p, begin, ".end_amdgpu_pal_metadata")?;
    let mut pal = std::mem::take(&mut p.amd.pal);
    let result = pal.set_from_yaml(&text.yaml);
    p.amd.pal = pal;
    result.map_err(|e| text.error(p, "PAL", &e))
}

/// `.amd_amdgpu_pal_metadata register, value, …`: the old form.
pub(super) fn pal_pairs(p: &mut Parser<'_>, begin: Span) -> Result<(), Diag> {
    const NAME: &str = ".amd_amdgpu_pal_metadata";
    if p.options.os != Os::AmdPal {
        return Err(Diag::error(begin, format!("{NAME} directive is not available on non-amdpal OSes")));
    }
    let mut pairs = Vec::new();
    loop {
        let register = u32_value(p)?;
        if !p.lex.eat(Tok::Comma) {
            return Err(p.token_error(format!("expected an even number of values in {NAME}")));
        }
        pairs.push((register, u32_value(p)?));
        if !p.lex.eat(Tok::Comma) {
            break;
        }
    }
    p.amd.pal.set_legacy(&pairs);
    Ok(())
}
