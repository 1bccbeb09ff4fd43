//! OpenCL C, HIP and LLVM's IR, compiled with the clang that is there.
//!
//! clang writes assembly, which is then ours to assemble and link: nothing else of LLVM is needed. What it wrote is kept,
//! with its messages, under a name made of the source, the command line and the compiler, and used again as long as none
//! of the files that it read has changed. OpenCL programs that are compiled in parts have a module of bitcode for each,
//! which a second call joins with the device library.

use crate::cache;
use crate::directory::Directory;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A language that clang compiles for AMD GPUs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// OpenCL C.
    OpenCl,
    /// HIP.
    Hip,
    /// LLVM's IR, as text or bitcode.
    Ir,
    /// What [`crate::spirv`] makes of SPIR-V: LLVM's IR with types on its pointers.
    SpirV,
}

impl Language {
    /// What clang's -x calls it.
    fn name(self) -> &'static str {
        match self {
            Language::OpenCl => "cl",
            Language::Hip => "hip",
            Language::Ir | Language::SpirV => "ir",
        }
    }

    /// What people call it, and the packages of Debian that have what it needs.
    fn needs(self) -> (&'static str, &'static str) {
        match self {
            Language::OpenCl => ("OpenCL C", "clang rocm-device-libs"),
            Language::Hip => ("HIP", "hipcc libamdhip64-dev rocm-device-libs"),
            Language::Ir => ("LLVM's IR", "clang"),
            Language::SpirV => ("SPIR-V", "clang-15 llvm-spirv-15"),
        }
    }
}

/// What clang shall write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// Assembly of all that the kernels need.
    Assembly,
    /// A module of bitcode, to be joined with others; the device library is not in it.
    Bitcode,
}

/// What to compile.
pub struct Job<'a> {
    /// The source's name, for messages; `-` for what is only in memory, or was standard input.
    pub name: &'a str,
    /// Its text.
    pub source: &'a [u8],
    /// Its language.
    pub language: Language,
    /// The processor.
    pub gpu: &'a str,
    /// Further options for clang.
    pub options: &'a [String],
    /// What to write.
    pub output: Output,
    /// Modules of bitcode that are to be joined with it, as files of the format that [`Output::Bitcode`] has.
    pub modules: &'a [&'a [u8]],
    /// Messages may be coloured.
    pub colour: bool,
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiled {
    /// The assembly or bitcode.
    pub output: Vec<u8>,
    /// What the compiler said.
    pub messages: String,
    /// Where it lay, if it had been compiled before.
    pub kept: Option<PathBuf>,
}

/// Why nothing came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What the compiler said.
    pub messages: String,
    /// What is wrong, and what to do about it.
    pub reason: String,
}

impl Failure {
    fn new(reason: String) -> Failure {
        Failure { messages: String::new(), reason }
    }
}

/// The commands for a shell, a line each, without the files that only exist while they run.
pub fn command(job: &Job<'_>) -> Result<String, String> {
    let Some((first, second)) = steps(job) else { return step_command(job) };
    Ok(format!("{}\n{}", step_command(&first)?, step_command(&second)?))
}

fn step_command(job: &Job<'_>) -> Result<String, String> {
    let clang = clang(job.language)?;
    let mut words = options(job, &clang);
    words.push(job.name.into());
    let shown: Vec<String> = words.iter().map(|w| quoted(&w.to_string_lossy())).collect();
    Ok(format!("{} {}", quoted(&clang.display().to_string()), shown.join(" ")))
}

/// The two steps that kernels of OpenCL C which print take: the device library has a printf of its own, which prints
/// nothing, so that calls must be lowered before the library is there. The second one joins what the first one makes.
fn steps<'a>(job: &Job<'a>) -> Option<(Job<'a>, Job<'a>)> {
    let prints = job.language == Language::OpenCl && job.source.windows(6).any(|w| w == b"printf");
    let two = (Job { output: Output::Bitcode, ..*job }, Job { name: "-", source: b"", ..*job });
    (prints && job.output == Output::Assembly).then_some(two)
}

