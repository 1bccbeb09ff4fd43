//! Pages about encodings: which bits say what, from the tables that the assembler and the decoder use.

use crate::layout::{Block, Page};
use wavemill_isa::encoding::{bits, opcode_field, operand_field};
use wavemill_isa::row::ABSENT;
use wavemill_isa::{Enc, Field, Form, Inst, Kind, Level, ROWS, Role};

/// The name of an encoding's page among the reference's; instructions and modifiers have others (`exp`, `lds`).
pub fn file(enc: Enc) -> String {
    format!("format-{}", enc.name().to_lowercase())
}

/// The page of an encoding by its name (`VOP3`, `format-vop3`).
pub fn format(name: &str) -> Option<Page> {
    let name = name.trim().to_ascii_lowercase();
    let name = name.strip_prefix("format-").unwrap_or(&name);
    let enc = Enc::ALL.into_iter().find(|e| e.name().eq_ignore_ascii_case(name))?;
    let rows: Vec<_> = ROWS.iter().filter(|r| r.enc == enc).collect();
    let levels: Vec<Level> =
        Level::ALL.into_iter().filter(|l| rows.iter().any(|r| r.opcode[*l as usize] != ABSENT)).collect();
    let last = *levels.last()?;
    let length = 8 * u32::from(Inst::new(rows.first()?, Form::Base, last).len);
    let literal = rows.iter().any(|r| r.operands.iter().any(|o| o.ty.kind != Kind::Imm)) && length == 32;
    let mut page = Page::new(enc.name());
    let literal = if literal { ", and 32 more where an operand is a literal constant" } else { "" };
    let on = runs(&levels, |_| ()).pop().map(|(_, on)| on).unwrap_or_default();
    page.push("What", Block::Text(format!("An encoding of instructions: {length} bits{literal}; {on}")));
    let opcodes = runs(&levels, |level| opcode_field(enc, level).1);
    let moved = opcodes.len() > 1;
    let opcode = |(field, on)| (field, if moved { format!("opcode on {on}") } else { "opcode".to_owned() });
    let mut fields: Vec<(Field, String)> = opcodes.into_iter().map(opcode).collect();
    let used = |role: &Role| rows.iter().any(|r| r.operands.iter().any(|o| o.role == *role));
    for role in Role::ALL.into_iter().filter(used) {
        fields.push((operand_field(enc, Form::Base, role), role.name().to_owned()));
    }
    fields.extend(modifiers(enc).iter().map(|(name, field)| (*field, (*name).to_owned())));
    fields.retain(|(field, _)| field.width > 0);
    fields.sort_by_key(|(field, _)| std::cmp::Reverse((field.lo, field.width)));
    let rows_of = fields.iter().map(|(f, name)| vec![range(*f), name.clone()]);
    page.push("Fields", Block::table(&["bits", "what"], rows_of));
    let marks = runs(&levels, |level| opcode_field(enc, level).0);
    let marks = marks.into_iter().map(|(mark, on)| vec![on, format!("{mark:#010x}")]);
    page.push("Known by", Block::table(&["generation", "bits that are set"], marks));
    let mut names: Vec<&str> = rows.iter().map(|r| r.name).collect();
    names.dedup();
    page.push("Instructions", Block::Text(names.join(", ")));
    Some(page)
}

/// Neighbouring levels of which something is the same, with what it is.
fn runs<T: PartialEq>(levels: &[Level], of: impl Fn(Level) -> T) -> Vec<(T, String)> {
    let mut out: Vec<(T, String)> = Vec::new();
    for level in levels {
        let now = of(*level);
        match out.last_mut() {
            Some((known, on)) if *known == now => {
                *on = format!("{} to {}", on.split(" to ").next().unwrap_or(on), level.name());
            }
            _ => out.push((now, level.name().to_owned())),
        }
    }
    out
}

/// `[16:9]` or `[15]`.
fn range(field: Field) -> String {
    match field.width {
        1 => format!("[{}]", field.lo),
        n => format!("[{}:{}]", field.lo + n - 1, field.lo),
    }
}

