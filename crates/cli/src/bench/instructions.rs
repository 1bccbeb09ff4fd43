//! `wavemill bench --instructions`: what every instruction of the table costs that a loop of copies of it can run, so that
//! no slow one hides.
//!
//! Operands are made from the row: registers with numbers of the type it asks for, addresses of consecutive dwords. No two
//! copies of a vector instruction have the same first operand or result, and no two loads the same result, so that a compiler
//! leaves none out.
//! Instructions that need more than that (images, scratch, exports, program control …) are counted as left out. A few
//! instructions are measured with DPP and SDWA as well ([`FORMS`]).

use super::{Loop, Runner, cpu_time};
use crate::json::{Json, Scalar};
use std::collections::BTreeMap;
use std::process::ExitCode;
use wavemill_device::EngineKind;
use wavemill_isa::row::{Class, Enc, Kind, Operand, Role, Row, Ty, flag};
use wavemill_isa::{Level, ROWS, Target};
use wavemill_sem::soft::{F16, F32, Round, convert};
use wavemill_wave::{Simd, Wave};

/// Copies of the instruction in the loop.
const COPIES: usize = 16;
/// Runs of which the median counts: a short run is rarely disturbed.
const RUNS: usize = 5;
/// The instruction all others are compared with, in the interpreter.
const YARDSTICK: &str = "v_add_u32";

/// What follows the result and the first operand, v21 where it is a second one, of instructions with DPP and SDWA.
const FORMS: [(&str, &str); 12] = [
    ("v_mov_b32_dpp", " quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf"),
    ("v_mov_b32_dpp", " row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0"),
    ("v_mov_b32_dpp", " row_mirror row_mask:0xf bank_mask:0x5"),
    ("v_mov_b32_dpp", " wave_shr:1 row_mask:0xf bank_mask:0xf"),
    ("v_mov_b32_dpp", " row_bcast:15 row_mask:0xa bank_mask:0xf"),
    ("v_add_u32_dpp", ", v21 row_shr:4 row_mask:0xf bank_mask:0xf"),
    ("v_add_f32_dpp", ", v2 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf"),
    ("v_max_f32_dpp", ", v2 row_bcast:31 row_mask:0xc bank_mask:0xf"),
    ("v_mov_b32_sdwa", " dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1"),
    ("v_add_u32_sdwa", ", v21 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_0"),
    ("v_or_b32_sdwa", ", v21 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD"),
    ("v_mul_f16_sdwa", ", v16 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:DWORD"),
];

/// What an instruction costs.
struct Cost {
    row: &'static Row,
    text: String,
    runner: Runner,
    /// Nanoseconds of one wave instruction.
    ns: f64,
    /// As a multiple of the yardstick's.
    ratio: f64,
}

