//! From a strip's program to AVX-512 instructions on values. A word of sixteen lanes is a vector, a long two of them (lanes 0
//! to 7, and 8 to 15), a mask a mask register.
//!
//! What is rarely needed is either left out, and a mask of the lanes that would have needed it checked before anything is
//! written ([`Version::Hopeful`]), or always done ([`Version::Careful`]). Where a strip's accesses go is a program of its own
//! ([`Version::Places`]), which runs first.

mod memory;
mod nodes;

use self::nodes::{is_word_compare, is_word_compare_op, spreads_nan};
use crate::allocate::{Class, Code, Home, Inst, Kind, NONE, REGISTERS_ONLY, V};
use crate::input::Input;
use crate::strip::Strip;
use crate::x86::{Ins, ins, whole};
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
}

/// An instruction whose last operand is a register, or of another size than the vector.
const fn registers(map: u8, pp: u8, w: u8, op: u8) -> Ins {
    Ins { map, pp, w, op, elem: REGISTERS_ONLY }
}

const PADDD: Ins = ins(1, 1, 0, 0xfe);
const PADDQ: Ins = ins(1, 1, 1, 0xd4);
const PSUBD: Ins = ins(1, 1, 0, 0xfa);
const PSUBQ: Ins = ins(1, 1, 1, 0xfb);
const PMULLD: Ins = ins(2, 1, 0, 0x40);
const PANDD: Ins = ins(1, 1, 0, 0xdb);
const PANDQ: Ins = ins(1, 1, 1, 0xdb);
const PORD: Ins = ins(1, 1, 0, 0xeb);
const PORQ: Ins = ins(1, 1, 1, 0xeb);
const PXORD: Ins = ins(1, 1, 0, 0xef);
const PXORQ: Ins = ins(1, 1, 1, 0xef);
const PCMPD: Ins = ins(3, 1, 0, 0x1f);
const PCMPUD: Ins = ins(3, 1, 0, 0x1e);
const PCMPQ: Ins = ins(3, 1, 1, 0x1f);
const PCMPUQ: Ins = ins(3, 1, 1, 0x1e);
const PSLLVD: Ins = ins(2, 1, 0, 0x47);
const PSRLVD: Ins = ins(2, 1, 0, 0x45);
const PSRAVD: Ins = ins(2, 1, 0, 0x46);
const PSLLVQ: Ins = ins(2, 1, 1, 0x47);
const PSRLVQ: Ins = ins(2, 1, 1, 0x45);
const PSRAVQ: Ins = ins(2, 1, 1, 0x46);
/// Shifts by an immediate: the extension says which.
const SHIFTD: Ins = registers(1, 1, 0, 0x72);
const SHIFTQ: Ins = registers(1, 1, 1, 0x73);
const SHIFTQ_ARITHMETIC: Ins = registers(1, 1, 1, 0x72);
const SHIFTW: Ins = registers(1, 1, 0, 0x71);
const RIGHT: u8 = 2;
const ARITHMETIC: u8 = 4;
const LEFT: u8 = 6;
const PMULUDQ: Ins = ins(1, 1, 1, 0xf4);
const PMULDQ: Ins = ins(2, 1, 1, 0x28);
const PMOVZXDQ: Ins = registers(2, 1, 0, 0x35);
const PMOVSXDQ: Ins = registers(2, 1, 0, 0x25);
const EXTRACT: Ins = registers(3, 1, 1, 0x3b);
const INSERT: Ins = registers(3, 1, 1, 0x3a);
const PERMT2D: Ins = ins(2, 1, 0, 0x7e);
const PSHUFB: Ins = whole(2, 1, 0, 0x00);
const BLENDD: Ins = ins(2, 1, 0, 0x64);
const BLENDQ: Ins = ins(2, 1, 1, 0x64);
const BLENDB: Ins = whole(2, 1, 0, 0x66);
const TESTB: Ins = whole(2, 1, 0, 0x26);
const ADDPS: Ins = ins(1, 0, 0, 0x58);
const ADDPD: Ins = ins(1, 1, 1, 0x58);
const MULPS: Ins = ins(1, 0, 0, 0x59);
const MULPD: Ins = ins(1, 1, 1, 0x59);
const CMPPS: Ins = ins(1, 0, 0, 0xc2);
const CMPPD: Ins = ins(1, 1, 1, 0xc2);
const FMAPS: Ins = ins(2, 1, 0, 0xb8);
const FMAPD: Ins = ins(2, 1, 1, 0xb8);
/// Predicates of float compares: none signals.
const EQ: u8 = 0;
const UNORDERED: u8 = 3;
const ORDERED: u8 = 7;
const DIFFERENT: u8 = 12;
const LESS: u8 = 17;
const NOT_BELOW: u8 = 29;
/// Predicates of integer compares.
const INT_EQ: u8 = 0;
const INT_LESS: u8 = 1;

