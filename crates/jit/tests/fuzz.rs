//! Random straight code and loops on random registers, lanes and modes, and random loads and stores: the JIT leaves what the
//! interpreter leaves.

#[allow(dead_code)]
#[path = "../../wave/tests/it/chaos.rs"]
mod chaos;
#[path = "fuzz/elements.rs"]
mod elements;

use chaos::{PROCESSORS, Random, instruction, state, target, unusual};
use std::cell::RefCell;
use wavemill_isa::row::Enc;
use wavemill_isa::{Decoder, Form, Inst, ROWS, Target};
use wavemill_jit::Jit;
use wavemill_sem::inst::Run;
use wavemill_wave::program::{Layout, fetch};
use wavemill_wave::{Engine, Event, GroupShared, Interp, Memory, Shape, Wave};

const SHAPE: Shape = Shape { vgprs: 40, agprs: 8 };

/// What a run leaves.
#[derive(PartialEq, Debug)]
struct Left {
    event: Event,
    pc: u64,
    vgprs: Vec<[u32; 64]>,
    scalars: Vec<u32>,
    counted: u64,
    memory: Vec<u64>,
    lds: Vec<u8>,
}

/// Pages of their own: scalar loads may read what is behind an allocation in its last page, which then is the same for all.
#[repr(align(4096))]
struct Pages<T>(T);

/// Memory for waves.
type Buffer = Pages<[u64; 512]>;

thread_local! {
    /// Where code runs, always at the same address: faults tell it.
    static CODE: RefCell<Box<Pages<[u8; 8192]>>> = RefCell::new(Box::new(Pages([0; 8192])));
}

fn new_buffer() -> Box<Buffer> {
    Box::new(Pages([0; 512]))
}

/// Runs code on a wave made from a seed.
fn run(cpu: &str, engine: &dyn Engine, code: &[u8], buffer: &mut Buffer, seed: u64) -> Left {
    run_with(cpu, engine, code, buffer, seed, |_, _, _| {})
}

/// The same, with something done to the wave first, which gets the buffer's address.
fn run_with(
    cpu: &str,
    engine: &dyn Engine,
    code: &[u8],
    Pages(buffer): &mut Buffer,
    seed: u64,
    prepare: impl Fn(&mut Random, &mut Wave, u64),
) -> Left {
    CODE.with_borrow_mut(|pages| {
        pages.0.fill(0);
        pages.0[..code.len()].copy_from_slice(code);
        let code = &pages.0[..code.len()];
        let memory = Memory::new();
        buffer.fill(0x0102_0304_3f80_4000);
        let address = buffer.as_mut_ptr() as u64;
        // SAFETY: both live until the run is over; the buffer is not looked at meanwhile.
        unsafe {
            memory.add(code.as_ptr() as u64, code.len() as u64, false).expect("a range of its own");
            memory.add(address, size_of_val(buffer) as u64, true).expect("a range of its own");
        }
        let (at, near) = (code.as_ptr() as u64, address + 2048);
        let mut random = Random(seed | 1);
        let mut wave: Wave = state(&mut random, cpu, SHAPE, at, near);
        if random.one_in(8) {
            unusual(&mut random, &mut wave, (at, code.len() / 4), near);
        }
        // The loop's counter.
        wave.set_sgpr(COUNTER, 3);
        prepare(&mut random, &mut wave, address);
        let mut group = GroupShared::new(512);
        group.scratch_base = near;
        let event = engine.run(&mut wave, &group, &memory, 2000);
        engine.invalidate(code.as_ptr() as u64, code.len() as u64);
        Left {
            event,
            pc: wave.pc.wrapping_sub(at),
            vgprs: (0..SHAPE.vgprs + SHAPE.agprs).filter_map(|r| wave.vgpr(r).copied()).collect(),
            scalars: (0..128)
                .map(|c| wave.sgpr(c))
                .chain([wave.scc as u32, wave.mode, wave.status])
                .collect(),
            counted: wave.counters.total(),
            memory: buffer.to_vec(),
            lds: group.lds.snapshot(),
        }
    })
}

const COUNTER: u32 = 90;

/// An instruction of a random row on the first few registers.
fn few_registers(random: &mut Random, target: Target) -> u64 {
    let packed = target.level().is_gfx9() && random.one_in(8);
    loop {
        let row = &ROWS[random.next() as usize % ROWS.len()];
        // Packed arithmetic is rare among all rows.
        if packed && row.enc != Enc::Vop3p {
            continue;
        }
        let form = [Form::Base, Form::Base, Form::Vop3, Form::Dpp][random.next() as usize % 4];
        if row.has_form(form, target.level()) && form == Form::Dpp {
            let bits = Inst::new(row, form, target.level()).bits as u32 ^ random.next() as u32 & 0x0007_0707;
            return u64::from(dpp(random)) << 32 | u64::from(bits);
        }
        if row.has_form(form, target.level()) {
            return Inst::new(row, form, target.level()).bits ^ random.next() & 0x0003_0703_0007_0707;
        }
    }
}

/// DPP's dword: one of the first registers, a control, perhaps the sources' signs, masks that mostly leave all lanes on.
fn dpp(random: &mut Random) -> u32 {
    let any = random.next() as u32;
    let control = match random.next() % 8 {
        0..2 => any & 0xff,
        2..4 => 0x100 | any & 0x1f,
        4 => 0x120 | any & 15,
        5 => 0x150 | any & 15,
        6 => [0x140, 0x141][any as usize % 2],
        _ => [0x130, 0x134, 0x138, 0x13c, 0x142, 0x143][any as usize % 6],
    };
    let masks = if random.one_in(3) { any >> 24 } else { 0xff };
    let modifiers = if random.one_in(4) { any & 0x00f0_0000 } else { 0 };
    any >> 8 & 7 | control << 8 | (any >> 12 & 1) << 19 | modifiers | masks << 24
}

