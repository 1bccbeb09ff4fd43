//! Accesses to guest memory and LDS, sixteen lanes at a time.
//!
//! [`Kind::Verify`](super::Kind) comes first, for all lanes, before anything is written: it compares offsets with what
//! the strip's start has found out about the allocation ([`base`]), and writes down for each sixteen lanes where the first one
//! goes, whether the others follow it or are with it, and the offsets ([`place`]). Loads and stores only look there.

use super::{Allocator, Class, Inst, MOVE, MOVE_STORE, NONE, SLOTS, V, fixed};
use crate::strip::memory::MOST;
use crate::x86::{Alu, Cond, Deco, Gpr, Ins, Label, Mem, Rm, ins, whole};

/// An access as its instructions know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Its number in the strip.
    pub number: u8,
    /// Bytes of a lane.
    pub bytes: u8,
    /// What is loaded is extended with its sign.
    pub signed: bool,
    /// The lower half of the instruction's address, for reports; none of LDS, which is always there.
    pub pc: Option<u32>,
}

/// What is known of an access for all lanes, in the frame: offsets from [`base::LOW`] on, as many as [`base::COUNT`], are
/// inside; the first of them is at [`base::HOST`].
pub mod base {
    use super::*;

    /// What offsets, or addresses' lower halves, count from.
    pub const LOW: i32 = 0;
    /// What addresses' upper halves are.
    pub const HIGH: i32 = 4;
    /// How many are inside.
    pub const COUNT: i32 = 8;
    /// The host's address of the first.
    pub const HOST: i32 = 16;
    const BYTES: i32 = 32;
    const START: i32 = SLOTS as i32 * 64;
    pub(super) const END: i32 = START + MOST as i32 * BYTES;

    /// A field.
    pub fn field(number: u8, field: i32) -> Mem {
        Mem::At(Gpr::Rsp, START + number as i32 * BYTES + field)
    }
}

/// Four dwords of sixteen lanes for each access.
const ROWS: i32 = base::END;
/// What [`place`] has, for each access and each sixteen lanes.
pub const PLACES: i32 = ROWS + MOST as i32 * 256;
/// Bytes of the frame.
pub const FRAME: i32 = PLACES + MOST as i32 * place::ACCESS;

/// What is known of an access for sixteen lanes, at [`fixed::PLACES`].
pub mod place {
    use super::*;

    /// The host's address of the first lane.
    pub const POINTER: i32 = 0;
    /// Lanes that do not follow the first one.
    pub const SCATTERED: i32 = 8;
    /// Lanes that are not where the first one is.
    pub const DIFFERENT: i32 = 10;
    /// Offsets, or addresses' lower halves if they turn out to be outside.
    pub const OFFSETS: i32 = 64;
    /// Bytes of sixteen lanes.
    pub const CHUNK: i32 = 128;
    /// Bytes of an access.
    pub const ACCESS: i32 = 4 * CHUNK;

    /// A field.
    pub fn field(number: u8, field: i32) -> Mem {
        Mem::At(fixed::PLACES, number as i32 * ACCESS + field)
    }
}

/// A row of an access: a dword of sixteen lanes.
pub fn row(number: u8, dword: usize) -> Mem {
    Mem::At(Gpr::Rsp, ROWS + number as i32 * 256 + dword as i32 * 64)
}

/// The same, one lane, whose number is in a register.
fn row_lane(number: u8, dword: usize, lane: Gpr) -> Mem {
    Mem::Indexed(Gpr::Rsp, lane, 4, ROWS + number as i32 * 256 + dword as i32 * 64)
}

const LOAD: Ins = whole(1, 2, 0, 0x6f);
const STORE: Ins = whole(1, 2, 0, 0x7f);
const COMPARE: Ins = ins(3, 1, 0, 0x1f);
const COMPARE_UNSIGNED: Ins = ins(3, 1, 0, 0x1e);
const NOT_EQUAL: u8 = 4;
const NOT_LESS: u8 = 5;
const SUB: Ins = ins(1, 1, 0, 0xfa);
const ADD: Ins = ins(1, 1, 0, 0xfe);
const BROADCAST: Ins = whole(2, 1, 0, 0x58);
const BROADCAST_MEMORY: Ins = Ins { map: 2, pp: 1, w: 0, op: 0x58, elem: 4 };
const BROADCAST_MEMORY64: Ins = Ins { map: 2, pp: 1, w: 1, op: 0x59, elem: 8 };
const BROADCAST_GENERAL: Ins = whole(2, 1, 0, 0x7c);
const PERMUTE_TWO: Ins = whole(2, 1, 0, 0x76);
const SHUFFLE_QUARTERS: Ins = whole(3, 1, 1, 0x43);
const SHUFFLE_DWORDS: Ins = whole(1, 1, 0, 0x70);
const KMOVW: (u8, u8, u8, u8) = (1, 0, 0, 0);
const KMOVW_GENERAL: u8 = 0x93;
const KORTEST: u8 = 0x98;

