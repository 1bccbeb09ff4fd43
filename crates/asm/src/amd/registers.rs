//! Symbols that say which registers the source has used so far: `.amdgcn.next_free_vgpr` on HSA, `.kernel.vgpr_count`
//! elsewhere.

use crate::expr::Expr;
use crate::ids::SymId;
use crate::options::Os;
use crate::parser::Parser;
use crate::source::{Diag, Span};
use wavemill_isa::Level;
use wavemill_object::limits;

/// A register file that is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegFile {
    /// Scalar registers.
    Sgpr,
    /// Vector registers.
    Vgpr,
    /// Accumulation registers of gfx908 and later.
    Agpr,
}

/// Makes the symbols that a source may ask.
pub(super) fn begin(p: &mut Parser<'_>) {
    let (major, minor, stepping) = p.target.cpu.version;
    let version = [("major", major), ("minor", minor), ("stepping", stepping)];
    p.amd.registers.hsa = p.options.os == Os::AmdHsa;
    if p.amd.registers.hsa {
        let names = ["number", "minor", "stepping"];
        for ((_, value), name) in version.into_iter().zip(names) {
            define(p, &format!(".amdgcn.gfx_generation_{name}"), Expr::Const(value.into()));
        }
        let vgpr = define(p, ".amdgcn.next_free_vgpr", Expr::Const(0));
        let sgpr = define(p, ".amdgcn.next_free_sgpr", Expr::Const(0));
        p.amd.registers.next_free = Some([sgpr, vgpr]);
    } else {
        for (name, value) in version {
            define(p, &format!(".option.machine_version_{name}"), Expr::Const(value.into()));
        }
        restart(p);
    }
    // s_version's operand, which has names for every generation but is an instruction of later ones only.
    let versions = [
        ("UC_VERSION_GFX7", 0),
        ("UC_VERSION_GFX10", 4),
        ("UC_VERSION_GFX11", 6),
        ("UC_VERSION_GFX12", 9),
        ("UC_VERSION_W64_BIT", 0x2000),
        ("UC_VERSION_W32_BIT", 0x4000),
        ("UC_VERSION_MDP_BIT", 0x8000),
    ];
    for (name, value) in versions {
        define(p, name, Expr::Const(value));
    }
}

/// Gives one of these symbols a value. It stays out of the symbol table until the source itself sets it.
fn define(p: &mut Parser<'_>, name: &str, value: Expr) -> SymId {
    let id = p.symbols.get_or_insert(name);
    p.symbols[id].value = Some(value);
    id
}

fn has_agprs(level: Level) -> bool {
    level >= Level::Gfx908
}

/// Starts counting for a new kernel.
pub(super) fn restart(p: &mut Parser<'_>) {
    p.amd.registers.used = [0; 3];
    define(p, ".kernel.sgpr_count", Expr::Const(0));
    define(p, ".kernel.vgpr_count", Expr::Const(0));
    if has_agprs(p.target.level()) {
        define(p, ".kernel.agpr_count", Expr::Const(0));
    }
}

/// Takes note that a source has named `dwords` registers from `index` on; `at` is where.
///
/// Every register operand comes through here, so it is one comparison when nothing is new.
#[inline]
pub fn note_register(
    p: &mut Parser<'_>,
    file: RegFile,
    index: u32,
    dwords: u32,
    at: Span,
) -> Result<(), Diag> {
    let count = index + dwords;
    if let Some(symbols) = p.amd.registers.next_free {
        let id = match file {
            RegFile::Sgpr => symbols[0],
            RegFile::Vgpr => symbols[1],
            RegFile::Agpr => return Ok(()),
        };
        match p.symbols[id].value {
            Some(Expr::Const(old)) if old >= i64::from(count) => Ok(()),
            _ => raise(p, id, count, at),
        }
    } else if count > p.amd.registers.used[file as usize] {
        count_up(p, file, count);
        Ok(())
    } else {
        Ok(())
    }
}

#[cold]
fn raise(p: &mut Parser<'_>, id: SymId, count: u32, at: Span) -> Result<(), Diag> {
    let Some(value) = p.symbols[id].value.clone() else {
        return Err(Diag::error(at, ".amdgcn.next_free_{v,s}gpr symbols must be variable"));
    };
    let Some(old) = p.eval(&value) else {
        return Err(Diag::error(at, ".amdgcn.next_free_{v,s}gpr symbols must be absolute expressions"));
    };
    if old < i64::from(count) {
        p.symbols[id].value = Some(Expr::Const(count.into()));
    }
    Ok(())
}

#[cold]
fn count_up(p: &mut Parser<'_>, file: RegFile, count: u32) {
    let level = p.target.level();
    if file == RegFile::Agpr && !has_agprs(level) {
        return;
    }
    p.amd.registers.used[file as usize] = count;
    let [_, vgprs, agprs] = p.amd.registers.used;
    match file {
        RegFile::Sgpr => _ = define(p, ".kernel.sgpr_count", Expr::Const(count.into())),
        RegFile::Agpr => _ = define(p, ".kernel.agpr_count", Expr::Const(count.into())),
        RegFile::Vgpr => {}
    }
    if file != RegFile::Sgpr {
        let total = limits::total_vgprs(level, vgprs, agprs);
        define(p, ".kernel.vgpr_count", Expr::Const(total.into()));
    }
}
