//! Compilers' code with one S_WAITCNT or S_NOP taken away or weakened.

use crate::objects::{Function, fixtures, functions};
use crate::walk::walk;
use wavemill_check::lint;
use wavemill_isa::info::WaitCounts;
use wavemill_isa::{Level, Op, Role};

/// S_NOP 0: what stands where something was taken away.
const NOP: u32 = 0xbf80_0000;

/// A changed instruction.
pub struct Mutant {
    pub at: u64,
    pub word: u32,
    /// What was waited for there, if it was a counter and not wait states.
    pub was: Option<WaitCounts>,
}

/// Everything that can be taken away from a function, or weakened.
pub fn mutants(function: &Function) -> Vec<Mutant> {
    let level: Level = function.target.level();
    let mut out = Vec::new();
    for step in &function.program().steps {
        let word = step.inst.bits as u32;
        // What a function does first waits for what its caller has left under way: nothing, in a function by itself.
        if step.at == function.address {
            continue;
        }
        match step.inst.row.op {
            Op::s_waitcnt => {
                let (waits, most) =
                    (WaitCounts::decode(step.inst.get(Role::Waitcnt), level), WaitCounts::none(level));
                out.push(Mutant { at: step.at, word: NOP, was: Some(waits) });
                let weaker = [
                    (waits.vm < most.vm).then(|| WaitCounts { vm: waits.vm + 1, ..waits }),
                    (waits.lgkm < most.lgkm).then(|| WaitCounts { lgkm: waits.lgkm + 1, ..waits }),
                    (waits.exp < most.exp).then(|| WaitCounts { exp: waits.exp + 1, ..waits }),
                ];
                for weaker in weaker.into_iter().flatten() {
                    let word = word & 0xffff_0000 | weaker.encode(level);
                    out.push(Mutant { at: step.at, word, was: Some(waits) });
                }
            }
            Op::s_nop if step.inst.get(Role::Imm16) > 0 => {
                out.push(Mutant { at: step.at, word: word - 1, was: None });
            }
            _ => {}
        }
    }
    out
}

impl Function {
    /// The function with a mutant's word in it.
    fn with(&self, mutant: &Mutant) -> Function {
        let mut code = self.code.clone();
        let at = (mutant.at - self.address) as usize;
        code[at..at + 4].copy_from_slice(&mutant.word.to_le_bytes());
        Function { name: self.name.clone(), code, ..*self }
    }
}

/// Every so many mutants are tried: 2,000 and a few.
const EVERY: usize = 13;

/// What is not found orders memory only, or is waited for again before the registers are used: a walk along random paths,
/// which keeps the operations under way one by one, does not find it either.
#[test]
fn mutants_are_found() {
    let mut number = 0;
    // Tried and found, of clang 22's code and of older compilers'.
    let mut counts = [[0; 2]; 2];
    // Of those that are not found: with nothing to wait for, with memory in order only, and of wait states.
    let (mut idle, mut order, mut states) = (0, 0, 0);
    for path in fixtures() {
        let newest = path.to_string_lossy().contains("clang-22");
        let [tried, found] = &mut counts[newest as usize];
        for function in functions(&path) {
            for mutant in mutants(&function) {
                number += 1;
                if number % EVERY != 0 {
                    continue;
                }
                *tried += 1;
                let changed = function.with(&mutant);
                if !lint(&changed.program()).is_empty() {
                    *found += 1;
                } else if let Some(was) = mutant.was {
                    let walked = walk(&changed.program(), mutant.at, was);
                    assert_eq!(
                        walked.early, None,
                        "{}: {:#x} -> {:08x}",
                        function.name, mutant.at, mutant.word
                    );
                    *(if walked.idle { &mut idle } else { &mut order }) += 1;
                } else {
                    states += 1;
                    println!("wait states: {}: {:#x} -> {:08x}", function.name, mutant.at, mutant.word);
                }
            }
        }
    }
    let [[tried, found], [new_tried, new_found]] = counts;
    println!(
        "{found} of {tried} mutants of older compilers' code found, {new_found} of {new_tried} of clang 22's"
    );
    println!(
        "not found: {idle} with nothing to wait for, {order} that order memory and nothing else, {states} of wait states"
    );
    assert!(tried >= 2_000, "only {tried} mutants");
    // Measured: four of five. The others are those of barriers and fences.
    assert!(found * 5 >= tried * 4, "{found} of {tried} found");
    // Clang 22 puts each kernel's body into a function of its own as well, where more waits order memory only.
    assert!(new_found * 3 >= new_tried * 2, "{new_found} of {new_tried} found in clang 22's code");
}
