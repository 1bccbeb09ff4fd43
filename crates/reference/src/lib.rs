//! What a page about an instruction says: `wavemill isa explain` prints it, `cargo xtask gen` writes it into `docs/isa/`.
//!
//! A [`Page`] is made from the instruction table, the lines that `asm`'s tests compare with llvm-mc's bytes, and the record
//! of tests ([`evidence`]). It knows nothing of how it will look; [`Page::text`] and [`Page::markdown`] lay it out.
#![forbid(unsafe_code)]

mod effects;
pub mod evidence;
mod examples;
pub mod formats;
mod layout;
mod topics;
mod words;

pub use effects::{memory, plain_info};
pub use layout::{Block, Page};
pub use topics::{Topic, topic, topics};
pub use words::{access, forms, names, opcode_runs, operand, operands, ty};

use wavemill_isa::flag;
use wavemill_isa::{Kind, Operand, Role, Row, encoding, lookup};
use wavemill_sem::fidelity::{Fidelity, fidelity};

/// The page of a mnemonic; `None` if no instruction has it. Where generations have instructions of their own under one
/// mnemonic, all of them are there.
pub fn page(mnemonic: &str) -> Option<Page> {
    let rows: Vec<&'static Row> = lookup::by_name(mnemonic).collect();
    let mut page = Page::new(rows.first()?.name);
    for row in &rows {
        if rows.len() > 1 {
            let levels: Vec<String> = opcode_runs(row).into_iter().map(|r| r.levels).collect();
            page.push("On", Block::Text(format!("{}, {}", levels.join(", "), row.enc.name())));
        }
        describe(row, &mut page);
    }
    let name = rows.first()?.name;
    let examples = examples::examples(name);
    if !examples.is_empty() {
        let rows = examples.iter().map(|e| e.to_vec());
        page.push("Examples", Block::table(&["text", "bytes by generation"], rows));
    }
    let tests = evidence::tests(name);
    if !tests.is_empty() {
        page.push("Tests", Block::Code(tests));
    }
    Some(page)
}

fn describe(row: &'static Row, page: &mut Page) {
    let syntax = format!("{} {}", row.name, operands(row));
    page.push("Syntax", Block::Code(vec![syntax.trim_end().to_owned()]));
    page.push("Operation", Block::Text(row.operation().to_owned()));
    let encodings = opcode_runs(row).into_iter().map(|run| {
        let mut others: Vec<String> = Vec::new();
        for form in forms(row, run.last) {
            others.push(match form {
                "VOP3" => format!("VOP3 opcode {}", encoding::vop3_opcode(row.enc, run.opcode, run.last)),
                form => form.to_owned(),
            });
        }
        let opcode = format!("{0} ({0:#x})", run.opcode);
        vec![run.levels, row.enc.name().to_owned(), opcode, others.join(", ")]
    });
    page.push("Encodings", Block::table(&["generation", "encoding", "opcode", "also as"], encodings));
    if !row.operands.is_empty() {
        let lines = row.operands.iter().map(|o| {
            let place = place(row, o);
            let use_ = if o.ty.kind == Kind::Imm { "" } else { access(o.access) };
            vec![o.role.name().to_owned(), ty(o.ty), place, use_.to_owned()]
        });
        page.push("Operands", Block::table(&["operand", "type", "place", "access"], lines));
    }
    let effects = effects::effects(row);
    if !effects.is_empty() {
        page.push("Beside its operands", Block::table(&["", ""], effects.into_iter().map(Vec::from)));
    }
    let attributes: Vec<&str> =
        flag::NAMES.iter().filter(|(_, b)| row.flags & b != 0).map(|(n, _)| *n).collect();
    if !attributes.is_empty() {
        page.push("Attributes", Block::Text(attributes.join(", ")));
    }
    let execution = match fidelity(row) {
        Fidelity::Exact => "exact: bit for bit",
        Fidelity::Approximate => "approximate: within the bound the hardware gives",
        Fidelity::Unsupported => "not executed yet",
    };
    page.push("Execution", Block::Text(execution.to_owned()));
    let (basis, source) = row.basis();
    let rests = match source {
        "" => basis.description().to_owned(),
        source => format!("{}: {source}", basis.description()),
    };
    page.push("Rests on", Block::Text(rests));
    if !row.section.is_empty() {
        page.push("Manual", Block::Text(format!("MI200 instruction set manual, section {}", row.section)));
    }
}

