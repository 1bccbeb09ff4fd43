//! Expressions: constants, symbols with relocation suffixes, operators and AMD's functions. How they fold, what they
//! evaluate to, and how LLVM prints them. Reading them from tokens is `parser::expr`.

mod amd;
mod variant;

pub use amd::AmdFn;
pub use variant::Variant;

use crate::object::Object;
use crate::symbol::{Home, SymId, Symbols};
use std::cell::Cell;
use std::rc::Rc;
use wavemill_isa::Target;

/// Nesting beyond this is refused when read: everything that walks expressions recurses.
pub const MAX_DEPTH: u32 = 1000;
/// Steps one evaluation may take, symbols looked through included: assignments can refer to assignments, and a file
/// can have many of them.
pub(crate) const MAX_STEPS: u32 = 50_000;
/// Nodes an expression may have once everything it refers to is counted in; bounds printing and evaluating.
pub const MAX_SIZE: u32 = MAX_STEPS;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A number.
    Const(i64),
    /// A symbol's address, with `@…` suffix or [`Variant::NONE`].
    Sym(SymId, Variant),
    /// An operator or function applied to arguments; shared, since symbols hand their values out.
    Tree(Rc<Tree>),
}

/// An operator with its arguments.
#[derive(Debug, PartialEq)]
pub struct Tree {
    /// What is done.
    pub op: Op,
    /// With what: one argument for unary operators, two for binary ones, any number for functions.
    pub args: Vec<Expr>,
    depth: u32,
    size: u32,
}

/// What a tree node does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// One argument.
    Unary(UnOp),
    /// Two arguments.
    Binary(BinOp),
    /// `max(…)` and friends.
    Amd(AmdFn),
}

/// Operators before one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnOp {
    /// `!`
    LNot,
    /// `-`
    Minus,
    /// `~`
    Not,
    /// `+`
    Plus,
}

/// Operators between two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // their spelling is in `BinOp::text`
pub enum BinOp {
    Add,
    And,
    Div,
    Eq,
    Gt,
    Ge,
    LAnd,
    LOr,
    /// `>>`, which shifts zeros in.
    Shr,
    Lt,
    Le,
    Mod,
    Mul,
    Ne,
    Or,
    /// `a ! b`: `a | ~b`.
    OrNot,
    Shl,
    Sub,
    Xor,
}

impl BinOp {
    /// How the operator is printed.
    pub fn text(self) -> &'static str {
        match self {
            BinOp::Add => "+",
            BinOp::And => "&",
            BinOp::Div => "/",
            BinOp::Eq => "==",
            BinOp::Gt => ">",
            BinOp::Ge => ">=",
            BinOp::LAnd => "&&",
            BinOp::LOr => "||",
            BinOp::Shr => ">>",
            BinOp::Lt => "<",
            BinOp::Le => "<=",
            BinOp::Mod => "%",
            BinOp::Mul => "*",
            BinOp::Ne => "!=",
            BinOp::Or => "|",
            BinOp::OrNot => "!",
            BinOp::Shl => "<<",
            BinOp::Sub => "-",
            BinOp::Xor => "^",
        }
    }

    /// The result on numbers; `None` for a division by zero.
    pub fn apply(self, a: i64, b: i64) -> Option<i64> {
        // LLVM's shifts by 64 and more are whatever its host does; x86 and most others take the count modulo 64.
        let truth = |t: bool| if t { -1 } else { 0 };
        Some(match self {
            BinOp::Add => a.wrapping_add(b),
            BinOp::And => a & b,
            BinOp::Div if b == 0 => return None,
            BinOp::Div => a.wrapping_div(b),
            BinOp::Mod if b == 0 => return None,
            BinOp::Mod => a.wrapping_rem(b),
            BinOp::Eq => truth(a == b),
            BinOp::Gt => truth(a > b),
            BinOp::Ge => truth(a >= b),
            BinOp::LAnd => i64::from(a != 0 && b != 0),
            BinOp::LOr => i64::from(a != 0 || b != 0),
            BinOp::Shr => (a as u64).wrapping_shr(b as u32) as i64,
            BinOp::Lt => truth(a < b),
            BinOp::Le => truth(a <= b),
            BinOp::Mul => a.wrapping_mul(b),
            BinOp::Ne => truth(a != b),
            BinOp::Or => a | b,
            BinOp::OrNot => a | !b,
            BinOp::Shl => (a as u64).wrapping_shl(b as u32) as i64,
            BinOp::Sub => a.wrapping_sub(b),
            BinOp::Xor => a ^ b,
        })
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Expr {
        Expr::Const(value)
    }
}

/// What an expression comes to when not all of it is known: `a - b + c`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Value {
    /// The symbol added.
    pub a: Option<(SymId, Variant)>,
    /// The symbol subtracted.
    pub b: Option<(SymId, Variant)>,
    /// The number.
    pub c: i64,
}

impl Value {
    /// The number, when there is nothing else.
    pub fn absolute(self) -> Option<i64> {
        if self.a.is_none() && self.b.is_none() { Some(self.c) } else { None }
    }
}

/// What evaluation may look at.
#[derive(Clone, Copy)]
pub struct Scope<'p> {
    /// The symbols and their values.
    pub symbols: &'p Symbols,
    /// The processor, for AMD's functions.
    pub target: &'p Target,
    /// The object so far, or laid out: distances within a section are known. `None` when writing text.
    pub object: Option<&'p Object>,
}

