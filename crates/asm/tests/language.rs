//! The lexer, expressions and the object model, where text alone does not show what happens.

use wavemill_asm::lex::{Lexer, Tok, parse_hex_single, parse_real};
use wavemill_asm::object::{Object, RelocationTarget};
use wavemill_asm::{Options, Output, OutputType, assemble};
use wavemill_isa::Target;
use wavemill_isa::target::processor;

fn options() -> Options {
    Options::new(Target::new(processor("gfx900").unwrap()))
}

fn kinds(text: &str) -> Vec<Tok> {
    let mut lexer = Lexer::new(text.as_bytes(), 0);
    let mut kinds = Vec::new();
    while lexer.kind() != Tok::Eof {
        kinds.push(lexer.bump().kind);
    }
    kinds
}

#[test]
fn tokens() {
    use Tok::*;
    assert_eq!(kinds("s_nop 0 ; x"), [Ident, Int, Eol]);
    assert_eq!(kinds("1f 1b 0b 0b1"), [Int, Ident, Int, Ident, Int, Ident, Int, Eol]);
    assert_eq!(kinds("1.5 .5 1. 1e5 0x1p3 1.5e-3"), [Real, Real, Real, Real, Real, Real, Eol]);
    assert_eq!(kinds(".5foo . .x"), [Ident, Dot, Ident, Eol]);
    assert_eq!(
        kinds("== != <= >= << >> <> && || ->"),
        [
            EqualEqual,
            ExclaimEqual,
            LessEqual,
            GreaterEqual,
            LessLess,
            GreaterGreater,
            LessGreater,
            AmpAmp,
            PipePipe,
            MinusGreater,
            Eol
        ]
    );
    assert_eq!(kinds("a@b@c #"), [Ident, Hash, Eol]);
    assert_eq!(kinds("# a\n# 12 \"f\"\n"), [Eol, HashDirective, Eol]);
    assert_eq!(
        kinds("0x10000000000000000 18446744073709551615 18446744073709551616"),
        [BigNum, Int, BigNum, Eol]
    );
    assert_eq!(kinds("\"a\\\"b\" \"open"), [Str, Error, Eol]);
}

#[test]
fn integers() {
    let text = "12 0x1F 0b101 017 'a' '\\n' 7ull 0xffffffffffffffff";
    let mut lexer = Lexer::new(text.as_bytes(), 0);
    for expected in [12, 31, 5, 15, 97, 10, 7, u64::MAX] {
        let token = lexer.bump();
        assert_eq!(lexer.int_value(token), expected);
    }
}

#[test]
fn reals_are_exact() {
    for (text, bits) in [
        ("1.5", 1.5f64.to_bits()),
        ("0x1p0", 1f64.to_bits()),
        ("0x.8p1", 1f64.to_bits()),
        ("0x1.fffffffffffff8p0", 2f64.to_bits()),
        ("0x1.00000000000008p0", 1f64.to_bits()),
        ("0x1.000000000000080000000000000000000000001p0", 1f64.to_bits() + 1),
        ("0x1p-1074", 1),
        ("0x1p-1075", 0),
        ("0x1.8p-1075", 1),
        ("0x1p1024", f64::INFINITY.to_bits()),
        ("0x1.fffffffffffff7p1023", f64::MAX.to_bits()),
        ("0x0p5", 0),
        ("1e", 1f64.to_bits()),
    ] {
        assert_eq!(parse_real(text).map(f64::to_bits), Some(bits), "{text}");
    }
    // Through a double this would round twice, and up.
    assert_eq!(parse_hex_single("0x1.00000100000001p0"), Some(1.0 + f32::EPSILON));
    assert_eq!(parse_hex_single("0x1.000001p0"), Some(1.0));
    assert_eq!(parse_hex_single("0x1p-149").map(f32::to_bits), Some(1));
    assert_eq!(parse_real("0x1"), None);
}

fn object(text: &str) -> Output {
    let options = Options { output: OutputType::Obj, ..options() };
    let output = assemble(&options, "-", text.as_bytes().to_vec());
    let messages = String::from_utf8_lossy(&output.render_diagnostics()).into_owned();
    assert!(!output.failed(), "{messages}");
    output
}

