//! The decoded instruction: what engines execute. Everything that can be known from the encoding and from the registers a
//! wave has is settled in it ([`crate::resolve`]): which meaning it has, where its operands come from, what modifiers do.

use crate::address::Addressing;
use crate::bus::Coherence;
use crate::compare::Compare;
use crate::control::Control;
use crate::family::Family;
use crate::hwreg::mode;
use crate::interp::Interpolation;
use crate::lanemove::{Dpp, LaneMove};
use crate::memory::{Access, CacheControl, Formatted};
use crate::mimg::Action;
use crate::modify::{Change, Merge};
use crate::operand::Src;
use crate::share::{Share, Sync};
use crate::smem::ScalarMemory;
use crate::state::{Allocation, State};
use wavemill_isa::encoding::bits;
use wavemill_isa::row::Access as RowAccess;
use wavemill_isa::{Enc, Form, Kind, Op, Role, Row, flag, regs};

/// SDWA source selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Select {
    /// Which byte or word, or all.
    pub sel: u8,
    /// It is sign-extended.
    pub sext: bool,
}

/// Changes to sources and results, for instructions that have any.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)] // the manual's names
pub struct Modifiers {
    pub neg: u8,
    pub abs: u8,
    /// VOP3P: negate the upper halves.
    pub neg_hi: u8,
    pub op_sel: u8,
    pub op_sel_hi: u8,
    pub sdwa: Option<[Select; 2]>,
    pub dpp: Option<Dpp>,
}

/// What an instruction does: the meaning that an engine executes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Run {
    /// Lane by lane: [`Family::apply`].
    Valu(Family),
    /// Lane by lane into a mask: [`crate::compare`].
    Compare(Compare),
    /// Matrices: [`crate::mfma`].
    Mfma,
    /// Scalar arithmetic.
    Salu,
    /// Between lanes and registers.
    LaneMove(LaneMove),
    /// V_CLREXCP: the exceptions that the vector ALU has gathered.
    ClearExceptions,
    /// Parameter interpolation.
    Interpolate(Interpolation),
    /// Program control and the wave's own state.
    Control(Control),
    /// S_WAITCNT.
    Wait,
    /// Scalar memory.
    ScalarMemory(ScalarMemory),
    /// LDS and GDS.
    Share(Share),
    /// Global wave sync and ordered counts: the wave may have to wait.
    Sync(Sync),
    /// Buffer, flat, global and scratch.
    Memory(Access),
    /// Buffer instructions that convert formats.
    Formatted(Formatted),
    /// Images.
    Image(Action),
    /// Caches.
    Cache(CacheControl),
    /// Nothing takes a compute wave's exports.
    Export,
    /// Nothing.
    Nop,
    /// No instruction has this encoding; its first dword.
    Illegal(u32),
    /// The instruction has no meaning here yet.
    Unsupported,
    /// Decoding stopped here because the memory ends.
    Fetch,
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug)]
pub struct Inst {
    /// What it does.
    pub run: Run,
    /// Which instruction it is.
    pub op: Op,
    /// Its line of the table.
    pub row: &'static Row,
    /// The encoding, registers that the wave does not have replaced.
    pub bits: u64,
    /// Which of the row's encodings.
    pub form: Form,
    /// Length in bytes.
    pub len: u8,
    /// From the block's start, in bytes.
    pub offset: u16,
    /// Sources. Memory: address, data, second data.
    pub src: [Src; 3],
    /// Bits per element of the sources, for modifiers.
    pub src_bits: [u8; 3],
    /// Register of the file for the result, or the data of loads and stores.
    pub dst: u16,
    /// Registers of a vector result.
    pub dst_dwords: u8,
    /// Scalar destination by operand code; 255 for none.
    pub sdst: u8,
    /// Scalar register pair that a carry or select mask comes from.
    pub carry: u8,
    /// CLAMP.
    pub clamp: bool,
    /// OMOD.
    pub omod: u8,
    /// The result is part of its register.
    pub merge: Option<Merge>,
    /// Sources need no modification.
    pub plain: bool,
    /// Changes to sources.
    pub modifiers: Modifiers,
    /// Memory: where.
    pub addressing: Addressing,
    /// Memory: the coherence bits.
    pub coherence: Coherence,
    /// Memory: registers have ECC, so that D16 loads write whole ones.
    pub sramecc: bool,
    /// Two bits of alpha have no sign when they are loaded (GFX6 to GFX8).
    pub unsigned_alpha: bool,
    /// TFE, LWE: the last of `dst_dwords` registers gets a status.
    pub status: bool,
}