/// Lanes that follow each other, by bytes of a lane.
static STEPS: [[u32; 16]; 6] = {
    let bytes = [1, 2, 4, 8, 12, 16];
    let mut all = [[0; 16]; 6];
    let mut i = 0;
    while i < 96 {
        all[i / 16][i % 16] = bytes[i / 16] * (i % 16) as u32;
        i += 1;
    }
    all
};
static EVEN: [u32; 16] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];
static ODD: [u32; 16] = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31];
/// First and second dwords of eight lanes with four each; third and fourth.
static FIRST_TWO: [u32; 16] = [0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29];
static LAST_TWO: [u32; 16] = [2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31];
static JOIN_LOW: [u32; 16] = [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23];
static JOIN_HIGH: [u32; 16] = [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31];
/// The same of pairs of dwords.
static JOIN_LOW_PAIRS: [u32; 16] = [0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23];
static JOIN_HIGH_PAIRS: [u32; 16] = [8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31];

/// The size among those that accesses can have.
pub fn size_class(bytes: u8) -> usize {
    match bytes {
        1 => 0,
        2 => 1,
        4 => 2,
        8 => 3,
        12 => 4,
        _ => 5,
    }
}

/// General registers of accesses.
const POINTER: Gpr = fixed::SCRATCH;
const LANE: Gpr = Gpr::Rsi;
const LEFT: Gpr = Gpr::R9;
const HOST: Gpr = Gpr::R10;
const AT: Gpr = Gpr::R11;
const DATA: Gpr = Gpr::R14;

