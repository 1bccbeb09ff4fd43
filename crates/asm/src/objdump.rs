//! A section of code as `llvm-objdump -d` shows it: labels, instructions with their addresses and dwords, branch
//! targets by name, data in code symbols of objects as a dump, kernel descriptors as directives.

use crate::disasm::Disassembler;
use crate::hex;
use std::io::Write;
use std::ops::Range;
use wavemill_isa::{Enc, Inst, Role, Target};
use wavemill_object::descriptor::{self, Descriptor};
use wavemill_object::kernel_code::{self, KernelCode};

/// What a label names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Instructions.
    Code,
    /// Bytes.
    Data,
    /// A kernel descriptor.
    Descriptor,
    /// Code object v2's `amd_kernel_code_t`, and instructions after it.
    KernelCode,
}

/// A name for an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label<'a> {
    /// Address.
    pub address: u64,
    /// Name.
    pub name: &'a str,
    /// What it names.
    pub shows: Shows,
}

/// A place in the listing where more can be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Before the instruction at an address.
    Before(u64),
    /// After the instruction that takes these bytes.
    After(Range<u64>),
}

/// Writes what shall stand between the instructions.
pub type Notes<'a> = dyn FnMut(Beside, &mut Vec<u8>) + 'a;

/// A section to show.
pub struct Part<'a> {
    /// Its name.
    pub name: &'a str,
    /// Address of its first byte.
    pub base: u64,
    /// Its contents.
    pub code: &'a [u8],
    /// Names in it, sorted by address; of several at one address the last is shown.
    pub labels: &'a [Label<'a>],
    /// Branch targets without a name get one, `L0` and so on, as --symbolize-operands asks for.
    pub symbolize: bool,
    /// Blocks of zeros are code like any other; else they are `...`, up to the next of the places that relocations change.
    pub zeros: bool,
    /// Addresses that relocations change, sorted.
    pub patched: &'a [u64],
}

impl Part<'_> {
    /// How many of the bytes at an address are not worth showing.
    fn skipped(&self, address: u64, bytes: &[u8]) -> usize {
        if self.zeros {
            return 0;
        }
        let next = self.patched.get(self.patched.partition_point(|p| *p < address));
        let room = next.map_or(u64::MAX, |p| p - address).min(bytes.len() as u64) as usize;
        match bytes[..room].iter().take_while(|b| **b == 0).count() {
            0..8 => 0,
            // What follows may begin with zeros.
            count => count & !3,
        }
    }
}

/// A label with its address, in order: what runs are made of.
type Start<'a> = (u64, &'a str, Shows);

/// Bytes of text after which it is written out: small enough to stay in the cache.
const FLUSH: usize = 1 << 16;

/// Column of the `//` that follows an instruction's text.
const COMMENT: usize = 59;

/// Appends a dword's eight digits.
#[inline]
fn hex32(value: u32, out: &mut Vec<u8>) {
    let mut digits = [0u8; 8];
    for (slot, byte) in digits.chunks_exact_mut(2).zip(value.to_be_bytes()) {
        slot.copy_from_slice(&hex::UPPER[byte as usize]);
    }
    out.extend_from_slice(&digits);
}

/// Disassembles sections for one target.
pub struct Objdump {
    dis: Disassembler,
    version: u8,
}

impl Objdump {
    /// For a target and a code object version.
    pub fn new(target: Target, version: u8) -> Self {
        Objdump { dis: Disassembler::new(target), version }
    }

