//! Section directives.

use super::{Parser, Res, SectionPair};
use crate::expr::Expr;
use crate::ids::Position;
use crate::ids::SectionId;
use crate::lex::Tok;
use crate::section::{Section, TYPE_NAMES, flags, types, well_known};
use crate::source::{Diag, Span};
use crate::symbol::SymType;

impl<'a> Parser<'a> {
    /// The sections there are before the first statement.
    pub(crate) fn init_sections(&mut self) {
        let text = self.section(Section::new(".text", types::PROGBITS, flags::ALLOC | flags::EXECINSTR));
        self.switch_section(text, 0);
        if !self.out.is_text() {
            self.emit_align(4, None, 1, 0);
        }
    }

    /// Finds or makes a section; one with the same name, group and unique number is the same section.
    pub fn section(&mut self, section: Section) -> SectionId {
        let known = self.section_names.get(&section.name).into_iter().flatten();
        for &id in known {
            let other = &self.sections[id.0 as usize];
            if other.unique == section.unique
                && other.group.map(|g| g.0) == section.group.map(|g| g.0)
                && (section.linked.is_none() || other.linked == section.linked)
            {
                return id;
            }
        }
        let id = SectionId(self.sections.len() as u32);
        self.section_names.entry(section.name.clone()).or_default().push(id);
        // The section's own symbol; the first section of a name has it.
        let symbol = self.symbols.get_or_insert(&section.name);
        if self.symbols[symbol].is_undefined() {
            self.symbols[symbol].place = Some(Position { section: id, fragment: 0, offset: 0 });
            self.symbols[symbol].ty = SymType::Section;
        }
        let mut section = Section { begin: Some(symbol), ..section };
        if section.unique.is_none()
            && section.group.is_none()
            && section.linked.is_none()
            && let Some((ty, flags, entsize)) = well_known(&section.name)
        {
            (section.ty, section.flags, section.entsize) = (ty, flags, entsize);
        }
        self.sections.push(section);
        if let Some(object) = &mut self.out.object {
            object.add_section(id);
        }
        id
    }

    /// The attributes of a section.
    pub fn section_info(&self, id: SectionId) -> &Section {
        &self.sections[id.0 as usize]
    }

    /// The current section and subsection.
    pub fn current_section(&self) -> Option<(SectionId, u32)> {
        self.section_stack.last().and_then(|pair| pair.current)
    }

    pub(super) fn in_code(&self) -> bool {
        self.current_section()
            .is_some_and(|(id, _)| self.sections[id.0 as usize].flags & flags::EXECINSTR != 0)
    }

    /// Makes a section the current one and says so in the output unless it was.
    pub fn switch_section(&mut self, id: SectionId, subsection: u32) {
        let Some(pair) = self.section_stack.last_mut() else { return };
        let current = pair.current;
        pair.previous = current;
        if current != Some((id, subsection)) {
            pair.current = Some((id, subsection));
            self.section_changed(id, subsection);
        }
    }

    fn section_changed(&mut self, id: SectionId, subsection: u32) {
        match &mut self.out.object {
            Some(object) => object.switch_section(id, subsection),
            None => {
                let section = &self.sections[id.0 as usize];
                section.print_switch(&self.symbols, subsection, &mut self.out.buf);
            }
        }
    }

    /// Remembers the current section.
    pub fn push_section(&mut self) {
        let pair = self.section_stack.last().copied().unwrap_or_default();
        self.section_stack.push(SectionPair { ..pair });
    }

    /// Goes back to the section remembered last; false when there is none.
    pub fn pop_section(&mut self) -> bool {
        let [.., below, top] = &*self.section_stack else { return false };
        let (old, new) = (top.current, below.current);
        self.section_stack.pop();
        if let Some((id, subsection)) = new
            && old != new
        {
            self.section_changed(id, subsection);
        }
        true
    }

