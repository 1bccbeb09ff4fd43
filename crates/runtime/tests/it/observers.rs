//! Who looks at a whole process sees what the host does, and what comes of it, in its order.

use crate::queues::{KERNEL_DISPATCH, dispatch, load, submit};
use std::sync::{Arc, Mutex};
use wavemill_device::aql::packet_type::BARRIER_AND;
use wavemill_device::aql::{BARRIER_BIT, PACKET_SIZE};
use wavemill_device::launch::Plan;
use wavemill_device::memory::Use;
use wavemill_device::observe::{DispatchObserver, Observers};
use wavemill_device::{Options, Profile};
use wavemill_isa::target::{Target, processor};
use wavemill_runtime::executable::Executable;
use wavemill_runtime::heap::{Gpus, Origin};
use wavemill_runtime::observe::{HostEvent, ProcessObserver};
use wavemill_runtime::processor::QueueRequest;
use wavemill_runtime::signal::{Condition, Kind};
use wavemill_runtime::system::{Setup, System};
use wavemill_testing::Fake;
use wavemill_wave::Event;

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl DispatchObserver for Notes {
    fn dispatch_started(&self, dispatch: &Plan) {
        self.0.lock().unwrap().push(format!("dispatch {}", dispatch.number));
    }

    fn dispatch_ended(&self, number: u64, waves: u64, _: bool) {
        self.0.lock().unwrap().push(format!("dispatch {number} ended, {waves} waves"));
    }
}

impl ProcessObserver for Notes {
    fn host(&self, event: &HostEvent) {
        self.0.lock().unwrap().push(format!("{event:?}"));
    }
}

/// The only test of this process that looks at all of it; others run at the same time, so events are picked by what they
/// are about.
#[test]
fn a_packet_from_the_doorbell_to_the_signal() {
    let (process, queue) = (Arc::new(Notes::default()), Arc::new(Notes::default()));
    let system = System::new(Setup {
        profile: Profile::named("mi210").unwrap(),
        target: Target::new(processor("gfx90a").unwrap()),
        gpus: 1,
        options: Options { threads: 1, ..Options::default() },
        engine: Box::new(|_| Arc::new(Fake(|_: &mut _, _: &_, _: &_, _| Event::End))),
        journal: None,
        log: None,
        observer: Some(process.clone()),
        observers: Default::default(),
    });
    let memory = system.heap.allocate(4096, Origin::Pool(1, 0), Use::Device, Gpus::one(0)).unwrap();
    let mut executable = Executable::default();
    let kernel = load(&system, &mut executable);
    let request = QueueRequest {
        size: 64,
        kind: 0,
        on_error: Box::new(|_, e| panic!("{e:?}")),
        observers: Observers::one(queue.clone()),
    };
    let at = system.create_queue(&system.gpus()[0], request).unwrap();
    let signal = system.signal(1).unwrap();
    submit(at, KERNEL_DISPATCH, dispatch(kernel, signal));
    assert_eq!(signal.wait(Condition::Lt, 1, None, false), 0);
    // A barrier packet with fences: acquire for the GPU, release for the system.
    let mut barrier = [0; PACKET_SIZE];
    barrier[56..].copy_from_slice(&signal.handle().to_le_bytes());
    submit(at, BARRIER_AND | BARRIER_BIT | 1 << 9 | 2 << 11, barrier);
    assert_eq!(signal.wait(Condition::Lt, 0, None, false), -1);
    assert_eq!(signal.kind(), Some(Kind::User));
    assert_eq!(signal.update("store", |v| v.swap(7, std::sync::atomic::Ordering::SeqCst)), -1);
    assert!(system.destroy_queue(at) && system.heap.free(memory) && signal.destroy());
    let (handle, queue_at) = (signal.handle(), at.address());
    let all = process.0.lock().unwrap().clone();
    let about = |text: &String| {
        text.starts_with("dispatch")
            || text.starts_with("Fenced { gpu: 0, acquire: Agent, release: System")
            || [handle, queue_at, memory]
                .iter()
                .any(|a| text.contains(&format!(" {a},")) || text.contains(&format!(" {a} }}")))
    };
    let mut mine: Vec<String> = all.into_iter().filter(about).collect();
    // The thread that waits, and the one that retires the packet, say so when they get to it.
    let beside = |t: &String| t.starts_with("Wait") || t.starts_with("PacketEnded");
    let aside: Vec<String> = mine.extract_if(.., |t| beside(t)).collect();
    assert_eq!(
        mine,
        [
            format!("Allocated {{ address: {memory}, bytes: 4096, origin: Pool(1, 0) }}"),
            format!("QueueCreated {{ queue: {queue_at} }}"),
            format!("SignalCreated {{ signal: {handle}, value: 1 }}"),
            format!("DoorbellRung {{ queue: {queue_at}, value: 0 }}"),
            format!("PacketStarted {{ queue: {queue_at}, index: 0, kind: 2 }}"),
            "dispatch 0".into(),
            "dispatch 0 ended, 1 waves".into(),
            format!("SignalCompleted {{ signal: {handle}, new: 0 }}"),
            format!("DoorbellRung {{ queue: {queue_at}, value: 1 }}"),
            format!("PacketStarted {{ queue: {queue_at}, index: 1, kind: 3 }}"),
            // Before anybody can go on who waits for it.
            "Fenced { gpu: 0, acquire: Agent, release: System }".into(),
            format!("SignalCompleted {{ signal: {handle}, new: -1 }}"),
            format!("SignalChanged {{ signal: {handle}, operation: \"store\", old: -1, new: 7 }}"),
            format!("QueueDestroyed {{ queue: {queue_at} }}"),
            format!("Freed {{ address: {memory} }}"),
            format!("SignalDestroyed {{ signal: {handle} }}"),
        ]
    );
    assert!(aside.contains(&format!("WaitEnded {{ signal: {handle}, value: 0 }}")));
    assert!(aside.contains(&format!("PacketEnded {{ queue: {queue_at}, index: 0 }}")));
    let of_queue = queue.0.lock().unwrap().clone();
    assert_eq!(of_queue, ["dispatch 0", "dispatch 0 ended, 1 waves"]);
}
