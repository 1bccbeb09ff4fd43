//! `wavemill bench --launch`: what it costs to start work: a dispatch of one wave, waves that only end, in work-groups of one
//! and of four, and how much two host threads get done together; and how soon a long kernel runs that nobody has seen before.

use super::{cpu_time, wall_time};
use crate::json::{Json, Scalar};
use std::process::ExitCode;
use wavemill_device::run::Launch;
use wavemill_device::{Device, EngineKind, Options};
use wavemill_isa::Target;

/// A kernel that does nothing, and one that computes for a while.
const SOURCE: &str = "
.text
.globl ends
.p2align 8
.type ends,@function
ends:
    s_endpgm
.size ends, .-ends
.globl computes
.p2align 8
.type computes,@function
computes:
    s_movk_i32 s0, 500
again:
    v_fma_f32 v1, v1, v2, v3
    v_add_u32 v4, v4, v0
    v_xor_b32 v5, v4, v5
    v_fma_f32 v2, v2, v1, v3
    v_lshrrev_b32 v6, 3, v5
    v_max_u32 v7, v6, v4
    v_mul_lo_u32 v5, v7, v5
    v_add_f32 v3, v1, v3
    s_sub_u32 s0, s0, 1
    s_cmp_lg_u32 s0, 0
    s_cbranch_scc1 again
    s_endpgm
.size computes, .-computes
.rodata
.p2align 6
.amdhsa_kernel ends
.amdhsa_next_free_vgpr 8
.amdhsa_next_free_sgpr 8
.amdhsa_accum_offset 8
.end_amdhsa_kernel
.amdhsa_kernel computes
.amdhsa_next_free_vgpr 8
.amdhsa_next_free_sgpr 8
.amdhsa_accum_offset 8
.end_amdhsa_kernel
";

/// A row of the table.
struct Row {
    name: &'static str,
    what: &'static str,
    engine: &'static str,
    value: f64,
    unit: &'static str,
}

/// A device with the kernels.
struct Bench {
    device: Device,
    object: std::sync::Arc<wavemill_device::Loaded>,
}

fn target() -> Result<Target, String> {
    Target::named("gfx90a").ok_or_else(|| "gfx90a is missing".to_owned())
}

fn device(kind: EngineKind, threads: usize) -> Result<Device, String> {
    Ok(Device::new(target()?, &Options { threads, engine: kind, ..Options::default() }))
}

/// A code object.
fn assembled(source: &str) -> Result<Vec<u8>, String> {
    let mut options = wavemill_asm::Options::new(target()?);
    options.triple = "amdgcn-amd-amdhsa".into();
    options.os = wavemill_asm::Os::AmdHsa;
    options.output = wavemill_asm::OutputType::Obj;
    let output = wavemill_asm::assemble(&options, "launch", source.into());
    if output.failed() {
        return Err(String::from_utf8_lossy(&output.render_diagnostics()).into_owned());
    }
    wavemill_asm::elf::write(&output).map_err(|e| e.to_string())
}

/// Instructions of the long kernel.
const LONG: usize = 5000;

/// A kernel without branches: arithmetic and comparisons, on registers that differ from line to line.
fn long() -> String {
    let line = |i: usize| {
        let (a, b, c) = (1 + i % 23, 1 + i * 7 % 23, 1 + i * 11 % 23);
        match i % 8 {
            0 => format!("v_fma_f32 v{a}, v{b}, v{c}, v{a}"),
            1 => format!("v_add_u32 v{a}, v{b}, v{c}"),
            2 => format!("v_mul_f32 v{a}, v{b}, v{c}"),
            3 => format!("v_lshlrev_b32 v{a}, 3, v{b}"),
            4 => format!("v_cmp_lt_f32 vcc, v{a}, v{b}"),
            5 => format!("v_cndmask_b32 v{a}, v{b}, v{c}, vcc"),
            6 => format!("s_add_u32 s{}, s{}, {i}", a % 7, b % 7),
            _ => format!("v_xor_b32 v{a}, {}, v{b}", i * 97),
        }
    };
    let lines: Vec<String> = (0..LONG - 1).map(line).collect();
    format!(
        ".text\n.globl long\n.p2align 8\n.type long,@function\nlong:\n{}\ns_endpgm\n.size long, .-long\n.rodata\n.p2align 6\n\
         .amdhsa_kernel long\n.amdhsa_next_free_vgpr 24\n.amdhsa_next_free_sgpr 8\n.amdhsa_accum_offset 24\n.end_amdhsa_kernel\n",
        lines.join("\n")
    )
}

/// Waves of the long kernel: enough that an engine which compiles does.
const LONG_WAVES: u32 = 64;

