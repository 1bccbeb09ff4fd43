//! Loads and stores in strips.
//!
//! What a load gets is an input of the strip's program. Accesses of the lanes of a strip happen some lanes at a time, so that
//! their order between lanes is not the instructions'. That of loads nobody can tell, unless they ask for coherence, by which
//! lanes may have agreed on something: those are not for strips. A store is the last of a strip's accesses. Where it writes
//! to what the strip loads from, memory or LDS, all lanes load before any stores ([`Strip::ahead`](super::Strip)). One
//! that stores twice (DS_WRITE2) does both for a lane before it goes to the next. Of buffers, those are for strips that are a
//! piece of memory, which is seen when they run; what they looked like when a block was compiled says whether to try. Elements are
//! converted from and to the format that they had then; whether they still have it is seen when they run, too. An address that depends
//! on what the strip loads itself is the next strip's.

use super::{Recorder, Setting};
use crate::input::Input;
use wavemill_sem::address::{Addressing, BufferFields};
use wavemill_sem::buffer::Buffer;
use wavemill_sem::element::{Element, Parts};
use wavemill_sem::execute::transfer::element;
use wavemill_sem::format::Format;
use wavemill_sem::inst::{Inst, Run};
use wavemill_sem::lanes::{Word, w};
use wavemill_sem::memory::{Access as What, Extend, Formatted};
use wavemill_sem::operand::Src;
use wavemill_sem::record::{Value, WordValue};
use wavemill_sem::scalar::S32;
use wavemill_sem::share::{PairAction, Share, pair_offsets};

/// Accesses that a strip may have.
pub const MOST: usize = 16;
/// Accesses that an instruction may have: the dwords of a lane in private memory.
const MOST_OF_ONE: usize = 4;
/// FLAT_SCRATCH's operand code.
pub const FLAT_SCRATCH: u8 = 102;

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
    /// In a buffer that is a piece of memory, at a word plus a constant.
    Buffer {
        /// The first of the scalar registers with the resource.
        resource: u8,
        /// A scalar register, or a constant.
        scalar: Src,
        /// The word.
        offset: Value,
        /// What is added.
        constant: u32,
        /// What the resource's [`FORMAT`] bits must be, if they matter.
        format: Option<u32>,
    },
    /// In the lanes' private memory, at a word that [`swizzled`] has made plus a constant.
    Private {
        /// Where it begins.
        base: PrivateBase,
        /// The word.
        offset: Value,
        /// What is added.
        constant: u32,
    },
}

/// Where private memory begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrivateBase {
    /// Where FLAT_SCRATCH says.
    Wave,
    /// Where a buffer does that keeps a dword of each lane together, and a scalar offset.
    Buffer {
        /// The first of the scalar registers with the resource.
        resource: u8,
        /// A scalar register, or a constant.
        scalar: Src,
    },
}

impl LaneAddress {
    /// Whether it is in LDS.
    pub fn in_share(&self) -> bool {
        matches!(self, LaneAddress::Share { .. })
    }

    /// Whether it is in private memory.
    pub fn is_private(&self) -> bool {
        matches!(self, LaneAddress::Private { .. })
    }

    /// The value that lanes' offsets are, from what is the same for all of them; none of whole addresses.
    pub fn offset(&self) -> Option<Value> {
        match *self {
            LaneAddress::Memory { .. } => None,
            LaneAddress::Based { offset, .. }
            | LaneAddress::Share { offset, .. }
            | LaneAddress::Buffer { offset, .. }
            | LaneAddress::Private { offset, .. } => Some(offset),
        }
    }
}

/// What is beyond any private memory that strips access: the greatest number of a lane's dword, and the bytes of all before it.
const MOST_DWORDS: u32 = 0x7f_ffff;
/// See [`MOST_DWORDS`].
pub const MOST_PRIVATE: u32 = MOST_DWORDS << 8;

/// Where a lane's byte is in private memory, a dword per lane (`sem`'s `swizzled`). An access that might cross a dword, or that
/// is too far off, is where no memory is, but for the interpreter.
fn swizzled(offset: WordValue, bytes: u8) -> WordValue {
    // Of dwords, no byte but the first is good, of halves neither is the second, nor the last.
    let crossing = match bytes {
        1 => w(0),
        2 => offset.shl(w(31)),
        _ => offset.shl(w(30)),
    };
    let dword = (offset.shr(w(2)) | crossing).min_u(w(MOST_DWORDS));
    let lane = Input::LaneNumber.word().shl(w(2));
    match bytes {
        1 | 2 => dword.shl(w(8)) + lane + (offset & w(3)),
        _ => dword.shl(w(8)) + lane,
    }
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

    /// How many bytes on the next lane's is where lanes follow each other.
    pub fn step(&self) -> u8 {
        if self.place.is_private() { 4 } else { self.bytes }
    }

    /// Whether it stores.
    pub fn stores(&self) -> bool {
        matches!(self.action, Action::Store(_))
    }
}

