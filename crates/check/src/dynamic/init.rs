//! Bits that nobody has written, and that decide something: an address, a branch, EXEC, or a result in memory.
//!
//! Beside each register and each dword of LDS and private memory goes a mask of its undefined bits. Copying them is no mistake;
//! arithmetic carries them on (`undefined`). Memory of the host is taken for written; what a kernel stores there undefined, and
//! leaves so, is told when the dispatch has ended.

use super::book::{Key, Told, Who};
use super::scene::Executed;
use super::set::Check;
use super::undefined::{Bits, evaluate};
use super::watch::{Context, GroupWatch, Watch};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use wavemill_isa::info::{Index, Reg, Use};
use wavemill_isa::{Op, Role, regs};
use wavemill_sem::address::Addressing;
use wavemill_sem::apply::Context as Modes;
use wavemill_sem::inst::{Inst, Run};
use wavemill_sem::lanemove::{LaneMove, first_lane, permute_lane, swizzle_source};
use wavemill_sem::memory::Access as Move;
use wavemill_sem::mode::Mode;
use wavemill_sem::operand::Src;
use wavemill_sem::record::{self, WordValue};
use wavemill_sem::resolve::resolve;
use wavemill_sem::share::{PairAction, Share};
use wavemill_sem::smem::ScalarMemory;
use wavemill_sem::state::lanes;
use wavemill_wave::Wave;
use wavemill_wave::observe::{Access, Kind, Space};

/// Where undefined bits come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    Register(Reg),
    Lds(u64),
    Private(u64),
}

/// Undefined dwords of memory: their bits, their origin, and the instruction that stored them.
type Stored = HashMap<u64, (u32, Origin, u64, Who)>;

#[derive(Default)]
struct Memory {
    some: AtomicBool,
    stored: Mutex<Stored>,
}

/// The check.
#[derive(Default)]
pub struct Init {
    memory: Arc<Memory>,
}

impl Watch for Init {
    fn group(&self, cx: &Context<'_>, _: [u32; 3], waves: u32) -> Box<dyn GroupWatch> {
        let scratch = &cx.scene.plan.scratch;
        Box::new(Group {
            memory: self.memory.clone(),
            waves: (0..waves).map(|_| Registers::default()).collect(),
            lds: HashMap::new(),
            known: Vec::new(),
            scratch: (scratch.base, scratch.base + scratch.len),
        })
    }

    fn ended(&self, cx: &Context<'_>) {
        let stored = std::mem::take(&mut *self.memory.stored.lock().unwrap_or_else(PoisonError::into_inner));
        let mut stored: Vec<_> = stored.into_iter().collect();
        stored.sort_by_key(|(dword, (.., pc, _))| (*pc, *dword));
        for (dword, (bits, origin, pc, who)) in stored {
            let key = Key { check: Check::Init, kind: "undefined-result", pc, other: None };
            cx.report(key, who, 1, || {
                let address = dword * 4;
                let near = cx.scene.memory.nearest(address).map_or(String::new(), |n| format!(": {n}"));
                told(
                    cx,
                    "a result is left in memory with bits that nobody has written",
                    origin,
                    vec![("address", format!("{address:#x}{near}")), ("undefined", format!("{bits:#010x}"))],
                )
            });
        }
    }
}

fn told(cx: &Context<'_>, message: &str, origin: Origin, mut facts: Vec<(&'static str, String)>) -> Told {
    let (what, mend) = match origin {
        Origin::Register(reg) => (
            format!("{} was never written", reg.name(1, &cx.scene.target)),
            "write the register first, or ask for it in the kernel descriptor",
        ),
        Origin::Lds(address) => (
            format!("LDS at {address:#x} was never written"),
            "write LDS before it is read: it holds what an earlier work-group has left",
        ),
        Origin::Private(address) => {
            (format!("private memory at {address:#x} was never written"), "initialise the variable")
        }
    };
    facts.push(("origin", what));
    Told { message: message.into(), facts, mend: mend.into(), ..Told::default() }
}

/// The undefined bits of a wave's registers.
#[derive(Default)]
struct Registers {
    /// Lanes of each vector register that have some, and which bits.
    some: Vec<u64>,
    vectors: Vec<[u32; 64]>,
    origins: Vec<Option<Origin>>,
    scalars: Vec<(u32, Option<Origin>)>,
    scc: Option<Origin>,
    /// Private memory that was written: its undefined bits.
    private: HashMap<u64, (u32, Option<Origin>)>,
    /// S_SET_GPR_IDX is on.
    indexed: bool,
}

