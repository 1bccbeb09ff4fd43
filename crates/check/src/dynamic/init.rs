//! Bits that nobody has written, and that decide something: an address, a branch, EXEC, or a result in memory.
//!
//! Beside each register and each dword of LDS and private memory goes a mask of its undefined bits. Copying them is no mistake;
//! arithmetic carries them on (`undefined`). Memory of the host is taken for written; what a kernel stores there undefined, and
//! leaves so, is told when the host reads it (`results`).

use super::accesses::{Accesses, Together};
use super::book::{Key, Who};
use super::cells::Cells;
use super::pool::Pool;
use super::recorded::{Lane, Recorded};
use super::registers::{Origin, Registers, dword};
use super::results::{Results, told};
use super::scene::Executed;
use super::set::Check;
use super::undefined::{Bits, evaluate};
use super::watch::{Context, GroupWatch, Watch};
use std::sync::Arc;
use wavemill_isa::info::{Index, Reg, Use};
use wavemill_isa::{Op, Role, regs};
use wavemill_sem::address::Addressing;
use wavemill_sem::inst::{Inst, Run};
use wavemill_sem::lanemove::{LaneMove, first_lane, permute_lane, swizzle_source};
use wavemill_sem::memory::Access as Move;
use wavemill_sem::operand::Src;
use wavemill_sem::record;
use wavemill_sem::resolve::resolve;
use wavemill_sem::share::{PairAction, Share};
use wavemill_sem::smem::ScalarMemory;
use wavemill_sem::state::lanes;
use wavemill_wave::Wave;
use wavemill_wave::observe::{Access, Kind, Space};

/// The check.
pub struct Init {
    /// What kernels have left in memory.
    results: Arc<Results>,
    pool: Arc<Pool<Room>>,
}

/// What a work-group needs, and the next can use.
#[derive(Default)]
struct Room {
    waves: Vec<Registers>,
    /// Instructions as engines execute them.
    known: Vec<Option<Box<Inst>>>,
    /// What those mean that have met undefined bits.
    recorded: Vec<Option<Box<Recorded>>>,
}

impl Init {
    /// Looks on; `results` is what earlier dispatches have left.
    pub fn new(results: Arc<Results>) -> Init {
        Init { results, pool: Arc::default() }
    }
}

impl Watch for Init {
    fn group(&self, cx: &Context<'_>, _: [u32; 3], waves: u32) -> Box<dyn GroupWatch> {
        let scratch = &cx.scene.plan.scratch;
        let mut room = self.pool.take();
        room.waves.resize_with((waves as usize).max(room.waves.len()), Registers::default);
        Box::new(Group {
            results: self.results.clone(),
            pool: self.pool.clone(),
            room,
            lds: Cells::default(),
            private: Cells::default(),
            scratch: (scratch.base, scratch.base + scratch.len),
        })
    }

    fn wants_idle(&self, at: &Executed) -> bool {
        at.leaves_alus()
    }

    fn ended(&self, cx: &Context<'_>) {
        self.results.dispatched(cx.book);
    }
}

struct Group {
    results: Arc<Results>,
    pool: Arc<Pool<Room>>,
    room: Room,
    /// LDS that was written: its undefined bits.
    lds: Cells,
    /// The same of private memory, which some compilers let other waves of the work-group see.
    private: Cells,
    scratch: (u64, u64),
}

impl Drop for Group {
    fn drop(&mut self) {
        self.pool.give(&mut self.room);
    }
}

/// The place of an instruction in a list.
fn slot<'a, T>(list: &'a mut Vec<Option<T>>, at: &Executed) -> &'a mut Option<T> {
    let index = at.index as usize;
    if list.len() <= index {
        list.resize_with(index + 1, || None);
    }
    &mut list[index]
}

impl Group {
    /// The instruction as engines execute it. Whoever takes it puts it back: a count of who holds it would cost more than the rest.
    fn resolved(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed) -> Box<Inst> {
        let new = || Box::new(resolve(at.step.inst, wave.allocation(), &cx.scene.target));
        slot(&mut self.room.known, at).take().unwrap_or_else(new)
    }

    /// The meaning of a lane-wise instruction, to be put back.
    fn recorded(
        &mut self,
        cx: &Context<'_>,
        wave: &Wave,
        at: &Executed,
        inst: &Inst,
    ) -> Option<Box<Recorded>> {
        let known = slot(&mut self.room.recorded, at).take().filter(|r| r.is_of(wave.mode));
        known.or_else(|| Recorded::new(inst, wave.mode, cx.scene.target.level()).map(Box::new))
    }

    fn registers(&mut self, wave: &Wave) -> &mut Registers {
        &mut self.room.waves[wave.id.wave as usize]
    }

