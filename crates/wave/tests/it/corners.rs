//! Corners that every instruction of a family has in common: no active lanes, resources of zeros, results in registers that
//! a wave does not have. They say little about
//! what an instruction does, and are no evidence of it: the waves have no witness.

use crate::harness::{CPUS, Machine, Random, target};
use wavemill_isa::encoding::bits;
use wavemill_isa::row::Access;
use wavemill_isa::{Enc, Form, Inst, Level, ROWS, Role, Row, flag};
use wavemill_wave::{Event, Simd, Wave};

/// An instruction as data for the assembler.
fn words(inst: &Inst) -> String {
    match inst.len {
        4 => format!(".long {:#x}", inst.bits as u32),
        _ => format!(".long {:#x}, {:#x}", inst.bits as u32, inst.bits >> 32),
    }
}

/// Everything an instruction could have changed.
fn state(machine: &Machine, wave: &Wave) -> (Vec<[u32; 64]>, Vec<u32>, bool, Vec<u8>) {
    let vgprs = (0..192).filter_map(|r| wave.vgpr(r).copied()).collect();
    let sgprs = (0..128).map(|c| wave.sgpr(c)).collect();
    (vgprs, sgprs, wave.scc, machine.group.lds.snapshot())
}

/// Without active lanes, a vector instruction does nothing, wherever its addresses and resources point.
#[test]
fn no_lanes_no_effect() {
    let mut random = Random(81);
    for cpu in CPUS {
        let level = target(cpu).level();
        let mut seen = 0;
        for row in ROWS.iter().filter(|r| r.opcode_at(level).is_some() && r.enc as u8 > Enc::Mfma as u8) {
            // These take their turn, whatever the lanes do.
            if row.name.contains("_gws_") || row.name == "ds_ordered_count" {
                continue;
            }
            let mut inst = Inst::new(row, Form::Base, level);
            for operand in row.operands {
                let (role, register) = match operand.role {
                    Role::Srsrc => (Role::Srsrc, 4),
                    Role::Ssamp => (Role::Ssamp, 4),
                    Role::Soffset => (Role::Soffset, 128),
                    Role::Vdst => (Role::Vdst, 40),
                    Role::Vdata => (Role::Vdata, 20),
                    Role::Saddr => (Role::Saddr, 8),
                    role => (role, 0),
                };
                inst.set(role, register);
            }
            if row.enc == Enc::Mimg {
                inst.put(bits::MIMG_DMASK, 1);
            }
            let machine = Machine::new(cpu, Simd::detect(), &words(&inst), 64);
            let mut wave = machine.wave();
            wave.observer = None;
            (0..102).for_each(|s| wave.set_sgpr(s, random.edgy(32) as u32));
            for r in 0..192 {
                let Some(lanes) = wave.vgpr_mut(r) else { continue };
                lanes.iter_mut().for_each(|l| *l = random.edgy(32) as u32);
            }
            wave.set_sgpr(124, !0);
            wave.set_exec(0);
            let before = state(&machine, &wave);
            assert_eq!(machine.run(&mut wave), Event::End, "{} on {cpu}", row.name);
            assert!(state(&machine, &wave) == before, "{} on {cpu}", row.name);
            seen += 1;
        }
        assert!(seen > 250, "{cpu}: {seen}");
    }
}

/// Whether a buffer instruction is about caches, or moves data to or from LDS.
fn is_plain(row: &Row) -> bool {
    row.operand(Role::Vdata).is_some() && !row.has(flag::LDS_ONLY)
}

