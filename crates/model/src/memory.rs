//! Memory instructions on random addresses and data: what they read, what they leave behind, compared with the engines.
//!
//! Sources: the MI200 manual's chapters 8 to 11 (SMEM offsets 8.2; buffer addresses and range checks 9.1.5, with notes 3
//! and 4; LDS 11.3) and 12.6 for what atomics make of their operands. Where that is silent: unaligned accesses from GFX9
//! on (Linux sets SH_MEM_CONFIG so), the scalar offset in range checks from GFX8 on and VOFFSET's wrapping sum (measured,
//! rocm-systems #10928), the bits that each addend of SMEM loses (Mesa 81df5175537), D16 loads and SRAM ECC (rocMLIR
//! #422), DS_CMPST's order of operands (12.12), DS_*_SRC2 (Sea Islands manual), DS_CONDXCHG32 (RDNA3's pseudocode: a dword
//! is replaced by the data's low 31 bits where its 32nd is set), DS_SWIZZLE (12.12.1; rotations wrap in 32 lanes, as its
//! examples do, and GFX8 has them, Mesa's README-ISA). One access is one slice of bytes here, places are plain sums.

use crate::access::{Access, Action, BYTES, Beside, DATA, Family, RESULT, SCALAR, changed};
use crate::compare::{Bench, Difference, Report};
use crate::matrix::words;
use crate::places::{Location, Plan};
use wavemill_isa::row::{Enc, Form};
use wavemill_isa::{Level, ROWS};
use wavemill_testing::Random;
use wavemill_wave::{Event, GroupShared, Memory, Shape, Wave};

pub use crate::access::excluded;

/// Vector registers of a wave.
const VGPRS: u16 = 16;

/// Memory or LDS, and what is in it.
pub(crate) struct Image {
    pub bytes: Vec<u8>,
}

impl Image {
    fn get(&self, at: usize, n: usize) -> u64 {
        self.bytes[at..at + n].iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))
    }

    fn set(&mut self, at: usize, n: usize, value: u64) {
        for (i, byte) in self.bytes[at..at + n].iter_mut().enumerate() {
            *byte = (value >> (8 * i)) as u8;
        }
    }
}

/// What an access looks at beside its operands.
#[derive(Clone, Copy)]
struct Setting {
    /// Registers have ECC.
    ecc: bool,
    /// The image is that of LDS.
    lds: bool,
    mode: u32,
    exec: u64,
}

/// Does one lane's access: `data` are its registers, `out` its results. Places out of range read as zero.
fn perform(
    access: &Access,
    image: &mut Image,
    places: &[Location],
    data: &[u32],
    out: &mut [u32],
    setting: Setting,
) {
    let bytes = access.bytes();
    let ecc = setting.ecc;
    let operand = |i: usize| {
        let n = bytes / 4;
        let word = |w: usize| data.get(i * n + w).map_or(0, |&d| u64::from(d));
        if n == 1 { word(0) } else { word(0) | word(1) << 32 }
    };
    match access.action {
        Action::Load { signed, half, .. } if bytes < 4 => {
            let raw = places[0].map_or(0, |at| image.get(at, bytes) as u32);
            let unused = 32 - 8 * bytes as u32;
            let value = if signed { ((raw << unused) as i32 >> unused) as u32 } else { raw };
            out[0] = match half {
                None => value,
                Some(false) => value & 0xffff | if ecc { 0 } else { out[0] & 0xffff_0000 },
                Some(true) => value << 16 | if ecc { 0 } else { out[0] & 0xffff },
            };
        }
        Action::Load { .. } => {
            for (word, place) in out.iter_mut().zip(places) {
                *word = place.map_or(0, |at| image.get(at, 4) as u32);
            }
        }
        Action::Store { high, .. } if bytes < 4 => {
            if let Some(at) = places[0] {
                image.set(at, bytes, u64::from(data[0] >> if high { 16 } else { 0 }));
            }
        }
        Action::Store { .. } => {
            for (&word, place) in data.iter().zip(places) {
                if let Some(at) = *place {
                    image.set(at, 4, u64::from(word));
                }
            }
        }
        Action::Exchange { .. } => {
            for ((&word, place), out) in data.iter().zip(places).zip(out) {
                if let Some(at) = *place {
                    *out = image.get(at, 4) as u32;
                    image.set(at, 4, u64::from(word));
                }
            }
        }
        Action::Conditional => {
            for ((&word, place), out) in data.iter().zip(places).zip(out) {
                *out = place.map_or(0, |at| image.get(at, 4) as u32);
                if let (Some(at), true) = (*place, word >> 31 != 0) {
                    image.set(at, 4, u64::from(word & 0x7fff_ffff));
                }
            }
        }
        Action::Beside { by, .. } => {
            let &[Some(at), Some(other)] = places else { return };
            let (old, other) = (image.get(at, bytes), image.get(other, bytes));
            let new = match by {
                Beside::Integer(name) => changed(name, old, other, 0, bytes),
                Beside::Float(op) => Some(op.changed(old, other, 0, setting.lds, setting.mode)),
            };
            if let Some(new) = new {
                image.set(at, bytes, new);
            }
        }
        // These concern all lanes at once.
        Action::Count { .. } | Action::Permute { .. } | Action::Swizzle => {}
        Action::Atomic { .. } | Action::Float { .. } => {
            let old = places[0].map_or(0, |at| image.get(at, bytes));
            let new = match access.action {
                Action::Atomic { name, .. } => changed(name, old, operand(0), operand(1), bytes),
                Action::Float { op, .. } => {
                    Some(op.changed(old, operand(0), operand(1), setting.lds, setting.mode))
                }
                _ => None,
            };
            if let (Some(at), Some(new)) = (places[0], new) {
                image.set(at, bytes, new);
            }
            for (i, word) in out.iter_mut().enumerate() {
                *word = (old >> (32 * i)) as u32;
            }
        }
    }
}

