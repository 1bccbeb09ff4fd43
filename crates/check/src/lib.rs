//! What is wrong with code.
//!
//! Without running it, on all paths: [`program`] decodes what an entry reaches and joins it to a graph; [`flow`] carries facts
//! along all paths of the graph. Each check is a module that knows nothing of the others: [`wait`] finds registers that are
//! used before their counter allows it, [`hazard`] wait states that the hardware does not insert by itself,
//! [`model`] sequences of the memory model that are in the wrong order. What an instruction
//! touches, crate `isa` says.
//!
//! While it runs, on the path taken and with the addresses used: [`dynamic`], whose checks hang on the events of waves.
//!
//! [`report`] is the form of what either side finds, [`suppress`] what is known and not to be told,
//! [`wire`] how it gets from one process to another. Files are left to those
//! who call.
#![forbid(unsafe_code)]

pub mod dynamic;
pub mod finding;
mod flow;
pub mod hazard;
pub mod leak;
pub mod model;
pub mod program;
pub mod report;
pub mod suppress;
pub mod wait;
pub mod wire;

pub use dynamic::{Check, Checks, Session};
pub use finding::{Finding, Kind, Mend};
pub use program::{Program, Unknown};
pub use report::{Format, Report};

/// Runs all checks; findings come in the order of the code.
pub fn lint(program: &Program) -> Vec<Finding> {
    let mut found = wait::check(program);
    found.extend(hazard::check(program));
    found.extend(model::check(program));
    found.sort_by_key(|f| (f.at, f.other, f.kind));
    found
}
