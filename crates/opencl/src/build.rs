//! From OpenCL C, bitcode and binaries to code objects.

use crate::device::Device;
use std::sync::Arc;
use wavemill_compile::clang::{self, Job, Language, Output};
use wavemill_compile::{directory::Directory, source};
use wavemill_device::loader;
use wavemill_object::bundle;
use wavemill_object::read::File;

/// What an attempt has come to: bytes or nothing, and what compilers said.
pub struct Attempt {
    pub made: Option<Vec<u8>>,
    pub log: String,
}

impl Attempt {
    fn failed(log: String) -> Attempt {
        Attempt { made: None, log }
    }
}

/// Options for a compiler or linker, taken apart.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Options {
    /// For clang.
    pub words: Vec<String>,
    /// A library is wanted of the linker, not an executable.
    pub library: bool,
    /// All work-groups have the same size.
    pub uniform: bool,
    /// It is OpenCL C 3.0, whose features are choices.
    pub choices: bool,
}

impl Options {
    /// Words for clang, with the device's features where they are choices: clang knows few of AMD's GPUs', and its header
    /// goes by the macros.
    fn words(&self, device: &Device) -> Vec<String> {
        let mut words = self.words.clone();
        if self.choices {
            let features = device.features();
            let all: Vec<String> = features.iter().map(|f| format!("+{f}")).collect();
            words.extend(["-Xclang".into(), format!("-cl-ext={}", all.join(","))]);
            // What clang defines itself may be defined again.
            words.push("-Wno-macro-redefined".into());
            words.extend(features.iter().map(|f| format!("-D{f}=1")));
        }
        words
    }
}

/// Options that stand alone and mean the same to clang.
const PLAIN: [&str; 13] = [
    "-cl-single-precision-constant",
    "-cl-denorms-are-zero",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-opt-disable",
    "-cl-strict-aliasing",
    "-cl-mad-enable",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
    "-cl-kernel-arg-info",
    "-w",
    "-Werror",
];

/// Options that clang has no word for, and that ask for nothing we do not do anyway.
const NEEDLESS: [&str; 3] = ["-cl-no-subgroup-ifp", "-enable-link-options", "-g"];

impl Options {
    /// Reads options; `None` if one of them is unknown.
    pub fn parse(text: &str) -> Option<Options> {
        let mut options = Options { uniform: true, ..Options::default() };
        let mut version = "CL1.2".to_owned();
        let mut words = split(text).into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-create-library" => options.library = true,
                "-cl-uniform-work-group-size" => options.words.push(word),
                "-D" | "-I" | "-U" | "-include" => options.words.extend([word, words.next()?]),
                // Lines of faults need what it adds, and that is there.
                w if NEEDLESS.contains(&w) => {}
                w if PLAIN.contains(&w) => options.words.push(word),
                w if w.starts_with("-cl-std=") => version = w["-cl-std=".len()..].to_owned(),
                w if ["-D", "-I", "-U", "-O", "-W", "-f", "-m", "-cl-ext="]
                    .iter()
                    .any(|p| w.starts_with(p)) =>
                {
                    options.words.push(word);
                }
                _ => return None,
            }
        }
        if ![
            "CL1.0",
            "CL1.1",
            "CL1.2",
            "CL2.0",
            "CL3.0",
            "clc++",
            "CLC++",
            "clc++1.0",
            "CLC++1.0",
            "clc++2021",
            "CLC++2021",
        ]
        .contains(&version.as_str())
        {
            return None;
        }
        options.uniform =
            version.starts_with("CL1") || options.words.iter().any(|w| w == "-cl-uniform-work-group-size");
        options.choices = version == "CL3.0";
        // clang knows the first version by a name without its number.
        let version = if version == "CL1.0" { "CL" } else { &version };
        options.words.push(format!("-cl-std={version}"));
        Some(options)
    }
}

/// Words of a line; quotes and backslashes keep blanks.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (_, '\\') if chars.peek().is_some_and(|n| matches!(n, '"' | '\\' | ' ')) => {
                word.get_or_insert_default().extend(chars.next());
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn run(text: &[u8], device: &Device, options: &[String], output: Output, modules: &[&[u8]]) -> Attempt {
    let gpu = device.gpu.device.target().cpu.name;
    let job = Job {
        name: "-",
        source: text,
        language: Language::OpenCl,
        gpu,
        options,
        output,
        modules,
        colour: false,
    };
    match clang::compile(&job) {
        Ok(compiled) => Attempt { made: Some(compiled.output), log: compiled.messages },
        Err(failure) => Attempt::failed(failure.messages + &failure.reason + "\n"),
    }
}

