//! What passes between lanes that do not run together: a lane and a scalar register, and DPP from row to row, or, with AVX2, from
//! eight lanes to others.

use crate::allocate::fixed;
use crate::allocate::memory::moved_row;
use crate::gpr::sgpr;
use crate::host::Host;
use crate::opcodes::CROSSING;
use crate::strip::{MOST_MOVES, Strip};
use crate::x86::{Alu, Asm, Deco, Gpr, Ins, Mem, Rm, ins, whole};
use wavemill_isa::regs;
use wavemill_sem::inst::{Inst, Run};
use wavemill_sem::lanemove::{LaneMove, dpp_source};
use wavemill_sem::operand::Src;
use wavemill_wave::layout::VGPR_BYTES;

/// Writes the code of V_READLANE, V_READFIRSTLANE or V_WRITELANE; false if it is none of them, or has operands that code has
/// not at hand.
pub fn emit(asm: &mut Asm, inst: &Inst) -> bool {
    let Run::LaneMove(what) = inst.run else { return false };
    let value = Gpr::Rax;
    match (what, inst.src[0], inst.src[1]) {
        (LaneMove::ReadFirst, Src::Vgpr(r), _) if inst.sdst < 128 => {
            // TZCNT, which counts 64 zeros where there is no one: lane 0.
            asm.two_byte(Some(0xf3), 0xbc, true, Gpr::Rcx, Rm::Mem(sgpr(regs::EXEC as u8)));
            asm.alu_imm(Alu::And, false, Gpr::Rcx, 63);
            asm.alu(Alu::Mov, false, value, Rm::Mem(numbered(r)));
            asm.store(false, sgpr(inst.sdst), value);
        }
        (LaneMove::Read, Src::Vgpr(r), Src::Sgpr(_) | Src::Const(_)) if inst.sdst < 128 => {
            let lane = lane(asm, r, inst.src[1]);
            asm.alu(Alu::Mov, false, value, Rm::Mem(lane));
            asm.store(false, sgpr(inst.sdst), value);
        }
        (LaneMove::Write, Src::Sgpr(_) | Src::Const(_), Src::Sgpr(_) | Src::Const(_)) => {
            let lane = lane(asm, inst.dst, inst.src[1]);
            match inst.src[0] {
                Src::Sgpr(code) => asm.alu(Alu::Mov, false, value, Rm::Mem(sgpr(code & 127))),
                Src::Const(n) => asm.mov_imm(value, n & 0xffff_ffff),
                _ => return false,
            }
            asm.store(false, lane, value);
        }
        _ => return false,
    }
    true
}

/// The lane of a register whose number is in RCX.
fn numbered(register: u16) -> Mem {
    Mem::Indexed(fixed::VGPRS, Gpr::Rcx, 4, register as i32 * VGPR_BYTES as i32)
}

/// The lane of a register that an operand names.
fn lane(asm: &mut Asm, register: u16, number: Src) -> Mem {
    match number {
        Src::Const(n) => Mem::At(fixed::VGPRS, register as i32 * VGPR_BYTES as i32 + (n & 63) as i32 * 4),
        Src::Sgpr(code) => {
            asm.alu(Alu::Mov, false, Gpr::Rcx, Rm::Mem(sgpr(code & 127)));
            asm.alu_imm(Alu::And, false, Gpr::Rcx, 63);
            numbered(register)
        }
        // Callers have no others.
        _ => Mem::At(fixed::VGPRS, register as i32 * VGPR_BYTES as i32),
    }
}

const LOAD: Ins = whole(1, 1, 1, 0x6f);
const STORE: Ins = whole(1, 1, 1, 0x7f);
const PERMUTE_TWO: Ins = ins(2, 1, 0, 0x7e);
/// VPMOVM2D.
const SPREAD: Ins = whole(2, 2, 0, 0x38);
/// What precedes KMOVW's opcode.
const KMOVW: (u8, u8, u8, u8) = (1, 0, 0, 0);

/// Where the lanes of a row are, for each of the controls: in the row itself, or, sixteen more, in one other; a lane without a
/// source is its own.
static SOURCES: [[[u32; 16]; 4]; CROSSING.len()] = {
    let mut all = [[[0; 16]; 4]; CROSSING.len()];
    let mut i = 0;
    while i < CROSSING.len() * 64 {
        let lane = i as u32 % 64;
        let from = match dpp_source(lane, CROSSING[i / 64]) {
            Some(from) => from,
            None => lane,
        };
        all[i / 64][i / 16 % 4][i % 16] = from % 16 + if from / 16 == lane / 16 { 0 } else { 16 };
        i += 1;
    }
    all
};

/// The other row that the lanes of one read, or itself.
fn other_row(control: u16, row: u32) -> u32 {
    let mut sources = (16 * row..16 * row + 16).filter_map(|lane| dpp_source(lane, control));
    sources.find(|s| s / 16 != row).map_or(row, |s| s / 16)
}

