//! Compiled operations against their definitions, and the two ways through what is rare.

use crate::arena::Arena;
use crate::block::memory::{Around, Window};
use crate::block::{self, Lanes, Link, Others, Part, Source};
use crate::host::Host;
use crate::input::Input;
use crate::strip::{Setting, Strip};
use crate::x86::Asm;
use wavemill_isa::Decoder;
use wavemill_isa::target::{Target, processor};
use wavemill_sem::lanes::{Long, Word};
use wavemill_sem::record::operation::{long, word};
use wavemill_sem::record::{LongValue, MaskValue, Node, Program, Type, Value, WordValue, record};
use wavemill_sem::soft::Round;
use wavemill_testing::Random;
use wavemill_wave::program::{Layout, decode_block};
use wavemill_wave::{Memory, Shape, Simd, Wave, layout};

const ROUNDS: [Round; 4] = [Round::Nearest, Round::Up, Round::Down, Round::Zero];

unsafe extern "sysv64" fn no_find(_: *mut Link, _: u32, _: u64) -> u32 {
    0
}

unsafe extern "sysv64" fn no_step(_: *mut Link, _: *const Source, _: u32) -> u32 {
    1
}

unsafe extern "sysv64" fn no_part(_: *mut Link, _: *const Part, _: *const Source) -> *const u8 {
    std::ptr::null()
}

/// What code there can be on this host.
fn hosts() -> Vec<Host> {
    Simd::available().into_iter().filter_map(Host::of).collect()
}

/// Runs a strip on a wave: code for any lanes, and that for all, if all are active, which must do the same.
fn run(host: Host, strip: &Strip, wave: &mut Wave) {
    let mut other = wave.clone();
    run_for(Lanes::Some, host, strip, wave);
    if wave.exec() == !0 && other.exec() == !0 {
        run_for(Lanes::All, host, strip, &mut other);
        for register in 0..16 {
            assert_eq!(wave.vgpr(register), other.vgpr(register), "{host:?}: v{register}");
        }
        for code in 0..8 {
            assert_eq!(wave.sgpr(code), other.sgpr(code), "{host:?}: s{code}");
        }
    }
}

/// Runs a strip's code for some lanes on a wave.
fn run_for(lanes: Lanes, host: Host, strip: &Strip, wave: &mut Wave) {
    let arena = Arena::new().expect("memory for code");
    let (entry, exit) = block::entry();
    let entry = arena.place(&entry).expect("code");
    let mut asm = Asm::default();
    let around =
        Around { source: std::ptr::null(), at: 0, pcs: &|_| 0, level: wave.level(), host, masks: &[] };
    block::emit(&mut asm, strip, lanes, None, &around, &Others::None).expect("room for all values");
    block::leave(&mut asm, block::GO);
    let code = arena.place(&asm.finish()).expect("code");
    let mut link = Link {
        sgprs: std::ptr::from_mut(wave).wrapping_byte_add(layout::SGPRS).cast(),
        vgprs: wave.register_file(),
        table: std::ptr::null(),
        exit: entry.address().wrapping_add(exit),
        steps: no_step,
        find: no_find,
        part: no_part,
        budget: 0,
        lds: std::ptr::null_mut(),
        lds_bytes: 0,
        windows: [Window::default(); 2 * block::memory::WINDOWS],
    };
    // SAFETY: code of this crate on registers of this wave.
    let how = unsafe {
        let enter: unsafe extern "sysv64" fn(*mut Link, *const u8) -> u32 =
            std::mem::transmute(entry.address());
        enter(&raw mut link, code.address())
    };
    assert_eq!(how, block::GO);
}

/// A strip of one instruction that leaves registers and masks, and does nothing else.
fn bare(
    program: Program,
    vgprs: Vec<(u16, Value)>,
    masks: Vec<(u8, Value)>,
    active: Vec<(u32, Value)>,
) -> Strip {
    Strip {
        program,
        vgprs,
        masks,
        active,
        accesses: Vec::new(),
        ahead: false,
        moves: Vec::new(),
        exec_moves: Vec::new(),
        waits: false,
        scalars: Vec::new(),
        len: 1,
    }
}

