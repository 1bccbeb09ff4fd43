//! Text to AMD GPU instructions and back: what `llvm-mc` does for amdgcn.
//!
//! [`assemble`] is the way in. `assembler` walks statements with a [`parser::Parser`], to which [`lex`] gives tokens;
//! `inst` reads instructions, `amd` the directives only AMD GPUs have; [`expr`] holds what is not known yet, [`eval`] what
//! it comes to; [`out::Out`] takes the result as LLVM's text or as an [`object::Object`].
#![forbid(unsafe_code)]

pub mod amd;
mod assembler;
pub mod clrx;
pub mod disasm;
pub mod elf;
pub mod eval;
pub mod expr;
pub mod fixup;
mod hex;
pub mod ids;
pub mod inst;
pub mod lex;
pub mod names;
mod number;
pub mod objdump;
pub mod object;
mod options;
pub mod out;
pub mod parser;
pub mod print;
pub mod restore;
pub mod section;
pub mod source;
pub mod suggest;
pub mod symbol;

pub use options::{Options, Os, OutputType};

use object::Object;
use source::{Diag, Severity, SourceMap};

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
    let finished = assembler::run(options, &sources, name, text);
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