/// Runs every memory instruction that has a model `runs` times on a processor; `pick` says which.
pub fn compare(cpu: &str, seed: u64, runs: usize, pick: &dyn Fn(&str) -> bool) -> Report {
    let mut report = Report::default();
    // SRAM ECC is a matter of the board.
    let benches = [Some(false), Some(true)].map(|ecc| Bench::with(cpu, |t| t.sramecc = ecc));
    let level = benches[0].target.level();
    let encs = [Enc::Smrd, Enc::Smem, Enc::Ds, Enc::Mubuf, Enc::Flat, Enc::Global, Enc::Scratch];
    let rows = ROWS.iter().filter(|r| encs.contains(&r.enc) && r.opcode_at(level).is_some() && pick(r.name));
    for (index, row) in rows.enumerate() {
        if excluded(row).is_some() {
            continue;
        }
        let Some(access) = Access::of(row) else {
            report.missing.push(row.name);
            continue;
        };
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9) ^ (index as u64 + 1) << 24 | 1);
        for run in 0..runs {
            let key = (row.name, Form::Base as u8);
            let bench = &benches[run & 1];
            match one(&mut random, &access, bench, run / 2) {
                Ok(cases) => *report.cases.entry(key).or_default() += cases,
                Err(text) => {
                    let difference = Difference { name: row.name, form: Form::Base, text };
                    report.differences.entry(key).or_insert((0, difference)).0 += 1;
                }
            }
        }
    }
    report
}

