//! Strips: runs of instructions that work lane by lane, written down as one program.
//!
//! Between the lanes of a strip nothing passes, but from one to another that run together (DPP within a row), so that it may
//! run whole for some lanes and then for others. Registers are
//! values while it is recorded; memory of the wave is read at its start and written at its end. Values are right in active
//! lanes only, which is all that active lanes need: what they are elsewhere is settled where registers are written, or where
//! EXEC changes.

pub mod memory;

use crate::input::Input;
use crate::scalar;
use memory::{Access, Formats};
use wavemill_isa::{Level, regs};
use wavemill_sem::address::Addressing;
use wavemill_sem::apply::{Apply, Context, L, M};
use wavemill_sem::buffer::Buffer;
use wavemill_sem::inst::{Inst, Run};
use wavemill_sem::lanemove::{Dpp, LaneMove};
use wavemill_sem::lanes::{Long, Mask, Word};
use wavemill_sem::operand::Src;
use wavemill_sem::record::{
    LongValue, MaskValue, Program, Value, WordValue, has_rare_parts, record, recorded,
};
use wavemill_sem::scalar::S32;
use wavemill_sem::{Mode, compare};
use wavemill_wave::Wave;

/// A strip.
#[derive(Clone, Debug)]
pub struct Strip {
    /// What it computes.
    pub program: Program,
    /// Vector registers and what they are at the end, whatever lanes are active.
    pub vgprs: Vec<(u16, Value)>,
    /// Pairs of scalar registers, and the mask in each at the end.
    pub masks: Vec<(u8, Value)>,
    /// The active lanes of the nodes from here on.
    pub active: Vec<(u32, Value)>,
    /// Its loads, and at most one store.
    pub accesses: Vec<Access>,
    /// All lanes load before any stores: it stores to what it may have loaded from.
    pub ahead: bool,
    /// Registers of which lanes read other vectors, as they are when it begins, and how: a DPP control. Each has its place in
    /// the frame, by its number.
    pub moves: Vec<(u16, u16)>,
    /// How lanes of EXEC are asked for likewise, if that is not all ones. Their places count from the last.
    pub exec_moves: Vec<u16>,
    /// It waits for accesses: what was stored before it is in memory before it loads.
    pub waits: bool,
    /// Scalar instructions among its own that come behind it: nothing of it looks at what they write, or writes what they
    /// read after they did.
    pub scalars: Vec<usize>,
    /// How many instructions it has, these included.
    pub len: usize,
}

/// Registers and masks of which lanes can read other vectors.
pub const MOST_MOVES: usize = 24;
/// Ways in which they can.
const MOST_CONTROLS: usize = 6;

/// What code is compiled for.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// MODE.
    pub mode: Mode,
    /// The generation.
    pub level: Level,
    /// Scalar registers with which the resource of a buffer seems to begin that is more than a piece of memory, as bits. It
    /// need not be so when code runs: that costs time only.
    pub swizzled: u128,
    /// Those among them that keep a dword of each lane together, as private memory does: likewise.
    pub private: u128,
    /// What elements the resources of buffers seem to have.
    pub formats: Formats,
    /// So many lanes run together.
    pub together: usize,
    /// All lanes are active, most likely. Where they are not, that costs time only, too.
    pub all_active: bool,
    /// Whether lanes can read other vectors with a DPP control.
    pub crosses: fn(u16) -> bool,
}

impl Setting {
    /// What a wave is about to run a block with.
    pub fn of(wave: &Wave, mode: u32, insts: &[Inst], together: usize, crosses: fn(u16) -> bool) -> Setting {
        let level = wave.level();
        let resources = insts.iter().filter_map(|inst| match inst.addressing {
            Addressing::Buffer(fields) => Some(u32::from(fields.resource)).filter(|&code| code < 104),
            _ => None,
        });
        let (mut swizzled, mut private, mut formats) = (0, 0, Formats::default());
        for code in resources {
            let word = |n: u32| S32(wave.sgpr(code + n));
            let buffer = Buffer::new([word(0), word(1), word(2), word(3)], level, false);
            formats.note(code as u8, word(3).0);
            // Private memory of compilers has both; numbers that are no resource hardly ever do.
            if buffer.swizzle.0 && buffer.add_tid.0 {
                swizzled |= 1 << code;
                private |= u128::from((1 << buffer.element.0, 1 << buffer.index_stride.0) == (4, 64)) << code;
            }
        }
        let all_active = wave.exec() == !0;
        let mode = Mode::new(mode, level);
        Setting { mode, level, swizzled, private, formats, all_active, together, crosses }
    }
}

