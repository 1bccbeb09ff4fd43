//! Observers that are installed with a launch.

use super::{Device, Options, launch, object, processor, sizes};
use std::sync::{Arc, Mutex};
use wavemill_device::launch::Plan;
use wavemill_device::observe::{DispatchObserver, Observers, Scene};
use wavemill_device::run::Launch;
use wavemill_isa::Target;
use wavemill_wave::observe::{Control, Instruction};
use wavemill_wave::{Observer, Wave, WaveId};

/// Work-groups with a barrier.
fn program() -> Vec<u8> {
    let source = ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\ns_nop 0\ns_barrier\ns_nop 1\ns_endpgm\n\
        .size k, .-k\n.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 16\n\
        .amdhsa_next_free_sgpr 32\n.amdhsa_accum_offset 16\n.end_amdhsa_kernel\n";
    object("gfx90a", source)
}

fn device(threads: usize) -> Device {
    let options = Options { threads, ..Options::default() };
    Device::new(Target::new(processor("gfx90a").unwrap()), &options)
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn note(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }
}

impl DispatchObserver for Notes {
    fn dispatch_started(&self, dispatch: &Plan) {
        self.note(format!("dispatch {} of {}", dispatch.number, dispatch.kernel.name));
    }

    fn dispatch_ended(&self, number: u64, waves: u64, whole: bool) {
        self.note(format!("dispatch {number} ended, {waves} waves, whole: {whole}"));
    }

    fn group_started(&self, number: u64, group: [u32; 3]) {
        self.note(format!("group {number}.{}", group[0]));
    }

    fn group_ended(&self, number: u64, group: [u32; 3]) {
        self.note(format!("group {number}.{} ended", group[0]));
    }

    fn wave_started(&self, id: WaveId) {
        self.note(format!("wave {}.{}.{}", id.dispatch, id.group[0], id.wave));
    }

    fn wave_ended(&self, id: WaveId) {
        self.note(format!("wave {}.{}.{} ended", id.dispatch, id.group[0], id.wave));
    }

    fn barrier_released(&self, number: u64, group: [u32; 3]) {
        self.note(format!("barrier {number}.{}", group[0]));
    }
}

#[test]
fn dispatches_groups_waves_and_barriers_are_told_in_their_order() {
    let device = device(1);
    let notes = Arc::new(Notes::default());
    let how = Launch { observers: Observers::one(notes.clone()), ..sizes(&[256], &[128]) };
    launch(&device, program(), &how).unwrap();
    launch(&device, program(), &how).unwrap();
    let one = |n: u32| {
        let group = |g: u32| {
            let [a, b] = [0, 1].map(|w| format!("wave {n}.{g}.{w}"));
            let ended = [format!("{a} ended"), format!("{b} ended")];
            let middle = [format!("barrier {n}.{g}")];
            let all = [format!("group {n}.{g}"), a, b].into_iter().chain(middle).chain(ended);
            all.chain([format!("group {n}.{g} ended")]).collect::<Vec<_>>()
        };
        let mut all = vec![format!("dispatch {n} of k")];
        all.extend(group(0));
        all.extend(group(1));
        all.push(format!("dispatch {n} ended, 4 waves, whole: true"));
        all
    };
    assert_eq!(*notes.0.lock().unwrap(), [one(0), one(1)].concat());
}

/// Counts instructions of all waves, and stops one of them if it is told which.
struct Steps {
    seen: Mutex<Vec<WaveId>>,
    stop: Option<WaveId>,
}

impl Observer for Steps {
    fn before(&self, wave: &Wave, instruction: &Instruction) -> Control {
        self.seen.lock().unwrap().push(wave.id);
        match instruction.inst.row.name == "s_barrier" && self.stop == Some(wave.id) {
            true => Control::Stop,
            false => Control::Continue,
        }
    }
}

struct Looks(Arc<Steps>);

impl DispatchObserver for Looks {
    fn wave_observer(&self, _: &Scene<'_>) -> Option<Arc<dyn Observer>> {
        Some(self.0.clone())
    }
}

#[test]
fn two_observers_see_every_instruction_of_the_same_waves() {
    let steps = [0, 1].map(|_| Arc::new(Steps { seen: Mutex::default(), stop: None }));
    let mut observers = Observers::one(Arc::new(Looks(steps[0].clone())));
    observers.add(Arc::new(Looks(steps[1].clone())));
    launch(&device(2), program(), &Launch { observers, ..sizes(&[256], &[128]) }).unwrap();
    for steps in steps {
        let mut seen = steps.seen.lock().unwrap().clone();
        seen.sort_by_key(|id| (id.group[0], id.wave));
        let wave = |g, wave| WaveId { dispatch: 0, group: [g, 0, 0], wave };
        let want: Vec<WaveId> = [wave(0, 0), wave(0, 1), wave(1, 0), wave(1, 1)].map(|w| [w; 4]).concat();
        assert_eq!(seen, want, "four instructions each");
    }
}

#[test]
fn an_observer_that_stops_a_wave_ends_a_dispatch_that_nobody_can_resume() {
    let stop = Some(WaveId { dispatch: 0, group: [0; 3], wave: 1 });
    let steps = Arc::new(Steps { seen: Mutex::default(), stop });
    let observers = Observers::one(Arc::new(Looks(steps)));
    let done = launch(&device(1), program(), &Launch { observers, ..sizes(&[128], &[128]) }).unwrap();
    let report = done.fault.unwrap();
    assert_eq!((report.kind, report.stop.wave), ("observer", 1));
    let at = report.listing.iter().find(|l| l.address == report.stop.pc);
    assert_eq!(at.map(|l| l.text.as_str()), Some("s_barrier"));
}
