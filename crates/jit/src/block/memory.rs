//! What surrounds the accesses of a strip: what is known of allocations before lanes are looked at, and what happens when that is
//! not enough.
//!
//! Each access of a strip has a [`Window`] on an allocation, kept from one run to the next. Where lanes are outside of it,
//! another allocation is looked for, once, and the strip begins anew; if that does not help, the interpreter runs the strip's
//! instructions one by one: it has the lanes in several allocations, LDS and private memory seen through flat addresses, and
//! the faults.

use super::{Link, Source, interpret, link, wave};
use crate::allocate::fixed;
use crate::allocate::memory::{base, place, row, size_class};
use crate::host::Host;
use crate::strip::Strip;
use crate::strip::memory::{Access, FLAT_SCRATCH, FORMAT, LaneAddress, MOST_PRIVATE, PrivateBase};
use crate::x86::{Alu, Asm, Cond, Gpr, Label, Mem, Rm};
use std::mem::offset_of;
use wavemill_isa::{Level, regs};
use wavemill_sem::address::{Addressing, ScalarFields};
use wavemill_sem::inst::{Inst, Run};
use wavemill_sem::operand::Src;
use wavemill_sem::smem::ScalarMemory;
use wavemill_wave::{Range, layout};

/// An allocation, as much of it as offsets of 31 bits reach and as has the same upper half of addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Window {
    /// Its first address.
    pub(super) start: u64,
    /// The host's address of it.
    pub(super) host: u64,
    /// How many places there are for accesses of each size.
    pub(super) counts: [u64; 6],
}

impl Window {
    /// What an allocation has around an address.
    pub fn new(range: &Range, address: u64) -> Window {
        const MOST: u64 = 1 << 30;
        let same_half = address & !0xffff_ffff;
        let start = range.start.max(same_half).max(address.saturating_sub(MOST));
        let end = range.end.min(same_half.saturating_add(1 << 32)).min(address.saturating_add(MOST));
        let bytes = end.saturating_sub(start);
        let counts = [1u64, 2, 4, 8, 12, 16].map(|size| (bytes + 1).saturating_sub(size));
        Window { start, host: start.wrapping_add(range.shift), counts }
    }
}

/// Windows for loads, and as many for stores.
pub const WINDOWS: usize = 32;

/// What surrounds a strip.
pub struct Around<'a> {
    /// The block.
    pub source: *const Source,
    /// The strip's first instruction in it.
    pub at: usize,
    /// The addresses of the strip's instructions.
    pub pcs: &'a dyn Fn(usize) -> u64,
    /// The wave's.
    pub level: Level,
    /// What code is made of.
    pub host: Host,
    /// Masks among those that the strip writes which are read as a whole soon, by the first of their registers.
    pub masks: &'a [u8],
}

/// Labels of a strip with accesses.
pub struct Begun {
    /// An access is outside, by its number.
    pub outside: Vec<Label>,
    retry: Label,
}

const RETRIED: Gpr = Gpr::R14;

impl Around<'_> {
    /// Which window an access has.
    pub(super) fn window(&self, access: &Access, number: usize) -> usize {
        let first = ((self.pcs)(0) / 4).wrapping_mul(7) as usize;
        first.wrapping_add(number) % WINDOWS + if access.stores() { WINDOWS } else { 0 }
    }
}

/// Scalar registers that instructions may use as they like: those above have meanings.
const ORDINARY_SGPRS: u8 = 102;

/// A load from memory into scalar registers.
pub struct ScalarLoad {
    fields: ScalarFields,
    base: u8,
    dwords: u8,
}

impl ScalarLoad {
    /// What an instruction loads, if code can do it: not from buffers, and not into registers with a meaning.
    pub fn of(inst: &Inst) -> Option<ScalarLoad> {
        let (Run::ScalarMemory(ScalarMemory::Load { dwords }), Addressing::Scalar(fields)) =
            (inst.run, inst.addressing)
        else {
            return None;
        };
        let base = fields.base?;
        let plain = !fields.buffer
            && fields.register.is_none()
            && base < 127
            && fields.data.saturating_add(dwords) <= ORDINARY_SGPRS;
        (plain && i32::try_from(fields.constant).is_ok()).then_some(ScalarLoad { fields, base, dwords })
    }

