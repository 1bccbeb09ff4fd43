//! Files of assembly in `tests/files`: a header of comments sets registers and memory and says what to expect.
//!
//! ```text
//! ; cpu: gfx90a gfx908          which processors to run on
//! ; set v0 = lane*4+16          registers: numbers cycle over the lanes; `lane`, `lane*N`, `lane*N+M`;
//! ;                             `1 2 0 ..` repeats the last one instead
//! ; set s2 = 0x10               also exec, vcc, m0, scc, mode, status; `sgprs`: how many; `gather`: float exceptions
//! ; buffer s[4:5] = 1 2 3       guest memory of dwords; the registers get its address
//! ; lds 1024                    bytes of LDS
//! ; expect v1 = 1 2 -3 1.5      what must come out; floats have a point
//! ; expect s[4:5] = 7 8 9       a buffer's first dwords
//! ;; text                       for people
//! ```
//!
//! Each file is a test by its own name; a file that is not in the list at the end, or no more there, fails one.

use crate::harness::{Machine, engines, target};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use wavemill_wave::{Engine, Event, Wave};

fn number(text: &str) -> u64 {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |d| (-1, d));
    if let Some(hex) = digits.strip_prefix("0x") {
        return (u64::from_str_radix(hex, 16).unwrap_or_else(|_| panic!("`{text}`?")) as i64 * sign) as u64;
    }
    if digits.contains('.') {
        return digits
            .parse::<f32>()
            .map(|f| (f * sign as f32).to_bits())
            .unwrap_or_else(|_| panic!("`{text}`?")) as u64;
    }
    (digits.parse::<i64>().unwrap_or_else(|_| panic!("`{text}`?")) * sign) as u64
}

fn values(text: &str) -> Box<dyn Fn(usize) -> u64> {
    if let Some(rest) = text.strip_prefix("lane") {
        let (factor, add) = rest.split_once('+').unwrap_or((rest, "0"));
        let factor = factor.strip_prefix('*').map_or(1, number);
        let add = number(add);
        return Box::new(move |lane| (lane as u64).wrapping_mul(factor).wrapping_add(add));
    }
    let (numbers, last) = text.strip_suffix("..").map_or((text, false), |t| (t, true));
    let list: Vec<u64> = numbers.split_whitespace().map(number).collect();
    Box::new(move |lane| list[if last { lane.min(list.len() - 1) } else { lane % list.len() }])
}

fn set(wave: &mut Wave, register: &str, text: &str) {
    let value = values(text);
    match register {
        "exec" => wave.set_exec(value(0)),
        "vcc" => wave.set_vcc(value(0)),
        "m0" => wave.set_sgpr(124, value(0) as u32),
        "scc" => wave.scc = value(0) != 0,
        "mode" => wave.mode = value(0) as u32,
        "status" => wave.status = value(0) as u32,
        "sgprs" => wave.sgpr_count = value(0) as u8,
        "gather" => wave.gather_exceptions = value(0) != 0,
        r if r.starts_with('v') => {
            let lanes = wave.vgpr_mut(number(&r[1..]) as u16).expect("a register");
            lanes.iter_mut().enumerate().for_each(|(lane, v)| *v = value(lane) as u32);
        }
        r => wave.set_sgpr(number(&r[1..]) as u32, value(0) as u32),
    }
}

/// The words a line of a header may start with.
const KEYS: [&str; 5] = ["cpu:", "set", "buffer", "lds", "expect"];

/// A file's header, without what is for people.
fn header<'a>(name: &str, text: &'a str) -> Vec<&'a str> {
    let lines: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("; ")).collect();
    for line in &lines {
        let key = line.split_whitespace().next().unwrap_or_default();
        assert!(KEYS.contains(&key), "{name}: no `{key}` in a header (text for people stands behind `;;`)");
    }
    lines
}

