//! A section of code as `llvm-objdump -d` shows it: labels, instructions with their addresses and dwords, branch
//! targets by name, data in code symbols of objects as a dump.

use crate::disasm::Disassembler;
use std::io::Write;
use wavemill_isa::{Enc, Inst, Role, Target};

/// A name for an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label<'a> {
    /// Address.
    pub address: u64,
    /// Name.
    pub name: &'a str,
    /// It names data, not code.
    pub data: bool,
}

/// Bytes of text after which it is written out: small enough to stay in the cache.
const FLUSH: usize = 1 << 16;

/// Column of the `//` that follows an instruction's text.
const COMMENT: usize = 59;

/// Upper-case hexadecimal digits of every byte.
static HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789ABCDEF";
    let mut table = [[0; 2]; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = [digits[i >> 4], digits[i & 15]];
        i += 1;
    }
    table
};

/// Appends a dword's eight digits.
#[inline]
fn hex32(value: u32, out: &mut Vec<u8>) {
    let mut digits = [0u8; 8];
    for (slot, byte) in digits.chunks_exact_mut(2).zip(value.to_be_bytes()) {
        slot.copy_from_slice(&HEX[byte as usize]);
    }
    out.extend_from_slice(&digits);
}

/// Disassembles sections for one target.
pub struct Objdump {
    dis: Disassembler,
}

impl Objdump {
    /// For a target.
    pub fn new(target: Target) -> Self {
        Objdump { dis: Disassembler::new(target) }
    }

    /// Writes a section's text. `labels` are sorted by address; of several at one address the last is shown.
    pub fn section(
        &self,
        name: &str,
        base: u64,
        code: &[u8],
        labels: &[Label<'_>],
        sink: &mut dyn Write,
    ) -> std::io::Result<()> {
        let out = &mut Vec::with_capacity(2 * FLUSH);
        out.extend_from_slice(b"\nDisassembly of section ");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b":\n");
        let end = base + code.len() as u64;
        let inside: Vec<&Label<'_>> = labels.iter().filter(|l| l.address >= base && l.address < end).collect();
        let mut starts: Vec<(u64, &str, bool)> = Vec::new();
        for label in &inside {
            if starts.last().is_some_and(|s| s.0 == label.address) {
                starts.pop();
            }
            starts.push((label.address, label.name, label.data));
        }
        if starts.first().is_none_or(|s| s.0 != base) && base < end {
            starts.insert(0, (base, name, false));
        }
        for (i, &(address, label, data)) in starts.iter().enumerate() {
            let stop = starts.get(i + 1).map_or(end, |s| s.0);
            out.push(b'\n');
            hex_lower(address, out);
            out.extend_from_slice(b" <");
            out.extend_from_slice(label.as_bytes());
            out.extend_from_slice(b">:\n");
            let bytes = &code[(address - base) as usize..(stop - base) as usize];
            if data {
                dump(address, bytes, out);
            } else {
                // An instruction may look past the label that ends its run; the bytes beyond are the section's.
                self.run(address, bytes, &code[(address - base) as usize..], &starts, out, sink)?;
            }
        }
        sink.write_all(out)
    }

    fn run(
        &self,
        mut address: u64,
        bytes: &[u8],
        ahead: &[u8],
        labels: &[(u64, &str, bool)],
        out: &mut Vec<u8>,
        sink: &mut dyn Write,
    ) -> std::io::Result<()> {
        let mut at = 0;
        while at < bytes.len() {
            if out.len() > FLUSH {
                sink.write_all(out)?;
                out.clear();
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
            at += len;
            address += len as u64;
        }
        Ok(())
    }
}

/// Where a branch goes.
fn branch_target(inst: &Inst, address: u64) -> Option<u64> {
    if inst.row.enc != Enc::Sopp {
        return None;
    }
    inst.row.operand(Role::Label)?;
    let words = inst.get(Role::Label) as i16 as i64;
    Some(address.wrapping_add_signed(4 + 4 * words))
}

/// The label at or before an address, and the distance from it.
fn named<'a>(labels: &[(u64, &'a str, bool)], address: u64) -> Option<(&'a str, u64)> {
    let after = labels.partition_point(|l| l.0 <= address);
    let label = labels.get(after.checked_sub(1)?)?;
    Some((label.1, address - label.0))
}

fn comment(start: usize, address: u64, out: &mut Vec<u8>) {
    // A fixed number of blanks and a cut are quicker than as many as are wanted.
    let wanted = (start + 1 + COMMENT).max(out.len());
    out.extend_from_slice(&[b' '; COMMENT]);
    out.truncate(wanted);
    let digits = |byte: u8| HEX[byte as usize];
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
