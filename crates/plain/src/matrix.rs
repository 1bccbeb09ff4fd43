//! MFMA: one element of D after another. EXEC is ignored, as the matrix core works on whole registers.

use wavemill_isa::encoding::bits;
use wavemill_sem::bus::Bus;
use wavemill_sem::inst::Inst;
use wavemill_sem::mfma::{self, Element, ElementPosition, Shape, Sum};
use wavemill_sem::operand::Src;
use wavemill_sem::scalar::{S32, S64};
use wavemill_sem::state::State;
use wavemill_wave::Running;

/// A dword of an operand.
fn word(src: Src, register: u32, lane: u32, run: &mut Running<'_>) -> u32 {
    match src {
        Src::Vgpr(r) => run.vgpr(r + register as u16, lane),
        Src::Const(n) => (n >> (32 * (register & 1))) as u32,
        src => run.source(src, 32) as u32,
    }
}

/// Two dwords of an operand.
fn long(src: Src, place: ElementPosition, run: &mut Running<'_>) -> u64 {
    let low = word(src, place.register, place.lane, run) as u64;
    low | (word(src, place.register + 1, place.lane, run) as u64) << 32
}

/// D = A · B + C.
pub fn multiply(inst: &Inst, run: &mut Running<'_>) {
    let Some(shape) = mfma::shape(inst.op) else { return };
    // D may lie where A, B or C do: all is read before anything is written.
    let mut out = Vec::new();
    for block in 0..shape.blocks {
        for i in 0..shape.m {
            for j in 0..shape.n {
                let at = shape.d(i, j, block);
                let value = match shape.element {
                    Element::F64 => element_f64(inst, &shape, (i, j, block), run),
                    _ => element(inst, &shape, (i, j, block), run) as u64,
                };
                out.push((at, value));
            }
        }
    }
    for (at, value) in out {
        let register = inst.dst + at.register as u16;
        run.set_vgpr(register, at.lane, value as u32);
        if shape.element == Element::F64 {
            run.set_vgpr(register + 1, at.lane, (value >> 32) as u32);
        }
    }
}

fn element_f64(inst: &Inst, shape: &Shape, (i, j, block): (u32, u32, u32), run: &mut Running<'_>) -> u64 {
    let mut sum = S64(long(inst.src[2], shape.d(i, j, block), run));
    for k in 0..shape.k {
        let a = S64(long(inst.src[0], shape.a(i, k, block), run));
        let b = S64(long(inst.src[1], shape.a(j, k, block), run));
        sum = mfma::step_f64(a, b, sum);
    }
    sum.0
}

/// An element with a sum of 32 bits.
fn element(inst: &Inst, shape: &Shape, (i, j, block): (u32, u32, u32), run: &mut Running<'_>) -> u32 {
    let (cbsz, abid, blgp) =
        (bits::MFMA_CBSZ.get(inst.bits), bits::MFMA_ABID.get(inst.bits), bits::MFMA_BLGP.get(inst.bits));
    let how = shape.sum(&run.float_mode(), run.level());
    let field = ((1u64 << shape.element.bits()) - 1) as u32;
    let widened = |word: u32, bit: u32| mfma::widen(shape.element, how, S32(word >> bit & field));
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for k in 0..shape.k {
        let at = shape.a(i, k, shape.a_block(block, cbsz, abid));
        a.push(widened(word(inst.src[0], at.register, at.lane, run), at.bit));
        let at = shape.a(j, k, block);
        b.push(widened(word(inst.src[1], at.register, shape.b_lane(at.lane, blgp), run), at.bit));
    }
    let c = shape.d(i, j, block);
    let mut sum = mfma::start(how, S32(word(inst.src[2], c.register, c.lane, run)));
    // The elements that a lane holds are added together.
    let group = if matches!(how, Sum::Pairs | Sum::Exact) { shape.per_lane() as usize } else { 1 };
    for (a, b) in a.chunks(group).zip(b.chunks(group)) {
        sum = match how {
            Sum::Fused(m) => mfma::step_f32(a[0], b[0], sum, m),
            Sum::Integer => mfma::step_i32(a[0], b[0], sum),
            Sum::Pairs => mfma::pairs(a, b, sum),
            Sum::Exact => {
                let words = |side: &[S32]| side.iter().map(|w| w.0).collect::<Vec<_>>();
                S32(mfma::exact(&words(a), &words(b), sum.0))
            }
        };
    }
    sum.0
}
