//! A block compiled: strips, scalar instructions and branches as code, everything else as calls of the interpreter, and the
//! way to the next block.

use crate::allocate::{self, TooMany, first_lanes, fixed, next_lanes};
use crate::gpr;
use crate::lower::{Version, lower};
use crate::scalar::{self, scalar};
use crate::strip::{Setting, Strip, strip, suits};
use crate::x86::{Alu, Asm, Cond, Gpr, Label, Mem, Rm};
use std::mem::offset_of;
use wavemill_isa::encoding::bits;
use wavemill_isa::regs;
use wavemill_sem::control::{Condition, Control, target};
use wavemill_sem::scalar::{S32, S64};
use wavemill_wave::interp::cache::PAGE;
use wavemill_wave::layout;
use wavemill_wave::program::{Block, Run};

/// What code and the engine tell each other. Code has its address in RBX.
#[repr(C)]
pub struct Link {
    /// The wave's scalar registers; code has it in R12.
    pub sgprs: *mut u32,
    /// The wave's vector registers; code has it in R13.
    pub vgprs: *mut u32,
    /// Code by the dword of a page, or null; code has it in R15.
    pub table: *const *const u8,
    /// Where code goes to end.
    pub exit: *const u8,
    /// Runs an instruction of a block in the interpreter.
    pub step: unsafe extern "sysv64" fn(*mut Link, *const Source, u32) -> u32,
    /// Instructions left of the wave's turn.
    pub budget: i64,
}

/// A block to compile, with where it is and the bits of MODE that it is compiled for. Code has its address.
pub struct Source {
    /// The instructions.
    pub block: Block,
    /// Their address.
    pub pc: u64,
    /// MODE.
    pub mode: u32,
}

/// What code returns: the wave goes on at its PC.
pub const GO: u32 = 0;
/// The interpreter has stopped it.
pub const STOPPED: u32 = 1;
/// Its turn is over.
pub const PREEMPTED: u32 = 2;

fn link(offset: usize) -> Mem {
    Mem::At(Gpr::Rbx, offset as i32)
}

/// A field of the wave, seen from its scalar registers.
fn wave(offset: usize) -> Mem {
    Mem::At(fixed::SGPRS, offset as i32 - layout::SGPRS as i32)
}

const VGPRS: Gpr = Gpr::R13;
const TABLE: Gpr = Gpr::R15;
const SAVED: [Gpr; 6] = [Gpr::Rbx, Gpr::Rbp, Gpr::R12, Gpr::R13, Gpr::R14, Gpr::R15];

/// Code that calls other code with a [`Link`] and its address, and the place in it where that ends.
pub fn entry() -> (Vec<u8>, usize) {
    let mut asm = Asm::default();
    SAVED.into_iter().for_each(|r| asm.push(r));
    asm.alu(Alu::Mov, true, Gpr::Rbp, Rm::Reg(Gpr::Rsp as u8));
    asm.alu_imm(Alu::Sub, true, Gpr::Rsp, allocate::SLOTS as i32 * 64);
    asm.alu_imm(Alu::And, true, Gpr::Rsp, -64);
    asm.alu(Alu::Mov, true, Gpr::Rbx, Rm::Reg(Gpr::Rdi as u8));
    asm.alu(Alu::Mov, true, fixed::SGPRS, Rm::Mem(link(offset_of!(Link, sgprs))));
    asm.alu(Alu::Mov, true, VGPRS, Rm::Mem(link(offset_of!(Link, vgprs))));
    asm.alu(Alu::Mov, true, TABLE, Rm::Mem(link(offset_of!(Link, table))));
    asm.jump_to(Gpr::Rsi);
    let exit = asm.code.len();
    asm.alu(Alu::Mov, true, Gpr::Rsp, Rm::Reg(Gpr::Rbp as u8));
    SAVED.into_iter().rev().for_each(|r| asm.pop(r));
    // What waves leave in vector registers must not slow the host's SSE code down.
    asm.vzeroupper();
    asm.ret();
    (asm.finish(), exit)
}

