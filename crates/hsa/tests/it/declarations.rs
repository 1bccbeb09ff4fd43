//! The tests' own declarations are those of the headers: `header.txt` is what `tests/hsa/layout.c` prints, compiled with
//! Debian's headers; `cargo xtask acid` checks that it is up to date. And the library has every function.

use crate::constants;
use crate::ffi::*;
use std::collections::HashMap;
use std::mem::offset_of;

/// The lines of the file by kind and name.
fn header() -> HashMap<(&'static str, &'static str), i64> {
    let lines = include_str!("header.txt").lines();
    let words = lines.map(|l| l.split(' ').collect::<Vec<_>>());
    words.map(|w| ((w[0], w[1]), w[2].parse().expect("a number"))).collect()
}

#[test]
fn constants_are_the_headers() {
    let mut known = header();
    known.retain(|(kind, _), _| *kind == "const");
    assert_eq!(known.len(), constants::ALL.len());
    for (name, value) in constants::ALL {
        let full = format!("HSA_{name}");
        assert_eq!(known.get(&("const", full.as_str())).map(|v| *v as u32), Some(*value), "{full}");
    }
}

#[test]
fn layouts_are_the_headers() {
    let mut known = header();
    known.retain(|(kind, _), _| *kind != "const");
    let mut check = |kind, name, value: usize| {
        assert_eq!(known.remove(&(kind, name)), Some(value as i64), "{kind} {name}");
    };
    macro_rules! layout {
        ($type:ty = $name:literal { $($field:ident = $theirs:literal $(+ $more:literal)?),* $(,)? }) => {
            check("size", $name, size_of::<$type>());
            $(check("offset", concat!($name, ".", $theirs), offset_of!($type, $field) $(+ $more)?);)*
        };
    }
    layout!(Queue = "hsa_queue_t" {
        kind = "type", features = "features", base_address = "base_address", doorbell_signal = "doorbell_signal",
        size = "size", reserved1 = "reserved1", id = "id",
    });
    layout!(AmdQueue = "amd_queue_t" {
        hsa_queue = "hsa_queue",
        write_dispatch_id = "write_dispatch_id",
        group_segment_aperture_base_hi = "group_segment_aperture_base_hi",
        private_segment_aperture_base_hi = "private_segment_aperture_base_hi",
        max_cu_id = "max_cu_id",
        max_wave_id = "max_wave_id",
        max_legacy_doorbell_dispatch_id_plus_1 = "max_legacy_doorbell_dispatch_id_plus_1",
        legacy_doorbell_lock = "legacy_doorbell_lock",
        read_dispatch_id = "read_dispatch_id",
        read_dispatch_id_field_base_byte_offset = "read_dispatch_id_field_base_byte_offset",
        compute_tmpring_size = "compute_tmpring_size",
        scratch_resource_descriptor = "scratch_resource_descriptor",
        scratch_backing_memory_location = "scratch_backing_memory_location",
        scratch_backing_memory_byte_size = "scratch_backing_memory_byte_size",
        scratch_wave64_lane_byte_size = "scratch_wave64_lane_byte_size",
        queue_properties = "queue_properties",
        queue_inactive_signal = "queue_inactive_signal",
    });
    layout!(AmdSignal = "amd_signal_t" {
        kind = "kind", value = "value", value = "hardware_doorbell_ptr", event_mailbox_ptr = "event_mailbox_ptr",
        event_id = "event_id", start_ts = "start_ts", end_ts = "end_ts", queue_ptr = "queue_ptr",
    });
    layout!(KernelDispatch = "hsa_kernel_dispatch_packet_t" {
        header = "header", setup = "setup", workgroup_size = "workgroup_size_x",
        workgroup_size = "workgroup_size_y" + 2, workgroup_size = "workgroup_size_z" + 4, grid_size = "grid_size_x",
        grid_size = "grid_size_y" + 4, grid_size = "grid_size_z" + 8, private_segment_size = "private_segment_size",
        group_segment_size = "group_segment_size", kernel_object = "kernel_object",
        kernarg_address = "kernarg_address", completion_signal = "completion_signal",
    });
    layout!(AgentDispatch = "hsa_agent_dispatch_packet_t" {
        header = "header", kind = "type", return_address = "return_address", arg = "arg",
        completion_signal = "completion_signal",
    });
    layout!(Barrier = "hsa_barrier_and_packet_t" {
        header = "header", dep_signal = "dep_signal", completion_signal = "completion_signal",
    });
    layout!(BarrierValue = "hsa_amd_barrier_value_packet_t" {
        header = "header", signal = "signal", value = "value", mask = "mask", cond = "cond",
        completion_signal = "completion_signal",
    });
    layout!(PointerInfo = "hsa_amd_pointer_info_t" {
        size = "size", kind = "type", agent_base_address = "agentBaseAddress", host_base_address = "hostBaseAddress",
        size_in_bytes = "sizeInBytes", user_data = "userData", agent_owner = "agentOwner",
        global_flags = "global_flags",
    });
    layout!(Times = "hsa_amd_profiling_dispatch_time_t" { start = "start", end = "end" });
    layout!(PitchedPtr = "hsa_pitched_ptr_t" { base = "base", pitch = "pitch", slice = "slice" });
    layout!(Event = "hsa_amd_event_t" { event_type = "event_type", memory_fault = "memory_fault" });
    layout!(MemoryFault = "hsa_amd_gpu_memory_fault_info_t" {
        agent = "agent", virtual_address = "virtual_address", fault_reason_mask = "fault_reason_mask",
    });
    layout!(SvmAttribute = "hsa_amd_svm_attribute_pair_t" { attribute = "attribute", value = "value" });
    layout!(IpcMemory = "hsa_amd_ipc_memory_t" { handle = "handle" });
    layout!(Dim3 = "hsa_dim3_t" { x = "x", y = "y", z = "z" });
    assert!(known.is_empty(), "not compared: {known:?}");
}

