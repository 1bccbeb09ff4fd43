//! The meaning of a lane-wise instruction as a program that masks of undefined bits can go through, made once.

use super::undefined::{Bits, depends, evaluate};
use wavemill_isa::Level;
use wavemill_sem::apply::Context as Modes;
use wavemill_sem::inst::Inst;
use wavemill_sem::mode::Mode;
use wavemill_sem::modify::Change;
use wavemill_sem::record::{self, Program, Value, WordValue};

/// An instruction's meaning in a mode.
pub struct Recorded {
    mode: u32,
    program: Program,
    /// Its result, and the mask it makes.
    pub value: Option<Value>,
    mask: Option<Value>,
    /// What becomes of each source, if anything does: both halves.
    changes: [Option<(Program, Value, Value)>; 3],
    /// Which dwords of each source have a part in that.
    reads: [[bool; 2]; 3],
    /// What becomes of the destination's other bits.
    merge: Option<(Program, Value)>,
    /// The undefined bits of a lane's inputs, and what became of it.
    pub last: Option<([u64; 5], Lane)>,
}

impl Recorded {
    /// Writes an instruction's meaning down; none of what has no such meaning.
    pub fn new(inst: &Inst, mode: u32, level: Level) -> Option<Recorded> {
        let settings = Mode::new(mode, level);
        let x = Modes::new(settings, inst.clamp, inst.omod, level);
        let (program, results) = record::instruction(inst.row, &x)?;
        if results.more.is_some() {
            // Four dwords have no place in a result here: `init` takes them as a whole.
            return None;
        }
        let change = |i: usize| {
            let change = Some(inst.change(i)).filter(|c| *c != Change::None)?;
            let (program, (lo, hi)) =
                record::record(|| change.apply(WordValue::input(0), WordValue::input(1), &settings));
            Some((program, lo.0, hi.0))
        };
        let merge = inst.merge.map(|m| {
            let (program, merged) = record::record(|| m.apply(WordValue::input(0), WordValue::input(1)));
            (program, merged.0)
        });
        let changes = std::array::from_fn(change);
        let (value, mask) = (results.value, results.mask);
        let mut recorded =
            Recorded { mode, program, value, mask, changes, reads: [[true; 2]; 3], merge, last: None };
        recorded.reads = std::array::from_fn(|i| {
            [0, 32].map(|dword| {
                let raw = Bits { value: 0, undefined: 0xffff_ffff << dword };
                recorded.changed(i, raw).0.undefined != 0
            })
        });
        Some(recorded)
    }

    /// Whether a dword of a source matters: op_sel may leave one out.
    pub fn reads(&self, i: usize, dword: u16) -> bool {
        self.reads[i][usize::from(dword) & 1]
    }

    /// Whether it was written down in this mode.
    pub fn is_of(&self, mode: u32) -> bool {
        self.mode == mode
    }

    /// A source as the instruction sees it, and whether its undefined bits depend on values.
    fn changed(&self, i: usize, raw: Bits) -> (Bits, bool) {
        let Some((program, lo, hi)) = &self.changes[i] else { return (raw, false) };
        let half = |n: u16| Bits {
            value: raw.value.checked_shr(32 * u32::from(n)).unwrap_or(0) & 0xffff_ffff,
            undefined: raw.undefined.checked_shr(32 * u32::from(n)).unwrap_or(0) & 0xffff_ffff,
        };
        let all = evaluate(program, half);
        let depends = raw.undefined != 0 && {
            let depends = depends(program, &all);
            depends[lo.0 as usize] || depends[hi.0 as usize]
        };
        let (lo, hi) = (all[lo.0 as usize], all[hi.0 as usize]);
        let bits = Bits { value: lo.value | hi.value << 32, undefined: lo.undefined | hi.undefined << 32 };
        (bits, depends)
    }

