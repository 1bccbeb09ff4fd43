//! Facts along all paths: the state before each step is what any path to it may bring.

use crate::program::{Program, Step};

/// A state of an analysis.
pub trait State: Clone + PartialEq {
    /// Takes in what another path brings.
    fn join(&mut self, other: &Self);

    /// What holds after a step.
    fn step(&mut self, program: &Program, index: usize, step: &Step);
}

/// The state before each step; none where no path leads.
pub fn before<S: State>(program: &Program, start: &S) -> Vec<Option<S>> {
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
