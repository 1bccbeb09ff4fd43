//! The GPUs that Catalyst made OpenCL 2.0 binaries for: its names for them, the numbers in `e_flags`, which changed from
//! driver to driver, and the processors they are.

use crate::target_id::{Setting, TargetId};

/// Drivers whose numbers for devices differ: the first version of each column of [`Device::codes`], as
/// 100 times the major and once the minor number.
pub const DRIVERS: [u32; 11] =
    [0, 191_205, 200_406, 203_603, 223_600, 226_400, 234_800, 244_200, 248_200, 252_700, 258_000];

/// The first driver that puts an ELF file with the code into the container.
pub const FIRST_INNER: u32 = 191_205;
/// The first driver whose kernel metadata has hints, and whose inner symbol table begins with the null symbol.
pub const FIRST_HINTS: u32 = 200_406;
/// The first driver that names the generation in kernel metadata; earlier ones say `generic`.
pub const FIRST_NAMED: u32 = 223_600;

/// A GPU as Catalyst knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Catalyst's name.
    pub name: &'static str,
    /// The processor.
    pub processor: &'static str,
    /// Whether it is the processor with XNACK, which has a name of its own here.
    pub xnack: bool,
    /// Major, minor and stepping of the ISA note. The steppings are Catalyst's own.
    pub isa: [u32; 3],
    /// `e_flags` for each column of [`DRIVERS`], 0 where the driver does not know the device.
    pub codes: [u8; 11],
}

const fn device(name: &'static str, processor: &'static str, isa: [u32; 3], codes: [u8; 11]) -> Device {
    Device { name, processor, xnack: false, isa, codes }
}

const fn with_xnack(device: Device) -> Device {
    Device { xnack: true, ..device }
}

/// All of them. Dummy, which shares its numbers with Stoney, comes after it.
#[rustfmt::skip]
pub const DEVICES: [Device; 23] = [
    device("Spectre", "gfx700", [7, 0, 0], [1; 11]),
    device("Spooky", "gfx700", [7, 0, 0], [2; 11]),
    device("Kalindi", "gfx703", [7, 0, 0], [3; 11]),
    device("Mullins", "gfx703", [7, 0, 0], [4; 11]),
    device("Bonaire", "gfx704", [7, 0, 0], [6; 11]),
    device("Hawaii", "gfx701", [7, 0, 1], [7; 11]),
    device("Iceland", "gfx802", [8, 0, 0], [8; 11]),
    device("Tonga", "gfx802", [8, 0, 0], [9; 11]),
    device("Carrizo", "gfx801", [8, 0, 1], [15, 16, 15, 13, 12, 13, 14, 12, 12, 12, 12]),
    device("Fiji", "gfx803", [8, 0, 4], [16, 17, 16, 14, 13, 14, 15, 13, 13, 13, 13]),
    device("Stoney", "gfx810", [8, 1, 0], [0, 0, 17, 15, 14, 15, 16, 14, 14, 14, 14]),
    device("Dummy", "gfx801", [8, 0, 1], [0, 15, 17, 15, 14, 15, 16, 14, 14, 14, 14]),
    device("Baffin", "gfx803", [8, 0, 4], [0, 0, 13, 16, 15, 16, 17, 15, 16, 16, 16]),
    device("Ellesmere", "gfx803", [8, 0, 4], [0, 0, 12, 17, 16, 17, 18, 16, 18, 18, 18]),
    device("GFX804", "gfx803", [8, 0, 4], [0, 0, 0, 0, 18, 18, 19, 18, 20, 21, 21]),
    device("GFX900", "gfx900", [9, 0, 0], [0, 0, 0, 0, 17, 19, 20, 17, 19, 20, 20]),
    with_xnack(device("GFX901", "gfx900", [9, 0, 1], [0, 0, 0, 0, 0, 20, 21, 19, 21, 23, 23])),
    device("GFX902", "gfx902", [9, 0, 2], [0, 0, 0, 0, 0, 0, 0, 0, 0, 24, 24]),
    with_xnack(device("GFX903", "gfx902", [9, 0, 3], [0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 25])),
    device("GFX904", "gfx904", [9, 0, 4], [0, 0, 0, 0, 0, 0, 0, 0, 0, 26, 26]),
    with_xnack(device("GFX905", "gfx904", [9, 0, 5], [0, 0, 0, 0, 0, 0, 0, 0, 0, 27, 27])),
    device("GFX906", "gfx906", [9, 0, 6], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 28]),
    with_xnack(device("GFX907", "gfx906", [9, 0, 7], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 29])),
];

