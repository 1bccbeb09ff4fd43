//! Machine instructions on values, and the pass that gives values registers and writes the code.
//!
//! The code is straight, so one pass will do: a value stays in a register until another needs it, and then the one whose next
//! use is farthest away goes. What came from memory that does not change meanwhile (registers of the wave, constants) is
//! read again; the rest goes to a slot of the frame.

mod avx2;
pub mod memory;

use crate::host::Host;
use crate::opcodes::EXTRACT;
use crate::rooms::{Rooms, filled};
use crate::x86::{Alu, Asm, Cond, Deco, Gpr, Ins, Label, Mem, REGISTERS_ONLY, Rm, ins, whole};
use memory::Access;
use std::mem::take;
use wavemill_wave::layout;

/// A value: the dwords or quadwords of a vector register, or a mask.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct V(pub u32);

/// No value.
pub const NONE: V = V(u32::MAX);

/// Which registers hold a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Class {
    Vector,
    Mask,
}

/// Where a value can be found beside registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// Nowhere.
    None,
    /// A register of the wave: the lanes at hand.
    File(u16),
    /// The same dword in all lanes.
    Splat32(u32),
    /// The same quadword in all lanes.
    Splat64(u64),
    /// A constant vector.
    Vector(&'static [u32; 16]),
    /// The second half of one, where that is a whole vector.
    SecondEight(&'static [u32; 16]),
    /// A whole vector among the constants, by its place.
    Pooled(u32),
    /// A scalar register of the wave in all lanes.
    Sgpr(u8),
    /// Two of them as quadwords.
    SgprPair(u8),
    /// A mask in two scalar registers: the lanes at hand.
    Lanes(u8),
    /// A mask of all lanes.
    Ones,
    /// A mask of none.
    Zeros,
    /// The lanes with these numbers.
    Bits(u64),
    /// A slot of the frame.
    Slot(u16),
    /// A dword that an access has loaded, by the access's number and its own.
    Row(u8, u8),
    /// What was brought from other vectors.
    Moved(u8),
}

/// What an instruction does with its operands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// `dst = op(src0, src1)`; the last may be memory. The result is a vector.
    Binary,
    /// The same into a mask.
    Compare,
    /// `dst` has src1 where src2, a vector, has a lane's first bit, else src0.
    Blend,
    /// `dst = op(src0)`.
    Unary,
    /// `dst = op(src0)`, with the operands the other way round in the encoding.
    Narrow,
    /// `dst = op(a half of src0)`, by its number: as many bytes as the result has, of half the size.
    Widen(u8),
    /// A shift of src0 by the immediate, with this extension of the opcode.
    Shift(u8),
    /// `dst = op(src0, src1, src2)`, where the result takes src0's register.
    Tied,
    /// `dst = src0 · src1 + src2`: the form depends on which register may be overwritten.
    Fma,
    /// Masks: VEX prefix, opcode; `dst = op(src0, src1)`.
    Mask2((u8, u8, u8, u8), u8),
    /// `dst = op(src0)`, perhaps with the immediate.
    Mask1((u8, u8, u8, u8), u8),
    /// `dst = table[src0]` in the lanes of the write mask, zero elsewhere.
    Gather(&'static [u32]),
    /// The number of the first lane at hand, in all lanes.
    FirstLane,
    /// src0 into a register of the wave.
    Store(u16),
    /// The mask src0 into two scalar registers, the lanes at hand.
    StoreLanes(u8),
    /// Leaves if the mask src0 has a lane.
    Check,
    /// Leaves if lanes at src0, or src1 and src0, are outside; else notes where they are.
    Verify(Access),
    /// `dst` = what is there, a dword or less.
    Load(Access),
    /// Several dwords, which become [`Home::Row`]s.
    Fetch(Access),
    /// src0 is a dword of an access's data.
    ToRow(u8, u8),
    /// src0, a dword or less, to memory.
    Put(Access),
    /// What [`Kind::ToRow`] has brought, to memory.
    PutRows(Access),
    /// The same of two accesses, both for a lane before the next.
    PutPair(Access, Access),
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Inst {
    /// What.
    pub kind: Kind,
    /// The opcode of vector instructions.
    pub ins: Ins,
    /// Its result.
    pub dst: V,
    /// Its operands, and the write mask.
    pub src: [V; 4],
    /// Lanes without their mask bit become zero.
    pub zero: bool,
    /// Embedded rounding.
    pub round: Option<u8>,
    /// The immediate byte.
    pub imm: Option<u8>,
}

/// Straight code on values.
pub struct Code {
    /// The instructions.
    pub insts: Vec<Inst>,
    /// What they are instructions of.
    pub host: Host,
    classes: Vec<Class>,
    homes: Vec<Home>,
}

/// Memory of one compilation, for the next.
struct Room {
    insts: Vec<Inst>,
    classes: Vec<Class>,
    homes: Vec<Home>,
    next_use: Vec<u32>,
    nexts: Vec<[u32; 4]>,
    register: Vec<u8>,
    leaves: Vec<u32>,
}

/// Values and instructions that there is room for at first: most strips have fewer, and memory that grows is copied.
const USUAL: usize = 256;

impl Default for Room {
    fn default() -> Room {
        Room {
            insts: Vec::with_capacity(USUAL),
            classes: Vec::with_capacity(USUAL),
            homes: Vec::with_capacity(USUAL),
            next_use: Vec::with_capacity(USUAL),
            nexts: Vec::with_capacity(USUAL),
            register: Vec::with_capacity(USUAL),
            leaves: Vec::new(),
        }
    }
}

static ROOMS: Rooms<Room> = Rooms::new();

impl Code {
    /// None yet.
    pub fn new(host: Host) -> Code {
        let mut room = ROOMS.take();
        let (insts, classes, homes) = (take(&mut room.insts), take(&mut room.classes), take(&mut room.homes));
        ROOMS.put(room);
        Code { insts, host, classes, homes }
    }

    /// A new value that an instruction makes.
    pub fn value(&mut self, class: Class) -> V {
        self.leaf(class, Home::None)
    }

    /// A value that is there already.
    pub fn leaf(&mut self, class: Class, home: Home) -> V {
        self.classes.push(if self.host.has_masks() { class } else { Class::Vector });
        self.homes.push(home);
        V(self.classes.len() as u32 - 1)
    }

    /// Whether there is a [`Kind::Check`] among the instructions.
    pub fn checks(&self) -> bool {
        self.insts.iter().any(|inst| inst.kind == Kind::Check)
    }

    /// Where a value can be found beside registers.
    pub fn home(&self, v: V) -> Home {
        self.homes[v.0 as usize]
    }
}

/// Registers that code of a strip has for itself.
pub mod fixed {
    use crate::x86::Gpr;

    /// Lanes at hand of the wave's v0.
    pub const FILE: Gpr = Gpr::Rax;
    /// Lanes at hand of a mask in s[0:1].
    pub const MASKS: Gpr = Gpr::Rcx;
    /// The number of the first lane at hand.
    pub const LANE: Gpr = Gpr::Rdx;
    /// For anything that does not last.
    pub const SCRATCH: Gpr = Gpr::Rdi;
    /// Where accesses go, of the lanes at hand.
    pub const PLACES: Gpr = Gpr::R8;
    /// Scalar registers.
    pub const SGPRS: Gpr = Gpr::R12;
    /// Vector registers.
    pub const VGPRS: Gpr = Gpr::R13;
    /// The link.
    pub const LINK: Gpr = Gpr::Rbx;
}

/// Where the address of an instruction that accesses memory is noted.
const ACCESSING: Mem = Mem::At(fixed::SGPRS, layout::ACCESSING as i32 - layout::SGPRS as i32);

/// Where code goes that cannot go on.
pub struct Exits<'a> {
    /// Lanes need what is rare.
    pub rare: Label,
    /// An access is outside, by its number.
    pub outside: &'a [Label],
}

/// Slots of 64 bytes in the frame, at RSP.
pub const SLOTS: u16 = 256;

/// The most there are.
const VECTORS: u8 = 32;
/// k0 cannot be a write mask.
const FIRST_MASK: u8 = 1;
const MASKS: u8 = 8;
const NEVER: u32 = u32::MAX;
const FREE: u32 = u32::MAX;

const MOVE: Ins = whole(1, 1, 1, 0x6f);
const MOVE_STORE: Ins = whole(1, 1, 1, 0x7f);
const BROADCAST32: Ins = Ins { map: 2, pp: 1, w: 0, op: 0x58, elem: 4 };
const BROADCAST64: Ins = Ins { map: 2, pp: 1, w: 1, op: 0x59, elem: 8 };
const XOR: Ins = ins(1, 1, 0, 0xef);
/// VPCMPEQD of vectors, where masks are some.
const EQUAL: Ins = ins(1, 1, 0, 0x76);
/// KMOVW, KMOVQ: what precedes their opcodes.
const KMOVW: (u8, u8, u8, u8) = (1, 0, 0, 0);
const KMOVQ: (u8, u8, u8, u8) = (1, 0, 1, 0);

/// More values at once than there are registers and slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooMany;

struct Allocator<'a> {
    asm: &'a mut Asm,
    host: Host,
    /// The round mode of the host, where instructions have none of their own.
    round: Option<u8>,
    code: &'a mut Code,
    /// The register of a value; 255 for none.
    register: Vec<u8>,
    next_use: Vec<u32>,
    vectors: [u32; VECTORS as usize],
    masks: [u32; MASKS as usize],
    pinned_vectors: u32,
    pinned_masks: u32,
    slots: u16,
    free_slots: Vec<u16>,
    /// Slots that the present instruction may still read.
    left_slots: Vec<u16>,
    /// Values that come from memory of the wave.
    leaves: Vec<u32>,
    overflow: bool,
}

