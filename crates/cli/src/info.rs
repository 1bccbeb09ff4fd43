//! `wavemill info`: the virtual GPUs as programs see them, in rocminfo's form.

use clap::Args;
use std::process::ExitCode;
use wavemill_device::Profile;
use wavemill_device::json::quoted;
use wavemill_object::limits::{Limits, MAX_WORKGROUP_SIZE, SIMDS_PER_CU, WAVE_SIZE};
use wavemill_runtime::agent::{self, Pool, flag, segment};

/// Arguments of `info`.
#[derive(Args, Debug)]
pub struct Info {
    /// The GPU: a product (mi210, mi250x …) or a processor (gfx90a); all products with `all`
    #[arg(long, value_name = "NAME", default_value = "mi210")]
    gpu: String,
    /// How many of them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = crate::gpu::count)]
    gpus: usize,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Facts about a GPU: a name for people, one for programs, the value.
fn facts(p: &Profile) -> Vec<(&'static str, &'static str, String)> {
    let Some(target) = p.target() else { return Vec::new() };
    let limits = Limits::of(target.cpu);
    let number = |n: u64| n.to_string();
    vec![
        ("Name", "name", quoted(target.cpu.name)),
        ("Marketing Name", "product", quoted(p.product)),
        ("Vendor Name", "vendor", quoted("AMD")),
        ("ISA", "isa", quoted(&target.isa_name())),
        ("Device Type", "type", quoted("GPU")),
        ("Chip ID", "chip_id", number(p.chip_id.into())),
        ("Compute Unit", "compute_units", number(p.compute_units.into())),
        ("SIMDs per CU", "simds_per_cu", number(SIMDS_PER_CU.into())),
        ("Shader Engines", "shader_engines", number(p.shader_engines.into())),
        ("Max Clock Freq. (MHz)", "clock_mhz", number(p.clock.into())),
        ("Memory (MiB)", "memory_mib", number(p.memory)),
        ("Memory Clock (MHz)", "memory_clock_mhz", number(p.memory_clock.into())),
        ("Memory Width (bits)", "memory_width", number(p.memory_width.into())),
        ("L1 Cache (KiB)", "l1_kib", number(p.l1().into())),
        ("L2 Cache (KiB)", "l2_kib", number(p.l2.into())),
        ("Cacheline Size", "cacheline", number(p.cache_line().into())),
        ("LDS (bytes)", "lds", number(limits.lds_bytes.into())),
        ("Wavefront Size", "wavefront", number(WAVE_SIZE.into())),
        ("Workgroup Max Size", "workgroup", number(MAX_WORKGROUP_SIZE.into())),
        ("Max Waves Per CU", "waves_per_cu", number((limits.waves_per_simd * SIMDS_PER_CU).into())),
        ("VGPRs of a wave", "vgprs", number(limits.addressable_vgprs.into())),
        ("SGPRs of a wave", "sgprs", number(limits.addressable_sgprs.into())),
    ]
}

/// Facts about the host.
fn host_facts() -> Vec<(&'static str, &'static str, String)> {
    let host = agent::host();
    vec![
        ("Name", "name", quoted(&host.name)),
        ("Marketing Name", "product", quoted(&host.name)),
        ("Vendor Name", "vendor", quoted("CPU")),
        ("Device Type", "type", quoted("CPU")),
        ("Compute Unit", "compute_units", host.cores.to_string()),
        ("Max Clock Freq. (MHz)", "clock_mhz", host.clock.to_string()),
        ("Memory (MiB)", "memory_mib", (host.memory >> 20).to_string()),
    ]
}

/// A pool in words.
fn kind(pool: &Pool) -> String {
    if pool.segment == segment::GROUP {
        return "GROUP".into();
    }
    let names = [(flag::KERNARG, "KERNARG"), (flag::FINE, "FINE GRAINED"), (flag::COARSE, "COARSE GRAINED")];
    let set = names.iter().filter(|(bit, _)| pool.flags & bit != 0).map(|(_, name)| *name);
    format!("GLOBAL; FLAGS: {}", set.collect::<Vec<_>>().join(", "))
}

/// One agent as text.
fn text(number: usize, facts: &[(&str, &str, String)], pools: &[Pool], names: &[&str]) -> String {
    let mut out = format!("*******\nAgent {number}\n*******\n");
    for (name, _, value) in facts {
        out += &format!("  {:<24}{}\n", format!("{name}:"), value.trim_matches('"'));
    }
    out += "  Pool Info:\n";
    for (i, pool) in pools.iter().enumerate() {
        out += &format!("    Pool {:<17}{}, {} KB\n", i + 1, kind(pool), pool.size >> 10);
    }
    if !names.is_empty() {
        out += &format!("  {:<24}{}\n", "--gpu:", names.join(", "));
    }
    out
}

/// One agent as JSON.
fn json(facts: &[(&str, &str, String)], pools: &[Pool], names: &[&str]) -> String {
    let facts = facts.iter().map(|(_, key, value)| format!("\"{key}\": {value}"));
    let pools = pools.iter().map(|p| format!("{{\"kind\": {}, \"bytes\": {}}}", quoted(&kind(p)), p.size));
    let pools = pools.collect::<Vec<_>>().join(", ");
    let names = names.iter().map(|n| quoted(n)).collect::<Vec<_>>().join(", ");
    let all = facts.chain([format!("\"pools\": [{pools}]"), format!("\"names\": [{names}]")]);
    format!("  {{{}}}", all.collect::<Vec<_>>().join(", "))
}

/// Runs `wavemill info`.
pub fn run(args: &Info) -> ExitCode {
    let profiles: Vec<Profile> = match args.gpu.as_str() {
        "all" => wavemill_device::profile::PROFILES.to_vec(),
        name => match crate::gpu::profile(name) {
            Ok(profile) => vec![profile; args.gpus],
            Err(message) => {
                crate::output::message(format_args!("wavemill info: {message}"));
                return ExitCode::FAILURE;
            }
        },
    };
    let host = (host_facts(), agent::host_pools(), &[][..]);
    let gpus = profiles.iter().map(|p| (facts(p), agent::gpu_pools(p), p.names));
    let agents: Vec<_> = std::iter::once(host).chain(gpus).collect();
    let out = if args.json {
        let list: Vec<String> =
            agents.iter().map(|(facts, pools, names)| json(facts, pools, names)).collect();
        format!("[\n{}\n]\n", list.join(",\n"))
    } else {
        agents.iter().enumerate().map(|(i, (facts, pools, names))| text(i + 1, facts, pools, names)).collect()
    };
    crate::print(out.as_bytes())
}
