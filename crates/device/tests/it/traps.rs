//! The trap handler ABI (AMDGPU guide), handlers of the user's own, exceptions, and traps that the host asks for.

use super::{object, sizes, witnessed};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wavemill_device::kernarg::Value;
use wavemill_device::run::Launch;
use wavemill_device::traps::TrapHandler;
use wavemill_device::{Completion, Device, Use};
use wavemill_wave::Watch;

/// A kernel `k` with the address of a buffer in s[4:5], and further functions.
fn program(cpu: &str, body: &str, descriptor: &str) -> Vec<u8> {
    program_with(cpu, body, descriptor, 32)
}

fn program_with(cpu: &str, body: &str, descriptor: &str, sgprs: u32) -> Vec<u8> {
    let accum = if cpu == "gfx90a" { ".amdhsa_accum_offset 32" } else { "" };
    object(
        cpu,
        &format!(
            ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\n s_load_dwordx2 s[4:5], s[0:1], 0\n \
             s_waitcnt lgkmcnt(0)\n {body}\n.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 32\n\
             .amdhsa_next_free_sgpr {sgprs}\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_kernarg_size 8\n{accum}\n\
             {descriptor}\n.end_amdhsa_kernel\n"
        ),
    )
}

fn device(cpu: &str) -> Device {
    witnessed(cpu, 1)
}

/// Runs `k`, with `handler` in the same code object as trap handler if it has one; returns the buffer's dwords.
fn run(device: &Device, data: Vec<u8>, grid: u32) -> (Completion, Vec<u32>) {
    let loaded = device.load("t.o", data).unwrap();
    let memory = device.memory();
    let buffer = memory.allocate(256, Use::Device, "buffer").unwrap();
    if let Some(handler) = loaded.symbol("handler") {
        device.set_trap_handler(Some(TrapHandler { code: handler.address, memory: buffer.start() }));
    }
    let how = Launch {
        values: vec![Value::Bytes(buffer.start().to_le_bytes().to_vec())],
        timeout: Some(Duration::from_secs(60)),
        ..sizes(&[grid], &[64])
    };
    let done = device.launch(loaded.kernel("k").unwrap(), &how).unwrap();
    let words = buffer.to_vec().chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
    (done, words)
}

/// Runs one trap in a kernel with a descriptor; what stopped it, and whether the report shows the instruction.
fn about(trap: &str) -> Option<(&'static str, String, bool)> {
    let body = format!("v_mov_b32 v0, 42\n {trap}\n s_endpgm");
    let (done, _) = run(&device("gfx90a"), program("gfx90a", &body, ""), 64);
    let report = done.fault?;
    let shown = report.listing.iter().any(|l| l.address == report.stop.pc && l.text.starts_with("s_trap"));
    Some((report.kind, report.summary.clone(), shown))
}

fn stops(trap: &str, kind: &'static str, summary: &str) {
    assert_eq!(about(trap), Some((kind, summary.into(), true)), "{trap}");
}

// A test for each line of the AMDGPU guide's table "AMDGPU Trap Handler for AMDHSA OS".

/// "Reserved by hardware."
#[test]
fn trap_0() {
    stops("s_trap 0", "trap", "a trap reserved for the hardware (s_trap 0)");
}

/// "Reserved for HSA debugtrap intrinsic"; the ROCm code object document has it halt the wave and raise a debug
/// exception, with the argument in v0.
#[test]
fn trap_1_is_the_hsa_debugtrap() {
    stops("s_trap 1", "debugtrap", "debugtrap(42) without a debugger (s_trap 1)");
}

/// `llvm.trap`: "Causes dispatch to be terminated and its associated queue put into the error state." (The queue's state
/// is for the tests of queues.)
#[test]
fn trap_2_aborts() {
    stops("s_trap 2", "trap", "the kernel called abort (s_trap 2)");
}

/// `llvm.debugtrap`: "If debugger not installed handled same as llvm.trap", as long as code objects were of version 2.
#[test]
fn trap_3_stops_kernels_of_version_2() {
    let source = ".hsa_code_object_version 2,1\n.hsa_code_object_isa 8,0,3,\"AMD\",\"AMDGPU\"\n.text\n.p2align 8\n\
        .amdgpu_hsa_kernel k\nk:\n.amd_kernel_code_t\nis_ptr64 = 1\nenable_sgpr_kernarg_segment_ptr = 1\n\
        kernarg_segment_byte_size = 8\nuser_sgpr_count = 2\nwavefront_sgpr_count = 16\nworkitem_vgpr_count = 8\n\
        granulated_wavefront_sgpr_count = 1\ngranulated_workitem_vgpr_count = 1\n.end_amd_kernel_code_t\n \
        s_trap 3\n s_endpgm\n";
    let (done, _) = run(&device("gfx803"), object("gfx803", source), 64);
    assert_eq!(done.fault.unwrap().summary, "debug trap without a debugger (s_trap 3)");
}

