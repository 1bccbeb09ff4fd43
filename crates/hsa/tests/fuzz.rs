//! Sequences of calls: whatever is called in whatever order, with handles that are, were or never will be, answers with a
//! status, and the runtime goes on.
//!
//! Input: pieces of four bytes, the function and what it gets.

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
use std::ffi::c_void;
use std::path::Path;
use std::ptr::{null, null_mut};
use wavemill_testing::fuzz::drive;

/// What the calls have made, and may have destroyed.
#[derive(Default)]
struct State {
    signals: Vec<Signal>,
    memory: Vec<(*mut c_void, usize)>,
    queues: Vec<Ring>,
    executables: Vec<Executable>,
    groups: Vec<SignalGroup>,
    /// Starts that have not been ended.
    started: u32,
}

unsafe extern "C" fn ignore(_: Status, _: *mut Queue, _: *mut c_void) {}

/// One that there is or was, or a number that never was one.
fn pick<T: Copy>(list: &[T], n: u8, never: T) -> T {
    if n >= 0xf0 || list.is_empty() { never } else { list[usize::from(n) % list.len()] }
}

fn step(s: &mut State, [what, a, b, c]: [u8; 4]) {
    let sys = system();
    let wrong = [0, 1, 8, 0x1000, !0, !7, 1 << 47][usize::from(b) % 7];
    let signal = pick(&s.signals, a, Signal { handle: wrong });
    let (at, len) = pick(&s.memory, a, (wrong as *mut c_void, 64));
    let pool = [sys.device, sys.host, sys.kernarg, Pool { handle: wrong }][usize::from(b) % 4];
    let agent = [sys.gpu, sys.cpu, Agent { handle: wrong }][usize::from(c) % 3];
    let size = [0, 1, 64, 4096, 100_000, usize::MAX, 1 << 40][usize::from(c) % 7];
    let mut number = 0i64;
    match what % 32 {
        0 => {
            ok(hsa_init());
            s.started += 1;
        }
        1 => {
            let mut made = Signal::default();
            if hsa_signal_create(i64::from(a) - 2, 0, null(), &mut made) == STATUS_SUCCESS {
                s.signals.push(made);
            }
        }
        2 => _ = hsa_signal_destroy(signal),
        3 => hsa_signal_store_screlease(signal, i64::from(c)),
        4 => _ = hsa_signal_wait_scacquire(signal, u32::from(b % 5), i64::from(c), 1000, u32::from(a & 1)),
        5 => {
            let mut made = null_mut();
            if hsa_amd_memory_pool_allocate(pool, size, u32::from(a & 1), &mut made) == STATUS_SUCCESS {
                s.memory.push((made, size));
            }
        }
        6 => _ = hsa_amd_memory_fill(at, 7, size / 4),
        7 => {
            // Only to memory of the runtime's own, or to where nothing is: what a program says of its own is believed.
            let mut mine = [0u8; 256];
            let n = size.min(if b & 1 == 0 { 256 } else { len.min(256) });
            _ = hsa_memory_copy(mine.as_mut_ptr().cast(), at, n);
            if !s.memory.is_empty() && a < 0xf0 {
                _ = hsa_memory_copy(at, mine.as_ptr().cast(), n);
            }
        }
        8 => {
            if hsa_amd_memory_pool_free(at) == STATUS_SUCCESS {
                s.memory.retain(|m| m.0 != at);
            }
        }
        9 => _ = hsa_amd_agents_allow_access(1, &agent, null(), at),
        10 => {
            let mut made = null_mut();
            let kind = u32::from(c % 4);
            let size = 1u32 << (a % 20);
            let status = hsa_queue_create(agent, size, kind, Some(ignore), null_mut(), 0, 0, &mut made);
            if status == STATUS_SUCCESS {
                s.queues.push(Ring(made));
            }
        }
        11 if !s.queues.is_empty() => {
            let queue = pick(&s.queues, a % 0xf0, s.queues[0]);
            let mut packet = barrier(PACKET_TYPE_BARRIER_AND, &[], None);
            packet.completion_signal = signal;
            packet.dep_signal[0] = pick(&s.signals, c, Signal { handle: wrong });
            // A queue that waits for ever is full some time.
            if hsa_queue_load_write_index_scacquire(queue.0) < 60 {
                queue.submit(&packet);
            }
        }
        12 => {
            let queue = pick(&s.queues, a, Ring(wrong as *mut Queue));
            if hsa_queue_destroy(queue.0) == STATUS_SUCCESS {
                s.queues.retain(|q| q.0 != queue.0);
            }
        }
        13 => _ = hsa_queue_inactivate(pick(&s.queues, a, Ring(wrong as *mut Queue)).0),
        14 => {
            let mut made = Executable::default();
            if hsa_executable_create_alt(u32::from(a % 3), u32::from(b % 4), null(), &mut made)
                == STATUS_SUCCESS
            {
                s.executables.push(made);
            }
        }
        15 => _ = hsa_executable_freeze(pick(&s.executables, a, Executable { handle: wrong }), null()),
        16 => _ = hsa_executable_destroy(pick(&s.executables, a, Executable { handle: wrong })),
        17 => {
            let (mut seen, mut gpu) = (null_mut(), agent);
            let mut mine = [0u8; 64];
            let address = if a & 1 == 0 { mine.as_mut_ptr().cast() } else { at };
            let n = if a & 1 == 0 { size.min(64) } else { size };
            if hsa_amd_memory_lock(address, n, &mut gpu, i32::from(b % 3) - 1, &mut seen) == STATUS_SUCCESS {
                ok(hsa_amd_memory_unlock(address));
            }
        }
        18 => _ = hsa_amd_memory_unlock(at),
        19 => _ = hsa_memory_register(wrong as *mut c_void, size),
        20 => _ = hsa_memory_deregister(wrong as *mut c_void, size),
        21 => {
            let mut info = [0u64; 32];
            _ = hsa_agent_get_info(agent, u32::from(a) | u32::from(b & 1) << 13, info.as_mut_ptr().cast());
        }
        22 => {
            let mut info = [0u64; 32];
            _ = hsa_amd_memory_pool_get_info(pool, u32::from(a), info.as_mut_ptr().cast());
        }
        23 => {
            let mut made = SignalGroup::default();
            let list = [signal; 3];
            if hsa_signal_group_create(u32::from(c % 4), list.as_ptr(), 0, null(), &mut made)
                == STATUS_SUCCESS
            {
                s.groups.push(made);
            }
        }
        24 => _ = hsa_signal_group_destroy(pick(&s.groups, a, SignalGroup { handle: wrong })),
        25 => {
            let (mut list, mut conditions, mut values) =
                ([signal; 2], [u32::from(b % 5); 2], [i64::from(c); 2]);
            _ = hsa_amd_signal_wait_any(
                u32::from(a % 3),
                list.as_mut_ptr(),
                conditions.as_mut_ptr(),
                values.as_mut_ptr(),
                1000,
                0,
                &mut number,
            );
        }
        26 if s.started > 0 => {
            ok(hsa_shut_down());
            s.started -= 1;
        }
        27 => {
            let to = pick(&s.memory, c, (at, len)).0;
            if !s.memory.is_empty() && a < 0xf0 && c < 0xf0 {
                _ = hsa_amd_memory_async_copy(to, sys.gpu, at, agent, size, 0, null(), signal);
            }
        }
        28 => {
            let mut made = null_mut();
            let region = Region { handle: pool.handle };
            let size = 1u32 << (a % 32);
            let status = hsa_soft_queue_create(region, size, u32::from(c % 3), 1, signal, &mut made);
            if status == STATUS_SUCCESS {
                ok(hsa_queue_destroy(made));
            }
        }
        _ => _ = hsa_signal_load_scacquire(signal),
    }
}

fn run(data: &[u8]) {
    let _ = system();
    let mut s = State::default();
    for piece in data.chunks_exact(4).take(200) {
        step(&mut s, [piece[0], piece[1], piece[2], piece[3]]);
    }
    // What is left is given back, and must still be there.
    s.queues.iter().for_each(|q| ok(hsa_queue_destroy(q.0)));
    s.memory.iter().for_each(|m| ok(hsa_amd_memory_pool_free(m.0)));
    s.signals.iter().for_each(|signal| _ = hsa_signal_destroy(*signal));
    s.executables.iter().for_each(|e| _ = hsa_executable_destroy(*e));
    s.groups.iter().for_each(|g| _ = hsa_signal_group_destroy(*g));
    (0..s.started).for_each(|_| ok(hsa_shut_down()));
}

#[test]
fn any_calls() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/calls");
    // SAFETY: no other thread looks at the environment yet.
    unsafe { std::env::set_var("WAVEMILL_THREADS", "2") };
    drive("calls", &[corpus], Path::new(env!("CARGO_TARGET_TMPDIR")), run);
}
