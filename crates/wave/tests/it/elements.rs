//! Buffer instructions that convert, of lanes that lie side by side, at strides, in one place, anywhere, and partly out of range:
//! engines that convert many lanes at once must leave what the plain engine leaves, which goes lane by lane. What that is,
//! [`crate::formats`] tests.

use crate::harness::{Random, assemble, engines, registers, target};
use crate::texels::{self, DATA_FORMATS};
use wavemill_wave::{Engine, Event, GroupShared, Memory, Shape, Wave};

/// Those that differ: numbers of GFX6, halves of GFX8, ranges and ECC of GFX9.
const CPUS: [&str; 5] = ["gfx600", "gfx803", "gfx810", "gfx900", "gfx90a"];
/// Dwords of the buffer, of which half are the resource's, from the middle on.
const WORDS: usize = 8192;
/// The registers with data, those that are loaded, and all.
const DATA: u16 = 8;
const LOADED: u16 = 16;
const VGPRS: u16 = 64;

/// How lanes find their elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pattern {
    /// Lane after lane, from a record on.
    Consecutive(u32),
    /// So many records from lane to lane.
    Every(u32),
    Same,
    Descending,
    Anywhere,
    /// Lane after lane, the last ones out of range.
    Beyond,
    /// The greatest offsets and indices there are, among others.
    Wild,
}

const PATTERNS: [Pattern; 8] = [
    Pattern::Consecutive(0),
    Pattern::Consecutive(3),
    Pattern::Every(2),
    Pattern::Same,
    Pattern::Descending,
    Pattern::Anywhere,
    Pattern::Beyond,
    Pattern::Wild,
];

/// How a resource lays records out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Records of the element's size.
    Tight,
    /// With four more bytes.
    Loose,
    /// No records: a piece of memory.
    Raw,
    Swizzled,
    /// The lane's number is added.
    Lanes,
}

const KINDS: [Kind; 5] = [Kind::Tight, Kind::Loose, Kind::Raw, Kind::Swizzled, Kind::Lanes];

/// Loads and stores of every width; `typed` is the format of instructions that have their own.
fn program(cpu: &str, typed: Option<u32>) -> String {
    let mut text = String::new();
    let gfx9 = cpu.starts_with("gfx9");
    let (mut to, mut from) = (LOADED, DATA);
    let (prefix, format) = match typed {
        Some(format) => ("t", format!(" format:{format}")),
        None => ("", String::new()),
    };
    for (n, c) in ["x", "xy", "xyz", "xyzw"].into_iter().enumerate() {
        let n = n + 1;
        for how in ["idxen", "offen", "idxen offen offset:8", "offset:4"] {
            // Both kinds of address in one register pair: an index, and an offset behind it.
            let address = match how {
                "idxen" => "v0",
                "offen" => "v1",
                "idxen offen offset:8" => "v[0:1]",
                _ => "off",
            };
            let mut instruction = |operation: &str, file: u16, count: usize, resource: &str| {
                let data = registers('v', file, count);
                text += &format!(
                    "{prefix}buffer_{operation}_{c} {data}, {address}, {resource}, s16{format} {how}\n"
                );
            };
            instruction("load_format", to, n, "s[4:7]");
            instruction("store_format", from, n, "s[8:11]");
            if !matches!(cpu, "gfx600" | "gfx701") {
                let count = if cpu == "gfx803" { n } else { n.div_ceil(2) };
                instruction("load_format_d16", to + 4, count, "s[4:7]");
                instruction("store_format_d16", from, count, "s[8:11]");
            }
            to = LOADED + (to - LOADED + 8) % 40;
            from = DATA + (from - DATA + 2) % 4;
        }
    }
    if gfx9 && typed.is_none() {
        text += "buffer_load_format_d16_hi_x v60, v0, s[4:7], 0 idxen\n";
        text += "buffer_store_format_d16_hi_x v9, v0, s[8:11], 0 idxen\n";
        // Over its own address.
        text += "v_mov_b32 v62, v1\nbuffer_load_format_xy v[62:63], v62, s[4:7], 0 offen\n";
        text += "buffer_load_format_xy v[0:1], v[0:1], s[4:7], 0 idxen offen\n";
    }
    text + "s_endpgm\n"
}

struct Start {
    cpu: &'static str,
    address: u64,
    registers: Vec<[u32; 64]>,
    memory: Vec<u32>,
    exec: u64,
    resource: [u32; 4],
    scalar: u32,
}

type Outcome = (Event, Vec<[u32; 64]>, Vec<u32>);

fn outcome(start: &Start, engine: &dyn Engine, memory: &Memory, buffer: &mut [u32]) -> Outcome {
    buffer.copy_from_slice(&start.memory);
    let mut wave = Wave::new(&target(start.cpu), Shape { vgprs: VGPRS, agprs: 0 });
    wave.pc = start.address;
    for (r, values) in start.registers.iter().enumerate() {
        *wave.vgpr_mut(r as u16).unwrap() = *values;
    }
    wave.set_exec(start.exec);
    for (i, word) in (0..).zip(start.resource) {
        wave.set_sgpr(4 + i, word);
        wave.set_sgpr(8 + i, word);
    }
    wave.set_sgpr(16, start.scalar);
    let event = engine.run(&mut wave, &GroupShared::new(0), memory, 1000);
    (event, (0..VGPRS).map(|r| *wave.vgpr(r).unwrap()).collect(), buffer.to_vec())
}

