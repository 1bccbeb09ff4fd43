//! CLRX's source for a container: one that assembles to the same bytes.
//!
//! Every line is tried out: an instruction that does not come back as its bits is written as numbers, a kernel whose
//! configuration does not give its set-up and metadata has both written byte by byte.

use super::arg::spelling;
use super::{Assembler, Options, What, spell};
use crate::objdump::branch_target;
use crate::print::Printer;
use crate::source::SourceMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use wavemill_isa::{Decoder, Enc, Inst, Role, Target};
use wavemill_object::catalyst::device::{Device, FIRST_INNER};
use wavemill_object::catalyst::metadata::Record;
use wavemill_object::catalyst::write::{ISA_METADATA, LoadedSection, default_acl_version, stub};
use wavemill_object::catalyst::{Container, Layout, STUB_BYTES, Width};
use wavemill_object::elf::{R_V1_32_HIGH, R_V1_32_LOW, R_V1_INIT_SAMPLER, SHT_NOBITS};
use wavemill_object::kernel_code::{self, KernelCode};
use wavemill_object::read::{Error, File, Kernel, KernelForm, Relocation};

/// Labels at the start of data.
const DATA_LABELS: [(LoadedSection, &str); 3] = [
    (LoadedSection::Constants, ".gdata"),
    (LoadedSection::Data, ".rwdata0"),
    (LoadedSection::Bss, ".bssdata0"),
];

/// A relocation of code as an expression, by byte of the text.
type Relocated = BTreeMap<u64, String>;

/// Writes a container's source, or of one kernel alone.
pub fn disassemble(file: &File<'_>, only: Option<&str>) -> Result<String, Error> {
    let container = file.catalyst.as_deref();
    let container = container.ok_or_else(|| {
        Error::new("file", None, "CLRX's assembly is for OpenCL binaries of Catalyst, and this is none")
    })?;
    let (device, driver) = container.device(file.inner());
    let device = device.ok_or_else(|| Error::new("file", None, "it does not say for which GPU it is"))?;
    let target = device.target_id().target();
    let target = target.ok_or_else(|| Error::new("file", None, "its GPU is not known"))?;
    let mut writer = Writer { file, container, device, driver, target, out: String::new() };
    writer.head();
    writer.data()?;
    let relocated = writer.relocations()?;
    for (number, kernel) in file.kernels()?.iter().enumerate() {
        if only.is_none_or(|name| name == kernel.name) {
            writer.kernel(kernel, number, &relocated)?;
        }
    }
    Ok(writer.out)
}

struct Writer<'f, 'a> {
    file: &'f File<'a>,
    container: &'f Container<'a>,
    device: &'static Device,
    driver: u32,
    target: Target,
    out: String,
}

/// A string as CLRX reads it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(byte.into());
            }
            0x20..=0x7e => out.push(byte.into()),
            _ => _ = write!(out, "\\x{byte:02x}"),
        }
    }
    out + "\""
}

/// Bytes, sixteen to a line.
fn dump(bytes: &[u8], indent: &str, out: &mut String) {
    for line in bytes.chunks(16) {
        let numbers: Vec<String> = line.iter().map(|b| format!("{b:#04x}")).collect();
        let _ = writeln!(out, "{indent}.byte {}", numbers.join(", "));
    }
}

impl<'f, 'a> Writer<'f, 'a> {
    /// What is said before the first kernel.
    fn preamble(&self) -> String {
        let bits = if self.container.width == Width::W64 { 64 } else { 32 };
        let mut out = format!(".amdcl2\n.gpu {}\n.{bits}bit\n", self.device.name);
        if let Some([_, minor, stepping]) = self.file.inner().isa {
            let _ = writeln!(out, ".arch_minor {minor}\n.arch_stepping {stepping}");
        }
        let _ = writeln!(out, ".driver_version {}", self.driver);
        out
    }

    fn head(&mut self) {
        self.out = self.preamble();
        let (options, acl) = (self.container.options, self.container.acl_version);
        if !options.is_empty() {
            let _ = writeln!(self.out, ".compile_options {}", quoted(options));
        }
        if acl != default_acl_version(self.driver) {
            let _ = writeln!(self.out, ".acl_version {}", quoted(acl));
        }
    }