    /// Writes a section's text.
    pub fn section(
        &self,
        part: &Part<'_>,
        mut notes: Option<&mut Notes<'_>>,
        sink: &mut dyn Write,
    ) -> std::io::Result<()> {
        let Part { name, base, labels, symbolize, .. } = *part;
        // Bytes after the last address have none to be shown at.
        let code = &part.code[..part.code.len().min(usize::try_from(u64::MAX - base).unwrap_or(usize::MAX))];
        let out = &mut Vec::with_capacity(2 * FLUSH);
        out.extend_from_slice(b"\nDisassembly of section ");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b":\n");
        let end = base + code.len() as u64;
        let inside = labels.iter().filter(|l| l.address >= base && l.address < end);
        let mut starts: Vec<Start<'_>> = Vec::new();
        for label in inside {
            if starts.last().is_some_and(|s| s.0 == label.address) {
                starts.pop();
            }
            starts.push((label.address, label.name, label.shows));
        }
        if starts.first().is_none_or(|s| s.0 != base) && base < end {
            starts.insert(0, (base, name, Shows::Code));
        }
        let numbers: Vec<String>;
        if symbolize {
            let targets = self.unnamed_targets(base, code, &starts);
            numbers = (0..targets.len()).map(|n| format!("L{n}")).collect();
            starts = with_numbers(&starts, &targets, &numbers);
        }
        for (i, &(address, label, shows)) in starts.iter().enumerate() {
            let stop = starts.get(i + 1).map_or(end, |s| s.0);
            head(address, label, out);
            let bytes = &code[(address - base) as usize..(stop - base) as usize];
            let skip = match shows {
                Shows::Data => {
                    dump(address, bytes, out);
                    continue;
                }
                Shows::Descriptor => self.descriptor(label, bytes, out),
                Shows::KernelCode => kernel_code_text(bytes, out),
                Shows::Code => 0,
            };
            let bytes = &bytes[skip..];
            if skip == descriptor::SIZE && bytes.iter().all(|b| *b == 0) {
                continue;
            }
            let at = (address - base) as usize + skip;
            // An instruction may look past the label that ends its run; the bytes beyond are the section's.
            self.run(part, base + at as u64, bytes, &code[at..], &starts, notes.as_deref_mut(), out, sink)?;
        }
        sink.write_all(out)
    }

    /// Writes the kernel descriptors of a section that is no code.
    pub fn descriptors(&self, part: &Part<'_>, sink: &mut dyn Write) -> std::io::Result<()> {
        let out = &mut Vec::new();
        for label in part.labels.iter().filter(|l| l.shows == Shows::Descriptor) {
            let at = label.address.checked_sub(part.base).and_then(|at| usize::try_from(at).ok());
            let Some(bytes) = at.and_then(|at| part.code.get(at..)) else { continue };
            if out.is_empty() {
                out.extend_from_slice(format!("\nDisassembly of section {}:\n", part.name).as_bytes());
            }
            head(label.address, label.name, out);
            self.descriptor(label.name, bytes, out);
        }
        sink.write_all(out)
    }

    /// Writes the directives of the descriptor that `bytes` start with; returns its size.
    fn descriptor(&self, name: &str, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let Some(d) = Descriptor::read(bytes) else {
            let message = format!("; error decoding {name}: {} bytes are too few\n", bytes.len());
            out.extend_from_slice(message.as_bytes());
            return byte_lines(bytes, out);
        };
        // llvm-objdump takes XNACK for off unless the object demands it; `restore` counts as an assembler does.
        let target = self.dis.decoder().target();
        let target = Target { xnack: target.xnack.or(Some(false)), ..*target };
        let (lines, unsaid) = d.directives(&target, self.version);
        if !unsaid.is_empty() {
            let message = format!(
                "; error decoding {name}: no directive sets {}\n; decoding failed region as bytes\n",
                unsaid.join(", ")
            );
            out.extend_from_slice(message.as_bytes());
            return byte_lines(&d.0, out);
        }
        let kernel = name.strip_suffix(".kd").unwrap_or(name);
        out.extend_from_slice(format!(".amdhsa_kernel {kernel}\n").as_bytes());
        for (directive, value) in lines {
            out.extend_from_slice(format!("\t{directive} {value}\n").as_bytes());
        }
        out.extend_from_slice(b".end_amdhsa_kernel\n");
        descriptor::SIZE
    }

    /// Branch targets in the section that no label names, sorted.
    fn unnamed_targets(&self, base: u64, code: &[u8], starts: &[Start<'_>]) -> Vec<u64> {
        let end = base + code.len() as u64;
        let mut targets = Vec::new();
        for (i, &(address, _, shows)) in starts.iter().enumerate() {
            let stop = starts.get(i + 1).map_or(end, |s| s.0);
            let mut address = match shows {
                Shows::Data | Shows::Descriptor => continue,
                Shows::KernelCode => address + (kernel_code::SIZE as u64).min(stop - address),
                Shows::Code => address,
            };
            while address < stop {
                let bytes = &code[(address - base) as usize..];
                let length = match self.dis.decoder().decode_bytes(bytes) {
                    Ok(inst) => {
                        targets.extend(branch_target(&inst, address).filter(|t| (base..end).contains(t)));
                        inst.len.into()
                    }
                    Err(_) => 4,
                };
                address = address.saturating_add(length);
            }
        }
        targets.sort_unstable();
        targets.dedup();
        targets.retain(|t| starts.binary_search_by_key(t, |s| s.0).is_err());
        targets
    }

    #[allow(clippy::too_many_arguments)] // a run, what surrounds it, and where its text goes
    fn run(
        &self,
        part: &Part<'_>,
        mut address: u64,
        bytes: &[u8],
        ahead: &[u8],
        labels: &[Start<'_>],
        mut notes: Option<&mut Notes<'_>>,
        out: &mut Vec<u8>,
        sink: &mut dyn Write,
    ) -> std::io::Result<()> {
        let mut at = 0;
        while at < bytes.len() {
            if out.len() > FLUSH {
                sink.write_all(out)?;
                out.clear();
            }
            let skipped = part.skipped(address, &bytes[at..]);
            if skipped > 0 {
                out.extend_from_slice(b"\t\t...\n");
                at += skipped;
                address = address.saturating_add(skipped as u64);
                continue;
            }
            if let Some(notes) = &mut notes {
                notes(Beside::Before(address), out);
            }
            let start = out.len();
            out.push(b'\t');
            let len = match self.dis.one(&ahead[at..], out) {
                Some(inst) => {
                    let target = branch_target(&inst, address);
                    let exact = target.and_then(|t| named(labels, t));
                    if let (Some((label, 0)), Some(space)) = (exact, out.iter().rposition(|&b| b == b' ')) {
                        out.truncate(space + 1);
                        out.extend_from_slice(label.as_bytes());
                    }
                    comment(start, address, out);
                    hex32(inst.bits as u32, out);
                    if inst.len == 8 {
                        out.push(b' ');
                        hex32((inst.bits >> 32) as u32, out);
                    }
                    if let Some((label, offset @ 1..)) = exact {
                        out.extend_from_slice(b" <");
                        out.extend_from_slice(label.as_bytes());
                        out.extend_from_slice(format!("+{offset:#x}>").as_bytes());
                    }
                    inst.len as usize
                }
                None if bytes.len() - at >= 4 => {
                    let word = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
                    out.extend_from_slice(format!(".long {word:#010x}").as_bytes());
                    comment(start, address, out);
                    hex32(word, out);
                    4
                }
                None => {
                    let rest = &bytes[at..];
                    out.extend_from_slice(b".byte ");
                    let list: Vec<String> = rest.iter().map(|b| format!("{b:#04x}")).collect();
                    out.extend_from_slice(list.join(", ").as_bytes());
                    comment(start, address, out);
                    let list: Vec<String> = rest.iter().map(|b| format!("{b:02X}")).collect();
                    out.extend_from_slice(list.join(" ").as_bytes());
                    rest.len()
                }
            };
            out.push(b'\n');
            let after = address.saturating_add(len as u64);
            if let Some(notes) = &mut notes {
                notes(Beside::After(address..after), out);
            }
            at += len;
            address = after;
        }
        Ok(())
    }
}

/// Where a branch goes; `None` for other instructions.
pub fn branch_target(inst: &Inst, address: u64) -> Option<u64> {
    if inst.row.enc != Enc::Sopp {
        return None;
    }
    inst.row.operand(Role::Label)?;
    let words = inst.get(Role::Label) as i16 as i64;
    Some(address.wrapping_add_signed(4 + 4 * words))
}

/// The labels with the numbered targets between them.
fn with_numbers<'a>(starts: &[Start<'a>], targets: &[u64], numbers: &'a [String]) -> Vec<Start<'a>> {
    let numbered = targets.iter().zip(numbers).map(|(t, n)| (*t, n.as_str(), Shows::Code));
    let mut all: Vec<_> = starts.iter().copied().chain(numbered).collect();
    all.sort_by_key(|s| s.0);
    all
}

