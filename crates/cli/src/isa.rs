//! placeholder
use clap::Subcommand;
use std::process::ExitCode;
#[derive(Subcommand)]
pub enum Isa {
    /// List the processors with their other names
    Processors,
}
pub fn run(_c: Isa) -> ExitCode { ExitCode::SUCCESS }
