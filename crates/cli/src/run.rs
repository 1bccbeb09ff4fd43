//! `wavemill run`: one kernel of a source, code object or program, on the virtual GPU.

mod args;
mod bare;
mod expect;
mod fit;
mod handler;
#[cfg(test)]
mod hostile;
mod image;
mod interrupt;
mod kind;
mod npy;
mod number;
mod png;
mod print;
mod report;
mod sandbox;
mod show;
pub mod source;
mod zip;

use crate::checks::CheckOptions;
use crate::{compile, status};
use args::{Arg, ArgSpec, Buffer};
use clap::Args;
use expect::{Expectation, Tolerance};
use handler::Handler;
use kind::Kind;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use wavemill_check::Check;
use wavemill_console as console;
use wavemill_device::events::Events;
use wavemill_device::kernarg::{self, Value};
use wavemill_device::observe::Observers;
use wavemill_device::progress::Progress;
use wavemill_device::record::Log;
use wavemill_device::run::Launch;
use wavemill_device::trace::{Filter, Trace};
use wavemill_device::traps::TrapHandler;
use wavemill_device::{Completion, Device, EngineKind, Kernel, Loaded, Options, loader};
use wavemill_isa::Target;
use wavemill_object::read::File;
use wavemill_object::{bundle, demangle};
use wavemill_wave::Bounds;

const AFTER_HELP: &str = "\
Arguments are given in the kernel's order, or by name (--arg n=i32:5):
  buf:FILE        a file in a buffer: its bytes, the data of a .npy array or of one in a .npz (FILE.npz:NAME), the pixels
                  of a .png; `-` is standard input, and `buf:` may be left out where the file exists
  zeros:TYPE:N    a buffer of zeros; zeros:BYTES too (4096, 64k, 16M, 1G)
  iota:TYPE:N     a buffer with 0, 1, 2 … N-1
  rand:TYPE:N[:SEED]  a buffer of random numbers, floats from 0 to 1, the same for the same seed
  TYPE:VALUE      a number: i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64 (several for a vector: f32:1,2,3,4); the TYPE may be
                  left out where the kernel states it, as OpenCL kernels do
  hex:BYTES       bytes, for structures: hex:01000000ffff0000
  local:BYTES     local memory
  image:FILE[,format=ORDER][,type=TYPE]  an image from a PNG picture or a .npy array, or image:WIDTHxHEIGHT of zeros; with
                  `array` the last dimension counts slices, with `buffer` it is a buffer of texels; orders (r rg rgba bgra
                  …) and types (unorm8 float uint32 …) are OpenCL's. --dump N:FILE.png writes it as a picture
  sampler:WORDS   linear or nearest, normalized or unnormalized, none, clamp_to_edge, clamp, repeat or mirrored_repeat
  pipe:PACKETSxBYTES  an empty pipe of OpenCL with room for so many packets of so many bytes
  queue           the queue on the device that the kernel enqueues others to, where it takes one as an argument
  null            a null pointer
What has another type than the kernel states is refused, unless force: stands before it (force:f32:1.5).
--show prints or draws an argument's buffer after the run:
  N:TYPE[:COUNT]             its first elements
  N:image:WIDTHxHEIGHT[:TYPE]  one element (u32 if not said) for each pixel, the largest the brightest
