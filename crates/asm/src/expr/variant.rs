//! Relocation suffixes: `symbol@rel32@lo`. LLVM's assembler reads the suffixes of every target and prints them back;
//! only the AMD ones have a relocation behind them.

/// A suffix, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Variant(u8);

/// What is read (in any case) and what is printed, sorted by the former.
static NAMES: [(&str, &str); 129] = [
    ("abs32@hi", "abs32@hi"),
    ("abs32@lo", "abs32@lo"),
    ("abs8", "ABS8"),
    ("dtpmod", "dtpmod"),
    ("dtpoff", "DTPOFF"),
    ("dtprel", "DTPREL"),
    ("dtprel@h", "dtprel@h"),
    ("dtprel@ha", "dtprel@ha"),
    ("dtprel@high", "dtprel@high"),
    ("dtprel@higha", "dtprel@higha"),
    ("dtprel@higher", "dtprel@higher"),
    ("dtprel@highera", "dtprel@highera"),
    ("dtprel@highest", "dtprel@highest"),
    ("dtprel@highesta", "dtprel@highesta"),
    ("dtprel@l", "dtprel@l"),
    ("funcindex", "FUNCINDEX"),
    ("gdgot", "GDGOT"),
    ("gdplt", "GDPLT"),
    ("got", "GOT"),
    ("got@dtprel", "got@dtprel"),
    ("got@dtprel@h", "got@dtprel@h"),
    ("got@dtprel@ha", "got@dtprel@ha"),
    ("got@dtprel@l", "got@dtprel@l"),
    ("got@h", "got@h"),
    ("got@ha", "got@ha"),
    ("got@l", "got@l"),
    ("got@pcrel", "got@pcrel"),
    ("got@tls", "GOT@TLS"),
    ("got@tlsgd", "got@tlsgd"),
    ("got@tlsgd@h", "got@tlsgd@h"),
    ("got@tlsgd@ha", "got@tlsgd@ha"),
    ("got@tlsgd@l", "got@tlsgd@l"),
    ("got@tlsgd@pcrel", "got@tlsgd@pcrel"),
    ("got@tlsld", "got@tlsld"),
    ("got@tlsld@h", "got@tlsld@h"),
    ("got@tlsld@ha", "got@tlsld@ha"),
    ("got@tlsld@l", "got@tlsld@l"),
    ("got@tlsld@pcrel", "got@tlsld@pcrel"),
    ("got@tprel", "got@tprel"),
    ("got@tprel@h", "got@tprel@h"),
    ("got@tprel@ha", "got@tprel@ha"),
    ("got@tprel@l", "got@tprel@l"),
    ("got@tprel@pcrel", "got@tprel@pcrel"),
    ("got_hi", "got_hi"),
    ("got_lo", "got_lo"),
    ("gotntpoff", "GOTNTPOFF"),
    ("gotoff", "GOTOFF"),
    ("gotoff_hi", "gotoff_hi"),
    ("gotoff_lo", "gotoff_lo"),
    ("gotpage", "GOTPAGE"),
    ("gotpageoff", "GOTPAGEOFF"),
    ("gotpcrel", "GOTPCREL"),
    ("gotpcrel32@hi", "gotpcrel32@hi"),
    ("gotpcrel32@lo", "gotpcrel32@lo"),
    ("gotpcrel_norelax", "GOTPCREL_NORELAX"),
    ("gotrel", "GOTREL"),
    ("gottpoff", "GOTTPOFF"),
    ("h", "h"),
    ("ha", "ha"),
    ("hi", "hi"),
    ("hi8", "hi8"),
    ("high", "high"),
    ("higha", "higha"),
    ("higher", "higher"),
    ("highera", "highera"),
    ("highest", "highest"),
    ("highesta", "highesta"),
    ("hlo8", "hlo8"),
    ("ie", "IE"),
    ("iegot", "IEGOT"),
    ("imgrel", "IMGREL"),
    ("indntpoff", "INDNTPOFF"),
    ("l", "l"),
    ("ldgot", "LDGOT"),
    ("ldplt", "LDPLT"),
    ("lo", "lo"),
    ("lo8", "lo8"),
    ("local", "local"),
    ("mbrel", "MBREL"),
    ("notoc", "notoc"),
    ("ntpoff", "NTPOFF"),
    ("page", "PAGE"),
    ("pageoff", "PAGEOFF"),
    ("pc_hi", "pc_hi"),
    ("pc_lo", "pc_lo"),
    ("pcrel", "PCREL"),
    ("plt", "PLT"),
    ("plt_hi", "plt_hi"),
    ("plt_lo", "plt_lo"),
    ("pltoff", "PLTOFF"),
    ("rel32@hi", "rel32@hi"),
    ("rel32@lo", "rel32@lo"),
    ("rel64", "rel64"),
    ("secrel32", "SECREL32"),
    ("size", "SIZE"),
    ("tbrel", "TBREL"),
    ("tls", "tls"),
    ("tls@pcrel", "tls@pcrel"),
    ("tls_gd_hi", "tls_gd_hi"),
    ("tls_gd_lo", "tls_gd_lo"),
    ("tlscall", "tlscall"),
    ("tlsdesc", "tlsdesc"),
    ("tlsgd", "TLSGD"),
    ("tlsld", "TLSLD"),
    ("tlsldm", "TLSLDM"),
    ("tlsrel", "TLSREL"),
    ("tlvp", "TLVP"),
    ("tlvppage", "TLVPPAGE"),
    ("tlvppageoff", "TLVPPAGEOFF"),
    ("toc", "toc"),
    ("toc@h", "toc@h"),
    ("toc@ha", "toc@ha"),
    ("toc@l", "toc@l"),
    ("tocbase", "tocbase"),
    ("tpoff", "TPOFF"),
    ("tpoff_hi", "tpoff_hi"),
    ("tpoff_lo", "tpoff_lo"),
    ("tprel", "TPREL"),
    ("tprel@h", "tprel@h"),
    ("tprel@ha", "tprel@ha"),
    ("tprel@high", "tprel@high"),
    ("tprel@higha", "tprel@higha"),
    ("tprel@higher", "tprel@higher"),
    ("tprel@highera", "tprel@highera"),
    ("tprel@highest", "tprel@highest"),
    ("tprel@highesta", "tprel@highesta"),
    ("tprel@l", "tprel@l"),
    ("typeindex", "TYPEINDEX"),
    ("u", "u"),
];