    /// Global data and samplers.
    fn data(&mut self) -> Result<(), Error> {
        for (place, label) in DATA_LABELS {
            let Some(section) = self.file.section(place.name()) else { continue };
            if section.ty == SHT_NOBITS {
                let _ = writeln!(
                    self.out,
                    ".bssdata align={}\n{label}:\n    .skip {}",
                    section.align, section.size
                );
                continue;
            }
            let directive = if place == LoadedSection::Data { ".rwdata" } else { ".globaldata" };
            let _ = writeln!(self.out, "{directive}\n{label}:");
            dump(section.data, "    ", &mut self.out);
        }
        let Some(samplers) = self.file.section(".hsaimage_samplerinit") else { return Ok(()) };
        let plain = samplers.data.chunks(8).all(|d| d.starts_with(&[8, 0, 1, 0]) && d.len() == 8);
        if plain {
            let words = samplers.data.chunks_exact(8).map(|d| u32::from_le_bytes([d[4], d[5], d[6], d[7]]));
            let words: Vec<String> = words.map(|w| format!("{w:#x}")).collect();
            let _ = writeln!(self.out, ".sampler {}", words.join(", "));
        } else {
            let _ = writeln!(self.out, ".samplerinit");
            dump(samplers.data, "    ", &mut self.out);
        }
        for r in self.relocations_of(LoadedSection::Constants)? {
            if r.ty == R_V1_INIT_SAMPLER
                && let Some(symbol) = self.file.symbols.get(r.symbol as usize)
            {
                let _ = writeln!(self.out, ".samplerreloc {}, {}", r.offset, symbol.value / 8);
            }
        }
        Ok(())
    }

    fn relocations_of(&self, place: LoadedSection) -> Result<Vec<Relocation>, Error> {
        let number = self.file.sections.iter().position(|s| s.name == place.name());
        number.map_or(Ok(Vec::new()), |n| self.file.relocations(n as u32))
    }

    /// The relocations of code as expressions.
    fn relocations(&self) -> Result<Relocated, Error> {
        let mut all = Relocated::new();
        for r in self.relocations_of(LoadedSection::Text)? {
            let symbol = self.file.symbols.get(r.symbol as usize);
            let home = symbol.and_then(|s| self.file.sections.get(s.section as usize)).map_or("", |s| s.name);
            let label = DATA_LABELS.iter().find(|l| l.0.name() == home);
            let (Some(symbol), Some((_, label))) = (symbol, label) else {
                let message = format!("the relocation at byte {:#x} refers to no data", r.offset);
                return Err(Error::new(".rela.hsatext", None, message));
            };
            let place = format!("{label}+{}", r.addend.wrapping_add_unsigned(symbol.value));
            let text = match r.ty {
                R_V1_32_LOW => format!("({place})&0xffffffff"),
                R_V1_32_HIGH => format!("({place})>>32"),
                other => {
                    let message = format!("relocation {other} at byte {:#x} has no form in CLRX", r.offset);
                    return Err(Error::new(".rela.hsatext", None, message));
                }
            };
            all.insert(r.offset, text);
        }
        Ok(all)
    }

    fn kernel(&mut self, kernel: &Kernel<'_>, number: usize, relocated: &Relocated) -> Result<(), Error> {
        let KernelForm::KernelCode(setup) = &kernel.form else { return Ok(()) };
        let start = kernel.symbol.value;
        let whole = self.file.bytes_from(&kernel.symbol).unwrap_or(&[]);
        let size = usize::try_from(kernel.symbol.size).unwrap_or(usize::MAX).min(whole.len());
        let code = whole.get(kernel_code::SIZE..size).unwrap_or(&[]);
        let metadata = self.container.metadata.iter().find(|m| m.kernel == kernel.name);
        let _ = writeln!(self.out, ".kernel {}", kernel.name);
        self.raw_old(kernel, setup, code);
        let record =
            metadata.and_then(|m| Record::read(m.kernel, m.bytes, m.offset, self.container.width).ok());
        let config = record.and_then(|r| {
            let text = self.config(setup, &r);
            let bytes = metadata.map_or(&[][..], |m| m.bytes);
            self.gives(kernel.name, r.index, &text, setup, bytes).then_some(text)
        });
        match config {
            Some(text) => self.out += &text,
            None => {
                self.out += "    .setup\n";
                dump(&setup.0, "        ", &mut self.out);
                self.out += "    .metadata\n";
                dump(metadata.map_or(&[], |m| m.bytes), "        ", &mut self.out);
            }
        }
        self.out += "    .text\n";
        self.code(code, start + kernel_code::SIZE as u64, number, relocated);
        Ok(())
    }

