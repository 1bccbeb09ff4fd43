//! The undefined bits of a wave's registers.

use super::scene::Scene;
use super::undefined::Bits;
use wavemill_isa::info::Reg;
use wavemill_isa::regs;
use wavemill_sem::operand::Src;
use wavemill_wave::Wave;

/// Where undefined bits come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A register.
    Register(Reg),
    /// LDS at an address.
    Lds(u64),
    /// Private memory at an address.
    Private(u64),
}

/// A dword of a source.
pub fn dword(src: Src, n: u16) -> Src {
    match src {
        Src::Vgpr(r) => Src::Vgpr(r + n),
        Src::Sgpr(code) => Src::Sgpr(code + n as u8),
        Src::Special(_) | Src::Const(_) | Src::None => src,
    }
}

/// The undefined bits of a wave's registers.
#[derive(Default)]
pub struct Registers {
    /// Lanes of each vector register that have some.
    pub some: Vec<u64>,
    /// Which bits.
    vectors: Vec<[u32; 64]>,
    /// Where each vector register's are from.
    pub origins: Vec<Option<Origin>>,
    /// Those of scalar registers, and where they are from.
    pub scalars: Vec<(u32, Option<Origin>)>,
    /// Where SCC is from, if it is undefined.
    pub scc: Option<Origin>,
    /// S_SET_GPR_IDX is on.
    pub indexed: bool,
}

impl Registers {
    /// A vector register's, in a lane.
    pub fn vector(&self, register: u16, lane: u32) -> u32 {
        let r = usize::from(register);
        match self.some.get(r) {
            Some(some) if some >> lane & 1 != 0 => self.vectors[r][lane as usize],
            _ => 0,
        }
    }

    /// Sets them.
    pub fn set_vector(&mut self, register: u16, lane: u32, undefined: u32, origin: Option<Origin>) {
        let r = usize::from(register);
        let Some(some) = self.some.get_mut(r) else { return };
        if undefined == 0 {
            *some &= !(1 << lane);
            return;
        }
        *some |= 1 << lane;
        self.vectors[r][lane as usize] = undefined;
        self.origins[r] = origin.or(self.origins[r]);
    }

    /// Sets them in lanes, to the same.
    pub fn set_lanes(&mut self, register: u16, lanes: u64, undefined: u32, origin: Option<Origin>) {
        let r = usize::from(register);
        let Some(some) = self.some.get_mut(r) else { return };
        if undefined == 0 {
            *some &= !lanes;
            return;
        }
        *some |= lanes;
        for (eight, bits) in lanes.to_le_bytes().into_iter().zip(self.vectors[r].as_chunks_mut::<8>().0) {
            match eight {
                0xff => *bits = [undefined; 8],
                _ => (0..8).filter(|n| eight >> n & 1 != 0).for_each(|n| bits[n] = undefined),
            }
        }
        self.origins[r] = origin.filter(|_| lanes != 0).or(self.origins[r]);
    }

    /// Lanes in which a source has the same undefined bits as in one.
    pub fn alike(&self, src: Src, long: bool, lane: u32) -> u64 {
        let Src::Vgpr(r) = src else { return !0 };
        (r..=r + u16::from(long)).fold(!0, |set, r| {
            let some = self.some.get(usize::from(r)).copied().unwrap_or(0);
            let undefined = match some >> lane & 1 {
                0 => return set & !some,
                _ => self.vectors[usize::from(r)][lane as usize],
            };
            let mut same = [0u8; 8];
            for (same, bits) in same.iter_mut().zip(self.vectors[usize::from(r)].as_chunks::<8>().0) {
                *same = match bits.iter().fold(0, |different, b| different | (b ^ undefined)) {
                    0 => 0xff,
                    _ => (0..8).fold(0, |set, n| set | u8::from(bits[n] == undefined) << n),
                };
            }
            set & some & u64::from_le_bytes(same)
        })
    }

    /// They are defined in these lanes.
    pub fn clear(&mut self, register: u16, exec: u64) {
        if let Some(some) = self.some.get_mut(usize::from(register)) {
            *some &= !exec;
        }
    }

    /// A scalar register's.
    pub fn scalar(&self, code: u32) -> u32 {
        self.scalars.get(code as usize).map_or(0, |s| s.0)
    }

    /// Sets them.
    pub fn set_scalar(&mut self, code: u32, undefined: u32, origin: Option<Origin>) {
        if let Some(s) = self.scalars.get_mut(code as usize) {
            *s = (undefined, origin.filter(|_| undefined != 0));
        }
    }

