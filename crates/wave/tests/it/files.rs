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
//! ```

use crate::harness::Machine;
use std::collections::HashMap;
use std::path::Path;
use wavemill_wave::{Event, Simd, Wave};

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

fn run(path: &Path, text: &str, cpu: &str, simd: Simd) {
    let header: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("; ")).collect();
    let after = |key: &str| header.iter().filter_map(move |l| l.strip_prefix(key)).collect::<Vec<_>>();
    let lds = after("lds ").first().map_or(0, |n| number(n.trim()) as u32);
    let (_, test) = path.to_str().and_then(|p| p.split_once("tests/files/")).expect("a file of tests/files");
    let mut machine = Machine::of(&format!("crates/wave/tests/files/{test}"), cpu, simd, text, lds);
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
    let at = format!("{} for {cpu} on {}", path.display(), simd.name());
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

#[test]
fn files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut count = 0;
    for family in std::fs::read_dir(&root).expect("tests/files").flatten() {
        for file in std::fs::read_dir(family.path()).expect("a directory").flatten() {
            let text = std::fs::read_to_string(file.path()).expect("a text file");
            let cpus = text.lines().find_map(|l| l.strip_prefix("; cpu: ")).unwrap_or("gfx90a");
            for cpu in cpus.split_whitespace() {
                for simd in Simd::available() {
                    run(&file.path(), &text, cpu, simd);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 0);
}
