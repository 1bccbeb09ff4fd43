//! The fuzz target for what options and sources name: arrays, pictures, suppressions, records, and a source's own options. As
//! all of them: no panic, no hang, no more memory than was allowed.

use super::{image, npy, png, source, zip};
use std::path::Path;
use wavemill_check::report::Report;
use wavemill_check::suppress::Suppressions;
use wavemill_device::record::Log;

/// Bytes that arrays and pictures may have.
const MOST: u64 = 1 << 20;

fn read(input: &[u8]) {
    let array = zip::array(input, None, MOST).unwrap_or_else(|_| input.to_vec());
    assert!(array.len() <= input.len().max(MOST as usize));
    if let Ok(array) = npy::Array::read(&array) {
        let places = array.index(usize::MAX);
        assert_eq!(places.split(',').count(), array.shape.len().max(1), "{places}");
    }
    if let Ok((header, pixels)) = png::read(input, MOST) {
        let pixel = u64::from(header.channels);
        assert_eq!(pixels.len() as u64, u64::from(header.width) * u64::from(header.height) * pixel);
        assert_eq!(png::read(&png::write(&header, &pixels), MOST), Ok((header, pixels)));
    }
    let text = String::from_utf8_lossy(input);
    let mut known = Suppressions::default();
    let _ = known.parse(&text);
    let _ = known.cover(&Report { kernel: "k".repeat(1000), ..Report::default() });
    if let Ok(log) = Log::replay(text.clone().into_owned(), Box::new(|_| {})) {
        for event in text.lines().skip(1).take(10) {
            assert_eq!(log.note(event), Ok(()));
        }
        let end = log.finish().err().map_or(String::new(), |m| m.0);
        assert!(end.len() < 2000 && !end.contains(|c: char| c.is_control() && c != '\t'), "{end:?}");
    }
    // Files that a line names are not there; sizes and numbers are read.
    let _ = source::launch_line(input, Path::new("nowhere/line.s"));
    for line in text.lines().take(20) {
        let _ = image::sampler(line);
        if image::file_of(line).is_none() {
            let _ = image::ImageSpec::parse(line, MOST);
        }
    }
}

#[test]
fn any_argument() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/arguments");
    let scratch = std::env::temp_dir().join(format!("wavemill-arguments-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).unwrap();
    wavemill_testing::fuzz::drive("arguments", &[seeds], &scratch, read);
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0, "nothing is left of it");
    std::fs::remove_dir_all(scratch).unwrap();
}
