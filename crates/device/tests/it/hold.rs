//! Waves that another thread holds: paused, listed, looked at, changed, stepped and let go.

use super::{Completion, Device, Options, launch, object, processor, sizes};
use std::sync::Arc;
use std::time::Duration;
use wavemill_device::Use;
use wavemill_device::hold::{Controller, HoldReason, WaveState};
use wavemill_device::kernarg::Value;
use wavemill_device::run::Launch;
use wavemill_isa::Target;
use wavemill_wave::observe::{Control, Instruction};
use wavemill_wave::{Event, Observer, Wave, WaveId};

const LONG: Duration = Duration::from_secs(60);

/// Counts in s10 until s11 is 77, then stores what is in s12 to dword {wave} of the buffer at s[4:5].
const SPIN: &str = "s_mov_b32 s10, 0\ns_mov_b32 s11, 0\ns_mov_b32 s12, 1\n\
    loop:\ns_add_u32 s10, s10, 1\ns_cmp_eq_u32 s11, 77\ns_cbranch_scc0 loop\n";
/// Stores s12 to dword s2 (the work-group) of the buffer.
const STORE: &str = "s_lshl_b32 s3, s2, 2\nv_mov_b32 v1, s3\nv_mov_b32 v2, s12\n\
    global_store_dword v1, v2, s[4:5]\n";

fn program(code: &str) -> Vec<u8> {
    let source = format!(
        ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\ns_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n\
         {code}\ns_endpgm\n.size k, .-k\n.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 16\n\
         .amdhsa_next_free_sgpr 32\n.amdhsa_accum_offset 16\n.amdhsa_kernarg_size 8\n\
         .amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_group_segment_fixed_size 64\n.end_amdhsa_kernel\n"
    );
    object("gfx90a", &source)
}

/// Runs a kernel while `meanwhile` holds its waves; what came of it, and the buffer's first dwords.
fn held(
    threads: usize,
    grid: u32,
    code: &str,
    meanwhile: impl FnOnce(&Controller),
) -> (Completion, Vec<u32>) {
    let options = Options { threads, ..Options::default() };
    let device = Device::new(Target::new(processor("gfx90a").unwrap()), &options);
    let controller = Controller::new();
    device.set_controller(Some(controller.clone()));
    let buffer = device.memory().allocate(256, Use::Device, "argument 0").unwrap();
    let how = Launch {
        values: vec![Value::Pointer(buffer.start())],
        timeout: Some(LONG),
        ..sizes(&[grid], &[128])
    };
    let done = std::thread::scope(|s| {
        let run = s.spawn(|| launch(&device, program(code), &how).unwrap());
        meanwhile(&controller);
        run.join().unwrap()
    });
    let words = buffer.to_vec().chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
    (done, words)
}

fn wave(group: u32, wave: u32) -> WaveId {
    WaveId { dispatch: 0, group: [group, 0, 0], wave }
}

/// Pauses when all waves of all work-groups have begun to count.
fn pause_all(controller: &Controller, waves: usize) {
    loop {
        assert!(controller.pause(LONG));
        let all = controller.waves();
        let count = |w| controller.inspect(w, |wave, _, _| wave.sgpr(10)).unwrap_or(0);
        if all.len() == waves && all.iter().all(|w| count(w.id) > 0) {
            return;
        }
        controller.resume();
        std::thread::yield_now();
    }
}

#[test]
fn a_spinning_kernel_is_paused_read_stepped_changed_and_resumed() {
    for threads in [1, 4] {
        let (done, words) = held(threads, 384, &format!("{SPIN}{STORE}"), |controller| {
            pause_all(controller, 6);
            let ids: Vec<WaveId> = controller.waves().iter().map(|w| w.id).collect();
            let want: Vec<WaveId> = (0..3).flat_map(|g| [wave(g, 0), wave(g, 1)]).collect();
            assert_eq!(ids, want);
            // Nothing moves while it is paused.
            let state = |id| controller.inspect(id, |w, _, _| (w.pc, w.sgpr(10), w.scc)).unwrap();
            let before: Vec<_> = ids.iter().map(|id| state(*id)).collect();
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(ids.iter().map(|id| state(*id)).collect::<Vec<_>>(), before);
            // Three instructions are once around the loop, and the others stay where they are.
            let (pc, count, _) = state(wave(1, 1));
            for _ in 0..3 {
                assert_eq!(controller.step(wave(1, 1)), Some(Event::Stopped));
            }
            assert_eq!((state(wave(1, 1)).0, state(wave(1, 1)).1), (pc, count.wrapping_add(1)));
            let others = ids.iter().zip(&before).filter(|(id, _)| **id != wave(1, 1));
            others.for_each(|(id, was)| assert_eq!(state(*id), *was));
            for id in &ids {
                let change = controller.inspect(*id, |w, _, _| {
                    w.set_sgpr(11, 77);
                    w.set_sgpr(12, 100 + id.group[0]);
                });
                assert!(change.is_some());
            }
            controller.resume();
        });
        assert!(done.fault.is_none());
        assert_eq!(done.waves, 6);
        assert_eq!(words[..4], [100, 101, 102, 0]);
    }
}

