//! Sections: their ELF attributes, and the directives LLVM prints to switch to them.

use crate::ids::SymId;
use crate::number::write_int;
use crate::symbol::Symbols;
use std::fmt::Write as _;

/// `sh_flags` bits.
pub mod flags {
    #![allow(missing_docs)] // the ELF specification's names
    pub const WRITE: u32 = 0x1;
    pub const ALLOC: u32 = 0x2;
    pub const EXECINSTR: u32 = 0x4;
    pub const MERGE: u32 = 0x10;
    pub const STRINGS: u32 = 0x20;
    pub const LINK_ORDER: u32 = 0x80;
    pub const GROUP: u32 = 0x200;
    pub const TLS: u32 = 0x400;
    pub const GNU_RETAIN: u32 = 0x20_0000;
    pub const EXCLUDE: u32 = 0x8000_0000;
}

/// `sh_type` values.
pub mod types {
    #![allow(missing_docs)] // the ELF specification's names
    pub const PROGBITS: u32 = 1;
    pub const NOTE: u32 = 7;
    pub const NOBITS: u32 = 8;
    pub const INIT_ARRAY: u32 = 14;
    pub const FINI_ARRAY: u32 = 15;
    pub const PREINIT_ARRAY: u32 = 16;
    pub const LLVM_ODRTAB: u32 = 0x6fff_4c00;
    pub const LLVM_LINKER_OPTIONS: u32 = 0x6fff_4c01;
    pub const LLVM_ADDRSIG: u32 = 0x6fff_4c03;
    pub const LLVM_DEPENDENT_LIBRARIES: u32 = 0x6fff_4c04;
    pub const LLVM_SYMPART: u32 = 0x6fff_4c05;
    pub const LLVM_BB_ADDR_MAP_V0: u32 = 0x6fff_4c08;
    pub const LLVM_CALL_GRAPH_PROFILE: u32 = 0x6fff_4c09;
    pub const LLVM_BB_ADDR_MAP: u32 = 0x6fff_4c0a;
    pub const LLVM_OFFLOADING: u32 = 0x6fff_4c0b;
    pub const LLVM_LTO: u32 = 0x6fff_4c0c;
    pub const X86_64_UNWIND: u32 = 0x7000_0001;
}

/// Type names as `@name` in `.section`, with their values.
pub(crate) static TYPE_NAMES: &[(&str, u32)] = &[
    ("init_array", types::INIT_ARRAY),
    ("fini_array", types::FINI_ARRAY),
    ("preinit_array", types::PREINIT_ARRAY),
    ("nobits", types::NOBITS),
    ("note", types::NOTE),
    ("progbits", types::PROGBITS),
    ("unwind", types::X86_64_UNWIND),
    ("llvm_odrtab", types::LLVM_ODRTAB),
    ("llvm_linker_options", types::LLVM_LINKER_OPTIONS),
    ("llvm_call_graph_profile", types::LLVM_CALL_GRAPH_PROFILE),
    ("llvm_dependent_libraries", types::LLVM_DEPENDENT_LIBRARIES),
    ("llvm_sympart", types::LLVM_SYMPART),
    ("llvm_bb_addr_map", types::LLVM_BB_ADDR_MAP),
    ("llvm_bb_addr_map_v0", types::LLVM_BB_ADDR_MAP_V0),
    ("llvm_offloading", types::LLVM_OFFLOADING),
    ("llvm_lto", types::LLVM_LTO),
];

/// The attributes of sections that exist before anyone mentions them: type, flags, entry size. A later `.section`
/// that says otherwise is an error, one that says nothing gets these.
pub(crate) fn well_known(name: &str) -> Option<(u32, u32, u32)> {
    let strings = flags::MERGE | flags::STRINGS;
    let (flags, entsize) = match name {
        ".bss" => return Some((types::NOBITS, flags::ALLOC | flags::WRITE, 0)),
        ".tbss" => return Some((types::NOBITS, flags::ALLOC | flags::WRITE | flags::TLS, 0)),
        ".text" => (flags::ALLOC | flags::EXECINSTR, 0),
        ".data" | ".data.rel.ro" => (flags::ALLOC | flags::WRITE, 0),
        ".tdata" => (flags::ALLOC | flags::WRITE | flags::TLS, 0),
        ".rodata" | ".gcc_except_table" | ".eh_frame" | ".llvm_stackmaps" | ".llvm_faultmaps" => {
            (flags::ALLOC, 0)
        }
        ".rodata.cst4" => (flags::ALLOC | flags::MERGE, 4),
        ".rodata.cst8" => (flags::ALLOC | flags::MERGE, 8),
        ".rodata.cst16" => (flags::ALLOC | flags::MERGE, 16),
        ".rodata.cst32" => (flags::ALLOC | flags::MERGE, 32),
        ".debug_str" | ".debug_line_str" => (strings, 1),
        ".debug_str.dwo" => (strings | flags::EXCLUDE, 1),
        ".debug_info.dwo"
        | ".debug_types.dwo"
        | ".debug_abbrev.dwo"
        | ".debug_line.dwo"
        | ".debug_loc.dwo"
        | ".debug_str_offsets.dwo"
        | ".debug_rnglists.dwo"
        | ".debug_macinfo.dwo"
        | ".debug_macro.dwo"
        | ".debug_loclists.dwo" => (flags::EXCLUDE, 0),
        ".debug_abbrev"
        | ".debug_info"
        | ".debug_line"
        | ".debug_frame"
        | ".debug_pubnames"
        | ".debug_pubtypes"
        | ".debug_gnu_pubnames"
        | ".debug_gnu_pubtypes"
        | ".debug_loc"
        | ".debug_aranges"
        | ".debug_ranges"
        | ".debug_macinfo"
        | ".debug_macro"
        | ".debug_names"
        | ".debug_str_offsets"
        | ".debug_addr"
        | ".debug_rnglists"
        | ".debug_loclists"
        | ".debug_cu_index"
        | ".debug_tu_index"
        | ".apple_names"
        | ".apple_objc"
        | ".apple_namespaces"
        | ".apple_types"
        | ".stack_sizes"
        | ".pseudo_probe"
        | ".pseudo_probe_desc"
        | ".llvm_stats" => (0, 0),
        _ => return None,
    };
    Some((types::PROGBITS, flags, entsize))
}