/// A strip of one operation on v0 up (two registers for each long), into v8, v9 or s[4:5].
fn strip_of(operands: &[Type], result: impl FnOnce(&[Value]) -> (Type, Value)) -> Strip {
    let (program, (vgprs, masks, active)) = record(|| {
        let active = vec![(0, Input::Lanes(126).mask().0)];
        let inputs: Vec<Value> = operands
            .iter()
            .zip([0u16, 2, 4])
            .map(|(ty, r)| match ty {
                Type::Long => <LongValue as Long>::join(Input::Vgpr(r).word(), Input::Vgpr(r + 1).word()).0,
                _ => Input::Vgpr(r).word().0,
            })
            .collect();
        let (ty, value) = result(&inputs);
        let mut vgprs = Vec::new();
        let mut masks = Vec::new();
        match ty {
            Type::Word => vgprs.push((8, value)),
            Type::Long => {
                let value = LongValue(value);
                vgprs.extend([(8, value.lo().0), (9, value.hi().0)]);
            }
            Type::Mask => masks.push((4, value)),
        }
        (vgprs, masks, active)
    });
    bare(program, vgprs, masks, active)
}

/// A program of one node behind those of another.
fn with(node: Node, of: Strip, ty: Type) -> Strip {
    let Strip { mut program, active, .. } = of;
    program.nodes.push(node);
    let value = Value(program.nodes.len() as u32 - 1);
    let (mut vgprs, mut masks) = (Vec::new(), Vec::new());
    match ty {
        Type::Word => vgprs.push((8, value)),
        Type::Mask => masks.push((4, value)),
        Type::Long => {
            for (register, half) in [(8, long::lo), (9, long::hi)] {
                program.nodes.push(Node::Long(half, [value; 3], Round::Nearest));
                vgprs.push((register, Value(program.nodes.len() as u32 - 1)));
            }
        }
    }
    bare(program, vgprs, masks, active)
}

fn wave(random: &mut Random) -> Wave {
    let mut wave = Wave::new(&target(), Shape { vgprs: 16, agprs: 0 });
    for r in 0..16 {
        for lane in wave.vgpr_mut(r).into_iter().flatten() {
            *lane = match random.next() % 4 {
                0 => (random.next() as i32 as f32 / 1000.0).to_bits(),
                1 => random.next() as u32 & 0xffff,
                _ => random.edgy(32) as u32,
            };
        }
    }
    wave
}

fn operand(wave: &Wave, ty: Type, register: u16, lane: usize) -> u64 {
    let word = |r: u16| wave.vgpr(r).map_or(0, |lanes| lanes[lane] as u64);
    match ty {
        Type::Long => word(register) | word(register + 1) << 32,
        _ => word(register),
    }
}

/// Whether results are the same, which NaN it is being left open where an operation leaves it open.
fn same(name: &str, ty: Type, want: u64, got: u64) -> bool {
    let arithmetic = name.starts_with('f') && !name.starts_with("f2");
    let nan = match ty {
        Type::Word => f32::from_bits(want as u32).is_nan() && f32::from_bits(got as u32).is_nan(),
        Type::Long => f64::from_bits(want).is_nan() && f64::from_bits(got).is_nan(),
        Type::Mask => false,
    };
    want == got || arithmetic && nan || name.starts_with("h2f") && nan
}

/// Sums rounded to odd are defined for what stays in range only.
fn in_range(ty: Type, operands: &[u64]) -> bool {
    operands.iter().all(|&n| match ty {
        Type::Long => (1e-30..1e30).contains(&f64::from_bits(n).abs()),
        _ => (1e-3..1e3).contains(&f32::from_bits(n as u32).abs()),
    })
}

fn check(name: &str, types: &[Type], result: Type, strip: &Strip, evaluate: impl Fn([u64; 3]) -> u64) {
    for host in hosts() {
        check_on(host, name, types, result, strip, &evaluate);
    }
}

fn check_on(
    host: Host,
    name: &str,
    types: &[Type],
    result: Type,
    strip: &Strip,
    evaluate: &impl Fn([u64; 3]) -> u64,
) {
    let mut random = Random(0x1234_5678_9abc_def1);
    for _ in 0..8 {
        let mut wave = wave(&mut random);
        if name == "ffma_odd" {
            // a · b must be a number: one of them is a power of two.
            for r in [0, 1] {
                wave.vgpr_mut(r)
                    .into_iter()
                    .flatten()
                    .for_each(|n| *n = if types[0] == Type::Word || r == 1 { 0x3f80_0000 } else { 0 });
            }
        }
        let before = wave.clone();
        run(host, strip, &mut wave);
        for lane in 0..64 {
            let mut operands = [0; 3];
            for (i, &ty) in types.iter().enumerate() {
                operands[i] = operand(&before, ty, [0, 2, 4][i], lane);
            }
            if name == "ffma_odd" && !in_range(types[0], &operands) {
                continue;
            }
            let is_nan = |n: &u64| match types[0] {
                Type::Long => f64::from_bits(*n).is_nan(),
                _ => f32::from_bits(*n as u32).is_nan(),
            };
            // Which of a number and a NaN is lesser or greater is left open.
            if matches!(name, "fmin" | "fmax") && operands.iter().any(is_nan) {
                continue;
            }
            let want = evaluate(operands);
            let got = match result {
                Type::Mask => wave.sgpr64(4) >> lane & 1,
                ty => operand(&wave, ty, 8, lane),
            };
            assert!(
                same(name, result, want, got),
                "{host:?}: {name} of {operands:x?}: {got:#x}, not {want:#x}"
            );
        }
    }
}