/// The guide of later versions: "If debugger not installed then behaves as a no-operation. The trap handler is entered
/// and immediately returns" (LLVM's change D46769).
#[test]
fn trap_3_goes_on_in_kernels_with_descriptors() {
    for cpu in ["gfx803", "gfx90a"] {
        let body = "v_mov_b32 v0, s4\n v_mov_b32 v1, s5\n s_trap 3\n s_movk_i32 s6, 0x2000\n again:\n s_trap 3\n \
             s_sub_u32 s6, s6, 1\n s_cmp_lg_u32 s6, 0\n s_cbranch_scc1 again\n v_mov_b32 v2, 7\n \
             flat_store_dword v[0:1], v2\n s_endpgm";
        let (done, words) = run(&device(cpu), program(cpu, body, ""), 128);
        assert!(done.fault.is_none(), "{}", done.fault.unwrap());
        assert_eq!((words[0], done.waves), (7, 2));
    }
}

/// "Reserved for debugger breakpoints."
#[test]
fn trap_7_is_a_breakpoint() {
    stops("s_trap 7", "trap", "a breakpoint without a debugger (s_trap 7)");
}

/// "Reserved for debugger."
#[test]
fn traps_8_fe_and_ff_are_the_debuggers() {
    for id in [8, 0xfe, 0xff] {
        let want = format!("a trap for the debugger, without one (s_trap {id})");
        stops(&format!("s_trap {id}"), "trap", &want);
    }
}

/// The table has no other ids.
#[test]
fn other_traps_have_no_handler() {
    for id in [4, 5, 6, 9, 0x80] {
        stops(&format!("s_trap {id}"), "trap", &format!("a trap without a handler (s_trap {id})"));
    }
}

/// The argument of debugtrap is that of the first active lane.
#[test]
fn debugtrap_argument() {
    let m = device("gfx803");
    let body = "v_mov_b32 v0, 7\n s_mov_b64 exec, 4\n v_mov_b32 v0, 9\n s_trap 1\n s_endpgm";
    let (done, _) = run(&m, program("gfx803", body, ""), 64);
    assert_eq!(done.fault.unwrap().summary, "debugtrap(9) without a debugger (s_trap 1)");
}

/// A handler of one's own: it counts traps in memory that TMA names and returns behind the instruction.
const HANDLER: &str = "
.globl handler
.p2align 8
.type handler,@function
handler:
  s_getreg_b32 ttmp2, hwreg(HW_REG_TMA_LO)
  s_getreg_b32 ttmp3, hwreg(HW_REG_TMA_HI)
  s_mov_b64 ttmp[4:5], exec
  s_mov_b64 exec, 1
  v_mov_b32 v28, ttmp2
  v_mov_b32 v29, ttmp3
  v_mov_b32 v30, 1
  global_atomic_add v[28:29], v30, off
  s_bfe_u32 ttmp6, ttmp1, 0x80010
  v_mov_b32 v30, ttmp6
  global_store_dword v[28:29], v30, off offset:4
  s_bfe_u32 ttmp6, ttmp1, 0x10018
  v_mov_b32 v30, ttmp6
  global_store_dword v[28:29], v30, off offset:8
  s_waitcnt vmcnt(0)
  s_mov_b64 exec, ttmp[4:5]
  s_and_b32 ttmp1, ttmp1, 0xffff
  s_cmp_lg_u32 ttmp6, 0
  s_cbranch_scc1 back
  s_add_u32 ttmp0, ttmp0, 4
  s_addc_u32 ttmp1, ttmp1, 0
back:
  s_rfe_b64 ttmp[0:1]
.size handler, .-handler
";

#[test]
fn a_second_level_handler() {
    let m = device("gfx90a");
    let body = format!("s_trap 3\n s_trap 5\n s_endpgm\n{HANDLER}");
    let (done, words) = run(&m, program("gfx90a", &body, ""), 256);
    assert!(done.fault.is_none(), "{}", done.fault.unwrap());
    assert_eq!((words[0], words[1], words[2]), (8, 5, 0), "four waves, two traps each; the last id");
    assert_eq!(done.waves, 4);
}

