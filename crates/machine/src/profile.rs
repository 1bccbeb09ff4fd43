//! How large the GPU is: what bounds the number of work-groups that are under way at once.

use wavemill_isa::Level;
use wavemill_isa::target::Processor;

/// A GPU of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Product name.
    pub product: &'static str,
    /// Compute units.
    pub compute_units: u32,
}

impl Profile {
    /// The usual product with a processor.
    pub fn of(cpu: &Processor) -> Profile {
        let (product, compute_units) = match (cpu.level, cpu.name) {
            (Level::Gfx90a, _) => ("AMD Instinct MI210", 104),
            (Level::Gfx908, _) => ("AMD Instinct MI100", 120),
            (Level::Gfx906, _) => ("AMD Radeon Instinct MI50", 60),
            (_, "gfx900") => ("AMD Radeon Instinct MI25", 64),
            (Level::Gfx8, _) => ("AMD Radeon R9 Fury X", 64),
            (Level::Gfx7, _) => ("AMD Radeon R9 290X", 44),
            (Level::Gfx6, _) => ("AMD Radeon HD 7970", 32),
            _ => ("AMD Radeon Vega", 8),
        };
        Profile { product, compute_units }
    }
}
