//! Kernels that try to reach the host's memory through everything that host and device share, and calls whose ranges end
//! beyond what they name. Each is refused or a fault; the host's memory stays as it was.

use crate::constants::*;
use crate::faults::{Told, told};
use crate::ffi::*;
use crate::setup::*;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

/// Memory of the host that no GPU may see, behind the page where an attack would begin.
fn victim() -> Vec<u64> {
    vec![0x5555_5555_5555_5555; 1 << 16]
}

fn untouched(victim: &[u64]) {
    assert!(victim.iter().all(|w| *w == 0x5555_5555_5555_5555), "a kernel reached the host's memory");
}

/// Stores a 64-bit value at an address that is in `s[base:base+1]`.
fn store(base: u32, offset: u32, value: u64) -> String {
    format!(
        "  v_mov_b32_e32 v0, {offset:#x}\n  v_mov_b32_e32 v2, {:#x}\n  v_mov_b32_e32 v3, {:#x}\n\
         global_store_dwordx2 v0, v[2:3], s[{base}:{}]\n  s_waitcnt vmcnt(0)\n",
        value as u32,
        value >> 32,
        base + 1
    )
}

/// Runs a kernel that attacks, then ordinary ones on the same queue, more than its ring has places.
fn attack(text: &str, arguments: &[u64]) {
    let system = system();
    let program = Program::new(&(text.to_owned() + &count()));
    let counter = Memory::<u32>::new(system.host, 1);
    let plain = Memory::of(system.kernarg, &[counter.address()]);
    let arguments = Memory::of(system.kernarg, arguments);
    let queue = Ring::new(64);
    // The program keeps its own copy of what the attack changes.
    let (base, size, doorbell) =
        (queue.queue().base_address, queue.queue().size, queue.queue().doorbell_signal);
    let write = |index: u64, packet: &KernelDispatch| {
        // SAFETY: within the ring.
        let to = unsafe { base.cast::<u8>().add((index % u64::from(size)) as usize * 64) };
        // SAFETY: 64 bytes in the ring; the header last.
        unsafe {
            let from = (&raw const *packet).cast::<u8>();
            to.add(4).copy_from(from.add(4), 60);
            (*to.cast::<AtomicU32>()).store(from.cast::<u32>().read_unaligned(), Ordering::Release);
        }
        hsa_signal_store_screlease(doorbell, index as Value);
    };
    for index in 0..80u64 {
        let done = OwnSignal::new(1);
        let attacks = index == 0;
        let name = if attacks { "attack" } else { "count" };
        let address = if attacks { arguments.address() } else { plain.address() };
        write(index, &dispatch(program.kernel(name), 64, 64, address, Some(&done)));
        done.wait();
    }
    assert_eq!(counter.get(), [64 * 79]);
    queue.destroy();
}

#[test]
fn through_the_queue() {
    let victim = victim();
    let target = victim[1000..].as_ptr() as u64;
    // Every word of amd_queue_t: base_address, size, doorbell, indices, apertures, scratch, and what is reserved.
    for (offset, value) in (0..256).step_by(8).map(|offset| (offset, target)).chain([(24, 1 << 31), (24, 0)])
    {
        let code = store(2, offset, value);
        attack(&kernel_text("attack", 8, &code, ".amdhsa_user_sgpr_queue_ptr 1"), &[0]);
        untouched(&victim);
    }
}

#[test]
fn through_a_signal() {
    let victim = victim();
    let target = victim[1000..].as_ptr() as u64;
    let signal = OwnSignal::new(1);
    // Kind, mailbox, queue; of a signal that the host goes on using.
    for (offset, value) in [(0, 0), (0, !0), (0, !1), (16, target), (48, target)] {
        let code = format!(
            "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n{}",
            store(4, offset, value)
        );
        attack(&kernel_text("attack", 8, &code, ""), &[signal.0.handle]);
        hsa_signal_store_screlease(signal.0, 7);
        assert_eq!(signal.load(), 7);
        untouched(&victim);
    }
}

