//! Settling addresses and writing the sections' bytes.

use super::{Address, Content, Object};
use crate::eval::Scope;
use crate::expr::{Expr, Op, Value};
use crate::ids::SectionId;
use crate::ids::SymId;
use crate::number::write_leb128;
use crate::section::{Section, types};
use crate::source::Diag;
use crate::symbol::{Symbol, Symbols};
use wavemill_isa::Target;

/// Bytes all sections together may have.
const MAX_SIZE: u64 = 1 << 30;
/// LEB128 numbers and `.org` depend on addresses that depend on them; more rounds than this and they never settle.
const MAX_ROUNDS: usize = 100;
/// `s_nop 0`, the padding in code.
const S_NOP: [u8; 4] = [0, 0, 0x80, 0xbf];

impl Object {
    /// Lays the object out and fills in what can be known; what cannot becomes relocations. Returns what is wrong.
    pub(crate) fn finish(
        &mut self,
        symbols: &mut Symbols,
        sections: &[Section],
        target: &Target,
    ) -> Vec<Diag> {
        let mut problems = Vec::new();
        self.laid_out = true;
        // The frames' descriptions need the addresses of the code, which in turn need nothing of them.
        self.place_all(symbols, target, &mut problems);
        if !self.frame_sections.is_empty() && problems.is_empty() {
            self.write_frames(symbols, sections);
            self.place_all(symbols, target, &mut problems);
        }
        let total: u64 = self.sections.iter().fold(0, |sum, s| sum.saturating_add(s.size));
        if total > MAX_SIZE {
            problems.push(Diag::global("the sections are larger than 1 GiB"));
        }
        if !problems.is_empty() {
            return problems;
        }
        self.find_addresses(symbols, target, &mut problems);
        for (id, info) in (0..).map(SectionId).zip(sections) {
            self.write_section(id, info, &mut problems);
        }
        self.resolve(symbols, sections, target, &mut problems);
        problems
    }

    fn place_all(&mut self, symbols: &Symbols, target: &Target, problems: &mut Vec<Diag>) {
        // LEB128 numbers only ever grow, so they must not be looked at before everything else has its place.
        for _ in 0..MAX_ROUNDS {
            self.settle(symbols, target, problems);
            if !self.grow_numbers(symbols, target, problems) {
                break;
            }
        }
    }

    /// Places everything but LEB128 numbers, which keep their size.
    fn settle(&mut self, symbols: &Symbols, target: &Target, problems: &mut Vec<Diag>) {
        for _ in 0..MAX_ROUNDS {
            problems.clear();
            if !self.place_fragments(symbols, target, problems) {
                return;
            }
        }
        problems.push(Diag::global("the addresses of the sections do not settle"));
    }

    /// Writes the LEB128 numbers anew; true when one changed.
    fn grow_numbers(&mut self, symbols: &Symbols, target: &Target, problems: &mut Vec<Diag>) -> bool {
        let mut new_numbers = Vec::new();
        let scope = Scope { symbols, target, layout: Some(self) };
        for (s, section) in self.sections.iter().enumerate() {
            for (f, fragment) in section.fragments.iter().enumerate() {
                let Content::Leb { value, signed, span, bytes } = &fragment.content else { continue };
                let Some(value) = known(value, scope) else {
                    let name = if *signed { ".sleb128" } else { ".uleb128" };
                    problems.push(Diag::error(*span, format!("{name} expression is not absolute")));
                    continue;
                };
                let mut new = Vec::new();
                write_leb128(value, *signed, &mut new);
                // Otherwise two that depend on each other could swing for ever.
                pad_leb128(&mut new, bytes.len(), *signed && value < 0);
                if new != *bytes {
                    new_numbers.push((s, f, new));
                }
            }
        }
        let changed = !new_numbers.is_empty();
        for (s, f, new) in new_numbers {
            if let Content::Leb { bytes, .. } = &mut self.sections[s].fragments[f].content {
                *bytes = new;
            }
        }
        changed
    }

    /// One round: gives every fragment its size and offset; true when something moved.
    fn place_fragments(&mut self, symbols: &Symbols, target: &Target, problems: &mut Vec<Diag>) -> bool {
        let mut changed = false;
        for index in 0..self.sections.len() {
            let order: Vec<u32> =
                self.sections[index].subsections.values().flat_map(|list| list.iter().copied()).collect();
            let mut offset = 0u64;
            for id in order {
                let fragment = &self.sections[index].fragments[id as usize];
                changed |= fragment.offset != offset;
                self.sections[index].fragments[id as usize].offset = offset;
                let size = self.fragment_size(index, id, offset, symbols, target, problems);
                let fragment = &mut self.sections[index].fragments[id as usize];
                changed |= fragment.size != size;
                fragment.size = size;
                offset = offset.saturating_add(size);
            }
            self.sections[index].size = offset;
        }
        changed
    }

