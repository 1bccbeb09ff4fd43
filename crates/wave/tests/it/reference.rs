//! What plain memory instructions do, from nothing but the mnemonic: for tests that compare every one of them.

use crate::harness::Random;
use wavemill_isa::Row;

/// What a mnemonic says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Access {
    /// Bytes, sign-extended, and the half of the register for 16-bit results.
    Load(usize, bool, Option<bool>),
    /// Bytes, from the upper half of the register.
    Store(usize, bool),
    /// Operation and bytes.
    Atomic(&'static str, usize),
    /// Two accesses of so many bytes, so far apart: a load, a store or an exchange.
    Two(Pair, usize, usize),
    /// The second operand comes from memory, eight bytes further.
    Src2(&'static str, usize),
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pair {
    Load,
    Store,
    Exchange,
}

const OPS: &[(&str, &str)] = &[
    ("fcmpswap", "fcmpswap"),
    ("cmpswap", "cmpswap"),
    ("cmpst_f", "fcmpst"),
    ("cmpst_b", "cmpst"),
    ("wrxchg", "swap"),
    ("swap", "swap"),
    ("pk_add_f16", "pk_add_f16"),
    ("add_f", "fadd"),
    ("min_f", "fmin"),
    ("max_f", "fmax"),
    ("fmin", "fmin"),
    ("fmax", "fmax"),
    ("rsub", "rsub"),
    ("add", "add"),
    ("sub", "sub"),
    ("smin", "smin"),
    ("smax", "smax"),
    ("umin", "umin"),
    ("umax", "umax"),
    ("min_i", "smin"),
    ("max_i", "smax"),
    ("min_u", "umin"),
    ("max_u", "umax"),
    ("and", "and"),
    ("mskor", "mskor"),
    ("xor", "xor"),
    ("or", "or"),
    ("inc", "inc"),
    ("dec", "dec"),
    ("wrap", "wrap"),
    ("condxchg32", "condxchg32"),
];

fn op(name: &str) -> Option<&'static str> {
    let name = name.replace("_rtn", "").replace("_src2", "");
    OPS.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, op)| *op)
}

/// Bytes of a load's or store's last word.
fn size(word: &str) -> Option<(usize, bool)> {
    Some(match word {
        "ubyte" | "byte" | "u8" | "b8" => (1, false),
        "sbyte" | "i8" => (1, true),
        "ushort" | "short" | "u16" | "b16" => (2, false),
        "sshort" | "i16" => (2, true),
        "dword" | "b32" => (4, false),
        "dwordx2" | "b64" => (8, false),
        "dwordx3" | "b96" => (12, false),
        "dwordx4" | "b128" => (16, false),
        "dwordx8" => (32, false),
        "dwordx16" => (64, false),
        _ => return None,
    })
}

/// What an instruction does, if it is a plain access.
pub fn access(row: &Row) -> Option<Access> {
    let prefixes = ["image_", "s_buffer_", "buffer_", "flat_", "global_", "scratch_", "ds_", "s_"];
    let rest = prefixes.iter().find_map(|p| row.name.strip_prefix(p))?;
    let (rest, half) = match (rest.strip_suffix("_d16_hi"), rest.strip_suffix("_d16")) {
        (Some(r), _) => (r, Some(true)),
        (None, Some(r)) => (r, Some(false)),
        (None, None) => (rest, None),
    };
    if let Some(word) = rest.strip_prefix("load_").or_else(|| rest.strip_prefix("read_")) {
        return size(word).map(|(n, signed)| Access::Load(n, signed, half));
    }
    if let Some(word) = rest.strip_prefix("store_").or_else(|| rest.strip_prefix("write_"))
        && let Some((n, _)) = size(word)
    {
        return Some(Access::Store(n, half == Some(true)));
    }
    let wide = if rest.ends_with("64") || rest.ends_with("_x2") { 8 } else { 4 };
    for (word, kind) in [("read2", Pair::Load), ("write2", Pair::Store), ("wrxchg2", Pair::Exchange)] {
        if let Some(more) = rest.strip_prefix(word) {
            let step = if more.starts_with("st64") { 64 * wide } else { wide };
            return Some(Access::Two(kind, wide, step));
        }
    }
    if rest == "write_src2_b32" || rest == "write_src2_b64" {
        return Some(Access::Src2("swap", wide));
    }
    let name = rest.strip_prefix("atomic_").unwrap_or(rest);
    let op = op(name)?;
    Some(if rest.contains("_src2_") { Access::Src2(op, wide) } else { Access::Atomic(op, wide) })
}