A trap handler is entered at S_TRAP and at exceptions that the kernel's descriptor lets trap, privileged, with the cause
in TTMP0 and TTMP1; S_RFE_B64 leaves it. It must leave alone what the program uses, SCC included.
What the kernel prints (printf of OpenCL and HIP, failed assertions) goes to standard output and standard error; the
printf buffer of OpenCL is printed when the dispatch has ended, also by a fault, HIP's hostcalls while it runs. With
--json, what it prints to standard output is in \"printf\" of each dispatch.
--trace writes each instruction with its line, the registers it changed and the memory it accessed to standard error;
--trace=WHAT less of that, a list of wave:N (in its work-group; also 0-3, and several), group:X.Y.Z, kernel:NAME,
dispatch:N, lanes:0-3, from:PLACE and to:PLACE (FILE:LINE, a function, or 0xOFFSET in the kernel), count:N instructions
and file:FILE.
A source may hold its own options in comments, `; run: --grid 1024 --block 64 --arg zeros:4096` (or `// run:`).
Options on the command line replace them.
OpenCL C, HIP and LLVM IR are compiled with clang ($WAVEMILL_CLANG, ROCm's or one on the path) for --gpu (gfx90a if not
said), with -O2 and what --cflag adds; the result is kept in the cache as long as nothing changes.
Instructions without a kernel get one, called `instructions`, with a grid of one wave if not said: s[0:1] is the address
of the arguments, s2 to s4 the work-group, v0 to v2 the work-item (all in v0 on gfx90a, 10 bits each).
A source may come from anywhere: the files that its comments name, also by .include and .incbin, must lie below its own
directory, and its --dump, --trace, --events, --check-report, --suppress, --record, --replay, --cflag, --memory and --sandbox are ignored. A file from
elsewhere, one that does not lie below the current directory or that a browser has marked as downloaded, is run in a sandbox: Landlock leaves it the
files named, seccomp the system calls that running takes (what clang compiles is compiled before). --sandbox asks for it
always, --sandbox=never turns it off.

--expect compares a buffer with a file of the same size, as NumPy's allclose: numbers may be off by --atol, and by --rtol
of what is wanted. Both are 0 if not given: then all bits count, but for the sign of zero and which NaN it is.
With --json there is one JSON document on standard output, whatever happens, and all other text on standard error.

Exit status: 0 the kernel ran, 1 it could not be run, 2 wrong usage, 3 it faulted, 4 time ran out, 5 an --expect failed or\n--check found something,\n130 Ctrl-C stopped it: it tells where its waves are and what they wait for, buffers are still shown, a second one ends it.";

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
    /// Source (assembly, OpenCL C, HIP, LLVM IR), code object, offload bundle or HIP program; `-` for standard input
    file: PathBuf,
    /// Kernel to run, as in the source or as in the symbol table; needed when there are several
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Work-items of the grid
    #[arg(long, visible_alias = "global", value_name = "X[,Y[,Z]]", value_parser = Sizes::parse, overrides_with = "grid")]
    grid: Option<Sizes>,
    /// Work-items of a work-group (default: what the kernel requires, else at most 256)
    #[arg(long, visible_alias = "local", value_name = "X[,Y[,Z]]", value_parser = Sizes::parse, overrides_with = "block")]
    block: Option<Sizes>,
    /// Where global ids start (OpenCL's global offset)
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = Sizes::parse)]
    offset: Option<Sizes>,
    /// An argument, see below
    #[arg(long = "arg", value_name = "[NAME=]KIND:VALUE", allow_hyphen_values = true)]
    args: Vec<String>,
    /// Write argument N's buffer to a file after the run, as .npy if it came as one or FILE ends so
    #[arg(long, value_name = "N:FILE")]
    dump: Vec<String>,
    /// Print or draw argument N's buffer after the run, see below
    #[arg(long, value_name = "N:FORMAT")]
    show: Vec<String>,
    /// What argument N's buffer must hold after the run: the data of a file, as an argument's
    #[arg(long, value_name = "N:FILE")]
    expect: Vec<String>,
    /// How far a number may be from what --expect wants, as a part of that
    #[arg(long, value_name = "PART", value_parser = tolerance)]
    rtol: Option<f64>,
    /// How far a number may be from what --expect wants
    #[arg(long, value_name = "DIFFERENCE", value_parser = tolerance)]
    atol: Option<f64>,
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
    /// What executes waves: interp, jit, which compiles, or plain, which goes lane by lane and is slow
    #[arg(long, value_name = "NAME", env = "WAVEMILL_ENGINE", value_parser = EngineKind::named)]
    engine: Option<EngineKind>,
    /// Host threads (default: all)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=MOST_THREADS))]
    threads: Option<u32>,
    /// Run the kernel N times, each time with fresh buffers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
    /// How far beyond an allocation vector accesses may go: not at all, or to the end of its last page as on hardware
    /// (default: exact). Scalar loads, which compilers widen, may always read on to the end of the page
    #[arg(long, value_name = "BOUNDS")]
    bounds: Option<crate::bounds::Kind>,
    #[command(flatten)]
    silicon: crate::bounds::Silicon,
    /// Stop a dispatch after so many seconds
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = crate::seconds::parse)]
    timeout: Option<Duration>,
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
    events: Option<PathBuf>,
    /// Write instructions with what they changed, see below
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = Filter::parse)]
    trace: Option<Filter>,
    #[command(flatten)]
    checks: CheckOptions,
    /// An option for clang, which compiles OpenCL C, HIP and LLVM IR: --cflag=-O0
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    cflag: Vec<String>,
    /// Show the command that compiles the source
    #[arg(short, long)]
    verbose: bool,
    /// Report to standard output as JSON
    #[arg(long)]
    json: bool,
    /// No report about the dispatches
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
    /// Memory that buffers, arguments, code and scratch may take together (default: as much as the host has, at least 4G)
    #[arg(long, value_name = "BYTES", value_parser = args::size)]
    memory: Option<u64>,
    /// Let the kernel confine this process to the files named and to what running takes (default: auto, see below)
    #[arg(long, value_name = "WHEN", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "always")]
    sandbox: Option<sandbox::When>,
}