    /// A subsection number, which must be known.
    fn subsection_number(&mut self, expr: Expr, at: Span) -> Res<u32> {
        let value = self.eval(&expr).ok_or_else(|| Diag::error(at, "cannot evaluate subsection number"))?;
        if !(0..=i64::from(i32::MAX)).contains(&value) {
            let message = format!("subsection number {value} is not within [0,2147483647]");
            return Err(Diag::error(at, message));
        }
        Ok(value as u32)
    }

    /// `.text`, `.data` … with an optional subsection
    pub(super) fn section_switch(&mut self, name: &str, ty: u32, flags: u32) -> Res {
        let at = self.lex.here();
        let mut subsection = Expr::Const(0);
        if self.lex.kind() != Tok::Eol {
            subsection = self.expr()?;
        }
        self.lex.bump();
        let number = self.subsection_number(subsection, at)?;
        let id = self.section(Section::new(name, ty, flags));
        self.switch_section(id, number);
        Ok(())
    }

    /// `.subsection n`
    pub(super) fn subsection(&mut self) -> Res {
        let at = self.lex.here();
        let mut subsection = Expr::Const(0);
        if self.lex.kind() != Tok::Eol {
            subsection = self.expr()?;
        }
        self.expect(Tok::Eol, "expected end of directive")?;
        let number = self.subsection_number(subsection, at)?;
        if let Some((id, _)) = self.current_section() {
            self.switch_section(id, number);
        }
        Ok(())
    }

    pub(super) fn push_section_directive(&mut self) -> Res {
        if self.section_stack.len() > 10_000 {
            return Err(Diag::error(self.statement, "sections are nested too deeply"));
        }
        self.push_section();
        let result = self.section_directive(true);
        if result.is_err() {
            self.pop_section();
        }
        result
    }

    pub(super) fn pop_section_directive(&mut self) -> Res {
        if !self.pop_section() {
            return Err(self.token_error(".popsection without corresponding .pushsection"));
        }
        Ok(())
    }

    pub(super) fn previous_section(&mut self) -> Res {
        match self.section_stack.last().and_then(|pair| pair.previous) {
            Some((id, subsection)) => {
                self.switch_section(id, subsection);
                Ok(())
            }
            None => Err(self.token_error(".previous without corresponding .section")),
        }
    }

