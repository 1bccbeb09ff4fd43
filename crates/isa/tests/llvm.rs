//! `Inst::info` against LLVM's own view of the same instructions: registers with their sizes, implicit ones included,
//! memory, counters, and where execution goes on, for every opcode LLVM 19 has on every level.
//!
//! `llvm/make` writes `llvm/facts.tsv` with LLVM's libraries. Both sides are brought to LLVM's notation; where they then
//! differ, a line of [`DIFFERENCES`] says why, and a line that explains nothing fails.

use std::collections::BTreeSet;
use wavemill_isa::info::{Counter, Info, Lanes, Path, Use};
use wavemill_isa::{Class, Decoder, Enc, Flow, Form, Inst, Level, Target, flag, target};

/// Text, levels, bytes, facts.
const FACTS: &str = include_str!("llvm/facts.tsv");

/// A processor of each level, those that `llvm/make` asks about.
const PROCESSORS: [&str; 8] =
    ["gfx600", "gfx700", "gfx803", "gfx900", "gfx904", "gfx906", "gfx908", "gfx90a"];

/// One difference: who says a fact that the other does not.
#[derive(Clone, Debug)]
struct Case<'a> {
    inst: Inst,
    level: Level,
    /// `rd`, `wr`, `mem`, `cnt` or `flow`.
    key: &'a str,
    fact: &'a str,
    /// Ours has it, LLVM has it not.
    ours: bool,
}

