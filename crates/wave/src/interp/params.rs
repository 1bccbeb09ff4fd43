//! Parameter interpolation: LDS to the sources of `sem::interp`.

use super::Exec;
use crate::guest;
use crate::program::Inst;
use wavemill_isa::encoding::bits;
use wavemill_isa::{Enc, Form, Op, Role};
use wavemill_sem::Context;
use wavemill_sem::interp::{self, Slot};

impl Exec<'_> {
    pub(super) fn interpolate(&mut self, inst: &Inst) {
        if self.skips_vector() {
            return;
        }
        let (word, m0) = (inst.bits, self.wave.m0());
        let short = inst.row.enc == Enc::Vintrp && inst.len == 4;
        let (attribute, channel, high) = if short {
            (bits::VINTRP_ATTR.get(word), bits::VINTRP_CHAN.get(word), false)
        } else {
            let high = bits::INTERP3_HIGH.get(word) != 0;
            (bits::INTERP3_ATTR.get(word), bits::INTERP3_CHAN.get(word), high)
        };
        let form = if short { Form::Base } else { Form::Vop3 };
        let encoded = wavemill_isa::Inst { row: inst.row, form, len: inst.len, bits: word };
        let moves = inst.op == Op::v_interp_mov_f32;
        let moved = moves.then(|| Slot::from_bits(encoded.get(Role::Slot))).flatten();
        let limit = self.group.lds.len();
        let exec = self.wave.exec();
        let x = Context::new(self.mode, inst.clamp, inst.omod, self.wave.level);
        // The coordinate is the first source of the short forms and the second of those with 16-bit parameters.
        let at = if inst.row.enc == Enc::Vintrp { 0 } else { 1 };
        // Its modifiers stand where a second source has them in every long form.
        let (neg, abs) = if short { (0, 0) } else { (bits::VOP3_NEG.get(word), bits::VOP3_ABS.get(word)) };
        let modified = |exec: &Self, source: usize, bit: u32, lane: usize| {
            let v = exec.lane(inst.src[source], 0, lane);
            // An addend of 16 bits is one of two halves.
            let halves = inst.op == Op::v_interp_p1lv_f16 && bit == 2;
            let sign = if halves { 0x8000_8000 } else { 0x8000_0000 };
            let v = if abs >> bit & 1 != 0 { v & !sign } else { v };
            if neg >> bit & 1 != 0 { v ^ sign } else { v }
        };
        for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
            let read = |slot: Slot| {
                let address = interp::address(m0, attribute, channel, slot, lane as u32);
                // SAFETY: checked.
                self.lds_at(address, 4, limit).map_or(0, |p| unsafe { guest::read(p, 4) })
            };
            let mut parameters = [0; 2];
            for (p, slot) in parameters.iter_mut().zip(interp::slots(inst.op)) {
                *p = read(*slot);
            }
            let result = if moves {
                x.f32(wavemill_sem::scalar::S32(moved.map_or(0, read))).0
            } else {
                let (i, addend) = (modified(self, at, 1, lane), modified(self, 2, 2, lane));
                interp::interpolate(inst.op, parameters, i, addend, high, &x)
            };
            let register = inst.dst as usize;
            let old = self.wave.vgprs[register].0[lane];
            // GFX9's form leaves the upper half alone.
            let keeps = inst.op == Op::v_interp_p2_f16 && self.wave.level.is_gfx9();
            self.set_lane(register, lane, if keeps { old & 0xffff_0000 | result } else { result });
        }
    }
}
