//! A block compiled: strips, scalar instructions and branches as code, everything else as calls of the interpreter, and the
//! way to the next block.

mod following;
pub mod lanes;
pub mod memory;
mod part;

use crate::allocate::{self, Exits, TooMany, first_lanes, fixed, next_lanes};
use crate::gpr;
use crate::host::Host;
use crate::live::Needs;
use crate::lower::{Version, lower};
use crate::scalar::{self, Scalar, scalar};
use crate::strip::{Setting, Strip, strip, suits};
use crate::x86::{Alu, Asm, Cond, Gpr, Label, Mem, Rm};
use memory::{Around, WINDOWS, Window};
pub use part::{Part, compile_part};
use std::mem::offset_of;
use std::sync::{Arc, OnceLock};
use wavemill_isa::encoding::bits;
use wavemill_isa::regs;
use wavemill_sem::control::{Condition, Control, target};
use wavemill_sem::operand::Src;
use wavemill_sem::scalar::{S32, S64};
use wavemill_wave::interp::cache::PAGE;
use wavemill_wave::layout;
use wavemill_wave::program::{Block, Inst, Run};

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
    /// Runs instructions of a block in the interpreter: the first's number, and how many 16 bits up.
    pub steps: unsafe extern "sysv64" fn(*mut Link, *const Source, u32) -> u32,
    /// Looks for the allocation that has an address, for a window's number and bytes, 8 bits up; whether there is one.
    pub find: unsafe extern "sysv64" fn(*mut Link, u32, u64) -> u32,
    /// Compiles a part of a block; its code, or null.
    pub part: unsafe extern "sysv64" fn(*mut Link, *const Part, *const Source) -> *const u8,
    /// Instructions left of the wave's turn.
    pub budget: i64,
    /// The work-group's LDS.
    pub lds: *mut u8,
    /// Its size.
    pub lds_bytes: u64,
    /// Allocations that loads and stores have touched.
    pub windows: [Window; 2 * WINDOWS],
}

/// A block to compile, with where it is and the bits of MODE that it is compiled for. Code has its address.
pub struct Source {
    /// The instructions.
    pub block: Block,
    /// Their address.
    pub pc: u64,
    /// MODE.
    pub mode: u32,
    /// What is needed behind each instruction; nothing if that is all.
    pub needs: OnceLock<Box<[Needs]>>,
}

/// What code returns: the wave goes on at its PC.
pub const GO: u32 = 0;
/// The interpreter has stopped it.
pub const STOPPED: u32 = 1;
/// Its turn is over.
pub const PREEMPTED: u32 = 2;
/// It has ended.
pub const ENDED: u32 = 3;
/// It is at a barrier.
pub const BARRIER: u32 = 4;

fn link(offset: usize) -> Mem {
    Mem::At(Gpr::Rbx, offset as i32)
}

/// A field of the wave, seen from its scalar registers.
fn wave(offset: usize) -> Mem {
    Mem::At(fixed::SGPRS, offset as i32 - layout::SGPRS as i32)
}

const TABLE: Gpr = Gpr::R15;
const SAVED: [Gpr; 6] = [Gpr::Rbx, Gpr::Rbp, Gpr::R12, Gpr::R13, Gpr::R14, Gpr::R15];

