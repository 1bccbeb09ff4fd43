//! `wavemill bench`: how many wave instructions a second this machine gets, for each kind of instruction and each engine, the
//! interpreter and the JIT with each SIMD back end, on one core; or what each single instruction costs ([`instructions`]); or what
//! launches cost ([`launch`]); or what known OpenCL kernels take, and what they take on PoCL ([`opencl`]).

mod earlier;
mod instructions;
mod known;
mod launch;
mod opencl;
mod pocl;

use crate::json::{Json, Scalar};
use clap::Args;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use wavemill_device::EngineKind;
use wavemill_isa::target::Target;
use wavemill_wave::{Engine, Event, GroupShared, Memory, Shape, Simd, Wave, alone};

const DEFAULT_RUNS: usize = 5;

/// Arguments of `bench`.
#[derive(Args, Debug)]
pub struct Bench {
    /// Only these kernels: valu, partial, salu, copy, gather, lds, mfma; with --instructions, only instructions with one
    /// of these in their names; with --opencl vadd, reduce, histogram, sgemm-naive-512, sgemm-naive-1024, sgemm-tiled-512,
    /// sgemm-tiled-1024, nbody, mandelbrot, bitonic-lds, bitonic-step
    #[arg(value_name = "KERNEL")]
    kernels: Vec<String>,
    /// The cost of every instruction that a loop of it can run, the slowest first
    #[arg(long)]
    instructions: bool,
    /// The cost of a dispatch and of waves that only end, what two host threads do together, and how soon a long kernel runs
    #[arg(long, conflicts_with_all = ["instructions", "opencl", "simd", "seconds", "kernels"])]
    launch: bool,
    /// CPU time of OpenCL kernels, and on PoCL where it is installed, in turn
    #[arg(long, conflicts_with_all = ["instructions", "simd", "seconds"])]
    opencl: bool,
    /// Runs of each OpenCL kernel or launch, of which the median counts
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RUNS)]
    runs: usize,
    /// Host threads for OpenCL kernels; 0 takes as many as the host has
    #[arg(long, value_name = "N", default_value_t = 1, requires = "opencl")]
    threads: usize,
    /// OpenCL kernels or launches with so little to do that they take milliseconds
    #[arg(long)]
    small: bool,
    /// Compare with what an earlier `bench --opencl --json` wrote to a file
    #[arg(long, value_name = "FILE", requires = "opencl")]
    compare: Option<String>,
    /// The processor whose instructions to measure
    #[arg(long, value_name = "CPU", default_value = "gfx90a", requires = "instructions")]
    mcpu: String,
    /// Only this engine: interp, jit, plain (without: interp and jit; with --instructions the one that runs by default)
    #[arg(long, value_name = "NAME")]
    engine: Option<String>,
    /// Only this back end of the interpreter, or of the engine that is named: avx512, avx2, neon, portable (without: all; with
    /// --instructions the one that runs)
    #[arg(long, value_name = "NAME")]
    simd: Option<String>,
    /// Seconds for each kernel on each engine (0.2), or for each of several runs of an instruction (0.001)
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// A loop to run: what happens in one round, with a counter in s0, lane numbers times four in v0, floats in v1 to v3 and
/// integers in v4 to v7, two buffers at s[2:3] and s[4:5], LDS.
struct Kernel {
    name: &'static str,
    what: &'static str,
    body: &'static str,
    /// Active lanes.
    exec: u64,
}

/// Three fma, three other f32, ten integer, two compares, two selects: the block that engines were first compared with.
const VALU: &str = "
    v_fma_f32 v10, v1, v2, v3
    v_add_u32 v11, v4, v5
    v_lshlrev_b32 v12, 3, v11
    v_xor_b32 v13, v12, v6
    v_mul_f32 v14, v10, v2
    v_and_b32 v15, v13, v4
    v_fma_f32 v16, v14, v1, v3
    v_cmp_lt_u32 vcc, v15, v5
    v_cndmask_b32 v17, v12, v13, vcc
    v_add_f32 v18, v16, v2
    v_or_b32 v19, v17, v4
    v_sub_u32 v20, v19, v6
    v_lshrrev_b32 v21, 5, v20
    v_fma_f32 v22, v18, v2, v1
    v_max_f32 v23, v22, v18
    v_cmp_gt_f32 vcc, v23, v3
    v_cndmask_b32 v24, v20, v21, vcc
    v_add_u32 v25, v24, v12
    v_min_u32 v26, v25, v19
    v_xor_b32 v4, v26, v5
";