/// An instruction that is arithmetic, or mostly.
fn arithmetic(random: &mut Random, target: Target, decoder: &Decoder, dense: bool, strict: bool) -> Vec<u8> {
    let layout = Layout::of(&Wave::new(&target, SHAPE));
    loop {
        let word = if dense { few_registers(random, target) } else { instruction(random, target.cpu) };
        let word = word.to_le_bytes();
        let memory = Memory::new();
        // SAFETY: the bytes live until they are decoded.
        unsafe { memory.add(word.as_ptr() as u64, 8, false).expect("a range of its own") };
        let inst = fetch(decoder, &memory, word.as_ptr() as u64, layout, 0);
        let arithmetic = matches!(inst.run, Run::Valu(_) | Run::Compare(_) | Run::Salu | Run::Nop);
        if arithmetic || !strict && random.one_in(3) {
            return word[..inst.len as usize].to_vec();
        }
    }
}

/// Some instructions, most of them vector or scalar arithmetic, perhaps in a loop.
fn program(random: &mut Random, target: Target, decoder: &Decoder) -> Vec<u8> {
    let mut code = Vec::new();
    let length = 1 + random.next() as usize % 24;
    let strict = !random.one_in(4);
    // With few registers, instructions overwrite what others read.
    let dense = random.one_in(2);
    for _ in 0..length {
        code.extend(arithmetic(random, target, decoder, dense, strict));
    }
    if random.one_in(2) {
        let words = (code.len() / 4) as i16;
        // s_sub_u32 s90, s90, 1; s_cmp_lg_u32 s90, 0; s_cbranch_scc1 to the start.
        let cbranch = 0xbf85_0000 | (-(words + 3)) as u16 as u32;
        for word in [0x80da_815a, 0xbf07_805a, cbranch] {
            code.extend(u32::to_le_bytes(word));
        }
    }
    code.extend([0xbf81_0000u32.to_le_bytes(); 2].concat());
    code
}

/// Half of the waves have the usual float mode, and half of these all lanes active, as compilers' code has.
fn often_usual(random: &mut Random, wave: &mut Wave, _: u64) {
    if random.one_in(2) {
        wave.mode = 0xf0;
        if random.one_in(2) {
            wave.set_exec(!0);
        }
    }
}

/// `WAVEMILL_RANDOM=seconds` goes on for so long, each time with other numbers.
#[test]
fn random_code_leaves_the_same() {
    let seconds: Option<u64> = std::env::var("WAVEMILL_RANDOM").ok().and_then(|s| s.parse().ok());
    let start = std::time::Instant::now();
    let mut random = Random(match seconds {
        None => 0x1dea_5eed_0bad_cafe | 1,
        Some(_) => std::time::UNIX_EPOCH.elapsed().map_or(1, |t| t.as_nanos() as u64 | 1),
    });
    let mut buffer = new_buffer();
    let mut runs = 0u64;
    loop {
        for cpu in PROCESSORS {
            let target = target(cpu);
            let jits = Jit::all(target);
            let (interp, decoder) = (Interp::new(target), Decoder::new(target));
            for _ in 0..100 {
                let code = program(&mut random, target, &decoder);
                for _ in 0..3 {
                    let seed = random.next();
                    let want = run_with(cpu, &interp, &code, &mut buffer, seed, often_usual);
                    for jit in &jits {
                        let got = run_with(cpu, jit, &code, &mut buffer, seed, often_usual);
                        let made_of = jit.simd().name();
                        assert!(want == got, "{made_of}: {}", difference(cpu, seed, &code, &want, &got));
                        runs += 1;
                    }
                }
            }
        }
        if seconds.is_none_or(|s| start.elapsed().as_secs() >= s) {
            break;
        }
    }
    println!("{runs} programs");
}

/// A register goes elsewhere and is overwritten in the same run of scalar instructions.
#[test]
fn scalar_registers_are_read_before_they_are_written() {
    let cpu = "gfx600";
    let Some(jit) = Jit::new(target(cpu)) else { return };
    // s_mov_b64 s[20:21], s[0:1]; s_mov_b32 s0, 16; s_mov_b32 s30, s1; s_mov_b32 s1, 17; s_endpgm
    let words = [0xbe94_0400, 0xbe80_0390, 0xbe9e_0301, 0xbe81_0391, 0xbf81_0000, 0xbf81_0000];
    let code: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let mut buffer = new_buffer();
    for seed in [2, 4, 6] {
        let want = run(cpu, &Interp::new(target(cpu)), &code, &mut buffer, seed);
        let got = run(cpu, &jit, &code, &mut buffer, seed);
        assert!(want == got, "{}", difference(cpu, seed, &code, &want, &got));
        assert_eq!((got.scalars[0], got.scalars[1]), (16, 17));
    }
}

