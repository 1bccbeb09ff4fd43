//! Bytes to text: what `llvm-mc -disassemble` does with bytes written out as numbers.

use crate::print::Printer;
use crate::source::{Diag, Span};
use wavemill_isa::encoding::{Field, bits};
use wavemill_isa::{Decoder, Enc, Form, Inst, Role, Target, flag, regs};

/// Decodes and prints in one step.
pub struct Disassembler {
    decoder: Decoder,
    printer: Printer,
}

impl Disassembler {
    /// A disassembler for a target.
    pub fn new(target: Target) -> Self {
        Disassembler { decoder: Decoder::new(target), printer: Printer::new(target) }
    }

    /// The decoder.
    pub fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// Appends the text of the instruction at the start of `code`. `None`, and nothing appended, if there is none.
    pub fn one(&self, code: &[u8], out: &mut Vec<u8>) -> Option<Inst> {
        let inst = self.decoder.decode_bytes(code).ok()?;
        let start = out.len();
        if self.printer.inst(&inst, None, out).is_err() {
            out.truncate(start);
            return None;
        }
        Some(inst)
    }
}

/// Column at which LLVM starts a comment.
const COMMENT_COLUMN: usize = 48;

/// Appends blanks up to the comment column, at least one. The line starts at `start` with a tab.
pub fn pad_to_comment(start: usize, out: &mut Vec<u8>) {
    let column = out.len() - start + 7;
    out.resize(out.len() + COMMENT_COLUMN.saturating_sub(column).max(1), b' ');
}

/// Disassembles a listing of bytes (`0x12 0x34 …`, white space or commas between them, `#` starts a comment, brackets
/// make a block that fails as a whole). Returns the text and what was wrong with the input.
pub fn listing(target: Target, buffer: u32, text: &[u8], show_encoding: bool) -> (Vec<u8>, Vec<Diag>) {
    let mut listing = Listing {
        dis: Disassembler::new(target),
        show_encoding,
        out: b"\t.text\n".to_vec(),
        diags: Vec::new(),
        buffer,
    };
    let mut bytes = Vec::new();
    let mut places = Vec::new();
    let mut in_block = false;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b' ' | b'\t' | b'\r' | b'\n' | b',' => at += 1,
            b'#' => at += text[at..].iter().position(|&b| b == b'\n').unwrap_or(text.len() - at),
            b'[' | b']' => {
                if (text[at] == b'[') == in_block {
                    let message = if in_block { "nested atomic blocks" } else { "no atomic block is open" };
                    listing.error(at, at + 1, message);
                }
                listing.run(&bytes, &places, in_block);
                bytes.clear();
                places.clear();
                in_block = text[at] == b'[';
                at += 1;
            }
            _ => {
                let end = at
                    + text[at..].iter().position(|b| b" \t\r\n,#[]".contains(b)).unwrap_or(text.len() - at);
                match byte(&text[at..end]) {
                    Some(value) => {
                        bytes.push(value);
                        places.push((at as u32, end as u32));
                    }
                    None => listing.error(at, end, "invalid input token"),
                }
                at = end;
            }
        }
    }
    listing.run(&bytes, &places, in_block);
    (listing.out, listing.diags)
}

/// The byte a token stands for: hexadecimal with 0x, octal with 0, binary with 0b, or decimal.
fn byte(token: &[u8]) -> Option<u8> {
    let token = std::str::from_utf8(token).ok()?;
    let (digits, radix) = match token.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&token[2..], 16),
        [b'0', b'b' | b'B', ..] => (&token[2..], 2),
        [b'0', _, ..] => (&token[1..], 8),
        _ => (token, 10),
    };
    if digits.starts_with('+') {
        return None;
    }
    u8::from_str_radix(digits, radix).ok()
}

struct Listing {
    dis: Disassembler,
    show_encoding: bool,
    out: Vec<u8>,
    diags: Vec<Diag>,
    buffer: u32,
}

impl Listing {
    fn span(&self, start: usize, end: usize) -> Span {
        Span { buffer: self.buffer, start: start as u32, end: end as u32 }
    }

    fn error(&mut self, start: usize, end: usize, message: &'static str) {
        let span = self.span(start, end);
        self.diags.push(Diag::error(span, message));
    }

    fn run(&mut self, bytes: &[u8], places: &[(u32, u32)], block: bool) {
        let mut at = 0;
        while at < bytes.len() {
            let start = self.out.len();
            self.out.push(b'\t');
            match self.dis.one(&bytes[at..], &mut self.out) {
                Some(inst) => {
                    if self.show_encoding {
                        pad_to_comment(start, &mut self.out);
                        let shown = reencoded(&inst, self.dis.decoder.target());
                        encoding(&shown.bits.to_le_bytes()[..shown.len as usize], &mut self.out);
                    }
                    self.out.push(b'\n');
                    at += inst.len as usize;
                }
                None => {
                    self.out.truncate(start);
                    let (from, to) = places[at];
                    let span = self.span(from as usize, to as usize);
                    self.diags.push(Diag::warning(span, "invalid instruction encoding"));
                    if block {
                        return;
                    }
                    at += 4;
                }
            }
        }
    }
}

/// What LLVM's listing shows: the canonical encoding, but for constants it keeps whole and a scalar offset it leaves in
/// its place; and a float in a 16-bit integer operand of VOP3, where there is no room for the literal it prints as, has
/// that literal's source code.
fn reencoded(inst: &Inst, target: &Target) -> Inst {
    let mut shown = inst.canonical(target);
    // GFX9's second place for a scalar offset stays where it is.
    let offset = inst.row.enc == Enc::Smem && inst.row.operand(Role::Soffset).is_some();
    if offset && target.level().is_gfx9() && bits::SMEM_SOE.get(inst.bits) != 0 {
        let fields = [bits::SMEM_SOE, bits::SMEM_SOFFSET];
        shown.put(Field::new(32, 7), 0);
        for field in fields {
            shown.put(field, field.get(inst.bits));
        }
        if bits::SMEM_IMM.get(inst.bits) != 0 {
            shown.put(bits::SMEM_OFFSET21, bits::SMEM_OFFSET21.get(inst.bits));
        }
    }
    for op in inst.row.operands {
        let field = inst.field_of(op);
        let code = field.get(inst.bits);
        let int16 = op.ty.bits == 16 && op.ty.count == 1 && !op.ty.is_float();
        if op.role == Role::Waitcnt {
            shown.put(field, code);
        } else if int16
            && inst.is_vop3_layout()
            && op.role.source_index().is_some()
            && (240..=248).contains(&code)
        {
            shown.put(field, regs::LITERAL);
        }
    }
    if shown.len == 8 && inst.len == 8 && inst.row.enc.has_forms() && inst.form == Form::Base {
        shown.put(bits::LITERAL, bits::LITERAL.get(inst.bits));
    }
    if inst.row.has(flag::SWIZZLE) {
        shown.put(bits::DS_OFFSET, bits::DS_OFFSET.get(inst.bits));
    }
    shown
}

/// Appends `; encoding: [0x01,…]`.
fn encoding(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"; encoding: [");
    for (i, &b) in bytes.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        let digit = |n: u8| b"0123456789abcdef"[n as usize];
        out.extend_from_slice(&[b'0', b'x', digit(b >> 4), digit(b & 15)]);
    }
    out.push(b']');
}
