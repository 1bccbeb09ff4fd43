//! Queues, signals and memory of a system, with engines made for the test.

use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use wavemill_device::aql::{DispatchPacket, PACKET_SIZE};
use wavemill_device::{Options, Profile, Use};
use wavemill_isa::target::{Target, processor};
use wavemill_runtime::agent::{flag, gpu_pools, host_pools, segment};
use wavemill_runtime::executable::Executable;
use wavemill_runtime::heap::{Gpus, Origin};
use wavemill_runtime::signal::{Condition, Signal, Wanted, wait_any};
use wavemill_runtime::svm::Svm;
use wavemill_runtime::system::{Setup, System};
use wavemill_runtime::{packet::QueueError, processor::QueueRequest, queue::QueueRef};
use wavemill_testing::{Fake, kernel, object};
use wavemill_wave::{Event, GroupShared, Memory, Wave};

pub const KERNEL_DISPATCH: u16 = 2;
pub const BARRIER_AND: u16 = 3;
const BARRIER_OR: u16 = 5;
const BARRIER_BIT: u16 = 1 << 8;

/// A system whose waves do what a closure says.
pub fn system<F>(gpus: usize, run: F) -> Arc<System>
where
    F: Fn(&mut Wave, &GroupShared, &Memory, u64) -> Event + Send + Sync + Clone + 'static,
{
    System::new(Setup {
        profile: Profile::named("mi210").unwrap(),
        target: Target::new(processor("gfx90a").unwrap()),
        gpus,
        options: Options { threads: 2, ..Options::default() },
        engine: Box::new(move |_| Arc::new(Fake(run.clone()))),
        journal: None,
        log: None,
        observer: None,
        observers: Default::default(),
    })
}

/// Loads the kernel `k`; the address of its descriptor.
pub fn load(system: &System, executable: &mut Executable) -> u64 {
    executable.load(&system.gpus()[0], "test", &kernel("gfx90a", ""), (0, 0)).unwrap();
    executable.find("k", Some(0)).unwrap().address
}

pub type Errors = Arc<Mutex<Vec<QueueError>>>;

pub fn queue(system: &Arc<System>, size: u32) -> (QueueRef, Errors) {
    let errors = Errors::default();
    let seen = errors.clone();
    let on_error = Box::new(move |_: QueueRef, e: &QueueError| seen.lock().unwrap().push(e.clone()));
    let request = QueueRequest { size, kind: 0, on_error, observers: Default::default() };
    (system.create_queue(&system.gpus()[0], request).unwrap(), errors)
}

/// Puts a packet into a queue and rings the doorbell.
pub fn submit(queue: QueueRef, header: u16, mut bytes: [u8; PACKET_SIZE]) {
    let index = queue.write_index().fetch_add(1, Ordering::SeqCst);
    while index - queue.read_index().load(Ordering::SeqCst) >= u64::from(queue.size()) {
        std::thread::yield_now();
    }
    bytes[..2].copy_from_slice(&1u16.to_le_bytes());
    let at = queue.ring() + index % u64::from(queue.size()) * PACKET_SIZE as u64;
    // SAFETY: the packet is ours between taking its index and setting its header.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr().add(2), (at as *mut u8).add(2), PACKET_SIZE - 2);
        (*(at as *const AtomicU16)).store(header, Ordering::Release);
    }
    queue.ring_doorbell(index, wavemill_runtime::signal::Kind::Doorbell);
}

pub fn dispatch(kernel: u64, completion: Signal) -> [u8; PACKET_SIZE] {
    DispatchPacket {
        setup: 1,
        workgroup_size: [64, 1, 1],
        grid_size: [64, 1, 1],
        kernel_object: kernel,
        completion_signal: completion.handle(),
        ..DispatchPacket::default()
    }
    .to_bytes()
}