/// What differs, and the code in hexadecimal dwords.
fn difference(cpu: &str, seed: u64, code: &[u8], want: &Left, got: &Left) -> String {
    let words: Vec<String> =
        code.chunks(4).map(|w| format!("{:#010x}", u32::from_le_bytes([w[0], w[1], w[2], w[3]]))).collect();
    let mut out = format!("{cpu}, seed {seed:#x}: {}\n", words.join(","));
    if (&want.event, want.pc, want.counted) != (&got.event, got.pc, got.counted) {
        out += &format!(
            "{:?} at {:#x}, {} instructions; jit: {:?} at {:#x}, {}\n",
            want.event, want.pc, want.counted, got.event, got.pc, got.counted
        );
    }
    for (i, (w, g)) in want.scalars.iter().zip(&got.scalars).enumerate().filter(|(_, (w, g))| w != g) {
        out += &format!("s{i}: {w:#x}; jit: {g:#x}\n");
    }
    if let Some(i) = (0..want.memory.len()).find(|&i| want.memory[i] != got.memory[i]) {
        out += &format!("memory {:#x}: {:#x}; jit: {:#x}\n", 8 * i, want.memory[i], got.memory[i]);
    }
    if let Some(i) = (0..want.lds.len()).find(|&i| want.lds[i] != got.lds[i]) {
        out += &format!("LDS {i:#x}: {:#x}; jit: {:#x}\n", want.lds[i], got.lds[i]);
    }
    for (r, (w, g)) in want.vgprs.iter().zip(&got.vgprs).enumerate() {
        if let Some(lane) = (0..64).find(|&l| w[l] != g[l]) {
            out += &format!("v{r} lane {lane}: {:#x}; jit: {:#x}\n", w[lane], g[lane]);
        }
    }
    out
}

/// Offsets of 64 lanes into a buffer of some bytes, in one of the ways that kernels have: one after another, all the same, apart,
/// anywhere, and some or all of them outside.
fn offsets(random: &mut Random, bytes: u32) -> [u32; 64] {
    let (first, step) =
        ((random.next() as u32 % bytes) & !3, [0, 1, 2, 4, 8, 12, 16, 20][random.next() as usize % 8]);
    let way = random.next() % 8;
    std::array::from_fn(|lane| {
        let anywhere = random.next() as u32 % bytes;
        match way {
            0..4 => first % (bytes / 2) + step * lane as u32,
            4 => anywhere & !7,
            5 => anywhere,
            6 if lane % 16 == 5 => anywhere,
            6 => first / 2 + 4 * (lane as u32 % 16),
            _ => first + step * lane as u32,
        }
    })
}

/// v[28:29] and s20, s21 are what [`index_arithmetic`] makes addresses of: numbers that count up, or nearly, in one of the ways
/// that work-items are counted, perhaps beyond 32 bits; and bits to keep.
fn indices(random: &mut Random, wave: &mut Wave) {
    let first = match random.next() % 6 {
        0 => random.next() as u32 % 512,
        1 => 64 * (random.next() as u32 % 8),
        2 => 0u32.wrapping_sub(random.next() as u32 % 80),
        3 => (1 << 30) + random.next() as u32 % 256,
        4 => (1 << 31) - random.next() as u32 % 80,
        _ => 0,
    };
    let step = [1, 1, 1, 0, 2, 4][random.next() as usize % 6];
    let odd = if random.one_in(8) { random.next() as usize % 64 } else { 64 };
    let at = |lane: usize| first.wrapping_add(step * lane as u32).wrapping_add((lane == odd).into());
    wave.vgpr_mut(28).into_iter().for_each(|v| *v = std::array::from_fn(at));
    let high = if random.one_in(8) { random.next() as u32 & 1 } else { 0 };
    wave.vgpr_mut(29).into_iter().for_each(|v| *v = [high; 64]);
    wave.set_sgpr(20, [0x3ff, !0, 0x7f, 0x1c0, 63, 127, 0xffff_ff00][random.next() as usize % 7]);
    wave.set_sgpr(21, if random.one_in(3) { 0u32.wrapping_sub(first) } else { random.next() as u32 % 64 });
}

/// How compilers make offsets (v1) and addresses (v[2:3]) of indices.
fn index_arithmetic(random: &mut Random, gfx9: bool) -> String {
    let (add, addc) = if gfx9 { ("v_add_co_u32", "v_addc_co_u32") } else { ("v_add_u32", "v_addc_u32") };
    let base = format!("{add} v2, vcc, s2, v2\nv_mov_b32 v30, s3\n{addc} v3, vcc, v30, v3, vcc");
    match random.next() % 8 {
        0 => format!("v_lshlrev_b64 v[2:3], {}, v[28:29]\n{base}", random.next() % 4),
        1 => format!("v_lshlrev_b32 v2, 2, v28\nv_mov_b32 v3, 0\n{base}"),
        2 => format!("v_mad_u64_u32 v[2:3], vcc, v28, {}, s[2:3]", [4, 8, 16][random.next() as usize % 3]),
        3 => "v_and_b32 v28, s20, v28".to_owned(),
        4 => "v_and_b32 v28, 0x3ff, v28".to_owned(),
        5 => format!("{add} v28, vcc, s21, v28"),
        6 => format!("v_lshlrev_b32 v1, {}, v28", random.next() % 4),
        _ => format!("{add} v2, vcc, {}, v2\n{addc} v3, vcc, 0, v3, vcc", 4 * (random.next() % 16)),
    }
}