impl Variant {
    /// No suffix.
    pub const NONE: Variant = Variant(0);
    /// `@abs32@hi`
    pub const ABS32_HI: Variant = Variant(1);
    /// `@abs32@lo`
    pub const ABS32_LO: Variant = Variant(2);
    /// `@got`
    pub const GOT: Variant = Variant(19);
    /// `@gotpcrel`
    pub const GOTPCREL: Variant = Variant(52);
    /// `@gotpcrel32@hi`
    pub const GOTPCREL32_HI: Variant = Variant(53);
    /// `@gotpcrel32@lo`
    pub const GOTPCREL32_LO: Variant = Variant(54);
    /// `@plt`
    pub const PLT: Variant = Variant(87);
    /// `@rel32@hi`
    pub const REL32_HI: Variant = Variant(91);
    /// `@rel32@lo`
    pub const REL32_LO: Variant = Variant(92);
    /// `@rel64`
    pub const REL64: Variant = Variant(93);

    /// The suffix spelled so, in any case.
    pub fn from_name(name: &str) -> Option<Variant> {
        let name = name.to_ascii_lowercase();
        NAMES.binary_search_by(|(n, _)| (*n).cmp(name.as_str())).ok().map(|i| Variant(i as u8 + 1))
    }

    /// How it is printed, without the first `@`.
    pub fn name(self) -> &'static str {
        match self.0 {
            0 => "",
            i => NAMES[i as usize - 1].1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_constants_match() {
        assert!(NAMES.is_sorted());
        for (constant, name) in [
            (Variant::GOTPCREL, "gotpcrel"),
            (Variant::GOTPCREL32_LO, "gotpcrel32@lo"),
            (Variant::GOTPCREL32_HI, "gotpcrel32@hi"),
            (Variant::REL32_LO, "rel32@lo"),
            (Variant::REL32_HI, "rel32@hi"),
            (Variant::REL64, "rel64"),
            (Variant::ABS32_LO, "abs32@lo"),
            (Variant::ABS32_HI, "abs32@hi"),
        ] {
            assert_eq!(Variant::from_name(name), Some(constant));
        }
    }
}
