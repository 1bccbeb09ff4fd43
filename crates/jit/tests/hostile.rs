//! Addresses that code must not follow: around both ends of an allocation, and where what code counts with wraps around. Beside
//! the allocation lies memory of the host, which stays as it is and is seen by nobody.

use wavemill_isa::target::{Target, processor};
use wavemill_jit::Jit;
use wavemill_wave::{Engine, Event, GroupShared, Interp, Memory, Shape, Wave};

/// Bytes of the allocation, which begins at a page.
const LEN: u64 = 1004;
/// Bytes of the host on both sides: as far as the accesses of 64 lanes reach.
const BESIDE: usize = 2048;
/// What all bytes are: the host's, the allocation's, those of registers before, and what is stored.
const HOST: u8 = 0xee;
const GUEST: u8 = 0x11;
const BEFORE: u8 = 0x22;
const STORED: u8 = 0x33;

fn target() -> Target {
    Target::new(processor("gfx90a").expect("it is known"))
}

fn assemble(text: &str) -> Vec<u8> {
    let mut options = wavemill_asm::Options::new(target());
    options.output = wavemill_asm::OutputType::Obj;
    let output = wavemill_asm::assemble(&options, "attack", format!("{text}\ns_endpgm\n").into());
    assert!(!output.failed(), "{text}: {}", String::from_utf8_lossy(&output.render_diagnostics()));
    let code = output.object.as_ref().and_then(|o| o.sections.iter().find(|s| s.has_instructions));
    code.map(|s| s.data.to_vec()).unwrap_or_default()
}

/// Memory of the host with an allocation in it, and code.
struct Scene {
    whole: Vec<u8>,
    code: Vec<u8>,
    memory: Memory,
    /// The allocation's first address.
    start: u64,
}

impl Scene {
    fn new(text: &str) -> Scene {
        let (mut whole, code, memory) = (vec![HOST; 2 * 4096 + 2 * BESIDE], assemble(text), Memory::new());
        let start = (whole.as_mut_ptr() as u64 + BESIDE as u64).next_multiple_of(4096);
        // SAFETY: both live as long as the memory, and are looked at only while nothing runs.
        unsafe {
            memory.add(code.as_ptr() as u64, code.len() as u64, false).expect("a range of its own");
            memory.add(start, LEN, true).expect("a range of its own");
        }
        Scene { whole, code, memory, start }
    }

    /// Runs the code with addresses for lanes: in v[2:3], and as a base in s[2:3] and offsets from it in v1.
    fn run(&mut self, engine: &dyn Engine, exec: u64, base: u64, addresses: &[u64; 64]) -> (Event, Wave) {
        let inside = (self.start - self.whole.as_ptr() as u64) as usize;
        self.whole[inside..inside + LEN as usize].fill(GUEST);
        let mut wave = Wave::new(&target(), Shape { vgprs: 24, agprs: 0 });
        wave.pc = self.code.as_ptr() as u64;
        wave.mode = 0xf0;
        wave.set_exec(exec);
        wave.set_sgpr64(2, base);
        let word = |byte: u8| [u32::from_ne_bytes([byte; 4]); 64];
        for (register, values) in [
            (1, addresses.map(|a| a.wrapping_sub(base) as u32)),
            (2, addresses.map(|a| a as u32)),
            (3, addresses.map(|a| (a >> 32) as u32)),
        ] {
            *wave.vgpr_mut(register).expect("it has them") = values;
        }
        (10..14).for_each(|r| *wave.vgpr_mut(r).expect("it has them") = word(BEFORE));
        (14..18).for_each(|r| *wave.vgpr_mut(r).expect("it has them") = word(STORED));
        let event = engine.run(&mut wave, &GroupShared::new(64), &self.memory, 1000);
        (event, wave)
    }

    /// What must hold whatever has run.
    fn check(&self, wave: &Wave, what: &dyn Fn() -> String) {
        let inside = (self.start - self.whole.as_ptr() as u64) as usize;
        let below = &self.whole[inside - BESIDE..inside];
        let above = &self.whole[inside + LEN as usize..][..BESIDE];
        assert!(
            below == [HOST; BESIDE] && above == [HOST; BESIDE],
            "{}: the host's memory was written",
            what()
        );
        let seen = (10..14).flat_map(|r| wave.vgpr(r).into_iter().flatten().flat_map(|v| v.to_ne_bytes()));
        let scalars = (20..36).flat_map(|s| wave.sgpr(s).to_ne_bytes());
        assert!(seen.chain(scalars).all(|b| b != HOST), "{}: the host's memory was read", what());
    }
}

/// First addresses for accesses of some bytes: at both ends, and far away.
fn places(start: u64, bytes: u64) -> Vec<u64> {
    let end = start + LEN;
    let mut all: Vec<u64> = (0..=bytes).flat_map(|n| [start - n, end - n, end + n]).collect();
    for far in [1u64 << 30, 1 << 31, 1 << 32, 1 << 33, 1 << 47, 1 << 63] {
        for near in [start, end - bytes, start + far / 2] {
            all.extend([near.wrapping_add(far), near.wrapping_sub(far), near.wrapping_add(far) - 1]);
        }
    }
    all.extend([0, 1, u64::MAX, u64::MAX - 15, 1 << 31, 1 << 32]);
    all
}