const KAND: ((u8, u8, u8, u8), u8) = ((1, 0, 0, 1), 0x41);
const KOR: ((u8, u8, u8, u8), u8) = ((1, 0, 0, 1), 0x45);
const KXOR: ((u8, u8, u8, u8), u8) = ((1, 0, 0, 1), 0x47);
const KNOT: ((u8, u8, u8, u8), u8) = ((1, 0, 0, 0), 0x44);
const KUNPCK: ((u8, u8, u8, u8), u8) = ((1, 1, 0, 1), 0x4b);
const KSHIFTR: ((u8, u8, u8, u8), u8) = ((3, 1, 1, 0), 0x30);

static LANES: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
/// Low words of both, one by one; the lower eight lanes.
static JOIN_LOW: [u32; 16] = [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23];
static JOIN_HIGH: [u32; 16] = [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31];
static EVEN: [u32; 16] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];
static ODD: [u32; 16] = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31];
/// How many bits half a byte has, for each sixteen bytes.
static BIT_COUNTS: [u32; 16] = {
    let four = [0x0201_0100, 0x0302_0201, 0x0302_0201, 0x0403_0302];
    let mut all = [0; 16];
    let mut i = 0;
    while i < 16 {
        all[i] = four[i % 4];
        i += 1;
    }
    all
};
/// The first byte of each dword among sixteen bytes, four times.
static OWN_BYTES: [u32; 16] = {
    let four = [0, 0x0404_0404, 0x0808_0808, 0x0c0c_0c0c];
    let mut all = [0; 16];
    let mut i = 0;
    while i < 16 {
        all[i] = four[i % 4];
        i += 1;
    }
    all
};

/// The vectors of a value: a word or a mask has one, a long two.
type Pair = [V; 2];

struct Lowerer<'a> {
    strip: &'a Strip,
    version: Version,
    code: Code,
    /// By node.
    values: Vec<Pair>,
    uses: Vec<u32>,
    leaves: Vec<(Home, V)>,
    /// The upper eight lanes of masks.
    upper: Vec<(V, V)>,
    /// Lanes that need a rare part.
    needed: V,
    /// A value that must be no NaN, and in which lanes.
    pending: Option<(V, V)>,
    /// The address of an instruction of the strip.
    pcs: &'a dyn Fn(usize) -> u64,
    /// Accesses whose rows are filled, as bits.
    fetched: u32,
}

