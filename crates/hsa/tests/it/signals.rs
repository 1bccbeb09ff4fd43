//! Signals: atomics of every order, wait conditions and timeouts, waiting for any of several, handlers, and all of it
//! between threads.

use crate::constants::*;
use crate::ffi::*;
use crate::setup::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const ORDERS: [&str; 7] =
    ["acq_rel", "acquire", "relaxed", "release", "scacq_screl", "scacquire", "screlease"];

type Update = unsafe extern "C" fn(Signal, Value);
type Exchange = unsafe extern "C" fn(Signal, Value) -> Value;
type Cas = unsafe extern "C" fn(Signal, Value, Value) -> Value;

/// Ticks of the system's clock.
fn ticks(time: Duration) -> u64 {
    let frequency: u64 = attribute(|p| hsa_system_get_info(SYSTEM_INFO_TIMESTAMP_FREQUENCY, p));
    (time.as_secs_f64() * frequency as f64) as u64
}

#[test]
fn atomics_of_every_order() {
    system();
    let signal = OwnSignal::new(0);
    for order in ORDERS {
        let update = |operation: &str, from: Value, operand: Value| {
            let f: Update = function(&format!("hsa_signal_{operation}_{order}"));
            hsa_signal_store_relaxed(signal.0, from);
            // SAFETY: the signal is alive.
            unsafe { f(signal.0, operand) };
            signal.load()
        };
        assert_eq!(update("add", 40, 2), 42);
        assert_eq!(update("add", i64::MAX, 1), i64::MIN);
        assert_eq!(update("subtract", 40, 50), -10);
        assert_eq!(update("and", 0x0ff0_1234_5678_9abc, 0x00ff_ffff_0000_ffff), 0x00f0_1234_0000_9abc);
        assert_eq!(update("or", 0x0f00_0000_0000_0001, 0x1000_0000_0000_0010), 0x1f00_0000_0000_0011);
        assert_eq!(update("xor", -1, 0xff), !0xff);
        let exchange: Exchange = function(&format!("hsa_signal_exchange_{order}"));
        let cas: Cas = function(&format!("hsa_signal_cas_{order}"));
        hsa_signal_store_screlease(signal.0, 7);
        // SAFETY: the signal is alive.
        unsafe {
            assert_eq!(exchange(signal.0, -8), 7);
            assert_eq!(cas(signal.0, 1, 2), -8);
            assert_eq!(signal.load(), -8);
            assert_eq!(cas(signal.0, -8, 9), -8);
        }
        assert_eq!(hsa_signal_load_relaxed(signal.0), 9);
    }
    for order in ["relaxed", "release", "screlease"] {
        let store: Update = function(&format!("hsa_signal_store_{order}"));
        // SAFETY: the signal is alive.
        unsafe { store(signal.0, 1 << 40) };
        assert_eq!(signal.load(), 1 << 40);
    }
    hsa_signal_silent_store_relaxed(signal.0, 3);
    assert_eq!(signal.load(), 3);
    hsa_signal_silent_store_screlease(signal.0, 4);
    assert_eq!(signal.load(), 4);
}

/// The handle is the address of the structure that device code reads.
#[test]
fn a_signal_lies_in_memory() {
    system();
    let signal = OwnSignal::new(-77);
    assert_eq!(signal.0.handle % 64, 0);
    // SAFETY: a signal's handle is the address of an `amd_signal_t` (ROCm code object format, "Signals").
    let inside = unsafe { &*(signal.0.handle as *const AmdSignal) };
    assert_eq!(inside.kind, 1);
    assert_eq!(inside.value, -77);
    let mut pointer = null_mut();
    ok(hsa_amd_signal_value_pointer(signal.0, &mut pointer));
    assert_eq!(pointer as u64, signal.0.handle + 8);
}

