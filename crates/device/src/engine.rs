//! Which engine runs waves: the one place where engines are known by name. `--engine`, `WAVEMILL_ENGINE` and
//! [`crate::Options::engine`] all come here.

use std::sync::{Arc, OnceLock};
use wavemill_isa::Target;
use wavemill_jit::Jit;
use wavemill_plain::Plain;
use wavemill_wave::{Engine, Interp, Simd};

/// An engine by name. The default is the JIT where the host can run it, else the interpreter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineKind {
    /// The interpreter, with the widest SIMD kernels the host has.
    Interp,
    /// One lane after another: slow, and a yardstick for the others.
    Plain,
    /// Compiles code that runs often; only on hosts that have what it needs ([`EngineKind::available`]).
    Jit,
}

impl Default for EngineKind {
    fn default() -> EngineKind {
        if EngineKind::Jit.available() { EngineKind::Jit } else { EngineKind::Interp }
    }
}

impl EngineKind {
    /// Every engine.
    pub const ALL: [EngineKind; 3] = [EngineKind::Interp, EngineKind::Jit, EngineKind::Plain];

    /// Whether this host can run it.
    pub fn available(self) -> bool {
        static JIT: OnceLock<bool> = OnceLock::new();
        let any = || Target::named("gfx90a").and_then(Jit::new).is_some();
        self != EngineKind::Jit || *JIT.get_or_init(any)
    }

    /// The name by which users ask for it.
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Interp => "interp",
            EngineKind::Plain => "plain",
            EngineKind::Jit => "jit",
        }
    }

    /// The engine of a name, or what to say if there is none.
    pub fn named(name: &str) -> Result<EngineKind, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        let kind = found.ok_or_else(|| {
            format!("no engine `{name}`: there are {}", Self::ALL.map(Self::name).join(", "))
        })?;
        match kind.available() {
            true => Ok(kind),
            false => Err(format!(
                "no engine `{name}` on this host: it writes code for Linux on x86-64 with AVX-512 or AVX2"
            )),
        }
    }

    /// What `WAVEMILL_ENGINE` names; the default if it is not set.
    pub fn from_environment() -> Result<EngineKind, String> {
        match std::env::var("WAVEMILL_ENGINE") {
            Ok(name) => Self::named(&name).map_err(|e| format!("WAVEMILL_ENGINE: {e}")),
            Err(_) => Ok(EngineKind::default()),
        }
    }

    /// A new engine for a target; the interpreter where the JIT cannot run.
    pub fn make(self, target: Target) -> Arc<dyn Engine> {
        self.make_with(target, Jit::patient)
    }

    /// The same, but the JIT compiles whatever runs, if only once: for tests of it.
    pub fn make_eager(self, target: Target) -> Arc<dyn Engine> {
        self.make_with(target, Jit::new)
    }

    /// A new engine that uses what a back end of the interpreter uses of the host; none if it has no such kind.
    pub fn make_of(self, target: Target, simd: Simd) -> Option<Arc<dyn Engine>> {
        match self {
            _ if !Simd::available().contains(&simd) => None,
            EngineKind::Interp => Some(Arc::new(Interp::with_simd(target, simd))),
            EngineKind::Jit => Jit::with_simd(target, simd).map(|jit| Arc::new(jit) as Arc<dyn Engine>),
            EngineKind::Plain => None,
        }
    }

    /// What [`Self::make_of`] can make it of on this host, the widest first.
    pub fn simds(self) -> Vec<Simd> {
        let Some(target) = Target::named("gfx90a") else { return Vec::new() };
        Simd::available().into_iter().filter(|simd| self.make_of(target, *simd).is_some()).collect()
    }

    fn make_with(self, target: Target, jit: fn(Target) -> Option<Jit>) -> Arc<dyn Engine> {
        match self {
            EngineKind::Interp => Arc::new(Interp::new(target)),
            EngineKind::Plain => Arc::new(Plain::new(target)),
            EngineKind::Jit => match jit(target) {
                Some(jit) => Arc::new(jit),
                None => EngineKind::Interp.make(target),
            },
        }
    }
}
