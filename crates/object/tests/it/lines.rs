//! Source lines from tables that LLVM's assembler wrote.

use wavemill_object::lines::{Line, Lines};
use wavemill_object::read::File;

#[test]
fn lines_of_a_relocatable_file_are_found() {
    let path = format!("{}/../asm/tests/amd/lines-dwarf5.o", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(path).unwrap();
    let file = File::parse(&bytes).unwrap();
    let lines = Lines::read(&file).unwrap().unwrap();
    let text = file.sections.iter().position(|s| s.name == ".text").unwrap() as u32;
    assert_eq!(lines.find(text, 0), Some(Line { file: "/home/me/k.cl", line: 1 }));
    assert_eq!(lines.find(text, 4), Some(Line { file: "/usr/include/types.h", line: 20 }));
    assert_eq!(lines.find(text, 8), Some(Line { file: "/home/me/k.cl", line: 4 }));
    assert_eq!(lines.find(text, 12), None);
    assert_eq!(lines.find(text + 1, 0), None);
}

/// A table that ends too early is an error that says where; no bytes make the reader panic.
#[test]
fn broken_tables_are_explained() {
    let path = format!("{}/../asm/tests/amd/lines-dwarf5.o", env!("CARGO_MANIFEST_DIR"));
    let good = std::fs::read(path).unwrap();
    let (start, end) = {
        let file = File::parse(&good).unwrap();
        let section = file.section(".debug_line").unwrap();
        (section.offset as usize, (section.offset + section.size) as usize)
    };
    let mut bytes = good.clone();
    bytes[start..start + 4].copy_from_slice(&0x7fff_0000u32.to_le_bytes());
    let error = Lines::read(&File::parse(&bytes).unwrap()).unwrap_err().to_string();
    assert!(error.starts_with(&format!(".debug_line at byte {start:#x}: ")), "{error}");
    for at in start..end {
        for value in [0, 1, 0x7f, 0xff] {
            let mut bytes = good.clone();
            bytes[at] = value;
            let _ = Lines::read(&File::parse(&bytes).unwrap());
        }
    }
}