impl Expr {
    /// A symbol without suffix.
    pub fn sym(id: SymId) -> Expr {
        Expr::Sym(id, Variant::NONE)
    }

    /// An operator's node, not folded.
    pub fn tree(op: Op, args: Vec<Expr>) -> Expr {
        let depth = 1 + args.iter().map(Expr::depth).max().unwrap_or(0);
        let size = args.iter().fold(1u32, |sum, arg| sum.saturating_add(arg.size()));
        Expr::Tree(Rc::new(Tree { op, args, depth, size }))
    }

    /// `op arg`.
    pub fn unary(op: UnOp, arg: Expr) -> Expr {
        Expr::tree(Op::Unary(op), vec![arg])
    }

    /// `left op right`.
    pub fn binary(op: BinOp, left: Expr, right: Expr) -> Expr {
        Expr::tree(Op::Binary(op), vec![left, right])
    }

    /// `max(…)` and friends.
    pub fn amd(function: AmdFn, args: Vec<Expr>) -> Expr {
        Expr::tree(Op::Amd(function), args)
    }

    /// Levels of nesting.
    pub fn depth(&self) -> u32 {
        match self {
            Expr::Tree(tree) => tree.depth,
            _ => 1,
        }
    }

    /// Nodes, shared ones counted each time.
    pub fn size(&self) -> u32 {
        match self {
            Expr::Tree(tree) => tree.size,
            _ => 1,
        }
    }

    /// True when it is too large to be worked with; whoever builds expressions from input must ask.
    pub fn too_complex(&self) -> bool {
        self.depth() > MAX_DEPTH || self.size() > MAX_SIZE
    }

    /// The number, when it already is one.
    pub fn constant(&self) -> Option<i64> {
        match self {
            Expr::Const(value) => Some(*value),
            _ => None,
        }
    }

    /// The number it comes to.
    pub fn absolute(&self, scope: Scope<'_>) -> Option<i64> {
        match self {
            Expr::Const(value) => Some(*value),
            _ => self.relocatable(scope)?.absolute(),
        }
    }

    /// The form `a - b + c` it comes to.
    pub fn relocatable(&self, scope: Scope<'_>) -> Option<Value> {
        Evaluator::new(scope, false).value(self, 0)
    }

    /// As [`Expr::relocatable`], looking through symbols that were set to an address too.
    pub fn value_through_symbols(&self, scope: Scope<'_>) -> Option<Value> {
        Evaluator::new(scope, true).value(self, 0)
    }

    /// Does it mention the symbol, directly or through the values of others?
    pub fn mentions(&self, symbol: SymId, symbols: &Symbols) -> bool {
        let mut fuel = MAX_STEPS;
        mentions(self, symbol, symbols, 0, &mut fuel)
    }

    /// Calls `f` with every symbol it names.
    pub fn for_each_symbol(&self, f: &mut impl FnMut(SymId)) {
        match self {
            Expr::Const(_) => {}
            Expr::Sym(id, _) => f(*id),
            Expr::Tree(tree) => tree.args.iter().for_each(|arg| arg.for_each_symbol(f)),
        }
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
            Expr::Tree(tree) => tree.print(symbols, out),
        }
    }
}

impl Tree {
    fn print(&self, symbols: &Symbols, out: &mut Vec<u8>) {
        let parens = |arg: &Expr, out: &mut Vec<u8>| {
            let tree = matches!(arg, Expr::Tree(_));
            if tree {
                out.push(b'(');
            }
            arg.print(symbols, out);
            if tree {
                out.push(b')');
            }
        };
        match (self.op, &*self.args) {
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
    fuel: Cell<u32>,
}

impl<'p> Evaluator<'p> {
    fn new(scope: Scope<'p>, through: bool) -> Self {
        Evaluator { scope, through, fuel: Cell::new(MAX_STEPS) }
    }

    fn target(&self) -> &Target {
        self.scope.target
    }

    fn absolute(&self, expr: &Expr, depth: u32) -> Option<i64> {
        self.value(expr, depth)?.absolute()
    }

    fn value(&self, expr: &Expr, depth: u32) -> Option<Value> {
        let fuel = self.fuel.get().checked_sub(1)?;
        self.fuel.set(fuel);
        if depth > 2 * MAX_DEPTH {
            return None;
        }
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
                    let c = function.evaluate(self, args, depth + 1)?;
                    Some(Value { c, ..Value::default() })
                }
                _ => None,
            },
        }
    }

    fn symbol(&self, id: SymId, variant: Variant, depth: u32) -> Option<Value> {
        let itself = Value { a: Some((id, variant)), ..Value::default() };
        let symbol = &self.scope.symbols[id];
        let laid_out = self.scope.object.is_some_and(|o| o.laid_out());
        if let Some(expr) = &symbol.value
            && (variant == Variant::NONE || laid_out)
            && (self.through
                || !matches!(self.scope.symbols.symbol_home(id, 0, &self.fuel), Home::Section(_)))
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
        if let Some(object) = self.scope.object {
            let mut fold = |a: &mut Option<(SymId, Variant)>, b: &mut Option<(SymId, Variant)>| {
                let variable = |id: SymId| self.scope.symbols[id].value.is_some();
                if let (Some((a_id, Variant::NONE)), Some((b_id, Variant::NONE))) = (*a, *b)
                    // Looking through symbols has left only those whose value cannot be expressed.
                    && !(self.through && (variable(a_id) || variable(b_id)))
                    && let Some(distance) = object.distance(self.scope, a_id, b_id)
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

/// Appends a number in decimal.
pub fn write_int(value: i64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}
