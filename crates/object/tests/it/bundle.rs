//! Offload bundles, made by hand after clang's description of them. The compressed one and LLVM's offload
//! binaries are `fixtures/make`'s.

use crate::objects::load;
use wavemill_object::bundle::code_objects;

/// A bundle of entries.
fn bundle(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let table: usize = 32 + entries.iter().map(|(id, _)| 24 + id.len()).sum::<usize>();
    let mut out = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    out.extend((entries.len() as u64).to_le_bytes());
    let mut at = table.next_multiple_of(4096);
    for (id, data) in entries {
        for word in [at as u64, data.len() as u64, id.len() as u64] {
            out.extend(word.to_le_bytes());
        }
        out.extend(id.bytes());
        at = (at + data.len()).next_multiple_of(4096);
    }
    for (_, data) in entries {
        out.resize(out.len().next_multiple_of(4096), 0);
        out.extend(*data);
    }
    out
}

const HOST: (&str, &[u8]) = ("host-x86_64-unknown-linux--", b"");
const GPU: &str = "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-";

#[test]
fn bundles_that_follow_each_other_are_read() {
    let object = load("v5-gfx90a.o");
    let mut file = bundle(&[HOST, (GPU, &object), ("hipv4-amdgcn-amd-amdhsa--gfx908", b"x")]);
    file.resize(file.len().next_multiple_of(4096), 0);
    file.extend(bundle(&[HOST, (GPU, &object)]));
    let found = code_objects(&file).unwrap();
    let seen: Vec<_> = found.iter().map(|c| (c.bundle, c.id.as_str(), c.data.len())).collect();
    assert_eq!(
        seen,
        [(0, GPU, object.len()), (0, "hipv4-amdgcn-amd-amdhsa--gfx908", 1), (1, GPU, object.len())]
    );
    assert_eq!(found[0].target.as_ref().unwrap().to_string(), "amdgcn-amd-amdhsa--gfx90a:xnack-");
    assert_eq!(code_objects(&object).unwrap().len(), 1);
}

#[test]
fn compressed_bundles_are_read() {
    let plain = bundle(&[HOST, (GPU, b"the code object")]);
    let packed = load("bundle.zst");
    let file = |version: u16, sizes: &[u8]| {
        let mut file = b"CCOB".to_vec();
        file.extend(version.to_le_bytes());
        file.extend(1u16.to_le_bytes());
        file.extend(sizes);
        file.extend([0; 8]);
        file.extend(&packed);
        file
    };
    let size = (plain.len() as u32).to_le_bytes();
    let total = |header: usize| ((header + packed.len()) as u32).to_le_bytes();
    let wide = |word: [u8; 4]| [word, [0; 4]].concat();
    let v1 = file(1, &size);
    let v2 = file(2, &[total(24), size].concat());
    let v3 = file(3, &[wide(total(32)), wide(size)].concat());
    for version in [&v1, &v2, &v3] {
        let found = code_objects(version).unwrap();
        assert_eq!((found[0].id.as_str(), &*found[0].data), (GPU, &b"the code object"[..]));
    }
    let both = [v2.as_slice(), &[0; 100], &v3].concat();
    assert_eq!(code_objects(&both).unwrap().len(), 2);
}

/// An archive with long and short names, as `ar` makes it: code objects and bundles are found, host objects passed over.
#[test]
fn archives_are_looked_through() {
    let mut host = crate::objects::load("v5-gfx90a.o");
    host[18] = 62;
    let long = b"a_name_that_is_too_long_for_the_header.o/\n";
    let mut archive = b"!<arch>\n".to_vec();
    let mut add = |name: &str, data: &[u8]| {
        archive.extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, data.len()).bytes());
        archive.extend(data);
        archive.extend(vec![b'\n'; data.len() % 2]);
    };
    add("/", b"\0\0\0\0");
    add("//", long);
    add("host.o/", &host);
    add("/0", &crate::objects::load("v5-gfx90a.o"));
    add("bundle.o/", &bundle(&[HOST, (GPU, b"code!")]));
    let found = code_objects(&archive).unwrap();
    let members: Vec<_> = found.iter().map(|c| (c.member.as_deref().unwrap(), c.id.as_str())).collect();
    assert_eq!(members, [("a_name_that_is_too_long_for_the_header.o", ""), ("bundle.o", GPU)]);
    archive.truncate(archive.len() - 20);
    assert!(code_objects(&archive).unwrap_err().to_string().ends_with("its member there is broken"));
}

