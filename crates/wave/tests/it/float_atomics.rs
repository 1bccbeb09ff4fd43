//! Read-modify-writes on floats with every kind of float: zeros of both signs, denormals, infinities and NaNs, in every
//! denormal mode, against the rules of the manual's section 9.5. LDS looks at MODE, memory has ways of its own (table 43).

use crate::harness::{CPUS, Machine, engines, target};
use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, Round};
use wavemill_isa::lookup;
use wavemill_wave::{Event, Simd, Wave};

/// A format by its fields' sizes.
#[derive(Clone, Copy, PartialEq)]
struct Format {
    exponent: u32,
    fraction: u32,
}

const F16: Format = Format { exponent: 5, fraction: 10 };
const F32: Format = Format { exponent: 8, fraction: 23 };
const F64: Format = Format { exponent: 11, fraction: 52 };

impl Format {
    fn sign(self) -> u64 {
        1 << (self.exponent + self.fraction)
    }
    fn infinity(self) -> u64 {
        self.sign() - (1 << self.fraction)
    }
    fn quiet(self) -> u64 {
        1 << (self.fraction - 1)
    }
    fn is_nan(self, x: u64) -> bool {
        x & (self.sign() - 1) > self.infinity()
    }
    fn signals(self, x: u64) -> bool {
        self.is_nan(x) && x & self.quiet() == 0
    }
    fn flush(self, x: u64) -> u64 {
        if x & self.infinity() == 0 { x & self.sign() } else { x }
    }
    /// The manual's order of numbers, -0 before +0.
    fn order(self, x: u64) -> i64 {
        let magnitude = (x & (self.sign() - 1)) as i64;
        if x & self.sign() != 0 { !magnitude } else { magnitude }
    }
    /// Numbers of all kinds, with both signs. Their differences are denormals now and then.
    fn corners(self) -> Vec<u64> {
        let least = 1 << self.fraction;
        let one = (self.infinity() / 2) & self.infinity();
        let magnitudes = [
            0,
            1,
            least - 1,
            least,
            least + 1,
            one,
            one + 3,
            self.infinity() - 1,
            self.infinity(),
            self.infinity() | 1,
            self.infinity() | self.quiet() | 5,
        ];
        magnitudes.into_iter().flat_map(|m| [m, m | self.sign()]).collect()
    }
    fn sum(self, a: u64, b: u64) -> u64 {
        fn add<F: Float>(a: u64, b: u64) -> u64 {
            let sum = F::from_bits(a as u128).add_r(F::from_bits(b as u128), Round::NearestTiesToEven);
            sum.value.to_bits() as u64
        }
        match self.exponent {
            5 => add::<Half>(a, b),
            8 => add::<Single>(a, b),
            _ => add::<Double>(a, b),
        }
    }
}

/// What memory holds afterwards. `flush` is whether denormals are flushed on their way in and out.
fn meaning(op: &str, f: Format, flush: [bool; 2], memory: u64, data: u64, compare: u64) -> u64 {
    let [a, b, c] = [memory, data, compare].map(|x| if flush[0] { f.flush(x) } else { x });
    match op {
        "add" => match (f.is_nan(a), f.is_nan(b)) {
            (true, _) => a | f.quiet(),
            (_, true) => b | f.quiet(),
            _ if a & !f.sign() == f.infinity() && b == a ^ f.sign() => f.sign() | f.infinity() | f.quiet(),
            _ => {
                let sum = f.sum(a, b);
                if flush[1] { f.flush(sum) } else { sum }
            }
        },
        "cmpswap" => {
            let zero = |x: u64| x & !f.sign() == 0;
            let equal = !f.is_nan(a) && !f.is_nan(c) && (a == c || zero(a) && zero(c));
            if equal { b } else { memory }
        }
        _ if f.signals(a) => a | f.quiet(),
        _ if f.signals(b) => b | f.quiet(),
        _ if f.is_nan(a) => data,
        _ if f.is_nan(b) => memory,
        "min" if f.order(b) < f.order(a) => data,
        "max" if f.order(b) > f.order(a) => data,
        _ => memory,
    }
}

