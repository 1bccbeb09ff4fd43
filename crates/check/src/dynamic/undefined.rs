//! Values of which some bits are not known, through the meanings of instructions: the programs that `sem` records, evaluated
//! with a mask of undefined bits beside each value.
//!
//! Bits are followed one by one where an operation keeps them apart (logic, shifts, selections), carries reach upwards from the
//! lowest undefined bit, comparisons are decided where undefined bits cannot change them; everything else is undefined as a
//! whole when any of its operands is.

use wavemill_sem::record::operation::{long, word};
use wavemill_sem::record::{Node, Operator, Program, Type, Value};

/// A value, and which of its bits nobody has written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bits {
    /// The value, as it happens to be.
    pub value: u64,
    /// Its undefined bits.
    pub undefined: u64,
}

impl Bits {
    /// A value that is known.
    pub const fn known(value: u64) -> Bits {
        Bits { value, undefined: 0 }
    }

    /// The least and the greatest value it may be.
    fn range(self) -> (u64, u64) {
        (self.value & !self.undefined, self.value | self.undefined)
    }
}

const fn width(ty: Type) -> u32 {
    match ty {
        Type::Word => 32,
        Type::Long => 64,
        Type::Mask => 1,
    }
}

const fn whole(ty: Type) -> u64 {
    !0 >> (64 - width(ty))
}

/// All bits from the lowest undefined one up.
fn carried(undefined: u64, ty: Type) -> u64 {
    (undefined | undefined.wrapping_neg()) & whole(ty)
}

fn operator(op: Operator, ty: Type, a: Bits, b: Bits) -> u64 {
    match op {
        Operator::And => a.undefined & (b.value | b.undefined) | b.undefined & (a.value | a.undefined),
        Operator::Or => a.undefined & (!b.value | b.undefined) | b.undefined & (!a.value | a.undefined),
        Operator::Xor => a.undefined | b.undefined,
        Operator::Add | Operator::Sub | Operator::Mul => carried(a.undefined | b.undefined, ty),
    }
}

fn select(mask: Bits, t: Bits, f: Bits) -> u64 {
    match (mask.undefined, mask.value) {
        (0, 0) => f.undefined,
        (0, _) => t.undefined,
        _ => t.undefined | f.undefined | (t.value ^ f.value),
    }
}

/// Equality is decided by a known bit that differs.
fn equal(a: Bits, b: Bits) -> u64 {
    let unknown = a.undefined | b.undefined;
    u64::from(unknown != 0 && (a.value ^ b.value) & !unknown == 0)
}

/// Order is decided when the ranges do not meet. Signed numbers are compared with their sign turned.
fn less(a: Bits, b: Bits, sign: u64) -> u64 {
    let turned = |x: Bits| Bits { value: x.value ^ sign, ..x };
    let ((a_least, a_most), (b_least, b_most)) = (turned(a).range(), turned(b).range());
    u64::from((a.undefined | b.undefined) != 0 && a_most >= b_least && a_least < b_most)
}

fn shifted(a: Bits, by: Bits, ty: Type, how: impl Fn(u64, u32) -> u64) -> u64 {
    let places = u64::from(width(ty) - 1);
    match by.undefined & places {
        0 => how(a.undefined, (by.value & places) as u32) & whole(ty),
        _ => whole(ty),
    }
}

fn on_word(op: word, operands: &[Bits]) -> u64 {
    let at = |i: usize| operands.get(i).copied().unwrap_or_default();
    let (a, b) = (at(0), at(1));
    let ty = Type::Word;
    match op {
        word::eq => equal(a, b),
        word::lt_u => less(a, b, 0),
        word::lt_i => less(a, b, 1 << 31),
        word::shl => shifted(a, b, ty, |u, n| u << n),
        word::shr => shifted(a, b, ty, |u, n| u >> n),
        word::sar => shifted(a, b, ty, |u, n| (u as u32 as i32 >> n) as u32 as u64),
        word::zext => a.undefined,
        word::sext => a.undefined as u32 as i32 as i64 as u64,
        word::join => a.undefined | b.undefined << 32,
        word::mul_wide_u | word::mul_wide_i => carried(a.undefined | b.undefined, Type::Long),
        word::permute_bytes if at(2).undefined & 0x0707_0707 == 0 => {
            let selector = at(2).value as u32;
            wavemill_sem::operations::bytes(a.undefined as u32, b.undefined as u32, selector).into()
        }
        _ if operands.iter().any(|o| o.undefined != 0) => whole(op.result()),
        _ => 0,
    }
}

