//! The same instruction on the interpreter and on the model, and what differs.

use crate::generate::{AGPRS, VGPRS, instruction, state};
use crate::{Allowed, State, Tolerance, Unmodelled, execute, flags};
use std::collections::BTreeMap;
use wavemill_asm::disasm::Disassembler;
use wavemill_isa::row::{self, Enc, Form, Role};
use wavemill_isa::target::processor;
use wavemill_isa::{Inst, Level, ROWS, Target};
use wavemill_jit::Jit;
use wavemill_plain::Plain;
use wavemill_testing::Random;
use wavemill_wave::{Engine, Event, GroupShared, Interp, Memory, Shape, Simd, Wave};

/// Processors that stand for the levels.
pub const CPUS: [&str; 8] = ["gfx600", "gfx701", "gfx803", "gfx900", "gfx904", "gfx906", "gfx908", "gfx90a"];

/// A difference between the two.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The mnemonic.
    pub name: &'static str,
    /// The encoding it was found in.
    pub form: Form,
    /// Everything about it, for a reader.
    pub text: String,
}

/// What a comparison saw.
#[derive(Default)]
pub struct Report {
    /// Lanes (scalar instructions: runs) compared, by mnemonic and form.
    pub cases: BTreeMap<(&'static str, u8), u64>,
    /// Differences by mnemonic and form: how many, and the first.
    pub differences: BTreeMap<(&'static str, u8), (u64, Difference)>,
    /// Instructions whose exception flags were compared, by the bit of TRAPSTS that the model was sure to find.
    pub flags: [u64; 7],
    /// Rows without a model and not on the list of excluded ones.
    pub missing: Vec<&'static str>,
}

impl Report {
    /// Adds another report.
    pub fn add(&mut self, other: Report) {
        for (k, n) in other.cases {
            *self.cases.entry(k).or_default() += n;
        }
        for (k, (n, d)) in other.differences {
            self.differences.entry(k).or_insert((0, d)).0 += n;
        }
        self.flags.iter_mut().zip(other.flags).for_each(|(n, m)| *n += m);
        self.missing.extend(other.missing);
    }

    /// Counts an outcome; false if there is no model.
    fn note(&mut self, inst: &Inst, outcome: Result<Agreed, Failure>) -> bool {
        let key = (inst.row.name, inst.form as u8);
        match outcome {
            Ok(Agreed { cases, raised }) => {
                *self.cases.entry(key).or_default() += cases;
                for (bit, n) in self.flags.iter_mut().enumerate() {
                    *n += u64::from(raised >> bit & 1);
                }
            }
            Err(Failure::Unmodelled) => {
                self.missing.push(inst.row.name);
                return false;
            }
            Err(Failure::Differs(d)) => self.differences.entry(key).or_insert((0, d)).0 += 1,
        }
        true
    }

    /// All cases.
    pub fn total(&self) -> u64 {
        self.cases.values().sum()
    }

    /// The differences as text, one block each.
    pub fn describe(&self) -> String {
        self.differences.values().map(|(n, d)| format!("{n} differences, the first:\n{}\n", d.text)).collect()
    }
}

/// Every form of a row at a level.
pub fn forms(level: Level) -> impl Iterator<Item = (&'static wavemill_isa::Row, Form)> {
    let alu = |enc: Enc| enc as u8 <= Enc::Sopp as u8 || enc.is_valu();
    ROWS.iter().filter(move |row| alu(row.enc)).flat_map(move |row| {
        [Form::Base, Form::Vop3, Form::Sdwa, Form::Dpp]
            .into_iter()
            .filter(move |&form| row.has_form(form, level))
            .map(move |form| (row, form))
    })
}

/// Runs every form of every row of a processor's level `runs` times, scalar ones more often; `pick` says which rows.
pub fn compare(cpu: &str, seed: u64, runs: usize, pick: &dyn Fn(&str) -> bool) -> Report {
    let bench = Bench::new(cpu);
    let target = bench.target;
    let mut report = Report::default();
    for (index, (row, form)) in forms(target.level()).enumerate() {
        if crate::excluded_row(row).is_some() || !pick(row.name) {
            continue;
        }
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (index as u64 + 1) << 20 | 1);
        for _ in 0..8 {
            random.next();
        }
        // A vector instruction is a case for every lane, a scalar one just one.
        let runs = if row.enc.is_valu() { runs } else { 16 * runs };
        for run in 0..runs {
            let inst = instruction(&mut random, row, form, &target);
            // Once without active lanes.
            let none = run == 1 && row.enc.is_valu();
            let change = |s: &mut State| {
                if none {
                    s.set_sgpr64(126, 0);
                }
            };
            if !report.note(&inst, one(&mut random, &inst, &bench, run, &change)) {
                break;
            }
        }
    }
    report
}

/// Runs every instruction with a single 16-bit operand on all 65,536 of them, in some modes.
pub fn all_halves(cpu: &str) -> Report {
    let bench = Bench::new(cpu);
    let level = bench.target.level();
    let mut report = Report::default();
    let mut random = Random(1);
    for row in ROWS.iter().filter(|r| r.enc == Enc::Vop1 && r.opcode_at(level).is_some()) {
        if row.operand(Role::Src0).is_none_or(|o| o.ty.bits != 16) {
            continue;
        }
        let mut inst = Inst::new(row, Form::Base, level);
        inst.set(Role::Src0, 256);
        inst.set(Role::Vdst, 1);
        // What compilers ask for; denormals flushed; another rounding and FP16_OVFL.
        for mode in [0x3f0, 0x100, 0x80_00fa] {
            for block in 0..1024u32 {
                let halves = |s: &mut State| {
                    s.mode = mode;
                    s.set_sgpr64(126, !0);
                    s.vgprs[0] = std::array::from_fn(|lane| block * 64 + lane as u32);
                };
                let outcome = one(&mut random, &inst, &bench, block as usize, &halves);
                if !report.note(&inst, outcome) {
                    break;
                }
            }
        }
    }
    report
}

/// What was compared and found the same.
struct Agreed {
    cases: u64,
    /// Exception flags that both raised.
    raised: u32,
}

enum Failure {
    Unmodelled,
    Differs(Difference),
}

/// Dwords of the code that surrounds the instruction: S_ENDPGM wherever it may jump.
const CODE: usize = 64;
pub(crate) const ENDPGM: u32 = 0xbf81_0000;

/// The engines for a processor, the interpreter on every back end of this host, with a disassembler for its messages.
pub(crate) struct Bench {
    pub target: Target,
    pub engines: Vec<Box<dyn Engine>>,
    pub disassembler: Disassembler,
}

impl Bench {
    pub fn new(cpu: &str) -> Bench {
        Bench::with(cpu, |_| {})
    }

