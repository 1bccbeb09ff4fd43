//! Compilers' code with one S_WAITCNT or S_NOP taken away or weakened.

use crate::harmless::{By, Case, Missed};
use crate::objects::{Function, fixtures, functions};
use crate::unsaid;
use crate::walk::walk;
use std::collections::BTreeMap;
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

/// One of so many mutants is tried, which is 2,000 and a few; `WAVEMILL_MUTANTS=1` tries all, in a few minutes, and
/// `WAVEMILL_MUTANTS=local_atomics` all of functions with that in their names.
const EVERY: u64 = 13;

/// Whether a mutant is among those that are tried, whatever others there are: its name decides.
fn is_tried(name: &str, every: u64) -> bool {
    let mixed = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (mixed >> 32) % every == 0
}

/// What is not found is harmless, for a reason that is told (`harmless`), or depends on what code does not say: whether a store is
/// meant for somebody who waits for it, and whether a FLAT address is in LDS. Those that do are found while the code runs, by
/// `race` and by `wait`, unless the address is in private memory, of which VM_CNT tells, or the store is for a kernel that is enqueued: it
/// runs when this one has ended, which releases all.
#[test]
fn mutants_are_found_or_harmless() {
    let asked = std::env::var("WAVEMILL_MUTANTS").ok();
    let every = asked.as_ref().map_or(EVERY, |n| n.parse().unwrap_or(1));
    let only = asked.filter(|n| n.parse::<u64>().is_err());
    // Tried and found, of clang 22's code and of older compilers'.
    let mut counts = [[0; 2]; 2];
    // Those that are not found, by the reason why nobody misses them, and those that show when they run.
    let (mut reasons, mut shown) = (BTreeMap::new(), BTreeMap::new());
    // Stores for kernels that run later, and FLAT loads that turn out to be of private memory.
    let (mut enqueues, mut elsewhere) = (0, 0);
    // Wait states that are more than any rule asks for.
    let mut spare = 0;
    let mut unexplained = Vec::new();
    for path in fixtures() {
        let newest = path.to_string_lossy().contains("clang-22");
        let [tried, found] = &mut counts[newest as usize];
        let wanted = |f: &Function| only.as_ref().is_none_or(|part| f.name.contains(&**part));
        for function in functions(&path).into_iter().filter(wanted) {
            for mutant in mutants(&function) {
                let name = format!("{}: {:#x} -> {:08x}", function.name, mutant.at, mutant.word);
                if !is_tried(&name, every) {
                    continue;
                }
                *tried += 1;
                let program = function.with(&mutant).program();
                if !lint(&program).is_empty() {
                    *found += 1;
                    continue;
                }
                let Some(was) = mutant.was else {
                    spare += 1;
                    continue;
                };
                if let Some(at) = walk(&program, mutant.at) {
                    unexplained.push(format!("{name}: a walk finds something at {at:#x}"));
                    continue;
                }
                match Case::new(&program, mutant.at, was).reason() {
                    Ok(reason) => *reasons.entry(reason).or_insert(0) += 1,
                    Err(Missed { by: By::Store, .. }) if name.starts_with("enqueue.") => enqueues += 1,
                    Err(missed @ Missed { by: by @ (By::Store | By::Flat), .. }) => {
                        let check = if by == By::Flat { "wait" } else { "race" };
                        match (unsaid::finds(&path, function.kernel(), Some(&mutant), check), by) {
                            (Some(true), _) => *shown.entry(by).or_insert(0) += 1,
                            (Some(false), By::Flat) => elsewhere += 1,
                            _ => unexplained.push(format!("{name}: {missed}, and {check} finds nothing")),
                        }
                    }
                    Err(missed) => unexplained.push(format!("{name}: {missed}")),
                }
            }
        }
    }
    let [[tried, found], [new_tried, new_found]] = counts;
    println!(
        "{found} of {tried} mutants of older compilers' code found, {new_found} of {new_tried} of clang 22's"
    );
    println!(
        "harmless: {reasons:?}, {spare} wait states more than needed, {enqueues} before the end of a kernel, {elsewhere} not in \
         LDS; found when they run: {shown:?}"
    );
    println!("unexplained: {}", unexplained.len());
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
    if let Some(part) = only {
        assert!(tried + new_tried > 0, "no function has {part} in its name");
        return;
    }
    assert!(tried >= 2_000, "only {tried} mutants");
    // Measured: 89 and 97 of 100.
    assert!(found * 100 >= tried * 88, "{found} of {tried} found");
    assert!(new_found * 100 >= new_tried * 95, "{new_found} of {new_tried} found in clang 22's code");
    let unsaid = enqueues + elsewhere + shown.values().sum::<usize>();
    assert!(unsaid * 100 <= tried + new_tried, "{unsaid}");
}

/// The kernels that mutants are run with have nothing to find in them as they are.
#[test]
fn unchanged_kernels_have_no_findings() {
    for (fixture, kernel, check) in [
        ("private.gfx900.clang-15.v2.O2.hsaco", "generic_pointers", "wait"),
        ("reduce.gfx9-generic.clang-22.v6.O0.hsaco", "reduce", "wait"),
        ("sgemm.gfx9-generic.clang-22.v6.O0.hsaco", "sgemm_tiled", "wait"),
        ("sort.gfx9-generic.clang-22.v6.O0.hsaco", "bitonic", "wait"),
        ("reduce.gfx803.clang-22.v6.O2.hsaco", "histogram", "wait"),
        ("atomics.gfx9-generic.clang-22.v6.O0.hsaco", "local_atomics", "wait"),
        ("gridsync.gfx803.clang-19.v5.O2.hsaco", "rounds", "race"),
    ] {
        let path = fixtures().into_iter().find(|p| p.ends_with(fixture)).expect("it is there");
        assert_eq!(unsaid::finds(&path, kernel, None, check), Some(false), "{fixture}");
    }
}
