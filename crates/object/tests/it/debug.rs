//! Debugging information, compared with what llvm-dwarfdump says about the same objects.

use crate::fixture;
use crate::objects::load;
use wavemill_object::debug::{self, Role, Space, Unit, Variable};
use wavemill_object::lines::Lines;
use wavemill_object::read::File;

/// A row as `objdiff.py --variables` prints it: JSON, with tabs between.
fn row(function: Option<&str>, v: &Variable, relocatable: bool) -> String {
    let quoted = |text: Option<&str>| text.map_or("null".to_string(), |t| format!("\"{t}\""));
    let number = |n: Option<u64>| n.map_or("null".to_string(), |n| n.to_string());
    let places: Vec<String> = v
        .locations
        .iter()
        .map(|l| {
            let range = (l.range.as_ref().map(|r| r.start), l.range.as_ref().map(|r| r.end));
            let mut expression = l.expression.clone();
            // llvm-dwarfdump does not relocate these, so the fixture is without them.
            if let Some(rest) = expression.strip_prefix("DW_OP_addr 0x").filter(|_| relocatable) {
                let rest = rest.trim_start_matches(|c: char| c.is_ascii_hexdigit());
                expression = format!("DW_OP_addr{rest}");
            }
            format!("[{}, {}, \"{expression}\"]", number(range.0), number(range.1))
        })
        .collect();
    [
        quoted(function),
        quoted(Some(&v.name)),
        quoted(Some(&v.ty.name)),
        number(v.declared.as_ref().map(|d| d.line)),
        quoted(v.ty.pointee.map(|s| s.to_string()).as_deref()),
        quoted(v.inlined.as_deref()),
        format!("[{}]", places.join(", ")),
    ]
    .join("\t")
}

fn read(name: &str) -> Vec<Unit> {
    let bytes = load(name);
    debug::read(&File::parse(&bytes).unwrap()).unwrap()
}

#[test]
fn variables_are_those_of_llvm_dwarfdump() {
    for name in ["debug-O0.so", "debug-O2.o"] {
        let relocatable = name.ends_with(".o");
        let mut ours = Vec::new();
        for unit in read(name) {
            assert_eq!((unit.name.as_str(), unit.directory.as_str()), ("debug.cl", "/src"));
            assert_eq!(unit.language, "OpenCL");
            ours.extend(unit.variables.iter().map(|v| row(None, v, relocatable)));
            for f in &unit.functions {
                assert_eq!(f.kernel, f.name == "spaces");
                assert_eq!(f.declared.as_ref().unwrap().file, "/src/debug.cl");
                ours.extend(f.variables.iter().map(|v| row(Some(&f.name), v, relocatable)));
            }
        }
        let mut theirs: Vec<String> =
            fixture(&format!("objects/{name}.variables")).lines().map(Into::into).collect();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{name}");
    }
}

/// AMDGPU guide, "Address Space Mapping": private is 1, local is 2, the rest is omitted.
#[test]
fn memory_spaces_follow_the_mapping() {
    let units = read("debug-O0.so");
    let functions = &units[0].functions;
    let find = |function: &str, variable: &str| {
        let f = functions.iter().find(|f| f.name == function).unwrap();
        f.variables.iter().find(|v| v.name == variable).unwrap()
    };
    let spaces = |function, variable| {
        let v = find(function, variable);
        (v.locations[0].space, v.ty.pointee)
    };
    assert_eq!(spaces("spaces", "shared"), (Some(Space::Local), None));
    assert_eq!(spaces("spaces", "mine"), (Some(Space::Private), None));
    assert_eq!(spaces("spaces", "inner"), (Some(Space::Private), Some(Space::Local)));
    assert_eq!(spaces("sum", "p"), (Some(Space::Private), Some(Space::Private)));
    for omitted in ["g", "c", "any"] {
        assert_eq!(spaces("sum", omitted).1, None);
    }
    assert_eq!(units[0].variables[0].locations[0].space, None);
    assert_eq!(find("sum", "l").role, Role::Parameter);
    assert_eq!(find("spaces", "mine").locations[0].place, "frame+52");
}

#[test]
fn packed_sections_are_unpacked() {
    let plain = load("debug-O2.o");
    let plain = File::parse(&plain).unwrap();
    let lines = Lines::read(&plain).unwrap().unwrap();
    let text = plain.sections.iter().position(|s| s.name == ".text").unwrap() as u32;
    let all = |lines: &Lines| {
        let at = |a: u64| lines.find(text, a).map(|l| (l.file.to_owned(), l.line));
        (0..0x240).step_by(4).map(at).collect::<Vec<_>>()
    };
    assert!(all(&lines).iter().any(Option::is_some));
    let count = |units: Vec<Unit>| units[0].functions.iter().map(|f| f.variables.len()).sum::<usize>();
    for method in ["zlib", "zstd"] {
        let name = format!("debug-O2.{method}.o");
        let bytes = load(&name);
        let file = File::parse(&bytes).unwrap();
        assert_eq!(all(&Lines::read(&file).unwrap().unwrap()), all(&lines), "{method}");
        assert_eq!(count(read(&name)), count(read("debug-O2.o")), "{method}");
    }
}

#[test]
fn broken_packing_is_explained() {
    let good = load("debug-O2.zlib.o");
    let section = File::parse(&good).unwrap().section(".debug_line").map(|s| s.offset as usize).unwrap();
    let message = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[section + at] = value;
        Lines::read(&File::parse(&bytes).unwrap()).unwrap_err().to_string()
    };
    let start = format!(".debug_line at byte {section:#x}: ");
    assert_eq!(message(0, 9), format!("{start}compression type 9 is not known; zlib is 1, zstd is 2"));
    assert!(message(15, 1).contains("cannot hold the"));
    assert!(message(8, 1).contains("that it claims"));
    assert!(message(24, 0).starts_with(&format!("{start}zlib: ")));
}

/// No change of a byte makes the reader panic or go on for ever.
#[test]
fn changed_bytes_do_not_panic() {
    for name in ["debug-O0.so", "debug-O2.o"] {
        let good = load(name);
        let file = File::parse(&good).unwrap();
        let parts: Vec<(usize, usize)> = file
            .sections
            .iter()
            .filter(|s| s.name.starts_with(".debug_"))
            .map(|s| (s.offset as usize, s.data.len()))
            .collect();
        for (start, length) in parts {
            for at in (start..start + length).step_by(3) {
                for value in [0, 1, 0x7f, 0xff] {
                    let mut bytes = good.clone();
                    bytes[at] = value;
                    let _ = debug::read(&File::parse(&bytes).unwrap());
                }
            }
        }
    }
}
