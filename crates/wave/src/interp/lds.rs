//! Data share: loads, stores and atomics on LDS and GDS, the permutes that only borrow the crossbar, global wave sync, ordered
//! counts.

use super::Exec;
use crate::engine::{Event, FaultKind};
use crate::group::Global;
use crate::guest;
use crate::program::{Inst, Src};
use wavemill_isa::encoding::bits;
use wavemill_isa::{Level, Op, Role, flag};
use wavemill_sem::atomic::{Atomic, Unit};
use wavemill_sem::gws::Request;
use wavemill_sem::memory::{Access, Extend, src2, src2_addresses, swizzle_source};
use wavemill_sem::ordered::Count;

/// The part of LDS or GDS an instruction may touch.
#[derive(Clone, Copy)]
struct Share {
    base: *mut u8,
    limit: u32,
}

impl Share {
    /// The host address of bytes, if all of them exist.
    #[inline]
    fn at(self, address: u32, bytes: u32) -> Option<*mut u8> {
        let end = address.checked_add(bytes)?;
        // SAFETY: inside the allocation.
        (end <= self.limit).then(|| unsafe { self.base.add(address as usize) })
    }

    /// Whether an atomic can be done there. LDS is aligned itself; GDS begins where M0 says.
    #[inline]
    fn aligned(self, address: u32, bytes: u8) -> bool {
        self.base.addr().wrapping_add(address as usize).is_multiple_of(usize::from(bytes))
    }
}

