//! The command as it is installed: one file that carries its library, knows its version, and documents itself.

use crate::{guide, scratch, wavemill};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Says where the library is, and whether a program can load it: the loader complains about what it cannot preload.
const SCRIPT: &str = r#"echo "${LD_LIBRARY_PATH%%:*}"; LD_PRELOAD=libhsa-runtime64.so.1 /bin/true"#;

/// A copy of the command in a directory where nothing else is, and an empty cache beside it.
fn copied(name: &str) -> (PathBuf, PathBuf) {
    let directory = scratch(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(directory.join("bin")).unwrap();
    let copy = directory.join("bin/wavemill");
    // A link, as a file that is being written cannot be run, and other tests fork meanwhile.
    std::fs::hard_link(env!("CARGO_BIN_EXE_wavemill"), &copy).unwrap();
    (copy, directory.join("cache"))
}

fn exec(command: &Path, cache: &Path) -> (PathBuf, String) {
    let out = Command::new(command)
        .args(["exec", "--", "sh", "-c", SCRIPT])
        .env("WAVEMILL_CACHE", cache)
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{errors}");
    (PathBuf::from(String::from_utf8_lossy(&out.stdout).trim()), errors)
}

#[test]
fn a_copied_binary_brings_its_library() {
    let (command, cache) = copied("copied");
    let (first, errors) = exec(&command, &cache);
    assert_eq!(errors, "", "the library can be loaded");
    assert!(first.starts_with(cache.join("runtime")), "{}", first.display());
    let library = first.join("libhsa-runtime64.so.1");
    let time = library.metadata().unwrap().modified().unwrap();
    // A second time it is there already.
    assert_eq!(exec(&command, &cache), (first.clone(), String::new()));
    assert_eq!(library.metadata().unwrap().modified().unwrap(), time);
    // When it is a few seconds old, it is noted that it is the right one, and nothing is compared any more.
    let notes =
        || std::fs::read_dir(cache.join("runtime")).unwrap().flatten().filter(|e| e.path().is_file()).count();
    assert_eq!(notes(), 0);
    std::thread::sleep(std::time::Duration::from_millis(2100));
    for _ in 0..2 {
        assert_eq!(exec(&command, &cache), (first.clone(), String::new()));
        assert_eq!(notes(), 1);
    }
    // One that is damaged is not used, whatever the note says.
    let good = std::fs::read(&library).unwrap();
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    std::fs::write(&library, bad).unwrap();
    let (again, errors) = exec(&command, &cache);
    assert!(errors.contains("libhsa-runtime64.so.1: it was damaged, and is made anew"), "{errors}");
    assert_eq!((again, std::fs::read(&library).unwrap() == good), (first.clone(), true));
    // Nor is one that others could have written to believed to be the same.
    std::thread::sleep(std::time::Duration::from_millis(2100));
    exec(&command, &cache);
    std::fs::write(&library, "another").unwrap();
    std::fs::set_permissions(&library, std::fs::Permissions::from_mode(0o666)).unwrap();
    let (again, errors) = exec(&command, &cache);
    assert!(errors.contains("it was damaged"), "{errors}");
    assert_eq!((again, std::fs::read(&library).unwrap() == good), (first, true));
}

#[test]
fn without_a_cache_the_library_is_there_for_the_run() {
    let (command, cache) = copied("no-cache");
    // Where a directory cannot be made, and where everybody could put something else into it.
    std::fs::write(&cache, "").unwrap();
    let (path, errors) = exec(&command, &cache);
    assert!(errors.is_empty() && !path.exists(), "{errors}: {}", path.display());
    std::fs::remove_file(&cache).unwrap();
    let open = cache.join("runtime");
    std::fs::create_dir_all(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    let (path, errors) = exec(&command, &cache);
    assert!(errors.is_empty() && !path.starts_with(&cache) && !path.exists(), "{}", path.display());
}

#[test]
fn a_package_has_its_library_beside_it() {
    let (command, cache) = copied("package");
    let (made, _) = exec(&command, &cache);
    let lib = command.parent().unwrap().parent().unwrap().join("lib/wavemill");
    std::fs::create_dir_all(lib.join("comgr")).unwrap();
    for name in ["libhsa-runtime64.so.1", "libwavemill-opencl.so", "comgr/libamd_comgr.so.2"] {
        std::fs::copy(made.join(name), lib.join(name)).unwrap();
    }
    assert_eq!(exec(&command, &cache).0, lib.canonicalize().unwrap());
    // Another version's is left alone.
    std::fs::write(lib.join("libhsa-runtime64.so.1"), "another").unwrap();
    assert_eq!(exec(&command, &cache), (made, String::new()));
}

/// The action's own script, as GitHub runs it, where an earlier run has built the command: later steps have the command, its
/// version, the GPU and the library.
#[test]
fn the_action_installs_for_later_steps() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let action = std::fs::read_to_string(repository.join("action.yml")).unwrap();
    let (_, script) = action.split_once("      run: |\n").unwrap();
    let (command, cache) = copied("action");
    let root = command.parent().and_then(Path::parent).unwrap();
    let file = |name: &str| root.join(name);
    let run = |gpu: &str| {
        Command::new("bash")
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
            .env("ROOT", root)
            .env("SOURCE", &repository)
            .env("GPU", gpu)
            .env("GPUS", "2")
            .env("EVERY_STEP", "true")
            .env("WAVEMILL_CACHE", &cache)
            .env("GITHUB_PATH", file("path"))
            .env("GITHUB_OUTPUT", file("output"))
            .env("GITHUB_ENV", file("env"))
            .env_remove("LD_LIBRARY_PATH")
            .output()
            .unwrap()
    };
    text(&run("mi210"));
    let read = |name: &str| std::fs::read_to_string(file(name)).unwrap();
    assert_eq!(read("path").trim(), command.parent().unwrap().to_str().unwrap());
    assert!(
        read("output").starts_with(concat!("version=wavemill ", env!("CARGO_PKG_VERSION"))),
        "{}",
        read("output")
    );
    let variables = read("env");
    assert!(variables.contains("WAVEMILL_GPU=mi210\nWAVEMILL_GPUS=2\n"), "{variables}");
    let library = variables.lines().find_map(|l| l.strip_prefix("LD_LIBRARY_PATH=")).unwrap();
    let first = library.split(':').next().unwrap();
    assert!(Path::new(first).join("libhsa-runtime64.so.1").exists(), "{variables}");
    // A GPU that there is not stops the step.
    let out = run("mi9");
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success() && errors.contains("no GPU `mi9`"), "{errors}");
    // The repository's workflow uses this action, with inputs that it has.
    let workflow = std::fs::read_to_string(repository.join(".github/workflows/action.yml")).unwrap();
    assert!(workflow.contains("uses: ./\n        with: {gpu: mi210, every-step: 'true'}"), "{workflow}");
    assert!(action.contains("\n  gpu:\n") && action.contains("\n  every-step:\n"), "{action}");
}

