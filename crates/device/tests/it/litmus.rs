//! Litmus tests of the memory model: small programs of two to four threads in the code sequences that the AMDGPU guide's
//! table (and for LDS the ROCm ABI) prescribes, run many times on several host threads. Outcomes that the model forbids
//! must not be seen. `WAVEMILL_LITMUS=seconds` runs them longer.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use wavemill_device::kernarg::Value;
use wavemill_device::run::Launch;
use wavemill_device::{Device, Options, Use};
use wavemill_isa::target::{Target, processor};

const TESTS: [(&str, &str); 12] = [
    ("store_buffering", include_str!("../litmus/store_buffering.s")),
    ("store_buffering_fences", include_str!("../litmus/store_buffering_fences.s")),
    ("message_passing", include_str!("../litmus/message_passing.s")),
    ("message_passing_fences", include_str!("../litmus/message_passing_fences.s")),
    ("load_buffering", include_str!("../litmus/load_buffering.s")),
    ("iriw", include_str!("../litmus/iriw.s")),
    ("rmw_chain", include_str!("../litmus/rmw_chain.s")),
    ("rmw_atomic", include_str!("../litmus/rmw_atomic.s")),
    ("coherence", include_str!("../litmus/coherence.s")),
    ("dekker_rmw", include_str!("../litmus/dekker_rmw.s")),
    ("write_to_read_causality", include_str!("../litmus/write_to_read_causality.s")),
    ("tearing", include_str!("../litmus/tearing.s")),
];

