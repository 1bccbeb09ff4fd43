//! Both f16 halves of words at once. What is done to lower and to upper halves alike is done to numbers that lie as the halves do,
//! two vectors of them, so that nothing is put in order before and after. A lane is two numbers then, which only matters
//! to masks: it is done where all lanes are active.

use super::nodes::lower_half_of;
use super::{Lowerer, Pair, Version};
use crate::allocate::NONE;
use crate::opcodes::*;
use wavemill_sem::record::operation::word;
use wavemill_sem::record::{Node, Operator, Type, Value};

impl Lowerer<'_> {
    /// Whether there is something to do so.
    pub(super) fn has_packed(&self) -> bool {
        let nodes = &self.strip.program.nodes;
        let all = matches!(self.strip.active[..], [(_, v)] if self.constant(v) == Some(1));
        all && self.version == Version::Hopeful
            && nodes.iter().any(|node| matches!(node, Node::Word(word::f2h_pair, ..)))
    }

    /// Whether a node may be part of what is done so, and had better wait until it is asked for.
    pub(super) fn may_be_packed(&self, at: usize) -> bool {
        self.packed
            && matches!(
                self.strip.program.nodes[at],
                Node::Word(
                    word::h2f
                        | word::h2f_high
                        | word::ffma_odd
                        | word::fadd
                        | word::fmul
                        | word::fmin
                        | word::fmax
                        | word::funord,
                    ..
                ) | Node::Operator(Operator::Or, Type::Mask, _)
            )
    }

    /// Whether a value is made of lower halves as another one is of upper ones.
    fn alike(&self, low: Value, upper: Value) -> bool {
        let nodes = &self.strip.program.nodes;
        match (nodes[low.0 as usize], nodes[upper.0 as usize]) {
            (Node::Word(word::h2f, [a, ..], _), Node::Word(word::h2f_high, [b, ..], _)) => a == b,
            (Node::Constant(_, Type::Word), Node::Constant(_, Type::Word)) => true,
            (Node::Word(op, a, _), Node::Word(other, b, _)) => {
                let packs = matches!(op, word::ffma_odd | word::fadd | word::fmul | word::fmin | word::fmax);
                let operands = op.operands().len();
                packs && op == other && a.iter().zip(b).take(operands).all(|(&a, b)| self.alike(a, b))
            }
            _ => false,
        }
    }

    /// Two such values: those of the first half of the lanes, and of the second.
    fn both(&mut self, low: Value, upper: Value) -> Pair {
        if let Some(&(_, made)) = self.made_packed.iter().find(|(of, _)| *of == (low, upper)) {
            return made;
        }
        let nodes = &self.strip.program.nodes;
        let made = match (nodes[low.0 as usize], nodes[upper.0 as usize]) {
            (Node::Constant(a, _), Node::Constant(b, _)) => {
                let v = if a == b { self.splat(a as u32) } else { self.splat64(a | b << 32) };
                [v, v]
            }
            (Node::Word(word::h2f, [a, ..], _), _) => {
                let a = self.get(lower_half_of(nodes, a))[0];
                if self.narrow_host() {
                    [0, 1].map(|half| self.widen_half(a, half))
                } else {
                    let second = self.narrow(EXTRACT, a, Some(1));
                    [a, second].map(|a| self.unary(CVTPH2PS, a))
                }
            }
            (Node::Word(op, a, _), Node::Word(_, b, _)) => {
                let mut of = [[NONE; 2]; 3];
                for ((to, &a), &b) in of.iter_mut().zip(&a).zip(&b).take(op.operands().len()) {
                    *to = self.both(a, b);
                }
                let one_bit = self.splat(1);
                [0, 1].map(|i| {
                    let [a, b, c] = of.map(|v| v[i]);
                    match op {
                        word::ffma_odd => self.fma_odd((FMAPS, TESTD, BLENDD), one_bit, a, b, c),
                        word::fadd => self.either(ADDPS, a, b),
                        word::fmul => self.either(MULPS, a, b),
                        word::fmin => self.lesser(a, b),
                        _ => self.greater(a, b),
                    }
                })
            }
            // Callers have asked.
            _ => [NONE; 2],
        };
        self.made_packed.push(((low, upper), made));
        made
    }

    /// Two f32 as the halves of words.
    pub(super) fn pack(&mut self, low: Value, upper: Value) -> Option<Pair> {
        if !self.packed || !self.alike(low, upper) {
            return None;
        }
        let halves = self.both(low, upper).map(|v| self.narrow(CVTPS2PH, v, Some(0)));
        Some([self.insert(halves), NONE])
    }

    /// Notes NaNs among such values; false if the mask is not theirs.
    pub(super) fn check_packed(&mut self, mask: Value) -> bool {
        let nodes = &self.strip.program.nodes;
        let unordered = |v: Value| match nodes[v.0 as usize] {
            Node::Word(word::funord, [a, b, _], _) if a != b => Some((a, b)),
            _ => None,
        };
        if !self.packed {
            return false;
        }
        if let Some((low, upper)) = unordered(mask)
            && self.alike(low, upper)
        {
            let [first, second] = self.both(low, upper);
            self.check_nan(first, second, NONE);
            return true;
        }
        let Node::Operator(Operator::Or, Type::Mask, [low, upper]) = nodes[mask.0 as usize] else {
            return false;
        };
        let (Some((a, b)), Some((c, d))) = (unordered(low), unordered(upper)) else { return false };
        if !self.alike(a, c) || !self.alike(b, d) {
            return false;
        }
        let (a, b) = (self.both(a, c), self.both(b, d));
        (0..2).for_each(|i| self.check_nan(a[i], b[i], NONE));
        true
    }
}
