//! CLRX's assembly for OpenCL 2.0 binaries of AMD's Catalyst driver (`.amdcl2`), both ways.
//!
//! It is a language of its own: other comments and operators, scopes, register symbols, macros with other rules. So it has
//! a reader of its own, and borrows what an instruction is: `inst` rewrites each one to LLVM's spelling with numbers for
//! all names, and [`crate::parser`] encodes it. `text` cuts statements, `expr` and `scope` know names, `macros` and `cond`
//! decide what is read, `data` and `format` are the directives, `config` and `arg` what they say about kernels, `build`
//! puts the container together. [`disasm`] writes such sources.

mod arg;
mod build;
mod cond;
mod config;
mod data;
mod disasm;
mod expr;
mod format;
mod inst;
mod macros;
mod scope;
mod spell;
mod text;

pub use disasm::disassemble;

use crate::source::{Diag, Origin, Severity, SourceMap, Sources, Span};
use cond::Conditions;
use expr::{Context, Expr, ExprError, SectionId, Value, wrong};
use macros::Macro;
use scope::Scopes;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use text::Cursor;

/// How to assemble.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where `.include` and `.incbin` look, after the current directory.
    pub include_paths: Vec<PathBuf>,
    /// Files that the source names must lie below this directory, symbolic links resolved; `None` for any place.
    pub confine: Option<PathBuf>,
    /// Symbols set before the first line.
    pub defsym: Vec<(String, i64)>,
}

/// What came of a source.
#[derive(Debug)]
pub struct Output {
    /// The container, when there were no errors.
    pub binary: Option<Vec<u8>>,
    /// What `.print` said.
    pub printed: Vec<u8>,
    /// Everything to tell the user, in order.
    pub diagnostics: Vec<Diag>,
    /// The text they point into.
    pub sources: SourceMap,
}

impl Output {
    /// The diagnostics as text.
    pub fn render_diagnostics(&self) -> Vec<u8> {
        self.sources.render(&self.diagnostics)
    }
}

/// Whether a source is in this language: it chooses the format, maybe after comments, conditions and macros.
pub fn is_source(source: &[u8]) -> bool {
    let clean = text::clean(source);
    let mut at = 0;
    while at <= clean.len() {
        let end = text::statement_end(&clean, at);
        let mut c = Cursor::new(&clean[at..end]);
        let word = c.take_word().to_ascii_lowercase();
        match word.as_str() {
            ".amdcl2" => return c.at_end(),
            ".format" => return c.take_word().eq_ignore_ascii_case("amdcl2"),
            _ => {}
        }
        at = end + 1;
    }
    false
}

/// Assembles a source; `name` is what messages call it.
pub fn assemble(options: &Options, name: &str, source: Vec<u8>) -> Output {
    let sources = SourceMap::default();
    let mut assembler = Assembler::new(options, &sources);
    assembler.file(name, source);
    let failed = assembler.failed();
    let binary = if failed { None } else { assembler.build() };
    let binary = binary.filter(|_| !assembler.failed());
    let (printed, diagnostics) = (assembler.printed, assembler.diagnostics);
    Output { binary, printed, diagnostics, sources }
}

/// What a section is.
#[derive(Clone, PartialEq, Eq, Debug)]
enum What {
    /// A kernel's code, by its number; of no kernel in particular with `.hsalayout`.
    Code(Option<usize>),
    Constants,
    Data,
    Bss,
    /// Raw parts of a kernel.
    Setup(usize),
    Metadata(usize),
    Stub(usize),
    IsaMetadata(usize),
    ControlDirective(usize),
    SamplerInit,
    /// A section of the program's own: name, type, flags, in the inner file.
    Extra(String, u32, u64, bool),
}

/// A section.
#[derive(Clone, Debug)]
struct Section {
    what: What,
    bytes: Vec<u8>,
    align: u64,
}

/// Bytes to be filled in when everything is known.
#[derive(Clone, Debug)]
struct Fixup {
    section: SectionId,
    offset: usize,
    kind: Patch,
    expr: Expr,
    span: Span,
}

/// How a value is put into bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Patch {
    /// So many bytes.
    Bytes(u8),
    /// The low 16 bits of an instruction: dwords from the next instruction to the target.
    Branch,
    /// The low 16 bits of an instruction.
    Simm16,
}

