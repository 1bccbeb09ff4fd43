//! Macros and repetition: text that is read again with something put in.

use super::text::{Cursor, is_start};
use super::{Assembler, Res, wrong};
use crate::source::Origin;
use std::fmt::Write as _;
use std::rc::Rc;

/// A parameter of a macro.
#[derive(Clone, Debug)]
struct Parameter {
    name: String,
    default: String,
    required: bool,
    /// It takes all arguments that are left.
    rest: bool,
}

/// A macro.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    parameters: Vec<Parameter>,
    body: String,
}

/// A repetition whose body is known: what each round puts in.
pub(super) enum Pending {
    /// A name and its values.
    Values(String, Vec<String>),
    /// So many times.
    Count(u64),
}

/// Rounds of one repetition.
const MAX_ROUNDS: u64 = 1 << 20;

/// Directives that open a repetition.
pub(super) const REPETITIONS: [&str; 6] = [".rept", ".irp", ".irpc", ".for", ".while", ".rep"];

/// Puts values for `\name` into a text. `\@` is the number of macro calls, `\()` nothing; `eval` computes `\%…`.
fn substitute(
    body: &str,
    names: &[(&str, &str)],
    count: u64,
    bare: bool,
    eval: &dyn Fn(&mut Cursor<'_>) -> Res<i64>,
) -> Res<String> {
    let bytes = body.as_bytes();
    let mut out = String::with_capacity(body.len() + 64);
    let mut i = 0;
    while i < bytes.len() {
        let word_before =
            i > 0 && (bytes[i - 1].is_ascii_alphanumeric() || matches!(bytes[i - 1], b'_' | b'.'));
        if bare && is_start(bytes[i]) && !word_before {
            let word = Cursor::new(&bytes[i..]).word();
            let value = names.iter().find(|n| n.0 == word).map_or(word, |n| n.1);
            out.push_str(value);
            i += word.len().max(1);
            continue;
        }
        if bytes[i] != b'\\' || i + 1 >= bytes.len() {
            let end = body[i..].char_indices().nth(1).map_or(body.len(), |(n, _)| i + n);
            out.push_str(&body[i..end]);
            i = end;
            continue;
        }
        match bytes[i + 1] {
            b'@' => {
                let _ = write!(out, "{count}");
                i += 2;
            }
            b'(' if bytes.get(i + 2) == Some(&b')') => i += 3,
            b'%' => {
                let inner = substitute(&body[i + 2..], names, count, bare, &|c| eval(c));
                let inner = inner?;
                let mut c = Cursor::new(inner.as_bytes());
                let n = eval(&mut c)?;
                let _ = write!(out, "{n}{}", String::from_utf8_lossy(c.rest()));
                return Ok(out);
            }
            _ => {
                let word = Cursor::new(&bytes[i + 1..]).word();
                // A parameter's name may be followed by a point that is not part of it.
                let known = names.iter().filter(|n| word.starts_with(n.0)).max_by_key(|n| n.0.len());
                let exact = names.iter().find(|n| n.0 == word).or(known.filter(|n| {
                    !word.as_bytes().get(n.0.len()).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
                }));
                match exact {
                    Some((name, value)) => {
                        out.push_str(value);
                        i += 1 + name.len();
                    }
                    None => {
                        out.push('\\');
                        i += 1;
                    }
                }
            }
        }
    }
    Ok(out)
}

impl Assembler<'_> {
    /// `.macro name a, b=default, c:req, d:vararg`.
    pub(super) fn define_macro(&mut self, c: &mut Cursor<'_>) -> Res {
        let at = c.at;
        let name = self.name(c)?;
        let body = self.body(&[".macro"], ".endm")?;
        let mut parameters: Vec<Parameter> = Vec::new();
        c.eat(",");
        while !c.at_end() {
            let start = c.at;
            let name = self.name(c)?.to_owned();
            let mut parameter = Parameter { name, default: String::new(), required: false, rest: false };
            if c.eat(":") {
                match c.take_word().to_ascii_lowercase().as_str() {
                    "req" => parameter.required = true,
                    "vararg" => parameter.rest = true,
                    _ => return wrong(start, "a parameter is `req` or `vararg`"),
                }
            }
            if c.eat("=") {
                parameter.default = String::from_utf8_lossy(argument(c, true)).into_owned();
            }
            if parameters.last().is_some_and(|p| p.rest) {
                return wrong(start, "nothing can follow a vararg parameter");
            }
            if parameters.iter().any(|p| p.name == parameter.name) {
                return wrong(start, format!("there is a parameter {} already", parameter.name));
            }
            parameters.push(parameter);
            c.eat(",");
        }
        let key = if self.macro_case { name.to_ascii_lowercase() } else { name.to_owned() };
        if self.macros.insert(key, Rc::new(Macro { parameters, body })).is_some() {
            return wrong(at, format!("there is a macro {name} already"));
        }
        Ok(())
    }

    /// Reads a macro's body with its arguments put in.
    pub(super) fn call(&mut self, m: &Macro, mut c: Cursor<'_>) -> Res {
        let mut values: Vec<Option<String>> = vec![None; m.parameters.len()];
        let mut next = 0;
        while !c.at_end() {
            let start = c.at;
            let mut named = c;
            let word = named.take_word();
            let by_name = named.peek() == b'=' && named.peek_at(1) != b'=';
            let by_name = by_name.then(|| m.parameters.iter().position(|p| p.name == word)).flatten();
            let i = by_name.unwrap_or(next);
            if by_name.is_some() {
                c = named;
                c.skip(1);
            }
            let Some(parameter) = m.parameters.get(i) else {
                return wrong(start, format!("the macro takes {} arguments", m.parameters.len()));
            };
            let text = if parameter.rest {
                let text = c.rest().trim_ascii();
                c.skip(c.rest().len());
                String::from_utf8_lossy(text).into_owned()
            } else {
                self.macro_argument(&mut c)?
            };
            values[i] = Some(text).filter(|t| !t.is_empty());
            next = i + 1;
            c.eat(",");
        }
        let mut names = Vec::new();
        for (parameter, value) in m.parameters.iter().zip(&values) {
            if value.is_none() && parameter.required {
                return wrong(0, format!("the macro needs a value for {}", parameter.name));
            }
            names.push((parameter.name.as_str(), value.as_deref().unwrap_or(&parameter.default)));
        }
        let (count, bare) = (self.macro_count, self.alternate);
        let text = substitute(&m.body, &names, count, bare, &|c| self.number(c))?;
        self.macro_count += 1;
        self.expand(text.into_bytes(), true)
    }

    /// One argument of a call: quoted, `%expression` with `.altmacro`, or plain text.
    fn macro_argument(&self, c: &mut Cursor<'_>) -> Res<String> {
        if let Some(text) = c.string() {
            return Ok(String::from_utf8_lossy(&text).into_owned());
        }
        if self.alternate && c.eat("%") {
            return Ok(self.number(c)?.to_string());
        }
        Ok(String::from_utf8_lossy(argument(c, false)).into_owned())
    }

    /// `.rept`, `.irp`, `.irpc`, `.for`, `.while`.
    pub(super) fn repeat(&mut self, name: &str, c: &mut Cursor<'_>) -> Res {
        let body = self.body(&REPETITIONS, ".endr")?;
        let pending = match name {
            ".rept" | ".rep" => {
                let n = self.number_in(c, 0, MAX_ROUNDS as i64)? as u64;
                self.end(c)?;
                Pending::Count(n)
            }
            ".irp" | ".irpc" => {
                let symbol = self.name(c)?.to_owned();
                c.eat(",");
                let mut values = Vec::new();
                if name == ".irpc" {
                    values.extend(String::from_utf8_lossy(c.rest()).trim().chars().map(String::from));
                    c.skip(c.rest().len());
                }
                while !c.at_end() {
                    values.push(self.macro_argument(c)?);
                    c.eat(",");
                }
                Pending::Values(symbol, values)
            }
            _ => return self.looped(name, c, &body),
        };
        let mut text = String::new();
        let mut round = |names: &[(&str, &str)], number: u64, this: &Self| {
            text += &substitute(&body, names, number, false, &|c| this.number(c))?;
            if text.len() > super::MAX_BYTES {
                wrong(0, "the repetition makes too much text")
            } else {
                Ok(())
            }
        };
        match pending {
            Pending::Count(n) => (0..n).try_for_each(|i| round(&[], i, self))?,
            Pending::Values(symbol, values) => {
                for (i, value) in values.iter().enumerate() {
                    round(&[(&symbol, value)], i as u64, self)?;
                }
            }
        }
        self.expand(text.into_bytes(), false)
    }

    /// `.for s=start, condition, next` and `.while condition`: a round is read, then the condition again.
    fn looped(&mut self, name: &str, c: &mut Cursor<'_>, body: &str) -> Res {
        let mut text = String::new();
        let mut step = String::new();
        if name == ".for" {
            let at = c.at;
            let symbol = self.name(c)?.to_owned();
            if !c.eat("=") {
                return wrong(c.at, "an equals sign is wanted");
            }
            let start = self.number(c)?;
            self.comma(c)?;
            let value = super::Expr::Known(super::Value::Number(start));
            self.scopes.define(&symbol, value, true).or_else(|m| wrong(at, m))?;
            text = String::from_utf8_lossy(c.take_field()).into_owned();
            self.comma(c)?;
            let next = String::from_utf8_lossy(c.rest()).trim().to_owned();
            c.skip(c.rest().len());
            step = format!("{symbol}={next}\n");
        } else {
            text += String::from_utf8_lossy(c.rest()).trim();
            c.skip(c.rest().len());
        }
        let holds = {
            let mut condition = Cursor::new(text.as_bytes());
            self.number(&mut condition)? != 0
        };
        if !holds {
            return Ok(());
        }
        // One round, and the same again as long as the condition holds.
        let again = format!("{body}\n{step}.while {text}\n{body}\n{step}.endr\n");
        self.looping =
            name == ".while" && !matches!(self.sources.get(self.statement.buffer).origin, Origin::Main);
        let done = self.expand(again.into_bytes(), false);
        self.looping = false;
        done
    }
}

/// The text of an argument: up to a comma, or a blank outside of brackets that separates two words.
fn argument<'t>(c: &mut Cursor<'t>, default: bool) -> &'t [u8] {
    let rest = c.rest();
    let mut end = 0;
    let mut depth = 0i32;
    while end < rest.len() {
        match rest[end] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b',' if depth <= 0 => break,
            b' ' | b'\t' if depth <= 0 => {
                let after = rest[end..].iter().find(|b| !matches!(b, b' ' | b'\t')).copied().unwrap_or(b',');
                let before = rest[..end].last().copied().unwrap_or(0);
                let operator = |b: u8| b"+-*/%<>&|^!=?:~@".contains(&b);
                // A blank beside an operator belongs to an expression.
                if default || !(operator(after) || operator(before)) {
                    break;
                }
            }
            _ => {}
        }
        end += 1;
    }
    let text = rest[..end].trim_ascii();
    c.skip(end);
    text
}
