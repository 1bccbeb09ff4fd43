//! Results do not depend on threads, SIMD kernels or the run.

use super::*;
use wavemill_wave::{Interp, Simd};

/// Runs a kernel under every back end the host has and with one or more threads; all buffers must be the same.
fn same_everywhere(fixture: &str, kernel: &str, grid: &[u32], block: &[u32], args: impl Fn() -> Vec<Arg>) {
    let mut first: Option<(Vec<Vec<u8>>, String)> = None;
    type Make = Box<dyn Fn(Target) -> Arc<dyn Engine>>;
    let mut engines: Vec<(&str, Make)> = Vec::new();
    for simd in Simd::available() {
        engines.push((simd.name(), Box::new(move |target| Arc::new(Interp::with_simd(target, simd)))));
    }
    engines.push(("jit", Box::new(|target| EngineKind::Jit.make_eager(target))));
    engines.push(("plain", Box::new(|target| EngineKind::Plain.make(target))));
    for (name, engine) in engines {
        for threads in [1, 3] {
            let case = load(fixture, threads, &engine);
            let out = case.run(kernel, grid, block, args()).unwrap();
            let how = format!("{name} on {threads} threads");
            match &first {
                None => first = Some((out, how)),
                Some((want, other)) => assert!(out == *want, "{kernel}: {how} differs from {other}"),
            }
        }
    }
}

#[test]
fn same_bits_everywhere() {
    const N: usize = 1024;
    let mut random = Random(17);
    let mut some =
        |low: f64, high: f64| (0..N).map(|_| random.between(low, high) as f32).collect::<Vec<f32>>();
    let (a, b) = (some(0.1, 10.0), some(-3.0, 3.0));
    let grid = [N as u32];
    for level in ["clang-15.v5.O2", "clang-19.v5.O0"] {
        let fixture = |name: &str| format!("{name}.gfx90a.{level}.hsaco");
        let zeros = |count: usize| buf(&vec![0f32; count]);
        let pair = || vec![buf(&a), buf(&b), zeros(15 * N)];
        same_everywhere(&fixture("math"), "math", &grid, &[64], pair);
        same_everywhere(&fixture("arith"), "floats", &grid, &[64], pair);
        let bodies = || vec![buf(&a), zeros(N), val(256u32)];
        same_everywhere(&fixture("nbody"), "nbody", &[256], &[64], bodies);
        let matrices = || vec![buf(&a), buf(&b), zeros(N), val(32u32)];
        same_everywhere(&fixture("sgemm"), "sgemm_tiled", &[32, 32], &[16, 16], matrices);
        // Any bits are halves, doubles and integers of some kind, NaNs and denormals among them.
        let mut random = Random(18);
        let bits: Vec<u64> = (0..2 * N).map(|_| random.next() | 1).collect();
        let any = |bytes: usize, results: usize| {
            let raw: Vec<u8> = bits.iter().flat_map(|b| b.to_le_bytes()).collect();
            let (x, y) = (raw[..bytes * N].to_vec(), raw[8 * N..][..bytes * N].to_vec());
            vec![Arg::Buf(x), Arg::Buf(y), Arg::Buf(vec![0; bytes * results * N])]
        };
        same_everywhere(&fixture("arith"), "halves", &grid, &[64], || any(2, 11));
        same_everywhere(&fixture("arith"), "doubles", &grid, &[64], || any(8, 12));
        same_everywhere(&fixture("arith"), "floats", &grid, &[64], || any(4, 15));
        same_everywhere(&fixture("arith"), "longs", &grid, &[64], || any(8, 15));
        same_everywhere(&fixture("arith"), "ints", &grid, &[64], || any(4, 18));
    }
}
