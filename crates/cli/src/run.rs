//! `wavemill run`: one kernel of a source, code object or program, on the virtual GPU.

mod args;
mod handler;
mod npy;
mod print;
mod report;
mod show;
pub mod source;

use args::{ArgSpec, Buffer};
use clap::Args;
use handler::Handler;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use wavemill_console as console;
use wavemill_device::kernarg::{self, Value};
use wavemill_device::observe::Observers;
use wavemill_device::record::Log;
use wavemill_device::run::Launch;
use wavemill_device::trace::Trace;
use wavemill_device::traps::TrapHandler;
use wavemill_device::{Completion, Device, EngineKind, Kernel, Loaded, Options, loader};
use wavemill_isa::Target;
use wavemill_object::bundle;
use wavemill_object::read::File;

const AFTER_HELP: &str = "\
Arguments are given in the order of the kernel's own:
  buf:FILE      the bytes of a file, or the data of a .npy array, in a buffer
  zeros:BYTES   a buffer of zeros (4096, 64k, 16M, 1G)
  iota:TYPE:N   a buffer with 0, 1, 2 … N-1
  TYPE:VALUE    a number: i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64 (several for a vector: f32:1,2,3,4)
  hex:BYTES     bytes, for structures: hex:01000000ffff0000
  local:BYTES   local memory
--show prints or draws an argument's buffer after the run:
  N:TYPE[:COUNT]             its first elements
  N:image:WIDTHxHEIGHT[:TYPE]  one element (u32 if not said) for each pixel, the largest the brightest
A trap handler is entered at S_TRAP and at exceptions that the kernel's descriptor lets trap, privileged, with the cause
in TTMP0 and TTMP1; S_RFE_B64 leaves it. It must leave alone what the program uses, SCC included.
What the kernel prints (printf of OpenCL and HIP, failed assertions) goes to standard output and standard error; the
printf buffer of OpenCL is printed when the dispatch has ended, also by a fault, HIP's hostcalls while it runs. With
--json, what it prints to standard output is in \"printf\" of each dispatch.
An assembly source may hold its own options in comments, `; run: --grid 1024 --block 64 --arg zeros:4096`.
Options on the command line replace them.

Exit status: 0 the kernel ran, 1 it could not or faulted, 2 wrong usage.";

/// Numbers of work-items in up to three dimensions.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Sizes(Vec<u32>);

impl Sizes {
    fn parse(text: &str) -> Result<Sizes, String> {
        let numbers = text.split(',').map(|n| n.trim().parse().map_err(|_| format!("`{n}` is not a number")));
        let numbers: Vec<u32> = numbers.collect::<Result<_, _>>()?;
        if numbers.len() > 3 { Err("there are three dimensions".into()) } else { Ok(Sizes(numbers)) }
    }
}

