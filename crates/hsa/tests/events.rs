//! System events: a process of its own, for handlers are the whole process's.

#[allow(dead_code)]
#[path = "it/constants.rs"]
mod constants;
#[allow(dead_code)]
#[path = "it/ffi.rs"]
mod ffi;
#[allow(dead_code)]
#[path = "it/setup.rs"]
mod setup;

use constants::*;
use ffi::*;
use setup::*;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

static ADDRESS: AtomicU64 = AtomicU64::new(0);
static AGENT: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn handler(event: *const Event, data: *mut c_void) -> Status {
    // SAFETY: the runtime hands over an event.
    let event = unsafe { &*event };
    if event.event_type == AMD_GPU_MEMORY_FAULT_EVENT && data as usize == 5 {
        AGENT.store(event.memory_fault.agent.handle, Ordering::SeqCst);
        ADDRESS.store(event.memory_fault.virtual_address, Ordering::SeqCst);
    }
    STATUS_SUCCESS
}

/// A handler is told the page of a wild access, once; the process lives on.
#[test]
fn a_memory_fault_is_an_event() {
    let system = system();
    ok(hsa_amd_register_system_event_handler(Some(handler), 5 as *mut c_void));
    assert_eq!(
        hsa_amd_register_system_event_handler(Some(handler), 6 as *mut c_void),
        0x1000,
        "there is one already"
    );
    let code = "  v_mov_b32_e32 v0, 0x5008\n  v_mov_b32_e32 v1, 0x4321\n  v_mov_b32_e32 v2, 1\n\
                flat_store_dword v[0:1], v2\n  s_waitcnt vmcnt(0) lgkmcnt(0)";
    let program = Program::new(&(kernel_text("wild", 0, code, "") + &count()));
    let (bad, good) = (Ring::new(64), Ring::new(64));
    bad.submit(&dispatch(program.kernel("wild"), 64, 64, 0, None));
    let began = Instant::now();
    while ADDRESS.load(Ordering::SeqCst) == 0 {
        assert!(began.elapsed().as_secs() < 20, "the handler is not called");
        std::thread::sleep(Duration::from_millis(1));
    }
    // Faults are told by the page.
    assert_eq!(ADDRESS.load(Ordering::SeqCst) & !0xfff, 0x4321_0000_5000);
    assert_eq!(AGENT.load(Ordering::SeqCst), system.gpu.handle);
    let counter = Memory::<u32>::new(system.host, 1);
    let arguments = Memory::of(system.kernarg, &[counter.address()]);
    let done = OwnSignal::new(1);
    good.submit(&dispatch(program.kernel("count"), 64, 64, arguments.address(), Some(&done)));
    done.wait();
    assert_eq!(counter.get(), [64]);
    bad.destroy();
    good.destroy();
}
