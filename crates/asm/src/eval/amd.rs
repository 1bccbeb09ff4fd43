//! What AMD's functions in expressions come to.

use super::Evaluator;
use crate::expr::{AmdFn, Expr};

pub(super) fn evaluate(function: AmdFn, eval: &Evaluator<'_>, args: &[Expr], depth: u32) -> Option<i64> {
    if function.arity().is_some_and(|n| n != args.len()) {
        return None;
    }
    if matches!(function, AmdFn::Max | AmdFn::Or) {
        let mut total: Option<i64> = None;
        for arg in args {
            let value = eval.absolute(arg, depth)?;
            total = Some(match (function, total) {
                (_, None) => value,
                (AmdFn::Max, Some(total)) => total.max(value),
                (_, Some(total)) => total | value,
            });
        }
        return total;
    }
    let mut values = [0u64; 7];
    for (value, arg) in values.iter_mut().zip(args) {
        *value = eval.absolute(arg, depth)? as u64;
    }
    let result = match (function, values) {
        (AmdFn::ExtraSgprs, [vcc, flat, xnack, ..]) => {
            extra_sgprs(eval.target().level().generation(), vcc != 0, flat != 0, xnack != 0)
        }
        (AmdFn::TotalNumVgprs, [agprs, vgprs, ..]) => {
            if eval.target().level() == wavemill_isa::Level::Gfx90a && agprs != 0 {
                align(vgprs, 4).wrapping_add(agprs)
            } else {
                vgprs.max(agprs)
            }
        }
        (AmdFn::AlignTo, [value, alignment, ..]) if alignment != 0 => align(value, alignment),
        (AmdFn::Occupancy, values) => occupancy(values),
        _ => return None,
    };
    Some(result as i64)
}

fn align(value: u64, to: u64) -> u64 {
    value.wrapping_add(to - 1) / to * to
}

/// SGPRs taken by VCC, FLAT_SCRATCH and XNACK_MASK at the end of the allocation.
pub fn extra_sgprs(generation: u8, vcc: bool, flat_scratch: bool, xnack: bool) -> u64 {
    match (generation, flat_scratch, xnack, vcc) {
        (..8, true, _, _) => 4,
        (8.., true, _, _) => 6,
        (8.., false, true, _) => 4,
        (_, _, _, true) => 2,
        _ => 0,
    }
}

/// Waves per SIMD that the register counts allow.
fn occupancy([max, granule, total, generation, initial, sgprs, vgprs]: [u64; 7]) -> u64 {
    // The compiler numbers generations from R600 on; Volcanic Islands is 7, GFX10 is 9.
    const VOLCANIC_ISLANDS: u64 = 7;
    const GFX10: u64 = 9;
    let mut waves = initial;
    if sgprs != 0 {
        let by_sgprs = match generation {
            GFX10.. => max,
            VOLCANIC_ISLANDS.. => match sgprs {
                0..=80 => 10,
                81..=88 => 9,
                89..=100 => 8,
                _ => 7,
            },
            _ => match sgprs {
                0..=48 => 10,
                49..=56 => 9,
                57..=64 => 8,
                65..=72 => 7,
                73..=80 => 6,
                _ => 5,
            },
        };
        waves = waves.min(by_sgprs);
    }
    if vgprs != 0 {
        let by_vgprs = if vgprs < granule || granule == 0 {
            max
        } else {
            (total / align(vgprs, granule)).max(1).min(max)
        };
        waves = waves.min(by_vgprs);
    }
    waves
}
