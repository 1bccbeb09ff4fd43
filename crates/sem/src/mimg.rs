//! What an image instruction does, and what its address registers hold (manual 9.3, 9.4).

use crate::atomic::Atomic;
use wavemill_isa::encoding::bits;
use wavemill_isa::{Enc, Inst, Level, Op, Row, flag};

/// What an image instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Texels to registers.
    Load(Transfer),
    /// Registers to texels.
    Store(Transfer),
    /// Read, modify, write.
    Atomic(Atomic),
    /// Sizes of the image.
    Info,
    /// A filtered texel.
    Sample(Address),
    /// Four texels' components; true for four in a row.
    Gather(Address, bool),
    /// The level of detail a sample would have.
    Detail,
}

/// How texels are moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// The address names a level.
    pub level: bool,
    /// Without conversion.
    pub packed: bool,
    /// Small texels are sign-extended.
    pub signed: bool,
}

/// The parts of a sample's address: offset, bias, reference, gradients, coordinates, level or clamp, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Address {
    /// Texel offsets.
    pub offset: bool,
    /// Bias of the level.
    pub bias: bool,
    /// Comparison.
    pub reference: bool,
    /// Gradients, fine or coarse.
    pub gradient: bool,
    /// The level itself.
    pub level: bool,
    /// The level is zero.
    pub zero: bool,
    /// A lower limit of the level.
    pub clamp: bool,
}

impl Address {
    /// From the bits of a sample or gather opcode: three for the level's source, one for the comparison, one for offsets.
    const fn of(code: u16) -> Address {
        let source = code & 7;
        Address {
            offset: code & 16 != 0,
            reference: code & 8 != 0,
            bias: matches!(source, 5 | 6),
            gradient: matches!(source, 2 | 3),
            level: source == 4,
            zero: source == 7,
            clamp: matches!(source, 1 | 3 | 6),
        }
    }
}

const fn transfer(level: bool, packed: bool, signed: bool) -> Transfer {
    Transfer { level, packed, signed }
}

/// What a row of the image encoding does. Samples have the same opcode wherever they exist.
pub fn action(row: &Row) -> Option<Action> {
    if row.enc != Enc::Mimg {
        return None;
    }
    let opcode = [Level::Gfx90a, Level::Gfx900, Level::Gfx6].iter().find_map(|l| row.opcode_at(*l))?;
    Some(match row.op {
        Op::image_load => Action::Load(transfer(false, false, false)),
        Op::image_load_mip => Action::Load(transfer(true, false, false)),
        Op::image_load_pck => Action::Load(transfer(false, true, false)),
        Op::image_load_pck_sgn => Action::Load(transfer(false, true, true)),
        Op::image_load_mip_pck => Action::Load(transfer(true, true, false)),
        Op::image_load_mip_pck_sgn => Action::Load(transfer(true, true, true)),
        Op::image_store => Action::Store(transfer(false, false, false)),
        Op::image_store_mip => Action::Store(transfer(true, false, false)),
        Op::image_store_pck => Action::Store(transfer(false, true, false)),
        Op::image_store_mip_pck => Action::Store(transfer(true, true, false)),
        Op::image_get_resinfo => Action::Info,
        Op::image_get_lod => Action::Detail,
        Op::image_atomic_swap => Action::Atomic(Atomic::Swap),
        Op::image_atomic_cmpswap => Action::Atomic(Atomic::CmpSwap),
        Op::image_atomic_add => Action::Atomic(Atomic::Add),
        Op::image_atomic_sub => Action::Atomic(Atomic::Sub),
        Op::image_atomic_rsub => Action::Atomic(Atomic::Rsub),
        Op::image_atomic_smin => Action::Atomic(Atomic::MinI),
        Op::image_atomic_umin => Action::Atomic(Atomic::MinU),
        Op::image_atomic_smax => Action::Atomic(Atomic::MaxI),
        Op::image_atomic_umax => Action::Atomic(Atomic::MaxU),
        Op::image_atomic_and => Action::Atomic(Atomic::And),
        Op::image_atomic_or => Action::Atomic(Atomic::Or),
        Op::image_atomic_xor => Action::Atomic(Atomic::Xor),
        Op::image_atomic_inc => Action::Atomic(Atomic::Inc),
        Op::image_atomic_dec => Action::Atomic(Atomic::Dec),
        Op::image_atomic_fcmpswap => Action::Atomic(Atomic::CmpSwapF),
        Op::image_atomic_fmin => Action::Atomic(Atomic::MinF),
        Op::image_atomic_fmax => Action::Atomic(Atomic::MaxF),
        Op::image_gather4h => Action::Gather(Address::default(), true),
        _ => match opcode {
            32..64 => Action::Sample(Address::of(opcode - 32)),
            64..96 => Action::Gather(Address::of(opcode - 64), false),
            // Coarse gradients: a bit each for offsets, comparison and clamp.
            104..112 => Action::Sample(Address {
                offset: opcode & 4 != 0,
                reference: opcode & 2 != 0,
                clamp: opcode & 1 != 0,
                gradient: true,
                ..Address::default()
            }),
            _ => return None,
        },
    })
}

/// Components in registers: the mask, of which nothing means the first; a gather has four.
pub fn data_mask(inst: &Inst) -> u32 {
    match bits::MIMG_DMASK.get(inst.bits) {
        _ if inst.row.has(flag::GATHER4) => 15,
        0 => 1,
        mask => mask,
    }
}

/// Whether data has 16 bits.
pub fn short_data(inst: &Inst, level: Level) -> bool {
    level.is_vi_plus() && inst.row.has(flag::D16) && bits::MIMG_D16.get(inst.bits) != 0
}

/// Registers of an image instruction's data; `packs` where two of 16 bits share one.
pub fn data_registers(inst: &Inst, level: Level, packs: bool) -> u8 {
    let n = data_mask(inst).count_ones() as u8;
    if short_data(inst, level) && packs { n.div_ceil(2) } else { n }
}