impl Inst {
    /// An instruction that does nothing yet.
    pub fn blank(row: &'static Row, word: u64) -> Inst {
        Inst {
            run: Run::Nop,
            op: row.op,
            row,
            bits: word,
            form: Form::Base,
            len: 4,
            offset: 0,
            src: [Src::None; 3],
            src_bits: [32; 3],
            dst: 0,
            dst_dwords: 0,
            sdst: 255,
            carry: regs::VCC as u8,
            clamp: false,
            omod: 0,
            merge: None,
            plain: true,
            modifiers: Modifiers { op_sel_hi: 7, ..Modifiers::default() },
            addressing: Addressing::None,
            coherence: Coherence::default(),
            sramecc: false,
            unsigned_alpha: false,
            status: false,
        }
    }

    /// The instruction as it is encoded.
    pub fn encoded(&self) -> wavemill_isa::Inst {
        wavemill_isa::Inst { row: self.row, form: self.form, len: self.len, bits: self.bits }
    }

    /// Memory: a load whose data goes to LDS, or a store whose data comes from there.
    pub fn uses_lds(&self) -> bool {
        match self.row.enc {
            Enc::Mubuf => {
                self.row.has(flag::LDS_ONLY) || self.row.has(flag::LDS) && bits::MUBUF_LDS.get(self.bits) != 0
            }
            Enc::Global | Enc::Scratch => bits::FLAT_LDS.get(self.bits) != 0,
            _ => false,
        }
    }

    /// Whether an atomic operation on memory returns the old value.
    pub fn returns(&self) -> bool {
        match self.row.enc {
            Enc::Ds => self.row.operand(Role::Vdst).is_some(),
            _ => self.coherence.glc,
        }
    }

    /// Packed f32: operands are pairs of dwords.
    pub fn packed_dwords(&self) -> bool {
        self.row.has(flag::PACKED)
            && self.row.operand(Role::Vdst).is_some_and(|d| d.ty.bits == 32 && d.ty.count == 2)
    }

    /// Whether a vector source has a second dword.
    pub fn is_long(&self, source: usize) -> bool {
        self.src_bits[source] == 64 || self.packed_dwords()
    }