/// Code that calls other code with a [`Link`] and its address, and the place in it where that ends.
pub fn entry() -> (Vec<u8>, usize) {
    let mut asm = Asm::default();
    SAVED.into_iter().for_each(|r| asm.push(r));
    asm.alu(Alu::Mov, true, Gpr::Rbp, Rm::Reg(Gpr::Rsp as u8));
    asm.alu_imm(Alu::Sub, true, Gpr::Rsp, allocate::memory::FRAME);
    asm.alu_imm(Alu::And, true, Gpr::Rsp, -64);
    asm.alu(Alu::Mov, true, Gpr::Rbx, Rm::Reg(Gpr::Rdi as u8));
    asm.alu(Alu::Mov, true, fixed::SGPRS, Rm::Mem(link(offset_of!(Link, sgprs))));
    asm.alu(Alu::Mov, true, fixed::VGPRS, Rm::Mem(link(offset_of!(Link, vgprs))));
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

/// Compiles a block. The parts are not yet told where it is ([`Part::settle`]).
pub fn compile(source: &Source, setting: &Setting, host: Host) -> (Vec<u8>, Vec<Arc<Part>>) {
    let (asm, parts) = write(source, setting, host);
    (asm.finish(), parts)
}

pub(crate) fn write(source: &Source, setting: &Setting, host: Host) -> (Asm, Vec<Arc<Part>>) {
    let mut asm = Asm::default();
    // Which registers strips write is known when they have been compiled.
    let touched = asm.patched_or(wave(layout::TOUCHED));
    let lanes = if setting.all_active { Lanes::All } else { Lanes::Some };
    let mut c = Compiler::new(asm, host, source, lanes);
    c.instructions(0, setting);
    c.end();
    c.asm.patch(touched, c.touched);
    let asm = &c.asm;
    c.parts.iter().for_each(|(part, over)| part.note_end(asm.place_of(*over)));
    (c.asm, c.parts.into_iter().map(|(part, _)| part).collect())
}

/// The active lanes that code of a strip is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanes {
    /// All of them.
    All,
    /// Any.
    Some,
}

/// What becomes of a strip whose active lanes the code at hand is not for.
pub(crate) enum Others<'a> {
    /// It is for any.
    None,
    /// A part of the block is for them.
    Part(&'a Arc<Part>),
    /// The interpreter runs it.
    Interpreter,
}

/// Code of a strip, in two versions: one for what is usual, and, if lanes can need rare parts, one for these. Before them, its
/// accesses are checked.
///
/// `after` are scalar instructions among the strip's that come behind it. Returns the place behind all of it.
pub(crate) fn emit(
    asm: &mut Asm,
    strip: &Strip,
    lanes: Lanes,
    after: Option<&Scalar>,
    around: &Around<'_>,
    others: &Others<'_>,
) -> Result<Label, TooMany> {
    let host = around.host;
    let [rare, back, done, work, over, verified, other_lanes] = [0; 7].map(|_| asm.label());
    memory::announce(asm, strip, around);
    if !matches!(others, Others::None) {
        let exec = Mem::At(fixed::SGPRS, regs::EXEC as i32 * 4);
        asm.alu(Alu::Mov, true, fixed::SCRATCH, Rm::Mem(exec));
        asm.alu_imm(Alu::Cmp, true, fixed::SCRATCH, -1);
        asm.jump_if(if lanes == Lanes::All { Cond::NotZero } else { Cond::Zero }, other_lanes);
    }
    lanes::bring(asm, host, strip);
    if lanes == Lanes::All {
        following::emit(asm, strip, around, verified);
    }
    let begun = memory::begin(asm, strip, around);
    let exits = Exits { rare, outside: &begun.outside };
    let pass = |asm: &mut Asm, version| pass(asm, strip, version, &exits, around);
    if !strip.accesses.is_empty() {
        pass(asm, Version::Places)?;
    }
    asm.bind(verified);
    if strip.ahead {
        pass(asm, Version::Loads)?;
    }
    let again = first_lanes(asm);
    if lanes == Lanes::Some {
        // Where no lane is active, nothing changes but masks, which have none of them.
        if_any(asm, host);
        asm.jump_if(Cond::NotZero, work);
        strip.masks.iter().for_each(|&(code, _)| match host {
            Host::Avx512 => asm.clear_word(lanes_of(code)),
            Host::Avx2 => asm.store_byte_imm(lanes_of(code), 0),
        });
        asm.jump(back);
        asm.bind(work);
    }
    let mut code = lower(strip, Version::Hopeful, host, around.pcs);
    let checks = code.checks();
    allocate::allocate(asm, &mut code, &exits)?;
    asm.bind(back);
    next_lanes(asm, host, again);
    asm.jump(done);
    if checks {
        asm.bind(rare);
        allocate::allocate(asm, &mut lower(strip, Version::Careful, host, around.pcs), &exits)?;
        asm.jump(back);
    }
    memory::end(asm, strip, &begun, around, over);
    asm.bind(other_lanes);
    match others {
        Others::None => {}
        Others::Part(part) => part.go_to(asm, around, strip.len, over),
        Others::Interpreter => interpret(asm, around, strip.len, over),
    }
    asm.bind(done);
    around.masks.iter().for_each(|&code| join_mask(asm, host, code));
    if let Some(run) = after {
        gpr::emit(asm, run).map_err(|_| TooMany)?;
    }
    asm.bind(over);
    Ok(over)
}

