//! Expressions of CLRX's assembly: numbers of 64 bits, places in sections, halves of addresses, registers.
//!
//! What is known is computed at once; the rest is kept as a tree and computed when the source has been read.

use super::text::{Cursor, is_start};

/// A scope, by its number.
pub(super) type ScopeId = usize;

/// What names mean.
pub(super) trait Names {
    /// The outermost scope.
    fn root(&self) -> ScopeId;
    /// The scope of the current statement.
    fn current(&self) -> ScopeId;
    /// The value of a name by now; `depth` counts names that mean names.
    fn value(&self, name: &str, from: ScopeId, depth: u32) -> Option<Value>;
    /// What `3b` or `3f` mean here.
    fn local_label(&self, number: u64, forward: bool) -> String;
}

/// A section, by its number.
pub(super) type SectionId = usize;

/// A run of registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Regs {
    /// `v`, `s` or `ttmp`.
    pub file: &'static str,
    pub first: u32,
    pub count: u32,
}

/// What an expression comes to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value {
    Number(i64),
    /// A byte of a section.
    Place(SectionId, i64),
    /// The low (0) or high (32) half of a place's address.
    Half(SectionId, i64, u8),
    Regs(Regs),
    /// A register with a name, such as VCC, by the name LLVM has for it.
    Special(&'static str),
}

/// An expression with names that are not known yet.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Expr {
    Known(Value),
    /// A name, and the scope it was met in.
    Name(String, ScopeId),
    Unary(u8, Box<Expr>),
    Binary(Op, Box<(Expr, Expr)>),
    Choose(Box<(Expr, Expr, Expr)>),
}

/// Binary operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub(super) enum Op {
    Mul,
    Div,
    UDiv,
    Mod,
    UMod,
    Shl,
    Shr,
    Sar,
    And,
    Or,
    Xor,
    OrNot,
    Add,
    Sub,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    ULt,
    ULe,
    UGt,
    UGe,
    LogAnd,
    LogOr,
}

/// The operators with their spellings, the longest first where one starts another; the number is how tightly they bind.
const OPERATORS: [(&str, Op, u8); 27] = [
    ("<=@", Op::ULe, 3),
    (">=@", Op::UGe, 3),
    (">>>", Op::Sar, 5),
    ("<@", Op::ULt, 3),
    (">@", Op::UGt, 3),
    ("<<", Op::Shl, 5),
    (">>", Op::Shr, 5),
    ("<=", Op::Le, 3),
    (">=", Op::Ge, 3),
    ("<>", Op::Ne, 3),
    ("!=", Op::Ne, 3),
    ("==", Op::Eq, 3),
    ("&&", Op::LogAnd, 2),
    ("||", Op::LogOr, 2),
    ("//", Op::UDiv, 5),
    ("%%", Op::UMod, 5),
    ("*", Op::Mul, 5),
    ("/", Op::Div, 5),
    ("%", Op::Mod, 5),
    ("&", Op::And, 4),
    ("|", Op::Or, 4),
    ("^", Op::Xor, 4),
    ("!", Op::OrNot, 4),
    ("+", Op::Add, 4),
    ("-", Op::Sub, 4),
    ("<", Op::Lt, 3),
    (">", Op::Gt, 3),
];

/// Nesting that is accepted.
const MAX_DEPTH: u32 = 200;

/// Why an expression is none, and at which byte of the statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ExprError {
    pub at: usize,
    pub message: String,
}

pub(super) fn wrong<T>(at: usize, message: impl Into<String>) -> Result<T, ExprError> {
    Err(ExprError { at, message: message.into() })
}

/// What names mean while an expression is read.
pub(super) struct Context<'c> {
    pub scopes: &'c dyn Names,
    /// The current place.
    pub here: Option<Value>,
}

