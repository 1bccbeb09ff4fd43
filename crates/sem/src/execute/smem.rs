//! Executing scalar memory instructions (manual 8).

use crate::address::{self, Addressing};
use crate::atomic::{Rmw, Unit};
use crate::buffer::Buffer;
use crate::bus::{At, Bus, Fault, FaultKind, Kind, Space};
use crate::inst::Inst;
use crate::scalar::{S32, S64};
use crate::smem::ScalarMemory;

/// Executes a scalar memory instruction.
pub fn execute<B: Bus>(what: ScalarMemory, inst: &Inst, state: &mut B) -> Result<(), Fault> {
    let Addressing::Scalar(fields) = inst.addressing else { return Ok(()) };
    let data = fields.data as u32;
    let range = |state: &B| -> Option<(u64, u64, u64)> {
        let base = fields.base? as u32;
        let register = fields.register.map_or(0, |code| state.sgpr(code as u32));
        let offset = address::scalar_offset(&fields, S32(register)).0;
        // A buffer's descriptor gives base and size; a plain base only an address.
        Some(if fields.buffer {
            let words = std::array::from_fn(|i| S32(state.sgpr(base + i as u32)));
            let buffer = Buffer::new(words, state.level(), true);
            (buffer.base.0 & !3, buffer.scalar_limit().0, offset)
        } else {
            (state.sgpr64(base) & !3, u64::MAX, offset)
        })
    };
    let at = |base: u64, offset: u64| address::scalar::<S32>(S64(base), S64(offset)).0;
    // Beyond the buffer loads give zero, and nothing is stored (manual 8.4).
    let inside = |offset: u64, limit: u64| !fields.buffer || offset < limit;
    match what {
        ScalarMemory::Time => {
            let now = state.time();
            state.set_sgpr64(data, now);
        }
        ScalarMemory::RealTime => {
            let now = state.real_time();
            state.set_sgpr64(data, now);
        }
        ScalarMemory::Cache(kind) => state.cache(Space::Scalar, kind),
        ScalarMemory::Discard { lines } => {
            if let Some((base, _, offset)) = range(state) {
                // The six lowest bits do not count (manual 8.1).
                state.discard(at(base, offset) & !63, lines);
            }
        }
        ScalarMemory::Probe => {}
        ScalarMemory::Load { dwords } | ScalarMemory::Store { dwords } => {
            let store = matches!(what, ScalarMemory::Store { .. });
            let Some((base, limit, offset)) = range(state) else { return Ok(()) };
            // Mostly all of them are there, and behind each other, for no part of their address has low bits.
            let last = offset.checked_add(4 * (dwords as u64 - 1));
            if !store && last.is_some_and(|last| inside(last, limit)) {
                let mut values = [0; 16];
                if let Some(values) = values.get_mut(..dwords as usize)
                    && state.read_dwords(At::wave(Space::Scalar, at(base, offset)), values)
                {
                    state.set_sgprs(data, values);
                    return Ok(());
                }
            }
            for i in 0..dwords as u32 {
                let offset = offset.wrapping_add(4 * i as u64);
                let address = at(base, offset);
                let fault = |kind| Fault::scalar(kind, address);
                let access = At::wave(Space::Scalar, address);
                match (store, inside(offset, limit)) {
                    (false, true) => {
                        let value = state.read(access, 4).map_err(fault)?;
                        state.set_sgpr(data + i, value);
                    }
                    (false, false) => state.set_sgpr(data + i, 0),
                    (true, true) => state.write(access, 4, state.sgpr(data + i)).map_err(fault)?,
                    (true, false) => {}
                }
            }
        }
        ScalarMemory::Atomic { op, bytes } => {
            let Some((base, limit, offset)) = range(state) else { return Ok(()) };
            // As a whole or not at all, like a vector atomic (manual 9.1.5); what comes back is what a load would.
            if fields.buffer && offset.saturating_add(bytes as u64) > limit {
                if inst.returns() {
                    state.set_scalar(data as u8, bytes * 8, 0);
                }
                return Ok(());
            }
            let address = at(base, offset);
            if !address.is_multiple_of(bytes as u64) {
                let fault = FaultKind::Misaligned { bytes: bytes as u32 };
                let at = At::wave(Space::Scalar, address);
                return Err(Fault::scalar(state.refuse(at, bytes, Kind::Atomic(op), fault), address));
            }
            let value = |code: u32| if bytes == 4 { state.sgpr(code) as u64 } else { state.sgpr64(code) };
            let (new, second) = (value(data), value(data + bytes as u32 / 4));
            let rmw = Rmw { op, bytes, data: new, second, unit: Unit::Cache };
            let old = state.update(At::wave(Space::Scalar, address), &rmw);
            let old = old.map_err(|kind| Fault::scalar(kind, address))?;
            if inst.returns() {
                state.set_scalar(data as u8, bytes * 8, old);
            }
        }
    }
    Ok(())
}
