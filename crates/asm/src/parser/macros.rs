//! Macros and repetition: `.macro`, `.rept`, `.irp`, `.irpc`. Expansion is textual: a new buffer is written and read in
//! place of the statement; a closing directive at its end leads back.

use super::{Parser, Res};
use crate::lex::{Lexer, Tok};
use crate::number::write_int;
use crate::source::{Diag, Origin, Span};
use crate::symbol::NameMap;

/// Expansions may nest this deep, as in LLVM and GNU as.
const MAX_NESTING: usize = 20;
/// Included files may nest this deep.
const MAX_INCLUDES: usize = 200;
/// Bytes of source text, expansions included. A file that needs more is a runaway.
pub(super) const MAX_TEXT: usize = 128 << 20;

/// One token of an argument, as it will be put into the body.
#[derive(Clone, Copy, Debug)]
enum Piece<'a> {
    /// As written; the quotes of a string go unless the parameter takes all that is left.
    Text { text: &'a [u8], string: bool },
    /// `%expression` in alternate syntax.
    Value(i64),
    /// `<text>` in alternate syntax, brackets left out.
    Angle(&'a [u8]),
}

type Argument<'a> = Vec<Piece<'a>>;

#[derive(Clone, Debug)]
struct Parameter<'a> {
    name: &'a str,
    default: Argument<'a>,
    required: bool,
    vararg: bool,
}

#[derive(Clone, Debug)]
struct Macro<'a> {
    parameters: Vec<Parameter<'a>>,
    body: &'a [u8],
    /// Expansions so far: `\+`.
    count: u64,
}

/// Where to go on after a buffer.
#[derive(Clone, Copy, Debug)]
struct Return<'a> {
    lex: Lexer<'a>,
    /// Open conditionals when it was entered; `None` for an included file.
    conditions: Option<usize>,
}

/// Macros and the buffers being read.
#[derive(Debug)]
pub(crate) struct Macros<'a> {
    defined: NameMap<&'a str, Macro<'a>>,
    stack: Vec<Return<'a>>,
    expansions: u64,
    alternate: bool,
    /// `.macros_off` turns them off.
    pub enabled: bool,
}

