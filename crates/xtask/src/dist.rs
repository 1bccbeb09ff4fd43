//! `cargo xtask dist`: the archive and the Debian package, and a trial of both in a bare Debian.
//!
//! Everything lands in `target/dist`. The binary is stripped; the library beside it is the one it carries, byte for byte,
//! so that `exec` uses the installed one. Manual pages and completions are what the command writes itself. `--no-trial`
//! leaves out the trial, which needs root, debootstrap and a mirror.

use crate::acid;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Debian's name of this architecture, and the one in archives' names.
const ARCHITECTURES: (&str, &str) = match cfg!(target_arch = "aarch64") {
    true => ("arm64", "aarch64-linux-gnu"),
    false => ("amd64", "x86_64-linux-gnu"),
};

/// Makes both, and tries them.
pub fn run(root: &Path, wavemill: &Path, trial: bool) -> Result<(), String> {
    let dist = wavemill.ancestors().nth(2).ok_or("no target directory")?.join("dist");
    // What an earlier run has left would get into the package.
    let _ = std::fs::remove_dir_all(&dist);
    let version = env!("CARGO_PKG_VERSION");
    let name = format!("wavemill-{version}-{}", ARCHITECTURES.1);
    let tree = dist.join(&name);
    lay_out(root, wavemill, &tree)?;
    let archive = dist.join(format!("{name}.tar.gz"));
    command("tar", |c| {
        c.args(["--create", "--gzip", "--owner=0", "--group=0", "--file"])
            .arg(&archive)
            .arg("-C")
            .arg(&dist)
            .arg(&name)
    })?;
    let package = debian(&dist, &tree, version)?;
    for file in [&archive, &package] {
        let bytes = file.metadata().map_err(|e| format!("{}: {e}", file.display()))?.len();
        println!("{}  {:.1} MB", file.display(), bytes as f64 / 1e6);
    }
    if trial { try_them(root, wavemill, &dist, &archive, &package) } else { Ok(()) }
}

fn command<'a>(
    program: &str,
    with: impl FnOnce(&mut Command) -> &mut Command + 'a,
) -> Result<String, String> {
    let mut command = Command::new(program);
    with(&mut command).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().map_err(|e| format!("{program}: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stdout))),
    }
}

fn write(path: PathBuf, content: impl AsRef<[u8]>) -> Result<(), String> {
    let error = |e: std::io::Error| format!("{}: {e}", path.display());
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(error)?;
    std::fs::write(&path, content).map_err(error)
}

fn copy(from: &Path, to: PathBuf) -> Result<(), String> {
    let error = |e: std::io::Error| format!("{}: {e}", from.display());
    to.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(error)?;
    std::fs::copy(from, to).map(drop).map_err(error)
}

/// The files as they are installed, under any prefix.
fn lay_out(root: &Path, wavemill: &Path, tree: &Path) -> Result<(), String> {
    let binary = tree.join("bin/wavemill");
    copy(wavemill, binary.clone())?;
    command("strip", |c| c.arg("--strip-all").arg(&binary))?;
    let built = wavemill.with_file_name("deps").join("libhsa_runtime64.so");
    let lib = tree.join("lib/wavemill");
    copy(&built, lib.join("libhsa-runtime64.so.1"))?;
    copy(&built.with_file_name("libwavemill_opencl.so"), lib.join("libwavemill-opencl.so"))?;
    copy(&built.with_file_name("libwavemill_comgr.so"), lib.join("comgr/libamd_comgr.so.2"))?;
    std::os::unix::fs::symlink("libhsa-runtime64.so.1", lib.join("libhsa-runtime64.so"))
        .map_err(|e| format!("{}: {e}", lib.display()))?;
    let man = tree.join("share/man/man1");
    command(&binary.display().to_string(), |c| c.arg("man").arg(&man))?;
    let pages = std::fs::read_dir(&man).map_err(|e| format!("{}: {e}", man.display()))?;
    let pages: Vec<PathBuf> = pages.filter_map(|e| Some(e.ok()?.path())).collect();
    command("gzip", |c| c.args(["-9", "--no-name"]).args(&pages))?;
    for (shell, place) in [
        ("bash", "share/bash-completion/completions/wavemill"),
        ("zsh", "share/zsh/vendor-completions/_wavemill"),
        ("fish", "share/fish/vendor_completions.d/wavemill.fish"),
    ] {
        let text = command(&binary.display().to_string(), |c| c.args(["completions", shell]))?;
        write(tree.join(place), text)?;
    }
    let doc = tree.join("share/doc/wavemill");
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&root.join(file), doc.join(file))?;
    }
    write(doc.join("copyright"), licences(root)?)?;
    let examples = std::fs::read_dir(root.join("examples")).map_err(|e| format!("examples: {e}"))?;
    for path in examples.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_file()) {
        let name = path.file_name().unwrap_or_default().to_owned();
        copy(&path, doc.join("examples").join(name))?;
    }
    Ok(())
}