/// All engines from the same start, many times.
fn compare(cpu: &'static str, typed: Option<(u32, u32)>, random: &mut Random) {
    let format = typed.map(|(d, n)| d | n << 4);
    let bytes = assemble(target(cpu), "test.s", &program(cpu, format));
    let code: Vec<u32> = bytes.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
    let mut buffer = vec![0u32; WORDS];
    let middle = buffer.as_ptr() as u64 + 2 * WORDS as u64;
    let memory = Memory::new();
    // SAFETY: both live until the last run is over; nobody looks at the buffer meanwhile.
    unsafe {
        memory.add(code.as_ptr() as u64, 4 * code.len() as u64, false).unwrap();
        memory.add(buffer.as_mut_ptr() as u64, 4 * WORDS as u64, true).unwrap();
    }
    let engines = engines(target(cpu));
    let formats: Vec<(u32, u32)> = match typed {
        Some(one) => vec![one],
        None => (1..15).flat_map(|d| (0..8).map(move |n| (d, n))).collect(),
    };
    for (dfmt, nfmt) in formats {
        for pattern in PATTERNS {
            let kind = KINDS[random.next() as usize % KINDS.len()];
            let size = texels::widths(DATA_FORMATS[dfmt as usize]).iter().sum::<u32>() / 8;
            let stride = match kind {
                Kind::Tight | Kind::Swizzled => size,
                Kind::Loose => size + 4,
                Kind::Raw | Kind::Lanes => 0,
            };
            let start = start(cpu, (dfmt, nfmt), pattern, kind, (stride, size), middle, random);
            let start = Start { address: code.as_ptr() as u64, ..start };
            let (name, plain) = engines.last().unwrap();
            assert_eq!(*name, "plain");
            let want = outcome(&start, &**plain, &memory, &mut buffer);
            for (name, engine) in &engines[..engines.len() - 1] {
                let got = outcome(&start, &**engine, &memory, &mut buffer);
                let what = format!("{cpu} {name}: {dfmt} {nfmt} {pattern:?} {kind:?} exec {:#x}", start.exec);
                assert_eq!(got.0, want.0, "{what}");
                for r in 0..VGPRS as usize {
                    assert_eq!(got.1[r], want.1[r], "{what}: v{r}");
                }
                assert!(got.2 == want.2, "{what}: memory");
            }
        }
    }
}

fn start(
    cpu: &'static str,
    (dfmt, nfmt): (u32, u32),
    pattern: Pattern,
    kind: Kind,
    (stride, size): (u32, u32),
    middle: u64,
    random: &mut Random,
) -> Start {
    let mut data = || match random.next() {
        r if r % 4 == 0 => r as u32 >> 8,
        r if r % 4 == 1 => ((r >> 8) as i16 as f32 / 32767.0).to_bits(),
        r if r % 4 == 2 => ((r >> 8) as i32 as f32 / 300.0).to_bits(),
        _ => random.edgy(32) as u32,
    };
    let memory: Vec<u32> = (0..WORDS).map(|_| data()).collect();
    let mut registers: Vec<[u32; 64]> = (0..VGPRS).map(|_| std::array::from_fn(|_| data())).collect();
    for lane in 0..64u32 {
        let place = match pattern {
            Pattern::Consecutive(first) => first + lane,
            Pattern::Every(n) => n * lane,
            Pattern::Same => 5,
            Pattern::Descending => 63 - lane,
            Pattern::Anywhere | Pattern::Wild => random.next() as u32 % 70,
            Pattern::Beyond => lane + 100,
        };
        registers[0][lane as usize] = place;
        registers[1][lane as usize] = place * size;
        if pattern == Pattern::Wild && random.one_in(16) {
            registers[0][lane as usize] = random.edgy(32) as u32;
            registers[1][lane as usize] = random.edgy(32) as u32;
        }
    }
    let records = match (stride, pattern == Pattern::Beyond) {
        (0, true) => 160 * size,
        (0, false) => 4096,
        // GFX8 counts bytes where records are not swizzled.
        (_, true) if matches!(cpu, "gfx803" | "gfx810") => 130 * stride,
        (_, true) => 130,
        (_, false) if matches!(cpu, "gfx803" | "gfx810") => 4096,
        (_, false) => 140,
    };
    let high = (middle >> 32) as u32 & 0xffff;
    let swizzled = ((kind == Kind::Swizzled) as u32) << 31;
    let lanes = ((kind == Kind::Lanes) as u32) << 23;
    // Selects of all kinds.
    let selects = [0xfac, 4 | 5 << 3 | 6 << 6 | 7 << 9, 7 | 1 << 3 | 4 << 9, 6 | 5 << 3 | 4 << 6 | 7 << 9];
    let select = selects[random.next() as usize % 4];
    // Four bytes of an element, eight records together.
    let last = select | nfmt << 12 | dfmt << 15 | 1 << 19 | lanes;
    Start {
        cpu,
        address: 0,
        registers,
        memory,
        exec: if random.one_in(2) { !0 } else { random.next() | 1 },
        resource: [middle as u32, high | stride << 16 | swizzled, records, last],
        scalar: if random.one_in(4) { 4 } else { 0 },
    }
}

/// The resource's format.
#[test]
fn engines_agree_on_resources() {
    let mut random = Random(21);
    for cpu in CPUS {
        compare(cpu, None, &mut random);
    }
}

/// The instruction's own.
#[test]
fn engines_agree_on_instructions() {
    let mut random = Random(22);
    for cpu in CPUS {
        for dfmt in 1..15 {
            compare(cpu, Some((dfmt, random.next() as u32 % 8)), &mut random);
        }
    }
}
