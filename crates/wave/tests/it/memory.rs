//! Every plain load, store and atomic of every encoding and generation, against a reference that knows nothing but the
//! mnemonic: vector memory (MUBUF, FLAT, GLOBAL, SCRATCH), LDS and scalar memory. Some lanes are inactive, some addresses
//! not aligned, some out of range; atomics return what was there or not; bases come from vector or scalar registers.
//! Formatted accesses, images, GWS and the lane-crossing LDS instructions have tests of their own, as have floats that are
//! not ordinary numbers.

use crate::harness::{CPUS, Machine, Random, engines, registers, target};
use crate::reference::{Access, Pair, access, apply, operand};
use wavemill_isa::row::flag;
use wavemill_isa::{Enc, ROWS, Role, Row};
use wavemill_wave::{Event, Simd, Wave};

/// Bytes of memory that belong to each lane.
const SLOT: usize = 64;
const LANES: usize = 64;
/// First register of data, of the result, and of what lies before and behind the result.
pub const DATA: u16 = 8;
pub const RESULT: u16 = 40;

/// How an instruction is tried.
#[derive(Clone, Copy)]
pub struct How {
    pub simd: Simd,
    /// Atomics return what was there, if they can.
    pub returns: bool,
    /// The base is in scalar registers, where there is such a form.
    pub scalar_base: bool,
    /// Some lanes are not aligned, and some are out of range; scalar buffers end before the access does.
    pub odd: bool,
}

/// Whether an instruction of a processor can return something.
fn can_return(cpu: &str, row: &Row, access: Access) -> bool {
    match access {
        Access::Load(..) => true,
        Access::Store(..) | Access::Src2(..) => false,
        Access::Two(kind, ..) => kind != Pair::Store,
        Access::Atomic(..) if row.enc == Enc::Ds => row.operand(Role::Vdst).is_some(),
        // Float atomics return something from gfx90a on.
        Access::Atomic(..) => !row.has(flag::NORET) || cpu == "gfx90a",
    }
}

