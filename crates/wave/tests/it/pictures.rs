//! Image instructions of whole waves, on images, samplers and addresses of all kinds: engines that find, convert and filter many
//! lanes' texels at once must leave what the plain engine leaves, which goes lane by lane. What that is, [`crate::images`] and
//! [`crate::samples`] test.

use crate::harness::{CPUS, Random, engines, registers, target};
use crate::images::Resource;
use wavemill_isa::{Enc, ROWS, Role, Row, flag};
use wavemill_wave::{Engine, Event, GroupShared, Memory, Shape, Wave};

/// Dwords of the memory that images are in.
const WORDS: usize = 1 << 14;
/// The first register with data, and all.
const DATA: u16 = 20;
const VGPRS: u16 = 40;
/// How often each instruction runs.
const RUNS: usize = 8;

/// An instruction: its place in the code, and what its address is made of.
struct Example {
    text: String,
    at: u64,
    samples: bool,
    short: bool,
}

fn pick<T: Copy>(random: &mut Random, of: &[T]) -> T {
    of[random.next() as usize % of.len()]
}

/// An instruction of a row with modifiers that it may not have.
fn text(row: &Row, cpu: &str, random: &mut Random) -> String {
    let mask: u64 = match row.name {
        name if name.contains("gather4") && !name.ends_with("4h") => 1 << (random.next() % 4),
        name if name.contains("cmpswap") => pick(random, &[3, 3, 15]),
        name if name.contains("atomic") => pick(random, &[1, 1, 3]),
        _ if random.one_in(2) => 1 + random.next() % 15,
        _ => 15,
    };
    let short = row.has(flag::D16) && random.one_in(3);
    let status = random.one_in(12);
    let gathers = row.name.contains("gather4");
    let values = if gathers { 4 } else { mask.count_ones() as usize };
    let packed = short && target(cpu).packs_d16();
    let data = if packed { values.div_ceil(2) } else { values } + usize::from(status);
    let widest = (0..16).rev().find(|n| row.addr >> n & 1 != 0).unwrap();
    let sampler = if row.operand(Role::Ssamp).is_some() { ", s[16:19]" } else { "" };
    let (data, address) = (registers('v', DATA, data), registers('v', 0, widest + 1));
    let mut text = format!("{} {data}, {address}, s[8:15]{sampler} dmask:{mask:#x}", row.name);
    let gfx9 = cpu.starts_with("gfx9");
    for (modifier, has) in [
        (" unorm", sampler.is_empty() || random.one_in(4)),
        (" glc", row.name.contains("atomic") && !random.one_in(3)),
        (" a16", gfx9 && random.one_in(4)),
        (" lwe", status),
        (" da", random.one_in(2)),
        (" d16", short),
    ] {
        if has {
            text += modifier;
        }
    }
    text
}

/// All image instructions of a processor, each with an end behind it: text and code.
fn programs(cpu: &str, random: &mut Random) -> (Vec<Example>, Vec<u32>) {
    let (target, mut all, mut code) = (target(cpu), Vec::new(), Vec::new());
    for row in ROWS.iter().filter(|r| r.enc == Enc::Mimg && r.opcode_at(target.level()).is_some()) {
        for _ in 0..2 {
            let text = text(row, cpu, random);
            let mut options = wavemill_asm::Options::new(target);
            options.output = wavemill_asm::OutputType::Obj;
            let source = format!("{text}\ns_endpgm\n").into_bytes();
            let object = wavemill_asm::assemble(&options, "test.s", source).object;
            let section = object.and_then(|o| o.sections.into_iter().find(|s| !s.data.is_empty()));
            let Some(section) = section else { continue };
            let samples = text.contains("s[16:19]");
            all.push(Example { short: text.contains(" a16"), at: 4 * code.len() as u64, samples, text });
            let words = section.data.as_chunks::<4>().0;
            code.extend(words.iter().map(|word| u32::from_le_bytes(*word)));
        }
    }
    (all, code)
}

