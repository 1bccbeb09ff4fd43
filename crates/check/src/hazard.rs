//! Wait states that software must insert (manual 4.5 and 7.2; what differs between generations, as LLVM's hazard
//! recognizer has it).
//!
//! A rule looks at two instructions and says how many wait states there must be between them. The analysis keeps, for each
//! step, the instructions of the last few wait states on any path.

use crate::finding::{Finding, Kind, Mend};
use crate::flow::{self, State};
use crate::program::{Program, Step};
use std::collections::{BTreeMap, BTreeSet};
use wavemill_isa::info::{Index, Reg, Use};
use wavemill_isa::{Class, Enc, Flow, Form, Level, MemKind, Op, Role, flag};

/// Wait states after which nothing matters any more.
const WINDOW: u8 = 19;

/// MODE's bit that lets vector instructions be skipped.
const VSKIP: u32 = 1 << 28;

/// An instruction issued lately.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Issued {
    /// Wait states since: the fewest on any path.
    states: u8,
    /// Of a matrix instruction: registers that a later one writes on every path. Who reads those waits for the later one.
    superseded: BTreeSet<Reg>,
}

/// The instructions issued lately, each with whether one has come since that holds its result back ([`holds_back`]): paths
/// on which that is so are kept apart from those on which it is not.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Recent(BTreeMap<(usize, bool), Issued>);

impl Recent {
    /// Takes in an instruction that was issued on another path.
    fn add(&mut self, key: (usize, bool), theirs: &Issued) {
        let join = |mine: &mut Issued| {
            mine.states = mine.states.min(theirs.states);
            mine.superseded.retain(|r| theirs.superseded.contains(r));
        };
        self.0.entry(key).and_modify(join).or_insert_with(|| theirs.clone());
    }
}

impl State for Recent {
    fn join(&mut self, other: &Self) {
        other.0.iter().for_each(|(key, theirs)| self.add(*key, theirs));
    }

    fn step(&mut self, program: &Program, index: usize, step: &Step) {
        let passed = step.states();
        self.0.values_mut().for_each(|i| i.states = i.states.saturating_add(passed));
        self.0.retain(|_, i| i.states < WINDOW);
        if step.calls {
            // A function takes longer than any hazard.
            self.0.clear();
        }
        if is_mfma(step) {
            let earlier = self.0.iter_mut().filter(|((i, _), _)| is_mfma(&program.steps[*i]));
            earlier.for_each(|(_, issued)| issued.superseded.extend(step.info.writes().flat_map(Use::regs)));
        }
        if holds_back(step, program.target.level()) {
            let held = |(i, held): &(usize, bool)| !held && is_plain_valu(&program.steps[*i]);
            let earlier: Vec<_> = self.0.extract_if(.., |key, _| held(key)).collect();
            earlier.iter().for_each(|((i, _), issued)| self.add((*i, true), issued));
        }
        self.0.insert((index, false), Issued::default());
    }

    fn found(&self, program: &Program, index: usize) -> Vec<Finding> {
        let step = &program.steps[index];
        let mut found = Vec::new();
        for ((index, held), issued) in &self.0 {
            let (first, states) = (&program.steps[*index], issued.states);
            let level = program.target.level();
            let need = required(first, step, program, &issued.superseded);
            let late = held.then(|| arrives_late(first, step, level)).flatten();
            let most = need.into_iter().chain(late).max_by_key(|n| n.states);
            let Some(need) = most else { continue };
            let same = |f: &Finding| f.other == first.at;
            if states < need.states && !found.iter().any(same) {
                found.push(Finding {
                    kind: Kind::TooClose,
                    at: step.at,
                    other: first.at,
                    regs: need.regs,
                    states: Some((need.states, states, need.rule)),
                    mend: Mend::Nops(need.states - states),
                });
            }
        }
        found
    }
}

/// All pairs of instructions that are too close.
pub fn check(program: &Program) -> Vec<Finding> {
    flow::check::<Recent>(program)
}

/// What two instructions need between them.
struct Need {
    states: u8,
    regs: Vec<Reg>,
    rule: &'static str,
}

fn is_valu(s: &Step) -> bool {
    s.inst.row.enc.is_valu()
}