/// One instruction on one engine.
fn one(r: &mut Random, access: &Access, bench: &Bench, run: usize) -> Result<u64, String> {
    let target = &bench.target;
    let level = target.level();
    // Beside what is accessed lies room for places that range checks of GFX6 and GFX7 let through.
    let mut backing: Vec<u64> = (0..BYTES / 8 + 256).map(|_| r.next()).collect();
    let base = backing.as_mut_ptr() as u64;
    let in_lds = matches!(access.family, Family::Lds { .. } | Family::Apart | Family::Numbered);
    let plan = Plan::new(r, access, level, base);
    let code = words(target, &plan.text)?;
    let mut wave = Wave::new(target, Shape { vgprs: VGPRS, agprs: 0 });
    wave.pc = code.as_ptr() as u64;
    // Denormals of each kind; rounding is not for atomics.
    wave.mode = 0x300 | r.below(256) as u32;
    for register in 0..100 {
        wave.set_sgpr(register, r.next() as u32);
    }
    plan.sgprs.iter().for_each(|&(register, value)| wave.set_sgpr(register, value));
    // Before GFX9 M0 bounds LDS.
    wave.set_sgpr(124, plan.m0);
    wave.set_exec(plan.exec);
    for register in 0..VGPRS {
        let lanes = std::array::from_fn(|_| r.edgy(32) as u32);
        *wave.vgpr_mut(register).ok_or("a register is missing")? = lanes;
    }
    for (register, lanes) in plan.vgprs.iter().enumerate() {
        *wave.vgpr_mut(register as u16).ok_or("a register is missing")? = *lanes;
    }
    if let Action::Beside { by: Beside::Float(op), bytes } = access.action {
        for places in &plan.places {
            let like = r.next();
            let number = op.number(r, like);
            for (place, value) in places.iter().zip([number, op.number(r, number)]) {
                if let Some(at) = *place {
                    put(&mut backing, at, bytes / 4, value);
                }
            }
        }
    }
    if let Action::Float { op, bytes } = access.action {
        // Floats of all kinds, in memory and in registers, equal or opposite now and then.
        let n = bytes / 4;
        for (lane, places) in plan.places.iter().enumerate() {
            let like = r.next();
            let number = op.number(r, like);
            if let Some(at) = places[0] {
                put(&mut backing, at, n, number);
            }
            for operand in 0..2 {
                let value = op.number(r, number);
                for word in 0..n {
                    let register = wave.vgpr_mut((DATA + operand * n + word) as u16);
                    register.ok_or("a register is missing")?[lane] = (value >> (32 * word)) as u32;
                }
            }
        }
    }
    let group = GroupShared::new(BYTES as u32);
    let bytes: Vec<u8> = backing.iter().flat_map(|w| w.to_le_bytes()).collect();
    group.lds.write(0, &bytes[..BYTES]);
    let mut image = Image { bytes: if in_lds { bytes[..BYTES].to_vec() } else { bytes } };
    let mut vgprs: Vec<[u32; 64]> = (0..VGPRS).filter_map(|i| wave.vgpr(i).copied()).collect();
    let mut sgprs: Vec<u32> = (0..100).map(|i| wave.sgpr(i)).collect();
    let setting = Setting {
        ecc: target.sramecc == Some(true) && has_ecc(level),
        lds: in_lds,
        mode: wave.mode,
        exec: plan.exec,
    };
    if access.family == Family::Scratch {
        wave.set_flat_scratch(base);
    }
    let result = if access.family == Family::Buffer { DATA } else { RESULT };
    let out_dwords = if plan.returns { plan.out_dwords } else { 0 };
    if let Family::Scalar { .. } = access.family {
        let data = sgprs[SCALAR..SCALAR + access.operands()].to_vec();
        let mut out = vec![0; plan.out_dwords];
        perform(access, &mut image, &plan.places[0], &data, &mut out, setting);
        sgprs[SCALAR..SCALAR + out_dwords].copy_from_slice(&out[..out_dwords]);
    }
    together(access, &mut image, &plan, &mut vgprs, setting, level);
    let alone = !matches!(access.action, Action::Count { .. } | Action::Permute { .. } | Action::Swizzle);
    for lane in (0..64).filter(|&lane| plan.exec >> lane & 1 != 0 && !plan.is_scalar && alone) {
        let data: Vec<u32> = (DATA..DATA + 4).map(|i| vgprs[i][lane]).collect();
        let mut out: Vec<u32> = (result..result + plan.out_dwords).map(|i| vgprs[i][lane]).collect();
        perform(access, &mut image, &plan.places[lane], &data, &mut out, setting);
        for (i, word) in out.iter().enumerate().take(out_dwords) {
            vgprs[result + i][lane] = *word;
        }
    }
    let memory = Memory::new();
    // SAFETY: code and data outlive the memory; nobody else looks at the data while the wave runs.
    unsafe {
        memory.add(code.as_ptr() as u64, 4 * code.len() as u64, false).map_err(|e| format!("{e:?}"))?;
        memory.add(base, 8 * backing.len() as u64, true).map_err(|e| format!("{e:?}"))?;
    }
    let engine = &bench.engines[run % bench.engines.len()];
    engine.invalidate(code.as_ptr() as u64, 4 * code.len() as u64);
    let event = engine.run(&mut wave, &group, &memory, 10);
    let at = format!("`{}` on {}, EXEC {:#x}", plan.text, target.cpu.name, plan.exec);
    if event != Event::End {
        return Err(format!("{at}: the interpreter stopped with {event:?}"));
    }
    let mut after = vec![0; 8 * backing.len()];
    memory.read(base, &mut after);
    if in_lds {
        after = group.lds.snapshot();
    }
    if let Some(byte) = (0..after.len()).find(|&i| after[i] != image.bytes[i]) {
        let (got, want) = (after[byte], image.bytes[byte]);
        return Err(format!("{at}\n  byte {byte}: the model has {want:#x}, the interpreter {got:#x}"));
    }
    for (i, lanes) in vgprs.iter().enumerate() {
        let got = wave.vgpr(i as u16).copied().unwrap_or([0; 64]);
        if let Some(lane) = (0..64).find(|&lane| lanes[lane] != got[lane]) {
            let place = &plan.places.get(lane);
            let (want, got) = (lanes[lane], got[lane]);
            return Err(format!(
                "{at}\n  v{i} lane {lane}: the model has {want:#x}, the interpreter {got:#x}; places {place:?}"
            ));
        }
    }
    if let Some(i) = (0..100).find(|&i| wave.sgpr(i as u32) != sgprs[i]) {
        let (want, got) = (sgprs[i], wave.sgpr(i as u32));
        return Err(format!("{at}\n  s{i}: the model has {want:#x}, the interpreter {got:#x}"));
    }
    drop(backing);
    Ok(if plan.is_scalar { 1 } else { u64::from(plan.exec.count_ones()) })
}