/// Text being read.
struct Input {
    buffer: u32,
    clean: Rc<[u8]>,
    at: usize,
    /// A macro's expansion, which `.exitm` leaves.
    is_macro: bool,
    /// Macros around it, those included that have been read to their end.
    depth: usize,
}

/// More text than this is a runaway macro.
const MAX_BYTES: usize = 64 << 20;
/// Macros in macros.
const MAX_DEPTH: usize = 256;
/// Macro calls and rounds of loops.
const MAX_EXPANSIONS: u64 = 1 << 18;
/// Errors after which it is no use.
const MAX_ERRORS: usize = 100;
/// A section may have no more bytes.
const MAX_SECTION: usize = 256 << 20;

/// What a step may say.
type Res<T = ()> = Result<T, ExprError>;

struct Assembler<'a> {
    options: &'a Options,
    sources: Sources<'a>,
    diagnostics: Vec<Diag>,
    printed: Vec<u8>,
    inputs: Vec<Input>,
    scopes: Scopes,
    macros: HashMap<String, Rc<Macro>>,
    macro_case: bool,
    alternate: bool,
    macro_count: u64,
    expansions: u64,
    /// What is expanded is the next round of a loop.
    looping: bool,
    conditions: Conditions,
    sections: Vec<Section>,
    current: Option<SectionId>,
    fixups: Vec<Fixup>,
    /// Relocations, relative to their section.
    relocations: Vec<(SectionId, wavemill_object::catalyst::write::Relocation)>,
    /// Symbols of `.offset`: the next one's value.
    offset: Option<i64>,
    /// The next value of `.enum`.
    enumeration: i64,
    program: format::Program,
    /// The statement being read.
    statement: Span,
    ended: bool,
}

impl<'a> Assembler<'a> {
    fn new(options: &'a Options, map: &'a SourceMap) -> Self {
        let mut scopes = Scopes::default();
        for (name, value) in &options.defsym {
            // Names on the command line are all different or the last one counts.
            let _ = scopes.define(name, Expr::Known(Value::Number(*value)), true);
        }
        Assembler {
            options,
            sources: Sources::new(map),
            diagnostics: Vec::new(),
            printed: Vec::new(),
            inputs: Vec::new(),
            scopes,
            macros: HashMap::new(),
            macro_case: true,
            alternate: false,
            macro_count: 0,
            expansions: 0,
            looping: false,
            conditions: Conditions::default(),
            sections: Vec::new(),
            current: None,
            fixups: Vec::new(),
            relocations: Vec::new(),
            offset: None,
            enumeration: 0,
            program: format::Program::default(),
            statement: Span::default(),
            ended: false,
        }
    }

