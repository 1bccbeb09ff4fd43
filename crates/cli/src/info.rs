//! `wavemill info`: the virtual GPUs as programs see them, in rocminfo's form.

use clap::Args;
use std::process::ExitCode;
use wavemill_machine::Profile;
use wavemill_machine::json::quoted;
use wavemill_object::limits::{Limits, MAX_WORKGROUP_SIZE, SIMDS_PER_CU, WAVE_SIZE};

/// Arguments of `info`.
#[derive(Args, Debug)]
pub struct Info {
    /// The GPU: a product (mi210, mi250x …) or a processor (gfx90a); all products with `all`
    #[arg(long, value_name = "NAME", default_value = "mi210")]
    gpu: String,
    /// How many of them
    #[arg(long, value_name = "N", default_value_t = 1)]
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

/// Runs `wavemill info`.
pub fn run(args: &Info) -> ExitCode {
    let profiles: Vec<Profile> = match args.gpu.as_str() {
        "all" => wavemill_machine::profile::PROFILES.to_vec(),
        name => match Profile::named(name) {
            Some(profile) => vec![profile; args.gpus],
            None => {
                let hint = wavemill_asm::suggest::closest(name, Profile::names());
                let hint = hint.map(|h| format!("; did you mean {h}?")).unwrap_or_default();
                eprintln!("wavemill info: no GPU `{name}`{hint}");
                return ExitCode::FAILURE;
            }
        },
    };
    let mut text = String::new();
    for (i, profile) in profiles.iter().enumerate() {
        if args.json {
            let pairs = facts(profile).into_iter().map(|(_, key, value)| format!("\"{key}\": {value}"));
            let names = profile.names.iter().map(|n| quoted(n)).collect::<Vec<_>>().join(", ");
            let all = pairs.chain([format!("\"names\": [{names}]")]).collect::<Vec<_>>().join(", ");
            text += &format!("{}  {{{all}}}", if i > 0 { ",\n" } else { "" });
            continue;
        }
        text += &format!("*******\nAgent {}\n*******\n", i + 2);
        for (name, _, value) in facts(profile) {
            text += &format!("  {:<24}{}\n", format!("{name}:"), value.trim_matches('"'));
        }
        if !profile.names.is_empty() {
            text += &format!("  {:<24}{}\n", "--gpu:", profile.names.join(", "));
        }
    }
    let text = if args.json { format!("[\n{text}\n]\n") } else { text };
    crate::print(text.as_bytes())
}