fn on_long(op: long, operands: &[Bits]) -> u64 {
    let at = |i: usize| operands.get(i).copied().unwrap_or_default();
    let (a, b) = (at(0), at(1));
    let ty = Type::Long;
    match op {
        long::lo => a.undefined & 0xffff_ffff,
        long::hi => a.undefined >> 32,
        long::eq => equal(a, b),
        long::lt_u => less(a, b, 0),
        long::lt_i => less(a, b, 1 << 63),
        long::shl => shifted(a, b, ty, |u, n| u << n),
        long::shr => shifted(a, b, ty, |u, n| u >> n),
        long::sar => shifted(a, b, ty, |u, n| (u as i64 >> n) as u64),
        _ if operands.iter().any(|o| o.undefined != 0) => whole(op.result()),
        _ => 0,
    }
}

/// All values of a program for one lane.
pub fn evaluate(program: &Program, input: impl Fn(u16) -> Bits) -> Vec<Bits> {
    let values: [u64; 8] = std::array::from_fn(|i| input(i as u16).value);
    let numbers = program.evaluate(&values);
    let mut all: Vec<Bits> = numbers.into_iter().map(Bits::known).collect();
    for (i, node) in program.nodes.iter().enumerate() {
        all[i].undefined = undefined(node, &all, &input);
    }
    all
}

fn undefined(node: &Node, all: &[Bits], input: &impl Fn(u16) -> Bits) -> u64 {
    let at = |v: Value| all[v.0 as usize];
    match *node {
        Node::Input(n, ty) => input(n).undefined & whole(ty),
        Node::Constant(..) | Node::Lanes(_) | Node::Rarely { .. } => 0,
        Node::Operator(op, ty, [a, b]) => operator(op, ty, at(a), at(b)) & whole(ty),
        Node::Not(_, a) | Node::Neighbour(_, a, _) => at(a).undefined,
        Node::Word(op, v, _) => on_word(op, &v.map(at)[..op.operands().len()]),
        Node::Long(op, v, _) => on_long(op, &v.map(at)[..op.operands().len()]),
        Node::Select(_, [m, t, f]) | Node::Merge(_, [m, t, f]) => select(at(m), at(t), at(f)),
        Node::Lookup(a, _) => {
            if at(a).undefined != 0 {
                whole(Type::Word)
            } else {
                0
            }
        }
    }
}