fn is_salu(s: &Step) -> bool {
    (s.inst.row.enc as u8) <= Enc::Sopp as u8
}

fn is_vmem(s: &Step) -> bool {
    use Enc::{Flat, Global, Mimg, Mtbuf, Mubuf, Scratch};
    matches!(s.inst.row.enc, Mubuf | Mtbuf | Mimg | Flat | Global | Scratch)
}

fn is_mfma(s: &Step) -> bool {
    s.inst.row.enc == Enc::Mfma
}

/// A VALU instruction that is none of the matrix cores'.
fn is_plain_valu(s: &Step) -> bool {
    is_valu(s) && !is_mfma(s) && !moves_accumulator(s)
}

/// An instruction that holds back what a VALU instruction before it has computed (manual 7.2's processors, as LLVM's hazard
/// recognizer has it): V_ACCVGPR_READ and V_ACCVGPR_WRITE of gfx908, double-precision matrices of gfx90a.
fn holds_back(s: &Step, level: Level) -> bool {
    match level {
        Level::Gfx908 => matches!(s.inst.row.op, Op::v_accvgpr_read_b32 | Op::v_accvgpr_write_b32),
        Level::Gfx90a => is_double(s),
        _ => false,
    }
}

/// What a memory instruction needs that reads a VALU result which was held back.
fn arrives_late(first: &Step, second: &Step, level: Level) -> Option<Need> {
    if !is_vmem(second) && second.inst.row.enc != Enc::Ds {
        return None;
    }
    let results = first.info.writes().filter(|u| matches!(u.reg, Reg::Vgpr(_)));
    let regs = shared(results, second.info.reads());
    let rule = match level {
        Level::Gfx908 => {
            "a VALU write of a VGPR, then V_ACCVGPR_READ or V_ACCVGPR_WRITE, then a memory instruction that reads the VGPR"
        }
        _ => {
            "a VALU write of a VGPR, then a double-precision MFMA, then a memory instruction that reads the VGPR"
        }
    };
    (!regs.is_empty()).then_some(Need { states: 2, regs, rule })
}

fn is_double(s: &Step) -> bool {
    is_mfma(s) && s.inst.row.operand(Role::Src0).is_some_and(|o| o.ty.bits == 64)
}

fn is_dot(s: &Step) -> bool {
    s.inst.row.has(flag::DOT)
}

/// V_ACCVGPR_READ and V_ACCVGPR_WRITE.
fn moves_accumulator(s: &Step) -> bool {
    s.inst.row.operands.iter().any(|o| o.class == Class::Agpr)
}

/// Registers of two lists of uses that are the same.
fn shared<'a>(first: impl Iterator<Item = &'a Use>, second: impl Iterator<Item = &'a Use>) -> Vec<Reg> {
    let theirs: Vec<Reg> = second.flat_map(Use::regs).collect();
    let mut out: Vec<Reg> = first.flat_map(Use::regs).filter(|r| theirs.contains(r)).collect();
    out.dedup();
    out
}

fn writes(s: &Step, wanted: impl Fn(Reg) -> bool) -> bool {
    s.info.writes().flat_map(Use::regs).any(wanted)
}

fn is_exec(r: Reg) -> bool {
    r == Reg::EXEC || r == Reg::EXEC.offset(1)
}

fn is_vcc(r: Reg) -> bool {
    r == Reg::VCC || r == Reg::VCC.offset(1)
}

