//! Devices: the GPUs, and parts of them with some of their compute units.

use crate::abi::*;
use crate::handle::{self, Handle, Object, Slot, Table};
use crate::platform::{Platform, named_versions, platform, system, version};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use wavemill_compile::clang::{self, Language};
use wavemill_compile::spirv;
use wavemill_console::enqueue::{MAX_BYTES, MAX_EVENTS, PREFERRED_BYTES};
use wavemill_device::image::{MAX_BUFFER, MAX_SIZE, MAX_SLICES, has_images};
use wavemill_isa::Level;
use wavemill_runtime::platform::Gpu;
use wavemill_runtime::signal;

/// So many queues on the device can be there at a time, in one context.
pub const MOST_DEVICE_QUEUES: usize = 8;

/// `cl_device_id`.
pub struct Device {
    slot: Slot,
    /// The GPU.
    pub gpu: Arc<Gpu>,
    /// What it is a part of.
    pub parent: Option<Arc<Device>>,
    /// Compute units.
    pub units: u32,
    /// The properties that a part was asked for with.
    partition: Vec<isize>,
    /// Compute units that are in parts of it.
    given: Mutex<u32>,
}

static TABLE: Table<Device> = Table::new();

impl Object for Device {
    const INVALID: Code = Code::INVALID_DEVICE;

    fn table() -> &'static Table<Self> {
        &TABLE
    }

    fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if let Some(parent) = &self.parent {
            *parent.given.lock().unwrap_or_else(PoisonError::into_inner) -= self.units;
        }
    }
}

/// Work-items of a work-group unless a kernel asks for more: what compilers reckon with.
pub const MAX_WORK_GROUP: usize = 256;
/// Work-items of a work-group that asks for it.
pub const MOST_WORK_ITEMS: usize = 1024;
/// Lanes of a wave.
pub const WAVE: usize = 64;
/// Bytes of local memory.
pub const LOCAL_BYTES: u64 = 64 << 10;
/// Where sub-buffers may begin, in bytes.
pub const BASE_ALIGN: u64 = 256;

const TYPE_DEFAULT: u64 = 1;
const TYPE_CPU: u64 = 2;
const TYPE_GPU: u64 = 4;
const TYPE_ACCELERATOR: u64 = 8;
const TYPE_CUSTOM: u64 = 16;
const TYPE_ALL: u64 = 0xffff_ffff;

const PARTITION_EQUALLY: isize = 0x1086;
const PARTITION_BY_COUNTS: isize = 0x1087;
const BY_COUNTS_LIST_END: isize = 0;

/// All GPUs.
fn all() -> Result<&'static [Arc<Device>]> {
    static ALL: OnceLock<Vec<Arc<Device>>> = OnceLock::new();
    let system = system()?;
    Ok(ALL.get_or_init(|| system.gpus().iter().map(|gpu| Device::root(gpu.clone())).collect()))
}

/// The devices of a type.
pub fn of_type(kind: u64) -> Result<Vec<Arc<Device>>> {
    if kind != TYPE_ALL
        && (kind == 0 || kind & !(TYPE_DEFAULT | TYPE_CPU | TYPE_GPU | TYPE_ACCELERATOR | TYPE_CUSTOM) != 0)
    {
        return Err(Code::INVALID_DEVICE_TYPE);
    }
    let devices = all()?;
    let found = match kind {
        _ if kind & TYPE_GPU != 0 => devices.to_vec(),
        _ if kind & TYPE_DEFAULT != 0 => devices.first().cloned().into_iter().collect(),
        _ => Vec::new(),
    };
    if found.is_empty() { Err(Code::DEVICE_NOT_FOUND) } else { Ok(found) }
}

impl Device {
    /// A whole GPU.
    pub fn root(gpu: Arc<Gpu>) -> Arc<Device> {
        let units = gpu.device.profile().compute_units;
        handle::create(|slot| Device {
            slot,
            gpu,
            parent: None,
            units,
            partition: Vec::new(),
            given: Mutex::default(),
        })
    }