/// Least of what memory a kernel may have by default: much of it is reserved and never touched.
const LEAST_MEMORY: u64 = 4 << 30;

/// More threads than any machine has processors are a mistake.
const MOST_THREADS: i64 = 1024;

/// A tolerance.
fn tolerance(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|t: &f64| *t >= 0.0).ok_or_else(|| format!("`{text}` is not a number from 0 up"))
}

impl Run {
    /// Bytes that the kernel's memory may take.
    fn memory(&self) -> u64 {
        self.memory.unwrap_or_else(|| {
            let host = rustix::system::sysinfo();
            let bytes = (host.totalram as u64).saturating_mul(u64::from(host.mem_unit));
            bytes.max(LEAST_MEMORY)
        })
    }

    /// Confines this process if it is asked for, or if the file is from elsewhere.
    fn confine(&self) -> Result<(), String> {
        use sandbox::When;
        let when = self.sandbox.unwrap_or(When::Auto);
        let wanted = match when {
            When::Always => true,
            When::Never => false,
            When::Auto => sandbox::from_elsewhere(&self.file),
        };
        if !wanted {
            return Ok(());
        }
        let mut reach = sandbox::Reach::default();
        reach.reads(&self.file);
        self.trap_handler.as_ref().and_then(Handler::file).into_iter().for_each(|f| reach.reads(f));
        let buffers = self.args.iter().chain(&self.trap_memory).filter_map(|a| args::file_of(a));
        buffers.for_each(|(file, _)| reach.reads(Path::new(file)));
        let file = |text: &String| text.split_once(':').map(|(_, file)| PathBuf::from(file));
        self.expect.iter().filter_map(file).for_each(|f| reach.reads(&f));
        self.replay.iter().for_each(|f| reach.reads(f));
        self.checks.suppress.iter().for_each(|f| reach.reads(f));
        let trace = self.trace.iter().filter_map(|f| f.file.as_ref());
        let outputs =
            self.events.iter().chain(trace).chain(&self.record).chain(&self.checks.check_report).cloned();
        self.dump.iter().filter_map(file).chain(outputs).for_each(|f| reach.writes(&f));
        let missing = sandbox::enter(&reach, self.memory())?;
        match when {
            _ if missing.is_empty() => Ok(()),
            When::Always => Err(format!("--sandbox: this kernel lacks {}", missing.join(" and "))),
            _ => {
                let missing = missing.join(" and ");
                crate::output::message(format_args!(
                    "wavemill run: {} is from elsewhere, and is run without {missing}",
                    self.file.display()
                ));
                Ok(())
            }
        }
    }

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
            offset: self.offset.or(line.offset),
            args: any(self.args, line.args),
            dump: any(self.dump, line.dump),
            show: any(self.show, line.show),
            expect: any(self.expect, line.expect),
            rtol: self.rtol.or(line.rtol),
            atol: self.atol.or(line.atol),
            trap_handler: self.trap_handler.or(line.trap_handler),
            trap_memory: self.trap_memory.or(line.trap_memory),
            lds: self.lds.or(line.lds),
            gpu: self.gpu.or(line.gpu),
            engine: self.engine.or(line.engine),
            threads: self.threads.or(line.threads),
            repeat: self.repeat.or(line.repeat),
            bounds: self.bounds.or(line.bounds),
            silicon: self.silicon.or(line.silicon),
            timeout: self.timeout.or(line.timeout),
            deterministic: self.deterministic || line.deterministic,
            record: self.record,
            replay: self.replay,
            events: self.events,
            trace: self.trace,
            checks: self.checks.or(line.checks),
            cflag: any(self.cflag, line.cflag),
            verbose: self.verbose || line.verbose,
            quiet: self.quiet || line.quiet,
            json: self.json || line.json,
            // How far a file is trusted is not the file's to say.
            memory: self.memory,
            sandbox: self.sandbox,
        }
    }
}

