//! `wavemill exec` and `wavemill info` as a user calls them. What runs on the GPUs is tested elsewhere.

use std::process::{Command, Output};

fn wavemill(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wavemill")).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_program_gets_its_environment_and_its_status_comes_back() {
    let script = r#"
        ls -L "${LD_LIBRARY_PATH%%:*}"; echo "$WAVEMILL_GPU $WAVEMILL_GPUS $1"; echo "${LD_LIBRARY_PATH%%:*}" >&2; exit 7
    "#;
    let out = wavemill(&["exec", "--gpu", "mi250x", "--gpus", "2", "--", "sh", "-c", script, "sh", "-x"]);
    assert_eq!(out.status.code(), Some(7), "{}", text(&out.stderr));
    assert_eq!(text(&out.stdout), "libhsa-runtime64.so\nlibhsa-runtime64.so.1\nmi250x 2 -x\n");
    let directory = text(&out.stderr);
    assert!(!std::path::Path::new(directory.trim()).exists(), "{directory} is left behind");
    let killed = wavemill(&["exec", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.status.code(), Some(128 + 9));
}

#[test]
fn mistakes_are_explained() {
    let cases: [(&[&str], i32, &str); 4] = [
        (&["exec", "--gpu", "mi210x", "--", "true"], 1, "no GPU `mi210x`; did you mean mi210?"),
        (&["exec", "--gpus", "0", "--", "true"], 1, "there can be 1 to 16"),
        (&["exec", "--engine", "steam", "--", "true"], 1, "no engine `steam`"),
        (&["exec", "--", "/no/such/program"], 127, "/no/such/program"),
    ];
    for (args, code, message) in cases {
        let out = wavemill(args);
        assert_eq!(out.status.code(), Some(code), "{args:?}");
        assert!(text(&out.stderr).contains(message), "{args:?}: {}", text(&out.stderr));
    }
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