#[test]
fn lanes_stay_in_their_allocation() {
    let engines: Vec<Box<dyn Engine>> = Jit::all(target())
        .into_iter()
        .map(|jit| Box::new(jit) as Box<dyn Engine>)
        .chain([Box::new(Interp::new(target())) as Box<dyn Engine>])
        .collect();
    for (suffix, load, bytes) in [
        ("byte", "ubyte", 1u64),
        ("byte", "sbyte", 1),
        ("short", "ushort", 2),
        ("dword", "dword", 4),
        ("dwordx2", "dwordx2", 8),
        ("dwordx3", "dwordx3", 12),
        ("dwordx4", "dwordx4", 16),
    ] {
        let last = 10 + bytes.div_ceil(4) - 1;
        let (to, from) = match bytes {
            ..=4 => ("v10".to_owned(), "v14".to_owned()),
            _ => (format!("v[10:{last}]"), format!("v[14:{}]", last + 4)),
        };
        for (text, based, constant) in [
            (format!("global_load_{load} {to}, v1, s[2:3]"), true, 0),
            (format!("global_load_{load} {to}, v1, s[2:3] offset:4095"), true, 4095),
            (format!("global_load_{load} {to}, v1, s[2:3] offset:-4096"), true, -4096i64),
            (format!("global_load_{load} {to}, v[2:3], off"), false, 0),
            (format!("global_load_{load} {to}, v[2:3], off offset:-4096"), false, -4096),
            (format!("global_store_{suffix} v1, {from}, s[2:3]"), true, 0),
            (format!("global_store_{suffix} v1, {from}, s[2:3] offset:-1"), true, -1),
            (format!("global_store_{suffix} v[2:3], {from}, off offset:4095"), false, 4095),
        ] {
            let mut scene = Scene::new(&text);
            let (start, end) = (scene.start, scene.start + LEN);
            let inside = |a: u64| a >= start && a.checked_add(bytes).is_some_and(|e| e <= end);
            for engine in &engines {
                // Other code may have been where this is.
                engine.revalidate();
                let good: [u64; 64] = std::array::from_fn(|lane| start + lane as u64 % 15 * bytes);
                for place in places(start, bytes) {
                    // What is known of the allocation from a run before does not help.
                    let near = good.map(|a| a.wrapping_sub(constant as u64));
                    let (event, _) = scene.run(&**engine, !0, start.wrapping_sub(constant as u64), &near);
                    assert_eq!(event, Event::End, "{text}");
                    // All there, one after the other from there, and one lane of several there.
                    let following = std::array::from_fn(|lane| place.wrapping_add(lane as u64 * bytes));
                    let one = |lane: usize| {
                        let mut all = good;
                        all[lane] = place;
                        all
                    };
                    for addresses in [[place; 64], following, one(0), one(21), one(63)] {
                        for exec in [!0u64, !(1 << 21), 1 << 63 | 1] {
                            // Offsets have 32 bits: the base is as far below as they allow, or at the first lane.
                            let low = addresses.iter().copied().min().unwrap_or(0);
                            let bases =
                                if based { vec![low, low.wrapping_sub(0x8000_0000)] } else { vec![0] };
                            for base in bases {
                                let given = addresses.map(|a| a.wrapping_sub(constant as u64));
                                let base = base.wrapping_sub(constant as u64);
                                let goes = |lane: usize| match based {
                                    true => base
                                        .wrapping_add(u64::from(given[lane].wrapping_sub(base) as u32))
                                        .wrapping_add(constant as u64),
                                    false => addresses[lane],
                                };
                                let what =
                                    || format!("{} {text} {place:#x} {exec:#x} {base:#x}", engine.name());
                                let (event, wave) = scene.run(&**engine, exec, base, &given);
                                let wanted = (0..64).all(|lane| exec >> lane & 1 == 0 || inside(goes(lane)));
                                assert_eq!(event == Event::End, wanted, "{}: {event:?}", what());
                                scene.check(&wave, &what);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Scalar loads may go on to the end of an allocation's last page, and no farther.
#[test]
fn scalar_loads_stay_in_their_pages() {
    let Some(jit) = Jit::new(target()) else { return };
    for (dwords, to) in
        [("", "s20"), ("x2", "s[20:21]"), ("x4", "s[20:23]"), ("x8", "s[20:27]"), ("x16", "s[20:35]")]
    {
        for constant in [0i64, 4, 0xffffc, -0x100000] {
            let mut scene = Scene::new(&format!("s_load_dword{dwords} {to}, s[2:3], {constant:#x}"));
            jit.revalidate();
            let start = scene.start;
            let good = start.wrapping_sub(constant as u64);
            for place in places(start, 4).into_iter().filter(|p| !(start..start + 4096).contains(&(p & !3))) {
                let (event, _) = scene.run(&jit, !0, good, &[0; 64]);
                assert_eq!(event, Event::End);
                let (event, wave) = scene.run(&jit, !0, (place & !3).wrapping_sub(constant as u64), &[0; 64]);
                let what = || format!("s_load_dword{dwords} {constant:#x} {place:#x}");
                assert!(matches!(event, Event::Fault(_)), "{}: {event:?}", what());
                scene.check(&wave, &what);
            }
        }
    }
}
