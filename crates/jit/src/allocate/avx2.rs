//! What is done otherwise where masks are vectors, and where instructions have no round mode of their own.

use super::{
    Allocator, Class, Deco, EQUAL, Exits, Home, Inst, Kind, MOVE, NEVER, NONE, V, XOR, fixed, memory,
};
use crate::host::Host;
use crate::opcodes::EXTRACT128;
use crate::x86::{Cond, Ins, Mem, Rm, ins, whole};

const AND: Ins = ins(1, 1, 0, 0xdb);
const BROADCAST_BYTE: Ins = whole(2, 1, 0, 0x78);
const TEST: Ins = whole(2, 1, 0, 0x17);
const FIRST_BITS: Ins = whole(1, 0, 0, 0x50);
/// The host's MXCSR without exceptions, but for the round mode.
const MXCSR: u64 = 0x1f80;

/// The bit of each lane.
static BITS: [u32; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];

impl Allocator<'_> {
    /// Makes a round mode the host's, or, without one, what it was.
    pub(super) fn set_round(&mut self, round: Option<u8>) {
        if self.host == Host::Avx512 || self.round == round {
            return;
        }
        if self.round.is_none() {
            // VSTMXCSR. Hardly any code has use for it, so those that enter code do not pay for it.
            self.asm.vex((1, 0, 0, 0), 0xae, 3, 0, Rm::Mem(memory::MXCSR), None);
        }
        let from = match round {
            Some(round) => Mem::Constant(self.asm.constant(MXCSR | (round as u64) << 13, 4)),
            None => memory::MXCSR,
        };
        // VLDMXCSR.
        self.asm.vex((1, 0, 0, 0), 0xae, 2, 0, Rm::Mem(from), None);
        self.round = round;
    }

    /// A constant as a whole vector in memory, as instructions without broadcasts of their own take it.
    pub(super) fn constant_in_memory(&mut self, v: V) -> Option<Rm> {
        let at = match self.code.home(v) {
            // That is made of nothing.
            Home::Splat32(0) | Home::Splat64(0) => return None,
            Home::Splat32(n) => self.asm.splat(n as u64 | (n as u64) << 32),
            Home::Splat64(n) => self.asm.splat(n),
            Home::Vector(x) => self.asm.vector(x),
            Home::SecondEight(x) => self.asm.vector(x) + 32,
            Home::Pooled(at) => at,
            _ => return None,
        };
        self.code.homes[v.0 as usize] = Home::Pooled(at);
        Some(Rm::Mem(Mem::Constant(at)))
    }

    /// A lane's dword for each bit of a mask.
    pub(super) fn expand_lanes(&mut self, code: u8, r: u8) {
        let bits = Rm::Mem(Mem::Constant(self.asm.vector(&BITS)));
        let from = Rm::Mem(Mem::At(fixed::MASKS, code as i32 * 4));
        self.op(BROADCAST_BYTE, r, 0, from, Deco::default());
        self.op(AND, r, r, bits, Deco::default());
        self.op(EQUAL, r, r, bits, Deco::default());
    }

    /// The same of bits in the scratch register.
    pub(super) fn expand_bits(&mut self, r: u8) {
        let bits = Rm::Mem(Mem::Constant(self.asm.vector(&BITS)));
        self.host.broadcast_general(self.asm, r, fixed::SCRATCH);
        self.op(AND, r, r, bits, Deco::default());
        self.op(EQUAL, r, r, bits, Deco::default());
    }

    /// A half of a vector in memory, or all of it in a register.
    fn half_of(&mut self, v: V, half: u8) -> Rm {
        match self.code.home(v) {
            Home::File(r) if self.register[v.0 as usize] == 255 => {
                Rm::Mem(Mem::At(fixed::FILE, r as i32 * 256 + half as i32 * 16))
            }
            _ => Rm::Reg(self.get(v)),
        }
    }

    /// The instructions that look at masks, or that AVX-512 has no need of; false if this is none of them.
    pub(super) fn without_masks(&mut self, inst: &Inst, nexts: &[u32; 4], exits: &Exits<'_>) -> bool {
        let [s0, s1, s2, mask] = inst.src;
        match inst.kind {
            Kind::Blend => {
                let (a, m) = (self.get(s0), self.get(s2));
                let b = self.last(inst, s1, nexts[1]);
                self.used(inst, nexts);
                let d = self.make(inst.dst);
                self.op(inst.ins, d, a, b, Deco { imm: Some(m << 4), ..Deco::default() });
            }
            Kind::Widen(half) => {
                let a = self.half_of(s0, half);
                self.used(inst, nexts);
                let d = self.make(inst.dst);
                if let (Rm::Reg(a), 1) = (a, half) {
                    self.op(EXTRACT128, a, 0, Rm::Reg(d), Deco { imm: Some(1), ..Deco::default() });
                    self.op(inst.ins, d, 0, Rm::Reg(d), Deco::default());
                } else {
                    self.op(inst.ins, d, 0, a, Deco::default());
                }
            }
            Kind::Gather(table) => {
                let (index, m) = (self.get(s0), self.get(mask));
                let copy = self.free(Class::Vector);
                self.pinned_vectors |= 1 << copy;
                self.op(MOVE, copy, 0, Rm::Reg(m), Deco::default());
                let d = self.free(Class::Vector);
                self.op(XOR, d, d, Rm::Reg(d), Deco::default());
                self.asm.mov_imm(fixed::SCRATCH, table.as_ptr() as u64);
                self.asm.gather_eight(d, fixed::SCRATCH, index, 4, copy);
                self.used(inst, nexts);
                self.place(inst.dst, d);
            }
            Kind::StoreLanes(code) => {
                let a = self.get(s0);
                self.next_use[s0.0 as usize] = nexts[0];
                self.overwritten(Home::Lanes(code));
                self.used(inst, nexts);
                self.op(FIRST_BITS, fixed::SCRATCH as u8, 0, Rm::Reg(a), Deco::default());
                self.asm.store_byte(Mem::At(fixed::MASKS, code as i32 * 4), fixed::SCRATCH);
            }
            Kind::Check => {
                let a = self.get(s0);
                self.used(inst, nexts);
                self.op(TEST, a, 0, Rm::Reg(a), Deco::default());
                self.asm.jump_if(Cond::NotZero, exits.rare);
            }
            _ => return false,
        }
        if inst.dst != NONE && self.next_use[inst.dst.0 as usize] == NEVER {
            self.release(inst.dst);
        }
        true
    }
}
