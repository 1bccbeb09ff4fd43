//! What kind of node one is.

use wavemill_sem::record::operation::{long, word};
use wavemill_sem::record::{Node, Operator, Type, Value};

/// Whether a node is a float operation that makes a NaN of a NaN.
pub fn spreads_nan(node: &Node) -> bool {
    // What has a NaN's exponent is not flushed.
    if let Node::Word(word::flush, [a, t, _], _) | Node::Long(long::flush, [a, t, _], _) = node {
        return a == t;
    }
    matches!(
        node,
        Node::Word(word::fadd | word::fsub | word::fmul | word::ffma, ..)
            | Node::Long(long::fadd | long::fsub | long::fmul | long::ffma, ..)
    )
}

/// Whether an operation compares words.
pub fn is_word_compare_op(op: word) -> bool {
    matches!(op, word::eq | word::lt_u | word::lt_i | word::flt | word::feq | word::funord)
}

/// Whether a node does.
pub fn is_word_compare(node: &Node) -> bool {
    matches!(node, Node::Word(op, ..) if is_word_compare_op(*op))
}

/// What a value is made of, as one that looks at its lower half only sees it.
pub fn lower_half_of(nodes: &[Node], v: Value) -> Value {
    let keeps = |v: Value| matches!(nodes[v.0 as usize], Node::Constant(n, _) if n & 0xffff == 0xffff);
    match nodes[v.0 as usize] {
        Node::Operator(Operator::And, Type::Word, [a, b]) if keeps(b) => a,
        Node::Operator(Operator::And, Type::Word, [a, b]) if keeps(a) => b,
        _ => v,
    }
}