/// Whether a strip may have an instruction at all.
pub fn suits(inst: &Inst) -> bool {
    lanewise(inst) || memory::suits(inst)
}

/// Whether it is a vector instruction that strips have, if lanes that DPP moves run together. What only a running wave knows is
/// not for strips.
fn lanewise(inst: &Inst) -> bool {
    let register = matches!(inst.src[0], Src::Vgpr(_));
    let moves = matches!(inst.run, Run::LaneMove(LaneMove::Swap | LaneMove::Accumulator))
        && register
        && inst.modifiers.dpp.is_none();
    (moves || matches!(inst.run, Run::Valu(_) | Run::Compare(_)))
        && (inst.modifiers.dpp.is_none() || register)
        && inst.src.iter().all(|s| !matches!(s, Src::Special(_)))
        && pair_is_whole(inst.carry)
        && (inst.sdst == 255 || pair_is_whole(inst.sdst))
}

/// EXEC is written as a whole or not at all.
fn pair_is_whole(code: u8) -> bool {
    code <= 126 && code != 125
}

/// Records the longest strip that starts with the first of these instructions. With `full`, all lanes are active at its
/// start.
pub fn strip(insts: &[Inst], setting: &Setting, full: bool) -> Option<Strip> {
    let (program, (vgprs, masks, active, (accesses, ahead), (moves, exec_moves), waits, (scalars, len))) =
        record(|| {
            let mut r = Recorder::new(full);
            let (mut len, mut waits, mut scalars) = (0, false, Vec::new());
            for (at, inst) in insts.iter().enumerate() {
                let done = match inst.run {
                    Run::Nop => true,
                    Run::Wait => {
                        waits |= !r.stored;
                        !r.stored
                    }
                    Run::Salu if len > 0 && r.sinks(inst) => {
                        scalars.push(at);
                        continue;
                    }
                    _ if lanewise(inst) => r.may_follow(inst) && r.instruction(inst, setting),
                    _ => {
                        memory::suits(inst)
                            && r.access_may_follow(inst, setting)
                            && r.access(inst, setting, at)
                    }
                };
                if !done {
                    break;
                }
                len = at + 1;
            }
            scalars.retain(|&at| at < len);
            r.settle();
            let written = std::mem::take(&mut r.written);
            let vgprs = written.into_iter().map(|n| (n, r.vgpr(n).0)).collect();
            let masks = r.masks.iter().map(|&(code, m)| (code, m.0)).collect();
            (vgprs, masks, r.active, (r.accesses, r.ahead), (r.moves, r.exec_moves), waits, (scalars, len))
        });
    (len > 0).then_some(Strip {
        program,
        vgprs,
        masks,
        active,
        accesses,
        ahead,
        moves,
        exec_moves,
        waits,
        scalars,
        len,
    })
}