/// Other names of devices, in lower case: marketing names of later years, LLVM's processors, code names.
const ALIASES: [(&str, &str); 22] = [
    ("topaz", "Iceland"),
    ("goose", "Baffin"),
    ("horse", "Ellesmere"),
    ("polaris10", "Ellesmere"),
    ("polaris20", "Ellesmere"),
    ("polaris11", "Baffin"),
    ("polaris21", "Baffin"),
    ("polaris12", "GFX804"),
    ("polaris22", "GFX804"),
    ("vega10", "GFX900"),
    ("vega11", "GFX902"),
    ("raven", "GFX903"),
    ("vega12", "GFX904"),
    ("vega20", "GFX906"),
    ("gfx700", "Spectre"),
    ("gfx701", "Hawaii"),
    ("gfx703", "Kalindi"),
    ("gfx704", "Bonaire"),
    ("gfx801", "Carrizo"),
    ("gfx802", "Tonga"),
    ("gfx803", "Fiji"),
    ("gfx810", "Stoney"),
];

/// The column of [`Device::codes`] for a driver.
fn column(driver: u32) -> usize {
    DRIVERS.partition_point(|first| *first <= driver).saturating_sub(1)
}

impl Device {
    /// The device of a name, in any case.
    pub fn named(name: &str) -> Option<&'static Device> {
        let lower = name.to_ascii_lowercase();
        let name = ALIASES.iter().find(|a| a.0 == lower).map_or(lower.as_str(), |a| a.1);
        DEVICES.iter().find(|d| d.name.eq_ignore_ascii_case(name))
    }

    /// Every name there is.
    pub fn names() -> impl Iterator<Item = &'static str> {
        DEVICES.iter().map(|d| d.name).chain(ALIASES.iter().map(|a| a.0))
    }

    /// `e_flags` of a driver's binaries for it; `None` when the driver does not know it.
    pub fn code(&self, driver: u32) -> Option<u32> {
        Some(self.codes[column(driver)].into()).filter(|c| *c != 0)
    }

    /// The first driver that knows it.
    pub fn first_driver(&self) -> u32 {
        let first = self.codes.iter().position(|c| *c != 0);
        first.map_or(0, |column| DRIVERS[column])
    }

    /// The stepping of the ISA note under a driver: Fiji was another one at first.
    pub fn isa(&self, driver: u32) -> [u32; 3] {
        match self.name {
            "Fiji" if driver < FIRST_HINTS => [8, 0, 1],
            _ => self.isa,
        }
    }

    /// The processor as other code objects call it.
    pub fn target_id(&self) -> TargetId {
        let mut id = TargetId::hsa(self.processor);
        if self.xnack {
            id.xnack = Setting::On;
        }
        id
    }
}

/// The device of a number under a driver.
pub fn by_code(code: u32, driver: u32) -> Option<&'static Device> {
    DEVICES.iter().find(|d| d.code(driver) == Some(code))
}

/// The device that compiler options name (`-D__Ellesmere__=1`).
pub fn by_options(options: &str) -> Option<&'static Device> {
    let names =
        options.split("-D__").skip(1).filter_map(|rest| rest.split_once("__=1")).map(|(name, _)| name);
    let mut devices = names.filter_map(Device::named);
    devices.next()
}

/// The device of an ISA note. Only Kabini's neighbours share theirs; of these, `code` tells which.
pub fn by_isa(isa: [u32; 3], code: u32, driver: u32) -> Option<&'static Device> {
    let mut same = DEVICES.iter().filter(|d| d.isa(driver) == isa);
    let exact = same.clone().find(|d| d.code(driver) == Some(code));
    exact.or_else(|| same.next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_depend_on_the_driver() {
        let name = |code, driver| by_code(code, driver).map(|d| d.name);
        assert_eq!(name(7, 180_005), Some("Hawaii"));
        assert_eq!(name(16, 180_005), Some("Fiji"));
        assert_eq!(name(16, 191_205), Some("Carrizo"));
        assert_eq!(name(17, 200_406), Some("Stoney"));
        assert_eq!(name(18, 258_000), Some("Ellesmere"));
        assert_eq!(name(17, 244_200), Some("GFX900"));
        assert_eq!(name(29, 252_700), None);
        assert_eq!(name(29, 999_999), Some("GFX907"));
    }

    #[test]
    fn devices_have_many_names() {
        let cpu = |name| Device::named(name).map(|d| d.target_id().to_string());
        assert_eq!(cpu("TOPAZ").as_deref(), Some("amdgcn-amd-amdhsa--gfx802"));
        assert_eq!(cpu("Polaris22").as_deref(), Some("amdgcn-amd-amdhsa--gfx803"));
        assert_eq!(cpu("gfx901").as_deref(), Some("amdgcn-amd-amdhsa--gfx900:xnack+"));
        assert_eq!(cpu("CapeVerde"), None, "GFX6 had no OpenCL 2.0");
        assert!(Device::names().all(|n| Device::named(n).is_some()));
        let options = "-fno-bin-llvmir -D__Ellesmere__=1 -D__gfx803__=1";
        assert_eq!(by_options(options).map(|d| d.name), Some("Ellesmere"));
    }
}
