//! The static checks along the path that waves take: what [`crate::flow`] carries along all paths is carried along this
//! one. Waves take the same paths again and again, so that what a step makes of a state is found out once and remembered.

use super::accesses::Accesses;
use super::book::{Key, Told, Who};
use super::pool::Pool;
use super::scene::Executed;
use super::set::Check;
use super::watch::{Context, GroupWatch, Watch};
use crate::finding::Kind;
use crate::flow::State;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use wavemill_isa::Enc;
use wavemill_wave::Wave;
use wavemill_wave::observe::Space;

/// States that are remembered. Kernels have hundreds; where one has more, the paths that lead to others begin anew, with nothing
/// under way.
const STATES: usize = 1 << 14;

/// Marks the number of a FLAT instruction of which it has shown that its address is in LDS: what that makes of a state is a step
/// of its own.
const IN_LDS: u32 = 1 << 31;

/// Where a step leads, and the findings of it.
#[derive(Clone)]
struct Move {
    to: u32,
    found: Option<Arc<Vec<(Kind, u64, u64)>>>,
}

/// The states that waves have been in.
struct Map<S> {
    states: Vec<S>,
    numbers: HashMap<S, u32>,
    moves: HashMap<(u32, u32), Move>,
}

impl<S: State> Map<S> {
    fn new() -> Map<S> {
        let start = S::default();
        Map { states: vec![start.clone()], numbers: HashMap::from([(start, 0)]), moves: HashMap::new() }
    }

    fn number(&mut self, state: S) -> u32 {
        if self.states.len() >= STATES {
            return self.numbers.get(&state).copied().unwrap_or(0);
        }
        let next = self.states.len() as u32;
        let states = &mut self.states;
        *self.numbers.entry(state).or_insert_with_key(|s| {
            states.push(s.clone());
            next
        })
    }
}

/// For each instruction the last step that had no findings: from and to.
type Recent = Vec<Option<(u32, u32)>>;

/// A static check of a dispatch's paths.
pub struct Path<S> {
    check: Check,
    map: Arc<RwLock<Map<S>>>,
    recent: Arc<Pool<Recent>>,
}

impl<S: State + Send + Sync + 'static> Path<S> {
    /// The check that a state is of.
    pub fn new(check: Check) -> Path<S> {
        Path { check, map: Arc::new(RwLock::new(Map::new())), recent: Arc::default() }
    }
}

impl<S: State + Send + Sync + 'static> Watch for Path<S> {
    fn group(&self, _: &Context<'_>, _: [u32; 3], waves: u32) -> Box<dyn GroupWatch> {
        let (pool, recent) = (self.recent.clone(), self.recent.take());
        Box::new(Walk { check: self.check, map: self.map.clone(), pool, recent, at: vec![0; waves as usize] })
    }
}

/// Where the waves of a work-group are.
struct Walk<S> {
    check: Check,
    map: Arc<RwLock<Map<S>>>,
    pool: Arc<Pool<Recent>>,
    recent: Recent,
    /// For each wave the number of its state.
    at: Vec<u32>,
}

impl<S> Drop for Walk<S> {
    fn drop(&mut self) {
        self.pool.give(&mut self.recent);
    }
}

impl<S: State + Send + Sync> Walk<S> {
    /// Finds out what a step makes of a state.
    #[cold]
    fn explore(&self, cx: &Context<'_>, wave: &Wave, at: &Executed, from: u32) -> Move {
        let mut map = self.map.write().unwrap_or_else(PoisonError::into_inner);
        let program = cx.scene.program();
        let state = map.states[from as usize].clone();
        let findings = state.found(&program, at.index as usize);
        for f in &findings {
            let key = Key { check: self.check, kind: f.kind.name(), pc: f.at, other: Some(f.other) };
            let who = Who { wave: wave.id, lanes: 0 };
            cx.report(key, who, 0, || Told {
                message: f.sentence(&cx.scene.target),
                other: "not done",
                mend: format!("put {} before it", f.mending(&cx.scene.target)),
                ..Told::default()
            });
        }
        let found = findings.iter().map(|f| (f.kind, f.at, f.other)).collect::<Vec<_>>();
        let mut next = state;
        next.step(&program, at.index as usize, &at.step);
        let to = map.number(next);
        let found = (!found.is_empty()).then(|| Arc::new(found));
        let step = Move { to, found };
        map.moves.insert((from, at.index), step.clone());
        step
    }