/// Writes the code, which is gone then.
pub fn allocate(asm: &mut Asm, code: &mut Code, exits: &Exits<'_>) -> Result<(), TooMany> {
    let values = code.classes.len();
    let room = ROOMS.take();
    let mut next_use = filled(room.next_use, values, NEVER);
    let mut nexts = filled(room.nexts, code.insts.len(), [NEVER; 4]);
    for (i, inst) in code.insts.iter().enumerate().rev() {
        for (slot, &v) in inst.src.iter().enumerate() {
            if v != NONE {
                nexts[i][slot] = next_use[v.0 as usize];
            }
        }
        for &v in inst.src.iter().filter(|&&v| v != NONE) {
            next_use[v.0 as usize] = i as u32;
        }
    }
    let mut insts = take(&mut code.insts);
    let of_wave = |v: &u32| matches!(code.homes[*v as usize], Home::File(_) | Home::Lanes(_));
    let mut leaves = filled(room.leaves, 0, 0);
    leaves.extend((0..values as u32).filter(of_wave));
    let host = code.host;
    let mut a = Allocator {
        asm,
        host,
        round: None,
        code,
        register: filled(room.register, values, 255),
        next_use,
        vectors: [FREE; VECTORS as usize],
        masks: [FREE; MASKS as usize],
        pinned_vectors: 0,
        pinned_masks: 0,
        slots: 0,
        free_slots: Vec::new(),
        left_slots: Vec::new(),
        leaves,
        overflow: false,
    };
    for (inst, nexts) in insts.iter().zip(&nexts) {
        a.pinned_vectors = 0;
        a.pinned_masks = 0;
        a.set_round(inst.round);
        a.instruction(inst, nexts, exits);
        a.free_slots.append(&mut a.left_slots);
    }
    a.set_round(None);
    let Allocator { overflow, next_use, register, leaves, .. } = a;
    insts.clear();
    let (mut classes, mut homes) = (take(&mut code.classes), take(&mut code.homes));
    classes.clear();
    homes.clear();
    ROOMS.put(Room { insts, classes, homes, next_use, nexts, register, leaves });
    if overflow { Err(TooMany) } else { Ok(()) }
}

