//! What the assembler knows while it reads a file, and how it reads the parts of statements: names, expressions, labels,
//! assignments, macros, the directives that every assembler has. Every error is recorded, none is fatal. What a statement
//! is, `crate::assembler` decides.

mod amd_state;
mod cfi;
mod cond;
mod data;
mod debug;
pub mod directive;
mod emit;
mod expr;
pub mod files;
mod macros;
mod misc;
mod sections;
mod statement;
mod symbols;

pub use amd_state::AmdState;
pub(crate) use statement::Assignment;
pub use symbols::Attribute;

use crate::eval::{Layout, Scope};
use crate::expr::Expr;
use crate::ids::SectionId;
use crate::ids::SymId;
use crate::lex::{Lexer, Tok, Token};
use crate::object::Object;
use crate::options::{Options, OutputType};
use crate::out::Out;
use crate::section::Section;
use crate::source::{Diag, LineMarker, Origin, Severity, SourceMap, Sources, Span};
use crate::symbol::{NameMap, Symbols};
use std::borrow::Cow;
use wavemill_isa::Target;

/// What a statement comes to: nothing more than whether it was understood.
pub(crate) type Res<T = ()> = Result<T, Diag>;

/// The assembler's state while it reads a file.
pub struct Parser<'a> {
    /// The tokens. The cursor is on the first one not yet consumed.
    pub lex: Lexer<'a>,
    /// Symbols.
    pub symbols: Symbols,
    /// Processor and features.
    pub target: Target,
    /// How to assemble.
    pub options: &'a Options,
    /// Where the result goes.
    pub out: Out,
    /// Source text.
    pub sources: Sources<'a>,
    /// Errors and warnings so far.
    pub diagnostics: Vec<Diag>,
    /// State of the AMD directives.
    pub amd: AmdState,
    pub(crate) sections: Vec<Section>,
    /// Current and previous section with subsection, a pair for each `.pushsection`.
    pub(crate) section_stack: Vec<SectionPair>,
    section_names: NameMap<Box<str>, Vec<SectionId>>,
    pub(crate) markers: Vec<LineMarker>,
    /// What `.print` says.
    printed: Vec<u8>,
    /// Where the statement being read starts.
    pub(crate) statement: Span,
    pub(crate) conditions: cond::Conditions,
    pub(crate) macros: macros::Macros<'a>,
    debug: debug::Debug,
    frames: cfi::Frames,
    /// Symbols being read do not get into the symbol table for that, as in `.size`.
    unreferenced: bool,
    /// Uses of `1b` and `1f`, to be checked at the end.
    pub(crate) directional_uses: Vec<(Span, SymId)>,
    /// What `.lto_discard` names: labels, assignments and attributes of these symbols are passed over.
    discarded: Vec<&'a str>,
    errors: usize,
    /// Files that directives brought in.
    files_read: u32,
}

/// Current and previous section with their subsections, for `.previous`.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct SectionPair {
    pub current: Option<(SectionId, u32)>,
    pub previous: Option<(SectionId, u32)>,
}

/// What comes of a file.
pub(crate) struct Finished {
    pub text: Vec<u8>,
    pub printed: Vec<u8>,
    pub object: Option<Box<Object>>,
    pub symbols: Symbols,
    pub sections: Vec<Section>,
    pub diagnostics: Vec<Diag>,
    pub markers: Vec<LineMarker>,
}