#[test]
fn conditions_and_timeouts() {
    system();
    let signal = OwnSignal::new(5);
    let wait = |condition, compare| {
        let began = Instant::now();
        let timeout = ticks(Duration::from_millis(30));
        let value = hsa_signal_wait_scacquire(signal.0, condition, compare, timeout, WAIT_STATE_BLOCKED);
        assert_eq!(value, 5);
        began.elapsed() < Duration::from_millis(20)
    };
    for (condition, compare, met) in [
        (SIGNAL_CONDITION_EQ, 5, true),
        (SIGNAL_CONDITION_EQ, 6, false),
        (SIGNAL_CONDITION_NE, 6, true),
        (SIGNAL_CONDITION_NE, 5, false),
        (SIGNAL_CONDITION_LT, 6, true),
        (SIGNAL_CONDITION_LT, 5, false),
        (SIGNAL_CONDITION_LT, -6, false),
        (SIGNAL_CONDITION_GTE, 5, true),
        (SIGNAL_CONDITION_GTE, -6, true),
        (SIGNAL_CONDITION_GTE, 6, false),
    ] {
        assert_eq!(wait(condition, compare), met, "condition {condition} with {compare}");
    }
    // No time at all.
    let value = hsa_signal_wait_relaxed(signal.0, SIGNAL_CONDITION_EQ, 0, 0, WAIT_STATE_ACTIVE);
    assert_eq!(value, 5);
}

/// Two threads hand a value to and fro; neither misses the other's.
#[test]
fn ping_pong() {
    system();
    let (ping, pong) = (OwnSignal::new(0), OwnSignal::new(0));
    let turn = |mine: Signal, theirs: Signal, first: bool, state: u32| {
        for round in 1..=2000 {
            if first {
                hsa_signal_store_screlease(theirs, round);
            }
            while hsa_signal_wait_scacquire(mine, SIGNAL_CONDITION_GTE, round, u64::MAX, state) < round {}
            if !first {
                hsa_signal_store_screlease(theirs, round);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| turn(ping.0, pong.0, true, WAIT_STATE_BLOCKED));
        scope.spawn(|| turn(pong.0, ping.0, false, WAIT_STATE_ACTIVE));
    });
    assert_eq!((ping.load(), pong.load()), (2000, 2000));
}

/// Many threads wait for one signal; all wake.
#[test]
fn all_waiters_wake() {
    system();
    let (go, here) = (OwnSignal::new(1), OwnSignal::new(8));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                hsa_signal_subtract_screlease(here.0, 1);
                go.wait();
            });
        }
        here.wait();
        std::thread::sleep(Duration::from_millis(5));
        hsa_signal_store_screlease(go.0, 0);
    });
}

/// Atomics from several threads lose nothing.
#[test]
fn contended_updates() {
    system();
    let signal = OwnSignal::new(0);
    std::thread::scope(|scope| {
        for k in 0..4i64 {
            let signal = &signal;
            scope.spawn(move || {
                for _ in 0..5000 {
                    hsa_signal_add_screlease(signal.0, k + 1);
                    hsa_signal_subtract_screlease(signal.0, k);
                }
            });
        }
    });
    assert_eq!(signal.load(), 20_000);
}

#[test]
fn any_of_several() {
    system();
    let signals: Vec<OwnSignal> = (0..5).map(|_| OwnSignal::new(10)).collect();
    let mut handles: Vec<Signal> = signals.iter().map(|s| s.0).collect();
    let mut conditions = [SIGNAL_CONDITION_LT; 5];
    let mut values = [1; 5];
    let mut seen = 0;
    let mut wait = |timeout| {
        let state = WAIT_STATE_BLOCKED;
        let (s, c, v) = (handles.as_mut_ptr(), conditions.as_mut_ptr(), values.as_mut_ptr());
        (hsa_amd_signal_wait_any(5, s, c, v, timeout, state, &mut seen), seen)
    };
    // None within the time: no index.
    assert_eq!(wait(ticks(Duration::from_millis(10))).0, u32::MAX);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(10));
            hsa_signal_store_screlease(signals[3].0, -4);
        });
        assert_eq!(wait(u64::MAX), (3, -4));
    });
    hsa_signal_store_screlease(signals[3].0, 10);
    hsa_signal_store_screlease(signals[0].0, 0);
    assert_eq!(wait(u64::MAX), (0, 0));
}

