//! Races between two GPUs: bugs and their mended twins (tests/checks/gpus), in the memory model of gfx90a (LLVM's
//! AMDGPUUsage). Every bug is found at its line, nothing in the twin, and nothing in fine-grained memory, which no L2 keeps.
//!
//! `writer` runs on GPU 0, `reader` on GPU 1. `places` gives both the addresses of the data (s[4:5]), which are in the memory of
//! the GPU behind `; home:`, of a flag (s[6:7]), and of a word by which the reader says that it runs (s[8:9]).

use crate::queues::{LONG, dispatch, submit};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wavemill_check::{Checks, Report, Session};
use wavemill_device::aql::{FenceScope, packet_type};
use wavemill_device::memory::Use;
use wavemill_device::observe::Observers;
use wavemill_device::{EngineKind, Options, Profile};
use wavemill_isa::target::{Target, processor};
use wavemill_runtime::executable::Executable;
use wavemill_runtime::heap::{Gpus, Origin};
use wavemill_runtime::processor::QueueRequest;
use wavemill_runtime::signal::Condition;
use wavemill_runtime::system::{Setup, System};
use wavemill_testing::object;

/// Numbers of pools (`agent::GPU_POOLS`).
const COARSE: usize = 0;
const FINE: usize = 1;

/// How often a bug that depends on the order of two threads may be missed.
const TRIES: usize = 20;

/// When the reader begins.
#[derive(Clone, Copy, PartialEq)]
enum When {
    /// Before the writer, which it waits for.
    Meanwhile,
    /// When the writer has ended, whose packet releases so far.
    Behind(FenceScope),
    /// The same, with a barrier packet of this GPU between them that releases for the system.
    BehindBarrierOf(usize),
}

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/checks/gpus");
    let mut all: Vec<PathBuf> = std::fs::read_dir(root).expect("pairs").flatten().map(|e| e.path()).collect();
    all.sort();
    all
}

/// The source as it is assembled: with the addresses, the lines it comes from, and descriptors.
fn source(text: &str, places: [u64; 3]) -> String {
    let mut out = String::from(".text\n.macro places\n");
    for (register, place) in (4..).step_by(2).zip(places) {
        let [low, high] = [place & 0xffff_ffff, place >> 32];
        out += &format!("s_mov_b32 s{register}, {low:#x}\ns_mov_b32 s{}, {high:#x}\n", register + 1);
    }
    out += ".endm\n.file 1 \"pair.s\"\n";
    for (number, line) in (1..).zip(text.lines()) {
        match line.strip_suffix(':') {
            Some(name @ ("writer" | "reader")) => {
                out += &format!(".globl {name}\n.p2align 8\n.type {name},@function\n");
            }
            _ if line.starts_with("    ") => out += &format!(".loc 1 {number}\n"),
            _ => {}
        }
        out += &format!("{line}\n");
    }
    for name in ["writer", "reader"] {
        out += &format!(
            ".rodata\n.p2align 6\n.amdhsa_kernel {name}\n.amdhsa_next_free_vgpr 4\n.amdhsa_next_free_sgpr 16\n\
             .amdhsa_accum_offset 4\n.end_amdhsa_kernel\n"
        );
    }
    out
}

/// Runs both kernels with all checks.
fn run(text: &str, (home, pool): (usize, usize), when: When) -> Vec<Report> {
    let session = Arc::new(Session::new(Checks::parse("").unwrap()));
    let target = Target::new(processor("gfx90a").unwrap());
    let system = System::new(Setup {
        profile: Profile::named("mi210").unwrap(),
        target,
        gpus: 2,
        options: Options { threads: 1, ..Options::default() },
        engine: Box::new(|t| EngineKind::Interp.make(t)),
        journal: None,
        log: None,
        observer: None,
        observers: Observers::one(session.clone()),
    });
    let both = Gpus::one(0).with(Gpus::one(1));
    let data = system.heap.allocate(4096, Origin::Pool(home + 1, pool), Use::Device, both).unwrap();
    let [flag, ready, done] = [0, 0, 2].map(|value| system.signal(value).unwrap());
    // The value of a signal stands behind its kind.
    let object = object("gfx90a", &source(text, [data, flag.handle() + 8, ready.handle() + 8]));
    let mut executable = Executable::default();
    for gpu in system.gpus() {
        executable.load(gpu, "pair", &object, (0, 0)).unwrap();
    }
    executable.freeze().unwrap();
    let queues = system.gpus().iter().map(|gpu| {
        let on_error = Box::new(|_, e: &_| panic!("{e:?}"));
        let request = QueueRequest { size: 64, kind: 0, on_error, observers: Default::default() };
        system.create_queue(gpu, request).unwrap()
    });
    let queues: Vec<_> = queues.collect();
    let start = |gpu: usize, name: &str, release: u16| {
        let kernel = executable.find(name, Some(gpu)).unwrap().address;
        submit(queues[gpu], packet_type::KERNEL_DISPATCH | 2 << 9 | release << 11, dispatch(kernel, done));
    };
    match when {
        When::Meanwhile => {
            start(1, "reader", 2);
            assert_ne!(ready.wait(Condition::Ne, 0, LONG, true), 0, "the reader runs");
            start(0, "writer", 2);
        }
        When::Behind(_) | When::BehindBarrierOf(_) => {
            let release = if when == When::Behind(FenceScope::System) { 2 } else { 1 };
            start(0, "writer", release);
            assert_eq!(done.wait(Condition::Lt, 2, LONG, true), 1, "the writer ends");
            if let When::BehindBarrierOf(gpu) = when {
                session.released(gpu as u32, FenceScope::System);
            }
            start(1, "reader", 2);
        }
    }
    assert_eq!(done.wait(Condition::Lt, 1, LONG, true), 0, "both end");
    queues.iter().for_each(|queue| assert!(system.destroy_queue(*queue)));
    session.finish()
}

