//! Files from strangers: what they name, claim and hold must not reach beyond them.

use crate::{scratch, wavemill};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

/// A kernel that does nothing with its one buffer.
const KERNEL: &str = "
  .amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"
  .p2align 8
k:
  s_endpgm
  .amdhsa_kernel k
    .amdhsa_next_free_vgpr 1
    .amdhsa_next_free_sgpr 8
  .end_amdhsa_kernel
  .amdgpu_metadata
    amdhsa.version: [1, 1]
    amdhsa.kernels:
      - .name: k
        .symbol: k.kd
        .kernarg_segment_size: 8
        .kernarg_segment_align: 8
        .group_segment_fixed_size: 0
        .private_segment_fixed_size: 0
        .wavefront_size: 64
        .sgpr_count: 8
        .vgpr_count: 1
        .max_flat_workgroup_size: 256
        .args:
          - {.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}
  .end_amdgpu_metadata
";

fn kernel(directory: &Path, options: &str) -> String {
    let path = directory.join("k.s");
    std::fs::write(&path, format!("; run: --grid 1 {options}\n{KERNEL}")).unwrap();
    path.display().to_string()
}

#[test]
fn a_source_cannot_have_files_written() {
    let directory = scratch("strangers-dump");
    let target = directory.join("written");
    let _ = std::fs::remove_file(&target);
    let dump = format!("--arg zeros:8 --dump 0:{}", target.display());
    let output = wavemill(&["run", &kernel(&directory, &dump)]);
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
    assert!(messages.contains("k.s:1: the `run:` line: --dump is ignored"), "{messages}");
    assert!(!target.exists());
    // The user may.
    let dump = format!("0:{}", target.display());
    let output = wavemill(&["run", &kernel(&directory, "--arg zeros:8"), "--dump", &dump]);
    assert!(output.status.success() && target.exists());
}

#[test]
fn a_source_reads_below_its_directory_only() {
    let outside = scratch("strangers-read");
    let directory = outside.join("inside");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(outside.join("secret"), "12345678").unwrap();
    std::fs::write(directory.join("open"), "12345678").unwrap();
    let link = directory.join("link");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink("../secret", &link).unwrap();
    assert!(wavemill(&["run", &kernel(&directory, "--arg buf:open")]).status.success());
    for options in [
        "--arg buf:../secret",
        "--arg buf:link",
        "--arg buf:/etc/passwd",
        "--arg /etc/passwd",
        "--arg image:/etc/passwd,format=r",
        "--arg zeros:8 --expect 0:/etc/passwd",
        "--arg zeros:8 --trap-handler ../secret",
        "--arg zeros:8 --trap-handler :k --trap-memory buf:/etc/passwd",
    ] {
        let output = wavemill(&["run", &kernel(&directory, options)]);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{options}: {messages}");
        assert!(messages.contains("k.s:1: the `run:` line: "), "{messages}");
        assert!(messages.contains("does not lie below the directory of the source"), "{messages}");
    }
    // The user may name what they like.
    let secret = format!("buf:{}", outside.join("secret").display());
    assert!(wavemill(&["run", &kernel(&directory, ""), "--arg", &secret]).status.success());
}

