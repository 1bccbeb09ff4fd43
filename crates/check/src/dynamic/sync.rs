//! Barriers that not all waves or lanes of a work-group reach, and waves that wait for ever.

use super::accesses::Accesses;
use super::book::{Key, Told, Who};
use super::scene::Executed;
use super::set::Check;
use super::watch::{Context, GroupWatch, Watch};
use wavemill_isa::Op;
use wavemill_wave::observe::{Kind, Space};
use wavemill_wave::{Event, Wave, WaveId};

/// The check.
pub struct Sync;

impl Watch for Sync {
    fn group(&self, _: &Context<'_>, _: [u32; 3], waves: u32) -> Box<dyn GroupWatch> {
        Box::new(Group { waves: vec![State::default(); waves as usize], episode: 0 })
    }
}

/// A wave.
#[derive(Clone, Copy, Default)]
struct State {
    id: WaveId,
    started: bool,
    /// The lanes it started with.
    lanes: u64,
    /// EXEC was last set to a constant: the lanes that are missing have not gone elsewhere.
    chosen: bool,
    /// The instruction it is at.
    pc: u64,
    /// The barrier it waits at, and the how manyeth of the work-group that is.
    barrier: Option<(u64, u64)>,
    /// It has ended, at this instruction.
    ended: Option<u64>,
    /// What it has read last: the instruction, the memory and the address.
    read: Option<(u64, Space, u64)>,
}

struct Group {
    waves: Vec<State>,
    episode: u64,
}

impl Group {
    /// All have come: they should be at one barrier.
    fn compare(&self, cx: &Context<'_>) {
        let waiting = |w: &&State| w.barrier.is_some_and(|(_, episode)| episode == self.episode);
        let Some(first) = self.waves.iter().find(waiting) else { return };
        let at = |w: &State| w.barrier.map_or(0, |(pc, _)| pc);
        let elsewhere = self.waves.iter().filter(waiting).find(|w| at(w) != at(first));
        if let Some(other) = elsewhere.filter(|_| !cx.scene.is_of_gcc()) {
            let key =
                Key { check: Check::Sync, kind: "different-barriers", pc: at(first), other: Some(at(other)) };
            cx.report(key, Who { wave: first.id, lanes: 0 }, 1, || Told {
                message: format!(
                    "waves of a work-group meet at different barriers: wave {} is elsewhere",
                    other.id.wave
                ),
                other: "the other",
                mend: "let all waves of a work-group come to the same barrier".into(),
                ..Told::default()
            });
        }
        if let Some((other, end)) = self.waves.iter().find_map(|w| Some((w, w.ended?))) {
            let key =
                Key { check: Check::Sync, kind: "ended-before-barrier", pc: at(first), other: Some(end) };
            cx.report(key, Who { wave: first.id, lanes: 0 }, 1, || Told {
                message: format!(
                    "wave {} of the work-group has ended and does not come to this barrier",
                    other.id.wave
                ),
                other: "it ended",
                mend: "leave the kernel behind the last barrier only".into(),
                ..Told::default()
            });
        }
    }
}

impl GroupWatch for Group {
    fn wave_started(&mut self, _: &Context<'_>, wave: &Wave) {
        self.waves[wave.id.wave as usize] =
            State { id: wave.id, started: true, lanes: wave.exec(), pc: wave.pc, ..State::default() };
    }

    fn before(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed) {
        let state = &mut self.waves[wave.id.wave as usize];
        state.pc = at.step.at;
        if at.writes_exec {
            state.chosen =
                at.step.inst.row.op == Op::s_mov_b64 && !at.step.info.reads().any(|u| u.role.is_some());
        }
        let missing = if state.chosen { 0 } else { state.lanes & !wave.exec() };
        if at.step.inst.row.op == Op::s_barrier && missing != 0 {
            let key = Key { check: Check::Sync, kind: "divergent-barrier", pc: at.step.at, other: None };
            cx.report(key, Who { wave: wave.id, lanes: missing }, 1, || Told {
                message: format!(
                    "{} work-items of the wave do not come to this barrier",
                    missing.count_ones()
                ),
                mend: "move the barrier to where all work-items of the work-group come by".into(),
                ..Told::default()
            });
        }
    }

    fn after(&mut self, _: &Context<'_>, wave: &Wave, at: &Executed, accesses: &mut Accesses) {
        let reads = |kind: Kind| matches!(kind, Kind::Read | Kind::Atomic(_));
        let found = match accesses.together() {
            Some(parts) => accesses.first().filter(|_| reads(parts[0].kind)),
            None => accesses.list().iter().find(|a| reads(a.kind)).map(|a| (a.space, a.kind, a.address)),
        };
        if let Some((space, _, address)) = found {
            self.waves[wave.id.wave as usize].read = Some((at.step.at, space, address));
        }
    }

    fn barrier_reached(&mut self, _: &Context<'_>, wave: &Wave) {
        let state = &mut self.waves[wave.id.wave as usize];
        state.barrier = Some((state.pc, self.episode));
    }

    fn barrier_released(&mut self, cx: &Context<'_>, wave: &Wave) {
        let own = self.waves[wave.id.wave as usize].barrier.map(|(_, episode)| episode);
        if own == Some(self.episode) {
            self.compare(cx);
            self.episode += 1;
        }
        self.waves[wave.id.wave as usize].barrier = None;
    }

    fn wave_ended(&mut self, _: &Context<'_>, wave: &Wave, how: &Event) {
        let state = &mut self.waves[wave.id.wave as usize];
        if *how == Event::End {
            state.ended = Some(state.pc);
        }
    }

    fn ended(&mut self, cx: &Context<'_>) {
        if !cx.stopped {
            return;
        }
        let late = self.waves.iter().filter(|w| w.started && w.ended.is_none() && w.barrier.is_none());
        for wave in late {
            let waiting = self.waves.iter().find(|w| w.barrier.is_some());
            let other = waiting.and_then(|w| w.barrier).map(|(pc, _)| pc);
            let kind = if other.is_some() { "never-at-barrier" } else { "never-ends" };
            let key = Key { check: Check::Sync, kind, pc: wave.read.map_or(wave.pc, |(pc, ..)| pc), other };
            cx.report(key, Who { wave: wave.id, lanes: 0 }, 1, || {
                let mut facts = Vec::new();
                if let Some((_, space, address)) = wave.read {
                    let near = cx.scene.memory.nearest(address).filter(|_| space == Space::Global);
                    let near = near.map_or(String::new(), |n| format!(": {n}"));
                    facts.push(("reads", format!("{address:#x} in {space:?}{near}").to_lowercase()));
                }
                let waits = waiting.map(|w| format!(", and wave {} waits for it at a barrier", w.id.wave));
                Told {
                    message: format!(
                        "the wave was still running when time was up{}",
                        waits.unwrap_or_default()
                    ),
                    other: "the barrier",
                    facts,
                    mend: "see who is to write what it reads, and whether that wave waits for this one"
                        .into(),
                    ..Told::default()
                }
            });
        }
    }
}
