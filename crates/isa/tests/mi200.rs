//! The table has every instruction of the MI200 manual's opcode tables (chapter 13), with its encoding and opcode.

use wavemill_isa::{Enc, Form, Level, encoding, lookup};

/// Names that LLVM, and so the table, spells otherwise on gfx90a.
fn spelling(name: &str) -> &str {
    match name {
        "v_mad_mix_f32" => "v_fma_mix_f32",
        "v_mad_mixlo_f16" => "v_fma_mixlo_f16",
        "v_mad_mixhi_f16" => "v_fma_mixhi_f16",
        "v_accvgpr_read" => "v_accvgpr_read_b32",
        "v_accvgpr_write" => "v_accvgpr_write_b32",
        name => name,
    }
}

#[test]
fn every_instruction_of_the_manual_is_in_the_table() {
    let mut missing = Vec::new();
    let mut count = 0;
    for line in include_str!("mi200-opcodes.csv").lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (encoding, opcode, name) = (fields[0], fields[1].parse::<u16>().unwrap(), spelling(fields[2]));
        count += 1;
        let found = lookup::by_name(name).any(|row| {
            let Some(op) = row.opcode_at(Level::Gfx90a) else { return false };
            let same = match row.enc {
                Enc::Vop3 => encoding.starts_with("VOP3"),
                Enc::Mfma => encoding == "VOP3P",
                enc => enc.name() == encoding,
            };
            let long = encoding.starts_with("VOP3")
                && row.has_form(Form::Vop3, Level::Gfx90a)
                && encoding::vop3_opcode(row.enc, op, Level::Gfx90a) == opcode;
            same && op == opcode || long
        });
        if !found {
            missing.push(line);
        }
    }
    assert_eq!(count, 1134);
    assert!(missing.is_empty(), "{missing:#?}");
}
