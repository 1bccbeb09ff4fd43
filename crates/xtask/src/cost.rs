//! `cargo xtask cost`: what checks cost, on OpenCL kernels of `tests/kernels`.
//!
//! Each kernel runs on the interpreter without checks, with `--check=mem` and with all of them, and under oclgrind with its
//! checks that correspond to these, in turns on the same machine: times are of the processor, the best of several rounds (of three
//! for oclgrind, which takes a hundred times as long), memory is the most that the process has had. Demanded: `mem` at
//! most five times the interpreter's time, all at most thirty times, at most three times the memory, and never slower than oclgrind. Where oclgrind itself crashes, as Debian's does on some kernels with its own checks for races, there is nothing to
//! compare with, and the table says so.

use crate::acid::install;
use std::path::Path;
use std::process::Command;

const KERNELS: &[&str] = &[
    "vadd",
    "nbody",
    "sgemm_naive",
    "sgemm_tiled",
    "reduce",
    "histogram",
    "stencil",
    "mandelbrot",
    "bitonic",
];

const PACKAGES: &[&str] = &["gcc-12", "ocl-icd-opencl-dev", "opencl-headers", "oclgrind"];
const ROUNDS: usize = 9;
/// Rounds that oclgrind takes part in.
const FOREIGN_ROUNDS: usize = 3;
/// Less than this is noise.
const TICK: f64 = 0.001;

/// How a run went.
#[derive(Clone, Copy)]
struct Run {
    seconds: f64,
    /// KiB.
    peak: f64,
}

/// The ways to run a kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    Mem,
    All,
    Oclgrind,
    OclgrindAll,
}

const WAYS: [Way; 5] = [Way::Plain, Way::Mem, Way::All, Way::Oclgrind, Way::OclgrindAll];

impl Way {
    fn command(self, wavemill: &Path) -> Command {
        let exec = |check: &[&str]| {
            let mut command = Command::new(wavemill);
            command.args(["exec", "--engine", "interp"]).args(check).arg("--");
            command
        };
        match self {
            Way::Plain => exec(&[]),
            Way::Mem => exec(&["--check=mem"]),
            Way::All => exec(&["--check"]),
            Way::Oclgrind => Command::new("oclgrind"),
            Way::OclgrindAll => {
                let mut command = Command::new("oclgrind");
                command.args(["--data-races", "--uninitialized"]);
                command
            }
        }
    }
}

/// Measures, prints a table, and says what does not hold.
pub fn run(root: &Path, wavemill: &Path) -> Result<(), String> {
    install(PACKAGES)?;
    let program = wavemill.parent().ok_or("no target directory")?.join("cost");
    let built = Command::new("gcc-12")
        .args(["-std=c11", "-O2", "-D_POSIX_C_SOURCE=200809L"])
        .arg(root.join("tests/checks/cost/cost.c"))
        .args(["-lOpenCL", "-o"])
        .arg(&program)
        .status()
        .map_err(|e| format!("gcc-12: {e}"))?;
    if !built.success() {
        return Err("cost.c does not compile".into());
    }
    let mut wrong = Vec::new();
    println!("             ms, and times as long              oclgrind, ms        MiB, and times as much");
    println!("kernel       plain    mem        all          plain      all     plain   mem        all");
    for kernel in KERNELS {
        let mut best = [None::<Run>; WAYS.len()];
        for round in 0..ROUNDS {
            let foreign = |way: &Way| matches!(way, Way::Oclgrind | Way::OclgrindAll);
            let part = |(_, way): &(_, Way)| round < FOREIGN_ROUNDS || !foreign(way);
            for (best, way) in best.iter_mut().zip(WAYS).filter(part) {
                let Some(once) = once(way, &program, root, wavemill, kernel)? else { continue };
                let better = best.map_or(once, |b: Run| Run { seconds: b.seconds.min(once.seconds), ..once });
                *best = Some(better);
            }
        }
        let [Some(plain), Some(mem), Some(all), other, other_all] = best else { continue };
        let foreign = |r: Option<Run>| r.map_or("crashes".to_owned(), |r| format!("{:.0}", r.seconds * 1e3));
        let times = |r: Run| r.seconds / plain.seconds.max(TICK);
        let much = |r: Run| r.peak / plain.peak;
        println!(
            "{kernel:11} {:6.1} {:6.1} {:5.1}x {:7.1} {:5.1}x {:>8} {:>8} {:9.1} {:5.1} {:4.1}x {:5.1} {:4.1}x",
            plain.seconds * 1e3,
            mem.seconds * 1e3,
            times(mem),
            all.seconds * 1e3,
            times(all),
            foreign(other),
            foreign(other_all),
            plain.peak / 1024.0,
            mem.peak / 1024.0,
            much(mem),
            all.peak / 1024.0,
            much(all),
        );
        let demands = [
            (times(mem) <= 5.0, "mem takes more than five times as long"),
            (times(all) <= 30.0, "all checks take more than thirty times as long"),
            (other.is_none_or(|o| mem.seconds < o.seconds), "mem is slower than oclgrind"),
            (other_all.is_none_or(|o| all.seconds < o.seconds), "all checks are slower than oclgrind's"),
            (much(mem).max(much(all)) <= 3.0, "checks take more than three times the memory"),
        ];
        wrong.extend(demands.iter().filter(|(holds, _)| !holds).map(|(_, what)| format!("{kernel}: {what}")));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// One run; none where oclgrind was killed by a signal.
fn once(way: Way, program: &Path, root: &Path, wavemill: &Path, kernel: &str) -> Result<Option<Run>, String> {
    let mut command = way.command(wavemill);
    command.arg(program).arg(root.join("tests/kernels")).arg(kernel);
    let output = command.output().map_err(|e| format!("{:?}: {e}", command.get_program()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let number = |name: &str| {
        let value = text.lines().find_map(|l| l.strip_prefix(name))?;
        value.trim().parse::<f64>().ok()
    };
    match (number("seconds"), number("peak")) {
        (Some(seconds), Some(peak)) if output.status.success() => Ok(Some(Run { seconds, peak })),
        _ if output.status.code().is_none() && matches!(way, Way::Oclgrind | Way::OclgrindAll) => Ok(None),
        _ => Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}
