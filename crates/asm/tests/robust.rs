//! Bad input is an answer: never a panic, a hang or a heap without bounds.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use wavemill_asm::{Options, Output, OutputType, assemble};
use wavemill_isa::Target;
use wavemill_isa::target::processor;
use wavemill_testing::Random;

fn run(text: &[u8], kind: OutputType) -> Output {
    let mut options = Options::new(Target::new(processor("gfx900").unwrap()));
    options.output = kind;
    let output = assemble(&options, "-", text.to_vec());
    output.render_diagnostics();
    output
}

fn both(text: &[u8]) {
    run(text, OutputType::Asm);
    run(text, OutputType::Obj);
}

/// Bytes that mean something to the lexer, and some that mean nothing.
const ODD: &[u8] = b"\"\\()[]<>+-*/%!@#$&|^~,.:=0x \n\t\xff\0";

#[test]
fn damaged_files() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut random = Random(1);
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "s") {
            continue;
        }
        let text = fs::read(path).unwrap();
        let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
        for _ in 0..150 {
            let mut damaged: Vec<u8> = Vec::new();
            for _ in 0..random.below(12) + 1 {
                damaged.extend_from_slice(lines[random.below(lines.len() as u64) as usize]);
            }
            for _ in 0..random.below(4) {
                let at = random.below(damaged.len() as u64) as usize;
                match random.below(4) {
                    0 => damaged[at] = random.below(256) as u8,
                    1 => _ = damaged.remove(at),
                    2 => damaged.truncate(at + 1),
                    _ => damaged.insert(at, ODD[random.below(ODD.len() as u64) as usize]),
                }
                if damaged.is_empty() {
                    break;
                }
            }
            both(&damaged);
        }
    }
}

#[test]
fn runaways_end() {
    let deep = |open: &str, close: &str, n| format!(".long {}1{}\n", open.repeat(n), close.repeat(n));
    let long_sum = format!(".long a{}\n", "+a".repeat(100_000));
    let chain: String = (1..5_000).map(|i| format!(".set x{i}, x{}+1\n", i - 1)).collect();
    let doubling: String = (1..200).map(|i| format!(".set x{i}, x{}-x{}\n", i - 1, i - 1)).collect();
    let ifs = ".if 1\n".repeat(200_000);
    let cases = [
        deep("(", ")", 100_000),
        deep("-", "", 100_000),
        deep("max(", ")", 100_000),
        deep("[", "]", 100_000),
        long_sum,
        format!("x0: .byte 1\n{chain}.long x4999\n.if x4999\n.endif\n.size x0, x4999\n"),
        format!("x0: .byte 1\n{doubling}.long x199\n.if x199\n.endif\n"),
        ifs,
        ".macro m\nm\nm\n.endm\nm\n".into(),
        ".macro m a\nm \"\\a\\a\"\n.endm\nm x\n".into(),
        ".rept 1000000000000\n.byte 1\n.endr\n".into(),
        ".rept 0x7fffffffffffffff\n.endr\n".into(),
        ".rept 3\n.rept 1000000000\n.byte 1\n.endr\n.endr\n".into(),
        ".fill 0x7fffffffffffffff, 8, 1\n.space 0x7fffffffffffffff\n.zero -1\n".into(),
        ".dcb.b 0x7fffffffffffffff, 1\n.ds.x 0x7fffffffffffffff\n".into(),
        ".org 0x7fffffffffffffff\n.org -1\n.balign 0x80000000\n.byte 1\n.balign 0x80000000\n".into(),
        "a: .org b\nb: .org a+100\n.uleb128 b-a\n.org c+1\nc:\n".into(),
        ".file 4294967295 \"x\"\n.loc 1 99999999999 99999999999\n".into(),
        ".octa 0xfffffffffffffffffffffffffffffffffffffff\n".into(),
        ".pushsection .x\n".repeat(20_000),
        ".comm a, 1, 64\n.comm b, 1, -1\n.lcomm c, 0x7fffffffffffffff\n.p2align -1\n.balign -8\n".into(),
        ".irpc x,0\n.irpc y,1\n.irpc z,2\n".into(),
        "a = b\nb = c\nc = a\n.set d, e\n.set e, d\n.long a, b, c, d, e\n".into(),
        ".long -9223372036854775808/-1, -9223372036854775808%-1, 1<<64, 1>>-1, alignto(5, 0)\n".into(),
    ];
    for case in cases {
        let start = Instant::now();
        both(case.as_bytes());
        let shown = &case[..case.len().min(60)];
        assert!(start.elapsed() < Duration::from_secs(20), "took {:?}: {shown}", start.elapsed());
    }
}

#[test]
fn every_error_of_a_file_is_reported() {
    let output = run(b".byte 256\n.nonsense\n.long )\n.byte 1\n.err\n", OutputType::Asm);
    assert_eq!(output.diagnostics.len(), 4);
    assert!(output.text.ends_with(b"\t.byte\t1\n"));
}

#[test]
fn bytes_that_are_not_text() {
    both(b"\xff\xfe\0\x80");
    both(b".ascii \"\xff\"\n\"\xff\": .globl \"\xff\"\n.section \"\xff\"\n.long '\xff'\n");
    both(b".error \"\xff\xfe\"\n; \xff\n/* \xff */ .byte 1\n.print \"\xff\"\n");
}
