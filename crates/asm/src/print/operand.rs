//! Registers and constants.

use super::{Invalid, Printed, Printer};
use wavemill_isa::encoding::bits;
use wavemill_isa::{Class, Enc, Inst, Operand, Ty, regs};

/// Code of GFX10's null register, reserved before.
const NULL: u32 = 125;

/// Appends a constant field: small numbers in decimal, others in hexadecimal.
pub(super) fn small_or_hex(n: u32, out: &mut Vec<u8>) {
    if n <= 64 { dec(n, out) } else { hex(n as u64, out) }
}

/// The numbers below 1000 in decimal, left-aligned, with their lengths: copying four bytes and dropping what is too
/// much is quicker than copying as many as there are.
static DECIMAL: [([u8; 3], u8); 1000] = {
    let mut table = [([b'0'; 3], 1); 1000];
    let mut n = 0;
    while n < 1000 {
        let digits = [b'0' + (n / 100) as u8, b'0' + (n / 10 % 10) as u8, b'0' + (n % 10) as u8];
        table[n] = match n {
            0..=9 => ([digits[2], 0, 0], 1),
            10..=99 => ([digits[1], digits[2], 0], 2),
            _ => (digits, 3),
        };
        n += 1;
    }
    table
};

/// Appends a number in decimal.
#[inline]
pub(super) fn dec(n: u32, out: &mut Vec<u8>) {
    if let Some((digits, len)) = DECIMAL.get(n as usize) {
        out.extend_from_slice(digits);
        out.truncate(out.len() - 3 + *len as usize);
        return;
    }
    let mut rest = n;
    let mut buffer = [0u8; 10];
    let mut at = buffer.len();
    while rest > 0 {
        at -= 1;
        buffer[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&buffer[at..]);
}

/// Appends a signed number in decimal.
pub(super) fn signed(n: i32, out: &mut Vec<u8>) {
    if n < 0 {
        out.push(b'-');
    }
    dec(n.unsigned_abs(), out);
}

/// Appends a number as 0x and its hexadecimal digits, as few as there are.
pub(super) fn hex(n: u64, out: &mut Vec<u8>) {
    let mut buffer = [0u8; 18];
    let mut at = buffer.len();
    let mut rest = n;
    loop {
        at -= 1;
        buffer[at] = b"0123456789abcdef"[(rest & 15) as usize];
        rest >>= 4;
        if rest == 0 {
            break;
        }
    }
    at -= 2;
    buffer[at] = b'0';
    buffer[at + 1] = b'x';
    out.extend_from_slice(&buffer[at..]);
}

/// Appends a number in hexadecimal with its sign in front.
pub(super) fn signed_hex(n: i64, out: &mut Vec<u8>) {
    if n < 0 {
        out.push(b'-');
    }
    hex(n.unsigned_abs(), out);
}

/// Appends `v5` or `v[5:6]`.
#[inline]
pub(super) fn register(file: &str, index: u32, dwords: u8, out: &mut Vec<u8>) {
    match file.as_bytes() {
        [letter] => out.push(*letter),
        name => out.extend_from_slice(name),
    }
    if dwords == 1 {
        dec(index, out);
    } else {
        out.push(b'[');
        dec(index, out);
        out.push(b':');
        dec(index + dwords as u32 - 1, out);
        out.push(b']');
    }
}

const FLOATS: [&[u8]; 9] =
    [b"0.5", b"-0.5", b"1.0", b"-1.0", b"2.0", b"-2.0", b"4.0", b"-4.0", b"0.15915494"];

fn float(index: usize, ty: Ty, out: &mut Vec<u8>) {
    out.extend_from_slice(FLOATS[index]);
    if index == 8 && ty.bits == 64 {
        out.extend_from_slice(b"309189532");
    }
}

impl Printer {
    /// A VGPR or AccVGPR.
    pub(super) fn vgpr(&self, acc: bool, index: u32, dwords: u8, out: &mut Vec<u8>) -> Printed {
        // A tuple must end inside the file. (gfx90a wants even tuples, manual 3.6.1: the assembler refuses others, but a
        // disassembler had better show what is there.)
        if index + dwords as u32 > 256 {
            return Err(Invalid);
        }
        register(if acc { "a" } else { "v" }, index, dwords, out);
        Ok(())
    }

    /// A scalar register by its operand code: no constants.
    pub(super) fn scalar_register(&self, code: u32, dwords: u8, out: &mut Vec<u8>) -> Printed {
        // Tuples start at multiples of two or four; hardware ignores the low bits, and so does LLVM's text.
        let align = if dwords <= 1 {
            !0
        } else if dwords == 2 {
            !1
        } else {
            !3
        };
        let (ttmp, ttmps) = regs::ttmp_range(&self.target);
        let last = regs::sgpr_count(&self.target) - 1;
        let end = |first: u32| first + dwords as u32;
        if code <= last {
            let first = code & align;
            if end(first) > 104 {
                return Err(Invalid);
            }
            register("s", first, dwords, out);
            return Ok(());
        }
        if code >= ttmp && code < ttmp + ttmps {
            let first = (code - ttmp) & align;
            // GFX8's twelve are shown as if they were GFX9's sixteen, as LLVM does.
            if end(first) > 16 {
                return Err(Invalid);
            }
            register("ttmp", first, dwords, out);
            return Ok(());
        }
        // LLVM knows the null register of GFX10 in every generation's code 125, XNACK_MASK on processors that cannot
        // replay, and GFX9's apertures on GFX8.
        if code == NULL {
            out.extend_from_slice(b"null");
            return Ok(());
        }
        let special = regs::SPECIALS.iter().find(|s| {
            s.dwords == dwords
                && regs::special_code(s, &self.target) == code
                && (s.has.on(&self.target)
                    || self.level.is_vi_plus() && matches!(s.has, regs::Has::Xnack | regs::Has::Gfx9))
        });
        let special = special.ok_or(Invalid)?;
        out.extend_from_slice(special.name.as_bytes());
        Ok(())
    }

    /// A source code: register, inline constant or literal.
    pub(super) fn source(
        &self,
        inst: &Inst,
        op: &Operand,
        code: u32,
        symbol: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Printed {
        let dwords = op.ty.dwords();
        match code {
            256.. => {
                if matches!(op.class, Class::Scalar | Class::Ssrc | Class::Reg) {
                    return Err(Invalid);
                }
                self.vgpr(op.class == Class::Agpr, code - 256, dwords, out)
            }
            _ if matches!(op.class, Class::Vgpr | Class::Agpr) && !matches!(code, 235..=239 | 251..=254) => {
                Err(Invalid)
            }
            128..=208 if op.class != Class::Reg => {
                let n = if code <= 192 { code as i32 - 128 } else { 192 - code as i32 };
                signed(n, out);
                Ok(())
            }
            240..=248 if op.class != Class::Reg => {
                if code == regs::INV_2PI && !self.level.is_vi_plus() {
                    return Err(Invalid);
                }
                let index = code as usize - 240;
                if op.ty.bits == 16 && op.ty.count == 1 && !op.ty.is_float() && !self.from_source {
                    // LLVM disassembles a float in a 16-bit integer operand as the bits it stands for.
                    hex(regs::INLINE_FLOATS[index].0 as u64, out);
                } else {
                    float(index, op.ty, out);
                }
                Ok(())
            }
            regs::LITERAL if op.class != Class::Reg => {
                // Only the short ALU encodings have room for one.
                let short = !inst.is_vop3_layout() && (inst.row.enc as u8) <= Enc::Vopc as u8;
                if inst.len != 8 || !short || op.class == Class::Scalar {
                    return Err(Invalid);
                }
                match symbol {
                    Some(symbol) => out.extend_from_slice(symbol),
                    None => self.literal(bits::LITERAL.get(inst.bits), op.ty, out),
                }
                Ok(())
            }
            // The read-only sources are 32 bits wide but stand for 64-bit operands too.
            235..=239 | 251..=253 => self.scalar_register(code, 1, out),
            regs::LDS_DIRECT if dwords == 1 => self.scalar_register(code, 1, out),
            _ => self.scalar_register(code, dwords, out),
        }
    }

    /// A literal constant: what an inline constant can say is printed like it.
    pub(super) fn literal(&self, value: u32, ty: Ty, out: &mut Vec<u8>) {
        match regs::inline_code(ty, value, self.level) {
            Some(code @ ..=192) => dec(code - 128, out),
            Some(code @ ..=208) => signed(192 - code as i32, out),
            Some(code) => float(code as usize - 240, ty, out),
            None if ty.bits == 16 && ty.count == 1 => {
                // LLVM shows a single-precision pattern by its name even here.
                match regs::INLINE_FLOATS.iter().position(|f| f.1 == value) {
                    Some(i) if !ty.is_float() => float(i, ty, out),
                    _ => hex(value as u16 as u64, out),
                }
            }
            None => hex(value as u64, out),
        }
    }
}
