//! XNACK: with HSA_XNACK=1 kernels reach all memory of the program, as with the kernel's HMM. A process of its own, for the
//! variable is the whole process's.

#[allow(dead_code)]
#[path = "it/constants.rs"]
mod constants;
#[allow(dead_code)]
#[path = "it/ffi.rs"]
mod ffi;
#[allow(dead_code)]
#[path = "it/setup.rs"]
mod setup;

use ffi::*;
use setup::*;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

unsafe extern "C" fn noted(_: Status, _: *mut Queue, data: *mut c_void) {
    // SAFETY: the flag below, which outlives the queue.
    unsafe { &*data.cast::<AtomicBool>() }.store(true, Ordering::SeqCst);
}

/// Runs `count` on a word at an address; true when it completed.
fn counts(program: &Program, address: u64) -> bool {
    let failed = AtomicBool::new(false);
    let ring = Ring::create(64, Some(noted), (&raw const failed).cast_mut().cast());
    // Arguments are pageable memory, too.
    let argument = Box::new(address);
    let done = OwnSignal::new(1);
    ring.submit(&dispatch(program.kernel("count"), 64, 64, &raw const *argument as u64, Some(&done)));
    while done.load() >= 1 && !failed.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    ring.destroy();
    !failed.load(Ordering::SeqCst)
}

#[test]
fn kernels_reach_the_programs_own_memory() {
    // SAFETY: the only test of this process, and its first statement.
    unsafe { std::env::set_var("HSA_XNACK", "1") };
    let system = system();
    // HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT and XNACK_ENABLED.
    for which in [0x202, 0x206] {
        assert!(attribute::<bool>(|p| hsa_system_get_info(which, p)));
    }
    let isa: Isa = agent_info(system.gpu, constants::AGENT_INFO_ISA);
    let mut name = [0u8; 64];
    ok(hsa_isa_get_info_alt(isa, constants::ISA_INFO_NAME, name.as_mut_ptr().cast()));
    assert!(name.starts_with(b"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack+"));
    let program = Program::new(&count());
    static mut GLOBAL: u32 = 5;
    let (mut on_stack, mut on_heap) = (10u32, vec![20u32; 1 << 20]);
    let last = on_heap.len() - 1;
    assert!(counts(&program, &raw mut on_stack as u64));
    assert!(counts(&program, &raw mut on_heap[last] as u64));
    assert!(counts(&program, &raw mut GLOBAL as u64));
    // SAFETY: no wave runs, and nobody else has it.
    let global = unsafe { (&raw const GLOBAL).read_volatile() };
    // SAFETY: as above.
    let stack = unsafe { (&raw const on_stack).read_volatile() };
    assert_eq!((stack, on_heap[last], global), (74, 84, 69));
    // What is not there, and what may not be written, is a fault as ever.
    static CONSTANT: u32 = 7;
    assert!(!counts(&program, 0x10));
    assert!(!counts(&program, &raw const CONSTANT as u64));
    assert_eq!(CONSTANT, 7);
}
