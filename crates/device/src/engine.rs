//! Which engine runs waves: the one place where engines are known by name. `--engine`, `WAVEMILL_ENGINE` and
//! [`crate::Options::engine`] all come here.

use std::sync::Arc;
use wavemill_isa::Target;
use wavemill_plain::Plain;
use wavemill_wave::{Engine, Interp};

/// An engine by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EngineKind {
    /// The interpreter, with the widest SIMD kernels the host has.
    #[default]
    Interp,
    /// One lane after another: slow, and a yardstick for the others.
    Plain,
}

impl EngineKind {
    /// Every engine.
    pub const ALL: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Plain];

    /// The name by which users ask for it.
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Interp => "interp",
            EngineKind::Plain => "plain",
        }
    }

    /// The engine of a name, or what to say if there is none.
    pub fn named(name: &str) -> Result<EngineKind, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| {
            format!("no engine `{name}`: there are {}", Self::ALL.map(Self::name).join(" and "))
        })
    }

    /// What `WAVEMILL_ENGINE` names; the interpreter if it is not set.
    pub fn from_environment() -> Result<EngineKind, String> {
        match std::env::var("WAVEMILL_ENGINE") {
            Ok(name) => Self::named(&name).map_err(|e| format!("WAVEMILL_ENGINE: {e}")),
            Err(_) => Ok(EngineKind::default()),
        }
    }

    /// A new engine for a target.
    pub fn make(self, target: Target) -> Arc<dyn Engine> {
        match self {
            EngineKind::Interp => Arc::new(Interp::new(target)),
            EngineKind::Plain => Arc::new(Plain::new(target)),
        }
    }
}
