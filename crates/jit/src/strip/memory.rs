//! Loads and stores in strips.
//!
//! What a load gets is an input of the strip's program. Accesses of the lanes of a strip happen some lanes at a time, so that
//! their order between lanes is not the instructions'. That of loads nobody can tell, unless they ask for coherence, by which
//! lanes may have agreed on something: those are not for strips. A store is the last of a strip's accesses, and nothing of
//! what it writes to, memory or LDS, is loaded in the strip: what other lanes load before it, they may load later here. One
//! that stores twice (DS_WRITE2) does both for a lane before it goes to the next. An address that depends on what the strip loads itself is the next strip's.

use super::Recorder;
use crate::input::Input;
use wavemill_sem::address::Addressing;
use wavemill_sem::inst::{Inst, Run};
use wavemill_sem::memory::{Access as What, Extend};
use wavemill_sem::operand::Src;
use wavemill_sem::record::Value;
use wavemill_sem::share::{PairAction, Share, pair_offsets};

/// Accesses that a strip may have.
pub const MOST: usize = 16;

/// Where lanes access memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneAddress {
    /// At an address of two words, low and high, plus a constant.
    Memory {
        /// The lower half.
        low: Value,
        /// The upper half.
        high: Value,
        /// What is added.
        constant: i32,
    },
    /// At a base in two scalar registers plus an unsigned word and a constant.
    Based {
        /// The first register.
        base: u8,
        /// The word.
        offset: Value,
        /// What is added.
        constant: i32,
    },
    /// In LDS, at a word plus a constant.
    Share {
        /// The word.
        offset: Value,
        /// What is added.
        constant: u32,
    },
}

/// What is done there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// [`Input::Loaded`]; less than a dword is extended.
    Load {
        /// With the sign.
        signed: bool,
    },
    /// These dwords, or the lowest bytes of the first, are stored.
    Store([Value; 4]),
}

/// An access of the active lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Where.
    pub place: LaneAddress,
    /// What.
    pub action: Action,
    /// Bytes of a lane: 1, 2, 4, 8, 12 or 16.
    pub bytes: u8,
    /// The active lanes.
    pub active: Value,
    /// Which instruction of the strip it is.
    pub at: usize,
}

impl Access {
    /// Registers that it loads or stores.
    pub fn dwords(&self) -> usize {
        (self.bytes as usize).div_ceil(4)
    }

    /// Whether it stores.
    pub fn stores(&self) -> bool {
        matches!(self.action, Action::Store(_))
    }
}

/// What an instruction of a strip does to memory: its accesses are all loads or one store, of so many bytes.
enum Kind {
    Load { bytes: u8, signed: bool },
    Store { bytes: u8 },
    StorePair { bytes: u8 },
}

/// Whether it is a load or store that strips have.
pub fn suits(inst: &Inst) -> bool {
    kind(inst).is_some()
}

fn kind(inst: &Inst) -> Option<Kind> {
    let plain = |what: What| match what {
        What::Load { bytes, extend: Extend::Zero } => Some(Kind::Load { bytes, signed: false }),
        What::Load { bytes, extend: Extend::Sign } => Some(Kind::Load { bytes, signed: true }),
        What::Store { bytes, high: false } => Some(Kind::Store { bytes }),
        _ => None,
    };
    let coherent = inst.coherence.glc || inst.coherence.slc || inst.coherence.scc;
    if coherent || inst.status || inst.uses_lds() || !matches!(inst.src[0], Src::Vgpr(_)) {
        return None;
    }
    let kind = match (inst.run, inst.addressing) {
        (Run::Memory(what), Addressing::Global { .. } | Addressing::Flat { .. }) => plain(what)?,
        (Run::Share(Share::Access(what)), Addressing::Share { gds: false, .. }) => plain(what)?,
        (
            Run::Share(Share::Pair { bytes, action: PairAction::Read, .. }),
            Addressing::Share { gds: false, .. },
        ) => Kind::Load { bytes, signed: false },
        (
            Run::Share(Share::Pair { bytes, action: PairAction::Write, .. }),
            Addressing::Share { gds: false, .. },
        ) => Kind::StorePair { bytes },
        _ => return None,
    };
    let known = |bytes: u8| matches!(bytes, 1 | 2 | 4 | 8 | 12 | 16);
    match kind {
        Kind::Load { bytes, .. } if known(bytes) => Some(kind),
        Kind::Store { bytes } if known(bytes) && matches!(inst.src[1], Src::Vgpr(_)) => Some(kind),
        Kind::StorePair { bytes: 4 | 8 } if inst.src[1..].iter().all(|s| matches!(s, Src::Vgpr(_))) => {
            Some(kind)
        }
        _ => None,
    }
}

