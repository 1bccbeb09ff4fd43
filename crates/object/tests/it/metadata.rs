//! Metadata documents against what LLVM prints and stores for the same YAML.

use crate::{fixture, hex};
use wavemill_object::metadata::pal::Pal;
use wavemill_object::metadata::{self, Value, from_yaml, msgpack, schema, to_yaml, v2};

/// The contents of the only note in a note section.
fn note(bytes: &[u8]) -> &[u8] {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    &bytes[12 + word(0).next_multiple_of(4)..][..word(4)]
}

#[test]
fn yaml_and_messagepack_equal_llvms() {
    for name in ["metadata-kernels", "metadata-many"] {
        let mut document = from_yaml(&fixture(&format!("{name}.yaml"))).unwrap();
        schema::verify(&mut document).unwrap();
        // The assembler's listing has an empty line before the end directive.
        assert_eq!(to_yaml(&document, false) + "\n", fixture(&format!("{name}.out")), "{name}");
        let section = hex(&format!("{name}.hex"));
        let bytes = note(&section);
        assert_eq!(msgpack::write(&document), bytes, "{name}");
        let (read, used) = msgpack::read(bytes).unwrap();
        assert_eq!((&read, used), (&document, bytes.len()), "{name}");
        assert_eq!(from_yaml(&to_yaml(&read, false)).unwrap(), document, "{name}");
    }
}

#[test]
fn pal_metadata_equals_llvms() {
    let mut pal = Pal::default();
    assert_eq!(pal.to_text(), "");
    pal.set_from_yaml(&fixture("pal-shader.yaml")).unwrap();
    assert_eq!(pal.to_text(), fixture("pal-shader.out"));
    let (owner, kind, bytes) = pal.to_note().unwrap();
    assert_eq!((owner, kind, &bytes[..]), ("AMDGPU", 32, note(&hex("pal-shader.hex"))));
    let mut legacy = Pal::default();
    legacy.set_legacy(&[(0x2e12, 1), (0x1000_0001, 2), (0x2e12, 0x40)]);
    assert_eq!(legacy.to_text(), "\t.amd_amdgpu_pal_metadata 0x2e12,0x41,0x10000001,0x2\n");
    assert_eq!(legacy.to_note().unwrap().2, [0x12, 0x2e, 0, 0, 0x41, 0, 0, 0, 1, 0, 0, 0x10, 2, 0, 0, 0]);
}

#[test]
fn v2_text_is_printed_as_compilers_print_it() {
    let text = fixture("v2.out");
    let document = from_yaml(&text).unwrap();
    assert_eq!(v2::to_text(&document).unwrap() + "\n", text);
}

#[test]
fn verifying_names_the_first_wrong_node() {
    for (yaml, message) in [
        ("1", "the document: a mapping is needed, not an integer"),
        ("a: 1", "the document: 'amdhsa.version' is missing"),
        ("amdhsa.version: [ 1 ]", "amdhsa.version: 2 integers are needed"),
        ("amdhsa.version: [ 1, x ]", "amdhsa.version[1]: an integer is needed, not a string"),
        (
            "amdhsa.version: [ 1, 0 ]\namdhsa.kernels: [ 4 ]",
            "amdhsa.kernels[0]: a mapping is needed, not an integer",
        ),
        (
            "amdhsa.version: [ 1, 0 ]\namdhsa.kernels: [ { .name: a, .symbol: 3 } ]",
            "amdhsa.kernels[0] .symbol: a string is needed, not an integer",
        ),
        (
            "amdhsa.version: [ 1, 0 ]\namdhsa.kernels: [ { .name: a, .symbol: b, .language: C } ]",
            "amdhsa.kernels[0] .language: 'C' is none of OpenCL C, OpenCL C++, HCC, HIP, OpenMP, Assembler",
        ),
    ] {
        let mut document = from_yaml(yaml).unwrap();
        assert_eq!(schema::verify(&mut document).unwrap_err().to_string(), message);
    }
}

#[test]
fn broken_yaml_has_a_place() {
    for (yaml, place) in [
        ("a: [ 1", metadata::Location::Line(2, 1)),
        ("a: 1\na: 2\n", metadata::Location::Line(2, 4)),
        ("a: &x 1\nb: *x\n", metadata::Location::Line(1, 4)),
        ("", metadata::Location::Line(1, 1)),
        ("a: !int x", metadata::Location::Line(1, 4)),
    ] {
        assert_eq!(from_yaml(yaml).unwrap_err().place, place, "{yaml:?}");
    }
    let deep = "[".repeat(100_000);
    let message = from_yaml(&deep).unwrap_err().to_string();
    assert!(message.contains("nested") || message.contains("recursion"), "{message}");
}

#[test]
fn broken_messagepack_has_a_place() {
    let byte = |bytes: &[u8]| msgpack::read(bytes).unwrap_err().to_string();
    assert_eq!(byte(&[]), "byte 0: 1 bytes wanted, 0 left");
    assert_eq!(byte(&[0xdb, 0xff, 0xff, 0xff, 0xff, b'a']), "byte 5: 4294967295 bytes wanted, 1 left");
    assert_eq!(byte(&[0xdd, 0xff, 0xff, 0xff, 0xff, 1]), "byte 6: 1 bytes wanted, 0 left");
    assert_eq!(byte(&[0x81, 0xc1]), "byte 1: byte 0xc1 starts nothing in MessagePack");
    assert_eq!(byte(&[0xc7, 1, 2, 3]), "byte 0: extension types have no meaning in metadata");
    assert!(byte(&vec![0x91; 1 << 20]).contains("nested more than 64 deep"));
}

#[test]
fn every_kind_of_messagepack_value_is_read() {
    let bytes = [
        0xdc, 0x00, 0x0b, 0xc0, 0xc2, 0xc3, 0xca, 0x3f, 0x80, 0, 0, 0xcb, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0, 0xd0,
        0x80, 0xd1, 0x80, 0, 0xd2, 0x80, 0, 0, 0, 0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xc4, 1, 9, 0xd9, 1, b'x',
    ];
    let (value, used) = msgpack::read(&bytes).unwrap();
    assert_eq!(used, bytes.len());
    let expected = [
        Value::Nil,
        Value::Bool(false),
        Value::Bool(true),
        Value::Float(1.0),
        Value::Float(-1.0),
        Value::Int(-0x80),
        Value::Int(-0x8000),
        Value::Int(-0x8000_0000),
        Value::Int(i64::MIN),
        Value::Bin((&[9u8][..]).into()),
        Value::str("x"),
    ];
    assert_eq!(value, Value::Array(expected.to_vec()));
}

/// ValueType (AMDGPU guide, "Code Object Metadata"), which compilers wrote until LLVM 11: the listing leaves it out, who asks
/// for the arguments gets it.
#[test]
fn value_types_of_version_2_are_kept() {
    let yaml = "Version: [ 1, 0 ]\nKernels:\n  - Name: k\n    SymbolName: k@kd\n    Args:\n\
                \x20     - { Size: 8, Align: 8, ValueKind: GlobalBuffer, ValueType: F32 }\n\
                \x20     - { Size: 4, Align: 4, ValueKind: ByValue, ValueType: Struct }\n\
                \x20     - { Size: 4, Align: 4, ValueKind: ByValue }\n";
    let document = from_yaml(yaml).unwrap();
    assert!(!v2::to_text(&document).unwrap().contains("ValueType"));
    let kernels = metadata::kernel::from_v2(&document);
    let types: Vec<_> = kernels[0].args.iter().map(|a| a.value_type.as_deref()).collect();
    assert_eq!(types, [Some("f32"), Some("struct"), None]);
}