/// What the rules demand of a pair: the strictest of them.
fn required(first: &Step, second: &Step, program: &Program, superseded: &BTreeSet<Reg>) -> Option<Need> {
    let level = program.target.level();
    let mut most: Option<Need> = None;
    let mut need = |states: u8, mut regs: Vec<Reg>, rule: &'static str| {
        let some = !regs.is_empty();
        regs.retain(|r| !superseded.contains(r));
        if some && regs.is_empty() {
            return;
        }
        if states > 0 && most.as_ref().is_none_or(|m| m.states < states) {
            most = Some(Need { states, regs, rule });
        }
    };
    let (gfx6, vi) = (level == Level::Gfx6, level.is_vi_plus());
    if is_valu(first) {
        after_valu(first, second, level, &mut need);
        if let Some(number) = program.vcc.filter(|_| vi && is_valu(second)) {
            vcc_by_number(first, second, Reg::Scalar(number), &mut need);
        }
    }
    if is_salu(first) && writes(first, |r| r == Reg::M0) && reads_m0_late(second, level) {
        need(1, vec![Reg::M0], "an SALU write of M0, then an instruction that takes M0 late");
    }
    if gfx6 && is_salu(first) && second.inst.row.enc == Enc::Smrd {
        let buffer = second.inst.row.operand(Role::Sbase).is_some_and(|o| o.ty.dwords() == 4);
        let regs = shared(first.info.writes(), second.info.reads());
        if buffer && !regs.is_empty() {
            need(4, regs, "an SALU write of an SGPR, then a scalar buffer load that reads it (GFX6)");
        }
    }
    setreg(first, second, level, &mut need);
    if level != Level::Gfx6 && is_valu(second) && stores_more_than_two(first) {
        let data = first.info.reads().filter(|u| u.role == Some(Role::Vdata));
        let regs = shared(data, second.info.writes());
        if !regs.is_empty() {
            need(1, regs, "a store of more than 64 bits, then a VALU write of its data");
        }
    }
    if vi && second.inst.row.op == Op::s_getreg_b32 && first.inst.row.op == Op::s_setvskip {
        let mode = second.info.reads().any(|u| u.reg == Reg::MODE);
        if mode {
            need(2, vec![Reg::MODE], "S_SETVSKIP, then S_GETREG of MODE");
        }
    }
    matrix(first, second, level, &mut need);
    most
}

type Demand<'a> = dyn FnMut(u8, Vec<Reg>, &'static str) + 'a;

/// What a VALU instruction leaves behind for a while.
fn after_valu(first: &Step, second: &Step, level: Level, need: &mut Demand<'_>) {
    let vi = level.is_vi_plus();
    let scalars = || first.info.writes().filter(|u| matches!(u.reg, Reg::Scalar(_)) && !is_exec(u.reg));
    if vi && is_vmem(second) {
        let regs = shared(scalars(), second.info.reads().filter(|u| !is_exec(u.reg)));
        if !regs.is_empty() {
            need(5, regs, "a VALU write of an SGPR, then a vector memory instruction that reads it");
        }
    }
    if level == Level::Gfx6 && second.inst.row.enc == Enc::Smrd {
        let regs = shared(scalars(), second.info.reads());
        if !regs.is_empty() {
            need(4, regs, "a VALU write of an SGPR, then a scalar load that reads it (GFX6)");
        }
    }
    if !is_valu(second) {
        return;
    }
    if second.inst.form == Form::Dpp {
        let vgprs = first.info.writes().filter(|u| u.reg.is_vector());
        let moved = second.info.reads().filter(|u| u.reg.is_vector());
        let regs = shared(vgprs, moved);
        if !regs.is_empty() {
            need(2, regs, "a VALU write of a VGPR, then a DPP instruction that reads it");
        }
        if writes(first, is_exec) {
            need(5, vec![Reg::EXEC], "a VALU write of EXEC, then a DPP instruction");
        }
    }
    if matches!(second.inst.row.op, Op::v_div_fmas_f32 | Op::v_div_fmas_f64) && writes(first, is_vcc) {
        need(4, vec![Reg::VCC], "a VALU write of VCC, then V_DIV_FMAS");
    }
    if is_lane_access(second) {
        let select = second.info.reads().filter(|u| u.role == Some(Role::Src1));
        let regs = shared(scalars(), select);
        if !regs.is_empty() {
            need(4, regs, "a VALU write of an SGPR, then V_READLANE or V_WRITELANE of that lane");
        }
    }
    // VCCZ and EXECZ as sources show a register that no field names.
    let shown =
        second.info.reads().filter(|u| u.role.is_some_and(|r| matches!(second.inst.get(r), 251 | 252)));
    let regs = shared(first.info.writes(), shown);
    if !regs.is_empty() {
        need(5, regs, "a VALU write of VCC or EXEC, then a VALU instruction with VCCZ or EXECZ as a source");
    }
}