#[test]
fn every_operation_is_its_definition() {
    for &op in word::ALL {
        for round in ROUNDS {
            let strip = strip_of(op.operands(), |v| (Type::Word, v[0]));
            let inputs = inputs_of(&strip.program, op.operands());
            let strip = with(Node::Word(op, inputs, round), strip, op.result());
            check(op.name(), op.operands(), op.result(), &strip, |o| op.evaluate(o, round));
        }
    }
    for &op in long::ALL {
        for round in ROUNDS {
            let strip = strip_of(op.operands(), |v| (Type::Word, v[0]));
            let inputs = inputs_of(&strip.program, op.operands());
            let strip = with(Node::Long(op, inputs, round), strip, op.result());
            check(op.name(), op.operands(), op.result(), &strip, |o| op.evaluate(o, round));
        }
    }
}

/// The values of a program's operands: inputs, or two of them joined.
fn inputs_of(program: &Program, types: &[Type]) -> [Value; 3] {
    let find = |want: &dyn Fn(&Node) -> bool| program.nodes.iter().position(want).map(|i| Value(i as u32));
    let mut all = [Value(0); 3];
    for (i, ty) in types.iter().enumerate() {
        let register = [0u16, 2, 4][i];
        let word = find(&|n| matches!(n, Node::Input(r, Type::Word) if *r == register)).expect("an input");
        all[i] = match ty {
            Type::Long => {
                find(&|n| matches!(n, Node::Word(word::join, [a, ..], _) if *a == word)).expect("a pair")
            }
            _ => word,
        };
    }
    for i in types.len()..3 {
        all[i] = all[0];
    }
    all
}

/// Asserts that a host with AVX2, and what `Simd::available` asks for beside it, knows the instructions.
fn assert_avx2(what: &str, code: &[u8]) {
    use iced_x86::CpuidFeature::*;
    // Hosts of 64 bits that do not have PREFETCHW take it for a NOP; PREFETCHT0 came with SSE.
    let known = [
        INTEL8086, INTEL186, INTEL286, INTEL386, INTEL486, X64, CMOV, SSE, PREFETCHW, AVX, AVX2, FMA, F16C,
        BMI1, BMI2, LZCNT, POPCNT,
    ];
    let mut decoder = iced_x86::Decoder::new(64, code, 0);
    let (mut vectors, mut masked) = (0, 0);
    for inst in &mut decoder {
        let features = inst.cpuid_features();
        assert!(!inst.is_invalid(), "{what}: no instruction at {:#x}", inst.ip());
        assert!(features.iter().all(|f| known.contains(f)), "{what}: {:?} is {features:?}", inst.code());
        vectors += u32::from(features.contains(&AVX) || features.contains(&AVX2));
        masked += u32::from(inst.has_op_mask());
    }
    assert!(vectors > 0 && masked == 0, "{what}: {vectors} vector instructions");
}