/// A strip under construction.
struct Recorder {
    /// Values of vector registers that were read or written; those above the last of them are not there.
    vgprs: Vec<Option<WordValue>>,
    /// Registers that differ from those of the wave, in the order they were first written.
    written: Vec<u16>,
    /// Registers written since EXEC was last changed: right in active lanes only.
    fresh: Vec<(u16, WordValue)>,
    /// Masks that were written, by the first of their registers.
    masks: Vec<(u8, MaskValue)>,
    /// Scalar registers that were read as numbers.
    numbers: u128,
    /// Masks of the wave that were read, by the first of their registers.
    read: Vec<u8>,
    exec: MaskValue,
    full: bool,
    active: Vec<(u32, Value)>,
    accesses: Vec<Access>,
    /// One of them stores.
    stored: bool,
    /// To what others load from.
    ahead: bool,
    /// As the strip has them.
    moves: Vec<(u16, u16)>,
    exec_moves: Vec<u16>,
    /// Vector registers that depend on what the strip has loaded.
    loaded: Vec<u16>,
    /// The same of masks.
    loaded_masks: Vec<u8>,
    /// The same of EXEC.
    exec_loaded: bool,
    /// EXEC may depend on what is rarely needed: without it, other lanes may be active.
    exec_hoped: bool,
    /// Scalar registers that scalar instructions behind the strip read, as bits.
    sunk_reads: u128,
    /// Those that they write.
    sunk_writes: u128,
}

/// The operands of an instruction.
struct Operands {
    src: [(WordValue, WordValue); 3],
    /// The third source's dwords, if they are four.
    quad: [WordValue; 4],
    carry: u8,
}

impl Recorder {
    fn new(full: bool) -> Recorder {
        let exec = if full { MaskValue::ones() } else { Input::Lanes(regs::EXEC as u8).mask() };
        Recorder {
            vgprs: Vec::new(),
            written: Vec::new(),
            fresh: Vec::new(),
            masks: Vec::new(),
            numbers: 0,
            read: Vec::new(),
            exec,
            full,
            active: vec![(0, exec.0)],
            accesses: Vec::new(),
            stored: false,
            ahead: false,
            moves: Vec::new(),
            exec_moves: Vec::new(),
            loaded: Vec::new(),
            loaded_masks: Vec::new(),
            exec_loaded: false,
            exec_hoped: false,
            sunk_reads: 0,
            sunk_writes: 0,
        }
    }

    /// Whether an instruction's scalar operands are what a strip can have: numbers that no instruction of it writes, masks
    /// that it has or that are the wave's.
    fn may_follow(&self, inst: &Inst) -> bool {
        let is_mask = |code: u8| self.masks.iter().any(|&(m, _)| m == code || m + 1 == code);
        let reads_mask = inst.src.iter().enumerate().any(|(i, s)| match *s {
            Src::Sgpr(code) => is_mask(code) || inst.is_long(i) && is_mask(code + 1),
            _ => false,
        });
        let whole =
            |code: u8| self.masks.iter().any(|&(m, _)| m == code) || !is_mask(code) && !is_mask(code + 1);
        // Its own operands, too: lanes that come later read them after the first ones have written.
        let numbers = inst.src.iter().fold(self.numbers, |all, s| match *s {
            Src::Sgpr(code) => all | 3 << code,
            _ => all,
        });
        let was_number = |code: u8| numbers >> code & 3 != 0;
        let sdst = inst.sdst;
        // A mask that was read is written as a whole, or not at all.
        let apart =
            |code: u8| self.read.iter().chain([&inst.carry]).all(|&m| m == code || m.abs_diff(code) > 1);
        let exec = matches!(inst.run, Run::Compare(c) if c.exec);
        let reads = inst.src.iter().enumerate().fold(3 << inst.carry, |all, (i, s)| match *s {
            Src::Sgpr(code) => all | if inst.is_long(i) { 3 } else { 1 } << code,
            _ => all,
        });
        let writes = if sdst == 255 { 0 } else { 3 << sdst } | if exec { 3 << regs::EXEC } else { 0 };
        !reads_mask
            && self.keeps_scalars(reads, writes)
            && whole(inst.carry)
            && (sdst == 255 || whole(sdst) && apart(sdst) && !was_number(sdst))
            && !(exec && was_number(regs::EXEC as u8))
    }

    /// Whether what an instruction does to scalar registers leaves those that come behind the strip as they are.
    fn keeps_scalars(&self, reads: u128, writes: u128) -> bool {
        (reads | writes) & self.sunk_writes == 0 && writes & self.sunk_reads == 0
    }