type Explains = fn(&Case<'_>) -> bool;

fn one_of(case: &Case<'_>, names: &[&str]) -> bool {
    names.iter().any(|n| case.inst.row.name.starts_with(n))
}

/// A fact of a register that both know under other names, or as other registers.
fn is_register(case: &Case<'_>) -> bool {
    matches!(case.key, "rd" | "wr")
}

/// Where we differ, and why.
const DIFFERENCES: &[(&str, Explains)] = &[
    (
        "LLVM flags EXP_CNT on every buffer and image instruction; only GFX6's stores and atomics raise it, and its own \
         wait insertion knows that",
        |c| {
            c.key == "cnt"
                && c.fact == "exp"
                && !c.ours
                && matches!(c.inst.row.enc, Enc::Mubuf | Enc::Mtbuf | Enc::Mimg)
        },
    ),
    (
        "LLVM's wait insertion, not its flags, has GDS raise EXP_CNT until the data is read (manual 4.4)",
        |c| c.key == "cnt" && c.fact == "exp" && c.ours && c.inst.row.enc == Enc::Ds,
    ),
    (
        "LLVM's wait insertion, not its flags, has messages raise LGKM_CNT (manual 4.4); it never emits S_ATC_PROBE",
        |c| c.key == "cnt" && c.fact == "lgkm" && c.ours && one_of(c, &["s_sendmsg", "s_atc_probe"]),
    ),
    ("loads to LDS raise VM_CNT alone (manual 9.3: \"only VM_CNT is used, not LGKM_CNT\")", |c| {
        c.key == "cnt"
            && c.fact == "lgkm"
            && !c.ours
            && c.inst.info(&target_of(c.level)).memory().count() == 2
    }),
    (
        "LLVM's assembler has one opcode for LDS instructions of GFX8 and GFX9, with M0 as the limit of LDS; GFX9 has no \
         limit there (its code generator uses opcodes without M0)",
        |c| c.key == "rd" && c.fact == "m0" && !c.ours && c.inst.row.enc == Enc::Ds && c.level.is_gfx9(),
    ),
    ("matrix instructions ignore EXEC (manual 7.1); LLVM lets every vector instruction read it", |c| {
        c.key == "rd" && c.fact == "exec" && !c.ours && c.inst.row.enc == Enc::Mfma
    }),
    (
        "how many registers an image address has, the text says and the encoding does not: ours is the least",
        |c| c.key == "rd" && c.inst.row.enc == Enc::Mimg && c.fact.starts_with("v"),
    ),
    ("an image atomic returns the old value if GLC is set; LLVM's assembler has one opcode for both", |c| {
        c.key == "wr" && !c.ours && c.inst.row.enc == Enc::Mimg && c.inst.row.has(flag::ATOMIC)
    }),
    ("exports and global wave sync are ordered by LLVM as if they accessed memory; S_WAKEUP is, too", |c| {
        c.key == "mem" && !c.ours && (one_of(c, &["ds_gws_", "s_wakeup"]) || c.inst.row.enc == Enc::Exp)
    }),
    (
        "forks and joins use the branch stack: MODE has its pointer, EXEC changes, and execution goes on elsewhere \
         (manual 4.6); LLVM only assembles them",
        |c| {
            c.ours
                && matches!(c.inst.row.flow, Flow::Fork | Flow::Join)
                && matches!(c.fact, "mode" | "exec" | "ends")
        },
    ),
    (
        "S_RFE goes where its operand says and, like S_TRAP, S_SETHALT, S_SETKILL and S_SETPRIO, changes STATUS; branches \
         on the debugger's conditions read it; LLVM has no STATUS",
        |c| {
            c.ours && c.fact == "status"
                || c.ours && c.key == "flow" && one_of(c, &["s_rfe"])
                || c.ours && c.key == "wr" && c.fact == "ttmp[0:1]" && one_of(c, &["s_trap"])
        },
    ),
    ("S_SETPC_B64 goes where its operand says; LLVM has it a branch, not an indirect one", |c| {
        c.ours && c.fact == "indirect" && one_of(c, &["s_setpc"])
    }),
    (
        "a half that stays (or, with ECC, becomes zero) is not read: our uses have the bits that are written; LLVM ties some of these results to a \
         source: LDS loads of 16 bits and the mix instructions",
        |c| {
            let halves = [Class::Low, Class::High];
            let kept = c.inst.row.operands.iter().any(|o| halves.contains(&o.class));
            !c.ours && c.key == "rd" && kept && (c.inst.row.enc == Enc::Ds || c.inst.row.has(flag::MIX))
        },
    ),
    (
        "V_CVT_PKACCUM_U8_F32, V_PK_FMAC_F16 and the long form of V_INTERP_P2_F32 read their destination (manual 6.6.2 and \
         12); LLVM's assembler has no source for it",
        |c| {
            c.ours
                && c.key == "rd"
                && one_of(c, &["v_cvt_pkaccum_u8_f32", "v_pk_fmac_f16", "v_interp_p2_f32"])
        },
    ),
    ("LLVM calls the end of a program a return", |c| {
        c.key == "flow" && c.fact == "return" && c.inst.row.flow == Flow::End
    }),
    ("S_SETVSKIP writes MODE, not SCC (manual 12.4); LLVM has SCC written by the whole of SOPC", |c| {
        one_of(c, &["s_setvskip"])
    }),
    ("the manual has S_QUADMASK set SCC (12.3); LLVM forgot it", |c| {
        c.ours && c.key == "wr" && c.fact == "scc" && one_of(c, &["s_quadmask"])
    }),
    ("S_CMOV, S_CMOVK and S_BITSET keep some of the old value; LLVM's assembler has no source for it", |c| {
        c.ours && c.key == "rd" && one_of(c, &["s_cmov", "s_bitset"])
    }),
    ("S_SETREG writes the bits of the field it names; LLVM lets it read and write all of MODE", |c| {
        !c.ours && c.key == "rd" && c.fact == "mode" && one_of(c, &["s_setreg"])
    }),
    (
        "a relative move's destination is a source in LLVM's assembler: the register that M0 counts from",
        |c| is_register(c) && one_of(c, &["v_movreld", "v_movrelsd", "s_movreld"]),
    ),
    (
        "registers shown as sources, by what they show: VCCZ, EXECZ and SCC, the apertures (SH_MEM_BASES), LDS_DIRECT (LDS \
         at M0)",
        |c| {
            let info = c.inst.info(&target_of(c.level));
            let mut sources = info.reads().filter_map(|u| u.role);
            let shows = sources.any(|role| (235..=254).contains(&c.inst.get(role)));
            let direct = c.inst.row.enc.is_valu() && info.memory().count() > 0;
            !c.ours && (c.fact.starts_with("src_") || c.fact == "lds_direct")
                || c.ours && c.key == "rd" && shows && !c.fact.starts_with(['v', 's'])
                || c.ours && c.key == "rd" && shows && matches!(c.fact, "vcc" | "scc" | "sh_mem_bases")
                || c.ours && c.key == "mem" && direct
        },
    ),
    ("V_INTERP_P2_F16 reads its parameters through M0 like its sisters; LLVM forgot it on GFX9", |c| {
        c.ours && c.key == "rd" && c.fact == "m0" && one_of(c, &["v_interp_p2_f16"])
    }),
    ("scratch loads to LDS read FLAT_SCRATCH as other scratch instructions do; LLVM forgot it", |c| {
        c.ours && c.key == "rd" && c.fact == "flat_scr" && c.inst.row.enc == Enc::Scratch
    }),
];

fn target_of(level: Level) -> Target {
    Target::new(target::processor(PROCESSORS[level as usize]).unwrap())
}

fn levels(text: &str) -> impl Iterator<Item = Level> + '_ {
    let number = |name: &str| Level::ALL.iter().position(|l| &l.name()[3..] == name).unwrap();
    text.split(',').flat_map(move |run| {
        let (first, last) = match (run, run.split_once('-'), run.strip_suffix('+')) {
            ("all", ..) => (0, 7),
            (_, Some((a, b)), _) => (number(a), number(b)),
            (_, _, Some(a)) => (number(a), 7),
            _ => (number(run), number(run)),
        };
        Level::ALL[first..=last].iter().copied()
    })
}

