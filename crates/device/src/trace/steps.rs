//! The instructions of a dispatch's waves as they run, compared with what was before.

use super::filter::Spot;
use super::{Filter, Paper};
use crate::loader::Loaded;
use crate::memory::Allocations;
use crate::observe::Scene;
use crate::operands::{self, Registers};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use wavemill_asm::disasm::Disassembler;
use wavemill_isa::info::Reg;
use wavemill_isa::row::Access as Operand;
use wavemill_isa::{Inst, Kind as Type, Target};
use wavemill_object::demangle;
use wavemill_object::lines::Lines;
use wavemill_object::read::File;
use wavemill_wave::observe::{Access, Control, Instruction, Kind, Space};
use wavemill_wave::{Event, Observer, Wave, WaveId};

/// Looks on while the waves of a dispatch run.
pub(super) struct Steps {
    filter: Filter,
    paper: Arc<Paper>,
    kernel: String,
    entry: u64,
    target: Target,
    memory: Arc<Allocations>,
    object: Arc<Loaded>,
    lines: OnceLock<Option<Lines>>,
    waves: Mutex<HashMap<WaveId, Now>>,
}

/// A wave in the middle of an instruction.
#[derive(Default)]
struct Now {
    /// It has come to where it is traced from.
    on: bool,
    before: Option<Before>,
    accesses: Vec<Access>,
}

/// What a wave was like before an instruction.
struct Before {
    registers: Registers,
    scc: bool,
    mode: u32,
}

impl Steps {
    pub(super) fn new(scene: &Scene<'_>, filter: &Filter, paper: Arc<Paper>) -> Steps {
        let kernel = &scene.plan.kernel;
        Steps {
            filter: filter.clone(),
            paper,
            kernel: demangle::shown(&kernel.name).into_owned(),
            entry: kernel.entry,
            target: *scene.target,
            memory: scene.memory.clone(),
            object: scene.object.clone(),
            lines: OnceLock::new(),
            waves: Mutex::default(),
        }
    }

    fn source(&self, pc: u64) -> Option<(&str, u32)> {
        let lines = self.lines.get_or_init(|| {
            let file = File::parse(&self.object.file).ok()?;
            Lines::read(&file).ok()?
        });
        let line = lines.as_ref()?.find(0, pc.wrapping_sub(self.object.bias))?;
        Some((line.file, line.line))
    }

