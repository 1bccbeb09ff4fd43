//! Vector memory, data share and export instructions.

use super::operand::{dec, hex, register, signed};
use super::{Invalid, Printed, Printer};
use wavemill_isa::encoding::{Field, bits};
use wavemill_isa::{Class, Enc, Inst, Level, Operand, Role, Ty, flag};

fn set(field: Field, inst: &Inst) -> bool {
    field.get(inst.bits) != 0
}

fn word(text: &[u8], on: bool, out: &mut Vec<u8>) {
    if on {
        out.push(b' ');
        out.extend_from_slice(text);
    }
}

fn number(name: &[u8], value: u32, out: &mut Vec<u8>) {
    if value != 0 {
        out.extend_from_slice(name);
        dec(value, out);
    }
}

impl Printer {
    fn acc(&self, field: Field, inst: &Inst) -> bool {
        self.level == Level::Gfx90a && set(field, inst)
    }

    pub(super) fn ds(&self, inst: &Inst, out: &mut Vec<u8>) -> Printed {
        let row = inst.row;
        let acc = self.acc(bits::DS_ACC, inst);
        let mut sep: &[u8] = b" ";
        for op in row.operands {
            out.extend_from_slice(sep);
            sep = b", ";
            // The address stays in the VGPRs proper.
            self.vgpr(acc && op.role != Role::Addr, inst.get(op.role), op.ty.dwords(), out)?;
        }
        if row.has(flag::OFFSET2) {
            number(b" offset0:", bits::DS_OFFSET0.get(inst.bits), out);
            number(b" offset1:", bits::DS_OFFSET1.get(inst.bits), out);
        } else if row.has(flag::SWIZZLE) {
            self.swizzle(bits::DS_OFFSET.get(inst.bits), out);
        } else if row.has(flag::OFFSET) {
            number(b" offset:", bits::DS_OFFSET.get(inst.bits), out);
        }
        let gds = if self.level.is_vi_plus() { bits::DS_GDS } else { bits::DS_GDS_SI };
        // gfx90a has kept only the wave-sync instructions of GDS.
        let may = row.has(flag::GDS) && self.level != Level::Gfx90a;
        word(b"gds", row.has(flag::GDS_ONLY) || may && set(gds, inst), out);
        Ok(())
    }

    pub(super) fn buffer(&self, inst: &Inst, out: &mut Vec<u8>) -> Printed {
        let row = inst.row;
        if row.operands.is_empty() {
            return Ok(());
        }
        let mtbuf = row.enc == Enc::Mtbuf;
        let vi = self.level.is_vi_plus();
        let gfx90a = self.level == Level::Gfx90a;
        let (offen, idxen) = (set(bits::BUF_OFFEN, inst), set(bits::BUF_IDXEN, inst));
        let addr64 = !vi && set(bits::BUF_ADDR64, inst);
        let lds = !mtbuf && (row.has(flag::LDS_ONLY) || set(bits::MUBUF_LDS, inst));
        if lds && !row.has(flag::LDS | flag::LDS_ONLY) || addr64 && (offen || idxen) {
            return Err(Invalid);
        }
        let tfe = !gfx90a && set(bits::BUF_TFE, inst) && (mtbuf || row.has(flag::TFE));
        let mut sep: &[u8] = b" ";
        for op in row.operands {
            if op.role == Role::Vdata && lds {
                continue;
            }
            out.extend_from_slice(sep);
            sep = b", ";
            match op.role {
                Role::Vdata => {
                    let extra = (tfe && !mtbuf) as u8;
                    let dwords = row.dwords(op, &self.target) + extra;
                    self.vgpr(self.acc(bits::BUF_ACC, inst), inst.get(op.role), dwords, out)?
                }
                Role::Vaddr => match (addr64, offen, idxen) {
                    (true, ..) | (_, true, true) => self.vgpr(false, inst.get(op.role), 2, out)?,
                    (_, false, false) => out.extend_from_slice(b"off"),
                    _ => self.vgpr(false, inst.get(op.role), 1, out)?,
                },
                Role::Srsrc => self.scalar_register(inst.get(op.role) * 4, 4, out)?,
                _ => self.soffset(inst, op, out)?,
            }
        }
        if mtbuf {
            self.buffer_format(bits::MTBUF_DFMT.get(inst.bits), bits::MTBUF_NFMT.get(inst.bits), out);
        }
        word(b"addr64", addr64, out);
        word(b"idxen", idxen, out);
        word(b"offen", offen, out);
        number(b" offset:", bits::BUF_OFFSET.get(inst.bits), out);
        word(b"lds", row.has(flag::LDS_ONLY), out);
        word(b"glc", set(bits::BUF_GLC, inst), out);
        let slc = if vi && !mtbuf { bits::MUBUF_SLC } else { bits::BUF_SLC };
        word(b"slc", set(slc, inst), out);
        word(b"scc", gfx90a && set(if mtbuf { bits::MTBUF_SCC } else { bits::MUBUF_SCC }, inst), out);
        word(b"lds", lds && !row.has(flag::LDS_ONLY), out);
        word(b"tfe", tfe && !lds, out);
        Ok(())
    }