const KERNELS: [Kernel; 7] = [
    Kernel { name: "valu", what: "vector arithmetic, all lanes active", body: VALU, exec: !0 },
    Kernel { name: "partial", what: "the same, some lanes active", body: VALU, exec: 0x5a5a_5a5a_ffff_0f0f },
    Kernel {
        name: "salu",
        what: "scalar arithmetic",
        body: "
    s_add_u32 s10, s11, s12
    s_lshl_b32 s11, s10, 3
    s_xor_b32 s12, s11, s10
    s_and_b64 s[14:15], s[10:11], s[12:13]
    s_mul_i32 s13, s12, s10
    s_cselect_b32 s16, s10, s11
    s_bfe_u32 s17, s16, 0x80004
    s_max_u32 s18, s17, s10
    s_ff1_i32_b32 s19, s18
    s_not_b64 s[20:21], s[14:15]
",
        exec: !0,
    },
    Kernel {
        name: "copy",
        what: "global loads and stores of consecutive dwords",
        body: "
    global_load_dword v10, v0, s[2:3]
    global_load_dword v11, v0, s[2:3] offset:256
    global_load_dword v12, v0, s[2:3] offset:512
    global_load_dword v13, v0, s[2:3] offset:768
    s_waitcnt vmcnt(0)
    global_store_dword v0, v10, s[4:5]
    global_store_dword v0, v11, s[4:5] offset:256
    global_store_dword v0, v12, s[4:5] offset:512
    global_store_dword v0, v13, s[4:5] offset:768
",
        exec: !0,
    },
    Kernel {
        name: "gather",
        what: "global loads from every other dword",
        body: "
    v_lshlrev_b32 v8, 1, v0
    global_load_dword v10, v8, s[2:3]
    global_load_dword v11, v8, s[2:3] offset:256
    global_load_dword v12, v8, s[2:3] offset:512
    global_load_dword v13, v8, s[2:3] offset:768
    s_waitcnt vmcnt(0)
",
        exec: !0,
    },
    Kernel {
        name: "lds",
        what: "LDS stores and loads",
        body: "
    ds_write_b32 v0, v4
    ds_write_b32 v0, v5 offset:256
    ds_read_b32 v10, v0
    ds_read2_b32 v[12:13], v0 offset1:64
    s_waitcnt lgkmcnt(0)
    v_add_u32 v4, v10, v12
",
        exec: !0,
    },
    Kernel {
        name: "mfma",
        what: "v_mfma_f32_32x32x2f32",
        body: "
    v_mfma_f32_32x32x2f32 a[0:15], v1, v2, a[0:15]
    v_mfma_f32_32x32x2f32 a[16:31], v2, v3, a[16:31]
",
        exec: !0,
    },
];

/// What runs a loop: an engine, and what of the host it uses, if there are several kinds of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Runner {
    kind: EngineKind,
    simd: Option<Simd>,
}

impl Runner {
    /// The interpreter goes by the names of its back ends.
    fn name(self) -> String {
        match (self.kind, self.simd) {
            (EngineKind::Interp, Some(simd)) => simd.name().to_owned(),
            (kind, Some(simd)) => format!("{} {}", kind.name(), simd.name()),
            (kind, None) => kind.name().to_owned(),
        }
    }

    /// Its fields of a record.
    fn write(self, json: &mut Json<impl std::io::Write>) {
        json.field("engine", self.kind.name());
        if let Some(simd) = self.simd {
            json.field("simd", simd.name());
        }
    }

    fn make(self, target: Target) -> Arc<dyn Engine> {
        let made = self.simd.and_then(|simd| self.kind.make_of(target, simd));
        made.unwrap_or_else(|| self.kind.make(target))
    }

    /// An engine in every kind that this host has, or the one that runs here.
    fn every(kind: EngineKind, only_default: bool) -> Vec<Runner> {
        let simds = kind.simds();
        let default = simds.contains(&Simd::detect()).then(Simd::detect).or(simds.first().copied());
        match simds.is_empty() || only_default {
            true => vec![Runner { kind, simd: default }],
            false => simds.into_iter().map(|simd| Runner { kind, simd: Some(simd) }).collect(),
        }
    }

    /// Those that the arguments ask for.
    fn wanted(args: &Bench) -> Result<Vec<Runner>, ExitCode> {
        let kind = match (&args.engine, &args.simd) {
            (Some(name), _) => Some(EngineKind::named(name).map_err(|message| {
                crate::output::message(format_args!("wavemill bench: {message}"));
                ExitCode::from(2)
            })?),
            (None, Some(_)) => Some(EngineKind::Interp),
            (None, None) => args.instructions.then(EngineKind::default),
        };
        if let Some(name) = &args.simd {
            let kind = kind.unwrap_or(EngineKind::Interp);
            let what = format!("back end of {} on this host", kind.name());
            let found = kind.simds().into_iter().find(|s| s.name() == name);
            let simd = found.ok_or_else(|| wrong(&what, name, kind.simds().iter().map(|s| s.name())))?;
            return Ok(vec![Runner { kind, simd: Some(simd) }]);
        }
        Ok(match kind {
            Some(kind) => Runner::every(kind, args.instructions),
            None => {
                let kinds = [EngineKind::Interp, EngineKind::Jit].into_iter().filter(|kind| kind.available());
                kinds.flat_map(|kind| Runner::every(kind, false)).collect()
            }
        })
    }
}