/// Compiles a source.
pub fn compile(job: &Job<'_>) -> Result<Compiled, Failure> {
    let Some((first, second)) = steps(job) else { return step(job) };
    let module = step(&first)?;
    let joined = step(&Job { modules: &[&module.output], ..second }).map_err(|failure| {
        let reason = failure.reason.replacen('-', job.name, 1);
        Failure { messages: module.messages.clone() + &failure.messages, reason }
    })?;
    let kept = joined.kept.filter(|_| module.kept.is_some());
    Ok(Compiled { messages: module.messages + &joined.messages, kept, ..joined })
}

/// Calls clang once, unless it has been called so before.
fn step(job: &Job<'_>) -> Result<Compiled, Failure> {
    let clang = clang(job.language).map_err(Failure::new)?;
    let mut words = options(job, &clang);
    // The source comes from standard input if it came so to us.
    words.push(job.name.into());
    let kept = kept(job, &clang, &words);
    if let Some(found) = kept.as_ref().and_then(|k| k.look_up()) {
        return Ok(found);
    }
    let directory = Directory::new().map_err(|e| Failure::new(format!("no temporary directory: {e}")))?;
    let (output, list) = (directory.path().join("k.s"), directory.path().join("k.d"));
    let mut command = Command::new(&clang);
    command.args(&words);
    let failed = |e: std::io::Error| Failure::new(format!("{}: {e}", clang.display()));
    if !job.modules.is_empty() {
        for (i, module) in job.modules.iter().enumerate() {
            let path = directory.path().join(format!("{i}.bc"));
            std::fs::write(&path, module).map_err(failed)?;
            command.args(["-Xclang", "-mlink-bitcode-file", "-Xclang"]).arg(path);
        }
        // The library comes behind what needs it, so that the driver, which puts it first, does not add it.
        for path in libraries(&clang, &words).map_err(failed)? {
            command.args(["-Xclang", "-mlink-builtin-bitcode", "-Xclang"]).arg(path);
        }
        command.arg("-nogpulib");
    }
    command.arg("-o").arg(&output);
    if !matches!(job.language, Language::Ir | Language::SpirV) {
        // IR includes nothing, and clang says so.
        command.arg("-MD").arg("-MF").arg(&list);
    }
    let done = feed(command, job).map_err(failed)?;
    let messages = String::from_utf8_lossy(&done.stderr).into_owned();
    let said = |how: &str| {
        let (_, packages) = job.language.needs();
        let missing = ["cannot find ROCm", "file not found", "cannot find HIP"];
        let hint = match missing.iter().any(|m| messages.contains(m)) {
            true => format!("; on Debian or Ubuntu, `apt install {packages}` has what is missing"),
            false => String::new(),
        };
        let reason = format!("{}: {} {how}{hint}", job.name, clang.display());
        Failure { messages: messages.clone(), reason }
    };
    if !done.status.success() {
        return Err(said("could not compile it"));
    }
    let text = std::fs::read(&output).map_err(|_| said("has written nothing"))?;
    if let Some(kept) = kept {
        let read = std::fs::read_to_string(&list).unwrap_or_default();
        kept.keep(&text, &done.stderr, &read, job.name);
    }
    Ok(Compiled { output: text, messages, kept: None })
}

/// The device library's files, as clang's driver would link them.
fn libraries(clang: &Path, words: &[OsString]) -> std::io::Result<Vec<String>> {
    let shown = Command::new(clang).arg("-###").args(words).stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&shown.stderr).into_owned();
    // Every word of the command is in quotes.
    let all: Vec<&str> = text.split('"').skip(1).step_by(2).collect();
    let pairs = all.windows(2).filter(|w| w[0] == "-mlink-builtin-bitcode");
    Ok(pairs.map(|w| w[1].to_owned()).collect())
}

/// Runs clang; the source comes from its file, or from us if there is none.
fn feed(mut command: Command, job: &Job<'_>) -> std::io::Result<std::process::Output> {
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    if job.name != "-" {
        return command.stdin(Stdio::null()).output();
    }
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        use std::io::Write;
        // A compiler that stops reading says why itself.
        let _ = input.write_all(job.source);
    }
    child.wait_with_output()
}

