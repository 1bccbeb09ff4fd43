//! The shape of a table row: what one line of `isa/*.isa` becomes.

use crate::op::Op;
use crate::target::{self, Level, Processor, Target};

/// The encoding an instruction's row belongs to. VOP1, VOP2 and VOPC rows may have further [`Form`]s.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)] // the manual's own names, chapter 13
pub enum Enc {
    Sop2,
    Sopk,
    Sop1,
    Sopc,
    Sopp,
    Smrd,
    Smem,
    Vop2,
    Vop1,
    Vopc,
    Vintrp,
    Vop3,
    Vop3p,
    Mfma,
    Ds,
    Mubuf,
    Mtbuf,
    Mimg,
    Flat,
    Global,
    Scratch,
    Exp,
}

impl Enc {
    /// Every encoding, in table order.
    pub const ALL: [Enc; 22] = {
        use Enc::*;
        [
            Sop2, Sopk, Sop1, Sopc, Sopp, Smrd, Smem, Vop2, Vop1, Vopc, Vintrp, Vop3, Vop3p, Mfma, Ds, Mubuf,
            Mtbuf, Mimg, Flat, Global, Scratch, Exp,
        ]
    };

    /// The manual's name, as `encoding` lines in `isa/*.isa` spell it.
    pub const fn name(self) -> &'static str {
        [
            "SOP2", "SOPK", "SOP1", "SOPC", "SOPP", "SMRD", "SMEM", "VOP2", "VOP1", "VOPC", "VINTRP", "VOP3",
            "VOP3P", "MFMA", "DS", "MUBUF", "MTBUF", "MIMG", "FLAT", "GLOBAL", "SCRATCH", "EXP",
        ][self as usize]
    }

    /// True for the vector ALU encodings, interpolation included.
    pub const fn is_valu(self) -> bool {
        self as u8 >= Enc::Vop2 as u8 && self as u8 <= Enc::Mfma as u8
    }

    /// True for VOP1, VOP2 and VOPC, whose rows may also be encoded as VOP3, SDWA or DPP.
    pub const fn has_forms(self) -> bool {
        matches!(self, Enc::Vop1 | Enc::Vop2 | Enc::Vopc)
    }
}

/// Which encoding of a row an instruction uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Form {
    /// The row's own encoding.
    Base,
    /// The 64-bit VOP3 form of a VOP1, VOP2 or VOPC row.
    Vop3,
    /// Sub-dword addressing: a second dword selects bytes and words.
    Sdwa,
    /// Data-parallel primitives: a second dword moves data between lanes.
    Dpp,
}

/// What an operand is for, and so which bits of the encoding hold it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Role {
    /// Vector destination.
    Vdst,
    /// Scalar destination: SALU results, VOP3B carry-outs, lanes read into an SGPR.
    Sdst,
    /// VCC in the short forms, any SGPR pair in the VOP3 form: carries and compare results.
    Vcc,
    /// First vector-ALU source.
    Src0,
    /// Second vector-ALU source.
    Src1,
    /// Third vector-ALU source.
    Src2,
    /// First scalar-ALU source.
    Ssrc0,
    /// Second scalar-ALU source.
    Ssrc1,
    /// The mandatory 32-bit constant of MADMK, MADAK and S_SETREG_IMM32.
    K,
    /// 16-bit constant, read as signed.
    Simm16,
    /// 16-bit constant, read as unsigned.
    Uimm16,
    /// 16-bit constant whose bits speak for themselves.
    Imm16,
    /// Branch target: a signed count of dwords from the next instruction.
    Label,
    /// S_WAITCNT's counters.
    Waitcnt,
    /// S_SENDMSG's message.
    Sendmsg,
    /// Hardware register with offset and size.
    Hwreg,
    /// S_SET_GPR_IDX modes.
    GprIdx,
    /// S_ENDPGM's optional constant.
    Endpgm,
    /// Scalar memory data.
    Sdata,
    /// Scalar memory base: an address or a buffer descriptor.
    Sbase,
    /// Offset: an SGPR, a constant, or both. Buffers: the scalar offset.
    Soffset,
    /// S_ATC_PROBE's 7-bit constant in the place of data.
    Simm7,
    /// Interpolation attribute and channel.
    Attr,
    /// Interpolation parameter slot: p10, p20 or p0.
    Slot,
    /// Data-share address.
    Addr,
    /// First data-share datum.
    Data0,
    /// Second data-share datum.
    Data1,
    /// Vector memory data.
    Vdata,
    /// Vector memory address.
    Vaddr,
    /// Buffer or image descriptor.
    Srsrc,
    /// Image sampler.
    Ssamp,
    /// Scalar base address of GLOBAL and SCRATCH.
    Saddr,
    /// Export target.
    Tgt,
    /// Export sources.
    Vsrc0,
    /// Export sources.
    Vsrc1,
    /// Export sources.
    Vsrc2,
    /// Export sources.
    Vsrc3,
}