#[test]
fn the_host_traps_running_waves() {
    // Waves wait until one of them has trapped.
    let body = format!(
        "v_mov_b32 v0, s4\n v_mov_b32 v1, s5\n again:\n global_load_dword v2, v[0:1], off glc\n s_waitcnt vmcnt(0)\n \
         v_readfirstlane_b32 s6, v2\n s_cmp_lt_u32 s6, 2\n s_cbranch_scc1 again\n s_endpgm\n{HANDLER}"
    );
    let m = device("gfx900");
    let over = AtomicBool::new(false);
    std::thread::scope(|s| {
        s.spawn(|| {
            while !over.load(Ordering::Acquire) {
                m.host_trap(11);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let (done, words) = run(&m, program("gfx900", &body, ""), 128);
        over.store(true, Ordering::Release);
        assert!(done.fault.is_none(), "{}", done.fault.unwrap());
        assert!(words[0] >= 2);
        assert_eq!((words[1], words[2]), (11, 1), "the id, and that the host asked");
    });
}

#[test]
fn watched_addresses_stop_the_kernel_that_lets_them() {
    let body = "v_mov_b32 v0, s4\n v_mov_b32 v1, s5\n global_store_dword v[0:1], v2, off offset:16\n \
         s_getreg_b32 s6, hwreg(HW_REG_TRAPSTS)\n v_mov_b32 v3, s6\n global_store_dword v[0:1], v3, off\n s_endpgm";
    let m = device("gfx90a");
    let data = program("gfx90a", body, "");
    let loaded = m.load("t.o", data).unwrap();
    let buffer = m.memory().allocate(256, Use::Device, "buffer").unwrap();
    m.set_watch(1, Some(Watch::new(buffer.start() + 16, 4)));
    let how =
        Launch { values: vec![Value::Bytes(buffer.start().to_le_bytes().to_vec())], ..sizes(&[64], &[64]) };
    assert!(m.launch(loaded.kernel("k").unwrap(), &how).unwrap().fault.is_none());
    let mut first = [0; 4];
    buffer.read(0, &mut first);
    assert_eq!(u32::from_le_bytes(first), 1 << 7 | 1 << 12, "address watch, number 1");
}

/// A kernel that reads TRAPSTS finds the exceptions there; nobody else pays for it.
#[test]
fn exceptions_are_gathered_for_kernels_that_look() {
    let m = device("gfx90a");
    let body = "v_mov_b32 v0, s4\n v_mov_b32 v1, s5\n v_mov_b32 v2, 0\n v_rcp_f32 v3, v2\n \
         s_getreg_b32 s6, hwreg(HW_REG_TRAPSTS, 0, 9)\n v_mov_b32 v3, s6\n global_store_dword v[0:1], v3, off\n s_endpgm";
    let (done, words) = run(&m, program("gfx90a", body, ""), 64);
    assert!(done.fault.is_none());
    assert_eq!(words[0], 1 << 2, "division by zero");
}

/// The descriptor lets exceptions trap; without a handler, that ends the dispatch.
#[test]
fn exceptions_that_the_descriptor_lets_trap() {
    for cpu in ["gfx600", "gfx803", "gfx90a"] {
        let m = device(cpu);
        let body = "v_mov_b32 v2, 0\n v_rcp_f32 v3, v2\n s_endpgm";
        let (done, _) = run(&m, program(cpu, body, ".amdhsa_exception_fp_ieee_div_zero 1"), 64);
        let report = done.fault.expect("a report");
        assert_eq!(report.kind, "exception");
        assert_eq!(report.summary, "exception that the kernel lets trap: division by zero");
        let at = report.listing.iter().find(|l| l.address == report.stop.pc).expect("the instruction");
        assert!(at.text.starts_with("v_rcp_f32"), "{}", at.text);
        let (done, _) = run(&m, program(cpu, body, ".amdhsa_exception_fp_ieee_overflow 1"), 64);
        assert!(done.fault.is_none());
    }
}

/// A kernel has the SGPRs that its descriptor says, in whole granules; others read as s0 and are not written (manual
/// 3.6.1).
#[test]
fn kernels_have_the_registers_they_ask_for() {
    let m = device("gfx90a");
    // 10 registers and 6 for VCC and the like are one granule of 16; s[0:1] are the arguments' address.
    let body = "v_mov_b32 v0, s4\n v_mov_b32 v1, s5\n s_mov_b32 s15, 5\n s_mov_b32 s16, 6\n s_sub_u32 s6, s16, s0\n \
         s_getreg_b32 s7, hwreg(HW_REG_GPR_ALLOC, 24, 4)\n v_mov_b32 v2, s15\n v_mov_b32 v3, s6\n v_mov_b32 v4, s7\n \
         v_mov_b32 v5, 1\n global_store_dwordx4 v[0:1], v[2:5], off\n s_endpgm";
    let (done, words) = run(&m, program_with("gfx90a", body, "", 10), 64);
    assert!(done.fault.is_none());
    assert_eq!(words[..4], [5, 0, 1, 1]);
}