    /// Reports undefined bits of uses that decide something, and takes them for defined from then on.
    fn decide(
        &mut self,
        cx: &Context<'_>,
        wave: &Wave,
        at: &Executed,
        wanted: impl Fn(&Use) -> bool,
        (kind, message): (&'static str, &str),
    ) {
        let exec = wave.exec();
        let agprs = wave.shape().vgprs;
        let registers = self.registers(wave);
        for u in at.step.info.uses().iter().filter(|u| u.reads() && wanted(u)) {
            for reg in u.regs() {
                let (origin, lanes) = match reg {
                    Reg::Vgpr(n) if u.index == Index::Fixed => {
                        let r = usize::from(n);
                        let lanes = registers.some.get(r).copied().unwrap_or(0) & exec;
                        registers.clear(n.into(), if lanes != 0 { !0 } else { 0 });
                        (registers.origins.get(r).copied().flatten().filter(|_| lanes != 0), lanes)
                    }
                    Reg::Agpr(n) if u.index == Index::Fixed => {
                        registers.clear(agprs + u16::from(n), 0);
                        (None, 0)
                    }
                    Reg::Scalar(code) if registers.scalar(code.into()) != 0 => {
                        let origin = registers.scalars[usize::from(code)].1;
                        registers.set_scalar(code.into(), 0, None);
                        (origin, 0)
                    }
                    Reg::Scc => (registers.scc.take(), 0),
                    _ => (None, 0),
                };
                let Some(origin) = origin else { continue };
                let key = Key { check: Check::Init, kind, pc: at.step.at, other: None };
                cx.report(key, Who { wave: wave.id, lanes }, 1, || {
                    let name = reg.name(1, &cx.scene.target).to_string();
                    told(cx.scene, message, origin, vec![("register", name)])
                });
            }
        }
    }

    /// Scalar arithmetic.
    fn scalar(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed, inst: &Inst) {
        let (one, two) = (inst.src_bits[0] == 64, inst.src_bits[1] == 64);
        let registers = self.registers(wave);
        let dwords = |long: bool| if long { 2 } else { 1 };
        let long = inst.src_bits[2] == 64;
        let old = if inst.sdst == 255 { Src::None } else { Src::Sgpr(inst.sdst) };
        // What is defined does not matter, whether it is read or not.
        let reads_old = registers.touches(old, dwords(long), 0)
            && at.step.info.uses().iter().any(|u| u.role == Some(Role::Sdst) && u.reads());
        let reads_scc =
            registers.scc.is_some() && at.step.info.uses().iter().any(|u| u.reg == Reg::Scc && u.reads());
        let sources =
            [(inst.src[0], one), (inst.src[1], two), (if reads_old { old } else { Src::None }, long)];
        let dirty = sources.iter().find(|(src, long)| registers.touches(*src, dwords(*long), 0));
        let origin = dirty.and_then(|(src, long)| registers.origin(*src, dwords(*long)));
        let origin = origin.or(registers.scc.filter(|_| reads_scc));
        let recorded = origin.and_then(|_| record::scalar(inst.op));
        let (mut value, mut scc, mut exec) = (0, 0, 0);
        if let Some((program, results)) = recorded {
            let flag = Bits { value: wave.scc.into(), undefined: u64::from(registers.scc.is_some()) };
            let all = evaluate(&program, |i| match i {
                0..=2 => registers.bits(wave, sources[usize::from(i)].0, sources[usize::from(i)].1, 0),
                3 => flag,
                4 => Bits::known(wave.exec()),
                _ => Bits::default(),
            });
            let of = |v: Option<record::Value>| v.map_or(0, |v| all[v.0 as usize].undefined);
            (value, scc, exec) = (of(results.value), of(results.mask), of(results.exec));
        }
        for u in at.step.info.writes() {
            for (i, reg) in u.regs().enumerate() {
                match reg {
                    Reg::Scc => registers.scc = origin.filter(|_| scc != 0),
                    Reg::Scalar(code) if u.role.is_some() => {
                        registers.set_scalar(code.into(), (value >> (32 * (i & 1))) as u32, origin);
                    }
                    _ => {}
                }
            }
        }
        // EXEC as the destination, or of S_AND_SAVEEXEC and its like.
        let written = registers.scalar(regs::EXEC) | registers.scalar(regs::EXEC + 1);
        if exec != 0 || written != 0 {
            registers.set_scalar(regs::EXEC, 0, None);
            registers.set_scalar(regs::EXEC + 1, 0, None);
            if let Some(origin) = origin {
                self.exec(cx, wave, at, origin);
            }
        }
    }

    fn exec(&self, cx: &Context<'_>, wave: &Wave, at: &Executed, origin: Origin) {
        let key = Key { check: Check::Init, kind: "undefined-exec", pc: at.step.at, other: None };
        cx.report(key, Who { wave: wave.id, lanes: 0 }, 1, || {
            told(cx.scene, "bits that nobody has written say which lanes are active", origin, Vec::new())
        });
    }

    /// Lane-wise arithmetic.
    fn vector(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed, inst: &Inst) {
        let exec = wave.exec();
        let registers = self.registers(wave);
        let (mut src, mut dst) = (inst.src, inst.dst);
        if registers.indexed {
            // M0 has the index, and which operands it is added to.
            let (index, which) = ((wave.m0() & 0xff) as u16, wave.m0() >> 12);
            for (i, s) in src.iter_mut().enumerate() {
                if let Src::Vgpr(r) = s
                    && which >> i & 1 != 0
                {
                    *r += index;
                }
            }
            dst += if which >> 3 & 1 != 0 { index } else { 0 };
        }
        let long = |i: usize| inst.is_long(i);
        let dwords = |i: usize| if long(i) { 2 } else { u16::from(inst.src_bits[i]).div_ceil(32).max(1) };
        let everywhere = if inst.modifiers.dpp.is_some() { !0 } else { exec };
        // A mask that is defined does not matter, whether it is read or not.
        let reads_mask = registers.touches(Src::Sgpr(inst.carry), 2, 0)
            && at.step.info.uses().iter().any(|u| {
                u.reads()
                    && matches!(u.reg, Reg::Scalar(c) if c == inst.carry || c == inst.carry + 1)
                    && u.reg != Reg::EXEC
            });
        let mut dirty =
            (0..3).find(|i| registers.touches(src[*i], dwords(*i), everywhere)).map(|i| (src[i], dwords(i)));
        if dirty.is_none() && reads_mask {
            dirty = Some((Src::Sgpr(inst.carry), 2));
        }
        if dirty.is_none() && inst.merge.is_some() && registers.touches(Src::Vgpr(dst), 1, exec) {
            dirty = Some((Src::Vgpr(dst), 1));
        }
        let Some(origin) = dirty.and_then(|(src, n)| registers.origin(src, n)) else {
            for r in 0..u16::from(inst.dst_dwords) {
                registers.clear(dst + r, exec);
            }
            if inst.sdst != 255 {
                registers.set_scalar(inst.sdst.into(), 0, None);
                registers.set_scalar(u32::from(inst.sdst) + 1, 0, None);
            }
            return;
        };
        let recorded = self.recorded(cx, wave, at, inst);
        let registers = self.registers(wave);
        let Some(mut recorded) = recorded else {
            // A result that is not followed bit by bit is undefined as a whole in the lanes where a source is.
            let uniform = |src: Src, n: u16| !matches!(src, Src::Vgpr(_)) && registers.touches(src, n, 0);
            let of =
                |i: usize| if uniform(src[i], dwords(i)) { !0 } else { registers.lanes(src[i], dwords(i)) };
            let some = exec & (of(0) | of(1) | of(2));
            for r in dst..dst + u16::from(inst.dst_dwords) {
                registers.clear(r, exec);
                registers.set_lanes(r, some, !0, Some(origin));
            }
            return;
        };
        // Lanes that have nothing undefined make nothing undefined, and neither does what is not read.
        let parts = || (0..3).flat_map(|i| (0..dwords(i)).map(move |n| (i, n)));
        let read = || parts().filter(|(i, n)| recorded.reads(*i, *n)).map(|(i, n)| dword(src[i], n));
        let scalar = |src: Src| !matches!(src, Src::Vgpr(_)) && registers.touches(src, 1, 0);
        let all = inst.modifiers.dpp.is_some() || read().any(scalar);
        let own = read().fold(0, |set, src| set | registers.lanes(src, 1));
        let merged = if inst.merge.is_some() { registers.lanes(Src::Vgpr(dst), 1) } else { 0 };
        let carry = Bits {
            value: wave.sgpr64(inst.carry.into()),
            undefined: u64::from(registers.scalar(inst.carry.into()))
                | u64::from(registers.scalar(u32::from(inst.carry) + 1)) << 32,
        };
        let carried = if reads_mask { carry.undefined } else { 0 };
        let some = if all { !0 } else { own | merged | carried };
        for r in 0..u16::from(inst.dst_dwords) {
            registers.clear(dst + r, exec & !some);
        }
        let mut mask = 0u64;
        let mut out = Vec::new();
        // Lanes often have the same bits undefined, those of other waves, too: what became of the last one, and which are like it.
        let mut left = exec & some;
        while left != 0 {
            let lane = left.trailing_zeros();
            let first = match inst.modifiers.dpp {
                None => Some(lane),
                Some(dpp) => match dpp.lane(lane, exec) {
                    Some(from) => from,
                    None => {
                        left &= left - 1;
                        continue;
                    }
                },
            };
            let source = |i: usize, lane: Option<u32>| {
                lane.map_or(Bits::default(), |lane| registers.bits(wave, src[i], long(i), lane))
            };
            let inputs = [
                source(0, first),
                source(1, Some(lane)),
                source(2, Some(lane)),
                Bits { value: carry.value >> lane & 1, undefined: carry.undefined >> lane & 1 },
                Bits::known(lane.into()),
            ];
            let like = inputs.map(|b| b.undefined);
            let Lane { undefined, flag, depends } = match recorded.last {
                Some((same, known)) if same == like && !known.depends => known,
                _ => {
                    let old = registers.bits(wave, Src::Vgpr(dst), false, lane);
                    let found = recorded.lane(&inputs, old);
                    recorded.last.insert((like, found)).1
                }
            };
            let alike = if depends || inst.modifiers.dpp.is_some() {
                1 << lane
            } else {
                let carried = if like[3] != 0 { carry.undefined } else { !carry.undefined };
                (0..3).fold(left & carried, |set, i| set & registers.alike(src[i], long(i), lane))
            };
            mask |= if flag { alike } else { 0 };
            out.push((alike, undefined as u32, (undefined >> 32) as u32));
            left &= !alike;
        }
        for (lanes, low, high) in out {
            if recorded.value.is_some() && inst.dst_dwords > 0 {
                registers.set_lanes(dst, lanes, low, Some(origin));
                if inst.dst_dwords > 1 {
                    registers.set_lanes(dst + 1, lanes, high, Some(origin));
                }
            }
        }
        if inst.sdst != 255 {
            registers.set_scalar(inst.sdst.into(), mask as u32, Some(origin));
            registers.set_scalar(u32::from(inst.sdst) + 1, (mask >> 32) as u32, Some(origin));
        }
        *slot(&mut self.room.recorded, at) = Some(recorded);
        if mask != 0 && matches!(inst.run, Run::Compare(c) if c.exec) {
            self.exec(cx, wave, at, origin);
        }
    }

    /// Matrices: a result is undefined as a whole when something in it is.
    fn matrix(&mut self, wave: &Wave, at: &Executed) {
        let vgprs = wave.shape().vgprs;
        let registers = self.registers(wave);
        let file = |reg: Reg| match reg {
            Reg::Vgpr(n) => Some(u16::from(n)),
            Reg::Agpr(n) => Some(vgprs + u16::from(n)),
            _ => None,
        };
        let read = at.step.info.reads().flat_map(Use::regs).filter_map(file);
        let origin = read.filter_map(|r| registers.origin(Src::Vgpr(r), 1)).next();
        for r in at.step.info.writes().flat_map(Use::regs).filter_map(file) {
            registers.clear(r, !0);
            if origin.is_some() {
                registers.set_lanes(r, !0, !0, origin);
            }
        }
    }

    /// Moves between lanes and registers.
    fn lane_move(&mut self, wave: &Wave, inst: &Inst, what: LaneMove) {
        let exec = wave.exec();
        let registers = self.registers(wave);
        let lane_of = |src: Src| match src {
            Src::Sgpr(code) => wave.sgpr(code.into()) & 63,
            Src::Const(n) => n as u32 & 63,
            Src::Vgpr(r) => wave.vgpr(r).map_or(0, |v| v[0] & 63),
            _ => 0,
        };
        let get = |registers: &Registers, src: Src, lane: u32| match src {
            Src::Vgpr(r) => registers.vector(r, lane),
            Src::Sgpr(code) => registers.scalar(code.into()),
            _ => 0,
        };
        let origin = registers.origin(inst.src[0], 1);
        match what {
            LaneMove::ReadFirst | LaneMove::Read => {
                let lane = if what == LaneMove::Read { lane_of(inst.src[1]) } else { first_lane(exec) };
                let undefined = get(registers, inst.src[0], lane);
                registers.set_scalar(inst.sdst.into(), undefined, origin);
            }
            LaneMove::Write => {
                let undefined = get(registers, inst.src[0], 0);
                registers.set_vector(inst.dst, lane_of(inst.src[1]), undefined, origin);
            }
            LaneMove::Swap => {
                if let Src::Vgpr(r) = inst.src[0] {
                    let theirs = registers.origin(Src::Vgpr(inst.dst), 1);
                    for lane in lanes(exec) {
                        let (a, b) = (registers.vector(inst.dst, lane), registers.vector(r, lane));
                        registers.set_vector(inst.dst, lane, b, origin);
                        registers.set_vector(r, lane, a, theirs);
                    }
                }
            }
            LaneMove::Accumulator => {
                for lane in lanes(exec) {
                    let undefined = get(registers, inst.src[0], lane);
                    registers.set_vector(inst.dst, lane, undefined, origin);
                }
            }
            LaneMove::Relative { source, destination } => {
                let m0 = wave.m0() as u16;
                let moved = |r: u16, by: bool| if by { r.wrapping_add(m0) } else { r };
                for lane in lanes(exec) {
                    let undefined = match inst.src[0] {
                        Src::Vgpr(r) => registers.vector(moved(r, source), lane),
                        src => get(registers, src, lane),
                    };
                    registers.set_vector(moved(inst.dst, destination), lane, undefined, origin);
                }
            }
        }
    }

    /// DS_SWIZZLE and the permutes.
    fn permute(&mut self, cx: &Context<'_>, wave: &Wave, inst: &Inst, share: Share) {
        let exec = wave.exec();
        let offset = match inst.addressing {
            Addressing::Share { offset, .. } => offset.into(),
            _ => 0,
        };
        let registers = self.registers(wave);
        let (data, address) =
            if share == Share::Swizzle { (inst.src[0], Src::None) } else { (inst.src[1], inst.src[0]) };
        let origin = registers.origin(data, 1);
        let lane_at =
            |lane: u32| permute_lane(registers.bits(wave, address, false, lane).value as u32, offset);
        let level = cx.scene.target.level();
        let mut out = [0; 64];
        for lane in lanes(exec) {
            match share {
                Share::Permute => {
                    out[lane_at(lane) as usize] = registers.bits(wave, data, false, lane).undefined as u32
                }
                _ => {
                    let from = if share == Share::Swizzle {
                        swizzle_source(lane, offset, level)
                    } else {
                        lane_at(lane)
                    };
                    let active = exec >> (from & 63) & 1 != 0;
                    out[lane as usize] = if active {
                        registers.bits(wave, data, false, from & 63).undefined as u32
                    } else {
                        0
                    };
                }
            }
        }
        for lane in lanes(exec) {
            registers.set_vector(inst.dst, lane, out[lane as usize], origin);
        }
    }

    /// Whether there is nothing undefined, for certain, in the dwords of some memory.
    fn is_known(&self, space: Space, address: u64, bytes: u64) -> bool {
        let dwords = || address / 4..(address + bytes).div_ceil(4);
        match space {
            Space::Lds => self.lds.is_known(dwords()),
            Space::Gds | Space::Code => true,
            _ if self.is_private(space, address) => self.private.is_known(dwords()),
            Space::Global | Space::Scalar | Space::Scratch => !self.results.any(),
        }
    }

    /// The same of all that an instruction has accessed.
    fn are_known(&self, accesses: &mut Accesses) -> bool {
        match accesses.together() {
            Some(parts) => parts.iter().all(|t| self.holds_defined(t)),
            None => accesses.list().iter().all(|a| self.is_known(a.space, a.address, a.bytes.into())),
        }
    }

    /// Whether there is nothing undefined, for certain, where lanes have accessed memory together.
    fn holds_defined(&self, t: &Together) -> bool {
        match t.space {
            _ if t.beside => self.is_known(t.space, t.first, 64 * u64::from(t.bytes)),
            Space::Global if !self.is_private(t.space, t.first) => !self.results.any(),
            _ => lanes(t.exec).all(|lane| self.is_known(t.space, t.address(lane), t.bytes.into())),
        }
    }

    /// Whether an access is to private memory, by whichever way.
    fn is_private(&self, space: Space, address: u64) -> bool {
        space == Space::Scratch || (self.scratch.0..self.scratch.1).contains(&address)
    }

    /// The undefined bits of memory that was read.
    fn read(&self, access: &Access) -> (u64, Option<Origin>) {
        let (mut undefined, mut origin) = (0u64, None);
        let end = access.address + u64::from(access.bytes);
        for dword in access.address / 4..end.div_ceil(4) {
            let of = |cells: &Cells, here: Origin| match cells.get(dword) {
                0 => (0, None),
                bits => (bits, Some(cells.origin(dword).unwrap_or(here))),
            };
            let (bits, from) = match access.space {
                Space::Lds => of(&self.lds, Origin::Lds(dword * 4)),
                Space::Gds | Space::Code => (0, None),
                _ if self.is_private(access.space, access.address) => {
                    of(&self.private, Origin::Private(dword * 4))
                }
                _ if !self.results.any() => (0, None),
                _ => self.results.get(dword),
            };
            let at = dword as i64 * 4 - access.address as i64;
            undefined |= match at {
                0.. => u64::from(bits).checked_shl(at as u32 * 8).unwrap_or(0),
                _ => u64::from(bits) >> (-at * 8),
            };
            origin = origin.or(from.filter(|_| bits != 0));
        }
        (undefined & (!0 >> (64 - 8 * access.bytes.clamp(1, 8))), origin)
    }

    /// Undefined bits go to memory with what is written.
    fn write(
        &mut self,
        cx: &Context<'_>,
        wave: &Wave,
        at: &Executed,
        access: &Access,
        undefined: u64,
        origin: Option<Origin>,
    ) {
        let end = access.address + u64::from(access.bytes);
        let who = Who { wave: wave.id, lanes: access.lane.map_or(0, |l| 1 << l) };
        for dword in access.address / 4..end.div_ceil(4) {
            let (from, to) = ((dword * 4).max(access.address), (dword * 4 + 4).min(end));
            let (bit, bits) = ((from - dword * 4) * 8, (to - from) * 8);
            let written = ((1u64 << bits) - 1) << bit;
            let new = (undefined >> ((from - access.address) * 8) << bit & written) as u32;
            match access.space {
                Space::Lds => self.lds.set(dword, written as u32, new, origin),
                Space::Gds | Space::Code => {}
                _ if self.is_private(access.space, access.address) => {
                    self.private.set(dword, written as u32, new, origin);
                }
                _ if new == 0 && !self.results.any() => {}
                _ => {
                    let bits = (written as u32, new);
                    self.results.set(cx.scene, dword, bits, origin, (at.step.at, who));
                }
            }
        }
    }

    /// Whether a store or an atomic whose data is defined in all lanes has left defined what it has written.
    fn defines(&mut self, wave: &Wave, inst: &Inst, together: &Together) -> bool {
        let Src::Vgpr(data) = inst.src[1] else { return false };
        let atomic = together.kind != Kind::Write;
        if inst.uses_lds() || atomic && inst.returns() && !self.holds_defined(together) {
            return false;
        }
        // An atomic's data may be two values: what is compared and what is written.
        let dwords = together.bytes.div_ceil(4) as u16 * if atomic { 2 } else { 1 };
        let registers = &self.room.waves[wave.id.wave as usize];
        !registers.touches(Src::Vgpr(data), dwords, together.exec) && self.define(together)
    }

    /// What lanes have written together is defined; tells whether that was all there is to do.
    fn define(&mut self, together: &Together) -> bool {
        let whole = together.bytes.is_multiple_of(4) && together.first.is_multiple_of(4);
        match together.space {
            Space::Global if !self.is_private(Space::Global, together.first) => !self.results.any(),
            Space::Lds if whole && together.beside => {
                let first = together.first / 4;
                self.lds.define(first..first + u64::from(together.bytes) * 16);
                true
            }
            Space::Lds if whole => {
                for lane in lanes(together.exec) {
                    let address = together.address(lane);
                    if !address.is_multiple_of(4) {
                        return false;
                    }
                    self.lds.define(address / 4..(address + u64::from(together.bytes)) / 4);
                }
                true
            }
            _ => false,
        }
    }

    /// Loads, stores and atomics of lanes.
    fn transfer(
        &mut self,
        cx: &Context<'_>,
        wave: &Wave,
        at: &Executed,
        inst: &Inst,
        accesses: &mut Accesses,
    ) {
        let (load, extend, high) =
            match inst.run {
                Run::Memory(Move::Load { extend, .. })
                | Run::Share(Share::Access(Move::Load { extend, .. })) => (true, Some(extend), false),
                Run::Memory(Move::Store { high, .. })
                | Run::Share(Share::Access(Move::Store { high, .. })) => (false, None, high),
                _ => (false, None, false),
            };
        if load && self.are_known(accesses) {
            return;
        }
        if let Some([whole]) = accesses.together().filter(|_| !load)
            && self.defines(wave, inst, whole)
        {
            return;
        }
        let accesses = accesses.list();
        // Bytes of each lane that were moved already.
        let mut done = [0u16; 64];
        let mut gathered = [(0u64, None); 64];
        for access in accesses.iter().filter(|a| a.fault.is_none()) {
            let Some(lane) = access.lane.map(u32::from) else { continue };
            let before = done[lane as usize];
            done[lane as usize] += access.bytes as u16;
            let register = before / 4;
            match access.kind {
                Kind::Read => {
                    let (undefined, origin) = self.read(access);
                    if inst.uses_lds() || !load {
                        continue;
                    }
                    // Parts of a dword come one by one where private memory separates them.
                    let whole = &mut gathered[lane as usize];
                    whole.0 |= undefined << (before % 4 * 8);
                    whole.1 = whole.1.or(origin);
                    let registers = self.registers(wave);
                    let small = access.bytes.min(4) as u8;
                    let old = registers.vector(inst.dst + register, lane);
                    let (bits, origin) = gathered[lane as usize];
                    let low = match extend {
                        Some(extend) if small < 4 && before % 4 == 0 => extend.apply(bits as u32, small, old),
                        _ => bits as u32,
                    };
                    registers.set_vector(inst.dst + register, lane, low, origin);
                    if access.bytes > 4 {
                        registers.set_vector(inst.dst + register + 1, lane, (bits >> 32) as u32, origin);
                    }
                    if done[lane as usize].is_multiple_of(4) {
                        gathered[lane as usize] = (0, None);
                    }
                }
                Kind::Write | Kind::Atomic(_) => {
                    let registers = &self.room.waves[wave.id.wave as usize];
                    let Src::Vgpr(data) = inst.src[1] else { continue };
                    let atomic = access.kind != Kind::Write;
                    let register = if atomic { 0 } else { register };
                    let bits = |i: u16| u64::from(registers.vector(data + register + i, lane));
                    let mut undefined = bits(0) >> (before % 4 * 8) >> if high { 16 } else { 0 };
                    if access.bytes > 4 {
                        undefined |= bits(1) << 32;
                    }
                    let origin =
                        registers.origin(Src::Vgpr(data + register), if access.bytes > 4 { 2 } else { 1 });
                    if !inst.uses_lds() {
                        if atomic && inst.returns() {
                            let (old, from) = self.read(access);
                            let registers = self.registers(wave);
                            registers.set_vector(inst.dst, lane, old as u32, from);
                            if access.bytes > 4 {
                                registers.set_vector(inst.dst + 1, lane, (old >> 32) as u32, from);
                            }
                        }
                        self.write(cx, wave, at, access, undefined, origin);
                    } else if access.space == Space::Lds {
                        self.write(cx, wave, at, access, 0, None);
                    }
                }
                Kind::Invalidate | Kind::WriteBack => {}
            }
        }
    }

    /// DS_READ2, DS_WRITE2 and their like.
    fn pairs(
        &mut self,
        cx: &Context<'_>,
        wave: &Wave,
        at: &Executed,
        inst: &Inst,
        (bytes, action): (u8, PairAction),
        accesses: &mut Accesses,
    ) {
        if action == PairAction::Read && self.are_known(accesses) {
            return;
        }
        if let Some(parts @ [_, _]) = accesses.together().filter(|_| action == PairAction::Write) {
            let registers = &self.room.waves[wave.id.wave as usize];
            let dwords = u16::from(bytes) / 4;
            let clean = |(i, t): (usize, &Together)| !registers.touches(inst.src[1 + i], dwords, t.exec);
            if parts.iter().enumerate().all(clean) && parts.iter().all(|t| self.define(t)) {
                return;
            }
        }
        let accesses = accesses.list();
        let words = u16::from(bytes) / 4;
        let mut done = [0u16; 64];
        for access in accesses.iter().filter(|a| a.fault.is_none() && a.kind == Kind::Read) {
            let Some(lane) = access.lane.map(u32::from) else { continue };
            let (undefined, origin) = self.read(access);
            let register = inst.dst + done[lane as usize];
            done[lane as usize] += 1;
            if action != PairAction::Write {
                self.registers(wave).set_vector(register, lane, undefined as u32, origin);
            }
        }
        let mut done = [0u16; 64];
        for access in accesses.iter().filter(|a| a.fault.is_none() && a.kind == Kind::Write) {
            let Some(lane) = access.lane.map(u32::from) else { continue };
            let n = done[lane as usize];
            done[lane as usize] += 1;
            let Src::Vgpr(data) = inst.src[1 + usize::from(n / words).min(1)] else { continue };
            let registers = &self.room.waves[wave.id.wave as usize];
            let undefined = registers.vector(data + n % words, lane);
            let origin = registers.origin(Src::Vgpr(data + n % words), 1);
            self.write(cx, wave, at, access, undefined.into(), origin);
        }
    }

    /// Everything that an instruction writes is defined.
    fn defined(&mut self, wave: &Wave, at: &Executed) {
        let (exec, vgprs) = (wave.exec(), wave.shape().vgprs);
        let registers = self.registers(wave);
        for reg in at.step.info.writes().flat_map(Use::possible) {
            match reg {
                Reg::Vgpr(n) => registers.clear(n.into(), exec),
                Reg::Agpr(n) => registers.clear(vgprs + u16::from(n), exec),
                Reg::Scalar(code) => registers.set_scalar(code.into(), 0, None),
                Reg::Scc => registers.scc = None,
                Reg::Hw(_) => {}
            }
        }
    }
}

/// Operands that say where memory is.
fn is_address(u: &Use) -> bool {
    use Role::{Addr, Saddr, Sbase, Soffset, Srsrc, Ssamp, Vaddr};
    u.role.is_some_and(|r| matches!(r, Addr | Vaddr | Saddr | Sbase | Soffset | Srsrc | Ssamp))
}

impl Group {
    /// An instruction is about to run: what does not touch memory is followed now.
    fn begin(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed, inst: &Inst) {
        match inst.run {
            Run::Valu(_) | Run::Compare(_) => self.vector(cx, wave, at, inst),
            Run::Salu => self.scalar(cx, wave, at, inst),
            Run::LaneMove(what) => self.lane_move(wave, inst, what),
            Run::Mfma => self.matrix(wave, at),
            Run::Memory(_) | Run::Formatted(_) | Run::Image(_) | Run::ScalarMemory(_) | Run::Share(_) => {
                let address = ("undefined-address", "an address has bits that nobody has written");
                self.decide(cx, wave, at, is_address, address);
                if let Run::Share(share @ (Share::Swizzle | Share::BackwardPermute | Share::Permute)) =
                    inst.run
                {
                    self.permute(cx, wave, inst, share);
                }
            }
            Run::Control(_) => {
                match at.step.inst.row.op {
                    Op::s_set_gpr_idx_on => self.registers(wave).indexed = true,
                    Op::s_set_gpr_idx_off => self.registers(wave).indexed = false,
                    _ => {}
                }
                let registers = self.registers(wave);
                // A mask that is not zero for certain decides, whatever its other bits are.
                let certain =
                    |code: u32| (0..2).any(|i| wave.sgpr(code + i) & !registers.scalar(code + i) != 0);
                let vcc = certain(regs::VCC);
                let flow = at.step.info.flow();
                if flow != wavemill_isa::Flow::Next {
                    let wanted = |u: &Use| match u.reg {
                        Reg::VCC => !vcc,
                        r if r == Reg::VCC.offset(1) => !vcc,
                        Reg::Scc | Reg::Scalar(_) => u.reg != Reg::M0,
                        _ => false,
                    };
                    self.decide(
                        cx,
                        wave,
                        at,
                        wanted,
                        ("undefined-branch", "bits that nobody has written decide where to go on"),
                    );
                }
                self.defined(wave, at);
            }
            _ => self.defined(wave, at),
        }
    }