/// Private memory, where FLAT_SCRATCH says and in the buffer that s[4:7] describe, or nearly: v31 has offsets in it, s22 and s23
/// have scalar ones.
fn private(random: &mut Random, wave: &mut Wave, buffer: u64) {
    let pick = |random: &mut Random, all: &[u32]| all[random.next() as usize % all.len()];
    let begin = buffer + u64::from(pick(random, &[0, 0, 256, 1024, 4]));
    // Anything may be in FLAT_SCRATCH; addresses beyond the host's are no more there than others.
    let beyond =
        if random.one_in(8) { [1 << 63, 0xfffe << 48, 1 << 47][random.next() as usize % 3] } else { 0 };
    wave.set_flat_scratch(begin ^ beyond);
    wave.scratch_bytes = pick(random, &[0, 12, 24, 48, 30]);
    wave.set_sgpr64(4, begin);
    let swizzle = if random.one_in(16) { 0 } else { 1 << 31 };
    wave.set_sgpr(5, (begin >> 32) as u32 | swizzle);
    wave.set_sgpr(6, pick(random, &[4096, 16, 0]));
    // Lane numbers are added, and 64 of them stand together, of four bytes each (a field of GFX8); mostly.
    let usual = 7 << 21 | if wave.level().is_gfx9() { 0 } else { 1 << 19 };
    let fields = if random.one_in(16) { random.next() as u32 & 31 << 19 } else { usual };
    wave.set_sgpr(7, fields | (random.next() as u32 & 15) << 15);
    wave.set_sgpr(22, pick(random, &[0, 256, 512, 4]));
    wave.set_sgpr(23, pick(random, &[0, 4, 8, 2]));
    let (way, first) = (random.next() % 6, pick(random, &[0, 4, 8, 16, 20]));
    let at = |lane: u32, random: &mut Random| match way {
        0..3 => first,
        3 => first + pick(random, &[0, 4, 8]),
        4 => pick(random, &[0, 1, 2, 3, 5, 12]),
        _ => first.wrapping_add(if lane == 21 { pick(random, &[4, 2, 0x4000, !0]) } else { 0 }),
    };
    let all = std::array::from_fn(|lane| at(lane as u32, random));
    wave.vgpr_mut(31).into_iter().for_each(|v| *v = all);
}

/// v0 and v1 have offsets, v[2:3] addresses, s[2:3] the buffer's address or one below; the rest is as it was.
fn addresses(random: &mut Random, wave: &mut Wave, buffer: u64) {
    let bytes = 4096;
    for r in [0, 1] {
        let all = offsets(random, if r == 0 { 512 } else { bytes });
        wave.vgpr_mut(r).into_iter().for_each(|v| *v = all);
    }
    let all = offsets(random, bytes).map(|o| buffer + u64::from(o));
    wave.vgpr_mut(2).into_iter().for_each(|v| *v = all.map(|a| a as u32));
    wave.vgpr_mut(3).into_iter().for_each(|v| *v = all.map(|a| (a >> 32) as u32));
    wave.set_sgpr64(2, buffer.wrapping_sub(if random.one_in(3) { random.next() % 64 } else { 0 }));
    indices(random, wave);
    private(random, wave, buffer);
    elements::prepare(random, wave, buffer);
    wave.set_sgpr(124, if random.one_in(4) { 100 } else { u32::MAX });
    if random.one_in(2) {
        wave.set_exec([!0, 0xffff, 1 << 40, 0x5555_ffff_0000_8001, !0 >> 3][random.next() as usize % 5]);
    }
    // Plain floats: what is rare is others' business.
    wave.mode = 0xf0;
}