impl Role {
    /// Every role, in declaration order.
    pub const ALL: [Role; 37] = {
        use Role::*;
        [
            Vdst, Sdst, Vcc, Src0, Src1, Src2, Ssrc0, Ssrc1, K, Simm16, Uimm16, Imm16, Label, Waitcnt,
            Sendmsg, Hwreg, GprIdx, Endpgm, Sdata, Sbase, Soffset, Simm7, Attr, Slot, Addr, Data0, Data1,
            Vdata, Vaddr, Srsrc, Ssamp, Saddr, Tgt, Vsrc0, Vsrc1, Vsrc2, Vsrc3,
        ]
    };

    /// The name used in `isa/*.isa`.
    pub const fn name(self) -> &'static str {
        [
            "vdst", "sdst", "vcc", "src0", "src1", "src2", "ssrc0", "ssrc1", "k", "simm16", "uimm16",
            "imm16", "label", "waitcnt", "sendmsg", "hwreg", "gpr_idx", "endpgm", "sdata", "sbase",
            "soffset", "simm7", "attr", "slot", "addr", "data0", "data1", "vdata", "vaddr", "srsrc", "ssamp",
            "saddr", "tgt", "vsrc0", "vsrc1", "vsrc2", "vsrc3",
        ][self as usize]
    }

    /// 0, 1 or 2 for the vector-ALU sources, which carry the neg, abs and op_sel bits.
    pub const fn source_index(self) -> Option<u8> {
        match self {
            Role::Src0 => Some(0),
            Role::Src1 => Some(1),
            Role::Src2 => Some(2),
            _ => None,
        }
    }
}

/// Whether the instruction reads or writes an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Access {
    /// `:` in the table.
    Read,
    /// `=` in the table.
    Write,
    /// `+` in the table.
    ReadWrite,
}

/// How the bits of a value are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Bits without a number type.
    B,
    /// Signed integer.
    I,
    /// Unsigned integer.
    U,
    /// IEEE float.
    F,
    /// bfloat16.
    Bf,
    /// Not a register: a constant in the encoding.
    Imm,
}

/// An operand's type: kind, bits per element, number of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Ty {
    /// How the bits are read.
    pub kind: Kind,
    /// Bits per element.
    pub bits: u16,
    /// Elements.
    pub count: u8,
}

impl Ty {
    /// Registers the value takes; a 16-bit value takes one.
    pub const fn dwords(self) -> u8 {
        let bits = self.bits as u32 * self.count as u32;
        if bits <= 32 { 1 } else { (bits / 32) as u8 }
    }

    /// True for f16, f32 and f64, packed or not.
    pub const fn is_float(self) -> bool {
        matches!(self.kind, Kind::F)
    }
}

/// Which registers an operand may name, where its role alone does not say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Class {
    /// Whatever the field can encode.
    Any,
    /// A VGPR (or LDS_DIRECT) only.
    Vgpr,
    /// An accumulation VGPR only.
    Agpr,
    /// An SGPR, M0 or an inline constant.
    Scalar,
    /// An SGPR, M0, LDS_DIRECT or any constant: no VGPR.
    Ssrc,
    /// A scalar register: no constant.
    Reg,
    /// Registers and inline constants, no literal.
    NoLit,
    /// The lower half of a VGPR; from GFX9 on, a result leaves the upper half alone.
    Low,
    /// The upper half of a VGPR; a result leaves the lower half alone.
    High,
}