/// A code object whose line table says that its code came from `file`.
fn from_source(directory: &Path, file: &str) -> String {
    let source = directory.join("lines.s");
    let text = format!(
        "  .amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"\n  .file 1 \"{file}\"\n\
         .globl f\n.type f,@function\nf:\n  .loc 1 1 0\n  s_endpgm\n"
    );
    std::fs::write(&source, text).unwrap();
    let object = directory.join("lines.o");
    let (source, object) = (source.display().to_string(), object.display().to_string());
    let output = wavemill(&["asm", "-c", &source, "-o", &object]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    object
}

#[test]
fn sources_are_regular_files() {
    let directory = scratch("strangers-source");
    let pipe = directory.join("pipe");
    let _ = std::fs::remove_file(&pipe);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let huge = directory.join("huge");
    std::fs::File::create(&huge).unwrap().set_len(1 << 40).unwrap();
    for (file, message) in [
        (pipe.display().to_string(), "it is not a regular file"),
        ("/dev/zero".into(), "it is not a regular file"),
        (huge.display().to_string(), "it is too large for a source"),
    ] {
        let output = wavemill(&["disasm", "--source", &from_source(&directory, &file)]);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{messages}");
        assert!(messages.contains(&format!("{file}: {message}")), "{messages}");
    }
}

/// What the command writes to a terminal.
pub fn on_terminal(arguments: &[&str]) -> String {
    use rustix::pty;
    let ours = pty::openpt(pty::OpenptFlags::RDWR | pty::OpenptFlags::NOCTTY).unwrap();
    pty::grantpt(&ours).unwrap();
    pty::unlockpt(&ours).unwrap();
    let name = pty::ptsname(&ours, Vec::new()).unwrap();
    let terminal = || std::fs::File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_wavemill"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(terminal())
        .stderr(terminal())
        .spawn()
        .unwrap();
    // The other end closes with the child; reading then fails.
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    let mut ours = std::fs::File::from(ours);
    while let Ok(n @ 1..) = ours.read(&mut chunk) {
        bytes.extend_from_slice(&chunk[..n]);
    }
    child.wait().unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn names_do_not_command_terminals() {
    let directory = scratch("strangers-terminal");
    let source = directory.join("names.s");
    let name = "\x1b]0;owned\x07f\u{9b}2J";
    let text = format!(
        "  .amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"\n.globl \"{name}\"\n\
         .type \"{name}\",@function\n\"{name}\":\n  s_endpgm\n"
    );
    std::fs::write(&source, text).unwrap();
    let source = source.display().to_string();
    let object = directory.join("names.o").display().to_string();
    assert!(wavemill(&["asm", "-c", &source, "-o", &object]).status.success());
    let file = format!("/no\x1bwhere/{name}");
    let lines = from_source(&directory, &file.replace('\x1b', "\\033").replace('\x07', "\\007"));
    let broken = directory.join("broken.s").display().to_string();
    std::fs::write(&broken, "v_no\x1b[2Jthing v0\n").unwrap();
    for arguments in [
        &["disasm", &object][..],
        &["disasm", "--asm", &object],
        &["disasm", "--source", &lines],
        &["inspect", "--symbols", &object],
        &["mc", "-arch=amdgcn", "-mcpu=gfx900", &source],
        &["mc", "-arch=amdgcn", "-mcpu=gfx900", &broken],
        &["run", &broken],
        &["run", &format!("{directory}/{name}", directory = directory.display())],
        &["link", &object, "-o", "/no\x1bwhere/x"],
    ] {
        let text = on_terminal(arguments);
        let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        assert!(!text.is_empty() && !text.contains(control), "{arguments:?}: {text:?}");
    }
    // Elsewhere the bytes are what they are.
    let output = wavemill(&["disasm", &object]);
    assert!(String::from_utf8_lossy(&output.stdout).contains(name));
}

#[test]
fn unbundled_files_stay_in_their_directory() {
    let directory = scratch("strangers-bundle");
    std::fs::create_dir_all(directory.join("out/b-x")).unwrap();
    let id = "hipv4-amdgcn-amd-amdhsa--x/../../escaped";
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    for word in [1, 4096, 4, id.len() as u64] {
        bundle.extend(word.to_le_bytes());
    }
    bundle.extend(id.bytes());
    bundle.resize(4096, 0);
    bundle.extend(b"code");
    let file = directory.join("b.bundle").display().to_string();
    std::fs::write(&file, bundle).unwrap();
    let out = directory.join("out").display().to_string();
    let output = wavemill(&["unbundle", &file, "-o", &out]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!directory.join("escaped.co").exists());
    assert!(directory.join("out/b-x_.._.._escaped.co").exists());
}

/// A kernel that never ends.
const ENDLESS: &str = "
  .amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"
  .p2align 8
k:
  s_branch k
  .amdhsa_kernel k
    .amdhsa_next_free_vgpr 1
    .amdhsa_next_free_sgpr 8
  .end_amdhsa_kernel
";

/// What the kernel says about a running `wavemill run`.
fn status_of(directory: &Path, options: &[&str], place: &Path) -> String {
    let path = directory.join("endless.s");
    std::fs::write(&path, ENDLESS).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_wavemill"))
        .args(["run", path.to_str().unwrap(), "--grid", "64", "--timeout", "20"])
        .args(options)
        .current_dir(place)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Threads come after the sandbox.
    let status = || std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let began = std::time::Instant::now();
    while !status().lines().any(|l| l.starts_with("Threads:") && !l.ends_with("\t1")) {
        assert!(began.elapsed().as_secs() < 20, "{}", status());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let text = status();
    child.kill().unwrap();
    child.wait().unwrap();
    text
}

#[test]
fn files_from_elsewhere_run_in_a_sandbox() {
    let directory = scratch("strangers-sandbox");
    let (below, elsewhere) = (directory.clone(), scratch("strangers-elsewhere"));
    let confined = |status: &str| status.contains("Seccomp:\t2") && status.contains("NoNewPrivs:\t1");
    assert!(confined(&status_of(&directory, &["--threads", "2"], &elsewhere)));
    assert!(confined(&status_of(&directory, &["--threads", "2", "--sandbox"], &below)));
    assert!(!confined(&status_of(&directory, &["--threads", "2"], &below)));
    assert!(!confined(&status_of(&directory, &["--threads", "2", "--sandbox=never"], &elsewhere)));
    // What the command line names is within reach, results included.
    let out = directory.join("out");
    let _ = std::fs::remove_file(&out);
    std::fs::write(directory.join("in"), "12345678").unwrap();
    let source = kernel(&directory, "");
    let output = Command::new(env!("CARGO_BIN_EXE_wavemill"))
        .args(["run", &source, "--sandbox", "--threads", "4", "--show", "0:u8:8"])
        .args(["--arg", &format!("buf:{}", directory.join("in").display())])
        .args(["--dump", &format!("0:{}", out.display())])
        .current_dir(&elsewhere)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read(&out).unwrap(), b"12345678");
    // How far it is trusted is not a source's to say.
    let source = kernel(&directory, "--sandbox=never --memory 1000G --arg zeros:8");
    let output = wavemill(&["run", &source]);
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
    assert!(
        messages.contains("--sandbox is ignored") && messages.contains("--memory is ignored"),
        "{messages}"
    );
}

#[test]
fn memory_has_a_limit() {
    let directory = scratch("strangers-memory");
    let source = kernel(&directory, "--arg zeros:64M");
    let output = wavemill(&["run", &source, "--memory", "16M"]);
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{messages}");
    assert!(
        messages.contains("no 67108864 bytes of memory for argument 0: the limit is 16777216 bytes"),
        "{messages}"
    );
    assert!(wavemill(&["run", &source]).status.success());
    for arguments in [["--arg", "buf:/dev/zero"], ["--arg", "zeros:1000000G"], ["--arg", "iota:u64:16M"]] {
        let output = wavemill(&[&["run", &source, "--memory", "16M"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    }
    let output = wavemill(&["run", "/dev/zero", "--memory", "16M"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("larger than the limit of 16777216 bytes"));
    // Arguments of four gigabytes, as a descriptor may claim.
    let path = directory.join("large.s");
    let text = KERNEL.replace(".kernarg_segment_size: 8", ".kernarg_segment_size: 0xfffffff0");
    std::fs::write(&path, format!("; run: --grid 1 --arg zeros:8\n{text}")).unwrap();
    let output = wavemill(&["run", path.to_str().unwrap(), "--timeout", "1"]);
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{messages}");
    assert!(messages.contains("wants 4294967280 bytes of arguments"), "{messages}");
}

/// A report about any number of dispatches takes no more memory than one about few.
#[test]
fn long_reports_are_not_held_in_memory() {
    const LINES: usize = 10_000_000;
    let directory = scratch("strangers-report");
    let report = directory.join("report");
    // The program writes what the library writes for each dispatch.
    let output = Command::new("/bin/sh")
        .args(["-c", "ulimit -v 160000; exec \"$0\" exec --json \"$1\" -- /bin/sh -c \"$2\""])
        .arg(env!("CARGO_BIN_EXE_wavemill"))
        .arg(&report)
        .arg(format!("yes '{{\"kernel\": 1}}' | head -n {LINES} >> \"$WAVEMILL_JSON\""))
        .env("TMPDIR", &directory)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let wanted = LINES * "    {\"kernel\": 1},\n".len();
    let written = std::fs::metadata(&report).unwrap().len() as usize;
    std::fs::remove_file(report).unwrap();
    assert!((wanted..wanted + 1000).contains(&written), "{written} bytes");
}

#[test]
fn a_killed_exec_leaves_nothing() {
    let directory = scratch("strangers-exec");
    let mut exec = Command::new(env!("CARGO_BIN_EXE_wavemill"))
        .args(["exec", "--json", directory.join("report").to_str().unwrap(), "--", "/bin/sh", "-c"])
        .arg("echo $$; exec sleep 60")
        .env("TMPDIR", &directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(exec.stdout.take().unwrap()), &mut line)
        .unwrap();
    let program: u32 = line.trim().parse().unwrap();
    exec.kill().unwrap();
    exec.wait().unwrap();
    let began = std::time::Instant::now();
    // It may be a zombie of whoever adopts it.
    let runs = || {
        let stat = std::fs::read_to_string(format!("/proc/{program}/stat"));
        stat.is_ok_and(|s| !s.contains(") Z "))
    };
    while runs() {
        assert!(began.elapsed().as_secs() < 10, "the program is still there");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // Its directory goes with the next one.
    let next = Command::new(env!("CARGO_BIN_EXE_wavemill"))
        .args(["exec", "--", "/bin/true"])
        .env("TMPDIR", &directory)
        .status()
        .unwrap();
    assert!(next.success());
    let left: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|n| n == "report"), "{left:?}");
}
