//! Queues: many producers, wrap-around, barriers, what a packet's completion means, and queues side by side.

use crate::constants::*;
use crate::ffi::*;
use crate::setup::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// `out[i] = value` for one work-group of 64: arguments address and value.
fn store() -> String {
    let code = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_load_dword s6, s[0:1], 0x8\n  v_lshlrev_b32_e32 v0, 2, v0\n\
                s_waitcnt lgkmcnt(0)\n  v_mov_b32_e32 v1, s6\n  global_store_dword v0, v1, s[4:5]";
    kernel_text("store", 16, code, "")
}

/// Four threads write 100,000 packets of two kinds into a ring of 64; every kernel runs once, every signal fires once.
#[test]
fn wrap_around_with_four_producers() {
    const EACH: u32 = 25_000;
    let system = system();
    let program = Program::new(&count());
    let kernel = program.kernel("count");
    let counters = Memory::<u32>::new(system.host, 4);
    let arguments =
        Memory::of(system.kernarg, &[0, 1, 2, 3].map(|k| counters.address() + 4 * k).map(|a| [a; 1]));
    let ring = Ring::new(64);
    let done = OwnSignal::new(4 * i64::from(EACH));
    std::thread::scope(|scope| {
        for k in 0..4u64 {
            let (ring, done, arguments) = (&ring, &done, &arguments);
            scope.spawn(move || {
                for i in 0..EACH {
                    // Now and then a barrier packet, which counts as well.
                    if i % 5 == 4 {
                        ring.submit(&barrier(PACKET_TYPE_BARRIER_AND, &[], Some(done)));
                    } else {
                        ring.submit(&dispatch(kernel, 1, 1, arguments.address() + 8 * k, Some(done)));
                    }
                }
            });
        }
    });
    done.wait();
    assert_eq!(done.load(), 0);
    assert_eq!(counters.get(), [EACH / 5 * 4; 4]);
    assert_eq!(hsa_queue_load_write_index_scacquire(ring.0), 4 * u64::from(EACH));
    // The last place in the ring is given back after the signal has fired.
    while hsa_queue_load_read_index_scacquire(ring.0) != 4 * u64::from(EACH) {
        std::thread::yield_now();
    }
    ring.destroy();
}

/// The structure behind the handle is the one that device code reads.
#[test]
fn a_queue_lies_in_memory() {
    let ring = Ring::new(128);
    let queue = ring.queue();
    assert_eq!((queue.kind, queue.size, queue.reserved1), (QUEUE_TYPE_MULTI, 128, 0));
    assert_ne!(queue.features & QUEUE_FEATURE_KERNEL_DISPATCH, 0);
    assert_eq!(queue.base_address as u64 % 64, 0);
    for index in 0..128 {
        // SAFETY: within the ring.
        let header = unsafe { ring.slot(index).cast::<u16>().read() };
        assert_eq!(u32::from(header & 0xff), PACKET_TYPE_INVALID);
    }
    // SAFETY: a queue's handle is the address of an `amd_queue_t` (ROCm code object format, "AMD Queue").
    let inside = unsafe { &*ring.0.cast::<AmdQueue>() };
    assert_eq!(ring.0 as u64 % 64, 0);
    assert_eq!(inside.read_dispatch_id_field_base_byte_offset, 128);
    assert_eq!((inside.write_dispatch_id, inside.read_dispatch_id), (0, 0));
    hsa_queue_store_write_index_relaxed(ring.0, 5);
    assert_eq!(hsa_queue_load_write_index_relaxed(ring.0), 5);
    hsa_queue_store_write_index_screlease(ring.0, 0);
    assert_eq!(hsa_queue_add_write_index_relaxed(ring.0, 0), 0);
    // SAFETY: the doorbell is a signal like others (ROCm code object format, "Signals"): a GFX9 queue's has 64 bits.
    let doorbell = unsafe { &*(queue.doorbell_signal.handle as *const AmdSignal) };
    assert_eq!(doorbell.kind, -1);
    assert_eq!(doorbell.queue_ptr, ring.0 as u64);
    let other = Ring::new(64);
    assert_ne!(other.queue().id, queue.id);
    other.destroy();
    ring.destroy();
}

