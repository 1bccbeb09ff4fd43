//! Where CLRX spells instructions, registers and their parts otherwise than LLVM, in both directions.

use wavemill_isa::{Enc, Level};

/// LLVM's mnemonic for one of CLRX's, in lower case.
pub(super) fn to_llvm(name: &str, level: Level) -> String {
    let old = level < Level::Gfx8;
    for carry in ["add", "sub", "subrev"] {
        if old && name == format!("v_{carry}_u32") {
            return format!("v_{carry}_i32");
        }
        if level == Level::Gfx8 && name == format!("v_{carry}_i32") {
            return format!("v_{carry}_u32");
        }
    }
    if let Some((head, rest)) = split_compare(name) {
        let integer = rest.contains("_i") || rest.contains("_u");
        let test = &rest[..rest.find('_').unwrap_or(rest.len())];
        let ty = &rest[test.len()..];
        match (test, integer) {
            ("lg", true) => return format!("{head}ne{ty}"),
            ("t", false) => return format!("{head}tru{ty}"),
            ("tru", true) => return format!("{head}t{ty}"),
            _ => {}
        }
    }
    match name {
        "buffer_wbinvl1_sc" => "buffer_wbinvl1_vol",
        "s_cmp_ne_u64" => "s_cmp_lg_u64",
        "v_qsad_u8" => "v_qsad_pk_u16_u8",
        "v_mqsad_u8" => "v_mqsad_pk_u16_u8",
        other => other,
    }
    .to_owned()
}

/// `v_cmp_` or `v_cmpx_` (with an `s` on GFX6 and GFX7) and what follows.
fn split_compare(name: &str) -> Option<(&str, &str)> {
    let at = ["v_cmp_", "v_cmpx_", "v_cmps_", "v_cmpsx_"].into_iter().find(|p| name.starts_with(p))?.len();
    Some(name.split_at(at))
}

/// CLRX's mnemonic for one of LLVM's, without the suffix for the form.
pub(super) fn from_llvm(name: &str, level: Level) -> String {
    if let Some((head, rest)) = split_compare(name) {
        let test = &rest[..rest.find('_').unwrap_or(rest.len())];
        let ty = &rest[test.len()..];
        let integer = ty.starts_with("_i") || ty.starts_with("_u");
        match (test, integer) {
            ("ne", true) => return format!("{head}lg{ty}"),
            ("t", true) => return format!("{head}tru{ty}"),
            _ => {}
        }
    }
    match name {
        "buffer_wbinvl1_vol" if level == Level::Gfx7 => "buffer_wbinvl1_sc",
        other => other,
    }
    .to_owned()
}

/// Instructions of CLRX that no manual describes and LLVM does not know.
pub(super) const UNKNOWN: [&str; 8] = [
    "s_mov_regrd_b32",
    "s_getreg_regrd_b32",
    "v_mov_fed_b32",
    "v_mov_prsv_b32",
    "v_readlane_regrd_b32",
    "v_writelane_regwr_b32",
    "ds_condxchg32_rtn_b128",
    "buffer_atomic_rsub",
];

/// CLRX's names of registers that LLVM calls otherwise.
pub(super) const REGISTERS: [(&str, &str); 30] = [
    ("vcc", "vcc"),
    ("vcc_lo", "vcc_lo"),
    ("vcc_hi", "vcc_hi"),
    ("exec", "exec"),
    ("exec_lo", "exec_lo"),
    ("exec_hi", "exec_hi"),
    ("m0", "m0"),
    ("scc", "src_scc"),
    ("src_scc", "src_scc"),
    ("vccz", "src_vccz"),
    ("execz", "src_execz"),
    ("flat_scratch", "flat_scratch"),
    ("flat_scratch_lo", "flat_scratch_lo"),
    ("flat_scratch_hi", "flat_scratch_hi"),
    ("xnack_mask", "xnack_mask"),
    ("xnack_mask_lo", "xnack_mask_lo"),
    ("xnack_mask_hi", "xnack_mask_hi"),
    ("tba", "tba"),
    ("tba_lo", "tba_lo"),
    ("tba_hi", "tba_hi"),
    ("tma", "tma"),
    ("tma_lo", "tma_lo"),
    ("tma_hi", "tma_hi"),
    ("lds", "src_lds_direct"),
    ("lds_direct", "src_lds_direct"),
    ("shared_base", "src_shared_base"),
    ("shared_limit", "src_shared_limit"),
    ("private_base", "src_private_base"),
    ("private_limit", "src_private_limit"),
    ("pops_exiting_wave_id", "src_pops_exiting_wave_id"),
];

/// A register by its name, in lower case.
pub(super) fn register(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix("src_").unwrap_or(name);
    REGISTERS.iter().find(|r| r.0 == bare || r.1 == name).map(|r| r.1)
}

/// Hardware registers: CLRX's name and the number.
pub(super) const HWREGS: [(&str, u32); 18] = [
    ("mode", 1),
    ("status", 2),
    ("trapsts", 3),
    ("hw_id", 4),
    ("gpr_alloc", 5),
    ("lds_alloc", 6),
    ("ib_sts", 7),
    ("pc_lo", 8),
    ("pc_hi", 9),
    ("inst_dw0", 10),
    ("inst_dw1", 11),
    ("ib_dbg0", 12),
    ("ib_dbg1", 13),
    ("sh_mem_bases", 15),
    ("tba_lo", 16),
    ("tba_hi", 17),
    ("tma_lo", 18),
    ("tma_hi", 19),
];

/// An SDWA selection by CLRX's name.
pub(super) fn sdwa_select(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase().replace('_', "");
    Some(match name.as_str() {
        "byte0" | "b0" => "BYTE_0",
        "byte1" | "b1" => "BYTE_1",
        "byte2" | "b2" => "BYTE_2",
        "byte3" | "b3" => "BYTE_3",
        "word0" | "w0" => "WORD_0",
        "word1" | "w1" => "WORD_1",
        "dword" | "dw" => "DWORD",
        _ => return None,
    })
}

/// An SDWA treatment of unselected bits by CLRX's name.
pub(super) fn sdwa_unused(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    Some(match name.strip_prefix("unused_").unwrap_or(&name) {
        "pad" => "UNUSED_PAD",
        "sext" => "UNUSED_SEXT",
        "preserve" => "UNUSED_PRESERVE",
        _ => return None,
    })
}

/// Families whose instructions are encoded in more ways than one.
pub(super) fn has_forms(enc: Enc) -> bool {
    matches!(enc, Enc::Vop1 | Enc::Vop2 | Enc::Vopc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_go_both_ways() {
        assert_eq!(to_llvm("v_add_u32", Level::Gfx7), "v_add_i32");
        assert_eq!(to_llvm("v_add_i32", Level::Gfx8), "v_add_u32");
        assert_eq!(to_llvm("v_add_u32", Level::Gfx900), "v_add_u32");
        assert_eq!(to_llvm("v_cmp_lg_u32", Level::Gfx8), "v_cmp_ne_u32");
        assert_eq!(to_llvm("v_cmp_lg_f32", Level::Gfx8), "v_cmp_lg_f32");
        assert_eq!(to_llvm("v_cmpx_t_f64", Level::Gfx8), "v_cmpx_tru_f64");
        assert_eq!(to_llvm("v_cmp_tru_i32", Level::Gfx8), "v_cmp_t_i32");
        for name in ["v_cmp_ne_u64", "v_cmp_t_u32", "v_cmp_lg_f32", "s_mov_b32", "v_cmp_class_f32"] {
            assert_eq!(to_llvm(&from_llvm(name, Level::Gfx7), Level::Gfx7), name);
        }
    }
}
