//! What debugging information says about functions and variables: where they were declared, of which type they are,
//! and in which memory they live (AMDGPU guide, "DWARF", "Address Space Mapping").
//!
//! `types` spells types, `expression` reads locations, `frames` how callers are found; which line an instruction belongs to is `crate::lines`' business.

mod expression;
mod frames;
mod types;

pub use expression::Location;
pub use frames::{Frame, Row, frames};

use crate::dwarf::{Contents, Slice, path, text};
use crate::read::{Error, File};
use expression::Reader;
use gimli::{AttributeValue, DebuggingInformationEntry, UnitOffset, UnitRef, constants as dw};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use types::Types;

/// An entry of the tree.
type Entry<'d> = DebuggingInformationEntry<Slice<'d>>;

/// A DWARF address space that is not left out. Global, constant and generic memory have no number: for them the
/// attribute and the operation are omitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// 1: scratch memory of a work-item.
    Private,
    /// 2: LDS of a work-group.
    Local,
    /// A number that the mapping does not have.
    Other(u64),
}

impl Space {
    fn from_dwarf(number: u64) -> Option<Space> {
        match number {
            0 => None,
            1 => Some(Space::Private),
            2 => Some(Space::Local),
            // As later versions of the guide number them, and GCC writes them: local, private to a lane, to a wave.
            3 => Some(Space::Local),
            5 | 6 => Some(Space::Private),
            other => Some(Space::Other(other)),
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Space::Private => f.write_str("private"),
            Space::Local => f.write_str("local"),
            Space::Other(n) => write!(f, "space {n}"),
        }
    }
}

/// A type, spelt as in C++.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Type {
    /// Its name.
    pub name: String,
    /// Of a pointer or reference: the memory it points to, by `DW_AT_address_class`; `None` for global, constant and
    /// generic memory and for all other types.
    pub pointee: Option<Space>,
}

/// Where something was declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The file's path, as the compiler saw it.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
}

/// What a variable is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An argument.
    Parameter,
    /// Anything else.
    Variable,
}

/// A variable or parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name, empty when it has none.
    pub name: String,
    /// Parameter or variable.
    pub role: Role,
    /// Its type.
    pub ty: Type,
    /// Where it was declared.
    pub declared: Option<Declared>,
    /// The function that was inlined here and that it belongs to.
    pub inlined: Option<String>,
    /// Where it is; one place that always holds, or places by address; nothing when it was optimised away.
    pub locations: Vec<Location>,
}

/// A function with code.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name in the source.
    pub name: String,
    /// Its symbol, when that differs.
    pub linkage_name: Option<String>,
    /// Its calling convention is a kernel's. HIP's compilers do not say it.
    pub kernel: bool,
    /// Where it was declared.
    pub declared: Option<Declared>,
    /// Addresses of its code; in relocatable files, places in its section.
    pub ranges: Vec<Range<u64>>,
    /// What it returns; nothing for `void`.
    pub result: Option<Type>,
    /// What frame offsets count from, an expression in llvm-dwarfdump's form.
    pub frame_base: Option<String>,
    /// Its parameters and variables, also those of its blocks and of what was inlined into it.
    pub variables: Vec<Variable>,
}

/// A compilation unit.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The source file.
    pub name: String,
    /// The directory it was compiled in.
    pub directory: String,
    /// The compiler.
    pub producer: String,
    /// The source language, `OpenCL`.
    pub language: String,
    /// DWARF version.
    pub version: u16,
    /// Variables outside of functions.
    pub variables: Vec<Variable>,
    /// Functions that have code of their own.
    pub functions: Vec<Function>,
}

/// Reads what debugging information says; nothing when there is none.
pub fn read(file: &File<'_>) -> Result<Vec<Unit>, Error> {
    let Some(section) = file.section(".debug_info") else { return Ok(Vec::new()) };
    // As llvm-dwarfdump does: addresses in relocatable files count from the start of their section.
    let contents = Contents::read(file, |_| 0)?;
    let dwarf = contents.dwarf();
    let broken = |at: usize, e: gimli::Error| {
        Error::new(".debug_info", Some(section.offset.saturating_add(at as u64)), e.to_string())
    };
    let mut units = Vec::new();
    let mut headers = dwarf.units();
    let mut at = 0;
    while let Some(header) = headers.next().map_err(|e| broken(at, e))? {
        at = header.debug_info_offset().map_or(at, |o| o.0);
        units.push((at, dwarf.unit(header).map_err(|e| broken(at, e))?));
    }
    let units = Units { all: units.iter().map(|(at, unit)| (*at, unit.unit_ref(&dwarf))).collect() };
    let mut types = Types::new(&units);
    let read = |(number, (at, _)): (usize, &(usize, _))| {
        read_unit(&units, number, &mut types).map_err(|e| broken(*at, e))
    };
    units.all.iter().enumerate().map(read).collect()
}