/// Lowers a strip, whose instructions are at the addresses that `pcs` says.
pub fn lower(strip: &Strip, version: Version, pcs: &dyn Fn(usize) -> u64) -> Code {
    let nodes = &strip.program.nodes;
    let mut l = Lowerer {
        strip,
        version,
        code: Code::default(),
        values: vec![[NONE; 2]; nodes.len()],
        uses: vec![0; nodes.len()],
        leaves: Vec::new(),
        upper: Vec::new(),
        needed: NONE,
        pending: None,
        pcs,
        fetched: 0,
    };
    let checks = l.count_uses();
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
                l.values[at] = l.values[common.0 as usize]
            }
            _ if l.uses[at] == 0 || l.deferred(at) => {}
            node => l.values[at] = l.node(node),
        }
        at += 1;
    }
    if version == Version::Places {
        l.verify();
        return l.code;
    }
    l.finish_checks();
    // All is computed before anything is written.
    for &(_, value) in &strip.masks {
        l.get(value);
    }
    l.put();
    for &(register, value) in &strip.vgprs {
        let v = l.get(value)[0];
        l.push(Inst { src: [v, NONE, NONE, NONE], ..blank(Kind::Store(register)) });
    }
    for &(code, value) in &strip.masks {
        let v = l.get(value)[0];
        l.push(Inst { src: [v, NONE, NONE, NONE], ..blank(Kind::StoreLanes(code)) });
    }
    l.code
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
    /// Counts uses of what is needed, and finds the rare parts that must be checked for.
    fn count_uses(&mut self) -> Vec<bool> {
        let nodes = &self.strip.program.nodes;
        let hopeful = self.version == Version::Hopeful;
        let mut checks = vec![false; nodes.len()];
        // Nodes whose NaNs are found, because they, or what is made of them, are looked at; and in which lanes.
        let mut covered = vec![u32::MAX; if hopeful { nodes.len() } else { 0 }];
        let places = self.version == Version::Places;
        let Strip { vgprs, masks, active, .. } = self.strip;
        let registers = vgprs.iter().map(|o| o.1).chain(masks.iter().map(|o| o.1));
        let all = registers.chain(active.iter().map(|o| o.1)).filter(|_| !places);
        for v in all.chain(self.access_values(places)) {
            self.uses[v.0 as usize] += 1;
        }
        let mut actives = self.strip.active.iter().rev().peekable();
        let mut starts = vec![0; if hopeful { nodes.len() } else { 0 }];
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
                            Some(r) if matches!(nodes[r.0 as usize].ty(), Some(Type::Word)) => {
                                self.uses[r.0 as usize] += 1;
                            }
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
            for v in node.operands() {
                self.uses[v.0 as usize] += 1;
            }
            if hopeful && spreads_nan(node) && covered[at] != u32::MAX {
                let of = covered[at];
                for v in node.operands() {
                    covered[v.0 as usize] = of;
                }
            }
        }
        checks
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

    /// Compares that are used once are made where they are used, which may be under a mask.
    fn deferred(&self, at: usize) -> bool {
        self.uses[at] == 1 && is_word_compare(&self.strip.program.nodes[at])
    }

    fn get(&mut self, v: Value) -> Pair {
        let at = v.0 as usize;
        if self.values[at][0] == NONE {
            self.values[at] = self.node(self.strip.program.nodes[at]);
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
    fn compare(&mut self, ins: Ins, a: V, b: V, how: u8, under: V) -> V {
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
        self.made(Class::Vector, Inst { ins, src: [f, t, NONE, mask], ..blank(Kind::Binary) })
    }
    fn mask2(&mut self, (prefix, op): ((u8, u8, u8, u8), u8), a: V, b: V) -> V {
        self.made(Class::Mask, Inst { src: [a, b, NONE, NONE], ..blank(Kind::Mask2(prefix, op)) })
    }
    /// The upper eight lanes of a mask.
    fn upper(&mut self, mask: V) -> V {
        if let Some(&(_, v)) = self.upper.iter().find(|(m, _)| *m == mask) {
            return v;
        }
        let (prefix, op) = KSHIFTR;
        let v = self.made(
            Class::Mask,
            Inst { imm: Some(8), src: [mask, NONE, NONE, NONE], ..blank(Kind::Mask1(prefix, op)) },
        );
        self.upper.push((mask, v));
        v
    }

    /// Notes that lanes which need a rare part are not for this version.
    fn check(&mut self, mask: Value, active: Value) {
        let under = self.get(active)[0];
        let nodes = &self.strip.program.nodes;
        if let Some(r) = self.nan_of(mask)
            && nodes[r.0 as usize].ty() == Some(Type::Word)
        {
            let v = self.get(r)[0];
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
        let m = self.mask2(KAND, m, under);
        self.need(m);
    }

    fn check_nan(&mut self, a: V, b: V, under: V) {
        let m = self.compare(CMPPS, a, b, UNORDERED, under);
        self.need(m);
    }

    fn need(&mut self, m: V) {
        self.needed = if self.needed == NONE { m } else { self.mask2(KOR, self.needed, m) };
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

    fn node(&mut self, node: Node) -> Pair {
        match node {
            Node::Input(n, _) => match Input::of(n) {
                Input::Vgpr(r) => one(self.leaf(Class::Vector, Home::File(r))),
                Input::Sgpr(code) => one(self.leaf(Class::Vector, Home::Sgpr(code))),
                Input::Lanes(code) => one(self.leaf(Class::Mask, Home::Lanes(code))),
                // Strips have no scalar instructions.
                Input::Scc => one(self.leaf(Class::Mask, Home::Zeros)),
                Input::Loaded(n) => one(self.loaded(n)),
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
                let (a, b) = (self.get(a), self.get(b));
                let long = ty == Type::Long;
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
                let a = self.get(a)[0];
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
                let x = self.mask2(KXOR, t, f);
                let x = self.mask2(KAND, x, m);
                one(self.mask2(KXOR, x, f))
            }
            Node::Select(ty, [m, t, f]) | Node::Merge(ty, [m, t, f]) => {
                let (m, t, f) = (self.get(m)[0], self.get(t), self.get(f));
                match ty {
                    Type::Long => {
                        let low = self.select(BLENDQ, m, t[0], f[0]);
                        let upper = self.upper(m);
                        [low, self.select(BLENDQ, upper, t[1], f[1])]
                    }
                    _ => one(self.select(BLENDD, m, t[0], f[0])),
                }
            }
            Node::Lookup(a, table) => {
                let a = self.get(a)[0];
                let len = self.splat(table.len() as u32);
                let inside = self.compare(PCMPUD, a, len, INT_LESS, NONE);
                let inst = Inst { src: [a, NONE, NONE, inside], ..blank(Kind::Gather(table)) };
                one(self.made(Class::Vector, inst))
            }
            Node::Word(op, operands, round) => self.word(op, operands, round),
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
            Operator::And => KAND,
            Operator::Or => KOR,
            _ => KXOR,
        };
        one(self.mask2(how, a, b))
    }

    fn each(&mut self, long: bool, mut f: impl FnMut(&mut Self, usize) -> V) -> Pair {
        let first = f(self, 0);
        if long { [first, f(self, 1)] } else { one(first) }
    }

    /// A compare of words, in the lanes of a mask.
    fn word_compare(&mut self, op: word, operands: [Value; 3], under: V) -> V {
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

    fn word(&mut self, op: word, operands: [Value; 3], round: Round) -> Pair {
        if is_word_compare_op(op) {
            return one(self.word_compare(op, operands, NONE));
        }
        let by = self.constant(operands[1]);
        let count = op.operands().len();
        let a = self.get(operands[0])[0];
        let b = if count > 1 { self.get(operands[1])[0] } else { NONE };
        let c = if count > 2 { self.get(operands[2])[0] } else { NONE };
        let rounded = Some(rounding(round));
        match op {
            word::eq | word::lt_u | word::lt_i | word::flt | word::feq | word::funord => [NONE; 2],
            word::shl => one(self.word_shift(PSLLVD, LEFT, a, b, by)),
            word::shr => one(self.word_shift(PSRLVD, RIGHT, a, b, by)),
            word::sar => one(self.word_shift(PSRAVD, ARITHMETIC, a, b, by)),
            word::min_u => one(self.either(ins(2, 1, 0, 0x3b), a, b)),
            word::max_u => one(self.either(ins(2, 1, 0, 0x3f), a, b)),
            word::min_i => one(self.either(ins(2, 1, 0, 0x39), a, b)),
            word::max_i => one(self.either(ins(2, 1, 0, 0x3d), a, b)),
            word::mul_hi_u => one(self.multiply_high(PMULUDQ, a, b)),
            word::mul_hi_i => one(self.multiply_high(PMULDQ, a, b)),
            word::mul_wide_u => self.multiply_wide(PMOVZXDQ, PMULUDQ, a, b),
            word::mul_wide_i => self.multiply_wide(PMOVSXDQ, PMULDQ, a, b),
            word::zext => self.widen(PMOVZXDQ, a),
            word::sext => self.widen(PMOVSXDQ, a),
            word::join => self.join(a, b),
            word::count_ones => {
                let (table, low) = (self.vector(&BIT_COUNTS), self.splat(0x0f0f_0f0f));
                let first = self.binary(PANDD, a, low);
                let second = self.shift(SHIFTW, RIGHT, a, 4);
                let second = self.binary(PANDD, second, low);
                let (first, second) = (self.binary(PSHUFB, table, first), self.binary(PSHUFB, table, second));
                let bytes = self.binary(whole(1, 1, 0, 0xfc), first, second);
                let ones = self.splat(0x0101_0101);
                let halves = self.binary(whole(2, 1, 0, 0x04), bytes, ones);
                let ones = self.splat(0x0001_0001);
                one(self.binary(whole(1, 1, 0, 0xf5), halves, ones))
            }
            word::leading_zeros => one(self.unary(ins(2, 1, 0, 0x44), a)),
            word::permute_bytes => {
                let (low, own) = (self.splat(0x0303_0303), self.vector(&OWN_BYTES));
                let at = self.binary(PANDD, c, low);
                let at = self.binary(PORD, at, own);
                let four = self.splat(0x0404_0404);
                let upper = self.made(
                    Class::Mask,
                    Inst { ins: TESTB, src: [c, four, NONE, NONE], ..blank(Kind::Compare) },
                );
                let (a, b) = (self.binary(PSHUFB, a, at), self.binary(PSHUFB, b, at));
                one(self.select(BLENDB, upper, a, b))
            }
            word::sext_even_bytes => {
                let up = self.shift(SHIFTW, LEFT, a, 8);
                one(self.shift(SHIFTW, ARITHMETIC, up, 8))
            }
            word::sad_u8 => {
                // The instruction sums eight bytes: four of them are zero.
                let sad = whole(1, 1, 0, 0xf6);
                let low = self.splat64(0xffff_ffff);
                let (x, y) = (self.binary(PANDQ, a, low), self.binary(PANDQ, b, low));
                let even = self.binary(sad, x, y);
                let (x, y) = (self.shift(SHIFTQ, RIGHT, a, 32), self.shift(SHIFTQ, RIGHT, b, 32));
                let odd = self.binary(sad, x, y);
                let odd = self.shift(SHIFTQ, LEFT, odd, 32);
                one(self.binary(PORQ, even, odd))
            }
            word::dot_i16 => one(self.binary(whole(1, 1, 0, 0xf5), a, b)),
            word::fadd => one(self.either(ADDPS, a, b)),
            word::fsub => one(self.binary(ins(1, 0, 0, 0x5c), a, b)),
            word::fmul => one(self.either(MULPS, a, b)),
            word::fdiv => one(self.binary(ins(1, 0, 0, 0x5e), a, b)),
            word::fsqrt => one(self.unary(ins(1, 0, 0, 0x51), a)),
            word::ffma => one(self.fma(FMAPS, a, b, c, None)),
            word::fadd_round => one(self.rounded(ADDPS, a, b, rounded)),
            word::fmul_round => one(self.rounded(MULPS, a, b, rounded)),
            word::ffma_round => one(self.fma(FMAPS, a, b, c, rounded)),
            word::ffma_odd => {
                let one_bit = self.splat(1);
                one(self.fma_odd((FMAPS, CMPPS, PORD, BLENDD), one_bit, a, b, c))
            }
            word::ftrunc => one(self.integer(ins(3, 1, 0, 0x08), a, 11)),
            word::ffloor => one(self.integer(ins(3, 1, 0, 0x08), a, 9)),
            word::frint => one(self.integer(ins(3, 1, 0, 0x08), a, 8)),
            word::i2f => one(self.unary(ins(1, 0, 0, 0x5b), a)),
            word::u2f => one(self.unary(ins(1, 3, 0, 0x7a), a)),
            word::f2i => {
                // Too small gives the least number as it is; NaN gives zero.
                let limit = self.splat(2_147_483_648f32.to_bits());
                let large = self.compare(CMPPS, a, limit, NOT_BELOW, NONE);
                let number = self.compare(CMPPS, a, a, ORDERED, NONE);
                let r = self.zeroing(ins(1, 2, 0, 0x5b), a, number);
                let most = self.splat(i32::MAX as u32);
                one(self.select(BLENDD, large, most, r))
            }
            word::f2u => {
                // Too large gives all ones as it is; negative numbers and NaN give zero.
                let zero = self.splat(0);
                let inside = self.compare(CMPPS, a, zero, NOT_BELOW, NONE);
                one(self.zeroing(ins(1, 0, 0, 0x78), a, inside))
            }
            word::h2f => {
                let halves = self.narrow(registers(2, 2, 0, 0x33), a, None);
                one(self.unary(registers(2, 1, 0, 0x13), halves))
            }
            word::f2h => one(self.half(a, 0)),
            word::f2h_round => one(self.half(a, rounding(round))),
            word::f2d => self.widen(registers(1, 0, 0, 0x5a), a),
            word::i2d => self.widen(registers(1, 2, 0, 0xe6), a),
            word::u2d => self.widen(registers(1, 2, 0, 0x7a), a),
        }
    }

    fn long(&mut self, op: long, operands: [Value; 3], round: Round) -> Pair {
        let by = self.constant(operands[1]);
        let count = op.operands().len();
        let a = self.get(operands[0]);
        let b = if count > 1 { self.get(operands[1]) } else { [NONE; 2] };
        let c = if count > 2 { self.get(operands[2]) } else { [NONE; 2] };
        let rounded = Some(rounding(round));
        let two = |l: &mut Self, ins: Ins| [l.either(ins, a[0], b[0]), l.either(ins, a[1], b[1])];
        match op {
            long::lo => one(self.permute2(a[0], &EVEN, a[1])),
            long::hi => one(self.permute2(a[0], &ODD, a[1])),
            long::eq => self.long_compare(PCMPQ, a, b, INT_EQ),
            long::lt_u => self.long_compare(PCMPUQ, a, b, INT_LESS),
            long::lt_i => self.long_compare(PCMPQ, a, b, INT_LESS),
            long::shl => self.long_shift(PSLLVQ, (SHIFTQ, LEFT), a, b[0], by),
            long::shr => self.long_shift(PSRLVQ, (SHIFTQ, RIGHT), a, b[0], by),
            long::sar => self.long_shift(PSRAVQ, (SHIFTQ_ARITHMETIC, ARITHMETIC), a, b[0], by),
            long::fadd => two(self, ADDPD),
            long::fsub => self.each(true, |l, i| l.binary(ins(1, 1, 1, 0x5c), a[i], b[i])),
            long::fmul => two(self, MULPD),
            long::fdiv => self.each(true, |l, i| l.binary(ins(1, 1, 1, 0x5e), a[i], b[i])),
            long::fsqrt => self.each(true, |l, i| l.unary(ins(1, 1, 1, 0x51), a[i])),
            long::ffma => self.each(true, |l, i| l.fma(FMAPD, a[i], b[i], c[i], None)),
            long::fadd_round => self.each(true, |l, i| l.rounded(ADDPD, a[i], b[i], rounded)),
            long::fmul_round => self.each(true, |l, i| l.rounded(MULPD, a[i], b[i], rounded)),
            long::ffma_round => self.each(true, |l, i| l.fma(FMAPD, a[i], b[i], c[i], rounded)),
            long::ffma_odd => {
                let one_bit = self.splat64(1);
                self.each(true, |l, i| l.fma_odd((FMAPD, CMPPD, PORQ, BLENDQ), one_bit, a[i], b[i], c[i]))
            }
            long::flt => self.long_compare(CMPPD, a, b, LESS),
            long::feq => self.long_compare(CMPPD, a, b, EQ),
            long::funord => self.long_compare(CMPPD, a, b, UNORDERED),
            long::ftrunc => self.each(true, |l, i| l.integer(ins(3, 1, 1, 0x09), a[i], 11)),
            long::ffloor => self.each(true, |l, i| l.integer(ins(3, 1, 1, 0x09), a[i], 9)),
            long::frint => self.each(true, |l, i| l.integer(ins(3, 1, 1, 0x09), a[i], 8)),
            long::d2f => {
                let halves = a.map(|a| self.unary(ins(1, 1, 1, 0x5a), a));
                one(self.insert(halves))
            }
            long::d2f_round => {
                let halves = a.map(|a| {
                    let src = [a, NONE, NONE, NONE];
                    self.made(
                        Class::Vector,
                        Inst { ins: ins(1, 1, 1, 0x5a), round: rounded, src, ..blank(Kind::Unary) },
                    )
                });
                one(self.insert(halves))
            }
            long::d2i => {
                let limit = self.splat64(2_147_483_648f64.to_bits());
                let large = self.long_compare_with(CMPPD, a, [limit; 2], NOT_BELOW);
                let halves = a.map(|a| {
                    let number = self.compare(CMPPD, a, a, ORDERED, NONE);
                    self.zeroing(ins(1, 1, 1, 0xe6), a, number)
                });
                let r = self.insert(halves);
                let most = self.splat(i32::MAX as u32);
                one(self.select(BLENDD, large, most, r))
            }
            long::d2u => {
                let zero = self.splat64(0);
                let halves = a.map(|a| {
                    let inside = self.compare(CMPPD, a, zero, NOT_BELOW, NONE);
                    self.zeroing(ins(1, 0, 1, 0x78), a, inside)
                });
                one(self.insert(halves))
            }
        }
    }

    fn word_shift(&mut self, variable: Ins, how: u8, a: V, b: V, by: Option<u64>) -> V {
        match by {
            Some(n) => self.shift(SHIFTD, how, a, n as u8 & 31),
            None => {
                let most = self.splat(31);
                let b = self.binary(PANDD, b, most);
                self.binary(variable, a, b)
            }
        }
    }

    fn long_shift(&mut self, variable: Ins, (ins, how): (Ins, u8), a: Pair, b: V, by: Option<u64>) -> Pair {
        if let Some(n) = by {
            return self.each(true, |l, i| l.shift(ins, how, a[i], n as u8 & 63));
        }
        let most = self.splat(63);
        let b = self.binary(PANDD, b, most);
        let b = self.widen(PMOVZXDQ, b);
        self.each(true, |l, i| l.binary(variable, a[i], b[i]))
    }

    fn multiply_high(&mut self, multiply: Ins, a: V, b: V) -> V {
        let even = self.binary(multiply, a, b);
        let even = self.shift(SHIFTQ, RIGHT, even, 32);
        let (a, b) = (self.shift(SHIFTQ, RIGHT, a, 32), self.shift(SHIFTQ, RIGHT, b, 32));
        let odd = self.binary(multiply, a, b);
        let high = self.splat64(0xffff_ffff_0000_0000);
        let odd = self.binary(PANDQ, odd, high);
        self.binary(PORQ, even, odd)
    }

    fn multiply_wide(&mut self, widen: Ins, multiply: Ins, a: V, b: V) -> Pair {
        let (a, b) = (self.widen(widen, a), self.widen(widen, b));
        self.each(true, |l, i| l.binary(multiply, a[i], b[i]))
    }

    /// Eight lanes each from the halves of a vector.
    fn widen(&mut self, ins: Ins, a: V) -> Pair {
        let low = self.unary(ins, a);
        let upper = self.narrow(EXTRACT, a, Some(1));
        [low, self.unary(ins, upper)]
    }

    /// Sixteen lanes from two halves.
    fn insert(&mut self, [low, high]: Pair) -> V {
        self.made(
            Class::Vector,
            Inst { ins: INSERT, imm: Some(1), src: [low, high, NONE, NONE], ..blank(Kind::Binary) },
        )
    }

    fn join(&mut self, a: V, b: V) -> Pair {
        if let (Home::Sgpr(low), Home::Sgpr(high)) = (self.code.home(a), self.code.home(b))
            && low + 1 == high
        {
            let v = self.leaf(Class::Vector, Home::SgprPair(low));
            return [v, v];
        }
        [self.permute2(a, &JOIN_LOW, b), self.permute2(a, &JOIN_HIGH, b)]
    }

    fn long_compare(&mut self, ins: Ins, a: Pair, b: Pair, how: u8) -> Pair {
        one(self.long_compare_with(ins, a, b, how))
    }

    fn long_compare_with(&mut self, ins: Ins, a: Pair, b: Pair, how: u8) -> V {
        let low = self.compare(ins, a[0], b[0], how, NONE);
        let high = self.compare(ins, a[1], b[1], how, NONE);
        self.mask2(KUNPCK, high, low)
    }

    fn rounded(&mut self, ins: Ins, a: V, b: V, round: Option<u8>) -> V {
        self.made(Class::Vector, Inst { ins, round, src: [a, b, NONE, NONE], ..blank(Kind::Binary) })
    }

    /// To odd: toward zero, and the last bit set where that was inexact.
    fn fma_odd(
        &mut self,
        (fma, compare, or, blend): (Ins, Ins, Ins, Ins),
        one_bit: V,
        a: V,
        b: V,
        c: V,
    ) -> V {
        let up = self.fma(fma, a, b, c, Some(rounding(Round::Up)));
        let down = self.fma(fma, a, b, c, Some(rounding(Round::Down)));
        let zero = self.fma(fma, a, b, c, Some(rounding(Round::Zero)));
        let inexact = self.compare(compare, up, down, DIFFERENT, NONE);
        let odd = self.binary(or, zero, one_bit);
        self.select(blend, inexact, odd, zero)
    }

    fn integer(&mut self, ins: Ins, a: V, how: u8) -> V {
        self.made(
            Class::Vector,
            Inst { ins, imm: Some(how), src: [a, NONE, NONE, NONE], ..blank(Kind::Unary) },
        )
    }

    fn zeroing(&mut self, ins: Ins, a: V, mask: V) -> V {
        self.made(Class::Vector, Inst { ins, zero: true, src: [a, NONE, NONE, mask], ..blank(Kind::Unary) })
    }

    fn half(&mut self, a: V, round: u8) -> V {
        let halves = self.narrow(registers(3, 1, 0, 0x1d), a, Some(round));
        self.unary(registers(2, 1, 0, 0x33), halves)
    }
}

fn one(v: V) -> Pair {
    [v, NONE]
}