    /// What the old layout has besides, where it is not what would be made.
    fn raw_old(&mut self, kernel: &Kernel<'_>, setup: &KernelCode, code: &[u8]) {
        if self.container.layout == Layout::New {
            return;
        }
        let find = |parts: &[wavemill_object::catalyst::Part<'a>]| {
            parts.iter().find(|p| p.kernel == kernel.name).map(|p| p.bytes)
        };
        let in_front =
            find(&self.container.binaries).and_then(|b| b.get(..STUB_BYTES as usize)).unwrap_or(&[]);
        if in_front != stub(setup, code.len() as u64) {
            self.out += "    .stub\n";
            dump(in_front, "        ", &mut self.out);
        }
        let second = find(&self.container.isa_metadata).unwrap_or(&[]);
        if second != ISA_METADATA {
            self.out += "    .isametadata\n";
            dump(second, "        ", &mut self.out);
        }
    }

    /// The configuration that a set-up and its metadata suggest.
    fn config(&self, setup: &KernelCode, record: &Record<'_>) -> String {
        let get = |name: &str| setup.named(name);
        let mut out = String::from("    .config\n");
        let mut line = |text: String| {
            out += "        ";
            out += &text;
            out.push('\n');
        };
        let rsrc2 = u32::from_le_bytes(setup.0[52..56].try_into().unwrap_or_default());
        let groups: String =
            "xyz".chars().enumerate().filter(|(i, _)| rsrc2 >> (7 + i) & 1 != 0).map(|(_, c)| c).collect();
        line(format!(".dims {groups}, {}", &"xyz"[..(rsrc2 as usize >> 11 & 3).min(2) + 1]));
        let sizes = |s: [u32; 3]| format!("{}, {}, {}", s[0], s[1], s[2]);
        if record.required_size != [0; 3] {
            line(format!(".cws {}", sizes(record.required_size)));
        }
        line(format!(".sgprsnum {}", get("wavefront_sgpr_count")));
        line(format!(".vgprsnum {}", get("workitem_vgpr_count")));
        let numbers = [
            (".localsize", "workgroup_group_segment_byte_size"),
            (".scratchbuffer", "workitem_private_segment_byte_size"),
            (".gdssize", "gds_segment_byte_size"),
        ];
        for (directive, field) in numbers {
            if get(field) != 0 {
                line(format!("{directive} {}", get(field)));
            }
        }
        if get("float_mode") != 0xc0 {
            line(format!(".floatmode {:#x}", get("float_mode")));
        }
        if get("priority") != 0 {
            line(format!(".priority {}", get("priority")));
        }
        let bits = [
            (".dx10clamp", "enable_dx10_clamp"),
            (".ieeemode", "enable_ieee_mode"),
            (".debugmode", "debug_mode"),
            (".privmode", "priv"),
            (".tgsize", "enable_sgpr_workgroup_info"),
        ];
        for (directive, field) in bits {
            if get(field) != 0 && !(directive == ".dx10clamp" && self.driver >= FIRST_INNER) {
                line(directive.into());
            }
        }
        if get("enable_exception") != 0 {
            line(format!(".exceptions {:#x}", get("enable_exception")));
        }
        if rsrc2 & 0x40 != 0 {
            line(format!(".pgmrsrc2 {:#x}", rsrc2 & 0x40));
        }
        let low = u32::from_le_bytes(setup.0[56..60].try_into().unwrap_or_default()) & 0x7f;
        match low & 0xe {
            0xe => line(".usegeneric".into()),
            0xa if record.enqueues || (low & 0x20 != 0 && !self.target.level().is_gfx9()) => {
                line(".useenqueue".into())
            }
            0xa => line(".usesetup".into()),
            0x8 => line(".useargs".into()),
            _ => {}
        }
        if let Some(hints) = &record.hints {
            if hints.size != [0; 3] {
                line(format!(".work_group_size_hint {}", sizes(hints.size)));
            }
            if !hints.vector.is_empty() {
                line(format!(".vectypehint {}", hints.vector));
            }
        }
        record.args.iter().for_each(|arg| line(format!(".arg {}", spelling(arg))));
        out
    }