    /// Where an instruction is, for people.
    fn place(&self, pc: u64) -> String {
        match self.source(pc) {
            // The directory is the same on every line.
            Some((file, line)) => format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)),
            None => match self.object.function_at(pc) {
                Some(f) => {
                    let name = demangle::short(&f.name).unwrap_or_else(|| f.name.clone());
                    format!("{name}+{:#x}", pc - f.address)
                }
                None => format!("{pc:#x}"),
            },
        }
    }

    fn text(&self, inst: &Inst) -> String {
        let mut text = Vec::new();
        Disassembler::new(self.target).one(&inst.bits.to_le_bytes()[..inst.len as usize], &mut text);
        String::from_utf8_lossy(&text).trim().replace('\t', " ")
    }

    /// Everything there is to say about an instruction that was executed, or faulted.
    fn describe(&self, wave: &Wave, step: &Instruction, now: &Now, faulted: bool) -> String {
        let mut out = format!("  {:<14} {}\n", self.place(step.pc), self.text(&step.inst));
        let Some(before) = &now.before else { return out };
        let mut line = |text: &str| _ = writeln!(out, "{:21}{text}", "");
        let after = Registers::of(wave);
        for change in self.scalars(&before.registers, &after) {
            line(&change);
        }
        if before.scc != wave.scc {
            line(&format!("scc = {}", u8::from(wave.scc)));
        }
        if before.mode != wave.mode {
            line(&format!("mode = {:#x}, was {:#x}", wave.mode, before.mode));
        }
        let float = is_float(&step.inst);
        for change in after.changed_vectors(&before.registers, self.filter.lanes(), float) {
            line(&change);
        }
        for access in self.accesses(&now.accesses) {
            line(&access);
        }
        let next = step.pc.wrapping_add(u64::from(step.inst.len));
        if !faulted && wave.pc != next {
            line(&format!("goes to {}", self.place(wave.pc)));
        }
        out
    }

    /// Scalar registers that are not what they were; pairs whose halves both changed as one number.
    fn scalars(&self, before: &Registers, after: &Registers) -> Vec<String> {
        let changed = |code: usize| before.scalar(code) != after.scalar(code);
        let mut out = Vec::new();
        let mut code = 0usize;
        while code < 128 {
            let special = code >= 106;
            let pair = code.is_multiple_of(2)
                && match special {
                    // VCC and EXEC are masks, whichever half has changed.
                    true => matches!(code, 106 | 126) && (changed(code) || changed(code + 1)),
                    false => changed(code) && changed(code + 1),
                };
            let dwords = if pair { 2 } else { 1 };
            if pair || changed(code) {
                let value = |r: &Registers| match pair {
                    true => u64::from(r.scalar(code)) | u64::from(r.scalar(code + 1)) << 32,
                    false => r.scalar(code).into(),
                };
                let name = Reg::Scalar(code as u8).name(dwords, &self.target);
                out.push(format!("{name} = {:#x}, was {:#x}", value(after), value(before)));
            }
            code += usize::from(dwords);
        }
        out
    }

    /// Accesses: the parts of a lane's that lie behind one another as one, lanes whose addresses go up by the same step
    /// together.
    fn accesses(&self, all: &[Access]) -> Vec<String> {
        let mut joined: Vec<Joined> = Vec::new();
        for access in all.iter().filter(|a| a.bytes > 0) {
            let lane = access.lane;
            if lane.is_some_and(|l| self.filter.lanes() >> l & 1 == 0) {
                continue;
            }
            let what = verb(access.kind);
            let part = Joined {
                what,
                space: access.space,
                lane,
                address: access.address,
                bytes: access.bytes,
                values: vec![access.value],
                faulted: access.fault.is_some(),
            };
            match joined.iter_mut().rev().find(|j| j.lane == lane) {
                Some(last) if last.takes(&part) => {
                    last.bytes += part.bytes;
                    last.values.extend(part.values);
                }
                _ => joined.push(part),
            }
        }
        let mut out = Vec::new();
        let mut at = 0;
        while let Some(first) = joined.get(at) {
            let run = joined[at..].iter().take_while(|j| j.is_like(first)).count();
            out.extend(self.grouped(&joined[at..at + run]));
            at += run;
        }
        out
    }

    /// Lines for accesses of lanes that only their addresses and values tell apart.
    fn grouped(&self, all: &[Joined]) -> Vec<String> {
        let Some(first) = all.first() else { return Vec::new() };
        let bytes = first.bytes;
        let (Some(_), 1) = (first.lane, first.values.len()) else {
            let one = |j: &Joined| {
                let values: Vec<String> = j.values.iter().map(|v| format!("{v:#x}")).collect();
                let lane = j.lane.map(|l| format!(" (lane {l})")).unwrap_or_default();
                format!("{}{lane}", j.line(&self.address(j.space, j.address), "", &values.join(" ")))
            };
            let mut lines: Vec<String> = all.iter().take(operands::ROWS).map(one).collect();
            if all.len() > operands::ROWS {
                lines.push(format!(
                    "{} {bytes} bytes each: {} more lanes",
                    first.what,
                    all.len() - operands::ROWS
                ));
            }
            return lines;
        };
        let mask = all.iter().fold(0u64, |m, j| m | 1 << j.lane.unwrap_or(0));
        let find = |lane: usize| all.iter().find(|j| j.lane == Some(lane as u8));
        let mut lines = Vec::new();
        for places in operands::groups(mask, |l| find(l).map_or(0, |j| j.address)) {
            for values in operands::groups(places.lanes, |l| find(l).map_or(0, |j| j.values[0])) {
                let start = find(values.lanes.trailing_zeros() as usize).map_or(0, |j| j.address);
                let many = values.lanes.count_ones() > 1;
                let step = if many { operands::step(places.step) } else { String::new() };
                let value = format!(
                    "{:#x}{}",
                    values.value,
                    if many { operands::step(values.step) } else { String::new() }
                );
                let lanes = operands::lanes(values.lanes);
                let said = first.line(&self.address(first.space, start), &step, &value);
                lines.push(format!("{said} (lanes {lanes})"));
            }
        }
        let more = lines.len().saturating_sub(operands::ROWS);
        if more > 0 {
            lines.truncate(operands::ROWS);
            lines.push(format!("{}: {more} more groups of lanes", first.what));
        }
        lines
    }

    /// An address by what lies there.
    fn address(&self, space: Space, address: u64) -> String {
        let share = match space {
            Space::Lds => "LDS",
            Space::Gds => "GDS",
            Space::Global | Space::Scratch | Space::Scalar | Space::Code => {
                return match self.memory.find(address) {
                    Some(a) => format!("{}+{:#x}", a.name, address - a.start),
                    None => format!("{address:#x}"),
                };
            }
        };
        format!("{share}+{address:#x}")
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<WaveId, Now>> {
        self.waves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wanted(&self, id: WaveId) -> bool {
        !self.paper.is_full() && self.filter.takes_wave(id.wave, id.group)
    }
}

impl Observer for Steps {
    fn before(&self, wave: &Wave, step: &Instruction) -> Control {
        if !self.wanted(wave.id) {
            return Control::Continue;
        }
        let function = self.object.function_at(step.pc);
        let spot = Spot {
            source: self.source(step.pc),
            offset: step.pc.wrapping_sub(self.entry),
            function: function.map(|f| (f.name.as_str(), step.pc - f.address)),
        };
        let mut waves = self.lock();
        let now =
            waves.entry(wave.id).or_insert_with(|| Now { on: self.filter.starts_on(), ..Now::default() });
        now.on = self.filter.at(now.on, &spot);
        now.accesses.clear();
        let before = || Before { registers: Registers::of(wave), scc: wave.scc, mode: wave.mode };
        now.before = now.on.then(before);
        Control::Continue
    }

    fn access(&self, wave: &Wave, access: &Access) -> Control {
        if access.space != Space::Code
            && let Some(now) = self.lock().get_mut(&wave.id).filter(|n| n.before.is_some())
        {
            now.accesses.push(*access);
        }
        Control::Continue
    }

    fn after(&self, wave: &Wave, step: &Instruction) -> Control {
        let mut waves = self.lock();
        if let Some(now) = waves.get_mut(&wave.id).filter(|n| n.before.is_some()) {
            let now = std::mem::replace(now, Now { on: now.on, ..Now::default() });
            drop(waves);
            self.paper.write(wave.id, &self.kernel, &self.describe(wave, step, &now, false));
        }
        Control::Continue
    }

    fn stopped(&self, wave: &Wave, event: &Event) {
        let Event::Fault(fault) = event else { return };
        let Some(now) = self.lock().remove(&wave.id).filter(|n| n.before.is_some()) else { return };
        let mut bytes = [0; 8];
        let memory = self.memory.memory();
        let _ = memory.read(fault.pc, &mut bytes) || memory.read(fault.pc, &mut bytes[..4]);
        let Some(inst) = Disassembler::new(self.target).one(&bytes, &mut Vec::new()) else { return };
        let step = Instruction { pc: fault.pc, inst };
        self.paper.write(wave.id, &self.kernel, &self.describe(wave, &step, &now, true));
    }

    fn wave_ended(&self, wave: &Wave, how: &Event) {
        if !matches!(how, Event::Fault(_)) {
            self.lock().remove(&wave.id);
        }
    }
}

/// What a lane, or the wave itself, did to neighbouring bytes.
struct Joined {
    what: &'static str,
    space: Space,
    lane: Option<u8>,
    address: u64,
    bytes: u32,
    /// What was there afterwards, part by part.
    values: Vec<u64>,
    faulted: bool,
}

impl Joined {
    /// The part comes right behind it.
    fn takes(&self, part: &Joined) -> bool {
        let same = self.what == part.what && self.space == part.space && self.faulted == part.faulted;
        same && self.address.checked_add(u64::from(self.bytes)) == Some(part.address) && self.what != ATOMIC
    }

    fn is_like(&self, other: &Joined) -> bool {
        self.what == other.what
            && self.space == other.space
            && self.bytes == other.bytes
            && self.values.len() == other.values.len()
            && self.faulted == other.faulted
            && self.lane.is_some() == other.lane.is_some()
    }

    fn line(&self, address: &str, step: &str, value: &str) -> String {
        let Joined { what, bytes, .. } = self;
        match self.faulted {
            true => format!("{what} {bytes} bytes at {address}{step}: a fault"),
            false => format!("{what} {bytes} bytes at {address}{step}: {value}"),
        }
    }
}

const ATOMIC: &str = "updates";

fn verb(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "reads",
        Kind::Write => "writes",
        Kind::Atomic(_) => ATOMIC,
        Kind::Invalidate | Kind::WriteBack => "sees to",
    }
}

/// Whether an instruction's result is f32.
fn is_float(inst: &Inst) -> bool {
    let result = inst.row.operands.iter().find(|o| o.access != Operand::Read);
    result.is_some_and(|o| o.ty.kind == Type::F && o.ty.bits == 32)
}
