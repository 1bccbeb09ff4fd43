//! Assembly sources: their target, and the object made of them.

use crate::stated;
use std::path::Path;
use wavemill_asm::{Options, Os, OutputType, assemble as assemble_text, elf};
use wavemill_isa::Target;
use wavemill_object::target_id;

/// Sources are assembled for this when nothing says otherwise.
pub const DEFAULT_GPU: &str = "gfx90a";

/// What the assembler has made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assembled {
    /// A relocatable object.
    pub object: Vec<u8>,
    /// What it runs on.
    pub target: Target,
    /// Warnings.
    pub messages: String,
}

/// Assembles a source for the GPU asked for, the one it names itself, or gfx90a. Files that it includes lie beside it,
/// and below `confine` if that is said.
pub fn assemble(
    name: &str,
    text: Vec<u8>,
    gpu: Option<Target>,
    confine: Option<&Path>,
) -> Result<Assembled, String> {
    let stated = stated::target(&text);
    // Code for a generic processor stays so, whichever GPU runs it.
    let generic = stated.as_ref().and_then(|id| Target::named(&id.processor)).filter(|t| t.cpu.is_generic());
    let runs_on = gpu;
    let gpu = match (gpu, generic) {
        (Some(gpu), Some(code)) if gpu.cpu.runs(code.cpu) => Some(code),
        _ => gpu,
    };
    let mut target = match (gpu, &stated) {
        (Some(target), _) => target,
        (None, Some(id)) => Target::named(&id.processor)
            .ok_or_else(|| format!("{name}: it is for {}, which Wavemill cannot run", id.processor))?,
        (None, None) => Target::named(DEFAULT_GPU).ok_or("no default processor")?,
    };
    let mut triple = String::from("amdgcn-amd-amdhsa");
    let mut os = Os::AmdHsa;
    if let Some(id) = stated {
        target.xnack = id.xnack.request().or(target.xnack);
        target.sramecc = id.sramecc.request();
        triple = stated::triple(&id);
        os = match id.os() {
            target_id::Os::Hsa => Os::AmdHsa,
            target_id::Os::Pal => Os::AmdPal,
            target_id::Os::Mesa3d => Os::Mesa3d,
            target_id::Os::Unknown => Os::Unknown,
        };
    }
    let mut options = Options::new(target);
    options.triple = triple;
    options.documented = true;
    options.advice = true;
    options.os = os;
    options.output = OutputType::Obj;
    // Faults have lines, too; for other runtimes than HSA, relocations of the table have no addends and cannot be linked.
    options.debug_lines = options.os == Os::AmdHsa;
    options.include_paths.extend(Path::new(name).parent().map(Path::to_path_buf));
    options.confine = confine.map(Path::to_path_buf);
    let output = assemble_text(&options, name, text);
    let messages = String::from_utf8_lossy(&output.render_diagnostics()).into_owned();
    if output.failed() {
        return Err(format!("{name} cannot be assembled\n{messages}"));
    }
    let object = elf::write(&output).map_err(|e| format!("{name}: {e}"))?;
    target.cpu = runs_on.map_or(target.cpu, |gpu| gpu.cpu);
    Ok(Assembled { object, target, messages })
}