pub fn barrier(signals: &[Signal], completion: Signal) -> [u8; PACKET_SIZE] {
    let mut bytes = [0; PACKET_SIZE];
    for (i, s) in signals.iter().enumerate() {
        bytes[8 + 8 * i..16 + 8 * i].copy_from_slice(&s.handle().to_le_bytes());
    }
    bytes[56..].copy_from_slice(&completion.handle().to_le_bytes());
    bytes
}

pub const LONG: Option<Duration> = Some(Duration::from_secs(60));

#[test]
fn four_producers_wrap_around() {
    let ran = Arc::new(AtomicUsize::new(0));
    let count = ran.clone();
    let system = system(1, move |_, _, _, _| {
        count.fetch_add(1, Ordering::Relaxed);
        Event::End
    });
    let mut executable = Executable::default();
    let kernel = load(&system, &mut executable);
    let (queue, errors) = queue(&system, 64);
    const EACH: i64 = 500;
    let done = system.signal(4 * EACH).unwrap();
    std::thread::scope(|s| {
        for producer in 0..4 {
            s.spawn(move || {
                for i in 0..EACH {
                    let bit = if (i + producer) % 3 == 0 { BARRIER_BIT } else { 0 };
                    submit(queue, KERNEL_DISPATCH | bit, dispatch(kernel, done));
                }
            });
        }
    });
    assert_eq!(done.wait(Condition::Eq, 0, LONG, false), 0);
    assert_eq!(ran.load(Ordering::Relaxed), 4 * EACH as usize);
    let (start, end) = done.times();
    assert!(start > 0 && end >= start);
    assert!(errors.lock().unwrap().is_empty());
    // The read index follows right after the signal.
    let began = Instant::now();
    while queue.read_index().load(Ordering::SeqCst) != 4 * EACH as u64 {
        assert!(began.elapsed() < Duration::from_secs(10));
    }
    assert!(system.destroy_queue(queue) && !system.destroy_queue(queue));
    assert!(QueueRef::from_address(queue.address()).is_none());
}

#[test]
fn barriers_wait_for_all_or_one() {
    let system = system(1, |_, _, _, _| Event::End);
    let (queue, _) = queue(&system, 64);
    let [a, b, c] = [(); 3].map(|()| system.signal(1).unwrap());
    let [and, or] = [(); 2].map(|()| system.signal(1).unwrap());
    submit(queue, BARRIER_AND | BARRIER_BIT, barrier(&[a, b], and));
    submit(queue, BARRIER_OR, barrier(&[b, c], or));
    let short = Some(Duration::from_millis(30));
    a.value().store(0, Ordering::SeqCst);
    a.changed();
    assert_eq!(and.wait(Condition::Eq, 0, short, false), 1, "one of two is not all");
    b.value().store(0, Ordering::SeqCst);
    b.changed();
    assert_eq!(and.wait(Condition::Eq, 0, LONG, false), 0);
    assert_eq!(or.wait(Condition::Eq, 0, LONG, false), 0, "one of two is one");
    system.destroy_queue(queue);
}

#[test]
fn kernels_without_the_barrier_bit_run_side_by_side() {
    // The first wave waits for the second one.
    let started = Arc::new(AtomicUsize::new(0));
    let count = started.clone();
    let system = system(1, move |wave, _, _, _| {
        if wave.scc {
            return if count.load(Ordering::SeqCst) >= 2 { Event::End } else { Event::Preempted };
        }
        wave.scc = true;
        count.fetch_add(1, Ordering::SeqCst);
        Event::Preempted
    });
    let mut executable = Executable::default();
    let kernel = load(&system, &mut executable);
    let (queue, _) = queue(&system, 64);
    let done = system.signal(2).unwrap();
    submit(queue, KERNEL_DISPATCH, dispatch(kernel, done));
    std::thread::sleep(Duration::from_millis(20));
    submit(queue, KERNEL_DISPATCH, dispatch(kernel, done));
    assert_eq!(done.wait(Condition::Eq, 0, LONG, false), 0);
    system.destroy_queue(queue);
}

