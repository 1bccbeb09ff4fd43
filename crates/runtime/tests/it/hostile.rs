//! Waves, other processes and careless programs: what they can write is not trusted, and what they take away is missed by
//! nobody.

use crate::queues::{KERNEL_DISPATCH, LONG, dispatch, load, queue, submit, system};
use std::collections::HashSet;
use std::io::{Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wavemill_device::Use;
use wavemill_device::aql::signal_field as field;
use wavemill_runtime::executable::Executable;
use wavemill_runtime::heap::{Gpus, Origin};
use wavemill_runtime::queue::QueueRef;
use wavemill_runtime::signal::{Condition, Signal};
use wavemill_testing::processor_time;
use wavemill_wave::{Event, Memory};

/// Stores to all words of an object that a wave may write, but those at some offsets.
fn poison(memory: &Memory, at: u64, value: u64, keep: &[u64]) {
    let range = memory.find(at).expect("waves see it");
    assert!(range.writable);
    for offset in (0..range.end.min(at + 256) - at).step_by(8).filter(|o| !keep.contains(o)) {
        // SAFETY: what a wave's store does, in memory that waves may write.
        unsafe { (*((at + offset) as *const AtomicU64)).store(value, Ordering::SeqCst) };
    }
}

#[test]
fn the_fields_of_a_queue_are_not_trusted() {
    let victim: Arc<Vec<u64>> = Arc::new(vec![2; 4096]);
    let (target, attacked) = (victim.as_ptr() as u64, Arc::new(AtomicU64::new(0)));
    let at = attacked.clone();
    let system = system(1, move |_, _, memory, _| {
        // The indices are the producer's own; all else is for the attack.
        poison(memory, at.load(Ordering::SeqCst), target, &[56, 128]);
        Event::End
    });
    let mut executable = Executable::default();
    let kernel = load(&system, &mut executable);
    let (queue, errors) = queue(&system, 64);
    let (ring, id) = (queue.ring(), queue.id());
    attacked.store(queue.address(), Ordering::SeqCst);
    let done = system.signal(200).unwrap();
    for _ in 0..200 {
        submit(queue, KERNEL_DISPATCH, dispatch(kernel, done));
    }
    assert_eq!(done.wait(Condition::Eq, 0, LONG, false), 0);
    assert_eq!((queue.size(), queue.ring(), queue.id()), (64, ring, id));
    assert!(errors.lock().unwrap().is_empty());
    assert!(victim.iter().all(|word| *word == 2), "the host's memory was written");
    assert!(system.destroy_queue(queue) && QueueRef::from_address(queue.address()).is_none());
}

#[test]
fn the_fields_of_a_signal_are_not_trusted() {
    let system = system(1, |_, _, _, _| Event::End);
    let memory = system.gpus()[0].device.memory().memory();
    for value in [0, 1, -1i64 as u64, -2i64 as u64, 0x1234_5678_9abc_def0] {
        let signal = system.signal(7).unwrap();
        poison(memory, signal.handle(), value, &[field::VALUE]);
        assert_eq!(Signal::from_handle(signal.handle()), Some(signal));
        signal.complete(1, 2);
        assert_eq!(signal.value().load(Ordering::SeqCst), 6);
        assert_eq!(signal.queue(), 0);
        assert!(signal.destroy());
        // Nor is one brought back to life, to be destroyed a second time.
        poison(memory, signal.handle(), value, &[]);
        assert!(Signal::from_handle(signal.handle()).is_none() && !signal.destroy());
    }
    let many: Vec<Signal> = (0..10_000).map(|_| system.signal(0).unwrap()).collect();
    let different: HashSet<u64> = many.iter().map(|s| s.handle()).collect();
    assert_eq!(different.len(), many.len());
    many.into_iter().for_each(|s| assert!(s.destroy()));
}

#[test]
fn nobody_waits_for_a_destroyed_signal() {
    let system = system(1, |_, _, _, _| Event::End);
    let signal = system.signal(1).unwrap();
    let (queue, _) = queue(&system, 64);
    let done = system.signal(1).unwrap();
    submit(queue, crate::queues::BARRIER_AND, crate::queues::barrier(&[signal], done));
    let waiter = std::thread::spawn(move || signal.wait(Condition::Eq, 0, None, false));
    std::thread::sleep(Duration::from_millis(50));
    assert!(signal.destroy());
    assert_eq!(waiter.join().unwrap(), 1);
    assert_eq!(done.wait(Condition::Eq, 0, LONG, false), 0);
    assert!(system.destroy_queue(queue));
}

#[test]
fn shared_signals_do_not_run_out() {
    let system = system(1, |_, _, _, _| Event::End);
    let began = processor_time();
    for i in 0..70_000 {
        let signal = system.shared_signal(i).unwrap_or_else(|| panic!("no signal after {i}"));
        assert!(signal.destroy());
    }
    assert!(processor_time() - began < Duration::from_secs(60));
}

#[test]
fn forged_handles_are_refused_and_nothing_is_written() {
    let system = system(1, |_, _, _, _| Event::End);
    let me = std::process::id();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("forged");
    let mut content = vec![0u8; 8192];
    content[0] = 1; // What the kind of a signal is.
    std::fs::write(&path, &content).unwrap();
    let mut file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    let memfd = rustix::fs::memfd_create("wavemill-signal", rustix::fs::MemfdFlags::empty()).unwrap();
    let mut unsealed = std::fs::File::from(memfd);
    unsealed.write_all(&content).unwrap();
    for file in [&mut file, &mut unsealed] {
        let number = file.as_raw_fd();
        assert!(system.attach_signal(me, number).is_none());
        assert!(system.heap.attach(me, number, 4096, Gpus::first(1)).is_err());
        file.rewind().unwrap();
        let mut now = Vec::new();
        file.read_to_end(&mut now).unwrap();
        assert!(now == content, "a foreign file was written");
    }
    // One kind is not the other.
    let signal = system.shared_signal(5).unwrap();
    let number = signal.shared_file().unwrap();
    assert!(system.heap.attach(me, number, 4096, Gpus::first(1)).is_err());
    let again = system.attach_signal(me, number).unwrap();
    assert_eq!(again.value().load(Ordering::SeqCst), 5);
    assert!(again.destroy() && signal.destroy());
    assert!(system.attach_signal(me, -1).is_none() && system.attach_signal(0, 0).is_none());
}

#[test]
fn nobody_cuts_shared_memory_off() {
    let system = system(1, |_, _, _, _| Event::End);
    let block = system.heap.allocate(1 << 16, Origin::Pool(1, 0), Use::Device, Gpus::first(1)).unwrap();
    let (number, len) = system.heap.share(block).unwrap().unwrap();
    assert_eq!(len, 1 << 16);
    let path = format!("/proc/self/fd/{number}");
    let other = std::fs::File::options().read(true).write(true).open(path).unwrap();
    assert!(other.set_len(0).is_err() && other.set_len(1 << 20).is_err());
    assert!(system.heap.free(block));
}

#[test]
fn allocations_have_gaps_and_take_linear_time() {
    const COUNT: usize = 60_000;
    let system = system(1, |_, _, _, _| Event::End);
    let memory = system.gpus()[0].device.memory().memory();
    let began = processor_time();
    let sizes = [4096, 1, 64, 4095, 5000];
    let blocks: Vec<(u64, u64)> = (0..COUNT)
        .map(|i| {
            let len = sizes[i % sizes.len()];
            let at = system.heap.allocate(len, Origin::Pool(1, 0), Use::Device, Gpus::first(1)).unwrap();
            assert!(at.is_multiple_of(4096));
            (at, len)
        })
        .collect();
    let took = processor_time() - began;
    assert!(took < Duration::from_secs(15), "{took:?}");
    assert_eq!(system.heap.used(1), (0..COUNT).map(|i| sizes[i % sizes.len()]).sum());
    for (at, len) in &blocks {
        let last = (at + len).next_multiple_of(4096);
        for outside in [at - 4096, at - 1, at + len, last, last + 4095] {
            assert_eq!(memory.find(outside), None, "{len} bytes at {at:#x}");
        }
    }
    for (at, _) in blocks {
        assert!(system.heap.free(at));
    }
    assert_eq!(system.heap.used(1), 0);
}

#[test]
fn what_is_not_mapped_is_not_locked() {
    let system = system(1, |_, _, _, _| Event::End);
    // SAFETY: nothing is accessed.
    assert!(unsafe { system.heap.lock(0x1000, 4096, Gpus::first(1)) }.is_err());
    static CONSTANT: [u64; 4] = [1; 4];
    let memory = system.gpus()[0].device.memory().memory();
    // SAFETY: a static; it is only looked at.
    let seen = unsafe { system.heap.lock(&raw const CONSTANT as u64, 32, Gpus::first(1)) }.unwrap();
    assert!(!memory.find(seen).unwrap().writable);
    assert_eq!((memory.find(seen - 1), memory.find(seen + 32)), (None, None));
    assert!(system.heap.unlock(&raw const CONSTANT as u64));
}