/// Compiles a block.
pub fn compile(source: &Source, setting: &Setting) -> Vec<u8> {
    let mut c = Compiler { asm: Asm::default(), source, block: &source.block, pc: source.pc };
    let insts = &source.block.insts;
    let mut at = 0;
    while at < insts.len() {
        let inst = &insts[at];
        let length = if suits(inst) {
            c.strip(at, setting)
        } else if scalar::suits(inst) {
            c.scalar(at)
        } else if inst.run == Run::Nop || at + 1 == insts.len() && c.branch().is_some() {
            1
        } else {
            0
        };
        if length == 0 {
            c.step(at);
        }
        at += length.max(1);
    }
    c.end();
    c.asm.finish()
}

/// Code of a strip, in three versions: for all lanes active, for some, and for lanes that need rare parts.
pub(crate) fn emit(asm: &mut Asm, any: &Strip, full: &Strip) -> Result<(), TooMany> {
    let [some, rare, back, done, work] = [0; 5].map(|_| asm.label());
    let exec = Mem::At(fixed::SGPRS, regs::EXEC as i32 * 4);
    asm.alu(Alu::Mov, true, fixed::SCRATCH, Rm::Mem(exec));
    asm.alu_imm(Alu::Cmp, true, fixed::SCRATCH, -1);
    asm.jump_if(Cond::NotZero, some);
    let again = first_lanes(asm, VGPRS);
    allocate::allocate(asm, &mut lower(full, Version::Hopeful), rare)?;
    next_lanes(asm, again);
    asm.jump(done);
    asm.bind(some);
    let again = first_lanes(asm, VGPRS);
    // Where no lane is active, nothing changes but masks, which have none of them.
    let lanes = |code: u8| Mem::At(fixed::MASKS, code as i32 * 4);
    asm.compare_word_with_zero(lanes(regs::EXEC as u8));
    asm.jump_if(Cond::NotZero, work);
    any.masks.iter().for_each(|&(code, _)| asm.clear_word(lanes(code)));
    asm.jump(back);
    asm.bind(work);
    allocate::allocate(asm, &mut lower(any, Version::Hopeful), rare)?;
    // The careful version is for any lanes, and so is what follows it.
    asm.bind(back);
    next_lanes(asm, again);
    asm.jump(done);
    asm.bind(rare);
    allocate::allocate(asm, &mut lower(any, Version::Careful), rare)?;
    asm.jump(back);
    asm.bind(done);
    Ok(())
}

/// Ends code.
pub(crate) fn leave(asm: &mut Asm, how: u32) {
    asm.mov_imm(Gpr::Rax, how as u64);
    asm.indirect(4, link(offset_of!(Link, exit)));
}

struct Compiler<'a> {
    asm: Asm,
    source: &'a Source,
    block: &'a Block,
    pc: u64,
}

