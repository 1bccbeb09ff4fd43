//! Code objects of version 1 as a finalizer leaves them, those in Catalyst's OpenCL binaries above all: their sections go
//! to memory each on its own, symbols are relative to sections, relocations have numbers of their own and may ask for
//! samplers.

use super::{LoadError, LoadErrorKind, broken, fail, refuse};
use crate::image::sampler::{self, SAMPLER_BYTES, Sampler};
use crate::memory::{Allocations, Region, Use};
use std::sync::Arc;
use wavemill_isa::Level;
use wavemill_object::catalyst::Width;
use wavemill_object::elf::{
    R_V1_32_HIGH, R_V1_32_LOW, R_V1_64, R_V1_INIT_IMAGE, R_V1_INIT_SAMPLER, SHF_ALLOC, SHF_EXECINSTR,
    SHT_NOBITS, STT_HSA_METADATA,
};
use wavemill_object::read::{File, Relocation};

/// `sh_flags`: data that waves only read.
const SHF_READONLY: u64 = 0x20_0000;
/// Sections may not ask for more.
const MAX_ALIGN: u64 = 1 << 24;
/// All of them together may not take more.
const MAX_BYTES: u64 = 1 << 32;

/// Bytes of a sampler's descriptor in the file.
const DESCRIPTOR_BYTES: usize = 8;

/// Where sections are in memory, by number; `None` for those that are not.
pub(super) type Homes = Vec<Option<u64>>;

/// Whether kernels have pointers of 32 bits, so that all they see must lie below 4 GiB.
pub(super) fn is_narrow(file: &File<'_>) -> bool {
    file.catalyst.as_ref().is_some_and(|c| c.width == Width::W32)
}

/// Puts the sections into memory and relocates them.
pub(super) fn load(
    memory: &Arc<Allocations>,
    file: &File<'_>,
    name: &str,
    level: Level,
) -> Result<(Region, Homes), LoadError> {
    let loaded = |flags: u64, size: u64| flags & SHF_ALLOC != 0 && size > 0;
    let mut offsets = Vec::new();
    let mut end = 0u64;
    for section in &file.sections {
        if !loaded(section.flags, section.size) {
            offsets.push(None);
            continue;
        }
        let align = section.align.max(16);
        if !align.is_power_of_two() || align > MAX_ALIGN {
            return fail(format!("section {} cannot be aligned to {}", section.name, section.align));
        }
        let start = end.next_multiple_of(align);
        offsets.push(Some(start));
        end = match start.checked_add(section.size).filter(|e| *e <= MAX_BYTES) {
            Some(end) => end,
            None => {
                return fail(format!("section {} of {:#x} bytes is too large", section.name, section.size));
            }
        };
    }
    if end == 0 {
        return fail("it has no section to load");
    }
    // Samplers come behind the sections, one for each symbol that describes one.
    let samplers = end.next_multiple_of(SAMPLER_BYTES);
    let asked = file.symbols.iter().filter(|s| s.ty == STT_HSA_METADATA).count() as u64;
    let whole = samplers + asked * SAMPLER_BYTES;
    let mapped = if is_narrow(file) { memory.map_low(whole, name) } else { memory.map(whole, name) };
    let region = mapped.or_else(|e| refuse(LoadErrorKind::Memory, e.to_string()))?;
    let start = region.start();
    for (section, offset) in file.sections.iter().zip(&offsets) {
        let Some(offset) = *offset else { continue };
        if section.ty != SHT_NOBITS {
            region.write(offset, section.data);
        }
        let (what, writable) = match section.flags {
            f if f & SHF_EXECINSTR != 0 => ("code", false),
            f if f & SHF_READONLY != 0 => ("constants", false),
            _ => ("data", true),
        };
        let label = format!("the {what} of {name}");
        region
            .announce(offset, section.size, writable, Use::Code, &label)
            .or_else(|e| refuse(LoadErrorKind::Memory, e.to_string()))?;
    }
    if asked > 0 {
        let label = format!("the samplers of {name}");
        region
            .announce(samplers, asked * SAMPLER_BYTES, false, Use::Code, &label)
            .or_else(|e| refuse(LoadErrorKind::Memory, e.to_string()))?;
    }
    let homes: Homes = offsets.iter().map(|o| o.map(|o| start + o)).collect();
    let mut made = Samplers { file, region: &region, next: samplers, made: Vec::new(), level };
    for (number, home) in homes.iter().enumerate() {
        let Some(home) = *home else { continue };
        for r in file.relocations(number as u32).map_err(broken)? {
            relocate(&mut made, &homes, home, file.sections[number].size, &r)?;
        }
    }
    Ok((region, homes))
}

