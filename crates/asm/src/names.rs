//! Symbolic names inside operands, one table for reader and printer: messages, hardware registers, buffer formats,
//! export targets, DPP controls, SDWA selections.

use wavemill_isa::{Level, Target};

/// A name with its number and the generations that have it.
pub struct Name {
    /// As written.
    pub name: &'static str,
    /// Its number.
    pub id: u32,
    /// First and last generation with it.
    pub generations: (u8, u8),
}

const fn n(name: &'static str, id: u32, first: u8, last: u8) -> Name {
    Name { name, id, generations: (first, last) }
}

impl Name {
    /// Whether a target has the name.
    pub fn on(&self, target: &Target) -> bool {
        let g = target.level().generation();
        self.generations.0 <= g && g <= self.generations.1
    }
}

/// The name of a number in a table.
pub fn name_of(table: &'static [Name], id: u32, target: &Target) -> Option<&'static str> {
    table.iter().find(|n| n.id == id && n.on(target)).map(|n| n.name)
}

/// The entry with a name, whether or not the target has it.
pub fn find(table: &'static [Name], name: &str) -> Option<&'static Name> {
    table.iter().find(|n| n.name == name)
}

/// S_SENDMSG message ids (bits 3:0).
pub static MESSAGES: &[Name] = &[
    n("MSG_INTERRUPT", 1, 6, 9),
    n("MSG_GS", 2, 6, 9),
    n("MSG_GS_DONE", 3, 6, 9),
    n("MSG_SAVEWAVE", 4, 8, 9),
    n("MSG_STALL_WAVE_GEN", 5, 9, 9),
    n("MSG_HALT_WAVES", 6, 9, 9),
    n("MSG_ORDERED_PS_DONE", 7, 9, 9),
    n("MSG_EARLY_PRIM_DEALLOC", 8, 9, 9),
    n("MSG_GS_ALLOC_REQ", 9, 9, 9),
    n("MSG_GET_DOORBELL", 10, 9, 9),
    n("MSG_SYSMSG", 15, 6, 9),
];

/// Message ids that take a geometry-shader operation.
pub const MSG_GS: u32 = 2;
/// The last geometry-shader message.
pub const MSG_GS_DONE: u32 = 3;
/// The message that takes a system operation.
pub const MSG_SYSMSG: u32 = 15;

/// Operations of MSG_SYSMSG (bits 6:4).
pub static SYSTEM_OPS: &[Name] = &[
    n("SYSMSG_OP_ECC_ERR_INTERRUPT", 1, 6, 9),
    n("SYSMSG_OP_REG_RD", 2, 6, 9),
    n("SYSMSG_OP_HOST_TRAP_ACK", 3, 6, 8),
    n("SYSMSG_OP_TTRACE_PC", 4, 6, 9),
];

/// Operations of MSG_GS and MSG_GS_DONE (bits 6:4).
pub static GS_OPS: &[Name] = &[
    n("GS_OP_NOP", 0, 6, 9),
    n("GS_OP_CUT", 1, 6, 9),
    n("GS_OP_EMIT", 2, 6, 9),
    n("GS_OP_EMIT_CUT", 3, 6, 9),
];

/// Hardware registers of S_GETREG and S_SETREG.
pub static HWREGS: &[Name] = &[
    n("HW_REG_MODE", 1, 6, 9),
    n("HW_REG_STATUS", 2, 6, 9),
    n("HW_REG_TRAPSTS", 3, 6, 9),
    n("HW_REG_HW_ID", 4, 6, 9),
    n("HW_REG_GPR_ALLOC", 5, 6, 9),
    n("HW_REG_LDS_ALLOC", 6, 6, 9),
    n("HW_REG_IB_STS", 7, 6, 9),
    n("HW_REG_SH_MEM_BASES", 15, 9, 9),
    n("HW_REG_TBA_LO", 16, 9, 9),
    n("HW_REG_TBA_HI", 17, 9, 9),
    n("HW_REG_TMA_LO", 18, 9, 9),
    n("HW_REG_TMA_HI", 19, 9, 9),
];

/// Buffer data formats (manual 9.1.8), without their `BUF_DATA_FORMAT_` prefix.
pub static DATA_FORMATS: [&str; 16] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
];
/// Prefix of the data formats.
pub const DATA_FORMAT: &str = "BUF_DATA_FORMAT_";
/// Prefix of the number formats.
pub const NUM_FORMAT: &str = "BUF_NUM_FORMAT_";
/// The format an MTBUF instruction has when it names none: data format 8, number format UNORM.
pub const DEFAULT_FORMAT: u32 = 1;

/// Buffer number formats without their `BUF_NUM_FORMAT_` prefix.
pub fn num_formats(level: Level) -> [&'static str; 8] {
    let six = if level.is_vi_plus() { "RESERVED_6" } else { "SNORM_OGL" };
    ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", six, "FLOAT"]
}

/// SDWA selections, by number.
pub static SDWA_SELS: [&str; 7] = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"];
/// SDWA treatment of unselected destination bits, by number.
pub static SDWA_UNUSED: [&str; 3] = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"];

/// A DPP control without operands, or the first of a run of fifteen shifts.
pub struct DppCtrl {
    /// As written; shifts are followed by `:N`.
    pub name: &'static str,
    /// Its code; for `name:N`, code + N.
    pub code: u32,
    /// Smallest and largest N, or `None` without one.
    pub range: Option<(u32, u32)>,
}

const fn d(name: &'static str, code: u32) -> DppCtrl {
    DppCtrl { name, code, range: None }
}

/// DPP controls other than quad_perm (codes 0 to 255) and the broadcasts. `wave_*:1` are written with their count.
pub static DPP_CTRLS: &[DppCtrl] = &[
    DppCtrl { name: "row_shl", code: 0x100, range: Some((1, 15)) },
    DppCtrl { name: "row_shr", code: 0x110, range: Some((1, 15)) },
    DppCtrl { name: "row_ror", code: 0x120, range: Some((1, 15)) },
    DppCtrl { name: "wave_shl", code: 0x130 - 1, range: Some((1, 1)) },
    DppCtrl { name: "wave_rol", code: 0x134 - 1, range: Some((1, 1)) },
    DppCtrl { name: "wave_shr", code: 0x138 - 1, range: Some((1, 1)) },
    DppCtrl { name: "wave_ror", code: 0x13c - 1, range: Some((1, 1)) },
    d("row_mirror", 0x140),
    d("row_half_mirror", 0x141),
];
/// `row_bcast:15`, `row_bcast:31` and, on gfx90a, the first of `row_newbcast:0` to `:15`.
pub const DPP_ROW_BCAST15: u32 = 0x142;
/// See [`DPP_ROW_BCAST15`].
pub const DPP_ROW_BCAST31: u32 = 0x143;
/// See [`DPP_ROW_BCAST15`].
pub const DPP_ROW_NEWBCAST: u32 = 0x150;
