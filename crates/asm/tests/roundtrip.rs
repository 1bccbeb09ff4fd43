//! Bits to text to bits: what the disassembler shows, the assembler reads back to the same instruction.

use wavemill_asm::disasm::Disassembler;
use wavemill_asm::{Options, OutputType, assemble};
use wavemill_isa::encoding::{Inst, opcode_field, vop3_opcode};
use wavemill_isa::{Enc, Form, ROWS, Row, Target, target};

/// A small generator of pseudo-random numbers (splitmix64): tests must be repeatable.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

/// Random operand bits around a row's opcode.
fn word(row: &'static Row, form: Form, target: &Target, random: &mut Random) -> u64 {
    let level = target.level();
    let blank = Inst::new(row, form, level);
    let (_, field) = opcode_field(if form == Form::Vop3 { Enc::Vop3 } else { row.enc }, level);
    let op = row.opcode[level as usize];
    let op = if form == Form::Vop3 { vop3_opcode(row.enc, op, level) } else { op };
    // Below the opcode and in the second dword anything goes; registers are likelier to be near.
    let mut noise = random.next();
    if random.next() & 1 == 0 {
        noise &= 0x1f1f_3f3f_1f1f_3f3f;
    }
    let fixed_above = match row.enc {
        Enc::Vop2 | Enc::Sopk | Enc::Sop2 => 23,
        Enc::Sop1 | Enc::Vop1 => 8,
        _ => field.lo,
    };
    let low = noise & ((1 << fixed_above) - 1);
    let mut bits = blank.bits | low | noise & 0xffff_ffff_0000_0000;
    bits = field.set(bits, op.into());
    if let Form::Sdwa | Form::Dpp = form {
        bits = bits & !0x1ff | blank.bits & 0x1ff;
    }
    if matches!(row.enc, Enc::Flat | Enc::Global | Enc::Scratch) && level.is_gfx9() {
        bits = bits & !(3 << 14) | blank.bits & (3 << 14);
    }
    bits
}

/// Encodings that are shown but refused when assembled, and why that is right.
fn refused(text: &str, target: &Target) -> Option<&'static str> {
    let reasons = [
        ("null", "a register of GFX10, reserved here"),
        ("/*", "a reserved DPP control"),
        ("invalid_", "a reserved export target or parameter"),
    ];
    if let Some((_, why)) = reasons.iter().find(|(part, _)| text.contains(part)) {
        return Some(why);
    }
    let _ = target;
    None
}

#[test]
fn what_is_disassembled_assembles_to_the_same_instruction() {
    let mut random = Random(1);
    let mut seen = 0u64;
    let mut rejected = 0u64;
    for name in ["gfx600", "gfx700", "gfx803", "gfx900", "gfx904", "gfx906", "gfx908", "gfx90a"] {
        let target = Target::new(target::processor(name).unwrap());
        let dis = Disassembler::new(target);
        let mut source = Vec::new();
        let mut want = Vec::new();
        for row in &ROWS {
            for form in [Form::Base, Form::Vop3, Form::Sdwa, Form::Dpp] {
                if !row.has_form(form, target.level()) {
                    continue;
                }
                for _ in 0..40 {
                    let bits = word(row, form, &target, &mut random);
                    let start = source.len();
                    let Some(inst) = dis.one(&bits.to_le_bytes(), &mut source) else { continue };
                    let text = String::from_utf8(source[start..].to_vec()).unwrap();
                    if refused(&text, &target).is_some() {
                        source.truncate(start);
                        continue;
                    }
                    source.push(b'\n');
                    want.push((inst.canonical(&target), text));
                }
            }
        }
        let mut options = Options::new(target);
        options.show_encoding = true;
        options.output = OutputType::Asm;
        let result = assemble(&options, "roundtrip.s", source);
        let mut bad = std::collections::HashSet::new();
        let messages = String::from_utf8_lossy(&result.render_diagnostics()).into_owned();
        for line in messages.lines().filter(|l| l.contains(": error: ")) {
            bad.insert(line.split(':').nth(1).unwrap().parse::<usize>().unwrap() - 1);
        }
        let text = String::from_utf8(result.text).unwrap();
        let mut got = text.lines().filter_map(|l| l.split_once("; encoding: [").map(|(_, e)| e.trim_end_matches(']')));
        for (i, (inst, text)) in want.iter().enumerate() {
            seen += 1;
            if bad.contains(&i) {
                rejected += 1;
                let why = messages.lines().find(|l| l.starts_with(&format!("roundtrip.s:{}:", i + 1))).unwrap_or("");
                println!("REJ {name} {text} :: {why}");
                continue;
            }
            let bytes: Vec<String> =
                inst.bits.to_le_bytes()[..inst.len as usize].iter().map(|b| format!("{b:#04x}")).collect();
            let encoding = got.next().unwrap_or("nothing");
            if bytes.join(",") != encoding {
                println!("DIFF {name} {text} want {} got {encoding}", bytes.join(","));
            }
        }
    }
    println!("{seen} instructions, {rejected} refused");
}