/// A dispatch of which a work-group runs, and whether a thread of the GPU's runs it, not the queue's own.
type Running = (usize, bool);

/// Free host threads help the queue of the highest priority first, not the one that came first. A GPU of two threads has
/// one to spare beside those of its queues: it is kept busy until two queues wait for it.
#[test]
fn free_threads_help_the_highest_priority_first() {
    const TAGS: usize = 3;
    for order in [[0, 2], [2, 0], [1, 2], [0, 1]] {
        let open = Arc::new(AtomicUsize::new(0));
        let seen: Arc<Mutex<Vec<Running>>> = Arc::default();
        let (gate, log) = (open.clone(), seen.clone());
        let system = system(1, move |wave, _, _, _| {
            // The dispatch is known by the address of its arguments; a wave says once that it runs.
            let tag = wave.sgpr(0) as usize;
            let helps = std::thread::current().name() == Some("wavemill-0");
            log.lock().unwrap().push((tag, helps));
            // It stays on this thread: nothing can be parked.
            while gate.load(Ordering::SeqCst) >> tag & 1 == 0 {
                std::thread::yield_now();
            }
            Event::End
        });
        let mut executable = Executable::default();
        let lines = ".amdhsa_user_sgpr_kernarg_segment_ptr 1";
        executable.load(&system.gpus()[0], "test", &kernel("gfx90a", lines), (0, 0)).unwrap();
        let object = executable.find("k", Some(0)).unwrap().address;
        let done = system.signal(TAGS as i64).unwrap();
        let wait = |what: &str, until: &dyn Fn(&[Running]) -> bool| {
            let began = Instant::now();
            while !until(&seen.lock().unwrap()) {
                assert!(began.elapsed() < Duration::from_secs(60), "{what}");
                std::thread::yield_now();
            }
        };
        let start = |tag: usize, priority: u32| {
            let (at, _) = queue(&system, 64);
            system.queue(at).unwrap().set_priority(priority);
            let packet = DispatchPacket {
                setup: 1,
                workgroup_size: [64, 1, 1],
                grid_size: [128, 1, 1],
                kernel_object: object,
                kernarg_address: tag as u64,
                completion_signal: done.handle(),
                ..DispatchPacket::default()
            };
            submit(at, KERNEL_DISPATCH, packet.to_bytes());
            at
        };
        let mut queues = vec![start(0, 1)];
        wait("two threads run the first dispatch", &|s| s.len() == 2 && s.contains(&(0, true)));
        for (i, priority) in order.into_iter().enumerate() {
            queues.push(start(i + 1, priority));
            wait("its queue runs a dispatch", &|s| s.contains(&(i + 1, false)));
        }
        open.store(1, Ordering::SeqCst);
        wait("the free thread helps", &|s| s.len() == 5);
        let helped = seen.lock().unwrap()[4];
        let highest = if order[0] > order[1] { 1 } else { 2 };
        open.store(!0, Ordering::SeqCst);
        assert_eq!(helped, (highest, true), "priorities {order:?}");
        assert_eq!(done.wait(Condition::Eq, 0, LONG, false), 0);
        queues.into_iter().for_each(|q| assert!(system.destroy_queue(q)));
    }
}

