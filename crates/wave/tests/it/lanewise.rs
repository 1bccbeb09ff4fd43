//! Buffer, scratch and data-share instructions of whole waves against the plain engine, which goes lane by lane: random
//! resources, addresses and lanes.

use crate::harness::{CPUS, Machine, Random, engines, target};
use wavemill_wave::Event;

const BUFFER: usize = 16384;
const RUNS: u64 = 150;

/// An instruction of each kind, with operands as the harness fills them: addresses in v0 and v1, data from v4 on, results
/// from v10 on, a resource in s[8:11], a scalar offset in s12.
fn instruction(random: &mut Random, cpu: &str) -> String {
    let mut pick = |of: &[&str]| of[random.next() as usize % of.len()].to_owned();
    let gfx9 = cpu.starts_with("gfx9");
    let kind = pick(&["load", "load", "store", "atomic", "share", "row"]);
    let size = pick(&["dword", "dword", "dwordx2", "dwordx3", "dwordx4", "ubyte", "sshort"]);
    let size = if cpu == "gfx600" && size == "dwordx3" { "dwordx4".to_owned() } else { size };
    let dwords = size.strip_prefix("dwordx").map_or(1, |n| n.parse::<usize>().unwrap());
    let tuple = |first: usize, n: usize| match n {
        1 => format!("v{first}"),
        n => format!("v[{first}:{}]", first + n - 1),
    };
    let stored = match size.as_str() {
        "ubyte" if gfx9 => &pick(&["byte", "byte_d16_hi"]),
        "sshort" if gfx9 => &pick(&["short", "short_d16_hi"]),
        "ubyte" => "byte",
        "sshort" => "short",
        other => other,
    };
    let offset = pick(&["", " offset:4", " offset:16", " offset:2", " offset:2048"]);
    let place = pick(&[
        "off, s[8:11], s12",
        "v0, s[8:11], s12 offen",
        "v0, s[8:11], s12 idxen",
        "v[0:1], s[8:11], s12 idxen offen",
    ]);
    if kind == "share" {
        let op = pick(&[
            "add_u32",
            "sub_rtn_u32",
            "min_i32",
            "max_rtn_u32",
            "and_b32",
            "or_rtn_b32",
            "xor_b32",
            "inc_rtn_u32",
            "dec_u32",
            "wrxchg_rtn_b32",
            "add_u64",
            "rsub_rtn_u64",
            "min_u64",
            "add_f32",
            "min_rtn_f32",
            "cmpst_rtn_b32",
            "cmpst_b64",
            "mskor_b32",
            "wrxchg2_rtn_b32",
            "read2_b32",
            "write2_b32",
        ]);
        let op = if matches!(cpu, "gfx600" | "gfx701") { op.replace("add_f32", "max_f32") } else { op };
        let wide = if op.ends_with("64") { 2 } else { 1 };
        let pair = op.contains('2')
            && (op.starts_with("wrxchg2") || op.starts_with("read2") || op.starts_with("write2"));
        let returns = op.contains("rtn") || op.starts_with("read2");
        let result =
            if returns { format!("{}, ", tuple(10, if pair { 2 } else { wide })) } else { String::new() };
        let data = match op.as_str() {
            o if o.starts_with("read2") => String::new(),
            o if pair || o.starts_with("cmpst") || o.starts_with("mskor") => {
                format!(", {}, {}", tuple(4, wide), tuple(6, wide))
            }
            _ => format!(", {}", tuple(4, wide)),
        };
        let offset = if pair { " offset0:1 offset1:3" } else { " offset:8" };
        return format!("ds_{op} {result}v0{data}{offset}");
    }
    if kind == "row" {
        let vi_plus = gfx9 || cpu == "gfx803";
        let place = pick(&["off, s[8:11], s12", "v0, s[8:11], s12 offen", "v0, s[8:11], s12 idxen"]);
        return match pick(&["append", "consume", "add_tid", "add_tid", "lds", "lds"]).as_str() {
            "add_tid" if gfx9 => {
                pick(&["ds_read_addtid_b32 v10 offset:8", "ds_write_addtid_b32 v4 offset:8"])
            }
            "lds" if vi_plus && pick(&["load", "store"]) == "store" => {
                "buffer_store_lds_dword s[8:11], s12 offset:4 lds".to_owned()
            }
            "lds" => {
                let size = pick(&["dword", "ubyte", "sshort"]);
                format!("buffer_load_{size} {place}{offset} lds")
            }
            name => format!("ds_{} v10 offset:8", if name == "add_tid" { "append" } else { name }),
        };
    }
    if gfx9 && kind != "atomic" && pick(&["buffer", "buffer", "scratch"]) == "scratch" {
        let address = pick(&["v0, off", "off, s13"]);
        let offset = offset.replace("2048", "64");
        return match kind.as_str() {
            "load" => format!("scratch_load_{size} {}, {address}{offset}", tuple(10, dwords)),
            _ => format!(
                "scratch_store_{stored} {}, {}{offset}",
                address.split_once(", ").map_or("", |a| a.0).to_owned() + ", " + &tuple(4, dwords),
                address.split_once(", ").map_or("", |a| a.1)
            ),
        };
    }
    match kind.as_str() {
        "load" => format!("buffer_load_{size} {}, {place}{offset}", tuple(10, dwords)),
        "store" => format!("buffer_store_{stored} {}, {place}{offset}", tuple(4, dwords)),
        _ => {
            let op = pick(&[
                "add", "sub", "smin", "umax", "and", "or", "xor", "inc", "dec", "swap", "add_x2", "cmpswap",
            ]);
            let dwords = if op == "add_x2" || op == "cmpswap" { 2 } else { 1 };
            let glc = pick(&["", " glc"]);
            format!("buffer_atomic_{op} {}, {place}{}{glc}", tuple(4, dwords), offset.replace(":2 ", ":4 "))
        }
    }
}

