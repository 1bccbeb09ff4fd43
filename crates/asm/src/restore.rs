//! A code object as a source that assembles to it: `wavemill disasm --asm`.
//!
//! Symbols are declared in the order of the file, sections follow with their code, data, descriptors and metadata.
//! Branches get labels. An instruction that the assembler would encode otherwise than the file has it (a literal that
//! fits an inline constant, say) is given as numbers with its text as a comment; which these are is found out by
//! assembling the text. Debugging information is left out.

use crate::disasm::Disassembler;
use crate::objdump::branch_target;
use crate::options::{Options, OutputType};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use wavemill_isa::Target;
use wavemill_object::descriptor::{self, Descriptor};
use wavemill_object::elf::{
    self, SHF_ALLOC, SHF_EXECINSTR, SHF_MERGE, SHF_STRINGS, SHF_WRITE, SHN_AMDGPU_LDS, SHT_NOBITS,
    SHT_PROGBITS, STT_AMDGPU_HSA_KERNEL,
};
use wavemill_object::kernel_code::{self, KernelCode};
use wavemill_object::metadata::{Value, to_yaml, v2};
use wavemill_object::read::{Error, File, Kind, Relocation, Section, Symbol};
use wavemill_object::target_id::{Os, TargetId};

/// Sections that a linker makes.
const MADE: [&str; 3] = [".dynamic", ".got", ".relro_padding"];

/// Makes the source of a file, or of one of its kernels.
pub fn source(file: &File<'_>, target: Target, kernel: Option<&str>) -> Result<String, Error> {
    if file.catalyst.is_some() {
        let message = "it is an OpenCL binary of Catalyst, whose source is CLRX's assembly: --clrx";
        return Err(Error::new("file", None, message));
    }
    let mut text = Source { file, target, kernel, out: String::new(), anchors: BTreeSet::new() };
    text.header()?;
    text.declarations();
    let relocations = text.relocations()?;
    for number in 0..file.sections.len() {
        if text.is_content(&file.sections[number]) {
            text.section(number, &relocations);
        }
    }
    text.metadata()?;
    Ok(text.out)
}

struct Source<'f, 'a> {
    file: &'f File<'a>,
    target: Target,
    kernel: Option<&'f str>,
    out: String,
    /// Section and byte of places that relocations without a symbol of a name refer to.
    anchors: BTreeSet<(u32, u64)>,
}

/// By section and byte: the expression that stands there, and its size.
type Relocations = HashMap<(u32, u64), (String, u8)>;

/// An instruction, or what stands for one.
struct Item {
    at: usize,
    length: usize,
    text: String,
    target: Option<u64>,
    /// The text does not assemble to the bytes.
    raw: bool,
}