    /// Whether a source has undefined bits in some lane.
    pub fn touches(&self, src: Src, dwords: u16, exec: u64) -> bool {
        match src {
            Src::Vgpr(r) => {
                (r..r + dwords).any(|r| self.some.get(usize::from(r)).is_some_and(|s| s & exec != 0))
            }
            Src::Sgpr(code) => (0..u32::from(dwords)).any(|i| self.scalar(u32::from(code) + i) != 0),
            Src::Special(_) | Src::Const(_) | Src::None => false,
        }
    }

    /// Lanes in which a source, if it is a vector register, has undefined bits.
    pub fn lanes(&self, src: Src, dwords: u16) -> u64 {
        match src {
            Src::Vgpr(r) => {
                (r..r + dwords).fold(0, |set, r| set | self.some.get(usize::from(r)).copied().unwrap_or(0))
            }
            _ => 0,
        }
    }

    /// Where a source's are from.
    pub fn origin(&self, src: Src, dwords: u16) -> Option<Origin> {
        match src {
            Src::Vgpr(r) => (r..r + dwords).find_map(|r| {
                let r = usize::from(r);
                self.origins.get(r).copied().flatten().filter(|_| self.some[r] != 0)
            }),
            Src::Sgpr(code) => {
                (0..usize::from(dwords)).find_map(|i| self.scalars.get(usize::from(code) + i)?.1)
            }
            Src::Special(_) | Src::Const(_) | Src::None => None,
        }
    }

    /// A source's bits in a lane.
    pub fn bits(&self, wave: &Wave, src: Src, long: bool, lane: u32) -> Bits {
        let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        match src {
            Src::Vgpr(r) => {
                let value = |r: u16| wave.vgpr(r).map_or(0, |v| v[lane as usize]);
                match long {
                    true => Bits {
                        value: two(value(r), value(r + 1)),
                        undefined: two(self.vector(r, lane), self.vector(r + 1, lane)),
                    },
                    false => Bits { value: value(r).into(), undefined: self.vector(r, lane).into() },
                }
            }
            Src::Sgpr(code) => {
                let code = u32::from(code);
                match long {
                    true => Bits {
                        value: wave.sgpr64(code),
                        undefined: two(self.scalar(code), self.scalar(code + 1)),
                    },
                    false => Bits { value: wave.sgpr(code).into(), undefined: self.scalar(code).into() },
                }
            }
            Src::Const(n) => Bits::known(n),
            Src::Special(_) | Src::None => Bits::default(),
        }
    }

    /// A wave starts: what the machine has set is defined.
    pub fn start(&mut self, wave: &Wave, scene: &Scene) {
        let plan = &scene.plan;
        let setup = &plan.kernel.setup;
        let registers = self;
        let shape = wave.shape();
        let file = usize::from(shape.vgprs + shape.agprs);
        // Work-item ids; gfx90a has all of them in v0.
        let packed = scene.target.level() == wavemill_isa::Level::Gfx90a;
        let ids = if packed { 1 } else { setup.workitem_ids as usize + 1 };
        registers.vectors.resize(file, [!0; 64]);
        registers.vectors.iter_mut().skip(ids).for_each(|v| v.fill(!0));
        registers.some.clear();
        registers.some.extend((0..file).map(|r| if r < ids { 0 } else { !0 }));
        let reg = |r: usize| match r.checked_sub(shape.vgprs.into()) {
            Some(a) => Reg::Agpr(a as u8),
            None => Reg::Vgpr(r as u8),
        };
        registers.origins.clear();
        registers.origins.extend((0..file).map(|r| Some(Origin::Register(reg(r)))));
        registers.scalars.clear();
        registers.scalars.extend((0..128).map(|code| (!0, Some(Origin::Register(Reg::Scalar(code))))));
        let system = setup.system.iter().filter(|enabled| **enabled).count() as u32;
        let user = (0..plan.user.len() as u32).chain(setup.user_sgprs..setup.user_sgprs + system);
        // What the machine sets, and what only trap handlers look at.
        let own = user.chain(regs::EXEC..regs::EXEC + 2).chain(108..124);
        own.for_each(|code| registers.set_scalar(code, 0, None));
        registers.scc = Some(Origin::Register(Reg::Scc));
        registers.indexed = false;
    }
}
