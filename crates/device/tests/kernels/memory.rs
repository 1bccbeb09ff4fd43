//! Scratch memory, structures, calls.

use super::*;

#[test]
fn structs() {
    each("private", |case| {
        let table = [3i16, -4, 500, -600, 7, 8];
        let mut setup = 11i32.to_le_bytes().to_vec();
        setup.extend(0.25f32.to_le_bytes());
        table.iter().for_each(|t| setup.extend(t.to_le_bytes()));
        setup.extend([(-9i8) as u8, 0, 0, 0]);
        let data: Vec<i32> = (0..200).map(|i| i * 37 - 3000).collect();
        let out = case.run("structs", &[200], &[64], vec![Arg::Val(setup), buf(&data), buf(&[0f32; 200])])?;
        let want: Vec<f32> = data
            .iter()
            .enumerate()
            .map(|(i, v)| (v * 11 + i32::from(table[i % 6])) as f32 + 0.25 + -9.0)
            .collect();
        same("out", &numbers::<f32>(&out[1]), &want)
    });
}

#[test]
fn private_arrays() {
    each("private", |case| {
        let mut random = Random(10);
        let data: Vec<u32> = (0..300).map(|_| random.next() as u32).collect();
        let out = case.run("arrays", &[300], &[128], vec![buf(&data), buf(&[0u32; 300])])?;
        let hash = |v: u32| {
            let mut seen = [0u32; 32];
            for k in 0..64u32 {
                seen[(((v >> (k & 31)) ^ k) & 31) as usize] += k;
            }
            seen.iter().fold(0u32, |sum, s| sum.wrapping_mul(31).wrapping_add(*s))
        };
        same("out", &numbers::<u32>(&out[1]), &data.iter().map(|v| hash(*v)).collect::<Vec<_>>())
    });
}

#[test]
fn generic_pointers() {
    each("private", |case| {
        let data = [70u32, 71, 72, 73];
        let out = case.run("generic_pointers", &[192], &[64], vec![buf(&data), buf(&[0u32; 192])])?;
        let want: Vec<u32> = (0..192u32)
            .map(|i| match i % 3 {
                0 => i * ((i & 3) + 1) + 1,
                1 => 1000 + (i & 3),
                _ => data[(i & 3) as usize],
            })
            .collect();
        same("out", &numbers::<u32>(&out[1]), &want)
    });
}

fn fibonacci(n: u32) -> u32 {
    if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
}

fn ackermann(m: u32, n: u32) -> u32 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

#[test]
fn calls_and_recursion() {
    each("calls", |case| {
        let n = 100usize;
        let data: Vec<u32> = (0..n as u32).map(|i| i * 7 + 1).collect();
        let out = case.run("calls", &[n as u32], &[64], vec![buf(&data), buf(&vec![0u32; 3 * n])])?;
        let mut want: Vec<u32> = data.iter().map(|x| (x * 2 + 1) * 2 + 1).collect();
        want.extend(data.iter().map(|x| fibonacci(x % 10)));
        want.extend(data.iter().map(|x| ackermann(x % 3, x % 4)));
        same("out", &numbers::<u32>(&out[1]), &want)
    });
}

#[test]
fn function_pointers() {
    each("calls", |case| {
        let data: Vec<u32> = (0..100).map(|i| i * 7 + 1).collect();
        let out = case.run("pointers", &[100], &[64], vec![buf(&data), buf(&[0u32; 100])])?;
        let call = |x: u32| match (x % 3, x % 11) {
            (0, y) => y * 2 + 1,
            (1, y) => y * y,
            (_, y) => fibonacci(y),
        };
        same("out", &numbers::<u32>(&out[1]), &data.iter().map(|x| call(*x)).collect::<Vec<_>>())
    });
}

#[test]
fn a_fault_names_the_source_line() {
    each("faulty", |case| {
        let report = case.run("faulty", &[64], &[64], vec![buf(&[0u32; 64])]).expect_err("it writes too far");
        for want in ["faulty.cl:3", "<put+", "lanes       32-63", "past the end of argument 0", "=> "] {
            if !report.contains(want) {
                return Err(format!("no {want:?} in\n{report}"));
            }
        }
        Ok(())
    });
}
