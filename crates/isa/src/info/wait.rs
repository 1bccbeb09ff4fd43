//! The counters of work under way (manual 4.4): who raises them, in which order they come down, and what S_WAITCNT asks.

use crate::encoding::Inst;
use crate::row::{Enc, MemKind, counter};
use crate::target::Level;

/// A counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Counter {
    /// VM_CNT: vector memory.
    Vm,
    /// LGKM_CNT: LDS, GDS, scalar memory, messages.
    Lgkm,
    /// EXP_CNT: VGPRs that exports, GDS and (GFX6) stores have yet to read.
    Exp,
}

impl Counter {
    /// Every one.
    pub const ALL: [Counter; 3] = [Counter::Vm, Counter::Lgkm, Counter::Exp];

    /// As S_WAITCNT's operand spells it.
    pub const fn name(self) -> &'static str {
        ["vmcnt", "lgkmcnt", "expcnt"][self as usize]
    }
}

/// What is done first of what raises a counter: instructions of one queue finish in order, those of different queues in
/// any order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Queue {
    /// Vector memory reads and writes.
    Vector,
    /// LDS.
    Lds,
    /// GDS.
    Gds,
    /// Scalar memory, which finishes in any order even by itself.
    Scalar,
    /// Messages.
    Message,
    /// FLAT, which is done when LDS and vector memory are: in any order even by itself.
    Flat,
    /// Exports: positions, parameters and colours each have a way of their own.
    Export(u8),
    /// Stores that have yet to read their data (GFX6).
    StoreData,
}

impl Queue {
    /// Its instructions finish in the order they were issued.
    pub const fn in_order(self) -> bool {
        !matches!(self, Queue::Scalar | Queue::Flat)
    }
}

/// A counter raised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Raise {
    /// Which.
    pub counter: Counter,
    /// By how much.
    pub by: u8,
    /// What it will come down in order with.
    pub queue: Queue,
}

/// A number for each counter: by how much an instruction raises it, or what S_WAITCNT waits for, at or below; one that is
/// not waited for is at its maximum then.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct WaitCounts {
    /// VM_CNT.
    pub vm: u8,
    /// LGKM_CNT.
    pub lgkm: u8,
    /// EXP_CNT.
    pub exp: u8,
}

impl WaitCounts {
    /// The highest count of each: nothing is waited for.
    pub const fn none(level: Level) -> WaitCounts {
        WaitCounts { vm: if level.is_gfx9() { 63 } else { 15 }, lgkm: 15, exp: 7 }
    }

    /// By how much an instruction raises each counter when it is issued.
    pub fn raised(inst: &Inst, level: Level) -> WaitCounts {
        let mut counts = WaitCounts::default();
        for raise in raises(inst, level).iter().flatten() {
            match raise.counter {
                Counter::Vm => counts.vm += raise.by,
                Counter::Lgkm => counts.lgkm += raise.by,
                Counter::Exp => counts.exp += raise.by,
            }
        }
        counts
    }

    /// Whether there is nothing to count.
    pub const fn is_zero(self) -> bool {
        self.vm == 0 && self.exp == 0 && self.lgkm == 0
    }

    /// Takes S_WAITCNT's operand apart (manual 12.5). GFX9 has two more bits of VM_CNT at the top.
    pub const fn decode(value: u32, level: Level) -> WaitCounts {
        let high = if level.is_gfx9() { value >> 14 & 3 } else { 0 };
        WaitCounts {
            vm: (value & 15 | high << 4) as u8,
            lgkm: (value >> 8 & 15) as u8,
            exp: (value >> 4 & 7) as u8,
        }
    }

    /// The operand that says this.
    pub const fn encode(self, level: Level) -> u32 {
        let high = if level.is_gfx9() { (self.vm as u32 >> 4 & 3) << 14 } else { 0 };
        self.vm as u32 & 15 | (self.exp as u32 & 7) << 4 | (self.lgkm as u32 & 15) << 8 | high
    }