#[test]
fn groups_of_signals() {
    let system = system();
    let (a, b) = (OwnSignal::new(1), OwnSignal::new(1));
    let signals = [a.0, b.0];
    let mut group = SignalGroup::default();
    ok(hsa_signal_group_create(2, signals.as_ptr(), 1, &system.cpu, &mut group));
    let (conditions, values) = ([SIGNAL_CONDITION_EQ, SIGNAL_CONDITION_GTE], [7, 9]);
    let (mut which, mut value) = (Signal::default(), 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(5));
            hsa_signal_store_screlease(b.0, 12);
        });
        for wait in [hsa_signal_group_wait_any_scacquire, hsa_signal_group_wait_any_relaxed] {
            let (c, v) = (conditions.as_ptr(), values.as_ptr());
            ok(wait(group, c, v, WAIT_STATE_BLOCKED, &mut which, &mut value));
            assert_eq!((which, value), (b.0, 12));
        }
    });
    ok(hsa_signal_group_destroy(group));
}

/// What a handler has seen.
#[derive(Default)]
struct Seen {
    calls: AtomicUsize,
    last: AtomicI64,
    again: usize,
}

unsafe extern "C" fn handler(value: Value, data: *mut c_void) -> bool {
    // SAFETY: the tests hand over a `Seen` that outlives the handler.
    let seen = unsafe { &*data.cast::<Seen>() };
    let again = seen.again;
    seen.last.store(value, Ordering::SeqCst);
    // From the last call on it may be gone.
    seen.calls.fetch_add(1, Ordering::SeqCst) + 1 < again
}

#[track_caller]
fn eventually(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed().as_secs() < 20, "it does not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A handler is called once when its condition holds, and again as long as it returns true.
#[test]
fn handlers() {
    system();
    let signal = OwnSignal::new(3);
    let once = Seen::default();
    let data = (&raw const once).cast_mut().cast();
    ok(hsa_amd_signal_async_handler(signal.0, SIGNAL_CONDITION_LT, 1, Some(handler), data));
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(once.calls.load(Ordering::SeqCst), 0);
    hsa_signal_subtract_screlease(signal.0, 3);
    eventually(|| once.calls.load(Ordering::SeqCst) == 1);
    assert_eq!(once.last.load(Ordering::SeqCst), 0);
    hsa_signal_subtract_screlease(signal.0, 3);
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(once.calls.load(Ordering::SeqCst), 1);

    // The condition goes on to hold: the handler is called until it says that it has enough.
    let thrice = Seen { again: 3, ..Seen::default() };
    let data = (&raw const thrice).cast_mut().cast();
    ok(hsa_amd_signal_async_handler(signal.0, SIGNAL_CONDITION_EQ, -3, Some(handler), data));
    eventually(|| thrice.calls.load(Ordering::SeqCst) == 3);
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(thrice.calls.load(Ordering::SeqCst), 3);

    unsafe extern "C" fn called(data: *mut c_void) {
        // SAFETY: the counter below, which outlives the call.
        unsafe { &*data.cast::<AtomicUsize>() }.fetch_add(1, Ordering::SeqCst);
    }
    let calls = AtomicUsize::new(0);
    ok(hsa_amd_async_function(Some(called), (&raw const calls).cast_mut().cast()));
    eventually(|| calls.load(Ordering::SeqCst) == 1);
}

/// Many handlers at once.
#[test]
fn a_hundred_handlers() {
    system();
    let signals: Vec<OwnSignal> = (0..100).map(|_| OwnSignal::new(1)).collect();
    let seen = Seen::default();
    let data: *mut c_void = (&raw const seen).cast_mut().cast();
    for signal in &signals {
        ok(hsa_amd_signal_async_handler(signal.0, SIGNAL_CONDITION_LT, 1, Some(handler), data));
    }
    std::thread::scope(|scope| {
        for half in signals.chunks(50) {
            scope.spawn(|| half.iter().for_each(|s| hsa_signal_store_screlease(s.0, 0)));
        }
    });
    eventually(|| seen.calls.load(Ordering::SeqCst) == 100);
}

#[test]
fn signals_for_some_agents_and_of_other_kinds() {
    let system = system();
    let agents = [system.cpu, system.gpu];
    let mut signal = Signal::default();
    ok(hsa_signal_create(6, 2, agents.as_ptr(), &mut signal));
    assert_eq!(hsa_signal_load_scacquire(signal), 6);
    ok(hsa_signal_destroy(signal));
    for attributes in [0, u64::from(AMD_SIGNAL_AMD_GPU_ONLY)] {
        ok(hsa_amd_signal_create(-6, 0, null(), attributes, &mut signal));
        assert_eq!(hsa_signal_load_scacquire(signal), -6);
        ok(hsa_signal_destroy(signal));
    }
}