/// Arguments of `run`.
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = AFTER_HELP)]
pub struct Run {
    /// Assembly source (.s), code object, relocatable object, offload bundle or HIP program
    file: PathBuf,
    /// Kernel to run; needed when there are several
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Work-items of the grid
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = Sizes::parse, overrides_with = "grid")]
    grid: Option<Sizes>,
    /// Work-items of a work-group (default: what the kernel requires, else at most 256)
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = Sizes::parse, overrides_with = "block")]
    block: Option<Sizes>,
    /// An argument, see below
    #[arg(long = "arg", value_name = "KIND:VALUE", allow_hyphen_values = true)]
    args: Vec<String>,
    /// Write argument N's buffer to a file after the run, as .npy if it came as one or FILE ends so
    #[arg(long, value_name = "N:FILE")]
    dump: Vec<String>,
    /// Print or draw argument N's buffer after the run, see below
    #[arg(long, value_name = "N:FORMAT")]
    show: Vec<String>,
    /// Code that waves jump to when they trap (TBA): a function of a source or code object, or of the program itself
    #[arg(long, value_name = "FILE[:SYMBOL] | :SYMBOL", value_parser = Handler::parse)]
    trap_handler: Option<Handler>,
    /// Memory for the trap handler (TMA), given as a buffer argument is; --dump and --show call it tma
    #[arg(long, value_name = "KIND:VALUE")]
    trap_memory: Option<String>,
    /// LDS beyond what the kernel declares, in bytes
    #[arg(long, value_name = "BYTES")]
    lds: Option<u32>,
    /// The GPU's processor (default: the one the code is for)
    #[arg(long, value_name = "NAME")]
    gpu: Option<String>,
    /// What executes waves: interp, or plain, which goes lane by lane and is slow
    #[arg(long, value_name = "NAME", env = "WAVEMILL_ENGINE")]
    engine: Option<String>,
    /// Host threads (default: all)
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Run the kernel N times, each time with fresh buffers
    #[arg(long, value_name = "N")]
    repeat: Option<u32>,
    /// How far beyond an allocation vector accesses may go: not at all, or to the end of its last page as on hardware
    /// (default: exact). Scalar loads, which compilers widen, may always read on to the end of the page
    #[arg(long, value_name = "BOUNDS")]
    bounds: Option<crate::bounds::Kind>,
    /// Stop a dispatch after so many seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// The same in every run: one thread, work-groups in order, clocks that count instructions
    #[arg(long)]
    deterministic: bool,
    /// Record each turn of a wave in a file; runs on one thread, as with --deterministic
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Repeat what was recorded in a file; it is an error if the waves do something else
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Write which work-groups and waves begin and end, and which barriers are released, to a file, a line of JSON each
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Report to standard output as JSON
    #[arg(long)]
    json: bool,
}

impl Run {
    /// What a source's own line says, where the command line does not say otherwise.
    fn or(self, line: Run) -> Run {
        fn any<T>(first: Vec<T>, second: Vec<T>) -> Vec<T> {
            if first.is_empty() { second } else { first }
        }
        Run {
            file: self.file,
            kernel: self.kernel.or(line.kernel),
            grid: self.grid.or(line.grid),
            block: self.block.or(line.block),
            args: any(self.args, line.args),
            dump: any(self.dump, line.dump),
            show: any(self.show, line.show),
            trap_handler: self.trap_handler.or(line.trap_handler),
            trap_memory: self.trap_memory.or(line.trap_memory),
            lds: self.lds.or(line.lds),
            gpu: self.gpu.or(line.gpu),
            engine: self.engine.or(line.engine),
            threads: self.threads.or(line.threads),
            repeat: self.repeat.or(line.repeat),
            bounds: self.bounds.or(line.bounds),
            timeout: self.timeout.or(line.timeout),
            deterministic: self.deterministic || line.deterministic,
            record: self.record.or(line.record),
            replay: self.replay.or(line.replay),
            trace: self.trace.or(line.trace),
            json: self.json || line.json,
        }
    }
}

/// Runs `wavemill run`.
pub fn run(run: Run) -> ExitCode {
    match perform(run) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("wavemill run: {}", message.trim_end());
            ExitCode::FAILURE
        }
    }
}

/// The file as it is to be loaded, and the options with what a source adds to them.
fn open(run: Run) -> Result<(Run, Vec<u8>, Target), String> {
    let shown = run.file.display().to_string();
    let data = std::fs::read(&run.file).map_err(|e| format!("{shown}: {e}"))?;
    if source::is_source(&run.file, &data) {
        let line = source::launch_line(&data, &run.file)?;
        let run = match line {
            Some(line) => run.or(line),
            None => run,
        };
        let wanted = run.gpu.as_deref().map(crate::gpu::target).transpose()?;
        let (object, target) = source::assemble(&run.file, data, wanted)?;
        return Ok((run, object, target));
    }
    let data = unbundle(&run, &data).map_err(|e| format!("{shown}: {e}"))?;
    let file = File::parse(&data).map_err(|e| format!("{shown}: {e}"))?;
    let (_, mut target) = loader::target_of(&file).map_err(|e| format!("{shown}: {e}"))?;
    if let Some(name) = &run.gpu {
        let named = crate::gpu::target(name)?;
        target.cpu = named.cpu;
        target.xnack = named.xnack.or(target.xnack);
    }
    drop(file);
    Ok((run, data, target))
}

