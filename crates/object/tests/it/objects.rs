//! Objects that compilers made: read, compared with what readelf shows, and written again byte for byte.

use crate::fixture;
use wavemill_object::metadata::{msgpack, schema, to_yaml, v2};
use wavemill_object::read::{File, Kernel, KernelForm, Kind};
use wavemill_object::write;
use wavemill_testing::Random;

pub fn load(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/fixtures/objects/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

const OBJECTS: [(&str, u8, &str); 8] = [
    ("v2-gfx600.o", 2, "amdgcn-amd-amdhsa--gfx600"),
    ("v2-gfx803.o", 2, "amdgcn-amd-amdhsa--gfx803"),
    ("v2-gfx906.o", 2, "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack+"),
    ("v3-gfx90a.o", 3, "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack+"),
    ("v4-gfx908.o", 4, "amdgcn-amd-amdhsa--gfx908"),
    ("v5-gfx90a.o", 5, "amdgcn-amd-amdhsa--gfx90a"),
    ("v6-gfx90a.o", 6, "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"),
    ("v6-gfx9-generic.o", 6, "amdgcn-amd-amdhsa--gfx9-generic"),
];

#[test]
fn headers_tell_version_and_target() {
    for (name, version, target) in OBJECTS {
        let bytes = load(name);
        let file = File::parse(&bytes).unwrap();
        assert_eq!(file.kind, Kind::Relocatable);
        assert_eq!(file.version(), version, "{name}");
        assert_eq!(file.target_id().unwrap().unwrap().to_string(), target, "{name}");
    }
}

#[test]
fn metadata_is_what_readelf_shows() {
    for name in ["v3-gfx90a", "v4-gfx908", "v5-gfx90a", "v6-gfx90a", "v6-gfx9-generic"] {
        let bytes = load(&format!("{name}.o"));
        let mut document = File::parse(&bytes).unwrap().metadata().unwrap().unwrap();
        assert_eq!(to_yaml(&document, false), fixture(&format!("objects/{name}.notes")));
        schema::verify(&mut document).unwrap();
    }
    let bytes = load("v2-gfx803.o");
    let file = File::parse(&bytes).unwrap();
    let notes = file.notes().unwrap();
    let note = notes.iter().find(|n| n.is("AMD", 10)).unwrap();
    assert_eq!(v2::to_text(&note.document().unwrap().unwrap()).unwrap().as_bytes(), note.contents);
}

/// The kernel of a name.
fn find<'k, 'a>(kernels: &'k [Kernel<'a>], name: &str) -> &'k Kernel<'a> {
    kernels.iter().find(|k| k.name == name).unwrap()
}

#[test]
fn kernels_have_descriptors_and_entries() {
    for (name, version, _) in OBJECTS {
        let bytes = load(name);
        let file = File::parse(&bytes).unwrap();
        let kernels = file.kernels().unwrap();
        assert_eq!(kernels.len(), 2, "{name}");
        let axpy = find(&kernels, "axpy");
        let metadata = file.kernel_metadata().unwrap();
        let said = metadata.iter().find(|k| k.name == "axpy").unwrap();
        assert_eq!(said.args[1].offset, 8, "{name}");
        assert_eq!(said.args[2].value_kind, "by_value", "{name}");
        let lds = match &axpy.form {
            KernelForm::KernelCode(code) => {
                assert_eq!(axpy.entry, Some(axpy.symbol.value + 256));
                code.named("workgroup_group_segment_byte_size")
            }
            KernelForm::Descriptor(d) => {
                assert_eq!(axpy.entry, axpy.code.map(|c| c.value), "{name}");
                assert_eq!(d.named("kernarg_size"), said.kernarg_segment_size.unwrap());
                d.named("group_segment_fixed_size")
            }
            KernelForm::Registers(_) => panic!("{name} is for HSA"),
        };
        assert_eq!((lds, said.group_segment_fixed_size), (256, Some(256)), "{name} v{version}");
    }
    let bytes = load("v5-gfx90a.so");
    let file = File::parse(&bytes).unwrap();
    assert_eq!(file.kind, Kind::Shared);
    for kernel in file.kernels().unwrap() {
        assert_eq!(kernel.entry, kernel.code.map(|c| c.value), "{}", kernel.name);
        assert_eq!(
            file.bytes_at(kernel.entry.unwrap()).unwrap(),
            file.bytes_from(&kernel.code.unwrap()).unwrap()
        );
    }
}

