//! Which memory instruction does what, as its name tells it; what atomics make of numbers; and which instructions have no model.

use crate::floats::FloatOp;
use wavemill_isa::Row;
use wavemill_isa::row::Enc;

/// Bytes that instructions access: of memory, and of LDS.
pub(crate) const BYTES: usize = 4096;
/// Registers that data comes from, and that results go to; addresses are in the first.
pub(crate) const DATA: usize = 4;
pub(crate) const RESULT: usize = 8;
/// Scalar data and results.
pub(crate) const SCALAR: usize = 32;

/// What an instruction does with one place of each lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// Reads so many bytes: with the sign, to the lower or upper half of a register.
    Load { bytes: usize, signed: bool, half: Option<bool> },
    /// Writes so many bytes, from the upper half of a register.
    Store { bytes: usize, high: bool },
    /// Changes a number.
    Atomic { name: &'static str, bytes: usize },
    /// Changes a float, or two.
    Float { op: FloatOp, bytes: usize },
    /// Swaps two numbers for two others.
    Exchange { bytes: usize },
    /// Adds the number of active lanes to a counter, or takes it off, once for all lanes.
    Count { up: bool },
    /// Gives each lane another lane's register: what it sends (or fetches).
    Permute { fetch: bool },
    /// The same by a pattern in the offset.
    Swizzle,
    /// Replaces each of two dwords by 31 bits of data whose 32nd is set.
    Conditional,
    /// Changes a number by another one in LDS.
    Beside { by: Beside, bytes: usize },
}

/// What a number is changed by another one with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Beside {
    Integer(&'static str),
    Float(FloatOp),
}

/// The families that differ in how they say where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    Global,
    Flat,
    /// Private memory.
    Scratch,
    /// One place, or two that lie so many bytes apart for each step of an offset.
    Lds {
        pair: Option<usize>,
    },
    /// Two places, the second as far from the first as the offset or the address' upper bits say.
    Apart,
    /// A place in LDS for each lane by its number, or one for all, from M0 on; lanes of the wave.
    Numbered,
    Buffer,
    /// SMEM and SMRD; through a buffer's description. A register's offset counts in bytes, or in units of 64.
    Scalar {
        buffer: bool,
        unit: usize,
    },
}

/// A memory instruction, as its name tells it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub name: &'static str,
    pub family: Family,
    pub action: Action,
    /// LDS atomics say in their name whether they return the old number.
    pub returns: bool,
}

fn size(name: &str) -> Option<usize> {
    Some(match name {
        "byte" => 1,
        "short" => 2,
        "dword" => 4,
        "dwordx2" => 8,
        "dwordx3" => 12,
        "dwordx4" => 16,
        "dwordx8" => 32,
        "dwordx16" => 64,
        _ => return None,
    })
}

/// `load_…`, `store_…` and `atomic_…` of vector and scalar memory.
fn action(rest: &'static str) -> Option<Action> {
    if let Some(what) = rest.strip_prefix("load_") {
        let half =
            if what.ends_with("_d16_hi") { Some(true) } else { what.ends_with("_d16").then_some(false) };
        let what = what.trim_end_matches("_hi").trim_end_matches("_d16");
        let (signed, bytes) = match what {
            "short" => (false, 2),
            _ if what.starts_with('s') => (true, size(&what[1..])?),
            _ if what.starts_with('u') => (false, size(&what[1..])?),
            _ => (false, size(what)?),
        };
        return Some(Action::Load { bytes, signed, half });
    }
    if let Some(what) = rest.strip_prefix("store_") {
        let high = what.ends_with("_d16_hi");
        return Some(Action::Store { bytes: size(what.trim_end_matches("_d16_hi"))?, high });
    }
    let what = rest.strip_prefix("atomic_")?;
    if let Some((op, bytes)) = FloatOp::in_memory(what) {
        return Some(Action::Float { op, bytes });
    }
    let (name, bytes) = what.strip_suffix("_x2").map_or((what, 4), |name| (name, 8));
    changed(name, 0, 0, 0, bytes).map(|_| Action::Atomic { name, bytes })
}