/// What the image's programs find the library by: the last but one line of its build.
#[test]
fn the_image_links_to_a_library_that_is_there() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let image = std::fs::read_to_string(repository.join("Dockerfile")).unwrap();
    let line = image.lines().find_map(|l| l.strip_prefix("RUN ln -s ")).unwrap();
    let (command, cache) = copied("image");
    let link = command.with_file_name("link");
    let line = line.replace("/var/cache/wavemill", cache.to_str().unwrap());
    let line = line.replace("/usr/local/lib/wavemill", link.to_str().unwrap());
    let path = format!("{}:{}", command.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let script = format!("ln -s {line}");
    let out = Command::new("sh")
        .args(["-ec", &script])
        .env("PATH", path)
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .unwrap();
    text(&out);
    assert!(link.join("libhsa-runtime64.so.1").exists(), "{script}");
    assert!(image.contains("ENV LD_LIBRARY_PATH=/usr/local/lib/wavemill"), "{image}");
}

#[test]
fn programs_find_the_library_where_cargo_builds_it() {
    let directory = Path::new(env!("CARGO_BIN_EXE_wavemill")).parent().unwrap();
    let out = Command::new("sh")
        .args(["-c", "LD_PRELOAD=libhsa-runtime64.so.1 /bin/true"])
        .env("LD_LIBRARY_PATH", directory)
        .output()
        .unwrap();
    assert!(out.status.success() && out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
}

fn text(out: &Output) -> String {
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn every_command_says_its_version() {
    let version = text(&wavemill(&["--version"]));
    assert!(version.starts_with(concat!("wavemill ", env!("CARGO_PKG_VERSION"))), "{version}");
    let number = version.trim_start_matches("wavemill ").trim();
    // The commit that is checked out, where the tests are in a repository.
    let git = Command::new("git").args(["log", "-1", "--format=(%h %cs)"]).output();
    if let Some(commit) = git.ok().filter(|o| o.status.success()) {
        assert!(number.contains(String::from_utf8_lossy(&commit.stdout).trim()), "{version}");
    }
    for words in guide::commands() {
        let mut call: Vec<&str> = words.iter().map(String::as_str).collect();
        call.push("--version");
        let said = text(&wavemill(&call));
        assert!(said.contains(number), "{words:?}: {said}");
    }
    assert!(text(&wavemill(&["mc", "-version"])).contains("LLVM version 19"));
}

#[test]
fn shells_and_manuals_know_every_command_and_option() {
    for (shell, marks) in [
        ("bash", ["complete -F", "--deterministic"]),
        ("zsh", ["#compdef wavemill", "--deterministic"]),
        ("fish", ["complete -c wavemill", "-l deterministic"]),
    ] {
        let script = text(&wavemill(&["completions", shell]));
        for mark in marks.iter().chain(&["unbundle", "processors"]) {
            assert!(script.contains(mark), "{shell}: no `{mark}`");
        }
    }
    let directory = scratch("man");
    assert!(wavemill(&["man", directory.to_str().unwrap()]).status.success());
    let page = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap();
    assert!(page("wavemill.1").contains("wavemill\\-exec"));
    assert!(page("wavemill-run.1").contains("\\-\\-deterministic"));
    assert!(page("wavemill-mc.1").contains("show\\-encoding"));
    assert!(page("wavemill-isa-explain.1").contains("mnemonic"));
    // Every option of every command.
    let scripts = ["bash", "zsh", "fish"].map(|shell| text(&wavemill(&["completions", shell])));
    let mut count = 0;
    for words in guide::commands().iter().filter(|w| **w != ["mc"]) {
        let manual = page(&format!("wavemill-{}.1", words.join("-")));
        for [option, _] in guide::options(words) {
            let name =
                option.split("--").nth(1).map(|o| o.split([' ', '[', '=', '<']).next().unwrap().to_owned());
            let Some(name) = name else { continue };
            assert!(manual.contains(&format!("\\-\\-{}", name.replace('-', "\\-"))), "{words:?}: --{name}");
            assert!(scripts.iter().all(|s| s.contains(&name)), "{words:?}: --{name}");
            count += 1;
        }
    }
    assert!(count > 80, "{count}");
}
