//! Arguments of `wavemill run`: where they come from, which is which, whether they fit, and what must come out.

use crate::{scratch, wavemill};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/kernels/fixtures")
        .join(name)
        .display()
        .to_string()
}

/// `vadd(global const float *a, global const float *b, global float *c, uint n)`
fn vadd() -> String {
    fixture("vadd.gfx90a.clang-15.v5.O2.hsaco")
}

/// `vadd(float *a, float *b, float *c)` whose metadata has names and types.
fn named() -> String {
    let source = include_str!("../../../../examples/vadd.s").replace("// run:", "// with:");
    let typed =
        source.replace(".value_kind: global_buffer", ".value_kind: global_buffer, .type_name: 'float*'");
    let path = scratch("named").join(format!("vadd-{:?}.s", std::thread::current().id()));
    std::fs::write(&path, typed).unwrap();
    path.display().to_string()
}

fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let all = [&["run"], args].concat();
    parts(&wavemill(&all))
}

fn parts(out: &Output) -> (Option<i32>, String, String) {
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.as_bytes());
    file.extend(data);
    file
}

/// The CRC of PKZIP and PNG (RFC 1952), bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, b| {
        (0..8).fold(crc ^ u32::from(*b), |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
    })
}

fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

#[test]
fn by_position_by_name_and_without_types() {
    let vadd = vadd();
    let base = [vadd.as_str(), "--kernel", "vadd", "--grid", "64", "-q", "--show", "2:f32:4"];
    let with = |args: &[&str]| run(&[&base[..], args].concat());
    let args = ["--arg", "iota:f32:64", "--arg", "iota:f32:64", "--arg", "zeros:f32:64", "--arg"];
    for n in ["u32:64", "64", "0x40"] {
        let out = with(&[&args[..], &[n]].concat());
        assert_eq!(
            out,
            (Some(0), "0 2 4 6\n".into(), String::new()),
            "{n}: the kernel knows that it is an uint"
        );
    }
    let names = ["--arg", "c=zeros:f32:256", "--arg", "iota:f32:256", "--arg", "b=iota:f32:256"];
    let sizes = ["--global", "256", "--local", "256", "-q", "--show", "c:f32:3"];
    let by_name = run(&[&[named().as_str()], &sizes[..], &names[..]].concat());
    assert_eq!(by_name, (Some(0), "0 2 4\n".into(), String::new()));
}

#[test]
fn names_that_are_not_there_are_explained() {
    let with = |args: &[&str]| {
        let words: Vec<&str> = args.iter().flat_map(|a| ["--arg", a]).collect();
        run(&[&[named().as_str(), "--grid", "256"], &words[..]].concat())
    };
    for (args, said) in [
        (&["d=zeros:f32:1"][..], "vadd has no argument `d`; "),
        (&["a=zeros:f32:1", "a=zeros:f32:2"][..], "argument `a` is given twice, first as `a=zeros:f32:1`"),
        (&["b=zeros:f32:1", "c=zeros:f32:1"][..], "argument `a` of vadd is missing"),
        (
            &["a=iota:i32:1", "b=zeros:4", "c=zeros:4"][..],
            "argument 0 `a` (`a=iota:i32:1`): a buffer of i32 is given for float*, which points to f32; \
             `force:iota:i32:1` insists",
        ),
    ] {
        let (code, _, errors) = with(args);
        assert_eq!(code, Some(1), "{errors}");
        assert!(errors.contains(said), "{args:?}: {errors}");
    }
    let (_, _, errors) = run(&[&vadd(), "--kernel", "vadd", "--grid", "64", "--arg", "n=5"]);
    assert!(errors.contains("`n=`: vadd does not name its arguments"), "{errors}");
}