impl Context<'_> {
    /// Reads an expression.
    pub fn parse(&self, c: &mut Cursor<'_>) -> Result<Expr, ExprError> {
        self.choice(c, 0)
    }

    /// Reads an expression whose value must be known by now.
    pub fn number(&self, c: &mut Cursor<'_>) -> Result<i64, ExprError> {
        let at = c.at;
        match self.parse(c)? {
            Expr::Known(Value::Number(n)) => Ok(n),
            Expr::Known(_) => wrong(at, "a number is wanted here"),
            other => wrong(at, format!("{} has no value yet", other.first_name().unwrap_or("it"))),
        }
    }

    fn choice(&self, c: &mut Cursor<'_>, depth: u32) -> Result<Expr, ExprError> {
        if depth > MAX_DEPTH {
            return wrong(c.at, "the expression is nested too deeply");
        }
        let condition = self.binary(c, 1, depth)?;
        if !c.eat("?") {
            return Ok(condition);
        }
        let yes = self.choice(c, depth + 1)?;
        if !c.eat(":") {
            return wrong(c.at, "a colon is wanted");
        }
        let no = self.choice(c, depth + 1)?;
        Ok(match condition {
            Expr::Known(Value::Number(0)) => no,
            Expr::Known(Value::Number(_)) => yes,
            condition => Expr::Choose(Box::new((condition, yes, no))),
        })
    }

    fn binary(&self, c: &mut Cursor<'_>, least: u8, depth: u32) -> Result<Expr, ExprError> {
        let mut left = self.unary(c, depth)?;
        loop {
            let rest = c.rest();
            let found = OPERATORS.iter().find(|o| rest.starts_with(o.0.as_bytes()));
            let Some(&(text, op, tightness)) = found.filter(|o| o.2 >= least) else { return Ok(left) };
            let at = c.at;
            c.skip(text.len());
            let right = self.binary(c, tightness + 1, depth + 1)?;
            left = match (&left, &right) {
                (Expr::Known(a), Expr::Known(b)) => {
                    Expr::Known(apply(op, *a, *b).map_err(|message| ExprError { at, message })?)
                }
                _ => Expr::Binary(op, Box::new((left, right))),
            };
        }
    }

    fn unary(&self, c: &mut Cursor<'_>, depth: u32) -> Result<Expr, ExprError> {
        if depth > MAX_DEPTH {
            return wrong(c.at, "the expression is nested too deeply");
        }
        let at = c.at;
        match c.peek() {
            sign @ (b'-' | b'~' | b'!' | b'+') => {
                c.skip(1);
                let operand = self.unary(c, depth + 1)?;
                match operand {
                    Expr::Known(v) => {
                        Ok(Expr::Known(negate(sign, v).map_err(|message| ExprError { at, message })?))
                    }
                    other => Ok(Expr::Unary(sign, Box::new(other))),
                }
            }
            b'(' => {
                c.skip(1);
                let inner = self.choice(c, depth + 1)?;
                match c.eat(")") {
                    true => Ok(inner),
                    false => wrong(c.at, "a closing parenthesis is wanted"),
                }
            }
            _ => self.primary(c),
        }
    }

    fn primary(&self, c: &mut Cursor<'_>) -> Result<Expr, ExprError> {
        let at = c.at;
        let byte = c.peek();
        if byte.is_ascii_digit() {
            return local_label(c, self.scopes).map_or_else(|| number(c), Ok);
        }
        if byte == b'\'' {
            let rest = c.rest();
            let (value, len) = match rest {
                [_, b'\\', e, b'\'', ..] => (super::text::unescape(&[b'\\', *e])[0], 4),
                [_, byte, b'\'', ..] => (*byte, 3),
                _ => return wrong(at, "a character in quotes is wanted"),
            };
            c.skip(len);
            return Ok(Expr::Known(Value::Number(value.into())));
        }
        let root = byte == b':' && c.peek_at(1) == b':';
        if !is_start(byte) && !root {
            return wrong(at, "a number or a name is wanted");
        }
        if root {
            c.skip(2);
        }
        let name = c.take_word();
        if name == "." {
            return match self.here {
                Some(here) => Ok(Expr::Known(here)),
                None => wrong(at, "there is no current place outside of sections"),
            };
        }
        let scope = if root { self.scopes.root() } else { self.scopes.current() };
        Ok(match self.scopes.value(name, scope, 0) {
            Some(value) => Expr::Known(value),
            None => Expr::Name(name.to_owned(), scope),
        })
    }
}

/// `3b` and `3f`: the label before or after.
fn local_label(c: &mut Cursor<'_>, scopes: &dyn Names) -> Option<Expr> {
    let rest = c.rest();
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let direction = *rest.get(digits)?;
    let ends = !rest.get(digits + 1).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    // 0b1 is a number.
    if !matches!(direction, b'b' | b'f') || !ends {
        return None;
    }
    let number = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    let name = scopes.local_label(number, direction == b'f');
    c.skip(digits + 1);
    let scope = scopes.root();
    Some(match scopes.value(&name, scope, 0) {
        Some(value) => Expr::Known(value),
        None => Expr::Name(name, scope),
    })
}