/// Writes an address and its label.
fn head(address: u64, label: &str, out: &mut Vec<u8>) {
    out.push(b'\n');
    hex_lower(address, out);
    out.extend_from_slice(b" <");
    out.extend_from_slice(label.as_bytes());
    out.extend_from_slice(b">:\n");
}

/// Writes bytes that cannot be shown otherwise, as llvm-objdump does; returns how many.
fn byte_lines(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    for byte in bytes {
        out.extend_from_slice(format!("\t.byte\t {byte:#X}\n").replace("0X", "0x").as_bytes());
    }
    bytes.len()
}

/// Writes the `amd_kernel_code_t` that `bytes` start with; returns its size.
pub fn kernel_code_text(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    let Some(code) = KernelCode::read(bytes) else { return 0 };
    out.extend_from_slice(b"\t.amd_kernel_code_t\n");
    for field in kernel_code::FIELDS.iter().filter(|f| f.listed) {
        let line = format!("\t\t{} = {}\n", field.name, code.listed_value(field));
        out.extend_from_slice(line.as_bytes());
    }
    out.extend_from_slice(b"\t.end_amd_kernel_code_t\n");
    kernel_code::SIZE
}

/// The label at or before an address, and the distance from it.
fn named<'a>(labels: &[Start<'a>], address: u64) -> Option<(&'a str, u64)> {
    let after = labels.partition_point(|l| l.0 <= address);
    let label = labels.get(after.checked_sub(1)?)?;
    Some((label.1, address - label.0))
}

fn comment(start: usize, address: u64, out: &mut Vec<u8>) {
    // A fixed number of blanks and a cut are quicker than as many as are wanted.
    let wanted = (start + 1 + COMMENT).max(out.len());
    out.extend_from_slice(&[b' '; COMMENT]);
    out.truncate(wanted);
    let digits = |byte: u8| hex::UPPER[byte as usize];
    let [_, _, a, b, ..] = address.to_be_bytes();
    let ([a0, a1], [b0, b1]) = (digits(a), digits(b));
    out.extend_from_slice(&[b'/', b'/', b' ', a0, a1, b0, b1]);
    hex32(address as u32, out);
    out.extend_from_slice(b": ");
}

fn hex_lower(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{value:016x}").as_bytes());
}

/// Data the way objdump shows it: eight bytes to a line, and what they read as.
fn dump(mut address: u64, bytes: &[u8], out: &mut Vec<u8>) {
    for line in bytes.chunks(8) {
        let mut text = format!("{address:8x}:");
        for byte in line {
            text.push_str(&format!(" {byte:02x}"));
        }
        let shown: String =
            line.iter().map(|&b| if (0x20..0x7f).contains(&b) { b as char } else { '.' }).collect();
        out.extend_from_slice(format!("{text:<42}{shown}\n").as_bytes());
        address += line.len() as u64;
    }
}
