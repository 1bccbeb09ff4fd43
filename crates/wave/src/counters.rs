//! What is counted of the instructions that waves execute.

/// Classes of instructions that are counted separately.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum CounterClass {
    /// Scalar ALU, without branches.
    Salu,
    /// Branches, calls, barriers, waits and other program control.
    Control,
    /// Scalar memory.
    Smem,
    /// Vector ALU.
    Valu,
    /// Matrix core.
    Mfma,
    /// Data share.
    Lds,
    /// Buffer, flat, global, scratch and image memory.
    Vmem,
    /// Exports and interpolation.
    Export,
}

impl CounterClass {
    /// Every class.
    pub const ALL: [CounterClass; 8] = {
        use CounterClass::*;
        [Salu, Control, Smem, Valu, Mfma, Lds, Vmem, Export]
    };

    /// Name for reports.
    pub const fn name(self) -> &'static str {
        ["salu", "control", "smem", "valu", "mfma", "lds", "vmem", "export"][self as usize]
    }
}

/// Wave instructions executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Counters {
    /// By [`CounterClass`].
    pub class: [u64; 8],
    /// Of these, instructions whose result is exact.
    pub exact: u64,
    /// Of these, instructions whose result is within the hardware's bound but not bit for bit its own.
    pub approximate: u64,
    /// S_WAITCNT executed (among `Control`).
    pub waits: u64,
}

impl Counters {
    /// All instructions.
    #[inline]
    pub fn total(&self) -> u64 {
        self.class.iter().sum()
    }

    /// Adds another set.
    #[inline]
    pub fn add(&mut self, other: &Counters) {
        self.class.iter_mut().zip(other.class).for_each(|(a, b)| *a += b);
        self.exact += other.exact;
        self.approximate += other.approximate;
        self.waits += other.waits;
    }
}