/// Milliseconds by a clock until waves of a kernel have ended that was not there before, loading it included, and microseconds
/// that an instruction of it took to compile, if it was: medians.
fn start(kind: EngineKind, clock: fn() -> f64, runs: usize) -> Result<(f64, Option<f64>), String> {
    let bytes = assembled(&long())?;
    let (mut times, mut each) = (Vec::new(), Vec::new());
    for _ in 0..runs.max(1) {
        let device = device(kind, 1)?;
        let begun = clock();
        let object = device.load("long", bytes.clone()).map_err(|e| e.to_string())?;
        let bench = Bench { device, object };
        bench.run("long", 64 * LONG_WAVES, 64)?;
        times.push(clock() - begun);
        each.extend(
            bench
                .device
                .code_stats()
                .filter(|c| c.instructions > 0)
                .map(|c| c.nanoseconds as f64 / 1e3 / c.instructions as f64),
        );
    }
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    };
    Ok((median(times).unwrap_or(0.0) * 1e3, median(each)))
}

impl Bench {
    fn new(kind: EngineKind, threads: usize) -> Result<Bench, String> {
        let device = device(kind, threads)?;
        let object = device.load("launch", assembled(SOURCE)?).map_err(|e| e.to_string())?;
        Ok(Bench { device, object })
    }

    /// Runs a grid of work-items in work-groups.
    fn run(&self, kernel: &str, items: u32, group: u32) -> Result<(), String> {
        let kernel = self.object.kernel(kernel).ok_or("the kernel is missing")?;
        let launch = Launch { grid: vec![items], block: vec![group], ..Launch::default() };
        self.device.launch(kernel, &launch)?.fault.map_or(Ok(()), |fault| Err(fault.summary))
    }

    /// Seconds by a clock: the median of some runs, after one that compiles.
    fn time(
        &self,
        clock: fn() -> f64,
        runs: usize,
        run: impl Fn(&Bench) -> Result<(), String>,
    ) -> Result<f64, String> {
        run(self)?;
        let mut times = Vec::new();
        for _ in 0..runs.max(1) {
            let start = clock();
            run(self)?;
            times.push(clock() - start);
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2].max(1e-9))
    }
}

/// What the engines take; `waves` is how many waves a measurement has.
fn rows(engines: &[EngineKind], runs: usize, waves: u32) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for &kind in engines {
        let one = Bench::new(kind, 1)?;
        let mut add = |name, what, value: f64, unit| {
            rows.push(Row { name, what, engine: kind.name(), value, unit });
        };
        let launch = one.time(cpu_time, runs, |b| (0..100).try_for_each(|_| b.run("ends", 64, 64)))?;
        add("launch", "a dispatch of one wave that only ends", launch / 100.0 * 1e6, "us");
        for (name, what, group) in [
            ("wave", "a wave that only ends, in work-groups of four", 256),
            ("group", "a wave that only ends, in work-groups of one", 64),
        ] {
            let taken = one.time(cpu_time, runs, |b| b.run("ends", 64 * waves, group))?;
            add(name, what, taken / f64::from(waves) * 1e9, "ns");
        }
        let two = Bench::new(kind, 2)?;
        let computes = |b: &Bench| b.run("computes", 16 * waves, 256);
        let times = |clock| -> Result<f64, String> {
            Ok(one.time(clock, runs, computes)? / two.time(clock, runs, computes)?)
        };
        add("threads", "what two threads do, by CPU time, in one thread's time", 2.0 * times(cpu_time)?, "x");
        add("threads-wall", "the same by the wall clock, others' work included", times(wall_time)?, "x");
        let (started, compiled) = start(kind, cpu_time, runs)?;
        add("start", "64 waves of a new kernel of 5,000 instructions, loading it included", started, "ms");
        let (started, _) = start(kind, wall_time, runs)?;
        add("start-wall", "the same by the wall clock, others' work included", started, "ms");
        if let Some(each) = compiled {
            add("compile", "to compile an instruction of it", each, "us");
        }
    }
    Ok(rows)
}

/// Measures and tells.
pub fn run(engines: &[EngineKind], runs: usize, small: bool, json: bool) -> ExitCode {
    let rows = match rows(engines, runs, if small { 256 } else { 1 << 16 }) {
        Ok(rows) => rows,
        Err(message) => {
            crate::output::message(format_args!("wavemill bench: {message}"));
            return ExitCode::FAILURE;
        }
    };
    if !json {
        let line = |r: &Row| format!("{:13}{:8}{:10.2} {:3} {}\n", r.name, r.engine, r.value, r.unit, r.what);
        crate::print(rows.iter().map(line).collect::<String>().as_bytes());
        return ExitCode::SUCCESS;
    }
    let mut json = Json::new(crate::output::stdout());
    json.object(|json| {
        json.field("version", crate::version::version());
        json.field("host", &super::host_name());
        json.key("results").array(|json| {
            for row in &rows {
                json.object(|json| {
                    json.field("name", row.name);
                    json.field("engine", row.engine);
                    json.field("value", Scalar::Float(row.value));
                    json.field("unit", row.unit);
                });
            }
        });
    });
    crate::output::finished("bench", json.finish())
}