/// Through a resource of zeros (manual 9.1.8), loads and atomics that return something give zeros, and nothing is stored.
#[test]
fn null_buffers() {
    for cpu in CPUS {
        let level = target(cpu).level();
        let mut seen = 0;
        let buffers = |r: &&Row| matches!(r.enc, Enc::Mubuf | Enc::Mtbuf) && is_plain(r);
        for row in ROWS.iter().filter(|r| r.opcode_at(level).is_some()).filter(buffers) {
            let stores = row.operand(Role::Vdata).is_some_and(|o| o.access == Access::Read);
            let atomic = row.has(flag::ATOMIC);
            for (offen, idxen) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let mut inst = Inst::new(row, Form::Base, level);
                for (role, register) in
                    [(Role::Vaddr, 0), (Role::Vdata, 20), (Role::Srsrc, 4), (Role::Soffset, 128)]
                {
                    inst.set(role, register);
                }
                inst.put(bits::BUF_OFFEN, offen);
                inst.put(bits::BUF_IDXEN, idxen);
                if row.enc == Enc::Mtbuf {
                    // 32_32_32_32, float.
                    inst.put(bits::MTBUF_DFMT, 14);
                    inst.put(bits::MTBUF_NFMT, 7);
                }
                if atomic {
                    inst.put(bits::BUF_GLC, 1);
                }
                let machine = Machine::new(cpu, Simd::detect(), &words(&inst), 64);
                let mut wave = machine.wave();
                wave.observer = None;
                (4..8).for_each(|s| wave.set_sgpr(s, 0));
                for r in 20..28 {
                    *wave.vgpr_mut(r).unwrap() = [0x5a5a_a5a5; 64];
                }
                *wave.vgpr_mut(0).unwrap() = std::array::from_fn(|l| l as u32 * 16);
                let exec = 0x7fff_ffff_ffff_fff0;
                wave.set_exec(exec);
                let at = format!("{} on {cpu}, offen {offen}, idxen {idxen}", row.name);
                assert_eq!(machine.run(&mut wave), Event::End, "{at}");
                let first = wave.vgpr(20).unwrap();
                for (lane, got) in first.iter().enumerate() {
                    let want = match () {
                        _ if stores || exec >> lane & 1 == 0 => 0x5a5a_a5a5,
                        // The other half is lost where there is ECC (manual 9.1.6).
                        _ if row.name.contains("_d16_hi") && level >= Level::Gfx906 => 0,
                        _ if row.name.contains("_d16_hi") => 0xa5a5,
                        // The upper half is for other tests.
                        _ if row.name.contains("d16") => got & 0xffff_0000,
                        _ => 0,
                    };
                    assert_eq!(*got, want, "{at} lane {lane}");
                }
                seen += 1;
            }
        }
        assert!(seen > 150, "{cpu}: {seen}");
    }
}

/// Images without a resource: the same, for loads, samples, gathers, atomics and questions about them.
#[test]
fn null_images() {
    for cpu in CPUS {
        let level = target(cpu).level();
        let mut seen = 0;
        for row in ROWS.iter().filter(|r| r.enc == Enc::Mimg && r.opcode_at(level).is_some()) {
            let stores = row.operand(Role::Vdata).is_some_and(|o| o.access == Access::Read);
            let mut inst = Inst::new(row, Form::Base, level);
            for (role, register) in [(Role::Vaddr, 0), (Role::Vdata, 20), (Role::Srsrc, 8)] {
                inst.set(role, register);
            }
            if row.operand(Role::Ssamp).is_some() {
                inst.set(Role::Ssamp, 16);
            }
            inst.put(bits::MIMG_DMASK, if row.name.contains("cmpswap") { 3 } else { 1 });
            inst.put(bits::MIMG_GLC, row.has(flag::ATOMIC).into());
            let machine = Machine::new(cpu, Simd::detect(), &words(&inst), 64);
            let mut wave = machine.wave();
            wave.observer = None;
            (8..20).for_each(|s| wave.set_sgpr(s, 0));
            for r in 0..16 {
                *wave.vgpr_mut(r).unwrap() = std::array::from_fn(|l| l as u32);
            }
            *wave.vgpr_mut(20).unwrap() = [0x5a5a_a5a5; 64];
            let exec = 0x7fff_ffff_ffff_fff0;
            wave.set_exec(exec);
            assert_eq!(machine.run(&mut wave), Event::End, "{} on {cpu}", row.name);
            for (lane, got) in wave.vgpr(20).unwrap().iter().enumerate() {
                let kept = stores || exec >> lane & 1 == 0;
                assert_eq!(*got, if kept { 0x5a5a_a5a5 } else { 0 }, "{} on {cpu}, lane {lane}", row.name);
            }
            seen += 1;
        }
        assert!(seen > 20, "{cpu}: {seen}");
    }
}

