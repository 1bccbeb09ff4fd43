//! Runs of scalar instructions, written down as one program. A lane is the wave here, and its registers are values until the end
//! of the run.

use crate::input::Input;
use wavemill_isa::regs;
use wavemill_sem::inst::{Inst, Run};
use wavemill_sem::lanes::{Long, Word};
use wavemill_sem::operand::Src;
use wavemill_sem::record::{LongValue, MaskValue, Program, Value, WordValue, record};
use wavemill_sem::salu;

/// A run of scalar instructions.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// What it computes.
    pub program: Program,
    /// Registers, and what they are at the end.
    pub words: Vec<(u8, Value)>,
    /// The same of two registers at once, by the first.
    pub pairs: Vec<(u8, Value)>,
    /// SCC at the end, if it was written.
    pub scc: Option<Value>,
    /// How many instructions it has.
    pub len: usize,
}

/// Whether a run may have an instruction: its operands are registers and constants.
pub fn suits(inst: &Inst) -> bool {
    inst.run == Run::Salu
        && inst.src[..2].iter().all(|s| !matches!(s, Src::Special(_)))
        && (inst.sdst == 255 || inst.sdst < 128)
}

/// Records the longest run that starts with the first of these instructions.
pub fn scalar(insts: &[Inst]) -> Option<Scalar> {
    let (program, run) = record(|| {
        let mut r = Recorder {
            words: [None; 128],
            pairs: [None; 128],
            written: 0,
            scc: Input::Scc.mask(),
            scc_written: false,
        };
        let len = insts.iter().take_while(|inst| suits(inst) && r.instruction(inst)).count();
        let (mut words, mut pairs) = (Vec::new(), Vec::new());
        let mut code = 0;
        while code < 128 {
            match (r.pairs[code], r.written >> code & 3, r.words[code]) {
                (Some(pair), 3, _) => {
                    pairs.push((code as u8, pair.0));
                    code += 1;
                }
                (_, 1 | 3, Some(word)) => words.push((code as u8, word.0)),
                _ => {}
            }
            code += 1;
        }
        (words, pairs, r.scc_written.then_some(r.scc.0), len)
    });
    let (words, pairs, scc, len) = run;
    (len > 0).then_some(Scalar { program, words, pairs, scc, len })
}

struct Recorder {
    /// Registers that were read or written.
    words: [Option<WordValue>; 128],
    /// Two registers, by the first, as long as neither changes by itself.
    pairs: [Option<LongValue>; 128],
    /// A bit for each register that was written.
    written: u128,
    scc: MaskValue,
    scc_written: bool,
}

impl Recorder {
    fn word(&mut self, code: u8) -> WordValue {
        *self.words[code as usize].get_or_insert_with(|| Input::Sgpr(code).word())
    }

    fn pair(&mut self, code: u8) -> LongValue {
        let at = code as usize;
        // The last register has no successor, which reads as zero.
        if code == 127 {
            return self.word(code).zext();
        }
        if let Some(pair) = self.pairs[at] {
            return pair;
        }
        let pair = match self.words[at..at + 2] {
            [None, None] => LongValue::input(Input::Sgpr(code).number()),
            _ => self.word(code).join(self.word(code + 1)),
        };
        self.pairs[at] = Some(pair);
        pair
    }

    fn forget_pairs(&mut self, code: u8) {
        self.pairs[code as usize] = None;
        if code > 0 {
            self.pairs[code as usize - 1] = None;
        }
    }

    fn set_word(&mut self, code: u8, value: WordValue) {
        self.forget_pairs(code);
        self.words[code as usize] = Some(value);
        self.written |= 1 << code;
    }

    fn set_pair(&mut self, code: u8, value: LongValue) {
        self.set_word(code, value.lo());
        if code < 127 {
            self.set_word(code + 1, value.hi());
            self.pairs[code as usize] = Some(value);
        }
    }

    fn source(&mut self, inst: &Inst, i: usize) -> LongValue {
        match inst.src[i] {
            Src::Const(n) => LongValue::splat(n),
            Src::Sgpr(code) if inst.src_bits[i] == 64 => self.pair(code),
            Src::Sgpr(code) => self.word(code).zext(),
            Src::Vgpr(_) | Src::None | Src::Special(_) => LongValue::splat(0),
        }
    }

    /// Records an instruction; false if it has no meaning.
    fn instruction(&mut self, inst: &Inst) -> bool {
        let (s0, s1) = (self.source(inst, 0), self.source(inst, 1));
        let wide = inst.src_bits[2] == 64;
        let old = match inst.sdst {
            255 => LongValue::splat(0),
            code if wide => self.pair(code),
            code => self.word(code).zext(),
        };
        let exec = self.pair(regs::EXEC as u8);
        let Some(out) = salu::meaning::<WordValue>(inst.op, s0, s1, old, self.scc, exec) else {
            return false;
        };
        if let Some(d) = out.d
            && inst.sdst != 255
        {
            match wide {
                true => self.set_pair(inst.sdst, d),
                false => self.set_word(inst.sdst, d.lo()),
            }
        }
        // After the destination, which may be EXEC itself.
        if let Some(exec) = out.exec {
            self.set_pair(regs::EXEC as u8, exec);
        }
        if let Some(scc) = out.scc {
            self.scc = scc;
            self.scc_written = true;
        }
        true
    }
}
