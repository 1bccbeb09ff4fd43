//! Accesses whose lanes follow each other, found before any lane is looked at.
//!
//! Most kernels make addresses of work-item ids by adding, shifting and multiplying: a lane's address is the first lane's plus
//! its number times a constant. Whether it is so depends on registers that are there when a strip begins. So a strip's addresses
//! become a program for one lane, the first, together with what must hold for the others to follow: registers that
//! count up from lane to lane, or are the same in all, and numbers that do not overflow on their way to the last lane.
//!
//! Sums of 64 bits arrive as two words and a carry. They are put together again: as one sum, they cannot overflow.

use crate::input::Input;
use crate::strip::Strip;
use crate::strip::memory::{Access, LaneAddress};
use wavemill_sem::lanes::{Long, Word};
use wavemill_sem::record::operation::{long, word};
use wavemill_sem::record::{LongValue, MaskValue, Node, Operator, Program, Value, WordValue, record};

/// What tells where the lanes of a strip's accesses are, if they are all active.
pub struct Affine {
    /// Computes values of the first lane.
    pub program: Program,
    /// For each access, the first lane's address (in LDS and in buffers its offset), and how many bytes on the next lane's is.
    pub places: Vec<(Value, u32)>,
    /// Vector registers, and what they must count up by from lane to lane.
    pub registers: Vec<(u16, u32)>,
    /// What else must hold.
    pub condition: Option<Value>,
}

/// More registers than this are not tried.
const MOST_REGISTERS: usize = 3;
/// What numbers may count up by, on their way to an address: so little that the last lane's is not far off.
const MOST_STEP: u32 = 1 << 16;
/// Values that are looked at.
const MOST_VALUES: u32 = 256;
/// Number of the last lane.
const LAST: u32 = 63;

/// How the lanes of a strip's accesses follow each other, if they can and it is simple enough.
pub fn affine(strip: &Strip) -> Option<Affine> {
    let registers = registers(strip)?;
    let bytes = strip.accesses.iter().map(|a| u32::from(a.bytes)).max()?;
    // Work-item ids count up by one, addresses by what is accessed; upper halves of addresses do not count.
    let candidates = [1, bytes, 0];
    let tries = candidates.len().pow(registers.len() as u32);
    let steps = (0..tries).find_map(|number| {
        let mut digits = number;
        let mut steps = Vec::with_capacity(registers.len());
        for &register in &registers {
            steps.push((register, candidates[digits % candidates.len()]));
            digits /= candidates.len();
        }
        let mut tried = Follower::new(strip, &steps, true);
        let places: Vec<u32> = tried.places()?.into_iter().map(|(_, step)| step).collect();
        let suits = |(a, &step): (&Access, &u32)| step == a.step().into() || step == 0 && !a.stores();
        let all = strip.accesses.iter().zip(&places).all(suits);
        (all && places.iter().any(|&step| step > 0)).then_some(steps)
    })?;
    let (program, made) = record(|| {
        let mut follower = Follower::new(strip, &steps, false);
        let places = follower.places()?;
        let condition = follower.conditions.into_iter().reduce(|a, b| a & b);
        Some((places, condition.map(|c| c.0)))
    });
    let (places, condition) = made?;
    Some(Affine { program, places, registers: steps, condition })
}

/// Vector registers that addresses are made of.
fn registers(strip: &Strip) -> Option<Vec<u16>> {
    let nodes = &strip.program.nodes;
    let mut found = Vec::new();
    let mut seen = vec![false; nodes.len()];
    let mut open = Vec::new();
    for access in &strip.accesses {
        match access.place {
            LaneAddress::Memory { low, high, .. } => open.extend([low, high]),
            place => open.extend(place.offset()),
        }
    }
    while let Some(v) = open.pop() {
        if std::mem::replace(&mut seen[v.0 as usize], true) {
            continue;
        }
        let node = &nodes[v.0 as usize];
        if let Node::Input(n, _) = *node
            && let Input::Vgpr(register) = Input::of(n)
        {
            found.push(register);
        }
        open.extend(node.operands());
    }
    found.sort_unstable();
    (found.len() <= MOST_REGISTERS).then_some(found)
}

/// A value of the first lane, and how much more the next lane's is, modulo its size.
#[derive(Clone, Copy)]
struct Following<V> {
    first: V,
    step: u32,
}