    /// What becomes of a lane: of the three sources, the carry, the lane's number and what was in the destination.
    pub fn lane(&self, raw: &[Bits; 5], old: Bits) -> Lane {
        let mut inputs = *raw;
        let mut sources = false;
        for (i, input) in inputs.iter_mut().take(3).enumerate() {
            let (bits, depends) = self.changed(i, *input);
            (*input, sources) = (bits, sources | depends);
        }
        let all = evaluate(&self.program, |i| inputs.get(usize::from(i)).copied().unwrap_or_default());
        let values = depends(&self.program, &all);
        let of = |v: Option<Value>| {
            v.map_or((Bits::default(), false), |v| (all[v.0 as usize], values[v.0 as usize]))
        };
        let ((value, by_value), (mask, by_mask)) = (of(self.value), of(self.mask));
        let mut depends = sources || by_value || by_mask;
        let undefined = match &self.merge {
            Some((program, merged)) => {
                // Few, and not worth a second look.
                depends = true;
                let low = evaluate(program, |i| if i == 0 { value } else { old })[merged.0 as usize];
                value.undefined & !0xffff_ffff | low.undefined & 0xffff_ffff
            }
            None => value.undefined,
        };
        Lane { undefined, flag: mask.undefined & 1 != 0, depends }
    }
}

/// What becomes of a lane.
#[derive(Clone, Copy)]
pub struct Lane {
    /// The undefined bits of its result.
    pub undefined: u64,
    /// Its bit of the mask is undefined.
    pub flag: bool,
    /// That depends on the values of sources, not on their undefined bits alone.
    pub depends: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavemill_asm::{Options, OutputType, assemble};
    use wavemill_isa::{Decoder, Target, target};
    use wavemill_sem::resolve::resolve;
    use wavemill_sem::state::Allocation;

    fn recorded(text: &str) -> Recorded {
        let target = Target::new(target::processor("gfx90a").unwrap());
        let mut options = Options::new(target);
        options.output = OutputType::Obj;
        let file = wavemill_asm::elf::write(&assemble(&options, "x.s", text.into())).unwrap();
        let file = wavemill_object::read::File::parse(&file).unwrap();
        let code = file.sections.iter().find(|s| s.name == ".text").unwrap();
        let inst = Decoder::new(target).decode_bytes(code.data).unwrap();
        let allocation = Allocation { vgprs: 32, agprs: 0, sgprs: 100, privileged: false };
        Recorded::new(&resolve(inst, allocation, &target), 0xf0, target.level()).unwrap()
    }

    const HIGH: u64 = 0xffff_ffff << 32;

    #[test]
    fn halves_of_packed_floats_are_apart() {
        let add = recorded("v_pk_add_f32 v[8:9], v[8:9], v[12:13] neg_lo:[0,1] neg_hi:[0,1]\n");
        let sources = |undefined| [Bits::known(0x3f80_0000), Bits { value: 7, undefined }];
        let inputs = |undefined| {
            let [a, b] = sources(undefined);
            [a, b, Bits::default(), Bits::default(), Bits::default()]
        };
        let lane = add.lane(&inputs(HIGH), Bits::default());
        // A sum with one undefined bit is undefined, whatever the others are.
        assert_eq!((lane.undefined, lane.flag, lane.depends), (HIGH, false, false));
        let lane = add.lane(&inputs(1), Bits::default());
        assert_eq!((lane.undefined, lane.depends), (0xffff_ffff, false));
    }

    #[test]
    fn what_op_sel_leaves_out_is_not_read() {
        let both = recorded("v_pk_mul_f32 v[4:5], s[12:13], v[4:5]\n");
        let low = recorded("v_pk_mul_f32 v[4:5], s[12:13], v[4:5] op_sel_hi:[0,1]\n");
        assert_eq!([0, 1].map(|n| both.reads(0, n)), [true, true]);
        assert_eq!([0, 1].map(|n| low.reads(0, n)), [true, false]);
        assert_eq!([0, 1].map(|n| low.reads(1, n)), [true, true]);
    }
}
