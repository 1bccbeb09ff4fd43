//! Text to AMD GPU instructions and back: what `llvm-mc` does for amdgcn.
//!
//! [`assemble`] is the way in. [`parser::Parser`] walks statements; [`lex`] gives it tokens, [`expr`] expressions,
//! `inst` instructions, `amd` the directives only AMD GPUs have; [`out::Out`] takes the result as LLVM's text or as an
//! [`object::Object`].

pub mod amd;
pub mod disasm;
pub mod elf;
pub mod expr;
pub mod fixup;
mod hex;
pub mod inst;
pub mod lex;
pub mod names;
pub mod objdump;
pub mod object;
pub mod out;
pub mod parser;
pub mod print;
pub mod restore;
pub mod section;
pub mod source;
pub mod suggest;
pub mod symbol;

use object::Object;
use source::{Diag, Severity, SourceMap};
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
    /// Code object version when no directive of the source says it; `None` for what the source implies, else 5.
    pub code_object_version: Option<u32>,
    /// Warnings are left out.
    pub no_warn: bool,
    /// Warnings are errors.
    pub fatal_warnings: bool,
    /// Alternate macro syntax from the start.
    pub altmacro: bool,
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
            code_object_version: None,
            no_warn: false,
            fatal_warnings: false,
            altmacro: false,
        }
    }
}

/// The result of an assembly.
#[derive(Debug)]
pub struct Output {
    /// The text, for [`OutputType::Asm`]. As with llvm-mc there is text even when there are errors.
    pub text: Vec<u8>,
    /// What `.print` said; llvm-mc writes it before the text.
    pub printed: Vec<u8>,
    /// The object, for [`OutputType::Obj`] and no errors.
    pub object: Option<Box<Object>>,
    /// The symbols the object refers to.
    pub symbols: symbol::Symbols,
    /// The sections the object refers to.
    pub sections: Vec<section::Section>,
    /// Everything to tell the user, in order.
    pub diagnostics: Vec<Diag>,
    /// The text the diagnostics point into.
    pub sources: SourceMap,
}

impl Output {
    /// True when there was an error.
    pub fn failed(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// The diagnostics as LLVM prints them.
    pub fn render_diagnostics(&self) -> Vec<u8> {
        self.sources.render(&self.diagnostics)
    }
}

/// Assembles a file: `name` is what messages call it (`-` is shown as `<stdin>`), `text` its bytes.
pub fn assemble(options: &Options, name: &str, text: Vec<u8>) -> Output {
    let mut sources = SourceMap::default();
    let finished = parser::Parser::run(options, &sources, name, text);
    sources.markers = finished.markers;
    Output {
        text: finished.text,
        printed: finished.printed,
        object: finished.object,
        symbols: finished.symbols,
        sections: finished.sections,
        diagnostics: finished.diagnostics,
        sources,
    }
}
