//! AMD's directives: target and code object version, kernel descriptors, `amd_kernel_code_t`, metadata, LDS symbols,
//! and the symbols that count registers.
//!
//! The tables of what a descriptor or a document holds are `wavemill_object`'s; here is only the reading of source
//! and the writing of listings and sections.

mod bits;
mod emit;
mod kernel;
mod kernel_code;
mod metadata;
mod registers;

pub use registers::{RegFile, note_register};

use crate::lex::{Tok, Token};
use crate::object::Header;
use crate::options::Os;
use crate::parser::Parser;
use crate::section::{Section, flags, types};
use crate::source::{Diag, Span};
use crate::symbol::{Binding, Common, SymType};
use wavemill_object::elf;
use wavemill_object::limits::Limits;
use wavemill_object::target_id::{self, TargetId};

/// The code object version when nobody says one.
const DEFAULT_VERSION: u8 = 5;

/// The ELF header of the object, by what the source has said.
fn header(p: &Parser<'_>) -> Header {
    let id = target_id(p);
    let version = final_version(p);
    Header {
        os_abi: id.os().elf_os_abi(),
        abi_version: target_id::abi_version(id.os(), version),
        flags: id.e_flags(version),
    }
}

/// The target id of what is assembled for.
fn target_id(p: &Parser<'_>) -> TargetId {
    TargetId::new(&p.options.triple, &p.target)
}

/// The code object version as far as the source has said it by now, else the command line's.
fn version(p: &Parser<'_>) -> u8 {
    p.amd.version.unwrap_or_else(|| option_version(p))
}

fn option_version(p: &Parser<'_>) -> u8 {
    p.options.code_object_version.map_or(DEFAULT_VERSION, |v| u8::try_from(v).unwrap_or(u8::MAX))
}

/// The code object version of the object: the directive's; else what the command line says; else what the source
/// implies.
fn final_version(p: &Parser<'_>) -> u8 {
    let implied = p.amd.implied_version.filter(|_| p.options.code_object_version.is_none());
    p.amd.version.or(implied).unwrap_or_else(|| option_version(p))
}

/// Called before the first statement.
pub fn begin(p: &mut Parser<'_>) {
    registers::begin(p);
    if p.options.os == Os::AmdHsa {
        let id = target_id(p);
        p.out.line(format_args!("\t.amdgcn_target \"{id}\""));
    }
}

/// Handles a directive if it is one of AMD's: the cursor is after the name. It is left on the end of the statement
/// where LLVM leaves it there, so that listings have the empty lines that LLVM's have.
/// `None` when the directive is not AMD's.
pub fn directive(p: &mut Parser<'_>, name: &str, name_token: Token) -> Option<Result<(), Diag>> {
    // Every directive of AMD's starts so, and most directives do not.
    if !matches!(name.as_bytes(), [b'.', b'a' | b'e' | b'h', b'm' | b'n' | b's', ..]) {
        return None;
    }
    let at = p.lex.span(name_token);
    let hsa = p.options.os == Os::AmdHsa;
    Some(match name {
        ".amdgcn_target" => amdgcn_target(p),
        ".amdgpu_lds" => amdgpu_lds(p),
        ".amd_amdgpu_pal_metadata" => metadata::pal_pairs(p, at),
        ".amdgpu_pal_metadata" => metadata::pal(p, at),
        ".amdhsa_kernel" if hsa => kernel::block(p, at),
        ".amdhsa_code_object_version" if hsa => code_object_version(p),
        ".amdgpu_metadata" if hsa => metadata::hsa(p, at),
        // Code object v2's, which has them on HSA too.
        ".amd_kernel_code_t" => kernel_code::block(p, at),
        ".amdgpu_hsa_kernel" => amdgpu_hsa_kernel(p),
        ".amd_amdgpu_isa" => amd_amdgpu_isa(p),
        ".amd_amdgpu_hsa_metadata" if hsa => metadata::hsa_v2(p, at),
        ".amd_amdgpu_hsa_metadata" => {
            Err(Diag::error(at, format!("{name} is not available on non-amdhsa OSes")))
        }
        ".hsa_code_object_version" => hsa_code_object_version(p),
        ".hsa_code_object_isa" => hsa_code_object_isa(p),
        ".amdgpu_hsa_module_global" => hsa_global(p, name, Binding::Local),
        ".amdgpu_hsa_program_global" => hsa_global(p, name, Binding::Global),
        ".hsatext" | ".hsadata_global_agent" | ".hsadata_global_program" | ".hsarodata_readonly_agent" => {
            hsa_section(p, name)
        }
        ".end_amdhsa_kernel" | ".end_amd_kernel_code_t" => Err(stray(p, name, at)),
        _ if hsa && name.starts_with(".amdhsa_") => Err(stray(p, name, at)),
        _ => return None,
    })
}