/// VCC has a name, and the number of the SGPRs that hold it. Hardware does not know that they are the same; as a mask it does
/// (manual 4.5, and the GCN3 manual's table; those of GFX6 and GFX7 do not speak of it).
fn vcc_by_number(first: &Step, second: &Step, number: Reg, need: &mut Demand<'_>) {
    let constants =
        || second.spelled().reads().filter(|u| matches!(u.role, Some(Role::Src0 | Role::Src1 | Role::Src2)));
    let reads = |reg: Reg| constants().flat_map(Use::regs).any(|r| r == reg);
    let writes = |reg: Reg| first.spelled().writes().flat_map(Use::regs).any(|r| r == reg);
    for half in 0..2 {
        let (name, number) = (Reg::VCC.offset(half), number.offset(half));
        for (written, read) in [(name, number), (number, name)] {
            if writes(written) && reads(read) {
                need(
                    1,
                    vec![read],
                    "a VALU write of VCC, then a VALU instruction that reads it by its other name",
                );
            }
        }
    }
}

fn is_lane_access(s: &Step) -> bool {
    let row = s.inst.row;
    row.has(flag::NOEXEC) && row.operand(Role::Src1).is_some()
}

/// Instructions that take M0 before an SALU result has arrived there.
fn reads_m0_late(s: &Step, level: Level) -> bool {
    let row = s.inst.row;
    if !s.info.reads().any(|u| u.reg == Reg::M0) {
        return false;
    }
    let gds = s.info.memory().any(|m| m.path == wavemill_isa::info::Path::Gds) || row.has(flag::GDS_ONLY);
    let message = matches!(row.op, Op::s_sendmsg | Op::s_sendmsghalt | Op::s_ttracedata);
    let relative = s.info.uses().iter().any(|u| u.index == Index::M0);
    let direct = s.info.memory().count() == 2 || is_valu(s) && s.info.memory().count() == 1;
    let thread_id = row.enc == Enc::Ds && row.operand(Role::Addr).is_none() && row.mem.is_some();
    level.is_vi_plus() && (gds || message)
        || level.is_gfx9()
            && (relative && is_salu(s) || row.enc == Enc::Vintrp || direct || thread_id && !gds)
}

fn setreg(first: &Step, second: &Step, level: Level, need: &mut Demand<'_>) {
    let Some(set) = first.info.writes().find(|u| u.role == Some(Role::Hwreg)) else { return };
    let same = |u: &&Use| u.role == Some(Role::Hwreg) && u.reg == set.reg;
    if second.info.reads().any(|u| same(&u)) {
        need(2, vec![set.reg], "S_SETREG, then S_GETREG of the same register");
    }
    if second.info.writes().any(|u| same(&u)) {
        let states = if level.is_vi_plus() { 2 } else { 1 };
        need(states, vec![set.reg], "S_SETREG, then S_SETREG of the same register");
    }
    let vector = is_valu(second) || second.inst.row.enc as u8 >= Enc::Ds as u8;
    if set.reg == Reg::MODE && set.bits & VSKIP != 0 && vector {
        need(2, vec![Reg::MODE], "S_SETREG of MODE.VSKIP, then a vector instruction");
    }
    let returns = matches!(second.inst.row.op, Op::s_rfe_b64 | Op::s_rfe_restore_b64);
    if level.is_vi_plus() && set.reg == Reg::TRAPSTS && returns && second.info.flow() == Flow::Jump {
        need(1, vec![set.reg], "S_SETREG of TRAPSTS, then S_RFE");
    }
}

/// Stores whose data is read so late that the next instruction can overwrite it.
fn stores_more_than_two(s: &Step) -> bool {
    let row = s.inst.row;
    let stores = row.mem.is_some_and(|m| m.kind != MemKind::Load);
    let data = s.info.reads().find(|u| u.role == Some(Role::Vdata)).map_or(0, |u| u.dwords);
    let descriptor = s.info.reads().find(|u| u.role == Some(Role::Srsrc)).map_or(0, |u| u.dwords);
    let offset = s.info.reads().any(|u| u.role == Some(Role::Soffset));
    stores
        && data > 2
        && match row.enc {
            Enc::Mubuf | Enc::Mtbuf => !offset,
            // A T# of 256 bits takes long enough to read.
            Enc::Mimg => descriptor == 4,
            Enc::Flat | Enc::Global | Enc::Scratch => true,
            _ => false,
        }
}

