//! An action as a value: what is asked for, of what, and what came of it; and whether all that the result depends on is in it.

use crate::digest::{Digest, digest};
use crate::metadata::Node;
use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// `AMD_COMGR_STATUS_…`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Status(pub u32);

impl Status {
    /// All went well.
    pub const SUCCESS: Status = Status(0);
    /// Something went wrong.
    pub const ERROR: Status = Status(1);
    /// An argument is not valid.
    pub const INVALID_ARGUMENT: Status = Status(2);
}

/// Kinds of data (`AMD_COMGR_DATA_KIND_…`) that something is known about.
pub mod data {
    /// Source text.
    pub const SOURCE: u32 = 1;
    /// A precompiled header.
    pub const PRECOMPILED_HEADER: u32 = 3;
    /// What compilers say.
    pub const LOG: u32 = 5;
    /// LLVM's bitcode.
    #[cfg(test)]
    pub const BC: u32 = 6;
    /// An ELF file to link.
    pub const RELOCATABLE: u32 = 7;
    /// A linked one.
    pub const EXECUTABLE: u32 = 8;
}

/// Kinds of actions (`AMD_COMGR_ACTION_…`) whose results can be kept.
mod kind {
    pub const ADD_PRECOMPILED_HEADERS: u32 = 1;
    pub const COMPILE_SOURCE_TO_BC: u32 = 2;
    pub const ADD_DEVICE_LIBRARIES: u32 = 3;
    pub const LINK_BC_TO_BC: u32 = 4;
    pub const OPTIMIZE_BC_TO_BC: u32 = 5;
    pub const CODEGEN_BC_TO_RELOCATABLE: u32 = 6;
    pub const CODEGEN_BC_TO_ASSEMBLY: u32 = 7;
    pub const LINK_RELOCATABLE_TO_RELOCATABLE: u32 = 8;
    pub const LINK_RELOCATABLE_TO_EXECUTABLE: u32 = 9;
    pub const COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC: u32 = 15;
}

/// Whoever knows the answers: AMD's library, which is loaded when it is first asked.
pub trait Library {
    /// Does an action whose result set has some data `already`. These are numbered behind the inputs in what comes back.
    fn act(&self, action: &Action, already: &[Datum]) -> (Status, Vec<Product>);
    /// What is known about a target.
    fn target(&self, name: &CStr) -> Result<Node, Status>;
    /// The name of a code object's target, with the zero at its end.
    fn target_of(&self, object: &Datum) -> Result<Vec<u8>, Status>;
    /// The files that its answers come from.
    fn files(&self) -> Vec<PathBuf>;
}

/// Bytes, or where they come from: headers and libraries are parts of AMD's library, mostly large, and hardly ever looked at
/// by anybody but itself.
#[derive(Clone)]
pub struct Contents(Arc<Inner>);

struct Inner {
    digest: OnceLock<Digest>,
    bytes: OnceLock<Arc<[u8]>>,
    /// What makes them, and which product of it they are.
    origin: Option<(Arc<Later>, usize)>,
}

/// An action that is done again when somebody needs what came of it.
pub struct Later {
    action: Action,
    products: OnceLock<Vec<Product>>,
}

impl Later {
    /// An action that need not be done yet.
    pub fn new(action: Action) -> Later {
        Later { action, products: OnceLock::new() }
    }
}

impl Contents {
    /// These bytes.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Contents {
        Contents(Arc::new(Inner {
            digest: OnceLock::new(),
            bytes: OnceLock::from(bytes.into()),
            origin: None,
        }))
    }

    /// What an action makes as one of its products, and what it must be.
    pub fn later(digest: Digest, later: Arc<Later>, number: usize) -> Contents {
        let origin = Some((later, number));
        Contents(Arc::new(Inner { digest: OnceLock::from(digest), bytes: OnceLock::new(), origin }))
    }

    /// Their digest.
    pub fn digest(&self) -> Digest {
        *self.0.digest.get_or_init(|| digest(self.at_hand()))
    }

    /// Those that are at hand: none where they have to be made.
    pub fn at_hand(&self) -> &[u8] {
        self.0.bytes.get().map_or(&[], |b| &**b)
    }

    /// The bytes.
    pub fn bytes(&self, library: &dyn Library) -> Result<&Arc<[u8]>, Status> {
        if let Some(bytes) = self.0.bytes.get() {
            return Ok(bytes);
        }
        let (later, number) = self.0.origin.as_ref().ok_or(Status::ERROR)?;
        let products = later.products.get_or_init(|| library.act(&later.action, &[]).1);
        match products.get(*number) {
            Some(Product::New(Datum { contents: Some(made), .. })) if made.digest() == self.digest() => {
                let bytes = made.bytes(library)?;
                Ok(self.0.bytes.get_or_init(|| bytes.clone()))
            }
            _ => Err(Status::ERROR),
        }
    }
}