/// Every order of adding to the write index and of swapping it.
#[test]
fn write_indices() {
    let ring = Ring::new(64);
    let orders = ["acq_rel", "acquire", "relaxed", "release", "scacq_screl", "scacquire", "screlease"];
    let mut at = 0;
    for order in orders {
        type Add = unsafe extern "C" fn(*const Queue, u64) -> u64;
        type Cas = unsafe extern "C" fn(*const Queue, u64, u64) -> u64;
        let add: Add = function(&format!("hsa_queue_add_write_index_{order}"));
        let cas: Cas = function(&format!("hsa_queue_cas_write_index_{order}"));
        // SAFETY: the queue is alive.
        unsafe {
            assert_eq!(add(ring.0, 3), at);
            assert_eq!(cas(ring.0, at, 1000), at + 3);
            assert_eq!(cas(ring.0, at + 3, at + 4), at + 3);
        }
        at += 4;
        assert_eq!(hsa_queue_load_write_index_scacquire(ring.0), at);
    }
    ring.destroy();
}

/// A diamond of dependencies over three queues: A, then B and C, then D; values say in which order they ran.
#[test]
fn a_graph_of_barriers() {
    let system = system();
    let program = Program::new(&store());
    let kernel = program.kernel("store");
    let rings = [Ring::new(64), Ring::new(64), Ring::new(64)];
    for round in 0..50u64 {
        // D's dependencies are more than five: they need two barrier packets.
        let parts: Vec<OwnSignal> = (0..7).map(|_| OwnSignal::new(1)).collect();
        let (start, done) = (OwnSignal::new(1), OwnSignal::new(1));
        let out = Memory::<u32>::new(system.host, 64);
        let arguments = Memory::of(system.kernarg, &[out.address(), round + 1]);
        for (i, part) in parts.iter().enumerate() {
            let ring = &rings[i % 2];
            ring.submit(&barrier(PACKET_TYPE_BARRIER_AND, &[&start], None));
            let mut last = barrier(PACKET_TYPE_BARRIER_AND, &[], Some(part));
            last.header = header(PACKET_TYPE_BARRIER_AND, true);
            ring.submit(&last);
        }
        let all: Vec<&OwnSignal> = parts.iter().collect();
        let mut first = barrier(PACKET_TYPE_BARRIER_AND, &all[..5], None);
        first.header = header(PACKET_TYPE_BARRIER_AND, true);
        rings[2].submit(&first);
        let mut second = barrier(PACKET_TYPE_BARRIER_AND, &all[5..], None);
        second.header = header(PACKET_TYPE_BARRIER_AND, true);
        rings[2].submit(&second);
        let mut last = dispatch(kernel, 64, 64, arguments.address(), Some(&done));
        last.header = header(PACKET_TYPE_KERNEL_DISPATCH, true);
        rings[2].submit(&last);
        if round % 10 == 0 {
            std::thread::sleep(Duration::from_millis(2));
            assert!(parts.iter().all(|p| p.load() == 1) && done.load() == 1, "nothing has started");
            assert_eq!(out.get(), [0; 64]);
        }
        hsa_signal_store_screlease(start.0, 0);
        done.wait();
        assert!(parts.iter().all(|p| p.load() == 0));
        assert_eq!(out.get(), [round as u32 + 1; 64]);
    }
    rings.into_iter().for_each(Ring::destroy);
}

#[test]
fn barrier_or_takes_the_first() {
    system();
    let ring = Ring::new(64);
    let signals: Vec<OwnSignal> = (0..5).map(|_| OwnSignal::new(1)).collect();
    let all: Vec<&OwnSignal> = signals.iter().collect();
    for first in [2, 0, 4] {
        let done = OwnSignal::new(1);
        ring.submit(&barrier(PACKET_TYPE_BARRIER_OR, &all, Some(&done)));
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(done.load(), 1);
        hsa_signal_store_screlease(signals[first].0, 0);
        done.wait();
        hsa_signal_store_screlease(signals[first].0, 1);
    }
    // Of no signals at all: it is over at once.
    let done = OwnSignal::new(1);
    ring.submit(&barrier(PACKET_TYPE_BARRIER_OR, &[], Some(&done)));
    done.wait();
    ring.destroy();
}

