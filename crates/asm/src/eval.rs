//! What expressions come to as far as symbols and the layout are known by now, and how LLVM prints them.

mod amd;

pub use amd::extra_sgprs;

use crate::expr::{BinOp, Expr, MAX_DEPTH, MAX_STEPS, Op, Tree, UnOp, Value, Variant};
use crate::ids::SymId;
use crate::number::write_int;
use crate::symbol::{Home, Symbols};
use std::cell::Cell;
use wavemill_isa::Target;

/// What is known about where symbols are: the object being assembled.
pub trait Layout {
    /// Every address is settled.
    fn laid_out(&self) -> bool;

    /// Bytes from `b` to `a`, if they are certain by now.
    fn distance(&self, scope: Scope<'_>, a: SymId, b: SymId) -> Option<i64>;
}

/// What evaluation may look at.
#[derive(Clone, Copy)]
pub struct Scope<'p> {
    /// The symbols and their values.
    pub symbols: &'p Symbols,
    /// The processor, for AMD's functions.
    pub target: &'p Target,
    /// The object so far, or laid out: distances within a section are known. `None` when writing text.
    pub layout: Option<&'p dyn Layout>,
}

impl Expr {
    /// The number it comes to.
    pub fn absolute(&self, scope: Scope<'_>) -> Option<i64> {
        match self {
            Expr::Const(value) => Some(*value),
            _ => self.relocatable(scope)?.absolute(),
        }
    }

    /// The form `a - b + c` it comes to.
    pub fn relocatable(&self, scope: Scope<'_>) -> Option<Value> {
        Evaluator::evaluate(scope, false, self)
    }

    /// As [`Expr::relocatable`], looking through symbols that were set to an address too.
    pub fn value_through_symbols(&self, scope: Scope<'_>) -> Option<Value> {
        Evaluator::evaluate(scope, true, self)
    }

    /// Does it mention the symbol, directly or through the values of others?
    pub fn mentions(&self, symbol: SymId, symbols: &Symbols) -> bool {
        let mut fuel = MAX_STEPS;
        mentions(self, symbol, symbols, 0, &mut fuel)
    }

    /// Writes it as LLVM does.
    pub fn print(&self, symbols: &Symbols, out: &mut Vec<u8>) {
        match self {
            Expr::Const(value) => write_int(*value, out),
            Expr::Sym(id, variant) => {
                // A name with `$` in front could be taken for a number elsewhere.
                let dollar = symbols[*id].name.starts_with('$');
                if dollar {
                    out.push(b'(');
                }
                symbols.print_name(*id, out);
                if dollar {
                    out.push(b')');
                }
                if *variant != Variant::NONE {
                    out.push(b'@');
                    out.extend_from_slice(variant.name().as_bytes());
                }
            }
            Expr::Tree(tree) => print_tree(tree, symbols, out),
        }
    }
}

fn print_tree(tree: &Tree, symbols: &Symbols, out: &mut Vec<u8>) {
    let parens = |arg: &Expr, out: &mut Vec<u8>| {
        let nested = matches!(arg, Expr::Tree(_));
        if nested {
            out.push(b'(');
        }
        arg.print(symbols, out);
        if nested {
            out.push(b')');
        }
    };
    match (tree.op, &*tree.args) {
        (Op::Unary(op), [arg]) => {
            out.push(match op {
                UnOp::LNot => b'!',
                UnOp::Minus => b'-',
                UnOp::Not => b'~',
                UnOp::Plus => b'+',
            });
            match arg {
                Expr::Tree(tree) if matches!(tree.op, Op::Binary(_)) => parens(arg, out),
                _ => arg.print(symbols, out),
            }
        }
        (Op::Binary(op), [left, right]) => {
            parens(left, out);
            // `x-4` rather than `x+-4`.
            if !(op == BinOp::Add && matches!(right, Expr::Const(value) if *value < 0)) {
                out.extend_from_slice(op.text().as_bytes());
            }
            parens(right, out);
        }
        (Op::Amd(function), args) => {
            out.extend_from_slice(function.name().as_bytes());
            out.push(b'(');
            for (i, arg) in args.iter().enumerate() {
                if i != 0 {
                    out.extend_from_slice(b", ");
                }
                arg.print(symbols, out);
            }
            out.push(b')');
        }
        _ => {}
    }
}

fn mentions(expr: &Expr, symbol: SymId, symbols: &Symbols, depth: u32, fuel: &mut u32) -> bool {
    // Running out means a chain nobody writes by hand; saying yes makes the caller refuse the assignment.
    if *fuel == 0 || depth > 2 * MAX_DEPTH {
        return true;
    }
    *fuel -= 1;
    match expr {
        Expr::Const(_) => false,
        // What an assigned symbol is set to now will stay, even if it is this very symbol.
        Expr::Sym(id, _) => match &symbols[*id].value {
            Some(value) => mentions(value, symbol, symbols, depth + 1, fuel),
            None => *id == symbol,
        },
        Expr::Tree(tree) => tree.args.iter().any(|arg| mentions(arg, symbol, symbols, depth + 1, fuel)),
    }
}