/// Measures the rows of a processor whose names contain one of `filters`, or all.
pub fn run(cpu: &str, filters: &[String], runners: &[Runner], seconds: f64, json: bool) -> ExitCode {
    let target = match crate::gpu::target(cpu) {
        Ok(target) => target,
        Err(message) => {
            crate::output::message(format_args!("wavemill bench: {message}"));
            return ExitCode::from(2);
        }
    };
    let level = target.level();
    let rows = ROWS.iter().filter(|r| r.opcode_at(level).is_some());
    let is_wanted = |name: &str| filters.is_empty() || filters.iter().any(|f| name.contains(f.as_str()));
    let mut wanted: Vec<(&Row, Result<Vec<String>, &'static str>)> =
        rows.filter(|r| is_wanted(r.name)).map(|r| (r, copies(r, level))).collect();
    let forms = FORMS.iter().filter(|(name, _)| level.is_vi_plus() && is_wanted(name));
    wanted.extend(forms.filter_map(|(name, rest)| form(name, rest, level)));
    if wanted.is_empty() {
        crate::output::message(format_args!("wavemill bench: no instruction of {cpu} has that in its name"));
        return ExitCode::from(2);
    }
    let mut costs = Vec::new();
    let mut left_out: BTreeMap<String, u32> = BTreeMap::new();
    for &runner in runners {
        left_out.clear();
        let empty = Loop::new(target, runner, "").and_then(|all| Timed::new(all, seconds));
        let (empty, yardstick) = match (empty, Yardstick::new(target, runner, seconds)) {
            (Ok(empty), Ok(yardstick)) => (empty, yardstick),
            (Err(e), _) | (_, Err(e)) => {
                crate::output::message(format_args!("wavemill bench: {e}"));
                return ExitCode::FAILURE;
            }
        };
        for (row, copies) in &wanted {
            let copies = match copies {
                Ok(copies) => copies,
                Err(why) => {
                    *left_out.entry((*why).into()).or_default() += 1;
                    continue;
                }
            };
            let text = copies[0].clone();
            let all = Loop::new(target, runner, &body(copies)).and_then(|all| Timed::new(all, seconds));
            match all.and_then(|all| yardstick.compare(&all, &empty)) {
                Ok((ns, ratio)) => costs.push(Cost { row, text, runner, ns, ratio }),
                Err(e) => {
                    let first = e.lines().next().unwrap_or_default();
                    *left_out.entry(format!("`{text}`: {first}")).or_default() += 1;
                }
            }
        }
    }
    costs.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    if json { write_json(&costs) } else { write_text(&costs, &left_out) }
}

/// The copies of a row's instruction, or why there are none.
fn copies(row: &Row, level: Level) -> Result<Vec<String>, &'static str> {
    (0..COPIES).map(|copy| example(row, level, copy as u32)).collect()
}

/// The row of an instruction with DPP or SDWA, and its copies.
fn form(name: &str, rest: &str, level: Level) -> Option<(&'static Row, Result<Vec<String>, &'static str>)> {
    let plain = name.rsplit_once('_')?.0;
    let row = ROWS.iter().find(|r| r.name == plain && r.opcode_at(level).is_some())?;
    let first = match row.operand(Role::Src0)?.ty {
        Ty { kind: Kind::F, bits: 16, .. } => FIRST[2],
        Ty { kind: Kind::F, .. } => FIRST[0],
        _ => FIRST[3],
    };
    let copy = |n: u32| format!("{name} v{}, v{}{rest}", 40 + 2 * n, first + n);
    Some((row, Ok((0..COPIES as u32).map(copy).collect())))
}

fn write_text(costs: &[Cost], left_out: &BTreeMap<String, u32>) -> ExitCode {
    let mut text = format!("{:>10} {:>8}  back end    instruction\n", "ns", "ratio");
    for c in costs {
        text.push_str(&format!("{:10.1} {:8.1}  {:11} {}\n", c.ns, c.ratio, c.runner.name(), c.text));
    }
    let slow = costs.iter().filter(|c| c.ratio > 5.0).count();
    text.push_str(&format!(
        "{} measured, {slow} of them above five times {YARDSTICK} in the interpreter\n",
        costs.len()
    ));
    for (why, n) in left_out {
        text.push_str(&format!("{n} left out: {why}\n"));
    }
    crate::print(text.as_bytes());
    ExitCode::SUCCESS
}

fn write_json(costs: &[Cost]) -> ExitCode {
    let mut json = Json::new(crate::output::stdout());
    json.array(|json| {
        for c in costs {
            json.object(|json| {
                json.field("instruction", c.row.name);
                json.field("text", &c.text);
                c.runner.write(json);
                json.field("nanoseconds", Scalar::Float(c.ns));
                json.field("ratio", Scalar::Float(c.ratio));
            });
        }
    });
    crate::output::finished("bench", json.finish())
}

/// The lines of a loop with these instructions.
fn body(copies: &[String]) -> String {
    copies.iter().map(|text| format!("\n    {text}")).collect()
}