/// AMD's packet that waits for a value under a mask.
#[test]
fn barrier_value() {
    system();
    let ring = Ring::new(64);
    let signal = OwnSignal::new(0x1200);
    let conditions = [(SIGNAL_CONDITION_EQ, 0x34), (SIGNAL_CONDITION_GTE, 0x30), (SIGNAL_CONDITION_NE, 0x0)];
    for (condition, value) in conditions {
        let done = OwnSignal::new(1);
        hsa_signal_store_screlease(signal.0, 0x1200);
        ring.submit(&BarrierValue {
            header: header(PACKET_TYPE_VENDOR_SPECIFIC, false),
            amd_format: AMD_PACKET_TYPE_BARRIER_VALUE as u8,
            signal: signal.0,
            value,
            mask: 0xff,
            cond: condition,
            completion_signal: done.0,
            ..BarrierValue::default()
        });
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(done.load(), 1);
        hsa_signal_store_screlease(signal.0, 0x5634);
        done.wait();
    }
    ring.destroy();
}

/// Packets become valid out of order, and the doorbell rings once for many.
#[test]
fn packets_out_of_order() {
    let system = system();
    let program = Program::new(&count());
    let kernel = program.kernel("count");
    let counter = Memory::<u32>::new(system.host, 1);
    let arguments = Memory::of(system.kernarg, &[counter.address()]);
    let ring = Ring::new(64);
    let done = OwnSignal::new(8);
    let first = hsa_queue_add_write_index_relaxed(ring.0, 8);
    for i in (1..8).rev() {
        ring.write(first + i, &dispatch(kernel, 64, 64, arguments.address(), Some(&done)));
    }
    ring.ring(first + 7);
    std::thread::sleep(Duration::from_millis(5));
    // The first one is missing: the packet processor takes them in order.
    assert_eq!(done.load(), 8);
    ring.write(first, &dispatch(kernel, 64, 64, arguments.address(), Some(&done)));
    ring.ring(first);
    done.wait();
    assert_eq!(counter.get(), [8 * 64]);
    ring.destroy();
}

/// A dispatch with the barrier bit waits for all before it, one without does not.
#[test]
fn the_barrier_bit() {
    let system = system();
    // Waits until the word at the first argument is not 0, then stores 1 at the second.
    let spin = kernel_text(
        "spin",
        16,
        "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  v_mov_b32_e32 v0, 0\n  v_mov_b32_e32 v2, 1\n  s_waitcnt lgkmcnt(0)\n\
         again:\n  global_load_dword v1, v0, s[4:5] glc slc\n  s_waitcnt vmcnt(0)\n  v_cmp_eq_u32_e32 vcc, 0, v1\n\
         s_cbranch_vccnz again\n  global_store_dword v0, v2, s[6:7]",
        "",
    );
    let program = Program::new(&(spin + &count()));
    let flags = Memory::<u32>::new(system.host, 3);
    let arguments = Memory::of(system.kernarg, &[flags.address(), flags.address() + 4]);
    let counter = Memory::of(system.kernarg, &[flags.address() + 8]);
    let ring = Ring::new(64);
    let (early, late, slow) = (OwnSignal::new(1), OwnSignal::new(1), OwnSignal::new(1));
    ring.submit(&dispatch(program.kernel("spin"), 1, 1, arguments.address(), Some(&slow)));
    ring.submit(&dispatch(program.kernel("count"), 1, 1, counter.address(), Some(&early)));
    let mut packet = dispatch(program.kernel("count"), 1, 1, counter.address(), Some(&late));
    packet.header = header(PACKET_TYPE_KERNEL_DISPATCH, true);
    ring.submit(&packet);
    // The second overtakes the first, which still spins.
    early.wait();
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!((slow.load(), late.load()), (1, 1));
    // SAFETY: host memory that a kernel reads at the same time.
    unsafe { (*flags.pointer.cast::<std::sync::atomic::AtomicU32>()).store(1, Ordering::Release) };
    late.wait();
    assert_eq!(slow.load(), 0);
    assert_eq!(flags.get(), [1, 1, 2]);
    ring.destroy();
}

