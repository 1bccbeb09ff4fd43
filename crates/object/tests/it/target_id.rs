//! Target ids as strings and as ELF flags.

use wavemill_isa::target::{Target, processor};
use wavemill_object::target_id::{Setting, TargetId};

fn id(cpu: &str, xnack: Option<bool>, sramecc: Option<bool>) -> TargetId {
    let target = Target { xnack, sramecc, ..Target::new(processor(cpu).unwrap()) };
    TargetId::new("amdgcn-amd-amdhsa", &target)
}

#[test]
fn every_version_has_its_spelling() {
    let any = id("gfx90a", None, None);
    assert_eq!(any.spelling(4), "amdgcn-amd-amdhsa--gfx90a");
    assert_eq!(any.spelling(3), "amdgcn-amd-amdhsa--gfx90a+xnack+sram-ecc");
    let set = id("gfx90a", Some(false), Some(true));
    assert_eq!(set.spelling(5), "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
    assert_eq!(set.spelling(3), "amdgcn-amd-amdhsa--gfx90a+sram-ecc");
    assert_eq!(id("gfx900", None, None).spelling(2), "amdgcn-amd-amdhsa--gfx901");
    assert_eq!(id("gfx900", None, None).v2_isa_version(), Some((9, 0, 1)));
    assert_eq!(id("fiji", None, None).spelling(2), "amdgcn-amd-amdhsa--gfx803");
}

/// The flags are those of code objects that clang 15 and 19 made, and llvm-mc-19 and 22 for the generic processor.
#[test]
fn e_flags_are_those_of_compiled_code() {
    for (cpu, xnack, sramecc, version, flags) in [
        ("gfx600", None, None, 4, 0x20),
        ("gfx803", None, None, 3, 0x2a),
        ("gfx900", None, None, 4, 0x12c),
        ("gfx906", None, None, 2, 0x32f),
        ("gfx906", None, None, 3, 0x32f),
        ("gfx906", None, None, 4, 0x52f),
        ("gfx908", None, None, 5, 0x530),
        ("gfx90a", None, None, 5, 0x53f),
        ("gfx90a", None, None, 3, 0x33f),
        ("gfx90a", Some(false), None, 4, 0x63f),
        ("gfx90a", Some(true), None, 4, 0x73f),
        ("gfx90a", Some(false), Some(true), 4, 0xe3f),
        ("gfx9-generic", Some(false), None, 5, 0x251),
        ("gfx9-generic", Some(false), None, 6, 0x100_0251),
        ("gfx9-generic", None, None, 6, 0x100_0151),
    ] {
        let made = id(cpu, xnack, sramecc);
        assert_eq!(made.e_flags(version), flags, "{made} v{version}");
        let read = TargetId::from_e_flags(64, version - 2, flags).unwrap();
        assert_eq!(read.processor, cpu);
        if version >= 4 {
            assert_eq!(read, made);
        }
    }
}

#[test]
fn strings_of_every_version_are_read() {
    for made in [id("gfx90a", None, None), id("gfx90a", Some(false), Some(true)), id("gfx803", None, None)] {
        let (read, _) = TargetId::parse(&made.spelling(4)).unwrap();
        assert_eq!(read, made);
    }
    let (v3, style) = TargetId::parse("amdgcn-amd-amdhsa--gfx90a+xnack+sram-ecc").unwrap();
    assert_eq!((v3.xnack, v3.sramecc, style), (Setting::On, Setting::On, Some(3)));
    let (v3, style) = TargetId::parse("amdgcn-amd-amdhsa--gfx90a+sram-ecc").unwrap();
    assert_eq!((v3.xnack, v3.sramecc, style), (Setting::Off, Setting::On, Some(3)));
    let (v2, _) = TargetId::parse("amdgcn-amd-amdhsa--gfx901").unwrap();
    assert_eq!((v2.processor.as_str(), v2.xnack), ("gfx900", Setting::On));
}

#[test]
fn bad_strings_are_explained() {
    for (text, message) in [
        ("", "target id '' has no vendor"),
        ("amdgcn-amd", "target id 'amdgcn-amd' has no system"),
        ("a-b-c-d-", "target id 'a-b-c-d-' has no processor"),
        (
            "a-b-c--gfx90a:xnack",
            "feature 'xnack' in target id 'a-b-c--gfx90a:xnack' ends in neither '+' nor '-'",
        ),
        ("a-b-c--gfx90a:wave+", "unknown feature 'wave' in target id 'a-b-c--gfx90a:wave+'"),
    ] {
        assert_eq!(TargetId::parse(text), Err(message.to_string()));
    }
}

/// Version 2 notes: GFX9 is without XNACK in even steppings, with it in odd ones; 8:0:1 has it (ROCm code object format,
/// "Instruction Set Architecture").
#[test]
fn isa_versions_say_whether_there_is_xnack() {
    for (version, processor, xnack) in [
        ((9, 0, 0), "gfx900", Setting::Off),
        ((9, 0, 1), "gfx900", Setting::On),
        ((9, 0, 2), "gfx902", Setting::Off),
        ((9, 0, 3), "gfx902", Setting::On),
        ((8, 0, 1), "gfx801", Setting::On),
        ((8, 0, 3), "gfx803", Setting::Unsupported),
        ((7, 0, 1), "gfx701", Setting::Unsupported),
    ] {
        let (major, minor, stepping) = version;
        let id = TargetId::from_isa_version(major, minor, stepping).unwrap();
        assert_eq!((id.processor.as_str(), id.xnack), (processor, xnack), "{version:?}");
    }
}