    /// Notes a scalar instruction that may come behind the strip; false if it may not.
    fn sinks(&mut self, inst: &Inst) -> bool {
        // Those above have meanings; VCC's is known.
        let ordinary = inst.sdst == 255 || inst.sdst < regs::VCC as u8 + 1;
        let name = inst.row.name;
        if !scalar::suits(inst) || !ordinary || name.contains("saveexec") || name.contains("wrexec") {
            return false;
        }
        let long = |bits: u8| if bits == 64 { 3u128 } else { 1 };
        for (src, bits) in inst.src.iter().zip(inst.src_bits).take(2) {
            if let Src::Sgpr(code) = *src {
                self.sunk_reads |= long(bits) << code;
            }
        }
        if inst.sdst != 255 {
            let registers = long(inst.src_bits[2]) << inst.sdst;
            self.sunk_writes |= registers;
            // Some change what was there.
            self.sunk_reads |= registers;
        }
        true
    }

    fn vgpr(&mut self, n: u16) -> WordValue {
        *self.vgpr_slot(n).get_or_insert_with(|| Input::Vgpr(n).word())
    }

    fn vgpr_slot(&mut self, n: u16) -> &mut Option<WordValue> {
        let at = n as usize;
        if at >= self.vgprs.len() {
            self.vgprs.resize((at + 1).next_multiple_of(64), None);
        }
        &mut self.vgprs[at]
    }

    fn number(&mut self, code: u8) -> WordValue {
        if code > 127 {
            return WordValue::splat(0);
        }
        self.numbers |= 1 << code;
        Input::Sgpr(code).word()
    }

    fn mask(&self, code: u8) -> MaskValue {
        match self.masks.iter().find(|&&(m, _)| m == code) {
            Some(&(_, mask)) => mask,
            None if code == regs::EXEC as u8 => self.exec,
            None => Input::Lanes(code).mask(),
        }
    }

    /// Records that a register becomes another, or that two change places.
    fn moves(&mut self, what: LaneMove, inst: &Inst, from: u16) {
        let (a, b) = (self.vgpr(inst.dst), self.vgpr(from));
        let depends = self.depends_on_loads(inst) || self.loaded.contains(&inst.dst);
        self.write(inst.dst, b);
        self.note_loaded(inst.dst, depends);
        if what == LaneMove::Swap {
            self.write(from, a);
            self.note_loaded(from, depends);
        }
    }