/// Loads, stores and what compilers put between them.
fn accesses(random: &mut Random, gfx9: bool) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.next() % 20 {
        let d = 4 + 4 * (random.next() % 6);
        let pick = |random: &mut Random, all: &[&'static str]| all[random.next() as usize % all.len()];
        let dwords = |name: &str| match name {
            n if n.ends_with("x2") || n.ends_with("b64") => 2,
            n if n.ends_with("x3") || n.ends_with("b96") => 3,
            n if n.ends_with("x4") || n.ends_with("b128") => 4,
            _ => 1,
        };
        let tuple = |first: u64, n: u64| match n {
            1 => format!("v{first}"),
            n => format!("v[{first}:{}]", first + n - 1),
        };
        let line = match random.next() % 21 {
            18..21 => elements::access(random, gfx9, d),
            15..18 => {
                let (load, store) = (
                    ["ubyte", "sbyte", "ushort", "sshort", "dword", "dword", "dwordx2", "dwordx3", "dwordx4"],
                    ["byte", "byte", "short", "short", "dword", "dword", "dwordx2", "dwordx3", "dwordx4"],
                );
                let loads = !random.one_in(3);
                let name = pick(random, if loads { &load } else { &store });
                let (what, data) = (if loads { "load" } else { "store" }, tuple(d, dwords(name)));
                let offset = [0, 0, 4, 8, 1, 2][random.next() as usize % 6];
                match (gfx9 && random.one_in(2), loads, random.one_in(2)) {
                    (true, true, false) => format!("scratch_load_{name} {data}, v31, off offset:{offset}"),
                    (true, true, true) => format!("scratch_load_{name} {data}, off, s23 offset:{offset}"),
                    (true, false, false) => format!("scratch_store_{name} v31, {data}, off offset:{offset}"),
                    (true, false, true) => format!("scratch_store_{name} off, {data}, s23 offset:{offset}"),
                    (false, _, false) => {
                        format!("buffer_{what}_{name} {data}, v31, s[4:7], s22 offen offset:{offset}")
                    }
                    (false, _, true) => {
                        format!("buffer_{what}_{name} {data}, off, s[4:7], s22 offset:{}", offset + 12)
                    }
                }
            }
            0..3 => {
                let name = pick(
                    random,
                    &[
                        "ubyte", "sbyte", "ushort", "sshort", "dword", "dword", "dwordx2", "dwordx3",
                        "dwordx4",
                    ],
                );
                let to = tuple(d, dwords(name));
                let offset = random.next() % 64 * 4;
                match (gfx9, random.next() % 3) {
                    (true, 0) => format!("global_load_{name} {to}, v1, s[2:3] offset:{offset}"),
                    (true, 1) => format!("global_load_{name} {to}, v[2:3], off offset:-{offset}"),
                    _ => format!("flat_load_{name} {to}, v[2:3]"),
                }
            }
            3 => {
                let name =
                    pick(random, &["byte", "short", "dword", "dword", "dwordx2", "dwordx3", "dwordx4"]);
                let from = tuple(d, dwords(name));
                let offset = random.next() % 64 * 4;
                match (gfx9, random.next() % 3) {
                    (true, 0) => format!("global_store_{name} v1, {from}, s[2:3] offset:{offset}"),
                    (true, 1) => format!("global_store_{name} v[2:3], {from}, off offset:{offset}"),
                    _ => format!("flat_store_{name} v[2:3], {from}"),
                }
            }
            4 | 5 => {
                let name = pick(random, &["u8", "i8", "u16", "i16", "b32", "b32", "b64", "b96", "b128"]);
                format!("ds_read_{name} {}, v0 offset:{}", tuple(d, dwords(name)), random.next() % 32)
            }
            6 => match random.next() % 4 {
                0 => format!("ds_write2_b32 v0, v{d}, v{} offset1:{}", d + 1, random.next() % 40),
                1 => format!(
                    "ds_write2_b64 v0, v[{d}:{}], v[{}:{}] offset1:{}",
                    d + 1,
                    d + 2,
                    d + 3,
                    random.next() % 16
                ),
                2 => format!("ds_read2_b32 v[{d}:{}], v0 offset1:{}", d + 1, random.next() % 16),
                _ => {
                    format!("ds_read2_b64 v[{d}:{}], v0 offset0:1 offset1:{}", d + 3, random.next() % 16)
                }
            },
            7 => {
                let name = pick(random, &["b8", "b16", "b32", "b32", "b64", "b96", "b128"]);
                format!("ds_write_{name} v0, {} offset:{}", tuple(d, dwords(name)), random.next() % 32)
            }
            8 if random.one_in(2) => {
                let control = pick(
                    random,
                    &[
                        "quad_perm:[1,0,3,2]",
                        "row_shr:1",
                        "row_shl:3 bound_ctrl:0",
                        "row_ror:5",
                        "row_mirror row_mask:0xa",
                        "row_half_mirror bank_mask:0x6",
                        "wave_shr:1",
                        "row_bcast:15 row_mask:0xa",
                        "row_bcast:31 bound_ctrl:0",
                    ],
                );
                // An offset that lanes have from others, and data.
                let to = if random.one_in(3) { 1 } else { d };
                format!("v_mov_b32_dpp v{to}, v{} {control}", if to == 1 { 1 } else { d + 1 })
            }
            8 => "s_waitcnt vmcnt(0) lgkmcnt(0)".to_owned(),
            12..15 => index_arithmetic(random, gfx9),
            9 => format!("v_xor_b32 v{d}, v{}, v{}", d + 1, 4 + random.next() % 24),
            10 => match random.next() % 4 {
                0 => format!("v_cmp_lt_u32 vcc, v{d}, v{}", 4 + random.next() % 24),
                1 => format!("v_cndmask_b32 v{d}, v{}, v{}, vcc", d + 1, 4 + random.next() % 24),
                2 => format!("v_cmp_gt_u32 s[10:11], v{d}, v{}\n s_and_b64 exec, exec, s[10:11]", d + 2),
                _ => format!("v_cmpx_lt_u32 exec, v{d}, v{}", d + 1).replace(" exec,", " vcc,"),
            },
            _ => match random.next() % 4 {
                0 => "v_xor_b32 v0, 4, v0".to_owned(),
                1 => "v_xor_b32 v1, 64, v1".to_owned(),
                2 => format!("v_and_b32 v1, 0xffc, v{d}"),
                _ => format!("v_add_f32 v{d}, v{}, v{d}", d + 3),
            },
        };
        text += &line;
        text.push('\n');
    }
    text
}

