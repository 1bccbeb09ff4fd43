//! Agents, their attributes, instruction sets, caches and wavefronts, and the system's attributes.

use crate::constants::*;
use crate::ffi::*;
use crate::setup::*;
use std::ffi::{CStr, c_void};
use std::ptr::null;

fn text(bytes: &[u8]) -> &str {
    CStr::from_bytes_until_nul(bytes).expect("an end").to_str().expect("text")
}

fn agent_text(agent: Agent, which: u32) -> String {
    let mut bytes = [0u8; 64];
    ok(hsa_agent_get_info(agent, which, bytes.as_mut_ptr().cast()));
    text(&bytes).to_owned()
}

fn isa_name(isa: Isa) -> String {
    let length: u32 = attribute(|p| hsa_isa_get_info_alt(isa, ISA_INFO_NAME_LENGTH, p));
    let mut bytes = vec![0u8; length as usize + 1];
    ok(hsa_isa_get_info_alt(isa, ISA_INFO_NAME, bytes.as_mut_ptr().cast()));
    text(&bytes).to_owned()
}

/// MI210's data sheet: gfx90a, 104 compute units, 64 lanes, 64 KiB of LDS.
#[test]
fn the_gpu() {
    let gpu = system().gpu;
    assert_eq!(agent_text(gpu, AGENT_INFO_NAME), "gfx90a");
    assert_eq!(agent_text(gpu, AGENT_INFO_VENDOR_NAME), "AMD");
    assert_eq!(agent_text(gpu, AMD_AGENT_INFO_PRODUCT_NAME), "AMD Instinct MI210");
    assert_eq!(agent_info::<u32>(gpu, AMD_AGENT_INFO_COMPUTE_UNIT_COUNT), 104);
    assert_eq!(agent_info::<u32>(gpu, AGENT_INFO_WAVEFRONT_SIZE), 64);
    assert_ne!(agent_info::<u32>(gpu, AGENT_INFO_FEATURE) & AGENT_FEATURE_KERNEL_DISPATCH, 0);
    assert_eq!(agent_info::<[u16; 3]>(gpu, AGENT_INFO_WORKGROUP_MAX_DIM), [1024; 3]);
    assert_eq!(agent_info::<u32>(gpu, AGENT_INFO_WORKGROUP_MAX_SIZE), 1024);
    assert_eq!(agent_info::<u32>(gpu, AMD_AGENT_INFO_NUM_SIMDS_PER_CU), 4);
    assert_eq!(agent_info::<u32>(gpu, AGENT_INFO_PROFILE), PROFILE_BASE);
    assert_eq!(agent_info::<u32>(gpu, AGENT_INFO_MACHINE_MODEL), MACHINE_MODEL_LARGE);
    assert!(agent_info::<bool>(gpu, AMD_AGENT_INFO_COOPERATIVE_QUEUES));
    assert!(agent_info::<u32>(gpu, AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY) > 0);
    assert!(agent_info::<u32>(gpu, AGENT_INFO_QUEUES_MAX) >= 64);
    let group = all(|f, d| hsa_amd_agent_iterate_memory_pools(gpu, f, d)).into_iter();
    let group = group.filter(|p| pool_info::<u32>(*p, AMD_MEMORY_POOL_INFO_SEGMENT) == AMD_SEGMENT_GROUP);
    let sizes: Vec<usize> = group.map(|p| pool_info(p, AMD_MEMORY_POOL_INFO_SIZE)).collect();
    assert_eq!(sizes, [64 << 10]);
}

#[test]
fn the_cpu() {
    let cpu = system().cpu;
    assert!(!agent_text(cpu, AGENT_INFO_NAME).is_empty());
    assert_eq!(agent_info::<u32>(cpu, AGENT_INFO_FEATURE) & AGENT_FEATURE_KERNEL_DISPATCH, 0);
    assert_eq!(agent_info::<u32>(cpu, AGENT_INFO_QUEUES_MAX), 0);
    assert_ne!(agent_info::<u32>(cpu, AGENT_INFO_NODE), agent_info::<u32>(system().gpu, AGENT_INFO_NODE));
}