/// A processor and the macros for its memory instructions.
const PROCESSORS: [(&str, u32, &str); 6] = [
    ("gfx600", 6, include_str!("../litmus/gfx6.s")),
    ("gfx701", 7, include_str!("../litmus/gfx7.s")),
    ("gfx803", 8, include_str!("../litmus/gfx7.s")),
    ("gfx900", 9, include_str!("../litmus/gfx9.s")),
    ("gfx908", 9, include_str!("../litmus/gfx9.s")),
    ("gfx90a", 9, include_str!("../litmus/gfx9.s")),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scope {
    Wave = 0,
    WorkGroup = 1,
    Agent = 2,
    System = 3,
}

/// What a test's results must not be: (role, result, value) that are not all true, or (role, result) that are not equal.
enum Rule {
    Forbid(Vec<(usize, usize, u32)>),
    Distinct(Vec<(usize, usize)>),
}

struct Test {
    roles: usize,
    global_only: bool,
    rules: Vec<Rule>,
    /// An outcome that must be seen, or the test would show nothing: at wave scope, where roles play in order, it always is.
    see: Vec<(usize, usize, u32)>,
}

fn read_test(source: &str) -> Test {
    let mut test = Test { roles: 0, global_only: false, rules: Vec::new(), see: Vec::new() };
    let place = |t: &str| {
        let (role, result) = t.split_once('.').expect("role.result");
        (role.parse::<usize>().expect("a role"), result.parse::<usize>().expect("a result"))
    };
    let outcome = |list: &str| {
        let one = |t: &str| {
            let (at, value) = t.split_once('=').expect("an `=`");
            let (role, result) = place(at);
            (role, result, value.parse().expect("a number"))
        };
        list.split_whitespace().map(one).collect::<Vec<_>>()
    };
    for line in source.lines().filter_map(|l| l.strip_prefix("; ")) {
        match line.split_once(' ') {
            Some(("roles", n)) => test.roles = n.parse().expect("a number"),
            Some(("only", "global")) => test.global_only = true,
            Some(("forbid", list)) => test.rules.push(Rule::Forbid(outcome(list))),
            Some(("see", list)) => test.see = outcome(list),
            Some(("distinct", list)) => {
                test.rules.push(Rule::Distinct(list.split_whitespace().map(place).collect()));
            }
            _ => {}
        }
    }
    test
}

impl Rule {
    fn broken(&self, results: impl Fn(usize, usize) -> u32) -> bool {
        match self {
            Rule::Forbid(all) => all.iter().all(|&(role, result, value)| results(role, result) == value),
            Rule::Distinct(places) => {
                let mut values: Vec<u32> =
                    places.iter().map(|&(role, result)| results(role, result)).collect();
                values.sort_unstable();
                values.windows(2).any(|w| w[0] == w[1])
            }
        }
    }
}

fn source(cpu: &(&str, u32, &str), test: &Test, text: &str, scope: Scope, local: bool) -> String {
    let mut s = String::new();
    let (name, major, macros) = *cpu;
    let tries = if scope == Scope::WorkGroup { 10 } else { 60 };
    let _ = write!(
        s,
        ".set MAJOR, {major}\n.set SCOPE, {}\n.set SPACE, {}\n.set ROLES, {}\n.set TRIES, {tries}\n",
        scope as u32,
        u32::from(local),
        test.roles
    );
    if name == "gfx90a" {
        s += ".set GFX90A, 1\n";
    }
    for part in [macros, include_str!("../litmus/orders.s"), text, include_str!("../litmus/kernel.s")] {
        s += part;
        s += "\n";
    }
    let accum = if name == "gfx90a" { ".amdhsa_accum_offset 32\n" } else { "" };
    let _ = write!(
        s,
        ".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 32\n.amdhsa_next_free_sgpr 40\n{accum}\
         .amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_kernarg_size 24\n.amdhsa_group_segment_fixed_size {}\n\
         .end_amdhsa_kernel\n",
        if local { 32768 } else { 0 }
    );
    s
}

/// Rounds of a run: LDS has no room for more.
const MOST_ROUNDS: u32 = 1500;

/// Runs a test once and returns how many rounds broke a rule, and how many showed what must be seen.
fn run(cpu: &(&str, u32, &str), text: &str, scope: Scope, local: bool, rounds: u32) -> (usize, usize) {
    let test = read_test(text);
    let target = Target::new(processor(cpu.0).unwrap());
    let device = Device::new(target, &Options { threads: test.roles.max(2), ..Options::default() });
    let object = super::object(cpu.0, &source(cpu, &test, text, scope, local));
    let loaded = device.load("litmus.o", object).unwrap();
    let kernel = loaded.kernel("k").unwrap();
    let memory = device.memory();
    // Within a work-group, several work-groups play at once, each with memory of its own.
    let groups = if (scope as u32) < 2 { 4 } else { 1 };
    let all = rounds as usize * groups;
    let places = memory.allocate(512 * all as u64, Use::Device, "places").unwrap();
    let results = memory.allocate(64 * all as u64, Use::Device, "results").unwrap();
    let values = vec![
        Value::Bytes(places.start().to_le_bytes().to_vec()),
        Value::Bytes(results.start().to_le_bytes().to_vec()),
        Value::Bytes(u64::from(rounds).to_le_bytes().to_vec()),
    ];
    let lanes = 64 * test.roles as u32;
    let (grid, block) = match scope {
        Scope::Wave => (64 * groups as u32, 64),
        Scope::WorkGroup => (lanes * groups as u32, lanes),
        Scope::Agent | Scope::System => (lanes, 64),
    };
    let how = Launch {
        grid: vec![grid],
        block: vec![block],
        values,
        timeout: Some(Duration::from_secs(100)),
        ..Launch::default()
    };
    let done = device.launch(kernel, &how).unwrap();
    assert!(done.fault.is_none(), "{}", done.fault.unwrap());
    let mut bytes = vec![0; 64 * all];
    results.read(0, &mut bytes);
    let (mut broken, mut seen) = (0, 0);
    for round in bytes.chunks_exact(64) {
        let result = |role: usize, n: usize| {
            let at = 16 * role + 4 * n;
            u32::from_le_bytes(round[at..at + 4].try_into().unwrap())
        };
        broken += usize::from(test.rules.iter().any(|r| r.broken(result)));
        seen += usize::from(test.see.iter().all(|&(role, n, value)| result(role, n) == value));
    }
    (broken, seen)
}

#[test]
fn only_allowed_outcomes() {
    let seconds = std::env::var("WAVEMILL_LITMUS").ok().and_then(|s| s.parse().ok()).unwrap_or(0u64);
    let until = Instant::now() + Duration::from_secs(seconds);
    let rounds = if seconds == 0 { 40 } else { MOST_ROUNDS };
    let mut seen: HashMap<&str, usize> = HashMap::new();
    loop {
        for cpu in &PROCESSORS {
            for (name, text) in TESTS {
                for (scope, local) in [
                    (Scope::Wave, false),
                    (Scope::Wave, true),
                    (Scope::WorkGroup, false),
                    (Scope::WorkGroup, true),
                    (Scope::Agent, false),
                    (Scope::System, false),
                ] {
                    if local && read_test(text).global_only {
                        continue;
                    }
                    let (broken, shown) = run(cpu, text, scope, local, rounds);
                    *seen.entry(name).or_default() += shown;
                    assert_eq!(broken, 0, "{name} on {} at {scope:?} scope, local: {local}", cpu.0);
                }
            }
        }
        if Instant::now() >= until {
            break;
        }
    }
    for (name, _) in TESTS {
        assert_ne!(seen[name], 0, "{name} never shows what it is about");
    }
}
