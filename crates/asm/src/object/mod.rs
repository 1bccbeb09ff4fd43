//! The object being assembled: sections as lists of fragments, whose sizes and addresses are settled at the end.
//!
//! While statements are read only distances across fragments of fixed size are certain. [`Object::finish`] lays
//! everything out, writes the values that are known then into the data and turns the others into relocations. What
//! comes out is the sections' contents, ready for an ELF writer.

mod frames;
mod layout;
mod reloc;

pub use frames::{Cfi, Frame};
pub use reloc::{Relocation, RelocationTarget, relocation_type};

use crate::eval::{Layout, Scope};
use crate::expr::Expr;
use crate::fixup::{Fixup, FixupKind};
use crate::ids::SectionId;
use crate::ids::{Position, SymId};
use crate::source::Span;
use std::collections::BTreeMap;

/// An object: filled while statements are read, complete after [`Object::finish`].
#[derive(Debug, Default)]
pub struct Object {
    /// By section number: what the section holds.
    pub sections: Vec<SectionData>,
    /// `.addrsig`: the symbols whose address matters, if it was said.
    pub addrsig: Option<Vec<SymId>>,
    /// `.symver`: symbol, versioned name, and whether the plain name stays.
    pub symvers: Vec<(SymId, String, bool)>,
    /// `.file` by number.
    pub files: BTreeMap<u64, SourceFile>,
    /// `.loc` in order.
    pub lines: Vec<LineEntry>,
    /// What the ELF header says, as AMD's directives have left it.
    pub header: Header,
    /// Symbols of `.amdgpu_lds`, which are in no section.
    pub lds: Vec<SymId>,
    /// By symbol number, after [`Object::finish`].
    pub addresses: Vec<Address>,
    /// By symbol number, after [`Object::finish`]: `st_size`.
    pub sizes: Vec<u64>,
    /// Relocations carry their addend; otherwise it is in the data, as it is for everything but ROCm.
    pub rela: bool,
    /// Call frames in the order they were opened.
    pub(crate) frames: Vec<Frame>,
    /// Where they are to be described: section, its symbol, and whether in the form exceptions use.
    pub(crate) frame_sections: Vec<(SectionId, SymId, bool)>,
    /// The version of that description.
    pub(crate) frame_version: u8,
    current: Option<SectionId>,
    relocs: Vec<PendingReloc>,
    emitted: usize,
    laid_out: bool,
}

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

/// What the ELF header says about the code, as known at the end of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Header {
    /// `EI_OSABI`.
    pub os_abi: u8,
    /// `EI_ABIVERSION`.
    pub abi_version: u8,
    /// `e_flags`.
    pub flags: u32,
}

/// Where a symbol turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Address {
    /// Not in this object.
    Undefined,
    /// A number.
    Absolute(i64),
    /// An offset in a section.
    Section(SectionId, u64),
    /// Storage for the linker to make.
    Common,
}

/// A `.loc`: the instructions that follow come from this line.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // DWARF's names
pub struct LineEntry {
    pub place: Position,
    pub file: u64,
    pub line: u32,
    pub column: u32,
    pub is_stmt: bool,
    pub basic_block: bool,
    pub prologue_end: bool,
    pub epilogue_begin: bool,
    pub isa: u32,
    pub discriminator: u32,
}

/// What a section holds.
#[derive(Debug, Default)]
pub struct SectionData {
    /// Its bytes, after [`Object::finish`]; empty for sections without bits.
    pub data: Vec<u8>,
    /// Its size in bytes, after [`Object::finish`].
    pub size: u64,
    /// Its alignment in bytes.
    pub align: u64,
    /// What the linker has to fill in, in the order it was asked for, after [`Object::finish`].
    pub relocations: Vec<Relocation>,
    /// Instructions were assembled into it.
    pub has_instructions: bool,
    /// The order of sections in the file is that of first use.
    pub used: bool,
    fragments: Vec<Fragment>,
    /// Fragments in order, for each subsection.
    subsections: BTreeMap<u32, Vec<u32>>,
    subsection: u32,
    /// The data fragment at the end of the current subsection, once it is known.
    open: Option<u32>,
}

#[derive(Debug)]
struct Fragment {
    content: Content,
    subsection: u32,
    /// Position among the fragments of its subsection.
    order: u32,
    offset: u64,
    size: u64,
}

