//! From a run of scalar instructions to instructions on general registers. Words have zeros above them, masks are 0 or 1.

use crate::allocate::{SLOTS, fixed};
use crate::input::Input;
use crate::scalar::Scalar;
use crate::x86::{Alu, Asm, Cond, Gpr, Mem, Rm};
use wavemill_sem::record::operation::{long, word};
use wavemill_sem::record::{Node, Operator, Program, Type, Value};
use wavemill_wave::layout;

/// What a run needs is not there: registers, or an instruction for one of its operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unable;

/// Registers that hold values.
const REGISTERS: [Gpr; 10] =
    [Gpr::Rax, Gpr::Rcx, Gpr::Rdx, Gpr::Rsi, Gpr::Rdi, Gpr::R8, Gpr::R9, Gpr::R10, Gpr::R11, Gpr::R14];
const NEVER: u32 = u32::MAX;

/// SCC, seen from the scalar registers.
pub const SCC: Mem = Mem::At(fixed::SGPRS, layout::SCC as i32 - layout::SGPRS as i32);

/// A scalar register.
pub fn sgpr(code: u8) -> Mem {
    Mem::At(fixed::SGPRS, code as i32 * 4)
}

struct Emitter<'a> {
    asm: &'a mut Asm,
    nodes: &'a [Node],
    /// By node.
    register: Vec<Option<Gpr>>,
    /// The slot of the frame, one more than its number; 0 for none.
    slot: Vec<u16>,
    /// Last node that uses a value, or NEVER if what is written at the end does.
    last: Vec<u32>,
    holds: [Option<Value>; 16],
    slots: u16,
    at: u32,
    /// Registers of the present instruction.
    pinned: u16,
}

/// Computes values, and leaves the emitter ready to hand them out.
fn computed<'a>(
    asm: &'a mut Asm,
    program: &'a Program,
    outputs: impl Iterator<Item = Value>,
) -> Result<Emitter<'a>, Unable> {
    let nodes = &program.nodes;
    let mut last = vec![0; nodes.len()];
    let mut used = vec![false; nodes.len()];
    for v in outputs {
        used[v.0 as usize] = true;
        last[v.0 as usize] = NEVER;
    }
    for (i, node) in nodes.iter().enumerate().rev() {
        if used[i] {
            for v in node.operands() {
                used[v.0 as usize] = true;
                last[v.0 as usize] = last[v.0 as usize].max(i as u32);
            }
        }
    }
    let (register, slot) = (vec![None; nodes.len()], vec![0; nodes.len()]);
    let mut e = Emitter { asm, nodes, register, slot, last, holds: [None; 16], slots: 0, at: 0, pinned: 0 };
    for (i, node) in nodes.iter().enumerate().filter(|&(i, _)| used[i]) {
        e.at = i as u32;
        e.pinned = 0;
        e.node(Value(i as u32), node)?;
    }
    Ok(e)
}

/// Writes code that computes values, and hands each to `take` in a register that it must leave as it is.
pub fn compute(
    asm: &mut Asm,
    program: &Program,
    outputs: &[Value],
    mut take: impl FnMut(&mut Asm, usize, Gpr),
) -> Result<(), Unable> {
    let mut e = computed(asm, program, outputs.iter().copied())?;
    for (i, &v) in outputs.iter().enumerate() {
        let r = e.output(v)?;
        take(e.asm, i, r);
    }
    Ok(())
}

/// Writes the code of a run.
pub fn emit(asm: &mut Asm, run: &Scalar) -> Result<(), Unable> {
    let outputs = run.words.iter().chain(&run.pairs).map(|o| o.1).chain(run.scc);
    let mut e = computed(asm, &run.program, outputs.clone())?;
    let nodes = &run.program.nodes;
    // What goes from register to register is read before anything is written.
    for v in outputs.filter(|v| matches!(nodes[v.0 as usize], Node::Input(..))) {
        let r = e.output(v)?;
        e.keep(v, r)?;
    }
    for &(code, v) in &run.words {
        let r = e.output(v)?;
        e.asm.store(false, sgpr(code), r);
    }
    for &(code, v) in &run.pairs {
        let r = e.output(v)?;
        e.asm.store(true, sgpr(code), r);
    }
    if let Some(v) = run.scc {
        let r = e.output(v)?;
        e.asm.store_byte(SCC, r);
    }
    Ok(())
}