impl PartialEq for Contents {
    fn eq(&self, other: &Contents) -> bool {
        self.digest() == other.digest()
    }
}

impl Eq for Contents {}

impl std::fmt::Debug for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", crate::digest::text(&self.digest()))
    }
}

/// A data object's contents.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Datum {
    /// What it is.
    pub kind: u32,
    /// What it is called, if it has a name.
    pub name: Option<CString>,
    /// Its bytes, if they were ever set.
    pub contents: Option<Contents>,
}

/// How options were given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Options {
    /// As one text.
    Flat(CString),
    /// One by one.
    List(Vec<CString>),
}

/// What an action is to be done with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Info {
    /// The target.
    pub isa: Option<CString>,
    /// `AMD_COMGR_LANGUAGE_…`.
    pub language: u32,
    /// The compiler's options.
    pub options: Options,
    /// The working directory.
    pub path: Option<CString>,
    /// Whether a log is wanted.
    pub logging: bool,
    /// Entries of bundles, if they were given.
    pub bundle: Option<Vec<CString>>,
    /// Whether the device library is linked with, if that was said.
    pub device_libraries: Option<bool>,
}

impl Default for Info {
    fn default() -> Info {
        Info {
            isa: None,
            language: 0,
            options: Options::Flat(CString::default()),
            path: None,
            logging: false,
            bundle: None,
            device_libraries: None,
        }
    }
}

/// Something to be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Action {
    /// `AMD_COMGR_ACTION_…`.
    pub kind: u32,
    /// How.
    pub info: Info,
    /// What with.
    pub inputs: Vec<Datum>,
}

/// A part of a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Product {
    /// An input that was handed on, by its number.
    Input(usize),
    /// Something new.
    New(Datum),
}

/// Contents that are known to depend on nothing but what was in keys.
#[derive(Default)]
pub struct Known(HashSet<Digest>);

impl Known {
    /// Notes what came of an action that was understood.
    pub fn note(&mut self, products: &[Product]) {
        for product in products {
            if let Product::New(Datum { contents: Some(contents), .. }) = product {
                self.0.insert(contents.digest());
            }
        }
    }

    fn has(&self, datum: &Datum) -> bool {
        datum.contents.as_ref().is_some_and(|c| self.0.contains(&c.digest()))
    }
}

impl Action {
    /// What stands for the action and all that its result depends on; none where that is not known, as where a compiler may
    /// look into files. `surroundings` is which library does it, and where.
    pub fn key(&self, surroundings: &[u8], known: &Known) -> Option<Digest> {
        if !self.is_understood(known) {
            return None;
        }
        let mut all = Vec::new();
        // Each part has its length before it, so that none can be mistaken for two.
        let mut add = |part: &[u8]| {
            all.extend_from_slice(&(part.len() as u64).to_le_bytes());
            all.extend_from_slice(part);
        };
        let optional = |text: &Option<CString>| match text {
            Some(text) => text.as_bytes_with_nul().to_vec(),
            None => Vec::new(),
        };
        add(surroundings);
        let Info { isa, language, options, path, logging, bundle, device_libraries } = &self.info;
        let linking = device_libraries.map_or(2, u32::from);
        for number in [self.kind, *language, u32::from(*logging), linking] {
            add(&number.to_le_bytes());
        }
        add(&optional(isa));
        add(&optional(path));
        let list = match options {
            Options::Flat(text) => {
                add(b"flat");
                std::slice::from_ref(text)
            }
            Options::List(list) => {
                add(b"list");
                list
            }
        };
        for list in [Some(list), bundle.as_deref()] {
            add(&list.map_or(u64::MAX, |l| l.len() as u64).to_le_bytes());
            list.unwrap_or_default().iter().for_each(|text| add(text.as_bytes()));
        }
        for datum in &self.inputs {
            add(&datum.kind.to_le_bytes());
            add(&optional(&datum.name));
            match &datum.contents {
                Some(contents) => add(&contents.digest()),
                None => add(b""),
            }
        }
        Some(digest(&all))
    }

    /// Whether it hands its inputs on, with parts of AMD's library: then large products can be had again at any time.
    pub fn adds(&self) -> bool {
        matches!(self.kind, kind::ADD_PRECOMPILED_HEADERS | kind::ADD_DEVICE_LIBRARIES)
    }

