//! `isa explain` beyond instructions, and `isa search`.

use crate::wavemill;

fn said(args: &[&str]) -> String {
    let out = wavemill(&[&["isa"], args].concat());
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn modifiers_registers_counters_and_hazards_have_pages() {
    for (name, part) in [
        ("row_bcast:15", "lane 15 of the row before it"),
        ("quad_perm:[3,2,1,0]", "within each four lanes"),
        ("dst_unused", "UNUSED_PRESERVE"),
        ("op_sel", "op_sel_hi"),
        ("cbsz", "2^N blocks"),
        ("abid", "abid:M says which"),
        ("blgp", "lanes 0-31 for all"),
        ("row_shr:1", "lane i reads lane i-N of its row"),
        ("neg_lo", "negated for the low or the high result"),
        ("exec", "mask of active lanes"),
        ("vmcnt", "up to 63 on GFX9"),
        ("format", "SNORM (-1 to 1)"),
        ("hazards", "V_DIV_FMAS"),
    ] {
        let text = said(&["explain", name]);
        assert!(text.replace('\n', " ").contains(part), "{name}: {text}");
    }
}

/// What an instruction's exactness rests on is in the list and, with its source, on its page: `isa/basis.txt` has the sources.
#[test]
fn pages_say_what_they_rest_on() {
    for (name, kind, source) in [
        ("v_mfma_f32_32x32x8f16", "measured", "microsoft/MMA-Sim"),
        ("v_cvt_flr_i32_f32", "measured", "CLRX"),
        ("ds_add_f32", "compiler", "LLVM #89468"),
        ("v_mul_u32_u24", "manual", ""),
    ] {
        let list = said(&["list", "--mcpu", "gfx90a"]);
        let line = list.lines().find(|l| l.split(' ').next() == Some(name)).expect(name);
        assert!(line.split_whitespace().any(|word| word == kind), "{line}");
        let page = said(&["explain", name]);
        assert!(page.contains("Rests on\n") && page.contains(kind) && page.contains(source), "{page}");
    }
}

#[test]
fn words_of_machine_code_are_decoded_for_every_processor() {
    // llvm-mc-19 -disassemble says the same of these bytes.
    let text = said(&["explain", "0xd3b04000", "0x1c180902"]);
    assert!(text.starts_with("v_pk_fma_f32 v[0:1], v[2:3], s[4:5], v[6:7]\n  on gfx90a\n"), "{text}");
    let text = said(&["explain", "0xbf800000"]);
    assert!(text.starts_with("s_nop 0\n  on gfx600,") && text.contains("gfx90a"), "{text}");
    let text = said(&["explain", "0xd3b04000", "--mcpu", "gfx90a"]);
    assert!(text.contains("it takes 2 words; those not given are taken for 0"), "{text}");
    let out = wavemill(&["isa", "explain", "0xd3b04000", "--mcpu", "gfx900"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("0xd3b04000 is no instruction on gfx900"));
}

/// AMD's matrix instruction calculator places A[i][k] of v_mfma_f32_32x32x8f16 in lane i + 32*(k/4), and D[i][j] in lane
/// j + 32*((i/4)%2), register 4*(i/8) + i%4.
#[test]
fn layouts_of_matrices_are_drawn() {
    let text = said(&["explain", "v_mfma_f32_32x32x8f16", "--layout", "A"]);
    let row = text.lines().find(|l| l.trim_start().starts_with("5 ")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(&cells[1..5], ["5", "v0[15:0]", "5", "v0[31:16]"], "{text}");
    assert_eq!(&cells[9..11], ["37", "v0[15:0]"], "{text}");
    let text = said(&["explain", "v_mfma_f32_32x32x8f16", "--layout", "D"]);
    let row = text.lines().find(|l| l.trim_start().starts_with("13 ")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(&cells[1..5], ["32", "v5", "33", "v5"], "{text}");
    let out = wavemill(&["isa", "explain", "v_mov_b32", "--layout", "A"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("--layout is for matrix instructions"));
}

/// Every element of every operand has a place, and no two have the same: m·k of A, k·n of B, m·n of C and D, in each block.
#[test]
fn every_operand_of_every_matrix_instruction_has_a_layout() {
    let list = said(&["list", "--mcpu", "gfx90a"]);
    let names: Vec<&str> =
        list.lines().filter_map(|l| l.split(' ').next()).filter(|n| n.starts_with("v_mfma_")).collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        for operand in ["A", "B", "C", "D"] {
            let text = said(&["explain", name, "--layout", operand]);
            let number = |after: &str, before: &str| -> usize {
                let rest = text.split_once(after).unwrap_or_else(|| panic!("{name} {operand}: {text}")).1;
                rest.split(before).next().and_then(|n| n.trim().parse().ok()).unwrap_or(1)
            };
            let (rows, columns) = (number(": ", " rows"), number(" rows, ", " columns"));
            let blocks = if text.contains(" blocks") { number(" columns, ", " blocks") } else { 1 };
            let mut places: Vec<(String, String)> = Vec::new();
            for line in text.lines() {
                let cells: Vec<&str> = line.split_whitespace().collect();
                let pairs = cells.get(1..).unwrap_or_default().chunks_exact(2);
                if pairs.clone().all(|p| p[1].starts_with('v') && p[0].parse::<u32>().is_ok()) {
                    places.extend(pairs.map(|p| (p[0].to_owned(), p[1].to_owned())));
                }
            }
            assert_eq!(places.len(), rows * columns * blocks, "{name} {operand}: {text}");
            places.sort();
            places.dedup();
            assert_eq!(places.len(), rows * columns * blocks, "{name} {operand}: two have one place");
        }
    }
}

#[test]
fn search_looks_through_names_and_descriptions() {
    let text = said(&["search", "1 / square", "clamp"]);
    assert!(text.contains("v_rsq_clamp_f32") && !text.contains("v_sqrt"), "{text}");
    let text = said(&["search", "bcast"]);
    assert!(text.contains("row_newbcast"), "{text}");
    let out = wavemill(&["isa", "search", "marmalade"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("nothing has `marmalade`"));
}
