//! Executing data-share instructions, global wave sync and ordered counts (manual 11, 12.12).

use super::lanemove;
use crate::address::{self, Addressing, Window};
use crate::atomic::{Atomic, Rmw, Unit};
use crate::bus::{At, Bus, Fault, FaultKind, Faults, Kind, Space};
use crate::gws;
use crate::inst::Inst;
use crate::lanemove::{first_lane, permute_lane, swizzle_source};
use crate::memory::Access;
use crate::ordered::Count;
use crate::scalar::S32;
use crate::share::{PairAction, Share, Sync, conditional_exchange, pair_offsets};
use crate::state::lanes;
use wavemill_isa::Level;

/// The part of a data share that an instruction may touch.
#[derive(Clone, Copy)]
struct Part {
    space: Space,
    window: Window<S32>,
}

impl Part {
    /// What an instruction may touch.
    fn of(gds: bool, state: &impl Bus) -> Part {
        let m0 = S32(state.m0());
        match gds {
            true => Part { space: Space::Gds, window: address::gds_window(m0) },
            false => Part {
                space: Space::Lds,
                window: address::lds_window(m0, S32(state.lds_bytes()), state.level()),
            },
        }
    }

    /// Where bytes are, if all of them exist. Out of range reads give zero, writes nothing (manual 3.6.1): only observers
    /// are told.
    #[inline]
    fn at<B: Bus>(self, offset: u32, bytes: u32, lane: Option<u32>, kind: Kind, state: &mut B) -> Option<At> {
        let inside = self.window.holds(S32(offset), bytes).0;
        let address = self.window.start.0 as u64 + offset as u64;
        let at = At { space: self.space, address, lane: lane.map(|l| l as u8) };
        if !inside {
            state.refuse(at, bytes as u8, kind, FaultKind::Lds { bytes });
        }
        inside.then_some(at)
    }

    /// Whether an atomic can be done there.
    fn aligned(self, offset: u32, bytes: u8) -> bool {
        self.window.start.0.wrapping_add(offset).is_multiple_of(bytes as u32)
    }
}

impl Part {
    fn misaligned<B: Bus>(self, offset: u32, bytes: u8, op: Atomic, lane: u32, state: &mut B) -> FaultKind {
        let address = self.window.start.0.wrapping_add(offset) as u64;
        let fault = FaultKind::Misaligned { bytes: bytes as u32 };
        state.refuse(At::lane(self.space, address, lane), bytes, Kind::Atomic(op), fault)
    }
}

fn fields(inst: &Inst) -> (u16, bool) {
    match inst.addressing {
        Addressing::Share { offset, gds } => (offset, gds),
        _ => (0, false),
    }
}

/// Executes a data-share instruction.
pub fn execute<B: Bus>(share: Share, inst: &Inst, state: &mut B) -> Result<(), Fault> {
    let (offset, gds) = fields(inst);
    // gfx90a has global wave sync, but no global data share.
    if gds && state.level() == Level::Gfx90a {
        return Err(Fault::scalar(FaultKind::Illegal { word: inst.bits as u32 }, 0));
    }
    let part = Part::of(gds, state);
    let offset32 = offset as u32;
    match share {
        Share::Nop => {}
        Share::Swizzle => {
            let level = state.level();
            let from = std::array::from_fn(|lane| swizzle_source(lane as u32, offset32, level));
            lanemove::pull(inst, inst.src[0], &from, state);
        }
        Share::BackwardPermute => {
            let from = state.operand_row(inst.src[0]).map(|address| permute_lane(address, offset32));
            lanemove::pull(inst, inst.src[1], &from, state);
        }
        Share::Permute => lanemove::push(inst, offset32, state),
        Share::Access(access) => return access_lanes(inst, access, offset32, part, state),
        Share::Pair { bytes, step, action } => {
            return pairs(inst, bytes, pair_offsets(offset, step), action, part, state);
        }
        Share::Src2 { op, bytes } => return second_operands(inst, op, bytes, offset, part, state),
        Share::AddTid { store } => return add_tid(inst, store, offset, gds, part, state),
        Share::ConditionalExchange => return conditional(inst, offset32, part, state),
        Share::Append { add } => return append(inst, add, offset, gds, part, state),
    }
    Ok(())
}

/// A fault of one lane.
fn of_lane(lane: u32, address: u32) -> impl Fn(FaultKind) -> Fault {
    move |kind| Fault { kind, lanes: 1 << lane, address: address as u64 }
}