/// The instruction, and whether it returns something.
pub fn text(cpu: &str, row: &Row, access: Access, how: How) -> (String, bool) {
    let (data, out) = match access {
        Access::Load(n, ..) => (0, n),
        Access::Store(n, _) => (n, 0),
        Access::Atomic(op, n) => (if op.ends_with("cmpswap") { 2 * n } else { n }, n),
        Access::Two(_, n, _) => (n, 2 * n),
        Access::Src2(..) => (0, 0),
    };
    let registers = |first: u16, bytes: usize| registers('v', first, bytes.div_ceil(4));
    let atomic = matches!(access, Access::Atomic(..));
    let asked = !atomic || how.returns || row.enc == Enc::Ds;
    let returns = asked && can_return(cpu, row, access);
    let glc = if atomic && returns { " glc" } else { "" };
    let mut parts = Vec::new();
    // A buffer atomic returns into its data.
    if returns && !(atomic && row.enc == Enc::Mubuf) {
        parts.push(registers(RESULT, out));
    }
    let address = match (row.enc, how.scalar_base) {
        (Enc::Flat, _) | (Enc::Global, false) => "v[0:1]",
        (Enc::Scratch, true) => "off",
        _ => "v0",
    };
    let datum = registers(DATA, data);
    let rest = match row.enc {
        Enc::Mubuf => {
            parts.extend((data > 0).then_some(datum));
            parts.push("v0".into());
            format!("s[8:11], 0 offen offset:4{glc}")
        }
        Enc::Ds => {
            parts.push("v0".into());
            parts.extend(row.operand(Role::Data0).map(|_| datum));
            parts.extend(row.operand(Role::Data1).map(|_| registers(DATA + 8, data)));
            let offset = match access {
                Access::Two(..) => "offset0:1 offset1:3",
                // In dwords, from the address on.
                Access::Src2(..) => "offset:2",
                _ => "offset:4",
            };
            return (format!("{} {} {offset}", row.name, parts.join(", ")), returns);
        }
        enc => {
            parts.push(address.into());
            parts.extend((data > 0).then_some(datum));
            match enc {
                Enc::Global if how.scalar_base => format!("s[8:9] offset:4{glc}"),
                Enc::Scratch if how.scalar_base => format!("s12 offset:4{glc}"),
                Enc::Global | Enc::Scratch => format!("off offset:4{glc}"),
                // Flat has no offset before GFX9: the address holds it.
                Enc::Flat => return (format!("{} {}{glc}", row.name, parts.join(", ")), returns),
                enc => panic!("{enc:?}"),
            }
        }
    };
    (format!("{} {}, {rest}", row.name, parts.join(", ")), returns)
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

fn vector(cpu: &str, row: &Row, access: Access, how: How, random: &mut Random) {
    let (text, returns) = text(cpu, row, access, how);
    let about = format!("`{text}` for {cpu} on {}", how.simd.name());
    let lds = row.enc == Enc::Ds;
    // Pairs that are 64 elements apart need more room than a slot: one lane does those.
    let far = matches!(access, Access::Two(_, n, step) if step > n);
    let bytes = if far { 8 * 64 * 4 } else { SLOT * LANES };
    // The last lanes are out of range; one is partly in a buffer.
    let size = match row.enc {
        _ if !how.odd => bytes,
        Enc::Mubuf => 61 * SLOT + 10,
        Enc::Ds if !far => 61 * SLOT,
        _ => bytes,
    };
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
    let mut machine = Machine::new(cpu, how.simd, &text, if lds { size as u32 } else { 0 });
    let base = machine.buffer(&memory.0);
    if lds {
        // SAFETY: the LDS has this size and no wave runs.
        unsafe { std::ptr::copy_nonoverlapping(memory.0.as_ptr(), machine.group.lds.base(), size) };
    }
    let mut wave = machine.wave();
    wave.set_exec(if far { 1 } else { random.next() | random.next() });
    wave.mode = 0xf0; // denormals are kept
    wave.set_sgpr(124, !0); // M0: no limit for LDS
    wave.set_sgpr64(8, base);
    wave.set_sgpr(10, size as u32);
    wave.set_sgpr(11, 0x0002_4fac);
    if row.enc == Enc::Scratch {
        wave.set_flat_scratch(base);
    }
    for r in 0..120 {
        for lane in 0..LANES {
            wave.vgpr_mut(r).expect("a register")[lane] = random.next() as u32;
        }
    }
    // How much of where a lane's access begins in its slot is the instruction's offset, and whether the base is elsewhere.
    let offset = match (row.enc, access) {
        (Enc::Flat, _) | (_, Access::Two(..) | Access::Src2(..)) => 0,
        _ => 4,
    };
    let relative = match row.enc {
        Enc::Flat => false,
        Enc::Global => how.scalar_base,
        _ => true,
    };
    let uniform = how.odd && random.one_in(2);
    wave.set_sgpr(12, u32::from(uniform));
    let mut start = [0; LANES];
    for (lane, start) in start.iter_mut().enumerate() {
        *start = match access {
            Access::Two(..) | Access::Src2(..) => 0,
            // Atomics must be aligned.
            Access::Atomic(_, n) => n,
            _ if row.enc == Enc::Scratch && how.scalar_base => 4 + usize::from(uniform),
            Access::Load(..) | Access::Store(..) => 4 + usize::from(how.odd && random.one_in(3)),
        };
        let slot = if far || row.enc == Enc::Scratch { 0 } else { lane * SLOT };
        let address = if relative { 0 } else { base } + (slot + *start - offset) as u64;
        wave.vgpr_mut(0).expect("v0")[lane] = address as u32;
        wave.vgpr_mut(1).expect("v1")[lane] = (address >> 32) as u32;
        let Some((op, n)) = operation else { continue };
        for r in [DATA, DATA + 8] {
            for half in [0, (n / 4) as u16] {
                // Now and then the operand is what memory holds, so that comparisons succeed.
                let v = match random.one_in(3) {
                    true => memory.get(row.enc, lane, *start, n),
                    false => operand(random, op, n),
                };
                wave.vgpr_mut(r + half).expect("data")[lane] = v as u32;
                if n == 8 {
                    wave.vgpr_mut(r + half + 1).expect("data")[lane] = (v >> 32) as u32;
                }
            }
        }
    }
    let before: Vec<[u32; 64]> = (0..120).map(|r| *wave.vgpr(r).expect("a register")).collect();
    let mut registers = before.clone();
    for lane in (0..LANES).filter(|l| wave.exec() >> l & 1 == 1) {
        let at = start[lane];
        let inside = |at: usize, n: usize| size == bytes || lane * SLOT + at + n <= size;
        let get = |memory: &Image, at: usize, n: usize| match inside(at, n) {
            true => memory.get(row.enc, lane, at, n),
            false => 0,
        };
        let put = |memory: &mut Image, at: usize, n: usize, v: u64| {
            if inside(at, n) {
                memory.put(row.enc, lane, at, n, v);
            }
        };
        let set = |registers: &mut Vec<[u32; 64]>, r: u16, n: usize, v: u64| {
            registers[r as usize][lane] = v as u32;
            if n == 8 {
                registers[r as usize + 1][lane] = (v >> 32) as u32;
            }
        };
        match access {
            Access::Load(n, signed, half) if n < 4 => {
                let v = get(&memory, at, n);
                let v = if signed { ((v << (64 - 8 * n)) as i64 >> (64 - 8 * n)) as u64 } else { v };
                let old = &mut registers[RESULT as usize][lane];
                // "When ECC is enabled … unused bits are set to zero" (manual 9.1.6).
                let kept = if matches!(cpu, "gfx906" | "gfx908" | "gfx90a") { 0 } else { *old };
                *old = match half {
                    None => v as u32,
                    Some(false) => kept & 0xffff_0000 | v as u32 & 0xffff,
                    Some(true) => kept & 0xffff | (v as u32) << 16,
                };
            }
            Access::Load(n, ..) => {
                for i in 0..n / 4 {
                    let v = get(&memory, at + 4 * i, 4);
                    set(&mut registers, RESULT + i as u16, 4, v);
                }
            }
            Access::Store(n, high) => {
                for i in 0..n.div_ceil(4) {
                    let v = before[DATA as usize + i][lane] >> if high { 16 } else { 0 };
                    put(&mut memory, at + 4 * i, n.min(4), v.into());
                }
            }
            Access::Atomic(op, n) => {
                let old = get(&memory, at, n);
                let a = wide(&wave, DATA, lane, n);
                let second = if lds { DATA + 8 } else { DATA + (n / 4) as u16 };
                let b = wide(&wave, second, lane, n);
                put(&mut memory, at, n, apply(op, n, old, a, b));
                if returns {
                    set(&mut registers, if row.enc == Enc::Mubuf { DATA } else { RESULT }, n, old);
                }
            }
            Access::Two(kind, n, step) => {
                for (i, offset) in [1, 3].into_iter().enumerate() {
                    let old = get(&memory, offset * step, n);
                    if kind != Pair::Load {
                        let v = wide(&wave, DATA + 8 * i as u16, lane, n);
                        put(&mut memory, offset * step, n, v);
                    }
                    if kind != Pair::Store {
                        set(&mut registers, RESULT + (i * n / 4) as u16, n, old);
                    }
                }
            }
            Access::Src2(op, n) => {
                let (old, other) = (get(&memory, 0, n), get(&memory, 8, n));
                put(&mut memory, 0, n, apply(op, n, old, other, 0));
            }
        }
    }
    assert_eq!(machine.run(&mut wave), Event::End, "{about}");
    let after = if lds { machine.group.lds.snapshot() } else { machine.read(base, bytes) };
    let wanted = if lds { &memory.0[..size] } else { &memory.0 };
    assert!(after == wanted, "memory after {about}: {:?}", difference(&after, wanted));
    for (r, wanted) in registers.iter().enumerate() {
        assert_eq!(wave.vgpr(r as u16).expect("a register"), wanted, "v{r} after {about}");
    }
}

fn difference(got: &[u8], wanted: &[u8]) -> Option<(usize, u8, u8)> {
    got.iter().zip(wanted).enumerate().find(|(_, (a, b))| a != b).map(|(i, (a, b))| (i, *a, *b))
}

fn scalar(cpu: &str, row: &Row, access: Access, how: How, random: &mut Random) {
    let buffer = row.name.contains("_buffer_");
    let outside = buffer && how.odd;
    let (data, returns) = match access {
        Access::Load(n, ..) | Access::Store(n, _) => (n, true),
        Access::Atomic(op, n) => (if op == "cmpswap" { 2 * n } else { n }, how.returns && !outside),
        _ => panic!("{}", row.name),
    };
    let atomic = matches!(access, Access::Atomic(..));
    let glc = if atomic && returns { " glc" } else { "" };
    let base = if buffer { "s[8:11]" } else { "s[8:9]" };
    // Offsets are bytes, but dwords on GFX6 and GFX7.
    let offset = if matches!(cpu, "gfx600" | "gfx701") { 2 } else { 8 };
    let registers = registers('s', 16, data / 4);
    let text = format!("{} {registers}, {base}, {offset}{glc}\ns_waitcnt lgkmcnt(0)", row.name);
    let about = format!("`{text}` for {cpu} on {}", how.simd.name());
    let mut memory: Vec<u8> = (0..128).map(|_| random.next() as u8).collect();
    let mut machine = Machine::new(cpu, how.simd, &text, 0);
    let address = machine.buffer(&memory);
    let mut wave = machine.wave();
    wave.set_exec(0); // scalar instructions do not care
    wave.set_sgpr64(8, address);
    // The last dword is out of range, or all of it.
    let size = match (outside, atomic) {
        (false, _) => 128,
        (true, true) => 8,
        (true, false) => 8 + data - 4,
    };
    wave.set_sgpr(10, size as u32);
    wave.set_sgpr(11, 0x0002_4fac);
    for r in 12..40 {
        wave.set_sgpr(r, random.edgy(32) as u32);
    }
    let word = |m: &[u8], at: usize| u32::from_le_bytes(m[at..at + 4].try_into().expect("four bytes"));
    if let Access::Atomic("cmpswap", n) = access
        && random.one_in(2)
    {
        for i in 0..n / 4 {
            wave.set_sgpr((16 + n / 4 + i) as u32, word(&memory, 8 + 4 * i));
        }
    }
    let mut sgprs: Vec<u32> = (0..40).map(|r| wave.sgpr(r)).collect();
    for i in 0..data / 4 {
        let at = 8 + 4 * i..12 + 4 * i;
        let inside = at.end <= size;
        match access {
            Access::Load(..) => sgprs[16 + i] = if inside { word(&memory, at.start) } else { 0 },
            Access::Store(..) if inside => memory[at].copy_from_slice(&sgprs[16 + i].to_le_bytes()),
            _ => {}
        }
    }
    if let Access::Atomic(op, n) = access
        && !outside
    {
        let pair = |low: u32, high: u32| u64::from(low) | if n == 8 { u64::from(high) << 32 } else { 0 };
        let old = pair(word(&memory, 8), word(&memory, 12));
        let second = 16 + n / 4;
        let new = apply(op, n, old, pair(sgprs[16], sgprs[17]), pair(sgprs[second], sgprs[second + 1]));
        memory[8..8 + n].copy_from_slice(&new.to_le_bytes()[..n]);
        (0..n / 4).filter(|_| returns).for_each(|i| sgprs[16 + i] = (old >> (32 * i)) as u32);
    }
    assert_eq!(machine.run(&mut wave), Event::End, "{about}");
    assert_eq!(machine.read(address, 128), memory, "memory after {about}");
    for (r, wanted) in sgprs.iter().enumerate() {
        assert_eq!(wave.sgpr(r as u32), *wanted, "s{r} after {about}");
    }
}

/// Instructions of these encodings that are not plain accesses; other tests have them.
pub fn elsewhere(row: &Row) -> bool {
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
                for round in 0..4 {
                    let scalar_base = matches!(round, 1 | 2);
                    let how = How { simd, returns: round % 2 == 0, scalar_base, odd: round >= 2 };
                    if scalar_memory {
                        scalar(cpu, row, access, how, &mut random);
                    } else {
                        vector(cpu, row, access, how, &mut random);
                    }
                    count += 1;
                }
            }
        }
    }
    assert!(count > 6000, "{count} accesses");
}