/// The bits of a resource's fourth dword that say what its elements are: selects, number format and data format.
pub const FORMAT: u32 = 0x7_ffff;

/// Resources that are looked at.
const MOST_FORMATS: usize = 8;

/// The last dwords that resources of buffers have when a block is compiled, by their first registers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Formats {
    known: [Option<(u8, u32)>; MOST_FORMATS],
}

impl Formats {
    /// Notes one, if there is room.
    pub fn note(&mut self, resource: u8, last: u32) {
        let free = |known: &&mut Option<(u8, u32)>| known.is_none_or(|(code, _)| code == resource);
        if let Some(known) = self.known.iter_mut().find(free) {
            *known = Some((resource, last));
        }
    }

    /// What an instruction makes of the elements of its buffer, if that is known, and they are of a size that accesses have.
    fn element(&self, what: Formatted, inst: &Inst, setting: &Setting) -> Option<(Element, u32)> {
        let fields = inst.addressing.buffer()?;
        let (_, last) = self.known.iter().flatten().find(|(code, _)| *code == fields.resource)?;
        // All else that there is to a buffer is looked at when code runs.
        let words = [S32(1), S32(0), S32(0), S32(*last)];
        let element = element(what, inst, &Buffer::new(words, setting.level, true));
        let bytes = element.format?.bytes();
        // Eight lanes of three dwords each go one by one, which the interpreter does better.
        let quick = bytes != 12 || setting.together > 8;
        (is_size(bytes) && quick).then_some((element, last & FORMAT))
    }
}

/// Whether accesses can have so many bytes.
fn is_size(bytes: u8) -> bool {
    matches!(bytes, 1 | 2 | 4 | 8 | 12 | 16)
}

/// What an instruction of a strip does to memory: its accesses are all loads or one store, of so many bytes.
enum Kind {
    Load { bytes: u8, extend: Extend },
    Store { bytes: u8, high: bool },
    StorePair { bytes: u8 },
    Formatted(Formatted),
}

/// Whether it is a load or store that strips have.
pub fn suits(inst: &Inst) -> bool {
    kind(inst).is_some()
}

fn kind(inst: &Inst) -> Option<Kind> {
    let plain = |what: What| match what {
        What::Load { bytes, extend } => Some(Kind::Load { bytes, extend }),
        What::Store { bytes, high } => Some(Kind::Store { bytes, high }),
        What::Atomic { .. } => None,
    };
    let coherent = inst.coherence.glc || inst.coherence.slc || inst.coherence.scc;
    let address = match inst.addressing {
        Addressing::Buffer(BufferFields { offen: false, .. })
        | Addressing::Scratch { base: Some(0..FLAT_SCRATCH), .. } => true,
        _ => matches!(inst.src[0], Src::Vgpr(_)),
    };
    if coherent || inst.status || inst.uses_lds() || !address {
        return None;
    }
    let kind = match (inst.run, inst.addressing) {
        (
            Run::Memory(what),
            Addressing::Global { .. } | Addressing::Flat { .. } | Addressing::Scratch { .. },
        ) => plain(what)?,
        (Run::Memory(what), Addressing::Buffer(fields)) if is_linear(&fields) => plain(what)?,
        (Run::Formatted(what), Addressing::Buffer(fields)) if is_linear(&fields) => Kind::Formatted(what),
        (Run::Share(Share::Access(what)), Addressing::Share { gds: false, .. }) => plain(what)?,
        (
            Run::Share(Share::Pair { bytes, action: PairAction::Read, .. }),
            Addressing::Share { gds: false, .. },
        ) => Kind::Load { bytes, extend: Extend::Zero },
        (
            Run::Share(Share::Pair { bytes, action: PairAction::Write, .. }),
            Addressing::Share { gds: false, .. },
        ) => Kind::StorePair { bytes },
        _ => return None,
    };
    match kind {
        Kind::Load { bytes, .. } if is_size(bytes) => Some(kind),
        Kind::Store { bytes, .. } if is_size(bytes) && matches!(inst.src[1], Src::Vgpr(_)) => Some(kind),
        Kind::Formatted(what) if !what.store || matches!(inst.src[1], Src::Vgpr(_)) => Some(kind),
        Kind::StorePair { bytes: 4 | 8 } if inst.src[1..].iter().all(|s| matches!(s, Src::Vgpr(_))) => {
            Some(kind)
        }
        _ => None,
    }
}

