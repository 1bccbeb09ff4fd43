//! Meanings written down: `sem` instantiated with handles into a program under construction.
//!
//! [`instruction`] gives the [`Program`] of a lane-wise vector instruction under a mode and modifiers, [`scalar`] that of a
//! scalar one: pure operations ([`crate::operations`]) on earlier values, in an order in which they can be computed. There
//! is no operation that hides a function. Equal values are written once, and what is constant is computed at once; other
//! passes are a compiler's business.
//!
//! What is rarely needed stands between a [`Node::Rarely`] and the [`Node::Merge`] it names: where no lane has the mask,
//! all of it may be skipped. A handle is a number; the program belongs to the thread that records, and handles mean
//! nothing outside of the recording.

use crate::apply::{Apply, Context, L, M};
use crate::compare::{self, Compare};
use crate::family::family;
use crate::lanes::{Long, Mask, Word};
use crate::operations::{long, word};
use crate::salu;
use crate::soft::Round;
use std::cell::{Cell, RefCell};
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Sub};
use wavemill_isa::{Enc, Op, Row};

/// A value: the place of a node in its program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(pub u32);

/// What a value is made of: 32 bits, 64 bits, or a truth.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Type {
    Word,
    Long,
    Mask,
}

/// The operators of lanes; those of 32 and 64 bits wrap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Operator {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
}