/// Sixty-four queues, each with work.
#[test]
fn many_queues_at_once() {
    let system = system();
    let program = Program::new(&count());
    let kernel = program.kernel("count");
    let counter = Memory::<u32>::new(system.host, 1);
    let arguments = Memory::of(system.kernarg, &[counter.address()]);
    let rings: Vec<Ring> = (0..64).map(|_| Ring::new(64)).collect();
    let done = OwnSignal::new(64 * 20);
    for _ in 0..20 {
        for ring in &rings {
            ring.submit(&dispatch(kernel, 64, 64, arguments.address(), Some(&done)));
        }
    }
    done.wait();
    assert_eq!(counter.get(), [64 * 20 * 64]);
    rings.into_iter().for_each(Ring::destroy);
}

/// Queues come and go while others work.
#[test]
fn queues_come_and_go() {
    let program = Program::new(&empty());
    let kernel = program.kernel("empty");
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let (ring, done) = (Ring::new(64), OwnSignal::new(3));
                    for _ in 0..3 {
                        ring.submit(&dispatch(kernel, 256, 64, 0, Some(&done)));
                    }
                    done.wait();
                    ring.destroy();
                }
            });
        }
    });
}

/// A queue whose packets the program itself takes, as for agent dispatch packets.
#[test]
fn a_soft_queue() {
    let system = system();
    let regions = all(|f, d| hsa_agent_iterate_regions(system.cpu, f, d));
    let doorbell = OwnSignal::new(-1);
    let mut queue = null_mut();
    let features = QUEUE_FEATURE_AGENT_DISPATCH;
    ok(hsa_soft_queue_create(regions[0], 16, QUEUE_TYPE_MULTI, features, doorbell.0, &mut queue));
    let ring = Ring(queue);
    assert_eq!((ring.queue().size, ring.queue().features), (16, features));
    assert_eq!(ring.queue().doorbell_signal, doorbell.0);
    let result = AtomicU64::new(0);
    let done = OwnSignal::new(1);
    let packet = AgentDispatch {
        header: header(PACKET_TYPE_AGENT_DISPATCH, false),
        kind: 0x8001,
        return_address: (&raw const result) as u64,
        arg: [20, 22, 0, 0],
        completion_signal: done.0,
        ..AgentDispatch::default()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while hsa_signal_wait_scacquire(doorbell.0, SIGNAL_CONDITION_GTE, 0, u64::MAX, WAIT_STATE_BLOCKED)
                < 0
            {}
            // SAFETY: the packet was published before the doorbell rang.
            let packet = unsafe { ring.slot(0).cast::<AgentDispatch>().read() };
            assert_eq!(packet.kind, 0x8001);
            // SAFETY: the address of `result`.
            unsafe { &*(packet.return_address as *const AtomicU64) }
                .store(packet.arg[0] + packet.arg[1], Ordering::SeqCst);
            hsa_queue_store_read_index_screlease(ring.0, 1);
            hsa_signal_subtract_screlease(packet.completion_signal, 1);
        });
        ring.submit(&packet);
        done.wait();
    });
    assert_eq!(result.load(Ordering::SeqCst), 42);
    assert_eq!(hsa_queue_load_read_index_scacquire(ring.0), 1);
    hsa_queue_store_read_index_relaxed(ring.0, 7);
    assert_eq!(hsa_queue_load_read_index_relaxed(ring.0), 7);
    ring.destroy();
}

