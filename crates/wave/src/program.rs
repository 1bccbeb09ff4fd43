//! Code decoded once: blocks of instructions with their operands resolved against a wave's shape.

use crate::confine;
use crate::engine::{CounterClass, Counters};
use crate::interp::data_registers;
use crate::mem::Memory;
use crate::state::{Shape, Wave};
use crate::strip::LaneOps;
use wavemill_isa::encoding::bits;
use wavemill_isa::row::{Access, Class, Flow, state};
use wavemill_isa::{
    DecodeError, Decoder, Enc, Form, Kind, Level, Op, Operand, Role, Row, Target, Ty, flag, regs,
};
use wavemill_sem::compare::Compare;
use wavemill_sem::fidelity::{self, Family, Fidelity};
use wavemill_sem::gws::Request;
use wavemill_sem::memory::Access as MemAccess;
use wavemill_sem::modify::Merge;
use wavemill_sem::{interp, memory, mfma, salu};

/// Where a source comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Src {
    /// Nothing.
    None,
    /// Register of the file.
    Vgpr(u16),
    /// Scalar register by operand code, below 128.
    Sgpr(u8),
    /// A constant, extended to the operand's width.
    Const(u64),
    /// Apertures, VCCZ, EXECZ, SCC, LDS_DIRECT: by operand code.
    Special(u8),
}

/// SDWA source selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Select {
    pub sel: u8,
    pub sext: bool,
}

/// Changes to sources and results, for instructions that have any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Modifiers {
    pub neg: u8,
    pub abs: u8,
    /// VOP3P: negate the upper halves.
    pub neg_hi: u8,
    pub op_sel: u8,
    pub op_sel_hi: u8,
    pub sdwa: Option<[Select; 2]>,
    /// DPP control, row mask << 4 | bank mask, bound control.
    pub dpp: Option<(u16, u8, bool)>,
}

/// How an instruction is executed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Run {
    /// Lane by lane.
    Valu(Family),
    Compare(Compare),
    /// Vector instructions about registers.
    Registers,
    Mfma,
    Salu,
    Control,
    ScalarMemory,
    Lds,
    /// Global wave sync and ordered counts: the wave may have to wait.
    Gws,
    Memory,
    /// Buffer instructions that convert formats.
    Formatted,
    Image,
    Interpolate,
    Nop,
    /// S_WAITCNT.
    Wait,
    Illegal(u32),
    Unsupported,
    /// Decoding stopped here because the memory ends.
    Fetch,
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inst {
    pub run: Run,
    pub op: Op,
    pub row: &'static Row,
    pub bits: u64,
    pub form: Form,
    pub len: u8,
    /// From the block's start, in bytes.
    pub offset: u16,
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
    pub clamp: bool,
    pub omod: u8,
    /// The result is part of its register.
    pub merge: Option<Merge>,
    /// Sources need no modification.
    pub plain: bool,
    pub modifiers: Modifiers,
    /// Memory: what moves.
    pub access: Option<MemAccess>,
    /// Memory: registers have ECC, so that D16 loads write whole ones.
    pub sramecc: bool,
    /// TFE, LWE: the last of `dst_dwords` registers gets a status.
    pub status: bool,
}

/// What code is decoded for: the registers a wave has and may write, and whether it runs step by step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct Layout(u64);

impl Layout {
    pub fn of(wave: &Wave) -> Layout {
        let Shape { vgprs, agprs } = wave.shape;
        let flags = wave.privileged() as u64 | (wave.single_steps() as u64) << 1;
        Layout(vgprs as u64 | (agprs as u64) << 16 | (wave.sgpr_limit() as u64) << 32 | flags << 40)
    }

    pub fn shape(self) -> Shape {
        Shape { vgprs: self.0 as u16, agprs: (self.0 >> 16) as u16 }
    }

    /// Scalar registers that can be named sN.
    pub fn sgprs(self) -> u32 {
        (self.0 >> 32) as u32 & 0xff
    }

    /// The trap handler's registers may be written.
    pub fn privileged(self) -> bool {
        self.0 >> 40 & 1 != 0
    }