/// The fields that modifiers are in.
fn modifiers(enc: Enc) -> &'static [(&'static str, Field)] {
    use bits::*;
    match enc {
        Enc::Smrd => &[("imm: the offset is a constant", SMRD_IMM)],
        Enc::Smem => &[
            ("glc", SMEM_GLC),
            ("imm: the offset is a constant", SMEM_IMM),
            ("soe: soffset counts (GFX9)", SMEM_SOE),
            ("nv (GFX9)", SMEM_NV),
        ],
        Enc::Vop3 => &[
            ("abs, one bit for each source", VOP3_ABS),
            ("clamp (GFX6, GFX7)", VOP3_CLAMP_SI),
            ("op_sel (GFX9)", VOP3_OP_SEL),
            ("clamp (GFX8, GFX9)", VOP3_CLAMP),
            ("omod", VOP3_OMOD),
            ("neg, one bit for each source", VOP3_NEG),
        ],
        Enc::Vop3p => &[
            ("neg_hi", VOP3P_NEG_HI),
            ("op_sel", VOP3P_OP_SEL),
            ("op_sel_hi of src2", VOP3P_OP_SEL_HI2),
            ("clamp", VOP3_CLAMP),
            ("op_sel_hi of src0 and src1", VOP3P_OP_SEL_HI),
            ("neg_lo", VOP3_NEG),
        ],
        Enc::Mfma => &[
            ("cbsz", MFMA_CBSZ),
            ("abid", MFMA_ABID),
            ("acc_cd: C and D are accumulation registers (gfx90a)", MFMA_ACC_CD),
            ("acc: A and B are accumulation registers", MFMA_ACC),
            ("blgp", MFMA_BLGP),
        ],
        Enc::Vintrp => &[("attribute's channel", VINTRP_CHAN)],
        Enc::Ds => &[
            ("offset, or offset0 and offset1 of instructions with two", DS_OFFSET),
            ("gds (GFX8, GFX9)", DS_GDS),
            ("gds (GFX6, GFX7)", DS_GDS_SI),
            ("acc: data are accumulation registers (gfx90a)", DS_ACC),
        ],
        Enc::Mubuf => &[
            ("offset", BUF_OFFSET),
            ("offen", BUF_OFFEN),
            ("idxen", BUF_IDXEN),
            ("glc", BUF_GLC),
            ("addr64 (GFX6, GFX7), scc (gfx90a)", BUF_ADDR64),
            ("lds", MUBUF_LDS),
            ("slc (GFX8, GFX9)", MUBUF_SLC),
            ("slc (GFX6, GFX7)", BUF_SLC),
            ("tfe, on gfx90a acc: data are accumulation registers", BUF_TFE),
        ],
        Enc::Mtbuf => &[
            ("offset", BUF_OFFSET),
            ("offen", BUF_OFFEN),
            ("idxen", BUF_IDXEN),
            ("glc", BUF_GLC),
            ("dfmt: data format", MTBUF_DFMT),
            ("nfmt: number format", MTBUF_NFMT),
            ("scc (gfx90a)", MTBUF_SCC),
            ("slc", BUF_SLC),
            ("tfe, on gfx90a acc", BUF_TFE),
        ],
        Enc::Mimg => &[
            ("scc (gfx90a)", MIMG_SCC),
            ("dmask", MIMG_DMASK),
            ("unorm", MIMG_UNORM),
            ("glc", MIMG_GLC),
            ("da", MIMG_DA),
            ("r128 (GFX6 to GFX8), a16 (GFX9)", MIMG_R128),
            ("tfe, on gfx90a acc", MIMG_TFE),
            ("lwe", MIMG_LWE),
            ("slc", MIMG_SLC),
            ("d16 (GFX8, GFX9)", MIMG_D16),
        ],
        Enc::Flat | Enc::Global | Enc::Scratch => &[
            ("offset (GFX9): 13 bits, signed but for FLAT, which has 12 without a sign", FLAT_OFFSET13),
            ("lds", FLAT_LDS),
            ("seg: 0 FLAT, 1 SCRATCH, 2 GLOBAL (GFX9)", FLAT_SEG),
            ("glc", FLAT_GLC),
            ("slc", FLAT_SLC),
            ("scc (gfx90a)", FLAT_SCC),
            ("tfe (GFX7, GFX8), nv, on gfx90a acc", FLAT_TFE),
        ],
        Enc::Exp => &[
            ("en, one bit for each source", EXP_EN),
            ("compr", EXP_COMPR),
            ("done", EXP_DONE),
            ("vm", EXP_VM),
        ],
        Enc::Sop2 | Enc::Sopk | Enc::Sop1 | Enc::Sopc | Enc::Sopp | Enc::Vop2 | Enc::Vop1 | Enc::Vopc => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the manual (MI200, 13.3.4 and 13.4) has the fields.
    #[test]
    fn fields_are_where_the_manual_has_them() {
        let text = format("VOP3").unwrap().text();
        for row in
            ["[63:61]  neg,", "[58:50]  src2", "[40:32]  src0", "[25:16]  opcode on gfx8", "[7:0]    vdst"]
        {
            assert!(text.contains(row), "no `{row}` in\n{text}");
        }
        assert!(text.contains("[25:17]  opcode on gfx6 to gfx7"), "{text}");
        let text = format("ds").unwrap().text();
        for row in ["[63:56]  vdst", "[39:32]  addr", "[15:0]   offset", "64 bits; gfx6 to gfx90a"] {
            assert!(text.contains(row), "no `{row}` in\n{text}");
        }
        let text = format("SOP2").unwrap().text();
        assert!(text.contains("[29:23]  opcode\n") && text.contains("32 bits, and 32 more"), "{text}");
        assert!(text.contains("gfx6 to gfx90a  0x80000000"), "{text}");
    }

    #[test]
    fn every_encoding_has_a_page() {
        for enc in Enc::ALL {
            assert!(format(&file(enc)).is_some(), "{}", enc.name());
        }
        assert!(format("vop9").is_none());
    }
}
