//! ROCm's own small tools: `rocminfo`, `rocm_agent_enumerator`, `amdgpu-arch`, and `lsmod`, which AMD's `rocminfo` asks. The GPUs
//! are those that programs under `exec` see: `WAVEMILL_GPU`, `WAVEMILL_GPUS`.

use std::fmt::Write as _;
use std::process::ExitCode;
use wavemill_device::Profile;
use wavemill_object::limits::{Limits, MAX_WORKGROUP_SIZE, SIMDS_PER_CU, WAVE_SIZE};
use wavemill_runtime::agent::{self, Pool, flag, segment};

/// The GPUs that the environment asks for.
fn gpus() -> Result<Vec<Profile>, String> {
    let name = std::env::var("WAVEMILL_GPU").unwrap_or_else(|_| "mi210".into());
    let count = match std::env::var("WAVEMILL_GPUS") {
        Ok(n) => crate::gpu::count(&n).map_err(|e| format!("WAVEMILL_GPUS={n}: {e}"))?,
        Err(_) => 1,
    };
    Ok(vec![crate::gpu::profile(&name)?; count])
}

/// Prints what `text` makes of the GPUs. `--version` says what this is; other options are none of these tools'.
fn tool(name: &str, args: &[String], text: impl Fn(&[Profile]) -> String) -> ExitCode {
    match args.first().map(String::as_str) {
        Some("--version") => {
            return crate::print(format!("{name} (Wavemill {})\n", crate::version::version()).as_bytes());
        }
        Some("--help" | "-h") => {
            let help =
                format!("Usage: {name}\nShows the virtual GPUs that programs under `wavemill exec` see.\n");
            return crate::print(help.as_bytes());
        }
        // The agent enumerator's own options choose where it looks, and here there is one place.
        Some("-t" | "-name") if name == "rocm_agent_enumerator" => {}
        Some(other) => {
            crate::output::message(format_args!("{name}: unknown option {other}"));
            return ExitCode::from(2);
        }
        None => {}
    }
    match gpus() {
        Ok(gpus) => crate::print(text(&gpus).as_bytes()),
        Err(message) => {
            crate::output::message(format_args!("{name}: {message}"));
            ExitCode::FAILURE
        }
    }
}

/// `rocm_agent_enumerator`: the host's name first, as ROCm's has it.
pub fn enumerator(args: &[String]) -> ExitCode {
    tool("rocm_agent_enumerator", args, |gpus| {
        std::iter::once("gfx000\n".to_owned())
            .chain(gpus.iter().map(|g| format!("{}\n", g.processor)))
            .collect()
    })
}

/// `amdgpu-arch`: a line for each GPU.
pub fn arch(args: &[String]) -> ExitCode {
    tool("amdgpu-arch", args, |gpus| {
        gpus.iter()
            .map(|g| format!("{}\n", g.target().map_or(g.processor.to_owned(), |t| id(&t.isa_name()))))
            .collect()
    })
}

/// Processor and features without the triple.
fn id(isa: &str) -> String {
    isa.rsplit("--").next().unwrap_or(isa).to_owned()
}

/// `lsmod`: the kernel's modules, and the driver that the virtual GPUs stand in for.
pub fn lsmod(args: &[String]) -> ExitCode {
    tool("lsmod", args, |gpus| {
        let line = |name: &str, size: &str, used: &str| format!("{name:<19} {size:>8}  {used}\n");
        let modules = std::fs::read_to_string("/proc/modules").unwrap_or_default();
        let words = |module: &str| module.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let others = modules.lines().map(words).filter(|w| w.len() > 3 && w[0] != "amdgpu");
        std::iter::once("Module                  Size  Used by\n".to_owned())
            .chain((!gpus.is_empty()).then(|| line("amdgpu", "0", "0")))
            .chain(others.map(|w| {
                let users = w[3].trim_matches(['-', ',']);
                line(&w[0], &w[1], format!("{} {users}", w[2]).trim_end())
            }))
            .collect()
    })
}