/// A loop, and how many rounds of it take as long as was asked for.
struct Timed {
    all: Loop,
    count: u32,
}

impl Timed {
    fn new(all: Loop, seconds: f64) -> Result<Timed, String> {
        let mut timed = Timed { all, count: 1 };
        // The first run decodes.
        timed.round()?;
        timed.count = 8;
        while timed.round()? * f64::from(timed.count) < seconds && timed.count < u32::MAX / 2 {
            timed.count *= 2;
        }
        Ok(timed)
    }

    /// Seconds that one round takes.
    fn round(&self) -> Result<f64, String> {
        let (_, taken) = self.all.run(self.count, cpu_time, |wave| registers(wave, self.all.buffer()))?;
        Ok(taken / f64::from(self.count))
    }
}

/// What instructions of all engines are compared with: [`YARDSTICK`] in the interpreter. It is run in turn with each of
/// them, because a machine that others use is not as fast at one time as at another.
struct Yardstick {
    full: Timed,
    empty: Timed,
}

impl Yardstick {
    fn new(target: Target, runner: Runner, seconds: f64) -> Result<Yardstick, String> {
        let level = target.level();
        let by = Runner { kind: EngineKind::Interp, simd: runner.simd.or(Some(Simd::detect())) };
        // GFX6 to GFX8 have the addition under other names, with a carry.
        let name = if level.is_gfx9() { YARDSTICK } else { "v_max_u32" };
        let row = ROWS.iter().find(|r| r.name == name && r.opcode_at(level).is_some());
        let copies = row.ok_or("it is not in the table").and_then(|row| copies(row, level));
        let timed = |body: &str| Loop::new(target, by, body).and_then(|all| Timed::new(all, seconds));
        let both = copies.map_err(str::to_owned).and_then(|c| Ok((timed(&body(&c))?, timed("")?)));
        both.map(|(full, empty)| Yardstick { full, empty }).map_err(|e| format!("{name}: {e}"))
    }

    /// Nanoseconds of an instruction of which there are copies in `full` but not in `empty`, and as a multiple of the
    /// yardstick's: medians of runs that take turns.
    fn compare(&self, full: &Timed, empty: &Timed) -> Result<(f64, f64), String> {
        let (mut costs, mut units) = ([0.0; RUNS], [0.0; RUNS]);
        for (cost, unit) in costs.iter_mut().zip(&mut units) {
            *cost = full.round()? - empty.round()?;
            *unit = self.full.round()? - self.empty.round()?;
        }
        let median = |runs: &mut [f64; RUNS]| {
            runs.sort_by(f64::total_cmp);
            runs[RUNS / 2].max(0.0) / COPIES as f64 * 1e9
        };
        let ns = median(&mut costs);
        Ok((ns, ns / median(&mut units).max(0.01)))
    }
}

/// Bytes from a lane to the next, for which there are registers with offsets and with addresses.
const STRIDES: [u32; 6] = [1, 2, 4, 8, 12, 16];
/// The first register with offsets, in the order of [`STRIDES`].
const OFFSETS: u32 = 80;
/// The first pair of registers with addresses.
const ADDRESSES: u32 = 86;

/// The first of the registers with first operands, one or a pair for each copy: f32 (two each for those that take two), f64, two
/// f16, integers of 32 and of 64 bits.
const FIRST: [u32; 5] = [128, 160, 192, 208, 224];

/// Descriptors of a buffer with elements of one to four components of 32 bits: the first register, and DATA_FORMAT.
const FORMATS: [(u32, u32); 4] = [(8, 4), (12, 11), (16, 13), (28, 14)];

/// Components of an instruction that converts.
fn components(row: &Row) -> Option<u32> {
    row.name.contains("_format_").then(|| row.name.rsplit('_').next().map_or(1, str::len) as u32)
}