/// A name as sources spell it.
fn spelt(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    if name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

fn anchor(section: u32, at: u64) -> String {
    format!(".Lsection{section}_{at:x}")
}

impl<'f, 'a> Source<'f, 'a> {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(text);
        self.out.push('\n');
    }

    fn header(&mut self) -> Result<(), Error> {
        let mut id =
            self.file.target_id()?.unwrap_or_else(|| TargetId::new("amdgcn-amd-amdhsa", &self.target));
        id.processor = self.target.cpu.name.into();
        match self.file.version() {
            1 | 2 => {
                for note in self.file.notes()? {
                    let word = |at: usize| {
                        let bytes = note.contents.get(at..at + 4).and_then(|b| b.try_into().ok());
                        bytes.map_or(0, u32::from_le_bytes)
                    };
                    if note.is(elf::NOTE_NAME_V2, elf::NT_AMD_HSA_CODE_OBJECT_VERSION) {
                        self.line(format_args!("\t.hsa_code_object_version {},{}", word(0), word(4)));
                    } else if note.is(elf::NOTE_NAME_V2, elf::NT_AMD_HSA_ISA_VERSION) {
                        let names = "\"AMD\",\"AMDGPU\"";
                        self.line(format_args!(
                            "\t.hsa_code_object_isa {},{},{},{names}",
                            word(4),
                            word(8),
                            word(12)
                        ));
                    } else if note.is(elf::NOTE_NAME_V2, elf::NT_AMD_HSA_ISA_NAME) {
                        let name = String::from_utf8_lossy(note.contents);
                        self.line(format_args!("\t.amd_amdgpu_isa \"{}\"", name.trim_end_matches('\0')));
                    }
                }
            }
            3 => self.line(format_args!(
                "\t.amdgcn_target \"{}\"\n\t.amdhsa_code_object_version 3",
                id.spelling(3)
            )),
            0 => self.line(format_args!("\t.amdgcn_target \"{id}\"")),
            n => self.line(format_args!("\t.amdgcn_target \"{id}\"\n\t.amdhsa_code_object_version {n}")),
        }
        if self.file.section(".got").is_some_and(|s| s.size != 0) {
            self.line(format_args!(
                "; It has a global offset table, which this text cannot ask for: addresses in it are wrong."
            ));
        }
        if self.file.section(".debug_info").is_some() {
            self.line(format_args!("; Debugging information is left out."));
        }
        Ok(())
    }

    /// What the source must state: no tables, notes and debugging information, which come from elsewhere.
    fn is_content(&self, section: &Section<'_>) -> bool {
        let wanted = section.flags & SHF_ALLOC != 0 && matches!(section.ty, SHT_PROGBITS | SHT_NOBITS);
        wanted && section.size != 0 && !MADE.contains(&section.name) && section.name != ".eh_frame"
    }

    fn is_linked(&self) -> bool {
        self.file.kind != Kind::Relocatable
    }

    /// Is the symbol part of what is asked for?
    fn wants(&self, symbol: &Symbol<'_>) -> bool {
        let of_kernel = |k: &str| symbol.name.strip_prefix(k).is_some_and(|rest| matches!(rest, "" | ".kd"));
        !symbol.name.is_empty()
            && !matches!(symbol.ty, 3 | 4)
            && symbol.name != "_DYNAMIC"
            && self.kernel.is_none_or(of_kernel)
    }

    /// Is it the descriptor of a kernel that `.amdhsa_kernel` can make?
    fn descriptor(&self, symbol: &Symbol<'_>) -> Option<(String, Vec<(&'static str, u64)>)> {
        let name = symbol.name.strip_suffix(".kd").filter(|_| symbol.ty == 1 && symbol.size == 64)?;
        let section = self.file.sections.get(symbol.section as usize)?;
        let aligned = section.name == ".rodata" && symbol.value.is_multiple_of(descriptor::SIZE as u64);
        // `.amdhsa_kernel` gives the descriptor its kernel's binding, and kernels of default visibility protection.
        let is_kernel = |s: &Symbol<'_>| {
            s.name == name && s.section != 0 && s.binding == symbol.binding && s.other & 3 != 0
        };
        let known = self.file.symbols.iter().any(is_kernel);
        let d = self.file.bytes_from(symbol).and_then(Descriptor::read).filter(|_| aligned && known)?;
        let (lines, unsaid) = d.directives(&self.target, self.file.version());
        unsaid.is_empty().then(|| (name.to_owned(), lines))
    }

    /// The visibility of a kernel whose descriptor, made by `.amdhsa_kernel`, has another: the descriptor gets the
    /// kernel's, so that the kernel has the descriptor's first, and its own afterwards.
    fn descriptor_visibility(&self, kernel: &Symbol<'_>) -> Option<u8> {
        let is_descriptor =
            |s: &&Symbol<'_>| s.name.strip_suffix(".kd") == Some(kernel.name) && self.descriptor(s).is_some();
        let descriptor = self.file.symbols.iter().find(is_descriptor)?;
        Some(descriptor.other & 3).filter(|v| *v != kernel.other & 3)
    }

    fn visibility(&mut self, name: &str, visibility: u8) {
        match visibility {
            1 => self.line(format_args!("\t.internal {name}")),
            2 => self.line(format_args!("\t.hidden {name}")),
            3 => self.line(format_args!("\t.protected {name}")),
            _ => {}
        }
    }

    fn declarations(&mut self) {
        let file = self.file;
        for symbol in file.symbols.iter().skip(1) {
            if !self.wants(symbol) {
                continue;
            }
            let name = spelt(symbol.name);
            let made = self.descriptor(symbol).is_some();
            // The linker has made local what was hidden.
            let global =
                symbol.binding == 1 || (symbol.binding == 0 && symbol.other & 3 == 2 && self.is_linked());
            match symbol.binding {
                2 => self.line(format_args!("\t.weak {name}")),
                _ if global => self.line(format_args!("\t.globl {name}")),
                _ => {}
            }
            let visibility = self.descriptor_visibility(symbol).unwrap_or(symbol.other & 3);
            self.visibility(&name, visibility);
            match symbol.ty {
                1 => self.line(format_args!("\t.type {name},@object")),
                2 => self.line(format_args!("\t.type {name},@function")),
                STT_AMDGPU_HSA_KERNEL => self.line(format_args!("\t.amdgpu_hsa_kernel {name}")),
                _ => {}
            }
            match symbol.section {
                0xfff1 => self.line(format_args!("\t.set {name}, {:#x}", symbol.value)),
                // The alignment of common symbols is given as a power.
                0xfff2 => self.line(format_args!(
                    "\t.comm {name},{},{}",
                    symbol.size,
                    symbol.value.max(1).trailing_zeros()
                )),
                n if n == u32::from(SHN_AMDGPU_LDS) => {
                    self.line(format_args!("\t.amdgpu_lds {name}, {}, {}", symbol.size, symbol.value));
                }
                0 => {}
                _ if symbol.size != 0 && !made => self.line(format_args!("\t.size {name}, {}", symbol.size)),
                _ => {}
            }
        }
    }

    /// The expressions of all relocations.
    fn relocations(&mut self) -> Result<Relocations, Error> {
        let mut all = HashMap::new();
        if self.is_linked() {
            let symbols = self.file.dynamic_symbols()?;
            for r in self.file.dynamic_relocations()? {
                let Some((section, at)) = self.place(r.offset) else { continue };
                let expression = match r.ty {
                    elf::R_AMDGPU_RELATIVE64 => self.place(r.addend as u64).map(|(s, at)| {
                        self.anchors.insert((s, at));
                        anchor(s, at)
                    }),
                    _ => symbols.get(r.symbol as usize).and_then(|s| self.expression(&r, s, "")),
                };
                if let Some(expression) = expression {
                    all.insert((section, at), (expression, 8));
                }
            }
            return Ok(all);
        }
        for section in 0..self.file.sections.len() as u32 {
            for r in self.file.relocations(section)? {
                let suffix = match r.ty {
                    elf::R_AMDGPU_ABS32_LO => "@abs32@lo",
                    elf::R_AMDGPU_ABS32_HI => "@abs32@hi",
                    elf::R_AMDGPU_REL32 => "@rel32",
                    elf::R_AMDGPU_REL32_LO => "@rel32@lo",
                    elf::R_AMDGPU_REL32_HI => "@rel32@hi",
                    elf::R_AMDGPU_REL64 => "@rel64",
                    elf::R_AMDGPU_GOTPCREL => "@gotpcrel",
                    elf::R_AMDGPU_GOTPCREL32_LO => "@gotpcrel32@lo",
                    elf::R_AMDGPU_GOTPCREL32_HI => "@gotpcrel32@hi",
                    _ => "",
                };
                let size = elf::reloc_type(r.ty).map_or(0, |t| t.size);
                let symbol = self.file.symbols.get(r.symbol as usize);
                if let Some(expression) = symbol.and_then(|s| self.expression(&r, s, suffix)) {
                    all.insert((section, r.offset), (expression, size));
                }
            }
        }
        Ok(all)
    }

    /// Section and byte of an address.
    fn place(&self, address: u64) -> Option<(u32, u64)> {
        let within = |(number, s): (usize, &Section<'_>)| {
            // A section may claim to reach beyond the last address.
            let at = address.checked_sub(s.address).filter(|at| *at < s.size)?;
            (s.flags & SHF_ALLOC != 0).then_some((number as u32, at))
        };
        self.file.sections.iter().enumerate().find_map(within)
    }

    fn expression(&mut self, r: &Relocation, symbol: &Symbol<'_>, suffix: &str) -> Option<String> {
        if symbol.name.is_empty() {
            let at = symbol.value.wrapping_add_signed(r.addend);
            let size = self.file.sections.get(symbol.section as usize)?.size;
            // Beyond the section, or before it, there is no place for a label.
            if suffix.is_empty() && at <= size {
                self.anchors.insert((symbol.section, at));
                return Some(anchor(symbol.section, at));
            }
            self.anchors.insert((symbol.section, 0));
            return Some(format!("{}{suffix}{:+}", anchor(symbol.section, 0), at as i64));
        }
        let name = spelt(symbol.name);
        Some(if r.addend == 0 { format!("{name}{suffix}") } else { format!("{name}{suffix}{:+}", r.addend) })
    }

    fn section(&mut self, number: usize, relocations: &Relocations) {
        let file = self.file;
        let section = &file.sections[number];
        let start = if self.is_linked() { section.address } else { 0 };
        let mut labels: BTreeMap<usize, Vec<&Symbol<'a>>> = BTreeMap::new();
        for symbol in file.symbols.iter().filter(|s| s.section as usize == number) {
            let at = symbol.value.checked_sub(start).filter(|at| *at <= section.size);
            if let Some(at) = at.filter(|_| self.wants(symbol)) {
                labels.entry(at as usize).or_default().push(symbol);
            }
        }
        let mut anchors: BTreeSet<usize> = BTreeSet::new();
        if self.kernel.is_none() {
            let mine = self.anchors.range((number as u32, 0)..=(number as u32, u64::MAX));
            anchors.extend(mine.map(|a| a.1 as usize));
        } else if labels.is_empty() {
            return;
        }
        self.section_directive(number, section);
        if section.align > 1 {
            self.line(format_args!("\t.p2align {}", section.align.trailing_zeros()));
        }
        if section.ty == SHT_NOBITS {
            return self.nobits(number, section.size as usize, &labels, &anchors);
        }
        let whole = 0..section.data.len();
        let ranges = match self.kernel {
            None => vec![whole],
            Some(_) => parts(&labels, whole.end),
        };
        for range in ranges {
            if section.flags & SHF_EXECINSTR != 0 {
                self.code(number, range, &labels, &anchors, relocations);
            } else {
                self.data(number, range, &labels, &anchors, relocations);
            }
        }
    }

    fn section_directive(&mut self, number: usize, section: &Section<'_>) {
        // Linked sections may be of several kinds, which leaves the flag without a size.
        let merged = section.flags & SHF_MERGE != 0 && section.entsize != 0;
        let group = self.file.group_of(number as u32).filter(|_| !self.is_linked());
        let mut flags = String::from("a");
        for (has, letter) in [
            (section.flags & SHF_WRITE != 0, 'w'),
            (section.flags & SHF_EXECINSTR != 0, 'x'),
            (merged, 'M'),
            (merged && section.flags & SHF_STRINGS != 0, 'S'),
            (group.is_some(), 'G'),
        ] {
            flags.extend(has.then_some(letter));
        }
        let ty = if section.ty == SHT_NOBITS { "nobits" } else { "progbits" };
        let entsize = if merged { format!(",{}", section.entsize) } else { String::new() };
        let group = group.map_or(String::new(), |g| {
            format!(",{}{}", spelt(g.signature), if g.comdat { ",comdat" } else { "" })
        });
        self.line(format_args!("\n\t.section {},\"{flags}\",@{ty}{entsize}{group}", spelt(section.name)));
    }

    fn nobits(
        &mut self,
        number: usize,
        size: usize,
        labels: &BTreeMap<usize, Vec<&Symbol<'a>>>,
        anchors: &BTreeSet<usize>,
    ) {
        let stops: BTreeSet<usize> = labels.keys().chain(anchors).copied().chain([size]).collect();
        let mut at = 0;
        for stop in stops {
            if stop > at {
                self.line(format_args!("\t.zero {}", stop - at));
            }
            at = stop;
            self.labels(number, at, labels, anchors);
        }
    }

    fn labels(
        &mut self,
        number: usize,
        at: usize,
        labels: &BTreeMap<usize, Vec<&Symbol<'a>>>,
        anchors: &BTreeSet<usize>,
    ) {
        for symbol in labels.get(&at).map_or(&[][..], |l| l) {
            if self.descriptor(symbol).is_none() {
                self.line(format_args!("{}:", spelt(symbol.name)));
            }
        }
        if anchors.contains(&at) {
            self.line(format_args!("{}:", anchor(number as u32, at as u64)));
        }
    }

    fn data(
        &mut self,
        number: usize,
        range: std::ops::Range<usize>,
        labels: &BTreeMap<usize, Vec<&Symbol<'a>>>,
        anchors: &BTreeSet<usize>,
        relocations: &Relocations,
    ) {
        let bytes = self.file.sections[number].data;
        let mut at = range.start;
        while at < range.end {
            self.labels(number, at, labels, anchors);
            let made = labels.get(&at).and_then(|l| l.iter().find_map(|s| self.descriptor(s)));
            if let Some((name, lines)) = made {
                self.line(format_args!("\t.amdhsa_kernel {}", spelt(&name)));
                for (directive, value) in lines {
                    self.line(format_args!("\t\t{directive} {value}"));
                }
                self.line(format_args!("\t.end_amdhsa_kernel"));
                let kernel = self.file.symbols.iter().find(|s| s.name == name && s.section != 0);
                if let Some(kernel) = kernel.filter(|k| self.descriptor_visibility(k).is_some()) {
                    self.visibility(&spelt(&name), kernel.other & 3);
                }
                at += descriptor::SIZE;
                continue;
            }
            if let Some((expression, size)) = relocations.get(&(number as u32, at as u64)) {
                let directive = if *size == 8 { ".quad" } else { ".long" };
                self.line(format_args!("\t{directive} {expression}"));
                at += usize::from(*size).max(1);
                continue;
            }
            let limit = (at + 16).min(range.end);
            let broken = |i: &usize| {
                labels.contains_key(i)
                    || anchors.contains(i)
                    || relocations.contains_key(&(number as u32, *i as u64))
            };
            let stop = (at + 1..limit).find(broken).unwrap_or(limit);
            let list: Vec<String> = bytes[at..stop].iter().map(|b| format!("{b:#04x}")).collect();
            self.line(format_args!("\t.byte {}", list.join(",")));
            at = stop;
        }
        if at == bytes.len() {
            self.labels(number, at, labels, anchors);
        }
    }

    fn code(
        &mut self,
        number: usize,
        range: std::ops::Range<usize>,
        labels: &BTreeMap<usize, Vec<&Symbol<'a>>>,
        anchors: &BTreeSet<usize>,
        relocations: &Relocations,
    ) {
        let bytes = &self.file.sections[number].data[..range.end];
        let kernel_code = |at: usize| {
            let is = |s: &&&Symbol<'a>| s.ty == STT_AMDGPU_HSA_KERNEL;
            labels.get(&at).is_some_and(|l| l.iter().any(|s| is(&s))) && at + kernel_code::SIZE <= bytes.len()
        };
        let (structures, items) = decode(&self.target, bytes, range.start, kernel_code, labels);
        let items = checked(&self.target, bytes, items);
        let inside = |t: &u64| (range.start as u64..range.end as u64).contains(t);
        let known: BTreeSet<usize> = items.iter().map(|i| i.at).collect();
        let targets: BTreeSet<usize> = items
            .iter()
            .filter_map(|i| i.target.filter(inside).map(|t| t as usize))
            .filter(|t| known.contains(t))
            .collect();
        let mut structures = structures.into_iter().peekable();
        for item in &items {
            while let Some(at) = structures.next_if(|at| *at < item.at) {
                self.labels(number, at, labels, anchors);
                self.kernel_code(&bytes[at..]);
            }
            self.labels(number, item.at, labels, anchors);
            if targets.contains(&item.at) {
                self.line(format_args!(".L{number}_{:x}:", item.at));
            }
            let words = item.at..item.at + item.length;
            let relocated = words.clone().any(|i| relocations.contains_key(&(number as u32, i as u64)));
            match item.target.filter(inside).map(|t| t as usize).filter(|t| targets.contains(t)) {
                Some(target) if !relocated && !item.raw => {
                    let mnemonic = item.text.split(' ').next().unwrap_or("");
                    self.line(format_args!("\t{mnemonic} .L{number}_{target:x}"));
                }
                _ if relocated || item.raw => self.words(number, words, bytes, relocations, &item.text),
                _ => self.line(format_args!("\t{}", item.text)),
            }
        }
        if range.end == self.file.sections[number].data.len() {
            self.labels(number, range.end, labels, anchors);
        }
    }

    /// Code object v2's structure before a kernel; as numbers if it has bits that no key has.
    fn kernel_code(&mut self, bytes: &[u8]) {
        let Some(code) = KernelCode::read(bytes) else { return };
        let Some(keys) = code.keys() else {
            self.line(format_args!("\t; amd_kernel_code_t with bits that no key has"));
            for word in code.0.as_chunks::<4>().0 {
                self.line(format_args!("\t.long {:#010x}", u32::from_le_bytes(*word)));
            }
            return;
        };
        self.line(format_args!("\t.amd_kernel_code_t"));
        for (name, value) in keys {
            self.line(format_args!("\t\t{name} = {value}"));
        }
        self.line(format_args!("\t.end_amd_kernel_code_t"));
    }

    /// An instruction as numbers, with expressions where relocations fill something in.
    fn words(
        &mut self,
        number: usize,
        range: std::ops::Range<usize>,
        bytes: &[u8],
        relocations: &Relocations,
        text: &str,
    ) {
        let mut at = range.start;
        while at < range.end {
            let comment = if at == range.start { format!(" ; {text}") } else { String::new() };
            match relocations.get(&(number as u32, at as u64)) {
                // A branch to a symbol of another section.
                Some((expression, 2)) => {
                    let mnemonic = text.split(' ').next().unwrap_or("");
                    self.line(format_args!("\t{mnemonic} {expression}"));
                    at += 4;
                }
                Some((expression, size)) => {
                    let directive = if *size == 8 { ".quad" } else { ".long" };
                    self.line(format_args!("\t{directive} {expression}{comment}"));
                    at += usize::from(*size).max(4);
                }
                None => {
                    let rest = &bytes[at..range.end];
                    match rest.first_chunk::<4>() {
                        Some(word) => {
                            self.line(format_args!("\t.long {:#010x}{comment}", u32::from_le_bytes(*word)))
                        }
                        None => {
                            let list: Vec<String> = rest.iter().map(|b| format!("{b:#04x}")).collect();
                            self.line(format_args!("\t.byte {}{comment}", list.join(",")));
                        }
                    }
                    at += 4;
                }
            }
        }
    }

    fn metadata(&mut self) -> Result<(), Error> {
        let Some(mut document) = self.file.metadata()? else { return Ok(()) };
        let old = self.file.os() == Os::Hsa && self.file.version() <= 2;
        let key = if old { "Kernels" } else { "amdhsa.kernels" };
        if let (Some(kernel), Value::Map(map)) = (self.kernel, &mut document)
            && let Some(Value::Array(kernels)) = map.get_mut(key)
        {
            let name = |k: &Value<'_>| {
                k.get(if old { "Name" } else { ".name" }).and_then(Value::as_str) == Some(kernel)
            };
            kernels.retain(name);
        }
        if old {
            let text = v2::to_text(&document).map_err(|e| Error::new(".note", None, e.to_string()))?;
            self.line(format_args!("\n\t.amd_amdgpu_hsa_metadata\n{}", text.trim_end()));
            self.line(format_args!("\t.end_amd_amdgpu_hsa_metadata"));
        } else if self.file.os() == Os::Hsa {
            let text = to_yaml(&document, false);
            self.line(format_args!("\n\t.amdgpu_metadata\n{}", text.trim_end()));
            self.line(format_args!("\t.end_amdgpu_metadata"));
        }
        Ok(())
    }
}

