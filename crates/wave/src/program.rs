//! Code decoded once: blocks of instructions with their operands resolved against a wave's shape. What an instruction is
//! and means is crate `sem`'s ([`Inst`], [`Run`]); this module finds them in memory and puts them together.

use crate::counters::{CounterClass, Counters};
use crate::mem::Memory;
use crate::state::Wave;
use crate::strip::LaneOps;
use wavemill_isa::{DecodeError, Decoder, Enc, Flow, flag};
pub use wavemill_sem::inst::{Inst, Run};
pub use wavemill_sem::operand::{Special, Src};
use wavemill_sem::resolve::resolve;
pub use wavemill_sem::state::Allocation;

/// What code is made for: the registers a wave has and may write, whether it runs step by step, and whether its last registers
/// matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Layout(u64);

impl Layout {
    /// What a wave's code must be decoded for, as it is now: MODE and STATUS, and what is asked of it, may change it.
    pub fn of(wave: &Wave) -> Layout {
        let Allocation { vgprs, agprs, privileged, .. } = wave.allocation();
        let sgprs = wave.allocation().named_sgprs(wave.level);
        let single = wave.single_steps();
        let accesses = !single && wave.observer.is_some();
        let flags =
            privileged as u64 | (single as u64) << 1 | (accesses as u64) << 2 | (wave.forgets as u64) << 3;
        Layout(vgprs as u64 | (agprs as u64) << 16 | (sgprs as u64) << 32 | flags << 40)
    }

    /// The registers that code may use.
    pub fn allocation(self) -> Allocation {
        Allocation {
            vgprs: self.0 as u16,
            agprs: (self.0 >> 16) as u16,
            sgprs: (self.0 >> 32) as u8,
            privileged: self.0 >> 40 & 1 != 0,
        }
    }

    /// Blocks are single instructions.
    pub fn single(self) -> bool {
        self.0 >> 41 & 1 != 0
    }

    /// Nobody looks at registers but the wave itself ([`Wave::forgets`]).
    pub fn forgets(self) -> bool {
        self.0 >> 43 & 1 != 0
    }

    /// Instructions that access memory are blocks of their own.
    fn accesses(self) -> bool {
        self.0 >> 42 & 1 != 0
    }
}

/// A straight run of instructions, ended by one that may change the PC.
#[derive(Debug)]
pub struct Block {
    /// What it was decoded for.
    pub layout: Layout,
    /// The instructions.
    pub insts: Box<[Inst]>,
    /// The same instructions as the interpreter's kernels want them.
    pub(crate) lane_ops: LaneOps,
    /// Bytes.
    pub len: u32,
    /// It is a single instruction that somebody has to look at.
    pub(crate) stepped: bool,
    /// What the whole block counts.
    pub counters: Counters,
}

impl Block {
    /// Whether its last instruction sets the PC itself.
    pub fn ends_with_control(&self) -> bool {
        self.insts.last().is_some_and(|i| matches!(i.run, Run::Control(_)))
    }

    /// Bytes that it takes: instructions are there twice, for the vector kernels and for all else.
    pub fn bytes(&self) -> usize {
        2 * self.insts.len() * size_of::<Inst>()
    }
}

impl Block {
    /// The code that it was decoded from.
    pub fn code(&self) -> Vec<u8> {
        self.insts.iter().flat_map(|i| i.bits.to_le_bytes().into_iter().take(i.len.into())).collect()
    }
}

const MAX_INSTS: usize = 256;
/// As far as a block can reach: every instruction fits in 64 bits, and the fetch of the last may look at one more.
pub(crate) const MAX_BLOCK_BYTES: u64 = 8 * (MAX_INSTS as u64 + 1);

/// Decodes a block at an address.
pub fn decode_block(decoder: &Decoder, memory: &Memory, pc: u64, layout: Layout) -> Block {
    decode(decoder, memory, pc, layout, if layout.single() { 1 } else { MAX_INSTS })
}

/// Decodes a block of one instruction.
pub fn decode_one(decoder: &Decoder, memory: &Memory, pc: u64, layout: Layout) -> Block {
    decode(decoder, memory, pc, layout, 1)
}

fn decode(decoder: &Decoder, memory: &Memory, pc: u64, layout: Layout, most: usize) -> Block {
    let mut insts = Vec::new();
    let mut counters = Counters::default();
    let mut at = pc;
    let mut stepped = layout.single();
    loop {
        let inst = fetch(decoder, memory, at, layout, at.wrapping_sub(pc) as u16);
        let alone = layout.accesses() && reaches_memory(&inst);
        if alone && !insts.is_empty() {
            break;
        }
        stepped |= alone;
        at = at.wrapping_add(inst.len as u64);
        count(&mut counters, &inst);
        insts.push(inst);
        let ends = match inst.run {
            Run::Control(_) => inst.row.flow != Flow::Next,
            Run::Illegal(_) | Run::Unsupported | Run::Fetch => true,
            _ => false,
        };
        if ends || alone || insts.len() == most {
            break;
        }
    }
    Block {
        layout,
        lane_ops: LaneOps::of(&insts),
        insts: insts.into(),
        len: at.wrapping_sub(pc) as u32,
        stepped,
        counters,
    }
}

/// Whether an instruction accesses memory, or may fault.
fn reaches_memory(inst: &Inst) -> bool {
    matches!(
        inst.run,
        Run::Memory(_)
            | Run::Share(_)
            | Run::Formatted(_)
            | Run::Image(_)
            | Run::ScalarMemory(_)
            | Run::Illegal(_)
            | Run::Unsupported
            | Run::Fetch
    )
}

/// Adds an instruction to the counters.
pub fn count(counters: &mut Counters, inst: &Inst) {
    let class = match inst.run {
        Run::Fetch | Run::Illegal(_) | Run::Unsupported => return,
        Run::Control(_) => CounterClass::Control,
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
    counters.waits += (inst.run == Run::Wait) as u64;
    match inst.row.has(flag::APPROX) {
        true => counters.approximate += 1,
        false => counters.exact += 1,
    }
}

/// Decodes the instruction at an address, `offset` bytes from the start of its block. What cannot be fetched or decoded is
/// an instruction that faults.
pub fn fetch(decoder: &Decoder, memory: &Memory, pc: u64, layout: Layout, offset: u16) -> Inst {
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
        Ok(inst) => Inst { offset, ..resolve(inst, layout.allocation(), decoder.target()) },
        Err(e) => {
            let run = if e == DecodeError::Truncated { Run::Fetch } else { Run::Illegal(word) };
            Inst { run, len: 4, offset, ..Inst::blank(&wavemill_isa::ROWS[0], word as u64) }
        }
    }
}
