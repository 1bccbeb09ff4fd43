//! What is done otherwise where masks are vectors, and where instructions have no round mode of their own.

use super::{Allocator, Class, Deco, EQUAL, Exits, Home, Inst, Kind, MOVE, NEVER, NONE, XOR, fixed, memory};
use crate::host::Host;
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

    /// The instructions that look at masks; false if this is none of them.
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