impl Registers {
    fn vector(&self, register: u16, lane: u32) -> u32 {
        let r = usize::from(register);
        match self.some.get(r) {
            Some(some) if some >> lane & 1 != 0 => self.vectors[r][lane as usize],
            _ => 0,
        }
    }

    fn set_vector(&mut self, register: u16, lane: u32, undefined: u32, origin: Option<Origin>) {
        let r = usize::from(register);
        let Some(some) = self.some.get_mut(r) else { return };
        if undefined == 0 {
            *some &= !(1 << lane);
            return;
        }
        *some |= 1 << lane;
        self.vectors[r][lane as usize] = undefined;
        self.origins[r] = origin.or(self.origins[r]);
    }

    fn clear(&mut self, register: u16, exec: u64) {
        if let Some(some) = self.some.get_mut(usize::from(register)) {
            *some &= !exec;
        }
    }

    fn scalar(&self, code: u32) -> u32 {
        self.scalars.get(code as usize).map_or(0, |s| s.0)
    }

    fn set_scalar(&mut self, code: u32, undefined: u32, origin: Option<Origin>) {
        if let Some(s) = self.scalars.get_mut(code as usize) {
            *s = (undefined, origin.filter(|_| undefined != 0));
        }
    }

    /// Whether a source has undefined bits in some lane.
    fn touches(&self, src: Src, dwords: u16, exec: u64) -> bool {
        match src {
            Src::Vgpr(r) => {
                (r..r + dwords).any(|r| self.some.get(usize::from(r)).is_some_and(|s| s & exec != 0))
            }
            Src::Sgpr(code) => (0..u32::from(dwords)).any(|i| self.scalar(u32::from(code) + i) != 0),
            Src::Special(_) | Src::Const(_) | Src::None => false,
        }
    }

    fn origin(&self, src: Src, dwords: u16) -> Option<Origin> {
        match src {
            Src::Vgpr(r) => (r..r + dwords).find_map(|r| {
                let r = usize::from(r);
                self.origins.get(r).copied().flatten().filter(|_| self.some[r] != 0)
            }),
            Src::Sgpr(code) => {
                (0..usize::from(dwords)).find_map(|i| self.scalars.get(usize::from(code) + i)?.1)
            }
            Src::Special(_) | Src::Const(_) | Src::None => None,
        }
    }

    /// A source's bits in a lane.
    fn bits(&self, wave: &Wave, src: Src, long: bool, lane: u32) -> Bits {
        let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        match src {
            Src::Vgpr(r) => {
                let value = |r: u16| wave.vgpr(r).map_or(0, |v| v[lane as usize]);
                match long {
                    true => Bits {
                        value: two(value(r), value(r + 1)),
                        undefined: two(self.vector(r, lane), self.vector(r + 1, lane)),
                    },
                    false => Bits { value: value(r).into(), undefined: self.vector(r, lane).into() },
                }
            }
            Src::Sgpr(code) => {
                let code = u32::from(code);
                match long {
                    true => Bits {
                        value: wave.sgpr64(code),
                        undefined: two(self.scalar(code), self.scalar(code + 1)),
                    },
                    false => Bits { value: wave.sgpr(code).into(), undefined: self.scalar(code).into() },
                }
            }
            Src::Const(n) => Bits::known(n),
            Src::Special(_) | Src::None => Bits::default(),
        }
    }
}

struct Group {
    memory: Arc<Memory>,
    waves: Vec<Registers>,
    /// LDS that was written: its undefined bits.
    lds: HashMap<u64, (u32, Option<Origin>)>,
    /// Instructions as engines execute them.
    known: Vec<Option<Arc<Inst>>>,
    scratch: (u64, u64),
}

impl Group {
    fn resolved(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed) -> Arc<Inst> {
        let index = at.index as usize;
        if self.known.len() <= index {
            self.known.resize(index + 1, None);
        }
        self.known[index]
            .get_or_insert_with(|| Arc::new(resolve(at.step.inst, wave.allocation(), &cx.scene.target)))
            .clone()
    }

