//! MFMA: D = A · B + C over random matrices, compared with the interpreter.
//!
//! Sources: the manual's chapter 7 for shapes, broadcasts and denormals; AMD's matrix instruction calculator for where
//! elements lie; for the sums what MMA-Sim's authors measured (arXiv 2511.10909): f32 and f64 one fused step for each k
//! from C on; 16 bits on gfx90a products, pairs, then C, each rounded and flushed, on gfx908 an exact sum for each
//! group. Which NaN comes out nobody has published: any will do.

use crate::compare::{Bench, Difference, ENDPGM, Report};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use wavemill_asm::{Options, OutputType, assemble};
use wavemill_isa::row::{Enc, Form, Role};
use wavemill_isa::{Level, ROWS, Row, Target};
use wavemill_testing::Random;
use wavemill_wave::{Event, GroupShared, Memory, Shape, Wave};

const NEAR: Round = Round::NearestTiesToEven;
/// Registers of each kind: A and B lie in the first sixteen, C and D behind them.
const REGISTERS: u16 = 96;

/// A matrix instruction, as its name and its number of registers tell it.
struct Matrix {
    name: &'static str,
    size: usize,
    depth: usize,
    blocks: usize,
    kind: Kind,
    /// Numbers of k that one lane holds.
    per_lane: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    I8,
    F16,
    Bf16,
    F32,
    F64,
}

impl Kind {
    fn bits(self) -> usize {
        match self {
            Kind::I8 => 8,
            Kind::F16 | Kind::Bf16 => 16,
            Kind::F32 => 32,
            Kind::F64 => 64,
        }
    }
}

impl Matrix {
    fn of(row: &'static Row) -> Option<Matrix> {
        let rest = row.name.strip_prefix("v_mfma_")?;
        let (_, rest) = rest.split_once('_')?;
        let mut parts = rest.splitn(3, 'x');
        let size: usize = parts.next()?.parse().ok()?;
        let last = parts.nth(1)?;
        let digits = last.find(|c: char| !c.is_ascii_digit())?;
        let depth: usize = last[..digits].parse().ok()?;
        let kind = match last[digits..].trim_end_matches("_1k") {
            "i8" => Kind::I8,
            "f16" => Kind::F16,
            "bf16" => Kind::Bf16,
            "f32" => Kind::F32,
            "f64" => Kind::F64,
            _ => return None,
        };
        let registers = row.operand(Role::Vdst)?.ty.dwords() as usize / if kind == Kind::F64 { 2 } else { 1 };
        let blocks = registers * 64 / (size * size);
        Some(Matrix { name: row.name, size, depth, blocks, kind, per_lane: size * depth * blocks / 64 })
    }

    /// Lane and place in it of A's element of a row (B's of a column).
    fn factor(&self, at: usize, k: usize, block: usize) -> (usize, usize) {
        match (self.kind, self.size) {
            (Kind::F64, 4) => (16 * k + 4 * block + at, 0),
            _ if self.blocks == 1 => (self.size * (k / self.per_lane) + at, k % self.per_lane),
            _ => (self.size * block + at, k),
        }
    }

    /// Register (the first of a pair for f64) and lane of C's and D's element.
    fn sum(&self, i: usize, j: usize, block: usize) -> (usize, usize) {
        match (self.kind, self.size) {
            (Kind::F64, 16) => (2 * (i / 4), 16 * (i % 4) + j),
            (Kind::F64, _) => (0, 16 * i + 4 * block + j),
            (_, 32) => (16 * block + 4 * (i / 8) + i % 4, 32 * (i / 4) % 64 + j),
            (_, 16) => (4 * block + i % 4, 16 * (i / 4) + j),
            _ => (i, 4 * block + j),
        }
    }

    fn factor_registers(&self) -> usize {
        (self.per_lane * self.kind.bits()).div_ceil(32)
    }

    fn sum_registers(&self) -> usize {
        let wide = if self.kind == Kind::F64 { 2 } else { 1 };
        self.size * self.size * self.blocks / 64 * wide
    }
}

