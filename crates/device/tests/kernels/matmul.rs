//! Matrix products that Triton compiled for gfx90a (`tests/kernels/matmul.py`): its work-groups of 256 work-items each do a
//! tile of 64 by 64 with MFMA instructions, and mask what lies beyond the edges.

use super::{Arg, Random, buf, each, numbers, same, val};

/// Multiples of 16, as one of the fixtures wants them, and not of tiles.
const M: usize = 112;
const N: usize = 80;
const K: usize = 48;

/// Type of the elements, bytes of LDS that Triton says a launch needs.
const CASES: &[(&str, u32)] =
    &[("f16", 4096), ("f16-wide", 4096), ("bf16", 4096), ("f32", 8192), ("i8", 2048)];

/// A small integer's bytes in a type. All of them, their products and their sums are exact in every type, so that the
/// order in which a sum is made does not matter.
fn element(kind: &str, n: i32) -> Vec<u8> {
    let bits = (n as f32).to_bits();
    match kind {
        // The exponent's bias is 15 instead of 127, the fraction has 10 bits instead of 23.
        "f16" | "f16-wide" if n == 0 => vec![0, 0],
        "f16" | "f16-wide" => {
            let magnitude = (bits & 0x7fff_ffff) - (112 << 23);
            ((bits >> 16 & 0x8000) as u16 | (magnitude >> 13) as u16).to_le_bytes().to_vec()
        }
        "bf16" => ((bits >> 16) as u16).to_le_bytes().to_vec(),
        "f32" => bits.to_le_bytes().to_vec(),
        _ => vec![n as u8],
    }
}

#[test]
fn triton() {
    let mut random = Random(7);
    let mut matrix = |len: usize| -> Vec<i32> { (0..len).map(|_| (random.next() % 17) as i32 - 8).collect() };
    let (a, b) = (matrix(M * K), matrix(K * N));
    let mut want = vec![0i32; M * N];
    for (i, w) in want.iter_mut().enumerate() {
        *w = (0..K).map(|k| a[i / N * K + k] * b[k * N + i % N]).sum();
    }
    let seen = std::cell::Cell::new(0);
    each("matmul", |case| {
        let (kind, lds) = CASES
            .iter()
            .find(|(kind, _)| case.name.contains(&format!(".{kind}.")))
            .ok_or("a fixture that the test does not know")?;
        seen.set(seen.get() + 1);
        let bytes = |m: &[i32]| Arg::Buf(m.iter().flat_map(|&n| element(kind, n)).collect());
        let args =
            vec![bytes(&a), bytes(&b), buf(&vec![-1i32; M * N]), val(M as i32), val(N as i32), val(K as i32)];
        let grid = [M.div_ceil(64) as u32 * 256, N.div_ceil(64) as u32];
        let out = case.run_with_lds("matmul", &grid, &[256, 1], args, *lds)?;
        if *kind == "i8" {
            same(kind, &numbers::<i32>(&out[2]), &want)
        } else {
            same(kind, &numbers::<f32>(&out[2]), &want.iter().map(|&n| n as f32).collect::<Vec<_>>())
        }
    });
    assert_eq!(seen.get(), CASES.len() * crate::look::ENGINES.len(), "fixtures that ran");
}
