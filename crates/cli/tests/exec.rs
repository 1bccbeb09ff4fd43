//! `wavemill exec` and `wavemill info` as a user calls them. What runs on the GPUs is tested elsewhere.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};

fn wavemill(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wavemill")).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_program_gets_its_environment_and_its_status_comes_back() {
    let script = r#"
        ls -L "${LD_LIBRARY_PATH%%:*}"; echo "$WAVEMILL_GPU $WAVEMILL_GPUS $1"; exit 7
    "#;
    let out = wavemill(&["exec", "--gpu", "mi250x", "--gpus", "2", "--", "sh", "-c", script, "sh", "-x"]);
    assert_eq!(out.status.code(), Some(7), "{}", text(&out.stderr));
    let libraries = "comgr\nlibhsa-runtime64.so\nlibhsa-runtime64.so.1\nlibwavemill-opencl.so\n";
    assert_eq!(text(&out.stdout), format!("{libraries}mi250x 2 -x\n"));
    // The environment says it, too; the command line has the last word.
    let mut command = Command::new(env!("CARGO_BIN_EXE_wavemill"));
    command.env("WAVEMILL_GPU", "mi100").env("WAVEMILL_GPUS", "3");
    let out =
        command.args(["exec", "--gpus", "2", "--", "sh", "-c", "echo $WAVEMILL_GPU $WAVEMILL_GPUS"]).output();
    assert_eq!(text(&out.unwrap().stdout), "mi100 2\n");
    let killed = wavemill(&["exec", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.status.code(), Some(128 + 9));
    let said = text(&killed.stderr);
    assert!(
        said.contains(
            "wavemill exec: sh: ended by signal 9 (SIGKILL); the system does that when memory runs out"
        ),
        "{said}"
    );
    let died = wavemill(&["exec", "--", "sh", "-c", "echo read > \"$WAVEMILL_FAULTS\"; kill -ABRT $$"]);
    assert_eq!(died.status.code(), Some(128 + 6));
    let said = text(&died.stderr);
    assert!(
        said.contains("ended by signal 6 (SIGABRT): a kernel of its queue faulted, which is reported above"),
        "{said}"
    );
    assert_eq!(text(&wavemill(&["exec", "--", "sh", "-c", "kill -TERM $$"]).stderr), "");
}

/// Starts a script under `exec`, waits for its first line, sends a signal to `wavemill` and gives what came of it.
fn signalled(signal: &str, script: &str) -> (Option<i32>, String) {
    // Shells start background jobs, tests among them, with SIGINT ignored, and what is ignored stays so.
    let mut child = Command::new("env")
        .args(["--default-signal", env!("CARGO_BIN_EXE_wavemill"), "exec", "--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    wavemill_testing::signal(child.id(), signal);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    (child.wait().unwrap().code(), rest)
}

/// Runs until a signal ends it, or some time is over.
const SLEEP: &str = "i=0; while [ $i -lt 300 ]; do sleep 0.1; i=$((i+1)); done; echo too late";

#[test]
fn signals_reach_the_program() {
    for (signal, number) in [("HUP", 1), ("INT", 2), ("TERM", 15), ("USR1", 10)] {
        // It may clean up, and say how it ended.
        let script = format!("trap 'echo got {signal}; exit 9' {signal}; echo ready; {SLEEP}");
        assert_eq!(signalled(signal, &script), (Some(9), format!("got {signal}\n")));
        // Or be ended by it.
        let script = format!("echo $$; {SLEEP}");
        assert_eq!(signalled(signal, &script), (Some(128 + number), String::new()), "{signal}");
    }
    // What was ignored from the start is so for the program.
    let program = env!("CARGO_BIN_EXE_wavemill");
    let script = "trap '' HUP; exec \"$0\" exec -- sh -c 'kill -s HUP $PPID; kill -s HUP $$; sleep 0.2; echo still here'";
    let out = Command::new("sh").args(["-c", script, program]).output().unwrap();
    assert_eq!((out.status.code(), text(&out.stdout).as_str()), (Some(0), "still here\n"));
}

#[test]
fn mistakes_are_explained() {
    let cases: [(&[&str], i32, &str); 4] = [
        (&["exec", "--gpu", "mi210x", "--", "true"], 1, "no GPU `mi210x`; did you mean mi210?"),
        (&["exec", "--gpus", "0", "--", "true"], 2, "there can be 1 to 16"),
        (&["exec", "--engine", "steam", "--", "true"], 2, "no engine `steam`"),
        (&["exec", "--", "/no/such/program"], 127, "/no/such/program"),
    ];
    for (args, code, message) in cases {
        let out = wavemill(args);
        assert_eq!(out.status.code(), Some(code), "{args:?}");
        assert!(text(&out.stderr).contains(message), "{args:?}: {}", text(&out.stderr));
    }
}

#[test]
fn a_program_that_ends_well_does_not_hide_what_its_kernels_did() {
    // The library notes faults where `exec` looks for them.
    for (kind, code) in [("read", 3), ("timeout", 4)] {
        let note = format!("echo {kind} > \"$WAVEMILL_FAULTS\"");
        assert_eq!(wavemill(&["exec", "--", "sh", "-c", &note]).status.code(), Some(code));
        let own = format!("{note}; exit 9");
        assert_eq!(wavemill(&["exec", "--", "sh", "-c", &own]).status.code(), Some(9));
    }
}

#[test]
fn time_runs_out_for_programs() {
    let out = wavemill(&[
        "exec",
        "--timeout",
        "0.1",
        "--",
        "sh",
        "-c",
        "trap 'exit 0' TERM; while :; do sleep 0.05; done",
    ]);
    assert_eq!(out.status.code(), Some(4));
    assert!(text(&out.stderr).contains("wavemill exec: sh: not done after 0.1 s"), "{}", text(&out.stderr));
    let out = wavemill(&["exec", "--timeout", "60", "--", "sh", "-c", "echo $WAVEMILL_TIMEOUT; exit 6"]);
    assert_eq!((out.status.code(), text(&out.stdout).as_str()), (Some(6), "60\n"));
    let out = wavemill(&["exec", "--timeout", "-1", "--", "true"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("`-1` is not a number of seconds from 0 up"), "{}", text(&out.stderr));
}

#[test]
fn json_is_written_even_if_no_kernel_ran() {
    let file = std::env::temp_dir().join(format!("wavemill-exec-{}.json", std::process::id()));
    let name = file.to_str().unwrap();
    let out = wavemill(&["exec", "--json", name, "--", "sh", "-c", "exit 3"]);
    assert_eq!(out.status.code(), Some(3));
    let written = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(written.contains("\"exit\": 3") && written.contains("\"dispatches\": ["), "{written}");
}

#[test]
fn info_shows_what_programs_see() {
    let out = text(&wavemill(&["info", "--gpu", "hawaii"]).stdout);
    for line in
        ["Agent 1", "Agent 2", "gfx701", "AMD Radeon R9 290X", "KERNARG, FINE GRAINED", "GROUP, 64 KB"]
    {
        assert!(out.contains(line), "no `{line}` in\n{out}");
    }
    let json = text(&wavemill(&["info", "--gpus", "2", "--json"]).stdout);
    assert_eq!(json.matches("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-").count(), 2, "{json}");
    assert_eq!(wavemill(&["info", "--gpu", "nosuch"]).status.code(), Some(1));
}
