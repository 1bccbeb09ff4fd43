//! How fixtures run: on every engine, and nobody looks on. Crate `check` has another such module, and runs them with its checks.

use std::sync::Arc;
use wavemill_device::run::Launch;
use wavemill_device::{Completion, Device, EngineKind, Kernel};
use wavemill_isa::Target;
use wavemill_wave::Engine;

/// Makes an engine.
pub type MakeEngine = fn(Target) -> Arc<dyn Engine>;

/// Engines that every fixture runs on.
pub const ENGINES: [MakeEngine; 3] =
    [|t| EngineKind::Interp.make(t), |t| EngineKind::Jit.make_eager(t), |t| EngineKind::Plain.make(t)];

/// Runs a kernel.
pub fn launch(device: &Device, kernel: &Kernel, launch: Launch) -> Result<Completion, String> {
    device.launch(kernel, &launch)
}
