//! Linked files against those that ld.lld makes of the same objects.

use crate::objects::load;
use wavemill_object::link::{Input, Options, Strip, link};
use wavemill_object::read::{File, Kind};
use wavemill_testing::Random;

fn inputs<'a>(names: &[&str], data: &'a [Vec<u8>]) -> Vec<Input<'a>> {
    names.iter().zip(data).map(|(name, data)| Input { name: name.to_string(), data }).collect()
}

fn link_all(names: &[&str], allow_undefined: bool) -> Result<Vec<u8>, String> {
    let data: Vec<Vec<u8>> = names.iter().map(|n| load(n)).collect();
    let joined = |e: Vec<wavemill_object::link::Error>| e.iter().map(|e| format!("{e}\n")).collect();
    link(&inputs(names, &data), &Options { allow_undefined, ..Options::default() }).map_err(joined)
}

/// Everything that a loader or a debugger sees must be the same; the producer's name may differ.
fn compare(ours: &[u8], theirs: &[u8]) {
    let (ours, theirs) = (File::parse(ours).unwrap(), File::parse(theirs).unwrap());
    assert_eq!((ours.kind, ours.os_abi, ours.abi_version), (Kind::Shared, theirs.os_abi, theirs.abi_version));
    assert_eq!(ours.flags, theirs.flags);
    let names = |f: &File<'_>| f.sections.iter().map(|s| s.name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs));
    for (a, b) in ours.sections.iter().zip(&theirs.sections) {
        assert_eq!((a.ty, a.flags, a.align, a.entsize), (b.ty, b.flags, b.align, b.entsize), "{}", a.name);
        assert_eq!((a.address, a.link, a.info), (b.address, b.link, b.info), "{}", a.name);
        if a.name != ".comment" {
            assert_eq!(a.size, b.size, "{}", a.name);
            assert_eq!(a.data, b.data, "{}", a.name);
        }
        if a.flags & 2 != 0 {
            assert_eq!(a.offset, b.offset, "{}", a.name);
        }
    }
    assert_eq!(ours.symbols, theirs.symbols);
    assert_eq!(ours.dynamic_relocations(), theirs.dynamic_relocations());
    let segment = |s: &wavemill_object::read::Segment<'_>| {
        (s.ty, s.flags, s.offset, s.address, s.memory_size, s.align, s.data.len())
    };
    let segments = |f: &File<'_>| f.segments.iter().map(segment).collect::<Vec<_>>();
    assert_eq!(segments(&ours), segments(&theirs));
}

#[test]
fn a_compiled_object_links_as_lld_links_it() {
    compare(&link_all(&["v5-gfx90a.o"], false).unwrap(), &load("v5-gfx90a.so"));
}

#[test]
fn two_objects_link_as_lld_links_them() {
    let ours = link_all(&["link-a.o", "link-b.o"], true).unwrap();
    compare(&ours, &load("link.so"));
    let file = File::parse(&ours).unwrap();
    let kernels = file.kernels().unwrap();
    assert_eq!(kernels[0].entry, kernels[0].code.map(|c| c.value));
}

/// Equal strings and constants are kept once, in lld's order, and so are functions of groups; debugging information
/// about what is dropped gets lld's tombstones.
#[test]
fn mergeable_sections_are_merged_as_lld_merges_them() {
    compare(&link_all(&["merge-a.o", "merge-b.o"], false).unwrap(), &load("merge.so"));
}

#[test]
fn stripped_files_are_stripped_as_lld_strips_them() {
    let names = ["merge-a.o", "merge-b.o"];
    let data: Vec<Vec<u8>> = names.iter().map(|n| load(n)).collect();
    for (strip, expected) in [(Strip::Debug, "merge.debug-stripped.so"), (Strip::All, "merge.stripped.so")] {
        let ours = link(&inputs(&names, &data), &Options { strip, ..Options::default() }).unwrap();
        compare(&ours, &load(expected));
    }
}

