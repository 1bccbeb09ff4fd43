//! `wavemill exec`: a program that uses the HSA runtime, HIP or OpenCL, on virtual GPUs.
//!
//! The program finds our `libhsa-runtime64.so.1`, which the command carries ([`embed`](crate::embed)), through
//! `LD_LIBRARY_PATH`; what the GPUs shall be is in its environment.

mod code;
mod signals;

use crate::checks::{self, CheckOptions};
use crate::embed::{self, Runtime};
use crate::status;
use clap::Args;
use std::ffi::OsString;
use std::io::{BufRead, IsTerminal, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::time::Duration;
use wavemill_compile::comgr;
use wavemill_compile::directory::Directory;
use wavemill_device::EngineKind;
use wavemill_device::record::Log;
use wavemill_device::trace::Filter;

const AFTER_HELP: &str = "\
The program needs nothing special: whatever links with libhsa-runtime64.so.1 (HIP, OpenMP or the program itself) gets
Wavemill's in its place, and OpenCL's loader (libOpenCL.so.1) finds Wavemill's runtime, which compiles kernels with the
clang that is there. Programs that start without `exec` get the same with these variables:
  LD_LIBRARY_PATH     a directory with libhsa-runtime64.so.1
  OCL_ICD_VENDORS     the file libwavemill-opencl.so (Khronos's loader: OCL_ICD_FILENAMES)
  WAVEMILL_GPU        as --gpu
  WAVEMILL_GPUS       as --gpus
  WAVEMILL_ENGINE     as --engine
  WAVEMILL_THREADS    as --threads
  WAVEMILL_BOUNDS     as --bounds
  WAVEMILL_VIOLATIONS as --faults
  WAVEMILL_CACHES     1: as --caches
  WAVEMILL_JSON       a file that gets a line of JSON for each dispatch
  WAVEMILL_TRACE      as --trace, the list behind the `=`
  WAVEMILL_EVENTS     as --events
  WAVEMILL_PROGRESS=1 on standard error, how far dispatches are that take longer than a second (exec asks for it on terminals)
  WAVEMILL_DETERMINISTIC=1, WAVEMILL_RECORD, WAVEMILL_REPLAY  as --deterministic, --record, --replay
  WAVEMILL_FAULTS     a file that gets a line for each dispatch that faulted
  WAVEMILL_TIMEOUT    as --timeout, for the kernels
  WAVEMILL_COMGR      0: HIP's compiler (libamd_comgr.so.2) is not kept from compiling what it has compiled before, see below
  HSA_XNACK           1: as --xnack
  WAVEMILL_CHECK      as --check, a list; WAVEMILL_FINDINGS is the file that gets what is found, a line each

--trace writes each instruction with its line (of code compiled with -g), the registers it changed and the memory it
accessed to standard error; --trace=WHAT less of that, as `wavemill run --help` lists.

With --deterministic, GPUs do something only while the program is in a call of the runtime: packets, waves and copies come
one after the other, in an order that depends on these calls alone, and clocks of waves count instructions. A program with
one thread runs the same way every time. --record also writes the order in which all threads' calls came, and each turn of
a wave; --replay makes them come in this order again, and ends the program, with status 5 and the line at which they
differ, when the same does not happen. What threads do between calls, and the addresses of memory, are the system's.

rocminfo, rocm_agent_enumerator and amdgpu-arch are Wavemill's own for the program, so that `hipcc`, `clang
--offload-arch=native` and CMake's HIP language find the virtual GPUs. Programs that look for the driver first, as AMD's own
rocminfo does, find it: in what lsmod lists, as /dev/kfd and in /sys/module/amdgpu.

A kernel that faults is reported on standard error, and the program is told as the runtime it uses does it; HIP ends
the process.

Signals sent to `wavemill exec` (HUP, INT, QUIT, TERM, USR1, USR2) go to the program. One that has no handler for INT
(Ctrl-C) tells where the waves of its kernels are and what they wait for before it ends.

HIP compiles kernels of its own whenever a program starts, with AMD's libamd_comgr.so.2. Where that is installed, a library
of this name stands before it, which keeps what it has made in the cache, and loads it for what is new. WAVEMILL_COMGR names
AMD's library where it is not found.

The libraries are part of this command, and are put into the cache ($WAVEMILL_CACHE, $XDG_CACHE_HOME/wavemill or
~/.cache/wavemill) when they are first needed.

Exit status: the program's own, 128 and the signal's number if one ended it; 127 if it could not be started. If it says
that all is well, but a kernel has faulted: 3; if time ran out: 4; if --check found something: 5.";

/// Arguments of `exec`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Exec {
    /// The GPUs: a product (mi210, mi250x, mi100, mi50, vega10, fiji, hawaii …) or a processor (gfx90a)
    #[arg(long, value_name = "NAME", env = "WAVEMILL_GPU", default_value = "mi210")]
    gpu: String,
    /// Kernels reach all memory of the program, as with XNACK and the kernel's HMM (also with HSA_XNACK=1)
    #[arg(long)]
    xnack: bool,
    /// How many of them
    #[arg(long, value_name = "N", env = "WAVEMILL_GPUS", default_value_t = 1, value_parser = crate::gpu::count)]
    gpus: usize,
    /// What executes waves: interp, jit, which compiles, or plain, which goes lane by lane and is slow
    #[arg(long, value_name = "NAME", env = "WAVEMILL_ENGINE", value_parser = EngineKind::named)]
    engine: Option<EngineKind>,
    /// Host threads for each GPU (default: all)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1024))]
    threads: Option<u32>,
    /// How far beyond an allocation accesses may go: not at all, or to the end of its last page as on hardware (default:
    /// page)
    #[arg(long, value_name = "BOUNDS")]
    bounds: Option<crate::bounds::Kind>,
    #[command(flatten)]
    silicon: crate::bounds::Silicon,
    /// Stop the program after so many seconds, with a report of what its kernels were doing
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = crate::seconds::parse)]
    timeout: Option<Duration>,
    /// Report the dispatches to a file; `-` for standard output, behind what the program writes
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write what happens around the GPUs to a file, a line of JSON each: dispatches, work-groups and waves that begin and
    /// end, barriers, packets, signals, copies, memory that is allocated and freed
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Write instructions with what they changed, see below
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = traced)]
    trace: Option<String>,
    /// The same in every run, as far as the program itself is, see below
    #[arg(long)]
    deterministic: bool,
    /// Record the order of calls, packets and waves in a file, see below
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Repeat what was recorded in a file
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    #[command(flatten)]
    checks: CheckOptions,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true)]
    program: Vec<OsString>,
}

/// A file that is gone when nobody has it open any more, whatever happens to this process.
fn nameless() -> std::io::Result<std::fs::File> {
    let mut last = None;
    for n in 0..100 {
        let path = std::env::temp_dir().join(format!("wavemill-{}-{n}.lines", std::process::id()));
        match std::fs::File::options().read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => {
                std::fs::remove_file(path)?;
                return Ok(file);
            }
            Err(e) => last = Some(e),
        }
    }
    Err(last.unwrap_or_else(|| std::io::ErrorKind::AlreadyExists.into()))
}

/// Where the program finds a file that has no name of its own any more.
fn shared(file: &std::fs::File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

/// Runs `wavemill exec`.
pub fn run(args: &Exec) -> ExitCode {
    match perform(args) {
        Ok(code) => code,
        Err(message) => {
            let code = crate::output::fail("exec", &message);
            if let Some(file) = args.json.as_ref().filter(|file| *file != Path::new("-"))
                && let Some(document) = crate::output::failure(1)
            {
                // Where it cannot be written to, the message is about that, as a rule.
                let _ = std::fs::write(file, document);
            }
            code
        }
    }
}

fn perform(args: &Exec) -> Result<ExitCode, String> {
    crate::environment()?;
    if !cfg!(target_os = "linux") {
        return Err(format!("it runs programs for Linux, where HIP is; this is {}", std::env::consts::OS));
    }
    let profile = crate::gpu::profile(&args.gpu)?;
    // The library wants the name as it knows it.
    let gpu = match profile.xnack {
        // A processor whose name says that XNACK is on.
        Some(_) => args.gpu.trim().to_ascii_lowercase(),
        None => profile.names.first().copied().unwrap_or(profile.processor).to_owned(),
    };
    let runtime = Runtime::find()?;
    let mut path = runtime.path().as_os_str().to_owned();
    if !comgr::is_off() && comgr::find(&[])?.is_some() {
        path.push(":");
        path.push(runtime.comgr());
    }
    if let Some(more) = std::env::var_os("LD_LIBRARY_PATH").filter(|v| !v.is_empty()) {
        path.push(":");
        path.push(more);
    }
    let directory = Directory::new().map_err(|e| format!("no temporary directory: {e}"))?;
    let tools = tools(&directory);
    let lines = args.json.as_ref().map(|_| nameless());
    let lines = lines.transpose().map_err(|e| format!("no temporary file: {e}"))?;
    let checking = args.checks.ready()?;
    let findings = checking.as_ref().map(|_| nameless()).transpose();
    let mut findings = findings.map_err(|e| format!("no temporary file: {e}"))?;
    let (program, arguments) = args.program.split_first().ok_or("a program is needed")?;
    let mut command = Command::new(program);
    command.args(arguments).env("LD_LIBRARY_PATH", path);
    // Debian's loader and Khronos's have different names for the same.
    for variable in ["OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"] {
        command.env(variable, runtime.path().join(embed::OPENCL_NAME));
    }
    if let Some(path) = tools {
        command.env("PATH", path);
    }
    command.env("WAVEMILL_GPU", gpu).env("WAVEMILL_GPUS", args.gpus.to_string());
    if let Some(engine) = args.engine {
        command.env("WAVEMILL_ENGINE", engine.name());
    }
    if let Some(threads) = args.threads {
        command.env("WAVEMILL_THREADS", threads.to_string());
    }
    if args.xnack {
        if crate::gpu::processor(&args.gpu)?.xnack.is_none() {
            return Err(format!("--xnack: {} has no XNACK", profile.processor));
        }
        command.env("HSA_XNACK", "1");
    }
    if let Some(bounds) = args.bounds {
        command.env("WAVEMILL_BOUNDS", bounds.name());
    }
    command.envs(args.silicon.variables());
    if let Some(file) = &args.events {
        command.env("WAVEMILL_EVENTS", emptied(file)?);
    }
    if let Some(text) = &args.trace {
        let filter = Filter::parse(text)?;
        let mut items: Vec<String> = text.split(',').map(str::to_owned).collect();
        if let Some(file) = &filter.file {
            // The program may be elsewhere when its library opens it.
            items.retain(|item| !item.trim_start().starts_with("file:"));
            items.push(format!("file:{}", emptied(file)?.display()));
        }
        command.env("WAVEMILL_TRACE", items.join(","));
    }
    if std::env::var_os("WAVEMILL_PROGRESS").is_none() && std::io::stderr().is_terminal() {
        command.env("WAVEMILL_PROGRESS", "1");
    }
    if args.deterministic {
        command.env("WAVEMILL_DETERMINISTIC", "1");
    }
    let absolute = |path: &Path| std::path::absolute(path).map_err(|e| format!("{}: {e}", path.display()));
    if let Some(file) = &args.record {
        // The library makes it anew, so that no second process writes to it; that it can be made is seen here.
        std::fs::File::create(file).map_err(|e| format!("{}: {e}", file.display()))?;
        std::fs::remove_file(file).map_err(|e| format!("{}: {e}", file.display()))?;
        command.env("WAVEMILL_RECORD", absolute(file)?);
    }
    if let Some(file) = &args.replay {
        let text = crate::input::text(file)?;
        Log::replay(text, Box::new(|_| {})).map_err(|e| format!("{}: {e}", file.display()))?;
        command.env("WAVEMILL_REPLAY", absolute(file)?);
    }
    if let (Some((checks, _)), Some(file)) = (&checking, &findings) {
        command.env("WAVEMILL_CHECK", checks.to_string()).env("WAVEMILL_FINDINGS", shared(file));
    }
    if let Some(lines) = &lines {
        command.env("WAVEMILL_JSON", shared(lines));
    }
    let faults = directory.path().join("faults");
    command.env("WAVEMILL_FAULTS", &faults);
    if let Some(limit) = args.timeout {
        command.env("WAVEMILL_TIMEOUT", limit.as_secs_f64().to_string());
    }
    let (status, late) = match signals::run(&mut command, args.timeout) {
        Ok(ended) => ended,
        Err(e) => {
            let message = format!("{}: {e}", program.display());
            crate::output::message(format_args!("wavemill exec: {message}"));
            if let (Some(file), Some(lines)) = (&args.json, lines) {
                report(args, file, lines, Err(&message))?;
            }
            return Ok(ExitCode::from(127));
        }
    };
    if let (Some(file), Some(lines)) = (&args.json, lines) {
        report(args, file, lines, Ok(status))?;
    }
    let mut found = None;
    if let (Some((_, checking)), Some(file)) = (checking, &mut findings) {
        let mut text = String::new();
        let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
        read.map_err(|e| format!("what --check found: {e}"))?;
        found = checking.finish(checks::gathered(&text))?;
    }
    if late {
        let seconds = args.timeout.unwrap_or_default().as_secs_f64();
        crate::output::message(format_args!(
            "wavemill exec: {}: not done after {seconds} s",
            program.display()
        ));
        return Ok(ExitCode::from(status::TIMEOUT));
    }
    // A program that does not look must not pass for one whose kernels are fine.
    let faults = std::fs::read_to_string(&faults).unwrap_or_default();
    let timeout = faults.lines().any(|kind| kind == "timeout");
    if !status.success()
        && faults.is_empty()
        && let Some(message) = code::missing(Path::new(program), crate::gpu::processor(&args.gpu)?)
    {
        crate::output::message(format_args!("wavemill exec: {}: {message}", program.display()));
    }
    if let Some(message) = status.signal().and_then(|signal| died(signal, &faults, args.timeout)) {
        crate::output::message(format_args!("wavemill exec: {}: {message}", program.display()));
    }
    let code = match status.code() {
        // HIP ends a program whose kernel was stopped.
        _ if timeout && args.timeout.is_some() => status::TIMEOUT.into(),
        Some(0) if timeout => status::TIMEOUT.into(),
        Some(0) if !faults.is_empty() => status::FAULT.into(),
        Some(0) => found.unwrap_or(0).into(),
        Some(code) => code,
        None => 128 + status.signal().unwrap_or(0),
    };
    Ok(ExitCode::from(code as u8))
}

/// What `--trace` asks for, as the program's library takes it.
fn traced(text: &str) -> Result<String, String> {
    Filter::parse(text).map(|_| text.to_owned())
}

/// What is said of a program that a signal ended, as shells do; nothing of those that people send.
fn died(signal: i32, faults: &str, limit: Option<Duration>) -> Option<String> {
    use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGKILL, SIGPIPE, SIGTERM};
    if [SIGHUP, SIGINT, SIGPIPE, SIGTERM].contains(&signal) {
        return None;
    }
    let name = signal_hook::low_level::signal_name(signal).map(|n| format!(" ({n})")).unwrap_or_default();
    let why = match faults.lines().last() {
        // Its queue is in an error state from then on: no packet behind the one that faulted is looked at.
        Some("timeout") => {
            let over = |t: Duration| format!(" when the {} s of --timeout were over", t.as_secs_f64());
            let when = limit.map(over).unwrap_or_default();
            format!(", after a kernel of its queue was stopped{when}, which is reported above")
        }
        Some(_) if signal == SIGABRT => {
            ": a kernel of its queue faulted, which is reported above, and HIP ends a program whose queue has failed".into()
        }
        Some(_) => ", after a kernel of its queue faulted, which is reported above".into(),
        None if signal == SIGKILL => "; the system does that when memory runs out".into(),
        None => String::new(),
    };
    Some(format!("ended by signal {signal}{name}{why}"))
}

/// A file with nothing in it yet, by its absolute name: lines are appended, by all processes of the program.
fn emptied(path: &Path) -> Result<PathBuf, String> {
    let made = std::fs::File::create(path).and_then(|_| std::path::absolute(path));
    made.map_err(|e| format!("{}: {e}", path.display()))
}

/// The path with the tools before the others that ask a driver for GPUs; none where that cannot be.
fn tools(directory: &Directory) -> Option<OsString> {
    let bin = directory.path().join("bin");
    let this = std::env::current_exe().ok()?;
    std::fs::create_dir(&bin).ok()?;
    for name in crate::dropin::FOR_PROGRAMS {
        std::os::unix::fs::symlink(&this, bin.join(name)).ok()?;
    }
    let before = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&before))).ok()
}

/// Makes one JSON document of the lines that the program's library has left.
fn report(
    args: &Exec,
    file: &Path,
    lines: std::fs::File,
    status: Result<ExitStatus, &str>,
) -> Result<(), String> {
    if file == Path::new("-") {
        crate::output::printing();
        return crate::output::written(document(args, std::io::stdout(), lines, status));
    }
    let written = std::fs::File::create(file).and_then(|out| document(args, out, lines, status));
    written.map_err(|e| format!("{}: {e}", file.display()))
}

fn document(
    args: &Exec,
    out: impl Write,
    mut lines: std::fs::File,
    status: Result<ExitStatus, &str>,
) -> std::io::Result<()> {
    use wavemill_device::json::quoted;
    let words = args.program.iter().map(|w| quoted(&w.to_string_lossy()));
    let mut out = std::io::BufWriter::new(out);
    let exit = status.ok().and_then(|s| s.code()).map_or_else(|| "null".to_owned(), |c| c.to_string());
    let error = status.err().map(|e| format!("\n  \"error\": {},", quoted(e))).unwrap_or_default();
    write!(
        out,
        "{{\n  \"command\": [{}],\n  \"gpu\": {},\n  \"gpus\": {},\n  \"exit\": {exit},{error}\n  \"dispatches\": [",
        words.collect::<Vec<_>>().join(", "),
        quoted(&args.gpu),
        args.gpus
    )?;
    // A line at a time: a program may run millions of kernels.
    lines.rewind()?;
    let mut lines = std::io::BufReader::new(lines);
    let mut line = Vec::new();
    let mut first = true;
    while lines.read_until(b'\n', &mut line)? > 0 {
        out.write_all(if first { b"\n    " } else { b",\n    " })?;
        out.write_all(line.trim_ascii_end())?;
        line.clear();
        first = false;
    }
    out.write_all(b"\n  ]\n}\n")?;
    out.flush()
}