/// Code for AVX2 has no instruction that only AVX-512 has, though hosts that run tests may have both.
#[test]
fn code_for_avx2_is_avx2() {
    let level = target().level();
    let around = Around { source: std::ptr::null(), at: 0, pcs: &|_| 0, level, host: Host::Avx2, masks: &[] };
    let assert_strip = |name: &str, strip: &Strip| {
        let mut asm = Asm::default();
        for lanes in [Lanes::All, Lanes::Some] {
            block::emit(&mut asm, strip, lanes, None, &around, &Others::None).expect("room for all values");
        }
        // Stores of results at least.
        assert_avx2(name, &asm.code);
    };
    for round in ROUNDS {
        for &op in word::ALL {
            let strip = strip_of(op.operands(), |v| (Type::Word, v[0]));
            let inputs = inputs_of(&strip.program, op.operands());
            assert_strip(op.name(), &with(Node::Word(op, inputs, round), strip, op.result()));
        }
        for &op in long::ALL {
            let strip = strip_of(op.operands(), |v| (Type::Word, v[0]));
            let inputs = inputs_of(&strip.program, op.operands());
            assert_strip(op.name(), &with(Node::Long(op, inputs, round), strip, op.result()));
        }
    }
    for size in ["ubyte", "sbyte", "ushort", "sshort", "dword", "dwordx2", "dwordx3", "dwordx4"] {
        let stored = size.trim_start_matches(['u', 's']).replace("hort", "short");
        let last = match size {
            "dwordx2" => 9,
            "dwordx3" => 10,
            "dwordx4" => 11,
            _ => 8,
        };
        let data = if last == 8 { "v8".into() } else { format!("v[8:{last}]") };
        for exec in ["", "v_cmpx_lt_u32 vcc, v6, v7\n"] {
            let text = format!(
                "v_lshlrev_b32 v1, 2, v0\n {exec} global_load_{size} {data}, v1, s[2:3]\n s_waitcnt vmcnt(0)\n \
                 v_add_u32 v8, 3, v8\n global_store_{stored} v1, {data}, s[4:5]\n s_endpgm\n"
            );
            assert_avx2(&text, &compiled(&text));
            let text = format!(
                "{exec} global_load_{size} {data}, v[2:3], off\n s_waitcnt vmcnt(0)\n v_add_u32 v8, 3, v8\n \
                 v_mul_lo_u32 v9, v8, v7\n global_store_{stored} v[4:5], {data}, off\n s_endpgm\n"
            );
            assert_avx2(&text, &compiled(&text));
        }
    }
    let shared = "v_lshlrev_b32 v1, 3, v0\n ds_read_b64 v[2:3], v1\n s_waitcnt lgkmcnt(0)\n v_add_u32 v2, 3, v2\n \
                  ds_write2_b32 v1, v2, v3 offset1:7\n s_endpgm\n";
    assert_avx2(shared, &compiled(shared));
}

fn target() -> Target {
    Target::new(processor("gfx90a").expect("a processor"))
}

/// The code for AVX2 of a block.
fn compiled(text: &str) -> Vec<u8> {
    let mut options = wavemill_asm::Options::new(target());
    options.output = wavemill_asm::OutputType::Obj;
    let output = wavemill_asm::assemble(&options, "block", text.into());
    assert!(!output.failed(), "{text}: {}", String::from_utf8_lossy(&output.render_diagnostics()));
    let sections = output.object.into_iter().flat_map(|o| o.sections);
    let code = sections.filter(|s| s.has_instructions).map(|s| s.data.to_vec()).next().unwrap_or_default();
    let memory = Memory::new();
    let pc = code.as_ptr() as u64;
    // SAFETY: the code lives as long as the memory.
    unsafe { memory.add(pc, code.len() as u64, false).expect("a range of its own") };
    let wave = Wave::new(&target(), Shape { vgprs: 16, agprs: 0 });
    let block = decode_block(&Decoder::new(target()), &memory, pc, Layout::of(&wave));
    let setting = Setting::of(&wave, wave.mode, &block.insts, Host::Avx2.lanes(), Host::Avx2.crosses());
    let source = Source { block, pc, mode: wave.mode, needs: Default::default() };
    let mut all = Vec::new();
    for all_active in [true, false] {
        all.extend(block::write(&source, &Setting { all_active, ..setting }, Host::Avx2).0.code);
    }
    all
}

