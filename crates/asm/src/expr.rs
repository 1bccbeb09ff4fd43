//! Expressions: constants, symbols with relocation suffixes, operators and AMD's functions. Reading them from tokens is
//! `parser::expr`, what they come to and how LLVM prints them `eval`.

mod amd;
mod variant;
mod work;

pub use amd::AmdFn;
pub use variant::Variant;
pub(crate) use work::Work;

use crate::ids::SymId;
use std::rc::Rc;

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

    /// Calls `f` with every symbol it names.
    pub fn for_each_symbol(&self, f: &mut impl FnMut(SymId)) {
        match self {
            Expr::Const(_) => {}
            Expr::Sym(id, _) => f(*id),
            Expr::Tree(tree) => tree.args.iter().for_each(|arg| arg.for_each_symbol(f)),
        }
    }
}