impl Recorder {
    /// Whether a load or store may come next.
    pub(super) fn access_may_follow(&self, inst: &Inst) -> bool {
        let Src::Vgpr(address) = inst.src[0] else { return false };
        let wide = matches!(inst.addressing, Addressing::Flat { .. } | Addressing::Global { base: None, .. });
        let known = |r: u16| !self.loaded.contains(&r);
        let base_is_number = match inst.addressing {
            Addressing::Global { base: Some(base), .. } => {
                base < 126
                    && self.keeps_scalars(3 << base, 0)
                    && self.masks.iter().all(|&(m, _)| m.abs_diff(base) > 1)
            }
            _ => true,
        };
        let share = |a: &Access| matches!(a.place, LaneAddress::Share { .. });
        let in_share = matches!(inst.addressing, Addressing::Share { .. });
        let overtakes = matches!(kind(inst), Some(Kind::Store { .. } | Kind::StorePair { .. }))
            && self.accesses.iter().any(|a| share(a) == in_share);
        !self.stored
            && !overtakes
            && !self.exec_loaded
            && self.accesses.len() + 2 <= MOST
            && known(address)
            && (!wide || known(address + 1))
            && base_is_number
    }

    /// Records a load or store.
    pub(super) fn access(&mut self, inst: &Inst, at: usize) -> bool {
        let (Some(kind), Src::Vgpr(address)) = (kind(inst), inst.src[0]) else { return false };
        let offset = self.vgpr(address).0;
        let places = match (inst.addressing, inst.run) {
            (Addressing::Global { offset: constant, base: Some(base) }, _) => {
                self.numbers |= 3 << base;
                [Some(LaneAddress::Based { base, offset, constant }), None]
            }
            (Addressing::Global { offset: constant, base: None }, _) => {
                let high = self.vgpr(address + 1).0;
                [Some(LaneAddress::Memory { low: offset, high, constant }), None]
            }
            // Addresses in apertures are no memory's.
            (Addressing::Flat { offset: constant }, _) => {
                let high = self.vgpr(address + 1).0;
                [Some(LaneAddress::Memory { low: offset, high, constant: constant as i32 }), None]
            }
            (Addressing::Share { offset: two, .. }, Run::Share(Share::Pair { step, .. })) => {
                pair_offsets(two, step).map(|constant| Some(LaneAddress::Share { offset, constant }))
            }
            (Addressing::Share { offset: constant, .. }, _) => {
                [Some(LaneAddress::Share { offset, constant: constant as u32 }), None]
            }
            _ => return false,
        };
        let active = self.exec.0;
        match kind {
            Kind::Load { bytes, signed } => {
                let mut dst = inst.dst;
                for place in places.into_iter().flatten() {
                    let number = 4 * self.accesses.len() as u16;
                    let access = Access { place, action: Action::Load { signed }, bytes, active, at };
                    self.accesses.push(access);
                    for i in 0..access.dwords() as u16 {
                        self.write(dst + i, Input::Loaded(number + i).word());
                        self.note_loaded(dst + i, true);
                    }
                    dst += access.dwords() as u16;
                }
            }
            Kind::Store { bytes } => {
                let (Some(place), Src::Vgpr(data)) = (places[0], inst.src[1]) else { return false };
                let action = self.store_of(data, bytes);
                self.accesses.push(Access { place, action, bytes, active, at });
                self.stored = true;
            }
            Kind::StorePair { bytes } => {
                for (place, data) in places.into_iter().zip(&inst.src[1..]) {
                    let (Some(place), Src::Vgpr(data)) = (place, *data) else { return false };
                    let action = self.store_of(data, bytes);
                    self.accesses.push(Access { place, action, bytes, active, at });
                }
                self.stored = true;
            }
        }
        true
    }

    /// A store of so many bytes from a register on.
    fn store_of(&mut self, data: u16, bytes: u8) -> Action {
        let mut values = [Value(0); 4];
        for (i, value) in values.iter_mut().take((bytes as usize).div_ceil(4)).enumerate() {
            *value = self.vgpr(data + i as u16).0;
        }
        Action::Store(values)
    }

    /// Notes whether a register depends on what the strip loads. What is not written in all lanes keeps what it had.
    pub(super) fn note_loaded(&mut self, register: u16, depends: bool) {
        let known = self.loaded.iter().position(|&r| r == register);
        match known {
            None if depends => self.loaded.push(register),
            Some(i) if !depends && self.full => _ = self.loaded.swap_remove(i),
            _ => {}
        }
    }

    /// Whether the results of a vector instruction depend on what the strip loads.
    pub(super) fn depends_on_loads(&self, inst: &Inst) -> bool {
        if self.loaded.is_empty() && self.loaded_masks.is_empty() {
            return false;
        }
        let register = |r: u16| self.loaded.contains(&r);
        let source = inst.src.iter().enumerate().any(|(i, s)| match *s {
            Src::Vgpr(r) => {
                let dwords =
                    if inst.is_long(i) { 2 } else { u16::from(inst.src_bits[i]).div_ceil(32).max(1) };
                (r..r + dwords).any(register)
            }
            _ => false,
        });
        source
            || self.exec_loaded
            || self.loaded_masks.contains(&inst.carry)
            || (inst.merge.is_some() && register(inst.dst))
    }

    /// The same of a mask that it writes.
    pub(super) fn note_loaded_mask(&mut self, code: u8, depends: bool) {
        self.loaded_masks.retain(|&m| m != code);
        if depends {
            self.loaded_masks.push(code);
        }
    }
}
