//! Every plain load, store and atomic of every encoding and generation, against a reference that knows nothing but the
//! mnemonic: vector memory (MUBUF, FLAT, GLOBAL, SCRATCH), LDS and scalar memory. Formatted accesses, images, GWS and the
//! lane-crossing LDS instructions have tests of their own.

use crate::harness::{Machine, Random};
use wavemill_isa::row::flag;
use wavemill_isa::{Enc, ROWS, Row};
use wavemill_wave::{Event, Simd, Wave};

const CPUS: [&str; 7] = ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a"];

/// Bytes of memory that belong to each lane.
const SLOT: usize = 64;
const LANES: usize = 64;
/// First register of data, of the result, and of what lies before and behind the result.
const DATA: u16 = 8;
const RESULT: u16 = 40;

/// What a mnemonic says.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Access {
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
enum Pair {
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

fn access(row: &Row) -> Option<Access> {
    let prefixes = ["s_buffer_", "buffer_", "flat_", "global_", "scratch_", "ds_", "s_"];
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

fn is_float(op: &str) -> bool {
    op.starts_with('f') || op == "pk_add_f16"
}

/// The value memory gets. `b` is the second datum.
fn apply(op: &str, bytes: usize, old: u64, a: u64, b: u64) -> u64 {
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

/// A random operand that suits the operation.
fn operand(random: &mut Random, op: &str, bytes: usize) -> u64 {
    let n = (random.next() % 201) as i32 - 100;
    match op {
        "pk_add_f16" => half_bits(n) | half_bits((random.next() % 201) as i32 - 100) << 16,
        op if is_float(op) && bytes == 4 => u64::from((n as f32).to_bits()),
        op if is_float(op) => f64::from(n).to_bits(),
        _ => random.edgy(8 * bytes as u32),
    }
}

fn registers(file: char, first: u16, bytes: usize) -> String {
    match bytes.div_ceil(4) as u16 {
        1 => format!("{file}{first}"),
        n => format!("{file}[{first}:{}]", first + n - 1),
    }
}

/// The instruction and whether it returns something.
fn text(row: &Row, access: Access) -> (String, bool) {
    let (data, out) = match access {
        Access::Load(n, ..) => (0, n),
        Access::Store(n, _) => (n, 0),
        Access::Atomic(op, n) => (if op.ends_with("cmpswap") { 2 * n } else { n }, n),
        Access::Two(kind, n, _) => (n, if kind == Pair::Store { 0 } else { 2 * n }),
        Access::Src2(..) => (0, 0),
    };
    let atomic = matches!(access, Access::Atomic(..));
    let returns = out > 0 && (!atomic || !row.has(flag::NORET));
    let (d, r) = (registers('v', DATA, data), registers('v', RESULT, out));
    let glc = if atomic && returns && row.enc != Enc::Ds { " glc" } else { "" };
    let name = row.name;
    let text = match row.enc {
        // A buffer atomic returns into its data.
        Enc::Mubuf if out > 0 && !atomic => format!("{name} {r}, v0, s[8:11], 0 offen offset:4"),
        Enc::Mubuf => format!("{name} {d}, v0, s[8:11], 0 offen offset:4{glc}"),
        Enc::Flat if data == 0 => format!("{name} {r}, v[0:1]"),
        Enc::Flat if returns => format!("{name} {r}, v[0:1], {d}{glc}"),
        Enc::Flat => format!("{name} v[0:1], {d}"),
        Enc::Global if data == 0 => format!("{name} {r}, v[0:1], off offset:4"),
        Enc::Global if returns => format!("{name} {r}, v[0:1], {d}, off offset:4{glc}"),
        Enc::Global => format!("{name} v[0:1], {d}, off offset:4"),
        Enc::Scratch if data == 0 => format!("{name} {r}, v0, off offset:4"),
        Enc::Scratch => format!("{name} v0, {d}, off offset:4"),
        Enc::Ds => {
            let second = registers('v', DATA + 8, data);
            let mut parts = Vec::new();
            let returns = row.operands.iter().any(|o| o.role.name() == "vdst");
            if returns {
                parts.push(r);
            }
            parts.push("v0".to_owned());
            if row.operands.iter().any(|o| o.role.name() == "data0") {
                parts.push(d);
            }
            if row.operands.iter().any(|o| o.role.name() == "data1") {
                parts.push(second);
            }
            let offset = match access {
                Access::Two(..) => "offset0:1 offset1:3",
                // In dwords, from the address on.
                Access::Src2(..) => "offset:2",
                _ => "offset:4",
            };
            return (format!("{name} {} {offset}", parts.join(", ")), returns);
        }
        enc => panic!("{enc:?}"),
    };
    (text, returns)
}

/// Where a lane's byte lies in memory.
fn place(enc: Enc, lane: usize, byte: usize) -> usize {
    match enc {
        // Dwords of the lanes lie side by side.
        Enc::Scratch => byte / 4 * 4 * LANES + lane * 4 + byte % 4,
        _ => lane * SLOT + byte,
    }
}

struct Image(Vec<u8>);

impl Image {
    fn get(&self, enc: Enc, lane: usize, at: usize, bytes: usize) -> u64 {
        (0..bytes.min(8)).fold(0, |v, i| v | u64::from(self.0[place(enc, lane, at + i)]) << (8 * i))
    }
    fn put(&mut self, enc: Enc, lane: usize, at: usize, bytes: usize, value: u64) {
        for i in 0..bytes {
            self.0[place(enc, lane, at + i)] = (value >> (8 * i)) as u8;
        }
    }
}

fn wide(wave: &Wave, register: u16, lane: usize, bytes: usize) -> u64 {
    let word = |r: u16| u64::from(wave.vgpr(r).expect("a register")[lane]);
    if bytes == 8 { word(register) | word(register + 1) << 32 } else { word(register) }
}

fn vector(cpu: &str, simd: Simd, row: &Row, access: Access, random: &mut Random) {
    let (text, returns) = text(row, access);
    let at = format!("`{text}` for {cpu} on {}", simd.name());
    let lds = row.enc == Enc::Ds;
    // Pairs that are 64 elements apart need more room than a slot: one lane does those.
    let far = matches!(access, Access::Two(_, n, step) if step > n);
    let bytes = if far { 8 * 64 * 4 } else { SLOT * LANES };
    let operation = match access {
        Access::Atomic(op, n) | Access::Src2(op, n) => Some((op, n)),
        _ => None,
    };
    let mut memory = Image((0..bytes).map(|_| random.next() as u8).collect());
    if let Some((op, n)) = operation {
        for lane in 0..LANES {
            for i in 0..SLOT / n {
                let v = operand(random, op, n);
                memory.put(row.enc, lane, i * n, n, v);
            }
        }
    }
    let mut machine = Machine::new(cpu, simd, &text, if lds { bytes as u32 } else { 0 });
    let base = machine.buffer(&memory.0);
    if lds {
        // SAFETY: the LDS has this size and no wave runs.
        unsafe { std::ptr::copy_nonoverlapping(memory.0.as_ptr(), machine.group.lds.base(), bytes) };
    }
    let mut wave = machine.wave();
    wave.set_exec(if far { 1 } else { random.next() | random.next() });
    wave.mode = 0xf0; // denormals are kept
    wave.set_sgpr(124, !0); // M0: no limit for LDS
    wave.set_sgpr64(8, base);
    wave.set_sgpr(10, bytes as u32);
    wave.set_sgpr(11, 0x0002_4fac);
    if row.enc == Enc::Scratch {
        wave.set_flat_scratch(base);
    }
    for r in 0..120 {
        for lane in 0..LANES {
            wave.vgpr_mut(r).expect("a register")[lane] = random.next() as u32;
        }
    }
    // Flat has no offset before GFX9: the address holds it.
    let in_address = if row.enc == Enc::Flat { 4 } else { 0 };
    for lane in 0..LANES {
        let offset = match row.enc {
            Enc::Scratch => 0,
            _ if far => 0,
            _ => lane * SLOT,
        } + in_address;
        let address =
            if lds || matches!(row.enc, Enc::Mubuf | Enc::Scratch) { 0 } else { base } + offset as u64;
        // Atomics of eight bytes must be aligned; the instruction's offset is four.
        let align = matches!(operation, Some((_, 8))) && !matches!(access, Access::Src2(..));
        let address = address + if align { 4 } else { 0 };
        wave.vgpr_mut(0).expect("v0")[lane] = address as u32;
        wave.vgpr_mut(1).expect("v1")[lane] = (address >> 32) as u32;
        if let Some((op, n)) = operation {
            let at = if align { 8 } else { 4 };
            let at = if matches!(access, Access::Src2(..)) { 0 } else { at };
            for r in [DATA, DATA + 8] {
                for half in [0, (n / 4) as u16] {
                    // Now and then the operand is what memory holds, so that comparisons succeed.
                    let same = random.next().is_multiple_of(3);
                    let v = if same { memory.get(row.enc, lane, at, n) } else { operand(random, op, n) };
                    wave.vgpr_mut(r + half).expect("data")[lane] = v as u32;
                    if n == 8 {
                        wave.vgpr_mut(r + half + 1).expect("data")[lane] = (v >> 32) as u32;
                    }
                }
            }
        }
    }
    let before: Vec<[u32; 64]> = (0..120).map(|r| *wave.vgpr(r).expect("a register")).collect();
    let mut registers = before.clone();
    for lane in (0..LANES).filter(|l| wave.exec() >> l & 1 == 1) {
        let at = 4;
        let set = |registers: &mut Vec<[u32; 64]>, r: u16, n: usize, v: u64| {
            registers[r as usize][lane] = v as u32;
            if n == 8 {
                registers[r as usize + 1][lane] = (v >> 32) as u32;
            }
        };
        match access {
            Access::Load(n, signed, half) if n < 4 => {
                let v = memory.get(row.enc, lane, at, n);
                let v = if signed { ((v << (64 - 8 * n)) as i64 >> (64 - 8 * n)) as u64 } else { v };
                let old = &mut registers[RESULT as usize][lane];
                *old = match half {
                    None => v as u32,
                    Some(false) => *old & 0xffff_0000 | v as u32 & 0xffff,
                    Some(true) => *old & 0xffff | (v as u32) << 16,
                };
            }
            Access::Load(n, ..) => {
                for i in 0..n / 4 {
                    let v = memory.get(row.enc, lane, at + 4 * i, 4);
                    set(&mut registers, RESULT + i as u16, 4, v);
                }
            }
            Access::Store(n, high) => {
                for i in 0..n.div_ceil(4) {
                    let v = before[DATA as usize + i][lane] >> if high { 16 } else { 0 };
                    memory.put(row.enc, lane, at + 4 * i, n.min(4), v.into());
                }
            }
            Access::Atomic(op, n) => {
                let at = if n == 8 { 8 } else { 4 };
                let old = memory.get(row.enc, lane, at, n);
                let a = wide(&wave, DATA, lane, n);
                let second = if lds { DATA + 8 } else { DATA + (n / 4) as u16 };
                let b = wide(&wave, second, lane, n);
                memory.put(row.enc, lane, at, n, apply(op, n, old, a, b));
                if returns {
                    set(&mut registers, if row.enc == Enc::Mubuf { DATA } else { RESULT }, n, old);
                }
            }
            Access::Two(kind, n, step) => {
                for (i, offset) in [1, 3].into_iter().enumerate() {
                    let old = memory.get(row.enc, lane, offset * step, n);
                    if kind != Pair::Load {
                        let v = wide(&wave, DATA + 8 * i as u16, lane, n);
                        memory.put(row.enc, lane, offset * step, n, v);
                    }
                    if kind != Pair::Store {
                        set(&mut registers, RESULT + (i * n / 4) as u16, n, old);
                    }
                }
            }
            Access::Src2(op, n) => {
                let (old, other) = (memory.get(row.enc, lane, 0, n), memory.get(row.enc, lane, 8, n));
                memory.put(row.enc, lane, 0, n, apply(op, n, old, other, 0));
            }
        }
    }
    assert_eq!(machine.run(&mut wave), Event::End, "{at}");
    let after = if lds { machine.group.lds.snapshot() } else { machine.read(base, bytes) };
    assert!(after == memory.0, "memory after {at}: {:?}", difference(&after, &memory.0));
    for (r, wanted) in registers.iter().enumerate() {
        assert_eq!(wave.vgpr(r as u16).expect("a register"), wanted, "v{r} after {at}");
    }
}

fn difference(got: &[u8], wanted: &[u8]) -> Option<(usize, u8, u8)> {
    got.iter().zip(wanted).enumerate().find(|(_, (a, b))| a != b).map(|(i, (a, b))| (i, *a, *b))
}

fn scalar(cpu: &str, simd: Simd, row: &Row, access: Access, random: &mut Random) {
    let (data, glc) = match access {
        Access::Load(n, ..) | Access::Store(n, _) => (n, ""),
        Access::Atomic(op, n) => (if op == "cmpswap" { 2 * n } else { n }, " glc"),
        _ => panic!("{}", row.name),
    };
    let buffer = row.name.contains("_buffer_");
    let base = if buffer { "s[8:11]" } else { "s[8:9]" };
    // Offsets are bytes, but dwords on GFX6 and GFX7.
    let offset = if matches!(cpu, "gfx600" | "gfx700") { 2 } else { 8 };
    let text =
        format!("{} {}, {base}, {offset}{glc}\ns_waitcnt lgkmcnt(0)", row.name, registers('s', 16, data));
    let at = format!("`{text}` for {cpu} on {}", simd.name());
    let mut memory: Vec<u8> = (0..128).map(|_| random.next() as u8).collect();
    let mut machine = Machine::new(cpu, simd, &text, 0);
    let address = machine.buffer(&memory);
    let mut wave = machine.wave();
    wave.set_exec(0); // scalar instructions do not care
    wave.set_sgpr64(8, address);
    wave.set_sgpr(10, 128);
    wave.set_sgpr(11, 0x0002_4fac);
    for r in 12..40 {
        wave.set_sgpr(r, random.edgy(32) as u32);
    }
    let word = |m: &[u8], at: usize| u32::from_le_bytes(m[at..at + 4].try_into().expect("four bytes"));
    if let Access::Atomic("cmpswap", n) = access
        && random.next().is_multiple_of(2)
    {
        for i in 0..n / 4 {
            wave.set_sgpr((16 + n / 4 + i) as u32, word(&memory, 8 + 4 * i));
        }
    }
    let mut sgprs: Vec<u32> = (0..40).map(|r| wave.sgpr(r)).collect();
    match access {
        Access::Load(n, ..) => (0..n / 4).for_each(|i| sgprs[16 + i] = word(&memory, 8 + 4 * i)),
        Access::Store(n, _) => (0..n / 4).for_each(|i| {
            memory[8 + 4 * i..12 + 4 * i].copy_from_slice(&sgprs[16 + i].to_le_bytes());
        }),
        Access::Atomic(op, n) => {
            let pair = |low: u32, high: u32| u64::from(low) | if n == 8 { u64::from(high) << 32 } else { 0 };
            let old = pair(word(&memory, 8), word(&memory, 12));
            let second = 16 + n / 4;
            let new = apply(op, n, old, pair(sgprs[16], sgprs[17]), pair(sgprs[second], sgprs[second + 1]));
            memory[8..8 + n].copy_from_slice(&new.to_le_bytes()[..n]);
            (0..n / 4).for_each(|i| sgprs[16 + i] = (old >> (32 * i)) as u32);
        }
        _ => {}
    }
    assert_eq!(machine.run(&mut wave), Event::End, "{at}");
    assert_eq!(machine.read(address, 128), memory, "memory after {at}");
    for (r, wanted) in sgprs.iter().enumerate() {
        assert_eq!(wave.sgpr(r as u32), *wanted, "s{r} after {at}");
    }
}

/// Instructions of these encodings that are not plain accesses; other tests have them.
fn elsewhere(row: &Row) -> bool {
    let name = row.name;
    [
        "format", "_lds_", "wbinvl1", "wbl2", "invl2", "gws", "addtid", "swizzle", "permute", "dcache",
        "time", "probe",
    ]
    .iter()
    .any(|word| name.contains(word))
        || ["ds_nop", "ds_consume", "ds_append", "ds_ordered_count"].contains(&name)
        || name.starts_with("s_scratch_")
}

#[test]
fn every_plain_access() {
    let mut random = Random(0x5eed_0001);
    let mut count = 0;
    for cpu in CPUS {
        let level = crate::harness::target(cpu).level();
        for row in ROWS.iter().filter(|r| r.opcode_at(level).is_some() && !elsewhere(r)) {
            let scalar_memory = matches!(row.enc, Enc::Smem | Enc::Smrd);
            if !scalar_memory
                && !matches!(row.enc, Enc::Ds | Enc::Mubuf | Enc::Flat | Enc::Global | Enc::Scratch)
            {
                continue;
            }
            let access = access(row).unwrap_or_else(|| panic!("what does {} do?", row.name));
            for simd in Simd::available() {
                for _ in 0..3 {
                    if scalar_memory {
                        scalar(cpu, simd, row, access, &mut random);
                    } else {
                        vector(cpu, simd, row, access, &mut random);
                    }
                    count += 1;
                }
            }
        }
    }
    assert!(count > 5000, "{count} accesses");
}