    /// Records an instruction; false if it has no meaning for lanes.
    fn instruction(&mut self, inst: &Inst, setting: &Setting) -> bool {
        if let (Run::LaneMove(what), Src::Vgpr(from)) = (inst.run, inst.src[0]) {
            self.moves(what, inst, from);
            return true;
        }
        let dpp = inst.modifiers.dpp;
        if dpp.is_some_and(|dpp| !self.can_move(dpp, inst, setting)) {
            return false;
        }
        // The lanes that DPP leaves on.
        let mut on = MaskValue::ones();
        let src = [0, 1, 2].map(|i| {
            let long = inst.is_long(i);
            let zero = WordValue::splat(0);
            let (lo, hi) = match inst.src[i] {
                Src::Vgpr(r) => {
                    let mut source = (self.vgpr(r), if long { self.vgpr(r + 1) } else { zero });
                    if let (0, Some(dpp)) = (i, dpp) {
                        let moved = match dpp.stays_within(setting.together as u32) {
                            true => {
                                let of = |v: WordValue| v.neighbour(dpp.control);
                                ((of(source.0), of(source.1)), self.exec.neighbour(dpp.control))
                            }
                            false => self.brought(r, long, dpp.control),
                        };
                        (source, on) = others(dpp, moved);
                    }
                    source
                }
                Src::Sgpr(code) => (self.number(code), if long { self.number(code + 1) } else { zero }),
                Src::Const(n) => (WordValue::splat(n as u32), WordValue::splat((n >> 32) as u32)),
                Src::None | Src::Special(_) => (zero, zero),
            };
            inst.change(i).apply(lo, hi, &setting.mode)
        });
        if !self.read.contains(&inst.carry) {
            self.read.push(inst.carry);
        }
        let mut quad = [src[2].0, WordValue::splat(0), WordValue::splat(0), WordValue::splat(0)];
        if let (Src::Vgpr(r), 128) = (inst.src[2], inst.src_bits[2]) {
            quad = [r, r + 1, r + 2, r + 3].map(|r| self.vgpr(r));
        }
        let operands = Operands { src, quad, carry: inst.carry };
        let x = Context::new(setting.mode, inst.clamp, inst.omod, setting.level);
        let k = Taker { operands: &operands, recorder: self };
        let results = match inst.run {
            Run::Valu(family) => family.apply(inst.op, k, &x),
            Run::Compare(c) if c.ty.is_common() => compare::common(c, k, &x),
            Run::Compare(c) => compare::compare(c, k, &x),
            _ => None,
        };
        let Some(results) = results else { return false };
        let depends = self.depends_on_loads(inst);
        if let Some(lo) = results.lo {
            let lo = match inst.merge {
                Some(merge) => merge.apply(lo, self.vgpr(inst.dst)),
                None => lo,
            };
            let lo = if dpp.is_some() { WordValue::select(on, lo, self.vgpr(inst.dst)) } else { lo };
            self.write(inst.dst, lo);
            self.note_loaded(inst.dst, depends);
        }
        for (n, value) in (inst.dst + 1..).zip(results.more.into_iter().flatten()) {
            let value = if dpp.is_some() { WordValue::select(on, value, self.vgpr(n)) } else { value };
            self.write(n, value);
            self.note_loaded(n, depends);
        }
        if let Some(mask) = results.mask {
            let mask = mask & self.exec & on;
            if inst.sdst != 255 && inst.sdst != regs::EXEC as u8 {
                self.masks.retain(|&(code, _)| code != inst.sdst);
                self.masks.push((inst.sdst, mask));
                self.note_loaded_mask(inst.sdst, depends);
            }
            if inst.sdst == regs::EXEC as u8 || matches!(inst.run, Run::Compare(c) if c.exec) {
                self.exec_loaded |= depends;
                self.exec_hoped |= has_rare_parts();
                self.set_exec(mask);
            }
        }
        true
    }

    /// Whether lanes can read those that DPP says: they run together, or what they read is as it was when the strip began.
    fn can_move(&self, dpp: Dpp, inst: &Inst, setting: &Setting) -> bool {
        if dpp.stays_within(setting.together as u32) {
            return true;
        }
        let Src::Vgpr(first) = inst.src[0] else { return false };
        let written = |r: u16| self.written.contains(&r);
        (setting.crosses)(dpp.control)
            && self.moves.len() + 2 <= MOST_MOVES - MOST_CONTROLS
            && (self.exec_moves.len() < MOST_CONTROLS || self.exec_moves.contains(&dpp.control))
            && self.active.len() == 1
            && !written(first)
            && !(inst.is_long(0) && written(first + 1))
    }

    /// What lanes of other vectors have in a register, or two, and whether they are active.
    fn brought(&mut self, r: u16, long: bool, control: u16) -> ((WordValue, WordValue), MaskValue) {
        let mut place = |r: u16| {
            let known = self.moves.iter().position(|&m| m == (r, control));
            let number = known.unwrap_or(self.moves.len());
            if known.is_none() {
                self.moves.push((r, control));
            }
            Input::Moved(number as u8).word()
        };
        let source = (place(r), if long { place(r + 1) } else { WordValue::splat(0) });
        if self.full {
            return (source, MaskValue::ones());
        }
        let known = self.exec_moves.iter().position(|&c| c == control);
        let number = known.unwrap_or(self.exec_moves.len());
        if known.is_none() {
            self.exec_moves.push(control);
        }
        let lanes = Input::Moved((MOST_MOVES - 1 - number) as u8).word();
        (source, lanes.lt_i(WordValue::splat(0)))
    }

    fn write(&mut self, n: u16, value: WordValue) {
        if !self.written.contains(&n) {
            self.written.push(n);
        }
        if !self.full && self.fresh.iter().all(|&(r, _)| r != n) {
            let old = self.vgpr(n);
            self.fresh.push((n, old));
        }
        *self.vgpr_slot(n) = Some(value);
    }