    /// Loads, or goes to `slow`.
    pub fn emit(&self, asm: &mut Asm, pc: u64, slow: Label) {
        use Gpr::{R9, R10, Rax, Rdi, Rdx, Rsi};
        let bytes = 4 * self.dwords as i32;
        let window = (pc / 4).wrapping_mul(7) as usize % WINDOWS;
        let [retry, known, unknown] = [0; 3].map(|_| asm.label());
        note_place(asm, pc);
        asm.alu(Alu::Xor, false, RETRIED, Rm::Reg(RETRIED as u8));
        asm.bind(retry);
        // Whole dwords: every part of an address loses its low bits (`sem`'s `scalar_offset`).
        asm.alu(Alu::Mov, true, Rdx, Rm::Mem(Mem::At(fixed::SGPRS, self.base as i32 * 4)));
        asm.alu_imm(Alu::And, true, Rdx, !3);
        asm.alu_imm(Alu::Add, true, Rdx, self.fields.constant as i32 & !3);
        asm.alu(Alu::Mov, true, Rsi, Rm::Reg(Rdx as u8));
        asm.alu(Alu::Sub, true, Rsi, Rm::Mem(window_field(window, offset_of!(Window, start))));
        asm.alu(Alu::Mov, true, R9, Rm::Mem(window_field(window, offset_of!(Window, counts))));
        asm.alu_imm(Alu::Sub, true, R9, bytes);
        asm.jump_if(Cond::Less, unknown);
        asm.alu(Alu::Cmp, true, R9, Rm::Reg(Rsi as u8));
        asm.jump_if(Cond::NotBelow, known);
        asm.bind(unknown);
        asm.set_bit(RETRIED, 0);
        asm.jump_if(Cond::Below, slow);
        asm.mov_imm(Rsi, window as u64 | (bytes as u64) << 8);
        asm.alu(Alu::Mov, true, Rdi, Rm::Reg(fixed::LINK as u8));
        asm.vzeroupper();
        asm.indirect(2, link(offset_of!(Link, find)));
        asm.alu(Alu::Test, false, Rax, Rm::Reg(Rax as u8));
        asm.jump_if(Cond::NotZero, retry);
        asm.jump(slow);
        asm.bind(known);
        asm.alu(Alu::Add, true, Rsi, Rm::Mem(window_field(window, offset_of!(Window, host))));
        let mut at = 0;
        while at < self.dwords as i32 {
            let wide = at + 1 < self.dwords as i32;
            asm.alu(Alu::Mov, wide, R10, Rm::Mem(Mem::At(Rsi, 4 * at)));
            asm.store(wide, Mem::At(fixed::SGPRS, (self.fields.data as i32 + at) * 4), R10);
            at += 1 + wide as i32;
        }
    }
}

pub(super) fn window_field(window: usize, field: usize) -> Mem {
    link(offset_of!(Link, windows) + window * size_of::<Window>() + field)
}

/// Notes the address of an instruction that is about to access memory.
fn note_place(asm: &mut Asm, pc: u64) {
    asm.store_imm(wave(layout::ACCESSING), pc as u32);
    asm.store_imm(wave(layout::ACCESSING + 4), (pc >> 32) as u32);
}

/// S_WAITCNT: what was stored is in memory before anything is loaded.
pub fn wait(asm: &mut Asm) {
    let over = asm.label();
    asm.compare_byte_with_zero(wave(layout::STORED));
    asm.jump_if(Cond::Zero, over);
    asm.fence();
    asm.store_byte_imm(wave(layout::STORED), 0);
    asm.bind(over);
}