    /// Blocks are single instructions.
    pub fn single(self) -> bool {
        self.0 >> 41 & 1 != 0
    }
}

/// A straight run of instructions, ended by one that may change the PC.
#[derive(Debug)]
pub(crate) struct Block {
    pub layout: Layout,
    pub insts: Box<[Inst]>,
    /// The same instructions as the vector kernels want them.
    pub lane_ops: LaneOps,
    /// Bytes.
    pub len: u32,
    pub counters: Counters,
}

const MAX_INSTS: usize = 256;

/// Decodes a block at an address.
pub(crate) fn decode_block(decoder: &Decoder, memory: &Memory, pc: u64, layout: Layout) -> Block {
    let most = if layout.single() { 1 } else { MAX_INSTS };
    let mut insts = Vec::new();
    let mut counters = Counters::default();
    let mut at = pc;
    loop {
        let inst = fetch(decoder, memory, at, layout, at.wrapping_sub(pc) as u16);
        at = at.wrapping_add(inst.len as u64);
        count(&mut counters, &inst);
        insts.push(inst);
        let ends = match inst.run {
            Run::Control => inst.row.flow != Flow::Next,
            Run::Illegal(_) | Run::Unsupported | Run::Fetch => true,
            _ => false,
        };
        if ends || insts.len() == most {
            break;
        }
    }
    Block {
        layout,
        lane_ops: LaneOps::of(&insts),
        insts: insts.into(),
        len: at.wrapping_sub(pc) as u32,
        counters,
    }
}

/// Adds an instruction to the counters.
pub(crate) fn count(counters: &mut Counters, inst: &Inst) {
    let class = match inst.run {
        Run::Fetch | Run::Illegal(_) | Run::Unsupported => return,
        Run::Control => CounterClass::Control,
        _ => match inst.row.enc {
            Enc::Sop2 | Enc::Sopk | Enc::Sop1 | Enc::Sopc => CounterClass::Salu,
            Enc::Sopp => CounterClass::Control,
            Enc::Smrd | Enc::Smem => CounterClass::Smem,
            Enc::Mfma => CounterClass::Mfma,
            Enc::Ds => CounterClass::Lds,
            Enc::Vintrp | Enc::Exp => CounterClass::Export,
            e if e.is_valu() => CounterClass::Valu,
            _ => CounterClass::Vmem,
        },
    };
    counters.class[class as usize] += 1;
    counters.waits += (inst.op == Op::s_waitcnt) as u64;
    match inst.row.has(flag::APPROX) {
        true => counters.approximate += 1,
        false => counters.exact += 1,
    }
}

fn fetch(decoder: &Decoder, memory: &Memory, pc: u64, layout: Layout, offset: u16) -> Inst {
    let mut code = [0u8; 8];
    let whole = memory.read(pc, &mut code);
    let bytes = if whole {
        &code[..]
    } else if memory.read(pc, &mut code[..4]) {
        &code[..4]
    } else {
        &[]
    };
    let word = u32::from_le_bytes([code[0], code[1], code[2], code[3]]);
    match decoder.decode_bytes(bytes) {
        Ok(mut inst) => {
            let level = decoder.target().level();
            let results = confine::confine(&mut inst, layout, level);
            let target = *decoder.target();
            let mut out = Resolver { inst, shape: layout.shape(), target, level, offset }.resolve();
            results.apply(&mut out, layout);
            out
        }
        Err(e) => {
            let run = if e == DecodeError::Truncated { Run::Fetch } else { Run::Illegal(word) };
            Inst { run, len: 4, offset, ..Inst::blank(&wavemill_isa::ROWS[0], word as u64) }
        }
    }
}

impl Inst {
    /// The instruction as it is encoded.
    pub fn encoded(&self) -> wavemill_isa::Inst {
        wavemill_isa::Inst { row: self.row, form: self.form, len: self.len, bits: self.bits }
    }

