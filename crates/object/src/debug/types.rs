//! Types, spelt as C++ spells them and llvm-dwarfdump shows them.

use super::{Entry, EntryId, Space, Type, Units};
use gimli::constants as dw;
use std::collections::HashMap;

/// Types in types that are followed for one name; what has more is cyclic or meant to hurt.
const MAX_STEPS: usize = 200;
/// Names are not made longer than this.
const MAX_LENGTH: usize = 4096;

/// Spells types, each once.
pub(super) struct Types<'a, 'u, 'd> {
    units: &'a Units<'u, 'd>,
    known: HashMap<EntryId, Type>,
    /// Names of the namespaces and classes around a type, with `::` after each.
    scopes: HashMap<EntryId, String>,
}

/// An entry and its unit.
#[derive(Clone)]
struct Node<'d> {
    unit: usize,
    entry: Entry<'d>,
}

impl Node<'_> {
    fn tag(&self) -> dw::DwTag {
        self.entry.tag()
    }

    fn place(&self) -> EntryId {
        (self.unit, self.entry.offset())
    }
}

/// A name in the making: C wraps declarators around it.
#[derive(Default)]
struct Name {
    text: String,
    /// The text ends in a word, so that a space must follow before another.
    word: bool,
    steps: usize,
}

impl Name {
    fn word(&mut self, text: &str) {
        if self.word {
            self.text.push(' ');
        }
        self.text.push_str(text);
        self.word = true;
    }

    /// Is it time to stop?
    fn exhausted(&mut self) -> bool {
        self.steps += 1;
        self.steps > MAX_STEPS || self.text.len() > MAX_LENGTH
    }
}

impl<'a, 'u, 'd> Types<'a, 'u, 'd> {
    pub fn new(units: &'a Units<'u, 'd>) -> Types<'a, 'u, 'd> {
        Types { units, known: HashMap::new(), scopes: HashMap::new() }
    }

    /// Finds out what the types of a unit are in.
    pub fn learn(&mut self, number: usize) -> Result<(), gimli::Error> {
        let unit = self.units.all[number].1;
        let mut open: Vec<(isize, String)> = Vec::new();
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            while open.last().is_some_and(|(depth, _)| *depth >= entry.depth()) {
                open.pop();
            }
            let names = matches!(
                entry.tag(),
                dw::DW_TAG_namespace
                    | dw::DW_TAG_class_type
                    | dw::DW_TAG_structure_type
                    | dw::DW_TAG_union_type
                    | dw::DW_TAG_enumeration_type
            );
            let around = open.last().map_or("", |(_, name)| name.as_str());
            // As llvm-dwarfdump: names of types that stand for others are shown bare.
            if names && !around.is_empty() {
                self.scopes.insert((number, entry.offset()), around.to_owned());
            }
            if names && entry.has_children() && around.len() < MAX_LENGTH {
                let name = self.units.string(number, entry, dw::DW_AT_name);
                let name = match (name, entry.tag()) {
                    (Some(name), _) => name,
                    (None, dw::DW_TAG_namespace) => "(anonymous namespace)".into(),
                    (None, _) => continue,
                };
                open.push((entry.depth(), format!("{around}{name}::")));
            }
        }
        Ok(())
    }

    /// The type that an entry describes.
    pub fn get(&mut self, place: EntryId) -> Type {
        if let Some(known) = self.known.get(&place) {
            return known.clone();
        }
        let mut name = Name::default();
        self.before(Some(place), &mut name);
        self.after(Some(place), &mut name);
        let ty = Type { name: name.text, pointee: self.pointee(place) };
        self.known.insert(place, ty.clone());
        ty
    }