/// A line of a block, outside one.
#[cold]
fn stray(p: &Parser<'_>, name: &str, at: Span) -> Diag {
    match &p.amd.abandoned {
        Some(kernel) => {
            Diag::error(at, format!("not read, because of the error above in .amdhsa_kernel {kernel}"))
        }
        None => Diag::error(at, format!("unknown directive: {name} is outside its block")),
    }
}

/// Called after the last statement.
pub fn finish(p: &mut Parser<'_>) {
    let text = p.amd.pal.to_text();
    if p.out.is_text() {
        p.out.raw(text.as_bytes());
    } else if let Some((owner, kind, contents)) = p.amd.pal.to_note() {
        emit::note(p, owner, kind, &contents);
    }
    let header = header(p);
    if let Some(object) = &mut p.out.object {
        object.header = header;
    }
}

/// Reads a string in double quotes, escapes undone.
fn string(p: &mut Parser<'_>) -> Result<String, Diag> {
    if p.lex.kind() != Tok::Str {
        return Err(p.token_error("expected string"));
    }
    let token = p.lex.bump();
    let bytes = p.lex.bytes(token);
    let inner = bytes.get(1..bytes.len() - 1).unwrap_or(b"");
    let mut text = String::from_utf8_lossy(inner).into_owned();
    if text.contains('\\') {
        text = text.replace("\\\"", "\"").replace("\\\\", "\\");
    }
    Ok(text)
}

/// Reads a number that must fit 32 bits.
fn u32_value(p: &mut Parser<'_>) -> Result<u32, Diag> {
    let at = p.lex.here();
    // LLVM keeps the low half, so that -1 is every bit.
    p.absolute()
        .map(|v| v as u32)
        .map_err(|d| if d.span.is_some() { d } else { Diag::error(at, "expected a number") })
}

/// `.amdgcn_target "id"`: must be what the command line says, in the spelling of any code object version.
fn amdgcn_target(p: &mut Parser<'_>) -> Result<(), Diag> {
    let at = p.lex.here();
    let said = string(p)?;
    let id = target_id(p);
    if said == id.to_string() {
        return Ok(());
    }
    let mismatch =
        || format!(".amdgcn_target directive's target id {said} does not match the specified target id {id}");
    if let Ok((other, Some(3))) = TargetId::parse(&said)
        && (&other.arch, &other.os_name, &other.processor) == (&id.arch, &id.os_name, &id.processor)
    {
        // Version 3 says whether a feature is on, not whether the code minds: what the command line leaves open
        // follows the source.
        let agree = |asked: Option<bool>, said: Option<bool>| asked.is_none() || asked == said;
        if said == id.spelling(3) {
            p.amd.implied_version = Some(3);
            return Ok(());
        }
        if agree(p.target.xnack, other.xnack.request()) && agree(p.target.sramecc, other.sramecc.request()) {
            p.target.xnack = other.xnack.request();
            p.target.sramecc = other.sramecc.request();
            p.amd.implied_version = Some(3);
            return Ok(());
        }
    }
    Err(Diag::error(at, mismatch()))
}

