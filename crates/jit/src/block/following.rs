//! The short way to an access's lanes: where they follow each other, the first one's address says it all ([`crate::affine`]).

use super::memory::{Around, Window, prepare, window_field};
use crate::affine::{Affine, affine};
use crate::allocate::fixed;
use crate::allocate::memory::{self as frame, base, place, size_class};
use crate::gpr::{self, Unable};
use crate::host::Host;
use crate::strip::Strip;
use crate::strip::memory::{Access, LaneAddress};
use crate::x86::{Alu, Asm, Cond, Deco, Gpr, Ins, Label, Mem, Rm, ins, whole};
use std::mem::offset_of;
use wavemill_wave::layout;

const BROADCAST: Ins = Ins { map: 2, pp: 1, w: 0, op: 0x58, elem: 4 };
const ADD: Ins = ins(1, 1, 0, 0xfe);
const XOR: Ins = ins(1, 1, 0, 0xef);
const OR: Ins = ins(1, 1, 0, 0xeb);
/// A bit for each that the table in the immediate has for those of three operands.
const TERNARY: Ins = ins(3, 1, 0, 0x25);
/// a | (b ^ c).
const OR_DIFFERENCE: u8 = 0xf6;
const TEST: Ins = ins(2, 1, 0, 0x27);
const STORE: Ins = whole(1, 1, 1, 0x7f);
/// KORTESTW.
const KORTEST: ((u8, u8, u8, u8), u8) = ((1, 0, 0, 0), 0x98);
/// VPTEST.
const TEST_WHOLE: Ins = whole(2, 1, 0, 0x17);

/// What lanes may be apart, and registers count up by.
const STEPS: [u32; 6] = [1, 2, 4, 8, 12, 16];

/// Multiples of steps: for each of them, those of all lanes.
static MULTIPLES: [[[u32; 16]; 4]; STEPS.len()] = {
    let mut all = [[[0; 16]; 4]; STEPS.len()];
    let mut i = 0;
    while i < STEPS.len() * 64 {
        all[i / 64][i / 16 % 4][i % 16] = STEPS[i / 64] * (i % 64) as u32;
        i += 1;
    }
    all
};

/// Those of a step among the constants, by a vector's lanes; none if it is zero.
fn multiples(asm: &mut Asm, host: Host, step: u32) -> Result<Vec<Option<Mem>>, Unable> {
    let chunks = 64 / host.lanes();
    let Some(i) = STEPS.iter().position(|&s| s == step) else {
        return if step == 0 { Ok(vec![None; chunks]) } else { Err(Unable) };
    };
    let at = |chunk: usize| {
        let first = chunk * host.lanes();
        let vector = asm.vector(&MULTIPLES[i][first / 16]);
        Some(Mem::Constant(vector + first as u32 % 16 * 4))
    };
    Ok((0..chunks).map(at).collect())
}

/// Finds where the accesses of a strip with all lanes active go, if their lanes follow each other, and jumps to `verified`;
/// otherwise goes on behind. Writes nothing if that is never so.
pub fn emit(asm: &mut Asm, strip: &Strip, around: &Around<'_>, verified: Label) {
    let Some(found) = (!strip.accesses.is_empty()).then(|| affine(strip)).flatten() else { return };
    let before = asm.mark();
    if write(asm, strip, &found, around, verified).is_err() {
        asm.rewind(before);
    }
}

fn write(
    asm: &mut Asm,
    strip: &Strip,
    found: &Affine,
    around: &Around<'_>,
    verified: Label,
) -> Result<(), Unable> {
    let general = asm.label();
    count_up(asm, around.host, &found.registers, general)?;
    let outputs: Vec<_> = found.places.iter().map(|p| p.0).chain(found.condition).collect();
    gpr::compute(asm, &found.program, &outputs, |asm, i, r| match found.places.get(i) {
        Some(_) => asm.store(true, base::field(i as u8, base::FIRST), r),
        None => {
            asm.alu(Alu::Test, false, r, Rm::Reg(r as u8));
            asm.jump_if(Cond::Zero, general);
        }
    })?;
    asm.load_address(fixed::PLACES, Mem::At(Gpr::Rsp, frame::PLACES));
    for (number, (access, &(_, step))) in strip.accesses.iter().zip(&found.places).enumerate() {
        check(asm, access, number, step, around, general);
        // Two stores of an instruction may go lane by lane.
        let paired = strip.accesses.iter().filter(|a| a.at == access.at).count() > 1;
        note(asm, around.host, access, number as u8, step, paired)?;
    }
    asm.jump(verified);
    asm.bind(general);
    Ok(())
}