    fn entry(&self, place: Option<EntryId>) -> Option<Node<'d>> {
        let place = place?;
        Some(Node { unit: place.0, entry: self.units.entry(place)? })
    }

    /// The memory that a pointer points to, through names and qualifiers.
    fn pointee(&self, place: EntryId) -> Option<Space> {
        let mut entry = self.entry(Some(place))?;
        for _ in 0..MAX_STEPS {
            let inner = match entry.tag() {
                dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type => {
                    let class = entry.entry.attr_value(dw::DW_AT_address_class)?;
                    let number = match class {
                        gimli::AttributeValue::AddressClass(class) => class.0,
                        other => other.udata_value()?,
                    };
                    return Space::from_dwarf(number);
                }
                dw::DW_TAG_typedef
                | dw::DW_TAG_const_type
                | dw::DW_TAG_volatile_type
                | dw::DW_TAG_restrict_type
                | dw::DW_TAG_atomic_type => self.inner(&entry),
                _ => None,
            };
            entry = self.entry(inner)?;
        }
        None
    }

    fn inner(&self, node: &Node<'d>) -> Option<EntryId> {
        self.units.reference(node.unit, &node.entry, dw::DW_AT_type)
    }

    fn name_of(&self, node: &Node<'d>) -> Option<String> {
        self.units.string(node.unit, &node.entry, dw::DW_AT_name)
    }

    /// What stands before a declared name.
    fn before(&self, offset: Option<EntryId>, name: &mut Name) {
        if name.exhausted() {
            return;
        }
        let Some(entry) = self.entry(offset) else { return name.word("void") };
        let inner = self.inner(&entry);
        let pointer = |sign: &str, name: &mut Name| {
            self.before(inner, name);
            if name.word {
                name.text.push(' ');
            }
            if self.needs_parentheses(inner) {
                name.text.push('(');
            }
            name.text.push_str(sign);
            name.word = false;
        };
        match entry.tag() {
            dw::DW_TAG_pointer_type => pointer("*", name),
            dw::DW_TAG_reference_type => pointer("&", name),
            dw::DW_TAG_rvalue_reference_type => pointer("&&", name),
            dw::DW_TAG_ptr_to_member_type => {
                let class = self.units.reference(entry.unit, &entry.entry, dw::DW_AT_containing_type);
                let class = class.map(|place| self.simple(place));
                pointer(&format!("{}::*", class.unwrap_or_default()), name);
            }
            dw::DW_TAG_array_type => self.before(inner, name),
            dw::DW_TAG_subroutine_type => {
                self.before(inner, name);
                if name.word {
                    name.text.push(' ');
                }
                name.word = false;
            }
            tag if qualifier(tag).is_some() => self.qualified(&entry, name),
            tag => match self.name_of(&entry) {
                Some(_) => name.word(&self.simple(entry.place())),
                None => {
                    let tag = tag.static_string().unwrap_or("type");
                    let tag = tag.trim_start_matches("DW_TAG_").trim_end_matches("_type");
                    name.word(&format!("{tag} "));
                }
            },
        }
    }

    /// The name of a class, with those around it.
    fn simple(&self, place: EntryId) -> String {
        let scope = self.scopes.get(&place).map_or("", String::as_str);
        let own = self.entry(Some(place)).and_then(|e| self.name_of(&e));
        format!("{scope}{}", own.unwrap_or_default())
    }

    /// `const int`, but `int *const`.
    fn qualified(&self, entry: &Node<'d>, name: &mut Name) {
        let mut words = Vec::new();
        let mut next = entry.clone();
        let inner = loop {
            match qualifier(next.tag()) {
                Some(word) => words.push(word),
                None => break Some(next.place()),
            }
            match self.entry(self.inner(&next)) {
                Some(inner) if words.len() < 8 => next = inner,
                _ => break None,
            }
        };
        words.sort_unstable_by_key(|w| {
            ["const", "volatile", "restrict", "_Atomic"].iter().position(|k| k == w)
        });
        words.dedup();
        let mut under = inner;
        for _ in 0..MAX_STEPS {
            let Some(array) = self.entry(under).filter(|e| e.tag() == dw::DW_TAG_array_type) else { break };
            under = self.inner(&array);
        }
        let trails = self.entry(under).is_some_and(|e| {
            matches!(
                e.tag(),
                dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type
            )
        });
        if trails {
            self.before(inner, name);
            words.iter().for_each(|w| name.word(w));
        } else {
            words.iter().for_each(|w| name.word(w));
            self.before(inner, name);
        }
    }

    fn needs_parentheses(&self, offset: Option<EntryId>) -> bool {
        let mut offset = offset;
        for _ in 0..8 {
            let Some(entry) = self.entry(offset) else { return false };
            match entry.tag() {
                dw::DW_TAG_array_type | dw::DW_TAG_subroutine_type => return true,
                tag if qualifier(tag).is_some() => offset = self.inner(&entry),
                _ => return false,
            }
        }
        false
    }

    /// What stands after a declared name.
    fn after(&self, offset: Option<EntryId>, name: &mut Name) {
        if name.exhausted() {
            return;
        }
        let Some(entry) = self.entry(offset) else { return };
        let inner = self.inner(&entry);
        match entry.tag() {
            dw::DW_TAG_pointer_type
            | dw::DW_TAG_reference_type
            | dw::DW_TAG_rvalue_reference_type
            | dw::DW_TAG_ptr_to_member_type => {
                if self.needs_parentheses(inner) {
                    name.text.push(')');
                }
                self.after(inner, name);
            }
            dw::DW_TAG_array_type => {
                self.bounds(&entry, name);
                self.after(inner, name);
            }
            dw::DW_TAG_subroutine_type => {
                self.parameters(&entry, name);
                self.after(inner, name);
            }
            tag if qualifier(tag).is_some() => self.after(inner, name),
            _ => {}
        }
    }

    /// The entries right below one.
    fn children(&self, node: &Node<'d>) -> Vec<Node<'d>> {
        let mut children = Vec::new();
        let unit = self.units.all[node.unit].1;
        let Ok(mut entries) = unit.entries_at_offset(node.entry.offset()) else { return children };
        while let Ok(Some(child)) = entries.next_dfs() {
            match child.depth() {
                1 if children.len() < MAX_STEPS => {
                    children.push(Node { unit: node.unit, entry: child.clone() });
                }
                // The entry itself comes first; behind its children come its siblings.
                0 if child.offset() == node.entry.offset() => {}
                d if d > 1 => {}
                _ => break,
            }
        }
        children
    }

    fn bounds(&self, entry: &Node<'d>, name: &mut Name) {
        for range in self.children(entry).iter().filter(|c| c.tag() == dw::DW_TAG_subrange_type) {
            let number = |at| range.entry.attr_value(at).and_then(|v| v.udata_value());
            let count = number(dw::DW_AT_count);
            let count = count.or_else(|| number(dw::DW_AT_upper_bound).map(|last| last.wrapping_add(1)));
            match count {
                Some(count) => name.text.push_str(&format!("[{count}]")),
                None => name.text.push_str("[]"),
            }
        }
    }

    fn parameters(&self, entry: &Node<'d>, name: &mut Name) {
        name.text.push('(');
        let mut first = true;
        for child in self.children(entry) {
            let more = child.tag() == dw::DW_TAG_unspecified_parameters;
            if !more && child.tag() != dw::DW_TAG_formal_parameter {
                continue;
            }
            if !std::mem::take(&mut first) {
                name.text.push_str(", ");
            }
            if more {
                name.text.push_str("...");
                continue;
            }
            let ty = self.inner(&child);
            name.word = false;
            self.before(ty, name);
            self.after(ty, name);
        }
        name.text.push(')');
        name.word = false;
    }
}

fn qualifier(tag: dw::DwTag) -> Option<&'static str> {
    match tag {
        dw::DW_TAG_const_type => Some("const"),
        dw::DW_TAG_volatile_type => Some("volatile"),
        dw::DW_TAG_restrict_type => Some("restrict"),
        dw::DW_TAG_atomic_type => Some("_Atomic"),
        _ => None,
    }
}