    fn is_understood(&self, known: &Known) -> bool {
        let inputs = match self.kind {
            // Whatever their inputs are.
            _ if self.adds() => true,
            kind::COMPILE_SOURCE_TO_BC | kind::COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC => {
                self.inputs.iter().all(|i| match i.kind {
                    data::SOURCE => i.contents.as_ref().is_some_and(|c| is_closed(c.at_hand())),
                    data::PRECOMPILED_HEADER => known.has(i),
                    data::LOG => true,
                    _ => false,
                })
            }
            // Assembly within bitcode can name files, which is not looked for: it has to come from a source that does not.
            kind::LINK_BC_TO_BC
            | kind::OPTIMIZE_BC_TO_BC
            | kind::CODEGEN_BC_TO_RELOCATABLE
            | kind::CODEGEN_BC_TO_ASSEMBLY
            | kind::LINK_RELOCATABLE_TO_RELOCATABLE
            | kind::LINK_RELOCATABLE_TO_EXECUTABLE => {
                self.inputs.iter().all(|i| i.kind == data::LOG || known.has(i))
            }
            _ => false,
        };
        let words = matches!(self.kind, kind::ADD_DEVICE_LIBRARIES | kind::LINK_BC_TO_BC);
        inputs
            && match &self.info.options {
                Options::Flat(text) => text.is_empty(),
                Options::List(list) => {
                    let mut list = list.iter().map(|option| option.to_str().unwrap_or("?"));
                    while let Some(option) = list.next() {
                        if !is_harmless(option, &mut list, words) {
                            return false;
                        }
                    }
                    true
                }
            }
    }
}

/// Whether a source names no file, and does not look at the time: none of the words with which it could is in it.
fn is_closed(source: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(source) else { return false };
    // A backslash at a line's end continues it, also within a word; `??/` once was a backslash.
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let behind = rest[at + 1..].trim_start_matches([' ', '\t', '\r', '\x0b', '\x0c']);
        joined.push_str(&rest[..at]);
        rest = match behind.strip_prefix('\n') {
            Some(next) => next,
            None => {
                joined.push('\\');
                &rest[at + 1..]
            }
        };
    }
    joined.push_str(rest);
    let words =
        ["include", "import", "embed", "asm", "incbin", "module", "__TIME", "__DATE", "__FILE", "??/"];
    words.iter().all(|word| !joined.contains(word))
}