    fn fragment_size(
        &self,
        section: usize,
        id: u32,
        offset: u64,
        symbols: &Symbols,
        target: &Target,
        problems: &mut Vec<Diag>,
    ) -> u64 {
        let scope = Scope { symbols, target, layout: Some(self) };
        let fragment = &self.sections[section].fragments[id as usize];
        match &fragment.content {
            Content::Data { bytes, .. } | Content::Leb { bytes, .. } => bytes.len() as u64,
            Content::Align { alignment, value, max, .. } => {
                let mut size = offset.wrapping_neg() & (alignment - 1);
                // Code is padded with whole instructions.
                if value.is_none() && !size.is_multiple_of(4) {
                    while !size.is_multiple_of(4) && size < 4 * alignment {
                        size += alignment;
                    }
                }
                if *max != 0 && size > u64::from(*max) { 0 } else { size }
            }
            Content::Fill { count, size, span, .. } => match known(count, scope) {
                None => {
                    problems.push(Diag::error(*span, "expected assembly-time absolute expression"));
                    0
                }
                Some(count) if count < 0 => {
                    problems.push(Diag::error(*span, "invalid number of bytes"));
                    0
                }
                Some(count) => (count as u64).saturating_mul(u64::from(*size)),
            },
            Content::Org { offset: expr, span, .. } => {
                match org_target(self, expr, SectionId(section as u32), scope) {
                    None => {
                        problems.push(Diag::error(*span, "expected assembly-time absolute expression"));
                        0
                    }
                    Some(wanted) => {
                        let size = wanted.wrapping_sub(offset as i64);
                        if !(0..0x4000_0000).contains(&size) {
                            let message = format!("invalid .org offset '{wanted}' (at offset '{offset}')");
                            problems.push(Diag::error(*span, message));
                            0
                        } else {
                            size as u64
                        }
                    }
                }
            }
        }
    }

    fn find_addresses(&mut self, symbols: &Symbols, target: &Target, problems: &mut Vec<Diag>) {
        let scope = Scope { symbols, target, layout: Some(self) };
        let addresses: Vec<Address> = symbols.iter().map(|(id, _)| self.address(id, scope)).collect();
        let mut sizes = vec![0; symbols.len()];
        for (id, symbol) in symbols.iter() {
            if let Some(problem) = unusable_value(symbol, scope) {
                problems.push(problem);
            }
            if let Some(common) = symbol.common {
                sizes[id.0 as usize] = common.size;
            }
            if let Some(size) = &symbol.size {
                match known(size, scope) {
                    Some(size) => sizes[id.0 as usize] = size as u64,
                    // Of a symbol that is elsewhere nothing is written.
                    None if symbol.is_undefined() => {}
                    None => problems.push(Diag::global(format!(
                        "Size expression must be absolute. (symbol '{}')",
                        symbol.name
                    ))),
                }
            }
        }
        self.addresses = addresses;
        self.sizes = sizes;
    }

    /// Where a symbol is, looking through assignments.
    pub(super) fn address(&self, id: SymId, scope: Scope<'_>) -> Address {
        let symbol = &scope.symbols[id];
        if let Some(place) = symbol.place {
            return Address::Section(place.section, self.offset_of(place));
        }
        if symbol.common.is_some() {
            return Address::Common;
        }
        let value = symbol.value.as_ref().and_then(|value| value.value_through_symbols(scope));
        match value.map(|v| (v.a, v.b, v.c)) {
            Some((None, None, c)) => Address::Absolute(c),
            Some((Some((base, _)), None, c)) => match scope.symbols[base].place {
                Some(place) => Address::Section(place.section, self.offset_of(place).wrapping_add(c as u64)),
                None => Address::Undefined,
            },
            _ => Address::Undefined,
        }
    }

