//! What goes wrong on the GPU: the queue's callback is told, the queue stops, everything else goes on.

use crate::constants::*;
use crate::ffi::*;
use crate::setup::*;
use std::ffi::c_void;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What a queue's callback was called with.
#[derive(Default)]
pub struct Told(Mutex<Vec<(Status, u64)>>);

pub unsafe extern "C" fn told(status: Status, queue: *mut Queue, data: *mut c_void) {
    // SAFETY: the tests hand over a `Told` that outlives the queue.
    let told = unsafe { &*data.cast::<Told>() };
    told.0.lock().expect("no test panics in between").push((status, queue as u64));
}

impl Told {
    pub fn first(&self) -> (Status, u64) {
        let began = Instant::now();
        loop {
            if let Some(first) = self.0.lock().expect("unpoisoned").first() {
                return *first;
            }
            assert!(began.elapsed().as_secs() < 20, "the callback is not called");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Runs a packet that must fail, and checks that only its queue suffers. Returns the status.
fn fails(make: impl FnOnce(&Program) -> KernelDispatch, source: &str) -> Status {
    let system = system();
    let program = Program::new(&(source.to_owned() + &count()));
    let counter = Memory::<u32>::new(system.host, 1);
    let arguments = Memory::of(system.kernarg, &[counter.address()]);
    let record = Told::default();
    let (bad, good) = (Ring::create(64, Some(told), (&raw const record).cast_mut().cast()), Ring::new(64));
    let count = |done| dispatch(program.kernel("count"), 64, 64, arguments.address(), Some(done));
    // The queue worked before.
    let before = OwnSignal::new(1);
    bad.submit(&count(&before));
    before.wait();
    bad.submit(&make(&program));
    let (status, queue) = record.first();
    assert_eq!(queue, bad.0 as u64);
    // What comes after it is not processed.
    let after = OwnSignal::new(1);
    bad.submit(&count(&after));
    // Other queues go on.
    let other = OwnSignal::new(1);
    good.submit(&count(&other));
    other.wait();
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(after.load(), 1, "a packet after the error has run");
    assert_eq!(counter.get(), [128]);
    assert_eq!(record.0.lock().expect("unpoisoned").len(), 1);
    bad.destroy();
    good.destroy();
    status
}

fn wild(name: &str, address: u64) -> String {
    let code = format!(
        "  v_mov_b32_e32 v0, {:#x}\n  v_mov_b32_e32 v1, {:#x}\n  v_mov_b32_e32 v2, 1\n  flat_store_dword v[0:1], v2\n\
         s_waitcnt vmcnt(0) lgkmcnt(0)",
        address as u32,
        address >> 32
    );
    kernel_text(name, 0, &code, "")
}

#[test]
fn a_wild_store() {
    let status = fails(|p| dispatch(p.kernel("wild"), 64, 64, 0, None), &wild("wild", 0x7654_3210_0000));
    assert_eq!(status, STATUS_ERROR_MEMORY_FAULT);
}

#[test]
fn a_null_pointer() {
    let status = fails(|p| dispatch(p.kernel("null"), 64, 64, 0, None), &wild("null", 0));
    assert_eq!(status, STATUS_ERROR_MEMORY_FAULT);
}

/// The kernel loads its arguments from address 0.
#[test]
fn no_kernel_arguments() {
    let status = fails(|p| dispatch(p.kernel("count"), 64, 64, 0, None), "");
    assert_eq!(status, STATUS_ERROR_MEMORY_FAULT);
}

/// llvm.trap: the trap handler's ABI gives the queue the error.
#[test]
fn a_trap() {
    let status =
        fails(|p| dispatch(p.kernel("trap"), 64, 64, 0, None), &kernel_text("trap", 0, "  s_trap 2", ""));
    assert_eq!(status, STATUS_ERROR_EXCEPTION);
}

#[test]
fn an_illegal_instruction() {
    // No encoding begins with six ones.
    let code = "  .long 0xffffffff, 0xffffffff";
    let status = fails(|p| dispatch(p.kernel("wrong"), 64, 64, 0, None), &kernel_text("wrong", 0, code, ""));
    assert_eq!(status, STATUS_ERROR_ILLEGAL_INSTRUCTION);
}

#[test]
fn a_packet_without_a_kernel() {
    let status = fails(|_| dispatch(0, 64, 64, 0, None), "");
    assert_ne!(status, STATUS_SUCCESS);
    let status = fails(|_| dispatch(0x1234_5678_9abc, 64, 64, 0, None), "");
    assert_ne!(status, STATUS_SUCCESS);
}

/// More lanes than a work-group can have, and none.
#[test]
fn wrong_sizes() {
    for (grid, group) in [(4096, 2048), (0, 64), (64, 0)] {
        let status = fails(|p| dispatch(p.kernel("empty"), grid, group, 0, None), &empty());
        assert_ne!(status, STATUS_SUCCESS, "{grid} {group}");
    }
}

/// More LDS than a work-group can have.
#[test]
fn too_much_group_memory() {
    let make = |p: &Program| {
        let mut packet = dispatch(p.kernel("empty"), 64, 64, 0, None);
        packet.group_segment_size = 1 << 20;
        packet
    };
    assert_ne!(fails(make, &empty()), STATUS_SUCCESS);
}

/// A type of packet that is none.
#[test]
fn an_unknown_packet() {
    let make = |p: &Program| {
        let mut packet = dispatch(p.kernel("empty"), 64, 64, 0, None);
        packet.header = header(0x3f, false);
        packet
    };
    assert_eq!(fails(make, &empty()), STATUS_ERROR_INVALID_PACKET_FORMAT);
}

/// A kernel that never ends does not keep its queue from being inactivated and destroyed.
#[test]
fn an_endless_kernel() {
    let program = Program::new(&kernel_text("endless", 0, "again:\n  s_branch again", ""));
    for inactivate in [true, false] {
        let ring = Ring::new(64);
        for _ in 0..3 {
            ring.submit(&dispatch(program.kernel("endless"), 6400, 64, 0, None));
        }
        std::thread::sleep(Duration::from_millis(5));
        let began = Instant::now();
        if inactivate {
            ok(hsa_queue_inactivate(ring.0));
        }
        ring.destroy();
        assert!(began.elapsed().as_secs() < 5);
    }
}