fn number(c: &mut Cursor<'_>) -> Result<Expr, ExprError> {
    let at = c.at;
    let rest = c.rest();
    let digits = |skip: usize, radix: u32| {
        let count = rest[skip..].iter().take_while(|b| char::from(**b).is_digit(radix)).count();
        (skip, count, radix)
    };
    let (skip, count, radix) = match rest {
        [b'0', b'x' | b'X', ..] => digits(2, 16),
        [b'0', b'b' | b'B', ..] => digits(2, 2),
        [b'0', b'0'..=b'9', ..] => digits(1, 8),
        _ => digits(0, 10),
    };
    let text = std::str::from_utf8(&rest[skip..skip + count]).unwrap_or("");
    let value = u64::from_str_radix(text, radix);
    let value = value.or_else(|_| wrong(at, "a number of at most 64 bits is wanted"))?;
    c.skip(skip + count);
    Ok(Expr::Known(Value::Number(value as i64)))
}

/// A number with a point or an exponent at the cursor: its text without the suffix, and the suffix (h, s, l or none).
pub(super) fn float<'t>(c: &Cursor<'t>) -> Option<(&'t str, Option<u8>, usize)> {
    let rest = c.rest();
    let mut i = usize::from(rest.first() == Some(&b'-'));
    let start = i;
    let hex = matches!(rest.get(i..i + 2), Some(b"0x" | b"0X"));
    if hex {
        i += 2;
    }
    let (mut point, mut exponent, mut digits) = (false, false, 0);
    while let Some(byte) = rest.get(i) {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'a'..=b'f' | b'A'..=b'F' if hex && !exponent && !matches!(byte, b'e' | b'E' if !hex) => {
                digits += 1
            }
            b'.' if !point && !exponent => point = true,
            b'e' | b'E' if !hex && !exponent && digits > 0 => exponent = true,
            b'p' | b'P' if hex && !exponent => exponent = true,
            b'+' | b'-' if exponent && matches!(rest[i - 1], b'e' | b'E' | b'p' | b'P') => {}
            _ => break,
        }
        i += 1;
    }
    if digits == 0
        || !(point || exponent)
        || !rest.get(start).is_some_and(|b| b.is_ascii_digit() || *b == b'.')
    {
        return None;
    }
    let text = std::str::from_utf8(&rest[..i]).ok()?;
    let suffix = rest.get(i).map(u8::to_ascii_lowercase).filter(|b| matches!(b, b'h' | b's' | b'l'));
    let end = i + usize::from(suffix.is_some());
    let ends = !rest.get(end).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
    ends.then_some((text, suffix, end))
}

fn negate(sign: u8, value: Value) -> Result<Value, String> {
    let Value::Number(n) = value else { return Err("only numbers have signs".into()) };
    Ok(Value::Number(match sign {
        b'-' => n.wrapping_neg(),
        b'~' => !n,
        b'!' => truth(n == 0),
        _ => n,
    }))
}

/// True is all ones.
fn truth(is: bool) -> i64 {
    if is { -1 } else { 0 }
}

fn apply(op: Op, a: Value, b: Value) -> Result<Value, String> {
    use Value::{Half, Number, Place};
    const TWO_TO_32: i64 = 1 << 32;
    const LOW: i64 = 0xffff_ffff;
    Ok(match (op, a, b) {
        (Op::Add, Place(s, x), Number(y)) | (Op::Add, Number(y), Place(s, x)) => Place(s, x.wrapping_add(y)),
        (Op::Sub, Place(s, x), Number(y)) => Place(s, x.wrapping_sub(y)),
        (_, Place(s, x), Place(t, y)) if s == t => return apply(op, Number(x), Number(y)),
        (Op::And, Place(s, x), Number(LOW)) | (Op::Mod | Op::UMod, Place(s, x), Number(TWO_TO_32)) => {
            Half(s, x, 0)
        }
        (Op::Shr | Op::Sar, Place(s, x), Number(32))
        | (Op::Div | Op::UDiv, Place(s, x), Number(TWO_TO_32)) => Half(s, x, 32),
        (_, Number(a), Number(b)) => Number(arithmetic(op, a, b)?),
        _ => {
            return Err(
                "these operands have no value together: places can be moved, halved and subtracted".into()
            );
        }
    })
}