impl Allocator<'_> {
    fn instruction(&mut self, inst: &Inst, nexts: &[u32; 4], exits: &Exits<'_>) {
        let [s0, s1, s2, mask] = inst.src;
        let k = (mask != NONE).then(|| self.get(mask));
        if !self.host.has_masks() && self.without_masks(inst, nexts, exits) {
            return;
        }
        let deco = Deco { mask: k.unwrap_or(0), zero: inst.zero, round: inst.round, imm: inst.imm };
        match inst.kind {
            Kind::Binary | Kind::Compare => {
                let a = self.get(s0);
                let b = self.last(inst, s1, nexts[1]);
                self.used(inst, nexts);
                let d = self.make(inst.dst);
                self.op(inst.ins, d, a, b, deco);
            }
            Kind::Unary => {
                let a = self.last(inst, s0, nexts[0]);
                self.used(inst, nexts);
                let d = self.make(inst.dst);
                self.op(inst.ins, d, 0, a, deco);
            }
            Kind::Narrow if self.second_half(inst).is_some() => {
                let at = self.second_half(inst);
                self.used(inst, nexts);
                let d = self.make(inst.dst);
                at.into_iter().for_each(|at| self.asm.load_half(d, at));
            }
            Kind::Narrow => {
                let a = self.get(s0);
                self.used(inst, nexts);
                let d = self.make(inst.dst);
                self.op(inst.ins, a, 0, Rm::Reg(d), deco);
            }
            Kind::Shift(extension) => {
                let a = self.get(s0);
                self.used(inst, nexts);
                let d = self.make(inst.dst);
                self.op(inst.ins, extension, d, Rm::Reg(a), deco);
            }
            Kind::Tied => {
                let b = self.get(s1);
                let c = self.last(inst, s2, nexts[2]);
                let d = self.tied(s0, nexts[0], inst.dst);
                self.used(inst, nexts);
                self.op(inst.ins, d, b, c, deco);
            }
            Kind::Fma => self.fma(inst, nexts, deco),
            // Masks are no vectors here: nobody asks for it, and the interpreter would run the instructions.
            Kind::Blend | Kind::Widen(_) => self.overflow = true,
            Kind::Mask2(prefix, op) => {
                let (a, b) = (self.get(s0), self.get(s1));
                self.used(inst, nexts);
                let d = self.make(inst.dst);
                self.asm.vex(prefix, op, d, a, Rm::Reg(b), None);
            }
            Kind::Mask1(prefix, op) => {
                let a = self.get(s0);
                self.used(inst, nexts);
                let d = self.make(inst.dst);
                self.asm.vex(prefix, op, d, 0, Rm::Reg(a), inst.imm);
            }
            Kind::Gather(table) => {
                let index = self.get(s0);
                // The mask is destroyed: a copy of it is.
                let copy = self.free(Class::Mask);
                self.pinned_masks |= 1 << copy;
                self.asm.vex(KMOVW, 0x90, copy, 0, Rm::Reg(deco.mask), None);
                let d = self.free(Class::Vector);
                self.op(XOR, d, d, Rm::Reg(d), Deco::default());
                self.asm.mov_imm(fixed::SCRATCH, table.as_ptr() as u64);
                self.asm.gather(d, fixed::SCRATCH, index, 4, copy);
                self.used(inst, nexts);
                self.place(inst.dst, d);
            }
            Kind::FirstLane => {
                let d = self.make(inst.dst);
                self.host.broadcast_general(self.asm, d, fixed::LANE);
            }
            Kind::Store(register) => {
                let a = self.get(s0);
                self.next_use[s0.0 as usize] = nexts[0];
                self.overwritten(Home::File(register));
                self.used(inst, nexts);
                self.op(MOVE_STORE, a, 0, Rm::Mem(file(register)), Deco::default());
            }
            Kind::StoreLanes(code) => {
                let a = self.get(s0);
                self.next_use[s0.0 as usize] = nexts[0];
                self.overwritten(Home::Lanes(code));
                self.used(inst, nexts);
                let at = Mem::At(fixed::MASKS, code as i32 * 4);
                self.asm.vex(KMOVW, 0x91, a, 0, Rm::Mem(at), None);
            }
            Kind::Check => {
                let a = self.get(s0);
                self.used(inst, nexts);
                self.asm.vex(KMOVW, 0x98, a, 0, Rm::Reg(a), None);
                self.asm.jump_if(Cond::NotZero, exits.rare);
            }
            Kind::Verify(access) => {
                self.verify(inst, access, k, exits.outside[access.number as usize]);
                self.used(inst, nexts);
            }
            Kind::Load(access) => {
                self.load_access(inst.dst, access, k);
                self.used(inst, nexts);
            }
            Kind::Fetch(access) => {
                self.fetch(access, k);
                self.used(inst, nexts);
            }
            Kind::ToRow(number, dword) => {
                let a = self.get(s0);
                self.used(inst, nexts);
                let to = memory::row(self.host, number, dword as usize);
                self.op(MOVE_STORE, a, 0, Rm::Mem(to), Deco::default());
            }
            Kind::Put(access) => {
                self.put(s0, access, k);
                self.used(inst, nexts);
            }
            Kind::PutRows(access) => {
                self.put_rows(access, k);
                self.used(inst, nexts);
            }
            Kind::PutPair(first, second) => {
                self.put_pair(first, second, k);
                self.used(inst, nexts);
            }
        }
        if inst.dst != NONE && self.next_use[inst.dst.0 as usize] == NEVER {
            self.release(inst.dst);
        }
    }

    fn fma(&mut self, inst: &Inst, nexts: &[u32; 4], deco: Deco) {
        let [a, b, c, _] = inst.src;
        let held = |this: &Self, v: V| this.register[v.0 as usize] != 255;
        let dies = |this: &Self, i: usize| nexts[i] == NEVER && held(this, inst.src[i]);
        // c + a · b in c's register, or a's or b's.
        let tie = if dies(self, 2) {
            2
        } else if dies(self, 0) {
            0
        } else if dies(self, 1) {
            1
        } else if !held(self, c) {
            2
        } else if !held(self, a) {
            0
        } else if !held(self, b) {
            1
        } else {
            2
        };
        let (op, tied, reg, last, slot) = match tie {
            2 if !held(self, a) => (0xb8, c, b, a, 0),
            2 => (0xb8, c, a, b, 1),
            0 => (0xa8, a, b, c, 2),
            _ => (0xa8, b, a, c, 2),
        };
        let r = self.get(reg);
        let rm = self.last(inst, last, nexts[slot]);
        let d = self.tied(tied, nexts[tie], inst.dst);
        self.used(inst, nexts);
        self.op(Ins { op, ..inst.ins }, d, r, rm, deco);
    }

    /// Where the second half of a register of the wave is that an instruction wants, if it is not at hand.
    fn second_half(&self, inst: &Inst) -> Option<Mem> {
        let of = inst.src[0];
        match self.code.home(of) {
            Home::File(r) if inst.ins == EXTRACT && self.register[of.0 as usize] == 255 => {
                Some(Mem::At(fixed::FILE, r as i32 * 256 + 32))
            }
            _ => None,
        }
    }

    /// Memory of the wave is about to be written: what was there and is still needed is in a register from now on.
    fn overwritten(&mut self, home: Home) {
        let needed = |v: &u32| self.code.homes[*v as usize] == home && self.next_use[*v as usize] != NEVER;
        let Some(v) = self.leaves.iter().copied().find(needed) else { return };
        self.get(V(v));
        self.code.homes[v as usize] = Home::None;
    }

    /// The destination in the register of an operand, which is copied if somebody still needs it.
    fn tied(&mut self, source: V, next: u32, dst: V) -> u8 {
        let held = self.register[source.0 as usize];
        let d = if held != 255 && next == NEVER {
            self.vectors[held as usize] = FREE;
            self.register[source.0 as usize] = 255;
            held
        } else {
            let d = self.free(Class::Vector);
            match held {
                255 => self.load(source, d),
                r => self.op(MOVE, d, 0, Rm::Reg(r), Deco::default()),
            }
            d
        };
        self.place(dst, d);
        d
    }

    /// A value in a register, which stays there for this instruction.
    fn get(&mut self, v: V) -> u8 {
        let mut r = self.register[v.0 as usize];
        if r == 255 {
            r = self.free(self.class(v));
            self.load(v, r);
            self.place(v, r);
        }
        match self.class(v) {
            Class::Vector => self.pinned_vectors |= 1 << r,
            Class::Mask => self.pinned_masks |= 1 << r,
        }
        r
    }

    /// The last operand: in a register, or in memory if it is needed but once or registers are scarce.
    fn last(&mut self, inst: &Inst, v: V, next: u32) -> Rm {
        let held = self.register[v.0 as usize] != 255;
        // Registers that results take are fewer than it seems: what is in flight has its own.
        if !held
            && self.host == Host::Avx2
            && inst.ins.elem != REGISTERS_ONLY
            && let Some(at) = self.constant_in_memory(v)
        {
            return at;
        }
        let scarce = || self.vectors[..self.host.vectors()].iter().all(|&x| x != FREE);
        if !held && inst.round.is_none() && (next == NEVER || scarce()) {
            let home = self.code.home(v);
            let whole = inst.ins.elem != REGISTERS_ONLY;
            // VEX has no broadcast operands.
            let elem = if self.host == Host::Avx2 { 0 } else { inst.ins.elem };
            match home {
                Home::File(r) if whole => return Rm::Mem(file(r)),
                Home::Slot(n) if whole => return Rm::Mem(slot(n)),
                Home::Row(number, dword) if whole => {
                    return Rm::Mem(memory::row(self.host, number, dword as usize));
                }
                Home::Moved(n) if whole => {
                    return Rm::Mem(memory::moved_row(self.host, fixed::PLACES, n as usize, 0));
                }
                Home::Vector(x) if whole => return Rm::Mem(Mem::Constant(self.asm.vector(x))),
                Home::Splat32(n) if elem == 4 && n != 0 => {
                    return Rm::Broadcast(Mem::Constant(self.asm.constant(n as u64, 4)));
                }
                Home::Splat64(n) if elem == 8 && n != 0 => {
                    return Rm::Broadcast(Mem::Constant(self.asm.constant(n, 8)));
                }
                Home::Sgpr(code) if elem == 4 => return Rm::Broadcast(sgpr(code)),
                Home::SgprPair(code) if elem == 8 => return Rm::Broadcast(sgpr(code)),
                _ => {}
            }
        }
        Rm::Reg(self.get(v))
    }

    fn class(&self, v: V) -> Class {
        self.code.classes[v.0 as usize]
    }

    /// Loads a value from its home.
    fn load(&mut self, v: V, r: u8) {
        let plain = Deco::default();
        match self.code.home(v) {
            Home::File(n) => self.op(MOVE, r, 0, Rm::Mem(file(n)), plain),
            Home::Splat32(0) | Home::Splat64(0) => self.op(XOR, r, r, Rm::Reg(r), plain),
            Home::Splat32(n) => {
                let at = Mem::Constant(self.asm.constant(n as u64, 4));
                self.broadcast(BROADCAST32, r, at);
            }
            Home::Splat64(n) => {
                let at = Mem::Constant(self.asm.constant(n, 8));
                self.broadcast(BROADCAST64, r, at);
            }
            Home::Vector(x) => {
                let at = Mem::Constant(self.asm.vector(x));
                self.op(MOVE, r, 0, Rm::Mem(at), plain);
            }
            Home::SecondEight(x) => {
                let at = Mem::Constant(self.asm.vector(x) + 32);
                self.op(MOVE, r, 0, Rm::Mem(at), plain);
            }
            Home::Pooled(at) => self.op(MOVE, r, 0, Rm::Mem(Mem::Constant(at)), plain),
            Home::Sgpr(code) => self.broadcast(BROADCAST32, r, sgpr(code)),
            Home::SgprPair(code) => self.broadcast(BROADCAST64, r, sgpr(code)),
            Home::Lanes(code) if !self.host.has_masks() => self.expand_lanes(code, r),
            Home::Ones if !self.host.has_masks() => self.op(EQUAL, r, r, Rm::Reg(r), plain),
            Home::Zeros if !self.host.has_masks() => self.op(XOR, r, r, Rm::Reg(r), plain),
            Home::Bits(lanes) => {
                let first = lanes & 0xffff;
                let same = lanes == first * 0x0001_0001_0001_0001 && self.host.has_masks();
                let scratch = fixed::SCRATCH as u8;
                self.asm.mov_imm(fixed::SCRATCH, if same { first } else { lanes });
                if !same {
                    // SHRX by the first lane at hand.
                    self.asm.vex((2, 3, 1, 0), 0xf7, scratch, fixed::LANE as u8, Rm::Reg(scratch), None);
                }
                match self.host.has_masks() {
                    true => self.asm.vex(KMOVW, 0x92, r, 0, Rm::Reg(scratch), None),
                    false => self.expand_bits(r),
                }
            }
            Home::Lanes(code) => {
                let at = Mem::At(fixed::MASKS, code as i32 * 4);
                self.asm.vex(KMOVW, 0x90, r, 0, Rm::Mem(at), None);
            }
            // KXNORW, KXORW of a register with itself.
            Home::Ones => self.asm.vex((1, 0, 0, 1), 0x46, r, r, Rm::Reg(r), None),
            Home::Zeros => self.asm.vex((1, 0, 0, 1), 0x47, r, r, Rm::Reg(r), None),
            Home::Slot(n) => match self.class(v) {
                Class::Vector => self.op(MOVE, r, 0, Rm::Mem(slot(n)), plain),
                Class::Mask => self.asm.vex(KMOVQ, 0x90, r, 0, Rm::Mem(slot(n)), None),
            },
            Home::Row(number, dword) => {
                let at = Rm::Mem(memory::row(self.host, number, dword as usize));
                self.op(MOVE, r, 0, at, plain);
            }
            Home::Moved(n) => {
                let at = Rm::Mem(memory::moved_row(self.host, fixed::PLACES, n as usize, 0));
                self.op(MOVE, r, 0, at, plain);
            }
            // Every value is made before it is used.
            Home::None => self.overflow = true,
        }
    }

    /// A broadcast by itself has a memory operand of one element, not a broadcast one.
    fn broadcast(&mut self, ins: Ins, r: u8, at: Mem) {
        self.host.broadcast(self.asm, ins, r, at);
    }

    /// A vector instruction.
    fn op(&mut self, ins: Ins, reg: u8, vvvv: u8, rm: Rm, deco: Deco) {
        self.host.op(self.asm, ins, reg, vvvv, rm, deco);
    }

    /// The operands have been read; those that nobody needs any more leave their registers.
    fn used(&mut self, inst: &Inst, nexts: &[u32; 4]) {
        for (&v, &next) in inst.src.iter().zip(nexts).filter(|(v, _)| **v != NONE) {
            self.next_use[v.0 as usize] = next;
            if next == NEVER {
                self.release(v);
            }
        }
    }

    fn release(&mut self, v: V) {
        let r = self.register[v.0 as usize];
        if r != 255 {
            match self.class(v) {
                Class::Vector => {
                    self.vectors[r as usize] = FREE;
                    self.pinned_vectors &= !(1 << r);
                }
                Class::Mask => {
                    self.masks[r as usize] = FREE;
                    self.pinned_masks &= !(1 << r);
                }
            }
            self.register[v.0 as usize] = 255;
        }
        if let Home::Slot(n) = self.code.home(v) {
            self.left_slots.push(n);
            self.code.homes[v.0 as usize] = Home::None;
        }
    }

    /// A register for a result.
    fn make(&mut self, v: V) -> u8 {
        let r = self.free(self.class(v));
        self.place(v, r);
        r
    }

    fn place(&mut self, v: V, r: u8) {
        match self.class(v) {
            Class::Vector => {
                self.vectors[r as usize] = v.0;
                self.pinned_vectors |= 1 << r;
            }
            Class::Mask => {
                self.masks[r as usize] = v.0;
                self.pinned_masks |= 1 << r;
            }
        }
        self.register[v.0 as usize] = r;
    }

    /// A register that is free, or becomes so.
    fn free(&mut self, class: Class) -> u8 {
        let (file, first, pinned) = match class {
            Class::Vector => (&self.vectors[..self.host.vectors()], 0, self.pinned_vectors),
            Class::Mask => (&self.masks[..], FIRST_MASK as usize, self.pinned_masks),
        };
        let usable = (first..file.len()).filter(|&r| pinned >> r & 1 == 0);
        if let Some(r) = usable.clone().find(|&r| file[r] == FREE) {
            return r as u8;
        }
        let Some(r) = usable.max_by_key(|&r| self.next_use[file[r] as usize]) else {
            self.overflow = true;
            return first as u8;
        };
        let v = V(file[r]);
        self.evict(v, r as u8);
        r as u8
    }

    fn evict(&mut self, v: V, r: u8) {
        if self.code.home(v) == Home::None && self.next_use[v.0 as usize] != NEVER {
            let n = self.free_slots.pop().unwrap_or_else(|| {
                self.slots += 1;
                self.slots - 1
            });
            if n >= SLOTS {
                self.overflow = true;
                return;
            }
            match self.class(v) {
                Class::Vector => self.op(MOVE_STORE, r, 0, Rm::Mem(slot(n)), Deco::default()),
                Class::Mask => self.asm.vex(KMOVQ, 0x91, r, 0, Rm::Mem(slot(n)), None),
            }
            self.code.homes[v.0 as usize] = Home::Slot(n);
        }
        self.register[v.0 as usize] = 255;
        match self.class(v) {
            Class::Vector => self.vectors[r as usize] = FREE,
            Class::Mask => self.masks[r as usize] = FREE,
        }
    }
}

