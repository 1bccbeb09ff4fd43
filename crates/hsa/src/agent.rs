//! Agents: the host and the GPUs, their instruction sets, caches and wavefronts.

use crate::abi::*;
use crate::limits::{MAX_QUEUES, image_limit, queue_sizes};
use crate::runtime::{Runtime, agent_handle, runtime};
use std::sync::PoisonError;
use wavemill_isa::target::processor;
use wavemill_isa::{Level, Target};
use wavemill_object::limits::{Limits, MAX_WORKGROUP_SIZE, SIMDS_PER_CU, WAVE_SIZE};
use wavemill_object::target_id::{Os, TargetId};
use wavemill_runtime::agent::host;
use wavemill_runtime::platform::Gpu;

/// `hsa_dim3_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

const PROFILE_BASE: u32 = 0;
const PROFILE_FULL: u32 = 1;
const ROUND_NEAR: u32 = 2;
const BARRIERS: u32 = 32;

/// The largest grid in each dimension.
const GRID: Dim3 = Dim3 { x: u32::MAX, y: u32::MAX, z: u32::MAX };

/// The handle of the instruction set that all GPUs have.
const ISA: Isa = Isa(0x15a_0000_0001);
/// The handle of its wavefronts.
const WAVEFRONT: Wavefront = Wavefront(0x3a7_0000_0001);
/// The handle of the first cache; each GPU has two, one after the other.
const CACHE: u64 = 0xcac_0000_0001;

/// The target of an instruction set.
fn isa_target(runtime: &Runtime, isa: Isa) -> Result<Target> {
    let gpu = runtime.system.gpus().first().filter(|_| isa == ISA);
    if let Some(gpu) = gpu {
        return Ok(*gpu.device.target());
    }
    let named = runtime.isas.lock().unwrap_or_else(PoisonError::into_inner);
    let index = isa.0.checked_sub(ISA.0 + 1).and_then(|i| usize::try_from(i).ok());
    index.and_then(|i| named.get(i).copied()).ok_or(Status::ERROR_INVALID_ISA)
}

/// The target of a name such as `amdgcn-amd-amdhsa--gfx90a:xnack-`, or `AMD:AMDGPU:8:0:3` as code objects of versions 1 and 2
/// have it (ROCm code object format, "Instruction set architecture").
fn named_target(name: &str) -> Option<Target> {
    let id = match name.strip_prefix("AMD:AMDGPU:") {
        Some(version) => {
            let numbers: Option<Vec<u32>> = version.split(':').map(|n| n.parse().ok()).collect();
            let numbers: [u32; 3] = numbers?.try_into().ok()?;
            let [major, minor, stepping] = numbers;
            TargetId::from_isa_version(major, minor, stepping)?
        }
        None => TargetId::parse(name).ok()?.0,
    };
    if (id.arch.as_str(), id.os()) != ("amdgcn", Os::Hsa) {
        return None;
    }
    let mut target = Target::new(processor(&id.processor)?);
    target.xnack = id.xnack.request();
    target.sramecc = id.sramecc.request();
    Some(target)
}