/// `rocminfo`.
pub fn rocminfo(args: &[String]) -> ExitCode {
    tool("rocminfo", args, |gpus| {
        let mut out = Text(String::new());
        out.0.push_str("ROCk module is loaded\n");
        out.head("HSA System Attributes", '=');
        out.line(0, "Runtime Version:", "1.1");
        out.line(0, "System Timestamp Freq.:", "1000.000000MHz");
        out.line(0, "Sig. Max Wait Duration:", "18446744073709551615 (0xFFFFFFFFFFFFFFFF) (timestamp count)");
        out.line(0, "Machine Model:", "LARGE");
        out.line(0, "System Endianness:", "LITTLE");
        out.0.push('\n');
        out.head("HSA Agents", '=');
        host(&mut out);
        for (i, profile) in gpus.iter().enumerate() {
            gpu(&mut out, i + 1, profile);
        }
        out.line(0, "*** Done ***", "");
        out.0
    })
}

/// rocminfo's columns: 25 for the name behind its indentation, 35 for the value.
struct Text(String);

impl Text {
    fn line(&mut self, indent: usize, name: &str, value: &str) {
        let value = if value.is_empty() { String::new() } else { format!("{value:<35}") };
        let _ = writeln!(self.0, "{:indent$}{name:<25}{value}", "");
    }

    fn number(&mut self, indent: usize, name: &str, value: u64, unit: &str) {
        self.line(indent, name, &format!("{value}({value:#x}){unit}"));
    }

    fn head(&mut self, title: &str, ruler: char) {
        let ruler = ruler.to_string().repeat(title.len());
        for text in [ruler.as_str(), title, ruler.as_str()] {
            self.line(0, text, "");
        }
    }

    fn agent(&mut self, number: usize) {
        self.line(0, "*******", "");
        self.line(0, &format!("Agent {number}"), "");
        self.line(0, "*******", "");
    }

    fn cube(&mut self, indent: usize, name: &str, value: u64) {
        self.line(indent, name, "");
        for axis in ["x", "y", "z"] {
            self.number(indent + 2, axis, value, "");
        }
    }

    fn pools(&mut self, pools: &[Pool], by_all: bool) {
        self.line(2, "Pool Info:", "");
        for (i, pool) in pools.iter().enumerate() {
            self.line(4, &format!("Pool {}", i + 1), "");
            let group = pool.segment == segment::GROUP;
            let names =
                [(flag::KERNARG, "KERNARG"), (flag::FINE, "FINE GRAINED"), (flag::COARSE, "COARSE GRAINED")];
            let flags: Vec<&str> =
                names.iter().filter(|(b, _)| pool.flags & b != 0).map(|(_, n)| *n).collect();
            let kind =
                if group { "GROUP".to_owned() } else { format!("GLOBAL; FLAGS: {}", flags.join(", ")) };
            self.line(6, "Segment:", &kind);
            self.number(6, "Size:", pool.size >> 10, " KB");
            let yes = |b: bool| if b { "TRUE" } else { "FALSE" };
            self.line(6, "Allocatable:", yes(!group));
            let granule = if group { "0KB" } else { "4KB" };
            self.line(6, "Alloc Granule:", granule);
            self.line(6, "Alloc Alignment:", granule);
            self.line(6, "Accessible by all:", yes(by_all && !group));
        }
        self.line(2, "ISA Info:", "");
    }
}

fn host(out: &mut Text) {
    let host = agent::host();
    out.agent(1);
    out.line(2, "Name:", &host.name);
    out.line(2, "Uuid:", "CPU-XX");
    out.line(2, "Marketing Name:", &host.name);
    out.line(2, "Vendor Name:", "CPU");
    out.line(2, "Feature:", "None specified");
    out.line(2, "Profile:", "FULL_PROFILE");
    out.line(2, "Float Round Mode:", "NEAR");
    out.number(2, "Max Queue Number:", 0, "");
    out.number(2, "Queue Min Size:", 0, "");
    out.number(2, "Queue Max Size:", 0, "");
    out.line(2, "Queue Type:", "MULTI");
    out.line(2, "Node:", "0");
    out.line(2, "Device Type:", "CPU");
    out.number(2, "Chip ID:", 0, "");
    out.number(2, "Cacheline Size:", 64, "");
    out.line(2, "Internal Node ID:", "0");
    out.line(2, "Compute Unit:", &host.cores.to_string());
    out.line(2, "SIMDs per CU:", "0");
    out.line(2, "Shader Engines:", "0");
    out.line(2, "Features:", "None");
    out.pools(&agent::host_pools(), true);
}