/// Has the interpreter run a strip's instructions, and goes to `over`.
fn interpret(asm: &mut Asm, around: &Around<'_>, len: usize, over: Label) {
    asm.alu(Alu::Mov, true, Gpr::Rdi, Rm::Reg(fixed::LINK as u8));
    asm.mov_imm(Gpr::Rsi, around.source as u64);
    asm.mov_imm(Gpr::Rdx, around.at as u64 | (len as u64) << 16);
    asm.vzeroupper();
    asm.indirect(2, link(offset_of!(Link, steps)));
    asm.alu(Alu::Test, false, Gpr::Rax, Rm::Reg(Gpr::Rax as u8));
    asm.jump_if(Cond::Zero, over);
    leave(asm, STOPPED);
}

/// The mask at a pair of scalar registers: the lanes at hand.
fn lanes_of(code: u8) -> Mem {
    Mem::At(fixed::MASKS, code as i32 * 4)
}

/// Makes one store of a mask that several have written: what loads all of it would wait until all of them are in the cache.
fn join_mask(asm: &mut Asm, host: Host, code: u8) {
    let bytes = host.lanes() as i32 / 8;
    let at = |byte: i32| Mem::At(fixed::SGPRS, code as i32 * 4 + byte);
    let zero_extend = if bytes == 2 { 0xb7 } else { 0xb6 };
    // From the last part to the first.
    let [all, part] = [Gpr::Rax, Gpr::Rcx];
    asm.two_byte(None, zero_extend, false, all, Rm::Mem(at(8 - bytes)));
    for byte in (0..8 - bytes).step_by(bytes as usize).rev() {
        asm.shift_imm(4, true, all, 8 * bytes as u8);
        asm.two_byte(None, zero_extend, false, part, Rm::Mem(at(byte)));
        asm.alu(Alu::Or, true, all, Rm::Reg(part as u8));
    }
    asm.store(true, at(0), all);
}

/// Compares EXEC, the lanes at hand, with zero.
fn if_any(asm: &mut Asm, host: Host) {
    match host {
        Host::Avx512 => asm.compare_word_with_zero(lanes_of(regs::EXEC as u8)),
        Host::Avx2 => asm.compare_byte_with_zero(lanes_of(regs::EXEC as u8)),
    }
}

/// What precedes the strip itself, for the active ones of all lanes.
fn pass(
    asm: &mut Asm,
    strip: &Strip,
    version: Version,
    exits: &Exits<'_>,
    around: &Around<'_>,
) -> Result<(), TooMany> {
    let host = around.host;
    let next = asm.label();
    let again = first_lanes(asm);
    if_any(asm, host);
    asm.jump_if(Cond::Zero, next);
    allocate::allocate(asm, &mut lower(strip, version, host, around.pcs), exits)?;
    asm.bind(next);
    next_lanes(asm, host, again);
    Ok(())
}

/// Ends code.
pub(crate) fn leave(asm: &mut Asm, how: u32) {
    asm.mov_imm(Gpr::Rax, how as u64);
    asm.indirect(4, link(offset_of!(Link, exit)));
}