/// Runs an instruction on every pair of corner numbers: memory, datum; what is compared with is one or the other.
/// `start` puts 64 numbers into memory and says where they are; `read` gets them back. The datum is v[4:5], the other one
/// v[6:7]; lanes have their address or offset in v[0:1].
fn check(cpu: &str, text: &str, op: &str, f: Format, shared: bool, compare_first: bool) {
    let bytes = (1 + f.exponent + f.fraction) as usize / 8;
    let numbers = f.corners();
    let pairs: Vec<(u64, u64)> = numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b))).collect();
    for denormals in 0..4u32 {
        // Single by these bits, double by their complement; rounding up and down is not for atomics.
        let mode = 0x300 | 0b1001 | denormals << 4 | (3 - denormals) << 6;
        let of_mode = |bits: u32| [bits & 1 == 0, bits & 2 == 0];
        let flush = match (op, shared) {
            ("add", false) if f == F32 => [true, true],
            ("add", _) if f == F64 => [false, false],
            (_, false) => [false, false],
            (_, true) if f == F32 => of_mode(denormals),
            (_, true) => of_mode(3 - denormals),
        };
        for chunk in pairs.chunks(64) {
            let size = 64 * bytes;
            let mut machine = Machine::new(cpu, Simd::detect(), text, 1024);
            let mut memory = vec![0u8; size];
            for (lane, (m, _)) in chunk.iter().enumerate() {
                memory[lane * bytes..][..bytes].copy_from_slice(&m.to_le_bytes()[..bytes]);
            }
            let base = machine.buffer(&memory);
            // SAFETY: LDS has 1024 bytes, and no wave runs.
            unsafe { std::ptr::copy_nonoverlapping(memory.as_ptr(), machine.group.lds.base(), size) };
            let mut wave = machine.wave();
            wave.mode = mode;
            wave.set_exec(if chunk.len() == 64 { !0 } else { (1 << chunk.len()) - 1 });
            wave.set_sgpr(124, !0);
            wave.set_sgpr64(8, base);
            wave.set_sgpr(10, size as u32);
            wave.set_sgpr(11, 0x0002_4fac);
            let aperture = if text.contains("ds_") || text.contains("s[8:11]") { 0 } else { base };
            let aperture =
                if shared && text.contains("flat_") { machine.group.shared_base } else { aperture };
            for (lane, (m, d)) in chunk.iter().enumerate() {
                let compare = if lane % 2 == 0 { *m ^ (lane as u64 / 2 % 2 * f.sign()) } else { *d };
                let (first, second) = if compare_first { (compare, *d) } else { (*d, compare) };
                let at = aperture + (lane * bytes) as u64;
                put(&mut wave, 0, lane, at);
                put(&mut wave, 4, lane, first);
                put(&mut wave, if f == F64 || compare_first { 6 } else { 5 }, lane, second);
                let new = meaning(op, f, flush, *m, *d, compare);
                memory[lane * bytes..][..bytes].copy_from_slice(&new.to_le_bytes()[..bytes]);
            }
            assert_eq!(machine.run(&mut wave), Event::End, "{text} on {cpu}");
            let after = if shared { machine.group.lds.snapshot() } else { machine.read(base, size) };
            for (lane, (m, d)) in chunk.iter().enumerate() {
                let at = lane * bytes..(lane + 1) * bytes;
                let (got, want) = (&after[at.clone()], &memory[at]);
                assert_eq!(got, want, "{text} on {cpu}, MODE {mode:#x}: {m:#x} with {d:#x}, lane {lane}");
            }
        }
    }
}

/// Two registers of a lane.
fn put(wave: &mut Wave, register: u16, lane: usize, value: u64) {
    wave.vgpr_mut(register).unwrap()[lane] = value as u32;
    wave.vgpr_mut(register + 1).unwrap()[lane] = (value >> 32) as u32;
}

fn exists(cpu: &str, name: &str) -> bool {
    let level = target(cpu).level();
    lookup::by_name(name).any(|row| row.opcode_at(level).is_some())
}

#[test]
fn in_the_data_share() {
    for cpu in CPUS {
        let mut seen = 0;
        for (f, bits, data) in [(F32, 32, ["v4", "v6"]), (F64, 64, ["v[4:5]", "v[6:7]"])] {
            for (name, op) in [("cmpst", "cmpswap"), ("min", "min"), ("max", "max"), ("add", "add")] {
                for (rtn, result) in [("", ""), ("_rtn", "v[20:21], ")] {
                    let name = format!("ds_{name}{rtn}_f{bits}");
                    if !exists(cpu, &name) {
                        continue;
                    }
                    let result = if bits == 32 { result.replace("[20:21]", "20") } else { result.into() };
                    let second = if op == "cmpswap" { format!(", {}", data[1]) } else { String::new() };
                    // The data share compares with the first datum.
                    let text = format!("{name} {result}v0, {}{second}", data[0]);
                    check(cpu, &text, op, f, true, op == "cmpswap");
                    seen += 1;
                }
            }
        }
        assert!(seen >= 12, "{cpu}: {seen}");
    }
}