    /// Whether a configuration gives a set-up and metadata.
    fn gives(&self, kernel: &str, index: u32, config: &str, setup: &KernelCode, metadata: &[u8]) -> bool {
        // Kernels before it only take their numbers; more of them than this are not tried.
        if index > 4096 {
            return false;
        }
        let mut source = self.preamble();
        for i in 0..index {
            let _ = writeln!(source, ".kernel _{i}\n.config\n.dims x");
        }
        let _ = write!(source, ".kernel {kernel}\n{config}");
        let made = super::assemble(&Options::default(), "", source.into_bytes());
        let Some(bytes) = made.binary else { return false };
        let Ok(file) = File::parse(&bytes) else { return false };
        let same_setup = file.kernels().is_ok_and(|all| {
            let found = all.iter().find(|k| k.name == kernel);
            found.is_some_and(|k| k.form == KernelForm::KernelCode(Box::new(*setup)))
        });
        let same_metadata = file.catalyst.is_some_and(|c| {
            c.metadata.iter().find(|m| m.kernel == kernel).is_some_and(|m| m.bytes == metadata)
        });
        same_setup && same_metadata
    }

    /// Code of a kernel that starts at byte `base` of the text.
    fn code(&mut self, code: &[u8], base: u64, number: usize, relocated: &Relocated) {
        let decoder = Decoder::new(self.target);
        let mut targets = BTreeSet::new();
        let mut starts = BTreeSet::new();
        let mut at = 0;
        while at < code.len() {
            starts.insert(at as u64);
            let Ok(inst) = decoder.decode_bytes(&code[at..]) else {
                at += 4;
                continue;
            };
            targets.extend(branch_target(&inst, at as u64));
            at += usize::from(inst.len);
        }
        targets.retain(|t| starts.contains(t) || *t == code.len() as u64);
        let map = SourceMap::default();
        let options = Options::default();
        let mut trial = Trial::new(&options, &map, self.device);
        let mut at = 0;
        while at < code.len() {
            if targets.contains(&(at as u64)) {
                let _ = writeln!(self.out, ".L{at}_{number}:");
            }
            let rest = &code[at..];
            let inst = decoder.decode_bytes(rest).ok();
            let reloc = relocated.get(&(base + at as u64 + 4)).filter(|_| inst.is_some_and(|i| i.len == 8));
            let branch = inst.and_then(|i| branch_target(&i, at as u64)).filter(|t| targets.contains(t));
            let label = branch.map(|t| format!(".L{t}_{number}"));
            let symbol = label.as_ref().or(reloc);
            let text =
                inst.and_then(|i| trial.text(&i, symbol.map(String::as_str), self.target).map(|t| (i, t)));
            match text {
                Some((inst, text)) => {
                    let _ = writeln!(self.out, "        {text}");
                    at += usize::from(inst.len);
                }
                None => {
                    // Only what no instruction text gives: one dword at a time.
                    let word = rest.get(..4);
                    match word {
                        Some(w) => {
                            let _ = writeln!(
                                self.out,
                                "        .int {:#010x}",
                                u32::from_le_bytes([w[0], w[1], w[2], w[3]])
                            );
                        }
                        None => dump(rest, "        ", &mut self.out),
                    }
                    at += 4;
                }
            }
        }
        if targets.contains(&(code.len() as u64)) {
            let _ = writeln!(self.out, ".L{}_{number}:", code.len());
        }
    }
}

/// Tries instructions out.
struct Trial<'o> {
    assembler: Assembler<'o>,
}