/// The model that a relocatable file was written from.
fn model(file: &File<'_>) -> write::Object {
    let made = |ty: u32| matches!(ty, 0 | 2 | 3 | 4 | 17 | 0x6fff_4c03);
    let kept: Vec<usize> = (0..file.sections.len()).filter(|&i| !made(file.sections[i].ty)).collect();
    let index = |number: u32| kept.iter().position(|&k| k == number as usize);
    let symbols = file.symbols.iter().skip(1).map(|s| write::Symbol {
        name: s.name.into(),
        binding: s.binding,
        ty: s.ty,
        other: s.other,
        home: match (s.section, index(s.section)) {
            (0, _) => write::Home::Undefined,
            (_, Some(i)) => write::Home::Section(i),
            (special, None) => write::Home::Special(special as u16),
        },
        value: s.value,
        size: s.size,
    });
    let sections = kept.iter().map(|&number| {
        let s = &file.sections[number];
        let relocations = file.relocations(number as u32).unwrap().into_iter().map(|r| write::Relocation {
            offset: r.offset,
            ty: r.ty,
            symbol: (r.symbol as usize).checked_sub(1),
            addend: r.addend,
        });
        write::Section {
            name: s.name.into(),
            ty: s.ty,
            flags: s.flags,
            align: s.align,
            entsize: s.entsize,
            data: s.data.to_vec(),
            memory_size: s.size,
            relocations: relocations.collect(),
            ..Default::default()
        }
    });
    // Symbol numbers below 128 take one byte each.
    let addrsig = file.section(".llvm_addrsig").map(|s| s.data.iter().map(|&n| n as usize - 1).collect());
    write::Object {
        os_abi: file.os_abi,
        abi_version: file.abi_version,
        flags: file.flags,
        implicit_addends: false,
        sections: sections.collect(),
        symbols: symbols.collect(),
        addrsig,
    }
}

#[test]
fn writing_what_was_read_gives_the_same_bytes() {
    for (name, ..) in OBJECTS {
        let bytes = load(name);
        let written = write::write(&model(&File::parse(&bytes).unwrap())).unwrap();
        let at = written.iter().zip(&bytes).position(|(a, b)| a != b);
        assert_eq!((at, written.len()), (None, bytes.len()), "{name}");
    }
}

#[test]
fn several_metadata_notes_merge() {
    let bytes = load("v5-gfx90a.o");
    let mut object = model(&File::parse(&bytes).unwrap());
    let note = object.sections.iter_mut().find(|s| s.name == ".note").unwrap();
    note.data.extend(note.data.clone());
    let bytes = write::write(&object).unwrap();
    let file = File::parse(&bytes).unwrap();
    let document = file.metadata().unwrap().unwrap();
    assert_eq!(document.get("amdhsa.kernels").unwrap().as_array().unwrap().len(), 4);
    assert_eq!(document.get("amdhsa.version").unwrap().as_array().unwrap().len(), 2);
    assert_eq!(file.kernel_metadata().unwrap().len(), 4);
    assert!(!msgpack::write(&document).is_empty());
}

/// Reads everything there is to read.
fn read_all(bytes: &[u8]) -> Result<(), String> {
    let file = File::parse(bytes).map_err(|e| e.to_string())?;
    let mut first = Ok(());
    let mut note = |r: Result<(), String>| {
        if first.is_ok() {
            first = r;
        }
    };
    note(file.notes().map(|_| ()).map_err(|e| e.to_string()));
    note(file.metadata().map(|_| ()).map_err(|e| e.to_string()));
    note(file.kernel_metadata().map(|_| ()).map_err(|e| e.to_string()));
    note(file.kernels().map(|_| ()).map_err(|e| e.to_string()));
    note(file.target_id().map(|_| ()).map_err(|e| e.to_string()));
    for section in 0..file.sections.len() as u32 {
        note(file.relocations(section).map(|_| ()).map_err(|e| e.to_string()));
    }
    file.version();
    first
}

#[test]
fn broken_files_are_explained() {
    assert_eq!(read_all(b"hello").unwrap_err(), "ELF header at byte 0x0: this is not an ELF file");
    let good = load("v5-gfx90a.o");
    assert_eq!(read_all(&good), Ok(()));
    let mut foreign = good.clone();
    foreign[18] = 62;
    let message = "ELF header at byte 0x0: machine 62 (x86-64) is not AMDGPU, which is 224";
    assert_eq!(read_all(&foreign).unwrap_err(), message);
    for length in 0..good.len() {
        assert!(read_all(&good[..length]).is_err(), "cut at {length}");
    }
}

/// Neither a changed byte nor a changed word makes the reader panic.
#[test]
fn changed_bytes_do_not_panic() {
    for name in ["v2-gfx803.o", "v5-gfx90a.o", "v5-gfx90a.so"] {
        let good = load(name);
        let mut random = Random(12345);
        for _ in 0..3000 {
            let mut bytes = good.clone();
            for _ in 0..4 {
                let seed = random.next();
                // Half of the changes hit the headers, where they matter most.
                let range = if seed & 1 == 0 { bytes.len() } else { 64 };
                let at = (seed >> 33) as usize % range;
                bytes[at] = (seed >> 24) as u8;
            }
            let _ = read_all(&bytes);
        }
        let table = u64::from_le_bytes(good[40..48].try_into().unwrap()) as usize;
        for at in (table..good.len() - 8).step_by(4) {
            for value in [u64::MAX, 1 << 63, 0, 1 << 32] {
                let mut bytes = good.clone();
                bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
                let _ = read_all(&bytes);
            }
        }
    }
}