    /// What SDWA, op_sel, neg and abs do to a source.
    pub fn change(&self, i: usize) -> Change {
        let m = &self.modifiers;
        // An accumulating destination is a source without modifiers.
        if self.plain || i == 2 && self.row.operand(Role::Src2).is_none() {
            return Change::None;
        }
        let bit = |mask: u8| mask >> i & 1 != 0;
        let ty = self.row.operands.iter().find(|o| o.role.source_index() == Some(i as u8)).map(|o| o.ty);
        let float = ty.is_some_and(|t| t.kind == Kind::F);
        if self.row.has(flag::PACKED) {
            // op_sel picks the half for the low result, op_sel_hi for the high one; neg_lo and neg_hi follow.
            let (low, high) = (bit(m.op_sel), bit(m.op_sel_hi));
            if self.packed_dwords() {
                // V_PK_MOV_B32 takes its low dword from source 0 and its high one from source 1, each by op_sel.
                let high = if self.op == Op::v_pk_mov_b32 { low } else { high };
                let xor = [(bit(m.neg) as u32) << 31, (bit(m.neg_hi) as u32) << 31];
                return if !low && high && xor == [0; 2] {
                    Change::None
                } else {
                    Change::Dwords { low, high, xor }
                };
            }
            return match ty {
                Some(t) if t.bits == 16 && t.count == 2 => {
                    let sign = (bit(m.neg) as u32) << 15 | (bit(m.neg_hi) as u32) << 31;
                    let xor = if float { sign } else { 0 };
                    if !low && high && xor == 0 { Change::None } else { Change::Halves { low, high, xor } }
                }
                Some(_) if float => Change::sign(1 << 31, false, bit(m.neg)),
                _ => Change::None,
            };
        }
        if self.row.has(flag::MIX) {
            // NEG_HI is ABS here, OP_SEL_HI says the operand is an f16, OP_SEL which half of the register it is.
            let (and, xor) = Change::masks(1 << 31, bit(m.neg_hi), bit(m.neg));
            return match bit(m.op_sel_hi) {
                true => Change::Widen { high: bit(m.op_sel), flush: unfused(self.op), and, xor },
                false => Change::sign(1 << 31, bit(m.neg_hi), bit(m.neg)),
            };
        }
        let half = self.src_bits[i] == 16;
        // Untyped operands that take neg and abs (V_CNDMASK) are f32 to them.
        let masks = Change::masks(if half && float { 0x8000 } else { 1 << 31 }, bit(m.abs), bit(m.neg));
        if let Some(select) = m.sdwa.filter(|_| i < 2) {
            return Change::select(select[i].sel, select[i].sext, masks);
        }
        if half && bit(m.op_sel) {
            return Change::select(5, false, masks);
        }
        match masks {
            (u32::MAX, 0) => Change::None,
            (and, xor) if self.src_bits[i] == 64 => Change::SignHigh { and, xor },
            (and, xor) => Change::Sign { and, xor },
        }
    }

    /// The instruction as it runs in a wave: with M0's index added to registers, if MODE says so.
    #[inline]
    #[must_use]
    pub fn indexed_in(&self, state: &impl State) -> Inst {
        match state.mode() & mode::GPR_IDX_EN {
            0 => *self,
            _ => self.indexed(state.m0(), state.allocation()),
        }
    }

    /// The instruction with M0's index added to the registers it applies to (manual 6.6): what runs while
    /// MODE.GPR_IDX_EN is set.
    #[must_use]
    pub fn indexed(&self, m0: u32, allocation: Allocation) -> Inst {
        let mut out = *self;
        let index = (m0 & 0xff) as u16;
        let limit = allocation.vgprs;
        // A destination that is read as source 2 moves with the destination's bit; MADMK's addend and what V_FMA_MIXHI
        // adds are source 2 themselves.
        let accumulates = self.row.operand(Role::Vdst).is_some_and(|o| o.access == RowAccess::ReadWrite)
            && self.row.operand(Role::Src2).is_none();
        for i in 0..3 {
            let bit = if i == 2 && accumulates { 15 } else { 12 + i };
            // Accumulators, which follow the others in the file, are not indexed.
            if let (Src::Vgpr(r), true) = (self.src[i], m0 >> bit & 1 != 0)
                && r < limit
            {
                let last = r + index + (self.src_bits[i] == 64) as u16;
                out.src[i] = Src::Vgpr(if last < limit { r + index } else { 0 });
            }
        }
        if m0 >> 15 & 1 != 0 && self.dst < limit && self.row.operand(Role::Vdst).is_some() {
            let r = self.dst + index;
            if r + self.dst_dwords.max(1) as u16 <= limit {
                out.dst = r;
            } else {
                // No result is written, not even a carry.
                out.dst = allocation.spare();
                out.sdst = 255;
            }
        }
        out
    }
}

/// gfx900's V_MAD_MIX*.
fn unfused(op: Op) -> bool {
    matches!(op, Op::v_mad_mix_f32 | Op::v_mad_mixlo_f16 | Op::v_mad_mixhi_f16)
}
