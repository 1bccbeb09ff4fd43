//! The OpenCL kernels that `wavemill bench --opencl` knows, and what they are given.

/// An argument of a kernel.
pub enum Arg {
    /// A buffer with dwords in it.
    Buffer(Vec<u32>),
    /// A number.
    Number(u32),
    /// Bytes of local memory.
    Local(u32),
}

/// A kernel and what it is given.
pub struct Case {
    /// What users call it.
    pub name: &'static str,
    /// Its text.
    pub source: &'static str,
    /// Compiled for gfx90a.
    pub object: &'static [u8],
    /// Its name in the text.
    pub kernel: &'static str,
    /// Work-items.
    pub grid: Vec<u32>,
    /// Work-items of a work-group.
    pub block: Vec<u32>,
    /// Arguments of every launch.
    pub args: Vec<Arg>,
    /// What each launch gets behind them; as many launches as there are.
    pub steps: Vec<Vec<u32>>,
}

macro_rules! sources {
    ($($name:ident)*) => {$(
        mod $name {
            pub const SOURCE: &str =
                include_str!(concat!("../../../../tests/kernels/", stringify!($name), ".cl"));
            pub const OBJECT: &[u8] = include_bytes!(concat!(
                "../../../../tests/kernels/fixtures/", stringify!($name), ".gfx90a.clang-19.v5.O2.hsaco"
            ));
        }
    )*};
}
sources! { vadd reduce sgemm nbody sort mandelbrot }

/// The names of all kernels.
pub const NAMES: [&str; 11] = [
    "vadd",
    "reduce",
    "histogram",
    "sgemm-naive-512",
    "sgemm-naive-1024",
    "sgemm-tiled-512",
    "sgemm-tiled-1024",
    "nbody",
    "mandelbrot",
    "bitonic-lds",
    "bitonic-step",
];

/// Floats between 0 and 1 that look random, as bits.
fn floats(count: usize) -> Vec<u32> {
    (0..count as u32)
        .map(|i| ((i.wrapping_mul(2_654_435_761) >> 8) as f32 / 16_777_216.0).to_bits())
        .collect()
}

/// Integers that look random.
fn integers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i.wrapping_mul(2_654_435_761) ^ i << 7).collect()
}

/// The kernel of a name, with arguments; `small` makes it short.
pub fn case(name: &'static str, small: bool) -> Case {
    let pick = |usual: usize, least: usize| if small { least } else { usual };
    let one = vec![Vec::new()];
    let (source, object, kernel, grid, block, args, steps) = match name {
        "vadd" => {
            let n = pick(16 << 20, 1 << 12);
            let args = vec![
                Arg::Buffer(floats(n)),
                Arg::Buffer(floats(n)),
                Arg::Buffer(vec![0; n]),
                Arg::Number(n as u32),
            ];
            (vadd::SOURCE, vadd::OBJECT, "vadd", vec![n as u32], vec![256], args, one)
        }
        "reduce" => {
            let (n, groups) = (pick(16 << 20, 1 << 14), pick(256, 4));
            let args = vec![
                Arg::Buffer(integers(n)),
                Arg::Buffer(vec![0; groups]),
                Arg::Local(1024),
                Arg::Number(n as u32),
            ];
            (reduce::SOURCE, reduce::OBJECT, "reduce", vec![groups as u32 * 256], vec![256], args, one)
        }
        "histogram" => {
            let (n, groups) = (pick(16 << 20, 1 << 14), pick(256, 4));
            let args = vec![Arg::Buffer(integers(n / 4)), Arg::Buffer(vec![0; 256]), Arg::Number(n as u32)];
            (reduce::SOURCE, reduce::OBJECT, "histogram", vec![groups as u32 * 256], vec![256], args, one)
        }
        "nbody" => {
            let n = pick(16384, 256);
            let args = vec![Arg::Buffer(floats(4 * n)), Arg::Buffer(vec![0; 4 * n]), Arg::Number(n as u32)];
            (nbody::SOURCE, nbody::OBJECT, "nbody", vec![n as u32], vec![256], args, one)
        }
        "mandelbrot" => {
            let n = pick(1024, 64) as u32;
            let float = |f: f32| Arg::Number(f.to_bits());
            let args = vec![
                Arg::Buffer(vec![0; (n * n) as usize]),
                Arg::Number(n),
                Arg::Number(256),
                float(-2.0),
                float(-1.25),
                float(2.5 / n as f32),
            ];
            (mandelbrot::SOURCE, mandelbrot::OBJECT, "mandelbrot", vec![n, n], vec![64, 4], args, one)
        }
        "bitonic-lds" => {
            let n = pick(1 << 20, 1 << 12);
            let args = vec![Arg::Buffer(integers(n))];
            (sort::SOURCE, sort::OBJECT, "bitonic", vec![n as u32 / 2], vec![256], args, one)
        }
        "bitonic-step" => {
            let log = pick(20, 10) as u32;
            let sizes =
                (1..=log).flat_map(|size| (0..size).rev().map(move |stride| vec![1 << size, 1 << stride]));
            let args = vec![Arg::Buffer(integers(1 << log))];
            let (source, object) = (include_str!("step.cl"), &include_bytes!("step.gfx90a.hsaco")[..]);
            (source, object, "bitonic_step", vec![1 << log >> 1], vec![256], args, sizes.collect())
        }
        _ => {
            let large = name.ends_with("1024");
            let n = pick(if large { 1024 } else { 512 }, 64);
            let args = vec![
                Arg::Buffer(floats(n * n)),
                Arg::Buffer(floats(n * n)),
                Arg::Buffer(vec![0; n * n]),
                Arg::Number(n as u32),
            ];
            let (kernel, block) = match name.contains("naive") {
                true => ("sgemm_naive", vec![64, 4]),
                false => ("sgemm_tiled", vec![16, 16]),
            };
            (sgemm::SOURCE, sgemm::OBJECT, kernel, vec![n as u32; 2], block, args, one)
        }
    };
    Case { name, source, object, kernel, grid, block, args, steps }
}