#[test]
fn instruction_sets() {
    let gpu = system().gpu;
    let isas = all(|f, d| hsa_agent_iterate_isas(gpu, f, d));
    assert_eq!(isas.len(), 1);
    let name = isa_name(isas[0]);
    assert!(name.starts_with("amdgcn-amd-amdhsa--gfx90a"), "{name}");
    assert_eq!(agent_info::<Isa>(gpu, AGENT_INFO_ISA), isas[0]);
    let mut isa = Isa::default();
    let c_name = std::ffi::CString::new(name).expect("text");
    ok(hsa_isa_from_name(c_name.as_ptr(), &mut isa));
    let mut compatible = false;
    ok(hsa_isa_compatible(isa, isas[0], &mut compatible));
    assert!(compatible);
    ok(hsa_isa_from_name(c"amdgcn-amd-amdhsa--gfx906".as_ptr(), &mut isa));
    ok(hsa_isa_compatible(isa, isas[0], &mut compatible));
    assert!(!compatible);
    let dims: [u16; 3] = attribute(|p| hsa_isa_get_info_alt(isas[0], ISA_INFO_WORKGROUP_MAX_DIM, p));
    assert_eq!(dims, [1024; 3]);
    let mut method = 0;
    ok(hsa_isa_get_round_method(isas[0], FP_TYPE_32, FLUSH_MODE_NON_FTZ, &mut method));
    assert!([ROUND_METHOD_SINGLE, ROUND_METHOD_DOUBLE].contains(&method));
    let waves = all(|f, d| hsa_isa_iterate_wavefronts(isas[0], f, d));
    let sizes: Vec<u32> =
        waves.into_iter().map(|w| attribute(|p| hsa_wavefront_get_info(w, WAVEFRONT_INFO_SIZE, p))).collect();
    assert_eq!(sizes, [64]);
}

#[test]
fn caches() {
    for agent in [system().gpu, system().cpu] {
        for cache in all(|f, d| hsa_agent_iterate_caches(agent, f, d)) {
            let level: u8 = attribute(|p| hsa_cache_get_info(cache, CACHE_INFO_LEVEL, p));
            let size: u32 = attribute(|p| hsa_cache_get_info(cache, CACHE_INFO_SIZE, p));
            let length: u32 = attribute(|p| hsa_cache_get_info(cache, CACHE_INFO_NAME_LENGTH, p));
            let mut name = vec![0u8; length as usize + 1];
            ok(hsa_cache_get_info(cache, CACHE_INFO_NAME, name.as_mut_ptr().cast()));
            assert!((1..=3).contains(&level) && size > 0 && length > 0, "{}", text(&name));
        }
    }
}

#[test]
fn the_system() {
    system();
    let info = |which| attribute::<u16>(|p| hsa_system_get_info(which, p));
    assert_eq!(info(SYSTEM_INFO_VERSION_MAJOR), 1);
    assert_eq!(info(SYSTEM_INFO_VERSION_MINOR), 1);
    let frequency: u64 = attribute(|p| hsa_system_get_info(SYSTEM_INFO_TIMESTAMP_FREQUENCY, p));
    assert!((1_000_000..=1_000_000_000).contains(&frequency));
    let now = || attribute::<u64>(|p| hsa_system_get_info(SYSTEM_INFO_TIMESTAMP, p));
    let (began, clock) = (now(), std::time::Instant::now());
    std::thread::sleep(std::time::Duration::from_millis(20));
    let (ticks, seconds) = (now() - began, clock.elapsed().as_secs_f64());
    let expected = seconds * frequency as f64;
    assert!(
        (ticks as f64) > 0.5 * expected && (ticks as f64) < 1.5 * expected,
        "{ticks} ticks in {seconds} s"
    );
    let endian: u32 = attribute(|p| hsa_system_get_info(SYSTEM_INFO_ENDIANNESS, p));
    let model: u32 = attribute(|p| hsa_system_get_info(SYSTEM_INFO_MACHINE_MODEL, p));
    assert_eq!((endian, model), (ENDIANNESS_LITTLE, MACHINE_MODEL_LARGE));
    let mut extensions = [0u8; 128];
    ok(hsa_system_get_info(SYSTEM_INFO_EXTENSIONS, extensions.as_mut_ptr().cast::<c_void>()));
    assert_ne!(extensions[(EXTENSION_AMD_LOADER / 8) as usize] & 1 << (EXTENSION_AMD_LOADER % 8), 0);
}

/// Every status has a text of its own.
#[test]
fn statuses_have_texts() {
    system();
    let mut texts = std::collections::HashSet::new();
    let names = ALL.iter().filter(|(n, _)| n.starts_with("STATUS_"));
    for (name, status) in names {
        let mut text = null();
        ok(hsa_status_string(*status, &mut text));
        // SAFETY: a string, says the header.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        assert!(text.len() > 10 && texts.insert(text.clone()), "{name}: {text}");
    }
}

/// The runtime counts how often it was started.
#[test]
fn starting_twice() {
    system();
    ok(hsa_init());
    ok(hsa_shut_down());
    assert_eq!(agent_text(system().gpu, AGENT_INFO_NAME), "gfx90a");
}