fn arithmetic(op: Op, a: i64, b: i64) -> Result<i64, String> {
    let (ua, ub) = (a as u64, b as u64);
    let shift = u32::try_from(b).ok().filter(|n| *n < 64);
    if matches!(op, Op::Div | Op::UDiv | Op::Mod | Op::UMod) && b == 0 {
        return Err("division by zero".into());
    }
    Ok(match op {
        Op::Mul => a.wrapping_mul(b),
        Op::Div => a.wrapping_div(b),
        Op::UDiv => (ua / ub) as i64,
        Op::Mod => a.wrapping_rem(b),
        Op::UMod => (ua % ub) as i64,
        Op::Shl => shift.map_or(0, |n| a << n),
        Op::Shr => shift.map_or(0, |n| (ua >> n) as i64),
        Op::Sar => a >> shift.unwrap_or(63),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::OrNot => a | !b,
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Eq => truth(a == b),
        Op::Ne => truth(a != b),
        Op::Lt => truth(a < b),
        Op::Le => truth(a <= b),
        Op::Gt => truth(a > b),
        Op::Ge => truth(a >= b),
        Op::ULt => truth(ua < ub),
        Op::ULe => truth(ua <= ub),
        Op::UGt => truth(ua > ub),
        Op::UGe => truth(ua >= ub),
        Op::LogAnd => i64::from(a != 0 && b != 0),
        Op::LogOr => i64::from(a != 0 || b != 0),
    })
}

impl Expr {
    /// A name in it that has no value.
    pub fn first_name(&self) -> Option<&str> {
        match self {
            Expr::Known(_) => None,
            Expr::Name(name, _) => Some(name),
            Expr::Unary(_, a) => a.first_name(),
            Expr::Binary(_, both) => both.0.first_name().or_else(|| both.1.first_name()),
            Expr::Choose(three) => {
                three.0.first_name().or_else(|| three.1.first_name()).or_else(|| three.2.first_name())
            }
        }
    }

    /// Its value by what names mean now. `depth` counts names that mean names.
    pub fn value(&self, scopes: &dyn Names, depth: u32) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err("it means itself".into());
        }
        Ok(match self {
            Expr::Known(value) => *value,
            Expr::Name(name, scope) => {
                scopes.value(name, *scope, depth + 1).ok_or_else(|| format!("nobody defines {name}"))?
            }
            Expr::Unary(sign, a) => negate(*sign, a.value(scopes, depth + 1)?)?,
            Expr::Binary(op, both) => {
                apply(*op, both.0.value(scopes, depth + 1)?, both.1.value(scopes, depth + 1)?)?
            }
            Expr::Choose(three) => match three.0.value(scopes, depth + 1)? {
                Value::Number(0) => three.2.value(scopes, depth + 1)?,
                Value::Number(_) => three.1.value(scopes, depth + 1)?,
                _ => return Err("the condition is no number".into()),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<i64, String> {
        let scopes = crate::clrx::scope::Scopes::default();
        let context = Context { scopes: &scopes, here: None };
        let mut c = Cursor::new(text.as_bytes());
        let n = context.number(&mut c).map_err(|w| w.message)?;
        if c.at_end() { Ok(n) } else { Err(format!("`{}` is left", String::from_utf8_lossy(c.rest()))) }
    }

    #[test]
    fn operators_bind_as_clrx_has_them() {
        assert_eq!(value("1+2*3"), Ok(7));
        assert_eq!(value("(1+2)*3"), Ok(9));
        assert_eq!(value("7&3+1"), Ok(4), "and, or, plus and minus bind alike");
        assert_eq!(value("10-2-3"), Ok(5));
        assert_eq!(value("1<<4>>2"), Ok(4));
        assert_eq!(value("5==5"), Ok(-1));
        assert_eq!(value("-1<@1"), Ok(0));
        assert_eq!(value("-1<1"), Ok(-1));
        assert_eq!(value("0xff ! 0"), Ok(-1));
        assert_eq!(value("-8>>>1"), Ok(-4));
        assert_eq!(value("-8//2"), Ok(0x7fff_ffff_ffff_fffc));
        assert_eq!(value("1 ? 2 : 3"), Ok(2));
        assert_eq!(value("0b101 + 017 + 'a'"), Ok(5 + 15 + 97));
        assert!(value("1/0").is_err() && value("1+").is_err() && value(&"(".repeat(9999)).is_err());
    }

    #[test]
    fn floats_are_told_from_integers() {
        let float = |t: &'static str| float(&Cursor::new(t.as_bytes())).map(|(t, s, _)| (t, s));
        assert_eq!(float("1.5"), Some(("1.5", None)));
        assert_eq!(float("-0.5h,"), Some(("-0.5", Some(b'h'))));
        assert_eq!(float("1e-3s"), Some(("1e-3", Some(b's'))));
        assert_eq!(float("0x1.8p3"), Some(("0x1.8p3", None)));
        assert_eq!(float("15"), None);
        assert_eq!(float("0x1e"), None);
        assert_eq!(float(".name"), None);
    }
}
