//! The guide's page of wrong inputs, row by row.

use crate::scratch;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A .npy file.
fn npy(descr: &str, data: &[u8]) -> Vec<u8> {
    let count = data.len() / 4;
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},), }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.as_bytes());
    file.extend(data);
    file
}

/// The files that the page speaks of.
fn files() -> PathBuf {
    let directory = scratch("wrong");
    let fixture = |name: &str| std::fs::read(repository("tests/kernels/fixtures").join(name)).unwrap();
    let object = fixture("vadd.gfx90a.clang-15.v5.O2.hsaco");
    let example = |name: &str| std::fs::read(repository("examples").join(name)).unwrap();
    let array = npy("<f4", &[0; 256]);
    let all: [(&str, &[u8]); 21] = [
        ("empty", b""),
        ("zeros.bin", &[0; 64]),
        ("script.sh", b"#!/bin/sh\necho hello\n"),
        ("cut.hsaco", &object[..100]),
        ("vadd.hsaco", &object),
        ("fill.bundle", &fixture("fill.bundle")),
        ("vadd.s", &example("vadd.s")),
        ("traps.s", &example("traps.s")),
        ("wrong.s", b"v_mov_b32 v0\n"),
        ("loop.s", b"L: s_branch L\n"),
        ("null.s", b"s_mov_b64 s[4:5], 0\ns_load_dword s0, s[4:5], 0x0\n"),
        ("badline.s", b"; run: --gird 64\ns_endpgm\n"),
        ("undefined.s", b".globl f\nf: s_getpc_b64 s[0:1]\ns_add_u32 s0, s0, missing@rel32@lo+4\n"),
        ("k.cl", b"kernel void k() {}\n"),
        ("f32.npy", &array),
        ("i32.npy", &npy("<i4", &[0; 256])),
        ("big.npy", &npy(">f4", &[0; 256])),
        ("object.npy", &npy("|O", &[0; 8])),
        ("cut.npy", &array[..20]),
        ("cut.png", b"\x89PNG\r\n\x1a\n\0\0"),
        ("cut.npz", b"PK\x03\x04"),
    ];
    for (name, bytes) in all {
        std::fs::write(directory.join(name), bytes).unwrap();
    }
    std::fs::create_dir_all(directory.join("directory")).unwrap();
    directory
}

/// Words as a shell splits them; quotes keep blanks.
fn words(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => all.push(String::new()),
            c => all.last_mut().unwrap().push(c),
        }
    }
    all
}

#[test]
fn wrong_input_is_answered_as_the_guide_says() {
    let directory = files();
    let page = std::fs::read_to_string(repository("docs/guide/src/errors.md")).unwrap();
    let rows: Vec<[&str; 3]> = page
        .lines()
        .filter(|l| l.starts_with("| `") && !l.starts_with("| `wavemill …`"))
        .map(|l| {
            let mut cells = l.trim_matches('|').splitn(3, " | ").map(str::trim);
            std::array::from_fn(|_| cells.next().expect(l).trim_matches('`').trim())
        })
        .collect();
    assert!(rows.len() >= 100, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for [command, status, said] in rows {
        let out = Command::new(env!("CARGO_BIN_EXE_wavemill"))
            .args(words(command))
            .current_dir(&directory)
            .stdin(Stdio::null())
            .env_remove("WAVEMILL_GPU")
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&out.stderr);
        let code = out.status.code().map(|c| c.to_string());
        // A backtick at its end belongs to the message.
        if code.as_deref() != Some(status) || !errors.contains(said.trim_matches('`')) {
            wrong.push(format!("{command}\n  wanted {status}: {said}\n  got {code:?}: {errors}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
