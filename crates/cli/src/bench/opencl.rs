//! `wavemill bench --opencl`: OpenCL kernels that everybody knows, on each engine and, where it is installed, on PoCL: the
//! same sources, compiled for the host. Runs alternate, so that whatever else the machine does meets all alike; medians of
//! CPU time count.

use super::cpu_time;
use super::earlier;
use super::known::{Arg, Case, NAMES, case};
use super::pocl::Pocl;
use crate::json::{Json, Scalar};
use std::process::ExitCode;
use std::sync::Arc;
use wavemill_device::kernarg::Value;
use wavemill_device::run::Launch;
use wavemill_device::{Device, EngineKind, Loaded, Options, Region, Use};
use wavemill_isa::Target;
use wavemill_wave::CodeStats;

/// What the arguments of `bench` ask for.
pub struct Wanted<'a> {
    /// Only these kernels.
    pub kernels: &'a [String],
    /// These engines.
    pub engines: &'a [EngineKind],
    /// Runs of each.
    pub runs: usize,
    /// Host threads; 0 takes as many as the host has.
    pub threads: usize,
    /// Sizes that take milliseconds.
    pub small: bool,
    /// As JSON.
    pub json: bool,
    /// A file with the JSON of an earlier run.
    pub compare: Option<&'a str>,
}

/// What can run a kernel again and again.
trait Machine {
    fn name(&self) -> &str;
    fn run(&self) -> Result<(), String>;
    /// What it has compiled, if it tells.
    fn code(&self) -> Option<CodeStats> {
        None
    }
    /// What is in a buffer, by its place among the arguments.
    fn read(&self, index: usize) -> Result<Vec<u32>, String>;
}

impl Machine for Pocl {
    fn name(&self) -> &str {
        "pocl"
    }
    fn run(&self) -> Result<(), String> {
        Pocl::run(self)
    }
    fn read(&self, index: usize) -> Result<Vec<u32>, String> {
        Pocl::read(self, index)
    }
}

/// A device with an engine, and a kernel's arguments in its memory.
struct Emulated {
    kind: EngineKind,
    device: Device,
    object: Arc<Loaded>,
    kernel: &'static str,
    launches: Vec<Launch>,
    regions: Vec<Option<Region>>,
}

impl Emulated {
    fn new(case: &Case, kind: EngineKind, threads: usize) -> Result<Emulated, String> {
        let target = Target::named("gfx90a").ok_or("gfx90a is missing")?;
        let device = Device::new(target, &Options { threads, engine: kind, ..Options::default() });
        let object = device.load(case.name, case.object.to_vec()).map_err(|e| e.to_string())?;
        let (mut regions, mut values) = (Vec::new(), Vec::new());
        for arg in &case.args {
            let (region, value) = match arg {
                Arg::Buffer(words) => {
                    let region = device.memory().allocate(4 * words.len() as u64, Use::Device, case.name);
                    let region = region.map_err(|e| e.to_string())?;
                    region.write(0, &words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>());
                    region.keep_out(0);
                    let start = region.start();
                    (Some(region), Value::Pointer(start))
                }
                Arg::Number(n) => (None, Value::Bytes(n.to_le_bytes().to_vec())),
                Arg::Local(bytes) => (None, Value::Local(*bytes)),
            };
            regions.push(region);
            values.push(value);
        }
        let launch = |step: &Vec<u32>| {
            let more = step.iter().map(|n| Value::Bytes(n.to_le_bytes().to_vec()));
            let values = values.iter().cloned().chain(more).collect();
            Launch { grid: case.grid.clone(), block: case.block.clone(), values, ..Launch::default() }
        };
        let launches = case.steps.iter().map(launch).collect();
        Ok(Emulated { kind, device, object, kernel: case.kernel, launches, regions })
    }
}

impl Machine for Emulated {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn run(&self) -> Result<(), String> {
        let kernel = self.object.kernel(self.kernel).ok_or("the kernel is missing")?;
        for launch in &self.launches {
            if let Some(fault) = self.device.launch(kernel, launch)?.fault {
                return Err(fault.summary);
            }
        }
        Ok(())
    }

    fn code(&self) -> Option<CodeStats> {
        self.device.code_stats()
    }

    fn read(&self, index: usize) -> Result<Vec<u32>, String> {
        let region = self.regions.get(index).and_then(Option::as_ref).ok_or("no buffer there")?;
        let mut bytes = vec![0; region.len() as usize];
        region.read(0, &mut bytes);
        Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
    }
}

/// What a kernel took on a machine.
struct Took {
    kernel: &'static str,
    engine: String,
    /// The median.
    seconds: f64,
    /// Of PoCL's time.
    ratio: Option<f64>,
    /// What was compiled for it.
    code: Option<CodeStats>,
}

