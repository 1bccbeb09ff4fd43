//! Accesses to guest memory and LDS, as many lanes at a time as a vector has.
//!
//! [`Kind::Verify`](super::Kind) comes first, for all lanes, before anything is written: it compares offsets with what
//! the strip's start has found out about the allocation ([`base`]), and writes down for each vector's lanes where the first one
//! goes, whether the others follow it or are with it, and the offsets ([`place`]). Loads and stores only look there.

mod avx2;

use super::{Allocator, Class, Inst, MOVE, MOVE_STORE, NONE, SLOTS, V, fixed};
use crate::host::Host;
use crate::opcodes::{EVEN, JOIN_HIGH, JOIN_LOW, ODD, TESTB};
use crate::strip::MOST_MOVES;
use crate::strip::memory::MOST;
use crate::x86::{Alu, Cond, Deco, Gpr, Ins, Label, Mem, Rm, ins, whole};

/// An access as its instructions know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Its number in the strip.
    pub number: u8,
    /// Bytes of a lane.
    pub bytes: u8,
    /// How many bytes on the next lane's is where lanes follow each other.
    pub step: u8,
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
    /// The first lane's address, or offset in LDS, where lanes follow each other.
    pub const FIRST: i32 = 24;
    const BYTES: i32 = 32;
    const START: i32 = SLOTS as i32 * 64;
    pub(super) const END: i32 = START + MOST as i32 * BYTES;

    /// A field.
    pub fn field(number: u8, field: i32) -> Mem {
        Mem::At(Gpr::Rsp, START + number as i32 * BYTES + field)
    }
}

/// What [`place`] has, for each access and each vector's lanes.
pub const PLACES: i32 = base::END;
/// Bytes of the frame.
pub const FRAME: i32 = PLACES + MOVED + (MOST_MOVES as i32 / MOVED_TOGETHER) * place::ACCESS + 64;
/// Where vectors are that lanes read others of, behind the places of accesses: as many as fit into one, side by side.
const MOVED: i32 = MOST as i32 * place::ACCESS;
const MOVED_TOGETHER: i32 = place::chunk(Host::Avx512) / Host::Avx512.bytes();
const _: () = assert!(MOVED_TOGETHER == place::chunk(Host::Avx2) / Host::Avx2.bytes());
const _: () = assert!(MOST_MOVES as i32 % MOVED_TOGETHER == 0);
/// Where the host's MXCSR is kept, in the frame.
pub const MXCSR: Mem = Mem::At(Gpr::Rsp, FRAME - 64);

/// What is known of an access for a vector's lanes, at [`fixed::PLACES`].
pub mod place {
    use super::*;

    /// The host's address of the first lane.
    pub const POINTER: i32 = 0;
    /// Lanes that do not follow the first one.
    pub const SCATTERED: i32 = 8;
    /// Lanes that are not where the first one is.
    pub const DIFFERENT: i32 = 10;
    /// Bytes of an access.
    pub const ACCESS: i32 = 4 * chunk(Host::Avx512);

    /// Offsets, or addresses' lower halves if they turn out to be outside.
    pub const fn offsets(host: Host) -> i32 {
        host.bytes()
    }

    /// Four dwords of each lane: what was loaded, or is to be stored.
    pub(super) const fn rows(host: Host) -> i32 {
        2 * host.bytes()
    }

    /// Bytes of a vector's lanes.
    pub const fn chunk(host: Host) -> i32 {
        6 * host.bytes()
    }

    /// A field.
    pub fn field(number: u8, field: i32) -> Mem {
        Mem::At(fixed::PLACES, number as i32 * ACCESS + field)
    }
}

/// A row of an access: a dword of each lane.
pub fn row(host: Host, number: u8, dword: usize) -> Mem {
    place::field(number, place::rows(host) + dword as i32 * host.bytes())
}