/// Loads and stores of lanes that follow each other, are together, anywhere, outside, with arithmetic between them.
#[test]
fn random_accesses_leave_the_same() {
    let seconds: Option<u64> = std::env::var("WAVEMILL_RANDOM").ok().and_then(|s| s.parse().ok());
    let start = std::time::Instant::now();
    let mut random = Random(match seconds {
        None => 0x5eed_0bad_cafe_1dea | 1,
        Some(_) => std::time::UNIX_EPOCH.elapsed().map_or(1, |t| t.as_nanos() as u64 | 1),
    });
    let mut buffer = new_buffer();
    let (mut runs, mut ended) = (0u64, 0u64);
    loop {
        for cpu in ["gfx90a", "gfx900", "gfx803"] {
            let jits = Jit::all(target(cpu));
            let interp = Interp::new(target(cpu));
            for _ in 0..150 {
                let text = accesses(&mut random, cpu != "gfx803");
                let mut options = wavemill_asm::Options::new(target(cpu));
                options.output = wavemill_asm::OutputType::Obj;
                let output = wavemill_asm::assemble(&options, "accesses", format!("{text}s_endpgm\n").into());
                assert!(!output.failed(), "{cpu}: {}", String::from_utf8_lossy(&output.render_diagnostics()));
                let code =
                    output.object.as_ref().and_then(|o| o.sections.iter().find(|s| s.has_instructions));
                let code = code.map(|s| s.data.to_vec()).unwrap_or_default();
                for _ in 0..6 {
                    let seed = random.next() & !7;
                    let want = run_with(cpu, &interp, &code, &mut buffer, seed, addresses);
                    for jit in &jits {
                        let got = run_with(cpu, jit, &code, &mut buffer, seed, addresses);
                        let made_of = jit.simd().name();
                        assert!(
                            want == got,
                            "{made_of}: {text}{}",
                            difference(cpu, seed, &code, &want, &got)
                        );
                    }
                    runs += 1;
                    ended += u64::from(want.event == Event::End);
                }
            }
        }
        if seconds.is_none_or(|s| start.elapsed().as_secs() >= s) {
            break;
        }
    }
    assert!(ended * 4 > runs, "most of {runs} runs fault: {ended} do not");
    println!("{runs} programs, {ended} to their end");
}

