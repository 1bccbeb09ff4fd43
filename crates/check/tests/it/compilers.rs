//! Compilers know what to wait for: their code has no findings.

use crate::objects::{fixtures, functions};
use wavemill_check::lint;

#[test]
fn compilers_code_has_no_findings() {
    let (mut count, mut found) = (0, Vec::new());
    for path in fixtures() {
        for function in functions(&path) {
            count += 1;
            for f in lint(&function.program()) {
                found.push(format!("{}: {f:x?}", function.name));
            }
        }
    }
    assert!(count > 500, "only {count} functions");
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}