/// The bytes of symbols in a section of so many bytes. Those that overlap are given once.
fn parts(labels: &BTreeMap<usize, Vec<&Symbol<'_>>>, end: usize) -> Vec<std::ops::Range<usize>> {
    let mut shown = 0;
    let part = |(at, symbols): (&usize, &Vec<&Symbol<'_>>)| {
        let part = shown.max(*at)..at.saturating_add(symbols[0].size as usize).min(end);
        shown = shown.max(part.end);
        part
    };
    labels.iter().map(part).filter(|part| !part.is_empty()).collect()
}

/// The instructions of a section from a byte on, and where code object v2's structures are.
fn decode(
    target: &Target,
    bytes: &[u8],
    start: usize,
    kernel_code: impl Fn(usize) -> bool,
    labels: &BTreeMap<usize, Vec<&Symbol<'_>>>,
) -> (Vec<usize>, Vec<Item>) {
    let dis = Disassembler::new(*target);
    let (mut items, mut structures) = (Vec::new(), Vec::new());
    let mut text = Vec::new();
    let mut at = start;
    while at < bytes.len() {
        if kernel_code(at) && structures.last() != Some(&at) {
            structures.push(at);
            at += kernel_code::SIZE;
            continue;
        }
        text.clear();
        // A label inside an instruction: what is before it is no instruction.
        let room = labels.range(at + 1..).next().map_or(bytes.len(), |l| bytes.len().min(*l.0)) - at;
        let inst = dis.one(&bytes[at..], &mut text).filter(|i| usize::from(i.len) <= room);
        let (length, target) = match &inst {
            Some(inst) => (usize::from(inst.len), branch_target(inst, at as u64)),
            None => (room.min(4), None),
        };
        let shown = if inst.is_some() { String::from_utf8_lossy(&text).into_owned() } else { "data".into() };
        items.push(Item { at, length, text: shown, target, raw: inst.is_none() });
        at += length;
    }
    (structures, items)
}

