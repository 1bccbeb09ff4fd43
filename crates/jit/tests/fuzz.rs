//! Random straight code and loops on random registers, lanes and modes: the JIT leaves what the interpreter leaves.

#[allow(dead_code)]
#[path = "../../wave/tests/it/chaos.rs"]
mod chaos;

use chaos::{PROCESSORS, Random, instruction, state, target, unusual};
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

/// Runs code on a wave made from a seed.
fn run(cpu: &str, engine: &dyn Engine, code: &[u8], buffer: &mut [u64], seed: u64) -> Left {
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
    let mut group = GroupShared::new(512);
    group.scratch_base = near;
    let event = engine.run(&mut wave, &group, &memory, 2000);
    engine.invalidate(code.as_ptr() as u64, code.len() as u64);
    Left {
        event,
        pc: wave.pc.wrapping_sub(at),
        vgprs: (0..SHAPE.vgprs + SHAPE.agprs).filter_map(|r| wave.vgpr(r).copied()).collect(),
        scalars: (0..128).map(|c| wave.sgpr(c)).chain([wave.scc as u32, wave.mode, wave.status]).collect(),
        counted: wave.counters.total(),
        memory: buffer.to_vec(),
        lds: group.lds.snapshot(),
    }
}

const COUNTER: u32 = 90;

/// An instruction of a random row on the first few registers.
fn few_registers(random: &mut Random, target: Target) -> u64 {
    loop {
        let row = &ROWS[random.next() as usize % ROWS.len()];
        let form = if random.one_in(4) { Form::Vop3 } else { Form::Base };
        if row.has_form(form, target.level()) {
            return Inst::new(row, form, target.level()).bits ^ random.next() & 0x0003_0703_0007_0707;
        }
    }
}

/// Some instructions, most of them vector or scalar arithmetic, perhaps in a loop.
fn program(random: &mut Random, target: Target, decoder: &Decoder) -> Vec<u8> {
    let layout = Layout::of(&Wave::new(&target, SHAPE));
    let mut code = Vec::new();
    let length = 1 + random.next() as usize % 24;
    let strict = !random.one_in(4);
    // With few registers, instructions overwrite what others read.
    let dense = random.one_in(2);
    let mut insts = 0;
    while insts < length {
        let word = if dense { few_registers(random, target) } else { instruction(random, target.cpu) };
        let word = word.to_le_bytes();
        let memory = Memory::new();
        // SAFETY: the bytes live until they are decoded.
        unsafe { memory.add(word.as_ptr() as u64, 8, false).expect("a range of its own") };
        let inst = fetch(decoder, &memory, word.as_ptr() as u64, layout, 0);
        let arithmetic = matches!(inst.run, Run::Valu(_) | Run::Compare(_) | Run::Salu | Run::Nop);
        if arithmetic || !strict && random.one_in(3) {
            code.extend(&word[..inst.len as usize]);
            insts += 1;
        }
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

/// `WAVEMILL_RANDOM=seconds` goes on for so long, each time with other numbers.
#[test]
fn random_code_leaves_the_same() {
    let seconds: Option<u64> = std::env::var("WAVEMILL_RANDOM").ok().and_then(|s| s.parse().ok());
    let start = std::time::Instant::now();
    let mut random = Random(match seconds {
        None => 0x1dea_5eed_0bad_cafe | 1,
        Some(_) => std::time::UNIX_EPOCH.elapsed().map_or(1, |t| t.as_nanos() as u64 | 1),
    });
    let mut buffer = vec![0u64; 512];
    let mut runs = 0u64;
    loop {
        for cpu in PROCESSORS {
            let target = target(cpu);
            let Some(jit) = Jit::new(target) else { return };
            let (interp, decoder) = (Interp::new(target), Decoder::new(target));
            for _ in 0..100 {
                let code = program(&mut random, target, &decoder);
                for _ in 0..3 {
                    let seed = random.next();
                    let want = run(cpu, &interp, &code, &mut buffer, seed);
                    let got = run(cpu, &jit, &code, &mut buffer, seed);
                    assert!(want == got, "{}", difference(cpu, seed, &code, &want, &got));
                    runs += 1;
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
    let mut buffer = vec![0u64; 512];
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
    for (r, (w, g)) in want.vgprs.iter().zip(&got.vgprs).enumerate() {
        if let Some(lane) = (0..64).find(|&l| w[l] != g[l]) {
            out += &format!("v{r} lane {lane}: {:#x}; jit: {:#x}\n", w[lane], g[lane]);
        }
    }
    out
}