/// By the passes of a matrix instruction: 2, 8 or 16.
fn by_passes(s: &Step, of_2: u8, of_8: u8, of_16: u8) -> u8 {
    match s.inst.row.passes {
        2 => of_2,
        8 => of_8,
        _ => of_16,
    }
}

/// MFMA, accumulators and dot products (manual 7.2).
fn matrix(first: &Step, second: &Step, level: Level, need: &mut Demand<'_>) {
    match level {
        Level::Gfx908 => matrix_908(first, second, need),
        Level::Gfx90a => matrix_90a(first, second, need),
        _ => {}
    }
}

fn matrix_908(first: &Step, second: &Step, need: &mut Demand<'_>) {
    let accumulators = |u: &&Use| matches!(u.reg, Reg::Agpr(_));
    let op = second.inst.row.op;
    let reads = || second.info.reads().filter(|u| u.role.is_some());
    if is_mfma(second) || op == Op::v_accvgpr_write_b32 {
        if is_valu(first) && writes(first, is_exec) {
            need(4, vec![Reg::EXEC], "a VALU write of EXEC, then MFMA or V_ACCVGPR_WRITE");
        }
        if is_valu(first) && !is_mfma(first) {
            let vgprs = first.info.writes().filter(|u| matches!(u.reg, Reg::Vgpr(_)));
            let regs = shared(vgprs, reads());
            if !regs.is_empty() {
                need(2, regs, "a VALU write of a VGPR, then MFMA or V_ACCVGPR_WRITE that reads it");
            }
        }
    }
    if is_mfma(first) {
        let result = || first.info.writes().filter(accumulators);
        if is_mfma(second) {
            for u in reads().filter(accumulators) {
                let whole = result().any(|d| d.reg == u.reg && d.dwords == u.dwords);
                let regs = shared(result(), std::iter::once(u));
                if regs.is_empty() || whole {
                    continue;
                }
                let states = if u.role == Some(Role::Src2) { 2 } else { 4 };
                need(states, regs, "an MFMA result, then an MFMA that reads some of it");
            }
        } else if op == Op::v_accvgpr_read_b32 {
            let regs = shared(result(), second.info.reads());
            if !regs.is_empty() {
                need(by_passes(first, 4, 10, 18), regs, "an MFMA result, then V_ACCVGPR_READ of it");
            }
        } else if op == Op::v_accvgpr_write_b32 {
            let regs = shared(result(), second.info.writes());
            if !regs.is_empty() {
                need(by_passes(first, 1, 7, 15), regs, "an MFMA result, then V_ACCVGPR_WRITE over it");
            }
            let source = first.info.reads().filter(|u| u.role == Some(Role::Src2));
            let regs = shared(source, second.info.writes());
            if !regs.is_empty() {
                need(by_passes(first, 0, 5, 13), regs, "SrcC of an MFMA, then V_ACCVGPR_WRITE over it");
            }
        }
    }
    if first.inst.row.op == Op::v_accvgpr_write_b32 {
        for u in reads().filter(accumulators).filter(|_| is_mfma(second) || op == Op::v_accvgpr_read_b32) {
            let regs = shared(first.info.writes(), std::iter::once(u));
            if !regs.is_empty() {
                let states = if is_mfma(second) && u.role == Some(Role::Src2) { 1 } else { 3 };
                need(states, regs, "V_ACCVGPR_WRITE, then MFMA or V_ACCVGPR_READ of it");
            }
        }
    }
    if first.inst.row.op == Op::v_accvgpr_read_b32 && (is_vmem(second) || second.inst.row.enc == Enc::Ds) {
        let regs = shared(first.info.writes(), second.info.reads());
        if !regs.is_empty() {
            need(2, regs, "V_ACCVGPR_READ, then a memory instruction that reads the VGPR");
        }
    }
}