/// Runs `wavemill run`.
pub fn run(run: Run) -> ExitCode {
    // A source may ask for it, too.
    let mut json = run.json;
    let file = run.file.display().to_string();
    match perform(run, &mut json) {
        Ok(status) => ExitCode::from(status),
        Err(message) => {
            let message = message.trim_end();
            let code = crate::output::fail("run", message);
            if json {
                crate::print(report::failure(&file, message).as_bytes());
            }
            code
        }
    }
}

/// The file as it is to be loaded, and the options with what a source adds to them.
fn open(run: Run) -> Result<(Run, Vec<u8>, Target), String> {
    let shown = run.file.display().to_string();
    let data = crate::input::open_within(&shown, run.memory())?.to_vec();
    let kind = kind::of(&run.file, &data);
    // A compiler is a program of its own, which the sandbox would not let run.
    let compiled = matches!(kind, Kind::Source(_));
    if !compiled {
        run.confine()?;
    }
    if kind != Kind::Binary {
        let run = match source::launch_line(&data, &run.file)? {
            Some(line) => run.or(line),
            None => run,
        };
        let wanted = run.gpu.as_deref().map(crate::gpu::target).transpose()?;
        let (object, target) = assembled(&run, &shown, data, kind, wanted)?;
        if compiled {
            run.confine()?;
        }
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

/// The object of a source in any language.
fn assembled(
    run: &Run,
    shown: &str,
    text: Vec<u8>,
    kind: Kind,
    wanted: Option<Target>,
) -> Result<(Vec<u8>, Target), String> {
    // Findings and instructions are told with their lines.
    let checked = run.checks.check.is_some() || run.trace.is_some();
    if let Kind::Source(language) = kind {
        let gpu = wanted.map_or(source::DEFAULT_GPU, |target| target.cpu.name);
        let lines = checked.then(|| "-gline-tables-only".to_owned());
        let options: Vec<String> = lines.into_iter().chain(run.cflag.iter().cloned()).collect();
        let (options, verbose) = (options.as_slice(), run.verbose);
        let job = compile::Request { name: shown, source: &text, language, gpu, options, verbose };
        return source::assemble(&run.file, compile::compile(&job)?, wanted);
    }
    if let Some(flag) = run.cflag.first() {
        return Err(format!("{shown}: --cflag {flag} is for clang, and this is assembly"));
    }
    let (object, target) = source::assemble(&run.file, text.clone(), wanted)?;
    let bare = bare::is(&object);
    if !checked && !bare {
        return Ok((object, target));
    }
    let text = if checked { source::with_lines(shown, &text) } else { text };
    let text = if bare { bare::wrap(&text, shown, target.cpu) } else { text };
    source::assemble(&run.file, text, wanted.or(checked.then_some(target)))
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
    objects.retain(|o| cpu(o).is_some_and(|c| wanted.is_none_or(|w| w.cpu.runs(c))));
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
        let answers = |wanted: &String| kernels.iter().any(|k| demangle::answers(k, wanted));
        run.kernel.as_ref().map_or(!kernels.is_empty(), answers)
    };
    objects.sort_by_key(|o| {
        (!has(o), cpu(o).is_none_or(|c| c.name != "gfx90a"), cpu(o).is_some_and(|c| c.is_generic()))
    });
    Ok(objects.swap_remove(0).data.into_owned())
}

/// The exit status, unless the kernel could not be run at all.
fn perform(run: Run, json: &mut bool) -> Result<u8, String> {
    crate::environment()?;
    let (run, data, mut target) = open(run)?;
    // Nobody builds a generic processor.
    target.cpu = target.cpu.concrete();
    *json |= run.json;
    let options = Options {
        threads: run.threads.unwrap_or(0) as usize,
        deterministic: run.deterministic || run.record.is_some() || run.replay.is_some(),
        bounds: match run.bounds {
            Some(bounds) => bounds.into(),
            // What hardware lets pass is told, and the kernel goes on.
            None if run.checks.check.is_some_and(|c| c.has(Check::Mem)) => Bounds::Page,
            None => Bounds::default(),
        },
        engine: run.engine.unwrap_or_default(),
        violations: run.silicon.violations(),
        caches: run.silicon.caches,
        ..Options::default()
    };
    let checking = run.checks.prepare()?;
    let device = Device::new(target, &options);
    device.memory().set_limit(run.memory());
    let log = log(&run)?;
    device.set_log(log.clone());
    let shown = run.file.display().to_string();
    let name = run.file.file_name().map_or(shown.clone(), |n| n.to_string_lossy().into_owned());
    let object = device.load(&name, data).map_err(|e| {
        let hint = compile::hint(&e.to_string()).filter(|_| run.file.extension().is_some_and(|e| e == "cl"));
        format!("{shown}: {e}{}", hint.map_or(String::new(), |h| format!("\n{h}")))
    })?;
    let kernel = pick(&object, run.kernel.as_deref()).map_err(|e| format!("{shown}: {e}"))?;
    let (grid, block) = sizes(&run, kernel)?;
    let args = arguments(&run, kernel)?;
    let trap_memory = trap_memory(&run)?;
    let after = After::new(&run, kernel, &args, trap_memory.as_ref())?;
    let handler = run.trap_handler.as_ref().map(|h| h.load(&device, &object));
    let handler = handler.transpose().map_err(|e| format!("--trap-handler: {e}"))?;

    let mut observers = Observers::default();
    let create = |path: &Path| std::fs::File::create(path).map_err(|e| format!("{}: {e}", path.display()));
    if let Some(path) = &run.events {
        observers.add(Arc::new(Events::new(Box::new(std::io::BufWriter::new(create(path)?)))));
    }
    let trace = run.trace.as_ref().map(|filter| {
        let out: Option<Box<dyn std::io::Write + Send>> = match &filter.file {
            Some(path) => Some(Box::new(std::io::BufWriter::new(create(path)?))),
            None => None,
        };
        Ok::<_, String>(Arc::new(Trace::new(filter.clone(), out)))
    });
    let trace = trace.transpose()?;
    trace.iter().for_each(|t| observers.add(t.clone()));
    if !run.quiet && std::io::stderr().is_terminal() {
        observers.add(Arc::new(Progress::new(Box::new(std::io::stderr()))));
    }
    interrupt::watch()?;
    if let Some((session, _)) = &checking {
        observers.add(session.clone());
    }
    let mut done: Vec<Completion> = Vec::new();
    let mut printed: Vec<String> = Vec::new();
    let mut buffers: Vec<Option<Buffer>> = Vec::new();
    for _ in 0..run.repeat.unwrap_or(1) {
        buffers.clear();
        let mut values: Vec<Value> = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            let named = kernel.visible_args().nth(i).and_then(|a| a.name.as_deref());
            let named = named.map(|n| format!(" `{n}`")).unwrap_or_default();
            let (value, buffer) = arg
                .spec
                .place(&device, kernel.narrow, &format!("argument {i}{named}"))
                .map_err(|e| format!("argument {i} (`{}`): {e}", arg.text))?;
            values.push(value);
            buffers.push(buffer);
        }
        if let Some(code) = handler {
            let memory =
                trap_memory.as_ref().map(|spec| spec.place(&device, false, "the trap handler's memory"));
            let memory = memory.transpose().map_err(|e| format!("--trap-memory: {e}"))?;
            let buffer = memory.and_then(|(_, buffer)| buffer);
            let memory = buffer.as_ref().map_or(0, |b| b.region.start());
            device.set_trap_handler(Some(TrapHandler { code, memory }));
            buffers.push(buffer);
        }
        let (printer, text) = print::printer(run.json);
        let mut offset = [0; 3];
        for (at, n) in offset.iter_mut().zip(run.offset.iter().flat_map(|o| &o.0)) {
            *at = u64::from(*n);
        }
        let launch = Launch {
            grid: grid.clone(),
            block: block.clone(),
            offset,
            dynamic_lds: run.lds.unwrap_or(0),
            values,
            timeout: run.timeout,
            observers: observers.clone(),
        };
        let completions = console::launch(&device, kernel, &launch, &printer)?;
        text.end_line();
        printed.push(text.take());
        // What enqueued kernels have printed is there, too.
        printed.resize(done.len() + completions.len(), String::new());
        let stop = completions.iter().any(|c| c.fault.is_some());
        done.extend(completions);
        if stop {
            break;
        }
    }
    if let Some(missed) = trace.and_then(|t| t.missed()) {
        crate::output::message(format_args!("wavemill run: --trace: {missed}"));
    }
    let fault = done.last().and_then(|c| c.fault.as_deref());
    if let Some(report) = fault {
        crate::output::report(report.to_string().as_bytes());
    }
    // What a kernel has written before it faulted is the best trace it leaves.
    after.write(&buffers, run.json)?;
    let mut differences = if fault.is_none() { after.compare(&buffers) } else { Vec::new() };
    if let (Some(log), None) = (&log, fault) {
        differences.extend(log.finish().err().map(|e| format!("the run differs from its record: {e}")));
    }
    for difference in &differences {
        crate::output::message(format_args!("wavemill run: {difference}"));
    }
    let found = checking.map(|(session, c)| c.finish(session.finish())).transpose()?.flatten();
    let status = match fault {
        Some(report) if report.kind == "interrupted" => status::INTERRUPTED,
        Some(report) if report.kind == "timeout" => status::TIMEOUT,
        Some(report) if report.kind == "replay" => status::CHECK,
        Some(_) => status::FAULT,
        None if !differences.is_empty() => status::CHECK,
        None => found.unwrap_or(0),
    };
    if run.json {
        let outcome = report::Outcome { status, done: &done, printed: &printed, differences: &differences };
        crate::print(report::json(&shown, &device, &grid, &block, &outcome).as_bytes());
    } else if !run.quiet {
        crate::print(report::text(&done).as_bytes());
    }
    Ok(status)
}