/// Our licences, and those of the crates that are in the binary.
fn licences(root: &Path) -> Result<String, String> {
    let mut text = String::from(
        "Wavemill is licensed under either of the Apache License 2.0 (LICENSE-APACHE) or the MIT licence\n\
         (LICENSE-MIT), at your option. It contains these crates:\n",
    );
    let cargo = std::env::var("CARGO").unwrap_or("cargo".into());
    let tree =
        ["tree", "--package", "wavemill", "--edges", "normal", "--prefix", "none", "--format", "{p}|{l}|{r}"];
    let list = command(&cargo, |c| c.current_dir(root).args(tree))?;
    let mut crates: Vec<&str> = list.lines().filter(|l| !l.contains('/') || l.contains("|http")).collect();
    crates.sort_unstable();
    crates.dedup();
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let registries = home.and_then(|h| std::fs::read_dir(h.join("registry/src")).ok());
    let registries: Vec<PathBuf> =
        registries.into_iter().flatten().filter_map(|e| Some(e.ok()?.path())).collect();
    for line in crates {
        let mut parts = line.split('|');
        let package = parts.next().unwrap_or("").trim_end_matches(" (*)");
        let (licence, source) =
            (parts.next().unwrap_or(""), parts.next().unwrap_or("").trim_end_matches(" (*)"));
        // Wavemill's own crates have a path behind their version.
        let Some((name, version)) = package.split_once(" v").filter(|(_, v)| !v.contains(' ')) else {
            continue;
        };
        text += &format!("\n{}\n{name} {version}: {licence}\n{source}\n", "-".repeat(80));
        let folder = format!("{name}-{version}");
        let folder = registries.iter().map(|r| r.join(&folder)).find(|p| p.is_dir());
        let folder =
            folder.ok_or_else(|| format!("the source of {name} {version} is not in cargo's registry"))?;
        let files = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut files: Vec<PathBuf> =
            files.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_file()).collect();
        files.sort();
        let named = |p: &&PathBuf, start: &str| {
            p.file_name().is_some_and(|n| n.to_string_lossy().to_uppercase().starts_with(start))
        };
        let terms: Vec<&PathBuf> = files
            .iter()
            .filter(|p| {
                ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "UNLICENSE"].iter().any(|s| named(p, s))
            })
            .collect();
        // The Apache licence's text is ours, too; once is enough.
        for file in terms.iter().filter(|p| {
            !(named(p, "LICENSE-APACHE") || p.ends_with("LICENSE-Apache-2.0_WITH_LLVM-exception"))
        }) {
            let terms = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
            text += &format!("\n{}\n", terms.trim());
        }
    }
    Ok(text)
}

/// The newest version of the C library that a file asks for.
fn glibc(file: &Path) -> Result<String, String> {
    let bytes = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut newest = (2, 17);
    for at in bytes.windows(8).enumerate().filter(|(_, w)| w == b"GLIBC_2.").map(|(i, _)| i + 8) {
        let digits: String =
            bytes[at..].iter().take(3).take_while(|b| b.is_ascii_digit()).map(|b| *b as char).collect();
        newest = newest.max((2, digits.parse().unwrap_or(0)));
    }
    Ok(format!("{}.{}", newest.0, newest.1))
}

/// The Debian package.
fn debian(dist: &Path, tree: &Path, version: &str) -> Result<PathBuf, String> {
    let staging = dist.join("deb");
    let usr = staging.join("usr");
    std::fs::create_dir_all(&staging).map_err(|e| format!("{}: {e}", staging.display()))?;
    command("cp", |c| c.arg("-a").arg(tree).arg(&usr))?;
    let size = command("du", |c| c.args(["-sk"]).arg(&usr))?;
    let size = size.split_whitespace().next().unwrap_or("0").to_owned();
    let libc =
        glibc(&tree.join("bin/wavemill"))?.max(glibc(&tree.join("lib/wavemill/libhsa-runtime64.so.1"))?);
    let control = format!(
        "Package: wavemill\nVersion: {version}\nArchitecture: {}\nMaintainer: The Wavemill authors <wavemill@localhost>\n\
         Installed-Size: {size}\nDepends: libc6 (>= {libc}), libgcc-s1\nSuggests: clang, lld, hipcc, ocl-icd-libopencl1, rocm-device-libs\nSection: devel\n\
         Priority: optional\nDescription: AMD GPU code without the GPU\n \
         Assembles, disassembles, links, inspects, explains and runs code for AMD GPUs from\n \
         GFX6 to gfx90a, and runs HIP, OpenMP and OpenCL programs on virtual GPUs.\n",
        ARCHITECTURES.0
    );
    write(staging.join("DEBIAN/control"), control)?;
    let package = dist.join(format!("wavemill_{version}_{}.deb", ARCHITECTURES.0));
    command("dpkg-deb", |c| c.args(["--root-owner-group", "--build"]).arg(&staging).arg(&package))?;
    std::fs::remove_dir_all(&staging).map_err(|e| format!("{}: {e}", staging.display()))?;
    Ok(package)
}