/// All units, and what leads from one to the other.
struct Units<'u, 'd> {
    /// With the byte of `.debug_info` where they start, ascending.
    all: Vec<(usize, UnitRef<'u, Slice<'d>>)>,
}

/// An entry's unit and place in it.
type EntryId = (usize, UnitOffset);

impl<'u, 'd> Units<'u, 'd> {
    fn entry(&self, place: EntryId) -> Option<Entry<'d>> {
        self.all.get(place.0)?.1.entry(place.1).ok()
    }

    /// The entry that an attribute of an entry of a unit means.
    fn reference(&self, unit: usize, entry: &Entry<'d>, name: dw::DwAt) -> Option<EntryId> {
        match entry.attr_value(name)? {
            AttributeValue::UnitRef(offset) => Some((unit, offset)),
            AttributeValue::DebugInfoRef(offset) => {
                let after = self.all.partition_point(|(start, _)| *start <= offset.0);
                let unit = after.checked_sub(1)?;
                Some((unit, offset.to_unit_offset(&self.all[unit].1.header)?))
            }
            _ => None,
        }
    }

    fn string(&self, unit: usize, entry: &Entry<'d>, name: dw::DwAt) -> Option<String> {
        self.all.get(unit)?.1.attr_string(entry.attr_value(name)?).ok().map(text)
    }

    /// What an entry says, or else the one that it is an instance or the definition of.
    fn inherited<T>(
        &self,
        unit: usize,
        entry: &Entry<'d>,
        get: impl Fn(usize, &Entry<'d>) -> Option<T>,
    ) -> Option<T> {
        let origin = |unit: usize, entry: &Entry<'d>| {
            let instance = self.reference(unit, entry, dw::DW_AT_abstract_origin);
            instance.or_else(|| self.reference(unit, entry, dw::DW_AT_specification))
        };
        let mut found = get(unit, entry);
        let mut next = origin(unit, entry);
        for _ in 0..MAX_ORIGINS {
            let (None, Some(place)) = (&found, next) else { break };
            let entry = self.entry(place)?;
            found = get(place.0, &entry);
            next = origin(place.0, &entry);
        }
        found
    }
}

/// What the tree's inner nodes are to the variables in them.
enum Scope {
    /// A function with code, by its place in the unit's list.
    Function(usize),
    /// A function that was inlined.
    Inlined(String),
    /// One whose variables are of no concern: a function without code, a type of a function.
    Nowhere,
}

fn read_unit<'d>(
    units: &Units<'_, 'd>,
    number: usize,
    types: &mut Types<'_, '_, 'd>,
) -> Result<Unit, gimli::Error> {
    let unit = units.all[number].1;
    types.learn(number)?;
    let mut context = Context { units, number, unit, files: HashMap::new() };
    let mut result = Unit {
        name: unit.name.map(text).unwrap_or_default(),
        directory: unit.comp_dir.map(text).unwrap_or_default(),
        producer: String::new(),
        language: String::new(),
        version: unit.header.version(),
        variables: Vec::new(),
        functions: Vec::new(),
    };
    let mut scopes: Vec<(isize, Scope)> = Vec::new();
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        while scopes.last().is_some_and(|(depth, _)| *depth >= entry.depth()) {
            scopes.pop();
        }
        match entry.tag() {
            dw::DW_TAG_compile_unit => {
                result.producer = units.string(number, entry, dw::DW_AT_producer).unwrap_or_default();
                if let Some(AttributeValue::Language(language)) = entry.attr_value(dw::DW_AT_language) {
                    let name = language.static_string().unwrap_or_default();
                    result.language = name.trim_start_matches("DW_LANG_").into();
                }
            }
            dw::DW_TAG_subprogram => {
                let scope = match context.function(entry, types)? {
                    Some(function) => {
                        result.functions.push(function);
                        Scope::Function(result.functions.len() - 1)
                    }
                    None => Scope::Nowhere,
                };
                scopes.push((entry.depth(), scope));
            }
            dw::DW_TAG_subroutine_type => scopes.push((entry.depth(), Scope::Nowhere)),
            dw::DW_TAG_inlined_subroutine => {
                let name = context.inherited_string(entry, dw::DW_AT_name);
                scopes.push((entry.depth(), Scope::Inlined(name.unwrap_or_default())));
            }
            dw::DW_TAG_variable | dw::DW_TAG_formal_parameter => {
                let home = scopes.iter().rev().find_map(|(_, s)| match s {
                    Scope::Function(i) => Some(Some(*i)),
                    Scope::Nowhere => Some(None),
                    Scope::Inlined(_) => None,
                });
                if home == Some(None) {
                    continue;
                }
                let mut variable = context.variable(entry, types)?;
                if let Some((_, Scope::Inlined(name))) = scopes.last() {
                    variable.inlined = Some(name.clone());
                }
                match home.flatten() {
                    Some(i) => result.functions[i].variables.push(variable),
                    // Declarations of what is elsewhere have no place.
                    None if variable.locations.is_empty() => {}
                    None => result.variables.push(variable),
                }
            }
            _ => {}
        }
    }
    Ok(result)
}