    /// Makes registers right in all lanes.
    fn settle(&mut self) {
        for (n, old) in std::mem::take(&mut self.fresh) {
            let new = self.vgpr(n);
            *self.vgpr_slot(n) = Some(WordValue::select(!self.exec, old, new));
        }
    }

    fn set_exec(&mut self, mask: MaskValue) {
        self.settle();
        self.exec = mask;
        self.full = false;
        let code = regs::EXEC as u8;
        self.masks.retain(|&(c, _)| c != code);
        self.masks.push((code, mask));
        // The nodes of later instructions are those behind the last one there is.
        self.active.push((recorded(), mask.0));
    }
}

/// What an instruction gets of other lanes' source, and the lanes that DPP leaves on. An inactive lane, whose value is any here,
/// counts as none.
fn others(
    dpp: Dpp,
    ((low, high), active): ((WordValue, WordValue), MaskValue),
) -> ((WordValue, WordValue), MaskValue) {
    if !dpp.bound {
        return ((low, high), MaskValue::lanes(dpp.enabled() & dpp.existing()) & active);
    }
    let has = MaskValue::lanes(dpp.existing()) & active;
    let chosen = [low, high].map(|v| WordValue::select(has, v, WordValue::splat(0)));
    ((chosen[0], chosen[1]), MaskValue::lanes(dpp.enabled()))
}

/// What a meaning gives.
#[derive(Clone, Copy, Default)]
struct Results {
    lo: Option<WordValue>,
    more: [Option<WordValue>; 3],
    mask: Option<MaskValue>,
}

/// Applies a meaning to an instruction's operands.
struct Taker<'a> {
    operands: &'a Operands,
    recorder: &'a Recorder,
}

impl Taker<'_> {
    fn word(&self, i: usize) -> WordValue {
        self.operands.src[i].0
    }
    fn long(&self, i: usize) -> LongValue {
        let (lo, hi) = self.operands.src[i];
        Long::join(lo, hi)
    }
}

macro_rules! apply {
    ($($name:ident($($kind:ident $n:tt),*) $result:ident;)*) => {
        impl Apply for Taker<'_> {
            type W = WordValue;
            type Out = Results;
            $(fn $name(self, f: impl Fn($(apply!(@type $kind)),*) -> apply!(@type $result)) -> Results {
                apply!(@result $result f($(apply!(@operand $kind self $n)),*))
            })*
        }
    };
    (@type w) => { WordValue };
    (@type i) => { WordValue };
    (@type l) => { L<Self> };
    (@type q) => { [WordValue; 4] };
    (@type m) => { M<Self> };
    (@type wm) => { (WordValue, M<Self>) };
    (@type lm) => { (L<Self>, M<Self>) };
    (@operand w $s:ident $n:tt) => { $s.word($n) };
    (@operand l $s:ident $n:tt) => { $s.long($n) };
    (@operand q $s:ident $n:tt) => { $s.operands.quad };
    (@operand m $s:ident $n:tt) => { $s.recorder.mask($s.operands.carry) };
    (@operand i $s:ident $n:tt) => { Input::LaneNumber.word() };
    (@result w $r:expr) => { Results { lo: Some($r), ..Results::default() } };
    (@result l $r:expr) => {{
        let value = $r;
        Results { lo: Some(value.lo()), more: [Some(value.hi()), None, None], mask: None }
    }};
    (@result q $r:expr) => {{
        let [lo, more @ ..] = $r;
        Results { lo: Some(lo), more: more.map(Some), mask: None }
    }};
    (@result m $r:expr) => { Results { mask: Some($r), ..Results::default() } };
    (@result wm $r:expr) => {{
        let (value, mask) = $r;
        Results { lo: Some(value), mask: Some(mask), ..Results::default() }
    }};
    (@result lm $r:expr) => {{
        let (value, mask) = $r;
        Results { lo: Some(value.lo()), more: [Some(value.hi()), None, None], mask: Some(mask) }
    }};
}
wavemill_sem::for_each_shape!(apply);
