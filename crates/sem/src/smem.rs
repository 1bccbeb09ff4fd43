//! Scalar memory: which instruction does what (manual 8).

use crate::atomic::Atomic;
use crate::bus::Kind;
use crate::memory::{self, Access};
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
    /// S_DCACHE_DISCARD: lines of the cache need not be written.
    Discard {
        /// Lines of 64 bytes.
        lines: u8,
    },
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
            Op::s_dcache_discard => ScalarMemory::Discard { lines: 1 },
            Op::s_dcache_discard_x2 => ScalarMemory::Discard { lines: 2 },
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
