//! `wavemill run` as a user meets it.

use crate::{scratch, wavemill};
use std::path::{Path, PathBuf};
use std::process::Output;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn fixture(name: &str) -> String {
    repository().join("tests/kernels/fixtures").join(name).display().to_string()
}

fn run(arguments: &[&str]) -> Output {
    wavemill(&[&["run"], arguments].concat())
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The message of a run that fails before anything runs.
fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty() && message.starts_with("wavemill run: "), "{message}");
    message
}

/// `run` takes the processor that a source of code object v2 names, as `asm` does.
#[test]
fn old_sources_name_their_processor() {
    let dir = std::env::temp_dir().join(format!("wavemill-old-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let source = dir.join("k.s");
    // S_LOAD_DWORD of GFX7 is another instruction on GFX8 and later.
    std::fs::write(
        &source,
        "\t.hsa_code_object_version 2,1\n\t.hsa_code_object_isa 7,0,1,\"AMD\",\"AMDGPU\"\n\t.text\n\t.globl k\n\t.p2align 8\n\
         \t.amdgpu_hsa_kernel k\nk:\n\t.amd_kernel_code_t\n\t.end_amd_kernel_code_t\n\tv_mac_legacy_f32 v0, v0, v0\n\
         \ts_endpgm\n",
    )
    .unwrap();
    let text = stdout(&run(&[source.to_str().unwrap(), "--grid", "64", "--json"]));
    assert!(text.contains("gfx701"), "{text}");
}

/// gfx901 is gfx900 with XNACK on (AMDGPU guide, "Processors"; ISA notes 9:0:1 and 9:0:0 of version 2): its code runs on a gfx901, where
/// code that has XNACK off is refused.
#[test]
fn gfx901_code_runs_on_a_gfx901() {
    let directory = scratch("gfx901");
    let path = |name: &str| directory.join(name).display().to_string();
    for (stepping, says, status) in [(1, "gfx900:xnack+", 0), (0, "gfx900:xnack-", 1)] {
        let text = format!(
            "\t.hsa_code_object_version 2,1\n\t.hsa_code_object_isa 9,0,{stepping},\"AMD\",\"AMDGPU\"\n\t.text\n\t.globl k\n\
             \t.p2align 8\n\t.amdgpu_hsa_kernel k\nk:\n\t.amd_kernel_code_t\n\t.end_amd_kernel_code_t\n\ts_endpgm\n"
        );
        std::fs::write(path("k.s"), text).unwrap();
        stdout(&wavemill(&["asm", &path("k.s"), "-o", &path("k.co")]));
        let shown = stdout(&wavemill(&["inspect", &path("k.co")]));
        assert!(shown.contains(says), "{shown}");
        let ran = run(&[&path("k.co"), "--gpu", "gfx901", "--grid", "1"]);
        let message = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(status), "{message}");
        assert!(status == 0 || message.contains("it needs xnack off"), "{message}");
    }
}

#[test]
fn examples_run_by_themselves() {
    let example = |name: &str| repository().join("examples").join(name).display().to_string();
    let text = stdout(&run(&[&example("vadd.s")]));
    assert!(text.starts_with("0 2 4 6 8 10 12"), "{text}");
    let text = stdout(&run(&[&example("saxpy.s")]));
    assert!(text.starts_with("0 1.5 3 4.5 6 7.5"), "{text}");
    let text = stdout(&run(&[&example("mandelbrot.s")]));
    let picture: Vec<&str> = text.lines().collect();
    assert_eq!(picture.len(), 57);
    assert!(picture[28].contains("@@@@@@@@@@@@"), "{text}");
    assert!(picture[56].starts_with("mandelbrot: 84 work-groups"), "{text}");
    // The command line has the last word.
    let text = stdout(&run(&[&example("vadd.s"), "--show", "2:f32:3", "--threads", "1"]));
    assert!(text.starts_with("0 2 4\n"), "{text}");
}

#[test]
fn trap_handlers_come_with_the_program_or_from_a_file() {
    let example = repository().join("examples/traps.s").display().to_string();
    let text = stdout(&run(&[&example]));
    assert!(text.starts_with("2 4\n"), "{text}");
    // A handler in a file of its own, which only counts, and its memory in a file.
    let directory = scratch("handler");
    let path = |name: &str| directory.join(name).display().to_string();
    let head = "s_getreg_b32 ttmp2, hwreg(HW_REG_TMA_LO)\ns_getreg_b32 ttmp3, hwreg(HW_REG_TMA_HI)\n";
    let count = ".type count,@function\ncount:\ns_getreg_b32 ttmp7, hwreg(HW_REG_STATUS)\n{HEAD}s_mov_b32 ttmp8, 10\n\
        s_atomic_add ttmp8, ttmp[2:3], 0x0\ns_waitcnt lgkmcnt(0)\ns_bfe_u32 ttmp6, ttmp1, 0x80010\n\
        s_min_u32 ttmp6, ttmp6, 1\ns_lshl_b32 ttmp6, ttmp6, 2\ns_and_b32 ttmp1, ttmp1, 0xffff\n\
        s_add_u32 ttmp0, ttmp0, ttmp6\ns_addc_u32 ttmp1, ttmp1, 0\ns_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 9), 0\n\
        s_setreg_b32 hwreg(HW_REG_STATUS, 0, 1), ttmp7\ns_rfe_b64 ttmp[0:1]\n.size count, .-count\n";
    std::fs::write(path("h.s"), count.replace("{HEAD}", head)).unwrap();
    let dump = format!("tma:{}", path("tma.bin"));
    let handler = path("h.s");
    std::fs::write(path("start.bin"), 1000u32.to_le_bytes()).unwrap();
    let memory = format!("buf:{}", path("start.bin"));
    let with = ["--trap-handler", &handler, "--trap-memory", &memory, "--show", "0:f32:2"];
    let text = stdout(&run(&[&[example.as_str()], &with[..], &["--dump", &dump]].concat()));
    assert!(text.starts_with("inf 1\n"), "{text}");
    assert_eq!(std::fs::read(path("tma.bin")).unwrap(), 1060u32.to_le_bytes());
    // As an object, with its name.
    let object = path("h.o");
    let made = wavemill(&["asm", "--mcpu", "gfx90a", &handler, "-o", &object]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let named = format!("{object}:count");
    let text = stdout(&run(&[&example, "--trap-handler", &named, "--show", "tma:u32:1"]));
    assert!(text.starts_with("60\n"), "{text}");
}

#[test]
fn wrong_trap_handlers_are_refused() {
    let example = repository().join("examples/traps.s").display().to_string();
    let vadd = repository().join("examples/vadd.s").display().to_string();
    let refused = |arguments: &[&str]| refused(&[&[example.as_str()], arguments].concat());
    let handler = |text: &str| refused(&["--trap-handler", text]);
    assert!(handler("none.s").contains("--trap-handler: none.s: "));
    let message = handler(":handlr");
    assert!(message.contains("the program has no function `handlr`; did you mean handler?"), "{message}");
    let message = handler(&example);
    assert!(
        message.contains("it has several functions, name one with :SYMBOL: reciprocal, handler"),
        "{message}"
    );
    let message = handler(&fixture("vadd.gfx900.clang-15.v3.O2.hsaco"));
    assert!(message.contains("it is for gfx900, the GPU is gfx90a"), "{message}");
    let message = refused(&["--trap-memory", "u32:7"]);
    assert!(message.contains("--trap-memory u32:7: it is not a buffer"), "{message}");
    let message = super::run::refused(&[&vadd, "--trap-memory", "zeros:8"]);
    assert!(message.contains("--trap-memory is for a --trap-handler"), "{message}");
    let message = super::run::refused(&[&vadd, "--show", "tma:u32:1"]);
    assert!(message.contains("--show tma:u32:1: there is no --trap-memory"), "{message}");
    let output = run(&[&vadd, "--trap-handler", "h.s:"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn arrays_come_and_go_as_npy() {
    let directory = scratch("npy");
    let path = |name: &str| directory.join(name).display().to_string();
    let header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (64,), }";
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(118u16.to_le_bytes());
    file.extend(header);
    file.resize(127, b' ');
    file.push(b'\n');
    let data: Vec<u8> = (0..64).flat_map(|i| (i as f32).to_le_bytes()).collect();
    file.extend(&data);
    std::fs::write(path("a.npy"), &file).unwrap();
    std::fs::write(path("b.bin"), &data).unwrap();
    let text = stdout(&run(&[
        &fixture("vadd.gfx90a.clang-15.v5.O2.hsaco"),
        "--kernel",
        "vadd",
        "--grid",
        "64",
        "--arg",
        &format!("buf:{}", path("a.npy")),
        "--arg",
        &format!("buf:{}", path("b.bin")),
        "--arg",
        &format!("buf:{}", path("a.npy")),
        "--arg",
        "u32:64",
        "--dump",
        &format!("2:{}", path("c.npy")),
        "--dump",
        &format!("1:{}", path("b.out")),
        "--json",
        "--repeat",
        "2",
    ]));
    let c = std::fs::read(path("c.npy")).unwrap();
    assert_eq!(c[..128], file[..128], "the header it came with");
    let sums: Vec<u8> = (0..64).flat_map(|i| (2.0 * i as f32).to_le_bytes()).collect();
    assert_eq!(c[128..], sums);
    assert_eq!(std::fs::read(path("b.out")).unwrap(), data);
    assert_eq!(text.matches("\"wall_ns\"").count(), 2, "{text}");
    for want in
        ["\"gpu\": \"gfx90a\"", "\"kernel\": \"vadd\"", "\"fidelity\": {\"exact\": ", "\"fault\": null"]
    {
        assert!(text.contains(want), "{want} in {text}");
    }
}

#[test]
fn wrong_input_is_refused_before_anything_runs() {
    let vadd = fixture("vadd.gfx90a.clang-15.v5.O2.hsaco");
    let with = |more: &[&str]| {
        let mut all = vec![vadd.as_str()];
        all.extend(more);
        refused(&all)
    };
    let args = ["--arg", "zeros:64", "--arg", "zeros:64", "--arg", "zeros:64", "--arg", "i32:16"];
    let launch = ["--kernel", "vadd", "--grid", "16", "--block", "16"];
    let both = [&launch[..], &args[..]].concat();
    let plus = |more: &[&str]| with(&[&both[..], more].concat());
    let cases = [
        (with(&["--grid", "16"]), "several kernels, name one with --kernel: vadd, ids"),
        (with(&["--kernel", "vad", "--grid", "16"]), "did you mean vadd?"),
        (with(&["--kernel", "vadd"]), "--grid is needed"),
        (with(&launch), "takes 4 arguments"),
        (
            with(&[&launch[..], &args[..6], &["--arg", "i64:16"]].concat()),
            "argument 3 (`i64:16`): i64 is given for uint",
        ),
        (
            with(&[&launch[..], &args[..4], &["--arg", "local:4"], &args[6..]].concat()),
            "argument 2: local memory is given",
        ),
        (with(&[&launch[..], &args[..6], &["--arg", "zeros:64"]].concat()), "argument 3: a buffer is given"),
        (with(&[&launch[..], &args[..6], &["--arg", "i33:1"]].concat()), "did you mean"),
        (with(&[&launch[..], &args[..6], &["--arg", "buf:/no/such"]].concat()), "/no/such"),
        (plus(&["--gpu", "gfx906"]), "it is for gfx90a, the GPU is gfx906"),
        (plus(&["--gpu", "gfx1100"]), "`gfx1100` is not one of GFX6 to gfx90a"),
        (plus(&["--block", "2048"]), "2048 work-items"),
        (plus(&["--grid", "0"]), "no work-items"),
        (plus(&["--lds", "70000"]), "70000 bytes of LDS"),
        (plus(&["--dump", "3:x"]), "argument 3 is not a buffer"),
        (plus(&["--dump", "7:x"]), "there are 4 arguments"),
        (refused(&["/no/such/file.s"]), "/no/such/file.s"),
        (refused(&[env!("CARGO_BIN_EXE_wavemill")]), "no .hip_fatbin"),
    ];
    for (message, want) in cases {
        assert!(message.contains(want), "{want} in {message}");
    }
    assert_eq!(run(&[]).status.code(), Some(2));
    for (option, value) in [("--grid", "many"), ("--engine", "magic"), ("--timeout", "-1")] {
        assert_eq!(run(&["x.s", option, value]).status.code(), Some(2), "{option} {value}");
    }
}

#[test]
fn a_fault_is_reported() {
    let arguments = [
        &*fixture("vadd.gfx90a.clang-15.v5.O2.hsaco"),
        "--kernel",
        "vadd",
        "--grid",
        "64",
        "--arg",
        "zeros:256",
        "--arg",
        "zeros:256",
        "--arg",
        "null",
        "--arg",
        "u32:64",
        "--json",
    ];
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(3));
    let (text, report) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(report.contains("GPU fault: write of 4 bytes at 0x0") && report.contains("=> "), "{report}");
    assert!(text.contains("\"kind\": \"write\"") && text.contains("\"function\": \"vadd\""), "{text}");
    // The address says what it is, and the instruction what it held.
    assert!(report.contains("address     0x0: null, or an offset from it\n"), "{report}");
    assert!(report.contains("\n     v[0:1] = 0x0, +0x4 each (lanes 0-63)\n"), "{report}");
    assert!(text.contains("\"operands\": [") && text.contains("\"status\": 3"), "{text}");
}

#[test]
fn what_was_written_before_a_fault_is_shown_and_dumped() {
    let directory = scratch("faulty");
    let path = |name: &str| directory.join(name).display().to_string();
    // One wave writes, then reads 4 bytes behind the end of its buffer.
    let source = "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n\
        global_store_dword v1, v0, s[4:5]\ns_waitcnt vmcnt(0)\nglobal_load_dword v2, v1, s[4:5] offset:4\ns_waitcnt vmcnt(0)\n";
    std::fs::write(path("k.s"), source).unwrap();
    let dump = format!("0:{}", path("out.bin"));
    let output = run(&[&path("k.s"), "--arg", "zeros:u32:64", "--show", "0:u32:3", "--dump", &dump]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 1 2\n");
    assert_eq!(std::fs::read(path("out.bin")).unwrap().len(), 256);
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(report.contains("0 bytes past the end of argument 0"), "{report}");
    assert!(report.contains("lane        63 (work-item 63,0,0)"), "{report}");
    assert!(report.contains("v1 = 0xfc (lanes 63)"), "{report}");
}

#[test]
fn time_that_runs_out_has_a_status_of_its_own() {
    let path = scratch("slow").join("k.s");
    std::fs::write(&path, "L: s_branch L\n").unwrap();
    let output = run(&[path.to_str().unwrap(), "--timeout", "0.2", "--json"]);
    assert_eq!(output.status.code(), Some(4));
    let (text, report) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(report.contains("not done after 0.2 s") && report.contains("k.s:1"), "{report}");
    assert!(text.contains("\"status\": 4"), "{text}");
}

#[test]
fn settings_and_outputs_that_do_nothing_are_errors() {
    use std::process::{Command, Stdio};
    let example = repository().join("examples/vadd.s");
    let command = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wavemill"));
        command.arg("run").arg(&example);
        command
    };
    let output = command().env("WAVEMILL_SIMD", "foo").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.contains("WAVEMILL_SIMD=foo: this machine has ") && message.contains("portable"),
        "{message}"
    );
    // A device that is full, and a reader that is gone.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command().stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output: No space left"));
    let mut child =
        command().args(["--repeat", "3"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_source_with_errors_is_shown() {
    let path = scratch("source").join("bad.s");
    std::fs::write(&path, "; run: --grid 1\nk:\n  v_add_f33 v0, v1, v2\n").unwrap();
    let message = refused(&[path.to_str().unwrap()]);
    assert!(message.contains("bad.s:3:") && message.contains("v_add_f33"), "{message}");
}

#[test]
fn a_bundle_holds_code_for_several_gpus() {
    let bundle = fixture("fill.bundle");
    for gpu in [&["--gpu", "gfx906"][..], &[][..]] {
        let launch = [
            "--grid",
            "128",
            "--block",
            "64",
            "--arg",
            "zeros:512",
            "--arg",
            "u32:1000",
            "--show",
            "0:u32:3",
        ];
        let text = stdout(&run(&[&[bundle.as_str()][..], &launch[..], gpu].concat()));
        assert!(text.starts_with("1000 1001 1002\n"), "{text}");
    }
    assert!(refused(&[&bundle, "--gpu", "gfx908"]).contains("none of its code objects is for gfx908"));
}

/// Events say which work-groups and waves there were; vadd has 4 work-groups of 256, of four waves each.
#[test]
fn events_name_every_work_group_and_wave() {
    let file = std::env::temp_dir().join(format!("wavemill-trace-{}.json", std::process::id()));
    let example = repository().join("examples/vadd.s").display().to_string();
    stdout(&run(&[&example, "--grid", "1024", "--block", "256", "--events", file.to_str().unwrap()]));
    let trace = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let count =
        |event: &str| trace.lines().filter(|l| l.starts_with(&format!("{{\"event\": \"{event}\","))).count();
    let events = ["dispatch", "work-group", "wave"]
        .map(|e| (count(&format!("{e} started")), count(&format!("{e} ended"))));
    assert_eq!(events, [(1, 1), (4, 4), (16, 16)], "{trace}");
    let last = "{\"event\": \"dispatch ended\", \"dispatch\": 0, \"waves\": 16, \"stopped\": false}";
    assert_eq!(trace.lines().last(), Some(last));
    assert!(refused(&[&example, "--events", "/no/such/directory/file"]).contains("/no/such/directory/file"));
}

/// A record is repeated; a run that does something else is told so, with the line.
#[test]
fn a_record_is_repeated() {
    let dir = std::env::temp_dir().join(format!("wavemill-record-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("record").display().to_string();
    let example = repository().join("examples/vadd.s").display().to_string();
    let sizes = ["--grid", "1024", "--block", "256"];
    let with = |options: &[&str]| run(&[&[example.as_str()], &sizes[..], options].concat());
    stdout(&with(&["--record", &file]));
    let record = std::fs::read_to_string(&file).unwrap();
    assert_eq!(record.lines().next(), Some("wavemill record 1"));
    // Four work-groups of four waves, each of which runs to its end in one turn.
    assert_eq!(
        record.lines().filter(|l| l.starts_with("wave 0 ") && l.ends_with(" end")).count(),
        16,
        "{record}"
    );
    stdout(&with(&["--replay", &file]));
    // Records are the same every time.
    stdout(&with(&["--record", &file, "--threads", "4"]));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), record);
    let fails = |text: &str, status: i32, wants: &str| {
        std::fs::write(&file, text).unwrap();
        let output = with(&["--replay", &file]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{message}");
        assert!(message.contains(wants), "{message}");
    };
    let swapped = record.replacen("wave 0 0,0,0 1", "wave 0 0,0,0 2", 1);
    fails(&swapped, 5, "the run differs from its record: line 3: the record says `wave 0 0,0,0 2");
    fails(&format!("{record}wave 1 0,0,0 0 1 end\n"), 5, "the record goes on with `wave 1 0,0,0 0 1 end`");
    fails(&record[..record.len() - 20], 5, "the record");
    fails("hello\n", 1, "line 1: `hello` is not `wavemill record 1`");
    fails("", 1, "it is empty");
    assert!(refused(&[&example, "--replay", "/no/such/file"]).contains("/no/such/file"));
    std::fs::remove_dir_all(dir).unwrap();
}

/// Kernels for no operating system, whose registers LLVM writes to `.AMDGPU.config` and whose arguments begin at byte 36, and
/// compute shaders of AMD's graphics drivers, whose registers and user data are in PAL's metadata: objects of llc-19, and the text
/// that it writes for the same.
#[test]
fn objects_without_descriptors() {
    let bare = |name: &str| repository().join("tests/kernels/bare").join(name).display().to_string();
    let launch = |file: &str, kernel: &[&str], grid: &str, arguments: &[&str]| {
        let mut all = vec![file, "--grid", grid, "--block", "64", "-q"];
        all.extend_from_slice(kernel);
        arguments.iter().for_each(|a| all.extend(["--arg", a]));
        all.extend(["--show", "0:u32:128"]);
        stdout(&run(&all))
    };
    let expected: String = (0..128).map(|i| (3 * i).to_string()).collect::<Vec<_>>().join(" ");
    for cpu in ["gfx600", "gfx803", "gfx900", "gfx90a"] {
        let file = bare(&format!("bare.{cpu}.o"));
        let text = launch(&file, &["--kernel", "scale"], "128", &["iota:u32:128", "u32:3"]);
        assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{cpu}");
        let text = launch(&file, &["--kernel", "grid"], "192", &["zeros:u32:128"]);
        assert!(text.starts_with("192 0 "), "{cpu}: {text}");
        let shown = stdout(&wavemill(&["inspect", "--descriptors", &file]));
        assert!(shown.contains("scale") && shown.contains("user_sgpr_count"), "{cpu}: {shown}");
        let file = bare(&format!("shader.{cpu}.o"));
        let text = launch(&file, &[], "128", &["iota:u32:128", "u32:3"]);
        assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{cpu}");
        let shown = stdout(&wavemill(&["inspect", "--json", "--descriptors", "--kernels", &file]));
        assert!(shown.contains("_amdgpu_cs_main") && shown.contains("\"registers\""), "{cpu}: {shown}");
    }
    // A source says it in the same way.
    let directory = scratch("bare");
    let source = directory.join("k.s");
    let text = ".amd_amdgpu_isa \"amdgcn-amd-amdpal--gfx900\"\n.text\n.globl _amdgpu_cs_main\n.p2align 8\n\
        .type _amdgpu_cs_main,@function\n_amdgpu_cs_main:\nv_mov_b32 v1, s0\nv_mov_b32 v2, s1\nv_mov_b32 v3, s2\n\
        global_store_dword v[1:2], v3, off\ns_endpgm\n.size _amdgpu_cs_main, .-_amdgpu_cs_main\n\
        .amd_amdgpu_pal_metadata 0x2e12,0x2f0000,0x2e13,0x6\n";
    std::fs::write(&source, text).unwrap();
    let text = launch(source.to_str().unwrap(), &[], "64", &["zeros:u32:128", "u32:77"]);
    assert!(text.starts_with("77 0 "), "{text}");
}