/// clang's options without files.
fn options(job: &Job<'_>, clang: &Path) -> Vec<OsString> {
    let mut words: Vec<String> = vec!["-x".into(), job.language.name().into()];
    if job.language == Language::Hip {
        words.extend([
            format!("--offload-arch={}", job.gpu),
            "--cuda-device-only".into(),
            "-std=c++17".into(),
        ]);
    } else {
        words.extend(["--target=amdgcn-amd-amdhsa".into(), format!("-mcpu={}", job.gpu)]);
    }
    if job.language == Language::OpenCl {
        words.extend(
            ["-cl-std=CL2.0", "-cl-kernel-arg-info", "-Xclang", "-finclude-default-header"].map(String::from),
        );
    }
    // Arguments can be given by name.
    words.extend(["-O2", "-gline-tables-only", "-fno-discard-value-names"].map(String::from));
    match job.output {
        Output::Assembly => words.push("-S".into()),
        Output::Bitcode => {
            words.extend(["-c", "-emit-llvm", "-nogpulib"].map(String::from));
            // clang 15 and 16 lower printf only if pointers have types, and throw other calls away.
            if matches!(version(clang), Some(15 | 16)) {
                words.extend(["-Xclang", "-no-opaque-pointers"].map(String::from));
            }
        }
    }
    let libclc = libclc(clang).filter(|_| job.language == Language::OpenCl);
    if let Some(library) = libclc {
        // It knows the hidden arguments of that version.
        words.extend(["-nogpulib", "-mcode-object-version=4"].map(String::from));
        if job.output == Output::Assembly {
            let link = ["-Xclang", "-mlink-builtin-bitcode", "-Xclang"].map(String::from);
            words.extend(link.into_iter().chain([library.display().to_string()]));
        }
    } else if matches!(job.language, Language::Ir | Language::SpirV) {
        // The module names its own target; what differs is not worth a warning.
        words.extend(["-nogpulib", "-Wno-override-module"].map(String::from));
    } else {
        words.extend(device_library(clang).map(|d| format!("--rocm-device-lib-path={}", d.display())));
        // Debian's HIP is where everything else is.
        if job.language == Language::Hip && device_library(clang).is_some() {
            words.push("--rocm-path=/usr".into());
        }
    }
    if job.colour {
        words.push("-fcolor-diagnostics".into());
    }
    words.extend_from_slice(job.options);
    words.into_iter().map(OsString::from).collect()
}