impl Exec<'_> {
    /// What an instruction may touch. LDS: all of it on GFX9, at most M0 bytes before. GDS: M0 has the first byte in its
    /// upper half and the number of bytes in its lower one.
    fn share(&self, gds: bool) -> Share {
        let m0 = self.wave.m0();
        if !gds {
            let lds = &self.group.lds;
            let limit = if self.wave.level.is_gfx9() { lds.len() } else { lds.len().min(m0) };
            return Share { base: lds.base(), limit };
        }
        // In whole dwords.
        let (start, size) = (m0 >> 16 & !3, m0 & 0xffff);
        // SAFETY: GDS has 64 KiB, and the start sixteen bits.
        let base = unsafe { self.group.global.gds().base().add(start as usize) };
        Share { base, limit: size.min(Global::GDS_BYTES - start) }
    }

    /// The host address of LDS bytes, if all of them exist. Out of range reads give zero, writes nothing (manual 3.6.1).
    #[inline]
    pub(super) fn lds_at(&self, address: u32, bytes: u32, limit: u32) -> Option<*mut u8> {
        let end = address.checked_add(bytes)?;
        // SAFETY: inside the allocation.
        (end <= limit).then(|| unsafe { self.group.lds.base().add(address as usize) })
    }

    /// LDS_DIRECT: one value for all lanes, by M0 (manual 11.3.1).
    pub(super) fn lds_direct(&self) -> u32 {
        let m0 = self.wave.m0();
        let (bytes, signed) = match m0 >> 16 & 7 {
            0 => (1, false),
            1 => (2, false),
            4 => (1, true),
            5 => (2, true),
            _ => (4, false),
        };
        let Some(p) = self.lds_at(m0 & 0xffff, bytes, self.group.lds.len()) else { return 0 };
        // SAFETY: checked.
        let value = unsafe { guest::read(p, bytes as u8) };
        let extend = if signed { Extend::Sign } else { Extend::Zero };
        extend.apply(value, bytes as u8, 0)
    }

    #[inline]
    pub(super) fn lane(&self, src: Src, register: usize, lane: usize) -> u32 {
        match src {
            Src::Vgpr(r) => self.wave.vgprs[r as usize + register].0[lane],
            _ => 0,
        }
    }

    #[inline]
    pub(super) fn lane64(&self, src: Src, register: usize, lane: usize) -> u64 {
        self.lane(src, register, lane) as u64 | (self.lane(src, register + 1, lane) as u64) << 32
    }

    /// A datum of 4 or 8 bytes.
    #[inline]
    pub(super) fn datum(&self, src: Src, register: usize, lane: usize, bytes: u8) -> u64 {
        if bytes == 4 { self.lane(src, register, lane) as u64 } else { self.lane64(src, register, lane) }
    }

    #[inline]
    pub(super) fn set_lane(&mut self, register: usize, lane: usize, value: u32) {
        self.wave.vgprs[register].0[lane] = value;
    }

    pub(super) fn set_datum(&mut self, register: usize, lane: usize, bytes: u8, value: u64) {
        self.set_lane(register, lane, value as u32);
        if bytes == 8 {
            self.set_lane(register + 1, lane, (value >> 32) as u32);
        }
    }

    pub(super) fn lds(&mut self, inst: &Inst) -> Result<(), Event> {
        if self.skips_vector() {
            return Ok(());
        }
        let word = inst.bits;
        let gds = if self.wave.level.is_vi_plus() { bits::DS_GDS } else { bits::DS_GDS_SI };
        let gds = gds.get(word) != 0 || inst.row.has(flag::GDS_ONLY);
        // gfx90a has global wave sync, but no global data share.
        if gds && self.wave.level == Level::Gfx90a {
            return Err(self.fault(FaultKind::Illegal { word: word as u32 }, 0, self.pc(inst), 0));
        }
        let exec = self.wave.exec();
        let offset = bits::DS_OFFSET.get(word);
        match inst.op {
            Op::ds_nop => return Ok(()),
            Op::ds_swizzle_b32 => {
                let level = self.wave.level();
                self.permute(inst, exec, |lane, _| swizzle_source(lane, offset, level));
                return Ok(());
            }
            Op::ds_bpermute_b32 => {
                let addresses = self.addresses(inst);
                // The data is DATA0; a swizzle has it where others have the address.
                let moved = Inst { src: [inst.src[1], Src::None, Src::None], ..*inst };
                self.permute(&moved, exec, |lane, _| {
                    (addresses[lane as usize].wrapping_add(offset) / 4) & 63
                });
                return Ok(());
            }
            Op::ds_permute_b32 => {
                let mut out = [0; 64];
                for lane in (0..64).filter(|l| exec >> l & 1 != 0) {
                    let to = (self.lane(inst.src[0], 0, lane).wrapping_add(offset) / 4) & 63;
                    out[to as usize] = self.lane(inst.src[1], 0, lane);
                }
                for lane in (0..64).filter(|l| exec >> l & 1 != 0) {
                    self.set_lane(inst.dst as usize, lane, out[lane]);
                }
                return Ok(());
            }
            _ => {}
        }
        let share = self.share(gds);
        match (inst.access, src2(inst.op)) {
            (Some(access), _) => self.lds_access(inst, access, exec, offset, share),
            (None, Some((op, bytes))) => self.lds_src2(inst, op, bytes, exec, share),
            (None, None) => {
                self.lds_special(inst, exec, offset, share, gds);
                Ok(())
            }
        }
    }

    /// Every lane's address operand.
    fn addresses(&self, inst: &Inst) -> [u32; 64] {
        match inst.src[0] {
            Src::Vgpr(r) => self.wave.vgprs[r as usize].0,
            _ => [0; 64],
        }
    }

    /// Each active lane gets source 0 of the lane `from` names, zero if that is inactive.
    fn permute(&mut self, inst: &Inst, exec: u64, from: impl Fn(u32, u64) -> u32) {
        let source = self.addresses(inst);
        for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
            let s = from(lane as u32, exec);
            let value = if exec >> s & 1 != 0 { source[s as usize] } else { 0 };
            self.set_lane(inst.dst as usize, lane, value);
        }
    }

    fn lds_access(
        &mut self,
        inst: &Inst,
        access: Access,
        exec: u64,
        offset: u32,
        share: Share,
    ) -> Result<(), Event> {
        if exec == 0 || self.quick_share(inst, access, exec, offset, (share.base, share.limit)) {
            return Ok(());
        }
        let addresses = self.addresses(inst);
        let returns = inst.row.operand(Role::Vdst).is_some();
        let mode = self.mode;
        for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
            let address = addresses[lane].wrapping_add(offset);
            match access {
                Access::Load { bytes, extend } => {
                    let small = bytes.min(4);
                    for i in 0..bytes.div_ceil(4) as u32 {
                        let p = share.at(address.wrapping_add(4 * i), small as u32);
                        // SAFETY: checked.
                        let value = p.map_or(0, |p| unsafe { guest::read(p, small) });
                        let register = inst.dst as usize + i as usize;
                        let old = self.wave.vgprs[register].0[lane];
                        self.set_lane(register, lane, extend.apply(value, small, old));
                    }
                }
                Access::Store { bytes, high } => {
                    let small = bytes.min(4);
                    for i in 0..bytes.div_ceil(4) as u32 {
                        let value = self.lane(inst.src[1], i as usize, lane) >> if high { 16 } else { 0 };
                        if let Some(p) = share.at(address.wrapping_add(4 * i), small as u32) {
                            // SAFETY: checked.
                            unsafe { guest::write(p, small, value) };
                        }
                    }
                }
                Access::Atomic { op, bytes } => {
                    let mut new = self.datum(inst.src[1], 0, lane, bytes);
                    let mut second = self.datum(inst.src[2], 0, lane, bytes);
                    // LDS compares with the first datum and stores the second (manual 12.12, DS_CMPST_B32).
                    if matches!(op, Atomic::CmpSwap | Atomic::CmpSwapF) {
                        (new, second) = (second, new);
                    }
                    if !share.aligned(address, bytes) {
                        let kind = FaultKind::Misaligned { bytes: bytes as u32 };
                        return Err(self.fault(kind, 1 << lane, self.pc(inst), address as u64));
                    }
                    let old = match share.at(address, bytes as u32) {
                        // SAFETY: checked and aligned (LDS itself is).
                        Some(p) => unsafe {
                            guest::update(p, bytes, |old| {
                                op.apply(old, new, second, bytes, Unit::Share(&mode))
                            })
                        },
                        None => 0,
                    };
                    if returns {
                        self.set_datum(inst.dst as usize, lane, bytes, old);
                    }
                }
            }
        }
        Ok(())
    }

    /// Two addresses per lane, thread-relative addresses, append and consume.
    fn lds_special(&mut self, inst: &Inst, exec: u64, offset: u32, share: Share, gds: bool) {
        let (offset0, offset1) = (bits::DS_OFFSET0.get(inst.bits), bits::DS_OFFSET1.get(inst.bits));
        let (bytes, step, kind) = match inst.op {
            Op::ds_read2_b32 => (4u8, 4, 'r'),
            Op::ds_read2st64_b32 => (4, 256, 'r'),
            Op::ds_read2_b64 => (8, 8, 'r'),
            Op::ds_read2st64_b64 => (8, 512, 'r'),
            Op::ds_write2_b32 => (4, 4, 'w'),
            Op::ds_write2st64_b32 => (4, 256, 'w'),
            Op::ds_write2_b64 => (8, 8, 'w'),
            Op::ds_write2st64_b64 => (8, 512, 'w'),
            Op::ds_wrxchg2_rtn_b32 => (4, 4, 'x'),
            Op::ds_wrxchg2st64_rtn_b32 => (4, 256, 'x'),
            Op::ds_wrxchg2_rtn_b64 => (8, 8, 'x'),
            Op::ds_wrxchg2st64_rtn_b64 => (8, 512, 'x'),
            _ => return self.lds_rare(inst, exec, offset, share, gds),
        };
        let quick = ((bytes, kind == 'w'), [offset0 * step, offset1 * step], (share.base, share.limit));
        if exec == 0 || kind != 'x' && self.quick_share2(inst, quick.0, exec, quick.1, quick.2) {
            return;
        }
        let addresses = self.addresses(inst);
        let words = bytes as usize / 4;
        for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
            let mut results = [0u64; 2];
            for (i, offset) in [offset0, offset1].into_iter().enumerate() {
                let address = addresses[lane].wrapping_add(offset * step);
                let p = share.at(address, bytes as u32);
                let data = self.datum(inst.src[1 + i], 0, lane, bytes);
                let Some(p) = p else { continue };
                // SAFETY: checked; eight bytes are two dwords.
                unsafe {
                    if kind != 'w' {
                        for w in 0..words {
                            results[i] |= (guest::read(p.add(4 * w), 4) as u64) << (32 * w);
                        }
                    }
                    if kind != 'r' {
                        for w in 0..words {
                            guest::write(p.add(4 * w), 4, (data >> (32 * w)) as u32);
                        }
                    }
                }
            }
            if kind != 'w' {
                for (i, value) in results.into_iter().enumerate() {
                    self.set_datum(inst.dst as usize + i * words, lane, bytes, value);
                }
            }
        }
    }

    fn lds_rare(&mut self, inst: &Inst, exec: u64, offset: u32, share: Share, gds: bool) {
        let m0 = self.wave.m0();
        // M0 is a base for these in LDS, which its lower half does not limit.
        let whole =
            if gds { share } else { Share { base: self.group.lds.base(), limit: self.group.lds.len() } };
        match inst.op {
            Op::ds_read_addtid_b32 | Op::ds_write_addtid_b32 => {
                for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
                    let base = if gds { 0 } else { m0 & 0xffff };
                    let p = whole.at(offset.wrapping_add(base).wrapping_add(4 * lane as u32), 4);
                    if inst.op == Op::ds_read_addtid_b32 {
                        // SAFETY: checked.
                        let value = p.map_or(0, |p| unsafe { guest::read(p, 4) });
                        self.set_lane(inst.dst as usize, lane, value);
                    } else if let Some(p) = p {
                        // SAFETY: checked.
                        unsafe { guest::write(p, 4, self.lane(inst.src[1], 0, lane)) };
                    }
                }
            }
            // Bit 31 of a datum says whether its other bits are stored.
            Op::ds_condxchg32_rtn_b64 => {
                let addresses = self.addresses(inst);
                for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
                    let address = addresses[lane].wrapping_add(offset) & !7;
                    for w in 0..2 {
                        let data = self.lane(inst.src[1], w, lane);
                        let p = share.at(address + 4 * w as u32, 4);
                        // SAFETY: checked and aligned.
                        let old = p.map_or(0, |p| unsafe {
                            guest::update(p, 4, |old| {
                                if data >> 31 != 0 { (data & 0x7fff_ffff) as u64 } else { old }
                            })
                        });
                        self.set_lane(inst.dst as usize + w, lane, old as u32);
                    }
                }
            }
            // One count for the wave: all active lanes get the old value.
            Op::ds_append | Op::ds_consume => {
                let count = exec.count_ones();
                // Compilers put LDS's pointer into M0 on GFX9 (LLVM's __builtin_amdgcn_ds_append); before, M0 bounds LDS,
                // and ACO leaves it at -1 for shared counters: only the offset is an address.
                let (base, area) = match self.wave.level.is_gfx9() {
                    true if !gds => (m0 & 0xffff, whole),
                    _ => (0, share),
                };
                let p = area.at(base.wrapping_add(offset) & !3, 4);
                let add = inst.op == Op::ds_append;
                // SAFETY: checked and aligned.
                let old = p.map_or(0, |p| unsafe {
                    guest::update(p, 4, |old| {
                        let old = old as u32;
                        (if add { old.wrapping_add(count) } else { old.wrapping_sub(count) }) as u64
                    })
                });
                for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
                    self.set_lane(inst.dst as usize, lane, old as u32);
                }
            }
            _ => {}
        }
    }

    /// Both operands in memory.
    fn lds_src2(&mut self, inst: &Inst, op: Atomic, bytes: u8, exec: u64, share: Share) -> Result<(), Event> {
        let addresses = self.addresses(inst);
        let mode = self.mode;
        for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
            let (to, from) = src2_addresses(addresses[lane], bits::DS_OFFSET.get(inst.bits));
            if !share.aligned(to, bytes) {
                let kind = FaultKind::Misaligned { bytes: bytes as u32 };
                return Err(self.fault(kind, 1 << lane, self.pc(inst), to as u64));
            }
            // SAFETY: checked, in two halves if there are two.
            let read = |at: u32| share.at(at, 4).map_or(0, |p| unsafe { guest::read(p, 4) }) as u64;
            let second = if bytes == 8 { read(from.wrapping_add(4)) << 32 } else { 0 };
            let data = read(from) | second;
            if let Some(p) = share.at(to, bytes as u32) {
                // SAFETY: checked and aligned.
                unsafe { guest::update(p, bytes, |old| op.apply(old, data, 0, bytes, Unit::Share(&mode))) };
            }
        }
        Ok(())
    }

    /// Global wave sync and ordered counts. False if the wave has to wait: it comes back to the instruction later.
    pub(super) fn gws(&mut self, inst: &Inst) -> bool {
        if self.skips_vector() {
            return true;
        }
        let Some(request) = Request::of(inst.op) else { return self.ordered_count(inst) };
        // Six bits each of M0 and the instruction name the resource; the first active lane has the datum (lane 0 if none).
        let id = (self.wave.m0() >> 16).wrapping_add(bits::DS_OFFSET0.get(inst.bits));
        let lane = self.wave.exec().trailing_zeros() as usize & 63;
        let datum = self.lane(inst.src[1], 0, lane);
        let ticket = match self.wave.ticket {
            Some((_, t)) => self.group.global.sync(id, |r| if r.leave(t) { None } else { Some(t) }),
            None => self.group.global.sync(id, |r| r.arrive(request, datum)),
        };
        self.wave.ticket = ticket.map(|t| (id, t));
        self.wave.ticket.is_none()
    }

    /// A count in the order of the dispatch's waves, whatever number M0 gives the wave; at once where nobody keeps the
    /// order. The first active lane has the datum (lane 0 if none): the instruction takes its turn without any, too.
    fn ordered_count(&mut self, inst: &Inst) -> bool {
        let count = Count::of(bits::DS_OFFSET.get(inst.bits));
        let place = self.wave.place;
        if let Some(order) = &self.group.order
            && !order.may_count(place, count)
        {
            self.wave.turn = Some(count.counter);
            return false;
        }
        self.wave.turn = None;
        let exec = self.wave.exec();
        let data = self.lane(inst.src[0], 0, exec.trailing_zeros() as usize & 63);
        // The lower half of M0 is no size here.
        let start = self.wave.m0() >> 16 & !3;
        // SAFETY: GDS has 64 KiB, and the start sixteen bits.
        let base = unsafe { self.group.global.gds().base().add(start as usize) };
        let share = Share { base, limit: Global::GDS_BYTES - start };
        // SAFETY: checked; GDS, the start and counters are aligned.
        let old = share.at(count.address(), 4).map_or(0, |p| unsafe {
            guest::update(p, 4, |old| if count.swap { data } else { (old as u32).wrapping_add(data) }.into())
        });
        for lane in (0..64usize).filter(|l| exec >> l & 1 != 0) {
            self.set_lane(inst.dst as usize, lane, old as u32);
        }
        if let Some(order) = &self.group.order {
            order.counted(place, count);
        }
        true
    }
}