/// The samplers made so far: the symbol's number and where each is.
struct Samplers<'s, 'a> {
    file: &'s File<'a>,
    region: &'s Region,
    next: u64,
    made: Vec<(u32, u64)>,
    level: Level,
}

impl Samplers<'_, '_> {
    /// The address of the sampler that a symbol describes.
    fn handle(&mut self, symbol: u32) -> Result<u64, LoadError> {
        if let Some((_, address)) = self.made.iter().find(|m| m.0 == symbol) {
            return Ok(*address);
        }
        let described = self.file.symbols.get(symbol as usize).filter(|s| s.ty == STT_HSA_METADATA);
        let bytes =
            described.and_then(|s| self.file.bytes_from(s)).and_then(|b| b.first_chunk::<DESCRIPTOR_BYTES>());
        let Some(bytes) = bytes else {
            return fail(format!("symbol {symbol} describes no sampler"));
        };
        // Size, kind, then how it reads (code object v1's sampler descriptor).
        let [8, 0, 1, 0, coordinates, filter, addressing, _] = *bytes else {
            return fail(format!("symbol {symbol} describes no sampler: its kind is {}", bytes[2]));
        };
        let Some(sampler) = Sampler::from_hsa(coordinates.into(), filter.into(), addressing.into()) else {
            return fail(format!("symbol {symbol} describes a sampler that no GPU has"));
        };
        let words = sampler::words(&sampler, self.level);
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.region.write(self.next, &bytes);
        let address = self.region.start() + self.next;
        self.next += SAMPLER_BYTES;
        self.made.push((symbol, address));
        Ok(address)
    }
}

/// Applies a relocation to the section at `home`.
fn relocate(
    samplers: &mut Samplers<'_, '_>,
    homes: &Homes,
    home: u64,
    size: u64,
    r: &Relocation,
) -> Result<(), LoadError> {
    let (value, bytes) = match r.ty {
        R_V1_INIT_SAMPLER => (samplers.handle(r.symbol)?, 8),
        R_V1_INIT_IMAGE => return fail("it asks for an image of its own, which no known compiler has made"),
        R_V1_32_LOW | R_V1_32_HIGH | R_V1_64 => {
            let symbol = samplers.file.symbols.get(r.symbol as usize);
            let base = symbol.and_then(|s| Some((*homes.get(s.section as usize)?)?.wrapping_add(s.value)));
            let Some(base) = base else {
                return fail(format!(
                    "the relocation at {:#x} means symbol {}, which is nowhere",
                    r.offset, r.symbol
                ));
            };
            let address = base.wrapping_add_signed(r.addend);
            match r.ty {
                R_V1_32_LOW => (address, 4),
                R_V1_32_HIGH => (address >> 32, 4),
                _ => (address, 8),
            }
        }
        other => {
            return fail(format!("a loader cannot apply relocation {other} of version 1 at {:#x}", r.offset));
        }
    };
    let inside = r.offset.checked_add(bytes as u64).is_some_and(|end| end <= size);
    let place = home.wrapping_add(r.offset).wrapping_sub(samplers.region.start());
    if !inside || !samplers.region.write(place, &value.to_le_bytes()[..bytes]) {
        return fail(format!("the relocation at {:#x} is outside its section", r.offset));
    }
    Ok(())
}
