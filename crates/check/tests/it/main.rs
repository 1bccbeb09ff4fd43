//! Lint against compilers' code, mutants of it, and pairs of bugs and their mended twins.

mod compilers;
mod harmless;
mod mutants;
mod objects;
mod pairs;
mod unsaid;
mod walk;
