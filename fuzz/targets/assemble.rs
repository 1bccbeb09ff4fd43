//! Any text assembles to something or to errors: no panic, no hang. The first byte picks the processor and the output.

use wavemill_asm::{Options, Os, OutputType, assemble};
use wavemill_isa::{Target, target::PROCESSORS};

pub fn run(data: &[u8]) {
    let Some((&first, text)) = data.split_first() else { return };
    let mut options = Options::new(Target::new(&PROCESSORS[first as usize % PROCESSORS.len()]));
    options.show_encoding = true;
    options.output = if first & 0x80 != 0 { OutputType::Obj } else { OutputType::Asm };
    if first & 0x40 != 0 {
        options.triple = "amdgcn-amd-amdhsa".into();
        options.os = Os::AmdHsa;
    }
    let output = assemble(&options, "fuzz.s", text.to_vec());
    output.render_diagnostics();
}
