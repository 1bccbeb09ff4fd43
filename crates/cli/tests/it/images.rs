//! `run --arg image:…`: a filter on a picture, compared with the same on the host.

use std::process::Command;

/// A picture of 64 by 48 with a gradient, a disc and some noise.
fn picture() -> Vec<u8> {
    let mut bytes = Vec::new();
    for y in 0..48i32 {
        for x in 0..64i32 {
            let inside = (x - 32).pow(2) + (y - 24).pow(2) < 200;
            let noise = (x * 7919 + y * 104_729) % 31;
            bytes.extend([(4 * x) as u8, (5 * y + noise) as u8, if inside { 250 } else { 20 }, 255]);
        }
    }
    bytes
}

/// A .npy file of bytes.
fn npy(shape: [usize; 3], data: &[u8]) -> Vec<u8> {
    let [h, w, c] = shape;
    let mut header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({h}, {w}, {c}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes());
    file.extend(data);
    file
}

#[test]
fn a_picture_is_blurred_as_on_the_host() {
    let directory = std::env::temp_dir().join(format!("wavemill-images-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = |name: &str| directory.join(name).display().to_string();
    let source = picture();
    std::fs::write(path("in.npy"), npy([48, 64, 4], &source)).unwrap();
    let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/catalyst/blur.s");
    let run = |args: &[String]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_wavemill")).arg("run").arg(kernel).args(args).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let args = |from: &str, dump: &str| -> Vec<String> {
        let mut all = vec![format!("--arg=image:{from}"), "--arg=image:64x48".into()];
        all.extend(["--arg=sampler:nearest,clamp_to_edge".into(), format!("--dump=1:{dump}")]);
        all
    };
    assert_eq!(run(&args(&path("in.npy"), &path("out.bin"))), (Some(0), String::new()));
    let got = std::fs::read(path("out.bin")).unwrap();
    // The kernel's arithmetic: sums in its order, in f32, times a ninth, to the nearest of 255 steps.
    let texel = |x: i32, y: i32, c: usize| {
        let at = (y.clamp(0, 47) * 64 + x.clamp(0, 63)) as usize;
        f32::from(source[4 * at + c]) / 255.0
    };
    for y in 0..48 {
        for x in 0..64 {
            for c in 0..4 {
                let mut sum = 0f32;
                for dy in -1..=1 {
                    for dx in -1..=1 {
                        sum += texel(x + dx, y + dy, c);
                    }
                }
                let mean = f64::from((sum * f32::from_bits(0x3de3_8e39)).clamp(0.0, 1.0));
                let want = (mean * 255.0).round_ties_even() as u8;
                assert_eq!(got[4 * (y * 64 + x) as usize + c], want, "{x}, {y}, channel {c}");
            }
        }
    }
    // As a picture, and from it again.
    assert_eq!(run(&args(&path("in.npy"), &path("out.png"))).0, Some(0));
    assert_eq!(run(&args(&path("out.png"), &path("twice.png"))).0, Some(0));
    assert!(std::fs::read(path("twice.png")).unwrap().starts_with(b"\x89PNG"));
    // What does not fit is said.
    let wrong = [
        (args("64x48,format=rgb", &path("x")), "no texel of the GPU has this channel type and order"),
        (args(&path("missing.png"), &path("x")), "missing.png"),
        (vec!["--arg=zeros:4".into(), "--arg=image:8x8".into(), "--arg=sampler:".into()], "image"),
    ];
    for (args, message) in wrong {
        let (status, said) = run(&args);
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains(message), "{said}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

/// `examples/picture.py`'s pixels.
fn scene(x: i32, y: i32) -> [i32; 3] {
    if (x - 96).pow(2) + (y - 56).pow(2) < 1600 {
        let light = 255 - ((x - 80).pow(2) + (y - 40).pow(2)) * 200 / 4096;
        return [light.max(30), (light - 90).max(20), 40];
    }
    if y < 72 {
        return [60 + y, 110 + y, 230 - y / 2];
    }
    let depth = 4096 / (y - 68);
    let square = ((x - 80) * depth).div_euclid(2048) + depth / 48;
    if square.rem_euclid(2) == 1 { [225, 220, 205] } else { [70, 60, 55] }
}

/// Width, height and pixels of a PNG file of RGBA whose rows are not filtered, which is what `--dump` writes.
fn unpacked(file: &[u8]) -> (u32, u32, Vec<u8>) {
    let word = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap());
    assert_eq!(&file[12..16], b"IHDR");
    assert_eq!(file[24..29], [8, 6, 0, 0, 0], "8 bits, RGBA");
    let (width, height) = (word(16), word(20));
    assert_eq!(&file[37..41], b"IDAT");
    let data = &file[41..][..word(33) as usize];
    let rows = miniz_oxide::inflate::decompress_to_vec_zlib(data).unwrap();
    let row = 4 * width as usize + 1;
    assert_eq!(rows.len(), row * height as usize);
    assert!(rows.chunks(row).all(|r| r[0] == 0));
    (width, height, rows.chunks(row).flat_map(|r| r[1..].to_vec()).collect())
}

/// The example's edges, of every pixel: Sobel's operator in f32, each sum in the kernel's order.
#[test]
fn the_edges_of_the_example_picture_are_those_of_the_host() {
    const TAPS: [(i32, i32, f32, f32); 8] = [
        (-1, -1, -1.0, -1.0),
        (0, -1, 0.0, -2.0),
        (1, -1, 1.0, -1.0),
        (-1, 0, -2.0, 0.0),
        (1, 0, 2.0, 0.0),
        (-1, 1, -1.0, 1.0),
        (0, 1, 0.0, 2.0),
        (1, 1, 1.0, 1.0),
    ];
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/edges.s");
    let path = std::env::temp_dir().join(format!("wavemill-edges-{}.png", std::process::id()));
    let dump = format!("--dump=1:{}", path.display());
    let output = Command::new(env!("CARGO_BIN_EXE_wavemill")).args(["run", example, &dump]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (width, height, got) = unpacked(&std::fs::read(&path).unwrap());
    std::fs::remove_file(&path).unwrap();
    assert_eq!((width, height), (160, 120));
    let mut strong = 0;
    for (i, pixel) in got.chunks(4).enumerate() {
        let (x, y) = (i as i32 % 160, i as i32 / 160);
        let mut want = [255; 4];
        for (c, wanted) in want.iter_mut().take(3).enumerate() {
            let (mut across, mut down) = (0f32, 0f32);
            for (dx, dy, a, d) in TAPS {
                let texel = scene((x + dx).clamp(0, 159), (y + dy).clamp(0, 119))[c] as f32 / 255.0;
                across += a * texel;
                down += d * texel;
            }
            let edge = f64::from((across.abs() + down.abs()).min(1.0));
            *wanted = (edge * 255.0).round_ties_even() as u8;
        }
        assert_eq!(pixel, want, "{x}, {y}");
        strong += usize::from(want[0] == 255);
    }
    // The outline of the ball and the floor, and neither nothing nor everything.
    assert!((1000..10_000).contains(&strong), "{strong}");
}
