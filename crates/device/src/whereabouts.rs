//! Where the waves of a dispatch are that was stopped before its end, and what they wait for.

use crate::group::Group;
use crate::hold::WaveState;
use wavemill_wave::WaveId;

/// What a wave waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaits {
    /// Nothing: it runs.
    Nothing,
    /// Other waves of its work-group, at a barrier.
    Barrier,
    /// Memory that somebody else writes: it does the same again and again.
    Memory,
    /// Its turn at an ordered counter.
    Turn(u8),
    /// Somebody who holds it.
    Release,
}

/// A wave that had not ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    /// Which.
    pub id: WaveId,
    /// Where: its next instruction, or the barrier.
    pub pc: u64,
    /// What it waits for.
    pub awaits: Awaits,
}

/// Bytes of S_BARRIER.
const BARRIER: u64 = 4;

/// Notes the waves of a work-group that have not ended.
pub(crate) fn note(group: &Group, out: &mut Vec<Left>) {
    for (wave, state) in group.waves.iter().zip(&group.states) {
        let awaits = match state {
            WaveState::Ended => continue,
            WaveState::Barrier => Awaits::Barrier,
            WaveState::Held(_) => Awaits::Release,
            WaveState::Ready => match wave.awaited_turn() {
                Some(counter) => Awaits::Turn(counter),
                None if group.waits => Awaits::Memory,
                None => Awaits::Nothing,
            },
        };
        let pc = if awaits == Awaits::Barrier { wave.pc.wrapping_sub(BARRIER) } else { wave.pc };
        out.push(Left { id: wave.id, pc, awaits });
    }
}

/// Places that are told apart; beyond these there is only their number.
const PLACES: usize = 8;

/// A line for each place and what is waited for there, most waves first.
pub(crate) fn describe(left: &[Left], groups: u64, begun: u64, place: impl Fn(u64) -> String) -> Vec<String> {
    let mut kinds: Vec<(u64, Awaits, Vec<WaveId>)> = Vec::new();
    for wave in left {
        match kinds.iter_mut().find(|(pc, awaits, _)| (*pc, *awaits) == (wave.pc, wave.awaits)) {
            Some((_, _, ids)) => ids.push(wave.id),
            None => kinds.push((wave.pc, wave.awaits, vec![wave.id])),
        }
    }
    kinds.sort_by_key(|(pc, _, ids)| (std::cmp::Reverse(ids.len()), *pc));
    let mut out: Vec<String> = Vec::new();
    for (pc, awaits, ids) in kinds.iter().take(PLACES) {
        let waves = if ids.len() == 1 { "1 wave".to_owned() } else { format!("{} waves", ids.len()) };
        let at = place(*pc);
        let what = match awaits {
            Awaits::Nothing => format!("at {at}"),
            Awaits::Barrier => format!("at the barrier at {at}, for the others of the work-group"),
            Awaits::Memory => format!("at {at}, for memory to change: the same again and again"),
            Awaits::Turn(counter) => format!("at {at}, for the turn at ordered counter {counter}"),
            Awaits::Release => format!("at {at}, held"),
        };
        let first = ids.iter().min_by_key(|id| (id.group, id.wave));
        let first = first.map(|id| {
            let group = id.group.map(|n| n.to_string()).join(",");
            format!(" (work-group {group}, wave {}{})", id.wave, if ids.len() > 1 { ", …" } else { "" })
        });
        out.push(format!("{waves} {what}{}", first.unwrap_or_default()));
    }
    if kinds.len() > PLACES {
        out.push(format!("and waves at {} more places", kinds.len() - PLACES));
    }
    if begun < groups {
        out.push(format!("{} of {groups} work-groups have not begun", groups - begun));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_at_one_place_are_together() {
        let left = |wave, pc, awaits| Left { id: WaveId { dispatch: 0, group: [0; 3], wave }, pc, awaits };
        let waves = [
            left(3, 0x20, Awaits::Memory),
            left(1, 0x10, Awaits::Barrier),
            left(0, 0x10, Awaits::Barrier),
            left(2, 0x10, Awaits::Barrier),
        ];
        let said = describe(&waves, 7, 1, |pc| format!("k+{pc:#x}"));
        let want = [
            "3 waves at the barrier at k+0x10, for the others of the work-group (work-group 0,0,0, wave 0, …)",
            "1 wave at k+0x20, for memory to change: the same again and again (work-group 0,0,0, wave 3)",
            "6 of 7 work-groups have not begun",
        ];
        assert_eq!(said, want);
    }
}