    fn part(self: &Arc<Self>, units: u32, partition: &[isize]) -> Arc<Device> {
        *self.given.lock().unwrap_or_else(PoisonError::into_inner) += units;
        handle::create(|slot| Device {
            slot,
            gpu: self.gpu.clone(),
            parent: Some(self.clone()),
            units,
            partition: partition.to_vec(),
            given: Mutex::default(),
        })
    }

    fn level(&self) -> Level {
        self.gpu.device.target().level()
    }

    /// Whether it has images.
    pub fn has_images(&self) -> bool {
        has_images(self.level())
    }

    /// Bytes of memory, and of the largest buffer.
    pub fn memory(&self) -> (u64, u64) {
        let all = self.gpu.device.profile().memory << 20;
        (all, all / 4 * 3)
    }

    fn extensions(&self) -> Vec<&'static str> {
        let mut all = vec![
            "cl_khr_byte_addressable_store",
            "cl_khr_fp64",
            "cl_khr_global_int32_base_atomics",
            "cl_khr_global_int32_extended_atomics",
            "cl_khr_int64_base_atomics",
            "cl_khr_int64_extended_atomics",
            "cl_khr_local_int32_base_atomics",
            "cl_khr_local_int32_extended_atomics",
        ];
        if self.has_half() {
            all.push("cl_khr_fp16");
        }
        if self.has_sub_groups() {
            all.push("cl_khr_subgroups");
        }
        if self.has_il() {
            all.push("cl_khr_il_program");
        }
        if self.has_images() {
            all.extend(["cl_khr_3d_image_writes", "cl_khr_depth_images", "cl_khr_image2d_from_buffer"]);
        }
        all
    }

    /// Whether one pointer can lead to every memory: GFX6 has no flat instructions. The device library's atomics, pipes and
    /// functions of work-groups rely on it; LLVM's libclc has none of them.
    pub fn has_generic(&self) -> bool {
        self.level() > Level::Gfx6 && !clang::uses_libclc()
    }

    /// Whether SPIR-V can be compiled: what that takes is installed, and the library that its functions are in.
    pub fn has_il(&self) -> bool {
        static INSTALLED: OnceLock<bool> = OnceLock::new();
        *INSTALLED.get_or_init(|| spirv::available() && !clang::uses_libclc())
    }

    /// Whether it calculates with halves, and the library, too.
    fn has_half(&self) -> bool {
        self.level() >= Level::Gfx8 && !clang::uses_libclc()
    }

    /// Whether the library has functions of sub-groups, which are waves.
    fn has_sub_groups(&self) -> bool {
        !clang::uses_libclc()
    }

    /// Whether kernels can enqueue kernels: the device library's functions for it have generic pointers.
    pub fn has_device_queues(&self) -> bool {
        self.has_generic()
    }

    /// Optional features of OpenCL C.
    pub fn features(&self) -> Vec<&'static str> {
        let mut all = vec!["__opencl_c_fp64", "__opencl_c_int64"];
        if self.has_sub_groups() {
            all.push("__opencl_c_subgroups");
        }
        if self.has_generic() {
            all.extend([
                "__opencl_c_atomic_order_acq_rel",
                "__opencl_c_atomic_order_seq_cst",
                "__opencl_c_atomic_scope_all_devices",
                "__opencl_c_atomic_scope_device",
                "__opencl_c_device_enqueue",
                "__opencl_c_generic_address_space",
                "__opencl_c_pipes",
                "__opencl_c_program_scope_global_variables",
                "__opencl_c_work_group_collective_functions",
            ]);
        }
        if self.has_images() {
            all.extend(["__opencl_c_3d_image_writes", "__opencl_c_images", "__opencl_c_read_write_images"]);
        }
        all
    }

    fn info(self: &Arc<Self>, name: u32, answer: Answer) -> Result {
        let device = &self.gpu.device;
        let profile = device.profile();
        let images = self.has_images();
        let (memory, largest) = self.memory();
        let if_images = |n: u64| if images { n } else { 0 };
        let if_queues = |n: u64| if self.has_device_queues() { n } else { 0 };
        // INF_NAN, the three round modes, FMA; denormals of single numbers since GFX9.
        let floats = 2 | 4 | 8 | 16 | 32u64;
        let half = self.has_half();
        match name {
            0x1000 => answer.set(TYPE_GPU),
            0x1001 => answer.set(0x1002u32),
            0x1002 => answer.set(self.units),
            0x1003 => answer.set(3u32),
            0x1004 => answer.set(MAX_WORK_GROUP),
            0x1005 => answer.list(&[MOST_WORK_ITEMS; 3]),
            // Preferred and native widths of char, short, int, long, float, double, half.
            0x1006 | 0x1036 => answer.set(4u32),
            0x1007 | 0x1037 => answer.set(2u32),
            0x1008..=0x100b | 0x1038..=0x103b => answer.set(1u32),
            0x1034 | 0x103c => answer.set(u32::from(half)),
            0x100c => answer.set(profile.clock),
            0x100d => answer.set(64u32),
            0x100e => answer.set(if_images(128) as u32),
            0x100f => answer.set(if_images(64) as u32),
            0x1010 => answer.set(largest),
            0x1011 | 0x1012 => answer.set(if_images(MAX_SIZE) as usize),
            0x1013 | 0x1014 => answer.set(if_images(MAX_SIZE) as usize),
            0x1015 => answer.set(if_images(MAX_SLICES) as usize),
            0x1016 => answer.set(images),
            0x1017 => answer.set(4096usize),
            0x1018 => answer.set(if_images(16) as u32),
            0x1019 => answer.set(BASE_ALIGN as u32 * 8),
            0x101a => answer.set(128u32),
            0x101b => {
                let denormals = u64::from(self.level().is_gfx9());
                answer.set(floats | denormals | 0x80)
            }
            0x101c => answer.set(2u32),
            0x101d => answer.set(profile.cache_line()),
            0x101e => answer.set(u64::from(profile.l1()) << 10),
            0x101f => answer.set(memory),
            0x1020 => answer.set(largest),
            0x1021 => answer.set(16u32),
            0x1022 => answer.set(1u32),
            0x1023 => answer.set(LOCAL_BYTES),
            0x1024 => answer.set(false),
            0x1025 => answer.set(1usize),
            0x1026 => answer.set(true),
            0x1027 => answer.set(true),
            0x1028 | 0x103e => answer.set(clang::available(Language::OpenCl)),
            // Kernels, and functions of the host.
            0x1029 => answer.set(3u64),
            // Out of order, profiling.
            0x102a => answer.set(3u64),
            0x102b => answer.text(profile.product),
            0x102c => answer.text("Advanced Micro Devices, Inc."),
            0x102d => answer.text(env!("CARGO_PKG_VERSION")),
            0x102e => answer.text("FULL_PROFILE"),
            0x102f => answer.text(&format!("OpenCL 3.0 Wavemill {}", profile.processor)),
            0x1030 => answer.text(&self.extensions().join(" ")),
            0x1031 => answer.set(platform()?.handle()),
            0x1032 => answer.set(floats | 1),
            0x1033 => answer.set(if half { floats | 1 } else { 0 }),
            0x1035 => answer.set(true),
            0x103d => answer.text("OpenCL C 1.2 "),
            // No built-in kernels.
            0x103f => answer.text(""),
            0x1040 => answer.set(if_images(MAX_BUFFER) as usize),
            0x1041 => answer.set(if_images(MAX_SLICES) as usize),
            0x1042 => answer.set(self.parent.as_ref().map_or(Handle::NULL, |p| p.handle())),
            0x1043 => answer.set(self.units),
            0x1044 => answer.list(&[PARTITION_EQUALLY, PARTITION_BY_COUNTS]),
            0x1045 => answer.set(0u64),
            0x1046 => answer.list(&self.partition),
            0x1047 => answer.set(if self.parent.is_some() { handle::references(self)? } else { 1 }),
            0x1048 => answer.set(true),
            0x1049 => answer.set(16usize << 20),
            // Rows of images made of buffers, in pixels.
            0x104a | 0x104b => answer.set(if_images(BASE_ALIGN) as u32),
            0x104c => answer.set(if_images(64) as u32),
            0x104d => answer.set(64usize << 10),
            // Queues on the device: their properties, preferred and largest size, number, events.
            0x104e => answer.set(if_queues(3)),
            0x104f => answer.set(if_queues(PREFERRED_BYTES) as u32),
            0x1050 => answer.set(if_queues(MAX_BYTES) as u32),
            0x1051 => answer.set(if_queues(MOST_DEVICE_QUEUES as u64) as u32),
            0x1052 => answer.set(if_queues(MAX_EVENTS) as u32),
            // There are some, and the default one can be replaced.
            0x1070 => answer.set(if_queues(3)),
            // Coarse- and fine-grained buffers, and atomics in them.
            0x1053 => answer.set(1u64 | 2 | 8),
            0x1054 => answer.set(largest as usize),
            0x1055 | 0x1056 => answer.set(if self.has_generic() { 16u32 } else { 0 }),
            0x1057 => answer.set(if self.has_generic() { 1024u32 } else { 0 }),
            0x1058..=0x105a => answer.set(0u32),
            // Intermediate languages: SPIR-V, if at all.
            0x105b => answer.text(if self.has_il() { "SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2" } else { "" }),
            0x105c => answer.set(if self.has_sub_groups() { (MOST_WORK_ITEMS / WAVE) as u32 } else { 0 }),
            0x105d => answer.set(self.has_sub_groups()),
            0x105e => answer.set(version(3, 0)),
            0x1060 => {
                answer.bytes(&named_versions(self.extensions().into_iter().map(|e| (e, version(1, 0)))))
            }
            0x1061 => {
                let versions = if self.has_il() { &[(1, 0), (1, 1), (1, 2)][..] } else { &[] };
                answer.bytes(&named_versions(versions.iter().map(|(a, b)| ("SPIR-V", version(*a, *b)))))
            }
            0x1062 => answer.bytes(&[]),
            // Relaxed, acquire-release, sequentially consistent; work-item, work-group, device, all devices.
            0x1063 => answer.set(0x77u64),
            0x1064 => answer.set(0x7fu64),
            0x1065 => answer.set(true),
            0x1066 => {
                let versions = [(1, 0), (1, 1), (1, 2), (2, 0), (3, 0)];
                // The generic address space is no choice in 2.0.
                let versions = versions.into_iter().filter(|v| *v != (2, 0) || self.has_generic());
                answer.bytes(&named_versions(versions.map(|(a, b)| ("OpenCL C", version(a, b)))))
            }
            0x1067 => answer.set(WAVE),
            0x1068 | 0x1069 => answer.set(self.has_generic()),
            0x106f => answer.bytes(&named_versions(self.features().into_iter().map(|f| (f, version(3, 0))))),
            0x1071 => answer.set(self.has_generic()),
            0x1072 => answer.text(""),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// The compute units of each part that properties ask for.
    fn counts(&self, properties: &[isize]) -> Result<Vec<u32>> {
        let free = self.units - *self.given.lock().unwrap_or_else(PoisonError::into_inner);
        match properties {
            [PARTITION_EQUALLY, n, ..] => {
                let n = u32::try_from(*n).ok().filter(|n| *n > 0).ok_or(Code::INVALID_VALUE)?;
                match free / n {
                    0 => Err(Code::DEVICE_PARTITION_FAILED),
                    parts => Ok(vec![n; parts as usize]),
                }
            }
            [PARTITION_BY_COUNTS, counts @ ..] => {
                let counts = counts.iter().take_while(|n| **n != BY_COUNTS_LIST_END);
                let counts: Option<Vec<u32>> = counts.map(|n| u32::try_from(*n).ok()).collect();
                let counts = counts.filter(|c| !c.is_empty()).ok_or(Code::INVALID_DEVICE_PARTITION_COUNT)?;
                match counts.iter().map(|n| u64::from(*n)).sum::<u64>() {
                    sum if sum > self.units.into() => Err(Code::INVALID_DEVICE_PARTITION_COUNT),
                    sum if sum > free.into() => Err(Code::DEVICE_PARTITION_FAILED),
                    _ => Ok(counts),
                }
            }
            _ => Err(Code::INVALID_VALUE),
        }
    }
}

/// Properties up to the zero that ends them; the list of counts has a zero of its own.
fn partition(properties: In<isize>) -> Result<Vec<isize>> {
    let mut all: Vec<isize> = Vec::new();
    loop {
        let next =
            In::<isize>::of(properties.address() + 8 * all.len() as u64).get_or(Code::INVALID_VALUE)?;
        all.push(next);
        if next == 0 || all.len() > MOST_WORK_ITEMS {
            break;
        }
    }
    if all[0] == PARTITION_BY_COUNTS {
        all.push(0);
    }
    Ok(all)
}

api! {
    /// Devices of a type.
    fn clGetDeviceIDs(
        of: Handle<Platform>,
        kind: u64,
        room: u32,
        devices: Out<Handle<Device>>,
        count: Out<u32>,
    ) -> Code {
        if !of.is_null() {
            handle::get(of)?;
        }
        if room == 0 && !devices.is_null() || devices.is_null() && count.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let found = of_type(kind)?;
        found.iter().take(room as usize).enumerate().for_each(|(i, d)| devices.put_at(i, d.handle()));
        count.put(found.len() as u32);
        Ok(())
    }

    /// A fact about a device.
    fn clGetDeviceInfo(
        device: Handle<Device>,
        name: u32,
        room: usize,
        value: Bytes,
        size: Out<usize>,
    ) -> Code {
        handle::get(device)?.info(name, Answer::new(room, value, size))
    }

    /// Parts of a device.
    fn clCreateSubDevices(
        device: Handle<Device>,
        properties: In<isize>,
        room: u32,
        devices: Out<Handle<Device>>,
        count: Out<u32>,
    ) -> Code {
        let device = handle::get(device)?;
        let properties = partition(properties)?;
        let counts = device.counts(&properties)?;
        if !devices.is_null() && (room as usize) < counts.len() {
            return Err(Code::INVALID_VALUE);
        }
        if !devices.is_null() {
            for (i, units) in counts.iter().enumerate() {
                devices.put_at(i, device.part(*units, &properties).handle());
            }
        }
        count.put(counts.len() as u32);
        Ok(())
    }

    /// One reference to a part more.
    fn clRetainDevice(device: Handle<Device>) -> Code {
        match handle::get(device)?.parent {
            Some(_) => handle::retain(device),
            None => Ok(()),
        }
    }

    /// One reference to a part less.
    fn clReleaseDevice(device: Handle<Device>) -> Code {
        match handle::get(device)?.parent {
            Some(_) => handle::release(device).map(|_| ()),
            None => Ok(()),
        }
    }

    /// The device's clock and the host's, which are the same.
    fn clGetDeviceAndHostTimer(device: Handle<Device>, device_time: Out<u64>, host_time: Out<u64>) -> Code {
        handle::get(device)?;
        if device_time.is_null() || host_time.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let now = signal::now();
        device_time.put(now);
        host_time.put(now);
        Ok(())
    }

    /// The host's clock.
    fn clGetHostTimer(device: Handle<Device>, host_time: Out<u64>) -> Code {
        handle::get(device)?;
        if host_time.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        host_time.put(signal::now());
        Ok(())
    }
}
