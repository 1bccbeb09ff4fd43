//! What statements do to the output: labels, data, section switches; as text or into the object.

use super::Parser;
use crate::section::{Section, SectionId};
use crate::source::{Diag, Span};
use crate::symbol::{Place, SymId};

impl Parser<'_> {
    /// The current section and subsection.
    pub fn current_section(&self) -> Option<(SectionId, u32)> {
        self.section_stack.last().and_then(|pair| pair.current)
    }

    /// Defines a label here.
    pub fn emit_label(&mut self, id: SymId, span: Span) -> Result<(), Diag> {
        let Some((section, _)) = self.current_section() else {
            return Err(Diag::error(span, "expected section directive before assembly directive"));
        };
        let symbol = &mut self.symbols[id];
        symbol.place = Some(Place { section, fragment: 0, offset: 0 });
        if self.out.is_text() {
            self.symbols.print_name(id, &mut self.out.buf);
            self.out.buf.push(b':');
            self.out.eol();
        }
        Ok(())
    }

    /// Finds or makes a section.
    pub fn section(&mut self, section: Section) -> SectionId {
        let same = |s: &Section| {
            s.name == section.name && s.unique == section.unique && s.group == section.group
        };
        if let Some(i) = self.sections.iter().position(same) {
            return SectionId(i as u32);
        }
        self.sections.push(section);
        SectionId(self.sections.len() as u32 - 1)
    }
}