#[test]
fn through_its_own_packet() {
    let victim = victim();
    let target = victim[1000..].as_ptr() as u64;
    // Every word of the packet that runs, beside its header: sizes, segments, kernel, arguments, completion signal.
    for offset in (8..64).step_by(8) {
        let code = store(2, offset, target);
        attack(&kernel_text("attack", 8, &code, ".amdhsa_user_sgpr_dispatch_ptr 1"), &[0]);
        untouched(&victim);
    }
}

#[test]
fn through_arguments() {
    let victim = victim();
    let target = victim[1000..].as_ptr() as u64;
    let system = system();
    let arguments = Memory::of(system.kernarg, &[0u64]);
    // Arguments that are memory of the host, and what lies around arguments.
    for (code, address) in [
        ("  s_load_dwordx2 s[4:5], s[0:1], 0x0\n".to_owned(), target),
        (store(0, 0, 1), target),
        (
            "  v_mov_b32_e32 v0, 0\n  global_store_dword v0, v0, s[0:1] offset:-4\n".to_owned(),
            arguments.address(),
        ),
        (store(0, 0x1000, 1), arguments.address()),
    ] {
        let program = Program::new(&kernel_text("attack", 8, &code, ""));
        let record = Told::default();
        let queue = Ring::create(64, Some(told), (&raw const record).cast_mut().cast());
        queue.submit(&dispatch(program.kernel("attack"), 64, 64, address, None));
        assert_eq!(record.first().0, STATUS_ERROR_MEMORY_FAULT, "{code}");
        queue.destroy();
    }
    untouched(&victim);
}

#[test]
fn through_packets() {
    let victim = victim();
    let target = victim[1000..].as_ptr() as u64;
    let system = system();
    // The completion signal of a packet is an address of the host, or the middle of a signal.
    let middle = OwnSignal::new(1);
    let program = Program::new(&empty());
    for handle in [target, 8, middle.0.handle + 8, !0] {
        let record = Told::default();
        let queue = Ring::create(64, Some(told), (&raw const record).cast_mut().cast());
        let mut packet = dispatch(program.kernel("empty"), 64, 64, 0, None);
        packet.completion_signal = Signal { handle };
        queue.submit(&packet);
        assert_ne!(record.first().0, STATUS_SUCCESS);
        queue.destroy();
        assert_eq!(middle.load(), 1);
    }
    // A kernel object that is none.
    for object in [target, 0, program.kernel("empty") + 64] {
        let record = Told::default();
        let queue = Ring::create(64, Some(told), (&raw const record).cast_mut().cast());
        queue.submit(&dispatch(object, 64, 64, 0, None));
        assert_eq!(record.first().0, STATUS_ERROR_INVALID_CODE_OBJECT);
        queue.destroy();
    }
    untouched(&victim);
    let _ = system;
}

/// The status of a kernel that must not get through.
fn fault(code: &str, lines: &str, argument: u64) -> Status {
    let system = system();
    let program = Program::new(&kernel_text("attack", 8, code, lines));
    let arguments = Memory::of(system.kernarg, &[argument]);
    let record = Told::default();
    let queue = Ring::create(64, Some(told), (&raw const record).cast_mut().cast());
    queue.submit(&dispatch(program.kernel("attack"), 64, 64, arguments.address(), None));
    let status = record.first().0;
    queue.destroy();
    status
}

