//! `wavemill bench --instructions`: what every instruction of the table costs that a loop of copies of it can run, so that
//! no slow one hides.
//!
//! What is in the loop, [`sample`] knows. Instructions that need more than that (GDS, a trap handler, a host …) are named as
//! left out. A few instructions are measured with DPP and SDWA as well ([`FORMS`]).

mod sample;

use self::sample::{Sample, registers};
use super::{Loop, Runner, cpu_time};
use crate::json::{Json, Scalar};
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use wavemill_device::EngineKind;
use wavemill_isa::row::Row;
use wavemill_isa::{Level, ROWS, Target};
use wavemill_wave::Simd;

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

/// What was not measured, by the reason.
type LeftOut = BTreeMap<String, BTreeSet<&'static str>>;

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
    let mut wanted: Vec<(&Row, Result<Sample, &'static str>)> =
        rows.filter(|r| is_wanted(r.name)).map(|r| (r, Sample::new(r, target))).collect();
    let forms = FORMS.iter().filter(|(name, _)| level.is_vi_plus() && is_wanted(name));
    wanted.extend(forms.filter_map(|(name, rest)| form(name, rest, level)));
    if wanted.is_empty() {
        crate::output::message(format_args!("wavemill bench: no instruction of {cpu} has that in its name"));
        return ExitCode::from(2);
    }
    let mut costs = Vec::new();
    let mut left_out = LeftOut::new();
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
        for (row, sample) in &wanted {
            let sample = match sample {
                Ok(sample) => sample,
                Err(why) => {
                    left_out.entry((*why).into()).or_default().insert(row.name);
                    continue;
                }
            };
            let timed = |body: &str| Loop::new(target, runner, body).and_then(|all| Timed::new(all, seconds));
            let cost = || {
                let all = timed(&sample.body())?;
                match sample.is_alone() {
                    true => yardstick.compare(&all, &empty),
                    false => yardstick.compare(&all, &timed(&sample.rest())?),
                }
            };
            let text = sample.text().to_owned();
            match cost() {
                Ok((ns, ratio)) => costs.push(Cost { row, text, runner, ns, ratio }),
                Err(e) => {
                    let first = e.lines().next().unwrap_or_default();
                    left_out.entry(format!("`{text}`: {first}")).or_default().insert(row.name);
                }
            }
        }
    }
    costs.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    if json { write_json(&costs) } else { write_text(&costs, &left_out) }
}

/// The row of an instruction with DPP or SDWA, and its copies.
fn form(name: &str, rest: &str, level: Level) -> Option<(&'static Row, Result<Sample, &'static str>)> {
    let plain = name.rsplit_once('_')?.0;
    let row = ROWS.iter().find(|r| r.name == plain && r.opcode_at(level).is_some())?;
    Some((row, Ok(Sample::with(name, row, rest)?)))
}

fn write_text(costs: &[Cost], left_out: &LeftOut) -> ExitCode {
    let mut text = format!("{:>10} {:>8}  back end    instruction\n", "ns", "ratio");
    for c in costs {
        text.push_str(&format!("{:10.1} {:8.1}  {:11} {}\n", c.ns, c.ratio, c.runner.name(), c.text));
    }
    let slow = costs.iter().filter(|c| c.ratio > 5.0).count();
    text.push_str(&format!(
        "{} measured, {slow} of them above five times {YARDSTICK} in the interpreter\n",
        costs.len()
    ));
    for (why, names) in left_out {
        let all: Vec<_> = names.iter().copied().collect();
        text.push_str(&format!("{} left out ({why}): {}\n", all.len(), all.join(", ")));
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
        let sample = row.ok_or("it is not in the table").and_then(|row| Sample::new(row, target));
        let timed = |body: &str| Loop::new(target, by, body).and_then(|all| Timed::new(all, seconds));
        let both = sample.map_err(str::to_owned).and_then(|s| Ok((timed(&s.body())?, timed("")?)));
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