/// Registers with numbers of all types: f32 in v2 to v7, f64 in v8 to v13, two f16 each in v14 to v19, integers in v20 to
/// v35, offsets and addresses from [`OFFSETS`] on, and more of the kinds from [`FIRST`] on; a buffer's address in s[2:3],
/// its descriptors in those of [`FORMATS`], integers in s20 to s27.
fn registers(wave: &mut Wave, buffer: u64) {
    for r in 0..256u32 {
        for (lane, v) in wave.vgpr_mut(r as u16).into_iter().flatten().enumerate() {
            let which = if r < FIRST[0] { r % 8 } else { r / 2 % 64 };
            let single = 1.0 + lane as f32 * 0.001 * which as f32;
            let double = (1.0 + lane as f64 * 0.001 * which as f64).to_bits();
            let half = convert(F32, F16, single.to_bits() as u64, Round::Nearest) as u32;
            let lane = lane as u32;
            let address = |n: u32| buffer + (lane * STRIDES[n as usize / 2 % 6]) as u64;
            *v = match r {
                2..8 | 128..160 => single.to_bits(),
                8..14 | 160..192 if r % 2 == 0 => double as u32,
                8..14 | 160..192 => (double >> 32) as u32,
                14..20 | 192..208 => half | half << 16,
                80..=85 => lane * STRIDES[(r - OFFSETS) as usize],
                86..=97 if r % 2 == 0 => address(r - ADDRESSES) as u32,
                86..=97 => (address(r - ADDRESSES) >> 32) as u32,
                _ => lane * 77 + r,
            };
        }
    }
    wave.set_sgpr64(2, buffer);
    for (first, format) in FORMATS {
        wave.set_sgpr64(first, buffer & 0xffff_ffff_ffff);
        wave.set_sgpr(first + 2, 8192);
        // NUM_FORMAT 4: integers. The components in order.
        wave.set_sgpr(first + 3, format << 15 | 4 << 12 | 0xfac);
    }
    for r in 20..28 {
        wave.set_sgpr(r, 0x1234_5678u32.rotate_left(r));
    }
    wave.set_exec(!0);
}

/// Which of [`STRIDES`] makes a memory instruction's lanes consecutive.
fn stride(row: &Row) -> u32 {
    let is = |words: &[&str]| words.iter().any(|w| row.name.contains(w));
    if is(&["byte", "_b8", "_u8", "_i8"]) {
        return 0;
    }
    if is(&["short", "_b16", "_u16", "_i16"]) {
        return 1;
    }
    if let Some(components) = components(row) {
        return 1 + components;
    }
    let data = [Role::Vdata, Role::Vdst, Role::Data0].into_iter().find_map(|r| row.operand(r));
    let dwords = data.map_or(1, |o| o.ty.dwords() as u32);
    // Two addresses, or two values, for each lane.
    let halved = row.has(flag::OFFSET2) && row.operand(Role::Vdst).is_some() || row.name.contains("cmpswap");
    1 + if halved { dwords.div_ceil(2) } else { dwords }
}