/// The code object to run: the file itself, or one of those that a bundle or HIP program holds, for the GPU asked for
/// (gfx90a before others) and with the kernel asked for.
fn unbundle(run: &Run, file: &[u8]) -> Result<Vec<u8>, String> {
    let mut objects = bundle::code_objects(file).map_err(|e| e.to_string())?;
    let cpu = |o: &bundle::CodeObject<'_>| {
        let file = File::parse(&o.data).ok()?;
        loader::target_of(&file).ok().map(|(_, target)| target.cpu)
    };
    if objects.len() < 2 {
        let only = objects.pop().ok_or("there is no code object for a GPU in it")?;
        return Ok(only.data.into_owned());
    }
    let wanted = run.gpu.as_deref().map(crate::gpu::target).transpose()?;
    let ids: Vec<String> = objects.iter().map(|o| o.id.clone()).collect();
    objects.retain(|o| cpu(o).is_some_and(|c| wanted.is_none_or(|w| w.cpu == c)));
    if objects.is_empty() {
        return Err(format!(
            "none of its code objects is for {}: {}",
            run.gpu.as_deref().unwrap_or("a GPU Wavemill knows"),
            ids.join(", ")
        ));
    }
    let has = |o: &bundle::CodeObject<'_>| {
        let kernels = File::parse(&o.data)
            .ok()
            .and_then(|f| Some(f.kernels().ok()?.iter().map(|k| k.name.to_owned()).collect::<Vec<_>>()));
        let kernels = kernels.unwrap_or_default();
        run.kernel.as_ref().map_or(!kernels.is_empty(), |k| kernels.contains(k))
    };
    objects.sort_by_key(|o| (!has(o), cpu(o).is_none_or(|c| c.name != "gfx90a")));
    Ok(objects.swap_remove(0).data.into_owned())
}