#[test]
fn an_archive_gives_what_is_asked_for() {
    let (a, b) = (load("link-a.o"), load("link-b.o"));
    let mut archive = b"!<arch>\n".to_vec();
    for (name, data) in [("b.o/", &b), ("unused.o/", &load("v4-gfx908.o"))] {
        archive.extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, data.len()).bytes());
        archive.extend(data.iter());
        if data.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    let inputs = [Input { name: "a.o".into(), data: &a }, Input { name: "lib.a".into(), data: &archive }];
    let linked = link(&inputs, &Options { allow_undefined: true, ..Options::default() }).unwrap();
    compare(&linked, &load("link.so"));
}

#[test]
fn what_cannot_be_linked_is_explained() {
    let missing = link_all(&["link-a.o"], true).unwrap_err();
    let why = "R_AMDGPU_REL32_LO against helper, which is not defined; helper@gotpcrel32 may be elsewhere";
    assert_eq!(missing.lines().next(), Some(format!("link-a.o: .text+0x8: {why}").as_str()));
}

#[test]
fn wrong_links_are_refused() {
    let undefined = link_all(&["link-a.o", "link-b.o"], false).unwrap_err();
    assert_eq!(undefined, "link-a.o: undefined symbol: external\n");
    let twice = link_all(&["v5-gfx90a.o", "v5-gfx90a.o"], false).unwrap_err();
    assert!(
        twice.starts_with("v5-gfx90a.o: duplicate symbol: helper is defined in v5-gfx90a.o too\n"),
        "{twice}"
    );
    let mixed = link_all(&["v5-gfx90a.o", "v4-gfx908.o"], false).unwrap_err();
    assert_eq!(mixed, "v4-gfx908.o: it is of code object version 4, the first object of version 5\n");
    let (first, mut other) = (load("link-a.o"), load("link-b.o"));
    // e_flags: gfx908 instead of gfx90a.
    other[48] = 0x30;
    let both = [Input { name: "a.o".into(), data: &first }, Input { name: "b.o".into(), data: &other }];
    let errors = link(&both, &Options { allow_undefined: true, ..Options::default() }).unwrap_err();
    let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(messages, ["b.o: it is for gfx908, the first object for gfx90a"]);
    let bitcode = [Input { name: "k.bc".into(), data: b"BC\xc0\xde5\x14" }];
    let errors = link(&bitcode, &Options::default()).unwrap_err();
    assert_eq!(errors[0].to_string(), "k.bc: it is LLVM bitcode; compile it to an object first");
    let linked = link_all(&["v5-gfx90a.so"], false).unwrap_err();
    assert_eq!(linked, "v5-gfx90a.so: it is linked already; a relocatable object is needed\n");
    assert_eq!(link_all(&[], false).unwrap_err(), "there is nothing to link\n");
}

/// Neither a changed byte nor a changed word makes the linker panic.
#[test]
fn changed_bytes_do_not_panic() {
    let (good, other) = (load("link-a.o"), load("link-b.o"));
    let mut random = Random(99);
    for _ in 0..2000 {
        let mut bytes = good.clone();
        for _ in 0..3 {
            let seed = random.next();
            let at = (seed >> 33) as usize % bytes.len();
            bytes[at] = (seed >> 24) as u8;
        }
        let inputs = [Input { name: "a".into(), data: &bytes }, Input { name: "b".into(), data: &other }];
        let _ = link(&inputs, &Options { allow_undefined: true, ..Options::default() });
    }
    let table = u64::from_le_bytes(good[40..48].try_into().unwrap()) as usize;
    for at in (table..good.len() - 8).step_by(4) {
        for value in [u64::MAX, 1 << 63, 0, 1 << 32, 0xffff_ffff] {
            let mut bytes = good.clone();
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            let _ = link(
                &[Input { name: "a".into(), data: &bytes }],
                &Options { allow_undefined: true, ..Options::default() },
            );
        }
    }
}
