//! Accesses whose lanes lie side by side, in one place, in each other's way or partly out of range, of every size: engines that
//! move many lanes at once must leave what the plain engine leaves, which goes lane by lane. What that is, [`crate::memory`]
//! tests.

use crate::harness::{Random, assemble, engines, registers, target};
use crate::memory::{DATA, How, RESULT, elsewhere, text};
use crate::reference::{Access, access};
use std::sync::PoisonError;
use wavemill_isa::{Enc, ROWS, Row};
use wavemill_wave::{Engine, Event, GroupShared, Memory, Shape, Simd, Wave, alone};

const LDS: u32 = 4096;
/// Dwords of the buffer, and where lanes' offsets begin in it.
const WORDS: usize = 2048;
const MIDDLE: u64 = 2048;

/// How lanes lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pattern {
    /// One after the other, so many bytes from what is aligned.
    Adjacent(u64),
    /// With room for another number between them.
    Apart,
    Same,
    Descending,
    /// Anywhere among 32 places.
    Anywhere,
    /// One after the other, the last ones beyond the end of LDS, buffer or memory.
    Beyond,
}

const PATTERNS: [Pattern; 8] = [
    Pattern::Adjacent(0),
    Pattern::Adjacent(1),
    Pattern::Adjacent(4),
    Pattern::Apart,
    Pattern::Same,
    Pattern::Descending,
    Pattern::Anywhere,
    Pattern::Beyond,
];

/// Numbers that floats treat in ways of their own, among others.
fn number(random: &mut Random) -> u32 {
    const ODD: [u32; 12] = [
        0,
        0x8000_0000,
        1,
        0x8000_0001,
        0x007f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_1234,
        0x7f80_0001,
        0xfff0_0000,
        0x7ff0_0001,
        0x7c01_fe00,
    ];
    if random.one_in(2) { random.next() as u32 } else { ODD[random.next() as usize % ODD.len()] }
}

type Outcome = (Event, Vec<[u32; 64]>, Vec<u32>, Vec<u8>);

/// What a run starts from.
struct Start {
    cpu: &'static str,
    code: Vec<u32>,
    memory: Vec<u32>,
    registers: Vec<[u32; 64]>,
    exec: u64,
    mode: u32,
    records: u32,
}

fn outcome(start: &Start, engine: &dyn Engine, buffer: &mut [u32], exclusive: bool) -> Outcome {
    let memory = Memory::new();
    buffer.copy_from_slice(&start.memory);
    let (code, address) = (start.code.as_ptr() as u64, buffer.as_mut_ptr() as u64);
    // SAFETY: both live until the run is over; nobody looks at the buffer meanwhile.
    unsafe {
        memory.add(code, 4 * start.code.len() as u64, false).unwrap();
        memory.add(address, 4 * WORDS as u64, true).unwrap();
    }
    memory.set_exclusive(address, exclusive);
    let mut wave = Wave::new(&target(start.cpu), Shape { vgprs: start.registers.len() as u16, agprs: 0 });
    wave.pc = code;
    wave.mode = start.mode;
    for (r, values) in start.registers.iter().enumerate() {
        *wave.vgpr_mut(r as u16).unwrap() = *values;
    }
    wave.set_exec(start.exec);
    wave.set_sgpr(124, !0);
    wave.set_sgpr64(8, address + MIDDLE);
    wave.set_sgpr(10, start.records);
    wave.set_sgpr(11, 0x0002_4fac);
    let group = GroupShared::new(LDS);
    let lds: Vec<u8> = start.memory.iter().flat_map(|w| w.to_le_bytes()).take(LDS as usize).collect();
    // SAFETY: the LDS has this size and no wave runs.
    unsafe { std::ptr::copy_nonoverlapping(lds.as_ptr(), group.lds.base(), lds.len()) };
    let event = engine.run(&mut wave, &group, &memory, 1000);
    engine.invalidate(code, 4 * start.code.len() as u64);
    let registers = (0..start.registers.len() as u16).map(|r| *wave.vgpr(r).unwrap()).collect();
    (event, registers, buffer.to_vec(), group.lds.snapshot())
}

/// Texts of an instruction: with two offsets of several kinds, and results over their own addresses and data.
fn texts(cpu: &str, row: &Row, access: Access, scalar_base: bool) -> Vec<String> {
    let how = How { simd: Simd::detect(), returns: true, scalar_base, odd: false };
    let (plain, _) = text(cpu, row, access, how);
    match access {
        Access::Two(_, n, step) => {
            let far = if step > n { "offset0:2 offset1:1" } else { "offset0:65 offset1:1" };
            let offsets = ["offset0:1 offset1:3", "offset1:1", "offset0:1", "offset0:2 offset1:2", far];
            let plain = offsets.map(|offsets| plain.replace("offset0:1 offset1:3", offsets));
            // Results in the registers of the second datum, of the first one, and of the address.
            let old = registers('v', RESULT, n / 2);
            let over = [DATA + 8, DATA, 0].map(|first| registers('v', first, n / 2));
            let over = plain.iter().flat_map(|text| over.iter().map(|new| text.replacen(&old, new, 1)));
            over.chain(plain.clone()).collect()
        }
        Access::Load(n, ..) => {
            let (old, new) = (registers('v', RESULT, n.div_ceil(4)), registers('v', 0, n.div_ceil(4)));
            vec![plain.replacen(&old, &new, 1), plain]
        }
        _ => vec![plain],
    }
}

