//! In which order AVX2's halves of a long have their lanes. Instructions that put words together leave lanes 0, 1, 4, 5 and
//! 2, 3, 6, 7; conversions of floats have lanes 0 to 3 and 4 to 7. Lane by lane it is all the same: so what is only
//! converted, computed with and converted back stays as it came.

use super::{Lowerer, Pair};
use crate::opcodes::PERM128;
use wavemill_sem::record::operation::{long, word};
use wavemill_sem::record::{Node, Operator, Type, Value};

/// So many nodes behind a conversion its first use is looked for.
const NEAR: usize = 8;

/// Whether a node makes longs of longs, lane by lane.
fn is_lanewise(node: &Node) -> bool {
    match *node {
        Node::Long(op, ..) => is_lanewise_op(op),
        Node::Operator(op, Type::Long, _) => op != Operator::Mul,
        Node::Not(Type::Long, _) => true,
        _ => false,
    }
}

fn is_lanewise_op(op: long) -> bool {
    matches!(
        op,
        long::flush
            | long::fmin
            | long::fmax
            | long::fadd
            | long::fsub
            | long::fmul
            | long::fdiv
            | long::fsqrt
            | long::ffma
            | long::ffma_odd
            | long::ftrunc
            | long::ffloor
            | long::frint
    )
}

impl Lowerer<'_> {
    /// Whether a node's halves have lanes as conversions do.
    pub(super) fn comes_in_order(&mut self, at: usize) -> bool {
        let nodes = &self.strip.program.nodes;
        let node = &nodes[at];
        match node {
            Node::Word(word::f2d, ..) => {
                let uses = |n: &&Node| n.operands().contains(&Value(at as u32));
                let comes = nodes[at + 1..].iter().take(NEAR).find(uses).is_some_and(is_lanewise);
                self.any_in_order |= comes;
                comes
            }
            _ if !self.any_in_order => false,
            _ => is_lanewise(node) && node.operands().iter().any(|v| self.in_order[v.0 as usize]),
        }
    }

    /// The order in which an operation on longs wants its operands.
    pub(super) fn order_for(&self, op: long, operands: &[Value]) -> bool {
        match op {
            _ if !self.any_in_order => false,
            long::d2f | long::d2f_round | long::d2i => self.in_order[operands[0].0 as usize],
            _ => is_lanewise_op(op) && operands.iter().any(|v| self.in_order[v.0 as usize]),
        }
    }

    /// A value, a long with its lanes in this order.
    pub(super) fn get_ordered(&mut self, v: Value, in_order: bool) -> Pair {
        let [low, high] = self.get(v);
        if !self.any_in_order {
            return [low, high];
        }
        let at = v.0 as usize;
        let is_long = self.strip.program.nodes[at].ty() == Some(Type::Long);
        if is_long && low != high && self.in_order[at] != in_order {
            self.values[at] =
                [self.with_imm(PERM128, 0x20, low, high), self.with_imm(PERM128, 0x31, low, high)];
            self.in_order[at] = in_order;
        }
        self.values[at]
    }
}
