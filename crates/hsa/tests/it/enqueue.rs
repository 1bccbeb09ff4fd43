//! Kernels that write packets and ring doorbells themselves.

use crate::constants::*;
use crate::ffi::*;
use crate::setup::*;
use std::fmt::Write;

/// One lane takes a place in a queue, copies a packet there, its first word last, and rings the doorbell: arguments are
/// the queue and the packet's template. (`hsa_queue_t` and `amd_signal_t` as the seeds of the ABI lay them out.)
fn enqueue() -> String {
    let mut code = String::from(
        "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n  s_load_dwordx16 s[8:23], s[6:7], 0x0\n\
         s_load_dwordx4 s[24:27], s[4:5], 0x8\n  s_load_dword s28, s[4:5], 0x18\n  v_mov_b32_e32 v0, 1\n\
         v_mov_b32_e32 v1, 0\n  v_mov_b32_e32 v2, 0\n  s_waitcnt lgkmcnt(0)\n\
         global_atomic_add_x2 v[4:5], v2, v[0:1], s[4:5] offset:56 glc\n  s_load_dwordx2 s[30:31], s[26:27], 0x8\n\
         s_add_i32 s28, s28, -1\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n  v_and_b32_e32 v6, s28, v4\n\
         v_lshlrev_b32_e32 v6, 6, v6\n",
    );
    for word in 1..16 {
        let _ = writeln!(code, "  v_mov_b32_e32 v7, s{}", 8 + word);
        let _ = writeln!(code, "  global_store_dword v6, v7, s[24:25] offset:{}", 4 * word);
    }
    code.push_str(
        "  s_waitcnt vmcnt(0)\n  v_mov_b32_e32 v7, s8\n  global_store_dword v6, v7, s[24:25]\n\
         s_waitcnt vmcnt(0)\n  global_store_dwordx2 v2, v[4:5], s[30:31]",
    );
    kernel_text("enqueue", 16, &code, "")
}

/// Runs `groups` work-groups on one queue, each of which enqueues a dispatch on another (or the same).
fn run(same: bool, groups: u32) {
    let system = system();
    let program = Program::new(&(enqueue() + &count()));
    let counter = Memory::<u32>::new(system.host, 1);
    let counter_address = Memory::of(system.kernarg, &[counter.address()]);
    let (first, second) = (Ring::new(256), Ring::new(256));
    let target = if same { &first } else { &second };
    let (parent, children) = (OwnSignal::new(1), OwnSignal::new(i64::from(groups)));
    let packet = dispatch(program.kernel("count"), 64, 64, counter_address.address(), Some(&children));
    let template = Memory::of(system.host, &[packet]);
    let arguments = Memory::of(system.kernarg, &[target.0 as u64, template.address()]);
    first.submit(&dispatch(program.kernel("enqueue"), groups, 1, arguments.address(), Some(&parent)));
    parent.wait();
    children.wait();
    assert_eq!(counter.get(), [groups * 64]);
    let expected = u64::from(groups) + u64::from(same);
    assert_eq!(hsa_queue_load_write_index_scacquire(target.0), expected);
    first.destroy();
    second.destroy();
}

#[test]
fn into_another_queue() {
    run(false, 1);
    run(false, 100);
}

#[test]
fn into_the_same_queue() {
    run(true, 1);
    run(true, 100);
}

/// A kernel that enqueues a kernel that enqueues a kernel.
#[test]
fn a_chain() {
    let system = system();
    let program = Program::new(&(enqueue() + &count()));
    let counter = Memory::<u32>::new(system.host, 1);
    let counter_address = Memory::of(system.kernarg, &[counter.address()]);
    let ring = Ring::new(64);
    let done = OwnSignal::new(1);
    let mut packet = dispatch(program.kernel("count"), 64, 64, counter_address.address(), Some(&done));
    let mut kept = Vec::new();
    for _ in 0..10 {
        let template = Memory::of(system.host, &[packet]);
        let arguments = Memory::of(system.kernarg, &[ring.0 as u64, template.address()]);
        packet = dispatch(program.kernel("enqueue"), 1, 1, arguments.address(), None);
        kept.push((template, arguments));
    }
    ring.submit(&packet);
    done.wait();
    assert_eq!(counter.get(), [64]);
    assert_eq!(hsa_queue_load_write_index_relaxed(ring.0), 11);
    ring.destroy();
}

/// A kernel changes a signal's value; a thread of the host that sleeps on it wakes.
#[test]
fn a_kernel_signals_the_host() {
    let system = system();
    // Subtracts one from the value of the signal that is the argument.
    let code = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_mov_b32_e32 v0, 0\n  v_mov_b32_e32 v2, 1\n\
                v_mov_b32_e32 v3, 0\n  s_waitcnt lgkmcnt(0)\n  global_atomic_sub_x2 v0, v[2:3], s[4:5] offset:8";
    let program = Program::new(&kernel_text("signal", 8, code, ""));
    let ring = Ring::new(64);
    for lanes in [1, 64] {
        let signal = OwnSignal::new(i64::from(lanes));
        let arguments = Memory::of(system.kernarg, &[signal.0.handle]);
        std::thread::scope(|scope| {
            scope.spawn(|| signal.wait());
            std::thread::sleep(std::time::Duration::from_millis(5));
            ring.submit(&dispatch(program.kernel("signal"), lanes, lanes as u16, arguments.address(), None));
        });
        assert_eq!(signal.load(), 0);
    }
    ring.destroy();
}

/// A dispatch waits, by a barrier packet, for a signal that another kernel changes.
#[test]
fn a_kernel_lets_another_queue_go_on() {
    let system = system();
    let code = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_mov_b32_e32 v0, 0\n  v_mov_b32_e32 v2, 0\n\
                v_mov_b32_e32 v3, 0\n  s_waitcnt lgkmcnt(0)\n  global_store_dwordx2 v0, v[2:3], s[4:5] offset:8";
    let program = Program::new(&kernel_text("release", 8, code, ""));
    let (waiting, other) = (Ring::new(64), Ring::new(64));
    let (gate, done) = (OwnSignal::new(1), OwnSignal::new(1));
    let arguments = Memory::of(system.kernarg, &[gate.0.handle]);
    waiting.submit(&barrier(PACKET_TYPE_BARRIER_AND, &[&gate], Some(&done)));
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert_eq!(done.load(), 1);
    other.submit(&dispatch(program.kernel("release"), 1, 1, arguments.address(), None));
    done.wait();
    waiting.destroy();
    other.destroy();
}
