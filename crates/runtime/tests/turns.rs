//! Programs whose GPUs take turns with them run the same way every time, and as a record says. A process of its own, since
//! turns are for all of it.

use std::io::Write;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wavemill_device::aql::{DispatchPacket, PACKET_SIZE};
use wavemill_device::observe::DispatchObserver;
use wavemill_device::record::Log;
use wavemill_device::{Options, Profile};
use wavemill_isa::target::{Target, processor};
use wavemill_runtime::executable::Executable;
use wavemill_runtime::observe::{HostEvent, ProcessObserver};
use wavemill_runtime::processor::QueueRequest;
use wavemill_runtime::queue::QueueRef;
use wavemill_runtime::signal::{Condition, Kind, Signal};
use wavemill_runtime::system::{Setup, System};
use wavemill_runtime::turns;
use wavemill_testing::{Fake, kernel};
use wavemill_wave::{Event, Wave, WaveId};

/// A record in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Memory {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// What happened, without addresses.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl DispatchObserver for Notes {
    fn group_started(&self, number: u64, group: [u32; 3]) {
        self.0.lock().unwrap().push(format!("group {number}.{}", group[0]));
    }

    fn wave_ended(&self, id: WaveId) {
        self.0.lock().unwrap().push(format!("wave {}.{} ended", id.dispatch, id.group[0]));
    }
}

impl ProcessObserver for Notes {
    fn host(&self, event: &HostEvent) {
        let text = format!("{event:?}");
        let words =
            text.split(' ').filter(|w| !w.trim_matches(',').parse::<u64>().is_ok_and(|n| n > 1 << 30));
        self.0.lock().unwrap().push(words.collect::<Vec<_>>().join(" "));
    }
}

fn submit(queue: QueueRef, kernel: u64, groups: u32, completion: Signal) {
    let packet = DispatchPacket {
        setup: 1,
        workgroup_size: [64, 1, 1],
        grid_size: [64 * groups, 1, 1],
        kernel_object: kernel,
        completion_signal: completion.handle(),
        ..DispatchPacket::default()
    };
    let mut bytes = packet.to_bytes();
    bytes[..2].copy_from_slice(&1u16.to_le_bytes());
    let index = queue.write_index().fetch_add(1, Ordering::SeqCst);
    let at = queue.ring() + index % u64::from(queue.size()) * PACKET_SIZE as u64;
    // SAFETY: the packet is ours between taking its index and setting its header.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr().add(2), (at as *mut u8).add(2), PACKET_SIZE - 2);
        (*(at as *const AtomicU16)).store(2, Ordering::Release);
    }
    let _call = turns::call("ring");
    queue.ring_doorbell(index, Kind::Doorbell);
}

fn wait(signal: Signal) {
    let _call = turns::call("wait");
    assert_eq!(signal.wait(Condition::Lt, 1, None, false), 0);
}

/// Two threads, each with a queue of its own, whose kernels take several turns; one kernel spins until the host stores 1.
fn program(log: Option<Arc<Log>>) -> Vec<String> {
    let notes = Arc::new(Notes::default());
    let flag = Arc::new(AtomicU64::new(0));
    let seen = flag.clone();
    // Waves with a count in s20 spin until the flag is set; others end after five turns.
    let engine = move |wave: &mut Wave, _: &_, _: &_, _: u64| {
        wave.set_sgpr(20, wave.sgpr(20) + 1);
        let spins = wave.id.dispatch == 0;
        let done = if spins { seen.load(Ordering::SeqCst) != 0 } else { wave.sgpr(20) == 5 };
        if done { Event::End } else { Event::Preempted }
    };
    let system = System::new(Setup {
        profile: Profile::named("mi210").unwrap(),
        target: Target::new(processor("gfx90a").unwrap()),
        gpus: 1,
        options: Options { deterministic: true, ..Options::default() },
        engine: Box::new(move |_| Arc::new(Fake(engine.clone()))),
        journal: None,
        log,
        observer: Some(notes.clone()),
        observers: Default::default(),
    });
    let mut executable = Executable::default();
    executable.load(&system.gpus()[0], "test", &kernel("gfx90a", ""), (0, 0)).unwrap();
    let kernel = executable.find("k", Some(0)).unwrap().address;
    let queues = [0, 1].map(|_| {
        let on_error = Box::new(|_: QueueRef, e: &_| panic!("{e:?}"));
        let request = QueueRequest { size: 64, kind: 0, on_error, observers: Default::default() };
        let _call = turns::call("create");
        system.create_queue(&system.gpus()[0], request).unwrap()
    });
    let signals = [0, 1, 2, 3].map(|_| system.signal(1).unwrap());
    // The first kernel spins: the call comes back though it has not ended.
    submit(queues[0], kernel, 1, signals[0]);
    submit(queues[1], kernel, 2, signals[1]);
    wait(signals[1]);
    assert_eq!(signals[0].value().load(Ordering::SeqCst), 1);
    flag.store(1, Ordering::SeqCst);
    // Without a call, by a look at memory now and then: the GPU goes on when nobody calls.
    while signals[0].value().load(Ordering::SeqCst) != 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::scope(|s| {
        s.spawn(|| {
            submit(queues[0], kernel, 3, signals[2]);
            wait(signals[2]);
        });
        submit(queues[1], kernel, 3, signals[3]);
        wait(signals[3]);
    });
    {
        let _call = turns::call("end");
        drop(executable);
        system.shut_down();
    }
    Arc::try_unwrap(notes).map_or_else(|n| n.0.lock().unwrap().clone(), |n| n.0.into_inner().unwrap())
}

#[test]
fn the_same_every_time() {
    // Two threads race for their calls, so only a record makes runs the same.
    let record = Memory::default();
    let first = program(Some(Arc::new(Log::record(Box::new(record.clone())).unwrap())));
    let text = record.text();
    assert!(text.contains("call 0 ring") && text.contains("call 1 ring"), "{text}");
    assert!(text.lines().filter(|l| l.starts_with("wave 0 ")).count() > 100, "the first spins\n{text}");
    assert!(text.lines().any(|l| l == "idle"), "it ends while nobody calls\n{text}");
    for _ in 0..3 {
        let log = Arc::new(Log::replay(text.clone(), Box::new(|m| panic!("{m}"))).unwrap());
        assert_eq!(program(Some(log.clone())), first);
        assert_eq!(log.finish(), Ok(()));
    }
    // A record of another program is none of this one.
    let other = text.replacen("call 0 ring", "call 0 sing", 1);
    let told = Arc::new(Mutex::new(Vec::new()));
    let to = told.clone();
    let log = Log::replay(other, Box::new(move |m| to.lock().unwrap().push(m.0.clone()))).unwrap();
    std::thread::spawn(move || {
        let log = Arc::new(log);
        turns::activate(Some(log.clone()));
        let _call = turns::call("create");
        drop(_call);
        let _call = turns::call("create");
        drop(_call);
        let _call = turns::call("ring");
    });
    while told.lock().unwrap().is_empty() {
        std::thread::yield_now();
    }
    let message = told.lock().unwrap()[0].clone();
    assert!(message.contains("the record says `call 0 sing`, this run does `call"), "{message}");
}