    /// A load whose data goes to LDS.
    pub fn goes_to_lds(&self) -> bool {
        match self.row.enc {
            Enc::Mubuf => {
                self.row.has(flag::LDS_ONLY) || self.row.has(flag::LDS) && bits::MUBUF_LDS.get(self.bits) != 0
            }
            Enc::Global | Enc::Scratch => bits::FLAT_LDS.get(self.bits) != 0,
            _ => false,
        }
    }

    /// An atomic operation on memory that returns the old value.
    pub fn returns(&self) -> bool {
        let glc = if self.row.enc == Enc::Mubuf { bits::BUF_GLC } else { bits::FLAT_GLC };
        glc.get(self.bits) != 0
    }

    fn blank(row: &'static Row, bits: u64) -> Inst {
        Inst {
            run: Run::Nop,
            op: row.op,
            row,
            bits,
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
            access: None,
            sramecc: false,
            status: false,
        }
    }
}

struct Resolver {
    inst: wavemill_isa::Inst,
    shape: Shape,
    target: Target,
    level: Level,
    offset: u16,
}

impl Resolver {
    fn resolve(&self) -> Inst {
        let row = self.inst.row;
        let mut out = Inst {
            form: self.inst.form,
            len: self.inst.len,
            offset: self.offset,
            ..Inst::blank(row, self.inst.bits)
        };
        out.run = self.run();
        match row.enc {
            Enc::Sop2 | Enc::Sop1 | Enc::Sopc | Enc::Sopk | Enc::Sopp => self.scalar(&mut out),
            e if e.is_valu() => self.vector(&mut out),
            Enc::Ds | Enc::Mubuf | Enc::Mtbuf | Enc::Flat | Enc::Global | Enc::Scratch => {
                self.memory(&mut out)
            }
            Enc::Mimg => self.image(&mut out),
            _ => {}
        }
        out
    }

    fn run(&self) -> Run {
        let (row, op) = (self.inst.row, self.inst.row.op);
        if fidelity::fidelity(row) == Fidelity::Unsupported {
            return Run::Unsupported;
        }
        match row.enc {
            Enc::Sop2 | Enc::Sop1 | Enc::Sopc | Enc::Sopk | Enc::Sopp => match op {
                Op::s_waitcnt => Run::Wait,
                Op::s_nop | Op::s_ttracedata | Op::s_wakeup => Run::Nop,
                _ if salu::salu(op, 0, 0, 0, false, 0).is_some() => Run::Salu,
                _ => Run::Control,
            },
            Enc::Smem | Enc::Smrd => Run::ScalarMemory,
            Enc::Vopc => Compare::of(row).map_or(Run::Unsupported, Run::Compare),
            Enc::Mfma if mfma::shape(op).is_some() => Run::Mfma,
            Enc::Ds if Request::of(op).is_some() || op == Op::ds_ordered_count => Run::Gws,
            Enc::Ds => Run::Lds,
            Enc::Mubuf | Enc::Flat | Enc::Global | Enc::Scratch if fidelity::cache(op) => Run::Nop,
            Enc::Mimg => Run::Image,
            // Nothing takes a compute wave's exports.
            Enc::Exp => Run::Nop,
            _ if interp::known(op) => Run::Interpolate,
            Enc::Mubuf | Enc::Mtbuf if memory::formatted(op).is_some() => Run::Formatted,
            Enc::Mubuf | Enc::Flat | Enc::Global | Enc::Scratch => Run::Memory,
            _ if op == Op::v_nop => Run::Nop,
            _ if fidelity::registers(op) => Run::Registers,
            _ => fidelity::family(op).map_or(Run::Unsupported, Run::Valu),
        }
    }

    /// The file's register for vN, or for out-of-range ones v0 (sources).
    fn vgpr(&self, n: u32, dwords: u8, acc: bool) -> u16 {
        let (base, count) = if acc { (self.shape.vgprs, self.shape.agprs) } else { (0, self.shape.vgprs) };
        if n + dwords as u32 <= count as u32 { base + n as u16 } else { 0 }
    }

    /// The file's register for a destination; out-of-range ones go to the spare registers.
    fn vdst(&self, n: u32, dwords: u8, acc: bool) -> u16 {
        let (base, count) = if acc { (self.shape.vgprs, self.shape.agprs) } else { (0, self.shape.vgprs) };
        if n + dwords as u32 <= count as u32 { base + n as u16 } else { self.shape.vgprs + self.shape.agprs }
    }