struct Follower<'a> {
    strip: &'a Strip,
    steps: &'a [(u16, u32)],
    /// Nothing is recorded: only steps matter.
    dry: bool,
    /// Values that may still be looked at: each is as often as it is used.
    left: u32,
    conditions: Vec<MaskValue>,
}

impl Follower<'_> {
    fn new<'a>(strip: &'a Strip, steps: &'a [(u16, u32)], dry: bool) -> Follower<'a> {
        Follower { strip, steps, dry, left: MOST_VALUES, conditions: Vec::new() }
    }

    fn make_word(&self, f: impl FnOnce() -> WordValue) -> WordValue {
        if self.dry { WordValue(Value(0)) } else { f() }
    }

    fn make_long(&self, f: impl FnOnce() -> LongValue) -> LongValue {
        if self.dry { LongValue(Value(0)) } else { f() }
    }

    fn demand(&mut self, f: impl FnOnce() -> MaskValue) {
        if !self.dry {
            let condition = f();
            self.conditions.push(condition);
        }
    }

    fn node(&self, v: Value) -> Node {
        self.strip.program.nodes[v.0 as usize]
    }

    fn constant(&self, v: Value) -> Option<u64> {
        match self.node(v) {
            Node::Constant(n, _) => Some(n),
            _ => None,
        }
    }

    /// Where each access's first lane is, and its step.
    fn places(&mut self) -> Option<Vec<(Value, u32)>> {
        let strip = self.strip;
        strip.accesses.iter().map(|access| self.place(access)).collect()
    }

    fn place(&mut self, access: &Access) -> Option<(Value, u32)> {
        let long = |n: i32| LongValue::splat(i64::from(n) as u64);
        match access.place {
            LaneAddress::Memory { low, high, constant } => {
                let a = self.joined(low, high)?;
                Some((self.make_long(|| a.first + long(constant)).0, a.step))
            }
            LaneAddress::Based { base, offset, constant } => {
                let a = self.word(offset)?;
                let a = self.extended(a)?;
                let base = || Input::Sgpr(base).word().join(Input::Sgpr(base + 1).word());
                Some((self.make_long(|| base() + a.first + long(constant)).0, a.step))
            }
            // Offsets are compared with the size of LDS or of the buffer, where they cannot overflow.
            LaneAddress::Share { offset, .. }
            | LaneAddress::Buffer { offset, .. }
            | LaneAddress::Private { offset, .. } => self.word(offset).map(|a| (a.first.0, a.step)),
        }
    }

    /// A word as 64 bits; lanes must not overflow.
    fn extended(&mut self, a: Following<WordValue>) -> Option<Following<LongValue>> {
        self.below(a, 1 << 32)?;
        Some(Following { first: self.make_long(|| a.first.zext()), step: a.step })
    }

    /// Demands that all lanes are below a limit, and none overflows on the way.
    fn below(&mut self, a: Following<WordValue>, limit: u64) -> Option<()> {
        if a.step > MOST_STEP {
            return None;
        }
        let limit = limit.checked_sub(u64::from(LAST * a.step))?;
        if limit < 1 << 32 {
            self.demand(|| a.first.lt_u(WordValue::splat(limit as u32)));
        }
        Some(())
    }

    fn word(&mut self, v: Value) -> Option<Following<WordValue>> {
        self.left = self.left.checked_sub(1)?;
        Some(match self.node(v) {
            Node::Constant(n, _) => {
                Following { first: self.make_word(|| WordValue::splat(n as u32)), step: 0 }
            }
            Node::Input(n, _) => match Input::of(n) {
                Input::Vgpr(register) => {
                    let step = self.steps.iter().find(|s| s.0 == register)?.1;
                    Following { first: self.make_word(|| Input::Vgpr(register).word()), step }
                }
                Input::Sgpr(code) => {
                    Following { first: self.make_word(|| Input::Sgpr(code).word()), step: 0 }
                }
                Input::LaneNumber => Following { first: self.make_word(|| WordValue::splat(0)), step: 1 },
                _ => return None,
            },
            Node::Operator(Operator::And, _, [a, b]) => self.and(a, b)?,
            Node::Operator(op, _, [x, y]) => {
                let (a, b) = (self.word(x)?, self.word(y)?);
                let constant = |v: Value| self.constant(v).map(|n| n as u32);
                let step = match op {
                    Operator::Add => a.step.wrapping_add(b.step),
                    Operator::Sub => a.step.wrapping_sub(b.step),
                    Operator::Mul if a.step == 0 && b.step == 0 => 0,
                    Operator::Mul if b.step == 0 => a.step.wrapping_mul(constant(y)?),
                    Operator::Mul if a.step == 0 => b.step.wrapping_mul(constant(x)?),
                    Operator::Or | Operator::Xor if a.step == 0 && b.step == 0 => 0,
                    _ => return None,
                };
                let (a, b) = (a.first, b.first);
                let first = self.make_word(|| match op {
                    Operator::Add => a + b,
                    Operator::Sub => a - b,
                    Operator::Mul => a * b,
                    Operator::Or => a | b,
                    _ => a ^ b,
                });
                Following { first, step }
            }
            Node::Word(word::min_u, [x, y, _], _) => {
                let (a, b) = (self.word(x)?, self.word(y)?);
                if a.step != 0 || b.step != 0 {
                    return None;
                }
                Following { first: self.make_word(|| a.first.min_u(b.first)), step: 0 }
            }
            Node::Word(op @ (word::shl | word::shr | word::sar), [x, by, _], _) => {
                let (a, b) = (self.word(x)?, self.word(by)?);
                let step = match (op, a.step, b.step) {
                    (_, 0, 0) => 0,
                    (word::shl, step, 0) => step.wrapping_shl(self.constant(by)? as u32),
                    _ => return None,
                };
                let (a, b) = (a.first, b.first);
                let first = self.make_word(|| match op {
                    word::shl => a.shl(b),
                    word::shr => a.shr(b),
                    _ => a.sar(b),
                });
                Following { first, step }
            }
            Node::Long(long::lo, [a, ..], _) => {
                let a = self.long(a)?;
                Following { first: self.make_word(|| a.first.lo()), step: a.step }
            }
            Node::Long(long::hi, [a, ..], _) => {
                let a = self.long(a).filter(|a| a.step == 0)?;
                Following { first: self.make_word(|| a.first.hi()), step: 0 }
            }
            _ => return None,
        })
    }

    /// Some bits of a number: the lowest, which must not overflow on the way to the last lane, or any, if those are among them
    /// that lanes differ in.
    fn and(&mut self, x: Value, y: Value) -> Option<Following<WordValue>> {
        let (mut a, mut b) = (self.word(x)?, self.word(y)?);
        let mut mask = self.constant(y);
        if a.step == 0 {
            (a, b, mask) = (b, a, self.constant(x));
        }
        if b.step != 0 {
            return None;
        }
        let first = self.make_word(|| a.first & b.first);
        let step = a.step;
        match mask {
            _ if step == 0 => {}
            Some(mask) if (mask + 1).is_power_of_two() => self.below(Following { first, step }, mask + 1)?,
            _ => {
                if !step.is_power_of_two() || step > MOST_STEP {
                    return None;
                }
                let differ = || WordValue::splat(LAST * step);
                self.demand(|| (a.first & WordValue::splat((LAST + 1) * step - 1)).eq(WordValue::splat(0)));
                self.demand(|| (b.first & differ()).eq(differ()));
            }
        }
        Some(Following { first, step })
    }

    fn long(&mut self, v: Value) -> Option<Following<LongValue>> {
        self.left = self.left.checked_sub(1)?;
        Some(match self.node(v) {
            Node::Constant(n, _) => Following { first: self.make_long(|| LongValue::splat(n)), step: 0 },
            Node::Operator(op @ (Operator::Add | Operator::Sub), _, [a, b]) => {
                let (a, b) = (self.long(a)?, self.long(b)?);
                match op {
                    Operator::Add => self.sum(a, b)?,
                    // What counts down is nothing that accesses follow.
                    _ if b.step == 0 => {
                        Following { first: self.make_long(|| a.first - b.first), step: a.step }
                    }
                    _ => return None,
                }
            }
            Node::Word(word::join, [low, high, _], _) => self.joined(low, high)?,
            Node::Word(word::zext, [a, ..], _) => {
                let a = self.word(a)?;
                self.extended(a)?
            }
            Node::Word(word::sext, [a, ..], _) => {
                let a = self.word(a)?;
                // As long as nothing is negative, it is the same as with zeros.
                self.below(a, 1 << 31)?;
                Following { first: self.make_long(|| a.first.zext()), step: a.step }
            }
            Node::Word(word::mul_wide_u, [x, y, _], _) => {
                let (a, b) = (self.word(x)?, self.word(y)?);
                let (a, b, factor) = if b.step == 0 { (a, b, y) } else { (b, a, x) };
                let step = match (a.step, b.step) {
                    (0, 0) => 0,
                    (step, 0) => step.checked_mul(u32::try_from(self.constant(factor)?).ok()?)?,
                    _ => return None,
                };
                self.below(a, 1 << 32)?;
                if step > MOST_STEP {
                    return None;
                }
                Following { first: self.make_long(|| a.first.mul_wide_u(b.first)), step }
            }
            Node::Long(long::shl, [a, by, _], _) => {
                let (a, by) = (self.long(a)?, self.constant(by)? as u32 & 63);
                let step = a.step.checked_shl(by).filter(|s| s >> by == a.step && *s <= MOST_STEP)?;
                Following { first: self.make_long(|| a.first.shl(WordValue::splat(by))), step }
            }
            _ => return None,
        })
    }

    fn sum(&mut self, a: Following<LongValue>, b: Following<LongValue>) -> Option<Following<LongValue>> {
        let step = a.step.checked_add(b.step).filter(|s| *s <= MOST_STEP)?;
        Some(Following { first: self.make_long(|| a.first + b.first), step })
    }

    /// 64 bits from two words.
    fn joined(&mut self, low: Value, high: Value) -> Option<Following<LongValue>> {
        if let Some(x) = self.halves(low, high) {
            return self.long(x);
        }
        if let Some((terms, mut highs)) = self.carried(low, high) {
            let mut sum: Option<Following<LongValue>> = None;
            for term in terms {
                // A term with its own upper half, if that is there.
                let own = highs.iter().position(|&h| self.belong(term, h));
                let part = match own {
                    Some(i) => {
                        let high = highs.swap_remove(i);
                        self.joined(term, high)?
                    }
                    None => {
                        let term = self.word(term)?;
                        self.extended(term)?
                    }
                };
                sum = Some(match sum {
                    Some(sum) => self.sum(sum, part)?,
                    None => part,
                });
            }
            let mut sum = sum?;
            for high in highs {
                let high = self.word(high).filter(|h| h.step == 0)?;
                let upper = self.make_long(|| WordValue::splat(0).join(high.first));
                sum = self.sum(sum, Following { first: upper, step: 0 })?;
            }
            return Some(sum);
        }
        let (low, high) = (self.word(low)?, self.word(high).filter(|h| h.step == 0)?);
        self.below(low, 1 << 32)?;
        Some(Following { first: self.make_long(|| low.first.join(high.first)), step: low.step })
    }

    /// The value that two words are the halves of.
    fn halves(&self, low: Value, high: Value) -> Option<Value> {
        match (self.node(low), self.node(high)) {
            (Node::Long(long::lo, [x, ..], _), Node::Long(long::hi, [y, ..], _)) if x == y => Some(x),
            _ => None,
        }
    }

    /// Whether two words are the halves of a value or of a sum.
    fn belong(&self, low: Value, high: Value) -> bool {
        self.halves(low, high).is_some() || self.carried(low, high).is_some()
    }

    /// The lower terms of a sum of 64 bits, and the upper ones without the carry: low = a + b, high = … + (low < a).
    fn carried(&self, low: Value, high: Value) -> Option<([Value; 2], Vec<Value>)> {
        let Node::Operator(Operator::Add, _, terms) = self.node(low) else { return None };
        let is_carry = |v: Value| match self.node(v) {
            Node::Select(_, [mask, one, zero]) => {
                self.constant(one) == Some(1)
                    && self.constant(zero) == Some(0)
                    && matches!(self.node(mask), Node::Word(word::lt_u, [r, a, _], _)
                        if r == low && terms.contains(&a))
            }
            _ => false,
        };
        if is_carry(high) {
            return Some((terms, Vec::new()));
        }
        let Node::Operator(Operator::Add, _, [x, y]) = self.node(high) else { return None };
        let rest = if is_carry(y) {
            x
        } else if is_carry(x) {
            y
        } else {
            return None;
        };
        match self.node(rest) {
            // Unless they are a half of something themselves.
            Node::Operator(Operator::Add, _, [x, y]) if !terms.iter().any(|&t| self.belong(t, rest)) => {
                Some((terms, vec![x, y]))
            }
            _ => Some((terms, vec![rest])),
        }
    }
}