struct Compiler<'a> {
    asm: Asm,
    host: Host,
    source: &'a Source,
    block: &'a Block,
    pc: u64,
    /// What strips are compiled for; for others, there are parts.
    lanes: Lanes,
    /// It is itself a part, and has none.
    is_part: bool,
    /// The instruction behind the last one.
    end: usize,
    /// Vector registers that strips write, as [`layout::TOUCHED`] has them.
    touched: u64,
    /// What is left for later, and where code goes on behind it.
    parts: Vec<(Arc<Part>, Label)>,
}

impl<'a> Compiler<'a> {
    fn new(asm: Asm, host: Host, source: &'a Source, lanes: Lanes) -> Compiler<'a> {
        let (block, end) = (&source.block, source.block.insts.len());
        let parts = Vec::new();
        Compiler { asm, host, source, block, pc: source.pc, lanes, is_part: false, end, touched: 0, parts }
    }

    /// Code for the instructions from one on.
    fn instructions(&mut self, mut at: usize, setting: &Setting) {
        let insts = &self.block.insts;
        while at < self.end {
            let inst = &insts[at];
            let length = if suits(inst) {
                self.strip(at, setting)
            } else if scalar::suits(inst) {
                self.scalar(at)
            } else if inst.run == Run::Wait {
                memory::wait(&mut self.asm);
                1
            } else if let Some(load) = memory::ScalarLoad::of(inst) {
                self.scalar_load(at, &load);
                1
            } else if lanes::emit(&mut self.asm, inst) {
                self.touched |= if inst.sdst == 255 { 1 << inst.dst.min(63) } else { 0 };
                1
            } else if inst.run == Run::Nop
                || self.stops(at).is_some()
                || at + 1 == insts.len() && self.branch().is_some()
            {
                1
            } else {
                0
            };
            if length == 0 {
                self.step(at);
            }
            at += length.max(1);
        }
    }

    /// The strip that starts at an instruction; returns its length, or 0 if there is none.
    fn strip(&mut self, at: usize, setting: &Setting) -> usize {
        let mut end = self.end;
        // More values than there is room for: a shorter strip has fewer.
        while at < end {
            let insts = &self.block.insts[at..end];
            let Some(mut strip) = strip(insts, setting, self.lanes == Lanes::All) else { return 0 };
            self.forget(&mut strip, at);
            let sunk: Vec<Inst> = strip.scalars.iter().map(|&i| insts[i]).collect();
            let run = if sunk.is_empty() { None } else { scalar(&sunk).filter(|run| run.len == sunk.len()) };
            if run.is_none() && !sunk.is_empty() {
                end = at + strip.scalars[0];
                continue;
            }
            let before = self.asm.mark();
            let pcs = |i: usize| self.pc.wrapping_add(self.block.insts[at + i].offset as u64);
            let masks = self.read_soon(&strip, at);
            let (source, level, host) = (self.source, setting.level, self.host);
            let around = Around { source, at, pcs: &pcs, level, host, masks: &masks };
            let part = Part::new(self.lanes, at..at + strip.len, setting);
            let others = match (self.is_part, self.lanes) {
                (false, _) => Others::Part(&part),
                (true, Lanes::All) => Others::Interpreter,
                (true, Lanes::Some) => Others::None,
            };
            match emit(&mut self.asm, &strip, self.lanes, run.as_ref(), &around, &others) {
                Ok(over) => {
                    self.touched |= strip.vgprs.iter().fold(0, |all, &(n, _)| all | 1 << n.min(63));
                    if !self.is_part {
                        self.parts.push((part, over));
                    }
                    return strip.len;
                }
                Err(_) if !sunk.is_empty() => end = at + strip.scalars[0],
                Err(_) => end = at + strip.len / 2,
            }
            self.asm.rewind(before);
        }
        0
    }

    /// Masks of a strip that something other than strips reads before the next one; EXEC is always looked at.
    fn read_soon(&self, strip: &Strip, at: usize) -> Vec<u8> {
        let (inside, behind) = self.block.insts[at..].split_at(strip.len);
        let sunk = strip.scalars.iter().map(|&i| &inside[i]);
        let soon: Vec<&Inst> = sunk.chain(behind.iter().take_while(|inst| !suits(inst))).collect();
        let reads = |inst: &Inst, code: u8| {
            let named = |s: &Src| matches!(*s, Src::Sgpr(c) if c == code || c == code + 1);
            let branch = Run::Control(Control::Branch(Condition::VccZero(true)));
            let other = Run::Control(Control::Branch(Condition::VccZero(false)));
            let vcc = code == regs::VCC as u8 && (inst.run == branch || inst.run == other);
            inst.src.iter().any(named) || vcc
        };
        let wanted = |code: &u8| *code == regs::EXEC as u8 || soon.iter().any(|inst| reads(inst, *code));
        strip.masks.iter().map(|m| m.0).filter(wanted).collect()
    }

    /// Leaves out what a strip would write and nobody reads.
    fn forget(&self, strip: &mut Strip, at: usize) {
        let Some(needs) = self.source.needs.get().and_then(|needs| needs.get(at + strip.len - 1)) else {
            return;
        };
        let same_exec = strip.masks.iter().all(|&(code, _)| code != regs::EXEC as u8);
        strip.vgprs.retain(|&(n, _)| needs.vector(n, same_exec));
        // Scalar instructions behind it may read what they write themselves then.
        let scalars: Vec<&Inst> = strip.scalars.iter().map(|&i| &self.block.insts[at + i]).collect();
        let read = |code: u8| {
            let named = |s: &Src| matches!(*s, Src::Sgpr(c) if c.abs_diff(code) < 2);
            scalars.iter().any(|inst| inst.src.iter().any(named))
        };
        strip.masks.retain(|&(code, _)| needs.mask(code) || read(code));
    }

    /// An instruction in the interpreter.
    fn step(&mut self, at: usize) {
        let asm = &mut self.asm;
        let goes_on = asm.label();
        asm.alu(Alu::Mov, true, Gpr::Rdi, Rm::Reg(Gpr::Rbx as u8));
        asm.mov_imm(Gpr::Rsi, std::ptr::from_ref(self.source) as u64);
        asm.mov_imm(Gpr::Rdx, at as u64 | 1 << 16);
        asm.vzeroupper();
        asm.indirect(2, link(offset_of!(Link, steps)));
        asm.alu(Alu::Test, false, Gpr::Rax, Rm::Reg(Gpr::Rax as u8));
        asm.jump_if(Cond::Zero, goes_on);
        leave(asm, STOPPED);
        asm.bind(goes_on);
    }

    /// The scalar instructions from one on; returns how many, or 0 if there is no code for the first.
    fn scalar(&mut self, at: usize) -> usize {
        let mut end = self.end;
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

    /// A load into scalar registers.
    fn scalar_load(&mut self, at: usize, load: &memory::ScalarLoad) {
        let (done, slow) = (self.asm.label(), self.asm.label());
        let pc = self.pc.wrapping_add(self.block.insts[at].offset as u64);
        load.emit(&mut self.asm, pc, slow);
        self.asm.jump(done);
        self.asm.bind(slow);
        self.step(at);
        self.asm.bind(done);
    }

    /// What code returns for an instruction that ends the block, if it does nothing but stop the wave.
    fn stops(&self, at: usize) -> Option<u32> {
        let last = at + 1 == self.block.insts.len();
        match self.block.insts[at].run {
            Run::Control(Control::End) if last => Some(ENDED),
            Run::Control(Control::Barrier) if last => Some(BARRIER),
            _ => None,
        }
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
        if let Some(how) = self.stops(self.block.insts.len() - 1) {
            self.asm.mov_imm(Gpr::Rax, next);
            self.asm.store(true, wave(layout::PC), Gpr::Rax);
            leave(&mut self.asm, how);
            return;
        }
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