#[test]
fn through_registers() {
    let victim = victim();
    // T#s have addresses in units of 256 bytes.
    let target = (victim[1000..].as_ptr() as u64).next_multiple_of(256);
    // A T# of a linear image of 64 texels of 32 bits (MI200 ISA, 8.2.5): base, format 32 UINT, width, 1D.
    let image = "  s_lshr_b64 s[8:9], s[4:5], 8\n  s_and_b32 s9, s9, 0xff\n  s_or_b32 s9, s9, 0x10400000\n  s_movk_i32 s10, 63\n\
                   s_mov_b32 s11, 0x80000fac\n  s_mov_b32 s12, 0\n  s_mov_b64 s[14:15], 0\n  s_mov_b32 s13, 0\n";
    let images = ["image_store", "image_load", "image_atomic_add"]
        .map(|name| format!("{image}  {name} v1, v0, s[8:15] dmask:0x1 unorm\n"));
    let load = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n  v_mov_b32_e32 v0, 0\n  v_mov_b32_e32 v1, 1\n  v_mov_b32_e32 v4, s4\n  v_mov_b32_e32 v5, s5\n";
    for attack in [
        // An address, a V#, FLAT_SCRATCH, and scalar loads.
        "  global_store_dword v0, v1, s[4:5]\n",
        "  s_mov_b32 s6, -1\n  s_mov_b32 s7, 0x27000\n  buffer_store_dword v1, off, s[4:7], 0\n",
        "  s_mov_b32 flat_scratch_lo, s4\n  s_mov_b32 flat_scratch_hi, s5\n  scratch_store_dword off, v1, s32 offset:0\n",
        "  s_load_dword s8, s[4:5], 0x0\n",
        "  global_atomic_add v0, v1, s[4:5]\n",
        "  s_store_dword s6, s[4:5], 0x0\n",
        "  s_atomic_add s6, s[4:5], 0x0\n",
        "  flat_store_dword v[4:5], v1\n",
        &images[0],
        &images[1],
        &images[2],
    ] {
        let code = format!("{load}  s_mov_b32 s32, 0\n{attack}  s_waitcnt vmcnt(0) lgkmcnt(0)\n");
        let lines = ".amdhsa_private_segment_fixed_size 16\n.amdhsa_user_sgpr_flat_scratch_init 1\n\
                     .amdhsa_system_sgpr_private_segment_wavefront_offset 1";
        let lines = if attack.contains("scratch") { lines } else { "" };
        let status = fault(&code, lines, target);
        assert_eq!(status, STATUS_ERROR_MEMORY_FAULT, "{attack}");
    }
    untouched(&victim);
}

#[test]
fn memory_that_is_taken_away() {
    let system = system();
    let code = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_mov_b32_e32 v0, 0\n  s_waitcnt lgkmcnt(0)\n\
                global_store_dword v0, v0, s[4:5]\n  s_waitcnt vmcnt(0)\n";
    for protection in [libc::PROT_NONE, libc::PROT_READ] {
        // SAFETY: a new mapping, which only the GPU accesses once it is protected.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let page = libc::mmap(null_mut(), 4096, access, flags, -1, 0);
            let (mut seen, mut gpu) = (null_mut(), system.gpu);
            ok(hsa_amd_memory_lock(page, 4096, &mut gpu, 1, &mut seen));
            assert_eq!(libc::mprotect(page, 4096, protection), 0);
            assert_eq!(fault(code, "", seen as u64), STATUS_ERROR_MEMORY_FAULT);
            ok(hsa_amd_memory_unlock(page));
            libc::munmap(page, 4096);
        }
    }
    let (mut seen, mut gpu) = (null_mut(), system.gpu);
    let nowhere = 0x1000 as *mut std::ffi::c_void;
    assert_eq!(hsa_amd_memory_lock(nowhere, 4096, &mut gpu, 1, &mut seen), STATUS_ERROR_INVALID_ARGUMENT);
    assert_eq!(hsa_memory_register(nowhere, 4096), STATUS_ERROR_INVALID_ARGUMENT);
}

/// Unlocked, and unmapped at once, while a wave reads it over and over: the wave faults, and nobody else does.
#[test]
fn memory_that_is_taken_away_under_a_wave() {
    let system = system();
    let code = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_mov_b32_e32 v0, 0\n  s_waitcnt lgkmcnt(0)\n\
                .Lagain:\n  global_load_dword v1, v0, s[4:5]\n  s_waitcnt vmcnt(0)\n  s_branch .Lagain\n";
    for _ in 0..5 {
        // SAFETY: a new mapping, which nobody but the GPU accesses.
        let page = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(null_mut(), 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        let (mut seen, mut gpu) = (null_mut(), system.gpu);
        ok(hsa_amd_memory_lock(page, 4096, &mut gpu, 1, &mut seen));
        let (page, seen) = (page as usize, seen as u64);
        let taker = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            ok(hsa_amd_memory_unlock(page as *mut std::ffi::c_void));
            // SAFETY: the mapping from above, which nobody uses any more but the wave.
            assert_eq!(unsafe { libc::munmap(page as *mut std::ffi::c_void, 4096) }, 0);
        });
        assert_eq!(fault(code, "", seen), STATUS_ERROR_MEMORY_FAULT);
        taker.join().unwrap();
    }
}

