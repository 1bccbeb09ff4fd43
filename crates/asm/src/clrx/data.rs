//! Directives that are not about the container: data, symbols, files, messages.

use super::expr::{Expr, SectionId, Value, float};
use super::macros::REPETITIONS;
use super::text::Cursor;
use super::{Assembler, ExprError, Fixup, MAX_SECTION, Patch, Res, What, wrong};
use crate::parser::files;
use crate::source::{Diag, Origin};

/// What fills gaps in code: `s_nop 0`.
const NOP: [u8; 4] = 0xbf80_0000u32.to_le_bytes();

/// Directives without meaning here, which CLRX reads over as well.
const IGNORED: [&str; 8] = [".extern", ".file", ".line", ".ln", ".lflags", ".title", ".sbttl", ".version"];

/// Bytes of the elements of a data directive.
fn integer_bytes(name: &str) -> Option<u8> {
    Some(match name {
        ".byte" => 1,
        ".short" | ".hword" | ".2byte" => 2,
        ".int" | ".long" | ".word" | ".4byte" => 4,
        ".quad" | ".8byte" => 8,
        ".octa" => 16,
        _ => return None,
    })
}

impl Assembler<'_> {
    /// Does what a directive says.
    pub(super) fn directive(&mut self, name: &str, c: &mut Cursor<'_>, at: usize) -> Res {
        if let Some(bytes) = integer_bytes(name) {
            return self.integers(bytes, c);
        }
        if REPETITIONS.contains(&name) {
            return self.repeat(name, c);
        }
        if IGNORED.contains(&name) {
            return Ok(());
        }
        match name {
            ".macro" => self.define_macro(c),
            ".half" | ".float" | ".single" | ".double" => self.floats(name, c),
            ".ascii" | ".asciz" | ".string" | ".string16" | ".string32" | ".string64" => {
                self.strings(name, c)
            }
            ".fill" | ".fillq" => self.fill(name, c, at),
            ".skip" | ".space" => {
                let count = self.number_in(c, 0, MAX_SECTION as i64)? as usize;
                let value = if c.eat(",") { self.number(c)? as u8 } else { 0 };
                self.end(c)?;
                self.room(count, at)?;
                self.put(&vec![value; count], at)
            }
            ".org" => {
                let to = self.context().parse(c)?;
                if c.eat(",") {
                    self.number(c)?;
                }
                self.end(c)?;
                self.move_to(&to, at)
            }
            ".align" | ".balign" | ".balignw" | ".balignl" | ".p2align" => self.align(name, c, at),
            ".set" | ".equ" | ".equiv" | ".eqv" => {
                let symbol = self.name(c)?.to_owned();
                self.comma(c)?;
                if name != ".eqv" {
                    return self.assign(&symbol, c, at, name != ".equiv");
                }
                let value = self.context().parse(c)?;
                self.end(c)?;
                self.scopes.define(&symbol, value, true).or_else(|message| wrong(at, message))
            }
            ".undef" => {
                let symbol = self.name(c)?;
                if !self.scopes.undefine(symbol) {
                    self.warn(at, format!("{symbol} is not defined"));
                }
                self.end(c)
            }
            ".enum" => self.enumerate(c),
            ".offset" | ".struct" => {
                let first = if c.at_end() { 0 } else { self.number(c)? };
                self.offset = Some(first);
                self.end(c)
            }
            ".scope" => {
                let name = c.take_word().to_owned();
                self.scopes.enter(&name);
                self.end(c)
            }
            ".ends" | ".endscope" => match self.scopes.leave() {
                true => self.end(c),
                false => wrong(at, "there is no .scope for this"),
            },
            ".using" | ".unusing" => {
                let start = c.at;
                let path = c.take_word();
                let ok = if name == ".using" { self.scopes.using(path) } else { self.scopes.unusing(path) };
                if ok { self.end(c) } else { wrong(start, format!("there is no scope {path}")) }
            }
            ".exitm" => {
                while let Some(input) = self.inputs.pop() {
                    if input.is_macro {
                        return Ok(());
                    }
                }
                self.ended = true;
                wrong(at, "this is in no macro")
            }
            ".purgem" => {
                let start = c.at;
                let name = self.name(c)?;
                let key = if self.macro_case { name.to_ascii_lowercase() } else { name.to_owned() };
                match self.macros.remove(&key) {
                    Some(_) => self.end(c),
                    None => wrong(start, format!("there is no macro {name}")),
                }
            }
            ".altmacro" | ".noaltmacro" => {
                self.alternate = name == ".altmacro";
                self.end(c)
            }
            ".macrocase" | ".nomacrocase" => {
                self.macro_case = name == ".macrocase";
                self.end(c)
            }
            ".include" | ".incbin" => self.include(name, c, at),
            ".print" | ".warning" | ".error" => {
                let text = self.string(c)?;
                self.end(c)?;
                let text = String::from_utf8_lossy(&text).into_owned();
                match name {
                    ".print" => self.printed.extend(format!("{text}\n").bytes()),
                    ".warning" => self.warn(at, text),
                    _ => return wrong(at, text),
                }
                Ok(())
            }
            ".err" | ".fail" => wrong(at, "the source says that this is an error"),
            ".abort" => {
                self.ended = true;
                wrong(at, "the source ends the assembly here")
            }
            ".end" => {
                self.ended = true;
                Ok(())
            }
            ".global" | ".globl" | ".local" | ".weak" | ".size" => {
                wrong(at, "containers of this format have symbols for kernels only")
            }
            ".rawcode" | ".amd" | ".amd3" | ".gallium" | ".rocm" => {
                wrong(at, format!("{name} is another format of CLRX; .amdcl2 is the one that is made here"))
            }
            _ => self.format_directive(name, c, at),
        }
    }

    /// Whether so many bytes more are too many.
    fn room(&self, count: usize, at: usize) -> Res {
        let used = self.current.map_or(0, |s| self.sections[s].bytes.len());
        match count <= MAX_SECTION.saturating_sub(used) {
            true => Ok(()),
            false => wrong(at, format!("a section may have {MAX_SECTION} bytes")),
        }
    }

    fn integers(&mut self, size: u8, c: &mut Cursor<'_>) -> Res {
        if let Some(offset) = &mut self.offset {
            *offset += i64::from(size);
            return Ok(());
        }
        while !c.at_end() {
            let at = c.at;
            let value = self.context().parse(c)?;
            match value {
                Expr::Known(Value::Number(n)) => {
                    let mut bytes = i128::from(n).to_le_bytes();
                    if size == 16 && n < 0 {
                        // Numbers have 64 bits; what is above them is zero.
                        bytes[8..].fill(0);
                    }
                    self.put(&bytes[..size.into()], at)?;
                }
                later => {
                    self.later(size.min(8), later, at)?;
                    if size == 16 {
                        self.put(&[0; 8], at)?;
                    }
                }
            }
            if !c.eat(",") {
                break;
            }
        }
        self.end(c)
    }

    /// Bytes whose value is not known yet.
    fn later(&mut self, size: u8, expr: Expr, at: usize) -> Res {
        let span = self.span(at);
        let section: SectionId = match self.current {
            Some(section) => section,
            None => return wrong(at, "this must be in a section: open a kernel or data first"),
        };
        let offset = self.sections[section].bytes.len();
        self.fixups.push(Fixup { section, offset, kind: Patch::Bytes(size), expr, span });
        self.put(&[0; 8][..size.into()], at)
    }

    fn floats(&mut self, name: &str, c: &mut Cursor<'_>) -> Res {
        while !c.at_end() {
            let at = c.at;
            let value = match float(c) {
                Some((text, _, len)) => {
                    let value: Option<f64> = text.parse().ok();
                    c.skip(len);
                    value
                        .ok_or_else(|| ExprError { at, message: "this is no floating-point number".into() })?
                }
                None => self.number(c)? as f64,
            };
            match name {
                ".half" => self.put(&super::inst::half_bits(value).to_le_bytes(), at)?,
                ".double" => self.put(&value.to_le_bytes(), at)?,
                _ => self.put(&(value as f32).to_le_bytes(), at)?,
            }
            if !c.eat(",") {
                break;
            }
        }
        self.end(c)
    }

    fn strings(&mut self, name: &str, c: &mut Cursor<'_>) -> Res {
        let width = match name {
            ".string16" => 2,
            ".string32" => 4,
            ".string64" => 8,
            _ => 1,
        };
        while !c.at_end() {
            let at = c.at;
            let mut text = self.string(c)?;
            if name != ".ascii" {
                text.push(0);
            }
            let wide: Vec<u8> =
                text.iter().flat_map(|b| u64::from(*b).to_le_bytes().into_iter().take(width)).collect();
            self.put(&wide, at)?;
            if !c.eat(",") {
                break;
            }
        }
        self.end(c)
    }

    /// `.fill count[, size[, value]]`.
    fn fill(&mut self, name: &str, c: &mut Cursor<'_>, at: usize) -> Res {
        let count = self.number_in(c, 0, MAX_SECTION as i64)? as usize;
        let size = if c.eat(",") { self.number_in(c, 0, 8)? as usize } else { 1 };
        let mut value = if c.eat(",") { self.number(c)? } else { 0 };
        self.end(c)?;
        if name == ".fill" {
            // The value has 32 bits.
            value = i64::from(value as u32);
        }
        self.room(count.saturating_mul(size), at)?;
        let bytes = value.to_le_bytes()[..size].repeat(count);
        self.put(&bytes, at)
    }

    fn align(&mut self, name: &str, c: &mut Cursor<'_>, at: usize) -> Res {
        let n = self.number_in(c, 0, if name == ".p2align" { 24 } else { 1 << 24 })?;
        let align = if name == ".p2align" { 1usize << n } else { n.max(1) as usize };
        if !align.is_power_of_two() {
            return wrong(at, format!("{align} is no power of two"));
        }
        let mut value = None;
        let mut most = usize::MAX;
        if c.eat(",") {
            if c.peek() != b',' {
                value = Some(self.number(c)?);
            }
            if c.eat(",") {
                most = self.number_in(c, 0, 1 << 30)? as usize;
            }
        }
        self.end(c)?;
        if let Some(offset) = &mut self.offset {
            *offset = (*offset as u64).next_multiple_of(align as u64) as i64;
            return Ok(());
        }
        let Some(section) = self.current else { return wrong(at, "this must be in a section") };
        let len = self.sections[section].bytes.len();
        let gap = len.next_multiple_of(align) - len;
        if gap > most {
            return Ok(());
        }
        self.sections[section].align = self.sections[section].align.max(align as u64);
        let width = match name {
            ".balignw" => 2,
            ".balignl" => 4,
            _ => 1,
        };
        let code = matches!(self.sections[section].what, What::Code(_));
        let pattern = match value {
            Some(value) => value.to_le_bytes()[..width].to_vec(),
            None if code && len.is_multiple_of(4) && gap.is_multiple_of(4) => NOP.to_vec(),
            None => vec![0],
        };
        let bytes: Vec<u8> = pattern.into_iter().cycle().take(gap).collect();
        self.put(&bytes, at)
    }

    /// Goes on to a place of the current section.
    pub(super) fn move_to(&mut self, to: &Expr, at: usize) -> Res {
        let Some(section) = self.current else { return wrong(at, "this must be in a section") };
        let len = self.sections[section].bytes.len();
        let to = match to {
            Expr::Known(Value::Place(s, n)) if *s == section => *n,
            Expr::Known(Value::Number(n)) => *n,
            _ => return wrong(at, "a place in this section that is known by now is wanted"),
        };
        let Some(gap) = usize::try_from(to).ok().and_then(|to| to.checked_sub(len)) else {
            return wrong(at, format!("{to} is before the current place, {len}"));
        };
        self.room(gap, at)?;
        self.put(&vec![0; gap], at)
    }

    /// `.enum [>first,] a, b, …`.
    fn enumerate(&mut self, c: &mut Cursor<'_>) -> Res {
        if c.eat(">") {
            self.enumeration = self.number(c)?;
            c.eat(",");
        }
        while !c.at_end() {
            let at = c.at;
            let name = self.name(c)?.to_owned();
            let value = Expr::Known(Value::Number(self.enumeration));
            self.scopes.define(&name, value, false).or_else(|message| wrong(at, message))?;
            self.enumeration += 1;
            if !c.eat(",") {
                break;
            }
        }
        self.end(c)
    }

    /// `.include "file"`, `.incbin "file"[, offset[, count]]`.
    fn include(&mut self, name: &str, c: &mut Cursor<'_>, at: usize) -> Res {
        let path = String::from_utf8_lossy(&self.string(c)?).into_owned();
        let mut window = [0, i64::MAX];
        for n in &mut window {
            if c.eat(",") {
                *n = self.number_in(c, 0, i64::MAX)?;
            }
        }
        self.end(c)?;
        if self.inputs.len() > super::MAX_DEPTH {
            return wrong(at, "files include each other");
        }
        let (options, what) = (self.options, name.trim_start_matches('.'));
        let found =
            files::read(what, &path, &options.include_paths, options.confine.as_deref(), super::MAX_BYTES);
        let bytes = match found {
            Ok(bytes) => bytes,
            Err(message) => return wrong(at, message),
        };
        if name == ".include" {
            if self.sources.total_bytes() + bytes.len() > super::MAX_BYTES {
                return wrong(at, format!("{path}: this makes too much text"));
            }
            self.push_input(&path, bytes, Origin::Include(self.statement), false);
            return Ok(());
        }
        let start = usize::try_from(window[0]).unwrap_or(usize::MAX).min(bytes.len());
        let end = start.saturating_add(usize::try_from(window[1]).unwrap_or(usize::MAX)).min(bytes.len());
        self.put(&bytes[start..end], at)
    }

    /// Puts everything in that was not known.
    pub(super) fn resolve(&mut self) {
        for fixup in std::mem::take(&mut self.fixups) {
            if let Err(message) = self.fill_in(&fixup) {
                self.diagnostics.push(Diag::error(fixup.span, message));
            }
        }
    }

    fn fill_in(&mut self, fixup: &Fixup) -> Result<(), String> {
        let value = fixup.expr.value(&self.scopes, 0)?;
        let section = fixup.section;
        let bytes: Vec<u8> = match (fixup.kind, value) {
            (Patch::Branch, Value::Place(s, to)) if s == section => {
                let distance = to.wrapping_sub(fixup.offset as i64 + 4);
                if distance % 4 != 0 {
                    return Err("the target of a branch is a multiple of 4 bytes away".into());
                }
                let words = i16::try_from(distance / 4);
                let words = words.map_err(|_| "the target is too far away for a branch".to_owned())?;
                words.to_le_bytes().to_vec()
            }
            (Patch::Branch, _) => return Err("the target of a branch is a label of the same kernel".into()),
            (Patch::Simm16, Value::Number(n)) => {
                if !(-0x8000..=0xffff).contains(&n) {
                    return Err(format!("{n} does not fit into 16 bits"));
                }
                (n as u16).to_le_bytes().to_vec()
            }
            (Patch::Bytes(size), Value::Number(n)) => n.to_le_bytes()[..size.into()].to_vec(),
            (Patch::Bytes(4), Value::Half(s, n, shift)) => {
                return self.address(fixup, s, n, if shift == 0 { 1 } else { 2 });
            }
            (Patch::Bytes(4), Value::Place(s, n)) => return self.address(fixup, s, n, 1),
            (Patch::Bytes(8), Value::Place(s, n)) => return self.address(fixup, s, n, 3),
            _ => return Err("an address does not fit here, nor do registers".into()),
        };
        let room = &mut self.sections[section].bytes[fixup.offset..];
        room[..bytes.len()].copy_from_slice(&bytes);
        Ok(())
    }
}