impl<'o> Trial<'o> {
    fn new(options: &'o Options, map: &'o SourceMap, device: &'static Device) -> Trial<'o> {
        let mut assembler = Assembler::new(options, map);
        assembler.program.device = Some(device);
        // Names that stand for what is elsewhere.
        assembler.push_input("", Vec::new(), crate::source::Origin::Main, false);
        assembler.program.kernels.push(super::format::Kernel::default());
        assembler.sections.push(super::Section { what: What::Code(Some(0)), bytes: Vec::new(), align: 256 });
        assembler.current = Some(0);
        Trial { assembler }
    }

    /// The text of an instruction, if there is one that gives its bits.
    fn text(&mut self, inst: &Inst, symbol: Option<&str>, target: Target) -> Option<String> {
        let mut printed = Vec::new();
        Printer::new(target).inst(inst, symbol.map(str::as_bytes), &mut printed).ok()?;
        let llvm = String::from_utf8(printed).ok()?;
        let plain = clrx_text(&llvm, inst, target);
        let forced = match inst.form {
            wavemill_isa::Form::Vop3 => " vop3",
            wavemill_isa::Form::Sdwa => " sdwa",
            wavemill_isa::Form::Dpp => " dpp",
            wavemill_isa::Form::Base => "",
        };
        let symbolic = symbol.is_some();
        [plain.clone(), format!("{plain}{forced}")].into_iter().find(|t| self.gives(t, inst, symbolic))
    }

    fn gives(&mut self, text: &str, inst: &Inst, symbolic: bool) -> bool {
        let a = &mut self.assembler;
        a.sections[0].bytes.clear();
        a.fixups.clear();
        if a.one(text.as_bytes()).is_err() || a.sections[0].bytes.len() != usize::from(inst.len) {
            return false;
        }
        let mut bytes = [0; 8];
        bytes[..a.sections[0].bytes.len()].copy_from_slice(&a.sections[0].bytes);
        let got = u64::from_le_bytes(bytes);
        // What is filled in later is not compared.
        let later = match (symbolic, a.fixups.is_empty()) {
            (false, true) => 0,
            (true, false) if inst.len == 8 => 0xffff_ffff_0000_0000,
            (true, false) => 0xffff,
            _ => return false,
        };
        let mask = if inst.len == 8 { u64::MAX } else { 0xffff_ffff };
        (got ^ inst.bits) & mask & !later == 0
    }
}

/// CLRX's spelling of LLVM's text.
fn clrx_text(llvm: &str, inst: &Inst, target: Target) -> String {
    let level = target.level();
    let (mnemonic, rest) = llvm.split_once(' ').unwrap_or((llvm, ""));
    let bare =
        ["_e32", "_e64", "_sdwa", "_dpp"].iter().find_map(|s| mnemonic.strip_suffix(s)).unwrap_or(mnemonic);
    let name = spell::from_llvm(bare, level);
    let mut rest = rest.to_owned();
    // |x| is abs(x).
    while let Some(first) = rest.find('|')
        && let Some(second) = rest[first + 1..].find('|')
    {
        rest.replace_range(first + 1 + second..first + 2 + second, ")");
        rest.replace_range(first..first + 1, "abs(");
    }
    for (clrx, llvm) in spell::REGISTERS.iter().filter(|(c, l)| c != l && !c.starts_with("src_")) {
        rest = replace_word(&rest, llvm, clrx);
    }
    for (i, select) in crate::names::SDWA_SELS.iter().enumerate() {
        let clrx = ["byte0", "byte1", "byte2", "byte3", "word0", "word1", "dword"][i];
        rest = replace_word(&rest, select, clrx);
    }
    for (llvm, clrx) in [("UNUSED_PAD", "pad"), ("UNUSED_SEXT", "sext"), ("UNUSED_PRESERVE", "preserve")] {
        rest = replace_word(&rest, llvm, clrx);
    }
    if let Some((before, after)) = rest.split_once("hwreg(HW_REG_") {
        let end = after.find([',', ')']).unwrap_or(after.len());
        rest = format!("{before}hwreg({}{}", after[..end].to_ascii_lowercase(), &after[end..]);
    }
    rest = rest.replace("bound_ctrl:0", "bound_ctrl").replace("bound_ctrl:1", "bound_ctrl");
    match inst.row.enc {
        Enc::Mubuf | Enc::Mtbuf if inst.row.operand(Role::Vaddr).is_some() => {
            let vaddr = format!(", v{},", inst.bits >> 32 & 0xff);
            rest = rest.replacen(", off,", &vaddr, 1);
        }
        Enc::Flat | Enc::Global | Enc::Scratch => rest = rest.replace(" offset:", " inst_offset:"),
        _ => {}
    }
    if rest.is_empty() { name } else { format!("{name} {rest}") }
}

/// Replaces a word that stands on its own.
fn replace_word(text: &str, word: &str, with: &str) -> String {
    let part = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = text[at..].find(word) {
        let (start, end) = (at + found, at + found + word.len());
        let alone = !text[..start].bytes().next_back().is_some_and(part)
            && !text[end..].bytes().next().is_some_and(part);
        out += &text[at..start];
        out += if alone { with } else { word };
        at = end;
    }
    out + &text[at..]
}
