//! Every lane-wise vector instruction and every scalar one can be written down as pure operations, and what is written down
//! means the same.

use crate::float;
use wavemill_isa::{Enc, Kind, Level, ROWS, Role, Row};
use wavemill_sem::compare::{self, Compare};
use wavemill_sem::family::family;
use wavemill_sem::lane::Lane;
use wavemill_sem::record::{self, Node};
use wavemill_sem::soft::{F16, F32, F64};
use wavemill_sem::{Context, Mode, salu};
use wavemill_testing::Random;

/// Lane-wise rows that cannot be recorded, each with its reason. At most twenty are acceptable.
const OPAQUE: &[(&str, &str)] = &[];

/// Rows that work lane by lane.
fn lane_wise() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|row| match row.enc {
        Enc::Vopc => Compare::of(row).is_some(),
        enc => enc.is_valu() && family(row.op).is_some(),
    })
}

fn operand(r: &mut Random, row: &Row, role: Role) -> u64 {
    let ty = row.operand(role).or(row.operand(Role::Src0)).map(|o| (o.ty.kind, o.ty.bits));
    match ty {
        Some((Kind::F, 16)) => float(r, F16) | float(r, F16) << 16,
        Some((Kind::F, 32)) => float(r, F32) | float(r, F32) << 32,
        Some((Kind::F, 64)) => float(r, F64),
        _ => r.edgy(64),
    }
}

fn plain(row: &Row, lane: Lane, x: &Context) -> Option<(Option<u128>, Option<bool>)> {
    match Compare::of(row) {
        Some(c) => compare::common(c, lane, x).or_else(|| compare::compare(c, lane, x)),
        None => family(row.op)?.apply(row.op, lane, x),
    }
}

#[test]
fn every_row_in_every_mode() {
    let mut random = Random(0x5eed_0123_4567_89ab);
    let (mut rows, mut programs, mut operations) = (0, 0, 0);
    for row in lane_wise() {
        rows += 1;
        // Round modes and denormals, of f32 and f64 alike; IEEE, DX10_CLAMP and FP16_OVFL; CLAMP and OMOD.
        for setting in 0..16u32 {
            let bits = setting & 3 | (setting & 3) << 2 | (setting >> 2) << 4 | (setting >> 2) << 6;
            for variant in 0..3 {
                let level = [Level::Gfx90a, Level::Gfx6, Level::Gfx900][variant];
                let bits = bits | (random.next() as u32 & 0x80_0300);
                let (clamp, omod) = [(false, 0), (true, 0), (false, 1 + random.below(3) as u8)][variant];
                let x = Context::new(Mode::new(bits, level), clamp, omod, level);
                let Some((program, results)) = record::instruction(row, &x) else {
                    assert!(
                        OPAQUE.iter().any(|(name, _)| *name == row.name),
                        "{} cannot be recorded",
                        row.name
                    );
                    continue;
                };
                programs += 1;
                operations += program.nodes.len();
                for _ in 0..6 {
                    let mut src =
                        [Role::Src0, Role::Src1, Role::Src2].map(|role| operand(&mut random, row, role));
                    if row.name.starts_with("v_div_scale") {
                        src[0] = src[1 + random.below(2) as usize];
                    }
                    let (upper, mask) = (random.next(), random.one_in(2));
                    let lane = Lane { src, upper, mask, number: random.below(64) as u32 };
                    let values = program.evaluate(&[
                        src[0],
                        src[1],
                        src[2],
                        mask as u64,
                        lane.number as u64,
                        src[2] >> 32,
                        upper,
                        upper >> 32,
                    ]);
                    let value = |v: record::Value| values[v.0 as usize] as u128;
                    let more = results.more.map_or(0, |more| {
                        more.iter().rev().fold(0, |sum, &dword| sum << 32 | value(dword)) << 32
                    });
                    let got = (results.value.map(|v| value(v) | more), results.mask.map(|m| value(m) != 0));
                    assert_eq!(Some(got), plain(row, lane, &x), "{} {lane:x?} {x:?}", row.name);
                }
            }
        }
    }
    println!("{rows} rows, {programs} programs of {} operations on average", operations / programs.max(1));
    assert_eq!(rows, 577, "the number of lane-wise rows");
    assert!(OPAQUE.len() <= 20 && OPAQUE.iter().all(|(_, reason)| !reason.is_empty()));
}