/// Marks the instructions whose text does not assemble to their bytes.
fn checked(target: &Target, bytes: &[u8], mut items: Vec<Item>) -> Vec<Item> {
    // What is refused is left out, then all the rest assembles.
    for attempt in 0..2 {
        let mut options = Options::new(*target);
        options.output = OutputType::Obj;
        let mut lines = String::new();
        let mut starts = Vec::with_capacity(items.len());
        for item in &items {
            starts.push(lines.len());
            if !item.raw {
                lines.push_str(&item.text);
            }
            lines.push('\n');
        }
        let result = crate::assemble(&options, "", lines.into_bytes());
        if result.failed() {
            let mut refused = false;
            for diagnostic in
                result.diagnostics.iter().filter(|d| d.severity == crate::source::Severity::Error)
            {
                let line =
                    diagnostic.span.map_or(0, |s| starts.partition_point(|at| *at <= s.start as usize));
                if let Some(item) = line.checked_sub(1).and_then(|l| items.get_mut(l)) {
                    item.raw = true;
                    refused = true;
                }
            }
            if attempt == 0 && refused {
                continue;
            }
            items.iter_mut().for_each(|i| i.raw = true);
            return items;
        }
        let text = result.sections.iter().position(|s| &*s.name == ".text");
        let made =
            text.and_then(|i| result.object.as_ref()?.sections.get(i)).map_or(&[][..], |s| &s.data[..]);
        compare(target, bytes, made, &mut items);
        break;
    }
    items
}

/// Walks through the assembled instructions along with the original ones.
fn compare(target: &Target, bytes: &[u8], made: &[u8], items: &mut [Item]) {
    let dis = Disassembler::new(*target);
    let mut at = 0;
    for item in items.iter_mut().filter(|i| !i.raw) {
        let wanted = &bytes[item.at..item.at + item.length];
        if made.get(at..).is_some_and(|m| m.starts_with(wanted)) {
            at += item.length;
            continue;
        }
        item.raw = true;
        at +=
            made.get(at..).and_then(|m| dis.decoder().decode_bytes(m).ok()).map_or(4, |i| usize::from(i.len));
    }
}
