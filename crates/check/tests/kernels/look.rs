//! How fixtures run here: on the interpreter, with all checks.

use std::sync::Arc;
use wavemill_check::{Checks, Session};
use wavemill_device::observe::Observers;
use wavemill_device::run::Launch;
use wavemill_device::{Completion, Device, EngineKind, Kernel};
use wavemill_isa::Target;
use wavemill_wave::Engine;

/// Makes an engine.
pub type MakeEngine = fn(Target) -> Arc<dyn Engine>;

/// One will do: they tell the same.
pub const ENGINES: [MakeEngine; 1] = [|t| EngineKind::Interp.make(t)];

/// Runs a kernel; findings are errors.
pub fn launch(device: &Device, kernel: &Kernel, launch: Launch) -> Result<Completion, String> {
    let session = Arc::new(Session::new(Checks::parse("")?));
    // Kernels that spin take long with checks on a machine that has other things to do.
    let timeout = launch.timeout.map(|t| t * 10);
    let launch = Launch { observers: Observers::one(session.clone()), timeout, ..launch };
    let done = device.launch(kernel, &launch)?;
    let found: Vec<String> = session.finish().iter().map(|r| r.text(&|_, _| None)).collect();
    match &done.fault {
        _ if found.is_empty() => Ok(done),
        // As users see it: the fault's report first, which a finding refers to.
        Some(report) => Err(format!("{report}\n{}", found.join("\n"))),
        None => Err(found.join("\n")),
    }
}