#[derive(Debug)]
enum Content {
    Data { bytes: Vec<u8>, fixups: Vec<DataFixup> },
    Align { alignment: u64, value: Option<i64>, size: u8, max: u32 },
    Fill { count: Expr, size: u8, value: u64, span: Span },
    Org { offset: Expr, value: u8, span: Span },
    Leb { value: Expr, signed: bool, span: Span, bytes: Vec<u8> },
}

#[derive(Debug)]
struct DataFixup {
    offset: u32,
    kind: FixupKind,
    expr: Expr,
    span: Span,
}

/// A `.reloc` at an offset from a symbol that is not defined yet.
#[derive(Debug)]
struct PendingReloc {
    symbol: SymId,
    fixup: DataFixup,
}

impl SectionData {
    /// The fragment data goes to, which must be the last one.
    #[inline]
    fn data_fragment(&mut self) -> u32 {
        match self.open {
            Some(open) => open,
            None => self.open_data_fragment(),
        }
    }

    fn open_data_fragment(&mut self) -> u32 {
        let last = self.subsections.entry(self.subsection).or_default().last().copied();
        let is_data = |id: &u32| matches!(self.fragments[*id as usize].content, Content::Data { .. });
        let id = last.filter(is_data);
        let id = id.unwrap_or_else(|| self.push(Content::Data { bytes: Vec::new(), fixups: Vec::new() }));
        self.open = Some(id);
        id
    }

    fn push(&mut self, content: Content) -> u32 {
        self.open = None;
        let id = self.fragments.len() as u32;
        let list = self.subsections.entry(self.subsection).or_default();
        let order = list.len() as u32;
        list.push(id);
        self.fragments.push(Fragment { content, subsection: self.subsection, order, offset: 0, size: 0 });
        id
    }
}

impl Fragment {
    /// Its size when that does not depend on addresses.
    fn fixed_size(&self) -> Option<u64> {
        match &self.content {
            Content::Data { bytes, .. } => Some(bytes.len() as u64),
            Content::Fill { count: Expr::Const(count), size, .. } => {
                Some((*count as u64).saturating_mul(u64::from(*size)))
            }
            _ => None,
        }
    }
}

impl Object {
    /// Bytes of data so far.
    pub(crate) fn bytes_emitted(&self) -> usize {
        self.emitted
    }

    pub(crate) fn add_section(&mut self, id: SectionId) {
        let count = self.sections.len().max(id.0 as usize + 1);
        self.sections.resize_with(count, || SectionData { align: 1, ..SectionData::default() });
        // Fragment 0 is where the section's own symbol stands.
        let section = &mut self.sections[id.0 as usize];
        if section.fragments.is_empty() {
            section.data_fragment();
        }
    }

    pub(crate) fn switch_section(&mut self, id: SectionId, subsection: u32) {
        self.current = Some(id);
        if let Some(section) = self.section_mut() {
            section.subsection = subsection;
            section.open = None;
            section.used = true;
        }
    }

    fn section_mut(&mut self) -> Option<&mut SectionData> {
        self.sections.get_mut(self.current?.0 as usize)
    }

    /// Where the next byte goes.
    pub fn place(&mut self) -> Position {
        let section = self.current.unwrap_or(SectionId(0));
        let Some(data) = self.section_mut() else { return Position { section, fragment: 0, offset: 0 } };
        let fragment = data.data_fragment();
        let offset = data.fragments[fragment as usize].fixed_size().unwrap_or(0);
        Position { section, fragment, offset }
    }

    fn with_data(&mut self, f: impl FnOnce(&mut Vec<u8>, &mut Vec<DataFixup>)) {
        let mut added = 0;
        if let Some(section) = self.section_mut() {
            let fragment = section.data_fragment();
            if let Content::Data { bytes, fixups } = &mut section.fragments[fragment as usize].content {
                let before = bytes.len();
                f(bytes, fixups);
                added = bytes.len() - before;
            }
        }
        self.emitted += added;
    }

    /// Appends bytes.
    pub fn bytes(&mut self, data: &[u8]) {
        self.with_data(|bytes, _| bytes.extend_from_slice(data));
    }

    /// Appends a value to be filled in when it is known.
    pub fn fixup(&mut self, kind: FixupKind, expr: Expr, span: Span) {
        self.with_data(|bytes, fixups| {
            fixups.push(DataFixup { offset: bytes.len() as u32, kind, expr, span });
            bytes.resize(bytes.len() + kind.size() as usize, 0);
        });
    }