    /// The count to wait for; none if there is no waiting for this counter.
    pub const fn count(self, counter: Counter, level: Level) -> Option<u8> {
        let most = WaitCounts::none(level);
        let (count, most) = match counter {
            Counter::Vm => (self.vm, most.vm),
            Counter::Lgkm => (self.lgkm, most.lgkm),
            Counter::Exp => (self.exp, most.exp),
        };
        if count < most { Some(count) } else { None }
    }
}

/// The counters an instruction raises.
pub(super) fn raises(inst: &Inst, level: Level) -> [Option<Raise>; 3] {
    let row = inst.row;
    let gds = super::uses::is_gds(inst, level);
    let on = |bit: u16, counter, by, queue| (row.counters & bit != 0).then_some(Raise { counter, by, queue });
    let queue = match row.enc {
        Enc::Smrd | Enc::Smem => Queue::Scalar,
        Enc::Sopp => Queue::Message,
        Enc::Ds if gds => Queue::Gds,
        Enc::Ds => Queue::Lds,
        Enc::Flat => Queue::Flat,
        _ => Queue::Vector,
    };
    // A scalar fetch of more than a dword counts twice (manual 8.3).
    let long = row.mem.is_some_and(|m| m.bytes > 4) && queue == Queue::Scalar;
    let vm = on(counter::VM, Counter::Vm, 1, queue);
    let lgkm = on(counter::LGKM, Counter::Lgkm, 1 + long as u8, queue);
    let writes = row.mem.is_some_and(|m| m.kind != MemKind::Load);
    let exp = match row.enc {
        Enc::Exp => on(counter::EXP, Counter::Exp, 1, Queue::Export(export_kind(inst))),
        Enc::Ds if gds && row.operands.iter().any(|o| o.access == crate::row::Access::Read) => {
            Some(Raise { counter: Counter::Exp, by: 1, queue: Queue::Gds })
        }
        Enc::Mubuf | Enc::Mtbuf | Enc::Mimg if writes && level == Level::Gfx6 => {
            Some(Raise { counter: Counter::Exp, by: 1, queue: Queue::StoreData })
        }
        _ => None,
    };
    [vm, lgkm, exp]
}

/// Colours and depth 0, positions 1, parameters 2.
fn export_kind(inst: &Inst) -> u8 {
    match inst.get(crate::row::Role::Tgt) {
        0..12 => 0,
        12..32 => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_read_back_as_written() {
        for level in Level::ALL {
            for value in 0..=0xffffu32 {
                let field = if level.is_gfx9() { 0xcf7f } else { 0x0f7f };
                assert_eq!(WaitCounts::decode(value, level).encode(level), value & field);
            }
        }
        let nothing = WaitCounts::decode(0xffff, Level::Gfx8);
        assert_eq!(nothing, WaitCounts::none(Level::Gfx8));
        assert_eq!(nothing.count(Counter::Vm, Level::Gfx8), None);
        assert_eq!(WaitCounts::decode(0xcf70, Level::Gfx900).count(Counter::Vm, Level::Gfx900), Some(48));
    }

    /// LLVM's encodings of `s_waitcnt vmcnt(0)`, of `vmcnt(63) expcnt(7) lgkmcnt(15)` on gfx900 and of `lgkmcnt(0)` on
    /// gfx803.
    #[test]
    fn constants() {
        let none = WaitCounts { vm: 63, exp: 7, lgkm: 15 };
        assert_eq!(WaitCounts::decode(0x0f70, Level::Gfx900), WaitCounts { vm: 0, ..none });
        assert_eq!(WaitCounts::decode(0xcf7f, Level::Gfx900), none);
        assert_eq!(WaitCounts::decode(0x007f, Level::Gfx8), WaitCounts { vm: 15, exp: 7, lgkm: 0 });
    }
}
