//! Executing parameter interpolation.

use crate::apply::Context;
use crate::bus::{At, Bus, Fault, Space};
use crate::inst::Inst;
use crate::interp::{Interpolation, Slot, address, interpolate};
use crate::state::lanes;
use wavemill_isa::encoding::bits;
use wavemill_isa::{Enc, Role};

/// Executes an interpolation.
pub fn execute<B: Bus>(what: Interpolation, inst: &Inst, state: &mut B) -> Result<(), Fault> {
    let (word, m0) = (inst.bits, state.m0());
    let short = inst.row.enc == Enc::Vintrp && inst.len == 4;
    let (attribute, channel, high) = if short {
        (bits::VINTRP_ATTR.get(word), bits::VINTRP_CHAN.get(word), false)
    } else {
        let high = bits::INTERP3_HIGH.get(word) != 0;
        (bits::INTERP3_ATTR.get(word), bits::INTERP3_CHAN.get(word), high)
    };
    let named = Slot::from_bits(inst.encoded().get(Role::Slot));
    let slots = if what == Interpolation::Move { named.as_slice() } else { what.slots() };
    let x = Context::new(state.float_mode(), inst.clamp, inst.omod, state.level());
    // The coordinate is the first source of the short forms and the second of those with 16-bit parameters.
    let at = if inst.row.enc == Enc::Vintrp { 0 } else { 1 };
    // Its modifiers stand where a second source has them in every long form.
    let (neg, abs) = if short { (0, 0) } else { (bits::VOP3_NEG.get(word), bits::VOP3_ABS.get(word)) };
    let modified = |v: u32, bit: u32| {
        // An addend of 16 bits is one of two halves.
        let halves = what == Interpolation::P1lv && bit == 2;
        let sign = if halves { 0x8000_8000 } else { 0x8000_0000 };
        let v = if abs >> bit & 1 != 0 { v & !sign } else { v };
        if neg >> bit & 1 != 0 { v ^ sign } else { v }
    };
    for lane in lanes(state.exec()) {
        let mut parameters = [0; 2];
        for (p, slot) in parameters.iter_mut().zip(slots) {
            let address = address(m0, attribute, channel, *slot, lane);
            // Out of range reads give zero (manual 3.6.1).
            if address as u64 + 4 <= state.lds_bytes() as u64 {
                let read = state.read(At::lane(Space::Lds, address as u64, lane), 4);
                *p = read.map_err(|kind| Fault { kind, lanes: 1 << lane, address: address as u64 })?;
            }
        }
        let i = modified(state.lane(inst.src[at], 0, lane), 1);
        let addend = modified(state.lane(inst.src[2], 0, lane), 2);
        let result = interpolate(what, parameters, i, addend, high, &x);
        // GFX9's form leaves the upper half alone.
        let keeps = what == Interpolation::P2Half && state.level().is_gfx9();
        let rest = if keeps { state.vgpr(inst.dst, lane) & 0xffff_0000 } else { 0 };
        state.set_vgpr(inst.dst, lane, rest | result);
    }
    Ok(())
}