/// Where an operand is.
fn place(row: &Row, operand: &Operand) -> String {
    match (operand.role, operand.ty.kind) {
        (_, Kind::Imm) => "in the encoding".to_owned(),
        // What an image wants depends on its kind and the dmask.
        (Role::Vaddr, _) if row.addr != 0 => {
            let counts: Vec<String> =
                (0..16u32).filter(|n| row.addr >> n & 1 != 0).map(|n| (n + 1).to_string()).collect();
            match counts.split_last() {
                Some((last, [])) => format!("{last} registers"),
                Some((last, others)) => format!("{} or {last} registers", others.join(", ")),
                None => String::new(),
            }
        }
        (Role::Vdata, _) if row.addr != 0 && row.has(flag::GATHER4) => "4 registers".to_owned(),
        (Role::Vdata, _) if row.addr != 0 => "a register for each bit of dmask".to_owned(),
        _ if operand.ty.dwords() == 1 => "1 register".to_owned(),
        _ => format!("{} registers", operand.ty.dwords()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavemill_isa::ROWS;

    #[test]
    fn every_instruction_has_a_page() {
        for row in &ROWS {
            let page = page(row.name).expect(row.name);
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words(&page.text()).contains(&words(row.operation())), "{}", row.name);
        }
        assert!(page("v_nonsense").is_none());
    }

    #[test]
    fn registers_of_image_operands() {
        let text = page("image_sample_c_b_cl").unwrap().text();
        assert!(text.contains("vaddr  b32   3, 4, 5, 6 or 8 registers"), "{text}");
        assert!(text.contains("a register for each bit of dmask"), "{text}");
        assert!(page("image_gather4").unwrap().text().contains("vdata  b32   4 registers"));
    }

    #[test]
    fn what_an_instruction_does_beside_its_operands() {
        let has = |name: &str, line: &str| {
            let text = page(name).unwrap().text();
            assert!(text.contains(line), "{line:?} in\n{text}");
        };
        has("ds_read2_b32", "loads 4 bytes at 2 places for each lane: LDS or GDS");
        has("ds_read2_b32", "counted by     lgkmcnt\n");
        has("s_load_dwordx4", "counted by  lgkmcnt (by 2), in any order\n");
        has("s_waitcnt", "waits for  vmcnt, lgkmcnt, expcnt");
        has("v_readfirstlane_b32", "with EXEC = 0  acts all the same: not to be skipped");
        has("v_add_f32", "with EXEC = 0  does nothing");
        has("buffer_wbinvl1", "caches         l1, inv, wb");
        has("s_cbranch_scc0", "goes on  at the label, or at the next instruction");
    }

    #[test]
    fn a_page_as_text_and_as_markdown() {
        let page = page("s_bitset1_b64").unwrap();
        let text = page.text();
        for line in [
            "s_bitset1_b64\n",
            "  s_bitset1_b64 sdst, ssrc0\n",
            "Operation\n  D[S0[5:0]] = 1, other bits stay\n",
            "  gfx6 to gfx7    SOP1  30 (0x1e)\n",
        ] {
            assert!(text.contains(line), "{line:?} in\n{text}");
        }
        let markdown = page.markdown();
        for line in ["# s_bitset1_b64\n", "## Encodings\n", "| gfx6 to gfx7 | SOP1 | 30 (0x1e) |"] {
            assert!(markdown.contains(line), "{line:?} in\n{markdown}");
        }
    }
}