/// Whether a buffer instruction's lanes have nothing but offsets.
fn is_linear(fields: &BufferFields) -> bool {
    let scalar =
        matches!(fields.scalar, Src::Const(_)) || matches!(fields.scalar, Src::Sgpr(code) if code < 128);
    !fields.idxen && !fields.addr64 && fields.resource < 124 && scalar
}

/// Scalar registers that an access's address is made of, as bits.
fn scalars(addressing: &Addressing) -> u128 {
    match addressing {
        Addressing::Global { base: Some(base), .. } => 3 << base,
        Addressing::Buffer(fields) => {
            let scalar = if let Src::Sgpr(code) = fields.scalar { 1 << (code & 127) } else { 0 };
            15 << fields.resource | scalar
        }
        Addressing::Scratch { base, .. } => 3 << FLAT_SCRATCH | base.map_or(0, |code| 1 << (code & 127)),
        _ => 0,
    }
}

impl Recorder {
    /// Whether a load or store may come next.
    pub(super) fn access_may_follow(&self, inst: &Inst, setting: &Setting) -> bool {
        let wide = matches!(inst.addressing, Addressing::Flat { .. } | Addressing::Global { base: None, .. });
        let known = |r: u16| !self.loaded.contains(&r);
        let known_address = match inst.src[0] {
            Src::Vgpr(address) => known(address) && (!wide || known(address + 1)),
            _ => true,
        };
        let suits = match inst.addressing {
            Addressing::Global { base: Some(base), .. } => base < 126,
            // Before GFX8 the stride of a buffer counts without an index, too.
            Addressing::Buffer(fields) => {
                let is = |resources: u128| resources >> fields.resource & 1 != 0;
                let suits = match inst.run {
                    Run::Formatted(what) => {
                        setting.formats.element(what, inst, setting).is_some() && !is(setting.swizzled)
                    }
                    _ => is(setting.private) || !is(setting.swizzled),
                };
                setting.level.is_vi_plus() && suits
            }
            Addressing::Scratch { .. } => setting.level.is_gfx9(),
            _ => true,
        };
        let numbers = scalars(&inst.addressing);
        !self.stored
            && !self.exec_loaded
            // The hopeful version loads before it knows that it was right, and what it has not checked it must not load.
            && !self.exec_hoped
            && self.accesses.len() + MOST_OF_ONE <= MOST
            && known_address
            && suits
            && self.keeps_scalars(numbers, 0)
            && self.masks.iter().all(|&(m, _)| 3 << m & numbers == 0)
    }