/// One operand of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// What it is for.
    pub role: Role,
    /// Read, written or both.
    pub access: Access,
    /// Its type.
    pub ty: Ty,
    /// Which registers it may be.
    pub class: Class,
}

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $bit:expr, $text:expr;)*) => {
        /// Attributes of a row, one bit each.
        pub mod flag {
            $($(#[$doc])* pub const $name: u32 = 1 << $bit;)*
            /// The attributes with the words the table uses for them.
            pub const NAMES: &[(&str, u32)] = &[$(($text, $name)),*];
        }
    };
}
flags! {
    /// No VOP3 form.
    NO64 = 0, "no64";
    /// The CLAMP bit has a meaning.
    CLAMP = 1, "clamp";
    /// The OMOD field has a meaning.
    OMOD = 2, "omod";
    /// OP_SEL picks halves of 16-bit operands (GFX9).
    OP_SEL = 3, "op_sel";
    /// Interpolation's HIGH bit.
    HIGH = 4, "high";
    /// Has an SDWA form on GFX8.
    SDWA8 = 5, "sdwa8";
    /// Has an SDWA form on GFX9.
    SDWA9 = 6, "sdwa9";
    /// Has a DPP form.
    DPP = 7, "dpp";
    /// Has a 64-bit DPP form (gfx90a, row_newbcast).
    DPP64 = 8, "dpp64";
    /// Packed math: op_sel, op_sel_hi, neg_lo, neg_hi.
    PACKED = 9, "packed";
    /// Mixed precision: op_sel, op_sel_hi, neg, abs.
    MIX = 10, "mix";
    /// Matrix core: cbsz, abid, blgp.
    MFMA = 11, "mfma";
    /// The GLC bit may be set on a scalar memory instruction.
    GLC = 12, "glc";
    /// One 16-bit offset.
    OFFSET = 13, "offset";
    /// Two 8-bit offsets.
    OFFSET2 = 14, "offset2";
    /// The offset is a swizzle pattern.
    SWIZZLE = 15, "swizzle";
    /// May address GDS.
    GDS = 16, "gds";
    /// Always addresses GDS.
    GDS_ONLY = 17, "gds_only";
    /// May load to LDS.
    LDS = 18, "lds";
    /// Always moves data between memory and LDS.
    LDS_ONLY = 19, "lds_only";
    /// May return a fault status (TFE) beside the data.
    TFE = 20, "tfe";
    /// A read-modify-write; GLC asks for the old value.
    ATOMIC = 21, "atomic";
    /// Image gather: four texels of one component.
    GATHER4 = 22, "gather4";
    /// 16-bit components: image data may be, buffer data is. [`Row::dwords`] counts their registers.
    D16 = 23, "d16";
    /// Compare-and-swap: twice the data.
    CMPSWAP = 24, "cmpswap";
    /// An atomic that returns the old value on gfx90a only.
    NORET = 25, "noret";
    /// Does not look at EXEC.
    NOEXEC = 26, "noexec";
    /// Written with `_e32` although it has no other encoding.
    E32 = 27, "e32";
    /// The sources are swapped on their way in, so that src0 cannot be LDS_DIRECT.
    REV = 28, "rev";
    /// The hardware promises an error bound, not bits; our result is within it.
    APPROX = 30, "approx";
    /// SCC (gfx90a) is not encoded: the atomic is never system coherent.
    NOSCC = 29, "noscc";
    /// A dot product, whose result is forwarded to its own kind only (gfx90a).
    DOT = 31, "dot";
}

/// State an instruction reads or writes without naming it.
pub mod state {
    /// Scalar condition code.
    pub const SCC: u16 = 1;
    /// Vector condition code.
    pub const VCC: u16 = 2;
    /// Execute mask.
    pub const EXEC: u16 = 4;
    /// M0.
    pub const M0: u16 = 8;
    /// MODE: rounding, denormals, IEEE, DX10_CLAMP, indexing, the branch stack's pointer.
    pub const MODE: u16 = 16;
    /// FLAT_SCRATCH.
    pub const FLAT_SCRATCH: u16 = 32;
    /// M0 where it bounds the addresses of LDS (up to GFX8) or holds the base of GDS.
    pub const LDS_LIMIT: u16 = 64;
    /// STATUS: privilege, halt, priority, the debugger's conditions.
    pub const STATUS: u16 = 128;
    /// The first two of the trap handler's temporaries.
    pub const TTMP: u16 = 256;
    /// M0 counts on from the source's register (the relative moves).
    pub const M0_SRC: u16 = 512;
    /// M0 counts on from the destination's register.
    pub const M0_DST: u16 = 1024;
    /// Names, as the table has them.
    pub const NAMES: &[(&str, u16)] = &[
        ("scc", SCC),
        ("vcc", VCC),
        ("exec", EXEC),
        ("m0", M0),
        ("mode", MODE),
        ("flat_scratch", FLAT_SCRATCH),
        ("lds_limit", LDS_LIMIT),
        ("status", STATUS),
        ("ttmp", TTMP),
        ("m0_src", M0_SRC),
        ("m0_dst", M0_DST),
    ];
}

/// Outstanding-work counters.
pub mod counter {
    /// Vector memory.
    pub const VM: u16 = 1;
    /// LDS, GDS, constants (scalar memory) and messages.
    pub const LGKM: u16 = 2;
    /// Exports and GDS.
    pub const EXP: u16 = 4;
    /// Names, as the table has them.
    pub const NAMES: &[(&str, u16)] = &[("vm", VM), ("lgkm", LGKM), ("exp", EXP)];
}

/// What becomes of caches: which ones, and what is done.
pub mod cache {
    /// The instruction cache.
    pub const CODE: u16 = 1;
    /// The scalar data cache.
    pub const SCALAR: u16 = 2;
    /// The vector L1 cache.
    pub const L1: u16 = 4;
    /// The L2 cache.
    pub const L2: u16 = 8;
    /// Lines are invalidated.
    pub const INV: u16 = 16;
    /// Dirty lines are written back.
    pub const WB: u16 = 32;
    /// Volatile lines only.
    pub const VOL: u16 = 64;
    /// Names, as the table has them.
    pub const NAMES: &[(&str, u16)] =
        &[("code", CODE), ("scalar", SCALAR), ("l1", L1), ("l2", L2), ("inv", INV), ("wb", WB), ("vol", VOL)];
}

/// Where execution goes after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Flow {
    /// To the next one.
    Next,
    /// To the next one, but the wave may have to stop, or code be fetched again: barriers, sleep, halts, messages.
    Stop,
    /// To a label.
    Branch,
    /// To a label or to the next one.
    Cond,
    /// To an address in a register.
    Jump,
    /// To a label or an address in a register, with the way back in a register.
    Call,
    /// To the trap handler.
    Trap,
    /// Both ways, one after the other, if lanes disagree: the branch stack is pushed (manual 4.6).
    Fork,
    /// To the next one, or to the other way of a fork: the branch stack is popped.
    Join,
    /// Nowhere: the wave ends.
    End,
}

