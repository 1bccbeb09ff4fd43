//! Any bytes are an OpenCL binary of Catalyst, or CLRX's assembly for one, or an error; what can be read can be written as
//! a source, and loaded or refused.

use wavemill_asm::clrx;
use wavemill_device::{Device, Options};
use wavemill_object::read::File;

pub fn run(data: &[u8]) {
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
    let device = Device::new(target, &Options { threads: 1, deterministic: true, ..Options::default() });
    device.memory().set_limit(1 << 30);
    let _ = device.load("fuzzed", assembled);
}