/// ROCm's code object format, "Scratch memory swizzling": lanes' private memory is interleaved in elements of 4, 8 or 16 bytes
/// before GFX9, so that as many bytes of a lane lie together.
#[test]
fn private_memory_has_elements_before_gfx9() {
    for (cpu, element) in [("gfx701", 4), ("gfx803", 4), ("gfx803", 8), ("gfx803", 16)] {
        for (name, engine) in engines(target(cpu)) {
            let text = "flat_store_dwordx4 v[0:1], v[4:7]\nflat_load_dwordx4 v[8:11], v[0:1]";
            let mut machine = Machine::with(file!(), target(cpu), engine, text, 0);
            let scratch = machine.buffer(&[0; 64 * 64]);
            machine.group.scratch_base = scratch;
            let mut wave = machine.wave();
            wave.scratch_bytes = 64;
            wave.scratch_element = element;
            let address = machine.group.private_base | 32;
            for lane in 0..64u32 {
                wave.vgpr_mut(0).unwrap()[lane as usize] = address as u32;
                wave.vgpr_mut(1).unwrap()[lane as usize] = (address >> 32) as u32;
                for i in 0..4 {
                    wave.vgpr_mut(4 + i).unwrap()[lane as usize] = 0x1000 * lane + u32::from(i);
                }
            }
            assert_eq!(machine.run(&mut wave), Event::End, "{name} on {cpu}");
            let bytes = machine.read(scratch, 64 * 64);
            for lane in 0..64usize {
                for i in 0..4usize {
                    let offset = 32 + 4 * i;
                    let e = usize::from(element);
                    let at = offset / e * e * 64 + lane * e + offset % e;
                    let stored = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
                    let want = 0x1000 * lane as u32 + i as u32;
                    assert_eq!(stored, want, "{name} on {cpu}, elements of {element}, lane {lane}");
                    assert_eq!(wave.vgpr(8 + i as u16).unwrap()[lane], want, "{name} on {cpu}");
                }
            }
        }
    }
}
