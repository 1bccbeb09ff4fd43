//! How waves get their turns.

use super::*;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

#[test]
fn barriers_wait_for_waves_that_have_not_ended() {
    // Wave 0 ends at once; the others meet at two barriers. s30 counts what a wave has done.
    for threads in [1, 4] {
        let arrived = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let counts = arrived.clone();
        let device = device("gfx90a", threads, move |wave, _, _, _| {
            let first = wave.sgpr(1) >> 31 == 1;
            let step = wave.sgpr(30);
            wave.set_sgpr(30, step + 1);
            if first || step == 2 {
                return Event::End;
            }
            if step == 1 {
                assert_eq!(
                    counts[0].load(Ordering::SeqCst) % 3,
                    0,
                    "all three waves came to the first barrier"
                );
            }
            counts[step as usize].fetch_add(1, Ordering::SeqCst);
            Event::Barrier
        });
        let data = kernel("gfx90a", ".amdhsa_system_sgpr_workgroup_info 1");
        let groups = if threads == 1 { 1 } else { 50 };
        let done = launch(&device, data, &sizes(&[256 * groups], &[256])).unwrap();
        assert!(done.fault.is_none());
        assert_eq!(done.waves, 4 * u64::from(groups));
        assert_eq!(arrived[1].load(Ordering::SeqCst), 3 * groups);
    }
}

#[test]
fn a_work_group_may_wait_for_a_later_one() {
    // Each work-group waits for the next to have passed: the last one goes first.
    for threads in [1, 3] {
        let passed = Arc::new(AtomicU64::new(64));
        let device = device("gfx90a", threads, move |wave, _, _, budget| {
            wave.counters.class[0] += budget;
            let id = u64::from(wave.sgpr(0));
            if passed.load(Ordering::SeqCst) == id + 1 {
                passed.store(id, Ordering::SeqCst);
                return Event::End;
            }
            Event::Preempted
        });
        let done = launch(&device, kernel("gfx90a", ""), &sizes(&[64 * 64], &[64])).unwrap();
        assert!(done.fault.is_none());
        assert_eq!(done.waves, 64);
    }
}

#[test]
fn every_work_group_runs_once() {
    let seen: Arc<Vec<AtomicU32>> = Arc::new((0..10_000).map(|_| AtomicU32::new(0)).collect());
    let into = seen.clone();
    let device = device("gfx90a", 4, move |wave, _, _, _| {
        wave.counters.class[3] += 7;
        wave.counters.exact += 7;
        into[wave.sgpr(0) as usize].fetch_add(1, Ordering::Relaxed);
        Event::End
    });
    let done = launch(&device, kernel("gfx90a", ""), &sizes(&[640_000], &[64])).unwrap();
    assert!(seen.iter().all(|n| n.load(Ordering::Relaxed) == 1));
    assert_eq!((done.counters.total(), done.counters.exact, done.work_groups), (70_000, 70_000, 10_000));
}

#[test]
fn time_runs_out() {
    let device = device("gfx90a", 2, |wave, _, _, budget| {
        wave.counters.class[0] += budget;
        std::thread::sleep(Duration::from_millis(1));
        Event::Preempted
    });
    let how = Launch { timeout: Some(Duration::from_millis(30)), ..sizes(&[512], &[64]) };
    let report = launch(&device, kernel("gfx90a", ""), &how).unwrap().fault.unwrap();
    assert_eq!(report.kind, "timeout");
}

#[test]
fn a_failing_engine_is_a_report() {
    let device = device("gfx90a", 2, |_, _, _, _| panic!("a test panic"));
    let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        launch(&device, kernel("gfx90a", ""), &sizes(&[512], &[64]))
    }));
    assert!(run.is_err() || run.is_ok_and(|r| r.is_ok_and(|d| d.fault.is_some())));
}