fn access_lanes<B: Bus>(
    inst: &Inst,
    access: Access,
    offset: u32,
    part: Part,
    state: &mut B,
) -> Result<(), Fault> {
    let mode = state.float_mode();
    let mut faults = Faults::default();
    for lane in lanes(state.exec()) {
        let address = state.lane(inst.src[0], 0, lane).wrapping_add(offset);
        let fault = of_lane(lane, address);
        match access {
            Access::Load { bytes, extend } => {
                let small = bytes.min(4);
                for i in 0..bytes.div_ceil(4) as u16 {
                    let at = part.at(
                        address.wrapping_add(4 * i as u32),
                        small as u32,
                        Some(lane),
                        Kind::Read,
                        state,
                    );
                    let value = at.map_or(Ok(0), |at| state.read(at, small)).map_err(&fault)?;
                    let old = state.vgpr(inst.dst + i, lane);
                    state.set_vgpr(inst.dst + i, lane, extend.apply(value, small, old));
                }
            }
            Access::Store { bytes, high } => {
                let small = bytes.min(4);
                for i in 0..bytes.div_ceil(4) as u16 {
                    let value = state.lane(inst.src[1], i, lane) >> if high { 16 } else { 0 };
                    if let Some(at) = part.at(
                        address.wrapping_add(4 * i as u32),
                        small as u32,
                        Some(lane),
                        Kind::Write,
                        state,
                    ) {
                        state.write(at, small, value).map_err(&fault)?;
                    }
                }
            }
            Access::Atomic { op, bytes } => {
                let mut data = state.datum(inst.src[1], 0, lane, bytes);
                let mut second = state.datum(inst.src[2], 0, lane, bytes);
                // LDS compares with the first datum and stores the second (manual 12.12, DS_CMPST_B32).
                if matches!(op, Atomic::CmpSwap | Atomic::CmpSwapF) {
                    (data, second) = (second, data);
                }
                if !part.aligned(address, bytes) {
                    let kind = part.misaligned(address, bytes, op, lane, state);
                    faults.note(lane, Err((kind, address as u64)));
                    continue;
                }
                let rmw = Rmw { op, bytes, data, second, unit: Unit::Share(&mode) };
                let at = part.at(address, bytes as u32, Some(lane), Kind::Atomic(op), state);
                let old = at.map_or(Ok(0), |at| state.update(at, &rmw)).map_err(&fault)?;
                if inst.returns() {
                    state.set_datum(inst.dst, lane, bytes, old);
                }
            }
        }
    }
    faults.result()
}

fn pairs<B: Bus>(
    inst: &Inst,
    bytes: u8,
    offsets: [u32; 2],
    action: PairAction,
    part: Part,
    state: &mut B,
) -> Result<(), Fault> {
    let words = bytes as u16 / 4;
    for lane in lanes(state.exec()) {
        let base = state.lane(inst.src[0], 0, lane);
        let mut results = [0u64; 2];
        for (i, offset) in offsets.into_iter().enumerate() {
            let address = base.wrapping_add(offset);
            let fault = of_lane(lane, address);
            let data = state.datum(inst.src[1 + i], 0, lane, bytes);
            let kind = if action == PairAction::Read { Kind::Read } else { Kind::Write };
            let Some(at) = part.at(address, bytes as u32, Some(lane), kind, state) else { continue };
            for word in 0..words as u64 {
                let at = at.plus(4 * word);
                if action != PairAction::Write {
                    results[i] |= (state.read(at, 4).map_err(&fault)? as u64) << (32 * word);
                }
                if action != PairAction::Read {
                    state.write(at, 4, (data >> (32 * word)) as u32).map_err(&fault)?;
                }
            }
        }
        if action != PairAction::Write {
            for (i, value) in (0..).zip(results) {
                state.set_datum(inst.dst + i * words, lane, bytes, value);
            }
        }
    }
    Ok(())
}

/// LDS as instructions see it whose M0 is a base, and which its lower half does not limit.
fn whole<B: Bus>(part: Part, state: &B) -> Part {
    match part.space {
        Space::Lds => Part { window: Window { start: S32(0), limit: S32(state.lds_bytes()) }, ..part },
        _ => part,
    }
}

fn add_tid<B: Bus>(
    inst: &Inst,
    store: bool,
    offset: u16,
    gds: bool,
    part: Part,
    state: &mut B,
) -> Result<(), Fault> {
    let (part, m0) = (whole(part, state), state.m0());
    for lane in lanes(state.exec()) {
        let address = address::add_tid(S32(m0), offset, S32(lane), gds).0;
        let kind = if store { Kind::Write } else { Kind::Read };
        let at = part.at(address, 4, Some(lane), kind, state);
        let fault = of_lane(lane, address);
        if !store {
            let value = at.map_or(Ok(0), |at| state.read(at, 4)).map_err(fault)?;
            state.set_vgpr(inst.dst, lane, value);
        } else if let Some(at) = at {
            let value = state.lane(inst.src[1], 0, lane);
            state.write(at, 4, value).map_err(fault)?;
        }
    }
    Ok(())
}

