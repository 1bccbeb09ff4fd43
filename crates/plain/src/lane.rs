//! Instructions that work lane by lane: sources, modifiers, the meaning, and where results go.

use wavemill_sem::apply::{Apply, Context, L, M};
use wavemill_sem::bus::Bus;
use wavemill_sem::compare;
use wavemill_sem::inst::{Inst, Run};
use wavemill_sem::operand::Src;
use wavemill_sem::scalar::{S32, S64, SMask};
use wavemill_sem::state::{State, lanes};
use wavemill_wave::Running;

/// The operands of one lane.
struct Operands {
    src: [u128; 3],
    /// The lane's bit of the carry or select mask.
    carry: bool,
    lane: u32,
}

/// What a meaning gives one lane.
#[derive(Default)]
struct Result {
    /// The dwords of a vector result, and how many they are.
    value: u128,
    dwords: u16,
    /// The lane's bit of a mask.
    mask: bool,
}

macro_rules! apply {
    ($($name:ident($($kind:ident $n:tt),*) $result:ident;)*) => {
        impl Apply for &Operands {
            type W = S32;
            type Out = Result;
            $(fn $name(self, f: impl Fn($(apply!(@type $kind)),*) -> apply!(@type $result)) -> Result {
                apply!(@result $result f($(apply!(@operand $kind self $n)),*))
            })*
        }
    };
    (@type w) => { S32 };
    (@type i) => { S32 };
    (@type l) => { L<Self> };
    (@type q) => { [S32; 4] };
    (@type m) => { M<Self> };
    (@type wm) => { (S32, M<Self>) };
    (@type lm) => { (L<Self>, M<Self>) };
    (@operand w $s:ident $n:tt) => { S32($s.src[$n] as u32) };
    (@operand l $s:ident $n:tt) => { S64($s.src[$n] as u64) };
    (@operand q $s:ident $n:tt) => { [0, 32, 64, 96].map(|at| S32(($s.src[$n] >> at) as u32)) };
    (@operand m $s:ident $n:tt) => { SMask($s.carry) };
    (@operand i $s:ident $n:tt) => { S32($s.lane) };
    (@result w $r:expr) => { Result { value: $r.0 as u128, dwords: 1, mask: false } };
    (@result l $r:expr) => { Result { value: $r.0 as u128, dwords: 2, mask: false } };
    (@result q $r:expr) => {{
        let value = $r.iter().rev().fold(0, |sum, w| sum << 32 | w.0 as u128);
        Result { value, dwords: 4, mask: false }
    }};
    (@result m $r:expr) => { Result { mask: $r.0, ..Result::default() } };
    (@result wm $r:expr) => {{
        let (value, mask) = $r;
        Result { value: value.0 as u128, dwords: 1, mask: mask.0 }
    }};
    (@result lm $r:expr) => {{
        let (value, mask) = $r;
        Result { value: value.0 as u128, dwords: 2, mask: mask.0 }
    }};
}
wavemill_sem::for_each_shape!(apply);

/// A source of a lane with its modifiers; `from` is the lane that a VGPR is read in, none reads zero.
fn source(inst: &Inst, i: usize, from: Option<u32>, run: &mut Running<'_>) -> u128 {
    let long = inst.is_long(i);
    if let (Src::Vgpr(r), Some(lane), 128) = (inst.src[i], from, inst.src_bits[i]) {
        return (0..4).rev().fold(0, |sum, n| sum << 32 | run.vgpr(r + n, lane) as u128);
    }
    let raw = match (inst.src[i], from) {
        (Src::Vgpr(_), None) => 0,
        (src @ Src::Vgpr(_), Some(lane)) if long => run.lane64(src, 0, lane),
        (src @ Src::Vgpr(_), Some(lane)) => run.lane(src, 0, lane) as u64,
        (src, _) => run.source(src, if long { 64 } else { 32 }),
    };
    let mode = run.float_mode();
    let (lo, hi) = inst.change(i).apply(S32(raw as u32), S32((raw >> 32) as u32), &mode);
    lo.0 as u128 | (hi.0 as u128) << 32
}

/// The meaning of an instruction, applied to a lane.
fn meaning(inst: &Inst, operands: &Operands, x: &Context) -> Result {
    let result = match inst.run {
        Run::Valu(family) => family.apply(inst.op, operands, x),
        Run::Compare(c) => compare::common(c, operands, x).or_else(|| compare::compare(c, operands, x)),
        _ => None,
    };
    result.unwrap_or_default()
}

/// Executes an instruction in all active lanes.
pub fn apply(inst: &Inst, run: &mut Running<'_>) {
    let inst = &inst.indexed_in(run);
    let exec = run.exec();
    let x = Context::new(run.float_mode(), inst.clamp, inst.omod, run.level());
    let carry = run.sgpr64(inst.carry as u32);
    // Lanes may read others through DPP: all read before any writes.
    let mut results = Vec::with_capacity(64);
    for lane in lanes(exec) {
        let first = match inst.modifiers.dpp {
            None => Some(lane),
            Some(dpp) => match dpp.lane(lane, exec) {
                Some(from) => from,
                None => continue,
            },
        };
        let src =
            [source(inst, 0, first, run), source(inst, 1, Some(lane), run), source(inst, 2, Some(lane), run)];
        let operands = Operands { src, carry: carry >> lane & 1 != 0, lane };
        results.push((lane, meaning(inst, &operands, &x)));
    }
    let mut mask = 0;
    for (lane, result) in results {
        if result.dwords > 0 {
            let value = result.value as u32;
            let old = run.vgpr(inst.dst, lane);
            run.set_vgpr(inst.dst, lane, inst.merge.map_or(value, |m| m.apply(S32(value), S32(old)).0));
        }
        for n in 1..result.dwords {
            run.set_vgpr(inst.dst + n, lane, (result.value >> (32 * n)) as u32);
        }
        mask |= (result.mask as u64) << lane;
    }
    // The lane mask an instruction has made goes to its scalar registers, and with V_CMPX to EXEC.
    if inst.sdst != 255 {
        run.set_sgpr64(inst.sdst as u32, mask);
    }
    if matches!(inst.run, Run::Compare(c) if c.exec) {
        run.set_exec(mask);
    }
}