/// A section's attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Name.
    pub name: Box<str>,
    /// `sh_type`.
    pub ty: u32,
    /// `sh_flags`.
    pub flags: u32,
    /// `sh_entsize`.
    pub entsize: u32,
    /// The group's signature symbol, and whether it is a comdat.
    pub group: Option<(SymId, bool)>,
    /// The symbol whose section this one is linked to.
    pub linked: Option<SymId>,
    /// `unique,N`.
    pub unique: Option<u32>,
    /// The symbol at its start, for references to the section itself.
    pub begin: Option<SymId>,
}

impl Section {
    /// A section with a type and flags, nothing else.
    pub fn new(name: &str, ty: u32, flags: u32) -> Section {
        Section {
            name: name.into(),
            ty,
            flags,
            entsize: 0,
            group: None,
            linked: None,
            unique: None,
            begin: None,
        }
    }

    /// Writes the directives that switch to it.
    pub fn print_switch(&self, symbols: &Symbols, subsection: u32, out: &mut Vec<u8>) {
        let short = matches!(
            &*self.name,
            ".text"
                | ".data"
                | ".hsatext"
                | ".hsadata_global_agent"
                | ".hsadata_global_program"
                | ".hsarodata_readonly_agent"
        );
        if short && self.unique.is_none() {
            out.push(b'\t');
            out.extend_from_slice(self.name.as_bytes());
            if subsection != 0 {
                out.push(b'\t');
                write_int(subsection.into(), out);
            }
            out.push(b'\n');
            return;
        }
        out.extend_from_slice(b"\t.section\t");
        print_section_name(&self.name, out);
        out.extend_from_slice(b",\"");
        for (flag, letter) in FLAG_LETTERS {
            if self.flags & flag != 0 {
                out.push(*letter);
            }
        }
        out.extend_from_slice(b"\",@");
        let mut rest = String::new();
        match TYPE_NAMES.iter().find(|(_, ty)| *ty == self.ty) {
            Some((name, _)) => rest.push_str(name),
            None => _ = write!(rest, "0x{:x}", self.ty),
        }
        if self.entsize != 0 {
            _ = write!(rest, ",{}", self.entsize);
        }
        out.extend_from_slice(rest.as_bytes());
        if self.flags & flags::LINK_ORDER != 0 {
            out.push(b',');
            match self.linked {
                Some(symbol) => print_section_name(&symbols[symbol].name, out),
                None => out.push(b'0'),
            }
        }
        if let Some((signature, comdat)) = self.group {
            out.push(b',');
            print_section_name(&symbols[signature].name, out);
            if comdat {
                out.extend_from_slice(b",comdat");
            }
        }
        if let Some(unique) = self.unique {
            out.extend_from_slice(b",unique,");
            write_int(unique.into(), out);
        }
        out.push(b'\n');
        if subsection != 0 {
            out.extend_from_slice(b"\t.subsection\t");
            write_int(subsection.into(), out);
            out.push(b'\n');
        }
    }
}

/// In the order they are printed.
static FLAG_LETTERS: &[(u32, u8)] = &[
    (flags::ALLOC, b'a'),
    (flags::EXCLUDE, b'e'),
    (flags::EXECINSTR, b'x'),
    (flags::WRITE, b'w'),
    (flags::MERGE, b'M'),
    (flags::STRINGS, b'S'),
    (flags::TLS, b'T'),
    (flags::LINK_ORDER, b'o'),
    (flags::GROUP, b'G'),
    (flags::GNU_RETAIN, b'R'),
];

fn print_section_name(name: &str, out: &mut Vec<u8>) {
    if name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')) {
        out.extend_from_slice(name.as_bytes());
        return;
    }
    out.push(b'"');
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => out.extend_from_slice(b"\\\""),
            (b'\\', None) => out.extend_from_slice(b"\\\\"),
            // An escape the source had is kept as it was.
            (b'\\', Some(next)) => {
                out.extend_from_slice(&[b'\\', *next]);
                at += 1;
            }
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    out.push(b'"');
}