/// The arguments in the kernel's order, of the kernel's types.
fn arguments(run: &Run, kernel: &Kernel) -> Result<Vec<Arg>, String> {
    let parse = |(i, text): (usize, &String)| {
        Arg::parse(text, run.memory()).map_err(|e| format!("argument {i} (`{text}`): {e}"))
    };
    let args = run.args.iter().enumerate().map(parse).collect::<Result<Vec<_>, _>>()?;
    let mut args = fit::order(kernel, args)?;
    fit::check(kernel, &mut args)?;
    Ok(args)
}

/// What `--trap-memory` asks for.
fn trap_memory(run: &Run) -> Result<Option<ArgSpec>, String> {
    let Some(text) = &run.trap_memory else { return Ok(None) };
    let spec = match ArgSpec::parse(text, run.memory()) {
        Ok(spec) if spec.is_buffer() => spec,
        Ok(_) => return Err(format!("--trap-memory {text}: it is not a buffer")),
        Err(e) => return Err(format!("--trap-memory {text}: {e}")),
    };
    match run.trap_handler {
        Some(_) => Ok(Some(spec)),
        None => Err("--trap-memory is for a --trap-handler".into()),
    }
}

/// What is to be done with buffers after the run; the trap handler's comes behind the arguments'.
struct After {
    dumps: Vec<(usize, String)>,
    shows: Vec<(usize, show::Format)>,
    expects: Vec<(usize, Expectation)>,
    tolerance: Tolerance,
}