/// What comes before a strip: its waits, and a word to those who want to know where a wave is that accesses memory.
pub fn announce(asm: &mut Asm, strip: &Strip, around: &Around<'_>) {
    if strip.waits {
        wait(asm);
    }
    let in_memory = |a: &&Access| !a.place.in_share();
    if let Some(first) = strip.accesses.iter().find(in_memory) {
        note_place(asm, (around.pcs)(first.at));
    }
    if strip.accesses.iter().filter(in_memory).any(Access::stores) {
        asm.store_byte_imm(wave(layout::STORED), 1);
    }
}

/// What comes before lanes' addresses are looked at.
pub fn begin(asm: &mut Asm, strip: &Strip, around: &Around<'_>) -> Begun {
    let outside = strip.accesses.iter().map(|_| asm.label()).collect();
    let retry = asm.label();
    let begun = Begun { outside, retry };
    if strip.accesses.is_empty() {
        return begun;
    }
    asm.alu(Alu::Xor, false, RETRIED, Rm::Reg(RETRIED as u8));
    asm.bind(retry);
    for (number, access) in strip.accesses.iter().enumerate() {
        let window = around.window(access, number);
        prepare(asm, access, number as u8, window, around.level);
    }
    begun
}

/// Fills in what is known of an access for all lanes.
pub(super) fn prepare(asm: &mut Asm, access: &Access, number: u8, window: usize, level: Level) {
    use Gpr::{R9, R10, R11, Rdi, Rsi};
    let start = window_field(window, offset_of!(Window, start));
    let host = window_field(window, offset_of!(Window, host));
    let count = window_field(window, offset_of!(Window, counts) + 8 * size_class(access.bytes));
    let of_base = |field| base::field(number, field);
    asm.alu(Alu::Xor, false, R10, Rm::Reg(R10 as u8));
    match access.place {
        LaneAddress::Memory { constant, .. } => {
            // Addresses without the constant: from the start less the constant on.
            asm.alu(Alu::Mov, true, Rdi, Rm::Mem(start));
            asm.alu_imm(Alu::Sub, true, Rdi, constant);
            asm.alu(Alu::Mov, true, Rsi, Rm::Mem(count));
            asm.store(false, of_base(base::LOW), Rdi);
            asm.load_address(R9, Mem::Indexed(Rdi, Rsi, 1, -1));
            asm.shift_imm(5, true, R9, 32);
            asm.shift_imm(5, true, Rdi, 32);
            asm.store(false, of_base(base::HIGH), Rdi);
            // The constant may lead into another upper half.
            asm.alu(Alu::Cmp, true, R9, Rm::Reg(Rdi as u8));
            asm.move_if(Cond::NotZero, Rsi, R10);
            asm.alu(Alu::Mov, true, Rdi, Rm::Mem(host));
        }
        LaneAddress::Based { base, constant, .. } => {
            // How far the base is into the window, which may be less than nothing.
            asm.alu(Alu::Mov, true, Rdi, Rm::Mem(Mem::At(fixed::SGPRS, base as i32 * 4)));
            asm.alu_imm(Alu::Add, true, Rdi, constant);
            asm.alu(Alu::Sub, true, Rdi, Rm::Mem(start));
            asm.alu(Alu::Mov, true, Rsi, Rm::Mem(count));
            asm.alu(Alu::Sub, true, Rsi, Rm::Reg(Rdi as u8));
            // Offsets have 31 bits.
            asm.mov_imm(R9, 1 << 31);
            asm.alu(Alu::Cmp, true, Rsi, Rm::Reg(R9 as u8));
            asm.move_if(Cond::Greater, Rsi, R9);
            asm.alu(Alu::Mov, true, R11, Rm::Reg(Rdi as u8));
            asm.unary(3, true, R11);
            asm.move_if(Cond::Sign, R11, R10);
            asm.store(false, of_base(base::LOW), R11);
            asm.alu(Alu::Sub, true, Rsi, Rm::Reg(R11 as u8));
            asm.move_if(Cond::Less, Rsi, R10);
            asm.alu(Alu::Add, true, Rdi, Rm::Reg(R11 as u8));
            asm.alu(Alu::Add, true, Rdi, Rm::Mem(host));
        }
        LaneAddress::Share { constant, .. } => {
            asm.alu(Alu::Mov, true, Rsi, Rm::Mem(link(offset_of!(Link, lds_bytes))));
            if !level.is_gfx9() {
                asm.alu(Alu::Mov, false, Rdi, Rm::Mem(Mem::At(fixed::SGPRS, regs::M0 as i32 * 4)));
                asm.alu(Alu::Cmp, true, Rdi, Rm::Reg(Rsi as u8));
                asm.move_if(Cond::Below, Rsi, Rdi);
            }
            asm.alu_imm(Alu::Sub, true, Rsi, constant as i32 + access.bytes as i32 - 1);
            asm.move_if(Cond::Less, Rsi, R10);
            asm.store(false, of_base(base::LOW), R10);
            asm.alu(Alu::Mov, true, Rdi, Rm::Mem(link(offset_of!(Link, lds))));
            asm.alu_imm(Alu::Add, true, Rdi, constant as i32);
        }
        LaneAddress::Buffer { resource, scalar, constant, format, .. } => {
            let word = |n: u8| Rm::Mem(Mem::At(fixed::SGPRS, (resource + n) as i32 * 4));
            asm.alu(Alu::Mov, true, Rdi, word(0));
            asm.alu(Alu::Mov, false, R11, word(3));
            // Offsets that are in range: `sem`'s `Buffer::in_range` of what has neither index nor lane numbers.
            asm.alu(Alu::Mov, false, Rsi, word(2));
            scalar_offset(asm, R9, scalar);
            asm.alu(Alu::Sub, true, Rsi, Rm::Reg(R9 as u8));
            asm.alu_imm(Alu::Sub, true, Rsi, constant as i32 + access.bytes as i32 - 1);
            asm.move_if(Cond::Less, Rsi, R10);
            // None where the buffer is swizzled, adds lane numbers, or is none: it has no format.
            asm.alu(Alu::Test, true, Rdi, Rm::Reg(Rdi as u8));
            asm.move_if(Cond::Sign, Rsi, R10);
            const ADD_TID: i32 = 1 << 23;
            const DATA_FORMAT: i32 = 15 << 15;
            asm.alu_imm(Alu::And, false, R11, ADD_TID | DATA_FORMAT);
            asm.alu_imm(Alu::Sub, false, R11, 1);
            asm.alu_imm(Alu::Cmp, false, R11, ADD_TID - 1);
            asm.move_if(Cond::NotBelow, Rsi, R10);
            if let Some(format) = format {
                // Its elements are others than code is for.
                asm.alu(Alu::Mov, false, R11, word(3));
                asm.alu_imm(Alu::And, false, R11, FORMAT as i32);
                asm.alu_imm(Alu::Cmp, false, R11, format as i32);
                asm.move_if(Cond::NotZero, Rsi, R10);
            }
            buffer_address(asm, Rdi);
            asm.alu(Alu::Add, true, Rdi, Rm::Reg(R9 as u8));
            asm.alu_imm(Alu::Add, true, Rdi, constant as i32);
            // Nor what is outside of the window, or where the buffer begins before it.
            asm.alu(Alu::Sub, true, Rdi, Rm::Mem(start));
            asm.move_if(Cond::Below, Rsi, R10);
            asm.alu(Alu::Mov, true, R9, Rm::Mem(count));
            asm.alu(Alu::Sub, true, R9, Rm::Reg(Rdi as u8));
            asm.move_if(Cond::Less, R9, R10);
            asm.alu(Alu::Cmp, true, Rsi, Rm::Reg(R9 as u8));
            asm.move_if(Cond::Greater, Rsi, R9);
            asm.store(false, of_base(base::LOW), R10);
            asm.alu(Alu::Add, true, Rdi, Rm::Mem(host));
        }
        LaneAddress::Private { base, constant, .. } => {
            asm.mov_imm(Rsi, MOST_PRIVATE.into());
            match base {
                PrivateBase::Wave => {
                    // As many dwords as each lane has, of 64 lanes; all if nobody knows.
                    asm.alu(Alu::Mov, false, R9, Rm::Mem(wave(layout::SCRATCH_BYTES)));
                    asm.alu(Alu::Test, true, R9, Rm::Reg(R9 as u8));
                    asm.move_if(Cond::Zero, R9, Rsi);
                    asm.alu_imm(Alu::And, true, R9, !3);
                    asm.shift_imm(4, true, R9, 6);
                    asm.alu(Alu::Cmp, true, Rsi, Rm::Reg(R9 as u8));
                    asm.move_if(Cond::Greater, Rsi, R9);
                }
                PrivateBase::Buffer { resource, .. } => {
                    // None where the buffer keeps something else together: `sem`'s `Buffer`.
                    let word = |n: u8| Rm::Mem(Mem::At(fixed::SGPRS, (resource + n) as i32 * 4));
                    const SWIZZLE: i32 = 1 << 31;
                    asm.alu(Alu::Mov, false, R11, word(1));
                    asm.alu_imm(Alu::And, false, R11, SWIZZLE);
                    asm.move_if(Cond::Zero, Rsi, R10);
                    // Lane numbers are added; 64 records stand together, four bytes each.
                    let (mask, wanted) = match level.is_gfx9() {
                        true => (7 << 21, 7 << 21),
                        false => (31 << 19, 7 << 21 | 1 << 19),
                    };
                    asm.alu(Alu::Mov, false, R11, word(3));
                    asm.alu_imm(Alu::And, false, R11, mask);
                    asm.alu_imm(Alu::Cmp, false, R11, wanted);
                    asm.move_if(Cond::NotZero, Rsi, R10);
                }
            }
            private_base(asm, Rdi, R9, base);
            asm.alu_imm(Alu::Add, true, Rdi, constant as i32);
            asm.alu_imm(Alu::Sub, true, Rsi, constant as i32);
            asm.move_if(Cond::Less, Rsi, R10);
            asm.alu(Alu::Sub, true, Rdi, Rm::Mem(start));
            asm.alu(Alu::Mov, true, R9, Rm::Mem(count));
            asm.alu(Alu::Sub, true, R9, Rm::Reg(Rdi as u8));
            asm.move_if(Cond::Less, R9, R10);
            asm.alu(Alu::Cmp, true, Rsi, Rm::Reg(R9 as u8));
            asm.move_if(Cond::Greater, Rsi, R9);
            // Nor what is before the window, or so far behind it that the distance counts as one before: FLAT_SCRATCH may hold
            // anything.
            asm.alu(Alu::Test, true, Rdi, Rm::Reg(Rdi as u8));
            asm.move_if(Cond::Sign, Rsi, R10);
            asm.store(false, of_base(base::LOW), R10);
            asm.alu(Alu::Add, true, Rdi, Rm::Mem(host));
        }
    }
    asm.store(false, of_base(base::COUNT), Rsi);
    asm.store(true, of_base(base::HOST), Rdi);
}