#[test]
fn in_memory() {
    let names = [
        ("fcmpswap", "cmpswap", F32),
        ("fmin", "min", F32),
        ("fmax", "max", F32),
        ("fcmpswap_x2", "cmpswap", F64),
        ("fmin_x2", "min", F64),
        ("fmax_x2", "max", F64),
        ("add_f32", "add", F32),
        ("add_f64", "add", F64),
        ("min_f64", "min", F64),
        ("max_f64", "max", F64),
    ];
    let mut seen = 0;
    for cpu in CPUS {
        for (name, op, f) in names {
            let words = if f == F64 { 2 } else { 1 } * if op == "cmpswap" { 2 } else { 1 };
            let data = if words == 1 { "v4".to_owned() } else { format!("v[4:{}]", 3 + words) };
            for (family, shared) in [("buffer", false), ("flat", false), ("flat", true), ("global", false)] {
                let name = format!("{family}_atomic_{name}");
                if !exists(cpu, &name) {
                    continue;
                }
                let text = match family {
                    "buffer" => format!("{name} {data}, v0, s[8:11], 0 offen"),
                    "flat" => format!("{name} v[0:1], {data}"),
                    _ => format!("{name} v[0:1], {data}, off"),
                };
                check(cpu, &text, op, f, shared, false);
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 6 + 6 * 3 + 2 + 2 + 3 * 4, "rows of gfx6, gfx7, gfx908 and gfx90a");
}

/// Two halves of a dword: never flushed, each rounded to nearest.
#[test]
fn packed_halves() {
    let numbers = F16.corners();
    for cpu in ["gfx908", "gfx90a"] {
        for text in
            ["buffer_atomic_pk_add_f16 v4, v0, s[8:11], 0 offen", "global_atomic_pk_add_f16 v[2:3], v4, off"]
        {
            for (i, low) in numbers.iter().enumerate() {
                let mut machine = Machine::new(cpu, Simd::detect(), text, 0);
                // A lane per number; the upper halves meet others.
                let high = |lane: usize| numbers[(lane + i) % numbers.len()];
                let start: Vec<u8> = (0..numbers.len())
                    .flat_map(|lane| ((low | high(lane) << 16) as u32).to_le_bytes())
                    .collect();
                let base = machine.buffer(&start);
                let mut wave = machine.wave();
                wave.mode = 0x309;
                wave.set_exec((1 << numbers.len()) - 1);
                wave.set_sgpr64(8, base);
                wave.set_sgpr(10, start.len() as u32);
                wave.set_sgpr(11, 0x0002_4fac);
                let mut want = Vec::new();
                for (lane, data) in numbers.iter().enumerate() {
                    put(&mut wave, 0, lane, 4 * lane as u64);
                    put(&mut wave, 2, lane, base + 4 * lane as u64);
                    wave.vgpr_mut(4).unwrap()[lane] = (data | low << 16) as u32;
                    let sum = |a, b| meaning("add", F16, [false; 2], a, b, 0);
                    want.push((sum(*low, *data) | sum(high(lane), *low) << 16) as u32);
                }
                assert_eq!(machine.run(&mut wave), Event::End, "{text} on {cpu}");
                let after = machine.read(base, start.len());
                let got: Vec<u32> = after.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
                assert_eq!(got, want, "{text} on {cpu}: {low:#x}");
            }
        }
    }
}

/// Fine-grained memory loses the floating-point atomics of MI200: it stays as it is, and 0 comes back. HIP's own tests
/// demand both (`AtomicAdd_withunsafeflag.cc` and its neighbours: a cell of 5 stays 5 after adding 10, the sum returned is
/// 0); ROCm's page on atomic operations says the same of f64's minimum and maximum. Integers, memory that is not
/// fine-grained, and other processors do as always.
#[test]
fn fine_grained_memory_loses_float_atomics_on_mi200() {
    let five = |bytes: usize| if bytes == 8 { 5f64.to_bits() } else { 5f32.to_bits() as u64 };
    let ten = |bytes: usize| if bytes == 8 { 10f64.to_bits() } else { 10f32.to_bits() as u64 };
    let flat = |name: &str, bytes: usize| {
        let (result, data) = if bytes == 8 { ("v[6:7]", "v[4:5]") } else { ("v6", "v4") };
        format!(
            "{name} {result}, v[0:1], {data}{} glc",
            if name.starts_with("global") { ", off" } else { "" }
        )
    };
    let buffer = |name: &str, bytes: usize| {
        format!("{name} {}, v2, s[8:11], 0 offen glc", if bytes == 8 { "v[4:5]" } else { "v4" })
    };
    // (cpu, instruction, bytes, whether fine-grained memory loses it)
    let cases = [
        ("gfx90a", flat("global_atomic_add_f32", 4), 4, true),
        ("gfx90a", flat("global_atomic_pk_add_f16", 4), 4, true),
        ("gfx90a", flat("global_atomic_add_f64", 8), 8, true),
        ("gfx90a", flat("global_atomic_min_f64", 8), 8, true),
        ("gfx90a", flat("flat_atomic_max_f64", 8), 8, true),
        ("gfx90a", flat("flat_atomic_add_f64", 8), 8, true),
        ("gfx90a", buffer("buffer_atomic_add_f32", 4), 4, true),
        ("gfx90a", buffer("buffer_atomic_add_f64", 8), 8, true),
        ("gfx90a", flat("global_atomic_add", 4), 4, false),
        ("gfx90a", flat("global_atomic_cmpswap", 4).replace(", v4,", ", v[4:5],"), 4, false),
        ("gfx90a", flat("global_atomic_umax_x2", 8), 8, false),
        ("gfx701", flat("flat_atomic_fmax_x2", 8), 8, false),
    ];
    for (cpu, text, bytes, lost) in cases {
        // All lanes in one dword or quadword, then each in its own: engines do these differently.
        for (step, fine) in [(0, true), (bytes, true), (bytes, false)] {
            for (name, engine) in engines(target(cpu)) {
                let mut machine = Machine::with(file!(), target(cpu), engine, &text, 0);
                let cells: Vec<u8> =
                    (0..64).flat_map(|_| five(bytes).to_le_bytes()[..bytes].to_vec()).collect();
                let memory = machine.buffer(&cells);
                machine.memory.set_fine(memory, fine);
                let mut wave = machine.wave();
                for (i, word) in [memory as u32, (memory >> 32) as u32, 64 * bytes as u32, 4 << 12 | 4 << 15]
                    .into_iter()
                    .enumerate()
                {
                    wave.set_sgpr(8 + i as u32, word);
                }
                for lane in 0..64u64 {
                    let at = memory + lane * step as u64;
                    let (data, old) = (ten(bytes), 0xdead_beef_dead_beef);
                    let words = [at, lane * step as u64, data, old];
                    for (r, word) in words.into_iter().enumerate() {
                        wave.vgpr_mut(2 * r as u16).unwrap()[lane as usize] = word as u32;
                        if r != 1 {
                            wave.vgpr_mut(2 * r as u16 + 1).unwrap()[lane as usize] = (word >> 32) as u32;
                        }
                    }
                }
                assert_eq!(machine.run(&mut wave), Event::End, "{text} on {name}");
                let result = if text.starts_with("buffer") { 4 } else { 6 };
                let returned = wave.vgpr_mut(result + (bytes as u16 / 4 - 1)).unwrap()[0];
                let what = format!("{text} on {name}, step {step}, fine {fine}");
                if lost && fine {
                    assert_eq!(machine.read(memory, 64 * bytes), cells, "{what}");
                    assert_eq!(returned, 0, "{what}");
                } else {
                    assert_eq!(returned, (five(bytes) >> (8 * bytes - 32)) as u32, "{what}");
                }
                let sum = if bytes == 8 { 15f64.to_bits() } else { 15f32.to_bits() as u64 };
                if text.contains("add_f") && !text.contains("pk_") && !fine {
                    assert_eq!(machine.read(memory, bytes), sum.to_le_bytes()[..bytes], "{what}");
                }
            }
        }
    }
}