impl Allocator<'_> {
    fn temporaries<const N: usize>(&mut self) -> [u8; N] {
        [(); N].map(|()| {
            let r = self.free(Class::Vector);
            self.pinned_vectors |= 1 << r;
            r
        })
    }

    fn mask_temporary(&mut self) -> u8 {
        let r = self.free(Class::Mask);
        self.pinned_masks |= 1 << r;
        r
    }

    fn load_constant(&mut self, r: u8, x: &'static [u32; 16]) {
        let at = Mem::Constant(self.asm.vector(x));
        self.asm.evex(MOVE, r, 0, Rm::Mem(at), Deco::default());
    }

    /// Goes to `failed` if an active lane is outside, with the lanes that are in [`LANE`]; else writes down where they are.
    pub(super) fn verify(&mut self, inst: &Inst, access: Access, k: u8, failed: Label) {
        let [low, high, ..] = inst.src;
        let number = access.number;
        let a = self.get(low);
        let h = (high != NONE).then(|| self.get(high));
        let [t, u] = self.temporaries();
        let (wrong, outside) = (self.mask_temporary(), self.mask_temporary());
        let under = |imm| Deco { mask: k, imm: Some(imm), ..Deco::default() };
        let plain = Deco::default();
        let of_base = |field| Rm::Broadcast(base::field(number, field));
        let asm = &mut *self.asm;
        if let Some(h) = h {
            asm.evex(COMPARE, wrong, h, of_base(base::HIGH), under(NOT_EQUAL));
        }
        asm.evex(SUB, t, a, of_base(base::LOW), plain);
        asm.evex(COMPARE_UNSIGNED, outside, t, of_base(base::COUNT), under(NOT_LESS));
        let first = if h.is_some() { wrong } else { outside };
        asm.vex(KMOVW, KORTEST, first, 0, Rm::Reg(outside), None);
        let inside = asm.label();
        asm.jump_if(Cond::Zero, inside);
        if let Some(h) = h {
            // KORW.
            asm.vex((1, 0, 0, 1), 0x45, outside, wrong, Rm::Reg(outside), None);
            asm.evex(MOVE_STORE, h, 0, Rm::Mem(row(number, 0)), plain);
        }
        asm.vex(KMOVW, KMOVW_GENERAL, LANE as u8, 0, Rm::Reg(outside), None);
        asm.evex(MOVE_STORE, a, 0, Rm::Mem(place::field(number, place::OFFSETS)), plain);
        asm.jump(failed);
        asm.bind(inside);
        asm.evex(MOVE_STORE, t, 0, Rm::Mem(place::field(number, place::OFFSETS)), plain);
        asm.evex(BROADCAST, u, 0, Rm::Reg(t), plain);
        asm.evex(COMPARE, outside, t, Rm::Reg(u), under(NOT_EQUAL));
        let steps = Mem::Constant(asm.vector(&STEPS[size_class(access.bytes)]));
        asm.evex(ADD, u, u, Rm::Mem(steps), plain);
        asm.evex(COMPARE, wrong, t, Rm::Reg(u), under(NOT_EQUAL));
        let flags = |field| Rm::Mem(place::field(number, field));
        asm.vex(KMOVW, 0x91, wrong, 0, flags(place::SCATTERED), None);
        asm.vex(KMOVW, 0x91, outside, 0, flags(place::DIFFERENT), None);
        asm.first_element(POINTER, t);
        // Where the first lane is not active, what it has may be anything: others are as far from it as they should be.
        asm.sign_extend(POINTER, POINTER);
        asm.alu(Alu::Add, true, POINTER, Rm::Mem(base::field(number, base::HOST)));
        asm.store(true, place::field(number, place::POINTER), POINTER);
    }

    /// Says where the wave is, and finds the first lane's address. Goes to the labels if lanes do not follow it, or are not
    /// all with it, which the label before is for.
    fn begin_access(&mut self, access: Access) -> [Label; 3] {
        let asm = &mut *self.asm;
        if let Some(pc) = access.pc {
            asm.store_imm(super::ACCESSING, pc);
        }
        asm.alu(Alu::Mov, true, POINTER, Rm::Mem(place::field(access.number, place::POINTER)));
        let labels = [0; 3].map(|_| asm.label());
        asm.compare_word_with_zero(place::field(access.number, place::SCATTERED));
        asm.jump_if(Cond::NotZero, labels[0]);
        labels
    }

    fn if_different(&mut self, access: Access, to: Label) {
        self.asm.compare_word_with_zero(place::field(access.number, place::DIFFERENT));
        self.asm.jump_if(Cond::NotZero, to);
    }

    /// Does something for each lane of a mask (0: for all), with its number in [`LANE`] and its address in [`AT`].
    fn each_lane(&mut self, access: Access, k: u8, f: impl FnOnce(&mut Self)) {
        let (again, over) = (self.asm.label(), self.asm.label());
        let asm = &mut *self.asm;
        match k {
            0 => asm.mov_imm(LEFT, 0xffff),
            k => {
                asm.vex(KMOVW, KMOVW_GENERAL, LEFT as u8, 0, Rm::Reg(k), None);
                asm.alu(Alu::Test, false, LEFT, Rm::Reg(LEFT as u8));
                asm.jump_if(Cond::Zero, over);
            }
        }
        asm.alu(Alu::Mov, true, HOST, Rm::Mem(base::field(access.number, base::HOST)));
        asm.bind(again);
        // TZCNT.
        asm.two_byte(Some(0xf3), 0xbc, false, LANE, Rm::Reg(LEFT as u8));
        let offset =
            Mem::Indexed(fixed::PLACES, LANE, 4, access.number as i32 * place::ACCESS + place::OFFSETS);
        asm.alu(Alu::Mov, false, AT, Rm::Mem(offset));
        asm.alu(Alu::Add, true, AT, Rm::Reg(HOST as u8));
        f(self);
        // BLSR.
        self.asm.vex((2, 0, 0, 0), 0xf3, 1, LEFT as u8, Rm::Reg(LEFT as u8), None);
        self.asm.jump_if(Cond::NotZero, again);
        self.asm.bind(over);
    }

    /// A dword or less of each active lane.
    pub(super) fn load_access(&mut self, dst: V, access: Access, k: u8) {
        let d = self.make(dst);
        let [offsets] = self.temporaries();
        let copy = self.mask_temporary();
        let [scattered, different, done] = self.begin_access(access);
        let masked = Deco { mask: k, zero: k != 0, ..Deco::default() };
        let at = Rm::Mem(Mem::At(POINTER, 0));
        let extend = match (access.bytes, access.signed) {
            (1, false) => whole(2, 1, 0, 0x31),
            (1, true) => whole(2, 1, 0, 0x21),
            (2, false) => whole(2, 1, 0, 0x33),
            (2, true) => whole(2, 1, 0, 0x23),
            _ => LOAD,
        };
        self.asm.evex(extend, d, 0, at, masked);
        self.asm.jump(done);
        self.asm.bind(scattered);
        self.if_different(access, different);
        if access.bytes == 4 {
            self.asm.evex_element(BROADCAST_MEMORY, d, Mem::At(POINTER, 0));
        } else {
            self.small(access, POINTER, Mem::At(POINTER, 0));
            self.asm.evex(BROADCAST_GENERAL, d, 0, Rm::Reg(POINTER as u8), Deco::default());
        }
        self.asm.jump(done);
        self.asm.bind(different);
        if access.bytes == 4 {
            self.lanes_of(access, offsets, k, copy);
            self.asm.evex(super::XOR, d, d, Rm::Reg(d), Deco::default());
            self.asm.gather(d, POINTER, offsets, 1, copy);
        } else {
            self.each_lane(access, k, |this| {
                this.small(access, POINTER, Mem::At(AT, 0));
                this.asm.store(false, row_lane(access.number, 0, LANE), POINTER);
            });
            self.asm.evex(MOVE, d, 0, Rm::Mem(row(access.number, 0)), Deco::default());
        }
        self.asm.bind(done);
    }

    /// What gathering and scattering take: the base in `POINTER`, the lanes' offsets, and a copy of the mask, which the host's
    /// instructions clear as they go.
    fn lanes_of(&mut self, access: Access, offsets: u8, k: u8, copy: u8) {
        let asm = &mut *self.asm;
        let from = Rm::Mem(place::field(access.number, place::OFFSETS));
        asm.evex(MOVE, offsets, 0, from, Deco::default());
        match k {
            // KXNORW.
            0 => asm.vex((1, 0, 0, 1), 0x46, copy, copy, Rm::Reg(copy), None),
            k => asm.vex(KMOVW, 0x90, copy, 0, Rm::Reg(k), None),
        }
        asm.alu(Alu::Mov, true, POINTER, Rm::Mem(base::field(access.number, base::HOST)));
    }

    /// A byte or two, extended.
    fn small(&mut self, access: Access, to: Gpr, from: Mem) {
        let op = match (access.bytes, access.signed) {
            (1, false) => 0xb6,
            (1, true) => 0xbe,
            (_, false) => 0xb7,
            (_, true) => 0xbf,
        };
        self.asm.two_byte(None, op, false, to, Rm::Mem(from));
    }

    /// Several dwords of each active lane, into rows.
    pub(super) fn fetch(&mut self, access: Access, k: u8) {
        let number = access.number;
        let z: [u8; 6] = self.temporaries();
        let [scattered, different, done] = self.begin_access(access);
        let plain = Deco::default();
        if k != 0 {
            // Lanes that are not active may be outside.
            self.asm.vex(KMOVW, KORTEST, k, 0, Rm::Reg(k), None);
            self.asm.jump_if(Cond::NotBelow, different);
        }
        let at = |i: i32| Rm::Mem(Mem::At(POINTER, 64 * i));
        match access.bytes {
            8 => {
                self.asm.evex(LOAD, z[0], 0, at(0), plain);
                for (dword, order) in [(0, &EVEN), (1, &ODD)] {
                    self.load_constant(z[1], order);
                    self.asm.evex(PERMUTE_TWO, z[1], z[0], at(1), plain);
                    self.asm.evex(MOVE_STORE, z[1], 0, Rm::Mem(row(number, dword)), plain);
                }
            }
            16 => {
                self.asm.evex(LOAD, z[0], 0, at(0), plain);
                self.asm.evex(LOAD, z[1], 0, at(2), plain);
                for (dword, order) in [(0, &FIRST_TWO), (2, &LAST_TWO)] {
                    self.load_constant(z[2], order);
                    self.asm.evex(MOVE, z[3], 0, Rm::Reg(z[2]), plain);
                    self.asm.evex(PERMUTE_TWO, z[2], z[0], at(1), plain);
                    self.asm.evex(PERMUTE_TWO, z[3], z[1], at(3), plain);
                    for (i, imm) in [(0, 0x44), (1, 0xee)] {
                        let how = Deco { imm: Some(imm), ..plain };
                        self.asm.evex(SHUFFLE_QUARTERS, z[4], z[2], Rm::Reg(z[3]), how);
                        self.asm.evex(MOVE_STORE, z[4], 0, Rm::Mem(row(number, dword + i)), plain);
                    }
                }
            }
            _ => self.asm.jump(different),
        }
        self.asm.jump(done);
        self.asm.bind(scattered);
        self.if_different(access, different);
        let pairs = access.bytes as usize / 8;
        for pair in 0..pairs {
            self.asm.evex_element(BROADCAST_MEMORY64, z[0], Mem::At(POINTER, 8 * pair as i32));
            for (i, imm) in [(0, 0xa0), (1, 0xf5)] {
                let how = Deco { imm: Some(imm), ..plain };
                self.asm.evex(SHUFFLE_DWORDS, z[1], 0, Rm::Reg(z[0]), how);
                self.asm.evex(MOVE_STORE, z[1], 0, Rm::Mem(row(number, 2 * pair + i)), plain);
            }
        }
        if access.bytes == 12 {
            self.asm.evex_element(BROADCAST_MEMORY, z[0], Mem::At(POINTER, 8));
            self.asm.evex(MOVE_STORE, z[0], 0, Rm::Mem(row(number, 2)), plain);
        }
        self.asm.jump(done);
        self.asm.bind(different);
        self.each_lane(access, k, |this| {
            for pair in 0..pairs {
                let from = Rm::Mem(Mem::At(AT, 8 * pair as i32));
                this.asm.alu(Alu::Mov, true, DATA, from);
                this.asm.store(false, row_lane(number, 2 * pair, LANE), DATA);
                this.asm.shift_imm(5, true, DATA, 32);
                this.asm.store(false, row_lane(number, 2 * pair + 1, LANE), DATA);
            }
            if access.bytes == 12 {
                this.asm.alu(Alu::Mov, false, DATA, Rm::Mem(Mem::At(AT, 8)));
                this.asm.store(false, row_lane(number, 2, LANE), DATA);
            }
        });
        self.asm.bind(done);
    }

    /// A dword or less of each active lane, from a value.
    pub(super) fn put(&mut self, value: V, access: Access, k: u8) {
        let v = self.get(value);
        let [offsets] = self.temporaries();
        let copy = self.mask_temporary();
        let [scattered, _, done] = self.begin_access(access);
        let masked = Deco { mask: k, ..Deco::default() };
        let narrow = match access.bytes {
            1 => whole(2, 2, 0, 0x31),
            2 => whole(2, 2, 0, 0x33),
            _ => STORE,
        };
        self.asm.evex(narrow, v, 0, Rm::Mem(Mem::At(POINTER, 0)), masked);
        self.asm.jump(done);
        self.asm.bind(scattered);
        if access.bytes == 4 {
            self.lanes_of(access, offsets, k, copy);
            self.asm.scatter(v, POINTER, offsets, copy);
        } else {
            self.asm.evex(MOVE_STORE, v, 0, Rm::Mem(row(access.number, 0)), Deco::default());
            self.each_lane(access, k, |this| {
                this.asm.alu(Alu::Mov, false, DATA, Rm::Mem(row_lane(access.number, 0, LANE)));
                match access.bytes {
                    1 => this.asm.store_byte(Mem::At(AT, 0), DATA),
                    _ => this.asm.store_word(Mem::At(AT, 0), DATA),
                }
            });
        }
        self.asm.bind(done);
    }

    /// Several dwords of each active lane, from rows.
    pub(super) fn put_rows(&mut self, access: Access, k: u8) {
        let number = access.number;
        let z: [u8; 6] = self.temporaries();
        let [scattered, _, done] = self.begin_access(access);
        let plain = Deco::default();
        if k != 0 {
            self.asm.vex(KMOVW, KORTEST, k, 0, Rm::Reg(k), None);
            self.asm.jump_if(Cond::NotBelow, scattered);
        }
        let at = |i: i32| Rm::Mem(Mem::At(POINTER, 64 * i));
        let rows = |i: usize| Rm::Mem(row(number, i));
        match access.bytes {
            8 => {
                self.asm.evex(MOVE, z[0], 0, rows(0), plain);
                for (i, order) in [(0, &JOIN_LOW), (1, &JOIN_HIGH)] {
                    self.load_constant(z[1], order);
                    self.asm.evex(PERMUTE_TWO, z[1], z[0], rows(1), plain);
                    self.asm.evex(STORE, z[1], 0, at(i), plain);
                }
            }
            16 => {
                self.asm.evex(MOVE, z[0], 0, rows(0), plain);
                self.asm.evex(MOVE, z[1], 0, rows(2), plain);
                for (i, order) in [(0, &JOIN_LOW), (2, &JOIN_HIGH)] {
                    self.load_constant(z[2], order);
                    self.asm.evex(MOVE, z[3], 0, Rm::Reg(z[2]), plain);
                    self.asm.evex(PERMUTE_TWO, z[2], z[0], rows(1), plain);
                    self.asm.evex(PERMUTE_TWO, z[3], z[1], rows(3), plain);
                    for (j, order) in [(0, &JOIN_LOW_PAIRS), (1, &JOIN_HIGH_PAIRS)] {
                        self.load_constant(z[4], order);
                        self.asm.evex(PERMUTE_TWO, z[4], z[2], Rm::Reg(z[3]), plain);
                        self.asm.evex(STORE, z[4], 0, at(i + j), plain);
                    }
                }
            }
            _ => self.asm.jump(scattered),
        }
        self.asm.jump(done);
        self.asm.bind(scattered);
        let pairs = access.bytes as usize / 8;
        self.each_lane(access, k, |this| {
            for pair in 0..pairs {
                let lane = |dword| Rm::Mem(row_lane(number, 2 * pair + dword, LANE));
                this.asm.alu(Alu::Mov, false, DATA, lane(1));
                this.asm.shift_imm(4, true, DATA, 32);
                this.asm.alu(Alu::Mov, false, POINTER, lane(0));
                this.asm.alu(Alu::Or, true, DATA, Rm::Reg(POINTER as u8));
                this.asm.store(true, Mem::At(AT, 8 * pair as i32), DATA);
            }
            if access.bytes == 12 {
                this.asm.alu(Alu::Mov, false, DATA, Rm::Mem(row_lane(number, 2, LANE)));
                this.asm.store(false, Mem::At(AT, 8), DATA);
            }
        });
        self.asm.bind(done);
    }

    /// Two accesses of each active lane, from rows: lane by lane, unless both are blocks that do not meet.
    pub(super) fn put_pair(&mut self, first: Access, second: Access, k: u8) {
        let [z] = self.temporaries();
        let (scattered, done) = (self.asm.label(), self.asm.label());
        if first.bytes == 4 {
            let asm = &mut *self.asm;
            for access in [first, second] {
                asm.compare_word_with_zero(place::field(access.number, place::SCATTERED));
                asm.jump_if(Cond::NotZero, scattered);
            }
            // How far they are apart: by less than a block, up or down?
            asm.alu(Alu::Mov, true, POINTER, Rm::Mem(place::field(first.number, place::POINTER)));
            asm.alu(Alu::Mov, true, AT, Rm::Mem(place::field(second.number, place::POINTER)));
            asm.alu(Alu::Mov, true, LEFT, Rm::Reg(AT as u8));
            asm.alu(Alu::Sub, true, LEFT, Rm::Reg(POINTER as u8));
            asm.alu_imm(Alu::Add, true, LEFT, 63);
            asm.alu_imm(Alu::Cmp, true, LEFT, 127);
            asm.jump_if(Cond::Below, scattered);
            let masked = Deco { mask: k, ..Deco::default() };
            for (access, at) in [(first, POINTER), (second, AT)] {
                asm.evex(MOVE, z, 0, Rm::Mem(row(access.number, 0)), Deco::default());
                asm.evex(STORE, z, 0, Rm::Mem(Mem::At(at, 0)), masked);
            }
            asm.jump(done);
        }
        self.asm.bind(scattered);
        self.each_lane(first, k, |this| {
            let asm = &mut *this.asm;
            for access in [first, second] {
                if access.number == second.number {
                    let to = access.number as i32 * place::ACCESS + place::OFFSETS;
                    asm.alu(Alu::Mov, false, AT, Rm::Mem(Mem::Indexed(fixed::PLACES, LANE, 4, to)));
                    asm.alu(Alu::Add, true, AT, Rm::Mem(base::field(access.number, base::HOST)));
                }
                let lane = |dword| Rm::Mem(row_lane(access.number, dword, LANE));
                asm.alu(Alu::Mov, false, DATA, lane(0));
                if access.bytes == 8 {
                    asm.alu(Alu::Mov, false, POINTER, lane(1));
                    asm.shift_imm(4, true, POINTER, 32);
                    asm.alu(Alu::Or, true, DATA, Rm::Reg(POINTER as u8));
                }
                asm.store(access.bytes == 8, Mem::At(AT, 0), DATA);
            }
        });
        self.asm.bind(done);
    }
}