fn shown(reports: &[Report]) -> String {
    reports.iter().map(|r| r.text(&|_, _| None)).collect()
}

fn places(reports: &[Report]) -> Vec<(&str, &str, u32)> {
    reports.iter().map(|r| (&*r.check, &*r.kind, r.place.source.as_ref().map_or(0, |s| s.1))).collect()
}

#[test]
fn what_another_gpu_has_written_must_be_written_back_and_old_lines_invalidated() {
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("a pair");
        let home = text.lines().find_map(|l| l.strip_prefix("; home: ")).expect("a home").parse().unwrap();
        let bug = (1..).zip(text.lines()).find_map(|(n, l)| Some((l.split_once(" BUG race ")?.1, n)));
        let (kind, line) = bug.expect("a bug");
        // A poll that reads the old value just as the writer tells of the new one counts as one that has read it: what comes
        // too early is then taken for in time. That happens now and then, and not always.
        let mut tries = (0..TRIES).map(|_| run(&text, (home, COARSE), When::Meanwhile));
        let found = tries.find(|found| !found.is_empty()).unwrap_or_default();
        assert_eq!(places(&found), [("race", kind, line)], "{path:?}:\n{}", shown(&found));
        assert_eq!(found[0].kernel, "reader");
        let other = found[0].other.as_ref().and_then(|(_, place)| place.function.as_ref());
        assert_eq!(other.map(|(name, _)| &**name), Some("writer"), "{path:?}:\n{}", shown(&found));
        let twin: Vec<&str> = text.lines().map(|l| l.strip_prefix(";+").unwrap_or(l)).collect();
        let found = run(&twin.join("\n"), (home, COARSE), When::Meanwhile);
        assert!(found.is_empty(), "the twin of {path:?}:\n{}", shown(&found));
        if kind != "stale-read" {
            let found = run(&text, (home, FINE), When::Meanwhile);
            assert!(found.is_empty(), "{path:?}, in fine-grained memory:\n{}", shown(&found));
        }
    }
}

#[test]
fn what_a_dispatch_leaves_for_another_gpu_is_released_by_a_packet() {
    // Nobody waits for anybody in the kernel.
    let text = "writer:\n    places\n    v_lshlrev_b32 v0, 2, v0\n    global_store_dword v0, v0, s[4:5]\n    s_endpgm\n\
                reader:\n    places\n    v_lshlrev_b32 v0, 2, v0\n    global_load_dword v3, v0, s[4:5]\n    s_waitcnt vmcnt(0)\n    s_endpgm";
    let found = run(text, (0, COARSE), When::Behind(FenceScope::Agent));
    assert_eq!(places(&found), [("race", "release-scope", 9)], "{}", shown(&found));
    let other = found[0].other.as_ref().and_then(|(_, place)| place.source.as_ref());
    assert_eq!(other.map(|(_, line)| *line), Some(4), "{}", shown(&found));
    // A barrier packet of the other GPU writes back another L2.
    let found = run(text, (0, COARSE), When::BehindBarrierOf(1));
    assert_eq!(places(&found), [("race", "release-scope", 9)], "{}", shown(&found));
    let well = [When::Behind(FenceScope::System), When::BehindBarrierOf(0)];
    for (place, when) in
        well.map(|w| ((0, COARSE), w)).into_iter().chain([((0, FINE), When::Behind(FenceScope::Agent))])
    {
        let found = run(text, place, when);
        assert!(found.is_empty(), "{}", shown(&found));
    }
}