/// What a run begins with.
struct Start {
    registers: Vec<[u32; 64]>,
    memory: Vec<u32>,
    exec: u64,
    scalars: Vec<u32>,
}

/// A component of an address: a half where it is short.
fn component(example: &Example, width: u32, shape: u64, (lane, n): (u32, usize), random: &mut Random) -> u32 {
    if !example.samples {
        let place = match (shape, n) {
            (0, 0) => lane % width,
            (0, 1) => lane / width,
            (0 | 1, 2..) => 0,
            (1, _) => random.next() as u32 % width,
            (2, _) => random.next() as u32 % (width + 2),
            _ if random.one_in(16) => random.edgy(32) as u32,
            _ => random.next() as u32 % 5,
        };
        return if example.short { place & 0xffff } else { place };
    }
    let x = match shape {
        0 => lane as f32 / 64.0,
        1 => (random.next() % 4096) as f32 / 2048.0 - 0.5,
        2 => (random.next() % 4096) as f32 / 4096.0 * width as f32,
        _ if random.one_in(8) => f32::from_bits(random.edgy(32) as u32),
        _ => (random.next() % 64) as f32 / 4.0 - 4.0,
    };
    if example.short { crate::texels::single_to_half(x.to_bits()) } else { x.to_bits() }
}

fn start(example: &Example, cpu: &str, middle: u64, random: &mut Random) -> Start {
    let mut data = || match random.next() {
        r if r % 4 == 0 => r as u32 >> 8,
        r if r % 4 == 1 => ((r >> 8) as i16 as f32 / 32767.0).to_bits(),
        r if r % 64 == 2 => random.edgy(32) as u32,
        r => ((r >> 8) as i32 as f32 / 300.0).to_bits(),
    };
    let memory: Vec<u32> = (0..WORDS).map(|_| data()).collect();
    let mut registers: Vec<[u32; 64]> = (0..VGPRS).map(|_| std::array::from_fn(|_| data())).collect();
    let r = |random: &mut Random, n: u64| (random.next() % n) as u32;
    let width = pick(random, &[1, 4, 7, 16, 16, 16, 24, 32]);
    let size = [width, 1 + r(random, 20), 1 + r(random, 6)];
    let slice = r(random, 2);
    let levels = if random.one_in(3) { [r(random, 2), 1 + r(random, 3)] } else { [0, 0] };
    let formats =
        [(14, 7), (14, 7), (4, 4), (4, 7), (11, 4), (10, 0), (12, 7), (5, 1), (1, 0), (9, 5), (10, 9)];
    let mut format = pick(random, &formats);
    if example.text.contains("atomic") {
        let wide = example.text.contains("dmask:0x3") != example.text.contains("cmpswap");
        format = if wide { (11, 4) } else { (4, 4) };
    } else if random.one_in(3) {
        format = (1 + r(random, 42), r(random, 10));
    }
    let identity = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    let resource = Resource {
        pitch: if random.one_in(3) { width + r(random, 9) } else { width },
        slices: [slice, slice + r(random, 4)],
        levels,
        select: if random.one_in(3) { r(random, 0x1000) } else { identity },
        tiling: random.one_in(4).then(|| r(random, 16)),
        // Now and then some of it is where nothing is.
        ..Resource::new(
            middle + if random.one_in(12) { 4 * WORDS as u64 / 2 - 512 } else { 0 },
            if random.one_in(2) { 9 } else { 8 + r(random, 6) },
            format.0,
            format.1,
            size,
        )
    };
    let mut scalars = resource.words(cpu).to_vec();
    if random.one_in(12) {
        // MIN_LOD.
        scalars[1] |= r(random, 1024) << 8;
    }
    let filter = r(random, 2);
    let filters = if random.one_in(8) { r(random, 16) } else { filter | filter << 2 };
    let clamps = if random.one_in(3) { r(random, 512) } else { 0o111 * r(random, 5) };
    let few = |random: &mut Random, n: u64, of: u64| if random.one_in(of) { r(random, n) } else { 0 };
    scalars.push(
        clamps
            | few(random, 8, 12) << 9
            | r(random, 8) << 12
            | few(random, 2, 4) << 15
            | few(random, 2, 12) << 20
            | few(random, 4, 6) << 29,
    );
    scalars.push(few(random, 4096, 12) | 0xfff << 12);
    scalars.push(
        few(random, 16384, 12)
            | filters << 20
            | r(random, 4) << 24
            | few(random, 4, 3) << 26
            | few(random, 2, 12) << 28,
    );
    scalars.push(r(random, 4).min(r(random, 4)) << 30);
    let shape = random.next() % 4;
    for lane in 0..64u32 {
        for (n, register) in registers.iter_mut().enumerate().take(DATA as usize) {
            let mut half = |n| component(example, width, shape, (lane, n), random);
            register[lane as usize] = match example.short {
                true => half(2 * n) | half(2 * n + 1) << 16,
                false => half(n),
            };
        }
    }
    let exec = if random.one_in(2) { !0 } else { random.next() | 1 };
    Start { registers, memory, exec, scalars }
}

