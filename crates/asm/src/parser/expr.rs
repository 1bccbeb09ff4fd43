//! Reading expressions from tokens.

use super::Parser;
use crate::expr::{AmdFn, BinOp, Expr, Op, UnOp, Variant};
use crate::lex::Tok;
use crate::source::Diag;

/// The operator a token is between two operands, and how tightly it binds.
fn operator(token: Tok) -> Option<(u8, BinOp)> {
    Some(match token {
        Tok::PipePipe => (1, BinOp::LOr),
        Tok::AmpAmp => (2, BinOp::LAnd),
        Tok::EqualEqual => (3, BinOp::Eq),
        Tok::ExclaimEqual | Tok::LessGreater => (3, BinOp::Ne),
        Tok::Less => (3, BinOp::Lt),
        Tok::LessEqual => (3, BinOp::Le),
        Tok::Greater => (3, BinOp::Gt),
        Tok::GreaterEqual => (3, BinOp::Ge),
        Tok::Plus => (4, BinOp::Add),
        Tok::Minus => (4, BinOp::Sub),
        Tok::Pipe => (5, BinOp::Or),
        Tok::Exclaim => (5, BinOp::OrNot),
        Tok::Caret => (5, BinOp::Xor),
        Tok::Amp => (5, BinOp::And),
        Tok::Star => (6, BinOp::Mul),
        Tok::Slash => (6, BinOp::Div),
        Tok::Percent => (6, BinOp::Mod),
        Tok::LessLess => (6, BinOp::Shl),
        Tok::GreaterGreater => (6, BinOp::Shr),
        _ => return None,
    })
}

/// Brackets and unary operators may nest this deep.
const MAX_NESTING: u32 = 200;