fn section<'o>(output: &'o Output, name: &str) -> &'o wavemill_asm::object::SectionData {
    let index = output.sections.iter().position(|s| &*s.name == name).unwrap();
    let object: &Object = output.object.as_ref().unwrap();
    &object.sections[index]
}

#[test]
fn layout() {
    let output = object(
        ".data\n\
         start: .long end-start, later\n\
         .balign 16, 5\n\
         later: .uleb128 end-later, 300\n\
         .org 40\n\
         .fill 2, 3, 0x010203\n\
         .subsection 1\n\
         .byte 0xee\n\
         .subsection 0\n\
         end:\n",
    );
    let data = section(&output, ".data");
    let expected =
        [&[46, 0, 0, 0, 16, 0, 0, 0][..], &[5; 8], &[30, 0xac, 2], &[0; 21], &[3, 2, 1, 3, 2, 1], &[0xee]]
            .concat();
    assert_eq!(data.data, expected);
    assert_eq!(data.align, 16);
    // The address of a local symbol is one in its section.
    assert_eq!(data.relocations.len(), 1);
    assert!(matches!(data.relocations[0].target, RelocationTarget::Section(_)));
}

#[test]
fn distances_are_known_while_reading() {
    let output = object("a: .zero 5\nb:\n.if b-a == 5\n.byte 1\n.else\n.error \"no\"\n.endif\n");
    assert_eq!(section(&output, ".text").data, [0, 0, 0, 0, 0, 1]);
}

#[test]
fn addends_depend_on_the_system() {
    let text = ".data\n.quad outside+5\n";
    let output = object(text);
    let data = section(&output, ".data");
    assert_eq!((data.data[0], data.relocations[0].addend), (5, 0));
    let options = Options { output: OutputType::Obj, os: wavemill_asm::Os::AmdHsa, ..options() };
    let output = assemble(&options, "-", text.as_bytes().to_vec());
    let data = section(&output, ".data");
    assert_eq!((data.data[0], data.relocations[0].addend), (0, 5));
}

#[test]
fn errors_that_show_at_the_end() {
    for (text, message) in [
        (".byte 1\n.org 0\n", "invalid .org offset"),
        (".fill nowhere, 1\n", "expected assembly-time absolute expression"),
        (".uleb128 nowhere\n", "expression is not absolute"),
        (".long a-b\n", "can not be undefined in a subtraction"),
        (".bss\n.byte 1\n", "cannot have non-zero initializers"),
        (".long .Lnowhere\n", "Undefined temporary symbol"),
        ("a: .long a*2\n", "expected relocatable expression"),
    ] {
        let options = Options { output: OutputType::Obj, ..options() };
        let output = assemble(&options, "-", text.as_bytes().to_vec());
        let messages = String::from_utf8_lossy(&output.render_diagnostics()).into_owned();
        assert!(output.failed() && messages.contains(message), "{text}: {messages}");
    }
}

#[test]
fn misspelt_directives_are_guessed() {
    let output = assemble(&options(), "-", b".glolb x\n".to_vec());
    let messages = String::from_utf8_lossy(&output.render_diagnostics()).into_owned();
    assert_eq!(messages, "<stdin>:1:1: error: unknown directive, did you mean: .globl?\n.glolb x\n^\n");
}

#[test]
fn call_frames() {
    let text = ".cfi_sections .debug_frame\n.cfi_startproc\n.zero 8\n.cfi_def_cfa 32, 8\n\
                .cfi_offset 33, -8\n.zero 4\n.cfi_endproc\n";
    let options = Options { output: OutputType::Obj, os: wavemill_asm::Os::AmdHsa, ..options() };
    let output = assemble(&options, "-", text.as_bytes().to_vec());
    let frames = section(&output, ".debug_frame");
    // As llvm-mc writes them.
    let expected = [
        0x0c, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0x04, 0x00, 0x08, 0x00, 0x04, 0x04, 0x10, 0x00, 0x1c,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x42, 0x0c, 0x20, 0x08, 0x11, 0x21, 0x7e, 0x00,
    ];
    assert_eq!(frames.data, expected);
    assert_eq!(frames.relocations.len(), 2);
}
