//! Global wave sync: barriers and semaphores that waves of different work-groups share (manual 12.12, DS_GWS_*).
//!
//! Every wave is a program of its own here; that they run in turns is up to the test, so that who waits for whom is known.

use crate::harness::{CPUS, Machine};
use std::sync::Arc;
use wavemill_wave::{Event, Global, Simd, Wave};

/// A wave that comes to a resource, in a work-group of its own.
struct Visitor(Machine, Wave);

impl Visitor {
    /// Half of the resource's number, 5, is in M0, half in the instruction; the datum is that of the first active lane.
    fn new(cpu: &str, global: &Arc<Global>, name: &str, datum: Option<u32>) -> Visitor {
        let operand = if datum.is_some() { "v2 " } else { "" };
        let text =
            format!("s_mov_b32 m0, 0x30000\n{name} {operand}offset:2 gds\ns_waitcnt 0\ns_mov_b32 s9, 77");
        let mut machine = Machine::new(cpu, Simd::Portable, &text, 0);
        machine.group.global = global.clone();
        let mut wave = machine.wave();
        wave.set_exec(0xffff_ff00);
        wave.vgpr_mut(2).unwrap().fill(99);
        wave.vgpr_mut(2).unwrap()[8] = datum.unwrap_or(0);
        Visitor(machine, wave)
    }

    /// Whether it passes; if not, it is asked again later.
    fn passes(&mut self) -> bool {
        match self.0.run(&mut self.1) {
            Event::End => {
                assert_eq!(self.1.sgpr(9), 77);
                true
            }
            Event::Preempted => false,
            event => panic!("{event:?}"),
        }
    }
}

/// The waves bring the size of the next barrier; the last of one barrier lets all pass.
#[test]
fn barriers() {
    for cpu in CPUS {
        let global = Arc::default();
        let visitor = |name, datum| Visitor::new(cpu, &global, name, Some(datum));
        assert!(visitor("ds_gws_init", 2).passes(), "{cpu}");
        let mut first = [(); 3].map(|()| visitor("ds_gws_barrier", 1));
        assert!(!first[0].passes() && !first[1].passes() && !first[0].passes(), "{cpu}");
        assert!(first[2].passes() && first[0].passes() && first[1].passes(), "{cpu}");
        // Now for two waves, and then for one.
        let mut second = [(); 2].map(|()| visitor("ds_gws_barrier", 0));
        assert!(!second[0].passes(), "{cpu}");
        assert!(second[1].passes() && second[0].passes(), "{cpu}");
        assert!(visitor("ds_gws_barrier", 0).passes(), "{cpu}");
    }
}

/// P takes a place and waits for one, V gives one back.
#[test]
fn semaphores() {
    for cpu in CPUS {
        let global = Arc::default();
        let visitor = |name, datum| Visitor::new(cpu, &global, name, datum);
        assert!(visitor("ds_gws_init", Some(2)).passes(), "{cpu}");
        let mut waves = [(); 4].map(|()| visitor("ds_gws_sema_p", None));
        assert_eq!(
            [0, 1, 2, 3, 2, 3].map(|i| waves[i].passes()),
            [true, true, false, false, false, false],
            "{cpu}"
        );
        assert!(visitor("ds_gws_sema_v", None).passes(), "{cpu}");
        // One of them passes, and only one.
        assert_eq!([3, 2].map(|i| waves[i].passes()), [true, false], "{cpu}");
        assert!(visitor("ds_gws_sema_v", None).passes() && waves[2].passes(), "{cpu}");
    }
}

/// As many as the datum says pass, now or when they come.
#[test]
fn bulk_release() {
    for cpu in CPUS {
        let global = Arc::default();
        let visitor = |name, datum| Visitor::new(cpu, &global, name, datum);
        assert!(visitor("ds_gws_init", Some(0)).passes(), "{cpu}");
        let mut waves = [(); 2].map(|()| visitor("ds_gws_sema_p", None));
        assert!(!waves[0].passes() && !waves[1].passes(), "{cpu}");
        assert!(visitor("ds_gws_sema_br", Some(3)).passes(), "{cpu}");
        assert!(waves[0].passes() && waves[1].passes(), "{cpu}");
        assert!(visitor("ds_gws_sema_p", None).passes(), "{cpu}: the third place");
        assert!(!visitor("ds_gws_sema_p", None).passes(), "{cpu}");
    }
}

/// All that wait pass, and nobody who comes later.
#[test]
fn release_of_all() {
    for cpu in CPUS.into_iter().filter(|cpu| *cpu != "gfx600") {
        let global = Arc::default();
        let visitor = |name, datum| Visitor::new(cpu, &global, name, datum);
        assert!(visitor("ds_gws_init", Some(0)).passes(), "{cpu}");
        assert!(visitor("ds_gws_sema_release_all", None).passes(), "{cpu}: nobody waits");
        let mut waves = [(); 3].map(|()| visitor("ds_gws_sema_p", None));
        assert_eq!([0, 1, 2].map(|i| waves[i].passes()), [false; 3], "{cpu}");
        assert!(visitor("ds_gws_sema_release_all", None).passes(), "{cpu}");
        assert_eq!([2, 0, 1].map(|i| waves[i].passes()), [true; 3], "{cpu}");
        assert!(!visitor("ds_gws_sema_p", None).passes(), "{cpu}");
    }
}