impl Emitter<'_> {
    fn output(&mut self, v: Value) -> Result<Gpr, Unable> {
        self.pinned = 0;
        self.get(v)
    }

    fn constant(&self, v: Value) -> Option<u64> {
        match self.nodes[v.0 as usize] {
            Node::Constant(n, _) => Some(n),
            _ => None,
        }
    }

    fn wide(&self, v: Value) -> bool {
        self.nodes[v.0 as usize].ty() == Some(Type::Long)
    }

    /// A value in a register.
    fn get(&mut self, v: Value) -> Result<Gpr, Unable> {
        let i = v.0 as usize;
        let r = match self.register[i] {
            Some(r) => r,
            None => {
                let r = self.free()?;
                match (self.nodes[i], self.slot[i]) {
                    (_, n @ 1..) => self.asm.alu(Alu::Mov, true, r, Rm::Mem(slot(n))),
                    (Node::Constant(n, _), _) => self.asm.mov_imm(r, n),
                    (Node::Input(n, ty), _) => match Input::of(n) {
                        Input::Sgpr(code) => self.asm.alu(Alu::Mov, ty == Type::Long, r, Rm::Mem(sgpr(code))),
                        Input::Scc => self.asm.two_byte(None, 0xb6, false, r, Rm::Mem(SCC)),
                        // Where lanes follow each other, the first one's.
                        Input::Vgpr(n) => {
                            let at = Mem::At(fixed::VGPRS, n as i32 * layout::VGPR_BYTES as i32);
                            self.asm.alu(Alu::Mov, false, r, Rm::Mem(at));
                        }
                        _ => return Err(Unable),
                    },
                    _ => return Err(Unable),
                }
                self.place(v, r);
                r
            }
        };
        self.pinned |= 1 << r as u8;
        Ok(r)
    }

    fn place(&mut self, v: Value, r: Gpr) {
        self.register[v.0 as usize] = Some(r);
        self.holds[r as usize] = Some(v);
        self.pinned |= 1 << r as u8;
    }

    fn dies(&self, v: Value) -> bool {
        self.last[v.0 as usize] == self.at
    }

    /// A register that is free, or becomes so.
    fn free(&mut self) -> Result<Gpr, Unable> {
        let at = self.at;
        let last = |v: Value| self.last[v.0 as usize];
        let usable = REGISTERS.into_iter().filter(|&r| self.pinned >> r as u8 & 1 == 0);
        let empty = |r: &Gpr| self.holds[*r as usize].is_none_or(|v| last(v) < at);
        if let Some(r) = usable.clone().find(empty) {
            self.release(r);
            return Ok(r);
        }
        let r = usable.max_by_key(|&r| self.holds[r as usize].map_or(0, last)).ok_or(Unable)?;
        let v = self.holds[r as usize].ok_or(Unable)?;
        let again = matches!(self.nodes[v.0 as usize], Node::Constant(..) | Node::Input(..));
        if !again {
            self.keep(v, r)?;
        }
        self.release(r);
        Ok(r)
    }

    /// Puts a value in a register into a slot of the frame, too.
    fn keep(&mut self, v: Value, r: Gpr) -> Result<(), Unable> {
        if self.slot[v.0 as usize] == 0 {
            self.slots += 1;
            if self.slots >= SLOTS {
                return Err(Unable);
            }
            self.slot[v.0 as usize] = self.slots;
            self.asm.store(true, slot(self.slots), r);
        }
        Ok(())
    }

    fn release(&mut self, r: Gpr) {
        if let Some(v) = self.holds[r as usize].take() {
            self.register[v.0 as usize] = None;
        }
    }

    /// A register for a result that starts as a copy of an operand.
    fn copy(&mut self, v: Value, a: Value) -> Result<Gpr, Unable> {
        if self.dies(a)
            && let Some(r) = self.register[a.0 as usize]
        {
            self.release(r);
            self.place(v, r);
            return Ok(r);
        }
        if let Some(n) = self.constant(a) {
            let d = self.free()?;
            self.asm.mov_imm(d, n);
            self.place(v, d);
            return Ok(d);
        }
        let from = self.get(a)?;
        let d = self.free()?;
        self.asm.alu(Alu::Mov, true, d, Rm::Reg(from as u8));
        self.place(v, d);
        Ok(d)
    }

    /// A register for a result that is written before operands that are still needed are read, so it is none of theirs.
    fn fresh(&mut self, v: Value) -> Result<Gpr, Unable> {
        let d = self.free()?;
        self.place(v, d);
        Ok(d)
    }

    /// `d op b`, with a constant in the instruction if it fits.
    fn with(&mut self, op: Alu, wide: bool, d: Gpr, b: Value) -> Result<(), Unable> {
        let small = self.constant(b).and_then(|n| match wide {
            true => i32::try_from(n as i64).ok(),
            false => Some(n as u32 as i32),
        });
        match small {
            Some(n) => self.asm.alu_imm(op, wide, d, n),
            None => {
                let b = self.get(b)?;
                self.asm.alu(op, wide, d, Rm::Reg(b as u8));
            }
        }
        Ok(())
    }

    /// `d = a op b`. The second operand is in its register before the first one's may change.
    fn binary(&mut self, op: Alu, wide: bool, v: Value, [a, b]: [Value; 2]) -> Result<(), Unable> {
        if a == b {
            let b = self.get(b)?;
            let d = self.fresh(v)?;
            self.asm.alu(Alu::Mov, true, d, Rm::Reg(b as u8));
            self.asm.alu(op, wide, d, Rm::Reg(b as u8));
            return Ok(());
        }
        if self.constant(b).is_none() {
            self.get(b)?;
        }
        let d = self.copy(v, a)?;
        self.with(op, wide, d, b)
    }

    fn compare(&mut self, wide: bool, cond: Cond, v: Value, a: Value, b: Value) -> Result<(), Unable> {
        let left = self.get(a)?;
        self.with(Alu::Cmp, wide, left, b)?;
        let d = self.fresh(v)?;
        self.asm.set_if(cond, d);
        Ok(())
    }

    fn shift(&mut self, wide: bool, kind: Shift, v: Value, a: Value, b: Value) -> Result<(), Unable> {
        if let Some(n) = self.constant(b) {
            let d = self.copy(v, a)?;
            self.asm.shift_imm(kind.extension, wide, d, n as u8 & if wide { 63 } else { 31 });
            return Ok(());
        }
        let (value, count) = (self.get(a)?, self.get(b)?);
        let d = self.fresh(v)?;
        let prefix = (2, kind.prefix, wide as u8, 0);
        self.asm.vex(prefix, 0xf7, d as u8, count as u8, Rm::Reg(value as u8), None);
        Ok(())
    }

    fn choose(&mut self, cond: u8, v: Value, a: Value, b: Value) -> Result<(), Unable> {
        let (left, right) = (self.get(a)?, self.get(b)?);
        let d = self.fresh(v)?;
        self.asm.alu(Alu::Mov, false, d, Rm::Reg(left as u8));
        self.asm.alu(Alu::Cmp, false, d, Rm::Reg(right as u8));
        self.asm.two_byte(None, 0x40 | cond, false, d, Rm::Reg(right as u8));
        Ok(())
    }

    fn node(&mut self, v: Value, node: &Node) -> Result<(), Unable> {
        match *node {
            // They are loaded where they are used.
            Node::Input(..) | Node::Constant(..) => Ok(()),
            Node::Operator(Operator::Mul, _, [a, b]) => {
                let (a, b) = (self.get(a)?, self.get(b)?);
                let d = self.fresh(v)?;
                self.asm.alu(Alu::Mov, false, d, Rm::Reg(a as u8));
                self.asm.two_byte(None, 0xaf, false, d, Rm::Reg(b as u8));
                Ok(())
            }
            Node::Operator(op, ty, operands) => {
                let op = match op {
                    Operator::Add => Alu::Add,
                    Operator::Sub => Alu::Sub,
                    Operator::And => Alu::And,
                    Operator::Or => Alu::Or,
                    _ => Alu::Xor,
                };
                self.binary(op, ty == Type::Long, v, operands)
            }
            Node::Not(Type::Mask, a) => {
                let d = self.copy(v, a)?;
                self.asm.alu_imm(Alu::Xor, false, d, 1);
                Ok(())
            }
            Node::Not(ty, a) => {
                let d = self.copy(v, a)?;
                self.asm.unary(2, ty == Type::Long, d);
                Ok(())
            }
            Node::Select(ty, [m, t, f]) => {
                let (mask, yes, no) = (self.get(m)?, self.get(t)?, self.get(f)?);
                let d = self.fresh(v)?;
                self.asm.alu(Alu::Mov, true, d, Rm::Reg(no as u8));
                self.asm.alu(Alu::Test, false, mask, Rm::Reg(mask as u8));
                self.asm.two_byte(None, 0x40 | Cond::NotZero as u8, ty == Type::Long, d, Rm::Reg(yes as u8));
                Ok(())
            }
            Node::Word(op, [a, b, _], _) => self.word(v, op, a, b),
            Node::Long(op, [a, b, _], _) => match op {
                long::lo => {
                    let a = self.get(a)?;
                    let d = self.fresh(v)?;
                    self.asm.alu(Alu::Mov, false, d, Rm::Reg(a as u8));
                    Ok(())
                }
                long::hi => {
                    let d = self.copy(v, a)?;
                    self.asm.shift_imm(RIGHT.extension, true, d, 32);
                    Ok(())
                }
                long::eq => self.compare(true, Cond::Zero, v, a, b),
                long::lt_u => self.compare(true, Cond::Below, v, a, b),
                long::lt_i => self.compare(true, Cond::Less, v, a, b),
                long::shl => self.shift(true, LEFT, v, a, b),
                long::shr => self.shift(true, RIGHT, v, a, b),
                long::sar => self.shift(true, ARITHMETIC, v, a, b),
                _ => Err(Unable),
            },
            Node::Lookup(..)
            | Node::Rarely { .. }
            | Node::Merge(..)
            | Node::Neighbour(..)
            | Node::Lanes(_) => Err(Unable),
        }
    }

    fn word(&mut self, v: Value, op: word, a: Value, b: Value) -> Result<(), Unable> {
        match op {
            word::eq => self.compare(self.wide(a), Cond::Zero, v, a, b),
            word::lt_u => self.compare(false, Cond::Below, v, a, b),
            word::lt_i => self.compare(false, Cond::Less, v, a, b),
            word::shl => self.shift(false, LEFT, v, a, b),
            word::shr => self.shift(false, RIGHT, v, a, b),
            word::sar => self.shift(false, ARITHMETIC, v, a, b),
            // CMOVA, CMOVB, CMOVG, CMOVL.
            word::min_u => self.choose(7, v, a, b),
            word::max_u => self.choose(2, v, a, b),
            word::min_i => self.choose(15, v, a, b),
            word::max_i => self.choose(12, v, a, b),
            word::mul_hi_u | word::mul_hi_i => {
                let signed = op == word::mul_hi_i;
                let (a, b) = (self.get(a)?, self.get(b)?);
                let d = self.fresh(v)?;
                let other = self.free()?;
                for (to, from) in [(d, a), (other, b)] {
                    match signed {
                        true => self.asm.sign_extend(to, from),
                        false => self.asm.alu(Alu::Mov, false, to, Rm::Reg(from as u8)),
                    }
                }
                self.asm.two_byte(None, 0xaf, true, d, Rm::Reg(other as u8));
                self.asm.shift_imm(RIGHT.extension, true, d, 32);
                Ok(())
            }
            word::zext => self.copy(v, a).map(|_| ()),
            word::sext => {
                let a = self.get(a)?;
                let d = self.fresh(v)?;
                self.asm.sign_extend(d, a);
                Ok(())
            }
            word::join => {
                let low = self.get(a)?;
                if a == b {
                    let d = self.fresh(v)?;
                    self.asm.alu(Alu::Mov, true, d, Rm::Reg(low as u8));
                    self.asm.shift_imm(LEFT.extension, true, d, 32);
                    self.asm.alu(Alu::Or, true, d, Rm::Reg(low as u8));
                    return Ok(());
                }
                let d = self.copy(v, b)?;
                self.asm.shift_imm(LEFT.extension, true, d, 32);
                self.asm.alu(Alu::Or, true, d, Rm::Reg(low as u8));
                Ok(())
            }
            word::count_ones | word::leading_zeros => {
                let a = self.get(a)?;
                let d = self.fresh(v)?;
                let op = if op == word::count_ones { 0xb8 } else { 0xbd };
                self.asm.two_byte(Some(0xf3), op, false, d, Rm::Reg(a as u8));
                Ok(())
            }
            // The upper halves of words are zeros.
            word::mul_wide_u => {
                let (a, b) = (self.get(a)?, self.get(b)?);
                let d = self.fresh(v)?;
                self.asm.alu(Alu::Mov, true, d, Rm::Reg(a as u8));
                self.asm.two_byte(None, 0xaf, true, d, Rm::Reg(b as u8));
                Ok(())
            }
            _ => Err(Unable),
        }
    }
}

/// How a shift is encoded: with a constant, and with a count in a register.
#[derive(Clone, Copy)]
struct Shift {
    extension: u8,
    prefix: u8,
}
const LEFT: Shift = Shift { extension: 4, prefix: 1 };
const RIGHT: Shift = Shift { extension: 5, prefix: 3 };
const ARITHMETIC: Shift = Shift { extension: 7, prefix: 2 };

fn slot(n: u16) -> Mem {
    Mem::At(Gpr::Rsp, (n as i32 - 1) * 64)
}
