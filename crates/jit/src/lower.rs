//! From a strip's program to vector instructions on values. A word of as many lanes as a vector has is a vector, a long two of
//! them (each with half of the lanes), a mask a mask register, or a vector where the host has no such registers.
//!
//! What is rarely needed is either left out, and a mask of the lanes that would have needed it checked before anything is
//! written ([`Version::Hopeful`]), or always done ([`Version::Careful`]). Where a strip's accesses go is a program of its own
//! ([`Version::Places`]), which runs first.

mod avx2;
mod logic;
mod memory;
mod nodes;
mod operations;
mod order;
mod packed;

use self::nodes::{is_word_compare, lower_half_of, spreads_nan};
use crate::allocate::{Class, Code, Home, Inst, Kind, NONE, V};
use crate::host::Host;
use crate::input::Input;
use crate::opcodes::*;
use crate::rooms::{Rooms, filled};
use crate::strip::Strip;
use crate::x86::Ins;
use std::mem::take;
use wavemill_sem::record::operation::{long, word};
use wavemill_sem::record::{Node, Operator, Type, Value};
use wavemill_sem::soft::Round;

/// What becomes of rare parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// They are left out; where they are needed, the code leaves before it has written anything.
    Hopeful,
    /// They are always done.
    Careful,
    /// They are always done, and nothing else than what it takes to check accesses.
    Places,
    /// The loads, for a strip that does them ahead.
    Loads,
}

/// The vectors of a value: a word or a mask has one, a long two.
type Pair = [V; 2];

/// Memory of one lowering, for the next.
#[derive(Default)]
struct Room {
    values: Vec<Pair>,
    uses: Vec<u32>,
    joined: Vec<bool>,
    in_order: Vec<bool>,
    leaves: Vec<(Home, V)>,
    /// By node: whether a rare part must be checked for.
    checks: Vec<bool>,
    covered: Vec<u32>,
    starts: Vec<usize>,
}

static ROOMS: Rooms<Room> = Rooms::new();

struct Lowerer<'a> {
    strip: &'a Strip,
    version: Version,
    code: Code,
    /// By node.
    values: Vec<Pair>,
    uses: Vec<u32>,
    /// By node: it may become one instruction with a node that uses it.
    joined: Vec<bool>,
    /// By node: a long's halves have lanes as conversions of words do, not as AVX2 puts words together.
    in_order: Vec<bool>,
    any_in_order: bool,
    leaves: Vec<(Home, V)>,
    /// Masks for the halves of longs, words whose halves are apart, and bits of places in tables.
    halves: Vec<(V, Pair)>,
    /// Lanes that need a rare part.
    needed: V,
    /// A value that must be no NaN, and in which lanes.
    pending: Option<(V, V)>,
    /// The address of an instruction of the strip.
    pcs: &'a dyn Fn(usize) -> u64,
    /// Accesses whose rows are filled, as bits.
    fetched: u32,
    /// Both halves of words are computed at once.
    packed: bool,
    /// What has been made so, of lower and upper halves.
    made_packed: Vec<((Value, Value), Pair)>,
}