impl Compiler<'_> {
    /// The strip that starts at an instruction; returns its length, or 0 if there is none.
    fn strip(&mut self, at: usize, setting: &Setting) -> usize {
        let mut end = self.block.insts.len();
        // More values than there is room for: a shorter strip has fewer.
        while at < end {
            let insts = &self.block.insts[at..end];
            let Some(any) = strip(insts, setting, false) else { return 0 };
            let Some(full) = strip(&insts[..any.len], setting, true) else { return 0 };
            let before = self.asm.mark();
            if emit(&mut self.asm, &any, &full).is_ok() {
                return any.len;
            }
            self.asm.rewind(before);
            end = at + any.len / 2;
        }
        0
    }

    /// An instruction in the interpreter.
    fn step(&mut self, at: usize) {
        let asm = &mut self.asm;
        let goes_on = asm.label();
        asm.alu(Alu::Mov, true, Gpr::Rdi, Rm::Reg(Gpr::Rbx as u8));
        asm.mov_imm(Gpr::Rsi, std::ptr::from_ref(self.source) as u64);
        asm.mov_imm(Gpr::Rdx, at as u64);
        asm.vzeroupper();
        asm.indirect(2, link(offset_of!(Link, step)));
        asm.alu(Alu::Test, false, Gpr::Rax, Rm::Reg(Gpr::Rax as u8));
        asm.jump_if(Cond::Zero, goes_on);
        leave(asm, STOPPED);
        asm.bind(goes_on);
    }

    /// The scalar instructions from one on; returns how many, or 0 if there is no code for the first.
    fn scalar(&mut self, at: usize) -> usize {
        let mut end = self.block.insts.len();
        while at < end {
            let Some(run) = scalar(&self.block.insts[at..end]) else { return 0 };
            let before = self.asm.mark();
            if gpr::emit(&mut self.asm, &run).is_ok() {
                return run.len;
            }
            self.asm.rewind(before);
            end = at + run.len / 2;
        }
        0
    }

    /// The condition and the target of the branch that ends the block, if it is one that code can do.
    fn branch(&self) -> Option<(Condition, u64)> {
        let last = self.block.insts.last()?;
        let Run::Control(Control::Branch(condition)) = last.run else { return None };
        match condition {
            Condition::Always | Condition::Scc(_) | Condition::VccZero(_) | Condition::ExecZero(_) => {}
            _ => return None,
        }
        let next = self.pc.wrapping_add(self.block.len as u64);
        let imm = bits::SIMM16.get(last.bits) as u16;
        Some((condition, target::<S32>(S64(next), imm).0))
    }

    /// The block is over: counts, and goes on.
    fn end(&mut self) {
        let counters = &self.block.counters;
        let counted = counters.class.iter().chain([&counters.exact, &counters.approximate, &counters.waits]);
        for (i, &n) in counted.enumerate().filter(|(_, n)| **n > 0) {
            self.asm.alu_mem_imm(Alu::Add, wave(layout::COUNTERS + 8 * i), n as i32);
        }
        let preempted = self.asm.label();
        let next = self.pc.wrapping_add(self.block.len as u64);
        match self.branch() {
            Some((Condition::Always, target)) => self.go_to(target, preempted),
            Some((condition, target)) => {
                let taken = self.asm.label();
                let cond = self.compare(condition);
                self.asm.jump_if(cond, taken);
                self.go_to(next, preempted);
                self.asm.bind(taken);
                self.go_to(target, preempted);
            }
            None if self.block.ends_with_control() => {
                // The instruction has set the PC.
                self.spend();
                self.asm.jump_if(Cond::LessEqual, preempted);
                leave(&mut self.asm, GO);
            }
            None => self.go_to(next, preempted),
        }
        self.asm.bind(preempted);
        leave(&mut self.asm, PREEMPTED);
    }

    /// Sets the flags for a condition.
    fn compare(&mut self, condition: Condition) -> Cond {
        let (zero, mem) = match condition {
            Condition::Scc(set) => {
                self.asm.compare_byte_with_zero(gpr::SCC);
                return if set { Cond::NotZero } else { Cond::Zero };
            }
            Condition::VccZero(zero) => (zero, gpr::sgpr(regs::VCC as u8)),
            Condition::ExecZero(zero) => (zero, gpr::sgpr(regs::EXEC as u8)),
            // `branch` has no others.
            _ => (true, gpr::sgpr(regs::EXEC as u8)),
        };
        self.asm.compare_with_zero(mem);
        if zero { Cond::Zero } else { Cond::NotZero }
    }

    /// Takes the block's instructions from the budget, and sets the flags.
    fn spend(&mut self) {
        let insts = self.block.insts.len() as i32;
        self.asm.alu_mem_imm(Alu::Sub, link(offset_of!(Link, budget)), insts);
    }

    /// Goes on at an address, unless the turn is over.
    fn go_to(&mut self, pc: u64, preempted: Label) {
        self.asm.mov_imm(Gpr::Rax, pc);
        self.asm.store(true, wave(layout::PC), Gpr::Rax);
        self.spend();
        self.asm.jump_if(Cond::LessEqual, preempted);
        if pc / PAGE == self.pc / PAGE && pc.is_multiple_of(4) {
            let unknown = self.asm.label();
            let at = Mem::At(TABLE, (pc % PAGE / 4 * 8) as i32);
            self.asm.alu(Alu::Mov, true, Gpr::Rax, Rm::Mem(at));
            self.asm.alu(Alu::Test, true, Gpr::Rax, Rm::Reg(Gpr::Rax as u8));
            self.asm.jump_if(Cond::Zero, unknown);
            self.asm.jump_to(Gpr::Rax);
            self.asm.bind(unknown);
        }
        leave(&mut self.asm, GO);
    }
}
