//! LDS instructions that exchange two numbers of each lane: sixteen lanes at a time where these lie side by side, else lane by
//! lane. Nobody else has a work-group's LDS meanwhile.

use super::Exec;
use super::groups::{Registers, get, put};
use super::quick::each;
use crate::guest;
use crate::program::{Inst, Src};
use crate::simd::V16;
use wavemill_sem::share;

/// What all lanes exchange.
#[derive(Clone, Copy)]
pub(crate) struct Exchange {
    /// Where numbers of all lanes lie side by side: one place, or two that are the same or do not overlap, and then in order.
    pub places: [Option<*mut u8>; 2],
    /// A lane's bytes in a place: 4, 8 or 16.
    pub bytes: u8,
    /// Registers of each place: what is stored.
    pub data: [Registers; 2],
    /// What was there.
    pub old: [Registers; 2],
    /// DS_CONDXCHG32, with eight bytes.
    pub conditional: bool,
}

/// Exchanges them.
///
/// # Safety
/// Numbers must be readable and writable; registers must be there, aligned.
#[inline(always)]
pub(crate) unsafe fn exchange<V: V16>(x: &Exchange) {
    // SAFETY: the caller's promise.
    unsafe {
        match (x.conditional, x.bytes) {
            (true, _) => all::<V, 2>(x, |old, data| {
                let (stores, value) = share::conditional_exchange(data);
                V::select(stores, value, old)
            }),
            (_, 4) => all::<V, 1>(x, |_, data| data),
            (_, 8) => all::<V, 2>(x, |_, data| data),
            _ => all::<V, 4>(x, |_, data| data),
        }
    }
}

/// Numbers of so many dwords; `new` is what becomes of one.
///
/// # Safety
/// As for [`exchange`].
#[inline(always)]
unsafe fn all<V: V16, const N: usize>(x: &Exchange, new: impl Fn(V, V) -> V) {
    for c in 0..4 {
        let mut old = [[V::splat(0); N]; 2];
        // SAFETY: the caller's promise; registers are read before any of them is written.
        unsafe {
            for ((place, data), old) in x.places.iter().zip(&x.data).zip(&mut old) {
                let Some(place) = place else { continue };
                let p = place.add(64 * N * c);
                *old = V::load_groups::<N>(p);
                let data: [V; N] = get(data, c);
                let mut stored = data;
                for ((stored, old), data) in stored.iter_mut().zip(*old).zip(data) {
                    *stored = new(old, data);
                }
                V::store_groups(stored, p);
            }
            for ((place, old), to) in x.places.iter().zip(old).zip(&x.old) {
                if place.is_some() {
                    put(old, to, c);
                }
            }
        }
    }
}

impl Exec<'_> {
    /// Registers from one on, as many as an access may have.
    fn registers_from(&mut self, first: u16) -> Registers {
        let file = self.run.wave.vgprs.as_mut_ptr();
        std::array::from_fn(|i| file.wrapping_add(first as usize + i).cast())
    }

    /// Exchanges two numbers of each lane with LDS whose first `limit` bytes exist. False: not done.
    pub(super) fn quick_exchange(
        &mut self,
        inst: &Inst,
        bytes: u8,
        exec: u64,
        offsets2: [u32; 2],
        (base, limit): (*mut u8, u32),
    ) -> bool {
        let (Src::Vgpr(address), Src::Vgpr(first), Src::Vgpr(second)) =
            (inst.src[0], inst.src[1], inst.src[2])
        else {
            return false;
        };
        let Some(span) = self.span(address, false, exec, bytes) else { return false };
        let furthest = offsets2[0].max(offsets2[1]);
        let last = span.greatest as u64 + furthest as u64 + bytes as u64;
        if self.run.wave.told.looking || last > limit as u64 {
            return false;
        }
        let dwords = bytes as u16 / 4;
        let data = [first, second].map(|r| self.registers_from(r));
        let old = [inst.dst, inst.dst + dwords].map(|r| self.registers_from(r));
        let places = offsets2.map(|o| Some(base.wrapping_add((span.least + o) as usize)));
        let distance = offsets2[0].abs_diff(offsets2[1]);
        if span.consecutive && (distance == 0 || distance >= 64 * bytes as u32) {
            let all = Exchange { places, bytes, data, old, conditional: false };
            // SAFETY: all bytes are below the limit; registers are inside the file (decoding saw to it).
            unsafe { (self.kernels.exchange)(&all) };
            return true;
        }
        if distance == bytes as u32
            && self.span(address, false, exec, 2 * bytes).is_some_and(|s| s.consecutive)
        {
            // Both numbers of a lane lie side by side, and so do the lanes.
            let order = if offsets2[0] < offsets2[1] { [0, 1] } else { [1, 0] };
            let dwords = dwords as usize;
            let joined = |r: [Registers; 2]| std::array::from_fn(|i| r[order[(i / dwords) & 1]][i % dwords]);
            let (place, none) = (places[order[0]], [std::ptr::null_mut(); 4]);
            let (data, old) = ([joined(data), none], [joined(old), none]);
            let all = Exchange { places: [place, None], bytes: 2 * bytes, data, old, conditional: false };
            // SAFETY: as above.
            unsafe { (self.kernels.exchange)(&all) };
            return true;
        }
        let offsets = self.run.wave.vgprs[address as usize].0;
        each(exec, |lane| {
            let mut was = [[0; 2]; 2];
            // SAFETY: as above; a lane's data are read before its results are written.
            unsafe {
                for ((was, data), offset) in was.iter_mut().zip(&data).zip(offsets2) {
                    let p = base.wrapping_add((offsets[lane] + offset) as usize);
                    for i in 0..dwords as usize {
                        was[i] = guest::read(p.add(4 * i), 4);
                        guest::write(p.add(4 * i), 4, data[i].add(lane).read());
                    }
                }
                for (was, old) in was.into_iter().zip(&old) {
                    for i in 0..dwords as usize {
                        old[i].add(lane).write(was[i]);
                    }
                }
            }
        });
        true
    }

    /// DS_CONDXCHG32 of lanes side by side. False: not done.
    pub(super) fn quick_conditional(
        &mut self,
        inst: &Inst,
        exec: u64,
        offset: u32,
        (base, limit): (*mut u8, u32),
    ) -> bool {
        let (Src::Vgpr(address), Src::Vgpr(data)) = (inst.src[0], inst.src[1]) else { return false };
        let Some(span) = self.span(address, false, exec, 8) else { return false };
        let (first, last) = (span.least as u64 + offset as u64, span.greatest as u64 + offset as u64 + 8);
        let apart = !span.consecutive || first & 7 != 0;
        if self.run.wave.told.looking || apart || last > limit as u64 {
            return false;
        }
        let none = [std::ptr::null_mut(); 4];
        let all = Exchange {
            places: [Some(base.wrapping_add(first as usize)), None],
            bytes: 8,
            data: [self.registers_from(data), none],
            old: [self.registers_from(inst.dst), none],
            conditional: true,
        };
        // SAFETY: all bytes are below the limit; registers are inside the file (decoding saw to it).
        unsafe { (self.kernels.exchange)(&all) };
        true
    }
}