fn code_object_version(p: &mut Parser<'_>) -> Result<(), Diag> {
    let at = p.lex.here();
    let version = u32_value(p)?;
    p.amd.version = Some(u8::try_from(version).map_err(|_| Diag::error(at, "no such code object version"))?);
    p.out.line(format_args!("\t.amdhsa_code_object_version {version}"));
    Ok(())
}

/// `.amdgpu_hsa_kernel name`: the symbol is a kernel of code object v2.
fn amdgpu_hsa_kernel(p: &mut Parser<'_>) -> Result<(), Diag> {
    if p.lex.kind() != Tok::Ident {
        return Err(p.token_error("expected symbol name"));
    }
    let token = p.lex.bump();
    let name = p.lex.text(token);
    let id = p.symbols.get_or_insert(name);
    p.symbols[id].ty = SymType::AmdgpuHsaKernel;
    p.symbols[id].referenced = true;
    p.out.line(format_args!("\t.amdgpu_hsa_kernel {name}"));
    registers::restart(p);
    Ok(())
}

/// `.amdgpu_hsa_module_global name`, `.amdgpu_hsa_program_global name`: a variable of code object v1.
fn hsa_global(p: &mut Parser<'_>, directive: &str, binding: Binding) -> Result<(), Diag> {
    let Some(name) = p.identifier() else { return Err(p.token_error("expected symbol name")) };
    let id = p.symbols.get_or_insert(name);
    let symbol = &mut p.symbols[id];
    symbol.ty = SymType::Object;
    symbol.binding = binding;
    symbol.referenced = true;
    p.out.line(format_args!("\t{directive} {name}"));
    Ok(())
}

/// The sections of code object v1, whose flags say in which memory they go.
fn hsa_section(p: &mut Parser<'_>, name: &str) -> Result<(), Diag> {
    const GLOBAL: u32 = 0x10_0000;
    const READONLY: u32 = 0x20_0000;
    const CODE: u32 = 0x40_0000;
    const AGENT: u32 = 0x80_0000;
    let data = flags::ALLOC | flags::WRITE;
    let flags = match name {
        ".hsatext" => data | flags::EXECINSTR | CODE | AGENT,
        ".hsadata_global_agent" => data | GLOBAL | AGENT,
        ".hsadata_global_program" => data | GLOBAL,
        _ => flags::ALLOC | READONLY | AGENT,
    };
    if !p.lex.at_eol() {
        return Err(p.token_error("expected newline"));
    }
    p.lex.eat(Tok::Eol);
    let section = p.section(Section::new(name, types::PROGBITS, flags));
    p.switch_section(section, 0);
    Ok(())
}

/// `.amd_amdgpu_isa "id"`: the note that names the ISA in code object v2.
fn amd_amdgpu_isa(p: &mut Parser<'_>) -> Result<(), Diag> {
    let at = p.lex.here();
    let said = string(p)?;
    let id = target_id(p);
    if said != id.to_string() && said != id.spelling(2) {
        return Err(Diag::error(at, format!("target id must match options: this is {id}")));
    }
    p.out.line(format_args!("\t.amd_amdgpu_isa \"{said}\""));
    emit::note(p, elf::NOTE_NAME_V2, elf::NT_AMD_HSA_ISA_NAME, said.as_bytes());
    Ok(())
}

/// `.hsa_code_object_version major, minor`
fn hsa_code_object_version(p: &mut Parser<'_>) -> Result<(), Diag> {
    let major = u32_value(p)?;
    p.expect(Tok::Comma, "minor version number required, comma expected")?;
    let minor = u32_value(p)?;
    p.amd.implied_version = Some(2);
    p.out.line(format_args!("\t.hsa_code_object_version {major},{minor}"));
    let mut note = major.to_le_bytes().to_vec();
    note.extend(minor.to_le_bytes());
    emit::note(p, elf::NOTE_NAME_V2, elf::NT_AMD_HSA_CODE_OBJECT_VERSION, &note);
    Ok(())
}