/// The same for LDS.
fn lds(rest: &'static str) -> Option<(Family, Action, bool)> {
    let (what, ty) = rest.split_once('_')?;
    let bits = |ty: &str| ty.trim_start_matches(['b', 'u', 'i']).parse::<usize>().ok().map(|n| n / 8);
    let one = Family::Lds { pair: None };
    let step = |st64: bool, bytes: usize| Family::Lds { pair: Some(if st64 { 64 * bytes } else { bytes }) };
    match what {
        "read" | "write" if !ty.starts_with("src2") => {
            let half =
                if ty.ends_with("_d16_hi") { Some(true) } else { ty.ends_with("_d16").then_some(false) };
            let plain = ty.trim_end_matches("_hi").trim_end_matches("_d16");
            let bytes = bits(plain)?;
            let load = Action::Load { bytes, signed: plain.starts_with('i'), half };
            let store = Action::Store { bytes, high: half == Some(true) };
            Some((one, if what == "read" { load } else { store }, false))
        }
        "read2" | "read2st64" => {
            let bytes = bits(ty)?;
            Some((step(what.len() > 5, bytes), Action::Load { bytes, signed: false, half: None }, false))
        }
        "write2" | "write2st64" => {
            let bytes = bits(ty)?;
            Some((step(what.len() > 6, bytes), Action::Store { bytes, high: false }, false))
        }
        "wrxchg2" | "wrxchg2st64" => {
            let bytes = bits(ty.strip_prefix("rtn_")?)?;
            Some((step(what.len() > 7, bytes), Action::Exchange { bytes }, true))
        }
        "condxchg32" => Some((one, Action::Conditional, true)),
        name => {
            let (ty, returns) = ty.strip_prefix("rtn_").map_or((ty, false), |ty| (ty, true));
            let (ty, beside) = ty.strip_prefix("src2_").map_or((ty, false), |ty| (ty, true));
            if let Some((op, bytes)) = FloatOp::in_lds(name, ty) {
                let by = Beside::Float(op);
                return Some(match beside {
                    true => (Family::Apart, Action::Beside { by, bytes }, false),
                    false => (one, Action::Float { op, bytes }, returns),
                });
            }
            let bytes = bits(ty)?;
            let name = match (name, ty.as_bytes()[0]) {
                ("write", _) => "swap",
                ("min", b'i') => "smin",
                ("max", b'i') => "smax",
                ("min", _) => "umin",
                ("max", _) => "umax",
                ("wrxchg", _) => "swap",
                _ => name,
            };
            changed(name, 0, 0, 0, bytes)?;
            let by = Beside::Integer(name);
            Some(match beside {
                true => (Family::Apart, Action::Beside { by, bytes }, false),
                false => (one, Action::Atomic { name, bytes }, returns),
            })
        }
    }
}

/// What LDS does with lanes' numbers.
fn numbered(name: &str) -> Option<Action> {
    Some(match name {
        "ds_read_addtid_b32" => Action::Load { bytes: 4, signed: false, half: None },
        "ds_write_addtid_b32" => Action::Store { bytes: 4, high: false },
        "ds_append" | "ds_consume" => Action::Count { up: name == "ds_append" },
        "ds_swizzle_b32" => Action::Swizzle,
        "ds_permute_b32" | "ds_bpermute_b32" => Action::Permute { fetch: name == "ds_bpermute_b32" },
        _ => return None,
    })
}

impl Access {
    /// What a row does; none without a model.
    pub(crate) fn of(row: &'static Row) -> Option<Access> {
        let name = row.name;
        let make = |family, action| Access { name, family, action, returns: false };
        match row.enc {
            Enc::Global => name.strip_prefix("global_").and_then(action).map(|a| make(Family::Global, a)),
            Enc::Flat => name.strip_prefix("flat_").and_then(action).map(|a| make(Family::Flat, a)),
            Enc::Scratch => name.strip_prefix("scratch_").and_then(action).map(|a| make(Family::Scratch, a)),
            Enc::Mubuf => name.strip_prefix("buffer_").and_then(action).map(|a| make(Family::Buffer, a)),
            Enc::Ds => numbered(name).map(|a| make(Family::Numbered, a)).or_else(|| {
                let (family, action, returns) = name.strip_prefix("ds_").and_then(lds)?;
                Some(Access { name, family, action, returns })
            }),
            _ => {
                let rest = name.strip_prefix("s_").unwrap_or(name);
                let buffer = rest.starts_with("buffer_");
                let rest = rest.strip_prefix("buffer_").unwrap_or(rest);
                let (rest, unit) = rest.strip_prefix("scratch_").map_or((rest, 1), |rest| (rest, 64));
                action(rest).map(|a| make(Family::Scalar { buffer, unit }, a))
            }
        }
    }

