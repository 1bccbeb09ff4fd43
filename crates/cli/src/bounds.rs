//! `--bounds`: how exactly accesses are held to allocations.

use clap::ValueEnum;
use wavemill_wave::Bounds;

/// What the option takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Kind {
    /// To the last byte
    Exact,
    /// To the end of the last page
    Page,
}

impl Kind {
    /// As the runtime's variable has it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Exact => "exact",
            Kind::Page => "page",
        }
    }
}

impl From<Kind> for Bounds {
    fn from(kind: Kind) -> Bounds {
        match kind {
            Kind::Exact => Bounds::Exact,
            Kind::Page => Bounds::Page,
        }
    }
}