/// What came of a kernel on an engine.
struct Measured {
    kernel: &'static str,
    runner: Runner,
    instructions: u64,
    seconds: f64,
}

impl Measured {
    /// Million wave instructions a second.
    fn rate(&self) -> f64 {
        self.instructions as f64 / self.seconds / 1e6
    }
}

/// Runs `wavemill bench --opencl` or `--launch`.
fn run_device(args: &Bench) -> ExitCode {
    let engines = match &args.engine {
        Some(name) => match EngineKind::named(name) {
            Ok(kind) => vec![kind],
            Err(message) => {
                crate::output::message(format_args!("wavemill bench: {message}"));
                return ExitCode::from(2);
            }
        },
        None => [EngineKind::Interp, EngineKind::Jit].into_iter().filter(|k| k.available()).collect(),
    };
    if !(1..=1000).contains(&args.runs) || args.threads > 1024 {
        crate::output::message("wavemill bench: --runs must be 1 to 1000, --threads at most 1024");
        return ExitCode::from(2);
    }
    if args.launch {
        return launch::run(&engines, args.runs, args.small, args.json);
    }
    opencl::run(&opencl::Wanted {
        kernels: &args.kernels,
        engines: &engines,
        runs: args.runs,
        threads: args.threads,
        small: args.small,
        json: args.json,
        compare: args.compare.as_deref(),
    })
}

/// The host's processor, as the system calls it.
fn host_name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find(|l| l.starts_with("model name")).and_then(|l| l.split(':').nth(1));
    let simds = Simd::available().iter().map(|s| s.name()).collect::<Vec<_>>().join(", ");
    format!("{} {} ({simds})", name.map_or(std::env::consts::ARCH, str::trim), std::env::consts::OS)
}