    /// The scalar offset of a buffer instruction: a register or an inline constant.
    fn soffset(&self, inst: &Inst, op: &Operand, out: &mut Vec<u8>) -> Printed {
        let op = Operand { class: Class::NoLit, ..*op };
        self.source(inst, &op, inst.get(Role::Soffset), None, out)
    }

    pub(super) fn image(&self, inst: &Inst, out: &mut Vec<u8>) -> Printed {
        let row = inst.row;
        let gfx90a = self.level == Level::Gfx90a;
        let gfx9 = self.level.is_gfx9();
        let tfe = !gfx90a && set(bits::MIMG_TFE, inst);
        let d16 = self.level.is_vi_plus() && row.has(flag::D16) && set(bits::MIMG_D16, inst);
        let dmask = bits::MIMG_DMASK.get(inst.bits);
        let lwe = set(bits::MIMG_LWE, inst);
        let mut data = if row.has(flag::GATHER4) { 4 } else { dmask.count_ones().max(1) };
        // GFX8 keeps 16-bit components in a register each; gfx810 and GFX9 pack them.
        if d16 && self.target.packs_d16() {
            data = data.div_ceil(2);
        }
        data += tfe as u32;
        // Counts that no variant has print as LLVM's first variant: atomics have one, two or five registers (the
        // fifth counts as the status), compare-and-swap two or four, gathers two (packed), four or five.
        let least = if row.has(flag::GATHER4) { 4 } else { 1 + row.has(flag::CMPSWAP) as u32 };
        let data = match data {
            n if self.from_source => n,
            3 if row.has(flag::GATHER4) => least,
            4 if row.has(flag::CMPSWAP) => 4,
            4 if row.has(flag::ATOMIC) => 5,
            n if row.has(flag::CMPSWAP) || n > 2 && row.has(flag::ATOMIC) => least,
            n => n,
        };
        let mut sep: &[u8] = b" ";
        for op in row.operands {
            out.extend_from_slice(sep);
            sep = b", ";
            match op.role {
                Role::Vdata => {
                    let first = inst.get(op.role);
                    let data = if first + data > 256 { least } else { data };
                    self.vgpr(self.acc(bits::MIMG_ACC, inst), first, data as u8, out)?;
                }
                Role::Vaddr => {
                    let least = (row.addr.trailing_zeros() + 1) as u8;
                    let dwords = if self.image_address == 0 { least } else { self.image_address };
                    self.vgpr(false, inst.get(op.role), dwords, out)?;
                }
                Role::Srsrc => self.scalar_register(inst.get(op.role) * 4, 8, out)?,
                _ => self.scalar_register(inst.get(op.role) * 4, 4, out)?,
            }
        }
        if dmask != 0 {
            out.extend_from_slice(b" dmask:");
            hex(dmask as u64, out);
        }
        word(b"unorm", set(bits::MIMG_UNORM, inst), out);
        word(b"glc", set(bits::MIMG_GLC, inst), out);
        word(b"slc", set(bits::MIMG_SLC, inst), out);
        word(b"scc", gfx90a && set(bits::MIMG_SCC, inst), out);
        word(if gfx9 { b"a16" } else { b"r128" }, set(bits::MIMG_R128, inst), out);
        word(b"tfe", tfe, out);
        word(b"lwe", lwe, out);
        word(b"da", set(bits::MIMG_DA, inst), out);
        word(b"d16", d16, out);
        Ok(())
    }