fn matrix_90a(first: &Step, second: &Step, need: &mut Demand<'_>) {
    let vectors = |u: &&Use| u.reg.is_vector();
    let memory = is_vmem(second) || second.inst.row.enc == Enc::Ds || second.inst.row.enc == Enc::Exp;
    let reads = || second.info.reads().filter(|u| u.role.is_some());
    if is_mfma(second) && is_valu(first) && !is_mfma(first) {
        if writes(first, is_exec) {
            need(4, vec![Reg::EXEC], "a VALU write of EXEC, then MFMA");
        }
        if !is_dot(first) && !moves_accumulator(first) {
            let regs = shared(first.info.writes().filter(vectors), reads());
            if !regs.is_empty() {
                need(2, regs, "a VALU write of a VGPR, then MFMA that reads it");
            }
        }
    }
    if is_dot(first) && (is_valu(second) || memory) && !is_mfma(second) {
        after_dot(first, second, need);
    }
    if !is_mfma(first) {
        return;
    }
    let result = || first.info.writes().filter(vectors);
    if is_mfma(second) {
        for u in reads().filter(vectors) {
            let regs = shared(result(), std::iter::once(u));
            if regs.is_empty() {
                continue;
            }
            let whole = result().any(|d| d.reg == u.reg && d.dwords == u.dwords);
            let states =
                match (u.role == Some(Role::Src2), is_double(first), is_double(second)) {
                    (true, true, false) => 0,
                    (true, true, true) if whole => {
                        if first.inst.row.passes == 4 && second.inst.row.passes == 4 { 4 } else { 0 }
                    }
                    (true, false, _) if whole => 0,
                    (true, true, true) => {
                        if first.inst.row.passes == 4 {
                            4
                        } else {
                            9
                        }
                    }
                    (true, false, true) => by_passes(first, 3, 9, 17),
                    (true, false, false) => by_passes(first, 2, 8, 16),
                    (false, true, _) => {
                        if first.inst.row.passes == 4 {
                            6
                        } else {
                            11
                        }
                    }
                    (false, false, _) => by_passes(first, 5, 11, 19),
                };
            need(states, regs, "an MFMA result, then an MFMA that reads it");
        }
        return;
    }
    if !is_valu(second) && !memory {
        return;
    }
    let small = first.inst.row.passes == 4;
    let regs = shared(result(), second.info.reads());
    if !regs.is_empty() {
        let states = match (is_double(first), memory) {
            (true, true) => {
                if small {
                    9
                } else {
                    18
                }
            }
            (true, false) => {
                if small {
                    6
                } else {
                    11
                }
            }
            (false, _) => by_passes(first, 5, 11, 19),
        };
        need(states, regs, "an MFMA result, then an instruction that reads it");
    }
    if is_valu(second) {
        let regs = shared(result(), second.info.writes());
        if !regs.is_empty() {
            let states =
                if is_double(first) { if small { 6 } else { 11 } } else { by_passes(first, 5, 11, 19) };
            need(states, regs, "an MFMA result, then a VALU write over it");
        }
        let source = first.info.reads().filter(|u| u.role == Some(Role::Src2) && u.reg.is_vector());
        let regs = shared(source, second.info.writes());
        if !regs.is_empty() && !is_double(first) {
            need(by_passes(first, 1, 7, 15), regs, "SrcC of an MFMA, then a VALU write over it");
        }
        let wide = matches!(second.inst.row.op, Op::v_fma_f64 | Op::v_fmac_f64);
        if wide && is_double(first) {
            need(2, Vec::new(), "a double-precision MFMA, then V_FMA_F64");
        }
    }
}

/// Dot products forward their result to the same instruction's accumulator only.
fn after_dot(first: &Step, second: &Step, need: &mut Demand<'_>) {
    let same = std::ptr::eq(first.inst.row, second.inst.row);
    let result = || first.info.writes().filter(|u| u.reg.is_vector());
    let accumulates = |u: &&Use| u.role == Some(Role::Src2) || u.role == Some(Role::Vdst);
    let read = second.info.reads().filter(|u| !(same && accumulates(u)));
    let regs = shared(result(), read);
    if !regs.is_empty() {
        need(3, regs, "a dot product, then another instruction that reads its result");
    }
    if !same && is_valu(second) {
        let regs = shared(result(), second.info.writes());
        if !regs.is_empty() {
            need(3, regs, "a dot product, then another instruction that writes over its result");
        }
    }
}