    /// A source field that may name anything.
    fn source(&self, code: u32, ty: Ty, acc: bool) -> Src {
        match code {
            256.. => Src::Vgpr(self.vgpr(code - 256, ty.dwords(), acc)),
            0..=127 => Src::Sgpr(code as u8),
            128..=208 => {
                let n = if code <= 192 { code as i64 - 128 } else { 192 - code as i64 };
                Src::Const(n as u64)
            }
            240..=248 => {
                let f = regs::INLINE_FLOATS[code as usize - 240];
                Src::Const(match (ty.bits, self.inst.row.enc) {
                    (_, Enc::Mfma) if ty.bits != 64 => f.1 as u64,
                    (64, _) => f.2,
                    (16, _) => f.0 as u64,
                    _ => f.1 as u64 | (f.1 as u64) << 32,
                })
            }
            255 => Src::Const(self.literal(ty)),
            _ => Src::Special(code as u8),
        }
    }

    /// The literal, extended to 64 bits (manual 6.2.1.1).
    fn literal(&self, ty: Ty) -> u64 {
        let n = bits::LITERAL.get(self.inst.bits);
        match (ty.kind, ty.bits) {
            (Kind::F, 64) => (n as u64) << 32,
            (Kind::I, 64) => n as i32 as i64 as u64,
            _ => n as u64,
        }
    }

    fn scalar(&self, out: &mut Inst) {
        for o in self.inst.row.operands {
            let code = self.inst.field_of(o).get(self.inst.bits);
            match o.role {
                Role::Sdst => {
                    if o.access != Access::Read {
                        out.sdst = code as u8;
                    }
                    // SOPK reads its register as the first source.
                    if o.access != Access::Write && self.inst.row.enc == Enc::Sopk {
                        out.src[0] = Src::Sgpr(code as u8);
                    }
                }
                Role::Ssrc0 => out.src[0] = self.source(code, o.ty, false),
                Role::Ssrc1 => out.src[1] = self.source(code, o.ty, false),
                Role::Simm16 => out.src[1] = Src::Const(code as u16 as i16 as i64 as u64),
                Role::Uimm16 => out.src[1] = Src::Const(code as u64),
                Role::K => out.src[1] = Src::Const(bits::LITERAL.get(self.inst.bits) as u64),
                _ => {}
            }
            if matches!(o.role, Role::Ssrc0 | Role::Sdst) && o.ty.bits == 64 {
                out.src_bits[if o.role == Role::Sdst { 2 } else { 0 }] = 64;
            }
            if o.role == Role::Ssrc1 && o.ty.bits == 64 {
                out.src_bits[1] = 64;
            }
        }
    }

