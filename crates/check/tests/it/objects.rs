//! The functions of code objects.

use std::path::{Path, PathBuf};
use wavemill_check::Program;
use wavemill_isa::{Target, target};
use wavemill_object::elf::{SHF_EXECINSTR, STT_AMDGPU_HSA_KERNEL, STT_FUNC};
use wavemill_object::read::File;

/// A function with its code.
pub struct Function {
    pub name: String,
    pub target: Target,
    pub address: u64,
    pub code: Vec<u8>,
}

impl Function {
    /// The kernel's name, of its own body, too, which clang 22 has as a function.
    pub fn kernel(&self) -> &str {
        let name = self.name.rsplit(": ").next().unwrap_or_default();
        name.strip_prefix("__clang_ocl_kern_imp_").unwrap_or(name)
    }

    pub fn program(&self) -> Program {
        Program::read(self.target, self.address, &self.code, &[self.address])
    }
}

/// Every function of a code object.
pub fn functions(path: &Path) -> Vec<Function> {
    let data = std::fs::read(path).expect("a fixture");
    let file = File::parse(&data).expect("a code object");
    let id = file.target_id().expect("a target").expect("a processor");
    let target = Target::new(target::processor(&id.processor).expect("a processor that is known"));
    let mut out = Vec::new();
    for (number, section) in file.sections.iter().enumerate().filter(|(_, s)| s.flags & SHF_EXECINSTR != 0) {
        for symbol in file.symbols.iter().filter(|s| s.section as usize == number) {
            // Kernels of version 2 start with an amd_kernel_code_t of 256 bytes.
            let skip = match symbol.ty {
                STT_FUNC => 0,
                STT_AMDGPU_HSA_KERNEL => 256,
                _ => continue,
            };
            let start = (symbol.value - section.address) as usize;
            let end = start + symbol.size as usize;
            out.push(Function {
                name: format!("{}: {}", path.file_name().unwrap().display(), symbol.name),
                target,
                address: symbol.value + skip as u64,
                code: section.data[start + skip..end].to_vec(),
            });
        }
    }
    out
}

/// The fixtures that compilers made.
pub fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels/fixtures");
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(root).expect("fixtures").flatten().map(|e| e.path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "hsaco"));
    all.sort();
    all
}
