//! How many wave instructions a second: a loop of 20 vector instructions (3 fma, 3 other f32, 10 integer, 2 compares, 2
//! selects) on every back end, with all lanes active and with some.
//!
//! `cargo run --release -p wavemill-wave --example speed`

use std::sync::OnceLock;
use std::time::Instant;
use wavemill_isa::target::{Target, processor};
use wavemill_wave::{Engine, GroupShared, Interp, Memory, Shape, Simd, Wave};

const LOOP: &str = "
loop:
    v_fma_f32 v10, v1, v2, v3
    v_add_u32 v11, v4, v5
    v_lshlrev_b32 v12, 3, v11
    v_xor_b32 v13, v12, v6
    v_mul_f32 v14, v10, v2
    v_and_b32 v15, v13, v4
    v_fma_f32 v16, v14, v1, v3
    v_cmp_lt_u32 vcc, v15, v5
    v_cndmask_b32 v17, v12, v13, vcc
    v_add_f32 v18, v16, v2
    v_or_b32 v19, v17, v4
    v_sub_u32 v20, v19, v6
    v_lshrrev_b32 v21, 5, v20
    v_fma_f32 v22, v18, v2, v1
    v_max_f32 v23, v22, v18
    v_cmp_gt_f32 vcc, v23, v3
    v_cndmask_b32 v24, v20, v21, vcc
    v_add_u32 v25, v24, v12
    v_min_u32 v26, v25, v19
    v_xor_b32 v4, v26, v5
    s_sub_u32 s0, s0, 1
    s_cmp_lg_u32 s0, 0
    s_cbranch_scc1 loop
    s_endpgm
";

fn main() {
    let target = Target::new(processor("gfx90a").expect("gfx90a is a processor"));
    let mut options = wavemill_asm::Options::new(target);
    options.output = wavemill_asm::OutputType::Obj;
    let output = wavemill_asm::assemble(&options, "loop.s", LOOP.into());
    assert!(!output.failed(), "{}", String::from_utf8_lossy(&output.render_diagnostics()));
    let object = output.object.expect("an object");
    let code = &object.sections.iter().find(|s| s.has_instructions).expect("code").data;
    let memory = Memory::new();
    // SAFETY: `object` outlives every run.
    unsafe { memory.add(code.as_ptr() as u64, code.len() as u64, false).expect("one range") };
    for simd in
        Simd::available().into_iter().filter(|s| std::env::args().nth(1).is_none_or(|a| a == s.name()))
    {
        for (what, exec) in [("full", !0u64), ("partial", 0x5a5a_5a5a_ffff_0f0f)] {
            let engine = Interp::with_simd(target, simd);
            let mut wave = Wave::new(&target, Shape { vgprs: 32, agprs: 0 });
            for r in 1..8u16 {
                for (lane, v) in wave.vgpr_mut(r).expect("in range").iter_mut().enumerate() {
                    *v = if r < 4 {
                        (1.0 + lane as f32 * 0.01 * r as f32).to_bits()
                    } else {
                        lane as u32 * 77 + r as u32
                    };
                }
            }
            wave.pc = code.as_ptr() as u64;
            wave.set_exec(exec);
            wave.set_sgpr(0, 500_000);
            let start = cpu_time();
            let event = engine.run(&mut wave, &GroupShared::new(0), &memory, u64::MAX);
            let seconds = cpu_time() - start;
            let count = wave.counters.total();
            println!(
                "{:9} {what:8} {event:?} {:7.1} M instructions/s, {:5.2} ns each",
                simd.name(),
                count as f64 / seconds / 1e6,
                seconds / count as f64 * 1e9
            );
        }
    }
}

/// Seconds this process has had on a CPU where the system says so, else since the first call.
fn cpu_time() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    std::fs::read_to_string("/proc/self/schedstat")
        .ok()
        .and_then(|s| s.split(' ').next()?.parse::<f64>().ok())
        .map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}
