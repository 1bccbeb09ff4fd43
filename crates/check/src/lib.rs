//! What is wrong with GPU code, found without running it.
//!
//! [`program`] decodes what an entry reaches and joins it to a graph; [`flow`] carries facts along all paths of the graph.
//! Each check is a module that knows nothing of the others: [`wait`] finds registers that are used before their counter
//! allows it, [`hazard`] wait states that the hardware does not insert by itself. What an instruction touches, crate `isa`
//! says. Where a finding is in a source, and how it is shown, is left to those who call [`lint`].
#![forbid(unsafe_code)]

pub mod finding;
mod flow;
pub mod hazard;
pub mod program;
pub mod wait;

pub use finding::{Finding, Kind, Mend};
pub use program::{Program, Unknown};

/// Runs all checks; findings come in the order of the code.
pub fn lint(program: &Program) -> Vec<Finding> {
    let mut found = wait::check(program);
    found.extend(hazard::check(program));
    found.sort_by_key(|f| (f.at, f.other, f.kind));
    found
}
