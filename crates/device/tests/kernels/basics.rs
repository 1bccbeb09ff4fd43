//! One work-item, one result.

use super::*;

#[test]
fn vadd() {
    each("vadd", |case| {
        let mut random = Random(1);
        let n = 1000;
        let a: Vec<f32> = (0..n).map(|_| random.between(-9.0, 9.0) as f32).collect();
        let b: Vec<f32> = (0..n).map(|_| random.between(-9.0, 9.0) as f32).collect();
        let want: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        let zeros = vec![0f32; n];
        // A grid that ends within a work-group, and one that ends beyond the data.
        for grid in [1000, 1024] {
            let out =
                case.run("vadd", &[grid], &[128], vec![buf(&a), buf(&b), buf(&zeros), val(n as u32)])?;
            same("c", &numbers::<f32>(&out[2]), &want)?;
        }
        Ok(())
    });
}

#[test]
fn ids() {
    each("vadd", |case| {
        let (grid, block) = ([20u32, 7, 3], [8u32, 4, 2]);
        let count = grid.iter().product::<u32>() as usize;
        let out = case.run("ids", &grid, &block, vec![buf(&vec![0u32; 16 * count])])?;
        let mut want = Vec::new();
        for flat in 0..count as u32 {
            let id = [flat % grid[0], flat / grid[0] % grid[1], flat / grid[0] / grid[1]];
            let group: [u32; 3] = std::array::from_fn(|d| id[d] / block[d]);
            let local: [u32; 3] = std::array::from_fn(|d| id[d] % block[d]);
            let size: [u32; 3] = std::array::from_fn(|d| block[d].min(grid[d] - group[d] * block[d]));
            let groups: [u32; 3] = std::array::from_fn(|d| grid[d].div_ceil(block[d]));
            want.extend([id, local, group, size, groups].concat());
            want.push(3);
        }
        same("ids", &numbers::<u32>(&out[0]), &want)
    });
}

#[test]
fn mandelbrot() {
    each("mandelbrot", |case| {
        let (w, h, limit) = (64u32, 48u32, 100u32);
        let (x0, y0, step) = (-2.2f32, -1.2f32, 0.05f32);
        let args = vec![buf(&vec![0u32; (w * h) as usize]), val(w), val(limit), val(x0), val(y0), val(step)];
        let out = case.run("mandelbrot", &[w, h], &[16, 8], args)?;
        let point = |i: u32| {
            let (cr, ci) = (x0 + (i % w) as f32 * step, y0 + (i / w) as f32 * step);
            let (mut zr, mut zi, mut n) = (0f32, 0f32, 0);
            while n < limit && zr * zr + zi * zi < 4.0 {
                let (rr, ii) = (zr * zr, zi * zi);
                zi = 2.0 * zr * zi + ci;
                zr = rr - ii + cr;
                n += 1;
            }
            n
        };
        let want: Vec<u32> = (0..w * h).map(point).collect();
        same("steps", &numbers::<u32>(&out[0]), &want)
    });
}

#[test]
fn stencil() {
    each("stencil", |case| {
        let (w, h, d) = (18usize, 10usize, 6usize);
        let mut random = Random(2);
        let data: Vec<f32> = (0..w * h * d).map(|_| random.between(-1.0, 1.0) as f32).collect();
        let (centre, side) = (0.4f32, 0.1f32);
        let args = vec![buf(&data), buf(&vec![0f32; w * h * d]), val(centre), val(side)];
        let out = case.run("stencil", &[w as u32, h as u32, d as u32], &[8, 4, 2], args)?;
        let want: Vec<f32> = (0..w * h * d)
            .map(|i| {
                let (x, y, z) = (i % w, i / w % h, i / w / h);
                if x == 0 || y == 0 || z == 0 || x + 1 == w || y + 1 == h || z + 1 == d {
                    return data[i];
                }
                let mut sum = data[i - 1] + data[i + 1];
                sum += data[i - w] + data[i + w];
                sum += data[i - w * h] + data[i + w * h];
                side.mul_add(sum, centre * data[i])
            })
            .collect();
        same("out", &numbers::<f32>(&out[1]), &want)
    });
}

#[test]
fn nbody() {
    each("nbody", |case| {
        let n = 128usize;
        let mut random = Random(3);
        let at: Vec<f32> = (0..4 * n).map(|_| random.between(0.1, 2.0) as f32).collect();
        let args = vec![buf(&at), buf(&vec![0f32; 4 * n]), val(n as u32)];
        let out = case.run("nbody", &[n as u32], &[64], args)?;
        let (mut want, mut scale) = (Vec::new(), Vec::new());
        for i in 0..n {
            let (mut f, mut sum) = ([0f64; 3], 0f64);
            for j in 0..n {
                let d: [f64; 3] = std::array::from_fn(|k| f64::from(at[4 * j + k] - at[4 * i + k]));
                let r2: f64 = d.iter().map(|d| d * d).sum::<f64>() + f64::from(0.01f32);
                let s = f64::from(at[4 * j + 3]) * r2.powf(-1.5);
                for k in 0..3 {
                    f[k] += d[k] * s;
                    sum += (d[k] * s).abs();
                }
            }
            want.extend([f[0], f[1], f[2], f.iter().map(|f| f * f).sum::<f64>().sqrt()]);
            scale.extend([sum; 4]);
        }
        near("force", &numbers::<f32>(&out[1]), &want, |i| 1e-5 * scale[i])
    });
}
