//! The vector instructions that code can be made of: AVX-512's, or AVX2's.
//!
//! Strips, liveness and the allocator are the same for both. With AVX-512 a vector has sixteen lanes and a mask is a bit of a
//! mask register for each; with AVX2 it has eight, and a mask is a vector, too, with all bits of a lane set or none.

use crate::opcodes::CROSSING;
use crate::x86::{Asm, Deco, Gpr, Ins, Mem, Rm, whole};
use wavemill_wave::Simd;

/// What the host's vectors are like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Host {
    /// 32 registers of sixteen dwords, and eight mask registers.
    Avx512,
    /// 16 registers of eight dwords.
    Avx2,
}

impl Host {
    /// The one that a back end of the interpreter's is for, if there is code for it.
    pub fn of(simd: Simd) -> Option<Host> {
        match simd {
            Simd::Avx512 => Some(Host::Avx512),
            Simd::Avx2 => Some(Host::Avx2),
            _ => None,
        }
    }

    /// The back end of the interpreter's that is made of the same.
    pub fn simd(self) -> Simd {
        match self {
            Host::Avx512 => Simd::Avx512,
            Host::Avx2 => Simd::Avx2,
        }
    }

    /// Lanes of a vector: as many run at a time.
    pub const fn lanes(self) -> usize {
        match self {
            Host::Avx512 => 16,
            Host::Avx2 => 8,
        }
    }

    /// Which DPP controls there is code for that read lanes which do not run together with theirs.
    pub fn crosses(self) -> fn(u16) -> bool {
        match self {
            Host::Avx512 => |control| CROSSING.contains(&control),
            // Whatever a control is, eight lanes read no more than sixteen.
            Host::Avx2 => |_| true,
        }
    }

    /// Bytes of a vector.
    pub const fn bytes(self) -> i32 {
        self.lanes() as i32 * 4
    }

    /// Vector registers.
    pub const fn vectors(self) -> usize {
        match self {
            Host::Avx512 => 32,
            Host::Avx2 => 16,
        }
    }

    /// Whether masks are in registers of their own.
    pub const fn has_masks(self) -> bool {
        matches!(self, Host::Avx512)
    }

    /// A vector instruction.
    pub fn op(self, asm: &mut Asm, ins: Ins, reg: u8, vvvv: u8, rm: Rm, deco: Deco) {
        match self {
            Host::Avx512 => asm.evex(ins, reg, vvvv, rm, deco),
            Host::Avx2 => asm.vex((ins.map, ins.pp, ins.w, 1), ins.op, reg, vvvv, rm, deco.imm),
        }
    }

    /// A vector from one element in memory.
    pub fn broadcast(self, asm: &mut Asm, ins: Ins, reg: u8, at: Mem) {
        match self {
            Host::Avx512 => asm.evex_element(ins, reg, at),
            // W says nothing there.
            Host::Avx2 => self.op(asm, Ins { w: 0, ..ins }, reg, 0, Rm::Mem(at), Deco::default()),
        }
    }

    /// A vector of a general register's lower half.
    pub fn broadcast_general(self, asm: &mut Asm, reg: u8, from: Gpr) {
        let from = Rm::Reg(from as u8);
        match self {
            Host::Avx512 => asm.evex(whole(2, 1, 0, 0x7c), reg, 0, from, Deco::default()),
            Host::Avx2 => {
                // VMOVD.
                asm.vex((1, 1, 0, 0), 0x6e, reg, 0, from, None);
                self.op(asm, whole(2, 1, 0, 0x58), reg, 0, Rm::Reg(reg), Deco::default());
            }
        }
    }
}