/// Lanes that were brought from other vectors, by number: a vector of them seen from the frame's start, or, seen from the places,
/// those at hand.
pub fn moved_row(host: Host, from: Gpr, number: usize, row: i32) -> Mem {
    let first = if from == Gpr::Rsp { PLACES } else { 0 };
    let number = number as i32;
    let at = number / MOVED_TOGETHER * place::ACCESS + number % MOVED_TOGETHER * host.bytes();
    Mem::At(from, first + MOVED + at + row * place::chunk(host))
}

/// The same, one lane, whose number is in a register.
fn row_lane(host: Host, number: u8, dword: usize, lane: Gpr) -> Mem {
    let at = number as i32 * place::ACCESS + place::rows(host) + dword as i32 * host.bytes();
    Mem::Indexed(fixed::PLACES, lane, 4, at)
}

const LOAD: Ins = whole(1, 2, 0, 0x6f);
const STORE: Ins = whole(1, 2, 0, 0x7f);
const STORE_BYTES: Ins = whole(1, 3, 0, 0x7f);
const COMPARE: Ins = ins(3, 1, 0, 0x1f);
const COMPARE_UNSIGNED: Ins = ins(3, 1, 0, 0x1e);
const NOT_EQUAL: u8 = 4;
const NOT_LESS: u8 = 5;
const SUB: Ins = ins(1, 1, 0, 0xfa);
const ADD: Ins = ins(1, 1, 0, 0xfe);
const BROADCAST: Ins = whole(2, 1, 0, 0x58);
const BROADCAST_MEMORY: Ins = Ins { map: 2, pp: 1, w: 0, op: 0x58, elem: 4 };
const BROADCAST_MEMORY64: Ins = Ins { map: 2, pp: 1, w: 1, op: 0x59, elem: 8 };
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
/// The bytes of dwords that numbers of one and of two bytes have.
static LOWEST_BYTE: [u32; 16] = [0xff; 16];
static LOWER_HALF: [u32; 16] = [0xffff; 16];
/// First and second dwords of eight lanes with four each; third and fourth.
static FIRST_TWO: [u32; 16] = [0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29];
static LAST_TWO: [u32; 16] = [2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31];
/// The same of pairs of dwords.
static JOIN_LOW_PAIRS: [u32; 16] = [0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23];
static JOIN_HIGH_PAIRS: [u32; 16] = [8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31];

/// A dword of each lane that has three, of all 48: from the first two registers, then from those and the third.
const fn of_three(dword: u32) -> [[u32; 16]; 2] {
    let mut out = [[0; 16]; 2];
    let mut lane = 0;
    while lane < 16 {
        let at = 3 * lane + dword;
        let first = at < 32;
        out[0][lane as usize] = if first { at } else { 0 };
        out[1][lane as usize] = if first { lane } else { 16 + at - 32 };
        lane += 1;
    }
    out
}