/// One evaluation. Fuel and depth bound it: symbols may refer to symbols without end.
pub(crate) struct Evaluator<'p> {
    scope: Scope<'p>,
    through: bool,
    fuel: &'p Cell<u32>,
}

impl Evaluator<'_> {
    fn evaluate(scope: Scope<'_>, through: bool, expr: &Expr) -> Option<Value> {
        scope.symbols.work.bounded(|fuel| Evaluator { scope, through, fuel }.value(expr, 0))
    }

    fn target(&self) -> &Target {
        self.scope.target
    }

    fn absolute(&self, expr: &Expr, depth: u32) -> Option<i64> {
        self.value(expr, depth)?.absolute()
    }

    fn value(&self, expr: &Expr, depth: u32) -> Option<Value> {
        let fuel = self.fuel.get();
        if fuel == 0 || depth > 2 * MAX_DEPTH {
            self.scope.symbols.work.give_up();
            return None;
        }
        self.fuel.set(fuel - 1);
        match expr {
            Expr::Const(c) => Some(Value { c: *c, ..Value::default() }),
            Expr::Sym(id, variant) => self.symbol(*id, *variant, depth),
            Expr::Tree(tree) => match (tree.op, &*tree.args) {
                (Op::Unary(op), [arg]) => unary(op, self.value(arg, depth + 1)?),
                (Op::Binary(op), [left, right]) => {
                    let left = self.value(left, depth + 1)?;
                    let right = self.value(right, depth + 1)?;
                    self.binary(op, left, right)
                }
                (Op::Amd(function), args) => {
                    let c = amd::evaluate(function, self, args, depth + 1)?;
                    Some(Value { c, ..Value::default() })
                }
                _ => None,
            },
        }
    }

    fn symbol(&self, id: SymId, variant: Variant, depth: u32) -> Option<Value> {
        let itself = Value { a: Some((id, variant)), ..Value::default() };
        let symbol = &self.scope.symbols[id];
        let laid_out = self.scope.layout.is_some_and(|o| o.laid_out());
        if let Some(expr) = &symbol.value
            && (variant == Variant::NONE || laid_out)
            && (self.through || !matches!(self.scope.symbols.symbol_home(id, 0, self.fuel), Home::Section(_)))
        {
            // A value that cannot be expressed leaves the symbol standing for itself.
            if let Some(value) = self.value(expr, depth + 1) {
                if variant == Variant::NONE {
                    return Some(value);
                }
                return match value {
                    Value { a: None, b: None, .. } => Some(itself),
                    Value { a: Some((inner, Variant::NONE)), b: None, c: 0 } => {
                        Some(Value { a: Some((inner, variant)), ..value })
                    }
                    _ => None,
                };
            }
            self.scope.symbols.work.blame(id);
        }
        Some(itself)
    }

    fn binary(&self, op: BinOp, left: Value, right: Value) -> Option<Value> {
        if let (Some(l), Some(r)) = (left.absolute(), right.absolute()) {
            return Some(Value { c: op.apply(l, r)?, ..Value::default() });
        }
        match op {
            BinOp::Add => self.add(left, right),
            BinOp::Sub => self.add(left, Value { a: right.b, b: right.a, c: right.c.wrapping_neg() }),
            _ => None,
        }
    }

    fn add(&self, mut left: Value, mut right: Value) -> Option<Value> {
        let mut c = left.c.wrapping_add(right.c);
        if let Some(layout) = self.scope.layout {
            let mut fold = |a: &mut Option<(SymId, Variant)>, b: &mut Option<(SymId, Variant)>| {
                let variable = |id: SymId| self.scope.symbols[id].value.is_some();
                if let (Some((a_id, Variant::NONE)), Some((b_id, Variant::NONE))) = (*a, *b)
                    // Looking through symbols has left only those whose value cannot be expressed.
                    && !(self.through && (variable(a_id) || variable(b_id)))
                    && let Some(distance) = layout.distance(self.scope, a_id, b_id)
                {
                    c = c.wrapping_add(distance);
                    *a = None;
                    *b = None;
                }
            };
            fold(&mut left.a, &mut left.b);
            fold(&mut left.a, &mut right.b);
            fold(&mut right.a, &mut left.b);
            fold(&mut right.a, &mut right.b);
        }
        if (left.a.is_some() && right.a.is_some()) || (left.b.is_some() && right.b.is_some()) {
            return None;
        }
        Some(Value { a: left.a.or(right.a), b: left.b.or(right.b), c })
    }
}

fn unary(op: UnOp, value: Value) -> Option<Value> {
    Some(match op {
        UnOp::Plus => value,
        UnOp::LNot => Value { c: i64::from(value.absolute()? == 0), ..Value::default() },
        UnOp::Not => Value { c: !value.absolute()?, ..Value::default() },
        UnOp::Minus if value.a.is_some() && value.b.is_none() => return None,
        UnOp::Minus => Value { a: value.b, b: value.a, c: value.c.wrapping_neg() },
    })
}