/// An element of D.
fn element(m: &Matrix, level: Level, mode: u32, a: &[u64], b: &[u64], c: u64) -> u64 {
    match m.kind {
        Kind::I8 => {
            let products = a.iter().zip(b).map(|(&a, &b)| i64::from(a as i8) * i64::from(b as i8));
            (c as i32 as i64 + products.sum::<i64>()) as u32 as u64
        }
        // MODE's denormals count, its rounding does not; f64 ignores both (manual 7.1).
        Kind::F32 => fused::<Single>(a, b, c, mode >> 4 & 1 == 0, mode >> 5 & 1 == 0),
        Kind::F64 => fused::<Double>(a, b, c, false, false),
        Kind::F16 if level == Level::Gfx908 => exact::<Half>(a, b, c, 4),
        Kind::Bf16 if level == Level::Gfx908 => exact::<BFloat>(a, b, c, 2),
        Kind::F16 => pairs::<Half>(a, b, c, 4),
        Kind::Bf16 => pairs::<BFloat>(a, b, c, if m.name.ends_with("_1k") { 4 } else { 2 }),
    }
}

fn zero_if<F: Float>(x: F, flush: bool, keep_sign: bool) -> F {
    match flush && x.is_denormal() {
        true if keep_sign && x.is_negative() => -F::ZERO,
        true => F::ZERO,
        false => x,
    }
}

fn fused<F: Float>(a: &[u64], b: &[u64], c: u64, flush_in: bool, flush_out: bool) -> u64 {
    let input = |v: u64| zero_if(F::from_bits(v as u128), flush_in, true);
    let mut sum = F::from_bits(c as u128);
    for (&a, &b) in a.iter().zip(b) {
        let c = zero_if(sum, flush_in, true);
        sum = zero_if(input(a).mul_add_r(input(b), c, NEAR).value, flush_out, true);
    }
    sum.to_bits() as u64
}

fn pairs<T: Float + FloatConvert<Single>>(a: &[u64], b: &[u64], c: u64, group: usize) -> u64 {
    let factor =
        |v: u64| -> Single { zero_if(T::from_bits(v as u128), true, false).convert(&mut false).value };
    let product = |a: u64, b: u64| zero_if(factor(a).mul_r(factor(b), NEAR).value, true, true);
    let add = |x: Single, y: Single| zero_if(x.add_r(y, NEAR).value, true, true);
    let mut sum = zero_if(Single::from_bits(c as u128), true, false);
    for (a, b) in a.chunks(group).zip(b.chunks(group)) {
        let p: Vec<Single> = a.iter().zip(b).map(|(&a, &b)| product(a, b)).collect();
        let halves: Vec<Single> = p.chunks(2).map(|p| add(p[0], p[1])).collect();
        let all = if group == 4 { add(halves[0], halves[1]) } else { halves[0] };
        sum = add(sum, all);
    }
    sum.to_bits() as u64
}

/// Sums of products as whole numbers of a unit that all of them have: schoolbook arithmetic, digit by digit.
fn exact<T: Float + FloatConvert<Single>>(a: &[u64], b: &[u64], c: u64, group: usize) -> u64 {
    let wide = |v: u64| -> f32 {
        let single: Single = T::from_bits(v as u128).convert(&mut false).value;
        f32::from_bits(single.to_bits() as u32)
    };
    let mut sum = f32::from_bits(c as u32);
    for (a, b) in a.chunks(group).zip(b.chunks(group)) {
        let factors: Vec<(f32, f32)> = a.iter().zip(b).map(|(&a, &b)| (wide(a), wide(b))).collect();
        let special = factors.iter().map(|(a, b)| f64::from(*a) * f64::from(*b)).chain([sum.into()]);
        if special.clone().any(|t| !t.is_finite()) {
            sum = special.sum::<f64>() as f32;
            continue;
        }
        let mut digits = Digits::default();
        for (a, b) in factors {
            let ((x, e), (y, f)) = (parts(a), parts(b));
            digits.add(x * y, e + f);
        }
        let (x, e) = parts(sum);
        digits.add(x, e);
        sum = digits.rounded();
    }
    sum.to_bits() as u64
}

/// A number as an integer times a power of two.
fn parts(x: f32) -> (i64, i32) {
    let bits = x.to_bits();
    let (field, fraction) = ((bits >> 23 & 0xff) as i32, i64::from(bits & 0x7f_ffff));
    let (whole, power) = if field == 0 { (fraction, -149) } else { (fraction | 1 << 23, field - 150) };
    (if bits >> 31 != 0 { -whole } else { whole }, power)
}