    fn failed(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// Reads all of the source.
    fn file(&mut self, name: &str, source: Vec<u8>) {
        if source.len() >= u32::MAX as usize {
            self.diagnostics.push(Diag::global("the file is larger than 4 GiB"));
            return;
        }
        self.push_input(name, source, Origin::Main, false);
        while let Some(input) = self.inputs.last_mut() {
            if self.ended {
                break;
            }
            if input.at >= input.clean.len() {
                self.inputs.pop();
                continue;
            }
            let clean = input.clean.clone();
            let (start, end) = (input.at, text::statement_end(&clean, input.at));
            input.at = end + 1;
            self.statement = Span { buffer: input.buffer, start: start as u32, end: end as u32 };
            if let Err(wrong) = self.one(&clean[start..end]) {
                self.report(&wrong);
            }
            if self.diagnostics.iter().filter(|d| d.severity == Severity::Error).count() > MAX_ERRORS {
                self.diagnostics.push(Diag::global("too many errors"));
                break;
            }
        }
        if !self.conditions.balanced() {
            self.diagnostics.push(Diag::global("an .if has no .endif"));
        }
    }

    fn push_input(&mut self, name: &str, source: Vec<u8>, origin: Origin, is_macro: bool) {
        let clean: Rc<[u8]> = text::clean(&source).into();
        let buffer = self.sources.add(name, source, origin);
        let depth = self.inputs.last().map_or(0, |i| i.depth);
        self.inputs.push(Input { buffer, clean, at: 0, is_macro, depth });
    }

    /// Reads text that came of the current statement.
    fn expand(&mut self, source: Vec<u8>, mut is_macro: bool) -> Res {
        let depth = self.inputs.last().map_or(0, |i| i.depth) + usize::from(is_macro);
        self.expansions += 1;
        if depth > MAX_DEPTH || self.inputs.len() > MAX_DEPTH {
            return wrong(0, "macros and repetitions are nested too deeply");
        }
        if self.sources.total_bytes() + source.len() > MAX_BYTES || self.expansions > MAX_EXPANSIONS {
            self.ended = true;
            return wrong(0, "macros and repetitions have made too much text");
        }
        let mut origin = Origin::Expansion(self.statement);
        // What has been read to its end is left, so that loops do not nest; their rounds all come from one place.
        while let Some(done) = self.inputs.pop_if(|i| i.at >= i.clean.len()) {
            is_macro |= done.is_macro;
            if self.looping {
                origin = self.sources.get(done.buffer).origin;
            }
        }
        self.push_input("<instantiation>", source, origin, is_macro);
        if let Some(input) = self.inputs.last_mut() {
            input.depth = depth;
        }
        Ok(())
    }

    /// The span of a byte of the statement.
    fn span(&self, at: usize) -> Span {
        let start = self.statement.start + at as u32;
        Span { start, end: start.max(self.statement.end), ..self.statement }
    }

    fn report(&mut self, wrong: &ExprError) {
        self.diagnostics.push(Diag::error(self.span(wrong.at), wrong.message.clone()));
    }

    fn warn(&mut self, at: usize, message: impl Into<String>) {
        self.diagnostics.push(Diag::warning(self.span(at), message.into()));
    }

    /// What names mean here.
    fn context(&self) -> Context<'_> {
        let here = self.current.map(|s| Value::Place(s, self.sections[s].bytes.len() as i64));
        Context { scopes: &self.scopes, here }
    }

    /// One statement.
    fn one(&mut self, statement: &[u8]) -> Res {
        let mut c = Cursor::new(statement);
        if c.at_end() {
            return Ok(());
        }
        let word = c.word();
        let lower = word.to_ascii_lowercase();
        if word.starts_with('.') && self.condition(&lower, &mut c)? {
            return Ok(());
        }
        if self.conditions.skipping() {
            return Ok(());
        }
        // Labels: `name:`, `3:`. A path's `::` is part of the word.
        let digits = c.rest().iter().take_while(|b| b.is_ascii_digit()).count();
        if digits > 0 && c.peek_at(digits) == b':' {
            let number = std::str::from_utf8(&c.rest()[..digits]).unwrap_or("").parse();
            let number: u64 = number.or_else(|_| wrong(0, "no label has such a number"))?;
            c.skip(digits + 1);
            let name = self.scopes.next_local(number);
            let here = self.place(0)?;
            self.scopes.define_root(&name, Expr::Known(here));
            return self.rest(statement, &c);
        }
        let at = c.at;
        let mut after = c;
        after.skip(word.len());
        if !word.is_empty() && after.peek() == b':' && after.peek_at(1) != b':' && word != "." {
            after.skip(1);
            self.label(word, at)?;
            return self.rest(statement, &after);
        }
        if !word.is_empty() && after.peek() == b'=' && after.peek_at(1) != b'=' {
            after.skip(1);
            return self.assign(word, &mut after, at, true);
        }
        if word.is_empty() {
            return wrong(c.at, "an instruction, a directive, a label or an assignment is wanted");
        }
        let key = if self.macro_case { lower.clone() } else { word.to_owned() };
        if let Some(found) = self.macros.get(&key).cloned() {
            return self.call(&found, after);
        }
        if word.starts_with('.') {
            return self.directive(&lower, &mut after, at);
        }
        self.instruction(&lower, after, at)
    }

    /// What follows a label on its line.
    fn rest(&mut self, statement: &[u8], c: &Cursor<'_>) -> Res {
        let at = c.at;
        let before = self.statement;
        self.statement.start += at as u32;
        let result = self.one(&statement[at..]);
        if result.is_ok() {
            self.statement = before;
        }
        result
    }

