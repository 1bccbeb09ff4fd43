//! Encoding of the x86-64 instructions that compiled code consists of (Intel's manual, volume 2, chapter 2): EVEX for vectors
//! of 512 bits, VEX for those of 256 and for masks, and a few on general registers. It knows nothing of waves.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The opcode of a vector instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ins {
    /// 1 is 0F, 2 0F38, 3 0F3A.
    pub map: u8,
    /// Prefix: 0 none, 1 66, 2 F3, 3 F2.
    pub pp: u8,
    /// W.
    pub w: u8,
    /// The opcode itself.
    pub op: u8,
    /// Bytes of what a memory operand may be broadcast from; 0 if it may not.
    pub elem: u8,
}

/// An [`Ins::elem`] of instructions whose operands are registers.
pub const REGISTERS_ONLY: u8 = 255;

/// An instruction whose memory operand may be a broadcast element: of 8 bytes with W, else of 4.
pub const fn ins(map: u8, pp: u8, w: u8, op: u8) -> Ins {
    Ins { map, pp, w, op, elem: if w == 1 { 8 } else { 4 } }
}
/// One whose memory operand is a whole vector.
pub const fn whole(map: u8, pp: u8, w: u8, op: u8) -> Ins {
    Ins { map, pp, w, op, elem: 0 }
}

/// A general register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Gpr {
    Rax = 0,
    Rcx = 1,
    Rdx = 2,
    Rbx = 3,
    Rsp = 4,
    Rbp = 5,
    Rsi = 6,
    Rdi = 7,
    R8 = 8,
    R9 = 9,
    R10 = 10,
    R11 = 11,
    R12 = 12,
    R13 = 13,
    R14 = 14,
    R15 = 15,
}

/// Memory: a register and a displacement, or a place among the constants behind the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mem {
    /// At a register.
    At(Gpr, i32),
    /// At a register and another, scaled. Not for vectors.
    Indexed(Gpr, Gpr, u8, i32),
    /// Bytes from the start of the constants.
    Constant(u32),
}

/// A register or memory, in the place of an instruction's last operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rm {
    /// A vector, mask or general register.
    Reg(u8),
    /// Memory.
    Mem(Mem),
    /// Memory of one element for all lanes.
    Broadcast(Mem),
}

/// Decorations of a vector instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Deco {
    /// Write mask; 0 for none.
    pub mask: u8,
    /// Lanes without their mask bit become zero, not what they were.
    pub zero: bool,
    /// Embedded rounding: 0 nearest, 1 down, 2 up, 3 to zero. Only with registers.
    pub round: Option<u8>,
    /// The immediate byte.
    pub imm: Option<u8>,
}

/// A place in the code that jumps go to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(u32);

/// Conditions of jumps, SETcc and CMOVcc.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Cond {
    Below = 2,
    NotBelow = 3,
    Zero = 4,
    NotZero = 5,
    Sign = 8,
    Less = 12,
    LessEqual = 14,
    Greater = 15,
}

/// Two-operand arithmetic on general registers, by the opcode of its `r, r/m` form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Alu {
    Add = 0x03,
    Or = 0x0b,
    And = 0x23,
    Sub = 0x2b,
    Xor = 0x33,
    Cmp = 0x3b,
    Test = 0x85,
    Mov = 0x8b,
}

/// Code under construction, with the constants that go behind it.
pub struct Asm {
    /// The code.
    pub code: Vec<u8>,
    labels: Vec<Option<u32>>,
    jumps: Vec<(u32, Label)>,
    pool: Vec<u8>,
    /// Displacements: where, counted from where, and the place among the constants.
    references: Vec<(u32, u32, u32)>,
    known: HashMap<(u64, u8), u32, BuildHasherDefault<Mixer>>,
}

impl Default for Asm {
    fn default() -> Asm {
        // As much as most blocks have: memory that grows is copied.
        Asm {
            code: Vec::with_capacity(8 << 10),
            labels: Vec::with_capacity(128),
            jumps: Vec::with_capacity(128),
            pool: Vec::with_capacity(1 << 10),
            references: Vec::with_capacity(128),
            known: HashMap::default(),
        }
    }
}

/// Hashes constants: numbers that nobody chooses to collide, as there are few of them.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u8(b));
    }
    fn write_u8(&mut self, n: u8) {
        self.write_u64(n.into());
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    fn finish(&self) -> u64 {
        // The upper bits are the well-mixed ones; tables look at the lowest and at the highest.
        self.0.rotate_left(26)
    }
}