impl Flow {
    /// Every one.
    pub const ALL: [Flow; 10] = {
        use Flow::*;
        [Next, Stop, Branch, Cond, Jump, Call, Trap, Fork, Join, End]
    };

    /// The name used in `isa/*.isa`.
    pub const fn name(self) -> &'static str {
        ["next", "stop", "branch", "cond", "jump", "call", "trap", "fork", "join", "end"][self as usize]
    }
}

/// What an instruction does to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum MemKind {
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Read, modify, write.
    Atomic,
}

impl MemKind {
    /// Every one.
    pub const ALL: [MemKind; 3] = [MemKind::Load, MemKind::Store, MemKind::Atomic];

    /// The name used in `isa/*.isa`.
    pub const fn name(self) -> &'static str {
        ["load", "store", "atomic"][self as usize]
    }

    /// Memory is read.
    pub const fn reads(self) -> bool {
        !matches!(self, MemKind::Store)
    }

    /// Memory is written.
    pub const fn writes(self) -> bool {
        !matches!(self, MemKind::Load)
    }
}

/// A row's access to memory: `mem=` in the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Mem {
    /// What is done.
    pub kind: MemKind,
    /// Bytes at each place; 0 where a format or an image's descriptor decides.
    pub bytes: u8,
    /// Places: two for DS_READ2 and its like.
    pub places: u8,
}