fn file(register: u16) -> Mem {
    Mem::At(fixed::FILE, register as i32 * 256)
}
fn slot(n: u16) -> Mem {
    Mem::At(Gpr::Rsp, n as i32 * 64)
}
fn sgpr(code: u8) -> Mem {
    Mem::At(fixed::SGPRS, code as i32 * 4)
}

/// Starts a loop over the lanes of a wave, as many at a time as a vector has; [`next_lanes`] ends it.
pub fn first_lanes(asm: &mut Asm) -> Label {
    asm.load_address(fixed::PLACES, Mem::At(Gpr::Rsp, memory::PLACES));
    asm.alu(Alu::Mov, true, fixed::FILE, Rm::Reg(fixed::VGPRS as u8));
    asm.alu(Alu::Mov, true, fixed::MASKS, Rm::Reg(fixed::SGPRS as u8));
    asm.alu(Alu::Xor, false, fixed::LANE, Rm::Reg(fixed::LANE as u8));
    let again = asm.label();
    asm.bind(again);
    again
}

/// Goes on with the next lanes, if there are any.
pub fn next_lanes(asm: &mut Asm, host: Host, again: Label) {
    let lanes = host.lanes() as i32;
    asm.alu_imm(Alu::Add, true, fixed::FILE, host.bytes());
    asm.alu_imm(Alu::Add, true, fixed::MASKS, lanes / 8);
    asm.alu_imm(Alu::Sub, true, fixed::PLACES, -memory::place::chunk(host));
    asm.alu_imm(Alu::Add, false, fixed::LANE, lanes);
    asm.alu_imm(Alu::Cmp, false, fixed::LANE, 64);
    asm.jump_if(Cond::NotZero, again);
}
