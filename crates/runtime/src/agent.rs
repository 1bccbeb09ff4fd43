//! What programs are told about agents beyond a GPU's profile: the host, and the memory pools of each.

use std::sync::OnceLock;
use wavemill_device::profile::Profile;
use wavemill_object::limits::Limits;

/// What `/proc` tells about the host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Host {
    /// The processor's name.
    pub name: String,
    /// Processors.
    pub cores: u32,
    /// Clock in MHz, 0 if not known.
    pub clock: u32,
    /// Bytes of memory.
    pub memory: u64,
}

/// The host.
pub fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let field = |text: &str, key: &str| {
            let line = text.lines().find(|l| l.starts_with(key))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let name = field(&cpuinfo, "model name").unwrap_or_else(|| "CPU".into());
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let clock = field(&cpuinfo, "cpu MHz").and_then(|m| m.parse::<f64>().ok()).unwrap_or(0.0) as u32;
        let kib = field(&meminfo, "MemTotal").and_then(|m| m.split(' ').next()?.parse::<u64>().ok());
        Host { name, cores, clock, memory: kib.unwrap_or(1 << 20) << 10 }
    })
}

/// Properties of global memory, as HSA numbers them (`HSA_REGION_GLOBAL_FLAG_*`, and AMD's pools the same).
pub mod flag {
    /// For kernel arguments.
    pub const KERNARG: u32 = 1;
    /// Coherent at any time.
    pub const FINE: u32 = 2;
    /// Coherent when kernels start and end.
    pub const COARSE: u32 = 4;
}

/// Segments that memory can be of, as HSA numbers them.
pub mod segment {
    /// Global memory.
    pub const GLOBAL: u32 = 0;
    /// LDS.
    pub const GROUP: u32 = 3;
}

/// A memory pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pool {
    /// See [`segment`].
    pub segment: u32,
    /// See [`flag`].
    pub flags: u32,
    /// Bytes.
    pub size: u64,
}

/// Flags of the host's pools, by number.
const HOST_POOLS: [u32; 3] = [flag::FINE, flag::KERNARG | flag::FINE, flag::COARSE];
/// Flags of a GPU's pools of global memory, by number.
const GPU_POOLS: [u32; 2] = [flag::COARSE, flag::FINE];

/// Whether a pool has fine-grained memory: of the host (agent 0) or of a GPU.
pub fn is_fine(agent: usize, pool: usize) -> bool {
    let flags = if agent == 0 { HOST_POOLS.get(pool) } else { GPU_POOLS.get(pool) };
    flags.is_some_and(|f| f & flag::FINE != 0)
}

/// The host's pools.
pub fn host_pools() -> Vec<Pool> {
    HOST_POOLS.map(|flags| Pool { segment: segment::GLOBAL, flags, size: host().memory }).to_vec()
}

/// A GPU's pools.
pub fn gpu_pools(profile: &Profile) -> Vec<Pool> {
    let size = profile.memory << 20;
    let lds = profile.target().map_or(0, |t| Limits::of(t.cpu).lds_bytes);
    let mut pools = GPU_POOLS.map(|flags| Pool { segment: segment::GLOBAL, flags, size }).to_vec();
    pools.push(Pool { segment: segment::GROUP, flags: 0, size: lds.into() });
    pools
}