/// What lanes do together: one counter, or registers of one another (12.12).
fn together(
    access: &Access,
    image: &mut Image,
    plan: &Plan,
    vgprs: &mut [[u32; 64]],
    setting: Setting,
    level: Level,
) {
    let on = |lane: usize| setting.exec >> lane & 1 != 0;
    let mut results = [0; 64];
    match access.action {
        Action::Count { up } => {
            let Some(at) = plan.places[0][0] else { return };
            let (old, count) = (image.get(at, 4) as u32, setting.exec.count_ones());
            let new = if up { old.wrapping_add(count) } else { old.wrapping_sub(count) };
            image.set(at, 4, new.into());
            results = [old; 64];
        }
        Action::Permute { fetch } => {
            let other = |lane: usize| (vgprs[0][lane].wrapping_add(plan.shift) / 4 % 64) as usize;
            for lane in 0..64 {
                match fetch {
                    true if on(other(lane)) => results[lane] = vgprs[DATA][other(lane)],
                    false if on(lane) => results[other(lane)] = vgprs[DATA][lane],
                    _ => {}
                }
            }
        }
        Action::Swizzle => {
            let from = |lane: usize| swizzled(plan.shift as usize, lane, level);
            results = std::array::from_fn(|lane| if on(from(lane)) { vgprs[0][from(lane)] } else { 0 });
        }
        _ => return,
    }
    for lane in (0..64).filter(|&lane| on(lane)) {
        vgprs[RESULT][lane] = results[lane];
    }
}

/// The lane that DS_SWIZZLE gives a lane's register (12.12.1).
fn swizzled(offset: usize, lane: usize, level: Level) -> usize {
    let (group, i, low) = (lane & 32, lane & 31, offset & 31);
    let modes = level >= Level::Gfx8;
    group
        | match offset {
            // The lane's bits in reverse, as many less as the mask has, and the lane's own where it has some.
            0xe000.. if modes => {
                let reversed = (0..5).fold(0, |r, bit| r << 1 | i >> bit & 1);
                reversed >> low.count_ones() | i & low
            }
            0xc000.. if modes => {
                let by = offset >> 5 & 31;
                let turned = if offset & 0x400 != 0 { i + 32 - by } else { i + by } & 31;
                i & low | turned & !low
            }
            0x8000.. => i & !3 | offset >> (2 * (i & 3)) & 3,
            _ => (i & low | offset >> 5 & 31) ^ offset >> 10 & 31,
        }
}

/// Puts a number of one or two dwords, which is aligned, into words of eight bytes.
fn put(words: &mut [u64], at: usize, dwords: usize, value: u64) {
    let word = &mut words[at / 8];
    *word = match (dwords, at % 8) {
        (2, _) => value,
        (_, 0) => *word & !0xffff_ffff | value,
        _ => *word & 0xffff_ffff | value << 32,
    };
}

/// Processors whose registers are protected by SRAM ECC, if the board has it on.
fn has_ecc(level: Level) -> bool {
    level >= Level::Gfx906
}
