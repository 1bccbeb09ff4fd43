//! Whether a program has code for the GPUs it is given: HIP says no more than that it has not.

use std::path::{Path, PathBuf};
use wavemill_device::loader;
use wavemill_isa::target::Processor;
use wavemill_object::bundle;
use wavemill_object::read::File;

/// What to say of a program that has code for GPUs, but none for this one.
pub fn missing(program: &Path, gpu: &'static Processor) -> Option<String> {
    let bytes = std::fs::read(find(program)?).ok()?;
    let objects = bundle::code_objects(&bytes).ok()?;
    let cpu = |data: &[u8]| Some(loader::target_of(&File::parse(data).ok()?).ok()?.1.cpu);
    let cpus: Vec<Option<&Processor>> = objects.iter().map(|o| cpu(&o.data)).collect();
    if cpus.is_empty() || cpus.iter().flatten().any(|c| gpu.runs(c)) {
        return None;
    }
    // Of processors that Wavemill does not know, bundles still have the names.
    let shown = |(object, cpu): (&bundle::CodeObject<'_>, &Option<&Processor>)| match cpu {
        Some(cpu) => cpu.name.to_owned(),
        None => object.id.rsplit("--").next().unwrap_or("another processor").to_owned(),
    };
    let mut names: Vec<String> = objects.iter().zip(&cpus).map(shown).collect();
    names.sort_unstable();
    names.dedup();
    let other = cpus.iter().flatten().next();
    let other = other.map(|c| format!(", or `exec --gpu {}`", c.name)).unwrap_or_default();
    Some(format!(
        "it has code for {}, and the GPU is {}: compile it with --offload-arch={1}{other}",
        names.join(", "),
        gpu.name
    ))
}

/// The program's file: where the system looks for it.
fn find(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return Some(program.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|d| d.join(program)).find(|p| p.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavemill_isa::target::processor;

    #[test]
    fn code_for_another_gpu_is_named_with_a_way_on() {
        let file = |name: &str| {
            let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels/fixtures");
            fixtures.join(name)
        };
        let bundle = file("fill.bundle");
        let said = missing(&bundle, processor("gfx900").unwrap()).unwrap();
        let want = "it has code for gfx906, gfx90a, and the GPU is gfx900: compile it with --offload-arch=gfx900, or \
                    `exec --gpu gfx90";
        assert!(said.starts_with(want), "{said}");
        assert_eq!(missing(&bundle, processor("gfx90a").unwrap()), None);
        // Programs without such code are not spoken of.
        assert_eq!(missing(Path::new("sh"), processor("gfx90a").unwrap()), None);
    }
}