/// Compiles a source to a module. Headers lie where the compiler finds them.
pub fn compile(text: &[u8], device: &Device, options: &Options, headers: &[(String, Vec<u8>)]) -> Attempt {
    let mut words = options.words(device);
    let mut kept = None;
    if !headers.is_empty() {
        let write = || -> std::io::Result<Directory> {
            let directory = Directory::new()?;
            for (name, text) in headers {
                let path = directory.path().join(name.trim_start_matches('/'));
                if let Some(parent) = path.parent() {
                    std::fs::create_dir_all(parent)?;
                }
                std::fs::write(path, text)?;
            }
            Ok(directory)
        };
        match write() {
            Ok(directory) => {
                words.extend(["-I".into(), directory.path().display().to_string()]);
                kept = Some(directory);
            }
            Err(e) => return Attempt::failed(format!("headers cannot be written: {e}\n")),
        }
    }
    let attempt = run(text, device, &words, Output::Bitcode, &[]);
    drop(kept);
    attempt
}

/// Joins modules: to a library, which is a module, or to a code object.
pub fn link(modules: &[&[u8]], device: &Device, options: &Options) -> Attempt {
    match options.library {
        true => run(b"", device, &options.words(device), Output::Bitcode, modules),
        false => assemble(run(b"", device, &options.words(device), Output::Assembly, modules)),
    }
}

/// A source all the way to a code object.
pub fn build(text: &[u8], device: &Device, options: &Options) -> Attempt {
    assemble(run(text, device, &options.words(device), Output::Assembly, &[]))
}

/// Assembles what the compiler has written, for the target that it names.
fn assemble(attempt: Attempt) -> Attempt {
    let Attempt { made: Some(text), log } = attempt else { return attempt };
    let object = source::assemble("the program", text, None, None)
        .and_then(|made| loader::linked("the program", made.object).map_err(|e| e.to_string()));
    match object {
        Ok(object) => Attempt { made: Some(object), log },
        Err(message) => {
            let hint = clang::hint(&message).map_or(String::new(), |h| format!("{h}\n"));
            Attempt::failed(log + &message + "\n" + &hint)
        }
    }
}

/// What a binary is.
pub enum Binary {
    /// A code object that the device can load.
    Executable(Vec<u8>),
    /// A module of bitcode.
    Module(Vec<u8>),
}

/// The part of a binary that is for a device.
pub fn binary(data: &[u8], device: &Arc<Device>) -> Option<Binary> {
    if data.starts_with(b"BC\xc0\xde") {
        return Some(Binary::Module(data.to_vec()));
    }
    let target = device.gpu.device.target();
    let objects = bundle::code_objects(data).ok()?;
    // Code for the GPU itself is better than code for all of its generation.
    let fits = |o: &&bundle::CodeObject<'_>| {
        let file = File::parse(&o.data).ok()?;
        let (_, made_for) = loader::target_of(&file).ok()?;
        target.cpu.runs(made_for.cpu).then_some(made_for.cpu.name == target.cpu.name)
    };
    let best = objects.iter().filter(|o| fits(o).is_some()).max_by_key(fits)?;
    Some(Binary::Executable(best.data.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_taken_apart() {
        let parse = |text: &str| Options::parse(text).map(|o| (o.words.join("|"), o.uniform, o.library));
        assert_eq!(parse(""), Some(("-cl-std=CL1.2".into(), true, false)));
        assert_eq!(
            parse("-D 'A=b c' -I/x -cl-std=CL2.0 -cl-mad-enable"),
            Some(("-D|A=b c|-I/x|-cl-mad-enable|-cl-std=CL2.0".into(), false, false))
        );
        assert_eq!(parse("-create-library -w"), Some(("-w|-cl-std=CL1.2".into(), true, true)));
        assert_eq!(parse(r#"-DX=\"a\ b\""#), Some((r#"-DX="a b"|-cl-std=CL1.2"#.into(), true, false)));
        for wrong in ["-o x", "file.cl", "-cl-std=CL4.0", "-D", "--help"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