/// Runs `wavemill bench`.
pub fn run(args: &Bench) -> ExitCode {
    if args.opencl || args.launch {
        return run_device(args);
    }
    if args.small || args.runs != DEFAULT_RUNS {
        crate::output::message("wavemill bench: --small and --runs are for --opencl and --launch");
        return ExitCode::from(2);
    }
    let runners = match Runner::wanted(args) {
        Ok(runners) => runners,
        Err(code) => return code,
    };
    let seconds = args.seconds.unwrap_or(if args.instructions { 0.001 } else { 0.2 });
    if !(seconds > 0.0 && seconds <= 3600.0) {
        crate::output::message("wavemill bench: --seconds must be above 0 and at most 3600");
        return ExitCode::from(2);
    }
    if args.instructions {
        return instructions::run(&args.mcpu, &args.kernels, &runners, seconds, args.json);
    }
    if let Some(name) = args.kernels.iter().find(|n| KERNELS.iter().all(|k| k.name != n.as_str())) {
        return wrong("kernel", name, KERNELS.iter().map(|k| k.name));
    }
    let mut all = Vec::new();
    for kernel in
        KERNELS.iter().filter(|k| args.kernels.is_empty() || args.kernels.iter().any(|n| n == k.name))
    {
        if !args.json {
            crate::print(format!("{}: {}\n", kernel.name, kernel.what).as_bytes());
        }
        for &runner in &runners {
            match measure(kernel, runner, seconds) {
                Ok(m) => {
                    if !args.json {
                        let (name, rate, each) = (runner.name(), m.rate(), 1e3 / m.rate());
                        let line =
                            format!("  {name:11}{rate:8.1} M wave instructions/s, {each:7.1} ns each\n");
                        crate::print(line.as_bytes());
                    }
                    all.push(m);
                }
                Err(message) => {
                    crate::output::message(format_args!("wavemill bench: {}: {message}", kernel.name));
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    if args.json {
        return write_json(&all);
    }
    ExitCode::SUCCESS
}

fn wrong<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> ExitCode {
    crate::output::message(format_args!(
        "wavemill bench: no {what} `{name}` (there are {})",
        known.collect::<Vec<_>>().join(", ")
    ));
    ExitCode::from(2)
}

fn write_json(all: &[Measured]) -> ExitCode {
    let mut json = Json::new(crate::output::stdout());
    json.array(|json| {
        for m in all {
            json.object(|json| {
                json.field("kernel", m.kernel);
                m.runner.write(json);
                json.field("wave_instructions", m.instructions);
                json.field("seconds", Scalar::Float(m.seconds));
                json.field("million_per_second", Scalar::Float(m.rate()));
            });
        }
    });
    crate::output::finished("bench", json.finish())
}

/// A loop, assembled, with the memory it may use.
struct Loop {
    target: Target,
    engine: Arc<dyn Engine>,
    memory: Memory,
    group: GroupShared,
    code: Vec<u8>,
    buffers: Vec<u32>,
}

/// What memory begins at a multiple of: a page, as GPUs allocate it.
const PAGE: u64 = 4096;

impl Loop {
    /// A loop that counts s0 down around a body.
    fn new(target: Target, runner: Runner, body: &str) -> Result<Loop, String> {
        let source = format!(
            "loop:{body}\n    s_sub_u32 s0, s0, 1\n    s_cmp_lg_u32 s0, 0\n    s_cbranch_scc1 loop\n    s_endpgm\n"
        );
        let mut options = wavemill_asm::Options::new(target);
        options.output = wavemill_asm::OutputType::Obj;
        let output = wavemill_asm::assemble(&options, "loop", source.into());
        let code = output.object.as_ref().and_then(|o| o.sections.iter().find(|s| s.has_instructions));
        let Some(code) = code.filter(|_| !output.failed()) else {
            return Err(String::from_utf8_lossy(&output.render_diagnostics()).into_owned());
        };
        let (code, mut buffers) = (code.data.to_vec(), vec![0x3f80_0000u32; 3 * 1024]);
        let first = (buffers.as_mut_ptr() as u64).next_multiple_of(PAGE);
        let memory = Memory::new();
        // SAFETY: both live as long as the memory does, and nobody else looks at them meanwhile.
        let added = unsafe {
            let data = memory.add(first, 2 * PAGE, true);
            data.and(memory.add(code.as_ptr() as u64, code.len() as u64, false))
        };
        added.map_err(|e| format!("{e:?}"))?;
        memory.set_exclusive(first, true);
        let (engine, group) = (runner.make(target), GroupShared::new(4096));
        Ok(Loop { target, engine, memory, group, code, buffers })
    }

    /// The address of the two buffers of 4 KiB.
    fn buffer(&self) -> u64 {
        (self.buffers.as_ptr() as u64).next_multiple_of(PAGE)
    }

    /// Runs so many rounds on a wave with registers of its own; returns wave instructions and seconds by a clock.
    fn run(&self, count: u32, clock: fn() -> f64, setup: impl Fn(&mut Wave)) -> Result<(u64, f64), String> {
        let mut wave = Wave::new(&self.target, Shape { vgprs: 256, agprs: 32 });
        wave.pc = self.code.as_ptr() as u64;
        setup(&mut wave);
        wave.set_sgpr(0, count);
        // As a device with one thread runs waves, after a while.
        alone::prepare();
        let _present = alone::Present::perhaps_alone();
        let start = clock();
        loop {
            match self.engine.run(&mut wave, &self.group, &self.memory, u64::MAX) {
                Event::End => return Ok((wave.counters.total(), (clock() - start).max(1e-9))),
                // It is the only one, and has slept enough.
                Event::Barrier | Event::Preempted => {}
                event => return Err(format!("{event:?}")),
            }
        }
    }
}

/// Runs a kernel's loop for about so long.
fn measure(kernel: &Kernel, runner: Runner, seconds: f64) -> Result<Measured, String> {
    let target = Target::named("gfx90a").ok_or("gfx90a is missing")?;
    let all = Loop::new(target, runner, kernel.body)?;
    let setup = |wave: &mut Wave| {
        for r in 0..8u16 {
            for (lane, v) in wave.vgpr_mut(r).into_iter().flatten().enumerate() {
                *v = match r {
                    0 => lane as u32 * 4,
                    1..4 => (1.0 + lane as f32 * 0.001 * r as f32).to_bits(),
                    _ => lane as u32 * 77 + r as u32,
                };
            }
        }
        wave.set_sgpr64(2, all.buffer());
        wave.set_sgpr64(4, all.buffer() + 4096);
        wave.set_exec(kernel.exec);
    };
    // The first rounds decode. Clocks may be coarse: rounds double until they take a good part of the time.
    let mut count = 1000;
    loop {
        let (instructions, taken) = all.run(count, cpu_time, setup)?;
        if taken >= seconds / 2.0 || count >= u32::MAX / 2 {
            return Ok(Measured { kernel: kernel.name, runner, instructions, seconds: taken });
        }
        count *= 2;
    }
}

/// Seconds since the first call.
fn wall_time() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Seconds of CPU time that this process has had, all threads, where the system tells, else [`wall_time`].
#[cfg(target_os = "linux")]
fn cpu_time() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}
#[cfg(not(target_os = "linux"))]
fn cpu_time() -> f64 {
    wall_time()
}