#[test]
fn errors_stop_the_queue_and_are_told() {
    let system = system(1, |_, _, _, _| Event::Trap(2));
    let mut executable = Executable::default();
    let kernel = load(&system, &mut executable);
    let none = system.signal(1).unwrap();
    let wait = |errors: &Errors| {
        let began = Instant::now();
        while errors.lock().unwrap().is_empty() {
            assert!(began.elapsed() < Duration::from_secs(60), "nobody was told");
            std::thread::yield_now();
        }
        errors.lock().unwrap().remove(0)
    };
    let (trapping, errors) = queue(&system, 64);
    submit(trapping, KERNEL_DISPATCH, dispatch(kernel, none));
    let QueueError::Fault(report) = wait(&errors) else { panic!("a trap is a fault") };
    assert_eq!((report.kind, report.kernel.as_str()), ("trap", "k"));
    let (unknown, errors) = queue(&system, 64);
    submit(unknown, 77, [0; PACKET_SIZE]);
    assert!(matches!(wait(&errors), QueueError::Packet(_)));
    let (nowhere, errors) = queue(&system, 64);
    submit(nowhere, KERNEL_DISPATCH, dispatch(kernel + 64, none));
    assert!(
        matches!(wait(&errors), QueueError::Dispatch(e) if e.kind == wavemill_device::dispatch::DispatchErrorKind::Code)
    );
    assert_eq!(none.value().load(Ordering::SeqCst), 1, "what fails is not completed");
    [trapping, unknown, nowhere].into_iter().for_each(|q| assert!(system.destroy_queue(q)));
}

/// Reserved bits must be 0, there are fences of three scopes, and signals must exist (HSA Platform System Architecture
/// Specification, AQL). The last reserved word is HIP's.
#[test]
fn malformed_packets_stop_the_queue() {
    let ran = Arc::new(AtomicUsize::new(0));
    let count = ran.clone();
    let system = system(1, move |_, _, _, _| {
        count.fetch_add(1, Ordering::SeqCst);
        Event::End
    });
    let mut executable = Executable::default();
    let kernel = load(&system, &mut executable);
    let done = system.signal(1).unwrap();
    let good = dispatch(kernel, done);
    let with = |from: usize, bytes: &[u8]| {
        let mut packet = good;
        packet[from..from + bytes.len()].copy_from_slice(bytes);
        packet
    };
    let junk = 0x1234u64.to_le_bytes();
    let barrier = |from: usize| {
        let mut packet = [0; PACKET_SIZE];
        packet[from..from + 8].copy_from_slice(&junk);
        packet
    };
    for (header, packet, what) in [
        (KERNEL_DISPATCH | 1 << 13, good, "packet 0 has a header with reserved bits: 0x2002"),
        (
            KERNEL_DISPATCH | 3 << 9,
            good,
            "packet 0 has a fence of scope 3, which does not exist: header 0x0602",
        ),
        (
            KERNEL_DISPATCH | 3 << 11,
            good,
            "packet 0 has a fence of scope 3, which does not exist: header 0x1802",
        ),
        (KERNEL_DISPATCH, with(2, &[5]), "packet 0 has reserved bits that are not 0"),
        (KERNEL_DISPATCH, with(10, &[1]), "packet 0 has reserved bits that are not 0"),
        (KERNEL_DISPATCH, with(56, &junk), "packet 0 completes signal 0x1234, which does not exist"),
        (BARRIER_AND, barrier(56), "packet 0 completes signal 0x1234, which does not exist"),
        (BARRIER_OR, barrier(16), "packet 0 depends on signal 0x1234, which does not exist"),
        (
            BARRIER_AND,
            {
                let mut p = [0; PACKET_SIZE];
                p[4] = 1;
                p
            },
            "packet 0 has reserved bits that are not 0",
        ),
    ] {
        let (queue, errors) = queue(&system, 64);
        submit(queue, header, packet);
        let began = Instant::now();
        while errors.lock().unwrap().is_empty() {
            assert!(began.elapsed() < Duration::from_secs(60), "{what}: nobody was told");
            std::thread::yield_now();
        }
        assert!(matches!(&errors.lock().unwrap()[0], QueueError::Packet(text) if text == what), "{errors:?}");
        assert!(system.destroy_queue(queue));
    }
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    let (queue, errors) = queue(&system, 64);
    submit(queue, KERNEL_DISPATCH, with(48, &junk));
    assert_eq!(done.wait(Condition::Eq, 0, LONG, false), 0);
    assert!(errors.lock().unwrap().is_empty());
    assert!(system.destroy_queue(queue));
}