/// A fact about the host.
fn host_info(attribute: u32, value: Any) -> Result {
    let host = host();
    match attribute {
        0 => value.set_text(&host.name, 64),
        1 => value.set_text("CPU", 64),
        // No queues can be made on the host.
        2 => value.set(0u32),
        3 => value.set(1u32),
        4 => value.set(PROFILE_FULL),
        5 | 23 => value.set(ROUND_NEAR),
        6 | 8 | 10 | 11 => value.set(0u32),
        7 => value.set([0u16; 3]),
        9 => value.set(Dim3 { x: 0, y: 0, z: 0 }),
        12..=14 => value.set(0u32),
        15 => value.set(0u32),
        16 => value.set(0u32),
        17 => value.set(0u32),
        18 => value.set([32 << 10, 0, 0, 0u32]),
        19 => value.set(Isa(0)),
        20 => value.set(crate::extension::bitmap()),
        21 | 22 => value.set(1u16),
        24 => value.set(false),
        0xa000 => value.set(0u32),
        0xa001 => value.set(64u32),
        0xa002 => value.set(host.cores),
        0xa003 => value.set(host.clock),
        0xa004..=0xa008 => value.set(0u32),
        0xa009 => value.set_text(&host.name, 64),
        0xa00a..=0xa00d => value.set(0u32),
        0xa00e => value.set([0u64; 2]),
        0xa00f => value.set(0u32),
        0xa010 => value.set(false),
        0xa011 => value.set_text("CPU-XX", 21),
        0xa012 => value.set(0u32),
        0xa013 => value.set(true),
        0xa014 => value.set(0u32),
        0xa015 => value.set(host.memory),
        0xa016 => value.set(1_000_000_000u64),
        0xa107..=0xa10b | 0xa110..=0xa112 => value.set(0u32),
        0xa113 => value.set(of(0)),
        0xa114 | 0xa115 => value.set([0u8; 8]),
        0xa116 | 0xa117 => value.set(0u64),
        0xa119 => value.set(false),
        _ => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}

/// Words that programs write to so that their stores through the bus reach memory; ours are there at once.
static HDP: [std::sync::atomic::AtomicU32; 2] = [const { std::sync::atomic::AtomicU32::new(0) }; 2];

/// Engines that copy memory, each a bit of a mask in AMD's functions.
pub const COPY_ENGINES: u32 = 2;

/// Bytes of scratch that all queues of a GPU may have, as ROCr has it.
const SCRATCH_LIMIT: u64 = 4 << 30;

/// The driver's number for a family of chips (`AMDGPU_FAMILY_*` of the kernel's `amdgpu_drm.h`).
fn family(level: Level) -> u32 {
    match level.generation() {
        6 => 110,
        7 => 120,
        8 => 130,
        _ => 141,
    }
}

/// A fact about a GPU.
fn gpu_info(runtime: &Runtime, gpu: &Gpu, attribute: u32, value: Any) -> Result {
    let profile = gpu.device.profile();
    let target = gpu.device.target();
    let limits = Limits::of(target.cpu);
    let (min_queue, max_queue) = queue_sizes();
    match attribute {
        0 => value.set_text(target.cpu.name, 64),
        1 => value.set_text("AMD", 64),
        // Kernel dispatch.
        2 => value.set(1u32),
        3 => value.set(1u32),
        4 => value.set(PROFILE_BASE),
        5 | 23 => value.set(ROUND_NEAR),
        24 => value.set(target.level().is_vi_plus()),
        6 => value.set(WAVE_SIZE),
        7 => value.set([MAX_WORKGROUP_SIZE as u16; 3]),
        8 => value.set(MAX_WORKGROUP_SIZE),
        9 => value.set(GRID),
        10 => value.set(u32::MAX),
        11 => value.set(BARRIERS),
        12 => value.set(MAX_QUEUES),
        13 => value.set(min_queue),
        14 => value.set(max_queue),
        15 => value.set(0u32),
        16 => value.set(gpu.index as u32 + 1),
        17 => value.set(1u32),
        18 => value.set([profile.l1() << 10, profile.l2 << 10, 0, 0]),
        19 => value.set(ISA),
        20 => value.set(crate::extension::bitmap()),
        21 | 22 => value.set(1u16),
        0xa000 => value.set(profile.chip_id),
        0xa001 => value.set(profile.cache_line()),
        0xa002 | 0xa014 => value.set(profile.compute_units),
        0xa003 => value.set(profile.clock),
        0xa004 => value.set(gpu.index as u32 + 1),
        0xa005 => value.set(4u32),
        // PCI bus, device and function: one bus for each GPU.
        0xa006 => value.set((gpu.index as u32 + 1) << 8),
        0xa007 => value.set(profile.memory_width),
        0xa008 => value.set(profile.memory_clock),
        0xa009 => value.set_text(profile.product, 64),
        0xa00a => value.set(limits.waves_per_simd * SIMDS_PER_CU),
        0xa00b => value.set(SIMDS_PER_CU),
        0xa00c => value.set(profile.shader_engines),
        0xa00d => value.set(1u32),
        0xa00e => value.set([&raw const HDP[0], &raw const HDP[1]]),
        0xa00f => value.set(0u32),
        0xa010 => value.set(true),
        0xa011 => value.set_text(&format!("GPU-{:016x}", 0x57a7_0000 + gpu.index as u64), 21),
        0xa012 => value.set(1u32),
        0xa013 => value.set(false),
        0xa015 => value.set((profile.memory << 20).saturating_sub(runtime.system.heap.used(gpu.index + 1))),
        0xa016 => value.set(u64::from(gpu.device.target().level().real_time_mhz()) * 1_000_000),
        0xa107 => value.set(family(target.level())),
        // No firmware, whose version would say something.
        0xa108 | 0xa109 => value.set(0u32),
        0xa10a => value.set(COPY_ENGINES),
        // None for other GPUs alone, no IOMMU; one die.
        0xa10b | 0xa110 => value.set(0u32),
        0xa111 => value.set(1u32),
        0xa112 => value.set(gpu.index as u32 + 1),
        0xa113 => value.set(of(0)),
        // No APU, no extensions of packets.
        0xa114 | 0xa115 => value.set([0u8; 8]),
        0xa116 => value.set(SCRATCH_LIMIT),
        // Scratch is given to each dispatch and taken back: queues keep none.
        0xa117 => value.set(0u64),
        0xa118 => {
            let now = wavemill_runtime::signal::now();
            let ticks = u64::from(target.level().real_time_mhz()) * (now / 1000);
            value.set([ticks, now, now, 1_000_000_000])
        }
        0xa119 => value.set(false),
        _ => image_limit(attribute, value),
    }
}

/// A fact about an instruction set.
fn isa_info(target: &Target, attribute: u32, value: Any) -> Result {
    let value = value.check()?;
    let name = target.isa_name();
    match attribute {
        0 => value.set(name.len() as u32 + 1),
        1 => value.set_text(&name, name.len() + 1),
        // Call conventions: one, with waves of 64.
        2 => value.set(1u32),
        3 => value.set(WAVE_SIZE),
        4 => value.set(Limits::of(target.cpu).waves_per_simd * SIMDS_PER_CU),
        5 => value.set([false, true]),
        6 => value.set([true, false]),
        7 | 8 => value.set([false, false, true]),
        9 => value.set(target.level().is_vi_plus()),
        12 => value.set([MAX_WORKGROUP_SIZE as u16; 3]),
        13 => value.set(MAX_WORKGROUP_SIZE),
        14 => value.set(GRID),
        16 => value.set(u64::from(u32::MAX)),
        17 => value.set(BARRIERS),
        _ => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}

fn exception_policies(profile: u32, mask: Out<u16>) -> Result {
    let mask = mask.check()?;
    if profile > PROFILE_FULL {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    // Exceptions are neither detected nor do they stop a wave.
    mask.set(0)
}

type AgentCallback = Option<extern "C" fn(Agent, Data) -> Status>;
type IsaCallback = Option<extern "C" fn(Isa, Data) -> Status>;
type CacheCallback = Option<extern "C" fn(Cache, Data) -> Status>;
type WavefrontCallback = Option<extern "C" fn(Wavefront, Data) -> Status>;

api! {
    /// Calls a function for each agent.
    fn hsa_iterate_agents(callback: AgentCallback, data: Data) -> Status {
        let runtime = runtime()?;
        let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        runtime.agents().try_for_each(|agent| go_on(callback(agent, data)))
    }

    /// A fact about an agent.
    fn hsa_agent_get_info(agent: Agent, attribute: u32, value: Any) -> Status {
        let runtime = runtime()?;
        let index = runtime.agent(agent)?;
        let value = value.check()?;
        match index.checked_sub(1) {
            None => host_info(attribute, value),
            Some(i) => gpu_info(&runtime, &runtime.system.gpus()[i], attribute, value),
        }
    }

    /// Which exceptions can be detected.
    fn hsa_agent_get_exception_policies(agent: Agent, profile: u32, mask: Out<u16>) -> Status {
        runtime()?.agent(agent)?;
        exception_policies(profile, mask)
    }

    /// Calls a function for each instruction set of an agent.
    fn hsa_agent_iterate_isas(agent: Agent, callback: IsaCallback, data: Data) -> Status {
        let runtime = runtime()?;
        let index = runtime.agent(agent)?;
        let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        // Nothing can be loaded to the host.
        if index == 0 { Ok(()) } else { go_on(callback(ISA, data)) }
    }

    /// The instruction set of a name.
    fn hsa_isa_from_name(name: Text, isa: Out<Isa>) -> Status {
        let runtime = runtime()?;
        let (name, isa) = (name.get()?, isa.check()?);
        let target = named_target(&name).ok_or(Status::ERROR_INVALID_ISA_NAME)?;
        if isa_target(&runtime, ISA).is_ok_and(|ours| ours.isa_name() == target.isa_name()) {
            return isa.set(ISA);
        }
        let mut named = runtime.isas.lock().unwrap_or_else(PoisonError::into_inner);
        let index = named.iter().position(|t| t.isa_name() == target.isa_name()).unwrap_or_else(|| {
            named.push(target);
            named.len() - 1
        });
        isa.set(Isa(ISA.0 + 1 + index as u64))
    }

    /// A fact about an instruction set, or one of its call conventions.
    fn hsa_isa_get_info(isa: Isa, attribute: u32, index: u32, value: Any) -> Status {
        let runtime = runtime()?;
        let target = isa_target(&runtime, isa)?;
        if index != 0 {
            return Err(Status::ERROR_INVALID_INDEX);
        }
        isa_info(&target, attribute, value)
    }

    /// A fact about an instruction set.
    fn hsa_isa_get_info_alt(isa: Isa, attribute: u32, value: Any) -> Status {
        let runtime = runtime()?;
        isa_info(&isa_target(&runtime, isa)?, attribute, value)
    }

    /// Which exceptions can be detected.
    fn hsa_isa_get_exception_policies(isa: Isa, profile: u32, mask: Out<u16>) -> Status {
        let runtime = runtime()?;
        isa_target(&runtime, isa)?;
        exception_policies(profile, mask)
    }

    /// How often fused operations round.
    fn hsa_isa_get_round_method(isa: Isa, fp_type: u32, flush_mode: u32, method: Out<u32>) -> Status {
        let runtime = runtime()?;
        isa_target(&runtime, isa)?;
        let method = method.check()?;
        if !matches!(fp_type, 1 | 2 | 4) || !matches!(flush_mode, 1 | 2) {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        // Once.
        method.set(1)
    }

    /// Calls a function for each kind of wavefront.
    fn hsa_isa_iterate_wavefronts(isa: Isa, callback: WavefrontCallback, data: Data) -> Status {
        let runtime = runtime()?;
        isa_target(&runtime, isa)?;
        let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        go_on(callback(WAVEFRONT, data))
    }

    /// A fact about a wavefront.
    fn hsa_wavefront_get_info(wavefront: Wavefront, attribute: u32, value: Any) -> Status {
        runtime()?;
        if wavefront != WAVEFRONT {
            return Err(Status::ERROR_INVALID_WAVEFRONT);
        }
        let value = value.check()?;
        if attribute == 0 { value.set(WAVE_SIZE) } else { Err(Status::ERROR_INVALID_ARGUMENT) }
    }

    /// Whether code for one instruction set runs on an agent with another.
    fn hsa_isa_compatible(code_object_isa: Isa, agent_isa: Isa, result: Out<bool>) -> Status {
        let runtime = runtime()?;
        let code = isa_target(&runtime, code_object_isa)?;
        let agent = isa_target(&runtime, agent_isa)?;
        // Features that are not named may be either way.
        let fits = |code: Option<bool>, agent: Option<bool>| code.is_none() || code == agent;
        let same = agent.cpu.runs(code.cpu);
        result.set(same && fits(code.xnack, agent.xnack) && fits(code.sramecc, agent.sramecc))
    }

    /// Calls a function for each cache of an agent.
    fn hsa_agent_iterate_caches(agent: Agent, callback: CacheCallback, data: Data) -> Status {
        let runtime = runtime()?;
        let index = runtime.agent(agent)? as u64;
        let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        // The host's caches do not matter to anybody here.
        let caches = if index == 0 { 0 } else { 2 };
        (0..caches).try_for_each(|level| go_on(callback(Cache(CACHE + (index - 1) * 2 + level), data)))
    }

    /// A fact about a cache.
    fn hsa_cache_get_info(cache: Cache, attribute: u32, value: Any) -> Status {
        let runtime = runtime()?;
        let number = cache.0.checked_sub(CACHE).ok_or(Status::ERROR_INVALID_CACHE)?;
        let gpu = runtime.system.gpus().get((number / 2) as usize).ok_or(Status::ERROR_INVALID_CACHE)?;
        let value = value.check()?;
        let profile = gpu.device.profile();
        let (name, level, kib) = match number % 2 {
            0 => ("L1", 1u8, profile.l1()),
            _ => ("L2", 2u8, profile.l2),
        };
        match attribute {
            0 => value.set(name.len() as u32 + 1),
            1 => value.set_text(name, name.len() + 1),
            2 => value.set(level),
            3 => value.set(kib << 10),
            _ => Err(Status::ERROR_INVALID_ARGUMENT),
        }
    }
}

/// The agent with a number, for answers.
pub fn of(index: usize) -> Agent {
    agent_handle(index)
}

/// The instruction set that all GPUs have.
pub fn isa() -> Isa {
    ISA
}