    fn vector(&self, out: &mut Inst) {
        let (inst, row) = (&self.inst, self.inst.row);
        let word = inst.bits;
        let mfma = row.enc == Enc::Mfma;
        let (mut next, mut k_seen, mut missing) = (0, false, false);
        for o in row.operands {
            let code = inst.field_of(o).get(word);
            match o.role {
                Role::Vdst => {
                    let acc = o.class == Class::Agpr || mfma && self.cd_is_acc(word);
                    out.dst = self.vdst(code, o.ty.dwords(), acc);
                    out.dst_dwords = o.ty.dwords();
                    missing = out.dst == self.shape.vgprs + self.shape.agprs;
                    if o.access == Access::ReadWrite && row.op != Op::v_swap_b32 {
                        out.src[2] = Src::Vgpr(self.vgpr(code, o.ty.dwords(), acc));
                        out.src_bits[2] = o.ty.bits as u8;
                    }
                }
                Role::Sdst => out.sdst = code as u8,
                Role::Vcc if o.access == Access::Read => {
                    out.carry = if inst.form == Form::Vop3 { code as u8 } else { regs::VCC as u8 };
                }
                Role::Vcc => {
                    out.sdst = match inst.form {
                        Form::Vop3 => code as u8,
                        Form::Sdwa
                            if row.enc == Enc::Vopc
                                && self.level.is_gfx9()
                                && bits::SDWA_SD.get(word) != 0 =>
                        {
                            bits::SDWA_SDST.get(word) as u8
                        }
                        _ => regs::VCC as u8,
                    };
                }
                Role::K => {
                    out.src[next] = Src::Const(bits::LITERAL.get(word) as u64);
                    out.src_bits[next] = o.ty.bits as u8;
                    next += 1;
                    k_seen = true;
                }
                Role::Src0 | Role::Src1 | Role::Src2 => {
                    // MADMK's constant comes between its sources.
                    let slot = if k_seen { next } else { o.role.source_index().unwrap_or(0) as usize };
                    let acc = o.class == Class::Agpr || mfma && self.source_is_acc(word, slot);
                    out.src[slot] = self.vector_source(o, code, slot, acc);
                    out.src_bits[slot] = o.ty.bits as u8;
                    next = slot + 1;
                }
                _ => {}
            }
        }
        if row.writes & state::VCC != 0 && out.sdst == 255 {
            out.sdst = regs::VCC as u8;
        }
        // Of two destinations both are written or none (manual 3.6.1).
        if missing {
            out.sdst = 255;
        }
        if let (Op::v_swap_b32, Some(o)) = (row.op, row.operand(Role::Src0)) {
            let code = inst.field_of(o).get(word) & 0xff;
            if missing || code >= self.shape.vgprs as u32 {
                out.src[0] = Src::None;
            }
        }
        self.modifiers(out);
    }

    /// MFMA: whether C and D are accumulators.
    fn cd_is_acc(&self, word: u64) -> bool {
        self.level != Level::Gfx90a || bits::MFMA_ACC_CD.get(word) != 0
    }

    fn source_is_acc(&self, word: u64, slot: usize) -> bool {
        if slot == 2 { self.cd_is_acc(word) } else { bits::MFMA_ACC.get(word) >> slot & 1 != 0 }
    }

    fn vector_source(&self, o: &Operand, code: u32, slot: usize, acc: bool) -> Src {
        let word = self.inst.bits;
        let vgpr = |n: u32| Src::Vgpr(self.vgpr(n, o.ty.dwords(), acc));
        match self.inst.form {
            Form::Sdwa => {
                let shift = 8 * slot as u8;
                let scalar = self.level.is_gfx9() && word >> (bits::SDWA_S.lo + shift) & 1 != 0;
                if scalar { self.source(code, o.ty, false) } else { vgpr(code & 0xff) }
            }
            Form::Dpp => vgpr(code & 0xff),
            // An eight-bit field names a VGPR, but for the lane number of GFX6's and GFX7's short V_READLANE.
            _ if self.inst.field_of(o).width == 8
                && !self.inst.is_vop3_layout()
                && o.class != Class::Scalar =>
            {
                vgpr(code)
            }
            // V_FMA_MIX constants are f32 unless op_sel_hi says the operand is f16.
            _ if self.inst.row.has(flag::MIX) => {
                let hi = bits::VOP3P_OP_SEL_HI.get(word) | bits::VOP3P_OP_SEL_HI2.get(word) << 2;
                let ty = Ty { bits: if hi >> slot & 1 != 0 { 16 } else { 32 }, ..o.ty };
                self.source(code, ty, acc)
            }
            _ => self.source(code, o.ty, acc),
        }
    }