/// The text of a module of bitcode, with types on its pointers.
pub(crate) fn text_of(bitcode: &Path) -> Result<String, Failure> {
    let clang = clang(Language::SpirV).map_err(Failure::new)?;
    let mut command = Command::new(&clang);
    command.args([
        "-x",
        "ir",
        "--target=spir64",
        "-S",
        "-emit-llvm",
        "-Wno-override-module",
        "-fno-discard-value-names",
    ]);
    command
        .args(["-Xclang", "-disable-llvm-passes", "-Xclang", "-no-opaque-pointers", "-o", "-"])
        .arg(bitcode);
    let failed = |e: std::io::Error| Failure::new(format!("{}: {e}", clang.display()));
    let done = command.stdin(Stdio::null()).output().map_err(failed)?;
    if !done.status.success() {
        let messages = String::from_utf8_lossy(&done.stderr).into_owned();
        return Err(Failure { messages, reason: format!("{} could not read the module", clang.display()) });
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The compiler's major version.
fn version(clang: &Path) -> Option<u32> {
    let said = Command::new(clang).arg("-dumpversion").stdin(Stdio::null()).output().ok()?;
    String::from_utf8_lossy(&said.stdout).split('.').next()?.trim().parse().ok()
}

/// AMD's library of functions for kernels, where Debian has it; clang finds others itself.
fn device_library(clang: &Path) -> Option<PathBuf> {
    if clang.starts_with("/opt/rocm") || std::env::var_os("ROCM_PATH").is_some() {
        return None;
    }
    let places = ["/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "/usr/lib/aarch64-linux-gnu/amdgcn/bitcode"];
    places.iter().map(PathBuf::from).find(|p| p.is_dir())
}

/// LLVM's library of functions for OpenCL: the one that `$WAVEMILL_LIBCLC` names, or Debian's where AMD's is not there.
fn libclc(clang: &Path) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("WAVEMILL_LIBCLC") {
        return Some(PathBuf::from(named));
    }
    let rocm = clang.starts_with("/opt/rocm") || std::env::var_os("ROCM_PATH").is_some();
    let usual = PathBuf::from("/usr/lib/clc/amdgcn--amdhsa.bc");
    (!rocm && device_library(clang).is_none() && usual.is_file()).then_some(usual)
}

/// Whether OpenCL C gets LLVM's library, which has functions of OpenCL 1.2 only.
pub fn uses_libclc() -> bool {
    clang(Language::OpenCl).is_ok_and(|clang| libclc(&clang).is_some())
}

/// What helps where a program that was compiled calls a function that nobody has. Devices have images with either library,
/// since binaries may use them.
pub fn hint(message: &str) -> Option<&'static str> {
    (message.contains("undefined") && uses_libclc()).then_some(
        "LLVM's libclc, which OpenCL C gets here, has no functions for images, halves and sub-groups; AMD's device library has \
         (Debian: rocm-device-libs)",
    )
}

/// Whether there is a clang for a language.
pub fn available(language: Language) -> bool {
    clang(language).is_ok()
}

/// Finds clang: `$WAVEMILL_CLANG`, ROCm's, or one on the path; the plain name before versions, new ones before old ones.
fn clang(language: Language) -> Result<PathBuf, String> {
    // The one that is named may be too new for SPIR-V.
    let fits =
        |named: &OsString| language != Language::SpirV || version(Path::new(named)).is_none_or(|v| v <= 16);
    if let Some(named) = std::env::var_os("WAVEMILL_CLANG").filter(fits) {
        let path = PathBuf::from(&named);
        let found =
            if path.components().count() > 1 { path.is_file().then_some(path) } else { on_path(&path) };
        return found.ok_or_else(|| format!("WAVEMILL_CLANG={}: there is no such program", named.display()));
    }
    let rocm = std::env::var_os("ROCM_PATH").map_or_else(|| PathBuf::from("/opt/rocm"), PathBuf::from);
    let rocm = rocm.join("llvm/bin/clang");
    // Debian's HIP headers and device library are those of clang 15.
    let usual: &[&str] = match language {
        Language::Hip | Language::OpenCl => &["clang-15", "clang-16", "clang-17"],
        // Later ones know no types of pointers.
        Language::SpirV => &["clang-15", "clang-16", "clang-14"],
        Language::Ir => &[],
    };
    let others = std::iter::once("clang".to_owned()).chain((11..=25).rev().map(|v| format!("clang-{v}")));
    let names = others.filter(|_| language != Language::SpirV);
    let names = usual.iter().map(|s| s.to_string()).chain(names);
    let rocm_has = rocm.is_file() && language != Language::SpirV;
    let mut found = rocm_has.then_some(rocm).into_iter().chain(names.filter_map(|n| on_path(Path::new(&n))));
    found.next().ok_or_else(|| {
        let (what, packages) = language.needs();
        format!(
            "{what} is compiled with clang, and there is none here; on Debian or Ubuntu `apt install {packages}`, \
             or say where it is with WAVEMILL_CLANG"
        )
    })
}

/// A program by its name, where a shell finds it.
pub(crate) fn on_path(name: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|d| d.join(name)).find(|p| p.is_file())
}

/// A word as a shell would want it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./,:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A place in the cache for what one command makes of one source.
struct Kept {
    path: PathBuf,
    /// What it is made of. Names of places are no proof: a stranger's source can be written to have another's.
    key: Vec<u8>,
}