impl Macros<'_> {
    pub fn new(alternate: bool) -> Self {
        Macros { defined: NameMap::default(), stack: Vec::new(), expansions: 0, alternate, enabled: true }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.defined.is_empty()
    }

    pub fn is_defined(&self, name: &str) -> bool {
        self.defined.contains_key(name)
    }

    fn depth(&self) -> usize {
        self.stack.iter().filter(|r| r.conditions.is_some()).count()
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

fn is_operator(kind: Tok) -> bool {
    matches!(
        kind,
        Tok::Plus
            | Tok::Minus
            | Tok::Tilde
            | Tok::Slash
            | Tok::Star
            | Tok::Dot
            | Tok::Equal
            | Tok::EqualEqual
            | Tok::Pipe
            | Tok::PipePipe
            | Tok::Caret
            | Tok::Amp
            | Tok::AmpAmp
            | Tok::Exclaim
            | Tok::ExclaimEqual
            | Tok::Less
            | Tok::LessEqual
            | Tok::LessLess
            | Tok::LessGreater
            | Tok::Greater
            | Tok::GreaterEqual
            | Tok::GreaterGreater
    )
}

impl<'a> Parser<'a> {
    /// `.macro name parameters` up to its `.endm`.
    pub(super) fn macro_definition(&mut self) -> Res {
        let at = self.statement;
        let name = self.expect_identifier("expected identifier in '.macro' directive")?;
        self.lex.eat(Tok::Comma);
        let mut parameters: Vec<Parameter<'a>> = Vec::new();
        while !self.lex.at_eol() {
            if let Some(last) = parameters.last().filter(|p| p.vararg) {
                let message = format!("vararg parameter '{}' should be the last parameter", last.name);
                return Err(self.token_error(message));
            }
            let parameter = self.macro_parameter(name, &parameters)?;
            parameters.push(parameter);
            self.lex.eat(Tok::Comma);
        }
        self.lex.bump();
        let body =
            self.block(at, &[".macro"], &[".endm", ".endmacro"], "no matching '.endmacro' in definition")?;
        if self.macros.is_defined(name) {
            return Err(Diag::error(at, format!("macro '{name}' is already defined")));
        }
        self.warn_positional(at, body, &parameters);
        self.macros.defined.insert(name, Macro { parameters, body, count: 0 });
        Ok(())
    }

    fn macro_parameter(&mut self, name: &str, before: &[Parameter<'a>]) -> Res<Parameter<'a>> {
        let parameter = self.expect_identifier("expected identifier in '.macro' directive")?;
        if before.iter().any(|p| p.name == parameter) {
            let message = format!("macro '{name}' has multiple parameters named '{parameter}'");
            return Err(self.token_error(message));
        }
        let mut result = Parameter { name: parameter, default: Vec::new(), required: false, vararg: false };
        if self.lex.eat(Tok::Colon) {
            let at = self.lex.here();
            let what = format!("'{parameter}' in macro '{name}'");
            match self.identifier() {
                Some("req") => result.required = true,
                Some("vararg") => result.vararg = true,
                Some(other) => {
                    let message = format!("{other} is not a valid parameter qualifier for {what}");
                    return Err(Diag::error(at, message));
                }
                None => return Err(Diag::error(at, format!("missing parameter qualifier for {what}"))),
            }
        }
        if self.lex.eat(Tok::Equal) {
            let at = self.lex.here();
            result.default = self.argument(false)?;
            if result.required {
                let what = format!("'{parameter}' in macro '{name}'");
                self.warning(at, format!("pointless default value for required parameter {what}"));
            }
        }
        Ok(result)
    }

    /// The text up to the directive that closes this block, nested blocks included. Leaves the cursor at the end of
    /// the closing statement.
    fn block(&mut self, at: Span, opens: &[&str], closes: &[&str], missing: &'static str) -> Res<&'a [u8]> {
        let start = self.lex.peek().start;
        let mut depth = 0;
        loop {
            let token = self.lex.peek();
            match token.kind {
                Tok::Eof => return Err(Diag::error(at, missing)),
                Tok::Ident => {
                    let word = self.lex.text(token);
                    if opens.contains(&word) {
                        depth += 1;
                    } else if closes.contains(&word) {
                        if depth == 0 {
                            self.lex.bump();
                            if self.lex.kind() != Tok::Eol {
                                return Err(match word {
                                    ".endr" => self.token_error("expected newline"),
                                    _ => self.token_error(format!("unexpected token in '{word}' directive")),
                                });
                            }
                            return Ok(&self.lex.source()[start as usize..token.start as usize]);
                        }
                        depth -= 1;
                    }
                }
                _ => {}
            }
            self.lex.skip_statement();
        }
    }

    /// A macro with named parameters whose body has `$1` instead was probably written for another assembler.
    fn warn_positional(&mut self, at: Span, body: &[u8], parameters: &[Parameter<'a>]) {
        if parameters.is_empty() {
            return;
        }
        let positional = body.windows(2).any(|w| w[0] == b'$' && (w[1] == b'n' || w[1].is_ascii_digit()));
        if !positional {
            return;
        }
        let named = body.split(|b| *b == b'\\').skip(1).any(|rest| {
            let length = rest.iter().position(|b| !is_name_byte(*b)).unwrap_or(rest.len());
            parameters.iter().any(|p| p.name.as_bytes() == &rest[..length])
        });
        if !named {
            self.warning(
                at,
                "macro defined with named parameters which are not used in macro body, possible positional \
                 parameter found in body which will have no effect",
            );
        }
    }

    /// One argument: tokens up to a comma or a space that no operator touches.
    fn argument(&mut self, vararg: bool) -> Res<Argument<'a>> {
        let mut pieces = Vec::new();
        if vararg {
            if !self.lex.at_eol() {
                let text = self.text_to_eol();
                pieces.push(Piece::Text { text, string: true });
            }
            return Ok(pieces);
        }
        let mut parens = 0u32;
        // Where the token before the cursor ended, unless the space after it was dealt with.
        let mut before: Option<u32> = None;
        loop {
            let token = self.lex.peek();
            if matches!(token.kind, Tok::Eof | Tok::Equal) {
                return Err(self.token_error("unexpected token in macro instantiation"));
            }
            let gap = match before {
                Some(end) => &self.lex.source()[end as usize..(token.start as usize).max(end as usize)],
                None => b"",
            };
            let spaced = gap.iter().any(|b| matches!(b, b' ' | b'\t'));
            if parens == 0 {
                if token.kind == Tok::Comma && !spaced {
                    break;
                }
                if is_operator(token.kind) {
                    self.lex.bump();
                    pieces.push(Piece::Text { text: self.lex.bytes(token), string: false });
                    before = None;
                    continue;
                }
                if spaced {
                    break;
                }
            } else if spaced && token.kind != Tok::Eol {
                pieces.push(Piece::Text { text: gap, string: false });
            }
            match token.kind {
                Tok::Eol => break,
                Tok::LParen => parens += 1,
                Tok::RParen => parens = parens.saturating_sub(1),
                _ => {}
            }
            self.lex.bump();
            pieces.push(Piece::Text { text: self.lex.bytes(token), string: token.kind == Tok::Str });
            before = Some(token.end);
        }
        if parens != 0 {
            return Err(self.token_error("unbalanced parentheses in macro argument"));
        }
        Ok(pieces)
    }

    /// An argument in alternate syntax, if it is one.
    fn alternate_argument(&mut self) -> Res<Option<Piece<'a>>> {
        if !self.macros.alternate {
            return Ok(None);
        }
        if self.lex.kind() == Tok::Percent {
            let at = self.lex.here();
            self.lex.bump();
            let expr = self.expr()?;
            let value = self.eval(&expr).ok_or_else(|| Diag::error(at, "expected absolute expression"))?;
            return Ok(Some(Piece::Value(value)));
        }
        if matches!(self.lex.kind(), Tok::Less | Tok::LessLess | Tok::LessEqual | Tok::LessGreater) {
            let source = self.lex.source();
            let start = self.lex.peek().start as usize;
            if let Some(end) = angle_end(source, start) {
                self.lex = Lexer::resume(source, self.lex.buffer(), end as u32 + 1);
                return Ok(Some(Piece::Angle(&source[start + 1..end])));
            }
        }
        Ok(None)
    }

    /// The arguments of a call, defaults filled in. `None` stands for `.irp`, which takes any number.
    fn arguments(&mut self, call: Option<(&str, &[Parameter<'a>])>) -> Res<Vec<Argument<'a>>> {
        let (name, parameters) = call.unwrap_or_default();
        let unlimited = parameters.is_empty();
        let mut arguments: Vec<Argument<'a>> = vec![Vec::new(); parameters.len()];
        let mut named = false;
        let mut index = 0;
        while unlimited || index < parameters.len() {
            let at = self.lex.here();
            let mut slot = index;
            let mut has_name = false;
            if self.lex.kind() == Tok::Ident && self.lex.peek2().kind == Tok::Equal {
                let keyword = self.lex.ident();
                self.lex.bump();
                self.lex.bump();
                named = true;
                has_name = true;
                slot = parameters.iter().position(|p| p.name == keyword).ok_or_else(|| {
                    let message = format!("parameter named '{keyword}' does not exist for macro '{name}'");
                    Diag::error(at, message)
                })?;
            }
            if named && !has_name {
                return Err(Diag::error(at, "cannot mix positional and keyword arguments"));
            }
            let vararg = index + 1 == parameters.len() && parameters[index].vararg;
            let argument = match self.alternate_argument()? {
                Some(piece) => vec![piece],
                None => self.argument(vararg)?,
            };
            if !argument.is_empty() {
                if arguments.len() <= slot {
                    arguments.resize(slot + 1, Vec::new());
                }
                arguments[slot] = argument;
            }
            if self.lex.at_eol() {
                let mut missing = false;
                for (parameter, argument) in parameters.iter().zip(&mut arguments) {
                    if !argument.is_empty() {
                        continue;
                    }
                    if parameter.required {
                        let what = format!("'{}' in macro '{name}'", parameter.name);
                        let message = format!("missing value for required parameter {what}");
                        self.report(self.token_error(message));
                        missing = true;
                    }
                    argument.clone_from(&parameter.default);
                }
                return if missing { Err(Diag::silent()) } else { Ok(arguments) };
            }
            self.lex.eat(Tok::Comma);
            index += 1;
        }
        Err(self.token_error("too many positional arguments"))
    }

    /// Appends a body with its arguments put in.
    fn substitute(
        &mut self,
        body: &[u8],
        parameters: &[(&str, bool)],
        arguments: &[Argument<'a>],
        number: Option<u64>,
        count: u64,
        out: &mut Vec<u8>,
    ) {
        let alternate = self.macros.alternate;
        let find = |name: &[u8]| parameters.iter().position(|(p, _)| p.as_bytes() == name);
        let mut at = 0;
        while at < body.len() {
            let byte = body[at];
            if byte == b'\\' && at + 1 < body.len() {
                let next = body[at + 1];
                if let (b'@', Some(number)) = (next, number) {
                    write_int(number as i64, out);
                    at += 2;
                } else if next == b'+' {
                    write_int(count as i64, out);
                    at += 2;
                } else if next == b'(' && body.get(at + 2) == Some(&b')') {
                    at += 3;
                } else {
                    at += 1;
                    let start = at;
                    while body.get(at).is_some_and(|b| is_name_byte(*b)) {
                        at += 1;
                    }
                    let name = &body[start..at];
                    if alternate && body.get(at) == Some(&b'&') {
                        at += 1;
                    }
                    match find(name) {
                        Some(i) => write_argument(&arguments[i], parameters[i].1, out),
                        None => {
                            out.push(b'\\');
                            out.extend_from_slice(name);
                        }
                    }
                }
            } else if alternate && is_name_byte(byte) {
                let start = at;
                while body.get(at).is_some_and(|b| is_name_byte(*b)) {
                    at += 1;
                }
                match find(&body[start..at]) {
                    Some(i) => {
                        write_argument(&arguments[i], parameters[i].1, out);
                        if body.get(at) == Some(&b'&') {
                            at += 1;
                        }
                    }
                    None => out.extend_from_slice(&body[start..at]),
                }
            } else {
                let rest = &body[at..];
                let stop = |b: &u8| *b == b'\\' || (alternate && is_name_byte(*b));
                let length = rest[1..].iter().position(stop).map_or(rest.len(), |i| i + 1);
                out.extend_from_slice(&rest[..length]);
                at += length;
            }
        }
    }

    /// Reads `text` in place of the rest of the statement.
    fn enter(&mut self, mut text: Vec<u8>, end: &[u8], at: Span) -> Res {
        text.extend_from_slice(end);
        self.check_room(text.len(), at)?;
        let buffer = self.sources.add("<instantiation>", text, Origin::Expansion(at));
        self.macros.stack.push(Return { lex: self.lex, conditions: Some(self.conditions.depth()) });
        self.lex = Lexer::new(&self.sources.get(buffer).text, buffer);
        Ok(())
    }

    fn check_room(&self, bytes: usize, at: Span) -> Res {
        if self.sources.total_bytes().saturating_add(bytes) > MAX_TEXT {
            return Err(Diag::error(at, "the expansion is too large"));
        }
        Ok(())
    }

    fn check_nesting(&self) -> Res {
        if self.macros.depth() >= MAX_NESTING {
            let message = format!("macros cannot be nested more than {MAX_NESTING} levels deep");
            return Err(self.token_error(message));
        }
        Ok(())
    }

    /// A macro's name was read as the first word of a statement.
    pub(crate) fn expand_macro(&mut self, name: &str, at: Span) -> Res {
        self.check_nesting()?;
        let Some(definition) = self.macros.defined.get_mut(name) else { return Ok(()) };
        let count = definition.count;
        let body = definition.body;
        let parameters = definition.parameters.clone();
        let call = if parameters.is_empty() { None } else { Some((name, &*parameters)) };
        let arguments = self.arguments(call)?;
        if arguments.len() != parameters.len() {
            return Err(self.token_error("Wrong number of arguments"));
        }
        let names: Vec<(&str, bool)> = parameters.iter().map(|p| (p.name, p.vararg)).collect();
        let mut text = Vec::with_capacity(body.len() + 64);
        let number = self.macros.expansions;
        self.substitute(body, &names, &arguments, Some(number), count, &mut text);
        self.enter(text, b".endmacro\n", at)?;
        self.macros.expansions += 1;
        if let Some(definition) = self.macros.defined.get_mut(name) {
            definition.count += 1;
        }
        Ok(())
    }

    fn repeated_block(&mut self) -> Res<&'a [u8]> {
        let at = self.statement;
        let opens = [".rep", ".rept", ".irp", ".irpc"];
        self.block(at, &opens, &[".endr"], "no matching '.endr' in definition")
    }

    /// `.rept count`
    pub(super) fn rept(&mut self, name: &str) -> Res {
        let start = self.statement;
        let at = self.lex.here();
        let expr = self.expr()?;
        let count = self
            .eval(&expr)
            .ok_or_else(|| Diag::error(at, format!("unexpected token in '{name}' directive")))?;
        if count < 0 {
            return Err(Diag::error(at, "Count is negative"));
        }
        self.eol()?;
        let body = self.repeated_block()?;
        self.check_nesting()?;
        let size = body.len().saturating_mul(usize::try_from(count).unwrap_or(usize::MAX));
        self.check_room(size, at)?;
        let mut text = Vec::with_capacity(size + 8);
        if !body.is_empty() {
            for i in 0..count {
                self.substitute(body, &[], &[], None, i as u64, &mut text);
            }
        }
        self.enter(text, b".endr\n", start)
    }

    /// `.irp name, values` and `.irpc name, characters`
    pub(super) fn irp(&mut self, by_character: bool) -> Res {
        let start = self.statement;
        let what = if by_character {
            "expected identifier in '.irpc' directive"
        } else {
            "expected identifier in '.irp' directive"
        };
        let name = self.expect_identifier(what)?;
        self.comma()?;
        let mut arguments = self.arguments(None)?;
        if by_character {
            let [argument] = &*arguments else {
                return Err(self.token_error("unexpected token in '.irpc' directive"));
            };
            let [Piece::Text { text, .. }] = **argument else {
                return Err(self.token_error("unexpected token in '.irpc' directive"));
            };
            arguments = text.chunks(1).map(|c| vec![Piece::Text { text: c, string: false }]).collect();
        }
        self.eol()?;
        let body = self.repeated_block()?;
        self.check_nesting()?;
        self.check_room(body.len().saturating_mul(arguments.len()), start)?;
        let mut text = Vec::new();
        let number = self.macros.expansions;
        for (i, argument) in arguments.iter().enumerate() {
            let one = std::slice::from_ref(argument);
            self.substitute(body, &[(name, false)], one, Some(number), i as u64, &mut text);
            self.check_room(text.len(), start)?;
        }
        self.enter(text, b".endr\n", start)
    }

    /// Goes back to where the innermost expansion was asked for.
    fn leave_expansion(&mut self) {
        while let Some(Return { lex, conditions }) = self.macros.stack.pop() {
            self.lex = lex;
            if conditions.is_some() {
                break;
            }
        }
        self.lex.eat(Tok::Eol);
    }

    /// `.endm`, `.endmacro`
    pub(super) fn end_macro(&mut self, name: &str) -> Res {
        if self.lex.kind() != Tok::Eol {
            return Err(self.token_error(format!("unexpected token in '{name}' directive")));
        }
        if self.macros.depth() == 0 {
            let message = format!("unexpected '{name}' in file, no current macro definition");
            return Err(self.token_error(message));
        }
        self.leave_expansion();
        Ok(())
    }

    /// `.endr`
    pub(super) fn end_repeat(&mut self) -> Res {
        if self.macros.depth() == 0 {
            return Err(self.token_error("unmatched '.endr' directive"));
        }
        self.leave_expansion();
        Ok(())
    }

    /// `.exitm`
    pub(super) fn exit_macro(&mut self, name: &str) -> Res {
        self.eol()?;
        let Some(depth) = self.macros.stack.iter().rev().find_map(|r| r.conditions) else {
            let message = format!("unexpected '{name}' in file, no current macro definition");
            return Err(self.token_error(message));
        };
        self.conditions.unwind(depth);
        self.leave_expansion();
        Ok(())
    }

    /// `.purgem name`
    pub(super) fn purge_macro(&mut self) -> Res {
        let at = self.statement;
        let name = self.expect_identifier("expected identifier in '.purgem' directive")?;
        self.eol()?;
        if self.macros.defined.remove(name).is_none() {
            return Err(Diag::error(at, format!("macro '{name}' is not defined")));
        }
        Ok(())
    }

    /// `.altmacro` and `.noaltmacro`
    pub(super) fn alternate_macros(&mut self, on: bool) -> Res {
        self.eol()?;
        self.macros.alternate = on;
        Ok(())
    }

    /// Reads an included file next; afterwards the cursor is where it is now.
    pub(super) fn enter_include(&mut self, name: &str, text: Vec<u8>, at: Span) -> Res {
        self.check_room(text.len(), at)?;
        if self.macros.stack.len() >= MAX_INCLUDES {
            return Err(Diag::error(at, "include files are nested too deeply"));
        }
        let from = self.lex.here();
        let buffer = self.sources.add(name, text, Origin::Include(from));
        self.macros.stack.push(Return { lex: self.lex, conditions: None });
        self.lex = Lexer::new(&self.sources.get(buffer).text, buffer);
        Ok(())
    }

    /// At the end of a buffer: goes back to the file that included it.
    pub(crate) fn leave_include(&mut self) -> bool {
        match self.macros.stack.pop() {
            Some(Return { lex, .. }) => {
                self.lex = lex;
                true
            }
            None => false,
        }
    }
}

fn write_argument(argument: &Argument<'_>, vararg: bool, out: &mut Vec<u8>) {
    for piece in argument {
        match *piece {
            Piece::Text { text, string: true } if !vararg && text.len() >= 2 => {
                out.extend_from_slice(&text[1..text.len() - 1]);
            }
            Piece::Text { text, .. } => out.extend_from_slice(text),
            Piece::Value(value) => write_int(value, out),
            Piece::Angle(text) => {
                let mut bytes = text.iter();
                while let Some(&byte) = bytes.next() {
                    let byte = if byte == b'!' { bytes.next().copied() } else { Some(byte) };
                    out.extend(byte);
                }
            }
        }
    }
}

/// Where the `>` that ends `<text>` is; `!` quotes the character after it.
fn angle_end(source: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        match source.get(at)? {
            b'>' => return Some(at),
            b'\n' | b'\r' | 0 => return None,
            b'!' => at += 2,
            _ => at += 1,
        }
    }
}
