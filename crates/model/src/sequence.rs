//! Several instructions one after the other on both: what one leaves for the next (registers, carries, EXEC, MODE), and
//! what the interpreter does to whole blocks.

use crate::compare::{Bench, ENDPGM, differing, forms, to_wave};
use crate::flags::Flags;
use crate::generate::{fill, instruction, state};
use crate::{State, excluded_row, execute};
use wavemill_isa::row::{Enc, Form, Role, Row, flag};
use wavemill_isa::{Inst, Level};
use wavemill_testing::Random;
use wavemill_wave::{Event, GroupShared, Memory};

/// Instructions of a sequence at most.
const LONGEST: u64 = 12;

/// Whether a row may stand in a sequence: no jumps, no freedom in the result, no state that the generator must prepare.
fn fits(row: &Row) -> bool {
    let jumps = row.operand(Role::Label).is_some()
        || ["pc_b64", "_fork", "_join"].iter().any(|s| row.name.contains(s));
    let prepared = ["_movrel", "_gpr_idx", "_setvskip"].iter().any(|s| row.name.contains(s));
    excluded_row(row).is_none() && !jumps && !prepared && !row.has(flag::APPROX)
}

/// Runs `runs` random sequences on a processor and returns what they have to say about differences, at most `limit` of
/// them, with the number of instructions compared.
pub fn sequences(cpu: &str, seed: u64, runs: usize, limit: usize) -> (u64, Vec<String>) {
    let bench = Bench::new(cpu);
    let level = bench.target.level();
    let rows: Vec<(&'static Row, Form)> = forms(level).filter(|(row, _)| fits(row)).collect();
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut count, mut differences) = (0, Vec::new());
    for run in 0..runs {
        let r = &mut random;
        let length = 2 + r.below(LONGEST - 1) as usize;
        // Kernels are mostly plain vector instructions; so are half of the sequences.
        let plain = r.one_in(2);
        let insts: Vec<Inst> = (0..length)
            .map(|_| {
                loop {
                    let (row, form) = rows[r.below(rows.len() as u64) as usize];
                    if !plain
                        || row.enc.is_valu()
                            && matches!(form, Form::Base | Form::Vop3)
                            && row.enc != Enc::Vop3p
                    {
                        break instruction(r, row, form, &bench.target);
                    }
                }
            })
            .collect();
        let before = start(r, &insts, level, plain);
        count += length as u64;
        if let Some(text) = differs(&bench, run, &insts, &before) {
            // The shortest beginning that shows it says more.
            let shortest = (1..=length).find_map(|n| differs(&bench, run, &insts[..n], &before));
            differences.push(shortest.unwrap_or(text));
            if differences.len() >= limit {
                break;
            }
        }
    }
    (count, differences)
}

/// A state with values of their types in the registers of every instruction.
fn start(r: &mut Random, insts: &[Inst], level: Level, plain: bool) -> State {
    let mut s = state(r, &insts[0], level, 0, &mut |_| 0);
    for inst in insts {
        fill(r, &mut s, inst);
    }
    // Indexing and skipping are for single instructions.
    s.mode &= !(3 << 27);
    if plain {
        s.mode = 0x3f0;
        if r.one_in(2) {
            s.set_sgpr64(126, !0);
        }
    }
    s
}

fn differs(bench: &Bench, run: usize, insts: &[Inst], before: &State) -> Option<String> {
    let mut code = Vec::new();
    for inst in insts {
        code.push(inst.bits as u32);
        if inst.len == 8 {
            code.push((inst.bits >> 32) as u32);
        }
    }
    code.extend([ENDPGM, ENDPGM]);
    let (base, bytes) = (code.as_ptr() as u64, 4 * code.len() as u64);
    let mut before = before.clone();
    before.pc = base;
    let mut model = before.clone();
    let mut flags = Flags::default();
    for inst in insts {
        flags = flags.after(&model, inst);
        if execute(&mut model, inst).is_err() {
            return Some(format!("no model for {}", inst.row.name));
        }
    }
    model.pc += 4;
    let memory = Memory::new();
    // SAFETY: the code outlives the memory and nothing writes to it.
    unsafe { memory.add(base, bytes, false) }.unwrap_or_else(|e| panic!("code cannot be added: {e:?}"));
    let engine = &bench.engines[run % bench.engines.len()];
    engine.invalidate(base, bytes);
    let mut differences = Vec::new();
    // In blocks, and one by one with exceptions gathered.
    for gather in [false, true] {
        let mut wave = to_wave(&before, &bench.target);
        wave.gather_exceptions = gather;
        match engine.run(&mut wave, &GroupShared::new(0), &memory, 1000) {
            Event::End => differences.extend(differing(&before, &model, &[], &wave, None)),
            event => differences.push(format!("  the interpreter stopped with {event:?}")),
        }
        if gather && !flags.permit(wave.trapsts) {
            differences.push(format!("  the model has {flags:x?}, TRAPSTS is {:#x}", wave.trapsts));
        }
    }
    if differences.is_empty() {
        return None;
    }
    let mut text =
        format!("{}, MODE {:#x}, EXEC {:#018x}\n", bench.target.cpu.name, before.mode, before.exec());
    for inst in insts {
        let mut line = Vec::new();
        bench.disassembler.one(&inst.bits.to_le_bytes(), &mut line);
        text += &format!("{}\n", String::from_utf8_lossy(&line).trim());
    }
    Some(text + &differences.into_iter().take(4).collect::<Vec<_>>().join("\n"))
}