impl After {
    fn new(run: &Run, kernel: &Kernel, args: &[Arg], trap_memory: Option<&ArgSpec>) -> Result<After, String> {
        let known = (kernel, args, trap_memory);
        let dumps = run.dump.iter().map(|text| buffer_option("--dump", text, known));
        let shows = run.show.iter().map(|text| {
            let (index, format) = buffer_option("--show", text, known)?;
            Ok::<_, String>((index, show::Format::parse(&format).map_err(|e| format!("--show {text}: {e}"))?))
        });
        let expects = run.expect.iter().map(|text| {
            let (index, file) = buffer_option("--expect", text, known)?;
            Ok::<_, String>((index, Expectation::read(&file).map_err(|e| format!("--expect {text}: {e}"))?))
        });
        let tolerance = Tolerance { relative: run.rtol.unwrap_or(0.0), absolute: run.atol.unwrap_or(0.0) };
        if run.expect.is_empty() && (run.rtol.is_some() || run.atol.is_some()) {
            return Err("--rtol and --atol are for --expect".into());
        }
        Ok(After {
            dumps: dumps.collect::<Result<_, _>>()?,
            shows: shows.collect::<Result<_, _>>()?,
            expects: expects.collect::<Result<_, _>>()?,
            tolerance,
        })
    }