    /// Whether a lane must have a place of its own, so that the order of lanes does not show.
    pub(crate) fn writes(&self) -> bool {
        !matches!(self.action, Action::Load { .. })
    }

    pub(crate) fn bytes(&self) -> usize {
        match self.action {
            Action::Load { bytes, .. }
            | Action::Store { bytes, .. }
            | Action::Atomic { bytes, .. }
            | Action::Float { bytes, .. }
            | Action::Beside { bytes, .. }
            | Action::Exchange { bytes } => bytes,
            Action::Conditional => 8,
            Action::Count { .. } | Action::Permute { .. } | Action::Swizzle => 4,
        }
    }

    /// Whether a number is changed as a whole.
    pub(crate) fn is_atomic(&self) -> bool {
        matches!(self.action, Action::Atomic { .. } | Action::Float { .. } | Action::Beside { .. })
    }

    /// Dwords of data: what is stored, or the operands of an atomic.
    pub(crate) fn operands(&self) -> usize {
        match self.action {
            Action::Atomic { name, bytes } => bytes / 4 * (1 + takes_two(name) as usize),
            Action::Float { op, bytes } => bytes / 4 * (1 + op.takes_two() as usize),
            _ => self.bytes().div_ceil(4),
        }
    }
}

/// Why a row in a memory encoding has no model, if it has none.
pub fn excluded(row: &Row) -> Option<&'static str> {
    let name = row.name;
    let has = |parts: &[&str]| parts.iter().any(|p| name.contains(p));
    match row.enc {
        Enc::Smrd | Enc::Smem | Enc::Ds | Enc::Mubuf | Enc::Flat | Enc::Global | Enc::Scratch => {}
        _ => {
            return Some(
                "images and typed buffers: every format is compared with exact arithmetic elsewhere",
            );
        }
    }
    Some(match () {
        _ if has(&["_format_"]) => "every format is compared with exact arithmetic elsewhere",
        _ if has(&["wbinv", "wbl2", "invl2", "_dcache_", "probe"]) => "caches: no bytes",
        _ if has(&["memtime", "memrealtime"]) => "clocks",
        _ if has(&["gws", "_ordered_", "ds_nop"]) => "counters of the whole GPU",
        _ if has(&["lds_dword", "_lds_"]) => "between memory and LDS: in the tests of LDS",
        _ => return None,
    })
}

/// Whether an atomic has two operands.
pub(crate) fn takes_two(name: &str) -> bool {
    matches!(name, "cmpswap" | "cmpst" | "mskor" | "wrap")
}

/// What an atomic makes of a number (manual 12.6, 12.12): its first operand and its second, in the order of registers.
pub(crate) fn changed(name: &str, old: u64, first: u64, second: u64, bytes: usize) -> Option<u64> {
    let signed = |v: u64| if bytes == 4 { v as u32 as i32 as i64 } else { v as i64 };
    Some(match name {
        "swap" => first,
        "add" => old.wrapping_add(first),
        "sub" => old.wrapping_sub(first),
        "rsub" => first.wrapping_sub(old),
        "and" => old & first,
        "or" => old | first,
        "xor" => old ^ first,
        "umin" => old.min(first),
        "umax" => old.max(first),
        "smin" => {
            if signed(first) < signed(old) {
                first
            } else {
                old
            }
        }
        "smax" => {
            if signed(first) > signed(old) {
                first
            } else {
                old
            }
        }
        "inc" => {
            if old >= first {
                0
            } else {
                old + 1
            }
        }
        "dec" => {
            if old == 0 || old > first {
                first
            } else {
                old - 1
            }
        }
        // Vector memory and scalar memory: the new number first; LDS: what is expected first.
        "cmpswap" => {
            if old == second {
                first
            } else {
                old
            }
        }
        "cmpst" => {
            if old == first {
                second
            } else {
                old
            }
        }
        "mskor" => old & !first | second,
        "wrap" => {
            if old >= first {
                old - first
            } else {
                old.wrapping_add(second)
            }
        }
        _ => return None,
    })
}