    /// A section's name may have characters that names do not have, such as `-`.
    fn section_name(&mut self) -> Res<&'a str> {
        if self.lex.kind() == Tok::Str {
            return self.expect_identifier("expected identifier");
        }
        let first = self.lex.peek();
        let mut end = first.start;
        while !matches!(self.lex.kind(), Tok::Comma | Tok::Eol | Tok::Eof) {
            if self.lex.kind() == Tok::Error {
                return Err(Diag::error(self.lex.error_span(), self.lex.error_message()));
            }
            let token = self.lex.bump();
            end = token.end;
            if self.lex.peek().start != end {
                break;
            }
        }
        if end == first.start {
            return Err(self.token_error("expected identifier"));
        }
        let text = &self.lex.source()[first.start as usize..end as usize];
        std::str::from_utf8(text).map_err(|_| Diag::error(self.lex.span(first), "expected identifier"))
    }

    /// `.section name, "flags", @type, …` and the same after `.pushsection`
    pub(super) fn section_directive(&mut self, push: bool) -> Res {
        let at = self.statement;
        let name = self.section_name()?;
        let mut section = Section::new(name, types::PROGBITS, default_flags(name));
        let mut type_name = None;
        let mut said = 0;
        let mut subsection = Expr::Const(0);
        let mut subsection_at = at;
        let mut last_group = false;
        'arguments: {
            if !self.lex.eat(Tok::Comma) {
                break 'arguments;
            }
            if push && self.lex.kind() != Tok::Str {
                subsection_at = self.lex.here();
                subsection = self.expr()?;
                if !self.lex.eat(Tok::Comma) {
                    break 'arguments;
                }
            }
            said = match self.lex.kind() {
                Tok::Str => {
                    let token = self.lex.bump();
                    let text = self.lex.bytes(token);
                    parse_flags(&text[1..text.len() - 1], &mut last_group)
                }
                Tok::Hash => self.sun_flags(),
                _ => return Err(self.token_error("expected string")),
            }
            .ok_or_else(|| self.token_error("unknown flag"))?;
            section.flags |= said;
            let grouped = section.flags & flags::GROUP != 0;
            if grouped && last_group {
                return Err(self.token_error(
                    "Section cannot specifiy a group name while also acting as a member of the last group",
                ));
            }
            type_name = self.section_type()?;
            self.section_extras(&mut section, type_name.is_some())?;
        }
        self.expect(Tok::Eol, "expected end of directive")?;
        section.ty = match type_name {
            None => default_type(name),
            Some(type_name) => match TYPE_NAMES.iter().find(|(n, _)| *n == type_name) {
                Some((n, ty)) if *n != "llvm_bb_addr_map_v0" => *ty,
                _ => parse_u32(type_name).ok_or_else(|| self.token_error("unknown section type"))?,
            },
        };
        if last_group
            && let Some((current, _)) = self.current_section()
            && let Some(group) = self.sections[current.0 as usize].group
        {
            section.group = Some(group);
            section.flags |= flags::GROUP;
        }
        let number = self.subsection_number(subsection, subsection_at)?;
        let wanted = section.clone();
        let id = self.section(section);
        self.switch_section(id, number);
        self.check_section(id, &wanted, at, type_name.is_some(), said);
        Ok(())
    }

    /// A section that was mentioned before must not change.
    fn check_section(&mut self, id: SectionId, wanted: &Section, at: Span, typed: bool, said: u32) {
        let (ty, flags, entsize) = {
            let section = &self.sections[id.0 as usize];
            (section.ty, section.flags, section.entsize)
        };
        let name = &wanted.name;
        if typed && ty != wanted.ty {
            self.error(at, format!("changed section type for {name}, expected: 0x{ty:X}"));
        }
        let explicit = said != 0 || wanted.entsize != 0 || typed;
        if explicit && flags != wanted.flags {
            self.error(at, format!("changed section flags for {name}, expected: 0x{flags:X}"));
        }
        if explicit && entsize != wanted.entsize {
            self.error(at, format!("changed section entsize for {name}, expected: {entsize}"));
        }
    }

    /// Flags in Solaris' style: `#alloc, #write`.
    fn sun_flags(&mut self) -> Option<u32> {
        let mut result = 0;
        while self.lex.eat(Tok::Hash) {
            result |= match self.lex.ident() {
                "alloc" => flags::ALLOC,
                "execinstr" => flags::EXECINSTR,
                "write" => flags::WRITE,
                "tls" => flags::TLS,
                _ => return None,
            };
            self.lex.bump();
            if !self.lex.eat(Tok::Comma) {
                break;
            }
        }
        Some(result)
    }

    fn section_type(&mut self) -> Res<Option<&'a str>> {
        if !self.lex.eat(Tok::Comma) {
            return Ok(None);
        }
        match self.lex.kind() {
            Tok::Str => {}
            Tok::At | Tok::Percent => _ = self.lex.bump(),
            _ => return Err(self.token_error("expected '@<type>', '%<type>' or \"<type>\"")),
        }
        if self.lex.kind() == Tok::Int {
            let token = self.lex.bump();
            return Ok(Some(self.lex.text(token)));
        }
        self.expect_identifier("expected identifier").map(Some)
    }

    /// Entry size, linked-to symbol, group, unique number: whatever the flags ask for.
    fn section_extras(&mut self, section: &mut Section, typed: bool) -> Res {
        let mergeable = section.flags & flags::MERGE != 0;
        let grouped = section.flags & flags::GROUP != 0;
        if !typed {
            if mergeable {
                return Err(self.token_error("Mergeable section must specify the type"));
            }
            if grouped {
                return Err(self.token_error("Group section must specify the type"));
            }
            if self.lex.kind() != Tok::Eol {
                return Err(self.token_error("expected end of directive"));
            }
        }
        if mergeable {
            self.expect(Tok::Comma, "expected the entry size")?;
            let size = self.absolute()?;
            if size <= 0 {
                return Err(self.token_error("entry size must be positive"));
            }
            section.entsize = size as u32;
        }
        if section.flags & flags::LINK_ORDER != 0 {
            self.expect(Tok::Comma, "expected linked-to symbol")?;
            let at = self.lex.here();
            if self.lex.kind() == Tok::Int && self.lex.text(self.lex.peek()) == "0" {
                self.lex.bump();
            } else {
                let name = self.expect_identifier("invalid linked-to symbol")?;
                let symbol = self.symbols.lookup(name).filter(|id| self.symbols.in_section(*id));
                section.linked = Some(symbol.ok_or_else(|| {
                    Diag::error(at, format!("linked-to symbol is not in a section: {name}"))
                })?);
            }
        }
        if grouped {
            self.expect(Tok::Comma, "expected group name")?;
            let name = if self.lex.kind() == Tok::Int {
                let token = self.lex.bump();
                self.lex.text(token)
            } else {
                self.expect_identifier("invalid group name")?
            };
            let mut comdat = false;
            if self.lex.eat(Tok::Comma) {
                if self.expect_identifier("invalid linkage")? != "comdat" {
                    return Err(self.token_error("Linkage must be 'comdat'"));
                }
                comdat = true;
            }
            section.group = Some((self.symbols.get_or_insert(name), comdat));
        }
        if self.lex.eat(Tok::Comma) {
            if self.expect_identifier("expected identifier")? != "unique" {
                return Err(self.token_error("expected 'unique'"));
            }
            self.expect(Tok::Comma, "expected commma")?;
            let unique = self.absolute()?;
            if unique < 0 {
                return Err(self.token_error("unique id must be positive"));
            }
            if unique >= i64::from(u32::MAX) {
                return Err(self.token_error("unique id is too large"));
            }
            section.unique = Some(unique as u32);
        }
        Ok(())
    }
}

