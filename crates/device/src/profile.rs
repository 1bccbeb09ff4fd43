//! How large a GPU is: products by name, and what programs are told about them.

use wavemill_isa::target::{Processor, processor};
use wavemill_isa::{Level, Target};

/// A product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Names that select it, the usual one first.
    pub names: &'static [&'static str],
    /// Product name.
    pub product: &'static str,
    /// Processor, as [`processor`] knows it.
    pub processor: &'static str,
    /// Compute units.
    pub compute_units: u32,
    /// Highest engine clock in MHz.
    pub clock: u32,
    /// Memory in MiB.
    pub memory: u64,
    /// Highest memory clock in MHz.
    pub memory_clock: u32,
    /// Memory bus in bits.
    pub memory_width: u32,
    /// Second-level cache in KiB.
    pub l2: u32,
    /// Shader engines.
    pub shader_engines: u32,
    /// PCI device number.
    pub chip_id: u32,
    /// XNACK, where the name that selected it says so (gfx901).
    pub xnack: Option<bool>,
}

macro_rules! profiles {
    ($($names:expr, $product:literal, $cpu:literal, $cus:literal, $clock:literal, $memory:literal, $mclk:literal,
       $width:literal, $l2:literal, $se:literal, $chip:literal;)*) => {
        &[$(Profile {
            names: &$names, product: $product, processor: $cpu, compute_units: $cus, clock: $clock,
            memory: $memory << 10, memory_clock: $mclk, memory_width: $width, l2: $l2, shader_engines: $se,
            chip_id: $chip, xnack: None,
        }),*]
    };
}

/// Every product, the usual one with a processor first. Columns: names, product, processor, compute units, clock, GiB
/// of memory, its clock, bits of its bus, KiB of L2, shader engines, PCI device.
#[rustfmt::skip]
pub static PROFILES: &[Profile] = profiles![
    ["mi210"],            "AMD Instinct MI210",       "gfx90a", 104, 1700, 64, 1600, 4096, 8192, 8, 0x740f;
    ["mi250x"],           "AMD Instinct MI250X",      "gfx90a", 110, 1700, 64, 1600, 4096, 8192, 8, 0x7408;
    ["mi250"],            "AMD Instinct MI250",       "gfx90a", 104, 1700, 64, 1600, 4096, 8192, 8, 0x740c;
    ["mi100", "arcturus"], "AMD Instinct MI100",      "gfx908", 120, 1502, 32, 1200, 4096, 8192, 8, 0x738c;
    ["mi50"],             "AMD Radeon Instinct MI50", "gfx906",  60, 1725, 16, 1000, 4096, 4096, 4, 0x66a1;
    ["mi60", "vega20"],   "AMD Radeon Instinct MI60", "gfx906",  64, 1800, 32, 1000, 4096, 4096, 4, 0x66a0;
    ["vii"],              "AMD Radeon VII",           "gfx906",  60, 1800, 16, 1000, 4096, 4096, 4, 0x66af;
    ["mi25"],             "AMD Radeon Instinct MI25", "gfx900",  64, 1500, 16,  945, 2048, 4096, 4, 0x6860;
    ["vega10", "vega64"], "AMD Radeon RX Vega 64",    "gfx900",  64, 1630,  8,  945, 2048, 4096, 4, 0x687f;
    ["fiji"],             "AMD Radeon R9 Fury X",     "gfx803",  64, 1050,  4,  500, 4096, 2048, 4, 0x7300;
    ["polaris10"],        "AMD Radeon RX 480",        "gfx803",  36, 1266,  8, 2000,  256, 2048, 4, 0x67df;
    ["polaris11"],        "AMD Radeon RX 460",        "gfx803",  14, 1200,  4, 1750,  128, 1024, 2, 0x67ef;
    ["tonga"],            "AMD Radeon R9 285",        "gfx802",  28,  918,  2, 1375,  256,  512, 4, 0x6939;
    ["hawaii"],           "AMD Radeon R9 290X",       "gfx701",  44, 1000,  4, 1250,  512, 1024, 4, 0x67b0;
    ["bonaire"],          "AMD Radeon R7 260X",       "gfx704",  14, 1100,  2, 1625,  128,  256, 2, 0x6658;
    ["tahiti"],           "AMD Radeon HD 7970",       "gfx600",  32,  925,  3, 1375,  384,  768, 2, 0x6798;
    ["pitcairn"],         "AMD Radeon HD 7870",       "gfx601",  20, 1000,  2, 1200,  256,  512, 2, 0x6818;
];

impl Profile {
    /// The usual product with a processor, or with the first one that a generic processor covers.
    pub fn of(cpu: &'static Processor) -> Profile {
        let cpu = cpu.concrete();
        let listed = PROFILES.iter().find(|p| p.processor == cpu.name);
        listed.copied().unwrap_or(Profile {
            names: &[],
            product: "AMD Radeon",
            processor: cpu.name,
            compute_units: 8,
            clock: 1000,
            memory: 2 << 10,
            memory_clock: 1000,
            memory_width: 128,
            l2: 512,
            shader_engines: 1,
            chip_id: 0,
            xnack: None,
        })
    }

    /// The product of a name: its own, or that of a processor, which gives the usual product.
    pub fn named(name: &str) -> Option<Profile> {
        let listed = PROFILES.iter().find(|p| p.names.contains(&name)).copied();
        listed.or_else(|| Target::named(name).map(|t| Profile { xnack: t.xnack, ..Profile::of(t.cpu) }))
    }

    /// Every name that [`Profile::named`] knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let products = PROFILES.iter().flat_map(|p| p.names.iter().copied());
        products.chain(wavemill_isa::target::processor_names())
    }

    /// The processor, with its features as such a product has them: ECC where there is some, XNACK where it is not a
    /// choice.
    pub fn target(&self) -> Option<Target> {
        let cpu = processor(self.processor)?;
        let mut target = Target::new(cpu);
        target.xnack = self.xnack.or(cpu.xnack);
        target.sramecc = cpu.sramecc.then_some(true);
        Some(target)
    }

    /// Shader engines, and compute units of each.
    pub fn units(&self) -> (u32, u32) {
        (self.shader_engines, self.compute_units.div_ceil(self.shader_engines.max(1)))
    }

    /// First-level data cache of a compute unit in KiB.
    pub fn l1(&self) -> u32 {
        16
    }

    /// Bytes of a line of the second-level cache.
    pub fn cache_line(&self) -> u32 {
        match processor(self.processor).map(|p| p.level) {
            Some(Level::Gfx90a) => 128,
            _ => 64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_product_has_a_processor_and_one_name_each() {
        let mut names: Vec<&str> = Vec::new();
        for p in PROFILES {
            assert!(p.target().is_some(), "{}", p.product);
            names.extend(p.names);
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(Profile::named("gfx90a").map(|p| p.product), Some("AMD Instinct MI210"));
        assert!(Profile::names().all(|n| Profile::named(n).is_some()));
        assert!(Profile::named("mi300").is_none());
    }
}