/// Three dimensions with ragged edges, and the times of the dispatch.
#[test]
fn three_dimensions_and_times() {
    let system = system();
    let program = Program::new(&count());
    let counter = Memory::<u32>::new(system.device, 1);
    let arguments = Memory::of(system.kernarg, &[counter.address()]);
    let ring = Ring::new(64);
    ok(hsa_amd_profiling_set_profiler_enabled(ring.0, 1));
    let done = OwnSignal::new(1);
    let before: u64 = attribute(|p| hsa_system_get_info(SYSTEM_INFO_TIMESTAMP, p));
    let mut packet = dispatch(program.kernel("count"), 0, 0, arguments.address(), Some(&done));
    packet.setup = 3;
    packet.workgroup_size = [8, 4, 2];
    packet.grid_size = [21, 10, 5];
    ring.submit(&packet);
    done.wait();
    let after: u64 = attribute(|p| hsa_system_get_info(SYSTEM_INFO_TIMESTAMP, p));
    assert_eq!(counter.get(), [21 * 10 * 5]);
    let mut times = Times::default();
    ok(hsa_amd_profiling_get_dispatch_time(system.gpu, done.0, &mut times));
    let mut system_ticks = [0, 0];
    for (tick, slot) in [times.start, times.end].into_iter().zip(&mut system_ticks) {
        ok(hsa_amd_profiling_convert_tick_to_system_domain(system.gpu, tick, slot));
    }
    assert!(times.start < times.end, "{times:?}");
    // What the dispatch reports is in the system's time already.
    assert!(before <= times.start && times.end <= after, "{before} {times:?} {after}");
    ring.destroy();
}

#[test]
fn masks_and_priorities() {
    let ring = Ring::new(64);
    let mut mask = [0u32; 4];
    ok(hsa_amd_queue_cu_set_mask(ring.0, 128, [0xff, 0, 0, 0].as_ptr()));
    ok(hsa_amd_queue_cu_get_mask(ring.0, 128, mask.as_mut_ptr()));
    assert_eq!(mask, [0xff, 0, 0, 0]);
    // No compute unit at all: refused, and the mask stays (hsa_ext_amd.h: an invalid argument).
    assert_eq!(hsa_amd_queue_cu_set_mask(ring.0, 128, [0u32; 4].as_ptr()), STATUS_ERROR_INVALID_ARGUMENT);
    ok(hsa_amd_queue_cu_get_mask(ring.0, 128, mask.as_mut_ptr()));
    assert_eq!(mask, [0xff, 0, 0, 0]);
    // No bits: every compute unit again.
    ok(hsa_amd_queue_cu_set_mask(ring.0, 0, null()));
    for priority in [AMD_QUEUE_PRIORITY_LOW, AMD_QUEUE_PRIORITY_HIGH, AMD_QUEUE_PRIORITY_NORMAL] {
        ok(hsa_amd_queue_set_priority(ring.0, priority));
    }
    let program = Program::new(&empty());
    let done = OwnSignal::new(1);
    ring.submit(&dispatch(program.kernel("empty"), 64, 64, 0, Some(&done)));
    done.wait();
    ring.destroy();
}

/// A size below the least is rounded up to it; the queue of each type works.
#[test]
fn sizes_and_types() {
    let system = system();
    let least: u32 = agent_info(system.gpu, AGENT_INFO_QUEUE_MIN_SIZE);
    let most: u32 = agent_info(system.gpu, AGENT_INFO_QUEUE_MAX_SIZE);
    let program = Program::new(&empty());
    for (size, kind) in [
        (1, QUEUE_TYPE_MULTI),
        (most, QUEUE_TYPE_SINGLE),
        (1024, QUEUE_TYPE_COOPERATIVE),
        (least, QUEUE_TYPE_MULTI),
    ] {
        let mut queue = null_mut();
        let none: *mut c_void = null_mut();
        ok(hsa_queue_create(system.gpu, size, kind, None, none, u32::MAX, u32::MAX, &mut queue));
        let ring = Ring(queue);
        assert!(ring.queue().size >= size.max(least) && ring.queue().size.is_power_of_two());
        let done = OwnSignal::new(2);
        ring.submit(&dispatch(program.kernel("empty"), 64, 64, 0, Some(&done)));
        ring.submit(&dispatch(program.kernel("empty"), 64, 64, 0, Some(&done)));
        done.wait();
        ring.destroy();
    }
}