fn gpu(out: &mut Text, node: usize, p: &Profile) {
    let Some(target) = p.target() else { return };
    let limits = Limits::of(target.cpu);
    out.agent(node + 1);
    out.line(2, "Name:", target.cpu.name);
    out.line(2, "Uuid:", "GPU-XX");
    out.line(2, "Marketing Name:", p.product);
    out.line(2, "Vendor Name:", "AMD");
    out.line(2, "Feature:", "KERNEL_DISPATCH");
    out.line(2, "Profile:", "BASE_PROFILE");
    out.line(2, "Float Round Mode:", "NEAR");
    out.number(2, "Max Queue Number:", 128, "");
    out.number(2, "Queue Min Size:", 64, "");
    out.number(2, "Queue Max Size:", 131_072, "");
    out.line(2, "Queue Type:", "MULTI");
    out.line(2, "Node:", &node.to_string());
    out.line(2, "Device Type:", "GPU");
    out.line(2, "Cache Info:", "");
    out.number(4, "L1:", p.l1().into(), " KB");
    out.number(4, "L2:", p.l2.into(), " KB");
    out.number(2, "Chip ID:", p.chip_id.into(), "");
    out.number(2, "Cacheline Size:", p.cache_line().into(), "");
    out.line(2, "Max Clock Freq. (MHz):", &p.clock.to_string());
    out.line(2, "Internal Node ID:", &node.to_string());
    out.line(2, "Compute Unit:", &p.compute_units.to_string());
    out.line(2, "SIMDs per CU:", &SIMDS_PER_CU.to_string());
    out.line(2, "Shader Engines:", &p.shader_engines.to_string());
    out.line(2, "Features:", "KERNEL_DISPATCH ");
    let fast = target.cpu.level >= wavemill_isa::Level::Gfx8;
    out.line(2, "Fast F16 Operation:", if fast { "TRUE" } else { "FALSE" });
    out.number(2, "Wavefront Size:", WAVE_SIZE.into(), "");
    out.number(2, "Workgroup Max Size:", MAX_WORKGROUP_SIZE.into(), "");
    out.cube(2, "Workgroup Max Size per Dimension:", MAX_WORKGROUP_SIZE.into());
    let waves = limits.waves_per_simd * SIMDS_PER_CU;
    out.number(2, "Max Waves Per CU:", waves.into(), "");
    out.number(2, "Max Work-item Per CU:", u64::from(waves * WAVE_SIZE), "");
    out.number(2, "Grid Max Size:", u32::MAX.into(), "");
    out.cube(2, "Grid Max Size per Dimension:", u32::MAX.into());
    out.line(2, "Max fbarriers/Workgrp:", "32");
    out.pools(&agent::gpu_pools(p), false);
    out.line(4, "ISA 1", "");
    out.line(6, "Name:", &target.isa_name());
    out.line(6, "Machine Models:", "HSA_MACHINE_MODEL_LARGE");
    out.line(6, "Profiles:", "HSA_PROFILE_BASE");
    out.line(6, "Default Rounding Mode:", "NEAR");
    out.line(6, "Fast f16:", if fast { "TRUE" } else { "FALSE" });
    out.number(6, "Workgroup Max Size:", MAX_WORKGROUP_SIZE.into(), "");
    out.cube(6, "Workgroup Max Size per Dimension:", MAX_WORKGROUP_SIZE.into());
    out.number(6, "Grid Max Size:", u32::MAX.into(), "");
    out.cube(6, "Grid Max Size per Dimension:", u32::MAX.into());
    out.line(6, "FBarrier Max Size:", "32");
}