macro_rules! letter {
    (w) => {
        Type::Word
    };
    (l) => {
        Type::Long
    };
    (m) => {
        Type::Mask
    };
}
macro_rules! from_bits {
    (w $n:expr) => {
        $n as u32
    };
    (l $n:expr) => {
        $n
    };
}
macro_rules! operations {
    ($($on:ident { $($(#[$doc:meta])* fn $name:ident($($a:ident: $at:ident),* $(; $i:ident: $it:ident)?) -> $r:ident = $def:expr;)* })*) => {
        /// The operations on words and longs, by their names.
        pub mod operation {
            use super::*;
            $(operations!(@kind $on $($(#[$doc])* fn $name($($a: $at),* $(; $i: $it)?) -> $r;)*);)*
        }
    };
    (@kind $on:ident $($(#[$doc:meta])* fn $name:ident($($a:ident: $at:ident),* $(; $i:ident: $it:ident)?) -> $r:ident;)*) => {
        #[doc = concat!("Operations on a ", stringify!($on), "; the other operands and the result are of their own types.")]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $on {
            $($(#[$doc])* $name,)*
        }
        impl $on {
            /// All of them.
            pub const ALL: &[$on] = &[$($on::$name),*];
            /// Its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $($on::$name => stringify!($name),)*
                }
            }
            /// The types of its operands.
            pub const fn operands(self) -> &'static [Type] {
                match self {
                    $($on::$name => &[$(letter!($at)),*],)*
                }
            }
            /// The type of its result.
            pub const fn result(self) -> Type {
                match self {
                    $($on::$name => letter!($r),)*
                }
            }
            /// Its result for one lane. Only some look at the round mode.
            pub fn evaluate(self, operands: [u64; 3], round: Round) -> u64 {
                let _ = round;
                match self {
                    $($on::$name => {
                        let mut next = operands.into_iter();
                        $(let $a = from_bits!($at next.next().unwrap_or(0));)*
                        $(let $i = round;)?
                        super::$on::$name($($a,)* $($i)?) as u64
                    })*
                }
            }
        }
    };
}
crate::for_each_operation!(operations);

/// How a value comes about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// An operand of the instruction, by its number and type.
    Input(u16, Type),
    /// The same number in all lanes.
    Constant(u64, Type),
    /// An operator on two values of a type.
    Operator(Operator, Type, [Value; 2]),
    /// All bits changed.
    Not(Type, Value),
    /// An operation on a word. Operands that it has not are the first one again.
    Word(operation::word, [Value; 3], Round),
    /// An operation on a long.
    Long(operation::long, [Value; 3], Round),
    /// The second value where the first, a mask, is set, the third elsewhere.
    Select(Type, [Value; 3]),
    /// The number at a place of a table; zero behind its end.
    Lookup(Value, &'static [u32]),
    /// What another lane has: the one that a DPP control names ([`dpp_source`](crate::lanemove::dpp_source)), or anything where
    /// there is none. Meanings have none of these, nor of the next; engines put them into programs for a wave.
    Neighbour(Type, Value, u16),
    /// The lanes with these numbers.
    Lanes(u64),
    /// The values from here to the merge are hardly ever needed: where no lane has the mask, go on with the merge.
    Rarely {
        /// The lanes that need them.
        mask: Value,
        /// The [`Node::Merge`].
        merge: Value,
    },
    /// The second value, which stands in the rare part, where the first, a mask, is set, the third elsewhere.
    Merge(Type, [Value; 3]),
}

/// Operations in an order in which they can be computed.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// By [`Value`].
    pub nodes: Vec<Node>,
}

impl Program {
    /// The type of a value; a [`Node::Rarely`] has none.
    pub fn ty(&self, value: Value) -> Option<Type> {
        self.nodes.get(value.0 as usize)?.ty()
    }

    /// All values for one lane's inputs; those in rare parts that are not needed are zero.
    pub fn evaluate(&self, inputs: &[u64]) -> Vec<u64> {
        let mut values = vec![0; self.nodes.len()];
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if let Node::Rarely { mask, merge } = *node
                && values[mask.0 as usize] == 0
            {
                at = merge.0 as usize;
                continue;
            }
            values[at] = node.evaluate(|v| values[v.0 as usize], |i| inputs.get(i).copied().unwrap_or(0));
            at += 1;
        }
        values
    }
}

impl Type {
    /// The bits a value of the type has.
    const fn mask(self) -> u64 {
        match self {
            Type::Word => 0xffff_ffff,
            Type::Long => !0,
            Type::Mask => 1,
        }
    }
}

impl Node {
    /// The value for one lane, given those of others.
    fn evaluate(self, value: impl Fn(Value) -> u64, input: impl Fn(usize) -> u64) -> u64 {
        match self {
            Node::Input(i, ty) => input(i as usize) & ty.mask(),
            Node::Constant(n, _) => n,
            Node::Operator(op, ty, [a, b]) => {
                let (a, b) = (value(a), value(b));
                let r = match op {
                    Operator::Add => a.wrapping_add(b),
                    Operator::Sub => a.wrapping_sub(b),
                    Operator::Mul => a.wrapping_mul(b),
                    Operator::And => a & b,
                    Operator::Or => a | b,
                    Operator::Xor => a ^ b,
                };
                r & ty.mask()
            }
            Node::Not(ty, a) => !value(a) & ty.mask(),
            Node::Word(op, operands, round) => op.evaluate(operands.map(value), round),
            Node::Long(op, operands, round) => op.evaluate(operands.map(value), round),
            Node::Select(_, [mask, t, f]) | Node::Merge(_, [mask, t, f]) => {
                if value(mask) != 0 {
                    value(t)
                } else {
                    value(f)
                }
            }
            Node::Lookup(at, table) => table.get(value(at) as usize).copied().unwrap_or(0) as u64,
            // What is the same in all lanes is so in the other one.
            Node::Neighbour(_, a, _) => value(a),
            // One lane alone is the first.
            Node::Lanes(lanes) => lanes & 1,
            Node::Rarely { .. } => 0,
        }
    }

    /// The type of its value; a [`Node::Rarely`] has none.
    pub fn ty(&self) -> Option<Type> {
        Some(match *self {
            Node::Input(_, ty)
            | Node::Constant(_, ty)
            | Node::Operator(_, ty, _)
            | Node::Not(ty, _)
            | Node::Neighbour(ty, ..)
            | Node::Select(ty, _)
            | Node::Merge(ty, _) => ty,
            Node::Word(op, ..) => op.result(),
            Node::Long(op, ..) => op.result(),
            Node::Lookup(..) => Type::Word,
            Node::Lanes(_) => Type::Mask,
            Node::Rarely { .. } => return None,
        })
    }

    /// The values it is made of.
    pub fn operands(&self) -> &[Value] {
        match self {
            Node::Input(..) | Node::Constant(..) | Node::Lanes(_) => &[],
            Node::Operator(_, _, v) => v,
            Node::Not(_, a) | Node::Lookup(a, _) | Node::Neighbour(_, a, _) => std::slice::from_ref(a),
            Node::Word(op, v, _) => &v[..op.operands().len()],
            Node::Long(op, v, _) => &v[..op.operands().len()],
            Node::Select(_, v) | Node::Merge(_, v) => v,
            Node::Rarely { mask, .. } => std::slice::from_ref(mask),
        }
    }
}

/// Finds nodes that are written already: their places in the program, by a hash of them. It is for many small programs, one after
/// the other: to clear it costs little, and its memory stays. Nobody chooses nodes to collide: what is recorded is bounded
/// by a block's length.
struct Known {
    /// One more than a node's place; 0 where there is none, [`GONE`] where one was. A power of two of them.
    slots: Vec<u32>,
    /// Those that are not 0.
    used: usize,
}

/// Here was a node that is not known any more.
const GONE: u32 = u32::MAX;
const FEWEST_SLOTS: usize = 512;

impl Default for Known {
    fn default() -> Known {
        Known { slots: vec![0; FEWEST_SLOTS], used: 0 }
    }
}

impl Known {
    fn clear(&mut self) {
        self.slots.truncate(FEWEST_SLOTS);
        self.slots.fill(0);
        self.used = 0;
    }

    /// The place of an equal node, or the slot for this one.
    fn find(&self, nodes: &[Node], node: &Node) -> Result<Value, usize> {
        self.search(node, |place| nodes.get(place as usize) == Some(node))
    }

    /// The first place that suits, or the first slot that is empty, of those where a node may be.
    fn search(&self, node: &Node, suits: impl Fn(u32) -> bool) -> Result<Value, usize> {
        let mut at = hash(node);
        loop {
            at &= self.slots.len() - 1;
            match self.slots[at] {
                0 => return Err(at),
                GONE => {}
                n if suits(n - 1) => return Ok(Value(n - 1)),
                _ => {}
            }
            at += 1;
        }
    }

    fn insert(&mut self, nodes: &[Node], slot: usize, value: Value) {
        self.slots[slot] = value.0 + 1;
        self.used += 1;
        if 2 * self.used <= self.slots.len() {
            return;
        }
        let larger = vec![0; 4 * self.slots.len()];
        let old = std::mem::replace(&mut self.slots, larger);
        self.used = 0;
        for n in old.into_iter().filter(|n| ![0, GONE].contains(n)) {
            if let Err(slot) = self.search(&nodes[n as usize - 1], |_| false) {
                self.slots[slot] = n;
                self.used += 1;
            }
        }
    }

    /// Forgets a node, if it is known.
    fn remove(&mut self, node: &Node, value: Value) {
        let mut at = hash(node);
        loop {
            at &= self.slots.len() - 1;
            match self.slots[at] {
                0 => return,
                n if n == value.0 + 1 => {
                    self.slots[at] = GONE;
                    return;
                }
                _ => at += 1,
            }
        }
    }
}

/// A number for a node: equal nodes have equal ones, most others another.
fn hash(node: &Node) -> usize {
    let two = |a: Value, b: Value| u64::from(a.0) | u64::from(b.0) << 32;
    let (kind, a, b) = match *node {
        Node::Input(n, ty) => (ty as u64, u64::from(n), 0),
        Node::Constant(n, ty) => (4 + ty as u64, n, 1),
        Node::Operator(op, ty, [a, b]) => (8 + ty as u64, two(a, b), op as u64),
        Node::Not(ty, a) => (12 + ty as u64, a.0.into(), 2),
        Node::Word(op, [a, b, c], round) => (16 + round as u64, two(a, b), two(c, Value(op as u32))),
        Node::Long(op, [a, b, c], round) => (20 + round as u64, two(a, b), two(c, Value(op as u32))),
        Node::Select(ty, [a, b, c]) => (24 + ty as u64, two(a, b), c.0.into()),
        Node::Lookup(a, table) => (28, a.0.into(), table.as_ptr() as u64),
        Node::Lanes(lanes) => (30, lanes, 4),
        Node::Neighbour(ty, a, control) => (36 + ty as u64, a.0.into(), u64::from(control)),
        Node::Rarely { mask, merge } => (29, two(mask, merge), 3),
        Node::Merge(ty, [a, b, c]) => (32 + ty as u64, two(a, b), c.0.into()),
    };
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (a.wrapping_mul(ODD) ^ b.rotate_left(24) ^ kind << 57).wrapping_mul(ODD);
    (mixed >> 32) as usize
}

/// A program under construction.
struct Builder {
    program: Program,
    /// But for those in rare parts that are over.
    known: Known,
}

impl Default for Builder {
    fn default() -> Builder {
        // As many as most programs have: memory that grows is copied.
        Builder { program: Program { nodes: Vec::with_capacity(256) }, known: Known::default() }
    }
}

impl Builder {
    fn append(&mut self, node: Node) -> Value {
        self.program.nodes.push(node);
        Value(self.program.nodes.len() as u32 - 1)
    }

    fn constant(&self, value: Value) -> Option<u64> {
        match self.program.nodes[value.0 as usize] {
            Node::Constant(n, _) => Some(n),
            _ => None,
        }
    }

    /// The value of a node: an earlier one, a constant if all its operands are, or a new one.
    fn add(&mut self, node: Node) -> Value {
        if let Some(value) = self.by_halves(node) {
            return value;
        }
        let node = self.simpler(node);
        let node = match node {
            Ok(value) => return value,
            Err(node) => node,
        };
        match self.known.find(&self.program.nodes, &node) {
            Ok(value) => value,
            Err(slot) => {
                let value = self.append(node);
                self.known.insert(&self.program.nodes, slot, value);
                value
            }
        }
    }

    /// Bits of longs that were put together of words, word by word: halves that stay as they are cost nothing.
    fn by_halves(&mut self, node: Node) -> Option<Value> {
        let Node::Operator(op @ (Operator::And | Operator::Or | Operator::Xor), Type::Long, [a, b]) = node
        else {
            return None;
        };
        let joined =
            |v: Value| matches!(self.program.nodes[v.0 as usize], Node::Word(operation::word::join, ..));
        let constant = |v: Value| self.constant(v).is_some();
        if !(joined(a) && (joined(b) || constant(b)) || constant(a) && joined(b)) {
            return None;
        }
        let mut halves = |v: Value| match self.program.nodes[v.0 as usize] {
            Node::Constant(n, _) => {
                [n & 0xffff_ffff, n >> 32].map(|n| self.add(Node::Constant(n, Type::Word)))
            }
            node => [node.operands()[0], node.operands()[1]],
        };
        let (a, b) = (halves(a), halves(b));
        let [low, high] = [0, 1].map(|i| self.add(Node::Operator(op, Type::Word, [a[i], b[i]])));
        Some(self.add(Node::Word(operation::word::join, [low, high, low], Round::Nearest)))
    }

    /// A value that is the same, or a node.
    fn simpler(&self, node: Node) -> Result<Value, Node> {
        use operation::{long, word};
        let Some(ty) = node.ty() else { return Err(node) };
        let operands = node.operands();
        if !operands.is_empty() && operands.iter().all(|&v| self.constant(v).is_some()) {
            let n = node.evaluate(|v| self.constant(v).unwrap_or(0), |_| 0);
            return Err(Node::Constant(n, ty));
        }
        match node {
            Node::Select(_, [mask, t, f]) => match self.constant(mask) {
                Some(0) => Ok(f),
                Some(_) => Ok(t),
                None if t == f => Ok(t),
                None => Err(node),
            },
            Node::Operator(op, ty, [a, b]) => match (op, self.constant(a), self.constant(b)) {
                (Operator::Add | Operator::Sub | Operator::Or | Operator::Xor, _, Some(0)) => Ok(a),
                (Operator::Add | Operator::Or | Operator::Xor, Some(0), _) => Ok(b),
                (Operator::And, _, Some(n)) if n == ty.mask() => Ok(a),
                (Operator::And, Some(n), _) if n == ty.mask() => Ok(b),
                (Operator::And, _, Some(0)) => Ok(b),
                (Operator::And, Some(0), _) => Ok(a),
                (Operator::And, _, Some(n)) if self.bits(a, 4) & !n == 0 => Ok(a),
                (Operator::And, Some(n), _) if self.bits(b, 4) & !n == 0 => Ok(b),
                _ => Err(node),
            },
            Node::Word(op, [a, b, _], round) => match op {
                word::shl | word::shr | word::sar if self.constant(b).is_some_and(|n| n & 31 == 0) => Ok(a),
                // The upper half is not looked at.
                word::h2f => match self.program.nodes[a.0 as usize] {
                    Node::Operator(Operator::And, _, [x, n])
                        if self.constant(n).is_some_and(|n| n & 0xffff == 0xffff) =>
                    {
                        Err(Node::Word(op, [x; 3], round))
                    }
                    _ => Err(node),
                },
                _ => Err(node),
            },
            // Words that were put together are taken apart again.
            Node::Long(op, [a, ..], _) => match (op, self.program.nodes[a.0 as usize]) {
                (long::lo, Node::Word(word::join, [low, ..], _)) => Ok(low),
                (long::hi, Node::Word(word::join, [_, high, _], _)) => Ok(high),
                (long::lo, Node::Word(word::zext | word::sext, [low, ..], _)) => Ok(low),
                _ => Err(node),
            },
            _ => Err(node),
        }
    }

    /// The bits of a word that may be set, as far as a few nodes tell.
    fn bits(&self, value: Value, depth: u32) -> u64 {
        use operation::word;
        let node = self.program.nodes[value.0 as usize];
        let all = node.ty().map_or(!0, Type::mask);
        if depth == 0 {
            return all;
        }
        let of = |v: Value| self.bits(v, depth - 1);
        match node {
            Node::Constant(n, _) => n,
            Node::Operator(Operator::And, _, [a, b]) => of(a) & of(b),
            Node::Operator(Operator::Or | Operator::Xor, _, [a, b]) => of(a) | of(b),
            Node::Select(_, [_, a, b]) | Node::Merge(_, [_, a, b]) => of(a) | of(b),
            Node::Word(word::f2h | word::f2h_round, ..) => 0xffff,
            Node::Word(word::shr, [a, by, _], _) => self.constant(by).map_or(all, |n| of(a) >> (n & 31)),
            Node::Word(word::shl, [a, by, _], _) => {
                self.constant(by).map_or(all, |n| of(a) << (n & 31) & all)
            }
            _ => all,
        }
    }
}

thread_local! {
    static BUILDER: RefCell<Builder> = RefCell::default();
    /// One whose memory the next recording takes.
    static SPARE: Cell<Option<Builder>> = const { Cell::new(None) };
}

fn add(node: Node) -> Value {
    BUILDER.with_borrow_mut(|b| b.add(node))
}

/// Records what a function does with handles; its result may hold some.
pub fn record<R>(f: impl FnOnce() -> R) -> (Program, R) {
    let outer = BUILDER.replace(SPARE.take().unwrap_or_default());
    let result = f();
    let mut done = BUILDER.replace(outer);
    // A copy of the size that it has: the room that it was made in stays.
    let program = done.program.clone();
    done.program.nodes.clear();
    done.known.clear();
    SPARE.set(Some(done));
    (program, result)
}

/// How many nodes the program under construction has.
pub fn recorded() -> u32 {
    BUILDER.with_borrow(|b| b.program.nodes.len() as u32)
}

/// A handle to a value of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WordValue(pub Value);
/// A handle to a value of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LongValue(pub Value);
/// A handle to a mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MaskValue(pub Value);

macro_rules! operators {
    ($ty:ident $t:expr; $($trait:ident $method:ident;)*) => {
        $(impl $trait for $ty {
            type Output = $ty;
            fn $method(self, b: $ty) -> $ty {
                let op = operators!(@op $trait);
                $ty(add(Node::Operator(op, $t, [self.0, b.0])))
            }
        })*
        impl Not for $ty {
            type Output = $ty;
            fn not(self) -> $ty {
                $ty(add(Node::Not($t, self.0)))
            }
        }
        impl $ty {
            /// An operand of the instruction.
            pub fn input(n: u16) -> $ty {
                $ty(add(Node::Input(n, $t)))
            }
        }
    };
    (@op BitAnd) => { Operator::And };
    (@op BitOr) => { Operator::Or };
    (@op BitXor) => { Operator::Xor };
    (@op $op:ident) => { Operator::$op };
}
operators!(WordValue Type::Word; Add add; Sub sub; Mul mul; BitAnd bitand; BitOr bitor; BitXor bitxor;);
operators!(LongValue Type::Long; Add add; Sub sub; BitAnd bitand; BitOr bitor; BitXor bitxor;);
operators!(MaskValue Type::Mask; BitAnd bitand; BitOr bitor; BitXor bitxor;);

impl WordValue {
    /// What the lane has that a DPP control names.
    pub fn neighbour(self, control: u16) -> WordValue {
        WordValue(add(Node::Neighbour(Type::Word, self.0, control)))
    }
}

impl MaskValue {
    /// The lanes whose lane that a DPP control names is one of these.
    pub fn neighbour(self, control: u16) -> MaskValue {
        MaskValue(add(Node::Neighbour(Type::Mask, self.0, control)))
    }
    /// Lanes by their numbers.
    pub fn lanes(lanes: u64) -> MaskValue {
        match lanes {
            u64::MAX => Self::ones(),
            0 => Self::zeros(),
            _ => MaskValue(add(Node::Lanes(lanes))),
        }
    }
}

impl Mask for MaskValue {
    fn ones() -> Self {
        MaskValue(add(Node::Constant(1, Type::Mask)))
    }
    fn zeros() -> Self {
        MaskValue(add(Node::Constant(0, Type::Mask)))
    }
}

/// Whether what has been recorded so far has parts that are rarely needed.
pub fn has_rare_parts() -> bool {
    BUILDER.with_borrow(|b| b.program.nodes.iter().any(|node| matches!(node, Node::Rarely { .. })))
}

/// Records a rare part.
fn rarely(ty: Type, mask: Value, common: Value, rare: impl FnOnce() -> Value) -> Value {
    if BUILDER.with_borrow(|b| b.constant(mask)) == Some(0) {
        return common;
    }
    let start = BUILDER.with_borrow_mut(|b| b.append(Node::Rarely { mask, merge: Value(0) }));
    let rare = rare();
    BUILDER.with_borrow_mut(|b| {
        for (at, node) in b.program.nodes.iter().enumerate().skip(start.0 as usize + 1) {
            b.known.remove(node, Value(at as u32));
        }
        let merge = b.append(Node::Merge(ty, [mask, rare, common]));
        b.program.nodes[start.0 as usize] = Node::Rarely { mask, merge };
        merge
    })
}

macro_rules! handle {
    (w) => {
        WordValue
    };
    (l) => {
        LongValue
    };
    (m) => {
        MaskValue
    };
}
/// An operation's round mode; to nearest for those without.
macro_rules! round_mode {
    () => {
        Round::Nearest
    };
    ($i:ident) => {
        $i
    };
}
macro_rules! methods {
    ($node:ident $on:ident $($(#[$doc:meta])* fn $name:ident($a:ident: $at:ident $(, $b:ident: $bt:ident)* $(; $i:ident: $it:ident)?) -> $r:ident = $def:expr;)*) => {
        $(
            fn $name(self, $($b: handle!($bt),)* $($i: $it)?) -> handle!($r) {
                let round = round_mode!($($i)?);
                let mut operands = [self.0; 3];
                for (to, from) in operands.iter_mut().zip([self.0, $($b.0),*]) {
                    *to = from;
                }
                handle!($r)(add(Node::$node(operation::$on::$name, operands, round)))
            }
        )*
    };
}
macro_rules! lanes {
    (word { $($word:tt)* } long { $($long:tt)* }) => {
        impl Word for WordValue {
            type Mask = MaskValue;
            type Long = LongValue;
            fn splat(n: u32) -> Self {
                WordValue(add(Node::Constant(n as u64, Type::Word)))
            }
            fn select(mask: MaskValue, t: Self, f: Self) -> Self {
                WordValue(add(Node::Select(Type::Word, [mask.0, t.0, f.0])))
            }
            fn lookup(self, table: &'static [u32]) -> Self {
                WordValue(add(Node::Lookup(self.0, table)))
            }
            fn rarely(mask: MaskValue, common: Self, rare: impl FnOnce() -> Self) -> Self {
                WordValue(rarely(Type::Word, mask.0, common.0, || rare().0))
            }
            methods!(Word word $($word)*);
        }
        impl Long for LongValue {
            type Word = WordValue;
            type Mask = MaskValue;
            fn splat(n: u64) -> Self {
                LongValue(add(Node::Constant(n, Type::Long)))
            }
            fn select(mask: MaskValue, t: Self, f: Self) -> Self {
                LongValue(add(Node::Select(Type::Long, [mask.0, t.0, f.0])))
            }
            fn rarely(mask: MaskValue, common: Self, rare: impl FnOnce() -> Self) -> Self {
                LongValue(rarely(Type::Long, mask.0, common.0, || rare().0))
            }
            methods!(Long long $($long)*);
        }
    };
}
crate::for_each_operation!(lanes);

/// What an instruction writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Results {
    /// The vector or scalar result; of one of 128 bits, the first dword.
    pub value: Option<Value>,
    /// Its other dwords.
    pub more: Option<[Value; 3]>,
    /// The carry, the outcome of a comparison, or SCC.
    pub mask: Option<Value>,
    /// EXEC, where a scalar instruction writes it.
    pub exec: Option<Value>,
}

/// Records meanings on operands that are the program's inputs: 0 to 2 the sources, 3 the mask (VCC or a carry), 4 the
/// lane's number, 5 to 7 what follows the first dword of a third source of 128 bits.
#[derive(Clone, Copy, Debug)]
pub struct Recorder;

macro_rules! apply {
    ($($name:ident($($arg:ident $n:tt),*) $res:ident;)*) => {
        impl Apply for Recorder {
            type W = WordValue;
            type Out = Results;
            $(
                fn $name(self, f: impl Fn($(apply!(@ty $arg)),*) -> apply!(@ty $res)) -> Results {
                    let r = f($(apply!(@input $arg $n)),*);
                    apply!(@results $res r)
                }
            )*
        }
    };
    (@ty w) => { WordValue };
    (@ty i) => { WordValue };
    (@ty l) => { L<Self> };
    (@ty q) => { [WordValue; 4] };
    (@ty m) => { M<Self> };
    (@ty wm) => { (WordValue, M<Self>) };
    (@ty lm) => { (L<Self>, M<Self>) };
    (@input w $n:tt) => { WordValue::input($n) };
    (@input l $n:tt) => { LongValue::input($n) };
    (@input q $n:tt) => { [$n, 5, 6, 7].map(WordValue::input) };
    (@input m $n:tt) => { MaskValue::input(3) };
    (@input i $n:tt) => { WordValue::input(4) };
    (@results m $r:ident) => { Results { mask: Some($r.0), ..Results::default() } };
    (@results wm $r:ident) => { Results { value: Some($r.0.0), mask: Some($r.1.0), ..Results::default() } };
    (@results lm $r:ident) => { Results { value: Some($r.0.0), mask: Some($r.1.0), ..Results::default() } };
    (@results q $r:ident) => {{
        let [value, more @ ..] = $r.map(|w| w.0);
        Results { value: Some(value), more: Some(more), ..Results::default() }
    }};
    (@results $res:ident $r:ident) => { Results { value: Some($r.0), ..Results::default() } };
}
crate::for_each_shape!(apply);

/// The program of a vector instruction that works lane by lane; none for others.
pub fn instruction(row: &Row, x: &Context) -> Option<(Program, Results)> {
    let (program, results) = record(|| match row.enc {
        Enc::Vopc => {
            let c = Compare::of(row)?;
            compare::common(c, Recorder, x).or_else(|| compare::compare(c, Recorder, x))
        }
        _ => family(row.op)?.apply(row.op, Recorder, x),
    });
    Some((program, results?))
}

/// The program of a scalar instruction: inputs are the sources, the old destination, SCC and EXEC.
pub fn scalar(op: Op) -> Option<(Program, Results)> {
    let long = LongValue::input;
    let (program, out) =
        record(|| salu::meaning::<WordValue>(op, long(0), long(1), long(2), MaskValue::input(3), long(4)));
    let out = out?;
    let (value, mask, exec) = (out.d.map(|d| d.0), out.scc.map(|m| m.0), out.exec.map(|e| e.0));
    let results = Results { value, mask, exec, more: None };
    Some((program, results))
}
