//! Before the runtime is started, between, and after: a process of its own, for the state is the process's.

#[allow(dead_code)]
#[path = "it/constants.rs"]
mod constants;
#[allow(dead_code)]
#[path = "it/ffi.rs"]
mod ffi;

use constants::*;
use ffi::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU16, Ordering};

unsafe extern "C" fn first_gpu(agent: Agent, data: *mut c_void) -> Status {
    let mut kind = 0u32;
    assert_eq!(hsa_agent_get_info(agent, AGENT_INFO_DEVICE, (&raw mut kind).cast()), STATUS_SUCCESS);
    if kind != DEVICE_TYPE_GPU {
        return STATUS_SUCCESS;
    }
    // SAFETY: the agent of the caller.
    unsafe { *data.cast::<Agent>() = agent };
    STATUS_INFO_BREAK
}

fn refused(when: &str) {
    let mut signal = Signal::default();
    let mut queue = null_mut();
    let mut executable = Executable::default();
    let (mut text, mut time) = (null(), 0u64);
    let bad = Agent { handle: 1 };
    let (mut pointer, any, none) = (null_mut(), u32::MAX, null_mut());
    for (name, status) in [
        ("hsa_shut_down", hsa_shut_down()),
        ("hsa_status_string", hsa_status_string(0, &mut text)),
        ("hsa_system_get_info", hsa_system_get_info(SYSTEM_INFO_TIMESTAMP, (&raw mut time).cast())),
        ("hsa_iterate_agents", hsa_iterate_agents(Some(first_gpu), null_mut())),
        ("hsa_agent_get_info", hsa_agent_get_info(bad, AGENT_INFO_NAME, (&raw mut time).cast())),
        ("hsa_signal_create", hsa_signal_create(0, 0, null(), &mut signal)),
        ("hsa_queue_create", hsa_queue_create(bad, 64, 0, None, none, any, any, &mut queue)),
        ("hsa_memory_allocate", hsa_memory_allocate(Region { handle: 1 }, 64, &mut pointer)),
        ("hsa_executable_create_alt", hsa_executable_create_alt(PROFILE_BASE, 0, null(), &mut executable)),
        (
            "hsa_amd_memory_pool_allocate",
            hsa_amd_memory_pool_allocate(Pool { handle: 1 }, 64, 0, &mut pointer),
        ),
    ] {
        assert_eq!(status, STATUS_ERROR_NOT_INITIALIZED, "{name} {when}");
    }
}

#[test]
fn before_between_and_after() {
    refused("before hsa_init");
    for _ in 0..5 {
        assert_eq!(hsa_init(), STATUS_SUCCESS);
        assert_eq!(hsa_init(), STATUS_SUCCESS);
        assert_eq!(hsa_shut_down(), STATUS_SUCCESS);
        let mut gpu = Agent::default();
        assert_eq!(hsa_iterate_agents(Some(first_gpu), (&raw mut gpu).cast()), STATUS_INFO_BREAK);
        // A queue with a barrier packet, left to the runtime's end.
        let (mut queue, mut done) = (null_mut(), Signal::default());
        let create =
            hsa_queue_create(gpu, 64, QUEUE_TYPE_MULTI, None, null_mut(), u32::MAX, u32::MAX, &mut queue);
        assert_eq!(create, STATUS_SUCCESS);
        assert_eq!(hsa_signal_create(1, 0, null(), &mut done), STATUS_SUCCESS);
        let index = hsa_queue_add_write_index_screlease(queue, 1);
        // SAFETY: the ring's first packet; the header makes it valid.
        unsafe {
            let packet = (*queue).base_address.cast::<Barrier>();
            (*packet).completion_signal = done;
            let header = AtomicU16::from_ptr(&raw mut (*packet).header);
            header.store(PACKET_TYPE_BARRIER_AND as u16, Ordering::Release);
            hsa_signal_store_screlease((*queue).doorbell_signal, index as Value);
        }
        while hsa_signal_wait_scacquire(done, SIGNAL_CONDITION_LT, 1, u64::MAX, WAIT_STATE_BLOCKED) >= 1 {}
        assert_eq!(hsa_shut_down(), STATUS_SUCCESS);
        refused("after hsa_shut_down");
    }
}
