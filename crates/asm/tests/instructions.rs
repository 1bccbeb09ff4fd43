//! Instructions line by line: the bytes llvm-mc gives on every ISA level, what it refuses, and what we say about it.

use std::collections::{HashMap, HashSet};
use wavemill_asm::disasm::Disassembler;
use wavemill_asm::{Options, Output, assemble};
use wavemill_isa::{Decoder, Form, Level, ROWS, Target, target};

/// Made by `instructions/make`: a line, then `levels=bytes` for each encoding it has; `*` where ours is its own.
const GOLDEN: &str = include_str!("instructions/instructions.tsv");

/// A processor of each level.
const PROCESSORS: [&str; 8] =
    ["gfx600", "gfx700", "gfx803", "gfx900", "gfx904", "gfx906", "gfx908", "gfx90a"];

fn options(processor: &str) -> Options {
    let mut options = Options::new(Target::new(target::processor(processor).unwrap()));
    options.show_encoding = true;
    options
}

/// Do `levels`, in the table's notation, include this one?
fn includes(levels: &str, level: Level) -> bool {
    let number = |name: &str| Level::ALL.iter().position(|l| &l.name()[3..] == name).unwrap();
    levels.split(',').any(|run| {
        let (first, last) = match (run, run.split_once('-'), run.strip_suffix('+')) {
            ("all", ..) => (0, 7),
            (_, Some((a, b)), _) => (number(a), number(b)),
            (_, _, Some(a)) => (number(a), 7),
            _ => (number(run), number(run)),
        };
        (first..=last).contains(&(level as usize))
    })
}

/// The bytes of each line as `instructions/make` writes them, and the refused lines.
fn encodings(output: &Output) -> (HashMap<usize, String>, HashSet<usize>) {
    let text = String::from_utf8(output.text.clone()).unwrap();
    let mut bytes = HashMap::new();
    let mut at = 0;
    for line in text.lines() {
        if let Some(label) = line.strip_prefix('L').and_then(|l| l.strip_suffix(':')) {
            at = label.parse().unwrap();
        } else if let Some((_, encoding)) = line.split_once("encoding: [") {
            let encoding = encoding.split(']').next().unwrap_or_default();
            bytes.insert(at, encoding.replace("0x", "").replace(',', ""));
        }
    }
    let messages = String::from_utf8(output.render_diagnostics()).unwrap();
    let refused = messages
        .lines()
        .filter(|l| l.starts_with("x.s:") && l.contains(": error: "))
        .map(|l| (l.split(':').nth(1).unwrap().parse::<usize>().unwrap() - 2) / 2)
        .collect();
    (bytes, refused)
}

#[test]
fn bytes_and_refusals_equal_llvm() {
    let lines: Vec<&str> = GOLDEN.lines().collect();
    assert!(lines.len() > 5_000);
    let texts: Vec<&str> = lines.iter().map(|l| l.split('\t').next().unwrap()).collect();
    let mut differing = Vec::new();
    for (level, processor) in Level::ALL.into_iter().zip(PROCESSORS) {
        for (part, texts) in texts.chunks(4000).enumerate() {
            let source: String =
                texts.iter().enumerate().map(|(i, text)| format!("L{i}:\n{text}\n")).collect();
            let output = assemble(&options(processor), "x.s", source.into_bytes());
            let (bytes, refused) = encodings(&output);
            for (i, text) in texts.iter().enumerate() {
                let codes = lines[part * 4000 + i].split('\t').skip(1);
                let want = codes
                    .filter_map(|c| c.split_once('='))
                    .find(|(levels, _)| includes(levels, level))
                    .map(|(_, code)| code);
                if want == Some("*") {
                    continue;
                }
                let got = bytes.get(&i).map(String::as_str).filter(|_| !refused.contains(&i));
                if want != got {
                    differing.push(format!("{processor}: {text}: llvm {want:?}, ours {got:?}"));
                }
            }
        }
    }
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}

#[test]
fn the_golden_lines_have_every_row_in_every_form() {
    for (level, processor) in Level::ALL.into_iter().zip(PROCESSORS) {
        let decoder = Decoder::new(Target::new(target::processor(processor).unwrap()));
        let mut seen = HashSet::new();
        for line in GOLDEN.lines() {
            for (levels, code) in line.split('\t').skip(1).filter_map(|c| c.split_once('=')) {
                if !includes(levels, level) || code == "*" {
                    continue;
                }
                // `A` stands for a byte a fixup fills in.
                let code = code.replace('A', "00");
                let bytes: Vec<u8> = (0..code.len() / 2)
                    .map(|i| u8::from_str_radix(&code[2 * i..2 * i + 2], 16).unwrap())
                    .collect();
                if let Ok(inst) = decoder.decode_bytes(&bytes) {
                    seen.insert((std::ptr::from_ref(inst.row), inst.form as u8));
                }
            }
        }
        let mut missing = Vec::new();
        for row in &ROWS {
            for form in [Form::Base, Form::Vop3, Form::Sdwa, Form::Dpp] {
                let wanted = row.has_form(form, level) && !(row.operands.is_empty() && form != Form::Base);
                if wanted && !seen.contains(&(std::ptr::from_ref(row), form as u8)) {
                    missing.push(format!("{} {form:?}", row.name));
                }
            }
        }
        assert!(missing.is_empty(), "{processor} lacks {}: {}", missing.len(), missing.join(", "));
    }
}