fn has_prefix(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn default_flags(name: &str) -> u32 {
    let any = |prefixes: &[&str]| prefixes.iter().any(|p| has_prefix(name, p));
    if any(&[".rodata"]) || name == ".rodata1" {
        flags::ALLOC
    } else if matches!(name, ".fini" | ".init") || any(&[".text"]) {
        flags::ALLOC | flags::EXECINSTR
    } else if name == ".data1" || any(&[".data", ".bss", ".init_array", ".fini_array", ".preinit_array"]) {
        flags::ALLOC | flags::WRITE
    } else if any(&[".tdata", ".tbss"]) {
        flags::ALLOC | flags::WRITE | flags::TLS
    } else {
        0
    }
}

fn default_type(name: &str) -> u32 {
    if name.starts_with(".note") {
        types::NOTE
    } else if has_prefix(name, ".init_array") {
        types::INIT_ARRAY
    } else if has_prefix(name, ".bss") || has_prefix(name, ".tbss") {
        types::NOBITS
    } else if has_prefix(name, ".fini_array") {
        types::FINI_ARRAY
    } else if has_prefix(name, ".preinit_array") {
        types::PREINIT_ARRAY
    } else {
        types::PROGBITS
    }
}

fn parse_u32(text: &str) -> Option<u32> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', b'b' | b'B', ..] => (&text[2..], 2),
        [b'0', b'o', ..] => (&text[2..], 8),
        [b'0', b'0'..=b'9', ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    u32::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))
}

fn parse_flags(text: &[u8], last_group: &mut bool) -> Option<u32> {
    if let Some(number) = std::str::from_utf8(text).ok().and_then(parse_u32) {
        return Some(number);
    }
    let mut result = 0;
    for letter in text {
        result |= match letter {
            b'a' => flags::ALLOC,
            b'e' => flags::EXCLUDE,
            b'x' => flags::EXECINSTR,
            b'w' => flags::WRITE,
            b'o' => flags::LINK_ORDER,
            b'M' => flags::MERGE,
            b'S' => flags::STRINGS,
            b'T' => flags::TLS,
            b'G' => flags::GROUP,
            b'R' => flags::GNU_RETAIN,
            b'?' => {
                *last_group = true;
                0
            }
            _ => return None,
        };
    }
    Some(result)
}
