//! Filling values in, and relocations for those only the linker knows.

use super::{Address, Content, Object};
use crate::eval::Scope;
use crate::expr::{Value, Variant};
use crate::fixup::FixupKind;
use crate::ids::SectionId;
use crate::ids::SymId;
use crate::section::{Section, flags};
use crate::source::{Diag, Span};
use crate::symbol::{Binding, SymType, Symbols};
use wavemill_isa::Target;

/// A relocation with addend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Bytes from the section's start.
    pub offset: u64,
    /// `R_AMDGPU_…`
    pub ty: u32,
    /// Relative to what.
    pub target: RelocationTarget,
    /// Added to it.
    pub addend: i64,
}

/// What a relocation refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelocationTarget {
    /// Nothing.
    None,
    /// A symbol.
    Symbol(SymId),
    /// The start of a section of this object.
    Section(SectionId),
}

const R_NONE: u32 = 0;
const R_ABS32_LO: u32 = 1;
const R_ABS32_HI: u32 = 2;
const R_ABS64: u32 = 3;
const R_REL32: u32 = 4;
const R_REL64: u32 = 5;
const R_ABS32: u32 = 6;
const R_GOTPCREL: u32 = 7;
const R_GOTPCREL32_LO: u32 = 8;
const R_GOTPCREL32_HI: u32 = 9;
const R_REL32_LO: u32 = 10;
const R_REL32_HI: u32 = 11;
const R_RELATIVE64: u32 = 13;
const R_REL16: u32 = 14;

/// The relocation type with this name, for `.reloc`.
pub fn relocation_type(name: &str) -> Option<u32> {
    Some(match name {
        "R_AMDGPU_NONE" | "BFD_RELOC_NONE" => R_NONE,
        "R_AMDGPU_ABS32_LO" => R_ABS32_LO,
        "R_AMDGPU_ABS32_HI" => R_ABS32_HI,
        "R_AMDGPU_ABS64" | "BFD_RELOC_64" => R_ABS64,
        "R_AMDGPU_REL32" => R_REL32,
        "R_AMDGPU_REL64" => R_REL64,
        "R_AMDGPU_ABS32" | "BFD_RELOC_32" => R_ABS32,
        "R_AMDGPU_GOTPCREL" => R_GOTPCREL,
        "R_AMDGPU_GOTPCREL32_LO" => R_GOTPCREL32_LO,
        "R_AMDGPU_GOTPCREL32_HI" => R_GOTPCREL32_HI,
        "R_AMDGPU_REL32_LO" => R_REL32_LO,
        "R_AMDGPU_REL32_HI" => R_REL32_HI,
        "R_AMDGPU_RELATIVE64" => R_RELATIVE64,
        "R_AMDGPU_REL16" => R_REL16,
        _ => return None,
    })
}

/// A fixup with its place in the section.
struct FixupSite {
    section: SectionId,
    offset: u64,
    kind: FixupKind,
    span: Span,
}

impl Object {
    /// Fills in every fixup, or makes a relocation of it.
    pub(super) fn resolve(
        &mut self,
        symbols: &mut Symbols,
        sections: &[Section],
        target: &Target,
        problems: &mut Vec<Diag>,
    ) {
        for reloc in std::mem::take(&mut self.relocs) {
            match symbols[reloc.symbol].place {
                Some(place) => self.add_reloc(place, reloc.fixup),
                None => problems.push(Diag::error(reloc.fixup.span, "unresolved relocation offset")),
            }
        }
        let mut work = Vec::new();
        for (index, section) in self.sections.iter_mut().enumerate() {
            for fragment in &mut section.fragments {
                let Content::Data { fixups, .. } = &mut fragment.content else { continue };
                for fixup in std::mem::take(fixups) {
                    let offset = fragment.offset + u64::from(fixup.offset);
                    let section = SectionId(index as u32);
                    let place = FixupSite { section, offset, kind: fixup.kind, span: fixup.span };
                    work.push((place, fixup.expr));
                }
            }
        }
        for (place, expr) in work {
            let scope = Scope { symbols, target, layout: Some(self) };
            let Some(value) = expr.relocatable(scope) else {
                problems.push(Diag::error(place.span, "expected relocatable expression"));
                continue;
            };
            if let Err(problem) = self.resolve_one(&place, value, symbols, sections, target) {
                problems.push(problem);
            }
        }
    }

    fn resolve_one(
        &mut self,
        place: &FixupSite,
        value: Value,
        symbols: &mut Symbols,
        sections: &[Section],
        target: &Target,
    ) -> Result<(), Diag> {
        let scope = Scope { symbols, target, layout: Some(self) };
        let relative = matches!(place.kind, FixupKind::SoppBr | FixupKind::PcRel4);
        let forced = matches!(place.kind, FixupKind::Reloc(_));
        if value.b.is_some_and(|(_, variant)| variant != Variant::NONE) {
            return Err(Diag::error(place.span, "unsupported subtraction of qualified symbol"));
        }
        if !forced {
            if !relative && let Some(known) = value.absolute() {
                return self.write(place, known);
            }
            if relative
                && value.b.is_none()
                && let Some((id, Variant::NONE)) = value.a
                && is_local(symbols, id)
                && let Address::Section(section, offset) = self.address(id, scope)
                && section == place.section
            {
                let known = value.c.wrapping_add(offset as i64).wrapping_sub(place.offset as i64);
                return self.write(place, known);
            }
        }
        self.relocate(place, value, relative, symbols, sections, target)
    }