    fn write_section(&mut self, id: SectionId, info: &Section, problems: &mut Vec<Diag>) {
        let section = &mut self.sections[id.0 as usize];
        let order: Vec<u32> = section.subsections.values().flat_map(|list| list.iter().copied()).collect();
        let virtual_section = info.ty == types::NOBITS;
        let mut data = Vec::new();
        if !virtual_section {
            data.reserve(section.size as usize);
        }
        let mut nonzero = false;
        for fragment in order.into_iter().map(|f| &section.fragments[f as usize]) {
            let size = fragment.size as usize;
            if virtual_section {
                nonzero |= match &fragment.content {
                    Content::Data { bytes, fixups } => bytes.iter().any(|b| *b != 0) || !fixups.is_empty(),
                    Content::Fill { value, .. } => *value != 0 && size != 0,
                    Content::Org { value, .. } => *value != 0 && size != 0,
                    Content::Align { value, .. } => value.is_some_and(|v| v != 0) && size != 0,
                    Content::Leb { bytes, .. } => bytes.iter().any(|b| *b != 0),
                };
                continue;
            }
            match &fragment.content {
                Content::Data { bytes, .. } | Content::Leb { bytes, .. } => data.extend_from_slice(bytes),
                Content::Org { value, .. } => data.resize(data.len() + size, *value),
                Content::Fill { value, size: unit, .. } => {
                    repeat(&value.to_le_bytes()[..*unit as usize], size, &mut data);
                }
                Content::Align { value: None, .. } => {
                    data.resize(data.len() + size % 4, 0);
                    repeat(&S_NOP, size / 4 * 4, &mut data);
                }
                Content::Align { value: Some(value), size: unit, .. } => {
                    if !size.is_multiple_of(*unit as usize) {
                        let message = format!(
                            "undefined .align directive, value size '{unit}' is not a divisor of padding size \
                             '{size}'"
                        );
                        problems.push(Diag::global(message));
                    }
                    repeat(&value.to_le_bytes()[..*unit as usize], size, &mut data);
                }
            }
        }
        if nonzero {
            let name = &info.name;
            let message = format!("SHT_NOBITS section '{name}' cannot have non-zero initializers");
            problems.push(Diag::global(message));
        }
        section.data = data;
    }

    /// Writes a value's bytes at an offset of a section.
    pub(super) fn patch(&mut self, section: SectionId, offset: u64, bytes: &[u8]) {
        let data = &mut self.sections[section.0 as usize].data;
        if let Some(place) = data.get_mut(offset as usize..offset as usize + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }
}

/// A symbol with a name is written into the symbol table, so its value must be an address or a number.
fn unusable_value(symbol: &Symbol, scope: Scope<'_>) -> Option<Diag> {
    let value = symbol.value.as_ref()?;
    // AMD's functions are worked out where they are used.
    let function = matches!(value, Expr::Tree(tree) if matches!(tree.op, Op::Amd(_)));
    let span = symbol.value_span?;
    if symbol.temporary || function {
        return None;
    }
    match value.value_through_symbols(scope) {
        None => Some(Diag::error(span, "expression could not be evaluated")),
        Some(Value { b: Some((other, _)), .. }) => {
            let name = &scope.symbols[other].name;
            let message = format!("symbol '{name}' could not be evaluated in a subtraction expression");
            Some(Diag::error(span, message))
        }
        Some(_) => None,
    }
}

/// The number an expression comes to, looking through assignments.
fn known(expr: &Expr, scope: Scope<'_>) -> Option<i64> {
    match expr {
        Expr::Const(value) => Some(*value),
        _ => expr.value_through_symbols(scope)?.absolute(),
    }
}

/// The offset `.org` asks for: a number, or an address in the same section.
fn org_target(object: &Object, expr: &Expr, section: SectionId, scope: Scope<'_>) -> Option<i64> {
    let value = expr.value_through_symbols(scope)?;
    match (value.a, value.b) {
        (None, None) => Some(value.c),
        (Some((base, _)), None) => match object.address(base, scope) {
            Address::Section(at, offset) if at == section => Some(value.c.wrapping_add(offset as i64)),
            Address::Absolute(base) => Some(value.c.wrapping_add(base)),
            _ => None,
        },
        _ => None,
    }
}

fn pad_leb128(bytes: &mut Vec<u8>, length: usize, negative: bool) {
    let filler = if negative { 0x7f } else { 0 };
    while bytes.len() < length {
        if let Some(last) = bytes.last_mut() {
            *last |= 0x80;
        }
        bytes.push(filler);
    }
}

fn repeat(unit: &[u8], size: usize, out: &mut Vec<u8>) {
    if unit.iter().all(|b| *b == unit[0]) {
        out.resize(out.len() + size, unit[0]);
    } else {
        out.extend(unit.iter().copied().cycle().take(size));
    }
}