/// One of the copies of a row's instruction on the registers of [`Loop`], or why there is none.
fn example(row: &Row, level: Level, copy: u32) -> Result<String, &'static str> {
    match row.enc {
        Enc::Sopp => return Err("program control"),
        Enc::Exp | Enc::Vintrp => return Err("exports and interpolation"),
        Enc::Mimg => return Err("images"),
        Enc::Scratch => return Err("scratch memory"),
        Enc::Mtbuf => return Err("typed buffers"),
        Enc::Smem | Enc::Smrd if !row.name.contains("_load_") || row.name.contains("scratch") => {
            return Err("scalar stores, atomics and caches");
        }
        Enc::Ds
            if row.has(flag::GDS_ONLY)
                || ["ds_gws", "ds_ordered", "ds_append", "ds_consume", "_src2_", "addtid"]
                    .iter()
                    .any(|n| row.name.contains(n)) =>
        {
            return Err("GDS, and LDS with M0");
        }
        Enc::Mubuf if row.has(flag::LDS_ONLY) || row.operand(Role::Vaddr).is_none() => {
            return Err("memory to LDS, caches");
        }
        _ => {}
    }
    let avoided =
        ["saveexec", "wrexec", "movrel", "s_set_gpr", "s_setvskip", "s_setreg", "s_getreg", "v_cmpx"];
    let jumps = ["pc_b64", "s_call", "s_rfe", "fork", "join", "s_cbranch", "s_trap", "s_set_gpr_idx"];
    if avoided.iter().chain(&jumps).any(|n| row.name.contains(n)) || row.name == "v_clrexcp" {
        return Err("changes EXEC, MODE or the PC");
    }
    let mut text = row.name.to_string();
    if row.enc == Enc::Vopc {
        // Only this form writes another mask than VCC.
        text.push_str("_e64");
    }
    let vector = matches!(row.enc, Enc::Vop1 | Enc::Vop2 | Enc::Vop3 | Enc::Vop3p | Enc::Vopc);
    let loads = matches!(row.enc, Enc::Ds | Enc::Flat | Enc::Global | Enc::Mubuf) && !row.has(flag::ATOMIC);
    let mut used = Used { copy: vector.then_some(copy), loaded: loads.then_some(copy), ..Used::default() };
    for (i, op) in row.operands.iter().enumerate() {
        let operand = operand(row, op, level, &mut used)?;
        text.push_str(if i == 0 { " " } else { ", " });
        text.push_str(&operand);
    }
    match row.enc {
        Enc::Mubuf => text.push_str(" offen"),
        // Where the old value is returned, that is what is measured.
        Enc::Global | Enc::Flat if row.has(flag::ATOMIC) && row.operand(Role::Vdst).is_some() => {
            text.push_str(" glc");
        }
        _ if row.has(flag::SWIZZLE) => text.push_str(" offset:0x801f"),
        _ => {}
    }
    Ok(text)
}

/// How many operands of each kind a text already has.
#[derive(Default)]
struct Used {
    /// The copy whose first operand and result are its own.
    copy: Option<u32>,
    /// The copy of a load, which has registers of its own for what it loads.
    loaded: Option<u32>,
    f64: u32,
    float: u32,
    wide: u32,
    word: u32,
}

fn range(file: char, first: u32, dwords: u32) -> String {
    if dwords == 1 { format!("{file}{first}") } else { format!("{file}[{first}:{}]", first + dwords - 1) }
}

/// A register with a number of a type.
fn vector(ty: Ty, used: &mut Used) -> String {
    let dwords = ty.dwords() as u32;
    if let (Some(copy), 0) = (used.copy, used.f64 + used.float + used.wide + used.word) {
        let (kind, count) = match (ty.kind, ty.bits, dwords) {
            (Kind::F, 64, 2) => (1, &mut used.f64),
            (Kind::F | Kind::Bf, 16, 1) => (2, &mut used.float),
            (Kind::F, 32, 1 | 2) => (0, &mut used.float),
            (_, _, 1) => (3, &mut used.word),
            (_, _, 2) => (4, &mut used.wide),
            _ => return vector_of(ty, used),
        };
        *count += 1;
        return range('v', FIRST[kind] + dwords * copy, dwords);
    }
    vector_of(ty, used)
}

/// One of those that all copies share.
fn vector_of(ty: Ty, used: &mut Used) -> String {
    let take = |n: &mut u32, limit: u32| {
        *n += 1;
        (*n - 1).min(limit)
    };
    let dwords = ty.dwords() as u32;
    match (ty.kind, ty.bits, dwords) {
        (Kind::F, 64, 2) => range('v', 8 + 2 * take(&mut used.f64, 2), 2),
        (Kind::F | Kind::Bf, 16, n) => range('v', 14 + 2 * take(&mut used.float, 2), n),
        (Kind::F, 32, n @ (1 | 2)) => range('v', 2 + 2 * take(&mut used.float, 2), n),
        (_, _, 1) => range('v', 20 + take(&mut used.word, 3), 1),
        (_, _, n @ 2..=4) => range('v', 24 + 4 * take(&mut used.wide, 2), n),
        (_, _, n) => range('v', 48, n),
    }
}