    /// The current place, which must be in a section.
    fn place(&self, at: usize) -> Res<Value> {
        match (self.offset, self.context().here) {
            (Some(n), _) => Ok(Value::Number(n)),
            (None, Some(here)) => Ok(here),
            (None, None) => wrong(at, "this must be in a section: open a kernel or data first"),
        }
    }

    fn label(&mut self, name: &str, at: usize) -> Res {
        self.before_label(name)?;
        let here = self.place(at)?;
        self.scopes.define(name, Expr::Known(here), false).or_else(|message| wrong(at, message))
    }

    /// `name = …`: a number, a place, or registers after a `%`.
    fn assign(&mut self, name: &str, c: &mut Cursor<'_>, at: usize, variable: bool) -> Res {
        if name == "." {
            let to = self.context().parse(c)?;
            return self.move_to(&to, at);
        }
        let value = if c.eat("%") {
            let start = c.at;
            match self.registers(c)? {
                Some(value) => Expr::Known(value),
                None => match self.context().parse(c)? {
                    known @ Expr::Known(_) => known,
                    _ => return wrong(start, "a register or a number that is known by now is wanted"),
                },
            }
        } else {
            self.context().parse(c)?
        };
        if !c.at_end() {
            return wrong(c.at, "the expression ends before the statement does");
        }
        self.scopes.define(name, value, variable).or_else(|message| wrong(at, message))
    }

    /// The end of a statement.
    fn end(&self, c: &Cursor<'_>) -> Res {
        if c.at_end() { Ok(()) } else { wrong(c.at, "this is too much") }
    }

    /// A comma, if there is more.
    fn comma(&self, c: &mut Cursor<'_>) -> Res {
        if c.eat(",") { Ok(()) } else { wrong(c.at, "a comma is wanted") }
    }

    /// A number of the statement.
    fn number(&self, c: &mut Cursor<'_>) -> Res<i64> {
        self.context().number(c)
    }

    /// A number within limits.
    fn number_in(&self, c: &mut Cursor<'_>, low: i64, high: i64) -> Res<i64> {
        let at = c.at;
        let n = self.number(c)?;
        if (low..=high).contains(&n) {
            Ok(n)
        } else {
            wrong(at, format!("{n} is not within {low} to {high}"))
        }
    }

    /// A name.
    fn name<'t>(&self, c: &mut Cursor<'t>) -> Res<&'t str> {
        let at = c.at;
        match c.take_word() {
            "" => wrong(at, "a name is wanted"),
            word => Ok(word),
        }
    }

    /// A string in quotes.
    fn string(&self, c: &mut Cursor<'_>) -> Res<Vec<u8>> {
        let at = c.at;
        c.string().ok_or_else(|| ExprError { at, message: "a string in quotes is wanted".into() })
    }

    /// The lines up to a directive that ends them, nested ones included.
    fn body(&mut self, begins: &[&str], ends: &str) -> Res<String> {
        let Some(input) = self.inputs.last_mut() else { return wrong(0, "nothing follows") };
        let clean = input.clean.clone();
        let start = input.at.min(clean.len());
        let (mut at, mut depth) = (start, 0usize);
        while at < clean.len() {
            let end = text::statement_end(&clean, at);
            let word = Cursor::new(&clean[at..end]).word().to_ascii_lowercase();
            if begins.contains(&word.as_str()) {
                depth += 1;
            } else if word == ends || (ends == ".endm" && word == ".endmacro") {
                if depth == 0 {
                    input.at = end + 1;
                    return Ok(String::from_utf8_lossy(&clean[start..at]).into_owned());
                }
                depth -= 1;
            }
            at = end + 1;
        }
        input.at = clean.len();
        wrong(0, format!("there is no {ends} for it"))
    }

    /// Puts bytes at the current place.
    fn put(&mut self, bytes: &[u8], at: usize) -> Res {
        let Some(section) = self.current else {
            return wrong(at, "this must be in a section: open a kernel or data first");
        };
        let section = &mut self.sections[section];
        if section.bytes.len() + bytes.len() > MAX_SECTION {
            return wrong(at, format!("a section may have {MAX_SECTION} bytes"));
        }
        if section.what == What::Bss && bytes.iter().any(|b| *b != 0) {
            return wrong(at, "this section is all zeros");
        }
        section.bytes.extend_from_slice(bytes);
        Ok(())
    }
}
