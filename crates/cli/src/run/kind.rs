//! What a file is, by its content: its name only decides between languages that look alike.

use crate::compile::Language;
use std::path::Path;

/// What `run` can make of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Assembly.
    Assembly,
    /// Something clang compiles.
    Source(Language),
    /// A code object, bundle, archive or program.
    Binary,
}

/// What files with code objects start with: ELF, archives, bundles, compressed bundles.
const CONTAINERS: [&[u8]; 4] = [b"\x7fELF", b"!<arch>", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB"];

/// The kind of a file.
pub fn of(path: &Path, data: &[u8]) -> Kind {
    if data.starts_with(b"BC\xc0\xde") || data.starts_with(b"\xde\xc0\x17\x0b") {
        return Kind::Source(Language::Ir);
    }
    if CONTAINERS.iter().any(|magic| data.starts_with(magic)) || data.contains(&0) {
        return Kind::Binary;
    }
    let name = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    match name.as_str() {
        "s" | "asm" => return Kind::Assembly,
        "cl" => return Kind::Source(Language::OpenCl),
        "hip" | "cu" => return Kind::Source(Language::Hip),
        "ll" => return Kind::Source(Language::Ir),
        _ => {}
    }
    let text = String::from_utf8_lossy(data);
    let word =
        |w: &str| text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '@')).any(|t| t == w);
    let starts = |w: &str| text.lines().any(|l| l.trim_start().starts_with(w));
    if starts("define amdgpu_kernel")
        || starts("target triple =")
        || starts("; ModuleID")
        || starts("define ")
    {
        Kind::Source(Language::Ir)
    } else if word("__global__") || text.contains("hip/hip_runtime.h") {
        Kind::Source(Language::Hip)
    } else if word("__kernel") || starts("kernel void") {
        Kind::Source(Language::OpenCl)
    } else if matches!(name.as_str(), "cpp" | "cc" | "cxx" | "c++") {
        Kind::Source(Language::Hip)
    } else {
        Kind::Assembly
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides() {
        let kind = |name: &str, text: &str| of(Path::new(name), text.as_bytes());
        let opencl = Kind::Source(Language::OpenCl);
        let hip = Kind::Source(Language::Hip);
        let ir = Kind::Source(Language::Ir);
        assert_eq!(kind("k.cl", ""), opencl);
        assert_eq!(kind("-", "__kernel void k() {}"), opencl);
        assert_eq!(kind("-", "kernel void k() {}"), opencl);
        assert_eq!(kind("k.cpp", "__global__ void k() {}"), hip);
        assert_eq!(kind("k", "#include <hip/hip_runtime.h>\n"), hip);
        assert_eq!(kind("k.txt", "target triple = \"amdgcn-amd-amdhsa\"\n"), ir);
        assert_eq!(kind("k.bc", "BC\u{0}"), Kind::Binary);
        assert_eq!(of(Path::new("k"), b"BC\xc0\xde\x35"), ir);
        assert_eq!(kind("k", "v_mov_b32 v0, 1\n"), Kind::Assembly);
        assert_eq!(kind("k.s", "\u{7f}ELF"), Kind::Binary);
        assert_eq!(kind("-", ".globl __global__x\n"), Kind::Assembly);
    }
}