type Outcome = (Event, u32, Vec<[u32; 64]>, Vec<u32>);

fn outcome(
    start: &Start,
    cpu: &str,
    pc: u64,
    engine: &dyn Engine,
    memory: &Memory,
    at: &mut [u32],
) -> Outcome {
    at.copy_from_slice(&start.memory);
    let mut wave = Wave::new(&target(cpu), Shape { vgprs: VGPRS, agprs: 0 });
    wave.pc = pc;
    for (r, values) in start.registers.iter().enumerate() {
        *wave.vgpr_mut(r as u16).unwrap() = *values;
    }
    for (i, word) in (8..).zip(&start.scalars) {
        wave.set_sgpr(i, *word);
    }
    wave.set_exec(start.exec);
    let event = engine.run(&mut wave, &GroupShared::new(0), memory, 1000);
    (event, wave.mode, (0..VGPRS).map(|r| *wave.vgpr(r).unwrap()).collect(), at.to_vec())
}

#[test]
fn engines_agree() {
    let mut random = Random(0x70_1c70_5e5e);
    for cpu in CPUS {
        let (examples, code) = programs(cpu, &mut random);
        let mut buffer = vec![0u32; WORDS + 64];
        let memory = Memory::new();
        let first = (buffer.as_ptr() as u64).next_multiple_of(256);
        let skip = (first - buffer.as_ptr() as u64) as usize / 4;
        let buffer = &mut buffer[skip..skip + WORDS];
        // SAFETY: both live until the last run is over; nobody looks at the buffer meanwhile.
        unsafe {
            memory.add(code.as_ptr() as u64, 4 * code.len() as u64, false).unwrap();
            memory.add(first, 4 * WORDS as u64, true).unwrap();
        }
        let engines = engines(target(cpu));
        let (mut runs, mut ended) = (0, 0);
        for example in &examples {
            for _ in 0..RUNS {
                let start = start(example, cpu, first + 2 * WORDS as u64, &mut random);
                let pc = code.as_ptr() as u64 + example.at;
                let (name, plain) = engines.last().unwrap();
                assert_eq!(*name, "plain");
                let want = outcome(&start, cpu, pc, &**plain, &memory, buffer);
                (runs, ended) = (runs + 1, ended + u32::from(want.0 == Event::End));
                for (name, engine) in &engines[..engines.len() - 1] {
                    let got = outcome(&start, cpu, pc, &**engine, &memory, buffer);
                    let what =
                        format!("{cpu} {name}: {} {:x?} exec {:#x}", example.text, start.scalars, start.exec);
                    assert_eq!((&got.0, got.1), (&want.0, want.1), "{what}");
                    for r in 0..VGPRS as usize {
                        assert_eq!(got.2[r], want.2[r], "{what}: v{r}");
                    }
                    assert!(got.3 == want.3, "{what}: memory");
                }
            }
        }
        assert!(examples.len() > 40 && ended > runs / 2, "{cpu}: {ended} of {runs} ended well");
    }
}
