//! Any bytes are an OpenCL binary of Catalyst, or CLRX's assembly for one, or an error; what can be read can be written as
//! a source and loaded, and comes back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wavemill_asm::clrx;
use wavemill_device::{Device, Options};
use wavemill_isa::Target;
use wavemill_object::read::File;

fuzz_target!(|data: &[u8]| {
    let assembled = if data.starts_with(b"\x7fELF") {
        data.to_vec()
    } else {
        let output = clrx::assemble(&clrx::Options::default(), "fuzzed", data.to_vec());
        let _ = output.render_diagnostics();
        let Some(binary) = output.binary else { return };
        binary
    };
    let Ok(file) = File::parse(&assembled) else { return };
    let _ = (file.kernels(), file.kernel_metadata(), file.notes());
    let _ = clrx::disassemble(&file, None);
    let Ok(Some(id)) = file.target_id() else { return };
    let Some(target) = id.target() else { return };
    drop(file);
    let target: Target = target;
    let device = Device::new(target, &Options { threads: 1, deterministic: true });
    let _ = device.load("fuzzed", assembled);
});