/// Our facts in the notation of `facts.tsv`.
fn ours(inst: &Inst, info: &Info, target: &Target) -> BTreeSet<(String, String)> {
    let mut out = BTreeSet::new();
    let mut add = |key: &str, fact: &str| {
        out.insert((key.to_owned(), fact.to_owned()));
    };
    let name = |u: &Use| u.reg.name(u.dwords, target).to_string().replace("flat_scratch", "flat_scr");
    for u in info.uses().iter().filter(|u| u.dwords > 0) {
        // LLVM ties a result that leaves something of the register alone to a source.
        let kept = u.writes() && u.reg.is_vector() && (u.lanes == Lanes::One || inst.form == Form::Dpp);
        if u.reads() || kept {
            add("rd", &name(u));
        }
        if u.writes() {
            add("wr", &name(u));
        }
    }
    for m in info.memory().filter(|m| m.path != Path::Export) {
        if m.kind.reads() {
            add("mem", "load");
        }
        if m.kind.writes() {
            add("mem", "store");
        }
    }
    for r in info.raises() {
        add(
            "cnt",
            match r.counter {
                Counter::Vm => "vm",
                Counter::Lgkm => "lgkm",
                Counter::Exp => "exp",
            },
        );
    }
    let flow: &[&str] = match info.flow() {
        Flow::Branch => &["branch", "ends"],
        Flow::Cond => &["conditional", "ends"],
        Flow::Jump => &["branch", "indirect", "ends"],
        Flow::Call => &["call"],
        Flow::End => &["ends"],
        Flow::Fork | Flow::Join => &["ends"],
        Flow::Next | Flow::Stop | Flow::Trap => &[],
    };
    flow.iter().for_each(|f| add("flow", f));
    out
}

#[test]
fn info_equals_llvms_view() {
    let mut explained = vec![0usize; DIFFERENCES.len()];
    let (mut cases, mut wrong) = (0, Vec::new());
    for line in FACTS.lines() {
        let [text, runs, bytes, facts] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let code: Vec<u8> =
            (0..bytes.len()).step_by(2).map(|i| u8::from_str_radix(&bytes[i..i + 2], 16).unwrap()).collect();
        let theirs: BTreeSet<(String, String)> = facts
            .split(' ')
            .filter_map(|f| f.split_once('='))
            .flat_map(|(key, list)| list.split(',').map(move |f| (key.to_owned(), f.to_owned())))
            .collect();
        for level in levels(runs) {
            let target = target_of(level);
            let inst = Decoder::new(target).decode_bytes(&code).unwrap_or_else(|e| panic!("{text}: {e:?}"));
            let ours = ours(&inst, &inst.info(&target), &target);
            cases += 1;
            for (key, fact) in ours.symmetric_difference(&theirs) {
                let ours = ours.contains(&(key.clone(), fact.clone()));
                let case = Case { inst, level, key, fact, ours };
                match DIFFERENCES.iter().position(|(_, explains)| explains(&case)) {
                    Some(n) => explained[n] += 1,
                    None => {
                        let who = if ours { "ours only" } else { "LLVM only" };
                        wrong.push(format!("{}: {text}: {key} {fact}: {who}", level.name()));
                    }
                }
            }
        }
    }
    assert!(cases > 10_000, "only {cases} cases");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    for (n, (why, _)) in explained.iter().zip(DIFFERENCES) {
        assert!(*n > 0, "explains nothing: {why}");
    }
}
