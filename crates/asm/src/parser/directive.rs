//! The directives by name, and what to say about one that does not exist.

use super::statement::Assignment;
use super::symbols::Attribute;
use super::{Parser, Res};
use crate::section::{flags, types};
use crate::source::Diag;
use crate::symbol::NameMap;
use std::sync::LazyLock;

type Handler = fn(&mut Parser<'_>, &str) -> Res;

/// Directives whose name is taken in any case.
static DIRECTIVES: &[(&str, Handler)] = &[
    (".2byte", |p, _| p.values(2)),
    (".4byte", |p, _| p.values(4)),
    (".8byte", |p, _| p.values(8)),
    (".abort", |p, _| p.abort()),
    (".addrsig", |p, _| p.addrsig()),
    (".addrsig_sym", |p, _| p.addrsig_symbol()),
    (".align", |p, _| p.align(false, 1)),
    (".align32", |p, _| p.align(false, 4)),
    (".altmacro", |p, _| p.alternate_macros(true)),
    (".ascii", |p, _| p.strings(false)),
    (".asciz", |p, _| p.strings(true)),
    (".balign", |p, _| p.align(false, 1)),
    (".balignl", |p, _| p.align(false, 4)),
    (".balignw", |p, _| p.align(false, 2)),
    (".bundle_align_mode", |p, _| p.bundle_align_mode()),
    (".bundle_lock", |p, _| p.bundle_lock()),
    (".bundle_unlock", |p, _| p.bundle_unlock()),
    (".byte", |p, _| p.values(1)),
    (".cfi_adjust_cfa_offset", |p, n| p.cfi(n)),
    (".cfi_def_cfa", |p, n| p.cfi(n)),
    (".cfi_def_cfa_offset", |p, n| p.cfi(n)),
    (".cfi_def_cfa_register", |p, n| p.cfi(n)),
    (".cfi_endproc", |p, n| p.cfi(n)),
    (".cfi_escape", |p, n| p.cfi(n)),
    (".cfi_label", |p, n| p.cfi(n)),
    (".cfi_llvm_def_aspace_cfa", |p, n| p.cfi(n)),
    (".cfi_lsda", |p, n| p.cfi(n)),
    (".cfi_offset", |p, n| p.cfi(n)),
    (".cfi_personality", |p, n| p.cfi(n)),
    (".cfi_register", |p, n| p.cfi(n)),
    (".cfi_rel_offset", |p, n| p.cfi(n)),
    (".cfi_remember_state", |p, n| p.cfi(n)),
    (".cfi_restore", |p, n| p.cfi(n)),
    (".cfi_restore_state", |p, n| p.cfi(n)),
    (".cfi_return_column", |p, n| p.cfi(n)),
    (".cfi_same_value", |p, n| p.cfi(n)),
    (".cfi_sections", |p, n| p.cfi(n)),
    (".cfi_signal_frame", |p, n| p.cfi(n)),
    (".cfi_startproc", |p, n| p.cfi(n)),
    (".cfi_undefined", |p, n| p.cfi(n)),
    (".cfi_window_save", |p, n| p.cfi(n)),
    (".code16", |p, n| p.refuse(n)),
    (".code16gcc", |p, n| p.refuse(n)),
    (".cold", |p, _| p.attributes(None)),
    (".comm", |p, _| p.common(false)),
    (".common", |p, _| p.common(false)),
    (".dc", |p, _| p.values(2)),
    (".dc.a", |p, _| p.values(8)),
    (".dc.b", |p, _| p.values(1)),
    (".dc.d", |p, _| p.reals(8)),
    (".dc.l", |p, _| p.values(4)),
    (".dc.s", |p, _| p.reals(4)),
    (".dc.w", |p, _| p.values(2)),
    (".dc.x", |p, n| p.refuse(n)),
    (".dcb", |p, n| p.dcb(n, 2)),
    (".dcb.b", |p, n| p.dcb(n, 1)),
    (".dcb.d", |p, n| p.dcb_real(n, 8)),
    (".dcb.l", |p, n| p.dcb(n, 4)),
    (".dcb.s", |p, n| p.dcb_real(n, 4)),
    (".dcb.w", |p, n| p.dcb(n, 2)),
    (".dcb.x", |p, n| p.refuse(n)),
    (".double", |p, _| p.reals(8)),
    (".ds", |p, n| p.ds(n, 2)),
    (".ds.b", |p, n| p.ds(n, 1)),
    (".ds.d", |p, n| p.ds(n, 8)),
    (".ds.l", |p, n| p.ds(n, 4)),
    (".ds.p", |p, n| p.ds(n, 12)),
    (".ds.s", |p, n| p.ds(n, 4)),
    (".ds.w", |p, n| p.ds(n, 2)),
    (".ds.x", |p, n| p.ds(n, 12)),
    (".end", |p, _| p.end()),
    (".endm", |p, n| p.end_macro(n)),
    (".endmacro", |p, n| p.end_macro(n)),
    (".endr", |p, _| p.end_repeat()),
    (".equ", |p, _| p.set(Assignment::Set)),
    (".equiv", |p, _| p.set(Assignment::Equiv)),
    (".err", |p, _| p.error_directive(false)),
    (".error", |p, _| p.error_directive(true)),
    (".exitm", |p, n| p.exit_macro(n)),
    (".extern", |p, _| p.ignore()),
    (".file", |p, _| p.debug_file()),
    (".fill", |p, _| p.fill()),
    (".float", |p, _| p.reals(4)),
    (".global", |p, _| p.attributes(Some(Attribute::Global))),
    (".globl", |p, _| p.attributes(Some(Attribute::Global))),
    (".incbin", |p, _| p.incbin()),
    (".include", |p, _| p.include()),
    (".int", |p, _| p.values(4)),
    (".irp", |p, _| p.irp(false)),
    (".irpc", |p, _| p.irp(true)),
    (".lazy_reference", |p, _| p.attributes(Some(Attribute::LazyReference))),
    (".lcomm", |p, _| p.common(true)),
    (".line", |p, _| p.debug_line()),
    (".loc", |p, _| p.debug_loc()),
    (".long", |p, _| p.values(4)),
    (".lto_discard", |p, _| p.lto_discard()),
    (".lto_set_conditional", |p, _| p.set(Assignment::LtoConditional)),
    (".macro", |p, _| p.macro_definition()),
    (".macros_off", |p, _| p.macros_enabled(false)),
    (".macros_on", |p, _| p.macros_enabled(true)),
    (".memtag", |p, _| p.attributes(Some(Attribute::Memtag))),
    (".no_dead_strip", |p, _| p.attributes(Some(Attribute::NoDeadStrip))),
    (".noaltmacro", |p, _| p.alternate_macros(false)),
    (".octa", |p, _| p.octa()),
    (".org", |p, _| p.org()),
    (".p2align", |p, _| p.align(true, 1)),
    (".p2alignl", |p, _| p.align(true, 4)),
    (".p2alignw", |p, _| p.align(true, 2)),
    (".print", |p, _| p.print()),
    (".private_extern", |p, _| p.attributes(Some(Attribute::PrivateExtern))),
    (".pseudoprobe", |p, _| p.pseudo_probe()),
    (".purgem", |p, _| p.purge_macro()),
    (".quad", |p, _| p.values(8)),
    (".reference", |p, _| p.attributes(Some(Attribute::Reference))),
    (".reloc", |p, _| p.reloc()),
    (".rep", |p, n| p.rept(n)),
    (".rept", |p, n| p.rept(n)),
    (".set", |p, _| p.set(Assignment::Set)),
    (".short", |p, _| p.values(2)),
    (".single", |p, _| p.reals(4)),
    (".skip", |p, _| p.space()),
    (".sleb128", |p, _| p.leb128(true)),
    (".space", |p, _| p.space()),
    (".stabs", |p, _| Err(p.token_error("unsupported directive '.stabs'"))),
    (".string", |p, _| p.strings(true)),
    (".symbol_resolver", |p, _| p.attributes(Some(Attribute::SymbolResolver))),
    (".uleb128", |p, _| p.leb128(false)),
    (".value", |p, _| p.values(2)),
    (".warning", |p, _| p.warning_directive()),
    (".weak_def_can_be_hidden", |p, _| p.attributes(Some(Attribute::WeakDefCanBeHidden))),
    (".weak_definition", |p, _| p.attributes(Some(Attribute::WeakDefinition))),
    (".weak_reference", |p, _| p.attributes(Some(Attribute::WeakReference))),
    (".zero", |p, _| p.space()),
];

/// ELF's directives, whose names must be in lower case.
static ELF_DIRECTIVES: &[(&str, Handler)] = &[
    (".bss", |p, _| p.section_switch(".bss", types::NOBITS, flags::ALLOC | flags::WRITE)),
    (".cg_profile", |p, _| p.cg_profile()),
    (".data", |p, _| p.section_switch(".data", types::PROGBITS, flags::ALLOC | flags::WRITE)),
    (".data.rel", |p, _| p.section_switch(".data.rel", types::PROGBITS, flags::ALLOC | flags::WRITE)),
    (".data.rel.ro", |p, _| p.section_switch(".data.rel.ro", types::PROGBITS, flags::ALLOC | flags::WRITE)),
    (".eh_frame", |p, _| p.section_switch(".eh_frame", types::PROGBITS, flags::ALLOC | flags::WRITE)),
    (".hidden", |p, _| p.elf_attributes(Attribute::Hidden)),
    (".ident", |p, _| p.ident()),
    (".internal", |p, _| p.elf_attributes(Attribute::Internal)),
    (".local", |p, _| p.elf_attributes(Attribute::Local)),
    (".popsection", |p, _| p.pop_section_directive()),
    (".previous", |p, _| p.previous_section()),
    (".protected", |p, _| p.elf_attributes(Attribute::Protected)),
    (".pushsection", |p, _| p.push_section_directive()),
    (".rodata", |p, _| p.section_switch(".rodata", types::PROGBITS, flags::ALLOC)),
    (".section", |p, _| p.section_directive(false)),
    (".size", |p, _| p.symbol_size()),
    (".subsection", |p, _| p.subsection()),
    (".symver", |p, _| p.symver()),
    (".tbss", |p, _| p.section_switch(".tbss", types::NOBITS, flags::ALLOC | flags::TLS | flags::WRITE)),
    (".tdata", |p, _| p.section_switch(".tdata", types::PROGBITS, flags::ALLOC | flags::TLS | flags::WRITE)),
    (".text", |p, _| p.section_switch(".text", types::PROGBITS, flags::ALLOC | flags::EXECINSTR)),
    (".type", |p, _| p.symbol_type()),
    (".version", |p, _| p.version()),
    (".weak", |p, _| p.elf_attributes(Attribute::Weak)),
    (".weakref", |p, _| p.weakref()),
];

/// Conditionals, for suggestions: they are handled before other directives.
static CONDITIONALS: &[&str] = &[
    ".if",
    ".ifeq",
    ".ifge",
    ".ifgt",
    ".ifle",
    ".iflt",
    ".ifne",
    ".ifb",
    ".ifnb",
    ".ifc",
    ".ifnc",
    ".ifeqs",
    ".ifnes",
    ".ifdef",
    ".ifndef",
    ".ifnotdef",
    ".elseif",
    ".else",
    ".endif",
];

/// Names that other assemblers and older code objects use; nobody misspells the ones above as these.
static AMD_NAMES: &[&str] = &[
    ".amdgcn_target",
    ".amdhsa_kernel",
    ".end_amdhsa_kernel",
    ".amdhsa_code_object_version",
    ".amdgpu_metadata",
    ".end_amdgpu_metadata",
    ".amdgpu_hsa_kernel",
    ".amdgpu_lds",
    ".amd_kernel_code_t",
    ".end_amd_kernel_code_t",
    ".amdgpu_pal_metadata",
    ".amd_amdgpu_isa",
];

/// Every directive by the name it has in lower case.
static BY_NAME: LazyLock<NameMap<&'static str, Handler>> =
    LazyLock::new(|| ELF_DIRECTIVES.iter().chain(DIRECTIVES).copied().collect());

impl Parser<'_> {
    /// A directive that is not one of AMD's.
    pub(crate) fn directive(&mut self, name: &str) -> Res {
        if let Some(handler) = BY_NAME.get(name) {
            return handler(self, name);
        }
        let lower = name.to_ascii_lowercase();
        if let Some((_, handler)) = DIRECTIVES.iter().find(|(n, _)| *n == lower) {
            return handler(self, &lower);
        }
        Err(unknown(self, name))
    }

    fn refuse(&mut self, name: &str) -> Res {
        Err(self.token_error(format!("{name} not currently supported for this target")))
    }

    fn ignore(&mut self) -> Res {
        self.lex.skip_statement();
        Ok(())
    }

    fn macros_enabled(&mut self, on: bool) -> Res {
        self.eol()?;
        self.macros.enabled = on;
        Ok(())
    }

    fn set(&mut self, how: Assignment) -> Res {
        let name = self.expect_identifier("expected identifier")?;
        self.comma()?;
        self.assignment(name, how)
    }
}

#[cold]
fn unknown(p: &Parser<'_>, name: &str) -> Diag {
    let names = DIRECTIVES.iter().chain(ELF_DIRECTIVES).map(|(n, _)| *n);
    let names = names.chain(CONDITIONALS.iter().copied()).chain(AMD_NAMES.iter().copied());
    match crate::suggest::closest(&name.to_ascii_lowercase(), names) {
        Some(near) => Diag::error(p.statement, format!("unknown directive, did you mean: {near}?")),
        None => Diag::error(p.statement, "unknown directive"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        assert_eq!(BY_NAME.len(), DIRECTIVES.len() + ELF_DIRECTIVES.len());
    }
}