/// The scalar offset of a buffer instruction.
fn scalar_offset(asm: &mut Asm, to: Gpr, scalar: Src) {
    match scalar {
        Src::Sgpr(code) => asm.alu(Alu::Mov, false, to, Rm::Mem(Mem::At(fixed::SGPRS, code as i32 * 4))),
        Src::Const(n) => asm.mov_imm(to, u64::from(n as u32)),
        _ => asm.mov_imm(to, 0),
    }
}

/// Where private memory begins.
fn private_base(asm: &mut Asm, to: Gpr, other: Gpr, base: PrivateBase) {
    let register = |code: u8| Rm::Mem(Mem::At(fixed::SGPRS, code as i32 * 4));
    match base {
        PrivateBase::Wave => asm.alu(Alu::Mov, true, to, register(FLAT_SCRATCH)),
        PrivateBase::Buffer { resource, scalar } => {
            asm.alu(Alu::Mov, true, to, register(resource));
            buffer_address(asm, to);
            scalar_offset(asm, other, scalar);
            asm.alu(Alu::Add, true, to, Rm::Reg(other as u8));
        }
    }
}

/// The address in a resource's first two words.
fn buffer_address(asm: &mut Asm, words: Gpr) {
    asm.shift_imm(4, true, words, 16);
    asm.shift_imm(5, true, words, 16);
}