/// The first message for a line.
fn complaint(processor: &str, line: &str) -> String {
    let output = assemble(&options(processor), "x.s", format!("{line}\n").into_bytes());
    let messages = String::from_utf8(output.render_diagnostics()).unwrap();
    messages.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn messages_help() {
    let cases = [
        (
            "gfx900",
            "v_ad_f32 v0, v1, v2",
            "x.s:1:1: error: unknown instruction 'v_ad_f32': did you mean v_add_f32?",
        ),
        ("gfx900", "s_wiatcnt 0", "did you mean s_waitcnt?"),
        // What not all of gfx9-generic's processors have: refused by llvm-mc-19 and 22, too.
        ("gfx9-generic", "v_mad_mix_f32 v0, v1, v2, v3", "is not available on gfx9-generic: gfx900"),
        ("gfx9-generic", "v_fma_mix_f32 v0, v1, v2, v3", "is not available on gfx9-generic: gfx904"),
        ("gfx9-generic", "v_fmac_f32 v0, v1, v2", "is not available on gfx9-generic: gfx906"),
        ("gfx900", "v_dot2c_f32_f16 v0, v1, v2", "is not available on gfx900: gfx908 and gfx90a have it"),
        ("gfx600", "global_load_dword v0, v[0:1], off", "gfx900, gfx904, gfx906, gfx908 and gfx90a have it"),
        ("gfx900", "v_mad_f32_e32 v0, v1, v2, v3", "v_mad_f32 has no e32 form on gfx900"),
        ("gfx900", "buffer_load_dword v0, off, s[0:3], s0 ofset:4", "x.s:1:39: error: "),
        ("gfx900", "buffer_load_dword v0, off, s[0:3], s0 ofset:4", "did you mean 'offset'?"),
        ("gfx900", "v_add_f32 v0, s1, s2", "x.s:1:19: error: too many scalar values"),
        (
            "gfx90a",
            "v_add_f64 v[1:2], v[2:3], v[4:5]",
            "x.s:1:11: error: VGPR tuples must start at an even register",
        ),
        ("gfx900", "s_mov_b64 s[1:2], 0", "2 scalar registers must start at a multiple of 2"),
        ("gfx803", "s_mov_b32 s103, 0", "register s103 is not available on gfx803"),
        ("gfx900", "v_mov_b32_dpp v0, v1", "needs a control such as quad_perm"),
        ("gfx900", "buffer_load_dword v0, off, s[0:3], s0 offset:4096", "an unsigned offset of 12 bits"),
        ("gfx900", "s_getreg_b32 s0, hwreg(HW_REG_MOD)", "did you mean HW_REG_MODE?"),
        ("gfx900", "v_add_f32 v0, v1", "too few operands for v_add_f32"),
        ("gfx900", "v_add_f32 v0, v1, v2, v3", "v_add_f32 has no such operand"),
        ("gfx900", "v_mov_b32 v0, v1 quad_perm:[0,1,2,9]", "x.s:1:35: error: a lane of quad_perm"),
    ];
    for (processor, line, part) in cases {
        let got = complaint(processor, line);
        assert!(got.contains(part), "{line}\n  said: {got}\n  want: {part}");
    }
}

#[test]
fn what_is_taken_beyond_llvm() {
    let cases = [
        // The MI200 manual's names.
        ("gfx90a", "v_mad_mix_f32 v0, v1, v2, v3", "v_fma_mix_f32 v0, v1, v2, v3"),
        ("gfx90a", "v_mad_mixlo_f16 v0, v1, v2, v3", "v_fma_mixlo_f16 v0, v1, v2, v3"),
        ("gfx90a", "v_accvgpr_write a0, v1", "v_accvgpr_write_b32 a0, v1"),
        // Modifiers in any order.
        ("gfx900", "v_add_f32 v0, v1, v2 mul:2 clamp", "v_add_f32_e64 v0, v1, v2 clamp mul:2"),
        ("gfx900", "buffer_load_dword v0, off, s[0:3], s0 glc offset:4", "s0 offset:4 glc"),
        // An alias that LLVM echoes.
        ("gfx900", "v_mul_lo_i32 v0, v1, v2", "v_mul_lo_i32 v0, v1, v2"),
    ];
    for (processor, line, want) in cases {
        let output = assemble(&options(processor), "x.s", format!("{line}\n").into_bytes());
        let text = String::from_utf8(output.text.clone()).unwrap();
        assert!(text.contains(want), "{line}\n  gave: {text}{}", complaint(processor, line));
    }
}

#[test]
fn registers_are_counted_for_the_directives() {
    let source =
        "v_mov_b32 v7, v[9]\ns_mov_b64 s[20:21], 0\n.long .amdgcn.next_free_vgpr, .amdgcn.next_free_sgpr\n";
    let mut options = options("gfx900");
    options.triple = "amdgcn-amd-amdhsa".to_owned();
    options.os = wavemill_asm::Os::AmdHsa;
    let output = assemble(&options, "x.s", source.as_bytes().to_vec());
    let text = String::from_utf8(output.text.clone()).unwrap();
    assert!(text.contains(".long\t10\n") && text.contains(".long\t22\n"), "{text}");
}

#[test]
fn reserved_sources_are_shown_as_llvm_shows_them() {
    let disassembler = Disassembler::new(Target::new(target::processor("gfx90a").unwrap()));
    // As llvm-mc-19 -disassemble has it.
    for (dwords, expected) in [
        ([0xd3c0_0008u32, 0x01f6_0904], "v_mfma_f32_32x32x1f32 v[8:39], v4, v4, null"),
        ([0xd3ee_0008, 0x01f6_0904], "v_mfma_f64_16x16x4f64 v[8:15], v[4:5], v[4:5], null"),
    ] {
        let mut text = Vec::new();
        assert!(disassembler.one(&dwords.map(u32::to_le_bytes).concat(), &mut text).is_some(), "{expected}");
        assert_eq!(String::from_utf8_lossy(&text), expected);
    }
}
