//! Scalar memory: loads, stores, atomics, time, the scalar cache (manual 8).

use crate::address::{self, Addressing};
use crate::atomic::{Atomic, Rmw, Unit};
use crate::buffer::Buffer;
use crate::bus::{At, Bus, Fault, FaultKind, Kind, Space};
use crate::inst::Inst;
use crate::memory::{self, Access};
use crate::scalar::{S32, S64};
use wavemill_isa::Op;

/// What a scalar memory instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScalarMemory {
    /// Memory to SGPRs.
    Load {
        /// Registers.
        dwords: u8,
    },
    /// SGPRs to memory.
    Store {
        /// Registers.
        dwords: u8,
    },
    /// Read, modify, write.
    Atomic {
        /// The operation.
        op: Atomic,
        /// Size.
        bytes: u8,
    },
    /// S_MEMTIME.
    Time,
    /// S_MEMREALTIME.
    RealTime,
    /// The scalar cache forgets or writes what it has.
    Cache(Kind),
    /// S_DCACHE_DISCARD: lines of the cache need not be written. Nothing is lost where all writes have been made.
    Discard,
    /// S_ATC_PROBE: asks for a translation, and nothing comes back.
    Probe,
}

impl ScalarMemory {
    /// What an instruction does, if it is one of these.
    pub fn of(op: Op) -> Option<ScalarMemory> {
        let load = |dwords| ScalarMemory::Load { dwords };
        let store = |dwords| ScalarMemory::Store { dwords };
        Some(match op {
            Op::s_load_dword
            | Op::s_load_dword_gfx6
            | Op::s_scratch_load_dword
            | Op::s_buffer_load_dword
            | Op::s_buffer_load_dword_gfx6 => load(1),
            Op::s_load_dwordx2
            | Op::s_load_dwordx2_gfx6
            | Op::s_scratch_load_dwordx2
            | Op::s_buffer_load_dwordx2
            | Op::s_buffer_load_dwordx2_gfx6 => load(2),
            Op::s_load_dwordx4
            | Op::s_load_dwordx4_gfx6
            | Op::s_scratch_load_dwordx4
            | Op::s_buffer_load_dwordx4
            | Op::s_buffer_load_dwordx4_gfx6 => load(4),
            Op::s_load_dwordx8
            | Op::s_load_dwordx8_gfx6
            | Op::s_buffer_load_dwordx8
            | Op::s_buffer_load_dwordx8_gfx6 => load(8),
            Op::s_load_dwordx16
            | Op::s_load_dwordx16_gfx6
            | Op::s_buffer_load_dwordx16
            | Op::s_buffer_load_dwordx16_gfx6 => load(16),
            Op::s_store_dword | Op::s_scratch_store_dword | Op::s_buffer_store_dword => store(1),
            Op::s_store_dwordx2 | Op::s_scratch_store_dwordx2 | Op::s_buffer_store_dwordx2 => store(2),
            Op::s_store_dwordx4 | Op::s_scratch_store_dwordx4 | Op::s_buffer_store_dwordx4 => store(4),
            Op::s_memtime | Op::s_memtime_gfx6 => ScalarMemory::Time,
            Op::s_memrealtime => ScalarMemory::RealTime,
            Op::s_dcache_inv | Op::s_dcache_inv_gfx6 | Op::s_dcache_inv_vol | Op::s_dcache_inv_vol_gfx7 => {
                ScalarMemory::Cache(Kind::Invalidate)
            }
            Op::s_dcache_wb | Op::s_dcache_wb_vol => ScalarMemory::Cache(Kind::WriteBack),
            Op::s_dcache_discard | Op::s_dcache_discard_x2 => ScalarMemory::Discard,
            Op::s_atc_probe | Op::s_atc_probe_buffer => ScalarMemory::Probe,
            _ => match memory::access(op)? {
                Access::Atomic { op, bytes } => ScalarMemory::Atomic { op, bytes },
                Access::Load { .. } | Access::Store { .. } => return None,
            },
        })
    }

    /// Instructions whose offset register counts 64 bytes.
    pub const fn is_scratch(op: Op) -> bool {
        matches!(
            op,
            Op::s_scratch_load_dword
                | Op::s_scratch_load_dwordx2
                | Op::s_scratch_load_dwordx4
                | Op::s_scratch_store_dword
                | Op::s_scratch_store_dwordx2
                | Op::s_scratch_store_dwordx4
        )
    }
}

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
        ScalarMemory::Discard | ScalarMemory::Probe => {}
        ScalarMemory::Load { dwords } | ScalarMemory::Store { dwords } => {
            let store = matches!(what, ScalarMemory::Store { .. });
            let Some((base, limit, offset)) = range(state) else { return Ok(()) };
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
            if !inside(offset, limit) {
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