fn run(path: &Path, text: &str, cpu: &str, (name, engine): (&str, Box<dyn Engine>)) {
    let header = header(&path.display().to_string(), text);
    let after = |key: &str| header.iter().filter_map(move |l| l.strip_prefix(key)).collect::<Vec<_>>();
    let lds = after("lds ").first().map_or(0, |n| number(n.trim()) as u32);
    let (_, test) = path.to_str().and_then(|p| p.split_once("tests/files/")).expect("a file of tests/files");
    let test = format!("crates/wave/tests/files/{test}");
    let mut machine = Machine::with(&test, target(cpu), engine, text, lds);
    let mut wave = machine.wave();
    let mut buffers = HashMap::new();
    let pair =
        |l: &str| l.split_once('=').map(|(a, b)| (a.trim().to_owned(), b.trim().to_owned())).expect("an `=`");
    for (register, list) in after("buffer ").into_iter().map(pair) {
        let bytes: Vec<u8> = list.split_whitespace().flat_map(|n| (number(n) as u32).to_le_bytes()).collect();
        let address = machine.buffer(&bytes);
        let first = number(register[2..].split(':').next().unwrap()) as u32;
        wave.set_sgpr64(first, address);
        buffers.insert(register, address);
    }
    for (register, list) in after("set ").into_iter().map(pair) {
        set(&mut wave, &register, &list);
    }
    let at = format!("{} for {cpu} on {name}", path.display());
    assert_eq!(machine.run(&mut wave), Event::End, "{at}");
    for (register, list) in after("expect ").into_iter().map(pair) {
        let value = values(&list);
        match register.as_str() {
            "exec" => assert_eq!(wave.exec(), value(0), "exec in {at}"),
            "vcc" => assert_eq!(wave.vcc(), value(0), "vcc in {at}"),
            "scc" => assert_eq!(wave.scc as u64, value(0), "scc in {at}"),
            "m0" => assert_eq!(wave.sgpr(124), value(0) as u32, "m0 in {at}"),
            r if r.starts_with('v') => {
                let lanes = wave.vgpr(number(&r[1..]) as u16).expect("a register");
                for (lane, v) in lanes.iter().enumerate() {
                    assert_eq!(*v, value(lane) as u32, "{r}, lane {lane} in {at}: {v:#x}");
                }
            }
            r if r.starts_with("s[") => {
                let n = list.split_whitespace().count();
                let bytes = machine.read(buffers[r], 4 * n);
                for (i, word) in bytes.as_chunks::<4>().0.iter().enumerate() {
                    let got = u32::from_le_bytes(*word);
                    assert_eq!(got, value(i) as u32, "dword {i} of {r} in {at}: {got:#x}");
                }
            }
            r => {
                let got = wave.sgpr(number(&r[1..]) as u32);
                assert_eq!(got, value(0) as u32, "{r} in {at}: {got:#x}");
            }
        }
    }
}

/// Runs a file of `tests/files` on its processors with every engine.
fn check(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let cpus = text.lines().find_map(|l| l.strip_prefix("; cpu: ")).unwrap_or("gfx90a");
    assert!(text.lines().any(|l| l.starts_with("; expect ")), "{file} expects nothing");
    let cpus: Vec<&str> = cpus.split_whitespace().collect();
    // Miri takes a thousand times as long: it looks at one processor and the first engine.
    let (skipped, most) = if cfg!(miri) { (cpus.len() - 1, 1) } else { (0, usize::MAX) };
    for cpu in &cpus[skipped..] {
        for engine in engines(target(cpu)).into_iter().take(most) {
            run(&path, &text, cpu, engine);
        }
    }
}

#[test]
#[should_panic(expected = "no `setting` in a header")]
fn unknown_words_in_a_header_are_refused() {
    header("a.s", "; set v0 = 1\n;; setting sun\n; setting v0 = 2\n");
}

/// Tests by the names of their files, and one that compares the list with the directory.
macro_rules! files {
    ($($family:ident { $($file:ident,)* })*) => {
        $(mod $family {
            $(#[test]
            fn $file() {
                super::check(concat!(stringify!($family), "/", stringify!($file), ".s"));
            })*
        })*

        #[test]
        fn the_list_is_complete() {
            let listed: BTreeSet<String> =
                [$($(concat!(stringify!($family), "/", stringify!($file), ".s"),)*)*].map(str::to_owned).into();
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
            let mut there = BTreeSet::new();
            for family in std::fs::read_dir(&root).expect("tests/files").flatten() {
                for file in std::fs::read_dir(family.path()).expect("a directory").flatten() {
                    let path = file.path();
                    let name = path.strip_prefix(&root).expect("a file below the directory");
                    there.insert(name.to_str().expect("a plain name").to_owned());
                }
            }
            assert_eq!(listed, there);
        }
    };
}

files! {
    control {
        alignment, apertures, branches, call, calls, cdbg, cdbg_both, cdbg_system, exceptions,
        exceptions9, fork, fork_nested, fork_uniform, index, index_rules, mode, movrel, ordered_ps_done,
        out_of_range, out_of_range_memory, privilege, quiet, sgpr_range, status, vskip, xnack_mask,
    }
    export {
        exports, halves_gfx8, halves_gfx9, interpolate, interpolate_f16, interpolate_modifiers,
    }
    lanes {
        dpp, dpp_exec, mbcnt, newbcast, readlane, readlane_exec, readlane_short,
    }
    lds {
        access, addtid, append, gds, no_limit, ordered_count, permutes, wrap,
    }
    memory {
        addr64, atomics, atomics64, buffer, buffer_lds, d16, d16_ecc, dense, flat_lds, global, same_address, scalar,
        scalar_buffer, scalar_buffer_mask, scalar_components, scalar_gfx6, scalar_negative, scalar_offset, scalar_scratch, scalar_wrap,
        scratch, scratch_negative, store_lds, structured_gfx6, structured_gfx8, structured_gfx9,
        swizzled_buffer, tfe, unbound, wrap, wrap_global, wrap_private,
    }
    old {
        append, carry8, dpp8, integers, lds_limit, legacy, mad_legacy8, movrel_v, mullit, scalar_offset, sdwa8, smem8, smrd,
        smrd_buffer, smrd_literal, vcc_alias, wrap,
    }
    salu {
        arithmetic, exec,
    }
    valu {
        class, division, division_toward_zero, dot2_flush, dot2_keep, exec, fract_down, halves, mad_mix_flush, minmax, mix,
        modifiers, nan_to_int, norm_denormals, norm_flushed, special,
    }
}