    fn write(&mut self, place: &FixupSite, value: i64) -> Result<(), Diag> {
        let value = match place.kind {
            FixupKind::SoppBr => {
                // From the next instruction, in words.
                let words = value.wrapping_sub(4) / 4;
                if i16::try_from(words).is_err() {
                    return Err(Diag::error(place.span, "branch size exceeds simm16"));
                }
                words
            }
            _ => value,
        };
        self.patch(place.section, place.offset, &value.to_le_bytes()[..place.kind.size() as usize]);
        Ok(())
    }

    fn relocate(
        &mut self,
        place: &FixupSite,
        value: Value,
        relative: bool,
        symbols: &mut Symbols,
        sections: &[Section],
        target: &Target,
    ) -> Result<(), Diag> {
        let scope = Scope { symbols, target, layout: Some(self) };
        let mut relative = relative;
        let mut addend = value.c;
        if let Some((b, _)) = value.b {
            let name = &symbols[b].name;
            match self.address(b, scope) {
                _ if relative => {
                    let message =
                        format!("No relocation available to represent this relative expression ({name})");
                    return Err(Diag::error(place.span, message));
                }
                Address::Undefined | Address::Common => {
                    let message = format!("symbol '{name}' can not be undefined in a subtraction expression");
                    return Err(Diag::error(place.span, message));
                }
                Address::Section(section, offset) if section == place.section => {
                    relative = true;
                    addend = addend.wrapping_add(place.offset as i64).wrapping_sub(offset as i64);
                }
                _ => {
                    return Err(Diag::error(place.span, "Cannot represent a difference across sections"));
                }
            }
        }
        let variant = value.a.map_or(Variant::NONE, |(_, variant)| variant);
        let address = value.a.map(|(id, _)| (id, self.address(id, scope)));
        let ty = relocation(place, variant, relative, address, symbols)?;
        let target = match address {
            None => RelocationTarget::None,
            Some((id, Address::Section(section, offset)))
                if is_local(symbols, id)
                    && !needs_symbol(variant, symbols[id].ty, &sections[section.0 as usize], value.c) =>
            {
                addend = addend.wrapping_add(offset as i64);
                RelocationTarget::Section(section)
            }
            Some((id, address)) => {
                let symbol = &symbols[id];
                if symbol.temporary && address == Address::Undefined {
                    let message = format!("Undefined temporary symbol {}", symbol.name);
                    return Err(Diag::error(place.span, message));
                }
                symbols[id].referenced = true;
                RelocationTarget::Symbol(id)
            }
        };
        // What the linker will add to is in the data when the relocation has no room for it.
        let (in_data, addend) = if self.rela { (0, addend) } else { (addend, 0) };
        self.write(place, in_data)?;
        let relocation = Relocation { offset: place.offset, ty, target, addend };
        self.sections[place.section.0 as usize].relocations.push(relocation);
        Ok(())
    }
}

/// Can the symbol be neither seen nor replaced from outside?
fn is_local(symbols: &Symbols, id: SymId) -> bool {
    matches!(symbols[id].binding, Binding::Unset | Binding::Local)
}

/// Must the relocation name the symbol, although its address is known?
fn needs_symbol(variant: Variant, ty: SymType, section: &Section, addend: i64) -> bool {
    // Some relocations say something about the symbol, not about its address.
    let special = ty == SymType::IFunc || matches!(variant, Variant::GOTPCREL | Variant::GOT | Variant::PLT);
    // The linker moves the pieces of a mergeable section; which piece is meant only the symbol can tell.
    let merged = section.flags & flags::MERGE != 0 && addend != 0;
    special || merged || section.flags & flags::TLS != 0
}

fn relocation(
    place: &FixupSite,
    variant: Variant,
    relative: bool,
    address: Option<(SymId, Address)>,
    symbols: &Symbols,
) -> Result<u32, Diag> {
    if let Some((id, _)) = address
        && matches!(&*symbols[id].name, "SCRATCH_RSRC_DWORD0" | "SCRATCH_RSRC_DWORD1")
    {
        return Ok(R_ABS32_LO);
    }
    let by_variant = match variant {
        Variant::GOTPCREL => Some(R_GOTPCREL),
        Variant::GOTPCREL32_LO => Some(R_GOTPCREL32_LO),
        Variant::GOTPCREL32_HI => Some(R_GOTPCREL32_HI),
        Variant::REL32_LO => Some(R_REL32_LO),
        Variant::REL32_HI => Some(R_REL32_HI),
        Variant::REL64 => Some(R_REL64),
        Variant::ABS32_LO => Some(R_ABS32_LO),
        Variant::ABS32_HI => Some(R_ABS32_HI),
        _ => None,
    };
    if let Some(ty) = by_variant {
        return Ok(ty);
    }
    match (place.kind, address) {
        (FixupKind::Reloc(ty), _) => Ok(ty),
        (FixupKind::PcRel4, _) => Ok(R_REL32),
        (FixupKind::Data4, _) => Ok(if relative { R_REL32 } else { R_ABS32 }),
        (FixupKind::Data8, _) => Ok(if relative { R_REL64 } else { R_ABS64 }),
        (FixupKind::SoppBr, Some((id, Address::Undefined))) => {
            Err(Diag::error(place.span, format!("undefined label '{}'", symbols[id].name)))
        }
        (FixupKind::SoppBr, Some(_)) => Ok(R_REL16),
        _ => Err(Diag::error(place.span, "unsupported relocation type")),
    }
}