/// Which values of a program have undefined bits that would be others if the inputs had other values, and the same bits undefined.
/// Where a result is not among them, what holds for one lane holds for all that have the same bits undefined.
pub fn depends(program: &Program, all: &[Bits]) -> Vec<bool> {
    let mut out: Vec<bool> = Vec::with_capacity(program.nodes.len());
    for node in &program.nodes {
        let at = |v: Value| all[v.0 as usize];
        let constant = |v: Value| matches!(program.nodes[v.0 as usize], Node::Constant(..));
        let some = |v: Value| at(v).undefined != 0;
        // Two numbers of which nobody knows the highest bit may be in either order, whatever the others are.
        let compared = |a: Value, b: Value, highest: u64| {
            (some(a) || some(b)) && at(a).undefined & at(b).undefined & highest == 0
        };
        let (own, operands): (bool, &[Value]) = match node {
            Node::Input(..) | Node::Constant(..) | Node::Lanes(_) | Node::Rarely { .. } => (false, &[]),
            Node::Operator(Operator::And | Operator::Or, _, operands @ [a, b]) => {
                let only = |a: Value, b: Value| at(a).undefined & !at(b).undefined != 0 && !constant(b);
                (only(*a, *b) || only(*b, *a), operands)
            }
            Node::Operator(_, _, operands) => (false, operands),
            Node::Not(_, a) | Node::Lookup(a, _) | Node::Neighbour(_, a, _) => {
                (false, std::slice::from_ref(a))
            }
            Node::Select(ty, operands @ [m, t, f]) | Node::Merge(ty, operands @ [m, t, f]) => {
                // Undefined as a whole on one side is undefined as a whole, if it is not known which side is taken.
                let sure = |v: Value| at(v).undefined == whole(*ty) && !out[v.0 as usize];
                match some(*m) {
                    true if sure(*t) || sure(*f) => (false, std::slice::from_ref(m)),
                    true => (true, operands),
                    false => (at(*t).undefined != at(*f).undefined && !constant(*m), operands),
                }
            }
            Node::Word(op, operands, _) => {
                let [a, b, c] = *operands;
                let own = match op {
                    word::eq => !matches!(at(a).undefined | at(b).undefined, 0 | 0xffff_ffff),
                    word::lt_u | word::lt_i => compared(a, b, 1 << 31),
                    word::shl | word::shr | word::sar => some(a) && !constant(b),
                    word::permute_bytes => (some(a) || some(b)) && !constant(c),
                    _ => false,
                };
                (own, &operands[..op.operands().len()])
            }
            Node::Long(op, operands, _) => {
                let [a, b, _] = *operands;
                let own = match op {
                    long::eq => !matches!(at(a).undefined | at(b).undefined, 0 | u64::MAX),
                    long::lt_u | long::lt_i => compared(a, b, 1 << 63),
                    long::shl | long::shr | long::sar => some(a) && !constant(b),
                    _ => false,
                };
                (own, &operands[..op.operands().len()])
            }
        };
        out.push(own || operands.iter().any(|v| out[v.0 as usize]));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavemill_isa::Op;
    use wavemill_sem::record;

    /// The undefined bits of a scalar instruction's result and of SCC.
    fn scalar(op: Op, a: Bits, b: Bits) -> (u64, u64) {
        let (program, results) = record::scalar(op).unwrap();
        let all = evaluate(&program, |i| match i {
            0 => a,
            1 => b,
            _ => Bits::default(),
        });
        let of = |v: Option<Value>| v.map_or(0, |v| all[v.0 as usize].undefined);
        (of(results.value), of(results.mask))
    }

    /// Every value that undefined bits may have, on small numbers: a bit that differs between two of them is undefined, and so
    /// is SCC. Carries may be taken to go further than they do.
    #[test]
    fn what_can_differ_is_undefined() {
        use Op::*;
        let exact = [
            s_and_b32,
            s_or_b32,
            s_xor_b32,
            s_andn2_b32,
            s_orn2_b32,
            s_cmp_eq_u32,
            s_cmp_lt_u32,
            s_cmp_lg_i32,
        ];
        let rough =
            [s_add_u32, s_sub_u32, s_mul_i32, s_lshl_b32, s_lshr_b32, s_ashr_i32, s_min_u32, s_bfe_u32];
        let mut undefined = 0;
        for op in exact.into_iter().chain(rough) {
            for case in 0..4096u64 {
                let bits = |n: u64| Bits { value: n & 7 & !(n >> 3 & 7), undefined: n >> 3 & 7 };
                let (a, b) = (bits(case & 63), bits(case >> 6));
                let may =
                    |x: Bits| (0..8u64).filter(move |v| v & !x.undefined == 0).map(move |v| x.value | v);
                let (mut differ, mut scc) = (0, 0);
                let (mut first, mut first_scc) = (None, None);
                for x in may(a) {
                    for y in may(b) {
                        let out = wavemill_sem::salu::salu(op, x, y, 0, false, 0).unwrap();
                        differ |= out.d.unwrap_or(0) ^ *first.get_or_insert(out.d.unwrap_or(0));
                        let s = u64::from(out.scc.unwrap_or(false));
                        scc |= s ^ *first_scc.get_or_insert(s);
                    }
                }
                let (got, got_scc) = scalar(op, a, b);
                assert_eq!(differ & !got, 0, "{op:?} of {a:?} and {b:?}: {got:#x}");
                assert_eq!(scc & !got_scc, 0, "SCC of {op:?} of {a:?} and {b:?}");
                if exact.contains(&op) {
                    assert_eq!((differ & 7, scc), (got & 7, got_scc), "{op:?} of {a:?} and {b:?}");
                }
                undefined += u32::from(got != 0);
            }
        }
        assert!(undefined > 10_000, "{undefined}");
    }

    /// Where a result is said not to depend on values, it is the same for others.
    #[test]
    fn what_does_not_depend_on_values_is_the_same_for_all() {
        use Op::*;
        let ops = [
            s_and_b32,
            s_or_b32,
            s_xor_b32,
            s_andn2_b32,
            s_not_b32,
            s_add_u32,
            s_sub_u32,
            s_mul_i32,
            s_lshl_b32,
            s_ashr_i32,
            s_bfe_u32,
            s_min_u32,
            s_cmp_eq_u32,
            s_cmp_lt_u32,
            s_cselect_b32,
            s_brev_b32,
            s_sext_i32_i8,
            s_mul_hi_u32,
            s_pack_ll_b32_b16,
        ];
        let masks = [0, 1, 0xff00, 0xffff_ffff, 0x8000_0000];
        let values = [0u64, 1, 5, 0xff, 0x1234_5678, 0x8000_0000, 0xffff_ffff];
        let (mut same, mut all_cases) = (0, 0);
        for op in ops {
            let (program, results) = record::scalar(op).unwrap();
            for (ua, ub) in masks.into_iter().flat_map(|a| masks.map(|b| (a, b))) {
                let outcomes: Vec<(u64, bool)> = values
                    .into_iter()
                    .flat_map(|a| values.map(|b| (a, b)))
                    .map(|(a, b)| {
                        let all = evaluate(&program, |i| match i {
                            0 => Bits { value: a, undefined: ua },
                            1 => Bits { value: b, undefined: ub },
                            _ => Bits::default(),
                        });
                        let Some(v) = results.value.or(results.mask) else { return (0, true) };
                        (all[v.0 as usize].undefined, depends(&program, &all)[v.0 as usize])
                    })
                    .collect();
                all_cases += 1;
                if let Some((bits, _)) = outcomes.iter().find(|(_, depends)| !depends) {
                    same += 1;
                    assert!(outcomes.iter().all(|(b, _)| b == bits), "{op:?} {ua:#x} {ub:#x}: {outcomes:x?}");
                }
            }
        }
        assert!(same * 2 > all_cases, "{same} of {all_cases}");
    }
}