/// In the usual mode what is common is short: what is rare stands apart.
#[test]
fn common_instructions_stay_short() {
    let x = Context::new(Mode::new(0xf0, Level::Gfx90a), false, 0, Level::Gfx90a);
    for (name, most) in [("v_add_u32", 1), ("v_fma_f32", 2), ("v_max_f32", 7), ("v_cvt_f32_i32", 1)] {
        let row = lane_wise().find(|r| r.name == name && r.opcode_at(Level::Gfx90a).is_some()).unwrap();
        let (program, _) = record::instruction(row, &x).unwrap();
        let (mut at, mut count) = (0, 0);
        while let Some(node) = program.nodes.get(at) {
            match *node {
                Node::Rarely { merge, .. } => at = merge.0 as usize,
                Node::Input(..) | Node::Constant(..) | Node::Merge(..) => {}
                _ => count += 1,
            }
            at += 1;
        }
        assert!(count <= most, "{name}: {count} operations: {program:?}");
    }
}

/// Operands come before what is made of them, and rare parts are not looked into from outside.
#[test]
fn programs_are_well_formed() {
    for row in lane_wise() {
        for mode in [0, 0xf0, 0xf5, 0x0a] {
            let x = Context::new(Mode::new(mode, Level::Gfx90a), mode == 0, 0, Level::Gfx90a);
            let Some((program, results)) = record::instruction(row, &x) else { continue };
            // The rare parts that are open at a node.
            let mut open: Vec<(u32, u32)> = Vec::new();
            let mut part = vec![Vec::new(); program.nodes.len()];
            for (at, node) in (0u32..).zip(&program.nodes) {
                open.retain(|&(_, end)| end != at);
                for v in node.operands() {
                    assert!(v.0 < at, "{}: {v:?} is used at {at}", row.name);
                    let within: &Vec<(u32, u32)> = &part[v.0 as usize];
                    let merges = matches!(node, Node::Merge(..));
                    assert!(
                        within.iter().all(|p| open.contains(p) || merges && p.1 == at),
                        "{}: {v:?} of a rare part is used at {at}",
                        row.name
                    );
                }
                part[at as usize] = open.clone();
                if let Node::Rarely { merge, .. } = *node {
                    open.push((at, merge.0));
                }
            }
            let ends = [results.value, results.mask].into_iter().flatten();
            assert!(ends.into_iter().all(|v| part[v.0 as usize].is_empty()), "{}", row.name);
        }
    }
}

#[test]
fn every_scalar_instruction() {
    let mut random = Random(77);
    let mut rows = 0;
    for row in &ROWS {
        let Some((program, results)) = record::scalar(row.op) else {
            assert!(salu::salu(row.op, 0, 0, 0, false, 0).is_none());
            continue;
        };
        rows += 1;
        for _ in 0..200 {
            let [a, b, d, exec] = [(); 4].map(|()| random.edgy(64));
            let scc = random.one_in(2);
            let values = program.evaluate(&[a, b, d, scc as u64, exec]);
            let value = |v: Option<record::Value>| v.map(|v| values[v.0 as usize]);
            let want = salu::salu(row.op, a, b, d, scc, exec).unwrap();
            assert_eq!(value(results.value), want.d, "{} {a:x} {b:x} {d:x}", row.name);
            assert_eq!(value(results.mask).map(|m| m != 0), want.scc, "{} {a:x} {b:x} {d:x}", row.name);
            assert_eq!(value(results.exec), want.exec, "{} {a:x} {b:x} {d:x}", row.name);
        }
    }
    assert!(rows > 120, "{rows} scalar rows");
}