/// A code object uses what another one of its executable defines.
#[test]
fn code_objects_share_symbols() {
    let system = system(1, |_, _, _, _| Event::End);
    let gpu = &system.gpus()[0];
    let defines = object(
        "gfx90a",
        ".data\n.globl shared\n.type shared,@object\n.p2align 3\nshared:\n.quad 7\n.size shared, 8\n",
    );
    let uses = object(
        "gfx90a",
        ".data\n.globl pointer\n.type pointer,@object\n.p2align 3\npointer:\n.quad shared\n.size pointer, 8\n",
    );
    let mut alone = Executable::default();
    alone.load(gpu, "uses", &uses, (0, 0)).unwrap();
    // The HSA runtime's specification, hsa_executable_freeze: variables may be undefined until then, and no longer.
    let message = alone.freeze().unwrap_err().to_string();
    assert!(message.contains("nobody defines the symbol shared"), "{message}");
    assert!(!alone.is_frozen());
    for order in [[("defines", &defines), ("uses", &uses)], [("uses", &uses), ("defines", &defines)]] {
        let mut executable = Executable::default();
        for (name, object) in order {
            executable.load(gpu, name, object, (0, 0)).unwrap();
        }
        executable.freeze().unwrap();
        let address = |name: &str| executable.find(name, Some(0)).unwrap().address;
        let mut bytes = [0; 8];
        assert!(gpu.device.memory().memory().read(address("pointer"), &mut bytes));
        assert_eq!(u64::from_le_bytes(bytes), address("shared"), "{} first", order[0].0);
    }
}

#[test]
fn queues_end_in_the_middle_of_a_kernel() {
    let system = system(1, |_, _, _, _| Event::Preempted);
    let mut executable = Executable::default();
    let kernel = load(&system, &mut executable);
    let done = system.signal(1).unwrap();
    let (queue, errors) = queue(&system, 64);
    submit(queue, KERNEL_DISPATCH | BARRIER_BIT, dispatch(kernel, done));
    std::thread::sleep(Duration::from_millis(20));
    let began = Instant::now();
    assert!(system.destroy_queue(queue));
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(done.value().load(Ordering::SeqCst), 1);
    assert!(errors.lock().unwrap().is_empty(), "to end is no error");
}

#[test]
fn device_code_rings_doorbells_and_changes_signals() {
    // A wave stores to the word that a register names, as compiled code does, and tells nobody.
    let word = Arc::new(AtomicU64::new(0));
    let named = word.clone();
    let system = system(1, move |_, _, _, _| {
        let address = named.load(Ordering::SeqCst);
        if address != 0 {
            // SAFETY: the test gives the address of a live signal's value or doorbell.
            unsafe { &*(address as *const AtomicU64) }.store(0, Ordering::SeqCst);
        }
        Event::End
    });
    let mut executable = Executable::default();
    let kernel = load(&system, &mut executable);
    let (queue, _) = queue(&system, 64);
    let (told, done) = (system.signal(1).unwrap(), system.signal(1).unwrap());
    word.store(told.value().as_ptr() as u64, Ordering::SeqCst);
    let waiting = std::thread::spawn(move || {
        let began = Instant::now();
        (told.wait(Condition::Eq, 0, LONG, false), began.elapsed())
    });
    // The other thread sleeps by now.
    std::thread::sleep(Duration::from_millis(50));
    submit(queue, KERNEL_DISPATCH | BARRIER_BIT, dispatch(kernel, done));
    assert_eq!(waiting.join().unwrap().0, 0);
    assert_eq!(done.wait(Condition::Eq, 0, LONG, false), 0);
    system.destroy_queue(queue);
}