/// Lowers a strip, whose instructions are at the addresses that `pcs` says.
pub fn lower(strip: &Strip, version: Version, host: Host, pcs: &dyn Fn(usize) -> u64) -> Code {
    let nodes = &strip.program.nodes;
    let mut room = ROOMS.take();
    let mut l = Lowerer {
        strip,
        version,
        code: Code::new(host),
        values: filled(take(&mut room.values), nodes.len(), [NONE; 2]),
        uses: filled(take(&mut room.uses), nodes.len(), 0),
        joined: filled(take(&mut room.joined), nodes.len(), false),
        in_order: filled(take(&mut room.in_order), nodes.len(), false),
        any_in_order: false,
        leaves: filled(take(&mut room.leaves), 0, (Home::None, NONE)),
        halves: Vec::new(),
        needed: NONE,
        pending: None,
        pcs,
        fetched: 0,
        packed: false,
        made_packed: Vec::new(),
    };
    l.packed = l.has_packed();
    l.count_uses(&mut room);
    let checks = &room.checks;
    let mut at = 0;
    let mut actives = strip.active.iter().peekable();
    let mut active = strip.active[0].1;
    while at < nodes.len() {
        while let Some(&&(from, mask)) = actives.peek() {
            if from as usize > at {
                break;
            }
            active = mask;
            actives.next();
        }
        match nodes[at] {
            Node::Rarely { mask, merge } if version == Version::Hopeful => {
                if checks[at] {
                    l.check(mask, active);
                }
                at = merge.0 as usize;
                continue;
            }
            Node::Rarely { .. } => {}
            Node::Merge(_, [_, _, common]) if version == Version::Hopeful => {
                if l.uses[at] > 0 {
                    l.values[at] = l.get(common);
                    l.in_order[at] = l.in_order[common.0 as usize];
                }
            }
            _ if l.uses[at] == 0 || l.deferred(at) || l.may_be_packed(at) => {}
            _ => {
                l.get(Value(at as u32));
            }
        }
        at += 1;
    }
    match version {
        Version::Places => l.verify(),
        Version::Loads => l.load(),
        _ => l.results(),
    }
    let Lowerer { code, values, uses, joined, in_order, leaves, .. } = l;
    ROOMS.put(Room { values, uses, joined, in_order, leaves, ..room });
    code
}

fn blank(kind: Kind) -> Inst {
    Inst { kind, ins: PADDD, dst: NONE, src: [NONE; 4], zero: false, round: None, imm: None }
}

/// A round mode as instructions have it.
fn rounding(round: Round) -> u8 {
    match round {
        Round::Nearest => 0,
        Round::Down => 1,
        Round::Up => 2,
        Round::Zero => 3,
    }
}