#[test]
fn lanes_beside_each_other() {
    let mut random = Random(0x51de);
    let mut buffer = vec![0; WORDS];
    let _only = crate::alone::ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    alone::prepare();
    let _present = alone::Present::perhaps_alone();
    for cpu in ["gfx701", "gfx803", "gfx900", "gfx90a"] {
        let level = target(cpu).level();
        let engines = engines(target(cpu));
        for row in ROWS.iter().filter(|r| r.opcode_at(level).is_some() && !elsewhere(r)) {
            let Some(access) = access(row) else { continue };
            if !matches!(row.enc, Enc::Mubuf | Enc::Flat | Enc::Global | Enc::Ds) {
                continue;
            }
            for scalar_base in if row.enc == Enc::Global { &[false, true][..] } else { &[false] } {
                for text in texts(cpu, row, access, *scalar_base) {
                    for pattern in PATTERNS {
                        let start =
                            start(cpu, row, access, &text, pattern, *scalar_base, &mut random, &buffer);
                        let (plain, others) = engines.split_last().unwrap();
                        let want = outcome(&start, &*plain.1, &mut buffer, false);
                        // Atomic operations of memory that nobody else has are done another way.
                        let atomic = matches!(access, Access::Atomic(..)) && row.enc != Enc::Ds;
                        let ways: &[bool] = if atomic { &[false, true] } else { &[false] };
                        for (exclusive, (name, engine)) in
                            ways.iter().flat_map(|w| others.iter().map(move |e| (*w, e)))
                        {
                            let got = outcome(&start, &**engine, &mut buffer, exclusive);
                            let (mode, exec) = (start.mode, start.exec);
                            let about = format!(
                                "`{text}` {pattern:?} on {cpu}, {name}, MODE {mode:#x}, EXEC {exec:#x}, exclusive {exclusive}"
                            );
                            assert_eq!(want.0, got.0, "{about}");
                            for (r, (want, got)) in want.1.iter().zip(&got.1).enumerate() {
                                assert_eq!(want, got, "v{r} after {about}");
                            }
                            assert!(want.2 == got.2 && want.3 == got.3, "memory after {about}");
                        }
                    }
                }
            }
        }
    }
}

#[allow(clippy::too_many_arguments)]
fn start(
    cpu: &'static str,
    row: &Row,
    access: Access,
    text: &str,
    pattern: Pattern,
    scalar_base: bool,
    random: &mut Random,
    buffer: &[u32],
) -> Start {
    let mut code = assemble(target(cpu), "test.s", text);
    code.extend(assemble(target(cpu), "end.s", "s_endpgm"));
    let code = code.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
    let (bytes, atomic) = match access {
        Access::Load(n, ..) | Access::Store(n, _) => (n as u64, false),
        Access::Atomic(_, n) | Access::Src2(_, n) => (n as u64, true),
        Access::Two(_, n, _) => (n as u64, true),
    };
    let beyond = match row.enc {
        Enc::Ds => LDS as u64 - 60 * bytes,
        Enc::Mubuf => 200 * bytes,
        _ => 4 * WORDS as u64 - MIDDLE - 60 * bytes,
    };
    let relative = !(row.enc == Enc::Flat || row.enc == Enc::Global && !scalar_base);
    let mut registers: Vec<[u32; 64]> = (0..56).map(|_| std::array::from_fn(|_| number(random))).collect();
    for n in 0..64u64 {
        let offset = match pattern {
            Pattern::Adjacent(by) => n * bytes + if atomic { by / 4 * bytes } else { by },
            Pattern::Apart => 2 * n * bytes,
            Pattern::Same => 3 * bytes,
            Pattern::Descending => (63 - n) * bytes,
            Pattern::Anywhere => random.next() % 32 * bytes,
            Pattern::Beyond => beyond + n * bytes,
        };
        let address = if relative { offset } else { buffer.as_ptr() as u64 + MIDDLE + offset };
        // Numbers that share their place are aligned in spite of the instruction's offset of 4.
        let address = if atomic && bytes == 8 && row.enc != Enc::Flat { address + 4 } else { address };
        let address = if matches!(access, Access::Two(..)) && bytes == 8 { address - 4 } else { address };
        registers[0][n as usize] = address as u32;
        registers[1][n as usize] = (address >> 32) as u32;
    }
    let exec = match random.next() % 4 {
        0 => random.next(),
        1 => random.next() | random.next(),
        _ => !0,
    };
    let records = if pattern == Pattern::Beyond { (beyond + 61 * bytes + bytes / 2) as u32 } else { 6000 };
    Start {
        cpu,
        code,
        memory: (0..WORDS).map(|_| number(random)).collect(),
        registers,
        exec,
        // Rounding and denormals of every kind; IEEE and DX10_CLAMP.
        mode: (random.next() as u32 & 0xff) | (random.next() as u32 & 0x300),
        records,
    }
}