fn perform(run: Run) -> Result<bool, String> {
    let (run, data, target) = open(run)?;
    let engine = run.engine.as_deref().map(EngineKind::named).transpose()?.unwrap_or_default();
    let timeout = match run.timeout {
        Some(t) => Some(
            Duration::try_from_secs_f64(t)
                .map_err(|_| format!("--timeout {t}: a number of seconds is wanted"))?,
        ),
        None => None,
    };
    let specs = run
        .args
        .iter()
        .enumerate()
        .map(|(i, text)| ArgSpec::parse(text).map_err(|e| format!("argument {i} (`{text}`): {e}")));
    let specs: Vec<ArgSpec> = specs.collect::<Result<_, _>>()?;
    let trap_memory = run.trap_memory.as_deref().map(|text| match ArgSpec::parse(text) {
        Ok(spec) if spec.is_buffer() => Ok(spec),
        Ok(_) => Err(format!("--trap-memory {text}: it is not a buffer")),
        Err(e) => Err(format!("--trap-memory {text}: {e}")),
    });
    let trap_memory = trap_memory.transpose()?;
    if trap_memory.is_some() && run.trap_handler.is_none() {
        return Err("--trap-memory is for a --trap-handler".into());
    }
    // Buffers that --dump and --show know: the arguments', then the trap handler's.
    let known = (specs.as_slice(), trap_memory.as_ref());
    let dumps = run.dump.iter().map(|text| buffer_option("--dump", text, known));
    let dumps: Vec<(usize, String)> = dumps.collect::<Result<_, _>>()?;
    let shows = run.show.iter().map(|text| {
        let (index, format) = buffer_option("--show", text, known)?;
        Ok::<_, String>((index, show::Format::parse(&format).map_err(|e| format!("--show {text}: {e}"))?))
    });
    let shows: Vec<(usize, show::Format)> = shows.collect::<Result<_, _>>()?;

    let options = Options {
        threads: run.threads.unwrap_or(0),
        deterministic: run.deterministic || run.record.is_some() || run.replay.is_some(),
        bounds: run.bounds.map_or_else(Default::default, Into::into),
        engine,
    };
    let device = Device::new(target, &options);
    let log = log(&run)?;
    device.set_log(log.clone());
    let shown = run.file.display().to_string();
    let name = run.file.file_name().map_or(shown.clone(), |n| n.to_string_lossy().into_owned());
    let object = device.load(&name, data).map_err(|e| format!("{shown}: {e}"))?;
    let kernel = pick(&object, run.kernel.as_deref()).map_err(|e| format!("{shown}: {e}"))?;
    let (grid, block) = sizes(&run, kernel)?;
    let handler = run.trap_handler.as_ref().map(|h| h.load(&device, &object));
    let handler = handler.transpose().map_err(|e| format!("--trap-handler: {e}"))?;

    let mut observers = Observers::default();
    if let Some(path) = &run.trace {
        let file = std::fs::File::create(path).map_err(|e| format!("{}: {e}", path.display()))?;
        observers.add(Arc::new(Trace::new(Box::new(std::io::BufWriter::new(file)))));
    }
    let mut done: Vec<Completion> = Vec::new();
    let mut printed: Vec<String> = Vec::new();
    let mut buffers: Vec<Option<Buffer>> = Vec::new();
    for _ in 0..run.repeat.unwrap_or(1).max(1) {
        buffers.clear();
        let mut values: Vec<Value> = Vec::new();
        for (i, spec) in specs.iter().enumerate() {
            let named = kernel.visible_args().nth(i).and_then(|a| a.name.as_deref());
            let named = named.map(|n| format!(" `{n}`")).unwrap_or_default();
            let (value, buffer) = spec
                .place(&device, &format!("argument {i}{named}"))
                .map_err(|e| format!("argument {i} (`{}`): {e}", run.args[i]))?;
            values.push(value);
            buffers.push(buffer);
        }
        if let Some(code) = handler {
            let memory = trap_memory.as_ref().map(|spec| spec.place(&device, "the trap handler's memory"));
            let memory = memory.transpose().map_err(|e| format!("--trap-memory: {e}"))?;
            let buffer = memory.and_then(|(_, buffer)| buffer);
            let memory = buffer.as_ref().map_or(0, |b| b.region.start());
            device.set_trap_handler(Some(TrapHandler { code, memory }));
            buffers.push(buffer);
        }
        let (printer, text) = print::printer(run.json);
        let launch = Launch {
            grid: grid.clone(),
            block: block.clone(),
            dynamic_lds: run.lds.unwrap_or(0),
            values,
            timeout,
            observers: observers.clone(),
        };
        let completion = console::launch(&device, kernel, &launch, &printer)?;
        text.end_line();
        printed.push(text.take());
        let stop = completion.fault.is_some();
        done.push(completion);
        if stop {
            break;
        }
    }
    let fault = done.last().and_then(|c| c.fault.as_deref());
    if let (Some(log), None) = (&log, fault) {
        log.finish().map_err(|e| format!("the run differs from its record: {e}"))?;
    }
    if let Some(report) = fault {
        eprint!("{report}");
    } else {
        for (index, path) in &dumps {
            if let Some(buffer) = &buffers[*index] {
                buffer.dump(Path::new(path)).map_err(|e| format!("{path}: {e}"))?;
            }
        }
        for (index, format) in &shows {
            if let Some(buffer) = &buffers[*index] {
                let text = format.render(&buffer.region.to_vec());
                // Standard output is the report's when that is for programs.
                if run.json {
                    eprint!("{text}");
                } else {
                    crate::print(text.as_bytes());
                }
            }
        }
    }
    let ok = fault.is_none();
    let text = if run.json {
        report::json(&shown, &device, &grid, &block, &done, &printed)
    } else {
        report::text(&done)
    };
    crate::print(text.as_bytes());
    Ok(ok)
}

