//! Bits to text to bits: what the disassembler shows, the assembler reads back to the same instruction.

use std::collections::HashMap;
use wavemill_asm::disasm::Disassembler;
use wavemill_asm::{Options, assemble};
use wavemill_isa::encoding::{Inst, opcode_field, vop3_opcode};
use wavemill_isa::{Enc, Form, ROWS, Role, Row, Target, target};
use wavemill_testing::Random;

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

/// Why an encoding may be shown but not assembled: what it says is reserved, or beyond what the hardware does. The
/// disassembler shows it all the same, as LLVM's does.
const REFUSALS: &[&str] = &[
    "too many scalar values",
    "VGPR tuples must start at an even register",
    "a gather's dmask has one bit set",
    "an atomic's dmask is",
    "this dmask has no meaning",
    "the number of data registers does not match",
    "expected an unsigned offset of",
    "flat instructions have an offset from GFX9 on",
    "only inline constants fit this encoding",
    "an index mode is a number",
    "a store has no fault status",
    "an attribute is a number",
    "scalar memory does not reach",
    "is not available on",
    "lds_direct",
    "has no modifier 'tfe'",
    "has no modifier 'clamp'",
    "global wave sync takes even registers",
    "takes no constants as matrix C",
    "matrix C must be the destination itself or not overlap it",
    "expected a scalar register such as s0",
    "expected 2 scalar registers such as s[0:1]",
    "expected a VGPR or an inline constant",
    "expected a VGPR such as v0",
    " VGPRs such as ",
    "this instruction writes the whole register",
    "this atomic returns a result on gfx90a only",
];

#[test]
fn what_is_disassembled_assembles_to_the_same_instruction() {
    let mut random = Random(1);
    let mut compared = 0;
    let mut failures = Vec::new();
    for name in ["gfx600", "gfx700", "gfx803", "gfx900", "gfx904", "gfx906", "gfx908", "gfx90a"] {
        let target = Target::new(target::processor(name).unwrap());
        let (source, want) = disassembled(&target, &mut random);
        let mut options = Options::new(target);
        options.show_encoding = true;
        let result = assemble(&options, "x.s", source);
        let messages = String::from_utf8(result.render_diagnostics()).unwrap();
        let mut refused = HashMap::new();
        for message in messages.lines().filter(|l| l.starts_with("x.s:") && l.contains(": error: ")) {
            let line: usize = message.split(':').nth(1).unwrap().parse().unwrap();
            refused.insert(line - 1, message);
        }
        let text = String::from_utf8(result.text).unwrap();
        let mut got = text.lines().filter_map(|l| l.split_once("; encoding: ")).map(|(_, encoding)| encoding);
        for (i, (inst, text)) in want.iter().enumerate() {
            if let Some(why) = refused.get(&i) {
                if !REFUSALS.iter().any(|r| why.contains(r)) {
                    failures.push(format!("{name}: {text}: {why}"));
                }
                continue;
            }
            compared += 1;
            let bytes = &inst.bits.to_le_bytes()[..inst.len as usize];
            let bytes: Vec<String> = bytes.iter().map(|b| format!("{b:#04x}")).collect();
            let want = format!("[{}]", bytes.join(","));
            let got = got.next().unwrap_or("nothing");
            if want != got {
                failures.push(format!("{name}: {text}: {want} came back as {got}"));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {compared}:\n{}", failures.len(), failures.join("\n"));
    assert!(compared > 50_000, "only {compared} instructions compared");
}

/// Source text of random instructions of every row and form, and what each is to come back as.
fn disassembled(target: &Target, random: &mut Random) -> (Vec<u8>, Vec<(Inst, String)>) {
    let dis = Disassembler::new(*target);
    let mut source = Vec::new();
    let mut want = Vec::new();
    for row in &ROWS {
        for form in [Form::Base, Form::Vop3, Form::Sdwa, Form::Dpp] {
            // Without operands the forms look alike: only the row's own comes back.
            if !row.has_form(form, target.level()) || row.operands.is_empty() && form != Form::Base {
                continue;
            }
            for _ in 0..8 {
                let bits = word(row, form, target, random);
                let start = source.len();
                let Some(inst) = dis.one(&bits.to_le_bytes(), &mut source) else { continue };
                if inst.form != form {
                    source.truncate(start);
                    continue;
                }
                let text = String::from_utf8(source[start..].to_vec()).unwrap();
                // GFX10's null register, and LLVM's remarks on reserved values, are not words of the language.
                if ["null", "/*", "invalid_"].iter().any(|w| text.contains(w)) {
                    source.truncate(start);
                    continue;
                }
                source.push(b'\n');
                let mut inst = inst.canonical(target);
                if inst.row.operand(Role::Sendmsg).is_some() && text.contains("MSG_") {
                    // Bits beside a message that has a name mean nothing.
                    inst.bits &= !0xfc80;
                }
                want.push((inst, text));
            }
        }
    }
    (source, want)
}
