//! Work-items that work together: local memory, barriers, atomics.

use super::*;

fn matrices(n: usize) -> (Vec<f32>, Vec<f32>, Vec<f32>) {
    let mut random = Random(4);
    let a: Vec<f32> = (0..n * n).map(|_| random.between(-1.0, 1.0) as f32).collect();
    let b: Vec<f32> = (0..n * n).map(|_| random.between(-1.0, 1.0) as f32).collect();
    let element = |i: usize| (0..n).fold(0f32, |sum, k| a[i / n * n + k].mul_add(b[k * n + i % n], sum));
    let c = (0..n * n).map(element).collect();
    (a, b, c)
}

#[test]
fn sgemm() {
    let n = 48;
    let (a, b, want) = matrices(n);
    each("sgemm", |case| {
        for kernel in ["sgemm_naive", "sgemm_tiled"] {
            let args = vec![buf(&a), buf(&b), buf(&vec![0f32; n * n]), val(n as u32)];
            let out = case.run(kernel, &[n as u32, n as u32], &[16, 16], args)?;
            same(kernel, &numbers::<f32>(&out[2]), &want)?;
        }
        Ok(())
    });
}

#[test]
fn reduce() {
    each("reduce", |case| {
        let n = 10_000u32;
        let mut random = Random(5);
        let data: Vec<u32> = (0..n).map(|_| random.next() as u32).collect();
        let args = vec![buf(&data), buf(&[0u32; 4]), Arg::Local(4 * 256), val(n)];
        let out = case.run("reduce", &[1024], &[256], args)?;
        let mut want = [0u32; 4];
        for (i, v) in data.iter().enumerate() {
            let sum = &mut want[i % 1024 / 256];
            *sum = sum.wrapping_add(*v);
        }
        same("sums", &numbers::<u32>(&out[1]), &want)
    });
}

#[test]
fn histogram() {
    each("reduce", |case| {
        let mut random = Random(6);
        let data: Vec<u8> = (0..20_000).map(|_| (random.next() & random.next()) as u8).collect();
        let args = vec![buf(&data), buf(&[0u32; 256]), val(data.len() as u32)];
        let out = case.run("histogram", &[1024], &[256], args)?;
        let mut want = [0u32; 256];
        data.iter().for_each(|b| want[usize::from(*b)] += 1);
        same("bins", &numbers::<u32>(&out[1]), &want)
    });
}

#[test]
fn bitonic_sort() {
    each("sort", |case| {
        let mut random = Random(7);
        let data: Vec<i32> = (0..4 * 512).map(|_| random.next() as i32 >> 8).collect();
        let out = case.run("bitonic", &[4 * 256], &[256], vec![buf(&data)])?;
        let mut want = data.clone();
        want.chunks_mut(512).for_each(<[i32]>::sort_unstable);
        same("sorted", &numbers::<i32>(&out[0]), &want)
    });
}

#[test]
fn look_back_scan() {
    each("scan", |case| {
        let tiles = 200u32;
        let mut random = Random(8);
        let data: Vec<u32> = (0..64 * tiles).map(|_| random.next() as u32 & 0xff).collect();
        let zeros = vec![0u32; data.len()];
        let args = vec![buf(&data), buf(&zeros), buf(&vec![0u32; tiles as usize]), buf(&[0u32])];
        let out = case.run("scan", &[64 * tiles], &[64], args)?;
        let sums = data.iter().scan(0u32, |sum, v| {
            *sum += v;
            Some(*sum)
        });
        same("prefix sums", &numbers::<u32>(&out[1]), &sums.collect::<Vec<_>>())
    });
}

#[test]
fn atomics() {
    each("atomics", |case| {
        let mut random = Random(9);
        let data: Vec<i32> = (0..256).map(|_| random.next() as i32).collect();
        let w = [5, 5, 5, 5, i32::MAX, i32::MIN, -1, 0, -1, 0, 7, 9];
        let d = [3i64, 3, i64::MAX, i64::MIN, 0, 11, -1, 40];
        let (mut want, mut wide) = (w, d);
        for &x in &data {
            want[0] = want[0].wrapping_add(x);
            want[1] = want[1].wrapping_sub(x);
            want[2] += 1;
            want[3] -= 1;
            want[4] = want[4].min(x);
            want[5] = want[5].max(x);
            want[6] = (want[6] as u32).min(x as u32) as i32;
            want[7] = (want[7] as u32).max(x as u32) as i32;
            want[8] &= x | 1 << (x & 31);
            want[9] |= x;
            want[10] ^= x;
            want[11] = want[11].wrapping_add(x);
            let y = i64::from(x) << 20;
            wide[0] = wide[0].wrapping_add(y);
            wide[1] = wide[1].wrapping_sub(y);
            wide[2] = wide[2].min(y);
            wide[3] = wide[3].max(y);
            wide[4] |= y;
            wide[5] ^= y;
            wide[6] &= i64::from(x) | 1i64 << (x & 63);
            wide[7] += 1;
        }
        for kernel in ["global_atomics", "local_atomics"] {
            // Local memory belongs to one work-group.
            let block = if kernel == "global_atomics" { 64 } else { 256 };
            let out = case.run(kernel, &[256], &[block], vec![buf(&w), buf(&d), buf(&data)])?;
            same(&format!("{kernel}, 32 bits"), &numbers::<i32>(&out[0]), &want)?;
            same(&format!("{kernel}, 64 bits"), &numbers::<i64>(&out[1]), &wide)?;
        }
        Ok(())
    });
}

#[test]
fn barriers_across_the_grid() {
    each("gridsync", |case| {
        let (n, rounds) = (32 * 128usize, 4u32);
        let mut random = Random(19);
        let mut data: Vec<u32> = (0..2 * n).map(|_| random.next() as u32).collect();
        let out = case.run("rounds", &[n as u32], &[128], vec![buf(&data), buf(&[0u32]), val(rounds)])?;
        for r in 0..rounds {
            let (from, to) = ((r as usize & 1) * n, (!r as usize & 1) * n);
            for i in 0..n {
                data[to + i] = data[from + (i + 64) % n].wrapping_mul(3).wrapping_add(r);
            }
        }
        same("data", &numbers::<u32>(&out[0]), &data)
    });
}