/// The record to write or to repeat.
fn log(run: &Run) -> Result<Option<Arc<Log>>, String> {
    let shown = |path: &Path, e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let log = match (&run.record, &run.replay) {
        (Some(path), _) => {
            let file = std::fs::File::create(path).map_err(|e| shown(path, &e))?;
            Log::record(Box::new(std::io::BufWriter::new(file))).map_err(|e| shown(path, &e))?
        }
        (None, Some(path)) => {
            let text = std::fs::read_to_string(path).map_err(|e| shown(path, &e))?;
            Log::replay(&text, Box::new(|_| {})).map_err(|e| shown(path, &e))?
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(Arc::new(log)))
}

/// `N:REST` where argument N is a buffer, or `tma:REST` for the trap handler's memory, which comes behind the arguments.
fn buffer_option(
    option: &str,
    text: &str,
    (specs, trap_memory): (&[ArgSpec], Option<&ArgSpec>),
) -> Result<(usize, String), String> {
    if let Some(rest) = text.strip_prefix("tma:") {
        return match trap_memory {
            Some(_) => Ok((specs.len(), rest.to_owned())),
            None => Err(format!("{option} {text}: there is no --trap-memory")),
        };
    }
    let parsed = text.split_once(':').and_then(|(n, rest)| Some((n.parse::<usize>().ok()?, rest.to_owned())));
    let (index, rest) =
        parsed.ok_or_else(|| format!("{option} {text}: N:… with an argument's number is wanted"))?;
    match specs.get(index) {
        None => Err(format!("{option} {text}: there are {} arguments, counted from 0", specs.len())),
        Some(spec) if !spec.is_buffer() => Err(format!("{option} {text}: argument {index} is not a buffer")),
        Some(_) => Ok((index, rest)),
    }
}

/// The kernel asked for, or the only one.
fn pick<'a>(object: &'a Loaded, name: Option<&str>) -> Result<&'a Kernel, String> {
    let names = || object.kernels.iter().map(|k| k.name.as_str()).collect::<Vec<_>>();
    match (name, object.kernels.as_slice()) {
        (_, []) => Err("it has no kernels".into()),
        (Some(name), _) => object.kernel(name).map(|k| &**k).ok_or_else(|| {
            let hint = wavemill_asm::suggest::closest(name, names().into_iter());
            let hint = hint.map(|h| format!("; did you mean {h}?"));
            let hint = hint.unwrap_or_else(|| format!("; it has {}", listed(&names())));
            format!("it has no kernel `{name}`{hint}")
        }),
        (None, [only]) => Ok(only),
        (None, _) => Err(format!("it has several kernels, name one with --kernel: {}", listed(&names()))),
    }
}

/// The first few names.
fn listed(names: &[&str]) -> String {
    const FEW: usize = 12;
    let mut text = names[..names.len().min(FEW)].join(", ");
    if names.len() > FEW {
        text += &format!(" and {} more", names.len() - FEW);
    }
    text
}

/// Grid and work-group, with their defaults.
fn sizes(run: &Run, kernel: &Kernel) -> Result<(Vec<u32>, Vec<u32>), String> {
    let Some(Sizes(grid)) = run.grid.clone() else {
        let takes: Vec<String> = kernel.visible_args().map(kernarg::describe).collect();
        let takes =
            if takes.is_empty() { String::new() } else { format!(" (it takes {})", takes.join(", ")) };
        return Err(format!("--grid is needed: the work-items to run {} with{takes}", kernel.name));
    };
    let block = match (&run.block, kernel.required_size) {
        (Some(Sizes(block)), _) => block.clone(),
        (None, Some(size)) => size[..grid.len()].to_vec(),
        (None, None) => vec![grid[0].clamp(1, kernel.max_size.unwrap_or(256).clamp(1, 256))],
    };
    Ok((grid, block))
}
