//! Several of a program's nodes as one instruction of AVX-512: bits of three words, an operation in some lanes only, tests of bits.
//! What is made so is used nowhere else, and waits until it is asked for.

use super::{Lowerer, Pair, blank, one};
use crate::allocate::{Class, Home, Inst, Kind, NONE, V};
use crate::opcodes::*;
use crate::x86::{Ins, ins};
use wavemill_sem::record::operation::word;
use wavemill_sem::record::{Node, Operator, Type, Value};

/// A bit for each that the table in the immediate has for those of three operands.
const TERNARY: Ins = ins(3, 1, 0, 0x25);
/// The table of each operand.
const TABLES: [u8; 3] = [0xf0, 0xcc, 0xaa];

/// Whether a node is an operation on the bits of words.
fn is_logic(node: &Node) -> bool {
    matches!(
        node,
        Node::Operator(Operator::And | Operator::Or | Operator::Xor, Type::Word, _)
            | Node::Not(Type::Word, _)
    )
}

impl Lowerer<'_> {
    /// Notes which operands of a node may become one instruction with it.
    pub(super) fn note_joined(&mut self, node: &Node) {
        if self.narrow_host() {
            return;
        }
        let nodes = &self.strip.program.nodes;
        match *node {
            Node::Operator(_, Type::Word, [a, b]) if is_logic(node) => {
                for v in [a, b] {
                    self.joined[v.0 as usize] = is_logic(&nodes[v.0 as usize]);
                }
            }
            Node::Select(Type::Word, [_, t, f]) if self.changed(t, f).is_some() => {
                self.joined[t.0 as usize] = true;
            }
            Node::Word(word::eq, [a, b, _], _) if self.constant(b) == Some(0) => {
                let both = matches!(nodes[a.0 as usize], Node::Operator(Operator::And, Type::Word, _));
                self.joined[a.0 as usize] |= both;
            }
            _ => {}
        }
    }

    /// Whether a value is made where it is used, and has not been made.
    fn waits(&self, v: Value) -> bool {
        self.values[v.0 as usize][0] == NONE && self.deferred(v.0 as usize)
    }

    /// The operation that makes one value of another: its instruction, and the other operand.
    fn changed(&self, t: Value, f: Value) -> Option<(Ins, Value)> {
        let Node::Operator(op, Type::Word, [a, b]) = self.strip.program.nodes[t.0 as usize] else {
            return None;
        };
        let ins = match op {
            Operator::And => PANDD,
            Operator::Or => PORD,
            Operator::Xor => PXORD,
            Operator::Add => PADDD,
            Operator::Sub if a == f => return Some((PSUBD, b)),
            _ => return None,
        };
        match f {
            _ if a == f => Some((ins, b)),
            _ if b == f => Some((ins, a)),
            _ => None,
        }
    }

    /// A choice between a value and what an operation makes of it: the operation in some lanes.
    pub(super) fn change(&mut self, m: Value, t: Value, f: Value) -> Option<V> {
        if self.narrow_host() || !self.waits(t) {
            return None;
        }
        let (ins, by) = self.changed(t, f)?;
        let (mask, f, by) = (self.get(m)[0], self.get(f)[0], self.get(by)[0]);
        Some(self.made(Class::Vector, Inst { ins, src: [f, f, by, mask], ..blank(Kind::Tied) }))
    }

    /// A comparison of some bits with zero, or its opposite: a test.
    pub(super) fn bits_tested(&mut self, operands: [Value; 3], none: bool, under: V) -> Option<V> {
        if self.narrow_host() || self.constant(operands[1]) != Some(0) || !self.waits(operands[0]) {
            return None;
        }
        let Node::Operator(Operator::And, Type::Word, [a, b]) =
            self.strip.program.nodes[operands[0].0 as usize]
        else {
            return None;
        };
        let (a, b) = (self.get(a)[0], self.get(b)[0]);
        let (a, b) = if self.code.home(a) == Home::None { (a, b) } else { (b, a) };
        let under = if under != NONE && self.code.home(under) == Home::Ones { NONE } else { under };
        let ins = if none { TESTND } else { TESTD };
        Some(self.made(Class::Mask, Inst { ins, src: [a, b, NONE, under], ..blank(Kind::Compare) }))
    }

    /// An operation on bits together with those that made its operands, if that is three words in all.
    pub(super) fn bits(&mut self, op: Operator, a: Value, b: Value) -> Option<Pair> {
        if self.narrow_host() {
            return None;
        }
        let open = [a, b].map(|v| self.waits(v) && is_logic(&self.strip.program.nodes[v.0 as usize]));
        let mut leaves = [open, [open[0], false], [false, open[1]]].into_iter().filter_map(|[x, y]| {
            let mut leaves = Leaves::default();
            let fits = (x || y) && self.gather(a, x, &mut leaves) && self.gather(b, y, &mut leaves);
            fits.then_some((leaves, [x, y]))
        });
        let (mut leaves, open) = leaves.next()?;
        let mut made = [NONE; 3];
        let count = leaves.count;
        for (to, &v) in made.iter_mut().zip(&leaves.values[..count]) {
            *to = self.get(v)[0];
        }
        // The first one's register is the result's; what is in memory had better be the last.
        let rank = |v: V| match self.code.home(v) {
            Home::None => 0,
            Home::Splat32(_) => 2,
            _ => 1,
        };
        for i in [0, 1, 0] {
            if i + 1 < count && rank(made[i]) > rank(made[i + 1]) {
                made.swap(i, i + 1);
                leaves.values.swap(i, i + 1);
            }
        }
        let table = {
            let (x, y) = (self.table(a, open[0], &leaves), self.table(b, open[1], &leaves));
            combined(op, x, y)
        };
        let [x, y, z] = made.map(|v| if v == NONE { made[0] } else { v });
        let inst = Inst { ins: TERNARY, imm: Some(table), src: [x, y, z, NONE], ..blank(Kind::Tied) };
        Some(one(self.made(Class::Vector, inst)))
    }

    /// Adds what a value is made of, or itself; false if that is too much.
    fn gather(&self, v: Value, open: bool, leaves: &mut Leaves) -> bool {
        match self.strip.program.nodes[v.0 as usize] {
            Node::Operator(_, _, [a, b]) if open => self.leaf_of(a, leaves) && self.leaf_of(b, leaves),
            Node::Not(_, a) if open => self.leaf_of(a, leaves),
            _ => self.leaf_of(v, leaves),
        }
    }

    fn leaf_of(&self, v: Value, leaves: &mut Leaves) -> bool {
        if self.place(v, leaves).is_some() {
            return true;
        }
        let Some(free) = leaves.values.get_mut(leaves.count) else { return false };
        *free = v;
        leaves.count += 1;
        true
    }

    /// The number of a leaf, and whether the value is its opposite.
    fn place(&self, v: Value, leaves: &Leaves) -> Option<(usize, bool)> {
        let known = &leaves.values[..leaves.count];
        if let Some(i) = known.iter().position(|&l| l == v) {
            return Some((i, false));
        }
        let opposite = !self.constant(v)? as u32;
        let is_opposite = |&l: &Value| self.constant(l).is_some_and(|n| n as u32 == opposite);
        known.iter().position(is_opposite).map(|i| (i, true))
    }

    /// What a value is, for all bits that the leaves may have.
    fn table(&self, v: Value, open: bool, leaves: &Leaves) -> u8 {
        match self.strip.program.nodes[v.0 as usize] {
            Node::Operator(op, _, [a, b]) if open => {
                combined(op, self.table(a, false, leaves), self.table(b, false, leaves))
            }
            Node::Not(_, a) if open => !self.table(a, false, leaves),
            _ => match self.place(v, leaves) {
                Some((i, opposite)) => TABLES[i] ^ if opposite { 0xff } else { 0 },
                // All are there.
                None => 0,
            },
        }
    }
}

/// The words that bits are made of.
struct Leaves {
    values: [Value; 3],
    count: usize,
}

impl Default for Leaves {
    fn default() -> Leaves {
        Leaves { values: [Value(0); 3], count: 0 }
    }
}

fn combined(op: Operator, a: u8, b: u8) -> u8 {
    match op {
        Operator::And => a & b,
        Operator::Or => a | b,
        _ => a ^ b,
    }
}