/// Whether an operation is on floats.
pub fn is_float(op: &str) -> bool {
    op.starts_with('f') || op == "pk_add_f16"
}

/// The value memory gets (manual 12.6, 12.12, 12.13 and 12.15). `b` is the second datum.
pub fn apply(op: &str, bytes: usize, old: u64, a: u64, b: u64) -> u64 {
    let bits = 8 * bytes as u32;
    let signed = |x: u64| (x as i128) << (128 - bits) >> (128 - bits);
    let float = |x: u64| if bytes == 4 { f32::from_bits(x as u32) as f64 } else { f64::from_bits(x) };
    // Sums of the small integers in use are exact in every format.
    let back = |x: f64| if bytes == 4 { (x as f32).to_bits() as u64 } else { x.to_bits() };
    let wide = |x: u128| (x & ((1u128 << bits) - 1)) as u64;
    match op {
        "swap" => a,
        "add" => wide(old as u128 + a as u128),
        "sub" => wide((1 << bits) + old as u128 - a as u128),
        "rsub" => wide((1 << bits) + a as u128 - old as u128),
        "and" => old & a,
        "or" => old | a,
        "xor" => old ^ a,
        "smin" => {
            if signed(a) < signed(old) {
                a
            } else {
                old
            }
        }
        "smax" => {
            if signed(a) > signed(old) {
                a
            } else {
                old
            }
        }
        "umin" => a.min(old),
        "umax" => a.max(old),
        "inc" => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
        "dec" => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
        // Buffer and flat: the new value comes first. LDS: what to compare with.
        "cmpswap" => {
            if old == b {
                a
            } else {
                old
            }
        }
        "cmpst" => {
            if old == a {
                b
            } else {
                old
            }
        }
        "fcmpswap" => {
            if float(old) == float(b) {
                a
            } else {
                old
            }
        }
        "fcmpst" => {
            if float(old) == float(a) {
                b
            } else {
                old
            }
        }
        "mskor" => old & !a | b,
        "wrap" => {
            if old >= a {
                old - a
            } else {
                wide(old as u128 + b as u128)
            }
        }
        "condxchg32" => {
            let half =
                |old: u64, new: u64| if new >> 31 & 1 == 1 { new & 0x7fff_ffff } else { old & 0xffff_ffff };
            half(old, a) | half(old >> 32, a >> 32) << 32
        }
        "fadd" => back(float(old) + float(a)),
        "fmin" => {
            if float(a) < float(old) {
                a
            } else {
                old
            }
        }
        "fmax" => {
            if float(a) > float(old) {
                a
            } else {
                old
            }
        }
        "pk_add_f16" => {
            let half = |s: u32| half_bits(half_int(old >> s) + half_int(a >> s)) << s;
            half(0) | half(16)
        }
        _ => panic!("no reference for {op}"),
    }
}

/// An integer of -1024 … 1024 as an f16.
fn half_bits(n: i32) -> u64 {
    if n == 0 {
        return 0;
    }
    let magnitude = n.unsigned_abs();
    let exponent = magnitude.ilog2();
    let sign = if n < 0 { 0x8000 } else { 0 };
    u64::from(sign | (exponent + 15) << 10 | (magnitude << (10 - exponent) & 0x3ff))
}

fn half_int(bits: u64) -> i32 {
    let (exponent, fraction) = ((bits >> 10 & 0x1f) as i32, (bits & 0x3ff | 0x400) as i32);
    let magnitude = if exponent == 0 { 0 } else { fraction >> (25 - exponent) };
    if bits >> 15 & 1 == 1 { -magnitude } else { magnitude }
}

/// A random operand that suits the operation: floats are small integers, whose sums are exact.
pub fn operand(random: &mut Random, op: &str, bytes: usize) -> u64 {
    let n = (random.next() % 201) as i32 - 100;
    match op {
        "pk_add_f16" => half_bits(n) | half_bits((random.next() % 201) as i32 - 100) << 16,
        op if is_float(op) && bytes == 4 => u64::from((n as f32).to_bits()),
        op if is_float(op) => f64::from(n).to_bits(),
        _ => random.edgy(8 * bytes as u32),
    }
}