/// DPP with all its controls, moves between lanes and scalar registers, and what makes and uses their operands.
fn moves(random: &mut Random, cpu: &str) -> String {
    let mut text = String::new();
    let gfx9 = cpu != "gfx803";
    for _ in 0..1 + random.next() % 12 {
        let mut pick = |all: &[&'static str]| all[random.next() as usize % all.len()];
        let [d, a, b] = [0; 3].map(|_| pick(&["v0", "v1", "v2", "v3", "v4", "v5"]));
        let control = pick(&[
            "quad_perm:[1,0,3,2]",
            "quad_perm:[3,3,0,1]",
            "row_shl:1",
            "row_shl:7",
            "row_shr:1",
            "row_shr:15",
            "row_ror:5",
            "row_mirror",
            "row_half_mirror",
            "wave_shl:1",
            "wave_rol:1",
            "wave_shr:1",
            "wave_ror:1",
            "row_bcast:15",
            "row_bcast:31",
            "row_newbcast:3",
        ]);
        // Only gfx90a has it.
        let control = if control.contains("new") && cpu != "gfx90a" { "row_shr:3" } else { control };
        let masks = pick(&["", "", " row_mask:0xa", " bank_mask:0x6", " row_mask:0x9 bank_mask:0xc"]);
        let bound = pick(&["", " bound_ctrl:0"]);
        let dpp = format!("{control}{masks}{bound}");
        let add = if gfx9 { "v_add_co_u32_dpp" } else { "v_add_u32_dpp" };
        let line = match random.next() % 18 {
            0..4 => format!("v_mov_b32_dpp {d}, {a} {dpp}"),
            4 => format!("v_add_f32_dpp {d}, -{a}, |{b}| {dpp}"),
            5 => format!("v_max_f32_dpp {d}, {a}, {b} {dpp}"),
            6 => format!("v_mul_f16_dpp {d}, {a}, {b} {dpp}"),
            7 => format!("{add} {d}, vcc, {a}, {b} {dpp}"),
            8 => format!("v_cndmask_b32_dpp {d}, {a}, {b}, vcc {dpp}"),
            9 => format!("v_mac_f32_dpp {d}, {a}, {b} {dpp}"),
            10 if cpu == "gfx90a" => {
                format!("v_ceil_f64_dpp v[{}:{}], v[2:3] row_newbcast:7{masks}{bound}", 4, 5)
            }
            10 | 11 => format!("v_xor_b32 {d}, {a}, {b}"),
            12 => format!("v_cmpx_lt_u32 vcc, {a}, {b}"),
            13 => format!("v_readlane_b32 s{}, {a}, s41", 40 + random.next() % 2),
            14 => format!("v_readlane_b32 s42, {a}, {}", random.next() % 64),
            15 => format!(
                "v_readfirstlane_b32 {}, {a}",
                ["s40", "s41", "vcc_lo", "exec_lo"][random.next() as usize % 4]
            ),
            16 => {
                format!("v_writelane_b32 {d}, s40, {}", ["s40", "m0", "63", "5"][random.next() as usize % 4])
            }
            _ => format!("v_writelane_b32 {d}, {}, s41", ["s41", "7", "-1"][random.next() as usize % 3]),
        };
        text += &line;
        text.push('\n');
    }
    text
}

/// Lanes that read others, whichever are active.
#[test]
fn lanes_that_read_others_leave_the_same() {
    let seconds: Option<u64> = std::env::var("WAVEMILL_RANDOM").ok().and_then(|s| s.parse().ok());
    let start = std::time::Instant::now();
    let mut random = Random(match seconds {
        None => 0x0bad_cafe_1dea_5eed | 1,
        Some(_) => std::time::UNIX_EPOCH.elapsed().map_or(1, |t| t.as_nanos() as u64 | 1),
    });
    let mut buffer = new_buffer();
    loop {
        for cpu in ["gfx90a", "gfx900", "gfx803"] {
            let jits = Jit::all(target(cpu));
            let interp = Interp::new(target(cpu));
            for _ in 0..150 {
                let text = moves(&mut random, cpu);
                let mut options = wavemill_asm::Options::new(target(cpu));
                options.output = wavemill_asm::OutputType::Obj;
                let output = wavemill_asm::assemble(&options, "moves", format!("{text}s_endpgm\n").into());
                assert!(!output.failed(), "{cpu}: {}", String::from_utf8_lossy(&output.render_diagnostics()));
                let code = output.object.iter().flat_map(|o| &o.sections).find(|s| s.has_instructions);
                let code = code.map(|s| s.data.to_vec()).unwrap_or_default();
                for _ in 0..4 {
                    let seed = random.next();
                    let want = run(cpu, &interp, &code, &mut buffer, seed);
                    for jit in &jits {
                        let got = run(cpu, jit, &code, &mut buffer, seed);
                        let made_of = jit.simd().name();
                        assert!(
                            want == got,
                            "{made_of}: {text}{}",
                            difference(cpu, seed, &code, &want, &got)
                        );
                    }
                }
            }
        }
        if seconds.is_none_or(|s| start.elapsed().as_secs() >= s) {
            break;
        }
    }
}

/// Rows of the buffer that [`paths`] stores registers to at the end.
const ROWS_LEFT: u64 = 12;

/// Blocks that lead to each other, and overwrite what others read or do not, in all lanes or some.
fn paths(random: &mut Random, cpu: &str) -> String {
    let gfx9 = cpu != "gfx803";
    let blocks = 2 + random.next() % 5;
    let mut text = String::new();
    for block in 0..blocks {
        // However they lead to each other, it ends.
        text += &format!("b{block}: s_sub_u32 s90, s90, 1\n s_cmp_eq_u32 s90, 0\n s_cbranch_scc1 over\n");
        for _ in 0..random.next() % 7 {
            let mut pick = |all: &[&'static str]| all[random.next() as usize % all.len()];
            const ALL: [&str; 8] = ["v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11"];
            let [d, a, b] = [0; 3].map(|_| pick(&ALL));
            let mask = pick(&["vcc", "s[10:11]", "s[12:13]"]);
            let swap = if gfx9 { format!("v_swap_b32 {d}, {a}") } else { format!("v_not_b32 {d}, {a}") };
            let acc = pick(&["a0", "a1", "a2"]);
            let line = match random.next() % 36 {
                24..28 => format!("v_cmpx_ne_u32 {mask}, {a}, {b}"),
                // A row of private memory.
                28..30 => {
                    format!("buffer_store_dword {a}, off, s[4:7], 0 offset:{}", 4 * (random.next() % 4))
                }
                30..32 => format!("buffer_load_dword {d}, off, s[4:7], 0 offset:{}", 4 * (random.next() % 4)),
                32 if cpu == "gfx90a" => format!("v_mfma_f32_4x4x1f32 a[0:3], {a}, {b}, a[0:3]"),
                33 if cpu == "gfx90a" => format!("v_accvgpr_write_b32 {acc}, {a}"),
                34..36 if cpu == "gfx90a" => format!("v_accvgpr_read_b32 {d}, {acc}"),
                0..6 => format!("v_xor_b32 {d}, {a}, {b}"),
                6 => format!("v_mov_b32 {d}, {}", random.next() % 60),
                7 => format!("v_alignbit_b32 {d}, {a}, {b}, 7"),
                8 => format!("v_cmp_lt_u32 {mask}, {a}, {b}"),
                9 => format!("v_cndmask_b32 {d}, {a}, {b}, {mask}"),
                10 => format!("v_cmpx_gt_u32 {mask}, {a}, {b}"),
                11 => format!("s_and_b64 exec, exec, {mask}"),
                12 => format!("s_mov_b64 exec, {}", ["-1", "s[14:15]", "vcc"][random.next() as usize % 3]),
                13 => format!("s_or_saveexec_b64 {mask}, s[14:15]"),
                14 => format!("s_xor_b64 s[12:13], {mask}, exec"),
                15 => format!("v_readlane_b32 s14, {a}, {}", random.next() % 64),
                16 => format!("v_writelane_b32 {d}, s11, {}", random.next() % 64),
                17 => format!("v_mov_b32_dpp {d}, {a} row_shr:1 row_mask:0x5"),
                18 => format!("v_mov_b32_sdwa {d}, {a} dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE"),
                19 => format!("ds_read_b32 {d}, v0 offset:{}", 4 * (random.next() % 32)),
                20 => format!("ds_write_b32 v0, {a} offset:{}", 4 * (random.next() % 32)),
                21 => format!("ds_bpermute_b32 {d}, {a}, {b}"),
                22 => format!("v_lshlrev_b64 v[10:11], {}, v[4:5]", random.next() % 64),
                _ => swap,
            };
            text += &format!(" {line}\n");
        }
        let condition = ["scc0", "vccz", "vccnz", "execz", "execnz"][random.next() as usize % 5];
        match random.next() % 4 {
            0 => {}
            1 => text += &format!(" s_branch b{}\n", random.next() % blocks),
            _ => text += &format!(" s_cbranch_{condition} b{}\n", random.next() % blocks),
        }
    }
    text + "over:\n" + &leaving()
}

/// Stores a few registers of all lanes where [`nobody_looks`] says, and ends.
fn leaving() -> String {
    let mut text = " s_mov_b64 s[16:17], exec\n s_mov_b64 exec, -1\n".to_owned();
    for row in 0..ROWS_LEFT {
        let scalar = ["vcc_lo", "vcc_hi", "s10", "s16"];
        if let Some(s) = scalar.get(row as usize) {
            text += &format!(" v_mov_b32 v12, {s}\n");
        }
        let from = if row < 4 { 12 } else { row };
        text += &format!(" flat_store_dword v[{}:{}], v{from}\n", 16 + 2 * row, 17 + 2 * row);
    }
    text + " s_endpgm\n"
}

/// Arithmetic of all rows on few registers, in pieces that branches lead around, and what `leaving` assembles to.
fn pieces(random: &mut Random, target: Target, decoder: &Decoder, leaving: &[u8]) -> Vec<u8> {
    let count = 2 + random.next() as usize % 5;
    let all: Vec<Vec<u8>> = (0..count)
        .map(|_| {
            let mut code = Vec::new();
            (0..1 + random.next() % 8)
                .for_each(|_| code.extend(arithmetic(random, target, decoder, true, true)));
            code
        })
        .collect();
    let mut code = Vec::new();
    for (i, piece) in all.iter().enumerate() {
        code.extend(piece);
        // To the piece behind the next one: SCC, VCC and EXEC decide.
        if let Some(next) = all.get(i + 1) {
            let skipped = next.len() / 4 + usize::from(i + 2 < count);
            let branch = 0xbf84_0000 | (random.next() as u32 % 6) << 16 | skipped as u32;
            code.extend(branch.to_le_bytes());
        }
    }
    code.extend(leaving);
    code
}

/// Nobody looks at the wave; v0 counts lanes' bytes, and v16 to v39 have where it leaves its registers.
fn nobody_looks(random: &mut Random, wave: &mut Wave, buffer: u64) {
    wave.forgets = true;
    wave.mode = 0xf0;
    wave.set_exec([!0, 0x5555_ffff_0000_8001, 1 << 40][random.next() as usize % 3]);
    wave.set_sgpr(124, u32::MAX);
    // Four dwords of each lane behind what is left there.
    let begin = buffer + 256 * ROWS_LEFT;
    let usual = 4 << 15 | 7 << 21 | if wave.level().is_gfx9() { 0 } else { 1 << 19 };
    for (code, word) in [(4, begin as u32), (5, (begin >> 32) as u32 | 1 << 31), (6, 1024), (7, usual)] {
        wave.set_sgpr(code, word);
    }
    wave.vgpr_mut(0).into_iter().for_each(|v| *v = std::array::from_fn(|lane| 4 * lane as u32));
    for row in 0..ROWS_LEFT as u16 {
        let at = |lane: usize| buffer + 256 * u64::from(row) + 4 * lane as u64;
        wave.vgpr_mut(16 + 2 * row).into_iter().for_each(|v| *v = std::array::from_fn(|l| at(l) as u32));
        wave.vgpr_mut(17 + 2 * row)
            .into_iter()
            .for_each(|v| *v = std::array::from_fn(|l| (at(l) >> 32) as u32));
    }
}

/// What code does not write because nobody reads it, nobody misses: waves leave the same in memory.
#[test]
fn waves_that_nobody_looks_at_store_the_same() {
    let seconds: Option<u64> = std::env::var("WAVEMILL_RANDOM").ok().and_then(|s| s.parse().ok());
    let start = std::time::Instant::now();
    let mut random = Random(match seconds {
        None => 0xcafe_1dea_5eed_0bad | 1,
        Some(_) => std::time::UNIX_EPOCH.elapsed().map_or(1, |t| t.as_nanos() as u64 | 1),
    });
    let mut buffer = new_buffer();
    let (mut runs, mut ended) = (0u64, 0u64);
    loop {
        for cpu in ["gfx90a", "gfx900", "gfx803"] {
            let jits = Jit::all(target(cpu));
            let interp = Interp::new(target(cpu));
            let decoder = Decoder::new(target(cpu));
            for i in 0..200 {
                let text = if i % 2 == 0 { paths(&mut random, cpu) } else { leaving() };
                let mut options = wavemill_asm::Options::new(target(cpu));
                options.output = wavemill_asm::OutputType::Obj;
                let output = wavemill_asm::assemble(&options, "paths", text.clone().into());
                assert!(!output.failed(), "{cpu}: {}", String::from_utf8_lossy(&output.render_diagnostics()));
                let code = output.object.iter().flat_map(|o| &o.sections).find(|s| s.has_instructions);
                let mut code = code.map(|s| s.data.to_vec()).unwrap_or_default();
                if i % 2 != 0 {
                    code = pieces(&mut random, target(cpu), &decoder, &code);
                }
                for _ in 0..4 {
                    let seed = random.next() & !7;
                    let rounds = 2 + random.next() as u32 % 12;
                    let prepare = |random: &mut Random, wave: &mut Wave, buffer: u64| {
                        nobody_looks(random, wave, buffer);
                        wave.set_sgpr(COUNTER, rounds);
                    };
                    let left = |engine: &dyn Engine, buffer: &mut Buffer| {
                        let left = run_with(cpu, engine, &code, buffer, seed, prepare);
                        // The rest nobody has looked at.
                        Left { vgprs: Vec::new(), scalars: Vec::new(), ..left }
                    };
                    let want = left(&interp, &mut buffer);
                    for jit in &jits {
                        let got = left(jit, &mut buffer);
                        let made_of = jit.simd().name();
                        assert!(
                            want == got,
                            "{made_of}: {text}{}",
                            difference(cpu, seed, &code, &want, &got)
                        );
                    }
                    runs += 1;
                    ended += u64::from(want.event == Event::End);
                }
            }
        }
        if seconds.is_none_or(|s| start.elapsed().as_secs() >= s) {
            break;
        }
    }
    assert!(ended * 4 > runs * 3, "of {runs} runs, {ended} end");
    println!("{runs} programs, {ended} to their end");
}