#[test]
fn whole_waves_access_what_single_lanes_do() {
    let mut random = Random(0x05ee_d0f1_a7e5);
    let mut done = 0u32;
    for cpu in CPUS {
        let target = target(cpu);
        // The scalar unit's flat scratch, and waves' private memory before GFX9, are where the harness says.
        for _ in 0..RUNS {
            let text = instruction(&mut random, cpu);
            let seed = random.next();
            let mut results = Vec::new();
            for (name, engine) in engines(target) {
                let mut random = Random(seed | 1);
                let mut machine = Machine::with(file!(), target, engine, &text, 4096);
                let contents: Vec<u8> = (0..BUFFER).map(|_| random.next() as u8).collect();
                let address = machine.buffer(&contents);
                machine.fill_shares(&contents[..4096]);
                let mut wave = machine.wave();
                let base = address + 64 + 4 * (random.next() % 64);
                let stride = [0, 4, 8, 12, 16, 64][random.next() as usize % 6];
                let bit = |random: &mut Random, one_in: u64| random.one_in(one_in) as u32;
                wave.set_sgpr64(8, base);
                let swizzle = bit(&mut random, 2) << 31;
                wave.set_sgpr(9, (base >> 32) as u32 | stride << 16 | swizzle);
                wave.set_sgpr(10, [2048, 512, 64, 8192][random.next() as usize % 4]);
                let fields = (random.next() as u32 & 0xf) << 19 | bit(&mut random, 2) << 23;
                wave.set_sgpr(11, 4 << 15 | fields);
                wave.set_sgpr(12, [0, 4, 256, 1024][random.next() as usize % 4]);
                wave.set_sgpr(13, [0, 4, 32][random.next() as usize % 3]);
                wave.scratch_bytes = 128;
                wave.set_flat_scratch(address + 1024);
                wave.set_exec(if random.one_in(2) { !0 } else { random.next() });
                // Where rows of LDS begin, and on some processors where it ends.
                let from = [0, 64, 1000, 0x0010_0200][random.next() as usize % 4];
                wave.set_sgpr(
                    124,
                    if text.contains("lds") || text.contains("ds_") && random.one_in(3) { from } else { !0 },
                );
                let shape = random.next() % 4;
                for lane in 0..64u64 {
                    let n = match shape {
                        0 => 4 * lane,
                        1 => 8 * lane % 128,
                        2 => random.next() % 64 * 4,
                        _ => random.next() % 130,
                    };
                    wave.vgpr_mut(0).unwrap()[lane as usize] = n as u32;
                    wave.vgpr_mut(1).unwrap()[lane as usize] = (random.next() % 64 * 4) as u32;
                }
                for r in 4..16 {
                    for lane in 0..64 {
                        wave.vgpr_mut(r).unwrap()[lane] = random.edgy(32) as u32;
                    }
                }
                let event = machine.run(&mut wave);
                let registers: Vec<[u32; 64]> = (0..20).map(|r| *wave.vgpr(r).unwrap()).collect();
                // Addresses differ from engine to engine.
                let ended = event == Event::End;
                done += u32::from(ended && name == "plain");
                let memory = if ended { machine.read(address, BUFFER) } else { Vec::new() };
                let registers = if ended { registers } else { Vec::new() };
                results.push((name, ended, registers, memory, machine.group.lds.snapshot()));
            }
            let (plain, others) = results.split_last().expect("the plain engine");
            for other in others {
                let same = (other.1, &other.2, &other.3, &other.4) == (plain.1, &plain.2, &plain.3, &plain.4);
                assert!(same, "{text} on {cpu} (seed {seed:#x}): {} and plain differ", other.0);
            }
        }
    }
    // Many of them must have found memory, or nothing is compared.
    assert!(done > RUNS as u32 * CPUS.len() as u32 / 2, "only {done} ended well");
}
