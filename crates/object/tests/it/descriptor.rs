//! Kernel descriptors against the bytes LLVM's assembler makes of the same directives.

use crate::{fixture, hex};
use wavemill_isa::target::{Target, processor};
use wavemill_object::descriptor::{self, Descriptor, Meaning};
use wavemill_object::limits::{Limits, extra_sgprs};

const CPUS: [&str; 5] = ["gfx600", "gfx700", "gfx803", "gfx900", "gfx90a"];

fn target(cpu: &str) -> Target {
    Target::new(processor(cpu).expect("a known processor"))
}

/// What an assembler makes of directives with plain numbers.
fn encode(directives: &[(String, u64)], target: &Target) -> Descriptor {
    let value = |name: &str| directives.iter().find(|d| d.0 == name).map(|d| d.1);
    let generation = target.level().generation();
    let limits = Limits::of(target.cpu);
    let mut d = Descriptor::with_defaults();
    for (directive, value) in directives {
        let field = descriptor::by_directive(directive).expect("a known directive");
        assert!(field.has.on(target.level()), "{directive}");
        match field.meaning {
            Meaning::Bits | Meaning::UserSgprs(_) | Meaning::PreloadLength | Meaning::PreloadOffset => {
                d.set(field, *value);
            }
            Meaning::NextFreeVgpr => d.set(field, u64::from(limits.vgpr_blocks(*value as u32))),
            Meaning::AccumOffset => d.set(field, value / 4 - 1),
            _ => {}
        }
    }
    let reserved = |name: &str| value(name) != Some(0);
    let extra = extra_sgprs(
        generation,
        reserved(".amdhsa_reserve_vcc"),
        generation < 7 || reserved(".amdhsa_reserve_flat_scratch"),
        target.cpu.xnack.is_some(),
    );
    let sgprs = value(".amdhsa_next_free_sgpr").expect("it is required") as u32 + extra;
    d.set(descriptor::by_directive(".amdhsa_next_free_sgpr").unwrap(), u64::from(limits.sgpr_blocks(sgprs)));
    let count = value(".amdhsa_user_sgpr_count").unwrap_or(u64::from(d.implied_user_sgprs()));
    d.set(descriptor::by_name("user_sgpr_count").unwrap(), count);
    d
}

fn kernels(source: &str) -> Vec<Vec<(String, u64)>> {
    let mut kernels = Vec::new();
    for line in source.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        match words[..] {
            [".amdhsa_kernel", _] => kernels.push(Vec::new()),
            [name, value] if name.starts_with(".amdhsa_") => {
                kernels.last_mut().unwrap().push((name.to_string(), value.parse().unwrap()));
            }
            _ => {}
        }
    }
    kernels
}

#[test]
fn directives_make_the_bytes_that_llvm_makes() {
    for cpu in CPUS {
        let bytes = hex(&format!("descriptors.{cpu}.hex"));
        let source = fixture(&format!("descriptors.{cpu}.s"));
        for (i, directives) in kernels(&source).iter().enumerate() {
            let expected = Descriptor::read(&bytes[i * descriptor::SIZE..]).unwrap();
            assert_eq!(encode(directives, &target(cpu)), expected, "{cpu} k{i}");
        }
    }
}

#[test]
fn directives_of_a_descriptor_make_it_again() {
    for cpu in CPUS {
        let bytes = hex(&format!("descriptors.{cpu}.hex"));
        for (i, chunk) in bytes.chunks(descriptor::SIZE).enumerate() {
            let d = Descriptor::read(chunk).unwrap();
            let (directives, unsaid) = d.directives(&target(cpu), 5);
            assert_eq!(unsaid, [""; 0]);
            let owned: Vec<_> = directives.iter().map(|(n, v)| (n.to_string(), *v)).collect();
            assert_eq!(encode(&owned, &target(cpu)), d, "{cpu} k{i}");
        }
    }
}

#[test]
fn what_no_directive_says_is_reported() {
    let mut d = Descriptor::with_defaults();
    d.set(descriptor::by_name("priority").unwrap(), 2);
    d.0[13] = 1;
    d.0[59] = 0x80;
    let (_, unsaid) = d.directives(&target("gfx900"), 5);
    assert_eq!(unsaid, ["priority = 2", "reserved bits 0x8000 at byte 58", "reserved byte 13 = 0x1"]);
}

#[test]
fn no_two_fields_of_a_processor_overlap() {
    for cpu in CPUS {
        let mut used = std::collections::HashMap::new();
        for f in descriptor::FIELDS.iter().filter(|f| f.has.on(target(cpu).level())) {
            let word = used.entry(f.word).or_insert(0u64);
            assert_eq!(*word & f.mask(), 0, "{} on {cpu}", f.name);
            *word |= f.mask();
            assert!(u32::from(f.shift + f.width) <= 8 * f.word.size() as u32, "{}", f.name);
        }
    }
}

#[test]
fn occupancy_follows_the_scarcest_resource() {
    use wavemill_object::limits::Limiter;
    let gfx90a = Limits::of(processor("gfx90a").unwrap());
    assert_eq!(gfx90a.occupancy(64, 32, 0, 256), (8, Limiter::WaveSlots));
    assert_eq!(gfx90a.occupancy(65, 32, 0, 256), (7, Limiter::Vgprs));
    assert_eq!(gfx90a.occupancy(512, 32, 0, 256), (1, Limiter::Vgprs));
    assert_eq!(gfx90a.occupancy(32, 32, 65536, 256), (1, Limiter::Lds));
    assert_eq!(gfx90a.occupancy(32, 112, 0, 64), (7, Limiter::Sgprs));
    let gfx600 = Limits::of(processor("gfx600").unwrap());
    assert_eq!(gfx600.occupancy(24, 48, 0, 64), (10, Limiter::WaveSlots));
    assert_eq!(gfx600.occupancy(24, 104, 0, 64), (4, Limiter::Sgprs));
}