    /// An instruction has run: what memory had is known.
    fn end(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed, inst: &Inst, accesses: &mut Accesses) {
        match inst.run {
            Run::Memory(_) | Run::Share(Share::Access(_)) => {
                if !matches!(
                    inst.run,
                    Run::Memory(Move::Store { .. }) | Run::Share(Share::Access(Move::Store { .. }))
                ) {
                    self.defined(wave, at);
                }
                self.transfer(cx, wave, at, inst, accesses);
            }
            Run::Share(Share::Pair { bytes, action, .. }) => {
                self.defined(wave, at);
                self.pairs(cx, wave, at, inst, (bytes, action), accesses);
            }
            Run::Share(Share::Swizzle | Share::BackwardPermute | Share::Permute) => {}
            Run::ScalarMemory(ScalarMemory::Load { .. }) => {
                self.defined(wave, at);
                let data = at.step.info.writes().find(|u| u.role.is_some()).map(|u| u.reg);
                let Some(Reg::Scalar(first)) = data else { return };
                let mut code = u32::from(first);
                for access in accesses.list().iter().filter(|a| a.kind == Kind::Read) {
                    let (undefined, origin) = self.read(access);
                    for i in 0..access.bytes / 4 {
                        self.registers(wave).set_scalar(code, (undefined >> (32 * i)) as u32, origin);
                        code += 1;
                    }
                }
            }
            Run::Share(_) | Run::Formatted(_) | Run::Image(_) | Run::ScalarMemory(_) => {
                self.defined(wave, at);
                for access in accesses.list().iter().filter(|a| a.fault.is_none() && a.kind != Kind::Read) {
                    self.write(cx, wave, at, access, 0, None);
                }
            }
            _ => {}
        }
    }
}

impl GroupWatch for Group {
    fn wave_started(&mut self, cx: &Context<'_>, wave: &Wave) {
        self.registers(wave).start(wave, cx.scene);
    }

    fn before(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed) {
        let inst = self.resolved(cx, wave, at);
        self.begin(cx, wave, at, &inst);
        *slot(&mut self.room.known, at) = Some(inst);
    }

    fn after(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed, accesses: &mut Accesses) {
        let inst = self.resolved(cx, wave, at);
        self.end(cx, wave, at, &inst, accesses);
        *slot(&mut self.room.known, at) = Some(inst);
    }
}