/// Signed digits of sixteen bits, the lowest worth 2^-304; carries are settled at the end.
struct Digits([i128; 40]);

impl Default for Digits {
    fn default() -> Digits {
        Digits([0; 40])
    }
}

impl Digits {
    fn add(&mut self, n: i64, power: i32) {
        let at = (power + 304) as usize;
        self.0[at / 16] += i128::from(n) << (at % 16);
    }

    fn rounded(mut self) -> f32 {
        let mut carry = 0;
        for d in &mut self.0 {
            *d += carry;
            carry = *d >> 16;
            *d &= 0xffff;
        }
        if carry < 0 {
            // Below zero: what it takes from the next power is the magnitude.
            let mut more = 1;
            for d in &mut self.0 {
                *d = (0xffff - *d) + more;
                more = *d >> 16;
                *d &= 0xffff;
            }
        }
        if carry < 0 { -magnitude(&self.0) } else { magnitude(&self.0) }
    }
}

/// To nearest: the four highest digits make a double whose last bit says whether there was more.
fn magnitude(digits: &[i128; 40]) -> f32 {
    let Some(top) = digits.iter().rposition(|&d| d != 0) else { return 0.0 };
    let low = top.saturating_sub(2);
    let upper = digits[low..=top].iter().rev().fold(0i64, |n, &d| n << 16 | d as i64);
    let more = digits[..low].iter().any(|&d| d != 0);
    // 33 to 48 bits and one more are exact in a double, and so is their product with a power of two.
    let wide = (upper << 1 | i64::from(more)) as f64;
    let power = 16 * low as i32 - 304 - 1;
    (wide * 2f64.powi(power / 2) * 2f64.powi(power - power / 2)) as f32
}

/// Random numbers of all kinds; what cannot be added to without a trace is rare.
fn number(r: &mut Random, kind: Kind, specials: bool) -> u64 {
    let (exponent, fraction) = match kind {
        Kind::I8 => return r.next() >> 9 & 0xff,
        Kind::F16 => (5, 10),
        Kind::Bf16 => (8, 7),
        Kind::F32 => (8, 23),
        Kind::F64 => (11, 52),
    };
    let infinity = ((1u64 << exponent) - 1) << fraction;
    let any = r.next() >> 5 & ((1 << fraction) - 1);
    let bias = (1u64 << (exponent - 1)) - 1;
    let magnitude = match r.below(16) {
        0 => 0,
        1 => any,
        2 => 1 << fraction | any,
        3 if specials => infinity,
        4 if specials => infinity | any | 1,
        5 => infinity - 1,
        6 => (r.next() >> 7) % infinity,
        7 | 8 => (bias / 2 + r.below(3)) << fraction | any,
        9 => bias << fraction,
        _ => (bias - 8 + r.below(16)).min(2 * bias) << fraction | any,
    };
    magnitude | (r.next() >> 11 & 1) << (exponent + fraction)
}

/// Runs every matrix instruction of a processor `runs` times; `pick` says which.
pub fn compare(cpu: &str, seed: u64, runs: usize, pick: &dyn Fn(&str) -> bool) -> Report {
    let bench = Bench::new(cpu);
    let level = bench.target.level();
    let mut report = Report::default();
    let rows = ROWS.iter().filter(|r| r.enc == Enc::Mfma && r.opcode_at(level).is_some() && pick(r.name));
    for (index, row) in rows.enumerate() {
        let Some(matrix) = Matrix::of(row) else {
            report.missing.push(row.name);
            continue;
        };
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9) ^ (index as u64 + 1) << 24 | 1);
        for run in 0..runs {
            let key = (row.name, Form::Base as u8);
            match one(&mut random, &matrix, &bench, run) {
                Ok(cases) => *report.cases.entry(key).or_default() += cases,
                Err(text) => {
                    let difference = Difference { name: row.name, form: Form::Base, text };
                    report.differences.entry(key).or_insert((0, difference)).0 += 1;
                }
            }
        }
    }
    report
}