    /// Dumps and shows.
    fn write(&self, buffers: &[Option<Buffer>], json: bool) -> Result<(), String> {
        for (index, path) in &self.dumps {
            if let Some(buffer) = &buffers[*index] {
                buffer.dump(Path::new(path))?;
            }
        }
        for (index, format) in &self.shows {
            if let Some(buffer) = &buffers[*index] {
                let text = format.render(&buffer.bytes());
                // Standard output is the report's when that is for programs.
                if json {
                    crate::output::report(text.as_bytes());
                } else {
                    crate::print(text.as_bytes());
                }
            }
        }
        Ok(())
    }

    /// What is not as expected.
    fn compare(&self, buffers: &[Option<Buffer>]) -> Vec<String> {
        let compare = |(index, expectation): &(usize, Expectation)| {
            let buffer = buffers[*index].as_ref()?;
            let wrong = expectation.compare(buffer, self.tolerance).err()?;
            Some(format!("argument {index}: {wrong}"))
        };
        self.expects.iter().filter_map(compare).collect()
    }
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
            let text = crate::input::text(path)?;
            Log::replay(text, Box::new(|_| {})).map_err(|e| shown(path, &e))?
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(Arc::new(log)))
}

/// `N:REST` or `NAME:REST` where that argument is a buffer, or `tma:REST` for the trap handler's memory, which comes
/// behind the arguments.
fn buffer_option(
    option: &str,
    text: &str,
    (kernel, args, trap_memory): (&Kernel, &[Arg], Option<&ArgSpec>),
) -> Result<(usize, String), String> {
    if let Some(rest) = text.strip_prefix("tma:") {
        return match trap_memory {
            Some(_) => Ok((args.len(), rest.to_owned())),
            None => Err(format!("{option} {text}: there is no --trap-memory")),
        };
    }
    let by_name = |name: &str| kernel.visible_args().position(|a| a.name.as_deref() == Some(name));
    let parsed = text
        .split_once(':')
        .and_then(|(n, rest)| Some((n.parse::<usize>().ok().or_else(|| by_name(n))?, rest.to_owned())));
    let (index, rest) =
        parsed.ok_or_else(|| format!("{option} {text}: N:… with an argument's number is wanted"))?;
    match args.get(index) {
        None => Err(format!("{option} {text}: there are {} arguments, counted from 0", args.len())),
        Some(arg) if !arg.spec.is_buffer() => {
            Err(format!("{option} {text}: argument {index} is not a buffer"))
        }
        Some(_) => Ok((index, rest)),
    }
}