    fn registers(&mut self, wave: &Wave) -> &mut Registers {
        &mut self.waves[wave.id.wave as usize]
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
                    told(cx, message, origin, vec![("register", name)])
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
        let reads_old = at.step.info.uses().iter().any(|u| u.role == Some(Role::Sdst) && u.reads());
        let reads_scc = at.step.info.uses().iter().any(|u| u.reg == Reg::Scc && u.reads());
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
            told(cx, "bits that nobody has written say which lanes are active", origin, Vec::new())
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
        let dwords = |i: usize| if long(i) { 2 } else { 1 };
        let everywhere = if inst.modifiers.dpp.is_some() { !0 } else { exec };
        let reads_mask = at.step.info.uses().iter().any(|u| {
            u.reads()
                && matches!(u.reg, Reg::Scalar(c) if c == inst.carry || c == inst.carry + 1)
                && u.reg != Reg::EXEC
        });
        let mut dirty =
            (0..3).find(|i| registers.touches(src[*i], dwords(*i), everywhere)).map(|i| (src[i], dwords(i)));
        if dirty.is_none() && reads_mask && registers.touches(Src::Sgpr(inst.carry), 2, 0) {
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
        let mode = Mode::new(wave.mode, cx.scene.target.level());
        let x = Modes::new(mode, inst.clamp, inst.omod, cx.scene.target.level());
        let Some((program, results)) = record::instruction(inst.row, &x) else { return };
        let changes: Vec<_> = (0..3)
            .map(|i| record::record(|| inst.change(i).apply(WordValue::input(0), WordValue::input(1), &mode)))
            .collect();
        let merge = inst.merge.map(|m| record::record(|| m.apply(WordValue::input(0), WordValue::input(1))));
        let carry = Bits {
            value: wave.sgpr64(inst.carry.into()),
            undefined: u64::from(registers.scalar(inst.carry.into()))
                | u64::from(registers.scalar(u32::from(inst.carry) + 1)) << 32,
        };
        let changed = |registers: &Registers, i: usize, lane: Option<u32>| {
            let raw = lane.map_or(Bits::default(), |lane| registers.bits(wave, src[i], long(i), lane));
            let (program, (lo, hi)) = &changes[i];
            let half = |n: u16| Bits {
                value: raw.value.checked_shr(32 * u32::from(n)).unwrap_or(0) & 0xffff_ffff,
                undefined: raw.undefined.checked_shr(32 * u32::from(n)).unwrap_or(0) & 0xffff_ffff,
            };
            let all = evaluate(program, half);
            let (lo, hi) = (all[lo.0.0 as usize], all[hi.0.0 as usize]);
            Bits { value: lo.value | hi.value << 32, undefined: lo.undefined | hi.undefined << 32 }
        };
        let mut mask = 0u64;
        let mut out = Vec::new();
        for lane in lanes(exec) {
            let first = match inst.modifiers.dpp {
                None => Some(lane),
                Some(dpp) => match dpp.lane(lane, exec) {
                    Some(from) => from,
                    None => continue,
                },
            };
            let inputs = [
                changed(registers, 0, first),
                changed(registers, 1, Some(lane)),
                changed(registers, 2, Some(lane)),
            ];
            let all = evaluate(&program, |i| match i {
                0..=2 => inputs[usize::from(i)],
                3 => Bits { value: carry.value >> lane & 1, undefined: carry.undefined >> lane & 1 },
                4 => Bits::known(lane.into()),
                _ => Bits::default(),
            });
            let of = |v: Option<record::Value>| v.map_or(Bits::default(), |v| all[v.0 as usize]);
            mask |= (of(results.mask).undefined & 1) << lane;
            let value = of(results.value);
            let low = match &merge {
                Some((program, merged)) => {
                    let old = registers.bits(wave, Src::Vgpr(dst), false, lane);
                    evaluate(program, |i| if i == 0 { value } else { old })[merged.0.0 as usize].undefined
                }
                None => value.undefined,
            };
            out.push((lane, low as u32, (value.undefined >> 32) as u32));
        }
        for (lane, low, high) in out {
            if results.value.is_some() && inst.dst_dwords > 0 {
                registers.set_vector(dst, lane, low, Some(origin));
                if inst.dst_dwords > 1 {
                    registers.set_vector(dst + 1, lane, high, Some(origin));
                }
            }
        }
        if inst.sdst != 255 {
            registers.set_scalar(inst.sdst.into(), mask as u32, Some(origin));
            registers.set_scalar(u32::from(inst.sdst) + 1, (mask >> 32) as u32, Some(origin));
        }
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
                (0..64).for_each(|lane| registers.set_vector(r, lane, !0, origin));
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

    /// The undefined bits of memory that was read.
    fn read(&self, wave: &Wave, access: &Access) -> (u64, Option<Origin>) {
        let (mut undefined, mut origin) = (0u64, None);
        let end = access.address + u64::from(access.bytes);
        for dword in access.address / 4..end.div_ceil(4) {
            let never = |origin: Origin| (!0, Some(origin));
            let private =
                access.space == Space::Scratch || (self.scratch.0..self.scratch.1).contains(&access.address);
            let (bits, from) = match access.space {
                Space::Lds => self.lds.get(&dword).copied().unwrap_or(never(Origin::Lds(dword * 4))),
                Space::Gds | Space::Code => (0, None),
                _ if private => {
                    let private = &self.waves[wave.id.wave as usize].private;
                    private.get(&dword).copied().unwrap_or(never(Origin::Private(dword * 4)))
                }
                _ if !self.memory.some.load(Ordering::Relaxed) => (0, None),
                _ => {
                    let stored = self.memory.stored.lock().unwrap_or_else(PoisonError::into_inner);
                    stored.get(&dword).map_or((0, None), |(bits, origin, ..)| (*bits, Some(*origin)))
                }
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
    fn write(&mut self, wave: &Wave, at: &Executed, access: &Access, undefined: u64, origin: Option<Origin>) {
        let end = access.address + u64::from(access.bytes);
        let who = Who { wave: wave.id, lanes: access.lane.map_or(0, |l| 1 << l) };
        for dword in access.address / 4..end.div_ceil(4) {
            let (from, to) = ((dword * 4).max(access.address), (dword * 4 + 4).min(end));
            let (bit, bits) = ((from - dword * 4) * 8, (to - from) * 8);
            let written = ((1u64 << bits) - 1) << bit;
            let new = (undefined >> ((from - access.address) * 8) << bit & written) as u32;
            let kept = |old: u32| old & !(written as u32) | new;
            let private =
                access.space == Space::Scratch || (self.scratch.0..self.scratch.1).contains(&access.address);
            match access.space {
                Space::Lds => {
                    let cell = self.lds.entry(dword).or_insert((!0, Some(Origin::Lds(dword * 4))));
                    *cell = (kept(cell.0), origin.filter(|_| new != 0).or(cell.1));
                }
                Space::Gds | Space::Code => {}
                _ if private => {
                    let private = &mut self.waves[wave.id.wave as usize].private;
                    let cell = private.entry(dword).or_insert((!0, Some(Origin::Private(dword * 4))));
                    *cell = (kept(cell.0), origin.filter(|_| new != 0).or(cell.1));
                }
                _ => {
                    if new == 0 && !self.memory.some.load(Ordering::Relaxed) {
                        continue;
                    }
                    let mut stored = self.memory.stored.lock().unwrap_or_else(PoisonError::into_inner);
                    let bits = kept(stored.get(&dword).map_or(0, |s| s.0));
                    match (bits, origin) {
                        (0, _) => drop(stored.remove(&dword)),
                        (_, Some(origin)) if new != 0 => {
                            stored.insert(dword, (bits, origin, at.step.at, who));
                            self.memory.some.store(true, Ordering::Relaxed);
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// Loads, stores and atomics of lanes.
    fn transfer(&mut self, wave: &Wave, at: &Executed, inst: &Inst, accesses: &[Access]) {
        let (load, extend, high) =
            match inst.run {
                Run::Memory(Move::Load { extend, .. })
                | Run::Share(Share::Access(Move::Load { extend, .. })) => (true, Some(extend), false),
                Run::Memory(Move::Store { high, .. })
                | Run::Share(Share::Access(Move::Store { high, .. })) => (false, None, high),
                _ => (false, None, false),
            };
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
                    let (undefined, origin) = self.read(wave, access);
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
                    let registers = &self.waves[wave.id.wave as usize];
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
                            let (old, from) = self.read(wave, access);
                            let registers = self.registers(wave);
                            registers.set_vector(inst.dst, lane, old as u32, from);
                            if access.bytes > 4 {
                                registers.set_vector(inst.dst + 1, lane, (old >> 32) as u32, from);
                            }
                        }
                        self.write(wave, at, access, undefined, origin);
                    } else if access.space == Space::Lds {
                        self.write(wave, at, access, 0, None);
                    }
                }
                Kind::Invalidate | Kind::WriteBack => {}
            }
        }
    }

    /// DS_READ2, DS_WRITE2 and their like.
    fn pairs(
        &mut self,
        wave: &Wave,
        at: &Executed,
        inst: &Inst,
        (bytes, action): (u8, PairAction),
        accesses: &[Access],
    ) {
        let words = u16::from(bytes) / 4;
        let mut done = [0u16; 64];
        for access in accesses.iter().filter(|a| a.fault.is_none() && a.kind == Kind::Read) {
            let Some(lane) = access.lane.map(u32::from) else { continue };
            let (undefined, origin) = self.read(wave, access);
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
            let registers = &self.waves[wave.id.wave as usize];
            let undefined = registers.vector(data + n % words, lane);
            let origin = registers.origin(Src::Vgpr(data + n % words), 1);
            self.write(wave, at, access, undefined.into(), origin);
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

impl GroupWatch for Group {
    fn wave_started(&mut self, cx: &Context<'_>, wave: &Wave) {
        let plan = &cx.scene.plan;
        let setup = &plan.kernel.setup;
        let registers = self.registers(wave);
        let shape = wave.shape();
        let file = usize::from(shape.vgprs + shape.agprs);
        // Work-item ids; gfx90a has all of them in v0.
        let packed = cx.scene.target.level() == wavemill_isa::Level::Gfx90a;
        let ids = if packed { 1 } else { setup.workitem_ids as usize + 1 };
        registers.vectors = vec![[!0; 64]; file];
        registers.some = (0..file).map(|r| if r < ids { 0 } else { !0 }).collect();
        let reg = |r: usize| match r.checked_sub(shape.vgprs.into()) {
            Some(a) => Reg::Agpr(a as u8),
            None => Reg::Vgpr(r as u8),
        };
        registers.origins = (0..file).map(|r| Some(Origin::Register(reg(r)))).collect();
        registers.scalars = (0..128).map(|code| (!0, Some(Origin::Register(Reg::Scalar(code))))).collect();
        let system = setup.system.iter().filter(|enabled| **enabled).count() as u32;
        let user = (0..plan.user.len() as u32).chain(setup.user_sgprs..setup.user_sgprs + system);
        // What the machine sets, and what only trap handlers look at.
        let own = user.chain(regs::EXEC..regs::EXEC + 2).chain(108..124);
        own.for_each(|code| registers.set_scalar(code, 0, None));
        registers.scc = Some(Origin::Register(Reg::Scc));
        registers.private.clear();
        registers.indexed = false;
    }

    fn before(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed) {
        let inst = self.resolved(cx, wave, at);
        match inst.run {
            Run::Valu(_) | Run::Compare(_) => self.vector(cx, wave, at, &inst),
            Run::Salu => self.scalar(cx, wave, at, &inst),
            Run::LaneMove(what) => self.lane_move(wave, &inst, what),
            Run::Mfma => self.matrix(wave, at),
            Run::Memory(_) | Run::Formatted(_) | Run::Image(_) | Run::ScalarMemory(_) | Run::Share(_) => {
                let address = ("undefined-address", "an address has bits that nobody has written");
                self.decide(cx, wave, at, is_address, address);
                if let Run::Share(share @ (Share::Swizzle | Share::BackwardPermute | Share::Permute)) =
                    inst.run
                {
                    self.permute(cx, wave, &inst, share);
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

    fn after(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed, accesses: &[Access]) {
        let inst = self.resolved(cx, wave, at);
        match inst.run {
            Run::Memory(_) | Run::Share(Share::Access(_)) => {
                if !matches!(
                    inst.run,
                    Run::Memory(Move::Store { .. }) | Run::Share(Share::Access(Move::Store { .. }))
                ) {
                    self.defined(wave, at);
                }
                self.transfer(wave, at, &inst, accesses);
            }
            Run::Share(Share::Pair { bytes, action, .. }) => {
                self.defined(wave, at);
                self.pairs(wave, at, &inst, (bytes, action), accesses);
            }
            Run::Share(Share::Swizzle | Share::BackwardPermute | Share::Permute) => {}
            Run::ScalarMemory(ScalarMemory::Load { .. }) => {
                self.defined(wave, at);
                let data = at.step.info.writes().find(|u| u.role.is_some()).map(|u| u.reg);
                let Some(Reg::Scalar(first)) = data else { return };
                let mut code = u32::from(first);
                for access in accesses.iter().filter(|a| a.kind == Kind::Read) {
                    let (undefined, origin) = self.read(wave, access);
                    for i in 0..access.bytes / 4 {
                        self.registers(wave).set_scalar(code, (undefined >> (32 * i)) as u32, origin);
                        code += 1;
                    }
                }
            }
            Run::Share(_) | Run::Formatted(_) | Run::Image(_) | Run::ScalarMemory(_) => {
                self.defined(wave, at);
                for access in accesses.iter().filter(|a| a.fault.is_none() && a.kind != Kind::Read) {
                    self.write(wave, at, access, 0, None);
                }
            }
            _ => {}
        }
    }
}