/// The functions that the library of ROCm 5.2 exports, and this one must; and what `hsa_ext_amd.h` has got since, up to its
/// version 1.21 (rocm-systems, 2026).
#[test]
fn every_function_is_there() {
    let mut names: Vec<String> = FUNCTIONS.iter().map(|f| f.to_string()).collect();
    let orders = ["acq_rel", "acquire", "relaxed", "release", "scacq_screl", "scacquire", "screlease"];
    for order in orders {
        for operation in ["add", "and", "cas", "exchange", "or", "subtract", "xor"] {
            names.push(format!("hsa_signal_{operation}_{order}"));
        }
        names.push(format!("hsa_queue_add_write_index_{order}"));
        names.push(format!("hsa_queue_cas_write_index_{order}"));
    }
    for order in ["acquire", "relaxed", "scacquire"] {
        for function in ["signal_load", "signal_wait", "queue_load_read_index", "queue_load_write_index"] {
            names.push(format!("hsa_{function}_{order}"));
        }
    }
    for order in ["relaxed", "release", "screlease"] {
        for function in ["signal_store", "queue_store_read_index", "queue_store_write_index"] {
            names.push(format!("hsa_{function}_{order}"));
        }
    }
    for image in [
        "clear",
        "copy",
        "create",
        "create_with_layout",
        "data_get_info",
        "data_get_info_with_layout",
        "destroy",
        "export",
        "get_capability",
        "get_capability_with_layout",
        "import",
    ] {
        names.push(format!("hsa_ext_image_{image}"));
    }
    for program in ["add_module", "create", "destroy", "finalize", "get_info", "iterate_modules"] {
        names.push(format!("hsa_ext_program_{program}"));
    }
    for later in [
        "agent_preload",
        "agent_set_async_scratch_limit",
        "ais_file_read",
        "ais_file_write",
        "counted_queue_acquire",
        "counted_queue_release",
        "enable_logging",
        "memory_async_batch_copy",
        "memory_async_copy_on_engine",
        "memory_copy_engine_status",
        "memory_get_preferred_copy_engine",
        "portable_close_dmabuf",
        "portable_export_dmabuf",
        "portable_export_dmabuf_v2",
        "queue_cu_get_mask",
        "queue_get_info",
        "signal_get_event_id",
        "signal_wait_all",
        "spm_acquire",
        "spm_release",
        "spm_set_dest_buffer",
        "svm_discard_batch_async",
        "vmem_address_free",
        "vmem_address_reserve",
        "vmem_address_reserve_align",
        "vmem_export_shareable_handle",
        "vmem_get_access",
        "vmem_get_alloc_properties_from_handle",
        "vmem_handle_create",
        "vmem_handle_release",
        "vmem_import_shareable_handle",
        "vmem_map",
        "vmem_retain_alloc_handle",
        "vmem_set_access",
        "vmem_unmap",
    ] {
        names.push(format!("hsa_amd_{later}"));
    }
    for name in ["hsa_ext_sampler_create", "hsa_ext_sampler_destroy", "hsa_amd_image_create"] {
        names.push(name.into());
    }
    for name in names {
        function::<*const ()>(&name);
    }
}