/// A memory instruction that returns something to a register beyond the wave's 128 is issued as if no lane were active
/// (manual 3.6.1): every register of the result counts, and atomics leave memory alone.
#[test]
fn results_beyond_the_registers() {
    for cpu in CPUS {
        let level = target(cpu).level();
        let mut seen = 0;
        for row in ROWS.iter().filter(|r| r.opcode_at(level).is_some() && r.enc as u8 > Enc::Mfma as u8) {
            let written = |o: &&wavemill_isa::Operand| o.access != Access::Read;
            let result =
                row.operands.iter().filter(written).find(|o| matches!(o.role, Role::Vdst | Role::Vdata));
            let Some(result) = result.filter(|_| !row.has(flag::LDS_ONLY)) else { continue };
            if row.name == "ds_ordered_count" || row.has(flag::NORET) {
                continue;
            }
            // How many registers halves and images fill is not the table's to say: their first one is beyond.
            let first = row.enc == Enc::Mimg || row.name.contains("d16");
            let dwords = if first { 1 } else { result.ty.dwords() as u32 };
            let mut inst = Inst::new(row, Form::Base, level);
            for operand in row.operands {
                let register = match operand.role {
                    role if role == result.role => 129 - dwords,
                    Role::Vdata | Role::Data0 | Role::Data1 => 20,
                    Role::Srsrc => 4,
                    Role::Soffset => 128,
                    Role::Saddr => 0x7f,
                    _ => 0,
                };
                inst.set(operand.role, register);
            }
            let atomic = row.has(flag::ATOMIC);
            match row.enc {
                Enc::Mubuf => inst.put(bits::BUF_GLC, atomic.into()),
                Enc::Mtbuf => {
                    inst.put(bits::MTBUF_DFMT, 14);
                    inst.put(bits::MTBUF_NFMT, 7);
                }
                Enc::Mimg => {
                    inst.put(bits::MIMG_DMASK, if row.name.contains("cmpswap") { 3 } else { 1 });
                    inst.put(bits::MIMG_GLC, atomic.into());
                }
                Enc::Flat | Enc::Global => inst.put(bits::FLAT_GLC, atomic.into()),
                _ => {}
            }
            let mut machine = Machine::new(cpu, Simd::detect(), &words(&inst), 256);
            let base = machine.buffer(&[0x11; 1 << 13]);
            // SAFETY: LDS has 256 bytes, and no wave runs.
            unsafe { machine.group.lds.base().write_bytes(0x22, 256) };
            let mut wave = machine.wave();
            wave.observer = None;
            for r in 2..128 {
                wave.vgpr_mut(r).unwrap().fill(0x3333_3333);
            }
            if matches!(row.enc, Enc::Flat | Enc::Global) {
                wave.vgpr_mut(0).unwrap().fill(base as u32);
                wave.vgpr_mut(1).unwrap().fill((base >> 32) as u32);
            }
            if row.enc != Enc::Mimg {
                wave.set_sgpr64(4, base);
                wave.set_sgpr(6, 256);
                wave.set_sgpr(7, 0x0002_4fac);
            }
            wave.set_flat_scratch(base);
            wave.set_sgpr(124, 256);
            let before = state(&machine, &wave);
            let at = format!("{} on {cpu}", row.name);
            assert_eq!(machine.run(&mut wave), Event::End, "{at}");
            assert!(state(&machine, &wave) == before, "{at}");
            assert!(machine.read(base, 1 << 13).iter().all(|b| *b == 0x11), "{at}");
            seen += 1;
        }
        assert!(seen > 100, "{cpu}: {seen}");
    }
}

/// The same for arithmetic: no result is written, carries and scaled-operand masks included.
#[test]
fn arithmetic_beyond_the_registers() {
    for cpu in CPUS {
        let level = target(cpu).level();
        let mut seen = 0;
        for row in ROWS.iter().filter(|r| r.enc.is_valu() && r.enc != Enc::Mfma) {
            let Some(result) = row.operand(Role::Vdst) else { continue };
            if row.name.contains("lane_b32") || row.name.contains("accvgpr") || row.enc == Enc::Vintrp {
                continue;
            }
            for form in [Form::Base, Form::Vop3, Form::Sdwa, Form::Dpp] {
                if !row.has_form(form, level) {
                    continue;
                }
                let mut inst = Inst::new(row, form, level);
                for operand in row.operands.iter().filter(|o| o.role.source_index().is_some()) {
                    let vgpr = inst.field(operand.role).width == 9;
                    inst.set(operand.role, if vgpr { 256 + 2 } else { 2 });
                }
                if row.operand(Role::K).is_some() {
                    inst.len = 8;
                }
                if form == Form::Dpp {
                    inst.put(bits::DPP_ROW, 15);
                    inst.put(bits::DPP_BANK, 15);
                }
                inst.set(Role::Vdst, 129 - result.ty.dwords() as u32);
                let machine = Machine::new(cpu, Simd::detect(), &words(&inst), 0);
                let mut wave = machine.wave();
                wave.observer = None;
                for r in 0..128 {
                    wave.vgpr_mut(r).unwrap().fill(0x4049_0fdb + r as u32);
                }
                wave.set_vcc(0x5555_aaaa_5555_aaaa);
                wave.set_sgpr(124, 0);
                let before = state(&machine, &wave);
                let at = format!("{} on {cpu} as {form:?}", row.name);
                assert_eq!(machine.run(&mut wave), Event::End, "{at}");
                assert!(state(&machine, &wave) == before, "{at}");
                seen += 1;
            }
        }
        assert!(seen > 200, "{cpu}: {seen}");
    }
}
