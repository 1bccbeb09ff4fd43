//! llvm-objdump's tables of an object: headers, symbols, bytes.

use std::fmt::Write as _;
use wavemill_object::demangle;
use wavemill_object::elf::{
    SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE, SHT_NOBITS, SHT_PROGBITS, SHT_SYMTAB, STT_AMDGPU_HSA_KERNEL,
    STT_FILE, STT_FUNC, STT_OBJECT, STT_SECTION,
};
use wavemill_object::read::{File, Section, Symbol};

/// `SHN_COMMON`.
const COMMON: u32 = 0xfff2;

/// Which tables.
#[derive(Default)]
pub struct Wanted {
    /// What the file is.
    pub file: bool,
    /// The sections.
    pub sections: bool,
    /// The symbols.
    pub symbols: bool,
    /// Those of the dynamic table.
    pub dynamic: bool,
    /// What is in the sections.
    pub contents: bool,
    /// C++ names as people write them.
    pub demangle: bool,
}

impl Wanted {
    /// Whether there is one.
    pub fn any(&self) -> bool {
        self.file || self.sections || self.symbols || self.dynamic || self.contents
    }

    /// The tables of an object, in llvm-objdump's order; those about sections of these only, if some are named.
    pub fn text(&self, file: &File<'_>, only: &[String]) -> Result<String, String> {
        let mut out = String::new();
        let listed = |s: &&Section<'_>| only.is_empty() || only.iter().any(|name| name == s.name);
        if self.file {
            // `e_entry` of ELF64; kernels are entered by their descriptors.
            let entry = file.data.get(24..32).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes);
            let _ = writeln!(out, "architecture: amdgcn\nstart address: {entry:#018x}");
        }
        if self.sections {
            sections(file, &listed, &mut out);
        }
        if self.symbols {
            out += "\nSYMBOL TABLE:\n";
            // The first symbol is none. Where the table was stripped, the dynamic one is in its place, which is not asked for.
            let stripped = file.sections.iter().all(|s| s.ty != SHT_SYMTAB);
            for symbol in file.symbols.iter().skip(1).filter(|_| !stripped) {
                self.symbol(file, symbol, false, &mut out);
            }
        }
        if self.dynamic {
            out += "\nDYNAMIC SYMBOL TABLE:\n";
            for symbol in file.dynamic_symbols().map_err(|e| e.to_string())?.iter().skip(1) {
                self.symbol(file, symbol, true, &mut out);
            }
        }
        if self.contents {
            file.sections.iter().filter(listed).for_each(|section| contents(section, &mut out));
        }
        Ok(out)
    }

    fn symbol(&self, file: &File<'_>, symbol: &Symbol<'_>, dynamic: bool, out: &mut String) {
        let (place, defined) = match symbol.section {
            0 => ("*UND*", false),
            0xfff1 => ("*ABS*", true),
            COMMON => ("*COM*", true),
            n => (file.sections.get(n as usize).map_or("", |s| s.name), true),
        };
        let (weak, global) = (symbol.binding == 2, symbol.binding == 1);
        // Of what the linker is to make room for, the value is the alignment.
        let common = symbol.section == COMMON;
        let (value, size) = if common { (symbol.size, symbol.value) } else { (symbol.value, symbol.size) };
        let scope = match (defined && !weak && !common, global) {
            (true, true) => 'g',
            (true, false) => 'l',
            (false, _) => ' ',
        };
        let kind = match symbol.ty {
            STT_FILE => ('d', 'f'),
            STT_FUNC => (' ', 'F'),
            STT_OBJECT => (' ', 'O'),
            STT_SECTION => ('d', ' '),
            _ => (' ', ' '),
        };
        let visibility = [" ", " .internal ", " .hidden ", " .protected "][usize::from(symbol.other & 3)];
        let shown = file.symbol_name(symbol);
        let shown = if self.demangle { demangle::shown(shown).into_owned() } else { shown.to_owned() };
        let _ = writeln!(
            out,
            "{value:016x} {scope}{}  {}{}{} {place}\t{size:016x}{visibility}{shown}",
            if weak { 'w' } else { ' ' },
            // llvm-objdump takes kernels of version 2 for GNU's indirect functions, which have the same number.
            if symbol.ty == STT_AMDGPU_HSA_KERNEL { 'i' } else { ' ' },
            if dynamic { 'D' } else { kind.0 },
            kind.1,
        );
    }
}

fn sections(file: &File<'_>, listed: &dyn Fn(&&Section<'_>) -> bool, out: &mut String) {
    let width = file.sections.iter().filter(listed).map(|s| s.name.len()).max().unwrap_or(0).max(13);
    let _ = writeln!(out, "\nSections:\nIdx {:width$} Size     VMA              Type", "Name");
    for (number, section) in file.sections.iter().enumerate().filter(|(_, s)| listed(s)) {
        let (alloc, code) = (section.flags & SHF_ALLOC != 0, section.flags & SHF_EXECINSTR != 0);
        let zeros = alloc && section.flags & SHF_WRITE != 0 && section.ty == SHT_NOBITS;
        let kinds = [
            (alloc && code, "TEXT"),
            (alloc && !code && section.ty == SHT_PROGBITS, "DATA"),
            (zeros, "BSS"),
            (section.name.starts_with(".debug") || section.name.starts_with(".zdebug"), "DEBUG"),
        ];
        let kinds: Vec<&str> = kinds.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
        let _ = writeln!(
            out,
            "{number:3} {:width$} {:08x} {:016x} {}",
            section.name,
            section.size,
            section.address,
            kinds.join(", ")
        );
    }
}

fn contents(section: &Section<'_>, out: &mut String) {
    if section.size == 0 {
        return;
    }
    let _ = writeln!(out, "Contents of section {}:", section.name);
    if section.ty == SHT_NOBITS {
        let end = section.address.wrapping_add(section.size);
        let _ = writeln!(out, "<skipping contents of bss section at [{:04x}, {end:04x})>", section.address);
        return;
    }
    for (row, bytes) in section.data.chunks(16).enumerate() {
        let _ = write!(out, " {:04x} ", section.address.wrapping_add(16 * row as u64));
        for at in 0..16 {
            if at > 0 && at % 4 == 0 {
                out.push(' ');
            }
            match bytes.get(at) {
                Some(byte) => _ = write!(out, "{byte:02x}"),
                None => out.push_str("  "),
            }
        }
        out.push_str("  ");
        out.extend(bytes.iter().map(|b| if (b' '..=b'~').contains(b) { *b as char } else { '.' }));
        out.push('\n');
    }
}