#[test]
fn what_does_not_fit_is_refused_with_a_way_to_insist() {
    let vadd = vadd();
    let good = ["iota:f32:64", "iota:f32:64", "zeros:f32:64", "u32:64"];
    let with = |at: usize, arg: &str| {
        let mut args = good;
        args[at] = arg;
        let mut words = vec![vadd.as_str(), "--kernel", "vadd", "--grid", "64"];
        args.iter().for_each(|a| words.extend(["--arg", a]));
        run(&words)
    };
    for (at, arg, said) in [
        (3, "f32:64", "argument 3 (`f32:64`): f32 is given for uint, which is u32; `force:f32:64` insists"),
        (
            0,
            "iota:i32:64",
            "a buffer of i32 is given for float*, which points to f32; `force:iota:i32:64` insists",
        ),
        (0, "u64:0", "a number is given for float*; a buffer is wanted, or `null`"),
        (0, "i16:5", "a number is given for float*"),
        (3, "null", "null is given for uint"),
        (3, "1.5", "argument 3 (`1.5`): `1.5` is not a number"),
        (3, "iota:u32:4", "a buffer is given"),
        (0, "rand:f32", "rand:TYPE:N"),
    ] {
        let (code, _, errors) = with(at, arg);
        assert_eq!(code, Some(1), "{arg}: {errors}");
        assert!(errors.contains(said), "{arg}: {errors}");
    }
    assert_eq!(with(0, "force:iota:i32:64").0, Some(0));
    assert_eq!(with(0, "zeros:4k").0, Some(0));
    assert_eq!(with(3, "i32:64").0, Some(0), "signed and unsigned are not told apart");
    // Null is passed when asked for, and is what it is.
    let (code, _, errors) = with(0, "null");
    assert_eq!(code, Some(3));
    assert!(errors.contains("GPU fault: read of 4 bytes at 0x0"), "{errors}");
}