#[test]
fn one_wave_is_held_while_others_end() {
    let (done, words) = held(2, 256, &format!("{SPIN}{STORE}"), |controller| {
        pause_all(controller, 4);
        for group in 0..2 {
            for number in 0..2 {
                controller.inspect(wave(group, number), |w, _, _| w.set_sgpr(11, 77)).unwrap();
            }
        }
        assert!(controller.hold(wave(1, 0), LONG));
        controller.resume();
        // The other work-group ends, and the other wave of this one.
        let only_one = || {
            let all = controller.waves();
            all.len() == 2
                && all[0].state == WaveState::Held(HoldReason::Asked)
                && all[1].state == WaveState::Ended
        };
        while !only_one() {
            std::thread::yield_now();
        }
        assert_eq!(controller.waves()[0].id, wave(1, 0));
        controller.inspect(wave(1, 0), |w, _, _| w.set_sgpr(12, 9)).unwrap();
        assert!(controller.release(wave(1, 0)) && !controller.release(wave(0, 0)));
    });
    assert!(done.fault.is_none());
    // The wave that was held stores last.
    assert_eq!((done.waves, words[0], words[1]), (4, 1, 9));
}

#[test]
fn a_halted_wave_waits_until_it_is_resumed() {
    for (code, reason) in [
        ("s_sethalt 1", HoldReason::Halted),
        ("s_sendmsghalt sendmsg(MSG_INTERRUPT)", HoldReason::Halted),
        ("s_trap 1", HoldReason::Trap(1)),
        ("s_trap 3", HoldReason::Trap(3)),
        ("s_trap 7", HoldReason::Trap(7)),
    ] {
        let (done, words) = held(2, 64, &format!("s_mov_b32 s12, 5\n{code}\n{STORE}"), |controller| {
            let held = controller.wait_for_held(LONG).unwrap();
            assert_eq!((held.id, held.state), (wave(0, 0), WaveState::Held(reason)), "{code}");
            controller.inspect(held.id, |w, _, _| w.set_sgpr(12, 6)).unwrap();
            assert!(controller.release(held.id));
        });
        assert!(done.fault.is_none(), "{code}");
        assert_eq!(words[0], 6, "{code}");
    }
}

/// A held wave keeps its work-group at a barrier; LDS and memory can be read and written.
#[test]
fn a_barrier_waits_for_the_wave_that_is_held() {
    let code = "s_mov_b32 s12, 5\ns_mov_b32 m0, -1\ns_trap 3\ns_barrier\nv_mov_b32 v3, 0\nds_read_b32 v2, v3\n\
        s_waitcnt lgkmcnt(0)\nv_mov_b32 v1, 0\nglobal_load_dword v4, v1, s[4:5] offset:4\ns_waitcnt vmcnt(0)\n\
        v_add_u32 v2, v2, v4\nglobal_store_dword v1, v2, s[4:5]";
    let (done, words) = held(2, 128, code, |controller| {
        let both =
            || controller.waves().iter().filter(|w| matches!(w.state, WaveState::Held(_))).count() == 2;
        while !both() {
            std::thread::yield_now();
        }
        assert!(controller.release(wave(0, 0)));
        // While it runs, it is not among them.
        while controller.waves().first().is_none_or(|w| w.state != WaveState::Barrier) {
            std::thread::yield_now();
        }
        assert_eq!(controller.step(wave(0, 0)), None, "it waits");
        let done = controller.inspect(wave(0, 1), |w, group, memory| {
            group.lds.write(0, &40u32.to_le_bytes()) && memory.write(w.sgpr64(4) + 4, &2u32.to_le_bytes())
        });
        assert_eq!(done, Some(true));
        // The step to the barrier lets both go on, since the wave is not held there.
        assert_eq!(controller.step(wave(0, 1)), Some(Event::Barrier));
    });
    assert!(done.fault.is_none());
    assert_eq!(words[0], 42);
}

#[test]
fn what_is_held_is_stopped_when_its_time_is_over() {
    let device = Device::new(Target::new(processor("gfx90a").unwrap()), &Options::default());
    device.set_controller(Some(Controller::new()));
    let how = Launch {
        values: vec![Value::Bytes(vec![0; 8])],
        timeout: Some(Duration::from_millis(100)),
        ..sizes(&[64], &[64])
    };
    let done = launch(&device, program("s_sethalt 1"), &how).unwrap();
    assert_eq!(done.fault.unwrap().kind, "timeout");
}

/// Stops waves before S_LSHL_B32.
struct Breakpoint;

impl Observer for Breakpoint {
    fn before(&self, _: &Wave, instruction: &Instruction) -> Control {
        if instruction.inst.row.name == "s_lshl_b32" { Control::Stop } else { Control::Continue }
    }
}

#[test]
fn an_observer_stops_a_wave_and_somebody_resumes_it() {
    // A breakpoint is set on a wave that is halted.
    let (done, words) = held(1, 64, &format!("s_sethalt 1\ns_mov_b32 s12, 3\n{STORE}"), |controller| {
        let id = controller.wait_for_held(LONG).unwrap().id;
        controller.inspect(id, |w, _, _| w.observer = Some(Arc::new(Breakpoint))).unwrap();
        assert!(controller.release(id));
        let at = loop {
            match controller.wait_for_held(LONG).unwrap() {
                at if at.state == WaveState::Held(HoldReason::Observer) => break at,
                _ => std::thread::yield_now(),
            }
        };
        assert_eq!(controller.inspect(at.id, |w, _, _| w.sgpr(12)), Some(3));
        controller.inspect(at.id, |w, _, _| w.set_sgpr(12, 4)).unwrap();
        assert!(controller.release(at.id));
    });
    assert!(done.fault.is_none());
    assert_eq!(words[0], 4);
}