    pub(super) fn flat(&self, inst: &Inst, out: &mut Vec<u8>) -> Printed {
        let row = inst.row;
        let gfx9 = self.level.is_gfx9();
        let gfx90a = self.level == Level::Gfx90a;
        let acc = self.acc(bits::FLAT_ACC, inst);
        let glc = set(bits::FLAT_GLC, inst);
        let lds = row.has(flag::LDS_ONLY) || gfx9 && row.has(flag::LDS) && set(bits::FLAT_LDS, inst);
        // 0x7f (GFX9) switches the scalar base off.
        let saddr = inst.row.operand(Role::Saddr).map(|o| (inst.get(o.role), o.ty));
        let saddr = saddr.filter(|&(code, _)| code != 0x7f);
        let mut sep: &[u8] = b" ";
        for op in row.operands {
            if op.role == Role::Vdst && (row.has(flag::ATOMIC) && !glc || lds) {
                continue;
            }
            out.extend_from_slice(sep);
            sep = b", ";
            match op.role {
                Role::Vaddr => match (row.enc, saddr) {
                    (Enc::Scratch, Some(_)) => out.extend_from_slice(b"off"),
                    (Enc::Global, Some(_)) => self.vgpr(false, inst.get(op.role), 1, out)?,
                    _ => self.vgpr(false, inst.get(op.role), op.ty.dwords(), out)?,
                },
                Role::Saddr => match saddr {
                    Some((code, ty)) => self.scalar_register(code, Ty::dwords(ty), out)?,
                    None => out.extend_from_slice(b"off"),
                },
                _ => self.vgpr(acc, inst.get(op.role), op.ty.dwords(), out)?,
            }
        }
        if self.level.is_vi_plus() {
            let offset = if row.enc == Enc::Flat {
                // FLAT's own offset has twelve bits (none on GFX8); the thirteenth is shown where it is set.
                bits::FLAT_OFFSET13.get(inst.bits) as i32
            } else {
                (bits::FLAT_OFFSET13.get(inst.bits) << 19) as i32 >> 19
            };
            if offset != 0 {
                out.extend_from_slice(b" offset:");
                signed(offset, out);
            }
        }
        word(b"glc", glc, out);
        word(b"slc", set(bits::FLAT_SLC, inst), out);
        word(b"scc", gfx90a && set(bits::FLAT_SCC, inst), out);
        word(b"lds", lds, out);
        Ok(())
    }

    pub(super) fn export(&self, inst: &Inst, out: &mut Vec<u8>) -> Printed {
        let en = bits::EXP_EN.get(inst.bits);
        let compr = set(bits::EXP_COMPR, inst);
        out.push(b' ');
        self.export_target(inst.get(Role::Tgt), out);
        let sources = [Role::Vsrc0, Role::Vsrc1, Role::Vsrc2, Role::Vsrc3];
        for n in 0..4 {
            out.extend_from_slice(if n == 0 { b" " } else { b", " });
            // Compressed exports hold two components in a register.
            let role = sources[if compr { n / 2 } else { n }];
            if en >> n & 1 != 0 {
                register("v", inst.get(role), 1, out);
            } else {
                out.extend_from_slice(b"off");
            }
        }
        word(b"done", set(bits::EXP_DONE, inst), out);
        word(b"compr", compr, out);
        word(b"vm", set(bits::EXP_VM, inst), out);
        Ok(())
    }
}