/// How far an entry refers to others for what it does not say itself.
const MAX_ORIGINS: usize = 4;

struct Context<'a, 'u, 'd> {
    units: &'a Units<'u, 'd>,
    /// The unit's place among them.
    number: usize,
    unit: UnitRef<'u, Slice<'d>>,
    /// Paths by unit and index.
    files: HashMap<(usize, u64), String>,
}

impl<'d> Context<'_, '_, 'd> {
    fn inherited_string(&self, entry: &Entry<'d>, name: dw::DwAt) -> Option<String> {
        self.units.inherited(self.number, entry, |unit, entry| self.units.string(unit, entry, name))
    }

    fn inherited_type(&self, entry: &Entry<'d>) -> Option<EntryId> {
        let get = |unit: usize, entry: &Entry<'d>| self.units.reference(unit, entry, dw::DW_AT_type);
        self.units.inherited(self.number, entry, get)
    }

    fn file(&mut self, unit: usize, index: u64) -> Option<String> {
        if let Some(name) = self.files.get(&(unit, index)) {
            return Some(name.clone());
        }
        let of = self.units.all.get(unit)?.1;
        let header = of.line_program.as_ref()?.header();
        let name = path(of.dwarf, header, Some(header.file(index)?), of.comp_dir);
        self.files.insert((unit, index), name.clone());
        Some(name)
    }

    fn declared(&mut self, entry: &Entry<'d>) -> Option<Declared> {
        let (unit, index, line) = self.units.inherited(self.number, entry, |unit, entry| {
            let AttributeValue::FileIndex(index) = entry.attr_value(dw::DW_AT_decl_file)? else {
                return None;
            };
            Some((unit, index, entry.attr_value(dw::DW_AT_decl_line)?.udata_value()?))
        })?;
        Some(Declared { file: self.file(unit, index)?, line })
    }

    /// Reads a function; nothing for one without code.
    fn function(
        &mut self,
        entry: &Entry<'d>,
        types: &mut Types<'_, '_, 'd>,
    ) -> Result<Option<Function>, gimli::Error> {
        let mut ranges = Vec::new();
        let mut iterator = self.unit.die_ranges(entry)?;
        while let Some(range) = iterator.next()? {
            ranges.push(range.begin..range.end);
        }
        if ranges.is_empty() {
            return Ok(None);
        }
        let convention = entry.attr_value(dw::DW_AT_calling_convention);
        let result = self.inherited_type(entry);
        let frame_base = match entry.attr_value(dw::DW_AT_frame_base) {
            Some(AttributeValue::Exprloc(e)) => Some(Reader::new(self.unit).read(e, None).expression),
            _ => None,
        };
        Ok(Some(Function {
            name: self.inherited_string(entry, dw::DW_AT_name).unwrap_or_default(),
            linkage_name: self.inherited_string(entry, dw::DW_AT_linkage_name),
            kernel: matches!(
                convention,
                Some(AttributeValue::CallingConvention(c)) if c.0 == DW_CC_LLVM_OPENCL_KERNEL
            ),
            declared: self.declared(entry),
            ranges,
            result: result.map(|offset| types.get(offset)),
            frame_base,
            variables: Vec::new(),
        }))
    }

    fn variable(
        &mut self,
        entry: &Entry<'d>,
        types: &mut Types<'_, '_, 'd>,
    ) -> Result<Variable, gimli::Error> {
        let ty = self.inherited_type(entry);
        let reader = Reader::new(self.unit);
        let locations = match entry.attr_value(dw::DW_AT_location) {
            Some(AttributeValue::Exprloc(e)) => vec![reader.read(e, None)],
            Some(list) => {
                let mut all = Vec::new();
                if let Some(mut list) = self.unit.attr_locations(list)? {
                    while let Some(place) = list.next()? {
                        all.push(reader.read(place.data, Some(place.range.begin..place.range.end)));
                    }
                }
                all
            }
            None => Vec::new(),
        };
        Ok(Variable {
            name: self.inherited_string(entry, dw::DW_AT_name).unwrap_or_default(),
            role: match entry.tag() {
                dw::DW_TAG_formal_parameter => Role::Parameter,
                _ => Role::Variable,
            },
            ty: ty.map(|offset| types.get(offset)).unwrap_or_default(),
            declared: self.declared(entry),
            inlined: None,
            locations,
        })
    }
}

/// The calling convention that clang writes for kernels (LLVM's `DW_CC_LLVM_OpenCLKernel`).
const DW_CC_LLVM_OPENCL_KERNEL: u8 = 0xc7;