    /// Appends an instruction of four or eight bytes.
    pub fn instruction(&mut self, bits: u64, len: u8, fixup: Option<Fixup>) {
        self.with_data(|bytes, fixups| {
            let start = bytes.len() as u32;
            match len {
                4 => bytes.extend_from_slice(&(bits as u32).to_le_bytes()),
                _ => bytes.extend_from_slice(&bits.to_le_bytes()),
            }
            if let Some(fixup) = fixup {
                let offset = start + u32::from(fixup.offset);
                fixups.push(DataFixup { offset, kind: fixup.kind, expr: fixup.expr, span: fixup.span });
            }
        });
        if let Some(section) = self.section_mut() {
            section.has_instructions = true;
        }
    }

    pub(crate) fn align(&mut self, alignment: u64, value: Option<i64>, size: u8, max: u32) {
        if let Some(section) = self.section_mut() {
            section.align = section.align.max(alignment);
            section.push(Content::Align { alignment, value, size, max });
        }
    }

    pub(crate) fn fill(&mut self, count: Expr, size: u8, value: u64, span: Span) {
        if let Some(section) = self.section_mut() {
            section.push(Content::Fill { count, size, value, span });
        }
    }

    pub(crate) fn org(&mut self, offset: Expr, value: u8, span: Span) {
        if let Some(section) = self.section_mut() {
            section.push(Content::Org { offset, value, span });
        }
    }

    pub(crate) fn leb128(&mut self, value: Expr, signed: bool, span: Span) {
        if let Some(section) = self.section_mut() {
            section.push(Content::Leb { value, signed, span, bytes: vec![0] });
        }
    }

    /// `.reloc` at an offset from a symbol (and where it stands, if it stands anywhere yet), or from the start of the
    /// data fragment it is written in, which is how LLVM counts.
    pub(crate) fn reloc(
        &mut self,
        ty: u32,
        symbol: Option<(SymId, Option<Position>)>,
        offset: i64,
        expr: Option<Expr>,
        span: Span,
    ) {
        let expr = expr.unwrap_or(Expr::Const(0));
        let fixup = DataFixup { offset: offset as u32, kind: FixupKind::Reloc(ty), expr, span };
        match symbol {
            None => {
                let place = self.place();
                self.add_reloc(Position { offset: 0, ..place }, fixup);
            }
            Some((_, Some(place))) => self.add_reloc(place, fixup),
            Some((symbol, None)) => self.relocs.push(PendingReloc { symbol, fixup }),
        }
    }

    fn add_reloc(&mut self, place: Position, mut fixup: DataFixup) {
        fixup.offset = fixup.offset.wrapping_add(place.offset as u32);
        let section = &mut self.sections[place.section.0 as usize];
        if let Content::Data { fixups, .. } = &mut section.fragments[place.fragment as usize].content {
            fixups.push(fixup);
        }
    }

    /// The offset of a place in its section, once laid out.
    pub fn offset_of(&self, place: Position) -> u64 {
        let fragment = self.sections.get(place.section.0 as usize);
        let fragment = fragment.and_then(|s| s.fragments.get(place.fragment as usize));
        fragment.map_or(0, |f| f.offset) + place.offset
    }
}

impl Layout for Object {
    fn laid_out(&self) -> bool {
        self.laid_out
    }

    fn distance(&self, scope: Scope<'_>, a: SymId, b: SymId) -> Option<i64> {
        if self.laid_out {
            return match (self.address(a, scope), self.address(b, scope)) {
                (Address::Section(in_a, a), Address::Section(in_b, b)) if in_a == in_b => {
                    Some(a.wrapping_sub(b) as i64)
                }
                _ => None,
            };
        }
        let (a, b) = (scope.symbols[a].place?, scope.symbols[b].place?);
        if a.section != b.section {
            return None;
        }
        if a.fragment == b.fragment {
            return Some(a.offset.wrapping_sub(b.offset) as i64);
        }
        let section = self.sections.get(a.section.0 as usize)?;
        let (fa, fb) = (&section.fragments[a.fragment as usize], &section.fragments[b.fragment as usize]);
        if fa.subsection != fb.subsection {
            return None;
        }
        let list = section.subsections.get(&fa.subsection)?;
        let (low, high) = (fa.order.min(fb.order), fa.order.max(fb.order));
        let mut between = 0u64;
        for id in list.get(low as usize..high as usize)? {
            between = between.wrapping_add(section.fragments[*id as usize].fixed_size()?);
        }
        let forward = if fa.order > fb.order { between } else { between.wrapping_neg() };
        Some(forward.wrapping_add(a.offset).wrapping_sub(b.offset) as i64)
    }
}