/// A trial in the bare root: what to run, and what must be in what it prints.
const TRIALS: &[(&str, &str)] = &[
    ("wavemill --version", "wavemill 0."),
    ("wavemill run /usr/share/doc/wavemill/examples/mandelbrot.s", "mandelbrot: 84 work-groups"),
    ("wavemill exec -- sh -c 'echo $LD_LIBRARY_PATH'", "/usr/lib/wavemill"),
    ("man=$(zcat /usr/share/man/man1/wavemill-exec.1.gz) && echo \"$man\"", "LD_LIBRARY_PATH"),
    ("bash -c 'source /usr/share/bash-completion/completions/wavemill && complete -p wavemill'", "_wavemill"),
    ("wavemill exec -- /root/program", "PASS"),
    // The archive, somewhere else, by another user, whose cache is not needed.
    (
        "mkdir -p /opt && tar -C /opt -xf /root/wavemill.tar.gz && rm -r /usr/lib/wavemill && cd / && \
         su -s /bin/sh nobody -c 'HOME=/nonexistent /opt/wavemill-*/bin/wavemill exec -- sh -c \"echo \\$LD_LIBRARY_PATH\"'",
        "/lib/wavemill",
    ),
    // The binary alone.
    (
        "cp /opt/wavemill-*/bin/wavemill /root/wavemill && dpkg --purge wavemill && rm -r /opt/wavemill-* && \
         /root/wavemill exec -- /root/program && ls /root/.cache/wavemill/runtime/*",
        "libhsa-runtime64.so.1",
    ),
];

/// Installs the package in a bare Debian, and runs what somebody else has built.
fn try_them(root: &Path, wavemill: &Path, dist: &Path, archive: &Path, package: &Path) -> Result<(), String> {
    acid::install(&["debootstrap"])?;
    let program = acid::program(root, wavemill, "hip/saxpy")?;
    // The root is kept between runs, as what debootstrap has downloaded does not change.
    let bare = dist.with_file_name("bookworm");
    if !bare.join("etc/debian_version").exists() {
        println!("a bare Debian in {}", bare.display());
        command("debootstrap", |c| c.args(["--variant=minbase", "bookworm"]).arg(&bare))?;
    }
    let trial = dist.join("trial");
    command("cp", |c| c.arg("-a").arg("--reflink=auto").arg(&bare).arg(&trial))?;
    let inside = |name: &str| trial.join("root").join(name);
    copy(package, inside("wavemill.deb"))?;
    copy(archive, inside("wavemill.tar.gz"))?;
    copy(&program, inside("program"))?;
    // Every system has it, and the command looks there for its own place.
    let proc = Mount::new(&trial.join("proc"))?;
    let shell = |script: &str| {
        command("chroot", |c| {
            c.arg(&trial).args(["/usr/bin/env", "-i", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]);
            c.args(["DEBIAN_FRONTEND=noninteractive", "sh", "-c", script])
        })
    };
    // HIP itself comes from Debian, as its users have it; Wavemill's package needs nothing that is not there.
    shell("dpkg -i /root/wavemill.deb")?;
    shell("apt-get update -q && apt-get install -q --yes --no-install-recommends libamdhip64-5")?;
    for (script, wanted) in TRIALS {
        let said = shell(script)?;
        if !said.contains(wanted) {
            return Err(format!("in the bare Debian: {script}: no `{wanted}` in\n{said}"));
        }
        println!("ok  {script}");
    }
    drop(proc);
    std::fs::remove_dir_all(&trial).map_err(|e| format!("{}: {e}", trial.display()))
}

/// `/proc` of a trial, for as long as it takes.
struct Mount(PathBuf);

impl Mount {
    fn new(at: &Path) -> Result<Mount, String> {
        command("mount", |c| c.args(["-t", "proc", "proc"]).arg(at))?;
        Ok(Mount(at.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // What stays mounted keeps the trial's directory from being removed, which is then said.
        let _ = command("umount", |c| c.arg(&self.0));
    }
}