    /// Finds out what a state becomes when a FLAT step has touched LDS.
    #[cold]
    fn explore_lds(&self, cx: &Context<'_>, at: &Executed, from: u32) -> Move {
        let mut map = self.map.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = map.states[from as usize].clone();
        next.touched_lds(&cx.scene.program(), at.index as usize);
        let step = Move { to: map.number(next), found: None };
        map.moves.insert((from, at.index | IN_LDS), step.clone());
        step
    }

    fn count(&self, cx: &Context<'_>, wave: &Wave, found: &[(Kind, u64, u64)]) {
        for (kind, pc, other) in found {
            let key = Key { check: self.check, kind: kind.name(), pc: *pc, other: Some(*other) };
            cx.report(key, Who { wave: wave.id, lanes: 0 }, 1, Told::default);
        }
    }
}

impl<S: State + Send + Sync> GroupWatch for Walk<S> {
    fn before(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed) {
        let (from, index) = (self.at[wave.id.wave as usize], at.index as usize);
        if let Some(Some((same, to))) = self.recent.get(index)
            && *same == from
        {
            self.at[wave.id.wave as usize] = *to;
            return;
        }
        let map = self.map.read().unwrap_or_else(PoisonError::into_inner);
        let known = map.moves.get(&(from, at.index)).cloned();
        drop(map);
        let step = known.unwrap_or_else(|| self.explore(cx, wave, at, from));
        match &step.found {
            Some(found) => self.count(cx, wave, found),
            None => {
                if self.recent.len() <= index {
                    self.recent.resize(index + 1, None);
                }
                self.recent[index] = Some((from, step.to));
            }
        }
        self.at[wave.id.wave as usize] = step.to;
    }

    fn after(&mut self, cx: &Context<'_>, wave: &Wave, at: &Executed, accesses: &mut Accesses) {
        if at.step.inst.row.enc != Enc::Flat || !accesses.any_in(Space::Lds) {
            return;
        }
        let from = self.at[wave.id.wave as usize];
        let map = self.map.read().unwrap_or_else(PoisonError::into_inner);
        let known = map.moves.get(&(from, at.index | IN_LDS)).cloned();
        drop(map);
        let step = known.unwrap_or_else(|| self.explore_lds(cx, at, from));
        self.at[wave.id.wave as usize] = step.to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Finding;
    use crate::program::{Program, Step};

    #[derive(Clone, PartialEq, Eq, Hash, Default)]
    struct Count(u32);

    impl State for Count {
        fn join(&mut self, other: &Self) {
            self.0 = self.0.max(other.0);
        }

        fn step(&mut self, _: &Program, _: usize, _: &Step) {
            self.0 += 1;
        }

        fn found(&self, _: &Program, _: usize) -> Vec<Finding> {
            Vec::new()
        }
    }

    #[test]
    fn states_are_numbered_and_do_not_grow_for_ever() {
        let mut map: Map<Count> = Map::new();
        assert_eq!((map.number(Count(0)), map.number(Count(7)), map.number(Count(7))), (0, 1, 1));
        let numbers = (0..2 * STATES as u32).map(|n| map.number(Count(n))).max();
        assert_eq!(numbers, Some(STATES as u32 - 1));
        assert_eq!((map.states.len(), map.numbers.len()), (STATES, STATES));
        // Those that are known keep their numbers; others begin anew.
        assert_eq!((map.number(Count(7)), map.number(Count(2 * STATES as u32))), (1, 0));
    }
}