impl<'a> Parser<'a> {
    /// At the start of a file.
    pub(crate) fn new(options: &'a Options, map: &'a SourceMap, name: &str, text: Vec<u8>) -> Parser<'a> {
        let mut sources = Sources::new(map);
        let is_text = options.output != OutputType::Obj;
        let mut out = if is_text { Out::text() } else { Out::object() };
        if is_text {
            out.buf.reserve(text.len() + text.len() / 2);
        }
        let too_long = text.len() >= u32::MAX as usize;
        let main = sources.add(name, if too_long { Vec::new() } else { text }, Origin::Main);
        let mut p = Parser {
            lex: Lexer::new(&sources.get(main).text, main),
            symbols: Symbols::default(),
            target: options.target,
            options,
            out,
            sources,
            diagnostics: Vec::new(),
            amd: Default::default(),
            sections: Vec::new(),
            section_stack: vec![SectionPair::default()],
            section_names: NameMap::default(),
            markers: Vec::new(),
            printed: Vec::new(),
            statement: Span::default(),
            conditions: Default::default(),
            macros: macros::Macros::new(options.altmacro),
            debug: Default::default(),
            frames: Default::default(),
            unreferenced: false,
            directional_uses: Vec::new(),
            discarded: Vec::new(),
            errors: 0,
            files_read: 0,
        };
        if too_long {
            p.report(Diag::global("the file is larger than 4 GiB"));
        }
        p
    }

    /// What the file has come to.
    pub(crate) fn finish(mut self) -> Finished {
        if !self.out.is_text() && self.errors == 0 {
            self.own_lines();
            self.finish_object();
        }
        self.report_given_up();
        let object = if self.errors == 0 { self.out.object } else { None };
        Finished {
            text: if self.options.output == OutputType::Asm { self.out.buf } else { Vec::new() },
            printed: self.printed,
            object,
            symbols: self.symbols,
            sections: self.sections,
            diagnostics: self.diagnostics,
            markers: self.markers,
        }
    }

    /// Records an error and goes on.
    #[cold]
    pub fn error(&mut self, span: Span, message: impl Into<Cow<'static, str>>) {
        self.report(Diag::error(span, message));
    }

    /// Records a warning and goes on.
    #[cold]
    pub fn warning(&mut self, span: Span, message: impl Into<Cow<'static, str>>) {
        self.report(Diag::warning(span, message));
    }

    /// Records a diagnostic.
    #[cold]
    pub fn report(&mut self, mut diag: Diag) {
        if diag.silent {
            return;
        }
        if diag.severity == Severity::Warning {
            if self.options.no_warn {
                return;
            }
            if self.options.fatal_warnings {
                diag.severity = Severity::Error;
            }
        }
        if diag.severity == Severity::Error {
            self.errors += 1;
        }
        self.diagnostics.push(diag);
    }

    /// An error at the token under the cursor.
    #[cold]
    pub fn token_error(&self, message: impl Into<Cow<'static, str>>) -> Diag {
        Diag::error(self.lex.here(), message)
    }

    /// A file with this many errors is not what it was taken for; nobody reads on.
    pub(crate) fn too_many_errors(&mut self) -> bool {
        const MAX_ERRORS: usize = 10_000;
        let stop = self.errors >= MAX_ERRORS;
        if stop {
            self.report(Diag::global("too many errors, stopping"));
        }
        stop
    }

    /// A file that wants too much is not read on.
    pub(crate) fn beyond_limits(&mut self) -> bool {
        let large = self.output_size() > data::MAX_OUTPUT;
        if large {
            self.report(Diag::global("the output is larger than 1 GiB"));
        }
        large || self.symbols.work.given_up().is_some()
    }

    /// Values that go through too many other symbols are an error wherever they are used.
    fn report_given_up(&mut self) {
        let Some(symbol) = self.symbols.work.given_up() else { return };
        let name = symbol.map_or(String::new(), |id| format!(" of '{}'", self.symbols[id].name));
        let message = format!("the value{name} goes through too many other symbols");
        let place = symbol.and_then(|id| self.symbols[id].value_span);
        self.report(match place {
            Some(at) => Diag::error(at, message),
            None => Diag::global(message),
        });
    }

    /// True when an error was recorded.
    pub fn failed(&self) -> bool {
        self.errors != 0
    }

    /// What expressions may look at.
    pub fn scope(&self) -> Scope<'_> {
        Scope {
            symbols: &self.symbols,
            target: &self.target,
            layout: self.out.object.as_deref().map(|o| o as &dyn Layout),
        }
    }

    /// The number an expression comes to by now.
    pub fn eval(&self, expr: &Expr) -> Option<i64> {
        expr.absolute(self.scope())
    }

    /// Gives a symbol a value without writing anything; for symbols the assembler itself keeps.
    pub fn set_symbol(&mut self, name: &str, value: Expr) -> SymId {
        let id = self.symbols.get_or_insert(name);
        self.symbols.set_value(id, value);
        self.symbols[id].redefinable = true;
        id
    }

    /// Reads a name: an identifier, a string, or `$` or `@` with the identifier or number that touches it.
    pub fn identifier(&mut self) -> Option<&'a str> {
        let token = self.lex.peek();
        match token.kind {
            Tok::Ident => {
                self.lex.bump();
                Some(self.lex.text(token))
            }
            Tok::Str => {
                let text = std::str::from_utf8(self.lex.bytes(token)).ok()?;
                self.lex.bump();
                Some(&text[1..text.len() - 1])
            }
            Tok::Dollar | Tok::At => {
                let next = self.lex.peek2();
                if !matches!(next.kind, Tok::Ident | Tok::Int) || !self.lex.adjacent(token, next) {
                    return None;
                }
                self.lex.bump();
                self.lex.bump();
                Some(self.lex.text(Token { end: next.end, ..token }))
            }
            _ => None,
        }
    }

    /// Reads a name or says what was expected.
    pub fn expect_identifier(&mut self, message: &'static str) -> Res<&'a str> {
        let at = self.lex.here();
        self.identifier().ok_or_else(|| Diag::error(at, message))
    }

    /// Expects a token of this kind and moves past it.
    pub fn expect(&mut self, kind: Tok, message: &'static str) -> Res<Token> {
        if self.lex.kind() == kind {
            return Ok(self.lex.bump());
        }
        Err(self.token_error(message))
    }

    /// Expects a comma and moves past it.
    pub fn comma(&mut self) -> Res<()> {
        self.expect(Tok::Comma, "expected comma").map(drop)
    }

    /// Expects the end of the statement and moves past it.
    pub fn eol(&mut self) -> Res<()> {
        if self.lex.kind() == Tok::Eol {
            self.lex.bump();
            return Ok(());
        }
        Err(self.token_error("expected newline"))
    }

    /// Reads `one, one, …` up to and past the end of the statement; nothing at all is fine too.
    pub(crate) fn many(&mut self, mut one: impl FnMut(&mut Self) -> Res) -> Res {
        if self.lex.eat(Tok::Eol) {
            return Ok(());
        }
        loop {
            one(self)?;
            if self.lex.eat(Tok::Eol) {
                return Ok(());
            }
            self.expect(Tok::Comma, "unexpected token")?;
        }
    }

    /// The raw text from the cursor to the end of the statement; the cursor is left there.
    pub(crate) fn text_to_eol(&mut self) -> &'a [u8] {
        self.text_until(|_| false)
    }

    /// The raw text from the cursor to a token that satisfies `stop` or the end of the statement.
    pub(crate) fn text_until(&mut self, stop: impl Fn(Tok) -> bool) -> &'a [u8] {
        let start = self.lex.peek().start;
        while !self.lex.at_eol() && !stop(self.lex.kind()) {
            self.lex.bump();
        }
        &self.lex.source()[start as usize..self.lex.peek().start as usize]
    }
}
