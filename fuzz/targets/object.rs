//! Any bytes are a code object, a bundle, an archive member to link — or an error.
//!
//! The first byte of a seed chooses nothing: whole files are mutated, so real objects make the best corpus.

use wavemill_isa::{Target, target};
use wavemill_object::bundle::code_objects;
use wavemill_object::lines::Lines;
use wavemill_object::link::{Input, Options, link};
use wavemill_object::read::File;

pub fn run(data: &[u8]) {
    let Ok(objects) = code_objects(data) else { return };
    for object in &objects {
        read(&object.data);
    }
}

fn read(data: &[u8]) {
    let inputs = [Input { name: "fuzzed".into(), data }];
    let _ = link(&inputs, &Options { allow_undefined: true, ..Options::default() });
    let Ok(file) = File::parse(data) else { return };
    let _ = file.notes();
    let _ = file.metadata();
    let _ = file.kernel_metadata();
    let _ = file.kernels();
    let _ = file.version();
    for section in 0..file.sections.len() as u32 {
        let _ = file.relocations(section);
    }
    if let Ok(Some(lines)) = Lines::read(&file) {
        let _ = lines.find(1, 0x40);
    }
    let _ = wavemill_object::debug::read(&file);
    let _ = file.dynamic_symbols();
    let _ = file.dynamic_relocations();
    let id = file.target_id().ok().flatten();
    if let Some(cpu) = id.and_then(|id| target::processor(&id.processor)) {
        let _ = wavemill_asm::restore::source(&file, Target::new(cpu), None);
        for kernel in file.kernels().iter().flatten().take(1) {
            let _ = wavemill_asm::restore::source(&file, Target::new(cpu), Some(kernel.name));
        }
    }
}