    fn modifiers(&self, out: &mut Inst) {
        let (inst, row) = (&self.inst, self.inst.row);
        let word = inst.bits;
        let m = &mut out.modifiers;
        match inst.form {
            Form::Sdwa => {
                let select = |slot: u8| {
                    let f = |field: wavemill_isa::Field| (word >> (field.lo + 8 * slot)) as u8;
                    Select { sel: f(bits::SDWA_SEL) & 7, sext: f(bits::SDWA_SEXT) & 1 != 0 }
                };
                m.sdwa = Some([select(0), select(1)]);
                for slot in 0..2 {
                    m.neg |= ((word >> (bits::SDWA_NEG.lo + 8 * slot) & 1) as u8) << slot;
                    m.abs |= ((word >> (bits::SDWA_ABS.lo + 8 * slot) & 1) as u8) << slot;
                }
                if row.enc != Enc::Vopc || !self.level.is_gfx9() {
                    out.clamp = bits::SDWA_CLAMP.get(word) != 0;
                }
                if row.enc != Enc::Vopc {
                    out.omod = if self.level.is_gfx9() { bits::SDWA_OMOD.get(word) as u8 } else { 0 };
                    out.merge =
                        Merge::sdwa(bits::SDWA_DST_SEL.get(word) as u8, bits::SDWA_DST_U.get(word) as u8);
                }
            }
            Form::Dpp => {
                let mask = bits::DPP_ROW.get(word) << 4 | bits::DPP_BANK.get(word);
                m.dpp = Some((bits::DPP_CTRL.get(word) as u16, mask as u8, bits::DPP_BOUND.get(word) != 0));
                let na = bits::DPP_NEG_ABS.get(word) as u8;
                m.neg = (na & 1 | na >> 1 & 2) & row.neg;
                m.abs = (na >> 1 & 1 | na >> 2 & 2) & row.neg;
            }
            _ if row.enc == Enc::Mfma => return,
            _ if row.enc == Enc::Vop3p => {
                m.op_sel = bits::VOP3P_OP_SEL.get(word) as u8;
                m.op_sel_hi = (bits::VOP3P_OP_SEL_HI.get(word) | bits::VOP3P_OP_SEL_HI2.get(word) << 2) as u8;
                m.neg = bits::VOP3_NEG.get(word) as u8;
                m.neg_hi = bits::VOP3P_NEG_HI.get(word) as u8;
                out.clamp = bits::VOP3_CLAMP.get(word) != 0;
                if matches!(row.op, Op::v_accvgpr_read_b32 | Op::v_accvgpr_write_b32) {
                    *m = Modifiers { op_sel_hi: 7, ..Modifiers::default() };
                }
            }
            _ if inst.is_vop3_layout() => {
                // VOP3B has the scalar destination where ABS, OP_SEL and (below GFX8) CLAMP are.
                let b = row.operands.iter().any(|o| {
                    matches!(o.role, Role::Vcc | Role::Sdst)
                        && o.access != Access::Read
                        && row.enc != Enc::Vopc
                        && row.operand(Role::Vdst).is_some()
                });
                m.neg = bits::VOP3_NEG.get(word) as u8 & row.neg;
                out.omod = bits::VOP3_OMOD.get(word) as u8;
                if self.level.is_vi_plus() {
                    out.clamp = bits::VOP3_CLAMP.get(word) != 0;
                } else {
                    out.clamp = !b && bits::VOP3_CLAMP_SI.get(word) != 0;
                }
                if !b {
                    m.abs = bits::VOP3_ABS.get(word) as u8 & row.neg;
                    if row.has(flag::OP_SEL) && self.level.is_gfx9() {
                        m.op_sel = bits::VOP3_OP_SEL.get(word) as u8;
                    }
                }
            }
            _ => {}
        }
        self.merge(out);
        let m = &out.modifiers;
        let (op_sel_hi, used) = match row.has(flag::PACKED | flag::MIX) {
            true => (m.op_sel_hi, row.operands.iter().filter_map(|o| o.role.source_index()).count()),
            false => (7, 0),
        };
        let mask = (1u8 << used) - 1;
        out.plain = m.neg | m.abs | m.neg_hi | m.op_sel & 7 == 0
            && op_sel_hi & mask == mask
            && m.sdwa.is_none()
            && m.dpp.is_none()
            && !row.has(flag::MIX);
    }