#[test]
fn signals_wake_and_time_out() {
    let system = system(0, |_, _, _, _| Event::End);
    let signal = system.signal(5).unwrap();
    assert_eq!(Signal::from_handle(signal.handle()), Some(signal));
    assert_eq!(Signal::from_handle(signal.handle() + 8), None);
    assert_eq!(Signal::from_handle(0), None);
    let began = Instant::now();
    assert_eq!(signal.wait(Condition::Lt, 5, Some(Duration::from_millis(20)), false), 5);
    assert!(began.elapsed() >= Duration::from_millis(20));
    let other = system.signal(0).unwrap();
    let wanted = [
        Wanted { signal, condition: Condition::Gte, compare: 9 },
        Wanted { signal: other, condition: Condition::Ne, compare: 0 },
    ];
    let thread = std::thread::spawn(move || wait_any(&wanted, LONG, None));
    std::thread::sleep(Duration::from_millis(20));
    other.value().store(-3, Ordering::SeqCst);
    other.changed();
    assert_eq!(thread.join().unwrap(), Some((1, -3)));
    let stop = AtomicBool::new(true);
    assert_eq!(wait_any(&wanted[..1], None, Some(&stop)), None);
    assert!(signal.destroy() && !signal.destroy());
    assert_eq!(Signal::from_handle(signal.handle()), None);
}

#[test]
fn handlers_run_when_signals_change() {
    let system = system(0, |_, _, _, _| Event::End);
    let signal = system.signal(3).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = seen.clone();
    let wanted = vec![Wanted { signal, condition: Condition::Lt, compare: 3 }];
    let done = system.signal(1).unwrap();
    system.handlers.when(
        wanted,
        Box::new(move |value| {
            list.lock().unwrap().push(value);
            signal.value().fetch_add(10, Ordering::SeqCst);
            if value == 1 {
                done.value().store(0, Ordering::SeqCst);
                done.changed();
            }
            // Once more for the first value, not for the second.
            value == 2
        }),
    );
    for value in [2, 1] {
        while signal.value().load(Ordering::SeqCst) < 3 {
            std::thread::yield_now();
        }
        signal.value().store(value, Ordering::SeqCst);
        signal.changed();
    }
    assert_eq!(done.wait(Condition::Eq, 0, LONG, false), 0);
    assert_eq!(*seen.lock().unwrap(), [2, 1]);
    system.handlers.stop();
}

#[test]
fn memory_is_seen_by_those_who_may() {
    let system = system(2, |_, _, _, _| Event::End);
    let sees = |gpu: usize, address: u64| system.gpus()[gpu].device.memory().find(address).is_some();
    let block = system.heap.allocate(10000, Origin::Pool(1, 0), Use::Device, Gpus::one(0)).unwrap();
    assert!(sees(0, block) && sees(0, block + 9999) && !sees(0, block + 10000) && !sees(1, block));
    assert!(system.heap.allow(block + 5, Gpus::one(1)).unwrap());
    assert!(sees(0, block) && sees(1, block), "its own GPU keeps it");
    assert!(system.heap.free(block) && !system.heap.free(block));
    assert!(!sees(0, block) && !sees(1, block) && !system.heap.allow(block, Gpus::one(1)).unwrap());

    // Locked memory is seen elsewhere, and is the same memory.
    let mut own = vec![7u8; 5000];
    let host = own.as_mut_ptr() as u64;
    // SAFETY: unlocked below, before it is dropped.
    let at = unsafe { system.heap.lock(host, 5000, Gpus::one(1)) }.unwrap();
    assert!(at != host && sees(1, at + 4999) && !sees(0, at) && !sees(1, host));
    let mut byte = [0];
    assert!(system.gpus()[1].device.memory().memory().read(at + 4999, &mut byte));
    assert_eq!(byte, [7]);
    assert_eq!(system.heap.host_address(at + 17), host + 17);
    assert_eq!(system.heap.find(host + 1).map(|i| i.start), Some(at));
    assert!(system.heap.unlock(host) && !sees(1, at) && !system.heap.unlock(host));
}