/// Whether an option names no file. Those that are not known may.
fn is_harmless<'a>(option: &str, next: &mut impl Iterator<Item = &'a str>, words: bool) -> bool {
    let of = |text: &str, more: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
    match option {
        "-Xclang" => next.next().is_some_and(|o| o.starts_with("-cl-ext=")),
        "-mllvm" => next.next().is_some_and(|o| o.starts_with("-amdgpu-") && of(o, "-_=,")),
        "-O0" | "-O1" | "-O2" | "-O3" | "-Os" | "-Ofast" | "-w" | "-ffast-math" | "-fgpu-rdc" => true,
        // cc1's, with the name of a file.
        _ if option.starts_with("-mlink") => false,
        _ => {
            let behind = |start: &str| option.strip_prefix(start).filter(|o| !o.is_empty());
            words && !option.starts_with('-') && of(option, "_")
                || behind("-D").or_else(|| behind("-U")).is_some()
                || behind("-cl-").is_some_and(|o| of(o, "-_=+.,"))
                || behind("-m").is_some_and(|o| of(o, "-_=+:."))
                || behind("-std=").is_some_and(|o| of(o, "+"))
                || behind("-W").is_some_and(|o| of(o, "-"))
                || behind("-fno-").is_some_and(|o| of(o, "-"))
                || behind("-ffp-contract=").is_some_and(|o| of(o, "-"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> CString {
        CString::new(text).expect("no zero")
    }

    fn datum(kind: u32, name: &str, bytes: &str) -> Datum {
        Datum { kind, name: Some(text(name)), contents: Some(Contents::new(bytes.as_bytes())) }
    }

    fn compile(source: &str, options: &[&str]) -> Action {
        let options = Options::List(options.iter().map(|o| text(o)).collect());
        let isa = Some(text("amdgcn-amd-amdhsa--gfx90a"));
        let info = Info { isa, language: 1, options, logging: true, ..Info::default() };
        Action { kind: kind::COMPILE_SOURCE_TO_BC, info, inputs: vec![datum(data::SOURCE, "a", source)] }
    }

    #[test]
    fn everything_that_counts_is_in_the_key() {
        let first = compile("kernel void k() {}", &["-O3", "-DA=1"]);
        let mut all = vec![first.clone()];
        let mut other = |change: &dyn Fn(&mut Action)| {
            let mut action = first.clone();
            change(&mut action);
            all.push(action);
        };
        other(&|a| a.kind = kind::COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC);
        other(&|a| a.info.language = 2);
        other(&|a| a.info.logging = false);
        other(&|a| a.info.isa = None);
        other(&|a| a.info.isa = Some(text("")));
        other(&|a| a.info.path = Some(text("/tmp")));
        other(&|a| a.info.bundle = Some(Vec::new()));
        other(&|a| a.info.device_libraries = Some(false));
        other(&|a| a.info.device_libraries = Some(true));
        other(&|a| a.info.options = Options::List(Vec::new()));
        other(&|a| a.info.options = Options::Flat(CString::default()));
        other(&|a| a.info.options = Options::List(vec![text("-O3"), text("-DA=2")]));
        other(&|a| a.info.options = Options::List(vec![text("-DA=1"), text("-O3")]));
        other(&|a| a.inputs[0] = datum(data::SOURCE, "b", "kernel void k() {}"));
        other(&|a| a.inputs[0] = datum(data::SOURCE, "a", "kernel void l() {}"));
        other(&|a| a.inputs[0].name = None);
        other(&|a| a.inputs.push(a.inputs[0].clone()));
        let key = |action: &Action, place: &str| action.key(place.as_bytes(), &Known::default());
        let mut keys: Vec<_> = all.iter().map(|a| key(a, "one")).collect();
        keys.push(key(&first, "another"));
        assert_eq!(key(&first, "one"), keys[0]);
        assert!(keys.iter().all(Option::is_some));
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn what_may_look_into_files_has_no_key() {
        let known = Known::default();
        let has = |source: &str, options: &[&str]| compile(source, options).key(b"", &known).is_some();
        assert!(has("", &["-Xclang", "-cl-ext=+cl_khr_fp64,+x", "-mllvm", "-amdgpu-prelink", "-mcumode"]));
        assert!(has("", &["-mcode-object-version=4", "-cl-std=CL2.0", "-Wall", "-fno-signed-zeros", "-UA"]));
        for options in [
            &["-I/tmp"] as &[&str],
            &["-I", "/tmp"],
            &["-include", "a.h"],
            &["@file"],
            &["/tmp/a.cl"],
            &["a.cl"],
            &["-Xclang", "-load"],
            &["-Xclang"],
            &["-mllvm", "-load=/tmp/a.so"],
            &["-mllvm", "-amdgpu-x=/tmp/a"],
            &["-mlink-builtin-bitcode", "a.bc"],
            &["-fplugin=a.so"],
            &["-fprofile-use=a"],
            &["--rocm-path=/opt"],
            &["-Wl,a"],
            &["-g"],
            &["-"],
            &[""],
        ] {
            assert!(!has("", options), "{options:?}");
        }
        for source in [
            "#include \"a\"",
            "#inc\\\nlude <a>",
            "#inc\\ \t\r\nlude <a>",
            "#inc??/\nlude <a>",
            "%:include <a>",
            "__has_include(<a>)",
            "#import <a>",
            "asm(\".inc\" \"bin\")",
            "__DATE__",
            "__TIMESTAMP__",
        ] {
            assert!(!has(source, &[]), "{source}");
        }
        assert!(has("#define A(x) \\\n x\nchar c = '\\n';", &[]));
        let mut action = compile("", &[]);
        action.info.options = Options::Flat(text("-O3"));
        assert_eq!(action.key(b"", &known), None);
        for kind in [0, 10, 11, 14, 16, 1000] {
            assert_eq!(Action { kind, ..compile("", &[]) }.key(b"", &known), None);
        }
    }

    #[test]
    fn bitcode_has_to_come_from_a_source_that_was_understood() {
        let mut known = Known::default();
        let mut link = compile("", &["wavefrontsize64"]);
        link.kind = kind::LINK_BC_TO_BC;
        link.inputs = vec![datum(data::BC, "a", "BC")];
        assert_eq!(link.key(b"", &known), None);
        known.note(&[Product::Input(0), Product::New(datum(data::BC, "other", "BC"))]);
        assert!(link.key(b"", &known).is_some());
        link.inputs.push(datum(data::BC, "b", "from elsewhere"));
        assert_eq!(link.key(b"", &known), None);
    }
}