/// Marks a level on which a row does not exist.
pub const ABSENT: u16 = 0xffff;

/// One instruction: a line of the table.
#[derive(Debug)]
pub struct Row {
    /// Mnemonic without an encoding suffix.
    pub name: &'static str,
    /// The row's identity, to match on.
    pub op: Op,
    /// Its encoding.
    pub enc: Enc,
    /// Opcode at each [`Level`], or [`ABSENT`].
    pub opcode: [u16; 8],
    /// Operands in assembly order.
    pub operands: &'static [Operand],
    /// Bits of [`flag`].
    pub flags: u32,
    /// Sources that take neg and abs in the VOP3 form, a bit each.
    pub neg: u8,
    /// Sources that take sext in the VOP3 form's place of neg, a bit each (only their SDWA form uses it).
    pub sext: u8,
    /// Image address widths, bit n set for n+1 registers.
    pub addr: u16,
    /// Implicitly read [`state`].
    pub reads: u16,
    /// Implicitly written [`state`].
    pub writes: u16,
    /// [`counter`]s it holds until it is done.
    pub counters: u16,
    /// Its access to memory.
    pub mem: Option<Mem>,
    /// Where execution goes on.
    pub flow: Flow,
    /// What it does to caches: bits of [`cache`].
    pub cache: u16,
    /// Passes of four cycles that a matrix instruction takes (manual 7.2); 0 for others.
    pub passes: u8,
    /// Section of the MI200 manual, or empty.
    pub section: &'static str,
}

impl Row {
    /// The opcode at a level, if the instruction exists there.
    pub const fn opcode_at(&self, level: Level) -> Option<u16> {
        let op = self.opcode[level as usize];
        if op == ABSENT { None } else { Some(op) }
    }

    /// The opcode on a processor. A generic one has the instructions that are the same on all that it covers.
    pub fn opcode_on(&self, cpu: &Processor) -> Option<u16> {
        let own = self.opcode_at(cpu.level)?;
        let mut levels = cpu.covers.iter().filter_map(|name| target::processor(name)).map(|p| p.level);
        levels.all(|level| self.opcode_at(level) == Some(own)).then_some(own)
    }

    /// True when any of `bits` of [`flag`] is set.
    pub const fn has(&self, bits: u32) -> bool {
        self.flags & bits != 0
    }

    /// The operand in a role.
    pub fn operand(&self, role: Role) -> Option<&Operand> {
        self.operands.iter().find(|o| o.role == role)
    }

    /// Registers an operand takes on a target: the 16-bit components of a buffer instruction have a register each on
    /// most of GFX8, and share them two by two elsewhere.
    pub fn dwords(&self, operand: &Operand, target: &Target) -> u8 {
        let dwords = operand.ty.dwords();
        let d16 =
            self.has(flag::D16) && matches!(self.enc, Enc::Mubuf | Enc::Mtbuf) && operand.role == Role::Vdata;
        if d16 && target.packs_d16() { dwords.div_ceil(2) } else { dwords }
    }

    /// Whether the row can be encoded in a form at a level.
    pub const fn has_form(&self, form: Form, level: Level) -> bool {
        if self.opcode[level as usize] == ABSENT {
            return false;
        }
        match form {
            Form::Base => true,
            Form::Vop3 => {
                self.enc.has_forms() && !self.has(flag::NO64)
                    || matches!(self.enc, Enc::Vintrp) && level.is_vi_plus()
            }
            Form::Sdwa => match level {
                Level::Gfx6 | Level::Gfx7 => false,
                Level::Gfx8 => self.has(flag::SDWA8),
                _ => self.has(flag::SDWA9),
            },
            Form::Dpp => {
                level.is_vi_plus() && self.has(flag::DPP)
                    || matches!(level, Level::Gfx90a) && self.has(flag::DPP64)
            }
        }
    }
}
