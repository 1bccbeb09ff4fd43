//! Much at once: queues, producers, and the runtime starting and ending under them. A process of its own, for the state is
//! the process's. `WAVEMILL_LOAD=full` does a million dispatches and ten thousand starts; by default it is a hundredth.
//! `WAVEMILL_LOAD_ROOM` is how many MB the process may grow by, for sanitizers, which keep freed memory to themselves.

#[allow(dead_code)]
#[path = "it/constants.rs"]
mod constants;
#[allow(dead_code)]
#[path = "it/ffi.rs"]
mod ffi;
#[allow(dead_code)]
#[path = "it/setup.rs"]
mod setup;

use constants::*;
use ffi::*;
use setup::*;
use std::sync::atomic::{AtomicUsize, Ordering};

fn scale() -> usize {
    if std::env::var_os("WAVEMILL_LOAD").is_some_and(|v| v == "full") { 100 } else { 1 }
}

/// Bytes of memory that this process has, and its threads and open files.
fn holds() -> (usize, usize, usize) {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let entries = |path: &str| std::fs::read_dir(path).unwrap().count();
    let pages: usize = pages.split(' ').nth(1).unwrap().parse().unwrap();
    (pages * 4096, entries("/proc/self/task"), entries("/proc/self/fd"))
}

/// Bytes by which the process may grow.
fn room() -> usize {
    let said = std::env::var("WAVEMILL_LOAD_ROOM").ok().and_then(|v| v.parse::<usize>().ok());
    said.unwrap_or(64) << 20
}

/// Dispatches on many queues from four producers: every one runs, and nothing stays behind.
fn dispatches(total: usize) {
    const QUEUES: usize = 64;
    const PRODUCERS: usize = 4;
    let program = Program::new(&count());
    let counter = Memory::<u32>::new(system().host, 1);
    let arguments = Memory::of(system().kernarg, &[counter.address()]);
    let queues: Vec<Ring> = (0..QUEUES).map(|_| Ring::new(64)).collect();
    let kernel = program.kernel("count");
    let each = total / PRODUCERS / QUEUES;
    let done = OwnSignal::new((each * PRODUCERS * QUEUES) as Value);
    std::thread::scope(|s| {
        for producer in 0..PRODUCERS {
            let (queues, done, address) = (&queues, &done, arguments.address());
            s.spawn(move || {
                for round in 0..each {
                    for i in 0..QUEUES {
                        let mut packet = dispatch(kernel, 1, 1, address, Some(done));
                        packet.header = header(PACKET_TYPE_KERNEL_DISPATCH, (round + producer) % 7 == 0);
                        queues[(i + 16 * producer) % QUEUES].submit(&packet);
                    }
                }
            });
        }
    });
    done.wait();
    assert_eq!(done.load(), 0);
    assert_eq!(counter.get(), [(each * PRODUCERS * QUEUES) as u32]);
    queues.into_iter().for_each(Ring::destroy);
}

/// Starts and ends of the runtime from four threads; who holds it uses it.
fn starts(total: usize) {
    let ended = AtomicUsize::new(0);
    std::thread::scope(|s| {
        for thread in 0..4usize {
            let ended = &ended;
            s.spawn(move || {
                for round in 0..total / 4 {
                    ok(hsa_init());
                    let agents = all(hsa_iterate_agents);
                    assert_eq!(agents.len(), 2);
                    let mut signal = Signal::default();
                    ok(hsa_signal_create(1, 0, std::ptr::null(), &mut signal));
                    if (round + thread) % 8 == 0 {
                        let (mut queue, gpu) = (std::ptr::null_mut(), agents[1]);
                        let none = std::ptr::null_mut();
                        ok(hsa_queue_create(
                            gpu,
                            64,
                            QUEUE_TYPE_MULTI,
                            None,
                            none,
                            u32::MAX,
                            u32::MAX,
                            &mut queue,
                        ));
                        let ring = Ring(queue);
                        let mut packet = barrier(PACKET_TYPE_BARRIER_AND, &[], None);
                        packet.completion_signal = signal;
                        ring.submit(&packet);
                        let wait = hsa_signal_wait_scacquire(
                            signal,
                            SIGNAL_CONDITION_LT,
                            1,
                            30_000_000_000,
                            WAIT_STATE_BLOCKED,
                        );
                        assert_eq!(wait, 0);
                        // Every other one is left to the end of the runtime.
                        if round % 2 == 0 {
                            ok(hsa_queue_destroy(queue));
                        }
                    }
                    ok(hsa_signal_destroy(signal));
                    ok(hsa_shut_down());
                    ended.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(ended.load(Ordering::Relaxed), total / 4 * 4);
    assert_eq!(hsa_shut_down(), STATUS_ERROR_NOT_INITIALIZED);
}

#[test]
fn nothing_is_lost_and_nothing_grows() {
    starts(40);
    let before = holds();
    starts(100 * scale());
    let after = holds();
    assert!(after.0 < before.0 + room(), "{} MB more", (after.0 - before.0) >> 20);
    assert!(after.1 <= before.1 + 1 && after.2 <= before.2 + 1, "{before:?} {after:?}");
    let _ = system();
    dispatches(1024);
    let before = holds();
    dispatches(10_240 * scale());
    let after = holds();
    assert!(after.0 < before.0 + room(), "{} MB more", (after.0 - before.0) >> 20);
    assert!(after.1 <= before.1 + 1 && after.2 <= before.2 + 1, "{before:?} {after:?}");
    ok(hsa_shut_down());
}