/// What comes behind a strip: accesses that are outside of what is known.
pub fn end(asm: &mut Asm, strip: &Strip, begun: &Begun, around: &Around<'_>, done: Label) {
    use Gpr::{Rax, Rdi, Rdx, Rsi};
    if strip.accesses.is_empty() {
        return;
    }
    let slow = asm.label();
    let call = |asm: &mut Asm, function: usize| {
        asm.alu(Alu::Mov, true, Rdi, Rm::Reg(fixed::LINK as u8));
        asm.vzeroupper();
        asm.indirect(2, link(function));
        asm.alu(Alu::Test, false, Rax, Rm::Reg(Rax as u8));
    };
    for (number, access) in strip.accesses.iter().enumerate() {
        asm.bind(begun.outside[number]);
        if access.place.in_share() {
            asm.jump(slow);
            continue;
        }
        asm.set_bit(RETRIED, number as u8);
        asm.jump_if(Cond::Below, slow);
        // TZCNT: the first lane that is outside.
        asm.two_byte(Some(0xf3), 0xbc, false, Rsi, Rm::Reg(Rsi as u8));
        let number = number as u8;
        let lane = |at: Mem| match at {
            Mem::At(base, disp) => Mem::Indexed(base, Rsi, 4, disp),
            other => other,
        };
        asm.alu(Alu::Mov, false, Rdx, Rm::Mem(lane(place::field(number, place::offsets(around.host)))));
        let constant = match access.place {
            LaneAddress::Memory { constant, .. } => {
                asm.alu(Alu::Mov, false, Rdi, Rm::Mem(lane(row(around.host, number, 0))));
                asm.shift_imm(4, true, Rdi, 32);
                asm.alu(Alu::Or, true, Rdx, Rm::Reg(Rdi as u8));
                constant
            }
            LaneAddress::Based { base, constant, .. } => {
                asm.alu(Alu::Add, true, Rdx, Rm::Mem(Mem::At(fixed::SGPRS, base as i32 * 4)));
                constant
            }
            LaneAddress::Buffer { resource, scalar, constant, .. } => {
                asm.alu(Alu::Mov, true, Rdi, Rm::Mem(Mem::At(fixed::SGPRS, resource as i32 * 4)));
                buffer_address(asm, Rdi);
                asm.alu(Alu::Add, true, Rdx, Rm::Reg(Rdi as u8));
                scalar_offset(asm, Rdi, scalar);
                asm.alu(Alu::Add, true, Rdx, Rm::Reg(Rdi as u8));
                constant as i32
            }
            LaneAddress::Private { base, constant, .. } => {
                private_base(asm, Rdi, Gpr::R9, base);
                asm.alu(Alu::Add, true, Rdx, Rm::Reg(Rdi as u8));
                constant as i32
            }
            LaneAddress::Share { .. } => 0,
        };
        asm.alu_imm(Alu::Add, true, Rdx, constant);
        let window = around.window(access, number as usize);
        asm.mov_imm(Rsi, window as u64 | (access.bytes as u64) << 8);
        call(asm, offset_of!(Link, find));
        asm.jump_if(Cond::NotZero, begun.retry);
        asm.jump(slow);
    }
    asm.bind(slow);
    interpret(asm, around, strip.len, done);
}
