//! Facts along all paths: the state before each step is what any path to it may bring.

use crate::finding::Finding;
use crate::program::{Program, Step};
use std::hash::Hash;

/// A state of an analysis.
pub trait State: Clone + Eq + Hash + Default {
    /// Takes in what another path brings.
    fn join(&mut self, other: &Self);

    /// What holds after a step.
    fn step(&mut self, program: &Program, index: usize, step: &Step);

    /// What holds after a FLAT step of which it has shown that its address is in LDS.
    fn touched_lds(&mut self, program: &Program, index: usize) {
        let _ = (program, index);
    }

    /// What is wrong with a step that finds this state.
    fn found(&self, program: &Program, index: usize) -> Vec<Finding>;
}

/// What is wrong on any path.
pub fn check<S: State>(program: &Program) -> Vec<Finding> {
    let states = before(program, &S::default());
    let found = |(index, state): (usize, &Option<S>)| state.as_ref().map(|s| s.found(program, index));
    states.iter().enumerate().filter_map(found).flatten().collect()
}

/// The state before each step; none where no path leads.
fn before<S: State>(program: &Program, start: &S) -> Vec<Option<S>> {
    let mut states: Vec<Option<S>> = vec![None; program.steps.len()];
    let mut todo: Vec<usize> = Vec::new();
    for entry in &program.entries {
        states[*entry] = Some(start.clone());
        todo.push(*entry);
    }
    while let Some(index) = todo.pop() {
        let Some(mut state) = states[index].clone() else { continue };
        let step = &program.steps[index];
        state.step(program, index, step);
        for next in &step.next {
            let joined = match &states[*next] {
                None => state.clone(),
                Some(old) => {
                    let mut joined = old.clone();
                    joined.join(&state);
                    if joined == *old {
                        continue;
                    }
                    joined
                }
            };
            states[*next] = Some(joined);
            todo.push(*next);
        }
    }
    states
}