fn conditional<B: Bus>(inst: &Inst, offset: u32, part: Part, state: &mut B) -> Result<(), Fault> {
    let mode = state.float_mode();
    for lane in lanes(state.exec()) {
        let address = state.lane(inst.src[0], 0, lane).wrapping_add(offset) & !7;
        for word in 0..2u16 {
            let data = state.lane(inst.src[1], word, lane);
            let (stores, value) = conditional_exchange(S32(data));
            let (op, value) = if stores.0 { (Atomic::Swap, value.0) } else { (Atomic::Or, 0) };
            let rmw = Rmw { op, bytes: 4, data: value as u64, second: 0, unit: Unit::Share(&mode) };
            let at = part.at(address + 4 * word as u32, 4, Some(lane), Kind::Atomic(op), state);
            let old = at.map_or(Ok(0), |at| state.update(at, &rmw)).map_err(of_lane(lane, address))?;
            state.set_vgpr(inst.dst + word, lane, old as u32);
        }
    }
    Ok(())
}

/// All active lanes get the old value.
fn append<B: Bus>(
    inst: &Inst,
    add: bool,
    offset: u16,
    gds: bool,
    part: Part,
    state: &mut B,
) -> Result<(), Fault> {
    let (level, mode, exec) = (state.level(), state.float_mode(), state.exec());
    let part = if level.is_gfx9() { whole(part, state) } else { part };
    let address = address::append(S32(state.m0()), offset, gds, level).0;
    let op = if add { Atomic::Add } else { Atomic::Sub };
    let data = exec.count_ones() as u64;
    let rmw = Rmw { op, bytes: 4, data, second: 0, unit: Unit::Share(&mode) };
    let at = part.at(address, 4, None, Kind::Atomic(op), state);
    let old = at.map_or(Ok(0), |at| state.update(at, &rmw));
    let old = old.map_err(|kind| Fault::scalar(kind, address as u64))?;
    for lane in lanes(exec) {
        state.set_vgpr(inst.dst, lane, old as u32);
    }
    Ok(())
}

fn second_operands<B: Bus>(
    inst: &Inst,
    op: Atomic,
    bytes: u8,
    offset: u16,
    part: Part,
    state: &mut B,
) -> Result<(), Fault> {
    let mode = state.float_mode();
    for lane in lanes(state.exec()) {
        let (to, from) = address::src2(S32(state.lane(inst.src[0], 0, lane)), offset);
        let (to, from) = (to.0, from.0);
        let fault = of_lane(lane, to);
        if !part.aligned(to, bytes) {
            return Err(fault(part.misaligned(to, bytes, op, lane, state)));
        }
        // In two halves if there are two.
        let mut data = 0;
        for word in (0..bytes as u32 / 4).rev() {
            let at = part.at(from.wrapping_add(4 * word), 4, Some(lane), Kind::Read, state);
            data = data << 32 | at.map_or(Ok(0), |at| state.read(at, 4)).map_err(&fault)? as u64;
        }
        if let Some(at) = part.at(to, bytes as u32, Some(lane), Kind::Atomic(op), state) {
            let rmw = Rmw { op, bytes, data, second: 0, unit: Unit::Share(&mode) };
            state.update(at, &rmw).map_err(&fault)?;
        }
    }
    Ok(())
}

/// Global wave sync and ordered counts. False if the wave has to wait: it comes back to the instruction later.
pub fn synchronize<B: Bus>(sync: Sync, inst: &Inst, state: &mut B) -> Result<bool, Fault> {
    let (offset, _) = fields(inst);
    let exec = state.exec();
    match sync {
        Sync::Gws(request) => {
            let id = gws::resource(state.m0(), offset.into());
            let datum = state.lane(inst.src[1], 0, first_lane(exec));
            Ok(state.sync(id, request, datum))
        }
        // A count in the order of the dispatch's waves, whatever number M0 gives the wave; at once where nobody keeps
        // the order. The instruction takes its turn without any active lane, too.
        Sync::OrderedCount => {
            let count = Count::of(offset as u32);
            if !state.may_count(count) {
                return Ok(false);
            }
            let data = state.lane(inst.src[0], 0, first_lane(exec)) as u64;
            let mode = state.float_mode();
            let part = Part { space: Space::Gds, window: address::ordered_window(S32(state.m0())) };
            let op = if count.swap { Atomic::Swap } else { Atomic::Add };
            let rmw = Rmw { op, bytes: 4, data, second: 0, unit: Unit::Share(&mode) };
            let at = part.at(count.address(), 4, None, Kind::Atomic(op), state);
            let old = at.map_or(Ok(0), |at| state.update(at, &rmw));
            let old = old.map_err(|kind| Fault::scalar(kind, count.address() as u64))?;
            for lane in lanes(exec) {
                state.set_vgpr(inst.dst, lane, old as u32);
            }
            state.counted(count);
            Ok(true)
        }
    }
}