/// What to say of a file without kernels.
const NO_KERNELS: &str = "it has no kernels (.amdhsa_kernel in assembly, kernel or __global__ functions elsewhere) and no instructions";

/// The kernel asked for, or the only one.
fn pick<'a>(object: &'a Loaded, name: Option<&str>) -> Result<&'a Kernel, String> {
    let shown: Vec<String> =
        object.kernels.iter().map(|k| demangle::short(&k.name).unwrap_or_else(|| k.name.clone())).collect();
    let names = || shown.iter().map(String::as_str).collect::<Vec<_>>();
    let Some(name) = name else {
        // What kernels enqueue is not meant.
        let own: Vec<&Kernel> = object.kernels.iter().map(|k| &**k).filter(|k| k.handle.is_none()).collect();
        return match own[..] {
            [] => Err(NO_KERNELS.into()),
            [only] => Ok(only),
            _ => Err(format!("it has several kernels, name one with --kernel: {}", listed(&names()))),
        };
    };
    if let Some(kernel) = object.kernel(name) {
        return Ok(kernel);
    }
    let meant: Vec<&Kernel> =
        object.kernels.iter().map(|k| &**k).filter(|k| demangle::answers(&k.name, name)).collect();
    match meant[..] {
        [only] => Ok(only),
        [] if object.kernels.is_empty() => Err(NO_KERNELS.into()),
        [] => {
            let hint = wavemill_asm::suggest::closest(name, names().into_iter());
            let hint = hint.map(|h| format!("; did you mean {h}?"));
            let hint = hint.unwrap_or_else(|| format!("; it has {}", listed(&names())));
            Err(format!("it has no kernel `{name}`{hint}"))
        }
        _ => {
            let all: Vec<String> = meant.iter().map(|k| demangle::shown(&k.name).into_owned()).collect();
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            Err(format!("`{name}` may be several kernels, say which: {}", listed(&all)))
        }
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
    let grid = run.grid.clone().or_else(|| (kernel.name == bare::NAME).then(|| Sizes(vec![64])));
    let Some(Sizes(grid)) = grid else {
        let takes: Vec<String> = kernel.visible_args().map(kernarg::describe).collect();
        let takes =
            if takes.is_empty() { String::new() } else { format!(" (it takes {})", takes.join(", ")) };
        return Err(format!(
            "--grid is needed: the work-items to run {} with{takes}",
            demangle::shown(&kernel.name)
        ));
    };
    let block = match (&run.block, kernel.required_size) {
        (Some(Sizes(block)), _) => block.clone(),
        (None, Some(size)) => size[..grid.len()].to_vec(),
        (None, None) => vec![grid[0].clamp(1, kernel.max_size.unwrap_or(256).clamp(1, 256))],
    };
    Ok((grid, block))
}
