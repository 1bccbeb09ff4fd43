//! Accesses of eight lanes, where masks are vectors.

use super::super::{Allocator, BROADCAST32, EQUAL, Inst, MOVE, MOVE_STORE, NONE};
use super::{
    ADD, Access, BROADCAST, LANE, LEFT, LOAD, POINTER, STEPS, STORE, SUB, base, place, row, size_class,
};
use crate::opcodes::{
    EXTRACT128, FIRST_BYTES, INSERT128, LOWER_HALVES, PERMQ, PSHUFB, PUNPCKHDQ, PUNPCKHQDQ, PUNPCKLDQ,
    PUNPCKLQDQ, SHUFPS, SWAP_MIDDLE,
};
use crate::x86::{Alu, Cond, Deco, Gpr, Ins, Label, Mem, Rm, whole};

/// VPMASKMOVD: the lanes whose first bit the mask has; others are left alone, wherever they are.
const MASKED_LOAD: Ins = whole(2, 1, 0, 0x8c);
pub(super) const MASKED_STORE: Ins = whole(2, 1, 0, 0x8e);
const MAX_UNSIGNED: Ins = whole(2, 1, 0, 0x3f);
const AND_NOT: Ins = whole(1, 1, 0, 0xdf);
const PERMUTE_DWORDS: Ins = whole(2, 1, 0, 0x36);
const PERMUTE_HALVES: Ins = whole(3, 1, 0, 0x46);

/// The first dwords of both halves, one behind the other.
static TOGETHER: [u32; 16] = [0, 4, 1, 5, 2, 6, 3, 7, 0, 0, 0, 0, 0, 0, 0, 0];