/// A state of code under construction to come back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    code: usize,
    jumps: usize,
    pool: usize,
    references: usize,
}

impl Asm {
    /// What there is now.
    pub fn mark(&self) -> Mark {
        let (code, jumps) = (self.code.len(), self.jumps.len());
        Mark { code, jumps, pool: self.pool.len(), references: self.references.len() }
    }

    /// Drops what was written since. Labels that were made since must not be used.
    pub fn rewind(&mut self, to: Mark) {
        self.code.truncate(to.code);
        self.jumps.truncate(to.jumps);
        self.pool.truncate(to.pool);
        self.references.truncate(to.references);
        self.known.retain(|_, at| (*at as usize) < to.pool);
    }

    /// A label that is nowhere yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Puts a label here.
    pub fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.code.len() as u32);
    }

    /// Where a label is in the code; 0 if it is nowhere yet.
    pub fn place_of(&self, label: Label) -> usize {
        self.labels[label.0 as usize].unwrap_or(0) as usize
    }

    /// The place of a number among the constants.
    pub fn constant(&mut self, value: u64, bytes: u8) -> u32 {
        if let Some(&at) = self.known.get(&(value, bytes)) {
            return at;
        }
        while !self.pool.len().is_multiple_of(bytes as usize) {
            self.pool.push(0);
        }
        let at = self.pool.len() as u32;
        self.pool.extend(&value.to_le_bytes()[..bytes as usize]);
        self.known.insert((value, bytes), at);
        at
    }

    /// The place of 32 bytes among the constants, of which each eight are the same.
    pub fn splat(&mut self, value: u64) -> u32 {
        if let Some(&at) = self.known.get(&(value, 32)) {
            return at;
        }
        while !self.pool.len().is_multiple_of(32) {
            self.pool.push(0);
        }
        let at = self.pool.len() as u32;
        (0..4).for_each(|_| self.pool.extend(value.to_le_bytes()));
        self.known.insert((value, 32), at);
        at
    }

    /// The place of a whole vector among the constants.
    pub fn vector(&mut self, value: &'static [u32; 16]) -> u32 {
        let key = (value.as_ptr() as u64, 64);
        if let Some(&at) = self.known.get(&key) {
            return at;
        }
        while !self.pool.len().is_multiple_of(64) {
            self.pool.push(0);
        }
        let at = self.pool.len() as u32;
        value.iter().for_each(|w| self.pool.extend(w.to_le_bytes()));
        self.known.insert(key, at);
        at
    }

    /// The finished code: constants aligned to 64 behind it, jumps and references resolved.
    pub fn finish(mut self) -> Vec<u8> {
        for &(at, label) in &self.jumps {
            let to = self.labels[label.0 as usize].expect("every label is bound");
            let distance = (to as i32).wrapping_sub(at as i32 + 4);
            self.code[at as usize..][..4].copy_from_slice(&distance.to_le_bytes());
        }
        while !self.code.len().is_multiple_of(64) {
            self.code.push(0xcc);
        }
        let base = self.code.len() as u32;
        for &(at, end, place) in &self.references {
            let distance = (base + place).wrapping_sub(end);
            self.code[at as usize..][..4].copy_from_slice(&distance.to_le_bytes());
        }
        self.code.extend(&self.pool);
        self.code
    }

    fn byte(&mut self, b: u8) {
        self.code.push(b);
    }

    fn dword(&mut self, n: u32) {
        self.code.extend(n.to_le_bytes());
    }

    /// ModRM and what follows; `scale` is what a displacement of one byte counts in, `tail` the bytes behind the displacement.
    fn modrm(&mut self, reg: u8, rm: Rm, scale: i32, tail: u32) {
        let reg = (reg & 7) << 3;
        match rm {
            Rm::Reg(r) => self.byte(0xc0 | reg | (r & 7)),
            Rm::Mem(Mem::Constant(place)) | Rm::Broadcast(Mem::Constant(place)) => {
                self.byte(reg | 5);
                let at = self.code.len() as u32;
                self.references.push((at, at + 4 + tail, place));
                self.dword(0);
            }
            Rm::Mem(Mem::Indexed(base, index, times, disp))
            | Rm::Broadcast(Mem::Indexed(base, index, times, disp)) => {
                self.byte(reg | 0x84);
                self.byte((times.trailing_zeros() as u8) << 6 | (index as u8 & 7) << 3 | (base as u8 & 7));
                self.dword(disp as u32);
            }
            Rm::Mem(Mem::At(base, disp)) | Rm::Broadcast(Mem::At(base, disp)) => {
                let short = disp % scale == 0 && i8::try_from(disp / scale).is_ok();
                self.byte(reg | (base as u8 & 7) | if short { 0x40 } else { 0x80 });
                if base as u8 & 7 == 4 {
                    self.byte(0x24);
                }
                match short {
                    true => self.byte((disp / scale) as u8),
                    false => self.dword(disp as u32),
                }
            }
        }
    }

    /// A vector instruction of 512 bits: `reg`, `vvvv` and the last operand, which may be memory.
    pub fn evex(&mut self, i: Ins, reg: u8, vvvv: u8, rm: Rm, deco: Deco) {
        self.evex_of(i, reg, vvvv, rm, deco, 64);
    }

    /// A vector of 256 bits from memory.
    pub fn load_half(&mut self, reg: u8, mem: Mem) {
        self.evex_of(whole(1, 1, 1, 0x6f), reg, 0, Rm::Mem(mem), Deco::default(), 32);
    }

    /// One of vectors of so many bytes.
    fn evex_of(&mut self, i: Ins, reg: u8, vvvv: u8, rm: Rm, deco: Deco, bytes: u8) {
        let (x, b) = match rm {
            Rm::Reg(r) => (r >> 4 & 1, r >> 3 & 1),
            Rm::Mem(Mem::At(base, _)) | Rm::Broadcast(Mem::At(base, _)) => (0, base as u8 >> 3 & 1),
            Rm::Mem(_) | Rm::Broadcast(_) => (0, 0),
        };
        let broadcast = matches!(rm, Rm::Broadcast(_));
        let bit = broadcast || deco.round.is_some();
        let length = deco.round.unwrap_or(bytes / 32);
        self.code.extend([
            0x62,
            (!reg >> 3 & 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | (!reg >> 4 & 1) << 4 | i.map,
            i.w << 7 | (!vvvv & 15) << 3 | 4 | i.pp,
            (deco.zero as u8) << 7 | length << 5 | (bit as u8) << 4 | (!vvvv >> 4 & 1) << 3 | deco.mask,
            i.op,
        ]);
        let scale = if broadcast { i.elem.into() } else { bytes.into() };
        self.modrm(reg, rm, scale, deco.imm.is_some() as u32);
        if let Some(imm) = deco.imm {
            self.byte(imm);
        }
    }

    /// A vector from one element in memory.
    pub fn evex_element(&mut self, i: Ins, reg: u8, mem: Mem) {
        let start = self.code.len();
        self.evex(i, reg, 0, Rm::Broadcast(mem), Deco::default());
        // The operand is an element by itself: nothing is broadcast once more.
        self.code[start + 3] &= !0x10;
    }

    /// A masked gather of dwords: `reg[i] = [base + scale · index[i]]`. The mask register becomes zero.
    pub fn gather(&mut self, reg: u8, base: Gpr, index: u8, scale: u8, mask: u8) {
        self.by_index(0x90, reg, base, index, scale, mask);
    }

    /// A masked scatter of dwords, lane by lane: `[base + index[i]] = reg[i]`. The mask register becomes zero.
    pub fn scatter(&mut self, reg: u8, base: Gpr, index: u8, mask: u8) {
        self.by_index(0xa0, reg, base, index, 1, mask);
    }

    /// A gather of dwords into eight lanes, VEX: those whose first bit the mask, a vector, has, which becomes zero.
    pub fn gather_eight(&mut self, reg: u8, base: Gpr, index: u8, scale: u8, mask: u8) {
        self.byte(0xc4);
        self.byte((!reg >> 3 & 1) << 7 | (!index >> 3 & 1) << 6 | (!(base as u8) >> 3 & 1) << 5 | 2);
        self.byte((!mask & 15) << 3 | 5);
        self.byte(0x90);
        self.byte(0x44 | (reg & 7) << 3);
        self.byte((scale.trailing_zeros() as u8) << 6 | (index & 7) << 3 | (base as u8 & 7));
        self.byte(0);
    }

    fn by_index(&mut self, op: u8, reg: u8, base: Gpr, index: u8, scale: u8, mask: u8) {
        self.byte(0x62);
        self.byte(
            (!reg >> 3 & 1) << 7
                | (!index >> 3 & 1) << 6
                | (!(base as u8) >> 3 & 1) << 5
                | (!reg >> 4 & 1) << 4
                | 2,
        );
        self.byte(0x7d);
        self.byte(2 << 5 | (!index >> 4 & 1) << 3 | mask);
        self.byte(op);
        // ModRM with SIB and a displacement of one byte, which every base register has.
        self.byte(0x44 | (reg & 7) << 3);
        self.byte((scale.trailing_zeros() as u8) << 6 | (index & 7) << 3 | (base as u8 & 7));
        self.byte(0);
    }

    /// The first dword of a vector into a general register (VMOVD).
    pub fn first_element(&mut self, to: Gpr, from: u8) {
        let reg = from;
        let b = to as u8 >> 3 & 1;
        self.byte(0x62);
        self.byte((!reg >> 3 & 1) << 7 | 1 << 6 | (b ^ 1) << 5 | (!reg >> 4 & 1) << 4 | 1);
        self.byte(0x7d);
        self.byte(0x08);
        self.byte(0x7e);
        self.modrm(reg, Rm::Reg(to as u8), 1, 0);
    }

    /// A VEX instruction: vectors of 256 bits, masks, and BMI's shifts.
    pub fn vex(
        &mut self,
        (map, pp, w, l): (u8, u8, u8, u8),
        op: u8,
        reg: u8,
        vvvv: u8,
        rm: Rm,
        imm: Option<u8>,
    ) {
        let b = match rm {
            Rm::Reg(r) => r >> 3 & 1,
            Rm::Mem(Mem::At(base, _)) | Rm::Broadcast(Mem::At(base, _)) => base as u8 >> 3 & 1,
            _ => 0,
        };
        self.code.extend([
            0xc4,
            (!reg >> 3 & 1) << 7 | 0x40 | (b ^ 1) << 5 | map,
            w << 7 | (!vvvv & 15) << 3 | l << 2 | pp,
            op,
        ]);
        self.modrm(reg, rm, 1, imm.is_some() as u32);
        if let Some(imm) = imm {
            self.byte(imm);
        }
    }

    fn rex(&mut self, wide: bool, reg: u8, rm: Rm) {
        self.rex_or(wide, reg, rm, false);
    }

    /// REX, if need be: 64 bits, or registers above the first eight, or `force`.
    fn rex_or(&mut self, wide: bool, reg: u8, rm: Rm, force: bool) {
        let b = match rm {
            Rm::Reg(r) => r >> 3 & 1,
            Rm::Mem(Mem::At(base, _)) | Rm::Broadcast(Mem::At(base, _)) => base as u8 >> 3 & 1,
            Rm::Mem(Mem::Indexed(base, index, ..)) => base as u8 >> 3 & 1 | (index as u8 >> 3 & 1) << 1,
            _ => 0,
        };
        let rex = (wide as u8) << 3 | (reg >> 3 & 1) << 2 | b;
        if rex != 0 || force {
            self.byte(0x40 | rex);
        }
    }

    /// Arithmetic of a register with a register or memory.
    pub fn alu(&mut self, op: Alu, wide: bool, reg: Gpr, rm: Rm) {
        self.rex(wide, reg as u8, rm);
        self.byte(op as u8);
        self.modrm(reg as u8, rm, 1, 0);
    }

    /// Arithmetic of a register with a number.
    pub fn alu_imm(&mut self, op: Alu, wide: bool, reg: Gpr, n: i32) {
        let ext = (op as u8) >> 3;
        self.rex(wide, 0, Rm::Reg(reg as u8));
        match i8::try_from(n) {
            Ok(n) => {
                self.byte(0x83);
                self.modrm(ext, Rm::Reg(reg as u8), 1, 1);
                self.byte(n as u8);
            }
            Err(_) => {
                self.byte(0x81);
                self.modrm(ext, Rm::Reg(reg as u8), 1, 4);
                self.dword(n as u32);
            }
        }
    }

    /// Arithmetic of eight bytes of memory with a number.
    pub fn alu_mem_imm(&mut self, op: Alu, mem: Mem, n: i32) {
        self.rex(true, 0, Rm::Mem(mem));
        self.byte(0x81);
        self.modrm((op as u8) >> 3, Rm::Mem(mem), 1, 4);
        self.dword(n as u32);
    }

    /// An instruction of the 0F map on general registers.
    pub fn two_byte(&mut self, prefix: Option<u8>, op: u8, wide: bool, reg: Gpr, rm: Rm) {
        if let Some(p) = prefix {
            self.byte(p);
        }
        // SETcc and MOVZX of a byte need a prefix to name SIL and the like.
        self.rex_or(wide, reg as u8, rm, matches!(op, 0x90..=0x9f | 0xb6));
        self.byte(0x0f);
        self.byte(op);
        self.modrm(reg as u8, rm, 1, 0);
    }

    /// The low byte of a register into memory.
    pub fn store_byte(&mut self, mem: Mem, reg: Gpr) {
        self.rex_or(false, reg as u8, Rm::Mem(mem), true);
        self.byte(0x88);
        self.modrm(reg as u8, Rm::Mem(mem), 1, 0);
    }

    /// The low two bytes of a register into memory.
    pub fn store_word(&mut self, mem: Mem, reg: Gpr) {
        self.byte(0x66);
        self.rex(false, reg as u8, Rm::Mem(mem));
        self.byte(0x89);
        self.modrm(reg as u8, Rm::Mem(mem), 1, 0);
    }

    /// A number into four bytes of memory.
    pub fn store_imm(&mut self, mem: Mem, n: u32) {
        self.rex(false, 0, Rm::Mem(mem));
        self.byte(0xc7);
        self.modrm(0, Rm::Mem(mem), 1, 4);
        self.dword(n);
    }

    /// A number into a byte of memory.
    pub fn store_byte_imm(&mut self, mem: Mem, n: u8) {
        self.rex(false, 0, Rm::Mem(mem));
        self.byte(0xc6);
        self.modrm(0, Rm::Mem(mem), 1, 1);
        self.byte(n);
    }

    /// The address of memory into a register.
    pub fn load_address(&mut self, reg: Gpr, mem: Mem) {
        self.rex(true, reg as u8, Rm::Mem(mem));
        self.byte(0x8d);
        self.modrm(reg as u8, Rm::Mem(mem), 1, 0);
    }

    /// Moves eight bytes between registers if a condition holds.
    pub fn move_if(&mut self, cond: Cond, to: Gpr, from: Gpr) {
        self.two_byte(None, 0x40 | cond as u8, true, to, Rm::Reg(from as u8));
    }

    /// Sets a bit of a register; the carry is what it was.
    pub fn set_bit(&mut self, reg: Gpr, bit: u8) {
        self.rex(false, 0, Rm::Reg(reg as u8));
        self.code.extend([0x0f, 0xba]);
        self.modrm(5, Rm::Reg(reg as u8), 1, 1);
        self.byte(bit);
    }

    /// What was stored is visible to others before anything is loaded: a locked addition of nothing at RSP.
    pub fn fence(&mut self) {
        self.code.extend([0xf0, 0x83, 0x04, 0x24, 0x00]);
    }

    /// Shifts by a constant: 4 left, 5 right, 7 arithmetic.
    pub fn shift_imm(&mut self, kind: u8, wide: bool, reg: Gpr, by: u8) {
        self.rex(wide, 0, Rm::Reg(reg as u8));
        self.byte(0xc1);
        self.modrm(kind, Rm::Reg(reg as u8), 1, 1);
        self.byte(by);
    }

    /// NOT (2) or NEG (3) of a register.
    pub fn unary(&mut self, kind: u8, wide: bool, reg: Gpr) {
        self.rex(wide, 0, Rm::Reg(reg as u8));
        self.byte(0xf7);
        self.modrm(kind, Rm::Reg(reg as u8), 1, 0);
    }

    /// Sets a register to 1 if a condition holds, else to 0.
    pub fn set_if(&mut self, cond: Cond, reg: Gpr) {
        self.two_byte(None, 0x90 | cond as u8, false, Gpr::Rax, Rm::Reg(reg as u8));
        self.two_byte(None, 0xb6, false, reg, Rm::Reg(reg as u8));
    }

    /// MOVSXD: 32 bits to 64.
    pub fn sign_extend(&mut self, to: Gpr, from: Gpr) {
        self.rex(true, to as u8, Rm::Reg(from as u8));
        self.byte(0x63);
        self.modrm(to as u8, Rm::Reg(from as u8), 1, 0);
    }

    /// Compares eight bytes of memory with zero.
    pub fn compare_with_zero(&mut self, mem: Mem) {
        self.rex(true, 0, Rm::Mem(mem));
        self.byte(0x83);
        self.modrm(7, Rm::Mem(mem), 1, 1);
        self.byte(0);
    }

    /// Compares two bytes of memory with zero.
    pub fn compare_word_with_zero(&mut self, mem: Mem) {
        self.byte(0x66);
        self.rex(false, 0, Rm::Mem(mem));
        self.byte(0x83);
        self.modrm(7, Rm::Mem(mem), 1, 1);
        self.byte(0);
    }

    /// Clears two bytes of memory.
    pub fn clear_word(&mut self, mem: Mem) {
        self.byte(0x66);
        self.rex(false, 0, Rm::Mem(mem));
        self.byte(0xc7);
        self.modrm(0, Rm::Mem(mem), 1, 2);
        self.code.extend([0, 0]);
    }

    /// Compares a byte of memory with zero.
    pub fn compare_byte_with_zero(&mut self, mem: Mem) {
        self.rex(false, 0, Rm::Mem(mem));
        self.byte(0x80);
        self.modrm(7, Rm::Mem(mem), 1, 1);
        self.byte(0);
    }

    /// `mem |= number`, through RAX, for a number that [`Asm::patch`] fills in.
    pub fn patched_or(&mut self, mem: Mem) -> usize {
        // REX.W, MOV RAX with eight bytes.
        self.code.extend([0x48, 0xb8]);
        let at = self.code.len();
        self.code.extend([0; 8]);
        self.rex(true, Gpr::Rax as u8, Rm::Mem(mem));
        self.byte(0x09);
        self.modrm(Gpr::Rax as u8, Rm::Mem(mem), 1, 0);
        at
    }

    /// Fills in a number.
    pub fn patch(&mut self, at: usize, number: u64) {
        self.code[at..at + 8].copy_from_slice(&number.to_le_bytes());
    }

    /// A number into a register.
    pub fn mov_imm(&mut self, reg: Gpr, n: u64) {
        let wide = n > u32::MAX as u64;
        self.rex(wide, 0, Rm::Reg(reg as u8));
        self.byte(0xb8 | reg as u8 & 7);
        match wide {
            true => self.code.extend(n.to_le_bytes()),
            false => self.dword(n as u32),
        }
    }

    /// A register into memory.
    pub fn store(&mut self, wide: bool, mem: Mem, reg: Gpr) {
        self.rex(wide, reg as u8, Rm::Mem(mem));
        self.byte(0x89);
        self.modrm(reg as u8, Rm::Mem(mem), 1, 0);
    }

    /// Jumps if a condition holds.
    pub fn jump_if(&mut self, cond: Cond, label: Label) {
        self.byte(0x0f);
        self.byte(0x80 | cond as u8);
        self.jumps.push((self.code.len() as u32, label));
        self.dword(0);
    }

    /// Jumps.
    pub fn jump(&mut self, label: Label) {
        self.byte(0xe9);
        self.jumps.push((self.code.len() as u32, label));
        self.dword(0);
    }

    /// Jumps to (4) or calls (2) the address in memory.
    pub fn indirect(&mut self, kind: u8, mem: Mem) {
        self.rex(false, 0, Rm::Mem(mem));
        self.byte(0xff);
        self.modrm(kind, Rm::Mem(mem), 1, 0);
    }

    /// Jumps to the address in a register.
    pub fn jump_to(&mut self, reg: Gpr) {
        self.rex(false, 0, Rm::Reg(reg as u8));
        self.byte(0xff);
        self.modrm(4, Rm::Reg(reg as u8), 1, 0);
    }

    /// PREFETCHT0 or PREFETCHW: a line of memory that will be read, or written. Never faults.
    pub fn prefetch(&mut self, written: bool, mem: Mem) {
        let op = if written { 0x0d } else { 0x18 };
        // The register's field is part of the opcode.
        self.two_byte(None, op, false, Gpr::Rcx, Rm::Mem(mem));
    }

    /// VZEROUPPER.
    pub fn vzeroupper(&mut self) {
        self.code.extend([0xc5, 0xf8, 0x77]);
    }

    /// PUSH.
    pub fn push(&mut self, reg: Gpr) {
        self.rex(false, 0, Rm::Reg(reg as u8));
        self.byte(0x50 | reg as u8 & 7);
    }

    /// POP.
    pub fn pop(&mut self, reg: Gpr) {
        self.rex(false, 0, Rm::Reg(reg as u8));
        self.byte(0x58 | reg as u8 & 7);
    }

    /// RET.
    pub fn ret(&mut self) {
        self.byte(0xc3);
    }
}