/// Goes to `otherwise` unless registers count up from lane to lane as they should.
fn count_up(asm: &mut Asm, host: Host, registers: &[(u16, u32)], otherwise: Label) -> Result<(), Unable> {
    let [differences, first, expected, k] = [0, 1, 2, 1];
    let plain = Deco::default();
    let mut any = false;
    for &(register, step) in registers {
        let at = |chunk: usize| {
            let to = register as i32 * layout::VGPR_BYTES as i32 + chunk as i32 * host.bytes();
            Mem::At(fixed::VGPRS, to)
        };
        host.broadcast(asm, BROADCAST, first, at(0));
        for (chunk, steps) in multiples(asm, host, step)?.into_iter().enumerate() {
            let value = match steps {
                Some(steps) => {
                    host.op(asm, ADD, expected, first, Rm::Mem(steps), plain);
                    expected
                }
                None => first,
            };
            let actual = Rm::Mem(at(chunk));
            match (any, host) {
                (false, _) => host.op(asm, XOR, differences, value, actual, plain),
                (true, Host::Avx512) => {
                    let how = Deco { imm: Some(OR_DIFFERENCE), ..plain };
                    asm.evex(TERNARY, differences, value, actual, how);
                }
                (true, Host::Avx2) => {
                    host.op(asm, XOR, expected, value, actual, plain);
                    host.op(asm, OR, differences, differences, Rm::Reg(expected), plain);
                }
            }
            any = true;
        }
    }
    if any {
        match host {
            Host::Avx512 => {
                asm.evex(TEST, k, differences, Rm::Reg(differences), plain);
                asm.vex(KORTEST.0, KORTEST.1, k, 0, Rm::Reg(k), None);
            }
            Host::Avx2 => host.op(asm, TEST_WHOLE, differences, 0, Rm::Reg(differences), plain),
        }
        asm.jump_if(Cond::NotZero, otherwise);
    }
    Ok(())
}

/// Goes to `outside` unless the first and the last lane are inside; else leaves the first one's offset and the host's address
/// of what it counts from in registers.
fn check(asm: &mut Asm, access: &Access, number: usize, step: u32, around: &Around<'_>, outside: Label) {
    let window = around.window(access, number);
    let n = number as u8;
    let first = Rm::Mem(base::field(n, base::FIRST));
    let (count, host) = match access.place {
        LaneAddress::Share { .. } | LaneAddress::Buffer { .. } | LaneAddress::Private { .. } => {
            prepare(asm, access, n, window, around.level);
            asm.alu(Alu::Mov, true, OFFSET, first);
            // The count has 32 bits there.
            asm.alu(Alu::Mov, false, COUNT, Rm::Mem(base::field(n, base::COUNT)));
            (Rm::Reg(COUNT as u8), base::field(n, base::HOST))
        }
        _ => {
            asm.alu(Alu::Mov, true, OFFSET, first);
            asm.alu(Alu::Sub, true, OFFSET, Rm::Mem(window_field(window, offset_of!(Window, start))));
            let counts = offset_of!(Window, counts) + 8 * size_class(access.bytes);
            (Rm::Mem(window_field(window, counts)), window_field(window, offset_of!(Window, host)))
        }
    };
    asm.alu(Alu::Cmp, true, OFFSET, count);
    asm.jump_if(Cond::NotBelow, outside);
    if step > 0 {
        asm.load_address(LAST, Mem::At(OFFSET, 63 * step as i32));
        asm.alu(Alu::Cmp, true, LAST, count);
        asm.jump_if(Cond::NotBelow, outside);
    }
    asm.alu(Alu::Mov, true, HOST, Rm::Mem(host));
}

const OFFSET: Gpr = Gpr::Rsi;
const HOST: Gpr = Gpr::R9;
const LAST: Gpr = Gpr::R10;
const COUNT: Gpr = Gpr::R11;

/// How many waves ahead memory is fetched: while these run, it comes.
const WAVES_AHEAD: i32 = 4;

/// Fetches what waves to come most likely access: what follows, as the next wave's lanes follow this one's. A strip's loads
/// wait for memory before those of the next wave are known to the host, which so cannot fetch them meanwhile.
fn fetch_ahead(asm: &mut Asm, written: bool, step: i32) {
    const LINE: i32 = 64;
    let bytes = 64 * step;
    for at in (0..bytes).step_by(LINE as usize) {
        asm.prefetch(written, Mem::At(OFFSET, WAVES_AHEAD * bytes + at));
    }
}

/// Notes where an access's lanes are, for those of each vector.
fn note(
    asm: &mut Asm,
    host: Host,
    access: &Access,
    number: u8,
    step: u32,
    paired: bool,
) -> Result<(), Unable> {
    let lanes = host.lanes() as i32;
    // Lanes do not follow the first one, or are not with it.
    let others = (1 << lanes) - 2;
    let flags = if step > 0 { others << 16 } else { others };
    // Everything else is found without, but for what AVX2 does lane by lane under a mask.
    if access.bytes > 4 || paired || host == Host::Avx2 && access.bytes < 4 {
        let [first, offsets] = [0, 1];
        host.broadcast_general(asm, first, OFFSET);
        for (chunk, steps) in multiples(asm, host, step)?.into_iter().enumerate() {
            let value = match steps {
                Some(steps) => {
                    host.op(asm, ADD, offsets, first, Rm::Mem(steps), Deco::default());
                    offsets
                }
                None => first,
            };
            let to = place::field(number, chunk as i32 * place::chunk(host) + place::offsets(host));
            host.op(asm, STORE, value, 0, Rm::Mem(to), Deco::default());
        }
        asm.store(true, base::field(number, base::HOST), HOST);
    }
    asm.alu(Alu::Add, true, OFFSET, Rm::Reg(HOST as u8));
    if step > 0 && !access.place.in_share() && !access.place.is_private() {
        fetch_ahead(asm, access.stores(), step as i32);
    }
    for chunk in 0..64 / lanes {
        if chunk > 0 && step > 0 {
            asm.alu_imm(Alu::Add, true, OFFSET, lanes * step as i32);
        }
        let at = |field| place::field(number, chunk * place::chunk(host) + field);
        asm.store(true, at(place::POINTER), OFFSET);
        asm.store_imm(at(place::SCATTERED), flags);
    }
    Ok(())
}
