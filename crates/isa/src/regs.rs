//! Scalar operand codes: which register or constant an 8- or 9-bit source field names (manual section 13.1, and the
//! GFX6–GFX8 manuals' tables for what moved).

use crate::row::{Kind, Ty};
use crate::target::{Level, Target};

/// Code of VCC_LO.
pub const VCC: u32 = 106;
/// Code of M0.
pub const M0: u32 = 124;
/// Code of EXEC_LO.
pub const EXEC: u32 = 126;
/// Code of inline constant 0; 1 to 64 follow.
pub const INT_0: u32 = 128;
/// Code of inline constant -1; -2 to -16 follow.
pub const INT_M1: u32 = 193;
/// Code of inline constant 0.5; -0.5, 1, -1, 2, -2, 4, -4 and 1/(2 pi) follow.
pub const FLOAT_0_5: u32 = 240;
/// Code of 1/(2 pi), GFX8 and later.
pub const INV_2PI: u32 = 248;
/// Source code that announces an SDWA dword.
pub const SDWA: u32 = 249;
/// Source code that announces a DPP dword.
pub const DPP: u32 = 250;
/// Code of LDS_DIRECT.
pub const LDS_DIRECT: u32 = 254;
/// Source code that announces a literal dword.
pub const LITERAL: u32 = 255;
/// Code of v0.
pub const VGPR: u32 = 256;

/// A named scalar register that is not `sN` or `ttmpN`.
#[derive(Debug)]
pub struct Special {
    /// The name disassembly prints.
    pub name: &'static str,
    /// Other accepted spellings.
    pub aliases: &'static [&'static str],
    /// Width in dwords.
    pub dwords: u8,
    /// Operand code; FLAT_SCRATCH moved between GFX7 and GFX8 and has code 102 here.
    pub code: u8,
    /// Who has it.
    pub has: Has,
}

/// Which targets have a special register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Has {
    /// Every one.
    All,
    /// GFX6 to GFX8.
    Gfx678,
    /// GFX7 and later.
    Gfx7Plus,
    /// GFX9.
    Gfx9,
    /// GFX8 and GFX9 processors that can replay (XNACK).
    Xnack,
}

impl Has {
    /// Whether a target has it.
    pub fn on(self, target: &Target) -> bool {
        let level = target.level();
        match self {
            Has::All => true,
            Has::Gfx678 => !level.is_gfx9(),
            Has::Gfx7Plus => level.generation() >= 7,
            Has::Gfx9 => level.is_gfx9(),
            Has::Xnack => level.is_vi_plus() && target.cpu.xnack.is_some(),
        }
    }
}

const fn s(name: &'static str, dwords: u8, code: u8, has: Has) -> Special {
    Special { name, aliases: &[], dwords, code, has }
}

const fn a(name: &'static str, aliases: &'static [&'static str], code: u8, has: Has) -> Special {
    Special { name, aliases, dwords: 1, code, has }
}

/// Every special register.
pub static SPECIALS: &[Special] = &[
    s("vcc", 2, 106, Has::All),
    s("vcc_lo", 1, 106, Has::All),
    s("vcc_hi", 1, 107, Has::All),
    s("exec", 2, 126, Has::All),
    s("exec_lo", 1, 126, Has::All),
    s("exec_hi", 1, 127, Has::All),
    s("m0", 1, 124, Has::All),
    s("flat_scratch", 2, 102, Has::Gfx7Plus),
    s("flat_scratch_lo", 1, 102, Has::Gfx7Plus),
    s("flat_scratch_hi", 1, 103, Has::Gfx7Plus),
    s("xnack_mask", 2, 104, Has::Xnack),
    s("xnack_mask_lo", 1, 104, Has::Xnack),
    s("xnack_mask_hi", 1, 105, Has::Xnack),
    s("tba", 2, 108, Has::Gfx678),
    s("tba_lo", 1, 108, Has::Gfx678),
    s("tba_hi", 1, 109, Has::Gfx678),
    s("tma", 2, 110, Has::Gfx678),
    s("tma_lo", 1, 110, Has::Gfx678),
    s("tma_hi", 1, 111, Has::Gfx678),
    a("src_shared_base", &["shared_base"], 235, Has::Gfx9),
    a("src_shared_limit", &["shared_limit"], 236, Has::Gfx9),
    a("src_private_base", &["private_base"], 237, Has::Gfx9),
    a("src_private_limit", &["private_limit"], 238, Has::Gfx9),
    a("src_pops_exiting_wave_id", &["pops_exiting_wave_id"], 239, Has::Gfx9),
    a("src_vccz", &["vccz"], 251, Has::All),
    a("src_execz", &["execz"], 252, Has::All),
    a("src_scc", &["scc"], 253, Has::All),
    a("src_lds_direct", &["lds_direct"], 254, Has::All),
];

/// Looks a special register up by any of its names.
pub fn special(name: &str) -> Option<&'static Special> {
    SPECIALS.iter().find(|s| s.name == name || s.aliases.contains(&name))
}

