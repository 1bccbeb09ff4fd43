//! Which memory instruction does what, as its name tells it; what atomics make of numbers; and which instructions have no model.

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
}

/// The families that differ in how they say where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    Global,
    Flat,
    /// One place, or two that lie so many bytes apart for each step of an offset.
    Lds {
        pair: Option<usize>,
    },
    Buffer,
    /// SMEM and SMRD; through a buffer's description.
    Scalar {
        buffer: bool,
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
        "read" | "write" => {
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
        name => {
            let (ty, returns) = ty.strip_prefix("rtn_").map_or((ty, false), |ty| (ty, true));
            let bytes = bits(ty)?;
            let name = match (name, ty.as_bytes()[0]) {
                ("min", b'i') => "smin",
                ("max", b'i') => "smax",
                ("min", _) => "umin",
                ("max", _) => "umax",
                ("wrxchg", _) => "swap",
                _ => name,
            };
            changed(name, 0, 0, 0, bytes)?;
            Some((one, Action::Atomic { name, bytes }, returns))
        }
    }
}

impl Access {
    /// What a row does; none without a model.
    pub(crate) fn of(row: &'static Row) -> Option<Access> {
        let name = row.name;
        let make = |family, action| Access { name, family, action, returns: false };
        match row.enc {
            Enc::Global => name.strip_prefix("global_").and_then(action).map(|a| make(Family::Global, a)),
            Enc::Flat => name.strip_prefix("flat_").and_then(action).map(|a| make(Family::Flat, a)),
            Enc::Mubuf => name.strip_prefix("buffer_").and_then(action).map(|a| make(Family::Buffer, a)),
            Enc::Ds => {
                let found = name.strip_prefix("ds_").and_then(lds);
                found.map(|(family, action, returns)| Access { name, family, action, returns })
            }
            _ => {
                let rest = name.strip_prefix("s_").unwrap_or(name);
                let buffer = rest.starts_with("buffer_");
                let rest = rest.strip_prefix("buffer_").unwrap_or(rest);
                action(rest).map(|a| make(Family::Scalar { buffer }, a))
            }
        }
    }

    /// Whether a lane must have a place of its own, so that the order of lanes does not show.
    pub(crate) fn writes(&self) -> bool {
        !matches!(self.action, Action::Load { .. })
    }

    pub(crate) fn bytes(&self) -> usize {
        match self.action {
            Action::Load { bytes, .. } | Action::Store { bytes, .. } | Action::Atomic { bytes, .. } => bytes,
        }
    }

    /// Dwords of data: what is stored, or the operands of an atomic.
    pub(crate) fn operands(&self) -> usize {
        match self.action {
            Action::Atomic { name, bytes } => bytes / 4 * (1 + takes_two(name) as usize),
            _ => self.bytes().div_ceil(4),
        }
    }
}

/// Why a row in a memory encoding has no model, if it has none.
pub fn excluded(row: &Row) -> Option<&'static str> {
    let name = row.name;
    let has = |parts: &[&str]| parts.iter().any(|p| name.contains(p));
    match row.enc {
        Enc::Smrd | Enc::Smem | Enc::Ds | Enc::Mubuf | Enc::Flat | Enc::Global => {}
        _ => return Some("images, typed buffers and private memory have tests of their own"),
    }
    Some(match () {
        _ if has(&["_format_"]) => "formats have tests of their own",
        _ if has(&["_f32", "_f64", "_f16", "_fcmpswap", "_fmin", "_fmax"]) => {
            "float atomics are compared with every kind of float elsewhere"
        }
        _ if has(&["wbinv", "wbl2", "invl2", "_dcache_", "probe"]) => "caches: no bytes",
        _ if has(&["memtime", "memrealtime"]) => "clocks",
        _ if has(&["gws", "_ordered_", "ds_nop", "_append", "_consume"]) => "counters of the whole GPU",
        _ if has(&["permute", "swizzle"]) => "lanes exchange values: no memory",
        _ if has(&["_src2_", "addtid", "wrxchg2", "condxchg", "lds_dword", "s_scratch", "_lds_"]) => {
            "places of their own kind, in the tests of LDS and private memory"
        }
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
