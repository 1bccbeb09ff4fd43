//! Observers see every instruction, what it touches, and why a wave stops; the wave computes the same.

use crate::harness::Machine;
use std::sync::{Arc, Mutex};
use wavemill_wave::observe::{Access, Control, Instruction, Observer};
use wavemill_wave::{Event, Simd, Wave};

/// A mnemonic, and what was touched.
type Seen = (&'static str, Vec<(u64, u64)>);

#[derive(Default)]
struct Log {
    seen: Mutex<Vec<Seen>>,
    stops: Mutex<Vec<Event>>,
}

impl Observer for Log {
    fn before(&self, _: &Wave, next: &Instruction) -> Control {
        self.seen.lock().unwrap().push((next.inst.row.name, Vec::new()));
        Control::Continue
    }
    fn access(&self, _: &Wave, access: &Access) -> Control {
        let mut seen = self.seen.lock().unwrap();
        seen.last_mut().unwrap().1.push((access.address, access.bytes as u64));
        Control::Continue
    }
    fn stopped(&self, _: &Wave, event: &Event) {
        self.stops.lock().unwrap().push(event.clone());
    }
}

#[test]
fn sees_instructions_accesses_and_stops() {
    let text = "
        s_mov_b64 exec, 5
        v_lshlrev_b32 v1, 3, v0
        global_load_dword v2, v1, s[2:3] offset:4
        s_barrier
    ";
    let mut machine = Machine::new("gfx90a", Simd::detect(), text, 0);
    let data: Vec<u8> = (0..64).collect();
    let buffer = machine.buffer(&data);
    let log = Arc::new(Log::default());
    let mut wave = machine.wave();
    wave.set_sgpr64(2, buffer);
    for lane in 0..64 {
        wave.vgpr_mut(0).unwrap()[lane] = lane as u32;
    }
    let mut plain = wave.clone();
    wave.observer = Some(log.clone());
    for event in [Event::Barrier, Event::End] {
        assert_eq!(machine.run(&mut wave), event);
        assert_eq!(machine.run(&mut plain), event);
    }
    // Lanes 0 and 2, eight bytes a lane, four bytes on.
    let touched = vec![(buffer + 4, 4), (buffer + 20, 4)];
    let expected = vec![
        ("s_mov_b64", vec![]),
        ("v_lshlrev_b32", vec![]),
        ("global_load_dword", touched),
        ("s_barrier", vec![]),
        ("s_endpgm", vec![]),
    ];
    assert_eq!(*log.seen.lock().unwrap(), expected);
    assert_eq!(*log.stops.lock().unwrap(), [Event::Barrier, Event::End]);
    assert_eq!(wave.vgpr(2).unwrap()[2], u32::from_le_bytes([20, 21, 22, 23]));
    assert_eq!(wave.vgpr(2), plain.vgpr(2));
    assert_eq!(wave.counters, plain.counters);
}
