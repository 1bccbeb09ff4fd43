//! `run`'s launch: whatever loads is launched, with buffers for all arguments, and runs, faults or is refused; within its
//! memory and its time.

use std::time::Duration;
use wavemill_console::printf::Printer;
use wavemill_device::kernarg::Value;
use wavemill_device::run::Launch;
use wavemill_device::{Device, Options, Use, loader};
use wavemill_object::read::File;
use wavemill_testing::processor_time;

/// Memory that a launch may have.
const MEMORY: u64 = 1 << 30;

pub fn run(data: &[u8]) {
    let Ok(file) = File::parse(data) else { return };
    let Ok((_, target)) = loader::target_of(&file) else { return };
    let device = Device::new(target, &Options { threads: 1, deterministic: true, ..Options::default() });
    device.memory().set_limit(MEMORY);
    let Ok(object) = device.load("fuzzed", data.to_vec()) else { return };
    for kernel in object.kernels.iter().take(3) {
        let buffers: Vec<_> = kernel
            .visible_args()
            .map_while(|a| device.memory().allocate(4096, Use::Device, a.kind.clone()).ok())
            .take(64)
            .collect();
        let values =
            kernel.visible_args().zip(&buffers).map(|(argument, buffer)| match argument.kind.as_str() {
                "global_buffer" => Value::Pointer(buffer.start()),
                "dynamic_shared_pointer" => Value::Local(256),
                _ => Value::Bytes(vec![1; argument.size.min(4096) as usize]),
            });
        let launch = Launch {
            grid: vec![100],
            block: vec![64],
            values: values.collect(),
            timeout: Some(Duration::from_millis(50)),
            ..Launch::default()
        };
        let began = processor_time();
        let _ = wavemill_console::launch(&device, kernel, &launch, &Printer::new(|_, _| {}));
        // The one thread that runs waves is this one.
        let taken = processor_time() - began;
        assert!(taken < Duration::from_secs(20), "a launch took {taken:?}");
    }
}