/// One instruction, on one back end.
fn one(r: &mut Random, m: &Matrix, bench: &Bench, run: usize) -> Result<u64, String> {
    let target = &bench.target;
    let level = target.level();
    let gfx90a = level == Level::Gfx90a;
    let range = |kind: char, first: usize, n: usize| match n {
        1 => format!("{kind}{first}"),
        n => format!("{kind}[{first}:{}]", first + n - 1),
    };
    // gfx908 sums in accumulators, gfx90a where it likes.
    let sums = if gfx90a && r.one_in(2) { 'v' } else { 'a' };
    let in_place = r.one_in(3);
    let constant = (gfx90a && r.one_in(6)).then(|| {
        let f32 = |n: f32| u64::from(n.to_bits());
        match m.kind {
            Kind::I8 => [("-7", -7i32 as u32 as u64), ("64", 64)][r.below(2) as usize],
            Kind::F64 => [("-4.0", (-4f64).to_bits()), ("0.5", 0.5f64.to_bits())][r.below(2) as usize],
            _ => [("-4.0", f32(-4.0)), ("1.0", f32(1.0))][r.below(2) as usize],
        }
    });
    let (n, from, to) = (m.sum_registers(), 16, if in_place { 16 } else { 56 });
    let (cbsz, abid, blgp) = match m.kind {
        Kind::F64 => (0, 0, 0),
        _ => {
            let most = m.blocks.trailing_zeros() as u64;
            let cbsz = if r.one_in(2) { 0 } else { r.below(most + 1) };
            (cbsz, if cbsz == 0 { 0 } else { r.below(1 << cbsz) }, if r.one_in(2) { 0 } else { r.below(8) })
        }
    };
    let text = format!(
        "{} {}, {}, {}, {}{}{}{}",
        m.name,
        range(sums, to, n),
        range('v', 0, m.factor_registers()),
        range('v', 8, m.factor_registers()),
        constant.map_or_else(|| range(sums, from, n), |c| c.0.to_string()),
        if cbsz != 0 { format!(" cbsz:{cbsz}") } else { String::new() },
        if abid != 0 { format!(" abid:{abid}") } else { String::new() },
        if blgp != 0 { format!(" blgp:{blgp}") } else { String::new() },
    );
    let code = words(target, &text)?;
    let mut wave = Wave::new(target, Shape { vgprs: REGISTERS, agprs: REGISTERS });
    wave.pc = code.as_ptr() as u64;
    wave.mode = if r.one_in(2) { 0x3f0 } else { r.below(0x400) as u32 };
    wave.set_exec(r.next() | 1);
    let specials = r.one_in(3);
    let cancel = r.one_in(2);
    for i in 0..2 * REGISTERS {
        let lanes = std::array::from_fn(|lane| u32::from(i) << 16 | lane as u32);
        *wave.vgpr_mut(i).ok_or("a register is missing")? = lanes;
    }
    let bits = m.kind.bits();
    let mut lanes = [vec![[0u64; 64]; m.per_lane], vec![[0; 64]; m.per_lane]];
    for matrix in &mut lanes {
        matrix.iter_mut().flatten().for_each(|v| *v = number(r, m.kind, specials));
    }
    // Products that cancel: the same factors, one with the other sign.
    if cancel && m.kind != Kind::I8 {
        let [a, b] = &mut lanes;
        for (a, b) in a.chunks_exact_mut(2).zip(b.chunks_exact_mut(2)) {
            for lane in (0..64).filter(|_| r.one_in(2)).collect::<Vec<_>>() {
                a[1][lane] = a[0][lane] ^ 1 << (bits - 1);
                b[1][lane] = b[0][lane];
            }
        }
    }
    for (matrix, first) in lanes.iter().zip([0u16, 8]) {
        for register in 0..m.factor_registers() {
            let at = wave.vgpr_mut(first + register as u16).ok_or("a register is missing")?;
            for (lane, word) in at.iter_mut().enumerate() {
                let value = matrix
                    .iter()
                    .enumerate()
                    .fold(0u128, |v, (slot, row)| v | u128::from(row[lane]) << (slot * bits));
                *word = (value >> (32 * register)) as u32;
            }
        }
    }
    let base = if sums == 'a' { REGISTERS } else { 0 };
    let sum_kind = match m.kind {
        Kind::I8 => Kind::I8,
        Kind::F64 => Kind::F64,
        _ => Kind::F32,
    };
    let wide = if m.kind == Kind::F64 { 2 } else { 1 };
    for register in (0..n).step_by(wide) {
        for lane in 0..64 {
            let c = if m.kind == Kind::I8 { r.edgy(32) } else { number(r, sum_kind, specials) };
            for w in 0..wide {
                let at = base + (from + register + w) as u16;
                wave.vgpr_mut(at).ok_or("a register is missing")?[lane] = (c >> (32 * w)) as u32;
            }
        }
    }
    let read = |wave: &Wave, register: usize, lane: usize| {
        let word = |i: usize| wave.vgpr(base + (register + i) as u16).map_or(0, |r| r[lane]);
        (0..wide).fold(0u64, |v, w| v | u64::from(word(w)) << (32 * w))
    };
    let before: Vec<[u32; 64]> = (0..2 * REGISTERS).filter_map(|i| wave.vgpr(i).copied()).collect();
    let mode = wave.mode;
    let mut want = Vec::new();
    for block in 0..m.blocks {
        // CBSZ: groups of 2^CBSZ blocks take A of one of them. BLGP: B's lanes are taken from others.
        let a_block = if cbsz == 0 { block } else { block >> cbsz << cbsz | abid as usize };
        for i in 0..m.size {
            for j in 0..m.size {
                let row: Vec<u64> = (0..m.depth)
                    .map(|k| m.factor(i, k, a_block))
                    .map(|(lane, slot)| lanes[0][slot][lane])
                    .collect();
                let column: Vec<u64> = (0..m.depth)
                    .map(|k| m.factor(j, k, block))
                    .map(|(lane, slot)| lanes[1][slot][permuted(lane, blgp)])
                    .collect();
                let (register, lane) = m.sum(i, j, block);
                let c = constant.map_or_else(|| read(&wave, from + register, lane), |c| c.1);
                let d = element(m, level, mode, &row, &column, c);
                want.push((register, lane, d, format!("{row:x?} {column:x?} {c:#x}")));
            }
        }
    }
    let memory = Memory::new();
    // SAFETY: the code outlives the memory and nothing writes to it.
    unsafe { memory.add(code.as_ptr() as u64, 4 * code.len() as u64, false) }
        .map_err(|e| format!("{e:?}"))?;
    let engine = &bench.engines[run % bench.engines.len()];
    engine.invalidate(code.as_ptr() as u64, 4 * code.len() as u64);
    let event = engine.run(&mut wave, &GroupShared::new(0), &memory, 10);
    let at = format!("`{text}` on {}, MODE {mode:#x}", target.cpu.name);
    if event != Event::End {
        return Err(format!("{at}: the interpreter stopped with {event:?}"));
    }
    for (register, lane, d, operands) in &want {
        let got = read(&wave, to + register, *lane);
        let is_nan = |v: u64| match m.kind {
            Kind::I8 => false,
            Kind::F64 => f64::from_bits(v).is_nan(),
            _ => f32::from_bits(v as u32).is_nan(),
        };
        if got != *d && !(is_nan(got) && is_nan(*d)) {
            return Err(format!(
                "{at}\n  register {register} lane {lane}: the model has {d:#x}, the interpreter {got:#x}; {operands}"
            ));
        }
    }
    for (i, old) in before.iter().enumerate() {
        let first = base as usize + to;
        let written = (first..first + n).contains(&i);
        if !written && wave.vgpr(i as u16) != Some(old) {
            return Err(format!("{at}: register {i} of both files in a row has changed"));
        }
    }
    Ok(want.len() as u64)
}

/// The lane that BLGP takes B from (manual 7.1).
fn permuted(lane: usize, blgp: u64) -> usize {
    match blgp {
        1 => lane & 31,
        2 => lane & 31 | 32,
        3 => (lane + 16) & 63,
        4..=7 => lane & 15 | (blgp as usize - 4) << 4,
        _ => lane,
    }
}

/// The instruction, and an end behind it.
pub(crate) fn words(target: &Target, text: &str) -> Result<Vec<u32>, String> {
    let mut options = Options::new(*target);
    options.output = OutputType::Obj;
    let output = assemble(&options, "matrix.s", text.as_bytes().to_vec());
    if output.failed() {
        return Err(String::from_utf8_lossy(&output.render_diagnostics()).into_owned());
    }
    let index = output.sections.iter().position(|s| &*s.name == ".text");
    let section = index.and_then(|i| output.object.as_ref()?.sections.get(i)).ok_or("no code")?;
    let words = section.data.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w));
    Ok(words.chain([ENDPGM, ENDPGM]).collect())
}
