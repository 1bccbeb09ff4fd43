//! Observers see every instruction, every access as it is made, and what else happens to a wave, on every engine; the wave
//! computes the same. What they see is written down by hand from the programs.

use crate::harness::{Machine, engines, target};
use std::sync::{Arc, Mutex};
use wavemill_sem::atomic::Atomic;
use wavemill_wave::observe::{Access, Control, Instruction, Kind, Space, WaitCounts};
use wavemill_wave::{Engine, Event, FaultKind, GroupShared, Interp, Memory, Observer, Simd, Wave, WaveId};

/// Writes down what it is told, addresses from that of a buffer or of the code on.
#[derive(Default)]
struct Log {
    lines: Mutex<Vec<String>>,
    buffer: u64,
    code: u64,
    /// Stops before the instruction so many bytes into the code.
    breakpoint: Option<u64>,
    /// Stops at accesses to this space.
    watch: Option<Space>,
}

impl Log {
    fn note(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

impl Observer for Log {
    fn wave_started(&self, wave: &Wave) {
        self.note(format!("start {:?} {}", wave.id.group, wave.id.wave));
    }
    fn wave_ended(&self, _: &Wave, how: &Event) {
        self.note(format!("end, a fault: {}", matches!(how, Event::Fault(_))));
    }
    fn before(&self, _: &Wave, next: &Instruction) -> Control {
        self.note(format!("before {}", next.inst.row.name));
        if self.breakpoint == Some(next.pc - self.code) { Control::Stop } else { Control::Continue }
    }
    fn after(&self, wave: &Wave, ran: &Instruction) -> Control {
        assert!(wave.pc != ran.pc, "the PC has moved on");
        self.note(format!("after {}", ran.inst.row.name));
        Control::Continue
    }
    fn access(&self, _: &Wave, access: &Access) -> Control {
        let Access { space, bytes, kind, lane, fault, .. } = *access;
        let at = match space {
            Space::Code => access.address.wrapping_sub(self.code),
            Space::Global | Space::Scalar if bytes > 0 => access.address.wrapping_sub(self.buffer),
            _ => access.address,
        };
        let bits =
            [(access.coherence.glc, " glc"), (access.coherence.slc, " slc"), (access.coherence.scc, " scc")];
        let bits: String = bits.iter().filter(|b| b.0).map(|b| b.1).collect();
        let lane = lane.map_or(String::new(), |l| format!(" lane {l}"));
        let fault = fault.map_or(String::new(), |f| format!(" {f:?}"));
        self.note(format!("{space:?} {at} {bytes} {kind:?}{bits}{lane}{fault}"));
        if self.watch == Some(space) { Control::Stop } else { Control::Continue }
    }
    fn counters_raised(&self, _: &Wave, _: &Instruction, by: WaitCounts) {
        self.note(format!("raised vm {} lgkm {} exp {}", by.vm, by.lgkm, by.exp));
    }
    fn waited(&self, _: &Wave, _: &Instruction, until: WaitCounts) {
        self.note(format!("waited vm {} lgkm {} exp {}", until.vm, until.lgkm, until.exp));
    }
    fn barrier_reached(&self, _: &Wave) {
        self.note("barrier".into());
    }
    fn barrier_released(&self, _: &Wave) {
        self.note("released".into());
    }
    fn exception(&self, _: &Wave, _: &Instruction, trapsts: u32) {
        self.note(format!("exception {trapsts:#x}"));
    }
    fn trap(&self, _: &Wave, _: &Instruction) {
        self.note("trap".into());
    }
    fn message(&self, _: &Wave, _: &Instruction, message: u16, m0: u32) {
        self.note(format!("message {message} {m0}"));
    }
    fn stopped(&self, _: &Wave, event: &Event) {
        self.note(format!("stopped {}", format!("{event:?}").split([' ', '(']).next().unwrap_or_default()));
    }
}

/// A wave of a program with one active lane, a buffer of 64 bytes at s[2:3] and 64 bytes of LDS, observed.
fn observed(name: &str, engine: Box<dyn Engine>, text: &str, log: Log) -> (Machine, Wave, Arc<Log>) {
    let mut machine = Machine::with(name, target("gfx90a"), engine, text, 64);
    let data: Vec<u8> = (0..64).collect();
    let buffer = machine.buffer(&data);
    let mut wave = machine.wave();
    wave.set_sgpr64(2, buffer);
    wave.set_exec(1);
    wave.id = WaveId { dispatch: 7, group: [1, 2, 3], wave: 4 };
    let log = Arc::new(Log { buffer, code: wave.pc, ..log });
    wave.observer = Some(log.clone());
    (machine, wave, log)
}

const TEST: &str = "crates/wave/tests/it/observe.rs";

#[test]
fn everything_is_told_in_order() {
    let text = "
        s_load_dword s6, s[2:3], 0x8
        global_atomic_add v2, v1, v0, s[2:3] offset:4 glc
        ds_write_b32 v1, v0 offset:12
        buffer_wbinvl1_vol
        s_waitcnt vmcnt(0) lgkmcnt(0)
        s_barrier
        s_sendmsg sendmsg(MSG_INTERRUPT)
        s_trap 2
    ";
    let step = |name: &str, at: u64, len: u32, during: &[&str]| {
        let mut lines = vec![format!("before {name}"), format!("Code {at} {len} Read")];
        lines.extend(during.iter().map(|s| s.to_string()));
        lines
    };
    let mut first = vec!["start [1, 2, 3] 4".to_owned()];
    first.extend(step(
        "s_load_dword",
        0,
        8,
        &["Scalar 8 4 Read", "raised vm 0 lgkm 1 exp 0", "after s_load_dword"],
    ));
    let atomic = format!("Global 4 4 {:?} glc lane 0", Kind::Atomic(Atomic::Add));
    first.extend(step(
        "global_atomic_add",
        8,
        8,
        &[&atomic, "raised vm 1 lgkm 0 exp 0", "after global_atomic_add"],
    ));
    first.extend(step(
        "ds_write_b32",
        16,
        8,
        &["Lds 12 4 Write lane 0", "raised vm 0 lgkm 1 exp 0", "after ds_write_b32"],
    ));
    first.extend(step(
        "buffer_wbinvl1_vol",
        24,
        8,
        &[
            "Global 0 0 WriteBack",
            "Global 0 0 Invalidate",
            "raised vm 1 lgkm 0 exp 0",
            "after buffer_wbinvl1_vol",
        ],
    ));
    first.extend(step("s_waitcnt", 32, 4, &["waited vm 0 lgkm 0 exp 7", "after s_waitcnt"]));
    first.extend(step("s_barrier", 36, 4, &["after s_barrier", "barrier", "stopped Barrier"]));
    let mut second = vec!["released".to_owned()];
    second.extend(step(
        "s_sendmsg",
        40,
        4,
        &["raised vm 0 lgkm 1 exp 0", "message 1 0", "after s_sendmsg", "stopped Message"],
    ));
    let third = step("s_trap", 44, 4, &["trap", "after s_trap", "stopped Trap"]);
    let mut fourth = step("s_endpgm", 48, 4, &["after s_endpgm", "stopped End"]);
    fourth.push("end, a fault: false".into());
    for (name, engine) in engines(target("gfx90a")) {
        let (machine, mut wave, log) = observed(TEST, engine, text, Log::default());
        for (lines, event) in [
            (&first, Event::Barrier),
            (&second, Event::Message { message: 1, m0: 0 }),
            (&third, Event::Trap(2)),
            (&fourth, Event::End),
        ] {
            assert_eq!(machine.run(&mut wave), event, "{name}");
            assert_eq!(log.take(), *lines, "{name}");
        }
    }
}

/// Lanes 0 and 2, eight bytes a lane, four bytes on; a wave without observer computes and counts the same.
#[test]
fn accesses_are_told_lane_by_lane() {
    let text = "
        s_mov_b64 exec, 5
        v_lshlrev_b32 v1, 3, v0
        global_load_dword v2, v1, s[2:3] offset:4
    ";
    for (name, engine) in engines(target("gfx90a")) {
        let (machine, mut wave, log) = observed(TEST, engine, text, Log::default());
        for lane in 0..64 {
            wave.vgpr_mut(0).unwrap()[lane] = lane as u32;
        }
        let mut unseen = wave.clone();
        unseen.observer = None;
        assert_eq!((machine.run(&mut wave), machine.run(&mut unseen)), (Event::End, Event::End));
        let loads: Vec<String> = log.take().into_iter().filter(|l| l.starts_with("Global")).collect();
        assert_eq!(loads, ["Global 4 4 Read lane 0", "Global 20 4 Read lane 2"], "{name}");
        assert_eq!(wave.vgpr(2).unwrap()[2], u32::from_le_bytes([20, 21, 22, 23]));
        assert_eq!((wave.vgpr(2), wave.counters), (unseen.vgpr(2), unseen.counters));
    }
}

#[test]
fn a_wave_can_be_stopped_and_goes_on() {
    let text = "
        s_mov_b32 s6, 1
        s_mov_b32 s6, 2
        ds_write_b32 v1, v0
        s_mov_b32 s6, 3
    ";
    for (name, engine) in engines(target("gfx90a")) {
        let log = Log { breakpoint: Some(4), watch: Some(Space::Lds), ..Log::default() };
        let (machine, mut wave, log) = observed(TEST, engine, text, log);
        let start = wave.pc;
        // Before the second instruction, which has not run.
        assert_eq!(machine.run(&mut wave), Event::Stopped, "{name}");
        assert_eq!((wave.pc - start, wave.sgpr(6)), (4, 1), "{name}");
        // Behind the one that accessed LDS; the breakpoint does not hold the wave twice.
        assert_eq!(machine.run(&mut wave), Event::Stopped, "{name}");
        assert_eq!((wave.pc - start, wave.sgpr(6)), (16, 2), "{name}");
        assert_eq!(machine.run(&mut wave), Event::End, "{name}");
        assert_eq!(wave.sgpr(6), 3, "{name}");
        // Each instruction was shown once.
        let shown = log.take().iter().filter(|l| l.starts_with("before s_mov_b32")).count();
        assert_eq!(shown, 3, "{name}");
    }
}

#[test]
fn accesses_that_fault_are_told() {
    // Four bytes of the eight are in the buffer.
    let text = "global_load_dwordx2 v[2:3], v1, s[2:3] offset:60";
    for (name, engine) in engines(target("gfx90a")) {
        let (machine, mut wave, log) = observed(TEST, engine, text, Log::default());
        let event = machine.run(&mut wave);
        assert!(matches!(event, Event::Fault(f) if f.kind == FaultKind::Read { bytes: 4 }), "{name}");
        let accesses: Vec<String> = log.take().into_iter().filter(|l| l.starts_with("Global")).collect();
        let fault = "Global 64 4 Read lane 0 Read { bytes: 4 }";
        assert_eq!(accesses, ["Global 60 4 Read lane 0", fault], "{name}");
    }
}

/// An engine may hand single instructions to the interpreter: here all of them, of a loop.
#[test]
fn single_steps_of_the_interpreter() {
    struct Stepper(Interp);
    impl Engine for Stepper {
        fn run(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event {
            (0..budget).find_map(|_| self.0.step(wave, group, memory)).unwrap_or(Event::Preempted)
        }
        fn invalidate(&self, _: u64, _: u64) {}
    }
    let text = "
        s_mov_b32 s6, 5
        v_mov_b32 v2, 0
    again:
        v_add_u32 v2, s6, v2
        ds_add_u32 v1, v2
        s_sub_u32 s6, s6, 1
        s_cmp_lg_u32 s6, 0
        s_cbranch_scc1 again
        ds_read_b32 v3, v1
    ";
    let interp = || Interp::with_simd(target("gfx90a"), Simd::detect());
    let (machine, mut wave, _) = observed(TEST, Box::new(Stepper(interp())), text, Log::default());
    wave.observer = None;
    assert_eq!(machine.run(&mut wave), Event::End);
    // 5 + 4 + … + 1, and the sum of the sums so far.
    assert_eq!((wave.vgpr(2).unwrap()[0], wave.vgpr(3).unwrap()[0]), (15, 5 + 9 + 12 + 14 + 15));
    assert_eq!(wave.counters.total(), 2 + 5 * 5 + 1 + 1);
}