    /// What becomes of the other half of a 16-bit result's register.
    fn merge(&self, out: &mut Inst) {
        let row = self.inst.row;
        let Some(d) = row.operand(Role::Vdst) else { return };
        if d.ty.bits != 16 || d.ty.count != 1 || self.inst.form == Form::Sdwa {
            return;
        }
        let high = out.modifiers.op_sel & 8 != 0;
        out.merge = match d.class {
            Class::High => Some(Merge::HIGH),
            // GFX8 zeroes the upper half, as it does for all (LLVM's `zeroesHigh16BitsOfDest`).
            Class::Low if self.level.is_gfx9() => Some(Merge::LOW),
            _ if row.has(flag::OP_SEL) && self.level.is_gfx9() => {
                Some(if high { Merge::HIGH } else { Merge::LOW })
            }
            _ => None,
        };
    }

    /// Image instructions: how many registers the data has, the mask says; the address has as many as the image wants.
    fn image(&self, out: &mut Inst) {
        let (inst, word) = (&self.inst, self.inst.bits);
        let gfx90a = self.level == Level::Gfx90a;
        let acc = gfx90a && bits::MIMG_ACC.get(word) != 0;
        let data = data_registers(out, self.level.is_vi_plus(), self.target.packs_d16());
        out.status = !gfx90a && bits::MIMG_TFE.get(word) != 0 || bits::MIMG_LWE.get(word) != 0;
        out.dst_dwords = data + out.status as u8;
        let code = inst.get(Role::Vdata);
        out.dst = self.vdst(code, out.dst_dwords, acc);
        out.src[1] = Src::Vgpr(self.vgpr(code, data, acc));
        out.src[0] = Src::Vgpr(self.vgpr(inst.get(Role::Vaddr), 1, false));
    }

    fn memory(&self, out: &mut Inst) {
        let (inst, row) = (&self.inst, self.inst.row);
        let word = inst.bits;
        out.sramecc = self.target.sramecc_enabled();
        out.access = memory::access(row.op).map(|a| if out.sramecc { a.with_ecc() } else { a });
        let acc = self.level == Level::Gfx90a
            && match row.enc {
                Enc::Ds => bits::DS_ACC.get(word) != 0,
                Enc::Mubuf | Enc::Mtbuf => bits::BUF_ACC.get(word) != 0,
                _ => bits::FLAT_ACC.get(word) != 0,
            };
        // Where gfx90a says that data is in accumulators, others ask for a status behind the data.
        out.status = self.level != Level::Gfx90a
            && matches!(row.enc, Enc::Mubuf | Enc::Mtbuf)
            && row.operand(Role::Vdata).is_some()
            && bits::BUF_TFE.get(word) != 0;
        for o in row.operands {
            let code = inst.field_of(o).get(word);
            let dwords = row.dwords(o, &self.target);
            match o.role {
                // Sources: address, data, second data. Destination: where loads and returned values go.
                Role::Addr | Role::Vaddr => out.src[0] = Src::Vgpr(self.vgpr(code, 1, false)),
                Role::Data0 => out.src[1] = Src::Vgpr(self.vgpr(code, dwords, acc)),
                Role::Data1 => out.src[2] = Src::Vgpr(self.vgpr(code, dwords, acc)),
                Role::Vdata => {
                    out.src[1] = Src::Vgpr(self.vgpr(code, dwords, acc));
                    // Flat and global atomics return elsewhere than where their data is.
                    if row.operand(Role::Vdst).is_none() {
                        out.dst_dwords = dwords + out.status as u8;
                        out.dst = self.vdst(code, out.dst_dwords, acc);
                    }
                }
                Role::Vdst => out.dst = self.vdst(code, dwords, acc),
                _ => {}
            }
        }
        // A 64-bit address needs two registers, an offset beside an SGPR base one; which, the instance says.
        if let Some(o) = row.operand(Role::Vaddr) {
            let n = inst.get(Role::Vaddr);
            let wide = match row.enc {
                Enc::Flat => true,
                Enc::Global => inst.get(Role::Saddr) == 0x7f,
                Enc::Mubuf | Enc::Mtbuf => {
                    bits::BUF_OFFEN.get(word) + bits::BUF_IDXEN.get(word) == 2
                        || !self.level.is_vi_plus() && bits::BUF_ADDR64.get(word) != 0
                }
                _ => false,
            };
            let _ = o;
            out.src[0] = Src::Vgpr(self.vgpr(n, 1 + wide as u8, false));
        }
    }
}