#[test]
fn arrays_pictures_and_standard_input() {
    let directory = scratch("arguments");
    let path = |name: &str| directory.join(name).display().to_string();
    let vadd = named();
    let numbers: Vec<f32> = (0..256).map(|n| n as f32).collect();
    std::fs::write(path("a.npy"), npy("<f4", "(16, 16)", &floats(numbers))).unwrap();
    std::fs::write(path("b.bin"), floats([10.0; 256])).unwrap();
    let base = ["run", &vadd, "--grid", "256", "-q", "--show", "c:f32:3", "--arg", "c=zeros:f32:256"];
    let (a, b) = (format!("a={}", path("a.npy")), format!("b=buf:{}", path("b.bin")));
    let out = parts(&wavemill(&[&base[..], &["--arg", &a, "--arg", &b]].concat()));
    assert_eq!(out, (Some(0), "10 11 12\n".into(), String::new()));
    // From standard input.
    let mut child = Command::new(env!("CARGO_BIN_EXE_wavemill"))
        .args(base)
        .args(["--arg", &a, "--arg", "b=-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&floats([20.0; 256])).unwrap();
    assert_eq!(parts(&child.wait_with_output().unwrap()), (Some(0), "20 21 22\n".into(), String::new()));
    // One of the arrays in a .npz, which is not packed here: a local header, the name, the file (APPNOTE 4.3.7).
    let array = npy("<f4", "(256,)", &floats([30.0; 256]));
    let mut archive = Vec::new();
    let mut directory_of = Vec::new();
    for name in ["x.npy", "y.npy"] {
        let at = archive.len() as u32;
        let crc = crc32(&array).to_le_bytes();
        let sizes = [(array.len() as u32).to_le_bytes(); 2].concat();
        let lengths = [name.len() as u16, 0].map(u16::to_le_bytes).concat();
        let common = [&b"\x14\0\0\0\0\0\0\0\0\0"[..], &crc, &sizes, &lengths].concat();
        archive.extend([b"PK\x03\x04", &common[..], name.as_bytes(), &array].concat());
        directory_of.extend(
            [b"PK\x01\x02\x14\0", &common[..], &[0; 10], &at.to_le_bytes(), name.as_bytes()].concat(),
        );
    }
    let start = archive.len() as u32;
    archive.extend(&directory_of);
    let end = [2u16.to_le_bytes(), 2u16.to_le_bytes()].concat();
    let place = [(directory_of.len() as u32).to_le_bytes(), start.to_le_bytes()].concat();
    archive.extend([&b"PK\x05\x06\0\0\0\0"[..], &end, &place, &[0; 2]].concat());
    std::fs::write(path("two.npz"), archive).unwrap();
    for prefix in ["", "buf:"] {
        let one = format!("b={prefix}{}:y", path("two.npz"));
        let out = parts(&wavemill(&[&base[..], &["--arg", &a, "--arg", &one]].concat()));
        assert_eq!(out, (Some(0), "30 31 32\n".into(), String::new()), "{one}");
    }
    let both = format!("b={}", path("two.npz"));
    let (code, _, errors) = parts(&wavemill(&[&base[..], &["--arg", &a, "--arg", &both]].concat()));
    assert_eq!(code, Some(1));
    assert!(
        errors.contains("it has several arrays, name one behind a colon (FILE.npz:NAME): x, y"),
        "{errors}"
    );
    // Wrong types in files.
    std::fs::write(path("i.npy"), npy("<i4", "(256,)", &[0; 1024])).unwrap();
    let wrong = format!("a={}", path("i.npy"));
    let (code, _, errors) = parts(&wavemill(&[&base[..], &["--arg", &wrong, "--arg", &b]].concat()));
    assert_eq!(code, Some(1));
    assert!(errors.contains("a buffer of i32 is given for float*"), "{errors}");
}

#[test]
fn expectations_hold_or_say_where_not() {
    let directory = scratch("expect");
    let path = |name: &str| directory.join(name).display().to_string();
    let vadd = vadd();
    let mut want: Vec<f32> = (0..64).map(|n| 2.0 * n as f32).collect();
    std::fs::write(path("good.npy"), npy("<f4", "(8, 8)", &floats(want.clone()))).unwrap();
    want[10] *= 1.000_001;
    want[20] += 0.5;
    std::fs::write(path("bad.npy"), npy("<f4", "(8, 8)", &floats(want))).unwrap();
    std::fs::write(path("short.npy"), npy("<f4", "(2,)", &[0; 8])).unwrap();
    let base = [
        "run",
        &vadd,
        "--kernel",
        "vadd",
        "--grid",
        "64",
        "--arg",
        "iota:f32:64",
        "--arg",
        "iota:f32:64",
        "--arg",
        "zeros:f32:64",
        "--arg",
        "64",
    ];
    let expect = |file: &str, more: &[&str]| {
        let option = format!("2:{}", path(file));
        parts(&wavemill(&[&base[..], &["--expect", &option], more].concat()))
    };
    assert_eq!(expect("good.npy", &["-q"]), (Some(0), String::new(), String::new()));
    let (code, _, errors) = expect("bad.npy", &[]);
    assert_eq!(code, Some(5));
    assert!(errors.contains("argument 2: 2 of 64 elements differ from "), "{errors}");
    assert!(
        errors.contains("the first is [1,2], 20 instead of 20.00002; the farthest is [2,4], off by 5e-1"),
        "{errors}"
    );
    let (code, out, errors) = expect("bad.npy", &["--rtol", "1e-5", "--atol", "1e-8", "--json"]);
    assert_eq!(code, Some(5));
    assert!(
        errors.contains("1 of 64 elements differ") && errors.contains("[2,4], 40 instead of 40.5"),
        "{errors}"
    );
    assert!(
        out.contains("\"status\": 5") && out.contains("\"differences\": [\"argument 2: 1 of 64"),
        "{out}"
    );
    assert_eq!(expect("bad.npy", &["--atol", "0.6", "-q"]).0, Some(0));
    let (code, _, errors) = expect("short.npy", &[]);
    assert_eq!(code, Some(5));
    assert!(errors.contains("has 2 elements of f32, the buffer has 64"), "{errors}");
    let (code, _, errors) = expect("none.npy", &[]);
    assert_eq!(code, Some(1), "{errors}");
}

/// Two kernels of C++: `fill(unsigned*)` and `fill<int>(int*)`, and `ns::other()`.
fn mangled() -> String {
    let path = scratch("mangled").join("k.s");
    let kernel = |name: &str| {
        format!(
            ".text\n.p2align 8\n.type {name},@function\n{name}:\ns_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel {name}\n\
             .amdhsa_next_free_vgpr 4\n.amdhsa_next_free_sgpr 8\n.amdhsa_accum_offset 4\n.end_amdhsa_kernel\n"
        )
    };
    let names = ["_Z4fillPj", "_Z4fillIiEvPT_", "_ZN2ns5otherEv"];
    std::fs::write(&path, names.map(kernel).concat()).unwrap();
    path.display().to_string()
}

#[test]
fn kernels_go_by_their_names_in_the_source() {
    let file = mangled();
    let with = |name: &str| run(&[&file, "--grid", "64", "--kernel", name]);
    for (name, shown) in [
        ("ns::other", "ns::other()"),
        ("_ZN2ns5otherEv", "ns::other()"),
        ("fill(unsigned int*)", "fill(unsigned int*)"),
        ("fill<int>", "void fill<int>(int*)"),
    ] {
        let (code, out, errors) = with(name);
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{name}");
        assert!(out.starts_with(&format!("{shown}: 1 work-groups")), "{out}");
    }
    let (code, _, errors) = with("fill");
    assert_eq!(code, Some(1));
    assert!(
        errors
            .contains("`fill` may be several kernels, say which: fill(unsigned int*), void fill<int>(int*)"),
        "{errors}"
    );
    let (_, _, errors) = with("ns::othr");
    assert!(errors.contains("no kernel `ns::othr`; did you mean ns::other?"), "{errors}");
    let (_, _, errors) = run(&[&file, "--grid", "64"]);
    assert!(errors.contains("name one with --kernel: fill, fill<int>, ns::other"), "{errors}");
    let (_, _, errors) = run(&[&file, "--grid", "64", "--kernel", "ns::other", "--arg", "n=i32:1"]);
    assert!(errors.contains("ns::other() does not name its arguments"), "{errors}");
    // Other commands know them, too.
    let object = scratch("mangled").join("k.hsaco").display().to_string();
    assert!(wavemill(&["asm", &file, "--mcpu", "gfx90a", "-o", &object]).status.success());
    let said = |args: &[&str]| parts(&wavemill(args));
    let (code, text, _) = said(&["disasm", &object, "--kernel", "ns::other"]);
    assert!(code == Some(0) && text.contains("<_ZN2ns5otherEv>:") && !text.contains("<_Z4fill"), "{text}");
    let (code, _, errors) = said(&["disasm", &object, "--kernel", "fill"]);
    assert_eq!(code, Some(1));
    let want = "`fill` may be several functions, say which: void fill<int>(int*), fill(unsigned int*)";
    assert!(errors.contains(want), "{errors}");
    let (_, text, _) = said(&["inspect", "--kernels", &object]);
    assert!(text.contains("\nns::other()  ") && text.contains("  symbol      _ZN2ns5otherEv\n"), "{text}");
}

#[test]
fn global_ids_start_where_asked() {
    // A kernel without a use for it takes an offset all the same.
    let (code, out, errors) = run(&[
        &vadd(),
        "--kernel",
        "vadd",
        "--grid",
        "32",
        "--offset",
        "8",
        "-q",
        "--show",
        "2:f32:10",
        "--arg",
        "iota:f32:64",
        "--arg",
        "iota:f32:64",
        "--arg",
        "zeros:f32:64",
        "--arg",
        "64",
    ]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert_eq!(out, "0 0 0 0 0 0 0 0 16 18\n");
}