/// How many plain SGPRs (`s0` up) a target has.
pub fn sgpr_count(target: &Target) -> u32 {
    if target.level().is_vi_plus() { 102 } else { 104 }
}

/// First operand code of the trap temporaries, and how many there are.
pub fn ttmp_range(target: &Target) -> (u32, u32) {
    if target.level().is_gfx9() { (108, 16) } else { (112, 12) }
}

/// The operand code of a special register on a target.
pub fn special_code(special: &Special, target: &Target) -> u32 {
    // FLAT_SCRATCH sits above s103 on GFX7.
    let moved = special.code >= 102 && special.code <= 103 && !target.level().is_vi_plus();
    special.code as u32 + if moved { 2 } else { 0 }
}

/// The special register of `dwords` registers at an operand code.
pub fn special_at(code: u32, dwords: u8, target: &Target) -> Option<&'static Special> {
    SPECIALS.iter().find(|s| s.dwords == dwords && s.has.on(target) && special_code(s, target) == code)
}

/// Bits of the inline float constants 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi) as f16, f32 and f64.
pub const INLINE_FLOATS: [(u16, u32, u64); 9] = [
    (0x3800, 0x3f00_0000, 0x3fe0_0000_0000_0000),
    (0xb800, 0xbf00_0000, 0xbfe0_0000_0000_0000),
    (0x3c00, 0x3f80_0000, 0x3ff0_0000_0000_0000),
    (0xbc00, 0xbf80_0000, 0xbff0_0000_0000_0000),
    (0x4000, 0x4000_0000, 0x4000_0000_0000_0000),
    (0xc000, 0xc000_0000, 0xc000_0000_0000_0000),
    (0x4400, 0x4080_0000, 0x4010_0000_0000_0000),
    (0xc400, 0xc080_0000, 0xc010_0000_0000_0000),
    (0x3118, 0x3e22_f983, 0x3fc4_5f30_6dc9_c882),
];

/// The inline constant that says the same as a literal dword in an operand of this type, if there is one.
pub fn inline_code(ty: Ty, literal: u32, level: Level) -> Option<u32> {
    let int = |n: i64| match n {
        0..=64 => Some(INT_0 + n as u32),
        -16..=-1 => Some((INT_M1 as i64 - 1 - n) as u32),
        _ => None,
    };
    let float = |same: &dyn Fn(&(u16, u32, u64)) -> bool| {
        let i = INLINE_FLOATS.iter().position(same)?;
        (i != 8 || level.is_vi_plus()).then_some(FLOAT_0_5 + i as u32)
    };
    match (ty.kind, ty.bits, ty.count) {
        // A 64-bit float's literal is its upper half.
        (Kind::F, 64, _) => {
            let bits = (literal as u64) << 32;
            if literal == 0 { Some(INT_0) } else { float(&|f| f.2 == bits) }
        }
        (_, 64, _) => int(literal as i64),
        (Kind::F, 16, 1) => int(literal as i16 as i64).or_else(|| float(&|f| f.0 == literal as u16)),
        // No float is inline for a 16-bit integer: which bits it would stand for is not agreed on.
        (_, 16, 1) => int(literal as i32 as i64),
        (Kind::F, 16, _) => int(literal as i32 as i64).or_else(|| float(&|f| f.0 as u32 == literal)),
        _ => int(literal as i32 as i64).or_else(|| float(&|f| f.1 == literal)),
    }
}