/// What HSA's pools promise is what waves are told: the flags of `hsa_amd_memory_pool_get_info`.
#[test]
fn memory_is_as_fine_as_its_pool() {
    let system = system(1, |_, _, _, _| Event::End);
    let fine = |at: u64| system.gpus()[0].device.memory().memory().find(at).map(|r| r.fine);
    let gpu = gpu_pools(system.gpus()[0].device.profile());
    for (agent, pools) in [(0, host_pools()), (1, gpu)] {
        for (number, pool) in pools.iter().enumerate().filter(|(_, p)| p.segment == segment::GLOBAL) {
            let origin = Origin::Pool(agent, number);
            let block = system.heap.allocate(64, origin, Use::Device, Gpus::one(0)).unwrap();
            assert_eq!(fine(block), Some(pool.flags & flag::FINE != 0), "{origin:?}");
            system.heap.free(block);
        }
    }
    let mut own = vec![7u8; 64];
    for wanted in [true, false] {
        let host = own.as_mut_ptr() as u64;
        // SAFETY: unlocked before it is dropped.
        let at = unsafe { system.heap.lock_as(host, 64, Gpus::one(0), wanted) }.unwrap();
        assert_eq!(fine(at), Some(wanted));
        system.heap.unlock(host);
    }
}

#[test]
fn processes_share_memory_and_signals() {
    // The other process is this one: everything goes through the same files.
    let system = system(1, |_, _, _, _| Event::End);
    let block = system.heap.allocate(5000, Origin::Pool(1, 0), Use::Device, Gpus::one(0)).unwrap();
    let byte = |at: u64| at as *mut u8;
    // SAFETY: both are mapped until they are freed.
    unsafe { byte(block + 4999).write(42) };
    let (file, len) = system.heap.share(block).unwrap().unwrap();
    let other = system.heap.attach(std::process::id(), file, len, Gpus::one(0)).unwrap();
    // SAFETY: as above.
    unsafe {
        assert_eq!(byte(other + 4999).read(), 42);
        byte(other).write(9);
        assert_eq!(byte(block).read(), 9);
    }
    assert!(system.heap.free(other) && system.heap.free(block));

    let signal = system.shared_signal(1).unwrap();
    let twin = system.attach_signal(std::process::id(), signal.shared_file().unwrap()).unwrap();
    assert_ne!(signal, twin);
    let thread = std::thread::spawn(move || twin.wait(Condition::Eq, 0, LONG, false));
    std::thread::sleep(Duration::from_millis(20));
    signal.value().store(0, Ordering::SeqCst);
    signal.changed();
    assert_eq!(thread.join().unwrap(), 0);
    assert!(twin.destroy());
    assert_eq!(signal.value().load(Ordering::SeqCst), 0);
    assert!(signal.destroy());
}

#[test]
fn attributes_of_shared_virtual_memory() {
    let system = system(1, |_, _, _, _| Event::End);
    let sees = |address: u64| system.gpus()[0].device.memory().find(address).is_some();
    let own = vec![0u8; 5 * 4096];
    let start = (own.as_ptr() as u64).next_multiple_of(4096);
    let end = start + 4 * 4096;
    let mut svm = Svm::default();
    let (second, third) = (start + 4096, start + 8192);
    // SAFETY: access is taken back before the memory is dropped.
    unsafe {
        svm.set(system.gpus(), start, end, |a| a.accessible = Gpus::one(0)).unwrap();
        assert!(sees(start) && sees(end - 1) && !sees(end));
        svm.set(system.gpus(), second, third, |a| a.accessible = Gpus::default()).unwrap();
        assert!(sees(second - 1) && !sees(second) && !sees(third - 1) && sees(third));
        assert_eq!(svm.get(start, end).len(), 3);
        assert_eq!(svm.get(end, end + 4096), [Default::default()]);
        svm.set(system.gpus(), start, end, |a| a.accessible = Gpus::default()).unwrap();
    }
    assert!(!sees(start) && !sees(end - 1));
}