    /// Records a load or store.
    pub(super) fn access(&mut self, inst: &Inst, setting: &Setting, at: usize) -> bool {
        let kind = match kind(inst) {
            Some(Kind::Formatted(what)) => return self.access_formatted(inst, what, setting, at),
            Some(kind) => kind,
            None => return false,
        };
        if let Some((base, offset)) = self.private(inst, setting) {
            self.access_private(inst, &kind, base, offset, at);
            return true;
        }
        let (address, offset) = match (inst.src[0], inst.addressing) {
            (_, Addressing::Buffer(BufferFields { offen: false, .. })) => (0, WordValue::splat(0).0),
            (Src::Vgpr(address), _) => (address, self.vgpr(address).0),
            _ => return false,
        };
        self.numbers |= scalars(&inst.addressing);
        let places = match (inst.addressing, inst.run) {
            (Addressing::Global { offset: constant, base: Some(base) }, _) => {
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
            (Addressing::Buffer(BufferFields { resource, scalar, offset: constant, .. }), _) => {
                let (constant, format) = (u32::from(constant), None);
                [Some(LaneAddress::Buffer { resource, scalar, offset, constant, format }), None]
            }
            _ => return false,
        };
        let active = self.exec.0;
        let in_share = matches!(inst.addressing, Addressing::Share { .. });
        let stores = matches!(kind, Kind::Store { .. } | Kind::StorePair { .. });
        self.ahead |= stores && self.accesses.iter().any(|a| a.place.in_share() == in_share);
        match kind {
            Kind::Load { bytes, extend } => {
                let signed = extend.signed();
                let mut dst = inst.dst;
                for place in places.into_iter().flatten() {
                    let number = 4 * self.accesses.len() as u16;
                    let access = Access { place, action: Action::Load { signed }, bytes, active, at };
                    self.accesses.push(access);
                    for i in 0..access.dwords() as u16 {
                        let loaded = Input::Loaded(number + i).word();
                        let value = extend.placed(loaded, || self.vgpr(dst + i));
                        self.write(dst + i, value);
                        self.note_loaded(dst + i, true);
                    }
                    dst += access.dwords() as u16;
                }
            }
            Kind::Store { bytes, high } => {
                let (Some(place), Src::Vgpr(data)) = (places[0], inst.src[1]) else { return false };
                let mut values = self.dwords_of(data, bytes);
                if high {
                    values[0] = WordValue(values[0]).shr(w(16)).0;
                }
                let action = Action::Store(values);
                self.accesses.push(Access { place, action, bytes, active, at });
                self.stored = true;
            }
            Kind::StorePair { bytes } => {
                let mut stores = Vec::with_capacity(2);
                for (place, data) in places.into_iter().zip(&inst.src[1..]) {
                    let (Some(place @ LaneAddress::Share { constant, .. }), Src::Vgpr(data)) = (place, *data)
                    else {
                        return false;
                    };
                    stores.push((constant, place, self.dwords_of(data, bytes)));
                }
                // Where lanes' numbers lie side by side and the second ones meet other lanes' first ones, the lane that is
                // later wins: the upper ones come first. Two of a lane in one place come as they are.
                if stores[0].0 < stores[1].0 {
                    stores.swap(0, 1);
                }
                if stores[0].0 - stores[1].0 == u32::from(bytes) {
                    // Mostly lanes follow each other with both: one number of twice the size.
                    let (upper, (_, place, mut values)) = (stores[0].2, stores[1]);
                    let dwords = bytes as usize / 4;
                    values[dwords..2 * dwords].copy_from_slice(&upper[..dwords]);
                    let (action, bytes) = (Action::Store(values), 2 * bytes);
                    self.accesses.push(Access { place, action, bytes, active, at });
                } else {
                    for (_, place, values) in stores {
                        let action = Action::Store(values);
                        self.accesses.push(Access { place, action, bytes, active, at });
                    }
                }
                self.stored = true;
            }
            Kind::Formatted(_) => return false,
        }
        true
    }

    /// Records a load or store of elements, and what it makes of them.
    fn access_formatted(&mut self, inst: &Inst, what: Formatted, setting: &Setting, at: usize) -> bool {
        let Addressing::Buffer(BufferFields { resource, scalar, offset: constant, offen, .. }) =
            inst.addressing
        else {
            return false;
        };
        let Some((element, format)) = setting.formats.element(what, inst, setting) else {
            return false;
        };
        let offset = match inst.src[0] {
            Src::Vgpr(address) if offen => self.vgpr(address).0,
            _ => WordValue::splat(0).0,
        };
        self.numbers |= scalars(&inst.addressing);
        // An instruction may have a format of its own.
        let format = element.select.map(|_| format);
        let place = LaneAddress::Buffer { resource, scalar, offset, constant: constant.into(), format };
        let bytes = element.format.map_or(0, Format::bytes);
        let access = Access { place, action: Action::Load { signed: false }, bytes, active: self.exec.0, at };
        match what.store {
            true => self.store_element(inst, &element, access),
            false => self.load_element(inst, &element, access),
        }
    }

    fn load_element(&mut self, inst: &Inst, element: &Element, access: Access) -> bool {
        let number = 4 * self.accesses.len() as u16;
        self.accesses.push(access);
        let mut words = [[w(0)]; 4];
        for (i, word) in (0..).zip(&mut words[..access.dwords()]) {
            *word = [Input::Loaded(number + i).word()];
        }
        let mut registers = [[w(0)]; 4];
        if let Parts::HighHalf { .. } = element.parts {
            registers[0] = [self.vgpr(inst.dst)];
        }
        element.load(Some(&words), &mut registers);
        for (register, [value]) in (inst.dst..).zip(registers).take(element.registers()) {
            self.write(register, value);
            self.note_loaded(register, true);
        }
        true
    }

    fn store_element(&mut self, inst: &Inst, element: &Element, access: Access) -> bool {
        let Src::Vgpr(data) = inst.src[1] else { return false };
        self.ahead |= self.accesses.iter().any(|a| !a.place.in_share());
        let (mut registers, mut words) = ([[w(0)]; 4], [[w(0)]; 4]);
        for (register, value) in (data..).zip(&mut registers).take(element.registers()) {
            *value = [self.vgpr(register)];
        }
        element.store(&registers, &mut words);
        let action = Action::Store(words.map(|[word]| word.0));
        self.accesses.push(Access { action, ..access });
        self.stored = true;
        true
    }

    /// Where an instruction's private memory begins, and a lane's offset in it; none of others.
    fn private(&mut self, inst: &Inst, setting: &Setting) -> Option<(PrivateBase, WordValue)> {
        self.numbers |= scalars(&inst.addressing);
        let (base, from, constant) = match inst.addressing {
            Addressing::Scratch { offset, base } => (PrivateBase::Wave, base, offset as u32),
            Addressing::Buffer(BufferFields { resource, scalar, offset, .. })
                if setting.private >> resource & 1 != 0 =>
            {
                (PrivateBase::Buffer { resource, scalar }, None, u32::from(offset))
            }
            _ => return None,
        };
        let from = match (inst.addressing, from, inst.src[0]) {
            (_, Some(code), _) => self.number(code),
            (Addressing::Buffer(BufferFields { offen: false, .. }), ..) => w(0),
            (_, None, Src::Vgpr(register)) => self.vgpr(register),
            _ => return None,
        };
        Some((base, from + w(constant)))
    }

    /// Records a load from private memory, or a store: each dword of a lane for itself. Of less than a dword, all of it is
    /// loaded.
    fn access_private(&mut self, inst: &Inst, kind: &Kind, base: PrivateBase, from: WordValue, at: usize) {
        let active = self.exec.0;
        let place =
            |offset: WordValue, i: u32| LaneAddress::Private { base, offset: offset.0, constant: 256 * i };
        match *kind {
            Kind::Load { bytes, extend } => {
                let offset = match bytes {
                    1 => swizzled(from & w(!3), 4),
                    2 => swizzled(from & w(!3) | (from & w(1)), 4),
                    _ => swizzled(from, bytes),
                };
                for i in 0..u16::from(bytes.div_ceil(4)) {
                    let number = 4 * self.accesses.len() as u16;
                    let action = Action::Load { signed: false };
                    self.accesses.push(Access {
                        place: place(offset, i.into()),
                        action,
                        bytes: 4,
                        active,
                        at,
                    });
                    let mut value = Input::Loaded(number).word();
                    if bytes < 4 {
                        let (first, unused) = ((from & w(3)).shl(w(3)), w(32 - 8 * u32::from(bytes)));
                        let upper = value.shr(first).shl(unused);
                        value = if extend.signed() { upper.sar(unused) } else { upper.shr(unused) };
                    }
                    let register = inst.dst + i;
                    let value = extend.placed(value, || self.vgpr(register));
                    self.write(register, value);
                    self.note_loaded(register, true);
                }
            }
            Kind::Store { bytes, high } => {
                let Src::Vgpr(data) = inst.src[1] else { return };
                self.ahead |= self.accesses.iter().any(|a| !a.place.in_share());
                let offset = swizzled(from, bytes);
                let mut values = self.dwords_of(data, bytes);
                if high {
                    values[0] = WordValue(values[0]).shr(w(16)).0;
                }
                for i in 0..bytes.div_ceil(4) {
                    let mut stored = [Value(0); 4];
                    stored[0] = values[usize::from(i)];
                    let (place, action) = (place(offset, i.into()), Action::Store(stored));
                    self.accesses.push(Access { place, action, bytes: bytes.min(4), active, at });
                }
                self.stored = true;
            }
            Kind::StorePair { .. } | Kind::Formatted(_) => {}
        }
    }

    /// So many bytes from a register on.
    fn dwords_of(&mut self, data: u16, bytes: u8) -> [Value; 4] {
        let mut values = [Value(0); 4];
        for (i, value) in values.iter_mut().take((bytes as usize).div_ceil(4)).enumerate() {
            *value = self.vgpr(data + i as u16).0;
        }
        values
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
            // DPP may leave lanes as they are.
            || (inst.modifiers.dpp.is_some() && [0, 1].iter().any(|n| register(inst.dst + n)))
    }

    /// The same of a mask that it writes.
    pub(super) fn note_loaded_mask(&mut self, code: u8, depends: bool) {
        self.loaded_masks.retain(|&m| m != code);
        if depends {
            self.loaded_masks.push(code);
        }
    }
}