/// Runs a kernel on all machines in turn.
fn measure(case: &Case, wanted: &Wanted<'_>) -> Result<Vec<Took>, String> {
    let mut machines: Vec<Box<dyn Machine>> = Vec::new();
    for &kind in wanted.engines {
        machines.push(Box::new(Emulated::new(case, kind, wanted.threads)?));
    }
    if let Some(pocl) = Pocl::new(case)? {
        machines.push(Box::new(pocl));
    }
    // The first run compiles; afterwards, what they wrote must be the same.
    machines.iter().try_for_each(|m| m.run().map_err(|e| format!("{}: {e}", m.name())))?;
    for (i, _) in case.args.iter().enumerate().filter(|(_, a)| matches!(a, Arg::Buffer(_))) {
        let first = machines[0].read(i)?;
        // A CPU's reciprocal square root is not a GPU's.
        for other in machines.iter().skip(1).filter(|m| m.name() != "pocl" || case.name != "nbody") {
            if other.read(i)? != first {
                return Err(format!("{} and {} write different bits", machines[0].name(), other.name()));
            }
        }
    }
    let mut times = vec![Vec::new(); machines.len()];
    for _ in 0..wanted.runs {
        for (machine, times) in machines.iter().zip(&mut times) {
            let start = cpu_time();
            machine.run()?;
            times.push(cpu_time() - start);
        }
    }
    let medians: Vec<f64> = times
        .iter_mut()
        .map(|t| {
            t.sort_by(f64::total_cmp);
            t[t.len() / 2].max(1e-9)
        })
        .collect();
    let pocl = machines.iter().position(|m| m.name() == "pocl").map(|i| medians[i]);
    let took = |(m, &seconds): (&dyn Machine, &f64)| Took {
        kernel: case.name,
        engine: m.name().to_owned(),
        seconds,
        ratio: pocl.filter(|_| m.name() != "pocl").map(|p| seconds / p),
        code: m.code(),
    };
    Ok(machines.iter().map(|m| &**m).zip(&medians).map(took).collect())
}

/// Runs the kernels and tells what they took.
pub fn run(wanted: &Wanted<'_>) -> ExitCode {
    if let Some(name) = wanted.kernels.iter().find(|n| !NAMES.contains(&n.as_str())) {
        return super::wrong("kernel", name, NAMES.into_iter());
    }
    let before = match wanted.compare.map(earlier::read).transpose() {
        Ok(before) => before.unwrap_or_default(),
        Err(message) => {
            crate::output::message(format_args!("wavemill bench: {message}"));
            return ExitCode::FAILURE;
        }
    };
    let mut all: Vec<Took> = Vec::new();
    let chosen = |n: &&str| wanted.kernels.is_empty() || wanted.kernels.iter().any(|k| k == n);
    for name in NAMES.into_iter().filter(chosen) {
        match measure(&case(name, wanted.small), wanted) {
            Ok(took) => {
                if !wanted.json {
                    let lines: String = took.iter().map(|t| line(t, &before)).collect();
                    crate::print(lines.as_bytes());
                }
                all.extend(took);
            }
            Err(message) => {
                crate::output::message(format_args!("wavemill bench: {name}: {message}"));
                return ExitCode::FAILURE;
            }
        }
    }
    if wanted.json {
        return write_json(&all, &before, wanted);
    }
    for kind in wanted.engines {
        if let Some(mean) = mean(&all, kind.name()) {
            crate::print(format!("{}: {mean:.2} times PoCL (geometric mean)\n", kind.name()).as_bytes());
        }
    }
    ExitCode::SUCCESS
}

/// The geometric mean of an engine's ratios to PoCL.
fn mean(all: &[Took], engine: &str) -> Option<f64> {
    let logs: Vec<f64> =
        all.iter().filter(|t| t.engine == engine).filter_map(|t| t.ratio).map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

fn earlier_seconds(took: &Took, before: &[earlier::Entry]) -> Option<f64> {
    before.iter().find(|e| e.kernel == took.kernel && e.engine == took.engine).map(|e| e.seconds)
}

fn line(took: &Took, before: &[earlier::Entry]) -> String {
    let Took { kernel, engine, seconds, ratio, code } = took;
    let ratio = ratio.map_or(String::new(), |r| format!(", {r:6.2} times PoCL"));
    let then = earlier_seconds(took, before)
        .map_or(String::new(), |e| format!(", {:5.2} times before", seconds / e));
    let code = code.map_or(String::new(), |c| {
        let each = c.nanoseconds as f64 / 1e3 / c.instructions.max(1) as f64;
        format!(", {} instructions compiled in {each:.1} us each to {} KiB", c.instructions, c.bytes >> 10)
    });
    format!("{kernel:18}{engine:8}{:10.2} ms{ratio}{then}{code}\n", seconds * 1e3)
}

fn write_json(all: &[Took], before: &[earlier::Entry], wanted: &Wanted<'_>) -> ExitCode {
    let mut json = Json::new(crate::output::stdout());
    json.object(|json| {
        json.field("version", crate::version::version());
        json.field("host", &super::host_name());
        json.field("processor", "gfx90a");
        json.field("compiler", "clang-19 -O2");
        json.field("threads", wanted.threads);
        json.field("runs", wanted.runs);
        json.field("small", wanted.small);
        json.key("results").array(|json| {
            for took in all {
                json.object(|json| {
                    json.field("kernel", took.kernel);
                    json.field("engine", &took.engine);
                    json.field("cpu_seconds", Scalar::Float(took.seconds));
                    if let Some(ratio) = took.ratio {
                        json.field("times_pocl", Scalar::Float(ratio));
                    }
                    if let Some(code) = took.code {
                        json.field("compiled_instructions", code.instructions);
                        json.field("compile_seconds", Scalar::Float(code.nanoseconds as f64 * 1e-9));
                        json.field("code_bytes", code.bytes);
                    }
                    if let Some(then) = earlier_seconds(took, before) {
                        json.field("times_before", Scalar::Float(took.seconds / then));
                    }
                });
            }
        });
        json.key("times_pocl").object(|json| {
            for kind in wanted.engines {
                if let Some(mean) = mean(all, kind.name()) {
                    json.field(kind.name(), Scalar::Float(mean));
                }
            }
        });
    });
    crate::output::finished("bench", json.finish())
}
