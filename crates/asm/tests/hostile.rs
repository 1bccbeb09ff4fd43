//! Sources that want too much: bounded in time and memory, and refused in words.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use wavemill_asm::{Options, OutputType, assemble};
use wavemill_isa::Target;
use wavemill_isa::target::processor;

fn options(output: OutputType) -> Options {
    let mut options = Options::new(Target::new(processor("gfx900").unwrap()));
    options.output = output;
    options
}

fn scratch(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The messages of an assembly that fails, which must not take long: these sources took minutes once.
fn refused(options: &Options, text: String) -> String {
    let start = Instant::now();
    let output = assemble(options, "hostile.s", text.into_bytes());
    let messages = String::from_utf8_lossy(&output.render_diagnostics()).into_owned();
    assert!(output.failed(), "it was accepted");
    assert!(start.elapsed() < Duration::from_secs(30), "it took {:?}", start.elapsed());
    messages
}

/// Two hundred thousand symbols, each set to the next.
fn chain(link: impl Fn(usize) -> String, uses: &str) -> String {
    const LENGTH: usize = 200_000;
    let links: String = (0..LENGTH).map(|i| format!(".set a{i}, {}\n", link(i + 1))).collect();
    format!("{links}.set a{LENGTH}, 5\n{uses}")
}

#[test]
fn long_chains_of_symbols_end() {
    let once = ".long a0\n".to_owned();
    let each: String = (0..200_000).map(|i| format!(".long a{i}\n")).collect();
    let links: [fn(usize) -> String; 3] =
        [|i| format!("a{i}+1"), |i| format!("a{i}+a{i}"), |i| format!("a{i}")];
    for link in links {
        for uses in [&once, &each] {
            let messages = refused(&options(OutputType::Obj), chain(link, uses));
            assert!(messages.contains("goes through too many other symbols"), "{messages:.2000}");
        }
    }
}

#[test]
fn chains_that_people_write_are_values() {
    let links: String = (0..500).map(|i| format!(".set a{i}, a{}+1\n", i + 1)).collect();
    let text = format!("{links}.set a500, 5\n.long a0\n");
    let output = assemble(&options(OutputType::Obj), "chain.s", text.into_bytes());
    assert!(!output.failed());
    let bytes = wavemill_asm::elf::write(&output).unwrap();
    assert!(bytes.windows(4).any(|w| w == 505u32.to_le_bytes()));
}

#[test]
fn include_bombs_end() {
    let directory = scratch("bomb");
    for level in 0..7 {
        let line = format!(".include \"level{}.s\"\n", level + 1);
        std::fs::write(directory.join(format!("level{level}.s")), line.repeat(10)).unwrap();
    }
    std::fs::write(directory.join("level7.s"), "\n").unwrap();
    let mut options = options(OutputType::Obj);
    options.include_paths.push(directory);
    let messages = refused(&options, ".include \"level0.s\"\n".into());
    assert!(messages.contains("more than 50000 files are included"), "{messages:.2000}");
}

#[test]
fn a_small_source_has_no_large_output() {
    let directory = scratch("incbin");
    std::fs::write(directory.join("data"), vec![1; 64 << 20]).unwrap();
    let mut options = options(OutputType::Obj);
    options.include_paths.push(directory);
    let messages = refused(&options, ".incbin \"data\"\n".repeat(100));
    assert!(messages.contains("incbin file 'data' is too large"), "{messages:.2000}");
}

#[test]
fn a_confined_source_reads_below_its_directory_only() {
    let directory = scratch("confined");
    let inside = directory.join("inside");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::write(directory.join("secret"), "secret").unwrap();
    std::fs::write(inside.join("open"), "open").unwrap();
    let link = inside.join("link");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink("../secret", &link).unwrap();
    let mut options = options(OutputType::Obj);
    options.include_paths.push(inside.clone());
    options.confine = Some(inside.clone());
    let output = assemble(&options, "k.s", b".incbin \"open\"\n".to_vec());
    assert!(!output.failed());
    let absolute = directory.join("secret").display().to_string();
    for file in ["../secret", "link", &absolute, "/etc/passwd"] {
        for directive in ["include", "incbin"] {
            let messages = refused(&options, format!(".{directive} \"{file}\"\n"));
            let expected =
                format!("{directive} file '{file}' does not lie below the directory of the source");
            assert!(messages.contains(&expected), "{messages}");
        }
    }
}

#[test]
fn sections_at_the_end_of_addresses_are_shown() {
    use wavemill_asm::objdump::{Objdump, Part};
    let objdump = Objdump::new(Target::new(processor("gfx900").unwrap()), 5);
    // s_branch to itself and s_endpgm, of which the last bytes have no address.
    let code: Vec<u8> = [0xbf82_ffffu32, 0xbf81_0000].iter().flat_map(|w| w.to_le_bytes()).collect();
    for short in 0..16 {
        let base = u64::MAX - short;
        let part = Part {
            name: ".text",
            base,
            code: &code,
            labels: &[],
            symbolize: true,
            zeros: false,
            patched: &[],
        };
        let mut text = Vec::new();
        objdump.section(&part, None, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.contains("s_branch"), short >= 4, "{base:#x}: {text}");
        assert_eq!(text.contains("s_endpgm"), short >= 8, "{base:#x}: {text}");
    }
}

#[test]
fn a_sign_before_a_float_is_no_exponent() {
    use wavemill_asm::clrx;
    for number in ["+1.0", "+", "-", "--1.0", "1e+", "0x+1p1"] {
        let text = format!(".amdcl2\n.gpu Fiji\n.64bit\n.kernel k\n.config\n.text\n.float {number}\n");
        let output = clrx::assemble(&clrx::Options::default(), "k.s", text.into_bytes());
        assert!(output.binary.is_some() || !output.render_diagnostics().is_empty(), "{number}");
    }
}

/// A linked file of the fixtures, changed before its source is made.
fn restored(name: &str, kernel: Option<&str>, change: impl Fn(&mut Vec<u8>)) -> String {
    use wavemill_object::read::File;
    let objects = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../object/tests/fixtures/objects");
    let mut bytes = std::fs::read(objects.join(name)).unwrap();
    change(&mut bytes);
    let file = File::parse(&bytes).unwrap();
    wavemill_asm::restore::source(&file, Target::new(processor("gfx90a").unwrap()), kernel).unwrap()
}

/// Where the header of a section begins, in a file of 64 bits.
fn section_header(bytes: &[u8], number: usize) -> usize {
    let table = u64::from_le_bytes(bytes[0x28..0x30].try_into().unwrap()) as usize;
    table + 64 * number
}

#[test]
fn a_section_that_goes_beyond_the_last_address_holds_no_others() {
    let plain = restored("link.so", None, |_| {});
    let changed = restored("link.so", None, |bytes| {
        let padding = section_header(bytes, 12);
        bytes[padding + 0x10..][..8].copy_from_slice(&(u64::MAX - 15).to_le_bytes());
        bytes[padding + 0x20..][..8].copy_from_slice(&(1u64 << 40).to_le_bytes());
    });
    assert_eq!(plain, changed);
}

#[test]
fn two_kernels_of_a_name_with_sizes_of_their_own() {
    let text = restored("v5-gfx90a.so", Some("count"), |bytes| {
        let is_table = |n: &usize| bytes[section_header(bytes, *n) + 4] == 2;
        let table = section_header(bytes, (0..30).find(is_table).unwrap());
        let at = u64::from_le_bytes(bytes[table + 0x18..][..8].try_into().unwrap()) as usize;
        // `axpy` is called `count`, too, and ends within an instruction; `count` ends nowhere.
        let (axpy, count) = (at + 24 * 5, at + 24 * 7);
        bytes.copy_within(count..count + 4, axpy);
        bytes[axpy + 16..][..8].copy_from_slice(&6u64.to_le_bytes());
        bytes[count + 16..][..8].copy_from_slice(&u64::MAX.to_le_bytes());
    });
    assert_eq!(text.matches("\ncount:\n").count(), 2, "{text}");
    assert!(text.contains("s_endpgm"), "{text}");
}