    /// For a processor with some of its features chosen.
    pub fn with(cpu: &str, change: impl FnOnce(&mut Target)) -> Bench {
        let mut target = Target::new(processor(cpu).unwrap_or_else(|| panic!("no processor {cpu}")));
        change(&mut target);
        let interp = |simd| Box::new(Interp::with_simd(target, simd)) as Box<dyn Engine>;
        let mut engines: Vec<_> = Simd::available().into_iter().map(interp).collect();
        engines.extend(Jit::all(target).into_iter().map(|jit| Box::new(jit) as Box<dyn Engine>));
        engines.push(Box::new(Plain::new(target)));
        Bench { target, engines, disassembler: Disassembler::new(target) }
    }
}

/// Runs an instruction on both; `change` may prepare the random state further.
fn one(
    random: &mut Random,
    inst: &Inst,
    bench: &Bench,
    run: usize,
    change: &dyn Fn(&mut State),
) -> Result<Agreed, Failure> {
    let Bench { target, engines, disassembler } = bench;
    let engine = &engines[run % engines.len()];
    let mut code = [ENDPGM; CODE];
    code[CODE / 2] = inst.bits as u32;
    if inst.len == 8 {
        code[CODE / 2 + 1] = (inst.bits >> 32) as u32;
    }
    let base = code.as_ptr() as u64;
    let pc = base + 4 * (CODE as u64 / 2);
    let mut jump = |r: &mut Random| base + 4 * r.below(CODE as u64 / 2 - 2);
    let mut before = state(random, inst, target.level(), pc, &mut jump);
    change(&mut before);
    let mut model = before.clone();
    let tolerances = execute(&mut model, inst).map_err(|_: Unmodelled| Failure::Unmodelled)?;

    let memory = Memory::new();
    // SAFETY: the code outlives the memory and nothing writes to it.
    unsafe { memory.add(base, 4 * CODE as u64, false) }
        .unwrap_or_else(|e| panic!("code cannot be added: {e:?}"));
    engine.invalidate(base, 4 * CODE as u64);
    // S_ENDPGM is behind the instruction or at the jump's target.
    model.pc += 4;
    let mut differences = Vec::new();
    let execute = |state: &State, gather: bool| {
        let mut wave = to_wave(state, target);
        wave.gather_exceptions = gather;
        let event = engine.run(&mut wave, &GroupShared::new(0), &memory, 10);
        (wave, event)
    };
    // As kernels run, and with exceptions gathered, which is another path and may change nothing else.
    for gather in [false, true] {
        let (wave, event) = execute(&before, gather);
        if event != Event::End {
            differences.push(format!("  the interpreter stopped with {event:?}"));
            continue;
        }
        differences.extend(differing(&before, &model, &tolerances, &wave, Some(inst)));
    }
    if differences.is_empty() {
        differences.extend(flags_differ(&before, inst, run, &|state| execute(state, true).0.trapsts));
        // The table's word on state that is not an operand.
        let quiet = |bit: u16| inst.row.writes & bit == 0;
        if quiet(row::state::SCC) && before.scc != model.scc {
            differences.push("  the table says that SCC is not written".into());
        }
        if quiet(row::state::EXEC) && inst.row.enc.is_valu() && before.exec() != model.exec() {
            differences.push("  the table says that EXEC is not written".into());
        }
    }
    if differences.is_empty() {
        let raised = flags::raised(&before, inst).map_or(0, |f| f.raised);
        return Ok(Agreed { cases: if inst.row.enc.is_valu() { 64 } else { 1 }, raised });
    }
    let mut text = Vec::new();
    let bytes: Vec<u8> = code[CODE / 2..].iter().flat_map(|w| w.to_le_bytes()).collect();
    disassembler.one(&bytes, &mut text);
    let text = format!(
        "{} on {} ({:?}, {:#018x}); MODE {:#x}, EXEC {:#018x}, VCC {:#018x}, SCC {}, M0 {:#x}\n{}",
        String::from_utf8_lossy(&text).trim(),
        target.cpu.name,
        inst.form,
        inst.bits,
        before.mode,
        before.exec(),
        before.vcc(),
        before.scc,
        before.sgprs[124],
        differences.into_iter().take(4).collect::<Vec<_>>().join("\n"),
    );
    Err(Failure::Differs(Difference { name: inst.row.name, form: inst.form, text }))
}

/// What is wrong with the flags that `execute` gathers, for a reader. Lanes hide each other's flags, so some run on their
/// own, too: all of them to find one that shows what is wrong with them together.
fn flags_differ(before: &State, inst: &Inst, run: usize, execute: &dyn Fn(&State) -> u32) -> Option<String> {
    let text = |state: &State| {
        let (flags, trapsts) = (flags::raised(state, inst)?, execute(state) & flags::ALL);
        let flags::Flags { raised, open } = flags;
        (!flags.permit(trapsts)).then(|| {
            format!("  flags: the model has {raised:#x} ({open:#x} open), the interpreter {trapsts:#x}")
        })
    };
    let alone = |lane: usize| {
        let mut state = before.clone();
        state.set_sgpr64(126, 1 << lane);
        Some(text(&state)? + &format!(", lane {lane} alone{}", sources(before, Some(inst), lane)))
    };
    let all = text(before);
    let lanes = if all.is_some() { 64 } else { 2 };
    let one = inst.row.enc.is_valu().then(|| (0..lanes).find_map(|i| alone((run + 17 * i) % 64)));
    one.flatten().or(all)
}

pub(crate) fn to_wave(s: &State, target: &Target) -> Wave {
    let shape = Shape { vgprs: VGPRS as u16, agprs: s.agprs.len() as u16 };
    let mut wave = Wave::new(target, shape);
    wave.pc = s.pc;
    for code in 0..128 {
        wave.set_sgpr(code, s.sgprs[code as usize]);
    }
    wave.scc = s.scc;
    wave.mode = s.mode;
    wave.status |= s.status;
    for (i, reg) in s.vgprs.iter().chain(&s.agprs).enumerate() {
        if let Some(r) = wave.vgpr_mut(i as u16) {
            *r = *reg;
        }
    }
    wave
}

pub(crate) fn differing(
    before: &State,
    model: &State,
    tolerances: &[Tolerance],
    wave: &Wave,
    inst: Option<&Inst>,
) -> Vec<String> {
    let mut out = Vec::new();
    let mut differ = |what: String, model: u64, wave: u64| {
        if model != wave {
            out.push(format!("  {what}: the model has {model:#x}, the interpreter {wave:#x}"));
        }
    };
    differ("pc".into(), model.pc, wave.pc);
    differ("scc".into(), model.scc as u64, wave.scc as u64);
    differ("mode".into(), model.mode as u64, wave.mode as u64);
    for code in 0..128 {
        differ(format!("s{code}"), model.sgprs[code as usize] as u64, wave.sgpr(code) as u64);
    }
    debug_assert!(model.agprs.len() <= AGPRS as usize);
    for (i, reg) in model.vgprs.iter().chain(&model.agprs).enumerate() {
        let Some(actual) = wave.vgpr(i as u16) else { continue };
        for lane in 0..64 {
            let allowed = tolerances.iter().find(|t| {
                let pair = matches!(t.allowed, Allowed::Between(crate::Fmt::F64, ..));
                t.lane == lane && (t.vgpr == i || pair && t.vgpr + 1 == i)
            });
            match allowed {
                None if reg[lane] == actual[lane] => {}
                None => out.push(format!(
                    "  v{i} lane {lane}: the model has {:#x}, the interpreter {:#x}{}",
                    reg[lane],
                    actual[lane],
                    sources(before, inst, lane)
                )),
                Some(t) if t.vgpr == i => {
                    let high = wave.vgpr(i as u16 + 1).map_or(0, |r| r[lane]);
                    let value = actual[lane] as u64 | (high as u64) << 32;
                    if !permits(&t.allowed, value) {
                        out.push(format!(
                            "  v{i} lane {lane}: the model allows {:x?}, the interpreter has {value:#x}{}",
                            t.allowed,
                            sources(before, inst, lane)
                        ));
                    }
                }
                Some(_) => {}
            }
        }
    }
    out
}

fn permits(allowed: &Allowed, value: u64) -> bool {
    match allowed {
        Allowed::OneOf(values) => values.contains(&(value as u32)),
        Allowed::Between(_, 64.., ..) => true,
        Allowed::Between(f, shift, lo, hi) => {
            let bits = value >> shift & f.mask();
            !f.is_nan(bits) && (*lo..=*hi).contains(&f.key(bits))
        }
    }
}

/// A lane's operands, for the reader of a difference.
fn sources(before: &State, inst: Option<&Inst>, lane: usize) -> String {
    let Some(inst) = inst else { return String::new() };
    let mut out = String::from("; operands");
    for op in inst.row.operands {
        if op.role.source_index().is_some() {
            out += &format!(" {:#x}", crate::operand::source(before, inst, op, lane));
        }
    }
    let vdst = crate::operand::vector(&before.vgprs, crate::operand::vdst(before, inst), 2, lane);
    out + &format!(", vdst was {vdst:#x}")
}
