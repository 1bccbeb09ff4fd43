//! How to assemble.

use std::path::PathBuf;
use wavemill_isa::Target;

/// The operating system of the target triple: decides which AMD directives there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Os {
    /// `amdgcn--` or `-arch=amdgcn`.
    #[default]
    Unknown,
    /// `amdgcn-amd-amdhsa`: ROCm.
    AmdHsa,
    /// `amdgcn-amd-amdpal`.
    AmdPal,
    /// `amdgcn-mesa-mesa3d`.
    Mesa3d,
}

/// What the assembler shall produce.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OutputType {
    /// Text.
    #[default]
    Asm,
    /// An object.
    Obj,
    /// Only diagnostics.
    Null,
}

/// How to assemble.
#[derive(Clone, Debug)]
pub struct Options {
    /// Processor and features.
    pub target: Target,
    /// The triple as given, or the one `-arch=amdgcn` stands for.
    pub triple: String,
    /// The triple's operating system.
    pub os: Os,
    /// Show instruction encodings as comments.
    pub show_encoding: bool,
    /// Symbols set before the first line, `-defsym name=value`.
    pub defsym: Vec<(String, i64)>,
    /// What to produce.
    pub output: OutputType,
    /// Where `.include` and `.incbin` look, after the current directory.
    pub include_paths: Vec<PathBuf>,
    /// Files that the source names must lie below this directory, symbolic links resolved; `None` for any place.
    pub confine: Option<PathBuf>,
    /// Code object version when no directive of the source says it; `None` for what the source implies, else 5.
    pub code_object_version: Option<u32>,
    /// Warnings are left out.
    pub no_warn: bool,
    /// Warnings are errors.
    pub fatal_warnings: bool,
    /// Alternate macro syntax from the start.
    pub altmacro: bool,
    /// What the documents have and LLVM does not is taken: keys of `.amd_kernel_code_t` that it reads and forgets (ROCm's code
    /// object format), `nv` (CLRX's SMEM encodings, MI200 manual 8.1 and 10.1), `lds_direct` on gfx90a (manual 11.3.1).
    pub documented: bool,
    /// Warnings about what assembles and does not work, which LLVM does not have.
    pub advice: bool,
    /// A line table of the source itself (`-g`), for objects whose source brings none along.
    pub debug_lines: bool,
}

impl Options {
    /// LLVM's defaults for a target.
    pub fn new(target: Target) -> Options {
        Options {
            target,
            triple: "amdgcn".to_owned(),
            os: Os::Unknown,
            show_encoding: false,
            defsym: Vec::new(),
            output: OutputType::Asm,
            include_paths: Vec::new(),
            confine: None,
            code_object_version: None,
            no_warn: false,
            fatal_warnings: false,
            altmacro: false,
            documented: false,
            advice: false,
            debug_lines: false,
        }
    }
}