/// `.hsa_code_object_isa [major, minor, stepping, "vendor", "arch"]`; without arguments the processor's own.
fn hsa_code_object_isa(p: &mut Parser<'_>) -> Result<(), Diag> {
    let (numbers, vendor, arch) = if p.lex.at_eol() {
        let (major, minor, stepping) = target_id(p).v2_isa_version().unwrap_or(p.target.cpu.version);
        ([major, minor, stepping].map(u32::from), "AMD".to_string(), "AMDGPU".to_string())
    } else {
        let major = u32_value(p)?;
        p.expect(Tok::Comma, "minor version number required, comma expected")?;
        let minor = u32_value(p)?;
        p.expect(Tok::Comma, "stepping version number required, comma expected")?;
        let stepping = u32_value(p)?;
        p.expect(Tok::Comma, "vendor name required, comma expected")?;
        let vendor = string(p)?;
        p.expect(Tok::Comma, "arch name required, comma expected")?;
        ([major, minor, stepping], vendor, string(p)?)
    };
    let [major, minor, stepping] = numbers;
    p.out.line(format_args!("\t.hsa_code_object_isa {major},{minor},{stepping},\"{vendor}\",\"{arch}\""));
    let mut note = Vec::new();
    note.extend((vendor.len() as u16 + 1).to_le_bytes());
    note.extend((arch.len() as u16 + 1).to_le_bytes());
    note.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
    for name in [&vendor, &arch] {
        note.extend(name.as_bytes());
        note.push(0);
    }
    emit::note(p, elf::NOTE_NAME_V2, elf::NT_AMD_HSA_ISA_VERSION, &note);
    Ok(())
}

/// `.amdgpu_lds name, size [, alignment]`: a symbol that the linker places in LDS.
fn amdgpu_lds(p: &mut Parser<'_>) -> Result<(), Diag> {
    let name_at = p.lex.here();
    let Some(name) = p.identifier() else { return Err(p.token_error("expected identifier in directive")) };
    p.expect(Tok::Comma, "expected comma")?;
    let at = p.lex.here();
    let size = p.absolute()?;
    if size < 0 {
        return Err(Diag::error(at, "size must be non-negative"));
    }
    let available = Limits::of(p.target.cpu).lds_bytes;
    if size > i64::from(available) {
        return Err(Diag::error(at, format!("size is too large: there are {available} bytes of LDS")));
    }
    let mut align = 4;
    if p.lex.eat(Tok::Comma) {
        let at = p.lex.here();
        align = p.absolute()?;
        if align < 0 || !(align as u64).is_power_of_two() {
            return Err(Diag::error(at, "alignment must be a power of two"));
        }
        if align >= 1 << 31 {
            return Err(Diag::error(at, "alignment is too large"));
        }
    }
    if !p.lex.at_eol() {
        return Err(p.token_error("expected newline"));
    }
    p.lex.eat(Tok::Eol);
    let id = p.symbols.get_or_insert(name);
    let symbol = &mut p.symbols[id];
    if symbol.redefinable {
        symbol.value = None;
    }
    if !symbol.is_undefined() {
        return Err(Diag::error(name_at, "invalid symbol redefinition"));
    }
    let (size, align) = (size as u64, align as u64);
    if p.out.is_text() {
        // A listing only says it; nothing stops it from being said again.
        p.out.line(format_args!("\t.amdgpu_lds {name}, {size}, {align}"));
        return Ok(());
    }
    symbol.ty = SymType::Object;
    symbol.common = Some(Common { size, align, local: false });
    symbol.size = Some(crate::expr::Expr::Const(size as i64));
    if let Some(object) = &mut p.out.object {
        object.lds.push(id);
    }
    Ok(())
}
