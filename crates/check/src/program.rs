//! Code as a graph: the instructions that entries reach, and where each one leads.

use std::collections::BTreeMap;
use wavemill_isa::{Decoder, Flow, Info, Inst, Role, Target};

/// An instruction of the program.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its address.
    pub at: u64,
    /// The instruction.
    pub inst: Inst,
    /// What it touches.
    pub info: Info,
    /// The same by the numbers in its encoding, where it runs as something else: before GFX9, waves take the numbers of the SGPRs
    /// that hold VCC for VCC when they decode.
    pub spelled: Option<Box<Info>>,
    /// The steps that may follow.
    pub next: Vec<usize>,
    /// It calls a function: what follows, follows its return.
    pub calls: bool,
    /// It returns from a function to somebody who is not seen.
    pub returns: bool,
}

impl Step {
    /// Wait states that pass while it is issued (S_NOP: as many as it says).
    pub fn states(&self) -> u8 {
        match self.inst.row.op {
            wavemill_isa::Op::s_nop => (self.inst.get(Role::Imm16) & 15) as u8 + 1,
            _ => 1,
        }
    }

    /// What it touches by the numbers in its encoding.
    pub fn spelled(&self) -> &Info {
        self.spelled.as_deref().unwrap_or(&self.info)
    }
}

/// What no path analysis can see.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Unknown {
    /// A jump to an address in a register that is not the function's return.
    Jump(u64),
    /// A branch that leaves the code.
    Outside(u64),
    /// Bytes that are no instruction.
    Undecoded(u64),
    /// The branch stack decides where execution goes on.
    Stack(u64),
}

/// The instructions that some entries reach.
#[derive(Clone, Debug)]
pub struct Program {
    /// What it runs on.
    pub target: Target,
    /// The instructions, by address.
    pub steps: Vec<Step>,
    /// The steps that execution may start with.
    pub entries: Vec<usize>,
    /// What could not be followed.
    pub unknown: Vec<Unknown>,
    /// The first of the two SGPRs that hold VCC, where it is known how many the wave has: the highest two of them.
    pub vcc: Option<u8>,
}

impl Program {
    /// Decodes from the entries on. `code` starts at address `base`; paths that leave it are noted.
    pub fn read(target: Target, base: u64, code: &[u8], entries: &[u64]) -> Program {
        let decoder = Decoder::new(target);
        let mut found: BTreeMap<u64, (Inst, Info, Vec<u64>, bool)> = BTreeMap::new();
        let mut unknown = Vec::new();
        let mut todo: Vec<(u64, u64)> = entries.iter().map(|e| (*e, *e)).collect();
        while let Some((at, from)) = todo.pop() {
            if found.contains_key(&at) {
                continue;
            }
            let rest = at.checked_sub(base).and_then(|o| code.get(usize::try_from(o).ok()?..));
            let Some(rest) = rest.filter(|r| !r.is_empty() && at % 4 == 0) else {
                unknown.push(Unknown::Outside(from));
                continue;
            };
            let Ok(inst) = decoder.decode_bytes(rest) else {
                unknown.push(Unknown::Undecoded(at));
                continue;
            };
            let info = inst.info(&target);
            let after = at.wrapping_add(inst.len.into());
            let label = info.branch().map(|distance| after.wrapping_add_signed(distance.into()));
            let next: Vec<u64> = match info.flow() {
                Flow::Next | Flow::Stop | Flow::Trap | Flow::Call => vec![after],
                Flow::Branch => label.into_iter().collect(),
                Flow::Cond => label.into_iter().chain([after]).collect(),
                Flow::Fork => {
                    unknown.push(Unknown::Stack(at));
                    label.into_iter().chain([after]).collect()
                }
                Flow::Join => {
                    unknown.push(Unknown::Stack(at));
                    vec![after]
                }
                Flow::Jump => {
                    if !is_return(&inst) {
                        unknown.push(Unknown::Jump(at));
                    }
                    Vec::new()
                }
                Flow::End => Vec::new(),
            };
            // A call with a label is a function of this code, too: its own entry.
            let calls = info.flow() == Flow::Call;
            todo.extend(next.iter().map(|n| (*n, at)));
            found.insert(at, (inst, info, next, calls));
        }
        let index: BTreeMap<u64, usize> = found.keys().enumerate().map(|(i, at)| (*at, i)).collect();
        let steps = found
            .into_iter()
            .map(|(at, (inst, info, next, calls))| {
                let next = next.iter().filter_map(|n| index.get(n).copied()).collect();
                let returns = info.flow() == Flow::Jump && is_return(&inst);
                Step { at, inst, info, spelled: None, next, calls, returns }
            })
            .collect();
        let entries = entries.iter().filter_map(|e| index.get(e).copied()).collect();
        unknown.sort();
        unknown.dedup();
        Program { target, steps, entries, unknown, vcc: None }
    }

    /// The step at an address.
    pub fn step_at(&self, at: u64) -> Option<&Step> {
        self.steps.binary_search_by_key(&at, |s| s.at).ok().and_then(|i| self.steps.get(i))
    }
}

/// By the calling convention, s[30:31] has the way back.
fn is_return(inst: &Inst) -> bool {
    inst.get(Role::Ssrc0) == 30
}
