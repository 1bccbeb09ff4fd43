//! Signals that somebody sends to `wavemill exec` are meant for the program it runs.

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithRawSiginfo;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// What ends a process that does not care for it.
const FORWARDED: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// What a program gets after its time for its kernels' reports and its own last words, before it is told to end; and then
/// before it is ended.
const GRACE: Duration = Duration::from_secs(2);

/// Runs a program to its end; signals that come meanwhile go to it, and it alone decides what they do. True if its time
/// was over before that.
pub fn run(command: &mut Command, limit: Option<Duration>) -> io::Result<(ExitStatus, bool)> {
    // Before the program is there, so that none is lost. It starts with the dispositions we were started with: those
    // that have a handler here are the default again, and those that are ignored (nohup) stay so.
    let ignored = ignored();
    let caught = FORWARDED.into_iter().filter(|s| ignored >> (s - 1) & 1 == 0);
    let mut signals = SignalsInfo::<WithRawSiginfo>::new(caught)?;
    let handle = signals.handle();
    die_with_us(command);
    let mut child = command.spawn()?;
    let send = sender(&child);
    let thread = std::thread::spawn(move || {
        for info in signals.forever() {
            // Those of the terminal come from the kernel, and have gone to the program as well, which is in our group.
            let from_kernel = info.si_code > 0;
            if !from_kernel && let Some(signal) = Signal::from_named_raw(info.si_signo) {
                // It fails when the program is gone, and then nobody waits for the signal.
                let _ = send(signal);
            }
        }
    });
    let ended = match limit {
        None => child.wait().map(|status| (status, false)),
        Some(limit) => wait(&mut child, limit),
    };
    handle.close();
    // It has nothing to say.
    let _ = thread.join();
    ended
}

/// Waits for a program as long as it may run, then ends it, at first gently.
fn wait(child: &mut Child, limit: Duration) -> io::Result<(ExitStatus, bool)> {
    let began = Instant::now();
    let mut told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, told));
        }
        let past = began.elapsed().saturating_sub(limit);
        if past > GRACE && !told {
            told = true;
            // It fails when the program is gone, which the next look shows.
            let _ = kill_process(Pid::from_child(child), Signal::TERM);
        }
        if past > 2 * GRACE {
            child.kill()?;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A program whose `exec` is killed ends, too: nobody would wait for it.
#[cfg(target_os = "linux")]
fn die_with_us(command: &mut Command) {
    use rustix::process::{getppid, set_parent_process_death_signal};
    use std::os::unix::process::CommandExt;
    let us = rustix::process::getpid();
    let ask = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // We may be gone already.
        if getppid() == Some(us) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    };
    // SAFETY: between fork and exec, two system calls and nothing else.
    unsafe { command.pre_exec(ask) };
}

#[cfg(not(target_os = "linux"))]
fn die_with_us(_: &mut Command) {}

/// Sends signals to a program, and never to another one that got its number later, if the kernel can tell them apart.
#[cfg(target_os = "linux")]
fn sender(child: &Child) -> impl Fn(Signal) -> rustix::io::Result<()> + Send + 'static {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    let pid = Pid::from_child(child);
    let file = pidfd_open(pid, PidfdFlags::empty());
    move |signal| match &file {
        Ok(file) => pidfd_send_signal(file, signal),
        Err(_) => kill_process(pid, signal),
    }
}

#[cfg(not(target_os = "linux"))]
fn sender(child: &Child) -> impl Fn(Signal) -> rustix::io::Result<()> + Send + 'static {
    let pid = Pid::from_child(child);
    move |signal| kill_process(pid, signal)
}

/// The signals this process ignores, a bit each from 1 up.
fn ignored() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = text.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok()).unwrap_or(0)
}