/// Sixteen of the 48 dwords, from the lanes' first and second ones, then from those and the third ones.
const fn to_three(from: u32) -> [[u32; 16]; 2] {
    let mut out = [[0; 16]; 2];
    let mut i = 0;
    while i < 16 {
        let (lane, dword) = ((from + i) / 3, (from + i) % 3);
        out[0][i as usize] = if dword < 2 { 16 * dword + lane } else { 0 };
        out[1][i as usize] = if dword < 2 { i } else { 16 + lane };
        i += 1;
    }
    out
}
static OF_THREE: [[[u32; 16]; 2]; 3] = [of_three(0), of_three(1), of_three(2)];
static TO_THREE: [[[u32; 16]; 2]; 3] = [to_three(0), to_three(16), to_three(32)];

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
        if !self.host.has_masks() {
            let [r] = self.temporaries();
            return r;
        }
        let r = self.free(Class::Mask);
        self.pinned_masks |= 1 << r;
        r
    }

    fn load_constant(&mut self, r: u8, x: &'static [u32; 16]) {
        let at = Mem::Constant(self.asm.vector(x));
        self.op(MOVE, r, 0, Rm::Mem(at), Deco::default());
    }

    /// Goes to `failed` if an active lane is outside, with the lanes that are in [`LANE`]; else writes down where they are.
    pub(super) fn verify(&mut self, inst: &Inst, access: Access, k: Option<u8>, failed: Label) {
        if self.host == Host::Avx2 {
            return self.verify_eight(inst, access, k, failed);
        }
        let host = self.host;
        let [low, high, ..] = inst.src;
        let number = access.number;
        let a = self.get(low);
        let h = (high != NONE).then(|| self.get(high));
        let [t, u] = self.temporaries();
        let (wrong, outside) = (self.mask_temporary(), self.mask_temporary());
        let under = |imm| Deco { mask: k.unwrap_or(0), imm: Some(imm), ..Deco::default() };
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
            asm.evex(MOVE_STORE, h, 0, Rm::Mem(row(host, number, 0)), plain);
        }
        asm.vex(KMOVW, KMOVW_GENERAL, LANE as u8, 0, Rm::Reg(outside), None);
        asm.evex(MOVE_STORE, a, 0, Rm::Mem(place::field(number, place::offsets(host))), plain);
        asm.jump(failed);
        asm.bind(inside);
        asm.evex(MOVE_STORE, t, 0, Rm::Mem(place::field(number, place::offsets(host))), plain);
        asm.evex(BROADCAST, u, 0, Rm::Reg(t), plain);
        asm.evex(COMPARE, outside, t, Rm::Reg(u), under(NOT_EQUAL));
        let steps = Mem::Constant(asm.vector(&STEPS[size_class(access.step)]));
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

    /// The lanes of a mask into memory.
    fn store_masked(&mut self, v: u8, k: Option<u8>, at: Mem) {
        match (self.host, k) {
            (Host::Avx512, k) => {
                let masked = Deco { mask: k.unwrap_or(0), ..Deco::default() };
                self.asm.evex(STORE, v, 0, Rm::Mem(at), masked);
            }
            (Host::Avx2, None) => self.op(STORE, v, 0, Rm::Mem(at), Deco::default()),
            (Host::Avx2, Some(k)) => self.op(avx2::MASKED_STORE, v, k, Rm::Mem(at), Deco::default()),
        }
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

    /// The lanes of a mask as bits; without one, all.
    fn lane_bits(&mut self, to: Gpr, k: Option<u8>) {
        match (k, self.host) {
            (None, host) => self.asm.mov_imm(to, (1 << host.lanes()) - 1),
            (Some(k), Host::Avx512) => self.asm.vex(KMOVW, KMOVW_GENERAL, to as u8, 0, Rm::Reg(k), None),
            (Some(k), Host::Avx2) => self.first_bits(to, k),
        }
    }

    /// Goes to a label unless all lanes of a vector are in a mask.
    fn unless_all(&mut self, k: Option<u8>, to: Label) {
        match (k, self.host) {
            (None, _) => {}
            (Some(k), Host::Avx512) => {
                self.asm.vex(KMOVW, KORTEST, k, 0, Rm::Reg(k), None);
                self.asm.jump_if(Cond::NotBelow, to);
            }
            (Some(k), Host::Avx2) => {
                self.first_bits(LEFT, k);
                self.asm.alu_imm(Alu::Cmp, false, LEFT, 0xff);
                self.asm.jump_if(Cond::NotZero, to);
            }
        }
    }

    /// Does something for each lane of a mask (none: for all), with its number in [`LANE`] and its address in [`AT`].
    fn each_lane(&mut self, access: Access, k: Option<u8>, f: impl FnOnce(&mut Self)) {
        let (again, over) = (self.asm.label(), self.asm.label());
        self.lane_bits(LEFT, k);
        let host = self.host;
        let asm = &mut *self.asm;
        if k.is_some() {
            asm.alu(Alu::Test, false, LEFT, Rm::Reg(LEFT as u8));
            asm.jump_if(Cond::Zero, over);
        }
        asm.alu(Alu::Mov, true, HOST, Rm::Mem(base::field(access.number, base::HOST)));
        asm.bind(again);
        // TZCNT.
        asm.two_byte(Some(0xf3), 0xbc, false, LANE, Rm::Reg(LEFT as u8));
        let offset =
            Mem::Indexed(fixed::PLACES, LANE, 4, access.number as i32 * place::ACCESS + place::offsets(host));
        asm.alu(Alu::Mov, false, AT, Rm::Mem(offset));
        asm.alu(Alu::Add, true, AT, Rm::Reg(HOST as u8));
        f(self);
        // BLSR.
        self.asm.vex((2, 0, 0, 0), 0xf3, 1, LEFT as u8, Rm::Reg(LEFT as u8), None);
        self.asm.jump_if(Cond::NotZero, again);
        self.asm.bind(over);
    }

    /// A dword or less of each active lane.
    pub(super) fn load_access(&mut self, dst: V, access: Access, k: Option<u8>) {
        let host = self.host;
        let d = self.make(dst);
        let [offsets] = self.temporaries();
        let copy = self.mask_temporary();
        let [scattered, different, done] = self.begin_access(access);
        let at = Mem::At(POINTER, 0);
        let extend = match (access.bytes, access.signed) {
            (1, false) => whole(2, 1, 0, 0x31),
            (1, true) => whole(2, 1, 0, 0x21),
            (2, false) => whole(2, 1, 0, 0x33),
            (2, true) => whole(2, 1, 0, 0x23),
            _ => LOAD,
        };
        match (host, k) {
            (Host::Avx2, Some(k)) if access.bytes == 4 => self.load_masked(d, k, at),
            (Host::Avx2, _) => {
                self.unless_all(k, different);
                self.op(extend, d, 0, Rm::Mem(at), Deco::default());
            }
            (Host::Avx512, k) => {
                let masked = Deco { mask: k.unwrap_or(0), zero: k.is_some(), ..Deco::default() };
                self.asm.evex(extend, d, 0, Rm::Mem(at), masked);
            }
        }
        self.asm.jump(done);
        self.asm.bind(scattered);
        self.if_different(access, different);
        if access.bytes == 4 {
            self.broadcast(BROADCAST_MEMORY, d, at);
        } else {
            self.small(access, POINTER, at);
            host.broadcast_general(self.asm, d, POINTER);
        }
        self.asm.jump(done);
        self.asm.bind(different);
        if access.bytes == 4 {
            self.lanes_of(access, offsets, k, copy);
            self.op(super::XOR, d, d, Rm::Reg(d), Deco::default());
            match host {
                Host::Avx512 => self.asm.gather(d, POINTER, offsets, 1, copy),
                Host::Avx2 => self.asm.gather_eight(d, POINTER, offsets, 1, copy),
            }
        } else {
            self.each_lane(access, k, |this| {
                this.small(access, POINTER, Mem::At(AT, 0));
                this.asm.store(false, row_lane(host, access.number, 0, LANE), POINTER);
            });
            self.op(MOVE, d, 0, Rm::Mem(row(host, access.number, 0)), Deco::default());
        }
        self.asm.bind(done);
    }

    /// What gathering and scattering take: the base in `POINTER`, the lanes' offsets, and a copy of the mask, which the host's
    /// instructions clear as they go.
    fn lanes_of(&mut self, access: Access, offsets: u8, k: Option<u8>, copy: u8) {
        let from = Rm::Mem(place::field(access.number, place::offsets(self.host)));
        self.op(MOVE, offsets, 0, from, Deco::default());
        match (k, self.host) {
            // KXNORW.
            (None, Host::Avx512) => self.asm.vex((1, 0, 0, 1), 0x46, copy, copy, Rm::Reg(copy), None),
            (Some(k), Host::Avx512) => self.asm.vex(KMOVW, 0x90, copy, 0, Rm::Reg(k), None),
            (None, Host::Avx2) => self.op(super::EQUAL, copy, copy, Rm::Reg(copy), Deco::default()),
            (Some(k), Host::Avx2) => self.op(MOVE, copy, 0, Rm::Reg(k), Deco::default()),
        }
        self.asm.alu(Alu::Mov, true, POINTER, Rm::Mem(base::field(access.number, base::HOST)));
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
    pub(super) fn fetch(&mut self, access: Access, k: Option<u8>) {
        let number = access.number;
        let host = self.host;
        let z: [u8; 7] = self.temporaries();
        let [scattered, different, done] = self.begin_access(access);
        let plain = Deco::default();
        // Lanes that are not active may be outside.
        self.unless_all(k, different);
        match (access.bytes, host) {
            (_, Host::Avx512) => self.fetch_sixteen(access, z),
            (8 | 16, Host::Avx2) => self.fetch_eight(access, z),
            _ => self.asm.jump(different),
        }
        self.asm.jump(done);
        self.asm.bind(scattered);
        self.if_different(access, different);
        let pairs = access.bytes as usize / 8;
        for pair in 0..pairs {
            self.broadcast(BROADCAST_MEMORY64, z[0], Mem::At(POINTER, 8 * pair as i32));
            for (i, imm) in [(0, 0xa0), (1, 0xf5)] {
                let how = Deco { imm: Some(imm), ..plain };
                self.op(SHUFFLE_DWORDS, z[1], 0, Rm::Reg(z[0]), how);
                self.op(MOVE_STORE, z[1], 0, Rm::Mem(row(host, number, 2 * pair + i)), plain);
            }
        }
        if access.bytes == 12 {
            self.broadcast(BROADCAST_MEMORY, z[0], Mem::At(POINTER, 8));
            self.op(MOVE_STORE, z[0], 0, Rm::Mem(row(host, number, 2)), plain);
        }
        self.asm.jump(done);
        self.asm.bind(different);
        self.each_lane(access, k, |this| {
            for pair in 0..pairs {
                let from = Rm::Mem(Mem::At(AT, 8 * pair as i32));
                this.asm.alu(Alu::Mov, true, DATA, from);
                this.asm.store(false, row_lane(host, number, 2 * pair, LANE), DATA);
                this.asm.shift_imm(5, true, DATA, 32);
                this.asm.store(false, row_lane(host, number, 2 * pair + 1, LANE), DATA);
            }
            if access.bytes == 12 {
                this.asm.alu(Alu::Mov, false, DATA, Rm::Mem(Mem::At(AT, 8)));
                this.asm.store(false, row_lane(host, number, 2, LANE), DATA);
            }
        });
        self.asm.bind(done);
    }

    /// A dword or less of each active lane, from a value.
    pub(super) fn put(&mut self, value: V, access: Access, k: Option<u8>) {
        let host = self.host;
        let v = self.get(value);
        let [offsets] = self.temporaries();
        let copy = self.mask_temporary();
        let [scattered, _, done] = self.begin_access(access);
        match host {
            Host::Avx512 if access.step > access.bytes => self.put_apart(v, access, k, [offsets, copy]),
            Host::Avx512 => {
                let masked = Deco { mask: k.unwrap_or(0), ..Deco::default() };
                let narrow = match access.bytes {
                    1 => whole(2, 2, 0, 0x31),
                    2 => whole(2, 2, 0, 0x33),
                    _ => STORE,
                };
                self.asm.evex(narrow, v, 0, Rm::Mem(Mem::At(POINTER, 0)), masked);
            }
            Host::Avx2 if access.bytes == 4 => self.store_masked(v, k, Mem::At(POINTER, 0)),
            Host::Avx2 => {
                self.unless_all(k, scattered);
                self.put_small(v, access, [offsets, copy]);
            }
        }
        self.asm.jump(done);
        self.asm.bind(scattered);
        if access.bytes == 4 && host == Host::Avx512 {
            self.lanes_of(access, offsets, k, copy);
            self.asm.scatter(v, POINTER, offsets, copy);
        } else {
            self.op(MOVE_STORE, v, 0, Rm::Mem(row(host, access.number, 0)), Deco::default());
            self.each_lane(access, k, |this| {
                this.asm.alu(Alu::Mov, false, DATA, Rm::Mem(row_lane(host, access.number, 0, LANE)));
                match access.bytes {
                    1 => this.asm.store_byte(Mem::At(AT, 0), DATA),
                    2 => this.asm.store_word(Mem::At(AT, 0), DATA),
                    _ => this.asm.store(false, Mem::At(AT, 0), DATA),
                }
            });
        }
        self.asm.bind(done);
    }

    /// The first bytes of each active lane's dword, and nothing between them.
    fn put_apart(&mut self, v: u8, access: Access, k: Option<u8>, [t, bytes]: [u8; 2]) {
        let lanes = Deco { mask: k.unwrap_or(0), zero: k.is_some(), ..Deco::default() };
        let first = self.asm.vector(if access.bytes == 1 { &LOWEST_BYTE } else { &LOWER_HALF });
        self.asm.evex(LOAD, t, 0, Rm::Mem(Mem::Constant(first)), lanes);
        self.asm.evex(TESTB, bytes, t, Rm::Reg(t), Deco::default());
        let masked = Deco { mask: bytes, ..Deco::default() };
        self.asm.evex(STORE_BYTES, v, 0, Rm::Mem(Mem::At(POINTER, 0)), masked);
    }

    /// Several dwords of each active lane, from rows.
    pub(super) fn put_rows(&mut self, access: Access, k: Option<u8>) {
        let number = access.number;
        let host = self.host;
        let z: [u8; 6] = self.temporaries();
        let [scattered, _, done] = self.begin_access(access);
        self.unless_all(k, scattered);
        match (access.bytes, host) {
            (_, Host::Avx512) => self.put_sixteen(access, z),
            (8 | 16, Host::Avx2) => self.put_eight(access, z),
            _ => self.asm.jump(scattered),
        }
        self.asm.jump(done);
        self.asm.bind(scattered);
        let pairs = access.bytes as usize / 8;
        self.each_lane(access, k, |this| {
            for pair in 0..pairs {
                let lane = |dword| Rm::Mem(row_lane(host, number, 2 * pair + dword, LANE));
                this.asm.alu(Alu::Mov, false, DATA, lane(1));
                this.asm.shift_imm(4, true, DATA, 32);
                this.asm.alu(Alu::Mov, false, POINTER, lane(0));
                this.asm.alu(Alu::Or, true, DATA, Rm::Reg(POINTER as u8));
                this.asm.store(true, Mem::At(AT, 8 * pair as i32), DATA);
            }
            if access.bytes == 12 {
                this.asm.alu(Alu::Mov, false, DATA, Rm::Mem(row_lane(host, number, 2, LANE)));
                this.asm.store(false, Mem::At(AT, 8), DATA);
            }
        });
        self.asm.bind(done);
    }

    /// Sixteen lanes that follow each other, of two to four dwords each, into rows.
    fn fetch_sixteen(&mut self, access: Access, z: [u8; 7]) {
        let (number, plain, host) = (access.number, Deco::default(), self.host);
        let at = |i: i32| Rm::Mem(Mem::At(POINTER, 64 * i));
        match access.bytes {
            8 => {
                self.asm.evex(LOAD, z[0], 0, at(0), plain);
                for (dword, order) in [(0, &EVEN), (1, &ODD)] {
                    self.load_constant(z[1], order);
                    self.asm.evex(PERMUTE_TWO, z[1], z[0], at(1), plain);
                    self.asm.evex(MOVE_STORE, z[1], 0, Rm::Mem(row(host, number, dword)), plain);
                }
            }
            12 => {
                self.asm.evex(LOAD, z[0], 0, at(0), plain);
                for (dword, [first, second]) in OF_THREE.iter().enumerate() {
                    self.load_constant(z[1], first);
                    self.asm.evex(PERMUTE_TWO, z[1], z[0], at(1), plain);
                    self.load_constant(z[2], second);
                    self.asm.evex(PERMUTE_TWO, z[2], z[1], at(2), plain);
                    self.asm.evex(MOVE_STORE, z[2], 0, Rm::Mem(row(host, number, dword)), plain);
                }
            }
            _ => {
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
                        self.asm.evex(MOVE_STORE, z[4], 0, Rm::Mem(row(host, number, dword + i)), plain);
                    }
                }
            }
        }
    }

    /// Sixteen lanes that follow each other, of two to four dwords each, from rows.
    fn put_sixteen(&mut self, access: Access, z: [u8; 6]) {
        let (number, plain, host) = (access.number, Deco::default(), self.host);
        let at = |i: i32| Rm::Mem(Mem::At(POINTER, 64 * i));
        let rows = |i: usize| Rm::Mem(row(host, number, i));
        match access.bytes {
            8 => {
                self.asm.evex(MOVE, z[0], 0, rows(0), plain);
                for (i, order) in [(0, &JOIN_LOW), (1, &JOIN_HIGH)] {
                    self.load_constant(z[1], order);
                    self.asm.evex(PERMUTE_TWO, z[1], z[0], rows(1), plain);
                    self.asm.evex(STORE, z[1], 0, at(i), plain);
                }
            }
            12 => {
                self.asm.evex(MOVE, z[0], 0, rows(0), plain);
                for (i, [first, second]) in TO_THREE.iter().enumerate() {
                    self.load_constant(z[1], first);
                    self.asm.evex(PERMUTE_TWO, z[1], z[0], rows(1), plain);
                    self.load_constant(z[2], second);
                    self.asm.evex(PERMUTE_TWO, z[2], z[1], rows(2), plain);
                    self.asm.evex(STORE, z[2], 0, at(i as i32), plain);
                }
            }
            _ => {
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
        }
    }

    /// Two accesses of each active lane, from rows: lane by lane, unless lanes follow each other. Then all of the first come
    /// before all of the second, whose order is such that it makes no difference where they meet.
    pub(super) fn put_pair(&mut self, first: Access, second: Access, k: Option<u8>) {
        let host = self.host;
        let z: [u8; 6] = self.temporaries();
        let (scattered, done) = (self.asm.label(), self.asm.label());
        for access in [first, second] {
            self.asm.compare_word_with_zero(place::field(access.number, place::SCATTERED));
            self.asm.jump_if(Cond::NotZero, scattered);
        }
        if first.bytes == 8 {
            self.unless_all(k, scattered);
        }
        for access in [first, second] {
            let pointer = place::field(access.number, place::POINTER);
            self.asm.alu(Alu::Mov, true, POINTER, Rm::Mem(pointer));
            match (access.bytes, host) {
                (8, Host::Avx512) => self.put_sixteen(access, z),
                (8, Host::Avx2) => self.put_eight(access, z),
                _ => {
                    self.op(MOVE, z[0], 0, Rm::Mem(row(host, access.number, 0)), Deco::default());
                    self.store_masked(z[0], k, Mem::At(POINTER, 0));
                }
            }
        }
        self.asm.jump(done);
        self.asm.bind(scattered);
        self.each_lane(first, k, |this| {
            let asm = &mut *this.asm;
            for access in [first, second] {
                if access.number == second.number {
                    let to = access.number as i32 * place::ACCESS + place::offsets(host);
                    asm.alu(Alu::Mov, false, AT, Rm::Mem(Mem::Indexed(fixed::PLACES, LANE, 4, to)));
                    asm.alu(Alu::Add, true, AT, Rm::Mem(base::field(access.number, base::HOST)));
                }
                let lane = |dword| Rm::Mem(row_lane(host, access.number, dword, LANE));
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