fn operand(row: &Row, op: &Operand, level: Level, used: &mut Used) -> Result<String, &'static str> {
    let dwords = op.ty.dwords() as u32;
    let compact = row.has(flag::D16) && matches!(row.enc, Enc::Mubuf);
    Ok(match op.role {
        Role::Vdst if op.class == Class::Agpr => range('a', 0, dwords),
        Role::Vdst if row.enc == Enc::Mfma => {
            range(if level == Level::Gfx90a { 'v' } else { 'a' }, 48, dwords)
        }
        // Four dwords each reach into the offsets, which only memory instructions need.
        Role::Vdst if dwords == 4 && row.enc.is_valu() => range('v', 40 + used.copy.unwrap_or(0) * 4, 4),
        Role::Vdst | Role::Vdata if used.loaded.is_some() => {
            let dwords = if compact { dwords.div_ceil(2) } else { dwords };
            range('v', FIRST[0] + 4 * used.loaded.unwrap_or(0), dwords)
        }
        Role::Vdst => range('v', 40 + used.copy.filter(|_| dwords <= 2).unwrap_or(0) * 2, dwords),
        Role::Vdata => range('v', 40, if compact { dwords.div_ceil(2) } else { dwords }),
        Role::Src2 if row.enc == Enc::Mfma => {
            range(if level == Level::Gfx90a { 'v' } else { 'a' }, 48, dwords)
        }
        Role::Src0 | Role::Src1 | Role::Src2 if op.class == Class::Agpr => range('a', 0, dwords),
        // A lane's number; an exponent that does not leave the range.
        Role::Src1 if row.name.contains("lane_b32") || row.name.contains("ldexp") => "3".into(),
        Role::Src0 | Role::Src1 | Role::Src2 | Role::Data0 | Role::Data1 => match op.class {
            Class::Scalar | Class::Ssrc | Class::Reg => range('s', 20, dwords),
            _ if row.name.starts_with("v_writelane") => "s20".into(),
            _ => vector(op.ty, used),
        },
        Role::Vcc if row.enc == Enc::Vopc => range('s', 40 + 2 * used.copy.unwrap_or(0), 2),
        Role::Vcc => "vcc".into(),
        Role::Sdst => range('s', 40, dwords),
        Role::Sdata => range('s', 40, dwords),
        Role::Ssrc0 => range('s', 20, dwords),
        Role::Ssrc1 => range('s', 24, dwords),
        Role::K if op.ty.bits == 16 => "0x3555".into(),
        Role::K => "0x3eaaaaab".into(),
        Role::Simm16 | Role::Uimm16 | Role::Imm16 => "5".into(),
        Role::Addr => range('v', OFFSETS + stride(row), 1),
        Role::Vaddr if row.enc == Enc::Mubuf || row.enc == Enc::Global => {
            range('v', OFFSETS + stride(row), 1)
        }
        Role::Vaddr => range('v', ADDRESSES + 2 * stride(row), 2),
        Role::Saddr => "s[2:3]".into(),
        Role::Sbase if op.ty.bits == 64 => "s[2:3]".into(),
        Role::Sbase | Role::Srsrc => {
            let components = components(row).unwrap_or(1) as usize;
            range('s', FORMATS[(components - 1) & 3].0, 4)
        }
        Role::Soffset => "0".into(),
        Role::Hwreg | Role::GprIdx | Role::Label => return Err("changes EXEC, MODE or the PC"),
        _ => return Err("other operands"),
    })
}
