//! MFMA: matrices gathered from registers, multiplied row by row, scattered back.
//!
//! Sums go through k in ascending order, one fused step each (the manual does not give the order). EXEC is ignored, as
//! the matrix core works on whole registers.

use super::Exec;
use crate::program::{Inst, Src};
use wavemill_isa::encoding::bits;
use wavemill_sem::mfma::{self, Element, Shape};

impl Exec<'_> {
    /// A register of an operand in a lane; constants are the same everywhere.
    fn element(&self, src: Src, register: u32, lane: u32) -> u32 {
        match src {
            Src::Vgpr(r) => self.wave.vgprs[r as usize + register as usize].0[lane as usize],
            Src::Const(n) => (n >> (32 * (register & 1))) as u32,
            src => self.scalar_source(src, 32) as u32,
        }
    }

    pub(super) fn mfma(&mut self, inst: &Inst) {
        if self.skips_vector() {
            return;
        }
        let Some(shape) = mfma::shape(inst.op) else { return };
        let (cbsz, abid, blgp) =
            (bits::MFMA_CBSZ.get(inst.bits), bits::MFMA_ABID.get(inst.bits), bits::MFMA_BLGP.get(inst.bits));
        match shape.element {
            Element::F64 => self.mfma_f64(inst, &shape),
            _ => self.mfma_32(inst, &shape, cbsz, abid, blgp),
        }
    }

    /// f32 and i32 sums.
    fn mfma_32(&mut self, inst: &Inst, shape: &Shape, cbsz: u32, abid: u32, blgp: u32) {
        let mode = shape.mode(&self.mode);
        let int = shape.element == Element::I8;
        let field = ((1u64 << shape.element.bits()) - 1) as u32;
        let fetch = |exec: &Self, src: Src, place: mfma::Place, lane: u32| {
            let raw = exec.element(src, place.register, lane) >> place.bit & field;
            if int { raw as i8 as i32 as u32 } else { mfma::widen(shape.element, raw) }
        };
        // The destination may be an operand too: keep results until every source is read.
        let mut results = Vec::with_capacity((shape.m * shape.n * shape.blocks) as usize);
        let columns = shape.n.min(16);
        let mut a = [0u32; 16];
        let mut b = [[0u32; 16]; 16];
        for block in 0..shape.blocks {
            let from = shape.a_block(block, cbsz, abid);
            for first in (0..shape.n).step_by(16) {
                for k in 0..shape.k {
                    for j in 0..columns {
                        let place = shape.a(first + j, k, block);
                        let lane = shape.b_lane(place.lane, blgp);
                        b[k as usize][j as usize] = fetch(self, inst.src[1], place, lane);
                    }
                }
                for i in 0..shape.m {
                    for k in 0..shape.k {
                        let place = shape.a(i, k, from);
                        a[k as usize] = fetch(self, inst.src[0], place, place.lane);
                    }
                    let mut c = [0u32; 16];
                    for j in 0..columns {
                        let place = shape.d(i, first + j, block);
                        c[j as usize] = self.element(inst.src[2], place.register, place.lane);
                    }
                    let depth = shape.k as usize;
                    if int {
                        for (a, b) in a[..depth].iter().zip(&b[..depth]) {
                            for (c, b) in c.iter_mut().zip(b) {
                                *c = c.wrapping_add(a.wrapping_mul(*b));
                            }
                        }
                    } else {
                        // SAFETY: the kernels were chosen for what the host has.
                        unsafe { (self.kernels.mfma_f32)(&a[..depth], &b[..depth], &mut c, mode) };
                    }
                    for j in 0..columns {
                        results.push((shape.d(i, first + j, block), c[j as usize]));
                    }
                }
            }
        }
        for (place, value) in results {
            self.wave.vgprs[inst.dst as usize + place.register as usize].0[place.lane as usize] = value;
        }
    }

    fn mfma_f64(&mut self, inst: &Inst, shape: &Shape) {
        let pair = |exec: &Self, src: Src, register: u32, lane: u32| {
            exec.element(src, register, lane) as u64 | (exec.element(src, register + 1, lane) as u64) << 32
        };
        let mut results = Vec::with_capacity((shape.m * shape.n * shape.blocks) as usize);
        for block in 0..shape.blocks {
            for i in 0..shape.m {
                for j in 0..shape.n {
                    let place = shape.d(i, j, block);
                    let mut sum = pair(self, inst.src[2], place.register, place.lane);
                    for k in 0..shape.k {
                        let (a, b) = (shape.a(i, k, block), shape.a(j, k, block));
                        let a = pair(self, inst.src[0], a.register, a.lane);
                        let b = pair(self, inst.src[1], b.register, b.lane);
                        let step = mfma::step_f64(
                            wavemill_sem::scalar::S64(a),
                            wavemill_sem::scalar::S64(b),
                            wavemill_sem::scalar::S64(sum),
                        );
                        sum = step.0;
                    }
                    results.push((place, sum));
                }
            }
        }
        for (place, value) in results {
            let register = inst.dst as usize + place.register as usize;
            self.set_datum(register, place.lane as usize, 8, value);
        }
    }
}