/// Brings what lanes read of others that they do not run with to the frame: registers, and EXEC if it is not all ones, of which a
/// lane has all bits or none; with AVX2, the sign.
pub fn bring(asm: &mut Asm, host: Host, strip: &Strip) {
    if host == Host::Avx2 {
        return bring_eights(asm, strip);
    }
    for (number, &(register, control)) in strip.moves.iter().enumerate() {
        for row in 0..4u8 {
            let from = Mem::At(fixed::VGPRS, register as i32 * VGPR_BYTES as i32 + row as i32 * 64);
            asm.evex(LOAD, row, 0, Rm::Mem(from), Deco::default());
        }
        spread(asm, number, control);
    }
    for (number, &control) in strip.exec_moves.iter().enumerate() {
        for row in 0..4u8 {
            let from = Mem::At(fixed::SGPRS, regs::EXEC as i32 * 4 + row as i32 * 2);
            asm.vex(KMOVW, 0x90, 1, 0, Rm::Mem(from), None);
            asm.evex(SPREAD, row, 0, Rm::Reg(1), Deco::default());
        }
        spread(asm, MOST_MOVES - 1 - number, control);
    }
}

/// Moves the lanes of the first four vector registers to a place of the frame.
fn spread(asm: &mut Asm, number: usize, control: u16) {
    let Some(which) = CROSSING.iter().position(|&c| c == control) else { return };
    for row in 0..4 {
        let to = Rm::Mem(moved_row(Host::Avx512, Gpr::Rsp, number, row as i32));
        let other = other_row(control, row);
        let sources = Rm::Mem(Mem::Constant(asm.vector(&SOURCES[which][row as usize])));
        asm.evex(LOAD, 4, 0, Rm::Reg(row as u8), Deco::default());
        asm.evex(LOAD, 5, 0, sources, Deco::default());
        asm.evex(PERMUTE_TWO, 4, 5, Rm::Reg(other as u8), Deco::default());
        asm.evex(STORE, 4, 0, to, Deco::default());
    }
}

// With AVX2, for eight lanes at a time.

const PERMUTE: Ins = whole(2, 1, 0, 0x36);
const BLEND: Ins = whole(3, 1, 0, 0x02);
const BROADCAST: Ins = whole(2, 1, 0, 0x58);
/// VPMOVZXBD.
const BYTES_APART: Ins = whole(2, 1, 0, 0x31);
const SHIFT_LEFT: Ins = whole(2, 1, 0, 0x47);

/// The lanes that eight lanes read; one without a source is its own.
fn sources(control: u16, first: u32) -> [u32; 8] {
    std::array::from_fn(|i| {
        let lane = first + i as u32;
        dpp_source(lane, control).unwrap_or(lane)
    })
}

/// Lanes of two pieces, as bits: those that read another one than the first lane does, and which that is.
fn second(of: [u32; 8]) -> (u8, Option<u32>) {
    let other = of.iter().copied().find(|&n| n != of[0]);
    let lanes = (0..8).filter(|&i| of[i] != of[0]).fold(0, |all, i| all | 1 << i);
    (lanes, other)
}

fn bring_eights(asm: &mut Asm, strip: &Strip) {
    let host = Host::Avx2;
    for (number, &(register, control)) in strip.moves.iter().enumerate() {
        for eight in 0..8 {
            let from = sources(control, 8 * eight);
            let pieces = from.map(|s| s / 8);
            let at = |piece: u32| {
                Rm::Mem(Mem::At(fixed::VGPRS, register as i32 * VGPR_BYTES as i32 + piece as i32 * 32))
            };
            numbers(asm, from.map(|s| s % 8));
            host.op(asm, PERMUTE, 1, 0, at(pieces[0]), Deco::default());
            if let (lanes, Some(piece)) = second(pieces) {
                host.op(asm, PERMUTE, 2, 0, at(piece), Deco::default());
                host.op(asm, BLEND, 1, 1, Rm::Reg(2), Deco { imm: Some(lanes), ..Deco::default() });
            }
            host.op(
                asm,
                STORE,
                1,
                0,
                Rm::Mem(moved_row(host, Gpr::Rsp, number, eight as i32)),
                Deco::default(),
            );
        }
    }
    for (number, &control) in strip.exec_moves.iter().enumerate() {
        let number = MOST_MOVES - 1 - number;
        for eight in 0..8 {
            let from = sources(control, 8 * eight);
            let halves = from.map(|s| s / 32);
            let at = |half: u32| sgpr(regs::EXEC as u8 + half as u8);
            host.broadcast(asm, BROADCAST, 1, at(halves[0]));
            if let (lanes, Some(half)) = second(halves) {
                host.broadcast(asm, BROADCAST, 2, at(half));
                host.op(asm, BLEND, 1, 1, Rm::Reg(2), Deco { imm: Some(lanes), ..Deco::default() });
            }
            // A source's bit moves to the top, which is all that is looked at.
            numbers(asm, from.map(|s| 31 - s % 32));
            host.op(asm, SHIFT_LEFT, 1, 1, Rm::Reg(0), Deco::default());
            host.op(
                asm,
                STORE,
                1,
                0,
                Rm::Mem(moved_row(host, Gpr::Rsp, number, eight as i32)),
                Deco::default(),
            );
        }
    }
}

/// Puts small numbers into the first vector register.
fn numbers(asm: &mut Asm, of: [u32; 8]) {
    let bytes = u64::from_le_bytes(of.map(|n| n as u8));
    let at = Rm::Mem(Mem::Constant(asm.constant(bytes, 8)));
    Host::Avx2.op(asm, BYTES_APART, 0, 0, at, Deco::default());
}
