//! Any bytes are a code object or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wavemill_object::read::File;

fuzz_target!(|data: &[u8]| {
    let Ok(file) = File::parse(data) else { return };
    let _ = file.notes();
    let _ = file.metadata();
    let _ = file.kernels();
    let _ = file.target_id();
    for section in 0..file.sections.len() as u32 {
        let _ = file.relocations(section);
    }
});