/// Where the result is kept, if there is a cache.
fn kept(job: &Job<'_>, clang: &Path, words: &[OsString]) -> Option<Kept> {
    let line: Vec<u8> = words.iter().flat_map(|w| [w.as_encoded_bytes(), b"\0"].concat()).collect();
    let clang = clang.canonicalize().ok()?;
    let facts = clang.metadata().ok()?;
    let compiler = format!("{} {} {:?}", clang.display(), facts.len(), facts.modified().ok()?);
    let here = std::env::current_dir().ok()?;
    let mut parts = vec![job.source, &line, compiler.as_bytes(), here.as_os_str().as_encoded_bytes()];
    parts.extend(job.modules);
    let path = cache::directory("compiled")?.join(cache::name_of(&parts));
    let key = parts.iter().flat_map(|part| [&part.len().to_le_bytes()[..], *part].concat()).collect();
    Some(Kept { path, key })
}

impl Kept {
    /// The kept result, if every file that the compiler has read is still the same.
    fn look_up(&self) -> Option<Compiled> {
        if std::fs::read(self.path.with_extension("key")).ok()? != self.key {
            return None;
        }
        let list = std::fs::read_to_string(self.path.with_extension("files")).ok()?;
        let same = |line: &str| {
            let (name, path) = line.split_once(' ')?;
            (cache::name_of(&[&std::fs::read(path).ok()?]) == name).then_some(())
        };
        list.lines().try_for_each(same)?;
        let output = std::fs::read(self.path.with_extension("s")).ok()?;
        let messages = std::fs::read_to_string(self.path.with_extension("messages")).ok()?;
        Some(Compiled { output, messages, kept: Some(self.path.with_extension("s")) })
    }

    /// Keeps a result. Where that fails, it is compiled again the next time.
    fn keep(&self, assembly: &[u8], messages: &[u8], rule: &str, source: &str) {
        let mut list = String::new();
        for path in dependencies(rule).iter().filter(|p| *p != source) {
            let Ok(bytes) = std::fs::read(path) else { return };
            list += &format!("{} {path}\n", cache::name_of(&[&bytes]));
        }
        let put = |what: &str, bytes: &[u8]| cache::replace(&self.path.with_extension(what), bytes);
        // Nobody finds old parts of it while it is replaced.
        let _ = std::fs::remove_file(self.path.with_extension("key"));
        let _ = put("s", assembly)
            .and_then(|()| put("messages", messages))
            .and_then(|()| put("files", list.as_bytes()))
            // Last, since it says that the others are there.
            .and_then(|()| put("key", &self.key));
    }
}

/// The files of a rule that a compiler has written for make.
fn dependencies(rule: &str) -> Vec<String> {
    let files = rule.split_once(": ").map_or("", |(_, files)| files).replace("\\\n", " ");
    // A blank in a name has a backslash before it.
    let files = files.replace("\\ ", "\u{1}");
    files.split_whitespace().map(|f| f.replace('\u{1}', " ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_make_are_read() {
        let rule = "k.s: k.cl \\\n  /usr/include/a.h my\\ dir/b.h\n";
        assert_eq!(dependencies(rule), ["k.cl", "/usr/include/a.h", "my dir/b.h"]);
        assert!(dependencies("").is_empty());
    }

    #[test]
    fn only_what_was_kept_for_it_is_found() {
        let directory = crate::directory::Directory::new().unwrap();
        let kept = |key: &[u8]| Kept { path: directory.path().join("name"), key: key.to_vec() };
        assert!(kept(b"mine").look_up().is_none());
        kept(b"mine").keep(b"s_endpgm", b"", "", "k.cl");
        assert_eq!(kept(b"mine").look_up().map(|c| c.output), Some(b"s_endpgm".to_vec()));
        assert!(kept(b"of a stranger, with the same name").look_up().is_none());
    }

    #[test]
    fn words_for_a_shell() {
        assert_eq!(quoted("--offload-arch=gfx90a"), "--offload-arch=gfx90a");
        assert_eq!(quoted("-DX=a b'c"), "'-DX=a b'\\''c'");
    }
}