/// Lanes that need what is rare get it, and others what is common, whichever lanes are active.
#[test]
fn what_is_rare_is_done() {
    let strip = strip_of(&[Type::Word, Type::Word], |v| {
        let (a, b) = (WordValue(v[0]), WordValue(v[1]));
        let sum = a + b;
        let rare = WordValue::rarely(a.lt_u(b), sum, move || sum ^ WordValue::splat(0xffff));
        (Type::Word, WordValue::select(MaskValue(Input::Lanes(126).mask().0), rare, Input::Vgpr(8).word()).0)
    });
    let cases = [(!0u64, 65), (0xf0f0_0000_ffff_1234, 65), (!0, 3), (0xff00, 0)];
    for (host, (exec, limit)) in hosts().into_iter().flat_map(|host| cases.map(|case| (host, case))) {
        let mut wave = wave(&mut Random(77));
        for (register, f) in [(0, (|_| 7) as fn(usize) -> u32), (2, |lane| lane as u32)] {
            wave.vgpr_mut(register)
                .into_iter()
                .flatten()
                .enumerate()
                .for_each(|(lane, v)| *v = f(lane).min(limit));
        }
        wave.set_exec(exec);
        let before = wave.clone();
        run(host, &strip, &mut wave);
        for lane in 0..64 {
            let [a, b] = [0, 2].map(|r| operand(&before, Type::Word, r, lane) as u32);
            let active = exec >> lane & 1 != 0;
            let want = match (active, a < b) {
                (false, _) => operand(&before, Type::Word, 8, lane) as u32,
                (true, true) => (a + b) ^ 0xffff,
                (true, false) => a + b,
            };
            assert_eq!(
                operand(&wave, Type::Word, 8, lane) as u32,
                want,
                "{host:?}: lane {lane} of {exec:#x}"
            );
        }
    }
}

/// A NaN in any one lane is found, whichever half of a long's lanes has it, and whether lanes may be inactive or not.
#[test]
fn one_nan_is_found() {
    for all in [false, true] {
        let mut strip = strip_of(&[Type::Long, Type::Long], |v| {
            let sum = LongValue(v[0]).fadd(LongValue(v[1]));
            (Type::Long, LongValue::rarely(sum.funord(sum), sum, || LongValue::splat(7)).0)
        });
        if all {
            strip.program.nodes.push(Node::Constant(1, Type::Mask));
            strip.active = vec![(0, Value(strip.program.nodes.len() as u32 - 1))];
        }
        for (host, odd) in hosts().into_iter().flat_map(|host| (0..65).map(move |lane| (host, lane))) {
            let mut wave = wave(&mut Random(3));
            let numbers = [1.5f64, 2.25].map(f64::to_bits);
            for (register, n) in [(0u16, numbers[0]), (2, numbers[1])] {
                for (i, half) in [(0, n as u32), (1, (n >> 32) as u32)] {
                    wave.vgpr_mut(register + i).into_iter().flatten().for_each(|v| *v = half);
                }
            }
            wave.vgpr_mut(3).into_iter().flatten().skip(odd).take(1).for_each(|v| *v = 0x7ff8_0000);
            wave.set_exec(!0);
            run(host, &strip, &mut wave);
            for lane in 0..64 {
                let want = if lane == odd { 7 } else { 3.75f64.to_bits() };
                assert_eq!(operand(&wave, Type::Long, 8, lane), want, "{host:?}: lane {lane}, NaN in {odd}");
            }
        }
    }
}

/// More values at once than there are registers.
#[test]
fn values_without_a_register_are_kept() {
    let strip = strip_of(&[Type::Word], |v| {
        let a = WordValue(v[0]);
        let many: Vec<WordValue> = (0..60).map(|i| (a + WordValue::splat(i)) * a).collect();
        let sum = many.iter().rev().fold(WordValue::splat(0), |sum, &x| (sum ^ x) + sum);
        (Type::Word, many.iter().fold(sum, |sum, &x| sum ^ x).0)
    });
    for host in hosts() {
        let mut wave = wave(&mut Random(5));
        let before = wave.clone();
        run(host, &strip, &mut wave);
        for lane in 0..64 {
            let a = operand(&before, Type::Word, 0, lane) as u32;
            let many: Vec<u32> = (0..60).map(|i| a.wrapping_add(i).wrapping_mul(a)).collect();
            let sum = many.iter().rev().fold(0u32, |sum, &x| (sum ^ x).wrapping_add(sum));
            let want = many.iter().fold(sum, |sum, &x| sum ^ x);
            assert_eq!(operand(&wave, Type::Word, 8, lane) as u32, want, "{host:?}: lane {lane}");
        }
    }
}

/// Registers that exchange what they hold.
#[test]
fn registers_are_read_before_they_are_written() {
    let (program, vgprs) = record(|| {
        Input::Lanes(126).mask();
        (0..16u16).map(|r| (r, Input::Vgpr((r + 5) % 16).word().0)).collect::<Vec<_>>()
    });
    let strip = bare(program, vgprs, Vec::new(), vec![(0, Value(0))]);
    for host in hosts() {
        let mut wave = wave(&mut Random(9));
        let before = wave.clone();
        run(host, &strip, &mut wave);
        for r in 0..16 {
            assert_eq!(wave.vgpr(r), before.vgpr((r + 5) % 16), "{host:?}: v{r}");
        }
    }
}
