//! Options about how closely memory does what the hardware's does: `--bounds`, `--faults`, `--caches`.

use clap::{Args, ValueEnum};
use wavemill_wave::{Bounds, Violations};

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

/// What `--faults` takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Faults {
    /// Stop the dispatch with a report
    Report,
    /// Note it in TRAPSTS, read zero, drop what is written, and go on
    Architectural,
}

/// What the hardware does that most people want to be told of instead.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Silicon {
    /// What an access outside of all memory does: stop with a report, or as in the manual (3.11, 10.6) set a bit of TRAPSTS,
    /// read zero and go on (default: report)
    #[arg(long, value_name = "HOW")]
    faults: Option<Faults>,
    /// Model the vector and scalar caches of the first level, so that loads without glc, buffer_wbinvl1 or s_dcache_inv
    /// find stale data, and scalar stores without s_dcache_wb are not seen; slow
    #[arg(long)]
    pub caches: bool,
}

impl Silicon {
    /// What was asked for here, or else there.
    pub fn or(self, other: Silicon) -> Silicon {
        Silicon { faults: self.faults.or(other.faults), caches: self.caches || other.caches }
    }

    /// What becomes of memory violations.
    pub fn violations(&self) -> Violations {
        match self.faults {
            Some(Faults::Architectural) => Violations::Architectural,
            Some(Faults::Report) | None => Violations::Report,
        }
    }

    /// As the runtime's variables have it.
    pub fn variables(&self) -> Vec<(&'static str, &'static str)> {
        let faults = self.faults.map(|f| match f {
            Faults::Report => "report",
            Faults::Architectural => "architectural",
        });
        let mut list: Vec<_> = faults.map(|f| ("WAVEMILL_VIOLATIONS", f)).into_iter().collect();
        if self.caches {
            list.push(("WAVEMILL_CACHES", "1"));
        }
        list
    }
}