impl Allocator<'_> {
    /// Lanes of a mask as bits of a general register.
    pub(super) fn first_bits(&mut self, to: Gpr, k: u8) {
        // VMOVMSKPS.
        self.asm.vex((1, 0, 0, 1), 0x50, to as u8, 0, Rm::Reg(k), None);
    }

    pub(super) fn load_masked(&mut self, d: u8, k: u8, at: Mem) {
        self.op(MASKED_LOAD, d, k, Rm::Mem(at), Deco::default());
    }

    /// As [`Allocator::verify`].
    pub(super) fn verify_eight(&mut self, inst: &Inst, access: Access, k: Option<u8>, failed: Label) {
        let [low, high, ..] = inst.src;
        let (number, host, plain) = (access.number, self.host, Deco::default());
        let a = self.get(low);
        let h = (high != NONE).then(|| self.get(high));
        let [t, u, good] = self.temporaries();
        let offsets = Rm::Mem(place::field(number, place::offsets(host)));
        self.broadcast(BROADCAST32, u, base::field(number, base::LOW));
        self.op(SUB, t, a, Rm::Reg(u), plain);
        // Not less than the count.
        self.broadcast(BROADCAST32, u, base::field(number, base::COUNT));
        self.op(MAX_UNSIGNED, u, t, Rm::Reg(u), plain);
        self.op(EQUAL, u, t, Rm::Reg(u), plain);
        match h {
            Some(h) => {
                self.broadcast(BROADCAST32, good, base::field(number, base::HIGH));
                self.op(EQUAL, good, h, Rm::Reg(good), plain);
                self.op(AND_NOT, good, u, Rm::Reg(good), plain);
                self.other_bits(LANE, good, k);
            }
            None => {
                self.first_bits(LANE, u);
                self.among(LANE, k);
            }
        }
        let inside = self.asm.label();
        self.asm.jump_if(Cond::Zero, inside);
        if let Some(h) = h {
            self.op(MOVE_STORE, h, 0, Rm::Mem(row(host, number, 0)), plain);
        }
        self.op(MOVE_STORE, a, 0, offsets, plain);
        self.asm.jump(failed);
        self.asm.bind(inside);
        self.op(MOVE_STORE, t, 0, offsets, plain);
        self.op(BROADCAST, u, 0, Rm::Reg(t), plain);
        self.op(EQUAL, good, t, Rm::Reg(u), plain);
        self.other_bits(LANE, good, k);
        self.asm.store_word(place::field(number, place::DIFFERENT), LANE);
        let steps = Mem::Constant(self.asm.vector(&STEPS[size_class(access.step)]));
        self.op(ADD, u, u, Rm::Mem(steps), plain);
        self.op(EQUAL, good, t, Rm::Reg(u), plain);
        self.other_bits(LANE, good, k);
        self.asm.store_word(place::field(number, place::SCATTERED), LANE);
        // VMOVD.
        self.asm.vex((1, 1, 0, 0), 0x7e, t, 0, Rm::Reg(POINTER as u8), None);
        // As for sixteen lanes.
        self.asm.sign_extend(POINTER, POINTER);
        self.asm.alu(Alu::Add, true, POINTER, Rm::Mem(base::field(number, base::HOST)));
        self.asm.store(true, place::field(number, place::POINTER), POINTER);
    }

    /// The lanes that a vector does not have, among those of a mask; the flags say whether there are any.
    fn other_bits(&mut self, to: Gpr, v: u8, k: Option<u8>) {
        self.first_bits(to, v);
        self.asm.alu_imm(Alu::Xor, false, to, 0xff);
        self.among(to, k);
    }

    /// Those of some lanes that a mask has, too; the flags say whether there are any.
    fn among(&mut self, lanes: Gpr, k: Option<u8>) {
        match k {
            Some(k) => {
                self.first_bits(LEFT, k);
                self.asm.alu(Alu::And, false, lanes, Rm::Reg(LEFT as u8));
            }
            None => self.asm.alu(Alu::Test, false, lanes, Rm::Reg(lanes as u8)),
        }
    }

    fn with_imm(&mut self, ins: Ins, d: u8, a: u8, b: Rm, imm: u8) {
        self.op(ins, d, a, b, Deco { imm: Some(imm), ..Deco::default() });
    }

    /// Bytes or pairs of bytes of eight lanes that follow each other.
    pub(super) fn put_small(&mut self, v: u8, access: Access, [t, order]: [u8; 2]) {
        let plain = Deco::default();
        let at = Rm::Mem(Mem::At(POINTER, 0));
        if access.step > access.bytes {
            self.put_apart_eight(v, access, t);
        } else if access.bytes == 1 {
            self.load_constant(t, &FIRST_BYTES);
            self.op(PSHUFB, t, v, Rm::Reg(t), plain);
            self.load_constant(order, &TOGETHER);
            self.op(PERMUTE_DWORDS, t, order, Rm::Reg(t), plain);
            // VMOVQ.
            self.asm.vex((1, 1, 0, 0), 0xd6, t, 0, at, None);
        } else {
            self.load_constant(t, &LOWER_HALVES);
            self.op(PSHUFB, t, v, Rm::Reg(t), plain);
            self.with_imm(PERMQ, t, 0, Rm::Reg(t), SWAP_MIDDLE);
            // VMOVDQU of 128 bits.
            self.asm.vex((1, 2, 0, 0), 0x7f, t, 0, at, None);
        }
    }

    /// The first bytes of each lane's dword, and nothing between them.
    fn put_apart_eight(&mut self, v: u8, access: Access, t: u8) {
        self.with_imm(EXTRACT128, v, 0, Rm::Reg(t), 1);
        for lane in 0..8u8 {
            let from = if lane < 4 { v } else { t };
            let at = Rm::Mem(Mem::At(POINTER, 4 * i32::from(lane)));
            // VPEXTRB, VPEXTRW.
            let (op, unit) = if access.bytes == 1 { (0x14, 4) } else { (0x15, 2) };
            self.asm.vex((3, 1, 0, 0), op, from, 0, at, Some(lane % 4 * unit));
        }
    }

    /// Eight lanes that follow each other, of two or four dwords each, into rows.
    pub(super) fn fetch_eight(&mut self, access: Access, z: [u8; 7]) {
        let (number, host, plain) = (access.number, self.host, Deco::default());
        let at = |bytes: i32| Rm::Mem(Mem::At(POINTER, bytes));
        if access.bytes == 8 {
            self.op(LOAD, z[0], 0, at(0), plain);
            for (dword, imm) in [(0, 0x88), (1, 0xdd)] {
                self.with_imm(SHUFPS, z[1], z[0], at(32), imm);
                self.with_imm(PERMQ, z[1], 0, Rm::Reg(z[1]), SWAP_MIDDLE);
                self.op(MOVE_STORE, z[1], 0, Rm::Mem(row(host, number, dword)), plain);
            }
            return;
        }
        // Lanes 0 and 4, 1 and 5, 2 and 6, 3 and 7.
        for (i, &r) in z[..4].iter().enumerate() {
            // VMOVDQU of 128 bits.
            self.asm.vex((1, 2, 0, 0), 0x6f, r, 0, at(16 * i as i32), None);
            self.with_imm(INSERT128, r, r, at(64 + 16 * i as i32), 1);
        }
        for (dword, unpack) in [(0, PUNPCKLDQ), (2, PUNPCKHDQ)] {
            self.op(unpack, z[4], z[0], Rm::Reg(z[1]), plain);
            self.op(unpack, z[5], z[2], Rm::Reg(z[3]), plain);
            for (dword, unpack) in [(dword + 1, PUNPCKHQDQ), (dword, PUNPCKLQDQ)] {
                // The second one may overwrite what it is made of.
                let t = if unpack == PUNPCKLQDQ { z[4] } else { z[6] };
                self.op(unpack, t, z[4], Rm::Reg(z[5]), plain);
                self.op(MOVE_STORE, t, 0, Rm::Mem(row(host, number, dword)), plain);
            }
        }
    }

    /// The same from rows.
    pub(super) fn put_eight(&mut self, access: Access, z: [u8; 6]) {
        let (number, host, plain) = (access.number, self.host, Deco::default());
        let rows = |dword: usize| Rm::Mem(row(host, number, dword));
        let at = |bytes: i32| Rm::Mem(Mem::At(POINTER, bytes));
        self.op(MOVE, z[0], 0, rows(0), plain);
        if access.bytes == 8 {
            self.op(PUNPCKLDQ, z[1], z[0], rows(1), plain);
            self.op(PUNPCKHDQ, z[2], z[0], rows(1), plain);
            for (i, imm) in [(0, 0x20), (1, 0x31)] {
                self.with_imm(PERMUTE_HALVES, z[3], z[1], Rm::Reg(z[2]), imm);
                self.op(STORE, z[3], 0, at(32 * i), plain);
            }
            return;
        }
        self.op(MOVE, z[1], 0, rows(2), plain);
        for (lane, unpack) in [(0, PUNPCKLDQ), (2, PUNPCKHDQ)] {
            self.op(unpack, z[2], z[0], rows(1), plain);
            self.op(unpack, z[3], z[1], rows(3), plain);
            for (lane, unpack) in [(lane, PUNPCKLQDQ), (lane + 1, PUNPCKHQDQ)] {
                // A lane, and the one four lanes on.
                self.op(unpack, z[4], z[2], Rm::Reg(z[3]), plain);
                self.asm.vex((1, 2, 0, 0), 0x7f, z[4], 0, at(16 * lane), None);
                self.with_imm(EXTRACT128, z[4], 0, at(64 + 16 * lane), 1);
            }
        }
    }
}
