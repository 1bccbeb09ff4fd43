//! GPUs by name: the one place where every command looks a processor or a product up, and what it says if there is none.

use wavemill_asm::suggest::closest;
use wavemill_device::Profile;
use wavemill_device::profile::PROFILES;
use wavemill_isa::target::{self, Processor, Target};
use wavemill_runtime::system::MOST_GPUS;

/// The processor of a name: its own (gfx90a), another one of LLVM's (fiji), or that of a product (MI210).
pub fn processor(name: &str) -> Result<&'static Processor, String> {
    let lower = name.trim().to_ascii_lowercase();
    let product = || product(&lower).and_then(|p| target::processor(p.processor));
    target::processor(&lower).or_else(product).ok_or_else(|| unknown(name))
}

/// The same, with XNACK on where the name says so (gfx901).
pub fn target(name: &str) -> Result<Target, String> {
    let cpu = processor(name)?;
    Ok(Target::named(&name.trim().to_ascii_lowercase()).unwrap_or(Target::new(cpu)))
}

/// The product of a name, or the usual one with a processor of that name.
pub fn profile(name: &str) -> Result<Profile, String> {
    let lower = name.trim().to_ascii_lowercase();
    Profile::named(&lower).or_else(|| product(&lower)).ok_or_else(|| unknown(name))
}

/// How many GPUs there are to be.
pub fn count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|n| (1..=MOST_GPUS).contains(n));
    count.ok_or_else(|| format!("there can be 1 to {MOST_GPUS}"))
}

/// A product by its short name or by what its box says (Radeon R9 290X), in small letters.
fn product(name: &str) -> Option<Profile> {
    let wanted = plain(name);
    let sold = || PROFILES.iter().find(|p| plain(&p.product.to_ascii_lowercase()) == wanted).copied();
    Profile::named(&wanted).or_else(sold)
}

/// A product's name without what its maker puts in front of it, and without blanks.
fn plain(name: &str) -> String {
    let words = name
        .split([' ', '_', '-'])
        .filter(|w| !matches!(*w, "amd" | "radeon" | "instinct" | "rx" | "r9" | "r7"));
    words.collect()
}

/// The processors before GCN (the AMDGPU guide's architecture r600), whose instructions are of another kind.
const R600: [&str; 16] = [
    "r600", "r630", "rs880", "rv670", "rv710", "rv730", "rv770", "cedar", "redwood", "sumo", "juniper",
    "cypress", "barts", "turks", "caicos", "cayman",
];

/// What is said of an architecture or triple that is not amdgcn.
pub fn other_architecture(arch: &str) -> String {
    match arch {
        "r600" => {
            "r600 is the architecture of Radeon HD 2000 to 6000, before GCN: Wavemill knows amdgcn, GFX6 to gfx90a".into()
        }
        _ => format!("no architecture `{arch}`: Wavemill knows amdgcn"),
    }
}

/// Why there is no such GPU here.
fn unknown(name: &str) -> String {
    let lower = plain(&name.trim().to_ascii_lowercase());
    let ours = "`wavemill isa processors` lists processors, `wavemill info --gpu all` products";
    if later(&lower) {
        return format!("`{name}` is not one of GFX6 to gfx90a, which Wavemill emulates; {ours}");
    }
    if R600.contains(&lower.as_str()) {
        return format!(
            "`{name}` is a GPU before GCN (architecture r600); Wavemill emulates GFX6 to gfx90a; {ours}"
        );
    }
    let digits = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    if ["sm", "compute"].iter().any(|p| lower.strip_prefix(p).is_some_and(digits)) {
        return format!("`{name}` is a GPU of NVIDIA's; Wavemill emulates AMD's, GFX6 to gfx90a; {ours}");
    }
    match closest(&lower, Profile::names()) {
        Some(near) => format!("no GPU `{name}`; did you mean {near}?"),
        None => format!("no GPU `{name}`; {ours}"),
    }
}

/// Whether a name is that of a GPU that came after gfx90a: gfx940 up, RDNA, MI300 up.
fn later(name: &str) -> bool {
    if let Some(number) = name.strip_prefix("gfx") {
        let number = number.split(':').next().unwrap_or("").trim_end_matches("-generic").replace('-', "");
        // Major version, one digit of minor version, one of stepping.
        let major = number.get(..number.len().saturating_sub(2)).and_then(|m| m.parse::<u32>().ok());
        return major.is_some_and(|m| m > 9) || number.starts_with("94") || number.starts_with("95");
    }
    let model = |prefix: &str| {
        name.strip_prefix(prefix).map(|n| n.trim_end_matches(|c: char| c.is_ascii_alphabetic()))
    };
    let number = model("mi").and_then(|n| n.parse::<u32>().ok());
    number.is_some_and(|n| n >= 300) || name.starts_with("navi") || name.starts_with("rdna")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_any_spelling() {
        for name in ["mi210", "MI210", "Instinct MI210", "AMD Instinct MI250X", "gfx90a", "GFX90A"] {
            assert_eq!(processor(name).map(|p| p.name), Ok("gfx90a"), "{name}");
        }
        assert_eq!(processor("Vega64").map(|p| p.name), Ok("gfx900"));
        for (name, cpu) in
            [("Radeon VII", "gfx906"), ("R9 290X", "gfx701"), ("AMD Radeon R9 Fury X", "gfx803")]
        {
            assert_eq!(processor(name).map(|p| p.name), Ok(cpu), "{name}");
        }
        assert_eq!(profile("MI250X").map(|p| p.product), Ok("AMD Instinct MI250X"));
        assert_eq!(target("gfx901").map(|t| (t.cpu.name, t.xnack)), Ok(("gfx900", Some(true))));
        assert_eq!(profile("gfx901").unwrap().target().unwrap().xnack, Some(true));
        assert_eq!(profile("gfx900").unwrap().target().unwrap().xnack, Some(false));
        assert_eq!(processor("tahiti").map(|p| p.name), Ok("gfx600"));
    }

    #[test]
    fn what_is_not_there_is_explained() {
        for name in [
            "gfx942",
            "gfx950",
            "gfx1030",
            "gfx1100",
            "gfx9-4-generic",
            "MI300X",
            "Instinct MI325X",
            "navi31",
        ] {
            let said = processor(name).unwrap_err();
            assert!(said.starts_with(&format!("`{name}` is not one of GFX6 to gfx90a")), "{said}");
        }
        for name in ["rv770", "Cypress", "cayman"] {
            let said = processor(name).unwrap_err();
            assert!(said.starts_with(&format!("`{name}` is a GPU before GCN (architecture r600)")), "{said}");
        }
        assert!(processor("sm_80").unwrap_err().contains("NVIDIA"));
        assert_eq!(processor("gfx9oa").unwrap_err(), "no GPU `gfx9oa`; did you mean gfx90a?");
        assert!(profile("what").unwrap_err().contains("info --gpu all"));
    }
}