#[test]
fn broken_containers_are_explained() {
    let message = |file: &[u8]| code_objects(file).unwrap_err().to_string();
    assert!(message(b"text").contains("no code object, no offload bundle"));
    let good = bundle(&[HOST, (GPU, b"x")]);
    for length in 24..200 {
        assert!(message(&good[..length]).starts_with("offload bundle at byte"), "cut at {length}");
    }
    let mut lying = good.clone();
    lying[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(message(&lying).contains("cut off") || message(&lying).contains("not all in the bundle"));
    let mut huge = b"CCOB\x03\x00\x01\x00".to_vec();
    huge.extend(40u64.to_le_bytes());
    huge.extend(u64::MAX.to_le_bytes());
    huge.extend([0; 16]);
    assert!(message(&huge).contains("cannot hold"), "{}", message(&huge));
    for at in 0..128 {
        for value in [0, 0x7f, 0xff] {
            let mut bytes = good.clone();
            bytes[at] = value;
            let _ = code_objects(&bytes);
        }
    }
}

/// All three headers, with the older of the two compressions.
#[test]
fn zlib_bundles_are_unpacked() {
    let plain = bundle(&[HOST, (GPU, b"the code object")]);
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&plain, 6);
    let words = |version: u16, rest: &[&[u8]]| {
        let mut out = b"CCOB".to_vec();
        out.extend(version.to_le_bytes());
        out.extend(0u16.to_le_bytes());
        rest.iter().for_each(|r| out.extend(*r));
        out.extend(0u64.to_le_bytes());
        out.extend(&packed);
        out
    };
    let (size, total) = (plain.len() as u64, packed.len() as u64);
    let files = [
        words(1, &[&(size as u32).to_le_bytes()]),
        words(2, &[&(total as u32 + 24).to_le_bytes(), &(size as u32).to_le_bytes()]),
        words(3, &[&(total + 32).to_le_bytes(), &size.to_le_bytes()]),
    ];
    for file in files {
        let objects = code_objects(&file).unwrap();
        assert_eq!((objects.len(), objects[0].id.as_str()), (1, GPU));
        assert_eq!(&*objects[0].data, b"the code object");
    }
}

#[test]
fn entries_that_share_bytes_are_refused() {
    // The same megabyte under a thousand names: a gigabyte of code objects from one.
    let mut data = vec![0u8; 1 << 20];
    data[..4].copy_from_slice(b"\x7fELF");
    let entries: Vec<(String, &[u8])> = (0..1000).map(|i| (format!("{GPU}{i}"), &b""[..])).collect();
    let named: Vec<(&str, &[u8])> = entries.iter().map(|(id, data)| (id.as_str(), *data)).collect();
    let mut file = bundle(&named);
    let at = file.len() as u64;
    file.extend(&data);
    let mut entry = 32;
    for (id, _) in &named {
        file[entry..entry + 8].copy_from_slice(&at.to_le_bytes());
        file[entry + 8..entry + 16].copy_from_slice(&(data.len() as u64).to_le_bytes());
        entry += 24 + id.len();
    }
    let error = code_objects(&file).unwrap_err().to_string();
    assert!(error.contains("shares bytes with other entries"), "{error}");
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&file, 6);
    let mut compressed = b"CCOB".to_vec();
    compressed.extend([2, 0, 0, 0]);
    compressed.extend((24 + packed.len() as u32).to_le_bytes());
    compressed.extend((file.len() as u32).to_le_bytes());
    compressed.extend([0; 8]);
    compressed.extend(&packed);
    let error = code_objects(&compressed).unwrap_err().to_string();
    assert!(error.contains("shares bytes with other entries"), "{error}");
}

#[test]
fn all_bundles_of_a_file_count() {
    // A megabyte that unpacks to one gigabyte is refused before it is unpacked, also in pieces.
    let plain = bundle(&[HOST, (GPU, &vec![0; 64 << 20])]);
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&plain, 1);
    let mut piece = b"CCOB".to_vec();
    piece.extend([2, 0, 0, 0]);
    piece.extend((24 + packed.len() as u32).to_le_bytes());
    piece.extend((plain.len() as u32).to_le_bytes());
    piece.extend([0; 8]);
    piece.extend(&packed);
    assert_eq!(code_objects(&piece).unwrap()[0].data.len(), 64 << 20);
    let error = code_objects(&piece.repeat(20)).unwrap_err().to_string();
    assert!(error.contains("more than is unpacked of such a file"), "{error}");
}

/// Images that clang's packager has put together (`fixtures/make`).
#[test]
fn offload_binaries_are_read() {
    let file = load("offload.bin");
    let found = code_objects(&file).unwrap();
    let seen: Vec<_> = found.iter().map(|c| (c.bundle, c.id.as_str())).collect();
    let first = "openmp-amdgcn-amd-amdhsa--gfx90a:xnack-";
    assert_eq!(seen, [(0, first), (1, "openmp-amdgcn-amd-amdhsa--gfx908")]);
    assert_eq!(found[0].target.as_ref().unwrap().to_string(), "amdgcn-amd-amdhsa--gfx90a:xnack-");
    assert!(found.iter().all(|c| c.data.starts_with(b"\x7fELF")));
    let bitcode = code_objects(&load("offload-bitcode.bin")).unwrap_err().to_string();
    assert!(bitcode.contains("openmp-amdgcn-amd-amdhsa--gfx90a is LLVM bitcode"), "{bitcode}");
}

/// Every cut and every broken number is an answer.
#[test]
fn broken_offload_binaries_are_refused() {
    let file = load("offload.bin");
    let size = u64::from_le_bytes(file[8..16].try_into().unwrap()) as usize;
    for len in 5..size {
        assert!(code_objects(&file[..len]).is_err(), "{len} bytes");
    }
    let error = |at: usize, bytes: &[u8]| {
        let mut file = file.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        code_objects(&file).unwrap_err().to_string()
    };
    assert!(error(4, &[9]).contains("version 9 is not known"));
    assert!(error(72, &[0xff; 8]).contains("a text does not end"));
    assert!(error(8, &[16, 0]).contains("less than its header's"));
    for (at, what) in [(16, "entry"), (40, "strings"), (48, "count"), (56, "image"), (64, "size")] {
        assert!(error(at, &[0xff; 8]).contains("not all there"), "{what}");
    }
}