impl Parser<'_> {
    /// Reads an expression at the cursor; one that has no unknowns comes back as a constant.
    pub fn expr(&mut self) -> Result<Expr, Diag> {
        // The commonest case by far: a number on its own.
        if self.lex.kind() == Tok::Int {
            let first = self.integer()?;
            let last = matches!(self.lex.kind(), Tok::Comma | Tok::Eol | Tok::Eof | Tok::RBrac | Tok::Colon);
            if last && matches!(first, Expr::Const(_)) {
                return Ok(first);
            }
            return self.nested_rest(first, 0);
        }
        self.nested_expr(0)
    }

    /// Reads an expression that must have a value by now.
    pub fn absolute(&mut self) -> Result<i64, Diag> {
        let start = self.lex.here();
        let expr = self.expr()?;
        self.eval(&expr).ok_or_else(|| Diag::error(start, "expected absolute expression"))
    }

    fn nested_expr(&mut self, depth: u32) -> Result<Expr, Diag> {
        let first = self.primary(depth)?;
        self.nested_rest(first, depth)
    }

    /// What follows the first operand of an expression.
    fn nested_rest(&mut self, first: Expr, depth: u32) -> Result<Expr, Diag> {
        let mut expr = self.binary_rest(1, first, depth)?;
        if self.lex.eat(Tok::At) {
            expr = self.modified(expr)?;
        }
        // Folds what needs no addresses: distances between labels stay, even when an object is built.
        match expr.absolute(crate::eval::Scope { layout: None, ..self.scope() }) {
            Some(value) => Ok(Expr::Const(value)),
            None => Ok(expr),
        }
    }

    /// Reads what may stand between two operators: for callers that read operators themselves.
    pub fn primary_expr(&mut self) -> Result<Expr, Diag> {
        self.generic_primary(0)
    }

    fn checked(&self, expr: Expr) -> Result<Expr, Diag> {
        if expr.too_complex() { Err(self.token_error("expression is too complex")) } else { Ok(expr) }
    }

    fn binary_rest(&mut self, lowest: u8, first: Expr, depth: u32) -> Result<Expr, Diag> {
        let mut left = first;
        while let Some((binds, op)) = operator(self.lex.kind()) {
            if binds < lowest {
                break;
            }
            self.lex.bump();
            let mut right = self.primary(depth)?;
            if operator(self.lex.kind()).is_some_and(|(next, _)| next > binds) {
                right = self.binary_rest(binds + 1, right, depth)?;
            }
            left = self.checked(Expr::binary(op, left, right))?;
        }
        Ok(left)
    }

    /// `a + b @ suffix`: the suffix goes to every symbol.
    fn modified(&mut self, expr: Expr) -> Result<Expr, Diag> {
        if self.lex.kind() != Tok::Ident {
            return Err(self.token_error("unexpected symbol modifier following '@'"));
        }
        let name = self.lex.ident();
        let variant =
            Variant::from_name(name).ok_or_else(|| self.token_error(format!("invalid variant '{name}'")))?;
        let modified = apply_variant(&expr, variant)
            .map_err(|()| {
                self.token_error(format!("invalid variant on expression '{name}' (already modified)"))
            })?
            .ok_or_else(|| self.token_error(format!("invalid modifier '{name}' (no symbols present)")))?;
        self.lex.bump();
        Ok(modified)
    }

    fn primary(&mut self, depth: u32) -> Result<Expr, Diag> {
        if self.lex.kind() == Tok::Ident
            && let Some(function) = AmdFn::from_name(self.lex.ident())
            && self.lex.peek2().kind == Tok::LParen
        {
            return self.function(function, depth);
        }
        self.generic_primary(depth)
    }

    /// `max(a, b)` and the like.
    fn function(&mut self, function: AmdFn, depth: u32) -> Result<Expr, Diag> {
        self.deeper(depth)?;
        let name = function.name();
        self.lex.bump();
        self.lex.bump();
        let mut args = Vec::new();
        let mut commas = 0;
        loop {
            if self.lex.eat(Tok::RParen) {
                if args.is_empty() {
                    return Err(self.token_error(format!("empty {name} expression")));
                }
                if commas + 1 != args.len() {
                    return Err(self.token_error(format!("mismatch of commas in {name} expression")));
                }
                return self.checked(Expr::amd(function, args));
            }
            args.push(self.nested_expr(depth + 1)?);
            if self.lex.eat(Tok::Comma) {
                commas += 1;
            } else if self.lex.kind() != Tok::RParen {
                return Err(self.token_error(format!("unexpected token in {name} expression")));
            }
        }
    }

    fn deeper(&self, depth: u32) -> Result<(), Diag> {
        if depth >= MAX_NESTING {
            return Err(self.token_error("expression is nested too deeply"));
        }
        Ok(())
    }

    fn generic_primary(&mut self, depth: u32) -> Result<Expr, Diag> {
        self.deeper(depth)?;
        let token = self.lex.peek();
        let unary = match token.kind {
            Tok::Exclaim => UnOp::LNot,
            Tok::Minus => UnOp::Minus,
            Tok::Plus => UnOp::Plus,
            Tok::Tilde => UnOp::Not,
            Tok::LParen => {
                self.lex.bump();
                let inner = self.nested_expr(depth + 1)?;
                self.expect(Tok::RParen, "expected ')'")?;
                return Ok(inner);
            }
            Tok::LBrac => {
                self.lex.bump();
                let inner = self.nested_expr(depth + 1)?;
                self.expect(Tok::RBrac, "expected ']' in brackets expression")?;
                return Ok(inner);
            }
            Tok::Int => return self.integer(),
            Tok::BigNum => return Err(self.token_error("literal value out of range for directive")),
            Tok::Real => {
                self.lex.bump();
                let value = self.lex.real_value(token);
                let value = value
                    .ok_or_else(|| Diag::error(self.lex.span(token), "invalid floating point literal"))?;
                return Ok(Expr::Const(value.to_bits() as i64));
            }
            Tok::Dot => {
                self.lex.bump();
                let here = self.symbols.temporary();
                self.emit_label(here, self.lex.span(token))?;
                return Ok(Expr::sym(here));
            }
            Tok::Ident | Tok::Str | Tok::Dollar | Tok::At => return self.symbol_reference(),
            Tok::Star => return Err(self.token_error("invalid token in expression")),
            Tok::Error => return Err(Diag::error(self.lex.error_span(), self.lex.error_message())),
            _ => return Err(self.token_error("unknown token in expression")),
        };
        self.lex.bump();
        let arg = self.generic_primary(depth + 1)?;
        self.checked(Expr::unary(unary, arg))
    }

    /// A number, or `1b` and `1f`.
    fn integer(&mut self) -> Result<Expr, Diag> {
        let token = self.lex.bump();
        let value = self.lex.int_value(token);
        if self.lex.kind() == Tok::Ident {
            let (direction, suffix) = split_variant(self.lex.ident());
            let mut variant = Variant::NONE;
            if let Some(suffix) = suffix {
                variant = Variant::from_name(suffix)
                    .ok_or_else(|| self.token_error(format!("invalid variant '{suffix}'")))?;
            }
            if direction == "f" || direction == "b" {
                let before = direction == "b";
                let id = self.symbols.directional(value, before);
                let span = self.lex.span(token);
                if before && self.symbols[id].is_undefined() {
                    return Err(Diag::error(span, "directional label undefined"));
                }
                self.directional_uses.push((span, id));
                self.lex.bump();
                return Ok(Expr::Sym(id, variant));
            }
        }
        Ok(Expr::Const(value as i64))
    }

    fn symbol_reference(&mut self) -> Result<Expr, Diag> {
        let token = self.lex.peek();
        let quoted = token.kind == Tok::Str;
        let Some(name) = self.identifier() else {
            let what = match token.kind {
                Tok::Dollar => "invalid token in expression",
                _ => "expected a symbol reference",
            };
            return Err(self.token_error(what));
        };
        let (mut base, mut suffix) = (name, None);
        let mut suffix_at = self.lex.span(token);
        if quoted {
            if self.lex.eat(Tok::At) {
                suffix_at = self.lex.here();
                let variant = self.identifier();
                suffix =
                    Some(variant.ok_or_else(|| Diag::error(suffix_at, "expected symbol variant after '@'"))?);
            }
        } else {
            (base, suffix) = split_variant(name);
            suffix_at.start += base.len() as u32 + 1;
        }
        let mut variant = Variant::NONE;
        if let Some(suffix) = suffix.filter(|s| !s.is_empty()) {
            variant = Variant::from_name(suffix)
                .ok_or_else(|| Diag::error(suffix_at, format!("invalid variant '{suffix}'")))?;
        } else {
            base = name;
        }
        if base.is_empty() {
            return Err(self.token_error("expected a symbol reference"));
        }
        let id = self.symbols.get_or_insert(base);
        // A symbol that is a number by now is that number, whatever it is set to later.
        if variant == Variant::NONE
            && let Some(Expr::Const(value)) = self.symbols[id].value
        {
            return Ok(Expr::Const(value));
        }
        let symbol = &mut self.symbols[id];
        symbol.referenced |= !self.unreferenced;
        symbol.used |= symbol.is_variable();
        Ok(Expr::Sym(id, variant))
    }
}

/// `name@suffix`, split at the first `@`.
fn split_variant(name: &str) -> (&str, Option<&str>) {
    match name.split_once('@') {
        Some((base, suffix)) => (base, Some(suffix)),
        None => (name, None),
    }
}

/// The expression with the suffix on each of its symbols; `Ok(None)` when it has none, `Err` when one has a suffix.
fn apply_variant(expr: &Expr, variant: Variant) -> Result<Option<Expr>, ()> {
    match expr {
        Expr::Const(_) => Ok(None),
        Expr::Sym(id, Variant::NONE) => Ok(Some(Expr::Sym(*id, variant))),
        Expr::Sym(..) => Err(()),
        Expr::Tree(tree) if matches!(tree.op, Op::Amd(_)) => Ok(None),
        Expr::Tree(tree) => {
            let mut any = false;
            let mut args = Vec::with_capacity(tree.args.len());
            for arg in &tree.args {
                let modified = apply_variant(arg, variant)?;
                any |= modified.is_some();
                args.push(modified.unwrap_or_else(|| arg.clone()));
            }
            Ok(any.then(|| Expr::tree(tree.op, args)))
        }
    }
}