impl Lowerer<'_> {
    /// Writes what the strip leaves. All is computed before anything is written.
    fn results(&mut self) {
        let strip = self.strip;
        self.finish_checks();
        for &(_, value) in &strip.masks {
            self.get(value);
        }
        self.put();
        for &(register, value) in &strip.vgprs {
            let v = self.get(value)[0];
            self.push(Inst { src: [v, NONE, NONE, NONE], ..blank(Kind::Store(register)) });
        }
        for &(code, value) in &strip.masks {
            let v = self.get(value)[0];
            self.push(Inst { src: [v, NONE, NONE, NONE], ..blank(Kind::StoreLanes(code)) });
        }
    }

    /// Counts uses of what is needed, and finds the rare parts that must be checked for.
    fn count_uses(&mut self, room: &mut Room) {
        let nodes = &self.strip.program.nodes;
        let hopeful = self.version == Version::Hopeful;
        let Room { checks, covered, starts, .. } = room;
        *checks = filled(take(checks), nodes.len(), false);
        // Nodes whose NaNs are found, because they, or what is made of them, are looked at; and in which lanes.
        *covered = filled(take(covered), if hopeful { nodes.len() } else { 0 }, u32::MAX);
        let whole = matches!(self.version, Version::Hopeful | Version::Careful);
        let Strip { vgprs, masks, active, .. } = self.strip;
        let registers = vgprs.iter().map(|o| o.1).chain(masks.iter().map(|o| o.1));
        let all = registers.chain(active.iter().map(|o| o.1)).filter(|_| whole);
        for v in all.chain(self.access_values()) {
            self.uses[v.0 as usize] += 1;
        }
        let mut actives = self.strip.active.iter().rev().peekable();
        *starts = filled(take(starts), if hopeful { nodes.len() } else { 0 }, 0);
        if hopeful {
            for (i, node) in nodes.iter().enumerate() {
                if let Node::Rarely { merge, .. } = node {
                    starts[merge.0 as usize] = i;
                }
            }
        }
        let mut at = nodes.len();
        while at > 0 {
            at -= 1;
            while actives.peek().is_some_and(|a| a.0 as usize > at) {
                actives.next();
            }
            let active = actives.peek().map_or(0, |a| a.1.0);
            let node = &nodes[at];
            if hopeful {
                match *node {
                    Node::Merge(_, [_, _, common]) => {
                        // Whoever uses the merge uses the common value; the rare part is not there.
                        self.uses[common.0 as usize] += self.uses[at];
                        if covered[at] != u32::MAX && covered[common.0 as usize] == u32::MAX {
                            covered[common.0 as usize] = covered[at];
                        }
                        at = starts[at] + 1;
                        continue;
                    }
                    Node::Rarely { mask, merge } => {
                        if self.uses[merge.0 as usize] == 0 {
                            continue;
                        }
                        let nan = self.nan_of(mask);
                        if let Some(r) = nan
                            && spreads_nan(&nodes[r.0 as usize])
                        {
                            if covered[r.0 as usize] == active {
                                continue;
                            }
                            covered[r.0 as usize] = active;
                        }
                        checks[at] = true;
                        match nan {
                            Some(r) if self.shows_nan(r, Value(active)) => self.uses[r.0 as usize] += 1,
                            _ => self.uses[mask.0 as usize] += 1,
                        }
                        continue;
                    }
                    _ => {}
                }
            }
            if self.uses[at] == 0 {
                continue;
            }
            match *node {
                Node::Word(word::h2f, [a, ..], _) => self.uses[lower_half_of(nodes, a).0 as usize] += 1,
                _ => node.operands().iter().for_each(|v| self.uses[v.0 as usize] += 1),
            }
            self.note_joined(node);
            if hopeful && spreads_nan(node) && covered[at] != u32::MAX {
                let of = covered[at];
                for v in node.operands() {
                    covered[v.0 as usize] = of;
                }
            }
        }
    }

    /// The value of which a mask has the NaNs.
    fn nan_of(&self, mask: Value) -> Option<Value> {
        match self.strip.program.nodes[mask.0 as usize] {
            Node::Word(word::funord, [a, b, _], _) | Node::Long(long::funord, [a, b, _], _) if a == b => {
                Some(a)
            }
            _ => None,
        }
    }

    /// Whether a value's NaNs are found without the mask of its lanes: two words, or the halves of a long, take one compare.
    /// Halves only tell that there is one, in whatever lane.
    fn shows_nan(&self, v: Value, active: Value) -> bool {
        match self.strip.program.nodes[v.0 as usize].ty() {
            Some(Type::Word) => true,
            Some(Type::Long) => !self.narrow_host() && self.constant(active) == Some(1),
            _ => false,
        }
    }

    /// Compares that are used once are made where they are used, which may be under a mask, and so is what may become one
    /// instruction with what uses it.
    fn deferred(&self, at: usize) -> bool {
        self.uses[at] == 1 && (self.joined[at] || is_word_compare(&self.strip.program.nodes[at]))
    }

    fn get(&mut self, v: Value) -> Pair {
        let at = v.0 as usize;
        if self.values[at][0] == NONE {
            let node = self.strip.program.nodes[at];
            self.in_order[at] = self.narrow_host() && self.comes_in_order(at);
            self.values[at] = self.node(node, self.in_order[at]);
        }
        self.values[at]
    }

    fn push(&mut self, inst: Inst) {
        self.code.insts.push(inst);
    }

    fn leaf(&mut self, class: Class, home: Home) -> V {
        if let Some(&(_, v)) = self.leaves.iter().find(|(h, _)| *h == home) {
            return v;
        }
        let v = self.code.leaf(class, home);
        self.leaves.push((home, v));
        v
    }
    fn splat(&mut self, n: u32) -> V {
        self.leaf(Class::Vector, Home::Splat32(n))
    }
    fn splat64(&mut self, n: u64) -> V {
        self.leaf(Class::Vector, Home::Splat64(n))
    }
    fn vector(&mut self, x: &'static [u32; 16]) -> V {
        self.leaf(Class::Vector, Home::Vector(x))
    }

    fn made(&mut self, class: Class, inst: Inst) -> V {
        let dst = self.code.value(class);
        self.push(Inst { dst, ..inst });
        dst
    }
    fn binary(&mut self, ins: Ins, a: V, b: V) -> V {
        self.made(Class::Vector, Inst { ins, src: [a, b, NONE, NONE], ..blank(Kind::Binary) })
    }
    /// The same of operands that may be exchanged: what is in memory had better be the second.
    fn either(&mut self, ins: Ins, a: V, b: V) -> V {
        let (a, b) = if self.code.home(a) == Home::None { (a, b) } else { (b, a) };
        self.binary(ins, a, b)
    }
    fn unary(&mut self, ins: Ins, a: V) -> V {
        self.made(Class::Vector, Inst { ins, src: [a, NONE, NONE, NONE], ..blank(Kind::Unary) })
    }
    fn narrow(&mut self, ins: Ins, a: V, imm: Option<u8>) -> V {
        self.made(Class::Vector, Inst { ins, imm, src: [a, NONE, NONE, NONE], ..blank(Kind::Narrow) })
    }
    fn shift(&mut self, ins: Ins, how: u8, a: V, by: u8) -> V {
        self.made(
            Class::Vector,
            Inst { ins, imm: Some(by), src: [a, NONE, NONE, NONE], ..blank(Kind::Shift(how)) },
        )
    }
    /// A compare of words, or of halves of longs, in the lanes of a mask.
    fn compare(&mut self, ins: Ins, a: V, b: V, how: u8, under: V) -> V {
        if self.narrow_host() {
            return self.compare_to_vector(ins, a, b, how, under);
        }
        let under = if under != NONE && self.code.home(under) == Home::Ones { NONE } else { under };
        self.made(Class::Mask, Inst { ins, imm: Some(how), src: [a, b, NONE, under], ..blank(Kind::Compare) })
    }
    fn permute2(&mut self, a: V, index: &'static [u32; 16], b: V) -> V {
        let index = self.vector(index);
        self.made(Class::Vector, Inst { ins: PERMT2D, src: [a, index, b, NONE], ..blank(Kind::Tied) })
    }
    fn fma(&mut self, ins: Ins, a: V, b: V, c: V, round: Option<u8>) -> V {
        self.made(Class::Vector, Inst { ins, round, src: [a, b, c, NONE], ..blank(Kind::Fma) })
    }
    fn select(&mut self, ins: Ins, mask: V, t: V, f: V) -> V {
        if self.narrow_host() {
            return self.blend(if ins == BLENDQ { BLENDVPD } else { BLENDVPS }, mask, t, f);
        }
        self.made(Class::Vector, Inst { ins, src: [f, t, NONE, mask], ..blank(Kind::Binary) })
    }
    fn mask2(&mut self, how: MaskOperation, a: V, b: V) -> V {
        if self.narrow_host() {
            return self.either(how.vectors(), a, b);
        }
        let (prefix, op) = how.masks();
        self.made(Class::Mask, Inst { src: [a, b, NONE, NONE], ..blank(Kind::Mask2(prefix, op)) })
    }
    /// The lanes of a mask, as each half of a long has them.
    fn mask_halves(&mut self, mask: V) -> Pair {
        if let Some(&(_, halves)) = self.halves.iter().find(|(m, _)| *m == mask) {
            return halves;
        }
        let halves = match self.code.host {
            Host::Avx512 => {
                let (prefix, op) = KSHIFTR;
                let inst =
                    Inst { imm: Some(8), src: [mask, NONE, NONE, NONE], ..blank(Kind::Mask1(prefix, op)) };
                [mask, self.made(Class::Mask, inst)]
            }
            Host::Avx2 => self.unpack(mask, mask),
        };
        self.halves.push((mask, halves));
        halves
    }
    /// Whether masks are vectors, and instructions AVX2's.
    fn narrow_host(&self) -> bool {
        self.code.host == Host::Avx2
    }

    /// Notes that lanes which need a rare part are not for this version.
    fn check(&mut self, mask: Value, active: Value) {
        if self.check_packed(mask) {
            return;
        }
        let under = self.get(active)[0];
        if let Some(r) = self.nan_of(mask)
            && self.shows_nan(r, active)
        {
            let [v, upper] = self.get(r);
            if upper != NONE {
                let m = self.compare(CMPPD, v, upper, UNORDERED, NONE);
                return self.need(m);
            }
            match self.pending.take() {
                // One compare looks at two values.
                Some((other, lanes)) if lanes == under => self.check_nan(other, v, under),
                Some((other, lanes)) => {
                    self.check_nan(other, other, lanes);
                    self.pending = Some((v, under));
                }
                None => self.pending = Some((v, under)),
            }
            return;
        }
        let m = self.get(mask)[0];
        let all = self.code.home(under) == Home::Ones;
        let m = if all { m } else { self.mask2(MaskOperation::And, m, under) };
        self.need(m);
    }

    fn check_nan(&mut self, a: V, b: V, under: V) {
        let m = self.compare(CMPPS, a, b, UNORDERED, under);
        self.need(m);
    }

    fn need(&mut self, m: V) {
        self.needed = if self.needed == NONE { m } else { self.mask2(MaskOperation::Or, self.needed, m) };
    }

    fn finish_checks(&mut self) {
        if let Some((v, lanes)) = self.pending.take() {
            self.check_nan(v, v, lanes);
        }
        if self.needed != NONE {
            let src = [self.needed, NONE, NONE, NONE];
            self.push(Inst { src, ..blank(Kind::Check) });
        }
    }

    fn constant(&self, v: Value) -> Option<u64> {
        match self.strip.program.nodes[v.0 as usize] {
            Node::Constant(n, _) => Some(n),
            _ => None,
        }
    }

    /// What a node is; the halves of a long have their lanes in order or not.
    fn node(&mut self, node: Node, in_order: bool) -> Pair {
        match node {
            Node::Input(n, _) => match Input::of(n) {
                Input::Vgpr(r) => one(self.leaf(Class::Vector, Home::File(r))),
                Input::Sgpr(code) => one(self.leaf(Class::Vector, Home::Sgpr(code))),
                Input::Lanes(code) => one(self.leaf(Class::Mask, Home::Lanes(code))),
                // Strips have no scalar instructions.
                Input::Scc => one(self.leaf(Class::Mask, Home::Zeros)),
                Input::Loaded(n) => one(self.loaded(n)),
                Input::Moved(n) => one(self.leaf(Class::Vector, Home::Moved(n))),
                Input::LaneNumber => {
                    let first = self.made(Class::Vector, blank(Kind::FirstLane));
                    let lanes = self.vector(&LANES);
                    one(self.binary(PADDD, first, lanes))
                }
            },
            Node::Constant(n, Type::Word) => one(self.splat(n as u32)),
            Node::Constant(n, Type::Long) => {
                let v = self.splat64(n);
                [v, v]
            }
            Node::Constant(n, Type::Mask) => {
                one(self.leaf(Class::Mask, if n == 0 { Home::Zeros } else { Home::Ones }))
            }
            Node::Operator(op, Type::Mask, [a, b]) => self.mask_operator(op, a, b),
            Node::Operator(op, ty, [a, b]) => {
                if ty == Type::Word
                    && matches!(op, Operator::And | Operator::Or | Operator::Xor)
                    && let Some(made) = self.bits(op, a, b)
                {
                    return made;
                }
                let long = ty == Type::Long;
                let (a, b) = (self.get_ordered(a, in_order), self.get_ordered(b, in_order));
                let ins = match op {
                    Operator::Add => [PADDD, PADDQ][long as usize],
                    Operator::Sub => [PSUBD, PSUBQ][long as usize],
                    Operator::Mul => PMULLD,
                    Operator::And => [PANDD, PANDQ][long as usize],
                    Operator::Or => [PORD, PORQ][long as usize],
                    Operator::Xor => [PXORD, PXORQ][long as usize],
                };
                let commutes = op != Operator::Sub;
                self.each(long, |l, i| match commutes {
                    true => l.either(ins, a[i], b[i]),
                    false => l.binary(ins, a[i], b[i]),
                })
            }
            Node::Not(Type::Mask, a) => {
                if let Some(made) = self.not_below(a) {
                    return one(made);
                }
                if let Node::Word(word::eq, operands, _) = self.strip.program.nodes[a.0 as usize]
                    && self.values[a.0 as usize][0] == NONE
                    && self.deferred(a.0 as usize)
                    && let Some(made) = self.bits_tested(operands, false, NONE)
                {
                    return one(made);
                }
                let a = self.get(a)[0];
                if self.narrow_host() {
                    let ones = self.leaf(Class::Mask, Home::Ones);
                    return one(self.binary(PXORD, a, ones));
                }
                let (prefix, op) = KNOT;
                one(self
                    .made(Class::Mask, Inst { src: [a, NONE, NONE, NONE], ..blank(Kind::Mask1(prefix, op)) }))
            }
            Node::Not(ty, a) => {
                let a = self.get(a);
                let long = ty == Type::Long;
                let ones = if long { self.splat64(!0) } else { self.splat(!0) };
                self.each(long, |l, i| l.binary(if long { PXORQ } else { PXORD }, a[i], ones))
            }
            Node::Select(Type::Mask, [m, t, f]) | Node::Merge(Type::Mask, [m, t, f]) => {
                let (m, t, f) = (self.get(m)[0], self.get(t)[0], self.get(f)[0]);
                // ((t ^ f) & m) ^ f.
                let x = self.mask2(MaskOperation::Xor, t, f);
                let x = self.mask2(MaskOperation::And, x, m);
                one(self.mask2(MaskOperation::Xor, x, f))
            }
            Node::Select(ty, [m, t, f]) | Node::Merge(ty, [m, t, f]) => {
                if ty == Type::Word
                    && let Some(made) = self.change(m, t, f)
                {
                    return one(made);
                }
                let (m, t, f) = (self.get(m)[0], self.get_ordered(t, false), self.get_ordered(f, false));
                match ty {
                    Type::Long => {
                        let halves = self.mask_halves(m);
                        self.each(true, |l, i| l.select(BLENDQ, halves[i], t[i], f[i]))
                    }
                    _ => one(self.select(BLENDD, m, t[0], f[0])),
                }
            }
            Node::Lookup(a, table) => one(self.lookup(a, table)),
            Node::Neighbour(ty, a, control) => {
                let a = self.get(a)[0];
                one(self.neighbour(ty, a, control))
            }
            Node::Lanes(lanes) => one(self.leaf(Class::Mask, Home::Bits(lanes))),
            Node::Word(op, operands, round) => {
                if op == word::f2h_pair
                    && let Some(packed) = self.pack(operands[0], operands[1])
                {
                    return packed;
                }
                self.word(op, operands, round, in_order)
            }
            Node::Long(op, operands, round) => self.long(op, operands, round),
            // It is no value.
            Node::Rarely { .. } => [NONE; 2],
        }
    }

    /// Operations on masks; a compare that is used here only is made under the other operand.
    fn mask_operator(&mut self, op: Operator, a: Value, b: Value) -> Pair {
        let unmade = |l: &Self, v: Value| l.values[v.0 as usize][0] == NONE && l.deferred(v.0 as usize);
        if op == Operator::And && a != b {
            for (cmp, other) in [(a, b), (b, a)] {
                if let Node::Word(op, operands, _) = self.strip.program.nodes[cmp.0 as usize]
                    && unmade(self, cmp)
                {
                    let under = self.get(other)[0];
                    return one(self.word_compare(op, operands, under));
                }
            }
        }
        let (a, b) = (self.get(a)[0], self.get(b)[0]);
        let how = match op {
            Operator::And => MaskOperation::And,
            Operator::Or => MaskOperation::Or,
            _ => MaskOperation::Xor,
        };
        one(self.mask2(how, a, b))
    }

    fn each(&mut self, long: bool, mut f: impl FnMut(&mut Self, usize) -> V) -> Pair {
        let first = f(self, 0);
        if long { [first, f(self, 1)] } else { one(first) }
    }

    /// A compare of words, in the lanes of a mask.
    fn word_compare(&mut self, op: word, operands: [Value; 3], under: V) -> V {
        if op == word::eq
            && let Some(made) = self.bits_tested(operands, true, under)
        {
            return made;
        }
        let (a, b) = (self.get(operands[0])[0], self.get(operands[1])[0]);
        let (ins, how) = match op {
            word::eq => (PCMPD, INT_EQ),
            word::lt_u => (PCMPUD, INT_LESS),
            word::lt_i => (PCMPD, INT_LESS),
            word::flt => (CMPPS, LESS),
            word::feq => (CMPPS, EQ),
            _ => (CMPPS, UNORDERED),
        };
        let symmetric = matches!(op, word::eq | word::feq | word::funord);
        let (a, b) = if symmetric && self.code.home(a) != Home::None { (b, a) } else { (a, b) };
        self.compare(ins, a, b, how, under)
    }
}

fn one(v: V) -> Pair {
    [v, NONE]
}