/// The threads of the runtime are not in a child: calls there say so instead of waiting for them.
#[test]
fn a_forked_child_is_told_that_there_is_no_runtime() {
    let system = system();
    let queue = Ring::new(64);
    let done = OwnSignal::new(1);
    // SAFETY: the child calls the runtime, which is what is tested, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let (mut signal, mut made) = (Signal::default(), null_mut());
        let right = hsa_init() == STATUS_ERROR_OUT_OF_RESOURCES
            && hsa_signal_create(1, 0, std::ptr::null(), &mut signal) == STATUS_ERROR_NOT_INITIALIZED
            && hsa_amd_memory_pool_allocate(system.host, 64, 0, &mut made) == STATUS_ERROR_NOT_INITIALIZED
            && hsa_queue_destroy(queue.0) == STATUS_ERROR_NOT_INITIALIZED
            && hsa_shut_down() == STATUS_ERROR_NOT_INITIALIZED;
        // SAFETY: ends without what belongs to the parent.
        unsafe { libc::_exit(if right { 0 } else { 1 }) };
    }
    let (mut status, began) = (-1, std::time::Instant::now());
    // SAFETY: a child of ours, and room for its status.
    while unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } == 0 {
        if began.elapsed().as_secs() > 60 {
            // SAFETY: as above.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(status, 0, "the child's status");
    // The parent goes on.
    queue.submit(&barrier(PACKET_TYPE_BARRIER_AND, &[], Some(&done)));
    done.wait();
    queue.destroy();
}

#[test]
fn ranges_end_where_allocations_do() {
    let system = system();
    let memory = Memory::<u32>::new(system.host, 16);
    let mut mine = [0u32; 32];
    let (at, own) = (memory.pointer.cast(), mine.as_mut_ptr().cast());
    let beyond = STATUS_ERROR_INVALID_ARGUMENT;
    ok(hsa_amd_memory_fill(at, 7, 16));
    assert_eq!(hsa_amd_memory_fill(at, 8, 17), beyond);
    assert_eq!(hsa_amd_memory_fill(at, 8, usize::MAX), beyond);
    assert_eq!(hsa_memory_copy(at, own, 65), beyond);
    assert_eq!(hsa_memory_copy(own, at, 65), beyond);
    assert_eq!(hsa_memory_copy(own, 0x1000 as *const _, 64), beyond);
    let done = OwnSignal::new(1);
    let copy =
        |size| hsa_amd_memory_async_copy(at, system.gpu, own, system.cpu, size, 0, std::ptr::null(), done.0);
    assert_eq!(copy(65), beyond);
    assert_eq!(done.load(), 1);
    ok(copy(64));
    done.wait();
    assert_eq!(memory.get(), [0; 16]);
}

#[test]
fn code_that_was_changed_runs_changed() {
    // An executable's memory freed and another's loaded, most likely at the same address; and code that is overwritten.
    let system = system();
    for value in 1..20u32 {
        let code = format!(
            "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_mov_b32_e32 v0, 0\n  v_mov_b32_e32 v1, {value}\n\
             s_waitcnt lgkmcnt(0)\n  global_store_dword v0, v1, s[4:5]"
        );
        let program = Program::new(&kernel_text("k", 8, &code, ""));
        let out = Memory::<u32>::new(system.host, 1);
        let arguments = Memory::of(system.kernarg, &[out.address()]);
        let (queue, done) = (Ring::new(64), OwnSignal::new(1));
        queue.submit(&dispatch(program.kernel("k"), 64, 64, arguments.address(), Some(&done)));
        done.wait();
        queue.destroy();
        assert_eq!(out.get(), [value]);
    }
}

#[test]
fn soft_queues_are_bounded() {
    let system = system();
    let doorbell = OwnSignal::new(0);
    let region = Region { handle: system.host.handle };
    let mut queue = null_mut();
    let make =
        |size, queue: &mut _| hsa_soft_queue_create(region, size, QUEUE_TYPE_MULTI, 1, doorbell.0, queue);
    assert_eq!(make(1 << 26, &mut queue), STATUS_ERROR_INVALID_ARGUMENT);
    ok(make(1 << 10, &mut queue));
    ok(hsa_queue_destroy(queue));
}
